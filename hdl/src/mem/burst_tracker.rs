// SPDX-License-Identifier: MIT OR Apache-2.0
//! Burst tracker: which B response ends which job.
//!
//! ```text
//!          issue (AW)          response (B)         retire
//!            ▼                    ▼                   ▼
//! ring:      last? ─────────────► error? ───────────► done_valid, done_error (OR of the job's bursts)
//! ```
//!
//! One ID, so B comes in AW order. Up to `DEPTH` bursts are outstanding or waiting for `done_ready`; `room` is low then. B is always taken.
//! Latency: 2 cycles from a job's last B to `done_valid`. A B that nothing waits for is ignored.

use rust_hdl::prelude::*;

/// Tracks up to `DEPTH` bursts, 1, 2, 4 or 8: the slots above vanish in synthesis.
#[derive(LogicBlock)]
pub struct BurstTracker<const DEPTH: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A burst was issued; only while `room`.
    pub issue: Signal<In, Bit>,
    /// It is its job's last.
    pub issue_last: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_error: Signal<In, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_error: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    issue_pointer: DFF<Bits<4>>,
    response_pointer: DFF<Bits<4>>,
    retire_pointer: DFF<Bits<4>>,
    last: DFF<Bits<8>>,
    error: DFF<Bits<8>>,
    job_error: DFF<Bit>,
    done: DFF<Bit>,
    done_bad: DFF<Bit>,
    issue_slot: Signal<Local, Bits<3>>,
    response_slot: Signal<Local, Bits<3>>,
    retire_slot: Signal<Local, Bits<3>>,
    full: DFF<Bit>,
    used: Signal<Local, Bits<4>>,
    nearly: Signal<Local, Bit>,
    bad: Signal<Local, Bit>,
    depth: Constant<Bits<4>>,
    before_depth: Constant<Bits<4>>,
    slot_mask: Constant<Bits<3>>,
    vector_mask: Constant<Bits<8>>,
    pointer_mask: Constant<Bits<4>>,
}

impl<const DEPTH: usize> Default for BurstTracker<DEPTH> {
    fn default() -> Self {
        assert!(matches!(DEPTH, 1 | 2 | 4 | 8), "BurstTracker: DEPTH must be 1, 2, 4 or 8");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            issue: Default::default(),
            issue_last: Default::default(),
            room: Default::default(),
            b_valid: Default::default(),
            b_error: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            issue_pointer: Default::default(),
            response_pointer: Default::default(),
            retire_pointer: Default::default(),
            last: Default::default(),
            error: Default::default(),
            job_error: Default::default(),
            done: Default::default(),
            done_bad: Default::default(),
            issue_slot: Default::default(),
            response_slot: Default::default(),
            retire_slot: Default::default(),
            full: Default::default(),
            used: Default::default(),
            nearly: Default::default(),
            bad: Default::default(),
            depth: Constant::new(DEPTH.to_bits()),
            before_depth: Constant::new((DEPTH - 1).to_bits()),
            slot_mask: Constant::new((DEPTH - 1).to_bits()),
            vector_mask: Constant::new(((1u64 << DEPTH) - 1).to_bits()),
            pointer_mask: Constant::new((2 * DEPTH - 1).to_bits()),
        }
    }
}

impl<const DEPTH: usize> Logic for BurstTracker<DEPTH> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            issue_pointer,
            response_pointer,
            retire_pointer,
            last,
            error,
            job_error,
            done,
            done_bad,
            full
        );

        self.issue_slot.next = self.issue_pointer.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.response_slot.next = self.response_pointer.q.val().get_bits::<3>(0) & self.slot_mask.val();
        self.retire_slot.next = self.retire_pointer.q.val().get_bits::<3>(0) & self.slot_mask.val();
        // A register, since the look-up of the next burst waits for it. It counts a retirement a cycle late, an issue at once.
        self.used.next = (self.issue_pointer.q.val() - self.retire_pointer.q.val()) & self.pointer_mask.val();
        self.nearly.next = self.used.val() == self.before_depth.val();
        self.full.d.next = (self.used.val() == self.depth.val()) | (self.nearly.val() & self.issue.val());
        self.room.next = !self.full.q.val();

        if self.issue.val() {
            self.issue_pointer.d.next = (self.issue_pointer.q.val() + 1) & self.pointer_mask.val();
            self.last.d.next = self.last.q.val().replace_bit(self.issue_slot.val().index(), self.issue_last.val()) & self.vector_mask.val();
        }
        if self.b_valid.val() & (self.response_pointer.q.val() != self.issue_pointer.q.val()) {
            self.response_pointer.d.next = (self.response_pointer.q.val() + 1) & self.pointer_mask.val();
            self.error.d.next =
                self.error.q.val().replace_bit(self.response_slot.val().index(), self.b_error.val()) & self.vector_mask.val();
        }

        self.bad.next = self.job_error.q.val() | self.error.q.val().get_bit(self.retire_slot.val().index());
        if self.done_ready.val() {
            self.done.d.next = false;
        }
        if (self.retire_pointer.q.val() != self.response_pointer.q.val()) & (!self.done.q.val() | self.done_ready.val()) {
            self.retire_pointer.d.next = (self.retire_pointer.q.val() + 1) & self.pointer_mask.val();
            self.job_error.d.next = self.bad.val();
            if self.last.q.val().get_bit(self.retire_slot.val().index()) {
                self.job_error.d.next = false;
                self.done.d.next = true;
                self.done_bad.d.next = self.bad.val();
            }
        }
        self.done_valid.next = self.done.q.val();
        self.done_error.next = self.done_bad.q.val();

        if self.reset.val() {
            self.issue_pointer.d.next = 0.into();
            self.response_pointer.d.next = 0.into();
            self.retire_pointer.d.next = 0.into();
            self.full.d.next = false;
            self.job_error.d.next = false;
            self.done.d.next = false;
            self.done_valid.next = false;
        }
    }

    crate::block_name!();
}
