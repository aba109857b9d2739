// SPDX-License-Identifier: MIT OR Apache-2.0
//! All connections of a port.

use crate::connection::{Connection, Id, Pending, State};
use crate::{About, Dreq, Gid, Mad, Message, Path, Reason, Rej, Rep, Req, Rtu, SidrRep, SidrReq};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use thiserror::Error;

/// How the manager behaves.
#[derive(Debug, Clone)]
pub struct CmOptions {
    pub gid: Gid,
    /// Names this adapter; not 0.
    pub ca_guid: u64,
    /// First communication ID, and the transactions' upper half: better random, so that a former life's messages are no one's.
    pub first_id: u32,
    /// A message that nobody answers is sent again after 4.096 us times 2 to this. The peer is told as much.
    pub response_timeout: u8,
    /// So many times, 15 at most.
    pub retries: u32,
}

impl CmOptions {
    /// 1.07 s, 15 times.
    pub fn new(gid: Gid, ca_guid: u64, first_id: u32) -> CmOptions {
        CmOptions {
            gid,
            ca_guid,
            first_id,
            response_timeout: 18,
            retries: 15,
        }
    }
}

/// What a connection is asked for with.
#[derive(Debug, Clone)]
pub struct Connect {
    pub peer: Gid,
    pub service: u64,
    /// 0 RC, 1 UC.
    pub transport: u8,
    pub qpn: u32,
    /// First PSN that we expect; the peer begins with it.
    pub psn: u32,
    /// 1 for 256 to 5 for 4096.
    pub path_mtu: u8,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub retry_count: u8,
    pub rnr_retry: u8,
    /// The peer's QP's, and ours: 4.096 us times 2 to this.
    pub ack_timeout: u8,
    /// RDMA CM: [`crate::Addresses`] first.
    pub private: Vec<u8>,
}

/// What a connection is accepted with.
#[derive(Debug, Clone)]
pub struct Accept {
    pub qpn: u32,
    /// First PSN that we expect; the peer begins with it.
    pub psn: u32,
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub rnr_retry: u8,
    pub private: Vec<u8>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Somebody connects to a service that is listened for: [`Cm::accept`] or [`Cm::reject`].
    Request { id: Id, req: Box<Req> },
    /// The peer accepts: bring the QP to RTS, then [`Cm::ready`].
    Reply { id: Id, rep: Box<Rep> },
    /// The peer's QP is in RTS.
    Established { id: Id },
    /// The peer refuses, at whatever stage.
    Rejected { id: Id, reason: Reason, private: Vec<u8> },
    /// No answer, all retries over.
    Unreachable { id: Id, sent: &'static str },
    /// Over: the peer wanted it, or has agreed, or no longer answers.
    Disconnected { id: Id },
}

/// A MAD to be sent to QP1 at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub to: Gid,
    pub mad: Mad,
}

/// A call that doesn't fit the connection's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Refused {
    #[error("there is no such connection any more")]
    Unknown,
    #[error("the connection isn't at a stage for that")]
    Stage,
    #[error("{0} bytes of private data, {1} at most")]
    PrivateData(usize, usize),
}

/// What was received and sent, by kind of trouble.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CmStatistics {
    pub received: u64,
    /// Not a MAD of ours.
    pub malformed: u64,
    /// Of no connection that we know, or not for its stage.
    pub ignored: u64,
    /// Repeats that were answered again.
    pub repeated: u64,
    pub sent_again: u64,
}

/// The connection manager.
pub struct Cm {
    options: CmOptions,
    services: BTreeSet<u64>,
    connections: BTreeMap<Id, Connection>,
    out: VecDeque<Outgoing>,
    events: VecDeque<Event>,
    next_id: u32,
    now: u64,
    statistics: CmStatistics,
}

/// ns of a timeout code.
pub(crate) fn nanoseconds(code: u8) -> u64 {
    4096 << code.min(31)
}

