// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the control path does for a reorder station: early requests handed over, probes, and what each packet left of ePSN.

use super::harness::*;
use super::rules_rc::*;
use verbena_hdl::responder::Features;
use verbena_spec::counters::*;
use verbena_spec::layout::{qp, state};

const READ: u8 = 12;
const NAK_SEQUENCE: u8 = 0x60;

fn with_station(on: bool, serial: bool) -> Harness {
    let mut h = Harness::with(19, Features { serial, ..Features::all() });
    let mut row = row(2);
    qp::REMOTE_READ.set(&mut row, 1);
    qp::REORDER.set(&mut row, on as u32);
    qp::NAK_DISTANCE.set(&mut row, 33);
    qp::NAK_DELAY.set(&mut row, 0xabc);
    h.connect(2, &row);
    h
}

#[test]
fn r42_an_early_request_is_the_stations() {
    for serial in [false, true] {
        for (stall, wait) in [(0, 2), (0, 11), (600, 4)] {
            let mut h = with_station(true, serial);
            h.stall = stall;
            let (_, _, msn, _) = h.query(2);
            for (psn, code) in [
                (101, LATER),
                (140, REORDER_FULL),
                (0x80_0063, OUT_OF_SEQUENCE_SILENT),
                (101, REORDER_DUPLICATE),
            ] {
                h.hold = (wait, false, code);
                let left = h.send(&write_only(psn, 8));
                let early = Early {
                    distance: psn - 100,
                    standing: false,
                    nak_distance: 33,
                    nak_delay: 0xabc,
                };
                assert_eq!((left.early.clone(), left.counter()), (vec![early], code));
                assert!(left.silent() && left.after == (100, false), "{left:?}");
            }
            // R23, R24: one NAK with ePSN, when the station says so; it stands.
            h.hold = (wait, true, LATER);
            let left = h.send(&packet(READ, qpn(2), 102, 0).reth(VA, KEY, 10));
            assert_eq!((left.answer(), left.counter()), (Some((NAK_SEQUENCE, 100, msn)), LATER));
            assert!(!left.early[0].standing);
            h.hold = (wait, false, LATER);
            assert!(h.send(&write_only(103, 8)).early[0].standing);
            assert_eq!(h.query(2).1, 100, "ePSN stands");
            // In order, nothing is the station's.
            let left = h.send(&write_only(100, 8));
            assert_eq!((left.counter(), left.after, left.early.len()), (ACCEPTED, (101, true), 0));
            h.hold = (wait, false, LATER);
            assert!(!h.send(&write_only(103, 8)).early[0].standing, "silence ends with ePSN");
            let left = h.send(&write_only(100, 8));
            assert_eq!((left.counter(), left.after, left.early.len()), (DUPLICATE, (101, false), 0));
            h.serve = (0, 0, 7);
            let left = h.send(&packet(READ, qpn(2), 101, 0).reth(VA, KEY, 10));
            assert_eq!((left.counter(), left.after), (ACCEPTED, (108, true)));
        }
    }
}

#[test]
fn r42_without_the_attribute_or_the_station_nothing_changes() {
    let run = |features: Features, on: bool| {
        let mut h = Harness::with(20, features);
        let mut row = row(2);
        qp::REORDER.set(&mut row, on as u32);
        h.connect(2, &row);
        let mut all = vec![];
        for psn in [100, 102, 103, 101, 100, 103, 104, 0x80_0000] {
            let left = h.send(&write_only(psn, 8));
            assert!(left.early.is_empty());
            all.push((left.counter(), left.answer(), left.cycles));
        }
        all
    };
    let without = Features {
        reorder: false,
        ..Features::all()
    };
    let plain = run(without, true);
    assert_eq!(plain[1].1, Some((NAK_SEQUENCE, 101, 1)));
    assert_eq!(run(Features::all(), false), plain);
}

#[test]
fn r23_a_probe_answers_the_gap_and_does_nothing_else() {
    for serial in [false, true] {
        let mut h = with_station(true, serial);
        h.probe = true;
        h.hold = (3, true, LATER);
        let left = h.send(&write_only(105, 8));
        assert_eq!(
            (left.counter(), left.answer().map(|a| (a.0, a.1))),
            (LATER, Some((NAK_SEQUENCE, 100)))
        );
        assert_eq!(left.early.len(), 1);
        // What isn't early is nobody's: in order, a duplicate, another's, a READ, a SEND, a response.
        let mut foreign = write_only(105, 8);
        foreign.pkey = 0x1234;
        let read = packet(READ, qpn(2), 100, 0).reth(VA, KEY, 10);
        for p in [
            write_only(100, 8),
            write_only(99, 8),
            foreign,
            read,
            packet(4, qpn(2), 100, 8),
            packet(17, qpn(2), 100, 0),
        ] {
            let left = h.send(&p);
            assert_eq!((left.counter(), left.early.len(), left.after.1), (LATER, 0, false), "{p:?}");
            assert!(left.silent() && left.requests.is_empty() && left.responses == 0, "{left:?}");
        }
        assert_eq!(h.query(2), (state::RTR, 100, 0, 0));
        h.probe = false;
        assert_eq!(h.send(&write_only(100, 8)).counter(), ACCEPTED);
    }
}
