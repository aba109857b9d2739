// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester, forward: R22, R32, R59, R63, R64, R66, R67, R69, R74, R75, scenario 1, UC and UD.

use super::client::*;
use super::fixture::{bytes, PEER, PEER_MAC};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_wqe::{Datagram, SendWqe};
use verbena_model::golden::{Event, Outcome};
use verbena_model::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::layout::{completion_opcode, event_type, send_opcode as op, sq_wqe, status};

fn opcodes(packets: &[Packet]) -> Vec<u8> {
    packets.iter().map(|p| p.opcode).collect()
}

#[test]
fn every_verb_has_its_opcodes() {
    let two = 2 * PMTU + 1;
    let cases: [(u32, &[u8], &[u8]); 5] = [
        (op::SEND, &[0x04], &[0x00, 0x01, 0x02]),
        (op::SEND_WITH_IMM, &[0x05], &[0x00, 0x01, 0x03]),
        (op::SEND_WITH_INVALIDATE, &[0x17], &[0x00, 0x01, 0x16]),
        (op::WRITE, &[0x0a], &[0x06, 0x07, 0x08]),
        (op::WRITE_WITH_IMM, &[0x0b], &[0x06, 0x07, 0x09]),
    ];
    for (opcode, short, long) in cases {
        let mut c = Client::new();
        let wqe = SendWqe::new(opcode).remote(REMOTE, REMOTE_KEY).immediate(0x1234_5678);
        c.post(wqe.element(VA, 5, SOURCE));
        c.post(wqe.element(VA + 10, two as u32, SOURCE));
        let packets = c.sent();
        assert_eq!(opcodes(&packets), [short, long].concat(), "{opcode}");
        // R32: only FIRST and ONLY have the RETH.
        let frames: Vec<usize> = packets
            .iter()
            .map(|p| p.to_frame().len() - p.payload.len().next_multiple_of(4))
            .collect();
        let extra = if packets[0].info().unwrap().reth { 16 } else { 0 };
        assert_eq!(frames[1], 58 + extra);
        assert_eq!(frames[2], 58);
        assert_eq!(packets.iter().flat_map(|p| p.payload.clone()).collect::<Vec<_>>(), {
            let mut all = Client::source(0, 5);
            all.extend(Client::source(10, two));
            all
        });
        let last = &packets[3];
        assert!(packets[1].psn == at(1) && last.psn == at(3));
        let value = [last.immediate, last.invalidate_rkey][usize::from(opcode == op::SEND_WITH_INVALIDATE)];
        assert_eq!(value, 0x1234_5678);
    }
    let mut c = Client::new();
    c.post(read(0, 10));
    c.post(fetch_add(100));
    c.post(
        SendWqe::new(op::COMPARE_SWAP)
            .remote(REMOTE & !7, 9)
            .element(VA, 8, SINK)
            .operands(5, 6),
    );
    let packets = c.sent();
    assert_eq!(opcodes(&packets), [0x0c, 0x14, 0x13]);
    assert_eq!(
        (
            packets[2].atomic_eth.swap_or_add,
            packets[2].atomic_eth.compare,
            packets[2].atomic_eth.rkey
        ),
        (5, 6, 9)
    );
    assert!(packets.iter().all(|p| p.ack_request));
}

#[test]
fn r22_r75_lengths_and_psns_of_every_border() {
    for length in (0..=64).chain((1..=33).flat_map(|k| [k * PMTU - 1, k * PMTU, k * PMTU + 1])) {
        let mut c = Client::new();
        c.post(write(7, length));
        c.post(read(3, length));
        c.post(write(9, 1));
        let count = length.div_ceil(PMTU).max(1) as u32;
        let packets = c.sent();
        assert_eq!(packets.len() as u32, count + 2, "{length}");
        let (request, last) = (&packets[count as usize], &packets[count as usize + 1]);
        assert_eq!((request.psn, request.reth.length as usize), (at(count), length));
        // R22: a READ takes as many PSNs as it will have responses, a zero-length one one.
        assert_eq!(last.psn, at(2 * count), "{length}");
        assert_eq!(packets[0].reth.length as usize, length);
        let payload: Vec<u8> = packets[..count as usize].iter().flat_map(|p| p.payload.clone()).collect();
        assert_eq!(payload, Client::source(7, length));
    }
}

