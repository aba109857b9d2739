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
//! entries, and of their frames in the ring. Control has nothing on offer when `placing` begins. An entry of Complete without jobs may come at any time.
//! Whose entry may leave is a register, so that neither's state machine stands before the other's: control's leave at once, Complete's a cycle later.

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
    /// Complete's entries may leave, not control's.
    turn: DFF<Bit>,
    /// Control's entry is shown and not yet taken.
    shown: DFF<Bit>,
    leaves: Signal<Local, Bit>,
    control_entry_now: Signal<Local, Bit>,
    valid_now: Signal<Local, Bit>,
}

impl Logic for EffectMerge {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, turn, shown);

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

        self.control_entry_now.next = self.control_entry_valid.val() & (!self.placing.val() | self.shown.q.val());
        self.entry.next = self.control_entry.val();
        self.valid_now.next = self.control_entry_now.val();
        if self.turn.q.val() {
            self.entry.next = self.complete_entry.val();
            self.valid_now.next = self.complete_entry_valid.val();
        }
        self.entry_valid.next = self.valid_now.val() & !self.reset.val();
        self.control_entry_ready.next = self.entry_ready.val() & !self.turn.q.val() & (!self.placing.val() | self.shown.q.val());
        self.complete_entry_ready.next = self.entry_ready.val() & self.turn.q.val();
        self.shown.d.next = self.control_entry_now.val() & !self.turn.q.val() & !self.entry_ready.val();
        // An entry that is shown stays; after it the other's turn comes, and control's where nobody has one.
        self.leaves.next = !self.valid_now.val() | self.entry_ready.val();
        if self.leaves.val() {
            self.turn.d.next = self.complete_entry_valid.val() & !self.turn.q.val();
        }

        if self.reset.val() {
            self.turn.d.next = false;
            self.shown.d.next = false;
        }
    }

    crate::block_name!();
}
