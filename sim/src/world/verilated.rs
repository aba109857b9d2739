// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engines as a network.

use super::network::Network;
use crate::hca::Hca;
use crate::pair::{Pair, WireOptions, ENDS};
use anyhow::Result;
use verbena_model::wire::{Fault, Faults, Statistics};
use verbena_verbs::{Device, Mac};

impl Network for Pair {
    type Machine = Hca;

    fn device(&mut self, side: usize) -> &mut Device<Hca> {
        &mut self.sides[side].device
    }

    fn address(&self, side: usize) -> (Mac, [u8; 4]) {
        (ENDS[side].mac, ENDS[side].ip)
    }

    fn now(&mut self) -> u64 {
        self.cycle() * 1_000_000 / self.clock_khz()
    }

    /// Protocol violations at any port end it.
    fn run(&mut self, ns: u64) -> Result<()> {
        let cycles = (ns * self.clock_khz()).div_ceil(1_000_000);
        Pair::run(self, cycles);
        self.check()
    }

    fn is_quiet(&mut self) -> bool {
        Pair::is_quiet(self)
    }

    fn wires(&self) -> [Statistics; 2] {
        [0, 1].map(|n| self.wires[n].statistics())
    }

    fn plan(&mut self, from: usize, number: u64, fault: Fault) {
        let fault = match fault {
            Fault::Delay(ns) => Fault::Delay(ns * self.clock_khz() / 1_000_000),
            other => other,
        };
        self.wires[from].plan(number, fault);
    }

    fn set_faults(&mut self, faults: Faults) {
        let cycles = WireOptions::from_ns(0, faults, self.clock_khz() as u32).faults;
        self.wires.iter_mut().for_each(|w| w.set_faults(cycles));
    }
}
