// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two golden engines, one connection, and regions of the same keys on both sides.

use std::net::{IpAddr, Ipv4Addr};
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::{Completion, Features, Golden, Outcome};
use verbena_model::link::{Link, Side};
use verbena_model::memory::PAGE;
use verbena_model::parse::Local;
use verbena_model::wire::{Faults, Wire};
use verbena_spec::layout::send_opcode as op;

pub const PMTU: usize = 256;
pub const VA: u64 = 0x7000_0000_0100;
pub const SOURCE: u32 = 0x0141;
pub const SINK: u32 = 0x0242;
pub const TARGET: u32 = 0x0343;
pub const RECEIVES: u32 = 0x0444;
/// Offset of the number that ATOMICs work on.
pub const ATOMIC: u64 = 48_000;
/// Code 6.
pub const TIMEOUT_NS: u64 = 4096 << 6;
const TIMEOUT: u8 = 6;
const BYTES: usize = 1 << 16;
const LATENCY: u64 = 1_000;
const LONGEST: u64 = 100_000_000_000;

pub struct Pair {
    pub link: Link,
    pub qpns: [u32; 2],
    pmtu: usize,
}

fn region(key: u32, length: usize) -> Region {
    let remote = key == TARGET;
    let count = (VA % PAGE + length as u64).div_ceil(PAGE);
    Region {
        key,
        pd: 1,
        access: Access {
            local_write: key != SOURCE,
            remote_write: remote,
            remote_read: remote,
            remote_atomic: remote,
        },
        may_invalidate: false,
        virtual_address: VA,
        length: length as u64,
        pages: (0..count).map(|n| (u64::from(key) * 0x1000 + 2 * (count - n)) * PAGE).collect(),
    }
}

/// What lies in every source.
pub fn source(offset: usize, length: usize) -> Vec<u8> {
    (offset..offset + length)
        .map(|i| (i * 7 + (i >> 8) * 13 + (i >> 16) * 29) as u8 ^ 0x11)
        .collect()
}

pub fn write(from: u64, length: usize, to: u64) -> SendWqe {
    SendWqe::new(op::WRITE)
        .remote(VA + to, TARGET)
        .element(VA + from, length as u32, SOURCE)
}

pub fn read(to: u64, length: usize, from: u64) -> SendWqe {
    SendWqe::new(op::READ)
        .remote(VA + from, TARGET)
        .element(VA + to, length as u32, SINK)
}

pub fn fetch_add(to: u64) -> SendWqe {
    SendWqe::new(op::FETCH_ADD)
        .remote(VA + ATOMIC, TARGET)
        .element(VA + to, 8, SINK)
        .operands(1, 0)
}

fn ip(side: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1 + side as u8))
}

impl Pair {
    pub fn new(faults: Faults) -> Pair {
        Self::sized(faults, PMTU, BYTES)
    }

    /// With regions of that size.
    pub fn sized(faults: Faults, pmtu: usize, bytes: usize) -> Pair {
        let sides = [0, 1].map(|n| {
            let local = Local {
                mac: [2, 0, 0, 0, 0, n as u8],
                gids: vec![Some(ip(n))],
                max_frame: 4200,
                icrc_off: false,
            };
            let mut golden = Golden::with_features(local, Features::ALL);
            golden.hold_responses = true;
            let mut side = Side::new(golden);
            for key in [SOURCE, SINK, TARGET, RECEIVES] {
                let region = region(key, bytes);
                if key == SOURCE {
                    region.write(&mut side.memory, VA, &source(0, bytes.min(BYTES)));
                }
                side.golden.register(region);
            }
            side
        });
        let wires = [0, 1].map(|n| Wire::new(n, LATENCY, faults));
        let mut pair = Pair {
            link: Link::new(sides, wires),
            qpns: [0; 2],
            pmtu,
        };
        let qpn = 0x1_2005;
        pair.qpns = [qpn; 2];
        pair.connect(5, qpn, 0xff_fffa);
        pair
    }

