// SPDX-License-Identifier: MIT OR Apache-2.0
//! READ and ATOMIC at the responder: R22, R26-R30, R36, R37, R49-R53, R57-R59, R75.

use super::fixture::*;
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::State;
use verbena_model::golden::{Features, Outcome};
use verbena_model::packet::{AtomicEth, Packet, Reth};
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;

const KEY: u32 = 0x0000_0677;
const FIRST: u8 = 0x0d;
const MIDDLE: u8 = 0x0e;
const LAST: u8 = 0x0f;
const ONLY: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x11;
const ATOMIC_ACK: u8 = 0x12;
const COMPARE_SWAP: u8 = 0x13;
const FETCH_ADD: u8 = 0x14;
const FILL: u8 = 0x5a;

/// A responder with READ and ATOMIC; `KEY` reads and writes, filled with a pattern.
fn fixture(depth: u8) -> Fixture {
    let mut f = Fixture::new();
    f.golden.features = Features::ALL;
    f.golden.qp_mut(RC).unwrap().attributes.max_dest_rd_atomic = depth;
    let pages = (0..6).map(|n| (0x9000 + 2 * (6 - n)) * 4096).collect();
    let region = Region {
        key: KEY,
        pd: 7,
        access: Access {
            local_write: true,
            remote_write: true,
            remote_read: true,
            remote_atomic: true,
        },
        may_invalidate: false,
        virtual_address: VA,
        length: LENGTH,
        pages,
    };
    region.write(&mut f.memory, VA, &bytes(LENGTH as usize, FILL));
    f.golden.register(region);
    f
}

impl Fixture {
    /// A READ request at the requester's PSN, which moves on by what it takes.
    fn read_request(&mut self, at: u64, length: u32) -> Packet {
        let packet = Packet {
            opcode: 0x0c,
            psn: self.requester.psn,
            reth: Reth {
                virtual_address: VA + at,
                rkey: KEY,
                length,
            },
            ..self.requester.template.clone()
        };
        let count = length.div_ceil(PMTU as u32).max(1);
        self.requester.psn = (self.requester.psn + count) & 0xff_ffff;
        packet
    }

    fn atomic(&mut self, opcode: u8, at: u64, swap_or_add: u64, compare: u64) -> Packet {
        let packet = Packet {
            opcode,
            psn: self.requester.psn,
            atomic_eth: AtomicEth {
                virtual_address: VA + at,
                rkey: KEY,
                swap_or_add,
                compare,
            },
            ..self.requester.template.clone()
        };
        self.requester.psn = (self.requester.psn + 1) & 0xff_ffff;
        packet
    }

    fn write_all(&mut self, at: u64, payload: &[u8]) -> Vec<Packet> {
        let mut packets = self.write(at, payload);
        packets.iter_mut().for_each(|p| p.reth.rkey = KEY);
        packets
    }
}

/// (opcode, PSN, MSN) of each answer.
fn kinds(outcome: &Outcome) -> Vec<(u8, u32, u32)> {
    outcome.answers.iter().map(|a| (a.opcode, a.psn, a.aeth.msn)).collect()
}

fn data(outcome: &Outcome) -> Vec<u8> {
    outcome.answers.iter().flat_map(|a| a.payload.clone()).collect()
}

/// Offset of an 8-byte aligned address: `VA` itself is odd.
const ALIGNED: u64 = 8 - VA % 8;

#[test]
fn r22_a_read_takes_a_psn_for_each_response() {
    for (length, count) in [
        (0, 1),
        (1, 1),
        (PMTU as u32 - 1, 1),
        (PMTU as u32, 1),
        (PMTU as u32 + 1, 2),
        (5 * PMTU as u32, 5),
    ] {
        let mut f = fixture(1);
        let request = f.read_request(3, length);
        let outcome = f.receive(&request);
        assert_eq!(outcome.answers.len() as u32, count, "{length}");
        assert_eq!(data(&outcome), bytes(LENGTH as usize, FILL)[3..3 + length as usize]);
        assert!(outcome.answers.iter().enumerate().all(|(n, a)| a.psn == psn(n as u32)));
        // The next request is in order only at that PSN.
        let packets = f.write_all(0, &[1]);
        assert_eq!(answers(&f.deliver(&packets)), [(ACK, psn(count), 2)], "{length}");
    }
}

#[test]
fn r22_r37_responses_are_segmented_and_count_once() {
    let mut f = fixture(1);
    let request = f.read_request(0, 3 * PMTU as u32 + 10);
    let outcome = f.receive(&request);
    assert_eq!(
        kinds(&outcome),
        [(FIRST, psn(0), 1), (MIDDLE, psn(1), 0), (MIDDLE, psn(2), 0), (LAST, psn(3), 1)],
        "MIDDLE has no AETH"
    );
    assert_eq!(outcome.responder, Some(c::ACCEPTED));
    let request = f.read_request(0, 10);
    assert_eq!(kinds(&f.receive(&request)), [(ONLY, psn(4), 2)]);
    assert_eq!(f.golden.counters()[usize::from(c::TX_RESPONSE)], 5);
}

