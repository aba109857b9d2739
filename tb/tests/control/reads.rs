// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the control path does for a READ responder: requests handed over, and what they change.

use super::harness::*;
use super::rules_rc::*;
use verbena_hdl::responder::Features;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state};

const READ: u8 = 12;
const COMPARE_SWAP: u8 = 19;
const FETCH_ADD: u8 = 20;

fn with_reads(serial: bool) -> Harness {
    let mut h = Harness::with(17, Features { serial, ..Features::all() });
    let mut row = row(2);
    qp::REMOTE_READ.set(&mut row, 1);
    qp::REMOTE_ATOMIC.set(&mut row, 1);
    h.connect(2, &row);
    h
}

fn request(opcode: u8, psn: u32) -> Packet {
    packet(opcode, qpn(2), psn, 0).reth(VA, KEY, 1000)
}

#[test]
fn r22_r37_an_accepted_read_moves_epsn_by_its_packets_and_msn_by_one() {
    for serial in [false, true] {
        for (stall, wait) in [(0, 0), (0, 1), (0, 9), (500, 3)] {
            let mut h = with_reads(serial);
            h.stall = stall;
            let mut psn = 100;
            for (msn, (opcode, psns)) in [(READ, 1), (READ, 4), (COMPARE_SWAP, 1), (FETCH_ADD, 1), (READ, 0x7f_ffff)]
                .into_iter()
                .enumerate()
            {
                h.serve = (wait, 0, psns);
                let left = h.send(&request(opcode, psn));
                let msn = msn as u32 + 1;
                assert_eq!((left.counter(), left.requests.clone()), (ACCEPTED, vec![(2, false, msn)]));
                let entry = left.entry();
                assert!(
                    entry.serve && !entry.respond && !entry.complete && !entry.event && !entry.requester,
                    "{entry:?}"
                );
                assert_eq!((entry.qp_index.to_u64(), entry.jobs.to_u64()), (2, 0));
                assert!(left.keys.is_empty(), "the responder checks the key");
                psn = (psn + psns) & 0xff_ffff;
                let (_, epsn, now, _) = h.query(2);
                assert_eq!((epsn, now), (psn, msn));
            }
            // A WRITE goes on from there.
            let left = h.send(&write_only(psn, 8));
            assert_eq!(left.answer(), Some((ACK, psn, 6)));
        }
    }
}

#[test]
fn r28_r29_a_duplicate_changes_nothing_whatever_becomes_of_it() {
    for verdict in [1, 2] {
        let mut h = with_reads(false);
        h.serve = (2, 0, 5);
        h.send(&request(READ, 100));
        let before = h.query(2);
        for (opcode, psn) in [
            (READ, 100),
            (READ, 104),
            (FETCH_ADD, 99),
            (COMPARE_SWAP, 105u32.wrapping_sub(1 << 23)),
        ] {
            h.serve = (2, verdict, 77);
            // R53, R49: it is judged by what it repeats.
            let mut p = request(opcode, psn & 0xff_ffff);
            p.length = 4;
            let left = h.send(&p);
            assert_eq!(
                (left.counter(), left.requests.clone(), left.silent()),
                (DUPLICATE, vec![(2, true, 1)], true)
            );
            assert_eq!(h.query(2), before);
        }
    }
}

#[test]
fn r50_r52_r58_r59_what_the_responder_refuses_ends_the_qp() {
    for (verdict, syndrome) in [(3, NAK_INVALID), (4, NAK_ACCESS)] {
        let mut h = with_reads(false);
        h.send(&write_only(100, 8));
        h.serve = (4, verdict, 9);
        let left = h.send(&request(READ, 101));
        assert_eq!((left.counter(), left.answer()), (NAKED, Some((syndrome, 101, 1))));
        let entry = left.entry();
        assert!(entry.event && !entry.serve, "{entry:?}");
        assert_eq!(h.told.last(), Some(&(2, state::ERR)));
        assert_eq!(h.query(2), (state::ERR, 101, 1, 0));
        assert_eq!(h.send(&request(READ, 101)).counter(), QP_STATE);
    }
}

/// A fatal NAK of the responder's own waits to be sent: nothing more is taken, and nothing is said.
#[test]
fn r69_a_request_behind_the_responders_own_nak_is_silent() {
    let mut h = with_reads(false);
    let before = h.query(2);
    h.serve = (0, 2, 3);
    let left = h.send(&request(READ, 100));
    assert_eq!((left.counter(), left.silent()), (OUT_OF_SEQUENCE_SILENT, true));
    assert_eq!(h.query(2), before);
    let left = h.read_error(2);
    assert!(left.entries.iter().all(|e| !e.event), "the responder raises the event");
    assert_eq!((h.query(2).0, h.told.last()), (state::ERR, Some(&(2, state::ERR))));
    // A QP that has been reset meanwhile isn't touched.
    h.modify(2, state::RESET);
    h.read_error(2);
    assert_eq!(h.query(2).0, state::RESET);
}

