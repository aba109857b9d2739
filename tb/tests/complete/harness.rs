// SPDX-License-Identifier: MIT OR Apache-2.0
//! The world around `Complete`: models of Send's rows, of keys, WQE memory and sinks, and a host that posts. Each QP has its golden twin; every
//! job's outputs are compared with it, in order.

use super::golden::{add, before, Element, Golden, Message, Out, Response, Sender, Setup, Timer, KEY_OFFSET, PSN_MASK};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use verbena_hdl::requester::{Complete, CompleteConfig};
use verbena_hdl::rx::PacketHead;
use verbena_spec::layout::{event_type, qp, send_opcode, sq_wqe, state, QP_WORDS};
use verbena_tb::{ports, step::Bench};

pub type Uut<const W: usize> = Complete<W, 2, 7, 8, 3, 4>;

/// Time stands nearly still, or runs.
const SLOW: u64 = 2047 << 8;
const FAST: u64 = 8 << 8;
const PD: u32 = 0x1234;
const CQ: u32 = 0xabc;
pub const SQ_LOG: u32 = 4;

/// How the world behaves.
#[derive(Debug, Clone, Copy)]
pub struct Habits {
    /// Probability that a sink is ready in a cycle.
    pub ready: f64,
    /// Cycles from key start to done.
    pub key: u64,
    /// Cycles to the first R beat; probability of a beat a cycle.
    pub read: (u64, f64),
}

pub const BRISK: Habits = Habits {
    ready: 1.0,
    key: 8,
    read: (10, 1.0),
};
pub const LAZY: Habits = Habits {
    ready: 0.4,
    key: 13,
    read: (30, 0.5),
};

/// A QP's life as the host and Send see it.
pub struct Life {
    pub golden: Golden,
    pub messages: Vec<Message>,
    pub sender: Sender,
    pub tag: u32,
    pub sq_psn: u32,
    pub row: [u32; QP_WORDS],
}

pub struct Rig<const W: usize> {
    pub bench: Bench<Uut<W>>,
    pub habits: Habits,
    pub rng: ChaCha8Rng,
    pub lives: Vec<Life>,
    /// What has left, by QP, oldest first, with its cycle.
    pub log: VecDeque<(u64, usize, Out)>,
    pub errors: VecDeque<usize>,
    pub take_errors: bool,
    /// WQE memory, words by address.
    pub memory: HashMap<u64, u32>,
    pub read_error: bool,
    pub fetches: u64,
    pub fast: bool,
    look: u64,
    key_age: Option<u64>,
    reads: Option<(u64, u64, u64)>,
    held: HashMap<&'static str, String>,
    /// Set by the driver of the moment.
    response: Option<(usize, Response)>,
    flush: Option<(usize, u32)>,
    fail: Option<(usize, u32)>,
    sent: Option<(usize, u32)>,
    arm: Option<usize>,
    ack: Option<(usize, u64)>,
    ack_data: u64,
    seed: u64,
}

