// SPDX-License-Identifier: MIT OR Apache-2.0
//! Early requests at the responder: held, drained, NAKed once, dropped when there is no room: R23, R24, R42, R46. All flows wrap.

use super::fixture::*;
use super::orders::orders;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::reorder::{Reorder, SHARE};
use verbena_model::golden::{Features, Outcome};
use verbena_model::packet::{AtomicEth, Packet, Reth};
use verbena_spec::counters::{self as c, Class, COUNTERS};
use verbena_spec::headers::syndrome::*;

fn fixture() -> Fixture {
    let mut f = Fixture::new();
    f.golden.reorder = Reorder::TENGIG;
    f.golden.features = Features::ALL;
    f
}

fn set(f: &mut Fixture, change: impl Fn(&mut Attributes)) {
    change(&mut f.golden.qp_mut(RC).unwrap().attributes);
}

fn count(f: &Fixture, code: u8) -> u32 {
    f.golden.counters()[usize::from(code)]
}

/// Every packet that was committed is counted once, or still held.
fn check_counts(f: &Fixture, what: &str) {
    let responder = COUNTERS.iter().filter(|k| k.class == Class::Responder);
    let sum: u32 = responder.map(|k| count(f, k.code)).sum();
    assert_eq!(count(f, c::RX_ROCE), sum + f.golden.held() as u32, "{what}");
}

/// PSNs (from the first) that a receiver which holds everything NAKs at once: each the lowest missing one while a later one is there.
fn naks(order: &[usize]) -> Vec<u32> {
    let mut naked = vec![];
    for arrived in 1..=order.len() {
        let here = &order[..arrived];
        let missing = (0..).find(|n| !here.contains(n)).unwrap();
        if here.iter().any(|n| *n > missing) && !naked.contains(&(missing as u32)) {
            naked.push(missing as u32);
        }
    }
    naked
}

#[test]
fn r42_r23_every_order_of_seven_packets() {
    for order in orders(7) {
        let mut f = fixture();
        f.post(0, 600);
        f.post(700, 100);
        let data = bytes(3 * PMTU, 1);
        let mut packets = f.write(10, &data);
        packets.extend(f.send(&data[..2 * PMTU]));
        packets.extend(f.write_imm(1000, &data[..5]));
        packets.extend(f.write(0, &data[..20]));
        assert_eq!(packets.len(), 7);
        let mut all = Outcome::default();
        for place in &order {
            let outcome = f.receive(&packets[*place]);
            all.answers.extend(outcome.answers);
            all.completions.extend(outcome.completions);
        }
        let what = format!("{order:?}");
        let done: Vec<_> = all
            .completions
            .iter()
            .map(|d| (d.wqe_index, d.status, d.byte_length, d.with_imm))
            .collect();
        assert_eq!(done, [(0, 0, 512, false), (1, 0, 5, true)], "{what}");
        assert_eq!(f.read(RKEY, VA, 20), data[..20], "{what}: the last message is the last");
        assert_eq!(f.read(RKEY, VA + 30, 3 * PMTU - 20), data[20..], "{what}");
        assert_eq!(f.read(LKEY, BUFFER, 512), data[..512], "{what}");
        let said = answers(&all);
        let acks: Vec<_> = said.iter().filter(|a| a.0 == ACK).copied().collect();
        assert_eq!(
            acks,
            [(ACK, psn(2), 1), (ACK, psn(4), 2), (ACK, psn(5), 3), (ACK, psn(6), 4)],
            "{what}"
        );
        let naked: Vec<_> = said.iter().filter(|a| a.0 == NAK_SEQUENCE).map(|a| a.1).collect();
        assert_eq!(naked, naks(&order).iter().map(|n| psn(*n)).collect::<Vec<_>>(), "{what}");
        assert_eq!(f.golden.held(), 0, "{what}");
        check_counts(&f, &what);
    }
}

