// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga build cu`: the Alchitry Cu by yosys, nextpnr-ice40 and icepack, for several placement seeds; a report in Markdown and JSON. `flash cu`, `selftest`.
//!
//! ```text
//! verbena_designs ─► core.v ──┐
//! rust-hdl's PLL ► pll.v ─────┼─► yosys ─► cu.json ─► nextpnr (each seed, constraints/cu) ─► icepack ─► cu.bin, of the fastest
//! fpga/rtl/cu_top.v ──────────┘
//! ```

use crate::{area, report};
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use verbena_fpga::board::selftest::{self, Options, Report};
use verbena_fpga::board::{SerialLine, SimulatedLine};
use verbena_fpga::{cu_netlist, tools};
use verbena_spec::config::Config;

/// MHz of the engine.
const CLOCK: f64 = 50.0;
/// Logic cells and RAM blocks: the whole, and the shell beside engine and memory.
const ROOM: [usize; 2] = [7_100, 31];
const SHELL_ROOM: [usize; 2] = [700, 1];
/// Stations whose sizes are told apart.
const ENGINE: &str = verbena_designs::WHOLE;
const MEMORY: &str = "small_ram";

/// One placement.
#[derive(Serialize, Deserialize)]
struct Placement {
    seed: u32,
    /// Of the engine's clock, and of the receive pins'.
    mhz: f64,
    rx_mhz: f64,
    seconds: u64,
}

/// All of a build.
#[derive(Serialize, Deserialize)]
struct Built {
    part: String,
    /// Logic cells and RAM blocks after packing, and those of the part.
    cells: [usize; 2],
    ram_blocks: [usize; 2],
    /// Cells and RAM blocks of engine and memory, each alone.
    engine: [usize; 2],
    memory: [usize; 2],
    placements: Vec<Placement>,
    bitstream: Option<PathBuf>,
}

impl Built {
    /// What is beside engine and memory.
    fn shell(&self) -> [usize; 2] {
        [
            self.cells[0].saturating_sub(self.engine[0] + self.memory[0]),
            self.ram_blocks[0].saturating_sub(self.engine[1] + self.memory[1]),
        ]
    }
}

/// Builds; true if clock and room hold.
pub fn build(seeds: &[u32], json: bool) -> Result<bool> {
    if seeds.is_empty() {
        bail!("--seed: at least one");
    }
    let folder = tools::folder("cu")?;
    let config = Config::preset("cu")?;
    let start = Instant::now();
    eprintln!("fpga: cu: printing the core");
    std::fs::write(folder.join("core.v"), cu_netlist::core()?)?;
    std::fs::write(folder.join("pll.v"), cu_netlist::pll()?)?;
    std::fs::write(folder.join("cells.v"), cu_netlist::CELL_PINS)?;
    std::fs::write(folder.join("top.v"), cu_netlist::TOP)?;
    std::fs::write(folder.join("pins.pcf"), cu_netlist::PINS)?;
    let script = "read_verilog core.v pll.v cells.v top.v; synth_ice40 -top top -json cu.json";
    tools::YOSYS.run_watched(&folder, &["-p".into(), script.into()], "cu: yosys")?;
    let size = |name: &str| -> Result<[usize; 2]> {
        eprintln!("fpga: cu: {name} alone, for its size");
        area::cells_and_ram(&config, name)
    };
    let mut built = Built {
        part: "iCE40-HX8K-CB132".into(),
        cells: [0; 2],
        ram_blocks: [0; 2],
        engine: size(ENGINE)?,
        memory: size(MEMORY)?,
        placements: vec![],
        bitstream: None,
    };
    for seed in seeds {
        let placement = place(&folder, *seed, &mut built)?;
        eprintln!("fpga: cu: seed {seed}: {:.1} MHz after {} s", placement.mhz, placement.seconds);
        built.placements.push(placement);
        save(&folder, &built)?;
    }
    let best = built.placements.iter().max_by(|a, b| a.mhz.total_cmp(&b.mhz)).map(|p| p.seed);
    if let Some(seed) = best {
        tools::ICEPACK.run(&folder, &[format!("cu-{seed}.asc"), "cu.bin".into()])?;
        built.bitstream = Some(folder.join("cu.bin"));
    }
    save(&folder, &built)?;
    eprintln!("fpga: cu: done in {} s", start.elapsed().as_secs());
    show(&built, json)?;
    Ok(holds(&built))
}

