// SPDX-License-Identifier: MIT OR Apache-2.0
//! `tx::Tx`: every frame byte for byte against a plain-Rust builder, at both widths, idle and stalled.

mod diff;
mod early;
mod harness;
mod order;
mod packets;

use crate::each;
use harness::*;
use rand::Rng;
use verbena_spec::counters;
use verbena_spec::layout::qp;
use verbena_tb::ack_frame::{ip_checksum, Ack};

/// Random ACKs and host frames at once; both orders kept, every byte checked, one event a frame.
macro_rules! mixed {
    ($name:ident, $tx:ident, $seed:literal, $idle:literal, $stall:literal) => {
        #[test]
        fn $name() {
            let mut h = $tx($seed, $idle, $stall);
            h.random_rows();
            for _ in 0..60 {
                let ack = h.random_ack();
                h.push_ack(ack);
                let length = h.rng.gen_range(1..180);
                h.push_host(length);
            }
            h.run(60_000);
        }
    };
}

mixed!(r2_r3_r4_r5_r7_r14_r15_r16_r17_r18_frames_64, tengig, 1, false, false);
mixed!(frames_64_idle, tengig, 2, true, false);
mixed!(frames_64_stall, tengig, 3, false, true);
mixed!(frames_64_idle_stall, tengig, 4, true, true);
mixed!(r2_r4_r5_r7_r14_r15_r16_r17_frames_32, cu, 5, false, false);
mixed!(frames_32_idle, cu, 6, true, false);
mixed!(frames_32_stall, cu, 7, false, true);
mixed!(frames_32_idle_stall, cu, 8, true, true);
mixed!(r3_r18_frames_32_ipv6_and_tag, wide_cu, 9, true, true);

/// CNPs among ACKs, packets and host frames, for RC and UC QPs alike: opcode 0x81, BECN 1, PSN 0, 16 bytes of zeros; each counts as `TX_CNP`.
macro_rules! notified {
    ($name:ident, $tx:ident, $seed:literal, $idle:literal, $stall:literal) => {
        #[test]
        fn $name() {
            let mut h = $tx($seed, $idle, $stall);
            h.random_rows();
            for index in [1, 3] {
                qp::SERVICE.set(&mut h.rows[index], 1);
                h.write_row(index as u16);
            }
            let mut cnps = 0;
            for _ in 0..60 {
                let ack = h.random_ack();
                let notification = h.rng.gen_bool(0.5);
                cnps += notification as u32;
                h.push_ack(Ack { notification, ..ack });
                let length = h.rng.gen_range(0..60);
                let packet = h.random_packet(length, true, 4, false);
                h.push_packet(&packet);
                h.push_host(length + 1);
            }
            h.run(60_000);
            assert!(cnps > 20);
            assert_eq!(h.events[counters::TX_CNP as usize], cnps);
        }
    };
}

notified!(r13_r76_notifications_64, tengig, 41, false, false);
notified!(r13_r76_notifications_64_idle_stall, tengig, 42, true, true);
notified!(r13_r76_notifications_32, cu, 43, false, false);
notified!(r13_r76_notifications_32_ipv6_and_tag, wide_cu, 44, true, true);

/// A CNP takes the cycles of a packet with four words behind its BTH, and one behind it is an ACK as ever.
#[test]
fn r76_rate_of_notifications() {
    let mut h = tengig(45, false, false);
    h.random_rows();
    for index in 0..16 {
        qp::IPV6.set(&mut h.rows[index], 0);
        qp::VLAN.set(&mut h.rows[index], 0);
        h.write_row(index as u16);
    }
    for k in 0..20 {
        let ack = h.random_ack();
        h.push_ack(Ack {
            notification: k % 2 == 0,
            ..ack
        });
    }
    h.run(2_000);
    let gap = (h.starts[18] - h.starts[0]) as f64 / 9.0;
    println!("a CNP and an ACK every {gap} cycles");
    assert!(gap <= 39.0, "gap {gap}");
}

