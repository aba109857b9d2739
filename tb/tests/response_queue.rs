// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of responses before `Complete`: their order, one counter each, and nothing left when it says that it is empty.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::requester::ResponseQueue;
use verbena_hdl::rx::PacketHead;
use verbena_spec::counters::{GHOST_ACK, LATER, RESPONSE, REWIND};
use verbena_tb::step::Bench;
use verbena_tb::{diff::Diff, drive};

const ACKNOWLEDGE: u64 = 0x11;

/// A response on its way: what of it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Response {
    opcode: u64,
    psn: u64,
    qp: u64,
    syndrome: u64,
}

impl Response {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        Self {
            opcode: if rng.gen_bool(0.8) {
                ACKNOWLEDGE
            } else {
                rng.gen_range(0x0d..=0x12)
            },
            psn: rng.gen_range(0..1 << 24),
            qp: rng.gen_range(0..1 << 12),
            syndrome: rng.gen_range(0..256),
        }
    }

    fn head(&self, rng: &mut ChaCha8Rng) -> PacketHead {
        PacketHead {
            opcode: self.opcode.to_bits(),
            qpn: (self.qp | rng.gen_range(0..4096u64) << 12).to_bits(),
            psn: self.psn.to_bits(),
            xth0: (self.syndrome << 24 | rng.gen_range(0..1u64 << 24)).to_bits(),
            payload_length: (self.psn & 0xfff).to_bits(),
            ..PacketHead::default()
        }
    }

    fn of(head: &PacketHead) -> Self {
        Self {
            opcode: head.opcode.to_u64(),
            psn: head.psn.to_u64(),
            qp: head.qpn.to_u64() & 0xfff,
            syndrome: head.xth0.to_u64() >> 24,
        }
    }

    /// What Complete finds it to be.
    fn code(&self) -> u8 {
        if self.psn & 1 == 0 {
            RESPONSE
        } else {
            GHOST_ACK
        }
    }
}

