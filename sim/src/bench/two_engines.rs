// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two engines on a good wire: goodput of 64 KiB messages each way and both ways at once, 64-byte WRITEs; doorbell to far memory is `doorbell`'s.

use super::{BenchOptions, Figure, Gate};
use crate::hca::HcaOptions;
use crate::pair::{Pair, WireOptions};
use crate::world::{answer_bytes, message_bytes, transfer, Flow, Network, Order, Route, TransferOptions};
use anyhow::Result;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::wire::Faults;
use verbena_spec::config::Config;
use verbena_spec::counters;

/// Message length, bytes.
const MESSAGE: usize = 64 << 10;
pub const SMALL: usize = 64;
/// Share of the wire's ceiling.
const GOODPUT_GATE: f64 = 0.99;
/// Preamble, FCS and gap, bytes.
const FRAMING: f64 = 24.0;
/// Millions of 64-byte WRITEs a second, on 16 QPs and on one.
const MANY_GATE: f64 = 4.0;
const ONE_GATE: f64 = 2.0;
/// Messages on all QPs, bytes, and their share of one QP's throughput, %.
const MANY_MESSAGE: usize = 4096;
const MANY_SHARE: f64 = 98.0;
/// Local ACK timeout's code: 1 ms. Nothing is lost, so it never runs out.
pub const TIMEOUT: u8 = 8;

/// Whether the engine can send at all; says so if it can't.
pub fn sends(options: &BenchOptions) -> Result<bool> {
    let can = pair(options)?.sides[0].device.capabilities().requester;
    if !can {
        eprintln!(
            "{}: no requester (CAPABILITIES bit 18), so nothing between two engines is measured",
            options.preset
        );
    }
    Ok(can)
}

/// 64-byte WRITEs.
pub fn rates(options: &BenchOptions) -> Result<Vec<Figure>> {
    if !sends(options)? {
        return Ok(vec![]);
    }
    let config = Config::preset(&options.preset)?;
    [1, 16.min(config.n_qps - 2)]
        .into_iter()
        .map(|qps| rate(options, &config, qps))
        .collect()
}

/// 64 KiB messages.
pub fn goodputs(options: &BenchOptions) -> Result<Vec<Figure>> {
    if !sends(options)? {
        return Ok(vec![]);
    }
    let config = Config::preset(&options.preset)?;
    let read = pair(options)?.sides[0].device.capabilities().read_atomic;
    let mut figures = vec![];
    for route in [Route::Write, Route::Send, Route::Read] {
        if route == Route::Read && !read {
            continue;
        }
        for pmtu in [256, 512, 1024, 2048, 4096].into_iter().filter(|p| *p <= config.max_pmtu) {
            for both in [false, true] {
                figures.push(goodput(options, &config, route, pmtu, both)?);
            }
        }
    }
    Ok(figures)
}

/// A wire without length or faults.
pub fn pair(options: &BenchOptions) -> Result<Pair> {
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    let wire = WireOptions {
        latency: 0,
        faults: Faults::default(),
    };
    Pair::new(&machine, &wire)
}

pub fn data(seed: u64, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut data);
    data
}

/// Gates are the `tengig` engine's.
pub fn gate(config: &Config, gate: Gate) -> Gate {
    if config.data_bits == 64 {
        gate
    } else {
        Gate::None
    }
}

fn name(route: Route) -> &'static str {
    match route {
        Route::Write => "WRITE",
        Route::Send => "SEND",
        Route::Read => "READ",
    }
}

/// Frames that an engine had no room for, and times that a queue went back: 0 on a good wire.
fn troubles(pair: &mut Pair) -> Result<(u32, u32)> {
    let mut sum = (0, 0);
    for side in 0..2 {
        sum.0 += pair.device(side).counter(counters::RX_NO_BUFFER)?;
        sum.1 += pair.device(side).counter(counters::REWIND)?;
    }
    Ok(sum)
}

fn goodput(options: &BenchOptions, config: &Config, route: Route, pmtu: usize, both: bool) -> Result<Figure> {
    let small = config.address_bits < 48;
    let messages = if options.quick || small { 3 } else { 16 };
    let mut pair = pair(options)?;
    let transfer_options = TransferOptions {
        route,
        pmtu,
        message: MESSAGE,
        depth: 16,
        timeout: TIMEOUT,
        order: Order::default(),
        qps: 1,
    };
    let ways: &[usize] = if both { &[0, 1] } else { &[0] };
    let mut flows = vec![];
    for from in ways {
        flows.push(Flow::new(
            &mut pair,
            *from,
            transfer_options,
            data(options.seed ^ *from as u64, messages * MESSAGE),
        )?);
    }
    let moved = transfer(&mut pair, &mut flows, 100, |_| ())?;
    let (dropped, rewinds) = troubles(&mut pair)?;
    // On the wire, first byte to last, preamble, FCS and gap included: no latency at either end, and no more than the wire takes.
    let bytes_per_cycle = config.data_bits as f64 / 8.0;
    let gbps = |span: Option<(u64, u64)>| {
        let cycles = span.map_or(f64::INFINITY, |(first, last)| (last + 1 - first) as f64 + FRAMING / bytes_per_cycle);
        (messages * MESSAGE) as f64 * 8.0 * config.clock_khz as f64 / 1e6 / cycles
    };
    let rate = ways.iter().map(|way| gbps(pair.payload_span[*way])).fold(f64::INFINITY, f64::min);
    let line = config.data_bits as f64 * config.clock_khz as f64 / 1e6;
    let taken = message_bytes(route, MESSAGE, pmtu) + if both { answer_bytes(route, MESSAGE, pmtu) } else { 0 };
    let ceiling = line * MESSAGE as f64 / taken as f64;
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("{} 64 KiB, PMTU {pmtu}, {}", name(route), if both { "both ways, the slower" } else { "one way" }),
        value: if moved.matches { rate } else { 0.0 },
        unit: "Gb/s",
        gate: gate(config, Gate::AtLeast(GOODPUT_GATE * ceiling)),
        note: format!(
            "{messages} messages{}, first byte on the wire to last; ceiling {ceiling:.3}, {:.2} % of it; {dropped} dropped, {rewinds} rewinds; {}",
            if both { " each way" } else { "" },
            100.0 * rate / ceiling,
            if moved.matches { "data verified" } else { "DATA WRONG" }
        ),
    })
}

