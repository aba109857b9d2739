// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim demo`: a file from one Verilated engine's host memory to the other's, over a wire as bad as you like.

use super::demo_receive::Receive;
use super::{progress, share, Common, Traces};
use crate::capture::Capture;
use crate::hca::HcaOptions;
use crate::pair::{Pair, WireOptions};
use crate::world::{message_bytes, transfer, Flow, Moved, Network, Order, Route, TransferOptions};
use anyhow::{ensure, Context, Result};
use clap::{Args, ValueEnum};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;
use verbena_model::wire::{Faults, Statistics};
use verbena_spec::config::Config;
use verbena_spec::counters::{self as c, Class, COUNTERS};

/// Moves a file between two Verilated engines over a wire with faults, and compares.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim demo\n  hca-sim demo --verb read --loss 1% --reorder 1%\n  hca-sim demo --file photo.jpg --pmtu 4096 --pcap demo.pcap\n  hca-sim demo --verb send --loss 0.01 --duplicate 0.5% --corrupt 0.1% --delay 1% --seed 7\n  hca-sim demo --preset cu --size 65536 --pmtu 512 --message 8192"
)]
pub struct Demo {
    /// File to move; without it, random bytes
    #[arg(long)]
    file: Option<PathBuf>,
    /// Random bytes to move without a file
    #[arg(long, default_value_t = 1 << 20)]
    size: usize,
    /// How: written, sent, or read by the far side
    #[arg(long, value_enum, default_value_t = Verb::Write)]
    verb: Verb,
    /// Path MTU: 256, 512, 1024, 2048 or 4096 [default: 1024, or the preset's largest]
    #[arg(long)]
    pmtu: Option<usize>,
    /// Bytes in a message
    #[arg(long, default_value_t = 64 << 10)]
    message: usize,
    /// Messages under way
    #[arg(long, default_value_t = 16)]
    depth: usize,
    /// Share of frames that the wire loses, each way: 0.01 or 1%
    #[arg(long, value_parser = share, default_value = "0")]
    loss: f64,
    /// Share of frames that later ones overtake
    #[arg(long, value_parser = share, default_value = "0")]
    reorder: f64,
    /// Share of frames that arrive twice
    #[arg(long, value_parser = share, default_value = "0")]
    duplicate: f64,
    /// Share of frames with a flipped bit
    #[arg(long, value_parser = share, default_value = "0")]
    corrupt: f64,
    /// Share of frames that come late, by up to 20 us
    #[arg(long, value_parser = share, default_value = "0")]
    delay: f64,
    /// What the wire takes, each way, ns
    #[arg(long, default_value_t = 500)]
    wire_latency: u64,
    #[command(flatten)]
    traces: Traces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verb {
    Write,
    Send,
    Read,
}

/// Local ACK timeout's code: 262 us.
const TIMEOUT: u8 = 6;
/// How often the hosts look at their queues, ns.
const STEP: u64 = 100;
/// Longest bar of the histogram, characters.
const BAR: usize = 40;

#[derive(Debug, Serialize)]
struct Summary {
    command: &'static str,
    preset: String,
    seed: u64,
    verb: Verb,
    bytes: usize,
    pmtu: usize,
    messages: usize,
    /// Frames, from the first engine and from the second, and what happened to them.
    wire: [Statistics; 2],
    /// Packets with payload beyond those that a good wire would have needed.
    sent_again: i64,
    /// Times that a send queue went back, and those by timeout or RNR.
    rewinds: u64,
    timeouts: u64,
    rnr_waits: u64,
    /// Packets that an engine didn't execute, by cause, both engines.
    drops: Vec<(&'static str, u64)>,
    nanoseconds: u64,
    goodput_gbps: f64,
    ceiling_gbps: f64,
    /// ns: least, median, 99 %, most.
    latency: [u64; 4],
    /// Messages by latency: below so many ns.
    histogram: Vec<(u64, usize)>,
    kcycles_per_second: f64,
    data_matches: bool,
    pcap: Option<PathBuf>,
    fst: Option<PathBuf>,
}

impl Demo {
    pub fn run(&self, common: &Common) -> Result<bool> {
        ensure!(self.message > 0, "--message must be at least 1 byte");
        ensure!(self.depth > 0, "--depth must be at least 1");
        let data = self.data(common)?;
        let config = Config::preset(&common.preset)?;
        let mut options = HcaOptions::new(&common.preset);
        options.seed = common.seed;
        options.memory.latency = common.latency;
        options.fst = self.traces.fst.clone();
        let faults = Faults {
            loss: self.loss,
            duplicate: self.duplicate,
            reorder: self.reorder,
            corrupt: self.corrupt,
            delay: self.delay,
            ..Faults::default()
        };
        let mut pair = Pair::new(&options, &WireOptions::from_ns(self.wire_latency, faults, config.clock_khz))?;
        if !pair.sides[0].device.capabilities().requester {
            drop(pair);
            return self.receive(common, &data);
        }
        let capture = self.traces.pcap.as_ref().map(|p| Capture::create(p, config.clock_khz));
        pair.capture = capture.transpose()?;
        let pmtu = self.pmtu.unwrap_or(config.max_pmtu.min(1024));
        let options = TransferOptions {
            route: match self.verb {
                Verb::Write => Route::Write,
                Verb::Send => Route::Send,
                Verb::Read => Route::Read,
            },
            pmtu,
            message: self.message,
            depth: self.depth,
            timeout: TIMEOUT,
            order: Order::default(),
            qps: 1,
        };
        let mut flow = [Flow::new(&mut pair, 0, options, data.clone())?];
        let total = data.len().div_ceil(self.message);
        let bar = progress(common, total as u64).with_message(format!("{} bytes by {}", data.len(), self.verb.name()));
        let (before, begin, cycle) = (counters(&mut pair)?, Instant::now(), pair.cycle());
        let moved = transfer(&mut pair, &mut flow, STEP, |done| bar.set_position(done as u64))?;
        let speed = (pair.cycle() - cycle) as f64 / begin.elapsed().as_secs_f64() / 1000.0;
        bar.finish_and_clear();
        pair.check()?;
        let after = counters(&mut pair)?;
        let count = |code: u8| -> u64 {
            let at = usize::from(code);
            (0..2).map(|side| u64::from(after[side][at].wrapping_sub(before[side][at]))).sum()
        };
        let needed: usize = data.chunks(self.message).map(|part| part.len().div_ceil(pmtu)).sum();
        let with_payload = if self.verb == Verb::Read { c::TX_RESPONSE } else { c::TX_REQUEST };
        let on_wire: u64 = data
            .chunks(self.message)
            .map(|part| message_bytes(options.route, part.len(), pmtu))
            .sum();
        let rate = config.data_bits as f64 * config.clock_khz as f64 / 1e6;
        let summary = Summary {
            command: "demo",
            preset: common.preset.clone(),
            seed: common.seed,
            verb: self.verb,
            bytes: data.len(),
            pmtu,
            messages: moved.messages,
            wire: Network::wires(&pair),
            sent_again: count(with_payload) as i64 - needed as i64,
            rewinds: count(c::REWIND),
            timeouts: count(c::TIMEOUT),
            rnr_waits: count(c::RNR_WAIT),
            drops: drops(count),
            nanoseconds: moved.time,
            goodput_gbps: data.len() as f64 * 8.0 / moved.time as f64,
            ceiling_gbps: rate * data.len() as f64 / on_wire as f64,
            latency: [0.0, 0.5, 0.99, 1.0].map(|share| moved.latency(share)),
            histogram: histogram(&moved),
            kcycles_per_second: speed,
            data_matches: moved.matches,
            pcap: pair.capture.take().map(Capture::finish).transpose()?,
            fst: self.traces.fst.clone(),
        };
        summary.print(common, rate)?;
        Ok(moved.matches)
    }

