// SPDX-License-Identifier: MIT OR Apache-2.0
//! The station's neighbours and the model that judges it.
//!
//! ```text
//! arrive ─► ring, queue of heads ─► station ─► control's model ─► releases in job order ─► station ─► ring's tail
//! ```
//!
//! The ring knows each frame. The tail may pass a frame only once its packet was executed, refused, dropped or released, and at the end it has passed all.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use verbena_hdl::reorder::ReorderTengig;
use verbena_hdl::rx::PacketHead;
use verbena_spec::counters as c;
use verbena_spec::layout::state;
use verbena_tb::{ports, step::Bench};

pub const RING: u64 = 4096;
/// Beats after the oldest held frame beyond which it is given up.
pub const LIMIT: u64 = 3456;
/// Cycles of 1.024 us in these tests.
pub const UNIT: u64 = 16;
/// Cycles after which a slot that is done may still look taken.
const LATE: u64 = 12;
/// Cycles from the oldest held frame's choice to its counter: its head is loaded, its row and place are read.
const GIVING_UP: u64 = 20;
const MASK: u32 = 0xff_ffff;
/// States that end a life.
const DEAD: [u32; 3] = [state::RESET, state::INIT, state::ERR];

/// How control and the DMA writer behave, per mille.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// A cycle in which control doesn't go on, a release or an event isn't taken.
    pub stall: u32,
    /// A packet in order is refused by an RNR NAK.
    pub rnr: u32,
    /// A packet in order ends its QP.
    pub fatal: u32,
    /// A packet in order is a READ with several responses.
    pub read: u32,
}

pub const PLAIN: Manners = Manners {
    stall: 0,
    rnr: 0,
    fatal: 0,
    read: 0,
};

#[derive(Debug, Clone, Copy)]
pub struct Attributes {
    pub reorder: bool,
    pub distance: u32,
    /// Units of 1.024 us.
    pub delay: u64,
}

pub const AT_ONCE: Attributes = Attributes {
    reorder: true,
    distance: 0,
    delay: 0,
};

#[derive(Debug, Clone)]
pub struct Qp {
    pub epsn: u32,
    pub standing: bool,
    pub attributes: Attributes,
    pub live: bool,
    /// PSN → frame.
    pub held: BTreeMap<u32, usize>,
    /// Cycle in which the hole was seen first.
    since: Option<u64>,
    /// PSNs executed, in order.
    pub executed: Vec<u32>,
    /// ePSN of each NAK.
    pub naks: Vec<u32>,
    /// Something was given up while more is held: the station may not know its farthest packet any more.
    gave_up: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Waits,
    Held,
    /// Its release is on its way.
    Leaving,
    Done,
}

#[derive(Debug, Clone)]
struct Frame {
    start: u64,
    end: u64,
    head: PacketHead,
    qp: usize,
    psn: u32,
    psns: u32,
    fate: Fate,
    /// Slot in use since its hold.
    slot: bool,
    done_at: u64,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Idle,
    /// Until it is judged.
    Look(u64),
    Hold,
    /// The state is being told.
    Tell,
    /// Until it is over; ePSN moved.
    Finish(u64, bool),
}

pub struct Harness {
    bench: Bench<ReorderTengig>,
    pub rng: ChaCha8Rng,
    pub manners: Manners,
    pub qps: Vec<Qp>,
    frames: Vec<Frame>,
    /// Received and not shown yet.
    queue: VecDeque<usize>,
    committed: u64,
    tail: u64,
    step: Step,
    /// The head under way: frame, and whether it is a probe or was held.
    current: Option<(usize, bool, bool)>,
    /// What must be shown next, if anything must.
    due: Option<(usize, bool)>,
    told: Option<(usize, u32)>,
    changes: VecDeque<(usize, u32)>,
    releases: VecDeque<(u64, u64)>,
    pub counters: BTreeMap<u8, u64>,
    /// Held packets that the station owes a release event for.
    owed: u64,
    event_before: bool,
    pub most_held: usize,
    pub probes: u64,
    /// Cycles from a head's first cycle to the next one's, while something is held.
    pub pace: Vec<u64>,
    shown_at: u64,
    last_next: u64,
}

