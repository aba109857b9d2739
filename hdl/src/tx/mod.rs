// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transmit: headers, ICRC, frames to the MAC.

mod job;

pub use job::AckJob;
