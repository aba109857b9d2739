// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of `host`: Rust simulation against Verilated text, both presets.

use verbena_hdl::host::{CompletionQueues, Counters, Registers};
use verbena_spec::config::Config;
use verbena_tb::{diff::Diff, drive};

fn preset(name: &str) -> Config {
    Config::preset(name).unwrap()
}

macro_rules! registers {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(3000).run(
            <$block>::new(&preset($preset)),
            drive!(
                clock,
                reset,
                s_aw_address,
                s_aw_valid,
                s_w_data,
                s_w_strobe,
                s_w_valid,
                s_b_ready,
                s_ar_address,
                s_ar_valid,
                s_r_ready,
                eq_restart_ready,
                eq_producer,
                tables_ready,
                draining,
                qp_ready,
                mr_ready,
                mtt_ready,
                cq_ready,
                sq_doorbell_ready,
                rq_doorbell_ready,
                cq_doorbell_ready,
                command_done,
                command_refused,
                result0,
                result1,
                result2,
                file_done,
                half_data,
                half_strobe
            ),
        );
        assert_eq!(warnings, "");
    }};
}

macro_rules! counters {
    ($name:literal, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(3000).run(
            Counters::new(&preset($preset)),
            drive!(
                clock,
                reset,
                rx_valid,
                rx_code,
                responder_valid,
                responder_code,
                tx_valid,
                tx_code,
                extra_valid,
                extra_code,
                access_valid,
                access_write,
                access_row,
                access_data
            ),
        );
        assert_eq!(warnings, "");
    }};
}

macro_rules! queues {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(3000).run(
            <$block>::new(&preset($preset)),
            drive!(
                clock,
                reset,
                completion,
                completion_valid,
                event_job,
                event_job_valid,
                table_valid,
                table_address,
                table_data,
                doorbell_valid,
                doorbell_index,
                doorbell_kind,
                doorbell_value,
                eq_base,
                eq_control,
                eq_consumer,
                eq_restart,
                aw_ready,
                w_ready,
                b_valid,
                b_error,
                event_ready
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn registers_tengig() {
    registers!("registers_tengig", Registers::<16>, "tengig");
}

#[test]
fn registers_cu() {
    registers!("registers_cu", Registers::<4>, "cu");
}

#[test]
fn counters() {
    counters!("counters_tengig", "tengig");
    counters!("counters_cu", "cu");
}

#[test]
fn queues() {
    queues!("queues_tengig", CompletionQueues::<64, 8, 8, 10, 32, 8>, "tengig");
    queues!("queues_cu", CompletionQueues::<32, 4, 2, 4, 16, 2>, "cu");
}
