// SPDX-License-Identifier: MIT OR Apache-2.0
//! Long random runs: posts, doorbells, acknowledgements, rewinds (back, forward, with hold), SQD, failures and new lives on all QPs at once.

use super::super::golden::{self, Wqe};
use super::super::wqe::*;
use super::harness::*;
use super::QPS;
use rand::seq::SliceRandom;
use rand::Rng;
use verbena_spec::layout::{send_opcode, sq_wqe, state};

fn random_wqe(h: &mut Harness, index: u32) -> Wqe {
    let pmtu = h.qps[index as usize].setup.pmtu_bytes();
    let length = match h.rng.gen_range(0..6) {
        0 => 0,
        1 => h.rng.gen_range(1..=32),
        2 => h.rng.gen_range(pmtu - 3..=pmtu + 3),
        _ => h.rng.gen_range(0..3 * pmtu),
    };
    let (a, b) = (2 * index, 2 * index + 1);
    let va: [u64; 2] = [
        0x1_ffff_f800 + h.rng.gen_range(0..500u64),
        0x9_0000_0000 + h.rng.gen_range(0..500u64),
    ];
    let opcode = h.rng.gen_range(0..=4);
    let cut = h.rng.gen_range(0..=length);
    let mut w = match h.rng.gen_range(0..10) {
        0 | 1 => read(length),
        2 => atomic(send_opcode::COMPARE_SWAP),
        3 => inline(opcode, length.min(32)),
        4..=6 => wqe(opcode, &[(va[0], cut, a), (va[1], length - cut, b)]),
        _ => wqe(opcode, &[(va[1], length, b)]),
    };
    if h.rng.gen_ratio(1, 12) {
        sq_wqe::FENCE.set(&mut w, 1);
    }
    if h.rng.gen_ratio(1, 3) {
        sq_wqe::SOLICITED.set(&mut w, 1);
    }
    if h.rng.gen_ratio(1, 60) {
        match h.rng.gen_range(0..3) {
            0 => w[0] |= 8,
            1 => w[1] ^= 1 << 30,
            _ => w = wqe(send_opcode::WRITE, &[(va[0], 4, 0xbad)]),
        }
    }
    w
}

fn life(h: &mut Harness, index: u32) {
    let selective = h.rng.gen();
    let (pmtu, log, psn, max) = (
        h.rng.gen_range(1..=2),
        h.rng.gen_range(2..=5),
        *[0xff_fff8, 0, 0x7f_fffc, 0x12_3456].choose(&mut h.rng).unwrap(),
        h.rng.gen_range(1..=9),
    );
    h.connect(index, |s| {
        s.pmtu = pmtu;
        s.sq_log = log;
        s.psn = psn;
        s.max_rd_atomic = max;
        s.selective_repeat = selective;
    });
}

