// SPDX-License-Identifier: MIT OR Apache-2.0
//! `congestion::Limiter` against the golden model's limiter, rate by rate.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::congestion::{Limiter, LimiterWork};
use verbena_model::golden::congestion::{Congestion, Limiter as Golden};
use verbena_spec::layout::congestion as f;
use verbena_tb::diff::Diff;
use verbena_tb::drive;
use verbena_tb::step::Bench;

/// Words 1 to 4 of the congestion row.
pub fn words(c: &Congestion) -> [u32; 4] {
    let mut row = [0; 5];
    for (field, value) in [
        (f::MIN_RATE, c.min_rate.into()),
        (f::LINE_RATE, c.line_rate.into()),
        (f::ADDITIVE, c.additive.into()),
        (f::HYPER, c.hyper.into()),
        (f::ALPHA_TIME, c.alpha_time.into()),
        (f::RATE_TIME, c.rate_time.into()),
        (f::FAST_STEPS, c.fast_steps.into()),
        (f::GAIN_SHIFT, c.gain_shift.into()),
        (f::RATE_BYTES, c.rate_bytes),
    ] {
        field.set(&mut row, value);
    }
    [row[1], row[2], row[3], row[4]]
}

struct Harness {
    bench: Bench<Limiter>,
    row: Bits<144>,
    wake: bool,
    cycles: u64,
}

impl Harness {
    fn new(c: &Congestion) -> Self {
        let mut bench = Bench::new(Box::<Limiter>::default(), |u| &mut u.clock);
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        let words = words(c);
        bench.uut.rates.next = words[0].to_bits();
        bench.uut.increases.next = words[1].to_bits();
        bench.uut.times.next = words[2].to_bits();
        bench.uut.rate_bytes.next = words[3].to_bits();
        bench.uut.can_wake.next = true;
        bench.step();
        bench.step();
        Self {
            bench,
            row: 0.into(),
            wake: false,
            cycles: 0,
        }
    }

    /// One piece of work, at a time in sixteenths of a microsecond.
    fn run(&mut self, work: LimiterWork, now: u64, packet_bytes: u64) {
        let uut = &mut self.bench.uut;
        uut.start.next = true;
        uut.work.next = work;
        uut.row.next = self.row;
        uut.now.next = (now & 0x1f_ffff).to_bits();
        uut.packet_bytes.next = packet_bytes.to_bits();
        self.bench.step();
        self.bench.uut.start.next = false;
        for cycle in 1..100 {
            self.bench.settle();
            let uut = &self.bench.uut;
            if uut.done.val() {
                (self.row, self.wake, self.cycles) = (uut.new_row.val(), uut.wake.val(), cycle);
                self.bench.edge();
                return;
            }
            self.bench.edge();
        }
        panic!("{work:?} isn't done");
    }

    fn bits(&self, low: usize, count: usize) -> u64 {
        (0..count).map(|i| u64::from(self.row.get_bit(low + i)) << i).sum()
    }

    /// Mb/s.
    fn rate(&self) -> Option<u32> {
        (self.bits(1, 1) == 1).then(|| self.bits(5, 16) as u32)
    }
}

