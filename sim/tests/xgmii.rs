// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two engines with their MACs, XGMII to XGMII: the engine's pace through the MAC, with every column checked.
//!
//! The engine with the MAC (`verbena_hca_xgmii`) is Verilated by the first test that needs it and kept in the cache. The variable `VERBENA_MODEL_XGMII` names a
//! library to take instead, with the same ports: `fpga netlist ecp5` runs these tests on what synthesis made.

use crate::common::models::model_of;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::OnceLock;
use verbena_model::wire::Faults;
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::world::{
    answer_bytes, message_bytes, transfer, Flow, Network, Order, Report, Route, TransferOptions, World, WorldOptions,
};
use verbena_spec::config::Config;
use verbena_spec::counters;
use verbena_verilated::Model;

/// The Verilated engine with its MAC.
fn model() -> Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    *MODEL.get_or_init(|| {
        model_of(
            || verbena_designs::emit_xgmii(&Config::preset("tengig").unwrap()),
            std::env::var("VERBENA_MODEL_XGMII").ok(),
        )
    })
}

fn pair(seed: u64) -> Pair {
    pair_on(seed, Faults::default())
}

fn pair_on(seed: u64, faults: Faults) -> Pair {
    let mut options = HcaOptions::new("tengig");
    options.seed = seed;
    options.model = Some(model());
    options.transmit_at_wire_pace = false;
    Pair::new(&options, &WireOptions { latency: 0, faults }).unwrap()
}

/// Random work of all verbs, both ways: every byte, completion and retry is held to a sequential model, and every column to the MAC's rules.
fn work(seed: u64, qps: usize, faults: Faults) -> Report {
    let bad = faults.loss > 0.0;
    let options = WorldOptions {
        qps: Some(qps),
        late: bad,
        senders: [true; 2],
        unreliable: !bad,
        timeout: 5,
        host_period: 10_000,
        reorder: false,
    };
    let report = World::new(pair_on(seed, faults), seed, options).and_then(|mut world| world.run());
    let report = report.unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    println!("seed {seed}: {report:?}");
    report
}

/// All services and verbs on a good wire.
#[test]
fn all_verbs_between_two_macs() {
    let report = work(1, 4, Faults::default());
    assert!(report.messages > 50 && report.bytes > 50_000, "{report:?}");
    assert_eq!((report.faults, report.retries, report.timeouts), (0, 0, 0), "{report:?}");
}

/// Lost frames, and receives that come late: retries and RNR waits.
#[test]
fn a_bad_wire_between_two_macs() {
    let faults = Faults {
        loss: 0.03,
        ..Faults::default()
    };
    let report = work(2, 2, faults);
    assert!(report.faults > 0 && report.retries > 0, "{report:?}");
}

fn random(seed: u64, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut data);
    data
}

/// Every length, back to back, from one host to the other.
#[test]
fn every_frame_length_through_both_macs() {
    let mut pair = pair(1);
    let frames: Vec<Vec<u8>> = (60..=4200)
        .map(|length| {
            let mut frame = random(length as u64, length);
            // Ours, but no type that anybody looks into (local experimental).
            frame[..6].copy_from_slice(&verbena_sim::pair::ENDS[1].mac);
            frame[12..14].copy_from_slice(&[0x88, 0xb5]);
            frame
        })
        .collect();
    let host_tx = &mut pair.sides[0].hca().host_tx;
    frames.iter().for_each(|f| host_tx.send(f));
    let mut limit = 3000;
    while pair.sides[1].hca().host_rx.count < frames.len() as u64 {
        pair.run(1000);
        limit -= 1;
        assert!(limit > 0, "{} of {} frames came", pair.sides[1].hca().host_rx.count, frames.len());
    }
    pair.check().unwrap();
    let got = &pair.sides[1].hca().host_rx.frames;
    for (got, want) in got.iter().zip(&frames) {
        assert!(got.bytes == *want && !got.bad, "frame of {} bytes", want.len());
    }
    let device = pair.device(1);
    for counter in [counters::RX_BAD_FCS, counters::RX_TOO_LONG, counters::RX_HOST_OVERFLOW] {
        assert_eq!(device.counter(counter).unwrap(), 0);
    }
}

fn goodput(route: Route, pmtu: usize, both: bool) -> f64 {
    let mut pair = pair(2);
    let options = TransferOptions {
        route,
        pmtu,
        message: 64 << 10,
        depth: 16,
        timeout: 8,
        order: Order::default(),
        qps: 1,
    };
    let ways: &[usize] = if both { &[0, 1] } else { &[0] };
    let mut flows: Vec<Flow> = ways
        .iter()
        .map(|from| Flow::new(&mut pair, *from, options, random(*from as u64, 12 << 16)).unwrap())
        .collect();
    let moved = transfer(&mut pair, &mut flows, 100, |_| ()).unwrap();
    assert!(moved.matches, "{route:?} {pmtu}");
    pair.check().unwrap();
    for side in 0..2 {
        let device = pair.device(side);
        for counter in [
            counters::RX_BAD_FCS,
            counters::RX_BAD_ICRC,
            counters::RX_NO_BUFFER,
            counters::REWIND,
        ] {
            assert_eq!(device.counter(counter).unwrap(), 0, "{route:?} {pmtu}, side {side}");
        }
    }
    let taken = message_bytes(route, 64 << 10, pmtu) + if both { answer_bytes(route, 64 << 10, pmtu) } else { 0 };
    let ceiling = 10.0 * f64::from(64 << 10) / taken as f64;
    let span = pair.payload_span[0].unwrap();
    // 8 bytes a cycle are 10 Gb/s.
    let rate = 10.0 * f64::from(12 << 16) / (8 * (span.1 - span.0)) as f64;
    rate / ceiling
}

/// RDMA at the wire's pace through the MACs: no underrun, no illegal column, 98 % of the wire.
#[test]
fn rdma_at_line_rate() {
    for (route, pmtu, both) in [
        (Route::Write, 256, false),
        (Route::Write, 1024, true),
        (Route::Write, 4096, true),
        (Route::Send, 1024, false),
        (Route::Send, 4096, true),
    ] {
        let share = goodput(route, pmtu, both);
        println!("{route:?}, PMTU {pmtu}, both ways {both}: {:.2} % of the wire", 100.0 * share);
        assert!((0.98..1.005).contains(&share), "{route:?} {pmtu} {both}: {share}");
    }
}
