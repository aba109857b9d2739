// SPDX-License-Identifier: MIT OR Apache-2.0
//! `congestion::ReactionPoint` with a plain model of the scheduler: turns one at a time, tokens that rest and come back. Rates are the golden model's; when a token
//! comes back is this model's own sum.

use super::limiter::words;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use verbena_hdl::congestion::ReactionPoint;
use verbena_model::golden::congestion::{Congestion, Limiter as Golden};
use verbena_tb::diff::Diff;
use verbena_tb::step::Bench;
use verbena_tb::{drive, ports};

const QPS: usize = 8;
/// Clocks of 4.096 us at 156.25 MHz.
const TICK: u64 = 640;
/// Nothing is done so near to a limiter's timer, ns: the block's are whole microseconds.
const APART: u64 = 3000;
/// Latest wake behind its time, ns: other QPs' work, a visit round, and `wake_ready`.
const LATE: f64 = 5000.0;
/// A rest's work is done so long after it at the latest, ns.
const DELAY: f64 = 2500.0;

/// What the model knows of a QP.
#[derive(Clone, Default)]
struct Qp {
    golden: Golden,
    /// When its packet's time is over, ns: earliest, latest.
    free: Option<(f64, f64)>,
    /// It rests; since when, ns.
    resting: bool,
    rested: f64,
    packets: u64,
    bytes: u64,
    /// Since when its rate is as it is (the line's or not), cycle.
    changed: u64,
}

struct Harness {
    bench: Bench<ReactionPoint<3, 4, 17>>,
    rng: ChaCha8Rng,
    c: Congestion,
    qps: Vec<Qp>,
    /// Tokens in the queue.
    queue: VecDeque<usize>,
    /// The turn in hand: QP, payload if any, cycle of its end; a limited bit asked for.
    turn: Option<(usize, Option<u64>, u64)>,
    ended: Option<(usize, Option<u64>, u64)>,
    rests: u64,
    wakes: u64,
    no_room: u64,
    ready: f64,
}

