// SPDX-License-Identifier: MIT OR Apache-2.0
//! `MacPins`: the loop inside, frames out of and into the pins, a MAC that doesn't take them.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verbena_hdl::board::MacPins;
use verbena_tb::pins::Pins;

/// Words, bytes of the last one, broken.
type Frame = (Vec<u32>, u64, bool);

fn pins() -> Pins {
    let mut pins = Pins::with_clocks(Box::<MacPins>::default(), "mac_pins", &["rx_clock"]);
    pins.set("tx_link", 1);
    pins.set("tx_ready", 1);
    (0..6).for_each(|_| pins.tick());
    pins
}

fn frame(rng: &mut ChaCha8Rng, longest: usize) -> Frame {
    let words = rng.gen_range(1..=longest);
    ((0..words).map(|_| rng.gen()).collect(), rng.gen_range(1..=4), false)
}

/// What is seen at one of the streams: word, bytes, last, bad.
#[derive(Default)]
struct Seen {
    frames: Vec<Frame>,
    words: Vec<u32>,
}

impl Seen {
    fn word(&mut self, data: u64, bytes: u64, last: bool, bad: bool) {
        self.words.push(data as u32);
        if last {
            self.frames.push((std::mem::take(&mut self.words), bytes, bad));
        }
    }
}

/// Bytes of `tkeep`, which is contiguous.
fn bytes_of(keep: u64) -> u64 {
    assert!([1, 3, 7, 15].contains(&keep), "keep {keep:#x}");
    u64::from(keep.count_ones())
}

/// The engine's side: gives frames, sees what comes back.
struct Engine {
    given: Vec<Frame>,
    at: usize,
    valid: bool,
    seen: Seen,
    pins_seen: Seen,
    dropped: usize,
}

impl Engine {
    fn new(given: &[Frame]) -> Engine {
        Engine {
            given: given.to_vec(),
            at: 0,
            valid: false,
            seen: Seen::default(),
            pins_seen: Seen::default(),
            dropped: 0,
        }
    }

    fn done(&self) -> bool {
        self.given.is_empty()
    }

    fn tick(&mut self, pins: &mut Pins, rng: &mut ChaCha8Rng) {
        // A frame doesn't pause once begun, and frames have a cycle between them at least.
        if !self.valid && !self.given.is_empty() && (self.at > 0 || rng.gen_ratio(1, 3)) {
            let (words, bytes, _) = &self.given[0];
            let last = self.at + 1 == words.len();
            pins.set("s_data", words[self.at].into());
            pins.set("s_keep", if last { (1 << bytes) - 1 } else { 15 });
            pins.set("s_last", last.into());
            self.valid = true;
        }
        pins.set("s_valid", self.valid.into());
        pins.tick();
        if self.valid && pins.get("s_ready") == 1 {
            self.valid = false;
            self.at += 1;
            if self.at == self.given[0].0.len() {
                self.given.remove(0);
                self.at = 0;
            }
        }
        if pins.get("m_valid") == 1 {
            let last = pins.get("m_last") == 1;
            let keep = pins.get("m_keep");
            assert!(last || keep == 15);
            self.seen.word(pins.get("m_data"), bytes_of(keep), last, pins.get("m_user") == 1);
        }
        if pins.get("tx_valid") == 1 {
            self.pins_seen.word(
                pins.get("tx_data"),
                pins.get("tx_bytes") + 1,
                pins.get("tx_last") == 1,
                pins.get("tx_bad") == 1,
            );
        }
        self.dropped += pins.get("dropped") as usize;
    }
}

#[test]
fn frames_go_round_inside_and_the_pins_are_still() {
    let (mut pins, mut rng) = (pins(), ChaCha8Rng::seed_from_u64(1));
    pins.set("loopback", 1);
    pins.set("tx_link", 0);
    pins.set("tx_ready", 0);
    let frames: Vec<Frame> = (0..50).map(|_| frame(&mut rng, 40)).collect();
    let mut engine = Engine::new(&frames);
    for _ in 0..8000 {
        // What comes by the pins meanwhile counts for nothing.
        pins.set("rx_valid", u64::from(rng.gen::<bool>()));
        pins.set("rx_last", u64::from(rng.gen::<bool>()));
        pins.set("rx_clock", 1);
        pins.settle();
        pins.set("rx_clock", 0);
        engine.tick(&mut pins, &mut rng);
    }
    assert_eq!(engine.seen.frames, frames);
    assert_eq!(
        (engine.pins_seen.frames.len(), engine.pins_seen.words.len(), engine.dropped),
        (0, 0, 0)
    );
}

#[test]
fn frames_go_out_and_at_most_four_words_after_ready_has_fallen() {
    let (mut pins, mut rng) = (pins(), ChaCha8Rng::seed_from_u64(2));
    let frames: Vec<Frame> = (0..80).map(|_| frame(&mut rng, 40)).collect();
    let mut engine = Engine::new(&frames);
    let (mut ready, mut since) = (1, 0);
    for _ in 0..20_000 {
        if rng.gen_ratio(1, 12) {
            ready ^= 1;
            since = 0;
            pins.set("tx_ready", ready);
        }
        let before = engine.pins_seen.words.len() + engine.pins_seen.frames.iter().map(|f| f.0.len()).sum::<usize>();
        engine.tick(&mut pins, &mut rng);
        let after = engine.pins_seen.words.len() + engine.pins_seen.frames.iter().map(|f| f.0.len()).sum::<usize>();
        if ready == 0 {
            since += after - before;
            assert!(since <= 4, "{since} words after ready fell");
        }
        if engine.done() {
            break;
        }
    }
    pins.set("tx_ready", 1);
    (0..20).for_each(|_| engine.tick(&mut pins, &mut rng));
    assert_eq!(engine.pins_seen.frames, frames);
    assert_eq!(engine.dropped, 0);
}

