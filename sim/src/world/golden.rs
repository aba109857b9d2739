// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two golden engines behind the host library, on wires of 10 Gb/s.

use super::network::Network;
use crate::pair::ENDS;
use anyhow::{Context, Result};
use verbena_model::fabric::Fabric;
use verbena_model::wire::{Fault, Faults, Statistics, Wire};
use verbena_verbs::golden::GoldenHca;
use verbena_verbs::{Device, Gid, Mac, OpenAttr};

/// Bytes of a frame beside its own on the wire: preamble, FCS, gap.
const OVERHEAD: u64 = 24;
/// Shortest frame without FCS.
const SHORTEST: usize = 60;
/// Time that a byte takes at 10 Gb/s.
const PICOSECONDS_PER_BYTE: u64 = 800;

/// The two; time goes from event to event.
pub struct GoldenPair {
    devices: [Device<GoldenHca>; 2],
    wires: [Wire; 2],
    now: u64,
    /// When each side's transmitter is free again, ns.
    free: [u64; 2],
}

impl GoldenPair {
    /// `latency` is each way, in ns, beside the frame's own time.
    pub fn new(seed: u64, latency: u64, faults: Faults) -> Result<GoldenPair> {
        let device = |n: usize| {
            let mut machine = GoldenHca::new();
            machine.hold_responses(true);
            Device::open(machine, &OpenAttr::new(ENDS[n].mac, Gid::ipv4(ENDS[n].ip))).with_context(|| format!("opening golden engine {n}"))
        };
        Ok(GoldenPair {
            devices: [device(0)?, device(1)?],
            wires: [1, 2].map(|salt| Wire::new(seed << 2 | salt, latency, faults)),
            now: 0,
            free: [0; 2],
        })
    }

    /// What lies on both ways, from now on.
    pub fn set_fabric(&mut self, fabric: &Fabric) {
        self.wires.iter_mut().for_each(|w| w.set_fabric(fabric.clone()));
    }

    /// Sends and delivers what can be at this time; when something happens next.
    fn step(&mut self) -> Option<u64> {
        let now = self.now;
        let mut next: Vec<Option<u64>> = vec![];
        for n in 0..2 {
            let machine = self.devices[n].platform();
            machine.advance(now);
            while let Some(frame) = self.wires[1 - n].receive(now) {
                machine.receive(&frame);
            }
            while self.free[n] <= now {
                let Some(frame) = machine.transmit() else { break };
                let bytes = frame.len().max(SHORTEST) as u64 + OVERHEAD;
                self.free[n] = now + (bytes * PICOSECONDS_PER_BYTE).div_ceil(1000);
                self.wires[n].send(self.free[n], frame);
            }
            next.push(machine.next_deadline());
            // A busy transmitter may have more to send once it is free.
            next.push((self.free[n] > now).then_some(self.free[n]));
        }
        next.extend(self.wires.iter().map(Wire::next_arrival));
        next.into_iter().flatten().min()
    }
}

impl Network for GoldenPair {
    type Machine = GoldenHca;

    fn device(&mut self, side: usize) -> &mut Device<GoldenHca> {
        &mut self.devices[side]
    }

    fn address(&self, side: usize) -> (Mac, [u8; 4]) {
        (ENDS[side].mac, ENDS[side].ip)
    }

    fn now(&mut self) -> u64 {
        self.now
    }

    fn run(&mut self, ns: u64) -> Result<()> {
        let end = self.now + ns;
        while let Some(at) = self.step().filter(|at| *at < end) {
            self.now = at.max(self.now);
        }
        self.now = end;
        Ok(())
    }

    fn is_quiet(&mut self) -> bool {
        self.wires.iter().all(Wire::is_empty) && self.free.iter().all(|free| *free <= self.now)
    }

    fn wires(&self) -> [Statistics; 2] {
        [0, 1].map(|n| self.wires[n].statistics())
    }

    fn plan(&mut self, from: usize, number: u64, fault: Fault) {
        self.wires[from].plan(number, fault);
    }

    fn set_faults(&mut self, faults: Faults) {
        self.wires.iter_mut().for_each(|w| w.set_faults(faults));
    }
}
