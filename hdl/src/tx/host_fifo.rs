// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's own Ethernet frames, held until they are whole.
//!
//! ```text
//! s_host ─► checks ─► RAM 2^A beats:  read ... commit ... write
//!                          │            └─ whole frames ─┘└ the frame that is coming in: dropped by write := commit
//!                          └──────────► output register ─► m
//! ```
//!
//! The reader sees a frame only once it is whole, so it never starves. A frame longer than `M` beats, or with a `keep` that isn't contiguous (all
//! ones but on the last beat), is dropped. Exactly one event a frame: TX_HOST or TX_HOST_DROPPED. Data and `keep` pass unchanged; bit 0 of
//! `keep` is always 1 and not stored. Latency: 4 cycles from the last beat. One beat a cycle, one pause after each frame until its event is taken.
//! Limits: `M` below 2^A - 2.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::counters;

/// FIFO of `2^A` beats of `W` bits and `K` bytes; `D = W + K`, `B = A + 1`, `M` the longest frame in beats.
#[derive(LogicBlock)]
pub struct HostFifo<const W: usize, const K: usize, const D: usize, const A: usize, const B: usize, const M: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_keep: Signal<In, Bits<K>>,
    pub s_last: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_keep: Signal<Out, Bits<K>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,

    ram: SplitRam<A, D>,
    write: DFF<Bits<B>>,
    commit: DFF<Bits<B>>,
    read: DFF<Bits<B>>,
    out_valid: DFF<Bit>,
    /// The frame coming in is dropped.
    broken: DFF<Bit>,
    /// It has `M` beats already.
    complete: DFF<Bit>,
    /// Room for one beat more at least, whatever came in the cycle before, isn't sure.
    tight: DFF<Bit>,
    event_due: DFF<Bit>,
    dropped: DFF<Bit>,

    used: Signal<Local, Bits<B>>,
    length: Signal<Local, Bits<B>>,
    keep_hole: Signal<Local, Bits<K>>,
    wrong: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    nearly_full: Constant<Bits<B>>,
    longest_but_one: Constant<Bits<B>>,
    keep_all: Constant<Bits<K>>,
    keep_one: Constant<Bits<K>>,
    data_at: Constant<Bits<7>>,
    tx_host: Constant<Bits<6>>,
    tx_host_dropped: Constant<Bits<6>>,
}

impl<const W: usize, const K: usize, const D: usize, const A: usize, const B: usize, const M: usize> Default
    for HostFifo<W, K, D, A, B, M>
{
    fn default() -> Self {
        assert!(W == 8 * K && D == W + K && B == A + 1, "HostFifo: W = 8 * K, D = W + K, B = A + 1");
        assert!(M + 2 < 1 << A, "HostFifo: the longest frame must fit");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_last: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            ram: Default::default(),
            write: Default::default(),
            commit: Default::default(),
            read: Default::default(),
            out_valid: Default::default(),
            broken: Default::default(),
            complete: Default::default(),
            tight: Default::default(),
            event_due: Default::default(),
            dropped: Default::default(),
            used: Default::default(),
            length: Default::default(),
            keep_hole: Default::default(),
            wrong: Default::default(),
            accept: Default::default(),
            fetch: Default::default(),
            nearly_full: Constant::new(((1u64 << A) - 2).to_bits()),
            longest_but_one: Constant::new((M as u64 - 1).to_bits()),
            keep_all: Constant::new(((1u64 << K) - 1).to_bits()),
            keep_one: Constant::new(1u64.to_bits()),
            data_at: Constant::new((K as u64).to_bits()),
            tx_host: Constant::new((counters::TX_HOST as u64).to_bits()),
            tx_host_dropped: Constant::new((counters::TX_HOST_DROPPED as u64).to_bits()),
        }
    }
}

impl<const W: usize, const K: usize, const D: usize, const A: usize, const B: usize, const M: usize> Logic for HostFifo<W, K, D, A, B, M> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, write, commit, read, out_valid, broken, complete, tight, event_due, dropped);
        clock!(self, clock, ram);

        // In.
        self.used.next = self.write.q.val() - self.read.q.val();
        self.length.next = self.write.q.val() - self.commit.q.val();
        self.tight.d.next = self.used.val() >= self.nearly_full.val();
        self.s_ready.next = !self.tight.q.val() & !self.event_due.q.val();
        self.accept.next = self.s_valid.val() & !self.tight.q.val() & !self.event_due.q.val();
        // A kept byte after one that isn't.
        self.keep_hole.next = (self.s_keep.val() >> 1) & !self.s_keep.val();
        self.wrong.next = self.broken.q.val() | self.complete.q.val();
        if self.s_last.val() {
            if self.keep_hole.val().any() | !self.s_keep.val().get_bit(0) {
                self.wrong.next = true;
            }
        } else {
            if self.s_keep.val() != self.keep_all.val() {
                self.wrong.next = true;
            }
        }
        self.ram.write_enable.next = self.accept.val();
        self.ram.write_address.next = self.write.q.val().get_bits::<A>(0);
        // The row: last in bit 0, the other bits of keep, data.
        self.ram.write_data.next = (bit_cast::<D, W>(self.s_data.val()) << self.data_at.val())
            | bit_cast::<D, K>(self.s_keep.val().replace_bit(0, self.s_last.val()));
        if self.accept.val() {
            self.write.d.next = self.write.q.val() + 1;
            self.broken.d.next = self.wrong.val();
            self.complete.d.next = self.length.val() == self.longest_but_one.val();
            if self.s_last.val() {
                self.broken.d.next = false;
                self.complete.d.next = false;
                self.event_due.d.next = true;
                self.dropped.d.next = self.wrong.val();
            }
        }
        // A cycle after the bad beat, so that the checks aren't in the pointer's way.
        if self.broken.q.val() | (self.event_due.q.val() & self.dropped.q.val()) {
            self.write.d.next = self.commit.q.val();
        }
        // The cycle after a good frame's last beat; none is accepted then.
        if self.event_due.q.val() & !self.dropped.q.val() {
            self.commit.d.next = self.write.q.val();
        }
        self.event_valid.next = self.event_due.q.val();
        self.event_code.next = self.tx_host.val();
        if self.dropped.q.val() {
            self.event_code.next = self.tx_host_dropped.val();
        }
        if self.event_due.q.val() & self.event_ready.val() {
            self.event_due.d.next = false;
        }

        // Out: the RAM's own output register, filled while whole frames are there.
        self.fetch.next = (self.read.q.val() != self.commit.q.val()) & (!self.out_valid.q.val() | self.m_ready.val());
        self.ram.read_enable.next = self.fetch.val();
        self.ram.read_address.next = self.read.q.val().get_bits::<A>(0);
        if self.fetch.val() {
            self.read.d.next = self.read.q.val() + 1;
            self.out_valid.d.next = true;
        } else {
            if self.m_ready.val() {
                self.out_valid.d.next = false;
            }
        }
        self.m_data.next = bit_cast::<W, D>(self.ram.read_data.val() >> self.data_at.val());
        self.m_last.next = self.ram.read_data.val().get_bit(0);
        self.m_keep.next = self.ram.read_data.val().get_bits::<K>(0) | self.keep_one.val();
        self.m_valid.next = self.out_valid.q.val();

        if self.reset.val() {
            self.write.d.next = 0.into();
            self.commit.d.next = 0.into();
            self.read.d.next = 0.into();
            self.out_valid.d.next = false;
            self.broken.d.next = false;
            self.complete.d.next = false;
            self.tight.d.next = false;
            self.event_due.d.next = false;
        }
    }

    crate::block_name!();
}
