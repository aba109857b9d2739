// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every capture: right ICRCs; bytes rebuilt from fields are the same; replays on the golden model without a difference.

use std::path::{Path, PathBuf};
use verbena_model::capture;
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_model::replay::golden::GoldenResponder;
use verbena_model::replay::infer::destination;
use verbena_model::replay::play::{replay, Overrides};

/// Captures in which Soft-RoCE departs from IBTA: docs/replay.md.
const DEPARTURES: &[(&str, &str)] = &[(
    "uc-loss-middle",
    "after a broken UC message Soft-RoCE delivers nothing more (R57, R73)",
)];

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tb/captures");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "pcap"))
        .collect();
    files.sort();
    assert!(files.len() >= 60, "{}", files.len());
    files
}

#[test]
fn r1_to_r5_frames_of_soft_roce_are_rebuilt_byte_for_byte() {
    let mut count = 0;
    for file in captures() {
        let received = file.to_string_lossy().ends_with(".rx.pcap");
        for frame in capture::read(&file).unwrap() {
            let Some(ip) = destination(&frame.bytes) else { continue };
            let mac = frame.bytes[..6].try_into().unwrap();
            let local = Local {
                mac,
                gids: vec![Some(ip)],
                max_frame: 9000,
                icrc_off: false,
            };
            match verdict(&frame.bytes, false, &local) {
                Verdict::Roce { packet, .. } => {
                    assert_eq!(packet.to_frame(), frame.bytes, "{}", file.display());
                    count += 1;
                }
                Verdict::Drop(code) => assert!(
                    received && code == verbena_spec::counters::RX_BAD_ICRC,
                    "{}: {code}",
                    file.display()
                ),
                Verdict::Host(_) => {}
            }
        }
    }
    assert!(count > 2000, "{count}");
}

#[test]
fn captures_replay_on_the_golden_model() {
    let mut bad = vec![];
    let mut played = 0;
    for file in captures().iter().filter(|f| !f.to_string_lossy().ends_with(".rx.pcap")) {
        let report = replay(
            file,
            "10.0.0.1".parse().unwrap(),
            &Overrides::default(),
            &mut GoldenResponder::new(),
        )
        .unwrap();
        println!("{}", serde_json::to_string(&report).unwrap());
        played += usize::from(report.waiting == 0);
        let departure = DEPARTURES.iter().any(|d| d.0 == report.capture);
        assert!(
            !departure || report.tool_disagrees.is_some(),
            "{}: no departure any more",
            report.capture
        );
        if !report.holds() && !departure {
            bad.push(report.capture.clone());
        }
    }
    assert!(bad.is_empty(), "{bad:?}");
    assert!(played >= 55, "{played}");
}
