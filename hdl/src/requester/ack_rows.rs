// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rows of `Complete`, in two RAMs, words 0-3 and the others, and a copy of words 0 and 1 for `Send`.
//!
//! | word | holds |
//! |---|---|
//! | 0 | [23:0] oldest unacknowledged PSN, [26:24] QP state, [27] failed: to be reported, [28] gone back for missing responses, [29] RNR wait, [30] told that the queue is drained |
//! | 1 | [15:0] oldest uncompleted WQE index, [18:16] transport retries, [21:19] RNR retries |
//! | 2 | [15:0] WQE index of words 8-15, [16] they are valid |
//! | 3 | [23:0] PSN of the last sequence NAK that was answered by a resend alone, [24] there is one |
//! | 8-15 | elements 0 and 1 of that WQE: address low, high, length, L_Key |
//! | 16-23 | the host's words 0, 1, 5, 8, 16, 17, 18, 19 of the QP row |
//!
//! A write is in the RAM two cycles later. `word` follows two cycles after `read` and holds while `read` is low. `direct`: no register behind the RAM but one before its address, with the
//! same cycles: for a slow clock and few cells. A host's write waits while the station writes; one of word 19 is also the timers'
//! (`code_`). After reset a walk clears all. `RA` must be `QA + 5`, `RC` one more, `SA` `QA + 1`.

use crate::prim::{SdpRam, SplitRam};
use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

#[derive(LogicBlock)]
pub struct AckRows<const QA: usize, const RA: usize, const RC: usize, const SA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub table_valid: Signal<In, Bit>,
    /// index · 32 + word.
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// A write of word 19, to be taken with it.
    pub code_valid: Signal<Out, Bit>,
    pub code_ready: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    pub read: Signal<In, Bit>,
    pub item: Signal<In, Bits<5>>,
    pub word: Signal<Out, Bits<32>>,
    pub write: Signal<In, Bit>,
    pub write_item: Signal<In, Bits<4>>,
    pub write_data: Signal<In, Bits<32>>,
    /// `Send` reads words 0 and 1; data a cycle later.
    pub ack_read: Signal<In, Bit>,
    pub ack_index: Signal<In, Bits<QA>>,
    pub ack_item: Signal<In, Bits<1>>,
    pub ack_data: Signal<Out, Bits<32>>,
    /// Words 0-3.
    ram: SplitRam<RA, 32>,
    /// Words 8-15 and 16-23, in that order.
    rest: SplitRam<RA, 32>,
    copy: SdpRam<SA, 24>,
    /// The clearing walk; its top bit says that it is over.
    walk: DFF<Bits<RC>>,
    read_late: DFF<Bit>,
    address_late: DFF<Bits<RA>>,
    /// The word read is one of the rest.
    rest_read: DFF<Bit>,
    word_kept: DFF<Bits<32>>,
    ram_write: DFF<Bit>,
    ram_address: DFF<Bits<RA>>,
    copy_write: DFF<Bit>,
    copy_address: DFF<Bits<SA>>,
    write_kept: DFF<Bits<32>>,
    over: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    within_rows: Signal<Local, Bit>,
    known: Signal<Local, Bit>,
    is_code: Signal<Local, Bit>,
    host: Signal<Local, Bit>,
    number: Signal<Local, Bits<5>>,
    slot: Signal<Local, Bits<3>>,
    row: Signal<Local, Bits<RA>>,
    address: Signal<Local, Bits<RA>>,
    reads: Signal<Local, Bit>,
    read_address: Signal<Local, Bits<RA>>,
    read_data: Signal<Local, Bits<32>>,
    direct: Constant<Bit>,
    top: Constant<Bits<RC>>,
    beyond: Constant<Bits<17>>,
    row_mask: Constant<Bits<RA>>,
    host_base: Constant<Bits<5>>,
    code_word: Constant<Bits<5>>,
    kept_words: Constant<Bits<32>>,
}

/// The host's words that are kept, in the order of their places from word 16 on.
pub const HOST_WORDS: [usize; 8] = [
    qp::SERVICE.word,
    qp::PD.word,
    qp::SEND_CQ.word,
    qp::SQ_LOG.word,
    qp::SQ_PSN.word,
    qp::SQ_BASE_LOW.word,
    qp::SQ_BASE_HIGH.word,
    qp::TIMEOUT.word,
];