#[test]
fn frames_come_in_at_the_other_clock_and_broken_ones_say_so() {
    let (mut pins, mut rng) = (pins(), ChaCha8Rng::seed_from_u64(3));
    for period in [1000, 1001, 1250, 3100] {
        let mut frames: Vec<Frame> = (0..30).map(|_| frame(&mut rng, 60)).collect();
        frames.iter_mut().for_each(|f| f.2 = rng.gen_ratio(1, 5));
        let mut engine = Engine::new(&[]);
        let (mut own, mut other) = (0, rng.gen_range(1..1000));
        let mut plan: Vec<Option<(u32, u64, bool, bool)>> = vec![];
        for (words, bytes, bad) in &frames {
            for (i, word) in words.iter().enumerate() {
                let last = i + 1 == words.len();
                // Bytes and bad mean nothing but at the end.
                plan.push(Some((
                    *word,
                    if last { bytes - 1 } else { rng.gen_range(0..4) },
                    last,
                    if last { *bad } else { rng.gen() },
                )));
            }
            plan.extend((0..rng.gen_range(3..10)).map(|_| None));
        }
        for step in plan {
            while own <= other {
                engine.tick(&mut pins, &mut rng);
                own += 1000;
            }
            let (data, bytes, last, bad) = step.unwrap_or((7, 1, true, true));
            for (name, value) in [
                ("rx_data", u64::from(data)),
                ("rx_bytes", bytes),
                ("rx_valid", step.is_some().into()),
                ("rx_last", last.into()),
                ("rx_bad", bad.into()),
            ] {
                pins.set(name, value);
            }
            pins.settle();
            pins.set("rx_clock", 1);
            pins.settle();
            pins.set("rx_clock", 0);
            pins.settle();
            other += period;
        }
        (0..20).for_each(|_| engine.tick(&mut pins, &mut rng));
        assert_eq!(engine.seen.frames, frames, "receive cycle {period}");
    }
}

#[test]
fn without_link_frames_are_dropped_and_the_engine_goes_on() {
    let (mut pins, mut rng) = (pins(), ChaCha8Rng::seed_from_u64(4));
    pins.set("tx_link", 0);
    pins.set("tx_ready", 0);
    (0..6).for_each(|_| pins.tick());
    let frames: Vec<Frame> = (0..20).map(|_| frame(&mut rng, 40)).collect();
    let mut engine = Engine::new(&frames);
    (0..4000).for_each(|_| engine.tick(&mut pins, &mut rng));
    assert!(engine.done());
    assert_eq!(
        (engine.dropped, engine.pins_seen.frames.len(), engine.pins_seen.words.len()),
        (20, 0, 0)
    );
    // The link comes back: frames go out again.
    pins.set("tx_link", 1);
    pins.set("tx_ready", 1);
    (0..6).for_each(|_| pins.tick());
    let mut engine = Engine::new(&frames);
    (0..4000).for_each(|_| engine.tick(&mut pins, &mut rng));
    assert_eq!((engine.pins_seen.frames, engine.dropped), (frames, 0));
}

#[test]
fn a_mac_that_stops_in_a_frame_costs_that_frame_and_those_behind_it() {
    let (mut pins, mut rng) = (pins(), ChaCha8Rng::seed_from_u64(5));
    let frames: Vec<Frame> = (0..5).map(|_| ((0..30).map(|_| rng.gen()).collect(), 4, false)).collect();
    let mut engine = Engine::new(&frames);
    while engine.pins_seen.frames.len() < 2 || engine.pins_seen.words.len() < 10 {
        engine.tick(&mut pins, &mut rng);
    }
    pins.set("tx_ready", 0);
    for n in 0..4000 {
        pins.set("tick", u64::from(n % 1000 == 500));
        engine.tick(&mut pins, &mut rng);
        if n < 1400 {
            assert_eq!(engine.dropped, 0, "cycle {n}: dropped before two ticks");
        }
    }
    assert!(engine.done(), "the engine stands");
    assert_eq!(engine.dropped, 3);
    let seen = std::mem::take(&mut engine.pins_seen.frames);
    assert_eq!(seen[..2], frames[..2]);
    assert_eq!(seen.len(), 3);
    assert!(
        seen[2].2 && seen[2].0.len() < 30,
        "the frame that was begun ends as broken: {:?}",
        seen[2]
    );
    pins.set("tx_ready", 1);
    (0..10).for_each(|_| engine.tick(&mut pins, &mut rng));
    engine.given = frames.clone();
    (0..2000).for_each(|_| engine.tick(&mut pins, &mut rng));
    assert_eq!(engine.pins_seen.frames, frames);
}