impl Harness {
    pub fn new(seed: u64, manners: Manners, qps: &[(u32, Attributes)]) -> Self {
        println!("seed {seed}");
        let mut h = Harness {
            bench: Bench::verilated(
                Box::<ReorderTengig>::default(),
                "reorder",
                ports!(in reset, tick, s_head, s_head_valid, m_head_next, packet_busy, packet_psn, packet_moved, packet_jumped, hold_valid, hold_distance, hold_standing, nak_distance, nak_delay, state_valid, state_index, state, state_taken, committed_beat, s_release_valid, s_release_beat, event_ready; out ready, s_head_next, m_head, m_head_valid, probe, hold_done, hold_nak, hold_code, state_ready, m_release_valid, m_release_beat, event_valid, event_code),
            ),
            rng: ChaCha8Rng::seed_from_u64(seed),
            manners,
            qps: qps
                .iter()
                .map(|(epsn, attributes)| Qp {
                    epsn: *epsn,
                    standing: false,
                    attributes: *attributes,
                    live: true,
                    held: BTreeMap::new(),
                    since: None,
                    executed: vec![],
                    naks: vec![],
                    gave_up: false,
                })
                .collect(),
            frames: vec![],
            queue: VecDeque::new(),
            committed: 0,
            tail: 0,
            step: Step::Idle,
            current: None,
            due: None,
            told: None,
            changes: VecDeque::new(),
            releases: VecDeque::new(),
            counters: BTreeMap::new(),
            owed: 0,
            event_before: false,
            most_held: 0,
            probes: 0,
            pace: vec![],
            shown_at: 0,
            last_next: 0,
        };
        let u = &mut h.bench.uut;
        u.reset.next = true;
        u.tick.next = ((4 * UNIT) << 8).to_bits();
        h.bench.step();
        h.bench.step();
        h.bench.uut.reset.next = false;
        let mut waited = 0;
        while !h.bench.uut.ready.val() {
            h.bench.step();
            waited += 1;
            assert!(waited < 2000, "the walk doesn't end");
        }
        h
    }

    pub fn cycle(&self) -> u64 {
        self.bench.cycle
    }

    fn roll(&mut self, per_mille: u32) -> bool {
        self.rng.gen_ratio(per_mille, 1000)
    }

    /// Ring beats that are free.
    pub fn room(&self) -> u64 {
        RING - 17 - (self.committed - self.tail)
    }

    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// A frame arrives; false: the ring has no room, it is lost.
    pub fn arrive(&mut self, qp: usize, psn: u32, beats: u64, psns: u32) -> bool {
        if self.room() < beats {
            return false;
        }
        let psn = psn & MASK;
        let mut head = PacketHead::default();
        let rng = &mut self.rng;
        let mut word = || (rng.gen::<u32>() as u64).to_bits();
        (head.xth0, head.xth1, head.xth2, head.xth3) = (word(), word(), word(), word());
        (head.xth4, head.xth5, head.xth6) = (word(), word(), word());
        (head.source_ip0, head.source_ip1, head.source_ip2, head.source_ip3) = (word(), word(), word(), word());
        let rng = &mut self.rng;
        head.opcode = rng.gen_range(0..256u64).to_bits();
        head.pkey = rng.gen_range(0..65536u64).to_bits();
        head.pad_count = rng.gen_range(0..4u64).to_bits();
        head.gid_index = rng.gen_range(0..4u64).to_bits();
        (head.solicited, head.ack_request, head.ipv6) = (rng.gen(), rng.gen(), rng.gen());
        head.qpn = (rng.gen_range(0..4096u64) << 12 | qp as u64).to_bits();
        head.psn = (psn as u64).to_bits();
        head.payload_length = (beats * 8 - 64).to_bits();
        head.payload_offset = (rng.gen_range(0..2u64) * 4).to_bits();
        let place = |beat: u64| (beat % RING).to_bits();
        head.frame_beat = place(self.committed);
        head.payload_beat = place(self.committed + 8);
        head.end_beat = place(self.committed + beats);
        self.queue.push_back(self.frames.len());
        self.frames.push(Frame {
            start: self.committed,
            end: self.committed + beats,
            head,
            qp,
            psn,
            psns,
            fate: Fate::Waits,
            slot: false,
            done_at: 0,
        });
        self.committed += beats;
        true
    }

