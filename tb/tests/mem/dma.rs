// SPDX-License-Identifier: MIT OR Apache-2.0
//! DMA writer and write arbiter against plain Rust models, both widths.

use super::writers::{Job, Rig, World};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_spec::config::Config;
use verbena_tb::axi_memory::Habits;

/// Jobs must not overlap in memory within a run, since the model takes each byte once.
fn spaced(number: usize, low: u64) -> u64 {
    0x10_0000_0000 + ((number as u64) << 15) + low
}

fn job(address: u64, length: u64, ring_beat: u64, ring_offset: u64) -> Job {
    Job {
        write: true,
        address,
        length,
        ring_beat,
        ring_offset,
        ..Default::default()
    }
}

/// That job as an ATOMIC's result.
fn result(job: Job) -> Job {
    Job {
        swap: true,
        length: 8,
        ring_offset: 0,
        ..job
    }
}

macro_rules! both {
    ($($name:ident => $body:ident;)*) => {$(
        mod $name {
            #[test]
            fn w64() { super::$body::<64, 8, 12, 12, 8>() }
            #[test]
            fn w32() { super::$body::<32, 4, 9, 1, 1>() }
        }
    )*};
}

both! {
    every_alignment_and_length => alignments;
    page_and_block_crossings => crossings;
    scattered_pages => scattered;
    long_jobs_and_64_bit_carry => long;
    bursts_outstanding => outstanding;
    r69_random_mix_with_errors => mix;
    cycles => cycles;
    release_only_jobs_stay_in_order => releases;
    pieces_of_a_response => pieces;
    r58_results_land_swapped => swapped;
    r58_the_lock_keeps_other_writes_out => lock;
}

fn alignments<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    let mut jobs = vec![];
    for ring in 0..K as u64 {
        for low in 0..K as u64 {
            for length in 1..=3 * K as u64 + 1 {
                jobs.push(job(spaced(jobs.len(), low), length, jobs.len() as u64 * 3 % (1 << BA), ring));
            }
        }
    }
    for (seed, world) in World::all().into_iter().enumerate() {
        Rig::<W, K, BA, TA, B>::new(world, 100 + seed as u64).run(&jobs);
    }
}

fn crossings<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    let mut jobs = vec![];
    for boundary in [4096, 256 * K as u64] {
        for before in [1, K as u64 - 1, K as u64, K as u64 + 1, 40] {
            for after in [0, 1, K as u64, K as u64 + 1, 33] {
                let ring = jobs.len() as u64 % K as u64;
                jobs.push(job(
                    spaced(jobs.len(), boundary - before),
                    before + after,
                    jobs.len() as u64 * 17 % (1 << BA),
                    ring,
                ));
            }
        }
    }
    for (seed, world) in World::all().into_iter().enumerate() {
        Rig::<W, K, BA, TA, B>::new(world, 200 + seed as u64).run(&jobs);
    }
}

fn scattered<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    for (seed, world) in World::all().into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(300 + seed as u64);
        let mut rig = Rig::<W, K, BA, TA, B>::new(world, 300 + seed as u64);
        // Without an MTT `paged` is ignored: the keys refuse such regions.
        let entries = if TA > 1 { 256u64 } else { 0 };
        for entry in 0..entries {
            rig.map(entry, 0x000a_bcde_0000_0000 + entry * 0x1_0000_0003 % 0xffff_fffb);
        }
        let mut jobs = vec![];
        for number in 0..30u64 {
            let length = if number % 3 == 0 {
                rng.gen_range(1..100)
            } else {
                rng.gen_range(1..4200)
            };
            let low = if number % 4 == 0 {
                4096 - rng.gen_range(1..20)
            } else {
                rng.gen_range(0..4096)
            };
            let ring = rng.gen_range(0..K as u64);
            let address = (number * 4) << 12 | low;
            jobs.push(Job {
                paged: true,
                ..job(address, length, rng.gen_range(0..1 << BA), ring)
            });
        }
        rig.run(&jobs);
    }
}

fn long<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    let longest = 16383.min((K as u64) << BA);
    let jobs = [
        job(0x7_ffff_fff1, longest, 1, 0),
        job(0xffff_f7ff, longest - K as u64, 5, K as u64 - 1),
        job(0xffff_ffff_ffff_0000, longest, 5, 0),
        job(0x1234_5678_0000, 4096, (1 << BA) - 7, 0),
    ];
    for (seed, world) in World::all().into_iter().enumerate() {
        Rig::<W, K, BA, TA, B>::new(world, 400 + seed as u64).run(&jobs);
    }
}

