// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys: the memory region table, and the check of every L_Key and R_Key (R52, R67), and invalidation (R62).
//!
//! ```text
//! table_* (host) ─┐
//! clearing walk  ─┼─► row RAM, 8 words a region ─► word ─► tag, PD, access ─► failed
//! invalidate     ─┘        ▲                         ├──► va - MR.va = offset ─► offset + length <= MR.length
//! key_* ───────────────────┘ step 0..8               └──► MR.address + offset, or MTT + page ─► key_address
//! ```
//!
//! | step | read of word | compares |
//! |---|---|---|
//! | 0 | 0 flags | (idle; leaves on `key_start`) |
//! | 1 | 2 va_low | |
//! | 2 | 3 va_high | tag, valid, PD, access of word 0; invalidate writes it without VALID and ends |
//! | 3 | 4 length_low | offset, lower half |
//! | 4 | 5 length_high | offset, upper half: borrow fails; end, lower half |
//! | 5 | 6 address_low or 1 mtt | length_low against the end; end, upper half: carry fails |
//! | 6 | 7 address_high | length_high against the end: carry fails |
//! | 7 | | address, lower half |
//! | 8 | | address, upper half; `key_done` |
//!
//! Latency 8 cycles from start to done, always (3 for an invalidation). What is subtracted is added inverted, `a - b = !(!a + b)`, so that the
//! table's word needs no inverters. The VALID bit of word 0 in the RAM is the valid bit: this block is the
//! RAM's only writer. The host writes words 1 to 7 first and word 0 last, and to end a region writes word 0 with VALID low.
//! Limits: with `TA` = 1 there is no MTT and a paged region is refused. A paged region's pages must lie inside the MTT: the first page touched
//! is checked here, the rest is the host library's duty. A small engine (bus addresses of 32 bits or fewer) ignores the upper halves of a row's
//! length and address and the bits of their lower halves that no bus address has: a region is at most `2^address_bits` bytes there.

use super::CarryAdd;
use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::layout::{mr, MR_WORDS};

/// One cycle each; named after the word in the `word` register.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum KeyStep {
    Idle,
    First,
    Flags,
    VaLow,
    VaHigh,
    LengthLow,
    LengthHigh,
    AddressLow,
    Done,
}

