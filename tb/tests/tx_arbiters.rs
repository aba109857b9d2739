// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tx::PacketArbiter`, `mem::KeyArbiter`: turns, order, who gets the answer.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::mem::{KeyArbiter, ReadJob};
use verbena_hdl::tx::PacketArbiter;
use verbena_tb::{diff::Diff, drive, step::Bench};

/// A packet of a source: words, jobs (by address), and after how many jobs taken its last word may be offered.
#[derive(Clone)]
struct Packet {
    words: VecDeque<u32>,
    jobs: VecDeque<u64>,
}

fn packets(seed: u64, idle: bool, stall: bool) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::<PacketArbiter>::default(), |u| &mut u.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.step();
    bench.uut.reset.next = false;

    let total = 120;
    let mut number = 0u32;
    let mut queues: [VecDeque<Packet>; 2] = Default::default();
    for (source, queue) in queues.iter_mut().enumerate() {
        for _ in 0..total / 2 {
            number += 1;
            let payload = rng.gen_ratio(2, 3);
            // Word 0 names source and packet; bit 13 says that there is payload.
            let mut words = VecDeque::from([(source as u32) << 31 | number << 16 | (payload as u32) << 13]);
            words.extend((0..rng.gen_range(1..8)).map(|_| rng.gen::<u32>()));
            let jobs = (0..if payload { rng.gen_range(1..4) } else { 0 })
                .map(|k| ((source as u64) << 40) + ((number as u64) << 8) + k)
                .collect();
            queue.push_back(Packet { words, jobs });
        }
    }
    let mut order = vec![];
    let mut dones: VecDeque<(usize, bool)> = VecDeque::new(); // reads begun, in order
    let mut words_of: Option<(usize, VecDeque<u32>)> = None;
    let mut answers = [vec![], vec![]];
    let mut want_answers = [vec![], vec![]];
    let (mut word_on, mut job_on, mut done_on) = ([false; 2], [false; 2], false);
    let mut jobs_seen: Vec<u64> = vec![];
    let mut want_jobs: Vec<u64> = vec![];
    let mut finished = 0;
    while finished < 40 {
        assert!(bench.cycle < 20_000, "seed {seed}: {order:?}");
        let uut = &mut bench.uut;
        for s in 0..2 {
            let front = queues[s].front();
            // The last word waits for the packet's jobs to be offered: here, taken.
            let may = front.is_some_and(|p| !p.words.is_empty() && (p.words.len() > 1 || p.jobs.len() <= 1));
            word_on[s] = may && (word_on[s] || !idle || rng.gen_ratio(1, 2));
            job_on[s] = front.is_some_and(|p| !p.jobs.is_empty()) && (job_on[s] || !idle || rng.gen_ratio(1, 2));
            let word = front.and_then(|p| p.words.front().copied()).unwrap_or(0) as u64;
            let last = front.is_some_and(|p| p.words.len() == 1);
            let job = ReadJob {
                address: front.and_then(|p| p.jobs.front().copied()).unwrap_or(0).to_bits(),
                last: front.is_some_and(|p| p.jobs.len() == 1),
                ..ReadJob::default()
            };
            if s == 0 {
                uut.s0_packet_valid.next = word_on[s];
                uut.s0_packet_word.next = word.to_bits();
                uut.s0_packet_last.next = last;
                uut.s0_job_valid.next = job_on[s];
                uut.s0_job.next = job;
            } else {
                uut.s1_packet_valid.next = word_on[s];
                uut.s1_packet_word.next = word.to_bits();
                uut.s1_packet_last.next = last;
                uut.s1_job_valid.next = job_on[s];
                uut.s1_job.next = job;
            }
        }
        uut.s0_done_ready.next = !stall || rng.gen_ratio(1, 4);
        uut.s1_done_ready.next = !stall || rng.gen_ratio(1, 4);
        uut.packet_ready.next = !stall || rng.gen();
        uut.job_ready.next = !stall || rng.gen();
        done_on = !dones.is_empty() && (done_on || rng.gen_ratio(1, 8));
        uut.done_valid.next = done_on;
        uut.done_error.next = dones.front().is_some_and(|d| d.1);
        bench.settle();

        let uut = &bench.uut;
        let taken = [word_on[0] && uut.s0_packet_ready.val(), word_on[1] && uut.s1_packet_ready.val()];
        assert_eq!(uut.packet_valid.val() && uut.packet_ready.val(), taken[0] || taken[1]);
        assert!(!(taken[0] && taken[1]));
        let jobs_taken = [job_on[0] && uut.s0_job_ready.val(), job_on[1] && uut.s1_job_ready.val()];
        assert_eq!(uut.job_valid.val() && uut.job_ready.val(), jobs_taken[0] || jobs_taken[1]);
        for s in 0..2 {
            if jobs_taken[s] {
                let address = uut.job.val().address.to_u64();
                let packet = &mut queues[s][0];
                assert_eq!(Some(address), packet.jobs.pop_front());
                want_jobs.push(address);
                jobs_seen.push(address);
                if packet.jobs.is_empty() {
                    let error = rng.gen();
                    dones.push_back((s, error));
                    want_answers[s].push(error);
                }
            }
            if taken[s] {
                let word = uut.packet_word.val().to_u64() as u32;
                let packet = &mut queues[s][0];
                assert_eq!(Some(word), packet.words.pop_front());
                match &mut words_of {
                    None => {
                        assert_eq!((word >> 31) as usize, s);
                        order.push(s);
                        words_of = Some((s, VecDeque::new()));
                    }
                    // No word of the other source inside a packet.
                    Some((owner, _)) => assert_eq!(*owner, s),
                }
                assert_eq!(uut.packet_last.val(), packet.words.is_empty());
                if packet.words.is_empty() {
                    words_of = None;
                }
            }
            if queues[s].front().is_some_and(|p| p.words.is_empty() && p.jobs.is_empty()) {
                queues[s].pop_front();
                (word_on[s], job_on[s]) = (false, false);
            } else {
                word_on[s] &= !taken[s];
                job_on[s] &= !jobs_taken[s];
            }
        }
        let got = [
            uut.s0_done_valid.val() && uut.s0_done_ready.val(),
            uut.s1_done_valid.val() && uut.s1_done_ready.val(),
        ];
        assert_eq!(done_on && uut.done_ready.val(), got[0] || got[1]);
        for s in 0..2 {
            if got[s] {
                let error = if s == 0 { uut.s0_done_error.val() } else { uut.s1_done_error.val() };
                let (owner, want) = dones.pop_front().unwrap();
                assert_eq!((owner, want), (s, error), "done goes to its packet's source");
                answers[s].push(error);
                done_on = false;
            }
        }
        finished = if queues.iter().all(|q| q.is_empty()) && dones.is_empty() {
            finished + 1
        } else {
            0
        };
        bench.edge();
    }
    assert_eq!(answers, want_answers);
    assert_eq!(jobs_seen, want_jobs);
    assert_eq!(order.len(), total as usize);
    // Jobs come packet by packet, in the order of the words.
    let owners: Vec<usize> = jobs_seen.iter().map(|a| (a >> 40) as usize).collect();
    let mut numbers: Vec<u64> = jobs_seen.iter().map(|a| a >> 8).collect();
    numbers.dedup();
    let mut sorted = numbers.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), numbers.len(), "a packet's jobs are interrupted: {owners:?}");
    order
}

