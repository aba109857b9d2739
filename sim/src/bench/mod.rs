// SPDX-License-Identifier: MIT OR Apache-2.0
//! The gates of the receive half and of two engines: measured in cycles, so that they hold on any machine.

mod latency;
mod line_rate;
mod report;
mod small;
mod speed;
mod two_engines;

pub use report::{markdown, print, Figure, Gate};

use anyhow::Result;
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
}

type Measure = fn(&BenchOptions) -> Result<Vec<Figure>>;

/// All figures.
pub fn run(options: &BenchOptions, progress: &ProgressBar) -> Result<Vec<Figure>> {
    let measures: [(&str, Measure); 5] = [
        ("WRITE at line rate", line_rate::measure),
        ("small packets", small::measure),
        ("latency", latency::measure),
        ("two engines", two_engines::measure),
        ("simulation speed", speed::measure),
    ];
    progress.set_length(measures.len() as u64);
    let mut figures = Vec::new();
    for (name, measure) in measures {
        progress.set_message(name);
        figures.extend(measure(options)?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(figures)
}
