// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small stream parts: Rust simulation against Verilated text.

use verbena_hdl::stream::{Fifo, LogicFifo, Skid};
use verbena_tb::{diff::Diff, drive};

#[test]
fn skid() {
    let warnings = Diff::new("skid_37")
        .cycles(2000)
        .run(Skid::<37>::default(), drive!(clock, reset, s_data, s_valid, m_ready));
    assert_eq!(warnings, "");
}

#[test]
fn fifo() {
    let block = Fifo::<4, 5, 70>::default();
    let warnings = Diff::new("fifo_16")
        .cycles(2000)
        .run(block, drive!(clock, reset, s_data, s_valid, m_ready));
    assert_eq!(warnings, "");
}

#[test]
fn logic_fifo() {
    let block = LogicFifo::<4, 5, 70>::default();
    let warnings = Diff::new("logic_fifo_16")
        .cycles(2000)
        .run(block, drive!(clock, reset, s_data, s_valid, m_ready));
    assert_eq!(warnings, "");
}
