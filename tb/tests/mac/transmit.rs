// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transmit: frames, gaps, broken frames, pause, link faults.

use super::bench::{pause_frame, random_frame, random_length, rng, Bench, Outgoing, LONGEST};
use rand::Rng;
use verbena_model::xgmii::Fault;

/// Frames in order, whole, with the right FCS.
fn compare(bench: &Bench, sent: &[Vec<u8>]) {
    bench.check();
    assert_eq!(bench.receiver.frames.len(), sent.len());
    for (number, (got, want)) in bench.receiver.frames.iter().zip(sent).enumerate() {
        assert!(
            got.bytes == *want,
            "frame {number} of {} bytes: {} bytes came",
            want.len(),
            got.bytes.len()
        );
        assert!(got.fcs_good && !got.error, "frame {number} of {} bytes", want.len());
    }
}

/// Back to back: each gap 9 to 15, 12 on average, never more than 3 bytes owed or lent.
fn gaps_are_twelve(bench: &Bench) {
    let mut owed = 0i64;
    for frame in &bench.receiver.frames[1..] {
        let gap = frame.gap.expect("a gap") as i64;
        assert!((9..=15).contains(&gap), "gap {gap}");
        owed += 12 - gap;
        assert!((0..=3).contains(&owed), "{owed} bytes owed");
    }
    assert!([0, 4].iter().all(|lane| bench.receiver.frames.iter().any(|f| f.lane == *lane)));
}

#[test]
fn every_length_back_to_back() {
    let (mut bench, mut rng) = (Bench::new(), rng(1));
    let sent: Vec<Vec<u8>> = (60..=LONGEST).map(|n| random_frame(&mut rng, n)).collect();
    sent.iter().for_each(|f| bench.send(f.clone()));
    bench.drain();
    compare(&bench, &sent);
    gaps_are_twelve(&bench);
    assert_eq!(bench.event("tx_underrun") + bench.event("tx_muted"), 0);
}

#[test]
fn random_lengths_back_to_back() {
    let (mut bench, mut rng) = (Bench::new(), rng(2));
    let sent: Vec<Vec<u8>> = (0..3000)
        .map(|_| {
            let length = random_length(&mut rng);
            random_frame(&mut rng, length)
        })
        .collect();
    sent.iter().for_each(|f| bench.send(f.clone()));
    bench.drain();
    compare(&bench, &sent);
    gaps_are_twelve(&bench);
}

/// 14.88 million frames of 60 bytes a second: 10.5 cycles each.
#[test]
fn line_rate_of_the_shortest() {
    let mut bench = Bench::new();
    (0..1000).for_each(|n| bench.send(vec![n as u8; 60]));
    bench.drain();
    let columns: Vec<usize> = bench.receiver.frames.iter().map(|f| f.column).collect();
    assert_eq!(columns[999] - columns[999 - 998], 998 * 21 / 2);
    gaps_are_twelve(&bench);
}

/// From `s_valid` to `/S/` on the wire, and from `/S/` to the first beat of `m_*`: as docs/stations/mac.md has it.
#[test]
fn latency() {
    let mut bench = Bench::new();
    bench.run(20);
    bench.send(vec![1; 60]);
    bench.drain();
    assert_eq!((bench.receiver.frames[0].column, bench.receiver.frames[0].lane), (20 + 9, 0));
    let start = bench.cycle;
    bench.sender.frame(&[2; 60]);
    bench.drain();
    assert_eq!(bench.first_beat, start + 13);
}

#[test]
fn pauses_between_frames() {
    let (mut bench, mut rng) = (Bench::new(), rng(3));
    let mut sent = vec![];
    for _ in 0..500 {
        let length = random_length(&mut rng);
        let frame = random_frame(&mut rng, length);
        bench.send(frame.clone());
        sent.push(frame);
        let cycles = rng.gen_range(0..40);
        bench.run(cycles);
    }
    bench.drain();
    compare(&bench, &sent);
}

#[test]
fn frames_shorter_than_promised_keep_the_gap() {
    let (mut bench, mut rng) = (Bench::new(), rng(4));
    let sent: Vec<Vec<u8>> = (0..400).map(|n| random_frame(&mut rng, n % 60 + 1)).collect();
    sent.iter().for_each(|f| bench.send(f.clone()));
    bench.drain();
    compare(&bench, &sent);
    gaps_are_twelve(&bench);
}

#[test]
fn a_paused_frame_goes_out_broken() {
    let (mut bench, mut rng) = (Bench::new(), rng(5));
    let mut broken = vec![];
    for number in 0..200 {
        let length = random_length(&mut rng);
        let bytes = random_frame(&mut rng, length);
        let beats = length.div_ceil(8);
        let pause_at = (number % 3 == 1).then(|| rng.gen_range(1..beats));
        let user = number % 7 == 0;
        broken.push(pause_at.is_some() || user);
        bench.outgoing.push_back(Outgoing { bytes, user, pause_at });
    }
    bench.drain();
    bench.check();
    assert_eq!(bench.receiver.frames.len(), 200);
    for (number, frame) in bench.receiver.frames.iter().enumerate() {
        assert_eq!(frame.error, broken[number], "frame {number}");
        assert_eq!(frame.fcs_good, !broken[number], "frame {number}");
    }
    assert_eq!(bench.event("tx_underrun"), (0..200).filter(|n| n % 3 == 1).count());
}