#[test]
fn r42_the_window_ends_where_it_ends() {
    for (ahead, held) in [(1, 1), (62, 1), (63, 1), (64, 0), (65, 0), (0x7f_ffff, 0), (0x80_0000, 0)] {
        let mut f = fixture();
        f.requester.psn = psn(ahead);
        let packet = f.write(0, &[7]).remove(0);
        let outcome = f.receive(&packet);
        assert_eq!(f.golden.held(), held, "{ahead:#x}");
        let code = match ahead {
            0x80_0000 => c::DUPLICATE,
            _ if held == 1 => c::REORDER_HELD,
            _ => c::OUT_OF_SEQUENCE,
        };
        assert_eq!(outcome.responder, Some(code), "{ahead:#x}");
        // What can't be held is NAKed all the same.
        let first = if code == c::DUPLICATE { ACK } else { NAK_SEQUENCE };
        assert_eq!(outcome.answers[0].aeth.syndrome, first, "{ahead:#x}");
        check_counts(&f, "one");
    }
}

#[test]
fn r23_nak_distance_says_which_packet_makes_the_gap_a_loss() {
    for distance in 0..64u8 {
        let mut f = fixture();
        set(&mut f, |a| a.nak_distance = distance);
        let packets = f.write(0, &bytes(64 * PMTU, 3));
        for (ahead, packet) in packets.iter().enumerate().skip(1) {
            let said = answers(&f.receive(packet));
            let wanted = if ahead == usize::from(distance) + 1 {
                vec![(NAK_SEQUENCE, psn(0), 0)]
            } else {
                vec![]
            };
            assert_eq!(said, wanted, "distance {distance}, {ahead} ahead");
        }
    }
}

#[test]
fn r23_the_distance_counts_anew_from_each_gap() {
    let mut f = fixture();
    set(&mut f, |a| a.nak_distance = 4);
    let packets = f.write(0, &bytes(16 * PMTU, 3));
    // 0 and 3 are missing; 5 ahead of 0.
    assert!(answers(&f.deliver(&[packets[1].clone(), packets[2].clone(), packets[4].clone()])).is_empty());
    assert_eq!(answers(&f.receive(&packets[5])), [(NAK_SEQUENCE, psn(0), 0)]);
    assert!(answers(&f.receive(&packets[6])).is_empty());
    // 0 comes: 3 is missing, and 6 is 3 ahead of it.
    assert!(answers(&f.receive(&packets[0])).is_empty());
    assert!(answers(&f.receive(&packets[7])).is_empty());
    assert_eq!(answers(&f.receive(&packets[8])), [(NAK_SEQUENCE, psn(3), 0)]);
    // At once where the gap behind is wide enough already.
    f.deliver(&packets[10..15]);
    assert_eq!(answers(&f.receive(&packets[3])), [(NAK_SEQUENCE, psn(9), 0)]);
    assert_eq!(answers(&f.deliver(&[packets[9].clone(), packets[15].clone()])), [(ACK, psn(15), 1)]);
}

#[test]
fn r23_nak_delay_makes_an_old_gap_a_loss_once() {
    let mut f = fixture();
    f.golden.hold_responses = true;
    set(&mut f, |a| (a.nak_distance, a.nak_delay) = (63, 20));
    let packets = f.write(0, &bytes(8 * PMTU, 3));
    let advance = |f: &mut Fixture, now: u64| {
        f.golden.advance(now, &mut f.memory, &mut Outcome::default());
        f.golden
            .transmit(&mut f.memory, &mut Outcome::default())
            .map(|p| (p.aeth.syndrome, p.psn))
    };
    assert_eq!(f.golden.next_deadline(), None);
    advance(&mut f, 5_000);
    f.receive(&packets[2]);
    assert_eq!(f.golden.next_deadline(), Some(25_000));
    advance(&mut f, 15_000);
    // Another early one doesn't make it younger.
    f.receive(&packets[5]);
    assert_eq!(f.golden.next_deadline(), Some(25_000));
    assert_eq!(advance(&mut f, 24_999), None);
    assert_eq!(advance(&mut f, 25_000), Some((NAK_SEQUENCE, psn(0))));
    assert_eq!(f.golden.next_deadline(), None, "once");
    assert_eq!(advance(&mut f, 90_000), None);
    // ePSN moves on: 1 is missing since now.
    f.receive(&packets[0]);
    assert_eq!(f.golden.next_deadline(), Some(110_000));
    assert_eq!(advance(&mut f, 100_000), None);
    f.receive(&packets[1]);
    assert_eq!(f.golden.next_deadline(), Some(120_000), "3 is missing since 100 us");
    assert_eq!(advance(&mut f, 120_000), Some((NAK_SEQUENCE, psn(3))));
    f.deliver(&packets[3..5]);
    assert_eq!((f.golden.next_deadline(), f.golden.held()), (None, 0));
}

