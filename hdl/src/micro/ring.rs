// SPDX-License-Identifier: MIT OR Apache-2.0
//! The receive ring: frames as they come, with rollback, and a word that tells their lengths.
//!
//! ```text
//! records ─► words 5.. of a frame ──────────────► RAM ─► read_data
//! verdict ─► keep: word 0 := lengths, start := end │
//!            drop: back to start                   └─◄ read_address
//! ```
//!
//! Word 0 of a frame: [15:0] payload bytes, [31:16] word behind the frame. Words 1 to 4 are never written. A frame is there when `start` isn't the
//! released word. A frame that comes with fewer than 21 free words is dropped. As `rx::FrameRing` at one lane, but for word 0: it is written in the
//! third cycle after the frame's last beat, when the next frame has no record yet.

use crate::prim::SdpRam;
use rust_hdl::prelude::*;

/// 2^9 words of 32 bits.
#[derive(LogicBlock, Default)]
pub struct Ring {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<32>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    /// The verdict, and whether it is to keep the frame.
    pub decided: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    /// From the verdict until two cycles later.
    pub payload_length: Signal<In, Bits<14>>,
    /// With the verdict: the frame didn't fit.
    pub stuck: Signal<Out, Bit>,
    pub release_valid: Signal<In, Bit>,
    pub release_word: Signal<In, Bits<9>>,
    /// A frame waits.
    pub waiting: Signal<Out, Bit>,
    pub read_address: Signal<In, Bits<9>>,
    pub read_data: Signal<Out, Bits<32>>,
    ram: SdpRam<9, 32>,
    keep: DFF<Bit>,
    drop: DFF<Bit>,
    step: DFF<Bit>,
    start: DFF<Bits<9>>,
    at: DFF<Bits<9>>,
    /// Inverted, so that a plain sum gives the distance (inverted too).
    not_tail: DFF<Bits<9>>,
    not_room: DFF<Bits<9>>,
    stuck_before: DFF<Bit>,
    near: Signal<Local, Bit>,
    stuck_now: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    advance: Signal<Local, Bits<9>>,
    at_after: Signal<Local, Bits<9>>,
}

impl Logic for Ring {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, keep, drop, step, start, at, not_tail, not_room, stuck_before);
        clock!(self, clock, ram);

        self.keep.d.next = self.decided.val() & self.commit.val();
        self.drop.d.next = self.decided.val() & !self.commit.val();
        self.step.d.next = self.keep.q.val() | self.drop.q.val();

        // Distances below 16; 0 is an empty ring: `at` never reaches the tail.
        self.not_room.d.next = self.not_tail.q.val() + self.at.q.val();
        self.near.next = (self.not_room.q.val() | 15).all() & !self.not_room.q.val().all();
        self.stuck_now.next = self.stuck_before.q.val();
        if self.first.val() {
            self.stuck_now.next = self.near.val();
        }
        self.stuck.next = self.stuck_before.q.val();
        self.stuck_before.d.next = self.stuck_now.val() | (self.valid.val() & self.near.val());

        // After a verdict the next frame's words 0 to 4 are stepped over.
        self.advance.next = 1.into();
        if self.step.q.val() {
            self.advance.next = 5.into();
        }
        self.at_after.next = self.at.q.val() + self.advance.val();
        self.moves.next = self.valid.val() & !self.stuck_now.val();
        self.ram.write_enable.next = self.moves.val() | self.keep.q.val();
        self.ram.write_address.next = self.at.q.val();
        self.ram.write_data.next = self.data.val();
        if self.keep.q.val() {
            self.ram.write_address.next = self.start.q.val();
            self.ram.write_data.next = bit_cast::<32, 14>(self.payload_length.val()) | (bit_cast::<32, 9>(self.at.q.val()) << 16);
            self.start.d.next = self.at.q.val();
        }
        if self.moves.val() | self.step.q.val() {
            self.at.d.next = self.at_after.val();
        }
        if self.drop.q.val() {
            self.at.d.next = self.start.q.val();
        }
        if self.release_valid.val() {
            self.not_tail.d.next = !self.release_word.val();
        }
        self.waiting.next = self.start.q.val() != !self.not_tail.q.val();

        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.read_address.val();
        self.read_data.next = self.ram.read_data.val();

        if self.reset.val() {
            self.start.d.next = 0.into();
            self.at.d.next = 0.into();
            self.not_tail.d.next = 511.into();
            self.not_room.d.next = 511.into();
            self.keep.d.next = false;
            self.drop.d.next = false;
            self.stuck_before.d.next = false;
            self.step.d.next = true;
        }
    }

    crate::block_name!("Receive ring with rollback");
}