#[test]
fn r79_pause_frames_are_obeyed() {
    let mut bench = Bench::new();
    (0..400).for_each(|_| bench.send(vec![1; 60]));
    bench.run(100);
    bench.sender.frame(&pause_frame(20));
    bench.drain();
    bench.check();
    assert_eq!(bench.event("rx_pause"), 1);
    let gaps: Vec<usize> = bench.receiver.frames[1..].iter().map(|f| f.gap.unwrap_or(0)).collect();
    let long: Vec<&usize> = gaps.iter().filter(|g| **g > 15).collect();
    // 20 quanta of 64 bytes, less the frame under way when it came, which is 80 bytes at most.
    assert!(long.len() == 1 && (20 * 64 - 84..=20 * 64 + 24).contains(long[0]), "{long:?}");
    // MAC control doesn't reach the host.
    assert!(bench.incoming.is_empty());
}

#[test]
fn pause_ends_early_by_zero_and_not_by_a_bad_frame() {
    let mut bench = Bench::new();
    bench.sender.frame(&pause_frame(0xffff));
    bench.run(40);
    assert!(bench.paused);
    bench.send(vec![1; 60]);
    let mut bad = pause_frame(0);
    bad.extend([0; 4]);
    bench.sender.to_lane(0);
    bench.sender.raw_frame(&bad);
    bench.run(100);
    assert!(bench.paused && bench.receiver.frames.is_empty() && bench.event("rx_bad_fcs") == 1);
    bench.sender.to_lane(4);
    bench.sender.frame(&pause_frame(0));
    bench.run(60);
    assert!(!bench.paused && bench.receiver.frames.len() == 1);
}

#[test]
fn pause_can_be_turned_off_and_is_for_us_only() {
    let mut bench = Bench::new();
    bench.pause_enable = false;
    bench.sender.frame(&pause_frame(100));
    bench.run(40);
    assert!(!bench.paused);
    bench.pause_enable = true;
    for (at, value) in [(5, 2), (15, 2)] {
        let mut other = pause_frame(100);
        other[at] = value;
        bench.sender.to_lane(0);
        bench.sender.frame(&other);
        bench.run(40);
        assert!(!bench.paused);
    }
    assert!(bench.incoming.is_empty());
}

/// Priority flow control (opcode 0x0101) stops nothing, whatever its classes and times say.
#[test]
fn r79_priority_flow_control_is_not_obeyed() {
    let mut bench = Bench::new();
    for classes in [0u8, 1, 0xff] {
        let mut frame = pause_frame(0);
        frame[14..16].copy_from_slice(&[1, 1]);
        frame[16..18].copy_from_slice(&[0, classes]);
        frame[18..34].fill(0xff);
        bench.sender.to_lane(0);
        bench.sender.frame(&frame);
        bench.run(40);
        assert!(!bench.paused, "classes {classes:#x}");
    }
    assert_eq!(bench.event("rx_pause"), 0);
    bench.send(vec![1; 60]);
    bench.drain();
    assert_eq!(bench.receiver.frames.len(), 1);
}

#[test]
fn link_faults() {
    let mut bench = Bench::new();
    // Three sets are no fault yet, nor are four of two kinds.
    for kinds in [
        [Fault::Local; 3].to_vec(),
        vec![Fault::Local, Fault::Local, Fault::Remote, Fault::Local],
    ] {
        kinds.iter().for_each(|k| bench.sender.fault(*k));
        bench.sender.to_lane(0);
        bench.run(200);
        assert!(!bench.local_fault && !bench.remote_fault);
    }
    // Local fault: we say remote fault, and frames are taken but not sent.
    for _ in 0..100 {
        bench.sender.fault(Fault::Local);
        bench.sender.idle(12);
    }
    bench.run(30);
    assert!(bench.local_fault);
    (0..5).for_each(|_| bench.send(vec![1; 60]));
    bench.run(120);
    assert!(bench.outgoing.is_empty() && bench.receiver.frames.is_empty() && bench.event("tx_muted") == 5);
    assert!(bench.receiver.remote_faults > 200);
    while !bench.sender.is_empty() {
        bench.tick();
    }
    bench.run(100);
    assert!(!bench.local_fault);
    // Remote fault: idles only.
    let before = bench.receiver.remote_faults;
    for _ in 0..10 {
        bench.sender.fault(Fault::Remote);
        bench.sender.idle(4 + 8 * 10);
    }
    bench.run(100);
    bench.send(vec![2; 60]);
    bench.run(30);
    assert!(bench.remote_fault && bench.receiver.frames.is_empty() && bench.receiver.remote_faults == before);
    bench.run(300);
    assert!(!bench.remote_fault);
    bench.send(vec![3; 60]);
    bench.run(40);
    assert_eq!(bench.receiver.frames.len(), 1);
    bench.check();
}

/// A fault that begins inside a frame lets it end; one that ends inside a frame that isn't sent doesn't let half of it out.
#[test]
fn faults_at_any_time() {
    let (mut bench, mut rng) = (Bench::new(), rng(6));
    let mut sent = vec![];
    for number in 0..400u32 {
        let mut frame = random_frame(&mut rng, 200);
        frame[..4].copy_from_slice(&number.to_be_bytes());
        bench.send(frame.clone());
        sent.push(frame);
        if rng.gen_ratio(1, 4) {
            bench.sender.to_lane(4);
            let kind = if rng.gen() { Fault::Local } else { Fault::Remote };
            (0..rng.gen_range(4..9)).for_each(|_| bench.sender.fault(kind));
        }
        let cycles = rng.gen_range(0..50);
        bench.run(cycles);
    }
    bench.run(200);
    bench.drain();
    bench.check();
    let muted = bench.event("tx_muted");
    assert!(muted > 20 && muted < 380, "{muted}");
    assert_eq!(bench.receiver.frames.len(), sent.len() - muted);
    let mut rest = sent.iter();
    for frame in &bench.receiver.frames {
        assert!(frame.fcs_good && !frame.error);
        assert!(rest.any(|s| *s == frame.bytes), "a frame that wasn't sent, or out of order");
    }
}
