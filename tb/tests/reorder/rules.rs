// SPDX-License-Identifier: MIT OR Apache-2.0
//! A rule a test.

use super::harness::{Attributes, Harness, Manners, AT_ONCE, PLAIN, UNIT};
use verbena_spec::counters as c;
use verbena_spec::layout::state;

const BEATS: u64 = 16;

fn count(h: &Harness, code: u8) -> u64 {
    h.counters.get(&code).copied().unwrap_or(0)
}

fn psns(from: u32, n: u32) -> Vec<u32> {
    (0..n).map(|i| from.wrapping_add(i) & 0xff_ffff).collect()
}

#[test]
fn r42_early_packets_are_executed_in_order_once_the_gap_closes() {
    for first in [5, 0xff_fff0] {
        let mut h = Harness::new(1, PLAIN, &[(0, AT_ONCE), (first, AT_ONCE)]);
        for i in (1..30).chain([0]).chain(30..40) {
            assert!(h.arrive(1, first.wrapping_add(i), BEATS, 1));
        }
        h.settle();
        assert_eq!(h.qps[1].executed, psns(first, 40), "from {first:x}");
        assert_eq!((h.most_held, count(&h, c::REORDER_HELD)), (29, 29));
        assert_eq!(h.qps[1].naks, [first], "R23: one NAK a gap, R24: with ePSN");
        h.end();
    }
}

