// SPDX-License-Identifier: MIT OR Apache-2.0
//! Send WQEs on their way in: the order of reads, the read data, and the store of two WQEs a QP.
//!
//! ```text
//! ask ─► order FIFO ─┐
//! r_* ───────────────┴─► store: QP · 32 + slot · 16 + word ─► word (two steps, as PacedRam)
//!                    └─► arrival FIFO ─► arrival
//! ```
//!
//! Reads come back in their order (one AXI ID). Neither FIFO can be full: a QP has two reads under way at most, so `r_ready` depends on nothing outside.
//! A read with an error leaves a WQE whose first word is all ones, which no check lets pass (R69).
//!
//! `H` = `W`/32; `QB` = `QA` + 1, `QC` = `QA` + 2, `QR` = `QA` + 5; `A` = `QR` + 1 − `H`.

use crate::prim::SplitRam;
use crate::stream::Fifo;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct WqeStore<
    const W: usize,
    const H: usize,
    const QA: usize,
    const QB: usize,
    const QC: usize,
    const QR: usize,
    const A: usize,
    const L: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A read was asked for: QP · 2 + slot.
    pub ask_data: Signal<In, Bits<QB>>,
    pub ask_valid: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_error: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    /// A WQE is in the store: QP · 2 + error.
    pub arrival_data: Signal<Out, Bits<QB>>,
    pub arrival_valid: Signal<Out, Bit>,
    pub arrival_ready: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    pub read_index: Signal<In, Bits<QA>>,
    pub read_slot: Signal<In, Bit>,
    pub read_word: Signal<In, Bits<4>>,
    pub word: Signal<Out, Bits<32>>,
    order: Fifo<QB, QC, QB>,
    arrivals: Fifo<QB, QC, QB>,
    ram: SplitRam<A, W>,
    late_address: DFF<Bits<A>>,
    half: DFF<Bit>,
    late_half: DFF<Bit>,
    kept: DFF<Bits<32>>,
    beat: DFF<Bits<4>>,
    failed: DFF<Bit>,
    spoil: DFF<Bit>,
    full: Signal<Local, Bits<QR>>,
    fit: Signal<Local, Bits<QR>>,
    target: Signal<Local, Bits<QR>>,
    upper: Signal<Local, Bits<W>>,
    out: Signal<Local, Bits<32>>,
    take: Signal<Local, Bit>,
    over: Signal<Local, Bit>,
    ones: Signal<Local, Bits<W>>,
}

impl<
        const W: usize,
        const H: usize,
        const QA: usize,
        const QB: usize,
        const QC: usize,
        const QR: usize,
        const A: usize,
        const L: usize,
    > Logic for WqeStore<W, H, QA, QB, QC, QR, A, L>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, late_address, half, late_half, kept, beat, failed, spoil);
        clock!(self, clock, order, arrivals, ram);
        self.order.reset.next = self.reset.val();
        self.arrivals.reset.next = self.reset.val();
        self.order.s_data.next = self.ask_data.val();
        self.order.s_valid.next = self.ask_valid.val();

        // In.
        self.take.next = self.r_valid.val() & self.order.m_valid.val() & !self.spoil.q.val();
        self.r_ready.next = self.order.m_valid.val() & !self.spoil.q.val();
        self.over.next = self.spoil.q.val() | (self.take.val() & self.r_last.val() & !self.failed.q.val() & !self.r_error.val());
        self.target.next = (bit_cast::<QR, QB>(self.order.m_data.val()) << 4) | bit_cast::<QR, 4>(self.beat.q.val());
        for _i in 1..H {
            self.target.next = (bit_cast::<QR, QB>(self.order.m_data.val()) << 3) | bit_cast::<QR, 4>(self.beat.q.val());
        }
        self.ones.next = 0.into();
        self.ram.write_enable.next = self.take.val() | self.spoil.q.val();
        self.ram.write_address.next = self.target.val().get_bits::<A>(0);
        self.ram.write_data.next = self.r_data.val();
        if self.spoil.q.val() {
            self.ram.write_data.next = !self.ones.val();
        }
        if self.take.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            self.failed.d.next = self.failed.q.val() | self.r_error.val();
            if self.r_last.val() {
                self.beat.d.next = 0.into();
                self.spoil.d.next = self.failed.q.val() | self.r_error.val();
            }
        }
        if self.over.val() {
            self.failed.d.next = false;
            self.spoil.d.next = false;
        }
        self.order.m_ready.next = self.over.val();
        self.arrivals.s_valid.next = self.over.val();
        // The slot's bit gives way to the error's.
        self.arrivals.s_data.next = bit_cast::<QB, QA>(self.order.m_data.val().get_bits::<QA>(1)) << 1;
        if self.spoil.q.val() {
            self.arrivals.s_data.next = (bit_cast::<QB, QA>(self.order.m_data.val().get_bits::<QA>(1)) << 1) | 1;
        }
        self.arrival_data.next = self.arrivals.m_data.val();
        self.arrival_valid.next = self.arrivals.m_valid.val();
        self.arrivals.m_ready.next = self.arrival_ready.val();

        // Out.
        self.full.next = (bit_cast::<QR, QA>(self.read_index.val()) << 5) | bit_cast::<QR, 4>(self.read_word.val());
        if self.read_slot.val() {
            self.full.next = (bit_cast::<QR, QA>(self.read_index.val()) << 5) | bit_cast::<QR, 4>(self.read_word.val()) | 16;
        }
        self.fit.next = self.full.val();
        for _i in 1..H {
            self.fit.next = self.full.val() >> 1;
        }
        self.ram.read_enable.next = self.advance.val();
        self.ram.read_address.next = self.fit.val().get_bits::<A>(0);
        self.upper.next = self.ram.read_data.val();
        self.out.next = self.ram.read_data.val().get_bits::<32>(0);
        for _i in 1..H {
            self.upper.next = self.ram.read_data.val() >> 32;
            if self.half.q.val() {
                self.out.next = self.upper.val().get_bits::<32>(0);
            }
        }
        self.word.next = self.kept.q.val();
        for _i in L..1 {
            self.ram.read_address.next = self.late_address.q.val();
            for _j in 1..H {
                if self.late_half.q.val() {
                    self.out.next = self.upper.val().get_bits::<32>(0);
                } else {
                    self.out.next = self.ram.read_data.val().get_bits::<32>(0);
                }
            }
            self.word.next = self.out.val();
        }
        if self.advance.val() {
            self.late_address.d.next = self.fit.val().get_bits::<A>(0);
            self.half.d.next = self.full.val().get_bit(0);
            self.late_half.d.next = self.half.q.val();
            self.kept.d.next = self.out.val();
        }

        if self.reset.val() {
            self.beat.d.next = 0.into();
            self.failed.d.next = false;
            self.spoil.d.next = false;
        }
    }

    crate::block_name!();
}
