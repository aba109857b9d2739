// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine with memory, wire and host library around it; what `hca-sim` is made of.

pub mod bench;
pub mod hca;
pub mod requester;
pub mod session;
pub mod traffic;
