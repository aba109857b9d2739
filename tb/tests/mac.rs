// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC against an XGMII model in plain Rust (`tb/src/xgmii.rs`): the Verilated text at speed, and the Rust simulation on the same traffic.

#[path = "mac/bench.rs"]
mod bench;
#[path = "mac/diff.rs"]
mod diff;
#[path = "mac/receive.rs"]
mod receive;
#[path = "mac/transmit.rs"]
mod transmit;
