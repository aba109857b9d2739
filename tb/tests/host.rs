// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host station: registers, counters, completion and event queues.

#[path = "host/axil.rs"]
mod axil;
#[path = "host/completion_queues.rs"]
mod completion_queues;
#[path = "host/counters.rs"]
mod counters;
#[path = "host/diff.rs"]
mod diff;
#[path = "host/queue_bench.rs"]
mod queue_bench;
#[path = "host/registers.rs"]
mod registers;
