// SPDX-License-Identifier: MIT OR Apache-2.0
//! RC: lengths, keys, receives, errors.

use super::harness::*;
use super::rules_rc::*;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state, status};

#[test]
fn r49_lengths() {
    for code in 1..=5u32 {
        let mtu = 128 << code;
        // (opcode, length, good)
        let cases = [
            (WRITE_FIRST, mtu, true),
            (WRITE_FIRST, mtu - 4, false),
            (WRITE_FIRST, mtu - 1, false),
            (WRITE_FIRST, mtu + 4, false),
            (WRITE_FIRST, 0, false),
            (WRITE_ONLY, 0, true),
            (WRITE_ONLY, mtu, true),
            (WRITE_ONLY, mtu + 1, false),
        ];
        for (opcode, length, good) in cases {
            let mut h = Harness::new(4);
            let mut r = row(2);
            qp::PMTU.set(&mut r, code);
            h.connect(2, &r);
            let dma = if opcode == WRITE_FIRST { length + 100 } else { length };
            let left = h.send(&packet(opcode, qpn(2), 100, length).reth(VA, KEY, dma));
            if good {
                assert_eq!(left.counter(), ACCEPTED, "mtu {mtu} opcode {opcode} length {length}");
            } else {
                dead(&mut h, &left, NAK_INVALID);
            }
        }
        for (opcode, length, good) in [
            (WRITE_MIDDLE, mtu, true),
            (WRITE_MIDDLE, mtu - 4, false),
            (WRITE_LAST, 0, false),
            (WRITE_LAST, 1, true),
            (WRITE_LAST, mtu, true),
            (WRITE_LAST, mtu + 1, false),
        ] {
            let mut h = Harness::new(5);
            let mut r = row(2);
            qp::PMTU.set(&mut r, code);
            h.connect(2, &r);
            let dma = mtu + length.max(1) + if opcode == WRITE_MIDDLE { 4 } else { 0 };
            h.send(&packet(WRITE_FIRST, qpn(2), 100, mtu).reth(VA, KEY, dma));
            let left = h.send(&packet(opcode, qpn(2), 101, length));
            if good {
                assert_eq!(left.counter(), ACCEPTED, "mtu {mtu} opcode {opcode} length {length}");
            } else {
                dead(&mut h, &left, NAK_INVALID);
            }
        }
    }
}

#[test]
fn r49_sends_too() {
    for (opcode, length, good) in [
        (SEND_FIRST, 256, true),
        (SEND_FIRST, 252, false),
        (SEND_ONLY, 257, false),
        (SEND_ONLY, 256, true),
        (SEND_ONLY, 0, true),
    ] {
        let mut h = up();
        h.post(2, 1);
        let left = h.send(&packet(opcode, qpn(2), 100, length));
        if good {
            assert_eq!(left.counter(), ACCEPTED);
        } else {
            dead(&mut h, &left, NAK_INVALID);
        }
    }
}

#[test]
fn r50_sum_of_payloads_is_dma_length() {
    for (dma, good) in [(356, true), (355, false), (357, false), (256, false), (100, false)] {
        let mut h = up();
        let first = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, dma));
        if dma <= 256 {
            dead(&mut h, &first, NAK_INVALID);
            continue;
        }
        let left = h.send(&packet(WRITE_LAST, qpn(2), 101, 100));
        if good {
            assert_eq!(left.answer(), Some((ACK, 101, 1)));
        } else {
            assert!(left.writes().is_empty(), "nothing of it is written");
            dead(&mut h, &left, NAK_INVALID);
        }
    }
    for (length, dma) in [(8, 7), (8, 9), (8, 0), (0, 8)] {
        let mut h = up();
        let left = h.send(&packet(WRITE_ONLY, qpn(2), 100, length).reth(VA, KEY, dma));
        dead(&mut h, &left, NAK_INVALID);
    }
    // A MIDDLE that goes beyond writes nothing.
    let mut h = up();
    h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 511));
    let left = h.send(&packet(WRITE_MIDDLE, qpn(2), 101, 256));
    assert!(left.writes().is_empty());
    dead(&mut h, &left, NAK_INVALID);
}

