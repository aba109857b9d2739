// SPDX-License-Identifier: MIT OR Apache-2.0
//! Columns from XGMII, turned so that a frame starts in lane 0, with what they hold said by flags.
//!
//! ```text
//! xgmii ─► register ─► column, codes ─► column before ─┬─► start in lane 4? low half and upper half before ─► m
//! ```
//!
//! `m_*` 5 cycles after `xgmii_*`; one column a cycle. A frame whose `/S/` stands in the column of another's end is taken, and the other loses its end: such a gap
//! (1 to 4 bytes) is not legal.

use super::xgmii;
use rust_hdl::prelude::*;

/// See the file's head.
#[derive(LogicBlock)]
pub struct RxAlign {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub xgmii_rxd: Signal<In, Bits<64>>,
    pub xgmii_rxc: Signal<In, Bits<8>>,
    /// The column, zeros from its first code on.
    pub m_data: Signal<Out, Bits<64>>,
    /// The bytes before its first code.
    pub m_keep: Signal<Out, Bits<8>>,
    /// It has a code; that is `/T/`.
    pub m_code: Signal<Out, Bit>,
    pub m_end: Signal<Out, Bit>,
    /// It is a frame's first column; with preamble and delimiter as they should be.
    pub m_start: Signal<Out, Bit>,
    pub m_preamble: Signal<Out, Bit>,

    raw: DFF<Bits<64>>,
    raw_control: DFF<Bits<8>>,
    now: DFF<Bits<64>>,
    now_control: DFF<Bits<8>>,
    now_ends: DFF<Bits<8>>,
    now_start_0: DFF<Bit>,
    now_start_4: DFF<Bit>,
    old: DFF<Bits<64>>,
    old_control: DFF<Bits<8>>,
    old_ends: DFF<Bits<8>>,
    old_start_0: DFF<Bit>,
    old_start_4: DFF<Bit>,
    /// The frame began in lane 4.
    upper: DFF<Bit>,
    turned: DFF<Bits<64>>,
    turned_control: DFF<Bits<8>>,
    turned_ends: DFF<Bits<8>>,
    turned_start: DFF<Bit>,
    data: DFF<Bits<64>>,
    keep: DFF<Bits<8>>,
    is_code: DFF<Bit>,
    is_end: DFF<Bit>,
    start: DFF<Bit>,
    preamble: DFF<Bit>,
    upper_now: Signal<Local, Bit>,
    ends: Signal<Local, Bits<8>>,
    kept: Signal<Local, Bits<8>>,
    mask: Signal<Local, Bits<64>>,
    first_code: Signal<Local, Bits<8>>,
    lane: [Constant<Bits<64>>; 8],
    one: [Constant<Bits<8>>; 8],
    /// The first 0 to 7 lanes.
    below: [Constant<Bits<8>>; 8],
    keep_all: Constant<Bits<8>>,
    end_byte: Constant<Bits<8>>,
    start_byte: Constant<Bits<8>>,
    first_lane: Constant<Bits<8>>,
    good_preamble: Constant<Bits<64>>,
}

impl Default for RxAlign {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            xgmii_rxd: Default::default(),
            xgmii_rxc: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_code: Default::default(),
            m_end: Default::default(),
            m_start: Default::default(),
            m_preamble: Default::default(),
            raw: Default::default(),
            raw_control: Default::default(),
            now: Default::default(),
            now_control: Default::default(),
            now_ends: Default::default(),
            now_start_0: Default::default(),
            now_start_4: Default::default(),
            old: Default::default(),
            old_control: Default::default(),
            old_ends: Default::default(),
            old_start_0: Default::default(),
            old_start_4: Default::default(),
            upper: Default::default(),
            turned: Default::default(),
            turned_control: Default::default(),
            turned_ends: Default::default(),
            turned_start: Default::default(),
            data: Default::default(),
            keep: Default::default(),
            is_code: Default::default(),
            is_end: Default::default(),
            start: Default::default(),
            preamble: Default::default(),
            upper_now: Default::default(),
            ends: Default::default(),
            kept: Default::default(),
            mask: Default::default(),
            first_code: Default::default(),
            lane: std::array::from_fn(|i| Constant::new((0xffu64 << (8 * i)).to_bits())),
            one: std::array::from_fn(|i| Constant::new((1u64 << i).to_bits())),
            below: std::array::from_fn(|i| Constant::new(((1u64 << i) - 1).to_bits())),
            keep_all: Constant::new(0xffu64.to_bits()),
            end_byte: Constant::new(u64::from(xgmii::T).to_bits()),
            start_byte: Constant::new(u64::from(xgmii::S).to_bits()),
            first_lane: Constant::new(0x01u64.to_bits()),
            good_preamble: Constant::new(xgmii::PREAMBLE.to_bits()),
        }
    }
}

