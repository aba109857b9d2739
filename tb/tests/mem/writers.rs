// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA writer and write arbiter as they stand in the engine, with models all around: job source, ring, MTT, completion writer, memory.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};
use verbena_hdl::mem::{DmaWriter, WriteArbiter, WriteJob};
use verbena_spec::config::{Config, PRESETS};
use verbena_tb::axi_memory::{Habits, WriteMemory};
use verbena_tb::axi_monitor::{Aw, W as Beat};
use verbena_tb::{ports, step::Bench};

#[derive(LogicBlock)]
pub struct Writers<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, WriteJob>,
    pub job_valid: Signal<In, Bit>,
    pub job_ready: Signal<Out, Bit>,
    pub read_beat: Signal<Out, Bits<14>>,
    pub read_count: Signal<Out, Bits<14>>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    pub beat_data: Signal<In, Bits<W>>,
    pub beat_valid: Signal<In, Bit>,
    pub beat_ready: Signal<Out, Bit>,
    pub release_valid: Signal<Out, Bit>,
    pub release_beat: Signal<Out, Bits<14>>,
    no_lookup: Constant<Bit>,
    pub mtt_valid: Signal<In, Bit>,
    pub mtt_address: Signal<In, Bits<17>>,
    pub mtt_data: Signal<In, Bits<32>>,
    pub mtt_ready: Signal<Out, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_error: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    pub c_aw_address: Signal<In, Bits<64>>,
    pub c_aw_length: Signal<In, Bits<8>>,
    pub c_aw_valid: Signal<In, Bit>,
    pub c_aw_ready: Signal<Out, Bit>,
    pub c_w_data: Signal<In, Bits<W>>,
    pub c_w_strobe: Signal<In, Bits<K>>,
    pub c_w_last: Signal<In, Bit>,
    pub c_w_valid: Signal<In, Bit>,
    pub c_w_ready: Signal<Out, Bit>,
    pub c_b_valid: Signal<Out, Bit>,
    pub c_b_error: Signal<Out, Bit>,
    pub a_aw_address: Signal<In, Bits<64>>,
    pub a_aw_valid: Signal<In, Bit>,
    pub a_aw_ready: Signal<Out, Bit>,
    pub a_w_data: Signal<In, Bits<W>>,
    pub a_w_valid: Signal<In, Bit>,
    pub a_w_ready: Signal<Out, Bit>,
    pub a_b_valid: Signal<Out, Bit>,
    pub a_b_error: Signal<Out, Bit>,
    pub a_lock: Signal<In, Bit>,
    pub a_locked: Signal<Out, Bit>,
    pub m_aw_id: Signal<Out, Bits<3>>,
    pub m_aw_address: Signal<Out, Bits<64>>,
    pub m_aw_length: Signal<Out, Bits<8>>,
    pub m_aw_valid: Signal<Out, Bit>,
    pub m_aw_ready: Signal<In, Bit>,
    pub m_w_data: Signal<Out, Bits<W>>,
    pub m_w_strobe: Signal<Out, Bits<K>>,
    pub m_w_last: Signal<Out, Bit>,
    pub m_w_valid: Signal<Out, Bit>,
    pub m_w_ready: Signal<In, Bit>,
    pub m_b_id: Signal<In, Bits<3>>,
    pub m_b_response: Signal<In, Bits<2>>,
    pub m_b_valid: Signal<In, Bit>,
    pub m_b_ready: Signal<Out, Bit>,
    dma: DmaWriter<W, K, BA, TA, B>,
    arbiter: WriteArbiter<W, K>,
    whole: Constant<Bits<K>>,
    yes: Constant<Bit>,
}

