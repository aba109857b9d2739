// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `Send` reports: doorbells refused as counter event and as event to the host, WQE reads with an error as counter event.
//!
//! ```text
//! doorbell ─► due ─┬─► count_*
//! error ───────────┘
//! ```
//!
//! Rewinds are `Complete`'s to count.

use crate::host::EventJob;
use rust_hdl::prelude::*;
use verbena_spec::counters;
use verbena_spec::layout::event_type;

#[derive(LogicBlock)]
pub struct SendReports {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle, only while `free`: a doorbell was refused.
    pub doorbell: Signal<In, Bit>,
    pub free: Signal<Out, Bit>,
    /// A WQE read had an error; waits.
    pub error_valid: Signal<In, Bit>,
    pub error_ready: Signal<Out, Bit>,
    pub count_valid: Signal<Out, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_ready: Signal<In, Bit>,
    /// The QP whose doorbell was refused.
    pub index: Signal<In, Bits<12>>,
    pub event_job: Signal<Out, EventJob>,
    due: DFF<Bit>,
    counting: DFF<Bit>,
    code: DFF<Bits<6>>,
    event_type: Constant<Bits<8>>,
    detail: Constant<Bits<8>>,
    code_doorbell: Constant<Bits<6>>,
    code_error: Constant<Bits<6>>,
}

impl Default for SendReports {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            doorbell: Default::default(),
            free: Default::default(),
            error_valid: Default::default(),
            error_ready: Default::default(),
            count_valid: Default::default(),
            count_code: Default::default(),
            count_ready: Default::default(),
            index: Default::default(),
            event_job: Default::default(),
            due: Default::default(),
            counting: Default::default(),
            code: Default::default(),
            event_type: Constant::new((event_type::BAD_DOORBELL as u64).to_bits()),
            detail: Constant::new((counters::BAD_DOORBELL as u64).to_bits()),
            code_doorbell: Constant::new((counters::BAD_DOORBELL as u64).to_bits()),
            code_error: Constant::new((counters::AXI_ERROR as u64).to_bits()),
        }
    }
}

impl Logic for SendReports {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, due, counting, code);

        self.free.next = !self.due.q.val();
        self.error_ready.next = false;
        if self.counting.q.val() & self.count_ready.val() {
            self.counting.d.next = false;
        }
        if !self.counting.q.val() {
            if self.due.q.val() {
                self.due.d.next = false;
                self.counting.d.next = true;
                self.code.d.next = self.code_doorbell.val();
            } else {
                if self.error_valid.val() {
                    self.error_ready.next = true;
                    self.counting.d.next = true;
                    self.code.d.next = self.code_error.val();
                }
            }
        }
        if self.doorbell.val() {
            self.due.d.next = true;
        }
        self.count_valid.next = self.counting.q.val();
        self.count_code.next = self.code.q.val();
        self.event_job.next.event_type = self.event_type.val();
        self.event_job.next.number = bit_cast::<24, 12>(self.index.val());
        self.event_job.next.detail = self.detail.val();
        if self.reset.val() {
            self.due.d.next = false;
            self.counting.d.next = false;
        }
    }

    crate::block_name!();
}
