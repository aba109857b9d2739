// SPDX-License-Identifier: MIT OR Apache-2.0
//! The free numbers of a pool: a ring of numbers in small RAM.
//!
//! ```text
//! given, give ─► mem[2^A] ─► number, any ─► take
//! ```
//!
//! After reset a walk puts every number in (`2^A` cycles, then `ready`). `number` and `any` follow a `take` or `give` after 2 cycles, so take no
//! sooner than 3 cycles after the last take. `B` must be `A + 1`.

use crate::prim::LogicRam;
use rust_hdl::prelude::*;

/// Numbers of `A` bits.
#[derive(LogicBlock)]
pub struct FreeList<const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    /// The next free number, if there is any.
    pub number: Signal<Out, Bits<A>>,
    pub any: Signal<Out, Bit>,
    pub count: Signal<Out, Bits<B>>,
    /// Some number is in use; a cycle late.
    pub used: Signal<Out, Bit>,
    pub take: Signal<In, Bit>,
    pub give: Signal<In, Bit>,
    pub given: Signal<In, Bits<A>>,
    ram: LogicRam<A, A>,
    fill: DFF<Bits<B>>,
    head: DFF<Bits<A>>,
    tail: DFF<Bits<A>>,
    left: DFF<Bits<B>>,
    some: DFF<Bit>,
    in_use: DFF<Bit>,
    full: Signal<Local, Bit>,
    all: Constant<Bits<B>>,
}

impl<const A: usize, const B: usize> Default for FreeList<A, B> {
    fn default() -> Self {
        assert!(B == A + 1, "FreeList: B must be A + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            number: Default::default(),
            any: Default::default(),
            count: Default::default(),
            used: Default::default(),
            take: Default::default(),
            give: Default::default(),
            given: Default::default(),
            ram: Default::default(),
            fill: Default::default(),
            head: Default::default(),
            tail: Default::default(),
            left: Default::default(),
            some: Default::default(),
            in_use: Default::default(),
            full: Default::default(),
            all: Constant::new((1u64 << A).to_bits()),
        }
    }
}

impl<const A: usize, const B: usize> Logic for FreeList<A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fill, head, tail, left, some, in_use);
        clock!(self, clock, ram);

        self.full.next = self.fill.q.val() == self.all.val();
        self.ready.next = self.full.val();
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.head.q.val();
        self.number.next = self.ram.read_data.val();
        self.some.d.next = self.left.q.val().any() & !self.take.val();
        self.any.next = self.some.q.val();
        self.count.next = self.left.q.val();
        self.in_use.d.next = self.full.val() & (self.left.q.val() != self.all.val());
        self.used.next = self.in_use.q.val();

        self.ram.write_enable.next = self.give.val();
        self.ram.write_address.next = self.tail.q.val();
        self.ram.write_data.next = self.given.val();
        if self.give.val() {
            self.tail.d.next = self.tail.q.val() + 1;
        }
        if self.take.val() {
            self.head.d.next = self.head.q.val() + 1;
        }
        if self.give.val() & !self.take.val() {
            self.left.d.next = self.left.q.val() + 1;
        }
        if self.take.val() & !self.give.val() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if !self.full.val() {
            self.fill.d.next = self.fill.q.val() + 1;
            self.left.d.next = self.fill.q.val() + 1;
            self.ram.write_enable.next = true;
            self.ram.write_address.next = self.fill.q.val().get_bits::<A>(0);
            self.ram.write_data.next = self.fill.q.val().get_bits::<A>(0);
        }

        if self.reset.val() {
            self.fill.d.next = 0.into();
            self.head.d.next = 0.into();
            self.tail.d.next = 0.into();
            self.left.d.next = 0.into();
            self.some.d.next = false;
            self.in_use.d.next = false;
        }
    }

    crate::block_name!();
}
