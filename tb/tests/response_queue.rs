// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of responses before `Complete`: their order, one counter each, and nothing left when it says that it is empty.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::mem::WriteJob;
use verbena_hdl::requester::ResponseQueue;
use verbena_hdl::rx::PacketHead;
use verbena_spec::counters::{GHOST_ACK, LATER, RESPONSE, REWIND};
use verbena_tb::{diff::Diff, drive, ports, step::Bench};

const ACKNOWLEDGE: u64 = 0x11;

/// A response on its way: what of it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Response {
    opcode: u64,
    psn: u64,
    qp: u64,
    syndrome: u64,
    /// Payload length, its beat and offset in the ring, the frame's end.
    place: [u64; 4],
}

impl Response {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        Self {
            opcode: if rng.gen_bool(0.7) {
                ACKNOWLEDGE
            } else {
                [0x0d, 0x0e, 0x0f, 0x10, 0x12][rng.gen_range(0..5)]
            },
            psn: rng.gen_range(0..1 << 24),
            qp: rng.gen_range(0..1 << 12),
            syndrome: rng.gen_range(0..256),
            place: [1 << 14, 1 << 13, 8, 1 << 13].map(|end| rng.gen_range(0..end)),
        }
    }

    fn head(&self, rng: &mut ChaCha8Rng) -> PacketHead {
        PacketHead {
            opcode: self.opcode.to_bits(),
            qpn: (self.qp | rng.gen_range(0..4096u64) << 12).to_bits(),
            psn: self.psn.to_bits(),
            xth0: (self.syndrome << 24 | rng.gen_range(0..1u64 << 24)).to_bits(),
            payload_length: self.place[0].to_bits(),
            payload_beat: self.place[1].to_bits(),
            payload_offset: self.place[2].to_bits(),
            end_beat: self.place[3].to_bits(),
            ..PacketHead::default()
        }
    }

    fn of(head: &PacketHead) -> Self {
        Self {
            opcode: head.opcode.to_u64(),
            psn: head.psn.to_u64(),
            qp: head.qpn.to_u64() & 0xfff,
            syndrome: head.xth0.to_u64() >> 24,
            place: [
                head.payload_length.to_u64(),
                head.payload_beat.to_u64(),
                head.payload_offset.to_u64(),
                head.end_beat.to_u64(),
            ],
        }
    }

    fn carries_data(&self) -> bool {
        self.opcode != ACKNOWLEDGE
    }

    /// What Complete finds it to be.
    fn code(&self) -> u8 {
        if self.psn & 1 == 0 {
            RESPONSE
        } else {
            GHOST_ACK
        }
    }

    /// Complete places its data; else the frame is released without.
    fn placed(&self) -> bool {
        self.carries_data() && self.psn & 1 == 0
    }
}

const CYCLES: u64 = 10_000;
/// Most responses with data that may be queued.
const MOST_DATA: usize = 2;

