// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retire: lets a packet's effects out once its data are in memory.
//!
//! ```text
//! entry ─► queue (FIFO, register, or none) ─► head entry ──┬─► ack         AckJob          (respond, or a failed write)
//!                                               ▲          ├─► serve       QP index        (serve: to the READ responder)
//!                                               │          ├─► completion  CompletionJob   (complete)
//! done, done_error ─► count up to entry.jobs ───┘          ├─► event_job   EventJob        (event, or a failed write)
//!                                                          └─► errors (FIFO) ─► qp_error  (a failed write), and count
//! ```
//!
//! Contract: write jobs and entries stand in the same order, and every write job belongs to exactly one entry, which names how many (`jobs`).
//! An entry's outputs are offered together, each is taken once, and the next entry begins when all but `qp_error` are taken. A write error (R69, R64) turns
//! the answer into NAK remote operational error with the entry's PSN and MSN, the completion into a local QP operation error, replaces the entry's own event
//! by QP_FATAL, and asks control to put the QP into ERR. That NAK is offered even where the entry has no answer, so `psn` and `msn` must
//! always be set; `tx` drops it for a QP that isn't RC.
//! A requester's entry (`requester`) is answered by nobody: its event names the status instead, and where it completes nothing, the QP's next
//! completion of the requester takes the error's status: that of the READ whose bytes are missing.
//! `failing` holds from a failed done until control has taken the QP's error, which it does once `Send` knows the QP's state: no fenced message passes meanwhile.
//! Failed QPs wait in a FIFO of their own, twice as long as the queue, so a failed entry makes room in the queue before control takes the error: control, which
//! takes it only between packets, always reaches that point, even if every entry fails. `idle` says that nothing is left here but such errors.
//!
//! A sequence NAK (R23) overtakes packets inside a message (`partial`), one NAK at a time: it leaves when what ends a message before it has left. By what it
//! acknowledges no message is over at the requester's, so nobody takes for delivered what isn't in memory yet, and the missing packet is sent again up to a queue's
//! length sooner. ACKs of what it overtook follow; they are old ones then. With the FIFO only.
//!
//! Latency: 2 cycles an entry when nothing waits (3 with the FIFO's fall through). `QUEUE` 1: a FIFO of `2^A` entries (tengig). `HOLD` 1: one register (244
//! flip-flops). Neither (cu): the entry stays with its source until retired, and then its jobs may not wait for `entry_ready`.
//! Limit: entries of the same QP already queued behind a failed one still retire as they are.

use super::RetireEntry;
use crate::host::{CompletionJob, EventJob};
use crate::stream::Fifo;
use crate::tx::AckJob;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::layout::{cqe, event_type, status};

/// Bits of a `RetireEntry`.
pub const ENTRY_BITS: usize = 244;
/// AETH syndrome: NAK, PSN sequence error.
pub const NAK_SEQUENCE: u32 = 0x60;
/// AETH syndrome: NAK, remote operational error.
pub const NAK_OPERATION: u32 = 0x63;

