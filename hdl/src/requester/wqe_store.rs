// SPDX-License-Identifier: MIT OR Apache-2.0
//! Send WQEs on their way in: the order of reads, the read data, and the store of two WQEs a QP.
//!
//! ```text
//! ask ─┬─► order FIFO ─► second ─► head ─┐
//!      │   r_* ──────────────────────────┴─► store: QP · 32 + slot · 16 + word ─► word (two steps, as PacedRam)
//!      └─► coming FIFO ─► arrival: with the first beat
//! ```
//!
//! Reads come back in their order (one AXI ID). Neither FIFO can be full: a QP has two reads under way at most, so `r_ready` depends on nothing outside.
//! A WQE has arrived with its first beat; who reads it looks at `short` before words up to 13, and at `partial` before its end: both tell of the WQE that
//! `read_index` and `read_slot` named a cycle before, as it stands in this cycle, for what is to be done in the next. A read with an error leaves a WQE whose first word is all ones, which no check lets pass (R69);
//! `spoilt`, of the WQE that is named in this cycle, says so to one who has read that word before.
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
    /// The oldest WQE that hasn't been taken as arrived: its QP; there is one; its words come.
    pub arrival_index: Signal<Out, Bits<QA>>,
    pub arrival_expected: Signal<Out, Bit>,
    pub arrival_valid: Signal<Out, Bit>,
    pub arrival_ready: Signal<In, Bit>,
    /// Reads that ended in an error and are still to be counted.
    pub error_valid: Signal<Out, Bit>,
    pub error_ready: Signal<In, Bit>,
    pub short: Signal<Out, Bit>,
    pub partial: Signal<Out, Bit>,
    pub spoilt: Signal<Out, Bit>,
    pub advance: Signal<In, Bit>,
    pub read_index: Signal<In, Bits<QA>>,
    pub read_slot: Signal<In, Bit>,
    pub read_word: Signal<In, Bits<4>>,
    pub word: Signal<Out, Bits<32>>,
    order: Fifo<QB, QC, QB>,
    coming: Fifo<QB, QC, QA>,
    /// Heads of the two, in registers.
    head: DFF<Bits<QB>>,
    head_valid: DFF<Bit>,
    /// The one behind `head`, so that the FIFO doesn't move with R.
    second: DFF<Bits<QB>>,
    second_valid: DFF<Bit>,
    next_index: DFF<Bits<QA>>,
    next_valid: DFF<Bit>,
    arrived: DFF<Bits<QC>>,
    some_arrived: DFF<Bit>,
    errors: DFF<Bits<QC>>,
    same: DFF<Bit>,
    enough: DFF<Bit>,
    ram: SplitRam<A, W>,
    late_address: DFF<Bits<A>>,
    half: DFF<Bit>,
    late_half: DFF<Bit>,
    kept: DFF<Bits<32>>,
    beat: DFF<Bits<4>>,
    failed: DFF<Bit>,
    spoil: DFF<Bit>,
    spoilt_kept: DFF<Bit>,
    full: Signal<Local, Bits<QR>>,
    fit: Signal<Local, Bits<QR>>,
    target: Signal<Local, Bits<QR>>,
    upper: Signal<Local, Bits<W>>,
    out: Signal<Local, Bits<32>>,
    take: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    count: Signal<Local, Bits<QC>>,
    incoming: Signal<Local, Bit>,
    target_reader: Signal<Local, Bits<QB>>,
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
        dff_setup!(
            self,
            clock,
            late_address,
            half,
            late_half,
            kept,
            beat,
            failed,
            spoil,
            spoilt_kept,
            head,
            head_valid,
            second,
            second_valid,
            next_index,
            next_valid,
            arrived,
            some_arrived,
            errors,
            same,
            enough
        );
        clock!(self, clock, order, coming, ram);
        self.order.reset.next = self.reset.val();
        self.coming.reset.next = self.reset.val();
        self.coming.s_data.next = self.ask_data.val().get_bits::<QA>(1);
        self.coming.s_valid.next = self.ask_valid.val();
        self.order.s_data.next = self.ask_data.val();
        self.order.s_valid.next = self.ask_valid.val();

        // In.
        self.take.next = self.r_valid.val() & self.head_valid.q.val() & !self.spoil.q.val();
        self.r_ready.next = self.head_valid.q.val() & !self.spoil.q.val();
        self.over.next = self.spoil.q.val() | (self.take.val() & self.r_last.val() & !self.failed.q.val() & !self.r_error.val());
        self.target.next = (bit_cast::<QR, QB>(self.head.q.val()) << 4) | bit_cast::<QR, 4>(self.beat.q.val());
        for _i in 1..H {
            self.target.next = (bit_cast::<QR, QB>(self.head.q.val()) << 3) | bit_cast::<QR, 4>(self.beat.q.val());
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
        self.order.m_ready.next = !self.second_valid.q.val();
        if !self.second_valid.q.val() {
            self.second.d.next = self.order.m_data.val();
            self.second_valid.d.next = self.order.m_valid.val();
        }
        if self.over.val() | !self.head_valid.q.val() {
            self.head.d.next = self.second.q.val();
            self.head_valid.d.next = self.second_valid.q.val();
            if self.second_valid.q.val() {
                self.second_valid.d.next = false;
            }
        }

        // Who waits for it.
        self.begins.next = self.take.val() & !self.beat.q.val().any();
        self.arrival_index.next = self.next_index.q.val();
        self.arrival_expected.next = self.next_valid.q.val();
        self.arrival_valid.next = self.next_valid.q.val() & self.some_arrived.q.val();
        self.coming.m_ready.next = self.arrival_ready.val() | !self.next_valid.q.val();
        if self.arrival_ready.val() | !self.next_valid.q.val() {
            self.next_index.d.next = self.coming.m_data.val();
            self.next_valid.d.next = self.coming.m_valid.val();
        }
        self.count.next = self.arrived.q.val();
        if self.begins.val() & !self.arrival_ready.val() {
            self.count.next = self.arrived.q.val() + 1;
        }
        if self.arrival_ready.val() & !self.begins.val() {
            self.count.next = self.arrived.q.val() - 1;
        }
        self.arrived.d.next = self.count.val();
        self.some_arrived.d.next =
            self.begins.val() | (self.some_arrived.q.val() & !(self.arrival_ready.val() & (self.arrived.q.val() == 1)));
        self.error_valid.next = self.errors.q.val().any();
        if self.spoil.q.val() & !self.error_ready.val() {
            self.errors.d.next = self.errors.q.val() + 1;
        }
        if self.error_ready.val() & !self.spoil.q.val() {
            self.errors.d.next = self.errors.q.val() - 1;
        }
        self.target_reader.next = bit_cast::<QB, QA>(self.read_index.val()) << 1;
        if self.read_slot.val() {
            self.target_reader.next = (bit_cast::<QB, QA>(self.read_index.val()) << 1) | 1;
        }
        self.same.d.next = self.target_reader.val() == self.head.q.val();
        // All but the last beat.
        if self.take.val() {
            self.enough.d.next = self.beat.q.val() == 14;
            for _i in 1..H {
                self.enough.d.next = self.beat.q.val() == 6;
            }
        }
        self.incoming.next = self.beat.q.val().any() | self.spoil.q.val();
        self.short.next = self.same.q.val() & self.incoming.val() & !self.spoil.q.val() & !self.enough.q.val();
        self.partial.next = self.same.q.val() & self.incoming.val();
        self.spoilt_kept.d.next = self.spoil.q.val() & (self.target_reader.val() == self.head.q.val());
        self.spoilt.next = self.spoilt_kept.q.val();

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
            self.head_valid.d.next = false;
            self.second_valid.d.next = false;
            self.next_valid.d.next = false;
            self.arrived.d.next = 0.into();
            self.some_arrived.d.next = false;
            self.errors.d.next = 0.into();
        }
    }

    crate::block_name!();
}
