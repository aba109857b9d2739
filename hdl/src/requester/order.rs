// SPDX-License-Identifier: MIT OR Apache-2.0
//! What scheduler and segmenter tell each other.

use rust_hdl::prelude::*;

/// How a turn ended.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum EndOfTurn {
    /// A packet left; the message goes on.
    Packet,
    /// The last packet of its message left.
    Message,
    /// As `Message`, and a new one can't begin before the next wake: eight are outstanding.
    Full,
    /// Nothing can be sent before the next wake.
    Park,
    /// The WQE was refused: nothing more until the QP's state changes.
    Stop,
    /// A payload read had failed, but its WQE has been completed by an earlier transmission.
    Clear,
    /// Selective repeat: one packet was sent again alone, or needn't be; on where new packets stood, in a WQE that is neither the packet's nor the next one
    /// (else the turn ends as `Packet` or `Message` does, and the store keeps what it has).
    Resume,
}

/// What the segmenter does to the row of a QP between turns.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SendOrder {
    /// Go on from another PSN.
    Rewind,
    /// RTR to RTS: the first PSN, indices 0.
    Begin,
    /// A payload read failed: remember its WQE.
    Fail,
}