#[test]
fn packet_arbiter_order_and_done() {
    for seed in 1..=3 {
        packets(seed, false, false);
        packets(seed, true, false);
        packets(seed, false, true);
        packets(seed, true, true);
    }
}

/// Both always offer: strict turns.
#[test]
fn packet_arbiter_is_fair() {
    let order = packets(9, false, false);
    assert!(order.windows(2).all(|w| w[0] != w[1]), "{order:?}");
}

/// Three clients, pulses and held starts, against a checker model of 8 cycles whose answer is a function of the key.
fn keys(seed: u64, busy: bool) -> [u32; 3] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::<KeyArbiter>::default(), |u| &mut u.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.step();
    bench.uut.reset.next = false;
    // A client: none, or (key, held, cycles since start).
    let mut asks: [Option<(u32, bool, u32)>; 3] = [None; 3];
    let mut checks = [0; 3];
    let mut longest = [0; 3];
    let mut running: Option<(u32, u32)> = None;
    for _ in 0..3000 {
        let uut = &mut bench.uut;
        for c in 0..3 {
            if asks[c].is_none() && (busy || rng.gen_ratio(1, 30)) {
                asks[c] = Some((rng.gen(), rng.gen(), 0));
            }
            let (start, key) = match asks[c] {
                Some((key, held, age)) => (held || age == 0, key),
                None => (false, rng.gen()),
            };
            let mut set =
                |s: &mut Signal<In, Bit>, k: &mut Signal<In, Bits<32>>, va: &mut Signal<In, Bits<64>>, pd: &mut Signal<In, Bits<16>>| {
                    s.next = start;
                    k.next = (key as u64).to_bits();
                    va.next = (key as u64 * 3).to_bits();
                    pd.next = (key as u64 & 0xffff).to_bits();
                };
            match c {
                0 => set(&mut uut.s0_key_start, &mut uut.s0_key, &mut uut.s0_key_va, &mut uut.s0_key_pd),
                1 => set(&mut uut.s1_key_start, &mut uut.s1_key, &mut uut.s1_key_va, &mut uut.s1_key_pd),
                _ => set(&mut uut.s2_key_start, &mut uut.s2_key, &mut uut.s2_key_va, &mut uut.s2_key_pd),
            }
        }
        let done = running.is_some_and(|r| r.1 == 8);
        uut.m_key_done.next = done;
        uut.m_key_ok.next = running.is_some_and(|r| r.0 & 1 == 1);
        uut.m_key_address.next = (running.map_or(0, |r| r.0 as u64) << 8).to_bits();
        bench.settle();

        let uut = &bench.uut;
        let dones = [uut.s0_key_done.val(), uut.s1_key_done.val(), uut.s2_key_done.val()];
        assert_eq!(
            dones.iter().filter(|d| **d).count(),
            usize::from(done),
            "exactly one client is answered"
        );
        if let Some((key, _)) = running {
            // The inputs stay the owner's until done.
            assert_eq!(uut.m_key.val().to_u64() as u32, key, "seed {seed} cycle {}", bench.cycle);
            assert_eq!(uut.m_key_va.val().to_u64(), key as u64 * 3);
            assert_eq!(uut.m_key_pd.val().to_u64(), key as u64 & 0xffff);
        }
        for c in 0..3 {
            if let Some((key, _, age)) = &mut asks[c] {
                *age += 1;
                if dones[c] {
                    assert_eq!(
                        (uut.key_ok.val(), uut.key_address.val().to_u64()),
                        (*key & 1 == 1, (*key as u64) << 8),
                        "client {c}"
                    );
                    checks[c] += 1;
                    longest[c] = longest[c].max(*age);
                    asks[c] = None;
                }
            } else {
                assert!(!dones[c], "client {c} is answered without asking");
            }
        }
        running = match running {
            Some(_) if done => None,
            Some((key, age)) => Some((key, age + 1)),
            None if uut.m_key_start.val() => Some((uut.m_key.val().to_u64() as u32, 1)),
            None => None,
        };
        bench.edge();
    }
    assert!(longest.iter().all(|l| *l <= 3 * 10 + 2), "{longest:?}");
    checks
}

