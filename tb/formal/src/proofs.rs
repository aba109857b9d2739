// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of proofs, and the table that they print.

use crate::sby::{Mode, Outcome, Sby};
use crate::streams::{streams, Stream};
use crate::wrapper::wrapper;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use verbena_hdl::top;
use verbena_hdl::verilog::Design;
use verbena_spec::config::Config;

/// One claim about one block.
pub struct Proof {
    pub name: String,
    /// What is claimed, in one line.
    pub claim: String,
    pub block: Block,
    /// The rules of its streams are claimed, too.
    pub handshakes: bool,
    /// What is added to the wrapper.
    pub added: &'static str,
    /// Payloads that names don't tell: (stream, port).
    pub extra: &'static [(&'static str, &'static str)],
    /// Streams left out, with the reason.
    pub without: &'static [(&'static str, &'static str)],
    pub mode: Mode,
    pub depth: usize,
    pub engine: &'static str,
}

/// Where a block comes from.
pub enum Block {
    /// A station of a preset.
    Station(&'static str, &'static str),
    /// Built here.
    Built(fn() -> Result<Design>),
}

/// A row of the table.
#[derive(Serialize)]
pub struct Row {
    pub name: String,
    pub claim: String,
    pub method: String,
    pub outcome: Outcome,
    pub assertions: usize,
    pub seconds: u64,
    pub failed: Vec<String>,
}

const SECONDS: u64 = 600;

pub fn all() -> Vec<Proof> {
    STATIONS.iter().map(handshake).collect()
}

/// Stations whose streams are proved.
struct Station {
    preset: &'static str,
    name: &'static str,
    mode: Mode,
    depth: usize,
    extra: &'static [(&'static str, &'static str)],
    without: &'static [(&'static str, &'static str)],
    added: &'static str,
}

const fn station(name: &'static str) -> Station {
    Station {
        preset: "tengig",
        name,
        mode: Mode::Induction,
        depth: 4,
        extra: &[],
        without: &[],
        added: "",
    }
}

const STATIONS: &[Station] = &[
    station("rx"),
    station("control"),
    station("keys"),
    station("dma_writer"),
    station("write_arbiter"),
    station("descriptor_reader"),
    station("retire"),
    station("read_responder"),
    station("complete"),
    station("queues"),
    station("registers"),
    station("counters"),
    station("dma_reader"),
    station("tx"),
    station("send"),
];

fn handshake(s: &Station) -> Proof {
    Proof {
        name: format!("{}-{}-handshakes", s.preset, s.name),
        claim: format!("{}: each stream's offer stands until it is taken, none in reset", s.name),
        block: Block::Station(s.preset, s.name),
        handshakes: true,
        added: s.added,
        extra: s.extra,
        without: s.without,
        mode: s.mode,
        depth: s.depth,
        engine: "smtbmc z3",
    }
}

/// Runs the proofs in turn; true when all are proved.
pub fn run(proofs: &[Proof], markdown: Option<&Path>, json: bool) -> Result<bool> {
    let sby = Sby::find()?;
    let mut stations: BTreeMap<&str, BTreeMap<String, Design>> = BTreeMap::new();
    let mut rows = vec![];
    for proof in proofs {
        let design = match proof.block {
            Block::Built(build) => build()?,
            Block::Station(preset, name) => {
                if !stations.contains_key(preset) {
                    stations.insert(preset, top::designs(&Config::preset(preset)?)?.into_iter().collect());
                }
                stations[preset].get(name).with_context(|| format!("{}: no station '{name}'", proof.name))?.clone()
            }
        };
        let chosen: Vec<Stream> = if proof.handshakes {
            streams(&design.ports, proof.extra)
                .into_iter()
                .filter(|s| !proof.without.iter().any(|(name, _)| *name == s.name()))
                .collect()
        } else {
            vec![]
        };
        let text = format!("{}\n{}", design.to_single_text(), wrapper(&design, &chosen, proof.added));
        eprint!("formal: {} ... ", proof.name);
        let run = sby.run(&proof.name, &text, proof.mode, proof.depth, proof.engine, SECONDS)?;
        eprintln!("{:?}, {} s {}", run.outcome, run.seconds, run.failed.join(" "));
        rows.push(Row {
            name: proof.name.clone(),
            claim: proof.claim.clone(),
            method: match proof.mode {
                Mode::Induction => format!("induction, k = {}", proof.depth),
                Mode::Bounded => format!("{} cycles", proof.depth),
            },
            outcome: run.outcome,
            assertions: text.matches(": assert").count(),
            seconds: run.seconds,
            failed: run.failed,
        });
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        print!("{}", table(&rows));
    }
    if let Some(file) = markdown {
        write_between(file, &table(&rows))?;
    }
    Ok(rows.iter().all(|r| r.outcome == Outcome::Proved))
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| proof | claim | method | assertions | result |\n|---|---|---|---|---|\n");
    for row in rows {
        let outcome = match row.outcome {
            Outcome::Proved => "proved".to_string(),
            Outcome::Failed => format!("**fails**: {}", row.failed.join(", ")),
            Outcome::Open => "open".to_string(),
        };
        text += &format!("| {} | {} | {} | {} | {outcome} |\n", row.name, row.claim, row.method, row.assertions);
    }
    text
}

const BEGIN: &str = "<!-- formal begin -->\n";
const END: &str = "<!-- formal end -->";

fn write_between(file: &Path, table: &str) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let (before, rest) = text.split_once(BEGIN).with_context(|| format!("{}: no line '{}'", file.display(), BEGIN.trim()))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("{}: no line '{END}'", file.display()))?;
    std::fs::write(file, format!("{before}{BEGIN}{table}{END}{after}")).with_context(|| format!("cannot write {}", file.display()))
}
