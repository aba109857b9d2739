// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine in a machine: memory, MAC, host ports, register bus.

pub mod axi;
mod bridge;
pub mod lite;
pub mod mac;
mod machine;
pub mod memory;
pub mod pins;
mod xgmii;

pub use machine::{Hca, HcaOptions};

#[cfg(test)]
mod axi_tests;
#[cfg(test)]
mod mac_tests;
