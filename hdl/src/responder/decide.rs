// SPDX-License-Identifier: MIT OR Apache-2.0
//! The responder's judgement of a packet of its QP, before memory or the receive queue are asked.
//!
//! ```text
//! head, opcode kinds ─┐
//! psn window ─────────┼─► sequence (R57), length (R49, R50), permission (R53, R59) ─► execute, hand over, or verdict (registered)
//! row word 0 ─────────┘
//! ```
//!
//! Latency 2 cycles after its last input, then held as long as the inputs are.

use super::verdict::Verdict;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Decide {
    pub clock: Signal<In, Clock>,
    pub rc: Signal<In, Bit>,
    pub datagram: Signal<In, Bit>,
    pub send: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub finish: Signal<In, Bit>,
    pub response: Signal<In, Bit>,
    /// A READ or ATOMIC request; which.
    pub answered: Signal<In, Bit>,
    pub atomic: Signal<In, Bit>,
    pub payload_length: Signal<In, Bits<14>>,
    pub pad_count: Signal<In, Bits<2>>,
    /// DMALen, where there is a RETH.
    pub dma_length: Signal<In, Bits<32>>,
    pub pmtu: Signal<In, Bits<3>>,
    pub remote_write: Signal<In, Bit>,
    pub remote_read: Signal<In, Bit>,
    pub remote_atomic: Signal<In, Bit>,
    pub equal: Signal<In, Bit>,
    pub earlier: Signal<In, Bit>,
    pub nak: Signal<In, Bit>,
    pub message: Signal<In, Bits<2>>,
    pub execute: Signal<Out, Bit>,
    /// It is for the READ responder.
    pub hands: Signal<Out, Bit>,
    pub verdict: Signal<Out, Verdict>,
    full: DFF<Bit>,
    over: DFF<Bit>,
    empty: DFF<Bit>,
    refused: DFF<Bit>,
    order_bad: DFF<Bit>,
    forbidden: DFF<Bit>,
    execute_kept: DFF<Bit>,
    hands_kept: DFF<Bit>,
    verdict_kept: DFF<Verdict>,
    mtu: Signal<Local, Bits<14>>,
    above: Signal<Local, Bits<14>>,
    exact: Signal<Local, Bit>,
    length_bad: Signal<Local, Bit>,
    request: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    kind: Signal<Local, Bits<2>>,
    served: Signal<Local, Bit>,
    has_reads: Constant<Bit>,
    /// Ones from half the smallest PMTU's bit up.
    half_smallest: Constant<Bits<14>>,
    idle: Constant<Bits<2>>,
    sending: Constant<Bits<2>>,
    writing: Constant<Bits<2>>,
}

impl Decide {
    /// `reads`: there is a READ responder.
    pub fn new(reads: bool) -> Self {
        Self {
            clock: Default::default(),
            rc: Default::default(),
            datagram: Default::default(),
            send: Default::default(),
            write: Default::default(),
            start: Default::default(),
            finish: Default::default(),
            response: Default::default(),
            answered: Default::default(),
            atomic: Default::default(),
            payload_length: Default::default(),
            pad_count: Default::default(),
            dma_length: Default::default(),
            pmtu: Default::default(),
            remote_write: Default::default(),
            remote_read: Default::default(),
            remote_atomic: Default::default(),
            equal: Default::default(),
            earlier: Default::default(),
            nak: Default::default(),
            message: Default::default(),
            execute: Default::default(),
            hands: Default::default(),
            verdict: Default::default(),
            full: Default::default(),
            over: Default::default(),
            empty: Default::default(),
            refused: Default::default(),
            order_bad: Default::default(),
            forbidden: Default::default(),
            execute_kept: Default::default(),
            hands_kept: Default::default(),
            verdict_kept: Default::default(),
            mtu: Default::default(),
            above: Default::default(),
            exact: Default::default(),
            length_bad: Default::default(),
            request: Default::default(),
            bad: Default::default(),
            kind: Default::default(),
            served: Default::default(),
            has_reads: Constant::new(reads),
            half_smallest: Constant::new((0x3fffu64 & !127).to_bits()),
            idle: Constant::new(0u64.to_bits()),
            sending: Constant::new(1u64.to_bits()),
            writing: Constant::new(2u64.to_bits()),
        }
    }
}