/// The retire station; `B` is `A + 1`, `C` one more: up to `2^B` failed QPs wait.
#[derive(LogicBlock)]
pub struct Retire<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub entry: Signal<In, RetireEntry>,
    pub entry_valid: Signal<In, Bit>,
    pub entry_ready: Signal<Out, Bit>,
    /// One for each write job, in order.
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    /// A done of a requester's entry is taken: its bytes are in memory.
    pub landed: Signal<Out, Bit>,
    /// A write has failed and its QP isn't in ERR yet.
    pub failing: Signal<Out, Bit>,
    /// Counter event: an entry's write has failed.
    pub count_valid: Signal<Out, Bit>,
    pub count_ready: Signal<In, Bit>,
    pub ack: Signal<Out, AckJob>,
    pub ack_valid: Signal<Out, Bit>,
    pub ack_ready: Signal<In, Bit>,
    /// To the READ responder: what stands before this QP's next request has landed.
    pub serve_index: Signal<Out, Bits<12>>,
    pub serve_valid: Signal<Out, Bit>,
    pub serve_ready: Signal<In, Bit>,
    pub completion: Signal<Out, CompletionJob>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_ready: Signal<In, Bit>,
    /// No entry has been here for three cycles.
    pub idle: Signal<Out, Bit>,

    fifo: [Fifo<A, B, 244>; QUEUE],
    /// Entries in the FIFO; those among them that aren't `partial`.
    stored: DFF<Bits<6>>,
    whole: DFF<Bits<6>>,
    /// A sequence NAK that overtakes; it is offered.
    early: DFF<Bits<60>>,
    early_waits: DFF<Bit>,
    /// Of what it overtakes, entries that aren't `partial`: they go first.
    ends_ahead: DFF<Bits<6>>,
    early_offered: DFF<Bit>,
    /// It is still in the FIFO, at this place from the head on.
    early_stands: DFF<Bit>,
    early_place: DFF<Bits<6>>,
    /// What was pushed in the cycle before.
    came: DFF<Bit>,
    came_answers: DFF<Bit>,
    came_alone: DFF<Bit>,
    came_syndrome: DFF<Bits<8>>,
    hold: [DFF<Bits<244>>; HOLD],
    hold_valid: [DFF<Bit>; HOLD],
    /// Dones taken for the head entry, and whether one of them failed.
    taken: DFF<Bits<2>>,
    failed: DFF<Bit>,
    /// Outputs of the head entry still to be taken.
    sending: DFF<Bit>,
    ack_due: DFF<Bit>,
    completion_due: DFF<Bit>,
    event_due: DFF<Bit>,
    serve_due: DFF<Bit>,
    errors: Fifo<B, C, 12>,
    /// The one that is offered: the FIFO's RAM isn't read by what control says in the same cycle.
    offered: DFF<Bit>,
    offered_index: DFF<Bits<12>>,
    /// Those that control hasn't taken.
    owed: DFF<Bits<6>>,
    /// Failed entries that aren't counted yet.
    uncounted: DFF<Bits<6>>,
    still: DFF<Bits<2>>,
    /// This QP misses bytes of a READ that hasn't completed yet.
    spoiled: DFF<Bit>,
    spoiled_index: DFF<Bits<12>>,

    overtakes: Signal<Local, Bit>,
    answered: Signal<Local, Bit>,
    pushed: Signal<Local, Bit>,
    pushed_whole: Signal<Local, Bit>,
    popped_whole: Signal<Local, Bit>,
    flat: Signal<Local, Bits<244>>,
    head: Signal<Local, Bits<244>>,
    head_valid: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    complete_now: Signal<Local, Bit>,
    index: Signal<Local, Bits<12>>,
    missing: Signal<Local, Bit>,
    error_taken: Signal<Local, Bit>,
    counted: Signal<Local, Bit>,
    busy: Signal<Local, Bit>,
    still_long: Signal<Local, Bit>,
    status: Signal<Local, Bits<8>>,
    nak_sequence: Constant<Bits<8>>,
    nak_operation: Constant<Bits<8>>,
    operation_error: Constant<Bits<8>>,
    qp_fatal: Constant<Bits<8>>,
    index_mask: Constant<Bits<12>>,
    qpn_mask: Constant<Bits<24>>,
    long: Constant<Bits<2>>,
    /// UD's fields.
    datagram_flags: Constant<Bits<4>>,
    datagram_mask: Constant<Bits<24>>,
}

