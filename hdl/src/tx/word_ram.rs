// SPDX-License-Identifier: MIT OR Apache-2.0
//! The words that packets are built from: what QP rows say about the way to the peer, and the words of the packets that wait.
//!
//! ```text
//! table_address[16:0] = index * 32 + word ─► words 0-15 kept, 16-31 ignored ─► rows  ─► row_data, one cycle later
//! slot_* ───────────────────────────────────────────────────────────────────► slots ─► slot_data, one cycle later
//! ```
//!
//! `S` 1: two RAMs, read side by side. `S` 0: one RAM, slots in its upper half; a table write makes `slot_ready` low, and a read is of one
//! kind (`read_packet`). `table_ready` is always 1. The reader sees rows only of QPs that may send, and the host doesn't write those, and slots only when
//! they are whole; so nothing is cleared and the ports never meet. Limit: the index must be below 2^QA (the register station refuses others).

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// Rows of `2^QA` QPs, `2^SA` words of slots. `RA` is `QA + 4`, and one more than that and `SA` where both share a RAM (`S` 0).
#[derive(LogicBlock)]
pub struct WordRam<const QA: usize, const RA: usize, const SA: usize, const S: usize> {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    pub slot_valid: Signal<In, Bit>,
    pub slot_address: Signal<In, Bits<SA>>,
    pub slot_word: Signal<In, Bits<32>>,
    pub slot_ready: Signal<Out, Bit>,
    pub read_enable: Signal<In, Bit>,
    pub read_index: Signal<In, Bits<12>>,
    pub read_word: Signal<In, Bits<4>>,
    /// The read is of a slot (`S` 0).
    pub read_packet: Signal<In, Bit>,
    pub read_slot: Signal<In, Bits<SA>>,
    pub row_data: Signal<Out, Bits<32>>,
    pub slot_data: Signal<Out, Bits<32>>,
    rows: SplitRam<RA, 32>,
    slots: [SplitRam<SA, 32>; S],
    kept: Signal<Local, Bit>,
    row_address: Signal<Local, Bits<RA>>,
    shared: Constant<Bit>,
    enabled: Constant<Bit>,
    slots_at: Constant<Bits<RA>>,
}

impl<const QA: usize, const RA: usize, const SA: usize, const S: usize> Default for WordRam<QA, RA, SA, S> {
    fn default() -> Self {
        assert!(
            QA <= 12 && RA >= QA + 4 + (1 - S) && (S == 1 || RA > SA),
            "WordRam: RA is too small"
        );
        Self {
            clock: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            slot_valid: Default::default(),
            slot_address: Default::default(),
            slot_word: Default::default(),
            slot_ready: Default::default(),
            read_enable: Default::default(),
            read_index: Default::default(),
            read_word: Default::default(),
            read_packet: Default::default(),
            read_slot: Default::default(),
            row_data: Default::default(),
            slot_data: Default::default(),
            rows: Default::default(),
            slots: std::array::from_fn(|_| Default::default()),
            kept: Default::default(),
            row_address: Default::default(),
            shared: Constant::new(S == 0),
            enabled: Constant::new(true),
            slots_at: Constant::new((1u64 << (RA - 1)).to_bits()),
        }
    }
}

impl<const QA: usize, const RA: usize, const SA: usize, const S: usize> Logic for WordRam<QA, RA, SA, S> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, rows);
        self.table_ready.next = self.enabled.val();
        self.kept.next = self.table_valid.val() & !self.table_address.val().get_bit(4);
        self.slot_ready.next = !self.shared.val() | !self.kept.val();
        self.rows.write_enable.next = self.kept.val();
        self.rows.write_address.next = (bit_cast::<RA, QA>(self.table_address.val().get_bits::<QA>(5)) << 4)
            | bit_cast::<RA, 4>(self.table_address.val().get_bits::<4>(0));
        self.rows.write_data.next = self.table_data.val();
        if self.shared.val() & !self.kept.val() {
            self.rows.write_enable.next = self.slot_valid.val();
            self.rows.write_address.next = bit_cast::<RA, SA>(self.slot_address.val()) | self.slots_at.val();
            self.rows.write_data.next = self.slot_word.val();
        }
        self.row_address.next =
            (bit_cast::<RA, QA>(self.read_index.val().get_bits::<QA>(0)) << 4) | bit_cast::<RA, 4>(self.read_word.val());
        self.rows.read_enable.next = self.read_enable.val();
        self.rows.read_address.next = self.row_address.val();
        if self.shared.val() & self.read_packet.val() {
            self.rows.read_address.next = bit_cast::<RA, SA>(self.read_slot.val()) | self.slots_at.val();
        }
        self.row_data.next = self.rows.read_data.val();
        self.slot_data.next = self.rows.read_data.val();
        for i in 0..S {
            self.slots[i].clock.next = self.clock.val();
            self.slots[i].write_enable.next = self.slot_valid.val();
            self.slots[i].write_address.next = self.slot_address.val();
            self.slots[i].write_data.next = self.slot_word.val();
            self.slots[i].read_enable.next = self.read_enable.val();
            self.slots[i].read_address.next = self.read_slot.val();
            self.slot_data.next = self.slots[i].read_data.val();
        }
    }

    crate::block_name!();
}
