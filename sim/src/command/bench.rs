// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim bench`.

use super::{progress, Common};
use crate::bench::{markdown, print, run, BenchOptions, Figure};
use anyhow::{Context, Result};
use clap::Args;
use std::path::PathBuf;

/// Measures the gates in cycles.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim bench --preset tengig\n  hca-sim bench --all --markdown docs/performance.md\n  hca-sim bench --only doorbell"
)]
pub struct Bench {
    /// Both presets
    #[arg(long)]
    all: bool,
    /// Fewer packets
    #[arg(long)]
    quick: bool,
    /// Only measurements with this in their name: line rate, small packets, latency, doorbell, messages, goodput, simulation speed
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Write the table as a Markdown page
    #[arg(long, value_name = "PATH")]
    markdown: Option<PathBuf>,
}

impl Bench {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let presets = if self.all {
            verbena_spec::config::names()
        } else {
            vec![common.preset.as_str()]
        };
        let options: Vec<BenchOptions> = presets
            .iter()
            .map(|p| BenchOptions {
                preset: p.to_string(),
                seed: common.seed,
                latency: common.latency,
                quick: self.quick,
                only: self.only.clone(),
            })
            .collect();
        let mut figures: Vec<Figure> = Vec::new();
        for preset in &options {
            figures.extend(run(preset, &progress(common, 0)).with_context(|| format!("preset {}", preset.preset))?);
        }
        let held = figures.iter().all(Figure::passes);
        if let Some(path) = &self.markdown {
            std::fs::write(path, markdown(&figures, &options)).with_context(|| format!("writing {}", path.display()))?;
        }
        if common.json {
            println!(
                "{}",
                serde_json::json!({ "command": "bench", "seed": common.seed, "held": held, "figures": figures })
            );
        } else {
            print(&figures);
            println!(
                "seed {}; {}",
                common.seed,
                if held { "every gate held" } else { "a gate was MISSED" }
            );
        }
        Ok(held)
    }
}