    /// Control has it told that this QP is in that state now, between two packets. The QP lives again at once, from `epsn`.
    pub fn change(&mut self, qp: usize, to: u32) {
        self.changes.push_back((qp, to));
    }

    pub fn quiet(&self) -> bool {
        self.queue.is_empty()
            && matches!(self.step, Step::Idle)
            && self.releases.is_empty()
            && self.changes.is_empty()
            && self.due.is_none()
    }

    /// Slots that a fast and a slow observer would call taken.
    fn taken(&self) -> (usize, usize) {
        // They come back in the order of the frames.
        let mut slots = self.frames.iter().filter(|f| f.slot).collect::<Vec<_>>();
        slots.sort_by_key(|f| f.start);
        let now = self.cycle();
        let free = |late: u64| {
            slots
                .iter()
                .position(|f| f.fate != Fate::Done || now < f.done_at + late)
                .unwrap_or(slots.len())
        };
        // One slot retires a cycle, at best.
        (slots.len() - free(0), slots.len() - free(LATE + 64))
    }

    fn distance(&self, qp: usize, psn: u32) -> u32 {
        psn.wrapping_sub(self.qps[qp].epsn) & MASK
    }

    /// Whether the hole's age makes it a loss: surely, possibly.
    fn aged(&self, qp: usize) -> (bool, bool) {
        let q = &self.qps[qp];
        let Some(since) = q.since.filter(|_| q.attributes.delay != 0) else {
            return (false, false);
        };
        let age = self.cycle() - since;
        let delay = q.attributes.delay * UNIT;
        (age > delay + 2 * UNIT + 40, age + 40 >= delay)
    }

    /// One clock.
    pub fn tick(&mut self) {
        let now = self.cycle();
        let say = format!("cycle {now}");
        let stall = self.manners.stall;
        // The received head.
        let front = self.queue.front().copied();
        let shown = front.map(|f| self.frames[f].head).unwrap_or_default();
        // Releases, in the order of the jobs.
        let release = self.releases.front().copied().filter(|r| r.0 <= now);
        let event_ready = !self.roll(stall);
        let side = !self.roll(stall);
        let waits = self.roll(stall);
        let (current, held, probe) = self.current.map_or((0, false, false), |c| c);
        let u = &mut self.bench.uut;
        u.s_head.next = shown;
        u.s_head_valid.next = front.is_some();
        u.committed_beat.next = (self.committed % RING).to_bits();
        u.s_release_valid.next = release.is_some();
        u.s_release_beat.next = release.map_or(0, |r| r.1).to_bits();
        u.event_ready.next = event_ready;
        u.m_head_next.next = false;
        u.hold_valid.next = false;
        u.state_valid.next = false;
        u.state_taken.next = false;
        u.packet_busy.next = !matches!(self.step, Step::Idle | Step::Tell) || (matches!(self.step, Step::Tell) && self.current.is_some());
        u.packet_psn.next = (self.rng.gen::<u32>() as u64 & MASK as u64).to_bits();
        u.packet_moved.next = self.rng.gen();
        u.packet_jumped.next = self.rng.gen();
        match self.step {
            Step::Hold => {
                let f = &self.frames[current];
                let q = &self.qps[f.qp];
                u.hold_valid.next = true;
                u.hold_distance.next = ((f.psn.wrapping_sub(q.epsn) & MASK) as u64).to_bits();
                u.hold_standing.next = q.standing;
                u.nak_distance.next = (q.attributes.distance as u64).to_bits();
                u.nak_delay.next = q.attributes.delay.to_bits();
            }
            Step::Tell => {
                let (qp, to) = self.told.expect("a change");
                u.state_valid.next = true;
                u.state_index.next = (qp as u64).to_bits();
                u.state.next = (to as u64).to_bits();
            }
            Step::Finish(at, moved) if at <= now => {
                let q = &self.qps[self.frames[current].qp];
                u.m_head_next.next = true;
                u.packet_psn.next = (q.epsn as u64).to_bits();
                u.packet_moved.next = moved;
                // A READ of one response says so, too.
                u.packet_jumped.next = moved && (self.frames[current].psns > 1 || self.rng.gen_ratio(1, 8));
            }
            _ => {}
        }
        self.bench.settle();
        let ready = self.bench.uut.state_ready.val();
        if matches!(self.step, Step::Tell) && ready && side {
            self.bench.uut.state_taken.next = true;
            self.bench.settle();
        }

        // The tail.
        if release.is_some() {
            self.releases.pop_front();
            let slot = release.is_some_and(|r| r.1 >> 13 == 1);
            let at = release.map_or(0, |r| r.1);
            if at >> 12 != 3 {
                let frame = if slot {
                    self.frames
                        .iter()
                        .position(|f| f.slot && f.fate == Fate::Leaving && f.head.end_beat.to_u64() == at)
                } else {
                    None
                };
                if let Some(frame) = frame {
                    self.frames[frame].fate = Fate::Done;
                    self.frames[frame].done_at = now;
                }
            }
        }
        self.watch_tail(&say, release);

        // Counters.
        let u = &self.bench.uut;
        let event = u.event_valid.val();
        if event && !self.event_before {
            let code = u.event_code.val().to_u64() as u8;
            self.count(code, &say);
        }
        self.event_before = event && !event_ready;

        self.control(waits, side, ready, held, probe, &say);
        self.bench.edge();
        let held: usize = self.qps.iter().map(|q| q.held.len()).sum();
        self.most_held = self.most_held.max(held);
        // A hole that is old is answered, whatever else goes on.
        for qp in 0..self.qps.len() {
            let q = &self.qps[qp];
            if let (Some(since), false, false) = (q.since, q.standing, q.held.is_empty() || q.gave_up) {
                let bound = q.attributes.delay * UNIT + 3000 + 20 * self.manners.stall as u64;
                assert!(
                    q.attributes.delay == 0 || now < since + bound,
                    "{say}: QP {qp}'s hole before {:x} isn't answered, seen in {since}",
                    q.epsn
                );
            }
        }
    }

