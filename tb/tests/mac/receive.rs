// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receive: frames of every length in both halves, and all that can be wrong with one.

use super::bench::{pause_frame, random_frame, random_length, rng, Bench, Incoming, LONGEST};
use rand::Rng;
use verbena_model::xgmii::fcs;

const E: (u8, bool) = (0xfe, true);
const T: (u8, bool) = (0xfd, true);

/// Idles so that the gap is `gap` bytes at least (`/T/` included) and the next frame may start.
fn gap(bench: &mut Bench, gap: usize, lane: usize) {
    bench.sender.idle(gap - 1);
    bench.sender.to_lane(lane);
}

fn data(bytes: &[u8]) -> Vec<(u8, bool)> {
    bytes.iter().map(|b| (*b, false)).collect()
}

#[test]
fn every_length_in_both_halves() {
    let (mut bench, mut rng) = (Bench::new(), rng(1));
    let mut sent = vec![];
    for length in 60..=LONGEST {
        let frame = random_frame(&mut rng, length);
        bench.sender.frame(&frame);
        sent.push(Incoming { bytes: frame, bad: false });
        gap(&mut bench, 5, 4 * (length / 8 % 2));
        while !bench.sender.is_empty() {
            bench.tick();
        }
        // Half the frames follow at the shortest gap.
        if length % 2 == 0 {
            bench.sender.idle(8);
        }
    }
    bench.drain();
    assert!(bench.incoming == sent);
    assert_eq!(bench.event("rx_good"), sent.len());
}

/// Back to back with the shortest gap that a receiver must take (5 bytes, IEEE 802.3 46.2.1 note), in whatever lane comes first.
#[test]
fn shortest_gaps() {
    let (mut bench, mut rng) = (Bench::new(), rng(2));
    let mut sent = vec![];
    for _ in 0..2000 {
        let length = random_length(&mut rng);
        let frame = random_frame(&mut rng, length);
        bench.sender.frame(&frame);
        // /T/ and four idles, then up to three more.
        let used = (length + 4 + 5) % 4;
        bench.sender.idle(4 + (4 - used) % 4);
        sent.push(Incoming { bytes: frame, bad: false });
    }
    bench.drain();
    assert!(bench.incoming == sent);
}

