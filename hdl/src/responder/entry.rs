// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the responder leaves behind for a packet: effects that must wait for the packet's data.

use rust_hdl::prelude::*;

/// One entry of the retire queue, taken in order. Its effects (answer, completion, event) leave only after `jobs` write jobs have ended,
/// which is the memory ordering of the host's contract. A write error turns the answer into NAK remote operational error (R69).
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct RetireEntry {
    pub qp_index: Bits<12>,
    /// Write jobs to wait for: 0 to 2.
    pub jobs: Bits<2>,
    /// Send an ACK, NAK or RNR NAK.
    pub respond: Bit,
    /// AETH syndrome.
    pub syndrome: Bits<8>,
    pub psn: Bits<24>,
    pub msn: Bits<24>,
    /// Write a completion.
    pub complete: Bit,
    pub cq: Bits<12>,
    pub qpn: Bits<24>,
    pub completion_opcode: Bits<8>,
    pub status: Bits<8>,
    pub with_imm: Bit,
    pub with_invalidate: Bit,
    pub grh: Bit,
    pub solicited: Bit,
    pub wqe_index: Bits<16>,
    pub byte_length: Bits<32>,
    pub immediate: Bits<32>,
    pub source_qpn: Bits<24>,
    /// Raise an event; its number is `qpn`, its detail the syndrome.
    pub event: Bit,
    pub event_type: Bits<8>,
    /// The requester's: a write error is answered by nobody.
    pub requester: Bit,
    /// The READ responder may serve the QP's oldest request that it wasn't told of yet.
    pub serve: Bit,
    /// A packet of a message that goes on: to acknowledge it completes nothing at the requester's.
    pub partial: Bit,
}
