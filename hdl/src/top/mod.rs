// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole engine and its stations, by preset.

mod hca;
mod requester_side;
mod soft_reset;
mod split;

pub use hca::{Hca, HcaCu, HcaTengig, HcaTengig16, HcaTengig64, HcaTengigDeep};
pub use requester_side::RequesterSide;
pub use soft_reset::SoftReset;
pub use split::Split;
