// SPDX-License-Identifier: MIT OR Apache-2.0
//! Soft reset: no open AXI burst and no half frame is left behind.
//!
//! ```text
//! request ─► DRAIN: no new AW, AR; bursts, frame, access begun end ─► quiet ─► RESET: 8 cycles of core_reset ─► idle
//! ```
//!
//! A VALID once shown is not withdrawn, and an AW whose W beats went ahead is let out. A frame that the MAC delivers across the reset is
//! skipped to its end. The host's receive port isn't waited for: its reader starts anew.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// Watches the shell's handshakes; up to 31 bursts open each way, 3 in a small engine.
#[derive(LogicBlock)]
pub struct SoftReset {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Signal<In, Bit>,
    /// An AXI4-Lite access waits or is under way; and its answer is taken.
    pub lite_request: Signal<In, Bit>,
    pub lite_end: Signal<In, Bit>,
    pub aw_valid: Signal<In, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub w_valid: Signal<In, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub w_last: Signal<In, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_ready: Signal<In, Bit>,
    pub ar_valid: Signal<In, Bit>,
    pub ar_ready: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<In, Bit>,
    pub r_last: Signal<In, Bit>,
    pub tx_valid: Signal<In, Bit>,
    pub tx_ready: Signal<In, Bit>,
    pub tx_last: Signal<In, Bit>,
    pub rx_valid: Signal<In, Bit>,
    pub rx_last: Signal<In, Bit>,
    pub block_aw: Signal<Out, Bit>,
    pub block_w: Signal<Out, Bit>,
    pub block_ar: Signal<Out, Bit>,
    pub block_tx: Signal<Out, Bit>,
    pub block_lite: Signal<Out, Bit>,
    /// The frame coming in began before the reset.
    pub skip_rx: Signal<Out, Bit>,
    pub draining: Signal<Out, Bit>,
    pub core_reset: Signal<Out, Bit>,
    drain: DFF<Bit>,
    access: DFF<Bit>,
    count: DFF<Bits<4>>,
    writes: DFF<Bits<6>>,
    /// AWs less W bursts: W may run ahead of its AW, so it can be negative.
    owed: DFF<Bits<6>>,
    reads: DFF<Bits<6>>,
    aw_shown: DFF<Bit>,
    w_shown: DFF<Bit>,
    w_middle: DFF<Bit>,
    ar_shown: DFF<Bit>,
    tx_middle: DFF<Bit>,
    rx_middle: DFF<Bit>,
    skip: DFF<Bit>,
    /// The stations' copies of the reset are a cycle late.
    late: DFF<Bit>,
    aw_fire: Signal<Local, Bit>,
    w_fire: Signal<Local, Bit>,
    w_end: Signal<Local, Bit>,
    b_fire: Signal<Local, Bit>,
    ar_fire: Signal<Local, Bit>,
    r_end: Signal<Local, Bit>,
    ahead: Signal<Local, Bit>,
    quiet: Signal<Local, Bit>,
    resetting: Signal<Local, Bit>,
    hold_aw: Signal<Local, Bit>,
    hold_w: Signal<Local, Bit>,
    hold_ar: Signal<Local, Bit>,
    hold_tx: Signal<Local, Bit>,
    hold_lite: Signal<Local, Bit>,
    negative: Signal<Local, Bit>,
    reset_cycles: Constant<Bits<4>>,
    count_mask: Constant<Bits<6>>,
    sign_mask: Constant<Bits<6>>,
}

impl SoftReset {
    pub fn new(config: &Config) -> Self {
        let bits = if config.small() { 3 } else { 6 };
        Self {
            clock: Default::default(),
            reset: Default::default(),
            request: Default::default(),
            lite_request: Default::default(),
            lite_end: Default::default(),
            block_lite: Default::default(),
            access: Default::default(),
            hold_lite: Default::default(),
            aw_valid: Default::default(),
            aw_ready: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            w_last: Default::default(),
            b_valid: Default::default(),
            b_ready: Default::default(),
            ar_valid: Default::default(),
            ar_ready: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            r_last: Default::default(),
            tx_valid: Default::default(),
            tx_ready: Default::default(),
            tx_last: Default::default(),
            rx_valid: Default::default(),
            rx_last: Default::default(),
            block_aw: Default::default(),
            block_w: Default::default(),
            block_ar: Default::default(),
            block_tx: Default::default(),
            skip_rx: Default::default(),
            draining: Default::default(),
            core_reset: Default::default(),
            drain: Default::default(),
            count: Default::default(),
            writes: Default::default(),
            owed: Default::default(),
            reads: Default::default(),
            aw_shown: Default::default(),
            w_shown: Default::default(),
            w_middle: Default::default(),
            ar_shown: Default::default(),
            tx_middle: Default::default(),
            rx_middle: Default::default(),
            skip: Default::default(),
            late: Default::default(),
            aw_fire: Default::default(),
            w_fire: Default::default(),
            w_end: Default::default(),
            b_fire: Default::default(),
            ar_fire: Default::default(),
            r_end: Default::default(),
            ahead: Default::default(),
            quiet: Default::default(),
            resetting: Default::default(),
            hold_aw: Default::default(),
            hold_w: Default::default(),
            hold_ar: Default::default(),
            hold_tx: Default::default(),
            negative: Default::default(),
            reset_cycles: Constant::new(8u32.to_bits()),
            count_mask: Constant::new(((1u64 << bits) - 1).to_bits()),
            sign_mask: Constant::new((1u64 << (bits - 1)).to_bits()),
        }
    }
}

