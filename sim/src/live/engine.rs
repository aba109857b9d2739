// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two engines behind one type, moved by frames and time.

use super::options::{EngineKind, LiveOptions};
use crate::hca::{Hca, HcaOptions};
use anyhow::Result;
use std::collections::VecDeque;
use std::time::Duration;
use verbena_model::parse::{verdict, Verdict};
use verbena_spec::registers;
use verbena_verbs::golden::GoldenHca;
use verbena_verbs::{Bus, BusError, DmaError, DmaMemory};

/// TICK of the Verilated engine in a live run: clocks per 4.096 us, the smallest that its timers work with.
pub const LIVE_TICK: u32 = 8;
/// Most time that passes for the golden engine between two polls.
pub const LONGEST_STEP: Duration = Duration::from_millis(5);
/// Cycles that the Verilated engine goes on at once while there is work, and while there is none.
const BUSY_CYCLES: u64 = 256;
const IDLE_CYCLES: u64 = 64;
/// Cycles without movement after which there is no work.
const QUIET_CYCLES: u64 = 1000;
/// Frames that the golden engine sends at once.
const BURST: usize = 32;

/// An engine with its memory; a platform of the host library.
pub struct LiveEngine(Kind);

enum Kind {
    Golden(Box<GoldenSide>),
    Verilated(Box<VerilatedSide>),
}

struct GoldenSide {
    hca: GoldenHca,
    now: u64,
    host: VecDeque<Vec<u8>>,
    out: VecDeque<Vec<u8>>,
}

struct VerilatedSide {
    hca: Hca,
    /// Cycle of the last movement.
    moved: u64,
}

impl LiveEngine {
    pub(super) fn new(options: &LiveOptions) -> Result<LiveEngine> {
        Ok(LiveEngine(match options.engine {
            EngineKind::Golden => {
                let mut hca = GoldenHca::new();
                hca.hold_responses(true);
                Kind::Golden(Box::new(GoldenSide {
                    hca,
                    now: 0,
                    host: VecDeque::new(),
                    out: VecDeque::new(),
                }))
            }
            EngineKind::Verilated => {
                let mut machine = HcaOptions::new(&options.preset);
                machine.seed = options.seed;
                machine.memory.latency = options.latency;
                let hca = Hca::new(&machine)?;
                Kind::Verilated(Box::new(VerilatedSide { hca, moved: 0 }))
            }
        }))
    }

    /// Once the device is open, because its reset sets all registers.
    pub(super) fn set_tick(&mut self) -> Result<()> {
        match &mut self.0 {
            Kind::Golden(_) => Ok(()),
            Kind::Verilated(verilated) => Ok(verilated.hca.write(registers::TICK, LIVE_TICK << 8)?),
        }
    }

    /// A frame from the wire.
    pub(super) fn receive(&mut self, frame: &[u8]) {
        match &mut self.0 {
            Kind::Golden(golden) => {
                if let Verdict::Host(_) = verdict(frame, false, &golden.hca.golden().local) {
                    golden.host.push_back(frame.to_vec());
                }
                golden.hca.receive(frame);
            }
            Kind::Verilated(verilated) => verilated.hca.rx.send(frame),
        }
    }

    /// A frame of the host's.
    pub(super) fn host_send(&mut self, frame: &[u8]) {
        match &mut self.0 {
            Kind::Golden(golden) => golden.out.push_back(frame.to_vec()),
            Kind::Verilated(verilated) => verilated.hca.host_tx.send(frame),
        }
    }

    /// Frames that wait to go in: enough of them, and no more should be read from the wire.
    pub(super) fn backlog(&self) -> usize {
        match &self.0 {
            Kind::Golden(_) => 0,
            Kind::Verilated(verilated) => verilated.hca.rx.pending(),
        }
    }

    /// The golden engine's time goes on by wall time. Before frames are given to it: a wait that one asks for begins when it comes.
    pub(super) fn advance(&mut self, elapsed: Duration) {
        if let Kind::Golden(golden) = &mut self.0 {
            golden.now += elapsed.min(LONGEST_STEP).as_nanos() as u64;
            golden.hca.advance(golden.now);
        }
    }

