// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requester: what a host posts to a send queue, and what comes back.

mod bth;
mod cut;
mod order;
mod paced_ram;
mod place;
mod read_tracker;
mod scheduler;
mod segmenter;
mod send;
mod send_rows;
mod wire_program;
mod wire_words;
mod wqe_check;
mod wqe_store;

pub use order::{EndOfTurn, SendOrder};
pub use send::Send;
