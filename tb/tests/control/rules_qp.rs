// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which packets a QP takes, its states, and the unreliable services.

use super::harness::*;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state, QP_WORDS};

const WRITE_ONLY: u8 = 10;
const KEY: u32 = 0x100;
const VA: u64 = 0xffff_f100;

fn write_only(psn: u32) -> Packet {
    packet(WRITE_ONLY, qpn(2), psn, 8).reth(VA, KEY, 8)
}

fn with(change: impl Fn(&mut [u32; QP_WORDS])) -> Harness {
    let mut h = Harness::new(7);
    let mut r = row(2);
    change(&mut r);
    h.connect(2, &r);
    h
}

/// Dropped with this counter, and nothing else.
fn dropped(h: &mut Harness, p: &Packet, counter: u8) {
    let before = h.query(2);
    let left = h.send(p);
    assert_eq!((left.counter(), left.silent()), (counter, true), "{p:?}");
    assert_eq!(h.query(2), before);
}

#[test]
fn r60_pkey() {
    for (ours, theirs, good) in [
        (0xffff, 0xffff, true),
        (0xffff, 0x7fff, true),
        (0x7fff, 0xffff, true),
        (0x7fff, 0x7fff, false),
        (0xffff, 0xfffe, false),
        (0x8001, 0x0001, true),
        (0x8001, 0xc001, false),
    ] {
        let mut h = with(|r| qp::PKEY.set(r, ours));
        let mut p = write_only(100);
        p.pkey = theirs;
        if good {
            assert_eq!(h.send(&p).counter(), ACCEPTED);
        } else {
            dropped(&mut h, &p, BAD_PKEY);
        }
    }
}

#[test]
fn r61_unknown_qp() {
    let mut h = with(|_| ());
    for qpn in [0, 0xab0_000, 4, 0xab2_006, 0xab3_002, 0x2b2_002, 0xab2_802, 0xffffff] {
        let mut p = write_only(100);
        p.qpn = qpn;
        dropped(&mut h, &p, UNKNOWN_QP);
    }
}

#[test]
fn r61_state() {
    for (states, good) in [
        (&[0][..], false),
        (&[0, 1], false),
        (&[0, 1, 2], true),
        (&[0, 1, 2, 3], true),
        (&[0, 1, 2, 3, 4], true),
        (&[0, 1, 2, 3, 4, 3], true),
        (&[0, 1, 2, 5], false),
    ] {
        let mut h = with(|_| ());
        for s in states {
            h.modify(2, *s);
        }
        if good {
            assert_eq!(h.send(&write_only(100)).counter(), ACCEPTED);
        } else {
            dropped(&mut h, &write_only(100), if states == [0] { UNKNOWN_QP } else { QP_STATE });
        }
    }
}

#[test]
fn commands_that_are_refused() {
    let path = |s: u32| match s {
        0 => vec![0],
        1 => vec![0, 1],
        2 => vec![0, 1, 2],
        3 => vec![0, 1, 2, 3],
        4 => vec![0, 1, 2, 3, 4],
        _ => vec![0, 1, 2, 5],
    };
    let legal = [(0, 1), (1, 1), (1, 2), (2, 3), (3, 3), (3, 4), (4, 3), (4, 4)];
    for from in 0..6 {
        for to in 0..16 {
            let mut h = with(|_| ());
            for s in path(from) {
                h.modify(2, s);
            }
            let good = to == state::RESET || to == state::ERR || legal.contains(&(from, to));
            assert_eq!(h.command(1, 2, to).0, good, "{from} to {to}");
            assert_eq!(h.query(2).0, if good { to } else { from });
        }
    }
    let mut h = with(|_| ());
    for (operation, index) in [(0, 2), (3, 2), (15, 2), (1, 0), (2, 0), (1, 4), (2, 0x802)] {
        assert!(!h.command(operation, index, 0).0, "operation {operation} index {index}");
    }
    assert_eq!(h.query(2).0, state::RTR);
}