#[test]
fn r50_dma_length_limit() {
    let mut h = up();
    let left = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(0xffff_f000, KEY, 1 << 31));
    assert_eq!(left.counter(), ACCEPTED);
    let mut h = up();
    let left = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(0xffff_f000, KEY, (1 << 31) + 1));
    dead(&mut h, &left, NAK_INVALID);
}

#[test]
fn r51_zero_length_write_checks_no_key() {
    let mut h = up();
    let left = h.send(&packet(WRITE_ONLY, qpn(2), 100, 0).reth(0xdead_0000, 0xbad, 0));
    assert!(left.keys.iter().all(|k| k.3 == 0), "a length was given to Keys: {left:?}");
    assert_eq!(
        (left.answer(), left.writes(), left.entry().jobs.to_u64()),
        (Some((ACK, 100, 1)), vec![], 0)
    );
}

#[test]
fn r52_remote_key() {
    // Wrong key, below, above, wrap-around, local-only key, other PD.
    for (va, key, dma) in [
        (VA, 0x101, 8),
        (0xffff_efff, KEY, 8),
        (0x1_ffff_f000 - 7, KEY, 8),
        (0xffff_ffff_ffff_fffc, KEY, 8),
        (0x10_0000, 0x200, 8),
    ] {
        let mut h = up();
        let left = h.send(&packet(WRITE_ONLY, qpn(2), 100, dma).reth(va, key, dma));
        assert!(left.writes().is_empty());
        dead(&mut h, &left, NAK_ACCESS);
    }
    let mut h = up();
    h.regions[0].pd = 8;
    let left = h.send(&write_only(100, 8));
    dead(&mut h, &left, NAK_ACCESS);
}

#[test]
fn r52_the_whole_write_is_checked_first() {
    let mut h = up();
    // The first packet lies inside the region, the last wouldn't.
    let left = h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(0x1_ffff_f000 - 300, KEY, 301));
    assert_eq!(left.keys, vec![(0, KEY, 0x1_ffff_f000 - 300, 301)]);
    assert!(left.writes().is_empty());
    dead(&mut h, &left, NAK_ACCESS);
}

#[test]
fn r52_region_that_ends_in_mid_message() {
    let mut h = up();
    h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 300));
    h.regions[0].valid = false;
    let left = h.send(&packet(WRITE_LAST, qpn(2), 101, 44));
    assert!(left.writes().is_empty());
    dead(&mut h, &left, NAK_ACCESS);
}

#[test]
fn r53_remote_write_off() {
    let mut h = Harness::new(6);
    let mut r = row(2);
    qp::REMOTE_WRITE.set(&mut r, 0);
    h.connect(2, &r);
    h.post(2, 1);
    // A SEND may still.
    assert_eq!(h.send(&packet(SEND_ONLY, qpn(2), 100, 8)).counter(), ACCEPTED);
    let left = h.send(&write_only(101, 8));
    assert!(left.writes().is_empty());
    dead(&mut h, &left, NAK_INVALID);
}

#[test]
fn r54_write_with_immediate_takes_a_receive() {
    let mut h = up();
    let mut only = packet(WRITE_ONLY_IMM, qpn(2), 100, 8).reth(VA, KEY, 8);
    only.xth[4] = 0xcafe_0001;
    let left = h.send(&only);
    assert_eq!((left.answer(), left.writes()), (Some((0x2c, 100, 0)), vec![]));
    h.post(2, 2);
    let left = h.send(&only);
    let entry = left.entry();
    assert_eq!((left.completion(), left.answer()), (Some((0, 0)), Some((ACK, 100, 1))));
    assert_eq!(
        (
            entry.completion_opcode.to_u64(),
            entry.immediate.to_u64(),
            entry.byte_length.to_u64()
        ),
        (0x81, 0xcafe_0001, 8)
    );
    assert!(entry.with_imm && left.fetches.is_empty());
    // FIRST takes none; LAST does.
    let left = h.send(&packet(WRITE_FIRST, qpn(2), 101, 256).reth(VA, KEY, 300));
    assert_eq!(left.completion(), None);
    let mut last = packet(WRITE_LAST_IMM, qpn(2), 102, 44);
    last.xth[0] = 0xcafe_0002;
    let left = h.send(&last);
    let entry = left.entry();
    assert_eq!(
        (left.completion(), entry.byte_length.to_u64(), entry.immediate.to_u64()),
        (Some((0, 1)), 300, 0xcafe_0002)
    );
    assert_eq!(left.writes(), vec![(place(VA + 256), 44)]);
    assert_eq!(h.query(2).3, 2);
}

