// SPDX-License-Identifier: MIT OR Apache-2.0
//! First-word-fall-through FIFO in the logic's own memory cells: [`super::Fifo`] that takes no block RAM, for wide words on a part that has such cells.
//!
//! ```text
//! s_data,s_valid ─► cells 2^A × D ─► output register (theirs) ─► m_data,m_valid
//! ```
//!
//! Holds `2^A` words and one more in the output register. Latency 2 cycles, one word a cycle. `s_ready` and `m_valid` are
//! registers: neither depends on the other side's handshake of the same cycle.

use crate::prim::LogicRam;
use rust_hdl::prelude::*;

/// FIFO of `2^A` words of `D` bits; `B` must be `A + 1` (it counts words).
#[derive(LogicBlock)]
pub struct LogicFifo<const A: usize, const B: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<D>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<D>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    ram: LogicRam<A, D>,
    write_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    out_valid: DFF<Bit>,
    /// Words in the cells; all of them are taken; some are.
    used: DFF<Bits<B>>,
    full: DFF<Bit>,
    some: DFF<Bit>,
    nearly: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    before_full: Constant<Bits<B>>,
    one: Constant<Bits<B>>,
}

impl<const A: usize, const B: usize, const D: usize> Default for LogicFifo<A, B, D> {
    fn default() -> Self {
        assert_eq!(B, A + 1, "LogicFifo: B must be A + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m_data: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            ram: Default::default(),
            write_pointer: Default::default(),
            read_pointer: Default::default(),
            out_valid: Default::default(),
            used: Default::default(),
            full: Default::default(),
            some: Default::default(),
            nearly: Default::default(),
            last: Default::default(),
            push: Default::default(),
            fetch: Default::default(),
            before_full: Constant::new(((1u64 << A) - 1).to_bits()),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl<const A: usize, const B: usize, const D: usize> Logic for LogicFifo<A, B, D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, out_valid, used, full, some);
        clock!(self, clock, ram);

        self.nearly.next = self.used.q.val() == self.before_full.val();
        self.last.next = self.used.q.val() == self.one.val();
        self.s_ready.next = !self.full.q.val();
        self.push.next = self.s_valid.val() & !self.full.q.val();
        // The output register is free, or is being emptied, and there is a word for it.
        self.fetch.next = self.some.q.val() & (!self.out_valid.q.val() | self.m_ready.val());

        // A free place is written all the time, and its word counts when it is pushed: `s_valid` needn't reach every cell's enable.
        self.ram.write_enable.next = !self.full.q.val();
        self.ram.write_address.next = self.write_pointer.q.val();
        self.ram.write_data.next = self.s_data.val();
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.read_pointer.q.val();

        if self.push.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + 1;
        }
        if self.fetch.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + 1;
            self.out_valid.d.next = true;
        } else {
            if self.m_ready.val() {
                self.out_valid.d.next = false;
            }
        }
        if self.push.val() & !self.fetch.val() {
            self.used.d.next = self.used.q.val() + 1;
            self.some.d.next = true;
            self.full.d.next = self.nearly.val();
        }
        if self.fetch.val() & !self.push.val() {
            self.used.d.next = self.used.q.val() - 1;
            self.some.d.next = !self.last.val();
            self.full.d.next = false;
        }
        self.m_data.next = self.ram.read_data.val();
        self.m_valid.next = self.out_valid.q.val();

        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.out_valid.d.next = false;
            self.used.d.next = 0.into();
            self.full.d.next = false;
            self.some.d.next = false;
        }
    }

    crate::block_name!();
}