#[test]
fn r43_all_rnr_codes_and_every_nak_pass() {
    for mut h in [Any::Tengig(tengig(10, false, false)), Any::Cu(cu(11, false, false))] {
        each!(h, h => {
            h.random_rows();
            for code in 0..32u8 {
                let ack = h.random_ack();
                h.push_ack(Ack { syndrome: 0x20 | code, ..ack });
            }
            for code in 0..4u8 {
                let ack = h.random_ack();
                h.push_ack(Ack { syndrome: 0x60 | code, ..ack });
            }
            h.run(5_000);
            assert_eq!(h.events[counters::TX_RNR as usize], 32);
            for code in counters::TX_NAK_SEQUENCE..=counters::TX_NAK_OPERATION {
                assert_eq!(h.events[code as usize], 1);
            }
        });
    }
}

#[test]
fn r37_r38_msn_and_credits_pass() {
    let mut h = tengig(12, false, false);
    h.random_rows();
    for (syndrome, msn) in [(0x1f, 0), (0x1f, 0xff_ffff), (0x00, 0x80_0000), (0x1f, 1)] {
        let ack = h.random_ack();
        h.push_ack(Ack { syndrome, msn, ..ack });
    }
    h.run(1_000);
    for frame in &h.frames {
        let tail = &frame[frame.len() - 8..frame.len() - 4];
        assert!(tail[0] == 0x1f || tail[0] == 0);
    }
    assert_eq!(h.events[counters::TX_ACK as usize], 4);
}

/// The one's complement sum's corners: many carries, and a sum of exactly 0xffff.
#[test]
fn r16_checksum_corners() {
    let mut h = tengig(13, false, false);
    h.port.gids[0] = 0xffff_ffff_ffff;
    h.set_port();
    for index in 0..200u16 {
        h.random_row(index);
        let row = &mut h.rows[index as usize];
        qp::IPV6.set(row, 0);
        qp::VLAN.set(row, 0);
        qp::GID_INDEX.set(row, 0);
        if index < 100 {
            qp::DEST_IP_3.set(row, u32::MAX);
            qp::TRAFFIC_CLASS.set(row, 0xff);
        } else {
            // Makes the checksum 0: the header's other words sum to 0xffff.
            let port = h.port.clone();
            let ack = Ack {
                index,
                syndrome: 31,
                psn: 0,
                msn: 0,
                notification: false,
            };
            qp::DEST_IP_3.set(row, 0);
            let frame = verbena_tb::ack_frame::ack_frame(&port, row, &ack);
            let rest = ip_checksum(&[&frame[14..24], &[0, 0], &frame[26..34]].concat());
            qp::DEST_IP_3.set(row, rest as u32);
        }
        h.write_row(index);
    }
    for index in 0..200 {
        h.push_ack(Ack {
            index,
            syndrome: 31,
            psn: index as u32,
            msn: 0,
            notification: false,
        });
    }
    h.run(10_000);
    assert!(h.frames.iter().all(|f| ip_checksum(&f[14..34]) == 0));
    assert!(h.frames.iter().filter(|f| f[24..26] == [0, 0]).count() >= 100);
}

#[test]
fn r20_short_frames_are_padded_with_zeros() {
    for mut h in [Any::Tengig(tengig(14, false, true)), Any::Cu(cu(15, true, false))] {
        each!(h, h => {
            for length in 1..=80 {
                h.push_host(length);
            }
            h.run(6_000);
            assert_eq!(h.events[counters::TX_HOST as usize], 80);
        });
    }
}

#[test]
fn r19_longest_host_frame_passes_longer_ones_are_dropped() {
    let mut h = tengig(16, false, false);
    for length in [4200, 4201, 60, 8300, 9000, 4199, 4208, 61] {
        h.push_host(length);
    }
    h.run(20_000);
    assert_eq!(h.events[counters::TX_HOST as usize], 4);
    assert_eq!(h.events[counters::TX_HOST_DROPPED as usize], 4);
    let mut h = cu(17, true, true);
    for length in [600, 601, 60, 1100, 2000, 599] {
        h.push_host(length);
    }
    h.run(20_000);
    assert_eq!(h.events[counters::TX_HOST_DROPPED as usize], 3);
}

