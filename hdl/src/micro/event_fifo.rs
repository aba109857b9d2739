// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counter events that wait for the core: a FIFO of 4-bit codes in flip-flops.
//!
//! While a frame is sent no instruction goes on; the shortest frames that arrive meanwhile must still be counted. One more than `N` is lost: the sender
//! holds it (`s_ready`), as `rx::Verdict` does for two.

use rust_hdl::prelude::*;

/// `N` codes, `M = N - 1`; `C` bits count to `N`.
#[derive(LogicBlock)]
pub struct EventFifo<const N: usize, const M: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_code: Signal<In, Bits<4>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_code: Signal<Out, Bits<4>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    slot: [DFF<Bits<4>>; N],
    held: DFF<Bits<C>>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    free: Signal<Local, Bits<C>>,
    capacity: Constant<Bits<C>>,
}

impl<const N: usize, const M: usize, const C: usize> Default for EventFifo<N, M, C> {
    fn default() -> Self {
        assert!(N == M + 1 && N < 1 << C, "EventFifo: M must be N - 1, C bits must count to N");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_code: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            m_code: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            slot: std::array::from_fn(|_| Default::default()),
            held: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            free: Default::default(),
            capacity: Constant::new((N as u64).to_bits()),
        }
    }
}

impl<const N: usize, const M: usize, const C: usize> Logic for EventFifo<N, M, C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held);
        for i in 0..N {
            self.slot[i].clock.next = self.clock.val();
            self.slot[i].d.next = self.slot[i].q.val();
        }
        self.m_code.next = self.slot[0].q.val();
        self.m_valid.next = self.held.q.val().any();
        self.s_ready.next = self.held.q.val() != self.capacity.val();
        self.push.next = self.s_valid.val() & (self.held.q.val() != self.capacity.val());
        self.pop.next = self.m_ready.val() & self.held.q.val().any();
        // Where a new code goes, after a pop of the same cycle.
        self.free.next = self.held.q.val();
        if self.pop.val() {
            self.free.next = self.held.q.val() - 1;
            for i in 0..M {
                self.slot[i].d.next = self.slot[i + 1].q.val();
            }
        }
        self.held.d.next = self.free.val();
        if self.push.val() {
            self.held.d.next = self.free.val() + 1;
            for i in 0..N {
                if self.free.val().index() == i {
                    self.slot[i].d.next = self.s_code.val();
                }
            }
        }
        if self.reset.val() {
            self.held.d.next = 0.into();
        }
    }

    crate::block_name!("Counter events that wait");
}
