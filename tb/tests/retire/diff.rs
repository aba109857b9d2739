// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retire: Rust simulation against Verilated text, its three forms.

use verbena_hdl::responder::Retire;
use verbena_spec::config::Config;
use verbena_tb::{diff::Diff, drive};

macro_rules! retire {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(2000).run(
            <$block>::new(&Config::preset($preset).unwrap()),
            drive!(
                clock,
                reset,
                entry,
                entry_valid,
                done_valid,
                done_error,
                ack_ready,
                serve_ready,
                completion_ready,
                event_ready,
                qp_error_ready,
                count_ready
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn fifo() {
    retire!("retire_fifo", Retire::<1, 0, 4, 5, 6>, "tengig");
}

#[test]
fn register() {
    retire!("retire_register", Retire::<0, 1, 1, 2, 3>, "tengig");
}

#[test]
fn none() {
    retire!("retire_none", Retire::<0, 0, 1, 2, 3>, "cu");
}
