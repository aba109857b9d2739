// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arithmetic of the core: combinational, one adder.
//!
//! ```text
//! a ─────────────┬─► + ─┐
//! x ─► invert? ──┴──────┴─► choose ─► result, carry (of a subtraction: the borrow)
//! ```
//!
//! Operations are those of `verbena_spec::micro::isa::Op`; of those that don't compute the result is not used.

use rust_hdl::prelude::*;

/// 32 bits.
#[derive(LogicBlock, Default)]
pub struct Alu {
    pub op: Signal<In, Bits<4>>,
    pub a: Signal<In, Bits<32>>,
    pub x: Signal<In, Bits<32>>,
    pub t: Signal<In, Bit>,
    pub result: Signal<Out, Bits<32>>,
    pub carry: Signal<Out, Bit>,
    minus: Signal<Local, Bit>,
    carry_in: Signal<Local, Bit>,
    b: Signal<Local, Bits<32>>,
    left: Signal<Local, Bits<34>>,
    right: Signal<Local, Bits<34>>,
    sum: Signal<Local, Bits<34>>,
    one: Signal<Local, Bits<32>>,
    one_bit: Signal<Local, Bits<32>>,
}

impl Logic for Alu {
    #[hdl_gen]
    fn update(&mut self) {
        self.minus.next = false;
        self.carry_in.next = false;
        match self.op.val().index() {
            7 => {
                self.minus.next = true;
                self.carry_in.next = true;
            }
            8 => {
                self.carry_in.next = self.t.val();
            }
            9 => {
                self.minus.next = true;
                self.carry_in.next = !self.t.val();
            }
            10 => {
                self.minus.next = true;
                self.carry_in.next = true;
            }
            _ => {}
        }
        self.b.next = self.x.val();
        if self.minus.val() {
            self.b.next = !self.x.val();
        }
        // The carry comes in as a bit below, and goes out as one above.
        self.left.next = (bit_cast::<34, 32>(self.a.val()) << 1) | 1;
        self.right.next = (bit_cast::<34, 32>(self.b.val()) << 1) | bit_cast::<34, 1>(self.carry_in.val().into());
        self.sum.next = self.left.val() + self.right.val();
        self.carry.next = self.sum.val().get_bit(33) ^ self.minus.val();
        self.result.next = self.sum.val().get_bits::<32>(1);
        self.one.next = 1.into();
        self.one_bit.next = self.one.val() << self.x.val().get_bits::<5>(0);
        match self.op.val().index() {
            0 => {
                self.result.next = self.x.val();
            }
            1 => {
                self.result.next = !self.x.val();
            }
            2 => {
                self.result.next = self.a.val() & self.x.val();
            }
            3 => {
                self.result.next = self.a.val() | self.x.val();
            }
            4 => {
                self.result.next = self.a.val() ^ self.x.val();
            }
            5 => {
                self.result.next = self.a.val() & self.x.val();
            }
            11 => {
                self.result.next = self.x.val() >> 1;
                self.carry.next = self.x.val().get_bit(0);
            }
            15 => {
                self.result.next = self.one_bit.val();
            }
            _ => {}
        }
    }

    crate::block_name!("Arithmetic of the core");
}
