// SPDX-License-Identifier: MIT OR Apache-2.0
//! RC: order and answers.

use super::harness::*;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state, status};

pub const SEND_FIRST: u8 = 0;
pub const SEND_MIDDLE: u8 = 1;
pub const SEND_LAST: u8 = 2;
pub const SEND_LAST_IMM: u8 = 3;
pub const SEND_ONLY: u8 = 4;
pub const SEND_ONLY_IMM: u8 = 5;
pub const WRITE_FIRST: u8 = 6;
pub const WRITE_MIDDLE: u8 = 7;
pub const WRITE_LAST: u8 = 8;
pub const WRITE_LAST_IMM: u8 = 9;
pub const WRITE_ONLY: u8 = 10;
pub const WRITE_ONLY_IMM: u8 = 11;
pub const SEND_LAST_INV: u8 = 22;
pub const SEND_ONLY_INV: u8 = 23;
pub const KEY: u32 = 0x100;
pub const VA: u64 = 0xffff_f100;

pub const ACK: u8 = 0x1f;
pub const NAK_SEQUENCE: u8 = 0x60;
pub const NAK_INVALID: u8 = 0x61;
pub const NAK_ACCESS: u8 = 0x62;
pub const NAK_OPERATION: u8 = 0x63;

pub fn up() -> Harness {
    let mut h = Harness::new(1);
    h.connect(2, &row(2));
    h
}

pub fn write_only(psn: u32, length: u32) -> Packet {
    packet(WRITE_ONLY, qpn(2), psn, length).reth(VA, KEY, length)
}

pub fn place(va: u64) -> u64 {
    va ^ 0xf000_0000_0000
}

/// The QP is in ERR and its event told so.
pub fn dead(h: &mut Harness, left: &Left, syndrome: u8) {
    let entry = left.entry();
    assert_eq!(left.answer().map(|a| a.0), Some(syndrome), "{left:?}");
    assert!(
        entry.event && entry.event_type.to_u64() == 3 && entry.qpn.to_u64() == qpn(2) as u64,
        "{entry:?}"
    );
    assert_eq!(left.counter(), NAKED);
    assert_eq!(h.query(2).0, state::ERR);
    let after = h.send(&write_only(100, 8));
    assert_eq!((after.counter(), after.silent()), (QP_STATE, true));
}

#[test]
fn write_only_is_placed_and_acknowledged() {
    let mut h = up();
    let left = h.send(&write_only(100, 64));
    assert_eq!(left.writes(), vec![(place(VA), 64)]);
    let job = left.jobs[0];
    assert_eq!(
        (job.ring_beat.to_u64(), job.ring_offset.to_u64(), job.end_beat.to_u64()),
        (0x123, 4, 0x190),
        "{job:?}"
    );
    assert_eq!(left.answer(), Some((ACK, 100, 1)));
    assert_eq!(left.entry().jobs.to_u64(), 1);
    assert_eq!(left.counter(), ACCEPTED);
    assert_eq!(h.query(2), (state::RTR, 101, 1, 0));
    println!("WRITE ONLY: {} cycles", left.cycles);
    assert!(left.cycles <= 15, "{} cycles", left.cycles);
}

#[test]
fn cycles() {
    let mut h = up();
    let first = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 600));
    let middle = h.send(&packet(WRITE_MIDDLE, qpn(2), 101, 256));
    let last = h.send(&packet(WRITE_LAST, qpn(2), 102, 88));
    println!("FIRST {} MIDDLE {} LAST {}", first.cycles, middle.cycles, last.cycles);
    assert_eq!(first.writes(), vec![(place(VA), 256)]);
    assert_eq!(middle.writes(), vec![(place(VA + 256), 256)]);
    assert_eq!(last.writes(), vec![(place(VA + 512), 88)]);
    assert_eq!((first.cycles, middle.cycles, last.cycles), (18, 15, 15));
    assert_eq!(last.answer(), Some((ACK, 102, 1)));
    let only = h.send(&packet(WRITE_ONLY, qpn(2), 103, 64).reth(VA, KEY, 64));
    println!("ONLY {}", only.cycles);
    assert_eq!(only.cycles, 14);
    h.post(2, 1);
    let send = h.send(&packet(SEND_ONLY, qpn(2), 104, 64));
    println!("SEND ONLY {} + fetch {}", send.cycles - send.fetch_wait, send.fetch_wait);
    assert!(send.cycles - send.fetch_wait <= 29);
}

