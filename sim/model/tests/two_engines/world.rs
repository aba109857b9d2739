// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two engines, up to 8 connected QPs, a plan for each QP and direction.

use super::plan::{Keys, Plan, RECEIVE_BYTES, REGION, VA};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::net::{IpAddr, Ipv4Addr};
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::reorder::Reorder;
use verbena_model::golden::send_wqe::completion_of;
use verbena_model::golden::{Features, Golden, Outcome};
use verbena_model::link::{Link, Side};
use verbena_model::memory::PAGE;
use verbena_model::parse::Local;
use verbena_model::wire::{Faults, Wire};
use verbena_spec::counters as c;
use verbena_spec::layout::status;

/// ns.
const LATENCY: u64 = 2_000;
/// 2.1 ms: more than the longest queue, delay and round trip.
const TIMEOUT: u8 = 9;
/// Nothing takes longer, ns.
const LONGEST_RUN: u64 = 2_000_000_000;
/// How often the host looks after its queues, ns.
const HOST_PERIOD: u64 = 30_000;
const PD: u16 = 7;

/// What a run tries beside the wire.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// Neither side holds early packets.
    Plain,
    /// Reorder stations of random sizes, selective repeat on some QPs, whether their peer holds anything or not.
    Ordered,
    /// The same, and connections that are reset in the middle and begin anew.
    Resets,
}

pub struct World {
    seed: u64,
    pub link: Link,
    qps: Vec<Pair>,
    kind: Kind,
    /// Resets yet to come: when, which pair.
    resets: Vec<(u64, usize)>,
}

/// One connection.
struct Pair {
    /// By side.
    qpns: [u32; 2],
    plans: [Plan; 2],
    /// Receives posted on each side.
    posted: [usize; 2],
    /// Receives that each side has ready before the first packet.
    ahead: [usize; 2],
    attributes: [Attributes; 2],
    lives: u32,
    /// Nothing is posted yet in this life.
    fresh: bool,
    next: [usize; 2],
}

/// A station's sizes: one in four has none.
fn sizes(rng: &mut ChaCha8Rng) -> Reorder {
    match rng.gen_range(0..4) {
        0 => Reorder::NONE,
        1 => Reorder::TENGIG,
        _ => Reorder {
            window: 1 << rng.gen_range(0..=6),
            slots: rng.gen_range(1..=16),
        },
    }
}

fn address(side: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + side as u8))
}

fn mac(side: usize) -> [u8; 6] {
    [2, 0, 0, 0, 0, 1 + side as u8]
}

const REGIONS: u32 = 8;

/// Region `kind` of pair `pair`: 0 source, 1 sink, 2 target, 3 receives, 4 to 7 to be invalidated.
fn key(pair: usize, kind: u32) -> u32 {
    (pair as u32 * REGIONS + kind) << 8 | 0x5a
}

fn region(pair: usize, kind: u32) -> Region {
    let all = Access {
        local_write: true,
        remote_write: kind == 2,
        remote_read: kind == 2,
        remote_atomic: kind == 2,
    };
    let count = (VA % PAGE + REGION as u64).div_ceil(PAGE);
    let first = u64::from(key(pair, kind)) << 4;
    Region {
        key: key(pair, kind),
        pd: PD,
        access: if kind == 0 { Access::default() } else { all },
        may_invalidate: kind >= 4,
        virtual_address: VA,
        length: REGION as u64,
        // Downwards with holes.
        pages: (0..count).map(|n| (first + 2 * (count - n)) * PAGE).collect(),
    }
}

impl World {
    pub fn new(seed: u64, rng: &mut ChaCha8Rng, faults: Faults, late_receives: bool, kind: Kind) -> World {
        let sides = [0, 1].map(|n| {
            let mut golden = Golden::with_features(
                Local {
                    mac: mac(n),
                    gids: vec![Some(address(n))],
                    max_frame: 4200,
                    icrc_off: false,
                },
                Features::ALL,
            );
            golden.hold_responses = true;
            if kind != Kind::Plain {
                golden.reorder = sizes(rng);
            }
            Side::new(golden)
        });
        let wires = [0, 1].map(|n| Wire::new(seed * 2 + n, LATENCY, faults));
        let mut world = World {
            seed,
            link: Link::new(sides, wires),
            qps: vec![],
            kind,
            resets: vec![],
        };
        for number in 0..rng.gen_range(1..=8) {
            world.connect(number, rng, late_receives);
        }
        if kind == Kind::Resets {
            let pairs = world.qps.len();
            world.resets = (0..rng.gen_range(1..=4))
                .map(|_| (rng.gen_range(1..400) * 1000, rng.gen_range(0..pairs)))
                .collect();
            world.resets.sort_unstable();
            world.resets.reverse();
        }
        world
    }

