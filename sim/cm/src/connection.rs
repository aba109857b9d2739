// SPDX-License-Identifier: MIT OR Apache-2.0
//! One connection: where it stands, what it waits for.

use crate::{Gid, Mad};

/// Our communication ID: names a connection for its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) u32);

/// Where a connection stands (12.9.7), as far as it differs for us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Active: REQ is out.
    ReqSent,
    /// Passive: the program decides.
    ReqReceived,
    /// Passive: REP is out.
    RepSent,
    /// Active: REP is here, the program moves its QP.
    RepReceived,
    Established,
    /// DREQ is out.
    DreqSent,
    /// Over; late repeats of a DREQ still get their DREP.
    TimeWait,
}

/// A message that waits for its answer.
pub(crate) struct Pending {
    /// When it is sent again.
    pub due: u64,
    /// How often that may be.
    pub left: u32,
}

pub(crate) struct Connection {
    pub state: State,
    pub peer: Gid,
    /// 0 until known.
    pub remote_id: u32,
    pub remote_qpn: u32,
    pub local_qpn: u32,
    pub transaction: u64,
    /// What we said last, for when it must be said again.
    pub last: Option<Mad>,
    pub pending: Option<Pending>,
    /// When a connection in TimeWait is forgotten.
    pub until: u64,
}

impl Connection {
    pub fn new(state: State, peer: Gid, transaction: u64) -> Connection {
        Connection {
            state,
            peer,
            remote_id: 0,
            remote_qpn: 0,
            local_qpn: 0,
            transaction,
            last: None,
            pending: None,
            until: 0,
        }
    }

    /// The next time at which something is to be done.
    pub fn deadline(&self) -> Option<u64> {
        match self.state {
            State::TimeWait => Some(self.until),
            _ => self.pending.as_ref().map(|p| p.due),
        }
    }

    /// Both sides are there, or nearly so.
    pub fn is_live(&self) -> bool {
        matches!(self.state, State::RepSent | State::RepReceived | State::Established)
    }
}
