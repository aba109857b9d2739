// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeded loops: a lossy, duplicating wire with a go-back-N sender that only knows the answers; and bytes without sense.

use super::fixture::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::golden::Features;
use verbena_model::packet::Packet;
use verbena_model::requester::Verb;
use verbena_spec::counters as c;
use verbena_spec::counters::{Class, COUNTERS};
use verbena_spec::headers::syndrome::*;

/// Sends `packets` over a bad wire until the last is acknowledged, as IBTA's requester would: back to the NAKed PSN, again after silence.
fn deliver_reliably(f: &mut Fixture, packets: &[Packet], rng: &mut ChaCha8Rng) -> Vec<verbena_model::golden::Completion> {
    let mut completions = vec![];
    let mut next = 0;
    for _ in 0..10_000 {
        let mut back = None;
        for packet in &packets[next..] {
            let copies = [0, 1, 1, 1, 1, 1, 1, 1, 1, 2][rng.gen_range(0..10)];
            for _ in 0..copies {
                let outcome = f.receive(packet);
                completions.extend(outcome.completions);
                for answer in outcome.answers {
                    if rng.gen_ratio(1, 8) {
                        continue;
                    }
                    let at = packets.iter().position(|p| p.psn == answer.psn);
                    match answer.aeth.syndrome {
                        ACK => next = next.max(at.map_or(0, |at| at + 1)),
                        // R25: all before it is acknowledged.
                        NAK_SEQUENCE => back = at,
                        s if s & 0xe0 == RNR => {
                            assert!(!f.golden.qp(RC).unwrap().nak_sent || at.is_some());
                            f.post(0, 4000);
                            back = at;
                        }
                        s => panic!("syndrome {s:#x}"),
                    }
                }
            }
            if next == packets.len() {
                return completions;
            }
            if back.is_some() {
                break;
            }
        }
        next = back.unwrap_or(next).max(next.min(packets.len() - 1));
    }
    panic!("no progress");
}

#[test]
fn r23_r24_r26_every_byte_arrives_over_a_bad_wire() {
    for seed in 0..200u64 {
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut f = Fixture::new();
        let mut receives = 0;
        for message in 0..10 {
            let length = rng.gen_range(0..8 * PMTU);
            let data = bytes(length, rng.gen());
            let kind = rng.gen_range(0..4);
            let at = rng.gen_range(0..LENGTH - length as u64 + 1);
            let packets = match kind {
                0 => f.write(at, &data),
                1 => f.write_imm(at, &data),
                2 => f.send(&data),
                _ => f.requester.message(Verb::SendImm(message), &data, false),
            };
            let done = deliver_reliably(&mut f, &packets, &mut rng);
            assert_eq!(
                done.len(),
                usize::from(kind != 0),
                "seed {seed} message {message}: one completion a message that takes a receive"
            );
            if kind == 0 || kind == 1 {
                assert_eq!(f.read(RKEY, VA + at, length), data, "seed {seed} message {message}");
            } else {
                assert_eq!(f.read(LKEY, BUFFER, length), data, "seed {seed} message {message}");
            }
            if let Some(done) = done.first() {
                assert_eq!(
                    (done.byte_length as usize, done.wqe_index),
                    (length, receives),
                    "seed {seed} message {message}"
                );
                receives += 1;
            }
            assert_eq!(f.golden.qp(RC).unwrap().msn, message + 1);
        }
    }
}

/// Any bytes: exactly one counter of the receive class, one of the responder's where it got there, and no panic.
#[test]
fn any_bytes_are_survived_and_counted_once() {
    let class = |code: u8| COUNTERS.iter().find(|k| k.code == code).unwrap().class;
    for seed in 0..20_000u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut f = Fixture::speaking([0, 1, 3][rng.gen_range(0..3)]);
        // Every other one has READ, ATOMIC and the requester.
        let whole = seed % 2 == 1;
        if whole {
            f.golden.features = Features::ALL;
            f.golden.qp_mut(RC).unwrap().attributes.max_dest_rd_atomic = 2;
        }
        if rng.gen() {
            f.post(rng.gen_range(0..64), rng.gen_range(0..600));
        }
        for _ in 0..3 {
            let length = rng.gen_range(0..2 * PMTU);
            let data = bytes(length, rng.gen());
            let mut packet = match rng.gen_range(0..4) {
                0 => f.write(rng.gen_range(0..LENGTH + 10), &data),
                1 => f.write_imm(0, &data),
                2 => f.send(&data),
                _ => f.requester.message(
                    Verb::SendInvalidate(if rng.gen() { INVALIDATE } else { rng.gen() }),
                    &data,
                    rng.gen(),
                ),
            }[0]
            .clone();
            match rng.gen_range(0..8) {
                0 => packet.opcode = rng.gen(),
                7 => packet.opcode = [0x0c, 0x13, 0x14][rng.gen_range(0..3)],
                1 => packet.psn = packet.psn.wrapping_add(rng.gen_range(0..3)).wrapping_sub(1) & 0xff_ffff,
                2 => packet.reth.length = rng.gen(),
                3 => packet.reth.virtual_address = rng.gen(),
                4 => packet.payload.resize(rng.gen_range(0..3 * PMTU), 0),
                5 => packet.qpn = rng.gen(),
                _ => {}
            }
            let mut frame = packet.to_frame();
            if rng.gen_ratio(1, 4) {
                let at = rng.gen_range(0..frame.len());
                frame[at] = rng.gen();
            }
            if rng.gen_ratio(1, 10) {
                frame.truncate(rng.gen_range(0..frame.len()));
            }
            let outcome = f.golden.receive(&frame, rng.gen_ratio(1, 50), &mut f.memory);
            assert_eq!(class(outcome.rx), Class::Rx, "seed {seed}");
            assert_eq!(outcome.responder.is_some(), outcome.rx == c::RX_ROCE, "seed {seed}");
            if let Some(code) = outcome.responder {
                assert_eq!(class(code), Class::Responder, "seed {seed}");
            }
            let only = |opcode: u8| outcome.answers.iter().filter(|a| a.opcode == opcode).count();
            assert!(only(0x11) <= 1 && (whole || outcome.answers.len() == only(0x11)), "seed {seed}");
            for answer in &outcome.answers {
                assert!((0x0d..=0x12).contains(&answer.opcode), "seed {seed}");
                assert_eq!((answer.qpn, answer.destination), (PEER_QPN, PEER), "seed {seed}");
            }
        }
    }
}
