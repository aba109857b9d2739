// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small packets: what one costs in cycles, over many QPs and over one.
//!
//! Frames come in without gaps, faster than any wire, as many as the engine's head queue takes and a new one for each that is
//! acknowledged: the engine is always busy and never overrun. Then a run at the wire's pace must drop nothing.

use super::{BenchOptions, Figure, Gate};
use crate::hca::mac::{wire_bytes, Pace};
use crate::hca::HcaOptions;
use crate::hold;
use crate::session::{Connection, Session, FIRST_PSN};
use crate::traffic::{Answer, OVERHEAD, RETH};
use anyhow::Result;
use verbena_spec::config::Config;
use verbena_spec::counters;

/// Bytes that the WRITEs go round in.
const AREA: usize = 64 << 10;
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

/// Packets that wait in the engine at once: below its heads (32 of `tengig`, 8 of `cu`).
fn window(config: &Config) -> u64 {
    if config.data_bits == 64 {
        28
    } else {
        6
    }
}

struct Setup {
    session: Session,
    connections: Vec<Connection>,
    va: u64,
    rkey: u32,
    payload: usize,
    sent: usize,
}

impl Setup {
    fn new(options: &BenchOptions, pace: Pace, payload: usize, qps: usize) -> Result<Setup> {
        let mut machine = HcaOptions::new(&options.preset);
        machine.seed = options.seed;
        machine.memory.latency = options.latency;
        machine.transmit_at_wire_pace = pace == Pace::Wire;
        machine.pace = pace;
        let mut session = Session::open(&machine)?;
        let (region, mr) = session.region(AREA as u64)?;
        let connections = (0..qps).map(|_| session.connect(256, 1)).collect::<Result<Vec<_>>>()?;
        session.hca().tx.frames.clear();
        session.hca().rx.record = true;
        Ok(Setup {
            session,
            connections,
            va: region.va,
            rkey: mr.key,
            payload,
            sent: 0,
        })
    }

    /// Queues the next WRITE_ONLY, round robin.
    fn send(&mut self) {
        let va = self.va + (self.sent * 64 % AREA) as u64;
        let count = self.connections.len();
        let flow = &mut self.connections[self.sent % count].flow;
        for frame in flow.write(va, self.rkey, &vec![self.sent as u8; self.payload]) {
            self.session.hca().rx.send(&frame);
        }
        self.sent += 1;
    }

    /// Packets acknowledged by these answers, of those not acknowledged before.
    fn acknowledge(&self, answers: &[Answer], seen: &mut [u32]) -> u64 {
        let mut fresh = 0;
        for answer in answers.iter().filter(|a| a.is_ack()) {
            if let Some(i) = self.connections.iter().position(|c| c.peer_qpn == answer.dest_qpn) {
                let total = answer.psn.wrapping_sub(FIRST_PSN).wrapping_add(1) & 0xff_ffff;
                fresh += total.saturating_sub(seen[i]) as u64;
                seen[i] = seen[i].max(total);
            }
        }
        fresh
    }
}

fn cost(options: &BenchOptions, config: &Config, payload: usize, qps: usize) -> Result<Figure> {
    let count: u64 = if options.quick { 500 } else { 3000 };
    let mut setup = Setup::new(options, Pace::Fast, payload, qps)?;
    let (mut done, mut sent, mut seen) = (0, 0, vec![0; qps]);
    // The first quarter fills the pipeline and isn't counted.
    let (mut start, warm) = (0, count / 4);
    let limit = setup.session.hca().cycle + 400 * count;
    while done < count {
        while sent < count && sent < done + window(config) {
            setup.send();
            sent += 1;
        }
        setup.session.hca().tick();
        let answers = setup.session.answers();
        done += setup.acknowledge(&answers, &mut seen);
        let cycle = setup.session.hca().cycle;
        if start == 0 && done >= warm {
            start = cycle;
        }
        hold!(cycle < limit, "{done} of {count} small packets were acknowledged, then no more");
    }
    let cycles = setup.session.hca().cycle - start;
    setup.session.hca().violations.check()?;
    let dropped = setup.session.device.counter(counters::RX_NO_BUFFER)?;
    let gate = if config.data_bits == 64 {
        Gate::AtMost(MESSAGE_BUDGET)
    } else {
        Gate::None
    };
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("WRITE of {payload} bytes, {qps} QP{}: cost", if qps == 1 { "" } else { "s" }),
        value: cycles as f64 / (count - warm) as f64,
        unit: "cycles/packet",
        gate,
        note: format!("{count} packets without gap, {} at a time, {dropped} dropped", window(config)),
    })
}

fn at_wire_pace(options: &BenchOptions, payload: usize, qps: usize) -> Result<Figure> {
    let count = if options.quick { 1000 } else { 5000 };
    let mut setup = Setup::new(options, Pace::Wire, payload, qps)?;
    (0..count).for_each(|_| setup.send());
    hold!(
        setup.session.hca().settle(1000, 200_000 + 200 * count as u64),
        "the engine never came to rest"
    );
    setup.session.hca().violations.check()?;
    let dropped = setup.session.device.counter(counters::RX_NO_BUFFER)?;
    let bytes = Config::preset(&options.preset)?.data_bits as f64 / 8.0;
    let wire = wire_bytes(OVERHEAD + RETH + payload) as f64 / bytes;
    // 64-byte messages are the gate; empty ones come faster than the budget of 20 cycles on the wire.
    let gate = if payload == 64 && bytes == 8.0 {
        Gate::AtMost(0.0)
    } else {
        Gate::None
    };
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!(
            "WRITE of {payload} bytes, {qps} QP{}: drops at wire pace",
            if qps == 1 { "" } else { "s" }
        ),
        value: dropped as f64,
        unit: "packets",
        gate,
        note: format!("{count} packets, one in {wire:.2} cycles"),
    })
}
