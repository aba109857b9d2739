// SPDX-License-Identifier: MIT OR Apache-2.0
//! The microprogrammed engine of the small preset: a core that does by program what stations do in `tengig` (`docs/stations/micro.md`).

mod alu;
mod core;
mod lane_unit;
mod stack;

pub use alu::Alu;
pub use core::Core;
pub use lane_unit::LaneUnit;
pub use stack::Stack;
