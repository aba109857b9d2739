// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a verdict to its consequences: answer, completion, event, counter, and what becomes of the QP. Registered: one cycle behind the verdict.
//!
//! | verdict | counter | answer | completion | QP |
//! |---|---|---|---|---|
//! | Done | accepted | ACK if asked for | at the end of a SEND or WRITE with immediate | ePSN + 1 |
//! | Served | accepted | the READ responder's, later | | ePSN + its PSNs, MSN + 1 |
//! | Duplicate | duplicate | ACK with the PSN last executed (R26) | | |
//! | SequenceNak | out_of_sequence | 0x60, ePSN (R24) | | NAK stands |
//! | Early, EarlyNak | the reorder station's | none; 0x60, ePSN | | NAK stands |
//! | Rnr | rnr | 0x20 + timer (R46) | | NAK stands |
//! | NoReceive, Broken | their own | | | ePSN + 1, message dropped (R57, R73) |
//! | Invalid, Access | naked | 0x61, 0x62 | | ERR, event |
//! | TooLong | naked | 0x61 | local length error | ERR, event |
//! | Protection, Unreadable | naked | 0x63 | local protection, local QP operation error | ERR, event |
//! | Irrevocable | naked | 0x62 | local access error | ERR, event |
//! | Drop, Ghost, DuplicateDropped, Silent | their own | | | |
//! On UC the last four neither answer nor end the QP: counted uc_dropped, the message dropped, the receive WQE completed in error.

use super::verdict::Verdict;
use rust_hdl::prelude::*;
use verbena_spec::{counters, layout::status};

#[derive(LogicBlock)]
pub struct Answer {
    pub clock: Signal<In, Clock>,
    pub verdict: Signal<In, Verdict>,
    pub rc: Signal<In, Bit>,
    /// LAST or ONLY of a SEND, or of a WRITE with immediate.
    pub completes: Signal<In, Bit>,
    pub ack_request: Signal<In, Bit>,
    pub rnr_timer: Signal<In, Bits<5>>,
    pub drop_code: Signal<In, Bits<6>>,
    pub counter: Signal<Out, Bits<6>>,
    pub respond: Signal<Out, Bit>,
    pub syndrome: Signal<Out, Bits<8>>,
    pub complete: Signal<Out, Bit>,
    pub status: Signal<Out, Bits<8>>,
    pub raise: Signal<Out, Bit>,
    /// The QP goes to ERR.
    pub fatal: Signal<Out, Bit>,
    /// A NAK stands from now on.
    pub stands: Signal<Out, Bit>,
    /// ePSN moves to the next.
    pub advance: Signal<Out, Bit>,
    /// The state row changes.
    pub changes: Signal<Out, Bit>,
    pub executed: Signal<Out, Bit>,
    /// The READ responder has it; retire tells when it may be served.
    pub served: Signal<Out, Bit>,
    pub duplicate: Signal<Out, Bit>,
    counter_kept: DFF<Bits<6>>,
    respond_kept: DFF<Bit>,
    syndrome_kept: DFF<Bits<8>>,
    complete_kept: DFF<Bit>,
    status_kept: DFF<Bits<8>>,
    raise_kept: DFF<Bit>,
    fatal_kept: DFF<Bit>,
    stands_kept: DFF<Bit>,
    advance_kept: DFF<Bit>,
    changes_kept: DFF<Bit>,
    executed_kept: DFF<Bit>,
    served_kept: DFF<Bit>,
    duplicate_kept: DFF<Bit>,
    failed: Signal<Local, Bit>,
    status_success: Constant<Bits<8>>,
    status_length: Constant<Bits<8>>,
    status_protection: Constant<Bits<8>>,
    status_operation: Constant<Bits<8>>,
    status_access: Constant<Bits<8>>,
    status_flush: Constant<Bits<8>>,
    /// R38: 31 is "no credits are counted".
    ack: Constant<Bits<8>>,
    rnr: Constant<Bits<8>>,
    nak_sequence: Constant<Bits<8>>,
    nak_invalid: Constant<Bits<8>>,
    nak_access: Constant<Bits<8>>,
    nak_operation: Constant<Bits<8>>,
    doorbell_detail: Constant<Bits<8>>,
    count_accepted: Constant<Bits<6>>,
    count_duplicate: Constant<Bits<6>>,
    count_sequence: Constant<Bits<6>>,
    count_silent: Constant<Bits<6>>,
    count_rnr: Constant<Bits<6>>,
    count_ghost: Constant<Bits<6>>,
    count_no_receive: Constant<Bits<6>>,
    count_broken: Constant<Bits<6>>,
    count_naked: Constant<Bits<6>>,
}

