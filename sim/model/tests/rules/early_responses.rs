// SPDX-License-Identifier: MIT OR Apache-2.0
//! Early READ and ATOMIC responses at the requester, and ACKs and NAKs that wait for them: R34, R42. The flow wraps.

use super::client::*;
use super::orders::orders;
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::reorder::Reorder;
use verbena_model::golden::Outcome;
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;
use verbena_spec::layout::status;

fn client(change: impl Fn(&mut Attributes)) -> Client {
    let mut a = attributes();
    change(&mut a);
    let mut client = Client::with(a);
    client.golden.reorder = Reorder::TENGIG;
    client
}

fn opcode(number: u32, packets: u32) -> u8 {
    match (number == 0, number + 1 == packets) {
        (true, true) => 0x10,
        (true, false) => 0x0d,
        (false, false) => 0x0e,
        (false, true) => 0x0f,
    }
}

/// Response `number` of a READ of `packets` whole packets that begins at PSN `first` ahead.
fn respond(client: &mut Client, first: u32, number: u32, packets: u32) -> u8 {
    let payload = Client::source(number as usize * PMTU, PMTU);
    client.data(opcode(number, packets), at(first + number), &payload)
}

#[test]
fn r42_every_order_of_a_reads_responses_and_what_is_around_it() {
    // PSN 0 WRITE, 1 to 4 READ, 5 ATOMIC, 6 WRITE. Answers: 1, 2, 3, 4, 5, and the ACK of 6.
    for distance in [0, 5] {
        for order in orders(6) {
            let mut client = client(|a| (a.nak_distance, a.selective_repeat) = (distance, true));
            client.post(write(0, 10));
            client.post(read(100, 4 * PMTU));
            client.post(fetch_add(50));
            client.post(write(0, 10));
            assert_eq!(client.sent().len(), 4);
            for number in order.iter().map(|n| *n as u32) {
                match number {
                    4 => {
                        let atomic = verbena_model::packet::Packet {
                            opcode: 0x12,
                            psn: at(5),
                            atomic_original: 0x0102_0304_0506_0708,
                            ..Default::default()
                        };
                        client.answer(atomic);
                    }
                    5 => {
                        client.ack(at(6));
                    }
                    _ => {
                        respond(&mut client, 1, number, 4);
                    }
                }
            }
            let what = format!("distance {distance}, {order:?}");
            let done: Vec<_> = (0..4).map(|n| (n, status::SUCCESS)).collect();
            assert_eq!(client.done(), done, "{what}");
            assert_eq!(client.sink(100, 4 * PMTU), Client::source(0, 4 * PMTU), "{what}");
            assert_eq!(client.sink(50, 8), 0x0102_0304_0506_0708u64.to_le_bytes(), "{what}");
            assert_eq!((client.golden.held(), client.state()), (0, State::Rts), "{what}");
            let asked = client.count(c::IMPLIED_NAK);
            assert!(
                if distance == 5 {
                    asked == 0
                } else {
                    (asked == 0) == order.is_sorted()
                },
                "{what}: {asked}"
            );
        }
    }
}

#[test]
fn r34_nak_distance_says_which_response_makes_one_missing() {
    for distance in 0..64u8 {
        let mut client = client(|a| a.nak_distance = distance);
        client.post(read(0, 64 * PMTU));
        assert_eq!(client.sent_psns(), [at(0)]);
        for number in 1..64 {
            let lost = number == u32::from(distance) + 1;
            respond(&mut client, 0, number, 64);
            assert_eq!(
                client.sent_psns(),
                if lost { vec![at(0)] } else { vec![] },
                "distance {distance}, response {number}"
            );
        }
    }
}

#[test]
fn r34_nak_delay_makes_an_old_hole_a_missing_response_once() {
    let mut client = client(|a| (a.nak_distance, a.nak_delay) = (63, 15));
    client.post(read(0, 6 * PMTU));
    client.sent();
    client.advance(1_000);
    respond(&mut client, 0, 0, 6);
    client.advance(2_000);
    respond(&mut client, 0, 3, 6);
    assert_eq!(client.golden.next_deadline(), Some(17_000));
    client.advance(16_999);
    assert_eq!(client.sent_psns(), [0; 0]);
    client.advance(17_000);
    // Go back N: what is left of the READ, from the hole on (R31).
    let again = client.sent();
    assert_eq!((again[0].psn, again[0].reth.length as usize), (at(1), 5 * PMTU));
    assert_ne!(client.golden.next_deadline(), Some(17_000), "once");
    for number in [1, 2, 4, 5] {
        respond(&mut client, 0, number, 6);
    }
    assert_eq!(client.done(), [(0, status::SUCCESS)]);
    assert_eq!(client.sink(0, 6 * PMTU), Client::source(0, 6 * PMTU));
}

#[test]
fn r34_an_ack_waits_for_the_responses_before_it() {
    let mut client = client(|a| a.nak_distance = 3);
    client.post(read(0, 2 * PMTU));
    client.post(write(0, 5));
    client.post(write(0, 6));
    client.sent();
    respond(&mut client, 0, 0, 2);
    // 1 is missing.
    client.ack(at(2));
    client.ack(at(3));
    // A copy of an older one takes nothing back.
    client.ack(at(2));
    assert_eq!((client.done(), client.sent_psns()), (vec![], vec![]));
    respond(&mut client, 0, 1, 2);
    assert_eq!(client.done(), [(0, 0), (1, 0), (2, 0)]);
    assert_eq!(client.golden.next_deadline(), None);
}