#[test]
fn send_is_placed_and_completed() {
    let mut h = up();
    h.post(2, 3);
    let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 64));
    assert_eq!(left.writes(), vec![(place(0x10_0000), 64)]);
    assert_eq!(left.completion(), Some((status::SUCCESS, 0)));
    let entry = left.entry();
    assert_eq!(
        (entry.cq.to_u64(), entry.byte_length.to_u64(), entry.completion_opcode.to_u64()),
        (0x32, 64, 0x80)
    );
    h.send(&packet(SEND_FIRST, qpn(2), 101, 256));
    h.send(&packet(SEND_MIDDLE, qpn(2), 102, 256));
    let mut p = packet(SEND_LAST_IMM, qpn(2), 103, 1);
    p.xth[0] = 0x1234_5678;
    let left = h.send(&p);
    assert_eq!(left.writes(), vec![(place(0x10_0000 + 0x400 + 512), 1)]);
    assert_eq!(left.completion(), Some((status::SUCCESS, 1)));
    let entry = left.entry();
    assert!(
        entry.with_imm && entry.immediate.to_u64() == 0x1234_5678 && entry.byte_length.to_u64() == 513,
        "{entry:?}"
    );
    assert_eq!(h.query(2), (state::RTR, 104, 2, 2));
}

#[test]
fn r21_psn_compare_wraps() {
    let mut h = Harness::new(2);
    let mut r = row(2);
    qp::RQ_PSN.set(&mut r, 0xff_ffff);
    h.connect(2, &r);
    // Far before, and just before: duplicates; just ahead and far ahead: gaps.
    for (psn, counter) in [
        (0x80_0000, DUPLICATE),
        (0xff_fffe, DUPLICATE),
        (0, OUT_OF_SEQUENCE),
        (0x7f_fffe, OUT_OF_SEQUENCE_SILENT),
    ] {
        assert_eq!(h.send(&write_only(psn, 8)).counter(), counter, "psn {psn:x}");
    }
    assert_eq!(h.send(&write_only(0xff_ffff, 8)).answer(), Some((ACK, 0xff_ffff, 1)));
    assert_eq!(h.send(&write_only(0xff_ffff, 8)).counter(), DUPLICATE);
    assert_eq!(h.send(&write_only(0, 8)).answer(), Some((ACK, 0, 2)));
    assert_eq!(h.query(2).1, 1);
}

#[test]
fn r23_one_nak_a_gap_then_silence() {
    let mut h = up();
    assert_eq!(h.send(&write_only(103, 8)).answer(), Some((NAK_SEQUENCE, 100, 0)));
    for psn in [104, 102, 103] {
        let left = h.send(&write_only(psn, 8));
        assert_eq!((left.counter(), left.silent()), (OUT_OF_SEQUENCE_SILENT, true));
    }
    // ePSN arrives: the next gap is answered again.
    assert_eq!(h.send(&write_only(100, 8)).counter(), ACCEPTED);
    assert_eq!(h.send(&write_only(102, 8)).answer(), Some((NAK_SEQUENCE, 101, 1)));
}

#[test]
fn r24_nak_carries_epsn() {
    let mut h = up();
    let left = h.send(&write_only(150, 8));
    assert_eq!(left.answer(), Some((NAK_SEQUENCE, 100, 0)));
    assert!(left.writes().is_empty() && left.keys.iter().all(|k| k.0 == 0));
    assert_eq!(h.query(2), (state::RTR, 100, 0, 0), "a gap isn't fatal");
}

#[test]
fn r26_duplicate_is_acknowledged_not_executed() {
    let mut h = up();
    h.post(2, 2);
    for psn in 100..103 {
        h.send(&write_only(psn, 8));
    }
    h.send(&packet(SEND_ONLY, qpn(2), 103, 8));
    for opcode in [WRITE_ONLY, SEND_ONLY, WRITE_MIDDLE, SEND_FIRST] {
        for ack in [true, false] {
            let mut p = packet(opcode, qpn(2), 101, 8).reth(VA, KEY, 8);
            p.ack = ack;
            let left = h.send(&p);
            assert_eq!(left.answer(), Some((ACK, 103, 4)), "opcode {opcode}");
            assert_eq!((left.writes(), left.completion(), left.counter()), (vec![], None, DUPLICATE));
        }
    }
    // A duplicate READ or ATOMIC has no responder yet.
    for opcode in [12, 19, 20] {
        let left = h.send(&packet(opcode, qpn(2), 101, 0));
        assert_eq!((left.counter(), left.silent()), (DUPLICATE, true));
    }
    assert_eq!(h.query(2), (state::RTR, 104, 4, 1));
}

