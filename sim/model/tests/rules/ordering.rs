// SPDX-License-Identifier: MIT OR Apache-2.0
//! PSN, duplicates, gaps, MSN, opcode sequence: R21, R23, R24, R26, R37-R39, R41, R46, R57, R73, R74.

use super::fixture::*;
use verbena_model::golden::qp::State;
use verbena_model::golden::Outcome;
use verbena_model::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;

#[test]
fn r21_psn_wraps_in_a_message() {
    let mut f = Fixture::new();
    let data = bytes(5 * PMTU, 1);
    let packets = f.write(0, &data);
    assert_eq!(packets[2].psn, 0);
    assert_eq!(answers(&f.deliver(&packets)), [(ACK, psn(4), 1)]);
    assert_eq!(f.read(RKEY, VA, data.len()), data);
}

#[test]
fn r21_half_the_space_is_before_and_half_after() {
    for (ahead, code) in [
        (1, c::OUT_OF_SEQUENCE),
        (0x7f_ffff, c::OUT_OF_SEQUENCE),
        (0x80_0000, c::DUPLICATE),
        (0xff_ffff, c::DUPLICATE),
    ] {
        let mut f = Fixture::new();
        f.requester.psn = psn(ahead);
        let packets = f.write(0, &[1]);
        assert_eq!(f.deliver(&packets).responder, Some(code), "{ahead:#x} ahead");
        assert_eq!(f.read(RKEY, VA, 1), [0]);
    }
}

#[test]
fn r23_r24_one_nak_a_gap_with_the_expected_psn() {
    let mut f = Fixture::new();
    let packets = f.write(0, &bytes(6 * PMTU, 2));
    assert!(answers(&f.deliver(&packets[..1])).is_empty());
    let outcome = f.deliver(&packets[2..3]);
    assert_eq!(answers(&outcome), [(NAK_SEQUENCE, psn(1), 0)]);
    assert_eq!(outcome.responder, Some(c::OUT_OF_SEQUENCE));
    let outcome = f.deliver(&packets[3..]);
    assert!(outcome.answers.is_empty(), "silence until ePSN arrives");
    assert_eq!(outcome.responder, Some(c::OUT_OF_SEQUENCE_SILENT));
    // The gap closes; a new one is NAKed anew.
    assert!(f.deliver(&packets[1..2]).answers.is_empty());
    assert_eq!(answers(&f.deliver(&packets[4..5])), [(NAK_SEQUENCE, psn(2), 0)]);
    assert_eq!(answers(&f.deliver(&packets[2..])), [(ACK, psn(5), 1)]);
    assert_eq!(f.read(RKEY, VA, 6 * PMTU), bytes(6 * PMTU, 2));
}

#[test]
fn r23_a_duplicate_does_not_end_the_silence() {
    let mut f = Fixture::new();
    let packets = f.write(0, &bytes(4 * PMTU, 3));
    f.deliver(&packets[..1]);
    assert_eq!(f.deliver(&packets[2..3]).answers.len(), 1);
    assert_eq!(answers(&f.deliver(&packets[..1])), [(ACK, psn(0), 0)]);
    assert!(f.deliver(&packets[3..]).answers.is_empty());
}

#[test]
fn r26_duplicate_write_is_reacked() {
    let mut f = Fixture::new();
    let first = f.write(0, &bytes(2 * PMTU, 4));
    let second = f.write(0, &bytes(3 * PMTU, 5));
    f.deliver(&first);
    f.deliver(&second);
    // Each packet again, AckReq or not, is answered with the newest PSN and MSN, and changes nothing.
    let outcome = f.deliver(&first);
    assert_eq!(answers(&outcome), [(ACK, psn(4), 2), (ACK, psn(4), 2)]);
    assert_eq!(outcome.responder, Some(c::DUPLICATE));
    assert_eq!(f.read(RKEY, VA, 3 * PMTU), bytes(3 * PMTU, 5));
    let third = f.write(0, &[9]);
    assert_eq!(answers(&f.deliver(&third)), [(ACK, psn(5), 3)]);
}

