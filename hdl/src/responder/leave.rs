// SPDX-License-Identifier: MIT OR Apache-2.0
//! The three ways out: write job, retire entry, counter event. Each is offered once and holds until taken; the data is the packet's and holds
//! itself until all are gone.
//!
//! ```text
//! push_* ─► valid, one cycle later ─► taken          idle: nothing is left after this cycle
//! ```

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Leave {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push_job: Signal<In, Bit>,
    pub push_entry: Signal<In, Bit>,
    pub push_event: Signal<In, Bit>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub idle: Signal<Out, Bit>,
    job: DFF<Bit>,
    entry: DFF<Bit>,
    event_kept: DFF<Bit>,
    job_left: Signal<Local, Bit>,
    entry_left: Signal<Local, Bit>,
    event_left: Signal<Local, Bit>,
}

impl Logic for Leave {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, job, entry, event_kept);
        self.job_left.next = self.job.q.val() & !self.job_ready.val();
        self.entry_left.next = self.entry.q.val() & !self.entry_ready.val();
        self.event_left.next = self.event_kept.q.val() & !self.event_ready.val();
        self.job.d.next = self.job_left.val() | self.push_job.val();
        self.entry.d.next = self.entry_left.val() | self.push_entry.val();
        self.event_kept.d.next = self.event_left.val() | self.push_event.val();
        self.job_valid.next = self.job.q.val();
        self.entry_valid.next = self.entry.q.val();
        self.event_valid.next = self.event_kept.q.val();
        self.idle.next = !self.job_left.val() & !self.entry_left.val() & !self.event_left.val();
        if self.reset.val() {
            self.job.d.next = false;
            self.entry.d.next = false;
            self.event_kept.d.next = false;
        }
    }

    crate::block_name!();
}
