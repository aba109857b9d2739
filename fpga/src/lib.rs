// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board from the host's side, what became of `cu` and `ecp5` in the tools, and the tools; the commands are in the binary `fpga`.

pub mod board;
pub mod cu_netlist;
pub mod ecp5_cells;
pub mod ecp5_netlist;
pub mod tools;
