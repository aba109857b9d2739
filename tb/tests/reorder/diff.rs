// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reorder station and its blocks: Rust simulation against Verilated text.

use verbena_hdl::reorder::{FreeList, HoleClock, ReorderTengig, Slots};
use verbena_tb::{diff::Diff, drive};

#[test]
fn reorder() {
    let warnings = Diff::new("reorder").cycles(6_000).run(
        ReorderTengig::default(),
        drive!(
            clock,
            reset,
            tick,
            s_head,
            s_head_valid,
            m_head_next,
            packet_busy,
            packet_psn,
            packet_moved,
            packet_jumped,
            hold_valid,
            hold_distance,
            hold_standing,
            nak_distance,
            nak_delay,
            state_valid,
            state_index,
            state,
            state_taken,
            committed_beat,
            s_release_valid,
            s_release_beat,
            event_ready
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn slots() {
    let warnings = Diff::new("slots").cycles(6000).run(
        Slots::<12>::default(),
        drive!(
            clock,
            reset,
            take,
            take_beat,
            done_valid,
            done_slot,
            s_release_valid,
            s_release_beat
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn free_list() {
    let warnings = Diff::new("free_list")
        .cycles(3000)
        .run(FreeList::<4, 5>::default(), drive!(clock, reset, take, give, given));
    assert_eq!(warnings, "");
}

#[test]
fn hole_clock() {
    let warnings = Diff::new("hole_clock")
        .cycles(6000)
        .run(HoleClock::default(), drive!(clock, reset, tick));
    assert_eq!(warnings, "");
}
