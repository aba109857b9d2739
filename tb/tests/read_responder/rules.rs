// SPDX-License-Identifier: MIT OR Apache-2.0
//! A test for each rule.

use super::golden::{Op, Region, Request, ACCEPTED, DROPPED, INVALID, REFUSED, TAKEN};
use super::harness::{Ask, Cu, Habits, Leave, Seen, Tengig};

pub const KEY: u32 = 0x317;
pub const PAGED: u32 = 0x418;

/// Every QP's PD (0x55 and up) has its regions: contiguous across 4 GiB, and paged.
pub fn regions(qps: usize) -> Vec<Region> {
    let mut all = vec![];
    for i in 0..qps as u32 {
        all.push(Region {
            key: KEY + (i << 12),
            pd: 0x55 + i as u16,
            va: 0x7_ffff_0000,
            length: 0x1_0000_0000,
            address: 0x12_fffe_1000,
            paged: false,
            read: true,
            atomic: true,
            valid: true,
        });
        all.push(Region {
            key: PAGED + (i << 12),
            pd: 0x55 + i as u16,
            va: 0xab_0000_0000,
            length: 64 << 12,
            address: 0x20 << 12,
            paged: true,
            read: true,
            atomic: true,
            valid: true,
        });
    }
    all
}

pub fn read(psn: u32, va: u64, length: u32) -> Request {
    Request {
        psn,
        va,
        key: KEY,
        length,
        op: Op::Read,
    }
}

const VA: u64 = 0x7_ffff_0100;

fn one(pmtu: u32, places: usize) -> Tengig {
    Tengig::new(1, Habits::quick(), &[(pmtu, places)], regions(1))
}

fn opcodes(packets: &[Vec<u32>]) -> Vec<u32> {
    packets.iter().map(|p| p[1] & 0xff).collect()
}

fn psns(packets: &[Vec<u32>]) -> Vec<u32> {
    packets.iter().map(|p| p[2]).collect()
}

/// Every length around the multiples of each PMTU; the model checks headers, order and jobs.
#[test]
fn r21_r22_r37_r38_responses_of_every_length() {
    for pmtu in 1..6 {
        let mtu = 128u32 << pmtu;
        let mut rig = one(pmtu, 4);
        let (mut psn, mut msn) = (0xff_fff8, 0xff_fffe);
        for length in [
            1,
            2,
            3,
            4,
            mtu - 1,
            mtu,
            mtu + 1,
            2 * mtu - 1,
            2 * mtu,
            2 * mtu + 1,
            5 * mtu,
            5 * mtu + 7,
        ] {
            rig.ask(1, read(psn, VA + length as u64, length), msn);
            rig.drain();
            psn = (psn + length.div_ceil(mtu)) & 0xff_ffff;
            msn = (msn + 1) & 0xff_ffff;
            // R38.
            let last = rig.packets(1).last().unwrap().clone();
            assert_eq!(last[3] >> 24, 0x1f);
        }
        assert_eq!(psn, 26 - 8);
        assert_eq!(
            psns(&rig.packets(1)),
            (0..26u32).map(|n| n.wrapping_sub(8) & 0xff_ffff).collect::<Vec<_>>()
        );
    }
}

#[test]
fn r22_psns_consumed() {
    let mut rig = one(1, 16);
    for length in [0, 1, 256, 257, 0xffff, 0x1_0000] {
        rig.ask(1, read(5, VA, length), 1);
    }
    rig.run(600);
    let counts: Vec<u32> = rig.verdicts().iter().map(|v| v.1).collect();
    assert_eq!(counts, [1, 1, 1, 2, 256, 256]);
}

#[test]
fn r50_length_up_to_2_31() {
    let mut rig = one(5, 4);
    rig.ask(1, read(5, VA, 1 << 31), 1);
    rig.ask(1, read(5, VA, (1 << 31) + 1), 1);
    rig.ask(1, read(5, VA, u32::MAX), 1);
    rig.run(300);
    assert_eq!(rig.verdicts(), [(ACCEPTED, 1 << 19), (INVALID, 0), (INVALID, 0)]);
}

