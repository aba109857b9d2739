// SPDX-License-Identifier: MIT OR Apache-2.0
//! Is a WQE one that may be sent? Everything but the keys.
//!
//! Combinational, from registers. `U` = 1: with UC and UD, else RC alone.
//! The first that holds: operation error (opcode unknown or not of this service, elements, R66), then length error.

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct WqeCheck<const U: usize> {
    /// Bits 9-0 of the WQE's word 0.
    pub word0: Signal<In, Bits<10>>,
    /// QP row `SERVICE`.
    pub service: Signal<In, Bits<3>>,
    /// Bytes still to be sent; at a message's first packet its length.
    pub remaining: Signal<In, Bits<32>>,
    /// More than PMTU.
    pub over: Signal<In, Bit>,
    /// The elements' lengths don't add up to the message's.
    pub misfit: Signal<In, Bit>,
    /// R66: not what was sent before.
    pub changed: Signal<In, Bit>,
    pub read: Signal<Out, Bit>,
    pub atomic: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub immediate: Signal<Out, Bit>,
    pub invalidate: Signal<Out, Bit>,
    pub solicited: Signal<Out, Bit>,
    pub fence: Signal<Out, Bit>,
    pub datagram: Signal<Out, Bit>,
    pub reliable: Signal<Out, Bit>,
    /// The payload stands in the WQE.
    pub inline_data: Signal<Out, Bit>,
    /// LOCAL_QP_OPERATION_ERROR.
    pub bad_operation: Signal<Out, Bit>,
    /// LOCAL_LENGTH_ERROR.
    pub bad_length: Signal<Out, Bit>,
    opcode: Signal<Local, Bits<4>>,
    wide: Signal<Local, Bit>,
    allowed: Signal<Local, Bit>,
    huge: Signal<Local, Bit>,
    long: Signal<Local, Bit>,
}

impl<const U: usize> Logic for WqeCheck<U> {
    #[hdl_gen]
    fn update(&mut self) {
        self.opcode.next = self.word0.val().get_bits::<4>(0);
        self.read.next = self.opcode.val() == 5;
        self.atomic.next = (self.opcode.val() == 6) | (self.opcode.val() == 7);
        self.write.next = (self.opcode.val() == 3) | (self.opcode.val() == 4);
        self.immediate.next = (self.opcode.val() == 1) | (self.opcode.val() == 4);
        self.invalidate.next = self.opcode.val() == 2;
        self.wide.next = self.read.val() | self.atomic.val();
        // R63.
        self.solicited.next = self.word0.val().get_bit(5) & !self.wide.val() & (self.opcode.val() != 3);
        self.fence.next = self.word0.val().get_bit(6);
        self.inline_data.next = self.word0.val().get_bit(7);
        self.reliable.next = self.service.val() == 0;
        self.datagram.next = false;
        self.allowed.next = self.reliable.val();
        for _i in 0..U {
            self.datagram.next = self.service.val() == 3;
            self.allowed.next = self.reliable.val()
                | ((self.service.val() == 1) & !self.wide.val() & !self.invalidate.val())
                | (self.datagram.val() & !self.wide.val() & !self.invalidate.val() & !self.write.val() & !self.word0.val().get_bit(9));
        }
        self.bad_operation.next = self.opcode.val().get_bit(3)
            | !self.allowed.val()
            | (self.word0.val().get_bit(8) & self.word0.val().get_bit(9))
            | (self.inline_data.val() & self.wide.val())
            | self.changed.val();

        // 2^31 is the longest.
        self.huge.next = self.remaining.val().get_bit(31) & self.remaining.val().get_bits::<31>(0).any();
        // 32 bytes inline; 16 in a UD WQE, whose upper words are the destination.
        self.long.next = self.remaining.val().get_bits::<26>(6).any()
            | (self.remaining.val().get_bit(5) & (self.remaining.val().get_bits::<5>(0).any() | self.datagram.val()))
            | (self.datagram.val() & self.remaining.val().get_bit(4) & self.remaining.val().get_bits::<4>(0).any());
        self.bad_length.next = self.huge.val()
            | (self.inline_data.val() & self.long.val())
            | (!self.inline_data.val() & self.misfit.val())
            | (self.datagram.val() & self.over.val())
            | (self.atomic.val() & (self.remaining.val() != 8));
    }

    crate::block_name!();
}
