// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine, whole: real captures, random nonsense, line rate, in both presets.

use crate::common::cores::on_all_cores;
use std::path::{Path, PathBuf};
use verbena_model::replay::client::{self, sides};
use verbena_model::replay::overrides::Overrides;
use verbena_model::replay::play::replay;
use verbena_model::replay::report::Side;
use verbena_sim::client::EngineClient;
use verbena_sim::fuzz::{run, FuzzOptions};
use verbena_sim::hca::mac::Pace;
use verbena_sim::hca::{Hca, HcaOptions};
use verbena_sim::responder::EngineResponder;
use verbena_sim::session::Session;

fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tb/captures");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|f| f.to_string_lossy().ends_with(".pcap") && !f.to_string_lossy().ends_with(".rx.pcap"))
        .collect();
    files.sort();
    assert!(files.len() >= 50, "{}", files.len());
    files
}

#[test]
fn soft_roce_captures_replay_on_the_engine() {
    let us = "10.0.0.1".parse().unwrap();
    let different = on_all_cores(&captures(), |file| {
        let mut responder = EngineResponder::new(Hca::new(&HcaOptions::new("tengig")).unwrap());
        let report = replay(file, us, &Overrides::default(), &mut responder).unwrap_or_else(|e| panic!("{}: {e:#}", file.display()));
        let differs = report.waiting == 0 && !report.holds() && report.departure().is_none();
        differs.then(|| format!("{}: {:?}", report.capture, report.differences()))
    });
    let different: Vec<String> = different.into_iter().flatten().collect();
    assert!(different.is_empty(), "{different:#?}");
}

/// The requester's side: the engine gets the captured side's work list, and must send equivalent packets and complete equally.
#[test]
fn soft_roce_captures_replay_as_requester_on_the_engine() {
    let mut asked = vec![];
    for us in ["10.0.0.2", "10.0.0.1"] {
        let us = us.parse().unwrap();
        let files = captures().into_iter();
        asked.extend(
            files
                .filter(|file| sides(file, us).unwrap().contains(&Side::Requester))
                .map(|file| (file, us)),
        );
    }
    let reports = on_all_cores(&asked, |(file, us)| {
        let mut client = EngineClient::new(Hca::new(&HcaOptions::new("tengig")).unwrap());
        let report = client::replay(file, *us, &mut client).unwrap_or_else(|e| panic!("{}: {e:#}", file.display()));
        let differs = report.waiting == 0 && !report.holds();
        let difference = differs.then(|| format!("{} as {us}: {:?}", report.capture, report.differences()));
        (report.waiting > 0, difference)
    });
    let waiting = reports.iter().filter(|(waits, _)| *waits).count();
    let played = reports.len() - waiting;
    let different: Vec<String> = reports.into_iter().filter_map(|(_, difference)| difference).collect();
    println!("{played} played, {waiting} wait for READ and ATOMIC");
    assert!(different.is_empty(), "{different:#?}");
    assert!(played >= 60 && played + waiting >= 100, "{played} played, {waiting} wait");
}

#[test]
fn r12_r19_r61_r68_any_bytes_leave_the_engine_alive_and_equal_to_the_model() {
    // The small engine takes some hundred cycles a packet: in a flood most find no room, so it is compared frame by frame as well.
    for (preset, seed, one_by_one) in [("tengig", 1, false), ("tengig", 2, false), ("cu", 3, false), ("cu", 4, true)] {
        let options = FuzzOptions {
            preset: preset.into(),
            seed,
            frames: 1500,
            latency: 10,
            one_by_one,
            reorder: false,
        };
        let summary = run(&options, |_| ()).unwrap_or_else(|e| panic!("{preset}, seed {seed}: {e:#}"));
        assert!(
            summary.compared > 0 || (preset == "cu" && !one_by_one),
            "{preset}, seed {seed}: every round dropped for want of buffer"
        );
    }
}

/// Answers byte for byte, counters, completions, memory and PSNs are the golden model's.
fn holds_early_requests_as_the_model_does(preset: &str, rounds: &[(u64, bool)]) {
    for &(seed, one_by_one) in rounds {
        let options = FuzzOptions {
            preset: preset.into(),
            seed,
            frames: 1500,
            latency: 10,
            one_by_one,
            reorder: true,
        };
        let summary = run(&options, |_| ()).unwrap_or_else(|e| panic!("seed {seed}: {e:#}"));
        // A flood of frames that find no buffer in the small engine isn't compared: it must live and count each frame.
        assert!(summary.compared > 0 || (preset == "cu" && !one_by_one), "seed {seed}");
        let held = summary.counters.get("reorder_held").copied().unwrap_or(0);
        assert!(held > 20, "seed {seed}: {:?}", summary.counters);
    }
}

#[test]
fn r23_r24_r42_an_engine_that_holds_early_requests_is_equal_to_the_model() {
    holds_early_requests_as_the_model_does("tengig", &[(5, true), (6, false), (7, false), (8, false)]);
}

#[test]
fn r23_r24_r42_a_small_engine_that_holds_early_requests_is_equal_to_the_model() {
    holds_early_requests_as_the_model_does("cu", &[(9, true), (10, true), (11, false)]);
}

#[test]
fn writes_land_under_any_timing() {
    for (preset, pmtu) in [("tengig", 4096), ("tengig", 256), ("cu", 512)] {
        for (pace, stall, seed) in [
            (Pace::Wire, 0.0, 1),
            (Pace::Idle(0.3), 0.0, 2),
            (Pace::Wire, 0.2, 3),
            (Pace::Idle(0.2), 0.4, 4),
        ] {
            let mut options = HcaOptions {
                seed,
                pace,
                stall,
                ..HcaOptions::new(preset)
            };
            options.memory.latency = 20;
            options.memory.stall = stall;
            options.memory.jitter = (100.0 * stall) as u64;
            let mut session = Session::open(&options).unwrap();
            let (region, mr) = session.region(20_000).unwrap();
            let mut connection = session.connect(pmtu, 1).unwrap();
            for (i, length) in [0, 1, 3, 4, 63, 64, 65, 255, 256, 257, 1024, 4095, 4096, 4097, 9001]
                .into_iter()
                .enumerate()
            {
                let data: Vec<u8> = (0..length).map(|b| (b * 7 + i) as u8).collect();
                let va = region.va + 13 * i as u64;
                for frame in connection.flow.write(va, mr.key, &data) {
                    // One at a time: the memory may be slower than the wire.
                    session.hca().rx.send(&frame);
                    assert!(session.hca().settle(100, 100_000));
                }
                assert_eq!(
                    region.read(session.hca(), va, length).unwrap(),
                    data,
                    "{preset} {pace:?} stall {stall}: {length} bytes"
                );
            }
            let query = session.device.query_qp(connection.qp).unwrap();
            assert_eq!((query.msn, query.epsn), (15, connection.flow.psn), "R37");
            session.hca().violations.check().unwrap();
        }
    }
}
