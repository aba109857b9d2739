// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the requester and the READ responder ask of the DMA reader.

use rust_hdl::prelude::*;

/// One piece of a packet's payload, to be read from host memory. The pieces of a packet follow each other, the last with `last`.
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct ReadJob {
    /// `address` is an MTT entry number in [27:12] and the offset in its page in [11:0]; else it is a bus address.
    pub paged: Bit,
    pub address: Bits<64>,
    /// Bytes, at least 1.
    pub length: Bits<14>,
    /// The packet's last piece.
    pub last: Bit,
}
