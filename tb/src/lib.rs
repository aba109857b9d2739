// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the testbenches share.

pub mod ack_frame;
pub mod axi_memory;
pub mod axi_monitor;
pub mod diff;
pub mod mirror;
pub mod packet_frame;
pub mod payloads;
pub mod pins;
pub mod step;
pub mod verilated;
