// SPDX-License-Identifier: MIT OR Apache-2.0
//! The control path with plain-Rust neighbours: keys, descriptor reader, DMA writer, retire, counters; all with random idle and stall.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::HashMap;
use verbena_hdl::mem::WriteJob;
use verbena_hdl::responder::{Control, Features, RetireEntry};
use verbena_hdl::rx::PacketHead;
use verbena_spec::layout::{qp, QP_WORDS};
use verbena_tb::{ports, step::Bench};

/// Four QPs.
pub type Uut = Control<2, 6, 5, 6>;

pub const LOCAL_WRITE: u8 = 1;
pub const REMOTE_WRITE: u8 = 2;

/// What left for one packet or one step.
#[derive(Debug, Default, Clone)]
pub struct Left {
    pub jobs: Vec<WriteJob>,
    pub entries: Vec<RetireEntry>,
    pub counters: Vec<u8>,
    /// From head_valid to head_next, both included.
    pub cycles: u64,
    /// Keys asked: op, key, va, length.
    pub keys: Vec<(u8, u32, u64, u32)>,
    pub fetches: Vec<u64>,
    /// Heads given to the requester, and releases that it owes.
    pub responses: u32,
    /// READ and ATOMIC requests handed over: QP index, duplicate, MSN.
    pub requests: Vec<(u32, bool, u32)>,
    /// Cycles from fetch_start to fetch_done.
    pub fetch_wait: u64,
    /// What was given to the reorder station.
    pub early: Vec<Early>,
    /// ePSN after the packet, and whether it moved.
    pub after: (u32, bool),
    /// It was told to be marked.
    pub marked: bool,
    /// It was told to be a CNP of its QP.
    pub noticed: bool,
}

/// An early request's facts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Early {
    pub distance: u32,
    pub standing: bool,
    pub nak_distance: u32,
    pub nak_delay: u32,
}

