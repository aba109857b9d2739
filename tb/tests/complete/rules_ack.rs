// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acknowledgements, NAKs, errors, states.

use super::golden::{add, Out, Setup};
use super::harness::{acknowledge, data, Rig, BRISK, LAZY, SETUP};
use verbena_spec::{counters, layout::send_opcode::*, layout::state, layout::status};

fn rig() -> Rig<64> {
    let mut rig = Rig::new(1, BRISK);
    rig.connect(1, SETUP, 100);
    rig
}

/// The completions in it: (WQE, status).
fn completions(out: &[Out]) -> Vec<(u16, u32)> {
    out.iter()
        .filter_map(|o| match o {
            Out::Entry {
                complete: true,
                wqe,
                status,
                ..
            } => Some((*wqe, *status)),
            _ => None,
        })
        .collect()
}

fn rewinds(out: &[Out]) -> Vec<(u32, u16, u32, bool)> {
    out.iter()
        .filter_map(|o| match o {
            Out::Rewind {
                psn,
                wqe,
                offset,
                hold,
                alone: false,
            } => Some((*psn, *wqe, *offset, *hold)),
            _ => None,
        })
        .collect()
}

#[test]
fn an_ack_completes_what_lies_before_it() {
    let mut rig = rig();
    for length in [0, 1, 256, 257, 700] {
        rig.send(1, SEND, length);
    }
    // PSNs: 100, 101, 102, 103-104, 105-107.
    assert_eq!(completions(&rig.ack(1, 100).0), [(0, 0)]);
    assert_eq!(completions(&rig.ack(1, 103).0), [(1, 0), (2, 0)]);
    assert_eq!(completions(&rig.ack(1, 106).0), [(3, 0)]);
    assert_eq!(completions(&rig.ack(1, 107).0), [(4, 0)]);
}

#[test]
fn budget_ack_of_one_message() {
    let mut rig = rig();
    for _ in 0..4 {
        rig.send(1, WRITE, 64);
    }
    for psn in 100..104 {
        let (_, cycles) = rig.ack(1, psn);
        println!("an ACK that completes one message: {cycles} cycles");
        assert!(cycles <= 30);
    }
}

#[test]
fn r21_psns_wrap() {
    let mut rig = Rig::<64>::new(2, BRISK);
    rig.connect(1, SETUP, 0xff_fffe);
    rig.send(1, SEND, 256 * 5);
    rig.send(1, WRITE, 20);
    rig.ack(1, 0xff_ffff);
    rig.respond(1, acknowledge(0xff_fffd, 0x1f));
    assert_eq!(completions(&rig.ack(1, 1).0), []);
    assert_eq!(completions(&rig.ack(1, 3).0), [(0, 0), (1, 0)]);
}

#[test]
fn r25_a_nak_acknowledges_what_is_before_it() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 256 * 4);
    let (out, _) = rig.respond(1, acknowledge(103, 0x60));
    assert_eq!(completions(&out), [(0, 0)]);
    assert_eq!(rewinds(&out), [(103, 1, 512, false)]);
    assert_eq!(completions(&rig.ack(1, 104).0), [(1, 0)]);
}

#[test]
fn r26_an_ack_of_a_duplicate_is_nothing_new() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    rig.ack(1, 100);
    assert_eq!(rig.ack(1, 100).0, [Out::Done(counters::GHOST_ACK, false)]);
    assert_eq!(completions(&rig.ack(1, 101).0), [(1, 0)]);
}

#[test]
fn r32_a_rewind_names_the_packet_and_its_byte() {
    for pmtu in [256, 512, 1024, 2048, 4096] {
        let mut rig = Rig::<64>::new(3, BRISK);
        rig.connect(1, Setup { pmtu, ..SETUP }, 50);
        rig.send(1, WRITE, pmtu * 9 + 1);
        let (out, _) = rig.respond(1, acknowledge(57, 0x60));
        assert_eq!(rewinds(&out), [(57, 0, 7 * pmtu, false)]);
        assert_eq!(completions(&rig.ack(1, 58).0), []);
        assert_eq!(completions(&rig.ack(1, 59).0), [(0, 0)]);
    }
}

