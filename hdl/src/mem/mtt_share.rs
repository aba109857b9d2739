// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two readers of the translation table: the DMA writer, which looks without asking, and the DMA reader, which asks.
//!
//! ```text
//! first_busy, first_entry ──► entry (Mtt) ··2 cycles··► page ─► the first's page
//! second_read, second_entry ─► when the first isn't busy        └─► second_page (register)
//! ```
//!
//! The first's entry stands at the table while it is busy, so its page stays. The second's `read` holds until `grant`; its page is there three
//! cycles after the grant and stays until its next one. The first isn't busy for a cycle between any two bursts, so the second can't starve.

use rust_hdl::prelude::*;

/// The choice.
#[derive(LogicBlock, Default)]
pub struct MttShare {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub first_busy: Signal<In, Bit>,
    pub first_entry: Signal<In, Bits<16>>,
    pub second_read: Signal<In, Bit>,
    pub second_entry: Signal<In, Bits<16>>,
    pub second_grant: Signal<Out, Bit>,
    pub second_page: Signal<Out, Bits<52>>,
    pub entry: Signal<Out, Bits<16>>,
    pub page: Signal<In, Bits<52>>,
    looked: DFF<Bit>,
    found: DFF<Bit>,
    kept: DFF<Bits<52>>,
    grant: Signal<Local, Bit>,
}

impl Logic for MttShare {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, looked, found, kept);

        self.grant.next = self.second_read.val() & !self.first_busy.val() & !self.reset.val();
        self.second_grant.next = self.grant.val();
        self.entry.next = self.first_entry.val();
        if self.grant.val() {
            self.entry.next = self.second_entry.val();
        }
        self.looked.d.next = self.grant.val();
        self.found.d.next = self.looked.q.val();
        if self.found.q.val() {
            self.kept.d.next = self.page.val();
        }
        self.second_page.next = self.kept.q.val();

        if self.reset.val() {
            self.looked.d.next = false;
            self.found.d.next = false;
        }
    }

    crate::block_name!();
}
