// SPDX-License-Identifier: MIT OR Apache-2.0
//! A change of a QP's state goes to two takers, Send and the READ responder, and is over when both have taken it.
//!
//! ```text
//! control ─ state_valid ─┬─► send_valid   until taken
//!         ◄─ state_ready ┴─► read_valid   until taken      ready: the last of the two takes it
//! ```
//!
//! Index and state go to both as they are. No latency.

use rust_hdl::prelude::*;

/// The split.
#[derive(LogicBlock, Default)]
pub struct StateSplit {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub state_valid: Signal<In, Bit>,
    pub state_ready: Signal<Out, Bit>,
    pub send_valid: Signal<Out, Bit>,
    pub send_ready: Signal<In, Bit>,
    pub read_valid: Signal<Out, Bit>,
    pub read_ready: Signal<In, Bit>,
    send_taken: DFF<Bit>,
    read_taken: DFF<Bit>,
    send_has: Signal<Local, Bit>,
    read_has: Signal<Local, Bit>,
    both: Signal<Local, Bit>,
}

impl Logic for StateSplit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, send_taken, read_taken);
        self.send_valid.next = self.state_valid.val() & !self.send_taken.q.val();
        self.read_valid.next = self.state_valid.val() & !self.read_taken.q.val();
        self.send_has.next = self.send_taken.q.val() | self.send_ready.val();
        self.read_has.next = self.read_taken.q.val() | self.read_ready.val();
        self.both.next = self.send_has.val() & self.read_has.val();
        self.state_ready.next = self.state_valid.val() & self.both.val();
        self.send_taken.d.next = self.state_valid.val() & self.send_has.val() & !self.both.val();
        self.read_taken.d.next = self.state_valid.val() & self.read_has.val() & !self.both.val();
        if self.reset.val() {
            self.send_taken.d.next = false;
            self.read_taken.d.next = false;
        }
    }

    crate::block_name!();
}