/// Checks keys against `2^MA` regions. `RA` must be `MA + 3` (words in the table); `TA` is log2 of the MTT's entries, 1: no MTT.
#[derive(LogicBlock)]
pub struct Keys<const MA: usize, const RA: usize, const TA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The table is cleared.
    pub ready: Signal<Out, Bit>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<15>>,
    pub table_data: Signal<In, Bits<32>>,
    /// Low during the clearing walk and while a key is being checked, so that no check sees a torn row.
    pub table_ready: Signal<Out, Bit>,
    /// All `key_` inputs are held from start to done.
    pub key_start: Signal<In, Bit>,
    pub key_op: Signal<In, Bits<1>>,
    pub key: Signal<In, Bits<32>>,
    pub key_va: Signal<In, Bits<64>>,
    pub key_length: Signal<In, Bits<32>>,
    pub key_pd: Signal<In, Bits<16>>,
    pub key_access: Signal<In, Bits<4>>,
    pub key_done: Signal<Out, Bit>,
    pub key_ok: Signal<Out, Bit>,
    pub key_paged: Signal<Out, Bit>,
    pub key_address: Signal<Out, Bits<64>>,
    ram: SplitRam<RA, 32>,
    offset_low_add: CarryAdd,
    offset_high_add: CarryAdd,
    end_low_add: CarryAdd,
    end_high_add: CarryAdd,
    past_low_add: CarryAdd,
    past_high_add: CarryAdd,
    address_low_add: CarryAdd,
    address_high_add: CarryAdd,
    walking: DFF<Bit>,
    walk: DFF<Bits<MA>>,
    step: DFF<KeyStep>,
    word_register: DFF<Bits<32>>,
    row_word_late: DFF<Bits<3>>,
    /// What is asked, a cycle late: nothing is compared behind the asker's choice.
    late_tag: DFF<Bits<8>>,
    late_beyond: DFF<Bit>,
    late_op: DFF<Bit>,
    late_va: DFF<Bits<64>>,
    late_length: DFF<Bits<32>>,
    late_pd: DFF<Bits<16>>,
    late_access: DFF<Bits<4>>,
    failed: DFF<Bit>,
    paged: DFF<Bit>,
    /// The check asks for nothing (R51); it is an invalidation: registers, so that the answer stands behind nobody's inputs.
    nothing: DFF<Bit>,
    ending: DFF<Bit>,
    offset_low: DFF<Bits<32>>,
    offset_high: DFF<Bits<32>>,
    offset_carry: DFF<Bit>,
    /// The end, inverted.
    end_low: DFF<Bits<32>>,
    end_high: DFF<Bits<32>>,
    end_carry: DFF<Bit>,
    past_carry: DFF<Bit>,
    /// Pages from the region's first: one more than 16 bits hold, where 28 bits of offset begin within a page.
    page_offset: DFF<Bits<17>>,
    address_low: DFF<Bits<32>>,
    address_carry: DFF<Bit>,
    table_open: Signal<Local, Bit>,
    row_base: Signal<Local, Bits<RA>>,
    row_word: Signal<Local, Bits<3>>,
    word: Signal<Local, Bits<32>>,
    near: Signal<Local, Bits<32>>,
    far: Signal<Local, Bits<32>>,
    offset_spills: Signal<Local, Bit>,
    length_spills: Signal<Local, Bit>,
    offset: Signal<Local, Bits<32>>,
    beyond: Signal<Local, Bit>,
    tag: Signal<Local, Bits<8>>,
    operation: Signal<Local, Bit>,
    va: Signal<Local, Bits<64>>,
    length: Signal<Local, Bits<32>>,
    pd: Signal<Local, Bits<16>>,
    access: Signal<Local, Bits<4>>,
    row_good: Signal<Local, Bit>,
    access_good: Signal<Local, Bit>,
    page: Signal<Local, Bits<17>>,
    page_kept: Signal<Local, Bits<17>>,
    page_beyond: Signal<Local, Bit>,
    offset_beyond: Signal<Local, Bit>,
    key_mask: Constant<Bits<32>>,
    table_mask: Constant<Bits<15>>,
    page_mask: Constant<Bits<17>>,
    has_mtt: Constant<Bit>,
    direct: Constant<Bit>,
    near_mask: Constant<Bits<32>>,
    far_mask: Constant<Bits<32>>,
    offset_mask: Constant<Bits<32>>,
    end_mask: Constant<Bits<32>>,
    flag_invalid: Constant<Bits<32>>,
    zero: Constant<Bits<32>>,
    word_mtt: Constant<Bits<3>>,
    word_va_low: Constant<Bits<3>>,
    word_va_high: Constant<Bits<3>>,
    word_length_low: Constant<Bits<3>>,
    word_length_high: Constant<Bits<3>>,
    word_address_low: Constant<Bits<3>>,
    word_address_high: Constant<Bits<3>>,
    bit_valid: Constant<Bits<5>>,
    bit_access: Constant<Bits<5>>,
    bit_paged: Constant<Bits<5>>,
    bit_may_invalidate: Constant<Bits<5>>,
    bit_pd: Constant<Bits<5>>,
}

