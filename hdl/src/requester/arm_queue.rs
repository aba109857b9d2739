// SPDX-License-Identifier: MIT OR Apache-2.0
//! QPs whose timers are to run: up to two, each 8 cycles after its packet's turn (R47).
//!
//! ```text
//! push, index ─► first ─► (8 cycles) ─► arm
//!           └─► second ─┘
//! ```
//!
//! The highest PSN stands in the row 4 cycles after the turn's end, and up to 4 after having read it Complete asks for the timer. The arm comes
//! later still: else it finds the timer running, and Complete, that hasn't seen the packet, turns it off.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ArmQueue<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle; never while `two`.
    pub push: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    /// Two wait.
    pub two: Signal<Out, Bit>,
    pub arm_valid: Signal<Out, Bit>,
    pub arm_index: Signal<Out, Bits<QA>>,
    pub arm_ready: Signal<In, Bit>,
    arming: DFF<Bit>,
    more: DFF<Bit>,
    pause: DFF<Bits<4>>,
    first: DFF<Bits<QA>>,
    second: DFF<Bits<QA>>,
    taken: Signal<Local, Bit>,
    offers: Signal<Local, Bit>,
}

impl<const QA: usize> Logic for ArmQueue<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, arming, more, pause, first, second);
        self.offers.next = self.arming.q.val() & !self.pause.q.val().any();
        self.taken.next = self.offers.val() & self.arm_ready.val();
        if self.pause.q.val().any() {
            self.pause.d.next = self.pause.q.val() - 1;
        }
        if self.taken.val() {
            self.arming.d.next = self.more.q.val();
            self.first.d.next = self.second.q.val();
            self.more.d.next = false;
        }
        if self.push.val() {
            self.pause.d.next = 8.into();
            if self.arming.q.val() & !self.taken.val() {
                self.more.d.next = true;
                self.second.d.next = self.index.val();
            } else {
                self.arming.d.next = true;
                self.first.d.next = self.index.val();
            }
        }
        self.two.next = self.more.q.val();
        self.arm_valid.next = self.offers.val();
        self.arm_index.next = self.first.q.val();

        if self.reset.val() {
            self.arming.d.next = false;
            self.more.d.next = false;
            self.pause.d.next = 0.into();
        }
    }

    crate::block_name!();
}
