// SPDX-License-Identifier: MIT OR Apache-2.0
//! The READ responder's arithmetic: one adder, fed by the words that come out of the store.
//!
//! ```text
//! word ─► ± ──┐
//! head_word ──┼─► sum, carry ─► last packet, packets (R22), duplicate's place (R28)
//! PMTU − 1 ───┘
//! word ─► va, span ─► key check, read job
//! ```
//!
//! In a turn `sum` is the next value of the word that came a cycle ago: VA + PMTU, length − PMTU, PSN + 1. Of a request it is, after the length,
//! length + PMTU − 1, and `packets` is that over PMTU. No sum is longer than 32 bits a cycle.
//! `SMALL` 1: PMTU 256 and 512 only.

use super::kind::WordUse;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Span<const SMALL: usize> {
    pub clock: Signal<In, Clock>,
    pub word: Signal<In, Bits<32>>,
    /// What `word` is.
    pub word_use: Signal<In, WordUse>,
    /// What it will be a cycle later.
    pub next_use: Signal<In, WordUse>,
    pub head_word: Signal<In, Bits<32>>,
    /// In a turn; else of a request.
    pub turn: Signal<In, Bit>,
    /// Fixes the length: that of an ATOMIC, or of a packet that isn't its request's last.
    pub size: Signal<In, Bit>,
    /// Takes the place that Keys gives.
    pub take: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    pub key_paged: Signal<In, Bit>,
    /// Begins a duplicate's check.
    pub check: Signal<In, Bit>,
    pub sum: Signal<Out, Bits<32>>,
    /// The sum is zero.
    pub zero: Signal<Out, Bit>,
    /// The duplicate isn't the stored request or a part of it, unless `zero` follows the key's comparison.
    pub mismatch: Signal<Out, Bit>,
    /// The packet is its request's last.
    pub last: Signal<Out, Bit>,
    pub atomic: Signal<Out, Bit>,
    pub executed: Signal<Out, Bit>,
    pub compare: Signal<Out, Bit>,
    /// Not the first response of this serving.
    pub middle: Signal<Out, Bit>,
    /// R50: a length over 2^31.
    pub huge: Signal<Out, Bit>,
    /// R58: an address that isn't a multiple of 8.
    pub misaligned: Signal<Out, Bit>,
    pub packets: Signal<Out, Bits<24>>,
    pub va: Signal<Out, Bits<64>>,
    pub paged: Signal<Out, Bit>,
    pub span: Signal<Out, Bits<32>>,
    pub pd: Signal<Out, Bits<16>>,
    used: DFF<WordUse>,
    sum_kept: DFF<Bits<32>>,
    carry: DFF<Bit>,
    mismatch_kept: DFF<Bit>,
    last_kept: DFF<Bit>,
    flags: DFF<Bits<4>>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    paged_kept: DFF<Bit>,
    span_kept: DFF<Bits<32>>,
    pmtu: DFF<Bits<3>>,
    mask: DFF<Bits<12>>,
    pd_kept: DFF<Bits<16>>,
    parts_kept: DFF<Bits<24>>,
    adds: DFF<Bit>,
    invert: DFF<Bit>,
    blank: DFF<Bit>,
    from_head: DFF<Bit>,
    from_sum: DFF<Bit>,
    from_mask: DFF<Bit>,
    less_mask: DFF<Bit>,
    one_in: DFF<Bit>,
    carry_on: DFF<Bit>,
    distance: Signal<Local, Bits<24>>,
    a: Signal<Local, Bits<32>>,
    b: Signal<Local, Bits<32>>,
    carry_in: Signal<Local, Bit>,
    wide_a: Signal<Local, Bits<34>>,
    wide_b: Signal<Local, Bits<34>>,
    wide_sum: Signal<Local, Bits<34>>,
    quotient: Signal<Local, Bits<32>>,
    parts: Signal<Local, Bits<24>>,
    mtu: DFF<Bits<13>>,
    short_pmtu: Constant<Bit>,
    one: Constant<Bits<34>>,
    seven_ones: Constant<Bits<12>>,
    two: Constant<Bits<3>>,
    three: Constant<Bits<3>>,
    four: Constant<Bits<3>>,
    five: Constant<Bits<3>>,
}

