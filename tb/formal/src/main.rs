// SPDX-License-Identifier: MIT OR Apache-2.0
//! `formal`: proofs on the emitted Verilog.

mod proofs;
mod sby;
mod streams;
mod wrapper;

use anyhow::{bail, Result};
use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "formal", version, about = "Proofs on the emitted Verilog by SymbiYosys", after_help = "Examples:
  cargo run --bin formal -- prove
  cargo run --bin formal -- prove --only keys --markdown docs/formal.md")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the proofs and prints their table; exit 1 when one fails or stays open that is listed as closed.
    Prove {
        /// Only proofs whose name contains this (may be given again).
        #[arg(long)]
        only: Vec<String>,
        /// Writes the table into this file, between its `formal` marks.
        #[arg(long)]
        markdown: Option<std::path::PathBuf>,
        #[arg(long)]
        json: bool,
    },
    /// Names of the proofs.
    List,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("formal: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<bool> {
    match arguments.command {
        Command::List => {
            for proof in proofs::all() {
                println!("{}: {}", proof.name, proof.claim);
            }
            Ok(true)
        }
        Command::Prove { only, markdown, json } => {
            let chosen: Vec<_> = proofs::all()
                .into_iter()
                .filter(|p| only.is_empty() || only.iter().any(|o| p.name.contains(o.as_str())))
                .collect();
            if chosen.is_empty() {
                bail!("no proof's name contains {}: `formal list` shows them", only.join(" or "));
            }
            proofs::run(&chosen, markdown.as_deref(), json)
        }
    }
}
