// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two golden engines on a bad wire: all verbs mixed, both ways, every byte and completion held to a sequential model.
//!
//! `VERBENA_SEEDS=FIRST..LAST` runs other seeds than the quick ones.

#[path = "two_engines/plan.rs"]
mod plan;
#[path = "two_engines/world.rs"]
mod world;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_model::wire::Faults;
use verbena_spec::counters as c;
use world::{Kind, World};

/// Seeds of the quick run.
const QUICK: u64 = 200;

fn seeds(quick: u64) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("VERBENA_SEEDS") else {
        return 0..quick;
    };
    let (first, last) = text.split_once("..").expect("VERBENA_SEEDS=FIRST..LAST");
    first.parse().unwrap()..last.parse().unwrap()
}

/// Each fault at 0 to 5 %, one in three seeds without some of them.
fn faults(rng: &mut ChaCha8Rng) -> Faults {
    let mut rate = || if rng.gen_ratio(1, 3) { 0.0 } else { rng.gen_range(0.0..0.05) };
    Faults {
        loss: rate(),
        duplicate: rate(),
        reorder: rate(),
        corrupt: rate(),
        delay: rate(),
        ..Faults::default()
    }
}

#[test]
fn every_byte_and_completion_is_right_on_a_bad_wire() {
    let (mut messages, mut retries, mut wire_faults) = (0, 0, 0);
    for seed in seeds(QUICK) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let faults = faults(&mut rng);
        let mut world = World::new(seed, &mut rng, faults, true, Kind::Plain);
        world.run();
        messages += world.check();
        let (rewinds, faults) = (world.retries(), world.faults());
        // A fault makes one hole at a responder and one among the responses, at worst: a delayed request behind an RNR wait, for example,
        // is NAKed or times out twice.
        assert!(
            rewinds <= 2 * faults,
            "seed {seed}: {rewinds} retries, more than the {faults} faults explain"
        );
        retries += rewinds;
        wire_faults += faults;
    }
    println!("{messages} messages, {wire_faults} faults, {retries} retries");
    assert!(retries <= wire_faults, "{retries} retries, {wire_faults} faults");
    assert!(messages > 5000 && retries > 500);
}

#[test]
fn a_good_wire_needs_no_retry() {
    for seed in 0..20 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut world = World::new(seed, &mut rng, Faults::default(), false, Kind::Plain);
        world.run();
        world.check();
        for side in &world.link.sides {
            let counters = side.golden.counters();
            let bad = [c::REWIND, c::TIMEOUT, c::GHOST_ACK, c::DUPLICATE, c::OUT_OF_SEQUENCE, c::RNR];
            assert_eq!(bad.map(|k| counters[usize::from(k)]), [0; 6], "seed {seed}");
        }
    }
}

/// Chaos of the reorder station: loss, reordering, duplicates, corruption, delay, full pools.
#[test]
fn r42_every_byte_and_completion_is_right_with_early_packets_held() {
    let (mut messages, mut held, mut full, mut resends) = (0, 0, 0, 0);
    for seed in seeds(1000) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let faults = faults(&mut rng);
        let mut world = World::new(seed, &mut rng, faults, true, Kind::Ordered);
        world.run();
        messages += world.check();
        // What found no slot, or lay beyond the window, is a fault of the station's.
        let dropped = world.count(c::REORDER_FULL) + world.count(c::OUT_OF_SEQUENCE) + world.count(c::OUT_OF_SEQUENCE_SILENT);
        let (retries, faults) = (world.retries(), world.faults() + dropped);
        assert!(
            retries <= 2 * faults,
            "seed {seed}: {retries} retries, more than {faults} faults explain"
        );
        assert!(world.count(c::REORDER_HELD) >= world.count(c::REORDER_RELEASED));
        held += world.count(c::REORDER_HELD);
        full += world.count(c::REORDER_FULL);
        resends += world.count(c::SELECTIVE_RESEND);
    }
    println!("{messages} messages, {held} held, {full} found no slot, {resends} sent again alone");
    assert!(messages > 25_000 && held > 5_000 && full > 1_000 && resends > 1_000);
}

/// And connections that are reset in the middle (R41, R68).
#[test]
fn r42_r68_every_byte_and_completion_is_right_after_resets_in_the_middle() {
    let (mut lives, mut released) = (0, 0);
    for seed in seeds(1000) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let faults = faults(&mut rng);
        let mut world = World::new(seed, &mut rng, faults, true, Kind::Resets);
        world.run();
        world.check();
        lives += world.lives();
        released += world.count(c::REORDER_RELEASED);
    }
    println!("{lives} resets, {released} packets held then");
    assert!(lives > 1000 && released > 200);
}

/// Where nothing is lost, reordering costs nothing sent again: the station's whole point.
#[test]
fn r42_reordering_alone_sends_nothing_again() {
    let mut whole = 0;
    for seed in 0..50 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let faults = Faults {
            reorder: 0.2,
            reorder_window: 8,
            ..Faults::default()
        };
        let mut world = World::new(seed, &mut rng, faults, false, Kind::Plain);
        world.hold(63);
        world.run();
        world.check();
        // What comes behind a READ of more PSNs than the window, before it, can't be held.
        if world.count(c::OUT_OF_SEQUENCE) != 0 {
            continue;
        }
        whole += 1;
        let again = [c::REWIND, c::TIMEOUT, c::SELECTIVE_RESEND, c::IMPLIED_NAK, c::DUPLICATE];
        assert_eq!(again.map(|k| world.count(k)), [0; 5], "seed {seed}");
    }
    assert!(whole > 30, "{whole}");
}
