// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counter events of five stations onto one stream. Each has its turn every fourth cycle; reorder station and READ responder share one.
//!
//! ```text
//! queues ───► register ─► turn 0 ─┐
//! send ─────► register ─► turn 1 ─┤
//! complete ─► register ─► turn 2 ─┼─► register ─► m
//! read ─────► register ─┐         │
//! reorder ──► register ─┴► turn 3 ┘
//! ```
//!
//! A station's `ready` is a register's, and its offer ends in one: stations far from each other share no path.

use rust_hdl::prelude::*;

/// Queues, `requester::Send`, `requester::Complete`, the READ responder and the reorder station to the counters' class Extra; latency 2 to 5 cycles.
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
    /// A code of each station that waits for its turn.
    queues_held: DFF<Bits<6>>,
    queues_full: DFF<Bit>,
    send_held: DFF<Bits<6>>,
    send_full: DFF<Bit>,
    complete_held: DFF<Bits<6>>,
    complete_full: DFF<Bit>,
    read_held: DFF<Bits<6>>,
    read_full: DFF<Bit>,
    reorder_held: DFF<Bits<6>>,
    reorder_full: DFF<Bit>,
    turn: DFF<Bits<2>>,
    /// The fourth turn goes to the reorder station first.
    other: DFF<Bit>,
    open: Signal<Local, Bit>,
}

impl Logic for CodeMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, full, turn, other);
        dff_setup!(self, clock, queues_held, send_held, complete_held, read_held, reorder_held);
        dff_setup!(self, clock, queues_full, send_full, complete_full, read_full, reorder_full);

        self.m.next = self.held.q.val();
        self.m_valid.next = self.full.q.val();
        self.open.next = !self.full.q.val() | self.m_ready.val();
        if self.m_ready.val() {
            self.full.d.next = false;
        }
        self.queues_ready.next = !self.queues_full.q.val() & !self.reset.val();
        if !self.queues_full.q.val() {
            self.queues_held.d.next = self.queues.val();
            self.queues_full.d.next = self.queues_valid.val();
        }
        self.send_ready.next = !self.send_full.q.val() & !self.reset.val();
        if !self.send_full.q.val() {
            self.send_held.d.next = self.send.val();
            self.send_full.d.next = self.send_valid.val();
        }
        self.complete_ready.next = !self.complete_full.q.val() & !self.reset.val();
        if !self.complete_full.q.val() {
            self.complete_held.d.next = self.complete.val();
            self.complete_full.d.next = self.complete_valid.val();
        }
        self.read_ready.next = !self.read_full.q.val() & !self.reset.val();
        if !self.read_full.q.val() {
            self.read_held.d.next = self.read.val();
            self.read_full.d.next = self.read_valid.val();
        }
        self.reorder_ready.next = !self.reorder_full.q.val() & !self.reset.val();
        if !self.reorder_full.q.val() {
            self.reorder_held.d.next = self.reorder.val();
            self.reorder_full.d.next = self.reorder_valid.val();
        }
        // One station has its turn a cycle, so none can starve and no path is long.
        self.turn.d.next = self.turn.q.val() + 1;
        if self.open.val() & (self.turn.q.val() == 0) & self.queues_full.q.val() {
            self.held.d.next = self.queues_held.q.val();
            self.full.d.next = true;
            self.queues_full.d.next = false;
        }
        if self.open.val() & (self.turn.q.val() == 1) & self.send_full.q.val() {
            self.held.d.next = self.send_held.q.val();
            self.full.d.next = true;
            self.send_full.d.next = false;
        }
        if self.open.val() & (self.turn.q.val() == 2) & self.complete_full.q.val() {
            self.held.d.next = self.complete_held.q.val();
            self.full.d.next = true;
            self.complete_full.d.next = false;
        }
        if self.open.val() & (self.turn.q.val() == 3) {
            if self.reorder_full.q.val() & (self.other.q.val() | !self.read_full.q.val()) {
                self.held.d.next = self.reorder_held.q.val();
                self.full.d.next = true;
                self.reorder_full.d.next = false;
                self.other.d.next = false;
            } else {
                if self.read_full.q.val() {
                    self.held.d.next = self.read_held.q.val();
                    self.full.d.next = true;
                    self.read_full.d.next = false;
                    self.other.d.next = true;
                }
            }
        }

        if self.reset.val() {
            self.full.d.next = false;
            self.queues_full.d.next = false;
            self.send_full.d.next = false;
            self.complete_full.d.next = false;
            self.read_full.d.next = false;
            self.reorder_full.d.next = false;
            self.turn.d.next = 0.into();
            self.other.d.next = false;
            self.m_valid.next = false;
        }
    }

    crate::block_name!();
}