/// 4 KiB messages on all QPs against the same on one: the first byte on the wire to the last.
pub fn many(options: &BenchOptions) -> Result<Vec<Figure>> {
    if !sends(options)? {
        return Ok(vec![]);
    }
    let config = Config::preset(&options.preset)?;
    let read = pair(options)?.sides[0].device.capabilities().read_atomic;
    let routes = [Route::Write, Route::Send, Route::Read]
        .into_iter()
        .filter(|r| *r != Route::Read || read);
    routes.map(|route| share_of_one(options, &config, route)).collect()
}

fn share_of_one(options: &BenchOptions, config: &Config, route: Route) -> Result<Figure> {
    // Index 0 is unused, 1 is QP1.
    let all = config.n_qps - 2;
    let each = if options.quick { 2 } else { 4 };
    let run = |qps: usize, count: usize| -> Result<(f64, bool, (u32, u32))> {
        let mut pair = pair(options)?;
        let transfer_options = TransferOptions {
            route,
            pmtu: 1024.min(config.max_pmtu),
            message: MANY_MESSAGE,
            depth: 8,
            timeout: TIMEOUT,
            order: Order::default(),
            qps,
        };
        let mut flows = vec![];
        for n in 0..qps {
            let bytes = data(options.seed ^ n as u64, count * MANY_MESSAGE);
            flows.push(Flow::new(&mut pair, 0, transfer_options, bytes)?);
        }
        let moved = transfer(&mut pair, &mut flows, 500, |_| ())?;
        let cycles = pair.payload_span[0].map_or(f64::INFINITY, |(first, last)| (last + 1 - first) as f64);
        let rate = moved.bytes as f64 * 8.0 * config.clock_khz as f64 / 1e6 / cycles;
        Ok((rate, moved.matches, troubles(&mut pair)?))
    };
    let (one, right, _) = run(1, all * each / 4)?;
    let (many, matches, (dropped, rewinds)) = run(all, each)?;
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("{} 4 KiB, {all} QPs, share of one QP's", name(route)),
        value: if right && matches { 100.0 * many / one } else { 0.0 },
        unit: "%",
        gate: gate(config, Gate::AtLeast(MANY_SHARE)),
        note: format!(
            "{each} messages on each QP, PMTU {}, {many:.3} Gb/s against {one:.3}, first byte on the wire to last; {dropped} dropped, {rewinds} rewinds; {}",
            1024.min(config.max_pmtu),
            if right && matches { "data verified" } else { "DATA WRONG" }
        ),
    })
}

fn rate(options: &BenchOptions, config: &Config, qps: usize) -> Result<Figure> {
    let count = if options.quick { 1000 } else { 4000 };
    let mut pair = pair(options)?;
    let transfer_options = TransferOptions {
        route: Route::Write,
        pmtu: 256,
        message: SMALL,
        // Both queues of a QP complete into one CQ, and `cu` has rings of 128.
        depth: if qps > 2 { 32 } else { 64 },
        timeout: TIMEOUT,
        order: Order::default(),
        qps,
    };
    let mut flows = vec![];
    for n in 0..qps {
        flows.push(Flow::new(&mut pair, 0, transfer_options, data(n as u64, count / qps * SMALL))?);
    }
    let moved = transfer(&mut pair, &mut flows, 1000, |_| ())?;
    let (dropped, rewinds) = troubles(&mut pair)?;
    let rate = moved.messages as f64 / moved.time as f64 * 1000.0;
    let limit = if qps > 2 { MANY_GATE } else { ONE_GATE };
    Ok(Figure {
        preset: options.preset.clone(),
        name: format!("WRITE of {SMALL} bytes, {qps} QP{}", if qps == 1 { "" } else { "s" }),
        value: if moved.matches { rate } else { 0.0 },
        unit: "M/s",
        gate: gate(config, Gate::AtLeast(limit)),
        note: format!(
            "{} messages, all signalled, {} under way on each QP, hosts look every us; {dropped} dropped, {rewinds} rewinds; {}",
            moved.messages,
            transfer_options.depth,
            if moved.matches { "data verified" } else { "DATA WRONG" }
        ),
    })
}