    fn watch_tail(&mut self, say: &str, release: Option<(u64, u64)>) {
        let u = &self.bench.uut;
        if !u.m_release_valid.val() {
            return;
        }
        let beat = u.m_release_beat.val().to_u64();
        assert!(beat < RING, "{say}: a slot's release reached the ring");
        let to = self.tail + (beat + RING - self.tail % RING) % RING;
        assert!(to <= self.committed, "{say}: tail {} goes back to {beat}", self.tail);
        for f in self.frames.iter().filter(|f| f.start < to && f.end > self.tail) {
            let leaves = !f.slot && f.fate == Fate::Leaving && release.is_none_or(|r| r.1 == f.end % RING || f.fate == Fate::Leaving);
            assert!(
                f.fate == Fate::Done || leaves,
                "{say}: the tail passes a frame that is {:?}: PSN {:x} of QP {}",
                f.fate,
                f.psn,
                f.qp
            );
        }
        self.tail = to;
        let tail = self.tail;
        for f in self.frames.iter_mut().filter(|f| f.end <= tail) {
            f.fate = Fate::Done;
            f.slot = false;
        }
    }

    fn count(&mut self, code: u8, say: &str) {
        *self.counters.entry(code).or_default() += 1;
        match code {
            c::REORDER_HELD => {}
            c::REORDER_RELEASED => {
                assert!(self.owed > 0, "{say}: released, but nobody's life ended");
                self.owed -= 1;
            }
            c::REORDER_FULL => {
                // The oldest is given up.
                let (cycle, committed) = (self.bench.cycle, self.committed);
                let oldest = self.frames.iter().position(|f| f.slot && f.fate != Fate::Done);
                let Some(oldest) = oldest.filter(|f| committed - self.frames[*f].start > LIMIT) else {
                    // One whose QP's life ended while it was being given up: that counts for its release.
                    let ended = |f: &Frame| f.slot && f.fate == Fate::Done && cycle - f.done_at < GIVING_UP && committed - f.start > LIMIT;
                    assert!(
                        self.owed > 0 && self.frames.iter().any(ended),
                        "{say}: given up with {:?} beats",
                        oldest.map(|f| committed - self.frames[f].start)
                    );
                    self.owed -= 1;
                    return;
                };
                let f = &mut self.frames[oldest];
                assert_eq!(f.fate, Fate::Held, "{say}");
                f.fate = Fate::Done;
                f.done_at = self.bench.cycle;
                let (qp, psn) = (f.qp, f.psn);
                let q = &mut self.qps[qp];
                assert_eq!(q.held.remove(&psn), Some(oldest), "{say}");
                q.gave_up = !q.held.is_empty();
                if q.held.is_empty() {
                    q.since = None;
                }
                // It may have been about to be shown.
                if self
                    .due
                    .is_some_and(|(frame, probe)| frame == oldest || (probe && self.frames[frame].qp == qp))
                {
                    self.due = None;
                }
            }
            _ => panic!("{say}: event {code}"),
        }
    }

