// SPDX-License-Identifier: MIT OR Apache-2.0
//! RAM whose reads take two steps, so that what uses the word starts from a register.
//!
//! ```text
//! read_address, advance ─► step 1 ─► step 2 ─► word
//! ```
//!
//! A read moves by one step with each cycle of `advance`: a word is there two such cycles after its address, one address a cycle, and stays
//! while `advance` is low. `L` = 1: the register stands behind the RAM (a fast clock); 0: before it (few cells). The steps are the same.
//! A word read within two cycles of its writing is anything.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// `2^A` words of `D` bits.
#[derive(LogicBlock, Default)]
pub struct PacedRam<const A: usize, const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<D>>,
    pub advance: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub word: Signal<Out, Bits<D>>,
    ram: SplitRam<A, D>,
    late_address: DFF<Bits<A>>,
    kept: DFF<Bits<D>>,
}

impl<const A: usize, const D: usize, const L: usize> Logic for PacedRam<A, D, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, late_address, kept);
        clock!(self, clock, ram);
        self.ram.write_enable.next = self.write_enable.val();
        self.ram.write_address.next = self.write_address.val();
        self.ram.write_data.next = self.write_data.val();
        self.ram.read_enable.next = self.advance.val();
        self.ram.read_address.next = self.read_address.val();
        self.word.next = self.kept.q.val();
        for _i in L..1 {
            self.ram.read_address.next = self.late_address.q.val();
            self.word.next = self.ram.read_data.val();
        }
        if self.advance.val() {
            self.late_address.d.next = self.read_address.val();
            self.kept.d.next = self.ram.read_data.val();
        }
    }

    crate::block_name!();
}
