// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden engine: frames and doorbells in; packets, completions, events, counters and memory out. One transaction a call.
//!
//! | part | calls |
//! |---|---|
//! | responder | [`Golden::receive`], [`Golden::post_receive`], [`Golden::respond`] |
//! | requester | [`Golden::post_send`], [`Golden::doorbell`], [`Golden::transmit`], [`Golden::receive`] |
//! | time | [`Golden::advance`], [`Golden::next_deadline`]; nothing else knows a clock |
//!
//! What an engine leaves out is said in [`Features`]: without READ and ATOMIC they are refused (NAK invalid request), without a requester
//! every ACK or response is a ghost (R39).

mod complete;
pub mod congestion;
pub mod keys;
mod outcome;
pub mod qp;
pub mod reorder;
mod request;
pub mod respond;
pub mod send;
pub mod send_queue;
pub mod send_wqe;

use crate::memory::Memory;
use crate::packet::Packet;
use crate::parse::{verdict_with, Local, Verdict};
use congestion::Congestion;
use keys::{Region, Regions};
pub use outcome::{Completion, Event, Outcome};
use qp::{Attributes, Message, Qp, Receive, State};
use reorder::Reorder;
use respond::Response;
use send::Requester;
use send_wqe::SendWqe;
use std::collections::BTreeMap;
use verbena_spec::counters::{self as c, COUNTER_FILE};
use verbena_spec::headers::Operation;
use verbena_spec::layout::{completion_opcode, event_type, status, SQ_WQE_BYTES};

/// Bits of a QPN that are the index; the rest is the tag.
pub const INDEX_BITS: u32 = 12;

/// Parts of the engine that a build may leave out (CAPABILITIES bits 18 and 19). The default has neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Features {
    pub requester: bool,
    /// READ and ATOMIC, as responder and, with `requester`, as requester.
    pub read_atomic: bool,
}

impl Features {
    /// The whole engine.
    pub const ALL: Features = Features {
        requester: true,
        read_atomic: true,
    };
}

/// The engine as seen from outside.
#[derive(Debug, Clone)]
pub struct Golden {
    pub local: Local,
    pub regions: Regions,
    pub features: Features,
    /// Answers wait for [`Golden::respond`] instead of leaving with the request: a slow transmitter, for R36 and R59.
    pub hold_responses: bool,
    /// Messages of a QP that may be outstanding.
    pub outstanding_messages: usize,
    /// The reorder station; none unless set.
    pub reorder: Reorder,
    /// Off unless set.
    pub congestion: Congestion,
    qps: BTreeMap<u32, Qp>,
    /// ns.
    now: u64,
    /// Index of the QP that had the last turn.
    turn: u32,
    counters: [u32; COUNTER_FILE],
}

impl Golden {
    /// An engine that receives SEND and WRITE.
    pub fn new(local: Local) -> Self {
        Self::with_features(local, Features::default())
    }

    pub fn with_features(local: Local, features: Features) -> Self {
        Self {
            local,
            regions: Regions::default(),
            features,
            hold_responses: false,
            outstanding_messages: send::OUTSTANDING_MESSAGES,
            reorder: Reorder::NONE,
            congestion: Congestion::default(),
            qps: BTreeMap::new(),
            now: 0,
            turn: 0,
            counters: [0; COUNTER_FILE],
        }
    }

    /// Counters by code; those of the MAC and AXI side stay 0.
    pub fn counters(&self) -> &[u32; COUNTER_FILE] {
        &self.counters
    }

    /// ns.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Creates a QP in RESET; one with the same index is replaced.
    pub fn create_qp(&mut self, attributes: Attributes) {
        self.destroy_qp(attributes.qpn);
        self.qps.insert(index(attributes.qpn), Qp::new(attributes));
    }

    pub fn destroy_qp(&mut self, qpn: u32) {
        if let Some(mut qp) = self.qps.remove(&index(qpn)) {
            qp.release();
            self.counters[usize::from(c::REORDER_RELEASED)] += qp.released as u32;
        }
    }

    /// Slots in use in the reorder station's pool.
    pub fn held(&self) -> usize {
        self.qps.values().map(Qp::held).sum()
    }

