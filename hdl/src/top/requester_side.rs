// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester's side of the engine, wired: Send, Complete, and the readers and checks that they share. Nothing is decided here.
//!
//! ```text
//! doorbell, state ─► Send ─┬─► packet words, read jobs ─► PacketArbiter ─┬─► transmit
//!                    ▲  │  └─► key ─┐                                    └─► DmaReader ─► payload
//!                    │  ▼           ▼
//! response, tick ─► Complete ─► KeyArbiter ◄─ control
//!                      └─► job, entry, qp_error
//! ```
//!
//! The READ responder's places at the two arbiters are empty.

use crate::host::EventJob;
use crate::mem::{DmaReader, KeyArbiter, ReadJob, WriteJob};
use crate::requester::{Complete, CompleteConfig, Send};
use crate::responder::RetireEntry;
use crate::rx::PacketHead;
use crate::tx::PacketArbiter;
use rust_hdl::prelude::*;

/// The block. Parameters as in its parts: `W K S N PB AB` DmaReader's, `H` to `U` Send's, `RC SA SC` Complete's.
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
    /// To retire and the DMA writer.
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub entry: Signal<Out, RetireEntry>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
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
    complete: Complete<W, QA, QR, RC, SA, SC>,
    key_arbiter: KeyArbiter,
    packet_arbiter: PacketArbiter,
    dma_reader: DmaReader<W, K, S, N, PB, AB>,
    never: Constant<Bit>,
    no_error: Constant<Bits<8>>,
    no_word: Constant<Bits<32>>,
    no_1: Constant<Bits<1>>,
    no_4: Constant<Bits<4>>,
    no_16: Constant<Bits<16>>,
    no_64: Constant<Bits<64>>,
    no_job: Constant<ReadJob>,
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
    > RequesterSide<W, K, S, N, PB, AB, H, QA, QB, QC, QS, QR, A, T, L, U, RC, SA, SC>
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
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
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
            complete: Complete::new(complete),
            key_arbiter: Default::default(),
            packet_arbiter: Default::default(),
            dma_reader: Default::default(),
            never: Constant::new(false),
            no_error: Constant::new(0u64.to_bits()),
            no_word: Constant::new(0u64.to_bits()),
            no_1: Constant::new(0u64.to_bits()),
            no_4: Constant::new(0u64.to_bits()),
            no_16: Constant::new(0u64.to_bits()),
            no_64: Constant::new(0u64.to_bits()),
            no_job: Constant::new(ReadJob::default()),
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
    > Logic for RequesterSide<W, K, S, N, PB, AB, H, QA, QB, QC, QS, QR, A, T, L, U, RC, SA, SC>
{
    #[hdl_gen]
    fn update(&mut self) {
        self.send.clock.next = self.clock.val();
        self.complete.clock.next = self.clock.val();
        self.key_arbiter.clock.next = self.clock.val();
        self.packet_arbiter.clock.next = self.clock.val();
        self.dma_reader.clock.next = self.clock.val();
        self.send.reset.next = self.reset.val();
        self.complete.reset.next = self.reset.val();
        self.key_arbiter.reset.next = self.reset.val();
        self.packet_arbiter.reset.next = self.reset.val();
        self.dma_reader.reset.next = self.reset.val();

        // Rows, doorbells, states. A QP row goes to both its keepers at once.
        self.send.table_valid.next = self.table_valid.val() & self.complete.table_ready.val();
        self.send.table_address.next = self.table_address.val();
        self.send.table_data.next = self.table_data.val();
        self.complete.table_valid.next = self.table_valid.val() & self.send.table_ready.val();
        self.complete.table_address.next = self.table_address.val();
        self.complete.table_data.next = self.table_data.val();
        self.table_ready.next = self.send.table_ready.val() & self.complete.table_ready.val();
        self.ready.next = self.send.ready.val() & self.complete.ready.val();
        self.send.doorbell_valid.next = self.doorbell_valid.val();
        self.send.doorbell_index.next = self.doorbell_index.val();
        self.send.doorbell_producer.next = self.doorbell_producer.val();
        self.doorbell_ready.next = self.send.doorbell_ready.val();
        self.send.state_valid.next = self.state_valid.val();
        self.send.state_index.next = self.state_index.val();
        self.send.state.next = self.state.val();
        self.state_ready.next = self.send.state_ready.val();

        // Send and Complete.
        self.send.rewind_valid.next = self.complete.rewind_valid.val();
        self.send.rewind_index.next = self.complete.rewind_index.val();
        self.send.rewind_psn.next = self.complete.rewind_psn.val();
        self.send.rewind_wqe.next = self.complete.rewind_wqe.val();
        self.send.rewind_offset.next = self.complete.rewind_offset.val();
        self.send.rewind_hold.next = self.complete.rewind_hold.val();
        self.send.wake_valid.next = self.complete.wake_valid.val();
        self.send.wake_index.next = self.complete.wake_index.val();
        self.complete.rewind_ready.next = self.send.rewind_ready.val();
        self.complete.wake_ready.next = self.send.wake_ready.val();
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
        self.complete.tick.next = self.tick.val();

        // Responses, and what they do.
        self.complete.head.next = self.head.val();
        self.complete.response_valid.next = self.response_valid.val();
        self.response_done.next = self.complete.response_done.val();
        self.response_code.next = self.complete.response_code.val();
        self.response_placed.next = self.complete.response_placed.val();
        self.job.next = self.complete.job.val();
        self.job_valid.next = self.complete.job_valid.val();
        self.complete.job_ready.next = self.job_ready.val();
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
        self.mtt_read.next = self.dma_reader.mtt_read.val();
        self.mtt_entry.next = self.dma_reader.mtt_entry.val();
        self.dma_reader.mtt_grant.next = self.mtt_grant.val();
        self.dma_reader.mtt_page.next = self.mtt_page.val();

        // The READ responder's places, empty.
        self.packet_arbiter.read_packet_valid.next = self.never.val();
        self.packet_arbiter.read_packet_last.next = self.never.val();
        self.packet_arbiter.read_packet_word.next = self.no_word.val();
        self.packet_arbiter.read_job_valid.next = self.never.val();
        self.packet_arbiter.read_done_ready.next = self.never.val();
        self.packet_arbiter.read_job.next = self.no_job.val();
        self.key_arbiter.read_key_start.next = self.never.val();
        self.key_arbiter.read_key_op.next = self.no_1.val();
        self.key_arbiter.read_key.next = self.no_word.val();
        self.key_arbiter.read_key_va.next = self.no_64.val();
        self.key_arbiter.read_key_length.next = self.no_word.val();
        self.key_arbiter.read_key_pd.next = self.no_16.val();
        self.key_arbiter.read_key_access.next = self.no_4.val();

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
        self.complete_count_valid.next = self.complete.count_valid.val();
        self.complete_count_code.next = self.complete.count_code.val();
        self.complete.count_ready.next = self.complete_count_ready.val();
    }

    crate::block_name!();
}
