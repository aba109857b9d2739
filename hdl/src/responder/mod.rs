// SPDX-License-Identifier: MIT OR Apache-2.0
//! Responder: what a request does, and the answer to it.

mod entry;
mod retire;

pub use entry::RetireEntry;
pub use retire::Retire;
