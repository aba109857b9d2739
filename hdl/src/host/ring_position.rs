// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the next entry of a ring goes.
//!
//! ```text
//! producer, log ─► slot = producer mod 2^log, phase = not bit `log` of producer
//! producer - consumer, log ─► full: 2^log entries or more are waiting
//! ```
//!
//! Combinational. Indices run freely over one bit more than the preset's largest ring needs (16 for 2^15 entries). The phase is 1 on the first round.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

#[derive(LogicBlock)]
pub struct RingPosition {
    pub log: Signal<In, Bits<4>>,
    pub producer: Signal<In, Bits<16>>,
    /// Producer minus consumer.
    pub waiting: Signal<In, Bits<16>>,
    pub slot: Signal<Out, Bits<16>>,
    pub phase: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    upper: Signal<Local, Bits<16>>,
    round: Signal<Local, Bits<16>>,
    ones: Constant<Bits<16>>,
}

impl RingPosition {
    pub fn new(config: &Config) -> Self {
        Self {
            log: Default::default(),
            producer: Default::default(),
            waiting: Default::default(),
            slot: Default::default(),
            phase: Default::default(),
            full: Default::default(),
            upper: Default::default(),
            round: Default::default(),
            ones: Constant::new(config.index_mask().to_bits()),
        }
    }
}

impl Logic for RingPosition {
    #[hdl_gen]
    fn update(&mut self) {
        self.upper.next = self.ones.val() << self.log.val();
        self.round.next = self.producer.val() >> self.log.val();
        self.slot.next = self.producer.val() & !self.upper.val();
        self.phase.next = !self.round.val().get_bit(0);
        self.full.next = (self.waiting.val() & self.upper.val()).any();
    }

    crate::block_name!();
}