#[test]
fn r23_r49_r53_r57_what_isnt_handed_over() {
    // A gap.
    let mut h = with_reads(false);
    let left = h.send(&request(READ, 101));
    assert_eq!((left.answer(), left.requests.len()), (Some((NAK_SEQUENCE, 100, 0)), 0));
    // It carries something.
    let mut p = request(READ, 100);
    p.length = 4;
    let left = h.send(&p);
    dead(&mut h, &left, NAK_INVALID);
    // Inside a message.
    let mut h = with_reads(false);
    h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 300));
    let left = h.send(&request(READ, 101));
    assert_eq!((left.counter(), left.answer()), (NAKED, Some((NAK_INVALID, 101, 0))));
    assert!(left.requests.is_empty());
    // Not permitted.
    for (opcode, read, atomic, good) in [
        (READ, 0, 1, false),
        (READ, 1, 0, true),
        (COMPARE_SWAP, 1, 0, false),
        (FETCH_ADD, 1, 0, false),
        (FETCH_ADD, 0, 1, true),
    ] {
        let mut h = Harness::with(3, Features::all());
        let mut row = row(2);
        qp::REMOTE_READ.set(&mut row, read);
        qp::REMOTE_ATOMIC.set(&mut row, atomic);
        h.connect(2, &row);
        let left = h.send(&request(opcode, 100));
        assert_eq!(left.requests.len(), good as usize, "{opcode} {read} {atomic}");
        if !good {
            dead(&mut h, &left, NAK_INVALID);
        }
    }
}

/// READs don't change which PSN a duplicate WRITE is answered with, however many there are.
#[test]
fn r26_a_duplicate_behind_reads_is_answered_with_the_last_writes_psn() {
    for serial in [false, true] {
        let mut h = with_reads(serial);
        // None yet: the PSN before the first.
        h.serve = (0, 0, 7);
        h.send(&request(READ, 100));
        assert_eq!(h.send(&write_only(99, 8)).answer(), Some((ACK, 99, 1)));
        h.send(&write_only(107, 8));
        assert_eq!(h.send(&write_only(107, 8)).answer(), Some((ACK, 107, 2)));
        h.send(&request(READ, 108));
        h.send(&request(FETCH_ADD, 115));
        for _ in 0..2 {
            assert_eq!(h.send(&write_only(107, 8)).answer(), Some((ACK, 107, 4)));
        }
        // A refused SEND between them, a state change: nothing of that moves it.
        assert_eq!(h.send(&packet(SEND_ONLY, qpn(2), 122, 8)).counter(), RNR);
        h.modify(2, state::RTS);
        h.modify(2, state::SQD);
        assert_eq!(h.send(&write_only(107, 8)).answer(), Some((ACK, 107, 4)));
        // A message of several packets keeps its bytes where that PSN stood.
        h.post(2, 1);
        h.send(&packet(SEND_FIRST, qpn(2), 122, 256));
        assert_eq!(h.send(&write_only(107, 8)).answer(), Some((ACK, 122, 4)));
        let left = h.send(&packet(SEND_LAST, qpn(2), 123, 8));
        assert_eq!(left.entry().byte_length.to_u64(), 264);
        assert_eq!(h.send(&write_only(107, 8)).answer(), Some((ACK, 123, 5)));
        // A new life knows nothing of it.
        h.send(&request(READ, 124));
        let again = row(2);
        h.connect(2, &again);
        assert_eq!(h.send(&write_only(99, 8)).answer(), Some((ACK, 99, 0)));
    }
}

#[test]
fn r27_a_duplicate_read_inside_a_message_leaves_it_alone() {
    for serial in [false, true] {
        let mut h = with_reads(serial);
        h.serve = (2, 0, 3);
        h.send(&request(READ, 100));
        h.send(&packet(WRITE_FIRST, qpn(2), 103, 256).reth(VA, KEY, 600));
        h.serve = (2, 1, 3);
        assert_eq!(h.send(&request(READ, 101)).requests, [(2, true, 1)]);
        let left = h.send(&packet(WRITE_MIDDLE, qpn(2), 104, 256));
        assert_eq!(left.writes(), [((VA + 256) ^ 0xf000_0000_0000, 256)]);
        h.send(&request(READ, 100));
        assert_eq!(h.send(&packet(WRITE_LAST, qpn(2), 105, 88)).answer(), Some((ACK, 105, 2)));
    }
}

/// A QP's life is over only when retire has let out all that it caused; an error doesn't wait.
#[test]
fn a_reset_waits_for_retire() {
    let mut h = with_reads(false);
    h.retire_idle = false;
    h.told.clear();
    h.modify(2, state::RTS);
    h.modify(2, state::ERR);
    assert_eq!(h.told, vec![(2, state::RTS), (2, state::ERR)]);
    let hung = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| h.command(1, 2, state::RESET)));
    assert!(hung.is_err() && h.told.len() == 2, "reset before retire was empty: {:?}", h.told);
    h.retire_idle = true;
    h.rest(30);
    assert_eq!(h.told.last(), Some(&(2, state::RESET)));
}
