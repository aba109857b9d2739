// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the `cu` board's wrapper, Verilated: memory, UART, pins, and the FIFO between two clocks.

#[path = "board_cu/fifo.rs"]
mod fifo;
#[path = "board_cu/mac.rs"]
mod mac;
#[path = "board_cu/memory.rs"]
mod memory;
#[path = "board_cu/uart.rs"]
mod uart;