/// Copies private data into its place.
fn fill<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Refused> {
    if bytes.len() > N {
        return Err(Refused::PrivateData(bytes.len(), N));
    }
    let mut place = [0; N];
    place[..bytes.len()].copy_from_slice(bytes);
    Ok(place)
}

impl Cm {
    pub fn new(options: CmOptions) -> Cm {
        Cm {
            next_id: options.first_id,
            options,
            services: BTreeSet::new(),
            connections: BTreeMap::new(),
            out: VecDeque::new(),
            events: VecDeque::new(),
            now: 0,
            statistics: CmStatistics::default(),
        }
    }

    pub fn statistics(&self) -> CmStatistics {
        self.statistics
    }

    /// Requests to that service become events from now on.
    pub fn listen(&mut self, service: u64) {
        self.services.insert(service);
    }

    /// They are refused again.
    pub fn ignore(&mut self, service: u64) {
        self.services.remove(&service);
    }

    /// The next MAD to be sent.
    pub fn transmit(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    /// The next event.
    pub fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`Cm::advance`] has something to do, ns.
    pub fn next_deadline(&self) -> Option<u64> {
        self.connections.values().filter_map(Connection::deadline).min()
    }

    /// Time is `now`: sends again what is due, gives up, forgets.
    pub fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        let due: Vec<Id> = self
            .connections
            .iter()
            .filter(|(_, c)| c.deadline().is_some_and(|at| at <= self.now))
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.expire(id);
        }
    }

    fn expire(&mut self, id: Id) {
        let again = self.now + nanoseconds(self.options.response_timeout);
        let Some(c) = self.connections.get_mut(&id) else { return };
        if c.state == State::TimeWait {
            self.connections.remove(&id);
            return;
        }
        match &mut c.pending {
            Some(pending) if pending.left > 0 => {
                pending.left -= 1;
                pending.due = again;
                self.statistics.sent_again += 1;
                self.say_again(id);
            }
            _ => self.give_up(id),
        }
    }

    fn give_up(&mut self, id: Id) {
        let Some(c) = self.connections.get(&id) else { return };
        let (state, remote_id) = (c.state, c.remote_id);
        let sent = c.last.as_ref().map_or("a message", |mad| mad.message.name());
        if state == State::DreqSent {
            return self.finish(id);
        }
        // The peer may only have lost our sight: tell it that nothing will come of this.
        let rej = Rej::new(id.0, remote_id, About::Other, Reason::TIMEOUT);
        self.say(id, Message::Rej(Box::new(rej)));
        self.connections.remove(&id);
        self.events.push_back(Event::Unreachable { id, sent });
    }

    /// Asks for a connection.
    pub fn connect(&mut self, connect: &Connect) -> Result<Id, Refused> {
        let private = fill(&connect.private)?;
        let id = self.new_id();
        let timeout = self.options.response_timeout;
        let transaction = u64::from(self.options.first_id) << 32 | u64::from(id.0);
        let mut connection = Connection::new(State::ReqSent, connect.peer, transaction);
        connection.local_qpn = connect.qpn;
        self.connections.insert(id, connection);
        let req = Req {
            local_id: id.0,
            service: connect.service,
            local_ca_guid: self.options.ca_guid,
            local_qkey: 0,
            local_qpn: connect.qpn,
            responder_resources: connect.responder_resources,
            local_eecn: 0,
            initiator_depth: connect.initiator_depth,
            remote_eecn: 0,
            remote_response_timeout: timeout,
            transport: connect.transport,
            flow_control: false,
            starting_psn: connect.psn,
            local_response_timeout: timeout,
            retry_count: connect.retry_count,
            pkey: 0xffff,
            path_mtu: connect.path_mtu,
            rdc_exists: false,
            rnr_retry: connect.rnr_retry,
            max_cm_retries: self.options.retries.min(15) as u8,
            srq: false,
            extended_transport: 0,
            primary: Path {
                local_lid: 0xffff,
                remote_lid: 0xffff,
                local_gid: self.options.gid,
                remote_gid: connect.peer,
                hop_limit: 64,
                ack_timeout: connect.ack_timeout,
                ..Path::default()
            },
            alternate: Path::default(),
            private,
        };
        self.say(id, Message::Req(Box::new(req)));
        self.await_answer(id);
        Ok(id)
    }

    /// Accepts a request; the QP can receive from here on.
    pub fn accept(&mut self, id: Id, accept: &Accept) -> Result<(), Refused> {
        let private = fill(&accept.private)?;
        let ca_guid = self.options.ca_guid;
        let c = self.at_stage(id, &[State::ReqReceived])?;
        (c.state, c.local_qpn) = (State::RepSent, accept.qpn);
        let rep = Rep {
            local_id: id.0,
            remote_id: c.remote_id,
            local_qkey: 0,
            local_qpn: accept.qpn,
            local_eecn: 0,
            starting_psn: accept.psn,
            responder_resources: accept.responder_resources,
            initiator_depth: accept.initiator_depth,
            target_ack_delay: 15,
            failover: 0,
            flow_control: false,
            rnr_retry: accept.rnr_retry,
            srq: false,
            local_ca_guid: ca_guid,
            private,
        };
        self.say(id, Message::Rep(Box::new(rep)));
        self.await_answer(id);
        Ok(())
    }

    /// Refuses a request, or a reply.
    pub fn reject(&mut self, id: Id, reason: Reason, private: &[u8]) -> Result<(), Refused> {
        let private = fill(private)?;
        let c = self.at_stage(id, &[State::ReqReceived, State::RepReceived])?;
        let about = if c.state == State::ReqReceived { About::Req } else { About::Rep };
        let rej = Rej {
            private,
            ..Rej::new(id.0, c.remote_id, about, reason)
        };
        self.say(id, Message::Rej(Box::new(rej)));
        self.connections.remove(&id);
        Ok(())
    }

    /// Active side: the QP is in RTS.
    pub fn ready(&mut self, id: Id) -> Result<(), Refused> {
        let c = self.at_stage(id, &[State::RepReceived])?;
        c.state = State::Established;
        let rtu = Rtu {
            local_id: id.0,
            remote_id: c.remote_id,
            private: [0; 224],
        };
        self.say(id, Message::Rtu(Box::new(rtu)));
        Ok(())
    }

    /// Passive side: data has come, so the peer is there although its RTU isn't.
    pub fn communication_established(&mut self, id: Id) -> Result<(), Refused> {
        let c = self.at_stage(id, &[State::RepSent])?;
        (c.state, c.pending) = (State::Established, None);
        self.events.push_back(Event::Established { id });
        Ok(())
    }

    /// Ends a connection; [`Event::Disconnected`] follows.
    pub fn disconnect(&mut self, id: Id) -> Result<(), Refused> {
        let c = self.at_stage(id, &[State::Established, State::RepSent])?;
        c.state = State::DreqSent;
        let dreq = Dreq {
            local_id: id.0,
            remote_id: c.remote_id,
            remote_qpn: c.remote_qpn,
            private: [0; 220],
        };
        self.say(id, Message::Dreq(Box::new(dreq)));
        self.await_answer(id);
        Ok(())
    }

    /// Connections that exist, those that are only remembered left out.
    pub fn live(&self) -> usize {
        self.connections.values().filter(|c| c.state != State::TimeWait).count()
    }

    fn at_stage(&mut self, id: Id, stages: &[State]) -> Result<&mut Connection, Refused> {
        let c = self.connections.get_mut(&id).ok_or(Refused::Unknown)?;
        if stages.contains(&c.state) {
            Ok(c)
        } else if c.state == State::TimeWait {
            Err(Refused::Unknown)
        } else {
            Err(Refused::Stage)
        }
    }

    fn new_id(&mut self) -> Id {
        loop {
            let id = Id(self.next_id);
            self.next_id = self.next_id.wrapping_add(1);
            if id.0 != 0 && !self.connections.contains_key(&id) {
                return id;
            }
        }
    }

    /// Sends a message of a connection and remembers it.
    fn say(&mut self, id: Id, message: Message) {
        if let Some(c) = self.connections.get_mut(&id) {
            c.last = Some(Mad {
                transaction: c.transaction,
                message,
            });
            self.say_again(id);
        }
    }

    fn say_again(&mut self, id: Id) {
        if let Some((to, mad)) = self.connections.get(&id).and_then(|c| Some((c.peer, c.last.clone()?))) {
            self.out.push_back(Outgoing { to, mad });
        }
    }

    fn await_answer(&mut self, id: Id) {
        let pending = Pending {
            due: self.now + nanoseconds(self.options.response_timeout),
            left: self.options.retries,
        };
        if let Some(c) = self.connections.get_mut(&id) {
            c.pending = Some(pending);
        }
    }

    /// The connection is over; it stays known for late repeats.
    fn finish(&mut self, id: Id) {
        let until = self.now + 2 * nanoseconds(self.options.response_timeout);
        if let Some(c) = self.connections.get_mut(&id) {
            (c.state, c.pending, c.until) = (State::TimeWait, None, until);
            self.events.push_back(Event::Disconnected { id });
        }
    }

    /// A MAD from QP1 of `from`. Time is `now`.
    pub fn receive(&mut self, now: u64, from: Gid, bytes: &[u8]) {
        self.advance(now);
        self.statistics.received += 1;
        let Ok(mad) = Mad::parse(bytes) else {
            self.statistics.malformed += 1;
            return;
        };
        let transaction = mad.transaction;
        let known = match mad.message {
            Message::Req(req) => self.requested(from, transaction, req),
            Message::Rep(rep) => self.replied(from, rep),
            Message::Rtu(rtu) => self.readied(from, &rtu),
            Message::Rej(rej) => self.rejected(from, &rej),
            Message::Mra(mra) => self.delayed(from, mra.remote_id, mra.service_timeout),
            Message::Dreq(dreq) => self.dismissed(from, transaction, &dreq),
            Message::Drep(drep) => self.released(from, &drep),
            Message::SidrReq(sidr) => self.resolve(from, transaction, &sidr),
            Message::SidrRep(_) => false,
        };
        self.statistics.ignored += u64::from(!known);
    }

    /// Our connection that a message names, if it is that peer's.
    fn named(&mut self, from: Gid, local_id: u32) -> Option<(Id, &mut Connection)> {
        let id = Id(local_id);
        self.connections.get_mut(&id).filter(|c| c.peer == from).map(|c| (id, c))
    }

    fn requested(&mut self, from: Gid, transaction: u64, req: Box<Req>) -> bool {
        let same = |c: &Connection| c.peer == from && c.remote_id == req.local_id && c.state != State::ReqSent;
        if let Some((id, state)) = self.connections.iter().find(|(_, c)| same(c)).map(|(id, c)| (*id, c.state)) {
            // A repeat: the answer was lost, or isn't decided yet.
            if state == State::RepSent {
                self.statistics.repeated += 1;
                self.say_again(id);
            }
            return true;
        }
        let stale = |c: &Connection| c.peer == from && c.remote_qpn == req.local_qpn && c.is_live();
        let former = self.connections.iter().find(|(_, c)| stale(c)).map(|(id, _)| *id);
        let refusal = if former.is_some() {
            // 12.9.8.3.1: the peer's QP is one that we are connected with. It has forgotten; so do we.
            Some(Reason::STALE)
        } else if !self.services.contains(&req.service) {
            Some(Reason::INVALID_SERVICE_ID)
        } else if req.transport > 1 {
            Some(Reason::INVALID_TRANSPORT)
        } else {
            None
        };
        if let Some(id) = former {
            self.finish(id);
        }
        if let Some(reason) = refusal {
            let rej = Rej::new(0, req.local_id, About::Req, reason);
            self.answer(from, transaction, Message::Rej(Box::new(rej)));
            return true;
        }
        let id = self.new_id();
        let mut connection = Connection::new(State::ReqReceived, from, transaction);
        (connection.remote_id, connection.remote_qpn) = (req.local_id, req.local_qpn);
        self.connections.insert(id, connection);
        self.events.push_back(Event::Request { id, req });
        true
    }

    fn replied(&mut self, from: Gid, rep: Box<Rep>) -> bool {
        let Some((id, c)) = self.named(from, rep.remote_id) else {
            return false;
        };
        match c.state {
            State::ReqSent => {
                (c.state, c.pending) = (State::RepReceived, None);
                (c.remote_id, c.remote_qpn) = (rep.local_id, rep.local_qpn);
                self.events.push_back(Event::Reply { id, rep });
                true
            }
            // Our RTU was lost.
            State::Established if c.remote_id == rep.local_id => {
                self.statistics.repeated += 1;
                self.say_again(id);
                true
            }
            State::RepReceived => true,
            _ => false,
        }
    }

    fn readied(&mut self, from: Gid, rtu: &Rtu) -> bool {
        match self.named(from, rtu.remote_id) {
            Some((id, c)) if c.state == State::RepSent => {
                (c.state, c.pending) = (State::Established, None);
                self.events.push_back(Event::Established { id });
                true
            }
            Some((_, c)) => c.state == State::Established,
            None => false,
        }
    }

    fn rejected(&mut self, from: Gid, rej: &Rej) -> bool {
        let Some((id, c)) = self.named(from, rej.remote_id) else {
            return false;
        };
        if !matches!(c.state, State::ReqSent | State::ReqReceived | State::RepSent | State::RepReceived) {
            return false;
        }
        self.connections.remove(&id);
        self.events.push_back(Event::Rejected {
            id,
            reason: rej.reason,
            private: rej.private.to_vec(),
        });
        true
    }

    fn delayed(&mut self, from: Gid, local_id: u32, service_timeout: u8) -> bool {
        let due = self.now + nanoseconds(self.options.response_timeout) + nanoseconds(service_timeout);
        match self.named(from, local_id).and_then(|(_, c)| c.pending.as_mut()) {
            Some(pending) => {
                pending.due = due;
                true
            }
            None => false,
        }
    }

    fn dismissed(&mut self, from: Gid, transaction: u64, dreq: &Dreq) -> bool {
        // Who asks for the end of what we don't know has missed our DREP.
        let drep = Rtu {
            local_id: dreq.remote_id,
            remote_id: dreq.local_id,
            private: [0; 224],
        };
        let found = self.named(from, dreq.remote_id).filter(|(_, c)| c.remote_id == dreq.local_id);
        let known = match found.map(|(id, c)| (id, c.state)) {
            Some((id, State::Established | State::RepSent | State::DreqSent)) => {
                self.finish(id);
                true
            }
            Some((_, State::TimeWait)) => {
                self.statistics.repeated += 1;
                true
            }
            _ => false,
        };
        self.answer(from, transaction, Message::Drep(Box::new(drep)));
        known
    }

    fn released(&mut self, from: Gid, drep: &Rtu) -> bool {
        match self.named(from, drep.remote_id).map(|(id, c)| (id, c.state)) {
            Some((id, State::DreqSent)) => {
                self.finish(id);
                true
            }
            Some((_, State::TimeWait)) => true,
            _ => false,
        }
    }

    fn resolve(&mut self, from: Gid, transaction: u64, sidr: &SidrReq) -> bool {
        let rep = SidrRep {
            request_id: sidr.request_id,
            status: 1,
            info_length: 0,
            qpn: 0,
            service: sidr.service,
            qkey: 0,
            info: [0; 72],
            private: [0; 136],
        };
        self.answer(from, transaction, Message::SidrRep(Box::new(rep)));
        true
    }

    /// An answer that isn't sent again by itself.
    fn answer(&mut self, to: Gid, transaction: u64, message: Message) {
        self.out.push_back(Outgoing {
            to,
            mad: Mad { transaction, message },
        });
    }
}
