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
//! A frame that meets the tail is `stuck`: it writes no more and can't be committed. One beat stays free. Records must come no sooner
//! than the cycle after the verdict on the frame before. The read port needs one cycle.

use crate::prim::SdpRam;
use rust_hdl::prelude::*;

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
    /// The verdict: keep the frame.
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
    ram: SdpRam<BA, RD>,
    start: DFF<Bits<BA>>,
    at: DFF<Bits<BA>>,
    tail: DFF<Bits<BA>>,
    frame: DFF<Bits<BA>>,
    stuck_before: DFF<Bit>,
    at_now: Signal<Local, Bits<BA>>,
    at_after: Signal<Local, Bits<BA>>,
    free: Signal<Local, Bits<BA>>,
    few: Signal<Local, Bit>,
    full: Signal<Local, Bit>,
    stuck_now: Signal<Local, Bit>,
    write: Signal<Local, Bit>,
    one: Constant<Bits<BA>>,
    ipv4_beat: Constant<Bits<BA>>,
    least_free: Constant<Bits<BA>>,
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
            start: Default::default(),
            at: Default::default(),
            tail: Default::default(),
            frame: Default::default(),
            stuck_before: Default::default(),
            at_now: Default::default(),
            at_after: Default::default(),
            free: Default::default(),
            few: Default::default(),
            full: Default::default(),
            stuck_now: Default::default(),
            write: Default::default(),
            one: Constant::new(1u64.to_bits()),
            ipv4_beat: Constant::new(((5 / L) as u64).to_bits()),
            least_free: Constant::new(8u64.to_bits()),
            mark: Constant::new(if L == 2 { (1u128 << W).to_bits() } else { 0u64.to_bits() }),
        }
    }
}

impl<const W: usize, const L: usize, const BA: usize, const RD: usize> Logic for FrameRing<W, L, BA, RD> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, start, at, tail, frame, stuck_before);
        clock!(self, clock, ram);

        self.at_now.next = self.at.q.val();
        self.stuck_now.next = self.stuck_before.q.val();
        // An IPv4 frame steps over its first beats, so the tail must not be among them.
        self.free.next = self.tail.q.val() - self.start.q.val() - self.one.val();
        self.few.next = self.free.val() < self.least_free.val();
        if self.first.val() {
            self.at_now.next = self.start.q.val();
            if !self.ipv6.val() {
                self.at_now.next = self.start.q.val() + self.ipv4_beat.val();
            }
            self.stuck_now.next = self.few.val();
        }
        if self.zero.val() {
            self.at_now.next = self.start.q.val();
            self.stuck_now.next = false;
        }
        self.at_after.next = self.at_now.val() + self.one.val();
        self.full.next = self.at_after.val() == self.tail.q.val();
        self.write.next = (self.valid.val() | self.zero.val()) & !self.full.val() & !self.stuck_now.val();
        self.stuck.next = self.stuck_now.val() | (self.valid.val() & self.full.val());
        self.stuck_before.d.next = self.stuck_now.val() | (self.valid.val() & self.full.val());
        if self.valid.val() | self.zero.val() {
            self.at.d.next = self.at_after.val();
        }

        self.ram.write_enable.next = self.write.val();
        self.ram.write_address.next = self.at_now.val();
        self.ram.write_data.next = bit_cast::<RD, W>(self.data.val());
        if self.zero.val() {
            self.ram.write_data.next = self.mark.val();
        }

        if self.commit.val() {
            self.frame.d.next = self.start.q.val();
            self.start.d.next = self.at.q.val();
            if self.valid.val() {
                self.start.d.next = self.at_after.val();
            }
        }
        if self.release_valid.val() {
            self.tail.d.next = self.release_beat.val();
        }
        self.frame_beat.next = self.frame.q.val();
        self.end_beat.next = self.start.q.val();

        self.ram.read_enable.next = self.read_enable.val();
        self.ram.read_address.next = self.read_address.val();
        self.read_data.next = self.ram.read_data.val();

        if self.reset.val() {
            self.start.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.stuck_before.d.next = false;
        }
    }

    crate::block_name!();
}
