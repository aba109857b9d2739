// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that holes are aged by: quarter ticks of 1.024 us, 16 bits, from the one tick register.
//!
//! ```text
//! tick (clocks per 4.096 us, 24.8 fixed point) ─► rest ─► time
//! ```

use rust_hdl::prelude::*;

/// Counts quarter ticks.
#[derive(LogicBlock)]
pub struct HoleClock {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub tick: Signal<In, Bits<32>>,
    pub now: Signal<Out, Bits<16>>,
    /// Time until the next quarter tick in 1/1024 clocks, less than nothing when it is due.
    rest: DFF<Bits<21>>,
    step: DFF<Bits<21>>,
    quarters: DFF<Bits<16>>,
    /// A clock in the unit of `rest`.
    clock_step: Constant<Bits<21>>,
}

impl Default for HoleClock {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            tick: Default::default(),
            quarters: Default::default(),
            rest: Default::default(),
            step: Default::default(),
            now: Default::default(),
            clock_step: Constant::new(1024u64.to_bits()),
        }
    }
}

impl Logic for HoleClock {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, step, quarters);
        self.step.d.next = bit_cast::<21, 19>(self.tick.val().get_bits::<19>(0)) - self.clock_step.val();
        self.rest.d.next = self.rest.q.val() - self.clock_step.val();
        if self.rest.q.val().get_bit(20) {
            self.rest.d.next = self.rest.q.val() + self.step.q.val();
            self.quarters.d.next = self.quarters.q.val() + 1;
        }
        self.now.next = self.quarters.q.val();
        if self.reset.val() {
            self.rest.d.next = 0.into();
            self.quarters.d.next = 0.into();
        }
    }

    crate::block_name!();
}
