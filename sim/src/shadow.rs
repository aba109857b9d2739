// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model beside the engine: every frame goes to both, and at rest both must agree.
//!
//! Counters, answers and CNPs (byte for byte), completions, memory, state and PSNs are compared. What the engine drops for want of buffer the model can't know: a round with such a drop isn't compared.

use crate::hold;
use crate::responder::to_model;
use crate::session::{Connection, Session, ENGINE, FIRST_PSN, PEER};
use crate::traffic::DETH;
use anyhow::{bail, Result};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use verbena_model::golden::keys::{Access, Region as ModelRegion};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::reorder::Reorder;
use verbena_model::golden::{Completion, Features, Golden, Outcome};
use verbena_model::memory::Memory;
use verbena_model::packet::Packet;
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_spec::config::Config;
use verbena_spec::counters::{COUNTERS, COUNTER_FILE, REORDER_RELEASED, RX_FRAGMENT, RX_HOST, RX_HOST_OVERFLOW, RX_MARKED, TX_CNP};
use verbena_spec::headers::syndrome;
use verbena_spec::layout::status;
use verbena_verbs::{Access as Remote, CongestionAttr, Mr, Region};

const ACKNOWLEDGE: u8 = 0x11;
const ATOMIC_ACKNOWLEDGE: u8 = 0x12;
/// Congestion notification (R76).
const CNP: u8 = 0x81;
/// Counted as the golden model counts them, of those that are neither a frame's nor a packet's own, where the engine has a notification point.
const CONGESTION_COUNTERS: [u8; 2] = [RX_MARKED, TX_CNP];
/// All of a session is in one protection domain.
const PD: u16 = 1;
/// The library's default.
const RNR_TIMER: u8 = 12;
/// R20: the shortest frame that leaves the engine.
const SHORTEST: usize = 60;
/// Bytes from an Ethernet header with and without a tag, and of the IP headers.
const ETHERNET: usize = 14;
const TAG: usize = 4;
const IPV4: usize = 20;
const IPV6: usize = 40;
/// From the UDP header to the BTH's destination QPN.
const QPN_AT: usize = 8 + 5;
const OPCODE_AT: usize = 8;

/// The model's side of a session.
pub struct Shadow {
    golden: Golden,
    memory: Memory,
    region: (Region, u32),
    /// Those that READs and ATOMICs use.
    others: Vec<Region>,
    /// QPNs of peers whose QPs serve READs.
    readers: Vec<u32>,
    counters: [u32; COUNTER_FILE],
    /// The model's own counts when the round began.
    before: [u32; COUNTER_FILE],
    notification: bool,
    outcome: Outcome,
    max_pmtu: usize,
    answers: Vec<Vec<u8>>,
    /// The engine's, polled so far.
    completions: Vec<Completion>,
}

