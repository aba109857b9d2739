// SPDX-License-Identifier: MIT OR Apache-2.0
//! UC and UD.

use super::super::wqe::*;
use super::harness::*;
use verbena_spec::headers::transport;
use verbena_spec::layout::{send_opcode, sq_wqe, status};

fn region(h: &mut Harness, index: u32) {
    let pd = h.qps[index as usize].setup.pd;
    h.region(9, pd, 0x5_0000_0000, 0x1_0000, true);
}

fn play(h: &mut Harness, index: u32, wqes: &[super::super::golden::Wqe]) {
    h.auto_ack = Some(25);
    for &w in wqes {
        h.post(index, w);
        h.ring(index);
        h.run_until(3000, "room in the ring", |h| {
            h.qps[index as usize].wqes.len() - h.qps[index as usize].oldest < 12 && !h.asks_open()
        });
    }
    h.run_until(3000, "all reported", |h| h.qps[index as usize].sent.len() == wqes.len());
    h.drain(200);
    h.check_rows(index);
    let q = &h.qps[index as usize];
    assert!(q.fails.is_empty());
    assert_eq!((q.arms, q.sent.len()), (0, wqes.len()));
}

#[test]
fn uc_messages() {
    for stall in [0, 35] {
        let mut h = Harness::new(20 + stall as u64);
        h.stall = stall;
        h.connect(3, |s| s.service = transport::UC);
        region(&mut h, 3);
        let mut list = vec![];
        for opcode in [
            send_opcode::SEND,
            send_opcode::SEND_WITH_IMM,
            send_opcode::WRITE,
            send_opcode::WRITE_WITH_IMM,
        ] {
            for length in [0, 1, 31, 255, 256, 257, 512, 700, 769] {
                list.push(wqe(opcode, &[(0x5_0000_0003, length, 9)]));
                if length < 32 {
                    list.push(inline(opcode, length));
                }
                list.push(wqe(
                    opcode,
                    &[(0x5_0000_0003, length / 3, 9), (0x5_0000_0800, length - length / 3, 9)],
                ));
            }
        }
        play(&mut h, 3, &list);
    }
}

#[test]
fn ud_messages() {
    for stall in [0, 35] {
        let mut h = Harness::new(30 + stall as u64);
        h.stall = stall;
        h.connect(4, |s| {
            s.service = transport::UD;
            s.pmtu = 2;
        });
        region(&mut h, 4);
        let mut list = vec![];
        for opcode in [send_opcode::SEND, send_opcode::SEND_WITH_IMM] {
            for length in [0, 1, 2, 3, 4, 15, 16, 17, 100, 511, 512] {
                let mut w = wqe(opcode, &[(0x5_0000_0001, length, 9)]);
                sq_wqe::SOLICITED.set(&mut w, length & 1);
                list.push(w);
                if length <= 16 {
                    list.push(inline(opcode, length));
                }
            }
        }
        play(&mut h, 4, &list);
    }
}

#[test]
fn refusals_of_uc_and_ud() {
    let operation = status::LOCAL_QP_OPERATION_ERROR;
    let length = status::LOCAL_LENGTH_ERROR;
    let place = (0x5_0000_0000, 64, 9);
    let list = [
        (transport::UC, wqe(send_opcode::SEND_WITH_INVALIDATE, &[place]), operation),
        (transport::UC, read(8), operation),
        (transport::UC, atomic(send_opcode::FETCH_ADD), operation),
        (transport::UD, wqe(send_opcode::SEND_WITH_INVALIDATE, &[place]), operation),
        (transport::UD, wqe(send_opcode::WRITE, &[place]), operation),
        (transport::UD, wqe(send_opcode::SEND, &[place, place]), operation),
        (transport::UD, wqe(send_opcode::SEND, &[(0x5_0000_0000, 257, 9)]), length),
        (transport::UD, inline(send_opcode::SEND, 17), length),
        (2, wqe(send_opcode::SEND, &[place]), operation),
    ];
    let mut h = Harness::new(5);
    region(&mut h, 5);
    for (service, w, want) in list {
        h.connect(5, |s| s.service = service);
        h.post(5, w);
        h.ring(5);
        h.run_until(500, "fail", |h| !h.qps[5].fails.is_empty());
        assert_eq!(h.qps[5].fails, [(0, want)], "{service} {w:x?}");
        h.drain(150);
    }
}

/// A UC message whose payload can't be read fails; it isn't reported as sent.
#[test]
fn r69_uc_payload_error() {
    let mut h = Harness::new(6);
    h.connect(6, |s| s.service = transport::UC);
    region(&mut h, 6);
    h.auto_ack = Some(10);
    h.bad_reads.insert(2);
    h.post(6, wqe(send_opcode::SEND, &[(0x5_0000_0000, 40, 9)]));
    h.post(6, wqe(send_opcode::SEND, &[(0x5_0000_0000, 700, 9)]));
    h.post(6, wqe(send_opcode::SEND, &[(0x5_0000_0000, 40, 9)]));
    h.ring(6);
    h.run_until(1000, "fail", |h| !h.qps[6].fails.is_empty());
    h.drain(300);
    assert_eq!(h.qps[6].fails, [(1, status::LOCAL_QP_OPERATION_ERROR)]);
    assert_eq!(h.qps[6].sent, [0]);
}
