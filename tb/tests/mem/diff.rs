// SPDX-License-Identifier: MIT OR Apache-2.0
//! The blocks of `mem`: Rust simulation against Verilated text, both presets.

use verbena_hdl::mem::{DescriptorReader, DmaWriter, JobQueue, Keys, WriteArbiter};
use verbena_spec::config::Config;
use verbena_tb::{diff::Diff, drive};

fn preset(name: &str) -> Config {
    Config::preset(name).unwrap()
}

macro_rules! keys {
    ($name:literal, $block:expr) => {{
        let warnings = Diff::new($name).cycles(2500).run(
            $block,
            drive!(
                clock,
                reset,
                table_valid,
                table_address,
                table_data,
                key_start,
                key_op,
                key,
                key_va,
                key_length,
                key_pd,
                key_access
            ),
        );
        assert_eq!(warnings, "");
    }};
}

macro_rules! writer {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(2500).run(
            <$block>::new(&preset($preset)),
            drive!(
                clock,
                reset,
                job,
                job_valid,
                read_ready,
                beat_data,
                beat_valid,
                mtt_valid,
                lookup_read,
                lookup_entry,
                atomic_lookup_valid,
                atomic_lookup_entry,
                mtt_address,
                mtt_data,
                done_ready,
                aw_ready,
                w_ready,
                b_valid,
                b_error
            ),
        );
        assert_eq!(warnings, "");
    }};
}

macro_rules! arbiter {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(2500).run(
            <$block>::new(&preset($preset)),
            drive!(
                clock,
                reset,
                payload_aw_address,
                payload_aw_length,
                payload_aw_valid,
                payload_w_data,
                payload_w_strobe,
                payload_w_last,
                payload_w_valid,
                completion_aw_address,
                completion_aw_length,
                completion_aw_valid,
                completion_w_data,
                completion_w_strobe,
                completion_w_last,
                completion_w_valid,
                atomic_aw_address,
                atomic_aw_length,
                atomic_aw_valid,
                atomic_w_data,
                atomic_w_strobe,
                atomic_w_last,
                atomic_w_valid,
                atomic_lock,
                m_aw_ready,
                m_w_ready,
                m_b_id,
                m_b_response,
                m_b_valid
            ),
        );
        assert_eq!(warnings, "");
    }};
}

macro_rules! reader {
    ($name:literal, $block:ty, $preset:literal) => {{
        let warnings = Diff::new($name).cycles(2500).run(
            <$block>::new(&preset($preset)),
            drive!(
                clock,
                reset,
                fetch_start,
                fetch_next,
                fetch_address,
                m_ar_ready,
                r_data,
                r_response,
                r_last,
                r_valid
            ),
        );
        assert_eq!(warnings, "");
    }};
}

#[test]
fn keys() {
    keys!("keys_tengig", Keys::<8, 11, 12>::new(&preset("tengig")));
    keys!("keys_cu", Keys::<2, 5, 1>::new(&preset("cu")));
}

#[test]
fn job_queue() {
    for (name, direct) in [("job_queue", false), ("job_queue_direct", true)] {
        let warnings = Diff::new(name)
            .cycles(3000)
            .run(JobQueue::new(direct), drive!(clock, reset, s, s_valid, m_ready));
        assert_eq!(warnings, "");
    }
}

#[test]
fn dma_writer() {
    writer!("dma_writer_64", DmaWriter::<64, 8, 12, 12, 8>, "tengig");
    writer!("dma_writer_32", DmaWriter::<32, 4, 9, 1, 1>, "cu");
}

#[test]
fn write_arbiter() {
    arbiter!("write_arbiter_64", WriteArbiter::<64, 8>, "tengig");
    arbiter!("write_arbiter_32", WriteArbiter::<32, 4>, "cu");
}

#[test]
fn descriptor_reader() {
    reader!("descriptor_reader_64", DescriptorReader::<64>, "tengig");
    reader!("descriptor_reader_32", DescriptorReader::<32>, "cu");
}
