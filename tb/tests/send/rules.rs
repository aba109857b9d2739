// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rules one by one.

use super::super::golden::Wqe;
use super::super::wqe::*;
use super::harness::*;
use super::QPS;
use verbena_spec::layout::{send_opcode, sq_wqe, state, status};

const VA: u64 = 0x8_0000_0000;
const OPERATION: u32 = status::LOCAL_QP_OPERATION_ERROR;
const LENGTH: u32 = status::LOCAL_LENGTH_ERROR;
const PROTECTION: u32 = status::LOCAL_PROTECTION_ERROR;

/// QP 1 with a region of 1,000 bytes (key 7) and another PD's (key 8).
fn fresh(h: &mut Harness, change: impl FnOnce(&mut super::super::golden::Setup)) {
    h.connect(1, change);
    let pd = h.qps[1].setup.pd;
    h.region(7, pd, VA, 1000, false);
    h.region(8, pd + 1, VA, 1000, false);
}

fn write(length: u32) -> Wqe {
    wqe(send_opcode::WRITE, &[(VA, length, 7)])
}

fn out(h: &mut Harness) {
    h.run_until(1500, "all out", |h| h.all_out(1));
}

/// Every refusal: not before what came earlier is completed, and nothing goes on behind it.
#[test]
fn refusals() {
    let wrap = with(wqe(send_opcode::SEND, &[(VA, 0xffff_ffff, 7), (VA, 0x41, 7)]), sq_wqe::LENGTH, 0x40);
    let mut short = atomic(send_opcode::COMPARE_SWAP);
    short[8] = 4;
    let list: Vec<(&str, Wqe, u32)> = vec![
        ("opcode 8", wqe(8, &[(VA, 4, 7)]), OPERATION),
        ("opcode 15", wqe(15, &[]), OPERATION),
        ("three elements", with(write(4), sq_wqe::ELEMENTS, 3), OPERATION),
        ("inline READ", inline(send_opcode::READ, 8), OPERATION),
        ("inline ATOMIC", inline(send_opcode::FETCH_ADD, 8), OPERATION),
        ("inline 33", inline(send_opcode::SEND, 33), LENGTH),
        ("inline 2^31", inline(send_opcode::SEND, 1 << 31), LENGTH),
        ("sum too small", with(write(64), sq_wqe::LENGTH, 65), LENGTH),
        ("sum too large", with(write(64), sq_wqe::LENGTH, 63), LENGTH),
        ("no elements", with(wqe(send_opcode::WRITE, &[]), sq_wqe::LENGTH, 1), LENGTH),
        ("READ sum", with(read(64), sq_wqe::LENGTH, 65), LENGTH),
        ("R67: sum wraps", wrap, LENGTH),
        ("ATOMIC of 16", with(atomic(send_opcode::COMPARE_SWAP), sq_wqe::LENGTH, 16), LENGTH),
        ("ATOMIC place of 4", short, LENGTH),
        ("over 2^31", read(0x8000_0001), LENGTH),
        ("R75: 2^31 at PMTU 256", read(0x8000_0000), LENGTH),
        ("R75: SEND of 2^31", wqe(send_opcode::SEND, &[(VA, 0x8000_0000, 7)]), LENGTH),
        ("no such key", wqe(send_opcode::WRITE, &[(VA, 4, 0x55)]), PROTECTION),
        ("another PD", wqe(send_opcode::WRITE, &[(VA, 4, 8)]), PROTECTION),
        ("before the region", wqe(send_opcode::WRITE, &[(VA - 1, 4, 7)]), PROTECTION),
        ("beyond the region", wqe(send_opcode::WRITE, &[(VA + 997, 4, 7)]), PROTECTION),
        ("second element", wqe(send_opcode::WRITE, &[(VA, 4, 7), (VA, 4, 8)]), PROTECTION),
        ("first of two", wqe(send_opcode::WRITE, &[(VA, 4, 8), (VA, 4, 7)]), PROTECTION),
        (
            "only the second has bytes",
            wqe(send_opcode::WRITE, &[(VA, 0, 7), (VA, 4, 8)]),
            PROTECTION,
        ),
    ];
    let mut h = Harness::new(1);
    for (name, bad, want) in list {
        fresh(&mut h, |_| {});
        h.post(1, write(8));
        h.post(1, bad);
        h.post(1, write(8));
        h.ring(1);
        h.drain(250);
        assert_eq!(
            (h.qps[1].packets, h.qps[1].fails.len()),
            (1, 0),
            "{name}: before the first is completed"
        );
        h.acknowledge(1, 1);
        h.run_until(400, name, |h| !h.qps[1].fails.is_empty());
        assert_eq!(h.qps[1].fails, [(1, want)], "{name}");
        h.drain(250);
        assert_eq!(h.qps[1].packets, 1, "{name}");
        h.set_state(1, state::ERR);
    }
    // And the QP is as good as new.
    fresh(&mut h, |s| s.psn = 0x777);
    h.post(1, write(8));
    h.ring(1);
    out(&mut h);
}

