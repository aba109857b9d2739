// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC: both directions, link faults and pause.
//!
//! ```text
//! s ─► tx_framer ─┬─► tx_fill ─► xgmii_tx           xgmii_rx ─┬─► rx_align ─► rx_frame ─► m
//!        ▲  ▲     └─► fcs_tail ─┘                             └─► link_fault ─┐     └─► pause
//!        │  └──────────────── pause_timer ◄─────────────────────────────────── │ ─────────┘
//!        └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! 64 bits at 156.25 MHz is 10 Gb/s. `s` to `/S/` on `xgmii_txd` 9 cycles; `/S/` on `xgmii_rxd` to the first beat of `m` 13 cycles.

use super::{FcsTail, LinkFault, PauseTimer, RxAlign, RxFrame, TxFill, TxFramer};
use rust_hdl::prelude::*;

/// `MAX`: longest frame that is received, bytes without FCS.
#[derive(LogicBlock, Default)]
pub struct Mac<const MAX: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// XGMII, eight lanes.
    pub xgmii_txd: Signal<Out, Bits<64>>,
    pub xgmii_txc: Signal<Out, Bits<8>>,
    pub xgmii_rxd: Signal<In, Bits<64>>,
    pub xgmii_rxc: Signal<In, Bits<8>>,
    /// Frames to send, without FCS, padded to 60 bytes. A frame once begun doesn't pause.
    pub s_data: Signal<In, Bits<64>>,
    pub s_keep: Signal<In, Bits<8>>,
    pub s_valid: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub s_user: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    /// Received frames, without FCS. Nothing holds them up. `m_user` on the last beat: bad.
    pub m_data: Signal<Out, Bits<64>>,
    pub m_keep: Signal<Out, Bits<8>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    pub m_user: Signal<Out, Bit>,
    /// Pause frames are obeyed.
    pub pause_enable: Signal<In, Bit>,
    pub paused: Signal<Out, Bit>,
    pub local_fault: Signal<Out, Bit>,
    pub remote_fault: Signal<Out, Bit>,
    /// Events, one cycle each.
    pub tx_underrun: Signal<Out, Bit>,
    pub tx_muted: Signal<Out, Bit>,
    pub rx_good: Signal<Out, Bit>,
    pub rx_bad_code: Signal<Out, Bit>,
    pub rx_too_long: Signal<Out, Bit>,
    pub rx_too_short: Signal<Out, Bit>,
    pub rx_bad_fcs: Signal<Out, Bit>,
    pub rx_bad_preamble: Signal<Out, Bit>,
    pub rx_pause: Signal<Out, Bit>,

    framer: TxFramer,
    fcs: FcsTail,
    fill: TxFill,
    align: RxAlign,
    frame: RxFrame<MAX>,
    fault: LinkFault,
    timer: PauseTimer,
}

impl<const MAX: usize> Logic for Mac<MAX> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, framer, fcs, fill, align, frame, fault, timer);
        self.framer.reset.next = self.reset.val();
        self.fcs.reset.next = self.reset.val();
        self.fill.reset.next = self.reset.val();
        self.align.reset.next = self.reset.val();
        self.frame.reset.next = self.reset.val();
        self.fault.reset.next = self.reset.val();
        self.timer.reset.next = self.reset.val();

        self.framer.s_data.next = self.s_data.val();
        self.framer.s_keep.next = self.s_keep.val();
        self.framer.s_valid.next = self.s_valid.val();
        self.framer.s_last.next = self.s_last.val();
        self.framer.s_user.next = self.s_user.val();
        self.s_ready.next = self.framer.s_ready.val();
        self.framer.stop.next = self.timer.stop.val();
        self.framer.local_fault.next = self.fault.local_fault.val();
        self.framer.remote_fault.next = self.fault.remote_fault.val();
        self.fcs.data.next = self.framer.m_data.val();
        self.fcs.keep.next = self.framer.m_keep.val();
        self.fcs.valid.next = self.framer.m_valid.val();
        self.fcs.first.next = self.framer.m_first.val();
        self.fcs.last.next = self.framer.m_last.val();
        self.fcs.spoil.next = self.framer.m_spoil.val();
        self.fill.s_data.next = self.framer.m_data.val();
        self.fill.s_control.next = self.framer.m_control.val();
        self.fill.s_idle.next = self.framer.m_idle.val();
        self.fill.s_shift.next = self.framer.m_shift.val();
        self.fill.s_last.next = self.framer.m_last.val();
        self.fill.s_keep.next = self.framer.m_keep.val();
        self.fill.fcs.next = self.fcs.fcs.val();
        self.xgmii_txd.next = self.fill.xgmii_txd.val();
        self.xgmii_txc.next = self.fill.xgmii_txc.val();

        self.align.xgmii_rxd.next = self.xgmii_rxd.val();
        self.align.xgmii_rxc.next = self.xgmii_rxc.val();
        self.fault.xgmii_rxd.next = self.xgmii_rxd.val();
        self.fault.xgmii_rxc.next = self.xgmii_rxc.val();
        self.frame.s_data.next = self.align.m_data.val();
        self.frame.s_keep.next = self.align.m_keep.val();
        self.frame.s_code.next = self.align.m_code.val();
        self.frame.s_end.next = self.align.m_end.val();
        self.frame.s_start.next = self.align.m_start.val();
        self.frame.s_preamble.next = self.align.m_preamble.val();
        self.m_data.next = self.frame.m_data.val();
        self.m_keep.next = self.frame.m_keep.val();
        self.m_valid.next = self.frame.m_valid.val();
        self.m_last.next = self.frame.m_last.val();
        self.m_user.next = self.frame.m_user.val();
        self.timer.load.next = self.frame.pause.val();
        self.timer.quanta.next = self.frame.pause_quanta.val();
        self.timer.enable.next = self.pause_enable.val();

        self.paused.next = self.timer.stop.val();
        self.local_fault.next = self.fault.local_fault.val();
        self.remote_fault.next = self.fault.remote_fault.val();
        self.tx_underrun.next = self.framer.underrun.val();
        self.tx_muted.next = self.framer.muted.val();
        self.rx_good.next = self.frame.good.val();
        self.rx_bad_code.next = self.frame.bad_code.val();
        self.rx_too_long.next = self.frame.bad_long.val();
        self.rx_too_short.next = self.frame.bad_short.val();
        self.rx_bad_fcs.next = self.frame.bad_fcs.val();
        self.rx_bad_preamble.next = self.frame.bad_preamble.val();
        self.rx_pause.next = self.frame.pause.val();
    }

    crate::block_name!();
}
