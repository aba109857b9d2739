// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selective repeat: what is sent again after NAKs, holes and timeouts: R25, R31, R32, R42, R66. The flow wraps.

use super::client::*;
use verbena_model::golden::qp::State;
use verbena_model::golden::reorder::Reorder;
use verbena_model::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::headers::syndrome::*;
use verbena_spec::layout::{status, SELECTIVE_WINDOW};

fn client() -> Client {
    let mut client = Client::with(verbena_model::golden::qp::Attributes {
        selective_repeat: true,
        ..attributes()
    });
    client.golden.reorder = Reorder::TENGIG;
    client
}

fn nak(client: &mut Client, ahead: u32) -> Vec<u32> {
    client.syndrome(NAK_SEQUENCE, at(ahead));
    client.sent_psns()
}

#[test]
fn r42_only_what_the_nak_names_is_sent_again_and_new_packets_go_on() {
    let mut client = client();
    client.post(write(0, 6 * PMTU));
    let first = client.sent();
    client.post(write(9, 2 * PMTU));
    client.syndrome(NAK_SEQUENCE, at(2));
    let again = client.sent();
    // R32: as it was.
    assert_eq!(again[0], first[2]);
    assert_eq!(again[1..].iter().map(|p| p.psn).collect::<Vec<_>>(), [at(6), at(7)]);
    assert_eq!((client.count(c::SELECTIVE_RESEND), client.count(c::REWIND)), (1, 0));
    client.ack(at(7));
    assert_eq!(client.done(), [(0, 0), (1, 0)]);
}

#[test]
fn r42_each_gap_behind_costs_its_packet() {
    let mut client = client();
    client.post(write(0, 12 * PMTU));
    client.sent();
    for ahead in [1, 3, 6, 9, 11] {
        assert_eq!(nak(&mut client, ahead), [at(ahead)]);
    }
    client.ack(at(11));
    assert_eq!((client.done(), client.count(c::REWIND)), (vec![(0, 0)], 0));
}

#[test]
fn r42_a_nak_for_the_packet_behind_means_that_nothing_was_held() {
    let mut client = client();
    client.post(write(0, 6 * PMTU));
    client.sent();
    assert_eq!(nak(&mut client, 1), [at(1)]);
    assert_eq!(nak(&mut client, 2), [at(2), at(3), at(4), at(5)]);
    assert_eq!(client.count(c::REWIND), 1);
    // The next one is a gap like any other.
    assert_eq!(nak(&mut client, 4), [at(4)]);
    assert_eq!(nak(&mut client, 5), [at(5)]);
    client.ack(at(5));
    assert_eq!(client.done(), [(0, 0)]);
}

#[test]
fn r42_a_copy_of_a_nak_sends_nothing_again() {
    let mut client = client();
    client.post(write(0, 6 * PMTU));
    client.sent();
    assert_eq!(nak(&mut client, 1), [at(1)]);
    assert_eq!(nak(&mut client, 1), [0; 0]);
    assert_eq!(client.count(c::SELECTIVE_RESEND), 1);
}

#[test]
fn r42_r47_a_lost_resend_is_the_timers_and_goes_back() {
    let mut client = client();
    client.post(write(0, 6 * PMTU));
    client.sent();
    client.advance(10_000);
    assert_eq!(nak(&mut client, 2), [at(2)]);
    // From the resend on, and progress (0 and 1) besides.
    assert_eq!(client.golden.next_deadline(), Some(10_000 + TIMEOUT));
    client.advance(10_000 + TIMEOUT);
    assert_eq!(client.sent_psns(), [at(2), at(3), at(4), at(5)]);
    // The same NAK is a new one now.
    assert_eq!(nak(&mut client, 2), [at(2)]);
}

#[test]
fn r42_a_nak_ends_the_replay() {
    let mut client = client();
    client.post(write(0, 8 * PMTU));
    client.sent();
    client.advance(TIMEOUT);
    // The replay is at 1 when the peer, which holds the others, names 5.
    let packet = client.golden.transmit(&mut client.memory, &mut client.outcome).unwrap();
    assert_eq!(packet.psn, at(0));
    assert_eq!(nak(&mut client, 5), [at(5)]);
    client.ack(at(7));
    assert_eq!(client.done(), [(0, 0)]);
}

#[test]
fn r42_an_ack_of_what_waits_to_be_resent_ends_the_resend() {
    let mut client = client();
    client.post(write(0, 6 * PMTU));
    client.sent();
    client.syndrome(NAK_SEQUENCE, at(2));
    client.ack(at(3));
    assert_eq!(client.sent_psns(), [0; 0]);
}

