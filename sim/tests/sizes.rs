// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tengig` with other numbers of queue pairs than its own (`gen-verilog --set n_qps=`): two engines, every QP connected, mixed work.
//!
//! Each size is Verilated by its test; the second is `#[ignore]`d: `cargo test -p verbena-sim --test system -- --ignored`, part of `make nightly`.

use crate::common::models::verilated;
use crate::common::wired::{Wired, Wish};
use verbena_model::wire::Faults;
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::world::{World, WorldOptions};
use verbena_spec::config::Config;

/// ns.
const WIRE: u64 = 300;

fn options(n_qps: usize) -> HcaOptions {
    let model = verilated(move || {
        let mut config = Config::preset("tengig").unwrap();
        config.set("n_qps", &n_qps.to_string()).unwrap();
        verbena_designs::emit(&config)
    });
    HcaOptions {
        model: Some(model),
        n_qps: Some(n_qps),
        ..HcaOptions::new("tengig")
    }
}

fn works(n_qps: usize) {
    let options = options(n_qps);
    let pair = |seed: u64, faults| {
        let options = HcaOptions { seed, ..options.clone() };
        Pair::new(&options, &WireOptions::from_ns(WIRE, faults, 156_250)).unwrap()
    };

    // Every QP is connected; the first, some in the middle and the last work, and no other has taken their place.
    let mut wired = Wired::new(pair(1, Faults::default()));
    let all: Vec<_> = (2..n_qps).map(|_| wired.connect(&Wish::default())).collect();
    let device = wired.network.sides[0].device.capabilities();
    assert_eq!(device.qps, n_qps);
    for (n, qps) in all.iter().enumerate() {
        if n < 2 || n + 2 >= all.len() || n % 61 == 7 {
            wired.round(*qps, &format!("n_qps={n_qps}, connection {n}"));
        }
    }
    wired.network.check().unwrap();

    // And a bad wire.
    let faults = Faults {
        loss: 0.02,
        duplicate: 0.02,
        reorder: 0.02,
        ..Faults::default()
    };
    for seed in 0..4 {
        let options = WorldOptions {
            qps: None,
            late: true,
            senders: [true; 2],
            unreliable: false,
            timeout: 6,
            host_period: 10_000,
            reorder: seed % 2 == 1,
        };
        let report = World::new(pair(seed, faults), seed, options).unwrap().run();
        let report = report.unwrap_or_else(|e| panic!("n_qps={n_qps}, seed {seed}: {e:#}"));
        assert!(report.messages > 20, "n_qps={n_qps}, seed {seed}: {report:?}");
    }
}

#[test]
fn tengig_of_16_queue_pairs() {
    works(16);
}

#[test]
#[ignore = "Verilates an engine of its own; make nightly"]
fn tengig_of_64_queue_pairs() {
    works(64);
}
