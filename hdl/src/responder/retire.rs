// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retire: lets a packet's effects out once its data are in memory.
//!
//! ```text
//! entry ─► queue (FIFO, register, or none) ─► head entry ──┬─► ack         AckJob          (respond, or a failed write)
//!                                               ▲          ├─► completion  CompletionJob   (complete)
//! done, done_error ─► count up to entry.jobs ───┘          ├─► event_job   EventJob        (event, or a failed write)
//!                                                          └─► qp_error    QP index        (a failed write)
//! ```
//!
//! Contract: write jobs and entries stand in the same order, and every write job belongs to exactly one entry, which names how many (`jobs`).
//! An entry's outputs are offered together, each is taken once, and the next entry begins when all but `qp_error` are taken. A write error (R69, R64) turns
//! the answer into NAK remote operational error with the entry's PSN and MSN, the completion into a local QP operation error, replaces the entry's own event
//! by QP_FATAL, and asks control to put the QP into ERR. That NAK is offered even where the entry has no answer, so `psn` and `msn` must
//! always be set; `tx` drops it for a QP that isn't RC.
//! `qp_error` waits in a register of its own, so a failed entry makes room in the queue before control takes the error: control, which takes it
//! only between packets, always reaches that point. A second failed entry waits until the first one's error is taken.
//!
//! Latency: 2 cycles an entry when nothing waits (3 with the FIFO's fall through). `QUEUE` 1: a FIFO of `2^A` entries (tengig). `HOLD` 1: one register (241
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
pub const ENTRY_BITS: usize = 241;
/// AETH syndrome: NAK, remote operational error.
pub const NAK_OPERATION: u32 = 0x63;

/// The retire station; `B` is `A + 1`.
#[derive(LogicBlock)]
pub struct Retire<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub entry: Signal<In, RetireEntry>,
    pub entry_valid: Signal<In, Bit>,
    pub entry_ready: Signal<Out, Bit>,
    /// One for each write job, in order.
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    pub ack: Signal<Out, AckJob>,
    pub ack_valid: Signal<Out, Bit>,
    pub ack_ready: Signal<In, Bit>,
    pub completion: Signal<Out, CompletionJob>,
    pub completion_valid: Signal<Out, Bit>,
    pub completion_ready: Signal<In, Bit>,
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_ready: Signal<In, Bit>,

    fifo: [Fifo<A, B, 241>; QUEUE],
    hold: [DFF<Bits<241>>; HOLD],
    hold_valid: [DFF<Bit>; HOLD],
    /// Dones taken for the head entry, and whether one of them failed.
    taken: DFF<Bits<2>>,
    failed: DFF<Bit>,
    /// Outputs of the head entry still to be taken.
    sending: DFF<Bit>,
    ack_due: DFF<Bit>,
    completion_due: DFF<Bit>,
    event_due: DFF<Bit>,
    qp_error_due: DFF<Bit>,
    error_index: DFF<Bits<12>>,

    flat: Signal<Local, Bits<241>>,
    head: Signal<Local, Bits<241>>,
    head_valid: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    complete_now: Signal<Local, Bit>,
    status: Signal<Local, Bits<8>>,
    nak_operation: Constant<Bits<8>>,
    operation_error: Constant<Bits<8>>,
    qp_fatal: Constant<Bits<8>>,
    index_mask: Constant<Bits<12>>,
    qpn_mask: Constant<Bits<24>>,
    /// UD's fields.
    datagram_flags: Constant<Bits<4>>,
    datagram_mask: Constant<Bits<24>>,
}

impl<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize> Retire<QUEUE, HOLD, A, B> {
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
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            completion: Default::default(),
            completion_valid: Default::default(),
            completion_ready: Default::default(),
            event_job: Default::default(),
            event_valid: Default::default(),
            event_ready: Default::default(),
            qp_error_index: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_ready: Default::default(),
            fifo: std::array::from_fn(|_| Default::default()),
            hold: std::array::from_fn(|_| Default::default()),
            hold_valid: std::array::from_fn(|_| Default::default()),
            taken: Default::default(),
            failed: Default::default(),
            sending: Default::default(),
            ack_due: Default::default(),
            completion_due: Default::default(),
            event_due: Default::default(),
            qp_error_due: Default::default(),
            error_index: Default::default(),
            flat: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            pop: Default::default(),
            complete_now: Default::default(),
            status: Default::default(),
            nak_operation: Constant::new(NAK_OPERATION.to_bits()),
            operation_error: Constant::new(status::LOCAL_QP_OPERATION_ERROR.to_bits()),
            qp_fatal: Constant::new(event_type::QP_FATAL.to_bits()),
            index_mask: Constant::new((config.n_qps - 1).to_bits()),
            // The tag and the preset's index bits.
            qpn_mask: Constant::new((0xff_f000 | (config.n_qps - 1)).to_bits()),
            datagram_flags: Constant::new(if config.ud { 15u64 } else { 11 }.to_bits()),
            datagram_mask: Constant::new(if config.ud { 0xff_ffffu64 } else { 0 }.to_bits()),
        }
    }
}