#[test]
fn r51_zero_length_checks_nothing() {
    let mut rig = one(1, 4);
    rig.ask(
        1,
        Request {
            key: 0xdead_beef,
            ..read(7, u64::MAX, 0)
        },
        3,
    );
    rig.drain();
    assert_eq!(rig.verdicts(), [(ACCEPTED, 1)]);
    assert_eq!(rig.packets(1), [vec![1 | 1 << 28, 0x10 | 1 << 11, 7, 0x1f00_0003]]);
}

#[test]
fn r52_key_and_range() {
    let mut all = regions(1);
    all.push(Region {
        key: 0x999,
        read: false,
        ..all[0]
    });
    all.push(Region {
        key: 0x888,
        atomic: false,
        ..all[0]
    });
    let mut rig = Tengig::new(2, Habits::slow(), &[(1, 8)], all);
    let add = Op::FetchAdd { add: 1 };
    let base = 0x7_ffff_0000u64;
    for (request, verdict) in [
        (read(0, VA, 100), ACCEPTED),
        (
            Request {
                key: 0x318,
                ..read(0, VA, 100)
            },
            REFUSED,
        ),
        (
            Request {
                key: 0x999,
                ..read(0, VA, 100)
            },
            REFUSED,
        ),
        (read(0, base - 1, 100), REFUSED),
        (read(0, base + 0xffff_ff9c, 100), ACCEPTED),
        (read(0, base + 0xffff_ff9d, 100), REFUSED),
        (read(0, u64::MAX - 50, 100), REFUSED),
        (
            Request {
                key: 0x888,
                op: add,
                ..read(0, VA, 0)
            },
            REFUSED,
        ),
        (
            Request {
                key: 0x999,
                op: add,
                ..read(0, VA, 0)
            },
            ACCEPTED,
        ),
        (
            Request {
                op: add,
                ..read(0, base + 0x1_0000_0000, 0)
            },
            REFUSED,
        ),
    ] {
        rig.ask(1, request, 1);
        rig.run(150);
        assert_eq!(rig.verdicts().last().unwrap().0, verdict, "{request:x?}");
    }
}

/// The key ends between request and response: the packets already sent stand, then a NAK, and the QP is in error.
#[test]
fn r52_r69_key_that_ends_in_the_middle() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0xff_ffff, VA, 256 * 6), 9);
    while rig.packets(1).len() < 3 {
        rig.step();
    }
    rig.regions[0].valid = false;
    rig.drain();
    let packets = rig.packets(1);
    assert_eq!(opcodes(&packets), [0x0d, 0x0e, 0x0e, 0x11]);
    assert_eq!(packets[3][2..], [2, 0x6200_0009]);
    assert!(rig.seen.contains(&Seen::QpError(1)));
    assert!(rig.seen.contains(&Seen::Event(0xa0_0001, 0x62)));
    assert!(!rig.seen.iter().any(|s| matches!(s, Seen::Count(_))));
    // Nothing more until the QP has been reset.
    rig.ask(
        1,
        Request {
            key: PAGED,
            ..read(4, 0xab_0000_0000, 10)
        },
        10,
    );
    rig.run(100);
    assert_eq!(rig.verdicts().last(), Some(&(DROPPED, 0)));
}

