// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RoCE receive buffer: a ring of beats whose writer can take a frame back.
//!
//! ```text
//! record ─► RAM 2^BA beats (+ mark) ─► ring_reader
//!            ▲ start ─ at ──►        start := at on commit, else the next frame begins at start again
//!            tail ◄── release
//! ```
//!
//! A frame's beats stand at `start` + aligned beat number. An IPv4 frame's words 0-4 are not in it; at 64 bits its beat 0 is written as zeros with
//! the *mark*, which tells the reader that the beat after it is zeros too (there is one free cycle for two beats), and word 4 comes as zero from
//! `align`. At 32 bits words 0-4 are left as they are: that preset has no UD, which alone reads them (R70).
//! A frame that comes near the tail is `stuck`: it writes no more and can't be committed. Near is fewer than 16 beats, by a distance that is one cycle
//! old (64 bits: two), so the one beat that may be on its way when the verdict falls still fits. After a frame that was taken back the next may see its distance.
//! 64 bits: records are registered here once more, since the verdict is too: the first of a frame must come no sooner than the cycle after the
//! verdict on the frame before. 32 bits: no sooner than 3 cycles after it, and no record comes between; `at` steps over words 0-4 in that time.
//! `frame_beat` and `end_beat` hold 2 cycles after the verdict. The read port needs one cycle. Writer and reader never meet: who reads asks for
//! committed beats, and what is written isn't committed.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// Fewer free beats than this are near the tail; a power of two. More than a frame can go on by before it is stopped, and than an IPv4 frame skips.
const LEAST_ROOM: u64 = 16;

/// `W` data bits, `L` words, `2^BA` beats, `RD` RAM bits: `W + 1` at 64 bits, `W` at 32.
#[derive(LogicBlock)]
pub struct FrameRing<const W: usize, const L: usize, const BA: usize, const RD: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub zero: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    /// The verdict, and whether it is to keep the frame.
    pub decided: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    /// With the verdict: the frame didn't fit.
    pub stuck: Signal<Out, Bit>,
    /// After a commit: where the frame begins, and the beat after it.
    pub frame_beat: Signal<Out, Bits<BA>>,
    pub end_beat: Signal<Out, Bits<BA>>,
    pub release_valid: Signal<In, Bit>,
    pub release_beat: Signal<In, Bits<BA>>,
    pub read_enable: Signal<In, Bit>,
    pub read_address: Signal<In, Bits<BA>>,
    pub read_data: Signal<Out, Bits<RD>>,
    ram: SplitRam<BA, RD>,
    record: DFF<Bits<W>>,
    record_valid: DFF<Bit>,
    record_first: DFF<Bit>,
    record_zero: DFF<Bit>,
    starts: DFF<Bit>,
    keep: DFF<Bit>,
    drop: DFF<Bit>,
    start: DFF<Bits<BA>>,
    at: DFF<Bits<BA>>,
    /// Inverted, so that a plain sum gives the distance (inverted too).
    not_tail: DFF<Bits<BA>>,
    frame: DFF<Bits<BA>>,
    not_room: DFF<Bits<BA>>,
    stuck_before: DFF<Bit>,
    near_before: DFF<Bit>,
    near_now: Signal<Local, Bit>,
    near: Signal<Local, Bit>,
    step: DFF<Bit>,
    step_now: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    valid_now: Signal<Local, Bit>,
    zero_now: Signal<Local, Bit>,
    first_now: Signal<Local, Bit>,
    starts_now: Signal<Local, Bit>,
    data_now: Signal<Local, Bits<W>>,
    skip: Signal<Local, Bits<BA>>,
    advance: Signal<Local, Bits<BA>>,
    at_after: Signal<Local, Bits<BA>>,
    stuck_now: Signal<Local, Bit>,
    one: Constant<Bits<BA>>,
    ipv4_beat: Constant<Bits<BA>>,
    after_ipv4_beat: Constant<Bits<BA>>,
    /// Distances below `LEAST_ROOM`.
    below_least: Constant<Bits<BA>>,
    ones: Constant<Bits<BA>>,
    mark: Constant<Bits<RD>>,
}

impl<const W: usize, const L: usize, const BA: usize, const RD: usize> Default for FrameRing<W, L, BA, RD> {
    fn default() -> Self {
        assert!(
            RD == W + L - 1 && (L == 1 || L == 2),
            "FrameRing: RD must be W + 1 at two lanes, W at one"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            data: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            zero: Default::default(),
            ipv6: Default::default(),
            decided: Default::default(),
            commit: Default::default(),
            stuck: Default::default(),
            frame_beat: Default::default(),
            end_beat: Default::default(),
            release_valid: Default::default(),
            release_beat: Default::default(),
            read_enable: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            ram: Default::default(),
            record: Default::default(),
            record_valid: Default::default(),
            record_first: Default::default(),
            record_zero: Default::default(),
            starts: Default::default(),
            keep: Default::default(),
            drop: Default::default(),
            start: Default::default(),
            at: Default::default(),
            not_tail: Default::default(),
            frame: Default::default(),
            not_room: Default::default(),
            stuck_before: Default::default(),
            near_before: Default::default(),
            near_now: Default::default(),
            near: Default::default(),
            step: Default::default(),
            step_now: Default::default(),
            moves: Default::default(),
            valid_now: Default::default(),
            zero_now: Default::default(),
            first_now: Default::default(),
            starts_now: Default::default(),
            data_now: Default::default(),
            skip: Default::default(),
            advance: Default::default(),
            at_after: Default::default(),
            stuck_now: Default::default(),
            one: Constant::new(1u64.to_bits()),
            ipv4_beat: Constant::new(((5 / L) as u64).to_bits()),
            after_ipv4_beat: Constant::new(((5 / L + 1) as u64).to_bits()),
            below_least: Constant::new((LEAST_ROOM - 1).to_bits()),
            ones: Constant::new(((1u64 << BA) - 1).to_bits()),
            mark: Constant::new(if L == 2 { (1u128 << W).to_bits() } else { 0u64.to_bits() }),
        }
    }
}

