// SPDX-License-Identifier: MIT OR Apache-2.0
//! The time that limiters count in: sixteenths of a microsecond, 21 bits (131 ms round), from the one tick register.
//!
//! ```text
//! tick (clocks per 4.096 us, 24.8 fixed point) ─► rest ─► now
//! ```
//!
//! 4.096 us are 65.536 units, so a unit is `tick` / 16777.216 clocks; 16777 is taken, 13 ppm long. One unit a clock at most: `tick` from 66 clocks on (16 MHz).

use rust_hdl::prelude::*;

/// Counts sixteenths of a microsecond.
#[derive(LogicBlock)]
pub struct RateClock {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub tick: Signal<In, Bits<32>>,
    pub now: Signal<Out, Bits<21>>,
    /// Time until the next unit in 1/16777 clocks, less than nothing when it is due.
    rest: DFF<Bits<21>>,
    step: DFF<Bits<21>>,
    units: DFF<Bits<21>>,
    /// A clock in the unit of `rest`.
    clock_step: Constant<Bits<21>>,
}

impl Default for RateClock {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            tick: Default::default(),
            now: Default::default(),
            rest: Default::default(),
            step: Default::default(),
            units: Default::default(),
            clock_step: Constant::new(16777u64.to_bits()),
        }
    }
}

impl Logic for RateClock {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, rest, step, units);
        self.step.d.next = bit_cast::<21, 19>(self.tick.val().get_bits::<19>(0)) - self.clock_step.val();
        self.rest.d.next = self.rest.q.val() - self.clock_step.val();
        if self.rest.q.val().get_bit(20) {
            self.rest.d.next = self.rest.q.val() + self.step.q.val();
            self.units.d.next = self.units.q.val() + 1;
        }
        self.now.next = self.units.q.val();
        if self.reset.val() {
            self.rest.d.next = 0.into();
            self.units.d.next = 0.into();
        }
    }

    crate::block_name!();
}
