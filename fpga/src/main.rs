// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga`: what the engine costs and how fast it is, and the boards, by open tools.

mod area;
mod ecp5;
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
    about = "Area, clock and boards of Verbena by yosys and nextpnr",
    after_help = "Examples:
  cargo run --release --bin fpga -- area
  cargo run --release --bin fpga -- fmax --station rx --station control
  cargo run --release --bin fpga -- fmax --whole
  cargo run --release --bin fpga -- fmax --preset cu --whole --seed 1,2,3
  cargo run --release --bin fpga -- build ecp5"
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
    /// Fmax of each station alone: `tengig` in an LFE5UM5G-85F, speed grade 8, by nextpnr-ecp5; `cu` in an iCE40 HX8K by nextpnr-ice40.
    Fmax {
        #[arg(long, default_value = "tengig")]
        preset: String,
        /// Only these stations.
        #[arg(long)]
        station: Vec<String>,
        /// The whole engine instead (takes long).
        #[arg(long)]
        whole: bool,
        /// Placement seeds.
        #[arg(long, value_delimiter = ',', default_values_t = [1])]
        seed: Vec<u32>,
        /// Fail under this, MHz; without it 200 for `tengig`, 50 for `cu`.
        #[arg(long)]
        at_least: Option<f64>,
        #[arg(long)]
        json: bool,
    },
    /// Bitstream of a board, with utilisation and clock of several placements.
    Build {
        board: Board,
        /// Placement seeds.
        #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3])]
        seed: Vec<u32>,
        #[arg(long)]
        json: bool,
    },
    /// The report of the last build.
    Report {
        #[arg(default_value = "ecp5")]
        board: Board,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Board {
    /// LFE5UM5G-85F: engine, 10G MAC, memory on the chip.
    Ecp5,
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
            preset,
            station,
            whole,
            seed,
            at_least,
            json,
        } => fmax::run(&preset, &station, whole, &seed, at_least, json),
        Command::Build {
            board: Board::Ecp5,
            seed,
            json,
        } => ecp5::build(&seed, json),
        Command::Report { board: Board::Ecp5, json } => ecp5::show_last(json),
    }
}
