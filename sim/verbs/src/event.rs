// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event queue.

use crate::{Bus, Cq, Device, DmaMemory, Error, Qp};
use verbena_spec::layout::{self, event_type};
use verbena_spec::registers;

/// Something the engine reports by itself (IBTA volume 1, 11.6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// An armed CQ got a completion.
    Completion { cq: Cq },
    /// A CQ overflowed: it lost completions, and only it (R69).
    CqError { cq: Cq },
    /// A QP went to ERR; `syndrome` is that of the NAK that says why, or, below 0x20, the status of the send that failed.
    QpFatal { qp: Qp, syndrome: u8 },
    /// The first packet reached a QP in RTR.
    CommunicationEstablished { qp: Qp },
    /// A QP in SQD has nothing outstanding any more.
    SqDrained { qp: Qp },
    /// A doorbell was refused (R69).
    BadDoorbell { index: u32 },
    /// One for a CQ or QP that has been destroyed since, or of a type that this library doesn't know.
    Other { code: u32, number: u32, detail: u32 },
}

impl<P: Bus + DmaMemory> Device<P> {
    pub(crate) fn start_events(&mut self) -> Result<(), Error> {
        let base = self.events.base;
        self.platform.write(registers::EQ_BASE_LOW, base as u32)?;
        self.platform.write(registers::EQ_BASE_HIGH, (base >> 32) as u32)?;
        self.platform.write(registers::EQ_CONTROL, 1 << 31 | self.events.log)?;
        self.event_consumer = 0;
        Ok(())
    }

    /// The next event, if there is one.
    pub fn poll_event(&mut self) -> Result<Option<Event>, Error> {
        let entry = self
            .events
            .poll::<{ layout::EVENT_BYTES / 4 }>(&mut self.platform, self.event_consumer, &layout::event::PHASE)?;
        let Some(entry) = entry else { return Ok(None) };
        self.event_consumer = self.event_consumer.wrapping_add(1);
        self.platform.write(registers::EQ_CONSUMER, self.event_consumer as u32)?;
        let code = layout::event::TYPE.get(&entry);
        let number = layout::event::NUMBER.get(&entry);
        let detail = layout::event::DETAIL.get(&entry);
        let cq = self.cqs.at_mut(number as usize).map(|(key, _)| Cq(key));
        let qp = self.qp_by_number(number);
        let event = match (code, cq, qp) {
            (event_type::COMPLETION, Some(cq), _) => Event::Completion { cq },
            (event_type::CQ_ERROR, Some(cq), _) => Event::CqError { cq },
            (event_type::QP_FATAL, _, Some(qp)) => {
                self.qps.get_mut(qp.id)?.enter_error();
                Event::QpFatal {
                    qp,
                    syndrome: detail as u8,
                }
            }
            (event_type::COMMUNICATION_ESTABLISHED, _, Some(qp)) => Event::CommunicationEstablished { qp },
            (event_type::SQ_DRAINED, _, Some(qp)) => Event::SqDrained { qp },
            (event_type::BAD_DOORBELL, ..) => Event::BadDoorbell { index: number },
            _ => Event::Other { code, number, detail },
        };
        Ok(Some(event))
    }
}
