// SPDX-License-Identifier: MIT OR Apache-2.0
//! What comes back to a requester: acknowledgements, NAKs, responses, timers; and the completions that they lead to.
//!
//! ```text
//! response (control) ─► ResponseCheck ─┐              ┌─► Placement ─► KeyArbiter, WQE fetch, WriteJob
//! expired ◄─ Timers ◄─ tick, arm       ├─► Steps ─────┼─► RetireEntry (completions, QP_FATAL, SQ_DRAINED)
//! flush, fail, sent (Send) ────────────┘   │  ▲       ├─► rewind, wake (Send)
//!                                          ▼  │       └─► qp_error (control)
//!                              AckWalk ◄─ AckRows, Send's public row and records (look)
//! ```
//!
//! One job at a time. Cycles, from `response_valid` to `response_done`: see docs/stations/requester.md.
//! `W` data bits; `RA` must be `QA + 5`, `RC` one more, `SA` `QA + 1`, `SC` one more.

use super::ack_rows::AckRows;
use super::ack_walk::AckWalk;
use super::complete_steps::{CompleteSteps, CompleteWork};
use super::placement::Placement;
use super::response_check::ResponseCheck;
use super::timers::Timers;
use crate::mem::WriteJob;
use crate::responder::RetireEntry;
use crate::rx::PacketHead;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::counters;
use verbena_spec::layout::{completion_opcode, event_type, send_opcode};

/// How a `Complete` is built.
#[derive(Debug, Clone, Copy)]
pub struct CompleteConfig {
    pub atomic: bool,
    /// PMTUs above 512 exist.
    pub far: bool,
    /// No registers behind the RAMs: for a slow clock.
    pub direct: bool,
}

impl CompleteConfig {
    /// As the preset says.
    pub fn of(config: &Config) -> Self {
        let small = config.small();
        Self {
            atomic: !small,
            far: config.max_pmtu > 512,
            direct: small,
        }
    }
}