impl Default for Answer {
    fn default() -> Self {
        let code = |code: u8| Constant::new((code as u64).to_bits());
        let byte = |n: u32| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            verdict: Default::default(),
            rc: Default::default(),
            completes: Default::default(),
            ack_request: Default::default(),
            rnr_timer: Default::default(),
            drop_code: Default::default(),
            counter: Default::default(),
            respond: Default::default(),
            syndrome: Default::default(),
            complete: Default::default(),
            status: Default::default(),
            raise: Default::default(),
            fatal: Default::default(),
            stands: Default::default(),
            advance: Default::default(),
            changes: Default::default(),
            executed: Default::default(),
            served: Default::default(),
            duplicate: Default::default(),
            counter_kept: Default::default(),
            respond_kept: Default::default(),
            syndrome_kept: Default::default(),
            complete_kept: Default::default(),
            status_kept: Default::default(),
            raise_kept: Default::default(),
            fatal_kept: Default::default(),
            stands_kept: Default::default(),
            advance_kept: Default::default(),
            changes_kept: Default::default(),
            executed_kept: Default::default(),
            served_kept: Default::default(),
            duplicate_kept: Default::default(),
            failed: Default::default(),
            status_success: byte(status::SUCCESS),
            status_length: byte(status::LOCAL_LENGTH_ERROR),
            status_protection: byte(status::LOCAL_PROTECTION_ERROR),
            status_operation: byte(status::LOCAL_QP_OPERATION_ERROR),
            status_access: byte(status::LOCAL_ACCESS_ERROR),
            status_flush: byte(status::WR_FLUSH_ERROR),
            ack: byte(0x1f),
            rnr: byte(0x20),
            nak_sequence: byte(0x60),
            nak_invalid: byte(0x61),
            nak_access: byte(0x62),
            nak_operation: byte(0x63),
            doorbell_detail: byte(counters::BAD_DOORBELL as u32),
            count_accepted: code(counters::ACCEPTED),
            count_duplicate: code(counters::DUPLICATE),
            count_sequence: code(counters::OUT_OF_SEQUENCE),
            count_silent: code(counters::OUT_OF_SEQUENCE_SILENT),
            count_rnr: code(counters::RNR),
            count_ghost: code(counters::GHOST_ACK),
            count_no_receive: code(counters::NO_RECEIVE),
            count_broken: code(counters::UC_DROPPED),
            count_naked: code(counters::NAKED),
        }
    }
}

