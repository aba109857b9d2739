// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event queue's indices.
//!
//! ```text
//! issue ─► issued (where the next event goes) ··· write ··· landed ─► producer ─► pending: producer != consumer
//! ```
//!
//! Software sees an event only once its write has landed: `producer` and the interrupt follow the B response.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

#[derive(LogicBlock)]
pub struct EventQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// EQ_CONTROL and EQ_CONSUMER.
    pub control: Signal<In, Bits<32>>,
    pub consumer: Signal<In, Bits<16>>,
    /// One cycle each. No event is on its way at a restart.
    pub restart: Signal<In, Bit>,
    pub issue: Signal<In, Bit>,
    pub landed: Signal<In, Bit>,
    pub issued: Signal<Out, Bits<16>>,
    pub producer: Signal<Out, Bits<16>>,
    pub pending: Signal<Out, Bit>,
    issued_index: DFF<Bits<16>>,
    producer_index: DFF<Bits<16>>,
    pending_flag: DFF<Bit>,
    index_mask: Constant<Bits<16>>,
}

impl EventQueue {
    pub fn new(config: &Config) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            control: Default::default(),
            consumer: Default::default(),
            restart: Default::default(),
            issue: Default::default(),
            landed: Default::default(),
            issued: Default::default(),
            producer: Default::default(),
            pending: Default::default(),
            issued_index: Default::default(),
            producer_index: Default::default(),
            pending_flag: Default::default(),
            index_mask: Constant::new(config.index_mask().to_bits()),
        }
    }
}

impl Logic for EventQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, issued_index, producer_index, pending_flag);

        self.issued.next = self.issued_index.q.val();
        self.producer.next = self.producer_index.q.val();
        self.pending.next = self.pending_flag.q.val();
        self.pending_flag.d.next =
            self.control.val().get_bit(31) & (self.producer_index.q.val() != (self.consumer.val() & self.index_mask.val()));

        if self.issue.val() {
            self.issued_index.d.next = (self.issued_index.q.val() + 1) & self.index_mask.val();
        }
        if self.landed.val() {
            self.producer_index.d.next = (self.producer_index.q.val() + 1) & self.index_mask.val();
        }
        if self.restart.val() | self.reset.val() {
            self.issued_index.d.next = 0.into();
            self.producer_index.d.next = 0.into();
            self.pending_flag.d.next = false;
        }
    }

    crate::block_name!();
}
