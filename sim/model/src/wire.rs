// SPDX-License-Identifier: MIT OR Apache-2.0
//! One direction of a bad wire: frames in, frames out later, some lost, doubled, overtaken, broken or late. Seeded.
//!
//! ```text
//!  send(now, frame) ─► fabric ─► lost? ─► broken? ─► late? ─► overtaken by 1..=window frames? ─► twice? ─► receive(now)
//! ```
//! Times have no unit here: the caller's ns or cycles. Frames that no fault touches keep their order.

use crate::fabric::{Fabric, Passage, Passed};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;

/// How bad the wire is. Probabilities are 0 to 1, of each frame by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    pub loss: f64,
    pub duplicate: f64,
    pub reorder: f64,
    pub corrupt: f64,
    pub delay: f64,
    /// A reordered frame is overtaken by 1 to this many later frames.
    pub reorder_window: u32,
    /// A reordered frame that nothing overtakes leaves after this time.
    pub reorder_patience: u64,
    /// A delayed frame is late by 1 to this much.
    pub longest_delay: u64,
}

impl Default for Faults {
    /// None; the other figures suit ns.
    fn default() -> Self {
        Self {
            loss: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            corrupt: 0.0,
            delay: 0.0,
            reorder_window: 4,
            reorder_patience: 20_000,
            longest_delay: 20_000,
        }
    }
}

/// A fault at a frame that the caller names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Lose,
    Duplicate,
    /// That bit flips, modulo the frame's length.
    Corrupt(usize),
    /// That many later frames overtake it.
    Overtaken(u32),
    /// Late by so much.
    Delay(u64),
}

/// What the wire did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Statistics {
    pub sent: u64,
    pub delivered: u64,
    pub lost: u64,
    pub duplicated: u64,
    pub reordered: u64,
    pub corrupted: u64,
    pub delayed: u64,
    /// Marked by the bottleneck: no fault.
    pub marked: u64,
}

impl Statistics {
    /// Faults of all kinds.
    pub fn faults(&self) -> u64 {
        self.lost + self.duplicated + self.reordered + self.corrupted + self.delayed
    }
}

struct Flight {
    frame: Vec<u8>,
    /// Frames that have yet to overtake it.
    behind: u32,
}

/// One direction.
pub struct Wire {
    faults: Faults,
    /// Of every frame.
    latency: u64,
    rng: ChaCha8Rng,
    /// By arrival, then by order.
    flights: BTreeMap<(u64, u64), Flight>,
    order: u64,
    statistics: Statistics,
    /// By number of the frame.
    script: BTreeMap<u64, Fault>,
    passage: Passage,
}

impl Wire {
    pub fn new(seed: u64, latency: u64, faults: Faults) -> Self {
        Self {
            faults,
            latency,
            rng: ChaCha8Rng::seed_from_u64(seed),
            flights: BTreeMap::new(),
            order: 0,
            statistics: Statistics::default(),
            script: BTreeMap::new(),
            passage: Passage::default(),
        }
    }

    /// What lies on the way, from now on.
    pub fn set_fabric(&mut self, fabric: Fabric) {
        self.passage.fabric = fabric;
    }

    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Changes the faults from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// A fault at frame `number` from now on, the next one being 0.
    pub fn plan(&mut self, number: u64, fault: Fault) {
        self.script.insert(self.statistics.sent + number, fault);
    }

