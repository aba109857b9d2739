// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim fuzz`.

use super::{progress, Common};
use crate::fuzz::{run, FuzzOptions};
use anyhow::Result;
use clap::Args;

/// Throws random and mutated frames and register accesses at the engine and checks that it goes on.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hca-sim fuzz\n  hca-sim fuzz --frames 100000 --seed 42\n  hca-sim fuzz --preset cu --json")]
pub struct Fuzz {
    /// Frames to send
    #[arg(long, default_value_t = 5000)]
    frames: u64,
    /// Compare with the golden model after every frame: slow, but names the frame that makes a difference
    #[arg(long)]
    one_by_one: bool,
    /// QPs hold early requests, and good frames come out of order too
    #[arg(long)]
    reorder: bool,
}

impl Fuzz {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let options = FuzzOptions {
            preset: common.preset.clone(),
            seed: common.seed,
            frames: self.frames,
            latency: common.latency.min(20),
            one_by_one: self.one_by_one,
            reorder: self.reorder,
        };
        let bar = progress(common, self.frames).with_message("fuzz");
        let summary = run(&options, |done| bar.set_position(done))?;
        bar.finish_and_clear();
        if common.json {
            println!(
                "{}",
                serde_json::json!({ "command": "fuzz", "preset": common.preset, "seed": common.seed, "held": true, "summary": summary })
            );
        } else {
            println!(
                "the engine stood {} frames and {} register accesses in {} cycles",
                summary.frames, summary.accesses, summary.cycles
            );
            println!(
                "  {} QPs set up and destroyed, {} proofs of life, {} rounds compared {} times with the golden model, no protocol violation; preset {}, seed {}",
                summary.connections,
                summary.rounds + 1, summary.rounds, summary.compared,
                common.preset,
                common.seed
            );
            let list =
                |map: &std::collections::BTreeMap<&str, u64>| map.iter().map(|(k, v)| format!("{k} {v}")).collect::<Vec<_>>().join(", ");
            println!("  frames: {}", list(&summary.kinds));
            println!("  counters: {}", list(&summary.counters));
        }
        Ok(true)
    }
}