    fn begin(&mut self, say: &str) {
        let u = &self.bench.uut;
        let head = u.m_head.val();
        let probe = u.probe.val();
        let end = head.end_beat.to_u64();
        let held = end >> 13 == 1;
        assert_eq!(probe, end >> 12 == 3, "{say}: a probe's release is nobody's");
        let frame = if held {
            let qp = (head.qpn.to_u64() & 0xfff) as usize;
            let psn = head.psn.to_u64() as u32;
            *self.qps[qp]
                .held
                .get(&psn)
                .unwrap_or_else(|| panic!("{say}: PSN {psn:x} of QP {qp} isn't held"))
        } else {
            *self.queue.front().expect("a received head")
        };
        if let Some((due, due_probe)) = self.due.take() {
            let what = |f: usize| (self.frames[f].qp, self.frames[f].psn);
            if due_probe {
                assert!(
                    probe && what(frame).0 == what(due).0,
                    "{say}: a probe of QP {} is due, not {:x?}",
                    what(due).0,
                    what(frame)
                );
            } else {
                assert!(
                    held && !probe && frame == due,
                    "{say}: {:x?} is due, not {:x?}",
                    what(due),
                    what(frame)
                );
            }
        } else {
            assert!(!held || probe, "{say}: a held packet before its turn");
        }
        let f = &self.frames[frame];
        let mut want = f.head;
        if held {
            want.end_beat = head.end_beat;
        }
        assert_eq!(head, want, "{say}: the head of PSN {:x}", f.psn);
        self.current = Some((frame, held, probe));
        let busy = self.rng.gen_range(2..12) + self.rng.gen_range(0..=self.manners.stall as u64 / 20);
        self.step = Step::Look(self.bench.cycle + busy);
        let now = self.bench.cycle;
        if self.last_next != 0 && held {
            self.pace.push(now - self.last_next);
        }
        self.shown_at = now;
    }

    fn control(&mut self, waits: bool, side: bool, ready: bool, held: bool, probe: bool, say: &str) {
        let now = self.bench.cycle;
        match self.step {
            Step::Idle => {
                if let Some(change) = self.changes.front().copied() {
                    self.changes.pop_front();
                    self.told = Some(change);
                    self.current = None;
                    self.step = Step::Tell;
                    self.end_of_life(change.0, change.1);
                } else if self.bench.uut.m_head_valid.val() && !waits {
                    self.begin(say);
                }
            }
            Step::Look(at) if at <= now => self.judge(held, probe),
            Step::Hold if self.bench.uut.hold_done.val() => self.held(probe, say),
            Step::Tell if ready && side => {
                assert_eq!(self.owed, 0, "{say}: told before all is released");
                let (qp, to) = self.told.take().expect("a change");
                let q = &mut self.qps[qp];
                if self.current.is_none() {
                    if DEAD.contains(&to) {
                        // A new life.
                        q.epsn = q.epsn.wrapping_add(1000) & MASK;
                        (q.standing, q.live) = (false, true);
                    }
                    self.step = Step::Idle;
                } else {
                    self.step = Step::Finish(now + 2, false);
                }
            }
            Step::Finish(at, moved) if at <= now => {
                let (frame, held, probe) = self.current.take().expect("a packet");
                let qp = self.frames[frame].qp;
                if !held {
                    self.queue.pop_front();
                }
                if !probe {
                    self.last_next = now;
                }
                self.step = Step::Idle;
                if moved {
                    self.after(qp);
                }
            }
            _ => {}
        }
    }

