// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden responder: frames in; answers, completions, events, counters and memory out. One transaction a call, no time.
//!
//! Not built yet, and refused by name: READ and ATOMIC (NAK invalid request, R59), the requester (every ACK or response is a ghost, R39).

pub mod keys;
pub mod qp;
mod request;

use crate::memory::Memory;
use crate::packet::{Aeth, Packet};
use crate::parse::{verdict, Local, Verdict};
use keys::{Region, Regions};
use qp::{Attributes, Message, Qp, Receive, State};
use std::collections::BTreeMap;
use std::net::IpAddr;
use verbena_spec::counters as c;
use verbena_spec::headers::Operation;
use verbena_spec::layout::status;

/// Bits of a QPN that are the index; the rest is the tag.
pub const INDEX_BITS: u32 = 12;

/// A completion (the fields of `verbena_spec::layout::cqe`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion {
    pub cq: u16,
    pub qpn: u32,
    pub opcode: u32,
    pub status: u32,
    pub with_imm: bool,
    pub with_invalidate: bool,
    pub grh: bool,
    pub solicited: bool,
    pub wqe_index: u16,
    pub byte_length: u32,
    pub immediate: u32,
    pub source_qpn: u32,
}

/// An asynchronous event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub kind: u32,
    pub number: u32,
    pub detail: u32,
}

/// What one frame did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The receive verdict's counter.
    pub rx: u8,
    /// The responder's counter, for a frame that reached it.
    pub responder: Option<u8>,
    pub answers: Vec<Packet>,
    pub completions: Vec<Completion>,
    pub events: Vec<Event>,
    /// The frame belongs to the host.
    pub to_host: bool,
}

/// The engine as seen from outside.
#[derive(Debug, Clone)]
pub struct Golden {
    pub local: Local,
    pub regions: Regions,
    qps: BTreeMap<u32, Qp>,
}

impl Golden {
    pub fn new(local: Local) -> Self {
        Self {
            local,
            regions: Regions::default(),
            qps: BTreeMap::new(),
        }
    }

    /// Creates a QP in RESET; one with the same index is replaced.
    pub fn create_qp(&mut self, attributes: Attributes) {
        self.qps.insert(index(attributes.qpn), Qp::new(attributes));
    }

    pub fn destroy_qp(&mut self, qpn: u32) {
        self.qps.remove(&index(qpn));
    }

    pub fn qp(&self, qpn: u32) -> Option<&Qp> {
        self.qps.get(&index(qpn))
    }

    pub fn qp_mut(&mut self, qpn: u32) -> Option<&mut Qp> {
        self.qps.get_mut(&index(qpn))
    }

    /// Moves a QP; going to ERR flushes its receives (R65). False: refused.
    pub fn modify(&mut self, qpn: u32, state: State, outcome: &mut Outcome) -> bool {
        let Some(qp) = self.qps.get_mut(&index(qpn)) else { return false };
        let done = qp.modify(state);
        if done && state == State::Err {
            flush(qp, outcome);
        }
        done
    }

    pub fn register(&mut self, region: Region) {
        self.regions.register(region);
    }

    /// Posts a receive; on a QP in ERR it completes with flush. Returns the WQE index.
    pub fn post_receive(&mut self, qpn: u32, address: u64, length: u32, lkey: u32, outcome: &mut Outcome) -> Option<u16> {
        let qp = self.qps.get_mut(&index(qpn))?;
        let number = qp.posted;
        qp.posted = qp.posted.wrapping_add(1);
        qp.receives.push_back(Receive {
            index: number,
            address,
            length,
            lkey,
        });
        if qp.state == State::Err {
            flush(qp, outcome);
        }
        Some(number)
    }

