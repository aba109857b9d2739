// SPDX-License-Identifier: MIT OR Apache-2.0
//! UD: R61, R70.

use super::fixture::*;
use verbena_model::golden::Completion;
use verbena_model::packet::Packet;
use verbena_model::requester::Verb;
use verbena_spec::counters as c;
use verbena_spec::layout::completion_opcode;

#[test]
fn r70_the_grh_precedes_the_payload() {
    let mut f = Fixture::speaking(3);
    for length in [0usize, 1, 3, 100, PMTU] {
        let index = f.post(13, (length + 40) as u32);
        let packet = f.requester.message(Verb::SendImm(77), &bytes(length, 1), true)[0].clone();
        let frame = packet.to_frame();
        let outcome = f.receive(&packet);
        let want = Completion {
            cq: 3,
            qpn: UD,
            opcode: completion_opcode::RECV,
            with_imm: true,
            grh: true,
            solicited: true,
            wqe_index: index,
            byte_length: length as u32 + 40,
            immediate: 77,
            source_qpn: PEER_QPN,
            ..Completion::default()
        };
        assert_eq!(outcome.completions, [want]);
        assert!(outcome.answers.is_empty());
        let placed = f.read(LKEY, BUFFER + 13, length + 40);
        assert_eq!(placed[..20], [0; 20]);
        assert_eq!(placed[20..40], frame[14..34], "the IPv4 header in the last 20 bytes");
        assert_eq!(placed[40..], bytes(length, 1));
    }
}

#[test]
fn r70_an_ipv6_header_is_the_grh() {
    let mut f = Fixture::speaking(3);
    f.requester.template.source = "fe80::2".parse().unwrap();
    f.requester.template.destination = "fe80::1".parse().unwrap();
    f.post(0, 1000);
    let packet = f.send(&bytes(9, 2))[0].clone();
    assert_eq!(f.receive(&packet).responder, Some(c::ACCEPTED));
    assert_eq!(f.read(LKEY, BUFFER, 40), packet.to_frame()[14..54]);
    assert_eq!(f.read(LKEY, BUFFER + 40, 9), bytes(9, 2));
}

#[test]
fn r61_qkey() {
    let mut f = Fixture::speaking(3);
    f.post(0, 1000);
    f.requester.deth.qkey ^= 1;
    let packets = f.send(&[1]);
    assert_eq!(f.deliver(&packets).responder, Some(c::BAD_QKEY));
    f.requester.deth.qkey ^= 1;
    let packets = f.send(&[1]);
    assert_eq!(f.deliver(&packets).responder, Some(c::ACCEPTED));
}

#[test]
fn ud_needs_no_psn_order_and_no_peer_address() {
    let mut f = Fixture::speaking(3);
    for number in [5u32, 1, 0xff_ffff, 1] {
        f.post(0, 1000);
        f.requester.psn = number;
        f.requester.template.source = "10.9.9.9".parse().unwrap();
        let packets = f.send(&[number as u8]);
        assert_eq!(f.deliver(&packets).completions.len(), 1);
    }
}

#[test]
fn ud_without_room_drops_and_keeps_the_receive() {
    let mut f = Fixture::speaking(3);
    let packets = f.send(&bytes(10, 1));
    assert_eq!(f.deliver(&packets).responder, Some(c::NO_RECEIVE));
    f.post(0, 49);
    let outcome = f.deliver(&packets);
    assert_eq!((outcome.responder, outcome.completions.len()), (Some(c::NO_RECEIVE), 0));
    let packets = f.send(&bytes(9, 1));
    assert_eq!(f.deliver(&packets).completions[0].wqe_index, 0);
    // More than a path MTU.
    f.post(0, 1000);
    let long = Packet {
        payload: bytes(PMTU + 4, 1),
        ..packets[0].clone()
    };
    assert_eq!(f.receive(&long).responder, Some(c::NO_RECEIVE));
}
