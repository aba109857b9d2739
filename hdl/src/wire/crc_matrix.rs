// SPDX-License-Identifier: MIT OR Apache-2.0
//! A CRC-32 step as a matrix: combinational, one XOR tree for each bit of the next state.
//!
//! ```text
//! x[32] ──► y[i] = xor(x & row[i]), 32 times ──► y[32]
//! ```
//!
//! `FORWARD` units of zeros are fed to the CRC (Ethernet polynomial, reflected), or `BACK` units of zeros are taken out of it again: the step
//! is linear and can be inverted. A unit is a word, or `UNIT` bits. The rows are computed in plain Rust. About 17 inputs a bit for one word.

use rust_hdl::prelude::*;

/// Ethernet polynomial, reflected.
const POLYNOMIAL: u32 = 0xedb8_8320;
/// Steps of one bit in a word.
const WORD: usize = 32;

/// The reflected CRC state after `forward` words of zeros, or before `back` such words.
pub fn step_words(state: u32, forward: usize, back: usize) -> u32 {
    step_bits(state, forward * WORD, back * WORD)
}

/// The reflected CRC state after `forward` bits of zeros, or before `back` such bits.
pub fn step_bits(state: u32, forward: usize, back: usize) -> u32 {
    let mut state = state;
    for _ in 0..forward {
        state = (state >> 1) ^ if state & 1 == 1 { POLYNOMIAL } else { 0 };
    }
    for _ in 0..back {
        // The polynomial's top bit is set, so the top bit says whether it was added.
        state = if state >> 31 == 1 {
            ((state ^ POLYNOMIAL) << 1) | 1
        } else {
            state << 1
        };
    }
    state
}

/// `y` is the CRC state `x` after `FORWARD` units of `UNIT` zero bits, or before `BACK` of them.
#[derive(LogicBlock)]
pub struct CrcMatrix<const FORWARD: usize, const BACK: usize, const UNIT: usize = 32> {
    pub x: Signal<In, Bits<32>>,
    pub y: Signal<Out, Bits<32>>,
    sum: Signal<Local, Bits<32>>,
    rows: [Constant<Bits<32>>; 32],
    one_hot: [Constant<Bits<32>>; 32],
}

impl<const FORWARD: usize, const BACK: usize, const UNIT: usize> Default for CrcMatrix<FORWARD, BACK, UNIT> {
    fn default() -> Self {
        let columns: Vec<u32> = (0..32).map(|j| step_bits(1 << j, FORWARD * UNIT, BACK * UNIT)).collect();
        let row = |i: usize| (0..32).fold(0u32, |row, j| row | ((columns[j] >> i & 1) << j));
        Self {
            x: Default::default(),
            y: Default::default(),
            sum: Default::default(),
            rows: std::array::from_fn(|i| Constant::new(row(i).to_bits())),
            one_hot: std::array::from_fn(|i| Constant::new((1u32 << i).to_bits())),
        }
    }
}

impl<const FORWARD: usize, const BACK: usize, const UNIT: usize> Logic for CrcMatrix<FORWARD, BACK, UNIT> {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = 0.into();
        for i in 0..32 {
            if (self.x.val() & self.rows[i].val()).xor() {
                self.sum.next = self.sum.val() | self.one_hot[i].val();
            }
        }
        self.y.next = self.sum.val();
    }

    crate::block_name!();
}
