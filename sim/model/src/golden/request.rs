// SPDX-License-Identifier: MIT OR Apache-2.0
//! One request packet at its QP: order, sequence, lengths, keys, placement, completion, answer.

use super::keys::{Access, Regions};
use super::qp::{Message, Qp, Receive, State};
use super::reorder::{Early, Reorder};
use super::{flush, Answer, Completion, Event, Outcome};
use crate::memory::Memory;
use crate::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::headers::{syndrome, transport, Opcode, Operation, Position};
use verbena_spec::layout::{completion_opcode, event_type, status};

/// Longest RDMA message, bytes (R50).
pub(super) const MAX_MESSAGE: u32 = 1 << 31;

const LOCAL: Access = Access {
    local_write: true,
    remote_write: false,
    remote_read: false,
    remote_atomic: false,
};
const REMOTE: Access = Access {
    local_write: false,
    remote_write: true,
    remote_read: false,
    remote_atomic: false,
};

pub(super) struct Request<'a> {
    pub packet: &'a Packet,
    pub info: &'static Opcode,
    pub qp: &'a mut Qp,
    pub regions: &'a mut Regions,
    pub memory: &'a mut Memory,
    pub outcome: &'a mut Outcome,
    pub answer: Option<Answer>,
    /// READ and ATOMIC are executed.
    pub read_atomic: bool,
    pub reorder: Reorder,
    /// Slots that are free in the reorder station's pool.
    pub free: usize,
    /// ns.
    pub now: u64,
}

/// Why an RC request is refused; UC drops the message instead.
pub(super) enum Refusal {
    /// A NAK that ends the QP, and the status of the receive that it consumed, if any.
    Nak(u8, Option<(Receive, u32)>),
    /// No receive WQE.
    NoReceive,
}