impl<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize> Retire<QUEUE, HOLD, A, B, C> {
    pub fn new(config: &Config) -> Self {
        assert!(QUEUE + HOLD <= 1, "Retire: one queue at most");
        assert_eq!(
            RetireEntry::BITS,
            ENTRY_BITS,
            "Retire: RetireEntry has changed, and so have its offsets"
        );
        // The kernel's offsets in the completion words.
        assert_eq!((cqe::OPCODE.low, cqe::WITH_IMM.low, cqe::WITH_INVALIDATE.low), (24, 8, 9));
        assert_eq!((cqe::GRH.low, cqe::SOLICITED.low, cqe::WQE_INDEX.low), (10, 11, 16));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            entry: Default::default(),
            entry_valid: Default::default(),
            entry_ready: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            landed: Default::default(),
            failing: Default::default(),
            count_valid: Default::default(),
            count_ready: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            serve_index: Default::default(),
            serve_valid: Default::default(),
            serve_ready: Default::default(),
            completion: Default::default(),
            completion_valid: Default::default(),
            completion_ready: Default::default(),
            event_job: Default::default(),
            event_valid: Default::default(),
            event_ready: Default::default(),
            qp_error_index: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_ready: Default::default(),
            idle: Default::default(),
            fifo: std::array::from_fn(|_| Default::default()),
            hold: std::array::from_fn(|_| Default::default()),
            hold_valid: std::array::from_fn(|_| Default::default()),
            stored: Default::default(),
            whole: Default::default(),
            early: Default::default(),
            early_waits: Default::default(),
            ends_ahead: Default::default(),
            early_offered: Default::default(),
            early_stands: Default::default(),
            early_place: Default::default(),
            came: Default::default(),
            came_answers: Default::default(),
            came_alone: Default::default(),
            came_syndrome: Default::default(),
            offered: Default::default(),
            offered_index: Default::default(),
            answered: Default::default(),
            overtakes: Default::default(),
            pushed: Default::default(),
            pushed_whole: Default::default(),
            popped_whole: Default::default(),
            taken: Default::default(),
            failed: Default::default(),
            sending: Default::default(),
            ack_due: Default::default(),
            completion_due: Default::default(),
            event_due: Default::default(),
            serve_due: Default::default(),
            errors: Default::default(),
            owed: Default::default(),
            uncounted: Default::default(),
            still: Default::default(),
            spoiled: Default::default(),
            spoiled_index: Default::default(),
            flat: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            pop: Default::default(),
            complete_now: Default::default(),
            index: Default::default(),
            missing: Default::default(),
            error_taken: Default::default(),
            counted: Default::default(),
            busy: Default::default(),
            still_long: Default::default(),
            status: Default::default(),
            nak_sequence: Constant::new(NAK_SEQUENCE.to_bits()),
            nak_operation: Constant::new(NAK_OPERATION.to_bits()),
            operation_error: Constant::new(status::LOCAL_QP_OPERATION_ERROR.to_bits()),
            qp_fatal: Constant::new(event_type::QP_FATAL.to_bits()),
            index_mask: Constant::new((config.n_qps - 1).to_bits()),
            long: Constant::new(3u64.to_bits()),
            // The tag and the preset's index bits.
            qpn_mask: Constant::new((0xff_f000 | (config.n_qps - 1)).to_bits()),
            datagram_flags: Constant::new(if config.ud { 15u64 } else { 11 }.to_bits()),
            datagram_mask: Constant::new(if config.ud { 0xff_ffffu64 } else { 0 }.to_bits()),
        }
    }
}