    fn free(&self) -> usize {
        self.reorder.slots.saturating_sub(self.held())
    }

    /// Counts what held packets of the QP became.
    fn count_released(&mut self, qpn: u32) {
        if let Some(qp) = self.qps.get_mut(&index(qpn)) {
            self.counters[usize::from(c::REORDER_RELEASED)] += std::mem::take(&mut qp.released) as u32;
        }
    }

    pub fn qp(&self, qpn: u32) -> Option<&Qp> {
        self.qps.get(&index(qpn))
    }

    pub fn qp_mut(&mut self, qpn: u32) -> Option<&mut Qp> {
        self.qps.get_mut(&index(qpn))
    }

    /// Moves a QP; going to ERR flushes its queues (R65). False: refused.
    pub fn modify(&mut self, qpn: u32, state: State, outcome: &mut Outcome) -> bool {
        let Some(qp) = self.qps.get_mut(&index(qpn)) else { return false };
        let done = qp.modify(state);
        if done && state == State::Err {
            flush(qp, outcome);
        }
        if done && state == State::Sqd {
            qp.send.drained = false;
            self.requester(qpn, &mut Memory::new(), outcome, |r| r.report_drained());
        }
        self.count_released(qpn);
        done
    }

    /// Writes a WQE into the send ring and rings the doorbell. `None`: no such QP, or no room.
    pub fn post_send(&mut self, qpn: u32, wqe: &SendWqe, memory: &mut Memory, outcome: &mut Outcome) -> Option<u16> {
        let qp = self.qps.get(&index(qpn))?;
        let (a, number) = (&qp.attributes, qp.send.producer);
        if usize::from(number.wrapping_sub(qp.send.oldest)) >> a.sq_log != 0 {
            return None;
        }
        let slot = u64::from(number) & ((1 << a.sq_log) - 1);
        let bytes: Vec<u8> = wqe.0.iter().flat_map(|w| w.to_le_bytes()).collect();
        memory.write(a.sq_base.wrapping_add(slot * SQ_WQE_BYTES as u64), &bytes);
        self.doorbell(qpn, number.wrapping_add(1), outcome);
        Some(number)
    }

    /// The send queue's producer index; one further ahead than the ring is refused with an event (R69). On a QP in ERR everything posted
    /// is flushed.
    pub fn doorbell(&mut self, qpn: u32, producer: u16, outcome: &mut Outcome) {
        let Some(qp) = self.qps.get_mut(&index(qpn)) else { return };
        if !self.features.requester {
            return;
        }
        if u32::from(producer.wrapping_sub(qp.send.oldest)) > 1 << qp.attributes.sq_log {
            self.counters[usize::from(c::BAD_DOORBELL)] += 1;
            return outcome.events.push(Event {
                kind: event_type::BAD_DOORBELL,
                number: index(qpn),
                detail: u32::from(producer),
            });
        }
        qp.send.producer = producer;
        if qp.state == State::Err {
            flush(qp, outcome);
        }
    }

    /// One packet of the next QP that has one, round robin: an answer that waits, else a request.
    pub fn transmit(&mut self, memory: &mut Memory, outcome: &mut Outcome) -> Option<Packet> {
        let order: Vec<u32> = self
            .qps
            .range(self.turn + 1..)
            .chain(self.qps.range(..=self.turn))
            .map(|q| *q.0)
            .collect();
        for number in order {
            let packet = match self.respond(number, memory) {
                Some(packet) => Some(packet),
                None => self.request(number, memory, outcome),
            };
            if packet.is_some() {
                self.turn = number;
                return packet;
            }
        }
        None
    }

    /// The QP's next waiting answer.
    pub fn respond(&mut self, qpn: u32, memory: &Memory) -> Option<Packet> {
        let qp = self.qps.get_mut(&index(qpn))?;
        let source = self.local.gids.get(qp.attributes.gid_index).copied().flatten()?;
        if std::mem::take(&mut qp.cnp_due) {
            self.counters[usize::from(c::TX_CNP)] += 1;
            return Some(respond::notification(qp, self.local.mac, source));
        }
        let packet = respond::next_packet(qp, memory, self.local.mac, source)?;
        if !matches!(packet.opcode, 0x11) {
            self.counters[usize::from(c::TX_RESPONSE)] += 1;
        }
        Some(packet)
    }

