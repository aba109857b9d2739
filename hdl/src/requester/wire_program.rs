// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of a packet's words: one item a step, with the WQE or row word that it needs.
//!
//! ```text
//! Word0 ─┬───────────────────────────────┬─► Word1 ─► Psn ─┬─► UD: address ×8, Q_Key, our QPN ───┬─► [ImmDt | IETH] ─► [inline words]
//!        └─► split: Swap… (second job) ──┘                 └─► high, low, R_Key, length | 4 words ┘
//! ```
//!
//! What a step asks for stands in registers, so that RAM addresses start there; the step is one ahead of it. `Word1` and `Psn` bring the words of a remote
//! address, whose sum is a word one item later.

use super::wire_words::WireItem;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ProgramStep {
    Rest,
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
    shown: DFF<Bit>,
    shown_item: DFF<WireItem>,
    shown_wqe: DFF<Bits<4>>,
    shown_row: DFF<Bits<5>>,
    shown_low: DFF<Bit>,
    shown_high: DFF<Bit>,
    now_busy: Signal<Local, Bit>,
    now_item: Signal<Local, WireItem>,
    now_wqe: Signal<Local, Bits<4>>,
    now_row: Signal<Local, Bits<5>>,
    now_low: Signal<Local, Bit>,
    now_high: Signal<Local, Bit>,
    count: DFF<Bits<3>>,
    after: Signal<Local, ProgramStep>,
    payload_step: Signal<Local, ProgramStep>,
    trailer_step: Signal<Local, ProgramStep>,
    reached: Signal<Local, Bits<6>>,
}

