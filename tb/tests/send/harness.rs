// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Send` among models: host memory with WQE rings, Keys, PacketArbiter with payload reads, and `Complete`. Every packet is compared with the
//! golden one as it leaves; every piece is accounted for; the rules of what may be outstanding are watched.

use super::super::golden::{self, Packet, Setup, Wqe};
use super::{Uut, BUS, NAME, QPS};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use verbena_spec::layout::{qp, sq_wqe, state, Field};
use verbena_tb::{ports, step::Bench};

#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub pd: u32,
    pub va: u64,
    pub length: u64,
    pub address: u64,
    pub paged: bool,
}

/// One QP as host and peer see it.
#[derive(Debug, Clone)]
pub struct Qp {
    pub setup: Setup,
    pub state: u32,
    /// Posted WQEs by index.
    pub wqes: Vec<Wqe>,
    /// Doorbell rung up to here.
    pub producer: usize,
    /// The next packet: WQE, bytes sent, PSN.
    pub wqe: usize,
    pub offset: u32,
    pub psn: u32,
    pub highest: u32,
    /// The next packet is sent again alone; then on at the highest PSN, whose place is this byte of its message, or (0) its begin.
    pub alone: bool,
    pub highest_offset: u32,
    /// PSNs of packets, as they left.
    pub psns: Vec<u32>,
    /// Messages begun: first PSN, PSNs.
    pub begun: Vec<(u32, u32)>,
    /// Oldest uncompleted WQE; oldest unacknowledged PSN.
    pub oldest: usize,
    pub oldest_psn: u32,
    pub fails: Vec<(u16, u32)>,
    pub sent: Vec<u16>,
    pub arms: u64,
    pub want_arms: u64,
    pub packets: u64,
    /// No packet may come: a hold, or a refused WQE.
    pub held: bool,
}

impl Qp {
    /// On at the highest PSN.
    pub fn resume(&mut self) {
        self.alone = false;
        (self.psn, self.offset) = (self.highest, self.highest_offset);
        self.wqe = self.begun.len() - usize::from(self.highest_offset != 0);
    }

