// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles a message: 64-byte WRITEs with 100 cycles of memory latency, each with its own doorbell and its own wake.

use super::harness::*;
use crate::wqe::*;
use verbena_spec::layout::send_opcode;

/// Cycles a message over `qps` QPs, in the steady state.
fn pace(qps: u32, doorbells: bool) -> f64 {
    let mut h = Harness::new(1);
    h.latency = 100;
    h.done_latency = 100;
    h.auto_ack = Some(40);
    let each = 12;
    let rounds = 6;
    for index in 1..=qps {
        h.connect(index, |s| s.psn = 0);
        let pd = h.qps[index as usize].setup.pd;
        h.region(index, pd, 0x10_0000, 0x1_0000, false);
    }
    for round in 0..rounds * each {
        for index in 1..=qps {
            h.post(index, wqe(send_opcode::WRITE, &[(0x10_0000 + round * 64, 64, index)]));
            if doorbells || round % each == each - 1 {
                h.ring(index);
            }
        }
        if round >= each {
            // The ring is full: as many again as have been completed.
            h.run_until(2000, "room", |h| {
                (1..=qps).all(|i| h.qps[i as usize].wqes.len() - h.qps[i as usize].oldest < 15)
            });
        }
    }
    h.run_until(2000, "all out", |h| (1..=qps).all(|i| h.all_out(i)));
    let n = h.times.len();
    let (from, to) = (n / 4, n * 3 / 4);
    let cycles = (h.times[to] - h.times[from]) as f64 / (to - from) as f64;
    println!(
        "{qps} QPs, a doorbell a message {doorbells}: {cycles:.1} cycles a message, {} reads under way at most",
        h.in_flight_fetches
    );
    cycles
}

#[test]
fn one_message_in_22_cycles_over_many_qps() {
    // A doorbell each: the scheduler is what's busy.
    assert!(pace(15, true) <= 28.0);
    assert!(pace(15, false) <= 22.0);
}

#[test]
fn one_message_in_70_cycles_on_one_qp() {
    assert!(pace(1, true) <= 70.0);
}
