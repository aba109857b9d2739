// SPDX-License-Identifier: MIT OR Apache-2.0
//! `make fmax`: the clock of each station alone: `tengig` by nextpnr-ecp5, `cu` by nextpnr-ice40.

use crate::slowest::Slow;
use crate::{harness, report, slowest};
use anyhow::{Context, Result};
use serde::Serialize;
use verbena_fpga::tools;
use verbena_hdl::verilog::Design;
use verbena_spec::config::Config;

#[derive(Serialize)]
struct Speed {
    preset: String,
    station: String,
    mhz: f64,
    seed: u32,
    /// Registers reached last; with `--slowest`.
    slowest: Vec<Slow>,
}

/// What is to be measured.
pub struct Wanted {
    pub preset: String,
    /// None: all of them.
    pub stations: Vec<String>,
    /// The whole engine instead.
    pub whole: bool,
    pub seeds: Vec<u32>,
    /// MHz; the device's own if not said.
    pub at_least: Option<f64>,
    /// How many of the slowest registers are shown.
    pub slowest: usize,
}

/// Where a preset is placed.
struct Device {
    tool: &'static tools::Tool,
    synthesis: &'static str,
    arguments: &'static [&'static str],
    /// MHz wanted when the user doesn't say.
    at_least: f64,
    name: &'static str,
}

const ECP5: Device = Device {
    tool: &tools::NEXTPNR_ECP5,
    synthesis: "synth_ecp5",
    arguments: &[
        "--um5g-85k",
        "--speed",
        "8",
        "--package",
        "CABGA756",
        "--lpf-allow-unconstrained",
        tools::TIMING_DRIVEN_ROUTER,
    ],
    at_least: 200.0,
    name: "nextpnr-ecp5, LFE5UM5G-85F, speed grade 8",
};

const ICE40: Device = Device {
    tool: &tools::NEXTPNR_ICE40,
    synthesis: "synth_ice40",
    arguments: &["--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"],
    at_least: 50.0,
    name: "nextpnr-ice40, iCE40 HX8K",
};

pub fn run(wanted: &Wanted, json: bool) -> Result<bool> {
    let preset = wanted.preset.as_str();
    let config = Config::preset(preset)?;
    let device = if config.data_bits == 32 { &ICE40 } else { &ECP5 };
    let at_least = wanted.at_least.unwrap_or(device.at_least);
    let designs = verbena_designs::designs(&config)?;
    if let Some(name) = wanted.stations.iter().find(|w| designs.iter().all(|(name, _)| name != *w)) {
        let names: Vec<&str> = designs.iter().map(|(name, _)| name.as_str()).collect();
        anyhow::bail!("{preset} has no station {name}: one of {}", names.join(", "));
    }
    let mut speeds = vec![];
    for (name, design) in designs {
        let chosen = if wanted.stations.is_empty() {
            (name == verbena_designs::WHOLE) == wanted.whole
        } else {
            wanted.stations.contains(&name)
        };
        if !chosen {
            continue;
        }
        let folder = synthesise(device, preset, &name, &design)?;
        for &seed in &wanted.seeds {
            eprintln!("fmax: {name}, seed {seed} ...");
            let mhz = place(device, &folder, seed, at_least, wanted.slowest > 0)?;
            let late = match wanted.slowest {
                0 => vec![],
                count => slowest::read(&folder.join(REPORT), count)?,
            };
            speeds.push(Speed {
                preset: preset.into(),
                mhz,
                station: name.clone(),
                seed,
                slowest: late,
            });
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&speeds)?);
    } else {
        let rows: Vec<Vec<String>> = speeds
            .iter()
            .map(|s| vec![s.station.clone(), format!("{:.1}", s.mhz), s.seed.to_string()])
            .collect();
        report::table(&["station", "MHz", "seed"], &rows);
        for speed in speeds.iter().filter(|s| !s.slowest.is_empty()) {
            println!("\n{}, seed {}: registers reached last\n", speed.station, speed.seed);
            let row = |s: &Slow| {
                vec![
                    format!("{:.2}", s.ns),
                    s.bits.to_string(),
                    s.register.clone(),
                    s.port.clone(),
                    s.net.clone(),
                ]
            };
            let rows: Vec<Vec<String>> = speed.slowest.iter().map(row).collect();
            report::table(&["ns", "bits", "register", "input", "from net"], &rows);
        }
        println!("\n{}, each alone between registers.", device.name);
    }
    let slow: Vec<&Speed> = speeds.iter().filter(|s| s.mhz < at_least).collect();
    for station in &slow {
        eprintln!("fmax: {}, seed {}, is under {at_least} MHz", station.station, station.seed);
    }
    Ok(slow.is_empty())
}

/// Synthesises a design behind registers; the folder has `design.json` then.
fn synthesise(device: &Device, preset: &str, name: &str, design: &Design) -> Result<std::path::PathBuf> {
    eprintln!("fmax: {name}, synthesis ...");
    let folder = tools::folder(&format!("fmax-{preset}-{name}"))?;
    std::fs::write(
        folder.join("design.v"),
        format!("{}\n{}", design.to_single_text(), harness::wrap(&design.top, &design.ports)),
    )?;
    let script = format!("read_verilog design.v; {} -top harness -json design.json", device.synthesis);
    tools::YOSYS.run(&folder, &["-q".into(), "-p".into(), script])?;
    Ok(folder)
}

/// nextpnr's timing report, in the design's folder.
const REPORT: &str = "report.json";

/// MHz after routing. `timing`: leaves a detailed report too.
fn place(device: &Device, folder: &std::path::Path, seed: u32, target: f64, timing: bool) -> Result<f64> {
    let (target, seed) = (target.to_string(), seed.to_string());
    let mut arguments = device.arguments.to_vec();
    arguments.extend(["--json", "design.json", "--freq", &target, "--seed", &seed, "--timing-allow-fail"]);
    if timing {
        arguments.extend(["--report", REPORT, "--detailed-timing-report"]);
    }
    let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
    let text = device.tool.run(folder, &arguments)?;
    // The last figure is the routed one.
    text.lines()
        .filter(|l| l.contains("Max frequency for clock"))
        .filter_map(|l| l.rsplit(':').next()?.split_whitespace().next()?.parse().ok())
        .next_back()
        .with_context(|| format!("{} printed no frequency, see {}", device.tool.names[0], folder.display()))
}
