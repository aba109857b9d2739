// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs (IBTA volume 1, 10.2 and 10.3): creation, destruction, query. State changes are in `modify`.

use crate::recv::ReceiveQueue;
use crate::ring::{Ring, MOST_ENTRIES};
use crate::send::SendQueue;
use crate::slots::Key;
use crate::{Bus, Cq, Device, DmaMemory, Error, Pd};
use verbena_spec::layout::{self, qp, state};
use verbena_spec::registers;

/// Bits of a QPN that are the index; the tag is above.
const INDEX_BITS: u32 = 12;
/// Index of QP1, the general service interface.
const GSI: u32 = 1;
/// Command operations.
pub(crate) const MODIFY: u32 = 1;
const QUERY: u32 = 2;

/// A queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Qp {
    pub(crate) id: Key,
    /// QPN: `tag << 12 | index`. The tag changes at every creation, so packets for a former life are dropped (R61).
    pub qpn: u32,
}

/// Service type; the number is the opcode's upper three bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Reliable connected.
    Rc = 0,
    /// Unreliable connected.
    Uc = 1,
    /// Unreliable datagram.
    Ud = 3,
}

/// QP states (IBTA volume 1, 10.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QpState {
    Reset,
    Init,
    /// Ready to receive.
    Rtr,
    /// Ready to send (and receive).
    Rts,
    /// Send queue drained.
    Sqd,
    Err,
}

impl QpState {
    pub(crate) fn code(self) -> u32 {
        match self {
            QpState::Reset => state::RESET,
            QpState::Init => state::INIT,
            QpState::Rtr => state::RTR,
            QpState::Rts => state::RTS,
            QpState::Sqd => state::SQD,
            QpState::Err => state::ERR,
        }
    }

    fn from_code(code: u32) -> QpState {
        match code {
            state::RESET => QpState::Reset,
            state::INIT => QpState::Init,
            state::RTR => QpState::Rtr,
            state::RTS => QpState::Rts,
            state::SQD => QpState::Sqd,
            _ => QpState::Err,
        }
    }
}

/// What a QP is created with (`ibv_qp_init_attr`).
#[derive(Debug, Clone, Copy)]
pub struct QpInit {
    pub pd: Pd,
    pub transport: Transport,
    pub recv_cq: Cq,
    /// Where sends complete.
    pub send_cq: Cq,
    /// Send WQEs, rounded up to a power of two, 1 to 32768. An engine without requester gets no send queue.
    pub send_entries: usize,
    /// Receive WQEs, rounded up to a power of two, 1 to 32768.
    pub recv_entries: usize,
    /// Make it QP1 (UD only).
    pub gsi: bool,
    /// The number to give, instead of the next one: for replaying traffic that names it.
    pub qpn: Option<u32>,
}

impl QpInit {
    /// An ordinary QP with one CQ for both queues and 64 send WQEs.
    pub fn new(pd: Pd, transport: Transport, cq: Cq, recv_entries: usize) -> QpInit {
        QpInit {
            pd,
            transport,
            recv_cq: cq,
            send_cq: cq,
            send_entries: 64,
            recv_entries,
            gsi: false,
            qpn: None,
        }
    }
}

/// A QP as the engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QpQuery {
    pub state: QpState,
    /// PSN expected next.
    pub epsn: u32,
    /// Messages completed, modulo 2^24 (R37).
    pub msn: u32,
    /// Receive WQEs consumed, modulo 2^16.
    pub consumed: u16,
}

pub(crate) struct QpSlot {
    pub qpn: u32,
    pub pd: Pd,
    pub transport: Transport,
    pub recv_cq: Cq,
    pub send_cq: Cq,
    pub state: QpState,
    pub row: [u32; layout::QP_WORDS],
    /// First of the QP's responder resources.
    pub resources: Option<usize>,
    pub receive: ReceiveQueue,
    pub send: SendQueue,
}

impl QpSlot {
    /// The engine reports that the QP failed.
    pub fn enter_error(&mut self) {
        if self.state != QpState::Reset {
            self.state = QpState::Err;
        }
    }
}