#[test]
fn key_arbiter_answers_the_right_client() {
    for seed in 1..=4 {
        let checks = keys(seed, false);
        assert!(checks.iter().all(|c| *c > 20), "{checks:?}");
    }
}

#[test]
fn key_arbiter_is_fair() {
    let checks = keys(5, true);
    let (least, most) = (checks.iter().min().unwrap(), checks.iter().max().unwrap());
    assert!(most - least <= 2, "{checks:?}");
}

/// Both readers, random: the page is that of the reader's own last entry, three cycles after its grant and until its next.
#[test]
fn diff_packet_arbiter() {
    let warnings = Diff::new("packet_arbiter").cycles(4000).run(
        PacketArbiter::default(),
        drive!(
            clock,
            reset,
            s0_packet_word,
            s0_packet_last,
            s0_packet_valid,
            s0_job: |w| ReadJob { paged: w.take(), address: w.take(), length: w.take(), last: w.take() },
            s0_job_valid,
            s0_done_ready,
            s1_packet_word,
            s1_packet_last,
            s1_packet_valid,
            s1_job: |w| ReadJob { paged: w.take(), address: w.take(), length: w.take(), last: w.take() },
            s1_job_valid,
            s1_done_ready,
            packet_ready,
            job_ready,
            done_valid,
            done_error
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn diff_key_arbiter() {
    let warnings = Diff::new("key_arbiter").cycles(3000).run(
        KeyArbiter::default(),
        drive!(
            clock,
            reset,
            s0_key_start,
            s0_key_op,
            s0_key,
            s0_key_va,
            s0_key_length,
            s0_key_pd,
            s0_key_access,
            s1_key_start,
            s1_key_op,
            s1_key,
            s1_key_va,
            s1_key_length,
            s1_key_pd,
            s1_key_access,
            s2_key_start,
            s2_key_op,
            s2_key,
            s2_key_va,
            s2_key_length,
            s2_key_pd,
            s2_key_access,
            m_key_done,
            m_key_ok,
            m_key_paged,
            m_key_address
        ),
    );
    assert_eq!(warnings, "");
}
