// SPDX-License-Identifier: MIT OR Apache-2.0
//! Goodput, message rate and latency between two engines over message sizes, verbs, PMTUs, QPs, directions and losses.
//!
//! ```text
//! cases ─► measure (two engines, a wire) ─► points ─┬─► JSON
//!                                                   ├─► Markdown
//!                                                   └─► SVG: a plot for each factor
//! ```
//! The default set varies one factor at a time from one base case; the full one is the product of all.

mod page;
mod plot;

pub use page::{json, markdown};
pub use plot::{plots, PLOTS};

use super::two_engines::data;
use crate::hca::HcaOptions;
use crate::hold;
use crate::pair::{Pair, WireOptions};
use crate::world::{answer_bytes, message_bytes, transfer, Flow, Network, Order, Route, TransferOptions};
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use verbena_model::wire::Faults;
use verbena_spec::config::Config;
use verbena_spec::counters;

/// Bytes of a message.
pub const SIZES: [usize; 6] = [8, 64, 512, 4096, 64 << 10, 1 << 20];
pub const PMTUS: [usize; 5] = [256, 512, 1024, 2048, 4096];
pub const ROUTES: [Route; 3] = [Route::Write, Route::Send, Route::Read];
/// Shares of frames that the wire loses, each way.
pub const LOSSES: [f64; 3] = [0.0, 0.001, 0.01];
/// Message of the cases that vary the number of QPs, bytes.
const QP_MESSAGE: usize = 4096;
/// Payload that a case moves, bytes, where its messages are neither too many nor too few.
const VOLUME: usize = 768 << 10;
const LOSS_VOLUME: usize = 4 << 20;
const MOST_MESSAGES: usize = 2000;
const FEWEST_MESSAGES: usize = 3;
/// Messages of each QP under way.
const DEPTH: usize = 16;
/// Messages one after the other, for the latency of an idle engine.
const ALONE: usize = 25;
/// How often the hosts look, ns.
const STEP: u64 = 64;
/// Local ACK timeout's code: 1 ms where nothing is lost, 65 us else; longer than any queue that a QP waits in then.
const CALM_TIMEOUT: u8 = 8;
const LOSS_TIMEOUT: u8 = 4;
/// Shortest message whose frames are told from those without payload, bytes.
const SEEN: usize = 256;
/// Preamble, FCS and gap, bytes.
const FRAMING: f64 = 24.0;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    pub route: Route,
    /// Of a message.
    pub bytes: usize,
    pub pmtu: usize,
    pub qps: usize,
    /// Both ways at once.
    pub both: bool,
    pub loss: f64,
}

/// Shortest, median and 99th percentile, ns.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Latency {
    pub min: u64,
    pub median: u64,
    pub p99: u64,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    pub verb: &'static str,
    pub bytes: usize,
    pub pmtu: usize,
    pub qps: usize,
    pub both: bool,
    pub loss: f64,
    /// Of all messages.
    pub messages: usize,
    /// Gb/s of payload each way, the slower one.
    pub goodput: f64,
    /// What the wire allows without loss.
    pub ceiling: f64,
    /// Millions of messages a second, both ways together.
    pub rate: f64,
    /// Doorbell to polled completion, ns, with `DEPTH` messages under way on each QP.
    pub loaded: Latency,
    /// The same with one message under way on an idle wire; one QP, one way, no loss.
    pub alone: Option<Latency>,
    pub dropped: u32,
    pub rewinds: u32,
    pub lost: u64,
}

impl Point {
    pub fn share(&self) -> f64 {
        self.goodput / self.ceiling
    }
}

/// What one case stays at while another factor varies.
fn base(route: Route) -> Case {
    Case {
        route,
        bytes: 64 << 10,
        pmtu: 1024,
        qps: 1,
        both: false,
        loss: 0.0,
    }
}

