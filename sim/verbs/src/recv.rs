// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive queue.

use crate::ring::Ring;
use crate::{Bus, Device, DmaMemory, Error, Qp, QpState, Sge};
use std::collections::VecDeque;
use verbena_spec::layout::{self, rq_wqe};
use verbena_spec::registers;

/// Doorbell page of an index: `+4` is the RQ's producer.
const DOORBELL_STRIDE: u32 = 16;
const RQ_PRODUCER: u32 = 4;

/// The library's side of a receive ring: what is posted and not completed.
pub(crate) struct ReceiveQueue {
    pub ring: Ring,
    producer: u16,
    /// Free-running index and the caller's id, oldest first.
    posted: VecDeque<(u16, u64)>,
}

impl ReceiveQueue {
    pub fn new(ring: Ring) -> Self {
        ReceiveQueue {
            ring,
            producer: 0,
            posted: VecDeque::new(),
        }
    }

    /// The QP went back to RESET: indices start again.
    pub fn clear(&mut self) {
        self.producer = 0;
        self.posted.clear();
    }

    /// Takes the entry that a completion names; `None` if it isn't posted.
    pub fn complete(&mut self, index: u16) -> Option<u64> {
        let position = self.posted.iter().position(|(i, _)| *i == index)?;
        self.posted.remove(position).map(|(_, id)| id)
    }

    /// Entries up to the oldest one that is still posted.
    fn in_use(&self) -> usize {
        self.posted
            .front()
            .map_or(0, |(oldest, _)| self.producer.wrapping_sub(*oldest) as usize)
    }
}

impl<P: Bus + DmaMemory> Device<P> {
    /// Posts one receive of one element and rings the doorbell. `wr_id` comes back in its completion.
    pub fn post_recv(&mut self, qp: Qp, wr_id: u64, sge: Sge) -> Result<(), Error> {
        self.post_recv_list(qp, &[(wr_id, sge)])
    }

    /// Posts several receives with one doorbell; all or none.
    pub fn post_recv_list(&mut self, qp: Qp, list: &[(u64, Sge)]) -> Result<(), Error> {
        let slot = self.qps.get_mut(qp.id)?;
        if slot.state == QpState::Reset {
            return Err(Error::BadState(slot.state));
        }
        let entries = slot.receive.ring.entries();
        if slot.receive.in_use() + list.len() > entries {
            return Err(Error::QueueFull { entries });
        }
        let first = slot.receive.producer;
        for (i, (_, sge)) in list.iter().enumerate() {
            let mut wqe = [0; layout::RQ_WQE_BYTES / 4];
            rq_wqe::ADDRESS_LOW.set(&mut wqe, sge.address as u32);
            rq_wqe::ADDRESS_HIGH.set(&mut wqe, (sge.address >> 32) as u32);
            rq_wqe::LENGTH.set(&mut wqe, sge.length);
            rq_wqe::LKEY.set(&mut wqe, sge.lkey);
            slot.receive.ring.store(&mut self.platform, first.wrapping_add(i as u16), &wqe)?;
        }
        let producer = first.wrapping_add(list.len() as u16);
        self.platform
            .write(registers::DOORBELLS + DOORBELL_STRIDE * qp.id.index + RQ_PRODUCER, producer as u32)?;
        slot.receive
            .posted
            .extend(list.iter().enumerate().map(|(i, (id, _))| (first.wrapping_add(i as u16), *id)));
        slot.receive.producer = producer;
        Ok(())
    }
}
