// SPDX-License-Identifier: MIT OR Apache-2.0
//! Return addresses: a shift register of `N`.
//!
//! A push beyond `N` forgets the oldest. Push and pop are one cycle long; never both.

use rust_hdl::prelude::*;

/// `N` addresses of `A` bits, `M = N - 1`.
#[derive(LogicBlock)]
pub struct Stack<const A: usize, const N: usize, const M: usize> {
    pub clock: Signal<In, Clock>,
    pub push: Signal<In, Bit>,
    pub pop: Signal<In, Bit>,
    pub address: Signal<In, Bits<A>>,
    pub top: Signal<Out, Bits<A>>,
    level: [DFF<Bits<A>>; N],
}

impl<const A: usize, const N: usize, const M: usize> Default for Stack<A, N, M> {
    fn default() -> Self {
        assert_eq!(N, M + 1, "Stack: M must be N - 1");
        Self {
            clock: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            address: Default::default(),
            top: Default::default(),
            level: std::array::from_fn(|_| Default::default()),
        }
    }
}

impl<const A: usize, const N: usize, const M: usize> Logic for Stack<A, N, M> {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..N {
            self.level[i].clock.next = self.clock.val();
            self.level[i].d.next = self.level[i].q.val();
        }
        self.top.next = self.level[0].q.val();
        for i in 0..M {
            if self.pop.val() {
                self.level[i].d.next = self.level[i + 1].q.val();
            }
            if self.push.val() {
                self.level[i + 1].d.next = self.level[i].q.val();
            }
        }
        // What is popped goes to the end, as in a ring: no value of its own is needed there.
        for i in M..N {
            if self.pop.val() {
                self.level[i].d.next = self.level[0].q.val();
            }
        }
        if self.push.val() {
            self.level[0].d.next = self.address.val();
        }
    }

    crate::block_name!("Return addresses");
}
