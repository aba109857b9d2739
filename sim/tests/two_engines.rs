// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two machines on a bad wire, driven by the host library: all verbs mixed, both ways, every byte and completion held to a sequential model.
//! The same plans run over golden engines and over Verilated ones. More seeds: `hca-sim chaos --seeds 0..200`.

use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::wire::Faults;
use verbena_sim::command::chaos::{golden, mixed, verilated, Chaos};
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::world::{message_bytes, transfer, Flow, GoldenPair, Mixed, Order, Report, Route, TransferOptions, World, WorldOptions};

/// Cycles that the memory takes to answer.
const LATENCY: u64 = 100;

fn chaos(worst: f64) -> Chaos {
    Chaos { worst, ..Chaos::default() }
}

#[test]
fn golden_engines_on_a_bad_wire() {
    let mut total = Report::default();
    for seed in 0..200 {
        let report = golden(seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        total.messages += report.messages;
        total.faults += report.faults;
        total.retries += report.retries;
        total.rnr_waits += report.rnr_waits;
    }
    assert!(total.retries <= total.faults, "{total:?}");
    assert!(total.messages > 10_000 && total.retries > 500 && total.rnr_waits > 100, "{total:?}");
}

#[test]
fn golden_engines_on_a_good_wire_need_no_retry() {
    for seed in 0..50 {
        let report = golden(seed, &chaos(0.0)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        assert_eq!((report.faults, report.retries, report.timeouts), (0, 0, 0), "seed {seed}");
    }
}

/// ACK timers that run out before a long queue is through: retries that nothing explains.
#[test]
fn a_retry_without_a_fault_is_caught() {
    let options = WorldOptions {
        qps: Some(8),
        late: false,
        senders: [true; 2],
        unreliable: false,
        timeout: 3,
        host_period: 10_000,
        reorder: false,
    };
    let failed = (0..10).filter_map(|seed| {
        let network = GoldenPair::new(seed, 2000, Faults::default()).unwrap();
        World::new(network, seed, options).unwrap().run().err()
    });
    let failed: Vec<String> = failed.map(|e| e.to_string()).collect();
    assert!(
        !failed.is_empty() && failed.iter().all(|e| e.contains("retries, more than 0 faults")),
        "{failed:?}"
    );
}

#[test]
fn golden_engines_move_bytes_by_each_route() {
    let mut data = vec![0; 300_001];
    ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut data);
    for route in [Route::Write, Route::Send, Route::Read] {
        for loss in [0.0, 0.01] {
            let faults = Faults { loss, ..Faults::default() };
            let mut network = GoldenPair::new(1, 1000, faults).unwrap();
            let options = TransferOptions {
                route,
                pmtu: 1024,
                message: 8192,
                depth: 16,
                timeout: 7,
                order: Order::default(),
                qps: 1,
            };
            let mut flows = [0, 1].map(|from| Flow::new(&mut network, from, options, data.clone()).unwrap());
            let moved = transfer(&mut network, &mut flows, 1000, |_| ()).unwrap();
            assert!(moved.matches, "{route:?} at {loss}");
            assert_eq!((moved.messages, moved.bytes), (2 * 37, 2 * 300_001));
            // Both ways at once: on a good wire each way has the whole wire.
            let goodput = moved.bytes as f64 * 8.0 / moved.time as f64;
            assert!(loss > 0.0 || goodput > 16.0, "{route:?}: {goodput} Gb/s");
        }
    }
}

#[test]
fn a_golden_engine_and_a_verilated_one_move_bytes() {
    let mut data = vec![0; 200_001];
    ChaCha8Rng::seed_from_u64(2).fill_bytes(&mut data);
    // Where a READ is wanted, the far side asks: from 0 the Verilated engine's requester, from 1 its responder.
    for (route, from) in [(Route::Write, 0), (Route::Send, 0), (Route::Read, 0), (Route::Read, 1)] {
        for loss in [0.0, 0.01] {
            let faults = Faults { loss, ..Faults::default() };
            let mut network = Mixed::new(&HcaOptions::new("tengig"), 500, faults).unwrap();
            let options = TransferOptions {
                route,
                pmtu: 1024,
                message: 16384,
                depth: 16,
                timeout: 6,
                order: Order::default(),
                qps: 1,
            };
            let mut flows = [Flow::new(&mut network, from, options, data.clone()).unwrap()];
            let moved = transfer(&mut network, &mut flows, 200, |_| ()).unwrap();
            assert!(moved.matches, "{route:?} at {loss}");
            assert_eq!(moved.messages, 13);
            let ceiling = 10.0 * 16384.0 / message_bytes(route, 16384, 1024) as f64;
            let share = moved.steady_gbps / ceiling;
            assert!(
                share < 1.01 && (loss > 0.0 || share > 0.97),
                "{route:?} from {from}: {share} of the ceiling"
            );
        }
    }
}

/// The engine's responder, and its requester if it has one, against the golden engine.
#[test]
fn a_golden_and_a_verilated_engine_on_a_bad_wire() {
    for seed in 0..10 {
        mixed("tengig", LATENCY, seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

/// The golden engine sends, the Verilated one answers.
#[test]
fn a_golden_and_a_verilated_engine_on_a_good_wire_need_no_retry() {
    let options = Chaos {
        one_way: true,
        ..chaos(0.0)
    };
    for seed in 0..5 {
        let report = mixed("tengig", LATENCY, seed, &options).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        assert_eq!((report.faults, report.retries, report.timeouts), (0, 0, 0), "seed {seed}");
    }
}

#[test]
fn a_golden_and_a_small_verilated_engine_on_a_bad_wire() {
    for seed in 0..5 {
        mixed("cu", LATENCY, seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

#[test]
fn verilated_engines_on_a_bad_wire() {
    for seed in 0..12 {
        verilated("tengig", LATENCY, seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

/// R42: early requests are held until their turn; all bytes and completions are right all the same.
#[test]
fn r42_verilated_engines_that_hold_early_requests_on_a_bad_wire() {
    let options = Chaos { hold: true, ..chaos(0.05) };
    for seed in 0..12 {
        verilated("tengig", LATENCY, seed, &options).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

#[test]
fn r42_a_golden_and_a_verilated_engine_that_holds_early_requests_on_a_bad_wire() {
    let options = Chaos { hold: true, ..chaos(0.05) };
    for seed in 0..10 {
        mixed("tengig", LATENCY, seed, &options).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

#[test]
fn r42_small_engines_that_hold_early_requests_on_a_bad_wire() {
    let options = Chaos { hold: true, ..chaos(0.05) };
    for seed in 0..5 {
        verilated("cu", LATENCY, seed, &options).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        mixed("cu", LATENCY, seed, &options).unwrap_or_else(|e| panic!("mixed, seed {seed}: {e:#}"));
    }
}

/// The same work over golden engines and over Verilated ones, each on a bad wire of its own: both sides' memories are the same in the end.
#[test]
fn verilated_engines_leave_the_memories_that_golden_ones_leave() {
    for seed in 30..34 {
        let faults = Faults {
            loss: 0.02,
            duplicate: 0.01,
            reorder: 0.01,
            corrupt: 0.01,
            ..Faults::default()
        };
        let options = WorldOptions {
            qps: None,
            late: true,
            senders: [true; 2],
            unreliable: false,
            timeout: 6,
            host_period: 10_000,
            reorder: false,
        };
        let mut golden = World::new(GoldenPair::new(seed, 2000, faults).unwrap(), seed, options).unwrap();
        golden.run().unwrap_or_else(|e| panic!("golden, seed {seed}: {e:#}"));
        let mut machine = HcaOptions::new("tengig");
        machine.seed = seed;
        let wire = WireOptions::from_ns(2000, faults, 156_250);
        let mut engines = World::new(Pair::new(&machine, &wire).unwrap(), seed, options).unwrap();
        engines.run().unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        let (want, got) = (golden.memories().unwrap(), engines.memories().unwrap());
        assert!(!want.is_empty() && want.len() == got.len(), "seed {seed}: another plan");
        for (n, (want, got)) in want.iter().zip(&got).enumerate() {
            let differs = want.iter().zip(got).position(|(a, b)| a != b);
            assert_eq!((want.len(), differs), (got.len(), None), "seed {seed}, area {n}");
        }
    }
}

/// Seeds in which a fenced message sends what a READ has brought, and did so before the bytes were in memory when the fence waited for the response alone.
/// So do 6 and 10, which `verilated_engines_on_a_bad_wire` runs.
#[test]
fn a_fenced_message_sends_what_a_read_has_brought() {
    for seed in [19, 24] {
        verilated("tengig", LATENCY, seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

#[test]
fn verilated_engines_on_a_good_wire_need_no_retry() {
    for seed in 0..5 {
        let report = verilated("tengig", LATENCY, seed, &chaos(0.0)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        assert_eq!((report.faults, report.retries, report.timeouts), (0, 0, 0), "seed {seed}");
    }
}

#[test]
fn small_verilated_engines_on_a_bad_wire() {
    for seed in 0..5 {
        verilated("cu", LATENCY, seed, &chaos(0.05)).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
    }
}

/// One message, 2,048 responses, some twenty of them lost.
#[test]
fn r31_r33_a_read_of_8_mib_completes_at_1_percent_loss() {
    let mut data = vec![0; 8 << 20];
    ChaCha8Rng::seed_from_u64(3).fill_bytes(&mut data);
    let faults = Faults {
        loss: 0.01,
        ..Faults::default()
    };
    let mut machine = HcaOptions::new("tengig");
    machine.memory.latency = LATENCY;
    let mut pair = Pair::new(&machine, &WireOptions { latency: 100, faults }).unwrap();
    let options = TransferOptions {
        route: Route::Read,
        pmtu: 4096,
        message: data.len(),
        depth: 1,
        timeout: 6,
        order: Order::default(),
        qps: 1,
    };
    let mut flows = [Flow::new(&mut pair, 0, options, data).unwrap()];
    let moved = transfer(&mut pair, &mut flows, 1000, |_| ()).unwrap();
    assert!(moved.matches && moved.messages == 1);
    let lost: u64 = pair.wires.iter().map(|w| w.statistics().lost).sum();
    assert!(lost > 5, "{lost} lost");
}
