// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues (IBTA volume 1, 10.8).

use crate::ring::Ring;
use crate::slots::Key;
use crate::{Bus, Device, DmaMemory, Error, Qp, Transport};
use verbena_spec::layout::{self, completion_opcode, cqe, status};
use verbena_spec::registers;

/// Doorbell page of an index: `+8` is the CQ's consumer, `+12` arms it.
const DOORBELL_STRIDE: u32 = 16;
const CONSUMER: u32 = 8;
const ARM: u32 = 12;

/// A completion queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cq(pub(crate) Key);

/// What raises an armed CQ's one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notify {
    /// The next completion.
    Next = 1,
    /// The next solicited one, or one in error (R63).
    NextSolicited = 2,
}

/// What completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOpcode {
    /// SEND of any kind.
    Send,
    /// WRITE of either kind.
    Write,
    Read,
    CompareSwap,
    FetchAdd,
    Recv,
    RecvRdmaWithImm,
    /// One that this library doesn't know.
    Other(u8),
}

impl CompletionOpcode {
    fn from_code(code: u32) -> Self {
        match code {
            completion_opcode::SEND => Self::Send,
            completion_opcode::WRITE => Self::Write,
            completion_opcode::READ => Self::Read,
            completion_opcode::COMPARE_SWAP => Self::CompareSwap,
            completion_opcode::FETCH_ADD => Self::FetchAdd,
            completion_opcode::RECV => Self::Recv,
            completion_opcode::RECV_RDMA_WITH_IMM => Self::RecvRdmaWithImm,
            other => Self::Other(other as u8),
        }
    }

    /// Its number in a completion entry.
    pub fn code(self) -> u32 {
        match self {
            Self::Send => completion_opcode::SEND,
            Self::Write => completion_opcode::WRITE,
            Self::Read => completion_opcode::READ,
            Self::CompareSwap => completion_opcode::COMPARE_SWAP,
            Self::FetchAdd => completion_opcode::FETCH_ADD,
            Self::Recv => completion_opcode::RECV,
            Self::RecvRdmaWithImm => completion_opcode::RECV_RDMA_WITH_IMM,
            Self::Other(code) => code.into(),
        }
    }
}

/// How it ended (IBTA volume 1, 11.6.2; R64).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionStatus {
    Success,
    LocalLengthError,
    LocalQpOperationError,
    LocalProtectionError,
    WrFlushError,
    BadResponseError,
    LocalAccessError,
    RemoteInvalidRequestError,
    RemoteAccessError,
    RemoteOperationError,
    RetryExceeded,
    RnrRetryExceeded,
    /// One that this library doesn't know.
    Other(u8),
}

impl CompletionStatus {
    fn from_code(code: u32) -> Self {
        match code {
            status::SUCCESS => Self::Success,
            status::LOCAL_LENGTH_ERROR => Self::LocalLengthError,
            status::LOCAL_QP_OPERATION_ERROR => Self::LocalQpOperationError,
            status::LOCAL_PROTECTION_ERROR => Self::LocalProtectionError,
            status::WR_FLUSH_ERROR => Self::WrFlushError,
            status::BAD_RESPONSE_ERROR => Self::BadResponseError,
            status::LOCAL_ACCESS_ERROR => Self::LocalAccessError,
            status::REMOTE_INVALID_REQUEST_ERROR => Self::RemoteInvalidRequestError,
            status::REMOTE_ACCESS_ERROR => Self::RemoteAccessError,
            status::REMOTE_OPERATION_ERROR => Self::RemoteOperationError,
            status::RETRY_EXCEEDED => Self::RetryExceeded,
            status::RNR_RETRY_EXCEEDED => Self::RnrRetryExceeded,
            other => Self::Other(other as u8),
        }
    }

    /// Its number in a completion entry.
    pub fn code(self) -> u32 {
        match self {
            Self::Success => status::SUCCESS,
            Self::LocalLengthError => status::LOCAL_LENGTH_ERROR,
            Self::LocalQpOperationError => status::LOCAL_QP_OPERATION_ERROR,
            Self::LocalProtectionError => status::LOCAL_PROTECTION_ERROR,
            Self::WrFlushError => status::WR_FLUSH_ERROR,
            Self::BadResponseError => status::BAD_RESPONSE_ERROR,
            Self::LocalAccessError => status::LOCAL_ACCESS_ERROR,
            Self::RemoteInvalidRequestError => status::REMOTE_INVALID_REQUEST_ERROR,
            Self::RemoteAccessError => status::REMOTE_ACCESS_ERROR,
            Self::RemoteOperationError => status::REMOTE_OPERATION_ERROR,
            Self::RetryExceeded => status::RETRY_EXCEEDED,
            Self::RnrRetryExceeded => status::RNR_RETRY_EXCEEDED,
            Self::Other(code) => code.into(),
        }
    }
}

/// One completion (`ibv_wc`). In error length, immediate and key are 0 or `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// What [`Device::post_recv`] or [`Device::post_send`] was given.
    pub wr_id: u64,
    pub qp: Qp,
    pub opcode: CompletionOpcode,
    pub status: CompletionStatus,
    /// Bytes of the whole message (R55), GRH included (R70).
    pub byte_length: u32,
    /// The immediate, as the big-endian number on the wire.
    pub immediate: Option<u32>,
    /// The key that a SEND with invalidate ended.
    pub invalidated: Option<u32>,
    /// 40 bytes of GRH precede the payload.
    pub grh: bool,
    pub solicited: bool,
    /// UD: the sender's QPN; 0 otherwise.
    pub source_qpn: u32,
    /// Free-running index of the WQE in its queue, since the QP left RESET.
    pub wqe_index: u16,
}

