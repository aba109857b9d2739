// SPDX-License-Identifier: MIT OR Apache-2.0
//! Primitives: the only hand-written Verilog text in the engine.

mod block_name;
mod logic_ram;
mod logic_rom;
mod memory;
mod reset_copy;
mod rom;
mod sdp_ram;
mod split_ram;

pub use logic_ram::LogicRam;
pub use logic_rom::LogicRom;
pub use reset_copy::ResetCopy;
pub use rom::Rom;
pub use sdp_ram::SdpRam;
pub use split_ram::SplitRam;
