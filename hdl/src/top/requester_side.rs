// SPDX-License-Identifier: MIT OR Apache-2.0
//! What sends packets with payload, wired: Send, Complete and the READ responder, and the readers and checks that they share. Nothing is decided here.
//!
//! ```text
//! doorbell, state ─► Send ─┬─► packet words, read jobs ─► PacketArbiter ─┬─► transmit
//!                    ▲  │  └─► key ─┐                          ▲         └─► DmaReader ─► payload
//!                    │  ▼           ▼                          │
//! response, tick ─► Complete ─► KeyArbiter ◄─ control          │
//!                      └─► job, entry, qp_error ▲              │
//! request, serve, state, ACKs ─► ReadResponder ─┴──────────────┴─► ACKs, ATOMIC's memory, qp_error
//! ```

use crate::host::EventJob;
use crate::mem::{DmaReader, KeyArbiter, WriteJob};
use crate::prim::ResetCopy;
use crate::requester::{Complete, CompleteConfig, ResponseQueue, Send};
use crate::responder::{ReadResponder, RetireEntry};
use crate::rx::PacketHead;
use crate::top::Split;
use crate::tx::{AckJob, PacketArbiter};
use rust_hdl::prelude::*;

/// The block. Parameters as in its parts: `W K S N PB AB` DmaReader's, `H` to `U` Send's, `RC SA SC` Complete's, `P` to `PE` `ReadResponder`'s `PA AA BA RA RC`
/// (its other forms follow from `L`, `N` and `S`).
#[derive(LogicBlock)]
pub struct RequesterSide<
    const W: usize,
    const K: usize,
    const S: usize,
    const N: usize,
    const PB: usize,
    const AB: usize,
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
    const RC: usize,
    const SA: usize,
    const SC: usize,
    const P: usize,
    const PC: usize,
    const PD: usize,
    const PR: usize,
    const PE: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The tables are cleared.
    pub ready: Signal<Out, Bit>,
    /// Host writes of QP row words: index · 32 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// Send queue doorbells.
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    /// From control: QP states, responses.
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    pub head: Signal<In, PacketHead>,
    pub response_valid: Signal<In, Bit>,
    pub response_done: Signal<Out, Bit>,
    pub response_code: Signal<Out, Bits<6>>,
    pub response_placed: Signal<Out, Bit>,
    /// A response with data is with Complete: what later packets lead to must wait.
    pub placing: Signal<Out, Bit>,
    /// To retire and the DMA writer.
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    /// One of these jobs with `write` has landed, in order.
    pub landed: Signal<In, Bit>,
    /// A write has failed and its QP isn't in ERR yet.
    pub failing: Signal<In, Bit>,
    pub entry: Signal<Out, RetireEntry>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    /// From control: READ and ATOMIC requests.
    pub request_valid: Signal<In, Bit>,
    pub request_index: Signal<In, Bits<12>>,
    pub request_duplicate: Signal<In, Bit>,
    pub request_msn: Signal<In, Bits<24>>,
    pub request_done: Signal<Out, Bit>,
    pub request_verdict: Signal<Out, Bits<3>>,
    pub request_psns: Signal<Out, Bits<24>>,
    /// From retire: what may be served, and ACKs; to transmit.
    pub serve_valid: Signal<In, Bit>,
    pub serve_index: Signal<In, Bits<12>>,
    pub serve_ready: Signal<Out, Bit>,
    pub s_ack: Signal<In, AckJob>,
    pub s_ack_valid: Signal<In, Bit>,
    pub s_ack_ready: Signal<Out, Bit>,
    pub m_ack: Signal<Out, AckJob>,
    pub m_ack_valid: Signal<Out, Bit>,
    pub m_ack_ready: Signal<In, Bit>,
    /// To control: this QP goes to ERR, the READ responder says.
    pub read_error_valid: Signal<Out, Bit>,
    pub read_error_index: Signal<Out, Bits<12>>,
    pub read_error_ready: Signal<In, Bit>,
    pub read_event: Signal<Out, EventJob>,
    pub read_event_valid: Signal<Out, Bit>,
    pub read_event_ready: Signal<In, Bit>,
    pub read_count_valid: Signal<Out, Bit>,
    pub read_count_code: Signal<Out, Bits<6>>,
    pub read_count_ready: Signal<In, Bit>,
    /// The ATOMIC's memory: see `mem::AtomicUnit`.
    pub atomic_lock: Signal<Out, Bit>,
    pub atomic_locked: Signal<In, Bit>,
    pub atomic_lookup_valid: Signal<Out, Bit>,
    pub atomic_lookup_entry: Signal<Out, Bits<16>>,
    pub atomic_lookup_done: Signal<In, Bit>,
    pub atomic_lookup_page: Signal<In, Bits<52>>,
    pub atomic_ar_address: Signal<Out, Bits<64>>,
    pub atomic_ar_length: Signal<Out, Bits<8>>,
    pub atomic_ar_valid: Signal<Out, Bit>,
    pub atomic_ar_ready: Signal<In, Bit>,
    pub atomic_r_valid: Signal<In, Bit>,
    pub atomic_r_ready: Signal<Out, Bit>,
    pub atomic_aw_address: Signal<Out, Bits<64>>,
    pub atomic_aw_length: Signal<Out, Bits<8>>,
    pub atomic_aw_valid: Signal<Out, Bit>,
    pub atomic_aw_ready: Signal<In, Bit>,
    pub atomic_w_data: Signal<Out, Bits<W>>,
    pub atomic_w_strobe: Signal<Out, Bits<K>>,
    pub atomic_w_last: Signal<Out, Bit>,
    pub atomic_w_valid: Signal<Out, Bit>,
    pub atomic_w_ready: Signal<In, Bit>,
    pub atomic_b_valid: Signal<In, Bit>,
    pub atomic_b_error: Signal<In, Bit>,
    /// To control: this QP goes to ERR.
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_ready: Signal<In, Bit>,
    /// Control's checks, and the one `Keys`.
    pub control_key_start: Signal<In, Bit>,
    pub control_key_op: Signal<In, Bits<1>>,
    pub control_key: Signal<In, Bits<32>>,
    pub control_key_va: Signal<In, Bits<64>>,
    pub control_key_length: Signal<In, Bits<32>>,
    pub control_key_pd: Signal<In, Bits<16>>,
    pub control_key_access: Signal<In, Bits<4>>,
    pub control_key_done: Signal<Out, Bit>,
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
    /// The translation table's second reader.
    pub mtt_read: Signal<Out, Bit>,
    pub mtt_entry: Signal<Out, Bits<16>>,
    pub mtt_grant: Signal<In, Bit>,
    pub mtt_page: Signal<In, Bits<52>>,
    /// AXI reads, to `mem::ReadArbiter`.
    pub payload_ar_address: Signal<Out, Bits<64>>,
    pub payload_ar_length: Signal<Out, Bits<8>>,
    pub payload_ar_valid: Signal<Out, Bit>,
    pub payload_ar_ready: Signal<In, Bit>,
    pub payload_r_valid: Signal<In, Bit>,
    pub payload_r_ready: Signal<Out, Bit>,
    pub send_ar_address: Signal<Out, Bits<64>>,
    pub send_ar_length: Signal<Out, Bits<8>>,
    pub send_ar_valid: Signal<Out, Bit>,
    pub send_ar_ready: Signal<In, Bit>,
    pub send_r_valid: Signal<In, Bit>,
    pub send_r_ready: Signal<Out, Bit>,
    pub complete_ar_address: Signal<Out, Bits<64>>,
    pub complete_ar_length: Signal<Out, Bits<8>>,
    pub complete_ar_valid: Signal<Out, Bit>,
    pub complete_ar_ready: Signal<In, Bit>,
    pub complete_r_valid: Signal<In, Bit>,
    pub complete_r_ready: Signal<Out, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    /// To transmit.
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_abandon: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    pub payload_data: Signal<Out, Bits<W>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_error: Signal<Out, Bit>,
    pub payload_valid: Signal<Out, Bit>,
    pub payload_free: Signal<In, Bits<PB>>,
    pub payload_drawn: Signal<In, Bit>,
    // Send's, from and to the reaction point.
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
    /// Clocks per 4.096 us, 24.8 fixed point.
    pub tick: Signal<In, Bits<32>>,
    /// BAD_DOORBELL.
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    /// Counter events (class Extra).
    pub send_count_valid: Signal<Out, Bit>,
    pub send_count_code: Signal<Out, Bits<6>>,
    pub send_count_ready: Signal<In, Bit>,
    pub complete_count_valid: Signal<Out, Bit>,
    pub complete_count_code: Signal<Out, Bits<6>>,
    pub complete_count_ready: Signal<In, Bit>,
    send: Send<W, H, QA, QB, QC, QS, QR, A, T, L, U>,
    responses: ResponseQueue,
    complete: Complete<W, QA, QR, RC, SA, SC>,
    key_arbiter: KeyArbiter,
    read: ReadResponder<QA, QB, P, PC, PD, PR, PE, L, N, S>,
    states: Split<2>,
    rows: Split<3>,
    reset_send: ResetCopy,
    reset_complete: ResetCopy,
    reset_read: ResetCopy,
    reset_reader: ResetCopy,
    packet_arbiter: PacketArbiter<K>,
    dma_reader: DmaReader<W, K, S, N, PB, AB>,
    no_error: Constant<Bits<8>>,
}

