// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board's sources, and its models for the simulator: the RTL, and a bitstream turned back into Verilog.

use crate::tools;
use anyhow::{bail, ensure, Context, Result};
use rust_hdl::fpga::lattice::ice40::ice_pll::ICE40PLLBlock;
use rust_hdl::prelude::{Logic, Verilog};
use std::path::{Path, PathBuf};
use verbena_hdl::verilog::Port;
use verbena_spec::config::Config;
use verbena_tb::verilated::Model;

pub const TOP: &str = include_str!("../rtl/cu_top.v");
/// The pins' cells, by the part's.
pub const CELL_PINS: &str = include_str!("../rtl/cu_pins.v");
pub const PINS: &str = include_str!("../../constraints/cu/alchitry-cu.pcf");
const BENCH: &str = include_str!("../rtl/cu_bench.v");
/// What yosys brings: a model of the part's RAM that isn't ours.
const CELLS: &str = "share/yosys/ice40/cells_sim.v";

const BOARD_CLOCK: u64 = 100_000_000;
const ENGINE_CLOCK: u64 = 50_000_000;

/// Module `cu_pll`: the text of rust-hdl's PLL block, 100 to 50 MHz. Its own generator prints a second, unconnected PLL beside it, and our printer takes no text of
/// others; so it is put into a module here.
pub fn pll() -> Result<String> {
    match ICE40PLLBlock::<BOARD_CLOCK, ENGINE_CLOCK>::default().hdl() {
        Verilog::Custom(text) => Ok(format!(
            "// rust-hdl's ICE40PLLBlock, {BOARD_CLOCK} to {ENGINE_CLOCK} Hz.\nmodule cu_pll (input wire clock_in, output wire clock_out, output wire locked);\n{text}endmodule\n"
        )),
        _ => bail!("rust-hdl's PLL block has no text of its own"),
    }
}

/// The board without its vendor cells, in one text.
pub fn core() -> Result<String> {
    Ok(verbena_designs::emit_cu(&Config::preset("cu")?)?.to_single_text())
}

/// Ports of `cu_bench`.
pub fn bench_ports() -> Vec<Port> {
    let port = |name: &str, width, input, clock| Port {
        name: name.into(),
        width,
        input,
        clock,
    };
    vec![
        port("clk", 1, true, true),
        port("rst_n", 1, true, false),
        port("usb_rx", 1, true, false),
        port("usb_tx", 1, false, false),
        port("led", 8, false, false),
        port("mac_link", 1, true, false),
        port("mac_tx_ready", 1, true, false),
    ]
}

/// The RTL, its vendor cells by the models in `cu_bench.v`: module `cu_bench`.
pub fn rtl_text() -> Result<String> {
    Ok([core()?.as_str(), TOP, &pll()?, BENCH].join("\n"))
}

/// The RTL's model.
pub fn rtl_model() -> Result<Model> {
    Model::from_text(&rtl_text()?, "cu_bench", &bench_ports(), 1)
}

/// A bitstream file (`cu.bin`) as Verilog: unpacked by iceunpack, then icebox_vlog; module `top`, with the board's pin names.
pub fn unpacked(bitstream: &Path, folder: &Path) -> Result<String> {
    let bytes =
        std::fs::read(bitstream).with_context(|| format!("no bitstream {}: cargo run --bin fpga -- build cu", bitstream.display()))?;
    std::fs::write(folder.join("unpacked.bin"), bytes)?;
    std::fs::write(folder.join("pins.pcf"), PINS)?;
    tools::ICEUNPACK.run(folder, &["unpacked.bin".into(), "unpacked.asc".into()])?;
    let arguments = ["-s", "-c", "-n", "top", "-d", "cb132", "-p", "pins.pcf", "unpacked.asc"];
    let text = tools::ICEBOX_VLOG.run(folder, &arguments.map(String::from))?;
    std::fs::write(folder.join("unpacked.v"), &text)?;
    if let Some(line) = text.lines().find(|l| l.contains("unmatched port")) {
        bail!("the bitstream lacks a pin of the board: {line}");
    }
    Ok(once(&text))
}

