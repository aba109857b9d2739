// SPDX-License-Identifier: MIT OR Apache-2.0
//! ICRC over a word a cycle, masking included (W = 32).
//!
//! ```text
//! word ─► | ones of its number (R2, R3) ─► ^ state ─► A ─► state ─► ~ ─► crc
//! ```
//!
//! `restart` sets the state to that after the eight 0xFF bytes (R1). `crc` is right the cycle after the last word and stays until `restart`: no register but
//! the state, so it keeps step with a stalled frame.

use crate::wire::{variant_bytes, CrcMatrix, INITIAL_STATE};
use rust_hdl::prelude::*;

/// The ICRC.
#[derive(LogicBlock)]
pub struct WordIcrc {
    pub clock: Signal<In, Clock>,
    pub word: Signal<In, Bits<32>>,
    /// Aligned number of the word; 15: no byte of it is masked.
    pub number: Signal<In, Bits<4>>,
    pub ipv6: Signal<In, Bit>,
    pub restart: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub crc: Signal<Out, Bits<32>>,
    state: DFF<Bits<32>>,
    matrix: CrcMatrix<1, 0>,
    ones: Signal<Local, Bits<32>>,
    beginning: Constant<Bits<32>>,
    ones_0: Constant<Bits<32>>,
    ones_1: Constant<Bits<32>>,
    ones_5: Constant<Bits<32>>,
    ones_7: Constant<Bits<32>>,
    ones_11: Constant<Bits<32>>,
    ones_13: Constant<Bits<32>>,
}

impl Default for WordIcrc {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            word: Default::default(),
            number: Default::default(),
            ipv6: Default::default(),
            restart: Default::default(),
            enable: Default::default(),
            crc: Default::default(),
            state: Default::default(),
            matrix: Default::default(),
            ones: Default::default(),
            beginning: Constant::new(INITIAL_STATE.to_bits()),
            ones_0: Constant::new(variant_bytes(0, true).to_bits()),
            ones_1: Constant::new(variant_bytes(1, true).to_bits()),
            ones_5: Constant::new(variant_bytes(5, false).to_bits()),
            ones_7: Constant::new(variant_bytes(7, false).to_bits()),
            ones_11: Constant::new(variant_bytes(11, false).to_bits()),
            ones_13: Constant::new(variant_bytes(13, false).to_bits()),
        }
    }
}

impl Logic for WordIcrc {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        self.ones.next = 0.into();
        match self.number.val().index() {
            0 => {
                if self.ipv6.val() {
                    self.ones.next = self.ones_0.val();
                }
            }
            1 => {
                if self.ipv6.val() {
                    self.ones.next = self.ones_1.val();
                }
            }
            5 => {
                self.ones.next = self.ones_5.val();
            }
            7 => {
                self.ones.next = self.ones_7.val();
            }
            11 => {
                self.ones.next = self.ones_11.val();
            }
            13 => {
                self.ones.next = self.ones_13.val();
            }
            _ => {}
        }
        self.matrix.x.next = (self.word.val() | self.ones.val()) ^ self.state.q.val();
        if self.enable.val() {
            self.state.d.next = self.matrix.y.val();
        }
        if self.restart.val() {
            self.state.d.next = self.beginning.val();
        }
        self.crc.next = !self.state.q.val();
    }

    crate::block_name!();
}
