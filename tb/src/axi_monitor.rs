// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watches the write channels of an AXI4 master and panics where it breaks the protocol.
//!
//! What it holds the master to: AW and W keep valid and payload until ready; no burst crosses 4 KiB; W beats follow in AW order with `last`
//! exactly on each burst's last beat; W is never offered before its AW has been; no strobe without a beat's right to it (inside the burst).

use std::collections::VecDeque;

/// AW as seen in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aw {
    pub id: u64,
    pub address: u64,
    /// Beats less one.
    pub length: u64,
}

/// W as seen in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct W {
    pub data: u64,
    pub strobe: u64,
    pub last: bool,
}

/// The monitor of one master; call [`WriteMonitor::see`] once a cycle.
pub struct WriteMonitor {
    bytes: u64,
    held_aw: Option<Aw>,
    held_w: Option<W>,
    /// Offered bursts that still miss W beats: beats left.
    open: VecDeque<u64>,
    aw_counted: bool,
    pub bursts: u64,
    pub beats: u64,
}

impl WriteMonitor {
    /// For a bus of `bytes` bytes.
    pub fn new(bytes: u64) -> Self {
        Self {
            bytes,
            held_aw: None,
            held_w: None,
            open: VecDeque::new(),
            aw_counted: false,
            bursts: 0,
            beats: 0,
        }
    }

    /// Whether an AW that is offered in this cycle (not yet seen) is another than the last cycle's.
    pub fn aw_is_new(&self) -> bool {
        !self.aw_counted
    }

    /// `aw` and `w` are what the master offers (valid), with the slave's ready.
    pub fn see(&mut self, cycle: u64, aw: Option<Aw>, aw_ready: bool, w: Option<W>, w_ready: bool) {
        if let Some(held) = self.held_aw {
            assert_eq!(aw, Some(held), "cycle {cycle}: AW changed before ready");
        }
        if let Some(held) = self.held_w {
            assert_eq!(w, Some(held), "cycle {cycle}: W changed before ready");
        }
        self.held_aw = aw.filter(|_| !aw_ready);
        self.held_w = w.filter(|_| !w_ready);

        if let Some(aw) = aw {
            if !self.aw_counted {
                assert!(aw.length < 256);
                let first = aw.address & !(self.bytes - 1);
                let last = first + aw.length * self.bytes;
                assert_eq!(first >> 12, last >> 12, "cycle {cycle}: {aw:x?} crosses 4 KiB");
                self.open.push_back(aw.length + 1);
                self.bursts += 1;
            }
            self.aw_counted = !aw_ready;
        }
        if let Some(w) = w {
            let left = *self.open.front().unwrap_or_else(|| panic!("cycle {cycle}: W before AW"));
            assert_eq!(w.last, left == 1, "cycle {cycle}: last is wrong with {left} beats left");
            assert_ne!(w.strobe, 0, "cycle {cycle}: a beat without strobes");
            if w_ready {
                self.beats += 1;
                if w.last {
                    self.open.pop_front();
                } else {
                    self.open[0] -= 1;
                }
            }
        }
    }

    /// Every burst has got its beats.
    pub fn is_quiet(&self) -> bool {
        self.open.is_empty() && self.held_aw.is_none() && self.held_w.is_none()
    }
}
