// SPDX-License-Identifier: MIT OR Apache-2.0
//! What loss and reordering cost: goodput of one flow between two engines, by scheme and by share of frames lost, beside its lossless goodput.
//!
//! ```text
//!  scheme (QP attributes) × frames lost both ways ─► transfer of 64 KiB messages ─► share of the scheme's lossless goodput ─► gate
//!                         ├ frames overtaken by up to 32, or sprayed over four paths, none lost ─► share, and nothing sent again
//!                         └ 1 % lost in bursts
//! ```

mod plot;
mod report;
mod timeline;

pub use plot::svg;
pub use report::{markdown, print};

use crate::hca::HcaOptions;
use crate::held::NotHeld;
use crate::pair::{Pair, WireOptions};
use crate::world::{transfer, Flow, GoldenPair, Moved, Network, Order, Route, TransferOptions};
use anyhow::Result;
use indicatif::ProgressBar;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::path::PathBuf;
use verbena_model::fabric::Fabric;
use verbena_model::wire::{Faults, Statistics};
use verbena_spec::config::Config;
use verbena_spec::counters as c;
use verbena_spec::layout::SELECTIVE_WINDOW;
use verbena_verbs::selective_window;
use verbena_verilated::MODELS;

/// Path MTU, bytes.
pub const PMTU: usize = 1024;
/// Message, bytes.
pub const MESSAGE: usize = 64 << 10;
/// Round trip without the frames' own time that the gates are for, ns.
pub const ROUND_TRIP: u64 = 10_000;
/// Local ACK timeout's code: 32.8 us.
pub const TIMEOUT: u8 = 3;
/// PSNs outstanding between engines with 64 KiB of receive buffer.
pub const DEEP_WINDOW: u8 = 40;
/// Messages under way.
pub const DEPTH: usize = 16;
/// Share of frames lost each way, and the share of the lossless goodput that selective repeat keeps.
pub const GATES: [(f64, f64); 3] = [(0.001, 0.98), (0.01, 0.93), (0.05, 0.65)];
/// Reordering without loss: share of frames overtaken, by up to how many, and the share of the undisturbed goodput that is kept.
pub const REORDER: f64 = 0.1;
pub const REORDER_WINDOW: u32 = 32;
pub const REORDER_GATE: f64 = 0.98;
/// Delays of the paths that frames are sprayed over, ns: overtaken by up to 10.
pub const PATHS: [u64; 4] = [0, 3_000, 6_000, 9_000];
/// Bursts of up to this time, ns, 8 packets at 10 Gb/s, and the share of frames that begin one: some 1 % of all are lost.
pub const LONGEST_BURST: u64 = 7_000;
pub const BURST: f64 = 0.01 / 4.5;

/// Which machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Machines {
    Golden,
    Verilated,
}

/// A way to recover.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scheme {
    pub name: &'static str,
    pub order: Order,
    /// The gates are for it.
    pub gated: bool,
}

impl Scheme {
    /// PSNs outstanding at most: what the peer holds. Engines take what the host library chooses, with a receive buffer of 64 KiB 40 packets: it holds 59, and
    /// those that wait for memory are among them. But a gap must be able to come to the distance at which it is a loss, and to be closed.
    fn window(&self, machines: Machines, preset: &str) -> Option<u8> {
        let far = u32::from(self.order.nak_distance) >= selective_window(PMTU);
        let deep = MODELS.iter().any(|m| m.preset == preset && m.roce_buffer == 64 << 10);
        match machines {
            Machines::Golden => Some(SELECTIVE_WINDOW as u8),
            Machines::Verilated if far && deep => Some(self.order.nak_distance + 20),
            Machines::Verilated if far => Some(SELECTIVE_WINDOW as u8),
            Machines::Verilated => deep.then_some(DEEP_WINDOW),
        }
    }
}

/// All schemes, side by side.
pub const SCHEMES: [Scheme; 4] = [
    Scheme {
        name: "selective repeat, nak_distance 0",
        order: Order {
            selective_repeat: true,
            selective_window: None,
            reorder: true,
            nak_distance: 0,
            nak_delay: 0,
            traffic_class: 0,
        },
        gated: true,
    },
    Scheme {
        name: "selective repeat, nak_distance 32",
        order: Order {
            selective_repeat: true,
            selective_window: None,
            reorder: true,
            nak_distance: 32,
            nak_delay: 0,
            traffic_class: 0,
        },
        gated: true,
    },
    Scheme {
        name: "go-back-N, early packets held",
        order: Order {
            selective_repeat: false,
            selective_window: None,
            reorder: true,
            nak_distance: 0,
            nak_delay: 0,
            traffic_class: 0,
        },
        gated: false,
    },
    Scheme {
        name: "go-back-N, early packets dropped",
        order: Order {
            selective_repeat: false,
            selective_window: None,
            reorder: false,
            nak_distance: 0,
            nak_delay: 0,
            traffic_class: 0,
        },
        gated: false,
    },
];

