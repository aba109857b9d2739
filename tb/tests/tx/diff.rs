// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transmit station: Rust simulation against Verilated text, both presets.

use verbena_hdl::tx::{TxCu, TxTengig};
use verbena_tb::{diff::Diff, drive};

macro_rules! tx {
    ($name:ident, $block:ty) => {
        #[test]
        fn $name() {
            let warnings = Diff::new(stringify!($name)).cycles(1500).run(
                <$block>::default(),
                drive!(
                    clock,
                    reset,
                    ack,
                    ack_valid,
                    packet_word,
                    packet_last,
                    packet_abandon,
                    packet_valid,
                    payload_data,
                    payload_last,
                    payload_error,
                    payload_valid,
                    table_valid,
                    table_address,
                    table_data,
                    local_mac,
                    gid,
                    s_host_data,
                    s_host_keep,
                    s_host_last,
                    s_host_valid,
                    m_ready,
                    event_ready
                ),
            );
            assert_eq!(warnings, "");
        }
    };
}

tx!(tx_diff_64, TxTengig);
tx!(tx_diff_32, TxCu);
