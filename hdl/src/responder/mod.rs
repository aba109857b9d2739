// SPDX-License-Identifier: MIT OR Apache-2.0
//! Responder: what a request does, and the answer to it.

mod answer;
mod control;
mod decide;
mod effect_merge;
mod entry;
mod features;
mod house;
mod leave;
mod message;
mod opcode;
mod psn_window;
mod read;
mod read_responder;
mod receive_queue;
mod retire;
mod sequencer;
mod verdict;
mod write_back;

pub use control::Control;
pub use effect_merge::EffectMerge;
pub use entry::RetireEntry;
pub use features::Features;
pub use read_responder::{ReadResponder, ReadResponderCu, ReadResponderTengig};
pub use retire::Retire;
