// SPDX-License-Identifier: MIT OR Apache-2.0
//! A QP's receive ring: is a WQE posted, the WQE under the consumer index, the doorbell's bounds.
//!
//! ```text
//! start ─► ring word, row word 8 ─► log, ahead ─► empty?, beyond? ─► done
//!                                        └─► row words 6, 7 ─► fetch 16 bytes ─► done, error
//! ```
//!
//! Without a fetch `done` comes 5 cycles after `start`. The indices stay in the state RAM's output register, which nobody else reads meanwhile.
//! A WQE is fetched when its message begins and not again while the message runs (R66); the consumer index moves when it completes, so a WQE of a
//! broken message is flushed or used by the next.

use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReceiveQueueState {
    Idle,
    Ask,
    Ring,
    Check,
    High,
    Start,
    Fetch,
    Settle,
}

#[derive(LogicBlock)]
pub struct ReceiveQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub fetch: Signal<In, Bit>,
    /// The producer index: the ring word's, or a doorbell's.
    pub producer: Signal<In, Bits<16>>,
    /// Of the ring word, which whoever started this has to name.
    pub state_read: Signal<Out, Bit>,
    /// One cycle after the RAM's, or at once.
    pub state_word: Signal<In, Bits<32>>,
    pub row_read: Signal<Out, Bit>,
    pub row_item: Signal<Out, Bits<5>>,
    pub row_word: Signal<In, Bits<32>>,
    pub fetch_start: Signal<Out, Bit>,
    /// Stand from the start to the end of the fetch.
    pub fetch_address_low: Signal<Out, Bits<32>>,
    pub fetch_address_high: Signal<Out, Bits<32>>,
    pub fetch_done: Signal<In, Bit>,
    pub fetch_error: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    /// Holds until the next start, from `done` on.
    pub empty: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    /// `producer` is further ahead of the consumer than the ring is long (R69); good in the `done` cycle of a start without fetch.
    pub beyond: Signal<Out, Bit>,
    state: DFF<ReceiveQueueState>,
    log: DFF<Bits<4>>,
    low: DFF<Bits<32>>,
    asked: DFF<Bit>,
    none: DFF<Bit>,
    /// Consumer - producer.
    minus: DFF<Bits<16>>,
    beyond_kept: DFF<Bit>,
    outside: Signal<Local, Bits<16>>,
    slot: Signal<Local, Bits<16>>,
    slot_address: Signal<Local, Bits<32>>,
    /// One bus address is one word.
    narrow: Constant<Bit>,
    ones: Constant<Bits<16>>,
    word_log: Constant<Bits<5>>,
    word_low: Constant<Bits<5>>,
    word_high: Constant<Bits<5>>,
    address_low: Constant<Bits<32>>,
    address_high: Constant<Bits<32>>,
}

impl ReceiveQueue {
    /// Bus addresses have ones only where `address_mask` has.
    pub fn new(address_mask: u64) -> Self {
        let word = |field: verbena_spec::layout::Field| Constant::new((field.word as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            fetch: Default::default(),
            producer: Default::default(),
            state_read: Default::default(),
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
            beyond: Default::default(),
            state: Default::default(),
            log: Default::default(),
            low: Default::default(),
            asked: Default::default(),
            none: Default::default(),
            minus: Default::default(),
            beyond_kept: Default::default(),
            outside: Default::default(),
            slot: Default::default(),
            slot_address: Default::default(),
            narrow: Constant::new(address_mask >> 32 == 0),
            ones: Constant::new(0xffffu64.to_bits()),
            word_log: word(qp::RQ_LOG),
            word_low: word(qp::RQ_BASE_LOW),
            word_high: word(qp::RQ_BASE_HIGH),
            address_low: Constant::new((address_mask & 0xffff_ffff).to_bits()),
            address_high: Constant::new((address_mask >> 32).to_bits()),
        }
    }
}

impl Logic for ReceiveQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, log, low, asked, none, minus, beyond_kept);

        // Ones above the slot's bits.
        self.outside.next = self.ones.val() << self.log.q.val();
        self.slot.next = self.state_word.val().get_bits::<16>(16) & !self.outside.val();
        // The ring is aligned to its size: the slot's bits are zero in the base.
        self.slot_address.next = self.row_word.val() | (bit_cast::<32, 16>(self.slot.val()) << 5);
        // WQEs ahead, less one, are !(consumer - producer): none of its bits may lie outside, unless there are none ahead.
        self.minus.d.next = self.state_word.val().get_bits::<16>(16) - self.producer.val();
        self.beyond_kept.d.next = (self.outside.val() & !self.minus.q.val()).any() & self.minus.q.val().any();
        self.beyond.next = self.beyond_kept.q.val();

        self.state_read.next = false;
        self.row_read.next = false;
        self.row_item.next = self.word_log.val();
        self.fetch_start.next = false;
        self.done.next = false;
        self.error.next = false;

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
                self.row_read.next = self.asked.q.val();
                self.row_item.next = self.word_low.val();
                self.state.d.next = ReceiveQueueState::Check;
            }
            ReceiveQueueState::Check => {
                self.log.d.next = self.row_word.val().get_bits::<4>(0);
                self.row_read.next = self.asked.q.val() & !self.narrow.val();
                self.row_item.next = self.word_high.val();
                self.state.d.next = ReceiveQueueState::High;
            }
            ReceiveQueueState::High => {
                self.none.d.next = !self.minus.q.val().any();
                self.low.d.next = self.slot_address.val();
                self.state.d.next = ReceiveQueueState::Settle;
                if self.asked.q.val() & self.minus.q.val().any() {
                    self.state.d.next = ReceiveQueueState::Start;
                }
            }
            ReceiveQueueState::Start => {
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
            ReceiveQueueState::Settle => {
                self.done.next = true;
                self.state.d.next = ReceiveQueueState::Idle;
            }
            _ => {
                self.state.d.next = ReceiveQueueState::Idle;
            }
        }
        // Nobody reads the RAMs during a fetch, so their output registers hold the address: its upper half, or, where it is one word, all of it.
        self.fetch_address_low.next = self.low.q.val() & self.address_low.val();
        self.fetch_address_high.next = self.row_word.val() & self.address_high.val();
        if self.narrow.val() {
            self.fetch_address_low.next = self.slot_address.val() & self.address_low.val();
        }
        self.empty.next = self.none.q.val();

        if self.reset.val() {
            self.state.d.next = ReceiveQueueState::Idle;
        }
    }

    crate::block_name!();
}
