// SPDX-License-Identifier: MIT OR Apache-2.0
//! Write jobs and retire entries of the two that make them, control and `requester::Complete`.
//!
//! ```text
//! control  job ───┐                            control  entry ─┐ alternate, held until taken;
//! complete job ───┴─► job (complete's while    complete entry ─┴─► entry (complete's while `placing`)
//!                     `placing`)
//! ```
//!
//! While a response with data is with Complete (`placing`), what control makes of later packets waits, so the jobs of the two stand in the order of their
//! entries, and of their frames in the ring. Control has nothing on offer when `placing` begins. An entry of Complete without jobs may come at any time. No latency.

use super::RetireEntry;
use crate::mem::WriteJob;
use rust_hdl::prelude::*;

/// The merge.
#[derive(LogicBlock, Default)]
pub struct EffectMerge {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A response with data is with Complete.
    pub placing: Signal<In, Bit>,
    pub control_job: Signal<In, WriteJob>,
    pub control_job_valid: Signal<In, Bit>,
    pub control_job_ready: Signal<Out, Bit>,
    pub complete_job: Signal<In, WriteJob>,
    pub complete_job_valid: Signal<In, Bit>,
    pub complete_job_ready: Signal<Out, Bit>,
    pub job: Signal<Out, WriteJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub control_entry: Signal<In, RetireEntry>,
    pub control_entry_valid: Signal<In, Bit>,
    pub control_entry_ready: Signal<Out, Bit>,
    pub complete_entry: Signal<In, RetireEntry>,
    pub complete_entry_valid: Signal<In, Bit>,
    pub complete_entry_ready: Signal<Out, Bit>,
    pub entry: Signal<Out, RetireEntry>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    /// An entry is shown and not yet taken, and whose it is; whose the last was.
    shown: DFF<Bit>,
    turn: DFF<Bit>,
    complete_now: Signal<Local, Bit>,
    control_entry_now: Signal<Local, Bit>,
    valid_now: Signal<Local, Bit>,
}

impl Logic for EffectMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, shown, turn);

        self.job.next = self.control_job.val();
        self.job_valid.next = self.control_job_valid.val();
        self.control_job_ready.next = self.job_ready.val();
        self.complete_job_ready.next = false;
        if self.placing.val() {
            self.job.next = self.complete_job.val();
            self.job_valid.next = self.complete_job_valid.val();
            self.control_job_ready.next = false;
            self.complete_job_ready.next = self.job_ready.val();
        }

        // `turn` is whose entry is or was shown; the other goes first.
        self.control_entry_now.next = self.control_entry_valid.val() & (!self.placing.val() | self.shown.q.val());
        self.complete_now.next = self.turn.q.val();
        if !self.shown.q.val() {
            self.complete_now.next = self.complete_entry_valid.val() & (!self.turn.q.val() | !self.control_entry_now.val());
        }
        self.entry.next = self.control_entry.val();
        self.valid_now.next = self.control_entry_now.val();
        if self.complete_now.val() {
            self.entry.next = self.complete_entry.val();
            self.valid_now.next = self.complete_entry_valid.val();
        }
        self.entry_valid.next = self.valid_now.val() & !self.reset.val();
        self.control_entry_ready.next = self.entry_ready.val() & !self.complete_now.val() & (!self.placing.val() | self.shown.q.val());
        self.complete_entry_ready.next = self.entry_ready.val() & self.complete_now.val();
        self.shown.d.next = self.valid_now.val() & !self.entry_ready.val();
        if self.valid_now.val() {
            self.turn.d.next = self.complete_now.val();
        }

        if self.reset.val() {
            self.shown.d.next = false;
            self.turn.d.next = false;
        }
    }

    crate::block_name!();
}
