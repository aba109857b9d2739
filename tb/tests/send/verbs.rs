// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every verb × lengths × splits of the elements, and where a QP goes on after a rewind.

use super::super::golden;
use super::super::wqe::*;
use super::harness::*;
use rand::Rng;
use verbena_spec::layout::{send_opcode, sq_wqe};

/// Across 2^32.
const VA: [u64; 2] = [0x0000_0004_ffff_ff00, 0x0000_0007_1234_5671];
const KEYS: [u32; 2] = [0x101, 0x202];

fn regions(h: &mut Harness, index: u32) {
    let pd = h.qps[index as usize].setup.pd;
    h.region(KEYS[0], pd, VA[0], 0x1_0000, super::QPS == 16);
    h.region(KEYS[1], pd, VA[1], 0x1_0000, false);
}

fn lengths(pmtu: u32) -> Vec<u32> {
    let mut all: Vec<u32> = (0..=36).collect();
    for k in 1..=3 {
        all.extend(k * pmtu - 5..=k * pmtu + 5);
    }
    all
}

/// Posts one after the other, acknowledged by itself, so that the ring never fills.
fn play(h: &mut Harness, index: u32, wqes: Vec<golden::Wqe>) {
    h.auto_ack = Some(60);
    for w in wqes {
        h.post(index, w);
        h.ring(index);
        h.run_until(3000, "room in the ring", |h| {
            let q = &h.qps[index as usize];
            assert!(q.fails.is_empty(), "failed: {:?}", q.fails);
            q.wqes.len() - q.oldest < 12 && !h.asks_open()
        });
    }
    h.run_until(3000, "all out", |h| h.all_out(index));
    h.drain(200);
    h.check_rows(index);
}

#[test]
fn verbs_lengths_and_splits() {
    for stall in [0, 30] {
        let mut h = Harness::new(11 + stall as u64);
        h.stall = stall;
        h.connect(1, |s| s.psn = 0xff_ffc0);
        regions(&mut h, 1);
        let mut wqes = vec![];
        for opcode in 0..=4 {
            for length in lengths(256) {
                if stall != 0 && length % 3 != 0 {
                    continue;
                }
                let solicited = |w| with(w, sq_wqe::SOLICITED, length & 1);
                wqes.push(solicited(wqe(opcode, &[(VA[0] + length as u64, length, KEYS[0])])));
                let cut = h.rng.gen_range(0..=length);
                for cut in [0, cut, length] {
                    wqes.push(solicited(wqe(
                        opcode,
                        &[(VA[0] + cut as u64, cut, KEYS[0]), (VA[1] + 3, length - cut, KEYS[1])],
                    )));
                }
                if length <= 32 {
                    wqes.push(solicited(inline(opcode, length)));
                }
                if length == 0 {
                    wqes.push(wqe(opcode, &[]));
                }
            }
        }
        for length in lengths(256) {
            wqes.push(read(length));
        }
        wqes.push(atomic(send_opcode::COMPARE_SWAP));
        wqes.push(atomic(send_opcode::FETCH_ADD));
        play(&mut h, 1, wqes);
    }
}

/// R31, R32: from every packet of every message under way, packets come again as they were.
#[test]
fn r32_r31_rewind_to_every_packet() {
    let mut h = Harness::new(3);
    h.connect(2, |s| {
        s.psn = 0xff_fff8;
        s.max_rd_atomic = 8;
    });
    regions(&mut h, 2);
    let list = [
        wqe(send_opcode::SEND_WITH_IMM, &[(VA[0], 400, KEYS[0]), (VA[1], 300, KEYS[1])]),
        wqe(send_opcode::WRITE, &[(VA[0], 700, KEYS[0])]),
        read(900),
        inline(send_opcode::SEND_WITH_INVALIDATE, 17),
        wqe(send_opcode::WRITE_WITH_IMM, &[(VA[0], 1, KEYS[0]), (VA[1], 512, KEYS[1])]),
        atomic(send_opcode::FETCH_ADD),
        wqe(send_opcode::SEND, &[]),
    ];
    for w in list {
        h.post(2, w);
    }
    h.ring(2);
    h.run_until(2000, "all out", |h| h.all_out(2));
    for stall in [0, 40] {
        h.stall = stall;
        for wqe in 0..list.len() {
            for packet in 0..h.qps[2].begun[wqe].1 {
                // As a whole, and again before it has come to its end.
                h.rewind(2, wqe, packet, false);
                h.wait_asks();
                h.run_until(2000, "all out again", |h| h.all_out(2));
                h.rewind(2, wqe, packet, false);
                let some = h.rng.gen_range(0..150);
                h.run(some);
            }
        }
        h.run_until(2000, "all out again", |h| h.all_out(2) && !h.asks_open());
        h.drain(300);
        h.check_rows(2);
    }
    assert_eq!(h.qps[2].begun.len(), list.len());
}

/// A hold ends with the wake, not before.
#[test]
fn hold_until_wake() {
    let mut h = Harness::new(4);
    h.connect(1, |_| {});
    regions(&mut h, 1);
    for _ in 0..3 {
        h.post(1, wqe(send_opcode::WRITE, &[(VA[0], 300, KEYS[0])]));
    }
    h.ring(1);
    h.run_until(2000, "all out", |h| h.all_out(1));
    h.rewind(1, 1, 1, true);
    h.wait_asks();
    h.drain(500);
    assert_eq!((h.qps[1].wqe, h.qps[1].offset), (1, 256));
    h.post(1, inline(send_opcode::SEND, 3));
    h.ring(1);
    h.drain(500);
    assert_eq!((h.qps[1].wqe, h.qps[1].offset), (1, 256));
    h.ask(Ask::Wake(1));
    h.run_until(500, "all out", |h| h.all_out(1));
    h.drain(100);
    h.check_rows(1);
}
