// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of a packet's words: one item a step, with the WQE or row word that it needs.
//!
//! ```text
//! Word0 ─┬───────────────────────────────┬─► Word1 ─► Psn ─┬─► UD: address ×8, Q_Key, our QPN ──────────┬─► [ImmDt | IETH] ─► [inline words]
//!        └─► split: Swap… (second job) ──┘                 └─► carry, high, low, R_Key, length | 4 words ┘
//! ```

use super::wire_words::WireItem;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ProgramStep {
    Rest,
    Word0,
    SwapWait,
    SwapLow,
    SwapHigh,
    SwapTake,
    SwapDone,
    Word1,
    Psn,
    Address,
    Qkey,
    Source,
    Carry,
    High,
    Low,
    Rkey,
    Length,
    Operand,
    Trailer,
    Inline,
}

#[derive(LogicBlock, Default)]
pub struct WireProgram<const U: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub split: Signal<In, Bit>,
    pub datagram: Signal<In, Bit>,
    pub remote: Signal<In, Bit>,
    pub atomic: Signal<In, Bit>,
    pub trailer: Signal<In, Bit>,
    pub inline_data: Signal<In, Bit>,
    pub bytes: Signal<In, Bits<6>>,
    pub job_open: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    pub item: Signal<Out, WireItem>,
    pub last: Signal<Out, Bit>,
    pub wqe_item: Signal<Out, Bits<4>>,
    pub row_item: Signal<Out, Bits<5>>,
    /// The first piece's job has been taken: the second's address comes from the row.
    pub put_low: Signal<Out, Bit>,
    pub put_high: Signal<Out, Bit>,
    step: DFF<ProgramStep>,
    count: DFF<Bits<3>>,
    after: Signal<Local, ProgramStep>,
    payload_step: Signal<Local, ProgramStep>,
    trailer_step: Signal<Local, ProgramStep>,
    wordy: Signal<Local, Bit>,
    reached: Signal<Local, Bits<6>>,
}

