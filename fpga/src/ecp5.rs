// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fpga build ecp5`: the `ecp5` board by yosys, nextpnr-ecp5 and ecppack, for several placement seeds; a report in Markdown and JSON.
//!
//! ```text
//! verbena_designs ─► core.v ─┐
//! fpga/rtl/ecp5_top.v ───────┴─► yosys ─► ecp5.json ─► nextpnr (each seed, constraints/ecp5) ─► ecppack ─► ecp5.bit
//! ```

use crate::{area, report};
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use verbena_fpga::tools;
use verbena_spec::config::Config;

/// MHz: 64 bits at 10 Gb/s.
const CLOCK: f64 = 156.25;
/// LUT4, MAC included.
const ROOM: usize = 45_000;
/// Critical paths that the report keeps.
const PATHS: usize = 3;
const TOP: &str = include_str!("../rtl/ecp5_top.v");
const PINS: &str = include_str!("../../constraints/ecp5/lfe5um5g-85f-evn.lpf");

/// One placement.
#[derive(Serialize, Deserialize)]
struct Placement {
    seed: u32,
    mhz: f64,
    seconds: u64,
    /// From, to, ns, and how much of it is routing.
    paths: Vec<CriticalPath>,
}

#[derive(Serialize, Deserialize)]
struct CriticalPath {
    from: String,
    to: String,
    ns: f64,
    routing_ns: f64,
    steps: usize,
}

/// All of a build.
#[derive(Serialize, Deserialize)]
struct Built {
    part: String,
    lut4: usize,
    flip_flops: usize,
    ram_blocks: usize,
    /// Slices' LUT4 after packing, used and there.
    packed: [usize; 2],
    placements: Vec<Placement>,
    bitstream: Option<String>,
}

/// Builds; true if clock and room hold.
pub fn build(seeds: &[u32], json: bool) -> Result<bool> {
    if seeds.is_empty() {
        bail!("--seed: at least one");
    }
    let folder = tools::folder("ecp5")?;
    let config = Config::preset("tengig")?;
    let start = Instant::now();
    eprintln!("fpga: ecp5: printing the core");
    let design = verbena_designs::emit_ecp5(&config)?;
    std::fs::write(folder.join("core.v"), design.to_single_text())?;
    std::fs::write(folder.join("top.v"), TOP)?;
    std::fs::write(folder.join("pins.lpf"), PINS)?;
    let script = "read_verilog core.v top.v; synth_ecp5 -top top -json ecp5.json; tee -o stat.txt stat";
    tools::YOSYS.run_watched(&folder, &["-p".into(), script.into()], "ecp5: yosys")?;
    let stat = std::fs::read_to_string(folder.join("stat.txt"))?;
    let cells = area::ecp5_cells(&stat);
    let mut built = Built {
        part: "LFE5UM5G-85F, speed grade 8, CABGA381".into(),
        lut4: cells.0,
        flip_flops: cells.1,
        ram_blocks: cells.2,
        packed: [0; 2],
        placements: vec![],
        bitstream: None,
    };
    save(&folder, &built)?;
    for seed in seeds {
        let placement = place(&folder, *seed, &mut built.packed)?;
        eprintln!("fpga: ecp5: seed {seed}: {:.1} MHz after {} s", placement.mhz, placement.seconds);
        built.placements.push(placement);
        save(&folder, &built)?;
    }
    let best = built.placements.iter().max_by(|a, b| a.mhz.total_cmp(&b.mhz)).map(|p| p.seed);
    if let Some(seed) = best {
        let arguments = [format!("ecp5-{seed}.config"), "ecp5.bit".into(), "--compress".into()];
        tools::ECPPACK.run(&folder, &arguments)?;
        built.bitstream = Some(folder.join("ecp5.bit").display().to_string());
    }
    save(&folder, &built)?;
    eprintln!("fpga: ecp5: done in {} s", start.elapsed().as_secs());
    show(&built, json)?;
    Ok(holds(&built))
}

/// Prints the report of the last build.
pub fn show_last(json: bool) -> Result<bool> {
    let path = tools::folder("ecp5")?.join("report.json");
    let text = std::fs::read_to_string(&path).map_err(|_| anyhow::anyhow!("no build of ecp5 yet: cargo run --bin fpga -- build ecp5"))?;
    let built: Built = serde_json::from_str(&text).with_context(|| format!("{} is not a report: build again", path.display()))?;
    show(&built, json)?;
    Ok(holds(&built))
}

