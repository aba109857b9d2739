// SPDX-License-Identifier: MIT OR Apache-2.0
//! A real peer: Linux Soft-RoCE in a qemu guest, and the runs against it (`hca-sim interop`). See docs/interop.md.

pub mod operations;
pub mod probe;
