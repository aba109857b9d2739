// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine and MAC of the `ecp5` board as synthesised: yosys' netlist with models of the part's cells, Verilated.
//!
//! ```text
//! verbena_designs ─► core.v ─► yosys synth_ecp5 ─► netlist.v ─┐
//! ecp5_cells.rs (logic cells, flip-flops) ────────────────────┼─► Verilator ─► a library that takes the RTL's place
//! fpga/rtl/ecp5_cells.v (RAM) ────────────────────────────────┘
//! ```
//! Cut at XGMII: what is around it on the board (PLL, reset, pins) is `fpga/rtl/ecp5_top.v`.

use crate::ecp5_cells::{plain, Fault};
use crate::tools;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use verbena_hdl::verilog::build::{build, BuildOptions};
use verbena_hdl::verilog::Port;
use verbena_spec::config::Config;

/// Models of the RAM cells.
pub const CELLS: &str = include_str!("../rtl/ecp5_cells.v");
const SCRIPT: &str =
    "read_verilog core.v; synth_ecp5 -top TOP; tee -o check.txt check; tee -o stat.txt stat; splitnets; clean -purge; write_verilog -noattr netlist.v";

/// A synthesised design.
pub struct Netlist {
    pub top: String,
    pub ports: Vec<Port>,
    /// Verilog of the netlist alone.
    pub text: String,
    /// yosys' `stat`.
    pub stat: String,
    /// What yosys' `check` complains of (undriven or multiply driven wires, loops), and latches that it inferred.
    pub problems: Vec<String>,
    /// Whether it was there already.
    pub cached: bool,
    folder: PathBuf,
}

/// The engine with its MAC, synthesised; kept in `target/fpga/ecp5-netlist` until RTL, script or yosys change.
pub fn engine_and_mac() -> Result<Netlist> {
    let design = verbena_designs::emit_xgmii(&Config::preset("tengig")?)?;
    synthesised(
        &tools::folder("ecp5-netlist")?,
        &design.to_single_text(),
        &design.top,
        &design.ports,
    )
}

/// A design through yosys' `synth_ecp5`, in a folder that keeps the result.
pub fn synthesised(folder: &Path, core: &str, top: &str, ports: &[Port]) -> Result<Netlist> {
    let script = SCRIPT.replace("TOP", top);
    let version = tools::YOSYS.run(folder, &["-V".into()])?;
    // The key is the input itself: it is written last, so a broken run leaves none.
    let input = format!("// {}\n// {script}\n{core}", version.trim());
    let key = folder.join("input.v");
    let cached = std::fs::read_to_string(&key).is_ok_and(|old| old == input);
    if !cached {
        let _ = std::fs::remove_file(&key);
        std::fs::write(folder.join("core.v"), core)?;
        let log = tools::YOSYS.run_watched(folder, &["-p".into(), script], &format!("{top}: yosys"))?;
        let latches: Vec<&str> = log.lines().filter(|l| l.starts_with("Latch inferred")).collect();
        std::fs::write(folder.join("latches.txt"), latches.join("\n"))?;
        std::fs::write(&key, &input)?;
    }
    let read =
        |name: &str| std::fs::read_to_string(folder.join(name)).with_context(|| format!("yosys left no {name} in {}", folder.display()));
    let (check, latches) = (read("check.txt")?, read("latches.txt")?);
    let problems = check.lines().filter(|l| l.starts_with("Warning:")).chain(latches.lines());
    Ok(Netlist {
        top: top.into(),
        ports: ports.to_vec(),
        text: read("netlist.v")?,
        stat: read("stat.txt")?,
        problems: problems.map(String::from).collect(),
        cached,
        folder: folder.to_path_buf(),
    })
}

impl Netlist {
    /// The netlist as Verilator takes it, and some faults to choose from: see `plain`.
    pub fn simulated(&self, faults: usize, seed: u64) -> Result<(String, Vec<Fault>)> {
        let (text, faults) = plain(&self.text, faults, seed)?;
        // A table shifted down to one bit is as wide as the table.
        Ok((format!("// verilator lint_off WIDTH\n{text}\n{CELLS}"), faults))
    }

    /// The library of a text of `simulated`; true if it was built now.
    pub fn library(&self, text: &str) -> Result<(PathBuf, bool)> {
        let options = BuildOptions {
            optimise: 1,
            lint: false,
            ..BuildOptions::default()
        };
        let built = build(text, &self.top, &self.ports, &self.folder.join("models"), &options)?;
        Ok((built.library, !built.cached))
    }
}