impl<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize> Logic for Retire<QUEUE, HOLD, A, B> {
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
            qp_error_due,
            error_index
        );

        // The head entry goes when nothing of it is left to be taken.
        self.pop.next = self.sending.q.val()
            & !(self.ack_due.q.val() & !self.ack_ready.val())
            & !(self.completion_due.q.val() & !self.completion_ready.val())
            & !(self.event_due.q.val() & !self.event_ready.val());

        // The queue, if there is one.
        self.flat.next = self.entry.val().into();
        self.head.next = self.flat.val();
        self.head_valid.next = self.entry_valid.val();
        self.entry_ready.next = self.pop.val();
        for i in 0..QUEUE {
            self.fifo[i].clock.next = self.clock.val();
            self.fifo[i].reset.next = self.reset.val();
            self.fifo[i].s_data.next = self.flat.val();
            self.fifo[i].s_valid.next = self.entry_valid.val();
            self.fifo[i].m_ready.next = self.pop.val();
            self.entry_ready.next = self.fifo[i].s_ready.val();
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

        // Dones of the head entry.
        self.done_ready.next = self.head_valid.val() & !self.sending.q.val() & (self.taken.q.val() != self.head.val().get_bits::<2>(12));
        // A failed entry needs the place for its QP's index.
        self.complete_now.next = self.head_valid.val()
            & !self.sending.q.val()
            & (self.taken.q.val() == self.head.val().get_bits::<2>(12))
            & !(self.failed.q.val() & self.qp_error_due.q.val());
        if self.done_valid.val() & self.done_ready.val() {
            self.taken.d.next = self.taken.q.val() + 1;
            self.failed.d.next = self.failed.q.val() | self.done_error.val();
        }
        if self.complete_now.val() {
            self.sending.d.next = true;
            self.ack_due.d.next = self.head.val().get_bit(14) | self.failed.q.val();
            self.completion_due.d.next = self.head.val().get_bit(71);
            self.event_due.d.next = self.head.val().get_bit(232) | self.failed.q.val();
        }

        if self.qp_error_due.q.val() & self.qp_error_ready.val() {
            self.qp_error_due.d.next = false;
        }
        if self.complete_now.val() & self.failed.q.val() {
            self.qp_error_due.d.next = true;
            self.error_index.d.next = self.head.val().get_bits::<12>(0) & self.index_mask.val();
        }

        // Outputs: each is offered until taken.
        self.ack_valid.next = self.ack_due.q.val();
        self.completion_valid.next = self.completion_due.q.val();
        self.event_valid.next = self.event_due.q.val();
        self.qp_error_valid.next = self.qp_error_due.q.val();
        if self.sending.q.val() {
            self.ack_due.d.next = self.ack_due.q.val() & !self.ack_ready.val();
            self.completion_due.d.next = self.completion_due.q.val() & !self.completion_ready.val();
            self.event_due.d.next = self.event_due.q.val() & !self.event_ready.val();
        }
        if self.pop.val() {
            self.sending.d.next = false;
            self.taken.d.next = 0.into();
            self.failed.d.next = false;
        }

        // The head entry's fields, in the struct's order from bit 0: qp_index 0, jobs 12, respond 14, syndrome 15, psn 23, msn 47,
        // complete 71, cq 72, qpn 84, completion_opcode 108, status 116, with_imm 124, with_invalidate 125, grh 126, solicited 127,
        // wqe_index 128, byte_length 144, immediate 176, source_qpn 208, event 232, event_type 233.
        self.ack.next.qp_index = self.head.val().get_bits::<12>(0) & self.index_mask.val();
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
        self.qp_error_index.next = self.error_index.q.val();

        if self.reset.val() {
            self.taken.d.next = 0.into();
            self.failed.d.next = false;
            self.sending.d.next = false;
            self.ack_due.d.next = false;
            self.completion_due.d.next = false;
            self.event_due.d.next = false;
            self.qp_error_due.d.next = false;
        }
    }

    crate::block_name!();
}
