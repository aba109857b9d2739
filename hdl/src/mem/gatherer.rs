// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gatherer: the bytes of a packet's pieces from bus beats to contiguous beats.
//!
//! ```text
//! r_data ─► rotate by r ─► register ─┬─► K bytes out of {held, rotated} ─► payload_*
//!                                    └─► held
//! r = (bytes that wait in held - lane of the piece's first byte) mod K, constant over a piece
//! ```
//!
//! One beat a cycle; one cycle between pieces, in which a packet's rest of less than a beat leaves. Latency: 2 cycles from R to payload, 3 for such a rest.
//! `r_data` goes through 3 levels of multiplexers: it should come from a register. There is no ready: room has been reserved.

use rust_hdl::prelude::*;

/// For beats of `W` bits, `K` bytes.
#[derive(LogicBlock)]
pub struct Gatherer<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub piece_lane: Signal<In, Bits<3>>,
    pub piece_length: Signal<In, Bits<14>>,
    pub piece_last: Signal<In, Bit>,
    pub piece_valid: Signal<In, Bit>,
    pub piece_ready: Signal<Out, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    pub payload_data: Signal<Out, Bits<W>>,
    pub payload_last: Signal<Out, Bit>,
    pub payload_error: Signal<Out, Bit>,
    pub payload_valid: Signal<Out, Bit>,
    active: DFF<Bit>,
    ends: DFF<Bit>,
    rotation: DFF<Bits<3>>,
    /// Bytes from the current beat's lane 0 to the piece's end.
    left: DFF<Bits<15>>,
    /// This beat is the piece's last.
    ending: DFF<Bit>,
    /// `waiting` less the beat's first byte of the piece, modulo 32.
    base: DFF<Bits<5>>,
    /// Bytes of the packet that wait for the rest of their beat.
    waiting: DFF<Bits<3>>,
    error: DFF<Bit>,
    rotated: DFF<Bits<W>>,
    merge_at: DFF<Bits<3>>,
    rest: DFF<Bits<3>>,
    fills: DFF<Bit>,
    closing: DFF<Bit>,
    end_error: DFF<Bit>,
    loaded: DFF<Bit>,
    held: DFF<Bits<W>>,
    flush: DFF<Bit>,
    flush_rest: DFF<Bits<3>>,
    flush_error: DFF<Bit>,
    one: Signal<Local, Bits<W>>,
    two: Signal<Local, Bits<W>>,
    four: Signal<Local, Bits<W>>,
    take: Signal<Local, Bit>,
    end_lane: Signal<Local, Bits<4>>,
    near_end: Signal<Local, Bits<5>>,
    lane: Signal<Local, Bits<3>>,
    after: Signal<Local, Bits<15>>,
    count: Signal<Local, Bits<5>>,
    count_rest: Signal<Local, Bits<3>>,
    low_mask: Signal<Local, Bits<W>>,
    end_mask: Signal<Local, Bits<W>>,
    merged: Signal<Local, Bits<W>>,
    keep: Signal<Local, Bits<3>>,
    lane_mask: Constant<Bits<3>>,
    eight_lanes: Constant<Bit>,
    beat: Constant<Bits<15>>,
    two_beats: Constant<Bits<15>>,
    whole: Constant<Bits<4>>,
    whole_count: Constant<Bits<5>>,
    one_up: Constant<Bits<8>>,
    one_down: Constant<Bits<8>>,
    two_up: Constant<Bits<8>>,
    two_down: Constant<Bits<8>>,
    four_up: Constant<Bits<8>>,
    four_down: Constant<Bits<8>>,
    lane_number: [Constant<Bits<3>>; K],
    byte_mask: [Constant<Bits<W>>; K],
}