impl Request<'_> {
    /// Returns the responder's counter.
    pub fn run(&mut self, grh: &[u8; 40]) -> u8 {
        match self.qp.attributes.service {
            transport::RC => self.reliable(),
            transport::UC => self.unreliable(),
            _ => self.datagram(grh),
        }
    }

    fn reliable(&mut self) -> u8 {
        let ahead = self.packet.psn.wrapping_sub(self.qp.epsn) & 0xff_ffff;
        let read_or_atomic = !matches!(self.info.operation, Operation::Send | Operation::Write);
        // R21: signed, modulo 2^24.
        if ahead & 0x80_0000 != 0 {
            if !read_or_atomic {
                // R26: the PSN of the last completed SEND or WRITE; MSN as it stands.
                self.answer = Some(Answer {
                    syndrome: syndrome::ACK,
                    psn: self.qp.executed,
                });
            } else if self.read_atomic {
                self.duplicate_read_or_atomic();
            }
            return c::DUPLICATE;
        }
        if ahead != 0 {
            let held = self.qp.early.hold(self.reorder, self.free, self.qp.epsn, self.packet);
            self.qp.early.see_gap(self.now);
            let nak = self.gap(ahead);
            return match held {
                Early::Held => c::REORDER_HELD,
                Early::Again => c::REORDER_DUPLICATE,
                Early::Full => c::REORDER_FULL,
                Early::Beyond if nak => c::OUT_OF_SEQUENCE,
                Early::Beyond => c::OUT_OF_SEQUENCE_SILENT,
            };
        }
        self.qp.nak_sent = false;
        self.qp.early.moved();
        let result = match (read_or_atomic, self.read_atomic) {
            (true, true) => self.read_or_atomic(),
            (true, false) => Err(Refusal::Nak(syndrome::NAK_INVALID, None)),
            _ => self.execute(),
        };
        match result {
            // Its answer waits already.
            Ok(()) if read_or_atomic => c::ACCEPTED,
            Ok(()) => {
                self.qp.executed = self.packet.psn;
                self.qp.epsn = (self.qp.epsn + 1) & 0xff_ffff;
                if self.packet.ack_request {
                    self.answer = Some(Answer {
                        syndrome: syndrome::ACK,
                        psn: self.packet.psn,
                    });
                }
                c::ACCEPTED
            }
            Err(Refusal::NoReceive) => {
                // R46: silent until this PSN is retried.
                self.qp.nak_sent = true;
                self.answer = Some(Answer {
                    syndrome: syndrome::RNR | self.qp.attributes.rnr_timer,
                    psn: self.packet.psn,
                });
                c::RNR
            }
            Err(Refusal::Nak(code, receive)) => {
                self.answer = Some(Answer {
                    syndrome: code,
                    psn: self.packet.psn,
                });
                if let Some((receive, status)) = receive {
                    self.complete(receive, completion_opcode::RECV, status, 0);
                }
                self.fatal(code);
                c::NAKED
            }
        }
    }

    /// A packet `ahead` of ePSN came: R23, R24: one NAK, with ePSN, once the gap is a loss. Whether it was sent.
    fn gap(&mut self, ahead: u32) -> bool {
        let lost = self.reorder.window == 0 || self.qp.early.is_lost(ahead, &self.qp.attributes, self.now);
        if self.qp.nak_sent || !lost {
            return false;
        }
        self.qp.nak_sequence();
        true
    }

    fn unreliable(&mut self) -> u8 {
        // R73: an unexpected PSN only ends the message under way.
        if self.packet.psn != self.qp.epsn {
            self.break_message();
        }
        self.qp.epsn = (self.packet.psn + 1) & 0xff_ffff;
        if self.info.begins() {
            if self.qp.message != Message::Idle {
                self.break_message();
            }
            self.qp.message = Message::Idle;
        } else if matches!(self.qp.message, Message::Dropping | Message::Idle) {
            self.qp.message = Message::Dropping;
            return c::UC_DROPPED;
        }
        match self.execute() {
            Ok(()) => c::ACCEPTED,
            Err(refusal) => {
                let code = if matches!(refusal, Refusal::NoReceive) {
                    c::NO_RECEIVE
                } else {
                    c::UC_DROPPED
                };
                if let Refusal::Nak(_, Some((receive, status))) = refusal {
                    self.complete(receive, completion_opcode::RECV, status, 0);
                } else {
                    self.break_message();
                }
                self.qp.message = if self.info.ends() { Message::Idle } else { Message::Dropping };
                code
            }
        }
    }

    /// UC: a SEND under way gives its receive back to the head of the queue: the next message takes it.
    fn break_message(&mut self) {
        if let Message::Send { receive, .. } = self.qp.message {
            self.qp.receives.push_front(receive);
        }
        if self.qp.message != Message::Idle {
            self.qp.message = Message::Dropping;
        }
    }

    fn datagram(&mut self, grh: &[u8; 40]) -> u8 {
        let Some(&receive) = self.qp.receives.front() else {
            return c::NO_RECEIVE;
        };
        let length = grh.len() + self.packet.payload.len();
        let pd = self.qp.attributes.pd;
        if length > receive.length as usize || self.packet.payload.len() > self.qp.attributes.pmtu {
            return c::NO_RECEIVE;
        }
        let Some(region) = self.regions.check(receive.lkey, pd, LOCAL, receive.address, length as u64) else {
            return c::NO_RECEIVE;
        };
        region.write(self.memory, receive.address, grh);
        region.write(self.memory, receive.address + grh.len() as u64, &self.packet.payload);
        self.qp.receives.pop_front();
        self.complete(receive, completion_opcode::RECV, status::SUCCESS, length as u32);
        c::ACCEPTED
    }

    /// A SEND or WRITE in order.
    fn execute(&mut self) -> Result<(), Refusal> {
        let invalid = Err(Refusal::Nak(syndrome::NAK_INVALID, None));
        let write = self.info.operation == Operation::Write;
        // R57.
        let follows = match self.qp.message {
            Message::Idle | Message::Dropping => self.info.begins(),
            Message::Send { .. } => !self.info.begins() && !write,
            Message::Write { .. } => !self.info.begins() && write,
        };
        if !follows {
            return invalid;
        }
        // R49.
        let length = self.packet.payload.len();
        let pmtu = self.qp.attributes.pmtu;
        let fits = match self.info.position {
            Position::First | Position::Middle => length == pmtu,
            Position::Last => (1..=pmtu).contains(&length),
            Position::Only => length <= pmtu,
        };
        if !fits {
            return invalid;
        }
        if write {
            self.write()?;
        } else {
            self.send()?;
        }
        if self.info.ends() {
            self.qp.msn = (self.qp.msn + 1) & 0xff_ffff;
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), Refusal> {
        let refuse = |code| Err(Refusal::Nak(code, None));
        let a = &self.qp.attributes;
        // R53.
        if !a.remote_write {
            return refuse(syndrome::NAK_INVALID);
        }
        let (address, rkey, left, done) = match self.qp.message {
            Message::Write { address, rkey, left, done } => (address, rkey, left, done),
            _ => (self.packet.reth.virtual_address, self.packet.reth.rkey, self.packet.reth.length, 0),
        };
        let length = self.packet.payload.len() as u32;
        // R50.
        if left > MAX_MESSAGE || length > left || self.info.ends() != (length == left) {
            return refuse(syndrome::NAK_INVALID);
        }
        // R54: RNR before anything of the packet is written.
        let receive = if self.info.immediate {
            Some(*self.qp.receives.front().ok_or(Refusal::NoReceive)?)
        } else {
            None
        };
        // R52: the whole range at the first packet, the rest at each; R51: nothing for no bytes.
        if left != 0 {
            match self.regions.check(rkey, a.pd, REMOTE, address, u64::from(left)) {
                Some(region) => region.write(self.memory, address, &self.packet.payload),
                None => return refuse(syndrome::NAK_ACCESS),
            }
        }
        self.qp.message = if self.info.ends() {
            Message::Idle
        } else {
            Message::Write {
                address: address.wrapping_add(u64::from(length)),
                rkey,
                left: left - length,
                done: done + length,
            }
        };
        if let Some(receive) = receive {
            self.qp.receives.pop_front();
            self.complete(receive, completion_opcode::RECV_RDMA_WITH_IMM, status::SUCCESS, done + length);
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), Refusal> {
        let (receive, done) = match self.qp.message {
            Message::Send { receive, done } => (receive, done),
            _ => (self.qp.receives.pop_front().ok_or(Refusal::NoReceive)?, 0),
        };
        let length = self.packet.payload.len() as u32;
        // R56.
        if length > receive.length - done {
            return Err(Refusal::Nak(syndrome::NAK_INVALID, Some((receive, status::LOCAL_LENGTH_ERROR))));
        }
        if length != 0 {
            let at = receive.address.wrapping_add(u64::from(done));
            match self
                .regions
                .check(receive.lkey, self.qp.attributes.pd, LOCAL, at, u64::from(length))
            {
                Some(region) => region.write(self.memory, at, &self.packet.payload),
                None => {
                    return Err(Refusal::Nak(
                        syndrome::NAK_OPERATION,
                        Some((receive, status::LOCAL_PROTECTION_ERROR)),
                    ))
                }
            }
        }
        // R62: after the data.
        if self.info.ieth && !self.regions.invalidate(self.packet.invalidate_rkey, self.qp.attributes.pd) {
            return Err(Refusal::Nak(syndrome::NAK_ACCESS, Some((receive, status::LOCAL_ACCESS_ERROR))));
        }
        if self.info.ends() {
            self.qp.message = Message::Idle;
            self.complete(receive, completion_opcode::RECV, status::SUCCESS, done + length);
        } else {
            self.qp.message = Message::Send {
                receive,
                done: done + length,
            };
        }
        Ok(())
    }

    fn complete(&mut self, receive: Receive, opcode: u32, status: u32, byte_length: u32) {
        let good = status == status::SUCCESS;
        let a = &self.qp.attributes;
        self.outcome.completions.push(Completion {
            cq: a.recv_cq,
            qpn: a.qpn,
            opcode,
            status,
            with_imm: good && self.info.immediate,
            with_invalidate: good && self.info.ieth,
            grh: self.info.deth,
            solicited: self.packet.solicited,
            wqe_index: receive.index,
            byte_length,
            immediate: match (good, self.info.immediate, self.info.ieth) {
                (true, true, _) => self.packet.immediate,
                (true, _, true) => self.packet.invalidate_rkey,
                _ => 0,
            },
            source_qpn: if self.info.deth { self.packet.deth.source_qpn } else { 0 },
        });
    }

    /// The QP goes to ERR, flushed, with an event that names the NAK.
    fn fatal(&mut self, code: u8) {
        // A SEND under way ends its receive.
        if let Message::Send { receive, .. } = self.qp.message {
            if !self.outcome.completions.iter().any(|c| c.wqe_index == receive.index) {
                self.qp.receives.push_front(receive);
            }
        }
        self.qp.message = Message::Idle;
        self.qp.state = State::Err;
        self.outcome.events.push(Event {
            kind: event_type::QP_FATAL,
            number: self.qp.attributes.qpn,
            detail: u32::from(code),
        });
        flush(self.qp, self.outcome);
    }
}
