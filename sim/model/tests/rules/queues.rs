// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which QP, and its receives and completions: R54, R55, R60, R61, R63, R65, R66, R68, R71, R72.

use super::fixture::*;
use verbena_model::golden::qp::State;
use verbena_model::golden::{Completion, Outcome};
use verbena_model::packet::Packet;
use verbena_model::requester::Verb;
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;
use verbena_spec::layout::{completion_opcode, status};

#[test]
fn r54_write_with_immediate_takes_a_receive_at_its_end() {
    let mut f = Fixture::new();
    let data = bytes(2 * PMTU + 5, 1);
    let packets = f.write_imm(100, &data);
    f.deliver(&packets[..2]);
    let outcome = f.deliver(&packets[2..]);
    assert_eq!(answers(&outcome), [(RNR | 14, psn(2), 0)]);
    assert_eq!(
        f.read(RKEY, VA + 100 + 2 * PMTU as u64, 5),
        [0; 5],
        "a refused packet places nothing"
    );
    f.post(0, 0);
    let outcome = f.deliver(&packets[2..]);
    assert_eq!(answers(&outcome), [(ACK, psn(2), 1)]);
    let want = Completion {
        cq: 3,
        qpn: RC,
        opcode: completion_opcode::RECV_RDMA_WITH_IMM,
        with_imm: true,
        solicited: true,
        byte_length: data.len() as u32,
        immediate: 0xabc0_0001,
        ..Completion::default()
    };
    assert_eq!(outcome.completions, [want]);
    assert_eq!(f.read(RKEY, VA + 100, data.len()), data);
}

#[test]
fn r55_a_completion_counts_the_whole_message() {
    let mut f = Fixture::new();
    for (number, length) in [0, 1, PMTU - 1, PMTU, PMTU + 1, 5 * PMTU + 3].into_iter().enumerate() {
        f.post(0, 2000);
        let packets = f.send(&bytes(length, 1));
        let done = f.deliver(&packets).completions;
        assert_eq!(
            done.iter().map(|c| (c.byte_length, c.wqe_index, c.opcode)).collect::<Vec<_>>(),
            [(length as u32, number as u16, completion_opcode::RECV)]
        );
    }
}

#[test]
fn r60_pkey() {
    for (theirs, ours, good) in [
        (0xffff, 0xffff, true),
        (0x7fff, 0xffff, true),
        (0xffff, 0x7fff, true),
        (0x7fff, 0x7fff, false),
        (0xfffe, 0xffff, false),
        (0x8001, 0x0001, true),
    ] {
        let mut f = Fixture::new();
        f.golden.qp_mut(RC).unwrap().attributes.pkey = ours;
        f.requester.template.pkey = theirs;
        let packets = f.write(0, &[1]);
        let outcome = f.deliver(&packets);
        assert_eq!(
            outcome.responder,
            Some(if good { c::ACCEPTED } else { c::BAD_PKEY }),
            "{theirs:#x} {ours:#x}"
        );
        assert_eq!(outcome.answers.len(), usize::from(good));
    }
}

#[test]
fn r61_no_qp_is_silence() {
    let mut f = Fixture::new();
    for qpn in [0, 1, 0x10, RC ^ 0x1000, RC + 0x3000, 0xff_ffff, 0x5000] {
        let packet = Packet {
            qpn,
            ..f.write(0, &[1])[0].clone()
        };
        let outcome = f.receive(&packet);
        assert_eq!((outcome.responder, outcome.answers.len()), (Some(c::UNKNOWN_QP), 0), "{qpn:#x}");
    }
}

#[test]
fn r61_states() {
    for (path, good) in [
        (&[State::Init][..], false),
        (&[State::Init, State::Rtr], true),
        (&[State::Init, State::Rtr, State::Rts], true),
        (&[State::Init, State::Rtr, State::Rts, State::Sqd], true),
        (&[State::Init, State::Rtr, State::Err], false),
    ] {
        let mut f = Fixture::new();
        f.golden.create_qp(attributes(RC, 0));
        for state in path {
            assert!(f.golden.modify(RC, *state, &mut Outcome::default()));
        }
        let packets = f.write(0, &[1]);
        assert_eq!(
            f.deliver(&packets).responder,
            Some(if good { c::ACCEPTED } else { c::QP_STATE }),
            "{path:?}"
        );
    }
}

