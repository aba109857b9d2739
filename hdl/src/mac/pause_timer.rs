// SPDX-License-Identifier: MIT OR Apache-2.0
//! Time that a pause frame asks for: a quantum is 512 bits, 8 cycles.

use rust_hdl::prelude::*;

/// `stop` from the cycle after `load` on, for `quanta` × 8 cycles; a new load replaces the old one, 0 ends it.
#[derive(LogicBlock, Default)]
pub struct PauseTimer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub quanta: Signal<In, Bits<16>>,
    pub enable: Signal<In, Bit>,
    pub stop: Signal<Out, Bit>,
    left: DFF<Bits<19>>,
    running: Signal<Local, Bit>,
}

impl Logic for PauseTimer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, left);

        self.running.next = self.left.q.val().any();
        if self.running.val() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.load.val() & self.enable.val() {
            self.left.d.next = bit_cast::<19, 16>(self.quanta.val()) << 3;
        }
        self.stop.next = self.running.val();

        if self.reset.val() {
            self.left.d.next = 0.into();
        }
    }

    crate::block_name!();
}