impl<const W: usize, const K: usize> Default for Gatherer<W, K> {
    fn default() -> Self {
        assert!(W == 8 * K && (K == 4 || K == 8), "Gatherer: W must be 32 or 64, K = W/8");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            piece_lane: Default::default(),
            piece_length: Default::default(),
            piece_last: Default::default(),
            piece_valid: Default::default(),
            piece_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            payload_data: Default::default(),
            payload_last: Default::default(),
            payload_error: Default::default(),
            payload_valid: Default::default(),
            active: Default::default(),
            ends: Default::default(),
            rotation: Default::default(),
            left: Default::default(),
            ending: Default::default(),
            base: Default::default(),
            waiting: Default::default(),
            error: Default::default(),
            rotated: Default::default(),
            merge_at: Default::default(),
            rest: Default::default(),
            fills: Default::default(),
            closing: Default::default(),
            end_error: Default::default(),
            loaded: Default::default(),
            held: Default::default(),
            flush: Default::default(),
            flush_rest: Default::default(),
            flush_error: Default::default(),
            one: Default::default(),
            two: Default::default(),
            four: Default::default(),
            take: Default::default(),
            end_lane: Default::default(),
            near_end: Default::default(),
            lane: Default::default(),
            after: Default::default(),
            count: Default::default(),
            count_rest: Default::default(),
            low_mask: Default::default(),
            end_mask: Default::default(),
            merged: Default::default(),
            keep: Default::default(),
            lane_mask: Constant::new((K as u64 - 1).to_bits()),
            eight_lanes: Constant::new(K == 8),
            beat: Constant::new((K as u64).to_bits()),
            two_beats: Constant::new((2 * K as u64).to_bits()),
            whole: Constant::new((K as u64).to_bits()),
            whole_count: Constant::new((K as u64).to_bits()),
            one_up: Constant::new(8u64.to_bits()),
            one_down: Constant::new((W as u64 - 8).to_bits()),
            two_up: Constant::new(16u64.to_bits()),
            two_down: Constant::new((W as u64 - 16).to_bits()),
            four_up: Constant::new(32u64.to_bits()),
            four_down: Constant::new((W as u64 - 32).to_bits()),
            lane_number: std::array::from_fn(|k| Constant::new((k as u64).to_bits())),
            byte_mask: std::array::from_fn(|k| Constant::new((0xffu64 << (8 * k)).to_bits())),
        }
    }
}

