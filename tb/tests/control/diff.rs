// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::Control`: Rust simulation against Verilated text, with everything built in and as `cu` has it.

use verbena_hdl::responder::{Control, Features};
use verbena_spec::config::Config;
use verbena_tb::{diff::Diff, drive};

macro_rules! control {
    ($name:literal, $features:expr) => {{
        let warnings = Diff::new($name).cycles(3000).run(
            Control::<2, 6, 5, 6>::new($features),
            drive!(
                clock,
                reset,
                head,
                head_valid,
                table_valid,
                table_address,
                table_data,
                doorbell_valid,
                doorbell_index,
                doorbell_producer,
                command_valid,
                command_operation,
                command_index,
                command_state,
                qp_error_valid,
                qp_error_index,
                requester_error_valid,
                requester_error_index,
                state_ready,
                response_done,
                response_code,
                response_placed,
                read_error_valid,
                read_error_index,
                retire_idle,
                request_done,
                request_verdict,
                request_psns,
                probe,
                hold_done,
                hold_nak,
                hold_code,
                key_done,
                key_ok,
                key_paged,
                key_address,
                fetch_done,
                fetch_error,
                fetch_word,
                job_ready,
                entry_ready,
                event_ready
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn control() {
    control!("control_all", Features::all());
    control!("control_cu", Features::of(&Config::preset("cu").unwrap()));
}
