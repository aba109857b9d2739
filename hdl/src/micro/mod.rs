// SPDX-License-Identifier: MIT OR Apache-2.0
//! The microprogrammed engine of the small preset: a core that does by program what stations do in `tengig` (`docs/stations/micro.md`).

mod alu;
mod bursts;
mod core;
mod engine;
mod event_fifo;
mod lane_unit;
mod lite;
mod receiver;
mod ring;
mod stack;
mod transmitter;

pub use alu::Alu;
pub use bursts::Bursts;
pub use core::Core;
pub use engine::HcaMicro;
pub use event_fifo::EventFifo;
pub use lane_unit::LaneUnit;
pub use lite::Lite;
pub use receiver::Receiver;
pub use ring::Ring;
pub use stack::Stack;
pub use transmitter::Transmitter;
