// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Send` in both its forms: 64 bits with UC and UD, and 32 bits with RC alone.

#[path = "send/cu.rs"]
mod cu;
#[path = "send/diff.rs"]
mod diff;
#[path = "send/golden.rs"]
mod golden;
#[path = "send/tengig.rs"]
mod tengig;
#[path = "send/wqe.rs"]
mod wqe;
