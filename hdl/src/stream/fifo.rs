// SPDX-License-Identifier: MIT OR Apache-2.0
//! First-word-fall-through FIFO on block RAM.
//!
//! ```text
//! s_data,s_valid ─► RAM 2^A × D ─► output register (the RAM's own) ─► m_data,m_valid
//! ```
//!
//! Holds `2^A` words and one more in the output register. Latency 2 cycles, one word a cycle. `s_ready` and `m_valid` are registered
//! facts: neither depends on the other side's handshake of the same cycle.

use crate::prim::SdpRam;
use rust_hdl::prelude::*;

/// FIFO of `2^A` words of `D` bits; `B` must be `A + 1` (pointers carry a wrap bit).
#[derive(LogicBlock)]
pub struct Fifo<const A: usize, const B: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<D>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<D>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    ram: SdpRam<A, D>,
    write_pointer: DFF<Bits<B>>,
    read_pointer: DFF<Bits<B>>,
    out_valid: DFF<Bit>,
    used: Signal<Local, Bits<B>>,
    full: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    capacity: Constant<Bits<B>>,
}

impl<const A: usize, const B: usize, const D: usize> Default for Fifo<A, B, D> {
    fn default() -> Self {
        assert_eq!(B, A + 1, "Fifo: B must be A + 1");
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
            push: Default::default(),
            fetch: Default::default(),
            capacity: Constant::new((1u64 << A).to_bits()),
        }
    }
}

impl<const A: usize, const B: usize, const D: usize> Logic for Fifo<A, B, D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write_pointer, read_pointer, out_valid);
        clock!(self, clock, ram);

        self.used.next = self.write_pointer.q.val() - self.read_pointer.q.val();
        self.full.next = self.used.val() == self.capacity.val();
        self.s_ready.next = !self.full.val();
        self.push.next = self.s_valid.val() & !self.full.val();
        // The output register is free, or is being emptied, and there is a word for it.
        self.fetch.next = (self.used.val().any()) & (!self.out_valid.q.val() | self.m_ready.val());

        self.ram.write_enable.next = self.push.val();
        self.ram.write_address.next = self.write_pointer.q.val().get_bits::<A>(0);
        self.ram.write_data.next = self.s_data.val();
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.read_pointer.q.val().get_bits::<A>(0);

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
        self.m_data.next = self.ram.read_data.val();
        self.m_valid.next = self.out_valid.q.val();

        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.out_valid.d.next = false;
        }
    }

    crate::block_name!();
}