#[test]
fn r54_rnr_in_mid_message_keeps_the_message() {
    let mut h = up();
    h.send(&packet(WRITE_FIRST, qpn(2), 100, 256).reth(VA, KEY, 300));
    let last = packet(WRITE_LAST_IMM, qpn(2), 101, 44);
    let left = h.send(&last);
    assert_eq!((left.answer(), left.writes()), (Some((0x2c, 101, 0)), vec![]));
    h.post(2, 1);
    let left = h.send(&last);
    assert_eq!((left.answer(), left.writes()), (Some((ACK, 101, 1)), vec![(place(VA + 256), 44)]));
}

#[test]
fn r55_completion_gives_the_message_length() {
    let mut h = up();
    h.post(2, 1);
    h.send(&packet(SEND_FIRST, qpn(2), 100, 256));
    h.send(&packet(SEND_MIDDLE, qpn(2), 101, 256));
    let left = h.send(&packet(SEND_LAST, qpn(2), 102, 3));
    assert_eq!(left.entry().byte_length.to_u64(), 515);
}

#[test]
fn r56_send_longer_than_its_buffer() {
    let mut h = up();
    h.wqe(2, 0, 0x10_0000, 0x200, 63);
    h.doorbell(2, 1);
    let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 64));
    assert_eq!(left.completion(), Some((status::LOCAL_LENGTH_ERROR, 0)));
    assert!(left.writes().is_empty());
    dead(&mut h, &left, NAK_INVALID);
    // In a MIDDLE: the completion names the WQE that the message holds.
    let mut h = up();
    h.post(2, 2);
    h.send(&packet(SEND_ONLY, qpn(2), 100, 64));
    h.wqe(2, 1, 0x10_0000, 0x200, 400);
    h.send(&packet(SEND_FIRST, qpn(2), 101, 256));
    let mut other = row(1);
    qp::TAG.set(&mut other, 0xab1);
    h.connect(1, &other);
    h.doorbell(1, 3);
    let left = h.send(&packet(SEND_MIDDLE, qpn(2), 102, 256));
    assert_eq!(left.completion(), Some((status::LOCAL_LENGTH_ERROR, 1)));
    dead(&mut h, &left, NAK_INVALID);
}

#[test]
fn local_protection_error() {
    for (key, va) in [(0x100, 0xffff_f000), (0x201, 0x10_0000), (0x200, 0x11_0000 - 4)] {
        let mut h = up();
        h.wqe(2, 0, va, key, 64);
        h.doorbell(2, 1);
        let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 64));
        assert_eq!(left.completion(), Some((status::LOCAL_PROTECTION_ERROR, 0)));
        assert!(left.writes().is_empty());
        dead(&mut h, &left, NAK_OPERATION);
    }
}

#[test]
fn r69_unreadable_wqe() {
    let mut h = up();
    h.doorbell(2, 1);
    let left = h.send(&packet(SEND_ONLY, qpn(2), 100, 64));
    assert_eq!(left.completion(), Some((status::LOCAL_QP_OPERATION_ERROR, 0)));
    dead(&mut h, &left, NAK_OPERATION);
}

