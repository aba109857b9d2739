// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a QP's failure causes beside the NAK (R69): control is told, an event is raised, an AXI error is counted. Each is offered until taken;
//! the machine doesn't wait for it, but begins no turn before.

use crate::host::EventJob;
use rust_hdl::prelude::*;
use verbena_spec::{counters, layout::event_type};

#[derive(LogicBlock)]
pub struct ReadFailure<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub raise: Signal<In, Bit>,
    /// 1: a key that no longer holds (0x62); 0: memory that can't be read (0x63).
    pub access: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    /// The QP's tag, read in each turn; it is kept while something is due.
    pub tag_read: Signal<In, Bit>,
    pub tag: Signal<In, Bits<12>>,
    pub idle: Signal<Out, Bit>,
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_ready: Signal<In, Bit>,
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_valid: Signal<Out, Bit>,
    pub count_ready: Signal<In, Bit>,
    error_due: DFF<Bit>,
    event_due: DFF<Bit>,
    count_due: DFF<Bit>,
    access_kept: DFF<Bit>,
    index_kept: DFF<Bits<QA>>,
    tag_kept: DFF<Bits<12>>,
    qp_fatal: Constant<Bits<8>>,
    nak_access: Constant<Bits<8>>,
    nak_operation: Constant<Bits<8>>,
    axi_error: Constant<Bits<6>>,
}

impl<const QA: usize> Default for ReadFailure<QA> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            raise: Default::default(),
            access: Default::default(),
            index: Default::default(),
            tag_read: Default::default(),
            tag: Default::default(),
            idle: Default::default(),
            qp_error_index: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_ready: Default::default(),
            event_job: Default::default(),
            event_valid: Default::default(),
            event_ready: Default::default(),
            count_code: Default::default(),
            count_valid: Default::default(),
            count_ready: Default::default(),
            error_due: Default::default(),
            event_due: Default::default(),
            count_due: Default::default(),
            access_kept: Default::default(),
            index_kept: Default::default(),
            tag_kept: Default::default(),
            qp_fatal: Constant::new((event_type::QP_FATAL as u64).to_bits()),
            nak_access: Constant::new(0x62u64.to_bits()),
            nak_operation: Constant::new(0x63u64.to_bits()),
            axi_error: Constant::new((counters::AXI_ERROR as u64).to_bits()),
        }
    }
}

impl<const QA: usize> Logic for ReadFailure<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, error_due, event_due, count_due, access_kept, index_kept, tag_kept);
        if self.qp_error_ready.val() {
            self.error_due.d.next = false;
        }
        if self.event_ready.val() {
            self.event_due.d.next = false;
        }
        if self.count_ready.val() {
            self.count_due.d.next = false;
        }
        if self.raise.val() {
            self.error_due.d.next = true;
            self.event_due.d.next = true;
            self.count_due.d.next = !self.access.val();
            self.access_kept.d.next = self.access.val();
            self.index_kept.d.next = self.index.val();
        }
        if self.tag_read.val() & !self.error_due.q.val() & !self.event_due.q.val() {
            self.tag_kept.d.next = self.tag.val();
        }
        self.idle.next = !self.error_due.q.val() & !self.event_due.q.val() & !self.count_due.q.val();
        self.qp_error_index.next = bit_cast::<12, QA>(self.index_kept.q.val());
        self.qp_error_valid.next = self.error_due.q.val();
        self.event_job.next.event_type = self.qp_fatal.val();
        self.event_job.next.number = bit_cast::<24, QA>(self.index_kept.q.val()) | (bit_cast::<24, 12>(self.tag_kept.q.val()) << 12);
        self.event_job.next.detail = self.nak_operation.val();
        if self.access_kept.q.val() {
            self.event_job.next.detail = self.nak_access.val();
        }
        self.event_valid.next = self.event_due.q.val();
        self.count_code.next = self.axi_error.val();
        self.count_valid.next = self.count_due.q.val();
        if self.reset.val() {
            self.error_due.d.next = false;
            self.event_due.d.next = false;
            self.count_due.d.next = false;
        }
    }

    crate::block_name!("Consequences of a READ or ATOMIC that failed.");
}