impl Logic for RxAlign {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            raw,
            raw_control,
            now,
            now_control,
            now_ends,
            now_start_0,
            now_start_4,
            old,
            old_control,
            old_ends,
            old_start_0,
            old_start_4,
            upper,
            turned,
            turned_control,
            turned_ends,
            turned_start,
            data,
            keep,
            is_code,
            is_end,
            start,
            preamble
        );

        self.raw.d.next = self.xgmii_rxd.val();
        self.raw_control.d.next = self.xgmii_rxc.val();

        self.now.d.next = self.raw.q.val();
        self.now_control.d.next = self.raw_control.q.val();
        self.ends.next = 0.into();
        for i in 0..8 {
            if self.raw_control.q.val().get_bit(i) & (self.raw.q.val().get_bits::<8>(i * 8) == self.end_byte.val()) {
                self.ends.next = self.ends.val() | self.one[i].val();
            }
        }
        self.now_ends.d.next = self.ends.val();
        self.now_start_0.d.next = self.raw_control.q.val().get_bit(0) & (self.raw.q.val().get_bits::<8>(0) == self.start_byte.val());
        self.now_start_4.d.next = self.raw_control.q.val().get_bit(4) & (self.raw.q.val().get_bits::<8>(32) == self.start_byte.val());

        self.old.d.next = self.now.q.val();
        self.old_control.d.next = self.now_control.q.val();
        self.old_ends.d.next = self.now_ends.q.val();
        self.old_start_0.d.next = self.now_start_0.q.val();
        self.old_start_4.d.next = self.now_start_4.q.val();

        self.upper_now.next = (self.upper.q.val() & !self.old_start_0.q.val()) | self.old_start_4.q.val();
        self.upper.d.next = self.upper_now.val();
        self.turned.d.next = self.old.q.val();
        self.turned_control.d.next = self.old_control.q.val();
        self.turned_ends.d.next = self.old_ends.q.val();
        if self.upper_now.val() {
            self.turned.d.next =
                bit_cast::<64, 32>(self.old.q.val().get_bits::<32>(32)) | (bit_cast::<64, 32>(self.now.q.val().get_bits::<32>(0)) << 32);
            self.turned_control.d.next = bit_cast::<8, 4>(self.old_control.q.val().get_bits::<4>(4))
                | (bit_cast::<8, 4>(self.now_control.q.val().get_bits::<4>(0)) << 4);
            self.turned_ends.d.next =
                bit_cast::<8, 4>(self.old_ends.q.val().get_bits::<4>(4)) | (bit_cast::<8, 4>(self.now_ends.q.val().get_bits::<4>(0)) << 4);
        }
        self.turned_start.d.next = self.old_start_0.q.val() | self.old_start_4.q.val();

        // What stands before the first code, and which code that is.
        self.kept.next = self.keep_all.val();
        for i in 0..8 {
            if self.turned_control.q.val().get_bit(i) {
                self.kept.next = self.kept.val() & self.below[i].val();
            }
        }
        self.first_code.next = ((self.kept.val() << 1) | self.first_lane.val()) & !self.kept.val();
        self.mask.next = 0.into();
        for i in 0..8 {
            if self.kept.val().get_bit(i) {
                self.mask.next = self.mask.val() | self.lane[i].val();
            }
        }
        self.data.d.next = self.turned.q.val() & self.mask.val();
        self.keep.d.next = self.kept.val();
        self.is_code.d.next = self.turned_control.q.val().any();
        self.is_end.d.next = (self.first_code.val() & self.turned_ends.q.val()).any();
        self.start.d.next = self.turned_start.q.val();
        self.preamble.d.next = (self.turned.q.val() == self.good_preamble.val()) & (self.turned_control.q.val() == self.first_lane.val());

        self.m_data.next = self.data.q.val();
        self.m_keep.next = self.keep.q.val();
        self.m_code.next = self.is_code.q.val();
        self.m_end.next = self.is_end.q.val();
        self.m_start.next = self.start.q.val();
        self.m_preamble.next = self.preamble.q.val();

        if self.reset.val() {
            self.now_start_0.d.next = false;
            self.now_start_4.d.next = false;
            self.old_start_0.d.next = false;
            self.old_start_4.d.next = false;
            self.turned_start.d.next = false;
            self.start.d.next = false;
            self.upper.d.next = false;
        }
    }

    crate::block_name!();
}
