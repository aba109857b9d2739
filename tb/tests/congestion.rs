// SPDX-License-Identifier: MIT OR Apache-2.0
//! `congestion::NotificationPoint` against a plain model: which marks become CNPs, when, and that ACKs pass. The reaction point: `congestion/`.

mod limiter;
mod reaction;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::congestion::NotificationPoint;
use verbena_hdl::tx::AckJob;
use verbena_spec::counters;
use verbena_tb::diff::Diff;
use verbena_tb::drive;
use verbena_tb::step::Bench;

/// Clocks of a unit of 1.024 us, a quarter of a tick.
const UNIT: u64 = 16;
/// Clocks by which the model doesn't know when a QP's time is over: a unit, and the turn of a mark.
const UNSURE: u64 = UNIT + 12;
/// Clocks by which a mark's turn may be earlier than the last one's.
const SOONER: u64 = 6;
/// Clocks between two marks, as control has them at the least.
const APART: u64 = 10;

struct Harness {
    bench: Bench<NotificationPoint<5>>,
    rng: ChaCha8Rng,
    seed: u64,
    interval: u64,
    /// Chances, in a cycle, that an ACK is offered, that transmit takes what is on offer, that an event is.
    ack: f64,
    take: f64,
    event: f64,
    /// Each QP's last mark that became a CNP.
    last: [Option<u64>; 32],
    /// CNPs to come; ACKs offered that haven't come out.
    want: VecDeque<u64>,
    acks: VecDeque<AckJob>,
    offered: Option<AckJob>,
    /// What was on offer and not taken.
    waiting: Option<AckJob>,
    cnps: u64,
    acks_out: u64,
    received: u64,
    counted: u64,
    /// Cycle of each CNP's leaving, with its QP.
    left: Vec<(u64, u64)>,
}

impl Harness {
    fn new(seed: u64, interval: u64) -> Self {
        println!("seed {seed}, interval {interval}");
        let mut bench = Bench::new(Box::<NotificationPoint<5>>::default(), |u| &mut u.clock);
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        bench.uut.tick.next = ((4 * UNIT) << 8).to_bits();
        bench.uut.notify.next = true;
        bench.uut.cnp_interval.next = interval.to_bits();
        let mut h = Self {
            bench,
            rng: ChaCha8Rng::seed_from_u64(seed),
            seed,
            interval,
            ack: 0.0,
            take: 1.0,
            event: 1.0,
            last: [None; 32],
            want: VecDeque::new(),
            acks: VecDeque::new(),
            offered: None,
            waiting: None,
            cnps: 0,
            acks_out: 0,
            received: 0,
            counted: 0,
            left: vec![],
        };
        let mut cycles = 0;
        while !h.bench.uut.ready.val() {
            h.cycle(None);
            cycles += 1;
            assert!(cycles < 40, "the walk doesn't end");
        }
        h
    }

    /// May a mark of this QP become a CNP now? `None`: the model can't know.
    fn due(&self, qp: u64) -> Option<bool> {
        let Some(last) = self.last[qp as usize] else { return Some(true) };
        let since = self.bench.cycle - last;
        match self.interval * UNIT {
            0 => Some(true),
            quiet if since + SOONER < quiet => Some(false),
            quiet if since > quiet + UNSURE => Some(true),
            _ => None,
        }
    }

