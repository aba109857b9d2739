// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the control path does for a requester: states told, errors taken, responses handed over.

use super::harness::*;
use super::rules_rc::*;
use verbena_hdl::responder::Features;
use verbena_spec::counters::*;
use verbena_spec::layout::state;

const ACKNOWLEDGE: u8 = 17;
/// A counter code that nothing in the control path makes.
const TAKEN: u8 = 0x2a;

fn with_requester() -> Harness {
    let mut h = Harness::with(11, Features::all());
    h.connect(2, &row(2));
    h
}

fn response(opcode: u8) -> Packet {
    packet(opcode, qpn(2), 0x77_7777, 0)
}

#[test]
fn each_change_of_state_is_told_once() {
    let mut h = with_requester();
    assert_eq!(h.told, vec![(2, 0), (2, 1), (2, 2)]);
    h.told.clear();
    h.modify(2, state::RTS);
    h.modify(2, state::SQD);
    assert!(!h.command(1, 2, state::INIT).0, "refused, so nothing is told");
    h.query(2);
    h.doorbell(2, 1);
    assert_eq!(h.told, vec![(2, state::RTS), (2, state::SQD)]);
    // An error of a packet.
    h.told.clear();
    let left = h.send(&packet(WRITE_ONLY, qpn(2), 100, 8).reth(VA, 0xbad, 8));
    assert_eq!((left.counter(), h.told.clone()), (NAKED, vec![(2, state::ERR)]));
    h.rest(200);
    // An error of a write, then of the requester: each moves a live QP only, and without an event from here.
    for by_requester in [false, true] {
        h.connect(2, &row(2));
        h.told.clear();
        for _ in 0..2 {
            let left = if by_requester { h.requester_error(2) } else { h.qp_error(2) };
            assert!(left.entries.iter().all(|e| !e.event), "{left:?}");
        }
        assert_eq!(h.told, vec![(2, state::ERR)]);
        assert_eq!(h.query(2).0, state::ERR);
    }
    h.told.clear();
    h.requester_error(0);
    h.requester_error(0x802);
    assert!(h.told.is_empty());
}

#[test]
fn a_command_waits_for_the_requester() {
    let mut h = with_requester();
    h.stall = 900;
    h.modify(2, state::RTS);
    assert_eq!(h.told.last(), Some(&(2, state::RTS)));
    h.stall = 0;
    h.listens = false;
    let hung = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| h.command(1, 2, state::SQD)));
    assert!(hung.is_err(), "done before the requester knew");
}

#[test]
fn r65_a_requester_error_flushes_receives() {
    let mut h = with_requester();
    h.post(2, 2);
    let mut left = h.requester_error(2);
    left.entries.extend(h.rest(200).entries);
    let flushed: Vec<u64> = left.entries.iter().map(|e| e.status.to_u64()).collect();
    assert_eq!(flushed, vec![5, 5]);
}

#[test]
fn r39_responses_go_to_the_requester_in_rts_and_sqd() {
    for stall in [0, 500] {
        let mut h = with_requester();
        h.stall = stall;
        // In RTR it is a ghost.
        let left = h.send(&response(ACKNOWLEDGE));
        assert_eq!((left.counter(), left.responses, left.silent()), (GHOST_ACK, 0, true));
        h.modify(2, state::RTS);
        for state in [state::RTS, state::SQD] {
            h.modify(2, state);
            for opcode in [13, 14, 15, 16, 17, 18] {
                for wait in [0, 1, 7] {
                    for placed in [false, true] {
                        h.respond = (wait, TAKEN, placed);
                        let before = h.query(2);
                        let left = h.send(&response(opcode));
                        assert_eq!((left.counter(), left.responses, left.silent()), (TAKEN, 1, true), "{left:?}");
                        assert_eq!(left.jobs.len(), !placed as usize, "exactly one release, here or there");
                        assert_eq!(h.query(2), before);
                    }
                }
            }
        }
        // Requests are the responder's, and what isn't this QP's goes nowhere.
        h.respond = (0, TAKEN, true);
        let left = h.send(&write_only(100, 8));
        assert_eq!((left.counter(), left.responses), (ACCEPTED, 0));
        let mut p = response(ACKNOWLEDGE);
        p.pkey = 0x1234;
        let left = h.send(&p);
        assert_eq!((left.counter(), left.responses), (BAD_PKEY, 0));
    }
}

#[test]
fn without_a_requester_nothing_is_handed_over() {
    let mut h = up();
    h.listens = false;
    h.modify(2, state::RTS);
    let left = h.send(&response(ACKNOWLEDGE));
    assert_eq!((left.counter(), left.responses), (GHOST_ACK, 0));
    assert!(h.told.is_empty());
}