/// R28: only the same READ, or a part of it, is served again.
#[test]
fn r28_duplicate_read() {
    let stored = read(0xff_fffe, VA, 256 * 4 + 10);
    let good = [
        stored,
        read(0xff_ffff, VA + 256, 256 * 3 + 10),
        read(1, VA + 768, 256 + 10),
        read(2, VA + 1024, 10),
        // Parts that aren't tails.
        read(0xff_fffe, VA, 256 * 2),
        read(0, VA + 512, 256),
        read(2, VA + 1024, 3),
    ];
    let bad = [
        read(3, VA + 1280, 10),
        read(0xff_fffd, VA - 256, 256 * 5 + 10),
        read(0xff_fffe, VA, 256 * 4 + 11),
        read(0xff_ffff, VA + 257, 256 * 3 + 9),
        read(0xff_ffff, VA, 256 * 3 + 10),
        read(0xff_ffff, VA + 256 + (1 << 32), 256 * 3 + 10),
        read(1, VA + 512, 256),
        read(0xff_ffff, VA + 256, 0xffff_ff00),
        read(0xff_ffff, VA + 256, u32::MAX),
        Request { key: KEY + 1, ..stored },
        Request {
            op: Op::FetchAdd { add: 1 },
            ..stored
        },
        Request { psn: 0x7f_ffff, ..stored },
    ];
    let mut rig = one(1, 4);
    rig.ask(1, stored, 5);
    rig.drain();
    let mut count = rig.packets(1).len();
    assert_eq!(count, 5);
    for request in bad {
        rig.again(1, request);
        rig.drain();
        assert_eq!(rig.verdicts().last(), Some(&(DROPPED, 0)), "{request:x?}");
        assert_eq!(rig.packets(1).len(), count);
    }
    for request in good {
        rig.again(1, request);
        rig.drain();
        assert_eq!(rig.verdicts().last(), Some(&(TAKEN, 0)), "{request:x?}");
        count += request.length.div_ceil(256) as usize;
        assert_eq!(rig.packets(1).len(), count, "{request:x?}");
    }
    // Checked again.
    rig.regions[0].read = false;
    rig.again(1, stored);
    rig.drain();
    assert_eq!(rig.verdicts().last(), Some(&(DROPPED, 0)));
    assert_eq!(rig.packets(1).len(), count);
    // Nothing is known any more once the ring has gone round.
    rig.regions[0].read = true;
    for n in 0..4 {
        rig.ask(1, read(3 + n, VA, 10), 6 + n);
    }
    rig.drain();
    rig.again(1, stored);
    rig.drain();
    assert_eq!(rig.verdicts().last(), Some(&(DROPPED, 0)));
}

/// R28: while a replay runs its key ends: it stops, and nobody is told.
#[test]
fn r28_replay_without_key_stops_silently() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 2560), 1);
    rig.drain();
    rig.again(1, read(0, VA, 2560));
    while rig.packets(1).len() < 13 {
        rig.step();
    }
    rig.regions[0].valid = false;
    rig.run(200);
    rig.regions[0].valid = true;
    assert_eq!(rig.packets(1).len(), 13);
    assert!(!rig.seen.iter().any(|s| matches!(s, Seen::QpError(_))));
}

#[test]
fn r29_duplicate_atomic_is_not_executed_twice() {
    let mut rig = one(1, 4);
    let add = Request {
        op: Op::FetchAdd { add: 5 },
        ..read(10, VA, 0)
    };
    let swap = Request {
        op: Op::CompareSwap { swap: 77, compare: 5 },
        ..read(11, VA, 0)
    };
    rig.ask(1, add, 1);
    rig.ask(1, swap, 2);
    rig.drain();
    let place = 0x12_fffe_1100u64;
    assert_eq!(rig.at(place), 77);
    for (request, verdict) in [
        (add, TAKEN),
        (swap, TAKEN),
        (Request { psn: 12, ..swap }, DROPPED),
        (Request { psn: 9, ..add }, DROPPED),
        (Request { op: swap.op, ..add }, DROPPED),
        (read(10, VA, 8), DROPPED),
        (add, TAKEN),
    ] {
        rig.again(1, request);
        rig.drain();
        assert_eq!(rig.verdicts().last(), Some(&(verdict, 0)), "{request:?}");
    }
    assert_eq!(rig.at(place), 77);
    assert_eq!(rig.seen.iter().filter(|s| matches!(s, Seen::Atomic(..))).count(), 2);
    let results = |psn: u32| -> Vec<u32> { rig.packets(1).iter().filter(|p| p[2] == psn).map(|p| p[5]).collect() };
    assert_eq!((results(10), results(11)), (vec![0, 0, 0], vec![5, 5]));
}

#[test]
fn r30_r31_restart_from_the_middle_begins_with_first_or_only() {
    let mut rig = one(1, 4);
    rig.ask(1, read(100, VA, 256 * 4), 1);
    rig.drain();
    rig.again(1, read(102, VA + 512, 512));
    rig.drain();
    rig.again(1, read(103, VA + 768, 256));
    rig.drain();
    assert_eq!(opcodes(&rig.packets(1)), [0x0d, 0x0e, 0x0e, 0x0f, 0x0d, 0x0f, 0x10]);
    assert_eq!(psns(&rig.packets(1))[4..], [102, 103, 103]);
}

