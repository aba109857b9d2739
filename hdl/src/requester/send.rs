// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sending half of the requester: from doorbells to packets.
//!
//! ```text
//! doorbell, state, rewind, wake ─► scheduler ─► fetch ─► … R ─► WQE store ─► arrival ─► scheduler ─► turn ─► segmenter ─► packet, job, key
//!                                      ▲ end of turn ◄──────────────────────────────────────────────────────┘  ▲ rows
//! done ─► read tracker ────────────────┘ (failed reads; UC and UD messages sent)
//! ```
//!
//! Ports, rules and rows: docs/stations/requester.md. `W` bus bits; `H` = `W`/32; `QA` QP index bits, `QB` … `QR` = `QA` + 1, 2, 3, 5; `A` = `QR` + 1 − `H`;
//! `T` = `QA` + 18; `L` = 1: registers behind the RAMs; `U` = 1: with UC and UD.

use super::landing::Landing;
use super::read_tracker::ReadTracker;
use super::scheduler::Scheduler;
use super::segmenter::Segmenter;
use super::send_reports::SendReports;
use super::send_rows::SendRows;
use super::wqe_store::WqeStore;
use crate::host::EventJob;
use crate::mem::ReadJob;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Send<
    const W: usize,
    const H: usize,
    const QA: usize,
    const QB: usize,
    const QC: usize,
    const QS: usize,
    const QR: usize,
    const A: usize,
    const T: usize,
    const L: usize,
    const U: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Host writes of QP row words: index · 32 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// SQ producer; held until ready.
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    /// The QP's state is now this; held until ready.
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    /// Client of `mem::KeyArbiter`: one cycle of start, inputs hold until done, `key` and `key_pd` from the cycle after the start on.
    pub key_start: Signal<Out, Bit>,
    pub key_op: Signal<Out, Bits<1>>,
    pub key: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_pd: Signal<Out, Bits<16>>,
    pub key_access: Signal<Out, Bits<4>>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub key_paged: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    /// WQE reads of 64 bytes, in order, ID 2.
    pub fetch_address: Signal<Out, Bits<64>>,
    pub fetch_length: Signal<Out, Bits<8>>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    /// To `tx::PacketArbiter`.
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    /// With the last word: the packet isn't to be sent after all; it had no job.
    pub packet_abandon: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    /// Payload reads of our packets, in order.
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    /// `Complete` hands a write job over; one of them has landed in memory. In order.
    pub placed: Signal<In, Bit>,
    pub landed: Signal<In, Bit>,
    /// From retire: a write has failed and its QP isn't in ERR yet. No fenced message begins.
    pub failing: Signal<In, Bit>,
    // From and to `Complete`.
    pub rewind_valid: Signal<In, Bit>,
    pub rewind_index: Signal<In, Bits<12>>,
    pub rewind_psn: Signal<In, Bits<24>>,
    pub rewind_wqe: Signal<In, Bits<16>>,
    pub rewind_offset: Signal<In, Bits<32>>,
    pub rewind_hold: Signal<In, Bit>,
    /// Selective repeat: only the packet of that PSN, which has been sent before; then on where new packets stood.
    pub rewind_alone: Signal<In, Bit>,
    pub rewind_ready: Signal<Out, Bit>,
    pub wake_valid: Signal<In, Bit>,
    pub wake_index: Signal<In, Bits<12>>,
    pub wake_ready: Signal<Out, Bit>,
    // From and to the reaction point (R76): is this QP limited? (a cycle later); a turn has ended; it was this QP's, which is limited and rests; there is room
    // for that; a rest is over.
    pub asked: Signal<Out, Bits<QA>>,
    pub limited: Signal<In, Bit>,
    pub ended: Signal<Out, Bit>,
    pub ended_packet: Signal<Out, Bit>,
    pub ended_payload: Signal<Out, Bits<14>>,
    pub rest: Signal<Out, Bit>,
    pub rest_room: Signal<In, Bit>,
    pub rested_valid: Signal<In, Bit>,
    pub rested_index: Signal<In, Bits<12>>,
    pub rested_ready: Signal<Out, Bit>,
    pub arm_valid: Signal<Out, Bit>,
    pub arm_index: Signal<Out, Bits<12>>,
    pub arm_ready: Signal<In, Bit>,
    pub fail_valid: Signal<Out, Bit>,
    pub fail_index: Signal<Out, Bits<12>>,
    pub fail_wqe: Signal<Out, Bits<16>>,
    pub fail_status: Signal<Out, Bits<8>>,
    pub fail_ready: Signal<In, Bit>,
    pub flush_valid: Signal<Out, Bit>,
    pub flush_index: Signal<Out, Bits<12>>,
    pub flush_state: Signal<Out, Bits<3>>,
    pub flush_ready: Signal<In, Bit>,
    pub sent_valid: Signal<Out, Bit>,
    pub sent_index: Signal<Out, Bits<12>>,
    pub sent_wqe: Signal<Out, Bits<16>>,
    pub sent_ready: Signal<In, Bit>,
    pub look_read: Signal<In, Bit>,
    pub look_index: Signal<In, Bits<12>>,
    pub look_item: Signal<In, Bits<5>>,
    pub look_data: Signal<Out, Bits<32>>,
    pub ack_read: Signal<Out, Bit>,
    pub ack_index: Signal<Out, Bits<12>>,
    pub ack_item: Signal<Out, Bits<1>>,
    pub ack_data: Signal<In, Bits<32>>,
    /// Completions of this QP are on their way whose WQEs `ack_data` still holds as uncompleted.
    pub ack_walk: Signal<In, Bit>,
    pub ack_walk_index: Signal<In, Bits<12>>,
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub count_valid: Signal<Out, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_ready: Signal<In, Bit>,
    /// The tables are cleared.
    pub ready: Signal<Out, Bit>,
    scheduler: Scheduler<QA, QB, QS, L>,
    store: WqeStore<W, H, QA, QB, QC, QR, A, L>,
    segmenter: Segmenter<QA, QR, U>,
    rows: SendRows<QA, QR, L>,
    tracker: ReadTracker<QA, T>,
    reports: SendReports,
    landing: Landing,
    table_open: Signal<Local, Bit>,
}

