// SPDX-License-Identifier: MIT OR Apache-2.0
//! One bit a packet, in order: its payload is read, with or without an error.
//!
//! ```text
//! ended, ended_error ─► 16 bits ─► done_valid, done_error
//! ```
//!
//! Limit: at most 15 packets that aren't taken (3 in the narrow form), which the splitter sees to.

use rust_hdl::prelude::*;

/// For a bus of `K` bytes: 16 bits, or 4.
#[derive(LogicBlock)]
pub struct DoneQueue<const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ended: Signal<In, Bit>,
    pub ended_error: Signal<In, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_error: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    errors: DFF<Bits<16>>,
    write: DFF<Bits<4>>,
    read: DFF<Bits<4>>,
    some: Signal<Local, Bit>,
    slot_mask: Constant<Bits<4>>,
}

impl<const K: usize> Default for DoneQueue<K> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ended: Default::default(),
            ended_error: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            errors: Default::default(),
            write: Default::default(),
            read: Default::default(),
            some: Default::default(),
            slot_mask: Constant::new((if K == 8 { 15 } else { 3u64 }).to_bits()),
        }
    }
}

impl<const K: usize> Logic for DoneQueue<K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, errors, write, read);
        self.some.next = self.write.q.val() != self.read.q.val();
        self.done_valid.next = self.some.val();
        self.done_error.next = self.errors.q.val().get_bit(self.read.q.val().index());
        if self.ended.val() {
            self.errors.d.next = self.errors.q.val().replace_bit(self.write.q.val().index(), self.ended_error.val());
            self.write.d.next = (self.write.q.val() + 1) & self.slot_mask.val();
        }
        if self.some.val() & self.done_ready.val() {
            self.read.d.next = (self.read.q.val() + 1) & self.slot_mask.val();
        }
        if self.reset.val() {
            self.write.d.next = 0.into();
            self.read.d.next = 0.into();
        }
    }

    crate::block_name!();
}
