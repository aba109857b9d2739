// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim replay`: a capture played against the Verilated engine.

use super::{progress, Common, Traces};
use crate::client::EngineClient;
use crate::hca::{Hca, HcaOptions};
use crate::responder::EngineResponder;
use anyhow::{ensure, Context, Result};
use clap::Args;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use verbena_model::replay::client::{self, sides};
use verbena_model::replay::overrides::Overrides;
use verbena_model::replay::play::replay;
use verbena_model::replay::report::{table, Report, Side};

/// Plays captures against the Verilated engine and compares its packets with the captured ones: its answers where the captured side was responder,
/// its requests where it was requester.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim replay tb/captures/rc-write-60000.pcap --as 10.0.0.1\n  hca-sim replay tb/captures/*.pcap --as 10.0.0.1 --json\n  hca-sim replay tb/captures/loss-write-middle.pcap --as 10.0.0.2 --side requester\n  hca-sim replay mine.pcap --as 192.168.1.7 --mtu 1024 --mr 0x34eb:0x7f7a99dd2000:65536:w --recv 4096\n\nWhat a capture can't say may also stand in a file NAME.toml beside NAME.pcap (docs/replay.md). NAME.rx.pcap is what arrived in the\ncapture NAME.pcap, and not played by itself."
)]
pub struct Replay {
    /// Captures
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Address of the side that the engine takes the place of
    #[arg(long = "as", value_name = "IP")]
    us: IpAddr,
    /// What of that side is played [default: what the capture shows of it]
    #[arg(long, value_enum)]
    side: Option<Which>,
    /// Path MTU, bytes [default: inferred]
    #[arg(long, value_name = "BYTES")]
    mtu: Option<usize>,
    /// A memory region, `w`: remote WRITE allowed [default: inferred]
    #[arg(long, value_name = "KEY:ADDRESS:LENGTH[:w]")]
    mr: Vec<String>,
    /// Length of each receive buffer [default: as the capture's tool had it, or 64 KiB]
    #[arg(long, value_name = "BYTES")]
    recv: Option<String>,
    #[command(flatten)]
    traces: Traces,
}

/// A half of the captured side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    Responder,
    Requester,
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
            let sides = match self.side {
                Some(Which::Responder) => vec![Side::Responder],
                Some(Which::Requester) => vec![Side::Requester],
                None => sides(file, self.us).with_context(|| file.display().to_string())?,
            };
            ensure!(
                !traced || sides.len() == 1,
                "{}: --pcap and --fst need one side, this one is both: say --side",
                file.display()
            );
            for side in sides {
                reports.push(self.one(common, file, side).with_context(|| file.display().to_string())?);
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        let good = |r: &&Report| r.waiting > 0 || r.holds() || r.departure().is_some();
        let held = reports.iter().all(|r| good(&r));
        if common.json {
            let summary =
                serde_json::json!({ "command": "replay", "preset": common.preset, "seed": common.seed, "held": held, "captures": reports });
            println!("{summary}");
        } else {
            print!("{}", table(&reports));
            let waiting = reports.iter().filter(|r| r.waiting > 0).count();
            let holds = reports.iter().filter(|r| r.waiting == 0 && r.holds()).count();
            println!(
                "{holds} of {} plays hold, {waiting} wait; preset {}, seed {}",
                reports.len(),
                common.preset,
                common.seed
            );
        }
        Ok(held)
    }

    fn one(&self, common: &Common, file: &Path, side: Side) -> Result<Report> {
        let mut overrides = Overrides::beside(file)?;
        self.mtu.map_or(Ok(()), |mtu| overrides.set_pmtu(mtu))?;
        self.mr.iter().try_for_each(|text| overrides.add_region(text))?;
        self.recv.as_ref().map_or(Ok(()), |text| overrides.set_receive_length(text))?;
        let mut options = HcaOptions::new(&common.preset);
        options.seed = common.seed;
        options.memory.latency = common.latency;
        options.fst = self.traces.fst.clone();
        let hca = Hca::new(&options)?;
        let report = match side {
            Side::Responder => replay(file, self.us, &overrides, &mut EngineResponder::new(hca))?,
            Side::Requester => client::replay(file, self.us, &mut EngineClient::new(hca))?,
        };
        if let Some(path) = &self.traces.pcap {
            verbena_model::capture::write(path, &report.answers)?;
        }
        Ok(report)
    }
}
