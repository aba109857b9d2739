// SPDX-License-Identifier: MIT OR Apache-2.0
//! A QP's receive ring: its indices, the WQE under the consumer index, the doorbell's bounds.
//!
//! ```text
//! start ─► ring word, row word 8 ─► indices, size ─► empty? ─► done
//!                                        └─► row words 6, 7 ─► fetch 16 bytes ─► done, error
//! ```
//!
//! Without a fetch `done` comes 3 cycles after `start`. The indices hold until the next start. A WQE is fetched when its message begins and not
//! again while the message runs (R66); the consumer index moves when it completes, so a WQE of a broken message is flushed or used by the next.

use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReceiveQueueState {
    Idle,
    Ask,
    Ring,
    Check,
    High,
    Fetch,
}

#[derive(LogicBlock)]
pub struct ReceiveQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub fetch: Signal<In, Bit>,
    /// A doorbell's producer index.
    pub producer_new: Signal<In, Bits<16>>,
    pub busy: Signal<Out, Bit>,
    pub state_read: Signal<Out, Bit>,
    pub state_item: Signal<Out, Bits<3>>,
    pub state_word: Signal<In, Bits<32>>,
    pub row_read: Signal<Out, Bit>,
    pub row_item: Signal<Out, Bits<5>>,
    pub row_word: Signal<In, Bits<32>>,
    pub fetch_start: Signal<Out, Bit>,
    pub fetch_address_low: Signal<Out, Bits<32>>,
    pub fetch_address_high: Signal<Out, Bits<32>>,
    pub fetch_done: Signal<In, Bit>,
    pub fetch_error: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub empty: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    pub consumer: Signal<Out, Bits<16>>,
    pub producer: Signal<Out, Bits<16>>,
    /// `producer_new` is further ahead of the consumer than the ring is long (R69); good from the cycle after `done`.
    pub beyond: Signal<Out, Bit>,
    state: DFF<ReceiveQueueState>,
    consumer_kept: DFF<Bits<16>>,
    producer_kept: DFF<Bits<16>>,
    log: DFF<Bits<4>>,
    low: DFF<Bits<32>>,
    asked: DFF<Bit>,
    beyond_kept: DFF<Bit>,
    size: Signal<Local, Bits<16>>,
    mask: Signal<Local, Bits<16>>,
    ahead: Signal<Local, Bits<16>>,
    slot: Signal<Local, Bits<16>>,
    none: Signal<Local, Bit>,
    one: Constant<Bits<16>>,
    ring_item: Constant<Bits<3>>,
    word_log: Constant<Bits<5>>,
    word_low: Constant<Bits<5>>,
    word_high: Constant<Bits<5>>,
}

impl Default for ReceiveQueue {
    fn default() -> Self {
        let word = |field: verbena_spec::layout::Field| Constant::new((field.word as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            fetch: Default::default(),
            producer_new: Default::default(),
            busy: Default::default(),
            state_read: Default::default(),
            state_item: Default::default(),
            state_word: Default::default(),
            row_read: Default::default(),
            row_item: Default::default(),
            row_word: Default::default(),
            fetch_start: Default::default(),
            fetch_address_low: Default::default(),
            fetch_address_high: Default::default(),
            fetch_done: Default::default(),
            fetch_error: Default::default(),
            done: Default::default(),
            empty: Default::default(),
            error: Default::default(),
            consumer: Default::default(),
            producer: Default::default(),
            beyond: Default::default(),
            state: Default::default(),
            consumer_kept: Default::default(),
            producer_kept: Default::default(),
            log: Default::default(),
            low: Default::default(),
            asked: Default::default(),
            beyond_kept: Default::default(),
            size: Default::default(),
            mask: Default::default(),
            ahead: Default::default(),
            slot: Default::default(),
            none: Default::default(),
            one: Constant::new(1u64.to_bits()),
            ring_item: Constant::new(2u64.to_bits()),
            word_log: word(qp::RQ_LOG),
            word_low: word(qp::RQ_BASE_LOW),
            word_high: word(qp::RQ_BASE_HIGH),
        }
    }
}

impl Logic for ReceiveQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, consumer_kept, producer_kept, log, low, asked, beyond_kept);

        self.size.next = self.one.val() << self.log.q.val();
        self.mask.next = self.size.val() - 1;
        self.ahead.next = self.producer_new.val() - self.consumer_kept.q.val();
        self.beyond_kept.d.next = self.ahead.val() > self.size.val();
        self.beyond.next = self.beyond_kept.q.val();
        self.slot.next = self.consumer_kept.q.val() & self.mask.val();
        self.none.next = self.consumer_kept.q.val() == self.producer_kept.q.val();

        self.state_read.next = false;
        self.state_item.next = self.ring_item.val();
        self.row_read.next = false;
        self.row_item.next = self.word_log.val();
        self.fetch_start.next = false;
        self.done.next = false;
        self.error.next = false;
        self.busy.next = self.state.q.val() != ReceiveQueueState::Idle;

        match self.state.q.val() {
            ReceiveQueueState::Idle => {
                if self.start.val() {
                    self.asked.d.next = self.fetch.val();
                    self.state.d.next = ReceiveQueueState::Ask;
                }
            }
            ReceiveQueueState::Ask => {
                self.state_read.next = true;
                self.row_read.next = true;
                self.state.d.next = ReceiveQueueState::Ring;
            }
            ReceiveQueueState::Ring => {
                self.producer_kept.d.next = self.state_word.val().get_bits::<16>(0);
                self.consumer_kept.d.next = self.state_word.val().get_bits::<16>(16);
                self.log.d.next = self.row_word.val().get_bits::<4>(0);
                self.row_read.next = self.asked.q.val();
                self.row_item.next = self.word_low.val();
                self.state.d.next = ReceiveQueueState::Check;
            }
            ReceiveQueueState::Check => {
                if self.none.val() | !self.asked.q.val() {
                    self.done.next = true;
                    self.state.d.next = ReceiveQueueState::Idle;
                } else {
                    // The ring is aligned to its size: the slot's bits are zero in the base.
                    self.low.d.next = self.row_word.val() | (bit_cast::<32, 16>(self.slot.val()) << 5);
                    self.row_read.next = true;
                    self.row_item.next = self.word_high.val();
                    self.state.d.next = ReceiveQueueState::High;
                }
            }
            ReceiveQueueState::High => {
                self.fetch_start.next = true;
                self.state.d.next = ReceiveQueueState::Fetch;
            }
            ReceiveQueueState::Fetch => {
                if self.fetch_done.val() {
                    self.done.next = true;
                    self.error.next = self.fetch_error.val();
                    self.state.d.next = ReceiveQueueState::Idle;
                }
            }
            _ => {
                self.state.d.next = ReceiveQueueState::Idle;
            }
        }
        self.fetch_address_low.next = self.low.q.val();
        // Nobody reads the row RAM during a fetch, so its output register holds the upper half.
        self.fetch_address_high.next = self.row_word.val();
        self.empty.next = self.none.val();
        self.consumer.next = self.consumer_kept.q.val();
        self.producer.next = self.producer_kept.q.val();

        if self.reset.val() {
            self.state.d.next = ReceiveQueueState::Idle;
        }
    }

    crate::block_name!();
}
