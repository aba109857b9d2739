// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim demo` where the engine has no requester: software sends the file as RoCEv2 WRITEs through one engine into host memory.

use super::{progress, Common, Traces};
use crate::capture::Capture;
use crate::hca::HcaOptions;
use crate::requester::Requester;
use crate::session::{Session, FIRST_PSN, PEER};
use crate::traffic::{answer, ceiling, RETH};
use anyhow::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

/// What is wanted.
pub struct Receive<'a> {
    pub data: &'a [u8],
    pub pmtu: Option<usize>,
    /// Bytes in a message.
    pub message: usize,
    /// Chance that the wire loses a packet, each way.
    pub loss: f64,
    pub traces: &'a Traces,
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

impl Receive<'_> {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let data = self.data;
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
