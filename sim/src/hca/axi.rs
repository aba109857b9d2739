// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory's side of the AXI4 master: latency, random readies, errors on request, protocol checks.
//!
//! Writes take effect when their B response is given, reads when their data is: what relies on an order that AXI doesn't give is seen.

use super::memory::HostMemory;
use super::pins::{Address, Axi, Response, Stable, Violations};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::ops::Range;

/// Response codes.
pub const SLVERR: u8 = 2;
pub const DECERR: u8 = 3;
const INCR: u8 = 1;

/// How the memory behaves.
#[derive(Debug, Clone)]
pub struct AxiTiming {
    /// Cycles from the last W beat (or AW, if later) to B, and from AR to the first R beat.
    pub latency: u64,
    /// Up to that many more, at random for each burst.
    pub jitter: u64,
    /// Chance that a ready is low, or that a response waits, in a cycle.
    pub stall: f64,
}

impl Default for AxiTiming {
    fn default() -> Self {
        AxiTiming {
            latency: 100,
            jitter: 0,
            stall: 0.0,
        }
    }
}

/// An error on request.
#[derive(Debug, Clone)]
pub struct Fault {
    pub addresses: Range<u64>,
    pub writes: bool,
    pub reads: bool,
    pub response: u8,
    /// Bursts that still fail.
    pub left: u64,
}

/// A write burst that is over, for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteRecord {
    pub id: u8,
    pub address: u64,
    /// Cycle in which AW, the last W beat and B were taken.
    pub aw_cycle: u64,
    pub last_cycle: u64,
    pub b_cycle: u64,
}

/// A read burst that is over, for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadRecord {
    pub id: u8,
    pub address: u64,
    /// Cycle in which AR, the first and the last R beat were taken.
    pub ar_cycle: u64,
    pub first_cycle: u64,
    pub last_cycle: u64,
}

struct Burst {
    head: Address,
    accepted: u64,
    last_data: u64,
    due: u64,
    beats: Vec<(u64, u8)>,
    done: bool,
}

/// Counts over a run.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct AxiStatistics {
    pub write_bursts: u64,
    pub write_beats: u64,
    pub read_bursts: u64,
    pub read_beats: u64,
    pub most_writes_outstanding: usize,
    pub most_reads_outstanding: usize,
    /// Bursts to addresses that nobody allocated.
    pub wild: u64,
}

/// What the master offers on AW, W and AR.
#[derive(Default)]
struct Watch {
    aw: Stable<Address>,
    w: Stable<(u64, u8, bool)>,
    ar: Stable<Address>,
}

pub struct AxiMemory {
    pub memory: HostMemory,
    pub timing: AxiTiming,
    pub faults: Vec<Fault>,
    /// Bursts to unallocated addresses are violations (and get DECERR either way).
    pub wild_is_violation: bool,
    /// Keep a [`WriteRecord`] for each write and a [`ReadRecord`] for each read.
    pub record: bool,
    pub records: Vec<WriteRecord>,
    pub read_records: Vec<ReadRecord>,
    pub statistics: AxiStatistics,
    bytes: usize,
    writes: VecDeque<Burst>,
    early_data: VecDeque<(u64, u8, bool, u64)>,
    reads: VecDeque<Burst>,
    reading: Option<usize>,
    read_beat: usize,
    /// Cycle of the burst's first beat.
    read_first: u64,
    read_response: u8,
    rng: ChaCha8Rng,
    watch: Watch,
}

/// W beats taken ahead of their AW before `wready` falls.
const EARLY_BEATS: usize = 16;
/// Bursts that may wait in each direction.
const MOST_BURSTS: usize = 64;

impl AxiMemory {
    /// A memory with `data_bits` wide data.
    pub fn new(data_bits: usize, timing: AxiTiming, seed: u64) -> AxiMemory {
        AxiMemory::with(HostMemory::new(seed), data_bits, timing, seed)
    }