impl<const QA: usize, const RA: usize, const RC: usize, const SA: usize> AckRows<QA, RA, RC, SA> {
    pub fn new(direct: bool) -> Self {
        assert!(
            RA == QA + 5 && RC == RA + 1 && SA == QA + 1,
            "AckRows: RA must be QA + 5, RC one more, SA QA + 1"
        );
        // The kernel's way from word to place is made for these.
        assert_eq!(HOST_WORDS, [0, 1, 5, 8, 16, 17, 18, 19]);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            code_valid: Default::default(),
            code_ready: Default::default(),
            index: Default::default(),
            read: Default::default(),
            item: Default::default(),
            word: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            ack_read: Default::default(),
            ack_index: Default::default(),
            ack_item: Default::default(),
            ack_data: Default::default(),
            ram: SplitRam::of_words(4 << QA),
            rest: SplitRam::of_words(16 << QA),
            copy: Default::default(),
            walk: Default::default(),
            read_late: Default::default(),
            address_late: Default::default(),
            rest_read: Default::default(),
            word_kept: Default::default(),
            ram_write: Default::default(),
            ram_address: Default::default(),
            copy_write: Default::default(),
            copy_address: Default::default(),
            write_kept: Default::default(),
            over: Default::default(),
            open: Default::default(),
            within_rows: Default::default(),
            known: Default::default(),
            is_code: Default::default(),
            host: Default::default(),
            number: Default::default(),
            slot: Default::default(),
            row: Default::default(),
            address: Default::default(),
            reads: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            direct: Constant::new(direct),
            top: Constant::new((1u64 << RA).to_bits()),
            beyond: Constant::new((0x1_ffffu64 & !((1 << RA) - 1)).to_bits()),
            row_mask: Constant::new((((1u64 << RA) - 1) & !0x1f).to_bits()),
            host_base: Constant::new(16u64.to_bits()),
            code_word: Constant::new(qp::TIMEOUT.word.to_bits()),
            kept_words: Constant::new(HOST_WORDS.iter().fold(0u64, |all, w| all | 1 << w).to_bits()),
        }
    }
}