    /// One cycle; a mark of this QP, if the model knows what becomes of it.
    fn cycle(&mut self, mark: Option<u64>) {
        let mark = mark.filter(|qp| self.due(*qp).is_some());
        if self.offered.is_none() && self.rng.gen_bool(self.ack) {
            let job = AckJob {
                qp_index: self.rng.gen_range(0..32u64).to_bits(),
                syndrome: self.rng.gen_range(0..256u64).to_bits(),
                psn: self.rng.gen_range(0..1u64 << 24).to_bits(),
                msn: self.rng.gen_range(0..1u64 << 24).to_bits(),
                notification: false,
            };
            self.offered = Some(job);
            self.acks.push_back(job);
        }
        let take = self.rng.gen_bool(self.take);
        let event_ready = self.rng.gen_bool(self.event);
        let uut = &mut self.bench.uut;
        uut.received.next = mark.is_some();
        uut.marked.next = mark.is_some();
        uut.marked_index.next = mark.unwrap_or(31).to_bits();
        uut.s_ack_valid.next = self.offered.is_some();
        uut.s_ack.next = self.offered.unwrap_or_default();
        uut.m_ack_ready.next = take;
        uut.event_ready.next = event_ready;
        self.bench.settle();
        let uut = &self.bench.uut;
        let say = format!("seed {} cycle {}", self.seed, self.bench.cycle);
        assert!(!uut.idle.val() || self.want.is_empty(), "{say}: idle, with CNPs to come");
        let job = uut.m_ack.val();
        if uut.m_ack_valid.val() {
            if let Some(before) = self.waiting.filter(|b| b.notification) {
                assert_eq!(job, before, "{say}: a CNP changed while it waited");
            }
            if take {
                if job.notification {
                    assert_eq!((job.syndrome.to_u64(), job.psn.to_u64(), job.msn.to_u64()), (0, 0, 0), "{say}");
                    let want = self.want.pop_front();
                    assert_eq!(Some(job.qp_index.to_u64()), want, "{say}: CNP");
                    self.cnps += 1;
                    self.left.push((self.bench.cycle, job.qp_index.to_u64()));
                } else {
                    assert_eq!(Some(job), self.acks.pop_front(), "{say}: ACK");
                    self.acks_out += 1;
                }
            }
            self.waiting = (!take).then_some(job);
        } else {
            assert!(self.offered.is_none(), "{say}: an ACK isn't seen");
            assert!(!self.waiting.is_some_and(|b| b.notification), "{say}: a CNP vanished");
            self.waiting = None;
        }
        if self.offered.is_some() && uut.s_ack_ready.val() {
            self.offered = None;
        }
        if uut.event_valid.val() && event_ready {
            assert_eq!(uut.event_code.val().to_u64(), counters::RX_MARKED as u64);
            self.counted += 1;
        }
        if let Some(qp) = mark {
            self.received += 1;
            if uut.notify.val() && self.due(qp) == Some(true) {
                self.want.push_back(qp);
                self.last[qp as usize] = Some(self.bench.cycle);
            }
        }
        self.bench.edge();
    }

    fn rest(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.cycle(None);
        }
    }

    /// Random marks, `apart` cycles between them.
    fn marks(&mut self, count: u64, qps: u64, apart: u64) {
        for _ in 0..count {
            let qp = self.rng.gen_range(0..qps);
            self.cycle(Some(qp));
            let longest = APART.max(2 * apart - APART);
            let cycles = self.rng.gen_range(APART - 1..=longest);
            self.rest(cycles);
        }
    }

    /// Everything comes out.
    fn finish(&mut self) {
        (self.ack, self.take, self.event) = (0.0, 1.0, 1.0);
        self.rest(200);
        assert!(self.want.is_empty() && self.acks.is_empty(), "seed {}", self.seed);
        assert!(self.bench.uut.idle.val());
        assert_eq!(self.counted, self.received);
    }
}

