// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester, forward: from the send ring to packets. One call, one packet.

use super::congestion::Congestion;
use super::keys::{Access, Regions};
use super::qp::{Attributes, Qp, State};
use super::reorder::Reorder;
use super::respond::connected;
use super::send_queue::{ack_timeout, after, distance, Record, Resend};
use super::send_wqe::{SendWqe, PSN_WINDOW};
use super::{Features, Outcome};
use crate::memory::Memory;
use crate::packet::{AtomicEth, Deth, Packet, Reth};
use crate::parse::Local;
use verbena_spec::counters::{self as c, COUNTER_FILE};
use verbena_spec::headers::transport;
use verbena_spec::layout::{send_opcode, sq_wqe as f, status, SELECTIVE_WINDOW, SQ_WQE_BYTES};

/// Messages of a QP that the engine has outstanding at most.
pub const OUTSTANDING_MESSAGES: usize = 8;

/// A QP's send half at work.
pub(super) struct Requester<'a> {
    pub qp: &'a mut Qp,
    pub regions: &'a Regions,
    pub memory: &'a mut Memory,
    pub outcome: &'a mut Outcome,
    pub counters: &'a mut [u32; COUNTER_FILE],
    pub features: Features,
    pub outstanding_messages: usize,
    pub reorder: Reorder,
    pub congestion: &'a Congestion,
    /// Slots that are free in the reorder station's pool.
    pub free: usize,
    /// ns.
    pub now: u64,
}

/// R74: packets after which an ACK is asked for inside a message. With selective repeat often enough that a packet which 32 others overtake
/// at 10 Gb/s doesn't look like a loss to a timer of 33 us.
fn ack_every(a: &Attributes) -> u32 {
    match a.pmtu {
        _ if a.selective_repeat => 4,
        256 => 64,
        _ => 16,
    }
}