/// Prints the report of the last build.
pub fn show_last(json: bool) -> Result<bool> {
    let path = tools::folder("cu")?.join("report.json");
    let text = std::fs::read_to_string(&path).map_err(|_| anyhow::anyhow!("no build of cu yet: cargo run --bin fpga -- build cu"))?;
    let built: Built = serde_json::from_str(&text).with_context(|| format!("{} is not a report: build again", path.display()))?;
    show(&built, json)?;
    Ok(holds(&built))
}

fn place(folder: &Path, seed: u32, built: &mut Built) -> Result<Placement> {
    let start = Instant::now();
    let (report_name, asc_name, seed_text) = (format!("cu-{seed}.report.json"), format!("cu-{seed}.asc"), seed.to_string());
    let frequency = CLOCK.to_string();
    let arguments = [
        "--hx8k",
        "--package",
        "cb132",
        "--json",
        "cu.json",
        "--pcf",
        "pins.pcf",
        "--asc",
        &asc_name,
        "--report",
        &report_name,
        "--freq",
        &frequency,
        "--seed",
        &seed_text,
        "--timing-allow-fail",
    ];
    tools::NEXTPNR_ICE40.run_watched(folder, &arguments.map(String::from), &format!("cu: nextpnr, seed {seed}"))?;
    let path = folder.join(&report_name);
    let text = std::fs::read_to_string(&path).with_context(|| format!("nextpnr-ice40 wrote no {}", path.display()))?;
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let used = |kind: &str| -> [usize; 2] {
        let cells = &value["utilization"][kind];
        ["used", "available"].map(|name| cells[name].as_u64().unwrap_or_default() as usize)
    };
    (built.cells, built.ram_blocks) = (used("ICESTORM_LC"), used("ICESTORM_RAM"));
    let clocks = value["fmax"].as_object().context("no clock in nextpnr's report")?;
    let slowest = |of_pins: bool| {
        let of = clocks.iter().filter(|(name, _)| name.contains("rx_clk") == of_pins);
        of.filter_map(|(_, c)| c["achieved"].as_f64()).fold(f64::INFINITY, f64::min)
    };
    Ok(Placement {
        seed,
        mhz: slowest(false),
        rx_mhz: slowest(true),
        seconds: start.elapsed().as_secs(),
    })
}

fn holds(built: &Built) -> bool {
    let mut held = !built.placements.is_empty();
    for placement in built.placements.iter().filter(|p| p.mhz.min(p.rx_mhz) < CLOCK) {
        eprintln!("fpga: cu: seed {}: under {CLOCK} MHz", placement.seed);
        held = false;
    }
    let whole = [built.cells[0], built.ram_blocks[0]];
    for (what, size, room) in [("the whole", whole, ROOM), ("the shell", built.shell(), SHELL_ROOM)] {
        if size[0] > room[0] || size[1] > room[1] {
            eprintln!(
                "fpga: cu: {what} has {} cells and {} RAM blocks, more than {} and {}",
                size[0], size[1], room[0], room[1]
            );
            held = false;
        }
    }
    held
}

fn save(folder: &Path, built: &Built) -> Result<()> {
    std::fs::write(folder.join("report.json"), serde_json::to_string_pretty(built)?)?;
    std::fs::write(folder.join("report.md"), markdown(built))?;
    Ok(())
}

fn show(built: &Built, json: bool) -> Result<()> {
    if json {
        println!("{}", serde_json::to_string_pretty(built)?);
    } else {
        println!("{}", markdown(built));
    }
    Ok(())
}

fn markdown(built: &Built) -> String {
    let mut text = format!("# cu\n\nEngine `cu`, 4 KiB of memory, UART and MAC side in an {}.\n\n", built.part);
    let row = |name: &str, size: [usize; 2], room: [usize; 2]| {
        let of = |n: usize, room: usize| if room == 0 { n.to_string() } else { format!("{n} of {room}") };
        vec![name.to_string(), of(size[0], room[0]), of(size[1], room[1])]
    };
    let rows = [
        row("whole", [built.cells[0], built.ram_blocks[0]], ROOM),
        row("engine, alone", built.engine, [0; 2]),
        row("memory, alone", built.memory, [0; 2]),
        row("shell: the rest", built.shell(), SHELL_ROOM),
        row("the part", [built.cells[1], built.ram_blocks[1]], [0; 2]),
    ];
    text.push_str(&report::markdown(&["", "logic cells", "RAM blocks"], &rows));
    text.push('\n');
    let rows: Vec<Vec<String>> = built
        .placements
        .iter()
        .map(|p| {
            let held = if p.mhz.min(p.rx_mhz) >= CLOCK { "yes" } else { "no" };
            vec![
                p.seed.to_string(),
                format!("{:.1}", p.mhz),
                format!("{:.1}", p.rx_mhz),
                held.into(),
                p.seconds.to_string(),
            ]
        })
        .collect();
    text.push_str(&report::markdown(
        &["seed", "engine, MHz", "receive pins, MHz", "50 MHz held", "s"],
        &rows,
    ));
    if let Some(bitstream) = &built.bitstream {
        let _ = writeln!(text, "\nBitstream of the fastest: {}", bitstream.display());
    }
    text
}