fn outstanding<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    let mut rig = Rig::<W, K, BA, TA, B>::new(
        World {
            memory: Habits::fast(400),
            ..World::fast()
        },
        500,
    );
    let jobs: Vec<Job> = (0..20).map(|i| job(spaced(i, 3), 64, 0, 0)).collect();
    let (_, done) = rig.run(&jobs);
    // Rounds of B latency for 20 jobs, B at a time.
    println!("W {W}: 20 jobs at 400 cycles of latency: {done} cycles");
    let rounds = 20u64.div_ceil(B as u64);
    assert!((rounds * 400..rounds * 430 + 200).contains(&done), "{done}");
}

/// Bits beyond the small preset's bus are cut off, wherever a job ends, and all of its memory is reached.
#[test]
fn small_addresses() {
    let config = Config::preset("cu").unwrap();
    for (seed, world) in World::all().into_iter().enumerate() {
        let mut rig = Rig::<32, 4, 9, 1, 1>::with(&config, world, 900 + seed as u64);
        rig.unseen = 0xdead_beef_cad0_0000;
        let mut jobs = vec![];
        for block in 0..256u64 {
            let length = 1 + block * 37 % 600;
            jobs.push(job(
                (block << 12) | (0x800 - (block * 61 % length).min(0x700)),
                length,
                block * 7 % 512,
                0,
            ));
        }
        jobs.push(job((1 << 20) - 0x100, 0x100, 3, 0));
        rig.run(&jobs);
    }
}

fn mix<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    for seed in 600..608u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::all()[seed as usize % 4];
        world.memory.error = 0.15;
        world.completions = 0.05;
        world.atomics = if seed % 2 == 0 { 0.02 } else { 0.0 };
        let mut rig = Rig::<W, K, BA, TA, B>::new(world, seed);
        if TA > 1 {
            for entry in 0..512 {
                rig.map(entry, 0xf_0000 + ((entry * 37) & 511) * 3);
            }
        }
        let jobs: Vec<Job> = (0..50)
            .map(|number| Job {
                swap: false,
                write: rng.gen_bool(0.8),
                paged: TA > 1 && number % 2 == 0,
                address: if TA > 1 && number % 2 == 0 {
                    (number as u64 * 4) << 12 | rng.gen_range(0..4096)
                } else {
                    spaced(number, rng.gen_range(0..4096))
                },
                length: if rng.gen_bool(0.5) {
                    rng.gen_range(1..80)
                } else {
                    rng.gen_range(1..1500)
                },
                ring_beat: rng.gen_range(0..1 << BA),
                ring_offset: rng.gen_range(0..K as u64),
                release: rng.gen_bool(0.7),
                end_beat: rng.gen_range(0..1 << BA),
            })
            .enumerate()
            .map(|(number, job)| if job.write && number % 5 == 3 { result(job) } else { job })
            .collect();
        rig.run(&jobs);
        assert!(rig.memory.log.iter().any(|b| b.error) && !rig.completions.is_empty());
    }
}

fn cycles<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    // A single burst at a time waits for the one before: 20 cycles of latency and the way there and back.
    let wait = if B == 1 { 20 + 4 } else { 0 };
    for paged in [false, true] {
        for low in [0, 1, 7] {
            let mut rig = Rig::<W, K, BA, TA, B>::new(World::fast(), 700);
            for entry in 0..if TA > 1 { 64 } else { 0 } {
                rig.map(entry, 1000 - entry);
            }
            let address = |i: usize| if paged { (i as u64) << 12 | low } else { spaced(i, low) };
            let jobs: Vec<Job> = (0..50)
                .map(|i| Job {
                    paged,
                    ..job(address(i), 64, 0, 0)
                })
                .collect();
            let (w, done) = rig.run(&jobs);
            println!(
                "W {W}, paged {paged}, low {low}: {:.1} cycles a 64-byte job, last done after {done}",
                w as f64 / 50.0
            );
            let bound = 64 / K as u64 + 5 + (low > 0) as u64 + wait;
            assert!(w <= 50 * bound + 10, "{w}");
        }
    }
    let mut rig = Rig::<W, K, BA, TA, B>::new(World::fast(), 701);
    let (first, done) = rig.run(&[job(spaced(0, 0), 64, 0, 0)]);
    println!("W {W}: one 64-byte job: last W beat in cycle {first}, done in {done} with 20 of latency");
    let size = if K == 8 { 4096 } else { 512 };
    let mut rig = Rig::<W, K, BA, TA, B>::new(World::fast(), 702);
    let jobs: Vec<Job> = (0..10).map(|i| job(spaced(i, 5), size, 0, 0)).collect();
    let (w, _) = rig.run(&jobs);
    println!("W {W}: {:.1} cycles a job of {size} bytes", w as f64 / 10.0);
    assert!(w <= 10 * (size / K as u64 + 1 + 4 + wait) + 10, "{w}");
}

