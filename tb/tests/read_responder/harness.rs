// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block among its neighbours. Every packet, job, verdict and ACK is compared with the golden model as it appears.

use super::golden::{check, Op, Qp, Region, Request};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use verbena_hdl::responder::ReadResponder;
use verbena_hdl::rx::PacketHead;
use verbena_hdl::tx::AckJob;
use verbena_spec::layout::{qp, QP_WORDS};
use verbena_tb::{ports, step::Bench};

/// From control.
#[derive(Clone, Copy, Debug)]
pub enum Ask {
    Request {
        index: usize,
        request: Request,
        duplicate: bool,
        msn: u32,
    },
    State {
        index: usize,
        state: u32,
    },
}

/// From retire.
#[derive(Clone, Copy, Debug)]
pub enum Leave {
    Serve(usize),
    /// Index, syndrome, PSN, MSN.
    Ack(usize, u32, u32, u32),
}

/// How the neighbours behave.
#[derive(Clone, Copy, Debug)]
pub struct Habits {
    /// Chance that a packet word or job is taken in a cycle.
    pub ready: f64,
    /// Chance that an ACK is taken.
    pub ack_ready: f64,
    /// Cycles of a key check, at least and at most.
    pub key: (u64, u64),
    /// Cycles from a packet's last word to its `done`.
    pub done: (u64, u64),
    /// Cycles until retire offers something.
    pub retire: (u64, u64),
    /// Chance that a payload can't be read.
    pub error: f64,
}

impl Habits {
    pub fn quick() -> Habits {
        Habits {
            ready: 1.0,
            ack_ready: 1.0,
            key: (8, 8),
            done: (100, 100),
            retire: (0, 0),
            error: 0.0,
        }
    }
    pub fn slow() -> Habits {
        Habits {
            ready: 0.4,
            ack_ready: 0.3,
            key: (8, 30),
            done: (0, 200),
            retire: (0, 60),
            error: 0.0,
        }
    }
}

/// What has been seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// Cycle of the last word, QP, words.
    Packet(u64, usize, Vec<u32>),
    /// Verdict, PSNs.
    Verdict(u64, u32),
    /// An ACK went on at once: QP, PSN.
    Forwarded(usize, u32),
    /// It stays: QP, PSN.
    Stays(usize, u32),
    QpError(usize),
    /// Number, detail.
    Event(u32, u32),
    Count(u32),
    /// Address, old, new.
    Atomic(u64, u64, Option<u64>),
}

pub struct Rig<
    const QA: usize,
    const QB: usize,
    const PA: usize,
    const AA: usize,
    const BA: usize,
    const RA: usize,
    const RC: usize,
    const SPLIT: usize,
    const SMALL: usize,
    const ATOMICS: usize,
> {
    pub bench: Bench<ReadResponder<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>>,
    pub rng: ChaCha8Rng,
    pub habits: Habits,
    pub regions: Vec<Region>,
    pub qps: Vec<Qp>,
    pub asks: VecDeque<Ask>,
    pub retire: VecDeque<(u64, Leave)>,
    pub seen: Vec<Seen>,
    /// Bytes of host memory, as words of 8.
    pub memory: HashMap<u64, u64>,
    pub mtt: HashMap<u64, u64>,
    /// The next reads fail that are named here, counted from 0.
    pub failing: Vec<u64>,
    /// An ATOMIC's read, or its write, ends in an error.
    pub atomic_error: (bool, bool),
    /// Set: the other writers aren't quiet.
    pub unlocked: bool,
    reads: u64,
    key_left: Option<u64>,
    key_inputs: Option<(u64, u64, u64, u64, u64)>,
    packet: Vec<u32>,
    job: Option<(bool, u64, u32)>,
    words_on: bool,
    job_on: bool,
    ack_on: bool,
    /// When the ACK on offer came its QP was idle.
    ack_free: bool,
    retire_on: bool,
    /// Cycle, error, QP, life.
    dones: VecDeque<(u64, bool, usize, u64)>,
    pub lives: Vec<u64>,
    /// The state change on offer.
    leaving: Option<usize>,
    /// A failed read isn't known to have acted yet: PSN, MSN.
    trouble: HashMap<usize, (u32, u32)>,
    /// The cycle of a QP's trouble; that of the packet's first word.
    troubled: HashMap<usize, u64>,
    began: u64,
    flight: VecDeque<(usize, u64, u32, u32)>,
    read_left: Option<(u64, u64)>,
    atomic_old: Option<(u64, u64)>,
    write_address: Option<u64>,
    write_data: Option<u64>,
    answer: Option<u64>,
    executed: Option<(u64, u64, Option<u64>)>,
    lookup: Option<u64>,
    pub say: String,
}