#[test]
fn r74_acks_are_asked_for_at_the_end_and_now_and_then() {
    for (pmtu, every) in [(256, 64), (512, 16), (1024, 16)] {
        let mut c = Client::with(Attributes { pmtu, ..attributes() });
        let packets = 58_000 / pmtu;
        c.post(write(0, packets * pmtu));
        let asked: Vec<usize> = c
            .sent()
            .iter()
            .enumerate()
            .filter(|(_, p)| p.ack_request)
            .map(|(n, _)| n + 1)
            .collect();
        let mut want: Vec<usize> = (1..=packets).filter(|n| n % every == 0).collect();
        if want.last() != Some(&packets) {
            want.push(packets);
        }
        assert_eq!(asked, want, "{pmtu}");
        assert!(asked.len() > 1);
    }
}

#[test]
fn r63_solicited_on_the_last_packet_of_what_completes_there() {
    for (opcode, allowed) in [(op::SEND, true), (op::WRITE, false), (op::WRITE_WITH_IMM, true)] {
        let mut c = Client::new();
        let wqe = SendWqe::new(opcode).remote(REMOTE, 1).element(VA, 600, SOURCE);
        c.post(wqe.solicited());
        c.post(wqe);
        let bits: Vec<bool> = c.sent().iter().map(|p| p.solicited).collect();
        assert_eq!(bits, [false, false, allowed, false, false, false], "{opcode}");
    }
}

#[test]
fn inline_two_elements_and_completions() {
    let mut c = Client::new();
    let payload = bytes(32, 1);
    c.post(SendWqe::new(op::SEND).inline(&payload));
    let two = SendWqe::new(op::SEND).element(VA + 1, 300, SOURCE).element(VA + 1000, 250, SOURCE);
    c.post(two.unsignaled());
    c.post(write(0, 0));
    let packets = c.sent();
    assert_eq!(packets[0].payload, payload);
    let mut want = Client::source(1, 300);
    want.extend(Client::source(1000, 250));
    assert_eq!(packets[1..4].iter().flat_map(|p| p.payload.clone()).collect::<Vec<_>>(), want);
    assert_eq!(c.ack(at(4)), c::RESPONSE);
    let done = c.completions();
    let seen: Vec<_> = done.iter().map(|d| (d.wqe_index, d.opcode, d.byte_length, d.cq)).collect();
    assert_eq!(seen, [(0, completion_opcode::SEND, 32, 3), (2, completion_opcode::WRITE, 0, 3)]);
}

#[test]
fn r59_our_own_limit_and_eight_messages() {
    let mut c = Client::new();
    for n in 0..6 {
        c.post(read(n * 10, 10));
    }
    assert_eq!(c.sent_psns(), [at(0), at(1), at(2), at(3)], "max_rd_atomic is 4");
    c.data(0x10, at(0), &[0; 10]);
    assert_eq!(c.sent_psns(), [at(4)]);
    let mut c = Client::new();
    for _ in 0..12 {
        c.post(write(0, 4));
    }
    assert_eq!(c.sent().len(), 8);
    c.ack(at(2));
    assert_eq!(c.sent_psns(), [at(8), at(9), at(10)]);
    // None allowed: refused.
    let mut c = Client::with(Attributes {
        max_rd_atomic: 0,
        ..attributes()
    });
    c.post(read(0, 4));
    assert!(c.sent().is_empty());
    assert_eq!(c.done(), [(0, status::LOCAL_QP_OPERATION_ERROR)]);
}

#[test]
fn fence_waits_for_reads_and_atomics() {
    let mut c = Client::new();
    c.post(write(0, 4));
    c.post(read(0, 4));
    c.post(fetch_add(8));
    c.post(write(0, 4).fenced());
    c.post(write(0, 4));
    assert_eq!(c.sent().len(), 3);
    c.data(0x10, at(1), &[1, 2, 3, 4]);
    assert!(c.sent().is_empty());
    c.data(0x12, at(2), &[]);
    assert_eq!(c.sent().len(), 2);
}

#[test]
fn r66_a_wqe_is_read_once_in_an_attempt() {
    let mut c = Client::new();
    c.post(write(0, 3 * PMTU));
    let first = c.golden.transmit(&mut c.memory, &mut c.outcome).unwrap();
    // The host writes over its ring while the message is under way: the engine doesn't look again.
    c.overwrite(0, SendWqe::new(op::SEND).inline(&[9]));
    let rest = c.sent();
    assert_eq!((first.opcode, opcodes(&rest)), (0x06, vec![0x07, 0x08]));
    assert_eq!(rest[1].payload, Client::source(2 * PMTU, PMTU));
}