    /// Without a requester software sends to one engine.
    fn receive(&self, common: &Common, data: &[u8]) -> Result<bool> {
        ensure!(
            self.verb == Verb::Write && [self.reorder, self.duplicate, self.corrupt, self.delay] == [0.0; 4],
            "this engine has no requester (CAPABILITIES bit 18), so software sends to one engine: by WRITE, with --loss alone"
        );
        if !common.json {
            println!("this engine has no requester (CAPABILITIES bit 18): software sends to one engine instead of a second engine");
        }
        let receive = Receive {
            data,
            pmtu: self.pmtu,
            message: self.message,
            loss: self.loss,
            traces: &self.traces,
        };
        receive.run(common)
    }

    fn data(&self, common: &Common) -> Result<Vec<u8>> {
        let data = match &self.file {
            Some(path) => std::fs::read(path).with_context(|| format!("reading {}", path.display()))?,
            None => {
                let mut data = vec![0; self.size];
                ChaCha8Rng::seed_from_u64(common.seed).fill_bytes(&mut data);
                data
            }
        };
        ensure!(!data.is_empty(), "there is nothing to move: the file is empty");
        Ok(data)
    }
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Verb::Write => "WRITE",
            Verb::Send => "SEND",
            Verb::Read => "READ",
        }
    }
}

