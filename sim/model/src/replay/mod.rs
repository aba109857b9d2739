// SPDX-License-Identifier: MIT OR Apache-2.0
//! A capture played against a responder: the golden model, or the Verilated engine behind the same trait.
//!
//! ```text
//! NAME.pcap, runs.json ─► infer ─► Setup ─► Responder::configure
//! frames that arrived ──────────────────► Responder::deliver ─► answers ─► compare with the captured ones
//! ```

pub mod arrivals;
pub mod checks;
pub mod client;
pub mod compare;
pub mod contents;
pub mod golden;
pub mod golden_client;
pub mod infer;
pub mod overrides;
pub mod play;
pub mod report;
pub mod requests;
pub mod runs;
pub mod work;

use crate::golden::keys::Access;
use crate::golden::qp::Attributes;
use crate::golden::{Completion, Features};
use crate::parse::Local;
use anyhow::Result;

/// A memory region that the capture's requests reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupRegion {
    pub key: u32,
    pub virtual_address: u64,
    pub length: u64,
    pub access: Access,
    pub may_invalidate: bool,
}

/// Everything a responder has to know before the first frame.
#[derive(Debug, Clone)]
pub struct Setup {
    pub local: Local,
    /// Protection domain of all QPs and regions.
    pub pd: u16,
    /// To be brought to RTS.
    pub qps: Vec<Attributes>,
    pub regions: Vec<SetupRegion>,
}

/// What a capture can be played against. A QPN's index is its lower 12 bits, a key's index all but the lower 8; a responder whose tables
/// are smaller refuses the setup with an error.
pub trait Responder {
    /// What it was built with: captures with READ or ATOMIC requests wait for a responder that has them.
    fn features(&mut self) -> Features {
        Features::default()
    }
    fn configure(&mut self, setup: &Setup) -> Result<()>;
    /// Posts one receive of `length` bytes at `address` under `lkey`.
    fn post_receive(&mut self, qpn: u32, address: u64, length: u32, lkey: u32) -> Result<()>;
    /// Delivers a frame and runs until nothing more comes of it; the frames sent.
    fn deliver(&mut self, frame: &[u8]) -> Result<Vec<Vec<u8>>>;
    /// Completions since the last call, in order for each CQ.
    fn completions(&mut self) -> Result<Vec<Completion>>;
    /// Puts bytes into a region, before the first frame.
    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()>;
    /// Bytes of a region.
    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>>;
    /// Counters by code, since `configure`.
    fn counters(&mut self) -> Result<Vec<u32>>;
}
