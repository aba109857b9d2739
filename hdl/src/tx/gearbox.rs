// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words to beats: puts each word into the lane that its aligned number gives it.
//!
//! ```text
//! word ─┬────────────────────► lane 1 ─┐
//!       └─► held (W = 64) ───► lane 0 ─┴─► beat, with the lanes that belong to the frame and those that the ICRC covers
//! ```
//!
//! W = 32: wires. W = 64: a beat when its upper word comes, or with the last word. No latency, no backpressure.

use rust_hdl::prelude::*;

/// From 32 to `W` bits, `L = W / 32`.
#[derive(LogicBlock)]
pub struct Gearbox<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub word: Signal<In, Bits<32>>,
    pub valid: Signal<In, Bit>,
    /// First word of the frame; `odd` says that it belongs into lane 1.
    pub first: Signal<In, Bit>,
    pub odd: Signal<In, Bit>,
    /// Last word.
    pub last: Signal<In, Bit>,
    /// The word is covered by the ICRC; the first one that is.
    pub covered: Signal<In, Bit>,
    pub covered_first: Signal<In, Bit>,
    pub beat: Signal<Out, Bits<W>>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_lanes: Signal<Out, Bits<L>>,
    pub beat_first: Signal<Out, Bit>,
    pub beat_last: Signal<Out, Bit>,
    pub beat_covered: Signal<Out, Bits<L>>,
    pub beat_covered_first: Signal<Out, Bit>,

    /// Lane 0 of the beat to come.
    held: DFF<Bits<32>>,
    held_valid: DFF<Bit>,
    held_first: DFF<Bit>,
    held_covered: DFF<Bit>,
    held_covered_first: DFF<Bit>,
    upper: DFF<Bit>,
    to_upper: Signal<Local, Bit>,
    lane0: Constant<Bits<L>>,
    lane1: Constant<Bits<L>>,
}

impl<const W: usize, const L: usize> Default for Gearbox<W, L> {
    fn default() -> Self {
        assert!(W == 32 * L && (L == 1 || L == 2), "Gearbox: W must be 32 * L, L 1 or 2");
        Self {
            clock: Default::default(),
            word: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            odd: Default::default(),
            last: Default::default(),
            covered: Default::default(),
            covered_first: Default::default(),
            beat: Default::default(),
            beat_valid: Default::default(),
            beat_lanes: Default::default(),
            beat_first: Default::default(),
            beat_last: Default::default(),
            beat_covered: Default::default(),
            beat_covered_first: Default::default(),
            held: Default::default(),
            held_valid: Default::default(),
            held_first: Default::default(),
            held_covered: Default::default(),
            held_covered_first: Default::default(),
            upper: Default::default(),
            to_upper: Default::default(),
            lane0: Constant::new(1u64.to_bits()),
            lane1: Constant::new((1u64 << (L - 1)).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize> Logic for Gearbox<W, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, held_valid, held_first, held_covered, held_covered_first, upper);

        self.beat.next = bit_cast::<W, 32>(self.word.val());
        self.beat_valid.next = self.valid.val();
        self.beat_lanes.next = self.lane0.val();
        self.beat_first.next = self.first.val();
        self.beat_last.next = self.last.val();
        self.beat_covered.next = 0.into();
        if self.covered.val() {
            self.beat_covered.next = self.lane0.val();
        }
        self.beat_covered_first.next = self.covered_first.val();

        self.to_upper.next = self.upper.q.val();
        if self.first.val() {
            self.to_upper.next = self.odd.val();
        }
        for _i in 1..L {
            if self.valid.val() {
                self.upper.d.next = !self.to_upper.val();
                self.held.d.next = self.word.val();
                self.held_valid.d.next = !self.to_upper.val();
                self.held_first.d.next = self.first.val();
                self.held_covered.d.next = self.covered.val();
                self.held_covered_first.d.next = self.covered_first.val();
            }
            if self.to_upper.val() {
                self.beat.next = bit_cast::<W, 32>(self.held.q.val()) | (bit_cast::<W, 32>(self.word.val()) << 32);
                self.beat_lanes.next = self.lane1.val();
                self.beat_covered.next = 0.into();
                if self.covered.val() {
                    self.beat_covered.next = self.lane1.val();
                }
                if self.held_valid.q.val() & !self.first.val() {
                    self.beat_lanes.next = self.lane0.val() | self.lane1.val();
                    self.beat_first.next = self.held_first.q.val();
                    if self.held_covered.q.val() {
                        self.beat_covered.next = self.lane0.val() | self.lane1.val();
                    }
                    self.beat_covered_first.next = self.held_covered_first.q.val() | self.covered_first.val();
                }
            } else {
                self.beat_valid.next = self.valid.val() & self.last.val();
            }
        }
    }

    crate::block_name!();
}
