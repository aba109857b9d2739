// SPDX-License-Identifier: MIT OR Apache-2.0
//! Skid buffer: the one breaker of long paths. Two registers, full throughput, valid, data and ready all registered.

use rust_hdl::prelude::*;

/// A register slice for `D` bits. Latency 1 cycle, one word a cycle.
#[derive(LogicBlock, Default)]
pub struct Skid<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<D>>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<D>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    front: DFF<Bits<D>>,
    front_valid: DFF<Bit>,
    side: DFF<Bits<D>>,
    side_valid: DFF<Bit>,
    push: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
}

impl<const D: usize> Logic for Skid<D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, front, front_valid, side, side_valid);

        self.s_ready.next = !self.side_valid.q.val();
        self.m_data.next = self.front.q.val();
        self.m_valid.next = self.front_valid.q.val();
        self.push.next = self.s_valid.val() & !self.side_valid.q.val();
        self.free.next = !self.front_valid.q.val() | self.m_ready.val();

        if self.free.val() {
            if self.side_valid.q.val() {
                self.front.d.next = self.side.q.val();
                self.front_valid.d.next = true;
                self.side_valid.d.next = false;
            } else {
                self.front.d.next = self.s_data.val();
                self.front_valid.d.next = self.push.val();
            }
        } else {
            if self.push.val() {
                self.side.d.next = self.s_data.val();
                self.side_valid.d.next = true;
            }
        }

        if self.reset.val() {
            self.front_valid.d.next = false;
            self.side_valid.d.next = false;
        }
    }

    crate::block_name!();
}