#[test]
fn r26_duplicate_send_takes_no_receive() {
    let mut f = Fixture::new();
    f.post(0, 100);
    f.post(100, 100);
    let packets = f.send(&bytes(50, 6));
    assert_eq!(f.deliver(&packets).completions.len(), 1);
    let outcome = f.deliver(&packets);
    assert!(outcome.completions.is_empty());
    assert_eq!(answers(&outcome), [(ACK, psn(0), 1)]);
}

#[test]
fn r26_a_duplicate_in_the_middle_of_a_message_leaves_it_alone() {
    let mut f = Fixture::new();
    let data = bytes(4 * PMTU, 7);
    let packets = f.write(0, &data);
    f.deliver(&packets[..3]);
    assert_eq!(answers(&f.deliver(&packets[..2])), [(ACK, psn(2), 0), (ACK, psn(2), 0)]);
    assert_eq!(answers(&f.deliver(&packets[3..])), [(ACK, psn(3), 1)]);
    assert_eq!(f.read(RKEY, VA, data.len()), data);
}

#[test]
fn r37_msn_counts_messages() {
    let mut f = Fixture::new();
    for message in 1..=5 {
        let packets = f.write(0, &bytes(3 * PMTU, 8));
        assert_eq!(answers(&f.deliver(&packets)), [(ACK, psn(3 * message - 1), message)]);
    }
}

#[test]
fn r38_credits_are_31() {
    let mut f = Fixture::new();
    let packets = f.write(0, &[1]);
    assert_eq!(f.deliver(&packets).answers[0].aeth.syndrome & 31, 31);
}

#[test]
fn r39_ghosts_are_counted_and_nothing_else() {
    let mut f = Fixture::new();
    for opcode in [0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12] {
        let packet = Packet {
            opcode,
            psn: PSN,
            ..f.requester.template.clone()
        };
        let outcome = f.receive(&packet);
        assert_eq!(outcome.responder, Some(c::GHOST_ACK), "{opcode:#x}");
        assert!(outcome.answers.is_empty() && outcome.events.is_empty());
    }
    let packets = f.write(0, &[1]);
    assert_eq!(answers(&f.deliver(&packets)), [(ACK, psn(0), 1)]);
}

#[test]
fn r41_a_hundred_lives_take_their_psns_from_the_modify() {
    let mut f = Fixture::new();
    for life in 0..100u32 {
        f.golden.destroy_qp(RC);
        let first = life.wrapping_mul(0x31_4159) & 0xff_ffff;
        f.golden.create_qp(verbena_model::golden::qp::Attributes {
            rq_psn: first,
            ..attributes(RC, 0)
        });
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(f.golden.modify(RC, state, &mut Outcome::default()));
        }
        f.requester.psn = first;
        let packets = f.write(0, &[life as u8]);
        assert_eq!(answers(&f.deliver(&packets)), [(ACK, first, 1)], "life {life}");
    }
}

#[test]
fn r46_rnr_then_silence_then_the_retry() {
    let mut f = Fixture::new();
    let first = f.send(&bytes(3 * PMTU, 9));
    let second = f.send(&bytes(10, 10));
    let outcome = f.deliver(&first[..1]);
    assert_eq!(answers(&outcome), [(RNR | 14, psn(0), 0)]);
    assert_eq!(outcome.responder, Some(c::RNR));
    assert!(f.deliver(&first[1..]).answers.is_empty());
    assert!(f.deliver(&second).answers.is_empty());
    // Still none: the retry is refused anew.
    assert_eq!(answers(&f.deliver(&first)), [(RNR | 14, psn(0), 0)]);
    f.post(0, 4 * PMTU as u32);
    assert_eq!(answers(&f.deliver(&first)), [(ACK, psn(2), 1)]);
    assert_eq!(answers(&f.deliver(&second)), [(RNR | 14, psn(3), 1)]);
}

