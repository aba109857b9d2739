// SPDX-License-Identifier: MIT OR Apache-2.0
//! A queue pair's attributes and receive state.

use std::collections::VecDeque;
use std::net::IpAddr;

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
    pub receives: VecDeque<Receive>,
    pub posted: u16,
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
            receives: VecDeque::new(),
            posted: 0,
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
            }
            self.state = state;
        }
        legal
    }

    pub fn receives_packets(&self) -> bool {
        matches!(self.state, State::Rtr | State::Rts | State::Sqd)
    }
}
