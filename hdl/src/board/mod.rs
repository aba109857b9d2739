// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the boards' wrappers: memory on the chip, and a serial way to it and to the registers.
//!
//! See `docs/boards.md`.

mod axi_ram;
mod ecp5_core;
mod spi_port;

pub use axi_ram::AxiRam;
pub use ecp5_core::Ecp5Core;
pub use spi_port::SpiPort;