#[derive(LogicBlock)]
pub struct Complete<const W: usize, const QA: usize, const RA: usize, const RC: usize, const SA: usize, const SC: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Host writes of QP row words: index · 32 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// A response that control has let through; held with its head until done.
    pub head: Signal<In, PacketHead>,
    pub response_valid: Signal<In, Bit>,
    pub response_done: Signal<Out, Bit>,
    pub response_code: Signal<Out, Bits<6>>,
    /// The frame is released by a job of ours; else control releases it.
    pub response_placed: Signal<Out, Bit>,
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub entry: Signal<Out, RetireEntry>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    /// `mem::KeyArbiter`: start and inputs hold until done.
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
    /// A WQE of 64 bytes.
    pub fetch_address: Signal<Out, Bits<64>>,
    pub fetch_length: Signal<Out, Bits<8>>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    // Send.
    pub rewind_valid: Signal<Out, Bit>,
    pub rewind_index: Signal<Out, Bits<12>>,
    pub rewind_psn: Signal<Out, Bits<24>>,
    pub rewind_wqe: Signal<Out, Bits<16>>,
    pub rewind_offset: Signal<Out, Bits<32>>,
    pub rewind_hold: Signal<Out, Bit>,
    /// Selective repeat: only that packet.
    pub rewind_alone: Signal<Out, Bit>,
    pub rewind_ready: Signal<In, Bit>,
    pub wake_valid: Signal<Out, Bit>,
    pub wake_index: Signal<Out, Bits<12>>,
    pub wake_ready: Signal<In, Bit>,
    pub arm_valid: Signal<In, Bit>,
    pub arm_index: Signal<In, Bits<12>>,
    pub arm_ready: Signal<Out, Bit>,
    pub fail_valid: Signal<In, Bit>,
    pub fail_index: Signal<In, Bits<12>>,
    pub fail_wqe: Signal<In, Bits<16>>,
    pub fail_status: Signal<In, Bits<8>>,
    pub fail_ready: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_index: Signal<In, Bits<12>>,
    pub flush_state: Signal<In, Bits<3>>,
    pub flush_ready: Signal<Out, Bit>,
    pub sent_valid: Signal<In, Bit>,
    pub sent_index: Signal<In, Bits<12>>,
    pub sent_wqe: Signal<In, Bits<16>>,
    pub sent_status: Signal<In, Bits<8>>,
    pub sent_ready: Signal<Out, Bit>,
    pub look_read: Signal<Out, Bit>,
    pub look_index: Signal<Out, Bits<12>>,
    pub look_item: Signal<Out, Bits<5>>,
    pub look_data: Signal<In, Bits<32>>,
    pub ack_read: Signal<In, Bit>,
    pub ack_index: Signal<In, Bits<12>>,
    pub ack_item: Signal<In, Bits<1>>,
    pub ack_data: Signal<Out, Bits<32>>,
    /// Completions of `ack_walk_index` are on their way whose WQEs `ack_data` still holds as uncompleted.
    pub ack_walk: Signal<Out, Bit>,
    pub ack_walk_index: Signal<Out, Bits<12>>,
    /// To control: this QP goes to ERR.
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_ready: Signal<In, Bit>,
    /// Clocks per 4.096 us, 24.8 fixed point.
    pub tick: Signal<In, Bits<32>>,
    /// Counter events (class Extra).
    pub count_valid: Signal<Out, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_ready: Signal<In, Bit>,
    /// The tables are cleared.
    pub ready: Signal<Out, Bit>,
    rows: AckRows<QA, RA, RC, SA>,
    timers: Timers<QA, SA, SC>,
    walk: AckWalk,
    check: ResponseCheck,
    placement: Placement<W>,
    steps: CompleteSteps,
    pmtu: DFF<Bits<3>>,
    tag: DFF<Bits<12>>,
    cq: DFF<Bits<12>>,
    pd: DFF<Bits<16>>,
    operation: DFF<Bits<4>>,
    signaled: DFF<Bit>,
    done: Signal<Local, Bit>,
    cause: Signal<Local, Bits<8>>,
    completed: Signal<Local, Bits<8>>,
    atomic: Constant<Bit>,
    fetch_beats: Constant<Bits<8>>,
    access_local: Constant<Bits<4>>,
    code_response: Constant<Bits<6>>,
    code_ghost: Constant<Bits<6>>,
    fatal_event: Constant<Bits<8>>,
    drained_event: Constant<Bits<8>>,
    write: Constant<Bits<4>>,
    write_immediate: Constant<Bits<4>>,
    read: Constant<Bits<4>>,
    compare_swap: Constant<Bits<4>>,
    fetch_add: Constant<Bits<4>>,
    completed_send: Constant<Bits<8>>,
    completed_write: Constant<Bits<8>>,
    completed_read: Constant<Bits<8>>,
    completed_compare_swap: Constant<Bits<8>>,
    completed_fetch_add: Constant<Bits<8>>,
}

