// SPDX-License-Identifier: MIT OR Apache-2.0
//! Seeded: a requester with any WQEs, any answers, any times. It never panics, and every WQE completes once and in order.

use super::client::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::layout::{sq_wqe, status};

/// A good WQE, or one with a field that may be anything.
fn any_wqe(rng: &mut ChaCha8Rng) -> SendWqe {
    let length = rng.gen_range(0..4 * PMTU);
    let mut wqe = match rng.gen_range(0..5) {
        0 => read(0, length),
        1 => fetch_add(0),
        2 => SendWqe::new(rng.gen_range(0..3)).element(VA, length as u32, SOURCE),
        3 => SendWqe::new(rng.gen_range(0..5)).inline(&[1; 32][..length.min(32)]),
        _ => write(0, length),
    };
    if rng.gen_ratio(1, 20) {
        let field = sq_wqe::FIELDS[rng.gen_range(0..sq_wqe::FIELDS.len())];
        field.set(&mut wqe.0, rng.gen());
    }
    sq_wqe::SIGNALED.set(&mut wqe.0, 1);
    wqe
}

#[test]
fn r39_r65_any_wqes_and_answers_are_survived_and_complete_once() {
    let mut failed = 0;
    for seed in 0..3000u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut c = Client::with(Attributes {
            retry_count: rng.gen_range(0..8),
            rnr_retry: rng.gen_range(0..8),
            max_rd_atomic: rng.gen_range(1..17),
            ..attributes()
        });
        let (mut posted, mut now) = (0, 0);
        let mut done = vec![];
        let mut sent: Vec<Packet> = vec![];
        for _ in 0..60 {
            match rng.gen_range(0..6) {
                0 | 1 if posted - done.len() < 16 => {
                    let wqe = any_wqe(&mut rng);
                    c.post(wqe);
                    posted += 1;
                }
                0..=2 => sent.extend(c.golden.transmit(&mut c.memory, &mut c.outcome)),
                3 => {
                    now += rng.gen_range(0..TIMEOUT);
                    c.advance(now);
                }
                _ => {
                    // Mostly what would fit, now and then anything.
                    let Some(request) = sent.get(rng.gen_range(0..sent.len().max(1))).cloned() else {
                        continue;
                    };
                    let psn = if rng.gen_ratio(1, 10) {
                        rng.gen_range(0..1 << 24)
                    } else {
                        request.psn
                    };
                    let length = request.reth.length as usize;
                    let (opcode, payload) = match request.opcode {
                        0x0c if length <= PMTU => (0x10, vec![7; length]),
                        0x0c => (0x0d, vec![7; PMTU]),
                        0x13 | 0x14 => (0x12, vec![]),
                        _ => (0x11, vec![]),
                    };
                    let mut answer = Packet {
                        opcode,
                        psn,
                        payload,
                        atomic_original: rng.gen(),
                        ..Packet::default()
                    };
                    answer.aeth.syndrome = if rng.gen_ratio(1, 8) { rng.gen() } else { 0x1f };
                    if rng.gen_ratio(1, 30) {
                        answer.opcode = rng.gen_range(0x0d..0x13);
                    }
                    let code = c.answer(answer);
                    assert!([c::RESPONSE, c::GHOST_ACK, c::QP_STATE].contains(&code), "seed {seed}: {code}");
                }
            }
            done.extend(c.done());
        }
        failed += u32::from(c.state() == State::Err);
        c.golden.modify(QPN, State::Err, &mut c.outcome);
        done.extend(c.done());
        let order: Vec<u16> = done.iter().map(|d| d.0).collect();
        assert_eq!(order, (0..posted as u16).collect::<Vec<_>>(), "seed {seed}");
        // Good ones, at most one of its own kind of failure, flushed ones.
        let good = done.iter().take_while(|d| d.1 == status::SUCCESS).count();
        let flushed = done.iter().rev().take_while(|d| d.1 == status::WR_FLUSH_ERROR).count();
        assert!(good + flushed + 1 >= done.len(), "seed {seed}: {done:?}");
    }
    assert!((500..2900).contains(&failed), "{failed} failed by themselves");
}
