// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counter events of five stations onto one stream. Each has its turn every fourth cycle; reorder station and READ responder share one.

use rust_hdl::prelude::*;

/// Queues, `requester::Send`, `requester::Complete`, the READ responder and the reorder station to the counters' class Extra; latency 1 to 4 cycles.
#[derive(LogicBlock, Default)]
pub struct CodeMerge {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub queues: Signal<In, Bits<6>>,
    pub queues_valid: Signal<In, Bit>,
    pub queues_ready: Signal<Out, Bit>,
    pub send: Signal<In, Bits<6>>,
    pub send_valid: Signal<In, Bit>,
    pub send_ready: Signal<Out, Bit>,
    pub complete: Signal<In, Bits<6>>,
    pub complete_valid: Signal<In, Bit>,
    pub complete_ready: Signal<Out, Bit>,
    pub read: Signal<In, Bits<6>>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    pub reorder: Signal<In, Bits<6>>,
    pub reorder_valid: Signal<In, Bit>,
    pub reorder_ready: Signal<Out, Bit>,
    pub m: Signal<Out, Bits<6>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    held: DFF<Bits<6>>,
    full: DFF<Bit>,
    turn: DFF<Bits<2>>,
    /// The fourth turn goes to the reorder station first.
    other: DFF<Bit>,
    open: Signal<Local, Bit>,
}

impl Logic for CodeMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, full, turn, other);

        self.m.next = self.held.q.val();
        self.m_valid.next = self.full.q.val();
        self.open.next = (!self.full.q.val() | self.m_ready.val()) & !self.reset.val();
        if self.m_ready.val() {
            self.full.d.next = false;
        }
        self.queues_ready.next = false;
        self.send_ready.next = false;
        self.complete_ready.next = false;
        self.read_ready.next = false;
        self.reorder_ready.next = false;
        // One input has its turn a cycle, so none can starve and no path is long.
        self.turn.d.next = self.turn.q.val() + 1;
        if self.open.val() & (self.turn.q.val() == 0) {
            self.queues_ready.next = true;
            if self.queues_valid.val() {
                self.held.d.next = self.queues.val();
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
            self.complete_ready.next = true;
            if self.complete_valid.val() {
                self.held.d.next = self.complete.val();
                self.full.d.next = true;
            }
        }
        if self.open.val() & (self.turn.q.val() == 3) {
            if self.reorder_valid.val() & (self.other.q.val() | !self.read_valid.val()) {
                self.reorder_ready.next = true;
                self.held.d.next = self.reorder.val();
                self.full.d.next = true;
                self.other.d.next = false;
            } else {
                self.read_ready.next = true;
                if self.read_valid.val() {
                    self.held.d.next = self.read.val();
                    self.full.d.next = true;
                    self.other.d.next = true;
                }
            }
        }

        if self.reset.val() {
            self.full.d.next = false;
            self.turn.d.next = 0.into();
            self.other.d.next = false;
            self.m_valid.next = false;
        }
    }

    crate::block_name!();
}
