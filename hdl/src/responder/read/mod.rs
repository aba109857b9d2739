// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of the READ responder.

mod failure;
mod flight;
mod gate;
mod kind;
mod packet;
mod ring;
mod sequencer;
mod span;
mod store;

pub use failure::ReadFailure;
pub use flight::Flight;
pub use gate::AckGate;
pub use kind::{ReadKind, WordUse};
pub use packet::ResponsePacket;
pub use ring::ResourceRing;
pub use sequencer::{ReadSequencer, WriteFrom};
pub use span::Span;
pub use store::ResourceStore;
