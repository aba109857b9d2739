// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester: `Complete`, what comes back.

mod ack_rows;
mod ack_walk;
mod complete;
mod complete_steps;
mod placement;
mod response_check;
mod timers;
mod wqe_intake;

pub use ack_rows::HOST_WORDS as COMPLETE_HOST_WORDS;
pub use complete::{Complete, CompleteConfig};
pub use timers::{TimerOperation, Timers};
