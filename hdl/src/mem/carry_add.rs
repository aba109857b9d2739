// SPDX-License-Identifier: MIT OR Apache-2.0
//! One 32-bit step of a longer addition: the longest carry chain the engine allows in a cycle.
//!
//! ```text
//! carry_out, sum = a + b + carry_in
//! ```
//!
//! Subtraction `a - b`: feed `!b` and the inverted borrow; the borrow out is `!carry_out`. Combinational.

use rust_hdl::prelude::*;

/// Adder with carry in and out.
#[derive(LogicBlock)]
pub struct CarryAdd {
    pub a: Signal<In, Bits<32>>,
    pub b: Signal<In, Bits<32>>,
    pub carry_in: Signal<In, Bit>,
    pub sum: Signal<Out, Bits<32>>,
    pub carry_out: Signal<Out, Bit>,
    wide_a: Signal<Local, Bits<34>>,
    wide_b: Signal<Local, Bits<34>>,
    wide_sum: Signal<Local, Bits<34>>,
    one: Constant<Bits<34>>,
}

impl Default for CarryAdd {
    fn default() -> Self {
        Self {
            a: Default::default(),
            b: Default::default(),
            carry_in: Default::default(),
            sum: Default::default(),
            carry_out: Default::default(),
            wide_a: Default::default(),
            wide_b: Default::default(),
            wide_sum: Default::default(),
            one: Constant::new(1.into()),
        }
    }
}

impl Logic for CarryAdd {
    #[hdl_gen]
    fn update(&mut self) {
        // The carry enters as the sum of two bits below the number, so that one chain does it all.
        self.wide_a.next = (bit_cast::<34, 32>(self.a.val()) << 1) | self.one.val();
        self.wide_b.next = bit_cast::<34, 32>(self.b.val()) << 1;
        if self.carry_in.val() {
            self.wide_b.next = (bit_cast::<34, 32>(self.b.val()) << 1) | self.one.val();
        }
        self.wide_sum.next = self.wide_a.val() + self.wide_b.val();
        self.sum.next = self.wide_sum.val().get_bits::<32>(1);
        self.carry_out.next = self.wide_sum.val().get_bit(33);
    }

    crate::block_name!();
}
