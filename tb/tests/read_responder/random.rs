// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random requests, duplicates, ACKs and state changes on several QPs.

use super::golden::{Op, Request};
use super::harness::{Ask, Cu, Habits, Leave, Rig, Tengig};
use super::rules::{regions, KEY, PAGED};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a peer remembers of its QP.
#[derive(Clone, Default)]
struct Peer {
    psn: u32,
    msn: u32,
    sent: Vec<Request>,
}

fn request(rng: &mut ChaCha8Rng, qp: usize, psn: u32, mtu: u32, atomics: bool) -> Request {
    let paged = rng.gen_ratio(1, 3);
    let key = if paged { PAGED } else { KEY } + ((qp as u32 - 1) << 12);
    let va = if paged {
        0xab_0000_0000 + rng.gen_range(0..100_000)
    } else {
        0x7_ffff_0000 + rng.gen_range(0u64..0x1_2000)
    };
    let mut request = Request {
        psn,
        va,
        key,
        length: match rng.gen_range(0..6) {
            0 => 0,
            1 => rng.gen_range(1..9),
            2 => mtu * rng.gen_range(1..4),
            _ => rng.gen_range(1..mtu * 6),
        },
        op: Op::Read,
    };
    if atomics && rng.gen_ratio(1, 3) {
        // Few places, so that they meet.
        request.va = if paged { 0xab_0000_0ff8 } else { 0x7_ffff_0000 } + 8 * rng.gen_range(0..3);
        request.op = if rng.gen() {
            Op::FetchAdd { add: rng.gen_range(0..3) }
        } else {
            Op::CompareSwap {
                compare: rng.gen_range(0..4),
                swap: rng.gen_range(0..4),
            }
        };
        request.length = rng.gen();
        if rng.gen_ratio(1, 20) {
            request.va += 4;
        }
    }
    if rng.gen_ratio(1, 25) {
        request.key ^= 1 << rng.gen_range(0..9);
    }
    request
}

/// A duplicate: the same, a tail, a part, or something near it.
fn duplicate(rng: &mut ChaCha8Rng, old: &Request, mtu: u32) -> Request {
    let mut new = *old;
    if !old.op.atomic() && old.length > mtu && rng.gen() {
        let skip = rng.gen_range(0..old.length.div_ceil(mtu));
        new.psn = (old.psn + skip) & 0xff_ffff;
        new.va += (skip * mtu) as u64;
        new.length -= skip * mtu;
        if rng.gen_ratio(1, 4) {
            new.length = rng.gen_range(0..new.length + 1);
        }
    }
    match rng.gen_range(0..20) {
        0 => new.va += 1,
        1 => new.length = new.length.wrapping_add(1),
        2 => new.psn = (new.psn + 1) & 0xff_ffff,
        3 => new.key ^= 1,
        4 => new.psn = new.psn.wrapping_sub(1) & 0xff_ffff,
        _ => {}
    }
    if new.op.atomic() {
        new.length = old.length;
    }
    new
}

macro_rules! random {
    ($name:ident, $rig:ty, $qps:expr, $atomics:expr, $seeds:expr, $habits:expr) => {
        #[test]
        fn $name() {
            for seed in $seeds {
                let qps: &[(u32, usize)] = &$qps;
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut rig = <$rig>::new(seed, $habits, qps, regions(qps.len()));
                for entry in 0x20..0x80 {
                    rig.mtt.insert(entry, rng.gen::<u64>() >> 12);
                }
                drive(&mut rng, &mut rig, qps, $atomics);
            }
        }
    };
}

fn drive<
    const QA: usize,
    const QB: usize,
    const PA: usize,
    const AA: usize,
    const BA: usize,
    const RA: usize,
    const RC: usize,
    const SPLIT: usize,
    const SMALL: usize,
    const ATOMICS: usize,
>(
    rng: &mut ChaCha8Rng,
    rig: &mut Rig<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>,
    qps: &[(u32, usize)],
    atomics: bool,
) {
    let mut peers = vec![Peer::default(); qps.len() + 1];
    for peer in &mut peers {
        peer.psn = 0xff_fff0 + rng.gen_range(0..8);
    }
    for _ in 0..250 {
        let index = rng.gen_range(1..=qps.len());
        let mtu = 128 << qps[index - 1].0;
        let peer = &mut peers[index];
        match rng.gen_range(0..20) {
            0..=6 => {
                // A peer keeps to the ring, mostly.
                if rig.qps[index].unserved() < qps[index - 1].1 || rng.gen_ratio(1, 10) {
                    let new = request(rng, index, peer.psn, mtu, atomics);
                    peer.msn = (peer.msn + 1) & 0xff_ffff;
                    rig.ask(index, new, peer.msn);
                    while !rig.asks.is_empty() {
                        rig.step();
                    }
                    let (verdict, psns) = *rig.verdicts().last().unwrap();
                    if verdict == 0 {
                        peer.psn = (peer.psn + psns) & 0xff_ffff;
                        peer.sent.push(new);
                    }
                }
            }
            7..=11 => {
                if !peer.sent.is_empty() {
                    let back = rng.gen_range(0..peer.sent.len().min(qps[index - 1].1 + 1));
                    let old = peer.sent[peer.sent.len() - 1 - back];
                    let new = duplicate(rng, &old, mtu);
                    rig.again(index, new);
                }
            }
            12..=15 => {
                let syndrome = match rng.gen_range(0..40) {
                    0 => 0x62,
                    1..=4 => 0x60,
                    5..=8 => 0x2c,
                    _ => 0x1f,
                };
                let psn = peer.psn;
                peer.psn = (peer.psn + 1) & 0xff_ffff;
                rig.leave(Leave::Ack(index, syndrome, psn, peer.msn));
            }
            16 => {
                if rng.gen_ratio(1, 2) || rig.qps[index].shut {
                    let state = rng.gen_range(0..6);
                    rig.asks.push_back(Ask::State { index, state });
                    if state < 2 {
                        *peer = Peer {
                            psn: rng.gen_range(0..0x100_0000),
                            ..Default::default()
                        };
                    }
                }
            }
            _ => rig.run(rng.gen_range(0..300)),
        }
        if rng.gen_ratio(1, 6) {
            while !rig.asks.is_empty() {
                rig.step();
            }
        }
    }
    rig.drain();
    let count: usize = (1..=qps.len()).map(|i| rig.packets(i).len()).sum();
    println!("{}: {count} packets, {} cycles", rig.say, rig.bench.cycle);
    assert!(count > 20);
}

const MANY: [(u32, usize); 5] = [(1, 16), (2, 4), (1, 1), (3, 2), (1, 3)];

random!(random_tengig_quick, Tengig, MANY, true, 100..106, Habits::quick());
random!(random_tengig_slow, Tengig, MANY, true, 200..206, Habits::slow());
random!(
    random_tengig_errors,
    Tengig,
    MANY,
    true,
    300..306,
    Habits {
        error: 0.05,
        ..Habits::slow()
    }
);
random!(random_cu_quick, Cu, [(1, 2), (2, 2), (1, 1)], false, 400..406, Habits::quick());
random!(random_cu_slow, Cu, [(1, 2), (2, 2), (1, 1)], false, 500..506, Habits::slow());
