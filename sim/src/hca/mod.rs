// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine in a machine: memory, MAC, host ports, register bus.

pub mod axi;
pub mod mac;
pub mod memory;
pub mod pins;

#[cfg(test)]
mod axi_tests;
#[cfg(test)]
mod mac_tests;
