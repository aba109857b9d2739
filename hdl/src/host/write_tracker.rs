// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue writes on their way to memory, in order: what is to be done when they land.
//!
//! ```text
//! push ─► DEPTH slots ─► head, once its B has come ─┬─► event landed, or nothing to do: leaves by itself
//! b ─► error bits ──────────────────────────────────┴─► error or notify: attention, until take
//! ```
//!
//! Bs come in order (one ID). `room` keeps one place free, so that whoever serves an attention can push an event before it takes.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// At most `DEPTH` writes: 2, 4 or 8; a B comes 3 cycles or more after its push.
#[derive(LogicBlock)]
pub struct WriteTracker<const DEPTH: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub push_event: Signal<In, Bit>,
    /// An armed CQ: an event follows.
    pub push_notify: Signal<In, Bit>,
    pub push_cq: Signal<In, Bits<12>>,
    pub room: Signal<Out, Bit>,
    pub empty: Signal<Out, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_error: Signal<In, Bit>,
    /// The head has landed and wants something: an error was answered, or a notification is due.
    pub attention: Signal<Out, Bit>,
    pub head_error: Signal<Out, Bit>,
    pub head_event: Signal<Out, Bit>,
    /// From the cycle after `attention`.
    pub head_cq: Signal<Out, Bits<12>>,
    pub take: Signal<In, Bit>,
    /// One cycle: an event has landed.
    pub event_landed: Signal<Out, Bit>,
    pushed: DFF<Bits<4>>,
    landed: DFF<Bits<4>>,
    taken: DFF<Bits<4>>,
    errors: DFF<Bits<8>>,
    events: DFF<Bits<8>>,
    notices: DFF<Bits<8>>,
    cq: [DFF<Bits<12>>; DEPTH],
    cq_register: DFF<Bits<12>>,
    used: Signal<Local, Bits<4>>,
    push_slot: Signal<Local, Bits<3>>,
    landed_slot: Signal<Local, Bits<3>>,
    head_slot: Signal<Local, Bits<3>>,
    there: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    notify: Signal<Local, Bit>,
    almost: Constant<Bits<4>>,
    pointer_mask: Constant<Bits<4>>,
    slot_mask: Constant<Bits<3>>,
    vector_mask: Constant<Bits<8>>,
    cq_mask: Constant<Bits<12>>,
}

impl<const DEPTH: usize> WriteTracker<DEPTH> {
    pub fn new(config: &Config) -> Self {
        assert!(matches!(DEPTH, 2 | 4 | 8), "WriteTracker: DEPTH must be 2, 4 or 8");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            push: Default::default(),
            push_event: Default::default(),
            push_notify: Default::default(),
            push_cq: Default::default(),
            room: Default::default(),
            empty: Default::default(),
            b_valid: Default::default(),
            b_error: Default::default(),
            attention: Default::default(),
            head_error: Default::default(),
            head_event: Default::default(),
            head_cq: Default::default(),
            take: Default::default(),
            event_landed: Default::default(),
            pushed: Default::default(),
            landed: Default::default(),
            taken: Default::default(),
            errors: Default::default(),
            events: Default::default(),
            notices: Default::default(),
            cq: std::array::from_fn(|_| Default::default()),
            cq_register: Default::default(),
            used: Default::default(),
            push_slot: Default::default(),
            landed_slot: Default::default(),
            head_slot: Default::default(),
            there: Default::default(),
            pop: Default::default(),
            notify: Default::default(),
            almost: Constant::new((DEPTH - 1).to_bits()),
            pointer_mask: Constant::new((2 * DEPTH - 1).to_bits()),
            slot_mask: Constant::new((DEPTH - 1).to_bits()),
            vector_mask: Constant::new(((1u64 << DEPTH) - 1).to_bits()),
            cq_mask: Constant::new((config.n_cqs - 1).to_bits()),
        }
    }
}

impl<const DEPTH: usize> Logic for WriteTracker<DEPTH> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pushed, landed, taken, errors, events, notices, cq_register);

        self.push_slot.next = self.pushed.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.landed_slot.next = self.landed.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.head_slot.next = self.taken.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.used.next = (self.pushed.q.val() - self.taken.q.val()) & self.pointer_mask.val();
        self.room.next = self.used.val() < self.almost.val();
        self.empty.next = !self.used.val().any();

        self.there.next = self.landed.q.val() != self.taken.q.val();
        self.notify.next = self.notices.q.val().get_bit(self.head_slot.val().index());
        self.head_event.next = self.events.q.val().get_bit(self.head_slot.val().index());
        self.head_error.next = self.errors.q.val().get_bit(self.head_slot.val().index());
        self.attention.next = self.there.val() & (self.head_error.val() | self.notify.val());
        self.pop.next = self.there.val() & (self.take.val() | (!self.head_error.val() & !self.notify.val()));
        self.event_landed.next = self.pop.val() & self.head_event.val();

        for i in 0..DEPTH {
            self.cq[i].clock.next = self.clock.val();
            self.cq[i].d.next = self.cq[i].q.val();
            if self.push.val() & (self.push_slot.val().index() == i) {
                self.cq[i].d.next = self.push_cq.val() & self.cq_mask.val();
            }
            if self.head_slot.val().index() == i {
                self.cq_register.d.next = self.cq[i].q.val();
            }
        }
        self.head_cq.next = self.cq_register.q.val();

        if self.push.val() {
            self.events.d.next =
                self.events.q.val().replace_bit(self.push_slot.val().index(), self.push_event.val()) & self.vector_mask.val();
            self.notices.d.next = self
                .notices
                .q
                .val()
                .replace_bit(self.push_slot.val().index(), self.push_notify.val())
                & self.vector_mask.val();
            self.pushed.d.next = (self.pushed.q.val() + 1) & self.pointer_mask.val();
        }
        if self.b_valid.val() {
            self.errors.d.next =
                self.errors.q.val().replace_bit(self.landed_slot.val().index(), self.b_error.val()) & self.vector_mask.val();
            self.landed.d.next = (self.landed.q.val() + 1) & self.pointer_mask.val();
        }
        if self.pop.val() {
            self.taken.d.next = (self.taken.q.val() + 1) & self.pointer_mask.val();
        }
        if self.reset.val() {
            self.pushed.d.next = 0.into();
            self.landed.d.next = 0.into();
            self.taken.d.next = 0.into();
        }
    }

    crate::block_name!();
}