fn releases<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    let mut rig = Rig::<W, K, BA, TA, B>::new(World::fast(), 800);
    let only = |end_beat| Job {
        release: true,
        end_beat,
        ..Default::default()
    };
    let jobs = [
        only(1),
        only(2),
        Job {
            release: true,
            end_beat: 9,
            ..job(spaced(0, 1), 40, 3, 0)
        },
        only(10),
        // A UD packet: the GRH, then the payload with the release.
        job(spaced(1, 2), 40, 3, 0),
        Job {
            release: true,
            end_beat: 20,
            ..job(spaced(1, 42), 100, 5, 0)
        },
        only(21),
        Job::default(),
        only(22),
    ];
    rig.run(&jobs);
}

/// A READ response's bytes in two pieces: the second begins at any byte of the beat where the first has ended, and only it releases.
fn pieces<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    for (seed, world) in World::all().into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(900 + seed as u64);
        let mut jobs = vec![];
        for round in 0..64u64 {
            let (whole, beat) = (rng.gen_range(2..300), rng.gen_range(0..1 << BA));
            let offset = 4 * (round % (K as u64 / 4));
            let first = if round % 2 == 0 {
                rng.gen_range(1..whole.min(20))
            } else {
                rng.gen_range(1..whole)
            };
            jobs.push(job(spaced(jobs.len(), rng.gen_range(0..4096)), first, beat, offset));
            let at = beat * K as u64 + offset + first;
            jobs.push(Job {
                release: true,
                end_beat: rng.gen_range(0..1 << BA),
                ..job(
                    spaced(jobs.len(), rng.gen_range(0..4096)),
                    whole - first,
                    at / K as u64 % (1 << BA),
                    at % K as u64,
                )
            });
        }
        Rig::<W, K, BA, TA, B>::new(world, 900 + seed as u64).run(&jobs);
    }
}

/// An ATOMIC's result, big-endian in the frame, lands little-endian at any address, between jobs of all kinds. Without ATOMIC (32 bits) nothing is swapped.
fn swapped<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    for (seed, world) in World::all().into_iter().enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(1000 + seed as u64);
        let mut jobs = vec![];
        for round in 0..96u64 {
            // Each lane, and across pages and blocks.
            let low = if round < 32 { round } else { 4096 - round % 12 };
            jobs.push(Job {
                release: rng.gen_bool(0.5),
                end_beat: rng.gen_range(0..1 << BA),
                ..result(job(spaced(jobs.len(), low), 0, rng.gen_range(0..1 << BA), 0))
            });
            if rng.gen_bool(0.5) {
                let offset = rng.gen_range(0..K as u64);
                jobs.push(job(spaced(jobs.len(), rng.gen_range(0..64)), rng.gen_range(1..40), round, offset));
            }
        }
        Rig::<W, K, BA, TA, B>::new(world, 1000 + seed as u64).run(&jobs);
    }
}

/// While an ATOMIC's lock is granted no other write is under way, and each lock is granted; the others lose nothing by it.
fn lock<const W: usize, const K: usize, const BA: usize, const TA: usize, const B: usize>() {
    for (seed, mut world) in World::all().into_iter().enumerate() {
        world.completions = 0.1;
        world.atomics = 0.2;
        world.memory.error = 0.1;
        let mut rng = ChaCha8Rng::seed_from_u64(1100 + seed as u64);
        let mut rig = Rig::<W, K, BA, TA, B>::new(world, 1100 + seed as u64);
        let jobs: Vec<Job> = (0..100)
            .map(|number| {
                let length = if rng.gen_bool(0.8) {
                    rng.gen_range(1..100)
                } else {
                    rng.gen_range(1..6000)
                };
                job(
                    spaced(number, rng.gen_range(0..4096)),
                    length.min((K as u64) << BA),
                    number as u64,
                    0,
                )
            })
            .collect();
        rig.run(&jobs);
        println!("{:?} ATOMICs wrote, all; {} completions", rig.atomics, rig.completions.len());
        assert_eq!(rig.atomics.0 > 20 && rig.atomics.1 > rig.atomics.0, W == 64, "{:?}", rig.atomics);
        assert!(rig.completions.len() > 20);
    }
}
