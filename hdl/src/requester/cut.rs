// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a packet lies in its message: bytes sent, bytes left, and the piece of each element.
//!
//! ```text
//! load_length ─► remaining := length
//! load_first ──► offset := bytes sent; rest := length 0   lower half of tail := length − length 0
//! load_second ─► remaining −= offset; rest −= offset      upper half; lower half −= length 1
//!                a cycle later                            upper half −= length 1
//! ```
//!
//! Two cycles after `load_second` the outputs stand, `misfit` and `next_offset` one later, `piece` two. `rest` is what element 0 still has, `tail` what
//! neither element accounts for. `count` is the number of PSNs: ceil(remaining / PMTU), by one halving a cycle; `count_round` adds what fell off.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Cut {
    pub clock: Signal<In, Clock>,
    /// QP row `PMTU`: 256 bytes are 1.
    pub pmtu: Signal<In, Bits<3>>,
    pub elements: Signal<In, Bits<2>>,
    /// A word of the WQE, and of the QP's row.
    pub wqe_word: Signal<In, Bits<32>>,
    pub row_word: Signal<In, Bits<32>>,
    pub load_length: Signal<In, Bit>,
    pub load_first: Signal<In, Bit>,
    pub load_second: Signal<In, Bit>,
    /// Element 1's piece of a split packet is in hand.
    pub second_piece: Signal<In, Bit>,
    pub count_load: Signal<In, Bit>,
    pub count_halve: Signal<In, Bit>,
    pub count_round: Signal<In, Bit>,
    pub count_one: Signal<In, Bit>,
    pub offset: Signal<Out, Bits<32>>,
    pub remaining: Signal<Out, Bits<32>>,
    pub rest: Signal<Out, Bits<32>>,
    pub first: Signal<Out, Bit>,
    /// More than PMTU is left.
    pub over: Signal<Out, Bit>,
    pub misfit: Signal<Out, Bit>,
    /// Bytes of the packet.
    pub payload: Signal<Out, Bits<14>>,
    /// The packet takes bytes of both elements; of element 1 alone.
    pub split: Signal<Out, Bit>,
    pub beyond: Signal<Out, Bit>,
    /// Bytes of the piece in hand.
    pub piece: Signal<Out, Bits<14>>,
    /// `offset` after the packet.
    pub next_offset: Signal<Out, Bits<32>>,
    pub count: Signal<Out, Bits<24>>,
    offset_kept: DFF<Bits<32>>,
    remaining_kept: DFF<Bits<32>>,
    rest_kept: DFF<Bits<33>>,
    /// Halves of `tail`, each with its borrow; there was one before (R67: it stays to be seen); length 1's upper half, and that it is due.
    tail_low: DFF<Bits<17>>,
    tail_high: DFF<Bits<17>>,
    borrowed: DFF<Bit>,
    other_high: DFF<Bits<16>>,
    third: DFF<Bit>,
    misfit_kept: DFF<Bit>,
    /// There is an element 0; an element 1.
    any_element: DFF<Bit>,
    two_elements: DFF<Bit>,
    next_kept: DFF<Bits<32>>,
    /// A part of a packet fell off `count`.
    odd: DFF<Bit>,
    payload_kept: DFF<Bits<14>>,
    over_kept: DFF<Bit>,
    piece_kept: DFF<Bits<14>>,
    other_piece: DFF<Bits<14>>,
    count_kept: DFF<Bits<24>>,
    size: Signal<Local, Bits<14>>,
    high: Signal<Local, Bits<32>>,
    low: Signal<Local, Bits<32>>,
    upper: Signal<Local, Bit>,
    lower: Signal<Local, Bit>,
    spent: Signal<Local, Bits<32>>,
    other: Signal<Local, Bits<32>>,
    minuend: Signal<Local, Bits<18>>,
    subtrahend: Signal<Local, Bits<18>>,
    difference: Signal<Local, Bits<18>>,
    ample: Signal<Local, Bit>,
    left: Signal<Local, Bits<14>>,
    short: Signal<Local, Bit>,
}