fn holds(built: &Built) -> bool {
    let slow: Vec<&Placement> = built.placements.iter().filter(|p| p.mhz < CLOCK).collect();
    for placement in &slow {
        eprintln!(
            "fpga: ecp5: seed {}: {:.1} MHz is under {CLOCK}: the bitstream can't run at line rate",
            placement.seed, placement.mhz
        );
    }
    if built.lut4 > ROOM {
        eprintln!("fpga: ecp5: {} LUT4, more than {ROOM}", built.lut4);
    }
    if built.placements.is_empty() {
        eprintln!("fpga: ecp5: synthesised, but no placement has ended");
    }
    !built.placements.is_empty() && slow.is_empty() && built.lut4 <= ROOM
}

fn place(folder: &Path, seed: u32, packed: &mut [usize; 2]) -> Result<Placement> {
    let start = Instant::now();
    let (report_name, config_name) = (format!("ecp5-{seed}.report.json"), format!("ecp5-{seed}.config"));
    let seed_text = seed.to_string();
    let arguments = [
        "--um5g-85k",
        "--speed",
        "8",
        "--package",
        "CABGA381",
        "--json",
        "ecp5.json",
        "--lpf",
        "pins.lpf",
        "--textcfg",
        &config_name,
        "--report",
        &report_name,
        "--seed",
        &seed_text,
        tools::TIMING_DRIVEN_ROUTER,
        "--timing-allow-fail",
    ];
    tools::NEXTPNR_ECP5.run_watched(folder, &arguments.map(String::from), &format!("ecp5: nextpnr, seed {seed}"))?;
    let path = folder.join(&report_name);
    let text = std::fs::read_to_string(&path).with_context(|| format!("nextpnr-ecp5 wrote no {}", path.display()))?;
    let value: serde_json::Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let cells = &value["utilization"]["TRELLIS_COMB"];
    *packed = [
        cells["used"].as_u64().unwrap_or_default() as usize,
        cells["available"].as_u64().unwrap_or_default() as usize,
    ];
    // The slowest clock that logic runs on: there is one.
    let clocks = value["fmax"].as_object().context("no clock in nextpnr's report")?;
    let mhz = clocks.values().filter_map(|c| c["achieved"].as_f64()).fold(f64::INFINITY, f64::min);
    let paths = value["critical_paths"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut paths: Vec<CriticalPath> = paths.iter().filter_map(critical).collect();
    paths.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    paths.truncate(PATHS);
    Ok(Placement {
        seed,
        mhz,
        seconds: start.elapsed().as_secs(),
        paths,
    })
}

fn critical(path: &serde_json::Value) -> Option<CriticalPath> {
    let steps = path["path"].as_array()?;
    let delay = |s: &serde_json::Value| s["delay"].as_f64().unwrap_or_default();
    let name = |end: Option<&serde_json::Value>, side: &str| {
        end.and_then(|s| s[side]["cell"].as_str())
            .unwrap_or("?")
            .split("_TRELLIS")
            .next()
            .unwrap_or("?")
            .to_string()
    };
    Some(CriticalPath {
        from: name(steps.first(), "from"),
        to: name(steps.last(), "to"),
        ns: steps.iter().map(delay).sum(),
        routing_ns: steps.iter().filter(|s| s["type"] == "routing").map(delay).sum(),
        steps: steps.iter().filter(|s| s["type"] == "logic").count(),
    })
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
    let mut text = format!("# ecp5\n\nEngine `tengig`, MAC, 32 KiB of memory, SPI in an {}.\n\n", built.part);
    let _ = writeln!(
        text,
        "{} LUT4 (carry and distributed RAM counted as the LUT4 they occupy), {} flip-flops, {} RAM blocks of 208; after packing {} of {} LUT4.\n",
        built.lut4, built.flip_flops, built.ram_blocks, built.packed[0], built.packed[1]
    );
    let rows: Vec<Vec<String>> = built
        .placements
        .iter()
        .map(|p| {
            vec![
                p.seed.to_string(),
                format!("{:.1}", p.mhz),
                if p.mhz >= CLOCK { "yes" } else { "no" }.into(),
                p.seconds.to_string(),
            ]
        })
        .collect();
    text.push_str(&report::markdown(&["seed", "MHz", "156.25 held", "s"], &rows));
    for placement in &built.placements {
        let _ = writeln!(text, "\nSeed {}, the longest paths:\n", placement.seed);
        for path in &placement.paths {
            let _ = writeln!(
                text,
                "- {:.2} ns ({:.2} routing, {} steps): `{}` → `{}`",
                path.ns, path.routing_ns, path.steps, path.from, path.to
            );
        }
    }
    if let Some(bitstream) = &built.bitstream {
        let _ = writeln!(text, "\nBitstream of the fastest: {bitstream}");
    }
    text
}
