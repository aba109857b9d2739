// SPDX-License-Identifier: MIT OR Apache-2.0
//! The head that the control path sees, while the loader fetches the next one.
//!
//! ```text
//! head_loader ─► register ─► head        64 bits: `head_next` to the next `head_valid` 1 cycle
//!            └─────────────► head        32 bits: the loader's own register, no second one
//! ```

use super::PacketHead;
use rust_hdl::prelude::*;

/// The second head register at two lanes (`L`), wires at one.
#[derive(LogicBlock)]
pub struct HeadFront<const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_head: Signal<In, PacketHead>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    pub head: Signal<Out, PacketHead>,
    pub head_valid: Signal<Out, Bit>,
    pub head_next: Signal<In, Bit>,
    front: DFF<PacketHead>,
    valid: DFF<Bit>,
    free: Signal<Local, Bit>,
}

impl<const L: usize> Default for HeadFront<L> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_head: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            head_next: Default::default(),
            front: Default::default(),
            valid: Default::default(),
            free: Default::default(),
        }
    }
}

impl<const L: usize> Logic for HeadFront<L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, front, valid);

        // What comes while it is free and not valid yet does no harm.
        self.free.next = !self.valid.q.val() | self.head_next.val();
        if self.free.val() {
            self.front.d.next = self.s_head.val();
            self.valid.d.next = self.s_valid.val();
        }
        self.s_ready.next = self.head_next.val();
        self.head.next = self.s_head.val();
        self.head_valid.next = self.s_valid.val();
        for _i in 1..L {
            self.s_ready.next = self.free.val();
            self.head.next = self.front.q.val();
            self.head_valid.next = self.valid.q.val();
        }

        if self.reset.val() {
            self.valid.d.next = false;
        }
    }

    crate::block_name!();
}
