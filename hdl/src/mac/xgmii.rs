// SPDX-License-Identifier: MIT OR Apache-2.0
//! XGMII codes (IEEE 802.3, clause 46). Byte 0 of a column is the first on the wire; its control bit says that it is a code.

/// A column of eight idles.
pub const IDLE: u64 = 0x0707_0707_0707_0707;
/// Idle, `/I/`.
pub const I: u8 = 0x07;
/// First byte of a frame, `/S/`: byte 0 or 4 of a column.
pub const S: u8 = 0xfb;
/// The byte after a frame, `/T/`.
pub const T: u8 = 0xfd;
/// Error, `/E/`.
pub const E: u8 = 0xfe;
/// First byte of an ordered set of four, `/Q/`.
pub const Q: u8 = 0x9c;
/// `/S/`, six bytes of preamble, start of frame delimiter.
pub const PREAMBLE: u64 = 0xd555_5555_5555_55fb;
/// Two ordered sets: remote fault.
pub const REMOTE_FAULT: u64 = 0x0200_009c_0200_009c;
/// Two ordered sets: local fault.
pub const LOCAL_FAULT: u64 = 0x0100_009c_0100_009c;

/// A byte in all lanes.
pub const fn lanes(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}