impl<const MA: usize, const RA: usize, const TA: usize> Keys<MA, RA, TA> {
    /// A small engine does without the register between the RAM and the adders, with one adder for both halves of the offset. The cycles
    /// are the same.
    pub fn new(config: &Config) -> Self {
        let direct = config.small();
        // Of a length one bit more than of an address, so that a region may be all of memory.
        let low = |mask: u64| Constant::new((mask & 0xffff_ffff).to_bits());
        let (near, far, offset) = if direct {
            assert!(config.address_bits < 32, "Keys: a small engine's addresses fit a word");
            (config.address_mask() << 1 | 1, 0, config.address_mask())
        } else {
            (u64::MAX, u64::MAX, u64::MAX)
        };
        assert_eq!(RA, MA + 3, "Keys: RA must be MA + 3");
        assert_eq!(MR_WORDS, 8);
        assert!(MA <= 12 && TA >= 1 && TA <= 16);
        let word = |field: verbena_spec::layout::Field| Constant::new(field.word.to_bits());
        let bit = |field: verbena_spec::layout::Field| Constant::new(field.low.to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_pd: Default::default(),
            key_access: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            ram: Default::default(),
            offset_low_add: Default::default(),
            offset_high_add: Default::default(),
            end_low_add: Default::default(),
            end_high_add: Default::default(),
            past_low_add: Default::default(),
            past_high_add: Default::default(),
            address_low_add: Default::default(),
            address_high_add: Default::default(),
            walking: Default::default(),
            walk: Default::default(),
            step: Default::default(),
            word_register: Default::default(),
            row_word_late: Default::default(),
            word: Default::default(),
            late_tag: Default::default(),
            late_beyond: Default::default(),
            late_op: Default::default(),
            late_va: Default::default(),
            late_length: Default::default(),
            late_pd: Default::default(),
            late_access: Default::default(),
            tag: Default::default(),
            operation: Default::default(),
            va: Default::default(),
            length: Default::default(),
            pd: Default::default(),
            access: Default::default(),
            failed: Default::default(),
            paged: Default::default(),
            nothing: Default::default(),
            ending: Default::default(),
            offset_low: Default::default(),
            offset_high: Default::default(),
            offset_carry: Default::default(),
            end_low: Default::default(),
            end_high: Default::default(),
            end_carry: Default::default(),
            past_carry: Default::default(),
            page_offset: Default::default(),
            address_low: Default::default(),
            address_carry: Default::default(),
            table_open: Default::default(),
            row_base: Default::default(),
            row_word: Default::default(),
            beyond: Default::default(),
            row_good: Default::default(),
            access_good: Default::default(),
            page: Default::default(),
            page_kept: Default::default(),
            page_beyond: Default::default(),
            offset_beyond: Default::default(),
            key_mask: Constant::new((u32::MAX as u64 & !((1u64 << (8 + MA)) - 1)).to_bits()),
            table_mask: Constant::new((0x7fffu64 & !((1u64 << RA) - 1)).to_bits()),
            page_mask: Constant::new((0x1_ffffu64 & !((1u64 << TA) - 1)).to_bits()),
            has_mtt: Constant::new(TA > 1),
            direct: Constant::new(direct),
            near_mask: low(near),
            far_mask: low(far),
            offset_mask: low(offset),
            end_mask: low(near << 1 | 1),
            offset_spills: Default::default(),
            length_spills: Default::default(),
            offset: Default::default(),
            near: Default::default(),
            far: Default::default(),
            flag_invalid: Constant::new(((!(1u32 << mr::VALID.low)) as u64).to_bits()),
            zero: Constant::new(0.into()),
            word_mtt: word(mr::MTT),
            word_va_low: word(mr::VA_LOW),
            word_va_high: word(mr::VA_HIGH),
            word_length_low: word(mr::LENGTH_LOW),
            word_length_high: word(mr::LENGTH_HIGH),
            word_address_low: word(mr::ADDRESS_LOW),
            word_address_high: word(mr::ADDRESS_HIGH),
            bit_valid: bit(mr::VALID),
            bit_access: bit(mr::LOCAL_WRITE),
            bit_paged: bit(mr::PAGED),
            bit_may_invalidate: bit(mr::MAY_INVALIDATE),
            bit_pd: bit(mr::PD),
        }
    }
}

