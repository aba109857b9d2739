// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga`: what the engine costs and how fast it is, and the boards, by open tools.

mod area;
mod cu;
mod ecp5;
mod fmax;
mod harness;
mod netlist;
mod report;
mod slowest;

use anyhow::Result;
use clap::{ArgGroup, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "fpga",
    version,
    about = "Area, clock and boards of Verbena by yosys and nextpnr",
    after_help = "Examples:
  cargo run --release --bin fpga -- area
  cargo run --release --bin fpga -- fmax --station rx --station control
  cargo run --release --bin fpga -- fmax --whole --at-least 156.25 --slowest 30
  cargo run --release --bin fpga -- fmax --preset cu --whole --seed 1,2,3
  cargo run --release --bin fpga -- build ecp5
  cargo run --bin fpga -- build cu && cargo run --bin fpga -- flash cu
  cargo run --bin fpga -- selftest --port /dev/ttyUSB1
  cargo run --bin fpga -- selftest --simulated --external
  cargo run --bin fpga -- selftest --bitstream
  cargo run --bin fpga -- netlist ecp5"
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
        /// Show as many registers that are reached last, beside the clock.
        #[arg(long, value_name = "COUNT", default_value_t = 0)]
        slowest: usize,
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
    /// Writes the last build's bitstream into a board's flash (iceprog, or openFPGALoader).
    Flash {
        board: FlashBoard,
        /// Another bitstream.
        #[arg(long)]
        file: Option<PathBuf>,
    },
    /// RDMA between two QPs of the `cu` board's engine, over its UART: by the loop inside, and by wires on its pins.
    #[command(group(ArgGroup::new("where").required(true).args(["port", "simulated", "bitstream", "bitstream_file"])))]
    Selftest {
        /// The board's second serial port, such as /dev/ttyUSB1.
        #[arg(long)]
        port: Option<String>,
        /// The RTL, Verilated.
        #[arg(long)]
        simulated: bool,
        /// The last build's bitstream, turned back into Verilog by icebox_vlog, Verilated.
        #[arg(long)]
        bitstream: bool,
        /// The same of another bitstream.
        #[arg(long, value_name = "FILE")]
        bitstream_file: Option<PathBuf>,
        /// By the pins too: mac_tx_* is wired to mac_rx_* (in simulation it is), mac_link and mac_tx_ready are high.
        #[arg(long)]
        external: bool,
        #[arg(long)]
        json: bool,
    },
    /// The system test on the netlist of engine and MAC, and with some wrong LUTs in it.
    Netlist {
        board: NetlistBoard,
        /// Only these tests of sim/tests/xgmii.rs.
        #[arg(long)]
        test: Vec<String>,
        /// So many LUTs are inverted, one at a time; the test must fail with one of them at least.
        #[arg(long, default_value_t = 4)]
        faults: usize,
        /// Which LUTs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
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
    /// Alchitry Cu: the small engine, memory on the chip, UART.
    Cu,
    /// LFE5UM5G-85F: engine, 10G MAC, memory on the chip.
    Ecp5,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FlashBoard {
    Cu,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum NetlistBoard {
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
            slowest,
            json,
        } => {
            let wanted = fmax::Wanted {
                preset,
                stations: station,
                whole,
                seeds: seed,
                at_least,
                slowest,
            };
            fmax::run(&wanted, json)
        }
        Command::Build { board, seed, json } => match board {
            Board::Cu => cu::build(&seed, json),
            Board::Ecp5 => ecp5::build(&seed, json),
        },
        Command::Report { board: Board::Cu, json } => cu::show_last(json),
        Command::Report { board: Board::Ecp5, json } => ecp5::show_last(json),
        Command::Netlist {
            board: NetlistBoard::Ecp5,
            test,
            faults,
            seed,
            json,
        } => netlist::run(&test, faults, seed, json),
        Command::Flash {
            board: FlashBoard::Cu,
            file,
        } => cu::flash(file.as_deref()),
        Command::Selftest {
            port,
            simulated,
            bitstream: _,
            bitstream_file,
            external,
            json,
        } => {
            let target = match &port {
                Some(port) => cu::Target::Port(port),
                None if simulated => cu::Target::Simulated,
                None => cu::Target::Bitstream(bitstream_file.as_deref()),
            };
            cu::selftest(&target, external, json)
        }
    }
}
