// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model beside the engine: every frame goes to both, and at rest both must agree.
//!
//! Counters, answers (byte for byte), completions, memory, state and PSNs are compared. What the engine drops for want of buffer the model can't know: a round with such a drop isn't compared.

use crate::hold;
use crate::responder::to_model;
use crate::session::{Connection, Session, ENGINE, FIRST_PSN, PEER};
use crate::traffic::DETH;
use anyhow::Result;
use verbena_model::golden::keys::{Access, Region as ModelRegion};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::{Completion, Golden, Outcome};
use verbena_model::memory::Memory;
use verbena_model::parse::Local;
use verbena_spec::config::Config;
use verbena_spec::counters::{COUNTERS, COUNTER_FILE, RX_FRAGMENT, RX_HOST, RX_HOST_OVERFLOW};
use verbena_spec::layout::status;
use verbena_verbs::{Mr, Region};

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

/// The model's side of a session.
pub struct Shadow {
    golden: Golden,
    memory: Memory,
    region: (Region, u32),
    counters: [u32; COUNTER_FILE],
    outcome: Outcome,
    max_pmtu: usize,
    answers: Vec<Vec<u8>>,
    /// The engine's, polled so far.
    completions: Vec<Completion>,
}

impl Shadow {
    pub fn new(config: &Config, region: &Region, mr: &Mr) -> Shadow {
        let mut gids = vec![Some(ENGINE.address())];
        if config.ipv6 {
            gids.push(Some(ENGINE.address6()));
        }
        let mut golden = Golden::new(Local {
            mac: ENGINE.mac,
            gids,
            max_frame: config.max_frame,
            icrc_off: false,
        });
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
            counters: [0; COUNTER_FILE],
            outcome: Outcome::default(),
            max_pmtu: config.max_pmtu,
            answers: Vec::new(),
            completions: Vec::new(),
        }
    }

    /// A round begins: the same memory, no counts.
    pub fn begin(&mut self, session: &mut Session) -> Result<()> {
        let region = &self.region.0;
        let now = region.read(session.hca(), region.va, region.length as usize)?;
        for (page, bytes) in region.pages.iter().zip(now.chunks(4096)) {
            self.memory.write(*page, bytes);
        }
        self.counters = [0; COUNTER_FILE];
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

    pub fn connect(&mut self, connection: &Connection) {
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
            remote_read: false,
            remote_atomic: false,
            gid_index: form.ipv6 as usize,
            peer_ip: if form.ipv6 { PEER.address6() } else { PEER.address() },
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
            ..Attributes::default()
        });
        for state in [State::Init, State::Rtr] {
            self.golden.modify(qpn, state, &mut self.outcome);
        }
    }

    pub fn destroy(&mut self, connection: &Connection) {
        self.golden.destroy_qp(connection.qp.qpn);
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
        let outcome = self.golden.receive(frame, bad, &mut self.memory);
        for code in std::iter::once(outcome.rx).chain(outcome.responder) {
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

    /// Counters, memory and QPs are the model's. `counted` is what the engine counted in this round.
    pub fn compare(&mut self, session: &mut Session, connections: &[Connection], counted: &[u32; COUNTER_FILE]) -> Result<()> {
        let mut model = self.counters;
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
                )
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
        let region = &self.region.0;
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

fn destination_qpn(frame: &[u8]) -> Option<Vec<u8>> {
    let tag = if frame.get(12..14) == Some(&[0x81, 0]) { TAG } else { 0 };
    let ip = ETHERNET + tag;
    let at = QPN_AT + ip + if frame.get(ip)? >> 4 == 6 { IPV6 } else { IPV4 };
    frame.get(at..at + 3).map(<[u8]>::to_vec)
}
