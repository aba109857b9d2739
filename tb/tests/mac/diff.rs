// SPDX-License-Identifier: MIT OR Apache-2.0
//! The MAC's blocks: Rust simulation against Verilated text.

use verbena_hdl::mac::{FcsLoop, FcsTail, LinkFault, Mac, PauseTimer, RxAlign, RxFrame, TxFill, TxFramer};
use verbena_tb::{diff::Diff, drive};

#[test]
fn fcs() {
    let warnings = Diff::new("fcs_loop")
        .cycles(2000)
        .run(FcsLoop::default(), drive!(clock, reset, data, valid, first, last));
    assert_eq!(warnings, "");
    let warnings = Diff::new("fcs_tail")
        .cycles(2000)
        .run(FcsTail::default(), drive!(clock, reset, data, keep, valid, first, last, spoil));
    assert_eq!(warnings, "");
}

#[test]
fn transmit() {
    let warnings = Diff::new("tx_framer").cycles(3000).run(
        TxFramer::default(),
        drive!(
            clock,
            reset,
            s_data,
            s_keep,
            s_valid,
            s_last,
            s_user,
            stop,
            local_fault,
            remote_fault
        ),
    );
    assert_eq!(warnings, "");
    let warnings = Diff::new("tx_fill").cycles(2000).run(
        TxFill::default(),
        drive!(clock, reset, s_data, s_control, s_idle, s_shift, s_last, s_keep, fcs),
    );
    assert_eq!(warnings, "");
}

#[test]
fn receive() {
    let warnings = Diff::new("rx_align")
        .cycles(2000)
        .run(RxAlign::default(), drive!(clock, reset, xgmii_rxd, xgmii_rxc));
    assert_eq!(warnings, "");
    let warnings = Diff::new("rx_frame").cycles(3000).run(
        RxFrame::<80>::default(),
        drive!(clock, reset, s_data, s_keep, s_code, s_end, s_start, s_preamble),
    );
    assert_eq!(warnings, "");
}

#[test]
fn link() {
    let warnings = Diff::new("link_fault")
        .cycles(3000)
        .run(LinkFault::default(), drive!(clock, reset, xgmii_rxd, xgmii_rxc));
    assert_eq!(warnings, "");
    let warnings = Diff::new("pause_timer")
        .cycles(3000)
        .run(PauseTimer::default(), drive!(clock, reset, load, quanta, enable));
    assert_eq!(warnings, "");
}

#[test]
fn mac() {
    let warnings = Diff::new("mac").cycles(1000).run(
        Mac::<4200>::default(),
        drive!(
            clock,
            reset,
            xgmii_rxd,
            xgmii_rxc,
            s_data,
            s_keep,
            s_valid,
            s_last,
            s_user,
            pause_enable
        ),
    );
    assert_eq!(warnings, "");
}
