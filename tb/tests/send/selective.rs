// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selective repeat: a packet alone, and on where new packets stood; the window. PSNs wrap in all of them.

use super::super::golden::Wqe;
use super::super::wqe::*;
use super::harness::*;
use verbena_spec::layout::{send_opcode, state, status};

const VA: u64 = 0x8_0000_0000;
const SQ_PSN: u32 = 0xff_fffd;

fn at(ahead: u32) -> u32 {
    SQ_PSN.wrapping_add(ahead) & 0xff_ffff
}

fn fresh(seed: u64) -> Harness {
    let mut h = Harness::new(seed);
    connect(&mut h);
    h
}

fn connect(h: &mut Harness) {
    h.connect(1, |s| (s.psn, s.selective_repeat) = (SQ_PSN, true));
    let pd = h.qps[1].setup.pd;
    h.region(7, pd, VA, 1 << 20, false);
}

/// A WRITE of so many packets, the last of 1 byte.
fn write(packets: u32) -> Wqe {
    wqe(send_opcode::WRITE, &[(VA, 256 * (packets - 1) + 1, 7)])
}

fn post(h: &mut Harness, wqes: &[Wqe]) {
    wqes.iter().for_each(|w| h.post(1, *w));
    h.ring(1);
}

/// Packets since the last call, from `at(0)` on.
fn sent(h: &mut Harness) -> Vec<u32> {
    h.drain(400);
    h.check_rows(1);
    let psns = std::mem::take(&mut h.qps[1].psns);
    psns.iter().map(|p| p.wrapping_sub(SQ_PSN) & 0xff_ffff).collect()
}

#[test]
fn r42_one_packet_alone_and_new_ones_go_on() {
    let mut h = fresh(1);
    // Whole messages are out: of each message each packet, by itself.
    post(
        &mut h,
        &[
            write(4),
            write(1),
            read(5 * 256),
            inline(send_opcode::SEND, 20),
            atomic(send_opcode::FETCH_ADD),
        ],
    );
    assert_eq!(sent(&mut h), [0, 1, 2, 3, 4, 5, 10, 11]);
    for (wqe, packet, psn) in [
        (0, 0, 0),
        (0, 1, 1),
        (0, 3, 3),
        (1, 0, 4),
        (2, 0, 5),
        (2, 2, 7),
        (3, 0, 10),
        (4, 0, 11),
    ] {
        if packet == 0 {
            h.acknowledge(1, wqe);
        }
        h.repeat(1, wqe, packet);
        assert_eq!(sent(&mut h), [psn], "packet {packet} of WQE {wqe}");
    }
    // And what is posted later goes on behind.
    h.repeat(1, 4, 0);
    post(&mut h, &[write(2)]);
    assert_eq!(sent(&mut h), [11, 12, 13]);
}

#[test]
fn r42_the_message_goes_on_at_its_byte() {
    // The transmitter stands still at each packet of a message, in two sorts of memory.
    for (stop, latency) in (2..20).zip([5, 60].into_iter().cycle()) {
        let mut h = fresh(2 + stop);
        h.latency = latency;
        post(&mut h, &[write(2), write(20), write(3)]);
        h.run_until(500, "some out", |h| h.qps[1].packets >= stop);
        h.repeat(1, 0, 1);
        let got = sent(&mut h);
        let new: Vec<u32> = (0..25).collect();
        let place = got.iter().rposition(|&p| p == 1).unwrap();
        assert!(place as u64 >= stop && place < 25, "stop {stop}: {got:?}");
        let rest: Vec<u32> = [&got[..place], &got[place + 1..]].concat();
        assert_eq!(rest, new, "stop {stop}");
    }
}

