// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim replay`: a capture played against the Verilated engine.

use super::{progress, Common, Traces};
use crate::hca::{Hca, HcaOptions};
use crate::responder::EngineResponder;
use anyhow::{ensure, Context, Result};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use verbena_model::replay::overrides::Overrides;
use verbena_model::replay::play::replay;
use verbena_model::replay::report::{table, Report};

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
    #[arg(long = "recv", value_name = "BYTES")]
    receive_length: Option<String>,
    /// A region that the capture can't tell: KEY,ADDRESS,LENGTH (hexadecimal with 0x)
    #[arg(long = "mr", value_name = "REGION")]
    regions: Vec<String>,
    /// Path MTU, bytes
    #[arg(long)]
    mtu: Option<usize>,
    /// Writes the engine's answers to this pcap
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    traces: Traces,
}

impl Replay {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let files: Vec<&PathBuf> = self.files.iter().filter(|f| !f.to_string_lossy().ends_with(".rx.pcap")).collect();
        let traced = self.out.is_some() || self.traces.pcap.is_some() || self.traces.fst.is_some();
        ensure!(
            !traced || files.len() == 1,
            "--out, --pcap and --fst need exactly one capture, there are {}",
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
            println!("{}", table(&reports));
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
        let mut overrides = Overrides::beside(file)?;
        if let Some(text) = &self.receive_length {
            overrides.set_receive_length(text)?;
        }
        if let Some(pmtu) = self.mtu {
            overrides.set_pmtu(pmtu)?;
        }
        for region in &self.regions {
            overrides.add_region(region)?;
        }
        let report = replay(file, self.us, &overrides, &mut responder)?;
        if let Some(path) = self.out.as_ref().or(self.traces.pcap.as_ref()) {
            verbena_model::capture::write(path, &report.answers)?;
        }
        Ok(report)
    }
}
