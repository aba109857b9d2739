// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the boards' wrappers: memory on the chip, a serial way to it and to the registers, the MAC side on pins.
//!
//! See `docs/boards.md`.

mod axi_ram;
mod mac_pins;
mod small_ram;
mod spi_port;
mod uart_port;

pub use axi_ram::AxiRam;
pub use mac_pins::MacPins;
pub use small_ram::SmallRam;
pub use spi_port::SpiPort;
pub use uart_port::{UartPort, SYNC};