impl Logic for Answer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            counter_kept,
            respond_kept,
            syndrome_kept,
            complete_kept,
            status_kept,
            raise_kept
        );
        dff_setup!(
            self,
            clock,
            fatal_kept,
            stands_kept,
            advance_kept,
            changes_kept,
            executed_kept,
            served_kept,
            duplicate_kept
        );
        self.counter_kept.d.next = self.drop_code.val();
        self.respond_kept.d.next = false;
        self.syndrome_kept.d.next = self.ack.val();
        self.complete_kept.d.next = false;
        self.status_kept.d.next = self.status_success.val();
        self.raise_kept.d.next = false;
        self.failed.next = false;
        self.stands_kept.d.next = false;
        self.advance_kept.d.next = false;
        self.changes_kept.d.next = false;
        self.executed_kept.d.next = false;
        self.served_kept.d.next = false;
        self.duplicate_kept.d.next = false;
        match self.verdict.val() {
            Verdict::Done => {
                self.counter_kept.d.next = self.count_accepted.val();
                self.respond_kept.d.next = self.ack_request.val();
                self.complete_kept.d.next = self.completes.val();
                self.advance_kept.d.next = true;
                self.changes_kept.d.next = true;
                self.executed_kept.d.next = true;
            }
            Verdict::Served => {
                self.counter_kept.d.next = self.count_accepted.val();
                self.changes_kept.d.next = true;
                self.served_kept.d.next = true;
            }
            Verdict::Ghost => {
                self.counter_kept.d.next = self.count_ghost.val();
            }
            Verdict::Duplicate => {
                self.counter_kept.d.next = self.count_duplicate.val();
                self.respond_kept.d.next = true;
                self.duplicate_kept.d.next = true;
            }
            Verdict::DuplicateDropped => {
                self.counter_kept.d.next = self.count_duplicate.val();
            }
            Verdict::SequenceNak => {
                self.counter_kept.d.next = self.count_sequence.val();
                self.respond_kept.d.next = true;
                self.syndrome_kept.d.next = self.nak_sequence.val();
                self.stands_kept.d.next = true;
                self.changes_kept.d.next = true;
            }
            Verdict::EarlyNak => {
                self.respond_kept.d.next = true;
                self.syndrome_kept.d.next = self.nak_sequence.val();
                self.stands_kept.d.next = true;
                self.changes_kept.d.next = true;
            }
            Verdict::Silent => {
                self.counter_kept.d.next = self.count_silent.val();
            }
            Verdict::Rnr => {
                self.counter_kept.d.next = self.count_rnr.val();
                self.respond_kept.d.next = true;
                self.syndrome_kept.d.next = self.rnr.val() | bit_cast::<8, 5>(self.rnr_timer.val());
                self.stands_kept.d.next = true;
                self.changes_kept.d.next = true;
            }
            Verdict::NoReceive => {
                self.counter_kept.d.next = self.count_no_receive.val();
                self.advance_kept.d.next = true;
                self.changes_kept.d.next = true;
            }
            Verdict::Broken => {
                self.counter_kept.d.next = self.count_broken.val();
                self.advance_kept.d.next = true;
                self.changes_kept.d.next = true;
            }
            Verdict::Invalid => {
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_invalid.val();
            }
            Verdict::Access => {
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_access.val();
            }
            Verdict::TooLong => {
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_invalid.val();
                self.complete_kept.d.next = true;
                self.status_kept.d.next = self.status_length.val();
            }
            Verdict::Protection => {
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_operation.val();
                self.complete_kept.d.next = true;
                self.status_kept.d.next = self.status_protection.val();
            }
            Verdict::Unreadable => {
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_operation.val();
                self.complete_kept.d.next = true;
                self.status_kept.d.next = self.status_operation.val();
            }
            Verdict::Irrevocable => {
                // ~ No clause at hand names the syndrome; remote access error it is.
                self.failed.next = true;
                self.syndrome_kept.d.next = self.nak_access.val();
                self.complete_kept.d.next = true;
                self.status_kept.d.next = self.status_access.val();
            }
            Verdict::Flush => {
                self.complete_kept.d.next = true;
                self.status_kept.d.next = self.status_flush.val();
            }
            Verdict::BadDoorbell => {
                self.raise_kept.d.next = true;
                self.syndrome_kept.d.next = self.doorbell_detail.val();
            }
            _ => {}
        }
        self.fatal_kept.d.next = self.failed.val() & self.rc.val();
        if self.failed.val() {
            self.changes_kept.d.next = true;
            if self.rc.val() {
                self.counter_kept.d.next = self.count_naked.val();
                self.respond_kept.d.next = true;
                self.raise_kept.d.next = true;
            } else {
                self.counter_kept.d.next = self.count_broken.val();
                self.advance_kept.d.next = true;
            }
        }
        self.counter.next = self.counter_kept.q.val();
        self.respond.next = self.respond_kept.q.val();
        self.syndrome.next = self.syndrome_kept.q.val();
        self.complete.next = self.complete_kept.q.val();
        self.status.next = self.status_kept.q.val();
        self.raise.next = self.raise_kept.q.val();
        self.fatal.next = self.fatal_kept.q.val();
        self.stands.next = self.stands_kept.q.val();
        self.advance.next = self.advance_kept.q.val();
        self.changes.next = self.changes_kept.q.val();
        self.executed.next = self.executed_kept.q.val();
        self.served.next = self.served_kept.q.val();
        self.duplicate.next = self.duplicate_kept.q.val();
    }

    crate::block_name!();
}
