// SPDX-License-Identifier: MIT OR Apache-2.0
//! `make fmax`: the clock of each station alone: `tengig` by nextpnr-ecp5, `cu` by nextpnr-ice40.

use crate::{harness, report};
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
    arguments: &["--um5g-85k", "--speed", "8", "--package", "CABGA756", "--lpf-allow-unconstrained"],
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

pub fn run(preset: &str, wanted: &[String], whole: bool, seeds: &[u32], at_least: Option<f64>, json: bool) -> Result<bool> {
    let config = Config::preset(preset)?;
    let device = if config.data_bits == 32 { &ICE40 } else { &ECP5 };
    let at_least = at_least.unwrap_or(device.at_least);
    let designs = verbena_designs::designs(&config)?;
    if let Some(name) = wanted.iter().find(|w| designs.iter().all(|(name, _)| name != *w)) {
        let names: Vec<&str> = designs.iter().map(|(name, _)| name.as_str()).collect();
        anyhow::bail!("{preset} has no station {name}: one of {}", names.join(", "));
    }
    let mut speeds = vec![];
    for (name, design) in designs {
        let chosen = if wanted.is_empty() {
            (name == verbena_designs::WHOLE) == whole
        } else {
            wanted.contains(&name)
        };
        if !chosen {
            continue;
        }
        let folder = synthesise(device, preset, &name, &design)?;
        for &seed in seeds {
            eprintln!("fmax: {name}, seed {seed} ...");
            speeds.push(Speed {
                preset: preset.into(),
                mhz: place(device, &folder, seed, at_least)?,
                station: name.clone(),
                seed,
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

/// MHz after routing.
fn place(device: &Device, folder: &std::path::Path, seed: u32, target: f64) -> Result<f64> {
    let (target, seed) = (target.to_string(), seed.to_string());
    let mut arguments = device.arguments.to_vec();
    arguments.extend(["--json", "design.json", "--freq", &target, "--seed", &seed, "--timing-allow-fail"]);
    let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
    let text = device.tool.run(folder, &arguments)?;
    // The last figure is the routed one.
    text.lines()
        .filter(|l| l.contains("Max frequency for clock"))
        .filter_map(|l| l.rsplit(':').next()?.split_whitespace().next()?.parse().ok())
        .next_back()
        .with_context(|| format!("{} printed no frequency, see {}", device.tool.names[0], folder.display()))
}
