// SPDX-License-Identifier: MIT OR Apache-2.0
//! Readers of the translation table: the DMA writer, which looks without asking, the DMA reader, and the ATOMIC's unit, which ask.
//!
//! ```text
//! first_busy, first_entry ──► entry (Mtt) ··2 cycles··► page ─► the first's page
//! third_valid, third_entry  ─► when the first isn't busy        ├─► third_done, third_page
//! second_read, second_entry ─► when neither of them looks       └─► second_page (register)
//! ```
//!
//! The first's entry stands at the table while it is busy, so its page stays. The second's `read` holds until `grant`, which comes a cycle after
//! its turn; its page is there two cycles after the grant and stays until its next one. The first isn't busy for a cycle between any two bursts, so the others can't starve.
//! The third (built where there is ATOMIC) holds `valid` until `done`, two cycles after its turn; its page counts in that cycle only. It looks once in an
//! ATOMIC, so it goes before the second.

use rust_hdl::prelude::*;

/// The choice.
#[derive(LogicBlock)]
pub struct MttShare {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub first_busy: Signal<In, Bit>,
    pub first_entry: Signal<In, Bits<16>>,
    pub second_read: Signal<In, Bit>,
    pub second_entry: Signal<In, Bits<16>>,
    pub second_grant: Signal<Out, Bit>,
    pub second_page: Signal<Out, Bits<52>>,
    pub third_valid: Signal<In, Bit>,
    pub third_entry: Signal<In, Bits<16>>,
    pub third_done: Signal<Out, Bit>,
    pub third_page: Signal<Out, Bits<52>>,
    pub entry: Signal<Out, Bits<16>>,
    pub page: Signal<In, Bits<52>>,
    looked: DFF<Bit>,
    found: DFF<Bit>,
    kept: DFF<Bits<52>>,
    /// The third's question, a cycle later.
    third_seen: DFF<Bit>,
    third_looked: DFF<Bit>,
    third_found: DFF<Bit>,
    grant: Signal<Local, Bit>,
    third_asks: Signal<Local, Bit>,
    has_third: Constant<Bit>,
}

impl MttShare {
    /// `third`: the third reader is built; else it is never answered.
    pub fn new(third: bool) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            first_busy: Default::default(),
            first_entry: Default::default(),
            second_read: Default::default(),
            second_entry: Default::default(),
            second_grant: Default::default(),
            second_page: Default::default(),
            third_valid: Default::default(),
            third_entry: Default::default(),
            third_done: Default::default(),
            third_page: Default::default(),
            entry: Default::default(),
            page: Default::default(),
            looked: Default::default(),
            found: Default::default(),
            kept: Default::default(),
            third_seen: Default::default(),
            third_looked: Default::default(),
            third_found: Default::default(),
            grant: Default::default(),
            third_asks: Default::default(),
            has_third: Constant::new(third),
        }
    }
}

impl Logic for MttShare {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, looked, found, kept, third_seen, third_looked, third_found);

        self.third_seen.d.next = self.third_valid.val() & !self.third_found.q.val();
        self.third_asks.next = self.third_seen.q.val()
            & self.has_third.val()
            & !self.first_busy.val()
            & !self.third_looked.q.val()
            & !self.third_found.q.val()
            & !self.reset.val();
        self.grant.next =
            self.second_read.val() & !self.first_busy.val() & !self.third_asks.val() & !self.looked.q.val() & !self.reset.val();
        self.second_grant.next = self.looked.q.val();
        self.entry.next = self.first_entry.val();
        if self.grant.val() {
            self.entry.next = self.second_entry.val();
        }
        if self.third_asks.val() {
            self.entry.next = self.third_entry.val();
        }
        self.third_looked.d.next = self.third_asks.val();
        self.third_found.d.next = self.third_looked.q.val();
        self.third_done.next = self.third_found.q.val();
        self.third_page.next = self.page.val();
        self.looked.d.next = self.grant.val();
        self.found.d.next = self.looked.q.val();
        if self.found.q.val() {
            self.kept.d.next = self.page.val();
        }
        self.second_page.next = self.kept.q.val();

        if self.reset.val() {
            self.looked.d.next = false;
            self.found.d.next = false;
            self.third_seen.d.next = false;
            self.third_looked.d.next = false;
            self.third_found.d.next = false;
            self.third_done.next = false;
            self.second_grant.next = false;
        }
    }

    crate::block_name!();
}
