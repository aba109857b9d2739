// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated MAC with an XGMII model at one side and streams at the other.

use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use verbena_hdl::mac::Mac;
use verbena_hdl::verilog::{emit, shim, Port};
use verbena_model::xgmii::{Column, Receiver, Sender};
use verbena_tb::diff::{read_outputs, settle};
use verbena_tb::drive;
use verbena_tb::verilated::Model;

/// Longest frame, bytes without FCS.
pub const LONGEST: usize = 4200;

/// A frame for the transmitter.
pub struct Outgoing {
    pub bytes: Vec<u8>,
    /// `tuser` on its last beat.
    pub user: bool,
    /// `tvalid` is low for a cycle before that beat.
    pub pause_at: Option<usize>,
}

/// A frame from the receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    pub bytes: Vec<u8>,
    pub bad: bool,
}

/// Where each port's words stand.
struct Map(HashMap<String, usize>);

impl Map {
    fn new(ports: &[Port], input: bool) -> Map {
        let mut at = 0;
        let mut map = HashMap::new();
        for port in ports.iter().filter(|p| p.input == input && !p.clock) {
            map.insert(port.name.clone(), at);
            at += shim::words(port);
        }
        Map(map)
    }

    fn at(&self, name: &str) -> usize {
        self.0[name]
    }
}

/// The MAC and what is around it.
pub struct Bench {
    pub cycle: usize,
    /// Drives `xgmii_rx`.
    pub sender: Sender,
    /// Watches `xgmii_tx`.
    pub receiver: Receiver,
    pub outgoing: VecDeque<Outgoing>,
    pub incoming: Vec<Incoming>,
    pub pause_enable: bool,
    /// Cycles in which each event port was high, by name.
    pub events: HashMap<&'static str, usize>,
    /// `m_*` was high in the last cycle.
    pub local_fault: bool,
    pub remote_fault: bool,
    pub paused: bool,
    /// Inputs of each cycle, if `record`; for the Rust simulation.
    pub record: Option<Vec<Vec<u32>>>,
    model: Model,
    ports: Vec<Port>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    map_in: Map,
    map_out: Map,
    beat: usize,
    waited: bool,
    current: Vec<u8>,
    /// Cycle of the last frame's first beat from `m_*`.
    pub first_beat: usize,
}

const EVENTS: [&str; 9] = [
    "tx_underrun",
    "tx_muted",
    "rx_good",
    "rx_bad_code",
    "rx_too_long",
    "rx_too_short",
    "rx_bad_fcs",
    "rx_bad_preamble",
    "rx_pause",
];

impl Bench {
    pub fn new() -> Bench {
        let mut block = Box::new(Mac::<LONGEST>::default());
        block.connect_all();
        let design = emit(&*block, "mac", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let model = Model::from_text(&design.to_single_text(), &design.top, &design.ports, 2).unwrap_or_else(|e| panic!("{e:#}"));
        let (inputs, outputs) = model.sizes();
        let mut bench = Bench {
            cycle: 0,
            sender: Sender::default(),
            receiver: Receiver::default(),
            outgoing: VecDeque::new(),
            incoming: vec![],
            pause_enable: true,
            events: EVENTS.iter().map(|e| (*e, 0)).collect(),
            local_fault: false,
            remote_fault: false,
            paused: false,
            record: None,
            model,
            map_in: Map::new(&design.ports, true),
            map_out: Map::new(&design.ports, false),
            ports: design.ports,
            inputs: vec![0; inputs],
            outputs: vec![0; outputs],
            beat: 0,
            waited: false,
            current: vec![],
            first_beat: 0,
        };
        bench.reset();
        bench
    }

    pub fn reset(&mut self) {
        self.set("reset", 1);
        for _ in 0..4 {
            self.model.cycle(&self.inputs, &mut self.outputs);
        }
        self.set("reset", 0);
    }

    fn set(&mut self, name: &str, value: u64) {
        let at = self.map_in.at(name);
        self.inputs[at] = value as u32;
        if name.ends_with("data") || name.ends_with("rxd") {
            self.inputs[at + 1] = (value >> 32) as u32;
        }
    }

    fn get(&self, name: &str) -> u64 {
        let at = self.map_out.at(name);
        let high = if name.ends_with("data") || name.ends_with("txd") {
            self.outputs[at + 1]
        } else {
            0
        };
        u64::from(self.outputs[at]) | u64::from(high) << 32
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name) == 1
    }

    /// One cycle.
    pub fn tick(&mut self) {
        let column = self.sender.next_column();
        self.set("xgmii_rxd", column.data);
        self.set("xgmii_rxc", u64::from(column.control));
        self.set("pause_enable", u64::from(self.pause_enable));
        let mut beat = (0, 0, false, false);
        let mut waits = true;
        if let Some(frame) = self.outgoing.front() {
            let rest = &frame.bytes[8 * self.beat..];
            let n = rest.len().min(8);
            let mut data = [0xa5; 8];
            data[..n].copy_from_slice(&rest[..n]);
            let last = rest.len() <= 8;
            beat = (u64::from_le_bytes(data), (1u64 << n) - 1, last, last && frame.user);
            waits = frame.pause_at == Some(self.beat) && !self.waited;
        }
        self.set("s_data", beat.0);
        self.set("s_keep", beat.1);
        self.set("s_last", u64::from(beat.2));
        self.set("s_user", u64::from(beat.3));
        self.set("s_valid", u64::from(!waits));
        if let Some(record) = &mut self.record {
            record.push(self.inputs.clone());
        }
        self.model.cycle(&self.inputs, &mut self.outputs);
        if self.flag("s_ready") {
            if waits {
                self.waited = true;
            } else {
                self.waited = false;
                self.beat += 1;
                if beat.2 {
                    self.outgoing.pop_front();
                    self.beat = 0;
                }
            }
        }
        self.receiver.column(Column {
            data: self.get("xgmii_txd"),
            control: self.get("xgmii_txc") as u8,
        });
        self.take();
        for event in EVENTS {
            let seen = usize::from(self.flag(event));
            *self.events.entry(event).or_default() += seen;
        }
        self.local_fault = self.flag("local_fault");
        self.remote_fault = self.flag("remote_fault");
        self.paused = self.flag("paused");
        self.cycle += 1;
    }

