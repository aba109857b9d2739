// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC's side: frames in at the wire's own pace, frames out.
//!
//! ```text
//!  wire:  preamble 8 | frame (60 at least) | FCS 4 | gap 12 | preamble ...
//!  port:              beats, one a cycle                      (no preamble, FCS or gap on the stream)
//! ```
//! Time on the wire is counted in bytes, so the gap is 12 on average, as deficit idle count makes it; a frame's first beat comes in the first
//! whole cycle after its preamble.

use super::pins::{Stable, Stream, Violations};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Bytes before a frame on the wire.
pub const PREAMBLE: u64 = 8;
/// Bytes after it: FCS and gap.
pub const TRAILER: u64 = 4 + 12;
/// Shortest frame without FCS.
pub const SHORTEST: usize = 60;

/// Bytes that a frame takes on the wire.
pub fn wire_bytes(frame: usize) -> u64 {
    PREAMBLE + frame.max(SHORTEST) as u64 + TRAILER
}

/// Wire time at which the preamble of a frame with its first beat in `cycle` begins: as early as the wire is free, unless the wire has
/// been idle for a cycle or more.
fn preamble_start(wire_free: u64, cycle: u64, rate: u64) -> u64 {
    let latest = (cycle * rate).saturating_sub(PREAMBLE);
    if latest.saturating_sub(wire_free) < rate {
        wire_free
    } else {
        latest
    }
}

/// When frames are given to the engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// As the wire would.
    Wire,
    /// A beat every cycle, no gap: faster than any wire.
    Fast,
    /// No gap, but each cycle is idle with that chance, inside frames too.
    Idle(f64),
}

struct Outgoing {
    bytes: Vec<u8>,
    bad: bool,
}

/// A beat that comes straight from a sender's port.
struct Passing {
    /// Cycle from which on it may be given.
    due: u64,
    data: u64,
    keep: u8,
    last: bool,
}

/// When a frame's beats went in, or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameTime {
    pub first: u64,
    pub last: u64,
}

/// Drives `s_axis_mac_rx`.
pub struct MacRx {
    pub pace: Pace,
    /// Frames wholly delivered.
    pub delivered: u64,
    pub wire_bytes: u64,
    /// Times of each frame, if `record`.
    pub record: bool,
    pub times: Vec<FrameTime>,
    bytes_per_beat: usize,
    queue: VecDeque<Outgoing>,
    passing: VecDeque<Passing>,
    position: usize,
    started: u64,
    /// Wire time, in bytes, at which the next preamble may begin.
    wire_free: u64,
    was_ready: bool,
    rng: ChaCha8Rng,
}

