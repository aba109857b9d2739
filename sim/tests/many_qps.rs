// SPDX-License-Identifier: MIT OR Apache-2.0
//! All QPs of two Verilated engines at once on a good wire: nothing is dropped, nothing is asked for again. The figures: `hca-sim bench --only "many QPs"`.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::wire::Faults;
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::world::{transfer, Flow, Network, Order, Route, TransferOptions};
use verbena_spec::counters;

/// Cycles that the memory takes to answer.
const LATENCY: u64 = 100;
/// QPs of `tengig` that a host can make: index 0 is unused, 1 is QP1.
const QPS: usize = 254;

/// `each` messages of `message` bytes on all QPs; the counters that a good wire leaves at 0, of both sides.
fn run(route: Route, message: usize, each: usize, pmtu: usize) {
    let mut machine = HcaOptions::new("tengig");
    machine.memory.latency = LATENCY;
    let wire = WireOptions {
        latency: 0,
        faults: Faults::default(),
    };
    let mut pair = Pair::new(&machine, &wire).unwrap();
    let options = TransferOptions {
        route,
        pmtu,
        message,
        depth: 8,
        timeout: 8,
        order: Order::default(),
        qps: QPS,
    };
    let mut flows = vec![];
    for qp in 0..QPS {
        let mut data = vec![0; each * message];
        ChaCha8Rng::seed_from_u64(qp as u64).fill_bytes(&mut data);
        flows.push(Flow::new(&mut pair, 0, options, data).unwrap());
    }
    let moved = transfer(&mut pair, &mut flows, 500, |_| ()).unwrap();
    assert!(moved.matches);
    assert_eq!(moved.messages, QPS * each);
    let mut troubles = vec![];
    for side in 0..2 {
        for code in [
            counters::RX_NO_BUFFER,
            counters::REWIND,
            counters::TIMEOUT,
            counters::IMPLIED_NAK,
            counters::DUPLICATE,
            counters::OUT_OF_SEQUENCE,
            counters::OUT_OF_SEQUENCE_SILENT,
        ] {
            let count = pair.device(side).counter(code).unwrap();
            let name = counters::COUNTERS.iter().find(|c| c.code == code).unwrap().name;
            troubles.push((side, name, count));
        }
    }
    let span = pair.payload_span[0].map_or(0, |(first, last)| last + 1 - first);
    println!("{route:?}: {span} cycles from the first byte of payload on the wire to the last; {troubles:?}");
    assert!(troubles.iter().all(|(_, _, count)| *count == 0), "{troubles:?}");
}

#[test]
fn a_burst_of_reads_on_all_qps_is_held_not_dropped() {
    run(Route::Read, 4096, 4, 1024);
}
