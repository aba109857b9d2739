// SPDX-License-Identifier: MIT OR Apache-2.0
//! A memory behind `CompletionQueues`, and its sources.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use verbena_hdl::host::{CompletionJob, CompletionQueues, EventJob};
use verbena_spec::config::PRESETS;
use verbena_spec::layout;
use verbena_spec::registers::doorbell;
use verbena_tb::{ports, step::Bench};

/// A write on its way.
struct Burst {
    address: u64,
    words: Vec<u32>,
    beats: usize,
}

/// What has happened, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happened {
    /// A write's last beat was taken.
    Written(u64),
    /// A write's B was given: bytes are in memory from here on.
    Landed(u64),
    /// A counter event.
    Counted(u8),
}

pub struct Queues<const W: usize, const K: usize, const QA: usize, const RA: usize, const D: usize, const T: usize> {
    pub bench: Bench<CompletionQueues<W, K, QA, RA, D, T>>,
    pub completions: VecDeque<CompletionJob>,
    pub notices: VecDeque<EventJob>,
    pub memory: HashMap<u64, u32>,
    pub happened: Vec<Happened>,
    /// Completions taken and the cycles at which they were.
    pub taken: Vec<u64>,
    /// Cycles from the last beat to B.
    pub latency: u64,
    /// An error is answered to a write of this address.
    pub fail_at: Option<u64>,
    bursts: VecDeque<Burst>,
    answers: VecDeque<(u64, Burst)>,
    stall: bool,
    idle: bool,
    offering: [bool; 2],
    pub rng: ChaCha8Rng,
}

/// Upper bits of every ring's address; an engine with few address bits doesn't see them.
const HIGH: u64 = 0xabcd_1234_5670_0000;

pub const EQ_BASE: u64 = HIGH + 0xf_5000;

pub fn cq_base(cq: u32) -> u64 {
    HIGH + (cq as u64 % 15) * 0x1_0000
}

impl<const W: usize, const K: usize, const QA: usize, const RA: usize, const D: usize, const T: usize> Queues<W, K, QA, RA, D, T> {
    pub fn new(seed: u64, idle: bool, stall: bool) -> Self {
        println!("W {W} QA {QA} seed {seed} idle {idle} stall {stall}");
        let config = PRESETS.iter().find(|c| c.data_bits == W).unwrap();
        let mut queues = Self {
            bench: Bench::verilated(
                Box::new(CompletionQueues::new(config)),
                &format!("queues_{}", config.name),
                ports!(in reset, completion, completion_valid, event_job, event_job_valid, table_valid, table_address, table_data, doorbell_valid, doorbell_index, doorbell_kind, doorbell_value, eq_base, eq_control, eq_consumer, eq_restart, aw_ready, w_ready, b_valid, b_error, event_ready; out ready, completion_ready, event_job_ready, table_ready, doorbell_ready, eq_restart_ready, eq_producer, irq_pending, aw_address, aw_length, aw_valid, w_data, w_strobe, w_last, w_valid, event_valid, event_code),
            ),
            completions: Default::default(),
            notices: Default::default(),
            memory: Default::default(),
            happened: vec![],
            taken: vec![],
            latency: 20,
            fail_at: None,
            bursts: Default::default(),
            answers: Default::default(),
            stall,
            idle,
            offering: [false; 2],
            rng: ChaCha8Rng::seed_from_u64(seed),
        };
        queues.bench.uut.reset.next = true;
        queues.cycle();
        queues.bench.uut.reset.next = false;
        queues.bench.settle();
        assert!(!queues.bench.uut.ready.val());
        while !queues.bench.uut.ready.val() {
            queues.cycle();
        }
        queues
    }

    fn ready(&mut self) -> bool {
        !self.stall || self.rng.gen_bool(0.4)
    }