macro_rules! rig {
    ($($body:tt)*) => {
        impl<
                const QA: usize,
                const QB: usize,
                const PA: usize,
                const AA: usize,
                const BA: usize,
                const RA: usize,
                const RC: usize,
                const SPLIT: usize,
                const SMALL: usize,
                const ATOMICS: usize,
            > Rig<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>
        { $($body)* }
    };
}

fn head(request: Request) -> PacketHead {
    let word = |v: u64| -> Bits<32> { (v & 0xffff_ffff).to_bits() };
    let mut h = PacketHead {
        psn: (request.psn as u64).to_bits(),
        xth0: word(request.va >> 32),
        xth1: word(request.va),
        xth2: word(request.key as u64),
        xth3: word(request.length as u64),
        ..Default::default()
    };
    match request.op {
        Op::Read => h.opcode = 0x0cu64.to_bits(),
        Op::CompareSwap { swap, compare } => {
            h.opcode = 0x13u64.to_bits();
            (h.xth3, h.xth4) = (word(swap >> 32), word(swap));
            (h.xth5, h.xth6) = (word(compare >> 32), word(compare));
        }
        Op::FetchAdd { add } => {
            h.opcode = 0x14u64.to_bits();
            (h.xth3, h.xth4) = (word(add >> 32), word(add));
            (h.xth5, h.xth6) = (word(0x5555_5555), word(0xaaaa_aaaa));
        }
    }
    h
}

