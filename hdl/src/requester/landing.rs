// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which bytes of READs and ATOMICs are on their way to memory, for the fence.
//!
//! ```text
//! placed ─► count of jobs under way ─► mark: this many ─► clear
//! landed ─► down by one ─────────────► down by one
//! ```
//!
//! Jobs land in order, so those under way at `mark` have landed after as many `landed`; what is placed later isn't waited for.
//! At most 63 jobs are under way (queue, splitter and bursts hold fewer than 32). `clear` falls in the cycle after `mark`.

use rust_hdl::prelude::*;

/// The count.
#[derive(LogicBlock, Default)]
pub struct Landing {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// `Complete` hands a write job over.
    pub placed: Signal<In, Bit>,
    /// One of them has its B responses.
    pub landed: Signal<In, Bit>,
    /// Wait for all that are under way now.
    pub mark: Signal<In, Bit>,
    pub clear: Signal<Out, Bit>,
    count: DFF<Bits<6>>,
    left: DFF<Bits<6>>,
}

impl Logic for Landing {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, left);
        if self.placed.val() & !self.landed.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.landed.val() & !self.placed.val() {
            self.count.d.next = self.count.q.val() - 1;
        }
        if self.landed.val() & self.left.q.val().any() {
            self.left.d.next = self.left.q.val() - 1;
        }
        if self.mark.val() {
            self.left.d.next = self.count.q.val();
            if self.landed.val() {
                self.left.d.next = self.count.q.val() - 1;
            }
        }
        self.clear.next = !self.left.q.val().any();

        if self.reset.val() {
            self.count.d.next = 0.into();
            self.left.d.next = 0.into();
        }
    }

    crate::block_name!();
}
