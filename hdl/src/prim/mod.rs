// SPDX-License-Identifier: MIT OR Apache-2.0
//! Primitives: the only hand-written Verilog text in the engine.

mod block_name;
mod rom;
mod sdp_ram;
mod small_ram;
mod split_ram;

pub use rom::Rom;
pub use sdp_ram::SdpRam;
pub use small_ram::SmallRam;
pub use split_ram::SplitRam;
