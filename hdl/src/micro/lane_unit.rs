// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes of a word: moved, cut, and put into another. Combinational.
//!
//! ```text
//! word ─► rotate right by `turn` bytes ─┬─► bytes 0 to `size`            ─► x
//!                                       └─► bytes chosen, others of base ─► merged
//! ```
//!
//! `merged` takes bytes `first` to `first + size`, going round, or with `upper` all from byte `first` on.

use rust_hdl::prelude::*;

/// 32 bits.
#[derive(LogicBlock, Default)]
pub struct LaneUnit {
    pub word: Signal<In, Bits<32>>,
    pub turn: Signal<In, Bits<2>>,
    pub size: Signal<In, Bits<2>>,
    pub whole: Signal<In, Bit>,
    pub base: Signal<In, Bits<32>>,
    pub first: Signal<In, Bits<2>>,
    pub upper: Signal<In, Bit>,
    pub rotated: Signal<Out, Bits<32>>,
    pub x: Signal<Out, Bits<32>>,
    pub merged: Signal<Out, Bits<32>>,
    moved: Signal<Local, Bits<32>>,
    taken: Signal<Local, Bits<4>>,
    kept: Signal<Local, Bits<4>>,
    keep_mask: Signal<Local, Bits<32>>,
    take_mask: Signal<Local, Bits<32>>,
}

impl Logic for LaneUnit {
    #[hdl_gen]
    fn update(&mut self) {
        self.moved.next = self.word.val();
        match self.turn.val().index() {
            1 => {
                self.moved.next = (self.word.val() >> 8) | (self.word.val() << 24);
            }
            2 => {
                self.moved.next = (self.word.val() >> 16) | (self.word.val() << 16);
            }
            3 => {
                self.moved.next = (self.word.val() >> 24) | (self.word.val() << 8);
            }
            _ => {}
        }
        self.rotated.next = self.moved.val();

        self.kept.next = 1.into();
        if (self.size.val().get_bit(0)) | self.size.val().get_bit(1) {
            self.kept.next = 3.into();
        }
        if self.size.val().get_bit(1) {
            self.kept.next = 7.into();
        }
        if self.whole.val() | (self.size.val().get_bit(0) & self.size.val().get_bit(1)) {
            self.kept.next = 15.into();
        }

        self.taken.next = 0.into();
        if self.upper.val() {
            match self.first.val().index() {
                0 => {
                    self.taken.next = 15.into();
                }
                1 => {
                    self.taken.next = 14.into();
                }
                2 => {
                    self.taken.next = 12.into();
                }
                _ => {
                    self.taken.next = 8.into();
                }
            }
        } else {
            match self.first.val().index() {
                0 => {
                    self.taken.next = self.kept.val();
                }
                1 => {
                    self.taken.next = (self.kept.val() << 1) | (self.kept.val() >> 3);
                }
                2 => {
                    self.taken.next = (self.kept.val() << 2) | (self.kept.val() >> 2);
                }
                _ => {
                    self.taken.next = (self.kept.val() << 3) | (self.kept.val() >> 1);
                }
            }
        }

        self.keep_mask.next = 0.into();
        self.take_mask.next = 0.into();
        if self.kept.val().get_bit(0) {
            self.keep_mask.next = self.keep_mask.val() | 0xff;
        }
        if self.kept.val().get_bit(1) {
            self.keep_mask.next = self.keep_mask.val() | 0xff00;
        }
        if self.kept.val().get_bit(2) {
            self.keep_mask.next = self.keep_mask.val() | 0xff0000;
        }
        if self.kept.val().get_bit(3) {
            self.keep_mask.next = self.keep_mask.val() | 0xff000000_u64;
        }
        if self.taken.val().get_bit(0) {
            self.take_mask.next = self.take_mask.val() | 0xff;
        }
        if self.taken.val().get_bit(1) {
            self.take_mask.next = self.take_mask.val() | 0xff00;
        }
        if self.taken.val().get_bit(2) {
            self.take_mask.next = self.take_mask.val() | 0xff0000;
        }
        if self.taken.val().get_bit(3) {
            self.take_mask.next = self.take_mask.val() | 0xff000000_u64;
        }
        self.x.next = self.moved.val() & self.keep_mask.val();
        self.merged.next = (self.moved.val() & self.take_mask.val()) | (self.base.val() & !self.take_mask.val());
    }

    crate::block_name!("Bytes of a word: moved, cut, merged");
}
