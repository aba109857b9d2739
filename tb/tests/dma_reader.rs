// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mem::DmaReader` between models of a host memory and a payload FIFO: every packet's bytes, every burst.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{HashSet, VecDeque};
use verbena_hdl::mem::{DmaReader, DmaReaderCu, DmaReaderTengig, ReadJob};
use verbena_tb::{diff::Diff, drive, ports, step::Bench};

/// A byte of the model's memory.
fn byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The page that an MTT entry names.
fn page(entry: u64) -> u64 {
    (entry.wrapping_mul(0x5851_f42d_4c95_7f2d) >> 20) & 0xf_ffff_ffff
}

#[derive(Clone, Copy, Debug)]
struct Piece {
    paged: bool,
    address: u64,
    length: u64,
    last: bool,
}

struct Harness<const W: usize, const K: usize, const S: usize, const N: usize, const PB: usize, const AB: usize> {
    bench: Bench<DmaReader<W, K, S, N, PB, AB>>,
    rng: ChaCha8Rng,
    seed: u64,
    idle: bool,
    stall: bool,
    latency: u64,
    jobs: VecDeque<Piece>,
    packet: Vec<u8>,
    /// Bytes, and whether an error was injected.
    want: VecDeque<(Vec<u8>, bool)>,
    /// Blocks whose reads fail.
    bad: HashSet<u64>,
    packet_bad: bool,
    want_bursts: VecDeque<(u64, u64)>,
    want_done: VecDeque<bool>,
    /// Cycles of the payload beats, for rates.
    beats_at: Vec<u64>,
    most_open: usize,
}

type Tengig = Harness<64, 8, 1, 0, 12, 64>;
type Cu = Harness<32, 4, 0, 1, 9, 32>;

impl<const W: usize, const K: usize, const S: usize, const N: usize, const PB: usize, const AB: usize> Harness<W, K, S, N, PB, AB> {
    /// Bytes that no burst crosses a multiple of.
    const BLOCK: u64 = K as u64 * if K == 8 { 64 } else { 256 };

