// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every frame of a run, a line each: when, at which engine, whether it leaves, is lost or comes, what it is.

use super::report::disturbance;
use super::Point;
use crate::pair::{Passed, Way};
use anyhow::{Context, Result};
use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::path::Path;
use verbena_spec::headers;

/// Adds a run's frames to the file, in the order of time.
pub fn append(path: &Path, point: &Point, frames: &[Passed], clock_khz: u64) -> Result<()> {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("writing {}", path.display()))?;
    let mut file = BufWriter::new(file);
    writeln!(file, "# {}, {}, {}", point.verb, point.scheme.name, disturbance(point.wire))?;
    let mut frames = frames.to_vec();
    frames.sort_by_key(|f| f.cycle);
    for f in frames {
        let opcode = headers::opcode(f.opcode);
        let name = opcode.map_or_else(|| format!("opcode {:#04x}", f.opcode), |o| o.name.to_string());
        let syndrome = match f.syndrome >> 5 {
            _ if !opcode.is_some_and(|o| o.aeth) => String::new(),
            0 => " ACK".into(),
            1 => " RNR NAK".into(),
            _ => format!(" NAK {:#04x}", f.syndrome),
        };
        let way = match f.way {
            Way::Leaves => "leaves",
            Way::Lost => "LOST  ",
            Way::Comes => "comes ",
        };
        let us = f.cycle as f64 * 1000.0 / clock_khz as f64;
        writeln!(file, "{us:>12.3} us  {} {way} {:>8} {name}{syndrome}", f.side, f.psn)?;
    }
    file.flush().context("writing the timeline")
}
