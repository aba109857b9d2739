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
//! Two machines, from nothing to a WRITE, a READ, an ATOMIC and a SEND between them. The platform here is the golden engine without
//! hardware (module `golden`, feature of that name); with hardware only `open` and the wire differ.
//! ```
//! use verbena_verbs::golden::{exchange, GoldenHca};
//! use verbena_verbs::*;
//!
//! struct Machine {
//!     device: Device<GoldenHca>,
//!     pd: Pd,
//!     cq: Cq,
//!     qp: Qp,
//!     region: Region,
//!     mr: Mr,
//! }
//!
//! /// Opens a device, registers memory, brings a QP to INIT.
//! fn prepare(number: u8) -> Result<Machine, Error> {
//!     let attr = OpenAttr::new([2, 0, 0, 0, 0, number], Gid::ipv4([10, 0, 0, number]));
//!     let mut device = Device::open(GoldenHca::new(), &attr)?;
//!     let pd = device.alloc_pd()?;
//!     let cq = device.create_cq(64)?;
//!     let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 16))?;
//!     let region = device.alloc_region(65536)?;
//!     let remote = Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC;
//!     let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE | remote)?;
//!     device.modify_qp(qp, &QpAttr::to_init(remote))?;
//!     Ok(Machine { device, pd, cq, qp, region, mr })
//! }
//!
//! /// Brings the QP to RTS. What software exchanges beforehand: QPN, first PSN, address.
//! fn connect(machine: &mut Machine, peer: u8, peer_qpn: u32, peer_psn: u32, our_psn: u32) -> Result<(), Error> {
//!     let way = Peer::new(Gid::ipv4([10, 0, 0, peer]), [2, 0, 0, 0, 0, peer]);
//!     let rtr = QpAttr::to_rtr(way, peer_qpn, peer_psn, PathMtu::Mtu1024);
//!     machine.device.modify_qp(machine.qp, &QpAttr { max_dest_rd_atomic: Some(16), ..rtr })?;
//!     let rts = QpAttr { max_rd_atomic: Some(16), timeout: Some(14), retry_count: Some(7), ..QpAttr::to_rts(our_psn) };
//!     machine.device.modify_qp(machine.qp, &rts)
//! }
//!
//! fn main() -> Result<(), Error> {
//!     let (mut left, mut right) = (prepare(1)?, prepare(2)?);
//!     let (left_qpn, right_qpn) = (left.qp.qpn, right.qp.qpn);
//!     connect(&mut left, 2, right_qpn, 0x222222, 0x111111)?;
//!     connect(&mut right, 1, left_qpn, 0x111111, 0x222222)?;
//!
//!     // What software on the right tells the left: address and R_Key.
//!     let there = |offset: u64| Remote { address: right.mr.va + offset, rkey: right.mr.key };
//!     let text = b"written without the other CPU knowing";
//!     left.region.write(left.device.platform(), left.mr.va, text)?;
//!     right.device.post_recv(right.qp, 500, right.mr.sge(8192, 4096)?)?;
//!
//!     let out = [left.mr.sge(0, text.len() as u32)?];
//!     let back = [left.mr.sge(4096, text.len() as u32)?];
//!     let old = [left.mr.sge(12288, 8)?];
//!     left.device.post_send(left.qp, &WorkRequest::new(1, Verb::Write(there(100)), &out))?;
//!     left.device.post_send(left.qp, &WorkRequest::new(2, Verb::Read(there(100)), &back))?;
//!     left.device.post_send(left.qp, &WorkRequest::new(3, Verb::FetchAdd { remote: there(4096), add: 5 }, &old))?;
//!     left.device.post_send(left.qp, &WorkRequest::inline(4, Verb::SendWithImm(7), b"done"))?;
//!     exchange(left.device.platform(), right.device.platform());
//!
//!     let done = left.device.poll_cq(left.cq, 16)?;
//!     assert!(done.iter().all(|c| c.status == CompletionStatus::Success));
//!     assert_eq!(done.iter().map(|c| c.wr_id).collect::<Vec<_>>(), [1, 2, 3, 4]);
//!     assert_eq!(right.region.read(right.device.platform(), right.mr.va + 100, text.len())?, text);
//!     assert_eq!(left.region.read(left.device.platform(), left.mr.va + 4096, text.len())?, text);
//!     assert_eq!(right.region.read(right.device.platform(), right.mr.va + 4096, 8)?, 5u64.to_le_bytes());
//!     let received = right.device.poll_cq(right.cq, 16)?;
//!     assert_eq!((received[0].wr_id, received[0].byte_length, received[0].immediate), (500, 4, Some(7)));
//!
//!     left.device.destroy_qp(left.qp)?;
//!     left.device.dereg_mr(left.mr)?;
//!     left.device.destroy_cq(left.cq)?;
//!     left.device.dealloc_pd(left.pd)?;
//!     Ok(())
//! }
//! ```
//!
//! An engine without requester (CAPABILITIES bit 18) only receives: [`Device::post_send`] then returns [`Error::Unsupported`].

mod address;
mod congestion;
mod cq;
mod device;
mod error;
mod event;
#[cfg(feature = "golden")]
pub mod golden;
mod modify;
mod mr;
mod platform;
mod qp;
mod recv;
mod ring;
mod send;
mod slots;

#[cfg(test)]
mod mock;
#[cfg(all(test, feature = "golden"))]
mod send_tests;
#[cfg(test)]
mod tests;

pub use address::{Gid, Mac, Peer, Vlan};
pub use congestion::CongestionAttr;
pub use cq::{Completion, CompletionOpcode, CompletionStatus, Cq, Notify};
pub use device::{Capabilities, Device, OpenAttr};
pub use error::{BusError, DmaError, Error};
pub use event::Event;
pub use modify::{selective_window, PathMtu, QpAttr};
pub use mr::{Access, Mr, MrAttr, Pages, Pd, Sge};
pub use platform::{Bus, DmaMemory, Region, Split, PAGE_BYTES};
pub use qp::{Qp, QpInit, QpQuery, QpState, Transport};
pub use send::{Data, Destination, Remote, Verb, WorkRequest, INLINE_BYTES, SEND_ELEMENTS};