/// A duplicate that meets its own READ under way sets it back; one of a READ that still waits does nothing.
#[test]
fn r28_duplicate_of_what_is_being_served() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 256 * 8), 1);
    rig.ask(1, read(8, VA, 256 * 2), 2);
    while rig.packets(1).len() < 3 {
        rig.step();
    }
    rig.again(1, read(8, VA, 256 * 2));
    rig.again(1, read(1, VA + 256, 256 * 7));
    rig.drain();
    let all = psns(&rig.packets(1));
    let back = (1..all.len()).find(|i| all[*i] <= all[*i - 1]).expect("set back");
    assert_eq!(all[back..], [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // An old one is served again, and no other.
    let count = all.len();
    rig.again(1, read(6, VA + 256 * 6, 512));
    rig.drain();
    assert_eq!(psns(&rig.packets(1))[count..], [6, 7]);
}

/// A peer that goes back sends its READs again one after the other: what comes meanwhile makes the replay longer, or begin earlier.
#[test]
fn r28_r33_duplicates_during_a_replay() {
    let four = |rig: &mut Tengig| {
        for n in 0..4 {
            rig.ask(1, read(4 * n, VA, 256 * 4), 1 + n);
        }
        rig.drain();
        rig.packets(1).len()
    };
    let mut rig = one(1, 4);
    let count = four(&mut rig);
    rig.again(1, read(0, VA, 1024));
    rig.again(1, read(8, VA, 1024));
    rig.drain();
    assert_eq!(psns(&rig.packets(1))[count..], (0..12).collect::<Vec<_>>());
    let mut rig = one(1, 4);
    let count = four(&mut rig);
    rig.again(1, read(8, VA, 1024));
    while rig.packets(1).len() < count + 2 {
        rig.step();
    }
    rig.again(1, read(3, VA + 768, 256));
    rig.drain();
    let all = psns(&rig.packets(1));
    let back = (count + 1..all.len()).find(|i| all[*i] < all[*i - 1]).expect("set back");
    assert_eq!(all[back..], [3, 4, 5, 6, 7, 8, 9, 10, 11]);
}

#[test]
fn r36_acks_wait_behind_responses() {
    let mut rig = one(1, 4);
    // Nothing to wait for.
    rig.leave(Leave::Ack(1, 0x1f, 3, 1));
    rig.drain();
    assert_eq!(rig.seen, [Seen::Forwarded(1, 3)]);
    // Before the release: the ACK of an earlier request.
    rig.ask(1, read(4, VA, 256 * 3), 2);
    rig.drain();
    rig.ask(1, read(7, VA, 256 * 3), 3);
    while rig.packets(1).len() < 4 {
        rig.step();
    }
    rig.leave(Leave::Ack(1, 0x1f, 10, 4));
    rig.leave(Leave::Ack(1, 0x1f, 11, 5));
    rig.drain();
    let packets = rig.packets(1);
    assert_eq!(opcodes(&packets), [0x0d, 0x0e, 0x0f, 0x0d, 0x0e, 0x0f, 0x11]);
    assert_eq!(packets[6], [1 | 1 << 28, 0x11, 11, 0x1f00_0005]);
    assert!(rig.seen.contains(&Seen::Stays(1, 10)));
    // Afterwards it passes again.
    rig.leave(Leave::Ack(1, 0x1f, 12, 6));
    rig.drain();
    assert_eq!(rig.seen.last(), Some(&Seen::Forwarded(1, 12)));
}

/// A fatal NAK waits its turn, is never replaced, and ends the QP's releases.
#[test]
fn r36_a_fatal_nak_is_never_replaced() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 256 * 6), 1);
    while rig.packets(1).is_empty() {
        rig.step();
    }
    rig.leave(Leave::Ack(1, 0x60, 6, 1));
    rig.leave(Leave::Ack(1, 0x63, 6, 1));
    rig.leave(Leave::Ack(1, 0x1f, 7, 2));
    rig.leave(Leave::Serve(1));
    rig.drain();
    assert_eq!(opcodes(&rig.packets(1)), [0x0d, 0x0e, 0x0e, 0x0e, 0x0e, 0x0f, 0x11]);
    assert_eq!(rig.packets(1)[6][3], 0x6300_0001);
    rig.ask(1, read(8, VA, 1), 2);
    rig.drain();
    assert_eq!(rig.verdicts().last(), Some(&(DROPPED, 0)));
}

