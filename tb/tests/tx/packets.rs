// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and responses: the packet stream with extension headers and payload.

use super::harness::*;
use crate::each;
use rand::Rng;
use verbena_spec::counters;
use verbena_spec::layout::qp;
use verbena_tb::packet_frame::Packet;

/// Random packets, ACKs and host frames at once.
macro_rules! mixed {
    ($name:ident, $tx:ident, $seed:literal, $idle:literal, $stall:literal, $in_band:literal) => {
        #[test]
        fn $name() {
            let mut h = $tx($seed, $idle, $stall);
            h.random_rows();
            for k in 0..40 {
                let length = [h.rng.gen_range(0..300), h.rng.gen_range(0..9), 0][k % 3];
                let inline = length <= 32 && h.rng.gen();
                let extensions = h.rng.gen_range(0..8);
                let in_band = $in_band && h.rng.gen_ratio(1, 3);
                let mut packet = h.random_packet(length, inline, extensions, in_band);
                packet.poisoned = packet.from_fifo() && h.rng.gen_ratio(1, 5);
                h.push_packet(&packet);
                let ack = h.random_ack();
                h.push_ack(ack);
                if k % 4 == 0 {
                    let length = h.rng.gen_range(1..180);
                    h.push_host(length);
                }
            }
            h.run(80_000);
            let kinds: String = h.kinds.iter().collect();
            println!("{kinds}");
        }
    };
}

mixed!(r5_r7_r14_packets_64, tengig, 31, false, false, true);
mixed!(packets_64_idle, tengig, 32, true, false, true);
mixed!(packets_64_stall, tengig, 33, false, true, true);
mixed!(packets_64_idle_stall, tengig, 34, true, true, true);
mixed!(r5_r7_r14_packets_32, cu, 35, false, false, false);
mixed!(packets_32_idle, cu, 36, true, false, false);
mixed!(packets_32_stall, cu, 37, false, true, false);
mixed!(packets_32_idle_stall, cu, 38, true, true, false);
mixed!(packets_32_ipv6_tag_and_in_band, wide_cu, 39, true, true, true);

/// Every length from 0 to 300, with every number of extension headers somewhere, from the FIFO; the short ones inline too.
#[test]
fn r5_r7_every_length() {
    for mut h in [Any::Tengig(tengig(40, false, false)), Any::Cu(cu(41, false, false))] {
        each!(h, h => {
            h.random_rows();
            for length in 0..=300 {
                let packet = h.random_packet(length, false, length % 8, false);
                h.push_packet(&packet);
                if length <= 32 {
                    let packet = h.random_packet(length, true, (length + 3) % 8, false);
                    h.push_packet(&packet);
                }
            }
            h.run(80_000);
            assert_eq!(h.frames.len(), 334);
        });
    }
}

/// The longest payloads and those beside them.
#[test]
fn payloads_around_the_pmtu() {
    let mut h = tengig(42, false, true);
    h.random_rows();
    for pmtu in [256, 512, 1024, 2048, 4096] {
        for length in pmtu - 5..=pmtu {
            let packet = h.random_packet(length, false, length % 5, length % 3 == 0);
            h.push_packet(&packet);
        }
    }
    h.run(60_000);
    let mut h = cu(43, false, true);
    h.random_rows();
    for pmtu in [256, 512] {
        for length in pmtu - 5..=pmtu {
            let packet = h.random_packet(length, false, length % 5, false);
            h.push_packet(&packet);
        }
    }
    h.run(20_000);
}

/// All 256 opcodes pass as they come; an ACKNOWLEDGE in the stream counts as one of ours.
#[test]
fn all_opcodes_pass() {
    for mut h in [Any::Tengig(tengig(44, false, false)), Any::Cu(cu(45, false, false))] {
        each!(h, h => {
            h.random_rows();
            for opcode in 0..=255u8 {
                let mut packet = h.random_packet(5, false, 1, false);
                packet.opcode = opcode;
                if opcode == 0x11 {
                    packet.payload.clear();
                    packet.extensions[0] = 0x6200_0000;
                }
                h.push_packet(&packet);
            }
            h.run(60_000);
            assert_eq!(h.events[counters::TX_NAK_ACCESS as usize], 1);
            assert_eq!(h.events[counters::TX_REQUEST as usize] + h.events[counters::TX_RESPONSE as usize], 255);
        });
    }
}

