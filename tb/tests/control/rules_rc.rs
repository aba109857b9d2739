// SPDX-License-Identifier: MIT OR Apache-2.0
//! RC: order, answers, memory.

use crate::harness::*;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state, status};

const SEND_FIRST: u8 = 0;
const SEND_MIDDLE: u8 = 1;
const SEND_LAST: u8 = 2;
const SEND_LAST_IMM: u8 = 3;
const SEND_ONLY: u8 = 4;
const SEND_ONLY_IMM: u8 = 5;
const WRITE_FIRST: u8 = 6;
const WRITE_MIDDLE: u8 = 7;
const WRITE_LAST: u8 = 8;
const WRITE_LAST_IMM: u8 = 9;
const WRITE_ONLY: u8 = 10;
const WRITE_ONLY_IMM: u8 = 11;
const SEND_LAST_INV: u8 = 22;
const SEND_ONLY_INV: u8 = 23;
const KEY: u32 = 0x100;
const VA: u64 = 0xffff_f100;

const ACK: u8 = 0x1f;
const NAK_SEQUENCE: u8 = 0x60;
const NAK_INVALID: u8 = 0x61;
const NAK_ACCESS: u8 = 0x62;
const NAK_OPERATION: u8 = 0x63;

fn up() -> Harness {
    let mut h = Harness::new(1);
    h.connect(2, &row(2));
    h
}

fn write_only(psn: u32, length: u32) -> Packet {
    packet(WRITE_ONLY, qpn(2), psn, length).reth(VA, KEY, length)
}

fn place(va: u64) -> u64 {
    va ^ 0xf000_0000_0000
}

/// The QP is in ERR and its event told so.
fn dead(h: &mut Harness, left: &Left, syndrome: u8) {
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
    assert!(left.cycles <= 13, "{} cycles", left.cycles);
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
    assert!(first.cycles <= 20 && middle.cycles <= 16 && last.cycles <= 16);
    assert_eq!(last.answer(), Some((ACK, 102, 1)));
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
