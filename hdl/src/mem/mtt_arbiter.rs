// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two readers of the page table: 0 the DMA writer's splitter, 1 the DMA reader's.
//!
//! ```text
//! s0_entry, s1_entry ─► choice ─► entry (Mtt) ··2 cycles··► page ─► s0_page, s1_page (registers)
//! ```
//!
//! `read` holds until `grant`; `page` is there three cycles after the grant and stays until the reader's next one. A lookup a cycle; in turn where both ask.

use rust_hdl::prelude::*;

/// The arbiter.
#[derive(LogicBlock)]
pub struct MttArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s0_read: Signal<In, Bit>,
    pub s0_entry: Signal<In, Bits<16>>,
    pub s0_grant: Signal<Out, Bit>,
    pub s0_page: Signal<Out, Bits<52>>,
    pub s1_read: Signal<In, Bit>,
    pub s1_entry: Signal<In, Bits<16>>,
    pub s1_grant: Signal<Out, Bit>,
    pub s1_page: Signal<Out, Bits<52>>,
    pub entry: Signal<Out, Bits<16>>,
    pub page: Signal<In, Bits<52>>,
    served: DFF<Bit>,
    first_0: DFF<Bit>,
    first_1: DFF<Bit>,
    second_0: DFF<Bit>,
    second_1: DFF<Bit>,
    page_0: DFF<Bits<52>>,
    page_1: DFF<Bits<52>>,
    pick: Signal<Local, Bit>,
}

impl Default for MttArbiter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s0_read: Default::default(),
            s0_entry: Default::default(),
            s0_grant: Default::default(),
            s0_page: Default::default(),
            s1_read: Default::default(),
            s1_entry: Default::default(),
            s1_grant: Default::default(),
            s1_page: Default::default(),
            entry: Default::default(),
            page: Default::default(),
            served: Default::default(),
            first_0: Default::default(),
            first_1: Default::default(),
            second_0: Default::default(),
            second_1: Default::default(),
            page_0: Default::default(),
            page_1: Default::default(),
            pick: Default::default(),
        }
    }
}

impl Logic for MttArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, served, first_0, first_1, second_0, second_1, page_0, page_1);
        self.pick.next = self.s1_read.val() & (!self.s0_read.val() | !self.served.q.val());
        self.entry.next = self.s0_entry.val();
        if self.pick.val() {
            self.entry.next = self.s1_entry.val();
        }
        self.s0_grant.next = self.s0_read.val() & !self.pick.val();
        self.s1_grant.next = self.pick.val();
        if self.s0_read.val() | self.s1_read.val() {
            self.served.d.next = self.pick.val();
        }
        self.first_0.d.next = self.s0_read.val() & !self.pick.val();
        self.first_1.d.next = self.pick.val();
        self.second_0.d.next = self.first_0.q.val();
        self.second_1.d.next = self.first_1.q.val();
        if self.second_0.q.val() {
            self.page_0.d.next = self.page.val();
        }
        if self.second_1.q.val() {
            self.page_1.d.next = self.page.val();
        }
        self.s0_page.next = self.page_0.q.val();
        self.s1_page.next = self.page_1.q.val();
        if self.reset.val() {
            self.served.d.next = false;
            self.first_0.d.next = false;
            self.first_1.d.next = false;
            self.second_0.d.next = false;
            self.second_1.d.next = false;
        }
    }

    crate::block_name!();
}
