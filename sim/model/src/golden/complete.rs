// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester, backward: ACKs, NAKs, responses and timers complete messages or send the queue back.

use super::keys::Access;
use super::qp::State;
use super::reorder::Early;
use super::send::Requester;
use super::send_queue::{ack_timeout, after, distance, rnr_timer, Record, Resend};
use super::send_wqe::{completion_of, PSN_WINDOW};
use super::{flush, Completion, Event};
use crate::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::headers::{syndrome, Opcode, Operation, Position};
use verbena_spec::layout::{event_type, send_opcode, status};

/// For ever (R44).
const RNR_FOR_EVER: u8 = 7;

/// Not a NAK or RNR NAK.
fn is_positive(packet: &Packet) -> bool {
    packet.aeth.syndrome & 0xe0 == 0
}

/// First PSN that an ACKNOWLEDGE doesn't acknowledge: an ACK covers its own, a NAK what is before (R25).
fn bound(packet: &Packet) -> u32 {
    after(packet.psn, u32::from(is_positive(packet)))
}

impl Requester<'_> {
    /// An ACK or response at its QP; the counter's code.
    pub fn response(&mut self, packet: &Packet, info: &Opcode) -> u8 {
        let sq = &self.qp.send;
        if !self.qp.sends_packets() || distance(sq.oldest_psn, packet.psn) >= sq.outstanding() {
            return c::GHOST_ACK;
        }
        let code = match info.operation {
            Operation::Acknowledge => self.acknowledge(packet),
            _ => self.data(packet, info),
        };
        self.drain();
        self.report_drained();
        code
    }

    /// Early responses and the ACK or NAK that waits have their turn as far as nothing is missing before them.
    fn drain(&mut self) {
        while self.qp.sends_packets() {
            let sq = &mut self.qp.send;
            let passed = sq.early.release_passed(sq.oldest_psn);
            self.qp.released += passed;
            let sq = &self.qp.send;
            let Some(psn) = sq.early.first(sq.oldest_psn) else { break };
            if self.acknowledge_before(psn) {
                break;
            }
            let Some(packet) = self.qp.send.early.take(psn) else { break };
            let Some(info) = packet.info() else { break };
            self.data(&packet, info);
            self.outcome.drained.push(c::RESPONSE);
        }
        if !self.qp.sends_packets() {
            return;
        }
        if let Some(packet) = self.qp.send.waiting.take() {
            if distance(self.qp.send.oldest_psn, bound(&packet)) <= self.qp.send.outstanding() {
                self.acknowledge(&packet);
            }
        }
        let sq = &self.qp.send;
        if let Some((_, last)) = sq.early.span(sq.oldest_psn) {
            self.gap(last);
        }
    }

    /// R34: a response or ACK `ahead` PSNs after a missing response has come.
    fn gap(&mut self, ahead: u32) {
        self.qp.send.early.see_gap(self.now);
        if self.reorder.window == 0 || self.qp.send.early.is_lost(ahead, &self.qp.attributes, self.now) {
            self.implied_nak();
        }
    }

    /// A response whose turn hasn't come.
    fn hold(&mut self, packet: &Packet) -> u8 {
        let sq = &mut self.qp.send;
        let ahead = distance(sq.oldest_psn, packet.psn);
        let code = match sq.early.hold(self.reorder, self.free, sq.oldest_psn, packet) {
            Early::Held => c::REORDER_HELD,
            Early::Again => c::REORDER_DUPLICATE,
            Early::Full => c::REORDER_FULL,
            Early::Beyond => c::RESPONSE,
        };
        self.gap(ahead);
        code
    }

    fn acknowledge(&mut self, packet: &Packet) -> u8 {
        let (code, psn) = (packet.aeth.syndrome, packet.psn);
        let positive = is_positive(packet);
        if self.acknowledge_before(bound(packet)) {
            let sq = &mut self.qp.send;
            let ahead = distance(sq.oldest_psn, psn).max(1);
            if self.reorder.window != 0 {
                // The newest one says all that the others say; at the same bound a NAK says more than an ACK.
                let rank = |p: &Packet| (distance(sq.oldest_psn, bound(p)), !is_positive(p));
                if sq.waiting.as_ref().is_none_or(|w| rank(packet) >= rank(w)) {
                    sq.waiting = Some(packet.clone());
                }
            }
            self.gap(ahead);
            return c::RESPONSE;
        }
        match code {
            _ if positive => {}
            syndrome::NAK_SEQUENCE => self.sequence_nak(psn),
            _ if code & 0xe0 == syndrome::RNR => self.rnr_nak(psn, code & 31),
            syndrome::NAK_INVALID => self.fail(status::REMOTE_INVALID_REQUEST_ERROR, u32::from(code)),
            syndrome::NAK_ACCESS => self.fail(status::REMOTE_ACCESS_ERROR, u32::from(code)),
            syndrome::NAK_OPERATION => self.fail(status::REMOTE_OPERATION_ERROR, u32::from(code)),
            _ => self.bad_response(),
        }
        c::RESPONSE
    }

    /// Everything before `bound` is acknowledged, up to a READ or ATOMIC that misses responses: then true (R34).
    fn acknowledge_before(&mut self, bound: u32) -> bool {
        while self.qp.send.oldest_psn != bound {
            let sq = &self.qp.send;
            let Some(record) = sq.records.front().copied() else { return false };
            if record.is_answered() {
                return true;
            }
            let whole = distance(sq.oldest_psn, record.end()) <= distance(sq.oldest_psn, bound);
            self.qp.send.oldest_psn = if whole { record.end() } else { bound };
            if whole {
                self.complete_oldest(status::SUCCESS);
            }
            self.progress();
        }
        false
    }

    /// Something was acknowledged: counts and timer begin anew (R44).
    fn progress(&mut self) {
        let a = &self.qp.attributes;
        let timeout = ack_timeout(a.timeout).map(|t| self.now + t);
        let sq = &mut self.qp.send;
        sq.retries = a.retry_count;
        sq.rnr_retries = a.rnr_retry;
        sq.implied = false;
        sq.early.moved();
        // What was being resent has arrived meanwhile.
        let behind = distance(sq.next_psn, sq.oldest_psn);
        if behind != 0 && behind < PSN_WINDOW {
            sq.seek(sq.oldest_psn);
            sq.rnr_deadline = None;
        }
        let oldest = sq.oldest_psn;
        sq.resend = sq.resend.filter(|r| distance(r.psn, oldest).wrapping_sub(1) >= PSN_WINDOW);
        let waiting = sq.outstanding() != 0 && sq.rnr_deadline.is_none();
        sq.ack_deadline = timeout.filter(|_| waiting);
    }

    /// Back to `psn`; false if the queue was about to send it anyway.
    fn rewind(&mut self, psn: u32) -> bool {
        if self.qp.send.next_psn == psn {
            return false;
        }
        self.counters[usize::from(c::REWIND)] += 1;
        self.qp.send.answered = None;
        let sq = &mut self.qp.send;
        (sq.resend, sq.resent, sq.asked) = (None, None, None);
        // What it asks for is sent again anyway; one that says why the peer's QP ended stays.
        let stays = |p: &Packet| p.aeth.syndrome != syndrome::NAK_SEQUENCE && p.aeth.syndrome & 0xe0 != syndrome::RNR;
        self.qp.send.waiting = self.qp.send.waiting.take().filter(stays);
        self.qp.send.seek(psn);
        // Without progress the timer runs on: a peer that NAKs for ever ends by R48.
        if self.qp.send.ack_deadline.is_none() {
            self.start_ack_timer();
        }
        true
    }

    pub(super) fn start_ack_timer(&mut self) {
        self.qp.send.ack_deadline = ack_timeout(self.qp.attributes.timeout).map(|t| self.now + t);
    }

    /// R34: a later PSN was answered while responses are missing. Asked for again once, then the timer must help.
    fn implied_nak(&mut self) {
        if self.qp.send.implied || self.qp.send.rnr_deadline.is_some() {
            return;
        }
        self.qp.send.implied = true;
        if self.qp.attributes.selective_repeat {
            return self.ask_for_hole();
        }
        if self.rewind(self.qp.send.oldest_psn) {
            self.counters[usize::from(c::IMPLIED_NAK)] += 1;
        }
    }

    /// Selective repeat: the responses up to the first that is held.
    fn ask_for_hole(&mut self) {
        let sq = &mut self.qp.send;
        let (psn, Some(record)) = (sq.oldest_psn, sq.records.front()) else {
            return;
        };
        // It is about to be asked for anyway, or was and comes.
        let asked = sq.asked.is_some_and(|end| distance(psn, end).wrapping_sub(1) < PSN_WINDOW);
        if sq.next_psn == psn || asked {
            return;
        }
        let rest = distance(psn, record.end());
        let packets = sq.early.span(psn).map_or(rest, |(first, _)| first.min(rest));
        sq.answered = None;
        sq.resend = Some(Resend { psn, packets });
        sq.asked = Some(after(psn, packets));
        self.counters[usize::from(c::IMPLIED_NAK)] += 1;
    }

    /// R25. During an RNR wait the queue is back there already (R46). It costs no retry (R48 counts timeouts): Soft-RoCE follows each RNR NAK with one.
    ///
    /// With selective repeat only that packet is sent again. If the next NAK names the packet after it, the peer held nothing: back there.
    fn sequence_nak(&mut self, psn: u32) {
        if self.qp.attributes.selective_repeat && self.qp.send.rnr_deadline.is_none() {
            let sq = &mut self.qp.send;
            if sq.resent == Some(psn) {
                return;
            }
            if sq.resent.map(|resent| after(resent, 1)) != Some(psn) {
                sq.resent = Some(psn);
                sq.resend = Some(Resend { psn, packets: PSN_WINDOW });
                // A replay under way ends: what of it is missing will be NAKed.
                if sq.next_psn != sq.highest {
                    sq.seek(sq.highest);
                }
                return;
            }
        }
        self.rewind(psn);
    }

    /// R43 to R46.
    fn rnr_nak(&mut self, psn: u32, code: u8) {
        // A second one in the same wait says nothing new.
        if self.qp.send.rnr_deadline.is_some() {
            return;
        }
        if self.qp.attributes.rnr_retry != RNR_FOR_EVER {
            if self.qp.send.rnr_retries == 0 {
                return self.fail(status::RNR_RETRY_EXCEEDED, status::RNR_RETRY_EXCEEDED);
            }
            self.qp.send.rnr_retries -= 1;
        }
        self.counters[usize::from(c::RNR_WAIT)] += 1;
        self.rewind(psn);
        // R45: the ACK timer stands still meanwhile.
        self.qp.send.ack_deadline = None;
        self.qp.send.rnr_deadline = Some(self.now + rnr_timer(code));
    }

    /// R40.
    fn bad_response(&mut self) {
        self.counters[usize::from(c::BAD_RESPONSE)] += 1;
        self.fail(status::BAD_RESPONSE_ERROR, status::BAD_RESPONSE_ERROR);
    }

    /// A READ response or ATOMIC acknowledge.
    fn data(&mut self, packet: &Packet, info: &Opcode) -> u8 {
        // R35: what is before it is acknowledged.
        if self.acknowledge_before(packet.psn) {
            return self.hold(packet);
        }
        self.place(packet, info);
        c::RESPONSE
    }

    /// One whose turn it is.
    fn place(&mut self, packet: &Packet, info: &Opcode) {
        let Some(record) = self.qp.send.records.front().copied() else {
            return;
        };
        let fits = match info.operation {
            Operation::ReadResponse => self.read_fits(&record, packet, info),
            _ => record.is_answered() && record.opcode != send_opcode::READ,
        };
        if !fits {
            return self.bad_response();
        }
        // R66: once in an attempt.
        let wqe = match self.qp.send.answered {
            Some(wqe) => wqe,
            None => *self.qp.send.answered.insert(self.fetch(self.qp.send.oldest)),
        };
        if !record.matches(&wqe, self.qp.attributes.pmtu) {
            return self.fail(status::LOCAL_QP_OPERATION_ERROR, status::LOCAL_QP_OPERATION_ERROR);
        }
        let number = distance(record.first_psn, packet.psn);
        let offset = number * self.qp.attributes.pmtu as u32;
        let result = packet.atomic_original.to_le_bytes();
        let bytes: &[u8] = if wqe.is_atomic() { &result } else { &packet.payload };
        let mut done = 0;
        for piece in wqe.pieces(offset, bytes.len() as u32) {
            let need = Access {
                local_write: true,
                ..Access::default()
            };
            let (pd, length) = (self.qp.attributes.pd, piece.length as usize);
            let Some(region) = self.regions.check(piece.lkey, pd, need, piece.address, u64::from(piece.length)) else {
                return self.fail(status::LOCAL_PROTECTION_ERROR, status::LOCAL_PROTECTION_ERROR);
            };
            region.write(self.memory, piece.address, &bytes[done..done + length]);
            done += length;
        }
        self.qp.send.oldest_psn = after(packet.psn, 1);
        if self.qp.send.oldest_psn == record.end() {
            self.complete_oldest(status::SUCCESS);
        }
        self.progress();
    }

    /// Position and length of a READ response (R30, R40).
    fn read_fits(&self, record: &Record, packet: &Packet, info: &Opcode) -> bool {
        let pmtu = self.qp.attributes.pmtu as u32;
        let number = distance(record.first_psn, packet.psn);
        let last = number + 1 == record.packets;
        let begins = matches!(info.position, Position::First | Position::Only);
        let may_begin = number == 0 || record.restarted;
        let may_go_on = number != 0;
        let want = if last { record.length - number * pmtu } else { pmtu };
        record.opcode == send_opcode::READ
            && (info.ends() == last || !last && record.cut)
            && (if begins { may_begin } else { may_go_on })
            && packet.payload.len() as u32 == want
    }

    /// The oldest message ends; unsignalled and good ones do so silently.
    pub(super) fn complete_oldest(&mut self, status: u32) {
        let sq = &mut self.qp.send;
        let Some(record) = sq.records.pop_front() else { return };
        let index = sq.oldest;
        sq.oldest = index.wrapping_add(1);
        sq.answered = None;
        let good = status == status::SUCCESS;
        if record.signaled || !good {
            self.outcome.completions.push(Completion {
                cq: self.qp.attributes.send_cq,
                qpn: self.qp.attributes.qpn,
                opcode: completion_of(record.opcode),
                status,
                wqe_index: index,
                byte_length: if good { record.length } else { 0 },
                ..Completion::default()
            });
        }
    }

    /// The oldest WQE ends with `status`, the QP goes to ERR, everything else is flushed (R64, R65).
    pub(super) fn fail(&mut self, status: u32, detail: u32) {
        if self.qp.send.records.is_empty() {
            // Never begun: its opcode is the WQE's.
            let wqe = self.fetch(self.qp.send.oldest);
            self.qp.send.begun = self.qp.send.begun.wrapping_add(1);
            self.qp.send.records.push_back(Record {
                first_psn: self.qp.send.next_psn,
                packets: 1,
                opcode: wqe.opcode(),
                signaled: true,
                length: 0,
                restarted: false,
                cut: false,
            });
        }
        self.complete_oldest(status);
        self.qp.state = State::Err;
        self.outcome.events.push(Event {
            kind: event_type::QP_FATAL,
            number: self.qp.attributes.qpn,
            detail,
        });
        flush(self.qp, self.outcome);
    }

    /// Timers that have run out by `now`.
    pub fn timers(&mut self) {
        if !self.qp.sends_packets() {
            return;
        }
        self.qp.send.limiter.advance(self.congestion, self.now);
        if self.missing_deadline().is_some_and(|at| at <= self.now) {
            self.implied_nak();
        }
        if self.qp.send.rnr_deadline.is_some_and(|at| at <= self.now) {
            self.qp.send.rnr_deadline = None;
        }
        if self.qp.send.ack_deadline.is_some_and(|at| at <= self.now) {
            self.counters[usize::from(c::TIMEOUT)] += 1;
            // R48.
            if self.qp.send.retries == 0 {
                return self.fail(status::RETRY_EXCEEDED, status::RETRY_EXCEEDED);
            }
            self.qp.send.retries -= 1;
            self.start_ack_timer();
            self.rewind(self.qp.send.oldest_psn);
        }
    }

    fn missing_deadline(&self) -> Option<u64> {
        self.qp.send.missing_deadline(&self.qp.attributes)
    }

    /// SQD with nothing outstanding any more: reported once.
    pub fn report_drained(&mut self) {
        if self.qp.state == State::Sqd && self.qp.send.records.is_empty() && !self.qp.send.drained {
            self.qp.send.drained = true;
            self.outcome.events.push(Event {
                kind: event_type::SQ_DRAINED,
                number: self.qp.attributes.qpn,
                detail: 0,
            });
        }
    }
}