    /// Works on what there is. `room`: the wire takes frames; `timers`: something is outstanding.
    pub(super) fn run(&mut self, room: bool, timers: bool) -> Result<bool> {
        match &mut self.0 {
            Kind::Golden(golden) => {
                let before = golden.out.len();
                while room && golden.out.len() < before + BURST {
                    let Some(frame) = golden.hca.transmit() else { break };
                    golden.out.push_back(frame);
                }
                Ok(golden.out.len() > before)
            }
            Kind::Verilated(verilated) => verilated.run(room, timers),
        }
    }

    /// The next frame to the wire.
    pub(super) fn transmitted(&mut self) -> Option<Vec<u8>> {
        match &mut self.0 {
            Kind::Golden(golden) => golden.out.pop_front(),
            Kind::Verilated(verilated) => verilated.hca.tx.frames.pop_front().map(|f| f.bytes),
        }
    }

    /// The next frame to the host.
    pub(super) fn host_received(&mut self) -> Option<Vec<u8>> {
        match &mut self.0 {
            Kind::Golden(golden) => golden.host.pop_front(),
            Kind::Verilated(verilated) => verilated.hca.host_rx.frames.pop_front().map(|f| f.bytes),
        }
    }

    /// Wall time until something happens by itself, if that is known.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        match &self.0 {
            Kind::Golden(golden) => golden
                .hca
                .next_deadline()
                .map(|at| Duration::from_nanos(at.saturating_sub(golden.now))),
            Kind::Verilated(_) => None,
        }
    }

    /// The machine around the Verilated engine, if it is that one.
    pub fn hca(&mut self) -> Option<&mut Hca> {
        match &mut self.0 {
            Kind::Golden(_) => None,
            Kind::Verilated(verilated) => Some(&mut verilated.hca),
        }
    }

    /// The golden engine, if it is that one.
    pub fn golden(&mut self) -> Option<&mut GoldenHca> {
        match &mut self.0 {
            Kind::Golden(golden) => Some(&mut golden.hca),
            Kind::Verilated(_) => None,
        }
    }
}

impl VerilatedSide {
    fn is_moving(&self) -> bool {
        let hca = &self.hca;
        hca.rx.pending() > 0 || hca.host_tx.pending() > 0 || hca.axi.busy() || hca.pins.mac_tx.valid || hca.pins.host_rx.valid
    }

    fn run(&mut self, room: bool, timers: bool) -> Result<bool> {
        // A wire that takes nothing stops the transmitter, between frames as a MAC does.
        let mid_frame = self.hca.pins.mac_tx.valid && !self.hca.tx.blocked;
        self.hca.tx.blocked = !room && !mid_frame;
        let busy = self.hca.cycle < self.moved + QUIET_CYCLES;
        for _ in 0..if busy || timers { BUSY_CYCLES } else { IDLE_CYCLES } {
            self.hca.tick();
            if self.is_moving() {
                self.moved = self.hca.cycle;
            }
        }
        self.hca.violations.check()?;
        Ok(busy || timers || self.hca.cycle < self.moved + QUIET_CYCLES)
    }
}

impl Bus for LiveEngine {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        match &mut self.0 {
            Kind::Golden(golden) => golden.hca.read(address),
            Kind::Verilated(verilated) => verilated.hca.read(address),
        }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        match &mut self.0 {
            Kind::Golden(golden) => golden.hca.write(address, value),
            Kind::Verilated(verilated) => {
                verilated.moved = verilated.hca.cycle;
                verilated.hca.write(address, value)
            }
        }
    }
}

impl LiveEngine {
    fn memory(&mut self) -> &mut dyn DmaMemory {
        match &mut self.0 {
            Kind::Golden(golden) => &mut golden.hca,
            Kind::Verilated(verilated) => &mut verilated.hca,
        }
    }
}

impl DmaMemory for LiveEngine {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        self.memory().allocate(bytes, align)
    }
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.memory().free(address, bytes)
    }
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        self.memory().load(address, data)
    }
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        self.memory().store(address, data)
    }
    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        self.memory().allocate_page()
    }
}