#[test]
fn r26_a_duplicate_write_after_a_read_carries_the_writes_psn() {
    let mut f = fixture(1);
    let write = f.write_all(0, &bytes(2 * PMTU, 1));
    f.deliver(&write);
    let read = f.read_request(0, 4 * PMTU as u32);
    f.receive(&read);
    assert_eq!(answers(&f.deliver(&write[1..])), [(ACK, psn(1), 2)]);
    // An ATOMIC after it changes nothing of that either.
    let atomic = f.atomic(FETCH_ADD, ALIGNED, 1, 0);
    f.receive(&atomic);
    assert_eq!(answers(&f.deliver(&write[..1])), [(ACK, psn(1), 3)]);
}

#[test]
fn r27_a_duplicate_read_leaves_a_write_under_way_alone() {
    let mut f = fixture(1);
    let read = f.read_request(0, 2 * PMTU as u32);
    let write = f.write_all(8192, &bytes(3 * PMTU, 2));
    f.receive(&read);
    f.deliver(&write[..1]);
    let again = f.receive(&read);
    assert_eq!(kinds(&again), [(FIRST, psn(0), 1), (LAST, psn(1), 1)]);
    assert_eq!(again.responder, Some(c::DUPLICATE));
    assert_eq!(answers(&f.deliver(&write[1..])), [(ACK, psn(4), 2)]);
    assert_eq!(f.read(KEY, VA + 8192, 3 * PMTU), bytes(3 * PMTU, 2));
}

#[test]
fn r28_a_duplicate_read_is_the_stored_one_or_a_part_of_it() {
    let pmtu = PMTU as u32;
    let mut f = fixture(1);
    let read = f.read_request(0, 5 * pmtu + 7);
    f.receive(&read);
    let with = |ahead: u32, at: u64, length: u32, rkey: u32| {
        let mut packet = read.clone();
        packet.psn = psn(ahead);
        packet.reth = Reth {
            virtual_address: VA + at,
            rkey,
            length,
        };
        packet
    };
    // All of it, the tail, a part.
    for (ahead, length, count) in [(0, 5 * pmtu + 7, 6), (2, 3 * pmtu + 7, 4), (5, 7, 1), (1, 2 * pmtu, 2)] {
        let at = ahead * pmtu;
        let outcome = f.receive(&with(ahead, at.into(), length, KEY));
        assert_eq!(outcome.answers.len(), count, "{ahead}");
        assert_eq!(data(&outcome), bytes(LENGTH as usize, FILL)[at as usize..(at + length) as usize]);
        // R30: it begins with FIRST or ONLY.
        assert_eq!(outcome.answers[0].opcode, if count == 1 { ONLY } else { FIRST });
        assert_eq!(outcome.answers[0].psn, psn(ahead));
    }
    // Another key, another place, longer than what is left, nothing of something.
    let p = u64::from(pmtu);
    for packet in [
        with(0, 0, 5 * pmtu + 7, RKEY),
        with(1, p + 1, pmtu, KEY),
        with(1, 0, 5 * pmtu, KEY),
        with(2, 2 * p, 3 * pmtu + 8, KEY),
        with(1, p, 0, KEY),
    ] {
        let outcome = f.receive(&packet);
        assert!(outcome.answers.is_empty(), "{:x?}", packet.reth);
        assert_eq!((outcome.responder, f.state()), (Some(c::DUPLICATE), State::Rts));
    }
    // The key is looked at again: it is gone.
    f.golden.regions.deregister(KEY);
    assert!(f.receive(&read).answers.is_empty());
}

#[test]
fn r29_a_duplicate_atomic_returns_what_it_returned() {
    let mut f = fixture(2);
    let add = f.atomic(FETCH_ADD, ALIGNED, 5, 0);
    let old = u64::from_le_bytes(f.read(KEY, VA + ALIGNED, 8).try_into().unwrap());
    let first = f.receive(&add);
    assert_eq!((first.answers[0].opcode, first.answers[0].atomic_original), (ATOMIC_ACK, old));
    let again = f.receive(&add);
    assert_eq!((again.answers[0].psn, again.answers[0].atomic_original), (psn(0), old));
    let now = || u64::from_le_bytes(f.read(KEY, VA + ALIGNED, 8).try_into().unwrap());
    assert_eq!(now(), old.wrapping_add(5), "executed once");
    // Two more: the first is forgotten, and dropped.
    for _ in 0..2 {
        let next = f.atomic(FETCH_ADD, ALIGNED, 1, 0);
        f.receive(&next);
    }
    let forgotten = f.receive(&add);
    assert!(forgotten.answers.is_empty());
    assert_eq!(forgotten.responder, Some(c::DUPLICATE));
    // A READ isn't taken for an ATOMIC of its PSN.
    let mut read = f.read_request(0, 8);
    read.psn = psn(2);
    assert!(f.receive(&read).answers.is_empty());
}

