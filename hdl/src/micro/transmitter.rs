// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames from the core's memory to the MAC, a word a cycle.
//!
//! ```text
//! memory_data ─► swap (numbers) ─┬─► tx::FrameOut ─► m
//!                                └─► tx::WordIcrc ─┘
//! ```
//!
//! `start` gives words and how many of them are numbers; from the next cycle on the core's memory is read here (`hold`), until the last word has
//! been taken. The frame doesn't pause but for the MAC. The one RoCE frame below 60 bytes, a packet without extension headers and payload (58), gets
//! two more of zeros (R20).

use crate::tx::{FrameOut, WordIcrc};
use rust_hdl::prelude::*;
use verbena_spec::micro::map;

/// Frames from the core's memory to the MAC.
#[derive(LogicBlock)]
pub struct Transmitter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle, only while `ready`: [7:0] words, [12:8] words that are numbers.
    pub start: Signal<In, Bit>,
    pub command: Signal<In, Bits<13>>,
    pub ready: Signal<Out, Bit>,
    pub hold: Signal<Out, Bit>,
    pub memory_address: Signal<Out, Bits<9>>,
    pub memory_data: Signal<In, Bits<32>>,
    pub m_data: Signal<Out, Bits<32>>,
    pub m_keep: Signal<Out, Bits<4>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    frame_out: FrameOut<32, 4, 1>,
    icrc: WordIcrc,
    active: DFF<Bit>,
    /// The word at `at` stands at the memory's output.
    fetched: DFF<Bit>,
    at: DFF<Bits<9>>,
    left: DFF<Bits<8>>,
    numbers: DFF<Bits<5>>,
    /// 14 words: 58 bytes.
    short: DFF<Bit>,
    /// Number of the word in the packet, from 1 on; 15 for all behind.
    place: DFF<Bits<4>>,
    word: Signal<Local, Bits<32>>,
    taken: Signal<Local, Bit>,
    final_word: Signal<Local, Bit>,
    at_after: Signal<Local, Bits<9>>,
    origin: Constant<Bits<9>>,
}

impl Default for Transmitter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            command: Default::default(),
            ready: Default::default(),
            hold: Default::default(),
            memory_address: Default::default(),
            memory_data: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            frame_out: Default::default(),
            icrc: Default::default(),
            active: Default::default(),
            fetched: Default::default(),
            at: Default::default(),
            left: Default::default(),
            numbers: Default::default(),
            short: Default::default(),
            place: Default::default(),
            word: Default::default(),
            taken: Default::default(),
            final_word: Default::default(),
            at_after: Default::default(),
            origin: Constant::new((map::TX as u64).to_bits()),
        }
    }
}

impl Logic for Transmitter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, fetched, at, left, numbers, place, short);
        clock!(self, clock, frame_out, icrc);
        self.frame_out.reset.next = self.reset.val();

        self.word.next = self.memory_data.val();
        if self.numbers.q.val().any() {
            self.word.next = bit_cast::<32, 8>(self.memory_data.val().get_bits::<8>(24))
                | (bit_cast::<32, 8>(self.memory_data.val().get_bits::<8>(16)) << 8)
                | (bit_cast::<32, 8>(self.memory_data.val().get_bits::<8>(8)) << 16)
                | (bit_cast::<32, 8>(self.memory_data.val().get_bits::<8>(0)) << 24);
        }
        self.final_word.next = self.left.q.val() == 1;
        self.frame_out.s_data.next = self.word.val();
        self.frame_out.s_lane_valid.next = 1.into();
        self.frame_out.s_last.next = self.final_word.val();
        self.frame_out.s_valid.next = self.active.q.val() & self.fetched.q.val();
        self.taken.next = self.active.q.val() & self.fetched.q.val() & self.frame_out.s_ready.val();
        self.icrc.word.next = self.word.val();
        self.icrc.number.next = self.place.q.val();
        self.icrc.ipv6.next = false;
        self.icrc.restart.next = self.start.val();
        self.icrc.enable.next = self.taken.val() & (self.place.q.val() >= 5);
        self.frame_out.crc.next = self.icrc.crc.val();
        self.frame_out.crc_valid.next = true;
        self.m_data.next = self.frame_out.m_data.val();
        // Bytes that aren't kept stand still too.
        if !self.frame_out.m_keep.val().get_bit(2) {
            self.m_data.next = self.frame_out.m_data.val() & 0xffff;
        }
        self.m_keep.next = self.frame_out.m_keep.val();
        if self.short.q.val() {
            self.m_keep.next = 15.into();
        }
        self.m_last.next = self.frame_out.m_last.val();
        self.m_valid.next = self.frame_out.m_valid.val();
        self.frame_out.m_ready.next = self.m_ready.val();

        self.at_after.next = self.at.q.val() + 1;
        self.memory_address.next = self.at.q.val();
        if self.taken.val() {
            self.memory_address.next = self.at_after.val();
            self.at.d.next = self.at_after.val();
            self.left.d.next = self.left.q.val() - 1;
            if self.final_word.val() {
                self.active.d.next = false;
            }
            if self.numbers.q.val().any() {
                self.numbers.d.next = self.numbers.q.val() - 1;
            }
            if !self.place.q.val().all() {
                self.place.d.next = self.place.q.val() + 1;
            }
        }
        self.fetched.d.next = self.active.q.val();
        self.hold.next = self.active.q.val();
        self.ready.next = !self.active.q.val() & !self.frame_out.begun.val();
        if self.start.val() {
            self.active.d.next = true;
            self.fetched.d.next = false;
            self.at.d.next = self.origin.val();
            self.left.d.next = self.command.val().get_bits::<8>(0);
            self.numbers.d.next = self.command.val().get_bits::<5>(8);
            self.short.d.next = self.command.val().get_bits::<8>(0) == 14;
            self.place.d.next = 1.into();
        }
        if self.reset.val() {
            self.active.d.next = false;
            self.fetched.d.next = false;
        }
    }

    crate::block_name!("Frames from the core's memory to the MAC");
}