#[test]
fn r34_an_ack_does_not_complete_a_read() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, READ, 600);
    rig.send(1, SEND, 10);
    let (out, _) = rig.ack(1, 104);
    assert_eq!(completions(&out), [(0, 0)]);
    assert_eq!(rewinds(&out), [(101, 1, 0, false)]);
    assert!(out.contains(&Out::Count(counters::IMPLIED_NAK)));
    // Once until there is progress.
    assert_eq!(rewinds(&rig.ack(1, 104).0), []);
    rig.respond(1, data(0x0d, 101, 256));
    assert_eq!(rewinds(&rig.ack(1, 104).0), [(102, 1, 256, false)]);
    rig.respond(1, data(0x0d, 102, 256));
    assert_eq!(completions(&rig.respond(1, data(0x0f, 103, 88)).0), [(1, 0)]);
    assert_eq!(completions(&rig.ack(1, 104).0), [(2, 0)]);
}

#[test]
fn r36_an_ack_after_the_last_response() {
    let mut rig = rig();
    rig.send(1, READ, 256);
    rig.send(1, WRITE, 10);
    rig.respond(1, data(0x10, 100, 256));
    assert_eq!(completions(&rig.ack(1, 101).0), [(1, 0)]);
}

#[test]
fn r39_ghosts_are_dropped_and_counted() {
    let mut rig = rig();
    let ghost = [Out::Done(counters::GHOST_ACK, false)];
    assert_eq!(rig.ack(1, 100).0, ghost);
    rig.send(1, SEND, 600);
    for psn in [99, 103, 104, 100 + 0x7f_ffff, 100 + 0x80_0000] {
        for syndrome in [0x1f, 0x20, 0x60, 0x61, 0x7f] {
            assert_eq!(rig.respond(1, acknowledge(psn, syndrome)).0, ghost);
        }
        assert_eq!(rig.respond(1, data(0x0d, psn, 256)).0, ghost);
        assert_eq!(rig.respond(1, data(0x12, psn, 0)).0, ghost);
    }
    assert_eq!(completions(&rig.ack(1, 102).0), [(0, 0)]);
    // A QP that never was in RTS has nothing outstanding.
    rig.change(2, state::INIT);
    assert_eq!(rig.ack(2, 0).0, ghost);
}

#[test]
fn r64_each_nak_has_its_status() {
    for (syndrome, want) in [
        (0x61, status::REMOTE_INVALID_REQUEST_ERROR),
        (0x62, status::REMOTE_ACCESS_ERROR),
        (0x63, status::REMOTE_OPERATION_ERROR),
        (0x64, status::BAD_RESPONSE_ERROR),
        (0x7f, status::BAD_RESPONSE_ERROR),
        (0x40, status::BAD_RESPONSE_ERROR),
    ] {
        let mut rig = rig();
        rig.send(1, SEND, 10);
        rig.send(1, WRITE, 600);
        rig.send(1, SEND, 10);
        let (out, _) = rig.respond(1, acknowledge(103, syndrome));
        assert_eq!(completions(&out), [(0, 0), (1, want)]);
        // Nothing counts any more but its end.
        assert_eq!(rig.ack(1, 104).0, [Out::Done(counters::GHOST_ACK, false)]);
        rig.bury(1);
    }
}

#[test]
fn r65_every_posted_wqe_is_flushed() {
    let mut rig = rig();
    for n in 0..6 {
        rig.post(1, SEND, 10, n % 2 == 0, &[]);
    }
    rig.begin(1, 1);
    rig.begin(1, 1);
    rig.ack(1, 100);
    // compare() inside holds it to WQEs 1 to 5, unsignalled ones too.
    rig.change(1, state::ERR);
    assert_eq!(rig.lives[1].golden.wqe, 6);
    rig.change(1, state::ERR);
    // Posted later.
    rig.post(1, READ, 10, false, &[]);
    rig.change(1, state::ERR);
    assert_eq!(rig.lives[1].golden.wqe, 7);
}

