// SPDX-License-Identifier: MIT OR Apache-2.0
//! The FCS of a frame whose last beat has 1 to 8 bytes, turned so that its bytes stand in the lanes where they go out.
//!
//! ```text
//! FcsLoop ─► 4 zero bytes out? ─► 2 out? ─► 1 out? ─► invert, rotate ─► fcs
//! ```
//!
//! A last beat in cycle t gives `fcs` in t + 6; it stands until the next frame's. Lane i of a column takes byte `i mod 4` of `fcs`. `spoil` with the last beat: the FCS is not inverted, so wrong.

use super::FcsLoop;
use crate::wire::CrcMatrix;
use rust_hdl::prelude::*;

/// Latency 6 cycles, one beat a cycle; a last beat every second cycle at most.
#[derive(LogicBlock, Default)]
pub struct FcsTail {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<64>>,
    pub keep: Signal<In, Bits<8>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub spoil: Signal<In, Bit>,
    pub fcs: Signal<Out, Bits<32>>,

    crc: FcsLoop,
    /// Zero bytes fed too many, `spoil` above: in step with the CRC.
    missing: [DFF<Bits<4>>; 5],
    without_4: DFF<Bits<32>>,
    without_2: DFF<Bits<32>>,
    without_1: DFF<Bits<32>>,
    ready: [DFF<Bit>; 3],
    out: DFF<Bits<32>>,
    undo_4: CrcMatrix<0, 4, 8>,
    undo_2: CrcMatrix<0, 2, 8>,
    undo_1: CrcMatrix<0, 1, 8>,
    by_4: Signal<Local, Bit>,
    by_2: Signal<Local, Bit>,
    by_1: Signal<Local, Bit>,
    last_step: Signal<Local, Bits<4>>,
    value: Signal<Local, Bits<32>>,
    turned: Signal<Local, Bits<32>>,
}

impl Logic for FcsTail {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, without_4, without_2, without_1, out);
        clock!(self, clock, crc);
        for i in 0..5 {
            self.missing[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.ready[i].clock.next = self.clock.val();
        }
        self.crc.reset.next = self.reset.val();
        self.crc.data.next = self.data.val();
        self.crc.valid.next = self.valid.val();
        self.crc.first.next = self.first.val();
        self.crc.last.next = self.last.val();

        // 8 - n in binary; n from 1 to 8.
        self.by_4.next = !self.keep.val().get_bit(4);
        self.by_2.next = (self.keep.val().get_bit(4) & !self.keep.val().get_bit(6)) | !self.keep.val().get_bit(2);
        self.by_1.next = (self.keep.val().get_bit(6) & !self.keep.val().get_bit(7))
            | (self.keep.val().get_bit(4) & !self.keep.val().get_bit(5))
            | (self.keep.val().get_bit(2) & !self.keep.val().get_bit(3))
            | !self.keep.val().get_bit(1);
        self.missing[0].d.next = bit_cast::<4, 1>(self.by_1.val().into())
            | (bit_cast::<4, 1>(self.by_2.val().into()) << 1)
            | (bit_cast::<4, 1>(self.by_4.val().into()) << 2)
            | (bit_cast::<4, 1>(self.spoil.val().into()) << 3);
        for i in 1..5 {
            self.missing[i].d.next = self.missing[i - 1].q.val();
        }

        self.undo_4.x.next = self.crc.state.val();
        self.without_4.d.next = self.crc.state.val();
        if self.missing[1].q.val().get_bit(2) {
            self.without_4.d.next = self.undo_4.y.val();
        }
        self.undo_2.x.next = self.without_4.q.val();
        self.without_2.d.next = self.without_4.q.val();
        if self.missing[2].q.val().get_bit(1) {
            self.without_2.d.next = self.undo_2.y.val();
        }
        self.undo_1.x.next = self.without_2.q.val();
        self.without_1.d.next = self.without_2.q.val();
        if self.missing[3].q.val().get_bit(0) {
            self.without_1.d.next = self.undo_1.y.val();
        }
        self.ready[0].d.next = self.crc.state_valid.val();
        for i in 1..3 {
            self.ready[i].d.next = self.ready[i - 1].q.val();
        }

        // Byte k of the FCS stands in lane (n + k) mod 4 of the column: rotated to the right by 8 - n bytes.
        self.last_step.next = self.missing[4].q.val();
        self.value.next = !self.without_1.q.val();
        if self.last_step.val().get_bit(3) {
            self.value.next = self.without_1.q.val();
        }
        self.turned.next = self.value.val();
        if self.last_step.val().get_bit(0) {
            self.turned.next =
                bit_cast::<32, 24>(self.value.val().get_bits::<24>(8)) | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(0)) << 24);
        }
        if self.ready[2].q.val() {
            self.out.d.next = self.turned.val();
            if self.last_step.val().get_bit(1) {
                self.out.d.next = bit_cast::<32, 16>(self.turned.val().get_bits::<16>(16))
                    | (bit_cast::<32, 16>(self.turned.val().get_bits::<16>(0)) << 16);
            }
        }
        self.fcs.next = self.out.q.val();

        if self.reset.val() {
            for i in 0..3 {
                self.ready[i].d.next = false;
            }
        }
    }

    crate::block_name!();
}
