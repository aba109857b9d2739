// SPDX-License-Identifier: MIT OR Apache-2.0
//! What several test programs of two machines share; each uses a part of it.
#![allow(dead_code)]

pub mod models;
pub mod wired;
