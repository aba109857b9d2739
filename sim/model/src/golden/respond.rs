// SPDX-License-Identifier: MIT OR Apache-2.0
//! READ and ATOMIC at the responder, and the queue of answers.
//!
//! A request that is executed or refused appends to the QP's answers; they leave in that order (R36), a READ's responses packet by packet.

use super::keys::{Access, Region};
use super::qp::{Message, Qp};
use super::request::{Refusal, Request, MAX_MESSAGE};
use super::send_queue::{after, distance};
use super::send_wqe::PSN_WINDOW;
use crate::memory::Memory;
use crate::packet::{Aeth, Packet};
use std::net::IpAddr;
use verbena_spec::headers::{syndrome, Operation};

const READ_FIRST: u8 = 0x0d;
const READ_MIDDLE: u8 = 0x0e;
const READ_LAST: u8 = 0x0f;
const READ_ONLY: u8 = 0x10;
const ACKNOWLEDGE: u8 = 0x11;
const ATOMIC_ACKNOWLEDGE: u8 = 0x12;
const CNP: u8 = 0x81;

/// What a duplicate READ or ATOMIC is answered from.
#[derive(Debug, Clone)]
pub enum Stored {
    Read {
        psn: u32,
        packets: u32,
        virtual_address: u64,
        rkey: u32,
        length: u32,
    },
    Atomic {
        psn: u32,
        original: u64,
    },
}

/// An answer that waits to be sent.
#[derive(Debug, Clone)]
pub enum Response {
    Acknowledge {
        syndrome: u8,
        psn: u32,
        msn: u32,
    },
    Read {
        /// `None` for no bytes (R51).
        region: Option<Region>,
        address: u64,
        left: u32,
        psn: u32,
        msn: u32,
        /// The next packet is its first.
        first: bool,
        duplicate: bool,
    },
    Atomic {
        psn: u32,
        msn: u32,
        original: u64,
        duplicate: bool,
    },
}

impl Response {
    /// Of the next packet.
    fn psn(&self) -> u32 {
        match self {
            Response::Acknowledge { psn, .. } | Response::Read { psn, .. } | Response::Atomic { psn, .. } => *psn,
        }
    }

    /// It holds one of the responder's resources: a duplicate uses the first one's.
    fn holds_resource(&self) -> bool {
        matches!(
            self,
            Response::Read { duplicate: false, .. } | Response::Atomic { duplicate: false, .. }
        )
    }
}

impl Response {
    /// First PSN behind a READ's responses.
    fn end(&self, pmtu: usize) -> Option<u32> {
        match self {
            Response::Read { psn, left, .. } => Some(after(*psn, read_packets(*left, pmtu))),
            _ => None,
        }
    }

    /// It will still bring what `other` brings.
    fn covers(&self, other: &Response, pmtu: usize) -> bool {
        match (self, other) {
            (Response::Atomic { psn, .. }, Response::Atomic { psn: other, .. }) => psn == other,
            (
                Response::Read { psn, left, .. },
                Response::Read {
                    psn: from, left: length, ..
                },
            ) => {
                let skipped = distance(*psn, *from);
                skipped + read_packets(*length, pmtu) <= read_packets(*left, pmtu) && skipped < PSN_WINDOW
            }
            _ => false,
        }
    }

    /// A READ goes on as `again` says; it keeps its place and its resource.
    fn restart(&mut self, again: Response) {
        if let (Response::Read { duplicate, .. }, Response::Read { .. }) = (&*self, &again) {
            let duplicate_before = *duplicate;
            *self = again;
            if let Response::Read { duplicate, .. } = self {
                *duplicate = duplicate_before;
            }
        }
    }
}

/// PSNs of a READ (R22).
fn read_packets(length: u32, pmtu: usize) -> u32 {
    length.div_ceil(pmtu as u32).max(1)
}

