// SPDX-License-Identifier: MIT OR Apache-2.0
//! Early requests on `cu`, whose station has a window of 4 and 4 slots: R23, R24, R42, R46. What the golden model does is done, packet by packet.

use super::orders::orders;
use super::*;

/// QPs that hold early packets and allow everything.
fn early(seed: u64, change: impl Fn(&mut Attributes)) -> Pair {
    let mut pair = Pair::new(seed, 0);
    for index in 1..4 {
        let a = &mut pair.attributes[index as usize - 1];
        a.reorder = true;
        (a.remote_read, a.remote_write, a.max_dest_rd_atomic) = (true, true, 2);
        change(a);
        let tag = a.qpn >> 12;
        a.qpn = (tag + 0x10) << 12 | index;
        pair.bring_up(index);
    }
    pair
}

/// A peer's packet to the QP, `ahead` PSNs behind the first that is expected.
fn template(pair: &Pair, index: u32, ahead: u32) -> Packet {
    let a = &pair.attributes[index as usize - 1];
    Packet {
        destination_mac: MAC,
        source: a.peer_ip,
        destination: IpAddr::V4(US),
        qpn: a.qpn,
        psn: (a.rq_psn + ahead) & 0xff_ffff,
        ..Packet::default()
    }
}

/// The packets of a WRITE (opcode base 6) or SEND (0), the last one asks for an ACK.
fn message(pair: &mut Pair, index: u32, ahead: u32, write: bool, length: usize, offset: u64) -> Vec<Packet> {
    let pmtu = pair.attributes[index as usize - 1].pmtu;
    let count = length.div_ceil(pmtu).max(1);
    (0..count)
        .map(|n| {
            let position = match (n == 0, n + 1 == count) {
                (true, true) => 4,
                (true, false) => 0,
                (false, false) => 1,
                (false, true) => 2,
            };
            let bytes = pmtu.min(length - n * pmtu);
            Packet {
                opcode: if write { 6 } else { 0 } + position,
                ack_request: n + 1 == count || pair.rng.gen_ratio(1, 3),
                solicited: pair.rng.gen(),
                reth: Reth {
                    virtual_address: REGIONS[0].5 + offset,
                    rkey: REGIONS[0].0,
                    length: length as u32,
                },
                payload: (0..bytes).map(|_| pair.rng.gen()).collect(),
                ..template(pair, index, ahead + n as u32)
            }
        })
        .collect()
}

/// Messages of all kinds, one behind the other.
fn stream(pair: &mut Pair, index: u32, messages: usize) -> Vec<Packet> {
    let pmtu = pair.attributes[index as usize - 1].pmtu;
    let (mut packets, mut ahead) = (vec![], 0);
    for _ in 0..messages {
        let length = pair.rng.gen_range(0..=3 * pmtu);
        let offset = pair.rng.gen_range(0..0x2000);
        match pair.rng.gen_range(0..8) {
            0 => {
                let read = Packet {
                    opcode: READ,
                    ack_request: true,
                    reth: Reth {
                        virtual_address: REGIONS[0].5 + offset,
                        rkey: REGIONS[0].0,
                        length: length as u32,
                    },
                    ..template(pair, index, ahead)
                };
                packets.push(read);
                ahead += length.div_ceil(pmtu).max(1) as u32;
            }
            kind => {
                let mut made = message(pair, index, ahead, kind < 5, length, offset);
                // The last one with an immediate.
                if pair.rng.gen_ratio(1, 4) {
                    let last = made.last_mut().unwrap();
                    last.opcode += 1;
                    last.immediate = pair.rng.gen();
                }
                ahead += made.len() as u32;
                packets.extend(made);
            }
        }
    }
    packets
}

fn held(pair: &Pair) -> usize {
    pair.model.held()
}

#[test]
fn r42_random_requests_of_qps_that_hold_early_ones_equal_the_golden_model() {
    let mut seen = [0; 3];
    for seed in 20..26 {
        let pair = run(seed, 0, 1500, true);
        let codes = [counters::REORDER_HELD, counters::REORDER_DUPLICATE, counters::REORDER_RELEASED];
        for (sum, code) in seen.iter_mut().zip(codes) {
            *sum += pair.count(code);
        }
    }
    let pair = run(26, 30, 500, true);
    assert!(pair.count(counters::REORDER_HELD) > 20);
    assert!(seen.iter().all(|n| *n > 50), "held, again, released: {seen:?}");
}