    /// The QP's next request packet.
    pub fn request(&mut self, qpn: u32, memory: &mut Memory, outcome: &mut Outcome) -> Option<Packet> {
        let local = self.local.clone();
        let packet = self.requester(qpn, memory, outcome, |r| r.turn(&local)).flatten();
        self.counters[usize::from(c::TX_REQUEST)] += u32::from(packet.is_some());
        packet
    }

    fn requester<T>(&mut self, qpn: u32, memory: &mut Memory, outcome: &mut Outcome, act: impl FnOnce(&mut Requester) -> T) -> Option<T> {
        let free = self.free();
        let qp = self.qps.get_mut(&index(qpn)).filter(|_| self.features.requester)?;
        let reorder = if qp.attributes.reorder { self.reorder } else { Reorder::NONE };
        let result = act(&mut Requester {
            qp,
            regions: &self.regions,
            memory,
            outcome,
            counters: &mut self.counters,
            features: self.features,
            outstanding_messages: self.outstanding_messages,
            reorder,
            congestion: &self.congestion,
            free,
            now: self.now,
        });
        self.count_released(qpn);
        Some(result)
    }

    /// Time goes on to `now` (ns, never back): timers run out (R43 to R48), gaps become losses (R23, R34).
    pub fn advance(&mut self, now: u64, memory: &mut Memory, outcome: &mut Outcome) {
        self.now = self.now.max(now);
        let numbers: Vec<u32> = self.qps.keys().copied().collect();
        for number in numbers {
            self.requester(number, memory, outcome, |r| r.timers());
            self.old_gap(number);
            self.answer(number, memory, outcome);
        }
    }

    /// When the next timer runs out, ns.
    pub fn next_deadline(&self) -> Option<u64> {
        let sending = self.qps.values().filter(|q| q.sends_packets());
        let requester = sending.flat_map(|q| {
            let missing = q.send.missing_deadline(&q.attributes);
            [q.send.ack_deadline, q.send.rnr_deadline, missing, q.send.limiter.deadline(self.now)]
        });
        let receiving = self.qps.values().filter(|q| q.receives_packets() && !q.nak_sent);
        let responder = receiving.map(|q| q.early.deadline(&q.attributes));
        requester.chain(responder).flatten().min()
    }

    /// R23: the gap before a QP's early requests has become older than `nak_delay`.
    fn old_gap(&mut self, qpn: u32) {
        let Some(qp) = self.qps.get_mut(&index(qpn)) else { return };
        let old = qp.early.deadline(&qp.attributes).is_some_and(|at| at <= self.now);
        if old && !qp.nak_sent && qp.receives_packets() {
            qp.nak_sequence();
        }
    }

