// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Send`'s rows: the segmenter's, 32 words a QP, and what `Complete` sees of them.
//!
//! ```text
//! table_* (row words 0, 1, 16, 19) ─┐
//! write (segmenter) ────────────────┴─► row RAM ─► word (two steps)
//!               └────────────────────► mirror ──┬─► look_data, one cycle later
//! producer (scheduler) ──────────────► producers ┘ (item 1, upper half)
//! ```
//!
//! A write takes a cycle more with `L` = 1; one of the host is kept, and done while nothing is written from inside. The mirror has items 0 to 3 and, in a RAM of their
//! own, 16 to 31; both and the row are written alike, so that any can be read at any time. `QR` = `QA` + 5.

use super::paced_ram::PacedRam;
use crate::prim::SdpRam;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct SendRows<const QA: usize, const QR: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub writing: Signal<Out, Bit>,
    pub write: Signal<In, Bit>,
    pub write_index: Signal<In, Bits<QA>>,
    pub write_item: Signal<In, Bits<5>>,
    pub write_data: Signal<In, Bits<32>>,
    pub advance: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    pub item: Signal<In, Bits<5>>,
    pub word: Signal<Out, Bits<32>>,
    pub producer_write: Signal<In, Bit>,
    pub producer_index: Signal<In, Bits<QA>>,
    pub producer: Signal<In, Bits<16>>,
    pub look_read: Signal<In, Bit>,
    pub look_index: Signal<In, Bits<12>>,
    pub look_item: Signal<In, Bits<5>>,
    pub look_data: Signal<Out, Bits<32>>,
    rows: PacedRam<QR, 32, L>,
    mirror: SdpRam<QR, 32>,
    /// Items 16 to 31 of it.
    mirror_records: SdpRam<QR, 32>,
    /// With `L` = 1 it has a word of zeros, which is read with all items but 1: so `look_data` needs no choice of it.
    producers: SdpRam<QR, 16>,
    no_producer: Constant<Bits<QR>>,
    indices: DFF<Bit>,
    looks_record: DFF<Bit>,
    late_write: DFF<Bit>,
    late_row: DFF<Bits<QA>>,
    late_item: DFF<Bits<5>>,
    late_data: DFF<Bits<32>>,
    host_write: Signal<Local, Bit>,
    host_row: Signal<Local, Bits<QA>>,
    host_item: Signal<Local, Bits<5>>,
    host_data: Signal<Local, Bits<32>>,
    held: DFF<Bit>,
    held_row: DFF<Bits<QA>>,
    held_item: DFF<Bits<5>>,
    held_data: DFF<Bits<32>>,
    now_write: Signal<Local, Bit>,
    now_row: Signal<Local, Bits<QA>>,
    now_item: Signal<Local, Bits<5>>,
    now_data: Signal<Local, Bits<32>>,
    table_item: Signal<Local, Bits<5>>,
    table_ours: Signal<Local, Bit>,
    table_row: Signal<Local, Bits<QA>>,
    address: Signal<Local, Bits<QR>>,
    data: Signal<Local, Bits<32>>,
    enable: Signal<Local, Bit>,
}

impl<const QA: usize, const QR: usize, const L: usize> Default for SendRows<QA, QR, L> {
    fn default() -> Self {
        assert!(QR == QA + 5, "SendRows: QR must be QA + 5");
        Self {
            clock: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            writing: Default::default(),
            write: Default::default(),
            write_index: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            advance: Default::default(),
            index: Default::default(),
            item: Default::default(),
            word: Default::default(),
            producer_write: Default::default(),
            producer_index: Default::default(),
            producer: Default::default(),
            look_read: Default::default(),
            look_index: Default::default(),
            look_item: Default::default(),
            look_data: Default::default(),
            rows: Default::default(),
            mirror: SdpRam::of_words(4 << QA),
            mirror_records: SdpRam::of_words(16 << QA),
            producers: SdpRam::of_words((1 + L) << QA),
            no_producer: Constant::new((1u64 << QA).to_bits()),
            indices: Default::default(),
            looks_record: Default::default(),
            late_write: Default::default(),
            late_row: Default::default(),
            late_item: Default::default(),
            late_data: Default::default(),
            host_write: Default::default(),
            host_row: Default::default(),
            host_item: Default::default(),
            host_data: Default::default(),
            held: Default::default(),
            held_row: Default::default(),
            held_item: Default::default(),
            held_data: Default::default(),
            now_write: Default::default(),
            now_row: Default::default(),
            now_item: Default::default(),
            now_data: Default::default(),
            table_item: Default::default(),
            table_ours: Default::default(),
            table_row: Default::default(),
            address: Default::default(),
            data: Default::default(),
            enable: Default::default(),
        }
    }
}

