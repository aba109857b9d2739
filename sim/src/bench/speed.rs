// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the untraced model runs here, with its machine around it and traffic at line rate.

use super::{BenchOptions, Figure, Gate};
use crate::hca::HcaOptions;
use crate::session::Session;
use anyhow::Result;
use std::time::Instant;

/// The only figure that depends on the machine, so not a gate of the engine's.
const AIM: f64 = 200.0;

pub fn measure(options: &BenchOptions) -> Result<Vec<Figure>> {
    let mut session = Session::open(&HcaOptions::new(&options.preset))?;
    let mut connection = session.connect(256, 1)?;
    let (region, mr) = session.region(64 << 10)?;
    let cycles = if options.quick { 50_000 } else { 400_000 };
    let data = vec![0x5a; 64 << 10];
    while session.hca().rx.pending() * 42 < cycles {
        for frame in connection.flow.write(region.va, mr.key, &data) {
            session.hca().rx.send(&frame);
        }
    }
    let start = Instant::now();
    session.hca().run(cycles as u64);
    let value = cycles as f64 / start.elapsed().as_secs_f64() / 1000.0;
    Ok(vec![Figure {
        preset: options.preset.clone(),
        name: "simulation speed, untraced".into(),
        value,
        unit: "kcycles/s",
        gate: Gate::None,
        note: format!("on this machine, WRITEs at line rate, PMTU 256; aim {AIM:.0}"),
    }])
}
