// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verbena's tables: presets, headers, registers, queue entries, context rows. Plain data without dependencies, from which RTL
//! constants, the plain-Rust codec, the host library, the C header and the documents are made.

pub mod config;
pub mod counters;
pub mod headers;
pub mod layout;
pub mod micro;
pub mod registers;
pub mod render;
pub mod testplan;
