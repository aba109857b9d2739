// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine with everything around it, cycle by cycle.
//!
//! ```text
//!  MacRx ─► s_axis_mac_rx ┐                 ┌ m_axi ◄─► AxiMemory (latency, faults)
//!  Sink  ◄─ m_axis_mac_tx ┤  Verilated HCA  ┤ s_axil ◄─ LiteMaster ◄─ Bus (host library)
//!  Sink  ◄─ m_axis_host_rx┤                 └ irq
//!  Source ─► s_axis_host_tx
//! ```
//! It is a platform of the host library: a register access runs as many cycles as it takes, and everything else goes on meanwhile.

use super::axi::{AxiMemory, AxiTiming, DECERR};
use super::bridge::Bridge;
use super::lite::{LiteDone, LiteMaster};
use super::mac::{MacRx, Pace, Sink, Source};
use super::memory::HostMemory;
use super::pins::{Pins, Violations};
use anyhow::{Context, Result};
use std::path::PathBuf;
use verbena_spec::config::Config;
use verbena_verbs::{Bus, BusError, DmaError, DmaMemory};
use verbena_verilated::{Engine, Model};

/// How the machine around the engine behaves.
#[derive(Debug, Clone)]
pub struct HcaOptions {
    pub preset: String,
    pub seed: u64,
    pub memory: AxiTiming,
    pub pace: Pace,
    /// Chance of a low ready in a cycle at the MAC's transmit port and the host's receive port.
    pub stall: f64,
    /// The MAC takes frames no faster than the wire.
    pub transmit_at_wire_pace: bool,
    /// Waveform; needs the traced model.
    pub fst: Option<PathBuf>,
    /// Another model than the preset's own: one with a MAC, say. Its wire is XGMII, so `pace` must be the wire's.
    pub model: Option<Model>,
    /// Queue pairs of `model`, where it hasn't the preset's own number.
    pub n_qps: Option<usize>,
}

impl HcaOptions {
    /// A 100-cycle memory, wire pace, nothing random.
    pub fn new(preset: &str) -> HcaOptions {
        HcaOptions {
            preset: preset.into(),
            seed: 1,
            memory: AxiTiming::default(),
            pace: Pace::Wire,
            stall: 0.0,
            transmit_at_wire_pace: true,
            fst: None,
            model: None,
            n_qps: None,
        }
    }
}

/// Cycles that a register access may take.
const LITE_CYCLES: u64 = 20_000;

/// Cycles for which nothing moves while a small engine works.
const SMALL_QUIET: u64 = 6_000;
/// Cycles in reset.
const RESET_CYCLES: u64 = 16;

/// The machine.
pub struct Hca {
    pub config: Config,
    pub cycle: u64,
    pub axi: AxiMemory,
    pub rx: MacRx,
    pub tx: Sink,
    pub host_rx: Sink,
    pub host_tx: Source,
    pub lite: LiteMaster,
    pub violations: Violations,
    pub pins: Pins,
    engine: Engine,
    bridge: Bridge,
}

impl Hca {
    /// Loads the engine and takes it through reset.
    pub fn new(options: &HcaOptions) -> Result<Hca> {
        let engine = match &options.model {
            Some(model) => Engine::load(model.library, model.top, model.ports)?,
            None => Engine::new(&options.preset, options.fst.is_some())?,
        };
        Hca::with_engine(engine, options)
    }

    /// The same around an engine that is loaded already.
    pub fn with_engine(mut engine: Engine, options: &HcaOptions) -> Result<Hca> {
        let mut config = Config::preset(&options.preset)?;
        if let Some(n_qps) = options.n_qps {
            config.set("n_qps", &n_qps.to_string())?;
            config.check()?;
        }
        if let Some(path) = &options.fst {
            engine.write_fst(path)?;
        }
        let bridge = Bridge::new(&engine).with_context(|| format!("preset {}", options.preset))?;
        let (bits, seed) = (config.data_bits, options.seed);
        // Few address bits mean a small memory; else it is scattered over the whole bus.
        let memory = if config.address_bits < 48 {
            HostMemory::small(seed, config.address_bits)
        } else {
            HostMemory::new(seed)
        };
        let mut hca = Hca {
            axi: AxiMemory::with(memory, bits, options.memory.clone(), seed),
            rx: MacRx::new(bits, options.pace, seed),
            tx: Sink::new("m_axis_mac_tx", bits, true, seed),
            host_rx: Sink::new("m_axis_host_rx", bits, false, seed ^ 1),
            host_tx: Source::new(bits, seed),
            lite: LiteMaster::new(seed),
            violations: Violations::default(),
            pins: Pins::default(),
            cycle: 0,
            config,
            engine,
            bridge,
        };
        hca.tx.stall = options.stall;
        hca.host_rx.stall = options.stall;
        hca.tx.wire_pace = options.transmit_at_wire_pace;
        hca.reset();
        Ok(hca)
    }

