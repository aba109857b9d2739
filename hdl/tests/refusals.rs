// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the printer refuses: each with the block, the signal and the reason.

// Kernels under test are written as they come.
#![allow(clippy::single_match)]

use rust_hdl::prelude::*;
use verbena_hdl::verilog::{emit, Options};

/// A block with input `a`, output `o`, and the given kernel.
macro_rules! block {
    ($name:ident { $($field:ident: $ty:ty),* } $($update:tt)*) => {
        #[derive(LogicBlock, Default)]
        struct $name {
            pub a: Signal<In, Bits<8>>,
            pub f: Signal<In, Bit>,
            pub o: Signal<Out, Bits<8>>,
            $($field: $ty,)*
        }

        impl Logic for $name {
            $($update)*

            verbena_hdl::block_name!();
        }
    };
}

fn text<B: Block + Default>() -> Result<String, String> {
    let mut block = B::default();
    block.connect_all();
    emit(&block, "uut", &Options::default())
        .map(|d| d.to_single_text())
        .map_err(|e| e.to_string())
}

fn refused<B: Block + Default>(expected: &[&str]) {
    let message = text::<B>().expect_err("refused");
    for part in expected {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

block!(Latch {}
    #[hdl_gen]
    fn update(&mut self) { if self.f.val() { self.o.next = self.a.val(); } });

#[rustfmt::skip]
block!(LatchInMatch {}
    #[hdl_gen]
    fn update(&mut self) {
    match self.a.val().index() {
        0 => { self.o.next = 1.into(); }
        _ => {}
    }
});

#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
struct Pair {
    low: Bits<4>,
    high: Bits<4>,
}

block!(LatchOfAField { pair: Signal<Local, Pair> }
    #[hdl_gen]
    fn update(&mut self) {
    self.o.next = self.a.val();
    self.pair.next.low = self.a.val().get_bits::<4>(0);
});

#[test]
fn latches() {
    refused::<Latch>(&["uut: o: ", "latch", "default"]);
    refused::<LatchInMatch>(&["uut: o: ", "latch"]);
    refused::<LatchOfAField>(&["uut: pair: ", "latch"]);
}

block!(Undriven { l: Signal<Local, Bit> }
    #[hdl_gen]
    fn update(&mut self) { self.o.next = self.a.val(); });
block!(Early { l: Signal<Local, Bits<8>> }
    #[hdl_gen]
    fn update(&mut self) {
    self.o.next = self.l.val();
    self.l.next = self.a.val();
});

#[test]
fn signals_without_a_value() {
    refused::<Undriven>(&["uut: l: ", "nothing drives it"]);
    refused::<Early>(&["uut: l: ", "before it is written"]);
}

const SEVEN: u64 = 7;
block!(RustConstant {}
    #[hdl_gen]
    fn update(&mut self) { self.o.next = self.a.val() + SEVEN; });

mod inner {
    use rust_hdl::prelude::*;
    #[derive(Copy, Clone, Debug, PartialEq, LogicState)]
    pub enum Foreign {
        Off,
        On,
    }
}
block!(ForeignEnum { s: Signal<Local, inner::Foreign> }
    #[hdl_gen]
    fn update(&mut self) {
    self.s.next = inner::Foreign::On;
    self.o.next = self.a.val();
});

#[test]
fn names_nobody_declares() {
    refused::<RustConstant>(&["`SEVEN`", "Constant<>"]);
    refused::<ForeignEnum>(&["inner.Foreign.On"]);
}

block!(Keyword { context: Signal<Local, Bit> }
    #[hdl_gen]
    fn update(&mut self) {
    self.context.next = self.f.val();
    self.o.next = self.a.val();
});
block!(VerilogKeyword { table: DFF<Bit> , clock: Signal<In, Clock> }
    #[hdl_gen]
    fn update(&mut self) {
    self.table.clock.next = self.clock.val();
    self.table.d.next = self.f.val();
    self.o.next = self.a.val();
});

#[test]
fn keywords() {
    refused::<Keyword>(&["uut: context: ", "SystemVerilog"]);
    refused::<VerilogKeyword>(&["uut: table: "]);
}

#[derive(LogicInterface, Clone, Debug, Default)]
struct Bus {
    pub data: Signal<In, Bits<8>>,
}
block!(Clash { bus: Bus, bus_data: Signal<Local, Bits<8>> }
    #[hdl_gen]
    fn update(&mut self) {
        self.bus_data.next = self.a.val();
        self.o.next = self.bus.data.val() + self.bus_data.val();
    }
);

#[test]
fn names_that_meet() {
    refused::<Clash>(&["uut: bus_data: ", "taken"]);
}

#[derive(LogicBlock, Default)]
struct SignedBlock {
    pub a: Signal<In, Signed<8>>,
    pub o: Signal<Out, Signed<8>>,
}
impl Logic for SignedBlock {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val();
    }
    verbena_hdl::block_name!();
}

#[derive(LogicBlock, Default)]
struct Text {
    pub o: Signal<Out, Bit>,
}
impl Logic for Text {
    fn update(&mut self) {}
    fn connect(&mut self) {
        self.o.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("initial o = 1;".into())
    }
    verbena_hdl::block_name!();
}

#[derive(LogicBlock, Default)]
struct Nameless {
    pub a: Signal<In, Bit>,
    pub o: Signal<Out, Bit>,
}
impl Logic for Nameless {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val();
    }
}

#[derive(LogicBlock, Default)]
struct Parent {
    pub a: Signal<In, Bit>,
    pub o: Signal<Out, Bit>,
    child: Nameless,
}
impl Logic for Parent {
    #[hdl_gen]
    fn update(&mut self) {
        self.child.a.next = self.a.val();
        self.o.next = self.child.o.val();
    }
    verbena_hdl::block_name!();
}

#[test]
fn blocks_it_does_not_know() {
    refused::<SignedBlock>(&["uut: a: ", "signed"]);
    refused::<Text>(&["hand-written Verilog"]);
    refused::<Parent>(&["uut.child: ", "block_name!"]);
}

block!(OutOfRange {}
    #[hdl_gen]
    fn update(&mut self) { self.o.next = bit_cast::<8, 4>(self.a.val().get_bits::<4>(6)); });
block!(IndexArithmetic {}
    #[hdl_gen]
    fn update(&mut self) {
    self.o.next = self.a.val();
    if self.a.val().get_bit(self.a.val().index() + 1) {
        self.o.next = 0.into();
    }
});
block!(TooLarge {}
    #[hdl_gen]
    fn update(&mut self) { self.o.next = self.a.val() + 256; });

#[test]
fn positions_and_literals() {
    refused::<OutOfRange>(&["uut", "6..10", "8"]);
    refused::<IndexArithmetic>(&["uut", "Local signal"]);
    refused::<TooLarge>(&["256", "8 bits"]);
}

block!(ConstantOnly { k: Signal<Local, Bits<8>> }
    #[hdl_gen]
    fn update(&mut self) {
    self.k.next = 3.into();
    self.o.next = self.k.val();
    for i in 0..3 {
        if i == 2 {
            self.o.next = 9.into();
        }
    }
});

#[test]
fn a_kernel_of_constants_is_an_assign() {
    let text = text::<ConstantOnly>().expect("printed");
    assert!(text.contains("assign o = 8'h09;"), "{text}");
    assert!(!text.contains("always"), "{text}");
}
