// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words of the READ responder's store, what they are read for, and what the machine is at.
//!
//! QP row, 16 words:
//!
//! | item | holds | writer |
//! |---|---|---|
//! | 0 | QP row word 0 (PMTU, tag) | host |
//! | 1 | QP row word 1 (PD) | host |
//! | 2 | QP row word 20 (the ring's place in the pool) | host |
//! | 3 | ring, see `ring.rs` | engine |
//! | 4, 5 | the ACK that waits: PSN; AETH | engine |
//! | 6, 7 | scratch of a duplicate's check: PSN distance; byte offset | engine |
//! | 8 + item | cursor: PSN and flags, VA, length that is left of the request being served, as in a resource | engine |
//!
//! Row 0 belongs to no QP and holds what is known of the packets whose payload is being read: two words each, [23:0] PSN and
//! [31:24] QP index; MSN.
//!
//! Resource, 8 words (9 with ATOMIC): 0 [23:0] first PSN, [24] ATOMIC, [25] executed, [26] compare and swap, [27] in the middle (cursor only); 1, 2 VA low and high, or the
//! ATOMIC's result; 3 R_Key; 4 length; 5 MSN. ATOMIC: swap or add operand high in 4, low in 6; compare operand high in 7, low in 8.

use rust_hdl::prelude::*;

/// QP row items.
pub mod item {
    pub const SERVICE: u64 = 0;
    pub const DOMAIN: u64 = 1;
    pub const LIMITS: u64 = 2;
    pub const RING: u64 = 3;
    pub const HELD_PSN: u64 = 4;
    pub const HELD_AETH: u64 = 5;
    pub const DISTANCE: u64 = 6;
    pub const OFFSET: u64 = 7;
    /// Resource items, and those of the cursor with `CURSOR`.
    pub const CURSOR: u64 = 8;
    pub const PSN: u64 = 0;
    pub const LOW: u64 = 1;
    pub const HIGH: u64 = 2;
    pub const KEY: u64 = 3;
    pub const LENGTH: u64 = 4;
    pub const MSN: u64 = 5;
    pub const OPERAND_LOW: u64 = 6;
    pub const COMPARE_HIGH: u64 = 7;
    pub const COMPARE_LOW: u64 = 8;
}

/// What a word is used for in the cycle in which it comes out of the store.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WordUse {
    Nothing,
    Ring,
    Limits,
    Service,
    Domain,
    Low,
    High,
    Length,
    Head,
    /// PSN + 1.
    Next,
    Operand,
    /// The head's word itself.
    Copy,
    /// Head's PSN − word.
    Distance,
    /// Head's VA − word, lower half.
    Offset,
    /// Word is the PSN distance; the sum is the offset.
    Shifted,
    OffsetHigh,
    /// Offset + head's length.
    End,
    /// Stored length − that.
    Room,
    SameKey,
}

/// What the machine is at.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReadKind {
    /// One packet of the QP whose turn it is.
    Turn,
    /// A request or duplicate from control.
    Request,
    /// A release from retire.
    Serve,
    /// An ACK of a QP that may have responses to be sent.
    Ack,
    /// The QP leaves its live states.
    State,
    /// A payload couldn't be read.
    Trouble,
}