/// A key that covers only a part lets that part out.
#[test]
fn protection_in_the_middle() {
    let mut h = Harness::new(2);
    fresh(&mut h, |_| {});
    h.post(1, write(1100));
    h.ring(1);
    h.run_until(1000, "fail", |h| !h.qps[1].fails.is_empty());
    assert_eq!((h.qps[1].fails[0], h.qps[1].packets), ((0, PROTECTION), 3));
    // Its words were formed while the key was checked.
    assert_eq!(h.abandoned, 1);
}

/// A full transmitter stops the words of a packet for longer than the WQE after next takes to arrive: they are still those of their WQE.
#[test]
fn words_wait_for_a_full_transmitter() {
    let mut h = Harness::new(20);
    h.latency = 100;
    fresh(&mut h, |_| {});
    for number in 0..8 {
        let mut next = wqe(send_opcode::WRITE_WITH_IMM, &[(VA + 8 * number, 8, 7)]);
        // Immediate, R_Key and remote address, another in each.
        (2..6).for_each(|word| next[word] ^= (number as u32 + 1) * 0x0101_0101);
        h.post(1, next);
    }
    h.auto_ack = Some(20);
    h.ring(1);
    for wait in 0..8u64 {
        h.blocked = true;
        (0..150 + 50 * wait).for_each(|_| h.tick());
        h.blocked = false;
        (0..3 + 2 * wait).for_each(|_| h.tick());
    }
    out(&mut h);
    assert_eq!(h.qps[1].packets, 8);
}

#[test]
fn r69_wqe_read_error() {
    let mut h = Harness::new(3);
    for slot in 0..9 {
        fresh(&mut h, |_| {});
        for _ in 0..=slot {
            h.post(1, write(8));
        }
        let bad = h.qps[1].setup.base + 64 * slot;
        h.bad.insert(bad);
        h.auto_ack = Some(20);
        h.ring(1);
        h.run_until(1000, "fail", |h| !h.qps[1].fails.is_empty());
        h.drain(200);
        assert_eq!((h.qps[1].fails[0], h.qps[1].packets), ((slot as u16, OPERATION), slot));
        h.bad.clear();
    }
    assert_eq!(h.counters[&43], 9);
}

/// R66: a WQE that is read again must be what was sent; only what isn't on record may differ.
#[test]
fn r66_wqe_changed_between_attempts() {
    let base = |h: &Harness| h.qps[1].setup.base;
    for (name, word, value, packet) in [
        ("opcode", 0, send_opcode::WRITE_WITH_IMM | 1 << 4 | 1 << 8, 0),
        ("opcode, later", 0, send_opcode::SEND | 1 << 4 | 1 << 8, 2),
        ("length", 1, 701, 0),
        ("length, later", 1, 699, 1),
    ] {
        let mut h = Harness::new(4);
        fresh(&mut h, |_| {});
        h.post(1, write(700));
        h.ring(1);
        out(&mut h);
        let at = base(&h);
        h.memory.insert(at + 4 * word, value);
        if word == 1 {
            h.memory.insert(at + 4 * 8, value);
        }
        h.rewind(1, 0, packet, false);
        h.run_until(500, name, |h| !h.qps[1].fails.is_empty());
        assert_eq!((h.qps[1].fails[0], h.qps[1].packets), ((0, OPERATION), 3), "{name}");
    }
    // The PSN of a first packet.
    let mut h = Harness::new(5);
    fresh(&mut h, |_| {});
    h.post(1, write(8));
    h.ring(1);
    out(&mut h);
    let psn = h.qps[1].begun[0].0 + 1;
    h.ask(Ask::Rewind {
        index: 1,
        psn,
        wqe: 0,
        offset: 0,
        hold: false,
        alone: false,
    });
    h.run_until(500, "PSN", |h| !h.qps[1].fails.is_empty());
    assert_eq!(h.qps[1].fails[0], (0, OPERATION));
    // Key and address are checked, not compared.
    let mut h = Harness::new(6);
    fresh(&mut h, |_| {});
    h.post(1, write(8));
    h.ring(1);
    out(&mut h);
    let at = base(&h);
    h.memory.insert(at + 4 * 9, 8);
    h.rewind(1, 0, 0, false);
    h.run_until(500, "key", |h| !h.qps[1].fails.is_empty());
    assert_eq!(h.qps[1].fails[0], (0, PROTECTION));
}