    pub fn cycle(&mut self) {
        for (offering, waiting) in self
            .offering
            .iter_mut()
            .zip([!self.completions.is_empty(), !self.notices.is_empty()])
        {
            *offering = waiting && (*offering || !self.idle || self.rng.gen_bool(0.1));
        }
        let (aw_ready, w_ready, event_ready) = (self.ready(), self.ready(), self.ready());
        let answer = self.answers.front().is_some_and(|(due, _)| *due <= self.bench.cycle) && self.ready();
        let error = answer && self.fail_at == Some(self.answers[0].1.address);
        let uut = &mut self.bench.uut;
        uut.completion.next = if self.offering[0] {
            self.completions[0]
        } else {
            Default::default()
        };
        uut.completion_valid.next = self.offering[0];
        uut.event_job.next = if self.offering[1] { self.notices[0] } else { Default::default() };
        uut.event_job_valid.next = self.offering[1];
        uut.aw_ready.next = aw_ready;
        uut.w_ready.next = w_ready;
        uut.event_ready.next = event_ready;
        uut.b_valid.next = answer;
        uut.b_error.next = error;
        self.bench.settle();
        let uut = &self.bench.uut;
        if uut.completion_ready.val() {
            assert!(self.offering[0], "a completion taken that wasn't offered");
            self.completions.pop_front();
            self.taken.push(self.bench.cycle);
            self.offering[0] = false;
        }
        if uut.event_job_ready.val() {
            assert!(self.offering[1], "an event taken that wasn't offered");
            self.notices.pop_front();
            self.offering[1] = false;
        }
        if uut.event_valid.val() && event_ready {
            self.happened.push(Happened::Counted(uut.event_code.val().to_u64() as u8));
        }
        if answer {
            let (_, burst) = self.answers.pop_front().unwrap();
            if !error {
                for (index, word) in burst.words.iter().enumerate() {
                    self.memory.insert(burst.address + 4 * index as u64, *word);
                }
            }
            self.happened.push(Happened::Landed(burst.address));
        }
        // W may run ahead of its AW; beats belong to bursts in order.
        if uut.w_valid.val() && w_ready {
            assert_eq!(uut.w_strobe.val().to_u64(), (1 << K) - 1);
            let open = self.bursts.iter_mut().find(|b| b.words.len() < 4 * 8 && b.beats != usize::MAX);
            let burst = match open {
                Some(burst) => burst,
                None => {
                    self.bursts.push_back(Burst {
                        address: u64::MAX,
                        words: vec![],
                        beats: 0,
                    });
                    self.bursts.back_mut().unwrap()
                }
            };
            for lane in 0..W / 32 {
                burst.words.push(uut.w_data.val().get_bits::<32>(32 * lane).to_u64() as u32);
            }
            if uut.w_last.val() {
                burst.beats = usize::MAX;
            }
        }
        if uut.aw_valid.val() && aw_ready {
            let mut address = uut.aw_address.val().to_u64();
            if W == 32 {
                assert_eq!(address >> 20, 0, "an address beyond the preset's");
                address += HIGH;
            }
            let bytes = (uut.aw_length.val().to_u64() + 1) * K as u64;
            assert!(bytes == 32 || bytes == 16, "a burst of {bytes} bytes");
            assert_eq!(address % bytes, 0, "a burst off its alignment");
            match self.bursts.iter_mut().find(|b| b.address == u64::MAX) {
                Some(burst) => burst.address = address,
                None => self.bursts.push_back(Burst {
                    address,
                    words: vec![],
                    beats: 0,
                }),
            }
        }
        while self.bursts.front().is_some_and(|b| b.address != u64::MAX && b.beats == usize::MAX) {
            let burst = self.bursts.pop_front().unwrap();
            assert_eq!(
                burst.words.len(),
                if burst.address >= EQ_BASE & !0xfff { 4 } else { 8 },
                "words of a burst"
            );
            self.happened.push(Happened::Written(burst.address));
            self.answers.push_back((self.bench.cycle + 1 + self.latency, burst));
        }
        self.bench.edge();
    }

    /// Until nothing is offered and nothing is on its way.
    pub fn drain(&mut self) {
        let mut quiet = 0;
        for _ in 0..200_000 {
            self.cycle();
            let busy = !self.completions.is_empty() || !self.notices.is_empty() || !self.answers.is_empty() || !self.bursts.is_empty();
            quiet = if busy { 0 } else { quiet + 1 };
            if quiet > 40 {
                return;
            }
        }
        panic!("cycle {}: no end", self.bench.cycle);
    }

    pub fn table(&mut self, address: u32, data: u32) {
        self.bench.uut.table_valid.next = true;
        self.bench.uut.table_address.next = (address as u64).to_bits();
        self.bench.uut.table_data.next = (data as u64).to_bits();
        self.until(|uut| uut.table_ready.val());
        self.bench.uut.table_valid.next = false;
    }

    /// Cycles until `accepted` has held at an edge.
    fn until(&mut self, accepted: fn(&CompletionQueues<W, K, QA, RA, D, T>) -> bool) {
        for _ in 0..20_000 {
            self.bench.settle();
            let over = accepted(&self.bench.uut);
            self.cycle();
            if over {
                return;
            }
        }
        panic!("cycle {}: not accepted", self.bench.cycle);
    }

