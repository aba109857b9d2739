// SPDX-License-Identifier: MIT OR Apache-2.0
//! The subcommands of `hca-sim`. Each returns whether everything it checks held.

pub mod bench;
pub mod chaos;
pub mod demo;
mod demo_receive;
pub mod fuzz;
pub mod interop;
pub mod loss;
pub mod probe;
pub mod programs;
pub mod replay;
pub mod serve;

use anyhow::{ensure, Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Options of every subcommand.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Engine to run: tengig or cu
    #[arg(long, global = true, default_value = "tengig")]
    pub preset: String,
    /// Seed of everything random
    #[arg(long, global = true, default_value_t = 1)]
    pub seed: u64,
    /// Cycles that the memory takes to answer
    #[arg(long, global = true, default_value_t = 100)]
    pub latency: u64,
    /// Machine-readable summary on standard output, nothing else
    #[arg(long, global = true)]
    pub json: bool,
}

/// Options of those that show what happened.
#[derive(Debug, Clone, Args)]
pub struct Traces {
    /// Write the frames to a pcap (opens in Wireshark)
    #[arg(long)]
    pub pcap: Option<PathBuf>,
    /// Write a waveform (opens in GTKWave or Surfer); needs a build with --features trace
    #[arg(long)]
    pub fst: Option<PathBuf>,
}

/// A progress bar on standard error, none with `--json`.
pub fn progress(common: &Common, length: u64) -> ProgressBar {
    if common.json {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg:24} {bar:32} {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    bar
}

/// A probability: `0.01` or `1%`, below 1.
pub fn share(text: &str) -> Result<f64> {
    let (number, unit) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    let value: f64 = number.trim().parse().context("want a share, 0.01 or 1% for example")?;
    let value = value / unit;
    ensure!((0.0..1.0).contains(&value), "{text} must be at least 0 and below 1");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_numbers_or_percent() {
        assert_eq!(share("0.25").unwrap(), 0.25);
        assert_eq!(share("5%").unwrap(), 0.05);
        assert_eq!(share("0").unwrap(), 0.0);
        for bad in ["1", "100%", "-0.1", "x", "", "%", "NaN"] {
            assert!(share(bad).is_err(), "{bad}");
        }
    }
}
