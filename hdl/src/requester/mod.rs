// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester: `Send`, what a host posts to a send queue; `Complete`, what comes back.

mod ack_rows;
mod ack_walk;
mod arm_queue;
mod bth;
mod complete;
mod complete_steps;
mod cut;
mod landing;
mod order;
mod paced_ram;
mod place;
mod placement;
mod read_pace;
mod read_tracker;
mod response_check;
mod response_queue;
mod row_writes;
mod scheduler;
mod segmenter;
mod send;
mod send_reports;
mod send_rows;
mod timers;
mod turn_queue;
mod wire_program;
mod wire_words;
mod wqe_check;
mod wqe_intake;
mod wqe_store;

pub use ack_rows::HOST_WORDS as COMPLETE_HOST_WORDS;
pub use complete::{Complete, CompleteConfig};
pub use order::{EndOfTurn, SendOrder};
pub use response_queue::ResponseQueue;
pub use send::Send;
pub use timers::{TimerOperation, Timers};