impl<const W: usize, const QA: usize, const RA: usize, const RC: usize, const SA: usize, const SC: usize> Complete<W, QA, RA, RC, SA, SC> {
    pub fn new(config: CompleteConfig) -> Self {
        let byte = |n: u32| Constant::new((n as u64).to_bits());
        let four = |n: u32| Constant::new((n as u64).to_bits());
        let code = |n: u8| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
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
            fetch_address: Default::default(),
            fetch_length: Default::default(),
            fetch_valid: Default::default(),
            fetch_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_last: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            rewind_valid: Default::default(),
            rewind_index: Default::default(),
            rewind_psn: Default::default(),
            rewind_wqe: Default::default(),
            rewind_offset: Default::default(),
            rewind_hold: Default::default(),
            rewind_alone: Default::default(),
            rewind_ready: Default::default(),
            wake_valid: Default::default(),
            wake_index: Default::default(),
            wake_ready: Default::default(),
            arm_valid: Default::default(),
            arm_index: Default::default(),
            arm_ready: Default::default(),
            fail_valid: Default::default(),
            fail_index: Default::default(),
            fail_wqe: Default::default(),
            fail_status: Default::default(),
            fail_ready: Default::default(),
            flush_valid: Default::default(),
            flush_index: Default::default(),
            flush_state: Default::default(),
            flush_ready: Default::default(),
            sent_valid: Default::default(),
            sent_index: Default::default(),
            sent_wqe: Default::default(),
            sent_status: Default::default(),
            sent_ready: Default::default(),
            look_read: Default::default(),
            look_index: Default::default(),
            look_item: Default::default(),
            look_data: Default::default(),
            ack_read: Default::default(),
            ack_index: Default::default(),
            ack_item: Default::default(),
            ack_data: Default::default(),
            ack_walk: Default::default(),
            ack_walk_index: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_index: Default::default(),
            qp_error_ready: Default::default(),
            tick: Default::default(),
            count_valid: Default::default(),
            count_code: Default::default(),
            count_ready: Default::default(),
            ready: Default::default(),
            placement: Default::default(),
            steps: Default::default(),
            pmtu: Default::default(),
            tag: Default::default(),
            cq: Default::default(),
            pd: Default::default(),
            operation: Default::default(),
            signaled: Default::default(),
            done: Default::default(),
            cause: Default::default(),
            completed: Default::default(),
            rows: AckRows::new(config.direct),
            timers: Timers::new(false),
            walk: AckWalk::new(config.far),
            check: ResponseCheck::new(config.atomic, config.far),
            atomic: Constant::new(config.atomic),
            fetch_beats: Constant::new((512 / W as u64 - 1).to_bits()),
            access_local: Constant::new(1u64.to_bits()),
            code_response: code(counters::RESPONSE),
            code_ghost: code(counters::GHOST_ACK),
            fatal_event: byte(event_type::QP_FATAL),
            drained_event: byte(event_type::SQ_DRAINED),
            write: four(send_opcode::WRITE),
            write_immediate: four(send_opcode::WRITE_WITH_IMM),
            read: four(send_opcode::READ),
            compare_swap: four(send_opcode::COMPARE_SWAP),
            fetch_add: four(send_opcode::FETCH_ADD),
            completed_send: byte(completion_opcode::SEND),
            completed_write: byte(completion_opcode::WRITE),
            completed_read: byte(completion_opcode::READ),
            completed_compare_swap: byte(completion_opcode::COMPARE_SWAP),
            completed_fetch_add: byte(completion_opcode::FETCH_ADD),
        }
    }
}

