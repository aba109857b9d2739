// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim chaos`: random work of two machines on a bad wire, many seeds.

use super::{progress, share, Common};
use crate::hca::HcaOptions;
use crate::held::NotHeld;
use crate::pair::{Pair, WireOptions};
use crate::world::{random_faults, GoldenPair, Mixed, Network, Report, World, WorldOptions};
use anyhow::{bail, Context, Result};
use clap::{Args, ValueEnum};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::ops::Range;
use verbena_model::wire::Faults;
use verbena_spec::config::Config;

/// Mixes all verbs on up to 8 QPs between two engines on a bad wire, both ways, and checks every byte, completion and retry.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  hca-sim chaos --seeds 0..200\n  hca-sim chaos --seeds 0..5000 --engine golden\n  hca-sim chaos --seeds 17..18 --loss 5%\n  hca-sim chaos --seeds 0..2000 --worst 0.05   (nightly)"
)]
pub struct Chaos {
    /// Seeds, FIRST..LAST; LAST isn't run
    #[arg(long, value_parser = seeds, default_value = "0..20")]
    pub seeds: Range<u64>,
    /// Machines to run
    #[arg(long, value_enum, default_value_t = Machines::Verilated)]
    pub engine: Machines,
    /// Each fault is drawn from 0 up to this, by seed
    #[arg(long, value_parser = share, default_value = "5%")]
    pub worst: f64,
    /// This loss instead
    #[arg(long, value_parser = share)]
    pub loss: Option<f64>,
    /// This share of doubled frames instead
    #[arg(long, value_parser = share)]
    pub duplicate: Option<f64>,
    /// This share of overtaken frames instead
    #[arg(long, value_parser = share)]
    pub reorder: Option<f64>,
    /// This share of broken frames instead
    #[arg(long, value_parser = share)]
    pub corrupt: Option<f64>,
    /// This share of late frames instead
    #[arg(long, value_parser = share)]
    pub delay: Option<f64>,
    /// Connections, up to 8 [default: random]
    #[arg(long)]
    pub qps: Option<usize>,
    /// Engines that can hold early requests until their turn
    #[arg(long)]
    pub hold: bool,
    /// With --engine mixed: the engine only answers, also if it has a requester
    #[arg(long)]
    pub one_way: bool,
    /// Go on behind a seed that failed
    #[arg(long)]
    pub keep_going: bool,
}

