// SPDX-License-Identifier: MIT OR Apache-2.0
//! Streams and their small parts. A stream is `data, valid, ready`: valid holds until ready, and ready never depends on
//! valid combinationally across a module border.

mod async_fifo;
mod fifo;
mod logic_fifo;
mod skid;

pub use async_fifo::AsyncFifo;
pub use fifo::Fifo;
pub use logic_fifo::LogicFifo;
pub use skid::Skid;
