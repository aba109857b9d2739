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
