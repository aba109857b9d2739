// SPDX-License-Identifier: MIT OR Apache-2.0
//! Proofs on the emitted Verilog by SymbiYosys, and mutants of it.
//!
//! ```text
//! hdl ─► Verilog ─► block (a station, or a module of one)   memory: RAMs read anything, or hold what was written
//!                     │  streams by their names ─► rules ─┐
//!                     └─ properties/*.sv ─────────────────┴─► wrapper ─► sby ─► proved, failed, out of time
//!                     └─ mutant: one line changed ─► the same proof must fail, or a named test
//! ```
//!
//! `docs/formal.md` says what is proved and how.

pub mod block;
pub mod memory;
pub mod mutants;
pub mod mutation;
pub mod proofs;
pub mod report;
pub mod run;
pub mod sby;
pub mod streams;
pub mod wrapper;
