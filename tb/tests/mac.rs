// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC against an XGMII model in plain Rust (`tb/src/xgmii.rs`): the Verilated text at speed, and the Rust simulation on the same traffic.

mod bench;
mod diff;
mod receive;
mod transmit;
