// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address of a piece: the element's plus what of it is sent already; after the key check, its place on the bus.
//!
//! ```text
//! load_low ──► low := WQE word + (offset | −rest | 0), carry      place: placed := the key check's answer
//! load_high ─► high := WQE word + carry                           put_low, put_high: placed := the row's word
//! ```
//!
//! The sum is also that of the RETH of a READ that goes on from the middle (R31).

use crate::mem::CarryAdd;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Place {
    pub clock: Signal<In, Clock>,
    pub wqe_word: Signal<In, Bits<32>>,
    pub row_word: Signal<In, Bits<32>>,
    pub offset: Signal<In, Bits<32>>,
    pub rest: Signal<In, Bits<32>>,
    /// Add `offset`; else subtract `rest`; neither: the element's first byte.
    pub add_offset: Signal<In, Bit>,
    pub take_rest: Signal<In, Bit>,
    pub load_low: Signal<In, Bit>,
    pub load_high: Signal<In, Bit>,
    pub load_carry: Signal<In, Bit>,
    /// The sum is that of the upper half.
    pub upper: Signal<In, Bit>,
    pub put_low: Signal<In, Bit>,
    pub put_high: Signal<In, Bit>,
    pub place: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    pub sum: Signal<Out, Bits<32>>,
    pub low: Signal<Out, Bits<32>>,
    pub high: Signal<Out, Bits<32>>,
    /// Its place on the bus.
    pub placed_low: Signal<Out, Bits<32>>,
    pub placed_high: Signal<Out, Bits<32>>,
    low_kept: DFF<Bits<32>>,
    high_kept: DFF<Bits<32>>,
    bus_low: DFF<Bits<32>>,
    bus_high: DFF<Bits<32>>,
    carry: DFF<Bit>,
    addend: Signal<Local, Bits<32>>,
    carry_in: Signal<Local, Bit>,
    adder: CarryAdd,
}

impl Logic for Place {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, low_kept, high_kept, bus_low, bus_high, carry);

        self.addend.next = 0.into();
        self.carry_in.next = false;
        if self.add_offset.val() {
            self.addend.next = self.offset.val();
        }
        if self.take_rest.val() {
            self.addend.next = !self.rest.val();
            self.carry_in.next = true;
        }
        if self.upper.val() {
            self.addend.next = 0.into();
            self.carry_in.next = self.carry.q.val();
        }
        self.adder.a.next = self.wqe_word.val();
        self.adder.b.next = self.addend.val();
        self.adder.carry_in.next = self.carry_in.val();
        self.sum.next = self.adder.sum.val();

        if self.load_low.val() {
            self.low_kept.d.next = self.adder.sum.val();
        }
        if self.load_low.val() | self.load_carry.val() {
            self.carry.d.next = self.adder.carry_out.val();
            // `rest` is 0 or below, so what is added is not negative; that of 0 carries by itself.
            if self.take_rest.val() {
                self.carry.d.next = self.adder.carry_out.val() & self.rest.val().any();
            }
        }
        if self.load_high.val() {
            self.high_kept.d.next = self.adder.sum.val();
        }
        if self.put_low.val() {
            self.bus_low.d.next = self.row_word.val();
        }
        if self.put_high.val() {
            self.bus_high.d.next = self.row_word.val();
        }
        if self.place.val() {
            self.bus_low.d.next = self.key_address.val().get_bits::<32>(0);
            self.bus_high.d.next = self.key_address.val().get_bits::<32>(32);
        }
        self.low.next = self.low_kept.q.val();
        self.high.next = self.high_kept.q.val();
        self.placed_low.next = self.bus_low.q.val();
        self.placed_high.next = self.bus_high.q.val();
    }

    crate::block_name!();
}
