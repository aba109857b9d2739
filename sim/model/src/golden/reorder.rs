// SPDX-License-Identifier: MIT OR Apache-2.0
//! Early packets, held until their turn (R42): a QP's requests at the responder, its READ and ATOMIC responses at the requester.
//!
//! ```text
//!            expected                         expected + window
//!  duplicate │ gap │ held │ gap │ held │ ...   │ beyond: dropped
//!            └─ NAK once: a packet more than nak_distance ahead, or the gap older than nak_delay
//! ```
//! Slots are one pool for all flows. A flow (a QP and one of its roles) that holds nothing gets the last free one; one that holds some stays
//! below [`SHARE`] times what is free and leaves one, so that a flow that waits never takes all (dynamic threshold, Choudhury and Hahne 1998).

use super::qp::Attributes;
use super::send_queue::{after, distance};
use crate::packet::Packet;
use std::collections::BTreeMap;

/// A flow's slots stay below this many times the free ones.
pub const SHARE: usize = 4;

/// Sizes of the station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reorder {
    /// PSNs from the expected one on that a flow may hold; 0: nothing is held.
    pub window: u32,
    /// Packets that the pool holds.
    pub slots: usize,
}

impl Reorder {
    /// No station: early packets are dropped.
    pub const NONE: Reorder = Reorder { window: 0, slots: 0 };
    /// The `tengig` preset's.
    pub const TENGIG: Reorder = Reorder { window: 64, slots: 64 };
    /// The `cu` preset's.
    pub const CU: Reorder = Reorder { window: 4, slots: 4 };

    /// Whether a flow that holds `own` packets may take one of `free` slots.
    pub fn may_take(own: usize, free: usize) -> bool {
        if own == 0 {
            free > 0
        } else {
            free > 1 && own < SHARE * free
        }
    }
}

/// What became of an early packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Early {
    Held,
    /// One of that PSN is held already; this one is held instead, if there was room for it beside that.
    Again,
    /// No slot, or not for this flow.
    Full,
    /// Outside the window.
    Beyond,
}

/// What a flow holds, and its gap.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// By PSN.
    packets: BTreeMap<u32, Packet>,
    /// When the gap before the first early packet was seen, ns.
    since: Option<u64>,
}

impl Held {
    /// Slots in use.
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Takes a packet after `expected`; `free` slots are left in the pool.
    pub(super) fn hold(&mut self, sizes: Reorder, free: usize, expected: u32, packet: &Packet) -> Early {
        let again = self.packets.contains_key(&packet.psn);
        if distance(expected, packet.psn) >= sizes.window {
            Early::Beyond
        } else {
            // The newer copy is held: where a pool's room comes back in the order of the packets, that gives up less when a sender goes back.
            let takes = Reorder::may_take(self.len(), free);
            if takes {
                self.packets.insert(packet.psn, packet.clone());
            }
            match (again, takes) {
                (true, _) => Early::Again,
                (false, true) => Early::Held,
                (false, false) => Early::Full,
            }
        }
    }

    /// The packet of that PSN leaves its slot.
    pub(super) fn take(&mut self, psn: u32) -> Option<Packet> {
        self.packets.remove(&psn)
    }

    /// How far the first and the last held packet are after `expected`.
    pub(super) fn span(&self, expected: u32) -> Option<(u32, u32)> {
        let ahead = || self.packets.keys().map(|psn| distance(expected, *psn));
        Some((ahead().min()?, ahead().max()?))
    }

    /// The first held packet's PSN.
    pub(super) fn first(&self, expected: u32) -> Option<u32> {
        self.span(expected).map(|(first, _)| after(expected, first))
    }

    /// Packets that `expected` has moved past leave their slots; how many.
    pub(super) fn release_passed(&mut self, expected: u32) -> usize {
        let before = self.len();
        self.packets.retain(|psn, _| distance(expected, *psn) & 0x80_0000 == 0);
        before - self.len()
    }

    /// Everything leaves its slot; how many.
    pub(super) fn release(&mut self) -> usize {
        let count = self.len();
        *self = Held::default();
        count
    }

    /// An early packet, held or not, shows the gap.
    pub(super) fn see_gap(&mut self, now: u64) {
        self.since.get_or_insert(now);
    }

    /// The expected packet came: the next gap, if any, is a new one.
    pub(super) fn moved(&mut self) {
        self.since = None;
    }

    /// A gap is a loss when a packet more than `nak_distance` after it came, or when it is older than `nak_delay`.
    pub(super) fn is_lost(&self, ahead: u32, a: &Attributes, now: u64) -> bool {
        ahead > u32::from(a.nak_distance) || self.deadline(a).is_some_and(|at| at <= now)
    }

    /// When the gap will be older than `nak_delay`, ns.
    pub(super) fn deadline(&self, a: &Attributes) -> Option<u64> {
        let delay = 1000 * u64::from(a.nak_delay);
        self.since.filter(|_| delay != 0).map(|since| since + delay)
    }
}