    /// Holds `rst` high for a while. Memory keeps its contents.
    pub fn reset(&mut self) {
        self.pins = Pins {
            reset: true,
            ..Pins::default()
        };
        for _ in 0..RESET_CYCLES {
            self.bridge.drive(&mut self.engine, &self.pins);
            self.engine.tick();
            self.bridge.sample(&self.engine, &mut self.pins);
            self.cycle += 1;
        }
        let pins = &self.pins;
        let valid = [
            pins.mac_tx.valid,
            pins.host_rx.valid,
            pins.axi.aw.valid,
            pins.axi.w.valid,
            pins.axi.ar.valid,
        ];
        if valid.contains(&true) || pins.lite.b_valid || pins.lite.r_valid {
            self.violations.add(self.cycle, "rst", "a valid is high in reset");
        }
        self.rx.reset();
        self.pins.reset = false;
    }

    /// One cycle.
    pub fn tick(&mut self) {
        let (pins, cycle) = (&mut self.pins, self.cycle);
        self.axi.drive(&mut pins.axi, cycle);
        self.rx.drive(&mut pins.mac_rx, cycle);
        self.tx.drive(&mut pins.mac_tx, cycle);
        self.host_rx.drive(&mut pins.host_rx, cycle);
        self.host_tx.drive(&mut pins.host_tx);
        self.lite.drive(&mut pins.lite);
        self.bridge.drive(&mut self.engine, pins);
        self.engine.tick();
        self.bridge.sample(&self.engine, pins);
        self.bridge.report(cycle, &mut self.violations);
        self.axi.sample(&mut pins.axi, cycle, &mut self.violations);
        self.rx.sample(&pins.mac_rx, cycle, &mut self.violations);
        self.tx.sample(&pins.mac_tx, cycle, &mut self.violations);
        self.host_rx.sample(&pins.host_rx, cycle, &mut self.violations);
        self.host_tx.sample(&pins.host_tx);
        self.lite.sample(&mut pins.lite, cycle, &mut self.violations);
        self.cycle += 1;
    }

    /// Many cycles.
    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.tick();
        }
    }

    /// Runs until `done`, at most `limit` cycles; false if it never was.
    pub fn run_until(&mut self, limit: u64, mut done: impl FnMut(&mut Hca) -> bool) -> bool {
        for _ in 0..limit {
            if done(self) {
                return true;
            }
            self.tick();
        }
        done(self)
    }

    /// Runs until all frames are in and nothing has moved at the memory and the MAC for `quiet` cycles; false if `limit` came first.
    ///
    /// A small engine looks at a packet for some hundred cycles, and a full ring of packets that go nowhere for some thousand, before anything moves:
    /// there `quiet` is at least `SMALL_QUIET`.
    pub fn settle(&mut self, quiet: u64, limit: u64) -> bool {
        let quiet = if self.config.small() { quiet.max(SMALL_QUIET) } else { quiet };
        let mut still = 0;
        for _ in 0..limit {
            self.tick();
            let host = self.config.host_port && self.host_tx.pending() > 0;
            let moving = self.rx.pending() > 0 || host || self.axi.busy() || self.pins.mac_tx.valid;
            still = if moving || (self.pins.host_rx.valid && !self.host_rx.blocked) {
                0
            } else {
                still + 1
            };
            if still >= quiet {
                return true;
            }
        }
        false
    }

    /// A register access with its response code and strobes; `None` if the engine never answered.
    pub fn lite_access(&mut self, address: u32, write: Option<(u32, u8)>) -> Option<LiteDone> {
        match write {
            Some((data, strobe)) => self.lite.start_write(address, data, strobe),
            None => self.lite.start_read(address),
        }
        for _ in 0..LITE_CYCLES {
            self.tick();
            if let Some(done) = self.lite.take_done() {
                return Some(done);
            }
        }
        None
    }

    fn finished(done: Option<LiteDone>, address: u32) -> Result<u32, BusError> {
        match done {
            Some(LiteDone { data, response: 0 }) => Ok(data),
            Some(LiteDone { response: DECERR, .. }) => Err(BusError::Decode { address }),
            Some(_) => Err(BusError::Refused { address }),
            None => Err(BusError::Timeout {
                address,
                waited: LITE_CYCLES,
                unit: "cycles",
            }),
        }
    }
}

impl Bus for Hca {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        Hca::finished(self.lite_access(address, None), address)
    }
    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        Hca::finished(self.lite_access(address, Some((value, 0xf))), address).map(|_| ())
    }
}

impl DmaMemory for Hca {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        self.axi.memory.allocate(bytes, align)
    }
    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        self.axi.memory.free(address, bytes)
    }
    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        self.axi.memory.load(address, data)
    }
    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        self.axi.memory.store(address, data)
    }
    fn allocate_page(&mut self) -> Result<u64, DmaError> {
        self.axi.memory.allocate_page()
    }
}
