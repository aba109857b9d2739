// SPDX-License-Identifier: MIT OR Apache-2.0
//! The wire format's hardware: what receive and transmit share.

mod crc_matrix;
mod icrc;
mod icrc_mask;
mod opcode;

pub use crc_matrix::{step_bits, step_words, CrcMatrix};
pub use icrc::{Icrc, INITIAL_STATE};
pub use icrc_mask::{variant_bytes, IcrcMask};
pub use opcode::{header_words, OpcodeTable, OPCODE_CNP};