impl Request<'_> {
    /// A READ or ATOMIC in order.
    pub(super) fn read_or_atomic(&mut self) -> Result<(), Refusal> {
        let refuse = |code| Err(Refusal::Nak(code, None));
        let a = &self.qp.attributes;
        let read = self.info.operation == Operation::ReadRequest;
        // R57: not inside a message. R53. R49: it carries nothing.
        let allowed = if read { a.remote_read } else { a.remote_atomic };
        if self.qp.message != Message::Idle || !allowed || !self.packet.payload.is_empty() {
            return refuse(syndrome::NAK_INVALID);
        }
        // R59: those that aren't answered to the end yet hold the resources.
        let waiting = self.qp.responses.iter().filter(|r| r.holds_resource()).count();
        if waiting >= usize::from(a.max_dest_rd_atomic) {
            return refuse(syndrome::NAK_INVALID);
        }
        let (response, stored, packets) = if read { self.read()? } else { self.atomic()? };
        self.qp.msn = after(self.qp.msn, 1);
        self.qp.epsn = after(self.qp.epsn, packets);
        self.qp.stored.push_back(stored);
        while self.qp.stored.len() > usize::from(self.qp.attributes.max_dest_rd_atomic) {
            self.qp.stored.pop_front();
        }
        self.qp.responses.push_back(response);
        Ok(())
    }

    fn read(&self) -> Result<(Response, Stored, u32), Refusal> {
        let reth = self.packet.reth;
        let packets = read_packets(reth.length, self.qp.attributes.pmtu);
        // R50, R75.
        if reth.length > MAX_MESSAGE || packets >= PSN_WINDOW {
            return Err(Refusal::Nak(syndrome::NAK_INVALID, None));
        }
        let region = self.source(reth.rkey, reth.virtual_address, reth.length)?;
        let stored = Stored::Read {
            psn: self.packet.psn,
            packets,
            virtual_address: reth.virtual_address,
            rkey: reth.rkey,
            length: reth.length,
        };
        let response = self.read_response(region, after(self.qp.msn, 1), false);
        Ok((response, stored, packets))
    }

    /// R52: the region of a READ; R51: none for no bytes.
    fn source(&self, rkey: u32, address: u64, length: u32) -> Result<Option<Region>, Refusal> {
        let need = Access {
            remote_read: true,
            ..Access::default()
        };
        if length == 0 {
            return Ok(None);
        }
        match self.regions.check(rkey, self.qp.attributes.pd, need, address, u64::from(length)) {
            Some(region) => Ok(Some(region.clone())),
            None => Err(Refusal::Nak(syndrome::NAK_ACCESS, None)),
        }
    }

    fn read_response(&self, region: Option<Region>, msn: u32, duplicate: bool) -> Response {
        Response::Read {
            region,
            address: self.packet.reth.virtual_address,
            left: self.packet.reth.length,
            psn: self.packet.psn,
            msn,
            first: true,
            duplicate,
        }
    }

    fn atomic(&mut self) -> Result<(Response, Stored, u32), Refusal> {
        let e = self.packet.atomic_eth;
        // R58.
        if !e.virtual_address.is_multiple_of(8) {
            return Err(Refusal::Nak(syndrome::NAK_INVALID, None));
        }
        let need = Access {
            remote_atomic: true,
            ..Access::default()
        };
        let region = self.regions.check(e.rkey, self.qp.attributes.pd, need, e.virtual_address, 8);
        let region = region.ok_or(Refusal::Nak(syndrome::NAK_ACCESS, None))?;
        // Little-endian in memory.
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&region.read(self.memory, e.virtual_address, 8));
        let original = u64::from_le_bytes(bytes);
        let new = match self.info.operation {
            Operation::FetchAdd => original.wrapping_add(e.swap_or_add),
            _ if original == e.compare => e.swap_or_add,
            _ => original,
        };
        region.write(self.memory, e.virtual_address, &new.to_le_bytes());
        let psn = self.packet.psn;
        let response = Response::Atomic {
            psn,
            msn: after(self.qp.msn, 1),
            original,
            duplicate: false,
        };
        Ok((response, Stored::Atomic { psn, original }, 1))
    }

    /// R27, R28, R29: a READ or ATOMIC that was executed before. What isn't known, or doesn't equal what is, is dropped.
    pub(super) fn duplicate_read_or_atomic(&mut self) {
        let pmtu = self.qp.attributes.pmtu;
        let (packet, msn) = (self.packet, self.qp.msn);
        let read = self.info.operation == Operation::ReadRequest;
        let response = self.qp.stored.iter().rev().find_map(|stored| match stored {
            Stored::Atomic { psn, original } if !read && *psn == packet.psn => Some(Response::Atomic {
                psn: *psn,
                msn,
                original: *original,
                duplicate: true,
            }),
            Stored::Read {
                psn,
                packets,
                virtual_address,
                rkey,
                length,
            } if read => {
                // The same, or a part of it that begins at a packet's border.
                let reth = packet.reth;
                let ahead = distance(*psn, packet.psn);
                let skipped = u64::from(ahead) * pmtu as u64;
                let inside = ahead < *packets
                    && reth.rkey == *rkey
                    && reth.virtual_address == virtual_address.wrapping_add(skipped)
                    && skipped + u64::from(reth.length) <= u64::from(*length)
                    && (reth.length != 0 || *length == 0);
                let region = self.source(reth.rkey, reth.virtual_address, reth.length).ok()?;
                inside.then(|| self.read_response(region, msn, true))
            }
            _ => None,
        });
        let Some(response) = response else { return };
        // Where the first one is still being sent to the same end, it goes on from here: the requester wants nothing else of it, and a
        // second copy behind it would make each loss cost the whole READ (R33).
        let waiting = &mut self.qp.responses;
        if let Some(same_end) = waiting
            .iter_mut()
            .find(|w| w.end(pmtu).is_some() && w.end(pmtu) == response.end(pmtu))
        {
            same_end.restart(response);
        } else if !waiting.iter().any(|w| w.covers(&response, pmtu)) {
            // In the order of PSNs, before what is new: else one that is asked for again and again would keep it waiting for ever, and what
            // the requester holds would wait for it.
            let later = |w: &Response| distance(response.psn(), w.psn()).wrapping_sub(1) < PSN_WINDOW;
            let place = waiting.iter().position(later).unwrap_or(waiting.len());
            waiting.insert(place, response);
        }
    }
}

