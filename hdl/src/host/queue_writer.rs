// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writes one completion (32 bytes) or event (16 bytes) to memory: one burst on a write channel group.
//!
//! ```text
//! active ─┬─► aw: ring base | slot
//!         └─► w: words 0, 1, ... by lanes, the phase in the last        done when both are accepted
//! ```
//!
//! Entries are aligned to their size, so a burst crosses no 4 KiB border. A beat a cycle; AW and W go out side by side.

use super::WordSelect;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::layout::{CQE_BYTES, EVENT_BYTES};

/// `W` bus bits (32, 64), `K = W/8`. Inputs are held while `active`.
#[derive(LogicBlock)]
pub struct QueueWriter<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Held until `done`.
    pub active: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub is_event: Signal<In, Bit>,
    /// The ring's base, a multiple of its size.
    pub base: Signal<In, Bits<64>>,
    pub slot: Signal<In, Bits<16>>,
    pub phase: Signal<In, Bit>,
    pub word0: Signal<In, Bits<32>>,
    pub word1: Signal<In, Bits<32>>,
    pub word2: Signal<In, Bits<32>>,
    pub word3: Signal<In, Bits<32>>,
    pub word4: Signal<In, Bits<32>>,
    pub event0: Signal<In, Bits<32>>,
    pub event1: Signal<In, Bits<32>>,
    pub aw_address: Signal<Out, Bits<64>>,
    pub aw_length: Signal<Out, Bits<8>>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub w_data: Signal<Out, Bits<W>>,
    pub w_strobe: Signal<Out, Bits<K>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    low: WordSelect,
    high: WordSelect,
    index: DFF<Bits<3>>,
    aw_over: DFF<Bit>,
    w_over: DFF<Bit>,
    aw_now: Signal<Local, Bit>,
    w_now: Signal<Local, Bit>,
    offset: Signal<Local, Bits<64>>,
    high_word: Signal<Local, Bits<32>>,
    final_index: Signal<Local, Bits<3>>,
    two_lanes: Constant<Bit>,
    high_lane: Constant<Bits<6>>,
    one: Constant<Bits<3>>,
    lanes: Constant<Bits<3>>,
    cqe_final: Constant<Bits<3>>,
    event_final: Constant<Bits<3>>,
    cqe_length: Constant<Bits<8>>,
    event_length: Constant<Bits<8>>,
    cqe_alignment: Constant<Bits<64>>,
    event_alignment: Constant<Bits<64>>,
    cqe_shift: Constant<Bits<3>>,
    event_shift: Constant<Bits<3>>,
    all: Constant<Bits<K>>,
    zero: Constant<Bits<32>>,
}

impl<const W: usize, const K: usize> QueueWriter<W, K> {
    pub fn new(config: &Config) -> Self {
        assert!((W == 32 || W == 64) && W == 8 * K, "QueueWriter: W must be 32 or 64, K = W/8");
        let lanes = W / 32;
        let small = |n: usize| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            active: Default::default(),
            done: Default::default(),
            is_event: Default::default(),
            base: Default::default(),
            slot: Default::default(),
            phase: Default::default(),
            word0: Default::default(),
            word1: Default::default(),
            word2: Default::default(),
            word3: Default::default(),
            word4: Default::default(),
            event0: Default::default(),
            event1: Default::default(),
            aw_address: Default::default(),
            aw_length: Default::default(),
            aw_valid: Default::default(),
            aw_ready: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_last: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            low: WordSelect::new(config),
            high: WordSelect::new(config),
            index: Default::default(),
            aw_over: Default::default(),
            w_over: Default::default(),
            aw_now: Default::default(),
            w_now: Default::default(),
            offset: Default::default(),
            high_word: Default::default(),
            final_index: Default::default(),
            two_lanes: Constant::new(lanes == 2),
            high_lane: Constant::new(((W - 32) as u64).to_bits()),
            one: small(1),
            lanes: small(lanes),
            cqe_final: small(CQE_BYTES / 4 - lanes),
            event_final: small(EVENT_BYTES / 4 - lanes),
            cqe_length: Constant::new((CQE_BYTES as u64 / K as u64 - 1).to_bits()),
            event_length: Constant::new((EVENT_BYTES as u64 / K as u64 - 1).to_bits()),
            cqe_alignment: Constant::new((config.address_mask() & !(CQE_BYTES as u64 - 1)).to_bits()),
            event_alignment: Constant::new((config.address_mask() & !(EVENT_BYTES as u64 - 1)).to_bits()),
            cqe_shift: small(CQE_BYTES.ilog2() as usize),
            event_shift: small(EVENT_BYTES.ilog2() as usize),
            all: Constant::new(((1u64 << K) - 1).to_bits()),
            zero: Constant::new(0.into()),
        }
    }
}

