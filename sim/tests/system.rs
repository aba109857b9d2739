// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine whole, Verilated: each file a module. One binary: a long test of one file leaves no core idle, since another's run beside it.

mod common;
mod congestion;
mod engine;
mod lives;
mod loss;
mod machine;
mod many_qps;
mod programs;
mod requester;
mod scenarios;
mod sizes;
mod two_engines;
mod wire_scenarios;
mod xgmii;
