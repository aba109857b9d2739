// SPDX-License-Identifier: MIT OR Apache-2.0
//! The golden model beside the engine: every frame goes to both, and at rest both must agree.
//!
//! What the engine drops for want of buffer the model can't know: a round with such a drop isn't compared.

use crate::hold;
use crate::session::{Connection, Session, ENGINE, FIRST_PSN, PEER};
use anyhow::Result;
use verbena_model::golden::keys::{Access, Region as ModelRegion};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::{Golden, Outcome};
use verbena_model::memory::Memory;
use verbena_model::parse::Local;
use verbena_spec::config::Config;
use verbena_spec::counters::{COUNTERS, COUNTER_FILE};
use verbena_verbs::{Mr, Region};

/// All of a session is in one protection domain.
const PD: u16 = 1;
/// The library's default.
const RNR_TIMER: u8 = 12;

/// The model's side of a fuzzing session.
pub struct Shadow {
    golden: Golden,
    memory: Memory,
    region: (Region, u32),
    counters: [u32; COUNTER_FILE],
    outcome: Outcome,
}

impl Shadow {
    pub fn new(config: &Config, region: &Region, mr: &Mr) -> Shadow {
        let gids = vec![Some(ENGINE.address())];
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
        Ok(())
    }

    pub fn connect(&mut self, connection: &Connection) {
        let qpn = connection.qp.qpn;
        self.golden.create_qp(Attributes {
            qpn,
            service: 0,
            pmtu: connection.flow.pmtu,
            pd: PD,
            pkey: 0xffff,
            qkey: 0,
            remote_write: true,
            remote_read: false,
            remote_atomic: false,
            gid_index: 0,
            peer_ip: PEER.address(),
            peer_mac: PEER.mac,
            vlan: None,
            peer_qpn: connection.peer_qpn,
            rq_psn: FIRST_PSN,
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
    }

    /// Counters, memory and QPs are the model's. `counted` is what the engine counted in this round.
    pub fn compare(&self, session: &mut Session, connections: &[Connection], counted: &[u32; COUNTER_FILE]) -> Result<()> {
        let differing: Vec<String> = COUNTERS
            .iter()
            .map(|c| (c.name, counted[usize::from(c.code)], self.counters[usize::from(c.code)]))
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
