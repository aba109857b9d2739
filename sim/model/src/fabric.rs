// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a frame meets on its way besides single faults: bursts of loss, a bottleneck's queue with ECN marks, several paths.
//!
//! ```text
//!  send ─► in a burst of loss? ─► bottleneck: full? ─► marked? ─► its turn ─► one of the paths, each packet anew ─► arrival
//! ```
//! Times have the wire's unit.

use crate::packet::internet_checksum;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A queue in front of a slower link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// Thousandths of the time unit that a byte takes: 1600 at 5 Gb/s in ns.
    pub time_per_byte: u64,
    /// Bytes that wait at most; a frame beyond is dropped.
    pub capacity: u64,
    /// Frames are marked from this many waiting bytes on with a probability that rises to 1 at `mark_all`.
    pub mark_from: u64,
    pub mark_all: u64,
}

/// The way. The default is a plain one.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fabric {
    /// Probability that a frame begins a burst of loss, and the longest time that one takes all frames. Not a number of frames: a burst on a
    /// way with little traffic would then take every retry.
    pub burst: f64,
    pub longest_burst: u64,
    pub bottleneck: Option<Bottleneck>,
    /// Delay of each path; every frame takes one at random, which is what spraying does. None: one path without delay.
    pub paths: Vec<u64>,
}

/// Bytes of a frame beside its own on a link: preamble, FCS, gap.
const OVERHEAD: u64 = 24;

/// A fabric at work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Passage {
    pub fabric: Fabric,
    /// When the burst ends.
    burst_end: u64,
    /// When the bottleneck's link is free, in thousandths of the unit.
    free: u64,
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passed {
    /// Late by so much; marked or not.
    Through {
        delay: u64,
        marked: bool,
    },
    Burst,
    QueueFull,
}

impl Passage {
    pub fn pass(&mut self, now: u64, frame: &mut [u8], rng: &mut ChaCha8Rng) -> Passed {
        let f = &self.fabric;
        if self.burst_end <= now && f.burst > 0.0 && f.longest_burst > 0 && rng.gen_bool(f.burst) {
            self.burst_end = now + rng.gen_range(1..=f.longest_burst);
        }
        if now < self.burst_end {
            return Passed::Burst;
        }
        let (mut delay, mut marked) = (0, false);
        if let Some(b) = f.bottleneck {
            let start = self.free.max(1000 * now);
            let waiting = (start - 1000 * now) / b.time_per_byte.max(1);
            let bytes = frame.len() as u64 + OVERHEAD;
            if waiting + bytes > b.capacity {
                return Passed::QueueFull;
            }
            self.free = start + bytes * b.time_per_byte;
            delay += (self.free - 1000 * now).div_ceil(1000);
            let span = b.mark_all.saturating_sub(b.mark_from).max(1);
            let chance = waiting.saturating_sub(b.mark_from) as f64 / span as f64;
            marked = chance > 0.0 && rng.gen_bool(chance.min(1.0)) && mark(frame);
        }
        if !f.paths.is_empty() {
            delay += f.paths[rng.gen_range(0..f.paths.len())];
        }
        Passed::Through { delay, marked }
    }
}

