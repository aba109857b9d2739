// SPDX-License-Identifier: MIT OR Apache-2.0
//! The write jobs' queue: everything comes out once, unchanged and in order, a job stands until it is taken, and 18 wait.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::mem::{JobQueue, WriteJob};
use verbena_tb::{ports, step::Bench};

fn random(rng: &mut ChaCha8Rng) -> WriteJob {
    WriteJob {
        write: rng.gen(),
        paged: rng.gen(),
        address: rng.gen::<u64>().to_bits(),
        length: rng.gen_range(0..1u64 << 14).to_bits(),
        ring_beat: rng.gen_range(0..1u64 << 13).to_bits(),
        ring_offset: rng.gen_range(0..8u64).to_bits(),
        release: rng.gen(),
        end_beat: rng.gen_range(0..1u64 << 13).to_bits(),
        swap: rng.gen(),
    }
}

/// Chances of an offer and of a take, a cycle. Returns the most that waited.
fn run(direct: bool, seed: u64, offer: f64, take: f64) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::verilated(
        Box::new(JobQueue::new(direct)),
        "job_queue",
        ports!(in reset, s, s_valid, m_ready; out s_ready, m, m_valid),
    );
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    let (mut offered, mut shown): (Option<WriteJob>, Option<WriteJob>) = (None, None);
    let mut waiting = VecDeque::new();
    let (mut most, mut moved) = (0, 0);
    for cycle in 0..6_000 {
        if offered.is_none() && rng.gen_bool(offer) {
            offered = Some(random(&mut rng));
        }
        bench.uut.s.next = offered.unwrap_or_else(|| random(&mut rng));
        bench.uut.s_valid.next = offered.is_some();
        // Ready depends on valid, as the DMA writer's does.
        bench.uut.m_ready.next = false;
        bench.settle();
        bench.uut.m_ready.next = bench.uut.m_valid.val() && rng.gen_bool(take);
        bench.settle();
        if direct {
            assert_eq!(bench.uut.m_valid.val(), offered.is_some());
            assert_eq!(bench.uut.s_ready.val(), bench.uut.m_ready.val());
        }
        let next = waiting.front().copied().or(offered.filter(|_| direct));
        if let (Some(job), true) = (offered, bench.uut.s_ready.val()) {
            waiting.push_back(job);
            offered = None;
        }
        if bench.uut.m_valid.val() {
            let job = bench.uut.m.val();
            assert!(
                shown.is_none_or(|s| s == job),
                "seed {seed} cycle {cycle}: changed before it was taken"
            );
            assert_eq!(next, Some(job), "seed {seed} cycle {cycle}");
            shown = Some(job);
            if bench.uut.m_ready.val() {
                waiting.pop_front();
                shown = None;
                moved += 1;
            }
        } else {
            assert!(shown.is_none(), "seed {seed} cycle {cycle}: taken back");
        }
        most = most.max(waiting.len());
        bench.step();
    }
    assert!(moved > 100, "seed {seed}: {moved} jobs");
    most
}

#[test]
fn jobs_come_out_in_order() {
    for (seed, (offer, take)) in [(1.0, 1.0), (0.3, 1.0), (1.0, 0.3), (0.2, 0.2), (0.5, 0.45)]
        .into_iter()
        .enumerate()
    {
        run(false, seed as u64, offer, take);
        assert!(run(true, seed as u64, offer, take) <= 1, "direct: nothing waits");
    }
}

#[test]
fn eighteen_jobs_wait() {
    assert_eq!(run(false, 9, 1.0, 0.03), 18);
}