impl<const U: usize> Logic for WireProgram<U> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, count);

        self.payload_step.next = ProgramStep::Rest;
        if self.inline_data.val() {
            self.payload_step.next = ProgramStep::Inline;
        }
        self.trailer_step.next = self.payload_step.val();
        if self.trailer.val() {
            self.trailer_step.next = ProgramStep::Trailer;
        }
        self.reached.next = (bit_cast::<6, 3>(self.count.q.val()) << 2) + 4;

        self.after.next = self.step.q.val();
        self.item.next = WireItem::Nothing;
        self.wordy.next = true;
        self.wqe_item.next = 0.into();
        self.row_item.next = 8.into();
        self.put_low.next = false;
        self.put_high.next = false;
        self.busy.next = true;
        match self.step.q.val() {
            ProgramStep::Word0 => {
                self.item.next = WireItem::Word0;
                self.wordy.next = false;
                self.after.next = ProgramStep::Word1;
                if self.split.val() {
                    self.after.next = ProgramStep::SwapWait;
                }
            }
            ProgramStep::SwapWait => {
                self.wordy.next = false;
                if !self.job_open.val() {
                    self.after.next = ProgramStep::SwapLow;
                }
            }
            ProgramStep::SwapLow => {
                self.wordy.next = false;
                self.row_item.next = 5.into();
                self.after.next = ProgramStep::SwapHigh;
            }
            ProgramStep::SwapHigh => {
                self.wordy.next = false;
                self.row_item.next = 6.into();
                self.after.next = ProgramStep::SwapTake;
            }
            ProgramStep::SwapTake => {
                self.wordy.next = false;
                self.put_low.next = true;
                self.after.next = ProgramStep::SwapDone;
            }
            ProgramStep::SwapDone => {
                self.wordy.next = false;
                self.put_high.next = self.advance.val();
                self.after.next = ProgramStep::Word1;
            }
            ProgramStep::Word1 => {
                self.item.next = WireItem::Word1;
                self.after.next = ProgramStep::Psn;
            }
            ProgramStep::Psn => {
                self.item.next = WireItem::Psn;
                self.after.next = self.trailer_step.val();
                if self.remote.val() {
                    self.after.next = ProgramStep::Carry;
                }
                for _i in 0..U {
                    if self.datagram.val() {
                        self.after.next = ProgramStep::Address;
                    }
                }
            }
            ProgramStep::Carry => {
                self.item.next = WireItem::Carry;
                self.wqe_item.next = 4.into();
                self.after.next = ProgramStep::High;
            }
            ProgramStep::High => {
                self.item.next = WireItem::High;
                self.wqe_item.next = 5.into();
                self.after.next = ProgramStep::Low;
            }
            ProgramStep::Low => {
                self.item.next = WireItem::Low;
                self.wqe_item.next = 4.into();
                self.after.next = ProgramStep::Rkey;
            }
            ProgramStep::Rkey => {
                self.item.next = WireItem::Stored;
                self.wqe_item.next = 3.into();
                self.after.next = ProgramStep::Length;
                if self.atomic.val() {
                    self.after.next = ProgramStep::Operand;
                }
            }
            ProgramStep::Length => {
                self.item.next = WireItem::Length;
                self.after.next = self.trailer_step.val();
            }
            ProgramStep::Operand => {
                // Upper halves first: words 11, 10, 13, 12.
                self.item.next = WireItem::Stored;
                self.wqe_item.next = 11.into();
                if self.count.q.val() == 1 {
                    self.wqe_item.next = 10.into();
                }
                if self.count.q.val() == 2 {
                    self.wqe_item.next = 13.into();
                }
                if self.count.q.val() == 3 {
                    self.wqe_item.next = 12.into();
                    self.after.next = ProgramStep::Rest;
                }
            }
            ProgramStep::Trailer => {
                self.item.next = WireItem::Stored;
                self.wqe_item.next = 2.into();
                self.after.next = self.payload_step.val();
            }
            ProgramStep::Inline => {
                self.item.next = WireItem::Inline;
                self.wqe_item.next = bit_cast::<4, 3>(self.count.q.val()) + 6;
                if self.reached.val() >= self.bytes.val() {
                    self.after.next = ProgramStep::Rest;
                }
            }
            _ => {
                self.busy.next = false;
                self.wordy.next = false;
                if self.start.val() {
                    self.after.next = ProgramStep::Word0;
                }
            }
        }
        for _i in 0..U {
            match self.step.q.val() {
                ProgramStep::Address => {
                    self.busy.next = true;
                    self.wordy.next = true;
                    self.item.next = WireItem::Stored;
                    // Words 4, 5, 10 to 15.
                    self.wqe_item.next = bit_cast::<4, 3>(self.count.q.val()) + 8;
                    if !self.count.q.val().get_bits::<2>(1).any() {
                        self.wqe_item.next = bit_cast::<4, 3>(self.count.q.val()) + 4;
                    }
                    if self.count.q.val().all() {
                        self.after.next = ProgramStep::Qkey;
                    }
                }
                ProgramStep::Qkey => {
                    self.busy.next = true;
                    self.wordy.next = true;
                    self.item.next = WireItem::Stored;
                    self.wqe_item.next = 3.into();
                    self.after.next = ProgramStep::Source;
                }
                ProgramStep::Source => {
                    self.busy.next = true;
                    self.wordy.next = true;
                    self.item.next = WireItem::Source;
                    self.after.next = self.trailer_step.val();
                }
                _ => {}
            }
        }
        self.last.next = self.wordy.val() & (self.after.val() == ProgramStep::Rest);
        if self.advance.val() | (self.step.q.val() == ProgramStep::Rest) {
            self.step.d.next = self.after.val();
            self.count.d.next = 0.into();
            if (self.step.q.val() == ProgramStep::Address)
                | (self.step.q.val() == ProgramStep::Operand)
                | (self.step.q.val() == ProgramStep::Inline)
            {
                self.count.d.next = self.count.q.val() + 1;
            }
        }
        if self.reset.val() {
            self.step.d.next = ProgramStep::Rest;
        }
    }

    crate::block_name!();
}
