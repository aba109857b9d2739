// SPDX-License-Identifier: MIT OR Apache-2.0
//! A netlist of ECP5 cells, as yosys' `write_verilog` prints it, with its logic cells and flip-flops as plain Verilog: what Verilator makes of 46,000 small modules is some five
//! times as much C++. RAM cells stay as they are (`fpga/rtl/ecp5_cells.v`).
//!
//! | cell | becomes |
//! |---|---|
//! | LUT4 | `INIT >> {D, C, B, A}` |
//! | PFUMX, L6MUX21 | a choice of two |
//! | CCU2C | two tables, two XORs with the carry, and the carry: where a table has 1 it passes, else the table of A and B alone makes it |
//! | TRELLIS_FF | a register with its enable and reset; 0 (or 1, REGSET) at the start, as the part's are |
//!
//! A cell, a port or a mode that isn't known is an error.

use anyhow::{bail, ensure, Context, Result};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A cell whose table is the wrong way round when it is asked for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Fault {
    /// As `VERBENA_FAULT` names it, from 1 on.
    pub number: usize,
    /// Instance.
    pub cell: String,
    /// Its table.
    pub init: String,
}

/// One instance: parameters and ports by name.
struct Cell<'a> {
    kind: &'a str,
    name: &'a str,
    values: BTreeMap<&'a str, &'a str>,
}

impl Cell<'_> {
    /// A parameter, or what an input hangs on. A name that begins with a backslash needs the space behind it.
    fn of(&self, name: &str) -> Result<String> {
        let value = self
            .values
            .get(name)
            .with_context(|| format!("{} {} has no {name}", self.kind, self.name))?;
        Ok(format!("{} ", value.trim()))
    }

    /// A parameter must be one of these; which.
    fn one_of(&self, name: &str, known: &[&str]) -> Result<usize> {
        let value = self.of(name)?;
        let value = value.trim().trim_matches('"');
        let found = known.iter().position(|k| *k == value);
        found.with_context(|| format!("{} {}: {name} '{value}' has no model", self.kind, self.name))
    }

    /// `assign` of an output, if it is connected.
    fn assign(&self, out: &mut String, output: &str, value: &str) {
        if let Some(wire) = self.values.get(output).filter(|w| !w.trim().is_empty()) {
            let _ = writeln!(out, "  assign {wire} = {value};");
        }
    }

    fn table(&self, init: &str, inputs: [&str; 4]) -> Result<String> {
        let [d, c, b, a] = [self.of(inputs[0])?, self.of(inputs[1])?, self.of(inputs[2])?, self.of(inputs[3])?];
        Ok(format!("{}>> {{{d}, {c}, {b}, {a}}}", self.of(init)?))
    }

    /// Half of a CCU2C: table, carry out of the carry in.
    fn half(&self, n: usize, half: usize, carry: &str) -> Result<(String, String)> {
        ensure!(self.one_of(&format!("INJECT1_{half}"), &["NO"])? == 0);
        let port = |letter: char| format!("{letter}{half}");
        let [d, c, b, a] = ['D', 'C', 'B', 'A'].map(port);
        let init = format!("INIT{half}");
        let table = self.table(&init, [&d, &c, &b, &a])?;
        let text = self.of(&init)?;
        let low = text.trim().strip_prefix("16'h").and_then(|t| t.chars().last());
        let low = low.with_context(|| format!("CCU2C {}: {init} {text}", self.name))?;
        let generate = format!("4'h{low} >> {{{}, {}}}", self.of(&b)?, self.of(&a)?);
        Ok((table, format!("table_{n}_{half} ? {carry} : {generate}")))
    }

    /// Its Verilog; `n` is a number of its own.
    fn print(&self, out: &mut String, n: usize, fault: Option<usize>) -> Result<()> {
        match self.kind {
            "LUT4" => {
                let table = self.table("INIT", ["D", "C", "B", "A"])?;
                let value = match fault {
                    Some(number) => format!("({table}) ^ {{15'd0, fault == {number}}}"),
                    None => table,
                };
                self.assign(out, "Z", &value);
            }
            "PFUMX" => self.assign(out, "Z", &format!("{}? {}: {}", self.of("C0")?, self.of("ALUT")?, self.of("BLUT")?)),
            "L6MUX21" => self.assign(out, "Z", &format!("{}? {}: {}", self.of("SD")?, self.of("D1")?, self.of("D0")?)),
            "CCU2C" => {
                let carry = self.of("CIN")?;
                let (table_0, carry_0) = self.half(n, 0, &carry)?;
                let (table_1, carry_1) = self.half(n, 1, &format!("carry_{n}"))?;
                let _ = writeln!(
                    out,
                    "  wire table_{n}_0 = {table_0}, table_{n}_1 = {table_1};\n  wire carry_{n} = {carry_0};"
                );
                self.assign(out, "S0", &format!("table_{n}_0 ^ {carry}"));
                self.assign(out, "S1", &format!("table_{n}_1 ^ carry_{n}"));
                self.assign(out, "COUT", &carry_1);
            }
            "TRELLIS_FF" => {
                self.one_of("CLKMUX", &["CLK"])?;
                self.one_of("LSRMUX", &["LSR"])?;
                let set = self.one_of("REGSET", &["RESET", "SET"])?;
                let enable = match self.one_of("CEMUX", &["1", "CE", "INV"])? {
                    0 => String::new(),
                    1 => format!("if ({}) ", self.of("CE")?),
                    _ => format!("if (~{}) ", self.of("CE")?),
                };
                let mut reset = String::new();
                if self.of("LSR")?.trim() != "1'h0" {
                    self.one_of("SRMODE", &["LSR_OVER_CE"])?;
                    reset = format!("if ({}) ff_{n} <= 1'd{set}; else ", self.of("LSR")?);
                }
                let _ = writeln!(
                    out,
                    "  reg ff_{n} = 1'd{set};\n  always @(posedge {}) {reset}{enable}ff_{n} <= {};",
                    self.of("CLK")?,
                    self.of("DI")?
                );
                self.assign(out, "Q", &format!("ff_{n}"));
            }
            _ => bail!("no model of {}", self.kind),
        }
        Ok(())
    }
}

