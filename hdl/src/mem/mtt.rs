// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory translation table: page number in, bus page address out.
//!
//! ```text
//! mtt_* ─► low half kept, high half commits ─► RAM 2^TA × 52 ─► page register
//! ```
//!
//! A lookup takes 2 cycles from `entry` to `page` (RAM, then register, so that the address path starts at a flip-flop). The host writes an
//! entry's low word, then its high word, of entries that no valid region reaches: one that is looked up in that cycle gives anything. Contents aren't cleared.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// `2^TA` entries of 52 bits (4 KiB pages). Writes beyond them are ignored.
#[derive(LogicBlock)]
pub struct Mtt<const TA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub mtt_valid: Signal<In, Bit>,
    /// Entry · 2 + word.
    pub mtt_address: Signal<In, Bits<17>>,
    pub mtt_data: Signal<In, Bits<32>>,
    pub mtt_ready: Signal<Out, Bit>,
    pub entry: Signal<In, Bits<16>>,
    pub page: Signal<Out, Bits<52>>,
    ram: SplitRam<TA, 52>,
    low: DFF<Bits<20>>,
    page_register: DFF<Bits<52>>,
    beyond: Signal<Local, Bit>,
    entry_mask: Constant<Bits<17>>,
}

impl<const TA: usize> Default for Mtt<TA> {
    fn default() -> Self {
        assert!((1..=16).contains(&TA));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            mtt_valid: Default::default(),
            mtt_address: Default::default(),
            mtt_data: Default::default(),
            mtt_ready: Default::default(),
            entry: Default::default(),
            page: Default::default(),
            ram: Default::default(),
            low: Default::default(),
            page_register: Default::default(),
            beyond: Default::default(),
            entry_mask: Constant::new((0x1_ffffu64 & !((1u64 << (TA + 1)) - 1)).to_bits()),
        }
    }
}

impl<const TA: usize> Logic for Mtt<TA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, low, page_register);
        clock!(self, clock, ram);

        self.mtt_ready.next = !self.reset.val();
        self.beyond.next = (self.mtt_address.val() & self.entry_mask.val()).any();
        self.ram.write_enable.next = false;
        self.ram.write_address.next = self.mtt_address.val().get_bits::<TA>(1);
        self.ram.write_data.next = (bit_cast::<52, 32>(self.mtt_data.val()) << 20) | bit_cast::<52, 20>(self.low.q.val());
        if self.mtt_valid.val() & !self.reset.val() {
            if self.mtt_address.val().get_bit(0) {
                self.ram.write_enable.next = !self.beyond.val();
            } else {
                self.low.d.next = self.mtt_data.val().get_bits::<20>(12);
            }
        }
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.entry.val().get_bits::<TA>(0);
        self.page_register.d.next = self.ram.read_data.val();
        self.page.next = self.page_register.q.val();
    }

    crate::block_name!();
}