#[test]
fn r36_r59_answers_keep_their_order_while_a_read_is_sent() {
    let mut f = fixture(2);
    f.golden.hold_responses = true;
    let read = f.read_request(0, 3 * PMTU as u32);
    let write = f.write_all(8192, &[1]);
    let atomic = f.atomic(FETCH_ADD, ALIGNED, 1, 0);
    let third = f.read_request(0, 4);
    for packet in [&read, &write[0], &atomic] {
        assert!(f.receive(packet).answers.is_empty());
    }
    // R59: two are under way, a third one is too many.
    let outcome = f.receive(&third);
    assert_eq!((outcome.responder, f.state()), (Some(c::NAKED), State::Err));
    let mut sent = vec![];
    while let Some(packet) = f.golden.respond(RC, &f.memory) {
        sent.push((packet.opcode, packet.psn));
    }
    assert_eq!(
        sent,
        [
            (FIRST, psn(0)),
            (MIDDLE, psn(1)),
            (LAST, psn(2)),
            (ACKNOWLEDGE, psn(3)),
            (ATOMIC_ACK, psn(4)),
            (ACKNOWLEDGE, psn(5))
        ]
    );
}

#[test]
fn r59_a_duplicate_takes_no_resource() {
    let mut f = fixture(1);
    f.golden.hold_responses = true;
    let read = f.read_request(0, 2 * PMTU as u32);
    f.receive(&read);
    f.golden.respond(RC, &f.memory).unwrap();
    f.golden.respond(RC, &f.memory).unwrap();
    // It is answered; its duplicate waits when the next one comes.
    f.receive(&read);
    let next = f.read_request(0, 4);
    assert_eq!(f.receive(&next).responder, Some(c::ACCEPTED));
    // And where none are allowed none are.
    let mut f = fixture(0);
    let read = f.read_request(0, 4);
    assert_eq!(answers(&f.receive(&read)), [(NAK_INVALID, psn(0), 0)]);
}

#[test]
fn r33_r36_a_duplicate_of_a_read_being_sent_moves_it_back_in_its_place() {
    let mut f = fixture(2);
    f.golden.hold_responses = true;
    let read = f.read_request(0, 4 * PMTU as u32 + 5);
    let write = f.write_all(8192, &[1]);
    f.receive(&read);
    f.receive(&write[0]);
    for _ in 0..3 {
        f.golden.respond(RC, &f.memory).unwrap();
    }
    // The second response was lost: the rest from there, and nothing twice.
    let mut again = read.clone();
    again.psn = psn(1);
    again.reth.virtual_address += PMTU as u64;
    again.reth.length -= PMTU as u32;
    f.receive(&again);
    let sent: Vec<_> = std::iter::from_fn(|| f.golden.respond(RC, &f.memory)).collect();
    let seen: Vec<_> = sent.iter().map(|p| (p.opcode, p.psn)).collect();
    assert_eq!(
        seen,
        [
            (FIRST, psn(1)),
            (MIDDLE, psn(2)),
            (MIDDLE, psn(3)),
            (LAST, psn(4)),
            (ACKNOWLEDGE, psn(5))
        ]
    );
    let payload: Vec<u8> = sent.iter().flat_map(|p| p.payload.clone()).collect();
    assert_eq!(payload, bytes(LENGTH as usize, FILL)[PMTU..4 * PMTU + 5]);
}

#[test]
fn r51_no_bytes_need_no_key() {
    let mut f = fixture(1);
    let mut read = f.read_request(0, 0);
    read.reth.rkey = 0xdead;
    read.reth.virtual_address = u64::MAX;
    let outcome = f.receive(&read);
    assert_eq!(kinds(&outcome), [(ONLY, psn(0), 1)]);
    assert!(outcome.answers[0].payload.is_empty());
    assert_eq!(kinds(&f.receive(&read)), [(ONLY, psn(0), 1)], "and again");
}