impl<const SMALL: usize> Default for Span<SMALL> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            word: Default::default(),
            word_use: Default::default(),
            next_use: Default::default(),
            head_word: Default::default(),
            turn: Default::default(),
            size: Default::default(),
            take: Default::default(),
            key_address: Default::default(),
            key_paged: Default::default(),
            check: Default::default(),
            sum: Default::default(),
            zero: Default::default(),
            mismatch: Default::default(),
            last: Default::default(),
            atomic: Default::default(),
            executed: Default::default(),
            compare: Default::default(),
            middle: Default::default(),
            huge: Default::default(),
            misaligned: Default::default(),
            packets: Default::default(),
            va: Default::default(),
            paged: Default::default(),
            span: Default::default(),
            pd: Default::default(),
            used: Default::default(),
            sum_kept: Default::default(),
            carry: Default::default(),
            mismatch_kept: Default::default(),
            last_kept: Default::default(),
            flags: Default::default(),
            low: Default::default(),
            high: Default::default(),
            paged_kept: Default::default(),
            span_kept: Default::default(),
            pmtu: Default::default(),
            mask: Default::default(),
            pd_kept: Default::default(),
            parts_kept: Default::default(),
            adds: Default::default(),
            invert: Default::default(),
            blank: Default::default(),
            from_head: Default::default(),
            from_sum: Default::default(),
            from_mask: Default::default(),
            less_mask: Default::default(),
            one_in: Default::default(),
            carry_on: Default::default(),
            distance: Default::default(),
            a: Default::default(),
            b: Default::default(),
            carry_in: Default::default(),
            wide_a: Default::default(),
            wide_b: Default::default(),
            wide_sum: Default::default(),
            quotient: Default::default(),
            parts: Default::default(),
            mtu: Default::default(),
            short_pmtu: Constant::new(SMALL == 1),
            one: Constant::new(1u64.to_bits()),
            seven_ones: Constant::new(127u64.to_bits()),
            two: Constant::new(2u64.to_bits()),
            three: Constant::new(3u64.to_bits()),
            four: Constant::new(4u64.to_bits()),
            five: Constant::new(5u64.to_bits()),
        }
    }
}