impl MacRx {
    pub fn new(data_bits: usize, pace: Pace, seed: u64) -> MacRx {
        MacRx {
            pace,
            delivered: 0,
            wire_bytes: 0,
            record: false,
            times: Vec::new(),
            bytes_per_beat: data_bits / 8,
            queue: VecDeque::new(),
            passing: VecDeque::new(),
            position: 0,
            started: 0,
            wire_free: 0,
            was_ready: false,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x3ac),
        }
    }

    /// Queues a frame (without FCS; short ones are padded as a sender's MAC does).
    pub fn send(&mut self, frame: &[u8]) {
        self.send_marked(frame, false);
    }

    /// Queues a frame; `bad` marks it as one whose FCS was wrong.
    pub fn send_marked(&mut self, frame: &[u8], bad: bool) {
        let mut bytes = frame.to_vec();
        bytes.resize(bytes.len().max(SHORTEST), 0);
        self.send_raw(bytes, bad);
    }

    /// Queues bytes as they are, short ones too: what a broken MAC could give. Empty ones are ignored.
    pub fn send_raw(&mut self, bytes: Vec<u8>, bad: bool) {
        if !bytes.is_empty() {
            self.queue.push_back(Outgoing { bytes, bad });
        }
    }

    /// Passes on a beat that another engine's MAC port gives in this cycle, from `due` on: the wire lets bytes through as they come. The
    /// pace is the sender's. Not to be mixed with queued frames.
    pub fn pass(&mut self, port: &Stream, due: u64) {
        self.passing.push_back(Passing {
            due,
            data: port.data,
            keep: port.keep,
            last: port.last,
        });
    }

    /// Frames queued or under way.
    pub fn pending(&self) -> usize {
        self.queue.len() + self.passing.len()
    }

    pub fn drive(&mut self, port: &mut Stream, cycle: u64) {
        *port = Stream {
            ready: port.ready,
            ..Stream::default()
        };
        if let Some(beat) = self.passing.front().filter(|beat| beat.due <= cycle) {
            if self.position == 0 {
                self.started = cycle;
            }
            (port.data, port.keep, port.last, port.valid) = (beat.data, beat.keep, beat.last, true);
            return;
        }
        let Some(frame) = self.queue.front() else { return };
        if self.position == 0 && self.pace == Pace::Wire {
            let rate = self.bytes_per_beat as u64;
            let start = preamble_start(self.wire_free, cycle, rate);
            if (start + PREAMBLE).div_ceil(rate) > cycle {
                return;
            }
            self.wire_free = start + wire_bytes(frame.bytes.len());
        }
        if let Pace::Idle(chance) = self.pace {
            if self.rng.gen_bool(chance) {
                return;
            }
        }
        if self.position == 0 {
            self.started = cycle;
        }
        let rest = &frame.bytes[self.position..];
        let count = rest.len().min(self.bytes_per_beat);
        let mut data = [0; 8];
        data[..count].copy_from_slice(&rest[..count]);
        port.data = u64::from_le_bytes(data);
        port.keep = ((1u16 << count) - 1) as u8;
        port.last = count == rest.len();
        port.user = port.last && frame.bad;
        port.valid = true;
    }

    pub fn sample(&mut self, port: &Stream, cycle: u64, violations: &mut Violations) {
        if !port.ready && self.was_ready {
            violations.add(cycle, "s_axis_mac_rx", "tready fell: a MAC can't wait");
        }
        self.was_ready = port.ready;
        if !port.valid || !port.ready {
            return;
        }
        self.position += self.bytes_per_beat;
        let passed = self.passing.pop_front().is_some();
        if port.last {
            if passed {
                self.wire_bytes += wire_bytes(self.position);
            } else if let Some(frame) = self.queue.pop_front() {
                self.wire_bytes += wire_bytes(frame.bytes.len());
            }
            self.position = 0;
            self.delivered += 1;
            if self.record {
                self.times.push(FrameTime {
                    first: self.started,
                    last: cycle,
                });
            }
        }
    }

    /// The engine is in reset: readiness may change.
    pub fn reset(&mut self) {
        self.was_ready = false;
    }
}

/// A frame that came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Vec<u8>,
    pub first: u64,
    pub last: u64,
    pub bad: bool,
}

/// Takes a stream of frames: `m_axis_mac_tx` and `m_axis_host_rx`.
pub struct Sink {
    name: &'static str,
    /// Chance that ready is low in a cycle.
    pub stall: f64,
    /// Takes nothing at all.
    pub blocked: bool,
    /// Ready follows the wire: low for preamble, FCS and gap between frames.
    pub wire_pace: bool,
    /// A frame once begun may not pause, and has at least 60 bytes.
    pub is_mac: bool,
    /// What is offered may be withdrawn: a soft reset by register is to be expected, and waits for the MAC and the memory only.
    pub may_withdraw: bool,
    pub frames: VecDeque<Frame>,
    /// Frames taken since the start.
    pub count: u64,
    /// Times of each frame, if `record`.
    pub record: bool,
    pub times: Vec<FrameTime>,
    bytes_per_beat: usize,
    current: Vec<u8>,
    first: u64,
    busy_until: u64,
    wire_free: u64,
    stable: Stable<(u64, u8, bool, bool)>,
    rng: ChaCha8Rng,
}

