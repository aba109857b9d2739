// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the untraced model runs here, with its machine around it and traffic at line rate.

use super::{BenchOptions, Figure, Gate};
use crate::hca::HcaOptions;
use crate::session::Session;
use anyhow::Result;
use std::time::{Duration, Instant};

/// The only figure that depends on the machine, so not a gate of the engine's.
const AIM: f64 = 200.0;
/// Runs measured: what else the machine does beside, in its caches and its clock, can only make one slower.
const SLICES: usize = 16;

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
    let slice = (cycles / SLICES) as u64;
    let mut speeds: Vec<f64> = (0..SLICES)
        .map(|_| {
            let (start, cpu) = (Instant::now(), cpu_time());
            session.hca().run(slice);
            let wall = start.elapsed();
            let spent = cpu_time().zip(cpu).map_or(wall, |(after, before)| after.saturating_sub(before));
            slice as f64 / spent.as_secs_f64() / 1000.0
        })
        .collect();
    speeds.sort_by(f64::total_cmp);
    let (value, median) = (speeds[SLICES - 1], speeds[SLICES / 2]);
    Ok(vec![Figure {
        preset: options.preset.clone(),
        name: "simulation speed, untraced".into(),
        value,
        unit: "kcycles/s",
        gate: Gate::None,
        note: format!("CPU time of one core of this machine, the fastest of {SLICES} runs of {slice} cycles (median {median:.0}), WRITEs at line rate, PMTU 256; aim {AIM:.0}"),
    }])
}

/// What this thread has run, where Linux tells: a busy machine doesn't count.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
