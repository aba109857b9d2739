// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random loss, reordering, duplicates, refusals and ends of QPs, on six QPs.

use super::harness::{Attributes, Harness, Manners};
use rand::Rng;
use std::collections::VecDeque;
use verbena_spec::counters as c;
use verbena_spec::layout::state;

/// A sender: go back N from what is asked for.
fn run(seed: u64, manners: Manners, cycles: u64, beats: std::ops::Range<u64>, ends: u32) {
    let attributes = |distance, delay, reorder| Attributes { reorder, distance, delay };
    let qps = [
        (0, attributes(0, 0, true)),
        (0xff_ffc0, attributes(0, 0, true)),
        (5, attributes(12, 60, true)),
        (0xff_ff00, attributes(30, 0, true)),
        (77, attributes(63, 100, true)),
        (3, attributes(0, 0, false)),
    ];
    let mut h = Harness::new(seed, manners, &qps);
    // Per QP: next PSN, packets on their way (arrival cycle, PSN).
    let mut next: Vec<u32> = qps.iter().map(|q| q.0).collect();
    let mut way: Vec<VecDeque<(u64, u32)>> = vec![VecDeque::new(); qps.len()];
    let mut looked = 0;
    while h.cycle() < cycles {
        let now = h.cycle();
        let qp = h.rng.gen_range(1..qps.len());
        if h.rng.gen_ratio(1, 40) && h.waiting() < 12 {
            let ahead = next[qp].wrapping_sub(h.qps[qp].epsn) & 0xff_ffff;
            if !(60..0x80_0000).contains(&ahead) {
                let psn = next[qp];
                let late = if h.rng.gen_ratio(1, 5) { h.rng.gen_range(0..4000) } else { 0 };
                if !h.rng.gen_ratio(1, 20) {
                    way[qp].push_back((now + late, psn));
                }
                if h.rng.gen_ratio(1, 30) {
                    way[qp].push_back((now + h.rng.gen_range(0..3000), psn));
                }
                next[qp] = next[qp].wrapping_add(1) & 0xff_ffff;
            }
        }
        for (qp, way) in way.iter_mut().enumerate().take(qps.len()).skip(1) {
            let due = way.iter().position(|p| p.0 <= now);
            if let Some((_, psn)) = due.and_then(|i| way.remove(i)) {
                let length = h.rng.gen_range(beats.clone());
                let psns = if h.rng.gen_ratio(manners.read, 1000) { 2 } else { 1 };
                h.arrive(qp, psn, length, psns);
            }
        }
        // The sender goes back: after a NAK, and now and then without one.
        if now > looked + 3000 {
            looked = now;
            for (qp, next) in next.iter_mut().enumerate().take(qps.len()).skip(1) {
                *next = h.qps[qp].epsn;
                if ends != 0 && h.rng.gen_ratio(ends, 100) {
                    let to = [state::RESET, state::ERR, state::SQD][h.rng.gen_range(0..3)];
                    h.change(qp, to);
                }
            }
        }
        h.tick();
    }
    for way in &mut way {
        way.clear();
    }
    let executed: usize = h.qps.iter().map(|q| q.executed.len()).sum();
    h.end();
    assert!(executed > cycles as usize / 400, "{executed} executed");
    assert!(h.counters[&c::REORDER_HELD] > 20);
}

const BUSY: Manners = Manners {
    stall: 0,
    rnr: 30,
    fatal: 0,
    read: 0,
};

#[test]
fn random_quick() {
    run(21, BUSY, 60_000, 9..40, 0);
}

#[test]
fn random_stalled() {
    run(22, Manners { stall: 400, ..BUSY }, 60_000, 9..40, 0);
    run(23, Manners { stall: 850, ..BUSY }, 60_000, 9..30, 0);
}

#[test]
fn random_ends() {
    let manners = Manners {
        stall: 200,
        fatal: 8,
        ..BUSY
    };
    run(24, manners, 80_000, 9..40, 20);
    run(25, Manners { stall: 0, ..manners }, 80_000, 9..40, 20);
}

/// Long frames: the ring needs its room back.
#[test]
fn random_long() {
    let h = Manners {
        stall: 100,
        read: 50,
        ..BUSY
    };
    run(26, h, 60_000, 200..520, 10);
}
