// SPDX-License-Identifier: MIT OR Apache-2.0
//! The queue of tokens: whose turn it is, round robin, and what each turn must know.
//!
//! ```text
//! push ─┬───────────────────────────────┬─► front ─► turn
//!       └─► late ─► FIFO ─► second ────┘     └─► head: the front of the next cycle, for a RAM's address
//! ```
//!
//! A token says what its turn must know; `distrust` says that those in the queue may be wrong: each is looked at by the scheduler once it is at the
//! front (`unsure`), which then tells what is so (`tell`), or drops it. A word pushed behind others is a cycle on its way; the next one comes later than that.
//! `QB` = `QA` + 1, `QS` = `QA` + 3.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct TurnQueue<const QA: usize, const QB: usize, const QS: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A token: pushed; or told of the one at the front.
    pub push: Signal<In, Bit>,
    pub tell: Signal<In, Bit>,
    pub index: Signal<In, Bits<QA>>,
    /// Slot of the WQE to send; a payload read has failed; SQD.
    pub slot: Signal<In, Bit>,
    pub error: Signal<In, Bit>,
    pub draining: Signal<In, Bit>,
    /// The front leaves: with its turn, or for nothing.
    pub take: Signal<In, Bit>,
    pub discard: Signal<In, Bit>,
    /// All tokens in the queue may be wrong, and what was told.
    pub distrust: Signal<In, Bit>,
    /// An order is open: `head` is the QP in `index`.
    pub order_open: Signal<In, Bit>,
    /// There is a front, and what it says is so; or it has to be looked at.
    pub valid: Signal<Out, Bit>,
    pub unsure: Signal<Out, Bit>,
    pub front_index: Signal<Out, Bits<QA>>,
    pub front_error: Signal<Out, Bit>,
    pub front_draining: Signal<Out, Bit>,
    /// QP and slot of the front as it is in the next cycle, if there is one then.
    pub head_index: Signal<Out, Bits<QA>>,
    pub head_slot: Signal<Out, Bit>,
    queue: Fifo<QA, QB, QS>,
    /// The head of the queue, in a register: what the segmenter's choice starts from.
    front: DFF<Bits<QS>>,
    front_valid: DFF<Bit>,
    /// The one behind it, out of the FIFO.
    second: DFF<Bits<QS>>,
    second_valid: DFF<Bit>,
    /// A token on its way into the queue behind it.
    late: DFF<Bit>,
    late_token: DFF<Bits<QS>>,
    /// Tokens behind it, that one too; all tokens in the queue; how many of them, the oldest, may say what is no longer so.
    stored_tokens: DFF<Bits<QB>>,
    some_stored: DFF<Bit>,
    waiting: DFF<Bits<QB>>,
    doubt: DFF<Bits<QB>>,
    /// There are such, a cycle later.
    doubtful: DFF<Bit>,
    /// What was found out about such a one at the front: it stands, and did a cycle ago.
    known: DFF<Bit>,
    known_still: DFF<Bit>,
    known_slot: DFF<Bit>,
    known_error: DFF<Bit>,
    known_draining: DFF<Bit>,
    token: Signal<Local, Bits<QS>>,
    arriving: Signal<Local, Bits<QS>>,
    following: Signal<Local, Bits<QS>>,
    count: Signal<Local, Bits<QB>>,
    doubts: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    stores: Signal<Local, Bit>,
    passing: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
}

