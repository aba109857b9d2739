// SPDX-License-Identifier: MIT OR Apache-2.0
//! `formal`: runs the proofs on the emitted Verilog and prints their table.

use anyhow::{bail, Result};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use verbena_formal::block::Designs;
use verbena_formal::proofs::{Proof, PROOFS};
use verbena_formal::run::{prove, text, Settings};
use verbena_formal::sby::Sby;
use verbena_formal::{report, run::Row};

#[derive(Parser)]
#[command(
    version,
    about = "Proofs on the emitted Verilog by SymbiYosys. Exit status: 0 all hold, 1 one fails, is open or out of time, 2 the run itself failed",
    after_help = "Examples:
  cargo run --bin formal -- --only keys
  cargo run --bin formal -- --markdown docs/formal.md
A counterexample is in target/formal/NAME/proof/engine_0/trace.vcd (GTKWave, Surfer), the log in target/formal/NAME/log.txt."
)]
struct Arguments {
    /// Only proofs whose name contains this (may be given again)
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Names and claims; proves nothing
    #[arg(long)]
    list: bool,
    /// Writes the SystemVerilog that a solver would get to standard output; proves nothing
    #[arg(long)]
    text: bool,
    /// Cycles of bounded proofs and inductions, instead of their own
    #[arg(long, value_name = "CYCLES")]
    depth: Option<usize>,
    /// Seconds after which a proof is out of time, instead of its own
    #[arg(long)]
    seconds: Option<u64>,
    /// Also writes the table's rows into this file (those of others stay), between its `formal` marks
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Prints JSON instead of a table
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("formal: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool> {
    let chosen: Vec<&Proof> = PROOFS
        .iter()
        .filter(|p| arguments.only.is_empty() || arguments.only.iter().any(|o| p.name.contains(o.as_str())))
        .collect();
    if chosen.is_empty() {
        bail!("no proof's name contains '{}': --list shows them", arguments.only.join("' or '"));
    }
    if arguments.list {
        chosen
            .iter()
            .for_each(|p| println!("{:32} {}: {}", p.name, p.block.station, p.claim));
        return Ok(true);
    }
    let mut designs = Designs::default();
    if arguments.text {
        for proof in chosen {
            print!("{}", text(proof, &mut designs, &|_| Ok(()))?.0);
        }
        return Ok(true);
    }
    let sby = Sby::find()?;
    let settings = Settings {
        depth: arguments.depth,
        seconds: arguments.seconds,
    };
    let mut rows: Vec<Row> = vec![];
    for (at, proof) in chosen.iter().enumerate() {
        eprint!("formal: {}/{} {} ... ", at + 1, chosen.len(), proof.name);
        let row = prove(proof, &mut designs, &sby, settings)?;
        eprintln!("{}, {:.0} s", report::result(&row), row.seconds);
        rows.push(row);
        // After each, so that what was found stands even if the rest is broken off.
        if let Some(file) = &arguments.markdown {
            let names: Vec<&str> = PROOFS.iter().map(|p| p.name).collect();
            report::write_between(file, "formal", &report::proofs(&rows), &names)?;
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        print!("{}", report::proofs(&rows));
    }
    let held = rows.iter().filter(|r| r.held).count();
    eprintln!(
        "formal: {held} of {} claims hold, {:.0} s",
        rows.len(),
        rows.iter().map(|r| r.seconds).sum::<f64>()
    );
    Ok(held == rows.len())
}
