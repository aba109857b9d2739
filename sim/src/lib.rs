// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine with memory, wire and host library around it; what `hca-sim` is made of.

pub mod bench;
pub mod capture;
pub mod client;
pub mod command;
pub mod fuzz;
pub mod hca;
pub mod held;
pub mod interop;
pub mod live;
pub mod loss;
pub mod pair;
pub mod requester;
pub mod responder;
pub mod session;
pub mod shadow;
pub mod traffic;
pub mod world;
