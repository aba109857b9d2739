// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock of a testbench: one thread, no channels, so that a run is quick and repeats itself.
//!
//! A cycle is: set inputs, `settle` (clock low), look at outputs, `edge` (clock high). `step` does both.

use rust_hdl::prelude::*;

/// Delta passes after which a circuit that still changes is taken for an oscillator.
const PASSES: usize = 100;

/// A circuit with its clock port, and a cycle count for messages.
pub struct Bench<B: Block> {
    pub uut: Box<B>,
    pub cycle: u64,
    clock: fn(&mut B) -> &mut Signal<In, Clock>,
}

impl<B: Block> Bench<B> {
    /// Connects and checks the circuit.
    pub fn new(mut uut: Box<B>, clock: fn(&mut B) -> &mut Signal<In, Clock>) -> Self {
        uut.connect_all();
        check_all(uut.as_ref()).expect("circuit check");
        Self { uut, cycle: 0, clock }
    }

    /// Clock low; inputs reach outputs.
    pub fn settle(&mut self) {
        (self.clock)(&mut self.uut).next = Clock { clk: false };
        assert!(simulate(self.uut.as_mut(), PASSES), "cycle {}: no convergence", self.cycle);
    }

    /// Clock high.
    pub fn edge(&mut self) {
        (self.clock)(&mut self.uut).next = Clock { clk: true };
        assert!(simulate(self.uut.as_mut(), PASSES), "cycle {}: no convergence", self.cycle);
        self.cycle += 1;
    }

    /// One cycle whose outputs don't matter.
    pub fn step(&mut self) {
        self.settle();
        self.edge();
    }
}