/// R20: a SEND_ONLY without payload is 58 bytes.
#[test]
fn r20_short_packets_are_padded() {
    let mut h = tengig(46, false, false);
    h.random_rows();
    for index in 0..16 {
        qp::IPV6.set(&mut h.rows[index], 0);
        qp::VLAN.set(&mut h.rows[index], 0);
        h.write_row(index as u16);
    }
    let packet = h.random_packet(0, false, 0, false);
    h.push_packet(&packet);
    h.run(200);
    assert_eq!(h.frames[0].len(), 60);
    assert_eq!(h.frames[0][58..], [0, 0]);
}

/// R69: poisoned payload is dropped whole; what comes before and after it isn't touched.
#[test]
fn r69_poisoned_packets_are_dropped() {
    for mut h in [Any::Tengig(tengig(47, true, true)), Any::Cu(cu(48, true, true))] {
        each!(h, h => {
            h.random_rows();
            for k in 0..60 {
                let length = h.rng.gen_range(1..200);
                let mut packet = h.random_packet(length, false, k % 6, false);
                packet.poisoned = k % 3 != 0;
                h.push_packet(&packet);
            }
            h.run(40_000);
            assert_eq!(h.events[counters::TX_POISONED as usize], 40);
            assert_eq!(h.frames.len(), 20);
        });
    }
}

/// A packet that its source takes back leaves nothing: no frame, no event, no slot.
#[test]
fn abandoned_packets_leave_nothing() {
    for mut h in [Any::Tengig(tengig(54, true, true)), Any::Cu(cu(55, true, true))] {
        each!(h, h => {
            h.random_rows();
            for k in 0..40 {
                let count = h.rng.gen_range(3..12);
                h.push_abandoned(count);
                if k % 2 == 0 {
                    let length = h.rng.gen_range(1..200);
                    let packet = h.random_packet(length, false, k % 6, false);
                    h.push_packet(&packet);
                }
            }
            h.run(40_000);
            assert_eq!(h.frames.len(), 20);
        });
    }
}

/// ACKs and packets take turns.
#[test]
fn acks_and_packets_take_turns() {
    for mut h in [Any::Tengig(tengig(49, false, false)), Any::Cu(cu(50, false, false))] {
        each!(h, h => {
            h.random_rows();
            for _ in 0..30 {
                // Requests: behind a response an ACK of its QP waits (R36).
                let packet = Packet {
                    response: false,
                    ..h.random_packet(64, false, 4, false)
                };
                h.push_packet(&packet);
                let ack = h.random_ack();
                h.push_ack(ack);
            }
            h.run(6_000);
            // Both wait once the first packets' payload is there.
            let kinds: String = h.kinds.iter().skip(6).take(40).collect();
            assert!(!kinds.contains("pp") && !kinds.contains("aaa"), "{kinds}");
        });
    }
}

fn plain_rows(h: &mut Tengig) {
    h.random_rows();
    for index in 0..16 {
        qp::IPV6.set(&mut h.rows[index], 0);
        qp::VLAN.set(&mut h.rows[index], 0);
        h.write_row(index as u16);
    }
}

/// WRITE MIDDLE at PMTU 256: a frame of 39.25 beats in the 42.25 cycles of its wire time.
#[test]
fn line_rate_at_pmtu_256() {
    let mut h = tengig(51, false, false);
    plain_rows(&mut h);
    for _ in 0..60 {
        let packet = h.random_packet(256, false, 0, false);
        h.push_packet(&packet);
    }
    h.run(6_000);
    let gaps: Vec<u64> = h.starts.windows(2).map(|w| w[1] - w[0]).collect();
    println!("PMTU 256: a frame every {gaps:?} cycles");
    assert!(gaps[3..].iter().all(|g| *g <= 42), "{gaps:?}");
}

/// 64-byte WRITEs: one every 20 cycles.
#[test]
fn rate_of_64_byte_writes() {
    let mut h = tengig(52, false, false);
    plain_rows(&mut h);
    for _ in 0..60 {
        let packet = h.random_packet(64, false, 4, false);
        h.push_packet(&packet);
    }
    h.run(6_000);
    let mean = (h.starts[59] - h.starts[9]) as f64 / 50.0;
    println!("64-byte WRITE: one every {mean} cycles");
    assert!(mean <= 20.0, "{mean}");
}

/// A lone WRITE: last payload beat taken to first beat out.
#[test]
fn latency_of_a_packet() {
    let mut h = tengig(53, false, false);
    plain_rows(&mut h);
    let packet: Packet = h.random_packet(64, false, 4, false);
    let begin = h.bench.cycle;
    h.push_packet(&packet);
    h.run(300);
    // The eight payload beats come in cycles 0 to 7, beside the words.
    let latency = h.starts[0] - begin - 7;
    println!("64-byte WRITE: {latency} cycles from the last payload beat to the first beat out");
    assert!(latency <= 26, "{latency}");
}
