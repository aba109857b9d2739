// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every capture: right ICRCs; bytes rebuilt from fields are the same; replays on the golden model without a difference.

use std::path::{Path, PathBuf};
use verbena_model::capture;
use verbena_model::golden::Features;
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_model::replay::client;
use verbena_model::replay::golden::GoldenResponder;
use verbena_model::replay::golden_client::GoldenClient;
use verbena_model::replay::infer::destination;
use verbena_model::replay::overrides::Overrides;
use verbena_model::replay::play::replay;
use verbena_model::replay::report::{table, Report};

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

fn play(us: &str, features: Features) -> Vec<Report> {
    let us = us.parse().unwrap();
    let files = captures().into_iter().filter(|f| !f.to_string_lossy().ends_with(".rx.pcap"));
    let mut reports = vec![];
    for file in files {
        match replay(&file, us, &Overrides::default(), &mut GoldenResponder::with_features(features)) {
            Ok(report) => reports.push(report),
            // UC and UD clients of rxeprobe and perftest get nothing.
            Err(error) => assert!(error.to_string().starts_with("no RoCE frame to"), "{}: {error}", file.display()),
        }
    }
    reports
}

#[test]
fn captures_replay_on_the_golden_model() {
    let reports = play("10.0.0.1", Features::ALL);
    println!("{}", table(&reports));
    for report in &reports {
        let departs = report.departure().is_some();
        assert_eq!(report.holds(), !departs, "{}: {:?}", report.capture, report.differences());
    }
    let played = reports.iter().filter(|r| r.waiting == 0).count();
    let payloads: usize = reports.iter().map(|r| r.payloads).sum();
    assert!(played >= 55 && payloads >= 100, "{played} played, {payloads} payloads");
}

/// The client's place: it answers where the server sends as well, and elsewhere only gets ACKs.
#[test]
fn captures_replay_in_the_clients_place() {
    let reports = play("10.0.0.2", Features::ALL);
    println!("{}", table(&reports));
    for report in &reports {
        assert!(report.holds(), "{}: {:?}", report.capture, report.differences());
    }
    // R39: whatever the server answered is a ghost here, for want of a requester.
    let write_bw = reports.iter().find(|r| r.capture == "perf-write_bw-mtu1024").unwrap();
    assert_eq!((write_bw.ghost_acks, write_bw.own_requests), (20, 80));
    assert!(reports.len() >= 50, "{}", reports.len());
}

/// The client's place as requester: its work list, its peer's answers. Where both sides send, the server's place too.
#[test]
fn captures_replay_as_requester() {
    let (mut played, mut payloads, mut answered) = (0, 0, 0);
    for us in ["10.0.0.2", "10.0.0.1"] {
        let us = us.parse().unwrap();
        let mut reports = vec![];
        for file in captures().into_iter().filter(|f| !f.to_string_lossy().ends_with(".rx.pcap")) {
            match client::replay(&file, us, &mut GoldenClient::new()) {
                Ok(report) => reports.push(report),
                Err(error) => assert!(
                    error.to_string().starts_with("no request from 10.0.0.1"),
                    "{}: {error}",
                    file.display()
                ),
            }
        }
        println!("{}", table(&reports));
        for report in &reports {
            assert!(report.holds(), "{}: {:?}", report.capture, report.differences());
        }
        played += reports.len();
        payloads += reports.iter().map(|r| r.payloads).sum::<usize>();
        answered += reports.iter().map(|r| r.delivered).sum::<usize>();
    }
    assert!(
        played >= 100 && payloads >= 100 && answered > 1000,
        "{played} {payloads} {answered}"
    );
}
