// SPDX-License-Identifier: MIT OR Apache-2.0
//! Payload reads under way: which WQE each belongs to, and how it ended.
//!
//! ```text
//! push (QP, WQE, report, payload) ─► FIFO of 16 ─┬─► head: error ─► pop
//! done, error ────────────────────► FIFO of 16 ─┘    head: report ─► pop
//! ```
//!
//! One entry for each packet with payload from memory, and for the last packet of each UC or UD message, with payload or without. `done_ready`
//! is always high: room for an entry is room for its end. Entries that have nothing to say leave by themselves. An entry leaves a cycle after it is known
//! that it does, so that the FIFOs move on from a register.
//! `T` = `QA` + 18.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct ReadTracker<const QA: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push: Signal<In, Bit>,
    pub push_index: Signal<In, Bits<QA>>,
    pub push_wqe: Signal<In, Bits<16>>,
    /// The message has gone out to its end: tell `Complete`.
    pub push_report: Signal<In, Bit>,
    /// A payload read belongs to it.
    pub push_payload: Signal<In, Bit>,
    /// There is room for two entries: one may be on its way.
    pub room: Signal<Out, Bit>,
    /// Nothing is under way.
    pub empty: Signal<Out, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    /// The oldest entry ended in an error.
    pub error: Signal<Out, Bit>,
    /// The oldest entry ended well and wants to be reported.
    pub report: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<QA>>,
    pub wqe: Signal<Out, Bits<16>>,
    pub pop: Signal<In, Bit>,
    entries: Fifo<4, 5, T>,
    ends: Fifo<4, 5, 1>,
    used: DFF<Bits<5>>,
    error_now: DFF<Bit>,
    report_now: DFF<Bit>,
    leaving: DFF<Bit>,
    payload: Signal<Local, Bit>,
    ended: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
}

impl<const QA: usize, const T: usize> Logic for ReadTracker<QA, T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, used, error_now, report_now, leaving);
        clock!(self, clock, entries, ends);
        self.entries.reset.next = self.reset.val();
        self.ends.reset.next = self.reset.val();
        self.entries.s_data.next = (bit_cast::<T, QA>(self.push_index.val()) << 18) | (bit_cast::<T, 16>(self.push_wqe.val()) << 2);
        if self.push_payload.val() {
            self.entries.s_data.next = (bit_cast::<T, QA>(self.push_index.val()) << 18) | (bit_cast::<T, 16>(self.push_wqe.val()) << 2) | 1;
            if self.push_report.val() {
                self.entries.s_data.next =
                    (bit_cast::<T, QA>(self.push_index.val()) << 18) | (bit_cast::<T, 16>(self.push_wqe.val()) << 2) | 3;
            }
        } else {
            if self.push_report.val() {
                self.entries.s_data.next =
                    (bit_cast::<T, QA>(self.push_index.val()) << 18) | (bit_cast::<T, 16>(self.push_wqe.val()) << 2) | 2;
            }
        }
        self.entries.s_valid.next = self.push.val();
        self.ends.s_data.next = bit_cast::<1, 1>(self.done_error.val().into());
        self.ends.s_valid.next = self.done_valid.val();
        self.done_ready.next = self.ends.s_ready.val();

        self.payload.next = self.entries.m_data.val().get_bit(0);
        self.bad.next = self.payload.val() & self.ends.m_data.val().any();
        self.ended.next = self.entries.m_valid.val() & (!self.payload.val() | self.ends.m_valid.val());
        // A cycle late, and gone with the entry.
        self.error_now.d.next = self.ended.val() & self.bad.val() & !self.pop.val() & !self.leaving.q.val();
        self.report_now.d.next =
            self.ended.val() & !self.bad.val() & self.entries.m_data.val().get_bit(1) & !self.pop.val() & !self.leaving.q.val();
        self.error.next = self.error_now.q.val();
        self.report.next = self.report_now.q.val();
        self.index.next = self.entries.m_data.val().get_bits::<QA>(18);
        self.wqe.next = self.entries.m_data.val().get_bits::<16>(2);
        self.leaving.d.next =
            !self.leaving.q.val() & (self.pop.val() | (self.ended.val() & !self.bad.val() & !self.entries.m_data.val().get_bit(1)));
        self.leave.next = self.leaving.q.val();
        self.entries.m_ready.next = self.leave.val();
        self.ends.m_ready.next = self.leave.val() & self.payload.val();

        if self.push.val() & !self.leave.val() {
            self.used.d.next = self.used.q.val() + 1;
        }
        if self.leave.val() & !self.push.val() {
            self.used.d.next = self.used.q.val() - 1;
        }
        self.room.next = !self.used.q.val().get_bit(4) & !self.used.q.val().get_bits::<4>(0).all();
        self.empty.next = !self.used.q.val().any();
        if self.reset.val() {
            self.error_now.d.next = false;
            self.report_now.d.next = false;
            self.leaving.d.next = false;
            self.used.d.next = 0.into();
        }
    }

    crate::block_name!();
}
