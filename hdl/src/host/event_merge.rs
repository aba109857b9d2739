// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous events of three stations onto one stream. Each has its turn every third cycle; events are rare.

use super::EventJob;
use rust_hdl::prelude::*;

/// Retire, `requester::Send` and the READ responder to the event queue; latency 1 to 3 cycles.
#[derive(LogicBlock, Default)]
pub struct EventMerge {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub retire: Signal<In, EventJob>,
    pub retire_valid: Signal<In, Bit>,
    pub retire_ready: Signal<Out, Bit>,
    pub send: Signal<In, EventJob>,
    pub send_valid: Signal<In, Bit>,
    pub send_ready: Signal<Out, Bit>,
    pub read: Signal<In, EventJob>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    pub m: Signal<Out, EventJob>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    held: DFF<EventJob>,
    full: DFF<Bit>,
    turn: DFF<Bits<2>>,
    open: Signal<Local, Bit>,
}

impl Logic for EventMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, full, turn);

        self.m.next = self.held.q.val();
        self.m_valid.next = self.full.q.val();
        self.open.next = (!self.full.q.val() | self.m_ready.val()) & !self.reset.val();
        if self.m_ready.val() {
            self.full.d.next = false;
        }
        self.retire_ready.next = false;
        self.send_ready.next = false;
        self.read_ready.next = false;
        // One input has its turn a cycle, so none can starve and no path is long.
        self.turn.d.next = self.turn.q.val() + 1;
        if self.turn.q.val() == 2 {
            self.turn.d.next = 0.into();
        }
        if self.open.val() & (self.turn.q.val() == 0) {
            self.retire_ready.next = true;
            if self.retire_valid.val() {
                self.held.d.next = self.retire.val();
                self.full.d.next = true;
            }
        }
        if self.open.val() & (self.turn.q.val() == 1) {
            self.send_ready.next = true;
            if self.send_valid.val() {
                self.held.d.next = self.send.val();
                self.full.d.next = true;
            }
        }
        if self.open.val() & (self.turn.q.val() == 2) {
            self.read_ready.next = true;
            if self.read_valid.val() {
                self.held.d.next = self.read.val();
                self.full.d.next = true;
            }
        }

        if self.reset.val() {
            self.full.d.next = false;
            self.turn.d.next = 0.into();
            self.m_valid.next = false;
        }
    }

    crate::block_name!();
}