/// Numbers of QPs: one, some, and all that a preset has beside index 0 and QP1.
fn numbers(config: &Config) -> Vec<usize> {
    let all = config.n_qps - 2;
    let mut list: Vec<usize> = [1, 16, all].into_iter().filter(|n| *n <= all).collect();
    list.dedup();
    list
}

/// One factor at a time, or the product of all.
pub fn cases(config: &Config, full: bool) -> Vec<Case> {
    let pmtus = || PMTUS.into_iter().filter(|p| *p <= config.max_pmtu);
    let mut list: Vec<Case> = vec![];
    for route in ROUTES {
        let base = Case {
            pmtu: base(route).pmtu.min(config.max_pmtu),
            ..base(route)
        };
        if full {
            for bytes in SIZES {
                for pmtu in pmtus() {
                    for qps in numbers(config) {
                        for both in [false, true] {
                            list.extend(LOSSES.map(|loss| Case {
                                route,
                                bytes,
                                pmtu,
                                qps,
                                both,
                                loss,
                            }));
                        }
                    }
                }
            }
            continue;
        }
        list.extend(SIZES.map(|bytes| Case { bytes, ..base }));
        list.extend(pmtus().map(|pmtu| Case { pmtu, ..base }));
        list.extend(numbers(config).into_iter().map(|qps| Case {
            qps,
            bytes: QP_MESSAGE,
            ..base
        }));
        list.push(Case { both: true, ..base });
        list.extend(LOSSES.map(|loss| Case { loss, ..base }));
    }
    let mut once: Vec<Case> = vec![];
    for case in list {
        if !once.contains(&case) {
            once.push(case);
        }
    }
    once
}

/// What the machines are like.
#[derive(Debug, Clone)]
pub struct SweepOptions {
    pub preset: String,
    pub seed: u64,
    /// Memory latency, cycles.
    pub latency: u64,
    /// A tenth of the messages.
    pub quick: bool,
}