impl Left {
    /// The only entry.
    pub fn entry(&self) -> RetireEntry {
        assert_eq!(self.entries.len(), 1, "one entry wanted: {self:?}");
        self.entries[0]
    }
    /// Syndrome, PSN and MSN of the answer.
    pub fn answer(&self) -> Option<(u8, u32, u32)> {
        let entry = self.entries.iter().find(|e| e.respond)?;
        Some((entry.syndrome.to_u64() as u8, entry.psn.to_u64() as u32, entry.msn.to_u64() as u32))
    }
    /// Status and WQE index of the completion.
    pub fn completion(&self) -> Option<(u32, u16)> {
        let entry = self.entries.iter().find(|e| e.complete)?;
        Some((entry.status.to_u64() as u32, entry.wqe_index.to_u64() as u16))
    }
    pub fn counter(&self) -> u8 {
        self.counters[0]
    }
    /// Address and length of each placement.
    pub fn writes(&self) -> Vec<(u64, u32)> {
        self.jobs
            .iter()
            .filter(|j| j.write)
            .map(|j| (j.address.to_u64(), j.length.to_u64() as u32))
            .collect()
    }
    pub fn silent(&self) -> bool {
        self.entries.is_empty() && self.writes().is_empty()
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub key: u32,
    pub pd: u16,
    pub access: u8,
    pub va: u64,
    pub length: u64,
    pub address: u64,
    pub may_invalidate: bool,
    pub valid: bool,
}

#[derive(Debug, Clone)]
pub struct Packet {
    pub opcode: u8,
    pub qpn: u32,
    pub psn: u32,
    pub length: u32,
    pub ack: bool,
    pub solicited: bool,
    pub pkey: u16,
    pub xth: [u32; 7],
    pub source: [u32; 4],
    pub ipv6: bool,
    pub gid: u8,
    pub marked: bool,
}

/// The peer's address that rows are set up with.
pub const PEER: [u32; 4] = [0, 0, 0xffff, 0x0a00_0002];
pub const PEER6: [u32; 4] = [0x2001_0db8, 1, 2, 3];

pub fn packet(opcode: u8, qpn: u32, psn: u32, length: u32) -> Packet {
    Packet {
        opcode,
        qpn,
        psn,
        length,
        ack: true,
        solicited: false,
        pkey: 0xffff,
        xth: [0; 7],
        source: PEER,
        ipv6: false,
        gid: 0,
        marked: false,
    }
}

impl Packet {
    pub fn reth(mut self, va: u64, key: u32, dma: u32) -> Self {
        self.xth[..4].copy_from_slice(&[(va >> 32) as u32, va as u32, key, dma]);
        self
    }
    pub fn head(&self) -> PacketHead {
        let mut h = PacketHead {
            opcode: (self.opcode as u64).to_bits(),
            ..PacketHead::default()
        };
        h.solicited = self.solicited;
        h.ack_request = self.ack;
        h.pad_count = ((self.length.wrapping_neg() & 3) as u64).to_bits();
        h.pkey = (self.pkey as u64).to_bits();
        h.qpn = (self.qpn as u64).to_bits();
        h.psn = ((self.psn & 0xff_ffff) as u64).to_bits();
        let x = |i: usize| (self.xth[i] as u64).to_bits();
        (h.xth0, h.xth1, h.xth2, h.xth3, h.xth4, h.xth5, h.xth6) = (x(0), x(1), x(2), x(3), x(4), x(5), x(6));
        let s = |i: usize| (self.source[i] as u64).to_bits();
        (h.source_ip0, h.source_ip1, h.source_ip2, h.source_ip3) = (s(0), s(1), s(2), s(3));
        h.ipv6 = self.ipv6;
        h.gid_index = (self.gid as u64).to_bits();
        h.payload_length = (self.length as u64).to_bits();
        h.payload_beat = (0x123u64).to_bits();
        h.payload_offset = 4u64.to_bits();
        h.frame_beat = (0x110u64).to_bits();
        h.end_beat = (0x190u64).to_bits();
        h.marked = self.marked;
        h
    }
}

pub struct Harness {
    bench: Bench<Uut>,
    pub rng: ChaCha8Rng,
    /// Probability of a stall on each way out, per mille.
    pub stall: u32,
    /// Keys answers after so many cycles; 0: random.
    pub key_latency: u32,
    pub regions: Vec<Region>,
    /// Receive WQEs by bus address; an address without one reads as an error.
    pub wqes: HashMap<u64, [u32; 4]>,
    key_left: u32,
    /// Cycles since the start.
    key_age: u32,
    key_asked: Option<(u8, u32, u64, u32, u16, u8)>,
    fetch_left: u32,
    fetch_asked: u64,
    wqe_words: [u32; 4],
    /// What the requester does with the next response: after so many cycles, counter code, placed.
    pub respond: (u32, u8, bool),
    response_seen: u32,
    /// What the READ responder does with the next request: after so many cycles, verdict, PSNs.
    pub serve: (u32, u8, u32),
    request_seen: u32,
    request_shown: Option<(u32, bool, u32)>,
    /// What the reorder station does with the next early request: after so many cycles, NAK, counter code.
    pub hold: (u32, bool, u8),
    hold_seen: u32,
    pub probe: bool,
    /// Retire is empty.
    pub retire_idle: bool,
    /// States the requester was told, and whether it takes them.
    pub told: Vec<(u32, u32)>,
    pub listens: bool,
    left: Left,
    /// Counter of each packet sent.
    pub sent: Vec<u8>,
}

impl Harness {
    pub fn new(seed: u64) -> Self {
        Self::with(
            seed,
            Features {
                requester: false,
                reads: false,
                ..Features::all()
            },
        )
    }

