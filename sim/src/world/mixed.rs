// SPDX-License-Identifier: MIT OR Apache-2.0
//! A golden engine at side 0 and a Verilated one at side 1: tells which half is wrong where two Verilated ones disagree, and holds an
//! engine without requester to the golden requester's work.

use super::network::Network;
use crate::hca::{Hca, HcaOptions};
use crate::pair::ENDS;
use anyhow::{Context, Result};
use verbena_model::fabric::Fabric;
use verbena_model::wire::{Fault, Faults, Statistics, Wire};
use verbena_verbs::golden::GoldenHca;
use verbena_verbs::{Bus, BusError, Device, DmaError, DmaMemory, Gid, Mac, OpenAttr};

/// Bytes of a frame beside its own on the wire: preamble, FCS, gap.
const OVERHEAD: u64 = 24;
/// Shortest frame without FCS.
const SHORTEST: usize = 60;

/// Either machine.
pub enum Machine {
    Golden(Box<GoldenHca>),
    Verilated(Box<Hca>),
}

macro_rules! each {
    ($self:ident, $machine:ident => $call:expr) => {
        match $self {
            Machine::Golden($machine) => $call,
            Machine::Verilated($machine) => $call,
        }
    };
}

impl Bus for Machine {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        each!(self, machine => machine.read(address))
    }
    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        each!(self, machine => machine.write(address, value))
    }
}

impl DmaMemory for Machine {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        each!(self, machine => machine.allocate(bytes, align))
    }
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        each!(self, machine => machine.free(address, bytes))
    }
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        each!(self, machine => machine.load(address, data))
    }
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        each!(self, machine => machine.store(address, data))
    }
    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        each!(self, machine => machine.allocate_page())
    }
}

/// The two. The Verilated engine's cycles are the clock; the golden one looks when something is there for it.
pub struct Mixed {
    devices: [Device<Machine>; 2],
    /// Times in ns.
    wires: [Wire; 2],
    clock_khz: u64,
    picoseconds_per_byte: u64,
    /// When the golden engine's transmitter is free again, ns, and how soon at the earliest after a frame began.
    free: u64,
    least: u64,
    /// It may have something to send.
    eager: bool,
}

impl Mixed {
    /// `latency` is each way, in ns, beside the frame's own time.
    pub fn new(options: &HcaOptions, latency: u64, faults: Faults) -> Result<Mixed> {
        let hca = Hca::new(options)?;
        let clock_khz = u64::from(hca.config.clock_khz);
        let line = hca.config.data_bits as u64 / 8 * clock_khz;
        let mut golden = GoldenHca::new();
        golden.hold_responses(true);
        let open = |n: usize, machine: Machine| {
            Device::open(machine, &OpenAttr::new(ENDS[n].mac, Gid::ipv4(ENDS[n].ip))).with_context(|| format!("opening engine {n}"))
        };
        Ok(Mixed {
            devices: [
                open(0, Machine::Golden(Box::new(golden)))?,
                open(1, Machine::Verilated(Box::new(hca)))?,
            ],
            wires: [1, 2].map(|salt| Wire::new(options.seed << 2 | salt, latency, faults)),
            clock_khz,
            picoseconds_per_byte: 1_000_000_000 / line,
            free: 0,
            least: 0,
            eager: true,
        })
    }

    /// The golden engine begins frames no faster than one in so many cycles. Without this it sends its smallest ones as fast as the wire
    /// goes, faster than the other engine takes them: UC and UD lose those that find no room, RC sends them again.
    pub fn pace(&mut self, cycles: u64) {
        self.least = (cycles * 1_000_000).div_ceil(self.clock_khz);
    }

    /// What lies on both ways, from now on.
    pub fn set_fabric(&mut self, fabric: &Fabric) {
        self.wires.iter_mut().for_each(|w| w.set_fabric(fabric.clone()));
    }

    fn machines(&mut self) -> Result<(&mut GoldenHca, &mut Hca)> {
        let [a, b] = &mut self.devices;
        match (a.platform(), b.platform()) {
            (Machine::Golden(golden), Machine::Verilated(hca)) => Ok((golden, hca)),
            _ => anyhow::bail!("side 0 is golden, side 1 Verilated"),
        }
    }

    /// One cycle.
    fn tick(&mut self) -> Result<()> {
        let Mixed {
            devices: [a, b],
            wires: [there, back],
            clock_khz,
            ..
        } = self;
        let (Machine::Golden(golden), Machine::Verilated(hca)) = (a.platform(), b.platform()) else {
            anyhow::bail!("side 0 is golden, side 1 Verilated");
        };
        let now = hca.cycle * 1_000_000 / *clock_khz;
        if golden.next_deadline().is_some_and(|at| at <= now) {
            golden.advance(now);
            self.eager = true;
        }
        while let Some(frame) = back.receive(now) {
            golden.advance(now);
            golden.receive(&frame);
            self.eager = true;
        }
        while self.eager && self.free <= now {
            golden.advance(now);
            let Some(frame) = golden.transmit() else {
                self.eager = false;
                break;
            };
            let bytes = frame.len().max(SHORTEST) as u64 + OVERHEAD;
            let end = now + (bytes * self.picoseconds_per_byte).div_ceil(1000);
            self.free = end.max(now + self.least);
            there.send(end, frame);
        }
        while let Some(frame) = there.receive(now) {
            hca.rx.send_raw(frame, false);
        }
        hca.tick();
        while let Some(frame) = hca.tx.frames.pop_front() {
            back.send((frame.last + 1) * 1_000_000 / *clock_khz, frame.bytes);
        }
        Ok(())
    }
}

impl Network for Mixed {
    type Machine = Machine;

    fn device(&mut self, side: usize) -> &mut Device<Machine> {
        &mut self.devices[side]
    }

    fn address(&self, side: usize) -> (Mac, [u8; 4]) {
        (ENDS[side].mac, ENDS[side].ip)
    }

    fn now(&mut self) -> u64 {
        let clock_khz = self.clock_khz;
        self.machines().map_or(0, |(_, hca)| hca.cycle * 1_000_000 / clock_khz)
    }

    fn run(&mut self, ns: u64) -> Result<()> {
        // The host may have posted.
        self.eager = true;
        for _ in 0..(ns * self.clock_khz).div_ceil(1_000_000) {
            self.tick()?;
        }
        let (_, hca) = self.machines()?;
        hca.violations.check()
    }

    fn is_quiet(&mut self) -> bool {
        let still = self.wires.iter().all(Wire::is_empty) && !self.eager;
        still
            && self
                .machines()
                .is_ok_and(|(_, hca)| hca.rx.pending() == 0 && !hca.axi.busy() && !hca.pins.mac_tx.valid)
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
