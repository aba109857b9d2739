// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim replay`: a capture played against the Verilated engine.

use super::{progress, Common, Traces};
use crate::capture::Capture;
use crate::hca::{Hca, HcaOptions};
use crate::responder::EngineResponder;
use anyhow::{ensure, Context, Result};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use verbena_model::replay::play::{replay, Overrides, Report};

/// Plays captures against the Verilated engine and compares its answers with the captured ones.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim replay tb/captures/rc-write-60000.pcap --as 10.0.0.1\n  hca-sim replay tb/captures/*.pcap --as 10.0.0.1 --json\n\nFiles named *.rx.pcap are what arrived in the capture of the same name, and skipped by themselves."
)]
pub struct Replay {
    /// Captures
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Address of the side that the engine takes the place of
    #[arg(long = "as", value_name = "IP")]
    us: IpAddr,
    /// Length of each receive buffer, bytes [default: as the capture's tool had it, or 64 KiB]
    #[arg(long)]
    receive_length: Option<u32>,
    #[command(flatten)]
    traces: Traces,
}

impl Replay {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let files: Vec<&PathBuf> = self.files.iter().filter(|f| !f.to_string_lossy().ends_with(".rx.pcap")).collect();
        let traced = self.traces.pcap.is_some() || self.traces.fst.is_some();
        ensure!(
            !traced || files.len() == 1,
            "--pcap and --fst need exactly one capture, there are {}",
            files.len()
        );
        let bar = progress(common, files.len() as u64).with_message("replay");
        let mut reports = Vec::new();
        for file in files {
            reports.push(self.one(common, file).with_context(|| format!("{}", file.display()))?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let held = reports.iter().all(Report::holds);
        if common.json {
            println!(
                "{}",
                serde_json::json!({ "command": "replay", "preset": common.preset, "seed": common.seed, "held": held, "captures": reports })
            );
        } else {
            reports.iter().for_each(print);
            let played = reports.iter().filter(|r| r.waiting == 0).count();
            let good = reports.iter().filter(|r| r.waiting == 0 && r.holds()).count();
            println!(
                "{good} of {played} captures played without a difference, {} wait for READ and ATOMIC; preset {}, seed {}",
                reports.len() - played,
                common.preset,
                common.seed
            );
        }
        Ok(held)
    }

    fn one(&self, common: &Common, file: &std::path::Path) -> Result<Report> {
        let mut options = HcaOptions::new(&common.preset);
        options.seed = common.seed;
        options.memory.latency = common.latency;
        options.fst = self.traces.fst.clone();
        let mut responder = EngineResponder::new(Hca::new(&options)?);
        let overrides = Overrides {
            receive_length: self.receive_length,
            ..Overrides::default()
        };
        let report = replay(file, self.us, &overrides, &mut responder)?;
        if let Some(path) = &self.traces.pcap {
            let mut capture = Capture::create(path, responder.hca().map_or(1, |h| h.config.clock_khz))?;
            report
                .answers
                .iter()
                .enumerate()
                .for_each(|(i, frame)| capture.add(i as u64, frame));
            capture.finish()?;
        }
        Ok(report)
    }
}

fn print(report: &Report) {
    if report.waiting > 0 {
        println!("{:<28} waits: {} READ or ATOMIC requests", report.capture, report.waiting);
        return;
    }
    let verdict = if report.holds() { "holds" } else { "DIFFERS" };
    let equivalent: usize = report.comparison.equivalent.values().sum();
    println!(
        "{:<28} {verdict}: {} frames in, {} answers the same, {equivalent} equivalent, {} different; {} completions, {} different",
        report.capture,
        report.delivered,
        report.comparison.same,
        report.comparison.different.len(),
        report.completions,
        report.completions_different
    );
    report.comparison.different.iter().take(5).for_each(|d| println!("    {d}"));
    if report.memory_different > 0 {
        println!("    memory of {} regions differs from the golden model's", report.memory_different);
    }
    report.tool_disagrees.iter().for_each(|t| println!("    {t}"));
}