#[test]
fn a_message_goes_on_across_rts() {
    let mut h = with(|_| ());
    h.send(&packet(6, qpn(2), 100, 256).reth(VA, KEY, 264));
    assert_eq!(h.send(&write_only(105)).counter(), OUT_OF_SEQUENCE);
    h.modify(2, state::RTS);
    assert_eq!(h.send(&write_only(105)).counter(), OUT_OF_SEQUENCE_SILENT);
    assert_eq!(h.send(&packet(8, qpn(2), 101, 8)).answer(), Some((0x1f, 101, 1)));
}

#[test]
fn r71_addresses() {
    let mut h = with(|r| qp::GID_INDEX.set(r, 1));
    let good = || {
        let mut p = write_only(100);
        p.gid = 1;
        p
    };
    let mut p = good();
    p.source[3] ^= 1;
    dropped(&mut h, &p, BAD_ADDRESS);
    let mut p = good();
    p.source[3] ^= 1 << 31;
    dropped(&mut h, &p, BAD_ADDRESS);
    let mut p = good();
    p.gid = 0;
    dropped(&mut h, &p, BAD_ADDRESS);
    let mut p = good();
    p.ipv6 = true;
    dropped(&mut h, &p, BAD_ADDRESS);
    assert_eq!(h.send(&good()).counter(), ACCEPTED);

    let six = |r: &mut [u32; QP_WORDS]| {
        qp::IPV6.set(r, 1);
        for (i, field) in [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3].iter().enumerate() {
            field.set(r, PEER6[i]);
        }
    };
    let mut h = with(six);
    for word in 0..4 {
        let mut p = write_only(100);
        (p.ipv6, p.source) = (true, PEER6);
        p.source[word] ^= 0x10;
        dropped(&mut h, &p, BAD_ADDRESS);
    }
    let mut p = write_only(100);
    p.source = PEER6;
    dropped(&mut h, &p, BAD_ADDRESS);
    p.ipv6 = true;
    let left = h.send(&p);
    println!("WRITE ONLY over IPv6: {} cycles", left.cycles);
    assert_eq!(left.counter(), ACCEPTED);
    assert!(left.cycles <= 15);
}

#[test]
fn r72_transport() {
    for service in [0u32, 1, 3] {
        let mut h = with(|r| qp::SERVICE.set(r, service));
        for opcode in [0x0au8, 0x2a, 0x64, 0x04, 0x24, 0x11] {
            if (opcode >> 5) as u32 != service {
                let mut p = write_only(100);
                p.opcode = opcode;
                dropped(&mut h, &p, WRONG_TRANSPORT);
            }
        }
    }
}

fn uc() -> Harness {
    with(|r| qp::SERVICE.set(r, 1))
}

fn uc_packet(opcode: u8, psn: u32, length: u32) -> Packet {
    packet(0x20 | opcode, qpn(2), psn, length)
}

#[test]
fn r73_uc_unexpected_psn() {
    let mut h = uc();
    for psn in [100, 101, 110, 50, 0xff_ffff, 0] {
        let left = h.send(&uc_packet(10, psn, 8).reth(VA, KEY, 8));
        assert_eq!((left.counter(), left.answer()), (ACCEPTED, None), "UC answers nothing");
        assert_eq!(left.writes().len(), 1);
        assert_eq!(h.query(2).1, (psn + 1) & 0xff_ffff);
    }
}

#[test]
fn r57_uc_broken_message() {
    let mut h = uc();
    h.post(2, 3);
    let first = |psn| uc_packet(6, psn, 256).reth(VA, KEY, 600);
    // A gap inside a message: the rest is dropped until the next FIRST or ONLY.
    assert_eq!(h.send(&first(100)).counter(), ACCEPTED);
    for (opcode, psn, length) in [(7, 102, 256), (7, 103, 256), (8, 104, 8), (1, 105, 256)] {
        let left = h.send(&uc_packet(opcode, psn, length));
        assert_eq!((left.counter(), left.silent()), (UC_DROPPED, true));
        assert_eq!(h.query(2).1, psn + 1);
    }
    // A FIRST where a LAST was due begins anew.
    assert_eq!(h.send(&first(106)).counter(), ACCEPTED);
    assert_eq!(h.send(&first(107)).counter(), ACCEPTED);
    assert_eq!(h.send(&uc_packet(7, 108, 256)).writes(), vec![((VA + 256) ^ 0xf000_0000_0000, 256)]);
    assert_eq!(h.send(&uc_packet(8, 109, 88)).counter(), ACCEPTED);
    // A SEND broken off leaves its WQE to the next.
    assert_eq!(h.send(&uc_packet(0, 110, 256)).counter(), ACCEPTED);
    assert_eq!(h.send(&uc_packet(2, 112, 8)).counter(), UC_DROPPED);
    let left = h.send(&uc_packet(4, 113, 8));
    assert_eq!((left.completion(), left.counter()), (Some((0, 0)), ACCEPTED));
    // Errors drop the message, and the QP lives on.
    let left = h.send(&uc_packet(10, 114, 8).reth(VA, 0xbad, 8));
    assert_eq!((left.counter(), left.silent()), (UC_DROPPED, true));
    let left = h.send(&uc_packet(6, 115, 100).reth(VA, KEY, 200));
    assert_eq!((left.counter(), left.silent()), (UC_DROPPED, true));
    assert_eq!(h.query(2), (state::RTR, 116, 2, 1));
}