impl Harness {
    fn new(seed: u64, c: Congestion) -> Self {
        println!("seed {seed}");
        let mut bench = Bench::verilated(
            Box::<ReactionPoint<3, 4, 17>>::default(),
            "reaction_point_3",
            ports!(in reset, rates, increases, times, rate_bytes, tick, noticed, noticed_index, state_valid, state_index, state, asked, ended, ended_packet, ended_payload, rest, rest_index, wake_ready; out ready, state_ready, limited, room, wake_valid, wake_index),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        bench.uut.tick.next = (TICK << 8).to_bits();
        let words = words(&c);
        bench.uut.rates.next = words[0].to_bits();
        bench.uut.increases.next = words[1].to_bits();
        bench.uut.times.next = words[2].to_bits();
        bench.uut.rate_bytes.next = words[3].to_bits();
        let mut h = Self {
            bench,
            rng: ChaCha8Rng::seed_from_u64(seed),
            c,
            qps: vec![Qp::default(); QPS],
            queue: VecDeque::new(),
            turn: None,
            ended: None,
            rests: 0,
            wakes: 0,
            no_room: 0,
            ready: 0.7,
        };
        while !h.bench.uut.ready.val() {
            h.cycle(None, None);
            assert!(h.bench.cycle < 40, "the walk doesn't end");
        }
        h
    }

    fn ns(&self) -> f64 {
        self.bench.cycle as f64 * 4096.0 / TICK as f64
    }

    /// Is a timer of the QP's limiter near?
    fn unsure(&mut self, qp: usize) -> bool {
        let now = self.ns() as u64;
        let qp = &mut self.qps[qp];
        qp.golden.advance(&self.c, now.saturating_sub(APART));
        qp.golden.deadline(u64::MAX).is_some_and(|at| at < now + APART)
    }

    /// One cycle; a CNP for that QP, a state of that QP.
    fn cycle(&mut self, cnp: Option<usize>, state: Option<(usize, u64)>) {
        let (cycle, ns) = (self.bench.cycle, self.ns());
        let uut = &mut self.bench.uut;
        uut.noticed.next = cnp.is_some();
        uut.noticed_index.next = (cnp.unwrap_or(7) as u64).to_bits();
        uut.state_valid.next = state.is_some();
        uut.state_index.next = (state.map_or(0, |s| s.0) as u64).to_bits();
        uut.state.next = state.map_or(0, |s| s.1).to_bits();
        uut.ended.next = false;
        uut.rest.next = false;
        let wake_ready = self.rng.gen_bool(self.ready);
        uut.wake_ready.next = wake_ready;
        // The end of a turn is an event of its own: which QP, three cycles later whether it rests.
        if let Some((qp, payload, _)) = self.turn.filter(|t| t.2 <= cycle && self.ended.is_none()) {
            uut.ended.next = true;
            uut.ended_packet.next = payload.is_some();
            uut.ended_payload.next = payload.unwrap_or(77).to_bits();
            self.ended = Some((qp, payload, cycle + 4));
            self.turn = None;
        }
        let mut rested = None;
        if let Some((qp, payload, at)) = self.ended {
            uut.asked.next = (qp as u64).to_bits();
            uut.rest_index.next = (qp as u64).to_bits();
            if at == cycle {
                let limited = uut.limited.val();
                uut.rest.next = limited;
                rested = Some((qp, payload, limited));
                self.ended = None;
            }
        }
        self.bench.settle();
        let uut = &self.bench.uut;
        let room = uut.room.val();
        self.no_room += u64::from(!room);
        if uut.wake_valid.val() && wake_ready {
            let qp = uut.wake_index.val().to_u64() as usize;
            assert!(self.qps[qp].resting, "cycle {cycle}: QP {qp} doesn't rest");
            if let Some((least, _)) = self.qps[qp].free {
                assert!(ns >= least - 70.0, "cycle {cycle}: QP {qp} woken at {ns}, not {least}");
            }
            self.qps[qp].resting = false;
            self.wakes += 1;
            self.queue.push_back(qp);
        }
        for (index, qp) in self.qps.iter().enumerate().filter(|(_, qp)| qp.resting) {
            let latest = qp.free.map_or(0.0, |f| f.1).max(qp.rested);
            assert!(
                ns < latest + LATE,
                "cycle {cycle}, {ns} ns: QP {index} still rests, since {:?}; {:?}",
                qp.free,
                qp.golden
            );
        }
        if let Some((qp, payload, limited)) = rested {
            let unsure = self.unsure(qp);
            let q = &mut self.qps[qp];
            let rate = q.golden.rate();
            if !unsure && cycle > q.changed + 400 {
                assert_eq!(
                    limited,
                    rate.is_some() || q.free.is_some_and(|f| ns < f.1 + LATE) && limited,
                    "cycle {cycle}: QP {qp}"
                );
            }
            if let Some(payload) = payload {
                q.packets += 1;
                q.bytes += payload;
                q.golden.sent(payload as usize, &self.c, ns as u64);
            }
            if limited {
                (q.resting, q.rested) = (true, ns);
                self.rests += 1;
                match (rate, payload) {
                    (Some(rate), Some(payload)) => {
                        let time = (payload + 82) as f64 * 8000.0 / f64::from(rate);
                        // A packet's time begins when the last one's was over, if that is less than 16 us ago when its work is done.
                        let (least, most) = q.free.unwrap_or((f64::MIN, f64::MIN));
                        let (first, last) = if least + 16_000.0 > ns + DELAY {
                            (least, most)
                        } else if most + 16_000.0 < ns {
                            (ns, ns + DELAY)
                        } else {
                            (least, most.max(ns + DELAY))
                        };
                        q.free = Some((first + time - 70.0, last + time + 70.0));
                    }
                    _ => q.changed = cycle,
                }
            } else {
                q.free = None;
                self.queue.push_back(qp);
            }
        }
        if room && self.turn.is_none() && self.rng.gen_bool(0.3) {
            if let Some(qp) = self.queue.pop_front() {
                if self.unsure(qp) || self.ended.is_some() {
                    self.queue.push_back(qp);
                } else {
                    let payload = self.rng.gen_bool(0.9).then(|| [0, 64, 1024, 4096][self.rng.gen_range(0..4)]);
                    self.turn = Some((qp, payload, cycle + self.rng.gen_range(20..60)));
                }
            }
        }
        if let Some(qp) = cnp {
            let now = ns as u64;
            let q = &mut self.qps[qp];
            q.golden.advance(&self.c, now);
            q.golden.slow(&self.c, now);
            q.changed = cycle;
        }
        if let Some((qp, state)) = state {
            if state < 3 {
                self.qps[qp].golden = Golden::default();
                self.qps[qp].free = None;
                self.qps[qp].changed = cycle;
            }
        }
        self.bench.edge();
    }
}

/// Random CNPs, turns and stalls: a slowed QP's token comes back when its packet's time at the golden model's rate is over; others' never leave.
#[test]
fn r76_a_slowed_qp_rests_for_its_packets_time() {
    for (seed, cnp, rate_time, ready) in [(1, 0.0005, 55, 1.0), (2, 0.003, 55, 0.5), (3, 0.0002, 20, 0.2)] {
        let c = Congestion {
            min_rate: 100,
            rate_time,
            rate_bytes: 64,
            ..Congestion::default()
        };
        let mut h = Harness::new(seed, c);
        h.ready = ready;
        for qp in 0..QPS {
            h.cycle(None, Some((qp, 2)));
            for _ in 0..20 {
                h.cycle(None, None);
            }
            h.cycle(None, Some((qp, 3)));
            for _ in 0..20 {
                h.cycle(None, None);
            }
            h.queue.push_back(qp);
        }
        let mut cnps = 0;
        for _ in 0..120_000 {
            let mut notice = None;
            if h.rng.gen_bool(cnp) {
                let qp = h.rng.gen_range(0..QPS / 2);
                // A QP that comes back to the line's rate and is slowed again at once: the model can't know what it has forgotten.
                let q = &h.qps[qp];
                let plain = q.golden.rate().is_some() || q.free.is_none_or(|f| f.1 + 40_000.0 < h.ns());
                notice = (plain && !h.unsure(qp) && h.turn.is_none_or(|t| t.0 != qp) && h.ended.is_none_or(|t| t.0 != qp)).then_some(qp);
            }
            cnps += u64::from(notice.is_some());
            h.cycle(notice, None);
        }
        println!(
            "{cnps} CNPs, {} rests, {} wakes, {:?}",
            h.rests,
            h.wakes,
            h.qps.iter().map(|q| q.packets).collect::<Vec<_>>()
        );
        assert!(cnps > 10 && h.rests > 20 && h.wakes + QPS as u64 >= h.rests);
        let slow: u64 = h.qps[..QPS / 2].iter().map(|q| q.packets).max().unwrap();
        let fast: u64 = h.qps[QPS / 2..].iter().map(|q| q.packets).min().unwrap();
        assert!(fast > slow, "{fast} {slow}");
    }
}

/// More rests than are done with: turns wait, and no token is lost.
#[test]
fn r76_turns_wait_for_room() {
    let c = Congestion {
        min_rate: 9900,
        rate_time: 1000,
        ..Congestion::default()
    };
    let mut h = Harness::new(9, c);
    for qp in 0..QPS {
        h.cycle(Some(qp), None);
        for _ in 0..30 {
            h.cycle(None, None);
        }
        h.queue.push_back(qp);
    }
    let mut rests = 0;
    let mut waits = 0;
    // Rests come by themselves, each 12 cycles.
    for cycle in 0..3000u64 {
        let uut = &mut h.bench.uut;
        uut.noticed.next = false;
        uut.wake_ready.next = true;
        uut.ended.next = true;
        uut.ended_packet.next = true;
        uut.ended_payload.next = 64u64.to_bits();
        uut.rest.next = cycle % 12 == 0 && uut.room.val();
        uut.rest_index.next = (cycle / 12 % 8).to_bits();
        rests += u64::from(uut.rest.next);
        waits += u64::from(!uut.room.val());
        h.bench.step();
    }
    assert!(waits > 100 && rests > 50, "{waits} {rests}");
    for _ in 0..3000 {
        h.bench.uut.rest.next = false;
        h.bench.step();
    }
    assert!(h.bench.uut.room.val());
}

#[test]
fn reaction_point_diff() {
    let warnings = Diff::new("reaction_point").cycles(8000).run(
        ReactionPoint::<3, 4, 17>::default(),
        drive!(
            clock,
            reset,
            rates,
            increases,
            times,
            rate_bytes,
            tick,
            noticed,
            noticed_index,
            state_valid,
            state_index,
            state,
            asked,
            ended,
            ended_packet,
            ended_payload,
            rest,
            rest_index,
            wake_ready
        ),
    );
    assert_eq!(warnings, "");
}