impl<
        const W: usize,
        const K: usize,
        const S: usize,
        const N: usize,
        const PB: usize,
        const AB: usize,
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
        const RC: usize,
        const SA: usize,
        const SC: usize,
        const P: usize,
        const PC: usize,
        const PD: usize,
        const PR: usize,
        const PE: usize,
    > RequesterSide<W, K, S, N, PB, AB, H, QA, QB, QC, QS, QR, A, T, L, U, RC, SA, SC, P, PC, PD, PR, PE>
{
    /// With Complete built so.
    pub fn new(complete: CompleteConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            doorbell_valid: Default::default(),
            doorbell_index: Default::default(),
            doorbell_producer: Default::default(),
            doorbell_ready: Default::default(),
            state_valid: Default::default(),
            state_index: Default::default(),
            state: Default::default(),
            state_ready: Default::default(),
            head: Default::default(),
            response_valid: Default::default(),
            response_done: Default::default(),
            response_code: Default::default(),
            response_placed: Default::default(),
            request_valid: Default::default(),
            request_index: Default::default(),
            request_duplicate: Default::default(),
            request_msn: Default::default(),
            request_done: Default::default(),
            request_verdict: Default::default(),
            request_psns: Default::default(),
            serve_valid: Default::default(),
            serve_index: Default::default(),
            serve_ready: Default::default(),
            s_ack: Default::default(),
            s_ack_valid: Default::default(),
            s_ack_ready: Default::default(),
            m_ack: Default::default(),
            m_ack_valid: Default::default(),
            m_ack_ready: Default::default(),
            read_error_valid: Default::default(),
            read_error_index: Default::default(),
            read_error_ready: Default::default(),
            read_event: Default::default(),
            read_event_valid: Default::default(),
            read_event_ready: Default::default(),
            read_count_valid: Default::default(),
            read_count_code: Default::default(),
            read_count_ready: Default::default(),
            atomic_lock: Default::default(),
            atomic_locked: Default::default(),
            atomic_lookup_valid: Default::default(),
            atomic_lookup_entry: Default::default(),
            atomic_lookup_done: Default::default(),
            atomic_lookup_page: Default::default(),
            atomic_ar_address: Default::default(),
            atomic_ar_length: Default::default(),
            atomic_ar_valid: Default::default(),
            atomic_ar_ready: Default::default(),
            atomic_r_valid: Default::default(),
            atomic_r_ready: Default::default(),
            atomic_aw_address: Default::default(),
            atomic_aw_length: Default::default(),
            atomic_aw_valid: Default::default(),
            atomic_aw_ready: Default::default(),
            atomic_w_data: Default::default(),
            atomic_w_strobe: Default::default(),
            atomic_w_last: Default::default(),
            atomic_w_valid: Default::default(),
            atomic_w_ready: Default::default(),
            atomic_b_valid: Default::default(),
            atomic_b_error: Default::default(),
            placing: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            landed: Default::default(),
            failing: Default::default(),
            entry: Default::default(),
            entry_valid: Default::default(),
            entry_ready: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_index: Default::default(),
            qp_error_ready: Default::default(),
            control_key_start: Default::default(),
            control_key_op: Default::default(),
            control_key: Default::default(),
            control_key_va: Default::default(),
            control_key_length: Default::default(),
            control_key_pd: Default::default(),
            control_key_access: Default::default(),
            control_key_done: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_pd: Default::default(),
            key_access: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            mtt_read: Default::default(),
            mtt_entry: Default::default(),
            mtt_grant: Default::default(),
            mtt_page: Default::default(),
            payload_ar_address: Default::default(),
            payload_ar_length: Default::default(),
            payload_ar_valid: Default::default(),
            payload_ar_ready: Default::default(),
            payload_r_valid: Default::default(),
            payload_r_ready: Default::default(),
            send_ar_address: Default::default(),
            send_ar_length: Default::default(),
            send_ar_valid: Default::default(),
            send_ar_ready: Default::default(),
            send_r_valid: Default::default(),
            send_r_ready: Default::default(),
            complete_ar_address: Default::default(),
            complete_ar_length: Default::default(),
            complete_ar_valid: Default::default(),
            complete_ar_ready: Default::default(),
            complete_r_valid: Default::default(),
            complete_r_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_last: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_abandon: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            payload_data: Default::default(),
            payload_last: Default::default(),
            payload_error: Default::default(),
            payload_valid: Default::default(),
            payload_free: Default::default(),
            payload_drawn: Default::default(),
            asked: Default::default(),
            limited: Default::default(),
            ended: Default::default(),
            ended_packet: Default::default(),
            ended_payload: Default::default(),
            rest: Default::default(),
            rest_room: Default::default(),
            rested_valid: Default::default(),
            rested_index: Default::default(),
            rested_ready: Default::default(),
            tick: Default::default(),
            event_job: Default::default(),
            event_valid: Default::default(),
            event_ready: Default::default(),
            send_count_valid: Default::default(),
            send_count_code: Default::default(),
            send_count_ready: Default::default(),
            complete_count_valid: Default::default(),
            complete_count_code: Default::default(),
            complete_count_ready: Default::default(),
            send: Default::default(),
            responses: ResponseQueue::new(complete.direct),
            complete: Complete::new(complete),
            read: Default::default(),
            states: Default::default(),
            rows: Default::default(),
            reset_send: Default::default(),
            reset_complete: Default::default(),
            reset_read: Default::default(),
            reset_reader: Default::default(),
            key_arbiter: Default::default(),
            packet_arbiter: Default::default(),
            dma_reader: Default::default(),
            no_error: Constant::new(0u64.to_bits()),
        }
    }
}