/// Cells that get here, and those that have modules.
const PLAIN: [&str; 5] = ["LUT4", "PFUMX", "L6MUX21", "CCU2C", "TRELLIS_FF"];
const MODULES: [&str; 2] = ["DP16KD", "TRELLIS_DPR16X4"];
/// Behind the cells: which fault a running model has. 0 is none.
const CHOICE: &str = "  integer fault;
  initial fault = $c32(\"(std::getenv(\\\"VERBENA_FAULT\\\") ? std::atoi(std::getenv(\\\"VERBENA_FAULT\\\")) : 0)\");
";

/// The netlist in plain Verilog. So many LUTs, drawn by a seed, are inverted where the variable `VERBENA_FAULT` has their number when the model starts: one model for all faults.
pub fn plain(netlist: &str, faults: usize, seed: u64) -> Result<(String, Vec<Fault>)> {
    let lines: Vec<&str> = netlist.lines().collect();
    let luts: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].starts_with("  LUT4 ")).collect();
    ensure!(luts.len() >= faults, "the netlist has {} LUT4, fewer than {faults}", luts.len());
    let (mut chosen, mut state) = (vec![], seed);
    while chosen.len() < faults {
        let at = luts[(splitmix(&mut state) % luts.len() as u64) as usize];
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    let (mut out, mut list) = (String::with_capacity(netlist.len()), vec![]);
    let mut at = 0;
    while at < lines.len() {
        let start = at;
        at += 1;
        let kind = lines[start]
            .strip_prefix("  ")
            .and_then(|l| l.split(' ').next())
            .unwrap_or_default();
        let upper = kind.len() > 1 && kind.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if !upper || MODULES.contains(&kind) {
            if lines[start] == "endmodule" && !list.is_empty() {
                out.push_str(CHOICE);
            }
            out.push_str(lines[start]);
            out.push('\n');
            continue;
        }
        ensure!(PLAIN.contains(&kind), "no model of the cell {kind}");
        let mut cell = Cell {
            kind,
            name: "",
            values: BTreeMap::new(),
        };
        for line in [lines[start].trim_start_matches("  ").trim_start_matches(kind)]
            .iter()
            .chain(&lines[at..])
        {
            at += 1;
            let line = line.trim();
            if line == ");" {
                break;
            } else if let Some((name, value)) = line.strip_prefix('.').and_then(|l| l.split_once('(')) {
                let value = value.trim_end_matches(',').strip_suffix(')');
                cell.values.insert(name, value.with_context(|| format!("cannot read '{line}'"))?);
            } else if line != "#(" {
                cell.name = line.trim_start_matches(") ").trim_end_matches('(').trim();
            }
        }
        at -= 1;
        let fault = chosen.iter().position(|c| *c == start).map(|i| i + 1);
        cell.print(&mut out, start, fault)?;
        if let Some(number) = fault {
            list.push(Fault {
                number,
                cell: cell.name.into(),
                init: cell.of("INIT")?.trim().into(),
            });
        }
    }
    list.sort_by_key(|f| f.number);
    Ok((out, list))
}

/// The next of a series of 64-bit numbers (SplitMix64).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module x(a, z);\n  input a;\n  wire \\w[0] ;\n  LUT4 #(\n    .INIT(16'h5555)\n  ) \\l.x  (\n    .A(a),\n    .B(1'h0),\n    .C(1'h0),\n    .D(1'h0),\n    .Z(\\w[0] )\n  );\n  PFUMX p (\n    .ALUT(\\w[0] ),\n    .BLUT(a),\n    .C0(a),\n    .Z(z)\n  );\nendmodule\n";

    #[test]
    fn cells_become_expressions() {
        let (text, faults) = plain(TEXT, 0, 1).unwrap();
        let want = "module x(a, z);\n  input a;\n  wire \\w[0] ;\n  assign \\w[0]  = 16'h5555 >> {1'h0 , 1'h0 , 1'h0 , a };\n  assign z = a ? \\w[0] : a ;\nendmodule\n";
        assert_eq!(text, want);
        assert!(faults.is_empty());
    }

    #[test]
    fn a_fault_is_named() {
        let (text, faults) = plain(TEXT, 1, 1).unwrap();
        assert_eq!(
            (faults[0].number, faults[0].cell.as_str(), faults[0].init.as_str()),
            (1, "\\l.x", "16'h5555")
        );
        assert!(text.contains("fault == 1") && text.contains("integer fault;"), "{text}");
        assert!(plain(TEXT, 2, 1).is_err());
    }

    #[test]
    fn what_isnt_known_is_an_error() {
        for (from, to) in [("PFUMX p", "MULT18X18D p"), (".C0(a),\n", ""), ("LUT4 #(", "LUT6 #(")] {
            let text = TEXT.replace(from, to);
            assert!(text != TEXT && plain(&text, 0, 1).is_err(), "{to}");
        }
    }
}
