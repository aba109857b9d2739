// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue writes on their way to memory, in order: what is to be done when they land.
//!
//! ```text
//! push ─► FIFO of 8 ─► head, once its B has come ─┬─► event landed, or nothing to do: leaves by itself
//! b ─► count, error bits ──────────────────────────┴─► error or notify: attention, until take
//! ```
//!
//! Bs come in order (one ID). `room` keeps one place free, so that whoever serves an attention can push an event before it takes.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

/// At most 8 writes; a B comes 3 cycles or more after its push.
#[derive(LogicBlock)]
pub struct WriteTracker {
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
    pub head_cq: Signal<Out, Bits<12>>,
    pub take: Signal<In, Bit>,
    /// One cycle: an event has landed.
    pub event_landed: Signal<Out, Bit>,
    fifo: Fifo<3, 4, 14>,
    pushed: DFF<Bits<4>>,
    landed: DFF<Bits<4>>,
    taken: DFF<Bits<4>>,
    errors: DFF<Bits<8>>,
    used: Signal<Local, Bits<4>>,
    there: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    notify: Signal<Local, Bit>,
    almost: Constant<Bits<4>>,
}

impl Default for WriteTracker {
    fn default() -> Self {
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
            fifo: Default::default(),
            pushed: Default::default(),
            landed: Default::default(),
            taken: Default::default(),
            errors: Default::default(),
            used: Default::default(),
            there: Default::default(),
            pop: Default::default(),
            notify: Default::default(),
            almost: Constant::new(7.into()),
        }
    }
}

impl Logic for WriteTracker {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, pushed, landed, taken, errors);
        clock!(self, clock, fifo);

        self.fifo.reset.next = self.reset.val();
        self.fifo.s_valid.next = self.push.val();
        self.fifo.s_data.next = bit_cast::<14, 12>(self.push_cq.val())
            | (bit_cast::<14, 1>(self.push_notify.val().into()) << 12)
            | (bit_cast::<14, 1>(self.push_event.val().into()) << 13);

        self.used.next = self.pushed.q.val() - self.taken.q.val();
        self.room.next = self.used.val() < self.almost.val();
        self.empty.next = !self.used.val().any();

        self.there.next = self.fifo.m_valid.val() & (self.landed.q.val() != self.taken.q.val());
        self.head_cq.next = self.fifo.m_data.val().get_bits::<12>(0);
        self.notify.next = self.fifo.m_data.val().get_bit(12);
        self.head_event.next = self.fifo.m_data.val().get_bit(13);
        self.head_error.next = self.errors.q.val().get_bit(self.taken.q.val().get_bits::<3>(0).index());
        self.attention.next = self.there.val() & (self.head_error.val() | self.notify.val());
        self.pop.next = self.there.val() & (self.take.val() | (!self.head_error.val() & !self.notify.val()));
        self.fifo.m_ready.next = self.pop.val();
        self.event_landed.next = self.pop.val() & self.head_event.val();

        if self.push.val() {
            self.pushed.d.next = self.pushed.q.val() + 1;
        }
        if self.b_valid.val() {
            self.errors.d.next = self
                .errors
                .q
                .val()
                .replace_bit(self.landed.q.val().get_bits::<3>(0).index(), self.b_error.val());
            self.landed.d.next = self.landed.q.val() + 1;
        }
        if self.pop.val() {
            self.taken.d.next = self.taken.q.val() + 1;
        }
        if self.reset.val() {
            self.pushed.d.next = 0.into();
            self.landed.d.next = 0.into();
            self.taken.d.next = 0.into();
        }
    }

    crate::block_name!();
}