#[test]
fn r42_held_already_is_dropped_and_counted() {
    let mut f = fixture();
    let packets = f.write(0, &bytes(4 * PMTU, 5));
    f.receive(&packets[2]);
    let outcome = f.receive(&packets[2]);
    assert_eq!(
        (outcome.responder, outcome.answers.len(), f.golden.held()),
        (Some(c::REORDER_DUPLICATE), 0, 1)
    );
    let outcome = f.deliver(&[packets[0].clone(), packets[1].clone(), packets[3].clone()]);
    assert_eq!(answers(&outcome).last(), Some(&(ACK, psn(3), 1)));
    // A go-back-N peer sends them all again: duplicates (R26).
    assert_eq!(answers(&f.deliver(&packets[2..])), [(ACK, psn(3), 1), (ACK, psn(3), 1)]);
    check_counts(&f, "duplicates");
}

#[test]
fn r42_a_full_pool_drops_and_counts_and_loses_nothing() {
    for slots in 1..=6 {
        let mut f = fixture();
        f.golden.reorder = Reorder { window: 64, slots };
        let data = bytes(12 * PMTU, 6);
        let packets = f.write(0, &data);
        let outcome = f.deliver(&packets[1..]);
        assert_eq!(
            (answers(&outcome), outcome.events.len()),
            (vec![(NAK_SEQUENCE, psn(0), 0)], 0),
            "{slots} slots"
        );
        let held = f.golden.held();
        assert_eq!(count(&f, c::REORDER_FULL) as usize, 11 - held, "{slots} slots");
        // Those that hold something leave a slot for another.
        assert_eq!(
            held,
            if slots == 1 {
                1
            } else {
                (1..slots)
                    .take_while(|own| *own < SHARE * (slots - own) + SHARE)
                    .count()
                    .min(slots - 1)
            }
        );
        assert_eq!(answers(&f.deliver(&packets)).last(), Some(&(ACK, psn(11), 1)), "{slots} slots");
        assert_eq!(f.read(RKEY, VA, data.len()), data, "{slots} slots");
        assert_eq!((f.golden.held(), f.state()), (0, State::Rts));
        check_counts(&f, "full");
    }
}

#[test]
fn r42_the_last_slot_is_for_who_holds_nothing() {
    for slots in 1..=256 {
        for own in 0..=slots {
            for free in 0..=slots - own {
                let may = Reorder::may_take(own, free);
                assert!(!may || free > 0);
                assert!(may || own > 0 || free == 0, "who holds nothing gets what there is");
                assert!(!may || own == 0 || free > 1, "and who holds some leaves one");
            }
        }
    }
}

/// QPs of index 0x20 on, all of service RC and alike.
fn crowd(f: &mut Fixture, count: u32) -> Vec<u32> {
    let numbers: Vec<u32> = (0..count).map(|n| 0x3000 | (0x20 + n)).collect();
    for qpn in &numbers {
        f.golden.create_qp(attributes(*qpn, 0));
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(f.golden.modify(*qpn, state, &mut Outcome::default()));
        }
    }
    numbers
}

#[test]
fn r42_a_qp_with_a_gap_does_not_starve_others() {
    let mut f = fixture();
    let qpns = crowd(&mut f, 8);
    let packets = f.write(0, &bytes(64 * PMTU, 1));
    let to = |qpn: u32, n: usize| Packet { qpn, ..packets[n].clone() };
    // A greedy one first, for which nothing ever comes.
    for n in 1..64 {
        f.receive(&to(qpns[0], n));
    }
    let greedy = f.golden.qp(qpns[0]).unwrap().held();
    assert!(
        (45..=56).contains(&greedy),
        "enough for nak_distance 32 and a round trip, not all: {greedy}"
    );
    for qpn in &qpns[1..6] {
        f.receive(&to(*qpn, 2));
        f.receive(&to(*qpn, 1));
        assert_eq!(f.golden.qp(*qpn).unwrap().held(), 2, "QP {qpn:#x}");
    }
    // All of them take what they get: every one holds something, and nothing is left over.
    for n in 1..64 {
        for qpn in &qpns {
            f.receive(&to(*qpn, n));
        }
    }
    for qpn in &qpns {
        assert!(f.golden.qp(*qpn).unwrap().held() > 0, "QP {qpn:#x}");
    }
    assert!(f.golden.held() <= 64);
    check_counts(&f, "crowd");
}