impl<
        const W: usize,
        const K: usize,
        const S: usize,
        const N: usize,
        const PB: usize,
        const AB: usize,
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
        const RC: usize,
        const SA: usize,
        const SC: usize,
        const P: usize,
        const PC: usize,
        const PD: usize,
        const PR: usize,
        const PE: usize,
    > Logic for RequesterSide<W, K, S, N, PB, AB, H, QA, QB, QC, QS, QR, A, T, L, U, RC, SA, SC, P, PC, PD, PR, PE>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.send.clock.next = self.clock.val();
        self.responses.clock.next = self.clock.val();
        self.complete.clock.next = self.clock.val();
        self.key_arbiter.clock.next = self.clock.val();
        self.packet_arbiter.clock.next = self.clock.val();
        self.dma_reader.clock.next = self.clock.val();
        self.read.clock.next = self.clock.val();
        self.states.clock.next = self.clock.val();
        self.rows.clock.next = self.clock.val();
        self.reset_send.clock.next = self.clock.val();
        self.reset_complete.clock.next = self.clock.val();
        self.reset_read.clock.next = self.clock.val();
        self.reset_reader.clock.next = self.clock.val();
        self.reset_send.s.next = self.reset.val();
        self.reset_complete.s.next = self.reset.val();
        self.reset_read.s.next = self.reset.val();
        self.reset_reader.s.next = self.reset.val();
        self.read.reset.next = self.reset_read.m.val();
        self.states.reset.next = self.reset_read.m.val();
        self.send.reset.next = self.reset_send.m.val();
        self.rows.reset.next = self.reset_send.m.val();
        self.responses.reset.next = self.reset_complete.m.val();
        self.complete.reset.next = self.reset_complete.m.val();
        self.key_arbiter.reset.next = self.reset_reader.m.val();
        self.packet_arbiter.reset.next = self.reset_reader.m.val();
        self.dma_reader.reset.next = self.reset_reader.m.val();

        // Rows, doorbells, states.
        self.rows.s_valid.next = self.table_valid.val();
        self.table_ready.next = self.rows.s_ready.val();
        self.send.table_valid.next = self.rows.m_valid[0].val();
        self.rows.m_ready[0].next = self.send.table_ready.val();
        self.send.table_address.next = self.table_address.val();
        self.send.table_data.next = self.table_data.val();
        self.complete.table_valid.next = self.rows.m_valid[1].val();
        self.rows.m_ready[1].next = self.complete.table_ready.val();
        self.complete.table_address.next = self.table_address.val();
        self.complete.table_data.next = self.table_data.val();
        self.read.table_valid.next = self.rows.m_valid[2].val();
        self.rows.m_ready[2].next = self.read.table_ready.val();
        self.read.table_address.next = self.table_address.val();
        self.read.table_data.next = self.table_data.val();
        self.ready.next = self.send.ready.val() & self.complete.ready.val() & self.read.ready.val();
        self.send.doorbell_valid.next = self.doorbell_valid.val();
        self.send.doorbell_index.next = self.doorbell_index.val();
        self.send.doorbell_producer.next = self.doorbell_producer.val();
        self.doorbell_ready.next = self.send.doorbell_ready.val();
        // A QP's state changes when no response of the old one is left.
        self.states.s_valid.next = self.state_valid.val() & self.responses.empty.val();
        self.state_ready.next = self.states.s_ready.val();
        self.send.state_valid.next = self.states.m_valid[0].val();
        self.states.m_ready[0].next = self.send.state_ready.val();
        self.read.state_valid.next = self.states.m_valid[1].val();
        self.states.m_ready[1].next = self.read.state_ready.val();
        self.read.state_index.next = self.state_index.val();
        self.read.state.next = self.state.val();
        self.send.state_index.next = self.state_index.val();
        self.send.state.next = self.state.val();

        // Send and Complete.
        self.send.rewind_valid.next = self.complete.rewind_valid.val();
        self.send.rewind_index.next = self.complete.rewind_index.val();
        self.send.rewind_psn.next = self.complete.rewind_psn.val();
        self.send.rewind_wqe.next = self.complete.rewind_wqe.val();
        self.send.rewind_offset.next = self.complete.rewind_offset.val();
        self.send.rewind_hold.next = self.complete.rewind_hold.val();
        self.send.rewind_alone.next = self.complete.rewind_alone.val();
        self.send.wake_valid.next = self.complete.wake_valid.val();
        self.send.wake_index.next = self.complete.wake_index.val();
        self.complete.rewind_ready.next = self.send.rewind_ready.val();
        self.complete.wake_ready.next = self.send.wake_ready.val();
        self.asked.next = self.send.asked.val();
        self.send.limited.next = self.limited.val();
        self.ended.next = self.send.ended.val();
        self.ended_packet.next = self.send.ended_packet.val();
        self.ended_payload.next = self.send.ended_payload.val();
        self.rest.next = self.send.rest.val();
        self.send.rest_room.next = self.rest_room.val();
        self.send.rested_valid.next = self.rested_valid.val();
        self.send.rested_index.next = self.rested_index.val();
        self.rested_ready.next = self.send.rested_ready.val();
        self.complete.arm_valid.next = self.send.arm_valid.val();
        self.complete.arm_index.next = self.send.arm_index.val();
        self.complete.fail_valid.next = self.send.fail_valid.val();
        self.complete.fail_index.next = self.send.fail_index.val();
        self.complete.fail_wqe.next = self.send.fail_wqe.val();
        self.complete.fail_status.next = self.send.fail_status.val();
        self.complete.flush_valid.next = self.send.flush_valid.val();
        self.complete.flush_index.next = self.send.flush_index.val();
        self.complete.flush_state.next = self.send.flush_state.val();
        self.complete.sent_valid.next = self.send.sent_valid.val();
        self.complete.sent_index.next = self.send.sent_index.val();
        self.complete.sent_wqe.next = self.send.sent_wqe.val();
        self.complete.sent_status.next = self.no_error.val();
        self.send.arm_ready.next = self.complete.arm_ready.val();
        self.send.fail_ready.next = self.complete.fail_ready.val();
        self.send.flush_ready.next = self.complete.flush_ready.val();
        self.send.sent_ready.next = self.complete.sent_ready.val();
        self.send.look_read.next = self.complete.look_read.val();
        self.send.look_index.next = self.complete.look_index.val();
        self.send.look_item.next = self.complete.look_item.val();
        self.complete.look_data.next = self.send.look_data.val();
        self.complete.ack_read.next = self.send.ack_read.val();
        self.complete.ack_index.next = self.send.ack_index.val();
        self.complete.ack_item.next = self.send.ack_item.val();
        self.send.ack_data.next = self.complete.ack_data.val();
        self.send.ack_walk.next = self.complete.ack_walk.val();
        self.send.ack_walk_index.next = self.complete.ack_walk_index.val();
        self.complete.tick.next = self.tick.val();

        // Responses, and what they do.
        self.responses.s_head.next = self.head.val();
        self.responses.s_valid.next = self.response_valid.val();
        self.response_done.next = self.responses.s_done.val();
        self.response_code.next = self.responses.s_code.val();
        self.response_placed.next = self.responses.s_placed.val();
        self.complete.head.next = self.responses.m_head.val();
        self.complete.response_valid.next = self.responses.m_valid.val();
        self.responses.m_done.next = self.complete.response_done.val();
        self.responses.m_code.next = self.complete.response_code.val();
        self.responses.m_placed.next = self.complete.response_placed.val();
        self.responses.s_job.next = self.complete.job.val();
        self.responses.s_job_valid.next = self.complete.job_valid.val();
        self.complete.job_ready.next = self.responses.s_job_ready.val();
        self.job.next = self.responses.m_job.val();
        self.job_valid.next = self.responses.m_job_valid.val();
        self.responses.m_job_ready.next = self.job_ready.val();
        self.placing.next = self.responses.placing.val();
        self.send.placed.next = self.complete.job_valid.val() & self.responses.s_job_ready.val();
        self.send.landed.next = self.landed.val();
        self.send.failing.next = self.failing.val();
        self.entry.next = self.complete.entry.val();
        self.entry_valid.next = self.complete.entry_valid.val();
        self.complete.entry_ready.next = self.entry_ready.val();
        self.qp_error_valid.next = self.complete.qp_error_valid.val();
        self.qp_error_index.next = self.complete.qp_error_index.val();
        self.complete.qp_error_ready.next = self.qp_error_ready.val();

        // Keys.
        self.key_arbiter.control_key_start.next = self.control_key_start.val();
        self.key_arbiter.send_key_start.next = self.send.key_start.val();
        self.key_arbiter.complete_key_start.next = self.complete.key_start.val();
        self.key_start.next = self.key_arbiter.key_start.val();
        self.key_arbiter.control_key_op.next = self.control_key_op.val();
        self.key_arbiter.send_key_op.next = self.send.key_op.val();
        self.key_arbiter.complete_key_op.next = self.complete.key_op.val();
        self.key_op.next = self.key_arbiter.key_op.val();
        self.key_arbiter.control_key.next = self.control_key.val();
        self.key_arbiter.send_key.next = self.send.key.val();
        self.key_arbiter.complete_key.next = self.complete.key.val();
        self.key.next = self.key_arbiter.key.val();
        self.key_arbiter.control_key_va.next = self.control_key_va.val();
        self.key_arbiter.send_key_va.next = self.send.key_va.val();
        self.key_arbiter.complete_key_va.next = self.complete.key_va.val();
        self.key_va.next = self.key_arbiter.key_va.val();
        self.key_arbiter.control_key_length.next = self.control_key_length.val();
        self.key_arbiter.send_key_length.next = self.send.key_length.val();
        self.key_arbiter.complete_key_length.next = self.complete.key_length.val();
        self.key_length.next = self.key_arbiter.key_length.val();
        self.key_arbiter.control_key_pd.next = self.control_key_pd.val();
        self.key_arbiter.send_key_pd.next = self.send.key_pd.val();
        self.key_arbiter.complete_key_pd.next = self.complete.key_pd.val();
        self.key_pd.next = self.key_arbiter.key_pd.val();
        self.key_arbiter.control_key_access.next = self.control_key_access.val();
        self.key_arbiter.send_key_access.next = self.send.key_access.val();
        self.key_arbiter.complete_key_access.next = self.complete.key_access.val();
        self.key_access.next = self.key_arbiter.key_access.val();
        self.control_key_done.next = self.key_arbiter.control_key_done.val();
        self.key_arbiter.key_done.next = self.key_done.val();
        self.send.key_done.next = self.key_arbiter.send_key_done.val();
        self.send.key_ok.next = self.key_ok.val();
        self.send.key_paged.next = self.key_paged.val();
        self.send.key_address.next = self.key_address.val();
        self.complete.key_done.next = self.key_arbiter.complete_key_done.val();
        self.complete.key_ok.next = self.key_ok.val();
        self.complete.key_paged.next = self.key_paged.val();
        self.complete.key_address.next = self.key_address.val();

        // Packets and their payload.
        self.packet_arbiter.send_packet_word.next = self.send.packet_word.val();
        self.packet_word.next = self.packet_arbiter.packet_word.val();
        self.packet_arbiter.send_packet_last.next = self.send.packet_last.val();
        self.packet_last.next = self.packet_arbiter.packet_last.val();
        self.packet_arbiter.send_packet_abandon.next = self.send.packet_abandon.val();
        self.packet_abandon.next = self.packet_arbiter.packet_abandon.val();
        self.packet_arbiter.send_packet_valid.next = self.send.packet_valid.val();
        self.packet_valid.next = self.packet_arbiter.packet_valid.val();
        self.send.packet_ready.next = self.packet_arbiter.send_packet_ready.val();
        self.packet_arbiter.packet_ready.next = self.packet_ready.val();
        self.packet_arbiter.send_job.next = self.send.job.val();
        self.packet_arbiter.send_job_valid.next = self.send.job_valid.val();
        self.send.job_ready.next = self.packet_arbiter.send_job_ready.val();
        self.dma_reader.job.next = self.packet_arbiter.job.val();
        self.dma_reader.job_valid.next = self.packet_arbiter.job_valid.val();
        self.packet_arbiter.job_ready.next = self.dma_reader.job_ready.val();
        self.packet_arbiter.done_valid.next = self.dma_reader.done_valid.val();
        self.send.done_valid.next = self.packet_arbiter.send_done_valid.val();
        self.packet_arbiter.done_error.next = self.dma_reader.done_error.val();
        self.send.done_error.next = self.packet_arbiter.send_done_error.val();
        self.dma_reader.done_ready.next = self.packet_arbiter.done_ready.val();
        self.packet_arbiter.send_done_ready.next = self.send.done_ready.val();
        self.payload_data.next = self.dma_reader.payload_data.val();
        self.payload_last.next = self.dma_reader.payload_last.val();
        self.payload_error.next = self.dma_reader.payload_error.val();
        self.payload_valid.next = self.dma_reader.payload_valid.val();
        self.dma_reader.payload_free.next = self.payload_free.val();
        self.packet_arbiter.drawn.next = self.payload_drawn.val();
        self.mtt_read.next = self.dma_reader.mtt_read.val();
        self.mtt_entry.next = self.dma_reader.mtt_entry.val();
        self.dma_reader.mtt_grant.next = self.mtt_grant.val();
        self.dma_reader.mtt_page.next = self.mtt_page.val();

        // The READ responder.
        self.read.head.next = self.head.val();
        self.read.request_valid.next = self.request_valid.val();
        self.read.request_index.next = self.request_index.val();
        self.read.request_duplicate.next = self.request_duplicate.val();
        self.read.request_msn.next = self.request_msn.val();
        self.request_done.next = self.read.request_done.val();
        self.request_verdict.next = self.read.request_verdict.val();
        self.request_psns.next = self.read.request_psns.val();
        self.read.serve_valid.next = self.serve_valid.val();
        self.read.serve_index.next = self.serve_index.val();
        self.serve_ready.next = self.read.serve_ready.val();
        self.read.s_ack.next = self.s_ack.val();
        self.read.s_ack_valid.next = self.s_ack_valid.val();
        self.s_ack_ready.next = self.read.s_ack_ready.val();
        self.m_ack.next = self.read.m_ack.val();
        self.m_ack_valid.next = self.read.m_ack_valid.val();
        self.read.m_ack_ready.next = self.m_ack_ready.val();
        self.packet_arbiter.read_packet_word.next = self.read.packet_word.val();
        self.packet_arbiter.read_packet_last.next = self.read.packet_last.val();
        self.packet_arbiter.read_packet_valid.next = self.read.packet_valid.val();
        self.read.packet_ready.next = self.packet_arbiter.read_packet_ready.val();
        self.packet_arbiter.read_job.next = self.read.job.val();
        self.packet_arbiter.read_job_valid.next = self.read.job_valid.val();
        self.read.job_ready.next = self.packet_arbiter.read_job_ready.val();
        self.read.room.next = self.dma_reader.job_ready.val() & self.packet_arbiter.room.val();
        self.read.done_valid.next = self.packet_arbiter.read_done_valid.val();
        self.read.done_error.next = self.packet_arbiter.read_done_error.val();
        self.packet_arbiter.read_done_ready.next = self.read.done_ready.val();
        self.key_arbiter.read_key_start.next = self.read.key_start.val();
        self.key_arbiter.read_key_op.next = self.read.key_op.val();
        self.key_arbiter.read_key.next = self.read.key.val();
        self.key_arbiter.read_key_va.next = self.read.key_va.val();
        self.key_arbiter.read_key_length.next = self.read.key_length.val();
        self.key_arbiter.read_key_pd.next = self.read.key_pd.val();
        self.key_arbiter.read_key_access.next = self.read.key_access.val();
        self.read.key_done.next = self.key_arbiter.read_key_done.val();
        self.read.key_ok.next = self.key_ok.val();
        self.read.key_paged.next = self.key_paged.val();
        self.read.key_address.next = self.key_address.val();
        self.read_error_index.next = self.read.qp_error_index.val();
        self.read_error_valid.next = self.read.qp_error_valid.val();
        self.read.qp_error_ready.next = self.read_error_ready.val();
        self.read_event.next = self.read.event_job.val();
        self.read_event_valid.next = self.read.event_valid.val();
        self.read.event_ready.next = self.read_event_ready.val();
        self.read_count_code.next = self.read.count_code.val();
        self.read_count_valid.next = self.read.count_valid.val();
        self.read.count_ready.next = self.read_count_ready.val();
        self.atomic_lock.next = self.read.atomic_lock.val();
        self.read.atomic_locked.next = self.atomic_locked.val();
        self.atomic_lookup_valid.next = self.read.atomic_lookup_valid.val();
        self.atomic_lookup_entry.next = self.read.atomic_lookup_entry.val();
        self.read.atomic_lookup_done.next = self.atomic_lookup_done.val();
        self.read.atomic_lookup_page.next = self.atomic_lookup_page.val();
        self.atomic_ar_address.next = self.read.atomic_ar_address.val();
        self.atomic_ar_length.next = self.read.atomic_ar_length.val();
        self.atomic_ar_valid.next = self.read.atomic_ar_valid.val();
        self.read.atomic_ar_ready.next = self.atomic_ar_ready.val();
        self.read.atomic_r_data.next = bit_cast::<64, W>(self.r_data.val());
        self.read.atomic_r_error.next = self.r_error.val();
        self.read.atomic_r_valid.next = self.atomic_r_valid.val();
        self.atomic_r_ready.next = self.read.atomic_r_ready.val();
        self.atomic_aw_address.next = self.read.atomic_aw_address.val();
        self.atomic_aw_length.next = self.read.atomic_aw_length.val();
        self.atomic_aw_valid.next = self.read.atomic_aw_valid.val();
        self.read.atomic_aw_ready.next = self.atomic_aw_ready.val();
        self.atomic_w_data.next = self.read.atomic_w_data.val().get_bits::<W>(0);
        self.atomic_w_strobe.next = self.read.atomic_w_strobe.val().get_bits::<K>(0);
        self.atomic_w_last.next = self.read.atomic_w_last.val();
        self.atomic_w_valid.next = self.read.atomic_w_valid.val();
        self.read.atomic_w_ready.next = self.atomic_w_ready.val();
        self.read.atomic_b_valid.next = self.atomic_b_valid.val();
        self.read.atomic_b_error.next = self.atomic_b_error.val();

        // AXI reads.
        self.payload_ar_address.next = self.dma_reader.ar_address.val();
        self.payload_ar_length.next = self.dma_reader.ar_length.val();
        self.payload_ar_valid.next = self.dma_reader.ar_valid.val();
        self.dma_reader.ar_ready.next = self.payload_ar_ready.val();
        self.dma_reader.r_valid.next = self.payload_r_valid.val();
        self.payload_r_ready.next = self.dma_reader.r_ready.val();
        self.send_ar_address.next = self.send.fetch_address.val();
        self.send_ar_length.next = self.send.fetch_length.val();
        self.send_ar_valid.next = self.send.fetch_valid.val();
        self.send.fetch_ready.next = self.send_ar_ready.val();
        self.send.r_valid.next = self.send_r_valid.val();
        self.send_r_ready.next = self.send.r_ready.val();
        self.complete_ar_address.next = self.complete.fetch_address.val();
        self.complete_ar_length.next = self.complete.fetch_length.val();
        self.complete_ar_valid.next = self.complete.fetch_valid.val();
        self.complete.fetch_ready.next = self.complete_ar_ready.val();
        self.complete.r_valid.next = self.complete_r_valid.val();
        self.complete_r_ready.next = self.complete.r_ready.val();
        self.dma_reader.r_data.next = self.r_data.val();
        self.dma_reader.r_error.next = self.r_error.val();
        self.dma_reader.r_last.next = self.r_last.val();
        self.send.r_data.next = self.r_data.val();
        self.send.r_error.next = self.r_error.val();
        self.send.r_last.next = self.r_last.val();
        self.complete.r_data.next = self.r_data.val();
        self.complete.r_error.next = self.r_error.val();
        self.complete.r_last.next = self.r_last.val();

        // Events.
        self.event_job.next = self.send.event_job.val();
        self.event_valid.next = self.send.event_valid.val();
        self.send.event_ready.next = self.event_ready.val();
        self.send_count_valid.next = self.send.count_valid.val();
        self.send_count_code.next = self.send.count_code.val();
        self.send.count_ready.next = self.send_count_ready.val();
        self.responses.s_count_valid.next = self.complete.count_valid.val();
        self.responses.s_count_code.next = self.complete.count_code.val();
        self.complete.count_ready.next = self.responses.s_count_ready.val();
        self.complete_count_valid.next = self.responses.m_count_valid.val();
        self.complete_count_code.next = self.responses.m_count_code.val();
        self.responses.m_count_ready.next = self.complete_count_ready.val();
    }

    crate::block_name!();
}
