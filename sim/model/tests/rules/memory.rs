// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lengths, keys, permissions, placement: R49-R53, R56, R58, R59, R62, R67.

use super::fixture::*;
use verbena_model::golden::keys::Access;
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::Outcome;
use verbena_model::packet::{Packet, Reth};
use verbena_model::requester::Verb;
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;
use verbena_spec::layout::status;

/// Delivers a packet with the next PSN and expects a fatal refusal.
fn refused(f: &mut Fixture, packet: Packet, code: u8) -> Outcome {
    let outcome = f.receive(&packet);
    assert_eq!(
        outcome.answers.iter().map(|a| (a.aeth.syndrome, a.psn)).collect::<Vec<_>>(),
        [(code, packet.psn)]
    );
    assert_eq!(outcome.responder, Some(c::NAKED));
    assert_eq!(f.state(), State::Err);
    assert_eq!(
        outcome.events.iter().map(|e| (e.number, e.detail)).collect::<Vec<_>>(),
        [(packet.qpn, u32::from(code))]
    );
    // The QP is dead: the same again is dropped in silence.
    let again = f.receive(&packet);
    assert_eq!((again.responder, again.answers.len()), (Some(c::QP_STATE), 0));
    outcome
}

fn request(f: &Fixture, opcode: u8, length: usize, dma_length: u32) -> Packet {
    let reth = Reth {
        virtual_address: VA,
        rkey: RKEY,
        length: dma_length,
    };
    Packet {
        opcode,
        psn: PSN,
        payload: bytes(length, 1),
        reth,
        ..f.requester.template.clone()
    }
}

#[test]
fn r49_lengths_of_first_middle_last_only() {
    for (opcode, length) in [
        (0x06, PMTU - 4),
        (0x06, PMTU - 1),
        (0x06, PMTU + 4),
        (0x06, 0),
        (0x00, PMTU - 4),
        (0x00, 0),
        (0x04, PMTU + 4),
        (0x0a, PMTU + 4),
    ] {
        let mut f = Fixture::new();
        f.post(0, 4 * PMTU as u32);
        let packet = request(&f, opcode, length, if opcode == 0x0a { length as u32 } else { 8 * PMTU as u32 });
        refused(&mut f, packet, NAK_INVALID);
    }
    for (opcode, length) in [(0x07, PMTU - 4), (0x07, 0), (0x07, PMTU + 4), (0x08, 0), (0x08, PMTU + 4)] {
        let mut f = Fixture::new();
        let first = request(&f, 0x06, PMTU, (PMTU + length.max(1)) as u32 + if opcode == 0x07 { 9 } else { 0 });
        assert_eq!(f.receive(&first).responder, Some(c::ACCEPTED));
        let packet = Packet {
            psn: psn(1),
            ..request(&f, opcode, length, 0)
        };
        refused(&mut f, packet, NAK_INVALID);
    }
}

#[test]
fn r50_payloads_sum_to_the_dma_length() {
    for (length, dma_length) in [(8, 9), (8, 7), (8, 0), (0, 1), (1, 0x8000_0001), (1, u32::MAX)] {
        let mut f = Fixture::new();
        let packet = request(&f, 0x0a, length, dma_length);
        refused(&mut f, packet, NAK_INVALID);
        assert_eq!(f.read(RKEY, VA, 8), [0; 8]);
    }
    for dma_length in [PMTU + 7, PMTU + 9] {
        let mut f = Fixture::new();
        let first = request(&f, 0x06, PMTU, dma_length as u32);
        assert_eq!(f.receive(&first).responder, Some(c::ACCEPTED));
        let packet = Packet {
            psn: psn(1),
            ..request(&f, 0x08, 8, 0)
        };
        refused(&mut f, packet, NAK_INVALID);
    }
}

#[test]
fn r51_no_bytes_need_no_key() {
    let mut f = Fixture::new();
    let verb = Verb::Write {
        virtual_address: u64::MAX,
        rkey: 0xdead_beef,
    };
    let packets = f.requester.message(verb, &[], false);
    assert_eq!(answers(&f.deliver(&packets)), [(ACK, psn(0), 1)]);
}

#[test]
fn r52_key_pd_access_and_range() {
    let last = VA + LENGTH;
    for (key, address, length) in [
        (RKEY ^ 1, VA, 8),
        (RKEY + 0x100, VA, 8),
        (LKEY, BUFFER, 8),
        (RKEY, VA - 1, 8),
        (RKEY, last - 7, 8),
        (RKEY, last, 1),
        (RKEY, u64::MAX, 2),
        (RKEY, u64::MAX - 3, 8),
        (RKEY, 0, 8),
    ] {
        let mut f = Fixture::new();
        let verb = Verb::Write {
            virtual_address: address,
            rkey: key,
        };
        let packets = f.requester.message(verb, &bytes(length, 1), false);
        refused(&mut f, packets[0].clone(), NAK_ACCESS);
    }
    // Another PD.
    let mut f = Fixture::new();
    f.golden.qp_mut(RC).unwrap().attributes.pd = 8;
    let packets = f.write(0, &[1]);
    refused(&mut f, packets[0].clone(), NAK_ACCESS);
    // The very ends are inside.
    let mut f = Fixture::new();
    for at in [0, LENGTH - 8] {
        let packets = f.write(at, &bytes(8, 2));
        assert_eq!(f.deliver(&packets).responder, Some(c::ACCEPTED));
        assert_eq!(f.read(RKEY, VA + at, 8), bytes(8, 2));
    }
}