#[test]
fn r57_sequences_that_are_no_message_are_refused() {
    // (opcodes, where the refusal falls)
    let cases: &[(&[u8], usize)] = &[
        (&[0x01], 0),
        (&[0x02], 0),
        (&[0x07], 0),
        (&[0x08], 0),
        (&[0x06, 0x06], 1),
        (&[0x06, 0x0a], 1),
        (&[0x06, 0x04], 1),
        (&[0x06, 0x01], 1),
        (&[0x06, 0x07, 0x02], 2),
        (&[0x00, 0x07], 1),
        (&[0x00, 0x08], 1),
        (&[0x00, 0x04], 1),
        (&[0x00, 0x01, 0x00], 2),
    ];
    for (opcodes, bad) in cases {
        let mut f = Fixture::new();
        f.post(0, 8 * PMTU as u32);
        for (number, &opcode) in opcodes.iter().enumerate() {
            let mut packet = Packet {
                opcode,
                psn: psn(number as u32),
                payload: bytes(PMTU, 1),
                ..f.requester.template.clone()
            };
            packet.reth = verbena_model::packet::Reth {
                virtual_address: VA,
                rkey: RKEY,
                length: 8 * PMTU as u32,
            };
            let outcome = f.receive(&packet);
            if number == *bad {
                assert_eq!(answers(&outcome), [(NAK_INVALID, psn(number as u32), 0)], "{opcodes:x?}");
                assert_eq!(outcome.responder, Some(c::NAKED));
                assert_eq!(f.state(), State::Err);
                // The posted receive is flushed once (R65), whether its message had begun or not.
                assert_eq!(outcome.completions.len(), 1, "{opcodes:x?}");
            } else {
                assert_eq!(outcome.responder, Some(c::ACCEPTED), "{opcodes:x?} packet {number}");
            }
        }
    }
}

#[test]
fn r57_r73_uc_resumes_at_the_next_message() {
    let mut f = Fixture::speaking(1);
    f.post(0, 4 * PMTU as u32);
    f.post(4096, 4 * PMTU as u32);
    let broken = f.send(&bytes(4 * PMTU, 11));
    let whole = f.send(&bytes(3 * PMTU, 12));
    f.deliver(&broken[..1]);
    let outcome = f.deliver(&broken[2..]);
    assert!(outcome.completions.is_empty() && outcome.answers.is_empty());
    assert_eq!(outcome.responder, Some(c::UC_DROPPED));
    let outcome = f.deliver(&whole);
    // The receive that the broken message had begun with serves.
    assert_eq!(
        outcome.completions.iter().map(|c| (c.wqe_index, c.byte_length)).collect::<Vec<_>>(),
        [(0, 3 * PMTU as u32)]
    );
    assert_eq!(f.read(LKEY, BUFFER, 3 * PMTU), bytes(3 * PMTU, 12));
    assert_eq!(f.state(), State::Rts);
}

#[test]
fn r73_uc_begins_anywhere() {
    let mut f = Fixture::speaking(1);
    for lost in [0u32, 1, 1000, 0x80_0000] {
        f.requester.psn = f.requester.psn.wrapping_add(lost) & 0xff_ffff;
        let packets = f.write(0, &bytes(2 * PMTU, lost as u8));
        let outcome = f.deliver(&packets);
        assert_eq!(outcome.responder, Some(c::ACCEPTED));
        assert!(outcome.answers.is_empty());
        assert_eq!(f.read(RKEY, VA, 2 * PMTU), bytes(2 * PMTU, lost as u8));
    }
}

#[test]
fn r74_every_ack_request_is_answered() {
    let mut f = Fixture::new();
    let mut packets = f.write(0, &bytes(4 * PMTU, 13));
    for packet in &mut packets {
        packet.ack_request = true;
    }
    assert_eq!(
        answers(&f.deliver(&packets)),
        [(ACK, psn(0), 0), (ACK, psn(1), 0), (ACK, psn(2), 0), (ACK, psn(3), 1)]
    );
    // And nothing else is.
    let mut packets = f.write(0, &bytes(10, 13));
    packets[0].ack_request = false;
    assert!(f.deliver(&packets).answers.is_empty());
}
