// SPDX-License-Identifier: MIT OR Apache-2.0
//! Receive: from the MAC to committed packets.

mod align;
mod delay;
mod frame_ring;
mod head;
mod head_front;
mod head_loader;
mod head_ram;
mod host_fifo;
mod parse;
mod ring_reader;
#[allow(clippy::module_inception)] // The station's own file has its name.
mod rx;
mod verdict;

pub use align::Align;
pub use delay::Delay;
pub use frame_ring::FrameRing;
pub use head::PacketHead;
pub use head_front::HeadFront;
pub use head_loader::HeadLoader;
pub use head_ram::HeadRam;
pub use host_fifo::HostFifo;
pub use parse::Parse;
pub use ring_reader::RingReader;
pub use rx::{Rx, RxCu, RxTengig};
pub use verdict::Verdict;