/// The next packet of the QP's answers.
pub(super) fn next_packet(qp: &mut Qp, memory: &Memory, mac: [u8; 6], source: IpAddr) -> Option<Packet> {
    let template = connected(qp, mac, source);
    let pmtu = qp.attributes.pmtu as u32;
    let response = qp.responses.front_mut()?;
    let (packet, done) = match response {
        Response::Acknowledge { syndrome, psn, msn } => {
            let aeth = Aeth {
                syndrome: *syndrome,
                msn: *msn,
            };
            let packet = Packet {
                opcode: ACKNOWLEDGE,
                psn: *psn,
                aeth,
                ..template
            };
            (packet, true)
        }
        Response::Atomic { psn, msn, original, .. } => {
            let aeth = Aeth {
                syndrome: syndrome::ACK,
                msn: *msn,
            };
            let packet = Packet {
                opcode: ATOMIC_ACKNOWLEDGE,
                psn: *psn,
                aeth,
                atomic_original: *original,
                ..template
            };
            (packet, true)
        }
        Response::Read {
            region,
            address,
            left,
            psn,
            msn,
            first,
            ..
        } => {
            let count = (*left).min(pmtu);
            let last = *left <= pmtu;
            let opcode = match (*first, last) {
                (true, true) => READ_ONLY,
                (true, false) => READ_FIRST,
                (false, false) => READ_MIDDLE,
                (false, true) => READ_LAST,
            };
            // MIDDLE has no AETH.
            let aeth = if opcode == READ_MIDDLE {
                Aeth::default()
            } else {
                Aeth {
                    syndrome: syndrome::ACK,
                    msn: *msn,
                }
            };
            let payload = region.as_ref().map_or(vec![], |r| r.read(memory, *address, count as usize));
            let packet = Packet {
                opcode,
                psn: *psn,
                aeth,
                payload,
                ..template
            };
            *address = address.wrapping_add(u64::from(count));
            *left -= count;
            *psn = after(*psn, 1);
            *first = false;
            (packet, last)
        }
    };
    if done {
        qp.responses.pop_front();
    }
    Some(packet)
}

/// R76: a congestion notification for the QP's peer.
pub(super) fn notification(qp: &Qp, mac: [u8; 6], source: IpAddr) -> Packet {
    Packet {
        opcode: CNP,
        becn: true,
        ..connected(qp, mac, source)
    }
}

/// A packet to the QP's peer, to be filled in.
pub(super) fn connected(qp: &Qp, mac: [u8; 6], source: IpAddr) -> Packet {
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
        pkey: a.pkey,
        qpn: a.peer_qpn,
        ..Packet::default()
    }
}