#[test]
fn broken_keep_is_dropped() {
    for mut h in [Any::Tengig(tengig(18, true, true)), Any::Cu(cu(19, true, true))] {
        each!(h, h => {
            for k in 0..40 {
                let length = h.rng.gen_range(30..150);
                if k % 2 == 0 { h.push_broken(length) } else { h.push_host(length) }
            }
            h.run(6_000);
            assert_eq!(h.events[counters::TX_HOST_DROPPED as usize], 20);
            assert_eq!(h.events[counters::TX_HOST as usize], 20);
        });
    }
}

/// UC and UD never answer: such a job is taken, and leaves neither a frame nor an event.
#[test]
fn only_rc_answers() {
    for mut h in [Any::Tengig(tengig(20, true, true)), Any::Cu(cu(21, true, true))] {
        each!(h, h => {
            h.random_rows();
            for (index, service) in [(1, 3), (2, 1)] {
                qp::SERVICE.set(&mut h.rows[index], service);
                h.write_row(index as u16);
            }
            for k in 0..40u16 {
                let ack = h.random_ack();
                h.push_ack(Ack { index: 1 + k % 3, ..ack });
            }
            h.run(6_000);
            assert_eq!(h.frames.len(), 13);
        });
    }
}

/// Words that the station doesn't keep don't disturb those it keeps.
#[test]
fn unkept_words_are_ignored() {
    let mut h = tengig(22, false, false);
    h.random_rows();
    for index in 0..4 {
        for word in 16..32 {
            h.write_word(index, word, 0xdead_beef);
        }
    }
    for _ in 0..10 {
        let ack = h.random_ack();
        h.push_ack(ack);
    }
    h.run(1_000);
}

/// Both sources always ready: they take turns.
#[test]
fn arbiter_is_fair() {
    let mut h = tengig(23, false, false);
    h.random_rows();
    for _ in 0..40 {
        let ack = h.random_ack();
        h.push_ack(ack);
        h.push_host(200);
    }
    h.run(6_000);
    // A host frame (25 beats) is longer than an ACK takes to build, so the order is strictly alternating once both are under way.
    let kinds = &h.kinds[2..60];
    assert!(kinds.windows(2).all(|w| w[0] != w[1]), "{kinds:?}");
}

#[test]
fn ack_latency_and_rate_64() {
    for (ipv6, vlan, latency, period) in [(0, 0, 18, 18), (0, 1, 19, 19), (1, 0, 25, 23), (1, 1, 26, 24)] {
        let mut h = tengig(24, false, false);
        h.random_rows();
        for index in 0..16 {
            qp::IPV6.set(&mut h.rows[index], ipv6);
            qp::VLAN.set(&mut h.rows[index], vlan);
            h.write_row(index as u16);
        }
        for _ in 0..10 {
            let ack = h.random_ack();
            h.push_ack(ack);
        }
        let begin = h.bench.cycle;
        h.run(1_000);
        let first = h.starts[0] - begin;
        let gap = (h.starts[9] - h.starts[0]) as f64 / 9.0;
        println!("ipv6 {ipv6} vlan {vlan}: first beat after {first} cycles, an ACK every {gap} cycles");
        assert!(first <= latency, "latency {first}");
        assert!(gap <= period as f64, "gap {gap}");
    }
}

#[test]
fn ack_latency_and_rate_32() {
    let mut h = cu(25, false, false);
    h.random_rows();
    for _ in 0..10 {
        let ack = h.random_ack();
        h.push_ack(ack);
    }
    let begin = h.bench.cycle;
    h.run(1_000);
    let first = h.starts[0] - begin;
    let gap = (h.starts[9] - h.starts[0]) as f64 / 9.0;
    println!("W 32: first beat after {first} cycles, an ACK every {gap} cycles");
    assert!(first <= 26 && gap <= 37.0, "{first} {gap}");
}