/// Measures all of them.
pub fn run(options: &SweepOptions, cases: &[Case], progress: &ProgressBar) -> Result<Vec<Point>> {
    let config = Config::preset(&options.preset)?;
    progress.set_length(cases.len() as u64);
    let mut points = vec![];
    for case in cases {
        let name = format!("{} {} B, PMTU {}, {} QPs", name(case.route), case.bytes, case.pmtu, case.qps);
        progress.set_message(name.clone());
        points.push(measure(options, &config, case).with_context(|| name)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(points)
}

pub fn name(route: Route) -> &'static str {
    match route {
        Route::Write => "WRITE",
        Route::Send => "SEND",
        Route::Read => "READ",
    }
}

fn pair(options: &SweepOptions, loss: f64) -> Result<Pair> {
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    let faults = Faults { loss, ..Faults::default() };
    Pair::new(&machine, &WireOptions { latency: 0, faults })
}

fn latency(of: &crate::world::Moved) -> Latency {
    Latency {
        min: of.latency(0.0),
        median: of.latency(0.5),
        p99: of.latency(0.99),
    }
}

fn measure(options: &SweepOptions, config: &Config, case: &Case) -> Result<Point> {
    // A share of a thousandth needs thousands of frames to show.
    let volume = if case.loss > 0.0 { LOSS_VOLUME } else { VOLUME };
    let volume = if options.quick { volume / 10 } else { volume };
    let count = (volume / case.bytes)
        .clamp(FEWEST_MESSAGES, MOST_MESSAGES)
        .div_ceil(case.qps)
        .max(2);
    let mut pair = pair(options, case.loss)?;
    let transfer_options = TransferOptions {
        route: case.route,
        pmtu: case.pmtu,
        message: case.bytes,
        depth: DEPTH,
        timeout: if case.loss > 0.0 { LOSS_TIMEOUT } else { CALM_TIMEOUT },
        order: Order::default(),
        qps: case.qps,
    };
    let ways: &[usize] = if case.both { &[0, 1] } else { &[0] };
    let mut flows = vec![];
    for from in ways {
        for n in 0..case.qps {
            let seed = options.seed ^ (n as u64) << 8 ^ *from as u64;
            flows.push(Flow::new(&mut pair, *from, transfer_options, data(seed, count * case.bytes))?);
        }
    }
    let moved = transfer(&mut pair, &mut flows, STEP, |_| ())?;
    hold!(moved.matches, "the far memory isn't what was sent");
    let line = config.data_bits as f64 * config.clock_khz as f64 / 1e6;
    let payload = (count * case.qps * case.bytes) as f64 * 8.0;
    // Where frames can be told, from the first byte on the wire to the last: without the latency at both ends, which is no part of a rate.
    let on_wire = |way: usize| {
        let (first, last) = pair.payload_span[way]?;
        let cycles = (last + 1 - first) as f64 + FRAMING * 8.0 / config.data_bits as f64;
        Some(cycles * 1e6 / config.clock_khz as f64)
    };
    let times = ways
        .iter()
        .map(|way| on_wire(*way).filter(|_| case.bytes >= SEEN).unwrap_or(moved.time as f64));
    let time = times.fold(0.0, f64::max);
    let both = |n: u64| if case.both { n } else { 0 };
    let taken = message_bytes(case.route, case.bytes, case.pmtu) + both(answer_bytes(case.route, case.bytes, case.pmtu));
    let (mut dropped, mut rewinds) = (0, 0);
    for side in 0..2 {
        dropped += pair.device(side).counter(counters::RX_NO_BUFFER)?;
        rewinds += pair.device(side).counter(counters::REWIND)?;
    }
    let lost = pair.wires.iter().map(|w| w.statistics().lost).sum();
    let idle = case.qps == 1 && !case.both && case.loss == 0.0;
    Ok(Point {
        verb: name(case.route),
        bytes: case.bytes,
        pmtu: case.pmtu,
        qps: case.qps,
        both: case.both,
        loss: case.loss,
        messages: moved.messages,
        goodput: payload / time,
        ceiling: line * case.bytes as f64 / taken as f64,
        rate: moved.messages as f64 * 1000.0 / time,
        loaded: latency(&moved),
        alone: if idle { Some(alone(options, &transfer_options)?) } else { None },
        dropped,
        rewinds,
        lost,
    })
}

/// One message after the other.
fn alone(options: &SweepOptions, of: &TransferOptions) -> Result<Latency> {
    let mut pair = pair(options, 0.0)?;
    let depth_one = TransferOptions { depth: 1, ..*of };
    let count = if of.message > 64 << 10 { FEWEST_MESSAGES } else { ALONE };
    let mut flows = [Flow::new(&mut pair, 0, depth_one, data(options.seed, count * of.message))?];
    // Every cycle or two: the figure is the engines', not the host's habit.
    let moved = transfer(&mut pair, &mut flows, 10, |_| ())?;
    Ok(latency(&moved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_set_varies_one_factor_at_a_time() {
        let config = Config::preset("tengig").unwrap();
        let list = cases(&config, false);
        for case in &list {
            let base = base(case.route);
            let varied = [
                case.bytes != base.bytes,
                case.pmtu != base.pmtu,
                case.both,
                case.loss > 0.0,
                case.qps != base.qps && case.bytes != QP_MESSAGE,
            ];
            assert!(varied.iter().filter(|v| **v).count() <= 1, "{case:?}");
        }
        assert_eq!(list.len(), 3 * (6 + 4 + 2 + 1 + 2));
        assert!(list.iter().any(|c| c.qps == 254));
        let full = cases(&config, true);
        assert_eq!(full.len(), 3 * 6 * 5 * 3 * 2 * 3);
        // Nothing of the default set is missing in the full one.
        assert!(list.iter().all(|c| full.contains(c)));
    }

    #[test]
    fn a_preset_limits_the_cases() {
        let config = Config::preset("cu").unwrap();
        assert!(cases(&config, true).iter().all(|c| c.pmtu <= 512 && c.qps <= 2));
    }
}
