// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts a packet's payload behind its header (W = 64).
//!
//! ```text
//! header beats ─┬─► as they are ──────────────────────────────► m
//!               └─► last beat, lane 1 free: with payload word 0 ─► then payload shifted by a word: {word 2k, word 2k - 1}
//! ```
//!
//! One beat a cycle; the payload follows without a pause (it is whole), unless `room` falls. A packet to be dropped passes the same way and isn't offered.

use super::HeaderBeat;
use rust_hdl::prelude::*;

/// The joiner.
#[derive(LogicBlock)]
pub struct Joiner {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub header: Signal<In, HeaderBeat>,
    pub header_valid: Signal<In, Bit>,
    pub header_ready: Signal<Out, Bit>,
    pub payload_data: Signal<In, Bits<64>>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    /// What follows takes beats: at least four more.
    pub room: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<64>>,
    pub m_lanes: Signal<Out, Bits<2>>,
    pub m_last: Signal<Out, Bit>,
    pub m_covered: Signal<Out, Bits<2>>,
    pub m_covered_first: Signal<Out, Bit>,
    pub m_number: Signal<Out, Bits<3>>,
    pub m_ipv6: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    /// One cycle each: a frame's first beat; a header is through.
    pub starting: Signal<Out, Bit>,
    pub header_done: Signal<Out, Bit>,
    in_frame: DFF<Bit>,
    in_payload: DFF<Bit>,
    shifted: DFF<Bit>,
    drop: DFF<Bit>,
    /// Words to come, the carried one included.
    left: DFF<Bits<11>>,
    left_one: DFF<Bit>,
    left_two: DFF<Bit>,
    carry: DFF<Bits<32>>,
    beat: Signal<Local, HeaderBeat>,
    half: Signal<Local, Bit>,
    fills: Signal<Local, Bit>,
    single: Signal<Local, Bit>,
    take_header: Signal<Local, Bit>,
    needs: Signal<Local, Bit>,
    take_payload: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    left_next: Signal<Local, Bits<11>>,
    both: Constant<Bits<2>>,
    lower: Constant<Bits<2>>,
    no_mask: Constant<Bits<3>>,
    one: Constant<Bits<11>>,
    two: Constant<Bits<11>>,
}

impl Default for Joiner {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            header: Default::default(),
            header_valid: Default::default(),
            header_ready: Default::default(),
            payload_data: Default::default(),
            payload_valid: Default::default(),
            payload_ready: Default::default(),
            room: Default::default(),
            m_data: Default::default(),
            m_lanes: Default::default(),
            m_last: Default::default(),
            m_covered: Default::default(),
            m_covered_first: Default::default(),
            m_number: Default::default(),
            m_ipv6: Default::default(),
            m_valid: Default::default(),
            starting: Default::default(),
            header_done: Default::default(),
            in_frame: Default::default(),
            in_payload: Default::default(),
            shifted: Default::default(),
            drop: Default::default(),
            left: Default::default(),
            left_one: Default::default(),
            left_two: Default::default(),
            carry: Default::default(),
            beat: Default::default(),
            half: Default::default(),
            fills: Default::default(),
            single: Default::default(),
            take_header: Default::default(),
            needs: Default::default(),
            take_payload: Default::default(),
            offered: Default::default(),
            ended: Default::default(),
            left_next: Default::default(),
            both: Constant::new(3u64.to_bits()),
            lower: Constant::new(1u64.to_bits()),
            no_mask: Constant::new(7u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
            two: Constant::new(2u64.to_bits()),
        }
    }
}

impl Logic for Joiner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, in_payload, shifted, drop, left, left_one, left_two, carry);

        // A header's last beat whose upper lane is free takes the first word of payload.
        self.beat.next = self.header.val();
        self.half.next = self.beat.val().last & !self.beat.val().lanes.get_bit(1);
        self.fills.next = self.half.val() & self.beat.val().more;
        self.single.next = self.beat.val().words == self.one.val();
        self.header_ready.next = self.room.val() & !self.in_payload.q.val() & (self.payload_valid.val() | !self.fills.val());
        self.take_header.next =
            self.header_valid.val() & self.room.val() & !self.in_payload.q.val() & (self.payload_valid.val() | !self.fills.val());
        self.header_done.next = self.take_header.val() & self.beat.val().last;
        self.needs.next = !(self.shifted.q.val() & self.left_one.q.val());
        self.take_payload.next = self.in_payload.q.val() & self.room.val() & (self.payload_valid.val() | !self.needs.val());
        self.payload_ready.next =
            (self.take_header.val() & self.fills.val()) | (self.in_payload.q.val() & self.room.val() & self.needs.val());

        self.m_data.next = self.beat.val().data;
        self.m_lanes.next = self.beat.val().lanes;
        self.m_covered.next = self.beat.val().covered;
        self.m_covered_first.next = self.beat.val().covered_first;
        self.m_number.next = self.beat.val().number;
        self.m_ipv6.next = self.beat.val().ipv6;
        self.ended.next = self.beat.val().last & (!self.beat.val().more | (self.fills.val() & self.single.val()));
        if self.fills.val() {
            self.m_data.next = bit_cast::<64, 32>(self.beat.val().data.get_bits::<32>(0))
                | (bit_cast::<64, 32>(self.payload_data.val().get_bits::<32>(0)) << 32);
            self.m_lanes.next = self.both.val();
            self.m_covered.next = self.both.val();
        }
        self.left_next.next = self.beat.val().words;
        if self.fills.val() {
            self.left_next.next = self.beat.val().words - 1;
        }
        if self.in_payload.q.val() {
            self.m_data.next = self.payload_data.val();
            if self.shifted.q.val() {
                self.m_data.next =
                    bit_cast::<64, 32>(self.carry.q.val()) | (bit_cast::<64, 32>(self.payload_data.val().get_bits::<32>(0)) << 32);
            }
            self.m_lanes.next = self.both.val();
            self.m_covered.next = self.both.val();
            if self.left_one.q.val() {
                self.m_lanes.next = self.lower.val();
                self.m_covered.next = self.lower.val();
            }
            self.m_covered_first.next = false;
            self.m_number.next = self.no_mask.val();
            self.ended.next = self.left_one.q.val() | self.left_two.q.val();
            self.left_next.next = self.left.q.val() - 2;
        }
        self.m_last.next = self.ended.val();
        self.offered.next = (self.take_header.val() & !self.beat.val().drop) | (self.take_payload.val() & !self.drop.q.val());
        self.m_valid.next = self.offered.val();
        self.starting.next = self.take_header.val() & !self.beat.val().drop & !self.in_frame.q.val();

        if self.take_header.val() {
            self.in_frame.d.next = !self.ended.val();
            self.shifted.d.next = self.fills.val();
            self.drop.d.next = self.beat.val().drop;
            self.in_payload.d.next = self.beat.val().last & !self.ended.val();
        }
        if self.take_header.val() | self.take_payload.val() {
            self.left.d.next = self.left_next.val();
            self.left_one.d.next = self.left_next.val() == self.one.val();
            self.left_two.d.next = self.left_next.val() == self.two.val();
            self.carry.d.next = self.payload_data.val().get_bits::<32>(32);
        }
        if self.take_payload.val() & self.ended.val() {
            self.in_payload.d.next = false;
            self.in_frame.d.next = false;
        }

        if self.reset.val() {
            self.in_frame.d.next = false;
            self.in_payload.d.next = false;
        }
    }

    crate::block_name!();
}