impl Logic for Cut {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            offset_kept,
            remaining_kept,
            rest_kept,
            tail_low,
            tail_high,
            borrowed,
            other_high,
            third,
            misfit_kept,
            any_element,
            two_elements,
            next_kept,
            odd,
            payload_kept,
            over_kept,
            piece_kept,
            other_piece,
            count_kept
        );

        // PMTU, and whether more than that is left.
        self.size.next = 256.into();
        self.low.next = 0xff.into();
        if self.pmtu.val() == 2 {
            self.size.next = 512.into();
            self.low.next = 0x1ff.into();
        }
        if self.pmtu.val() == 3 {
            self.size.next = 1024.into();
            self.low.next = 0x3ff.into();
        }
        if self.pmtu.val() == 4 {
            self.size.next = 2048.into();
            self.low.next = 0x7ff.into();
        }
        if self.pmtu.val() == 5 {
            self.size.next = 4096.into();
            self.low.next = 0xfff.into();
        }
        self.high.next = !self.low.val() & !bit_cast::<32, 14>(self.size.val());
        self.upper.next = (self.remaining_kept.q.val() & self.high.val()).any();
        self.lower.next = (self.remaining_kept.q.val() & self.low.val()).any();
        self.over_kept.d.next =
            self.upper.val() | ((self.remaining_kept.q.val() & bit_cast::<32, 14>(self.size.val())).any() & self.lower.val());
        self.payload_kept.d.next = self.remaining_kept.q.val().get_bits::<14>(0);
        if self.over_kept.q.val() {
            self.payload_kept.d.next = self.size.val();
        }

        if self.load_length.val() {
            self.remaining_kept.d.next = self.wqe_word.val();
        }
        self.any_element.d.next = self.elements.val().any();
        self.two_elements.d.next = self.elements.val().get_bit(1);
        self.spent.next = 0.into();
        if self.any_element.q.val() {
            self.spent.next = self.wqe_word.val();
        }
        self.other.next = 0.into();
        if self.two_elements.q.val() {
            self.other.next = self.wqe_word.val();
        }
        if self.load_first.val() {
            self.offset_kept.d.next = self.row_word.val();
            self.rest_kept.d.next = bit_cast::<33, 32>(self.spent.val());
            self.tail_low.d.next =
                bit_cast::<17, 16>(self.remaining_kept.q.val().get_bits::<16>(0)) - bit_cast::<17, 16>(self.spent.val().get_bits::<16>(0));
        }
        // The upper half, its borrow at the lower end: of length 0, which is in `rest` still; then of length 1.
        self.minuend.next = bit_cast::<18, 16>(self.remaining_kept.q.val().get_bits::<16>(16)) << 1;
        self.subtrahend.next = (bit_cast::<18, 16>(self.rest_kept.q.val().get_bits::<16>(16)) << 1)
            | bit_cast::<18, 1>(self.tail_low.q.val().get_bits::<1>(16));
        if self.third.q.val() {
            self.minuend.next = bit_cast::<18, 16>(self.tail_high.q.val().get_bits::<16>(0)) << 1;
            self.subtrahend.next =
                (bit_cast::<18, 16>(self.other_high.q.val()) << 1) | bit_cast::<18, 1>(self.tail_low.q.val().get_bits::<1>(16));
        }
        self.difference.next = self.minuend.val() - self.subtrahend.val();
        self.third.d.next = self.load_second.val();
        if self.load_second.val() {
            self.remaining_kept.d.next = self.remaining_kept.q.val() - self.offset_kept.q.val();
            self.rest_kept.d.next = self.rest_kept.q.val() - bit_cast::<33, 32>(self.offset_kept.q.val());
            self.other_high.d.next = self.other.val().get_bits::<16>(16);
            self.tail_low.d.next =
                bit_cast::<17, 16>(self.tail_low.q.val().get_bits::<16>(0)) - bit_cast::<17, 16>(self.other.val().get_bits::<16>(0));
        }
        if self.load_second.val() | self.third.q.val() {
            self.tail_high.d.next = self.difference.val().get_bits::<17>(1);
        }
        if self.third.q.val() {
            self.borrowed.d.next = self.tail_high.q.val().get_bit(16);
        }
        self.misfit_kept.d.next = self.borrowed.q.val() | self.tail_high.q.val().any() | self.tail_low.q.val().get_bits::<16>(0).any();

        self.beyond.next = self.rest_kept.q.val().get_bit(32) | !self.rest_kept.q.val().any();
        self.ample.next = self.rest_kept.q.val().get_bits::<18>(14).any();
        self.short.next = self.rest_kept.q.val().get_bits::<14>(0) < self.payload_kept.q.val();
        self.split.next = !self.beyond.val() & !self.ample.val() & self.short.val();
        self.left.next = self.payload_kept.q.val() - self.rest_kept.q.val().get_bits::<14>(0);
        self.piece_kept.d.next = self.payload_kept.q.val();
        self.other_piece.d.next = self.left.val();
        if self.split.val() {
            self.piece_kept.d.next = self.rest_kept.q.val().get_bits::<14>(0);
        }
        self.piece.next = self.piece_kept.q.val();
        if self.second_piece.val() {
            self.piece.next = self.other_piece.q.val();
        }

        if self.count_load.val() {
            self.count_kept.d.next = self.remaining_kept.q.val().get_bits::<24>(8);
            self.odd.d.next = self.remaining_kept.q.val().get_bits::<8>(0).any();
        }
        if self.count_halve.val() {
            self.count_kept.d.next = self.count_kept.q.val() >> 1;
            self.odd.d.next = self.odd.q.val() | self.count_kept.q.val().get_bit(0);
        }
        if self.count_round.val() & self.odd.q.val() {
            self.count_kept.d.next = self.count_kept.q.val() + 1;
        }
        if self.count_one.val() {
            self.count_kept.d.next = 1.into();
        }

        self.offset.next = self.offset_kept.q.val();
        self.remaining.next = self.remaining_kept.q.val();
        self.rest.next = self.rest_kept.q.val().get_bits::<32>(0);
        self.first.next = !self.offset_kept.q.val().any();
        self.over.next = self.over_kept.q.val();
        self.misfit.next = self.misfit_kept.q.val();
        self.payload.next = self.payload_kept.q.val();
        self.next_kept.d.next = self.offset_kept.q.val() + bit_cast::<32, 14>(self.payload_kept.q.val());
        self.next_offset.next = self.next_kept.q.val();
        self.count.next = self.count_kept.q.val();
    }

    crate::block_name!();
}
