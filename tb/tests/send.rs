// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Send` in both its forms: 64 bits with UC and UD, and 32 bits with RC alone.

// The two forms share the files that hold for both, by path.
#![allow(clippy::duplicate_mod)]

mod cu;
mod diff;
mod golden;
mod tengig;
mod wqe;
