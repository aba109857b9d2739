// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole engine and its stations, by preset.

mod designs;
mod hca;
mod requester_side;
mod soft_reset;
mod state_split;

pub use designs::{build, designs, emit, BuildError, TOP, WHOLE};
pub use hca::{Hca, HcaCu, HcaTengig};
pub use requester_side::RequesterSide;
pub use soft_reset::SoftReset;
pub use state_split::StateSplit;