impl<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> Writers<W, K, BA, TA, B> {
    fn new(config: &Config) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            read_beat: Default::default(),
            read_count: Default::default(),
            read_valid: Default::default(),
            read_ready: Default::default(),
            beat_data: Default::default(),
            beat_valid: Default::default(),
            beat_ready: Default::default(),
            release_valid: Default::default(),
            release_beat: Default::default(),
            no_lookup: Constant::new(false),
            mtt_valid: Default::default(),
            mtt_address: Default::default(),
            mtt_data: Default::default(),
            mtt_ready: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            c_aw_address: Default::default(),
            c_aw_length: Default::default(),
            c_aw_valid: Default::default(),
            c_aw_ready: Default::default(),
            c_w_data: Default::default(),
            c_w_strobe: Default::default(),
            c_w_last: Default::default(),
            c_w_valid: Default::default(),
            c_w_ready: Default::default(),
            c_b_valid: Default::default(),
            c_b_error: Default::default(),
            a_aw_address: Default::default(),
            a_aw_valid: Default::default(),
            a_aw_ready: Default::default(),
            a_w_data: Default::default(),
            a_w_valid: Default::default(),
            a_w_ready: Default::default(),
            a_b_valid: Default::default(),
            a_b_error: Default::default(),
            a_lock: Default::default(),
            a_locked: Default::default(),
            m_aw_id: Default::default(),
            m_aw_address: Default::default(),
            m_aw_length: Default::default(),
            m_aw_valid: Default::default(),
            m_aw_ready: Default::default(),
            m_w_data: Default::default(),
            m_w_strobe: Default::default(),
            m_w_last: Default::default(),
            m_w_valid: Default::default(),
            m_w_ready: Default::default(),
            m_b_id: Default::default(),
            m_b_response: Default::default(),
            m_b_valid: Default::default(),
            m_b_ready: Default::default(),
            dma: DmaWriter::new(config),
            arbiter: WriteArbiter::new(config),
            whole: Constant::new(Bits::<K>::mask()),
            yes: Constant::new(true),
        }
    }
}

impl<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> Logic for Writers<W, K, BA, TA, B> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, dma, arbiter);
        self.dma.reset.next = self.reset.val();
        self.arbiter.reset.next = self.reset.val();
        self.dma.job.next = self.job.val();
        self.dma.job_valid.next = self.job_valid.val();
        self.job_ready.next = self.dma.job_ready.val();
        self.read_beat.next = self.dma.read_beat.val();
        self.read_count.next = self.dma.read_count.val();
        self.read_valid.next = self.dma.read_valid.val();
        self.dma.read_ready.next = self.read_ready.val();
        self.dma.beat_data.next = self.beat_data.val();
        self.dma.beat_valid.next = self.beat_valid.val();
        self.beat_ready.next = self.dma.beat_ready.val();
        self.release_valid.next = self.dma.release_valid.val();
        self.release_beat.next = self.dma.release_beat.val();
        self.dma.mtt_valid.next = self.mtt_valid.val();
        // The DMA reader's lookups are tested with `MttShare`.
        self.dma.lookup_read.next = self.no_lookup.val();
        self.dma.lookup_entry.next = 0.into();
        self.dma.atomic_lookup_valid.next = self.no_lookup.val();
        self.dma.atomic_lookup_entry.next = 0.into();
        self.dma.mtt_address.next = self.mtt_address.val();
        self.dma.mtt_data.next = self.mtt_data.val();
        self.mtt_ready.next = self.dma.mtt_ready.val();
        self.done_valid.next = self.dma.done_valid.val();
        self.done_error.next = self.dma.done_error.val();
        self.dma.done_ready.next = self.done_ready.val();

        self.arbiter.payload_aw_address.next = self.dma.aw_address.val();
        self.arbiter.payload_aw_length.next = self.dma.aw_length.val();
        self.arbiter.payload_aw_valid.next = self.dma.aw_valid.val();
        self.dma.aw_ready.next = self.arbiter.payload_aw_ready.val();
        self.arbiter.payload_w_data.next = self.dma.w_data.val();
        self.arbiter.payload_w_strobe.next = self.dma.w_strobe.val();
        self.arbiter.payload_w_last.next = self.dma.w_last.val();
        self.arbiter.payload_w_valid.next = self.dma.w_valid.val();
        self.dma.w_ready.next = self.arbiter.payload_w_ready.val();
        self.dma.b_valid.next = self.arbiter.payload_b_valid.val();
        self.dma.b_error.next = self.arbiter.payload_b_error.val();

        self.arbiter.completion_aw_address.next = self.c_aw_address.val();
        self.arbiter.completion_aw_length.next = self.c_aw_length.val();
        self.arbiter.completion_aw_valid.next = self.c_aw_valid.val();
        self.c_aw_ready.next = self.arbiter.completion_aw_ready.val();
        self.arbiter.completion_w_data.next = self.c_w_data.val();
        self.arbiter.completion_w_strobe.next = self.c_w_strobe.val();
        self.arbiter.completion_w_last.next = self.c_w_last.val();
        self.arbiter.completion_w_valid.next = self.c_w_valid.val();
        self.c_w_ready.next = self.arbiter.completion_w_ready.val();
        self.c_b_valid.next = self.arbiter.completion_b_valid.val();
        self.c_b_error.next = self.arbiter.completion_b_error.val();

        self.arbiter.atomic_aw_address.next = self.a_aw_address.val();
        self.arbiter.atomic_aw_length.next = 0.into();
        self.arbiter.atomic_aw_valid.next = self.a_aw_valid.val();
        self.a_aw_ready.next = self.arbiter.atomic_aw_ready.val();
        self.arbiter.atomic_w_data.next = self.a_w_data.val();
        self.arbiter.atomic_w_strobe.next = self.whole.val();
        self.arbiter.atomic_w_last.next = self.yes.val();
        self.arbiter.atomic_w_valid.next = self.a_w_valid.val();
        self.a_w_ready.next = self.arbiter.atomic_w_ready.val();
        self.a_b_valid.next = self.arbiter.atomic_b_valid.val();
        self.a_b_error.next = self.arbiter.atomic_b_error.val();
        self.arbiter.atomic_lock.next = self.a_lock.val();
        self.a_locked.next = self.arbiter.atomic_locked.val();

        self.m_aw_id.next = self.arbiter.m_aw_id.val();
        self.m_aw_address.next = self.arbiter.m_aw_address.val();
        self.m_aw_length.next = self.arbiter.m_aw_length.val();
        self.m_aw_valid.next = self.arbiter.m_aw_valid.val();
        self.arbiter.m_aw_ready.next = self.m_aw_ready.val();
        self.m_w_data.next = self.arbiter.m_w_data.val();
        self.m_w_strobe.next = self.arbiter.m_w_strobe.val();
        self.m_w_last.next = self.arbiter.m_w_last.val();
        self.m_w_valid.next = self.arbiter.m_w_valid.val();
        self.arbiter.m_w_ready.next = self.m_w_ready.val();
        self.arbiter.m_b_id.next = self.m_b_id.val();
        self.arbiter.m_b_response.next = self.m_b_response.val();
        self.arbiter.m_b_valid.next = self.m_b_valid.val();
        self.m_b_ready.next = self.arbiter.m_b_ready.val();
    }

    verbena_hdl::block_name!();
}