/// What to run.
#[derive(Debug, Clone)]
pub struct LossOptions {
    pub machines: Machines,
    pub preset: String,
    pub seed: u64,
    /// Memory latency of Verilated engines, cycles.
    pub memory_latency: u64,
    pub routes: Vec<Route>,
    /// Messages of a run.
    pub messages: usize,
    /// Only schemes and wires whose names contain that; a scheme's undisturbed run is always made.
    pub scheme: Option<String>,
    pub wire: Option<String>,
    /// PSNs outstanding at most with selective repeat, beside what the host library chooses.
    pub window: Option<u8>,
    /// Round trip without the frames' own time, ns; the gates are for [`ROUND_TRIP`].
    pub round_trip: u64,
    /// Every frame of Verilated engines, at both ends.
    pub timeline: Option<PathBuf>,
}

/// What the wire does both ways.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    None,
    /// That share of frames lost, each by itself.
    Loss(f64),
    /// A share of [`REORDER`] overtaken by up to [`REORDER_WINDOW`].
    Reorder,
    /// Every frame takes one of [`PATHS`].
    Spray,
    /// 1 % lost in bursts.
    Bursts,
}

impl Disturbance {
    fn faults(self) -> Faults {
        match self {
            Disturbance::Loss(loss) => Faults { loss, ..Faults::default() },
            Disturbance::Reorder => Faults {
                reorder: REORDER,
                reorder_window: REORDER_WINDOW,
                ..Faults::default()
            },
            _ => Faults::default(),
        }
    }

    fn fabric(self) -> Fabric {
        match self {
            Disturbance::Spray => Fabric {
                paths: PATHS.to_vec(),
                ..Fabric::default()
            },
            Disturbance::Bursts => Fabric {
                burst: BURST,
                longest_burst: LONGEST_BURST,
                ..Fabric::default()
            },
            _ => Fabric::default(),
        }
    }
}

/// One run.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub verb: &'static str,
    pub scheme: Scheme,
    pub wire: Disturbance,
    /// Payload behind the first message, Gb/s.
    pub goodput: f64,
    /// Of the scheme's undisturbed goodput.
    pub share: f64,
    pub gate: Option<f64>,
    /// Nothing may be sent again.
    pub no_resend: bool,
    pub data_right: bool,
    /// Why it ended before all was moved.
    pub gave_up: Option<String>,
    pub frames: u64,
    pub lost: u64,
    pub overtaken: u64,
    /// Requests sent again alone, times that a send queue went back, ACK timers that ran out: both sides.
    pub resent_alone: u32,
    pub rewinds: u32,
    pub timeouts: u32,
    pub held: u32,
    pub no_slot: u32,
}

impl Point {
    /// Sent again for whatever reason.
    pub fn resends(&self) -> u32 {
        self.resent_alone + self.rewinds + self.timeouts
    }

    pub fn holds(&self) -> bool {
        (self.data_right || self.gave_up.is_some() && self.gate.is_none())
            && self.gate.is_none_or(|gate| self.share >= gate)
            && !(self.no_resend && self.resends() > 0)
    }
}

/// The verb's name.
pub fn verb(route: Route) -> &'static str {
    match route {
        Route::Write => "WRITE",
        Route::Send => "SEND",
        Route::Read => "READ",
    }
}

fn contains(part: &Option<String>, name: &str) -> bool {
    part.as_ref().is_none_or(|part| name.contains(part))
}