    /// A packet that was to be sent again alone needn't be.
    pub fn see_acknowledged(&mut self) {
        if self.alone && ((self.psn.wrapping_sub(self.oldest_psn) << 8) as i32) < 0 {
            self.resume();
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    Doorbell(u32, u16),
    State(u32, u32),
    Rewind {
        index: u32,
        psn: u32,
        wqe: u16,
        offset: u32,
        hold: bool,
        alone: bool,
    },
    Wake(u32),
}

pub struct Harness {
    bench: Bench<Uut>,
    pub rng: ChaCha8Rng,
    pub seed: u64,
    /// Percent of cycles in which a sink or source stands still.
    pub stall: u32,
    /// Cycles from an AR to its first beat, and from a packet to its `done`.
    pub latency: u64,
    pub done_latency: u64,
    pub key_latency: u32,
    pub qps: Vec<Qp>,
    pub regions: HashMap<u32, Region>,
    pub memory: HashMap<u64, u32>,
    /// WQE addresses that read with an error.
    pub bad: HashSet<u64>,
    /// Payload reads (by number) that fail.
    pub bad_reads: HashSet<u64>,
    pub reads: u64,
    asked: [Option<Ask>; 4],
    waiting: [VecDeque<Ask>; 4],
    ar: VecDeque<(u64, u64)>,
    beat: u64,
    r_on: bool,
    key: Option<(u32, [u64; 4])>,
    words: Vec<u32>,
    jobs: Vec<(bool, u64, u32, bool)>,
    /// The transmitter takes no word.
    pub blocked: bool,
    /// Packets whose words came before a key was found bad.
    pub abandoned: u64,
    dones: VecDeque<(u64, bool)>,
    done_on: bool,
    ack_next: u32,
    /// Complete is at this QP, whose row is behind.
    pub walking: Option<u32>,
    look: Option<(u32, u32)>,
    look_data: u32,
    pub events: Vec<(u32, u32, u32)>,
    pub counters: BTreeMap<u32, u64>,
    pub flushes: Vec<(u32, u32)>,
    /// Cycle at which each packet's last word left.
    pub times: Vec<u64>,
    /// Cycles without anything that moves.
    pub quiet: u64,
    pub in_flight_fetches: usize,
    /// WQEs asked for, ever.
    pub fetches: usize,
    /// Acknowledge each message by itself so many cycles after its end.
    pub auto_ack: Option<u64>,
    acks: VecDeque<(u64, usize)>,
    /// A write has failed and its QP isn't in ERR yet.
    pub failing: bool,
    /// Cycles from a READ's or ATOMIC's acknowledgement until its bytes have landed.
    pub land_latency: u64,
    /// Write jobs to be handed over, and those under way with the cycle they land in: QPs.
    to_place: VecDeque<usize>,
    landing: VecDeque<(u64, usize)>,
    /// The last cycle in which a job of the QP landed.
    landed: HashMap<usize, u64>,
    /// Cycle of the packet's first payload read.
    first_job: u64,
    /// A job of another QP so often.
    pub foreign: Option<u64>,
    /// UC and UD messages: WQE, and the payload reads that must have ended before it is reported.
    want_sent: HashMap<usize, VecDeque<(u16, u64)>>,
    reads_done: u64,
}

fn bits<const N: usize>(value: u64) -> Bits<N> {
    value.to_bits()
}

impl Harness {
    pub fn new(seed: u64) -> Self {
        println!("seed {seed}");
        let mut h = Harness {
            bench: Bench::verilated(
                Box::<Uut>::default(),
                NAME,
                ports!(in reset, table_valid, table_address, table_data, doorbell_valid, doorbell_index, doorbell_producer, state_valid, state_index, state, key_done, key_ok, key_paged, key_address, fetch_ready, r_data, r_error, r_last, r_valid, job_ready, packet_ready, done_valid, done_error, placed, landed, failing, rewind_valid, rewind_index, rewind_psn, rewind_wqe, rewind_offset, rewind_hold, rewind_alone, wake_valid, wake_index, limited, rest_room, rested_valid, rested_index, arm_ready, fail_ready, flush_ready, sent_ready, look_read, look_index, look_item, ack_data, ack_walk, ack_walk_index, event_ready, count_ready; out table_ready, doorbell_ready, state_ready, key_start, key_op, key, key_va, key_length, key_pd, key_access, fetch_address, fetch_length, fetch_valid, r_ready, job, job_valid, packet_word, packet_last, packet_abandon, packet_valid, done_ready, rewind_ready, wake_ready, asked, ended, ended_packet, ended_payload, rest, rested_ready, arm_valid, arm_index, fail_valid, fail_index, fail_wqe, fail_status, flush_valid, flush_index, flush_state, sent_valid, sent_index, sent_wqe, look_data, ack_read, ack_index, ack_item, event_job, event_valid, count_valid, count_code, ready),
            ),
            rng: ChaCha8Rng::seed_from_u64(seed),
            seed,
            stall: 0,
            latency: 20,
            done_latency: 30,
            key_latency: 8,
            qps: vec![],
            regions: HashMap::new(),
            memory: HashMap::new(),
            bad: HashSet::new(),
            bad_reads: HashSet::new(),
            reads: 0,
            asked: [None; 4],
            waiting: Default::default(),
            ar: VecDeque::new(),
            beat: 0,
            r_on: false,
            key: None,
            words: vec![],
            jobs: vec![],
            blocked: false,
            abandoned: 0,
            dones: VecDeque::new(),
            done_on: false,
            ack_next: 0,
            walking: None,
            look: None,
            look_data: 0,
            events: vec![],
            counters: BTreeMap::new(),
            flushes: vec![],
            times: vec![],
            quiet: 0,
            in_flight_fetches: 0,
            fetches: 0,
            auto_ack: None,
            acks: VecDeque::new(),
            land_latency: 0,
            to_place: VecDeque::new(),
            landing: VecDeque::new(),
            failing: false,
            landed: HashMap::new(),
            first_job: 0,
            foreign: None,
            want_sent: HashMap::new(),
            reads_done: 0,
        };
        for index in 0..QPS {
            let setup = Setup {
                index,
                tag: 0x5a0 + index,
                service: 0,
                pmtu: 1,
                pd: 0x100 + index,
                sq_log: 4,
                base: (0x7_0000_0000u64 + index as u64) << 16,
                max_rd_atomic: 4,
                psn: 0x1000 * index,
                selective_repeat: false,
                selective_window: 0,
            };
            h.qps.push(Qp {
                setup,
                state: 0,
                wqes: vec![],
                producer: 0,
                wqe: 0,
                offset: 0,
                psn: 0,
                highest: 0,
                alone: false,
                highest_offset: 0,
                psns: vec![],
                begun: vec![],
                oldest: 0,
                oldest_psn: 0,
                fails: vec![],
                sent: vec![],
                arms: 0,
                want_arms: 0,
                packets: 0,
                held: false,
            });
        }
        h.bench.uut.reset.next = true;
        h.tick();
        h.tick();
        h.bench.uut.reset.next = false;
        let mut walk = 0;
        while !h.bench.uut.ready.val() {
            h.tick();
            walk += 1;
            assert!(walk <= QPS + 4, "the walk doesn't end");
        }
        h
    }

    fn table(&mut self, index: u32, word: usize, data: u32) {
        let u = &mut self.bench.uut;
        u.table_valid.next = true;
        u.table_address.next = bits(index as u64 * 32 + word as u64);
        u.table_data.next = bits(data as u64);
        for wait in 0.. {
            assert!(wait < 50, "table write not taken");
            self.bench.settle();
            let ready = self.bench.uut.table_ready.val();
            self.tick();
            if ready {
                break;
            }
        }
        self.bench.uut.table_valid.next = false;
    }

    /// Writes the row and takes the QP to RTS.
    pub fn connect(&mut self, index: u32, change: impl FnOnce(&mut Setup)) {
        let mut setup = self.qps[index as usize].setup;
        change(&mut setup);
        let mut row = [0x5555_5555u32; 32];
        let mut set = |field: Field, value: u32| field.set(&mut row, value);
        set(qp::SERVICE, setup.service as u32);
        set(qp::PMTU, setup.pmtu);
        set(qp::TAG, setup.tag);
        set(qp::PD, setup.pd);
        set(qp::SQ_LOG, setup.sq_log);
        set(qp::SQ_BASE_LOW, setup.base as u32);
        set(qp::SQ_BASE_HIGH, (setup.base >> 32) as u32);
        set(qp::SQ_PSN, setup.psn);
        set(qp::MAX_RD_ATOMIC, setup.max_rd_atomic);
        set(qp::SELECTIVE_REPEAT, setup.selective_repeat as u32);
        set(qp::SELECTIVE_WINDOW, setup.selective_window);
        for (word, &data) in row.iter().enumerate() {
            self.table(index, word, data);
        }
        self.want_sent.remove(&(index as usize));
        let old = &self.qps[index as usize];
        self.qps[index as usize] = Qp {
            setup,
            wqes: vec![],
            producer: 0,
            wqe: 0,
            offset: 0,
            psn: setup.psn,
            highest: setup.psn,
            alone: false,
            highest_offset: 0,
            psns: vec![],
            begun: vec![],
            oldest: 0,
            oldest_psn: setup.psn,
            fails: vec![],
            sent: vec![],
            arms: 0,
            want_arms: 0,
            packets: 0,
            held: false,
            state: old.state,
        };
        self.set_state(index, state::INIT);
        self.set_state(index, state::RTR);
        self.set_state(index, state::RTS);
    }

    /// A state change, waited for; its report must come.
    pub fn set_state(&mut self, index: u32, to: u32) {
        let before = self.flushes.len();
        self.ask(Ask::State(index, to));
        self.wait_asks();
        for wait in 0.. {
            if self.flushes.len() > before {
                break;
            }
            assert!(wait < 200, "no report of the state");
            self.tick();
        }
        assert_eq!(self.flushes[before..], [(index, to)], "report of the state");
        self.qps[index as usize].state = to;
        self.qps[index as usize].held = to != state::RTS && to != state::SQD;
    }

    /// A region for the QP's PD: key to VA and back.
    pub fn region(&mut self, key: u32, pd: u32, va: u64, length: u64, paged: bool) {
        let address = if paged {
            (self.rng.gen_range(0..0x1000u64) << 12) | (va & 0xfff)
        } else {
            va ^ 0x3_0000_0000
        };
        self.regions.insert(
            key,
            Region {
                pd,
                va,
                length,
                address,
                paged,
            },
        );
    }

    /// Puts a WQE into the ring; the doorbell is another call.
    pub fn post(&mut self, index: u32, wqe: Wqe) {
        let q = &mut self.qps[index as usize];
        let slot = q.wqes.len() as u64 & ((1 << q.setup.sq_log) - 1);
        for (i, &word) in wqe.iter().enumerate() {
            self.memory.insert(q.setup.base + slot * 64 + i as u64 * 4, word);
        }
        q.wqes.push(wqe);
    }

    pub fn ring(&mut self, index: u32) {
        let q = &mut self.qps[index as usize];
        q.producer = q.wqes.len();
        let producer = q.producer as u16;
        self.ask(Ask::Doorbell(index, producer));
    }

    pub fn ask(&mut self, ask: Ask) {
        let lane = match ask {
            Ask::Doorbell(..) => 0,
            Ask::State(..) => 1,
            Ask::Rewind { .. } => 2,
            Ask::Wake(_) => 3,
        };
        self.waiting[lane].push_back(ask);
    }

    pub fn asks_open(&self) -> bool {
        self.asked.iter().any(|a| a.is_some()) || self.waiting.iter().any(|w| !w.is_empty())
    }

    /// Until all that was asked has been taken.
    pub fn wait_asks(&mut self) {
        for wait in 0.. {
            if !self.asks_open() {
                break;
            }
            assert!(wait < 5000, "cycle {}: never taken: {:?}", self.bench.cycle, self.asked);
            self.tick();
        }
    }

    /// Messages up to `wqe` (not included) are acknowledged.
    pub fn acknowledge(&mut self, index: u32, wqe: usize) {
        let q = &mut self.qps[index as usize];
        assert!(
            wqe <= q.begun.len() && wqe >= q.oldest,
            "{index}: {wqe} {} {}",
            q.begun.len(),
            q.oldest
        );
        if wqe > q.oldest {
            let (first, psns) = q.begun[wqe - 1];
            q.oldest_psn = first.wrapping_add(psns) & 0xff_ffff;
            let wide = q.wqes[q.oldest..wqe].iter().filter(|w| golden::is_wide(w)).count();
            self.to_place.extend(std::iter::repeat_n(index as usize, wide));
            q.oldest = wqe;
            self.ask(Ask::Wake(index));
        }
    }

    /// PSN, WQE and offset of the packet that begins `packet` packets into WQE `wqe`.
    pub fn place(&self, index: u32, wqe: usize, packet: u32) -> (u32, u32) {
        let q = &self.qps[index as usize];
        ((q.begun[wqe].0 + packet) & 0xff_ffff, packet * q.setup.pmtu_bytes())
    }

    /// Goes back (or on) to a packet of a begun message.
    pub fn rewind(&mut self, index: u32, wqe: usize, packet: u32, hold: bool) {
        let (psn, offset) = self.place(index, wqe, packet);
        self.ask(Ask::Rewind {
            index,
            psn,
            wqe: wqe as u16,
            offset,
            hold,
            alone: false,
        });
        // The model goes back when the request is taken.
    }

    /// Sends a packet of a begun message again, alone (R42).
    pub fn repeat(&mut self, index: u32, wqe: usize, packet: u32) {
        let (psn, offset) = self.place(index, wqe, packet);
        self.ask(Ask::Rewind {
            index,
            psn,
            wqe: wqe as u16,
            offset,
            hold: false,
            alone: true,
        });
    }

    /// PSNs up to `psn` (not included) are acknowledged, all of them in a message that goes on.
    pub fn acknowledge_part(&mut self, index: u32, psn: u32) {
        self.qps[index as usize].oldest_psn = psn;
        self.ask(Ask::Wake(index));
    }

    /// Everything of the QP that was rung up for has gone out.
    pub fn all_out(&self, index: u32) -> bool {
        let mut q = self.qps[index as usize].clone();
        q.see_acknowledged();
        q.wqe == q.producer
    }

    /// Runs until the condition; fails if for `patience` cycles nothing moves.
    pub fn run_until(&mut self, patience: u64, what: &str, mut condition: impl FnMut(&Harness) -> bool) {
        self.quiet = 0;
        while !condition(self) {
            self.tick();
            assert!(
                self.quiet < patience,
                "seed {}, cycle {}: {what}: nothing moves for {patience} cycles",
                self.seed,
                self.bench.cycle
            );
        }
    }

    /// Runs until nothing has moved for so long.
    pub fn drain(&mut self, cycles: u64) {
        self.quiet = 0;
        while self.quiet < cycles {
            self.tick();
        }
    }

    pub fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.tick();
        }
    }