impl Sink {
    pub fn new(name: &'static str, data_bits: usize, is_mac: bool, seed: u64) -> Sink {
        Sink {
            name,
            stall: 0.0,
            blocked: false,
            wire_pace: false,
            is_mac,
            may_withdraw: false,
            frames: VecDeque::new(),
            count: 0,
            record: false,
            times: Vec::new(),
            bytes_per_beat: data_bits / 8,
            current: Vec::new(),
            first: 0,
            busy_until: 0,
            wire_free: 0,
            stable: Stable::default(),
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x5171),
        }
    }

    pub fn drive(&mut self, port: &mut Stream, cycle: u64) {
        let waits = self.blocked || cycle < self.busy_until || (self.stall > 0.0 && self.rng.gen_bool(self.stall));
        port.ready = !waits;
    }

    pub fn sample(&mut self, port: &Stream, cycle: u64, violations: &mut Violations) {
        self.stable.watch(
            port.valid,
            port.ready || self.may_withdraw,
            (port.data, port.keep, port.last, port.user),
            cycle,
            self.name,
            violations,
        );
        if self.is_mac && !self.current.is_empty() && !port.valid {
            violations.add(cycle, self.name, "a frame paused once begun: a MAC would send it broken");
        }
        if !port.valid || !port.ready {
            return;
        }
        if self.current.is_empty() {
            self.first = cycle;
        }
        let count = port.keep.trailing_ones() as usize;
        let contiguous = port.keep as u16 == (1u16 << count) - 1;
        if !contiguous || count == 0 || (!port.last && count != self.bytes_per_beat) {
            violations.add(
                cycle,
                self.name,
                format!("tkeep {:#x} on a {} beat", port.keep, if port.last { "last" } else { "middle" }),
            );
        }
        self.current.extend_from_slice(&port.data.to_le_bytes()[..count]);
        if port.last {
            let bytes = std::mem::take(&mut self.current);
            if self.is_mac && bytes.len() < SHORTEST {
                violations.add(
                    cycle,
                    self.name,
                    format!("a frame of {} bytes is below {SHORTEST} (R20)", bytes.len()),
                );
            }
            if self.wire_pace {
                let rate = self.bytes_per_beat as u64;
                let start = preamble_start(self.wire_free, self.first, rate);
                self.wire_free = start + wire_bytes(bytes.len());
                self.busy_until = (self.wire_free + PREAMBLE).div_ceil(rate);
            }
            self.count += 1;
            if self.record {
                self.times.push(FrameTime {
                    first: self.first,
                    last: cycle,
                });
            }
            self.frames.push_back(Frame {
                bytes,
                first: self.first,
                last: cycle,
                bad: port.user,
            });
        }
    }
}

/// Gives the host's own frames to `s_axis_host_tx`.
pub struct Source {
    pub idle: f64,
    bytes_per_beat: usize,
    queue: VecDeque<Vec<u8>>,
    position: usize,
    offered: bool,
    rng: ChaCha8Rng,
}

impl Source {
    pub fn new(data_bits: usize, seed: u64) -> Source {
        Source {
            idle: 0.0,
            bytes_per_beat: data_bits / 8,
            queue: VecDeque::new(),
            position: 0,
            offered: false,
            rng: ChaCha8Rng::seed_from_u64(seed ^ 0x7058),
        }
    }

    pub fn send(&mut self, frame: &[u8]) {
        if !frame.is_empty() {
            self.queue.push_back(frame.to_vec());
        }
    }

    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    pub fn drive(&mut self, port: &mut Stream) {
        let Some(frame) = self.queue.front() else {
            port.valid = false;
            return;
        };
        if !self.offered && self.idle > 0.0 && self.rng.gen_bool(self.idle) {
            port.valid = false;
            return;
        }
        let rest = &frame[self.position..];
        let count = rest.len().min(self.bytes_per_beat);
        let mut data = [0; 8];
        data[..count].copy_from_slice(&rest[..count]);
        *port = Stream {
            data: u64::from_le_bytes(data),
            keep: ((1u16 << count) - 1) as u8,
            valid: true,
            last: count == rest.len(),
            ready: port.ready,
            user: false,
        };
        self.offered = true;
    }

    pub fn sample(&mut self, port: &Stream) {
        if port.valid && port.ready {
            self.offered = false;
            self.position += self.bytes_per_beat;
            if port.last {
                self.queue.pop_front();
                self.position = 0;
            }
        }
    }
}