#[test]
fn r42_a_replay_ends_and_a_second_one_takes_the_place_of_the_first() {
    let mut h = fresh(30);
    post(&mut h, &[write(20), write(3)]);
    assert_eq!(sent(&mut h), (0..23).collect::<Vec<_>>());
    // Back whole; at once, and at some packets, one alone.
    for wait in 0..4 {
        h.rewind(1, 0, 0, false);
        h.wait_asks();
        let before = h.qps[1].packets;
        h.run_until(500, "some out", |h| h.qps[1].packets >= before + wait);
        h.repeat(1, 0, 9);
        let got = sent(&mut h);
        assert!(got.len() < 20 && got.len() as u64 > wait && *got.last().unwrap() == 9, "{got:?}");
    }
    // Before the first one's WQE is there.
    h.latency = 100;
    h.repeat(1, 0, 10);
    h.wait_asks();
    h.repeat(1, 0, 12);
    assert_eq!(sent(&mut h), [12]);
    // And a whole one.
    h.repeat(1, 0, 13);
    h.wait_asks();
    h.rewind(1, 0, 18, false);
    assert_eq!(sent(&mut h), [18, 19, 20, 21, 22]);
}

#[test]
fn r42_what_is_acknowledged_meanwhile_is_not_sent_again() {
    for whole in [false, true] {
        let mut h = fresh(40);
        post(&mut h, &[write(6), write(2)]);
        assert_eq!(sent(&mut h).len(), 8);
        h.latency = 100;
        h.repeat(1, 0, 2);
        h.wait_asks();
        if whole {
            // The host has its WQE back.
            h.acknowledge(1, 1);
            let at = h.qps[1].setup.base;
            h.memory.insert(at, 0xffff_ffff);
        } else {
            h.acknowledge_part(1, at(3));
        }
        assert_eq!(sent(&mut h), [0; 0]);
        post(&mut h, &[write(1)]);
        assert_eq!((sent(&mut h), h.qps[1].fails.len()), (vec![8], 0));
    }
}

#[test]
fn r42_no_more_is_outstanding_than_the_peer_can_hold() {
    let mut h = fresh(50);
    post(&mut h, &[write(100), read(90 * 256), write(1)]);
    assert_eq!(sent(&mut h), (0..64).collect::<Vec<_>>());
    h.acknowledge_part(1, at(10));
    assert_eq!(sent(&mut h), (64..74).collect::<Vec<_>>());
    // What is outstanding may always be sent again.
    h.repeat(1, 0, 30);
    assert_eq!(sent(&mut h), [30]);
    h.rewind(1, 0, 10, false);
    assert_eq!(sent(&mut h), (10..74).collect::<Vec<_>>());
    // A READ may ask for more at once; what is behind it waits.
    h.acknowledge_part(1, at(74));
    assert_eq!(sent(&mut h), (74..=100).collect::<Vec<_>>());
    h.acknowledge(1, 1);
    h.acknowledge_part(1, at(126));
    assert_eq!(sent(&mut h), [0; 0]);
    h.acknowledge_part(1, at(127));
    assert_eq!(sent(&mut h), [190]);
}

#[test]
fn r42_the_window_is_the_attributes() {
    for window in [1, 2, 31, 32, 33, 63] {
        let mut h = fresh(55);
        h.connect(1, |s| (s.psn, s.selective_repeat, s.selective_window) = (SQ_PSN, true, window));
        let pd = h.qps[1].setup.pd;
        h.region(7, pd, VA, 1 << 20, false);
        post(&mut h, &[write(60), read(3 * 256), write(100)]);
        assert_eq!(sent(&mut h), (0..window.min(61)).collect::<Vec<_>>());
        for n in 1..window.min(60) {
            h.acknowledge_part(1, at(n));
            let next = window + n - 1;
            let asks_for_more = (61..63).contains(&next);
            if !asks_for_more {
                assert_eq!(sent(&mut h), [next], "window {window}");
            }
        }
    }
}

