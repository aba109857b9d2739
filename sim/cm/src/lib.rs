// SPDX-License-Identifier: MIT OR Apache-2.0
//! The InfiniBand connection manager (IBTA volume 1, chapter 12) as a state machine without I/O: MADs in, MADs and events out.
//!
//! ```text
//!  active                             passive
//!  connect ── REQ ──────────────────► Event::Request ─► accept, or reject
//!  Event::Reply ◄────────────── REP ─ accept (the QP is in RTS)
//!  ready ──── RTU ──────────────────► Event::Established        (the QP is in RTS)
//!  disconnect ─ DREQ ───────────────► Event::Disconnected
//!  Event::Disconnected ◄─────── DREP ─
//! ```
//! What isn't answered is sent again, up to a limit; MRA stretches the wait. The caller moves QPs, and carries the MADs: on QP1, UD,
//! Q_Key [`QKEY`]. Time is ns of any clock of the caller's.
//!
//! *Limitations*: RC and UC connections over one path; no LAP, no peer-to-peer; a SIDR request (UD) is answered "not supported".

pub mod addresses;
mod connection;
pub mod layout;
mod manager;
mod message;

pub use addresses::Addresses;
pub use connection::Id;
pub use manager::{Accept, Cm, CmOptions, CmStatistics, Connect, Event, Outgoing, Refused};
pub use message::{About, Dreq, Gid, Mad, Message, Mra, ParseError, Path, Reason, Rej, Rep, Req, Rtu, SidrRep, SidrReq};

/// Q_Key of QP1.
pub const QKEY: u32 = 0x8001_0000;
/// QPN that MADs go to.
pub const QPN: u32 = 1;
