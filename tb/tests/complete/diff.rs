// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Complete` and its timers: Rust simulation against Verilated text, both presets.

use verbena_hdl::requester::{Complete, CompleteConfig};
use verbena_hdl::rx::PacketHead;
use verbena_tb::{diff::Diff, drive};

macro_rules! complete {
    ($name:literal, $block:ty, $small:literal, $seed:literal) => {{
        let config = CompleteConfig {
            atomic: !$small,
            far: !$small,
            direct: $small,
        };
        let warnings = Diff::new($name).cycles(10000).seed($seed).run(<$block>::new(config), drive!(
            clock,
            reset,
            table_valid,
            table_address,
            table_data,
            head: |w| PacketHead {
                opcode: w.take(),
                solicited: w.take(),
                ack_request: w.take(),
                pad_count: w.take(),
                pkey: w.take(),
                qpn: w.take(),
                psn: w.take(),
                xth0: w.take(),
                xth1: w.take(),
                xth2: w.take(),
                xth3: w.take(),
                xth4: w.take(),
                xth5: w.take(),
                xth6: w.take(),
                source_ip0: w.take(),
                source_ip1: w.take(),
                source_ip2: w.take(),
                source_ip3: w.take(),
                ipv6: w.take(),
                gid_index: w.take(),
                payload_length: w.take(),
                payload_beat: w.take(),
                payload_offset: w.take(),
                frame_beat: w.take(),
                end_beat: w.take(),
                marked: w.take(),
            },
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
        ));
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