/// Random CNPs, packets and times: the rate is the golden model's after each. CNPs and looks at whole microseconds, as the row's times are.
#[test]
fn r76_rates_are_the_golden_models() {
    let mut limits = 0;
    for seed in 0..12 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let c = Congestion {
            min_rate: if seed % 4 == 3 { 0 } else { rng.gen_range(1..200) },
            line_rate: if seed == 0 { 10_000 } else { rng.gen_range(1000..=65_535) },
            additive: rng.gen_range(0..500),
            hyper: rng.gen_range(0..3000),
            alpha_time: rng.gen_range(0..100),
            rate_time: rng.gen_range(0..100),
            fast_steps: rng.gen_range(0..8),
            gain_shift: if seed == 0 { 8 } else { rng.gen_range(0..16) },
            rate_bytes: rng.gen_range(0..8),
            ..Congestion::default()
        };
        println!("seed {seed}: {c:?}");
        let mut h = Harness::new(&c);
        let mut golden = Golden::default();
        let mut us = rng.gen_range(0..1u64 << 17);
        let often = [0.02, 0.1, 0.4][seed as usize % 3];
        for step in 0..400 {
            us += rng.gen_range(0..12);
            let (now, ns) = (16 * us, 1000 * us);
            // As the list's visits, until nothing is due.
            golden.advance(&c, ns);
            while h.rate().is_some() {
                let before = h.row;
                h.run(LimiterWork::Visit, now, 0);
                if h.row == before {
                    break;
                }
            }
            assert_eq!(h.rate(), golden.rate(), "seed {seed} step {step}: time");
            if rng.gen_bool(often) {
                golden.slow(&c, ns);
                h.run(LimiterWork::Notice, now, 0);
                assert_eq!(h.rate(), golden.rate(), "seed {seed} step {step}: CNP");
                assert_eq!(h.cycles, 23);
            } else if rng.gen_bool(0.7) {
                let payload = rng.gen_range(0..=4096);
                golden.sent(payload, &c, ns);
                h.run(LimiterWork::Rest, now, payload as u64 + 82);
                assert_eq!(h.rate(), golden.rate(), "seed {seed} step {step}: packet");
                assert_eq!(h.bits(2, 1), 1);
                assert!(h.cycles <= 64, "{}", h.cycles);
            }
            limits += u32::from(h.rate().is_some());
        }
        if seed == 0 {
            assert!(limits > 60, "{limits}");
        }
    }
    assert!(limits > 1200, "{limits}");
}

/// A packet of `n` bytes at `r` Mb/s takes 8 n / r us, from when the one before was over, or from now if that is long ago.
#[test]
fn r76_a_packets_time_is_its_bytes_by_the_rate() {
    let c = Congestion::default();
    let mut h = Harness::new(&c);
    h.run(LimiterWork::Notice, 1600, 0);
    assert_eq!(h.rate(), Some(5000));
    // 1250 bytes at 5 Gb/s: 2 us.
    h.run(LimiterWork::Rest, 1600, 1250);
    assert_eq!(h.bits(120, 24), 8 * 1600 + 256);
    h.run(LimiterWork::Visit, 1631, 0);
    assert!(!h.wake && h.bits(2, 1) == 1);
    h.run(LimiterWork::Visit, 1632, 0);
    assert!(h.wake && h.bits(2, 1) == 0);
    // 15 us late, which isn't lost; then 17 us.
    h.run(LimiterWork::Rest, 1632 + 15 * 16, 1250);
    assert_eq!(h.bits(120, 24), 8 * 1632 + 256);
    let late = 1632 + 32 + 17 * 16;
    h.run(LimiterWork::Rest, late, 1250);
    assert_eq!(h.bits(120, 24), 8 * late + 256);
    // A turn without a packet takes no time; nor does one of a QP that isn't slowed.
    let row = h.row;
    h.run(LimiterWork::Rest, late + 1, 0);
    assert_eq!(h.row, row);
    h.run(LimiterWork::Forget, late + 1, 0);
    assert_eq!((h.rate(), h.bits(2, 1), h.bits(0, 1)), (None, 1, 1));
    h.run(LimiterWork::Visit, late + 2, 0);
    assert!(h.wake && h.bits(0, 3) == 0);
    // What comes in RTR is over in RTS, but not what comes in RTS.
    for (notice_first, rate) in [(true, None), (false, Some(5000))] {
        h.run(LimiterWork::Forget, late, 0);
        if notice_first {
            h.run(LimiterWork::Notice, late, 0);
        }
        h.run(LimiterWork::Live, late, 0);
        if !notice_first {
            h.run(LimiterWork::Notice, late, 0);
        }
        h.run(LimiterWork::Live, late, 0);
        assert_eq!(h.rate(), rate);
    }
}

#[test]
fn limiter_diff() {
    let warnings = Diff::new("limiter").cycles(6000).run(
        Limiter::default(),
        drive!(
            clock,
            reset,
            now,
            rates,
            increases,
            times,
            rate_bytes,
            start,
            work: |w| match w.take::<Bits<3>>().to_u64() {
                0 => LimiterWork::Forget,
                1 => LimiterWork::Live,
                2 => LimiterWork::Notice,
                3 => LimiterWork::Rest,
                _ => LimiterWork::Visit,
            },
            row,
            packet_bytes,
            can_wake
        ),
    );
    assert_eq!(warnings, "");
}
