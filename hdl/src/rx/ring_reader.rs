// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads beats from the frame ring: one a cycle under backpressure.
//!
//! ```text
//! read_beat, read_count ─► address ─► ring RAM (1 cycle) ─► output register ─► beat_data, beat_valid
//!                                                           ▲ zeros after a marked beat (see frame_ring)
//! ```
//!
//! First beat 3 cycles after the request is taken. At one lane the RAM's own register is the output: 2 cycles. The pipeline stands still while the
//! output waits. A request is taken when the one before has sent its
//! last address: two idle cycles at most between requests. A count of 0 is taken and does nothing.

use rust_hdl::prelude::*;

/// `W` data bits, `L` words, `BA` address bits, `RD` RAM bits.
#[derive(LogicBlock)]
pub struct RingReader<const W: usize, const L: usize, const BA: usize, const RD: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub read_beat: Signal<In, Bits<14>>,
    /// Fewer than the ring has.
    pub read_count: Signal<In, Bits<14>>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    pub beat_data: Signal<Out, Bits<W>>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_ready: Signal<In, Bit>,
    pub ram_enable: Signal<Out, Bit>,
    pub ram_address: Signal<Out, Bits<BA>>,
    pub ram_data: Signal<In, Bits<RD>>,
    address: DFF<Bits<BA>>,
    left: DFF<Bits<BA>>,
    /// `left` is not zero.
    some: DFF<Bit>,
    fetched: DFF<Bit>,
    out: DFF<Bits<W>>,
    out_valid: DFF<Bit>,
    marked: DFF<Bit>,
    active: Signal<Local, Bit>,
    shown: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    one: Constant<Bits<BA>>,
}

impl<const W: usize, const L: usize, const BA: usize, const RD: usize> Default for RingReader<W, L, BA, RD> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            read_beat: Default::default(),
            read_count: Default::default(),
            read_valid: Default::default(),
            read_ready: Default::default(),
            beat_data: Default::default(),
            beat_valid: Default::default(),
            beat_ready: Default::default(),
            ram_enable: Default::default(),
            ram_address: Default::default(),
            ram_data: Default::default(),
            address: Default::default(),
            left: Default::default(),
            some: Default::default(),
            fetched: Default::default(),
            out: Default::default(),
            out_valid: Default::default(),
            marked: Default::default(),
            active: Default::default(),
            shown: Default::default(),
            go: Default::default(),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const BA: usize, const RD: usize> Logic for RingReader<W, L, BA, RD> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, address, left, some, fetched, out, out_valid, marked);

        self.active.next = self.some.q.val();
        self.shown.next = self.fetched.q.val();
        self.beat_data.next = self.ram_data.val().get_bits::<W>(0);
        for _i in 1..L {
            self.shown.next = self.out_valid.q.val();
            self.beat_data.next = self.out.q.val();
        }
        self.beat_valid.next = self.shown.val();
        self.go.next = !self.shown.val() | self.beat_ready.val();
        self.ram_enable.next = self.go.val() & self.active.val();
        self.ram_address.next = self.address.q.val();
        if self.go.val() {
            self.fetched.d.next = self.active.val();
            self.out_valid.d.next = self.fetched.q.val();
            self.out.d.next = self.ram_data.val().get_bits::<W>(0);
            for _i in 1..L {
                if self.fetched.q.val() {
                    // The beat after a mark was never written: its own mark is an old one.
                    self.marked.d.next = self.ram_data.val().get_bit(64) & !self.marked.q.val();
                }
                if self.marked.q.val() {
                    self.out.d.next = 0.into();
                }
            }
            if self.active.val() {
                self.address.d.next = self.address.q.val() + self.one.val();
                self.left.d.next = self.left.q.val() - self.one.val();
                self.some.d.next = self.left.q.val() != self.one.val();
            }
        }
        self.read_ready.next = !self.active.val();
        if self.read_valid.val() & !self.active.val() {
            self.address.d.next = self.read_beat.val().get_bits::<BA>(0);
            self.left.d.next = self.read_count.val().get_bits::<BA>(0);
            self.some.d.next = self.read_count.val().get_bits::<BA>(0).any();
        }

        if self.reset.val() {
            self.left.d.next = 0.into();
            self.some.d.next = false;
            self.fetched.d.next = false;
            self.out_valid.d.next = false;
            self.marked.d.next = false;
        }
    }

    crate::block_name!();
}