    /// Nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.flights.is_empty()
    }

    /// A whole frame leaves its sender.
    pub fn send(&mut self, now: u64, mut frame: Vec<u8>) {
        let f = self.faults;
        let planned = self.script.remove(&self.statistics.sent);
        self.statistics.sent += 1;
        if self.rng.gen_bool(f.loss) || planned == Some(Fault::Lose) {
            self.statistics.lost += 1;
            return;
        }
        let late = match self.passage.pass(now, &mut frame, &mut self.rng) {
            Passed::Through { delay, marked } => {
                self.statistics.marked += u64::from(marked);
                delay
            }
            Passed::Burst | Passed::QueueFull => {
                self.statistics.lost += 1;
                return;
            }
        };
        let bits = frame.len() * 8;
        let corrupt = match planned {
            Some(Fault::Corrupt(bit)) => Some(bit),
            _ if self.rng.gen_bool(f.corrupt) => Some(self.rng.gen()),
            _ => None,
        };
        if let Some(bit) = corrupt.filter(|_| bits > 0).map(|bit| bit % bits) {
            frame[bit / 8] ^= 1 << (bit % 8);
            self.statistics.corrupted += 1;
        }
        let mut arrival = now + self.latency + late;
        let late = match planned {
            Some(Fault::Delay(late)) => Some(late),
            _ if self.rng.gen_bool(f.delay) && f.longest_delay > 0 => Some(self.rng.gen_range(1..=f.longest_delay)),
            _ => None,
        };
        if let Some(late) = late {
            arrival += late;
            self.statistics.delayed += 1;
        }
        let twice = self.rng.gen_bool(f.duplicate) || planned == Some(Fault::Duplicate);
        let copy = twice.then(|| frame.clone());
        // Before the frame itself is there: it overtakes those that wait.
        self.overtake(arrival);
        let behind = match planned {
            Some(Fault::Overtaken(behind)) => behind,
            _ if self.rng.gen_bool(f.reorder) && f.reorder_window > 0 => self.rng.gen_range(1..=f.reorder_window),
            _ => 0,
        };
        if behind > 0 {
            self.statistics.reordered += 1;
            self.put(arrival + f.reorder_patience, frame, behind);
        } else {
            self.put(arrival, frame, 0);
        }
        if let Some(copy) = copy {
            self.statistics.duplicated += 1;
            self.put(arrival, copy, 0);
        }
    }

    fn put(&mut self, arrival: u64, frame: Vec<u8>, behind: u32) {
        self.order += 1;
        self.flights.insert((arrival, self.order), Flight { frame, behind });
    }

    /// Frames that wait to be overtaken count one that arrives at `arrival`; those that have waited enough come right behind it.
    fn overtake(&mut self, arrival: u64) {
        let waiting: Vec<(u64, u64)> = self.flights.iter().filter(|(_, f)| f.behind > 0).map(|(k, _)| *k).collect();
        for key in waiting {
            let Some(flight) = self.flights.get_mut(&key) else { continue };
            flight.behind -= 1;
            if flight.behind == 0 && arrival < key.0 {
                if let Some(flight) = self.flights.remove(&key) {
                    // The overtaker takes a place before it: same time, later order would be wrong, so one unit later.
                    self.put(arrival + 1, flight.frame, 0);
                }
            }
        }
    }

    /// When the next frame arrives.
    pub fn next_arrival(&self) -> Option<u64> {
        self.flights.keys().next().map(|k| k.0)
    }

    /// The next frame that has arrived by `now`.
    pub fn receive(&mut self, now: u64) -> Option<Vec<u8>> {
        let key = *self.flights.keys().next().filter(|k| k.0 <= now)?;
        self.statistics.delivered += 1;
        self.flights.remove(&key).map(|f| f.frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames 0..count sent 100 apart; what arrives, as (time, number).
    fn run(seed: u64, count: u32, faults: Faults) -> (Vec<(u64, u32)>, Statistics) {
        let mut wire = Wire::new(seed, 1000, faults);
        let mut out = vec![];
        for number in 0..count {
            wire.send(u64::from(number) * 100, number.to_le_bytes().to_vec());
        }
        while let Some(at) = wire.next_arrival() {
            let frame = wire.receive(at).unwrap();
            out.push((at, u32::from_le_bytes(frame.try_into().unwrap())));
        }
        assert!(wire.is_empty() && wire.receive(u64::MAX).is_none());
        (out, wire.statistics())
    }

    #[test]
    fn a_good_wire_only_takes_time() {
        let (out, statistics) = run(1, 50, Faults::default());
        assert_eq!(out, (0..50).map(|n| (u64::from(n) * 100 + 1000, n)).collect::<Vec<_>>());
        assert_eq!((statistics.sent, statistics.delivered, statistics.faults()), (50, 50, 0));
    }

    #[test]
    fn each_fault_is_counted_and_seen() {
        let only = |set: fn(&mut Faults)| {
            let mut faults = Faults::default();
            set(&mut faults);
            run(7, 2000, faults)
        };
        let (out, s) = only(|f| f.loss = 0.05);
        assert_eq!(out.len() as u64, 2000 - s.lost);
        assert!((60..150).contains(&s.lost), "{s:?}");
        let (out, s) = only(|f| f.duplicate = 0.05);
        assert_eq!(out.len() as u64, 2000 + s.duplicated);
        let (out, s) = only(|f| f.corrupt = 0.05);
        let broken = out.iter().enumerate().filter(|(i, (_, n))| *n != *i as u32).count() as u64;
        assert_eq!((broken, s.faults()), (s.corrupted, s.corrupted));
        let (out, s) = only(|f| f.delay = 0.05);
        let late = out.iter().filter(|(at, n)| *at != u64::from(*n) * 100 + 1000).count() as u64;
        assert_eq!(late, s.delayed);
    }

    #[test]
    fn a_reordered_frame_is_overtaken_by_its_window_at_most() {
        let faults = Faults {
            reorder: 0.05,
            reorder_window: 3,
            ..Faults::default()
        };
        let (out, s) = run(3, 2000, faults);
        assert_eq!(out.len(), 2000);
        let mut overtaken = 0;
        for (place, (_, number)) in out.iter().enumerate() {
            let before = out[..place].iter().filter(|(_, n)| n > number).count();
            assert!(before <= 2 * 3, "frame {number} was overtaken by {before}");
            overtaken += u64::from(before > 0);
        }
        // The last ones may find nothing that overtakes them.
        assert!(overtaken + 3 >= s.reordered && overtaken <= s.reordered, "{overtaken} {s:?}");
        assert!(s.reordered > 50);
    }

    #[test]
    fn planned_faults_hit_the_frame_that_was_named() {
        let mut wire = Wire::new(0, 1000, Faults::default());
        let faults = [
            Fault::Lose,
            Fault::Duplicate,
            Fault::Corrupt(0),
            Fault::Overtaken(1),
            Fault::Delay(5000),
        ];
        wire.send(0, vec![9]);
        for (number, fault) in faults.into_iter().enumerate() {
            wire.plan(2 * number as u64, fault);
        }
        for number in 0..10 {
            wire.send(100, vec![2 * number]);
        }
        let mut out = vec![];
        while let Some(at) = wire.next_arrival() {
            out.push(wire.receive(at).unwrap()[0]);
        }
        assert_eq!(out, [9, 2, 4, 4, 6, 9, 10, 14, 18, 12, 16]);
    }

    #[test]
    fn a_seed_reproduces() {
        let faults = Faults {
            loss: 0.02,
            duplicate: 0.02,
            reorder: 0.02,
            corrupt: 0.0,
            delay: 0.02,
            ..Faults::default()
        };
        assert_eq!(run(9, 500, faults), run(9, 500, faults));
        assert_ne!(run(9, 500, faults).0, run(10, 500, faults).0);
    }
}
