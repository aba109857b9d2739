// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host library: drives a Verbena HCA over a register bus and DMA-able memory, with the words and habits of InfiniBand verbs.
//!
//! The same code runs against the Verilated engine (`verbena-sim`) and against hardware: both are a [`Bus`] and a [`DmaMemory`].
//! Every failure is an [`Error`]; nothing here panics on what the engine or the caller does.
//!
//! ```text
//!  your program ─► Device ─► Bus        registers, tables, doorbells (AXI4-Lite)
//!                     │
//!                     └───► DmaMemory   rings: receive WQEs, completions, events; your pages
//! ```
//!
//! A receiver, from nothing to its first completion:
//! ```no_run
//! # use verbena_verbs::*;
//! # fn run<P: Bus + DmaMemory>(platform: P) -> Result<(), Error> {
//! let mut device = Device::open(platform, &OpenAttr::new([2, 0, 0, 0, 0, 1], Gid::ipv4([10, 0, 0, 1])))?;
//! let pd = device.alloc_pd()?;
//! let cq = device.create_cq(64)?;
//! let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 16))?;
//! let buffer = device.alloc_region(65536)?;
//! let mr = device.reg_mr(pd, &buffer, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?;
//! device.modify_qp(qp, &QpAttr::to_init(Access::REMOTE_WRITE))?;
//! let peer = Peer::new(Gid::ipv4([10, 0, 0, 2]), [2, 0, 0, 0, 0, 2]);
//! device.modify_qp(qp, &QpAttr::to_rtr(peer, 0x11, 0x123456, PathMtu::Mtu1024))?;
//! device.post_recv(qp, 1, mr.sge(0, 4096)?)?;
//! while device.poll_cq(cq, 1)?.is_empty() {}
//! # Ok(()) }
//! ```
//!
//! **Not built yet:** sending. There is no `post_send`, and no attribute that only a requester uses (timeout, retry counts,
//! `max_rd_atomic`): the engine has no requester, says so in its capabilities, and this library doesn't pretend otherwise.

mod address;
mod cq;
mod device;
mod error;
mod event;
mod modify;
mod mr;
mod platform;
mod qp;
mod recv;
mod ring;
mod slots;

#[cfg(test)]
mod mock;
#[cfg(test)]
mod tests;

pub use address::{Gid, Mac, Peer, Vlan};
pub use cq::{Completion, CompletionOpcode, CompletionStatus, Cq, Notify};
pub use device::{Capabilities, Device, OpenAttr};
pub use error::{BusError, DmaError, Error};
pub use event::Event;
pub use modify::{PathMtu, QpAttr};
pub use mr::{Access, Mr, MrAttr, Pages, Pd, Sge};
pub use platform::{Bus, DmaMemory, Region, Split, PAGE_BYTES};
pub use qp::{Qp, QpInit, QpQuery, QpState, Transport};
