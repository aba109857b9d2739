// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames from aligned columns: FCS checked and taken off, lengths checked, MAC control frames (pause) kept back.
//!
//! ```text
//! s ─► in a frame? ─► 6 registers ──────────────────────────────► without the last 4 bytes ─► m
//!            └──────► fcs_loop ─► ^ what is right ─► zero? ─► verdict ┘          └─► pause
//! ```
//!
//! A frame (FCS included) has 64 to `MAX` + 4 bytes. One that is shorter or longer, breaks off with a code other than `/T/`, or whose FCS is
//! wrong ends with `m_user`; a longer one is cut. A frame of 4 bytes or less gives no beat. Each frame gives one event at its end: `good`, or what was wrong first in the order
//! `code`, `long`, `short`, `fcs`; a bad preamble gives `preamble` and no beat. `good` counts control frames too (`m_*` doesn't show them, good or bad).
//! `m_*` 7 cycles after `s_*`.

use super::FcsLoop;
use crate::wire::step_bits;
use rust_hdl::prelude::*;

/// Shortest frame on the wire, beats.
const SHORTEST: u64 = 8;
/// Reflected CRC state behind a frame and its right FCS.
const GOOD_STATE: u32 = 0xdebb_20e3;
/// Type and opcode of a pause frame, as bytes 4 to 7 of the second beat hold them, byte 4 lowest.
const CONTROL_TYPE: u64 = 0x0888;
const PAUSE: u64 = 0x0100_0888;
/// Where pause frames go to (IEEE 802.3, 31B), first byte lowest.
const PAUSE_ADDRESS: u64 = 0x0100_00c2_8001;

/// See the file's head. `MAX`: longest frame without FCS, bytes.
#[derive(LogicBlock)]
pub struct RxFrame<const MAX: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<64>>,
    pub s_keep: Signal<In, Bits<8>>,
    pub s_code: Signal<In, Bit>,
    pub s_end: Signal<In, Bit>,
    pub s_start: Signal<In, Bit>,
    pub s_preamble: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<64>>,
    pub m_keep: Signal<Out, Bits<8>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    /// On the last beat: the frame is bad.
    pub m_user: Signal<Out, Bit>,
    /// One cycle a frame.
    pub good: Signal<Out, Bit>,
    pub bad_code: Signal<Out, Bit>,
    pub bad_long: Signal<Out, Bit>,
    pub bad_short: Signal<Out, Bit>,
    pub bad_fcs: Signal<Out, Bit>,
    pub bad_preamble: Signal<Out, Bit>,
    /// One cycle: a good pause frame, and its time.
    pub pause: Signal<Out, Bit>,
    pub pause_quanta: Signal<Out, Bits<16>>,

    in_frame: DFF<Bit>,
    next_first: DFF<Bit>,
    /// Beats of the frame so far.
    count: DFF<Bits<10>>,
    enough: DFF<Bit>,
    at_limit: DFF<Bit>,
    preamble_seen: DFF<Bit>,
    crc: FcsLoop,
    data: [DFF<Bits<64>>; 6],
    keep: [DFF<Bits<8>>; 6],
    valid: [DFF<Bit>; 6],
    first: [DFF<Bit>; 6],
    last: [DFF<Bit>; 6],
    code: [DFF<Bit>; 6],
    long: [DFF<Bit>; 6],
    short: [DFF<Bit>; 6],
    expected: DFF<Bits<32>>,
    difference: DFF<Bits<32>>,
    right: DFF<Bit>,
    bad_before: DFF<Bit>,
    /// Of the beat in the fifth register, were it a frame's second; of that in the sixth, were it the first.
    is_control: DFF<Bit>,
    is_pause: DFF<Bit>,
    to_pause_4: DFF<Bit>,
    to_pause_5: DFF<Bit>,
    hidden: DFF<Bit>,
    pausing: DFF<Bit>,
    quanta: DFF<Bits<16>>,
    out_data: DFF<Bits<64>>,
    out_keep: DFF<Bits<8>>,
    out_valid: DFF<Bit>,
    out_last: DFF<Bit>,
    out_user: DFF<Bit>,
    good_seen: DFF<Bit>,
    code_seen: DFF<Bit>,
    long_seen: DFF<Bit>,
    short_seen: DFF<Bit>,
    fcs_seen: DFF<Bit>,
    pause_seen: DFF<Bit>,
    too_long: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    end_after: Signal<Local, Bit>,
    end_here: Signal<Local, Bit>,
    hide: Signal<Local, Bit>,
    control_type: Constant<Bits<16>>,
    pause_type: Constant<Bits<32>>,
    pause_address: Constant<Bits<48>>,
    limit: Constant<Bits<10>>,
    shortest: Constant<Bits<10>>,
    /// The bytes that the limit's beat may have.
    rest: Constant<Bits<8>>,
    keep_all: Constant<Bits<8>>,
    low_lanes: Constant<Bits<8>>,
    /// The state behind a good frame and 8 - i zero bytes.
    right_state: [Constant<Bits<32>>; 8],
}

