// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whole frames of two sources to the MAC, in turn, padded to 60 bytes (R20).
//!
//! ```text
//! s0 (RoCE) ─► byte mask ─┐
//!                         ├─► pad ─► register ─► m
//! s1 (host) ─► byte mask ─┘
//! ```
//!
//! Fair: after a frame the other source comes first. A source may offer a frame only when it can go on to its end without a pause. Bytes beyond `keep`
//! become zeros, so a pad holds nothing of an earlier frame. Latency 1 cycle, one beat a cycle.

use rust_hdl::prelude::*;

/// Bytes of the shortest frame, FCS not counted (R20).
pub const MIN_FRAME: usize = 60;

/// Arbiter and pad for beats of `W` bits, `K = W / 8` bytes.
#[derive(LogicBlock)]
pub struct Arbiter<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s0_data: Signal<In, Bits<W>>,
    pub s0_keep: Signal<In, Bits<K>>,
    pub s0_last: Signal<In, Bit>,
    pub s0_valid: Signal<In, Bit>,
    pub s0_ready: Signal<Out, Bit>,
    /// A register: its frame is under way. The choice is made by this and by `s1_valid`, which comes from a register too.
    pub s0_begun: Signal<In, Bit>,
    pub s1_data: Signal<In, Bits<W>>,
    pub s1_keep: Signal<In, Bits<K>>,
    pub s1_last: Signal<In, Bit>,
    pub s1_valid: Signal<In, Bit>,
    pub s1_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_keep: Signal<Out, Bits<K>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,

    data: DFF<Bits<W>>,
    keep: DFF<Bits<K>>,
    last: DFF<Bit>,
    valid: DFF<Bit>,
    /// A beat that came while the first waits: so nothing behind depends on `m_ready` of the same cycle.
    side_data: DFF<Bits<W>>,
    side_keep: DFF<Bits<K>>,
    side_last: DFF<Bit>,
    side_valid: DFF<Bit>,
    /// Inside a frame; its source, kept after it for the next turn.
    busy: DFF<Bit>,
    served: DFF<Bit>,
    padding: DFF<Bit>,
    /// Beats of the frame so far, up to one more than the shortest frame has.
    count: DFF<Bits<4>>,

    chosen: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    in_data: Signal<Local, Bits<W>>,
    in_keep: Signal<Local, Bits<K>>,
    in_last: Signal<Local, Bit>,
    in_valid: Signal<Local, Bit>,
    out_keep: Signal<Local, Bits<K>>,
    out_last: Signal<Local, Bit>,
    early: Signal<Local, Bit>,
    at_least: Signal<Local, Bit>,
    min_last: Constant<Bits<4>>,
    min_keep: Constant<Bits<K>>,
    keep_all: Constant<Bits<K>>,
    byte_mask: [Constant<Bits<W>>; K],
}

impl<const W: usize, const K: usize> Default for Arbiter<W, K> {
    fn default() -> Self {
        assert!(W == 8 * K && (K == 4 || K == 8), "Arbiter: W must be 8 * K, K 4 or 8");
        let min_last = (MIN_FRAME - 1) / K;
        let min_keep = (1u64 << (MIN_FRAME - min_last * K)) - 1;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s0_data: Default::default(),
            s0_keep: Default::default(),
            s0_last: Default::default(),
            s0_valid: Default::default(),
            s0_ready: Default::default(),
            s0_begun: Default::default(),
            s1_data: Default::default(),
            s1_keep: Default::default(),
            s1_last: Default::default(),
            s1_valid: Default::default(),
            s1_ready: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            data: Default::default(),
            keep: Default::default(),
            last: Default::default(),
            valid: Default::default(),
            side_data: Default::default(),
            side_keep: Default::default(),
            side_last: Default::default(),
            side_valid: Default::default(),
            busy: Default::default(),
            served: Default::default(),
            padding: Default::default(),
            count: Default::default(),
            chosen: Default::default(),
            free: Default::default(),
            in_data: Default::default(),
            in_keep: Default::default(),
            in_last: Default::default(),
            in_valid: Default::default(),
            out_keep: Default::default(),
            out_last: Default::default(),
            early: Default::default(),
            at_least: Default::default(),
            min_last: Constant::new((min_last as u64).to_bits()),
            min_keep: Constant::new(min_keep.to_bits()),
            keep_all: Constant::new(((1u64 << K) - 1).to_bits()),
            byte_mask: std::array::from_fn(|k| Constant::new((0xffu64 << (8 * k)).to_bits())),
        }
    }
}