/// Both sides' counters by code.
fn counters(pair: &mut Pair) -> Result<[[u32; c::COUNTER_FILE]; 2]> {
    let mut all = [[0; c::COUNTER_FILE]; 2];
    for (side, file) in all.iter_mut().enumerate() {
        for counter in COUNTERS {
            file[usize::from(counter.code)] = pair.sides[side].device.counter(counter.code)?;
        }
    }
    Ok(all)
}

/// What was received and not executed.
fn drops(count: impl Fn(u8) -> u64) -> Vec<(&'static str, u64)> {
    COUNTERS
        .iter()
        .filter(|k| matches!(k.class, Class::Rx | Class::Responder))
        .filter(|k| ![c::RX_ROCE, c::RX_HOST, c::ACCEPTED, c::RESPONSE].contains(&k.code))
        .map(|k| (k.name, count(k.code)))
        .filter(|(_, n)| *n > 0)
        .collect()
}

/// Messages by latency, in powers of two.
fn histogram(moved: &Moved) -> Vec<(u64, usize)> {
    let mut bins: Vec<(u64, usize)> = vec![];
    for latency in &moved.latencies {
        let below = (latency + 1).next_power_of_two();
        match bins.last_mut().filter(|(b, _)| *b == below) {
            Some((_, n)) => *n += 1,
            None => bins.push((below, 1)),
        }
    }
    bins
}

impl Summary {
    fn print(&self, common: &Common, rate: f64) -> Result<()> {
        if common.json {
            println!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        let verdict = if self.data_matches {
            "the far memory holds exactly what was there"
        } else {
            "THE FAR MEMORY DIFFERS from what was there"
        };
        println!("{verdict}");
        println!(
            "  {} bytes in {} {}s, PMTU {}: {:.1} us, {:.3} Gb/s of goodput on a {rate} Gb/s wire, ceiling {:.3} ({:.1} %)",
            self.bytes,
            self.messages,
            self.verb.name(),
            self.pmtu,
            self.nanoseconds as f64 / 1000.0,
            self.goodput_gbps,
            self.ceiling_gbps,
            100.0 * self.goodput_gbps / self.ceiling_gbps
        );
        for (way, w) in ["there", "back"].iter().zip(&self.wire) {
            println!(
                "  wire {way}: {} frames, {} lost, {} doubled, {} overtaken, {} broken, {} late",
                w.sent, w.lost, w.duplicated, w.reordered, w.corrupted, w.delayed
            );
        }
        println!(
            "  {} packets sent again; {} times back, {} by timeout, {} by RNR",
            self.sent_again, self.rewinds, self.timeouts, self.rnr_waits
        );
        let drops: Vec<String> = self.drops.iter().map(|(name, n)| format!("{name} {n}")).collect();
        println!(
            "  not executed: {}",
            if drops.is_empty() { "none".into() } else { drops.join(", ") }
        );
        let [least, median, most_of, most] = self.latency;
        println!("  latency, doorbell to polled completion: {least} ns least, {median} median, {most_of} of 99 %, {most} most");
        let largest = self.histogram.iter().map(|(_, n)| *n).max().unwrap_or(1);
        for (below, n) in &self.histogram {
            println!("    < {below:>9} ns {n:>6} {}", "#".repeat((n * BAR).div_ceil(largest)));
        }
        println!(
            "  simulated at {:.0} kcycles/s; preset {}, seed {}",
            self.kcycles_per_second, self.preset, self.seed
        );
        self.pcap.iter().for_each(|p| println!("  frames: {}", p.display()));
        self.fst.iter().for_each(|p| println!("  waveform: {}", p.display()));
        Ok(())
    }
}
