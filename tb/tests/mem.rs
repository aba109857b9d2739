// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `mem` station: keys, DMA writer with the write arbiter, descriptor reader.

#[path = "mem/descriptor.rs"]
mod descriptor;
#[path = "mem/diff.rs"]
mod diff;
#[path = "mem/dma.rs"]
mod dma;
#[path = "mem/job_queue.rs"]
mod job_queue;
#[path = "mem/keys.rs"]
mod keys;
#[path = "mem/writers.rs"]
mod writers;
