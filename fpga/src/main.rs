// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga`: what the engine costs and how fast it is, by open tools.

mod area;
mod fmax;
mod harness;
mod report;
mod tools;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "fpga",
    version,
    about = "Area and clock of Verbena by yosys and nextpnr",
    after_help = "Examples:
  cargo run --release --bin fpga -- area
  cargo run --release --bin fpga -- fmax --station rx --station control
  cargo run --release --bin fpga -- fmax --whole"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Cells and RAM blocks per station: `cu` by synth_ice40, `tengig` by synth_ecp5.
    Area {
        /// Only this preset.
        #[arg(long)]
        preset: Option<String>,
        /// Only these stations (the whole engine is `whole`).
        #[arg(long)]
        station: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Fmax of each station of `tengig` alone in an LFE5UM5G-85F, speed grade 8, by nextpnr-ecp5.
    Fmax {
        /// Only these stations.
        #[arg(long)]
        station: Vec<String>,
        /// The whole engine instead (takes long).
        #[arg(long)]
        whole: bool,
        /// Placement seed.
        #[arg(long, default_value_t = 1)]
        seed: u32,
        /// Fail under this, MHz.
        #[arg(long, default_value_t = 200.0)]
        at_least: f64,
        #[arg(long)]
        json: bool,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("fpga: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: Arguments) -> Result<bool> {
    match arguments.command {
        Command::Area { preset, station, json } => area::run(preset.as_deref(), &station, json),
        Command::Fmax {
            station,
            whole,
            seed,
            at_least,
            json,
        } => fmax::run(&station, whole, seed, at_least, json),
    }
}