/// A job in plain numbers.
#[derive(Debug, Clone, Copy, Default)]
pub struct Job {
    pub write: bool,
    pub paged: bool,
    pub address: u64,
    pub length: u64,
    pub ring_beat: u64,
    pub ring_offset: u64,
    pub release: bool,
    pub end_beat: u64,
    pub swap: bool,
}

/// How the surroundings behave.
#[derive(Debug, Clone, Copy)]
pub struct World {
    pub memory: Habits,
    /// Probability that the ring has a beat, takes a request, and that `done` is taken.
    pub ring: f64,
    pub done: f64,
    /// Probability of a completion write beginning in a cycle.
    pub completions: f64,
    /// Probability of an ATOMIC beginning in a cycle.
    pub atomics: f64,
    /// Probability that a waiting job is offered.
    pub jobs: f64,
}

impl World {
    pub fn fast() -> Self {
        Self {
            memory: Habits::fast(20),
            ring: 1.0,
            done: 1.0,
            completions: 0.0,
            atomics: 0.0,
            jobs: 1.0,
        }
    }
    /// {idle, not} × {stall, not}.
    pub fn all() -> [World; 4] {
        let fast = Self::fast();
        let idle = Self {
            ring: 0.5,
            jobs: 0.5,
            ..fast
        };
        let stall = Self {
            memory: Habits::slow(),
            done: 0.3,
            ..fast
        };
        [
            fast,
            idle,
            stall,
            World {
                memory: Habits::slow(),
                done: 0.3,
                ..idle
            },
        ]
    }
}

/// What an ATOMIC's unit is about.
#[derive(Debug, Clone, Copy)]
enum Atomic {
    Idle,
    /// The lock stands; cycles that the read takes once it is granted.
    Lock(u64),
    /// Its write; what of it is still to be taken.
    Write {
        address: bool,
        data: bool,
    },
}