#[test]
fn r42_reset_error_and_destroy_release_what_is_held() {
    for way in 0..4 {
        let mut f = fixture();
        let packets = f.write(0, &bytes(6 * PMTU, 1));
        f.deliver(&packets[2..5]);
        assert_eq!(f.golden.held(), 3);
        let mut outcome = Outcome::default();
        match way {
            0 => assert!(f.golden.modify(RC, State::Reset, &mut outcome)),
            1 => assert!(f.golden.modify(RC, State::Err, &mut outcome)),
            2 => f.golden.destroy_qp(RC),
            // The missing one is refused: the QP ends, and what is behind it.
            _ => {
                let mut bad = packets[0].clone();
                bad.reth.rkey ^= 1;
                outcome = f.deliver(&[packets[1].clone(), bad]);
                assert_eq!(answers(&outcome).last(), Some(&(NAK_ACCESS, psn(0), 0)));
            }
        }
        let released = if way == 3 { 4 } else { 3 };
        assert_eq!((f.golden.held(), count(&f, c::REORDER_RELEASED)), (0, released), "way {way}");
        check_counts(&f, "released");
        // R41: the next life sees nothing of it.
        f.golden.create_qp(attributes(RC, 0));
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(f.golden.modify(RC, state, &mut outcome));
        }
        let said = answers(&f.deliver(&packets[..2]));
        assert!(said.is_empty(), "way {way}: {said:?}");
        assert_eq!(f.golden.qp(RC).unwrap().epsn, psn(2), "way {way}");
    }
}

#[test]
fn r46_an_rnr_nak_in_the_drain_keeps_what_is_behind_it() {
    let mut f = fixture();
    let mut packets = f.write(0, &bytes(PMTU, 1));
    packets.extend(f.send(&[1, 2, 3]));
    packets.extend(f.send(&[4, 5]));
    assert_eq!(answers(&f.receive(&packets[2])), [(NAK_SEQUENCE, psn(0), 0)]);
    assert!(f.receive(&packets[1]).answers.is_empty());
    // The first SEND has no receive.
    assert_eq!(answers(&f.receive(&packets[0])), [(ACK, psn(0), 1), (RNR | 14, psn(1), 1)]);
    assert!(f.receive(&packets[2]).answers.is_empty(), "silent until it is retried");
    f.post(0, 8);
    f.post(8, 8);
    let outcome = f.receive(&packets[1]);
    assert_eq!(answers(&outcome), [(ACK, psn(1), 2), (ACK, psn(2), 3)]);
    assert_eq!(outcome.completions.len(), 2);
    assert_eq!((f.read(LKEY, BUFFER, 3), f.read(LKEY, BUFFER + 8, 2)), (vec![1, 2, 3], vec![4, 5]));
    check_counts(&f, "rnr");
}

