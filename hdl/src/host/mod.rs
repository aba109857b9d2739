// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host: registers, doorbells, completion and event queues, counters.

mod entry;

pub use entry::{CompletionJob, EventJob};
