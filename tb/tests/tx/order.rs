// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tx::AckOrder` against a plain model: which responses stood before an ACK.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::tx::{AckJob, AckOrder};
use verbena_tb::step::Bench;

/// Never before a response of its QP that stands in the slots; at the latest behind all responses that stood there; at once where there were none, a cycle later where
/// the last of them has just begun.
#[test]
fn r36_an_ack_stays_behind_the_responses_it_came_behind() {
    let (mut all_waited, mut all_at_once) = (0, 0);
    for (seed, qps, slots, begins) in [(1, 4, 16, 0.05), (2, 4, 16, 0.3), (3, 2, 2, 0.1), (4, 1, 16, 0.1)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(Box::new(AckOrder::<2>::default()), |u| &mut u.clock);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        // In the slots: number, QP, whether it is a READ responder's. Coming in: those and the words still to come; one in eight is taken back with its last word.
        let mut waiting: VecDeque<(u64, u64, bool)> = VecDeque::new();
        let mut incoming: Option<(u64, bool, bool, u32, u32)> = None;
        let (mut number, mut waited, mut at_once, mut begun) = (0u64, 0u64, 0u64, 0u64);
        // The ACK on offer: QP, numbers up to which its own and all responses stood before it.
        let mut ack: Option<(u64, Option<u64>, Option<u64>)> = None;
        let mut taking = false;
        let mut abandoned = false;
        let mut stood = false;
        for cycle in 0..40_000 {
            if incoming.is_none() && rng.gen_bool(0.3) {
                incoming = Some((rng.gen_range(0..qps), rng.gen(), rng.gen_bool(0.2), 0, rng.gen_range(2..6)));
                abandoned = rng.gen_bool(0.125);
            }
            let taken = incoming.is_some() && waiting.len() < slots && rng.gen_bool(0.7);
            let (mut word, mut last) = (rng.gen::<u32>(), false);
            if let Some((qp, response, acknowledge, at, words)) = incoming {
                match at {
                    0 => word = word & !0xfff | qp as u32,
                    1 => {
                        let opcode = if acknowledge { 0x11 } else { 0x10 };
                        word = word & !0x8ff | opcode | ((response && !acknowledge) as u32) << 11;
                    }
                    _ => {}
                }
                last = at == words;
            }
            let begin = !waiting.is_empty() && rng.gen_bool(begins);
            let offered = ack.is_none() && rng.gen_bool(0.2);
            if offered {
                let qp = rng.gen_range(0..qps);
                let find = |own: bool| waiting.iter().rev().find(|w| w.2 && (!own || w.1 == qp)).map(|w| w.0);
                ack = Some((qp, find(true), find(false)));
                taking = false;
            }
            let uut = &mut bench.uut;
            uut.word.next = (word as u64).to_bits();
            uut.word_last.next = last;
            uut.word_abandon.next = last && abandoned;
            uut.word_taken.next = taken;
            uut.begin_next.next = begin;
            uut.ack_valid.next = ack.is_some();
            uut.ack.next = AckJob {
                qp_index: ack.map_or(3, |a| a.0).to_bits(),
                ..AckJob::default()
            };
            uut.ack_taken.next = false;
            bench.settle();
            let allowed = bench.uut.allowed.val();
            if let Some((_, own, all)) = ack {
                let gone = |n: Option<u64>, begun: u64| n.is_none_or(|n| n < begun);
                assert!(
                    !allowed || gone(own, begun),
                    "seed {seed} cycle {cycle}: the ACK passes a response of its QP"
                );
                assert!(allowed || !taking, "seed {seed} cycle {cycle}: no longer allowed");
                if offered && all.is_none() && !stood {
                    assert!(allowed, "seed {seed} cycle {cycle}: held back by nothing");
                    at_once += 1;
                }
                // Two cycles after the last of them was begun.
                assert!(
                    allowed || offered || !gone(all.map(|n| n + 2), begun),
                    "seed {seed} cycle {cycle}: held back for ever"
                );
                waited += (allowed && !taking && !offered) as u64;
                taking |= allowed;
                // The narrow form takes it late.
                if allowed && rng.gen_bool(0.4) {
                    bench.uut.ack_taken.next = true;
                    bench.settle();
                    ack = None;
                }
            } else {
                assert!(!allowed);
            }
            bench.edge();
            stood = waiting.iter().any(|w| w.2);
            if begin {
                begun = waiting.pop_front().unwrap().0 + 1;
            }
            if taken {
                let (qp, response, acknowledge, at, words) = incoming.unwrap();
                incoming = Some((qp, response, acknowledge, at + 1, words));
                if last {
                    if !abandoned {
                        waiting.push_back((number, qp, response || acknowledge));
                        number += 1;
                    }
                    incoming = None;
                }
            }
        }
        // Where the slots are always full, hardly one goes at once.
        assert!(waited > 50, "seed {seed}: {waited} waited, {at_once} went at once");
        all_waited += waited;
        all_at_once += at_once;
    }
    println!("{all_waited} ACKs waited, {all_at_once} went at once");
    assert!(
        all_waited > 1_000 && all_at_once > 3_000,
        "{all_waited} waited, {all_at_once} went at once"
    );
}