impl<
        const W: usize,
        const H: usize,
        const QA: usize,
        const QB: usize,
        const QC: usize,
        const QS: usize,
        const QR: usize,
        const A: usize,
        const T: usize,
        const L: usize,
        const U: usize,
    > Logic for Send<W, H, QA, QB, QC, QS, QR, A, T, L, U>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, scheduler, store, segmenter, rows, tracker, reports, landing);
        self.landing.reset.next = self.reset.val();
        self.landing.placed.next = self.placed.val();
        self.landing.landed.next = self.landed.val();
        self.landing.mark.next = self.segmenter.landing_mark.val();
        self.segmenter.landing_clear.next = self.landing.clear.val();
        self.segmenter.failing_write.next = self.failing.val();
        self.reports.reset.next = self.reset.val();
        self.scheduler.reset.next = self.reset.val();
        self.store.reset.next = self.reset.val();
        self.segmenter.reset.next = self.reset.val();
        self.tracker.reset.next = self.reset.val();
        self.ready.next = self.scheduler.ready.val();

        // Host words go to both rows; a write waits while either is written from inside.
        self.table_open.next = !self.scheduler.writing.val() & !self.rows.writing.val();
        self.table_ready.next = self.table_open.val();
        self.scheduler.table_valid.next = self.table_valid.val();
        self.scheduler.table_address.next = self.table_address.val();
        self.scheduler.table_data.next = self.table_data.val();
        self.rows.table_valid.next = self.table_valid.val();
        self.rows.table_address.next = self.table_address.val();
        self.rows.table_data.next = self.table_data.val();

        // Events for the scheduler.
        self.scheduler.doorbell_valid.next = self.doorbell_valid.val();
        self.scheduler.doorbell_index.next = self.doorbell_index.val();
        self.scheduler.doorbell_producer.next = self.doorbell_producer.val();
        self.doorbell_ready.next = self.scheduler.doorbell_ready.val();
        self.scheduler.state_valid.next = self.state_valid.val();
        self.scheduler.state_index.next = self.state_index.val();
        self.scheduler.state.next = self.state.val();
        self.state_ready.next = self.scheduler.state_ready.val();
        self.scheduler.rewind_valid.next = self.rewind_valid.val();
        self.scheduler.rewind_index.next = self.rewind_index.val();
        self.scheduler.rewind_wqe.next = self.rewind_wqe.val();
        self.scheduler.rewind_hold.next = self.rewind_hold.val();
        self.scheduler.rewind_alone.next = self.rewind_alone.val();
        self.rewind_ready.next = self.scheduler.rewind_ready.val();
        // Complete's wakes go first.
        self.scheduler.wake_valid.next = self.wake_valid.val() | self.rested_valid.val();
        self.scheduler.wake_index.next = self.rested_index.val();
        self.scheduler.wake_rest.next = !self.wake_valid.val();
        if self.wake_valid.val() {
            self.scheduler.wake_index.next = self.wake_index.val();
        }
        self.wake_ready.next = self.scheduler.wake_ready.val();
        self.rested_ready.next = self.scheduler.wake_ready.val() & !self.wake_valid.val();
        self.asked.next = self.scheduler.who.val();
        self.scheduler.limited.next = self.limited.val();
        self.scheduler.rest_room.next = self.rest_room.val();
        self.ended.next = self.segmenter.end_valid.val() & self.scheduler.end_ready.val();
        self.ended_packet.next = self.segmenter.end_packet.val();
        self.ended_payload.next = self.segmenter.end_payload.val();
        self.rest.next = self.scheduler.rest.val();
        self.scheduler.arrival_index.next = self.store.arrival_index.val();
        self.scheduler.arrival_expected.next = self.store.arrival_expected.val();
        self.scheduler.arrival_valid.next = self.store.arrival_valid.val();
        self.store.arrival_ready.next = self.scheduler.arrival_ready.val();
        self.scheduler.tracker_error.next = self.tracker.error.val();
        self.scheduler.tracker_report.next = self.tracker.report.val();
        self.scheduler.tracker_empty.next = self.tracker.empty.val();
        self.scheduler.tracker_index.next = self.tracker.index.val();
        self.tracker.pop.next = self.scheduler.tracker_pop.val();

        // Turns and orders.
        self.segmenter.turn_valid.next = self.scheduler.turn_valid.val();
        self.segmenter.turn_error.next = self.scheduler.turn_error.val();
        self.segmenter.turn_draining.next = self.scheduler.turn_draining.val();
        self.segmenter.head_index.next = self.scheduler.head_index.val();
        self.segmenter.head_slot.next = self.scheduler.head_slot.val();
        self.scheduler.turn_take.next = self.segmenter.turn_take.val();
        self.scheduler.segmenter_idle.next = self.segmenter.idle.val();
        self.scheduler.segmenter_index.next = self.segmenter.index.val();
        self.scheduler.outcome.next = self.segmenter.outcome.val();
        self.scheduler.resume_wqe.next = self.segmenter.resume_wqe.val();
        self.scheduler.end_valid.next = self.segmenter.end_valid.val();
        self.segmenter.end_ready.next = self.scheduler.end_ready.val();
        self.segmenter.order.next = self.scheduler.order.val();
        self.segmenter.order_valid.next = self.scheduler.order_valid.val();
        self.segmenter.order_index.next = self.scheduler.who.val();
        self.scheduler.order_done.next = self.segmenter.order_done.val();
        self.segmenter.rewind_psn.next = self.rewind_psn.val();
        self.segmenter.rewind_wqe.next = self.rewind_wqe.val();
        self.segmenter.rewind_offset.next = self.rewind_offset.val();
        self.segmenter.rewind_alone.next = self.rewind_alone.val();
        self.segmenter.tracker_wqe.next = self.tracker.wqe.val();

        // Rows and store.
        self.rows.write.next = self.segmenter.row_write.val();
        self.rows.write_index.next = self.segmenter.row_write_index.val();
        self.rows.write_item.next = self.segmenter.row_write_item.val();
        self.rows.write_data.next = self.segmenter.row_write_data.val();
        self.rows.advance.next = self.segmenter.advance.val();
        self.rows.index.next = self.segmenter.row_index.val();
        self.rows.item.next = self.segmenter.row_item.val();
        self.segmenter.row_word.next = self.rows.word.val();
        self.rows.producer_write.next = self.scheduler.producer_write.val();
        self.rows.producer_index.next = self.scheduler.who.val();
        self.rows.producer.next = self.scheduler.producer.val();
        self.rows.look_read.next = self.look_read.val();
        self.rows.look_index.next = self.look_index.val();
        self.rows.look_item.next = self.look_item.val();
        self.look_data.next = self.rows.look_data.val();
        self.store.ask_data.next = self.scheduler.ask_data.val();
        self.store.ask_valid.next = self.scheduler.ask_valid.val();
        self.store.r_data.next = self.r_data.val();
        self.store.r_error.next = self.r_error.val();
        self.store.r_last.next = self.r_last.val();
        self.store.r_valid.next = self.r_valid.val();
        self.r_ready.next = self.store.r_ready.val();
        self.store.advance.next = self.segmenter.advance.val();
        self.store.read_index.next = self.segmenter.row_index.val();
        self.store.read_slot.next = self.segmenter.wqe_slot.val();
        self.store.read_word.next = self.segmenter.wqe_item.val();
        self.segmenter.wqe_word.next = self.store.word.val();
        self.segmenter.wqe_short.next = self.store.short.val();
        self.segmenter.wqe_partial.next = self.store.partial.val();
        self.segmenter.wqe_spoilt.next = self.store.spoilt.val();

        // The ack row: a turn's read comes first.
        self.ack_read.next = self.segmenter.ack_read.val() | self.scheduler.ack_read.val();
        self.ack_index.next = bit_cast::<12, QA>(self.scheduler.who.val());
        self.ack_item.next = 1.into();
        self.scheduler.ack_free.next = !self.segmenter.ack_read.val();
        if self.segmenter.ack_read.val() {
            self.ack_index.next = bit_cast::<12, QA>(self.segmenter.index.val());
            self.ack_item.next = bit_cast::<1, 1>(self.segmenter.ack_item.val().into());
        }
        self.scheduler.ack_data.next = self.ack_data.val();
        self.scheduler.ack_walk.next = self.ack_walk.val();
        self.scheduler.ack_walk_index.next = self.ack_walk_index.val();
        self.segmenter.ack_data.next = self.ack_data.val();

        // Keys.
        self.key_start.next = self.segmenter.key_start.val();
        self.key_op.next = 0.into();
        self.key.next = self.segmenter.key.val();
        self.key_va.next = self.segmenter.key_va.val();
        self.key_length.next = self.segmenter.key_length.val();
        self.key_pd.next = self.segmenter.key_pd.val();
        self.key_access.next = 0.into();
        self.segmenter.key_done.next = self.key_done.val();
        self.segmenter.key_ok.next = self.key_ok.val();
        self.segmenter.key_paged.next = self.key_paged.val();
        self.segmenter.key_address.next = self.key_address.val();

        // Packets.
        self.job.next.paged = self.segmenter.job_paged.val();
        self.job.next.address = self.segmenter.job_address.val();
        self.job.next.length = self.segmenter.job_length.val();
        self.job.next.last = self.segmenter.job_last.val();
        self.job_valid.next = self.segmenter.job_valid.val();
        self.segmenter.job_ready.next = self.job_ready.val();
        self.packet_word.next = self.segmenter.packet_word.val();
        self.packet_last.next = self.segmenter.packet_last.val();
        self.packet_abandon.next = self.segmenter.packet_abandon.val();
        self.packet_valid.next = self.segmenter.packet_valid.val();
        self.segmenter.packet_ready.next = self.packet_ready.val();
        self.tracker.push.next = self.segmenter.tracker_push.val();
        self.tracker.push_index.next = self.segmenter.index.val();
        self.tracker.push_wqe.next = self.segmenter.wqe.val();
        self.tracker.push_report.next = self.segmenter.tracker_report.val();
        self.tracker.push_payload.next = self.segmenter.tracker_payload.val();
        self.segmenter.tracker_room.next = self.tracker.room.val();
        self.tracker.done_valid.next = self.done_valid.val();
        self.tracker.done_error.next = self.done_error.val();
        self.done_ready.next = self.tracker.done_ready.val();

        // To `Complete`.
        self.arm_valid.next = self.segmenter.arm_valid.val();
        self.arm_index.next = bit_cast::<12, QA>(self.segmenter.arm_index.val());
        self.segmenter.arm_ready.next = self.arm_ready.val();
        self.fail_valid.next = self.segmenter.fail_valid.val();
        self.fail_index.next = bit_cast::<12, QA>(self.segmenter.index.val());
        self.fail_wqe.next = self.segmenter.wqe.val();
        self.fail_status.next = self.segmenter.fail_status.val();
        self.segmenter.fail_ready.next = self.fail_ready.val();
        self.flush_valid.next = self.scheduler.flush_valid.val();
        self.flush_index.next = self.scheduler.flush_index.val();
        self.flush_state.next = self.scheduler.flush_state.val();
        self.scheduler.flush_ready.next = self.flush_ready.val();
        self.sent_valid.next = self.scheduler.sent_valid.val();
        self.sent_index.next = bit_cast::<12, QA>(self.tracker.index.val());
        self.sent_wqe.next = self.tracker.wqe.val();
        self.scheduler.sent_ready.next = self.sent_ready.val();

        // WQE reads: whole WQEs.
        self.fetch_address.next = self.scheduler.fetch_address.val();
        self.fetch_length.next = 15.into();
        for _i in 1..H {
            self.fetch_length.next = 7.into();
        }
        self.fetch_valid.next = self.scheduler.fetch_valid.val();
        self.scheduler.fetch_ready.next = self.fetch_ready.val();

        // Events and counters.
        self.scheduler.count_free.next = self.reports.free.val();
        self.reports.doorbell.next = self.scheduler.count_doorbell.val();
        self.reports.index.next = self.scheduler.event_index.val();
        self.reports.error_valid.next = self.store.error_valid.val();
        self.store.error_ready.next = self.reports.error_ready.val();
        self.reports.count_ready.next = self.count_ready.val();
        self.event_job.next = self.reports.event_job.val();
        self.event_valid.next = self.scheduler.event_valid.val();
        self.scheduler.event_ready.next = self.event_ready.val();
        self.count_valid.next = self.reports.count_valid.val();
        self.count_code.next = self.reports.count_code.val();
    }

    crate::block_name!();
}