#[test]
fn r59_max_rd_atomic() {
    for max in 1..=3 {
        let mut h = Harness::new(7);
        fresh(&mut h, |s| s.max_rd_atomic = max);
        for i in 0..6 {
            h.post(1, if i & 1 == 0 { read(300) } else { atomic(send_opcode::FETCH_ADD) });
        }
        h.ring(1);
        for done in 0..6 {
            h.drain(250);
            assert_eq!(h.qps[1].wqe, (done + max as usize).min(6), "limit {max}");
            h.acknowledge(1, done + 1);
        }
        h.drain(250);
        h.check_rows(1);
    }
    // The others go on beside them, and don't count.
    let mut h = Harness::new(8);
    fresh(&mut h, |s| s.max_rd_atomic = 2);
    for w in [write(8), read(8), write(8), read(8), write(8), read(8), write(8)] {
        h.post(1, w);
    }
    h.ring(1);
    h.drain(300);
    assert_eq!(h.qps[1].wqe, 5);
    h.acknowledge(1, 1);
    h.drain(300);
    assert_eq!(h.qps[1].wqe, 5);
    h.acknowledge(1, 2);
    h.drain(300);
    assert_eq!(h.qps[1].wqe, 7);
    // None at all: it can never go.
    let mut h = Harness::new(9);
    fresh(&mut h, |s| s.max_rd_atomic = 0);
    h.post(1, write(8));
    h.post(1, read(8));
    h.ring(1);
    h.drain(300);
    assert!(h.qps[1].fails.is_empty());
    h.acknowledge(1, 1);
    h.run_until(300, "fail", |h| !h.qps[1].fails.is_empty());
    assert_eq!(h.qps[1].fails[0], (1, OPERATION));
}

#[test]
fn fence_waits_for_reads() {
    let mut h = Harness::new(10);
    fresh(&mut h, |_| {});
    let fenced = with(write(8), sq_wqe::FENCE, 1);
    for w in [
        fenced,
        write(8),
        fenced,
        read(8),
        atomic(send_opcode::COMPARE_SWAP),
        fenced,
        write(8),
    ] {
        h.post(1, w);
    }
    h.ring(1);
    for (acknowledged, sent) in [(0, 5), (3, 5), (4, 5), (5, 7)] {
        h.acknowledge(1, acknowledged);
        h.drain(300);
        assert_eq!(h.qps[1].wqe, sent, "acknowledged {acknowledged}");
    }
}

/// Answered isn't enough: the answer's bytes must be in memory before the fenced message reads them. What others place meanwhile isn't waited for, and
/// they send again behind it.
#[test]
fn fence_waits_until_the_bytes_of_reads_have_landed() {
    for (land, foreign) in [(1, None), (40, None), (300, None), (300, Some(10))] {
        let mut h = Harness::new(40);
        fresh(&mut h, |_| {});
        h.connect(2, |_| {});
        h.land_latency = land;
        h.foreign = foreign;
        h.run(land);
        for w in [
            read(8),
            atomic(send_opcode::COMPARE_SWAP),
            with(write(8), sq_wqe::FENCE, 1),
            write(8),
        ] {
            h.post(1, w);
        }
        h.ring(1);
        h.drain(300);
        assert_eq!(h.qps[1].wqe, 2);
        h.acknowledge(1, 2);
        h.run(30);
        h.post(2, inline(send_opcode::SEND, 5));
        h.ring(2);
        h.run(land + 200);
        assert_eq!((h.qps[1].wqe, h.qps[2].wqe), (4, 1), "{land} cycles");
    }
}

