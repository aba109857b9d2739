// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receive: from the MAC to committed packets.

mod head;

pub use head::PacketHead;
