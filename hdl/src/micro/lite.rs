// SPDX-License-Identifier: MIT OR Apache-2.0
//! AXI4-Lite: accesses wait until the program answers them.
//!
//! Address and data stay at the ports, so none is kept here; only answers that the host hasn't taken. An access is shown (`write`, `read`) when the last
//! answer of its kind has been taken, so the program never waits for the host.

use rust_hdl::prelude::*;

/// AXI4-Lite slave, answered by the program.
#[derive(LogicBlock, Default)]
pub struct Lite {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub aw_valid: Signal<In, Bit>,
    pub w_valid: Signal<In, Bit>,
    /// AW and W.
    pub write_ready: Signal<Out, Bit>,
    pub ar_valid: Signal<In, Bit>,
    pub ar_ready: Signal<Out, Bit>,
    pub b_response: Signal<Out, Bits<2>>,
    pub b_valid: Signal<Out, Bit>,
    pub b_ready: Signal<In, Bit>,
    pub r_data: Signal<Out, Bits<32>>,
    pub r_response: Signal<Out, Bits<2>>,
    pub r_valid: Signal<Out, Bit>,
    pub r_ready: Signal<In, Bit>,
    pub write: Signal<Out, Bit>,
    pub read: Signal<Out, Bit>,
    /// One cycle each, the answers: only while `write` or `read`.
    pub answer_write: Signal<In, Bit>,
    pub answer_read: Signal<In, Bit>,
    pub refuse_read: Signal<In, Bit>,
    pub value: Signal<In, Bits<32>>,
    data: DFF<Bits<32>>,
    written: DFF<Bit>,
    refused: DFF<Bit>,
    given: DFF<Bit>,
    none: DFF<Bit>,
}

impl Logic for Lite {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, written, refused, given, none);
        self.write.next = self.aw_valid.val() & self.w_valid.val() & !self.written.q.val();
        self.read.next = self.ar_valid.val() & !self.given.q.val();
        self.write_ready.next = self.answer_write.val();
        self.ar_ready.next = self.answer_read.val() | self.refuse_read.val();
        self.b_valid.next = self.written.q.val();
        self.b_response.next = bit_cast::<2, 1>(self.refused.q.val().into()) << 1;
        self.r_valid.next = self.given.q.val();
        self.r_response.next = bit_cast::<2, 1>(self.none.q.val().into()) << 1;
        self.r_data.next = self.data.q.val();
        if self.b_ready.val() {
            self.written.d.next = false;
        }
        if self.r_ready.val() {
            self.given.d.next = false;
        }
        if self.answer_write.val() {
            self.written.d.next = true;
            self.refused.d.next = self.value.val().get_bit(1);
        }
        if self.answer_read.val() {
            self.given.d.next = true;
            self.none.d.next = false;
            self.data.d.next = self.value.val();
        }
        if self.refuse_read.val() {
            self.given.d.next = true;
            self.none.d.next = true;
        }
        if self.reset.val() {
            self.written.d.next = false;
            self.given.d.next = false;
        }
    }

    crate::block_name!("AXI4-Lite, answered by the program");
}