#[test]
fn r57_opcode_sequence() {
    let first = |h: &mut Harness, opcode: u8| {
        h.post(2, 2);
        let left = h.send(&packet(opcode, qpn(2), 100, 256).reth(VA, KEY, 600));
        assert_eq!(left.counter(), ACCEPTED);
    };
    // Outside a message.
    for opcode in [
        SEND_MIDDLE,
        SEND_LAST,
        SEND_LAST_IMM,
        SEND_LAST_INV,
        WRITE_MIDDLE,
        WRITE_LAST,
        WRITE_LAST_IMM,
    ] {
        let mut h = up();
        h.post(2, 1);
        let length = if opcode == SEND_MIDDLE || opcode == WRITE_MIDDLE { 256 } else { 8 };
        let left = h.send(&packet(opcode, qpn(2), 100, length));
        dead(&mut h, &left, NAK_INVALID);
    }
    // Inside one: only its own MIDDLE and LAST.
    for (begin, opcode, good) in [
        (SEND_FIRST, SEND_MIDDLE, true),
        (WRITE_FIRST, WRITE_MIDDLE, true),
        (SEND_FIRST, WRITE_MIDDLE, false),
        (WRITE_FIRST, SEND_MIDDLE, false),
        (SEND_FIRST, SEND_FIRST, false),
        (WRITE_FIRST, WRITE_FIRST, false),
        (SEND_FIRST, SEND_ONLY, false),
        (SEND_FIRST, SEND_ONLY_IMM, false),
        (SEND_FIRST, SEND_ONLY_INV, false),
        (WRITE_FIRST, WRITE_ONLY, false),
        (WRITE_FIRST, WRITE_ONLY_IMM, false),
        (WRITE_FIRST, SEND_LAST, false),
        (SEND_FIRST, WRITE_LAST, false),
    ] {
        let mut h = up();
        first(&mut h, begin);
        let left = h.send(&packet(opcode, qpn(2), 101, 256).reth(VA, KEY, 256));
        if good {
            assert_eq!(left.counter(), ACCEPTED);
        } else {
            assert!(left.writes().is_empty());
            dead(&mut h, &left, NAK_INVALID);
        }
    }
}

#[test]
fn r59_read_and_atomic_have_no_resources() {
    for opcode in [12, 19, 20] {
        let mut h = up();
        let left = h.send(&packet(opcode, qpn(2), 100, 0).reth(VA, KEY, 8));
        dead(&mut h, &left, NAK_INVALID);
        let mut h = up();
        assert_eq!(
            h.send(&packet(opcode, qpn(2), 101, 0)).answer(),
            Some((NAK_SEQUENCE, 100, 0)),
            "a gap comes first"
        );
    }
}

#[test]
fn r62_send_with_invalidate() {
    for opcode in [SEND_ONLY_INV, SEND_LAST_INV] {
        let mut h = up();
        h.post(2, 1);
        let mut psn = 100;
        if opcode == SEND_LAST_INV {
            h.send(&packet(SEND_FIRST, qpn(2), psn, 256));
            psn += 1;
        }
        let mut p = packet(opcode, qpn(2), psn, 8);
        p.xth[0] = 0x300;
        let left = h.send(&p);
        assert_eq!(left.answer(), Some((ACK, psn, 1)));
        assert_eq!(left.keys.last().unwrap().0, 1, "{left:?}");
        assert_eq!(left.keys.last().unwrap().1, 0x300);
        let entry = left.entry();
        assert!(entry.with_invalidate && entry.complete && entry.immediate.to_u64() == 0x300 && entry.jobs.to_u64() == 1);
        assert!(!h.regions[2].valid);
    }
    // ~ A key that can't be: placed, then refused.
    let mut h = up();
    h.post(2, 1);
    let mut p = packet(SEND_ONLY_INV, qpn(2), 100, 8);
    p.xth[0] = 0x100;
    let left = h.send(&p);
    assert_eq!(left.writes().len(), 1);
    assert_eq!(left.completion(), Some((status::LOCAL_ACCESS_ERROR, 0)));
    assert_eq!(left.entry().jobs.to_u64(), 1);
    dead(&mut h, &left, NAK_ACCESS);
}

#[test]
fn r63_solicited() {
    let mut h = up();
    h.post(2, 3);
    let mut first = packet(SEND_FIRST, qpn(2), 100, 256);
    first.solicited = true;
    h.send(&first);
    let left = h.send(&packet(SEND_LAST, qpn(2), 101, 8));
    assert!(
        left.entry().complete && !left.entry().solicited,
        "only the last packet's bit counts"
    );
    let mut only = packet(SEND_ONLY, qpn(2), 102, 8);
    only.solicited = true;
    assert!(h.send(&only).entry().solicited);
}

