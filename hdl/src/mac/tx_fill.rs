// SPDX-License-Identifier: MIT OR Apache-2.0
//! Columns wait until their FCS is known; FCS, `/T/` and idles are filled in; frames that start in lane 4 are moved there.
//!
//! ```text
//! s ─┬─► 6 registers ───────────► fill ─► half a column later? ─► xgmii
//!    └─► fcs_tail (6 cycles) ─────┘
//! ```
//!
//! The last beat has n bytes: FCS in lanes n to n + 3, then `/T/`; what is beyond lane 7 goes to the column behind. That column (the tail) is idle as it
//! comes. `xgmii_*` 8 cycles after `s_*`, 9 bytes of gap at least.

use super::xgmii;
use rust_hdl::prelude::*;

/// See the file's head. One column a cycle.
#[derive(LogicBlock)]
pub struct TxFill {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<64>>,
    pub s_control: Signal<In, Bits<8>>,
    pub s_idle: Signal<In, Bit>,
    pub s_shift: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub s_keep: Signal<In, Bits<8>>,
    /// In the cycle in which the last beat reaches the sixth register, and the next.
    pub fcs: Signal<In, Bits<32>>,
    pub xgmii_txd: Signal<Out, Bits<64>>,
    pub xgmii_txc: Signal<Out, Bits<8>>,

    data: [DFF<Bits<64>>; 6],
    control: [DFF<Bits<8>>; 6],
    idle: [DFF<Bit>; 6],
    shift: [DFF<Bit>; 6],
    last: [DFF<Bit>; 6],
    keep: [DFF<Bits<8>>; 6],
    /// Lanes of the sixth register's column that the FCS, `/T/`, `/I/` take.
    fcs_lanes: DFF<Bits<8>>,
    end_lanes: DFF<Bits<8>>,
    idle_lanes: DFF<Bits<8>>,
    filled: DFF<Bits<64>>,
    filled_control: DFF<Bits<8>>,
    filled_shift: DFF<Bit>,
    carry: DFF<Bits<32>>,
    carry_control: DFF<Bits<4>>,
    txd: DFF<Bits<64>>,
    txc: DFF<Bits<8>>,
    reach: Signal<Local, Bits<8>>,
    kept_lanes: Signal<Local, Bits<8>>,
    ends: Signal<Local, Bit>,
    codes: Signal<Local, Bits<64>>,
    fcs_mask: Signal<Local, Bits<64>>,
    both: Signal<Local, Bits<64>>,
    keep_high: Signal<Local, Bits<4>>,
    lane: [Constant<Bits<64>>; 8],
    end_code: [Constant<Bits<64>>; 8],
    idle_code: [Constant<Bits<64>>; 8],
    keep_all: Constant<Bits<8>>,
    low_lanes: Constant<Bits<8>>,
    first_lane: Constant<Bits<8>>,
    idle_column: Constant<Bits<64>>,
    idle_half: Constant<Bits<32>>,
    all_four: Constant<Bits<4>>,
}

fn code(byte: u8) -> [Constant<Bits<64>>; 8] {
    std::array::from_fn(|i| Constant::new((u64::from(byte) << (8 * i)).to_bits()))
}

impl Default for TxFill {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_control: Default::default(),
            s_idle: Default::default(),
            s_shift: Default::default(),
            s_last: Default::default(),
            s_keep: Default::default(),
            fcs: Default::default(),
            xgmii_txd: Default::default(),
            xgmii_txc: Default::default(),
            data: Default::default(),
            control: Default::default(),
            idle: Default::default(),
            shift: Default::default(),
            last: Default::default(),
            keep: Default::default(),
            fcs_lanes: Default::default(),
            end_lanes: Default::default(),
            idle_lanes: Default::default(),
            filled: Default::default(),
            filled_control: Default::default(),
            filled_shift: Default::default(),
            carry: Default::default(),
            carry_control: Default::default(),
            txd: Default::default(),
            txc: Default::default(),
            reach: Default::default(),
            kept_lanes: Default::default(),
            ends: Default::default(),
            codes: Default::default(),
            fcs_mask: Default::default(),
            both: Default::default(),
            keep_high: Default::default(),
            lane: code(0xff),
            end_code: code(xgmii::T),
            idle_code: code(xgmii::I),
            keep_all: Constant::new(0xffu64.to_bits()),
            low_lanes: Constant::new(0x0fu64.to_bits()),
            first_lane: Constant::new(0x01u64.to_bits()),
            idle_column: Constant::new(xgmii::IDLE.to_bits()),
            idle_half: Constant::new((xgmii::IDLE & 0xffff_ffff).to_bits()),
            all_four: Constant::new(0xfu64.to_bits()),
        }
    }
}

