// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Complete` and its timers: Rust simulation against Verilated text, both presets.

use verbena_hdl::requester::{Complete, CompleteConfig};
use verbena_tb::{diff::Diff, drive};

macro_rules! complete {
    ($name:literal, $block:ty, $small:literal, $seed:literal) => {{
        let config = CompleteConfig {
            atomic: !$small,
            far: !$small,
            direct: $small,
        };
        let warnings = Diff::new($name).cycles(5000).seed($seed).run(
            <$block>::new(config),
            drive!(
                clock,
                reset,
                table_valid,
                table_address,
                table_data,
                head,
                response_valid,
                job_ready,
                entry_ready,
                key_done,
                key_ok,
                key_paged,
                key_address,
                fetch_ready,
                r_data,
                r_error,
                r_last,
                r_valid,
                rewind_ready,
                wake_ready,
                arm_valid,
                arm_index,
                fail_valid,
                fail_index,
                fail_wqe,
                fail_status,
                flush_valid,
                flush_index,
                flush_state,
                sent_valid,
                sent_index,
                sent_wqe,
                sent_status,
                look_data,
                ack_read,
                ack_index,
                ack_item,
                qp_error_ready,
                tick,
                count_ready,
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn complete_tengig() {
    complete!("complete_tengig", Complete<64, 2, 7, 8, 3, 4>, false, 1);
}

#[test]
fn complete_cu() {
    complete!("complete_cu", Complete<32, 2, 7, 8, 3, 4>, true, 2);
}
