// SPDX-License-Identifier: MIT OR Apache-2.0
//! The microprogrammed transport core of `cu`: instruction set, assembler, emulator, and the microcode itself.
//!
//! | module | is |
//! |---|---|
//! | [`isa`] | instruction words, ports, sizes: the table that RTL, assembler and emulator share |
//! | [`map`] | where words live in the core's memory |
//! | [`assembler`] | text to words |
//! | [`emulator`] | the core in plain Rust, an instruction a call |
//! | [`board`] | what stands around the emulated core: memory, wire, host |
//! | [`program`] | the microcode, assembled |
//!
//! The contract is `docs/stations/micro.md`.

pub mod assembler;
pub mod board;
pub mod emulator;
pub mod isa;
pub mod map;
pub mod program;