impl<P: Bus + DmaMemory> Device<P> {
    /// A QP in RESET.
    pub fn create_qp(&mut self, init: &QpInit) -> Result<Qp, Error> {
        self.pds.get(init.pd.0)?;
        self.cqs.get(init.recv_cq.0)?;
        self.cqs.get(init.send_cq.0)?;
        match init.transport {
            Transport::Uc if !self.capabilities.uc => return Err(Error::Unsupported("UC transport")),
            Transport::Ud if !self.capabilities.ud => return Err(Error::Unsupported("UD transport")),
            Transport::Rc | Transport::Uc if init.gsi => return Err(Error::Unsupported("QP1 of another transport than UD")),
            _ => {}
        }
        let wanted = if init.gsi { Some(GSI) } else { init.qpn };
        let id = match wanted {
            None => self.qps.vacancy()?,
            Some(qpn) if index(qpn) == 0 || qpn >> 24 != 0 => {
                let want = "24 bits, index not 0".into();
                return Err(Error::OutOfRange {
                    what: "qpn",
                    value: qpn as u64,
                    want,
                });
            }
            Some(qpn) => self.qps.vacancy_at(index(qpn))?,
        };
        // Tags go 1 to 4095 and round again.
        let next = self.qpn_tags[id.index as usize] % 4095 + 1;
        let tag = wanted.map_or(next, |qpn| (qpn >> INDEX_BITS) as u16);
        let qpn = (tag as u32) << INDEX_BITS | id.index;
        let ring = Ring::allocate(
            &mut self.platform,
            &self.capabilities,
            "receive queue",
            init.recv_entries,
            MOST_ENTRIES,
            layout::RQ_WQE_BYTES,
        )?;
        let send_ring = match self.send_ring(init.send_entries) {
            Ok(send_ring) => send_ring,
            Err(error) => {
                ring.free(&mut self.platform)?;
                return Err(error);
            }
        };
        let mut row = [0; layout::QP_WORDS];
        if let Some(send_ring) = &send_ring {
            qp::SQ_BASE_LOW.set(&mut row, send_ring.base as u32);
            qp::SQ_BASE_HIGH.set(&mut row, (send_ring.base >> 32) as u32);
            qp::SQ_LOG.set(&mut row, send_ring.log);
        }
        qp::SERVICE.set(&mut row, init.transport as u32);
        qp::TAG.set(&mut row, tag as u32);
        qp::PD.set(&mut row, init.pd.0.index);
        qp::RECV_CQ.set(&mut row, init.recv_cq.0.index);
        qp::SEND_CQ.set(&mut row, init.send_cq.0.index);
        qp::RQ_BASE_LOW.set(&mut row, ring.base as u32);
        qp::RQ_BASE_HIGH.set(&mut row, (ring.base >> 32) as u32);
        qp::RQ_LOG.set(&mut row, ring.log);
        // RC and UC set theirs on the way to RTR; UD takes what the port takes.
        let largest = crate::PathMtu::from_bytes(self.capabilities.max_pmtu).unwrap_or(crate::PathMtu::Mtu256);
        qp::PMTU.set(&mut row, largest as u32);
        if let Err(error) = self
            .command(MODIFY, state::RESET, id.index)
            .and_then(|()| self.write_qp_row(id, &row))
        {
            ring.free(&mut self.platform)?;
            if let Some(send_ring) = &send_ring {
                send_ring.free(&mut self.platform)?;
            }
            return Err(error);
        }
        self.qpn_tags[id.index as usize] = tag;
        self.qps.fill(
            id,
            QpSlot {
                qpn,
                pd: init.pd,
                transport: init.transport,
                recv_cq: init.recv_cq,
                send_cq: init.send_cq,
                state: QpState::Reset,
                row,
                resources: None,
                receive: ReceiveQueue::new(ring),
                send: SendQueue::new(send_ring),
            },
        );
        Ok(Qp { id, qpn })
    }

    /// Ends a QP in any state; completions not polled yet are dropped.
    pub fn destroy_qp(&mut self, qp: Qp) -> Result<(), Error> {
        self.qps.get(qp.id)?;
        self.command(MODIFY, state::RESET, qp.id.index)?;
        let slot = self.qps.take(qp.id)?;
        if let Some(first) = slot.resources {
            self.resources.free(first);
        }
        let freed = slot.receive.ring.free(&mut self.platform);
        if let Some(send_ring) = &slot.send.ring {
            send_ring.free(&mut self.platform)?;
        }
        Ok(freed?)
    }

    fn send_ring(&mut self, entries: usize) -> Result<Option<Ring>, Error> {
        if !self.capabilities.requester {
            return Ok(None);
        }
        Ring::allocate(
            &mut self.platform,
            &self.capabilities,
            "send queue",
            entries,
            MOST_ENTRIES,
            layout::SQ_WQE_BYTES,
        )
        .map(Some)
    }

    /// Asks the engine for the QP's state and counts.
    pub fn query_qp(&mut self, qp: Qp) -> Result<QpQuery, Error> {
        self.qps.get(qp.id)?;
        self.command(QUERY, 0, qp.id.index)?;
        let first = self.platform.read(registers::RESULT_0)?;
        let query = QpQuery {
            state: QpState::from_code(first & 7),
            epsn: first >> 8,
            msn: self.platform.read(registers::RESULT_1)? & 0xff_ffff,
            consumed: self.platform.read(registers::RESULT_2)? as u16,
        };
        if query.state == QpState::Err {
            self.qps.get_mut(qp.id)?.enter_error();
        }
        Ok(query)
    }

    /// The state that the library last knew: what it set, or ERR if a completion or event said so.
    pub fn qp_state(&self, qp: Qp) -> Result<QpState, Error> {
        Ok(self.qps.get(qp.id)?.state)
    }

    /// Words that this engine keeps: those of the send queue only where there is a requester.
    pub(crate) fn write_qp_row(&mut self, id: Key, row: &[u32]) -> Result<(), Error> {
        let words = if self.capabilities.requester {
            qp::MAX_DEST_RD_ATOMIC.word
        } else {
            qp::DEST_IP_3.word
        };
        self.write_row(registers::QP_TABLE + 4 * layout::QP_WORDS as u32 * id.index, &row[..=words])
    }

    /// The send half's words that RTR to RTS sets: the only ones that are written outside RESET and INIT.
    pub(crate) fn write_send_words(&mut self, id: Key, row: &[u32]) -> Result<(), Error> {
        for word in [qp::SQ_PSN.word, qp::TIMEOUT.word] {
            let base = registers::QP_TABLE + 4 * layout::QP_WORDS as u32 * id.index;
            self.platform.write(base + 4 * word as u32, row[word])?;
        }
        Ok(())
    }

    /// The live QP of that number.
    pub(crate) fn qp_by_number(&mut self, qpn: u32) -> Option<Qp> {
        self.qps
            .at_mut(index(qpn))
            .filter(|(_, slot)| slot.qpn == qpn)
            .map(|(id, _)| Qp { id, qpn })
    }
}

/// The table index of a QPN.
fn index(qpn: u32) -> usize {
    (qpn & ((1 << INDEX_BITS) - 1)) as usize
}