impl<const W: usize, const QA: usize, const RA: usize, const RC: usize, const SA: usize, const SC: usize> Logic
    for Complete<W, QA, RA, RC, SA, SC>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pmtu, tag, cq, pd, operation, signaled);
        clock!(self, clock, rows, timers, walk, check, placement, steps);
        self.rows.reset.next = self.reset.val();
        self.timers.reset.next = self.reset.val();
        self.placement.reset.next = self.reset.val();
        self.steps.reset.next = self.reset.val();
        self.ready.next = self.rows.ready.val() & self.timers.ready.val();
        self.steps.go.next = self.rows.ready.val() & self.timers.ready.val();

        // The job's QP and message.
        if self.steps.load_service.val() {
            self.pmtu.d.next = self.rows.word.val().get_bits::<3>(3);
            self.tag.d.next = self.rows.word.val().get_bits::<12>(20);
        }
        if self.steps.load_queue.val() {
            self.cq.d.next = self.rows.word.val().get_bits::<12>(16);
        }
        if self.steps.load_domain.val() {
            self.pd.d.next = self.rows.word.val().get_bits::<16>(0);
        }
        if self.steps.load_first.val() {
            self.operation.d.next = self.look_data.val().get_bits::<4>(24);
            self.signaled.d.next = self.look_data.val().get_bit(28);
        }

        // What there is to do.
        self.steps.response_valid.next = self.response_valid.val();
        self.steps.response_index.next = self.head.val().qpn.get_bits::<12>(0);
        self.steps.expired_valid.next = self.timers.expired_valid.val();
        self.steps.expired_index.next = bit_cast::<12, QA>(self.timers.expired_index.val());
        self.steps.expired_rnr.next = self.timers.expired_rnr.val();
        self.timers.expired_ready.next = self.steps.expired_ready.val();
        self.steps.flush_valid.next = self.flush_valid.val();
        self.steps.flush_index.next = self.flush_index.val();
        self.steps.flush_state.next = self.flush_state.val();
        self.steps.fail_valid.next = self.fail_valid.val();
        self.steps.fail_index.next = self.fail_index.val();
        self.steps.fail_status.next = self.fail_status.val();
        self.steps.sent_valid.next = self.sent_valid.val();
        self.steps.sent_index.next = self.sent_index.val();
        self.steps.sent_status.next = self.sent_status.val();
        self.done.next = self.steps.finish.val();
        self.response_done.next = self.steps.response_done.val();
        self.response_placed.next = self.steps.placed.val();
        self.response_code.next = self.code_response.val();
        if self.steps.ghost.val() {
            self.response_code.next = self.code_ghost.val();
        }
        self.flush_ready.next = self.done.val() & (self.steps.work.val() == CompleteWork::Flush);
        self.fail_ready.next = self.done.val() & (self.steps.work.val() == CompleteWork::Fail);
        self.sent_ready.next = self.done.val() & (self.steps.work.val() == CompleteWork::Sent);

        // Rows.
        self.rows.table_valid.next = self.table_valid.val();
        self.rows.table_address.next = self.table_address.val();
        self.rows.table_data.next = self.table_data.val();
        self.table_ready.next = self.rows.table_ready.val();
        self.rows.index.next = self.steps.index.val().get_bits::<QA>(0);
        self.rows.read.next = self.steps.read.val() | self.placement.read.val();
        self.rows.item.next = self.steps.item.val();
        if !self.placement.idle.val() {
            self.rows.item.next = self.placement.item.val();
        }
        self.rows.write.next = self.steps.write.val() | self.placement.write.val();
        self.rows.write_item.next = self.steps.write_item.val();
        self.rows.write_data.next = self.steps.write_data.val();
        if self.placement.write.val() {
            self.rows.write_item.next = self.placement.write_item.val();
            self.rows.write_data.next = self.placement.write_data.val();
        }
        self.rows.ack_read.next = self.ack_read.val();
        self.rows.ack_index.next = self.ack_index.val().get_bits::<QA>(0);
        self.rows.ack_item.next = self.ack_item.val();
        self.ack_data.next = self.rows.ack_data.val();
        self.ack_walk.next = self.steps.busy.val();
        self.ack_walk_index.next = self.steps.index.val();
        self.steps.word.next = self.rows.word.val();
        self.look_read.next = self.steps.look_read.val();
        self.look_index.next = self.steps.index.val();
        self.look_item.next = self.steps.look_item.val();
        self.steps.look_data.next = self.look_data.val();

        // PSNs.
        self.walk.pair.next = self.steps.pair.val();
        self.walk.pmtu.next = self.pmtu.q.val();
        self.walk.word.next = self.rows.word.val();
        self.walk.look.next = self.look_data.val();
        self.walk.psn.next = self.head.val().psn;
        self.walk.load_oldest.next = self.steps.load_oldest.val();
        self.walk.load_limit.next = self.steps.load_limit.val();
        self.walk.load_first.next = self.steps.load_first.val();
        self.walk.load_length.next = self.steps.load_length.val();
        self.walk.pass.next = self.steps.pass.val();
        self.walk.passing.next = self.steps.passing.val();
        self.walk.reach.next = self.steps.reach.val();
        self.walk.inclusive.next = self.steps.inclusive.val();
        self.steps.negative.next = self.walk.negative.val();
        self.steps.equal.next = self.walk.equal.val();
        self.steps.oldest.next = self.walk.oldest.val();

        // The response.
        self.check.opcode.next = self.head.val().opcode;
        self.check.syndrome.next = self.head.val().xth0.get_bits::<8>(24);
        self.check.payload_length.next = self.head.val().payload_length;
        self.check.send_opcode.next = self.operation.q.val();
        self.check.pmtu.next = self.pmtu.q.val();
        self.check.length.next = self.walk.length.val().get_bits::<13>(0);
        self.check.offset.next = self.placement.place_offset.val().get_bits::<13>(0);
        self.check.opening.next = self.steps.opening.val();
        self.check.closing.next = self.steps.closing.val();
        self.steps.positive.next = self.check.positive.val();
        self.steps.rnr.next = self.check.rnr.val();
        self.steps.sequence_nak.next = self.check.sequence_nak.val();
        self.steps.data.next = self.check.data.val();
        self.steps.nak_status.next = self.check.nak_status.val();
        self.steps.bytes.next = self.check.bytes.val();
        self.steps.fetches.next = self.check.fetches.val();
        self.steps.fits.next = self.check.fits.val();
        self.steps.signaled.next = self.signaled.q.val();

        // Placement.
        self.placement.start.next = self.steps.place_start.val();
        self.placement.hit.next = self.steps.place_hit.val();
        self.placement.commit.next = self.steps.place_commit.val();
        self.placement.forget.next = self.steps.place_forget.val();
        self.placement.clear.next = self.steps.place_clear.val();
        self.placement.load.next = self.steps.load_offset.val();
        self.placement.offset.next = self.walk.offset.val();
        if self.steps.aligned.val() {
            self.placement.offset.next = 0.into();
        }
        self.placement.wqe.next = self.steps.wqe.val();
        self.placement.send_opcode.next = self.operation.q.val();
        self.placement.length.next = self.walk.length.val();
        self.placement.swap.next = self.check.swap.val();
        self.placement.payload_length.next = self.head.val().payload_length;
        self.placement.payload_beat.next = self.head.val().payload_beat;
        self.placement.payload_offset.next = self.head.val().payload_offset;
        self.placement.end_beat.next = self.head.val().end_beat;
        self.placement.word.next = self.rows.word.val();
        self.steps.place_idle.next = self.placement.idle.val();
        self.steps.place_done.next = self.placement.done.val();
        self.steps.place_refused.next = self.placement.refused.val();
        self.steps.place_status.next = self.placement.status.val();
        self.steps.place_jobs.next = self.placement.jobs.val();
        self.key_start.next = self.placement.key_start.val();
        self.key_op.next = 0.into();
        self.key.next = self.placement.key.val();
        self.key_va.next = self.placement.key_va.val();
        self.key_length.next = self.placement.key_length.val();
        self.key_pd.next = self.pd.q.val();
        self.key_access.next = self.access_local.val();
        self.placement.key_done.next = self.key_done.val();
        self.placement.key_ok.next = self.key_ok.val();
        self.placement.key_paged.next = self.key_paged.val();
        self.placement.key_address.next = self.key_address.val();
        self.fetch_address.next = self.placement.key_va.val();
        self.fetch_length.next = self.fetch_beats.val();
        self.fetch_valid.next = self.placement.fetch_valid.val();
        self.placement.fetch_ready.next = self.fetch_ready.val();
        self.placement.r_data.next = self.r_data.val();
        self.placement.r_error.next = self.r_error.val();
        self.placement.r_valid.next = self.r_valid.val();
        self.r_ready.next = self.placement.r_ready.val();
        self.job.next = self.placement.job.val();
        self.job_valid.next = self.placement.job_valid.val();
        self.placement.job_ready.next = self.job_ready.val();

        // The entry.
        self.completed.next = self.completed_send.val();
        if (self.operation.q.val() == self.write.val()) | (self.operation.q.val() == self.write_immediate.val()) {
            self.completed.next = self.completed_write.val();
        }
        if self.operation.q.val() == self.read.val() {
            self.completed.next = self.completed_read.val();
        }
        if self.atomic.val() {
            if self.operation.q.val() == self.compare_swap.val() {
                self.completed.next = self.completed_compare_swap.val();
            }
            if self.operation.q.val() == self.fetch_add.val() {
                self.completed.next = self.completed_fetch_add.val();
            }
        }
        self.cause.next = bit_cast::<8, 4>(self.steps.entry_status.val());
        if self.steps.named.val() {
            self.cause.next = self.head.val().xth0.get_bits::<8>(24);
        }
        self.entry.next.qp_index = self.steps.index.val();
        self.entry.next.jobs = self.placement.jobs.val();
        self.entry.next.respond = false;
        self.entry.next.syndrome = self.cause.val();
        self.entry.next.psn = self.walk.oldest.val();
        self.entry.next.msn = 0.into();
        self.entry.next.complete = self.steps.entry_complete.val();
        self.entry.next.cq = self.cq.q.val();
        self.entry.next.qpn = bit_cast::<24, 12>(self.steps.index.val()) | (bit_cast::<24, 12>(self.tag.q.val()) << 12);
        self.entry.next.completion_opcode = self.completed.val();
        self.entry.next.status = bit_cast::<8, 4>(self.steps.entry_status.val());
        self.entry.next.with_imm = false;
        self.entry.next.with_invalidate = false;
        self.entry.next.grh = false;
        self.entry.next.solicited = false;
        self.entry.next.wqe_index = self.steps.wqe.val();
        self.entry.next.byte_length = self.walk.length.val();
        self.entry.next.immediate = 0.into();
        self.entry.next.source_qpn = 0.into();
        self.entry.next.requester = true;
        self.entry.next.serve = false;
        self.entry.next.partial = false;
        self.entry.next.event = self.steps.entry_event.val();
        self.entry.next.event_type = self.fatal_event.val();
        if self.steps.drained.val() {
            self.entry.next.event_type = self.drained_event.val();
        }
        self.entry_valid.next = self.steps.entry_valid.val();
        self.steps.entry_ready.next = self.entry_ready.val();

        // Timers.
        self.timers.tick.next = self.tick.val();
        self.timers.table_valid.next = self.rows.code_valid.val();
        self.timers.table_index.next = self.table_address.val().get_bits::<QA>(5);
        self.timers.table_code.next = self.table_data.val().get_bits::<5>(0);
        self.rows.code_ready.next = self.timers.table_ready.val();
        self.timers.arm_valid.next = self.arm_valid.val();
        self.timers.arm_index.next = self.arm_index.val().get_bits::<QA>(0);
        self.arm_ready.next = self.timers.arm_ready.val();
        self.timers.set_valid.next = self.steps.timer_valid.val();
        self.timers.set_index.next = self.steps.index.val().get_bits::<QA>(0);
        self.timers.set_operation.next = self.steps.timer_operation.val();
        self.timers.set_code.next = self.head.val().xth0.get_bits::<5>(24);
        self.steps.timer_ready.next = self.timers.set_ready.val();

        // Send and control.
        self.rewind_valid.next = self.steps.rewind_valid.val();
        self.rewind_index.next = self.steps.index.val();
        self.rewind_psn.next = self.walk.oldest.val();
        self.rewind_wqe.next = self.steps.wqe.val();
        self.rewind_offset.next = self.placement.place_offset.val();
        self.rewind_hold.next = self.steps.rewind_hold.val();
        self.rewind_alone.next = self.steps.rewind_alone.val();
        self.steps.rewind_ready.next = self.rewind_ready.val();
        self.wake_valid.next = self.steps.wake_valid.val();
        self.wake_index.next = self.steps.index.val();
        self.steps.wake_ready.next = self.wake_ready.val();
        self.qp_error_valid.next = self.steps.report_valid.val();
        self.qp_error_index.next = self.steps.report_index.val();
        self.steps.report_ready.next = self.qp_error_ready.val();
        self.count_valid.next = self.steps.count_valid.val();
        self.count_code.next = self.steps.count_code.val();
        self.steps.count_ready.next = self.count_ready.val();
    }

    crate::block_name!();
}
