// SPDX-License-Identifier: MIT OR Apache-2.0
//! `reorder::Reorder` among models of the frame ring, control and the DMA writer; a plain model says what must be held, executed, answered and released.

#[path = "reorder/diff.rs"]
mod diff;
#[path = "reorder/harness.rs"]
mod harness;
#[path = "reorder/random.rs"]
mod random;
#[path = "reorder/rules.rs"]
mod rules;
