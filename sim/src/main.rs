// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim`: the Verilated engine on the command line.

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use verbena_sim::command::{
    bench::Bench,
    chaos::Chaos,
    demo::Demo,
    fuzz::Fuzz,
    interop::Interop,
    loss::Loss,
    probe::ProbeCommand,
    programs::{Perftest, Pingpong, Rping, Ucmatose},
    replay::Replay,
    serve::Serve,
    Common,
};
use verbena_sim::held::NotHeld;

/// The Verbena engine, Verilated, with memory, a wire and the host library around it.
#[derive(Parser)]
#[command(
    version,
    after_help = "Exit status: 0 everything held, 1 something did not, 2 it could not be run.\n\nExamples:\n  hca-sim demo --pmtu 4096 --pcap demo.pcap\n  hca-sim bench --markdown docs/performance.md\n  hca-sim chaos --seeds 0..200\n  hca-sim fuzz --frames 20000 --seed 42"
)]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(Demo),
    Replay(Replay),
    Bench(Bench),
    Fuzz(Fuzz),
    Chaos(Chaos),
    Serve(Serve),
    Probe(ProbeCommand),
    Interop(Interop),
    Loss(Loss),
    Pingpong(Pingpong),
    Perftest(Perftest),
    Rping(Rping),
    Ucmatose(Ucmatose),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let held = match &cli.command {
        Command::Demo(demo) => demo.run(&cli.common),
        Command::Replay(replay) => replay.run(&cli.common),
        Command::Bench(bench) => bench.run(&cli.common),
        Command::Fuzz(fuzz) => fuzz.run(&cli.common),
        Command::Chaos(chaos) => chaos.run(&cli.common),
        Command::Serve(serve) => serve.run(&cli.common),
        Command::Probe(probe) => probe.run(&cli.common),
        Command::Interop(interop) => interop.run(&cli.common),
        Command::Loss(loss) => loss.run(&cli.common),
        Command::Pingpong(pingpong) => pingpong.run(&cli.common),
        Command::Perftest(perftest) => perftest.run(&cli.common),
        Command::Rping(rping) => rping.run(&cli.common),
        Command::Ucmatose(ucmatose) => ucmatose.run(&cli.common),
    };
    match held {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("hca-sim: {error:#} (seed {})", cli.common.seed);
            ExitCode::from(if error.downcast_ref::<NotHeld>().is_some() { 1 } else { 2 })
        }
    }
}
