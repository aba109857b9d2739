// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selective repeat: what a sequence NAK asks `Send` for (R25, R42), and when the queue goes back whole. PSNs wrap.

use super::golden::{add, Out, Setup, Timer};
use super::harness::{acknowledge, data, Rig, BRISK, SETUP};
use verbena_spec::{counters, layout::send_opcode::*, layout::state};

const SQ_PSN: u32 = 0xff_fffe;
const NAK: u8 = 0x60;

fn at(ahead: u32) -> u32 {
    add(SQ_PSN, ahead)
}

/// A QP with the attribute on and a WRITE of 10 packets out.
fn rig() -> Rig<64> {
    let mut rig = Rig::new(1, BRISK);
    connect(&mut rig);
    rig
}

fn connect(rig: &mut Rig<64>) {
    let setup = Setup {
        selective_repeat: true,
        ..SETUP
    };
    rig.connect(1, setup, SQ_PSN);
    rig.send(1, WRITE, 10 * 256);
}

/// What the answer makes `Send` do: PSN from `at(0)` on, byte, alone; the counter beside it must say the same.
fn rewind(out: &[Out]) -> Option<(u32, u32, bool)> {
    let found = out.iter().find_map(|o| match o {
        Out::Rewind { psn, offset, alone, .. } => Some((psn.wrapping_sub(SQ_PSN) & 0xff_ffff, *offset, *alone)),
        _ => None,
    });
    assert_eq!(out.contains(&Out::Count(counters::SELECTIVE_RESEND)), found.is_some_and(|f| f.2));
    assert_eq!(out.contains(&Out::Count(counters::REWIND)), found.is_some_and(|f| !f.2));
    found
}

fn nak(rig: &mut Rig<64>, ahead: u32) -> Option<(u32, u32, bool)> {
    let out = rig.respond(1, acknowledge(at(ahead), NAK)).0;
    rewind(&out)
}

/// `Send` has sent what it was asked to, and stands at the highest PSN again.
fn resume(rig: &mut Rig<64>) {
    let s = &mut rig.lives[1].sender;
    (s.next, s.alone) = (s.highest, false);
}

#[test]
fn r42_a_nak_asks_for_its_packet_alone() {
    let mut rig = rig();
    for ahead in [0, 2, 5, 7, 9] {
        assert_eq!(nak(&mut rig, ahead), Some((ahead, ahead * 256, true)));
        resume(&mut rig);
    }
    rig.ack(1, at(9));
}

#[test]
fn r42_the_same_nak_again_changes_nothing() {
    let mut rig = rig();
    assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
    // Sent or not.
    assert_eq!(nak(&mut rig, 3), None);
    resume(&mut rig);
    assert_eq!(nak(&mut rig, 3), None);
    assert_eq!(nak(&mut rig, 5), Some((5, 1280, true)));
}

#[test]
fn r42_a_nak_for_the_packet_behind_goes_back_whole() {
    let mut rig = rig();
    // With and without an ACK between.
    for acked in [false, true] {
        connect(&mut rig);
        assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
        resume(&mut rig);
        if acked {
            assert_eq!(rewind(&rig.ack(1, at(3)).0), None);
        }
        assert_eq!(nak(&mut rig, 4), Some((4, 1024, false)));
        resume(&mut rig);
        // The next one is a gap like any other, and so is the same one.
        assert_eq!(nak(&mut rig, 4), Some((4, 1024, true)));
        resume(&mut rig);
        assert_eq!(nak(&mut rig, 6), Some((6, 1536, true)));
    }
}

#[test]
fn r42_an_ack_of_what_waits_to_be_resent_moves_nothing() {
    let mut rig = rig();
    assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
    // Send is still at 3, alone.
    let out = rig.ack(1, at(6)).0;
    assert_eq!((rewind(&out), out.contains(&Out::Wake)), (None, true));
    // One that waits elsewhere is brought forward.
    resume(&mut rig);
    rig.expire(1);
    assert_eq!(rewind(&rig.ack(1, at(8)).0), Some((9, 2304, false)));
}

#[test]
fn r42_r47_a_resend_starts_the_timer_once() {
    let mut rig = Rig::<64>::new(1, BRISK);
    let setup = Setup {
        selective_repeat: true,
        timeout: 8,
        ..SETUP
    };
    rig.connect(1, setup, SQ_PSN);
    rig.fast = true;
    rig.steps(1100);
    rig.send(1, WRITE, 10 * 256);
    rig.arm(1);
    // Some of its time has passed when the NAK comes, without progress; a copy of it doesn't help.
    let whole = (8 * 256) as f64;
    for (copies, want) in [(0, 1.0), (1, 0.6)] {
        rig.steps((whole * 0.5) as u64);
        for copy in 0..=copies {
            if copy == 1 {
                rig.steps((whole * 0.5) as u64);
            }
            let first = nak(&mut rig, 0).is_some();
            assert_eq!(first, copy == 0);
        }
        assert_eq!(rig.lives[1].golden.timer, Timer::Ack);
        let took = rig.expire(1) as f64 / whole;
        assert!(took >= want - 0.2 && took < want + 0.2, "{copies} copies: {took}");
        resume(&mut rig);
    }
    // R48: the timer goes back whole, and the same NAK is a new one then.
    assert_eq!(nak(&mut rig, 0), Some((0, 0, true)));
}

#[test]
fn r46_an_rnr_nak_goes_back_whole() {
    let mut rig = rig();
    let out = rig.respond(1, acknowledge(at(2), 0x2c)).0;
    assert_eq!(rewind(&out), Some((2, 512, false)));
    assert_eq!(nak(&mut rig, 2), None);
    rig.expire(1);
    resume(&mut rig);
    assert_eq!(nak(&mut rig, 2), Some((2, 512, true)));
}

#[test]
fn r34_missing_responses_go_back_whole() {
    let mut rig = rig();
    rig.send(1, READ, 3 * 256);
    rig.send(1, WRITE, 5);
    // The NAK is beyond the READ.
    assert_eq!(nak(&mut rig, 13), Some((10, 0, false)));
    resume(&mut rig);
    rig.respond(1, data(0x0d, at(10), 256));
    // A request that the peer hasn't had is sent alone.
    connect(&mut rig);
    rig.send(1, READ, 3 * 256);
    rig.send(1, WRITE, 5);
    assert_eq!(nak(&mut rig, 10), Some((10, 0, true)));
}

#[test]
fn r41_a_new_life_knows_no_nak_of_the_old_one() {
    let mut rig = rig();
    assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
    rig.change(1, state::ERR);
    connect(&mut rig);
    assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
}

#[test]
fn r42_a_drained_queue_repairs_its_gaps() {
    let mut rig = rig();
    rig.change(1, state::SQD);
    assert_eq!(nak(&mut rig, 3), Some((3, 768, true)));
    resume(&mut rig);
    assert_eq!(nak(&mut rig, 4), Some((4, 1024, false)));
    let out = rig.ack(1, at(9)).0;
    assert!(out.iter().any(|o| matches!(o, Out::Entry { drained: true, .. })), "{out:?}");
}

#[test]
fn r25_without_the_attribute_every_nak_goes_back_whole() {
    let mut rig = Rig::<64>::new(1, BRISK);
    rig.connect(1, SETUP, SQ_PSN);
    rig.send(1, WRITE, 10 * 256);
    for ahead in [3, 3, 4, 6] {
        assert_eq!(nak(&mut rig, ahead), Some((ahead, ahead * 256, false)));
        resume(&mut rig);
    }
}
