// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `hca-sim loss` runs, small: golden engines, Verilated ones, and what its gates say.

use indicatif::ProgressBar;
use verbena_sim::loss::{markdown, run, svg, Disturbance, LossOptions, Machines, Point};
use verbena_sim::world::Route;

fn options(route: Route) -> LossOptions {
    LossOptions {
        machines: Machines::Golden,
        preset: "tengig".into(),
        seed: 7,
        memory_latency: 100,
        routes: vec![route],
        messages: 128,
        scheme: None,
        wire: None,
        window: None,
        round_trip: verbena_sim::loss::ROUND_TRIP,
        timeline: None,
    }
}

fn find(points: &[Point], scheme: &str, wire: Disturbance) -> Point {
    let mut found = points.iter().filter(|p| p.scheme.name == scheme && p.wire == wire);
    found.next().unwrap_or_else(|| panic!("no {scheme}, {wire:?}")).clone()
}

#[test]
fn r42_selective_repeat_keeps_its_share_and_reordering_sends_nothing_again() {
    for route in [Route::Write, Route::Send, Route::Read] {
        let options = options(route);
        let runs = run(&options, &ProgressBar::hidden()).unwrap();
        assert!(runs.left_out.is_empty());
        for p in &runs.points {
            assert!(p.holds(), "{p:?}");
            assert!(p.data_right, "{p:?}");
        }
        let far = "selective repeat, nak_distance 32";
        for wire in [Disturbance::Reorder, Disturbance::Spray] {
            let p = find(&runs.points, far, wire);
            assert!(p.no_resend && p.resends() == 0 && p.held > 100, "{p:?}");
            // The same attributes as the loss runs.
            assert_eq!(p.scheme, find(&runs.points, far, Disturbance::Loss(0.01)).scheme);
            // Others take it for loss.
            assert!(find(&runs.points, "go-back-N, early packets dropped", wire).rewinds > 100);
        }
        let share = |scheme| find(&runs.points, scheme, Disturbance::Loss(0.05)).share;
        assert!(share("selective repeat, nak_distance 0") > share("go-back-N, early packets dropped") + 0.1);
        let page = markdown(&runs, &options, Some("loss.svg"));
        assert_eq!(
            page.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| verb")).count(),
            runs.points.len()
        );
        let plot = svg(&runs).unwrap();
        assert!(plot.starts_with("<svg") && plot.contains("gate for selective repeat"));
    }
}

/// What is lost is sent again alone, by the engine itself, and the queue goes back for a timer only.
#[test]
fn r42_the_engine_repeats_selectively() {
    let options = LossOptions {
        machines: Machines::Verilated,
        messages: 48,
        scheme: Some("nak_distance 0".into()),
        wire: Some("0.1 %".into()),
        ..options(Route::Write)
    };
    let runs = run(&options, &ProgressBar::hidden()).unwrap();
    let p = find(&runs.points, "selective repeat, nak_distance 0", Disturbance::Loss(0.001));
    assert!(p.data_right && p.resent_alone > 0 && p.rewinds <= p.timeouts, "{p:?}");
    // The gate of 98 % is for a run of twice the length: `hca-sim loss --engine verilated`.
    assert!(p.share >= 0.97, "{p:?}");
}

/// The gates are for one round trip; another one is run and plotted for what it is.
#[test]
fn another_round_trip_has_no_gates() {
    let options = LossOptions {
        round_trip: 20_000,
        messages: 8,
        scheme: Some("nak_distance 32".into()),
        ..options(Route::Write)
    };
    let runs = run(&options, &ProgressBar::hidden()).unwrap();
    assert!(runs.points.iter().all(|p| p.gate.is_none() && !p.no_resend && p.data_right));
    assert!(svg(&runs).unwrap().contains("20 us round trip"));
}

#[test]
fn a_missed_gate_wrong_bytes_or_a_resend_that_may_not_be_is_seen() {
    let runs = run(&options(Route::Write), &ProgressBar::hidden()).unwrap();
    let good = find(&runs.points, "selective repeat, nak_distance 32", Disturbance::Reorder);
    assert!(good.holds());
    for bad in [
        Point {
            share: 0.97,
            ..good.clone()
        },
        Point {
            data_right: false,
            ..good.clone()
        },
        Point {
            timeouts: 1,
            ..good.clone()
        },
        Point {
            data_right: false,
            gave_up: Some("retries".into()),
            ..good.clone()
        },
    ] {
        assert!(!bad.holds(), "{bad:?}");
    }
}
