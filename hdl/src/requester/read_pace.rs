// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast READ and ATOMIC requests may leave: 64 at once, then one in 80 cycles.
//!
//! ```text
//! sent ─► level, up ─► level = 64 ─► full
//! tick, every 80 cycles ─► down
//! ```
//!
//! A request is 12 cycles of wire, and its answer is the peer's work: with many QPs a burst of requests would overflow the queue in which the peer keeps
//! them (128 heads in ours, which takes one in 69 cycles beside its responses). It depends on nothing but time, so no lost answer can stop it.

use rust_hdl::prelude::*;

/// The pace.
#[derive(LogicBlock)]
pub struct ReadPace {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A READ or ATOMIC request leaves; never while `full`.
    pub sent: Signal<In, Bit>,
    /// The next one has to wait.
    pub full: Signal<Out, Bit>,
    level: DFF<Bits<7>>,
    tick: DFF<Bits<7>>,
    down: Signal<Local, Bit>,
    last_tick: Constant<Bits<7>>,
}

impl Default for ReadPace {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sent: Default::default(),
            full: Default::default(),
            level: Default::default(),
            tick: Default::default(),
            down: Default::default(),
            last_tick: Constant::new(79u64.to_bits()),
        }
    }
}

impl Logic for ReadPace {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, level, tick);
        self.down.next = false;
        self.tick.d.next = self.tick.q.val() + 1;
        if self.tick.q.val() == self.last_tick.val() {
            self.tick.d.next = 0.into();
            self.down.next = self.level.q.val().any();
        }
        if self.sent.val() & !self.down.val() {
            self.level.d.next = self.level.q.val() + 1;
        }
        if self.down.val() & !self.sent.val() {
            self.level.d.next = self.level.q.val() - 1;
        }
        self.full.next = self.level.q.val().get_bit(6);

        if self.reset.val() {
            self.level.d.next = 0.into();
            self.tick.d.next = 0.into();
        }
    }

    crate::block_name!();
}