/// A QP's marks become CNPs, at most one in the interval and at least one in it and a unit; every mark is counted; ACKs keep their order.
#[test]
fn r76_at_most_one_a_qp_in_the_interval() {
    let (mut cnps, mut acks, mut marks) = (0, 0, 0);
    for (seed, interval, qps, apart, ack, take) in [
        (1, 50, 4, 40, 0.0, 1.0),
        (2, 50, 30, 30, 0.05, 0.5),
        (3, 7, 3, 20, 0.2, 0.5),
        (4, 255, 32, 60, 0.5, 0.6),
        (5, 2, 2, 12, 0.1, 0.7),
        (6, 0, 8, 20, 0.1, 0.5),
    ] {
        let mut h = Harness::new(seed, interval);
        (h.ack, h.take, h.event) = (ack, take, 0.4);
        h.marks(1500, qps, apart);
        h.finish();
        // The CNPs of a QP are apart where nothing held them back.
        if take == 1.0 {
            for qp in 0..32 {
                let times: Vec<u64> = h.left.iter().filter(|l| l.1 == qp).map(|l| l.0).collect();
                assert!(times.windows(2).all(|w| w[1] - w[0] >= interval * UNIT), "seed {seed} QP {qp}");
            }
        }
        println!("seed {seed}: {} marks, {} CNPs, {} ACKs", h.received, h.cnps, h.acks_out);
        assert!(h.cnps > 30 && h.cnps <= h.received, "seed {seed}");
        assert_eq!(h.cnps == h.received, interval == 0, "seed {seed}");
        (cnps, acks, marks) = (cnps + h.cnps, acks + h.acks_out, marks + h.received);
    }
    assert!(cnps > 500 && acks > 5000 && marks > 5000, "{cnps} {acks} {marks}");
}

/// After a long silence a QP's old time hasn't come round: its next mark is answered, whenever that is.
#[test]
fn r76_old_times_are_forgotten() {
    let mut h = Harness::new(10, 200);
    h.cycle(Some(3));
    let mut answered = 1;
    for units in [480, 800, 1000, 1100, 1500] {
        h.rest(units * UNIT + 5);
        h.cycle(Some(3));
        answered += 1;
        h.rest(60);
        assert_eq!(h.cnps, answered, "after {units} units");
    }
    h.finish();
}

#[test]
fn r76_nothing_is_sent_where_it_is_off_but_marks_are_counted() {
    let mut h = Harness::new(11, 1);
    h.bench.uut.notify.next = false;
    h.marks(50, 4, 40);
    h.finish();
    assert_eq!((h.cnps, h.received), (0, 50));
}

/// ACKs always on offer, and always taken: a CNP has its turn behind the next; and CNPs leave ACKs every other turn.
#[test]
fn r76_cnps_and_acks_take_turns() {
    let mut h = Harness::new(12, 50);
    h.ack = 1.0;
    for qp in 0..8 {
        h.cycle(Some(qp));
        h.rest(14);
        assert_eq!(h.cnps, qp + 1);
    }
    // Transmit takes one in 20 cycles, and eight CNPs wait.
    h.take = 0.05;
    let (acks, cnps) = (h.acks_out, h.cnps);
    for qp in 8..16 {
        h.cycle(Some(qp));
        h.rest(APART - 1);
    }
    while h.cnps < cnps + 8 {
        h.rest(1);
    }
    let passed = h.acks_out - acks;
    assert!((6..=14).contains(&passed), "{passed} ACKs beside 8 CNPs");
    h.finish();
}

/// Where transmit takes nothing, CNPs that find no room are none, and their QPs may have one at the next mark.
#[test]
fn r76_without_room_the_next_mark_asks_again() {
    let mut h = Harness::new(13, 255);
    h.take = 0.0;
    for qp in 0..32 {
        h.cycle(Some(qp));
        h.rest(APART - 1);
    }
    // 16 in the FIFO, one in its output register.
    assert_eq!(h.want.len(), 32);
    h.want.truncate(17);
    h.last[17..].fill(None);
    h.take = 1.0;
    h.rest(100);
    assert_eq!(h.cnps, 17);
    for qp in [31, 17, 0] {
        h.cycle(Some(qp));
        h.rest(20);
    }
    assert_eq!(h.cnps, 19);
    h.finish();
}

#[test]
fn notification_point_diff() {
    let warnings = Diff::new("notification_point").cycles(4000).run(
        NotificationPoint::<3>::default(),
        drive!(
            clock,
            reset,
            notify,
            cnp_interval,
            tick,
            received,
            marked,
            marked_index,
            s_ack,
            s_ack_valid,
            m_ack_ready,
            event_ready
        ),
    );
    assert_eq!(warnings, "");
}