#[test]
fn r26_duplicate_leaves_the_message_alone() {
    let mut h = up();
    h.send(&write_only(100, 8));
    h.send(&packet(WRITE_FIRST, qpn(2), 101, 256).reth(VA, KEY, 500));
    // Another life of 100, with another address and key: what the message stored stays.
    h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(0, 0x999, 256));
    h.send(&packet(SEND_FIRST, qpn(2), 100, 256));
    let left = h.send(&packet(WRITE_LAST, qpn(2), 102, 244));
    assert_eq!(left.writes(), vec![(place(VA + 256), 244)]);
    assert_eq!(left.answer(), Some((ACK, 102, 2)));
}

#[test]
fn r37_msn_counts_messages() {
    let mut h = up();
    h.post(2, 2);
    let first = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 600));
    assert_eq!(first.answer(), Some((ACK, 100, 0)));
    assert_eq!(h.send(&packet(WRITE_MIDDLE, qpn(2), 101, 256)).answer(), Some((ACK, 101, 0)));
    assert_eq!(h.send(&packet(WRITE_LAST, qpn(2), 102, 88)).answer(), Some((ACK, 102, 1)));
    assert_eq!(h.send(&packet(SEND_ONLY, qpn(2), 103, 8)).answer(), Some((ACK, 103, 2)));
}

#[test]
fn r37_msn_wraps() {
    // The MSN is 24 bits; only its sum's width can be seen here without 2^24 messages: the register reads back what was counted.
    let mut h = up();
    for i in 0..5 {
        assert_eq!(h.send(&write_only(100 + i, 0)).answer(), Some((ACK, 100 + i, 1 + i)));
    }
}

#[test]
fn r38_credit_field_is_31() {
    let mut h = up();
    assert_eq!(h.send(&write_only(100, 8)).answer().unwrap().0, 0x1f);
    assert_eq!(h.send(&write_only(100, 8)).answer().unwrap().0, 0x1f);
}

#[test]
fn r39_ghost_ack_is_dropped() {
    let mut h = up();
    for opcode in [13, 14, 15, 16, 17, 18] {
        for psn in [99, 100, 200] {
            let left = h.send(&packet(opcode, qpn(2), psn, 0));
            assert_eq!((left.counter(), left.silent()), (GHOST_ACK, true), "opcode {opcode} psn {psn}");
        }
    }
    assert_eq!(h.query(2), (state::RTR, 100, 0, 0));
}

#[test]
fn r41_each_life_takes_its_psn_from_the_modify() {
    let mut h = Harness::new(3);
    for life in 0..100u32 {
        let mut r = row(2);
        let psn = 0xff_fff0u32.wrapping_add(life * 0x1_2345) & 0xff_ffff;
        qp::RQ_PSN.set(&mut r, psn);
        h.connect(2, &r);
        assert_eq!(h.query(2), (state::RTR, psn, 0, 0));
        // A message broken off, a NAK standing, and the next life knows of neither.
        h.send(&packet(WRITE_FIRST, qpn(2), psn, 256).reth(VA, KEY, 600));
        assert_eq!(h.send(&write_only(psn + 9, 8)).counter(), OUT_OF_SEQUENCE);
        h.modify(2, state::RESET);
        assert_eq!(h.send(&write_only(psn + 1, 8)).counter(), UNKNOWN_QP);
    }
    h.connect(2, &row(2));
    // The PSN last acknowledged starts before the first.
    assert_eq!(h.send(&write_only(99, 8)).answer(), Some((ACK, 99, 0)));
    assert_eq!(h.send(&write_only(100, 8)).answer(), Some((ACK, 100, 1)));
}

#[test]
fn r46_rnr_nak_then_silence_until_the_retry() {
    let mut h = up();
    assert_eq!(h.send(&packet(SEND_ONLY, qpn(2), 100, 8)).answer(), Some((0x20 | 12, 100, 0)));
    for psn in [101, 102] {
        let left = h.send(&write_only(psn, 8));
        assert_eq!((left.counter(), left.silent()), (OUT_OF_SEQUENCE_SILENT, true));
    }
    // Refused again, and again with an RNR NAK.
    let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 8));
    assert_eq!((left.answer(), left.counter()), (Some((0x2c, 100, 0)), RNR));
    h.post(2, 1);
    let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 8));
    assert_eq!(
        (left.answer(), left.completion()),
        (Some((ACK, 100, 1)), Some((status::SUCCESS, 0)))
    );
    assert_eq!(h.send(&write_only(101, 8)).answer(), Some((ACK, 101, 2)));
}

#[test]
fn r46_every_timer_code() {
    for code in 0..32 {
        let mut h = Harness::new(code as u64);
        let mut r = row(2);
        qp::RNR_TIMER.set(&mut r, code);
        h.connect(2, &r);
        assert_eq!(h.send(&packet(SEND_ONLY, qpn(2), 100, 8)).answer().unwrap().0 as u32, 0x20 | code);
    }
}
