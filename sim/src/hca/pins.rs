// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine's ports as plain values: what drives and samples them needs no Verilator, so it is tested alone.

/// An AXI4-Stream. `ready` is driven by the other side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stream {
    pub data: u64,
    pub keep: u8,
    pub valid: bool,
    pub ready: bool,
    pub last: bool,
    pub user: bool,
}

/// An AXI4 address channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Address {
    pub id: u8,
    pub address: u64,
    /// Beats minus 1.
    pub length: u8,
    /// log2 of the bytes in a beat.
    pub size: u8,
    /// 1 is INCR.
    pub burst: u8,
    pub valid: bool,
    pub ready: bool,
}

/// AXI4 write data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteData {
    pub data: u64,
    pub strobe: u8,
    pub last: bool,
    pub valid: bool,
    pub ready: bool,
}

/// AXI4 write response and read data (`data`, `last` unused in the former).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Response {
    pub id: u8,
    pub data: u64,
    /// 0 OKAY, 2 SLVERR, 3 DECERR.
    pub response: u8,
    pub last: bool,
    pub valid: bool,
    pub ready: bool,
}

/// The AXI4 master's five channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Axi {
    pub aw: Address,
    pub w: WriteData,
    pub b: Response,
    pub ar: Address,
    pub r: Response,
}

/// The AXI4-Lite slave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lite {
    pub aw_address: u32,
    pub aw_valid: bool,
    pub aw_ready: bool,
    pub w_data: u32,
    pub w_strobe: u8,
    pub w_valid: bool,
    pub w_ready: bool,
    pub b_response: u8,
    pub b_valid: bool,
    pub b_ready: bool,
    pub ar_address: u32,
    pub ar_valid: bool,
    pub ar_ready: bool,
    pub r_data: u32,
    pub r_response: u8,
    pub r_valid: bool,
    pub r_ready: bool,
}

/// All ports of `verbena_hca` but the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pins {
    pub reset: bool,
    pub mac_rx: Stream,
    pub mac_tx: Stream,
    pub host_rx: Stream,
    pub host_tx: Stream,
    pub axi: Axi,
    pub lite: Lite,
    pub irq: bool,
}

/// What broke a rule of the port, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub cycle: u64,
    pub port: &'static str,
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cycle {}: {}: {}", self.cycle, self.port, self.what)
    }
}

/// Violations seen, the first ones kept.
#[derive(Debug, Default)]
pub struct Violations {
    pub first: Vec<Violation>,
    pub count: u64,
}

/// How many are kept in full.
const KEPT: usize = 20;

impl Violations {
    pub fn add(&mut self, cycle: u64, port: &'static str, what: impl Into<String>) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(Violation {
                cycle,
                port,
                what: what.into(),
            });
        }
    }

    /// Err with the list if there are any.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let list: Vec<String> = self.first.iter().map(|v| format!("  {v}")).collect();
        Err(crate::held::NotHeld(format!("{} protocol violations; the first:\n{}", self.count, list.join("\n"))).into())
    }
}

/// Watches that what a source offers doesn't change before it is taken.
#[derive(Debug)]
pub struct Stable<T> {
    waiting: Option<T>,
}

impl<T> Default for Stable<T> {
    fn default() -> Self {
        Stable { waiting: None }
    }
}

impl<T: PartialEq + Copy + std::fmt::Debug> Stable<T> {
    pub fn watch(&mut self, valid: bool, ready: bool, offer: T, cycle: u64, port: &'static str, violations: &mut Violations) {
        if let Some(before) = self.waiting {
            if !valid {
                violations.add(cycle, port, "valid fell before ready");
            } else if before != offer {
                violations.add(cycle, port, format!("changed before it was taken: {before:x?} -> {offer:x?}"));
            }
        }
        self.waiting = (valid && !ready).then_some(offer);
    }
}