/// Bytes of a READ couldn't be written: what is fenced behind it isn't sent, whichever QP it was, and may be once the failed QP is in ERR. Others send.
#[test]
fn r69_a_fence_waits_while_a_failed_qp_is_on_its_way_to_err() {
    for failed in [1, 2] {
        let mut h = Harness::new(41);
        fresh(&mut h, |_| {});
        h.connect(2, |_| {});
        h.land_latency = 100;
        for w in [read(8), with(write(8), sq_wqe::FENCE, 1), write(8)] {
            h.post(1, w);
        }
        h.ring(1);
        h.drain(300);
        h.acknowledge(1, 1);
        h.run(50);
        // With the done that failed, and until control has taken the error.
        h.failing = true;
        h.post(2, inline(send_opcode::SEND, 5));
        h.ring(2);
        h.run(600);
        assert_eq!((h.qps[1].wqe, h.qps[2].wqe), (1, 1), "QP {failed} failed");
        h.set_state(failed, state::ERR);
        h.run(200);
        assert_eq!(h.qps[1].wqe, 1, "QP {failed} failed: control hasn't yet taken the error");
        h.failing = false;
        h.run(300);
        assert_eq!(h.qps[1].wqe, if failed == 1 { 1 } else { 3 }, "QP {failed} failed");
    }
}

#[test]
fn eight_messages_outstanding() {
    let mut h = Harness::new(11);
    fresh(&mut h, |_| {});
    for _ in 0..14 {
        h.post(1, inline(send_opcode::SEND, 5));
    }
    h.ring(1);
    for done in 0..14 {
        h.drain(250);
        assert_eq!(h.qps[1].wqe, (done + 8).min(14));
        h.check_rows(1);
        h.acknowledge(1, done + 1);
    }
}

/// SQD: what is begun goes to its end, and again; nothing new begins before RTS.
#[test]
fn drained_queue() {
    let mut h = Harness::new(12);
    fresh(&mut h, |_| {});
    for _ in 0..4 {
        h.post(1, write(1000));
    }
    h.ring(1);
    h.run_until(500, "a packet", |h| h.qps[1].packets == 5);
    h.set_state(1, state::SQD);
    h.drain(400);
    assert_eq!((h.qps[1].wqe, h.qps[1].packets), (2, 8));
    h.rewind(1, 0, 3, false);
    h.wait_asks();
    h.drain(400);
    assert_eq!((h.qps[1].wqe, h.qps[1].packets), (2, 13));
    h.post(1, write(1));
    h.ring(1);
    h.drain(400);
    assert_eq!(h.qps[1].packets, 13);
    h.set_state(1, state::RTS);
    out(&mut h);
    h.drain(100);
    h.check_rows(1);
}

/// ERR stops at a packet's end and is reported, again after each doorbell; RESET and a new life begin with the new PSN, every time.
#[test]
fn r41_r65_states() {
    let mut h = Harness::new(13);
    for life in 0..12 {
        fresh(&mut h, |s| s.psn = 0xff_fff0 + life);
        for _ in 0..5 {
            h.post(1, write(900));
        }
        h.ring(1);
        let packets = life as u64 % 7;
        h.run_until(500, "packets", |h| h.qps[1].packets >= packets);
        h.set_state(1, state::ERR);
        h.drain(300);
        let flushes = h.flushes.len();
        h.post(1, write(1));
        h.ring(1);
        h.run_until(200, "report", |h| h.flushes.len() > flushes);
        assert_eq!(h.flushes[flushes..], [(1, state::ERR)]);
        assert_eq!(h.look(1, 1) >> 16, 6, "the producer moves in ERR too");
        if life & 1 == 1 {
            h.set_state(1, state::RESET);
        }
        h.drain(300);
    }
    // Straight from traffic into the next life, reads still under way.
    for life in 0..12 {
        h.latency = 60;
        fresh(&mut h, |s| s.psn = 100 * life);
        for _ in 0..4 {
            h.post(1, write(20));
        }
        h.ring(1);
        h.run(7 * life as u64 + 3);
        h.set_state(1, state::RESET);
    }
    fresh(&mut h, |_| {});
    h.post(1, write(20));
    h.ring(1);
    out(&mut h);
}