#[test]
fn r37_msn_is_that_of_the_read() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 256 * 3), 0xff_ffff);
    rig.ask(1, read(3, VA, 1), 0);
    rig.drain();
    let msns: Vec<u32> = rig.packets(1).iter().filter(|p| p.len() == 4).map(|p| p[3]).collect();
    assert_eq!(msns, [0x1fff_ffff, 0x1fff_ffff, 0x1f00_0000]);
}

#[test]
fn r58_atomic() {
    let mut all = regions(1);
    let place = 0x12_fffe_1100u64;
    all[1].address = 0x20 << 12;
    let mut rig = Tengig::new(3, Habits::slow(), &[(3, 16)], all);
    rig.mtt.insert(0x21, 0xf_1234_5678_9abc);
    rig.memory.insert(place, 0xffff_ffff);
    let atomic = |psn, va, op| Request { op, ..read(psn, va, 0) };
    rig.ask(
        1,
        atomic(
            1,
            VA,
            Op::FetchAdd {
                add: 0xffff_ffff_0000_0002,
            },
        ),
        1,
    );
    rig.ask(
        1,
        atomic(
            2,
            VA,
            Op::CompareSwap {
                compare: 1,
                swap: 0x0123_4567_89ab_cdef,
            },
        ),
        2,
    );
    rig.ask(
        1,
        atomic(
            3,
            VA,
            Op::CompareSwap {
                compare: 0x1_0000_0001,
                swap: 9,
            },
        ),
        3,
    );
    // Only one half differs: nothing is written.
    rig.ask(
        1,
        atomic(
            4,
            VA,
            Op::CompareSwap {
                compare: 0x0123_4567_0000_0000,
                swap: 9,
            },
        ),
        4,
    );
    rig.ask(
        1,
        atomic(
            5,
            VA,
            Op::CompareSwap {
                compare: 0x89ab_cdef,
                swap: 9,
            },
        ),
        5,
    );
    rig.ask(1, atomic(6, VA, Op::FetchAdd { add: u64::MAX }), 6);
    rig.ask(
        1,
        Request {
            key: PAGED,
            ..atomic(7, 0xab_0000_1ff8, Op::FetchAdd { add: 3 })
        },
        7,
    );
    rig.drain();
    assert_eq!(rig.packets(1)[0][4..], [0, 0xffff_ffff]);
    assert_eq!(rig.packets(1)[1][4..], [0, 1]);
    let misaligned: Vec<u64> = (1..8).collect();
    for off in &misaligned {
        rig.ask(1, atomic(8, VA + off, Op::FetchAdd { add: 1 }), 8);
        rig.drain();
        assert_eq!(rig.verdicts().last(), Some(&(INVALID, 0)));
    }
    assert!(rig.seen.contains(&Seen::Atomic(0xf_1234_5678_9abc << 12 | 0xff8, 0, Some(3))));
}

/// R58: while another writer of the engine is under way the ATOMIC waits.
#[test]
fn r58_atomic_waits_for_the_lock() {
    let mut rig = one(1, 4);
    rig.unlocked = true;
    rig.ask(
        1,
        Request {
            op: Op::FetchAdd { add: 1 },
            ..read(0, VA, 0)
        },
        1,
    );
    rig.run(300);
    assert!(rig.packets(1).is_empty());
    assert!(rig.bench.uut.atomic_lock.val());
    rig.unlocked = false;
    rig.drain();
    assert_eq!(rig.packets(1).len(), 1);
    assert!(!rig.bench.uut.atomic_lock.val());
}