#[test]
fn r42_r23_random_orders_losses_and_copies_on_three_qps_equal_the_golden_model() {
    let mut seen = [0; 5];
    for seed in 0..12 {
        let mut pair = early(seed, |_| {});
        for index in 1..4 {
            let distance = *[0, 0, 1, 2, 3, 63].choose(&mut pair.rng).unwrap();
            let a = &mut pair.attributes[index as usize - 1];
            a.nak_distance = distance;
            a.qpn += 1 << 12;
            pair.bring_up(index);
        }
        let streams: Vec<Vec<Packet>> = (1..4).map(|index| stream(&mut pair, index, 12)).collect();
        for round in 0.. {
            assert!(round < 300, "seed {seed}");
            let mut flight = vec![];
            for (index, packets) in (1..4).zip(&streams) {
                let qp = pair.model.qp(index).unwrap();
                assert_eq!(qp.state, State::Rtr, "seed {seed}: QP {index}");
                let psn = qp.epsn;
                let left = packets.iter().filter(|p| p.psn.wrapping_sub(psn) & 0x80_0000 == 0);
                for packet in left.take(6) {
                    for _ in 0..pair.rng.gen_range(0..=2) {
                        flight.push(packet.clone());
                    }
                }
            }
            flight.shuffle(&mut pair.rng);
            for packet in &flight {
                let index = packet.qpn & 3;
                if pair.rng.gen_ratio(1, 4) {
                    let va = 0x10_0000 + pair.rng.gen_range(0..0x3000u64);
                    pair.post_buffer(index, va, 1000, 0x2aa);
                }
                pair.deliver(packet);
                pair.same_state(index);
            }
            if (1..4).zip(&streams).all(|(index, packets)| {
                let last = packets.last().unwrap();
                let qp = pair.model.qp(index).unwrap();
                last.psn.wrapping_sub(qp.epsn) & 0x80_0000 != 0
            }) {
                break;
            }
        }
        assert_eq!(held(&pair), 0, "seed {seed}");
        let codes = [
            counters::REORDER_HELD,
            counters::REORDER_DUPLICATE,
            counters::REORDER_FULL,
            counters::OUT_OF_SEQUENCE,
            counters::RNR,
        ];
        for (sum, code) in seen.iter_mut().zip(codes) {
            *sum += pair.count(code);
        }
    }
    println!("held, again, full, beyond, RNR: {seen:?}");
    assert!(seen[..3].iter().all(|n| *n > 100) && seen[3] > 20 && seen[4] > 5, "{seen:?}");
}

#[test]
fn r42_every_order_of_four_packets_is_executed_in_order() {
    let mut pair = early(3, |a| a.rq_psn = 0xff_fffe);
    let mut life = 0;
    for order in orders(4) {
        life += 1;
        pair.attributes[0].qpn += 1 << 12;
        pair.bring_up(1);
        pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
        let mut packets = message(&mut pair, 1, 0, true, 2 * MTU + 9, 5);
        packets.extend(message(&mut pair, 1, 3, false, 77, 0));
        let mut acknowledged = vec![];
        for place in &order {
            for answer in pair.deliver(&packets[*place]).answers {
                acknowledged.extend((answer.aeth.syndrome == 0x1f).then_some(answer.psn));
            }
        }
        assert_eq!(acknowledged.last(), Some(&1), "{order:?}");
        pair.same_state(1);
        assert_eq!((held(&pair), pair.model.qp(1).unwrap().epsn), (0, 2), "{order:?}");
    }
    assert_eq!(life, 24);
}

#[test]
fn r23_nak_distance_says_which_packet_makes_the_gap_a_loss() {
    for distance in [0, 1, 2, 3, 4, 40, 63u8] {
        let mut pair = early(4, |a| a.nak_distance = distance);
        let packets = message(&mut pair, 1, 0, true, 66 * MTU, 0);
        for (ahead, packet) in packets.iter().enumerate().skip(1) {
            let said: Vec<_> = pair.deliver(packet).answers.iter().map(|a| (a.aeth.syndrome, a.psn)).collect();
            let wanted = if ahead == usize::from(distance) + 1 {
                vec![(0x60, packets[0].psn)]
            } else {
                vec![]
            };
            assert_eq!(said, wanted, "distance {distance}, {ahead} ahead");
        }
        assert_eq!(held(&pair), 3, "the window is 4");
    }
}