impl Logic for Decide {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            full,
            over,
            empty,
            refused,
            order_bad,
            forbidden,
            execute_kept,
            hands_kept,
            verdict_kept
        );

        // R49. PadCnt is 0 where the payload is a whole PMTU; elsewhere `rx` has made the length from it (R50).
        self.above.next = self.half_smallest.val() << self.pmtu.val();
        self.mtu.next = self.above.val() & !(self.above.val() << 1);
        self.exact.next = self.payload_length.val() == self.mtu.val();
        self.full.d.next = self.exact.val() & !self.pad_count.val().any();
        self.over.d.next = (self.payload_length.val() & self.above.val()).any() & !self.exact.val();
        self.empty.d.next = !self.payload_length.val().any();
        // R53: WRITE not permitted; R50: DMALen above 2^31.
        self.refused.d.next =
            !self.remote_write.val() | (self.dma_length.val().get_bit(31) & self.dma_length.val().get_bits::<31>(0).any());
        self.length_bad.next = !self.full.q.val();
        if self.finish.val() {
            self.length_bad.next = self.over.q.val() | (!self.start.val() & self.empty.q.val());
        }
        if self.write.val() & self.start.val() & self.refused.q.val() {
            self.length_bad.next = true;
        }
        // A READ or ATOMIC carries nothing (R49), and must be permitted (R53).
        self.served.next = self.answered.val() & self.has_reads.val();
        self.forbidden.d.next = !self.remote_read.val();
        if self.atomic.val() {
            self.forbidden.d.next = !self.remote_atomic.val();
        }
        if self.served.val() {
            self.length_bad.next = !self.empty.q.val() | self.forbidden.q.val();
        }

        // R57. On UC a message begins anywhere, and a gap ends the one before (R73).
        self.kind.next = self.sending.val();
        if self.write.val() {
            self.kind.next = self.writing.val();
        }
        if self.start.val() | self.served.val() {
            self.order_bad.d.next = self.rc.val() & (self.message.val() != self.idle.val());
        } else {
            self.order_bad.d.next = (self.message.val() != self.kind.val()) | (!self.rc.val() & !self.equal.val());
        }

        // Without a READ responder there are no resources for READ and ATOMIC (R59).
        self.request.next = self.send.val() | self.write.val();
        self.bad.next = (!self.request.val() & !self.served.val()) | self.length_bad.val() | self.order_bad.q.val();

        self.execute_kept.d.next = !self.bad.val() & !self.served.val() & (self.equal.val() | !self.rc.val());
        // A duplicate is judged by what it repeats (R28, R29).
        self.hands_kept.d.next =
            self.served.val() & self.rc.val() & ((self.equal.val() & !self.bad.val()) | (!self.equal.val() & self.earlier.val()));
        self.verdict_kept.d.next = Verdict::Invalid;
        if self.rc.val() {
            if !self.equal.val() {
                if self.earlier.val() {
                    self.verdict_kept.d.next = Verdict::DuplicateDropped;
                    if self.request.val() {
                        self.verdict_kept.d.next = Verdict::Duplicate;
                    }
                } else {
                    self.verdict_kept.d.next = Verdict::SequenceNak;
                    if self.nak.val() {
                        self.verdict_kept.d.next = Verdict::Silent;
                    }
                }
            }
            if self.response.val() {
                self.verdict_kept.d.next = Verdict::Ghost;
                self.execute_kept.d.next = false;
            }
        } else {
            self.verdict_kept.d.next = Verdict::Broken;
            if self.datagram.val() {
                self.verdict_kept.d.next = Verdict::NoReceive;
            }
        }
        self.execute.next = self.execute_kept.q.val();
        self.hands.next = self.hands_kept.q.val();
        self.verdict.next = self.verdict_kept.q.val();
    }

    crate::block_name!();
}
