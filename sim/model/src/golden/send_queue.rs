// SPDX-License-Identifier: MIT OR Apache-2.0
//! State of a send queue: what was sent, what was acknowledged, timers.
//!
//! ```text
//!   WQE   oldest ............ next ........ begun ............ producer
//!         └─ records (8 at most) ───────────┘└─ never begun ──┘
//!   PSN   oldest_psn ........ next_psn .... highest
//! ```
//! `next` falls behind `begun` by a rewind and catches up by resending.

use super::congestion::Limiter;
use super::qp::Attributes;
use super::reorder::Held;
use super::send_wqe::SendWqe;
use crate::packet::Packet;
use std::collections::VecDeque;
use verbena_spec::headers::RNR_TIMER_10US;
use verbena_spec::layout::send_opcode;

/// PSNs are 24 bits wide.
const PSN_MASK: u32 = 0xff_ffff;

/// How far `b` is after `a`, modulo 2^24.
pub fn distance(a: u32, b: u32) -> u32 {
    b.wrapping_sub(a) & PSN_MASK
}

/// The PSN `ahead` of `psn`.
pub fn after(psn: u32, ahead: u32) -> u32 {
    psn.wrapping_add(ahead) & PSN_MASK
}

/// Local ACK timeout in ns: 4.096 us times 2^code; code 0 is off (R47).
pub fn ack_timeout(code: u8) -> Option<u64> {
    (code != 0).then(|| 4096u64 << code.min(31))
}

/// RNR timer in ns by code (R43).
pub fn rnr_timer(code: u8) -> u64 {
    u64::from(RNR_TIMER_10US[usize::from(code & 31)]) * 10_000
}

/// A message that was begun and isn't completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub first_psn: u32,
    /// PSNs it takes (R22).
    pub packets: u32,
    pub opcode: u32,
    pub signaled: bool,
    pub length: u32,
    /// A READ that was asked for again from its middle: its responses may begin anew there (R30).
    pub restarted: bool,
    /// Some of a READ was asked for alone: its responses may end there, too.
    pub cut: bool,
}

/// Requests to be sent again alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resend {
    pub psn: u32,
    /// PSNs of a READ that are missing, at most.
    pub packets: u32,
}

impl Record {
    /// READ or ATOMIC: completes by its responses, not by an ACK.
    pub fn is_answered(&self) -> bool {
        matches!(self.opcode, send_opcode::READ | send_opcode::COMPARE_SWAP | send_opcode::FETCH_ADD)
    }

    /// First PSN behind it.
    pub fn end(&self) -> u32 {
        after(self.first_psn, self.packets)
    }

    /// A WQE fetched again is the one that was begun (R66).
    pub fn matches(&self, wqe: &SendWqe, pmtu: usize) -> bool {
        (self.opcode, self.length, self.packets) == (wqe.opcode(), wqe.length(), wqe.packets(pmtu))
    }
}

/// The send queue.
#[derive(Debug, Clone, Default)]
pub struct SendQueue {
    /// Free-running indices.
    pub producer: u16,
    pub next: u16,
    pub begun: u16,
    pub oldest: u16,
    pub next_psn: u32,
    /// Highest PSN ever sent + 1.
    pub highest: u32,
    /// Oldest PSN that isn't acknowledged.
    pub oldest_psn: u32,
    /// Messages `oldest..begun`.
    pub records: VecDeque<Record>,
    /// The WQE at `next`, as fetched in this attempt.
    pub fetched: Option<SendWqe>,
    /// The WQE of the READ or ATOMIC whose responses come, as fetched in this attempt.
    pub answered: Option<SendWqe>,
    /// When the ACK timer runs out, ns.
    pub ack_deadline: Option<u64>,
    /// When the RNR wait ends, ns.
    pub rnr_deadline: Option<u64>,
    /// Retries left until the next progress.
    pub retries: u8,
    pub rnr_retries: u8,
    /// A missing response was asked for since the last progress (R34).
    pub implied: bool,
    /// Early responses.
    pub early: Held,
    /// The newest ACK or NAK that waits for responses before it.
    pub waiting: Option<Packet>,
    /// What the next turn sends, before it goes on.
    pub resend: Option<Resend>,
    /// First PSN behind the hole in a READ's responses that was asked for last.
    pub asked: Option<u32>,
    /// PSN of the last sequence NAK that was answered by a resend alone.
    pub resent: Option<u32>,
    pub limiter: Limiter,
    /// SQ_DRAINED was reported in this SQD.
    pub drained: bool,
}

impl SendQueue {
    /// As RTR to RTS leaves it.
    pub fn new(a: &Attributes) -> Self {
        Self {
            next_psn: a.sq_psn,
            highest: a.sq_psn,
            oldest_psn: a.sq_psn,
            retries: a.retry_count,
            rnr_retries: a.rnr_retry,
            ..Self::default()
        }
    }

    /// PSNs sent and not acknowledged.
    pub fn outstanding(&self) -> u32 {
        distance(self.oldest_psn, self.highest)
    }

    /// The record of a begun WQE.
    pub fn record(&self, index: u16) -> Option<&Record> {
        self.records.get(usize::from(index.wrapping_sub(self.oldest)))
    }

    /// READs and ATOMICs outstanding.
    pub fn answered_outstanding(&self) -> usize {
        self.records.iter().filter(|r| r.is_answered()).count()
    }

    /// When a missing response is older than `nak_delay`, ns; none once it was asked for again.
    pub(super) fn missing_deadline(&self, a: &Attributes) -> Option<u64> {
        self.early.deadline(a).filter(|_| !self.implied && self.rnr_deadline.is_none())
    }

    /// Goes on from `psn`, which is outstanding, or the next new one.
    pub fn seek(&mut self, psn: u32) {
        self.fetched = None;
        self.next_psn = psn;
        self.next = self.begun;
        for (number, record) in self.records.iter_mut().enumerate() {
            let at = distance(record.first_psn, psn);
            if at < record.packets {
                self.next = self.oldest.wrapping_add(number as u16);
                record.restarted |= at != 0;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r43_every_rnr_code_in_ns() {
        assert_eq!(
            (rnr_timer(0), rnr_timer(1), rnr_timer(12), rnr_timer(24), rnr_timer(25)),
            (655_360_000, 10_000, 640_000, 40_960_000, 61_440_000)
        );
    }

    #[test]
    fn r47_every_timeout_code_in_ns() {
        assert_eq!(ack_timeout(0), None);
        for code in 1..32u8 {
            assert_eq!(ack_timeout(code), Some(4096 * 2u64.pow(u32::from(code))));
        }
    }
}
