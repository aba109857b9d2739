// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simple dual-port RAM of few words, in the logic's own memory cells: [`super::SplitRam`] that takes no block RAM.
//!
//! ```text
//! write_enable, write_address, write_data ──► mem[2^A] of D bits
//! read_enable, read_address ──► read_data, one cycle later, held while read_enable is low
//! ```
//!
//! The two ports never meet: a read of the address being written in the same cycle returns anything (the old word in simulation). For 2^A up to
//! some 256 words. Contents start as zero in simulation; hardware that depends on contents writes them after reset.

use super::memory;
use rust_hdl::prelude::*;

/// Up to so many words, log2, no style is asked for.
const FEW: usize = 3;

/// `2^A` words of `D` bits. Latency of a read: 1 cycle.
#[derive(LogicBlock)]
pub struct LogicRam<const A: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<D>>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<D>>,
    _mem: Vec<Bits<D>>,
}

impl<const A: usize, const D: usize> Default for LogicRam<A, D> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            write_enable: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            read_enable: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            _mem: memory::words(A, 1 << A),
        }
    }
}

impl<const A: usize, const D: usize> Logic for LogicRam<A, D> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            if self.read_enable.val() {
                self.read_data.next = self._mem[self.read_address.val().index()];
            }
            if self.write_enable.val() {
                let address = self.write_address.val().index();
                self._mem[address] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        // Few words are flip-flops anyway, and iCE40 has no memory cells in its logic to insist on.
        let style = if A > FEW { "(* ram_style = \"distributed\" *)\n" } else { "" };
        memory::text(style, A, &self._mem)
    }

    crate::block_name!();
}