impl<const W: usize, const K: usize> Logic for Gatherer<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            active,
            ends,
            rotation,
            left,
            ending,
            base,
            waiting,
            error,
            rotated,
            merge_at,
            rest,
            fills,
            closing,
            end_error,
            loaded,
            held,
            flush,
            flush_rest,
            flush_error
        );

        self.lane.next = self.piece_lane.val() & self.lane_mask.val();
        self.near_end.next = bit_cast::<5, 4>(self.piece_length.val().get_bits::<4>(0)) + bit_cast::<5, 3>(self.lane.val());
        self.after.next = self.left.q.val() - self.beat.val();

        // The beat's share: how many bytes wait after it, whether it fills a beat.
        self.r_ready.next = self.active.q.val();
        self.take.next = self.active.q.val() & self.r_valid.val();
        self.piece_ready.next = !self.active.q.val();
        self.end_lane.next = self.whole.val();
        if self.ending.q.val() {
            self.end_lane.next = self.left.q.val().get_bits::<4>(0);
        }
        self.count.next = self.base.q.val() + bit_cast::<5, 4>(self.end_lane.val());
        self.count_rest.next = self.count.val().get_bits::<3>(0) & self.lane_mask.val();

        // Up by the rotation, round.
        self.one.next = self.r_data.val();
        if self.rotation.q.val().get_bit(0) {
            self.one.next = (self.r_data.val() << self.one_up.val()) | (self.r_data.val() >> self.one_down.val());
        }
        self.two.next = self.one.val();
        if self.rotation.q.val().get_bit(1) {
            self.two.next = (self.one.val() << self.two_up.val()) | (self.one.val() >> self.two_down.val());
        }
        self.four.next = self.two.val();
        if self.eight_lanes.val() & self.rotation.q.val().get_bit(2) {
            self.four.next = (self.two.val() << self.four_up.val()) | (self.two.val() >> self.four_down.val());
        }

        self.loaded.d.next = self.take.val();
        if self.take.val() {
            self.rotated.d.next = self.four.val();
            self.merge_at.d.next = self.waiting.q.val();
            self.rest.d.next = self.count_rest.val();
            self.fills.d.next = self.count.val() >= self.whole_count.val();
            self.closing.d.next = self.ending.q.val() & self.ends.q.val();
            self.end_error.d.next = self.error.q.val() | self.r_error.val();
            self.error.d.next = self.error.q.val() | self.r_error.val();
            self.waiting.d.next = self.count_rest.val();
            self.base.d.next = bit_cast::<5, 3>(self.count_rest.val());
            self.left.d.next = self.after.val();
            // Of what is left this beat takes one, and the next another.
            self.ending.d.next = self.left.q.val() <= self.two_beats.val();
            if self.ending.q.val() {
                self.active.d.next = false;
                if self.ends.q.val() {
                    self.waiting.d.next = 0.into();
                    self.error.d.next = false;
                }
            }
        }
        if !self.active.q.val() {
            self.active.d.next = self.piece_valid.val();
            self.ends.d.next = self.piece_last.val();
            self.base.d.next = bit_cast::<5, 3>(self.waiting.q.val()) - bit_cast::<5, 3>(self.lane.val());
            self.ending.d.next = !self.piece_length.val().get_bits::<10>(4).any() & (self.near_end.val() <= self.whole_count.val());
            self.rotation.d.next = (self.waiting.q.val() - self.piece_lane.val()) & self.lane_mask.val();
            self.left.d.next = bit_cast::<15, 14>(self.piece_length.val()) + bit_cast::<15, 3>(self.lane.val());
        }

        // Merge; what stands behind a packet's end is zero.
        self.low_mask.next = 0.into();
        for k in 0..K {
            if self.lane_number[k].val() < self.merge_at.q.val() {
                self.low_mask.next = self.low_mask.val() | self.byte_mask[k].val();
            }
        }
        self.keep.next = self.rest.q.val();
        if self.flush.q.val() {
            self.keep.next = self.flush_rest.q.val();
        }
        self.end_mask.next = 0.into();
        for k in 0..K {
            if self.lane_number[k].val() < self.keep.val() {
                self.end_mask.next = self.end_mask.val() | self.byte_mask[k].val();
            }
        }
        self.merged.next = (self.held.q.val() & self.low_mask.val()) | (self.rotated.q.val() & !self.low_mask.val());
        self.flush.d.next = false;
        if self.loaded.q.val() {
            self.held.d.next = self.merged.val();
            if self.fills.q.val() {
                self.held.d.next = self.rotated.q.val();
                self.flush.d.next = self.closing.q.val() & self.rest.q.val().any();
            }
            self.flush_rest.d.next = self.rest.q.val();
            self.flush_error.d.next = self.end_error.q.val();
        }
        self.payload_data.next = self.merged.val();
        self.payload_valid.next = self.loaded.q.val() & (self.fills.q.val() | self.closing.q.val());
        self.payload_last.next = self.closing.q.val() & !(self.fills.q.val() & self.rest.q.val().any());
        self.payload_error.next = self.end_error.q.val();
        if !self.fills.q.val() {
            self.payload_data.next = self.merged.val() & self.end_mask.val();
        }
        if self.flush.q.val() {
            self.payload_data.next = self.held.q.val() & self.end_mask.val();
            self.payload_valid.next = true;
            self.payload_last.next = true;
            self.payload_error.next = self.flush_error.q.val();
        }

        if self.reset.val() {
            self.active.d.next = false;
            self.waiting.d.next = 0.into();
            self.error.d.next = false;
            self.loaded.d.next = false;
            self.flush.d.next = false;
        }
    }

    crate::block_name!();
}
