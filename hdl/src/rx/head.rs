// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the receive station hands to the control path for each committed RoCE packet.

use rust_hdl::prelude::*;

/// The facts of one packet, stable while `head_valid` is high and until `head_next`.
///
/// Numbers are as on the wire read big-endian. `xth0..xth6` are the seven 32-bit words that follow the BTH, whatever the opcode makes of
/// them (RETH: va = xth0:xth1, rkey = xth2, length = xth3, then the immediate in xth4; DETH: Q_Key = xth0, source QPN = xth1; ...).
/// Ring positions are beat addresses in the frame buffer; a byte offset in a beat is 0 or 4.
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct PacketHead {
    pub opcode: Bits<8>,
    pub solicited: Bit,
    pub ack_request: Bit,
    pub pad_count: Bits<2>,
    pub pkey: Bits<16>,
    pub qpn: Bits<24>,
    pub psn: Bits<24>,
    pub xth0: Bits<32>,
    pub xth1: Bits<32>,
    pub xth2: Bits<32>,
    pub xth3: Bits<32>,
    pub xth4: Bits<32>,
    pub xth5: Bits<32>,
    pub xth6: Bits<32>,
    pub source_ip0: Bits<32>,
    pub source_ip1: Bits<32>,
    pub source_ip2: Bits<32>,
    pub source_ip3: Bits<32>,
    pub ipv6: Bit,
    pub gid_index: Bits<2>,
    /// Bytes of payload, pad excluded (R9).
    pub payload_length: Bits<14>,
    /// Ring beat of the first payload byte.
    pub payload_beat: Bits<14>,
    /// Byte in that beat.
    pub payload_offset: Bits<3>,
    /// Ring beat of word 0, where the 40 bytes of GRH start (R70).
    pub frame_beat: Bits<14>,
    /// Ring beat after the frame: the tail once the frame is released.
    pub end_beat: Bits<14>,
    /// It arrived with ECN's congestion experienced (R76). False at one lane, and of a held head that is shown again.
    pub marked: Bit,
}