#[test]
fn r23_each_gap_is_answered_once() {
    let mut h = Harness::new(2, PLAIN, &[(0, AT_ONCE), (100, AT_ONCE)]);
    // Without 100, 103, 105.
    for psn in [101, 102, 104, 106, 107] {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    assert_eq!(h.qps[1].naks, [100]);
    h.arrive(1, 100, BEATS, 1);
    h.settle();
    assert_eq!((h.qps[1].naks.clone(), h.qps[1].epsn), (vec![100, 103], 103));
    h.arrive(1, 108, BEATS, 1);
    h.arrive(1, 103, BEATS, 1);
    h.settle();
    h.arrive(1, 105, BEATS, 1);
    h.settle();
    assert_eq!(h.qps[1].naks, [100, 103, 105]);
    assert_eq!(h.qps[1].executed, psns(100, 9));
    h.end();
}

#[test]
fn r23_nak_distance_says_when_a_gap_is_a_loss() {
    for distance in [1, 7, 63] {
        let attributes = Attributes { distance, ..AT_ONCE };
        let mut h = Harness::new(3, PLAIN, &[(0, AT_ONCE), (0xff_fffe, attributes)]);
        for i in 1..=distance {
            h.arrive(1, 0xff_fffe + i, BEATS, 1);
        }
        h.settle();
        assert_eq!(h.qps[1].naks, [0u32; 0], "{distance}: not more than that far ahead");
        h.arrive(1, 0xff_fffe + distance + 1, BEATS, 1);
        h.settle();
        assert_eq!(h.qps[1].naks, [0xff_fffe]);
        h.arrive(1, 0xff_fffe, BEATS, 1);
        h.settle();
        // One QP's share of the pool is 52.
        assert_eq!(h.qps[1].executed.len() as u32, 1 + (distance + 1).min(52).min(63));
        h.end();
    }
}

#[test]
fn r23_nak_delay_says_when_a_gap_is_a_loss() {
    let attributes = Attributes {
        distance: 40,
        delay: 200,
        ..AT_ONCE
    };
    let mut h = Harness::new(4, PLAIN, &[(0, AT_ONCE), (9, attributes), (9, AT_ONCE), (9, attributes)]);
    h.arrive(1, 10, BEATS, 1);
    h.arrive(1, 11, BEATS, 1);
    h.settle();
    let from = h.cycle();
    while h.cycle() < from + 190 * UNIT - 300 {
        h.tick();
    }
    assert_eq!(h.qps[1].naks, [0u32; 0], "not yet");
    while h.cycle() < from + 202 * UNIT + 3000 {
        h.tick();
    }
    assert_eq!((h.qps[1].naks.clone(), h.probes), (vec![9], 1), "once");
    // The next hole has an age of its own.
    h.arrive(1, 13, BEATS, 1);
    h.arrive(1, 9, BEATS, 1);
    h.settle();
    assert_eq!(h.qps[1].executed, [9, 10, 11]);
    let from = h.cycle();
    while h.cycle() < from + 150 * UNIT {
        h.tick();
    }
    assert_eq!(h.qps[1].naks, [9]);
    while h.cycle() < from + 202 * UNIT + 3000 {
        h.tick();
    }
    assert_eq!(h.qps[1].naks, [9, 12]);
    h.end();
}

#[test]
fn r42_a_duplicate_of_a_held_packet_takes_its_place_and_is_counted() {
    let mut h = Harness::new(5, PLAIN, &[(0, AT_ONCE), (7, AT_ONCE)]);
    for psn in [8, 9, 8, 9, 8] {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    assert_eq!((count(&h, c::REORDER_HELD), count(&h, c::REORDER_DUPLICATE)), (2, 3));
    h.arrive(1, 7, BEATS, 1);
    h.settle();
    assert_eq!(h.qps[1].executed, [7, 8, 9]);
    h.end();
}

/// A sender that goes back sends what is held again: the room of the older copies comes back, so nothing is given up for it.
#[test]
fn r42_what_is_held_and_sent_again_is_not_given_up() {
    let mut h = Harness::new(15, PLAIN, &[(0, AT_ONCE), (7, AT_ONCE)]);
    for _ in 0..4 {
        for psn in 8..15 {
            h.arrive(1, psn, 400, 1);
            h.settle();
        }
    }
    assert_eq!(
        (
            count(&h, c::REORDER_HELD),
            count(&h, c::REORDER_DUPLICATE),
            count(&h, c::REORDER_FULL)
        ),
        (7, 21, 0)
    );
    h.arrive(1, 7, BEATS, 1);
    h.settle();
    assert_eq!(h.qps[1].executed, (7..15).collect::<Vec<_>>());
    h.end();
}

/// A held READ passes what a broken peer sent inside its PSNs, although the packet behind it is looked up before it is done: by a quick control or by one that
/// takes until that is loaded. What stands right behind it is no gap.
#[test]
fn r42_a_held_read_jumps_over_what_is_held() {
    let slow = Manners { stall: 900, ..PLAIN };
    for (seed, manners) in [(16, PLAIN), (17, slow), (18, slow), (19, slow), (20, slow), (21, slow)] {
        for inside in [vec![], vec![12], vec![12, 13], vec![14]] {
            let mut h = Harness::new(seed, manners, &[(0, AT_ONCE), (10, AT_ONCE)]);
            h.arrive(1, 11, BEATS, 4);
            for &psn in inside.iter().chain(&[15, 17]) {
                h.arrive(1, psn, BEATS, 1);
            }
            h.settle();
            h.arrive(1, 10, BEATS, 1);
            h.settle();
            let released = count(&h, c::REORDER_RELEASED) as usize;
            assert_eq!(
                (h.qps[1].executed.clone(), released),
                (vec![10, 11, 15], inside.len()),
                "seed {seed}"
            );
            assert_eq!(h.qps[1].naks.last(), Some(&16), "seed {seed}");
            h.arrive(1, 16, BEATS, 1);
            h.settle();
            assert_eq!(h.qps[1].executed, [10, 11, 15, 16, 17]);
            h.end();
        }
    }
}

#[test]
fn r42_outside_the_window_nothing_is_held() {
    let mut h = Harness::new(6, PLAIN, &[(0, AT_ONCE), (7, Attributes { distance: 63, ..AT_ONCE })]);
    h.arrive(1, 7 + 63, BEATS, 1);
    h.settle();
    assert_eq!((count(&h, c::REORDER_HELD), h.qps[1].naks.len()), (1, 0));
    h.arrive(1, 7 + 64, BEATS, 1);
    h.arrive(1, 7 + 0x7f_ffff, BEATS, 1);
    h.settle();
    assert_eq!(count(&h, c::REORDER_HELD), 1);
    assert_eq!((count(&h, c::OUT_OF_SEQUENCE), count(&h, c::OUT_OF_SEQUENCE_SILENT)), (1, 1));
    h.end();
}

#[test]
fn r42_a_full_pool_drops_the_early_packet_and_leaves_room_for_others() {
    let mut h = Harness::new(7, PLAIN, &[(0, AT_ONCE), (0, AT_ONCE), (0, AT_ONCE), (0, AT_ONCE)]);
    for psn in 1..64 {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    // Fewer than four times what is free: 52 with 12 left isn't.
    assert_eq!((h.qps[1].held.len(), count(&h, c::REORDER_FULL)), (52, 11));
    for psn in 1..64 {
        h.arrive(2, psn, BEATS, 1);
        h.arrive(3, psn, BEATS, 1);
    }
    h.settle();
    let held: Vec<usize> = h.qps.iter().map(|q| q.held.len()).collect();
    assert!(held[2] >= 5 && held[3] >= 5 && held.iter().sum::<usize>() <= 64, "{held:?}");
    for qp in 1..4 {
        h.arrive(qp, 0, BEATS, 1);
    }
    h.settle();
    for (qp, held) in held.iter().enumerate().skip(1) {
        assert_eq!(h.qps[qp].executed.len(), 1 + held);
    }
    h.end();
}

#[test]
fn r42_sixteen_qps_hold_at_a_time() {
    let all: Vec<(u32, Attributes)> = (0..20).map(|i| (i, AT_ONCE)).collect();
    let mut h = Harness::new(8, PLAIN, &all);
    for qp in 1..20 {
        h.arrive(qp, qp as u32 + 2, BEATS, 1);
    }
    h.settle();
    assert_eq!((count(&h, c::REORDER_HELD), count(&h, c::REORDER_FULL)), (16, 3));
    // One goes, another may.
    h.arrive(1, 1, BEATS, 1);
    h.arrive(1, 2, BEATS, 1);
    h.arrive(19, 21, BEATS, 1);
    h.settle();
    assert_eq!((h.qps[1].executed.len(), h.qps[19].held.len()), (3, 1));
    h.end();
}

#[test]
fn r42_what_is_held_goes_with_its_qp() {
    for to in [state::RESET, state::INIT, state::ERR] {
        let mut h = Harness::new(9, PLAIN, &[(0, AT_ONCE), (50, AT_ONCE), (60, AT_ONCE)]);
        for i in 1..20 {
            h.arrive(1, 50 + i, BEATS, 1);
            h.arrive(2, 60 + i, BEATS, 1);
        }
        h.settle();
        h.change(1, to);
        h.settle();
        assert_eq!(count(&h, c::REORDER_RELEASED), 19);
        h.arrive(2, 60, BEATS, 1);
        // Its new life.
        h.arrive(1, 1050, BEATS, 1);
        h.settle();
        assert_eq!((h.qps[2].executed.len(), h.qps[1].executed.clone()), (20, vec![1050]));
        h.end();
    }
    // Nothing is released where the QP lives on.
    let mut h = Harness::new(9, PLAIN, &[(0, AT_ONCE), (50, AT_ONCE)]);
    h.arrive(1, 51, BEATS, 1);
    h.settle();
    for to in [state::RTR, state::RTS, state::SQD] {
        h.change(1, to);
    }
    h.settle();
    assert_eq!((count(&h, c::REORDER_RELEASED), h.qps[1].held.len()), (0, 1));
}

#[test]
fn r42_the_ring_never_fills_with_what_is_held() {
    let mut h = Harness::new(10, PLAIN, &[(0, AT_ONCE), (0, AT_ONCE), (0, AT_ONCE)]);
    // A hole that nobody closes, and another QP in order.
    for psn in 1..9 {
        h.arrive(1, psn, 140, 1);
    }
    let mut lost = 0;
    for psn in 0..400 {
        lost += !h.arrive(2, psn, 140, 1) as u32;
        for _ in 0..140 {
            h.tick();
        }
    }
    h.settle();
    assert_eq!(lost, 0, "the other QP pays nothing");
    assert_eq!(h.qps[2].executed.len(), 400);
    assert_eq!((count(&h, c::REORDER_FULL), h.qps[1].held.len()), (8, 0), "the oldest are given up");
    // They are asked for again, and held again.
    for psn in [2, 1, 0] {
        h.arrive(1, psn, 140, 1);
    }
    h.settle();
    assert_eq!(h.qps[1].executed, [0, 1, 2]);
    h.end();
}

#[test]
fn r42_a_qp_without_the_attribute_is_not_held_and_costs_nothing() {
    let off = Attributes { reorder: false, ..AT_ONCE };
    let mut h = Harness::new(11, PLAIN, &[(0, off), (0, off)]);
    for psn in [0, 2, 3, 1, 2] {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    assert_eq!((h.qps[1].executed.clone(), h.qps[1].naks.clone()), (vec![0, 1, 2], vec![1]));
    assert!(h.counters.is_empty() && h.pace.is_empty());
    h.end();
}

/// Between two packets of a drain: a PMTU of 256 bytes takes 42 cycles of the wire.
#[test]
fn drains_at_line_rate() {
    let mut h = Harness::new(12, PLAIN, &[(0, AT_ONCE), (0, AT_ONCE), (0, AT_ONCE)]);
    for psn in (1..40).chain([0]) {
        h.arrive(1, psn, BEATS, 1);
    }
    // Others go on being held meanwhile.
    for psn in 1..10 {
        h.arrive(2, psn, BEATS, 1);
    }
    h.settle();
    assert_eq!(h.qps[1].executed.len(), 40);
    let worst = h.pace.iter().max().copied().unwrap_or(0);
    println!("{worst} cycles at most from a packet's end to a held one's begin");
    // The first one's head is loaded; those behind it come while the one before is looked at.
    let (first, others) = h.pace.split_first().expect("a drain");
    let worst = others.iter().max().expect("a drain");
    assert!(others.iter().sum::<u64>() <= 8 * others.len() as u64, "{:?}", h.pace);
    assert!(h.pace.len() >= 39 && *first <= 23 && *worst <= 14, "{:?}", h.pace);
    h.end();
}

#[test]
fn r42_held_packets_that_a_read_jumps_over_are_released() {
    let mut h = Harness::new(13, PLAIN, &[(0, AT_ONCE), (10, AT_ONCE)]);
    // A broken peer: the READ at 10 has eight responses.
    for psn in [12, 13, 20] {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    h.arrive(1, 10, BEATS, 8);
    h.settle();
    assert_eq!((count(&h, c::REORDER_RELEASED), h.qps[1].held.len()), (2, 1));
    for psn in [18, 19] {
        h.arrive(1, psn, BEATS, 1);
    }
    h.settle();
    assert_eq!(h.qps[1].executed, [10, 18, 19, 20]);
    h.end();
}
