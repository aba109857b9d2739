// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two machines and a wire each way between them, whatever the machines are.

use anyhow::Result;
use verbena_model::wire::{Fault, Faults, Statistics};
use verbena_verbs::{Bus, Device, DmaMemory, Mac};

/// Two opened devices, joined. Time is ns of the simulated world.
pub trait Network {
    type Machine: Bus + DmaMemory;

    /// 0 or 1.
    fn device(&mut self, side: usize) -> &mut Device<Self::Machine>;

    /// MAC and IPv4 address of a side.
    fn address(&self, side: usize) -> (Mac, [u8; 4]);

    /// How far both have come.
    fn now(&mut self) -> u64;

    /// Lets time go on by `ns`, or as much more as the machine's step is.
    fn run(&mut self, ns: u64) -> Result<()>;

    /// No frame is under way: on the wires, in a receive port, in a machine as far as can be seen from outside.
    fn is_quiet(&mut self) -> bool;

    /// What the wires have done, `[n]` leading away from side `n`.
    fn wires(&self) -> [Statistics; 2];

    /// A fault at frame `number` from now on of those that leave side `from`, the next one being 0.
    fn plan(&mut self, from: usize, number: u64, fault: Fault);

    /// Other faults from now on, both ways; times in ns.
    fn set_faults(&mut self, faults: Faults);
}
