// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the control path asks of the DMA writer.

use rust_hdl::prelude::*;

/// One placement of received bytes in host memory, or (`write` low) only the release of a frame. Jobs are done in order; each job with
/// `write` high ends in exactly one `done`, after the B responses of all its bursts.
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct WriteJob {
    /// Bytes are to be written (`length` may not be 0 then).
    pub write: Bit,
    /// `address` is an MTT entry number in [27:12] and the offset in its page in [11:0]; else it is a bus address.
    pub paged: Bit,
    pub address: Bits<64>,
    /// Bytes.
    pub length: Bits<14>,
    pub ring_beat: Bits<14>,
    /// Byte in that beat.
    pub ring_offset: Bits<3>,
    /// Once the bytes are read from the ring, its tail moves to `end_beat`.
    pub release: Bit,
    pub end_beat: Bits<14>,
    /// The bytes at the ring position are one big-endian number of `length` = 8 bytes, an ATOMIC's result, that lands little-endian; the
    /// ring position is then the first byte of a whole 64 bits. Low for all else; without effect in a small engine, which has no ATOMIC.
    pub swap: Bit,
}