impl<const W: usize> Rig<W> {
    pub fn new(seed: u64, habits: Habits) -> Self {
        println!("seed {seed}");
        let small = W == 32;
        let mut bench = Bench::verilated(
            Box::new(Uut::<W>::new(CompleteConfig {
                atomic: !small,
                far: !small,
                direct: small,
            })),
            if small { "complete_cu" } else { "complete_tengig" },
            ports!(in reset, table_valid, table_address, table_data, head, response_valid, job_ready, entry_ready, key_done, key_ok, key_paged, key_address, fetch_ready, r_data, r_error, r_last, r_valid, rewind_ready, wake_ready, arm_valid, arm_index, fail_valid, fail_index, fail_wqe, fail_status, flush_valid, flush_index, flush_state, sent_valid, sent_index, sent_wqe, sent_status, look_data, ack_read, ack_index, ack_item, qp_error_ready, tick, count_ready; out table_ready, response_done, response_code, response_placed, job, job_valid, entry, entry_valid, key_start, key_op, key, key_va, key_length, key_pd, key_access, fetch_address, fetch_length, fetch_valid, r_ready, rewind_valid, rewind_index, rewind_psn, rewind_wqe, rewind_offset, rewind_hold, rewind_alone, wake_valid, wake_index, arm_ready, fail_ready, flush_ready, sent_ready, look_read, look_index, look_item, ack_data, ack_walk, ack_walk_index, qp_error_valid, qp_error_index, count_valid, count_code, ready),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        let setup = Setup {
            pmtu: 256,
            retry_count: 7,
            rnr_retry: 7,
            timeout: 0,
            beat_bytes: W as u32 / 8,
            selective_repeat: false,
        };
        let life = || Life {
            golden: Golden::new(setup),
            messages: vec![],
            sender: Sender::default(),
            tag: 0,
            sq_psn: 0,
            row: [0; QP_WORDS],
        };
        let mut rig = Self {
            bench,
            habits,
            rng: ChaCha8Rng::seed_from_u64(seed),
            lives: (0..4).map(|_| life()).collect(),
            log: VecDeque::new(),
            errors: VecDeque::new(),
            take_errors: true,
            memory: HashMap::new(),
            read_error: false,
            fetches: 0,
            fast: false,
            look: 0,
            key_age: None,
            reads: None,
            held: HashMap::new(),
            response: None,
            flush: None,
            fail: None,
            sent: None,
            arm: None,
            ack: None,
            ack_data: 0,
            seed,
        };
        rig.bench.settle();
        while !rig.bench.uut.ready.val() {
            rig.bench.step();
            rig.bench.settle();
            assert!(rig.bench.cycle < 200, "never ready");
        }
        rig
    }

    pub fn say(&self) -> String {
        format!("seed {} cycle {}", self.seed, self.bench.cycle)
    }

    /// One cycle.
    pub fn step(&mut self) {
        let say = self.say();
        let cycle = self.bench.cycle;
        let u = &mut self.bench.uut;
        let rng = &mut self.rng;
        let ready = self.habits.ready;
        u.tick.next = if self.fast { FAST } else { SLOW }.to_bits();
        u.look_data.next = self.look.to_bits();
        u.entry_ready.next = rng.gen_bool(ready);
        u.job_ready.next = rng.gen_bool(ready);
        u.rewind_ready.next = rng.gen_bool(ready);
        u.wake_ready.next = rng.gen_bool(ready);
        u.count_ready.next = rng.gen_bool(ready);
        u.fetch_ready.next = rng.gen_bool(ready);
        u.qp_error_ready.next = self.take_errors && rng.gen_bool(ready);
        u.response_valid.next = self.response.is_some();
        let mut head = PacketHead::default();
        if let Some((index, r)) = self.response {
            let life = &self.lives[index];
            head.opcode = (r.opcode as u64).to_bits();
            head.qpn = (life.tag << 12 | index as u32).to_bits();
            head.psn = r.psn.to_bits();
            head.xth0 = ((r.syndrome as u32) << 24 | 0x00_4321).to_bits();
            head.payload_length = r.payload.to_bits();
            head.payload_beat = r.beat.to_bits();
            head.payload_offset = r.lane.to_bits();
            head.end_beat = r.end_beat.to_bits();
        }
        u.head.next = head;
        u.flush_valid.next = self.flush.is_some();
        let (index, new) = self.flush.unwrap_or_default();
        u.flush_index.next = index.to_bits();
        u.flush_state.next = new.to_bits();
        u.fail_valid.next = self.fail.is_some();
        let (index, status) = self.fail.unwrap_or_default();
        u.fail_index.next = index.to_bits();
        u.fail_status.next = status.to_bits();
        u.fail_wqe.next = (self.lives[index].golden.wqe as u64).to_bits();
        u.sent_valid.next = self.sent.is_some();
        let (index, status) = self.sent.unwrap_or_default();
        u.sent_index.next = index.to_bits();
        u.sent_status.next = status.to_bits();
        u.sent_wqe.next = (self.lives[index].golden.wqe as u64).to_bits();
        u.arm_valid.next = self.arm.is_some();
        u.arm_index.next = self.arm.unwrap_or_default().to_bits();
        u.ack_read.next = self.ack.is_some();
        let (index, item) = self.ack.unwrap_or_default();
        u.ack_index.next = index.to_bits();
        u.ack_item.next = item.to_bits();

        // Keys: the answer counts in the done cycle only.
        self.bench.settle();
        let u = &mut self.bench.uut;
        let key_now = u.key_start.val() && self.key_age.is_some_and(|age| age >= self.habits.key);
        u.key_done.next = key_now;
        u.key_ok.next = rng.gen();
        u.key_paged.next = rng.gen();
        u.key_address.next = rng.gen::<u64>().to_bits();
        if key_now {
            let key = u.key.val().to_u64();
            u.key_ok.next = key & 1 == 0;
            u.key_paged.next = key & 2 == 2;
            u.key_address.next = u.key_va.val().to_u64().wrapping_add(KEY_OFFSET).to_bits();
            assert_eq!(u.key_access.val().to_u64(), 1, "{say}: local write");
            assert_eq!(u.key_op.val().to_u64(), 0, "{say}");
            assert_eq!(u.key_pd.val().to_u64(), PD as u64, "{say}");
            assert!(u.key_length.val().any(), "{say}: a key check of nothing");
        }
        // WQE memory.
        let mut beat = None;
        if let Some((address, number, since)) = self.reads {
            let per = W as u64 / 32;
            let on = cycle >= since + self.habits.read.0 && (self.held.contains_key("r") || rng.gen_bool(self.habits.read.1));
            if on {
                let word = |i: u64| *self.memory.get(&(address + 4 * i)).expect("a WQE read where none was written") as u64;
                let data = (0..per).map(|k| word(number * per + k) << (32 * k)).fold(0, |a, b| a | b);
                beat = Some((data, number == 16 / per - 1));
            }
        }
        u.r_valid.next = beat.is_some();
        u.r_data.next = beat.map_or(0x5a5a_5a5a & ((1u128 << W) - 1) as u64, |b| b.0).to_bits();
        u.r_last.next = beat.is_some_and(|b| b.1);
        u.r_error.next = beat.is_some_and(|b| b.1) && self.read_error;
        self.bench.settle();
        let u = &self.bench.uut;

        // What stands must go on standing.
        let mut stand = vec![];
        if u.entry_valid.val() {
            stand.push(("entry", format!("{:?}", u.entry.val()), u.entry_ready.val()));
        }
        if u.job_valid.val() {
            stand.push(("job", format!("{:?}", u.job.val()), u.job_ready.val()));
        }
        if u.rewind_valid.val() {
            let what = (
                u.rewind_index.val(),
                u.rewind_psn.val(),
                u.rewind_wqe.val(),
                u.rewind_offset.val(),
                u.rewind_hold.val(),
                u.rewind_alone.val(),
            );
            stand.push(("rewind", format!("{what:?}"), u.rewind_ready.val()));
        }
        if u.wake_valid.val() {
            stand.push(("wake", format!("{:?}", u.wake_index.val()), u.wake_ready.val()));
        }
        if u.count_valid.val() {
            stand.push(("count", format!("{:?}", u.count_code.val()), u.count_ready.val()));
        }
        if u.fetch_valid.val() {
            stand.push(("fetch", format!("{:?}", u.fetch_address.val()), u.fetch_ready.val()));
        }
        if u.qp_error_valid.val() {
            stand.push(("qp_error", format!("{:?}", u.qp_error_index.val()), u.qp_error_ready.val()));
        }
        if u.key_start.val() {
            let what = (u.key.val(), u.key_va.val().to_u64(), u.key_length.val(), u.key_pd.val());
            stand.push(("key", format!("{what:?}"), key_now));
        }
        if let Some(beat) = beat {
            stand.push(("r", format!("{beat:?}"), u.r_ready.val()));
        }
        for (name, was) in std::mem::take(&mut self.held) {
            let now = stand.iter().find(|s| s.0 == name);
            assert_eq!(now.map(|s| &s.1), Some(&was), "{say}: {name} changed before it was taken");
        }
        for (name, what, taken) in stand {
            if !taken {
                self.held.insert(name, what);
            }
        }

        // What was taken.
        if u.job_valid.val() && u.job_ready.val() {
            let j = u.job.val();
            assert!(j.write && u.response_valid.val(), "{say}: a job outside a response");
            let out = Out::Job {
                paged: j.paged,
                address: j.address.to_u64(),
                length: j.length.to_u64() as u32,
                beat: j.ring_beat.to_u64() as u32,
                lane: j.ring_offset.to_u64() as u32,
                release: j.release,
                end_beat: j.end_beat.to_u64() as u32,
                swap: j.swap,
            };
            self.log.push_back((cycle, self.response.unwrap().0, out));
        }
        if u.entry_valid.val() && u.entry_ready.val() {
            let e = u.entry.val();
            let index = e.qp_index.to_u64() as usize;
            assert_eq!(e.qpn.to_u64() as u32, self.lives[index].tag << 12 | index as u32, "{say}: QPN");
            assert!(!e.respond && !e.with_imm && !e.with_invalidate && !e.grh && !e.solicited, "{say}");
            if e.complete {
                assert_eq!(e.cq.to_u64() as u32, CQ, "{say}: CQ");
                // Its WQE is free for the host before the row says so.
                assert!(
                    u.ack_walk.val() && u.ack_walk_index.val().to_u64() as usize == index,
                    "{say}: the row's lag isn't told"
                );
            }
            let status = e.status.to_u64() as u32;
            let success = e.complete && status == 0;
            let kind = e.event_type.to_u64() as u32;
            let out = Out::Entry {
                jobs: e.jobs.to_u64() as u32,
                complete: e.complete,
                status,
                opcode: if success { e.completion_opcode.to_u64() as u32 } else { 0 },
                wqe: e.wqe_index.to_u64() as u16,
                length: if success { e.byte_length.to_u64() as u32 } else { 0 },
                fatal: (e.event && kind == event_type::QP_FATAL).then_some(e.syndrome.to_u64() as u32),
                drained: e.event && kind == event_type::SQ_DRAINED,
            };
            self.log.push_back((cycle, index, out));
        }
        if u.rewind_valid.val() && u.rewind_ready.val() {
            let index = u.rewind_index.val().to_u64() as usize;
            let psn = u.rewind_psn.val().to_u64() as u32;
            let out = Out::Rewind {
                psn,
                wqe: u.rewind_wqe.val().to_u64() as u16,
                offset: u.rewind_offset.val().to_u64() as u32,
                hold: u.rewind_hold.val(),
                alone: u.rewind_alone.val(),
            };
            let sender = &mut self.lives[index].sender;
            (sender.next, sender.alone) = (psn, u.rewind_alone.val());
            self.log.push_back((cycle, index, out));
        }
        if u.wake_valid.val() && u.wake_ready.val() {
            self.log.push_back((cycle, u.wake_index.val().to_u64() as usize, Out::Wake));
        }
        if u.count_valid.val() && u.count_ready.val() {
            // A count names no QP; it is the one's whose job this is.
            let index = u.look_index.val().to_u64() as usize;
            self.log.push_back((cycle, index, Out::Count(u.count_code.val().to_u64() as u8)));
        }
        if u.qp_error_valid.val() && u.qp_error_ready.val() {
            self.errors.push_back(u.qp_error_index.val().to_u64() as usize);
        }
        if u.response_done.val() {
            let (index, _) = self.response.take().expect("done without a response");
            let out = Out::Done(u.response_code.val().to_u64() as u8, u.response_placed.val());
            self.log.push_back((cycle, index, out));
        }
        if u.flush_ready.val() {
            self.flush = None;
        }
        if u.fail_ready.val() {
            self.fail = None;
        }
        if u.sent_ready.val() {
            self.sent = None;
        }
        if u.arm_ready.val() {
            self.arm = None;
        }
        self.key_age = if u.key_start.val() && !key_now {
            Some(self.key_age.map_or(1, |a| a + 1))
        } else {
            None
        };
        if beat.is_some() && u.r_ready.val() {
            let (address, number, since) = self.reads.unwrap();
            self.reads = (number + 1 < 512 / W as u64).then_some((address, number + 1, since));
        }
        if u.fetch_valid.val() && u.fetch_ready.val() {
            assert!(self.reads.is_none(), "{say}: a second WQE read");
            assert_eq!(u.fetch_length.val().to_u64(), 512 / W as u64 - 1);
            self.fetches += 1;
            self.reads = Some((u.fetch_address.val().to_u64(), 0, cycle));
        }
        // Send's rows.
        let look = u.look_read.val().then(|| {
            let life = &self.lives[u.look_index.val().to_u64() as usize];
            let item = u.look_item.val().to_u64();
            let s = &life.sender;
            match item {
                0 => s.next as u64 | (s.alone as u64) << 24 | 0x5400_0000,
                1 => (s.begun as u64) | (s.producer as u64) << 16,
                2 => s.highest as u64 | 0xaa00_0000,
                3 => s.begun as u64 | 0xffff_0000,
                16.. => {
                    // The record of the youngest begun message in that place.
                    let place = (item - 16) / 2;
                    let begun = (0..s.begun as u64).rev().find(|i| i & 7 == place);
                    match begun {
                        None => 0xdead_beef,
                        Some(i) => {
                            let m = &life.messages[i as usize];
                            if item & 1 == 0 {
                                m.first as u64 | (m.opcode as u64) << 24 | (m.signaled as u64) << 28
                            } else {
                                m.length as u64
                            }
                        }
                    }
                }
                _ => panic!("{say}: looks at item {item}"),
            }
        });
        if self.ack.is_some() {
            self.ack = None;
        }
        self.bench.edge();
        if let Some(look) = look {
            self.look = look;
        }
        self.bench.settle();
        self.ack_data = self.bench.uut.ack_data.val().to_u64();
    }

    pub fn steps(&mut self, n: u64) {
        for _ in 0..n {
            self.step();
        }
    }

    /// Whether the machine rests: nothing under way for long enough.
    pub fn rest(&mut self) {
        self.steps(if self.habits.ready < 1.0 { 60 } else { 12 });
    }

    fn table(&mut self, index: usize, word: usize, data: u32) {
        let u = &mut self.bench.uut;
        u.table_valid.next = true;
        u.table_address.next = (index * 32 + word).to_bits();
        u.table_data.next = data.to_bits();
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

    /// RESET, a new row, and up to RTS.
    pub fn connect(&mut self, index: usize, setup: Setup, sq_psn: u32) {
        self.change(index, state::RESET);
        let code = (1..=5).find(|p| 128u32 << p == setup.pmtu).unwrap();
        let tag = self.rng.gen_range(0..0x1000);
        let mut row: [u32; QP_WORDS] = std::array::from_fn(|_| self.rng.gen());
        qp::PMTU.set(&mut row, code);
        qp::TAG.set(&mut row, tag);
        qp::PD.set(&mut row, PD);
        qp::SEND_CQ.set(&mut row, CQ);
        qp::SQ_LOG.set(&mut row, SQ_LOG);
        qp::SQ_PSN.set(&mut row, sq_psn);
        qp::SQ_BASE_LOW.set(&mut row, 0xab00_0000 | (index as u32) << 16);
        qp::SQ_BASE_HIGH.set(&mut row, 0x77);
        qp::TIMEOUT.set(&mut row, setup.timeout);
        qp::RETRY_COUNT.set(&mut row, setup.retry_count);
        qp::RNR_RETRY.set(&mut row, setup.rnr_retry);
        qp::SELECTIVE_REPEAT.set(&mut row, setup.selective_repeat as u32);
        for (word, data) in row.into_iter().enumerate() {
            self.table(index, word, data);
        }
        let life = &mut self.lives[index];
        life.row = row;
        life.tag = tag;
        life.sq_psn = sq_psn;
        life.golden.setup = setup;
        life.messages.clear();
        life.sender = Sender {
            next: sq_psn,
            highest: sq_psn,
            ..Default::default()
        };
        self.change(index, state::INIT);
        self.change(index, state::RTR);
        self.change(index, state::RTS);
    }

    /// The host posts.
    pub fn post(&mut self, index: usize, opcode: u32, length: u32, signaled: bool, elements: &[Element]) -> usize {
        let life = &mut self.lives[index];
        let number = life.messages.len();
        let mut w = [0u32; 16];
        w.iter_mut().for_each(|w| *w = self.rng.gen());
        sq_wqe::OPCODE.set(&mut w, opcode);
        sq_wqe::SIGNALED.set(&mut w, signaled as u32);
        sq_wqe::ELEMENTS.set(&mut w, elements.len() as u32);
        sq_wqe::LENGTH.set(&mut w, length);
        for (e, at) in elements.iter().zip([6, 10]) {
            w[at] = e.va as u32;
            w[at + 1] = (e.va >> 32) as u32;
            w[at + 2] = e.length;
            w[at + 3] = e.key;
        }
        let base = 0x77_ab00_0000 | (index as u64) << 16;
        let at = base + 64 * (number as u64 & ((1 << SQ_LOG) - 1));
        for (i, word) in w.into_iter().enumerate() {
            self.memory.insert(at + 4 * i as u64, word);
        }
        life.messages.push(Message {
            opcode,
            signaled,
            length,
            elements: elements.to_vec(),
            first: 0,
        });
        life.sender.producer = life.messages.len() as u16;
        number
    }

    /// Send begins the next message, and sends `packets` of it at once.
    pub fn begin(&mut self, index: usize, packets: u32) {
        let life = &mut self.lives[index];
        let s = &mut life.sender;
        let first = if s.begun == 0 {
            life.sq_psn
        } else {
            life.messages[s.begun as usize - 1].end(life.golden.setup.pmtu)
        };
        assert!(s.begun < s.producer && s.begun.wrapping_sub(life.golden.wqe) < 8);
        let message = &mut life.messages[s.begun as usize];
        message.first = first;
        let packets = packets.min(message.packets(life.golden.setup.pmtu));
        s.begun += 1;
        s.highest = add(first, packets);
        s.next = s.highest;
    }

    /// A message posted, begun and sent whole; its index.
    pub fn send(&mut self, index: usize, opcode: u32, length: u32) -> usize {
        let elements = [Element {
            va: 0x4000_0003,
            length,
            key: 0x100,
        }];
        let atomic = opcode >= send_opcode::COMPARE_SWAP;
        let elements = if atomic { [Element { length: 8, ..elements[0] }] } else { elements };
        let number = self.post(index, opcode, length, true, &elements);
        self.begin(index, u32::MAX);
        number
    }

    /// What has left since is exactly that.
    pub fn compare(&mut self, index: usize, want: Vec<Out>) {
        let got: Vec<Out> = self
            .log
            .drain(..)
            .map(|(_, i, out)| {
                assert_eq!(i, index);
                out
            })
            .collect();
        assert_eq!(got, want, "{}: QP {index} did / should have done", self.say());
        self.rows(index);
    }

    /// Words 0 and 1 as Send reads them.
    pub fn rows(&mut self, index: usize) {
        let g = &self.lives[index].golden;
        let want = [(g.oldest as u64, PSN_MASK as u64), (g.wqe as u64, 0xffff)];
        for (item, (want, mask)) in want.into_iter().enumerate() {
            self.ack = Some((index, item as u64));
            self.step();
            assert_eq!(self.ack_data & mask, want, "{}: ack row word {item} of QP {index}", self.say());
        }
    }

    /// A response, start to done, compared; returns what left and the cycles it took.
    pub fn respond(&mut self, index: usize, r: Response) -> (Vec<Out>, u64) {
        let life = &mut self.lives[index];
        let sender = life.sender;
        let want = life.golden.response(&life.messages, &sender, &r);
        self.response = Some((index, r));
        let start = self.bench.cycle;
        while self.response.is_some() {
            self.step();
            assert!(self.bench.cycle - start < 3000, "{}: {r:?} never ends", self.say());
        }
        let cycles = self.bench.cycle - start;
        self.compare(index, want.clone());
        (want, cycles)
    }

    /// A response without a comparison.
    pub fn respond_raw(&mut self, index: usize, r: Response) -> Vec<Out> {
        self.response = Some((index, r));
        let start = self.bench.cycle;
        while self.response.is_some() {
            self.step();
            assert!(self.bench.cycle - start < 3000, "{}: {r:?} never ends", self.say());
        }
        self.rows(index);
        self.log.drain(..).map(|(_, _, out)| out).collect()
    }

    /// Send's word of a new state.
    pub fn change(&mut self, index: usize, new: u32) {
        let life = &mut self.lives[index];
        let (sq_psn, sender) = (life.sq_psn, life.sender);
        let want = life.golden.flush(new, sq_psn, &sender);
        self.flush = Some((index, new));
        let start = self.bench.cycle;
        while self.flush.is_some() {
            self.step();
            assert!(self.bench.cycle - start < 20000, "{}: state {new} never ends", self.say());
        }
        if new > state::RTR {
            self.compare(index, want);
        }
        assert!(self.log.is_empty());
    }

    pub fn fail(&mut self, index: usize, status: u32) {
        let want = self.lives[index].golden.fail(status);
        self.fail = Some((index, status));
        while self.fail.is_some() {
            self.step();
        }
        self.compare(index, want);
    }

    pub fn sent(&mut self, index: usize, status: u32) {
        let life = &mut self.lives[index];
        let sender = life.sender;
        let want = life.golden.sent(&life.messages, &sender, status);
        self.sent = Some((index, status));
        while self.sent.is_some() {
            self.step();
        }
        self.compare(index, want);
    }

    pub fn arm(&mut self, index: usize) {
        self.lives[index].golden.armed();
        self.arm = Some(index);
        let start = self.bench.cycle;
        while self.arm.is_some() {
            self.step();
            assert!(self.bench.cycle - start < 100, "{}: arm never ends", self.say());
        }
    }

    /// Lets time run until the QP's timer has fired once, and compares; the cycles of it. A golden timer that is off must not fire.
    pub fn expire(&mut self, index: usize) -> u64 {
        let life = &mut self.lives[index];
        let (running, sender) = (life.golden.timer, life.sender);
        let want = if running == Timer::Off {
            vec![]
        } else {
            life.golden.expired(&life.messages, &sender)
        };
        let start = self.bench.cycle;
        let was_fast = std::mem::replace(&mut self.fast, true);
        while self.log.is_empty() {
            self.step();
            if want.is_empty() && self.bench.cycle - start > 4000 {
                break;
            }
            assert!(
                self.bench.cycle - start < 2_000_000,
                "{}: {running:?} of QP {index} never fires",
                self.say()
            );
        }
        let cycles = self.bench.cycle - start;
        self.fast = was_fast;
        self.rest();
        self.compare(index, want);
        cycles
    }

    /// A failed QP is reported to control, which tells Send, which tells Complete.
    pub fn bury(&mut self, index: usize) {
        assert!(self.lives[index].golden.dead);
        let start = self.bench.cycle;
        self.fast = true;
        while self.errors.is_empty() {
            self.step();
            assert!(self.bench.cycle - start < 2000, "{}: no qp_error", self.say());
        }
        self.fast = false;
        assert_eq!(self.errors.pop_front(), Some(index));
        assert!(self.log.is_empty());
        self.change(index, state::ERR);
    }

    pub fn ack(&mut self, index: usize, psn: u32) -> (Vec<Out>, u64) {
        self.respond(index, acknowledge(psn, 0x1f))
    }

    pub fn outstanding(&self, index: usize) -> bool {
        before(self.lives[index].golden.oldest, self.lives[index].sender.highest)
    }
}

pub fn acknowledge(psn: u32, syndrome: u8) -> Response {
    Response {
        opcode: 0x11,
        psn: psn & PSN_MASK,
        syndrome,
        payload: 0,
        beat: 100,
        lane: 0,
        end_beat: 101,
    }
}

pub fn data(opcode: u8, psn: u32, payload: u32) -> Response {
    Response {
        opcode,
        psn: psn & PSN_MASK,
        syndrome: 0x1f,
        payload,
        beat: 200,
        lane: 0,
        end_beat: 300,
    }
}

pub const SETUP: Setup = Setup {
    pmtu: 256,
    retry_count: 3,
    rnr_retry: 2,
    timeout: 4,
    beat_bytes: 8,
    selective_repeat: false,
};
