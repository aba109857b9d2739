// SPDX-License-Identifier: MIT OR Apache-2.0
//! The READ responder and the ATOMIC unit: Rust simulation against Verilated text, both presets.

use verbena_hdl::mem::AtomicUnit;
use verbena_hdl::responder::{ReadResponderCu, ReadResponderTengig};
use verbena_tb::{diff::Diff, drive};

macro_rules! responder {
    ($name:literal, $block:ty) => {{
        let warnings = Diff::new($name).cycles(4000).run(
            <$block>::default(),
            drive!(
                clock,
                reset,
                table_valid,
                table_address,
                table_data,
                head,
                request_valid,
                request_index,
                request_duplicate,
                request_msn,
                serve_valid,
                serve_index,
                s_ack,
                s_ack_valid,
                m_ack_ready,
                state_valid,
                state_index,
                state,
                key_done,
                key_ok,
                key_paged,
                key_address,
                job_ready,
                room,
                packet_ready,
                done_valid,
                done_error,
                atomic_locked,
                atomic_lookup_done,
                atomic_lookup_page,
                atomic_ar_ready,
                atomic_r_data,
                atomic_r_error,
                atomic_r_valid,
                atomic_aw_ready,
                atomic_w_ready,
                atomic_b_valid,
                atomic_b_error,
                qp_error_ready,
                event_ready,
                count_ready
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn read_responder_cu() {
    responder!("read_responder_cu", ReadResponderCu);
}

#[test]
fn read_responder_tengig() {
    responder!("read_responder_tengig", ReadResponderTengig);
}

#[test]
fn atomic_unit() {
    let warnings = Diff::new("atomic_unit_64").cycles(4000).run(
        AtomicUnit::default(),
        drive!(
            clock,
            reset,
            load,
            word,
            start,
            compare_swap,
            address,
            paged,
            locked,
            lookup_done,
            lookup_page,
            ar_ready,
            r_data,
            r_error,
            r_valid,
            aw_ready,
            w_ready,
            b_valid,
            b_error
        ),
    );
    assert_eq!(warnings, "");
}
