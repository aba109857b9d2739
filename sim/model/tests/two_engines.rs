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
use world::World;

/// Seeds of the quick run.
const QUICK: u64 = 200;

fn seeds() -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("VERBENA_SEEDS") else {
        return 0..QUICK;
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
    for seed in seeds() {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let faults = faults(&mut rng);
        let mut world = World::new(seed, &mut rng, faults, true);
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
        let mut world = World::new(seed, &mut rng, Faults::default(), false);
        world.run();
        world.check();
        for side in &world.link.sides {
            let counters = side.golden.counters();
            let bad = [c::REWIND, c::TIMEOUT, c::GHOST_ACK, c::DUPLICATE, c::OUT_OF_SEQUENCE, c::RNR];
            assert_eq!(bad.map(|k| counters[usize::from(k)]), [0; 6], "seed {seed}");
        }
    }
}