pub struct Rig<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> {
    pub bench: Bench<Writers<W, K, BA, TA, B>>,
    pub memory: WriteMemory,
    pub world: World,
    pub ring: Vec<u8>,
    pub mtt: HashMap<u64, u64>,
    pub done: Vec<(u64, bool)>,
    pub completions: Vec<u64>,
    /// ATOMICs done: those that wrote, and all.
    pub atomics: (u64, u64),
    atomic: Atomic,
    /// Writes of the others on the bus that have no B.
    others: u64,
    rng: ChaCha8Rng,
    releases: Vec<(u64, u64)>,
    beats_read: u64,
    /// Upper bits that every job's address has and memory doesn't see.
    pub unseen: u64,
}

/// Ring latency from request to first beat, cycles.
const RING_LATENCY: u64 = 3;

impl<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize> Rig<W, K, BA, TA, B> {
    /// An engine of `W` bits without the small preset's limits on addresses and jobs.
    pub fn new(world: World, seed: u64) -> Self {
        let config = PRESETS.iter().find(|c| c.data_bits == W).unwrap();
        let config = Config {
            address_bits: 64,
            max_frame: 16383,
            ..config.clone()
        };
        Self::with(&config, world, seed)
    }

    pub fn with(config: &Config, world: World, seed: u64) -> Self {
        println!("seed {seed}, {world:?}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::verilated(
            Box::new(Writers::<W, K, BA, TA, B>::new(config)),
            "writers",
            ports!(in reset, job, job_valid, read_ready, beat_data, beat_valid, mtt_valid, mtt_address, mtt_data, done_ready, c_aw_address, c_aw_length, c_aw_valid, c_w_data, c_w_strobe, c_w_last, c_w_valid, a_aw_address, a_aw_valid, a_w_data, a_w_valid, a_lock, m_aw_ready, m_w_ready, m_b_id, m_b_response, m_b_valid; out job_ready, read_beat, read_count, read_valid, beat_ready, release_valid, release_beat, mtt_ready, done_valid, done_error, c_aw_ready, c_w_ready, c_b_valid, c_b_error, a_aw_ready, a_w_ready, a_b_valid, a_b_error, a_locked, m_aw_id, m_aw_address, m_aw_length, m_aw_valid, m_w_data, m_w_strobe, m_w_last, m_w_valid, m_b_ready),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        assert!(!bench.uut.m_aw_valid.val() && !bench.uut.m_w_valid.val() && !bench.uut.job_ready.val());
        bench.uut.reset.next = false;
        let ring = (0..K << BA).map(|_| rng.gen()).collect();
        let memory = WriteMemory::new(K as u64, world.memory, ChaCha8Rng::seed_from_u64(seed + 1));
        let (done, completions, releases) = (vec![], vec![], vec![]);
        Self {
            bench,
            memory,
            world,
            ring,
            mtt: HashMap::new(),
            done,
            completions,
            atomics: (0, 0),
            atomic: Atomic::Idle,
            others: 0,
            rng,
            releases,
            beats_read: 0,
            unseen: 0,
        }
    }

    /// Writes an MTT entry by its port.
    pub fn map(&mut self, entry: u64, page: u64) {
        for (word, data) in [(0, page << 12 & 0xffff_ffff), (1, page >> 20)] {
            let uut = &mut self.bench.uut;
            uut.mtt_valid.next = true;
            uut.mtt_address.next = (entry * 2 + word).to_bits();
            uut.mtt_data.next = data.to_bits();
            self.bench.settle();
            assert!(self.bench.uut.mtt_ready.val());
            self.bench.edge();
        }
        self.bench.uut.mtt_valid.next = false;
        self.mtt.insert(entry, page);
    }

    fn translate(&self, job: &Job, offset: u64) -> u64 {
        let at = job.address.wrapping_add(offset);
        if job.paged && TA > 1 {
            self.mtt[&(at >> 12)] << 12 | at & 0xfff
        } else {
            at
        }
    }

    /// Runs the jobs and checks bytes, bursts, done order and errors, memory ordering and releases. Returns the cycles from the first job's
    /// acceptance to the last W beat, and to the last done.
    pub fn run(&mut self, jobs: &[Job]) -> (u64, u64) {
        let mut waiting: VecDeque<Job> = jobs.iter().copied().collect();
        let (mut requests, mut beats) = (VecDeque::<(u64, u64)>::new(), VecDeque::<(u64, u64)>::new());
        let (mut offering, mut beat_offered) = (false, false);
        let mut completion: Option<(u64, u64, bool)> = None; // address, beats left, AW taken
        let mut completion_pending = false;
        let wanted = jobs.iter().filter(|job| job.write).count();
        let wanted_releases = jobs.iter().filter(|job| job.release).count();
        let (first_done, first_release, first_burst, first_beats) = (
            self.done.len(),
            self.releases.len(),
            self.memory.log.iter().filter(|b| b.aw.id == 0).count(),
            self.beats_read,
        );
        let mut answered_at_done = vec![];
        let (mut start, mut last_w) = (None, 0);
        let limit = self.bench.cycle + 2000 + jobs.iter().map(|job| 200 + job.length * 4).sum::<u64>();
        let mut quiet = 0;

        while quiet < 20 {
            let cycle = self.bench.cycle;
            assert!(cycle < limit, "hang: {} of {wanted} done", self.done.len() - first_done);
            let (aw_ready, w_ready, b) = self.memory.offer(cycle);
            offering = !waiting.is_empty() && (offering || self.rng.gen_bool(self.world.jobs));
            beat_offered = beats.front().is_some_and(|(due, _)| *due <= cycle) && (beat_offered || self.rng.gen_bool(self.world.ring));
            let read_ready = requests.is_empty() && self.rng.gen_bool(self.world.ring);
            let done_ready = self.rng.gen_bool(self.world.done);
            if completion.is_none() && !completion_pending && self.rng.gen_bool(self.world.completions) {
                let n = 32 / K as u64;
                let at = 0xcccc_0000_0000 + 32 * (self.completions.len() as u64 & 0xfff);
                completion = Some((at, n, false));
            }

            if W == 64 && matches!(self.atomic, Atomic::Idle) && self.rng.gen_bool(self.world.atomics) {
                self.atomic = Atomic::Lock(self.rng.gen_range(0..20));
            }

            let uut = &mut self.bench.uut;
            let front = waiting.front().copied().unwrap_or_default();
            uut.job.next = WriteJob {
                write: front.write,
                paged: front.paged,
                address: (front.address | self.unseen).to_bits(),
                length: front.length.to_bits(),
                ring_beat: front.ring_beat.to_bits(),
                ring_offset: front.ring_offset.to_bits(),
                release: front.release,
                end_beat: front.end_beat.to_bits(),
                swap: front.swap,
            };
            uut.job_valid.next = offering;
            uut.read_ready.next = read_ready;
            let beat = beats.front().map_or(0, |(_, beat)| *beat) as usize;
            let bytes = &self.ring[beat * K..beat * K + K];
            // An idle beat carries garbage.
            let data = bytes.iter().rev().fold(0u64, |sum, byte| sum << 8 | *byte as u64);
            uut.beat_data.next = (if beat_offered { data } else { 0x5a5a_5a5a }).to_bits();
            uut.beat_valid.next = beat_offered;
            uut.done_ready.next = done_ready;
            uut.m_aw_ready.next = aw_ready;
            uut.m_w_ready.next = w_ready;
            uut.m_b_valid.next = b.is_some();
            uut.m_b_id.next = b.map_or(0, |b| b.0).to_bits();
            uut.m_b_response.next = b.map_or(0, |b| b.1).to_bits();
            let (at, left, aw_taken) = completion.unwrap_or((0, 0, true));
            uut.c_aw_valid.next = completion.is_some() && !aw_taken;
            uut.c_aw_address.next = at.to_bits();
            uut.c_aw_length.next = (32 / K - 1).to_bits();
            uut.c_w_valid.next = left > 0;
            uut.c_w_data.next = (0xab00 + left).to_bits();
            uut.c_w_strobe.next = Bits::<K>::mask();
            uut.c_w_last.next = left == 1;

            let at = 0xaaaa_0000_0000 + 8 * (self.atomics.0 & 0xfff);
            let (address, data) = match self.atomic {
                Atomic::Write { address, data } => (address, data),
                _ => (false, false),
            };
            uut.a_lock.next = !matches!(self.atomic, Atomic::Idle);
            uut.a_aw_address.next = at.to_bits();
            uut.a_aw_valid.next = address;
            uut.a_w_data.next = ((at * 3) & ((1 << 31) - 1)).to_bits();
            uut.a_w_valid.next = data;
            if W == 32 {
                // Not built: whatever comes is without effect.
                uut.a_lock.next = self.rng.gen_bool(self.world.atomics);
                uut.a_aw_valid.next = self.rng.gen_bool(self.world.atomics);
                uut.a_w_valid.next = self.rng.gen_bool(self.world.atomics);
            }

            self.bench.settle();
            let uut = &self.bench.uut;
            assert!(uut.m_b_ready.val());
            let (locked, a_b) = (uut.a_locked.val(), uut.a_b_valid.val());
            if W == 32 {
                assert!(!locked && !a_b && !uut.a_aw_ready.val() && !uut.a_w_ready.val());
            }
            let aw = uut.m_aw_valid.val().then(|| Aw {
                id: uut.m_aw_id.val().to_u64(),
                address: uut.m_aw_address.val().to_u64(),
                length: uut.m_aw_length.val().to_u64(),
            });
            let w = uut.m_w_valid.val().then(|| Beat {
                data: uut.m_w_data.val().to_u64(),
                strobe: uut.m_w_strobe.val().to_u64(),
                last: uut.m_w_last.val(),
            });
            // The lock: nothing of the others is on the bus while it is granted, and it is granted until it falls.
            let new = aw.filter(|aw| aw.id != 2 && self.memory.monitor.aw_is_new()).is_some();
            self.others += new as u64;
            assert!(
                !locked || self.others == 0,
                "cycle {cycle}: locked with {} writes of others",
                self.others
            );
            assert_eq!(a_b, b.is_some_and(|b| b.0 == 2), "cycle {cycle}: the ATOMIC's B");
            assert!(!a_b || uut.a_b_error.val() == (b.unwrap().1 > 1));
            self.others -= b.is_some_and(|b| b.0 != 2) as u64;
            assert!(
                aw.is_none_or(|aw| aw.id != 2) || matches!(self.atomic, Atomic::Write { address: false, .. }),
                "cycle {cycle}: an ATOMIC's AW"
            );
            match &mut self.atomic {
                Atomic::Idle => {}
                Atomic::Lock(left) if locked => {
                    if *left > 0 {
                        *left -= 1;
                    } else if self.rng.gen_bool(0.8) {
                        self.atomic = Atomic::Write { address: true, data: true };
                    } else {
                        // A compare that fails.
                        self.atomic = Atomic::Idle;
                        self.atomics.1 += 1;
                    }
                }
                Atomic::Lock(_) => {}
                Atomic::Write { address, data } => {
                    assert!(locked, "cycle {cycle}: the lock went away");
                    *address &= !uut.a_aw_ready.val();
                    *data &= !uut.a_w_ready.val();
                    if a_b {
                        assert!(!*address && !*data, "cycle {cycle}: a B too early");
                        let value: u64 = (0..8)
                            .map(|i| (self.memory.bytes.remove(&(at + i)).expect("the ATOMIC's bytes") as u64) << (8 * i))
                            .sum();
                        assert_eq!(value, (at * 3) & ((1 << 31) - 1));
                        self.atomic = Atomic::Idle;
                        self.atomics = (self.atomics.0 + 1, self.atomics.1 + 1);
                    }
                }
            }
            if w.is_some() && w_ready {
                last_w = cycle;
            }
            if uut.c_b_valid.val() {
                assert!(completion_pending);
                completion_pending = false;
                self.completions.push(cycle);
            }
            if let Some((at, left, taken)) = completion {
                let left = left - (uut.c_w_ready.val() && left > 0) as u64;
                let taken = taken || uut.c_aw_ready.val();
                completion = Some((at, left, taken));
                if left == 0 && taken {
                    completion = None;
                    completion_pending = true;
                }
            }
            if beat_offered && uut.beat_ready.val() {
                beats.pop_front();
                beat_offered = false;
                self.beats_read += 1;
            }
            if read_ready && uut.read_valid.val() {
                requests.push_back((uut.read_beat.val().to_u64(), uut.read_count.val().to_u64()));
            }
            // The reader takes one request at a time.
            if beats.is_empty() {
                if let Some((beat, count)) = requests.pop_front() {
                    let last = (1u64 << BA) - 1;
                    beats.extend((0..count).map(|i| (cycle + RING_LATENCY, (beat + i) & last)));
                }
            }
            if offering && uut.job_ready.val() {
                waiting.pop_front();
                offering = false;
                start.get_or_insert(cycle);
            }
            if uut.release_valid.val() {
                self.releases.push((uut.release_beat.val().to_u64(), self.beats_read));
            }
            if uut.done_valid.val() && done_ready {
                self.done.push((cycle, uut.done_error.val()));
                // A B counts from the cycle after it is given.
                answered_at_done.push(*self.memory.answered.get(&0).unwrap_or(&0));
            }
            self.memory.take(cycle, aw, w);
            self.bench.edge();

            let idle = waiting.is_empty()
                && self.done.len() - first_done >= wanted
                && self.releases.len() - first_release >= wanted_releases
                && self.memory.monitor.is_quiet()
                && completion.is_none()
                && !completion_pending
                && matches!(self.atomic, Atomic::Idle);
            quiet = if idle { quiet + 1 } else { 0 };
            if idle {
                self.world.completions = 0.0;
                self.world.atomics = 0.0;
            }
        }
        assert!(
            beats.is_empty() && requests.is_empty(),
            "the ring was asked for more than was taken"
        );
        assert_eq!(self.done.len() - first_done, wanted, "done for jobs with write only");
        assert_eq!(self.releases.len() - first_release, wanted_releases);

        // Against the plain model.
        let bursts: Vec<_> = self.memory.log.iter().filter(|b| b.aw.id == 0).skip(first_burst).copied().collect();
        let (mut burst, mut beats, mut done, mut release) = (0, first_beats, first_done, first_release);
        for (number, job) in jobs.iter().enumerate() {
            if job.write {
                let mut error = false;
                let mut offset = 0;
                while offset < job.length {
                    let at = self.translate(job, offset);
                    let got = bursts.get(burst).unwrap_or_else(|| panic!("job {number}: {job:x?}: burst missing"));
                    assert_eq!(got.aw.address, at, "job {number} {job:x?}");
                    let covers = (got.aw.length + 1) * K as u64 - at % K as u64;
                    // Maximal: up to the job's end or the next multiple of 256 beats.
                    let block = 256 * K as u64;
                    assert_eq!(
                        got.aw.length,
                        (at % block + (job.length - offset).min(block - at % block) - 1) / K as u64 - at % block / K as u64
                    );
                    error |= got.error;
                    offset += covers;
                    burst += 1;
                }
                for i in 0..job.length {
                    let i_ring = if job.swap && W == 64 { 7 - i } else { i };
                    let from = (job.ring_beat as usize * K + (job.ring_offset + i_ring) as usize) % self.ring.len();
                    let at = self.translate(job, i);
                    let got = self.memory.bytes.remove(&at);
                    assert_eq!(got, Some(self.ring[from]), "job {number} {job:x?}: byte {i} at {at:x}");
                }
                assert_eq!(self.done[done].1, error, "job {number}: R69: error of its bursts");
                assert!(
                    answered_at_done[done - first_done] >= (first_burst + burst) as u64,
                    "job {number}: done before the last B"
                );
                done += 1;
                beats += (job.ring_offset + job.length).div_ceil(K as u64);
            }
            if job.release {
                assert_eq!(self.releases[release].0, job.end_beat, "job {number}: release");
                assert!(self.releases[release].1 >= beats, "job {number}: released before it was read");
                release += 1;
            }
        }
        assert_eq!(burst, bursts.len(), "bursts that no job asked for");
        self.memory.bytes.retain(|at, _| at >> 32 != 0xcccc);
        assert!(
            self.memory.bytes.is_empty(),
            "bytes that no job asked for: {:x?}",
            self.memory.bytes
        );
        (
            last_w - start.unwrap() + 1,
            self.done.last().map_or(0, |d| d.0) - start.unwrap() + 1,
        )
    }
}