/// A packet alone whose WQE is the one that new packets stand in reads no WQE: the store has it. One of an earlier WQE reads that and the ones behind it.
#[test]
fn r42_a_packet_alone_reads_no_wqe_that_the_store_has() {
    for (wqe, packet, psn, reads) in [
        // New packets stand in the second WQE, at PSN 10; the third is read at its end.
        (1, 0, 4, 1),
        (1, 3, 7, 1),
        (1, 5, 9, 1),
        (0, 3, 3, 3),
    ] {
        let mut h = fresh(56);
        h.connect(1, |s| (s.psn, s.selective_repeat, s.selective_window) = (SQ_PSN, true, 10));
        let pd = h.qps[1].setup.pd;
        h.region(7, pd, VA, 1 << 20, false);
        post(&mut h, &[write(4), write(20), write(3)]);
        assert_eq!(sent(&mut h), (0..10).collect::<Vec<_>>());
        assert_eq!(h.fetches, 2);
        h.repeat(1, wqe, packet);
        assert_eq!(sent(&mut h), [psn], "packet {packet} of WQE {wqe}");
        // All of the first message are acknowledged, and some of the second.
        h.acknowledge(1, 1);
        assert_eq!(sent(&mut h), (10..14).collect::<Vec<_>>());
        h.acknowledge_part(1, at(14));
        assert_eq!(sent(&mut h), (14..24).collect::<Vec<_>>());
        h.acknowledge(1, 2);
        assert_eq!(sent(&mut h), [24, 25, 26]);
        assert_eq!(h.fetches, 2 + reads, "packet {packet} of WQE {wqe}");
    }
}

#[test]
fn r42_without_the_attribute_there_is_no_window() {
    let mut h = Harness::new(60);
    h.connect(1, |s| s.psn = SQ_PSN);
    let pd = h.qps[1].setup.pd;
    h.region(7, pd, VA, 1 << 20, false);
    post(&mut h, &[write(100)]);
    assert_eq!(sent(&mut h).len(), 100);
}

#[test]
fn r66_a_packet_alone_is_checked_again() {
    let mut h = fresh(70);
    for (what, want) in [
        (0, status::LOCAL_QP_OPERATION_ERROR),
        (1, status::LOCAL_QP_OPERATION_ERROR),
        (9, status::LOCAL_PROTECTION_ERROR),
    ] {
        connect(&mut h);
        post(&mut h, &[write(5), write(1)]);
        assert_eq!(sent(&mut h).len(), 6);
        let at = h.qps[1].setup.base;
        let mut other = if what == 1 { write(4) } else { write(5) };
        other[what] ^= if what == 1 { 0 } else { 1 };
        (0..16).for_each(|i| {
            h.memory.insert(at + 4 * i as u64, other[i]);
        });
        h.repeat(1, 0, 1);
        h.run_until(500, "refused", |h| !h.qps[1].fails.is_empty());
        assert_eq!(h.qps[1].fails, [(0, want)], "word {what}");
        h.set_state(1, state::ERR);
    }
}

#[test]
fn r41_a_new_life_begins_without_the_old_ones_resend() {
    let mut h = fresh(80);
    for step in 0..40 {
        connect(&mut h);
        post(&mut h, &[write(6)]);
        assert_eq!(sent(&mut h).len(), 6);
        h.repeat(1, 0, 3);
        h.run(step);
        h.wait_asks();
        h.set_state(1, if step & 1 == 0 { state::ERR } else { state::RESET });
    }
    h.connect(1, |_| {});
    post(&mut h, &[write(3)]);
    h.drain(400);
    h.check_rows(1);
    assert_eq!(h.qps[1].packets, 3);
}

#[test]
fn r42_a_drained_queue_sends_what_is_missing_and_nothing_new() {
    let mut h = fresh(90);
    post(&mut h, &[write(6)]);
    assert_eq!(sent(&mut h).len(), 6);
    h.set_state(1, state::SQD);
    post(&mut h, &[write(2)]);
    h.repeat(1, 0, 3);
    assert_eq!(sent(&mut h), [3]);
    h.set_state(1, state::RTS);
    assert_eq!(sent(&mut h), [6, 7]);
}