/// icebox_vlog declares scalar ports twice, in the header and as wires: Verilator refuses that.
fn once(text: &str) -> String {
    let header = text
        .split("module top (")
        .nth(1)
        .and_then(|t| t.split(");").next())
        .unwrap_or_default();
    let scalar = |port: &str| {
        let words: Vec<String> = port.split_whitespace().map(String::from).collect();
        (words.len() == 2).then(|| words[1].clone())
    };
    let ports: Vec<String> = header.split(", ").filter_map(scalar).collect();
    let mut registers = vec![];
    let line = |line: &str| -> String {
        let Some((kind, names)) = line
            .trim_end_matches(';')
            .split_once(' ')
            .filter(|(k, _)| ["wire", "reg"].contains(k))
        else {
            return line.to_string();
        };
        let kept: Vec<&str> = names
            .split(", ")
            .filter(|item| {
                let name = item.split(" = ").next().unwrap_or_default().trim().to_string();
                let of_port = ports.contains(&name);
                if of_port && kind == "reg" {
                    registers.push(name);
                }
                !of_port
            })
            .collect();
        if kept.is_empty() {
            String::new()
        } else {
            format!("{kind} {};", kept.join(", "))
        }
    };
    let text: Vec<String> = text.lines().map(line).collect();
    registers.iter().fold(text.join("\n") + "\n", |text, name| {
        text.replacen(&format!("output {name}"), &format!("output reg {name}"), 1)
    })
}

/// What the bitstream's PLL does, from its bits: MHz.
pub fn pll_mhz(verilog: &str) -> Result<f64> {
    let field = |name: &str| -> Result<u32> {
        let text = verilog
            .split(&format!(".{name}("))
            .nth(1)
            .with_context(|| format!("the bitstream has no {name}"))?;
        let digits = text
            .split("'b")
            .nth(1)
            .and_then(|t| t.split(')').next())
            .with_context(|| format!("cannot read {name}"))?;
        u32::from_str_radix(digits, 2).with_context(|| format!("cannot read {name}: {digits}"))
    };
    let (r, f, q) = (field("DIVR")?, field("DIVF")?, field("DIVQ")?);
    Ok(BOARD_CLOCK as f64 / 1e6 * f64::from(f + 1) / f64::from(r + 1) / f64::from(1u32 << q))
}

/// The bitstream's model, after its PLL was checked.
pub fn bitstream_model(bitstream: &Path, folder: &Path) -> Result<Model> {
    let netlist = unpacked(bitstream, folder)?;
    let mhz = pll_mhz(&netlist)?;
    ensure!(
        (mhz - ENGINE_CLOCK as f64 / 1e6).abs() < 1e-9,
        "the bitstream's PLL makes {mhz} MHz"
    );
    let text = [netlist.as_str(), &ram_model()?, BENCH].join("\n");
    Model::from_text(&text, "cu_bench", &bench_ports(), 1)
}