    pub fn with(seed: u64, features: Features) -> Self {
        println!("seed {seed}");
        let mut h = Harness {
            bench: Bench::verilated(
                Box::new(Control::new(features)),
                "control_all",
                ports!(in reset, head, head_valid, table_valid, table_address, table_data, doorbell_valid, doorbell_index, doorbell_producer, command_valid, command_operation, command_index, command_state, qp_error_valid, qp_error_index, requester_error_valid, requester_error_index, read_error_valid, read_error_index, retire_idle, state_ready, response_done, response_code, response_placed, request_done, request_verdict, request_psns, hold_done, hold_nak, hold_code, probe, key_done, key_ok, key_paged, key_address, fetch_done, fetch_error, fetch_word, job_ready, entry_ready, event_ready; out head_next, table_ready, doorbell_ready, command_done, command_refused, result0, result1, result2, qp_error_ready, requester_error_ready, read_error_ready, state_valid, state_index, state, response_valid, request_valid, request_index, request_duplicate, request_msn, hold_valid, hold_distance, hold_standing, nak_distance, nak_delay, packet_busy, packet_psn, packet_moved, packet_jumped, marked, noticed, key_start, key_op, key, key_va, key_length, key_pd, key_access, fetch_start, fetch_address, fetch_next, job, job_valid, entry, entry_valid, event_valid, event_code, ready),
            ),
            rng: ChaCha8Rng::seed_from_u64(seed),
            stall: 0,
            key_latency: 8,
            regions: vec![],
            wqes: HashMap::new(),
            key_left: 0,
            key_age: 0,
            key_asked: None,
            fetch_left: 0,
            fetch_asked: 0,
            wqe_words: [0; 4],
            respond: (0, 0, false),
            response_seen: 0,
            serve: (0, 0, 1),
            request_seen: 0,
            request_shown: None,
            hold: (3, false, 0),
            hold_seen: 0,
            probe: false,
            retire_idle: true,
            told: vec![],
            listens: true,
            left: Left::default(),
            sent: vec![],
        };
        h.bench.uut.reset.next = true;
        h.tick();
        h.bench.uut.reset.next = false;
        let mut waited = 0;
        while !h.bench.uut.ready.val() {
            h.tick();
            waited += 1;
            assert!(waited < 100, "the walk doesn't end");
        }
        h
    }

    fn check_keys(&mut self, op: u8, key: u32, va: u64, length: u32, pd: u16, access: u8) -> (bool, u64) {
        if op == 1 {
            for r in &mut self.regions {
                if r.key == key && r.valid && r.may_invalidate && r.pd == pd {
                    r.valid = false;
                    return (true, 0);
                }
            }
            return (false, 0);
        }
        for r in &self.regions {
            let inside = va >= r.va && (va - r.va) as u128 + length as u128 <= r.length as u128;
            if r.key == key && r.valid && r.pd == pd && r.access & access != 0 && inside {
                return (true, r.address + (va - r.va));
            }
        }
        (length == 0, 0)
    }