#[test]
fn uc_without_a_receive() {
    let mut h = uc();
    let left = h.send(&uc_packet(4, 100, 8));
    assert_eq!((left.counter(), left.silent()), (NO_RECEIVE, true));
    let left = h.send(&uc_packet(11, 101, 8).reth(VA, KEY, 8));
    assert_eq!((left.counter(), left.silent()), (NO_RECEIVE, true));
    assert_eq!(h.query(2), (state::RTR, 102, 0, 0));
}

fn ud() -> Harness {
    with(|r| qp::SERVICE.set(r, 3))
}

fn ud_packet(opcode: u8, length: u32) -> Packet {
    let mut p = packet(opcode, qpn(2), 0x777, length);
    p.source = [9, 9, 9, 9];
    p.gid = 3;
    p.xth[..3].copy_from_slice(&[0x1111_2222, 0xff12_3456, 0xabcd_0123]);
    p
}

#[test]
fn r61_ud_qkey() {
    let mut h = ud();
    h.post(2, 1);
    let mut p = ud_packet(0x64, 8);
    p.xth[0] ^= 1;
    dropped(&mut h, &p, BAD_QKEY);
    p.xth[0] ^= 0x8000_0001;
    dropped(&mut h, &p, BAD_QKEY);
    let mut p = ud_packet(0x64, 8);
    p.pkey = 0x1234;
    dropped(&mut h, &p, BAD_PKEY);
    assert_eq!(h.send(&ud_packet(0x64, 8)).counter(), ACCEPTED);
}

#[test]
fn r70_ud_places_the_grh_first() {
    let mut h = ud();
    h.post(2, 4);
    for (wqe, opcode, length) in [(0u32, 0x64, 64), (1, 0x65, 256), (2, 0x64, 0)] {
        let left = h.send(&ud_packet(opcode, length));
        let va = 0x10_0000 + 0x400 * wqe as u64;
        let mut want = vec![(va ^ 0xf000_0000_0000, 40)];
        if length > 0 {
            want.push(((va + 40) ^ 0xf000_0000_0000, length));
        }
        assert_eq!(left.writes(), want);
        assert_eq!(
            (
                left.jobs[0].ring_beat.to_u64(),
                left.jobs[0].ring_offset.to_u64(),
                left.jobs[0].release
            ),
            (0x110, 0, false)
        );
        assert_eq!(left.jobs[1].ring_beat.to_u64(), 0x123);
        let e = left.entry();
        assert_eq!(left.completion(), Some((0, wqe as u16)));
        assert!(e.grh && !e.respond && e.with_imm == (opcode == 0x65), "{e:?}");
        assert_eq!((e.byte_length.to_u64(), e.source_qpn.to_u64()), (40 + length as u64, 0x12_3456));
        if e.with_imm {
            assert_eq!(e.immediate.to_u64(), 0xabcd_0123);
        }
    }
}

#[test]
fn ud_that_does_not_fit() {
    let mut h = ud();
    dropped_counted(&mut h, &ud_packet(0x64, 8));
    h.wqe(2, 0, 0x10_0000, 0x200, 47);
    h.doorbell(2, 1);
    dropped_counted(&mut h, &ud_packet(0x64, 8));
    // The WQE waits for one that fits.
    let left = h.send(&ud_packet(0x64, 7));
    assert_eq!((left.counter(), left.completion()), (ACCEPTED, Some((0, 0))));
}

