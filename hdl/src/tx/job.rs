// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the transmit station is asked to send besides the host's own frames.

use rust_hdl::prelude::*;

/// One ACKNOWLEDGE packet (opcode 0x11) of a QP, or one CNP (0x81, R76).
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct AckJob {
    pub qp_index: Bits<12>,
    pub syndrome: Bits<8>,
    pub psn: Bits<24>,
    pub msn: Bits<24>,
    /// A congestion notification packet; syndrome, PSN and MSN are 0.
    pub notification: Bit,
}
