// SPDX-License-Identifier: MIT OR Apache-2.0
//! The clock of a testbench: one thread, no channels, so that a run is quick and repeats itself.
//!
//! A cycle is: set inputs, `settle` (clock low), look at outputs, `edge` (clock high). `step` does both.

use crate::mirror::{Mirror, Ports};
use rust_hdl::prelude::*;

/// Delta passes after which a circuit that still changes is taken for an oscillator.
const PASSES: usize = 100;

/// What moves the circuit.
enum Engine<B: Block> {
    /// The Rust simulation, with the circuit's clock port.
    Simulated(fn(&mut B) -> &mut Signal<In, Clock>),
    /// Its printed text, Verilated; the circuit's signals only carry its values.
    Verilated(Mirror<B>),
}

/// A circuit, what moves it, and a cycle count for messages.
pub struct Bench<B: Block> {
    pub uut: Box<B>,
    pub cycle: u64,
    engine: Engine<B>,
}

impl<B: Block> Bench<B> {
    /// Connects and checks the circuit, for the Rust simulation: for small blocks.
    pub fn new(mut uut: Box<B>, clock: fn(&mut B) -> &mut Signal<In, Clock>) -> Self {
        uut.connect_all();
        check_all(uut.as_ref()).expect("circuit check");
        let engine = Engine::Simulated(clock);
        Self { uut, cycle: 0, engine }
    }

    /// Connects and prints the circuit, and Verilates the text; `ports!` names its ports.
    pub fn verilated(mut uut: Box<B>, name: &str, ports: Ports<B>) -> Self {
        uut.connect_all();
        let engine = Engine::Verilated(Mirror::new(uut.as_ref(), name, ports));
        Self { uut, cycle: 0, engine }
    }

    /// Clock low; inputs reach outputs.
    pub fn settle(&mut self) {
        match &mut self.engine {
            Engine::Simulated(clock) => {
                clock(&mut self.uut).next = Clock { clk: false };
                assert!(simulate(self.uut.as_mut(), PASSES), "cycle {}: no convergence", self.cycle);
            }
            Engine::Verilated(mirror) => mirror.settle(&mut self.uut),
        }
    }

    /// Clock high.
    pub fn edge(&mut self) {
        match &mut self.engine {
            Engine::Simulated(clock) => {
                clock(&mut self.uut).next = Clock { clk: true };
                assert!(simulate(self.uut.as_mut(), PASSES), "cycle {}: no convergence", self.cycle);
            }
            Engine::Verilated(mirror) => mirror.edge(&mut self.uut),
        }
        self.cycle += 1;
    }

    /// One cycle whose outputs don't matter.
    pub fn step(&mut self) {
        self.settle();
        self.edge();
    }
}
