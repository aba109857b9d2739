// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transmit: headers, ICRC, frames to the MAC.

mod ack_order;
mod arbiter;
mod beat_path;
mod frame_out;
mod gearbox;
mod header_checksum;
mod header_queue;
mod host_fifo;
mod job;
mod joiner;
mod packet_arbiter;
mod packet_builder;
mod packet_slots;
mod packet_steps;
mod packet_store;
mod packet_words;
mod payload_fifo;
mod source_address;
#[allow(clippy::module_inception)]
mod tx;
mod word_icrc;
mod word_ram;

pub use ack_order::AckOrder;
pub use arbiter::{Arbiter, MIN_FRAME};
pub use beat_path::BeatPath;
pub use frame_out::FrameOut;
pub use gearbox::Gearbox;
pub use header_checksum::HeaderChecksum;
pub use header_queue::{HeaderBeat, HeaderQueue};
pub use host_fifo::HostFifo;
pub use job::AckJob;
pub use joiner::Joiner;
pub use packet_arbiter::{PacketArbiter, AHEAD};
pub use packet_builder::PacketBuilder;
pub use packet_slots::PacketSlots;
pub use packet_steps::{BuildStep, PacketSteps};
pub use packet_store::PacketStore;
pub use packet_words::PacketWords;
pub use payload_fifo::PayloadFifo;
pub use source_address::SourceAddress;
pub use tx::{Tx, TxCu, TxTengig};
pub use word_icrc::WordIcrc;
pub use word_ram::WordRam;