    fn new(seed: u64, idle: bool, stall: bool, latency: u64) -> Self {
        let mut bench = Bench::verilated(
            Box::<DmaReader<W, K, S, N, PB, AB>>::default(),
            &format!("dma_reader_{W}"),
            ports!(in reset, job, job_valid, mtt_grant, mtt_page, ar_ready, r_data, r_error, r_last, r_valid, payload_free, done_ready; out job_ready, mtt_read, mtt_entry, ar_address, ar_length, ar_valid, r_ready, payload_data, payload_last, payload_error, payload_valid, done_valid, done_error),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        Self {
            bench,
            rng: ChaCha8Rng::seed_from_u64(seed),
            seed,
            idle,
            stall,
            latency,
            jobs: VecDeque::new(),
            packet: vec![],
            want: VecDeque::new(),
            bad: HashSet::new(),
            packet_bad: false,
            want_bursts: VecDeque::new(),
            want_done: VecDeque::new(),
            beats_at: vec![],
            most_open: 0,
        }
    }

    /// Bus address of a piece's byte.
    fn bus(piece: &Piece, offset: u64) -> u64 {
        if piece.paged {
            let at = piece.address + offset;
            page(at >> 12 & 0xffff) << 12 | at & 0xfff
        } else {
            piece.address + offset
        }
    }

    fn push(&mut self, piece: Piece) {
        let (k, block) = (K as u64, Self::BLOCK);
        self.jobs.push_back(piece);
        let mut offset = 0;
        while offset < piece.length {
            let address = Self::bus(&piece, offset);
            let bytes = (piece.length - offset).min(block - address % block);
            let first = address / k;
            self.want_bursts.push_back((first * k, (address + bytes - 1) / k - first));
            self.packet_bad |= self.bad.contains(&(address / block));
            offset += bytes;
        }
        self.packet.extend((0..piece.length).map(|o| byte(Self::bus(&piece, o))));
        if piece.last {
            self.want.push_back((std::mem::take(&mut self.packet), self.packet_bad));
            self.want_done.push_back(self.packet_bad);
            self.packet_bad = false;
        }
    }

    fn random_address(&mut self) -> (bool, u64) {
        let paged = W == 64 && self.rng.gen();
        let address = if paged {
            self.rng.gen_range(0..1 << 28)
        } else if W == 64 {
            self.rng.gen::<u64>() >> 1
        } else {
            self.rng.gen_range(0..u32::MAX as u64 - 0x4000)
        };
        // Often just before the end of a page.
        let address = if self.rng.gen_ratio(1, 3) {
            address & !0xfff | (0xfff - self.rng.gen_range(0..40))
        } else {
            address
        };
        (paged, address.min(if paged { (1 << 28) - 0x4000 } else { u64::MAX }))
    }

    /// A packet of some pieces, at most `longest` bytes.
    fn random_packet(&mut self, longest: u64) {
        let pieces = self.rng.gen_range(1..=3);
        for k in 1..=pieces {
            let (paged, address) = self.random_address();
            let most = if self.rng.gen() { longest / pieces } else { 20 };
            let length = self.rng.gen_range(1..=most);
            self.push(Piece {
                paged,
                address,
                length,
                last: k == pieces,
            });
        }
    }

    fn say(&self) -> String {
        format!("W {W} seed {} cycle {}", self.seed, self.bench.cycle)
    }

    fn run(&mut self, limit: u64) {
        let k = K as u64;
        let capacity = 1u64 << (PB - 1);
        let end = self.bench.cycle + limit;
        let (mut free, mut stored) = (capacity, 0u64);
        let mut bursts: VecDeque<(u64, u64, u64)> = VecDeque::new(); // next address, beats left, due
        let mut got: Vec<u8> = vec![];
        let (mut job_on, mut r_on) = (false, false);
        let mut held_ar: Option<(u64, u64)> = None;
        let mut grants: VecDeque<(u64, u64)> = VecDeque::new(); // due, page
        let mut quiet = 0;
        while quiet < 20 {
            assert!(
                self.bench.cycle < end,
                "{}: {} packets, {} bursts missing",
                self.say(),
                self.want.len(),
                self.want_bursts.len()
            );
            let cycle = self.bench.cycle;
            let uut = &mut self.bench.uut;
            job_on = !self.jobs.is_empty() && (job_on || !self.idle || self.rng.gen_ratio(1, 4));
            uut.job_valid.next = job_on;
            if job_on {
                let p = self.jobs[0];
                uut.job.next = ReadJob {
                    paged: p.paged,
                    address: p.address.to_bits(),
                    length: p.length.to_bits(),
                    last: p.last,
                };
            } else {
                uut.job.next = ReadJob::default();
            }
            uut.ar_ready.next = !self.stall || self.rng.gen();
            r_on = bursts.front().is_some_and(|b| b.2 <= cycle) && (r_on || !self.idle || self.rng.gen_ratio(2, 3));
            uut.r_valid.next = r_on;
            if r_on {
                let (at, left, _) = bursts[0];
                let data = (0..k).fold(0u64, |d, i| d | (byte(at + i) as u64) << (8 * i));
                uut.r_data.next = data.to_bits();
                uut.r_last.next = left == 1;
                // One beat of a bad burst.
                uut.r_error.next = left == 1 && self.bad.contains(&(at / Self::BLOCK));
            } else {
                // Nothing may depend on this.
                uut.r_data.next = (self.rng.gen::<u32>() as u64).to_bits();
                uut.r_error.next = self.rng.gen();
                uut.r_last.next = self.rng.gen();
            }
            uut.mtt_grant.next = !self.stall || self.rng.gen();
            if grants.front().is_some_and(|g| g.0 == cycle) {
                uut.mtt_page.next = grants.pop_front().unwrap().1.to_bits();
            }
            uut.payload_free.next = free.to_bits();
            uut.done_ready.next = !self.stall || self.rng.gen_ratio(1, 6);
            self.bench.settle();

            let uut = &self.bench.uut;
            if job_on && uut.job_ready.val() {
                self.jobs.pop_front();
                job_on = false;
            }
            if uut.mtt_read.val() && uut.mtt_grant.val() {
                grants.push_back((cycle + 2, page(uut.mtt_entry.val().to_u64())));
            }
            let ar = uut
                .ar_valid
                .val()
                .then(|| (uut.ar_address.val().to_u64(), uut.ar_length.val().to_u64()));
            if held_ar.is_some() {
                assert_eq!(ar, held_ar, "{}: AR changed before ready", self.say());
            }
            held_ar = ar.filter(|_| !uut.ar_ready.val());
            if let Some((address, length)) = ar.filter(|_| uut.ar_ready.val()) {
                assert_eq!(
                    Some((address, length)),
                    self.want_bursts.pop_front(),
                    "{}: burst {address:x} + {length}",
                    self.say()
                );
                assert_eq!(address >> 12, (address + length * k) >> 12, "{}: crosses 4 KiB", self.say());
                bursts.push_back((address, length + 1, cycle + 1 + self.latency));
                self.most_open = self.most_open.max(bursts.len());
                let asked: u64 = bursts.iter().map(|b| b.1).sum();
                assert!(asked <= free, "{}: {asked} beats asked for, room for {free}", self.say());
            }
            if r_on && uut.r_ready.val() {
                let burst = &mut bursts[0];
                burst.0 += k;
                burst.1 -= 1;
                r_on = false;
                if burst.1 == 0 {
                    bursts.pop_front();
                }
            }
            let mut taken = 0;
            if uut.payload_valid.val() {
                assert!(free > 0, "{}: no room", self.say());
                taken = 1;
                self.beats_at.push(cycle);
                got.extend(&uut.payload_data.val().to_u64().to_le_bytes()[..K]);
                if uut.payload_last.val() {
                    let (mut want, bad) = self.want.pop_front().expect("a packet too many");
                    want.resize(want.len().div_ceil(K) * K, 0);
                    assert_eq!(got, want, "{}", self.say());
                    assert_eq!(uut.payload_error.val(), bad, "{}: error", self.say());
                    got.clear();
                }
            }
            if uut.done_valid.val() && uut.done_ready.val() {
                assert_eq!(Some(uut.done_error.val()), self.want_done.pop_front(), "{}: done", self.say());
                // Never before the packet's last beat.
                assert!(self.want_done.len() >= self.want.len());
            }
            // The transmitter takes beats in its own time.
            stored += taken;
            let leaves = u64::from(stored > 0 && (!self.stall || self.rng.gen_ratio(1, 3)));
            stored -= leaves;
            free = capacity - stored;
            quiet = if self.jobs.is_empty() && self.want.is_empty() && self.want_done.is_empty() {
                quiet + 1
            } else {
                0
            };
            self.bench.edge();
        }
        assert!(bursts.is_empty() && self.want_bursts.is_empty() && got.is_empty());
    }
}

macro_rules! random {
    ($name:ident, $kind:ident, $seed:literal, $idle:literal, $stall:literal, $latency:literal, $longest:literal) => {
        #[test]
        fn $name() {
            let mut h = $kind::new($seed, $idle, $stall, $latency);
            for _ in 0..60 {
                h.random_packet($longest);
            }
            h.run(60_000);
        }
    };
}

random!(random_64, Tengig, 1, false, false, 100, 1500);
random!(random_64_idle, Tengig, 2, true, false, 20, 700);
random!(random_64_stall, Tengig, 3, false, true, 0, 700);
random!(random_64_idle_stall, Tengig, 4, true, true, 50, 700);
random!(random_32, Cu, 5, false, false, 30, 512);
random!(random_32_idle, Cu, 6, true, false, 5, 300);
random!(random_32_stall, Cu, 7, false, true, 0, 512);
random!(random_32_idle_stall, Cu, 8, true, true, 10, 300);

/// The longest packets, across blocks and pages.
#[test]
fn longest_64() {
    let mut h = Tengig::new(9, false, true, 60);
    for k in 0..12 {
        let (paged, address) = h.random_address();
        h.push(Piece {
            paged,
            address,
            length: 4096 - k,
            last: true,
        });
    }
    h.run(60_000);
}

/// Every lane and every small length of one piece; then of a piece behind another of every length below a beat.
macro_rules! sweep {
    ($name:ident, $kind:ident, $k:literal) => {
        #[test]
        fn $name() {
            let mut h = $kind::new(10, false, false, 3);
            for lane in 0..$k {
                for length in 1..=2 * $k + 2 {
                    h.push(Piece {
                        paged: false,
                        address: 0x1_0000 + lane,
                        length,
                        last: true,
                    });
                }
            }
            for before in 1..$k {
                for lane in 0..$k {
                    for length in [1, 2, $k - 1, $k, $k + 1, 2 * $k + 1] {
                        h.push(Piece {
                            paged: false,
                            address: 0x2_0005,
                            length: before,
                            last: false,
                        });
                        h.push(Piece {
                            paged: false,
                            address: 0x3_0000 + lane,
                            length,
                            last: true,
                        });
                    }
                }
            }
            h.run(60_000);
        }
    };
}

sweep!(every_alignment_64, Tengig, 8);
sweep!(every_alignment_32, Cu, 4);

/// R69: an error on any beat of any burst poisons its packet, and no other.
#[test]
fn r69_read_errors_poison_their_packet() {
    let mut h = Tengig::new(11, false, true, 20);
    for block in 0..40 {
        if block % 5 == 0 {
            h.bad.insert(0x100 + block);
        }
    }
    for k in 0..60u64 {
        let address = (0x100 + k % 40) * Tengig::BLOCK + h.rng.gen_range(0..Tengig::BLOCK);
        let length = h.rng.gen_range(1..900);
        h.push(Piece {
            paged: false,
            address,
            length,
            last: k % 2 == 1,
        });
    }
    assert!(h.want.iter().any(|w| w.1) && h.want.iter().any(|w| !w.1));
    h.run(30_000);
}

/// 64-byte payloads, whole and unaligned, paged or not: one every 16 cycles at most, with 100 cycles of latency.
#[test]
fn rate_of_64_byte_payloads() {
    for (paged, lane) in [(false, 0), (true, 0), (false, 3), (true, 5)] {
        let mut h = Tengig::new(12, false, false, 100);
        for k in 0..60 {
            h.push(Piece {
                paged,
                address: 0x4000 + 128 * k + lane,
                length: 64,
                last: true,
            });
        }
        h.run(10_000);
        let span = (h.beats_at[479] - h.beats_at[79]) as f64 / 50.0;
        println!(
            "64-byte payload, paged {paged}, lane {lane}: one every {span} cycles, {} bursts open",
            h.most_open
        );
        assert!(span <= 16.0, "{span}");
    }
}

/// 4,096-byte payloads: a beat a cycle, at most 4 idle cycles a packet.
#[test]
fn rate_of_long_payloads() {
    for lane in [0, 3] {
        let mut h = Tengig::new(13, false, false, 100);
        for k in 0..12 {
            h.push(Piece {
                paged: true,
                address: 0x10_0000 + 8192 * k + lane,
                length: 4096,
                last: true,
            });
        }
        h.run(20_000);
        let span = (h.beats_at[12 * 512 - 1] - h.beats_at[2 * 512 - 1]) as f64 / 10.0;
        println!("4096-byte payload, lane {lane}: one every {span} cycles");
        assert!(span <= 516.0, "{span}");
    }
}

/// Eight bursts are under way where the memory is slow.
#[test]
fn eight_bursts_are_open() {
    let mut h = Tengig::new(14, false, false, 200);
    for k in 0..40 {
        h.push(Piece {
            paged: false,
            address: 64 * k,
            length: 64,
            last: true,
        });
    }
    h.run(10_000);
    assert_eq!(h.most_open, 8);
}

macro_rules! diff {
    ($name:ident, $block:ty) => {
        #[test]
        fn $name() {
            let warnings = Diff::new(stringify!($name)).cycles(4000).run(
                <$block>::default(),
                drive!(
                    clock,
                    reset,
                    job,
                    job_valid,
                    mtt_grant,
                    mtt_page,
                    ar_ready,
                    r_data,
                    r_error,
                    r_last,
                    r_valid,
                    payload_free,
                    done_ready
                ),
            );
            assert_eq!(warnings, "");
        }
    };
}

diff!(dma_reader_diff_64, DmaReaderTengig);
diff!(dma_reader_diff_32, DmaReaderCu);
