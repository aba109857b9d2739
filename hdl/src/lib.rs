// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verbena: a RoCEv2 host channel adapter in Rust-HDL.
//!
//! The folders are the stations of a packet's way, in its order: see `docs/architecture.md`.

// Kernels are read as hardware: an `if` inside an arm is a multiplexer, `!(a > b)` the comparator that is there, and match guards aren't allowed.
#![allow(clippy::collapsible_if, clippy::collapsible_match, clippy::nonminimal_bool)]

pub mod board;
pub mod congestion;
pub mod host;
pub mod mac;
pub mod mem;
pub mod micro;
pub mod prim;
pub mod qp;
pub mod reorder;
pub mod requester;
pub mod responder;
pub mod rx;
pub mod stream;
pub mod top;
pub mod tx;
pub mod verilog;
pub mod wire;
