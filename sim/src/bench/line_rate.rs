// SPDX-License-Identifier: MIT OR Apache-2.0
//! Back-to-back WRITEs as fast as the wire brings them: nothing may be dropped, all must land.

use super::{BenchOptions, Figure, Gate};
use crate::hca::mac::Pace;
use crate::hca::HcaOptions;
use crate::hold;
use crate::session::Session;
use crate::traffic::{ceiling, RETH};
use anyhow::Result;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_spec::counters;

/// Message length, bytes.
const MESSAGE: usize = 64 << 10;
/// Share of the wire's ceiling that goodput must reach.
const GATE: f64 = 0.995;

pub fn measure(options: &BenchOptions) -> Result<Vec<Figure>> {
    let largest = verbena_spec::config::Config::preset(&options.preset)?.max_pmtu;
    [256, 512, 1024, 4096]
        .into_iter()
        .filter(|p| *p <= largest)
        .map(|pmtu| one(options, pmtu))
        .collect()
}

fn one(options: &BenchOptions, pmtu: usize) -> Result<Figure> {
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    let mut session = Session::open(&machine)?;
    let mut connection = session.connect(pmtu, 1)?;
    let messages = if options.quick { 2 } else { 8 };
    let (region, mr) = session.region((messages * MESSAGE) as u64)?;
    let mut data = vec![0; messages * MESSAGE];
    ChaCha8Rng::seed_from_u64(options.seed).fill_bytes(&mut data);
    let mut frames = 0u64;
    session.hca().tx.frames.clear();
    for (i, part) in data.chunks(MESSAGE).enumerate() {
        for frame in connection.flow.write(region.va + (i * MESSAGE) as u64, mr.key, part) {
            session.hca().rx.send(&frame);
            frames += 1;
        }
    }
    let hca = session.hca();
    hca.rx.pace = Pace::Wire;
    hca.rx.record = true;
    hca.axi.record = true;
    hold!(hca.settle(2000, 40 * data.len() as u64), "the engine never came to rest");
    let first = hca.rx.times.first().map_or(0, |t| t.first);
    let last_in = hca.rx.times.last().map_or(0, |t| t.last);
    let last_landed = hca
        .axi
        .records
        .iter()
        .filter(|r| r.id == 0)
        .map(|r| r.b_cycle)
        .max()
        .unwrap_or(u64::MAX);
    hca.violations.check()?;
    let answers = session.answers();
    let last_psn = connection.flow.psn.wrapping_sub(1) & 0xff_ffff;
    let complete = answers.iter().any(|a| a.is_ack() && a.psn == last_psn);
    let dropped = session.device.counter(counters::RX_NO_BUFFER)?;
    let landed = region.read(session.hca(), region.va, data.len())? == data;
    // The pipeline's and the memory's latency stands at the end once, not in the rate.
    let tail = last_landed.saturating_sub(last_in);
    let rate = session.hca().config.data_bits as f64 / 8.0;
    let used = (last_in - first) as f64 * rate;
    let goodput = if complete && landed && dropped == 0 {
        data.len() as f64 / used * 10.0
    } else {
        0.0
    };
    let packets = MESSAGE / pmtu;
    let first_extra = RETH as f64 / packets as f64 / pmtu as f64 * ceiling(pmtu, 0);
    let limit = ceiling(pmtu, 0) * 10.0 * (1.0 - first_extra);
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("WRITE goodput, PMTU {pmtu}"),
        value: goodput,
        unit: "Gb/s",
        gate: if rate == 8.0 { Gate::AtLeast(GATE * limit) } else { Gate::None },
        note: format!(
            "{messages} × 64 KiB, {frames} packets, {dropped} dropped, ceiling {limit:.3}; last byte in to last B {tail} cycles; {}",
            if !landed {
                "DATA WRONG"
            } else if !complete {
                "NOT ACKNOWLEDGED"
            } else {
                "data verified, acknowledged"
            }
        ),
    })
}
