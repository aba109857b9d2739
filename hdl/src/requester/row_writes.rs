// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is written to a QP's row between turns: what a turn leaves behind, and the scheduler's orders.
//!
//! ```text
//!          ┌─► (index) SaveBegun ─► SavePsn ─► SaveHighest ─► SaveOffset ─► SavePlace ─┐
//! Rest ────┼─► Ask ─► Wait ─► Index (rewind) ─► Psn ─────────► Offset ────────────────┼─► Rest
//!   ▲      │                  Psn (begin) ─► Highest ─► Index, Begun ─►┘              │
//!   │      ├─► ResumeAsk ─► ResumeWait ─► ResumePsn ─► ResumeOffset ─► ResumeIndex ───┤
//!   └──────┴─► Fault ◄────────────────────────────────────────────────────────────────┘
//! ```
//!
//! What is written goes through a register, so that the sums on the way stand behind none of the row's other sources. A turn's words are written while the next one is loaded: `issue` writes the first, the others follow one a cycle, and the turn's facts must stay so long:
//! `fresh` 2 cycles from `issue` on, the PSNs 3, `next_offset` and `last` 5, `newest` and `selective` 6. Orders read words of the row before: item `row_item`, asked for from `Ask` on.
//! `resume`: the row goes on at its highest PSN, the place of which is in words 2 and 12.

use super::SendOrder;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum RowStep {
    Rest,
    SaveBegun,
    SavePsn,
    SaveOffset,
    SaveHighest,
    SavePlace,
    Ask,
    Wait,
    RewindIndex,
    RewindPsn,
    BeginPsn,
    BeginHighest,
    BeginIndex,
    BeginBegun,
    Offset,
    Fault,
    ResumeAsk,
    ResumeWait,
    ResumePsn,
    ResumeOffset,
    ResumeIndex,
}

#[derive(LogicBlock, Default)]
pub struct RowWrites<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Nothing is written, and nothing will be without being asked for.
    pub idle: Signal<Out, Bit>,
    /// One cycle: a packet is on its way, these are the facts.
    pub issue: Signal<In, Bit>,
    /// Its QP.
    pub index: Signal<In, Bits<QA>>,
    /// It begins a message; ends one; has the highest PSN so far.
    pub fresh: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub newest: Signal<In, Bit>,
    /// The QP's attribute, as word 2 has it.
    pub selective: Signal<In, Bit>,
    pub window: Signal<In, Bits<6>>,
    /// One cycle: on from the highest PSN. Its WQE; whether that is inside a message. Both stand until `idle`.
    pub resume: Signal<In, Bit>,
    pub resume_wqe: Signal<In, Bits<16>>,
    pub mid_message: Signal<In, Bit>,
    pub next_wqe: Signal<In, Bits<16>>,
    /// First WQE never begun, before the packet.
    pub begun: Signal<In, Bits<16>>,
    pub psn_after: Signal<In, Bits<24>>,
    pub next_offset: Signal<In, Bits<32>>,
    pub order: Signal<In, SendOrder>,
    pub order_valid: Signal<In, Bit>,
    pub order_index: Signal<In, Bits<QA>>,
    pub order_done: Signal<Out, Bit>,
    pub rewind_psn: Signal<In, Bits<24>>,
    pub rewind_wqe: Signal<In, Bits<16>>,
    pub rewind_offset: Signal<In, Bits<32>>,
    pub rewind_alone: Signal<In, Bit>,
    pub tracker_wqe: Signal<In, Bits<16>>,
    /// The row, and what is asked of it while an order runs.
    pub asking: Signal<Out, Bit>,
    pub row_item: Signal<Out, Bits<5>>,
    pub row_word: Signal<In, Bits<32>>,
    pub write: Signal<Out, Bit>,
    /// `index` while nothing is written from here.
    pub write_index: Signal<Out, Bits<QA>>,
    pub write_item: Signal<Out, Bits<5>>,
    pub write_data: Signal<Out, Bits<32>>,
    step: DFF<RowStep>,
    out_write: DFF<Bit>,
    out_index: DFF<Bits<QA>>,
    out_item: DFF<Bits<5>>,
    out_data: DFF<Bits<32>>,
    now_write: Signal<Local, Bit>,
    now_index: Signal<Local, Bits<QA>>,
    now_item: Signal<Local, Bits<5>>,
    now_data: Signal<Local, Bits<32>>,
    kept: DFF<Bits<QA>>,
    saving: Signal<Local, Bit>,
    asks: DFF<Bit>,
    asked: DFF<Bits<5>>,
    /// The WQE indices and one more, so that no sum stands before what is written.
    next_one: DFF<Bits<16>>,
    begun_one: DFF<Bits<16>>,
    /// The packet doesn't end its message; the host's word says selective repeat, and its window.
    unended: Signal<Local, Bit>,
    wanted: Signal<Local, Bit>,
    wanted_window: Signal<Local, Bits<6>>,
    /// What they are after the packet: known before it is issued.
    after: DFF<Bits<16>>,
    following: DFF<Bits<16>>,
    psn: Signal<Local, Bits<32>>,
}