impl<const U: usize> Logic for WireProgram<U> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, count, shown, shown_item, shown_wqe, shown_row, shown_low, shown_high);

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
        self.now_item.next = WireItem::Nothing;
        self.now_wqe.next = 0.into();
        self.now_row.next = 8.into();
        self.now_low.next = false;
        self.now_high.next = false;
        self.now_busy.next = true;
        match self.step.q.val() {
            ProgramStep::SwapWait => {
                if !self.job_open.val() {
                    self.after.next = ProgramStep::SwapLow;
                }
            }
            ProgramStep::SwapLow => {
                self.now_row.next = 5.into();
                self.after.next = ProgramStep::SwapHigh;
            }
            ProgramStep::SwapHigh => {
                self.now_row.next = 6.into();
                self.after.next = ProgramStep::SwapTake;
            }
            ProgramStep::SwapTake => {
                self.now_low.next = true;
                self.after.next = ProgramStep::SwapDone;
            }
            ProgramStep::SwapDone => {
                self.now_high.next = true;
                self.after.next = ProgramStep::Word1;
            }
            ProgramStep::Word1 => {
                self.now_item.next = WireItem::Word1;
                self.now_wqe.next = 4.into();
                self.after.next = ProgramStep::Psn;
            }
            ProgramStep::Psn => {
                self.now_item.next = WireItem::Psn;
                self.now_wqe.next = 5.into();
                self.after.next = self.trailer_step.val();
                if self.remote.val() {
                    self.after.next = ProgramStep::High;
                }
                for _i in 0..U {
                    if self.datagram.val() {
                        self.after.next = ProgramStep::Address;
                    }
                }
            }
            ProgramStep::High => {
                self.now_item.next = WireItem::High;
                self.now_wqe.next = 4.into();
                self.after.next = ProgramStep::Low;
            }
            ProgramStep::Low => {
                self.now_item.next = WireItem::Low;
                self.after.next = ProgramStep::Rkey;
            }
            ProgramStep::Rkey => {
                self.now_item.next = WireItem::Stored;
                self.now_wqe.next = 3.into();
                self.after.next = ProgramStep::Length;
                if self.atomic.val() {
                    self.after.next = ProgramStep::Operand;
                }
            }
            ProgramStep::Length => {
                self.now_item.next = WireItem::Length;
                self.after.next = self.trailer_step.val();
            }
            ProgramStep::Operand => {
                // Upper halves first: words 11, 10, 13, 12.
                self.now_item.next = WireItem::Stored;
                self.now_wqe.next = 11.into();
                if self.count.q.val() == 1 {
                    self.now_wqe.next = 10.into();
                }
                if self.count.q.val() == 2 {
                    self.now_wqe.next = 13.into();
                }
                if self.count.q.val() == 3 {
                    self.now_wqe.next = 12.into();
                    self.after.next = ProgramStep::Rest;
                }
            }
            ProgramStep::Trailer => {
                self.now_item.next = WireItem::Stored;
                self.now_wqe.next = 2.into();
                self.after.next = self.payload_step.val();
            }
            ProgramStep::Inline => {
                self.now_item.next = WireItem::Inline;
                self.now_wqe.next = bit_cast::<4, 3>(self.count.q.val()) + 6;
                if self.reached.val() >= self.bytes.val() {
                    self.after.next = ProgramStep::Rest;
                }
            }
            _ => {
                self.now_busy.next = false;
                if self.start.val() {
                    self.now_busy.next = true;
                    self.now_item.next = WireItem::Word0;
                    self.after.next = ProgramStep::Word1;
                    if self.split.val() {
                        self.after.next = ProgramStep::SwapWait;
                    }
                }
            }
        }
        for _i in 0..U {
            match self.step.q.val() {
                ProgramStep::Address => {
                    self.now_busy.next = true;
                    self.now_item.next = WireItem::Stored;
                    // Words 4, 5, 10 to 15.
                    self.now_wqe.next = bit_cast::<4, 3>(self.count.q.val()) + 8;
                    if !self.count.q.val().get_bits::<2>(1).any() {
                        self.now_wqe.next = bit_cast::<4, 3>(self.count.q.val()) + 4;
                    }
                    if self.count.q.val().all() {
                        self.after.next = ProgramStep::Qkey;
                    }
                }
                ProgramStep::Qkey => {
                    self.now_busy.next = true;
                    self.now_item.next = WireItem::Stored;
                    self.now_wqe.next = 3.into();
                    self.after.next = ProgramStep::Source;
                }
                ProgramStep::Source => {
                    self.now_busy.next = true;
                    self.now_item.next = WireItem::Source;
                    self.after.next = self.trailer_step.val();
                }
                _ => {}
            }
        }
        if self.advance.val() | !self.shown.q.val() {
            self.shown.d.next = self.now_busy.val();
            self.shown_item.d.next = self.now_item.val();
            self.shown_wqe.d.next = self.now_wqe.val();
            self.shown_row.d.next = self.now_row.val();
            self.shown_low.d.next = self.now_low.val();
            self.shown_high.d.next = self.now_high.val();
            self.step.d.next = self.after.val();
            self.count.d.next = 0.into();
            if (self.step.q.val() == ProgramStep::Address)
                | (self.step.q.val() == ProgramStep::Operand)
                | (self.step.q.val() == ProgramStep::Inline)
            {
                self.count.d.next = self.count.q.val() + 1;
            }
        }
        self.busy.next = self.shown.q.val();
        self.item.next = self.shown_item.q.val();
        // No other item is behind it: one that is no word never is the last.
        self.last.next = self.shown.q.val() & (self.step.q.val() == ProgramStep::Rest);
        self.wqe_item.next = self.shown_wqe.q.val();
        self.row_item.next = self.shown_row.q.val();
        self.put_low.next = self.shown_low.q.val();
        self.put_high.next = self.shown_high.q.val() & self.advance.val();

        if self.reset.val() {
            self.step.d.next = ProgramStep::Rest;
            self.shown.d.next = false;
            self.shown_item.d.next = WireItem::Nothing;
            self.shown_low.d.next = false;
            self.shown_high.d.next = false;
        }
    }

    crate::block_name!();
}