impl<const W: usize, const K: usize> Logic for Arbiter<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, keep, last, valid, busy, served, padding, count, side_data, side_keep, side_last, side_valid);

        self.chosen.next = self.served.q.val();
        if !self.busy.q.val() {
            self.chosen.next = self.s1_valid.val() & (!self.s0_begun.val() | !self.served.q.val());
        }
        self.free.next = !self.side_valid.q.val();
        self.s0_ready.next = self.free.val() & !self.padding.q.val() & !self.chosen.val();
        self.s1_ready.next = self.free.val() & !self.padding.q.val() & self.chosen.val();

        self.in_keep.next = self.s0_keep.val();
        self.in_last.next = self.s0_last.val();
        self.in_valid.next = self.s0_valid.val();
        if self.chosen.val() {
            self.in_keep.next = self.s1_keep.val();
            self.in_last.next = self.s1_last.val();
            self.in_valid.next = self.s1_valid.val();
        }
        // A pad beat is one whose source keeps no byte.
        if self.padding.q.val() {
            self.in_keep.next = 0.into();
            self.in_last.next = true;
            self.in_valid.next = true;
        }
        self.in_data.next = 0.into();
        for i in 0..K {
            if self.in_keep.val().get_bit(i) {
                if self.chosen.val() {
                    self.in_data.next = self.in_data.val() | (self.s1_data.val() & self.byte_mask[i].val());
                } else {
                    self.in_data.next = self.in_data.val() | (self.s0_data.val() & self.byte_mask[i].val());
                }
            }
        }

        // R20: a frame that would end before its 60th byte goes on with zeros.
        self.early.next = self.count.q.val() < self.min_last.val();
        self.at_least.next = self.count.q.val() == self.min_last.val();
        self.out_last.next = self.in_last.val() & !self.early.val();
        self.out_keep.next = self.in_keep.val();
        if self.early.val() {
            self.out_keep.next = self.keep_all.val();
        }
        if self.at_least.val() {
            self.out_keep.next = self.in_keep.val() | self.min_keep.val();
        }
        if !self.valid.q.val() | self.m_ready.val() {
            self.valid.d.next = self.side_valid.q.val() | self.in_valid.val();
            self.data.d.next = self.in_data.val();
            self.last.d.next = self.out_last.val();
            self.keep.d.next = self.out_keep.val();
            if self.side_valid.q.val() {
                self.data.d.next = self.side_data.q.val();
                self.last.d.next = self.side_last.q.val();
                self.keep.d.next = self.side_keep.q.val();
            }
            self.side_valid.d.next = false;
        } else {
            if self.in_valid.val() {
                self.side_valid.d.next = true;
            }
        }
        if !self.side_valid.q.val() {
            self.side_data.d.next = self.in_data.val();
            self.side_last.d.next = self.out_last.val();
            self.side_keep.d.next = self.out_keep.val();
        }
        if self.free.val() {
            if self.in_valid.val() {
                self.busy.d.next = true;
                self.served.d.next = self.chosen.val();
                if self.early.val() | self.at_least.val() {
                    self.count.d.next = self.count.q.val() + 1;
                }
                if self.in_last.val() {
                    self.padding.d.next = self.early.val();
                    if !self.early.val() {
                        self.busy.d.next = false;
                        self.count.d.next = 0.into();
                    }
                }
            }
        }
        self.m_data.next = self.data.q.val();
        self.m_keep.next = self.keep.q.val();
        self.m_last.next = self.last.q.val();
        self.m_valid.next = self.valid.q.val();

        if self.reset.val() {
            self.valid.d.next = false;
            self.side_valid.d.next = false;
            self.busy.d.next = false;
            self.served.d.next = false;
            self.padding.d.next = false;
            self.count.d.next = 0.into();
        }
    }

    crate::block_name!();
}