impl<const QA: usize> Logic for RowWrites<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, kept, out_write, out_index, out_item, out_data, asks, asked, next_one, begun_one, after, following);

        self.after.d.next = self.next_wqe.val();
        if self.last.val() {
            self.after.d.next = self.next_one.q.val();
        }
        self.following.d.next = self.begun.val();
        if self.fresh.val() {
            self.following.d.next = self.begun_one.q.val();
        }
        self.next_one.d.next = self.next_wqe.val() + 1;
        self.begun_one.d.next = self.begun.val() + 1;
        self.unended.next = !self.last.val();
        self.wanted.next = self.row_word.val().get_bit(16);
        self.wanted_window.next = self.row_word.val().get_bits::<6>(17);
        self.psn.next = bit_cast::<32, 24>(self.psn_after.val());
        self.saving.next = (self.step.q.val() == RowStep::SaveBegun)
            | (self.step.q.val() == RowStep::SavePsn)
            | (self.step.q.val() == RowStep::SaveOffset)
            | (self.step.q.val() == RowStep::SaveHighest)
            | (self.step.q.val() == RowStep::SavePlace)
            | (self.step.q.val() == RowStep::ResumePsn)
            | (self.step.q.val() == RowStep::ResumeOffset)
            | (self.step.q.val() == RowStep::ResumeIndex);
        self.now_index.next = self.order_index.val();
        if self.saving.val() {
            self.now_index.next = self.kept.q.val();
        }
        if self.step.q.val() == RowStep::Rest {
            self.now_index.next = self.index.val();
            self.kept.d.next = self.index.val();
        }
        self.idle.next = (self.step.q.val() == RowStep::Rest) & !self.out_write.q.val();
        self.asking.next = self.asks.q.val();
        self.row_item.next = self.asked.q.val();
        // RTR to RTS takes SQ_PSN and, a cycle later, the attribute; a rewind keeps the half word that isn't its own.
        self.asks.d.next = false;
        self.asked.d.next = 11.into();
        if self.order.val() == SendOrder::Rewind {
            self.asked.d.next = 1.into();
        }
        self.now_write.next = false;
        self.now_item.next = 0.into();
        self.now_data.next = self.psn.val();
        self.order_done.next = false;
        match self.step.q.val() {
            RowStep::SaveBegun => {
                self.now_write.next = self.fresh.val();
                self.now_item.next = 3.into();
                self.now_data.next = bit_cast::<32, 16>(self.following.q.val());
                self.step.d.next = RowStep::SavePsn;
            }
            RowStep::SavePsn => {
                self.now_write.next = true;
                self.step.d.next = RowStep::SaveHighest;
            }
            RowStep::SaveHighest => {
                // The PSN of the cycle before.
                self.now_write.next = self.newest.val();
                self.now_item.next = 2.into();
                self.now_data.next = self.out_data.q.val()
                    | (bit_cast::<32, 1>(self.unended.val().into()) << 24)
                    | (bit_cast::<32, 1>(self.selective.val().into()) << 25)
                    | (bit_cast::<32, 6>(self.window.val()) << 26);
                self.step.d.next = RowStep::SaveOffset;
            }
            RowStep::SaveOffset => {
                self.now_write.next = true;
                self.now_item.next = 4.into();
                self.now_data.next = self.next_offset.val();
                if self.last.val() {
                    self.now_data.next = 0.into();
                }
                self.step.d.next = RowStep::SavePlace;
            }
            RowStep::SavePlace => {
                // The offset of the cycle before.
                self.now_write.next = self.newest.val();
                self.now_item.next = 12.into();
                self.now_data.next = self.out_data.q.val();
                self.step.d.next = RowStep::Rest;
            }
            RowStep::Ask => {
                self.asks.d.next = true;
                self.step.d.next = RowStep::Wait;
            }
            RowStep::Wait => {
                self.step.d.next = RowStep::BeginPsn;
                if self.order.val() == SendOrder::Rewind {
                    self.step.d.next = RowStep::RewindIndex;
                }
            }
            RowStep::RewindIndex => {
                self.now_write.next = true;
                self.now_item.next = 1.into();
                self.now_data.next =
                    bit_cast::<32, 16>(self.rewind_wqe.val()) | (bit_cast::<32, 16>(self.row_word.val().get_bits::<16>(16)) << 16);
                self.step.d.next = RowStep::RewindPsn;
            }
            RowStep::RewindPsn => {
                self.now_write.next = true;
                self.now_data.next = bit_cast::<32, 24>(self.rewind_psn.val()) | (bit_cast::<32, 1>(self.rewind_alone.val().into()) << 24);
                self.step.d.next = RowStep::Offset;
            }
            RowStep::BeginPsn => {
                // R41: the PSN of the row, every time.
                self.now_write.next = true;
                self.now_data.next = bit_cast::<32, 24>(self.row_word.val().get_bits::<24>(0));
                self.step.d.next = RowStep::BeginHighest;
            }
            RowStep::BeginHighest => {
                self.now_write.next = true;
                self.now_item.next = 2.into();
                self.now_data.next = self.out_data.q.val()
                    | (bit_cast::<32, 1>(self.wanted.val().into()) << 25)
                    | (bit_cast::<32, 6>(self.wanted_window.val()) << 26);
                self.step.d.next = RowStep::BeginIndex;
            }
            RowStep::BeginIndex => {
                self.now_write.next = true;
                self.now_item.next = 1.into();
                self.now_data.next = 0.into();
                self.step.d.next = RowStep::BeginBegun;
            }
            RowStep::BeginBegun => {
                self.now_write.next = true;
                self.now_item.next = 3.into();
                self.now_data.next = 0.into();
                self.step.d.next = RowStep::Offset;
            }
            RowStep::Offset => {
                self.now_write.next = true;
                self.now_item.next = 4.into();
                self.now_data.next = 0.into();
                if self.order.val() == SendOrder::Rewind {
                    self.now_data.next = self.rewind_offset.val();
                }
                self.order_done.next = true;
                self.step.d.next = RowStep::Rest;
            }
            RowStep::ResumeAsk => {
                self.asks.d.next = true;
                self.asked.d.next = 12.into();
                self.step.d.next = RowStep::ResumeWait;
            }
            RowStep::ResumeWait => {
                self.step.d.next = RowStep::ResumePsn;
            }
            RowStep::ResumePsn => {
                self.now_write.next = true;
                self.now_data.next = bit_cast::<32, 24>(self.row_word.val().get_bits::<24>(0));
                self.step.d.next = RowStep::ResumeOffset;
            }
            RowStep::ResumeOffset => {
                self.now_write.next = true;
                self.now_item.next = 4.into();
                self.now_data.next = 0.into();
                if self.mid_message.val() {
                    self.now_data.next = self.row_word.val();
                }
                self.step.d.next = RowStep::ResumeIndex;
            }
            RowStep::ResumeIndex => {
                self.now_write.next = true;
                self.now_item.next = 1.into();
                self.now_data.next = bit_cast::<32, 16>(self.resume_wqe.val()) | (bit_cast::<32, 16>(self.begun.val()) << 16);
                self.step.d.next = RowStep::Rest;
            }
            RowStep::Fault => {
                self.now_write.next = true;
                self.now_item.next = 7.into();
                self.now_data.next = bit_cast::<32, 16>(self.tracker_wqe.val());
                self.order_done.next = true;
                self.step.d.next = RowStep::Rest;
            }
            _ => {
                self.asks.d.next = self.order_valid.val() | self.resume.val();
                if self.order.val() != SendOrder::Rewind {
                    self.asked.d.next = 10.into();
                }
                if self.resume.val() {
                    self.asked.d.next = 2.into();
                }
                self.now_write.next = self.issue.val();
                self.now_item.next = 1.into();
                self.now_data.next = bit_cast::<32, 16>(self.after.q.val()) | (bit_cast::<32, 16>(self.following.q.val()) << 16);
                if self.issue.val() {
                    self.step.d.next = RowStep::SaveBegun;
                } else if self.resume.val() {
                    self.step.d.next = RowStep::ResumeAsk;
                } else {
                    if self.order_valid.val() {
                        self.step.d.next = RowStep::Ask;
                        if self.order.val() == SendOrder::Fail {
                            self.step.d.next = RowStep::Fault;
                        }
                    }
                }
            }
        }
        self.out_write.d.next = self.now_write.val();
        self.out_index.d.next = self.now_index.val();
        self.out_item.d.next = self.now_item.val();
        self.out_data.d.next = self.now_data.val();
        self.write.next = self.out_write.q.val();
        self.write_item.next = self.out_item.q.val();
        self.write_data.next = self.out_data.q.val();
        self.write_index.next = self.index.val();
        if self.out_write.q.val() {
            self.write_index.next = self.out_index.q.val();
        }
        if self.reset.val() {
            self.out_write.d.next = false;
            self.asks.d.next = false;
            self.step.d.next = RowStep::Rest;
        }
    }

    crate::block_name!();
}