    /// What must come after a packet that moved ePSN.
    fn after(&mut self, qp: usize) {
        let epsn = self.qps[qp].epsn;
        // What was passed.
        let passed: Vec<u32> = self.qps[qp]
            .held
            .keys()
            .copied()
            .filter(|psn| psn.wrapping_sub(epsn) & 0x80_0000 != 0)
            .collect();
        for psn in passed {
            self.drop_held(qp, psn);
        }
        let far = self.qps[qp].held.keys().map(|psn| psn.wrapping_sub(epsn) & MASK).max();
        if let Some(frame) = self.qps[qp].held.get(&epsn) {
            self.due = Some((*frame, false));
        } else if let Some(far) = far {
            let q = &mut self.qps[qp];
            q.since = Some(self.bench.cycle);
            if far > q.attributes.distance && !q.gave_up {
                let any = *q.held.values().next().expect("held");
                self.due = Some((any, true));
            }
        }
    }

    fn drop_held(&mut self, qp: usize, psn: u32) {
        let frame = self.qps[qp].held.remove(&psn).expect("held");
        self.frames[frame].fate = Fate::Done;
        self.frames[frame].done_at = self.bench.cycle;
        self.owed += 1;
    }

    fn end_of_life(&mut self, qp: usize, to: u32) {
        if DEAD.contains(&to) {
            let psns: Vec<u32> = self.qps[qp].held.keys().copied().collect();
            for psn in psns {
                self.drop_held(qp, psn);
            }
            if self.due.is_some_and(|(frame, _)| self.frames[frame].qp == qp) {
                self.due = None;
            }
            let q = &mut self.qps[qp];
            (q.live, q.since) = (false, None);
        }
    }

    /// The head leaves, with its release in job order.
    fn leave(&mut self, moved: bool) {
        let (frame, held, _) = self.current.expect("a packet");
        let delay = self.rng.gen_range(3..20) + self.rng.gen_range(0..=self.manners.stall as u64);
        let at = (self.bench.cycle + delay).max(self.releases.back().map_or(0, |r| r.0 + 1));
        let end = if held {
            self.bench.uut.m_head.val().end_beat.to_u64()
        } else {
            self.frames[frame].end % RING
        };
        self.releases.push_back((at, end));
        let f = &mut self.frames[frame];
        if held {
            // From now on it is known by its slot.
            f.head.end_beat = end.to_bits();
        }
        if f.fate != Fate::Held {
            f.fate = Fate::Leaving;
        }
        self.step = Step::Finish(self.bench.cycle + self.rng.gen_range(2..6), moved);
    }

    fn judge(&mut self, held: bool, probe: bool) {
        let (frame, ..) = self.current.expect("a packet");
        let (qp, psn, psns) = (self.frames[frame].qp, self.frames[frame].psn, self.frames[frame].psns);
        let ahead = self.distance(qp, psn);
        let early = ahead != 0 && ahead < 0x80_0000;
        if held && !probe {
            self.qps[qp].held.remove(&psn);
            self.frames[frame].fate = Fate::Leaving;
        }
        if early && self.qps[qp].attributes.reorder {
            self.step = Step::Hold;
            return;
        }
        assert!(!probe, "a probe must be early");
        let mut moved = false;
        if ahead == 0 {
            let m = self.manners;
            let (rnr, fatal) = (self.roll(m.rnr), self.roll(m.fatal));
            let cycle = self.bench.cycle;
            let _ = cycle;
            let q = &mut self.qps[qp];
            if fatal {
                self.leave(false);
                self.told = Some((qp, state::ERR));
                self.end_of_life(qp, state::ERR);
                // Until the host makes it anew.
                self.changes.push_back((qp, state::RESET));
                self.step = Step::Tell;
                return;
            } else if rnr {
                q.standing = true;
            } else {
                q.executed.push(psn);
                q.epsn = q.epsn.wrapping_add(psns) & MASK;
                (q.standing, q.since) = (false, None);
                moved = true;
            }
        } else if early {
            // Without the attribute: one NAK, then silence.
            let q = &mut self.qps[qp];
            if !q.standing {
                q.naks.push(q.epsn);
                q.standing = true;
            }
        }
        self.leave(moved);
    }