#[test]
fn r66_a_wqe_that_changed_ends_the_retry() {
    let changed: [(SendWqe, bool); 5] = [
        (SendWqe::new(op::SEND).element(VA, 3 * PMTU as u32, SOURCE), false),
        (write(0, 3 * PMTU + 1), false),
        (write(0, 3 * PMTU - 1), false),
        // The same range, opcode and length from elsewhere.
        (write(5, 3 * PMTU), true),
        (write(0, 3 * PMTU), true),
    ];
    for (number, (wqe, good)) in changed.into_iter().enumerate() {
        let mut c = Client::new();
        c.post(write(0, 4));
        c.post(write(0, 3 * PMTU));
        c.sent();
        c.overwrite(1, wqe);
        c.syndrome(0x60, at(2));
        let again = c.sent();
        if good {
            assert_eq!(again.len(), 2, "{number}");
            assert_eq!(c.done(), [(0, status::SUCCESS)]);
        } else {
            assert!(again.is_empty());
            assert_eq!(c.done(), [(0, status::SUCCESS), (1, status::LOCAL_QP_OPERATION_ERROR)], "{number}");
            assert_eq!(c.state(), State::Err);
        }
    }
    // And a READ's, when its responses come: nothing is placed by another WQE's elements.
    let mut c = Client::new();
    c.post(read(0, 10));
    c.sent();
    c.overwrite(0, read(500, 11));
    c.data(0x10, at(0), &[7; 10]);
    assert_eq!(c.done(), [(0, status::LOCAL_QP_OPERATION_ERROR)]);
    assert_eq!((c.sink(0, 10), c.sink(500, 11)), (vec![0; 10], vec![0; 11]));
}

#[test]
fn r64_r67_r75_wqes_that_cannot_be_are_refused_when_they_are_the_oldest() {
    let long = SendWqe::new(op::WRITE).element(0, u32::MAX, 1).element(0, 2, 1);
    let mut short = write(0, 100);
    sq_wqe::LENGTH.set(&mut short.0, 99);
    let mut inline_long = SendWqe::new(op::SEND).inline(&[0; 32]);
    sq_wqe::LENGTH.set(&mut inline_long.0, 33);
    let mut three = SendWqe::new(op::SEND);
    sq_wqe::ELEMENTS.set(&mut three.0, 3);
    let mut atomic = fetch_add(0);
    sq_wqe::LENGTH.set(&mut atomic.0, 16);
    sq_wqe::LENGTH_0.set(&mut atomic.0, 16);
    use status::*;
    for (number, (wqe, want)) in [
        // R67: the sum of the elements is 2^32 + 1, the length field says 1.
        (long, LOCAL_LENGTH_ERROR),
        // R75: 2 GiB at PMTU 256 take 2^23 PSNs.
        (SendWqe::new(op::WRITE).element(VA, 1 << 31, SOURCE), LOCAL_LENGTH_ERROR),
        (SendWqe::new(op::READ).element(VA, 1 << 31, SINK), LOCAL_LENGTH_ERROR),
        (short, LOCAL_LENGTH_ERROR),
        (inline_long, LOCAL_LENGTH_ERROR),
        (atomic, LOCAL_LENGTH_ERROR),
        (three, LOCAL_QP_OPERATION_ERROR),
        (SendWqe::new(9), LOCAL_QP_OPERATION_ERROR),
        (SendWqe::new(op::READ).inline(&[1]), LOCAL_QP_OPERATION_ERROR),
        // A key that isn't, a range that isn't in it.
        (SendWqe::new(op::SEND).element(VA, 4, SOURCE ^ 1), LOCAL_PROTECTION_ERROR),
        (write(LENGTH as u64 - 3, 4), LOCAL_PROTECTION_ERROR),
    ]
    .into_iter()
    .enumerate()
    {
        let mut c = Client::new();
        c.post(write(0, 4).unsignaled());
        c.post(wqe.unsignaled());
        c.post(write(0, 4));
        assert_eq!(c.sent().len(), 1, "{number}");
        assert!(c.done().is_empty(), "{number}: not before what is older is done");
        c.ack(at(0));
        assert!(c.sent().is_empty());
        assert_eq!(c.done(), [(1, want), (2, WR_FLUSH_ERROR)], "{number}");
        assert_eq!(c.state(), State::Err);
        assert_eq!(c.outcome.events.len(), 1);
    }
    // The most that R75 allows is begun.
    let mut c = Client::new();
    c.post(SendWqe::new(op::READ).remote(REMOTE, 1).element(VA, (1 << 31) - PMTU as u32, SINK));
    c.post(read(0, 1));
    assert_eq!(c.sent().len(), 1, "nor another one behind it");
    assert_eq!(c.state(), State::Rts);
}

