// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim bench`.

use super::{progress, Common};
use crate::bench::{markdown, print, run, sweep, BenchOptions, Figure};
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use verbena_spec::config::Config;

/// Measures the gates in cycles.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim bench --preset tengig\n  hca-sim bench --all --markdown docs/performance.md\n  hca-sim bench --only doorbell\n  hca-sim bench --sweep docs/performance\n  hca-sim bench --sweep /tmp/all --full   (hours)"
)]
pub struct Bench {
    /// Both presets
    #[arg(long)]
    all: bool,
    /// Fewer packets
    #[arg(long)]
    quick: bool,
    /// Only measurements with this in their name: line rate, small packets, latency, doorbell, messages, goodput, many QPs, simulation speed
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Instead of the gates: goodput, rate and latency over size, verb, PMTU, QPs, direction and loss; JSON, Markdown and SVG into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["all", "only", "markdown"])]
    sweep: Option<PathBuf>,
    /// With --sweep: the product of all factors, not one at a time
    #[arg(long, requires = "sweep")]
    full: bool,
    /// Write the table as a Markdown page
    #[arg(long, value_name = "PATH")]
    markdown: Option<PathBuf>,
}

impl Bench {
    pub fn run(&self, common: &Common) -> Result<bool> {
        if let Some(folder) = &self.sweep {
            return self.sweep(common, folder);
        }
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

    /// Nothing that arrived wrong, and nothing that a loss doesn't explain.
    fn sweep(&self, common: &Common, folder: &Path) -> Result<bool> {
        let config = Config::preset(&common.preset)?;
        let options = sweep::SweepOptions {
            preset: common.preset.clone(),
            seed: common.seed,
            latency: common.latency,
            quick: self.quick,
        };
        std::fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let cases = sweep::cases(&config, self.full);
        let points = sweep::run(&options, &cases, &progress(common, 0))?;
        let json = sweep::json(&options, &points);
        let page = sweep::markdown(&options, &config, &points, self.full);
        let mut files = vec![("sweep.json", format!("{json:#}\n")), ("sweep.md", page)];
        files.extend(sweep::plots(&points)?);
        for (name, text) in &files {
            let path = folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        }
        let calm = points.iter().filter(|p| p.loss == 0.0);
        let held = calm.clone().all(|p| (p.dropped, p.rewinds) == (0, 0));
        if common.json {
            println!("{json}");
        } else {
            for p in &points {
                println!(
                    "{:<6} {:>8} B, PMTU {:>4}, {:>3} QPs, {} ways, loss {:.1} %: {:>6.2} Gb/s, {:>6.2} % of the ceiling, {:>7.3} M/s, {} dropped, {} rewinds",
                    p.verb,
                    p.bytes,
                    p.pmtu,
                    p.qps,
                    if p.both { "both" } else { "one" },
                    100.0 * p.loss,
                    p.goodput,
                    100.0 * p.share(),
                    p.rate,
                    p.dropped,
                    p.rewinds
                );
            }
            println!(
                "seed {}; {} points, {} files in {}; {}",
                common.seed,
                points.len(),
                files.len(),
                folder.display(),
                if held {
                    "all data right, nothing dropped on a good wire"
                } else {
                    "frames were DROPPED on a good wire"
                }
            );
        }
        Ok(held)
    }
}
