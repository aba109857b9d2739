// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole designs: the engine of each preset, with its MAC, in its boards, and each station alone; all to be printed, not simulated.
//!
//! A crate of its own, compiled without optimisation: it makes code of every block of every design, which takes minutes to optimise, and
//! printing needs no speed. The blocks that testbenches simulate are in `verbena_hdl`, which is optimised.

// As in verbena_hdl: kernels are read as hardware.
#![allow(clippy::collapsible_if, clippy::collapsible_match, clippy::nonminimal_bool)]

mod cu_core;
mod ecp5_core;
mod emit;
mod hca_xgmii;

pub use cu_core::{CuCore, BOARD_ID, UART_DIVISOR};
pub use ecp5_core::Ecp5Core;
pub use emit::{
    build, designs, emit, emit_cu, emit_ecp5, emit_mac, emit_xgmii, BuildError, TOP, TOP_CU, TOP_ECP5, TOP_MAC, TOP_XGMII, WHOLE,
};
pub use hca_xgmii::HcaXgmii;