/// A walk over several messages saves the row at its end; the host may have the first one's completion by then, and have posted again.
#[test]
fn r69_a_doorbell_behind_a_completion_that_the_row_does_not_know_yet() {
    let mut h = Harness::new(17);
    fresh(&mut h, |s| s.sq_log = 2);
    for _ in 0..4 {
        h.post(1, inline(send_opcode::SEND, 1));
    }
    h.ring(1);
    out(&mut h);
    h.walking = Some(1);
    h.post(1, inline(send_opcode::SEND, 1));
    h.ring(1);
    h.run(300);
    assert!(h.asks_open());
    assert_eq!(
        (h.events.len(), h.counters.get(&42)),
        (0, None),
        "refused while Complete is at the QP"
    );
    h.acknowledge(1, 1);
    h.walking = None;
    h.wait_asks();
    out(&mut h);
    assert_eq!((h.events.len(), h.counters.get(&42)), (0, None));
    // At another QP: refused at once.
    h.walking = Some(2);
    h.ask(Ask::Doorbell(1, 9));
    h.wait_asks();
    h.drain(200);
    assert_eq!((h.events.len(), h.counters[&42]), (1, 1));
}

#[test]
fn r69_doorbells() {
    let mut h = Harness::new(14);
    fresh(&mut h, |s| s.sq_log = 2);
    for _ in 0..4 {
        h.post(1, inline(send_opcode::SEND, 1));
    }
    let refused = |h: &mut Harness, index: u32, producer: u16| {
        let before = (h.events.len(), h.counters.get(&42).copied().unwrap_or(0));
        h.ask(Ask::Doorbell(index, producer));
        h.wait_asks();
        h.drain(200);
        assert_eq!(h.events[before.0..], [(4, index, 42)], "{index} {producer}");
        assert_eq!(h.counters[&42], before.1 + 1);
    };
    refused(&mut h, 1, 5);
    refused(&mut h, 1, 0xffff);
    refused(&mut h, 0, 1);
    refused(&mut h, QPS, 1);
    refused(&mut h, QPS + 1, 1);
    refused(&mut h, 0xfff, 1);
    // Not in a state that sends.
    refused(&mut h, 2, 1);
    h.set_state(2, state::INIT);
    refused(&mut h, 2, 1);
    h.ring(1);
    out(&mut h);
    // The same again changes nothing; the ring is counted from the oldest uncompleted.
    h.ring(1);
    h.drain(200);
    refused(&mut h, 1, 5);
    h.acknowledge(1, 2);
    h.drain(100);
    for _ in 0..2 {
        h.post(1, inline(send_opcode::SEND, 1));
    }
    refused(&mut h, 1, 7);
    h.ring(1);
    out(&mut h);
    h.drain(100);
    h.check_rows(1);
    assert_eq!(h.events.len(), 10);
}

/// R47: `Complete` that has read a highest PSN may turn the timer off some cycles later. So a packet's arm comes so much later than its PSN stands in the
/// row that it is looked at after that, and starts the timer again: else nobody would notice that the packet is lost.
#[test]
fn r47_the_arm_comes_after_whoever_missed_the_packet() {
    let mut h = Harness::new(16);
    h.connect(1, |_| {});
    for _ in 0..20 {
        h.post(1, inline(send_opcode::SEND, 1));
        h.ring(1);
        let (arms, before) = (h.qps[1].arms, h.qps[1].highest);
        let mut stands = None;
        h.watch(Some((1, 2)));
        while h.qps[1].arms == arms {
            h.tick();
            if stands.is_none() && h.watched() & 0xff_ffff == (before + 1) & 0xff_ffff {
                stands = Some(h.cycle());
            }
            assert!(stands.is_none_or(|since| h.cycle() < since + 40), "no arm");
        }
        // Read a cycle before the first that sees it, Complete's order comes 4 cycles later, and is taken before an arm that comes with it or after.
        let stands = stands.expect("the arm came before the PSN");
        assert!(
            h.cycle() >= stands + 2,
            "armed {} cycles after the PSN stood there",
            h.cycle() - stands
        );
        h.watch(None);
        h.drain(60);
        let begun = h.qps[1].begun.len();
        h.acknowledge(1, begun);
    }
}