/// yosys' model of SB_RAM40_4K.
fn ram_model() -> Result<String> {
    let yosys = tools::YOSYS.find()?;
    let prefix = yosys
        .parent()
        .and_then(Path::parent)
        .map(Path::to_path_buf)
        .unwrap_or_else(|| PathBuf::from("/usr"));
    let path = prefix.join(CELLS);
    let text = std::fs::read_to_string(&path).with_context(|| format!("no {}: apt-get install yosys", path.display()))?;
    let module = text
        .split("module SB_RAM40_4K (")
        .nth(1)
        .and_then(|t| t.split("endmodule").next())
        .with_context(|| format!("no SB_RAM40_4K in {}", path.display()))?;
    // Macros that give unconnected inputs a value: icebox_vlog connects them all.
    let words: Vec<&str> = module.split('\n').collect();
    let plain: Vec<String> = words
        .iter()
        .map(|line| match line.find("`ICE40_DEFAULT_ASSIGNMENT") {
            Some(at) => format!("{}{}", &line[..at], if line.trim_end().ends_with(',') { "," } else { "" }),
            None => line.to_string(),
        })
        .collect();
    Ok(format!("module SB_RAM40_4K (\n{}endmodule\n", plain.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_hdl::prelude::Atom;
    use std::collections::BTreeMap;

    /// Pin by port, from the constraints; header pin by port.
    fn pins() -> BTreeMap<String, (String, Option<String>)> {
        let lines = PINS.lines().filter(|l| l.starts_with("set_io "));
        lines
            .map(|l| {
                let words: Vec<&str> = l.split_whitespace().collect();
                (words[1].to_string(), (words[2].to_string(), words.get(4).map(|w| w.to_string())))
            })
            .collect()
    }

    #[test]
    fn clock_lights_and_bank_a_stand_where_the_board_crate_has_them() {
        let pins = pins();
        let crate_pins = |constraints: Vec<rust_hdl::core::constraint::PinConstraint>| -> Vec<String> {
            let place = |c: &rust_hdl::core::constraint::PinConstraint| match &c.constraint {
                rust_hdl::core::constraint::Constraint::Location(l) => Some(l.clone()),
                _ => None,
            };
            constraints.iter().filter_map(place).collect()
        };
        let clock = rust_hdl_bsp_alchitry_cu::pins::clock();
        assert_eq!(crate_pins(clock.constraints()), [pins["clk100"].0.clone()]);
        let leds: Vec<String> = (0..8).map(|i| pins[&format!("led[{i}]")].0.clone()).collect();
        assert_eq!(crate_pins(rust_hdl_bsp_alchitry_cu::pins::leds().constraints()), leds);
        let mut of_bank_a = 0;
        for (pad, header) in pins.values() {
            if let Some(header) = header.as_deref().filter(|h| h.starts_with('A')) {
                assert_eq!(rust_hdl_bsp_alchitry_cu::pins::map_alchitry_pin_to_cu_pad(header), pad);
                of_bank_a += 1;
            }
        }
        assert_eq!(of_bank_a, 32);
        assert_eq!(rust_hdl_bsp_alchitry_cu::pins::CLOCK_SPEED_100MHZ, BOARD_CLOCK);
    }

    #[test]
    fn no_pin_is_used_twice_and_every_port_has_one() {
        let pins = pins();
        let mut pads: Vec<&String> = pins.values().map(|p| &p.0).collect();
        pads.sort();
        pads.dedup();
        assert_eq!(pads.len(), pins.len());
        // clk100, rst_n, two of USB, 8 lights; 38 out and 38 in, tx_ready, link.
        assert_eq!(pins.len(), 12 + 38 + 38 + 2);
        assert!(pins.values().all(|p| p.0 != "A6"), "the PLL's pad");
    }

    #[test]
    fn ports_of_an_unpacked_bitstream_are_declared_once() {
        let text = "\nmodule top (input clk, output tx, output done, input [1:0] \\bytes );\n\nwire n1, clk, \\bytes[0] , tx;\nwire clk;\nreg n2 = 0, done = 0;\nassign n1 = clk;\n";
        let want =
            "\nmodule top (input clk, output tx, output reg done, input [1:0] \\bytes );\n\nwire n1, \\bytes[0] ;\n\nreg n2 = 0;\nassign n1 = clk;\n";
        assert_eq!(once(text), want);
    }

    #[test]
    fn the_pll_makes_50_mhz() {
        let text = pll().unwrap();
        assert!(text.contains("module cu_pll"), "{text}");
        for setting in ["DIVR(32'h0)", "DIVF(32'h7)", "DIVQ(32'h4)"] {
            assert!(text.contains(setting), "{setting}: {text}");
        }
    }
}
