// SPDX-License-Identifier: MIT OR Apache-2.0
//! What became of a packet. One list, so that answer, completion, event and counter can't disagree.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Verdict {
    /// Not this QP's; the counter is the demux's (R60, R61, R71, R72).
    Drop,
    /// Executed.
    Done,
    /// An answer to nothing outstanding (R39).
    Ghost,
    /// An answer that the requester has taken; the counter is its (R39).
    Response,
    /// A duplicate SEND or WRITE, acknowledged again (R26).
    Duplicate,
    /// A READ or ATOMIC that the READ responder has taken: it answers later.
    Served,
    /// A duplicate READ or ATOMIC: the READ responder's, or dropped (R28, R29).
    DuplicateDropped,
    /// Beyond ePSN: one sequence NAK with ePSN (R23, R24).
    SequenceNak,
    /// Beyond ePSN while a NAK stands (R23, R46).
    Silent,
    /// Beyond ePSN: the reorder station has it, or had no room; the counter is its (R42).
    Early,
    /// The same, and the gap is a loss: one sequence NAK with ePSN (R23, R24).
    EarlyNak,
    /// No receive WQE (R46).
    Rnr,
    /// UC or UD: no receive WQE, or it didn't fit.
    NoReceive,
    /// UC: a broken message (R57, R73).
    Broken,
    /// NAK invalid request.
    Invalid,
    /// NAK remote access error (R52).
    Access,
    /// A SEND longer than its buffer (R56).
    TooLong,
    /// The receive buffer's L_Key failed.
    Protection,
    /// The key of a SEND with invalidate couldn't be (R62).
    Irrevocable,
    /// The receive WQE couldn't be read (R69).
    Unreadable,
    /// Not a packet: a receive WQE of a QP in ERR (R65).
    Flush,
    /// Not a packet: a doorbell refused (R69).
    BadDoorbell,
}
