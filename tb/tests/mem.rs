// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `mem` station: keys, DMA writer with the write arbiter, descriptor reader.

mod descriptor;
mod diff;
mod dma;
mod job_queue;
mod keys;
mod writers;