    /// What `m_*` brings.
    fn take(&mut self) {
        if !self.flag("m_valid") {
            return;
        }
        let (keep, last) = (self.get("m_keep") as u8, self.flag("m_last"));
        let n = keep.trailing_ones() as usize;
        assert!(n > 0 && u16::from(keep) == (1u16 << n) - 1, "cycle {}: keep {keep:02x}", self.cycle);
        assert!(last || n == 8, "cycle {}: keep {keep:02x} before the last beat", self.cycle);
        if self.current.is_empty() {
            self.first_beat = self.cycle;
        }
        self.current.extend_from_slice(&self.get("m_data").to_le_bytes()[..n]);
        if last {
            let bytes = std::mem::take(&mut self.current);
            let bad = self.flag("m_user");
            self.incoming.push(Incoming { bytes, bad });
        } else {
            assert!(!self.flag("m_user"), "cycle {}: user before the last beat", self.cycle);
        }
    }

    pub fn run(&mut self, cycles: usize) {
        for _ in 0..cycles {
            self.tick();
        }
    }

    /// Until everything queued is through.
    pub fn drain(&mut self) {
        let mut limit = 8_000_000;
        while !(self.outgoing.is_empty() && self.sender.is_empty()) {
            self.tick();
            limit -= 1;
            assert!(limit > 0, "stuck");
        }
        self.run(40);
    }

    pub fn send(&mut self, bytes: Vec<u8>) {
        self.outgoing.push_back(Outgoing {
            bytes,
            user: false,
            pause_at: None,
        });
    }

    pub fn event(&self, name: &'static str) -> usize {
        self.events[name]
    }

    /// The transmitter broke no rule.
    pub fn check(&self) {
        assert_eq!(self.receiver.violations, Vec::<String>::new());
    }

    /// The Rust simulation gives the same for the recorded inputs, cycle by cycle.
    pub fn replay_in_rust(&mut self) {
        let record = self.record.take().expect("recorded");
        let mut block = Box::new(Mac::<LONGEST>::default());
        block.connect_all();
        let design = emit(&*block, "mac", &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let drive = typed(drive!(
            clock,
            reset,
            xgmii_rxd,
            xgmii_rxc,
            s_data,
            s_keep,
            s_valid,
            s_last,
            s_user,
            pause_enable
        ));
        let ports = self.ports.clone();
        let mut reset = vec![0; self.inputs.len()];
        reset[self.map_in.at("reset")] = 1;
        let all = std::iter::repeat_n(&reset, 4).chain(&record);
        self.model = Model::from_text(&design.to_single_text(), &design.top, &design.ports, 2).unwrap_or_else(|e| panic!("{e:#}"));
        drive(&mut *block, "clock", &[0]);
        for (cycle, inputs) in all.enumerate() {
            let mut at = 0;
            for port in ports.iter().filter(|p| p.input && !p.clock) {
                let n = shim::words(port);
                assert!(drive(&mut *block, &port.name, &inputs[at..at + n]), "{}", port.name);
                at += n;
            }
            settle(&mut *block, "mac");
            self.model.cycle(inputs, &mut self.outputs);
            assert_eq!(read_outputs(&*block, &design), self.outputs, "cycle {cycle}");
            for level in [1, 0] {
                drive(&mut *block, "clock", &[level]);
                settle(&mut *block, "mac");
            }
        }
    }
}

/// Says which block the inputs belong to.
fn typed<F: Fn(&mut Mac<LONGEST>, &str, &[u32]) -> bool>(drive: F) -> F {
    drive
}

/// Random bytes.
pub fn random_frame(rng: &mut ChaCha8Rng, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0; bytes];
    rng.fill_bytes(&mut frame);
    // Not MAC control by chance.
    if frame.len() > 13 {
        frame[12] = 0x08;
        frame[13] = 0;
    }
    frame
}

pub fn rng(seed: u64) -> ChaCha8Rng {
    let seed = std::env::var("VERBENA_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(seed);
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// A pause frame.
pub fn pause_frame(quanta: u16) -> Vec<u8> {
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 0x01, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 0, 1];
    frame.extend(quanta.to_be_bytes());
    frame.resize(60, 0);
    frame
}

/// A length, the short ones more often.
pub fn random_length(rng: &mut ChaCha8Rng) -> usize {
    match rng.gen_range(0..10) {
        0 => rng.gen_range(60..=LONGEST),
        1..=3 => rng.gen_range(60..600),
        _ => rng.gen_range(60..100),
    }
}
