// SPDX-License-Identifier: MIT OR Apache-2.0
//! One 32-bit word of a completion or an event (`verbena_spec::layout::cqe`, `event`). Combinational.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;
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
    first: Signal<Local, Bits<32>>,
    second: Signal<Local, Bits<32>>,
    zero: Constant<Bits<32>>,
    datagram_mask: Constant<Bits<32>>,
    length_mask: Constant<Bits<32>>,
}

impl WordSelect {
    pub fn new(config: &Config) -> Self {
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
            first: Default::default(),
            second: Default::default(),
            zero: Constant::new(0.into()),
            // Word 2 is a length, at most that of all memory.
            length_mask: Constant::new(((config.address_mask() << 1 | 1) & 0xffff_ffff).to_bits()),
            // Word 4 is UD's alone.
            datagram_mask: Constant::new(if config.ud { u32::MAX as u64 } else { 0 }.to_bits()),
        }
    }
}

impl Logic for WordSelect {
    #[hdl_gen]
    fn update(&mut self) {
        self.first.next = self.word0.val();
        self.second.next = self.word1.val();
        if self.is_event.val() {
            self.first.next = self.event0.val();
            self.second.next = self.event1.val();
        }
        self.word.next = self.zero.val();
        match self.index.val().index() {
            0 => {
                self.word.next = self.first.val();
            }
            1 => {
                self.word.next = self.second.val();
            }
            2 => {
                self.word.next = self.word2.val() & self.length_mask.val();
                if self.is_event.val() {
                    self.word.next = self.zero.val();
                }
            }
            3 => {
                self.word.next = self.word3.val();
                if self.is_event.val() {
                    self.word.next = bit_cast::<32, 1>(self.phase.val().into()) << 31;
                }
            }
            4 => {
                self.word.next = self.word4.val() & self.datagram_mask.val();
            }
            7 => {
                self.word.next = bit_cast::<32, 1>(self.phase.val().into()) << 31;
            }
            _ => {
                self.word.next = self.zero.val();
            }
        }
    }

    crate::block_name!();
}
