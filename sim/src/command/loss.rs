// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim loss`.

use super::{progress, Common};
use crate::loss::{markdown, print, run, svg, LossOptions, Machines, Point};
use crate::world::Route;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Measures what loss and reordering cost: selective repeat beside go-back-N, 64 KiB messages at PMTU 1024 on a 10 us round trip.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim loss\n  hca-sim loss --engine verilated --verb write --messages 64\n  hca-sim loss --markdown docs/loss.md --svg docs/loss.svg\n\nEach scheme's QP attributes are printed. Exit status 1: a gate was missed, or bytes were wrong."
)]
pub struct Loss {
    /// Machines to run
    #[arg(long, value_enum, default_value_t = Engine::Golden)]
    engine: Engine,
    /// How the bytes go; all three unless given
    #[arg(long, value_enum)]
    verb: Vec<Verb>,
    /// Messages of each run [default: 512, Verilated engines 96]
    #[arg(long, value_parser = clap::value_parser!(u16).range(2..=4096))]
    messages: Option<u16>,
    /// Only schemes whose names contain this
    #[arg(long, value_name = "TEXT")]
    scheme: Option<String>,
    /// Only wires whose names contain this; the good one always
    #[arg(long, value_name = "TEXT")]
    wire: Option<String>,
    /// PSNs outstanding at most with selective repeat, instead of what the host library chooses
    #[arg(long, value_name = "PSNS", value_parser = clap::value_parser!(u8).range(4..=64))]
    window: Option<u8>,
    /// Round trip without the frames' own time, us; with another one than 10 no gate counts
    #[arg(long, value_name = "US", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=1000))]
    round_trip: u16,
    /// Write what every frame does at both ends, with its time (Verilated engines)
    #[arg(long, value_name = "PATH")]
    timeline: Option<PathBuf>,
    /// Write the table as a Markdown page
    #[arg(long, value_name = "PATH")]
    markdown: Option<PathBuf>,
    /// Write the plot
    #[arg(long, value_name = "PATH")]
    svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Two golden models behind the host library
    Golden,
    /// Two of the engine itself
    Verilated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Verb {
    Write,
    Send,
    Read,
}

impl Verb {
    fn route(self) -> Route {
        match self {
            Verb::Write => Route::Write,
            Verb::Send => Route::Send,
            Verb::Read => Route::Read,
        }
    }
}

impl Loss {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let (machines, messages) = match self.engine {
            Engine::Golden => (Machines::Golden, 512),
            Engine::Verilated => (Machines::Verilated, 96),
        };
        let verbs: &[Verb] = if self.verb.is_empty() {
            &[Verb::Write, Verb::Send, Verb::Read]
        } else {
            &self.verb
        };
        let options = LossOptions {
            machines,
            preset: common.preset.clone(),
            seed: common.seed,
            memory_latency: common.latency,
            routes: verbs.iter().map(|v| v.route()).collect(),
            messages: self.messages.map_or(messages, usize::from),
            scheme: self.scheme.clone(),
            wire: self.wire.clone(),
            window: self.window,
            round_trip: u64::from(self.round_trip) * 1000,
            timeline: self.timeline.clone(),
        };
        let runs = run(&options, &progress(common, 0))?;
        let held = runs.points.iter().all(Point::holds);
        if let Some(path) = &self.svg {
            std::fs::write(path, svg(&runs)?).with_context(|| format!("writing {}", path.display()))?;
        }
        if let Some(path) = &self.markdown {
            let plot = self.svg.as_ref().and_then(|p| p.file_name()).and_then(|n| n.to_str());
            std::fs::write(path, markdown(&runs, &options, plot)).with_context(|| format!("writing {}", path.display()))?;
        }
        if common.json {
            println!(
                "{}",
                serde_json::json!({ "command": "loss", "seed": common.seed, "held": held, "engine": machines, "messages": options.messages, "left_out": runs.left_out, "runs": runs.points })
            );
        } else {
            print(&runs, &options);
            println!(
                "\nseed {}; {}",
                common.seed,
                if held { "every gate held" } else { "a gate was MISSED" }
            );
        }
        Ok(held)
    }
}
