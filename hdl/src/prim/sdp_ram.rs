// SPDX-License-Identifier: MIT OR Apache-2.0
//! Simple dual-port RAM: one clock, one write port, one read port with enable.
//!
//! ```text
//! write_enable, write_address, write_data ──► mem[2^A] of D bits
//! read_enable, read_address ──► read_data, one cycle later, held while read_enable is low
//! ```
//!
//! Read-first: a read of the address being written in the same cycle returns the old word. Contents start as zero in
//! simulation; hardware that depends on contents clears them by a walk after reset. Maps to block RAM on iCE40 and ECP5.

use super::memory;
use rust_hdl::prelude::*;

/// `2^A` words of `D` bits, or fewer. Latency of a read: 1 cycle.
#[derive(LogicBlock)]
pub struct SdpRam<const A: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<A>>,
    pub write_data: Signal<In, Bits<D>>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<A>>,
    pub read_data: Signal<Out, Bits<D>>,
    _mem: Vec<Bits<D>>,
}

impl<const A: usize, const D: usize> Default for SdpRam<A, D> {
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

impl<const A: usize, const D: usize> SdpRam<A, D> {
    /// Only so many words, a power of two: the address's upper bits aren't looked at.
    pub fn of_words(words: usize) -> Self {
        Self {
            _mem: memory::words(A, words),
            ..Default::default()
        }
    }
}

impl<const A: usize, const D: usize> Logic for SdpRam<A, D> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            if self.read_enable.val() {
                self.read_data.next = self._mem[self.read_address.val().index() % self._mem.len()];
            }
            if self.write_enable.val() {
                let address = self.write_address.val().index() % self._mem.len();
                self._mem[address] = self.write_data.val();
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        memory::text("", A, &self._mem)
    }

    crate::block_name!();
}