#[test]
fn r59_no_more_than_the_ring() {
    for places in [0, 1, 2, 3, 16] {
        let mut rig = one(1, places);
        // Retire is slow: nothing is served.
        rig.habits.retire = (5000, 5000);
        for n in 0..places as u32 + 1 {
            rig.ask(1, read(n, VA, 10), n);
        }
        rig.run(1200);
        let mut want = vec![(ACCEPTED, 1); places];
        want.push((INVALID, 0));
        assert_eq!(rig.verdicts(), want);
    }
}

/// A new request while the oldest is served again: the peer has what it asked for, so it isn't refused.
#[test]
fn r59_a_replay_makes_room() {
    let mut rig = one(1, 1);
    rig.ask(1, read(0, VA, 256 * 8), 1);
    rig.drain();
    rig.again(1, read(0, VA, 256 * 8));
    while rig.packets(1).len() < 10 {
        rig.step();
    }
    rig.leave(Leave::Ack(1, 0x1f, 8, 2));
    rig.ask(1, read(9, VA, 300), 3);
    rig.drain();
    assert_eq!(rig.verdicts(), [(ACCEPTED, 8), (TAKEN, 0), (ACCEPTED, 2)]);
    assert_eq!(opcodes(&rig.packets(1))[10..].last(), Some(&0x0f));
}

/// A payload that can't be read: NAK with that packet's PSN, once, and the QP in error; the others go on.
#[test]
fn r69_payload_that_cannot_be_read() {
    let mut rig = Tengig::new(4, Habits::quick(), &[(1, 4), (1, 4)], regions(2));
    rig.failing = vec![2, 4, 5];
    rig.ask(1, read(0xff_fffe, VA, 256 * 12), 0xabcdef);
    rig.drain();
    let packets = rig.packets(1);
    assert_eq!(packets.last().unwrap()[1..], [0x11, 0, 0x63ab_cdef]);
    assert_eq!(rig.seen.iter().filter(|s| matches!(s, Seen::QpError(1))).count(), 1);
    assert_eq!(rig.seen.iter().filter(|s| **s == Seen::Event(0xa0_0001, 0x63)).count(), 1);
    assert_eq!(rig.seen.iter().filter(|s| **s == Seen::Count(43)).count(), 1);
    rig.ask(
        2,
        Request {
            key: KEY + (1 << 12),
            ..read(0, VA, 600)
        },
        1,
    );
    rig.drain();
    assert_eq!(rig.packets(2).len(), 3);
}

#[test]
fn r69_atomic_memory_errors() {
    for errors in [(true, false), (false, true)] {
        let mut rig = one(1, 4);
        rig.atomic_error = errors;
        rig.ask(
            1,
            Request {
                op: Op::FetchAdd { add: 1 },
                ..read(3, VA, 0)
            },
            9,
        );
        rig.drain();
        assert_eq!(rig.packets(1), [vec![1 | 1 << 28, 0x11, 3, 0x6300_0009]]);
        assert!(rig.seen.contains(&Seen::QpError(1)) && rig.seen.contains(&Seen::Count(43)));
    }
}

/// R68: a QP that leaves its live states in the middle leaves nothing behind, and starts anew.
#[test]
fn r68_reset_in_the_middle() {
    for when in 0..60 {
        let mut rig = Tengig::new(when, Habits::quick(), &[(1, 4), (1, 4)], regions(2));
        rig.failing = vec![1, 3];
        rig.ask(
            2,
            Request {
                key: KEY + (1 << 12),
                ..read(70, VA, 256 * 9)
            },
            1,
        );
        rig.ask(1, read(10, VA, 256 * 9), 1);
        rig.ask(1, read(19, VA, 256 * 9), 2);
        rig.run(60 + when * 7);
        rig.leave(Leave::Ack(1, 0x1f, 28, 3));
        rig.run(when % 7);
        let state = (when % 2) as u32;
        rig.asks.push_back(Ask::State { index: 1, state });
        while !rig.asks.is_empty() {
            rig.step();
        }
        let count = rig.packets(1).len();
        rig.failing.clear();
        rig.ask(1, read(500, VA, 700), 1);
        rig.drain();
        assert_eq!(psns(&rig.packets(1))[count..], [500, 501, 502]);
    }
}

