// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transmit: headers, ICRC, frames to the MAC.

mod ack_builder;
mod ack_checksum;
mod ack_source;
mod ack_steps;
mod ack_words;
mod address_ram;
mod arbiter;
mod frame_out;
mod gearbox;
mod host_fifo;
mod job;
mod packet_arbiter;
mod packet_store;
#[allow(clippy::module_inception)]
mod tx;

pub use ack_builder::AckBuilder;
pub use ack_checksum::AckChecksum;
pub use ack_source::AckSource;
pub use ack_steps::{AckSteps, BuildStep};
pub use ack_words::AckWords;
pub use address_ram::AddressRam;
pub use arbiter::{Arbiter, MIN_FRAME};
pub use frame_out::FrameOut;
pub use gearbox::Gearbox;
pub use host_fifo::HostFifo;
pub use job::AckJob;
pub use packet_arbiter::PacketArbiter;
pub use packet_store::PacketStore;
pub use tx::{Tx, TxCu, TxTengig};