impl<const MA: usize, const RA: usize, const TA: usize> Logic for Keys<MA, RA, TA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            walking,
            walk,
            step,
            word_register,
            row_word_late,
            failed,
            paged,
            nothing,
            ending,
            offset_low,
            offset_high,
            offset_carry,
            end_low,
            end_high,
            end_carry,
            past_carry,
            page_offset,
            address_low,
            address_carry
        );
        dff_setup!(
            self,
            clock,
            late_tag,
            late_beyond,
            late_op,
            late_va,
            late_length,
            late_pd,
            late_access
        );
        clock!(self, clock, ram);

        // Row reads: one word a step, through the `word` register.
        self.row_base.next = bit_cast::<RA, MA>(self.key.val().get_bits::<MA>(8)) << 3;
        self.row_word.next = 0.into();
        match self.step.q.val() {
            KeyStep::First => self.row_word.next = self.word_va_low.val(),
            KeyStep::Flags => self.row_word.next = self.word_va_high.val(),
            KeyStep::VaLow => self.row_word.next = self.word_length_low.val(),
            KeyStep::VaHigh => self.row_word.next = self.word_length_high.val(),
            KeyStep::LengthLow => {
                self.row_word.next = self.word_address_low.val();
                if self.paged.q.val() {
                    self.row_word.next = self.word_mtt.val();
                }
            }
            KeyStep::LengthHigh => self.row_word.next = self.word_address_high.val(),
            _ => self.row_word.next = 0.into(),
        }
        self.ram.read_enable.next = true;
        self.row_word_late.d.next = self.row_word.val();
        self.word_register.d.next = self.ram.read_data.val();
        self.ram.read_address.next = self.row_base.val() | bit_cast::<RA, 3>(self.row_word.val());
        self.word.next = self.word_register.q.val();
        if self.direct.val() {
            self.ram.read_address.next = self.row_base.val() | bit_cast::<RA, 3>(self.row_word_late.q.val());
            self.word.next = self.ram.read_data.val();
        }

        // The question; it has stood since the step before it is first needed. The row's place alone comes from `key` itself.
        self.late_tag.d.next = self.key.val().get_bits::<8>(0);
        self.late_beyond.d.next = (self.key.val() & self.key_mask.val()).any();
        self.late_op.d.next = self.key_op.val().any();
        self.late_va.d.next = self.key_va.val();
        self.late_length.d.next = self.key_length.val();
        self.late_pd.d.next = self.key_pd.val();
        self.late_access.d.next = self.key_access.val();
        self.tag.next = self.late_tag.q.val();
        self.beyond.next = self.late_beyond.q.val();
        self.operation.next = self.late_op.q.val();
        self.va.next = self.late_va.q.val();
        self.length.next = self.late_length.q.val();
        self.pd.next = self.late_pd.q.val();
        self.access.next = self.late_access.q.val();
        if self.direct.val() {
            self.tag.next = self.key.val().get_bits::<8>(0);
            self.beyond.next = (self.key.val() & self.key_mask.val()).any();
            self.operation.next = self.key_op.val().any();
            self.va.next = self.key_va.val();
            self.length.next = self.key_length.val();
            self.pd.next = self.key_pd.val();
            self.access.next = self.key_access.val();
        }

        // Word 0: tag, valid, PD, and the access asked for; or the right to invalidate.
        // No right asked for: a local read, which any region allows.
        self.access_good.next =
            !self.access.val().any() | (self.word.val().get_bits::<4>(self.bit_access.val().index()) & self.access.val()).any();
        if self.operation.val() {
            self.access_good.next = self.word.val().get_bit(self.bit_may_invalidate.val().index());
        }
        self.row_good.next = self.access_good.val()
            & !self.beyond.val()
            & self.word.val().get_bit(self.bit_valid.val().index())
            & (self.word.val().get_bits::<8>(0) == self.tag.val())
            & (self.word.val().get_bits::<16>(self.bit_pd.val().index()) == self.pd.val())
            & (self.has_mtt.val() | !self.word.val().get_bit(self.bit_paged.val().index()));

        // What can't reach a bus address is cut off the row, and may not be in what is compared with it.
        self.near.next = self.word.val() & self.near_mask.val();
        self.far.next = self.word.val() & self.far_mask.val();
        self.length_spills.next = (self.length.val() & !self.near_mask.val()).any();
        // offset = va - MR.va: the carry is the borrow.
        self.offset_low_add.a.next = !self.va.val().get_bits::<32>(0);
        self.offset_low_add.b.next = self.word.val();
        self.offset_low_add.carry_in.next = false;
        if self.direct.val() & (self.step.q.val() == KeyStep::VaHigh) {
            self.offset_low_add.a.next = !self.va.val().get_bits::<32>(32);
            self.offset_low_add.carry_in.next = self.offset_carry.q.val();
        }
        self.offset.next = !self.offset_low_add.sum.val();
        self.offset_spills.next = (self.offset.val() & !self.offset_mask.val()).any();
        self.offset_high_add.a.next = !self.va.val().get_bits::<32>(32);
        self.offset_high_add.b.next = self.word.val();
        self.offset_high_add.carry_in.next = self.offset_carry.q.val();
        // end = offset + length.
        self.end_low_add.a.next = self.offset_low.q.val();
        self.end_low_add.b.next = self.length.val() & self.near_mask.val();
        self.end_low_add.carry_in.next = false;
        self.end_high_add.a.next = self.offset_high.q.val();
        self.end_high_add.b.next = self.zero.val();
        self.end_high_add.carry_in.next = self.end_carry.q.val();
        // MR.length - end: no carry out of the upper half means that the end lies beyond.
        self.past_low_add.a.next = self.end_low.q.val() | !self.end_mask.val();
        self.past_low_add.b.next = self.near.val();
        self.past_low_add.carry_in.next = true;
        self.past_high_add.a.next = self.end_high.q.val() | !self.far_mask.val();
        self.past_high_add.b.next = self.far.val();
        self.past_high_add.carry_in.next = self.past_carry.q.val();
        // Contiguous: MR.address + offset.
        self.address_low_add.a.next = self.near.val();
        self.address_low_add.b.next = self.offset_low.q.val();
        self.address_low_add.carry_in.next = false;
        self.address_high_add.a.next = self.far.val();
        self.address_high_add.b.next = self.offset_high.q.val();
        self.address_high_add.carry_in.next = self.address_carry.q.val();
        // Paged: MTT entry of the page; the MTT has no entry beyond `TA` bits, and no offset beyond 16 bits of pages.
        self.page.next = bit_cast::<17, 16>(self.word.val().get_bits::<16>(0)) + self.page_offset.q.val();
        self.offset_beyond.next = self.paged.q.val() & (self.offset_high.q.val().any() | self.offset_low.q.val().get_bits::<4>(28).any());
        self.page_kept.next =
            bit_cast::<17, 16>(self.address_low.q.val().get_bits::<16>(12)) | (bit_cast::<17, 1>(self.address_carry.q.val().into()) << 16);
        self.page_beyond.next = self.paged.q.val() & (self.page_kept.val() & self.page_mask.val()).any();

        self.ram.write_enable.next = false;
        self.ram.write_address.next = self.table_address.val().get_bits::<RA>(0);
        self.ram.write_data.next = self.table_data.val();
        self.ready.next = !self.walking.q.val();
        self.table_open.next = !self.walking.q.val() & (self.step.q.val() == KeyStep::Idle) & !self.key_start.val();
        self.table_ready.next = self.table_open.val();
        if self.table_open.val() & self.table_valid.val() {
            self.ram.write_enable.next = !(self.table_address.val() & self.table_mask.val()).any();
        }

        match self.step.q.val() {
            KeyStep::Idle => {
                if self.key_start.val() & !self.walking.q.val() {
                    self.step.d.next = KeyStep::First;
                }
            }
            KeyStep::Flags => {
                self.step.d.next = KeyStep::VaLow;
                self.failed.d.next = !self.row_good.val();
                self.paged.d.next = self.word.val().get_bit(self.bit_paged.val().index()) & self.has_mtt.val();
                self.nothing.d.next = !self.operation.val() & !self.length.val().any();
                self.ending.d.next = self.operation.val();
                if self.operation.val() {
                    self.step.d.next = KeyStep::Done;
                }
            }
            KeyStep::VaLow => {
                self.step.d.next = KeyStep::VaHigh;
                self.offset_low.d.next = self.offset.val() & self.offset_mask.val();
                self.failed.d.next = self.failed.q.val() | self.offset_spills.val() | self.length_spills.val();
                self.offset_carry.d.next = self.offset_low_add.carry_out.val();
                self.page_offset.d.next = self.va.val().get_bits::<17>(12) - self.word.val().get_bits::<17>(12);
            }
            KeyStep::VaHigh => {
                self.step.d.next = KeyStep::LengthLow;
                self.offset_high.d.next = !self.offset_high_add.sum.val();
                self.failed.d.next = self.failed.q.val() | self.offset_high_add.carry_out.val();
                if self.direct.val() {
                    self.offset_high.d.next = 0.into();
                    self.failed.d.next = self.failed.q.val() | self.offset_low_add.carry_out.val() | self.offset.val().any();
                }
                self.end_low.d.next = !self.end_low_add.sum.val();
                self.end_carry.d.next = self.end_low_add.carry_out.val();
            }
            KeyStep::LengthLow => {
                self.step.d.next = KeyStep::LengthHigh;
                self.past_carry.d.next = self.past_low_add.carry_out.val();
                self.end_high.d.next = !self.end_high_add.sum.val();
                // R67: the end may not wrap.
                self.failed.d.next = self.failed.q.val() | self.end_high_add.carry_out.val();
            }
            KeyStep::LengthHigh => {
                self.step.d.next = KeyStep::AddressLow;
                self.failed.d.next = self.failed.q.val() | !self.past_high_add.carry_out.val() | self.offset_beyond.val();
            }
            KeyStep::AddressLow => {
                self.step.d.next = KeyStep::Done;
                self.address_low.d.next = self.address_low_add.sum.val() & self.offset_mask.val();
                self.address_carry.d.next = self.address_low_add.carry_out.val();
                if self.paged.q.val() {
                    self.address_low.d.next =
                        (bit_cast::<32, 16>(self.page.val().get_bits::<16>(0)) << 12) | bit_cast::<32, 12>(self.va.val().get_bits::<12>(0));
                    self.address_carry.d.next = self.page.val().get_bit(16);
                }
            }
            KeyStep::First => self.step.d.next = KeyStep::Flags,
            KeyStep::Done => {
                self.step.d.next = KeyStep::Idle;
                if self.ending.q.val() {
                    self.ram.write_enable.next = !self.failed.q.val();
                    self.ram.write_address.next = self.row_base.val();
                    self.ram.write_data.next = self.table_data.val() & self.flag_invalid.val();
                }
            }
            _ => self.step.d.next = KeyStep::Idle,
        }

        self.key_done.next = self.step.q.val() == KeyStep::Done;
        // R51: a zero length checks nothing.
        self.key_ok.next = (!self.failed.q.val() & (!self.page_beyond.val() | self.ending.q.val())) | self.nothing.q.val();
        self.key_paged.next = self.paged.q.val();
        self.key_address.next = bit_cast::<64, 32>(self.address_low.q.val());
        if !self.paged.q.val() {
            self.key_address.next = bit_cast::<64, 32>(self.address_low.q.val())
                | (bit_cast::<64, 32>(self.address_high_add.sum.val() & self.far_mask.val()) << 32);
        }

        // After reset every row's word 0 loses VALID; what else it holds doesn't matter then.
        if self.walking.q.val() {
            self.ram.write_enable.next = true;
            self.ram.write_address.next = bit_cast::<RA, MA>(self.walk.q.val()) << 3;
            self.ram.write_data.next = self.table_data.val() & self.flag_invalid.val();
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val().all() {
                self.walking.d.next = false;
            }
        }
        if self.reset.val() {
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
            self.step.d.next = KeyStep::Idle;
            self.ready.next = false;
            self.table_ready.next = false;
            self.key_done.next = false;
        }
    }

    crate::block_name!();
}