/// Schemes that the machines can run, and the names of the others.
fn schemes(options: &LossOptions) -> Result<(Vec<Scheme>, Vec<&'static str>)> {
    let (reorder, selective) = match options.machines {
        Machines::Golden => (true, true),
        Machines::Verilated => {
            let mut pair = pair(options, Disturbance::None)?;
            let can = pair.device(0).capabilities();
            (can.reorder, can.selective_repeat)
        }
    };
    let (mut can, mut others) = (vec![], vec![]);
    for scheme in SCHEMES.iter().filter(|s| contains(&options.scheme, s.name)) {
        let mut scheme = *scheme;
        if scheme.order.selective_repeat {
            scheme.order.selective_window = options.window.or(scheme.window(options.machines, &options.preset));
        }
        let order = scheme.order;
        if (reorder || !order.reorder) && (selective || !order.selective_repeat) {
            can.push(scheme);
        } else {
            others.push(scheme.name);
        }
    }
    Ok((can, others))
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Runs {
    pub points: Vec<Point>,
    /// Round trip without the frames' own time, ns.
    pub round_trip: u64,
    /// Schemes that the machines can't run.
    pub left_out: Vec<&'static str>,
}

/// All runs, verb by verb and scheme by scheme: undisturbed, the losses, reordered.
pub fn run(options: &LossOptions, progress: &ProgressBar) -> Result<Runs> {
    let (schemes, left_out) = schemes(options)?;
    let disturbances =
        GATES
            .iter()
            .map(|(loss, _)| Disturbance::Loss(*loss))
            .chain([Disturbance::Bursts, Disturbance::Reorder, Disturbance::Spray]);
    let disturbances: Vec<Disturbance> = disturbances.filter(|d| contains(&options.wire, &report::disturbance(*d))).collect();
    progress.set_length((options.routes.len() * schemes.len() * (disturbances.len() + 1)) as u64);
    let mut points = vec![];
    for route in &options.routes {
        for scheme in &schemes {
            progress.set_message(scheme.name);
            let undisturbed = point(options, *route, *scheme, Disturbance::None, None)?;
            let base = undisturbed.goodput;
            points.push(undisturbed);
            progress.inc(1);
            for wire in &disturbances {
                let mut point = point(options, *route, *scheme, *wire, Some(base))?;
                let gated = scheme.gated && options.round_trip == ROUND_TRIP;
                // Only who waits for 32 packets can take reordering for what it is.
                let waits = gated && u32::from(scheme.order.nak_distance) >= REORDER_WINDOW;
                point.no_resend = waits && matches!(wire, Disturbance::Reorder | Disturbance::Spray);
                point.gate = match wire {
                    Disturbance::Loss(_) if gated => GATES.iter().find(|(l, _)| Disturbance::Loss(*l) == *wire).map(|g| g.1),
                    _ if point.no_resend => Some(REORDER_GATE),
                    _ => None,
                };
                points.push(point);
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    Ok(Runs {
        points,
        round_trip: options.round_trip,
        left_out,
    })
}

/// Two Verilated engines.
fn pair(options: &LossOptions, wire: Disturbance) -> Result<Pair> {
    let config = Config::preset(&options.preset)?;
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.memory_latency;
    let mut pair = Pair::new(
        &machine,
        &WireOptions::from_ns(options.round_trip / 2, wire.faults(), config.clock_khz),
    )?;
    pair.set_fabric(&wire.fabric());
    Ok(pair)
}

fn point(options: &LossOptions, route: Route, scheme: Scheme, wire: Disturbance, base: Option<f64>) -> Result<Point> {
    match options.machines {
        Machines::Golden => {
            let mut pair = GoldenPair::new(options.seed, options.round_trip / 2, wire.faults())?;
            pair.set_fabric(&wire.fabric());
            measure(&mut pair, options, route, scheme, wire, base)
        }
        Machines::Verilated => {
            let mut pair = pair(options, wire)?;
            pair.timeline = options.timeline.is_some().then(Vec::new);
            let point = measure(&mut pair, options, route, scheme, wire, base)?;
            if let (Some(path), Some(frames)) = (&options.timeline, &pair.timeline) {
                timeline::append(path, &point, frames, pair.clock_khz())?;
            }
            Ok(point)
        }
    }
}

fn measure<N: Network>(
    network: &mut N,
    options: &LossOptions,
    route: Route,
    scheme: Scheme,
    wire: Disturbance,
    base: Option<f64>,
) -> Result<Point> {
    let mut data = vec![0; options.messages * MESSAGE];
    ChaCha8Rng::seed_from_u64(options.seed).fill_bytes(&mut data);
    let flow = TransferOptions {
        route,
        pmtu: PMTU,
        message: MESSAGE,
        depth: DEPTH,
        timeout: TIMEOUT,
        order: scheme.order,
        qps: 1,
    };
    let mut flows = [Flow::new(network, 0, flow, data)?];
    let (moved, gave_up) = match transfer(network, &mut flows, 1000, |_| ()) {
        Err(error) if error.downcast_ref::<NotHeld>().is_some() => (Moved::default(), Some(format!("{error:#}"))),
        moved => (moved?, None),
    };
    let mut count = |code: u8| -> Result<u32> { Ok(network.device(0).counter(code)? + network.device(1).counter(code)?) };
    let [resent_alone, rewinds, timeouts, held, no_slot] =
        [c::SELECTIVE_RESEND, c::REWIND, c::TIMEOUT, c::REORDER_HELD, c::REORDER_FULL].map(&mut count);
    let wires = network.wires();
    let both = |of: fn(&Statistics) -> u64| wires.iter().map(of).sum();
    let goodput = moved.steady_gbps;
    Ok(Point {
        verb: verb(route),
        scheme,
        wire,
        goodput,
        share: base.map_or(1.0, |base| goodput / base),
        gate: None,
        no_resend: false,
        data_right: moved.matches,
        gave_up,
        frames: both(|s| s.sent),
        lost: both(|s| s.lost),
        overtaken: both(|s| s.reordered),
        resent_alone: resent_alone?,
        rewinds: rewinds?,
        timeouts: timeouts?,
        held: held?,
        no_slot: no_slot?,
    })
}
