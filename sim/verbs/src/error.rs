// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can go wrong, by kind.

use crate::{QpState, Transport};
use thiserror::Error;

/// A register access that failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BusError {
    /// The engine answered SLVERR: unmapped, wrong direction, partial strobes, or a command while one is busy.
    #[error("the engine refused register access at {address:#08x} (SLVERR)")]
    Refused { address: u32 },
    /// DECERR: nothing decodes the address.
    #[error("nothing answers at {address:#08x} (DECERR)")]
    Decode { address: u32 },
    /// No answer in time.
    #[error("no answer from {address:#08x} after {waited} {unit}")]
    Timeout { address: u32, waited: u64, unit: &'static str },
    /// The transport to the engine (UART, PCIe, simulation) failed.
    #[error("register bus: {0}")]
    Io(String),
}

/// A host memory access or allocation that failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DmaError {
    #[error("out of DMA memory: {bytes} bytes aligned to {align} are not to be had")]
    OutOfMemory { bytes: u64, align: u64 },
    #[error("bus address {address:#x}, {bytes} bytes, is not allocated")]
    Unmapped { address: u64, bytes: u64 },
    #[error("virtual address {va:#x}, {bytes} bytes, leaves its region")]
    OutsideRegion { va: u64, bytes: u64 },
    #[error("DMA memory: {0}")]
    Io(String),
}

/// Everything that a call of this library can return.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    #[error(transparent)]
    Bus(#[from] BusError),
    #[error(transparent)]
    Dma(#[from] DmaError),
    #[error("no Verbena engine: register ID reads {found:#010x}, want {want:#010x}")]
    NoEngine { found: u32, want: u32 },
    #[error("the engine's version is {major}.{minor}, this library speaks {want}.x: build both from the same tree")]
    Version { major: u8, minor: u8, want: u8 },
    #[error("the engine is not {what} after {polls} polls")]
    NotReady { what: &'static str, polls: u32 },
    #[error("this engine has no {0}; see its capabilities")]
    Unsupported(&'static str),
    #[error("no free {what}: all {limit} are in use")]
    Exhausted { what: &'static str, limit: usize },
    #[error("{what}: {value} is out of range ({want})")]
    OutOfRange { what: &'static str, value: u64, want: String },
    #[error("bus address {address:#x}, {bytes} bytes: this engine's bus addresses have {bits} bits")]
    AddressBeyond { address: u64, bytes: u64, bits: u32 },
    #[error("no such {0}: it was destroyed, or belongs to another device")]
    Stale(&'static str),
    #[error("{what} is still used by {by}")]
    Busy { what: &'static str, by: &'static str },
    #[error("a QP in {from:?} can't be modified to {to:?}")]
    BadTransition { from: QpState, to: QpState },
    #[error("modify {transport:?} QP to {to:?}: attribute '{attribute}' is missing")]
    Missing {
        transport: Transport,
        to: QpState,
        attribute: &'static str,
    },
    #[error("modify {transport:?} QP to {to:?}: attribute '{attribute}' can't be given here")]
    NotAllowed {
        transport: Transport,
        to: QpState,
        attribute: &'static str,
    },
    #[error("the engine refused the command (operation {operation}, QP index {index})")]
    CommandRefused { operation: u32, index: u32 },
    #[error("the queue is full ({entries} entries)")]
    QueueFull { entries: usize },
    #[error("post_recv needs a QP past RESET; it is in {0:?}")]
    BadState(QpState),
    #[error("post_send needs a QP in RTS, SQD or ERR; it is in {0:?}")]
    NotSending(QpState),
    #[error("a {transport:?} QP has no {verb}")]
    WrongVerb { transport: Transport, verb: &'static str },
    #[error("{verb} can't take its data so: {want}")]
    BadData { verb: &'static str, want: &'static str },
    #[error("a UD QP needs a destination in each send, and only a UD QP takes one")]
    Destination,
}
