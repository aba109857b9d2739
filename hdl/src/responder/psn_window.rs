// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a packet's PSN stands (R21): before, at, or beyond ePSN, modulo 2^24 with bit 23 as the sign. Keeps word 0 of the receive state.
//!
//! ```text
//! load ─► fields of word 0 kept ─► psn − ePSN ─► equal, earlier (3 cycles after load)
//! ```
//!
//! `pivot` is ePSN. `adopt` makes it the packet's PSN, for UC, where a gap moves ePSN along (R73); the comparison then no longer counts. `renew` makes it
//! the PSN of the row, for a modify (R41).

use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct PsnWindow {
    pub clock: Signal<In, Clock>,
    pub load: Signal<In, Bit>,
    pub adopt: Signal<In, Bit>,
    pub renew: Signal<In, Bit>,
    /// ePSN moves on by this many: a READ's responses (R22).
    pub jump: Signal<In, Bit>,
    pub psns: Signal<In, Bits<24>>,
    pub word: Signal<In, Bits<32>>,
    pub row_word: Signal<In, Bits<32>>,
    pub psn: Signal<In, Bits<24>>,
    pub pivot: Signal<Out, Bits<24>>,
    pub equal: Signal<Out, Bit>,
    pub earlier: Signal<Out, Bit>,
    /// PSN - ePSN.
    pub ahead: Signal<Out, Bits<24>>,
    pub state: Signal<Out, Bits<3>>,
    pub message: Signal<Out, Bits<2>>,
    pub nak: Signal<Out, Bit>,
    /// READs and ATOMICs stand behind the SEND or WRITE last executed, whose PSN is in word 3 then.
    pub read_behind: Signal<Out, Bit>,
    /// !ePSN, so that the subtraction is an addition without an inverter for each bit.
    pivot_kept: DFF<Bits<24>>,
    state_kept: DFF<Bits<3>>,
    message_kept: DFF<Bits<2>>,
    nak_kept: DFF<Bit>,
    behind_kept: DFF<Bit>,
    jumped: Signal<Local, Bits<24>>,
    equal_kept: DFF<Bit>,
    difference: DFF<Bits<24>>,
}

impl Logic for PsnWindow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            pivot_kept,
            state_kept,
            message_kept,
            nak_kept,
            behind_kept,
            equal_kept,
            difference
        );
        if self.load.val() {
            self.pivot_kept.d.next = !self.word.val().get_bits::<24>(0);
            self.state_kept.d.next = self.word.val().get_bits::<3>(24);
            self.message_kept.d.next = self.word.val().get_bits::<2>(27);
            self.nak_kept.d.next = self.word.val().get_bit(29);
            self.behind_kept.d.next = self.word.val().get_bit(30);
        }
        if self.adopt.val() {
            self.pivot_kept.d.next = !self.psn.val();
        }
        if self.renew.val() {
            self.pivot_kept.d.next = !self.row_word.val().get_bits::<24>(0);
        }
        self.pivot.next = !self.pivot_kept.q.val();
        self.jumped.next = self.pivot.val() + self.psns.val();
        if self.jump.val() {
            self.pivot_kept.d.next = !self.jumped.val();
        }
        self.difference.d.next = self.psn.val() - self.pivot.val();
        self.equal_kept.d.next = !self.difference.q.val().any();
        self.equal.next = self.equal_kept.q.val();
        self.ahead.next = self.difference.q.val();
        self.earlier.next = self.difference.q.val().get_bit(23);
        self.state.next = self.state_kept.q.val();
        self.message.next = self.message_kept.q.val();
        self.nak.next = self.nak_kept.q.val();
        self.read_behind.next = self.behind_kept.q.val();
    }

    crate::block_name!();
}
