// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host station: registers, counters, completion and event queues.

mod axil;
mod completion_queues;
mod counters;
mod diff;
mod queue_bench;
mod registers;