#[test]
fn r65_posted_receives_are_flushed() {
    let mut h = up();
    h.post(2, 4);
    h.send(&packet(SEND_ONLY, qpn(2), 100, 8));
    // The WQE of the message under way is flushed too.
    h.send(&packet(SEND_FIRST, qpn(2), 101, 256));
    let left = h.send(&packet(SEND_FIRST, qpn(2), 102, 256));
    assert_eq!(left.answer().unwrap().0, NAK_INVALID);
    let flushed = |left: &Left| -> Vec<(u64, u16)> {
        left.entries
            .iter()
            .map(|e| {
                assert!(e.complete && !e.respond && !e.event && e.jobs.to_u64() == 0, "{e:?}");
                assert_eq!((e.qpn.to_u64() as u32, e.cq.to_u64(), e.byte_length.to_u64()), (qpn(2), 0x32, 0));
                (e.status.to_u64(), e.wqe_index.to_u64() as u16)
            })
            .collect()
    };
    let left = h.rest(200);
    assert_eq!(flushed(&left), vec![(5, 1), (5, 2), (5, 3)]);
    assert_eq!(h.rest(200).entries.len(), 0, "the walk ends");
    // What is posted later is flushed at once.
    h.doorbell(2, 6);
    assert_eq!(flushed(&h.rest(100)), vec![(5, 4), (5, 5)]);
    assert_eq!(h.query(2), (state::ERR, 102, 1, 6));
    // By command, and by an AXI write error.
    for by_command in [true, false] {
        let mut h = up();
        h.post(2, 2);
        if by_command {
            h.modify(2, state::ERR);
        } else {
            h.qp_error(2);
        }
        assert_eq!(flushed(&h.rest(200)), vec![(5, 0), (5, 1)]);
        assert_eq!(h.query(2).0, state::ERR);
    }
}

#[test]
fn r66_a_wqe_is_fetched_once() {
    let mut h = up();
    h.post(2, 4);
    let mut fetched = vec![];
    let mut psn = 100;
    for i in 0..6u32 {
        fetched.extend(h.send(&packet(SEND_FIRST, qpn(2), psn, 256)).fetches);
        fetched.extend(h.send(&packet(SEND_MIDDLE, qpn(2), psn + 1, 256)).fetches);
        fetched.extend(h.send(&packet(SEND_LAST, qpn(2), psn + 2, 8)).fetches);
        psn += 3;
        assert_eq!(fetched, (0..=i).map(|w| wqe_address(2, w)).collect::<Vec<_>>());
        if i == 2 {
            h.doorbell(2, 6);
        }
    }
}

#[test]
fn r67_lengths_do_not_wrap() {
    let mut h = up();
    h.wqe(2, 0, 0xffff_ff80, 0x200, 0xffff_ffff);
    h.regions[1] = Region {
        va: 0,
        length: 1 << 40,
        address: place(0),
        ..h.regions[1]
    };
    h.doorbell(2, 1);
    // The address crosses 2^32 in the second packet: the carry goes up.
    assert_eq!(
        h.send(&packet(SEND_FIRST, qpn(2), 100, 256)).writes(),
        vec![(place(0xffff_ff80), 256)]
    );
    assert_eq!(h.send(&packet(SEND_LAST, qpn(2), 101, 8)).writes(), vec![(place(0x1_0000_0080), 8)]);
}

#[test]
fn r69_doorbell_beyond_the_ring() {
    let mut h = up();
    let refused = |left: &Left, index: u32| {
        let e = left.entry();
        assert!(e.event && e.event_type.to_u64() == 4 && !e.complete && !e.respond, "{e:?}");
        assert_eq!(e.qpn.to_u64() as u32, index);
    };
    refused(&h.doorbell(2, 5), 2);
    refused(&h.doorbell(2, 0xffff), 2);
    assert!(h.doorbell(2, 4).entries.is_empty());
    refused(&h.doorbell(0, 1), 0);
    refused(&h.doorbell(4, 1), 4);
    refused(&h.doorbell(0xfff, 1), 0xfff);
    assert!(h.doorbell(2, 4).entries.is_empty(), "doorbells are idempotent");
}
