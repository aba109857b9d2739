// SPDX-License-Identifier: MIT OR Apache-2.0
//! `AsyncFifo` at many ratios and phases of its two clocks.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_hdl::stream::AsyncFifo;
use verbena_tb::pins::Pins;

fn fifo() -> Pins {
    Pins::with_clocks(Box::<AsyncFifo<36>>::default(), "async_fifo", &["write_clock"])
}

/// Words that came out, and overruns; `bursts`: words to write, then write cycles of silence. Times in units of 1/1000 of a read cycle.
fn run(pins: &mut Pins, write_period: u64, phase: u64, bursts: &[(u64, u64)]) -> (Vec<u64>, usize) {
    let (mut read_at, mut rise, mut word) = (0, phase, 0);
    let mut plan: Vec<Option<u64>> = vec![];
    for (words, silence) in bursts {
        for _ in 0..*words {
            plan.push(Some(word | 1 << 35));
            word += 1;
        }
        plan.extend((0..*silence).map(|_| None));
    }
    plan.extend([None; 12]);
    let (mut came, mut overruns) = (vec![], 0);
    let mut plan = plan.into_iter();
    let mut next = plan.next();
    while let Some(step) = next {
        if read_at <= rise {
            pins.tick();
            if pins.get("m_valid") == 1 {
                came.push(pins.get("m_data") & !(1 << 35));
            }
            overruns += pins.get("overrun") as usize;
            read_at += 1000;
        } else {
            pins.set("s_valid", u64::from(step.is_some()));
            pins.set("s_data", step.unwrap_or(0xdead));
            pins.settle();
            pins.set("write_clock", 1);
            pins.settle();
            pins.set("write_clock", 0);
            pins.settle();
            rise += write_period;
            next = plan.next();
        }
    }
    (came, overruns)
}

#[test]
fn every_word_comes_once_and_in_order() {
    let mut pins = fifo();
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for write_period in [750, 751, 800, 999, 1000, 1001, 1300, 2000, 3333, 10_007] {
        for _ in 0..20 {
            let bursts: Vec<(u64, u64)> = (0..6).map(|_| (rng.gen_range(0..40), rng.gen_range(0..12))).collect();
            // A reader that is slower catches up in the silence only, and not within a burst.
            if write_period < 1000 {
                let (came, overruns) = run(&mut pins, write_period, rng.gen_range(1..1000), &[(3, 12), (2, 12)]);
                assert_eq!((came, overruns), ((0..5).collect(), 0), "write cycle {write_period}");
                continue;
            }
            let words: u64 = bursts.iter().map(|b| b.0).sum();
            let (came, overruns) = run(&mut pins, write_period, rng.gen_range(1..1000), &bursts);
            assert_eq!(
                (came, overruns),
                ((0..words).collect(), 0),
                "write cycle {write_period}, {bursts:?}"
            );
        }
    }
}

#[test]
fn a_writer_that_is_too_fast_is_told_and_it_goes_on_afterwards() {
    let mut pins = fifo();
    for write_period in [100, 250, 400, 500] {
        let (came, overruns) = run(&mut pins, write_period, 7, &[(200, 100)]);
        assert!(overruns > 0, "write cycle {write_period}: {} of 200 came", came.len());
        let (came, overruns) = run(&mut pins, 1500, 7, &[(50, 10)]);
        assert_eq!((came, overruns), ((0..50).collect(), 0));
    }
}