    fn held(&mut self, probe: bool, say: &str) {
        let u = &self.bench.uut;
        let (nak, code) = (u.hold_nak.val(), u.hold_code.val().to_u64() as u8);
        let (frame, ..) = self.current.expect("a packet");
        let (qp, psn) = (self.frames[frame].qp, self.frames[frame].psn);
        let ahead = self.distance(qp, psn);
        let (fast, slow) = self.taken();
        let (surely, perhaps) = self.aged(qp);
        let own = self.qps[qp].held.len();
        let others = self.qps.iter().filter(|q| !q.held.is_empty()).count();
        let q = &self.qps[qp];
        let fair = |taken: usize| {
            let free = 64 - taken;
            if own == 0 {
                free > 0 && others < 16
            } else {
                free > 1 && own < 4 * free
            }
        };
        if probe {
            self.probes += 1;
            assert_eq!((nak, code), (!q.standing, c::LATER), "{say}: probe");
        } else {
            let lost = ahead >= 64 || ahead > q.attributes.distance || surely;
            let maybe = lost || perhaps;
            assert!(
                nak == (lost && !q.standing) || nak == (maybe && !q.standing),
                "{say}: NAK {nak}, {ahead} ahead of {q:x?}"
            );
            let expected: &[u8] = if ahead >= 64 {
                if nak {
                    &[c::OUT_OF_SEQUENCE]
                } else {
                    &[c::OUT_OF_SEQUENCE_SILENT]
                }
            } else if q.held.contains_key(&psn) {
                &[c::REORDER_DUPLICATE]
            } else if fair(slow.max(fast)) {
                &[c::LATER]
            } else if !fair(fast.min(slow)) {
                &[c::REORDER_FULL]
            } else {
                &[c::LATER, c::REORDER_FULL]
            };
            assert!(
                expected.contains(&code),
                "{say}: code {code} for PSN {psn:x} of QP {qp}, want {expected:?}; {own} held, {fast}, {slow} slots taken; {others} QPs"
            );
        }
        *self.counters.entry(code).or_default() += (code != c::LATER) as u64;
        let now = self.bench.cycle;
        let q = &mut self.qps[qp];
        // The age of a hole counts while something behind it is held.
        if own > 0 || (!probe && code == c::LATER) {
            q.since.get_or_insert(now);
        }
        if nak {
            q.naks.push(q.epsn);
            q.standing = true;
        }
        let again = code == c::REORDER_DUPLICATE && fair(slow.max(fast));
        assert!(
            code != c::REORDER_DUPLICATE || again || !fair(fast.min(slow)),
            "{say}: which of two copies of PSN {psn:x} of QP {qp} is held can't be known; {own} held, {fast}, {slow} slots taken"
        );
        let takes = !probe && (code == c::LATER || again);
        q.gave_up &= own > 0;
        self.leave(false);
        if takes {
            // The newer copy is held: the older one's room comes back first.
            if let Some(older) = self.qps[qp].held.insert(psn, frame) {
                self.frames[older].fate = Fate::Done;
                self.frames[older].done_at = now;
            }
            self.frames[frame].fate = Fate::Held;
            self.frames[frame].slot = true;
        }
    }

    /// Until nothing is left to do but what is held.
    pub fn settle(&mut self) {
        let mut waited = 0;
        while !self.quiet() {
            self.tick();
            waited += 1;
            assert!(waited < 100_000, "cycle {}: hangs, {:?} {:?}", self.cycle(), self.step, self.due);
        }
        for _ in 0..200 {
            self.tick();
        }
    }

    /// Ends every QP: the ring must be empty, and all slots free, afterwards.
    pub fn end(&mut self) {
        self.settle();
        for qp in 0..self.qps.len() {
            self.change(qp, state::RESET);
        }
        self.settle();
        assert_eq!(self.tail, self.committed, "the tail stands before the end");
        assert_eq!(self.owed, 0);
        assert!(!self.bench.uut.event_valid.val());
        let held = self.counters.get(&c::REORDER_HELD).copied().unwrap_or(0);
        println!(
            "{held} held, {} at most, {} probes; {:?}",
            self.most_held, self.probes, self.counters
        );
    }
}
