// SPDX-License-Identifier: MIT OR Apache-2.0
//! One word to several takers: over when all have taken it. A QP's state to Send and the READ responder, a QP's row to its keepers.
//!
//! ```text
//! s_valid ─► register a taker ─► m_valid[i]   until taken
//! s_ready ◄─ register: one cycle, when the last has taken it
//! ```
//!
//! The word goes to all as it is; `s_valid` holds until ready, and may be high again in the cycle after. What one taker does stands in no path of another.
//! Latency 1 cycle; ready 2 cycles after the last taker's.

use rust_hdl::prelude::*;

/// The split, for `N` takers.
#[derive(LogicBlock)]
pub struct Split<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_valid: [Signal<Out, Bit>; N],
    pub m_ready: [Signal<In, Bit>; N],
    /// Not yet taken.
    waits: [DFF<Bit>; N],
    open: DFF<Bit>,
    over: DFF<Bit>,
    rest: Signal<Local, Bit>,
}

impl<const N: usize> Default for Split<N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m_valid: std::array::from_fn(|_| Default::default()),
            m_ready: std::array::from_fn(|_| Default::default()),
            waits: std::array::from_fn(|_| Default::default()),
            open: Default::default(),
            over: Default::default(),
            rest: Default::default(),
        }
    }
}

impl<const N: usize> Logic for Split<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, open, over);
        self.rest.next = false;
        for i in 0..N {
            self.waits[i].clock.next = self.clock.val();
            self.waits[i].d.next = self.waits[i].q.val() & !self.m_ready[i].val();
            self.m_valid[i].next = self.waits[i].q.val();
            self.rest.next = self.rest.val() | self.waits[i].q.val();
        }
        self.s_ready.next = self.over.q.val();
        self.over.d.next = self.open.q.val() & !self.rest.val();
        self.open.d.next = self.open.q.val() & self.rest.val();
        if self.s_valid.val() & !self.open.q.val() & !self.over.q.val() {
            self.open.d.next = true;
            for i in 0..N {
                self.waits[i].d.next = true;
            }
        }
        if self.reset.val() {
            self.open.d.next = false;
            self.over.d.next = false;
            for i in 0..N {
                self.waits[i].d.next = false;
            }
        }
    }

    crate::block_name!();
}