impl<const MAX: usize> Default for RxFrame<MAX> {
    fn default() -> Self {
        let bytes = MAX + 4;
        assert!((64..8184).contains(&bytes), "RxFrame: longest frame 60 to 8,179 bytes");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_code: Default::default(),
            s_end: Default::default(),
            s_start: Default::default(),
            s_preamble: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_valid: Default::default(),
            m_last: Default::default(),
            m_user: Default::default(),
            good: Default::default(),
            bad_code: Default::default(),
            bad_long: Default::default(),
            bad_short: Default::default(),
            bad_fcs: Default::default(),
            bad_preamble: Default::default(),
            pause: Default::default(),
            pause_quanta: Default::default(),
            in_frame: Default::default(),
            next_first: Default::default(),
            count: Default::default(),
            enough: Default::default(),
            at_limit: Default::default(),
            preamble_seen: Default::default(),
            crc: Default::default(),
            data: Default::default(),
            keep: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            code: Default::default(),
            long: Default::default(),
            short: Default::default(),
            expected: Default::default(),
            difference: Default::default(),
            right: Default::default(),
            bad_before: Default::default(),
            is_control: Default::default(),
            is_pause: Default::default(),
            to_pause_4: Default::default(),
            to_pause_5: Default::default(),
            hidden: Default::default(),
            pausing: Default::default(),
            quanta: Default::default(),
            out_data: Default::default(),
            out_keep: Default::default(),
            out_valid: Default::default(),
            out_last: Default::default(),
            out_user: Default::default(),
            good_seen: Default::default(),
            code_seen: Default::default(),
            long_seen: Default::default(),
            short_seen: Default::default(),
            fcs_seen: Default::default(),
            pause_seen: Default::default(),
            too_long: Default::default(),
            ends: Default::default(),
            bad: Default::default(),
            end_after: Default::default(),
            end_here: Default::default(),
            hide: Default::default(),
            control_type: Constant::new(CONTROL_TYPE.to_bits()),
            pause_type: Constant::new(PAUSE.to_bits()),
            pause_address: Constant::new(PAUSE_ADDRESS.to_bits()),
            limit: Constant::new((bytes as u64 / 8).to_bits()),
            shortest: Constant::new(SHORTEST.to_bits()),
            rest: Constant::new(((1u64 << (bytes % 8)) - 1).to_bits()),
            keep_all: Constant::new(0xffu64.to_bits()),
            low_lanes: Constant::new(0x0fu64.to_bits()),
            right_state: std::array::from_fn(|n| Constant::new(step_bits(GOOD_STATE, 8 * (8 - n), 0).to_bits())),
        }
    }
}