#[test]
fn r63_solicited_counts_on_the_last_packet_only() {
    let mut f = Fixture::new();
    f.post(0, 4000);
    f.post(4000, 4000);
    let mut packets = f.send(&bytes(3 * PMTU, 1));
    packets[0].solicited = true;
    packets[1].solicited = true;
    assert!(!f.deliver(&packets).completions[0].solicited);
    let packets = f.requester.message(Verb::Send, &bytes(3 * PMTU, 1), true);
    assert!(f.deliver(&packets).completions[0].solicited);
}

#[test]
fn r65_every_receive_completes() {
    let mut f = Fixture::new();
    for _ in 0..5 {
        f.post(0, 10);
    }
    let mut outcome = Outcome::default();
    f.golden.modify(RC, State::Err, &mut outcome);
    assert_eq!(
        outcome.completions.iter().map(|c| (c.wqe_index, c.status)).collect::<Vec<_>>(),
        (0..5).map(|n| (n, status::WR_FLUSH_ERROR)).collect::<Vec<_>>()
    );
    // One posted later as well.
    let mut outcome = Outcome::default();
    f.golden.post_receive(RC, BUFFER, 10, LKEY, &mut outcome);
    assert_eq!(outcome.completions[0].status, status::WR_FLUSH_ERROR);
}

#[test]
fn r65_a_receive_under_way_completes_once_when_software_ends_the_qp() {
    let mut f = Fixture::new();
    f.post(0, 4000);
    f.post(4000, 10);
    let packets = f.send(&bytes(3 * PMTU, 1));
    f.deliver(&packets[..2]);
    let mut outcome = Outcome::default();
    f.golden.modify(RC, State::Err, &mut outcome);
    assert_eq!(outcome.completions.iter().map(|c| c.wqe_index).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn r68_nonsense_order_of_modify_and_traffic() {
    let mut f = Fixture::new();
    for (from, to, good) in [
        (State::Rts, State::Init, false),
        (State::Rts, State::Rtr, false),
        (State::Rts, State::Sqd, true),
        (State::Sqd, State::Rts, true),
        (State::Rts, State::Err, true),
        (State::Err, State::Rts, false),
        (State::Err, State::Reset, true),
        (State::Reset, State::Rtr, false),
        (State::Reset, State::Init, true),
    ] {
        assert_eq!(f.state(), from);
        assert_eq!(f.golden.modify(RC, to, &mut Outcome::default()), good, "{from:?} to {to:?}");
        let packets = f.write(0, &[1]);
        f.deliver(&packets);
    }
    f.golden.destroy_qp(RC);
    f.golden.destroy_qp(RC);
    assert!(!f.golden.modify(RC, State::Err, &mut Outcome::default()));
    let packets = f.write(0, &[1]);
    assert_eq!(f.deliver(&packets).responder, Some(c::UNKNOWN_QP));
}

#[test]
fn r71_addresses_are_the_qps() {
    let mut f = Fixture::new();
    let good = f.write(0, &[1])[0].clone();
    let stranger = Packet {
        source: "10.0.0.3".parse().unwrap(),
        ..good.clone()
    };
    assert_eq!(f.receive(&stranger).responder, Some(c::BAD_ADDRESS));
    f.golden.local.gids[1] = Some("10.0.0.9".parse().unwrap());
    let other_gid = Packet {
        destination: "10.0.0.9".parse().unwrap(),
        ..good.clone()
    };
    assert_eq!(f.receive(&other_gid).responder, Some(c::BAD_ADDRESS));
    assert_eq!(f.receive(&good).responder, Some(c::ACCEPTED));
}

#[test]
fn r72_foreign_transports_are_silent() {
    for (qpn, opcode) in [
        (RC, 0x24),
        (RC, 0x2a),
        (RC, 0x64),
        (UC, 0x04),
        (UC, 0x0a),
        (UC, 0x0c),
        (UC, 0x64),
        (UD, 0x04),
        (UD, 0x24),
    ] {
        let mut f = Fixture::new();
        let packet = Packet {
            qpn,
            opcode,
            psn: PSN,
            ..f.requester.template.clone()
        };
        let outcome = f.receive(&packet);
        assert_eq!(
            (outcome.responder, outcome.answers.len()),
            (Some(c::WRONG_TRANSPORT), 0),
            "{qpn:#x} {opcode:#x}"
        );
    }
}
