// SPDX-License-Identifier: MIT OR Apache-2.0
//! A Verilated bench is of the block that it was given, not of another form of the same type and name.

use rust_hdl::prelude::*;
use verbena_tb::{ports, step::Bench};

/// Adds a number of its own, a cycle later.
#[derive(LogicBlock)]
struct Adder {
    pub clock: Signal<In, Clock>,
    pub value: Signal<In, Bits<40>>,
    pub sum: Signal<Out, Bits<40>>,
    kept: DFF<Bits<40>>,
    own: Constant<Bits<40>>,
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, kept);
        self.kept.d.next = self.value.val() + self.own.val();
        self.sum.next = self.kept.q.val();
    }

    verbena_hdl::block_name!();
}

fn sum(own: u64, value: u64) -> u64 {
    let adder = Adder {
        clock: Default::default(),
        value: Default::default(),
        sum: Default::default(),
        kept: Default::default(),
        own: Constant::new(own.to_bits()),
    };
    let mut bench = Bench::verilated(Box::new(adder), "adder", ports!(in value; out sum));
    bench.uut.value.next = value.to_bits();
    bench.settle();
    assert_eq!(bench.uut.sum.val().to_u64(), 0, "a cycle early");
    bench.edge();
    bench.uut.sum.val().to_u64()
}

#[test]
fn forms_that_differ_in_a_constant_are_told_apart() {
    assert_eq!(sum(0x70_0000_0001, 1), 0x70_0000_0002);
    assert_eq!(sum(3, 0x80_0000_0000), 0x80_0000_0003);
    assert_eq!(sum(0x70_0000_0001, 2), 0x70_0000_0003);
}