    /// A QP of that number on both sides, in RTS.
    pub fn connect(&mut self, index: u32, qpn: u32, psn: u32) {
        for side in 0..2 {
            let attributes = Attributes {
                qpn,
                pmtu: self.pmtu,
                pd: 1,
                remote_write: true,
                remote_read: true,
                remote_atomic: true,
                peer_ip: ip(1 - side),
                peer_mac: [2, 0, 0, 0, 0, 1 - side as u8],
                peer_qpn: qpn,
                rq_psn: psn,
                sq_psn: psn,
                rnr_timer: 1,
                recv_cq: 1,
                max_dest_rd_atomic: 16,
                max_rd_atomic: 16,
                sq_base: 1 << 40 | u64::from(index) << 20,
                sq_log: 5,
                timeout: TIMEOUT,
                ..Attributes::default()
            };
            let golden = &mut self.link.sides[side].golden;
            golden.create_qp(attributes);
            for state in [State::Init, State::Rtr, State::Rts] {
                assert!(golden.modify(qpn, state, &mut Outcome::default()));
            }
        }
    }

    pub fn attributes(&mut self, side: usize, set: impl Fn(&mut Attributes)) {
        let qp = self.link.sides[side].golden.qp_mut(self.qpns[side]).unwrap();
        set(&mut qp.attributes);
        qp.send = verbena_model::golden::send_queue::SendQueue::new(&qp.attributes);
    }

    pub fn try_post(&mut self, side: usize, wqe: SendWqe) -> Option<u16> {
        self.on_qp(side, self.qpns[side], wqe)
    }

    fn on_qp(&mut self, side: usize, qpn: u32, wqe: SendWqe) -> Option<u16> {
        let s = &mut self.link.sides[side];
        let mut outcome = Outcome::default();
        let number = s.golden.post_send(qpn, &wqe, &mut s.memory, &mut outcome);
        s.take(outcome);
        number
    }

    pub fn post(&mut self, side: usize, wqe: SendWqe) {
        self.post_on(side, self.qpns[side], wqe);
    }

    pub fn post_on(&mut self, side: usize, qpn: u32, wqe: SendWqe) {
        assert!(self.on_qp(side, qpn, wqe).is_some());
    }

    pub fn receive(&mut self, side: usize, at: u64, length: u32) {
        let golden = &mut self.link.sides[side].golden;
        let mut outcome = Outcome::default();
        assert!(golden
            .post_receive(self.qpns[side], VA + at, length, RECEIVES, &mut outcome)
            .is_some());
    }

    /// To rest.
    pub fn run(&mut self) -> bool {
        self.link.run(self.link.now + LONGEST)
    }

    /// Completions of the lasting connection.
    pub fn completions(&self, side: usize) -> Vec<Completion> {
        let all = self.link.sides[side].completions.iter();
        all.filter(|c| c.qpn == self.qpns[side]).copied().collect()
    }

    /// (index, status) of another one's.
    pub fn on(&self, side: usize, qpn: u32) -> Vec<(u16, u32)> {
        let all = self.link.sides[side].completions.iter();
        all.filter(|c| c.qpn == qpn).map(|c| (c.wqe_index, c.status)).collect()
    }

    pub fn bytes(&self, side: usize, key: u32, at: u64, length: usize) -> Vec<u8> {
        let s = &self.link.sides[side];
        let found = s.golden.regions.check(key, 1, Access::default(), VA + at, length as u64);
        found.unwrap().read(&s.memory, VA + at, length)
    }

    pub fn fill(&mut self, side: usize, key: u32, at: u64, bytes: &[u8]) {
        let s = &mut self.link.sides[side];
        let found = s
            .golden
            .regions
            .check(key, 1, Access::default(), VA + at, bytes.len() as u64)
            .cloned();
        found.unwrap().write(&mut s.memory, VA + at, bytes);
    }

    pub fn count(&self, side: usize, code: u8) -> u32 {
        self.link.sides[side].golden.counters()[usize::from(code)]
    }
}
