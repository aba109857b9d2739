// SPDX-License-Identifier: MIT OR Apache-2.0
//! What several of the tests share.

pub mod cores;
pub mod models;
pub mod wired;
