// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two engines, each with a host, and a wire each way between them.
//!
//! ```text
//! sides[0]: host library ─ Verilated engine ─► wires[0] ─► Verilated engine ─ host library: sides[1]
//!                                  ▲────────── wires[1] ◄──────────┘
//! ```
//! The engines' clocks go side by side: the one behind is always the next to tick. A register access of one host runs that engine ahead
//! by its cycles, so a frame to it may be some tens of cycles late, never early.

use crate::capture::Capture;
use crate::hca::{Hca, HcaOptions};
use crate::traffic::End;
use anyhow::{Context, Result};
use verbena_model::fabric::{Bottleneck, Fabric};
use verbena_model::wire::{Faults, Wire};
use verbena_verbs::{Cq, Device, Gid, OpenAttr, Pd};

/// Addresses of the two.
pub const ENDS: [End; 2] = [
    End {
        mac: [0x02, 0x56, 0x42, 0x4e, 0x41, 0x01],
        ip: [10, 0, 0, 1],
    },
    End {
        mac: [0x02, 0x56, 0x42, 0x4e, 0x41, 0x02],
        ip: [10, 0, 0, 2],
    },
];

/// One engine, opened, with a PD and a CQ.
pub struct Side {
    pub device: Device<Hca>,
    pub pd: Pd,
    pub cq: Cq,
}

impl Side {
    pub fn hca(&mut self) -> &mut Hca {
        self.device.platform()
    }
}

/// The two and the wires; `wires[n]` leads away from `sides[n]`.
pub struct Pair {
    pub sides: [Side; 2],
    pub wires: [Wire; 2],
    /// Bytes pass as they come, with a cycle between one MAC and the other, past the wires' latency and faults. Else a frame goes on when it
    /// has left its sender wholly, so its time on the wire counts twice.
    pub cut_through: bool,
    /// Everything that was sent, before the wire's faults.
    pub capture: Option<Capture>,
    /// Each frame as it leaves and as it comes, if wanted.
    pub timeline: Option<Vec<Passed>>,
    /// Cycle of the first beat of each side's first frame with payload, and of the last beat of its last one.
    pub payload_span: [Option<(u64, u64)>; 2],
    clock_khz: u64,
}

/// What becomes of a frame at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Leaves,
    /// Leaves, and the wire loses it.
    Lost,
    /// Its first beat comes to the engine.
    Comes,
}

/// A frame at one end of a wire.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    /// Cycle of its first beat.
    pub cycle: u64,
    /// The engine.
    pub side: usize,
    pub way: Way,
    pub opcode: u8,
    pub psn: u32,
    /// Byte behind the BTH: the syndrome, where the opcode has an AETH.
    pub syndrome: u8,
}

impl Passed {
    /// Of an untagged RoCEv2 frame over IPv4.
    fn new(cycle: u64, side: usize, way: Way, frame: &[u8]) -> Passed {
        let at = |n: usize| frame.get(n).copied().unwrap_or(0);
        Passed {
            cycle,
            side,
            way,
            opcode: at(42),
            psn: u32::from_be_bytes([0, at(51), at(52), at(53)]),
            syndrome: at(54),
        }
    }
}

/// What the wires do.
#[derive(Debug, Clone, Copy)]
pub struct WireOptions {
    /// Cycles, each way, beside the frame's own time.
    pub latency: u64,
    pub faults: Faults,
}

impl WireOptions {
    /// From times in ns.
    pub fn from_ns(latency: u64, faults: Faults, clock_khz: u32) -> WireOptions {
        let cycles = |ns: u64| (ns * u64::from(clock_khz)).div_ceil(1_000_000);
        WireOptions {
            latency: cycles(latency),
            faults: Faults {
                reorder_patience: cycles(faults.reorder_patience),
                longest_delay: cycles(faults.longest_delay),
                ..faults
            },
        }
    }
}

/// Longest frame without payload, bytes: an ATOMIC over IPv6 with a VLAN tag.
const WITHOUT_PAYLOAD: usize = 18 + 40 + 8 + 12 + 28 + 4;

/// Entries of each side's CQ, where the engine can have as many.
const CQ_ENTRIES: usize = 4096;

impl Pair {
    /// Two engines out of reset. Their options differ in the seed only.
    pub fn new(options: &HcaOptions, wire: &WireOptions) -> Result<Pair> {
        let side = |n: usize| -> Result<Side> {
            let options = HcaOptions {
                seed: options.seed ^ (n as u64) << 32,
                fst: options.fst.as_ref().filter(|_| n == 0).cloned(),
                ..options.clone()
            };
            let hca = Hca::new(&options)?;
            let end = ENDS[n];
            let mut device =
                Device::open(hca, &OpenAttr::new(end.mac, Gid::ipv4(end.ip))).with_context(|| format!("opening engine {n}"))?;
            let pd = device.alloc_pd()?;
            let cq = device.create_cq(CQ_ENTRIES.min(device.capabilities().ring_entries))?;
            Ok(Side { device, pd, cq })
        };
        let mut sides = [side(0)?, side(1)?];
        let clock_khz = u64::from(sides[0].hca().config.clock_khz);
        let wires = [1, 2].map(|salt| Wire::new(options.seed << 2 | salt, wire.latency, wire.faults));
        Ok(Pair {
            sides,
            wires,
            cut_through: false,
            capture: None,
            timeline: None,
            payload_span: [None; 2],
            clock_khz,
        })
    }