#[test]
fn bit_errors() {
    let (mut bench, mut rng) = (Bench::new(), rng(3));
    let mut sent = vec![];
    for number in 0..1500 {
        let length = random_length(&mut rng);
        let frame = random_frame(&mut rng, length);
        let mut raw = frame.clone();
        raw.extend(fcs(&frame));
        let bad = number % 3 != 0;
        if bad {
            for _ in 0..rng.gen_range(1..4) {
                let bit = rng.gen_range(0..raw.len() * 8);
                // The type may not become MAC control's, which isn't shown.
                if bit / 8 != 12 {
                    raw[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
        let bad = raw[length..] != fcs(&raw[..length]);
        bench.sender.raw_frame(&raw);
        sent.push(Incoming {
            bytes: raw[..length].to_vec(),
            bad,
        });
        gap(&mut bench, 12, 4 * (number % 2));
    }
    bench.drain();
    assert!(bench.incoming == sent);
    let bad = sent.iter().filter(|s| s.bad).count();
    assert!(bad > 900);
    assert_eq!((bench.event("rx_bad_fcs"), bench.event("rx_good")), (bad, sent.len() - bad));
}

/// With a right FCS: what is short is bad all the same.
#[test]
fn runts() {
    let mut bench = Bench::new();
    let mut sent = vec![];
    for lane in [0, 4] {
        for length in 0..60 {
            let frame = vec![length as u8; length];
            bench.sender.frame(&frame);
            if length > 0 {
                sent.push(Incoming { bytes: frame, bad: true });
            }
            gap(&mut bench, 12, lane);
        }
        // Not even an FCS.
        for bytes in 0..4 {
            bench.sender.raw_frame(&vec![7; bytes]);
            gap(&mut bench, 12, lane);
        }
    }
    bench.drain();
    assert_eq!(bench.incoming, sent);
    assert_eq!((bench.event("rx_too_short"), bench.event("rx_good")), (128, 0));
}

#[test]
fn too_long_frames_are_cut() {
    let (mut bench, mut rng) = (Bench::new(), rng(4));
    let mut count = 0;
    for length in (LONGEST - 9..LONGEST + 20).chain([9000]) {
        let frame = random_frame(&mut rng, length);
        bench.sender.frame(&frame);
        gap(&mut bench, 12, 4 * (length % 2));
        bench.drain();
        let got = bench.incoming.pop().expect("a frame");
        assert!(bench.incoming.is_empty());
        assert_eq!(got.bad, length > LONGEST, "{length}");
        assert!(got.bytes.len() <= LONGEST + 4, "{}", got.bytes.len());
        assert!(frame.starts_with(&got.bytes[..got.bytes.len().min(LONGEST)]));
        if length > LONGEST {
            count += 1;
        } else {
            assert_eq!(got.bytes, frame);
        }
    }
    assert_eq!(bench.event("rx_too_long"), count);
}

/// One that never ends is cut too, and the next is taken.
#[test]
fn endless_frame() {
    let mut bench = Bench::new();
    bench.sender.start();
    bench.sender.lanes(&vec![(0x11, false); 40_000]);
    bench.drain();
    assert_eq!(bench.incoming.len(), 1);
    assert!(bench.incoming[0].bad);
    bench.sender.lanes(&[T]);
    gap(&mut bench, 12, 0);
    bench.sender.frame(&[5; 60]);
    bench.drain();
    assert_eq!(
        bench.incoming[1],
        Incoming {
            bytes: vec![5; 60],
            bad: false
        }
    );
    assert_eq!(bench.event("rx_too_long"), 1);
}

/// `/E/`, a start or anything else but `/T/` in a frame breaks it off, wherever it stands, and the next frame is taken.
#[test]
fn codes_in_a_frame() {
    let mut bench = Bench::new();
    let frame = vec![9; 100];
    let mut raw = frame.clone();
    raw.extend(fcs(&frame));
    let mut good = 0;
    for lane in [0, 4] {
        for code in [E, (0x07, true), (0x9c, true), (0x00, true)] {
            for at in 5..raw.len() {
                bench.sender.start();
                let mut lanes = data(&raw);
                lanes[at] = code;
                bench.sender.lanes(&lanes);
                bench.sender.lanes(&[T]);
                gap(&mut bench, 12, lane);
                bench.sender.frame(&frame);
                gap(&mut bench, 12, lane);
                good += 1;
            }
        }
    }
    bench.drain();
    assert_eq!((bench.event("rx_bad_code"), bench.event("rx_good")), (good, good));
    assert_eq!(bench.incoming.len(), 2 * good);
    for pair in bench.incoming.chunks(2) {
        assert!(pair[0].bad && frame.starts_with(&pair[0].bytes));
        assert!(!pair[1].bad && pair[1].bytes == frame);
    }
}

#[test]
fn a_start_in_a_frame() {
    let mut bench = Bench::new();
    let frame = vec![3; 64];
    for lane in [0, 4] {
        for beats in 1..6 {
            for half in [0, 4] {
                bench.sender.to_lane(lane);
                bench.sender.start();
                bench.sender.lanes(&vec![(1, false); 8 * beats + half]);
                bench.sender.frame(&frame);
                bench.sender.idle(40);
            }
        }
    }
    bench.drain();
    assert_eq!((bench.event("rx_bad_code"), bench.event("rx_good")), (20, 20));
    assert!(bench.incoming.iter().filter(|f| !f.bad).all(|f| f.bytes == frame));
}

#[test]
fn bad_preambles() {
    let mut bench = Bench::new();
    let frame = vec![4; 60];
    for lane in [0, 4] {
        for at in 1..8 {
            for bad in [(0x54, false), (0xd5, false), (0x55, true)] {
                if at == 7 && bad == (0xd5, false) {
                    continue;
                }
                bench.sender.to_lane(lane);
                let mut lanes = vec![(0x55, false); 8];
                lanes[0] = (0xfb, true);
                lanes[7] = (0xd5, false);
                lanes[at] = bad;
                lanes.extend(data(&frame));
                lanes.extend(data(&fcs(&frame)));
                lanes.push(T);
                bench.sender.lanes(&lanes);
                bench.sender.idle(30);
            }
        }
    }
    bench.drain();
    assert!(bench.incoming.is_empty());
    assert_eq!(bench.event("rx_bad_preamble"), 2 * 20);
    bench.sender.to_lane(4);
    bench.sender.frame(&frame);
    bench.drain();
    assert_eq!(bench.incoming.len(), 1);
}

/// MAC control isn't shown, its neighbours are.
#[test]
fn control_frames_are_kept_back() {
    let (mut bench, mut rng) = (Bench::new(), rng(5));
    let mut sent = vec![];
    for number in 0..300 {
        if rng.gen_ratio(1, 2) {
            bench.sender.frame(&pause_frame(number % 3));
        } else {
            let frame = random_frame(&mut rng, 60 + usize::from(number) % 9);
            bench.sender.frame(&frame);
            sent.push(Incoming { bytes: frame, bad: false });
        }
        bench.sender.idle(4);
        let lane = if rng.gen() { 0 } else { 4 };
        bench.sender.to_lane(lane);
    }
    bench.drain();
    assert!(bench.incoming == sent);
    assert_eq!(bench.event("rx_pause"), 300 - sent.len());
}

/// Any columns at all: beats stay well formed (the bench asserts it), and a good frame afterwards is taken.
#[test]
fn noise() {
    let (mut bench, mut rng) = (Bench::new(), rng(6));
    let common = [0x07, 0xfb, 0xfd, 0xfe, 0x9c, 0x55, 0xd5];
    for _ in 0..200 {
        for _ in 0..rng.gen_range(1..400) {
            let byte = if rng.gen() { common[rng.gen_range(0..7)] } else { rng.gen() };
            bench.sender.lanes(&[(byte, rng.gen_ratio(1, 4))]);
            if rng.gen_ratio(1, 60) {
                bench.sender.to_lane(0);
                bench.sender.start();
            }
        }
        bench.sender.lanes(&[T]);
        bench.sender.idle(16);
        bench.sender.to_lane(0);
        bench.sender.frame(&[0x42; 77]);
        bench.sender.idle(16);
        bench.drain();
        assert_eq!(
            bench.incoming.last(),
            Some(&Incoming {
                bytes: vec![0x42; 77],
                bad: false
            })
        );
    }
}

/// The Rust simulation does the same as the Verilated text, on frames that go through both.
#[test]
fn rust_simulation_agrees_on_traffic() {
    let (mut bench, mut rng) = (Bench::new(), rng(7));
    bench.record = Some(vec![]);
    for number in 0..60 {
        let frame = random_frame(&mut rng, 60 + number);
        bench.sender.frame(&frame);
        bench.sender.idle(4);
        bench.sender.to_lane(4 * (number % 2));
        if number % 16 == 3 {
            bench.sender.frame(&pause_frame(3));
            bench.sender.idle(4);
            bench.sender.to_lane(0);
        }
        if number % 10 == 7 {
            bench.sender.start();
            bench.sender.lanes(&[E, T]);
            bench.sender.idle(10);
            bench.sender.to_lane(0);
        }
        bench.send(frame);
    }
    bench.drain();
    bench.check();
    bench.replay_in_rust();
}