/// Congestion experienced, if the sender said that it understands ECN (RFC 3168).
pub fn mark(frame: &mut [u8]) -> bool {
    let Some(kind) = frame.get(12..14) else { return false };
    let ip = if kind == [0x81, 0] { 18 } else { 14 };
    match frame.get(ip - 2..ip) {
        Some([0x08, 0x00]) if frame.len() >= ip + 20 => {
            if frame[ip + 1] & 3 == 0 {
                return false;
            }
            frame[ip + 1] |= 3;
            frame[ip + 10..ip + 12].fill(0);
            let sum = internet_checksum(&frame[ip..ip + 20]);
            frame[ip + 10..ip + 12].copy_from_slice(&sum.to_be_bytes());
            true
        }
        Some([0x86, 0xdd]) if frame.len() >= ip + 40 => {
            if frame[ip + 1] & 0x30 == 0 {
                return false;
            }
            frame[ip + 1] |= 0x30;
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::parse::{verdict, Local, Verdict};
    use crate::wire::{Faults, Wire};

    fn wire(fabric: Fabric) -> Wire {
        let mut wire = Wire::new(3, 1000, Faults::default());
        wire.set_fabric(fabric);
        wire
    }

    /// (time, number) of what arrives of `count` frames of 76 bytes (100 with the link's own), sent `apart`.
    fn run(wire: &mut Wire, count: u32, apart: u64) -> Vec<(u64, u32)> {
        let mut out = vec![];
        for number in 0..count {
            let mut frame = vec![0; 76];
            frame[..4].copy_from_slice(&number.to_le_bytes());
            wire.send(u64::from(number) * apart, frame);
        }
        while let Some(at) = wire.next_arrival() {
            let frame = wire.receive(at).unwrap();
            out.push((at, u32::from_le_bytes(frame[..4].try_into().unwrap())));
        }
        out
    }

    #[test]
    fn bursts_take_neighbours() {
        let mut wire = wire(Fabric {
            burst: 0.01,
            // 8 frames.
            longest_burst: 80,
            ..Fabric::default()
        });
        let out = run(&mut wire, 5000, 10);
        let lost = wire.statistics().lost;
        assert_eq!(out.len() as u64 + lost, 5000);
        let holes = out.windows(2).filter(|w| w[1].1 != w[0].1 + 1).count() as u64;
        assert!((20..100).contains(&holes) && lost > 3 * holes, "{lost} lost in {holes} holes");
        assert!(out.windows(2).all(|w| w[1].1 - w[0].1 <= 2 * 8 + 1));
    }

    #[test]
    fn a_bottleneck_delays_then_drops() {
        // 1 unit a byte; a frame of 100 comes each 50: the queue grows by 50 a frame to 1000, and then every other one is dropped.
        let mut wire = wire(Fabric {
            bottleneck: Some(Bottleneck {
                time_per_byte: 1000,
                capacity: 1000,
                mark_from: u64::MAX,
                mark_all: u64::MAX,
            }),
            ..Fabric::default()
        });
        let out = run(&mut wire, 100, 50);
        assert_eq!(out[..3], [(1100, 0), (1200, 1), (1300, 2)]);
        let dropped = wire.statistics().lost;
        assert!((38..=42).contains(&dropped), "{dropped}");
        assert!(out.windows(2).all(|w| w[1].0 - w[0].0 == 100), "the slower link is never idle");
    }

    #[test]
    fn spraying_reorders_and_loses_nothing() {
        let mut wire = wire(Fabric {
            paths: vec![0, 400, 900],
            ..Fabric::default()
        });
        let out = run(&mut wire, 1000, 100);
        assert_eq!(out.len(), 1000);
        let overtaken = out.windows(2).filter(|w| w[1].1 < w[0].1).count();
        assert!(overtaken > 200, "{overtaken}");
        for (at, number) in out {
            let late = at - 1000 - 100 * u64::from(number);
            assert!([0, 400, 900].contains(&late), "{late}");
        }
    }

    #[test]
    fn marks_rise_with_the_queue_and_leave_the_frame_good() {
        let local = Local {
            mac: [2, 0, 0, 0, 0, 1],
            gids: vec![Some("10.0.0.1".parse().unwrap()), Some("fe80::1".parse().unwrap())],
            max_frame: 4200,
            icrc_off: false,
        };
        for to in local.gids.iter().flatten() {
            for class in [0u8, 1, 2, 0x5e, 3] {
                for vlan in [None, Some(5)] {
                    let packet = Packet {
                        destination_mac: local.mac,
                        source: *to,
                        destination: *to,
                        traffic_class: class,
                        vlan,
                        opcode: 0x0a,
                        payload: vec![1; 64],
                        ..Packet::default()
                    };
                    let mut frame = packet.to_frame();
                    assert_eq!(mark(&mut frame), class & 3 != 0);
                    let Verdict::Roce { packet, .. } = verdict(&frame, false, &local) else {
                        panic!("{to}, class {class}: a mark broke the frame");
                    };
                    assert_eq!(packet.traffic_class, if class & 3 == 0 { class } else { class | 3 });
                }
            }
        }
        assert!(!mark(&mut [0; 14]) && !mark(&mut []));
        let frame = |to: std::net::IpAddr| {
            let packet = Packet {
                source: to,
                destination: to,
                traffic_class: 2,
                opcode: 0x0a,
                payload: vec![1; 64],
                ..Packet::default()
            };
            packet.to_frame()
        };
        let mut wire = wire(Fabric {
            bottleneck: Some(Bottleneck {
                time_per_byte: 1000,
                capacity: 1 << 20,
                mark_from: 10_000,
                mark_all: 20_000,
            }),
            ..Fabric::default()
        });
        for _ in 0..50 {
            wire.send(0, frame("10.0.0.1".parse().unwrap()));
        }
        assert_eq!(wire.statistics().marked, 0, "below mark_from");
        for _ in 0..300 {
            wire.send(0, frame("10.0.0.1".parse().unwrap()));
        }
        let marked = wire.statistics().marked;
        assert!((220..290).contains(&marked), "{marked}");
    }
}