#[test]
fn r34_a_nak_waits_for_the_responses_before_it() {
    for (code, want) in [
        (NAK_ACCESS, status::REMOTE_ACCESS_ERROR),
        (NAK_INVALID, status::REMOTE_INVALID_REQUEST_ERROR),
        (NAK_OPERATION, status::REMOTE_OPERATION_ERROR),
    ] {
        let mut client = client(|_| ());
        client.post(write(0, 3));
        client.post(read(0, 2 * PMTU));
        client.post(write(0, 5));
        client.sent();
        client.syndrome(code, at(3));
        // The WRITE before the READ is done; the READ is asked for again, in case.
        assert_eq!((client.done(), client.sent_psns()), (vec![(0, 0)], vec![at(1), at(3)]));
        respond(&mut client, 1, 1, 2);
        respond(&mut client, 1, 0, 2);
        assert_eq!(client.done(), [(1, 0), (2, want)], "{code:#x}");
        assert_eq!((client.state(), client.golden.held()), (State::Err, 0));
    }
}

#[test]
fn r34_a_sequence_nak_that_waits_is_forgotten_when_the_queue_goes_back() {
    let mut client = client(|a| a.nak_distance = 8);
    client.post(read(0, 2 * PMTU));
    client.post(write(0, 5));
    client.sent();
    client.syndrome(NAK_SEQUENCE, at(2));
    client.advance(TIMEOUT);
    assert_eq!(client.sent_psns(), [at(0), at(2)]);
    respond(&mut client, 0, 0, 2);
    respond(&mut client, 0, 1, 2);
    assert_eq!(client.sent_psns(), [0; 0], "the WRITE was sent again already");
    assert_eq!(client.done(), [(0, 0)]);
}

#[test]
fn r42_a_sequence_nak_behind_a_read_acts_when_its_turn_comes() {
    for selective in [false, true] {
        let mut client = client(|a| (a.nak_distance, a.selective_repeat) = (8, selective));
        client.post(read(0, 2 * PMTU));
        client.post(write(0, 5));
        client.post(write(0, 6));
        client.sent();
        client.syndrome(NAK_SEQUENCE, at(2));
        respond(&mut client, 0, 1, 2);
        assert_eq!(client.sent_psns(), [0; 0]);
        respond(&mut client, 0, 0, 2);
        assert_eq!(client.sent_psns(), if selective { vec![at(2)] } else { vec![at(2), at(3)] });
    }
}

#[test]
fn r42_early_responses_that_find_no_slot_are_asked_for_again() {
    let mut client = client(|a| (a.selective_repeat, a.nak_distance) = (true, 3));
    client.golden.reorder = Reorder { window: 8, slots: 3 };
    client.post(read(0, 12 * PMTU));
    client.sent();
    // 2 slots for this flow, and a window of 8.
    let codes: Vec<_> = (1..12).map(|n| respond(&mut client, 0, n, 12)).collect();
    let full = [c::REORDER_FULL; 5];
    assert_eq!(codes[..2], [c::REORDER_HELD; 2]);
    assert_eq!(codes[2..7], full);
    assert_eq!(codes[7..], [c::RESPONSE; 4]);
    assert_eq!(respond(&mut client, 0, 2, 12), c::REORDER_DUPLICATE);
    let hole = client.sent();
    assert_eq!((hole[0].psn, hole[0].reth.length as usize), (at(0), PMTU));
    client.data(0x10, at(0), &Client::source(0, PMTU));
    // 0, 1, 2 are there; nothing shows what else is missing but the timer.
    client.advance(TIMEOUT);
    let rest = client.sent();
    assert_eq!((rest[0].psn, rest[0].reth.length as usize), (at(3), 9 * PMTU));
    for number in 3..12 {
        respond(&mut client, 0, number, 12);
    }
    assert_eq!(client.done(), [(0, status::SUCCESS)]);
    assert_eq!(client.sink(0, 12 * PMTU), Client::source(0, 12 * PMTU));
}

#[test]
fn r40_a_held_response_that_does_not_fit_ends_the_qp_at_its_turn() {
    let mut client = client(|a| a.nak_distance = 9);
    client.post(read(0, 3 * PMTU));
    client.sent();
    client.data(0x0e, at(1), &[1; 4]);
    assert_eq!(client.state(), State::Rts);
    respond(&mut client, 0, 2, 3);
    respond(&mut client, 0, 0, 3);
    assert_eq!(client.done(), [(0, status::BAD_RESPONSE_ERROR)]);
    assert_eq!((client.state(), client.golden.held()), (State::Err, 0));
    assert_eq!(client.count(c::REORDER_RELEASED), 1);
}

#[test]
fn r42_reset_and_error_release_early_responses() {
    for to in [State::Reset, State::Err] {
        let mut client = client(|a| a.nak_distance = 9);
        client.post(read(0, 6 * PMTU));
        client.sent();
        for number in [2, 3, 5] {
            respond(&mut client, 0, number, 6);
        }
        assert_eq!(client.golden.held(), 3);
        assert!(client.golden.modify(QPN, to, &mut Outcome::default()));
        assert_eq!((client.golden.held(), client.count(c::REORDER_RELEASED)), (0, 3));
        assert_eq!(client.golden.next_deadline(), None);
    }
}
