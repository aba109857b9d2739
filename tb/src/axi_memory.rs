// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host memory behind AXI write channels: random ready, random latency, injected errors.

use crate::axi_monitor::{Aw, WriteMonitor, W};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::{HashMap, VecDeque};

/// How the memory behaves.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Probability that AW or W is ready in a cycle.
    pub ready: f64,
    /// Cycles from a burst's end to its B, at least and at most.
    pub latency: (u64, u64),
    /// Probability that a burst ends in SLVERR or DECERR.
    pub error: f64,
    /// No B at all while set.
    pub withhold: bool,
}

impl Habits {
    /// Always ready, B `latency` cycles after the last beat.
    pub fn fast(latency: u64) -> Self {
        Self {
            ready: 1.0,
            latency: (latency, latency),
            error: 0.0,
            withhold: false,
        }
    }
    /// Half the cycles stalled, B late.
    pub fn slow() -> Self {
        Self {
            ready: 0.5,
            latency: (0, 60),
            error: 0.0,
            withhold: false,
        }
    }
}

/// A burst as the memory got it.
#[derive(Debug, Clone, Copy)]
pub struct Burst {
    pub aw: Aw,
    pub error: bool,
}

/// The slave. Each cycle: [`WriteMemory::offer`] before settling, [`WriteMemory::take`] after it.
pub struct WriteMemory {
    pub habits: Habits,
    pub bytes: HashMap<u64, u8>,
    /// Accepted bursts, in AW order.
    pub log: Vec<Burst>,
    /// B responses given, by ID.
    pub answered: HashMap<u64, u64>,
    pub monitor: WriteMonitor,
    width: u64,
    rng: ChaCha8Rng,
    aw_ready: bool,
    w_ready: bool,
    addressed: VecDeque<(Aw, u64, bool)>,
    data: VecDeque<W>,
    responses: HashMap<u64, VecDeque<(u64, u64)>>,
    offered: Option<(u64, u64)>,
}

impl WriteMemory {
    pub fn new(width: u64, habits: Habits, rng: ChaCha8Rng) -> Self {
        Self {
            habits,
            bytes: HashMap::new(),
            log: vec![],
            answered: HashMap::new(),
            monitor: WriteMonitor::new(width),
            width,
            rng,
            aw_ready: false,
            w_ready: false,
            addressed: VecDeque::new(),
            data: VecDeque::new(),
            responses: HashMap::new(),
            offered: None,
        }
    }

    /// What the slave drives this cycle: AW ready, W ready, B as (id, response).
    pub fn offer(&mut self, cycle: u64) -> (bool, bool, Option<(u64, u64)>) {
        self.aw_ready = self.rng.gen_bool(self.habits.ready);
        self.w_ready = self.rng.gen_bool(self.habits.ready);
        self.offered = None;
        if !self.habits.withhold {
            let mut ids: Vec<u64> = self
                .responses
                .iter()
                .filter(|(_, q)| q.front().is_some_and(|(due, _)| *due <= cycle))
                .map(|(id, _)| *id)
                .collect();
            ids.sort();
            if !ids.is_empty() {
                let id = ids[self.rng.gen_range(0..ids.len())];
                self.offered = Some((id, self.responses[&id][0].1));
            }
        }
        (self.aw_ready, self.w_ready, self.offered)
    }

    /// What the master drove this cycle; its B ready is constantly high.
    pub fn take(&mut self, cycle: u64, aw: Option<Aw>, w: Option<W>) {
        self.monitor.see(cycle, aw, self.aw_ready, w, self.w_ready);
        if let Some((id, _)) = self.offered.take() {
            self.responses.get_mut(&id).unwrap().pop_front();
            *self.answered.entry(id).or_default() += 1;
        }
        if let Some(aw) = aw.filter(|_| self.aw_ready) {
            let error = self.rng.gen_bool(self.habits.error);
            self.log.push(Burst { aw, error });
            self.addressed.push_back((aw, aw.address & !(self.width - 1), error));
        }
        if let Some(w) = w.filter(|_| self.w_ready) {
            self.data.push_back(w);
        }
        while !self.addressed.is_empty() && !self.data.is_empty() {
            let w = self.data.pop_front().unwrap();
            let (aw, at, error) = self.addressed.front_mut().unwrap();
            for lane in 0..self.width {
                if w.strobe >> lane & 1 == 1 {
                    self.bytes.insert(*at + lane, (w.data >> (8 * lane)) as u8);
                }
            }
            *at += self.width;
            if w.last {
                let response = if *error { self.rng.gen_range(2..4) } else { 0 };
                let due = cycle + 1 + self.rng.gen_range(self.habits.latency.0..=self.habits.latency.1);
                self.responses.entry(aw.id).or_default().push_back((due, response));
                self.addressed.pop_front();
            }
        }
    }
}