    /// A host opens its engine anew (`OpenAttr::reset`): everything that it had set up, and what was under way, is gone; its memory stays.
    pub fn restart(&mut self, side: usize) -> Result<()> {
        let options = HcaOptions::new(self.sides[side].hca().config.name);
        // A machine for the moment in which the device has none.
        let spare = Hca::new(&options)?;
        let hca = std::mem::replace(self.sides[side].hca(), spare);
        let end = ENDS[side];
        let mut device =
            Device::open(hca, &OpenAttr::new(end.mac, Gid::ipv4(end.ip))).with_context(|| format!("opening engine {side} anew"))?;
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(CQ_ENTRIES.min(device.capabilities().ring_entries))?;
        self.sides[side] = Side { device, pd, cq };
        Ok(())
    }

    /// What lies on both ways, from now on; its times in ns.
    pub fn set_fabric(&mut self, fabric: &Fabric) {
        let cycles = |ns: u64| (ns * self.clock_khz).div_ceil(1_000_000);
        let fabric = Fabric {
            bottleneck: fabric.bottleneck.map(|b| Bottleneck {
                time_per_byte: cycles(b.time_per_byte),
                ..b
            }),
            longest_burst: cycles(fabric.longest_burst),
            paths: fabric.paths.iter().map(|ns| cycles(*ns)).collect(),
            ..fabric.clone()
        };
        self.wires.iter_mut().for_each(|w| w.set_fabric(fabric.clone()));
    }

    /// The engines' clock.
    pub fn clock_khz(&self) -> u64 {
        self.clock_khz
    }

    /// Cycles that both engines have done.
    pub fn cycle(&mut self) -> u64 {
        self.sides[0].hca().cycle.min(self.sides[1].hca().cycle)
    }

    /// Both engines go on to the end of that cycle.
    pub fn run_to(&mut self, cycle: u64) {
        loop {
            let cycles = [self.sides[0].hca().cycle, self.sides[1].hca().cycle];
            let behind = usize::from(cycles[1] < cycles[0]);
            if cycles[behind] >= cycle {
                return;
            }
            self.tick(behind);
        }
    }

    /// Both engines go on for that many cycles.
    pub fn run(&mut self, cycles: u64) {
        let end = self.cycle() + cycles;
        self.run_to(end);
    }

    fn tick(&mut self, side: usize) {
        let hca = self.sides[side].device.platform();
        while let Some(frame) = self.wires[1 - side].receive(hca.cycle) {
            if let Some(timeline) = &mut self.timeline {
                timeline.push(Passed::new(hca.cycle, side, Way::Comes, &frame));
            }
            hca.rx.send_raw(frame, false);
        }
        hca.tick();
        let (beat, due) = (hca.pins.mac_tx, hca.cycle);
        if self.cut_through && beat.valid && beat.ready {
            self.sides[1 - side].device.platform().rx.pass(&beat, due);
        }
        let hca = self.sides[side].device.platform();
        while let Some(frame) = hca.tx.frames.pop_front() {
            if let Some(capture) = &mut self.capture {
                capture.add(frame.first, &frame.bytes);
            }
            if frame.bytes.len() > WITHOUT_PAYLOAD {
                let span = &mut self.payload_span[side];
                *span = Some((span.map_or(frame.first, |(first, _)| first), frame.last));
            }
            if !self.cut_through {
                let passed = self
                    .timeline
                    .is_some()
                    .then(|| Passed::new(frame.first, side, Way::Leaves, &frame.bytes));
                let lost = self.wires[side].statistics().lost;
                self.wires[side].send(frame.last + 1, frame.bytes);
                if let (Some(timeline), Some(mut passed)) = (&mut self.timeline, passed) {
                    if self.wires[side].statistics().lost > lost {
                        passed.way = Way::Lost;
                    }
                    timeline.push(passed);
                }
            }
        }
    }

    /// No frame is on the wire, in an engine's receive port or in its memory.
    pub fn is_quiet(&mut self) -> bool {
        self.wires.iter().all(Wire::is_empty)
            && self.sides.iter_mut().all(|side| {
                let hca = side.hca();
                hca.rx.pending() == 0 && !hca.axi.busy() && !hca.pins.mac_tx.valid
            })
    }

    /// Protocol violations at any port.
    pub fn check(&mut self) -> Result<()> {
        for (n, side) in self.sides.iter_mut().enumerate() {
            side.hca().violations.check().with_context(|| format!("engine {n}"))?;
        }
        Ok(())
    }
}
