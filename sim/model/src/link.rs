// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two golden engines with their memories, and a wire each way. Time goes from event to event, in ns.

use crate::capture::Frame;
use crate::golden::{Completion, Event, Golden, Outcome};
use crate::memory::Memory;
use crate::wire::Wire;
use std::time::Duration;

/// An engine, its host's memory, and what it told the host.
pub struct Side {
    pub golden: Golden,
    pub memory: Memory,
    pub completions: Vec<Completion>,
    pub events: Vec<Event>,
}

impl Side {
    pub fn new(golden: Golden) -> Self {
        Self {
            golden,
            memory: Memory::new(),
            completions: vec![],
            events: vec![],
        }
    }

    /// Keeps what an outcome tells the host.
    pub fn take(&mut self, outcome: Outcome) {
        self.completions.extend(outcome.completions);
        self.events.extend(outcome.events);
    }
}

/// The two, `wires[n]` leading away from `sides[n]`.
pub struct Link {
    pub sides: [Side; 2],
    pub wires: [Wire; 2],
    /// ns.
    pub now: u64,
    /// Time that a byte takes on the wire, in 1/1000 ns: 800 at 10 Gb/s.
    pub picoseconds_per_byte: u64,
    /// When each side's transmitter is free again.
    free: [u64; 2],
    /// Everything sent, before faults, if wanted.
    pub capture: Option<Vec<Frame>>,
}

/// Bytes of a frame beside its own on the wire: preamble, FCS, gap.
const OVERHEAD: u64 = 24;
/// Shortest frame without FCS.
const SHORTEST: usize = 60;

impl Link {
    pub fn new(sides: [Side; 2], wires: [Wire; 2]) -> Self {
        Self {
            sides,
            wires,
            now: 0,
            picoseconds_per_byte: 800,
            free: [0; 2],
            capture: None,
        }
    }

    /// Sends and delivers what can be at this time; then time goes to the next event. False: nothing will happen any more.
    pub fn step(&mut self) -> bool {
        let now = self.now;
        let mut next: Option<u64> = None;
        let mut soonest = |at: Option<u64>| next = [next, at].into_iter().flatten().min();
        for n in 0..2 {
            let (side, other) = (&mut self.sides[n], 1 - n);
            let mut outcome = Outcome::default();
            side.golden.advance(now, &mut side.memory, &mut outcome);
            let late = std::mem::take(&mut outcome.answers);
            for answer in late.iter().map(|p| p.to_frame()) {
                let wire = &mut self.wires[n];
                Self::emit(&mut self.free[n], self.picoseconds_per_byte, wire, &mut self.capture, now, answer);
            }
            while let Some(frame) = self.wires[other].receive(now) {
                let received = side.golden.receive(&frame, false, &mut side.memory);
                let answers = received.answers.iter().map(|p| p.to_frame()).collect::<Vec<_>>();
                side.take(received);
                for answer in answers {
                    Self::emit(
                        &mut self.free[n],
                        self.picoseconds_per_byte,
                        &mut self.wires[n],
                        &mut self.capture,
                        now,
                        answer,
                    );
                }
            }
            while self.free[n] <= now {
                let Some(packet) = side.golden.transmit(&mut side.memory, &mut outcome) else {
                    break;
                };
                Self::emit(
                    &mut self.free[n],
                    self.picoseconds_per_byte,
                    &mut self.wires[n],
                    &mut self.capture,
                    now,
                    packet.to_frame(),
                );
            }
            side.take(outcome);
            soonest(side.golden.next_deadline());
            // A busy transmitter may have more to send once it is free.
            soonest((self.free[n] > now).then_some(self.free[n]));
        }
        soonest(self.wires[0].next_arrival());
        soonest(self.wires[1].next_arrival());
        match next {
            Some(at) => self.now = at.max(now),
            None => return false,
        }
        true
    }

    fn emit(free: &mut u64, rate: u64, wire: &mut Wire, capture: &mut Option<Vec<Frame>>, now: u64, frame: Vec<u8>) {
        let bytes = frame.len().max(SHORTEST) as u64 + OVERHEAD;
        let start = now.max(*free);
        *free = start + (bytes * rate).div_ceil(1000);
        if let Some(capture) = capture {
            capture.push(Frame {
                time: Duration::from_nanos(start),
                bytes: frame.clone(),
            });
        }
        wire.send(*free, frame);
    }

    /// Runs until nothing more happens, or `until` (ns). True: at rest.
    pub fn run(&mut self, until: u64) -> bool {
        while self.now <= until {
            if !self.step() {
                return true;
            }
        }
        false
    }
}