impl Default for Chaos {
    fn default() -> Self {
        Chaos {
            seeds: 0..20,
            engine: Machines::Verilated,
            worst: 0.05,
            loss: None,
            duplicate: None,
            reorder: None,
            corrupt: None,
            delay: None,
            qps: None,
            hold: false,
            one_way: false,
            keep_going: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Machines {
    /// Two of the engine itself
    Verilated,
    /// Two golden models behind the host library
    Golden,
    /// A golden model and the engine
    Mixed,
}

/// ns, each way.
const WIRE_LATENCY: u64 = 2_000;
/// The golden engine's: 2.1 ms.
const GOLDEN_TIMEOUT: u8 = 9;
/// ns.
const GOLDEN_HOST_PERIOD: u64 = 30_000;
/// Timers cost simulated cycles: 0.26 ms is the shortest that 8 QPs' queues at 10 Gb/s never exceed; slower engines get 1 ms.
const VERILATED_TIMEOUT: u8 = 6;
const SLOW_TIMEOUT: u8 = 8;
/// ns.
const VERILATED_HOST_PERIOD: u64 = 10_000;

/// Cycles in which an engine takes any small packet, receive and completion included: at 64, 3 frames of 35,000 found no room
/// (seeds 0..200 of `tengig`), at 80 none.
const SMALL_PACKET: u64 = 80;

#[derive(Debug, Serialize)]
struct Failure {
    seed: u64,
    what: String,
}

impl Chaos {
    fn faults(&self, rng: &mut ChaCha8Rng) -> Faults {
        let drawn = random_faults(rng, self.worst);
        Faults {
            loss: self.loss.unwrap_or(drawn.loss),
            duplicate: self.duplicate.unwrap_or(drawn.duplicate),
            reorder: self.reorder.unwrap_or(drawn.reorder),
            corrupt: self.corrupt.unwrap_or(drawn.corrupt),
            delay: self.delay.unwrap_or(drawn.delay),
            ..drawn
        }
    }

    fn world(&self, faults: &Faults, timeout: u8, host_period: u64) -> WorldOptions {
        let bad = [faults.loss, faults.duplicate, faults.reorder, faults.corrupt, faults.delay]
            .iter()
            .any(|f| *f > 0.0);
        WorldOptions {
            qps: self.qps,
            late: bad,
            senders: [true; 2],
            unreliable: !bad,
            timeout,
            host_period,
            reorder: self.hold,
        }
    }

    pub fn run(&self, common: &Common) -> Result<bool> {
        let bar = progress(common, self.seeds.end - self.seeds.start).with_message("seeds");
        let mut total = Report::default();
        let mut failures: Vec<Failure> = vec![];
        for seed in self.seeds.clone() {
            let ran = match self.engine {
                Machines::Golden => golden(seed, self),
                Machines::Mixed => mixed(&common.preset, common.latency, seed, self),
                Machines::Verilated => verilated(&common.preset, common.latency, seed, self),
            };
            match ran {
                Ok(report) => add(&mut total, &report),
                Err(error) if error.downcast_ref::<NotHeld>().is_some() => {
                    failures.push(Failure {
                        seed,
                        what: format!("{error:#}"),
                    });
                    if !self.keep_going {
                        break;
                    }
                }
                Err(error) => return Err(error.context(format!("seed {seed}"))),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if common.json {
            println!(
                "{}",
                serde_json::json!({ "command": "chaos", "engine": format!("{:?}", self.engine).to_lowercase(), "preset": common.preset,
                    "seeds": [self.seeds.start, self.seeds.end], "total": total, "failures": failures })
            );
        } else {
            print(self, &total, &failures);
        }
        Ok(failures.is_empty())
    }
}

fn add(total: &mut Report, report: &Report) {
    total.qps += report.qps;
    total.messages += report.messages;
    total.bytes += report.bytes;
    total.time += report.time;
    total.frames += report.frames;
    total.faults += report.faults;
    total.no_buffer += report.no_buffer;
    total.retries += report.retries;
    total.rnr_waits += report.rnr_waits;
    total.timeouts += report.timeouts;
}

fn print(chaos: &Chaos, total: &Report, failures: &[Failure]) {
    for failure in failures {
        println!("seed {}: {}", failure.seed, failure.what);
    }
    println!(
        "seeds {}..{}: {} messages with {} bytes on {} connections, {} frames in {:.3} ms of simulated time",
        chaos.seeds.start,
        chaos.seeds.end,
        total.messages,
        total.bytes,
        total.qps,
        total.frames,
        total.time as f64 / 1e6
    );
    println!(
        "  {} wire faults, {} frames without buffer; {} retries, {} of them by timeout; {} RNR waits",
        total.faults, total.no_buffer, total.retries, total.timeouts, total.rnr_waits
    );
    println!(
        "  {}",
        if failures.is_empty() {
            "every byte, completion and retry was right"
        } else {
            "something was WRONG"
        }
    );
}

/// One seed over golden engines.
pub fn golden(seed: u64, chaos: &Chaos) -> Result<Report> {
    let faults = chaos.faults(&mut ChaCha8Rng::seed_from_u64(seed));
    let network = GoldenPair::new(seed, WIRE_LATENCY, faults)?;
    World::new(network, seed, chaos.world(&faults, GOLDEN_TIMEOUT, GOLDEN_HOST_PERIOD))?.run()
}

fn machine(preset: &str, latency: u64, seed: u64) -> Result<(HcaOptions, Config, u8)> {
    let mut options = HcaOptions::new(preset);
    options.seed = seed;
    options.memory.latency = latency;
    let config = Config::preset(preset)?;
    let timeout = if config.small() { SLOW_TIMEOUT } else { VERILATED_TIMEOUT };
    Ok((options, config, timeout))
}

/// One seed over Verilated engines, whose memories take `latency` cycles.
pub fn verilated(preset: &str, latency: u64, seed: u64, chaos: &Chaos) -> Result<Report> {
    let faults = chaos.faults(&mut ChaCha8Rng::seed_from_u64(seed));
    let (options, config, timeout) = machine(preset, latency, seed)?;
    let pair = Pair::new(&options, &WireOptions::from_ns(WIRE_LATENCY, faults, config.clock_khz))?;
    World::new(pair, seed, chaos.world(&faults, timeout, VERILATED_HOST_PERIOD))?.run()
}

/// One seed over a golden engine and a Verilated one, which sends too if it has a requester.
pub fn mixed(preset: &str, latency: u64, seed: u64, chaos: &Chaos) -> Result<Report> {
    let faults = chaos.faults(&mut ChaCha8Rng::seed_from_u64(seed));
    let (options, _, timeout) = machine(preset, latency, seed)?;
    let mut network = Mixed::new(&options, WIRE_LATENCY, faults)?;
    let requester = network.device(1).capabilities().requester;
    let chosen = chaos.world(&faults, timeout, VERILATED_HOST_PERIOD);
    if chosen.unreliable {
        network.pace(SMALL_PACKET);
    }
    let options = WorldOptions {
        senders: [true, requester && !chaos.one_way],
        ..chosen
    };
    World::new(network, seed, options)?.run()
}

/// `FIRST..LAST`.
fn seeds(text: &str) -> Result<Range<u64>> {
    let (first, last) = text.split_once("..").context("want FIRST..LAST, 0..200 for example")?;
    let range = first.trim().parse()?..last.trim().parse()?;
    if range.is_empty() {
        bail!("no seed in {text}");
    }
    Ok(range)
}
