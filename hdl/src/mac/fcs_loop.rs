// SPDX-License-Identifier: MIT OR Apache-2.0
//! CRC-32 over a frame, eight bytes a cycle; the loop is one matrix.
//!
//! ```text
//! data[31:0] (^ ones if first) ─► Z64 ─┐
//! data[63:32] ─► Z32 ──────────────────┴─► mix ─┬─► state ─► Z64 ─┐
//!                                               ▲                 │
//!                                               └─────────────────┘
//! ```
//!
//! Zk: k zero bits are fed. A last beat in cycle t gives `state` and `state_valid` in t + 2, for one cycle. Bytes that don't count are zeros, so `state` is that of a frame with zeros
//! behind it: the transmitter takes them out again (`FcsTail`), the receiver compares with what a good frame and those zeros give. The start value
//! is folded into the first beat: the state is 0 between frames. A frame's beats come in successive cycles.

use crate::wire::CrcMatrix;
use rust_hdl::prelude::*;

/// Latency 2 cycles, one beat a cycle.
#[derive(LogicBlock)]
pub struct FcsLoop {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<64>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    /// The reflected CRC state, not inverted.
    pub state: Signal<Out, Bits<32>>,
    pub state_valid: Signal<Out, Bit>,

    mix: DFF<Bits<32>>,
    last_1: DFF<Bit>,
    held: DFF<Bits<32>>,
    result: DFF<Bits<32>>,
    last_2: DFF<Bit>,
    low: CrcMatrix<2, 0>,
    high: CrcMatrix<1, 0>,
    step: CrcMatrix<2, 0>,
    first_word: Signal<Local, Bits<32>>,
    following: Signal<Local, Bits<32>>,
    ones: Constant<Bits<32>>,
}

impl Default for FcsLoop {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            data: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            state: Default::default(),
            state_valid: Default::default(),
            mix: Default::default(),
            last_1: Default::default(),
            held: Default::default(),
            result: Default::default(),
            last_2: Default::default(),
            low: Default::default(),
            high: Default::default(),
            step: Default::default(),
            first_word: Default::default(),
            following: Default::default(),
            ones: Constant::new(0xffff_ffffu64.to_bits()),
        }
    }
}

impl Logic for FcsLoop {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, mix, last_1, held, result, last_2);

        self.first_word.next = self.data.val().get_bits::<32>(0);
        if self.first.val() {
            self.first_word.next = self.data.val().get_bits::<32>(0) ^ self.ones.val();
        }
        self.low.x.next = self.first_word.val();
        self.high.x.next = self.data.val().get_bits::<32>(32);
        self.mix.d.next = self.low.y.val() ^ self.high.y.val();
        if !self.valid.val() {
            self.mix.d.next = 0.into();
        }
        self.last_1.d.next = self.valid.val() & self.last.val();

        self.step.x.next = self.held.q.val();
        self.following.next = self.step.y.val() ^ self.mix.q.val();
        self.result.d.next = self.following.val();
        self.held.d.next = self.following.val();
        self.last_2.d.next = self.last_1.q.val();
        if self.last_1.q.val() | self.reset.val() {
            self.held.d.next = 0.into();
        }
        self.state.next = self.result.q.val();
        self.state_valid.next = self.last_2.q.val();

        if self.reset.val() {
            self.mix.d.next = 0.into();
            self.last_1.d.next = false;
            self.last_2.d.next = false;
        }
    }

    crate::block_name!();
}
