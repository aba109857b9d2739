// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counter file: no event is lost, one in 4 cycles, carries across halves.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::host::Counters;
use verbena_spec::config::Config;
use verbena_tb::{ports, step::Bench};

/// The counter file of a preset, Verilated.
pub fn bench(config: &Config) -> Bench<Counters> {
    Bench::verilated(
        Box::new(Counters::new(config)),
        &format!("counters_{}", config.name),
        ports!(in reset, rx_valid, rx_code, responder_valid, responder_code, tx_valid, tx_code, extra_valid, extra_code, access_valid, access_write, access_row, access_data; out ready, rx_ready, responder_ready, tx_ready, extra_ready, access_done, half_data, half_strobe),
    )
}

struct File {
    bench: Bench<Counters>,
    /// Events waiting at each source.
    waiting: [Vec<u8>; 4],
    gap: [bool; 4],
    idle: bool,
    rng: ChaCha8Rng,
    taken: u64,
}

impl File {
    fn new(seed: u64, idle: bool) -> Self {
        println!("seed {seed} idle {idle}");
        let mut file = Self {
            bench: bench(&Config::preset("tengig").unwrap()),
            waiting: Default::default(),
            gap: [false; 4],
            idle,
            rng: ChaCha8Rng::seed_from_u64(seed),
            taken: 0,
        };
        file.bench.uut.reset.next = true;
        file.bench.step();
        file.bench.uut.reset.next = false;
        file.bench.settle();
        assert!(!file.bench.uut.ready.val());
        while !file.bench.uut.ready.val() {
            file.bench.step();
        }
        file
    }

    fn cycle(&mut self) {
        let uut = &mut self.bench.uut;
        let offered: Vec<Option<u8>> = (0..4)
            .map(|i| if self.gap[i] { None } else { self.waiting[i].last().copied() })
            .collect();
        let code = |i: usize| -> Bits<6> { (offered[i].unwrap_or(63) as u64).to_bits() };
        uut.rx_valid.next = offered[0].is_some();
        uut.rx_code.next = code(0);
        uut.responder_valid.next = offered[1].is_some();
        uut.responder_code.next = code(1);
        uut.tx_valid.next = offered[2].is_some();
        uut.tx_code.next = code(2);
        uut.extra_valid.next = offered[3].is_some();
        uut.extra_code.next = code(3);
        self.bench.settle();
        let uut = &self.bench.uut;
        let ready = [
            uut.rx_ready.val(),
            uut.responder_ready.val(),
            uut.tx_ready.val(),
            uut.extra_ready.val(),
        ];
        for i in 0..4 {
            if ready[i] && offered[i].is_some() {
                self.waiting[i].pop();
                self.taken += 1;
                self.gap[i] = self.idle && self.rng.gen_bool(0.7);
            } else if offered[i].is_none() {
                self.gap[i] = self.idle && self.rng.gen_bool(0.7);
            }
        }
        self.bench.edge();
    }

    fn drain(&mut self) {
        while self.waiting.iter().any(|w| !w.is_empty()) {
            self.cycle();
        }
        for _ in 0..8 {
            self.cycle();
        }
    }

    fn access(&mut self, write: bool, row: u8, data: u32) -> u32 {
        let mut read = 0u32;
        self.bench.uut.access_valid.next = true;
        self.bench.uut.access_write.next = write;
        self.bench.uut.access_row.next = (row as u64).to_bits();
        self.bench.uut.access_data.next = (data as u64).to_bits();
        let mut after = 0;
        while after < 2 {
            self.cycle_sampled(&mut read, &mut after);
        }
        read
    }

    fn cycle_sampled(&mut self, read: &mut u32, after: &mut u32) {
        self.bench.settle();
        let done = self.bench.uut.access_done.val();
        if self.bench.uut.half_strobe.val() {
            *read = *read >> 16 | (self.bench.uut.half_data.val().to_u64() as u32) << 16;
        }
        self.cycle();
        if done {
            self.bench.uut.access_valid.next = false;
        }
        if done || *after > 0 {
            *after += 1;
        }
    }
}

#[test]
fn every_event_is_counted() {
    for idle in [false, true] {
        let mut file = File::new(7, idle);
        let mut want = [0u32; 64];
        for _ in 0..2000 {
            let source = file.rng.gen_range(0..4);
            let code = if file.rng.gen_bool(0.3) { 5 } else { file.rng.gen_range(0..64u8) };
            file.waiting[source].push(code);
            want[code as usize] += 1;
        }
        // Reads in between disturb nothing.
        for _ in 0..100 {
            file.access(false, 5, 0);
        }
        file.drain();
        for code in 0..64 {
            assert_eq!(file.access(false, code, 0), want[code as usize], "counter {code}");
        }
    }
}

#[test]
fn one_event_in_four_cycles_from_any_source() {
    for sources in [vec![0], vec![3], vec![1, 2], vec![0, 1, 2, 3]] {
        let mut file = File::new(1, false);
        for source in &sources {
            file.waiting[*source] = vec![9; 1000];
        }
        for _ in 0..8 {
            file.cycle();
        }
        let start = file.taken;
        for _ in 0..400 {
            file.cycle();
        }
        assert_eq!(file.taken - start, 100, "sources {sources:?}");
        if sources.len() > 1 {
            let left: Vec<usize> = sources.iter().map(|s| file.waiting[*s].len()).collect();
            assert!(left.iter().max().unwrap() - left.iter().min().unwrap() <= 1, "not fair: {left:?}");
        }
    }
}

#[test]
fn counts_carry_and_wrap() {
    let mut file = File::new(2, false);
    for (before, after) in [(0x0000_ffff, 0x0001_0000), (0xffff_ffff, 0), (0x1234_fffe, 0x1234_ffff)] {
        file.access(true, 12, before);
        file.waiting[2].push(12);
        file.drain();
        assert_eq!(file.access(false, 12, 0), after);
    }
}
