// SPDX-License-Identifier: MIT OR Apache-2.0
//! ICRC: CRC-32 over a packet in aligned coordinates, one beat a cycle.
//!
//! ```text
//!            stage 1                    stage 2                               stage 3
//! data ─┬─► lane 0 (^ start) ─► r ─► (^ state unless first) ─► A^L ─┬─► state ─┬─► crc (A^-1 if the last beat was half), ~
//!       └─► lane 1 ─► A ─────► r ──────────────────────────────────►^          └─► good: the state after a right ICRC
//! ```
//!
//! Data come masked (`IcrcMask`), words that don't count marked in `lane_valid`: the first beat may lack leading words, the last
//! beat trailing ones. A missing leading word counts as zeros fed to a start state that was stepped back; a missing trailing word is fed as zeros and
//! taken back from the result. So the loop is one matrix (17 inputs a bit for a word, one XOR more for the upper lane).
//!
//! `S` = 2, all of the above: a last beat in cycle t gives `crc`, `good`, `crc_valid` in cycle t + 3, for one cycle. One beat a cycle; packets may follow
//! each other without a gap; `valid` may pause. `crc` is the ICRC of the words seen (R1, R4: crc[7:0] is sent first). `good` is for a receiver that
//! feeds the received ICRC as the last word. Limits: W is 32 or 64.
//!
//! `S` = 1, one lane only, for a slow clock: the state register alone. A last beat in cycle t gives `crc`, `good` and `crc_valid` in cycle t + 1; `crc` and
//! `good` stand until the next beat.

use super::crc_matrix::{step_words, CrcMatrix};
use rust_hdl::prelude::*;

/// The reflected state after the eight 0xFF bytes that stand before the packet (R1).
pub const INITIAL_STATE: u32 = 0xdebb_20e3;
/// The reflected state after a packet and its own right ICRC.
const GOOD_STATE: u32 = 0xdebb_20e3;

/// ICRC over beats of `W` bits, `L = W / 32` words each; `S` 2: full registers, 1: the fewest.
#[derive(LogicBlock)]
pub struct Icrc<const W: usize, const L: usize, const S: usize = 2> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Masked beat.
    pub data: Signal<In, Bits<W>>,
    /// Which words of the beat count.
    pub lane_valid: Signal<In, Bits<L>>,
    pub valid: Signal<In, Bit>,
    /// The packet's first beat.
    pub first: Signal<In, Bit>,
    /// The packet's last beat.
    pub last: Signal<In, Bit>,
    pub crc: Signal<Out, Bits<32>>,
    pub good: Signal<Out, Bit>,
    pub crc_valid: Signal<Out, Bit>,

    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    keep_state: DFF<Bit>,
    valid_1: DFF<Bit>,
    last_1: DFF<Bit>,
    short_1: DFF<Bit>,
    state: DFF<Bits<32>>,
    last_2: DFF<Bit>,
    short_2: DFF<Bit>,
    result: DFF<Bits<32>>,
    result_good: DFF<Bit>,
    last_3: DFF<Bit>,
    upper: CrcMatrix<1, 0>,
    step: CrcMatrix<L, 0>,
    undo: CrcMatrix<0, 1>,

    low_data: Signal<Local, Bits<32>>,
    high_data: Signal<Local, Bits<32>>,
    start: Signal<Local, Bits<32>>,
    short: Signal<Local, Bit>,
    fed_back: Signal<Local, Bits<32>>,
    earlier_state: Signal<Local, Bits<32>>,
    add: Signal<Local, Bits<32>>,
    move_on: Signal<Local, Bit>,
    start_full: Constant<Bits<32>>,
    start_half: Constant<Bits<32>>,
    good_full: Constant<Bits<32>>,
    good_half: Constant<Bits<32>>,
}