/// The NAK is never early, and late by what units of 16.384 us and the turns of the main loop make.
#[test]
fn r23_nak_delay_makes_an_old_gap_a_loss_once() {
    for delay in [1, 15, 16, 31, 47, 100, 1000, 4095u16] {
        let mut pair = early(5, |a| (a.nak_distance, a.nak_delay) = (63, delay));
        let packets = message(&mut pair, 1, 0, true, 5 * MTU, 0);
        for (lost, place) in [(0, 1), (2, 3)] {
            let begin = pair.board.core.cycles;
            assert!(pair.deliver(&packets[place]).answers.is_empty(), "delay {delay}");
            while pair.board.outside.sent.is_empty() {
                assert_eq!(pair.board.step(), None);
                assert!(pair.board.core.cycles < begin + 50 * 5000, "delay {delay}: no NAK");
            }
            let us = (pair.board.core.cycles - begin) as f64 / 50.0;
            let delay = f64::from(delay);
            assert!(us >= delay && us < 1.024 * delay + 80.0, "delay {delay}: {us} us");
            let got = sent_packets(&mut pair);
            assert_eq!(
                got.iter().map(|p| (p.0, p.1, p.2[0])).collect::<Vec<_>>(),
                [(0x11, packets[lost].psn, 0x60)]
            );
            let begin = pair.board.core.cycles;
            while pair.board.core.cycles < begin + 50 * 5000 {
                assert_eq!(pair.board.step(), None);
            }
            assert!(pair.board.outside.sent.is_empty(), "once");
            // The model's time goes on too: its NAK stands as well.
            let mut outcome = Outcome::default();
            let now = pair.model.now() + 5_000_000;
            pair.model.advance(now, &mut pair.memory, &mut outcome);
            assert_eq!(outcome.answers.len(), 1, "the model's");
            pair.deliver(&packets[lost]);
        }
        assert_eq!(held(&pair), 0);
        // A gap that closes in time is none, and age counts from each anew; without nak_delay it doesn't count.
        let begin = pair.board.core.cycles;
        while pair.board.core.cycles < begin + 50 * 5000 {
            assert_eq!(pair.board.step(), None);
        }
        assert!(pair.board.outside.sent.is_empty(), "no gap, no NAK");
    }
    let mut pair = early(5, |a| (a.nak_distance, a.nak_delay) = (63, 0));
    let packets = message(&mut pair, 1, 0, true, 5 * MTU, 0);
    assert!(pair.deliver(&packets[1]).answers.is_empty());
    let begin = pair.board.core.cycles;
    while pair.board.core.cycles < begin + 50 * 6000 {
        assert_eq!(pair.board.step(), None);
    }
    assert!(pair.board.outside.sent.is_empty(), "age doesn't count");
}

#[test]
fn r42_the_last_slot_is_for_a_qp_that_holds_nothing() {
    let mut pair = early(6, |_| {});
    let flows: Vec<Vec<Packet>> = (1..4).map(|index| message(&mut pair, index, 0, true, 4 * MTU, 0)).collect();
    for packet in &flows[0][1..4] {
        pair.deliver(packet);
    }
    assert_eq!(held(&pair), 3);
    pair.deliver(&flows[1][2]);
    assert_eq!((held(&pair), pair.count(counters::REORDER_FULL)), (4, 0));
    pair.deliver(&flows[1][1]);
    pair.deliver(&flows[2][1]);
    assert_eq!((held(&pair), pair.count(counters::REORDER_FULL)), (4, 2));
    // All of them are done all the same.
    for flow in &flows {
        for packet in flow {
            pair.deliver(packet);
        }
    }
    assert_eq!(held(&pair), 0);
    // Of two that hold something neither gets the last one, the third QP does.
    for index in 1..4u32 {
        pair.attributes[index as usize - 1].qpn += 1 << 12;
        pair.bring_up(index);
    }
    let flows: Vec<Vec<Packet>> = (1..4).map(|index| message(&mut pair, index, 0, true, 4 * MTU, 0)).collect();
    for (flow, n, wanted) in [(0, 1, 1), (0, 2, 2), (1, 1, 3), (0, 3, 3), (1, 2, 3), (2, 1, 4)] {
        pair.deliver(&flows[flow][n]);
        assert_eq!(held(&pair), wanted, "flow {flow}, packet {n}");
    }
    for flow in &flows {
        for packet in flow {
            pair.deliver(packet);
        }
    }
    assert_eq!(held(&pair), 0);
    for index in 1..4 {
        assert_eq!(pair.model.qp(index).unwrap().msn, 1);
        pair.same_state(index);
    }
}