impl<const W: usize, const K: usize> Logic for QueueWriter<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, index, aw_over, w_over);

        self.low.is_event.next = self.is_event.val();
        self.low.index.next = self.index.q.val();
        self.low.phase.next = self.phase.val();
        self.low.word0.next = self.word0.val();
        self.low.word1.next = self.word1.val();
        self.low.word2.next = self.word2.val();
        self.low.word3.next = self.word3.val();
        self.low.word4.next = self.word4.val();
        self.low.event0.next = self.event0.val();
        self.low.event1.next = self.event1.val();
        self.high.is_event.next = self.is_event.val();
        self.high.index.next = self.index.q.val() | self.one.val();
        self.high.phase.next = self.phase.val();
        self.high.word0.next = self.word0.val();
        self.high.word1.next = self.word1.val();
        self.high.word2.next = self.word2.val();
        self.high.word3.next = self.word3.val();
        self.high.word4.next = self.word4.val();
        self.high.event0.next = self.event0.val();
        self.high.event1.next = self.event1.val();

        // AW. A base that isn't aligned to an entry is cut to one that is.
        self.offset.next = bit_cast::<64, 16>(self.slot.val()) << self.cqe_shift.val();
        self.aw_address.next = (self.base.val() & self.cqe_alignment.val()) | self.offset.val();
        self.aw_length.next = self.cqe_length.val();
        self.final_index.next = self.cqe_final.val();
        if self.is_event.val() {
            self.offset.next = bit_cast::<64, 16>(self.slot.val()) << self.event_shift.val();
            self.aw_address.next = (self.base.val() & self.event_alignment.val()) | self.offset.val();
            self.aw_length.next = self.event_length.val();
            self.final_index.next = self.event_final.val();
        }
        self.aw_valid.next = self.active.val() & !self.aw_over.q.val();
        self.aw_now.next = self.aw_valid.val() & self.aw_ready.val();

        // W.
        self.high_word.next = self.zero.val();
        if self.two_lanes.val() {
            self.high_word.next = self.high.word.val();
        }
        self.w_data.next = bit_cast::<W, 32>(self.low.word.val()) | (bit_cast::<W, 32>(self.high_word.val()) << self.high_lane.val());
        self.w_strobe.next = self.all.val();
        self.w_last.next = self.index.q.val() == self.final_index.val();
        self.w_valid.next = self.active.val() & !self.w_over.q.val();
        self.w_now.next = self.w_valid.val() & self.w_ready.val();

        if self.aw_now.val() {
            self.aw_over.d.next = true;
        }
        if self.w_now.val() {
            self.index.d.next = self.index.q.val() + self.lanes.val();
            if self.w_last.val() {
                self.w_over.d.next = true;
            }
        }
        self.done.next = (self.aw_over.q.val() | self.aw_now.val()) & (self.w_over.q.val() | (self.w_now.val() & self.w_last.val()));
        if self.done.val() | self.reset.val() {
            self.aw_over.d.next = false;
            self.w_over.d.next = false;
            self.index.d.next = 0.into();
        }
    }

    crate::block_name!();
}
