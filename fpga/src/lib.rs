// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board from the host's side, and the tools that make its bitstream; the commands are in the binary `fpga`.

pub mod board;
pub mod cu_netlist;
pub mod tools;