/// R74: the last packet, and every 16th PSN (64th at PMTU 256).
#[test]
fn r74_ack_request() {
    for (pmtu, spacing) in [(1, 64), (2, 16)] {
        let mut h = Harness::new(15);
        h.connect(1, |s| {
            s.pmtu = pmtu;
            s.psn = 0xff_fff9;
        });
        let pd = h.qps[1].setup.pd;
        h.region(7, pd, VA, 100_000, false);
        h.post(1, write(100 * (128 << pmtu)));
        h.ring(1);
        h.run_until(500, "all out", |h| h.all_out(1));
        h.drain(200);
        // PSNs from 7 before the wrap: one at its end, then each multiple; and the last.
        let expected = (0..100u32).filter(|i| (0xff_fff9 + i) % spacing == spacing - 1 || *i == 99).count() as u64;
        assert_eq!((h.qps[1].arms, h.qps[1].want_arms), (expected, expected));
    }
}

/// R75: as many PSNs as there may be, no more.
#[test]
fn r75_fewer_than_half_of_the_psns() {
    let mut h = Harness::new(16);
    fresh(&mut h, |s| {
        s.pmtu = 2;
        s.psn = 0xc0_0000;
    });
    // 2^22 PSNs, 2^22 − 1, and one too many.
    for length in [1 << 31, (1 << 31) - 512, 8] {
        h.post(1, read(length));
    }
    h.ring(1);
    h.drain(300);
    assert_eq!(h.qps[1].wqe, 3, "a message of one packet is never too many");
    h.acknowledge(1, 3);
    for length in [1 << 31, 1 << 31] {
        h.post(1, read(length));
    }
    h.ring(1);
    h.drain(300);
    assert_eq!((h.qps[1].wqe, h.qps[1].fails.len()), (4, 0), "waits");
    h.acknowledge(1, 4);
    out(&mut h);
    h.drain(100);
    h.check_rows(1);
}

/// R69: a payload that can't be read fails its WQE, once it is the oldest.
#[test]
fn r69_payload_error() {
    let mut h = Harness::new(17);
    fresh(&mut h, |_| {});
    h.bad_reads.insert(1);
    for _ in 0..3 {
        h.post(1, write(20));
    }
    h.ring(1);
    h.drain(300);
    assert!(h.qps[1].fails.is_empty());
    h.acknowledge(1, 1);
    h.run_until(300, "fail", |h| !h.qps[1].fails.is_empty());
    assert_eq!(h.qps[1].fails[0], (1, OPERATION));
    h.drain(200);

    // A rewind tries again.
    let mut h = Harness::new(18);
    fresh(&mut h, |_| {});
    h.bad_reads.insert(1);
    for _ in 0..3 {
        h.post(1, write(20));
    }
    h.ring(1);
    h.drain(300);
    h.rewind(1, 0, 0, false);
    h.wait_asks();
    h.run_until(300, "all out", |h| h.all_out(1));
    h.acknowledge(1, 3);
    h.drain(300);
    assert!(h.qps[1].fails.is_empty());
    h.post(1, write(20));
    h.ring(1);
    out(&mut h);

    // What an earlier attempt has done stays done.
    let mut h = Harness::new(19);
    fresh(&mut h, |_| {});
    h.bad_reads.insert(1);
    h.done_latency = 100;
    h.post(1, write(20));
    h.ring(1);
    out(&mut h);
    h.rewind(1, 0, 0, false);
    h.wait_asks();
    out(&mut h);
    h.acknowledge(1, 1);
    h.drain(300);
    h.post(1, write(20));
    h.ring(1);
    out(&mut h);
    h.drain(300);
    assert!(h.qps[1].fails.is_empty());
}