impl<const QA: usize, const QB: usize, const QS: usize> Logic for TurnQueue<QA, QB, QS> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            front,
            front_valid,
            second,
            second_valid,
            late,
            late_token,
            stored_tokens,
            some_stored,
            waiting,
            doubt,
            doubtful,
            known,
            known_still,
            known_slot,
            known_error,
            known_draining
        );
        clock!(self, clock, queue);
        self.queue.reset.next = self.reset.val();
        self.token.next = (bit_cast::<QS, QA>(self.index.val()) << 3)
            | bit_cast::<QS, 1>(self.slot.val().into())
            | (bit_cast::<QS, 1>(self.error.val().into()) << 1)
            | (bit_cast::<QS, 1>(self.draining.val().into()) << 2);
        self.pop.next = self.take.val() | self.discard.val();
        self.open.next = !self.front_valid.q.val();
        self.passing.next = self.open.val() & !self.some_stored.q.val();
        self.stores.next = self.push.val() & !self.passing.val();
        // What stays behind is a cycle on its way; the next one comes later than that.
        self.late.d.next = self.stores.val();
        self.late_token.d.next = self.token.val();
        self.queue.s_valid.next = self.late.q.val();
        self.queue.s_data.next = self.late_token.q.val();
        self.queue.m_ready.next = !self.second_valid.q.val();
        if self.second_valid.q.val() {
            self.second_valid.d.next = !self.open.val();
        } else {
            self.second_valid.d.next = self.queue.m_valid.val();
            self.second.d.next = self.queue.m_data.val();
        }
        self.leaves.next = self.second_valid.q.val() & self.open.val();
        self.arriving.next = self.token.val();
        if self.some_stored.q.val() {
            self.arriving.next = self.second.q.val();
        }
        self.following.next = self.front.q.val();
        if self.open.val() {
            self.front_valid.d.next = self.second_valid.q.val() | (self.push.val() & self.passing.val());
            self.following.next = self.arriving.val();
        }
        self.front.d.next = self.following.val();
        if self.pop.val() {
            self.front_valid.d.next = false;
        }
        self.count.next = self.stored_tokens.q.val();
        if self.stores.val() & !self.leaves.val() {
            self.count.next = self.stored_tokens.q.val() + 1;
        }
        if self.leaves.val() & !self.stores.val() {
            self.count.next = self.stored_tokens.q.val() - 1;
        }
        self.stored_tokens.d.next = self.count.val();
        self.some_stored.d.next = self.stores.val() | (self.some_stored.q.val() & !(self.leaves.val() & (self.stored_tokens.q.val() == 1)));
        if self.push.val() & !self.pop.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        if self.pop.val() & !self.push.val() {
            self.waiting.d.next = self.waiting.q.val() - 1;
        }
        self.doubts.next = self.doubt.q.val().any();
        self.doubtful.d.next = self.doubts.val();
        if self.pop.val() & self.doubtful.q.val() {
            self.doubt.d.next = self.doubt.q.val() - 1;
        }
        if self.distrust.val() {
            self.doubt.d.next = self.waiting.q.val();
        }
        if self.tell.val() {
            self.known.d.next = true;
            self.known_slot.d.next = self.slot.val();
            self.known_error.d.next = self.error.val();
            self.known_draining.d.next = self.draining.val();
        }
        if self.take.val() | self.distrust.val() {
            self.known.d.next = false;
        }
        self.known_still.d.next = self.known.q.val();

        // Out. `head_slot` is a cycle behind what is told.
        self.unsure.next = self.front_valid.q.val() & !self.known.q.val() & self.doubtful.q.val();
        self.valid.next = self.front_valid.q.val() & ((self.known.q.val() & self.known_still.q.val()) | !self.doubtful.q.val());
        self.front_index.next = self.front.q.val().get_bits::<QA>(3);
        self.front_error.next = self.front.q.val().get_bit(1);
        self.front_draining.next = self.front.q.val().get_bit(2);
        if self.doubtful.q.val() {
            self.front_error.next = self.known_error.q.val();
            self.front_draining.next = self.known_draining.q.val();
        }
        self.head_index.next = self.following.val().get_bits::<QA>(3);
        if self.order_open.val() {
            self.head_index.next = self.index.val();
        }
        self.head_slot.next = self.following.val().get_bit(0);
        if self.doubts.val() {
            self.head_slot.next = self.known_slot.q.val();
        }

        if self.reset.val() {
            self.late.d.next = false;
            self.known.d.next = false;
            self.known_still.d.next = false;
            self.front_valid.d.next = false;
            self.second_valid.d.next = false;
            self.stored_tokens.d.next = 0.into();
            self.some_stored.d.next = false;
            self.waiting.d.next = 0.into();
            self.doubt.d.next = 0.into();
        }
    }

    crate::block_name!();
}
