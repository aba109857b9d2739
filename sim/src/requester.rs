// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer that keeps a window of packets open and goes back N on a NAK or a timeout: enough to move a file.

use crate::held::NotHeld;
use crate::traffic::Answer;
use anyhow::Result;
use std::collections::VecDeque;

/// Syndrome of a PSN sequence error NAK.
const NAK_SEQUENCE: u8 = 0x60;
const PSN_MASK: u32 = 0xff_ffff;

/// Signed distance of PSNs (R21).
fn distance(a: u32, b: u32) -> i32 {
    ((a.wrapping_sub(b) << 8) as i32) >> 8
}

/// Packets in PSN order; the front is the oldest unacknowledged one.
pub struct Requester {
    /// Frames not sent yet, with their PSNs.
    waiting: VecDeque<(u32, Vec<u8>)>,
    outstanding: VecDeque<(u32, Vec<u8>)>,
    window: usize,
    /// Cycles without progress before everything outstanding is sent again.
    timeout: u64,
    last_progress: u64,
    retries_left: u32,
    pub retransmitted: u64,
}

impl Requester {
    pub fn new(window: usize, timeout: u64) -> Requester {
        Requester {
            waiting: VecDeque::new(),
            outstanding: VecDeque::new(),
            window,
            timeout,
            last_progress: 0,
            retries_left: 7,
            retransmitted: 0,
        }
    }

    /// Queues packets from `psn` on.
    pub fn queue(&mut self, psn: u32, frames: Vec<Vec<u8>>) {
        self.waiting.extend(
            frames
                .into_iter()
                .enumerate()
                .map(|(i, f)| (psn.wrapping_add(i as u32) & PSN_MASK, f)),
        );
    }

    /// Packets not sent yet.
    pub fn backlog(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_done(&self) -> bool {
        self.waiting.is_empty() && self.outstanding.is_empty()
    }

    /// What may be sent now.
    pub fn send(&mut self, cycle: u64) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        while self.outstanding.len() < self.window {
            let Some(next) = self.waiting.pop_front() else { break };
            if self.outstanding.is_empty() {
                self.last_progress = cycle;
            }
            frames.push(next.1.clone());
            self.outstanding.push_back(next);
        }
        frames
    }

    /// Takes an answer; returns what must be sent again.
    pub fn receive(&mut self, answer: &Answer, cycle: u64) -> Result<Vec<Vec<u8>>> {
        let is_nak = answer.syndrome == NAK_SEQUENCE;
        if !answer.is_ack() && !is_nak {
            let what = format!("the engine refused PSN {:#08x} with syndrome {:#04x}", answer.psn, answer.syndrome);
            return Err(NotHeld(what).into());
        }
        // An ACK covers its PSN and all before; a sequence NAK all before its PSN (R25).
        let covered = if is_nak {
            answer.psn.wrapping_sub(1) & PSN_MASK
        } else {
            answer.psn
        };
        while self.outstanding.front().is_some_and(|(psn, _)| distance(*psn, covered) <= 0) {
            self.outstanding.pop_front();
            self.last_progress = cycle;
            self.retries_left = 7;
        }
        Ok(if is_nak { self.again(cycle) } else { Vec::new() })
    }

    /// Sends all outstanding packets again if nothing moved for too long.
    pub fn check_timeout(&mut self, cycle: u64) -> Result<Vec<Vec<u8>>> {
        if self.outstanding.is_empty() || cycle - self.last_progress < self.timeout {
            return Ok(Vec::new());
        }
        if self.retries_left == 0 {
            let what = format!(
                "retry count exceeded at cycle {cycle}: PSN {:#08x} is never acknowledged",
                self.outstanding[0].0
            );
            return Err(NotHeld(what).into());
        }
        self.retries_left -= 1;
        Ok(self.again(cycle))
    }

    fn again(&mut self, cycle: u64) -> Vec<Vec<u8>> {
        self.last_progress = cycle;
        self.retransmitted += self.outstanding.len() as u64;
        self.outstanding.iter().map(|(_, f)| f.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(psn: u32, syndrome: u8) -> Answer {
        Answer {
            dest_qpn: 0,
            psn,
            syndrome,
            msn: 0,
        }
    }

    #[test]
    fn window_acks_naks_and_timeouts() {
        let mut requester = Requester::new(3, 100);
        requester.queue(0xff_fffe, (0..5u8).map(|i| vec![i]).collect());
        assert_eq!(requester.send(0), [[0], [1], [2]]);
        assert!(requester.send(1).is_empty());
        // R21: the ACK of 0xffffff covers two across the wrap.
        assert!(requester.receive(&ack(0xff_ffff, 0x1f), 10).unwrap().is_empty());
        assert_eq!(requester.send(11), [[3], [4]]);
        // R25: NAK of PSN 1 acknowledges 0 and asks for 1 and 2.
        assert_eq!(requester.receive(&ack(1, NAK_SEQUENCE), 20).unwrap(), [[3], [4]]);
        assert!(requester.check_timeout(50).unwrap().is_empty());
        assert_eq!(requester.check_timeout(120).unwrap(), [[3], [4]]);
        requester.receive(&ack(2, 0x1f), 130).unwrap();
        assert!(requester.is_done());
        assert!(requester.receive(&ack(2, 0x62), 140).is_err());
        assert_eq!(requester.retransmitted, 4);
    }
}
