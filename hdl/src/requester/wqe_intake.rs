// SPDX-License-Identifier: MIT OR Apache-2.0
//! A send WQE as it comes from memory: checked against what its first attempt recorded (R66), its elements kept.
//!
//! ```text
//! r_data ─► word a cycle ─┬─► 0 opcode, 1 length: as recorded?
//!                         ├─► 8, 12: lengths of the elements add up?
//!                         └─► 6-13 ─► write (words 8-15 of the ack row)
//! ```
//!
//! Takes 16 words from `start`; `done` one cycle with or after the last, `bad` then counts. An AXI error is `bad` too (R69).

use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct WqeIntake<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub done: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub send_opcode: Signal<In, Bits<4>>,
    pub length: Signal<In, Bits<32>>,
    /// The elements of an ATOMIC aren't its length's.
    pub atomic: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<4>>,
    pub write_data: Signal<Out, Bits<32>>,
    taking: DFF<Bit>,
    number: DFF<Bits<4>>,
    failed: DFF<Bit>,
    elements: DFF<Bits<2>>,
    rest: DFF<Bits<32>>,
    rest_none: DFF<Bit>,
    finished: DFF<Bit>,
    /// The word that was taken is the length, or element 1's, and what it was compared with.
    at_length: DFF<Bit>,
    at_sum: DFF<Bit>,
    unlike_length: DFF<Bit>,
    unlike_rest: DFF<Bit>,
    word: Signal<Local, Bits<32>>,
    item: Signal<Local, Bits<4>>,
    upper: Signal<Local, Bits<W>>,
    step: Signal<Local, Bit>,
    adds_up: Signal<Local, Bit>,
    wide: Constant<Bit>,
    shift: Constant<Bits<8>>,
}

impl<const W: usize> Default for WqeIntake<W> {
    fn default() -> Self {
        assert!(W == 32 || W == 64, "WqeIntake: W must be 32 or 64");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            done: Default::default(),
            bad: Default::default(),
            send_opcode: Default::default(),
            length: Default::default(),
            atomic: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            taking: Default::default(),
            number: Default::default(),
            failed: Default::default(),
            elements: Default::default(),
            rest: Default::default(),
            rest_none: Default::default(),
            finished: Default::default(),
            at_length: Default::default(),
            at_sum: Default::default(),
            unlike_length: Default::default(),
            unlike_rest: Default::default(),
            word: Default::default(),
            item: Default::default(),
            upper: Default::default(),
            step: Default::default(),
            adds_up: Default::default(),
            wide: Constant::new(W == 64),
            shift: Constant::new((W as u64 - 32).to_bits()),
        }
    }
}

impl<const W: usize> Logic for WqeIntake<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, taking, number, failed, elements, rest, rest_none, finished);
        dff_setup!(self, clock, at_length, at_sum, unlike_length, unlike_rest);
        self.upper.next = self.r_data.val() >> self.shift.val();
        self.word.next = self.r_data.val().get_bits::<32>(0);
        self.r_ready.next = self.taking.q.val();
        if self.wide.val() {
            self.r_ready.next = self.taking.q.val() & self.number.q.val().get_bit(0);
            if self.number.q.val().get_bit(0) {
                self.word.next = self.upper.val().get_bits::<32>(0);
            }
        }
        self.step.next = self.taking.q.val() & self.r_valid.val();
        self.finished.d.next = false;
        self.done.next = self.finished.q.val();
        self.bad.next = self.failed.q.val();
        self.item.next = self.number.q.val() + 2;
        self.write.next = self.step.val() & self.item.val().get_bit(3);
        self.write_item.next = self.item.val();
        self.write_data.next = self.word.val();
        self.adds_up.next = self.rest_none.q.val() & self.elements.q.val().get_bit(0);
        if self.elements.q.val().get_bit(1) {
            self.adds_up.next = !self.unlike_rest.q.val();
        }
        self.rest_none.d.next = !self.rest.q.val().any();
        // What is compared is judged a cycle later.
        self.at_length.d.next = self.step.val() & (self.number.q.val() == 1);
        self.at_sum.d.next = self.step.val() & (self.number.q.val() == 12);
        self.unlike_length.d.next = self.word.val() != self.length.val();
        self.unlike_rest.d.next = self.word.val() != self.rest.q.val();
        if self.at_length.q.val() & self.unlike_length.q.val() {
            self.failed.d.next = true;
        }
        if self.at_sum.q.val() & !self.atomic.val() & !self.adds_up.val() {
            self.failed.d.next = true;
        }
        if self.step.val() {
            self.number.d.next = self.number.q.val() + 1;
            if self.r_error.val() {
                self.failed.d.next = true;
            }
            if self.number.q.val() == 0 {
                self.elements.d.next = self.word.val().get_bits::<2>(8);
                if self.word.val().get_bits::<4>(0) != self.send_opcode.val() {
                    self.failed.d.next = true;
                }
            }
            if self.number.q.val() == 8 {
                self.rest.d.next = self.length.val() - self.word.val();
            }
            if self.number.q.val() == 15 {
                self.taking.d.next = false;
                self.finished.d.next = true;
            }
        }
        if self.start.val() {
            self.taking.d.next = true;
            self.number.d.next = 0.into();
            self.failed.d.next = false;
        }
        if self.reset.val() {
            self.taking.d.next = false;
            self.finished.d.next = false;
            self.at_length.d.next = false;
            self.at_sum.d.next = false;
        }
    }

    crate::block_name!();
}
