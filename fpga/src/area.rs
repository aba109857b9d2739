// SPDX-License-Identifier: MIT OR Apache-2.0
//! `make area`: cells and RAM blocks per station.

use crate::report;
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use verbena_fpga::tools;
use verbena_hdl::verilog::Design;
use verbena_spec::config::{Config, PRESETS};

/// What one station costs.
#[derive(Serialize)]
struct Cost {
    preset: String,
    station: String,
    /// iCE40: logic cells after packing. ECP5: LUT4, carry and distributed RAM counted as the LUT4 they occupy.
    cells: usize,
    flip_flops: usize,
    /// iCE40: 4-kbit blocks; ECP5: 18-kbit blocks.
    ram_blocks: usize,
}

pub fn run(preset: Option<&str>, wanted: &[String], json: bool) -> Result<bool> {
    let mut costs = vec![];
    for config in PRESETS.iter().filter(|c| preset.is_none_or(|p| p == c.name)) {
        for (name, design) in verbena_designs::designs(config)? {
            if wanted.is_empty() || wanted.contains(&name) {
                eprintln!("area: {} {name} ...", config.name);
                costs.push(cost(config, &name, &design)?);
            }
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&costs)?);
    } else {
        let rows: Vec<Vec<String>> = costs
            .iter()
            .map(|c| {
                vec![
                    c.preset.clone(),
                    c.station.clone(),
                    c.cells.to_string(),
                    c.flip_flops.to_string(),
                    c.ram_blocks.to_string(),
                ]
            })
            .collect();
        report::table(&["preset", "station", "cells", "flip-flops", "RAM blocks"], &rows);
        println!("\ncu: iCE40 logic cells (nextpnr-ice40 packing where it fits its pins, else LUT4 + unpaired flip-flops), 4-kbit RAM. tengig: ECP5 LUT4, 18-kbit RAM. Stations are synthesised alone; `whole` is the engine.");
    }
    Ok(true)
}

/// Cells and RAM blocks of one station.
pub fn cells_and_ram(config: &Config, name: &str) -> Result<[usize; 2]> {
    let designs = verbena_designs::designs(config)?;
    let (_, design) = designs
        .iter()
        .find(|(n, _)| n == name)
        .with_context(|| format!("no station {name}"))?;
    let cost = cost(config, name, design)?;
    Ok([cost.cells, cost.ram_blocks])
}

fn cost(config: &Config, name: &str, design: &Design) -> Result<Cost> {
    let folder = tools::folder(&format!("area-{}-{name}", config.name))?;
    std::fs::write(folder.join("design.v"), design.to_single_text())?;
    let ice40 = config.data_bits == 32;
    let synth = if ice40 {
        format!("synth_ice40 -top {} -json design.json", design.top)
    } else {
        format!("synth_ecp5 -top {} -json design.json", design.top)
    };
    let script = format!("read_verilog design.v; {synth}; tee -o stat.txt stat");
    tools::YOSYS.run(&folder, &["-q".into(), "-p".into(), script])?;
    let stat = std::fs::read_to_string(folder.join("stat.txt"))?;
    let (lut, flip_flops, ram_blocks) = if ice40 {
        let cells = cell_counts(&stat);
        (of(&cells, &["SB_LUT4"]), of(&cells, &["SB_DFF"]), of(&cells, &["SB_RAM40"]))
    } else {
        ecp5_cells(&stat)
    };
    let cells = if ice40 {
        packed(&folder).context("packing for iCE40")?
    } else {
        lut
    };
    Ok(Cost {
        preset: config.name.into(),
        station: name.into(),
        cells,
        flip_flops,
        ram_blocks,
    })
}

/// LUT4 (carry and distributed RAM counted as the LUT4 they occupy), flip-flops and RAM blocks of an ECP5 design, from yosys' `stat`.
pub fn ecp5_cells(stat: &str) -> (usize, usize, usize) {
    let cells = cell_counts(stat);
    (
        of(&cells, &["LUT4"]) + 2 * of(&cells, &["CCU2C"]) + 4 * of(&cells, &["TRELLIS_DPR16X4"]),
        of(&cells, &["TRELLIS_FF"]),
        of(&cells, &["DP16KD", "PDPW16KD"]),
    )
}

fn of(cells: &BTreeMap<String, usize>, kinds: &[&str]) -> usize {
    let counts = cells.iter().filter(|(k, _)| kinds.iter().any(|p| k.starts_with(p)));
    counts.map(|(_, n)| n).sum()
}

/// Cell type → count, from yosys' `stat`: the last table of a flat design, `NAME COUNT` a line.
fn cell_counts(stat: &str) -> BTreeMap<String, usize> {
    let mut cells = BTreeMap::new();
    for line in stat.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [name, count] = words[..] {
            if let Ok(count) = count.parse() {
                cells.insert(name.to_string(), count);
            }
        }
    }
    cells
}

/// Logic cells after nextpnr's packing of LUT, flip-flop and carry.
fn packed(folder: &std::path::Path) -> Result<usize> {
    let arguments = [
        "--hx8k",
        "--package",
        "ct256",
        "--json",
        "design.json",
        "--pack-only",
        "--pcf-allow-unconstrained",
        "--no-promote-globals",
    ];
    let text = tools::NEXTPNR_ICE40.run(folder, &arguments.map(String::from))?;
    let line = text.lines().find(|l| l.contains("ICESTORM_LC:"));
    match line {
        Some(line) => line
            .split(':')
            .nth(2)
            .and_then(|rest| rest.split('/').next())
            .and_then(|n| n.trim().parse().ok())
            .with_context(|| format!("cannot read '{line}'")),
        None => pack_count(&text),
    }
}

/// Sums nextpnr's packing lines ("Packing LUT-FFs.. N LCs used as LUT4 only" and its kin).
fn pack_count(text: &str) -> Result<usize> {
    let mut sum = 0;
    for what in [
        "LCs used as LUT4 only",
        "LCs used as LUT4 and DFF",
        "LCs used as DFF only",
        "LCs used as CARRY only",
    ] {
        let line = text
            .lines()
            .find(|l| l.contains(what))
            .with_context(|| format!("nextpnr-ice40 printed no '{what}'"))?;
        let number = line
            .split(what)
            .next()
            .and_then(|l| l.split_whitespace().last())
            .and_then(|n| n.parse::<usize>().ok());
        sum += number.with_context(|| format!("cannot read '{line}'"))?;
    }
    Ok(sum)
}