#[test]
fn r42_no_more_is_outstanding_than_the_peer_can_hold() {
    let mut client = client();
    client.post(write(0, 100 * PMTU));
    assert_eq!(client.sent().len() as u32, SELECTIVE_WINDOW);
    client.ack(at(9));
    assert_eq!(client.sent_psns(), (64..74).map(at).collect::<Vec<_>>());
    // R74 and more: so that a packet which 32 others overtake doesn't look lost.
    client.ack(at(73));
    let asked = client
        .sent()
        .iter()
        .map(|p| (p.psn.wrapping_sub(SQ_PSN) & 0xff_ffff, p.ack_request))
        .collect::<Vec<_>>();
    assert!(asked.iter().all(|(n, ask)| *ask == (n % 4 == 3)), "{asked:?}");
    // A READ may ask for more than that at once, and what is behind it waits.
    client.ack(at(99));
    client.post(read(0, 90 * PMTU));
    client.post(write(0, 5));
    assert_eq!(client.sent_psns(), [at(100)]);
    for number in 0..27 {
        let code = if number == 0 { 0x0d } else { 0x0e };
        client.data(code, at(100 + number), &[1; PMTU]);
    }
    assert_eq!(client.sent_psns(), [at(190)]);
}

#[test]
fn r31_only_the_hole_of_a_read_is_asked_for_again() {
    let mut client = client();
    client.post(read(0, 8 * PMTU - 10));
    client.post(read(3000, 2 * PMTU));
    assert_eq!(client.sent().len(), 2);
    let data = |n: usize| Client::source(n * PMTU, if n == 7 { PMTU - 10 } else { PMTU });
    client.data(0x0d, at(0), &data(0));
    client.data(0x0e, at(3), &data(3));
    let hole = client.sent();
    assert_eq!(hole.len(), 1);
    let want = (at(1), REMOTE + PMTU as u64, 2 * PMTU as u32);
    assert_eq!((hole[0].psn, hole[0].reth.virtual_address, hole[0].reth.length), want);
    client.data(0x0e, at(4), &data(4));
    // Its responses come as a READ's of their own (R30).
    client.data(0x0d, at(1), &data(1));
    client.data(0x0f, at(2), &data(2));
    // 5 and the last are missing; the next READ's are there.
    client.data(0x0e, at(6), &data(6));
    assert_eq!(
        client.sent().iter().map(|p| (p.psn, p.reth.length)).collect::<Vec<_>>(),
        [(at(5), PMTU as u32)]
    );
    client.data(0x0f, at(9), &data(1));
    client.data(0x0d, at(8), &data(0));
    client.data(0x10, at(5), &data(5));
    assert_eq!(
        client.sent().iter().map(|p| (p.psn, p.reth.length)).collect::<Vec<_>>(),
        [(at(7), PMTU as u32 - 10)]
    );
    client.data(0x10, at(7), &data(7));
    assert_eq!(client.done(), [(0, status::SUCCESS), (1, status::SUCCESS)]);
    assert_eq!(client.sink(0, 8 * PMTU - 10), Client::source(0, 8 * PMTU - 10));
    assert_eq!(client.sink(3000, 2 * PMTU), Client::source(0, 2 * PMTU));
    assert_eq!((client.count(c::REWIND), client.count(c::IMPLIED_NAK)), (0, 3));
}

#[test]
fn r40_a_response_ends_in_the_middle_only_where_a_hole_was_asked_for() {
    let mut client = client();
    client.post(read(0, 4 * PMTU));
    client.sent();
    client.data(0x10, at(0), &Client::source(0, PMTU));
    assert_eq!(client.done(), [(0, status::BAD_RESPONSE_ERROR)]);
}

#[test]
fn r42_a_nak_for_a_read_request_sends_it_again_whole() {
    let mut client = client();
    client.post(write(0, 5));
    client.post(read(0, 3 * PMTU));
    client.post(write(0, 5));
    client.sent();
    client.syndrome(NAK_SEQUENCE, at(1));
    let again = client.sent();
    assert_eq!(
        again.iter().map(|p| (p.opcode, p.psn, p.reth.length)).collect::<Vec<_>>(),
        [(0x0c, at(1), 3 * PMTU as u32)]
    );
}

#[test]
fn r66_a_resend_checks_the_wqe_again() {
    for place in [0, 1] {
        let mut client = client();
        client.post(write(0, 5 * PMTU));
        client.post(write(0, 4 * PMTU));
        client.sent();
        client.overwrite(place, write(0, 3 * PMTU));
        let ahead = if place == 0 { 1 } else { 6 };
        assert_eq!(nak(&mut client, ahead), [0; 0]);
        let done = client.done();
        assert!(done.contains(&(place, status::LOCAL_QP_OPERATION_ERROR)), "{done:?}");
        assert_eq!(client.state(), State::Err);
    }
}

#[test]
fn r46_an_rnr_nak_goes_back_whole() {
    let mut client = client();
    client.post(write(0, 5 * PMTU));
    client.sent();
    client.syndrome(RNR | 1, at(2));
    // Soft-RoCE's sequence NAK behind it says nothing new.
    assert_eq!(nak(&mut client, 2), [0; 0]);
    client.advance(10_000);
    assert_eq!(client.sent_psns(), [at(2), at(3), at(4)]);
}

#[test]
fn r42_uc_has_no_window() {
    let mut client = Client::with(verbena_model::golden::qp::Attributes {
        selective_repeat: true,
        service: 1,
        ..attributes()
    });
    client.post(write(0, 100 * PMTU));
    let sent: Vec<Packet> = client.sent();
    assert_eq!(sent.len(), 100);
}
