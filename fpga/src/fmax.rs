// SPDX-License-Identifier: MIT OR Apache-2.0
//! `make fmax`: the clock of each station alone, by nextpnr-ecp5.

use crate::{harness, report, tools};
use anyhow::{Context, Result};
use serde::Serialize;
use verbena_hdl::top;
use verbena_hdl::verilog::Design;
use verbena_spec::config::Config;

#[derive(Serialize)]
struct Speed {
    station: String,
    mhz: f64,
    seed: u32,
}

pub fn run(wanted: &[String], whole: bool, seed: u32, at_least: f64, json: bool) -> Result<bool> {
    let config = Config::preset("tengig")?;
    let mut speeds = vec![];
    for (name, design) in top::designs(&config)? {
        let chosen = if wanted.is_empty() {
            (name == top::WHOLE) == whole
        } else {
            wanted.contains(&name)
        };
        if chosen {
            eprintln!("fmax: {name} ...");
            speeds.push(Speed {
                mhz: speed(&name, &design, seed, at_least)?,
                station: name,
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
        println!("\nnextpnr-ecp5, LFE5UM5G-85F, speed grade 8, each alone between registers.");
    }
    let slow: Vec<&Speed> = speeds.iter().filter(|s| s.mhz < at_least).collect();
    for station in &slow {
        eprintln!("fmax: {} is under {at_least} MHz", station.station);
    }
    Ok(slow.is_empty())
}

fn speed(name: &str, design: &Design, seed: u32, target: f64) -> Result<f64> {
    let folder = tools::folder(&format!("fmax-{name}"))?;
    std::fs::write(
        folder.join("design.v"),
        format!("{}\n{}", design.to_single_text(), harness::wrap(&design.top, &design.ports)),
    )?;
    tools::YOSYS.run(
        &folder,
        &[
            "-q".into(),
            "-p".into(),
            "read_verilog design.v; synth_ecp5 -top harness -json design.json".into(),
        ],
    )?;
    let target = target.to_string();
    let seed = seed.to_string();
    let arguments = [
        "--um5g-85k",
        "--speed",
        "8",
        "--package",
        "CABGA756",
        "--json",
        "design.json",
        "--lpf-allow-unconstrained",
        "--freq",
        &target,
        "--seed",
        &seed,
        "--timing-allow-fail",
    ];
    let text = tools::NEXTPNR_ECP5.run(&folder, &arguments.map(String::from))?;
    // The last figure is the routed one.
    text.lines()
        .filter(|l| l.contains("Max frequency for clock"))
        .filter_map(|l| l.rsplit(':').next()?.split_whitespace().next()?.parse().ok())
        .next_back()
        .with_context(|| format!("nextpnr-ecp5 printed no frequency, see {}", folder.display()))
}