    /// Takes one frame from the wire.
    pub fn receive(&mut self, frame: &[u8], bad_fcs: bool, memory: &mut Memory) -> Outcome {
        let mut outcome = Outcome::default();
        let verdict = verdict(frame, bad_fcs, &self.local);
        outcome.rx = verdict.code();
        match verdict {
            Verdict::Roce { packet, gid_index, grh } => {
                let code = self.packet(&packet, gid_index, &grh, memory, &mut outcome);
                outcome.responder = Some(code);
            }
            Verdict::Host(_) => outcome.to_host = true,
            Verdict::Drop(_) => {}
        }
        outcome
    }

    /// R60, R61, R71, R72: which QP, and whether the packet may reach it. Returns the responder's counter.
    fn packet(&mut self, packet: &Packet, gid_index: usize, grh: &[u8; 40], memory: &mut Memory, outcome: &mut Outcome) -> u8 {
        let Some(info) = packet.info() else { return c::UNKNOWN_QP };
        let Some(qp) = self.qps.get_mut(&index(packet.qpn)) else {
            return c::UNKNOWN_QP;
        };
        let a = &qp.attributes;
        if a.qpn != packet.qpn || index(packet.qpn) == 0 || qp.state == State::Reset {
            return c::UNKNOWN_QP;
        }
        if !qp.receives_packets() {
            return c::QP_STATE;
        }
        if info.transport != a.service {
            return c::WRONG_TRANSPORT;
        }
        let member = (packet.pkey | a.pkey) & 0x8000 != 0;
        if (packet.pkey ^ a.pkey) & 0x7fff != 0 || !member {
            return c::BAD_PKEY;
        }
        if info.deth {
            if packet.deth.qkey != a.qkey {
                return c::BAD_QKEY;
            }
        } else if packet.source != a.peer_ip || gid_index != a.gid_index {
            return c::BAD_ADDRESS;
        }
        match info.operation {
            Operation::Acknowledge | Operation::ReadResponse | Operation::AtomicAcknowledge | Operation::Cnp => c::GHOST_ACK,
            _ => {
                let answer_from = self.local.gids.get(a.gid_index).copied().flatten();
                let mut request = request::Request {
                    packet,
                    info,
                    qp,
                    regions: &mut self.regions,
                    memory,
                    outcome,
                    answer: None,
                };
                let code = request.run(grh);
                if let (Some(answer), Some(source)) = (request.answer, answer_from) {
                    let answer = acknowledge(request.qp, answer, self.local.mac, source);
                    outcome.answers.push(answer);
                }
                code
            }
        }
    }
}

/// The table index of a QPN.
pub fn index(qpn: u32) -> u32 {
    qpn & ((1 << INDEX_BITS) - 1)
}

/// What an ACKNOWLEDGE says.
#[derive(Debug, Clone, Copy)]
struct Answer {
    syndrome: u8,
    psn: u32,
}

fn acknowledge(qp: &Qp, answer: Answer, mac: [u8; 6], source: IpAddr) -> Packet {
    let a = &qp.attributes;
    Packet {
        destination_mac: a.peer_mac,
        source_mac: mac,
        vlan: a.vlan,
        source,
        destination: a.peer_ip,
        traffic_class: a.traffic_class,
        hop_limit: a.hop_limit,
        udp_source: a.udp_source,
        opcode: 0x11,
        pkey: a.pkey,
        qpn: a.peer_qpn,
        psn: answer.psn,
        aeth: Aeth {
            syndrome: answer.syndrome,
            msn: qp.msn,
        },
        ..Packet::default()
    }
}

/// R65: every posted receive completes, one that a SEND had begun first.
fn flush(qp: &mut Qp, outcome: &mut Outcome) {
    if let Message::Send { receive, .. } = std::mem::replace(&mut qp.message, Message::Idle) {
        qp.receives.push_front(receive);
    }
    while let Some(receive) = qp.receives.pop_front() {
        outcome.completions.push(Completion {
            cq: qp.attributes.recv_cq,
            qpn: qp.attributes.qpn,
            opcode: verbena_spec::layout::completion_opcode::RECV,
            status: status::WR_FLUSH_ERROR,
            wqe_index: receive.index,
            ..Completion::default()
        });
    }
}
