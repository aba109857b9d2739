// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Send`: Rust simulation against Verilated text, both presets' forms.

use verbena_hdl::requester::Send;
use verbena_tb::{diff::Diff, drive};

macro_rules! send {
    ($name:literal, $block:ty) => {{
        let warnings = Diff::new($name).cycles(3000).run(
            <$block>::default(),
            drive!(
                clock,
                reset,
                table_valid,
                table_address,
                table_data,
                doorbell_valid,
                doorbell_index,
                doorbell_producer,
                state_valid,
                state_index,
                state,
                key_done,
                key_ok,
                key_paged,
                key_address,
                fetch_ready,
                r_data,
                r_error,
                r_last,
                r_valid,
                job_ready,
                packet_ready,
                done_valid,
                done_error,
                placed,
                landed,
                failing,
                rewind_valid,
                rewind_index,
                rewind_psn,
                rewind_wqe,
                rewind_offset,
                rewind_hold,
                rewind_alone,
                wake_valid,
                wake_index,
                limited,
                rest_room,
                rested_valid,
                rested_index,
                arm_ready,
                fail_ready,
                flush_ready,
                sent_ready,
                look_read,
                look_index,
                look_item,
                ack_data,
                ack_walk,
                ack_walk_index,
                event_ready,
                count_ready
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn tengig() {
    send!("send_tengig", Send<64, 2, 4, 5, 6, 7, 9, 8, 22, 1, 1>);
}

#[test]
fn cu() {
    send!("send_cu", Send<32, 1, 2, 3, 4, 5, 7, 7, 20, 0, 0>);
}
