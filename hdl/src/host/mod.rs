// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host: registers, doorbells, completion and event queues, counters.

mod address_map;
mod counters;
mod entry;
mod register_values;
mod registers;

pub use address_map::{AddressMap, Target};
pub use counters::Counters;
pub use entry::{CompletionJob, EventJob};
pub use register_values::RegisterValues;
pub use registers::Registers;
