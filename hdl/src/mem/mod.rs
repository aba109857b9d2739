// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory: keys, translation, DMA.

mod job;

pub use job::WriteJob;
