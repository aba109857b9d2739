// SPDX-License-Identifier: MIT OR Apache-2.0
//! A real peer: Linux Soft-RoCE in a qemu guest, and the runs against it (`hca-sim interop`). See docs/interop.md.
//!
//! ```text
//!  cases ─► runner ─┬─► Guest: qemu, a shell over virtio-serial ─► stock tool ──► eth1: TCP to 127.0.0.1
//!                   │                                              └► eth0: RoCE over a unix socket ┐
//!                   └─► hca-sim PROGRAM --socket … in a process of its own ─► LiveNic ◄─────────────┘
//! ```

pub mod cases;
pub mod guest;
pub mod jobs;
pub mod operations;
pub mod probe;
pub mod rping;
pub mod runner;

#[cfg(test)]
mod tests;