impl<const SMALL: usize> Logic for Span<SMALL> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            used,
            sum_kept,
            carry,
            mismatch_kept,
            last_kept,
            flags,
            low,
            high,
            paged_kept,
            span_kept,
            pmtu,
            mtu,
            mask,
            pd_kept,
            parts_kept,
            adds,
            invert,
            blank,
            from_head,
            from_sum,
            from_mask,
            less_mask,
            one_in,
            carry_on
        );
        self.used.d.next = self.word_use.val();
        // PMTU − 1.
        self.mask.d.next = (self.seven_ones.val() << self.pmtu.q.val()) | self.seven_ones.val();
        if self.short_pmtu.val() {
            self.mask.d.next = (bit_cast::<12, 1>(self.pmtu.q.val().get_bits::<1>(1)) << 8) | 255;
        }
        self.mtu.d.next = bit_cast::<13, 12>(self.mask.q.val()) + 1;

        // The operands, chosen a cycle before.
        self.adds.d.next = true;
        self.invert.d.next = false;
        self.blank.d.next = false;
        self.from_head.d.next = false;
        self.from_sum.d.next = false;
        self.from_mask.d.next = false;
        self.less_mask.d.next = false;
        self.one_in.d.next = true;
        self.carry_on.d.next = false;
        match self.next_use.val() {
            WordUse::Low => {
                self.from_mask.d.next = true;
            }
            WordUse::High => {
                self.one_in.d.next = false;
                self.carry_on.d.next = true;
            }
            WordUse::Length => {
                self.from_mask.d.next = true;
                self.less_mask.d.next = self.turn.val();
                self.one_in.d.next = false;
            }
            WordUse::Next => {}
            WordUse::Copy => {
                self.blank.d.next = true;
                self.from_head.d.next = true;
                self.one_in.d.next = false;
            }
            WordUse::Distance => {
                self.invert.d.next = true;
                self.from_head.d.next = true;
            }
            WordUse::Offset => {
                self.invert.d.next = true;
                self.from_head.d.next = true;
            }
            WordUse::SameKey => {
                self.invert.d.next = true;
                self.from_head.d.next = true;
            }
            WordUse::OffsetHigh => {
                self.invert.d.next = true;
                self.from_head.d.next = true;
                self.one_in.d.next = false;
                self.carry_on.d.next = true;
            }
            WordUse::End => {
                self.from_head.d.next = true;
                self.one_in.d.next = false;
            }
            WordUse::Room => {
                self.from_sum.d.next = true;
            }
            _ => {
                self.adds.d.next = false;
            }
        }
        self.a.next = self.word.val();
        if self.invert.q.val() {
            self.a.next = !self.word.val();
        }
        if self.blank.q.val() {
            self.a.next = 0.into();
        }
        self.b.next = 0.into();
        if self.from_mask.q.val() {
            self.b.next = bit_cast::<32, 12>(self.mask.q.val());
        }
        if self.less_mask.q.val() {
            self.b.next = !bit_cast::<32, 12>(self.mask.q.val());
        }
        if self.from_sum.q.val() {
            self.b.next = !self.sum_kept.q.val();
        }
        if self.from_head.q.val() {
            self.b.next = self.head_word.val();
        }
        self.carry_in.next = self.one_in.q.val() | (self.carry_on.q.val() & self.carry.q.val());
        // The carry enters as the sum of two bits below the number, so that one chain does it all.
        self.wide_a.next = (bit_cast::<34, 32>(self.a.val()) << 1) | self.one.val();
        self.wide_b.next = (bit_cast::<34, 32>(self.b.val()) << 1) | bit_cast::<34, 1>(self.carry_in.val().into());
        self.wide_sum.next = self.wide_a.val() + self.wide_b.val();
        if self.adds.q.val() {
            self.sum_kept.d.next = self.wide_sum.val().get_bits::<32>(1);
            self.carry.d.next = self.wide_sum.val().get_bit(33);
        }
        self.sum.next = self.sum_kept.q.val();
        self.zero.next = !self.sum_kept.q.val().any();

        // The words.
        match self.word_use.val() {
            WordUse::Service => {
                self.pmtu.d.next = self.word.val().get_bits::<3>(3);
            }
            WordUse::Domain => {
                self.pd_kept.d.next = self.word.val().get_bits::<16>(0);
            }
            WordUse::Low => {
                self.low.d.next = self.word.val();
            }
            WordUse::High => {
                self.high.d.next = self.word.val();
            }
            WordUse::Length => {
                self.span_kept.d.next = self.word.val();
            }
            WordUse::Head => {
                self.flags.d.next = self.word.val().get_bits::<4>(24);
            }
            _ => {}
        }
        if self.used.q.val() == WordUse::Length {
            self.last_kept.d.next = !self.carry.q.val() | self.zero.val();
        }
        if self.size.val() {
            if self.flags.q.val().get_bit(0) {
                self.span_kept.d.next = 8.into();
            } else {
                if self.turn.val() & !self.last_kept.q.val() {
                    self.span_kept.d.next = bit_cast::<32, 13>(self.mtu.q.val());
                }
            }
        }
        if self.take.val() {
            self.low.d.next = self.key_address.val().get_bits::<32>(0);
            self.high.d.next = self.key_address.val().get_bits::<32>(32);
            self.paged_kept.d.next = self.key_paged.val();
        }
        self.last.next = self.last_kept.q.val();
        self.atomic.next = self.flags.q.val().get_bit(0);
        self.executed.next = self.flags.q.val().get_bit(1);
        self.compare.next = self.flags.q.val().get_bit(2);
        self.middle.next = self.flags.q.val().get_bit(3);
        self.huge.next = self.span_kept.q.val().get_bit(31) & self.span_kept.q.val().get_bits::<31>(0).any();
        self.misaligned.next = self.low.q.val().get_bits::<3>(0).any();
        self.va.next = bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.paged.next = self.paged_kept.q.val();
        self.span.next = self.span_kept.q.val();
        self.pd.next = self.pd_kept.q.val();

        // The sum over PMTU.
        self.quotient.next = self.sum_kept.q.val() >> 8;
        if self.short_pmtu.val() {
            if self.pmtu.q.val().get_bit(1) {
                self.quotient.next = self.sum_kept.q.val() >> 9;
            }
        } else {
            if self.pmtu.q.val() == self.two.val() {
                self.quotient.next = self.sum_kept.q.val() >> 9;
            }
            if self.pmtu.q.val() == self.three.val() {
                self.quotient.next = self.sum_kept.q.val() >> 10;
            }
            if self.pmtu.q.val() == self.four.val() {
                self.quotient.next = self.sum_kept.q.val() >> 11;
            }
            if self.pmtu.q.val() == self.five.val() {
                self.quotient.next = self.sum_kept.q.val() >> 12;
            }
        }
        self.parts.next = self.quotient.val().get_bits::<24>(0);
        // The sum stands for two cycles where it is compared or counted: time for the shift in the first.
        self.parts_kept.d.next = self.parts.val();
        self.distance.next = self.parts_kept.q.val();
        if self.short_pmtu.val() {
            self.distance.next = self.parts.val();
        }
        // R22: an ATOMIC and a READ of nothing take one.
        self.packets.next = self.distance.val();
        if !self.distance.val().any() {
            self.packets.next = self.distance.val() | 1;
        }
        if self.flags.q.val().get_bit(0) {
            self.packets.next = 1.into();
        }
        // R28.
        if self.check.val() {
            self.mismatch_kept.d.next = false;
        }
        if self.word_use.val() == WordUse::Shifted {
            if (self.distance.val() != self.word.val().get_bits::<24>(0))
                | (self.sum_kept.q.val().get_bits::<12>(0) & self.mask.q.val()).any()
            {
                self.mismatch_kept.d.next = true;
            }
        }
        match self.used.q.val() {
            WordUse::OffsetHigh => {
                if !self.zero.val() {
                    self.mismatch_kept.d.next = true;
                }
            }
            WordUse::End => {
                if self.carry.q.val() {
                    self.mismatch_kept.d.next = true;
                }
            }
            WordUse::Room => {
                if !self.carry.q.val() {
                    self.mismatch_kept.d.next = true;
                }
            }
            _ => {}
        }
        self.mismatch.next = self.mismatch_kept.q.val();
    }

    crate::block_name!("Arithmetic of READ and ATOMIC requests.");
}