    /// One clock with all neighbours.
    fn tick(&mut self) -> Seen {
        let ready = |rng: &mut ChaCha8Rng, stall: u32| !rng.gen_ratio(stall.min(999), 1000);
        let stall = self.stall;
        self.bench.uut.job_ready.next = ready(&mut self.rng, stall);
        self.bench.uut.entry_ready.next = ready(&mut self.rng, stall);
        self.bench.uut.event_ready.next = ready(&mut self.rng, stall);
        // Keys: outputs count in the done cycle only, so they are garbage in others.
        let done = self.key_left == 1;
        let mut ok = self.rng.gen();
        let mut address: u64 = self.rng.gen();
        if done {
            let (op, key, va, length, pd, access) = self.key_asked.unwrap();
            let (o, a) = self.check_keys(op, key, va, length, pd, access);
            ok = o;
            if o {
                address = a;
            }
        }
        let uut = &mut self.bench.uut;
        uut.key_done.next = done;
        uut.key_ok.next = ok;
        uut.key_paged.next = false;
        uut.key_address.next = address.to_bits();
        let fetched = self.fetch_left == 1;
        uut.fetch_done.next = fetched;
        if fetched {
            let words = self.wqes.get(&self.fetch_asked);
            uut.fetch_error.next = words.is_none();
            let words = words.copied().unwrap_or([0xdead_beef; 4]);
            self.wqe_words = words;
        }
        // The requester: code and `placed` count in the done cycle only.
        uut.response_done.next = false;
        uut.response_code.next = (self.rng.gen_range(0..64u64)).to_bits();
        uut.response_placed.next = self.rng.gen();
        if self.response_seen > self.respond.0 {
            uut.response_done.next = true;
            uut.response_code.next = (self.respond.1 as u64).to_bits();
            uut.response_placed.next = self.respond.2;
        }
        // The READ responder: its outputs count in the done cycle only.
        uut.request_done.next = false;
        uut.request_verdict.next = (self.rng.gen_range(0..8u64)).to_bits();
        uut.request_psns.next = (self.rng.gen_range(0..1u64 << 24)).to_bits();
        if self.request_seen > self.serve.0 {
            uut.request_done.next = true;
            uut.request_verdict.next = (self.serve.1 as u64).to_bits();
            uut.request_psns.next = (self.serve.2 as u64).to_bits();
        }
        // The reorder station: its outputs count in the done cycle only.
        uut.probe.next = self.probe;
        uut.hold_done.next = false;
        uut.hold_nak.next = self.rng.gen();
        uut.hold_code.next = (self.rng.gen_range(0..64u64)).to_bits();
        if self.hold_seen > self.hold.0 {
            uut.hold_done.next = true;
            uut.hold_nak.next = self.hold.1;
            uut.hold_code.next = (self.hold.2 as u64).to_bits();
        }
        uut.retire_idle.next = self.retire_idle;
        uut.state_ready.next = self.listens && ready(&mut self.rng, stall);
        uut.fetch_word.next = (self.wqe_words[0] as u64).to_bits();
        self.bench.settle();

        let uut = &self.bench.uut;
        if uut.fetch_next.val() {
            assert!(self.fetch_left == 0, "words turned while they are fetched");
            self.wqe_words.rotate_left(1);
        }
        let asked = (
            uut.key_op.val().to_u64() as u8,
            uut.key.val().to_u64() as u32,
            uut.key_va.val().to_u64(),
            uut.key_length.val().to_u64() as u32,
            uut.key_pd.val().to_u64() as u16,
            uut.key_access.val().to_u64() as u8,
        );
        // The question comes as `Keys` reads it: the key with the start, address last, lower half first; what has come stays.
        if self.key_left > 0 {
            assert!(!uut.key_start.val(), "cycle {}: keys asked while busy", self.bench.cycle);
            self.key_age += 1;
            let half = u64::from(u32::MAX);
            let known = |age: u32, q: (u8, u32, u64, u32, u16, u8)| match (q.0, age) {
                (1, _) => (1, q.1, 0, 0, q.4, 0),
                (_, 1) => (0, q.1, 0, q.3, q.4, q.5),
                (_, 2) => (0, q.1, q.2 & half, q.3, q.4, q.5),
                _ => q,
            };
            let first = self.key_asked.unwrap();
            if self.key_age == 1 {
                assert_eq!(
                    (asked.0, asked.1),
                    (first.0, first.1),
                    "cycle {}: key inputs moved",
                    self.bench.cycle
                );
            } else {
                let (now, then) = (known(self.key_age - 1, asked), known(self.key_age - 1, first));
                assert_eq!(now, then, "cycle {}: key inputs moved", self.bench.cycle);
            }
            self.key_asked = Some(asked);
            self.key_left -= 1;
            if self.key_left == 0 {
                self.left.keys.push((asked.0, asked.1, asked.2, asked.3));
            }
        }
        if uut.key_start.val() {
            self.key_asked = Some(asked);
            self.key_age = 0;
            self.key_left = match (self.key_latency, asked.0) {
                (0, 1) => self.rng.gen_range(3..9),
                (0, _) => self.rng.gen_range(5..12),
                (latency, _) => latency,
            };
        }
        if self.fetch_left > 0 {
            assert!(!uut.fetch_start.val(), "fetch asked while busy");
            assert_eq!(uut.fetch_address.val().to_u64(), self.fetch_asked, "fetch address moved");
            self.fetch_left -= 1;
        }
        if uut.fetch_start.val() {
            self.fetch_asked = uut.fetch_address.val().to_u64();
            self.left.fetches.push(self.fetch_asked);
            self.fetch_left = self.rng.gen_range(1..20);
            self.left.fetch_wait += self.fetch_left as u64;
        }
        self.response_seen = if uut.response_valid.val() && !uut.response_done.val() {
            self.response_seen + 1
        } else {
            0
        };
        if uut.request_valid.val() {
            let shown = (
                uut.request_index.val().to_u64() as u32,
                uut.request_duplicate.val(),
                uut.request_msn.val().to_u64() as u32,
            );
            if let Some(first) = self.request_shown {
                assert_eq!(shown, first, "cycle {}: the request moved", self.bench.cycle);
            }
            self.request_shown = Some(shown);
            self.request_seen += 1;
            if uut.request_done.val() {
                self.left.requests.push(shown);
                (self.request_shown, self.request_seen) = (None, 0);
            }
        } else {
            assert!(self.request_shown.is_none(), "cycle {}: a request vanished", self.bench.cycle);
        }
        if uut.hold_valid.val() {
            let shown = Early {
                distance: uut.hold_distance.val().to_u64() as u32,
                standing: uut.hold_standing.val(),
                nak_distance: uut.nak_distance.val().to_u64() as u32,
                nak_delay: uut.nak_delay.val().to_u64() as u32,
            };
            // The attributes are there from the third cycle on.
            if self.hold_seen == 1 || self.hold_seen == 2 {
                self.left.early.pop();
            }
            if self.hold_seen < 3 {
                self.left.early.push(shown);
            } else {
                assert_eq!(
                    self.left.early.last(),
                    Some(&shown),
                    "cycle {}: the early packet moved",
                    self.bench.cycle
                );
            }
            self.hold_seen += 1;
            if uut.hold_done.val() {
                self.hold_seen = 0;
            }
        } else {
            assert_eq!(self.hold_seen, 0, "cycle {}: an early packet vanished", self.bench.cycle);
        }
        if uut.head_next.val() {
            self.left.after = (uut.packet_psn.val().to_u64() as u32, uut.packet_moved.val());
            self.left.marked = uut.marked.val();
            self.left.noticed = uut.noticed.val();
        } else {
            assert!(
                !uut.marked.val() & !uut.noticed.val(),
                "cycle {}: a mark without a head",
                self.bench.cycle
            );
        }
        self.left.responses += uut.response_done.val() as u32;
        if uut.state_valid.val() & uut.state_ready.val() {
            self.told
                .push((uut.state_index.val().to_u64() as u32, uut.state.val().to_u64() as u32));
        }
        if uut.job_valid.val() & uut.job_ready.val() {
            self.left.jobs.push(uut.job.val());
        }
        if uut.entry_valid.val() & uut.entry_ready.val() {
            self.left.entries.push(uut.entry.val());
        }
        if uut.event_valid.val() & uut.event_ready.val() {
            self.left.counters.push(uut.event_code.val().to_u64() as u8);
        }
        let seen = Seen {
            next: uut.head_next.val(),
            command_done: uut.command_done.val(),
            refused: uut.command_refused.val(),
            doorbell_ready: uut.doorbell_ready.val(),
            qp_error_ready: uut.qp_error_ready.val(),
            requester_error_ready: uut.requester_error_ready.val(),
            read_error_ready: uut.read_error_ready.val(),
        };
        self.bench.edge();
        seen
    }

