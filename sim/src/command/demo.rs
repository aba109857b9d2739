// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim demo`: a file as RoCEv2 WRITEs through the Verilated engine into host memory.

use super::{progress, Common, Traces};
use crate::capture::Capture;
use crate::hca::HcaOptions;
use crate::requester::Requester;
use crate::session::{Session, FIRST_PSN, PEER};
use crate::traffic::{answer, ceiling, RETH};
use anyhow::{ensure, Context, Result};
use clap::Args;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

/// Sends a file as RoCEv2 WRITEs through the Verilated engine into host memory and compares.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim demo\n  hca-sim demo --file photo.jpg --pmtu 4096 --pcap demo.pcap\n  hca-sim demo --loss 0.01 --seed 7\n  hca-sim demo --preset cu --size 65536 --pmtu 512"
)]
pub struct Demo {
    /// File to send; without it, random bytes
    #[arg(long)]
    file: Option<PathBuf>,
    /// Random bytes to send without a file
    #[arg(long, default_value_t = 1 << 20)]
    size: usize,
    /// Path MTU: 256, 512, 1024, 2048 or 4096 [default: 1024, or the preset's largest]
    #[arg(long)]
    pmtu: Option<usize>,
    /// Bytes in a message
    #[arg(long, default_value_t = 64 << 10)]
    message: usize,
    /// Chance that the wire loses a packet, each way
    #[arg(long, default_value_t = 0.0)]
    loss: f64,
    #[command(flatten)]
    traces: Traces,
}

/// Packets that the peer keeps outstanding.
const WINDOW: usize = 128;
/// Cycles without progress before the peer sends again: 128 µs at 156.25 MHz.
const TIMEOUT: u64 = 20_000;
/// Cycles between looks at the wire.
const STEP: u64 = 16;