impl Logic for SoftReset {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, drain, access, count, writes, owed, reads, aw_shown, w_shown, w_middle, ar_shown, tx_middle, rx_middle, skip, late
        );

        self.resetting.next = self.count.q.val().any();
        self.core_reset.next = self.reset.val() | self.resetting.val();
        self.draining.next = self.drain.q.val();
        self.skip_rx.next = self.skip.q.val();

        // W beats that went ahead of their AW.
        self.negative.next = (self.owed.q.val() & self.sign_mask.val()).any();
        self.ahead.next = self.negative.val() | (!self.owed.q.val().any() & self.w_middle.q.val());
        self.hold_aw.next = self.drain.q.val() & !self.aw_shown.q.val() & !self.ahead.val();
        self.hold_w.next =
            self.drain.q.val() & !self.w_shown.q.val() & !self.w_middle.q.val() & (self.negative.val() | !self.owed.q.val().any());
        self.hold_ar.next = self.drain.q.val() & !self.ar_shown.q.val();
        self.hold_tx.next = self.drain.q.val() & !self.tx_middle.q.val();
        self.block_aw.next = self.hold_aw.val();
        self.block_w.next = self.hold_w.val();
        self.block_ar.next = self.hold_ar.val();
        self.block_tx.next = self.hold_tx.val();

        self.aw_fire.next = self.aw_valid.val() & self.aw_ready.val() & !self.hold_aw.val();
        self.w_fire.next = self.w_valid.val() & self.w_ready.val() & !self.hold_w.val();
        self.w_end.next = self.w_fire.val() & self.w_last.val();
        self.b_fire.next = self.b_valid.val() & self.b_ready.val();
        self.ar_fire.next = self.ar_valid.val() & self.ar_ready.val() & !self.hold_ar.val();
        self.r_end.next = self.r_valid.val() & self.r_ready.val() & self.r_last.val();

        self.aw_shown.d.next = self.aw_valid.val() & !self.aw_ready.val() & !self.hold_aw.val();
        self.w_shown.d.next = self.w_valid.val() & !self.w_ready.val() & !self.hold_w.val();
        self.ar_shown.d.next = self.ar_valid.val() & !self.ar_ready.val() & !self.hold_ar.val();
        if self.w_fire.val() {
            self.w_middle.d.next = !self.w_last.val();
        }
        if self.tx_valid.val() & !self.hold_tx.val() {
            // Shown is begun: VALID must hold.
            self.tx_middle.d.next = !(self.tx_ready.val() & self.tx_last.val());
        }
        if self.rx_valid.val() {
            self.rx_middle.d.next = !self.rx_last.val();
        }
        if self.aw_fire.val() & !self.b_fire.val() {
            self.writes.d.next = (self.writes.q.val() + 1) & self.count_mask.val();
        }
        if !self.aw_fire.val() & self.b_fire.val() {
            self.writes.d.next = (self.writes.q.val() - 1) & self.count_mask.val();
        }
        if self.aw_fire.val() & !self.w_end.val() {
            self.owed.d.next = (self.owed.q.val() + 1) & self.count_mask.val();
        }
        if !self.aw_fire.val() & self.w_end.val() {
            self.owed.d.next = (self.owed.q.val() - 1) & self.count_mask.val();
        }
        if self.ar_fire.val() & !self.r_end.val() {
            self.reads.d.next = (self.reads.q.val() + 1) & self.count_mask.val();
        }
        if !self.ar_fire.val() & self.r_end.val() {
            self.reads.d.next = (self.reads.q.val() - 1) & self.count_mask.val();
        }

        self.quiet.next = !self.writes.q.val().any()
            & !self.owed.q.val().any()
            & !self.reads.q.val().any()
            & !self.aw_shown.q.val()
            & !self.w_shown.q.val()
            & !self.w_middle.q.val()
            & !self.ar_shown.q.val()
            & !self.tx_middle.q.val();
        // The access under way is answered before the reset; the next one waits for it.
        self.hold_lite.next = self.drain.q.val() & self.quiet.val() & !self.access.q.val();
        self.block_lite.next = self.hold_lite.val();
        if self.lite_end.val() {
            self.access.d.next = false;
        } else {
            if self.lite_request.val() & !self.hold_lite.val() {
                self.access.d.next = true;
            }
        }
        if self.resetting.val() {
            self.count.d.next = self.count.q.val() - 1;
            // What the stations still show in the first cycle of the reset isn't theirs to show.
            if self.late.q.val() {
                self.drain.d.next = false;
            }
        } else {
            if self.drain.q.val() {
                if self.hold_lite.val() {
                    self.count.d.next = self.reset_cycles.val();
                }
            } else {
                self.drain.d.next = self.request.val();
            }
        }
        self.late.d.next = self.core_reset.val();
        if self.resetting.val() | self.late.q.val() {
            self.skip.d.next = (self.rx_middle.q.val() & !self.rx_valid.val()) | (self.rx_valid.val() & !self.rx_last.val());
        } else {
            if self.rx_valid.val() & self.rx_last.val() {
                self.skip.d.next = false;
            }
        }

        if self.reset.val() {
            self.drain.d.next = false;
            self.access.d.next = false;
            self.count.d.next = 0.into();
            self.writes.d.next = 0.into();
            self.owed.d.next = 0.into();
            self.reads.d.next = 0.into();
            self.aw_shown.d.next = false;
            self.w_shown.d.next = false;
            self.w_middle.d.next = false;
            self.ar_shown.d.next = false;
            self.tx_middle.d.next = false;
            self.rx_middle.d.next = false;
            self.skip.d.next = false;
        }
    }

    crate::block_name!();
}
