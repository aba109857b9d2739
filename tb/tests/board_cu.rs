// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the `cu` board's wrapper, Verilated: memory, UART, pins, and the FIFO between two clocks.

mod fifo;
mod mac;
mod memory;
mod uart;