    /// Clocks without work; returns what left.
    pub fn rest(&mut self, cycles: u32) -> Left {
        self.left = Left::default();
        for _ in 0..cycles {
            self.tick();
        }
        std::mem::take(&mut self.left)
    }

    /// Runs one packet through.
    pub fn send(&mut self, p: &Packet) -> Left {
        self.left = Left::default();
        self.bench.uut.head.next = p.head();
        self.bench.uut.head_valid.next = true;
        let mut cycles = 0;
        loop {
            cycles += 1;
            if self.tick().next {
                break;
            }
            assert!(cycles < 2000, "packet hangs: {p:?}");
        }
        self.bench.uut.head_valid.next = false;
        // The next head is being loaded: its fields change.
        let mut junk = p.clone();
        junk.xth = self.rng.gen();
        junk.psn = self.rng.gen();
        junk.length = self.rng.gen_range(0..4096);
        self.bench.uut.head.next = junk.head();
        let mut left = std::mem::take(&mut self.left);
        left.cycles = cycles;
        self.sent.extend(&left.counters);
        assert_eq!(left.counters.len(), 1, "one counter a head: {p:?} {left:?}");
        let releases: Vec<bool> = left.jobs.iter().map(|j| j.release).collect();
        if left.responses > 0 && self.respond.2 {
            assert!(releases.is_empty(), "the requester releases: {left:?}");
            return left;
        }
        assert_eq!(releases.iter().filter(|r| **r).count(), 1, "one release a head: {left:?}");
        assert!(*releases.last().unwrap(), "the release is last");
        let writes = left.jobs.iter().filter(|j| j.write).count() as u64;
        let counted: u64 = left
            .entries
            .iter()
            .filter(|e| e.qpn.to_u64() as u32 == p.qpn && !e.requester)
            .map(|e| e.jobs.to_u64())
            .sum();
        assert_eq!(writes, counted, "every write job is waited for: {left:?}");
        left
    }