    fn connect(&mut self, number: usize, rng: &mut ChaCha8Rng, late_receives: bool) {
        let pmtu = 256 << rng.gen_range(0..5);
        let qpns = [0, 1].map(|_| rng.gen_range(1..4096) << 12 | (number as u32 + 2));
        // Near the wrap as often as not.
        let psns = [0, 1].map(|_| {
            if rng.gen() {
                rng.gen_range(0..1 << 24)
            } else {
                0xff_ffe0 + rng.gen_range(0..32)
            }
        });
        let depths: [u8; 2] = [0, 1].map(|_| rng.gen_range(1..=16));
        let udp_source = rng.gen_range(0xc000..=0xffff);
        let keys = Keys {
            source: key(number, 0),
            sink: key(number, 1),
            target: key(number, 2),
            invalidate: key(number, 4),
        };
        let plans = [0, 1].map(|_| {
            let count = rng.gen_range(1..=16);
            Plan::new(rng, keys, pmtu, count)
        });
        let all = [0, 1].map(|side| {
            let other = 1 - side;
            let mut attributes = Attributes {
                qpn: qpns[side],
                pmtu,
                pd: PD,
                remote_write: true,
                remote_read: true,
                remote_atomic: true,
                peer_ip: address(other),
                peer_mac: mac(other),
                peer_qpn: qpns[other],
                rq_psn: psns[other],
                rnr_timer: rng.gen_range(1..=5),
                udp_source,
                recv_cq: 2,
                send_cq: 1,
                max_dest_rd_atomic: depths[other],
                max_rd_atomic: depths[side],
                sq_psn: psns[side],
                sq_base: 1 << 40 | (number as u64) << 16,
                sq_log: rng.gen_range(2..=4),
                timeout: TIMEOUT,
                ..Attributes::default()
            };
            if self.kind != Kind::Plain {
                attributes.selective_repeat = rng.gen();
                attributes.nak_distance = if rng.gen() { 0 } else { rng.gen_range(0..64) };
                attributes.nak_delay = if rng.gen() { 0 } else { rng.gen_range(1..60) };
            }
            attributes
        });
        let ahead = [0, 1].map(|_| if late_receives { rng.gen_range(0..8) } else { usize::MAX });
        self.qps.push(Pair {
            qpns,
            plans,
            posted: [0; 2],
            ahead,
            next: [0; 2],
            attributes: all,
            lives: 0,
            fresh: true,
        });
        self.begin(number);
    }

    /// Memory as the plans want it, the regions, the two QPs in RTS, nothing posted.
    fn begin(&mut self, number: usize) {
        let pair = &mut self.qps[number];
        (pair.posted, pair.next, pair.fresh) = ([0; 2], [0; 2], true);
        for side in 0..2 {
            let s = &mut self.link.sides[side];
            for kind in 0..REGIONS {
                let region = region(number, kind);
                let zeros = vec![0; REGION];
                let bytes = match kind {
                    0 => &pair.plans[side].source,
                    2 => &pair.plans[1 - side].target_before,
                    _ => &zeros,
                };
                region.write(&mut s.memory, VA, bytes);
                s.golden.regions.deregister_index(region.key >> 8);
                s.golden.register(region);
            }
            s.golden.create_qp(pair.attributes[side].clone());
            for state in [State::Init, State::Rtr, State::Rts] {
                assert!(s.golden.modify(pair.qpns[side], state, &mut Outcome::default()));
            }
        }
    }

    /// A connection dies with whatever is under way and held, and another one begins in its place: R41, R68.
    fn reset(&mut self, number: usize) {
        let pair = &mut self.qps[number];
        pair.lives += 1;
        for side in 0..2 {
            let golden = &mut self.link.sides[side].golden;
            assert!(golden.modify(pair.qpns[side], State::Reset, &mut Outcome::default()));
            assert_eq!(golden.qp(pair.qpns[side]).unwrap().held(), 0);
        }
        for side in 0..2 {
            // Another tag: what is on the wire is for the former life.
            let qpn = ((pair.qpns[side] >> 12) % 4095 + 1) << 12 | pair.qpns[side] & 0xfff;
            pair.qpns[side] = qpn;
            pair.attributes[side].qpn = qpn;
            pair.attributes[1 - side].peer_qpn = qpn;
            let psn = pair.attributes[side].sq_psn.wrapping_add(0x31_4159) & 0xff_ffff;
            pair.attributes[side].sq_psn = psn;
            pair.attributes[1 - side].rq_psn = psn;
        }
        self.begin(number);
    }

    /// Whole stations on both sides, on which a gap is a loss only beyond `distance`.
    pub fn hold(&mut self, distance: u8) {
        for side in 0..2 {
            let golden = &mut self.link.sides[side].golden;
            golden.reorder = Reorder { window: 64, slots: 512 };
            for pair in &self.qps {
                golden.qp_mut(pair.qpns[side]).unwrap().attributes.nak_distance = distance;
            }
        }
    }

    /// Connections that were reset.
    pub fn lives(&self) -> u32 {
        self.qps.iter().map(|p| p.lives).sum()
    }

    /// Sum of a counter over both sides.
    pub fn count(&self, code: u8) -> u64 {
        let of = |side: &Side| u64::from(side.golden.counters()[usize::from(code)]);
        self.link.sides.iter().map(of).sum()
    }