    /// The same before a given memory.
    pub fn with(memory: HostMemory, data_bits: usize, timing: AxiTiming, seed: u64) -> AxiMemory {
        AxiMemory {
            memory,
            timing,
            faults: Vec::new(),
            wild_is_violation: true,
            record: false,
            records: Vec::new(),
            read_records: Vec::new(),
            statistics: AxiStatistics::default(),
            bytes: data_bits / 8,
            writes: VecDeque::new(),
            early_data: VecDeque::new(),
            reads: VecDeque::new(),
            reading: None,
            read_beat: 0,
            read_first: 0,
            read_response: 0,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0xa5a5),
            watch: Watch::default(),
        }
    }

    /// True while a burst is open.
    pub fn busy(&self) -> bool {
        !self.writes.is_empty() || !self.reads.is_empty() || !self.early_data.is_empty()
    }

    /// Forgets open bursts: the engine was reset in the middle of them.
    pub fn forget(&mut self) {
        self.writes.clear();
        self.early_data.clear();
        self.reads.clear();
        self.reading = None;
        self.watch = Watch::default();
    }

    fn stalls(&mut self) -> bool {
        self.timing.stall > 0.0 && self.rng.gen_bool(self.timing.stall)
    }

    fn due(&mut self, cycle: u64) -> u64 {
        let jitter = if self.timing.jitter == 0 {
            0
        } else {
            self.rng.gen_range(0..=self.timing.jitter)
        };
        cycle + self.timing.latency + jitter
    }

    /// Sets what the memory drives in this cycle.
    pub fn drive(&mut self, axi: &mut Axi, cycle: u64) {
        axi.aw.ready = self.writes.len() < MOST_BURSTS && !self.stalls();
        axi.ar.ready = self.reads.len() < MOST_BURSTS && !self.stalls();
        axi.w.ready = self.early_data.len() < EARLY_BEATS && !self.stalls();
        if !axi.b.valid {
            self.offer_b(axi, cycle);
        }
        if !axi.r.valid {
            self.offer_r(axi, cycle);
        }
    }

    /// The oldest due burst of some ID: responses of different IDs may pass one another.
    fn pick(&mut self, write: bool, cycle: u64) -> Option<usize> {
        let queue = if write { &self.writes } else { &self.reads };
        let mut seen = 0u8;
        let mut candidates = [0; 8];
        let mut count = 0;
        for (i, burst) in queue.iter().enumerate() {
            let bit = 1u8 << (burst.head.id & 7);
            if seen & bit == 0 {
                seen |= bit;
                if burst.done && burst.due <= cycle {
                    candidates[count] = i;
                    count += 1;
                }
            }
        }
        match count {
            0 => None,
            _ if self.timing.stall > 0.0 => Some(candidates[self.rng.gen_range(0..count)]),
            _ => Some(candidates[0]),
        }
    }

    fn offer_b(&mut self, axi: &mut Axi, cycle: u64) {
        if self.writes.is_empty() || self.stalls() {
            return;
        }
        let Some(index) = self.pick(true, cycle) else { return };
        let Some(burst) = self.writes.remove(index) else { return };
        let fault = self.fault(burst.head.address, true);
        let mut response = fault.unwrap_or(0);
        if fault.is_none() {
            let first = burst.head.address & !(self.bytes as u64 - 1);
            for (i, (data, strobe)) in burst.beats.iter().enumerate() {
                if *strobe != 0 && !self.memory.store_beat(first + (i * self.bytes) as u64, *data, *strobe) {
                    response = DECERR;
                }
            }
        }
        axi.b = Response {
            id: burst.head.id,
            response,
            valid: true,
            ready: axi.b.ready,
            ..Response::default()
        };
        if self.record {
            self.records.push(WriteRecord {
                id: burst.head.id,
                address: burst.head.address,
                aw_cycle: burst.accepted,
                last_cycle: burst.last_data,
                b_cycle: cycle,
            });
        }
    }

    fn offer_r(&mut self, axi: &mut Axi, cycle: u64) {
        if self.reads.is_empty() || self.stalls() {
            return;
        }
        if self.reading.is_none() {
            self.reading = self.pick(false, cycle);
            self.read_beat = 0;
            if let Some(index) = self.reading {
                let address = self.reads[index].head.address;
                self.read_response = self.fault(address, false).unwrap_or(0);
            }
        }
        let Some(index) = self.reading else { return };
        let head = self.reads[index].head;
        let address = (head.address & !(self.bytes as u64 - 1)) + (self.read_beat * self.bytes) as u64;
        let loaded = self.memory.load_beat(address, self.bytes);
        let failed = if loaded.is_none() { DECERR } else { 0 };
        let response = if self.read_response != 0 { self.read_response } else { failed };
        let last = self.read_beat == head.length as usize;
        // An error's data is noise, as it is on a real bus.
        let data = if response == 0 {
            loaded.unwrap_or(0)
        } else {
            0xbad0_bad0_bad0_bad0 >> (64 - 8 * self.bytes)
        };
        axi.r = Response {
            id: head.id,
            data,
            response,
            last,
            valid: true,
            ready: axi.r.ready,
        };
    }

    fn fault(&mut self, address: u64, write: bool) -> Option<u8> {
        let fault = self
            .faults
            .iter_mut()
            .find(|f| f.left > 0 && f.addresses.contains(&address) && if write { f.writes } else { f.reads })?;
        fault.left -= 1;
        Some(fault.response)
    }

    /// Takes what happened in this cycle.
    pub fn sample(&mut self, axi: &mut Axi, cycle: u64, violations: &mut Violations) {
        let unready = |a: &Address| Address { ready: false, ..*a };
        self.watch
            .aw
            .watch(axi.aw.valid, axi.aw.ready, unready(&axi.aw), cycle, "m_axi_aw", violations);
        self.watch.w.watch(
            axi.w.valid,
            axi.w.ready,
            (axi.w.data, axi.w.strobe, axi.w.last),
            cycle,
            "m_axi_w",
            violations,
        );
        self.watch
            .ar
            .watch(axi.ar.valid, axi.ar.ready, unready(&axi.ar), cycle, "m_axi_ar", violations);
        if axi.aw.valid && axi.aw.ready {
            self.check_address(&axi.aw, cycle, "m_axi_aw", violations);
            let head = axi.aw;
            self.writes.push_back(Burst {
                head,
                accepted: cycle,
                last_data: 0,
                due: 0,
                beats: Vec::new(),
                done: false,
            });
            self.statistics.write_bursts += 1;
            self.statistics.most_writes_outstanding = self.statistics.most_writes_outstanding.max(self.writes.len());
        }
        if axi.w.valid && axi.w.ready {
            self.early_data.push_back((axi.w.data, axi.w.strobe, axi.w.last, cycle));
            self.statistics.write_beats += 1;
        }
        self.match_data(cycle, violations);
        if axi.ar.valid && axi.ar.ready {
            self.check_address(&axi.ar, cycle, "m_axi_ar", violations);
            let due = self.due(cycle);
            self.reads.push_back(Burst {
                head: axi.ar,
                accepted: cycle,
                last_data: 0,
                due,
                beats: Vec::new(),
                done: true,
            });
            self.statistics.read_bursts += 1;
            self.statistics.most_reads_outstanding = self.statistics.most_reads_outstanding.max(self.reads.len());
        }
        if axi.b.valid && axi.b.ready {
            axi.b.valid = false;
        }
        if axi.r.valid && axi.r.ready {
            axi.r.valid = false;
            self.statistics.read_beats += 1;
            if self.read_beat == 0 {
                self.read_first = cycle;
            }
            self.read_beat += 1;
            if axi.r.last {
                let over = self.reading.take().and_then(|index| self.reads.remove(index));
                if let Some(burst) = over.filter(|_| self.record) {
                    self.read_records.push(ReadRecord {
                        id: burst.head.id,
                        address: burst.head.address,
                        ar_cycle: burst.accepted,
                        first_cycle: self.read_first,
                        last_cycle: cycle,
                    });
                }
            }
        }
    }

    /// Gives waiting W beats to the bursts in AW order.
    fn match_data(&mut self, cycle: u64, violations: &mut Violations) {
        while !self.early_data.is_empty() {
            let Some(index) = self.writes.iter().position(|b| !b.done) else {
                return;
            };
            let Some((data, strobe, last, _)) = self.early_data.pop_front() else {
                return;
            };
            let due = self.due(cycle);
            let bytes = self.bytes;
            let burst = &mut self.writes[index];
            burst.beats.push((data, strobe));
            let full = burst.beats.len() == burst.head.length as usize + 1;
            if full != last {
                violations.add(
                    cycle,
                    "m_axi_w",
                    format!("wlast {} on beat {} of {}", last, burst.beats.len(), burst.head.length as usize + 1),
                );
            }
            if burst.beats.len() == 1 && strobe as u32 & ((1 << (burst.head.address as usize % bytes)) - 1) != 0 {
                violations.add(
                    cycle,
                    "m_axi_w",
                    format!("strobe {strobe:#x} before the first byte of {:#x}", burst.head.address),
                );
            }
            if full {
                burst.done = true;
                burst.last_data = cycle;
                burst.due = due;
            }
        }
    }

    fn check_address(&mut self, head: &Address, cycle: u64, port: &'static str, violations: &mut Violations) {
        let bytes = (head.length as u64 + 1) * self.bytes as u64;
        let first = head.address & !(self.bytes as u64 - 1);
        if head.burst != INCR || 1 << head.size != self.bytes {
            violations.add(
                cycle,
                port,
                format!("burst {} size {}: want INCR, {} bytes", head.burst, head.size, self.bytes),
            );
        }
        if first / 4096 != first.wrapping_add(bytes - 1) / 4096 {
            violations.add(cycle, port, format!("{bytes} bytes at {first:#x} cross 4 KiB"));
        }
        if !self.memory.contains(first) {
            self.statistics.wild += 1;
            if self.wild_is_violation && !self.faults.iter().any(|f| f.addresses.contains(&head.address)) {
                violations.add(cycle, port, format!("{:#x} is not allocated", head.address));
            }
        }
    }
}