#[test]
fn r52_keys_of_reads_and_atomics_are_checked() {
    let change: [fn(&mut Packet); 5] = [
        |p| p.reth.rkey = RKEY,
        |p| p.reth.rkey ^= 1,
        |p| p.reth.virtual_address = VA + LENGTH - 3,
        |p| p.reth.virtual_address = VA - 1,
        |p| p.reth.virtual_address = u64::MAX - 1,
    ];
    for (number, change) in change.iter().enumerate() {
        let mut f = fixture(1);
        let mut read = f.read_request(0, 4);
        change(&mut read);
        assert_eq!(answers(&f.receive(&read)), [(NAK_ACCESS, psn(0), 0)], "{number}");
        assert_eq!(f.state(), State::Err);
    }
    let mut f = fixture(1);
    let mut add = f.atomic(FETCH_ADD, ALIGNED, 1, 0);
    add.atomic_eth.rkey = RKEY;
    assert_eq!(
        answers(&f.receive(&add)),
        [(NAK_ACCESS, psn(0), 0)],
        "a region without remote atomic"
    );
    let mut f = fixture(1);
    f.golden.qp_mut(RC).unwrap().attributes.pd = 8;
    let read = f.read_request(0, 4);
    assert_eq!(answers(&f.receive(&read)), [(NAK_ACCESS, psn(0), 0)], "another PD");
}

#[test]
fn r53_the_qps_flags_rule_reads_and_atomics() {
    for atomic in [false, true] {
        let mut f = fixture(1);
        let a = &mut f.golden.qp_mut(RC).unwrap().attributes;
        (a.remote_read, a.remote_atomic) = (atomic, !atomic);
        let packet = if atomic {
            f.atomic(COMPARE_SWAP, ALIGNED, 1, 0)
        } else {
            f.read_request(0, 4)
        };
        assert_eq!(answers(&f.receive(&packet)), [(NAK_INVALID, psn(0), 0)], "{atomic}");
    }
}

#[test]
fn r57_r49_a_read_inside_a_message_or_with_payload_is_refused() {
    let mut f = fixture(1);
    let write = f.write_all(0, &bytes(2 * PMTU, 1));
    f.deliver(&write[..1]);
    f.requester.psn = psn(1);
    let read = f.read_request(0, 4);
    assert_eq!(answers(&f.receive(&read)), [(NAK_INVALID, psn(1), 0)]);
    let mut f = fixture(1);
    let mut read = f.read_request(0, 4);
    read.payload = vec![1, 2, 3, 4];
    assert_eq!(answers(&f.receive(&read)), [(NAK_INVALID, psn(0), 0)]);
}

#[test]
fn r50_r75_a_read_too_long_is_refused() {
    // At PMTU 256 2 GiB would take 2^23 PSNs.
    for length in [(1 << 31) + 1, 1 << 31] {
        let mut f = fixture(1);
        let read = f.read_request(0, length);
        assert_eq!(answers(&f.receive(&read)), [(NAK_INVALID, psn(0), 0)], "{length:#x}");
    }
    let mut f = fixture(1);
    let read = f.read_request(0, (1 << 31) - PMTU as u32);
    assert_eq!(
        answers(&f.receive(&read)),
        [(NAK_ACCESS, psn(0), 0)],
        "fits, but no region is so long"
    );
}

#[test]
fn r58_atomics_are_aligned_and_little_endian_in_memory() {
    for at in 0..8 {
        let mut f = fixture(1);
        let add = f.atomic(FETCH_ADD, at, 1, 0);
        let outcome = f.receive(&add);
        if at == ALIGNED {
            assert_eq!(outcome.answers[0].opcode, ATOMIC_ACK);
        } else {
            assert_eq!(answers(&outcome), [(NAK_INVALID, psn(0), 0)], "{at}");
        }
    }
    let mut f = fixture(1);
    let set = f.write_all(ALIGNED, &[1, 2, 3, 4, 5, 6, 7, 8]);
    f.deliver(&set);
    let old = 0x0807_0605_0403_0201;
    for (opcode, operand, compare, new) in [
        (COMPARE_SWAP, 7, old ^ 1, old),
        (COMPARE_SWAP, u64::MAX, old, u64::MAX),
        (FETCH_ADD, 2, 0, 1),
    ] {
        let before = u64::from_le_bytes(f.read(KEY, VA + ALIGNED, 8).try_into().unwrap());
        let packet = f.atomic(opcode, ALIGNED, operand, compare);
        let outcome = f.receive(&packet);
        assert_eq!(outcome.answers[0].atomic_original, before);
        assert_eq!(f.read(KEY, VA + ALIGNED, 8), u64::to_le_bytes(new));
        // Big-endian on the wire.
        let frame = outcome.answers[0].to_frame();
        assert_eq!(frame[frame.len() - 12..frame.len() - 4], before.to_be_bytes());
    }
}

#[test]
fn without_the_feature_reads_are_refused_as_before() {
    let mut f = fixture(4);
    f.golden.features = Features::default();
    let read = f.read_request(0, 4);
    assert_eq!(answers(&f.receive(&read)), [(NAK_INVALID, psn(0), 0)]);
}