pub(crate) struct CqState {
    ring: Ring,
    consumer: u16,
    /// Completions of QPs that were destroyed before they were polled.
    stale: u64,
}

impl<P: Bus + DmaMemory> Device<P> {
    /// A CQ of at least `entries`. It overflows, with an event, if more completions wait than it has entries (R69).
    pub fn create_cq(&mut self, entries: usize) -> Result<Cq, Error> {
        let key = self.cqs.vacancy()?;
        let ring = Ring::allocate(
            &mut self.platform,
            &self.capabilities,
            "CQ",
            entries,
            self.capabilities.ring_entries,
            layout::CQE_BYTES,
        )?;
        let mut row = [0; layout::CQ_WORDS];
        layout::cq::BASE_LOW.set(&mut row, ring.base as u32);
        layout::cq::BASE_HIGH.set(&mut row, (ring.base >> 32) as u32);
        layout::cq::LOG.set(&mut row, ring.log);
        layout::cq::VALID.set(&mut row, 1);
        // Word 3 has no field. Word 0 comes last: it restarts the queue.
        self.write_row(cq_row(key), &row[..=layout::cq::BASE_HIGH.word])?;
        self.cqs.fill(
            key,
            CqState {
                ring,
                consumer: 0,
                stale: 0,
            },
        );
        Ok(Cq(key))
    }

    /// Ends a CQ that no QP uses.
    pub fn destroy_cq(&mut self, cq: Cq) -> Result<(), Error> {
        self.cqs.get(cq.0)?;
        if self.qps.iter().any(|q| q.recv_cq == cq || q.send_cq == cq) {
            return Err(Error::Busy {
                what: "the completion queue",
                by: "a queue pair",
            });
        }
        self.platform.write(cq_row(cq.0), 0)?;
        let state = self.cqs.take(cq.0)?;
        Ok(state.ring.free(&mut self.platform)?)
    }

    /// Up to `most` completions, oldest first. What is posted on a QP in ERR comes back flushed, by the engine (R65).
    pub fn poll_cq(&mut self, cq: Cq, most: usize) -> Result<Vec<Completion>, Error> {
        let mut found = Vec::new();
        let mut moved = false;
        while found.len() < most {
            let state = self.cqs.get_mut(cq.0)?;
            let entry = state
                .ring
                .poll::<{ layout::CQE_BYTES / 4 }>(&mut self.platform, state.consumer, &cqe::PHASE)?;
            let Some(entry) = entry else { break };
            state.consumer = state.consumer.wrapping_add(1);
            moved = true;
            match self.completion(&entry) {
                Some(completion) => found.push(completion),
                None => self.cqs.get_mut(cq.0)?.stale += 1,
            }
        }
        if moved {
            let consumer = self.cqs.get(cq.0)?.consumer;
            self.platform.write(doorbell(cq.0) + CONSUMER, consumer as u32)?;
        }
        Ok(found)
    }

    /// Arms the CQ: one [`crate::Event::Completion`] at the next completion that qualifies. Poll once more after arming: what came
    /// before doesn't count.
    pub fn req_notify_cq(&mut self, cq: Cq, notify: Notify) -> Result<(), Error> {
        self.cqs.get(cq.0)?;
        Ok(self.platform.write(doorbell(cq.0) + ARM, notify as u32)?)
    }

    /// Completions dropped because their QP was destroyed before they were polled.
    pub fn stale_completions(&self, cq: Cq) -> Result<u64, Error> {
        Ok(self.cqs.get(cq.0)?.stale)
    }

    fn completion(&mut self, entry: &[u32]) -> Option<Completion> {
        let qp = self.qp_by_number(cqe::QPN.get(entry))?;
        let status = CompletionStatus::from_code(cqe::STATUS.get(entry));
        let slot = self.qps.get_mut(qp.id).ok()?;
        let datagram = slot.transport == Transport::Ud;
        let wqe_index = cqe::WQE_INDEX.get(entry) as u16;
        let code = cqe::OPCODE.get(entry);
        // The receive queue's opcodes have the upper bit. In error the send queue's opcode is what was posted.
        let (wr_id, opcode) = if code & completion_opcode::RECV != 0 {
            (slot.receive.complete(wqe_index)?, CompletionOpcode::from_code(code))
        } else {
            slot.send.complete(wqe_index)?
        };
        let good = status == CompletionStatus::Success;
        if !good {
            slot.enter_error();
        }
        let immediate = cqe::IMMEDIATE.get(entry);
        Some(Completion {
            wr_id,
            qp,
            opcode,
            status,
            byte_length: if good { cqe::BYTE_LENGTH.get(entry) } else { 0 },
            immediate: (good && cqe::WITH_IMM.get(entry) == 1).then_some(immediate),
            invalidated: (good && cqe::WITH_INVALIDATE.get(entry) == 1).then_some(immediate),
            grh: cqe::GRH.get(entry) == 1,
            solicited: cqe::SOLICITED.get(entry) == 1,
            source_qpn: if datagram { cqe::SOURCE_QPN.get(entry) } else { 0 },
            wqe_index,
        })
    }
}

fn cq_row(key: Key) -> u32 {
    registers::CQ_TABLE + 4 * layout::CQ_WORDS as u32 * key.index
}

fn doorbell(key: Key) -> u32 {
    registers::DOORBELLS + DOORBELL_STRIDE * key.index
}