impl<const W: usize, const L: usize, const BA: usize, const RD: usize> Logic for FrameRing<W, L, BA, RD> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            record,
            record_valid,
            record_first,
            record_zero,
            starts,
            keep,
            drop,
            start,
            at,
            not_tail,
            frame,
            not_room,
            stuck_before,
            near_before,
            step
        );
        clock!(self, clock, ram);

        self.record.d.next = self.data.val();
        self.record_valid.d.next = self.valid.val();
        self.record_first.d.next = self.first.val() & !self.ipv6.val();
        self.record_zero.d.next = self.zero.val();
        self.starts.d.next = self.first.val() | self.zero.val();
        self.keep.d.next = self.decided.val() & self.commit.val();
        self.drop.d.next = self.decided.val() & !self.commit.val();
        self.step.d.next = self.keep.q.val() | self.drop.q.val();
        self.step_now.next = false;
        for _i in L..2 {
            self.step_now.next = self.step.q.val();
        }
        self.data_now.next = self.data.val();
        self.valid_now.next = self.valid.val();
        self.first_now.next = false;
        self.zero_now.next = false;
        self.starts_now.next = self.first.val();
        for _i in 1..L {
            self.data_now.next = self.record.q.val();
            self.valid_now.next = self.record_valid.q.val();
            self.first_now.next = self.record_first.q.val();
            self.zero_now.next = self.record_zero.q.val();
            self.starts_now.next = self.starts.q.val();
        }

        // 64 bits: between frames `at` is `start`. A distance of 0 is an empty ring: `at` never reaches the tail.
        self.not_room.d.next = self.not_tail.q.val() + self.at.q.val();
        self.near_now.next = (self.not_room.q.val() | self.below_least.val()).all() & !self.not_room.q.val().all();
        self.near_before.d.next = self.near_now.val();
        self.near.next = self.near_now.val();
        for _i in 1..L {
            self.near.next = self.near_before.q.val();
        }
        self.stuck_now.next = self.stuck_before.q.val();
        if self.starts_now.val() {
            self.stuck_now.next = self.near.val();
        }
        self.stuck.next = self.stuck_before.q.val();

        // An IPv4 frame steps over its first beats: with its first record, or (32 bits) before it comes.
        self.skip.next = 0.into();
        self.advance.next = self.one.val();
        if self.step_now.val() {
            self.advance.next = self.ipv4_beat.val();
        }
        if self.first_now.val() {
            self.skip.next = self.ipv4_beat.val();
            self.advance.next = self.after_ipv4_beat.val();
        }
        self.at_after.next = self.at.q.val() + self.advance.val();
        // The record beside a commit belongs to a frame that was found to fit.
        self.moves.next = self.valid_now.val() & (!self.stuck_now.val() | self.keep.q.val());
        self.ram.write_enable.next = self.moves.val() | (self.zero_now.val() & (!self.stuck_now.val() | self.keep.q.val()));
        self.ram.write_address.next = self.at.q.val() + self.skip.val();
        self.ram.write_data.next = bit_cast::<RD, W>(self.data_now.val());
        if self.zero_now.val() {
            self.ram.write_data.next = self.mark.val();
        }

        self.stuck_before.d.next = self.stuck_now.val() | (self.valid_now.val() & self.near.val());
        if self.moves.val() | self.step_now.val() {
            self.at.d.next = self.at_after.val();
        }
        if self.keep.q.val() {
            self.frame.d.next = self.start.q.val();
            self.start.d.next = self.at.q.val();
            for _i in 1..L {
                if self.record_valid.q.val() {
                    self.start.d.next = self.at_after.val();
                }
            }
        }
        if self.drop.q.val() {
            self.at.d.next = self.start.q.val();
        }
        if self.release_valid.val() {
            self.not_tail.d.next = !self.release_beat.val();
        }
        self.frame_beat.next = self.frame.q.val();
        self.end_beat.next = self.start.q.val();

        self.ram.read_enable.next = self.read_enable.val();
        self.ram.read_address.next = self.read_address.val();
        self.read_data.next = self.ram.read_data.val();

        if self.reset.val() {
            self.start.d.next = 0.into();
            self.at.d.next = 0.into();
            self.not_tail.d.next = self.ones.val();
            self.not_room.d.next = self.ones.val();
            self.record_valid.d.next = false;
            self.record_zero.d.next = false;
            self.keep.d.next = false;
            self.drop.d.next = false;
            self.stuck_before.d.next = false;
            self.near_before.d.next = false;
            self.step.d.next = true;
        }
    }

    crate::block_name!();
}
