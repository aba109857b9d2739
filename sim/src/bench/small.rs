// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small packets: what one costs in cycles, over many QPs and over one.
//!
//! Bursts that fit the receive buffer come in faster than any wire; the cost is the slope between a short and a long one. Then a long
//! run at the wire's pace must drop nothing.

use super::{BenchOptions, Figure, Gate};
use crate::hca::mac::{wire_bytes, Pace};
use crate::hca::HcaOptions;
use crate::hold;
use crate::session::Session;
use crate::traffic::{OVERHEAD, RETH};
use anyhow::Result;
use verbena_spec::config::Config;
use verbena_spec::counters;

/// Cycles that a 64-byte message may cost, and a bare packet, on 64 bits.
const MESSAGE_BUDGET: f64 = 20.0;

pub fn measure(options: &BenchOptions) -> Result<Vec<Figure>> {
    let config = Config::preset(&options.preset)?;
    let many = 16.min(config.n_qps - 2);
    let mut figures = Vec::new();
    for payload in [0, 64] {
        for qps in [many, 1] {
            figures.push(cost(options, &config, payload, qps)?);
            figures.push(at_wire_pace(options, payload, qps)?);
        }
    }
    Ok(figures)
}

struct Run {
    cycles: u64,
    dropped: u32,
}

/// `count` WRITE_ONLYs of `payload` bytes, round robin over `qps`: cycles from the first beat in to the last answer out.
fn run(options: &BenchOptions, pace: Pace, payload: usize, qps: usize, count: usize) -> Result<Run> {
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    machine.transmit_at_wire_pace = pace == Pace::Wire;
    let mut session = Session::open(&machine)?;
    let (region, mr) = session.region(64 << 10)?;
    let mut connections = (0..qps).map(|_| session.connect(256, 1)).collect::<Result<Vec<_>>>()?;
    session.hca().tx.frames.clear();
    session.hca().rx.pace = pace;
    for i in 0..count {
        let data = vec![i as u8; payload];
        let va = region.va + ((i * 64) % (64 << 10)) as u64;
        let flow = &mut connections[i % qps].flow;
        for frame in flow.write(va, mr.key, &data) {
            session.hca().rx.send(&frame);
        }
    }
    let hca = session.hca();
    hca.rx.record = true;
    hold!(hca.settle(1000, 200_000 + 200 * count as u64), "the engine never came to rest");
    hca.violations.check()?;
    let first = hca.rx.times.first().map_or(0, |t| t.first);
    let last = hca.tx.frames.iter().map(|f| f.last).max().unwrap_or(0);
    let answers = session.answers();
    for connection in &connections {
        let want = connection.flow.psn.wrapping_sub(1) & 0xff_ffff;
        let complete = answers
            .iter()
            .any(|a| a.dest_qpn == connection.peer_qpn && a.is_ack() && a.psn == want);
        hold!(
            complete || pace == Pace::Wire,
            "a burst of {count} small packets was not acknowledged to its end"
        );
    }
    Ok(Run {
        cycles: last.saturating_sub(first),
        dropped: session.device.counter(counters::RX_NO_BUFFER)?,
    })
}

fn cost(options: &BenchOptions, config: &Config, payload: usize, qps: usize) -> Result<Figure> {
    // In the ring a packet has 40 bytes of IP space, and lies on whole beats.
    let in_ring = OVERHEAD + RETH + payload + 40;
    let long = (config.roce_buffer / in_ring).min(192) / qps * qps;
    let short = long / 2 / qps * qps;
    let (a, b) = (
        run(options, Pace::Fast, payload, qps, short)?,
        run(options, Pace::Fast, payload, qps, long)?,
    );
    let value = (b.cycles - a.cycles) as f64 / (long - short) as f64;
    let gate = if config.data_bits == 64 {
        Gate::AtMost(MESSAGE_BUDGET)
    } else {
        Gate::None
    };
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("WRITE of {payload} bytes, {qps} QP{}: cost", if qps == 1 { "" } else { "s" }),
        value,
        unit: "cycles/packet",
        gate,
        note: format!("bursts of {short} and {long} without gap, {} dropped", a.dropped + b.dropped),
    })
}

fn at_wire_pace(options: &BenchOptions, payload: usize, qps: usize) -> Result<Figure> {
    let count = if options.quick { 1000 } else { 5000 };
    let run = run(options, Pace::Wire, payload, qps, count)?;
    let bytes = Config::preset(&options.preset)?.data_bits as f64 / 8.0;
    let wire = wire_bytes(OVERHEAD + RETH + payload) as f64 / bytes;
    // 64-byte messages are the gate; empty ones come faster than the budget of 20 cycles on the wire.
    let gate = if payload == 64 { Gate::AtMost(0.0) } else { Gate::None };
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!(
            "WRITE of {payload} bytes, {qps} QP{}: drops at wire pace",
            if qps == 1 { "" } else { "s" }
        ),
        value: run.dropped as f64,
        unit: "packets",
        gate,
        note: format!("{count} packets, one in {wire:.2} cycles"),
    })
}