impl<const W: usize, const L: usize, const S: usize> Default for Icrc<W, L, S> {
    fn default() -> Self {
        assert!(W == 32 * L && (L == 1 || L == 2), "Icrc: W must be 32 * L, L 1 or 2");
        assert!(S == 2 || (S == 1 && L == 1), "Icrc: S must be 2, or 1 at one lane");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            data: Default::default(),
            lane_valid: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            crc: Default::default(),
            good: Default::default(),
            crc_valid: Default::default(),
            low: Default::default(),
            high: Default::default(),
            keep_state: Default::default(),
            valid_1: Default::default(),
            last_1: Default::default(),
            short_1: Default::default(),
            state: Default::default(),
            last_2: Default::default(),
            short_2: Default::default(),
            result: Default::default(),
            result_good: Default::default(),
            last_3: Default::default(),
            upper: Default::default(),
            step: Default::default(),
            undo: Default::default(),
            low_data: Default::default(),
            high_data: Default::default(),
            start: Default::default(),
            short: Default::default(),
            fed_back: Default::default(),
            earlier_state: Default::default(),
            add: Default::default(),
            move_on: Default::default(),
            start_full: Constant::new(INITIAL_STATE.to_bits()),
            start_half: Constant::new(step_words(INITIAL_STATE, 0, 1).to_bits()),
            good_full: Constant::new(GOOD_STATE.to_bits()),
            good_half: Constant::new(step_words(GOOD_STATE, 1, 0).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const S: usize> Logic for Icrc<W, L, S> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            low,
            high,
            keep_state,
            valid_1,
            last_1,
            short_1,
            state,
            last_2,
            short_2,
            result,
            result_good,
            last_3
        );

        // Stage 1: words that don't count are zeros; the start state is folded into the first beat.
        self.low_data.next = self.data.val().get_bits::<32>(0);
        self.high_data.next = 0.into();
        self.start.next = self.start_full.val();
        self.short.next = false;
        for i in 1..L {
            self.high_data.next = self.data.val().get_bits::<32>(32);
            if !self.lane_valid.val().get_bit(i) {
                self.high_data.next = 0.into();
                self.short.next = true;
            }
            if !self.lane_valid.val().get_bit(0) {
                self.low_data.next = 0.into();
                self.start.next = self.start_half.val();
            }
        }
        self.upper.x.next = self.high_data.val();
        self.low.d.next = self.low_data.val();
        if self.first.val() {
            self.low.d.next = self.low_data.val() ^ self.start.val();
        }
        self.high.d.next = self.upper.y.val();
        self.keep_state.d.next = !self.first.val();
        self.valid_1.d.next = self.valid.val();
        self.last_1.d.next = self.valid.val() & self.last.val();
        self.short_1.d.next = self.short.val();

        // Stage 2: the loop.
        self.earlier_state.next = self.state.q.val();
        if self.first.val() {
            self.earlier_state.next = self.start.val();
        }
        self.fed_back.next = 0.into();
        if self.keep_state.q.val() {
            self.fed_back.next = self.state.q.val();
        }
        self.step.x.next = self.low.q.val() ^ self.fed_back.val();
        self.add.next = self.high.q.val();
        self.move_on.next = self.valid_1.q.val();
        for _i in S..2 {
            self.step.x.next = self.low_data.val() ^ self.earlier_state.val();
            self.add.next = 0.into();
            self.move_on.next = self.valid.val();
        }
        if self.move_on.val() {
            self.state.d.next = self.step.y.val() ^ self.add.val();
        }
        self.last_2.d.next = self.last_1.q.val();
        self.short_2.d.next = self.short_1.q.val();

        // Stage 3: the result.
        self.undo.x.next = self.state.q.val();
        self.result.d.next = !self.state.q.val();
        self.result_good.d.next = self.state.q.val() == self.good_full.val();
        if self.short_2.q.val() {
            self.result.d.next = !self.undo.y.val();
            self.result_good.d.next = self.state.q.val() == self.good_half.val();
        }
        self.last_3.d.next = self.last_2.q.val();
        self.crc.next = self.result.q.val();
        self.good.next = self.result_good.q.val();
        self.crc_valid.next = self.last_3.q.val();
        for _i in S..2 {
            self.crc.next = !self.state.q.val();
            self.good.next = self.state.q.val() == self.good_full.val();
            self.crc_valid.next = self.last_1.q.val();
        }

        if self.reset.val() {
            self.valid_1.d.next = false;
            self.last_1.d.next = false;
            self.last_2.d.next = false;
            self.last_3.d.next = false;
        }
    }

    crate::block_name!();
}
