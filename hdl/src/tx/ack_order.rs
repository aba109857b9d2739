// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ACK never passes a response of its QP that came before it (R36): responses wait in their slots for payload, ACKs don't.
//!
//! ```text
//! packet stream ─► last response in the slots: its number, its QP ─┐
//! begin_next ───► packets begun so far ────────────────────────────┼─► ACK on offer waits until that response is begun
//! ack ─► QP ───────────────────────────────────────────────────────┘
//! ```
//!
//! What counts is what stands in the slots when the ACK comes. Responses of several QPs at once are taken for the ACK's own. Requests are passed as ever.
//! No latency where no response waits, else a cycle.

use super::AckJob;
use rust_hdl::prelude::*;

/// The order; `QA` bits of a QP index count.
#[derive(LogicBlock)]
pub struct AckOrder<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A word of the packet stream is taken.
    pub word: Signal<In, Bits<32>>,
    pub word_last: Signal<In, Bit>,
    /// With the last word: the packet is taken back; it will never be begun.
    pub word_abandon: Signal<In, Bit>,
    pub word_taken: Signal<In, Bit>,
    /// A packet is begun.
    pub begin_next: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_taken: Signal<In, Bit>,
    /// The ACK on offer may go.
    pub allowed: Signal<Out, Bit>,
    /// Words of the packet that comes in: 0, 1, more.
    position: DFF<Bits<2>>,
    index: DFF<Bits<QA>>,
    response: DFF<Bit>,
    /// Packets taken, and begun, modulo 32: there are 16 slots at most.
    taken: DFF<Bits<5>>,
    begun: DFF<Bits<5>>,
    /// The last response: the count of packets taken with it; it isn't begun; it isn't its QP's alone.
    mark: DFF<Bits<5>>,
    mark_index: DFF<Bits<QA>>,
    pending: DFF<Bit>,
    mixed: DFF<Bit>,
    /// The ACK was here before this cycle; it waits, and for which response.
    seen: DFF<Bit>,
    waits: DFF<Bit>,
    goal: DFF<Bits<5>>,
    ends: Signal<Local, Bit>,
    now: Signal<Local, Bits<5>>,
    own: Signal<Local, Bit>,
    blocked: Signal<Local, Bit>,
    is_response: Signal<Local, Bit>,
    acknowledge: Constant<Bits<8>>,
}

impl<const QA: usize> Default for AckOrder<QA> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            word: Default::default(),
            word_last: Default::default(),
            word_abandon: Default::default(),
            word_taken: Default::default(),
            begin_next: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_taken: Default::default(),
            allowed: Default::default(),
            position: Default::default(),
            index: Default::default(),
            response: Default::default(),
            taken: Default::default(),
            begun: Default::default(),
            mark: Default::default(),
            mark_index: Default::default(),
            pending: Default::default(),
            mixed: Default::default(),
            seen: Default::default(),
            waits: Default::default(),
            goal: Default::default(),
            ends: Default::default(),
            now: Default::default(),
            own: Default::default(),
            blocked: Default::default(),
            is_response: Default::default(),
            acknowledge: Constant::new(0x11u64.to_bits()),
        }
    }
}

impl<const QA: usize> Logic for AckOrder<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, position, index, response, taken, begun, mark, mark_index, pending, mixed, seen, waits, goal);

        self.is_response.next = self.response.q.val();
        if self.position.q.val() == 1 {
            // A READ responder's packet: an ACK that waited there has no such bit.
            self.is_response.next = self.word.val().get_bit(11) | (self.word.val().get_bits::<8>(0) == self.acknowledge.val());
        }
        if self.word_taken.val() {
            if self.position.q.val() == 0 {
                self.index.d.next = self.word.val().get_bits::<QA>(0);
                self.position.d.next = 1.into();
            }
            if self.position.q.val() == 1 {
                self.response.d.next = self.is_response.val();
                self.position.d.next = 2.into();
            }
        }
        self.ends.next = self.word_taken.val() & self.word_last.val() & !self.word_abandon.val();
        self.now.next = self.taken.q.val() + 1;
        if self.begin_next.val() {
            self.begun.d.next = self.begun.q.val() + 1;
        }
        if self.mark.q.val() == self.begun.q.val() {
            self.pending.d.next = false;
            self.mixed.d.next = false;
        }
        if self.word_taken.val() & self.word_last.val() {
            self.position.d.next = 0.into();
        }
        if self.ends.val() {
            self.taken.d.next = self.now.val();
            if self.is_response.val() {
                self.mark.d.next = self.now.val();
                self.mark_index.d.next = self.index.q.val();
                self.pending.d.next = true;
                self.mixed.d.next = self.pending.q.val() & (self.mixed.q.val() | (self.mark_index.q.val() != self.index.q.val()));
            }
        }

        self.own.next = self.mixed.q.val() | (self.mark_index.q.val() == self.ack.val().qp_index.get_bits::<QA>(0));
        self.blocked.next = self.waits.q.val();
        self.waits.d.next = self.waits.q.val() & (self.goal.q.val() != self.begun.q.val());
        if !self.seen.q.val() {
            // No QP is compared on the way to the builder's choice: an ACK that comes while any response waits is looked at first.
            self.blocked.next = self.pending.q.val();
            self.waits.d.next = self.pending.q.val() & self.own.val() & (self.mark.q.val() != self.begun.q.val());
            self.goal.d.next = self.mark.q.val();
        }
        self.allowed.next = self.ack_valid.val() & !self.blocked.val();
        self.seen.d.next = self.ack_valid.val() & !self.ack_taken.val();

        if self.reset.val() {
            self.position.d.next = 0.into();
            self.taken.d.next = 0.into();
            self.begun.d.next = 0.into();
            self.pending.d.next = false;
            self.mixed.d.next = false;
            self.seen.d.next = false;
            self.waits.d.next = false;
        }
    }

    crate::block_name!();
}