impl<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize> Logic for Retire<QUEUE, HOLD, A, B, C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            taken,
            failed,
            sending,
            ack_due,
            completion_due,
            event_due,
            serve_due,
            owed,
            uncounted,
            still,
            spoiled,
            spoiled_index
        );
        dff_setup!(self, clock, stored, whole, early, early_waits, ends_ahead, early_offered);
        dff_setup!(
            self,
            clock,
            early_stands,
            early_place,
            came,
            came_answers,
            came_alone,
            came_syndrome,
            offered,
            offered_index
        );
        clock!(self, clock, errors);
        self.errors.reset.next = self.reset.val();

        // The head entry goes when nothing of it is left to be taken.
        self.pop.next =
            self.sending.q.val() & !self.ack_due.q.val() & !self.completion_due.q.val() & !self.event_due.q.val() & !self.serve_due.q.val();

        // The queue, if there is one.
        self.flat.next = self.entry.val().into();
        self.head.next = self.flat.val();
        self.head_valid.next = self.entry_valid.val();
        self.entry_ready.next = self.pop.val();
        self.overtakes.next = false;
        self.pushed.next = false;
        for _i in 0..QUEUE {
            // It was taken in the cycle before and isn't the head, and the one that overtook last is done with.
            self.overtakes.next = self.came.q.val()
                & self.came_answers.q.val()
                & (self.came_syndrome.q.val() == self.nak_sequence.val())
                & self.came_alone.q.val()
                & (self.stored.q.val() != 1)
                & !self.early_waits.q.val()
                & !self.early_stands.q.val()
                & !self.failed.q.val()
                & !self.owed.q.val().any();
        }
        for i in 0..QUEUE {
            self.fifo[i].clock.next = self.clock.val();
            self.fifo[i].reset.next = self.reset.val();
            self.fifo[i].s_data.next = self.flat.val();
            self.fifo[i].s_valid.next = self.entry_valid.val();
            self.fifo[i].m_ready.next = self.pop.val();
            self.entry_ready.next = self.fifo[i].s_ready.val();
            self.pushed.next = self.entry_valid.val() & self.fifo[i].s_ready.val();
            self.head.next = self.fifo[i].m_data.val();
            self.head_valid.next = self.fifo[i].m_valid.val();
        }
        for i in 0..HOLD {
            self.hold[i].clock.next = self.clock.val();
            self.hold_valid[i].clock.next = self.clock.val();
            self.hold[i].d.next = self.hold[i].q.val();
            self.hold_valid[i].d.next = self.hold_valid[i].q.val();
            self.entry_ready.next = !self.hold_valid[i].q.val();
            self.head.next = self.hold[i].q.val();
            self.head_valid.next = self.hold_valid[i].q.val();
            if !self.hold_valid[i].q.val() {
                self.hold[i].d.next = self.flat.val();
                self.hold_valid[i].d.next = self.entry_valid.val();
            }
            if self.pop.val() | self.reset.val() {
                self.hold_valid[i].d.next = false;
            }
        }

        // What the FIFO holds, and what came into it.
        self.came.d.next = self.pushed.val();
        self.came_answers.d.next = self.entry.val().respond;
        self.came_alone.d.next = !(self.entry.val().jobs.any()
            | self.entry.val().complete
            | self.entry.val().event
            | self.entry.val().serve
            | self.entry.val().requester
            | self.entry.val().partial);
        self.came_syndrome.d.next = self.entry.val().syndrome;
        if !self.early_waits.q.val() & !self.overtakes.val() {
            self.early.d.next = bit_cast::<60, 12>(self.entry.val().qp_index)
                | (bit_cast::<60, 24>(self.entry.val().psn) << 12)
                | (bit_cast::<60, 24>(self.entry.val().msn) << 36);
        }
        self.pushed_whole.next = self.pushed.val() & !self.entry.val().partial;
        self.popped_whole.next = self.pop.val() & !self.head.val().get_bit(243);
        if self.pushed.val() & !self.pop.val() {
            self.stored.d.next = self.stored.q.val() + 1;
        }
        if !self.pushed.val() & self.pop.val() {
            self.stored.d.next = self.stored.q.val() - 1;
        }
        if self.pushed_whole.val() & !self.popped_whole.val() {
            self.whole.d.next = self.whole.q.val() + 1;
        }
        if !self.pushed_whole.val() & self.popped_whole.val() {
            self.whole.d.next = self.whole.q.val() - 1;
        }
        // The one that overtakes stays in the FIFO, where its turn passes without an answer: `early_place` are those before it and itself; but for it
        // all that aren't `partial` leave first.
        if self.early_stands.q.val() & self.pop.val() {
            self.early_place.d.next = self.early_place.q.val() - 1;
            self.early_stands.d.next = self.early_place.q.val() != 1;
        }
        if self.ends_ahead.q.val().any() & self.popped_whole.val() {
            self.ends_ahead.d.next = self.ends_ahead.q.val() - 1;
        }
        if self.overtakes.val() {
            self.early_waits.d.next = true;
            self.early_stands.d.next = true;
            self.early_place.d.next = self.stored.q.val();
            self.ends_ahead.d.next = self.whole.q.val() - 1;
            if self.pop.val() {
                self.early_place.d.next = self.stored.q.val() - 1;
            }
            if self.popped_whole.val() {
                self.ends_ahead.d.next = self.whole.q.val() - 2;
            }
        }

        // Dones of the head entry.
        self.done_ready.next = self.head_valid.val() & !self.sending.q.val() & (self.taken.q.val() != self.head.val().get_bits::<2>(12));
        self.landed.next = self.done_valid.val() & self.done_ready.val() & self.head.val().get_bit(241);
        self.answered.next = self.early_stands.q.val() & (self.early_place.q.val() == 1);
        // A failed entry needs a place for its QP's index, and in the count.
        self.complete_now.next = self.head_valid.val()
            & !self.sending.q.val()
            & (self.taken.q.val() == self.head.val().get_bits::<2>(12))
            & !(self.answered.val() & self.early_waits.q.val())
            & (!self.failed.q.val() | (self.errors.s_ready.val() & !self.uncounted.q.val().get_bit(5)));
        if self.done_valid.val() & self.done_ready.val() {
            self.taken.d.next = self.taken.q.val() + 1;
            self.failed.d.next = self.failed.q.val() | self.done_error.val();
        }
        if self.complete_now.val() {
            self.sending.d.next = true;
            self.ack_due.d.next =
                (self.head.val().get_bit(14) & !self.answered.val()) | (self.failed.q.val() & !self.head.val().get_bit(241));
            self.serve_due.d.next = self.head.val().get_bit(242);
            self.completion_due.d.next = self.head.val().get_bit(71);
            self.event_due.d.next = self.head.val().get_bit(232) | self.failed.q.val();
        }

        self.index.next = self.head.val().get_bits::<12>(0) & self.index_mask.val();
        self.errors.s_data.next = self.index.val();
        self.errors.s_valid.next = self.complete_now.val() & self.failed.q.val();
        self.errors.m_ready.next = !self.offered.q.val();
        self.error_taken.next = self.offered.q.val() & self.qp_error_ready.val();
        if self.qp_error_ready.val() {
            self.offered.d.next = false;
        }
        if !self.offered.q.val() {
            self.offered.d.next = self.errors.m_valid.val();
            self.offered_index.d.next = self.errors.m_data.val();
        }
        if self.errors.s_valid.val() & !self.error_taken.val() {
            self.owed.d.next = self.owed.q.val() + 1;
        }
        if !self.errors.s_valid.val() & self.error_taken.val() {
            self.owed.d.next = self.owed.q.val() - 1;
        }
        self.count_valid.next = self.uncounted.q.val().any();
        self.counted.next = self.count_valid.val() & self.count_ready.val();
        if self.errors.s_valid.val() & !self.counted.val() {
            self.uncounted.d.next = self.uncounted.q.val() + 1;
        }
        if !self.errors.s_valid.val() & self.counted.val() {
            self.uncounted.d.next = self.uncounted.q.val() - 1;
        }
        self.failing.next = (self.failed.q.val() & !self.sending.q.val()) | self.owed.q.val().any();

        // Nothing was here for a while: longer than the queue hides an entry.
        self.busy.next = self.entry_valid.val() | self.head_valid.val() | self.sending.q.val() | self.early_waits.q.val();
        self.still_long.next = self.still.q.val() == self.long.val();
        self.idle.next = self.still_long.val();
        if !self.still_long.val() {
            self.still.d.next = self.still.q.val() + 1;
        }
        if self.busy.val() {
            self.still.d.next = 0.into();
        }

        // A READ that misses bytes: the completion is its, or the QP has left its life.
        self.missing.next = self.spoiled.q.val() & self.head.val().get_bit(241) & (self.spoiled_index.q.val() == self.index.val());
        if (self.pop.val() & self.missing.val() & self.head.val().get_bit(71)) | (self.still_long.val() & !self.owed.q.val().any()) {
            self.spoiled.d.next = false;
        }
        if self.complete_now.val() & self.failed.q.val() & self.head.val().get_bit(241) & !self.head.val().get_bit(71) {
            self.spoiled.d.next = true;
            self.spoiled_index.d.next = self.index.val();
        }

        // Outputs: each is offered until taken.
        self.ack_valid.next = self.ack_due.q.val() | self.early_offered.q.val();
        self.completion_valid.next = self.completion_due.q.val();
        self.event_valid.next = self.event_due.q.val();
        self.serve_valid.next = self.serve_due.q.val();
        self.serve_index.next = self.index.val();
        self.qp_error_valid.next = self.offered.q.val();
        if self.sending.q.val() {
            self.ack_due.d.next = self.ack_due.q.val() & (!self.ack_ready.val() | self.early_offered.q.val());
            self.completion_due.d.next = self.completion_due.q.val() & !self.completion_ready.val();
            self.event_due.d.next = self.event_due.q.val() & !self.event_ready.val();
            self.serve_due.d.next = self.serve_due.q.val() & !self.serve_ready.val();
        }
        // What is on offer stays: the early one comes after it.
        self.early_offered.d.next =
            self.early_waits.q.val() & !self.ends_ahead.q.val().any() & (!self.ack_due.q.val() | self.ack_ready.val());
        if self.early_offered.q.val() {
            self.early_offered.d.next = !self.ack_ready.val();
            self.early_waits.d.next = !self.ack_ready.val();
        }
        if self.pop.val() {
            self.sending.d.next = false;
            self.taken.d.next = 0.into();
            self.failed.d.next = false;
        }

        // The head entry's fields, in the struct's order from bit 0: qp_index 0, jobs 12, respond 14, syndrome 15, psn 23, msn 47,
        // complete 71, cq 72, qpn 84, completion_opcode 108, status 116, with_imm 124, with_invalidate 125, grh 126, solicited 127,
        // wqe_index 128, byte_length 144, immediate 176, source_qpn 208, event 232, event_type 233, requester 241, serve 242, partial 243.
        self.ack.next.notification = false;
        self.ack.next.qp_index = self.index.val();
        self.ack.next.syndrome = self.head.val().get_bits::<8>(15);
        self.ack.next.psn = self.head.val().get_bits::<24>(23);
        self.ack.next.msn = self.head.val().get_bits::<24>(47);
        self.status.next = self.head.val().get_bits::<8>(116);
        self.event_job.next.event_type = self.head.val().get_bits::<8>(233);
        self.event_job.next.number = self.head.val().get_bits::<24>(84) & self.qpn_mask.val();
        self.event_job.next.detail = self.head.val().get_bits::<8>(15);
        if self.failed.q.val() {
            self.ack.next.syndrome = self.nak_operation.val();
            self.status.next = self.operation_error.val();
            self.event_job.next.event_type = self.qp_fatal.val();
            self.event_job.next.detail = self.nak_operation.val();
            if self.head.val().get_bit(241) {
                self.event_job.next.detail = self.operation_error.val();
            }
        }
        if self.missing.val() {
            self.status.next = self.operation_error.val();
        }
        if self.early_offered.q.val() {
            self.ack.next.qp_index = self.early.q.val().get_bits::<12>(0) & self.index_mask.val();
            self.ack.next.syndrome = self.nak_sequence.val();
            self.ack.next.psn = self.early.q.val().get_bits::<24>(12);
            self.ack.next.msn = self.early.q.val().get_bits::<24>(36);
        }
        self.completion.next.cq = self.head.val().get_bits::<12>(72);
        self.completion.next.solicited = self.head.val().get_bit(127) | self.status.val().any();
        self.completion.next.word0 = bit_cast::<32, 24>(self.head.val().get_bits::<24>(84) & self.qpn_mask.val())
            | (bit_cast::<32, 8>(self.head.val().get_bits::<8>(108)) << 24);
        self.completion.next.word1 = bit_cast::<32, 8>(self.status.val())
            | (bit_cast::<32, 4>(self.head.val().get_bits::<4>(124) & self.datagram_flags.val()) << 8)
            | (bit_cast::<32, 16>(self.head.val().get_bits::<16>(128)) << 16);
        self.completion.next.word2 = self.head.val().get_bits::<32>(144);
        self.completion.next.word3 = self.head.val().get_bits::<32>(176);
        self.completion.next.word4 = bit_cast::<32, 24>(self.head.val().get_bits::<24>(208) & self.datagram_mask.val());
        self.qp_error_index.next = self.offered_index.q.val();

        if self.reset.val() {
            self.taken.d.next = 0.into();
            self.failed.d.next = false;
            self.sending.d.next = false;
            self.ack_due.d.next = false;
            self.completion_due.d.next = false;
            self.event_due.d.next = false;
            self.serve_due.d.next = false;
            self.still.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.uncounted.d.next = 0.into();
            self.spoiled.d.next = false;
            self.stored.d.next = 0.into();
            self.whole.d.next = 0.into();
            self.early_waits.d.next = false;
            self.early_offered.d.next = false;
            self.early_stands.d.next = false;
            self.came.d.next = false;
            self.offered.d.next = false;
        }
    }

    crate::block_name!();
}
