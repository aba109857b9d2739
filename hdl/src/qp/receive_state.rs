// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine's half of the QP contexts: receive state, eight words a QP, with one writer (the control path).
//!
//! | word | holds |
//! |---|---|
//! | 0 | [23:0] ePSN, [26:24] QP state, [28:27] message (0 none, 1 SEND, 2 WRITE), [29] a sequence or RNR NAK stands, [30] READs or ATOMICs since the last SEND or WRITE |
//! | 1 | [23:0] MSN |
//! | 2 | receive ring: [15:0] producer, [31:16] consumer |
//! | 3 | bytes of the message so far; with [30] of word 0 the PSN of the last SEND or WRITE packet (R26) |
//! | 4, 5 | virtual address of the message's first byte, low and high |
//! | 6 | length of the WRITE (DMALen), or of the receive buffer |
//! | 7 | key |
//!
//! Words 3–7 mean something only in the middle of a message. A READ stands between messages and moves ePSN by more than one, so the PSN that
//! duplicates are answered with (R26), else ePSN − 1, goes to word 3 before it.
//!
//! A write's address comes with `write`, its data a cycle later (zero while the walk runs). It is in the RAM two cycles later and must not be looked for earlier; nor may a word be read in the cycle in which it is written.
//! After reset a walk clears every word, so all QPs are in RESET; `ready` then rises. Read latency 1 cycle, the word is held while `read` is
//! low. `A` must be `QA + 3`, `C` one more.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct ReceiveState<const QA: usize, const A: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub index: Signal<In, Bits<QA>>,
    pub write: Signal<In, Bit>,
    pub write_item: Signal<In, Bits<3>>,
    /// Of the write of the cycle before.
    pub write_data: Signal<In, Bits<32>>,
    pub read: Signal<In, Bit>,
    pub read_item: Signal<In, Bits<3>>,
    pub word: Signal<Out, Bits<32>>,
    ram: SplitRam<A, 32>,
    write_kept: DFF<Bit>,
    address_kept: DFF<Bits<A>>,
    /// Its top bit says that the walk is over.
    walk: DFF<Bits<C>>,
    row: Signal<Local, Bits<A>>,
    over: Signal<Local, Bit>,
    top: Constant<Bits<C>>,
}

impl<const QA: usize, const A: usize, const C: usize> Default for ReceiveState<QA, A, C> {
    fn default() -> Self {
        assert!(A == QA + 3 && C == A + 1, "ReceiveState: A must be QA + 3, C one more");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            index: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            read: Default::default(),
            read_item: Default::default(),
            word: Default::default(),
            ram: Default::default(),
            write_kept: Default::default(),
            address_kept: Default::default(),
            walk: Default::default(),
            row: Default::default(),
            over: Default::default(),
            top: Constant::new((1u64 << A).to_bits()),
        }
    }
}

impl<const QA: usize, const A: usize, const C: usize> Logic for ReceiveState<QA, A, C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, walk, write_kept, address_kept);
        clock!(self, clock, ram);
        self.over.next = self.walk.q.val() == self.top.val();
        self.ready.next = self.over.val();
        self.row.next = bit_cast::<A, QA>(self.index.val()) << 3;

        self.ram.read_enable.next = self.read.val();
        self.ram.read_address.next = self.row.val() | bit_cast::<A, 3>(self.read_item.val());
        self.word.next = self.ram.read_data.val();

        self.ram.write_enable.next = self.write_kept.q.val();
        self.ram.write_address.next = self.address_kept.q.val();
        self.ram.write_data.next = self.write_data.val();
        self.write_kept.d.next = self.write.val();
        self.address_kept.d.next = self.row.val() | bit_cast::<A, 3>(self.write_item.val());
        if !self.over.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            self.write_kept.d.next = true;
            self.address_kept.d.next = self.walk.q.val().get_bits::<A>(0);
        }
        if self.reset.val() {
            self.write_kept.d.next = false;
            self.walk.d.next = 0.into();
        }
    }

    crate::block_name!();
}