    /// The host posts what there is room for, and receives: some ahead, then one at a time.
    fn host(&mut self) {
        for pair in &mut self.qps {
            for side in 0..2 {
                let s = &mut self.link.sides[side];
                let mut outcome = Outcome::default();
                let qpn = pair.qpns[side];
                while let Some(wqe) = pair.plans[side].wqes.get(pair.next[side]) {
                    if s.golden.post_send(qpn, wqe, &mut s.memory, &mut outcome).is_none() {
                        break;
                    }
                    pair.next[side] += 1;
                }
                let need = pair.plans[1 - side].receives.len();
                let mut batch = if pair.fresh { pair.ahead[side] } else { 1 };
                while pair.posted[side] < need && batch > 0 {
                    let at = VA + (pair.posted[side] * RECEIVE_BYTES) as u64;
                    let key = key((qpn as usize & 0xfff) - 2, 3);
                    s.golden.post_receive(qpn, at, RECEIVE_BYTES as u32, key, &mut outcome);
                    pair.posted[side] += 1;
                    batch -= 1;
                }
                s.take(outcome);
            }
            pair.fresh = false;
        }
    }

    /// Runs until both are at rest and everything is posted.
    pub fn run(&mut self) {
        loop {
            while self.resets.last().is_some_and(|(at, _)| *at <= self.link.now) {
                let (_, number) = self.resets.pop().unwrap();
                self.reset(number);
            }
            self.host();
            let rest = self.link.run(self.link.now + HOST_PERIOD);
            let posted = self
                .qps
                .iter()
                .all(|p| (0..2).all(|n| p.next[n] == p.plans[n].wqes.len() && p.posted[n] >= p.plans[1 - n].receives.len()));
            if rest && posted && self.resets.is_empty() {
                return;
            }
            if rest {
                self.link.now += HOST_PERIOD;
            }
            assert!(self.link.now < LONGEST_RUN, "seed {}: no end", self.seed);
        }
    }

    /// Every byte and every completion; the number of messages.
    pub fn check(&self) -> usize {
        let seed = self.seed;
        let mut messages = 0;
        for (number, pair) in self.qps.iter().enumerate() {
            for side in 0..2 {
                let (s, peer) = (&self.link.sides[side], &self.link.sides[1 - side]);
                let plan = &pair.plans[side];
                let what = format!("seed {seed}, QP {number}, side {side}");
                messages += plan.wqes.len();
                let done: Vec<_> = s.completions.iter().filter(|c| c.qpn == pair.qpns[side] && c.cq == 1).collect();
                for (want, got) in plan.completions.iter().zip(&done) {
                    assert_eq!(
                        (want.index, want.opcode, want.length, status::SUCCESS),
                        (got.wqe_index, got.opcode, got.byte_length, got.status),
                        "{what}"
                    );
                    assert_eq!(want.opcode, completion_of(plan.wqes[usize::from(want.index)].opcode()), "{what}");
                }
                assert_eq!(plan.completions.len(), done.len(), "{what}");
                let read = |side: &Side, kind: u32| region(number, kind).read(&side.memory, VA, REGION);
                assert!(read(s, 1) == plan.sink, "{what}: what READs and ATOMICs brought");
                assert!(read(peer, 2) == plan.target, "{what}: the peer's memory");
                let received: Vec<_> = peer
                    .completions
                    .iter()
                    .filter(|c| c.qpn == pair.qpns[1 - side] && c.cq == 2)
                    .collect();
                assert_eq!(plan.receives.len(), received.len(), "{what}");
                let buffers = read(peer, 3);
                for (index, (want, got)) in plan.receives.iter().zip(received).enumerate() {
                    assert_eq!(
                        (index as u16, want.opcode, want.length, want.solicited, status::SUCCESS),
                        (got.wqe_index, got.opcode, got.byte_length, got.solicited, got.status),
                        "{what}"
                    );
                    assert_eq!(want.immediate, got.with_imm.then_some(got.immediate), "{what}");
                    assert_eq!(want.invalidated, got.with_invalidate.then_some(got.immediate), "{what}");
                    if let Some(bytes) = &want.bytes {
                        let at = index * RECEIVE_BYTES;
                        assert!(buffers[at..at + bytes.len()] == bytes[..], "{what}: receive {index}");
                    }
                }
                for key in &plan.invalidated {
                    let gone = peer.golden.regions.check(*key, PD, Access::default(), VA, 1).is_none();
                    assert!(gone, "{what}: key {key:#x}");
                }
            }
        }
        for side in &self.link.sides {
            assert_eq!(side.events, [], "seed {seed}");
            assert_eq!(side.golden.held(), 0, "seed {seed}");
        }
        messages
    }

    /// Times that a send queue went back for another reason than RNR.
    pub fn retries(&self) -> u64 {
        let count = |side: &Side| {
            let k = side.golden.counters();
            let of = |code: u8| u64::from(k[usize::from(code)]);
            of(c::REWIND).saturating_sub(of(c::RNR_WAIT))
        };
        self.link.sides.iter().map(count).sum()
    }

    pub fn faults(&self) -> u64 {
        self.link.wires.iter().map(|w| w.statistics().faults()).sum()
    }
}
