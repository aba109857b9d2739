// SPDX-License-Identifier: MIT OR Apache-2.0
//! Puts a packet's payload behind its header (W = 64).
//!
//! ```text
//! header beats ─┬─► as they are ──────────────────────────────► m
//!               └─► last beat, lane 1 free: with payload word 0 ─► then payload shifted by a word: {word 2k, word 2k - 1}
//! ```
//!
//! One beat a cycle; the payload follows without a pause, unless `room` falls. Its first beat stands ready when it is due, so there is no valid: a payload is whole before its header
//! is begun, or `payload_room` keeps everything back that needs payload until it is. A packet to be dropped passes the same way and isn't offered.

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
    pub payload_ready: Signal<Out, Bit>,
    /// What follows takes beats: at least four more.
    pub room: Signal<In, Bit>,
    /// The same for what has payload, and the payload is whole: a register too.
    pub payload_room: Signal<In, Bit>,
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
    /// Between frames: a register.
    pub idle: Signal<Out, Bit>,
    in_frame: DFF<Bit>,
    in_payload: DFF<Bit>,
    shifted: DFF<Bit>,
    drop: DFF<Bit>,
    /// Beats to come but for a last half one that `half_more` announces; whether they are none, one.
    left: DFF<Bits<10>>,
    none_left: DFF<Bit>,
    one_left: DFF<Bit>,
    half_more: DFF<Bit>,
    /// The last of them is half, and needs no payload beat: the carried word.
    half_last: DFF<Bit>,
    carry: DFF<Bits<32>>,
    beat: Signal<Local, HeaderBeat>,
    fills: Signal<Local, Bit>,
    ready: Signal<Local, Bit>,
    take_header: Signal<Local, Bit>,
    needs: Signal<Local, Bit>,
    take_payload: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    short: Signal<Local, Bit>,
    both: Constant<Bits<2>>,
    lower: Constant<Bits<2>>,
    no_mask: Constant<Bits<3>>,
    two: Constant<Bits<10>>,
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
            payload_ready: Default::default(),
            room: Default::default(),
            payload_room: Default::default(),
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
            idle: Default::default(),
            in_frame: Default::default(),
            in_payload: Default::default(),
            shifted: Default::default(),
            drop: Default::default(),
            left: Default::default(),
            none_left: Default::default(),
            one_left: Default::default(),
            half_more: Default::default(),
            half_last: Default::default(),
            carry: Default::default(),
            beat: Default::default(),
            fills: Default::default(),
            ready: Default::default(),
            take_header: Default::default(),
            needs: Default::default(),
            take_payload: Default::default(),
            offered: Default::default(),
            ended: Default::default(),
            short: Default::default(),
            both: Constant::new(3u64.to_bits()),
            lower: Constant::new(1u64.to_bits()),
            no_mask: Constant::new(7u64.to_bits()),
            two: Constant::new(2u64.to_bits()),
        }
    }
}

impl Logic for Joiner {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, in_frame, in_payload, shifted, drop, left, none_left, one_left, half_more, half_last, carry);

        // A header's last beat whose upper lane is free takes the first word of payload.
        self.beat.next = self.header.val();
        self.fills.next = self.beat.val().fills;
        self.idle.next = !self.in_frame.q.val();
        self.ready.next = self.room.val() & !self.in_payload.q.val();
        if self.fills.val() {
            self.ready.next = self.payload_room.val() & !self.in_payload.q.val();
        }
        self.header_ready.next = self.ready.val();
        self.take_header.next = self.header_valid.val() & self.ready.val();
        self.header_done.next = self.take_header.val() & self.beat.val().last;
        self.needs.next = !(self.half_last.q.val() & self.one_left.q.val());
        self.take_payload.next = self.in_payload.q.val() & self.payload_room.val();
        self.payload_ready.next = (self.header_valid.val() & self.fills.val() & !self.in_payload.q.val() & self.payload_room.val())
            | (self.take_payload.val() & self.needs.val());

        self.m_data.next = self.beat.val().data;
        self.m_lanes.next = self.beat.val().lanes;
        self.m_covered.next = self.beat.val().covered;
        self.m_covered_first.next = self.beat.val().covered_first;
        self.m_number.next = self.beat.val().number;
        self.m_ipv6.next = self.beat.val().ipv6;
        self.ended.next = self.beat.val().last & (!self.beat.val().more | (self.fills.val() & self.beat.val().single));
        if self.fills.val() {
            self.m_data.next = bit_cast::<64, 32>(self.beat.val().data.get_bits::<32>(0))
                | (bit_cast::<64, 32>(self.payload_data.val().get_bits::<32>(0)) << 32);
            self.m_lanes.next = self.both.val();
            self.m_covered.next = self.both.val();
        }
        self.short.next = (self.half_more.q.val() & self.none_left.q.val()) | (self.half_last.q.val() & self.one_left.q.val());
        if self.in_payload.q.val() {
            self.m_data.next = self.payload_data.val();
            if self.shifted.q.val() {
                self.m_data.next =
                    bit_cast::<64, 32>(self.carry.q.val()) | (bit_cast::<64, 32>(self.payload_data.val().get_bits::<32>(0)) << 32);
            }
            self.m_lanes.next = self.both.val();
            self.m_covered.next = self.both.val();
            if self.short.val() {
                self.m_lanes.next = self.lower.val();
                self.m_covered.next = self.lower.val();
            }
            self.m_covered_first.next = false;
            self.m_number.next = self.no_mask.val();
            self.ended.next = self.short.val() | (self.one_left.q.val() & !self.half_more.q.val());
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
        if self.take_header.val() {
            self.left.d.next = self.beat.val().pairs;
            self.none_left.d.next = self.beat.val().no_pair;
            self.one_left.d.next = self.beat.val().one_pair;
            self.half_more.d.next = self.beat.val().odd & !self.fills.val();
            self.half_last.d.next = !self.beat.val().odd & self.fills.val();
        }
        if self.take_payload.val() {
            self.left.d.next = self.left.q.val() - 1;
            self.none_left.d.next = self.one_left.q.val();
            self.one_left.d.next = self.left.q.val() == self.two.val();
        }
        if self.take_header.val() | self.take_payload.val() {
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