rig! {
    /// Out of reset, tables cleared, rows written: QPs 1.. with the given PMTU codes and ring lengths.
    pub fn new(seed: u64, habits: Habits, qps: &[(u32, usize)], regions: Vec<Region>) -> Self {
        println!("seed {seed}");
        let bench = Bench::verilated(
            Box::<ReadResponder<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>>::default(),
            if ATOMICS == 1 { "read_responder_tengig" } else { "read_responder_cu" },
            ports!(in reset, table_valid, table_address, table_data, head, request_valid, request_index, request_duplicate, request_msn, serve_valid, serve_index, s_ack, s_ack_valid, m_ack_ready, state_valid, state_index, state, key_done, key_ok, key_paged, key_address, job_ready, room, packet_ready, done_valid, done_error, atomic_locked, atomic_lookup_done, atomic_lookup_page, atomic_ar_ready, atomic_r_data, atomic_r_error, atomic_r_valid, atomic_aw_ready, atomic_w_ready, atomic_b_valid, atomic_b_error, qp_error_ready, event_ready, count_ready; out ready, table_ready, request_done, request_verdict, request_psns, serve_ready, s_ack_ready, m_ack, m_ack_valid, state_ready, key_start, key_op, key, key_va, key_length, key_pd, key_access, job, job_valid, packet_word, packet_last, packet_valid, done_ready, atomic_lock, atomic_lookup_valid, atomic_lookup_entry, atomic_ar_address, atomic_ar_length, atomic_ar_valid, atomic_r_ready, atomic_aw_address, atomic_aw_length, atomic_aw_valid, atomic_w_data, atomic_w_strobe, atomic_w_last, atomic_w_valid, qp_error_index, qp_error_valid, event_job, event_valid, count_code, count_valid),
        );
        let mut models = vec![Qp::new(0, 256, 0, 0, ATOMICS == 1)];
        for (i, (pmtu, places)) in qps.iter().enumerate() {
            models.push(Qp::new(i as u32 + 1, 128 << pmtu, 0x55 + i as u16, *places, ATOMICS == 1));
        }
        let mut rig = Rig {
            bench,
            rng: ChaCha8Rng::seed_from_u64(seed),
            habits,
            regions,
            lives: vec![0; models.len()],
            qps: models,
            asks: VecDeque::new(),
            retire: VecDeque::new(),
            seen: vec![],
            memory: HashMap::new(),
            mtt: HashMap::new(),
            failing: vec![],
            atomic_error: (false, false),
            unlocked: false,
            reads: 0,
            key_left: None,
            key_inputs: None,
            packet: vec![],
            job: None,
            words_on: false,
            job_on: false,
            ack_on: false,
            ack_free: false,
            retire_on: false,
            dones: VecDeque::new(),
            leaving: None,
            trouble: HashMap::new(),
            troubled: HashMap::new(),
            began: 0,
            flight: VecDeque::new(),
            read_left: None,
            atomic_old: None,
            write_address: None,
            write_data: None,
            answer: None,
            executed: None,
            lookup: None,
            say: format!("seed {seed}"),
        };
        rig.bench.uut.reset.next = true;
        rig.bench.step();
        rig.bench.step();
        rig.bench.uut.reset.next = false;
        for _ in 0..(1 << QA) + 2 {
            rig.bench.step();
        }
        rig.bench.settle();
        assert!(rig.bench.uut.ready.val(), "tables cleared");
        let mut base = 0;
        for (i, &(pmtu, depth)) in qps.iter().enumerate() {
            let model = &rig.qps[i + 1];
            let mut row = [0u32; QP_WORDS];
            qp::PMTU.set(&mut row, pmtu);
            qp::TAG.set(&mut row, 0xa00 + i as u32);
            qp::PD.set(&mut row, model.pd as u32);
            qp::PKEY.set(&mut row, 0xffff);
            qp::READ_RING_BASE.set(&mut row, base);
            qp::MAX_DEST_RD_ATOMIC.set(&mut row, depth as u32);
            base += depth as u32;
            for (word, value) in row.iter().enumerate() {
                rig.write((i as u64 + 1) * 32 + word as u64, *value);
            }
        }
        // Beyond the table, and row 0: taken and ignored.
        rig.write((1 << QA) * 32 + 32, 0xffff_ffff);
        rig.write(20, 0xffff_ffff);
        rig
    }

    fn write(&mut self, address: u64, value: u32) {
        self.bench.uut.table_valid.next = true;
        self.bench.uut.table_address.next = (address & 0x1_ffff).to_bits();
        self.bench.uut.table_data.next = (value as u64).to_bits();
        loop {
            self.bench.settle();
            let taken = self.bench.uut.table_ready.val();
            self.bench.edge();
            if taken {
                break;
            }
        }
        self.bench.uut.table_valid.next = false;
    }

    /// The memory's 8 bytes.
    pub fn at(&self, address: u64) -> u64 {
        *self.memory.get(&address).unwrap_or(&0)
    }

    /// A new request, and its release behind it.
    pub fn ask(&mut self, index: usize, request: Request, msn: u32) {
        self.asks.push_back(Ask::Request { index, request, duplicate: false, msn });
    }

    pub fn again(&mut self, index: usize, request: Request) {
        self.asks.push_back(Ask::Request { index, request, duplicate: true, msn: 0 });
    }

    pub fn leave(&mut self, leave: Leave) {
        let wait = self.rng.gen_range(self.habits.retire.0..=self.habits.retire.1);
        self.retire.push_back((self.bench.cycle + wait, leave));
    }

    /// Nothing is left to be done.
    pub fn quiet(&self) -> bool {
        self.asks.is_empty() && self.retire.is_empty() && self.flight.is_empty() && self.trouble.is_empty() && self.qps.iter().all(|q| !q.waiting())
    }

    /// Until nothing is left, and a little more.
    pub fn drain(&mut self) {
        let start = self.bench.cycle;
        let mut calm = 0;
        while calm < 60 {
            assert!(self.bench.cycle < start + 400_000, "{}: stuck at cycle {}", self.say, self.bench.cycle);
            self.step();
            calm = if self.quiet() { calm + 1 } else { 0 };
        }
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.step();
        }
    }

    /// The packets of a QP, words only.
    pub fn packets(&self, index: usize) -> Vec<Vec<u32>> {
        self.seen
            .iter()
            .filter_map(|s| match s {
                Seen::Packet(_, i, words) if *i == index => Some(words.clone()),
                _ => None,
            })
            .collect()
    }

    pub fn verdicts(&self) -> Vec<(u64, u32)> {
        self.seen
            .iter()
            .filter_map(|s| match s {
                Seen::Verdict(v, n) => Some((*v, *n)),
                _ => None,
            })
            .collect()
    }

    pub fn step(&mut self) {
        let cycle = self.bench.cycle;
        let say = format!("{} cycle {cycle}", self.say);
        let habits = self.habits;
        let rng = &mut self.rng;
        let u = &mut self.bench.uut;

        // Control.
        u.request_valid.next = false;
        u.state_valid.next = false;
        match self.asks.front() {
            Some(Ask::Request { index, request, duplicate, msn }) => {
                u.request_valid.next = true;
                u.request_index.next = (*index as u64).to_bits();
                u.request_duplicate.next = *duplicate;
                u.request_msn.next = (*msn as u64).to_bits();
                u.head.next = head(*request);
            }
            // Retire is empty of a QP before control takes its life.
            Some(Ask::State { index, state })
                if *state >= 2 || !self.retire.iter().any(|(_, l)| matches!(l, Leave::Serve(i) | Leave::Ack(i, ..) if i == index)) =>
            {
                u.state_valid.next = true;
                u.state_index.next = (*index as u64).to_bits();
                u.state.next = (*state as u64).to_bits();
                if *state < 2 {
                    self.leaving = Some(*index);
                }
            }
            _ => {}
        }
        // Retire.
        u.serve_valid.next = false;
        u.s_ack_valid.next = false;
        self.retire_on = self.retire_on || self.retire.front().is_some_and(|(due, _)| *due <= cycle);
        let offer = self.retire.front().filter(|_| self.retire_on).map(|(_, l)| *l);
        match offer {
            Some(Leave::Serve(index)) => {
                u.serve_valid.next = true;
                u.serve_index.next = (index as u64).to_bits();
            }
            Some(Leave::Ack(index, syndrome, psn, msn)) => {
                u.s_ack_valid.next = true;
                u.s_ack.next = AckJob {
                    qp_index: (index as u64).to_bits(),
                    syndrome: (syndrome as u64).to_bits(),
                    psn: (psn as u64).to_bits(),
                    msn: (msn as u64).to_bits(),
                    notification: false,
                };
                if !self.ack_on {
                    self.ack_on = true;
                    self.ack_free = false;
                }
                self.ack_free |= !self.qps[index].waiting();
            }
            None => {}
        }
        // Sinks.
        u.packet_ready.next = rng.gen_bool(habits.ready);
        u.job_ready.next = rng.gen_bool(habits.ready);
        u.room.next = rng.gen_bool(habits.ready);
        u.m_ack_ready.next = rng.gen_bool(habits.ack_ready);
        u.qp_error_ready.next = rng.gen_bool(habits.ack_ready);
        u.event_ready.next = rng.gen_bool(habits.ack_ready);
        u.count_ready.next = rng.gen_bool(habits.ack_ready);
        // Keys: noise outside the done cycle.
        u.key_done.next = false;
        u.key_ok.next = rng.gen();
        u.key_paged.next = rng.gen();
        u.key_address.next = rng.gen::<u64>().to_bits();
        if let (Some(left), Some(inputs)) = (self.key_left, self.key_inputs) {
            self.key_left = Some(left.saturating_sub(1));
            if left <= 1 {
                let answer = check(&self.regions, inputs.0 as u32, inputs.3 as u16, inputs.1, inputs.2 as u32, inputs.4 == 8);
                u.key_done.next = true;
                u.key_ok.next = answer.is_some();
                if let Some((paged, address)) = answer {
                    u.key_paged.next = paged;
                    u.key_address.next = address.to_bits();
                }
            }
        }
        // Payload reads.
        let done = self.dones.front().filter(|d| d.0 <= cycle).copied();
        u.done_valid.next = done.is_some();
        u.done_error.next = done.is_some_and(|d| d.1);
        // ATOMIC memory.
        u.atomic_locked.next = !self.unlocked && rng.gen_bool(habits.ready);
        u.atomic_lookup_done.next = false;
        u.atomic_lookup_page.next = rng.gen::<u64>().to_bits();
        if let Some(entry) = self.lookup.filter(|_| rng.gen_bool(habits.ready)) {
            u.atomic_lookup_done.next = true;
            u.atomic_lookup_page.next = self.mtt[&entry].to_bits();
        }
        u.atomic_ar_ready.next = rng.gen_bool(habits.ready);
        u.atomic_aw_ready.next = rng.gen_bool(habits.ready);
        u.atomic_w_ready.next = rng.gen_bool(habits.ready);
        u.atomic_r_valid.next = false;
        u.atomic_r_data.next = rng.gen::<u64>().to_bits();
        u.atomic_r_error.next = rng.gen();
        if let Some((due, address)) = self.read_left.filter(|r| r.0 <= cycle) {
            let _ = due;
            u.atomic_r_valid.next = true;
            u.atomic_r_error.next = self.atomic_error.0;
            u.atomic_r_data.next = self.memory.get(&address).copied().unwrap_or(0).to_bits();
        }
        u.atomic_b_valid.next = false;
        u.atomic_b_error.next = rng.gen();
        if self.answer.is_some_and(|due| due <= cycle) {
            u.atomic_b_valid.next = true;
            u.atomic_b_error.next = self.atomic_error.1;
        }
        self.bench.settle();
        let u = &self.bench.uut;

        // Keys.
        let inputs = (
            u.key.val().to_u64(),
            u.key_va.val().to_u64(),
            u.key_length.val().to_u64(),
            u.key_pd.val().to_u64(),
            u.key_access.val().to_u64(),
        );
        if let Some(before) = self.key_inputs {
            assert_eq!(inputs, before, "{say}: the key check's inputs move");
        }
        if u.key_done.val() {
            self.key_left = None;
            self.key_inputs = None;
        }
        if u.key_start.val() {
            assert!(self.key_left.is_none(), "{say}: two key checks");
            self.key_left = Some(self.rng.gen_range(habits.key.0..=habits.key.1));
            self.key_inputs = Some(inputs);
        }

        self.see_atomic(&say, cycle);
        let u = &self.bench.uut;

        // Jobs and packets.
        if self.job_on {
            assert!(u.job_valid.val(), "{say}: the job is withdrawn");
        }
        self.job_on = u.job_valid.val() && !u.job_ready.val();
        if u.job_valid.val() && u.job_ready.val() {
            let job = u.job.val();
            assert!(job.last, "{say}: one piece a packet");
            assert!(self.job.is_none(), "{say}: two jobs for a packet");
            self.job = Some((job.paged, job.address.to_u64(), job.length.to_u64() as u32));
        }
        if self.words_on {
            assert!(u.packet_valid.val(), "{say}: the word is withdrawn");
        }
        if u.packet_valid.val() && self.packet.is_empty() && !self.words_on {
            self.began = cycle;
        }
        self.words_on = u.packet_valid.val() && !u.packet_ready.val();
        if u.packet_valid.val() && u.packet_ready.val() {
            self.packet.push(u.packet_word.val().to_u64() as u32);
            if u.packet_last.val() {
                let words = std::mem::take(&mut self.packet);
                let job = self.job.take();
                self.see_packet(&say, cycle, words, job);
            }
        }

        let u = &self.bench.uut;
        // Dones.
        if u.done_valid.val() && u.done_ready.val() {
            let (_, error, index, life) = self.dones.pop_front().unwrap();
            let (_, _, psn, msn) = self.flight.pop_front().unwrap();
            if error && self.lives[index] == life && !self.qps[index].shut && !self.trouble.contains_key(&index) {
                self.trouble.insert(index, (psn, msn));
                self.troubled.insert(index, cycle);
            }
        }
        // Retire.
        match offer {
            Some(Leave::Serve(index)) => {
                if u.serve_ready.val() {
                    // Its NAK may be on its way; then nothing is released, and nobody sees a difference before it.
                    self.qps[index].release();
                    self.retire.pop_front();
                    self.retire_on = false;
                }
            }
            Some(Leave::Ack(index, syndrome, psn, msn)) => {
                let passes = u.m_ack_valid.val() && u.m_ack_ready.val();
                if u.m_ack_valid.val() {
                    let ack = u.m_ack.val();
                    assert_eq!(
                        (ack.qp_index.to_u64(), ack.syndrome.to_u64(), ack.psn.to_u64(), ack.msn.to_u64()),
                        (index as u64, syndrome as u64, psn as u64, msn as u64),
                        "{say}: the ACK has changed"
                    );
                }
                assert!(!passes || u.s_ack_ready.val(), "{say}: an ACK doubles");
                if u.s_ack_ready.val() {
                    let troubled = self.trouble.contains_key(&index) || self.leaving == Some(index);
                    if passes {
                        // R36.
                        assert!(self.ack_free || troubled, "{say}: the ACK of QP {index} overtakes its responses");
                        self.seen.push(Seen::Forwarded(index, psn));
                    } else {
                        self.seen.push(Seen::Stays(index, psn));
                        if !troubled {
                            self.qps[index].hold(syndrome, psn, msn);
                        }
                    }
                    self.retire.pop_front();
                    self.retire_on = false;
                    self.ack_on = false;
                }
            }
            None => assert!(!u.m_ack_valid.val(), "{say}: an ACK from nowhere"),
        }
        // Control.
        match self.asks.front().copied() {
            Some(Ask::Request { index, request, duplicate, msn }) => {
                assert!(!u.state_ready.val() || u.state.val().to_u64() >= 2);
                if u.request_done.val() {
                    let (verdict, psns) = (u.request_verdict.val().to_u64(), u.request_psns.val().to_u64() as u32);
                    self.asks.pop_front();
                    if self.trouble.contains_key(&index) && verdict == 2 {
                        // The failed read has acted.
                    } else {
                        let want = self.qps[index].request(&self.regions, request, duplicate, msn);
                        if verdict != want.0 {
                            println!("{:x?}", &self.seen[self.seen.len().saturating_sub(12)..]);
                        }
                        assert_eq!(verdict, want.0, "{say}: verdict on {request:x?} duplicate {duplicate}, QP {:x?}", self.qps[index]);
                        if verdict == 0 {
                            assert_eq!(psns, want.1, "{say}: R22, {request:x?}");
                            self.leave(Leave::Serve(index));
                        }
                    }
                    self.seen.push(Seen::Verdict(verdict, if verdict == 0 { psns } else { 0 }));
                }
            }
            Some(Ask::State { index, state }) => {
                assert!(!u.request_done.val());
                if u.state_ready.val() && u.state_valid.val() {
                    self.asks.pop_front();
                    self.leaving = None;
                    if state < 2 {
                        self.qps[index].forget();
                        self.trouble.remove(&index);
                        self.lives[index] += 1;
                    }
                }
            }
            None => assert!(!u.request_done.val()),
        }
        let u = &self.bench.uut;
        if u.qp_error_valid.val() && u.qp_error_ready.val() {
            self.seen.push(Seen::QpError(u.qp_error_index.val().to_u64() as usize));
        }
        if u.event_valid.val() && u.event_ready.val() {
            let event = u.event_job.val();
            assert_eq!(event.event_type.to_u64(), verbena_spec::layout::event_type::QP_FATAL as u64);
            self.seen.push(Seen::Event(event.number.to_u64() as u32, event.detail.to_u64() as u32));
        }
        if u.count_valid.val() && u.count_ready.val() {
            self.seen.push(Seen::Count(u.count_code.val().to_u64() as u32));
        }
        self.bench.edge();
    }

    fn see_packet(&mut self, say: &str, cycle: u64, words: Vec<u32>, job: Option<(bool, u64, u32)>) {
        let index = (words[0] & 0xfff) as usize;
        assert!(index < self.qps.len(), "{say}: a packet of QP {index}");
        // An ACK that waited and whose turn had begun when the read failed leaves before the NAK: its first word comes 10 cycles after the turn's choice.
        let underway = words.get(3).is_some_and(|w| w >> 24 != 0x63) && self.troubled.get(&index).is_some_and(|&since| self.began <= since + 12);
        if words.get(1) == Some(&0x11) && self.trouble.contains_key(&index) && !underway {
            // R69: the NAK of the read that failed.
            let (psn, msn) = self.trouble.remove(&index).unwrap();
            self.qps[index].fail();
            assert_eq!(words, vec![index as u32 | 1 << 28, 0x11, psn, 0x63 << 24 | msn], "{say}: NAK");
            assert_eq!(job, None);
            self.seen.push(Seen::Packet(cycle, index, words));
            return;
        }
        if words.get(1) == Some(&0x11) && words.get(3).is_some_and(|w| w >> 24 == 0x63) && self.qps[index].atomic_due().is_some() {
            // An ATOMIC's memory failed.
            assert!(self.atomic_error.0 || self.atomic_error.1, "{say}: NAK without reason");
            assert_eq!(words[2], self.qps[index].atomic_due().unwrap().psn, "{say}");
            self.qps[index].fail();
            self.seen.push(Seen::Packet(cycle, index, words));
            return;
        }
        let mut old = None;
        if let Some(request) = self.qps[index].atomic_due() {
            // R58: what the unit has done is what this ATOMIC asks for.
            if let Some((address, was, new)) = self.executed.take() {
                let (paged, place) = check(&self.regions, request.key, self.qps[index].pd, request.va, 8, true).expect("checked");
                let place = if paged { self.mtt[&(place >> 12)] << 12 | place & 0xfff } else { place };
                assert_eq!(address, place, "{say}: the ATOMIC's place");
                assert_eq!(new, request.op.apply(was), "{say}: {request:x?} on {was:x}");
                self.seen.push(Seen::Atomic(address, was, new));
                old = Some(was);
            }
        }
        assert!(self.executed.is_none(), "{say}: an ATOMIC ran for nobody");
        let want = self.qps[index].packet(&self.regions, old);
        if words != want.words {
            println!("{:x?} {:x?}", &self.seen[self.seen.len().saturating_sub(12)..], self.qps[index]);
        }
        assert_eq!(words, want.words, "{say}: QP {index} packet {words:x?}, want {:x?}", want.words);
        assert_eq!(job, want.job, "{say}: QP {index} job");
        if job.is_some() {
            let error = self.failing.contains(&self.reads) || self.rng.gen_bool(self.habits.error);
            self.reads += 1;
            let wait = self.rng.gen_range(self.habits.done.0..=self.habits.done.1);
            let after = self.dones.back().map_or(0, |d| d.0);
            self.dones.push_back(((cycle + 1 + wait).max(after), error, index, self.lives[index]));
            self.flight.push_back((index, self.lives[index], want.psn, want.msn));
            assert!(self.flight.len() <= 8, "{say}: more than eight payloads under way");
        }
        self.seen.push(Seen::Packet(cycle, index, words));
    }

    /// The ATOMIC unit's bus.
    fn see_atomic(&mut self, say: &str, cycle: u64) {
        let wait = self.rng.gen_range(0..=if self.habits.ready < 1.0 { 30 } else { 0 });
        let u = &self.bench.uut;
        self.lookup = u.atomic_lookup_valid.val().then(|| u.atomic_lookup_entry.val().to_u64());
        if u.atomic_lookup_done.val() {
            self.lookup = None;
        }
        if u.atomic_r_valid.val() && u.atomic_r_ready.val() {
            let (_, address) = self.read_left.take().unwrap();
            self.atomic_old = Some((address, self.at(address)));
            if !self.atomic_error.0 {
                self.executed = Some((address, self.at(address), None));
            }
        }
        let u = &self.bench.uut;
        if u.atomic_ar_valid.val() && u.atomic_ar_ready.val() {
            assert!(u.atomic_lock.val(), "{say}: a read without the lock");
            assert_eq!(u.atomic_ar_length.val().to_u64(), 0);
            self.read_left = Some((cycle + 1 + wait, u.atomic_ar_address.val().to_u64()));
        }
        if u.atomic_aw_valid.val() && u.atomic_aw_ready.val() {
            assert!(self.write_address.is_none());
            self.write_address = Some(u.atomic_aw_address.val().to_u64());
        }
        if u.atomic_w_valid.val() && u.atomic_w_ready.val() {
            assert!(self.write_data.is_none() && u.atomic_w_last.val() && u.atomic_w_strobe.val().to_u64() == 255);
            self.write_data = Some(u.atomic_w_data.val().to_u64());
        }
        if u.atomic_b_valid.val() {
            self.answer = None;
        }
        if let (Some(address), Some(data), None) = (self.write_address, self.write_data, self.answer) {
            assert!(self.bench.uut.atomic_lock.val(), "{say}: a write without the lock");
            let (from, old) = self.atomic_old.take().expect("a read before the write");
            assert_eq!(from, address, "{say}: the ATOMIC writes elsewhere");
            self.memory.insert(address, data);
            self.executed = (!self.atomic_error.1).then_some((address, old, Some(data)));
            self.write_address = None;
            self.write_data = None;
            self.answer = Some(cycle + 1 + wait);
        }
    }
}

/// `tengig` and `cu` as built.
pub type Tengig = Rig<8, 9, 10, 12, 13, 4, 5, 1, 0, 1>;
pub type Cu = Rig<2, 3, 3, 7, 6, 1, 2, 0, 1, 0>;
