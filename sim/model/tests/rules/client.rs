// SPDX-License-Identifier: MIT OR Apache-2.0
//! One golden requester, and a hand that plays its peer packet by packet.

use super::fixture::{bytes, local, MAC, PEER, PEER_MAC, PEER_QPN, US};
use verbena_model::golden::keys::{Access, Region};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::{Completion, Features, Golden, Outcome};
use verbena_model::memory::{Memory, PAGE};
use verbena_model::packet::{Aeth, Packet};
use verbena_spec::layout::send_opcode as op;

pub const QPN: u32 = 0x00_5010;
pub const PMTU: usize = 256;
/// First PSN: the flow wraps.
pub const SQ_PSN: u32 = 0xff_fffc;
pub const SOURCE: u32 = 0x0811;
pub const SINK: u32 = 0x0912;
pub const VA: u64 = 0x7000_0000_0135;
pub const REMOTE: u64 = 0x5000_0000_0777;
pub const REMOTE_KEY: u32 = 0x4321;
pub const LENGTH: usize = 60_000;
pub const RING: u64 = 1 << 40;
/// 4.096 us times 2^4.
pub const TIMEOUT: u64 = 65_536;

pub struct Client {
    pub golden: Golden,
    pub memory: Memory,
    pub outcome: Outcome,
}

fn region(key: u32, access: Access) -> Region {
    let count = (VA % PAGE + LENGTH as u64).div_ceil(PAGE);
    Region {
        key,
        pd: 7,
        access,
        may_invalidate: false,
        virtual_address: VA,
        length: LENGTH as u64,
        pages: (0..count).map(|n| (u64::from(key) * 64 + 2 * (count - n)) * PAGE).collect(),
    }
}

pub fn attributes() -> Attributes {
    Attributes {
        qpn: QPN,
        pmtu: PMTU,
        pd: 7,
        peer_ip: PEER,
        peer_mac: PEER_MAC,
        peer_qpn: PEER_QPN,
        send_cq: 3,
        recv_cq: 4,
        sq_psn: SQ_PSN,
        sq_base: RING,
        sq_log: 4,
        timeout: 4,
        retry_count: 3,
        rnr_retry: 3,
        max_rd_atomic: 4,
        ..Attributes::default()
    }
}

/// The PSN `ahead` of the first one.
pub fn at(ahead: u32) -> u32 {
    SQ_PSN.wrapping_add(ahead) & 0xff_ffff
}

pub fn write(offset: u64, length: usize) -> SendWqe {
    SendWqe::new(op::WRITE)
        .remote(REMOTE, REMOTE_KEY)
        .element(VA + offset, length as u32, SOURCE)
}

pub fn read(offset: u64, length: usize) -> SendWqe {
    SendWqe::new(op::READ)
        .remote(REMOTE, REMOTE_KEY)
        .element(VA + offset, length as u32, SINK)
}

pub fn fetch_add(offset: u64) -> SendWqe {
    SendWqe::new(op::FETCH_ADD)
        .remote(REMOTE & !7, REMOTE_KEY)
        .element(VA + offset, 8, SINK)
        .operands(0x0102_0304_0506_0708, 0)
}

impl Client {
    pub fn new() -> Self {
        Self::with(attributes())
    }

    pub fn with(attributes: Attributes) -> Self {
        let mut golden = Golden::with_features(local(), Features::ALL);
        let mut memory = Memory::new();
        let source = region(SOURCE, Access::default());
        source.write(&mut memory, VA, &bytes(LENGTH, 0x33));
        golden.register(source);
        golden.register(region(
            SINK,
            Access {
                local_write: true,
                ..Access::default()
            },
        ));
        let mut outcome = Outcome::default();
        let qpn = attributes.qpn;
        golden.create_qp(attributes);
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(golden.modify(qpn, state, &mut outcome));
        }
        Self { golden, memory, outcome }
    }

    pub fn post(&mut self, wqe: SendWqe) -> u16 {
        self.golden.post_send(QPN, &wqe, &mut self.memory, &mut self.outcome).unwrap()
    }

    /// Everything that can be sent now.
    pub fn sent(&mut self) -> Vec<Packet> {
        std::iter::from_fn(|| self.golden.transmit(&mut self.memory, &mut self.outcome)).collect()
    }

    pub fn sent_psns(&mut self) -> Vec<u32> {
        self.sent().iter().map(|p| p.psn).collect()
    }

    /// Delivers an answer; the counter's code.
    pub fn answer(&mut self, packet: Packet) -> u8 {
        let packet = Packet {
            destination_mac: MAC,
            source_mac: PEER_MAC,
            source: PEER,
            destination: US,
            qpn: QPN,
            ..packet
        };
        let outcome = self.golden.receive(&packet.to_frame(), false, &mut self.memory);
        self.outcome.completions.extend(outcome.completions);
        self.outcome.events.extend(outcome.events);
        assert!(outcome.answers.is_empty());
        outcome.responder.unwrap()
    }

    pub fn ack(&mut self, psn: u32) -> u8 {
        self.syndrome(0x1f, psn)
    }

    pub fn syndrome(&mut self, syndrome: u8, psn: u32) -> u8 {
        self.answer(Packet {
            opcode: 0x11,
            psn,
            aeth: Aeth { syndrome, msn: 0 },
            ..Packet::default()
        })
    }

    pub fn data(&mut self, opcode: u8, psn: u32, payload: &[u8]) -> u8 {
        self.answer(Packet {
            opcode,
            psn,
            payload: payload.to_vec(),
            ..Packet::default()
        })
    }

    pub fn advance(&mut self, now: u64) {
        self.golden.advance(now, &mut self.memory, &mut self.outcome);
    }

    /// Completions since the last call, as (index, status).
    pub fn done(&mut self) -> Vec<(u16, u32)> {
        self.completions().iter().map(|c| (c.wqe_index, c.status)).collect()
    }

    pub fn completions(&mut self) -> Vec<Completion> {
        std::mem::take(&mut self.outcome.completions)
    }

    pub fn state(&self) -> State {
        self.golden.qp(QPN).unwrap().state
    }

    pub fn count(&self, code: u8) -> u32 {
        self.golden.counters()[usize::from(code)]
    }

    pub fn sink(&self, offset: u64, length: usize) -> Vec<u8> {
        region(SINK, Access::default()).read(&self.memory, VA + offset, length)
    }

    pub fn source(offset: usize, length: usize) -> Vec<u8> {
        bytes(LENGTH, 0x33)[offset..offset + length].to_vec()
    }

    /// The host writes into its ring again, which it mustn't.
    pub fn overwrite(&mut self, index: u16, wqe: SendWqe) {
        let slot = RING + u64::from(index & 15) * 64;
        let bytes: Vec<u8> = wqe.0.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.memory.write(slot, &bytes);
    }
}
