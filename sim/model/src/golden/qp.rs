// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue pair's attributes and receive state.

use super::reorder::Held;
use super::respond::{Response, Stored};
use super::send_queue::SendQueue;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use verbena_spec::headers::syndrome;

/// What software sets (the QP row).
#[derive(Debug, Clone)]
pub struct Attributes {
    pub qpn: u32,
    /// 0 RC, 1 UC, 3 UD.
    pub service: u8,
    /// Path MTU, bytes.
    pub pmtu: usize,
    pub pd: u16,
    pub pkey: u16,
    pub qkey: u32,
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
    pub gid_index: usize,
    pub peer_ip: IpAddr,
    pub peer_mac: [u8; 6],
    pub vlan: Option<u16>,
    pub peer_qpn: u32,
    pub rq_psn: u32,
    /// RNR timer code.
    pub rnr_timer: u8,
    pub traffic_class: u8,
    pub hop_limit: u8,
    pub udp_source: u16,
    pub recv_cq: u16,
    /// READs and ATOMICs that the peer may have outstanding (R59).
    pub max_dest_rd_atomic: u8,
    pub send_cq: u16,
    /// First PSN sent.
    pub sq_psn: u32,
    /// Bus address of the send ring.
    pub sq_base: u64,
    /// log2 of the send ring's entries.
    pub sq_log: u32,
    /// Local ACK timeout code: 4.096 us times 2^n, 0 is off (R47).
    pub timeout: u8,
    /// Transport retries without progress (R48).
    pub retry_count: u8,
    /// RNR retries without progress, 7 for ever (R44).
    pub rnr_retry: u8,
    /// READs and ATOMICs that we may have outstanding (R59).
    pub max_rd_atomic: u8,
    /// After a sequence NAK only the packet that it names is sent again: the peer holds early packets.
    pub selective_repeat: bool,
    /// PSNs outstanding at most with selective repeat, 4 to 63; 0: 64.
    pub selective_window: u8,
    /// Early packets are held, where the engine can (R42).
    pub reorder: bool,
    /// A gap is a loss once a packet more than this many PSNs after it came, 0 to 63 (R23, R34).
    pub nak_distance: u8,
    /// A gap is a loss once it is older, us; 0: age doesn't count.
    pub nak_delay: u16,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            qpn: 0,
            service: 0,
            pmtu: 1024,
            pd: 0,
            pkey: 0xffff,
            qkey: 0,
            remote_write: false,
            remote_read: false,
            remote_atomic: false,
            gid_index: 0,
            peer_ip: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            peer_mac: [0; 6],
            vlan: None,
            peer_qpn: 0,
            rq_psn: 0,
            rnr_timer: 12,
            traffic_class: 0,
            hop_limit: 64,
            udp_source: 0xc000,
            recv_cq: 0,
            max_dest_rd_atomic: 0,
            send_cq: 0,
            sq_psn: 0,
            sq_base: 0,
            sq_log: 0,
            timeout: 14,
            retry_count: 7,
            rnr_retry: 7,
            max_rd_atomic: 0,
            selective_repeat: false,
            selective_window: 0,
            reorder: true,
            nak_distance: 0,
            nak_delay: 0,
        }
    }
}

/// States (IBTA 10.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    #[default]
    Reset,
    Init,
    Rtr,
    Rts,
    Sqd,
    Err,
}

/// A posted receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receive {
    /// Free-running index.
    pub index: u16,
    pub address: u64,
    pub length: u32,
    pub lkey: u32,
}

/// A message under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    Idle,
    /// SEND into a receive; bytes so far.
    Send {
        receive: Receive,
        done: u32,
    },
    /// WRITE: next address, bytes left, bytes so far.
    Write {
        address: u64,
        rkey: u32,
        left: u32,
        done: u32,
    },
    /// UC: the rest of a broken message.
    Dropping,
}

/// A queue pair.
#[derive(Debug, Clone)]
pub struct Qp {
    pub attributes: Attributes,
    pub state: State,
    pub epsn: u32,
    pub msn: u32,
    pub message: Message,
    /// A sequence NAK or RNR NAK stands: silence until ePSN arrives.
    pub nak_sent: bool,
    /// Early requests.
    pub early: Held,
    pub receives: VecDeque<Receive>,
    pub posted: u16,
    /// PSN of the newest SEND or WRITE packet that was executed (R26).
    pub executed: u32,
    /// READs and ATOMICs for duplicates, the newest last; `max_dest_rd_atomic` at most (R28, R29).
    pub stored: VecDeque<Stored>,
    /// Answers not sent yet, in order (R36).
    pub responses: VecDeque<Response>,
    pub send: SendQueue,
    /// Held packets that were dropped and aren't counted yet.
    pub(super) released: usize,
    /// A CNP is to be sent, and when the next one may be, ns (R76).
    pub(super) cnp_due: bool,
    pub(super) cnp_after: u64,
}

impl Qp {
    pub fn new(attributes: Attributes) -> Self {
        Self {
            attributes,
            state: State::Reset,
            epsn: 0,
            msn: 0,
            message: Message::Idle,
            nak_sent: false,
            early: Held::default(),
            released: 0,
            cnp_due: false,
            cnp_after: 0,
            receives: VecDeque::new(),
            posted: 0,
            executed: 0,
            stored: VecDeque::new(),
            responses: VecDeque::new(),
            send: SendQueue::default(),
        }
    }

    /// Moves to `state`; false where verbs forbid it.
    pub fn modify(&mut self, state: State) -> bool {
        use State::*;
        let legal = matches!(
            (self.state, state),
            (_, Reset | Err) | (Reset | Init, Init) | (Init, Rtr) | (Rtr, Rts) | (Rts, Rts | Sqd) | (Sqd, Rts | Sqd)
        );
        if legal {
            if state == Reset {
                self.receives.clear();
                self.posted = 0;
            }
            if state == Rtr || state == Reset {
                // R41: every time.
                self.epsn = self.attributes.rq_psn;
                self.msn = 0;
                self.message = Message::Idle;
                self.nak_sent = false;
                self.release();
                self.executed = self.attributes.rq_psn.wrapping_sub(1) & 0xff_ffff;
                self.stored.clear();
                self.responses.clear();
                self.cnp_due = false;
                self.send = SendQueue::default();
            }
            if state == Rts && self.state == Rtr {
                self.send = SendQueue::new(&self.attributes);
            }
            self.state = state;
        }
        legal
    }

    /// Packets held for the QP.
    pub fn held(&self) -> usize {
        self.early.len() + self.send.early.len()
    }

    /// Drops what is held.
    pub(super) fn release(&mut self) {
        self.released += self.early.release() + self.send.early.release();
    }

    /// R23, R24: the one NAK of a gap, with ePSN.
    pub(super) fn nak_sequence(&mut self) {
        self.nak_sent = true;
        self.responses.push_back(Response::Acknowledge {
            syndrome: syndrome::NAK_SEQUENCE,
            psn: self.epsn,
            msn: self.msn,
        });
    }

    /// RTS or SQD: the send queue lives.
    pub fn sends_packets(&self) -> bool {
        matches!(self.state, State::Rts | State::Sqd)
    }

    pub fn receives_packets(&self) -> bool {
        matches!(self.state, State::Rtr | State::Rts | State::Sqd)
    }
}