/// `slow`: most cycles that Complete takes; `count`: chance that a counter event is taken in a cycle, and a job. Returns the most responses that were
/// queued, and the most with data.
fn run(direct: bool, seed: u64, slow: u64, count: f64) -> [usize; 2] {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::verilated(
        Box::new(ResponseQueue::new(direct)),
        "response_queue",
        ports!(in reset, s_head, s_valid, m_done, m_code, m_placed, s_job, s_job_valid, m_job_ready, s_count_valid, s_count_code, m_count_ready; out s_done, s_code, s_placed, m_head, m_valid, empty, placing, s_job_ready, m_job, m_job_valid, s_count_ready, m_count_valid, m_count_code),
    );
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    // Control: the response in its hands, and cycles until it offers it.
    let mut hand: Option<(Response, u64)> = None;
    // Handed over and not done, oldest first.
    let mut open: VecDeque<Response> = VecDeque::new();
    // A frame that must be released.
    let mut owed: Option<u64> = None;
    let mut busy: Option<(PacketHead, u64)> = None;
    let mut own: VecDeque<u8> = VecDeque::new();
    let (mut want, mut got): (Vec<u8>, Vec<u8>) = (vec![], vec![]);
    let (mut most, mut acks, mut released, mut written) = ([0; 2], 0, 0, [0; 2]);
    for cycle in 0..CYCLES {
        let say = format!("seed {seed} cycle {cycle}");
        // At the end all of it is to be done.
        let more = cycle < CYCLES - 2_500;
        if hand.is_none() && more {
            let response = Response::random(&mut rng);
            bench.uut.s_head.next = response.head(&mut rng);
            hand = Some((response, rng.gen_range(1..6)));
        }
        let offered = hand.is_some_and(|h| h.1 == 0);
        // Complete's job: only while a response with data is with it.
        let places = busy.is_some_and(|(head, left)| left < 6 && Response::of(&head).placed()) && rng.gen();
        bench.uut.s_valid.next = offered;
        bench.uut.m_done.next = false;
        bench.uut.m_code.next = rng.gen_range(0..64u64).to_bits();
        bench.uut.m_placed.next = rng.gen();
        bench.uut.s_job.next = WriteJob {
            write: true,
            address: cycle.to_bits(),
            ..WriteJob::default()
        };
        bench.uut.s_job_valid.next = places;
        bench.uut.m_job_ready.next = rng.gen_bool(count);
        bench.uut.s_count_valid.next = !own.is_empty();
        bench.uut.s_count_code.next = (own.front().copied().unwrap_or(7) as u64).to_bits();
        bench.uut.m_count_ready.next = rng.gen_bool(count);
        bench.settle();

        // Complete.
        let head = bench.uut.m_head.val();
        if bench.uut.m_valid.val() {
            let (first, left) = busy.get_or_insert_with(|| (head, rng.gen_range(2..=slow)));
            assert_eq!(Response::of(first), Response::of(&head), "{say}: changed under Complete");
            if *left == 0 && own.is_empty() && !places {
                let was = Response::of(&head);
                bench.uut.m_done.next = true;
                bench.uut.m_code.next = (was.code() as u64).to_bits();
                bench.uut.m_placed.next = was.placed();
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
        let with_data = open.iter().filter(|r| r.carries_data()).count();
        assert_eq!(uut.empty.val(), open.is_empty(), "{say}");
        let placing = if direct { offered } else { with_data > 0 || owed.is_some() };
        assert_eq!(uut.placing.val(), placing, "{say}");

        // Jobs.
        if let Some(end_beat) = owed {
            let job = uut.m_job.val();
            assert!(uut.m_job_valid.val() && !uut.s_job_ready.val() && !uut.m_valid.val(), "{say}");
            assert_eq!((job.write, job.release, job.end_beat.to_u64()), (false, true, end_beat), "{say}");
            if uut.m_job_ready.val() {
                owed = None;
                released += 1;
            }
        } else {
            assert_eq!(uut.m_job_valid.val(), places, "{say}");
            assert_eq!(uut.s_job_ready.val(), uut.m_job_ready.val(), "{say}");
            assert!(!places || uut.m_job.val() == uut.s_job.val(), "{say}: a job is Complete's own");
            written[0] += (places && uut.m_job_ready.val()) as usize;
        }

        // Done.
        let done = uut.m_done.val();
        if done {
            let was = Response::of(&head);
            want.push(was.code());
            if direct {
                // Control learns all of it, and releases the frame.
                assert_eq!(hand.map(|h| h.0), Some(was), "{say}");
                assert_eq!((uut.s_done.val(), uut.s_placed.val()), (true, was.placed()), "{say}");
            } else {
                assert_eq!(open.pop_front(), Some(was), "{say}: order");
                if was.carries_data() && !was.placed() {
                    owed = Some(was.place[3]);
                    written[1] += 1;
                }
            }
        }
        if uut.s_done.val() {
            let (response, _) = hand.take().expect("done without a response");
            let code = uut.s_code.val().to_u64() as u8;
            if direct {
                assert!(done, "{say}");
                got.push(code);
            } else {
                // Its frame is the queue's business from now on.
                assert_eq!((code, uut.s_placed.val()), (LATER, response.carries_data()), "{say}");
                open.push_back(response);
                acks += !response.carries_data() as usize;
            }
        } else if offered && !direct {
            let full = open.len() >= 16 || (hand.unwrap().0.carries_data() && with_data == MOST_DATA);
            assert!(full, "{say}: a response waits only for room");
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
        most[0] = most[0].max(open.len());
        most[1] = most[1].max(open.iter().filter(|r| r.carries_data()).count());
        bench.step();
    }
    assert!(open.is_empty() && hand.is_none() && own.is_empty() && owed.is_none(), "seed {seed}");
    want.sort();
    got.sort();
    assert_eq!(want, got, "seed {seed}: each counted once");
    let some = slow > 25 || (acks > 100 && released > 20 && written[0] > 3);
    assert!(direct || some, "{acks} {released} {written:?}");
    assert_eq!(released, written[1], "seed {seed}: each frame that isn't placed is released");
    most
}

#[test]
fn each_response_once_in_order() {
    for (seed, (slow, count)) in [(3, 1.0), (25, 1.0), (25, 0.2), (8, 0.05)].into_iter().enumerate() {
        run(false, seed as u64, slow, count);
        assert_eq!(run(true, seed as u64, slow, count), [0; 2], "direct: nothing is queued");
    }
}

#[test]
fn as_many_as_fit_are_queued() {
    let [all, with_data] = run(false, 7, 150, 1.0);
    assert_eq!(with_data, MOST_DATA);
    assert!(all >= 6, "{all}");
}

#[test]
fn response_queue_diff() {
    for (name, direct) in [("response_queue", false), ("response_queue_direct", true)] {
        let warnings = Diff::new(name).cycles(3000).run(
            ResponseQueue::new(direct),
            drive!(
                clock,
                reset,
                s_head,
                s_valid,
                m_done,
                m_code,
                m_placed,
                s_job,
                s_job_valid,
                m_job_ready,
                s_count_valid,
                s_count_code,
                m_count_ready
            ),
        );
        assert_eq!(warnings, "");
    }
}