    pub fn open_cq(&mut self, cq: u32, log: u32) {
        let base = cq_base(cq);
        self.table(4 * cq + 1, base as u32);
        self.table(4 * cq + 2, (base >> 32) as u32);
        self.table(4 * cq, 1 << 31 | log);
    }

    pub fn open_eq(&mut self, log: u32) {
        self.bench.uut.eq_restart.next = true;
        self.until(|uut| uut.eq_restart_ready.val());
        self.bench.uut.eq_restart.next = false;
        self.bench.uut.eq_base.next = EQ_BASE.to_bits();
        self.bench.uut.eq_control.next = (1u64 << 31 | log as u64).to_bits();
        self.bench.uut.eq_consumer.next = 0.into();
    }

    pub fn ring(&mut self, cq: u32, slot: u32, value: u32) {
        self.bench.uut.doorbell_valid.next = true;
        self.bench.uut.doorbell_index.next = (cq as u64).to_bits();
        self.bench.uut.doorbell_kind.next = (slot as u64 - doorbell::CQ_CONSUMER as u64).to_bits();
        self.bench.uut.doorbell_value.next = (value as u64 & 0xffff).to_bits();
        self.until(|uut| uut.doorbell_ready.val());
        self.bench.uut.doorbell_valid.next = false;
    }

    pub fn consume(&mut self, cq: u32, consumer: u32) {
        self.ring(cq, doorbell::CQ_CONSUMER, consumer);
    }

    pub fn arm(&mut self, cq: u32, value: u32) {
        self.ring(cq, doorbell::CQ_ARM, value);
    }

    /// Queues a completion with random words; returns the words as they must stand in memory but for the phase.
    pub fn complete(&mut self, cq: u32, solicited: bool) -> [u32; 5] {
        let mut words: [u32; 5] = self.rng.gen();
        let bits = |n: u32| -> Bits<32> { (n as u64).to_bits() };
        self.completions.push_back(CompletionJob {
            cq: (cq as u64).to_bits(),
            solicited,
            word0: bits(words[0]),
            word1: bits(words[1]),
            word2: bits(words[2]),
            word3: bits(words[3]),
            word4: bits(words[4]),
        });
        if W == 32 {
            words[2] &= 0x1f_ffff; // a length, of 20 address bits
            words[4] = 0; // without UD
        }
        words
    }

    pub fn notice(&mut self, event_type: u32, number: u32, detail: u32) {
        self.notices.push_back(EventJob {
            event_type: (event_type as u64).to_bits(),
            number: (number as u64).to_bits(),
            detail: (detail as u64).to_bits(),
        });
    }

    /// The CQE at a free-running index, if its phase says that it is there.
    pub fn cqe(&self, cq: u32, log: u32, index: u32) -> Option<[u32; 8]> {
        let address = cq_base(cq) + 32 * (index as u64 & ((1 << log) - 1));
        let row: [u32; 8] = std::array::from_fn(|word| *self.memory.get(&(address + 4 * word as u64)).unwrap_or(&0));
        (layout::cqe::PHASE.get(&row) == !(index >> log) & 1).then_some(row)
    }

    /// The event at a free-running index, if its phase says that it is there: type, number, detail.
    pub fn event(&self, log: u32, index: u32) -> Option<(u32, u32, u32)> {
        let address = EQ_BASE + 16 * (index as u64 & ((1 << log) - 1));
        let row: [u32; 4] = std::array::from_fn(|word| *self.memory.get(&(address + 4 * word as u64)).unwrap_or(&0));
        assert_eq!(row[2], 0);
        (layout::event::PHASE.get(&row) == !(index >> log) & 1).then(|| {
            (
                layout::event::TYPE.get(&row),
                layout::event::NUMBER.get(&row),
                layout::event::DETAIL.get(&row),
            )
        })
    }

    /// All events since a fresh event queue that hasn't wrapped.
    pub fn events(&self, log: u32) -> Vec<(u32, u32, u32)> {
        (0..1 << log).map_while(|index| self.event(log, index)).collect()
    }

    pub fn counted(&self, code: u8) -> usize {
        self.happened.iter().filter(|h| **h == Happened::Counted(code)).count()
    }

    pub fn eq_producer(&self) -> u32 {
        self.bench.uut.eq_producer.val().to_u64() as u32
    }

    pub fn irq(&self) -> bool {
        self.bench.uut.irq_pending.val()
    }

    pub fn consume_events(&mut self, consumer: u32) {
        self.bench.uut.eq_consumer.next = (consumer as u64 & 0xffff).to_bits();
        self.cycle();
        self.cycle();
    }
}
