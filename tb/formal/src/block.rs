// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a proof is about: a station of a preset, or a module inside one with all that it is made of.

use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use verbena_hdl::verilog::{Design, Module, Port};
use verbena_spec::config::Config;

/// Names a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// `tengig` or `cu`.
    pub preset: &'static str,
    /// As `verbena_designs::designs` names it.
    pub station: &'static str,
    /// A module of it; empty: the station.
    pub module: &'static str,
}

/// Printed designs, made when first asked for.
#[derive(Default)]
pub struct Designs {
    presets: BTreeMap<String, BTreeMap<String, Design>>,
}

impl Designs {
    /// A station of a preset.
    pub fn station(&mut self, preset: &str, station: &str) -> Result<&Design> {
        if !self.presets.contains_key(preset) {
            let made = verbena_designs::designs(&Config::preset(preset)?)?.into_iter().collect();
            self.presets.insert(preset.into(), made);
        }
        let stations = &self.presets[preset];
        let names = || stations.keys().cloned().collect::<Vec<_>>().join(", ");
        stations
            .get(station)
            .with_context(|| format!("{preset} has no station '{station}'; it has {}", names()))
    }

    /// A block.
    pub fn block(&mut self, block: &Block) -> Result<Design> {
        let whole = self.station(block.preset, block.station)?;
        if block.module.is_empty() {
            return Ok(whole.clone());
        }
        part(whole, block.module)
    }
}

/// The module `name` of a design, and what stands below it.
fn part(whole: &Design, name: &str) -> Result<Design> {
    let Some(at) = whole.modules.iter().position(|m| m.name == name) else {
        let names: Vec<_> = whole.modules.iter().map(|m| m.name.as_str()).collect();
        bail!("{} has no module '{name}'; it has {}", whole.top, names.join(", "));
    };
    let mut wanted = vec![false; at + 1];
    wanted[at] = true;
    // Children stand before their parents.
    for parent in (1..=at).rev() {
        if wanted[parent] {
            let text = &whole.modules[parent].text;
            for (wanted, child) in wanted[..parent].iter_mut().zip(&whole.modules) {
                *wanted |= instantiates(text, &child.name);
            }
        }
    }
    let modules: Vec<Module> = (0..=at).filter(|i| wanted[*i]).map(|i| whole.modules[i].clone()).collect();
    Ok(Design {
        top: name.into(),
        ports: ports(&whole.modules[at].text).with_context(|| format!("the ports of {name}"))?,
        modules,
    })
}

/// A printed instance is a line `  MODULE NAME (`.
fn instantiates(text: &str, module: &str) -> bool {
    text.lines().any(|l| {
        l.strip_prefix("  ")
            .and_then(|l| l.strip_prefix(module))
            .is_some_and(|l| l.starts_with(' ') && l.ends_with('('))
    })
}

/// The ports in a printed header: `  input  wire [7:0] NAME,` between `module NAME (` and `);`.
fn ports(text: &str) -> Result<Vec<Port>> {
    let header = text
        .lines()
        .skip_while(|l| !l.starts_with("module "))
        .skip(1)
        .take_while(|l| *l != ");");
    header
        .map(|line| {
            let words: Vec<&str> = line.trim().trim_end_matches(',').split_whitespace().collect();
            let (direction, name) = (
                words.first().copied().unwrap_or_default(),
                words.last().copied().unwrap_or_default(),
            );
            let width = match words.iter().find_map(|w| w.strip_prefix('[')) {
                Some(range) => range.split(':').next().unwrap_or_default().parse::<usize>()? + 1,
                None => 1,
            };
            if !matches!(direction, "input" | "output") {
                bail!("line '{line}'");
            }
            Ok(Port {
                name: name.into(),
                width,
                input: direction == "input",
                clock: name == "clock",
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_read_back_gives_the_ports_of_every_station() {
        let mut designs = Designs::default();
        for preset in ["tengig", "cu"] {
            designs.station(preset, "whole").unwrap();
            for (name, design) in &designs.presets[preset] {
                let read = ports(&design.modules.last().unwrap().text).unwrap();
                let known = design.ports.iter().map(|p| (&p.name, p.width, p.input)).collect::<Vec<_>>();
                assert_eq!(
                    read.iter().map(|p| (&p.name, p.width, p.input)).collect::<Vec<_>>(),
                    known,
                    "{preset} {name}"
                );
            }
        }
    }

    #[test]
    fn a_part_has_its_children_and_no_others() {
        let mut designs = Designs::default();
        let block = Block {
            preset: "tengig",
            station: "retire",
            module: "fifo_4_5_244",
        };
        let names: Vec<_> = designs.block(&block).unwrap().modules.into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["sdp_ram_4_244", "fifo_4_5_244"]);
        let wrong = designs.block(&Block { module: "fifo", ..block }).unwrap_err().to_string();
        assert!(wrong.contains("fifo_4_5_244"), "{wrong}");
    }
}
