// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs on the host library that talk to the stock Linux tools. Each is an example of how to write one against Verbena.
//!
//! ```text
//!  pingpong   ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong     QPNs over TCP
//!  perftest   ib_write_bw, ib_read_lat, ib_send_bw, ib_atomic_bw ...    QPNs and keys over TCP
//!  rping      rping -s, -c                                          connection manager on QP1
//!  ucmatose   ucmatose                                              connection manager on QP1
//! ```
//! A program is a function of a [`Host`] (a device and the world around it), its options, and where to print; it returns a report.
//!
//! ```
//! use verbena_programs::host::{poll, route, wait};
//! use verbena_programs::{Endpoint, Error, Host};
//! use verbena_verbs::*;
//!
//! /// Sends one message to a peer that is known already: its address, QPN and the first PSN that it expects.
//! fn hello<H: Host>(host: &mut H, peer: Gid, qpn: u32, psn: u32) -> Result<(), Error> {
//!     let way = route(host, peer)?; // ARP
//!     let mut end = Endpoint::open(host.device(), 4096, Access::LOCAL_WRITE, 16)?;
//!     let qp = host.device().create_qp(&QpInit::new(end.pd, Transport::Rc, end.cq, 1))?;
//!     end.qps.push(qp);
//!     host.device().modify_qp(qp, &QpAttr::to_init(Access::NONE))?;
//!     host.device().modify_qp(qp, &QpAttr::to_rtr(way, qpn, 0, PathMtu::Mtu1024))?;
//!     host.device().modify_qp(qp, &QpAttr::to_rts(psn))?;
//!     host.device().post_send(qp, &WorkRequest::inline(1, Verb::Send, b"hello"))?;
//!     let (cq, patience) = (end.cq, host.patience());
//!     wait(host, patience, || "the acknowledgement".into(), |host| Ok(poll(host, cq)?.pop()))?;
//!     end.close(host)
//! }
//!
//! // Nobody is there: the error says so.
//! use verbena_programs::local::{ends, Local};
//! use verbena_verbs::golden::GoldenHca;
//! let [end, _] = ends(1, Default::default());
//! let mut host = Local::open(end, GoldenHca::new())?;
//! host.set_patience(std::time::Duration::from_millis(50));
//! let error = hello(&mut host, Gid::ipv4([10, 0, 0, 2]), 0x1002, 0).unwrap_err();
//! assert_eq!(error.to_string(), "waited 50ms for the acknowledgement");
//! # Ok::<(), Error>(())
//! ```

mod endpoint;
mod error;
pub mod gsi;
pub mod host;
pub mod local;
pub mod oob;
pub mod perftest;
pub mod pingpong;
pub mod rping;
pub mod ucmatose;

pub use endpoint::Endpoint;
pub use error::Error;
pub use gsi::Gsi;
pub use host::Host;
