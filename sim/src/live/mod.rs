// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine as a live NIC: frames over a unix socket (qemu's `-netdev stream`) or a TAP, simulated time beside wall time.
//!
//! ```text
//!  your program ─► LiveNic::device ─► Device<LiveEngine> ─► Verilated engine, or golden engine
//!       │                                                     │ MAC port ▲      │ host port ▲
//!       └─► poll, run_until: moves everything ─► Link ◄─► FaultyWire ◄───┘      └─► HostStack: ARP, NDP, ICMP echo (smoltcp)
//!                                                  └─► qemu guest, TAP
//! ```
//! One thread, nothing happens outside [`LiveNic::poll`] and what calls it ([`LiveNic::run_for`], [`LiveNic::run_until`],
//! [`LiveNic::resolve`]) but register accesses. A program with sockets of its own makes them non-blocking and polls both.
//!
//! ```no_run
//! # fn main() -> anyhow::Result<()> {
//! use std::time::Duration;
//! use verbena_sim::live::{LinkOptions, LiveNic, LiveOptions};
//! use verbena_verbs::*;
//!
//! let mut nic = LiveNic::open(LiveOptions::new(LinkOptions::Connect("/tmp/eth0.sock".into())))?;
//! let peer = nic.resolve_peer("10.0.0.1".parse()?, Duration::from_secs(5))?;
//! let device = nic.device();
//! let pd = device.alloc_pd()?;
//! let cq = device.create_cq(64)?;
//! let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 16))?;
//! // ... exchange numbers, modify_qp with `peer`, post_send ...
//! let mut done = vec![];
//! nic.run_until(Duration::from_secs(5), |nic| {
//!     done.extend(nic.device().poll_cq(cq, 16)?);
//!     Ok(!done.is_empty())
//! })?;
//! # Ok(())
//! # }
//! ```
//!
//! **Time.** The golden engine's clock is wall time, but no more than [`LONGEST_STEP`] passes between two polls: a process that was not
//! running loses no connection by it. The Verilated engine can't keep up with wall time (156.25 million cycles/s, of which some 0.3 are
//! simulated), so its TICK register is set to [`LIVE_TICK`] clocks per 4.096 us instead of 640: a timer of 67 ms (code 14) takes 131,000
//! cycles, some 0.4 s. It runs as fast as it can while a frame moves or a send is outstanding, and with a small part of a core otherwise.

mod args;
mod engine;
mod link;
mod nic;
mod options;
mod socket;
mod stack;
mod talk;
mod tap;
mod tape;
#[cfg(test)]
mod tests;

pub use args::LiveArgs;
pub use engine::{LiveEngine, LIVE_TICK, LONGEST_STEP};
pub use link::LinkStatistics;
pub use nic::{LiveNic, Summary};
pub use options::{EngineKind, LinkOptions, LiveOptions, Way};
pub use stack::HostStatistics;
pub use talk::Talk;
