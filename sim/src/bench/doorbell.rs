// SPDX-License-Identifier: MIT OR Apache-2.0
//! Doorbell to far memory, stage by stage, seen at the two engines' ports.
//!
//! ```text
//! doorbell ─► AR … R of the WQE ─► AR … R of the payload ─► MAC tx ─► MAC rx ─► AW ─► W: the bytes are with the far memory
//! ```
//! From the register write's first cycle to the last W beat's (DESIGN.md: "accepted by the other host's memory"). What the memory takes behind
//! that, until B, is no part of it. The wire passes bytes on as they come: DESIGN.md's MAC and PHY take no time.

use super::two_engines::{data, gate, pair, sends, SMALL, TIMEOUT};
use super::{BenchOptions, Figure, Gate};
use crate::hold;
use crate::pair::Pair;
use crate::world::{Flow, Order, Route, TransferOptions};
use anyhow::{Context, Result};
use verbena_spec::config::Config;

/// ns, with a payload of 64 bytes in memory, and with one of 32 in the WQE.
const GATE: f64 = 2000.0;
const INLINE_GATE: f64 = 1200.0;
/// Bytes that fit into a WQE.
const INLINE: usize = 32;
/// Measured messages.
const SAMPLES: usize = 32;
/// Cycles until a WRITE that never lands is given up.
const LONGEST: u64 = 100_000;
/// AXI IDs: payload and descriptors of the requester.
const PAYLOAD_ID: u8 = 0;
const WQE_ID: u8 = 2;

/// Something that is seen at a port, in its order.
struct Mark {
    /// What passes from the mark before to this one.
    stage: &'static str,
    /// Whose time it is.
    owner: &'static str,
    cycle: u64,
}

pub fn measure(options: &BenchOptions) -> Result<Vec<Figure>> {
    if !sends(options)? {
        return Ok(vec![]);
    }
    let config = Config::preset(&options.preset)?;
    let mut figures = samples(options, &config, false)?;
    figures.extend(samples(options, &config, true)?);
    Ok(figures)
}

fn samples(options: &BenchOptions, config: &Config, inline: bool) -> Result<Vec<Figure>> {
    let mut pair = pair(options)?;
    pair.cut_through = true;
    let message = if inline { INLINE } else { SMALL };
    let transfer_options = TransferOptions {
        route: Route::Write,
        pmtu: 256,
        message,
        depth: 1,
        timeout: TIMEOUT,
        order: Order::default(),
        qps: 1,
    };
    let mut flow = Flow::new(&mut pair, 0, transfer_options, data(options.seed, SAMPLES * message))?;
    if inline {
        flow = flow.inline();
    }
    let mut all: Vec<(u64, Vec<Mark>)> = vec![];
    for number in 0..SAMPLES {
        // Each starts at another phase of whatever counts inside.
        pair.run(50 + number as u64 % 7);
        listen(&mut pair);
        let begin = pair.sides[0].hca().cycle;
        flow.post(&mut pair)?;
        while !flow.has_landed(&mut pair, number)? {
            let cycle = pair.cycle();
            pair.run_to(cycle + 1);
            hold!(cycle < begin + LONGEST, "WRITE {number} never came to the far memory");
        }
        all.push((begin, marks(&mut pair, begin, inline)?));
        while flow.is_busy() {
            pair.run(100);
            flow.poll(&mut pair)?;
            hold!(pair.cycle() < begin + 2 * LONGEST, "WRITE {number} never completed");
        }
    }
    pair.check()?;
    let took = |(begin, marks): &(u64, Vec<Mark>)| marks.last().map_or(0, |m| m.cycle + 1 - begin);
    all.sort_by_key(took);
    let (worst, best, median) = (&all[SAMPLES - 1], took(&all[0]), took(&all[SAMPLES / 2]));
    let name = format!(
        "doorbell → {message} bytes {}in the far memory",
        if inline { "inline " } else { "" }
    );
    let limit = if inline { INLINE_GATE } else { GATE };
    let mut figures = vec![Figure {
        preset: options.preset.clone(),
        name: name.clone(),
        value: took(worst) as f64 * 1e6 / config.clock_khz as f64,
        unit: "ns",
        gate: gate(config, Gate::AtMost(limit)),
        note: format!(
            "worst of {SAMPLES}: {} cycles, best {best}, median {median}; register write's first cycle to last W beat; both memories {} cycles, no wire length",
            took(worst),
            options.latency
        ),
    }];
    let (begin, marks) = worst;
    let mut before = *begin;
    for (n, mark) in marks.iter().enumerate() {
        // The last stage's end is the end of its cycle.
        let end = mark.cycle + u64::from(n + 1 == marks.len());
        figures.push(Figure {
            preset: options.preset.clone(),
            name: format!("… stage {}: {}", n + 1, mark.stage),
            value: (end - before) as f64,
            unit: "cycles",
            gate: Gate::None,
            note: format!("{}; ends at cycle {}", mark.owner, end - begin),
        });
        before = end;
    }
    Ok(figures)
}

/// Forgets what was recorded before, and records.
fn listen(pair: &mut Pair) {
    for side in &mut pair.sides {
        let hca = side.hca();
        (hca.axi.record, hca.rx.record, hca.tx.record) = (true, true, true);
        hca.axi.records.clear();
        hca.axi.read_records.clear();
        hca.rx.times.clear();
        hca.tx.times.clear();
    }
}

/// What was seen since.
fn marks(pair: &mut Pair, begin: u64, inline: bool) -> Result<Vec<Mark>> {
    let near = pair.sides[0].hca();
    let read = |id| near.axi.read_records.iter().find(|r| r.id == id && r.ar_cycle >= begin).copied();
    let wqe = read(WQE_ID).context("the WQE was read")?;
    let payload = read(PAYLOAD_ID);
    let sent = *near.tx.times.first().context("a frame left")?;
    let far = pair.sides[1].hca();
    let came = *far.rx.times.first().context("a frame came")?;
    let landed = *far.axi.records.iter().find(|r| r.id == PAYLOAD_ID).context("bytes were written")?;
    let mut marks = vec![];
    let mut mark = |stage, owner, cycle| marks.push(Mark { stage, owner, cycle });
    mark("doorbell's register write → AR of the WQE", "near engine", wqe.ar_cycle);
    mark("AR → last R of the WQE", "near memory and bus", wqe.last_cycle);
    if !inline {
        let payload = payload.context("the payload was read")?;
        mark("last R of the WQE → AR of the payload", "near engine", payload.ar_cycle);
        mark("AR → last R of the payload", "near memory and bus", payload.last_cycle);
    }
    mark("last R → first beat to the MAC", "near engine", sent.first);
    mark("first → last beat to the MAC", "wire", sent.last);
    mark("last beat out → last beat in", "wire (no length, MAC and PHY 0)", came.last);
    mark("last beat in → AW", "far engine", landed.aw_cycle);
    mark("AW → last W beat", "far engine and bus", landed.last_cycle);
    Ok(marks)
}
