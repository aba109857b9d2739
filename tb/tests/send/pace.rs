// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cycles a message: 64-byte WRITEs with 100 cycles of memory latency, each with its own doorbell and its own wake; cycles from a lone doorbell to its WQE's read.

use super::super::wqe::*;
use super::harness::*;
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
fn one_message_in_23_cycles_over_many_qps() {
    // A doorbell each: the scheduler is what's busy (27 where each wake is an event, and each eighth message takes a second turn).
    assert!(pace(15, true) <= 23.0);
    assert!(pace(15, false) <= 21.0);
}

#[test]
fn one_message_in_70_cycles_on_one_qp() {
    assert!(pace(1, true) <= 70.0);
}

/// A burst of READ requests on many QPs: 64 at once, then one in 80 cycles, so that the peer's queue of heads holds them. All of them go out.
#[test]
fn read_requests_leave_64_at_once_then_one_in_80_cycles() {
    let mut h = Harness::new(2);
    h.latency = 100;
    h.auto_ack = Some(40);
    for index in 1..=15 {
        h.connect(index, |s| {
            s.psn = 0;
            s.max_rd_atomic = 8;
        });
        for _ in 0..15 {
            h.post(index, read(300));
        }
        h.ring(index);
    }
    h.run_until(20_000, "all out", |h| (1..=15).all(|i| h.all_out(i)));
    let begin = h.times[0];
    assert_eq!(h.times.len(), 15 * 15);
    for (n, at) in h.times.iter().enumerate() {
        let allowed = 64 + (at - begin) / 80 + 2;
        assert!((n as u64) < allowed, "request {n} left {} cycles after the first", at - begin);
    }
    // And no slower: the last ones wait for the memory, not for the pace.
    let last = h.times[15 * 15 - 1] - begin;
    assert!(last < (15 * 15 - 64 + 5) * 80, "{last} cycles");
}

/// A doorbell that comes while nothing else is to be done: the AR of its WQE is offered 7 cycles later.
#[test]
fn the_read_of_a_wqe_is_asked_for_7_cycles_after_its_doorbell() {
    for index in 1..=4 {
        let mut h = Harness::new(index as u64);
        h.latency = 100;
        h.connect(index, |s| s.psn = 0);
        h.post(index, wqe(send_opcode::WRITE, &[(0x10_0000, 64, index)]));
        h.drain(50);
        // Shown in this cycle; after a cycle, `cycle` is the next.
        let rung = h.cycle();
        h.ring(index);
        h.run_until(100, "read of the WQE", |h| h.in_flight_fetches == 1);
        assert_eq!(h.cycle() - 1 - rung, 7, "QP {index}");
    }
}