impl<const QA: usize, const RA: usize, const RC: usize, const SA: usize> Logic for AckRows<QA, RA, RC, SA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            walk,
            read_late,
            address_late,
            rest_read,
            word_kept,
            ram_write,
            ram_address,
            copy_write,
            copy_address,
            write_kept
        );
        clock!(self, clock, ram, rest, copy);
        self.over.next = self.walk.q.val() == self.top.val();
        self.ready.next = self.over.val();
        self.row.next = bit_cast::<RA, QA>(self.index.val()) << 5;

        // Read.
        self.address.next = self.row.val() | bit_cast::<RA, 5>(self.item.val());
        self.read_late.d.next = self.read.val();
        self.address_late.d.next = self.address.val();
        self.reads.next = self.read.val();
        self.read_address.next = self.address.val();
        if self.direct.val() {
            self.reads.next = self.read_late.q.val();
            self.read_address.next = self.address_late.q.val();
        }
        self.ram.read_enable.next = self.reads.val();
        self.ram.read_address.next = ((self.read_address.val() >> 5) << 2) | bit_cast::<RA, 2>(self.read_address.val().get_bits::<2>(0));
        self.rest.read_enable.next = self.reads.val();
        self.rest.read_address.next = ((self.read_address.val() >> 5) << 4)
            | bit_cast::<RA, 3>(self.read_address.val().get_bits::<3>(0))
            | (bit_cast::<RA, 1>(self.read_address.val().get_bits::<1>(4)) << 3);
        if self.reads.val() {
            self.rest_read.d.next = self.read_address.val().get_bits::<2>(3).any();
        }
        self.read_data.next = self.ram.read_data.val();
        if self.rest_read.q.val() {
            self.read_data.next = self.rest.read_data.val();
        }
        self.word_kept.d.next = self.read_data.val();
        self.word.next = self.word_kept.q.val();
        if self.direct.val() {
            self.word.next = self.read_data.val();
        }

        // The host's words: 0, 1, 5, 8, 16-19 to 0-7.
        self.number.next = self.table_address.val().get_bits::<5>(0);
        self.within_rows.next = !(self.table_address.val() & self.beyond.val()).any();
        self.known.next = self.kept_words.val().get_bit(self.number.val().index());
        self.is_code.next = self.within_rows.val() & (self.number.val() == self.code_word.val());
        self.slot.next = 0.into();
        if self.number.val().get_bit(0) {
            self.slot.next = 1.into();
        }
        if self.number.val().get_bit(2) {
            self.slot.next = 2.into();
        }
        if self.number.val().get_bit(3) {
            self.slot.next = 3.into();
        }
        if self.number.val().get_bit(4) {
            self.slot.next = bit_cast::<3, 2>(self.number.val().get_bits::<2>(0)) | 4;
        }
        self.open.next = self.over.val() & !self.write.val();
        self.code_valid.next = self.table_valid.val() & self.is_code.val() & self.open.val();
        self.table_ready.next = self.open.val() & (self.code_ready.val() | !self.is_code.val());
        self.host.next = self.table_valid.val() & self.within_rows.val() & self.known.val() & (self.code_ready.val() | !self.is_code.val());

        // Write, a cycle later: the station, the host, the walk.
        self.ram.write_enable.next = self.ram_write.q.val() & !self.ram_address.q.val().get_bits::<2>(3).any();
        self.ram.write_address.next = ((self.ram_address.q.val() >> 5) << 2) | bit_cast::<RA, 2>(self.ram_address.q.val().get_bits::<2>(0));
        self.ram.write_data.next = self.write_kept.q.val();
        self.rest.write_enable.next = self.ram_write.q.val() & self.ram_address.q.val().get_bits::<2>(3).any();
        self.rest.write_address.next = ((self.ram_address.q.val() >> 5) << 4)
            | bit_cast::<RA, 3>(self.ram_address.q.val().get_bits::<3>(0))
            | (bit_cast::<RA, 1>(self.ram_address.q.val().get_bits::<1>(4)) << 3);
        self.rest.write_data.next = self.write_kept.q.val();
        self.copy.write_enable.next = self.copy_write.q.val();
        self.copy.write_address.next = self.copy_address.q.val();
        self.copy.write_data.next = self.write_kept.q.val().get_bits::<24>(0);
        self.ram_write.d.next = self.host.val();
        self.ram_address.d.next = (self.table_address.val().get_bits::<RA>(0) & self.row_mask.val())
            | bit_cast::<RA, 5>(self.host_base.val() | bit_cast::<5, 3>(self.slot.val()));
        self.write_kept.d.next = self.table_data.val();
        self.copy_write.d.next = false;
        self.copy_address.d.next = bit_cast::<SA, QA>(self.index.val()) << 1;
        if self.write_item.val().get_bit(0) {
            self.copy_address.d.next = (bit_cast::<SA, QA>(self.index.val()) << 1) | 1;
        }
        if self.write.val() {
            self.ram_write.d.next = true;
            self.ram_address.d.next = self.row.val() | bit_cast::<RA, 4>(self.write_item.val());
            self.write_kept.d.next = self.write_data.val();
            self.copy_write.d.next = !self.write_item.val().get_bits::<3>(1).any();
        }
        if !self.over.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            self.ram_write.d.next = true;
            self.ram_address.d.next = self.walk.q.val().get_bits::<RA>(0);
            self.write_kept.d.next = 0.into();
            self.copy_write.d.next = true;
            self.copy_address.d.next = self.walk.q.val().get_bits::<SA>(0);
        }
        self.copy.read_enable.next = self.ack_read.val();
        self.copy.read_address.next = bit_cast::<SA, QA>(self.ack_index.val()) << 1;
        if self.ack_item.val().any() {
            self.copy.read_address.next = (bit_cast::<SA, QA>(self.ack_index.val()) << 1) | 1;
        }
        self.ack_data.next = bit_cast::<32, 24>(self.copy.read_data.val());

        if self.reset.val() {
            self.walk.d.next = 0.into();
            self.read_late.d.next = false;
            self.ram_write.d.next = false;
            self.copy_write.d.next = false;
        }
    }

    crate::block_name!();
}
