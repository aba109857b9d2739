// SPDX-License-Identifier: MIT OR Apache-2.0
//! A 64-byte WRITE's last beat in to its ACK's first beat out, less what the memory takes from AW to B.

use super::{BenchOptions, Figure, Gate};
use crate::hca::HcaOptions;
use crate::hold;
use crate::session::Session;
use anyhow::{Context, Result};

const PAYLOAD: usize = 64;
const SAMPLES: usize = 32;
/// Cycles, on 64 bits.
const GATE: f64 = 47.0;

pub fn measure(options: &BenchOptions) -> Result<Vec<Figure>> {
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    let mut session = Session::open(&machine)?;
    let (region, mr) = session.region(4096)?;
    let mut connection = session.connect(256, 1)?;
    let (mut least, mut most) = (u64::MAX, 0);
    for i in 0..SAMPLES {
        let hca = session.hca();
        hca.rx.record = true;
        hca.axi.record = true;
        (hca.rx.times, hca.axi.records) = (Vec::new(), Vec::new());
        hca.tx.frames.clear();
        // Each starts at another phase of whatever counts inside.
        hca.run(i as u64 % 7);
        for frame in connection
            .flow
            .write(region.va + (PAYLOAD * (i % 32)) as u64, mr.key, &[i as u8; PAYLOAD])
        {
            hca.rx.send(&frame);
        }
        hold!(hca.settle(300, 100_000), "the engine never came to rest");
        let in_last = hca.rx.times.first().context("the frame went in")?.last;
        let record = hca.axi.records.iter().find(|r| r.id == 0).context("the WRITE reached memory")?;
        let memory = record.b_cycle - record.aw_cycle;
        let out_first = hca.tx.frames.front().context("an ACK came out")?.first;
        let took = (out_first - in_last).saturating_sub(memory);
        (least, most) = (least.min(took), most.max(took));
    }
    session.hca().violations.check()?;
    let gate = if session.hca().config.data_bits == 64 {
        Gate::AtMost(GATE)
    } else {
        Gate::None
    };
    Ok(vec![Figure {
        preset: options.preset.clone(),
        name: "64-byte WRITE, last beat in → ACK first beat out".into(),
        value: most as f64,
        unit: "cycles",
        gate,
        note: format!("worst of {SAMPLES}, best {least}; AW to B of the memory subtracted"),
    }])
}