#[test]
fn r42_of_two_packets_of_one_psn_the_newer_is_held() {
    let mut pair = early(7, |_| {});
    let packets = message(&mut pair, 1, 0, true, 3 * MTU, 0);
    pair.deliver(&packets[1]);
    let mut newer = packets[1].clone();
    newer.payload.reverse();
    pair.deliver(&newer);
    assert_eq!((held(&pair), pair.count(counters::REORDER_DUPLICATE)), (1, 1));
    pair.deliver(&packets[0]);
    let at = (REGIONS[0].7 - DATA) as usize + MTU;
    let data = &pair.board.outside.memory[DATA as usize + at..][..MTU];
    assert_eq!(data, newer.payload, "the newer one");
    // With others in the slots there is no room for it beside the older one, which stays.
    pair.attributes[0].qpn += 1 << 12;
    pair.bring_up(1);
    let packets = message(&mut pair, 1, 0, true, 4 * MTU, 0);
    (1..4).for_each(|n| drop(pair.deliver(&packets[n])));
    let mut newer = packets[3].clone();
    newer.payload.reverse();
    pair.deliver(&newer);
    assert_eq!((held(&pair), pair.count(counters::REORDER_DUPLICATE)), (3, 2));
    pair.deliver(&packets[0]);
    let at = at + 2 * MTU;
    let data = &pair.board.outside.memory[DATA as usize + at..][..MTU];
    assert_eq!(data, packets[3].payload, "the older one");
}

/// Three slots take any packet, the last one 396 bytes behind the BTH: a QP alone never meets it, as it holds three at most.
#[test]
fn r42_a_packet_that_is_too_large_for_the_last_slot_is_dropped_and_counted() {
    let mut pair = early(8, |a| a.pmtu = 512);
    let first: Vec<Packet> = (0..4)
        .flat_map(|n| {
            let mut made = message(&mut pair, 1, n, true, 512, u64::from(n) * 512);
            made[0].opcode += 1;
            made
        })
        .collect();
    pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
    pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
    pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
    pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
    for packet in &first[1..] {
        pair.deliver(packet);
    }
    assert_eq!(held(&pair), 3, "512 bytes with RETH and immediate");
    let second = message(&mut pair, 2, 0, true, 5000, 0x1000);
    let largest = second[1].clone();
    assert!(pair.board.outside.receive(&largest.to_frame(), largest.info().unwrap()));
    pair.settle();
    assert_eq!(pair.count(counters::REORDER_FULL), 1, "512 bytes");
    let (got, mut wanted) = (sent(&mut pair), vec![]);
    // 396 bytes go in: the model's NAK is that of the packet before.
    let fits = Packet {
        payload: largest.payload[..396].to_vec(),
        ..largest.clone()
    };
    let outcome = pair.model.receive(&fits.to_frame(), false, &mut pair.memory);
    wanted.extend(outcome.answers.iter().map(|a| a.to_frame()));
    assert_eq!(got, wanted);
    assert!(pair.board.outside.receive(&fits.to_frame(), fits.info().unwrap()));
    pair.settle();
    assert_eq!(pair.count(counters::REORDER_HELD), 4, "396 bytes");
    let longer = Packet {
        payload: largest.payload[..400].to_vec(),
        ..largest
    };
    pair.attributes[1].qpn += 1 << 12;
    pair.bring_up(2);
    let longer = Packet {
        qpn: pair.attributes[1].qpn,
        ..longer
    };
    assert!(pair.board.outside.receive(&longer.to_frame(), longer.info().unwrap()));
    pair.settle();
    assert_eq!(pair.count(counters::REORDER_FULL), 2, "400 bytes");
    sent(&mut pair);
    // The three come back whole.
    let frame = first[0].to_frame();
    let outcome = pair.model.receive(&frame, false, &mut pair.memory);
    assert!(pair.board.outside.receive(&frame, first[0].info().unwrap()));
    pair.settle();
    assert_eq!(outcome.drained.len(), 3);
    assert_eq!(sent(&mut pair), outcome.answers.iter().map(|a| a.to_frame()).collect::<Vec<_>>());
    pair.same_completions(&outcome);
    let data: Vec<u8> = first.iter().flat_map(|p| p.payload.clone()).collect();
    assert_eq!(pair.board.outside.memory[REGIONS[0].7 as usize..][..data.len()], data);
}