    /// A command; false: refused. What left meanwhile is in the second.
    pub fn command(&mut self, operation: u32, index: u32, state: u32) -> (bool, Left) {
        self.left = Left::default();
        let uut = &mut self.bench.uut;
        uut.command_valid.next = true;
        uut.command_operation.next = (operation as u64).to_bits();
        uut.command_index.next = (index as u64).to_bits();
        uut.command_state.next = (state as u64).to_bits();
        let mut waited = 0;
        let refused = loop {
            let seen = self.tick();
            if seen.command_done {
                break seen.refused;
            }
            waited += 1;
            assert!(waited < 1000, "command hangs");
        };
        self.bench.uut.command_valid.next = false;
        (!refused, std::mem::take(&mut self.left))
    }

    /// Modify QP, which must be accepted.
    pub fn modify(&mut self, index: u32, state: u32) {
        assert!(self.command(1, index, state).0, "modify {index} to {state} refused");
    }

    /// Query QP: state, ePSN, MSN, consumed.
    pub fn query(&mut self, index: u32) -> (u32, u32, u32, u32) {
        assert!(self.command(2, index, 0).0, "query refused");
        let uut = &self.bench.uut;
        let r0 = uut.result0.val().to_u64() as u32;
        (
            r0 & 7,
            r0 >> 8,
            uut.result1.val().to_u64() as u32,
            uut.result2.val().to_u64() as u32,
        )
    }

    pub fn doorbell(&mut self, index: u32, producer: u16) -> Left {
        self.left = Left::default();
        let uut = &mut self.bench.uut;
        uut.doorbell_valid.next = true;
        uut.doorbell_index.next = (index as u64).to_bits();
        uut.doorbell_producer.next = (producer as u64).to_bits();
        let mut waited = 0;
        while !self.tick().doorbell_ready {
            waited += 1;
            assert!(waited < 1000, "doorbell hangs");
        }
        self.bench.uut.doorbell_valid.next = false;
        std::mem::take(&mut self.left)
    }

    pub fn qp_error(&mut self, index: u32) -> Left {
        self.left = Left::default();
        self.bench.uut.qp_error_valid.next = true;
        self.bench.uut.qp_error_index.next = (index as u64).to_bits();
        let mut waited = 0;
        while !self.tick().qp_error_ready {
            waited += 1;
            assert!(waited < 1000, "qp_error hangs");
        }
        self.bench.uut.qp_error_valid.next = false;
        std::mem::take(&mut self.left)
    }

    pub fn requester_error(&mut self, index: u32) -> Left {
        self.left = Left::default();
        self.bench.uut.requester_error_valid.next = true;
        self.bench.uut.requester_error_index.next = (index as u64).to_bits();
        let mut waited = 0;
        while !self.tick().requester_error_ready {
            waited += 1;
            assert!(waited < 1000, "requester_error hangs");
        }
        self.bench.uut.requester_error_valid.next = false;
        std::mem::take(&mut self.left)
    }

