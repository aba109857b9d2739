// SPDX-License-Identifier: MIT OR Apache-2.0
//! Holds the records back until the verdict on the frame before is known, so that a frame's first write knows where to go.
//!
//! ```text
//! data, word, valid, first, zero, ipv6 ─► D registers ─►
//! ```

use rust_hdl::prelude::*;

/// `D` cycles for beats of `W` bits; none where the verdict comes before the next frame's first record.
#[derive(LogicBlock)]
pub struct Delay<const W: usize, const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_word: Signal<In, Bits<5>>,
    pub s_valid: Signal<In, Bit>,
    pub s_first: Signal<In, Bit>,
    pub s_zero: Signal<In, Bit>,
    pub s_ipv6: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_word: Signal<Out, Bits<5>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_first: Signal<Out, Bit>,
    pub m_zero: Signal<Out, Bit>,
    pub m_ipv6: Signal<Out, Bit>,
    data: [DFF<Bits<W>>; D],
    word: [DFF<Bits<5>>; D],
    valid: [DFF<Bit>; D],
    first: [DFF<Bit>; D],
    zero: [DFF<Bit>; D],
    ipv6: [DFF<Bit>; D],
}

impl<const W: usize, const D: usize> Default for Delay<W, D> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_word: Default::default(),
            s_valid: Default::default(),
            s_first: Default::default(),
            s_zero: Default::default(),
            s_ipv6: Default::default(),
            m_data: Default::default(),
            m_word: Default::default(),
            m_valid: Default::default(),
            m_first: Default::default(),
            m_zero: Default::default(),
            m_ipv6: Default::default(),
            data: std::array::from_fn(|_| Default::default()),
            word: std::array::from_fn(|_| Default::default()),
            valid: std::array::from_fn(|_| Default::default()),
            first: std::array::from_fn(|_| Default::default()),
            zero: std::array::from_fn(|_| Default::default()),
            ipv6: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<const W: usize, const D: usize> Logic for Delay<W, D> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..D {
            self.data[i].clock.next = self.clock.val();
            self.word[i].clock.next = self.clock.val();
            self.valid[i].clock.next = self.clock.val();
            self.first[i].clock.next = self.clock.val();
            self.zero[i].clock.next = self.clock.val();
            self.ipv6[i].clock.next = self.clock.val();
            self.data[i].d.next = self.s_data.val();
            self.word[i].d.next = self.s_word.val();
            self.valid[i].d.next = self.s_valid.val();
            self.first[i].d.next = self.s_first.val();
            self.zero[i].d.next = self.s_zero.val();
            self.ipv6[i].d.next = self.s_ipv6.val();
        }
        for i in 1..D {
            self.data[i].d.next = self.data[i - 1].q.val();
            self.word[i].d.next = self.word[i - 1].q.val();
            self.valid[i].d.next = self.valid[i - 1].q.val();
            self.first[i].d.next = self.first[i - 1].q.val();
            self.zero[i].d.next = self.zero[i - 1].q.val();
            self.ipv6[i].d.next = self.ipv6[i - 1].q.val();
        }
        // The last register is the output.
        self.m_data.next = self.s_data.val();
        self.m_word.next = self.s_word.val();
        self.m_valid.next = self.s_valid.val();
        self.m_first.next = self.s_first.val();
        self.m_zero.next = self.s_zero.val();
        self.m_ipv6.next = self.s_ipv6.val();
        for i in 0..D {
            self.m_data.next = self.data[i].q.val();
            self.m_word.next = self.word[i].q.val();
            self.m_valid.next = self.valid[i].q.val();
            self.m_first.next = self.first[i].q.val();
            self.m_zero.next = self.zero[i].q.val();
            self.m_ipv6.next = self.ipv6[i].q.val();
        }
        if self.reset.val() {
            for i in 0..D {
                self.valid[i].d.next = false;
                self.first[i].d.next = false;
                self.zero[i].d.next = false;
            }
        }
    }

    crate::block_name!();
}
