// SPDX-License-Identifier: MIT OR Apache-2.0
//! One 32-bit word of a completion or an event (`verbena_spec::layout::cqe`, `event`). Combinational.

use rust_hdl::prelude::*;
use verbena_spec::layout::{cqe, event};

#[derive(LogicBlock)]
pub struct WordSelect {
    pub is_event: Signal<In, Bit>,
    pub index: Signal<In, Bits<3>>,
    pub phase: Signal<In, Bit>,
    pub word0: Signal<In, Bits<32>>,
    pub word1: Signal<In, Bits<32>>,
    pub word2: Signal<In, Bits<32>>,
    pub word3: Signal<In, Bits<32>>,
    pub word4: Signal<In, Bits<32>>,
    pub event0: Signal<In, Bits<32>>,
    pub event1: Signal<In, Bits<32>>,
    pub word: Signal<Out, Bits<32>>,
    zero: Constant<Bits<32>>,
}

impl Default for WordSelect {
    fn default() -> Self {
        assert_eq!(
            (cqe::PHASE.word, cqe::PHASE.low, event::PHASE.word, event::PHASE.low),
            (7, 31, 3, 31)
        );
        Self {
            is_event: Default::default(),
            index: Default::default(),
            phase: Default::default(),
            word0: Default::default(),
            word1: Default::default(),
            word2: Default::default(),
            word3: Default::default(),
            word4: Default::default(),
            event0: Default::default(),
            event1: Default::default(),
            word: Default::default(),
            zero: Constant::new(0.into()),
        }
    }
}

impl Logic for WordSelect {
    #[hdl_gen]
    fn update(&mut self) {
        self.word.next = self.zero.val();
        if self.is_event.val() {
            match self.index.val().index() {
                0 => {
                    self.word.next = self.event0.val();
                }
                1 => {
                    self.word.next = self.event1.val();
                }
                3 => {
                    self.word.next = bit_cast::<32, 1>(self.phase.val().into()) << 31;
                }
                _ => {
                    self.word.next = self.zero.val();
                }
            }
        } else {
            match self.index.val().index() {
                0 => {
                    self.word.next = self.word0.val();
                }
                1 => {
                    self.word.next = self.word1.val();
                }
                2 => {
                    self.word.next = self.word2.val();
                }
                3 => {
                    self.word.next = self.word3.val();
                }
                4 => {
                    self.word.next = self.word4.val();
                }
                7 => {
                    self.word.next = bit_cast::<32, 1>(self.phase.val().into()) << 31;
                }
                _ => {
                    self.word.next = self.zero.val();
                }
            }
        }
    }

    crate::block_name!();
}
