// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Verilated block by the names of its ports, for benches that say what happens step by step.

use crate::verilated::Model;
use rust_hdl::prelude::*;
use std::collections::HashMap;
use verbena_hdl::verilog::{emit, shim};

/// A model whose ports are set and read by name.
pub struct Pins {
    model: Model,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// Place and words.
    ports: HashMap<String, (usize, usize)>,
}

impl Pins {
    /// Out of reset.
    pub fn new(block: Box<dyn Block>, name: &str) -> Pins {
        Pins::with_clocks(block, name, &[])
    }

    /// Out of reset. Ports in `plain` are clocks that the bench drives itself, as inputs.
    pub fn with_clocks(mut block: Box<dyn Block>, name: &str, plain: &[&str]) -> Pins {
        block.connect_all();
        let mut design = emit(&*block, name, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        for port in &mut design.ports {
            port.clock &= !plain.contains(&port.name.as_str());
        }
        let model = Model::of(&design).unwrap_or_else(|e| panic!("{e:#}"));
        let mut ports = HashMap::new();
        for input in [true, false] {
            let mut at = 0;
            for port in design.ports.iter().filter(|p| p.input == input && !p.clock) {
                ports.insert(port.name.clone(), (at, shim::words(port)));
                at += shim::words(port);
            }
        }
        let (inputs, outputs) = model.sizes();
        let mut pins = Pins {
            model,
            inputs: vec![0; inputs],
            outputs: vec![0; outputs],
            ports,
        };
        pins.set("reset", 1);
        (0..3).for_each(|_| pins.tick());
        pins.set("reset", 0);
        pins.tick();
        pins
    }

    /// Sets an input, from the next `tick` or `settle` on.
    pub fn set(&mut self, name: &str, value: u64) {
        let (at, words) = self.ports[name];
        self.inputs[at] = value as u32;
        if words == 2 {
            self.inputs[at + 1] = (value >> 32) as u32;
        }
    }

    /// An output, as it stood before the last edge, or at the last `settle`.
    pub fn get(&self, name: &str) -> u64 {
        let (at, words) = self.ports[name];
        let high = if words == 2 { u64::from(self.outputs[at + 1]) << 32 } else { 0 };
        u64::from(self.outputs[at]) | high
    }

    /// A cycle.
    pub fn tick(&mut self) {
        self.model.cycle(&self.inputs, &mut self.outputs);
    }

    /// Inputs take effect without an edge of the clock.
    pub fn settle(&mut self) {
        self.model.settle(&self.inputs, &mut self.outputs);
    }

    /// Until that output is high, with the inputs as they are.
    pub fn until(&mut self, name: &str) {
        for _ in 0..1000 {
            self.tick();
            if self.get(name) == 1 {
                return;
            }
        }
        panic!("{name} never came");
    }
}
