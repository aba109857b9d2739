// SPDX-License-Identifier: MIT OR Apache-2.0
//! Write jobs that wait for the DMA writer, so that whoever makes them goes on while a long one is written.
//!
//! ```text
//! s ─┬──────────────────┬─► front ─► m
//!    └─► FIFO 2^4 jobs ─┘
//! ```
//!
//! A job passes in a cycle when nothing waits; in order; 18 jobs at most. `m` stays put until `m_ready`. `direct`: no queue, for few cells.

use super::WriteJob;
use crate::stream::Fifo;
use rust_hdl::prelude::*;

/// The queue.
#[derive(LogicBlock)]
pub struct JobQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s: Signal<In, WriteJob>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m: Signal<Out, WriteJob>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    fifo: Fifo<4, 5, 113>,
    front: DFF<Bits<113>>,
    front_valid: DFF<Bit>,
    /// Jobs in the FIFO, and whether there are any.
    stored: DFF<Bits<5>>,
    waits: DFF<Bit>,
    word: Signal<Local, Bits<113>>,
    open: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    one: Constant<Bits<5>>,
    direct: Constant<Bit>,
}

impl JobQueue {
    pub fn new(direct: bool) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            fifo: Default::default(),
            front: Default::default(),
            front_valid: Default::default(),
            stored: Default::default(),
            waits: Default::default(),
            word: Default::default(),
            open: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            one: Constant::new(1u64.to_bits()),
            direct: Constant::new(direct),
        }
    }
}

impl Logic for JobQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, front, front_valid, stored, waits);
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        self.word.next = bit_cast::<113, 1>(self.s.val().write.into())
            | (bit_cast::<113, 1>(self.s.val().paged.into()) << 1)
            | (bit_cast::<113, 64>(self.s.val().address) << 2)
            | (bit_cast::<113, 14>(self.s.val().length) << 66)
            | (bit_cast::<113, 14>(self.s.val().ring_beat) << 80)
            | (bit_cast::<113, 3>(self.s.val().ring_offset) << 94)
            | (bit_cast::<113, 1>(self.s.val().release.into()) << 97)
            | (bit_cast::<113, 14>(self.s.val().end_beat) << 98)
            | (bit_cast::<113, 1>(self.s.val().swap.into()) << 112);

        // The front is free, or becomes so.
        self.open.next = !self.front_valid.q.val() | self.m_ready.val();
        self.push.next = self.s_valid.val() & self.fifo.s_ready.val() & (self.waits.q.val() | !self.open.val()) & !self.direct.val();
        self.pop.next = self.fifo.m_valid.val() & self.open.val();
        self.fifo.s_data.next = self.word.val();
        self.fifo.s_valid.next = self.push.val();
        self.fifo.m_ready.next = self.open.val();
        if self.open.val() {
            self.front.d.next = self.word.val();
            self.front_valid.d.next = self.s_valid.val() & !self.waits.q.val() & !self.direct.val();
            if self.waits.q.val() {
                self.front.d.next = self.fifo.m_data.val();
                self.front_valid.d.next = self.fifo.m_valid.val();
            }
        }
        if self.push.val() & !self.pop.val() {
            self.stored.d.next = self.stored.q.val() + 1;
            self.waits.d.next = true;
        }
        if !self.push.val() & self.pop.val() {
            self.stored.d.next = self.stored.q.val() - 1;
            self.waits.d.next = self.stored.q.val() != self.one.val();
        }

        self.s_ready.next = self.fifo.s_ready.val() & !self.reset.val();
        self.m_valid.next = self.front_valid.q.val();
        self.m.next.write = self.front.q.val().get_bit(0);
        self.m.next.paged = self.front.q.val().get_bit(1);
        self.m.next.address = self.front.q.val().get_bits::<64>(2);
        self.m.next.length = self.front.q.val().get_bits::<14>(66);
        self.m.next.ring_beat = self.front.q.val().get_bits::<14>(80);
        self.m.next.ring_offset = self.front.q.val().get_bits::<3>(94);
        self.m.next.release = self.front.q.val().get_bit(97);
        self.m.next.end_beat = self.front.q.val().get_bits::<14>(98);
        self.m.next.swap = self.front.q.val().get_bit(112);
        if self.direct.val() {
            self.m.next = self.s.val();
            self.m_valid.next = self.s_valid.val();
            self.s_ready.next = self.m_ready.val();
        }

        if self.reset.val() {
            self.front_valid.d.next = false;
            self.stored.d.next = 0.into();
            self.waits.d.next = false;
        }
    }

    crate::block_name!();
}