#[test]
fn r42_r46_an_rnr_nak_in_the_drain_keeps_what_is_behind_it() {
    let mut pair = early(9, |_| {});
    let mut packets = message(&mut pair, 1, 0, true, 50, 0);
    packets.extend(message(&mut pair, 1, 1, false, 40, 0));
    packets.extend(message(&mut pair, 1, 2, false, 30, 0));
    pair.deliver(&packets[2]);
    pair.deliver(&packets[1]);
    let said: Vec<_> = pair.deliver(&packets[0]).answers.iter().map(|a| a.aeth.syndrome >> 5).collect();
    assert_eq!((said, held(&pair)), (vec![0, 1], 1));
    pair.post_buffer(1, 0x10_0000, 1000, 0x2aa);
    pair.post_buffer(1, 0x10_0100, 1000, 0x2aa);
    let outcome = pair.deliver(&packets[1]);
    assert_eq!((outcome.completions.len(), held(&pair)), (2, 0));
}

#[test]
fn r42_r36_reads_wait_for_their_turn_and_what_follows_waits_for_their_responses() {
    let mut pair = early(10, |_| {});
    let mut packets = message(&mut pair, 1, 0, true, 100, 0);
    packets.push(Packet {
        ack_request: true,
        ..read_of(&template(&pair, 1, 1), 0, 400)
    });
    // Inside the READ's PSNs: a peer that doesn't count as R22 says.
    let nonsense = message(&mut pair, 1, 2, true, 7, 0).remove(0);
    let behind = message(&mut pair, 1, 3, true, 20, 9).remove(0);
    for packet in [&packets[1], &nonsense, &behind] {
        pair.deliver(packet);
    }
    assert_eq!(held(&pair), 3);
    let outcome = pair.deliver(&packets[0]);
    let said: Vec<_> = outcome
        .answers
        .iter()
        .map(|a| (a.opcode, a.psn.wrapping_sub(packets[0].psn) & 0xff_ffff))
        .collect();
    assert_eq!(said, [(0x11, 0), (0x0d, 1), (0x0f, 2), (0x11, 3)]);
    assert_eq!((held(&pair), pair.count(counters::REORDER_RELEASED)), (0, 1));
    pair.same_state(1);
}

#[test]
fn r42_r41_reset_error_refusal_and_destroy_release_what_is_held() {
    for way in 0..4 {
        let mut pair = early(11, |_| {});
        let packets = message(&mut pair, 1, 0, true, 4 * MTU, 0);
        let others = message(&mut pair, 2, 0, true, 4 * MTU, 0);
        pair.deliver(&packets[2]);
        pair.deliver(&packets[3]);
        pair.deliver(&others[1]);
        let qpn = pair.attributes[0].qpn;
        let mut outcome = Outcome::default();
        match way {
            0 | 1 => {
                let state = if way == 0 { State::Reset } else { State::Err };
                assert!(pair.model.modify(qpn, state, &mut outcome));
                assert!(pair.command(operation::MODIFY_QP, code(state), 1));
            }
            2 => pair.bring_up(1),
            _ => {
                let mut bad = packets[0].clone();
                bad.reth.rkey ^= 1;
                pair.deliver(&bad);
                assert_eq!(pair.model.qp(1).unwrap().state, State::Err);
            }
        }
        pair.same_counters();
        assert_eq!((pair.count(counters::REORDER_RELEASED), held(&pair)), (2, 1), "way {way}");
        // The next life sees nothing of it, the other QP's packet is still there.
        pair.bring_up(1);
        for packet in &packets[..2] {
            assert_eq!(pair.deliver(packet).drained.len(), 0, "way {way}");
        }
        assert_eq!(pair.deliver(&others[0]).drained.len(), 1, "way {way}");
        assert_eq!(pair.count(counters::REORDER_RELEASED), 2, "way {way}");
    }
}

/// The slots' RAM isn't cleared by a reset; the program does it.
#[test]
fn r42_a_restart_forgets_what_is_held() {
    let mut pair = early(12, |_| {});
    let packets = message(&mut pair, 1, 0, true, 4 * MTU, 0);
    (1..4).for_each(|n| drop(pair.deliver(&packets[n])));
    let attributes = pair.attributes[0].clone();
    pair.write(registers::CONTROL, 0b100);
    pair.settle();
    let Pair { mut board, program, .. } = pair;
    board.outside.memory.fill(0);
    board.outside.sent.clear();
    // Another host, on the engine that was restarted.
    let mut again = Pair::on(board, program, 12, 0);
    again.attributes[0] = attributes;
    again.bring_up(1);
    assert_eq!(
        (again.count(counters::REORDER_HELD), again.count(counters::REORDER_RELEASED)),
        (0, 0)
    );
    assert_eq!(again.deliver(&packets[0]).drained.len(), 0);
    again.same_state(1);
    let outcome = again.deliver(&packets[2]);
    assert_eq!(
        (outcome.responder, again.count(counters::REORDER_HELD)),
        (Some(counters::REORDER_HELD), 1)
    );
}
