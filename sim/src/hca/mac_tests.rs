// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC model by itself.

use super::mac::*;
use super::pins::{Stream, Violations};

fn deliver(pace: Pace, frames: usize, length: usize, data_bits: usize) -> (MacRx, u64, Vec<u8>) {
    let mut mac = MacRx::new(data_bits, pace, 1);
    mac.record = true;
    let frame: Vec<u8> = (0..length).map(|i| i as u8).collect();
    (0..frames).for_each(|_| mac.send(&frame));
    let (mut port, mut violations, mut cycle, mut bytes) = (
        Stream {
            ready: true,
            ..Stream::default()
        },
        Violations::default(),
        0,
        vec![],
    );
    while mac.pending() > 0 {
        mac.drive(&mut port, cycle);
        if port.valid {
            bytes.extend_from_slice(&port.data.to_le_bytes()[..port.keep.count_ones() as usize]);
        }
        mac.sample(&port, cycle, &mut violations);
        cycle += 1;
    }
    violations.check().unwrap();
    (mac, cycle, bytes)
}

#[test]
fn wire_time_is_exact_in_bytes() {
    // PMTU 256 middle packets: 338 bytes on the wire, 42.25 cycles, which rounding to whole cycles would make 43.
    let frame = 338 - 24;
    let (mac, cycles, bytes) = deliver(Pace::Wire, 4000, frame, 64);
    assert_eq!(bytes.len(), 4000 * frame);
    let starts = mac.times[3999].first - mac.times[0].first;
    assert!((starts as f64 - 3999.0 * 42.25).abs() <= 1.0, "{starts}");
    assert!(cycles > 4000 * 42);
    // The shortest frame: 84 bytes, 10.5 cycles.
    let (mac, ..) = deliver(Pace::Wire, 1001, 30, 64);
    assert_eq!(mac.times[1000].first - mac.times[0].first, 10_500);
    let (mac, ..) = deliver(Pace::Wire, 1001, 60, 32);
    assert_eq!(mac.times[1000].first - mac.times[0].first, 21_000);
}

#[test]
fn fast_has_no_gap_and_idle_loses_nothing() {
    let (_, cycles, bytes) = deliver(Pace::Fast, 10, 64, 64);
    assert_eq!((cycles, bytes.len()), (80, 640));
    let (_, cycles, bytes) = deliver(Pace::Idle(0.5), 10, 64, 32);
    assert!(cycles > 160);
    assert_eq!(&bytes[64..70], [0, 1, 2, 3, 4, 5]);
}

#[test]
fn sink_sees_each_broken_rule() {
    let good = Stream {
        data: 1,
        keep: 0xff,
        valid: true,
        ..Stream::default()
    };
    let run = |beats: &[Stream]| {
        let (mut sink, mut violations) = (Sink::new("tx", 64, true, 1), Violations::default());
        for (cycle, beat) in beats.iter().enumerate() {
            let mut port = *beat;
            sink.drive(&mut port, cycle as u64);
            sink.sample(&port, cycle as u64, &mut violations);
        }
        (sink, violations.count)
    };
    let last = Stream {
        last: true,
        keep: 0x0f,
        ..good
    };
    let whole = [good, good, good, good, good, good, good, last];
    let (sink, count) = run(&whole);
    assert_eq!(
        (sink.frames[0].bytes.len(), sink.frames[0].first, sink.frames[0].last, count),
        (60, 0, 7, 0)
    );
    assert_eq!(run(&[good, last]).1, 1, "runt");
    let mut paused = whole.to_vec();
    paused.insert(3, Stream::default());
    assert_eq!(run(&paused).1, 1, "pause");
    let mut holes = whole;
    holes[2].keep = 0xf7;
    assert_eq!(run(&holes).1, 2, "keep, and so a runt");
}

#[test]
fn source_gives_frames_in_order_and_holds_them() {
    let mut source = Source::new(64, 1);
    source.idle = 0.3;
    source.send(&[7; 20]);
    source.send(&[8; 8]);
    let (mut sink, mut violations, mut port) = (Sink::new("x", 64, false, 2), Violations::default(), Stream::default());
    sink.stall = 0.5;
    for cycle in 0..200 {
        source.drive(&mut port);
        sink.drive(&mut port, cycle);
        sink.sample(&port, cycle, &mut violations);
        source.sample(&port);
    }
    violations.check().unwrap();
    assert_eq!(
        sink.frames.iter().map(|f| f.bytes.clone()).collect::<Vec<_>>(),
        [vec![7; 20], vec![8; 8]]
    );
}