#[derive(Debug, Serialize)]
struct Summary {
    command: &'static str,
    preset: String,
    seed: u64,
    bytes: usize,
    pmtu: usize,
    messages: usize,
    packets: u64,
    lost: u64,
    retransmitted: u64,
    answers: u64,
    cycles: u64,
    goodput_gbps: f64,
    ceiling_gbps: f64,
    kcycles_per_second: f64,
    data_matches: bool,
    counters: Vec<(&'static str, u32)>,
    pcap: Option<PathBuf>,
    fst: Option<PathBuf>,
}

impl Demo {
    pub fn run(&self, common: &Common) -> Result<bool> {
        ensure!(
            (0.0..1.0).contains(&self.loss),
            "--loss {} must be at least 0 and below 1",
            self.loss
        );
        ensure!(self.message > 0, "--message must be at least 1 byte");
        let data = self.data(common)?;
        let mut options = HcaOptions::new(&common.preset);
        options.seed = common.seed;
        options.memory.latency = common.latency;
        options.fst = self.traces.fst.clone();
        let mut session = Session::open(&options)?;
        let config = session.hca().config.clone();
        let pmtu = self.pmtu.unwrap_or(config.max_pmtu.min(1024));
        let mut capture = self
            .traces
            .pcap
            .as_ref()
            .map(|p| Capture::create(p, config.clock_khz))
            .transpose()?;
        let mut connection = session.connect(pmtu, 1)?;
        let (region, mr) = session.region(data.len() as u64)?;
        let mut requester = Requester::new(WINDOW, TIMEOUT);
        let (mut messages, mut packets, mut lost, mut answers) = (0, 0, 0, 0);
        let mut psn = FIRST_PSN;
        for part in data.chunks(self.message) {
            let frames = connection.flow.write(region.va + (messages * self.message) as u64, mr.key, part);
            requester.queue(psn, frames);
            psn = connection.flow.psn;
            messages += 1;
        }
        let total = requester.backlog() as u64;
        let bar = progress(common, total).with_message(format!("{} bytes by WRITE", data.len()));
        let mut wire = ChaCha8Rng::seed_from_u64(common.seed ^ 0x3157);
        let mut again: VecDeque<Vec<u8>> = VecDeque::new();
        session.hca().tx.frames.clear();
        let (begin, begin_cycle) = (Instant::now(), session.hca().cycle);
        while !requester.is_done() {
            let hca = session.hca();
            let cycle = hca.cycle;
            again.extend(requester.check_timeout(cycle)?);
            again.extend(requester.send(cycle));
            while let Some(frame) = again.pop_front() {
                packets += 1;
                if self.loss > 0.0 && wire.gen_bool(self.loss) {
                    lost += 1;
                    continue;
                }
                capture.iter_mut().for_each(|c| c.add(cycle, &frame));
                hca.rx.send(&frame);
            }
            hca.run(STEP);
            while let Some(frame) = hca.tx.frames.pop_front() {
                capture.iter_mut().for_each(|c| c.add(frame.first, &frame.bytes));
                if self.loss > 0.0 && wire.gen_bool(self.loss) {
                    lost += 1;
                } else if let Some(answer) = answer(&frame.bytes, &PEER) {
                    answers += 1;
                    again.extend(requester.receive(&answer, hca.cycle)?);
                }
            }
            hca.violations.check()?;
            bar.set_position(total - requester.backlog() as u64);
        }
        let cycles = session.hca().cycle - begin_cycle;
        let seconds = begin.elapsed().as_secs_f64();
        bar.finish_and_clear();
        let data_matches = region.read(session.hca(), region.va, data.len())? == data;
        let rate = config.data_bits as f64 / 8.0;
        let per_message = self.message.min(data.len()).div_ceil(pmtu);
        let full = ceiling(pmtu.min(data.len()), if per_message == 1 { RETH } else { 0 });
        let summary = Summary {
            command: "demo",
            preset: common.preset.clone(),
            seed: common.seed,
            bytes: data.len(),
            pmtu,
            messages,
            packets,
            lost,
            retransmitted: requester.retransmitted,
            answers,
            cycles,
            goodput_gbps: data.len() as f64 / (cycles as f64 * rate) * 10.0,
            ceiling_gbps: full * 10.0,
            kcycles_per_second: cycles as f64 / seconds / 1000.0,
            data_matches,
            counters: session.device.counters()?.into_iter().filter(|c| c.1 != 0).collect(),
            pcap: capture.map(Capture::finish).transpose()?,
            fst: self.traces.fst.clone(),
        };
        summary.print(common)?;
        Ok(data_matches)
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
        ensure!(!data.is_empty(), "there is nothing to send: the file is empty");
        Ok(data)
    }
}

impl Summary {
    fn print(&self, common: &Common) -> Result<()> {
        if common.json {
            println!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        let verdict = if self.data_matches {
            "host memory holds exactly what was sent"
        } else {
            "HOST MEMORY DIFFERS from what was sent"
        };
        println!("{verdict}");
        println!(
            "  {} bytes in {} WRITEs, PMTU {}: {} packets sent, {} lost, {} sent again, {} answers",
            self.bytes, self.messages, self.pmtu, self.packets, self.lost, self.retransmitted, self.answers
        );
        println!(
            "  {} cycles: {:.3} Gb/s of goodput on a 10 Gb/s wire, ceiling {:.3}",
            self.cycles, self.goodput_gbps, self.ceiling_gbps
        );
        println!(
            "  simulated at {:.0} kcycles/s; preset {}, seed {}",
            self.kcycles_per_second, self.preset, self.seed
        );
        let counters: Vec<String> = self.counters.iter().map(|(name, count)| format!("{name} {count}")).collect();
        println!("  counters: {}", counters.join(", "));
        self.pcap.iter().for_each(|p| println!("  frames: {}", p.display()));
        self.fst.iter().for_each(|p| println!("  waveform: {}", p.display()));
        Ok(())
    }
}