#[test]
fn r52_a_long_write_is_refused_at_its_first_packet() {
    let mut f = Fixture::new();
    let packets = f.write(LENGTH - 2 * PMTU as u64, &bytes(2 * PMTU + 1, 1));
    refused(&mut f, packets[0].clone(), NAK_ACCESS);
    assert_eq!(f.memory.touched().count(), 0, "nothing of it is written");
}

#[test]
fn r53_writes_switched_off() {
    let mut f = Fixture::new();
    f.golden.create_qp(Attributes {
        remote_write: false,
        ..attributes(RC, 0)
    });
    for state in [State::Init, State::Rtr, State::Rts] {
        f.golden.modify(RC, state, &mut Outcome::default());
    }
    let packets = f.write(0, &[1]);
    refused(&mut f, packets[0].clone(), NAK_INVALID);
}

#[test]
fn r56_a_send_longer_than_its_receive() {
    for (buffer, length, bad) in [
        (9, 10, 0),
        (0, 1, 0),
        (PMTU as u32, PMTU + 1, 1),
        (2 * PMTU as u32 - 1, 2 * PMTU, 1),
    ] {
        let mut f = Fixture::new();
        f.post(0, buffer);
        f.post(8192, 1000);
        let packets = f.send(&bytes(length, 1));
        f.deliver(&packets[..bad]);
        let outcome = refused(&mut f, packets[bad].clone(), NAK_INVALID);
        let completions: Vec<_> = outcome.completions.iter().map(|c| (c.wqe_index, c.status)).collect();
        assert_eq!(completions, [(0, status::LOCAL_LENGTH_ERROR), (1, status::WR_FLUSH_ERROR)]);
    }
}

#[test]
fn r56_exactly_fitting() {
    for length in [0, 1, PMTU, PMTU + 1, 3 * PMTU] {
        let mut f = Fixture::new();
        f.post(5, length as u32);
        let packets = f.send(&bytes(length, 2));
        let outcome = f.deliver(&packets);
        assert_eq!(
            outcome.completions.iter().map(|c| (c.status, c.byte_length)).collect::<Vec<_>>(),
            [(0, length as u32)]
        );
        assert_eq!(f.read(LKEY, BUFFER + 5, length), bytes(length, 2));
    }
}

#[test]
fn bad_receive_key_is_a_protection_error() {
    for (address, lkey) in [
        (BUFFER, LKEY ^ 1),
        (BUFFER - 1, LKEY),
        (BUFFER + LENGTH - 9, LKEY),
        (u64::MAX - 4, LKEY),
    ] {
        let mut f = Fixture::new();
        f.golden.post_receive(RC, address, 10, lkey, &mut Outcome::default());
        let packets = f.send(&bytes(10, 1));
        let outcome = refused(&mut f, packets[0].clone(), NAK_OPERATION);
        assert_eq!(outcome.completions[0].status, status::LOCAL_PROTECTION_ERROR);
    }
}

#[test]
fn r59_reads_and_atomics_are_refused_by_name() {
    for opcode in [0x0c, 0x13, 0x14] {
        let mut f = Fixture::new();
        let packet = Packet {
            payload: vec![],
            ..request(&f, opcode, 0, 8)
        };
        refused(&mut f, packet, NAK_INVALID);
    }
}

#[test]
fn r62_the_key_ends_after_the_data() {
    let mut f = Fixture::new();
    f.post(0, 1000);
    let packets = f
        .requester
        .message(Verb::SendInvalidate(INVALIDATE), &bytes(2 * PMTU + 3, 3), false);
    let outcome = f.deliver(&packets);
    let done = outcome.completions[0];
    assert_eq!(
        (done.with_invalidate, done.with_imm, done.immediate, done.byte_length),
        (true, false, INVALIDATE, 2 * PMTU as u32 + 3)
    );
    assert_eq!(f.read(LKEY, BUFFER, 2 * PMTU + 3), bytes(2 * PMTU + 3, 3));
    assert!(f.golden.regions.check(INVALIDATE, 7, Access::default(), VA, 1).is_none());
    let verb = Verb::Write {
        virtual_address: VA,
        rkey: INVALIDATE,
    };
    let packets = f.requester.message(verb, &[1], false);
    refused(&mut f, packets[0].clone(), NAK_ACCESS);
}

/// The syndrome is `~`: IBTA's remote access error, from memory.
#[test]
fn r62_a_key_that_cannot_end() {
    for key in [RKEY, INVALIDATE ^ 1, 0xffff_ff00] {
        let mut f = Fixture::new();
        f.post(0, 1000);
        let packets = f.requester.message(Verb::SendInvalidate(key), &bytes(10, 3), false);
        let outcome = refused(&mut f, packets[0].clone(), NAK_ACCESS);
        assert_eq!(outcome.completions.len(), 1);
        assert_ne!(outcome.completions[0].status, status::SUCCESS);
        assert!(f.golden.regions.check(RKEY, 7, Access::default(), VA, 1).is_some());
    }
}

#[test]
fn r67_sums_do_not_wrap() {
    let mut f = Fixture::new();
    f.golden.post_receive(RC, u64::MAX - 1, u32::MAX, LKEY, &mut Outcome::default());
    let packets = f.send(&bytes(PMTU, 1));
    refused(&mut f, packets[0].clone(), NAK_OPERATION);
}
