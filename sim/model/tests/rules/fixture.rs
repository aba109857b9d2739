// SPDX-License-Identifier: MIT OR Apache-2.0
//! One golden responder with a QP of each service, a region, and a requester that speaks to it.

use std::net::{IpAddr, Ipv4Addr};
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::{Golden, Outcome};
use verbena_model::memory::{Memory, PAGE};
use verbena_model::packet::{Deth, Packet};
use verbena_model::parse::Local;
use verbena_model::requester::{Requester, Verb};

pub const MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
pub const PEER_MAC: [u8; 6] = [0x02, 0, 0, 0, 0, 2];
pub const US: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
pub const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
pub const RC: u32 = 0x00_5010;
pub const UC: u32 = 0x00_6011;
pub const UD: u32 = 0x00_7012;
pub const PEER_QPN: u32 = 0x00_0abc;
pub const PMTU: usize = 256;
pub const PSN: u32 = 0xff_fffe;
pub const QKEY: u32 = 0x1111_1111;
pub const RKEY: u32 = 0x0000_0377;
pub const LKEY: u32 = 0x0000_0478;
pub const INVALIDATE: u32 = 0x0000_0579;
/// Not at a page's start, so that offsets count.
pub const VA: u64 = 0x7f00_0000_0123;
pub const LENGTH: u64 = 20_000;
pub const BUFFER: u64 = 0x1000_0000_0077;

pub struct Fixture {
    pub golden: Golden,
    pub memory: Memory,
    pub requester: Requester,
}

pub fn local() -> Local {
    Local {
        mac: MAC,
        gids: vec![Some(US), None, Some("fe80::1".parse().unwrap()), None],
        max_frame: 4200,
        icrc_off: false,
    }
}

pub fn attributes(qpn: u32, service: u8) -> Attributes {
    Attributes {
        qpn,
        service,
        pmtu: PMTU,
        pd: 7,
        pkey: 0xffff,
        qkey: QKEY,
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        gid_index: 0,
        peer_ip: PEER,
        peer_mac: PEER_MAC,
        vlan: None,
        peer_qpn: PEER_QPN,
        rq_psn: PSN,
        rnr_timer: 14,
        traffic_class: 0,
        hop_limit: 64,
        udp_source: 0xc123,
        recv_cq: 3,
        ..Attributes::default()
    }
}

fn region(key: u32, virtual_address: u64, length: u64, access: Access, first_page: u64) -> Region {
    let count = (virtual_address % PAGE + length).div_ceil(PAGE);
    // Downwards with holes: a wrong translation shows.
    let pages = (0..count).map(|n| (first_page + 2 * (count - n)) * PAGE).collect();
    Region {
        key,
        pd: 7,
        access,
        may_invalidate: key == INVALIDATE,
        virtual_address,
        length,
        pages,
    }
}

impl Fixture {
    /// All QPs in RTS, no receives posted.
    pub fn new() -> Self {
        let mut golden = Golden::new(local());
        let local_write = Access {
            local_write: true,
            ..Access::default()
        };
        let remote_write = Access {
            local_write: true,
            remote_write: true,
            ..Access::default()
        };
        golden.register(region(RKEY, VA, LENGTH, remote_write, 0x1000));
        golden.register(region(LKEY, BUFFER, LENGTH, local_write, 0x2000));
        golden.register(region(INVALIDATE, VA, 64, remote_write, 0x3000));
        for (qpn, service) in [(RC, 0), (UC, 1), (UD, 3)] {
            golden.create_qp(attributes(qpn, service));
            for state in [State::Init, State::Rtr, State::Rts] {
                assert!(golden.modify(qpn, state, &mut Outcome::default()));
            }
        }
        Self {
            golden,
            memory: Memory::new(),
            requester: requester(RC, 0),
        }
    }

    /// The same, with the requester speaking to another QP.
    pub fn speaking(service: u8) -> Self {
        let qpn = [RC, UC, 0, UD][usize::from(service)];
        Self {
            requester: requester(qpn, service),
            ..Self::new()
        }
    }

    pub fn receive(&mut self, packet: &Packet) -> Outcome {
        self.golden.receive(&packet.to_frame(), false, &mut self.memory)
    }

    /// Delivers packets; everything that came of them, with the last one's counters.
    pub fn deliver(&mut self, packets: &[Packet]) -> Outcome {
        let mut all = Outcome::default();
        for packet in packets {
            let outcome = self.receive(packet);
            all.answers.extend(outcome.answers);
            all.completions.extend(outcome.completions);
            all.events.extend(outcome.events);
            (all.rx, all.responder) = (outcome.rx, outcome.responder);
        }
        all
    }

    /// Posts a receive of `length` bytes at `BUFFER + at`.
    pub fn post(&mut self, at: u64, length: u32) -> u16 {
        let qpn = self.requester.template.qpn;
        self.golden
            .post_receive(qpn, BUFFER + at, length, LKEY, &mut Outcome::default())
            .unwrap()
    }

    pub fn write(&mut self, at: u64, payload: &[u8]) -> Vec<Packet> {
        self.requester.message(
            Verb::Write {
                virtual_address: VA + at,
                rkey: RKEY,
            },
            payload,
            false,
        )
    }

    pub fn write_imm(&mut self, at: u64, payload: &[u8]) -> Vec<Packet> {
        self.requester.message(
            Verb::WriteImm {
                virtual_address: VA + at,
                rkey: RKEY,
                immediate: 0xabc0_0001,
            },
            payload,
            true,
        )
    }

    pub fn send(&mut self, payload: &[u8]) -> Vec<Packet> {
        self.requester.message(Verb::Send, payload, false)
    }

    /// Bytes of a registered region at a virtual address, page by page.
    pub fn read(&self, key: u32, virtual_address: u64, length: usize) -> Vec<u8> {
        let need = Access::default();
        let region = self
            .golden
            .regions
            .check(key, 7, need, virtual_address, length as u64)
            .expect("inside a region");
        let mut out = vec![];
        while out.len() < length {
            let at = virtual_address + out.len() as u64;
            let page = region.pages[(at / PAGE - region.virtual_address / PAGE) as usize];
            let count = ((PAGE - at % PAGE) as usize).min(length - out.len());
            out.extend(self.memory.read(page + at % PAGE, count));
        }
        out
    }

    pub fn state(&self) -> State {
        self.golden.qp(self.requester.template.qpn).unwrap().state
    }
}

pub fn requester(qpn: u32, service: u8) -> Requester {
    let template = Packet {
        destination_mac: MAC,
        source_mac: PEER_MAC,
        source: PEER,
        destination: US,
        qpn,
        ..Packet::default()
    };
    let deth = if service == 3 {
        Deth {
            qkey: QKEY,
            source_qpn: PEER_QPN,
        }
    } else {
        Deth::default()
    };
    Requester {
        template,
        pmtu: PMTU,
        psn: PSN,
        service,
        deth,
    }
}

pub fn bytes(length: usize, salt: u8) -> Vec<u8> {
    (0..length).map(|i| (i * 7 + (i >> 8) * 13) as u8 ^ salt).collect()
}

/// (syndrome, PSN, MSN) of each answer.
pub fn answers(outcome: &Outcome) -> Vec<(u8, u32, u32)> {
    outcome.answers.iter().map(|a| (a.aeth.syndrome, a.psn, a.aeth.msn)).collect()
}

/// The PSN `ahead` of the first one.
pub fn psn(ahead: u32) -> u32 {
    PSN.wrapping_add(ahead) & 0xff_ffff
}