/// `slow`: most cycles that Complete takes; `count`: chance that a counter event is taken in a cycle. Returns the most that were queued.
fn run(direct: bool, seed: u64, slow: u64, count: f64) -> usize {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::new(ResponseQueue::new(direct)), |b| &mut b.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    // Control: the response in its hands, and cycles until it offers it.
    let mut hand: Option<(Response, u64)> = None;
    // Handed over and not done, oldest first.
    let mut open: VecDeque<Response> = VecDeque::new();
    let mut busy: Option<(PacketHead, u64)> = None;
    let mut own: VecDeque<u8> = VecDeque::new();
    let (mut want, mut got): (Vec<u8>, Vec<u8>) = (vec![], vec![]);
    let (mut most, mut acks) = (0, 0);
    for cycle in 0..20_000u64 {
        let say = format!("seed {seed} cycle {cycle}");
        let more = cycle < 18_000;
        if hand.is_none() && more {
            let response = Response::random(&mut rng);
            bench.uut.s_head.next = response.head(&mut rng);
            hand = Some((response, rng.gen_range(1..6)));
        }
        let offered = hand.is_some_and(|h| h.1 == 0);
        bench.uut.s_valid.next = offered;
        bench.uut.m_done.next = false;
        bench.uut.m_code.next = rng.gen_range(0..64u64).to_bits();
        bench.uut.m_placed.next = rng.gen();
        bench.uut.s_count_valid.next = !own.is_empty();
        bench.uut.s_count_code.next = (own.front().copied().unwrap_or(7) as u64).to_bits();
        bench.uut.m_count_ready.next = rng.gen_bool(count);
        bench.settle();

        // Complete.
        let head = bench.uut.m_head.val();
        if bench.uut.m_valid.val() {
            let (first, left) = busy.get_or_insert_with(|| (head, rng.gen_range(2..=slow)));
            assert_eq!(first.psn, head.psn, "{say}: changed under Complete");
            if *left == 0 && own.is_empty() {
                let code = Response::of(&head).code();
                bench.uut.m_done.next = true;
                bench.uut.m_code.next = (code as u64).to_bits();
                bench.uut.m_placed.next = head.opcode.to_u64() != ACKNOWLEDGE;
                busy = None;
                bench.settle();
            } else {
                // Its own counters come before it is done.
                if *left == 1 && head.psn.to_u64() & 6 == 6 {
                    own.push_back(REWIND);
                    want.push(REWIND);
                }
                *left = left.saturating_sub(1);
            }
        } else {
            assert!(busy.is_none(), "{say}: taken back");
        }
        let uut = &bench.uut;
        assert_eq!(uut.empty.val(), open.is_empty(), "{say}");
        let done = uut.m_done.val();
        if done {
            let was = Response::of(&head);
            want.push(was.code());
            if let Some(first) = open.pop_front() {
                assert_eq!(first, was, "{say}: order");
            } else {
                // Straight from control, which learns all of it.
                assert_eq!(hand.map(|h| h.0), Some(was), "{say}");
                assert_eq!(head.payload_length.to_u64(), was.psn & 0xfff, "{say}: its own head");
                assert!(uut.s_done.val(), "{say}");
                assert_eq!(uut.s_placed.val(), was.opcode != ACKNOWLEDGE, "{say}");
            }
        }
        if uut.s_done.val() {
            let (response, _) = hand.take().expect("done without a response");
            let code = uut.s_code.val().to_u64() as u8;
            if response.opcode == ACKNOWLEDGE && !direct {
                assert_eq!((code, uut.s_placed.val()), (LATER, false), "{say}");
                open.push_back(response);
                acks += 1;
            } else {
                assert!(done && open.is_empty(), "{say}: data overtakes");
                got.push(code);
            }
        } else if offered && !direct && hand.unwrap().0.opcode == ACKNOWLEDGE {
            assert!(open.len() >= 16, "{say}: an ACK waits only for room");
        }
        if uut.m_count_valid.val() && uut.m_count_ready.val() {
            got.push(uut.m_count_code.val().to_u64() as u8);
        }
        if uut.s_count_ready.val() && uut.s_count_valid.val() {
            own.pop_front();
        }
        if let Some((_, wait)) = &mut hand {
            *wait = wait.saturating_sub(1);
        }
        most = most.max(open.len());
        bench.step();
    }
    assert!(open.is_empty() && hand.is_none() && own.is_empty(), "seed {seed}");
    want.sort();
    got.sort();
    assert_eq!(want, got, "seed {seed}: each counted once");
    assert!(direct || acks > 300, "{acks}");
    most
}

#[test]
fn each_response_once_in_order() {
    for (seed, (slow, count)) in [(3, 1.0), (25, 1.0), (25, 0.2), (8, 0.05)].into_iter().enumerate() {
        run(false, seed as u64, slow, count);
        assert_eq!(run(true, seed as u64, slow, count), 0, "direct: nothing is queued");
    }
}

#[test]
fn seventeen_are_queued() {
    assert_eq!(run(false, 7, 60, 1.0), 17);
}

#[test]
fn response_queue_diff() {
    for (name, direct) in [("response_queue", false), ("response_queue_direct", true)] {
        let warnings = Diff::new(name).cycles(3000).run(
            ResponseQueue::new(direct),
            drive!(
                clock,
                reset,
                s_head: |w| PacketHead {
                    opcode: w.take(),
                    solicited: w.take(),
                    ack_request: w.take(),
                    pad_count: w.take(),
                    pkey: w.take(),
                    qpn: w.take(),
                    psn: w.take(),
                    xth0: w.take(),
                    xth1: w.take(),
                    xth2: w.take(),
                    xth3: w.take(),
                    xth4: w.take(),
                    xth5: w.take(),
                    xth6: w.take(),
                    source_ip0: w.take(),
                    source_ip1: w.take(),
                    source_ip2: w.take(),
                    source_ip3: w.take(),
                    ipv6: w.take(),
                    gid_index: w.take(),
                    payload_length: w.take(),
                    payload_beat: w.take(),
                    payload_offset: w.take(),
                    frame_beat: w.take(),
                    end_beat: w.take(),
                },
                s_valid,
                m_done,
                m_code,
                m_placed,
                s_count_valid,
                s_count_code,
                m_count_ready
            ),
        );
        assert_eq!(warnings, "");
    }
}