impl<const MAX: usize> Logic for RxFrame<MAX> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            in_frame,
            next_first,
            count,
            enough,
            at_limit,
            preamble_seen,
            expected,
            difference,
            right,
            bad_before,
            is_control,
            is_pause,
            to_pause_4,
            to_pause_5,
            hidden,
            pausing,
            quanta,
            out_data,
            out_keep,
            out_valid,
            out_last,
            out_user,
            good_seen,
            code_seen,
            long_seen,
            short_seen,
            fcs_seen,
            pause_seen
        );
        clock!(self, clock, crc);

        // In a frame, from the column behind the preamble to the first code.
        self.too_long.next = self.at_limit.q.val() & (self.s_keep.val() & !self.rest.val()).any();
        self.ends.next = self.in_frame.q.val() & (self.s_code.val() | self.too_long.val());
        self.next_first.d.next = false;
        self.preamble_seen.d.next = false;
        if self.in_frame.q.val() {
            self.count.d.next = self.count.q.val() + 1;
            self.enough.d.next = self.enough.q.val() | ((self.count.q.val() + 1) == self.shortest.val());
            self.at_limit.d.next = (self.count.q.val() + 1) == self.limit.val();
        }
        if self.ends.val() {
            self.in_frame.d.next = false;
        }
        if self.s_start.val() {
            self.in_frame.d.next = self.s_preamble.val();
            self.next_first.d.next = self.s_preamble.val();
            self.preamble_seen.d.next = !self.s_preamble.val();
            self.count.d.next = 0.into();
            self.enough.d.next = false;
            self.at_limit.d.next = false;
        }

        for i in 0..6 {
            self.data[i].clock.next = self.clock.val();
            self.keep[i].clock.next = self.clock.val();
            self.valid[i].clock.next = self.clock.val();
            self.first[i].clock.next = self.clock.val();
            self.last[i].clock.next = self.clock.val();
            self.code[i].clock.next = self.clock.val();
            self.long[i].clock.next = self.clock.val();
            self.short[i].clock.next = self.clock.val();
            self.data[i].d.next = self.s_data.val();
            self.keep[i].d.next = self.s_keep.val();
            self.valid[i].d.next = self.in_frame.q.val();
            self.first[i].d.next = self.next_first.q.val();
            self.last[i].d.next = self.ends.val();
            self.code[i].d.next = self.s_code.val() & !self.s_end.val();
            self.long[i].d.next = self.too_long.val();
            self.short[i].d.next = !self.enough.q.val();
        }
        for i in 1..6 {
            self.data[i].d.next = self.data[i - 1].q.val();
            self.keep[i].d.next = self.keep[i - 1].q.val();
            self.valid[i].d.next = self.valid[i - 1].q.val();
            self.first[i].d.next = self.first[i - 1].q.val();
            self.last[i].d.next = self.last[i - 1].q.val();
            self.code[i].d.next = self.code[i - 1].q.val();
            self.long[i].d.next = self.long[i - 1].q.val();
            self.short[i].d.next = self.short[i - 1].q.val();
        }

        // The FCS is right if the state is that of a good frame with as many zeros as were fed behind it.
        self.crc.reset.next = self.reset.val();
        self.crc.data.next = self.data[0].q.val();
        self.crc.valid.next = self.valid[0].q.val();
        self.crc.first.next = self.first[0].q.val();
        self.crc.last.next = self.last[0].q.val();
        self.expected.d.next = self.right_state[0].val();
        for i in 1..8 {
            if self.keep[1].q.val().get_bit(i - 1) {
                self.expected.d.next = self.right_state[i].val();
            }
        }
        self.difference.d.next = self.crc.state.val() ^ self.expected.q.val();
        self.right.d.next = !self.difference.q.val().any();
        self.bad.next = !self.right.q.val() | self.code[4].q.val() | self.long[4].q.val() | self.short[4].q.val();
        self.bad_before.d.next = self.bad.val();

        // The last 4 bytes are the FCS: the frame ends in the beat before if the last one holds no more than those.
        self.end_after.next = self.last[4].q.val() & !self.keep[4].q.val().get_bit(4) & !self.first[4].q.val();
        self.end_here.next = self.last[5].q.val() & self.keep[5].q.val().get_bit(4);
        self.out_data.d.next = self.data[5].q.val();
        self.out_keep.d.next = self.keep_all.val();
        self.out_last.d.next = self.end_here.val() | self.end_after.val();
        self.out_user.d.next = (self.end_here.val() & self.bad_before.q.val()) | (self.end_after.val() & self.bad.val());
        if self.end_after.val() {
            self.out_keep.d.next = (self.keep[4].q.val() << 4) | self.low_lanes.val();
        }
        if self.end_here.val() {
            self.out_keep.d.next = self.keep[5].q.val() >> 4;
        }

        // MAC control: the type stands in the second beat, when the first is about to leave.
        self.is_control.d.next = self.data[3].q.val().get_bits::<16>(32) == self.control_type.val();
        self.is_pause.d.next = self.data[3].q.val().get_bits::<32>(32) == self.pause_type.val();
        self.to_pause_4.d.next = self.data[3].q.val().get_bits::<48>(0) == self.pause_address.val();
        self.to_pause_5.d.next = self.to_pause_4.q.val();
        self.hide.next = self.hidden.q.val();
        if self.first[5].q.val() {
            self.hide.next = self.is_control.q.val() & self.valid[4].q.val() & !self.first[4].q.val();
            self.pausing.d.next = self.is_pause.q.val() & self.to_pause_5.q.val();
            self.quanta.d.next =
                bit_cast::<16, 8>(self.data[3].q.val().get_bits::<8>(8)) | (bit_cast::<16, 8>(self.data[3].q.val().get_bits::<8>(0)) << 8);
        }
        self.hidden.d.next = self.hide.val();
        self.out_valid.d.next = self.valid[5].q.val() & (!self.last[5].q.val() | self.keep[5].q.val().get_bit(4)) & !self.hide.val();

        self.good_seen.d.next = self.last[4].q.val() & !self.bad.val();
        self.code_seen.d.next = self.last[4].q.val() & self.code[4].q.val();
        self.long_seen.d.next = self.last[4].q.val() & self.long[4].q.val() & !self.code[4].q.val();
        self.short_seen.d.next = self.last[4].q.val() & self.short[4].q.val() & !self.code[4].q.val();
        self.fcs_seen.d.next =
            self.last[4].q.val() & !self.right.q.val() & !self.code[4].q.val() & !self.long[4].q.val() & !self.short[4].q.val();
        self.pause_seen.d.next = self.last[4].q.val() & !self.bad.val() & self.pausing.q.val();

        self.m_data.next = self.out_data.q.val();
        self.m_keep.next = self.out_keep.q.val();
        self.m_valid.next = self.out_valid.q.val();
        self.m_last.next = self.out_last.q.val();
        self.m_user.next = self.out_user.q.val();
        self.good.next = self.good_seen.q.val();
        self.bad_code.next = self.code_seen.q.val();
        self.bad_long.next = self.long_seen.q.val();
        self.bad_short.next = self.short_seen.q.val();
        self.bad_fcs.next = self.fcs_seen.q.val();
        self.bad_preamble.next = self.preamble_seen.q.val();
        self.pause.next = self.pause_seen.q.val();
        self.pause_quanta.next = self.quanta.q.val();

        if self.reset.val() {
            self.in_frame.d.next = false;
            self.next_first.d.next = false;
            self.preamble_seen.d.next = false;
            for i in 0..6 {
                self.valid[i].d.next = false;
                self.first[i].d.next = false;
                self.last[i].d.next = false;
            }
            self.out_valid.d.next = false;
            self.good_seen.d.next = false;
            self.code_seen.d.next = false;
            self.long_seen.d.next = false;
            self.short_seen.d.next = false;
            self.fcs_seen.d.next = false;
            self.pause_seen.d.next = false;
        }
    }

    crate::block_name!();
}
