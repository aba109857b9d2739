// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host: registers, doorbells, completion and event queues, counters.

mod address_map;
mod code_merge;
mod completion_queues;
mod counters;
mod entry;
mod event_merge;
mod event_queue;
mod queue_writer;
mod register_values;
mod registers;
mod ring_position;
mod word_select;
mod write_tracker;

pub use address_map::{AddressMap, Target};
pub use code_merge::CodeMerge;
pub use completion_queues::CompletionQueues;
pub use counters::Counters;
pub use entry::{CompletionJob, EventJob};
pub use event_merge::EventMerge;
pub use event_queue::EventQueue;
pub use queue_writer::QueueWriter;
pub use register_values::RegisterValues;
pub use registers::Registers;
pub use ring_position::RingPosition;
pub use word_select::WordSelect;
pub use write_tracker::WriteTracker;
