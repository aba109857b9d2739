// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opcode and extension headers of a packet (R32: a packet sent again is the same).
//!
//! Combinational, from registers.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct Bth {
    /// QP row `SERVICE`: the opcode's upper bits.
    pub service: Signal<In, Bits<3>>,
    /// QP row `PMTU`.
    pub pmtu: Signal<In, Bits<3>>,
    /// Send opcode.
    pub send_opcode: Signal<In, Bits<4>>,
    pub write: Signal<In, Bit>,
    pub read: Signal<In, Bit>,
    pub atomic: Signal<In, Bit>,
    pub immediate: Signal<In, Bit>,
    pub invalidate: Signal<In, Bit>,
    pub datagram: Signal<In, Bit>,
    pub reliable: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    /// Selective repeat.
    pub selective: Signal<In, Bit>,
    pub psn: Signal<In, Bits<24>>,
    pub opcode: Signal<Out, Bits<8>>,
    /// Words of extension headers.
    pub extension: Signal<Out, Bits<3>>,
    /// A remote address and key go with it; the operands of an ATOMIC; immediate or key to invalidate.
    pub remote: Signal<Out, Bit>,
    pub trailer: Signal<Out, Bit>,
    pub ack_request: Signal<Out, Bit>,
    place: Signal<Local, Bits<5>>,
    paced: Signal<Local, Bit>,
}

impl Logic for Bth {
    #[hdl_gen]
    fn update(&mut self) {
        self.trailer.next = self.last.val() & (self.immediate.val() | self.invalidate.val());
        self.remote.next = (self.write.val() & self.first.val()) | self.read.val() | self.atomic.val();
        // SEND; WRITE is 6 further.
        self.place.next = 1.into();
        if self.first.val() {
            self.place.next = 0.into();
        }
        if self.last.val() {
            self.place.next = 2.into();
            if self.immediate.val() {
                self.place.next = 3.into();
            }
            if self.invalidate.val() {
                self.place.next = 0x16.into();
            }
            if self.first.val() {
                self.place.next = 4.into();
                if self.immediate.val() {
                    self.place.next = 5.into();
                }
                if self.invalidate.val() {
                    self.place.next = 0x17.into();
                }
            }
        }
        self.opcode.next = bit_cast::<8, 5>(self.place.val()) | (bit_cast::<8, 3>(self.service.val()) << 5);
        if self.write.val() {
            self.opcode.next = (bit_cast::<8, 5>(self.place.val()) + 6) | (bit_cast::<8, 3>(self.service.val()) << 5);
        }
        if self.read.val() {
            self.opcode.next = 0x0c.into();
        }
        if self.atomic.val() {
            self.opcode.next = 0x13.into();
            if self.send_opcode.val().get_bit(0) {
                self.opcode.next = 0x14.into();
            }
        }
        self.extension.next = 0.into();
        if self.datagram.val() {
            self.extension.next = 2.into();
        }
        if self.remote.val() {
            self.extension.next = 4.into();
        }
        if self.trailer.val() {
            self.extension.next = 1.into();
            if self.datagram.val() {
                self.extension.next = 3.into();
            }
            if self.remote.val() {
                self.extension.next = 5.into();
            }
        }
        if self.atomic.val() {
            self.extension.next = 7.into();
        }
        // R74: every 16th PSN, every 64th at PMTU 256; with selective repeat every 4th.
        self.paced.next = self.psn.val().get_bits::<2>(0).all()
            & (self.selective.val()
                | (self.psn.val().get_bits::<2>(2).all() & (self.psn.val().get_bits::<2>(4).all() | (self.pmtu.val() != 1))));
        self.ack_request.next = self.reliable.val() & (self.last.val() | self.paced.val());
    }

    crate::block_name!();
}