    /// Answers leave at once, unless they are held back.
    fn answer(&mut self, qpn: u32, memory: &Memory, outcome: &mut Outcome) {
        while !self.hold_responses {
            let Some(answer) = self.respond(qpn, memory) else { break };
            outcome.answers.push(answer);
        }
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
        let verdict = verdict_with(frame, bad_fcs, &self.local, self.congestion.react);
        outcome.rx = verdict.code();
        match verdict {
            Verdict::Roce { packet, gid_index, grh } => {
                self.counters[usize::from(c::RX_MARKED)] += u32::from(is_marked(&packet));
                let code = self.packet(&packet, gid_index, &grh, memory, &mut outcome);
                outcome.responder = Some(code);
            }
            Verdict::Host(_) => outcome.to_host = true,
            Verdict::Drop(_) => {}
        }
        for code in std::iter::once(outcome.rx)
            .chain(outcome.responder)
            .chain(outcome.drained.iter().copied())
        {
            self.counters[usize::from(code)] += 1;
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
        let cnp = info.operation == Operation::Cnp;
        if info.transport != a.service && !cnp {
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
        } else if cnp {
            qp.send.limiter.slow(&self.congestion, self.now);
            return c::CNP;
        } else if self.congestion.notify && is_marked(packet) && qp.cnp_after <= self.now {
            // R76: at most one a flow in the interval.
            qp.cnp_due = true;
            qp.cnp_after = self.now + 1000 * u64::from(self.congestion.cnp_interval);
        }
        match info.operation {
            Operation::Acknowledge | Operation::ReadResponse | Operation::AtomicAcknowledge => {
                let code = self.requester(packet.qpn, memory, outcome, |r| r.response(packet, info));
                self.answer(packet.qpn, memory, outcome);
                code.unwrap_or(c::GHOST_ACK)
            }
            _ => {
                let code = self.execute(packet, grh, memory, outcome);
                self.drain(packet.qpn, memory, outcome);
                self.count_released(packet.qpn);
                self.answer(packet.qpn, memory, outcome);
                code
            }
        }
    }

    /// One request at its QP; the counter's code.
    fn execute(&mut self, packet: &Packet, grh: &[u8; 40], memory: &mut Memory, outcome: &mut Outcome) -> u8 {
        let free = self.free();
        let (Some(qp), Some(info)) = (self.qps.get_mut(&index(packet.qpn)), packet.info()) else {
            return c::UNKNOWN_QP;
        };
        let reorder = if qp.attributes.reorder { self.reorder } else { Reorder::NONE };
        let mut request = request::Request {
            packet,
            info,
            qp,
            regions: &mut self.regions,
            memory,
            outcome,
            answer: None,
            read_atomic: self.features.read_atomic,
            reorder,
            free,
            now: self.now,
        };
        let code = request.run(grh);
        if let Some(Answer { syndrome, psn }) = request.answer {
            let msn = request.qp.msn;
            request.qp.responses.push_back(Response::Acknowledge { syndrome, psn, msn });
        }
        code
    }

    /// Early requests have their turn, up to the next gap, which may be a loss at once.
    fn drain(&mut self, qpn: u32, memory: &mut Memory, outcome: &mut Outcome) {
        loop {
            let Some(qp) = self.qps.get_mut(&index(qpn)) else { return };
            qp.released += qp.early.release_passed(qp.epsn);
            let Some(packet) = qp.early.take(qp.epsn) else { break };
            // What came before it is answered before it runs.
            self.answer(qpn, memory, outcome);
            let code = self.execute(&packet, &[0; 40], memory, outcome);
            outcome.drained.push(code);
        }
        let Some(qp) = self.qps.get_mut(&index(qpn)) else { return };
        let Some((_, last)) = qp.early.span(qp.epsn) else { return };
        qp.early.see_gap(self.now);
        if !qp.nak_sent && qp.early.is_lost(last, &qp.attributes, self.now) {
            qp.nak_sequence();
        }
    }
}

/// ECN: congestion experienced.
fn is_marked(packet: &Packet) -> bool {
    packet.traffic_class & 3 == 3
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

/// R65, and what is held leaves its slots: every posted send and receive completes, a receive that a SEND had begun first. What they were is the host's knowledge.
fn flush(qp: &mut Qp, outcome: &mut Outcome) {
    qp.release();
    let sq = &mut qp.send;
    while sq.oldest != sq.producer {
        outcome.completions.push(Completion {
            cq: qp.attributes.send_cq,
            qpn: qp.attributes.qpn,
            opcode: completion_opcode::SEND,
            status: status::WR_FLUSH_ERROR,
            wqe_index: sq.oldest,
            ..Completion::default()
        });
        sq.oldest = sq.oldest.wrapping_add(1);
    }
    (sq.next, sq.begun) = (sq.oldest, sq.oldest);
    sq.records.clear();
    (sq.ack_deadline, sq.rnr_deadline) = (None, None);
    (sq.waiting, sq.resend) = (None, None);
    if let Message::Send { receive, .. } = std::mem::replace(&mut qp.message, Message::Idle) {
        qp.receives.push_front(receive);
    }
    while let Some(receive) = qp.receives.pop_front() {
        outcome.completions.push(Completion {
            cq: qp.attributes.recv_cq,
            qpn: qp.attributes.qpn,
            opcode: completion_opcode::RECV,
            status: status::WR_FLUSH_ERROR,
            wqe_index: receive.index,
            ..Completion::default()
        });
    }
}
