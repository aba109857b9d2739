// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queue pairs: their rows, and the checks that tie a packet to one.

mod demux;
mod receive_state;
mod row_ram;

pub use demux::Demux;
pub use receive_state::ReceiveState;
pub use row_ram::RowRam;
