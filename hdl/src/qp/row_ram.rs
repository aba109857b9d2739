// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's half of the QP contexts, words 0–15 of the rows (`verbena_spec::layout::qp`; the rest is the requester's and the READ responder's), written
//! over AXI4-Lite, read one word a cycle.
//!
//! ```text
//! table_* (host, always ready) ──► RAM 2^QA rows × 16 words ──► word, two cycles after read, held while read is low
//! ```
//!
//! Its one writer is the host, which leaves the row of a live QP alone: a word read as it is written comes out as anything. A write beyond the last row, or
//! to a word beyond the 15th, is taken and does nothing. `A` must be `QA + 4`.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct RowRam<const QA: usize, const A: usize> {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    /// index · 32 + word.
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    pub read: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    /// 0 to 15: bit 4 doesn't count.
    pub item: Signal<In, Bits<5>>,
    pub word: Signal<Out, Bits<32>>,
    ram: SplitRam<A, 32>,
    read_kept: DFF<Bit>,
    address_kept: DFF<Bits<A>>,
    beyond: Constant<Bits<17>>,
}

impl<const QA: usize, const A: usize> Default for RowRam<QA, A> {
    fn default() -> Self {
        assert_eq!(A, QA + 4, "RowRam: A must be QA + 4");
        Self {
            clock: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            read: Default::default(),
            index: Default::default(),
            item: Default::default(),
            word: Default::default(),
            ram: Default::default(),
            read_kept: Default::default(),
            address_kept: Default::default(),
            // Bit 4 too: a word that isn't kept here.
            beyond: Constant::new((0x1_ffffu64 & !((1 << (A + 1)) - 1) | 16).to_bits()),
        }
    }
}

impl<const QA: usize, const A: usize> Logic for RowRam<QA, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, read_kept, address_kept);
        clock!(self, clock, ram);
        self.table_ready.next = true;
        self.ram.write_enable.next = self.table_valid.val() & !(self.table_address.val() & self.beyond.val()).any();
        self.ram.write_address.next = (bit_cast::<A, QA>(self.table_address.val().get_bits::<QA>(5)) << 4)
            | bit_cast::<A, 4>(self.table_address.val().get_bits::<4>(0));
        self.ram.write_data.next = self.table_data.val();
        // The RAM is wide apart in a large engine: what it reads is registered before it sets out.
        self.read_kept.d.next = self.read.val();
        self.address_kept.d.next = (bit_cast::<A, QA>(self.index.val()) << 4) | bit_cast::<A, 4>(self.item.val().get_bits::<4>(0));
        self.ram.read_enable.next = self.read_kept.q.val();
        self.ram.read_address.next = self.address_kept.q.val();
        self.word.next = self.ram.read_data.val();
    }

    crate::block_name!();
}
