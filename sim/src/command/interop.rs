// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim interop`: stock Linux tools in a Soft-RoCE guest against the live NIC, as a matrix.

use super::{progress, Common};
use crate::hca::{Hca, HcaOptions};
use crate::interop::cases::{all, Case};
use crate::interop::jobs::{run_all, Run};
use crate::interop::runner::{Line, Setting};
use crate::live::EngineKind;
use anyhow::{ensure, Context, Result};
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Instant;
use verbena_spec::registers;
use verbena_verbs::Bus;

/// Stock Linux RDMA tools in a Soft-RoCE guest (qemu) against the live NIC: tool, direction, result.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim interop --short\n  hca-sim interop --engine golden --only probe/reads\n  hca-sim interop --list"
)]
pub struct Interop {
    /// What talks to the guest
    #[arg(long, value_enum, default_value = "verilated")]
    engine: EngineKind,
    /// Only the cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The smaller set, for where time is short
    #[arg(long)]
    short: bool,
    /// Leave out the bad wire, or the good one
    #[arg(long, value_parser = ["good", "bad", "both"], default_value = "both")]
    wire: String,
    /// Guests at once, each with an engine; as many as there are processor cores, up to 4
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    jobs: Option<u8>,
    /// Name the cases and end
    #[arg(long)]
    list: bool,
    /// Where the guest, its packages and what failed are kept
    #[arg(long, value_name = "FOLDER", default_value = "target/interop")]
    folder: PathBuf,
}

impl Interop {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut runs: Vec<(Case, bool)> = vec![];
        for bad in [false, true] {
            let wanted = |c: &Case| {
                let set = !self.short || (c.short && (!bad || c.variant.ends_with("1024")));
                let wire = self.wire == "both" || (self.wire == "bad") == bad;
                let name = self.only.as_ref().is_none_or(|text| c.name().contains(text.as_str()));
                set && wire && name && (!bad || c.bad_wire)
            };
            runs.extend(all().into_iter().filter(wanted).map(|c| (c, bad)));
        }
        if self.list {
            let line = |(case, bad): &(Case, bool)| format!("{}{}\n", case.name(), if *bad { " (bad wire)" } else { "" });
            let list: String = runs.iter().map(line).collect();
            // Whoever reads may have enough after a few lines.
            return match std::io::stdout().write_all(list.as_bytes()) {
                Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("writing the list"),
                _ => Ok(true),
            };
        }
        if !self.has_reads(common)? {
            let before = runs.len();
            runs.retain(|(case, _)| !case.reads());
            eprintln!(
                "SKIPPED: {} cases that need READ or ATOMIC, which this engine lacks (CAPABILITIES bit 19)",
                before - runs.len()
            );
        }
        let kill = self.wire != "bad" && self.only.as_ref().is_none_or(|text| "probe/killed".contains(text.as_str()));
        ensure!(kill || !runs.is_empty(), "no case is left: see --list");
        let start = Instant::now();
        build_guest(&self.folder)?;
        let setting = Setting {
            engine: self.engine,
            seed: common.seed,
            image: std::fs::canonicalize(&self.folder)?,
            // A socket's path is short.
            folder: std::env::temp_dir().join(format!("verbena-interop-{}", std::process::id())),
            failures: self.folder.join("failures"),
        };
        let folder = setting.folder.clone();
        let jobs = self
            .jobs
            .map_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get().min(4)), usize::from);
        let lines = self.matrix(common, &setting, runs, kill, jobs);
        std::fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
        let lines = lines?;
        let failed = lines.iter().filter(|l| !l.passed).count();
        let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds().unwrap_or(0.0));
        if common.json {
            let engine = format!("{:?}", self.engine).to_lowercase();
            println!(
                "{}",
                serde_json::json!({ "command": "interop", "engine": engine, "seed": common.seed, "short": self.short, "jobs": jobs, "seconds": seconds, "processor_seconds": processor, "failed": failed, "runs": lines })
            );
        } else {
            print!("{}", table(&lines));
            let set = if self.short { "the smaller set, of" } else { "of" };
            println!(
                "{} {set} {} runs as they should be, {failed} not; {:?} engine, seed {}, {jobs} guests, {seconds:.0} s, {processor:.0} s of processor time",
                lines.len() - failed,
                lines.len(),
                self.engine,
                common.seed
            );
            if failed > 0 {
                println!(
                    "frames and both sides' words of what failed: {}",
                    self.folder.join("failures").display()
                );
            }
        }
        Ok(failed == 0)
    }

    fn has_reads(&self, common: &Common) -> Result<bool> {
        Ok(match self.engine {
            EngineKind::Golden => true,
            EngineKind::Verilated => Hca::new(&HcaOptions::new(&common.preset))?.read(registers::CAPABILITIES)? >> 19 & 1 == 1,
        })
    }

    fn matrix(&self, common: &Common, setting: &Setting, cases: Vec<(Case, bool)>, kill: bool, jobs: usize) -> Result<Vec<Line>> {
        let mut runs: Vec<Run> = cases.into_iter().map(|(case, bad)| Run::Case(Box::new(case), bad)).collect();
        if kill {
            runs.extend([Run::KilledClient, Run::KilledServer]);
        }
        let bar = progress(common, runs.len() as u64).with_message("guest");
        // Once a case has ended: what it started ends with it.
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, stop.clone()).context("catching SIGINT and SIGTERM")?;
        }
        let begun = AtomicUsize::new(0);
        let lines = run_all(setting, &runs, jobs, &stop, |name| {
            bar.set_message(name.to_string());
            // All that began before have ended, but for those of the other jobs.
            bar.set_position((begun.fetch_add(1, Ordering::Relaxed) + 1).saturating_sub(jobs) as u64);
        })?;
        bar.finish_and_clear();
        Ok(lines)
    }
}

/// Builds the guest, unless it is there and up to date.
fn build_guest(folder: &Path) -> Result<()> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/interop/guest.sh");
    let status = Command::new(&script)
        .arg(folder)
        .status()
        .with_context(|| format!("running {}", script.display()))?;
    ensure!(status.success(), "{} failed ({status})", script.display());
    Ok(())
}

fn table(lines: &[Line]) -> String {
    let mut text = format!(
        "{:10} {:24} {:14} {:5} {:7} {:>6}\n",
        "tool", "variant", "direction", "wire", "result", "s"
    );
    for l in lines {
        let result = if l.passed { "ok" } else { "FAILED" };
        text += &format!(
            "{:10} {:24} {:14} {:5} {result:7} {:6.1} {}\n",
            l.tool, l.variant, l.direction, l.wire, l.seconds, l.note
        );
    }
    text
}

/// Seconds of processor time of this process and of all that it has started and seen end: guests, programs (proc(5): utime, stime, cutime,
/// cstime, in hundredths).
fn processor_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, in brackets, may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|f| f.parse::<u64>().ok()).sum();
    Some(ticks as f64 / 100.0)
}
