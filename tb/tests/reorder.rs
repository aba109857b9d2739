// SPDX-License-Identifier: MIT OR Apache-2.0
//! `reorder::Reorder` among models of the frame ring, control and the DMA writer; a plain model says what must be held, executed, answered and released.

mod diff;
mod harness;
mod random;
mod rules;
