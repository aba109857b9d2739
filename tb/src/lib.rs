// SPDX-License-Identifier: MIT OR Apache-2.0
//! Testbench parts.

pub mod step;
