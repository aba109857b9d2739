// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mutants`: deliberate faults of one line in the emitted Verilog, each of which a named proof or test must catch.

use anyhow::{bail, Result};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use verbena_formal::mutants::{Mutant, MUTANTS};
use verbena_formal::mutation::Runner;
use verbena_formal::report;

#[derive(Parser)]
#[command(
    version,
    about = "Deliberate faults in the emitted Verilog, each caught by a named proof or test. Exit status: 0 all are caught, 1 one survives, 2 the run itself failed",
    after_help = "Examples:
  cargo run --bin mutants -- --only fifo
  cargo run --bin mutants -- --markdown docs/formal.md
A counterexample is in target/formal/mutants/NAME/proof/engine_0/trace.vcd."
)]
struct Arguments {
    /// Only mutants whose name contains this (may be given again)
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Names and faults; runs nothing
    #[arg(long)]
    list: bool,
    /// Also writes the table's rows into this file (those of others stay), between its `mutants` marks
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
            eprintln!("mutants: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool> {
    let chosen: Vec<&Mutant> = MUTANTS
        .iter()
        .filter(|m| arguments.only.is_empty() || arguments.only.iter().any(|o| m.name.contains(o.as_str())))
        .collect();
    if chosen.is_empty() {
        bail!("no mutant's name contains '{}': --list shows them", arguments.only.join("' or '"));
    }
    if arguments.list {
        chosen.iter().for_each(|m| println!("{:32} {}: {}", m.name, m.module, m.fault));
        return Ok(true);
    }
    let mut runner = Runner::new()?;
    let mut rows = vec![];
    for (at, mutant) in chosen.iter().enumerate() {
        eprint!("mutants: {}/{} {} ... ", at + 1, chosen.len(), mutant.name);
        let row = runner.run(mutant)?;
        eprintln!(
            "{}: {}, {:.0} s",
            if row.caught { "caught" } else { "SURVIVES" },
            row.how,
            row.seconds
        );
        rows.push(row);
        // After each, so that what was found stands even if the rest is broken off.
        if let Some(file) = &arguments.markdown {
            let names: Vec<&str> = MUTANTS.iter().map(|p| p.name).collect();
            report::write_between(file, "mutants", &report::mutants(&rows), &names)?;
        }
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    } else {
        print!("{}", report::mutants(&rows));
    }
    let caught = rows.iter().filter(|r| r.caught).count();
    eprintln!(
        "mutants: {caught} of {} caught, {:.0} s",
        rows.len(),
        rows.iter().map(|r| r.seconds).sum::<f64>()
    );
    Ok(caught == rows.len())
}
