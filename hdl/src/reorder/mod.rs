// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reordering: early requests are held until their turn. See `docs/stations/reorder.md`.

mod free_list;
mod head_store;
mod hole_clock;
mod keeper;
#[allow(clippy::module_inception)] // The station's own file has its name.
mod reorder;
mod slots;

pub use free_list::FreeList;
pub use head_store::HeadStore;
pub use hole_clock::HoleClock;
pub use keeper::Keeper;
pub use reorder::{Reorder, ReorderTengig};
pub use slots::Slots;
