// SPDX-License-Identifier: MIT OR Apache-2.0
//! One's complement sum of 16-bit terms, one a cycle.
//!
//! ```text
//! term ─► sum + term + carry ─► sum, carry         the carry comes back with the next term
//! ```
//!
//! The sum is right once `carry` is 0; where the last term is below 256, one more cycle with term 0 is enough. W = 64 (`L` = 2): a term is added a cycle after it came, and its
//! carry with it: both sums are made, without and with one more, and the first one's carry chooses.

use super::packet_words::CHECKSUM_START;
use rust_hdl::prelude::*;

/// The IPv4 header's sum; its complement is the checksum (R16).
#[derive(LogicBlock)]
pub struct HeaderChecksum<const L: usize> {
    pub clock: Signal<In, Clock>,
    /// Begin with the header's constant part and the words between BTH and ICRC.
    pub load: Signal<In, Bit>,
    pub body: Signal<In, Bits<11>>,
    pub enable: Signal<In, Bit>,
    pub term: Signal<In, Bits<16>>,
    pub sum: Signal<Out, Bits<16>>,
    total: DFF<Bits<16>>,
    carry: DFF<Bit>,
    late: DFF<Bits<16>>,
    added: Signal<Local, Bits<16>>,
    next_total: Signal<Local, Bits<18>>,
    next_carried: Signal<Local, Bits<16>>,
    beginning: Constant<Bits<16>>,
    wide: Constant<Bit>,
}

impl<const L: usize> Default for HeaderChecksum<L> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            load: Default::default(),
            body: Default::default(),
            enable: Default::default(),
            term: Default::default(),
            sum: Default::default(),
            total: Default::default(),
            carry: Default::default(),
            late: Default::default(),
            added: Default::default(),
            next_total: Default::default(),
            next_carried: Default::default(),
            beginning: Constant::new(CHECKSUM_START.to_bits()),
            wide: Constant::new(L == 2),
        }
    }
}

impl<const L: usize> Logic for HeaderChecksum<L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, total, carry, late);
        self.late.d.next = self.term.val();
        self.added.next = self.term.val();
        if self.wide.val() {
            self.added.next = self.late.q.val();
        }
        // The lowest bit makes the carry-in.
        self.next_total.next = ((bit_cast::<18, 16>(self.total.q.val()) << 1) | 1)
            + ((bit_cast::<18, 16>(self.added.val()) << 1) | bit_cast::<18, 1>(self.carry.q.val().into()));
        self.next_carried.next = self.total.q.val() + self.added.val() + 1;
        if self.enable.val() {
            self.total.d.next = self.next_total.val().get_bits::<16>(1);
            self.carry.d.next = !self.wide.val() & self.next_total.val().get_bit(17);
            if self.wide.val() & self.next_total.val().get_bit(17) {
                self.total.d.next = self.next_carried.val();
            }
        }
        if self.load.val() {
            self.total.d.next = self.beginning.val() + (bit_cast::<16, 11>(self.body.val()) << 2);
            self.carry.d.next = false;
        }
        self.sum.next = self.total.q.val();
    }

    crate::block_name!();
}