#[test]
fn r64_a_sink_without_local_write_is_a_local_protection_error() {
    let mut c = Client::new();
    c.post(SendWqe::new(op::READ).remote(REMOTE, 1).element(VA, 4, SOURCE));
    c.sent();
    c.data(0x10, at(0), &[1, 2, 3, 4]);
    assert_eq!(c.done(), [(0, status::LOCAL_PROTECTION_ERROR)]);
}

#[test]
fn r69_a_doorbell_too_far_is_refused() {
    let mut c = Client::new();
    let mut outcome = Outcome::default();
    c.golden.doorbell(QPN, 17, &mut outcome);
    let want = Event {
        kind: event_type::BAD_DOORBELL,
        number: QPN & 0xfff,
        detail: 17,
    };
    assert_eq!(outcome.events, [want]);
    assert!(c.sent().is_empty());
    // The ring's size itself is fine, and a doorbell rung twice is one.
    c.golden.doorbell(QPN, 16, &mut outcome);
    c.golden.doorbell(QPN, 16, &mut outcome);
    assert_eq!((outcome.events.len(), c.sent().len()), (1, 8));
}

#[test]
fn uc_completes_when_it_is_sent() {
    let mut c = Client::with(Attributes {
        service: 1,
        ..attributes()
    });
    c.post(SendWqe::new(op::SEND_WITH_IMM).element(VA, 600, SOURCE).immediate(4));
    c.post(write(0, 10));
    c.post(read(0, 10));
    let packets = c.sent();
    assert_eq!(opcodes(&packets), [0x20, 0x21, 0x23, 0x2a]);
    assert!(packets.iter().all(|p| !p.ack_request));
    let want = [(0, status::SUCCESS), (1, status::SUCCESS), (2, status::LOCAL_QP_OPERATION_ERROR)];
    assert_eq!(c.done(), want);
    assert_eq!(c.golden.next_deadline(), None);
}

#[test]
fn ud_takes_its_destination_from_the_wqe() {
    let mut c = Client::with(Attributes {
        service: 3,
        ..attributes()
    });
    let to = Datagram {
        qpn: 0x55,
        qkey: 0x7777,
        mac: PEER_MAC,
        ip: PEER,
        vlan: Some(5),
        gid_index: 0,
        traffic_class: 8,
        hop_limit: 3,
        udp_source: 0xc456,
    };
    c.post(SendWqe::new(op::SEND).element(VA, 200, SOURCE).datagram(&to));
    c.post(SendWqe::new(op::SEND).element(VA, PMTU as u32 + 1, SOURCE).datagram(&to));
    let packets = c.sent();
    let p = &packets[0];
    assert_eq!(packets.len(), 1);
    assert_eq!((p.opcode, p.qpn, p.deth.qkey, p.deth.source_qpn), (0x64, 0x55, 0x7777, QPN));
    assert_eq!((p.vlan, p.traffic_class, p.hop_limit, p.udp_source), (Some(5), 8, 3, 0xc456));
    assert_eq!(p.payload, Client::source(0, 200));
    assert_eq!(c.done(), [(0, status::SUCCESS), (1, status::LOCAL_LENGTH_ERROR)]);
}

#[test]
fn qps_take_turns() {
    let mut c = Client::new();
    for index in 2..8u32 {
        let qpn = 0x9000 | index;
        c.golden.create_qp(Attributes {
            qpn,
            sq_base: RING + u64::from(index) * 4096,
            ..attributes()
        });
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(c.golden.modify(qpn, state, &mut Outcome::default()));
        }
        c.golden.post_send(qpn, &write(0, 4 * PMTU), &mut c.memory, &mut c.outcome).unwrap();
    }
    // All have the same first PSN: each sends its first packet, then each its second.
    let psns = c.sent_psns();
    let want: Vec<u32> = (0..4).flat_map(|n| [at(n); 6]).collect();
    assert_eq!(psns, want);
}
