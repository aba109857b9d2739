// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's AXI4: one burst at a time, its words pushed and pulled by the program.
//!
//! ```text
//! address, length, id ─► ar or aw          w_* ─► register ─► w
//! r ─► the core                            b ─► the core
//! ```
//!
//! `last` of W is counted from the burst's length. Errors of R are kept until the next read begins.

use rust_hdl::prelude::*;

/// AXI4 master, 32 bits.
#[derive(LogicBlock, Default)]
pub struct Bursts {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle each, only while `ready`.
    pub set_address: Signal<In, Bit>,
    pub begin_read: Signal<In, Bit>,
    pub begin_write: Signal<In, Bit>,
    /// The address, or [7:0] words less one, [10:8] ID.
    pub command: Signal<In, Bits<32>>,
    pub ready: Signal<Out, Bit>,
    pub read_error: Signal<Out, Bit>,
    /// A word to W, only while `s_w_ready`.
    pub s_w_data: Signal<In, Bits<32>>,
    pub s_w_strobe: Signal<In, Bits<4>>,
    pub s_w_valid: Signal<In, Bit>,
    pub s_w_ready: Signal<Out, Bit>,
    /// One cycle: the word of R was taken.
    pub r_taken: Signal<In, Bit>,
    pub id: Signal<Out, Bits<3>>,
    pub address: Signal<Out, Bits<20>>,
    pub length: Signal<Out, Bits<8>>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub ar_valid: Signal<Out, Bit>,
    pub ar_ready: Signal<In, Bit>,
    pub w_data: Signal<Out, Bits<32>>,
    pub w_strobe: Signal<Out, Bits<4>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub r_error: Signal<In, Bit>,
    place: DFF<Bits<18>>,
    words: DFF<Bits<8>>,
    number: DFF<Bits<3>>,
    reading: DFF<Bit>,
    writing: DFF<Bit>,
    left: DFF<Bits<8>>,
    bad: DFF<Bit>,
    data: DFF<Bits<32>>,
    strobe: DFF<Bits<4>>,
    full: DFF<Bit>,
    closing: DFF<Bit>,
    room: Signal<Local, Bit>,
}

impl Logic for Bursts {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, place, words, number, reading, writing, left, bad, data, strobe, full, closing);

        self.ready.next = !self.reading.q.val() & !self.writing.q.val();
        if self.ar_ready.val() {
            self.reading.d.next = false;
        }
        if self.aw_ready.val() {
            self.writing.d.next = false;
        }
        if self.set_address.val() {
            self.place.d.next = self.command.val().get_bits::<18>(2);
        }
        if self.begin_read.val() | self.begin_write.val() {
            self.words.d.next = self.command.val().get_bits::<8>(0);
            self.left.d.next = self.command.val().get_bits::<8>(0);
            self.number.d.next = self.command.val().get_bits::<3>(8);
            self.reading.d.next = self.begin_read.val();
            self.writing.d.next = self.begin_write.val();
        }
        if self.r_taken.val() & self.r_error.val() {
            self.bad.d.next = true;
        }
        if self.begin_read.val() {
            self.bad.d.next = false;
        }
        self.read_error.next = self.bad.q.val();

        self.room.next = !self.full.q.val() | self.w_ready.val();
        self.s_w_ready.next = !self.full.q.val();
        if self.room.val() {
            self.full.d.next = self.s_w_valid.val();
        }
        if self.s_w_valid.val() {
            self.data.d.next = self.s_w_data.val();
            self.strobe.d.next = self.s_w_strobe.val();
            self.closing.d.next = !self.left.q.val().any();
            self.left.d.next = self.left.q.val() - 1;
        }

        self.id.next = self.number.q.val();
        self.address.next = bit_cast::<20, 18>(self.place.q.val()) << 2;
        self.length.next = self.words.q.val();
        self.ar_valid.next = self.reading.q.val();
        self.aw_valid.next = self.writing.q.val();
        self.w_data.next = self.data.q.val();
        self.w_strobe.next = self.strobe.q.val();
        self.w_last.next = self.closing.q.val();
        self.w_valid.next = self.full.q.val();

        if self.reset.val() {
            self.reading.d.next = false;
            self.writing.d.next = false;
            self.full.d.next = false;
        }
    }

    crate::block_name!("AXI4 bursts of the core");
}