#[test]
fn r42_reads_and_atomics_wait_for_their_turn() {
    let mut f = fixture();
    set(&mut f, |a| a.max_dest_rd_atomic = 4);
    let access = verbena_model::golden::keys::Access {
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        ..Default::default()
    };
    let mut region = f.golden.regions.check(RKEY, 7, Default::default(), VA, LENGTH).unwrap().clone();
    (region.key, region.access) = (0x777, access);
    f.golden.register(region);
    let data = bytes(3 * PMTU, 9);
    let write = f.write(0, &data);
    let read = Packet {
        opcode: 0x0c,
        psn: psn(3),
        reth: Reth {
            virtual_address: VA,
            rkey: 0x777,
            length: 2 * PMTU as u32,
        },
        ack_request: true,
        ..f.requester.template.clone()
    };
    let atomic = Packet {
        opcode: 0x14,
        psn: psn(5),
        atomic_eth: AtomicEth {
            virtual_address: (VA & !7) + 8,
            rkey: 0x777,
            swap_or_add: 1,
            compare: 0,
        },
        ..f.requester.template.clone()
    };
    // Inside the READ's PSNs, so never executed: a peer that doesn't count as R22 says.
    let nonsense = Packet {
        psn: psn(4),
        ..write[1].clone()
    };
    f.deliver(&[atomic.clone(), read.clone(), nonsense, write[2].clone(), write[1].clone()]);
    assert_eq!(f.golden.held(), 5);
    let outcome = f.receive(&write[0]);
    let opcodes: Vec<_> = outcome.answers.iter().map(|a| (a.opcode, a.psn)).collect();
    assert_eq!(opcodes, [(0x11, psn(2)), (0x0d, psn(3)), (0x0f, psn(4)), (0x12, psn(5))]);
    assert_eq!(outcome.answers[1].payload, data[..PMTU]);
    assert_eq!((f.golden.held(), count(&f, c::REORDER_RELEASED)), (0, 1));
    check_counts(&f, "read");
}

#[test]
fn r73_uc_and_ud_hold_nothing() {
    for service in [1, 3] {
        let mut f = Fixture::speaking(service);
        f.golden.reorder = Reorder::TENGIG;
        f.post(0, 4096);
        let packets = f.send(&[1]);
        let late = Packet {
            psn: psn(9),
            ..packets[0].clone()
        };
        assert_eq!(f.receive(&late).completions.len(), 1, "service {service}");
        assert_eq!(f.golden.held(), 0);
    }
}

#[test]
fn r42_random_orders_losses_and_copies_on_many_qps_with_a_small_pool() {
    let mut dropped = 0;
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut f = fixture();
        f.golden.reorder = Reorder {
            window: 1 << rng.gen_range(0..=6),
            slots: rng.gen_range(1..=24),
        };
        let qpns = crowd(&mut f, 6);
        let packets = f.write(0, &bytes(40 * PMTU, seed as u8));
        let distance = rng.gen_range(0..8);
        for qpn in &qpns {
            f.golden.qp_mut(*qpn).unwrap().attributes.nak_distance = distance;
        }
        // What each sender believes to be acknowledged; it sends all from there on, in any order, some not, some twice.
        let mut from = [0usize; 6];
        for round in 0.. {
            assert!(round < 400, "seed {seed}: {from:?}");
            let mut flight = vec![];
            for (place, qpn) in qpns.iter().enumerate() {
                for packet in packets.iter().skip(from[place]).take(12) {
                    for _ in 0..rng.gen_range(0..=2) {
                        flight.push((
                            place,
                            Packet {
                                qpn: *qpn,
                                ..packet.clone()
                            },
                        ));
                    }
                }
            }
            flight.shuffle(&mut rng);
            let mut naked = vec![];
            for (place, packet) in flight {
                for answer in f.receive(&packet).answers {
                    let at = (answer.psn.wrapping_sub(PSN) & 0xff_ffff) as usize;
                    if answer.aeth.syndrome == NAK_SEQUENCE {
                        assert!(!naked.contains(&(place, at)), "seed {seed}: two NAKs for a gap");
                        naked.push((place, at));
                        assert!(at >= from[place]);
                        from[place] = at;
                    } else {
                        assert_eq!(answer.aeth.syndrome, ACK);
                        from[place] = from[place].max(at + 1);
                    }
                }
                assert!(f.golden.held() <= f.golden.reorder.slots);
            }
            if from.iter().all(|n| *n == 40) {
                break;
            }
            // The timer's work.
            for (place, qpn) in qpns.iter().enumerate() {
                let epsn = f.golden.qp(*qpn).unwrap().epsn;
                from[place] = (epsn.wrapping_sub(PSN) & 0xff_ffff) as usize;
            }
        }
        assert_eq!(f.read(RKEY, VA, 40 * PMTU), bytes(40 * PMTU, seed as u8), "seed {seed}");
        for qpn in &qpns {
            assert_eq!(f.golden.qp(*qpn).unwrap().msn, 1, "seed {seed}");
        }
        dropped += count(&f, c::REORDER_FULL);
        check_counts(&f, &format!("seed {seed}"));
    }
    assert!(dropped > 500, "{dropped}");
}