impl Shadow {
    /// `reads`: the engine serves READ and ATOMIC.
    pub fn new(config: &Config, region: &Region, mr: &Mr, reads: bool) -> Shadow {
        let mut gids = vec![Some(ENGINE.address())];
        if config.ipv6 {
            gids.push(Some(ENGINE.address6()));
        }
        let local = Local {
            mac: ENGINE.mac,
            gids,
            max_frame: config.max_frame,
            icrc_off: false,
        };
        let features = Features {
            requester: false,
            read_atomic: reads,
        };
        let mut golden = Golden::with_features(local, features);
        golden.reorder = Reorder {
            window: config.reorder_window as u32,
            slots: config.reorder_slots,
        };
        golden.register(ModelRegion {
            key: mr.key,
            pd: PD,
            access: Access {
                local_write: true,
                remote_write: true,
                ..Access::default()
            },
            may_invalidate: false,
            virtual_address: region.va,
            length: region.length,
            pages: region.pages.clone(),
        });
        let region = (region.clone(), mr.key);
        Shadow {
            golden,
            memory: Memory::new(),
            region,
            others: vec![],
            readers: vec![],
            counters: [0; COUNTER_FILE],
            before: [0; COUNTER_FILE],
            notification: config.congestion_notification,
            outcome: Outcome::default(),
            max_pmtu: config.max_pmtu,
            answers: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// A round begins: the same memory, no counts.
    pub fn begin(&mut self, session: &mut Session) -> Result<()> {
        for region in std::iter::once(&self.region.0).chain(&self.others) {
            let now = region.read(session.hca(), region.va, region.length as usize)?;
            for (page, bytes) in region.pages.iter().zip(now.chunks(4096)) {
                self.memory.write(*page, bytes);
            }
        }
        self.counters = [0; COUNTER_FILE];
        self.before = *self.golden.counters();
        self.outcome = Outcome::default();
        self.answers.clear();
        session.hca().tx.frames.clear();
        self.poll(session)?;
        self.completions.clear();
        Ok(())
    }

    /// Takes what the engine has completed: before a QP is destroyed, or its completions are lost.
    pub fn poll(&mut self, session: &mut Session) -> Result<()> {
        let cq = session.cq;
        loop {
            let found = session.device.poll_cq(cq, 64)?;
            if found.is_empty() {
                return Ok(());
            }
            self.completions.extend(found.iter().map(|c| to_model(0, c)));
        }
    }

    /// Marked packets are answered by CNPs, each (an interval of 0): the model has no time; and CNPs are heeded, where the engine does that. Tells the engine, too.
    pub fn notify(&mut self, session: &mut Session) -> Result<()> {
        let react = session.device.capabilities().congestion_reaction;
        let attr = CongestionAttr {
            notify: true,
            react,
            cnp_interval: 0,
            ..CongestionAttr::default()
        };
        session.device.set_congestion(&attr)?;
        (self.golden.congestion.notify, self.golden.congestion.cnp_interval) = (true, 0);
        self.golden.congestion.react = react;
        Ok(())
    }

    /// A region with these bytes, for READs or ATOMICs alone.
    pub fn register(&mut self, region: &Region, mr: &Mr, remote: Remote, bytes: &[u8]) {
        self.golden.register(ModelRegion {
            key: mr.key,
            pd: PD,
            access: Access {
                remote_read: remote.contains(Remote::REMOTE_READ),
                remote_atomic: remote.contains(Remote::REMOTE_ATOMIC),
                ..Access::default()
            },
            may_invalidate: false,
            virtual_address: region.va,
            length: region.length,
            pages: region.pages.clone(),
        });
        for (page, bytes) in region.pages.iter().zip(bytes.chunks(4096)) {
            self.memory.write(*page, bytes);
        }
        self.others.push(region.clone());
    }

    /// A new round, with new QPs.
    pub fn forget_readers(&mut self) {
        self.readers.clear();
    }

    /// A QP whose peer may do what `remote` says, and have `depth` READs and ATOMICs outstanding.
    /// `reorder`: it holds early requests, with this `nak_distance`.
    pub fn connect(&mut self, connection: &Connection, remote: Remote, depth: u8, reorder: Option<u8>) {
        // For the whole round, also if the number is given again.
        if depth > 0 && !self.readers.contains(&connection.peer_qpn) {
            self.readers.push(connection.peer_qpn);
        }
        let qpn = connection.qp.qpn;
        let form = connection.flow.form;
        self.golden.create_qp(Attributes {
            qpn,
            service: form.service,
            // A UD QP takes what the engine can carry.
            pmtu: if form.service == 3 { self.max_pmtu } else { connection.flow.pmtu },
            pd: PD,
            pkey: 0xffff,
            qkey: DETH.qkey,
            remote_write: true,
            remote_read: remote.contains(Remote::REMOTE_READ),
            remote_atomic: remote.contains(Remote::REMOTE_ATOMIC),
            max_dest_rd_atomic: depth,
            gid_index: form.ipv6 as usize,
            // A UD QP's row has none, so that no CNP is its own (R71, R76).
            peer_ip: match (form.service, form.ipv6) {
                (3, true) => Ipv6Addr::UNSPECIFIED.into(),
                (3, false) => Ipv4Addr::UNSPECIFIED.into(),
                (_, true) => PEER.address6(),
                (_, false) => PEER.address(),
            },
            peer_mac: PEER.mac,
            vlan: form.vlan,
            peer_qpn: connection.peer_qpn,
            // A UD QP has no PSN to expect.
            rq_psn: if form.service == 3 { 0 } else { FIRST_PSN },
            rnr_timer: RNR_TIMER,
            traffic_class: 0,
            hop_limit: 64,
            udp_source: connection.flow.udp_source,
            recv_cq: 0,
            reorder: reorder.is_some(),
            nak_distance: reorder.unwrap_or(0),
            ..Attributes::default()
        });
        for state in [State::Init, State::Rtr] {
            self.golden.modify(qpn, state, &mut self.outcome);
        }
    }

    pub fn destroy(&mut self, connection: &Connection) {
        let released = self.released();
        self.golden.destroy_qp(connection.qp.qpn);
        self.counters[usize::from(REORDER_RELEASED)] += self.released() - released;
    }

    fn released(&self) -> u32 {
        self.golden.counters()[usize::from(REORDER_RELEASED)]
    }

    /// Early packets that the model holds.
    pub fn held(&self) -> u64 {
        self.golden.held() as u64
    }

    /// The model's QP is in ERR.
    pub fn failed(&self, connection: &Connection) -> bool {
        self.golden.qp(connection.qp.qpn).is_some_and(|q| q.state == State::Err)
    }

    pub fn post_receive(&mut self, connection: &Connection, address: u64, length: u32) {
        self.golden
            .post_receive(connection.qp.qpn, address, length, self.region.1, &mut self.outcome);
    }

    /// The model takes a frame.
    pub fn receive(&mut self, frame: &[u8], bad: bool) {
        let released = self.released();
        let outcome = self.golden.receive(frame, bad, &mut self.memory);
        self.counters[usize::from(REORDER_RELEASED)] += self.released() - released;
        for code in std::iter::once(outcome.rx)
            .chain(outcome.responder)
            .chain(outcome.drained.iter().copied())
        {
            self.counters[usize::from(code)] += 1;
        }
        self.outcome.completions.extend(outcome.completions);
        for answer in outcome.answers {
            let mut frame = answer.to_frame();
            frame.resize(frame.len().max(SHORTEST), 0);
            self.answers.push(frame);
        }
    }

    /// Answers and completions are the model's, in order for each QP (the engine may flush one QP while another works on).
    fn compare_effects(&mut self, session: &mut Session) -> Result<()> {
        let mut engine: Vec<Vec<u8>> = session.hca().tx.frames.drain(..).map(|f| f.bytes).collect();
        let mut model = std::mem::take(&mut self.answers);
        compare_notifications(&mut engine, &mut model)?;
        self.compare_readers(&mut engine, &mut model)?;
        engine.sort_by_key(|f| destination_qpn(f));
        model.sort_by_key(|f| destination_qpn(f));
        let at = engine.iter().zip(&model).position(|(a, b)| a != b);
        hold!(
            at.is_none() && engine.len() == model.len(),
            "answers differ: engine {}, model {}; first difference {:02x?}",
            engine.len(),
            model.len(),
            at.map(|i| (&engine[i], &model[i]))
        );
        self.poll(session)?;
        let mut engine = std::mem::take(&mut self.completions);
        let mut model = std::mem::take(&mut self.outcome.completions);
        engine.sort_by_key(|c| c.qpn);
        model.sort_by_key(|c| c.qpn);
        let meaning = |c: &Completion| match c.status {
            status::SUCCESS => *c,
            // What a failed completion says beside these has no meaning.
            _ => Completion {
                qpn: c.qpn,
                status: c.status,
                wqe_index: c.wqe_index,
                ..Completion::default()
            },
        };
        let engine: Vec<Completion> = engine.iter().map(meaning).collect();
        let model: Vec<Completion> = model.iter().map(meaning).collect();
        let at = engine.iter().zip(&model).position(|(a, b)| a != b);
        hold!(
            at.is_none() && engine.len() == model.len(),
            "completions differ: engine {}, model {}; first difference {:?}",
            engine.len(),
            model.len(),
            at.map(|i| (&engine[i], &model[i]))
        );
        Ok(())
    }

    /// Takes the answers of QPs that serve READs out of both lists. There an answer may wait behind responses, and a later answer or response take its place
    /// (R36), but never a fatal NAK's; and a duplicate READ is answered with what is under way. So fatal NAKs are the same, each other answer is
    /// one of the model's, and the responses are of the same PSNs, with the same bytes.
    fn compare_readers(&self, engine: &mut Vec<Vec<u8>>, model: &mut Vec<Vec<u8>>) -> Result<()> {
        let take = |frames: &mut Vec<Vec<u8>>| -> Result<Vec<Packet>> {
            let (readers, others): (Vec<_>, Vec<_>) = std::mem::take(frames).into_iter().partition(|frame| {
                let qpn = destination_qpn(frame).map(|q| u32::from_be_bytes([0, q[0], q[1], q[2]]));
                qpn.is_some_and(|qpn| self.readers.contains(&qpn))
            });
            *frames = others;
            readers.iter().map(|frame| packet(frame)).collect()
        };
        let (engine, model) = (take(engine)?, take(model)?);
        for qpn in &self.readers {
            let of = |packets: &[Packet]| -> Vec<Packet> { packets.iter().filter(|p| p.qpn == *qpn).cloned().collect() };
            let (engine, model) = (of(&engine), of(&model));
            let naks = |packets: &[Packet]| -> Vec<(u8, u32, u32)> {
                let naks = packets
                    .iter()
                    .filter(|p| p.opcode == ACKNOWLEDGE && p.aeth.syndrome > syndrome::NAK_SEQUENCE);
                naks.map(|p| (p.aeth.syndrome, p.psn, p.aeth.msn)).collect()
            };
            hold!(
                naks(&engine) == naks(&model),
                "QP {qpn:#x}: fatal NAKs differ: engine {:x?}, model {:x?}",
                naks(&engine),
                naks(&model)
            );
            let acks = |packets: &[Packet]| -> BTreeSet<(u8, u32, u32)> {
                let acks = packets
                    .iter()
                    .filter(|p| p.opcode == ACKNOWLEDGE && p.aeth.syndrome <= syndrome::NAK_SEQUENCE);
                acks.map(|p| (p.aeth.syndrome, p.psn, p.aeth.msn)).collect()
            };
            let extra: Vec<_> = acks(&engine).difference(&acks(&model)).copied().collect();
            hold!(extra.is_empty(), "QP {qpn:#x}: answers that the model hasn't: {extra:x?}");
            let responses = |packets: &[Packet]| -> BTreeSet<(u32, Vec<u8>)> {
                let responses = packets.iter().filter(|p| p.opcode != ACKNOWLEDGE);
                responses
                    .map(|p| {
                        (
                            p.psn,
                            if p.opcode == ATOMIC_ACKNOWLEDGE {
                                p.atomic_original.to_be_bytes().to_vec()
                            } else {
                                p.payload.clone()
                            },
                        )
                    })
                    .collect()
            };
            let (engine, model) = (responses(&engine), responses(&model));
            let differing = engine.symmetric_difference(&model).next();
            hold!(
                differing.is_none(),
                "QP {qpn:#x}: responses differ: engine {}, model {}; first {differing:02x?}",
                engine.len(),
                model.len()
            );
        }
        Ok(())
    }

    /// Counters, memory and QPs are the model's. `counted` is what the engine counted in this round.
    pub fn compare(&mut self, session: &mut Session, connections: &[Connection], counted: &[u32; COUNTER_FILE]) -> Result<()> {
        let mut model = self.counters;
        for code in CONGESTION_COUNTERS.map(usize::from) {
            model[code] = self.golden.counters()[code] - self.before[code];
        }
        if !session.hca().config.host_port {
            for code in [RX_HOST, RX_FRAGMENT] {
                model[usize::from(RX_HOST_OVERFLOW)] += std::mem::take(&mut model[usize::from(code)]);
            }
        }
        let differing: Vec<String> = COUNTERS
            .iter()
            .map(|c| (c.name, counted[usize::from(c.code)], model[usize::from(c.code)]))
            .zip(COUNTERS)
            .filter(|(_, c)| {
                matches!(
                    c.class,
                    verbena_spec::counters::Class::Rx | verbena_spec::counters::Class::Responder
                ) || (self.notification && CONGESTION_COUNTERS.contains(&c.code))
            })
            .filter(|((_, engine, model), _)| engine != model)
            .map(|((name, engine, model), _)| format!("{name}: engine {engine}, model {model}"))
            .collect();
        hold!(
            differing.is_empty(),
            "counters differ from the golden model's: {}",
            differing.join("; ")
        );
        self.compare_effects(session)?;
        for connection in connections {
            let query = session.device.query_qp(connection.qp)?;
            let Some(qp) = self.golden.qp(connection.qp.qpn) else { continue };
            let same_state = (query.state == verbena_verbs::QpState::Err) == (qp.state == State::Err);
            let what = format!(
                "QP {:#x}: engine {query:x?}, model {:?} ePSN {:#x} MSN {:#x}",
                connection.qp.qpn, qp.state, qp.epsn, qp.msn
            );
            hold!(same_state, "the state differs: {what}");
            hold!(
                qp.state == State::Err || (query.epsn, query.msn) == (qp.epsn, qp.msn),
                "PSN or MSN differs: {what}"
            );
        }
        for region in std::iter::once(&self.region.0).chain(&self.others) {
            self.compare_memory(session, region)?;
        }
        Ok(())
    }

    fn compare_memory(&self, session: &mut Session, region: &Region) -> Result<()> {
        let engine = region.read(session.hca(), region.va, region.length as usize)?;
        let model: Vec<u8> = region
            .pages
            .iter()
            .flat_map(|p| self.memory.read(*p, 4096))
            .take(engine.len())
            .collect();
        let at = engine.iter().zip(&model).position(|(a, b)| a != b);
        hold!(
            at.is_none(),
            "memory differs from the golden model's, first at byte {at:?} of the region"
        );
        Ok(())
    }
}

/// Takes the CNPs out of both lists: they are the same, but when one leaves among the answers is the engine's own (R76).
fn compare_notifications(engine: &mut Vec<Vec<u8>>, model: &mut Vec<Vec<u8>>) -> Result<()> {
    let take = |frames: &mut Vec<Vec<u8>>| -> Vec<Vec<u8>> {
        let (mut cnps, others): (Vec<_>, Vec<_>) = std::mem::take(frames).into_iter().partition(|f| opcode(f) == Some(CNP));
        *frames = others;
        cnps.sort();
        cnps
    };
    let (engine, model) = (take(engine), take(model));
    let at = engine.iter().zip(&model).position(|(a, b)| a != b);
    hold!(
        at.is_none() && engine.len() == model.len(),
        "CNPs differ: engine {}, model {}; first difference {:02x?}",
        engine.len(),
        model.len(),
        at.map(|i| (&engine[i], &model[i]))
    );
    Ok(())
}

/// What the engine sent to the peer.
fn packet(frame: &[u8]) -> Result<Packet> {
    let local = Local {
        mac: PEER.mac,
        gids: vec![Some(PEER.address()), Some(PEER.address6())],
        max_frame: frame.len(),
        icrc_off: false,
    };
    match verdict(frame, false, &local) {
        Verdict::Roce { packet, .. } => Ok(*packet),
        _ => bail!("an answer that is no RoCE packet: {frame:02x?}"),
    }
}

fn destination_qpn(frame: &[u8]) -> Option<Vec<u8>> {
    let at = udp(frame)? + QPN_AT;
    frame.get(at..at + 3).map(<[u8]>::to_vec)
}

fn opcode(frame: &[u8]) -> Option<u8> {
    frame.get(udp(frame)? + OPCODE_AT).copied()
}

/// Where the UDP header begins.
fn udp(frame: &[u8]) -> Option<usize> {
    let tag = if frame.get(12..14) == Some(&[0x81, 0]) { TAG } else { 0 };
    let ip = ETHERNET + tag;
    Some(ip + if frame.get(ip)? >> 4 == 6 { IPV6 } else { IPV4 })
}
