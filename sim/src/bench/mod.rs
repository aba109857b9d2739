// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gates of the receive half and of two engines: measured in cycles, so that they hold on any machine.

mod doorbell;
mod latency;
mod line_rate;
mod report;
mod small;
mod speed;
pub mod sweep;
mod two_engines;

pub use report::{markdown, print, Figure, Gate};

use anyhow::{ensure, Result};
use indicatif::ProgressBar;

/// What to measure.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    pub preset: String,
    pub seed: u64,
    /// Memory latency, cycles.
    pub latency: u64,
    /// Fewer packets: seconds instead of a minute.
    pub quick: bool,
    /// Only the measurements whose name has this in it.
    pub only: String,
}

type Measure = fn(&BenchOptions) -> Result<Vec<Figure>>;

/// The measurements, by name.
const MEASURES: [(&str, Measure); 8] = [
    ("line rate", line_rate::measure),
    ("small packets", small::measure),
    ("latency", latency::measure),
    ("doorbell", doorbell::measure),
    ("messages", two_engines::rates),
    ("goodput", two_engines::goodputs),
    ("many QPs", two_engines::many),
    ("simulation speed", speed::measure),
];

/// All figures.
pub fn run(options: &BenchOptions, progress: &ProgressBar) -> Result<Vec<Figure>> {
    let chosen: Vec<_> = MEASURES.iter().filter(|(name, _)| name.contains(&options.only)).collect();
    let names = MEASURES.map(|(name, _)| name).join(", ");
    ensure!(!chosen.is_empty(), "no measurement '{}'; there is {names}", options.only);
    progress.set_length(chosen.len() as u64);
    let mut figures = Vec::new();
    for (name, measure) in chosen {
        progress.set_message(*name);
        figures.extend(measure(options)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(figures)
}