impl Requester<'_> {
    /// The WQE from the ring.
    pub(super) fn fetch(&self, index: u16) -> SendWqe {
        let a = &self.qp.attributes;
        let slot = u64::from(index) & ((1 << a.sq_log) - 1);
        let bytes = self.memory.read(a.sq_base.wrapping_add(slot * SQ_WQE_BYTES as u64), SQ_WQE_BYTES);
        let mut wqe = SendWqe([0; SQ_WQE_BYTES / 4]);
        for (word, bytes) in wqe.0.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        wqe
    }

    /// The QP's next request packet. `None`: nothing to send, or it must wait.
    pub fn turn(&mut self, local: &Local) -> Option<Packet> {
        if !self.qp.send.limiter.is_free(self.now) {
            return None;
        }
        let packet = self.next(local);
        if let Some(packet) = &packet {
            self.qp.send.limiter.sent(packet.payload.len(), self.congestion, self.now);
        }
        packet
    }

    fn next(&mut self, local: &Local) -> Option<Packet> {
        let sq = &self.qp.send;
        if !self.qp.sends_packets() || sq.rnr_deadline.is_some() {
            return None;
        }
        if let Some(resend) = self.qp.send.resend.take() {
            if let Some(packet) = self.alone(resend, local) {
                return Some(packet);
            }
            if !self.qp.sends_packets() {
                return None;
            }
        }
        let sq = &self.qp.send;
        if sq.next == sq.producer || self.window_is_full() {
            return None;
        }
        let index = sq.next;
        let fresh = index == sq.begun;
        if fresh && self.qp.state == State::Sqd {
            return None;
        }
        let pmtu = self.qp.attributes.pmtu;
        // R66: once in an attempt.
        let wqe = match self.qp.send.fetched {
            Some(wqe) => wqe,
            None => *self.qp.send.fetched.insert(self.fetch(index)),
        };
        if fresh {
            if let Err(status) = wqe.check(&self.qp.attributes, self.features.read_atomic) {
                return self.refuse(status);
            }
            if self.must_wait(&wqe) {
                return None;
            }
        } else if !self.qp.send.record(index).is_some_and(|r| r.matches(&wqe, pmtu)) {
            return self.refuse(status::LOCAL_QP_OPERATION_ERROR);
        }
        let sq = &self.qp.send;
        let first_psn = sq.record(index).map_or(sq.next_psn, |r| r.first_psn);
        let (psn, number) = (sq.next_psn, distance(first_psn, sq.next_psn));
        let Some(packet) = self.packet(&wqe, psn, number, local) else {
            return self.refuse(status::LOCAL_PROTECTION_ERROR);
        };
        self.sent(&wqe, index, number, fresh);
        if packet.ack_request {
            self.arm();
        }
        Some(packet)
    }

    /// Selective repeat: the peer couldn't hold the next new packet.
    fn window_is_full(&self) -> bool {
        let (a, sq) = (&self.qp.attributes, &self.qp.send);
        let window = if a.selective_window == 0 {
            SELECTIVE_WINDOW
        } else {
            u32::from(a.selective_window)
        };
        a.selective_repeat && a.service == transport::RC && sq.next_psn == sq.highest && sq.outstanding() >= window
    }

    /// One packet of what is outstanding, or a request for one hole in a READ's responses; the queue then goes on where it was.
    fn alone(&mut self, resend: Resend, local: &Local) -> Option<Packet> {
        let sq = &self.qp.send;
        let inside = |r: &Record| distance(r.first_psn, resend.psn) < r.packets;
        let place = sq.records.iter().position(inside)?;
        let (index, record) = (sq.oldest.wrapping_add(place as u16), sq.records[place]);
        // R66: fetched again, checked again.
        let wqe = self.fetch(index);
        let number = distance(record.first_psn, resend.psn);
        let matches = record.matches(&wqe, self.qp.attributes.pmtu);
        let packet = self.packet(&wqe, resend.psn, number, local).filter(|_| matches);
        let Some(mut packet) = packet else {
            // It ends once it is the oldest, as in a replay.
            if place == 0 {
                let status = if matches {
                    status::LOCAL_PROTECTION_ERROR
                } else {
                    status::LOCAL_QP_OPERATION_ERROR
                };
                self.fail(status, status);
            }
            return None;
        };
        if wqe.is_read() {
            let packets = resend.packets.min(record.packets - number);
            packet.reth.length = packet.reth.length.min(packets.saturating_mul(self.qp.attributes.pmtu as u32));
            let record = &mut self.qp.send.records[place];
            record.restarted |= number != 0;
            record.cut |= number + packets != record.packets;
        }
        self.counters[usize::from(c::SELECTIVE_RESEND)] += 1;
        // Once for each PSN that a NAK names, so a peer that NAKs for ever still ends by R48.
        self.start_ack_timer();
        Some(packet)
    }

    /// A WQE that isn't begun: fence, limits (R59, R75).
    fn must_wait(&self, wqe: &SendWqe) -> bool {
        let (a, sq) = (&self.qp.attributes, &self.qp.send);
        let answered = sq.answered_outstanding();
        sq.records.len() >= self.outstanding_messages
            || wqe.get(&f::FENCE) == 1 && answered > 0
            || (wqe.is_read() || wqe.is_atomic()) && answered >= usize::from(a.max_rd_atomic)
            || sq.outstanding() + wqe.packets(a.pmtu) >= PSN_WINDOW
    }

    /// Moves on by the packet that was built.
    fn sent(&mut self, wqe: &SendWqe, index: u16, number: u32, fresh: bool) {
        let a = &self.qp.attributes;
        let packets = wqe.packets(a.pmtu);
        let sq = &mut self.qp.send;
        if fresh {
            sq.records.push_back(Record {
                first_psn: sq.next_psn,
                packets,
                opcode: wqe.opcode(),
                signaled: wqe.get(&f::SIGNALED) == 1,
                length: wqe.length(),
                restarted: false,
                cut: false,
            });
            sq.begun = sq.begun.wrapping_add(1);
        }
        // A READ request takes the PSNs of all responses that it asks for.
        let step = if wqe.is_read() { packets - number } else { 1 };
        sq.next_psn = after(sq.next_psn, step);
        if distance(sq.highest, sq.next_psn) < PSN_WINDOW {
            sq.highest = sq.next_psn;
        }
        if number + step == packets {
            sq.next = index.wrapping_add(1);
            sq.fetched = None;
            if a.service != transport::RC {
                self.complete_oldest(status::SUCCESS);
                self.qp.send.oldest_psn = self.qp.send.next_psn;
            }
        }
    }

    /// A packet that wants an answer is out.
    fn arm(&mut self) {
        if self.qp.send.ack_deadline.is_none() {
            self.qp.send.ack_deadline = ack_timeout(self.qp.attributes.timeout).map(|t| self.now + t);
        }
    }

    /// The WQE can't be sent: it ends, once it is the oldest.
    fn refuse(&mut self, status: u32) -> Option<Packet> {
        if self.qp.send.next == self.qp.send.oldest {
            self.fail(status, status);
        } else {
            // Looked at again at the next turn.
            self.qp.send.fetched = None;
        }
        None
    }

    /// Packet `number` of the message, with its PSN; `None` where its payload mustn't be read.
    fn packet(&self, wqe: &SendWqe, psn: u32, number: u32, local: &Local) -> Option<Packet> {
        let a = &self.qp.attributes;
        let packets = wqe.packets(a.pmtu);
        let (first, last) = (number == 0, number + 1 == packets);
        let offset = number * a.pmtu as u32;
        let rest = wqe.length() - offset.min(wqe.length());
        let datagram = a.service == transport::UD;
        let to = wqe.to_datagram();
        let gid = if datagram { to.gid_index } else { a.gid_index };
        // Without a GID of ours there is no source address: the address is as unusable as a key.
        let source = local.gids.get(gid).copied().flatten()?;
        let mut packet = connected(self.qp, local.mac, source);
        if datagram {
            packet.destination_mac = to.mac;
            packet.destination = to.ip;
            packet.vlan = to.vlan;
            packet.traffic_class = to.traffic_class;
            packet.hop_limit = to.hop_limit;
            packet.udp_source = to.udp_source;
            packet.qpn = to.qpn;
            packet.deth = Deth {
                qkey: to.qkey,
                source_qpn: a.qpn,
            };
        }
        packet.psn = psn;
        packet.reth = Reth {
            virtual_address: wqe.remote_address(),
            rkey: wqe.get(&f::RKEY),
            length: wqe.length(),
        };
        if wqe.is_read() {
            // R31: the rest.
            packet.opcode = 0x0c;
            packet.reth.virtual_address = packet.reth.virtual_address.wrapping_add(u64::from(offset));
            packet.reth.length = rest;
            packet.ack_request = true;
            return Some(packet);
        }
        if wqe.is_atomic() {
            let (swap_or_add, compare) = wqe.atomic_operands();
            let fetch_add = wqe.opcode() == send_opcode::FETCH_ADD;
            packet.opcode = if fetch_add { 0x14 } else { 0x13 };
            packet.atomic_eth = AtomicEth {
                virtual_address: wqe.remote_address(),
                rkey: wqe.get(&f::RKEY),
                swap_or_add,
                compare: if fetch_add { 0 } else { compare },
            };
            packet.ack_request = true;
            return Some(packet);
        }
        packet.payload = self.payload(wqe, offset, rest.min(a.pmtu as u32))?;
        packet.opcode = a.service << 5 | opcode(wqe, first, last);
        packet.immediate = wqe.get(&f::IMMEDIATE);
        packet.invalidate_rkey = wqe.get(&f::IMMEDIATE);
        packet.solicited = last && !matches!(wqe.opcode(), send_opcode::WRITE) && wqe.get(&f::SOLICITED) == 1;
        packet.ack_request = a.service == transport::RC && (last || (number + 1).is_multiple_of(ack_every(a)));
        Some(packet)
    }

    fn payload(&self, wqe: &SendWqe, offset: u32, length: u32) -> Option<Vec<u8>> {
        if wqe.is_inline() {
            return Some(wqe.inline_bytes());
        }
        let mut payload = vec![];
        for piece in wqe.pieces(offset, length) {
            let pd = self.qp.attributes.pd;
            let region = self
                .regions
                .check(piece.lkey, pd, Access::default(), piece.address, u64::from(piece.length))?;
            payload.extend(region.read(self.memory, piece.address, piece.length as usize));
        }
        Some(payload)
    }
}

/// The opcode of a SEND or WRITE packet, without its transport.
fn opcode(wqe: &SendWqe, first: bool, last: bool) -> u8 {
    let position = match (first, last) {
        (true, false) => 0,
        (false, false) => 1,
        (false, true) => 2,
        (true, true) => 4,
    };
    match (wqe.opcode(), last) {
        (send_opcode::SEND_WITH_IMM, true) => position + 1,
        (send_opcode::SEND_WITH_INVALIDATE, true) => {
            if first {
                0x17
            } else {
                0x16
            }
        }
        (send_opcode::WRITE_WITH_IMM, true) => 0x06 + position + 1,
        _ if wqe.is_write() => 0x06 + position,
        _ => position,
    }
}