    fn lucky(&mut self) -> bool {
        self.stall == 0 || !self.rng.gen_ratio(self.stall, 100)
    }

    /// Reads a public row word or record word as `Complete` does.
    pub fn look(&mut self, index: u32, item: u32) -> u32 {
        self.look = Some((index, item));
        self.tick();
        self.tick();
        self.look = None;
        self.look_data
    }

    /// A public word in every cycle from now on, and what stands there.
    pub fn watch(&mut self, word: Option<(u32, u32)>) {
        self.look = word;
    }

    pub fn watched(&self) -> u32 {
        self.look_data
    }

    pub fn cycle(&self) -> u64 {
        self.bench.cycle
    }

    /// The public row and the records of what is outstanding, against the model.
    pub fn check_rows(&mut self, index: u32) {
        self.qps[index as usize].see_acknowledged();
        let q = self.qps[index as usize].clone();
        assert_eq!(self.look(index, 0), q.psn, "qp {index}: next PSN");
        assert_eq!(
            self.look(index, 1),
            q.wqe as u16 as u32 | (q.producer as u16 as u32) << 16,
            "qp {index}: next WQE, producer"
        );
        let inside = q.highest_offset != 0;
        let highest = q.highest | (inside as u32) << 24 | (q.setup.selective_repeat as u32) << 25 | q.setup.selective_window << 26;
        assert_eq!(self.look(index, 2), highest, "qp {index}: highest");
        assert_eq!(self.look(index, 3) & 0xffff, q.begun.len() as u16 as u32, "qp {index}: begun");
        for wqe in q.begun.len().saturating_sub(8).max(q.oldest)..q.begun.len() {
            let item = 16 + 2 * (wqe as u32 & 7);
            let a = q.begun[wqe].0 | (q.wqes[wqe][0] & 0x1f) << 24;
            assert_eq!(self.look(index, item), a, "qp {index}: record A of {wqe}");
            assert_eq!(self.look(index, item + 1), q.wqes[wqe][1], "qp {index}: record B of {wqe}");
        }
        assert_eq!(q.arms, q.want_arms, "qp {index}: arms");
    }

