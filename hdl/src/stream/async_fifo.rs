// SPDX-License-Identifier: MIT OR Apache-2.0
//! From one clock to another: a FIFO of four words for a source that can't wait.
//!
//! ```text
//! write_clock:  s_data,s_valid ─► 4 registers        Gray pointer
//!                                     │                   │
//! read_clock:   m_data,m_valid ◄── choice    distance ◄── two flip-flops
//! ```
//!
//! A word a write cycle goes in, whatever the reader does: there is no ready. It is taken as soon as it is seen, three read cycles after it was written at most, so
//! nothing is lost while a read cycle is at most 4/3 of a write cycle, or the reader is the slower one by less than a word in a burst. Where it is lost after all,
//! `overrun` says so for one cycle, and what stands in the registers is dropped.
//! The registers are read while they stand still: only the pointer, of which one bit changes at a time, is looked at by the other clock.

use rust_hdl::prelude::*;

/// Four words of `D` bits. Latency 2 to 3 read cycles.
#[derive(LogicBlock)]
pub struct AsyncFifo<const D: usize> {
    pub write_clock: Signal<In, Clock>,
    pub s_data: Signal<In, Bits<D>>,
    pub s_valid: Signal<In, Bit>,
    pub read_clock: Signal<In, Clock>,
    /// Of the reading side. The writing side has none: its clock may stand still.
    pub reset: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<D>>,
    /// One cycle for each word: it must be taken.
    pub m_valid: Signal<Out, Bit>,
    pub overrun: Signal<Out, Bit>,
    word: [DFF<Bits<D>>; 4],
    written: DFF<Bits<3>>,
    gray: DFF<Bits<3>>,
    seen_1: DFF<Bits<3>>,
    seen_2: DFF<Bits<3>>,
    read: DFF<Bits<3>>,
    written_after: Signal<Local, Bits<3>>,
    arrived: Signal<Local, Bits<3>>,
    distance: Signal<Local, Bits<3>>,
    most: Constant<Bits<3>>,
}

impl<const D: usize> Default for AsyncFifo<D> {
    fn default() -> Self {
        Self {
            write_clock: Default::default(),
            s_data: Default::default(),
            s_valid: Default::default(),
            read_clock: Default::default(),
            reset: Default::default(),
            m_data: Default::default(),
            m_valid: Default::default(),
            overrun: Default::default(),
            word: Default::default(),
            written: Default::default(),
            gray: Default::default(),
            seen_1: Default::default(),
            seen_2: Default::default(),
            read: Default::default(),
            written_after: Default::default(),
            arrived: Default::default(),
            distance: Default::default(),
            most: Constant::new(4u64.to_bits()),
        }
    }
}

impl<const D: usize> Logic for AsyncFifo<D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, write_clock, written, gray);
        dff_setup!(self, read_clock, seen_1, seen_2, read);
        for i in 0..4 {
            self.word[i].clock.next = self.write_clock.val();
            self.word[i].d.next = self.word[i].q.val();
        }

        // The writing side.
        self.written_after.next = self.written.q.val() + 1;
        if self.s_valid.val() {
            for i in 0..4 {
                if self.written.q.val().get_bits::<2>(0).index() == i {
                    self.word[i].d.next = self.s_data.val();
                }
            }
            self.written.d.next = self.written_after.val();
            self.gray.d.next = self.written_after.val() ^ (self.written_after.val() >> 1);
        }

        // The reading side.
        self.seen_1.d.next = self.gray.q.val();
        self.seen_2.d.next = self.seen_1.q.val();
        self.arrived.next = self.seen_2.q.val() ^ (self.seen_2.q.val() >> 1) ^ (self.seen_2.q.val() >> 2);
        self.distance.next = self.arrived.val() - self.read.q.val();
        self.m_valid.next = false;
        self.overrun.next = false;
        if self.distance.val() > self.most.val() {
            self.overrun.next = true;
            self.read.d.next = self.arrived.val();
        } else {
            if self.distance.val().any() {
                self.m_valid.next = true;
                self.read.d.next = self.read.q.val() + 1;
            }
        }
        self.m_data.next = self.word[0].q.val();
        for i in 0..4 {
            if self.read.q.val().get_bits::<2>(0).index() == i {
                self.m_data.next = self.word[i].q.val();
            }
        }

        if self.reset.val() {
            self.m_valid.next = false;
            self.overrun.next = false;
            self.read.d.next = self.arrived.val();
        }
    }

    crate::block_name!("A FIFO between two clocks, for a source that can't wait");
}