fn run(seed: u64, stall: u32, rounds: u32) {
    let mut h = Harness::new(seed);
    h.stall = stall;
    h.latency = h.rng.gen_range(0..120);
    h.done_latency = h.rng.gen_range(1..200);
    h.land_latency = h.rng.gen_range(0..200);
    let live: Vec<u32> = (1..QPS.min(7)).collect();
    for &index in &live {
        life(&mut h, index);
        let pd = h.qps[index as usize].setup.pd;
        h.region(2 * index, pd, 0x1_ffff_f800, 4000, QPS > 4);
        h.region(2 * index + 1, pd, 0x9_0000_0000, 4000, false);
    }
    let mut lives = 0;
    for _ in 0..rounds {
        let index = *live.choose(&mut h.rng).unwrap();
        let i = index as usize;
        if !h.qps[i].fails.is_empty() {
            // The refusal must be right: a bad WQE or a bad key, and the one that it names.
            let wqe = h.qps[i].wqes[h.qps[i].oldest];
            assert!(
                golden::refusal(&h.qps[i].setup, &wqe).is_some() || wqe[9] == 0xbad,
                "seed {seed}: {wqe:x?}"
            );
            h.wait_asks();
            h.set_state(index, state::ERR);
            life(&mut h, index);
            lives += 1;
            continue;
        }
        match h.rng.gen_range(0..20) {
            0..=8 => {
                let size = 1 << h.qps[i].setup.sq_log;
                for _ in 0..h.rng.gen_range(1..5) {
                    let q = &h.qps[i];
                    if q.wqes.len() - q.oldest.min(q.wqe) < size {
                        let w = random_wqe(&mut h, index);
                        h.post(index, w);
                    }
                }
                if h.rng.gen_ratio(3, 4) {
                    h.ring(index);
                }
            }
            9..=14 => {
                // Messages that have been sent to their end.
                let q = &h.qps[i];
                let whole = (q.oldest..q.begun.len())
                    .take_while(|&m| {
                        let end = q.begun[m].0.wrapping_add(q.begun[m].1);
                        (end.wrapping_sub(q.highest) << 8) as i32 <= 0
                    })
                    .last();
                if let Some(last) = whole {
                    let to = h.rng.gen_range(h.qps[i].oldest..=last) + 1;
                    if !h.asks_open() {
                        h.acknowledge(index, to);
                        let q = &h.qps[i];
                        if q.wqe < q.oldest && !q.alone {
                            // Forward again. What is sent alone Send sees to.
                            let (psn, wqe) = (q.oldest_psn, q.oldest as u16);
                            h.ask(Ask::Rewind {
                                index,
                                psn,
                                wqe,
                                offset: 0,
                                hold: false,
                                alone: false,
                            });
                            h.wait_asks();
                        }
                    }
                }
            }
            15..=16 => {
                // Back to a packet that has been sent.
                h.wait_asks();
                let q = &h.qps[i];
                if q.fails.is_empty() && q.begun.len() > q.oldest && q.state == state::RTS {
                    let m = h.rng.gen_range(q.oldest..q.begun.len());
                    let q = &h.qps[i];
                    let sent = (q.highest.wrapping_sub(q.begun[m].0) & 0xff_ffff).min(q.begun[m].1);
                    if sent > 0 {
                        let atomic = golden::is_atomic(&q.wqes[m]);
                        let packet = if atomic { 0 } else { h.rng.gen_range(0..sent) };
                        if h.qps[i].setup.selective_repeat && h.rng.gen_ratio(2, 3) {
                            // R42: alone; Complete names the oldest PSN.
                            let (psn, _) = h.place(index, m, packet);
                            if ((psn.wrapping_sub(h.qps[i].oldest_psn) << 8) as i32) < 0 {
                                continue;
                            }
                            h.acknowledge(index, m);
                            h.acknowledge_part(index, psn);
                            h.repeat(index, m, packet);
                            h.wait_asks();
                            continue;
                        }
                        let hold = h.rng.gen_ratio(1, 3);
                        h.rewind(index, m, packet, hold);
                        h.wait_asks();
                        if hold {
                            let pause = h.rng.gen_range(0..200);
                            h.run(pause);
                            h.ask(Ask::Wake(index));
                        }
                    }
                }
            }
            17 => {
                h.wait_asks();
                if h.qps[i].fails.is_empty() && h.qps[i].state == state::RTS {
                    h.set_state(index, state::SQD);
                } else if h.qps[i].fails.is_empty() && h.qps[i].state == state::SQD {
                    h.set_state(index, state::RTS);
                }
            }
            18 => {
                let pause = h.rng.gen_range(0..400);
                h.run(pause);
            }
            _ => h.ask(Ask::Wake(index)),
        }
        let some = h.rng.gen_range(0..40);
        h.run(some);
    }
    // To the end: everything acknowledged, every QP out or rightly failed.
    h.wait_asks();
    for &index in &live {
        if h.qps[index as usize].fails.is_empty() && h.qps[index as usize].state == state::SQD {
            h.set_state(index, state::RTS);
        }
        h.ring(index);
    }
    for turn in 0.. {
        assert!(turn < 200, "seed {seed}: it doesn't come to an end");
        h.drain(600);
        let mut over = true;
        for &index in &live {
            let q = &h.qps[index as usize];
            if q.fails.is_empty() && q.oldest < q.begun.len() {
                assert!(!q.held);
                let to = q.begun.len();
                let (end, highest) = (q.begun[to - 1].0.wrapping_add(q.begun[to - 1].1), q.highest);
                assert!(
                    (end.wrapping_sub(highest) << 8) as i32 <= 0,
                    "seed {seed}: qp {index} stopped inside a message"
                );
                h.acknowledge(index, to);
            }
            h.qps[index as usize].see_acknowledged();
            let q = &h.qps[index as usize];
            over &= !q.fails.is_empty() || (q.wqe == q.wqes.len() && q.oldest == q.wqes.len());
        }
        if over && !h.asks_open() {
            break;
        }
    }
    for &index in &live {
        if h.qps[index as usize].fails.is_empty() {
            h.check_rows(index);
        } else {
            let q = &h.qps[index as usize];
            let wqe = q.wqes[q.oldest];
            assert!(
                golden::refusal(&q.setup, &wqe).is_some() || wqe[9] == 0xbad,
                "seed {seed}: {wqe:x?}"
            );
        }
    }
    let packets: u64 = h.qps.iter().map(|q| q.packets).sum();
    println!("seed {seed}: {packets} packets in the last lives, {lives} new lives");
    assert!(packets > rounds as u64 / 20);
}

#[test]
fn random_without_stall() {
    for seed in 100..103 {
        run(seed, 0, 600);
    }
}

#[test]
fn random_with_stall() {
    run(200, 40, 500);
    run(201, 80, 250);
}
