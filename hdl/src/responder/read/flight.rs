// SPDX-License-Identifier: MIT OR Apache-2.0
//! Response packets whose payload is being read: eight at most. What is known of each stands in row 0 of the store.
//!
//! ```text
//! begin ─► count ◄─ done without error
//! done with error ─► failed, kept until the machine has dealt with it (settled)
//! ```

use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct Flight {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A packet with payload begins.
    pub begin_packet: Signal<In, Bit>,
    /// Its words are written.
    pub written: Signal<In, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    pub settled: Signal<In, Bit>,
    pub failed: Signal<Out, Bit>,
    pub empty: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    /// Where the next packet's words go, and where the oldest's are.
    pub newest: Signal<Out, Bits<3>>,
    pub oldest: Signal<Out, Bits<3>>,
    count: DFF<Bits<4>>,
    newest_kept: DFF<Bits<3>>,
    oldest_kept: DFF<Bits<3>>,
    failed_kept: DFF<Bit>,
    ends: Signal<Local, Bit>,
    eight: Constant<Bits<4>>,
}

impl Default for Flight {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            begin_packet: Default::default(),
            written: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            settled: Default::default(),
            failed: Default::default(),
            empty: Default::default(),
            full: Default::default(),
            newest: Default::default(),
            oldest: Default::default(),
            count: Default::default(),
            newest_kept: Default::default(),
            oldest_kept: Default::default(),
            failed_kept: Default::default(),
            ends: Default::default(),
            eight: Constant::new(8u64.to_bits()),
        }
    }
}

impl Logic for Flight {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, newest_kept, oldest_kept, failed_kept);
        self.done_ready.next = !self.failed_kept.q.val();
        self.ends.next = self.settled.val();
        if self.done_valid.val() & !self.failed_kept.q.val() {
            self.failed_kept.d.next = self.done_error.val();
            self.ends.next = !self.done_error.val();
        }
        if self.settled.val() {
            self.failed_kept.d.next = false;
        }
        if self.begin_packet.val() & !self.ends.val() {
            self.count.d.next = self.count.q.val() + 1;
        }
        if self.ends.val() & !self.begin_packet.val() {
            self.count.d.next = self.count.q.val() - 1;
        }
        if self.ends.val() {
            self.oldest_kept.d.next = self.oldest_kept.q.val() + 1;
        }
        if self.written.val() {
            self.newest_kept.d.next = self.newest_kept.q.val() + 1;
        }
        self.failed.next = self.failed_kept.q.val();
        self.empty.next = !self.count.q.val().any();
        self.full.next = self.count.q.val() == self.eight.val();
        self.newest.next = self.newest_kept.q.val();
        self.oldest.next = self.oldest_kept.q.val();
        if self.reset.val() {
            self.count.d.next = 0.into();
            self.newest_kept.d.next = 0.into();
            self.oldest_kept.d.next = 0.into();
            self.failed_kept.d.next = false;
        }
    }

    crate::block_name!("Response packets whose payload is being read.");
}