    pub fn read_error(&mut self, index: u32) -> Left {
        self.left = Left::default();
        self.bench.uut.read_error_valid.next = true;
        self.bench.uut.read_error_index.next = (index as u64).to_bits();
        let mut waited = 0;
        while !self.tick().read_error_ready {
            waited += 1;
            assert!(waited < 1000, "read_error hangs");
        }
        self.bench.uut.read_error_valid.next = false;
        std::mem::take(&mut self.left)
    }

    pub fn write_row(&mut self, index: u32, row: &[u32; QP_WORDS]) {
        for (word, value) in row.iter().enumerate() {
            let uut = &mut self.bench.uut;
            uut.table_valid.next = true;
            uut.table_address.next = ((index as usize * QP_WORDS + word) as u64).to_bits();
            uut.table_data.next = (*value as u64).to_bits();
            self.tick();
        }
        self.bench.uut.table_valid.next = false;
    }
}

/// A row of an RC QP: PMTU 256, everything allowed, ring of 4 at 0x1000 · index, P_Key full member.
pub fn row(index: u32) -> [u32; QP_WORDS] {
    let mut row = [0; QP_WORDS];
    qp::PMTU.set(&mut row, 1);
    qp::REMOTE_WRITE.set(&mut row, 1);
    qp::RNR_TIMER.set(&mut row, 12);
    qp::TAG.set(&mut row, 0xab0 + index);
    qp::PD.set(&mut row, 7);
    qp::PKEY.set(&mut row, 0xffff);
    qp::RQ_PSN.set(&mut row, 100);
    qp::QKEY.set(&mut row, 0x1111_2222);
    qp::RECV_CQ.set(&mut row, 0x30 + index);
    qp::RQ_BASE_LOW.set(&mut row, 0x1000 * index);
    qp::RQ_BASE_HIGH.set(&mut row, 5);
    qp::RQ_LOG.set(&mut row, 2);
    for (i, field) in [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3].iter().enumerate() {
        field.set(&mut row, PEER[i]);
    }
    row
}

pub fn qpn(index: u32) -> u32 {
    (0xab0 + index) << 12 | index
}

/// Bus address of a WQE of `row`'s ring.
pub fn wqe_address(index: u32, wqe: u32) -> u64 {
    (5u64 << 32) + (0x1000 * index + (wqe & 3) * 32) as u64
}

impl Harness {
    /// A QP in RTR with this row, and the usual regions: key 0x100 for remote writes, 0x200 for receives.
    pub fn connect(&mut self, index: u32, row: &[u32; QP_WORDS]) {
        self.write_row(index, row);
        for state in [0, 1, 2] {
            self.modify(index, state);
        }
        if self.regions.is_empty() {
            let region = |key, access, va, length| Region {
                key,
                pd: 7,
                access,
                va,
                length,
                address: va ^ 0xf000_0000_0000,
                may_invalidate: false,
                valid: true,
            };
            self.regions.push(region(0x100, REMOTE_WRITE, 0xffff_f000, 1 << 32));
            self.regions.push(region(0x200, LOCAL_WRITE, 0x10_0000, 1 << 16));
            self.regions.push(Region {
                may_invalidate: true,
                ..region(0x300, REMOTE_WRITE, 0, 4096)
            });
        }
    }

    /// Puts a receive WQE under a ring slot (no doorbell).
    pub fn wqe(&mut self, index: u32, wqe: u32, va: u64, key: u32, length: u32) {
        self.wqes
            .insert(wqe_address(index, wqe), [va as u32, (va >> 32) as u32, length, key]);
    }

    /// Posts receives 0..count of 1000 bytes each.
    pub fn post(&mut self, index: u32, count: u32) {
        for i in 0..count {
            self.wqe(index, i, 0x10_0000 + 0x400 * i as u64, 0x200, 1000);
        }
        let left = self.doorbell(index, count as u16);
        assert!(left.entries.is_empty(), "doorbell refused");
    }
}

/// What a tick showed.
#[derive(Default, Clone, Copy)]
struct Seen {
    next: bool,
    command_done: bool,
    refused: bool,
    doorbell_ready: bool,
    qp_error_ready: bool,
    requester_error_ready: bool,
    read_error_ready: bool,
}