/// RTR, RTS, SQD and ERR change nothing: what was released before is served to its end.
#[test]
fn r68_other_states_change_nothing() {
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 256 * 5), 1);
    for state in [2, 3, 4, 5] {
        rig.asks.push_back(Ask::State { index: 1, state });
    }
    rig.drain();
    assert_eq!(rig.packets(1).len(), 5);
}

/// Nothing is sent before retire says so (memory ordering).
#[test]
fn nothing_is_served_before_its_release() {
    let mut rig = one(1, 4);
    rig.habits.retire = (900, 900);
    rig.ask(1, read(0, VA, 10), 1);
    rig.ask(
        1,
        Request {
            op: Op::FetchAdd { add: 1 },
            ..read(1, VA, 0)
        },
        2,
    );
    rig.again(1, read(0, VA, 10));
    rig.run(800);
    assert!(rig.packets(1).is_empty());
    rig.drain();
    assert_eq!(rig.packets(1).len(), 2);
}

#[test]
fn turns_go_round() {
    let mut rig = Tengig::new(5, Habits::quick(), &[(1, 4), (1, 4), (1, 4)], regions(3));
    for i in 1..4u32 {
        rig.ask(
            i as usize,
            Request {
                key: KEY + ((i - 1) << 12),
                ..read(0, VA, 256 * 30)
            },
            1,
        );
    }
    rig.drain();
    let order: Vec<usize> = rig
        .seen
        .iter()
        .filter_map(|s| match s {
            Seen::Packet(_, i, _) => Some(*i),
            _ => None,
        })
        .collect();
    for window in order[10..70].windows(3) {
        assert!(
            window[0] != window[1] && window[1] != window[2] && window[0] != window[2],
            "{order:?}"
        );
    }
}

/// READ responses at the line's rate: 36 cycles a packet at PMTU 256, with 100 cycles of memory.
#[test]
fn thirty_six_cycles_a_packet() {
    let rate = |seen: &[Seen]| {
        let at: Vec<u64> = seen
            .iter()
            .filter_map(|s| match s {
                Seen::Packet(cycle, ..) => Some(*cycle),
                _ => None,
            })
            .collect();
        (at[at.len() - 2] - at[9]) as f64 / (at.len() - 11) as f64
    };
    let mut rig = one(1, 4);
    rig.ask(1, read(0, VA, 256 * 50), 1);
    rig.drain();
    let long = rate(&rig.seen);
    let mut rig = one(1, 16);
    for n in 0..16 {
        rig.ask(1, read(n, VA, 256), n);
    }
    rig.run(900);
    for n in 16..48 {
        rig.ask(1, read(n, VA, 256), n);
        rig.run(60);
    }
    rig.drain();
    let mut cu = Cu::new(6, Habits::quick(), &[(1, 2)], regions(1));
    cu.ask(1, read(0, VA, 256 * 50), 1);
    cu.drain();
    let small = rate(&cu.seen);
    println!("cycles a response packet: {long} in a long READ, {small} on cu");
    assert!(long <= 36.0 && small <= 36.0);
}

/// The ACK of a QP without responses loses two cycles.
#[test]
fn an_ack_passes_in_two_cycles() {
    let mut rig = one(1, 4);
    rig.run(10);
    rig.leave(Leave::Ack(1, 0x1f, 3, 1));
    let start = rig.bench.cycle;
    while rig.seen.is_empty() {
        rig.step();
    }
    assert!(rig.bench.cycle - start <= 2, "{}", rig.bench.cycle - start);
}

/// Without ATOMIC there are no resources for one.
#[test]
fn r59_no_atomics_on_cu() {
    let mut rig = Cu::new(7, Habits::quick(), &[(1, 2), (2, 2)], regions(2));
    rig.ask(
        1,
        Request {
            op: Op::FetchAdd { add: 1 },
            ..read(0, VA, 0)
        },
        1,
    );
    rig.drain();
    assert_eq!(rig.verdicts(), [(INVALID, 0)]);
    rig.ask(
        2,
        Request {
            key: KEY + (1 << 12),
            ..read(0, VA, 512 * 3 + 1)
        },
        1,
    );
    rig.drain();
    assert_eq!(rig.packets(2).len(), 4);
}