/// The bitstream of the last build, or another.
fn bitstream(other: Option<&Path>) -> Result<PathBuf> {
    let path = match other {
        Some(path) => path.to_path_buf(),
        None => tools::folder("cu")?.join("cu.bin"),
    };
    if !path.is_file() {
        bail!("no bitstream {}: cargo run --bin fpga -- build cu", path.display());
    }
    Ok(path)
}

/// Writes the bitstream into the board's flash.
pub fn flash(other: Option<&Path>) -> Result<bool> {
    let path = bitstream(other)?;
    let file = path.display().to_string();
    // The Cu has no entry of its own in older openFPGALoaders: an iCE40 behind an FT2232.
    let open_fpga_loader = ["-b", "ice40_generic", "-f", &file].map(String::from);
    let tries: [(&str, Vec<String>); 2] = [("iceprog", vec![file.clone()]), ("openFPGALoader", open_fpga_loader.to_vec())];
    let search = std::env::var_os("PATH").unwrap_or_default();
    let there = |name: &str| std::env::split_paths(&search).any(|p| p.join(name).is_file());
    let Some((tool, arguments)) = tries.iter().find(|(name, _)| there(name)) else {
        bail!("neither iceprog nor openFPGALoader is here: apt-get install fpga-icestorm, or apt-get install openfpgaloader");
    };
    eprintln!("fpga: cu: {tool} {}", arguments.join(" "));
    let status = Command::new(tool)
        .args(arguments)
        .status()
        .with_context(|| format!("cannot run {tool}"))?;
    if !status.success() {
        bail!("{tool} failed ({status}). Is the board plugged in (lsusb shows 0403:6010), and may you use it (a udev rule for 0403:6010, or root)?");
    }
    eprintln!("fpga: cu: flashed; the board starts it by itself. Next: cargo run --bin fpga -- selftest --port /dev/ttyUSB1");
    Ok(true)
}

/// Where a self test runs.
pub enum Target<'a> {
    Port(&'a str),
    /// The RTL, Verilated.
    Simulated,
    /// A bitstream turned back into Verilog, Verilated.
    Bitstream(Option<&'a Path>),
}

/// The self test; true if it held.
pub fn selftest(target: &Target, external: bool, json: bool) -> Result<bool> {
    let options = Options { external };
    let start = Instant::now();
    let say = |step: &selftest::Step| {
        eprintln!(
            "fpga: {:32} {} {}",
            step.name,
            if step.held { "ok    " } else { "FAILED" },
            step.seen
        )
    };
    let report = match target {
        Target::Port(path) => selftest::run(SerialLine::open(path)?, &options, say),
        Target::Simulated => {
            eprintln!("fpga: cu: building the RTL's model");
            selftest::run(simulated(cu_netlist::rtl_model()?)?, &options, say)
        }
        Target::Bitstream(path) => {
            let path = bitstream(*path)?;
            eprintln!("fpga: cu: turning {} back into Verilog, and building its model", path.display());
            selftest::run(
                simulated(cu_netlist::bitstream_model(&path, &tools::folder("cu")?)?)?,
                &options,
                say,
            )
        }
    };
    finish(&report, start, json)
}

fn simulated(model: verbena_tb::verilated::Model) -> Result<SimulatedLine> {
    let mut line = SimulatedLine::new(model, cu_netlist::bench_ports())?;
    line.set("mac_link", 1)?;
    line.set("mac_tx_ready", 1)?;
    line.run(selftest::RESET_CYCLES);
    Ok(line)
}

fn finish(report: &Report, start: Instant, json: bool) -> Result<bool> {
    if json {
        println!("{}", serde_json::to_string_pretty(report)?);
    } else {
        let rows: Vec<Vec<String>> = report
            .steps
            .iter()
            .map(|s| vec![s.name.clone(), if s.held { "ok" } else { "FAILED" }.into(), s.seen.clone()])
            .collect();
        report::table(&["step", "", "seen"], &rows);
        println!(
            "\n{}: {} requests by UART, {} attempts without answer, {} s",
            if report.held() { "held" } else { "FAILED" },
            report.requests,
            report.retries,
            start.elapsed().as_secs()
        );
    }
    Ok(report.held())
}