impl<const QA: usize, const QR: usize, const L: usize> Logic for SendRows<QA, QR, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            indices,
            looks_record,
            late_write,
            late_row,
            late_item,
            late_data,
            held,
            held_row,
            held_item,
            held_data
        );
        clock!(self, clock, rows, mirror, mirror_records, producers);
        self.table_row.next = self.table_address.val().get_bits::<QA>(5);
        self.table_ours.next = true;
        self.table_item.next = 8.into();
        if self.table_address.val().get_bits::<5>(0) == 1 {
            self.table_item.next = 9.into();
        } else if self.table_address.val().get_bits::<5>(0) == 16 {
            self.table_item.next = 10.into();
        } else if self.table_address.val().get_bits::<5>(0) == 19 {
            self.table_item.next = 11.into();
        } else {
            self.table_ours.next = !self.table_address.val().get_bits::<5>(0).any();
        }
        self.late_write.d.next = self.write.val();
        self.late_row.d.next = self.write_index.val();
        self.late_item.d.next = self.write_item.val();
        self.late_data.d.next = self.write_data.val();
        self.now_write.next = self.write.val();
        self.now_row.next = self.write_index.val();
        self.now_item.next = self.write_item.val();
        self.now_data.next = self.write_data.val();
        for _i in 0..L {
            self.now_write.next = self.late_write.q.val();
            self.now_row.next = self.late_row.q.val();
            self.now_item.next = self.late_item.q.val();
            self.now_data.next = self.late_data.q.val();
        }
        self.host_write.next = self.table_valid.val()
            & self.table_ours.val()
            & (self.table_address.val().get_bits::<12>(5) == bit_cast::<12, QA>(self.table_row.val()));
        self.host_row.next = self.table_row.val();
        self.host_item.next = self.table_item.val();
        self.host_data.next = self.table_data.val();
        self.writing.next = self.now_write.val();
        if self.held.q.val() {
            self.held.d.next = self.now_write.val();
        } else {
            self.held.d.next = self.host_write.val();
            self.held_row.d.next = self.host_row.val();
            self.held_item.d.next = self.host_item.val();
            self.held_data.d.next = self.host_data.val();
        }
        for _i in 0..L {
            self.host_write.next = self.held.q.val();
            self.host_row.next = self.held_row.q.val();
            self.host_item.next = self.held_item.q.val();
            self.host_data.next = self.held_data.q.val();
            self.writing.next = self.held.q.val();
        }
        self.enable.next = self.now_write.val() | self.host_write.val();
        self.address.next = (bit_cast::<QR, QA>(self.host_row.val()) << 5) | bit_cast::<QR, 5>(self.host_item.val());
        self.data.next = self.host_data.val();
        if self.now_write.val() {
            self.address.next = (bit_cast::<QR, QA>(self.now_row.val()) << 5) | bit_cast::<QR, 5>(self.now_item.val());
            self.data.next = self.now_data.val();
        }
        self.rows.write_enable.next = self.enable.val();
        self.rows.write_address.next = self.address.val();
        self.rows.write_data.next = self.data.val();
        self.mirror.write_enable.next = self.enable.val() & !self.address.val().get_bits::<3>(2).any();
        self.mirror.write_address.next = ((self.address.val() >> 5) << 2) | bit_cast::<QR, 2>(self.address.val().get_bits::<2>(0));
        self.mirror.write_data.next = self.data.val();
        for _i in 0..L {
            // The other half of item 1 is the producer.
            if self.address.val().get_bits::<2>(0) == 1 {
                self.mirror.write_data.next = self.data.val() & 0xffff;
            }
        }
        self.mirror_records.write_enable.next = self.enable.val() & self.address.val().get_bit(4);
        self.mirror_records.write_address.next = ((self.address.val() >> 5) << 4) | bit_cast::<QR, 4>(self.address.val().get_bits::<4>(0));
        self.mirror_records.write_data.next = self.data.val();
        self.rows.advance.next = self.advance.val();
        self.rows.read_address.next = (bit_cast::<QR, QA>(self.index.val()) << 5) | bit_cast::<QR, 5>(self.item.val());
        self.word.next = self.rows.word.val();

        self.producers.write_enable.next = self.producer_write.val();
        self.producers.write_address.next = bit_cast::<QR, QA>(self.producer_index.val());
        self.producers.write_data.next = self.producer.val();
        for _i in 0..L {
            if !self.producer_write.val() {
                self.producers.write_enable.next = true;
                self.producers.write_address.next = self.no_producer.val();
                self.producers.write_data.next = 0.into();
            }
        }
        self.mirror.read_enable.next = self.look_read.val();
        self.mirror.read_address.next =
            (bit_cast::<QR, QA>(self.look_index.val().get_bits::<QA>(0)) << 2) | bit_cast::<QR, 2>(self.look_item.val().get_bits::<2>(0));
        self.mirror_records.read_enable.next = self.look_read.val();
        self.mirror_records.read_address.next =
            (bit_cast::<QR, QA>(self.look_index.val().get_bits::<QA>(0)) << 4) | bit_cast::<QR, 4>(self.look_item.val().get_bits::<4>(0));
        self.producers.read_enable.next = self.look_read.val();
        self.producers.read_address.next = bit_cast::<QR, QA>(self.look_index.val().get_bits::<QA>(0));
        for _i in 0..L {
            if self.look_item.val() != 1 {
                self.producers.read_address.next = self.no_producer.val();
            }
        }
        if self.look_read.val() {
            self.indices.d.next = self.look_item.val() == 1;
            self.looks_record.d.next = self.look_item.val().get_bit(4);
        }
        self.look_data.next = self.mirror.read_data.val();
        if self.indices.q.val() {
            self.look_data.next = bit_cast::<32, 16>(self.mirror.read_data.val().get_bits::<16>(0))
                | (bit_cast::<32, 16>(self.producers.read_data.val()) << 16);
        }
        for _i in 0..L {
            self.look_data.next = self.mirror.read_data.val() | (bit_cast::<32, 16>(self.producers.read_data.val()) << 16);
        }
        if self.looks_record.q.val() {
            self.look_data.next = self.mirror_records.read_data.val();
        }
    }

    crate::block_name!();
}
