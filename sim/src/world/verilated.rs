// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engines as a network.

use super::network::Network;
use crate::hca::Hca;
use crate::pair::{Pair, ENDS};
use anyhow::Result;
use verbena_model::wire::Statistics;
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
}