impl Logic for TxFill {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            fcs_lanes,
            end_lanes,
            idle_lanes,
            filled,
            filled_control,
            filled_shift,
            carry,
            carry_control,
            txd,
            txc
        );
        for i in 0..6 {
            self.data[i].clock.next = self.clock.val();
            self.control[i].clock.next = self.clock.val();
            self.idle[i].clock.next = self.clock.val();
            self.shift[i].clock.next = self.clock.val();
            self.last[i].clock.next = self.clock.val();
            self.keep[i].clock.next = self.clock.val();
            self.data[i].d.next = self.s_data.val();
            self.control[i].d.next = self.s_control.val();
            self.idle[i].d.next = self.s_idle.val();
            self.shift[i].d.next = self.s_shift.val();
            self.last[i].d.next = self.s_last.val();
            self.keep[i].d.next = self.s_keep.val();
        }
        for i in 1..6 {
            self.data[i].d.next = self.data[i - 1].q.val();
            self.control[i].d.next = self.control[i - 1].q.val();
            self.idle[i].d.next = self.idle[i - 1].q.val();
            self.shift[i].d.next = self.shift[i - 1].q.val();
            self.last[i].d.next = self.last[i - 1].q.val();
            self.keep[i].d.next = self.keep[i - 1].q.val();
        }

        // Which lanes are FCS, /T/ and idle: those from the end of data up to `reach`, the one at its end, those beyond.
        self.keep_high.next = self.keep[5].q.val().get_bits::<4>(4);
        self.kept_lanes.next = 0.into();
        self.reach.next = self.keep_all.val();
        self.ends.next = false;
        self.idle_lanes.d.next = 0.into();
        if self.idle[4].q.val() {
            self.reach.next = 0.into();
            self.idle_lanes.d.next = self.keep_all.val();
            if self.last[5].q.val() & self.keep[5].q.val().get_bit(3) {
                // The tail's column.
                self.reach.next = bit_cast::<8, 4>(self.keep_high.val());
                self.ends.next = true;
            }
        } else {
            self.kept_lanes.next = self.keep_all.val();
        }
        if self.last[4].q.val() {
            self.kept_lanes.next = self.keep[4].q.val();
            self.reach.next = (self.keep[4].q.val() << 4) | self.low_lanes.val();
            self.ends.next = true;
        }
        self.fcs_lanes.d.next = self.reach.val() & !self.kept_lanes.val();
        self.end_lanes.d.next = 0.into();
        if self.ends.val() {
            self.end_lanes.d.next = ((self.reach.val() << 1) | self.first_lane.val()) & !self.reach.val();
            self.idle_lanes.d.next = !((self.reach.val() << 1) | self.first_lane.val());
        }

        self.both.next = bit_cast::<64, 32>(self.fcs.val()) | (bit_cast::<64, 32>(self.fcs.val()) << 32);
        self.codes.next = 0.into();
        self.fcs_mask.next = 0.into();
        for i in 0..8 {
            if self.fcs_lanes.q.val().get_bit(i) {
                self.fcs_mask.next = self.fcs_mask.val() | self.lane[i].val();
            }
            if self.end_lanes.q.val().get_bit(i) {
                self.codes.next = self.codes.val() | self.end_code[i].val();
            }
            if self.idle_lanes.q.val().get_bit(i) {
                self.codes.next = self.codes.val() | self.idle_code[i].val();
            }
        }
        self.filled.d.next = self.data[5].q.val() | (self.both.val() & self.fcs_mask.val()) | self.codes.val();
        self.filled_control.d.next = self.control[5].q.val() | self.end_lanes.q.val() | self.idle_lanes.q.val();
        self.filled_shift.d.next = self.shift[5].q.val();

        // Half a column later. A frame in lane 0 leaves nothing behind but idles.
        self.carry.d.next = self.idle_half.val();
        self.carry_control.d.next = self.all_four.val();
        self.txd.d.next = self.filled.q.val();
        self.txc.d.next = self.filled_control.q.val();
        if self.filled_shift.q.val() {
            self.carry.d.next = self.filled.q.val().get_bits::<32>(32);
            self.carry_control.d.next = self.filled_control.q.val().get_bits::<4>(4);
            self.txd.d.next = bit_cast::<64, 32>(self.carry.q.val()) | (bit_cast::<64, 32>(self.filled.q.val().get_bits::<32>(0)) << 32);
            self.txc.d.next =
                bit_cast::<8, 4>(self.carry_control.q.val()) | (bit_cast::<8, 4>(self.filled_control.q.val().get_bits::<4>(0)) << 4);
        }
        self.xgmii_txd.next = self.txd.q.val();
        self.xgmii_txc.next = self.txc.q.val();

        if self.reset.val() {
            for i in 0..6 {
                self.idle[i].d.next = true;
                self.last[i].d.next = false;
                self.data[i].d.next = 0.into();
                self.control[i].d.next = 0.into();
                self.shift[i].d.next = false;
            }
            self.fcs_lanes.d.next = 0.into();
            self.end_lanes.d.next = 0.into();
            self.idle_lanes.d.next = self.keep_all.val();
            self.filled.d.next = self.idle_column.val();
            self.filled_control.d.next = self.keep_all.val();
            self.filled_shift.d.next = false;
            self.carry.d.next = self.idle_half.val();
            self.carry_control.d.next = self.all_four.val();
            self.txd.d.next = self.idle_column.val();
            self.txc.d.next = self.keep_all.val();
        }
    }

    crate::block_name!();
}