fn dropped_counted(h: &mut Harness, p: &Packet) {
    let left = h.send(p);
    assert_eq!((left.counter(), left.silent()), (NO_RECEIVE, true));
    assert_eq!(h.query(2).3, 0);
}

/// A marked packet of an RC or UC QP is told of, whatever becomes of it; a dropped one, UD's, and one without the mark aren't.
#[test]
fn r76_marked_packets_are_told() {
    let marked = |p: Packet| Packet { marked: true, ..p };
    let mut h = with(|_| ());
    // Accepted, a duplicate, one beyond a gap, a response to nothing (R39).
    for (p, counter) in [
        (write_only(100), ACCEPTED),
        (write_only(100), DUPLICATE),
        (write_only(105), OUT_OF_SEQUENCE),
        (packet(0x11, qpn(2), 7, 0), GHOST_ACK),
    ] {
        for mark in [true, false] {
            let mut h = with(|_| ());
            if counter == DUPLICATE {
                h.send(&write_only(100));
            }
            let left = h.send(&Packet { marked: mark, ..p.clone() });
            assert_eq!((left.counter(), left.marked), (counter, mark), "{p:?}");
        }
    }
    // Dropped by the QP's checks.
    let mut p = marked(write_only(100));
    p.pkey = 0x1234;
    assert_eq!((h.send(&p).counter(), h.send(&p).marked), (BAD_PKEY, false));
    let mut p = marked(write_only(100));
    p.source[3] ^= 1;
    assert_eq!((h.send(&p).counter(), h.send(&p).marked), (BAD_ADDRESS, false));
    let mut p = marked(write_only(100));
    p.qpn ^= 1 << 20;
    assert_eq!((h.send(&p).counter(), h.send(&p).marked), (UNKNOWN_QP, false));
    // The one before it was told of, this one isn't.
    assert!(h.send(&marked(write_only(100))).marked);
    assert!(!h.send(&write_only(101)).marked);
    let mut h = uc();
    assert!(h.send(&marked(uc_packet(0x2a, 100, 8).reth(VA, KEY, 8))).marked);
    let mut h = ud();
    h.post(2, 1);
    let left = h.send(&marked(ud_packet(0x64, 8)));
    assert_eq!((left.counter(), left.marked), (ACCEPTED, false));
}

/// A CNP passes its QP's checks, whatever the QP's transport: it is told of, and nothing else comes of it, however it is placed among the QP's packets.
#[test]
fn r76_a_cnp_is_told_to_the_reaction_point() {
    let cnp = |psn: u32| packet(0x81, qpn(2), psn, 0);
    let mut h = with(|_| ());
    for psn in [0, 100, 105] {
        let left = h.send(&cnp(psn));
        assert_eq!((left.counter(), left.noticed, left.silent()), (CNP, true, true), "PSN {psn}");
    }
    // Marked: no CNP for a CNP.
    let left = h.send(&Packet { marked: true, ..cnp(0) });
    assert_eq!((left.counter(), left.noticed, left.marked), (CNP, true, false));
    // Nothing has moved.
    let left = h.send(&write_only(100));
    assert_eq!((left.counter(), left.noticed), (ACCEPTED, false));
    for (change, counter) in [
        ((|p: &mut Packet| p.pkey = 0x1234) as fn(&mut Packet), BAD_PKEY),
        (|p: &mut Packet| p.source[3] ^= 1, BAD_ADDRESS),
        (|p: &mut Packet| p.qpn ^= 1 << 20, UNKNOWN_QP),
    ] {
        let mut p = cnp(0);
        change(&mut p);
        let left = h.send(&p);
        assert_eq!((left.counter(), left.noticed), (counter, false), "{p:?}");
    }
    let mut h = uc();
    let left = h.send(&cnp(0));
    assert_eq!((left.counter(), left.noticed, left.silent()), (CNP, true, true));
    assert_eq!(h.send(&uc_packet(0x2a, 100, 8).reth(VA, KEY, 8)).counter(), ACCEPTED);
}