#[test]
fn r65_an_unsignalled_wqe_completes_when_it_fails() {
    let mut rig = rig();
    rig.post(1, SEND, 10, false, &[]);
    rig.begin(1, 1);
    rig.post(1, SEND, 10, false, &[]);
    rig.begin(1, 1);
    assert_eq!(completions(&rig.ack(1, 100).0), []);
    assert_eq!(
        completions(&rig.respond(1, acknowledge(101, 0x62)).0),
        [(1, status::REMOTE_ACCESS_ERROR)]
    );
    rig.bury(1);
}

#[test]
fn r41_a_new_life_takes_its_psn_from_the_row() {
    let mut rig = rig();
    for life in 0..5u32 {
        let psn = (0x123_456 * (life + 1)) & 0xff_ffff;
        rig.connect(1, SETUP, psn);
        rig.rows(1);
        rig.send(1, SEND, 300);
        assert_eq!(completions(&rig.ack(1, add(psn, 1)).0), [(0, 0)]);
        rig.send(1, READ, 300);
        rig.respond(1, data(0x0d, add(psn, 2), 256));
    }
}

#[test]
fn r59_send_fails_a_wqe() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.post(1, READ, 10, false, &[]);
    rig.ack(1, 100);
    rig.fail(1, status::LOCAL_PROTECTION_ERROR);
    // What comes once it has failed is dropped.
    rig.fail(1, status::LOCAL_LENGTH_ERROR);
    rig.bury(1);
}

#[test]
fn unreliable_messages_complete_when_sent() {
    let mut rig = rig();
    rig.post(1, SEND, 600, true, &[]);
    rig.begin(1, 9);
    rig.post(1, WRITE, 10, false, &[]);
    rig.begin(1, 9);
    rig.sent(1, 0);
    rig.sent(1, 0);
    rig.post(1, WRITE, 10, false, &[]);
    rig.begin(1, 9);
    rig.sent(1, status::LOCAL_QP_OPERATION_ERROR);
    rig.bury(1);
}

#[test]
fn a_drained_queue_is_told_once() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    rig.change(1, state::SQD);
    rig.ack(1, 100);
    let (out, _) = rig.ack(1, 101);
    assert!(matches!(out[1], Out::Entry { drained: true, .. }), "{out:?}");
    rig.change(1, state::SQD);
    rig.change(1, state::RTS);
    rig.change(1, state::SQD);
    assert!(rig.lives[1].golden.told);
}

/// Send was resending what the peer has had meanwhile.
#[test]
fn r25_forward_again_where_the_resent_has_arrived() {
    let mut rig = rig();
    rig.send(1, SEND, 256 * 6);
    rig.respond(1, acknowledge(101, 0x60));
    rig.lives[1].sender.next = 102;
    let (out, _) = rig.ack(1, 104);
    assert_eq!(rewinds(&out), [(105, 0, 5 * 256, false)]);
    rig.lives[1].sender.next = 104;
    let (out, _) = rig.ack(1, 105);
    assert_eq!(rewinds(&out), [(106, 1, 0, false)]);
}

#[test]
fn r78_credits_are_ignored() {
    let mut rig = rig();
    for n in 0..32u32 {
        rig.send(1, SEND, 10);
        assert_eq!(completions(&rig.respond(1, acknowledge(100 + n, n as u8)).0), [(n as u16, 0)]);
    }
}

/// The same in the small preset, and with slow neighbours.
#[test]
fn r25_r34_the_small_preset() {
    let mut rig = Rig::<32>::new(4, LAZY);
    let setup = Setup { beat_bytes: 4, ..SETUP };
    rig.connect(3, Setup { pmtu: 512, ..setup }, 7);
    rig.send(3, SEND, 1025);
    rig.send(3, READ, 513);
    rig.respond(3, acknowledge(8, 0x60));
    rig.ack(3, 11);
    rig.respond(3, data(0x0d, 10, 512));
    assert_eq!(completions(&rig.respond(3, data(0x0f, 11, 1)).0), [(1, 0)]);
}
