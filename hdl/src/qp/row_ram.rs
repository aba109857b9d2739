// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's half of the QP contexts: rows of 32 words (`verbena_spec::layout::qp`), written over AXI4-Lite, read one word a cycle.
//!
//! ```text
//! table_* (host, always ready) ──► RAM 2^QA rows × 32 words ──► word, two cycles after read, held while read is low
//! ```
//!
//! Its one writer is the host, which leaves the row of a live QP alone: a word read as it is written comes out as anything. A write beyond the last row is taken and does nothing. `A` must be `QA + 5`.

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
    pub item: Signal<In, Bits<5>>,
    pub word: Signal<Out, Bits<32>>,
    ram: SplitRam<A, 32>,
    read_kept: DFF<Bit>,
    address_kept: DFF<Bits<A>>,
    beyond: Constant<Bits<17>>,
}

impl<const QA: usize, const A: usize> Default for RowRam<QA, A> {
    fn default() -> Self {
        assert_eq!(A, QA + 5, "RowRam: A must be QA + 5");
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
            beyond: Constant::new((0x1_ffffu64 & !((1 << A) - 1)).to_bits()),
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
        self.ram.write_address.next = self.table_address.val().get_bits::<A>(0);
        self.ram.write_data.next = self.table_data.val();
        // The RAM is wide apart in a large engine: what it reads is registered before it sets out.
        self.read_kept.d.next = self.read.val();
        self.address_kept.d.next = (bit_cast::<A, QA>(self.index.val()) << 5) | bit_cast::<A, 5>(self.item.val());
        self.ram.read_enable.next = self.read_kept.q.val();
        self.ram.read_address.next = self.address_kept.q.val();
        self.word.next = self.ram.read_data.val();
    }

    crate::block_name!();
}