    fn finish_packet(&mut self) {
        let words = std::mem::take(&mut self.words);
        let jobs = std::mem::take(&mut self.jobs);
        let at = format!("seed {}, cycle {}", self.seed, self.bench.cycle);
        let index = (words[0] & 0xfff) as usize;
        let q = &mut self.qps[index];
        if words[2] != q.psn {
            q.see_acknowledged();
        }
        assert!(!q.held, "{at}: qp {index} sends, but may not");
        assert!(q.wqe < q.producer, "{at}: qp {index} sends WQE {} of {}", q.wqe, q.producer);
        let wqe = q.wqes[q.wqe];
        assert_eq!(golden::refusal(&q.setup, &wqe), None, "{at}: qp {index} sends a bad WQE");
        let want: Packet = golden::packet(&q.setup, &wqe, q.offset, q.psn);
        assert_eq!(
            words.iter().map(|w| format!("{w:08x}")).collect::<Vec<_>>(),
            want.words.iter().map(|w| format!("{w:08x}")).collect::<Vec<_>>(),
            "{at}: qp {index}, WQE {} at byte {}: {wqe:x?}",
            q.wqe,
            q.offset
        );
        let count = want.pieces.len();
        let want_jobs: Vec<_> = want
            .pieces
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let r = self.regions[&p.key];
                let address = if r.paged {
                    let page = (r.address >> 12) + ((p.va >> 12) - (r.va >> 12));
                    (page << 12) | (p.va & 0xfff)
                } else {
                    p.va - r.va + r.address
                };
                (r.paged, address, p.length, i + 1 == count)
            })
            .collect();
        assert_eq!(jobs, want_jobs, "{at}: qp {index}, WQE {} at byte {}: jobs", q.wqe, q.offset);
        if q.wqe == q.begun.len() {
            assert_eq!(q.offset, 0);
            assert_ne!(q.state, state::SQD, "{at}: qp {index}: new message in SQD");
            assert!(q.begun.len() - q.oldest < 8, "{at}: qp {index}: more than 8 outstanding");
            let wide = (q.oldest..q.begun.len()).filter(|&i| golden::is_wide(&q.wqes[i])).count() as u32;
            if golden::is_wide(&wqe) {
                assert!(wide < q.setup.max_rd_atomic, "{at}: qp {index}: R59");
            }
            if golden::get(&wqe, sq_wqe::FENCE) == 1 {
                assert_eq!(wide, 0, "{at}: qp {index}: fence");
                let open = self.to_place.iter().chain(self.landing.iter().map(|l| &l.1)).any(|&i| i == index);
                let landed = self.landed.get(&index).copied().unwrap_or(0);
                assert!(
                    !open && (jobs.is_empty() || landed < self.first_job),
                    "{at}: qp {index}: fence, and a READ's bytes haven't landed"
                );
            }
            q.begun.push((q.psn, golden::psns(&q.setup, &wqe)));
        }
        if q.setup.selective_repeat && q.setup.service == 0 && q.psn == q.highest {
            let outstanding = q.psn.wrapping_sub(q.oldest_psn) & 0xff_ffff;
            let window = if q.setup.selective_window == 0 {
                64
            } else {
                q.setup.selective_window
            };
            assert!(outstanding < window, "{at}: qp {index}: {outstanding} PSNs are outstanding already");
        }
        q.packets += 1;
        q.psns.push(q.psn);
        q.psn = (q.psn + want.psns) & 0xff_ffff;
        let newest = (q.psn.wrapping_sub(q.highest) << 8) as i32 > 0;
        if newest && !q.alone {
            q.highest = q.psn;
            q.highest_offset = want.offset.unwrap_or(0);
        }
        q.want_arms += want.ack_request as u64;
        match want.offset {
            Some(offset) => q.offset = offset,
            None => {
                q.offset = 0;
                q.wqe += 1;
                if q.setup.service != 0 {
                    let reads = self.reads + (words[0] >> 13 & 1) as u64;
                    self.want_sent.entry(index).or_default().push_back((q.wqe as u16 - 1, reads));
                } else if let Some(after) = self.auto_ack {
                    self.acks.push_back((self.bench.cycle + after, index));
                }
            }
        }
        if self.qps[index].alone {
            self.qps[index].resume();
        }
        if words[0] >> 13 & 1 == 1 {
            let error = self.bad_reads.contains(&self.reads);
            self.reads += 1;
            self.dones.push_back((self.bench.cycle + self.done_latency, error));
        }
        self.times.push(self.bench.cycle);
    }

    pub fn tick(&mut self) {
        let cycle = self.bench.cycle;
        self.quiet += 1;
        // Acknowledgements by themselves.
        while self.acks.front().is_some_and(|a| a.0 <= cycle) {
            let (_, index) = self.acks.pop_front().unwrap();
            let next = self.qps[index].oldest + 1;
            if next <= self.qps[index].begun.len() {
                self.acknowledge(index as u32, next);
            }
        }
        // Requests.
        for lane in 0..4 {
            if self.asked[lane].is_none() && self.lucky() {
                self.asked[lane] = self.waiting[lane].pop_front();
            }
        }
        let noise: u64 = self.rng.gen();
        let key_noise: [u64; 2] = self.rng.gen();
        let (fetch_ready, packet_ready, arm_ready, fail_ready) = (self.lucky(), self.lucky(), self.lucky(), self.lucky());
        let (flush_ready, sent_ready, event_ready, count_ready, job_luck) =
            (self.lucky(), self.lucky(), self.lucky(), self.lucky(), self.lucky());
        let beats = 512 / BUS as u64;
        if !self.r_on && self.ar.front().is_some_and(|a| a.1 <= cycle) {
            self.r_on = self.lucky();
        }
        if !self.done_on && self.dones.front().is_some_and(|d| d.0 <= cycle) {
            self.done_on = self.lucky();
        }
        // Bytes of READs and ATOMICs.
        let foreign = self.foreign.is_some_and(|every| cycle.is_multiple_of(every));
        let placed = self.to_place.pop_front().or(foreign.then_some(usize::MAX));
        let landed = self.landing.front().is_some_and(|l| l.0 <= cycle);
        if landed {
            let (_, index) = self.landing.pop_front().unwrap();
            self.landed.insert(index, cycle);
        }
        if let Some(index) = placed {
            self.landing.push_back((cycle + self.land_latency.max(1), index));
            assert!(self.landing.len() < 64, "too many jobs under way");
        }
        // Keys.
        let mut key_answer = None;
        if let Some((left, asked)) = &mut self.key {
            *left -= 1;
            if *left == 0 {
                let [key, va, length, pd] = *asked;
                let region = self.regions.get(&(key as u32));
                key_answer = Some(match region {
                    Some(r) if r.pd as u64 == pd && va >= r.va && va - r.va + length <= r.length => {
                        let address = if r.paged {
                            ((r.address >> 12) + ((va >> 12) - (r.va >> 12))) << 12 | (va & 0xfff)
                        } else {
                            va - r.va + r.address
                        };
                        (true, r.paged, address)
                    }
                    _ => (length == 0, false, noise),
                });
            }
        }
        let u = &mut self.bench.uut;
        u.placed.next = placed.is_some();
        u.landed.next = landed;
        u.failing.next = self.failing;
        u.doorbell_valid.next = false;
        u.state_valid.next = false;
        u.rewind_valid.next = false;
        u.wake_valid.next = false;
        u.rest_room.next = true;
        for ask in self.asked.iter().flatten() {
            match *ask {
                Ask::Doorbell(index, producer) => {
                    u.doorbell_valid.next = true;
                    u.doorbell_index.next = bits(index as u64);
                    u.doorbell_producer.next = bits(producer as u64);
                }
                Ask::State(index, to) => {
                    u.state_valid.next = true;
                    u.state_index.next = bits(index as u64);
                    u.state.next = bits(to as u64);
                }
                Ask::Rewind {
                    index,
                    psn,
                    wqe,
                    offset,
                    hold,
                    alone,
                } => {
                    u.rewind_alone.next = alone;
                    u.rewind_valid.next = true;
                    u.rewind_index.next = bits(index as u64);
                    u.rewind_psn.next = bits(psn as u64);
                    u.rewind_wqe.next = bits(wqe as u64);
                    u.rewind_offset.next = bits(offset as u64);
                    u.rewind_hold.next = hold;
                }
                Ask::Wake(index) => {
                    u.wake_valid.next = true;
                    u.wake_index.next = bits(index as u64);
                }
            }
        }
        u.fetch_ready.next = fetch_ready;
        u.r_valid.next = self.r_on;
        let mut r_value = noise as u128 | (noise as u128) << 64;
        let mut r_last = noise & 1 == 1;
        let mut r_error = noise & 2 == 2;
        if self.r_on {
            let address = self.ar[0].0;
            let words = BUS / 32;
            r_value = 0;
            for i in 0..words as u64 {
                let at = address + self.beat * words as u64 * 4 + i * 4;
                r_value |= (*self.memory.get(&at).unwrap_or(&0xdead_0000) as u128) << (32 * i);
            }
            r_last = self.beat + 1 == beats;
            r_error = self.bad.contains(&address) && self.beat == address / 64 % beats;
        }
        u.r_data.next = bits(r_value as u64 & (u64::MAX >> (64 - BUS)));
        u.r_last.next = r_last;
        u.r_error.next = r_error;
        u.packet_ready.next = packet_ready;
        u.arm_ready.next = arm_ready;
        u.fail_ready.next = fail_ready;
        u.flush_ready.next = flush_ready;
        u.sent_ready.next = sent_ready;
        u.event_ready.next = event_ready;
        u.count_ready.next = count_ready;
        u.done_valid.next = self.done_on;
        u.done_error.next = if self.done_on { self.dones[0].1 } else { noise & 4 == 4 };
        u.ack_data.next = bits(self.ack_next as u64);
        u.ack_walk.next = self.walking.is_some();
        u.ack_walk_index.next = bits(self.walking.unwrap_or(noise as u32 & 0xfff) as u64);
        let (ok, paged, address) = key_answer.unwrap_or((key_noise[0] & 1 == 1, key_noise[0] & 2 == 2, key_noise[1]));
        u.key_done.next = key_answer.is_some();
        u.key_ok.next = ok;
        u.key_paged.next = paged;
        u.key_address.next = bits(address);
        let look = self.look.unwrap_or((noise as u32 & (QPS - 1), (noise >> 16) as u32 & 31));
        u.look_read.next = self.look.is_some() || noise & 8 == 8;
        u.look_index.next = bits(look.0 as u64);
        u.look_item.next = bits(look.1 as u64);
        u.job_ready.next = false;
        self.bench.settle();
        // Jobs are taken once the packet's first word is on offer, not after its last, which waits for them.
        let u = &mut self.bench.uut;
        u.job_ready.next = job_luck && (u.packet_valid.val() || !self.words.is_empty());
        let packet_ready = packet_ready && !self.blocked && !(u.packet_last.val() && u.job_valid.val());
        u.packet_ready.next = packet_ready;
        self.bench.settle();

        // What happened.
        let at = format!("seed {}, cycle {cycle}", self.seed);
        let u = &self.bench.uut;
        let ready = [
            u.doorbell_ready.val(),
            u.state_ready.val(),
            u.rewind_ready.val(),
            u.wake_ready.val(),
        ];
        self.look_data = u.look_data.val().to_u64() as u32;
        if u.ack_read.val() {
            let q = &self.qps[u.ack_index.val().index()];
            self.ack_next = if u.ack_item.val().any() {
                q.oldest as u16 as u32 | (noise as u32) << 16
            } else {
                q.oldest_psn
            };
        } else {
            self.ack_next = noise as u32;
        }
        if u.key_start.val() {
            assert!(self.key.is_none(), "{at}: a key check inside another");
            assert_eq!((u.key_access.val().to_u64(), u.key_op.val().to_u64()), (0, 0));
        }
        let key_inputs = [
            u.key.val().to_u64(),
            u.key_va.val().to_u64(),
            u.key_length.val().to_u64(),
            u.key_pd.val().to_u64(),
        ];
        if let Some((left, asked)) = &mut self.key {
            // Key and PD stand from the cycle after the start on.
            if *left + 1 == self.key_latency {
                assert_eq!(asked[1..3], key_inputs[1..3], "{at}: the key's place moved");
                *asked = key_inputs;
            }
            assert_eq!(*asked, key_inputs, "{at}: the key's inputs moved");
        }
        if key_answer.is_some() {
            self.key = None;
        }
        if u.key_start.val() {
            self.key = Some((self.key_latency, key_inputs));
            self.quiet = 0;
        }
        if u.fetch_valid.val() && fetch_ready {
            let address = u.fetch_address.val().to_u64();
            assert_eq!(u.fetch_length.val().to_u64() + 1, beats, "{at}: burst length");
            assert_eq!(address % 64, 0, "{at}: WQE address");
            self.ar.push_back((address, cycle + self.latency));
            self.fetches += 1;
            self.in_flight_fetches = self.in_flight_fetches.max(self.ar.len());
            self.quiet = 0;
        }
        if self.r_on && u.r_ready.val() {
            self.beat += 1;
            self.r_on = false;
            self.quiet = 0;
            if self.beat == beats {
                self.beat = 0;
                self.ar.pop_front();
            } else {
                self.r_on = self.stall == 0 || !self.rng.gen_ratio(self.stall, 100);
            }
        }
        if self.done_on && u.done_ready.val() {
            self.dones.pop_front();
            self.done_on = false;
            self.reads_done += 1;
            self.quiet = 0;
        }
        let u = &self.bench.uut;
        if u.arm_valid.val() && arm_ready {
            self.qps[u.arm_index.val().index()].arms += 1;
        }
        if u.fail_valid.val() && fail_ready {
            let q = &mut self.qps[u.fail_index.val().index()];
            let (wqe, status) = (u.fail_wqe.val().to_u64() as u16, u.fail_status.val().to_u64() as u32);
            assert_eq!(wqe, q.oldest as u16, "{at}: only the oldest WQE fails");
            q.fails.push((wqe, status));
            q.held = true;
            self.quiet = 0;
        }
        if u.flush_valid.val() && flush_ready {
            self.flushes
                .push((u.flush_index.val().to_u64() as u32, u.flush_state.val().to_u64() as u32));
            self.quiet = 0;
        }
        if u.sent_valid.val() && sent_ready {
            let index = u.sent_index.val().index();
            let wqe = u.sent_wqe.val().to_u64() as u16;
            let want = self.want_sent.entry(index).or_default().pop_front();
            let (want, reads) = want.unwrap_or_else(|| panic!("{at}: qp {index}: WQE {wqe} reported, not sent"));
            assert_eq!(wqe, want, "{at}: qp {index}: reported out of order");
            assert!(self.reads_done >= reads, "{at}: qp {index}: reported before its payload read ended");
            self.qps[index].sent.push(wqe);
            if let Some(after) = self.auto_ack {
                self.acks.push_back((cycle + after, index));
            }
            self.quiet = 0;
        }
        if u.event_valid.val() && event_ready {
            let e = u.event_job.val();
            self.events
                .push((e.event_type.to_u64() as u32, e.number.to_u64() as u32, e.detail.to_u64() as u32));
        }
        if u.count_valid.val() && count_ready {
            *self.counters.entry(u.count_code.val().to_u64() as u32).or_default() += 1;
        }
        if u.job_valid.val() && u.job_ready.val() {
            let j = u.job.val();
            if self.jobs.is_empty() {
                self.first_job = cycle;
            }
            self.jobs.push((j.paged, j.address.to_u64(), j.length.to_u64() as u32, j.last));
            self.quiet = 0;
        }
        let (valid, word, last) = (u.packet_valid.val(), u.packet_word.val().to_u64() as u32, u.packet_last.val());
        for (lane, ready) in ready.into_iter().enumerate() {
            if !ready {
                continue;
            }
            let Some(ask) = self.asked[lane].take() else {
                // What is done comes with its ready; a wake is only taken.
                assert_eq!(lane, 3, "{at}: ready without valid");
                continue;
            };
            self.quiet = 0;
            match ask {
                Ask::Rewind {
                    index,
                    psn,
                    wqe,
                    offset,
                    hold,
                    alone,
                } => {
                    let q = &mut self.qps[index as usize];
                    if q.state == state::RTS || q.state == state::SQD {
                        let bits = q.begun.len() & !0xffff;
                        (q.psn, q.wqe, q.offset) = (psn, bits | wqe as usize, offset);
                        (q.held, q.alone) = (hold, alone);
                        assert!(self.words.is_empty(), "{at}: rewound inside a packet");
                    }
                }
                // New messages may go from now on, whatever else is still on offer.
                Ask::State(index, state::RTS) if self.qps[index as usize].state == state::SQD => {
                    self.qps[index as usize].state = state::RTS;
                }
                Ask::Wake(index) => {
                    let q = &mut self.qps[index as usize];
                    if q.fails.is_empty() && (q.state == state::RTS || q.state == state::SQD) {
                        q.held = false;
                    }
                }
                _ => {}
            }
        }
        if valid && packet_ready {
            self.words.push(word);
            self.quiet = 0;
            if last && self.bench.uut.packet_abandon.val() {
                assert!(self.jobs.is_empty(), "{at}: an abandoned packet had jobs");
                self.words.clear();
                self.abandoned += 1;
            } else if last {
                self.finish_packet();
            }
        }
        self.bench.edge();
    }
}
