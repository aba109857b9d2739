// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transmit station's own copy of what QP rows say about the way to the peer.
//!
//! ```text
//! table_address[16:0] = index * 32 + word ──► words 0-15 kept, 16-31 ignored ──► RAM 2^QA * 16 words ──► read_data, one cycle later
//! ```
//!
//! One writer (the host's table window), one reader (the ACK builder), so `table_ready` is always 1. The reader sees rows only of QPs that
//! control lets answer, and the host doesn't write those, so nothing is cleared and the ports never meet. Limit: the index must be below 2^QA (the register station refuses others).

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// Address rows of `2^QA` QPs; `RA` is `QA + 4`.
#[derive(LogicBlock)]
pub struct AddressRam<const QA: usize, const RA: usize> {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    pub read_enable: Signal<In, Bit>,
    pub read_index: Signal<In, Bits<12>>,
    pub read_word: Signal<In, Bits<4>>,
    pub read_data: Signal<Out, Bits<32>>,
    ram: SplitRam<RA, 32>,
    enabled: Constant<Bit>,
}

impl<const QA: usize, const RA: usize> Default for AddressRam<QA, RA> {
    fn default() -> Self {
        assert!(RA == QA + 4 && QA <= 12, "AddressRam: RA must be QA + 4, QA at most 12");
        Self {
            clock: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            read_enable: Default::default(),
            read_index: Default::default(),
            read_word: Default::default(),
            read_data: Default::default(),
            ram: Default::default(),
            enabled: Constant::new(true),
        }
    }
}

impl<const QA: usize, const RA: usize> Logic for AddressRam<QA, RA> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, ram);
        self.table_ready.next = self.enabled.val();
        self.ram.write_enable.next = self.table_valid.val() & !self.table_address.val().get_bit(4);
        self.ram.write_address.next = (bit_cast::<RA, QA>(self.table_address.val().get_bits::<QA>(5)) << 4)
            | bit_cast::<RA, 4>(self.table_address.val().get_bits::<4>(0));
        self.ram.write_data.next = self.table_data.val();
        self.ram.read_enable.next = self.read_enable.val();
        self.ram.read_address.next =
            (bit_cast::<RA, QA>(self.read_index.val().get_bits::<QA>(0)) << 4) | bit_cast::<RA, 4>(self.read_word.val());
        self.read_data.next = self.ram.read_data.val();
    }

    crate::block_name!();
}
