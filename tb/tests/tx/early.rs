// SPDX-License-Identifier: MIT OR Apache-2.0
//! Headers that are built while their payload is still being read, or their words still come.

use super::harness::*;
use rand::Rng;
use verbena_spec::counters;
use verbena_spec::layout::qp;
use verbena_tb::packet_frame::Packet;

/// Cycles from a packet's first word to a time when its early header, the longest too, has long been built.
const BUILT: u64 = 120;

/// Rows of every form of header: IPv4 and IPv6, tagged or not.
fn four_forms(h: &mut Tengig) {
    h.random_rows();
    for index in 0..16usize {
        qp::IPV6.set(&mut h.rows[index], index as u32 & 1);
        qp::VLAN.set(&mut h.rows[index], index as u32 >> 1 & 1);
        h.write_row(index as u16);
    }
}

/// A request.
fn request(h: &mut Tengig, index: u16, length: usize, extensions: usize) -> Packet {
    Packet {
        index,
        response: false,
        ..h.random_packet(length, false, extensions, false)
    }
}

/// Every form of header and number of extension words, the payload whole at every time from before the header is begun to after it is built: the frame doesn't pause, nor does a packet
/// behind it lose anything.
#[test]
fn a_header_waits_for_its_payload_at_every_point() {
    for stall in [false, true] {
        let mut h = tengig(70, false, stall);
        four_forms(&mut h);
        let mut number = 0;
        for delay in 0..64 {
            for length in [1, 8, 9, 64, 200] {
                for index in 0..4 {
                    let packet = request(&mut h, index, length, number % 8);
                    h.push_packet(&packet);
                    let behind = request(&mut h, index, 20, 4);
                    if number % 3 == 0 {
                        h.push_packet(&behind);
                    }
                    h.payload_from = h.bench.cycle + delay;
                    h.run(3_000);
                    number += 1;
                }
            }
        }
    }
}

/// The same in band (UD), and with the last beat alone late.
#[test]
fn early_headers_in_band() {
    let mut h = tengig(71, false, false);
    four_forms(&mut h);
    for delay in 0..80 {
        let packet = h.random_packet(1 + delay as usize * 3, false, delay as usize % 8, true);
        h.push_packet(&packet);
        h.payload_gap = delay..delay + 2;
        h.run(9_000);
    }
}

/// A lone WRITE whose payload comes late: last payload beat taken to first beat out.
#[test]
fn latency_of_an_early_header() {
    for (index, length) in [(0, 64), (1, 64), (2, 64), (3, 64), (0, 1), (0, 8), (0, 9), (0, 256), (0, 4096)] {
        let mut h = tengig(72, false, false);
        four_forms(&mut h);
        let packet = request(&mut h, index, length, 4);
        h.push_packet(&packet);
        h.payload_from = h.bench.cycle + BUILT;
        h.run(3_000);
        let latency = h.starts[0] - h.payload_end;
        println!("{length} bytes, form {index}: {latency} cycles from the last payload beat to the first beat out");
        assert!(latency <= 3, "{latency}");
    }
}

/// Words that come with pauses, and a last word that comes at any time (it waits for a key's check), with payload inline, from the FIFO or none: the frame is right and doesn't pause.
#[test]
fn a_header_waits_for_its_last_word_at_every_point() {
    for (idle, stall) in [(false, false), (false, true), (true, false)] {
        let mut h = tengig(77, idle, stall);
        four_forms(&mut h);
        let mut number = 0;
        for delay in 0..64 {
            for length in [0, 7, 32, 64] {
                for index in 0..4 {
                    let packet = Packet {
                        inline: length <= 32,
                        index,
                        response: false,
                        ..h.random_packet(length, false, number % 8, number % 5 == 0)
                    };
                    h.push_packet(&packet);
                    h.last_word_from = h.bench.cycle + delay;
                    if number % 2 == 0 {
                        h.payload_from = h.bench.cycle + 20;
                    }
                    h.run(3_000);
                    number += 1;
                }
            }
        }
    }
}

/// A packet that is taken back at any time, whose header is begun, leaves nothing: neither frame nor event nor slot, and the next one isn't touched.
#[test]
fn a_packet_taken_back_leaves_nothing_of_its_early_header() {
    let mut h = tengig(78, false, false);
    four_forms(&mut h);
    let mut sent = 0;
    for delay in 0..64 {
        for words in [4, 9, 20] {
            h.push_abandoned(words);
            h.last_word_from = h.bench.cycle + delay;
            if delay % 3 == 0 {
                let ack = h.random_ack();
                h.push_ack(ack);
                h.ack_from = h.bench.cycle + h.rng.gen_range(0..delay + 1);
                sent += 1;
            }
            if delay % 2 == 0 {
                let packet = request(&mut h, delay as u16 % 4, 40, 4);
                h.push_packet(&packet);
                sent += 1;
            }
            h.run(3_000);
            assert_eq!(h.frames.len(), sent, "delay {delay}");
        }
    }
}

/// A lone WRITE with its payload in its words: first word in to first beat out.
#[test]
fn latency_of_inline_payload() {
    for (length, most) in [(0, 24), (32, 30)] {
        let mut h = tengig(79, false, false);
        four_forms(&mut h);
        let packet = Packet {
            index: 0,
            response: false,
            ..h.random_packet(length, true, 4, false)
        };
        let begin = h.bench.cycle;
        h.push_packet(&packet);
        h.run(300);
        let latency = h.starts[0] - begin;
        println!("{length} bytes inline: {latency} cycles from the first word in to the first beat out");
        assert!(latency <= most, "{latency}");
    }
}

/// R69: a payload that fails with its last beat, at every point of its early header, leaves no trace but its count; what comes behind it isn't touched.
#[test]
fn r69_poison_at_the_last_beat_of_an_early_header() {
    for stall in [false, true] {
        let mut h = tengig(73, false, stall);
        four_forms(&mut h);
        let mut poisoned = 0;
        for delay in 0..64 {
            for index in 0..4 {
                let length = [1, 64, 100][delay as usize % 3];
                let mut packet = request(&mut h, index, length, delay as usize % 8);
                packet.poisoned = true;
                h.push_packet(&packet);
                poisoned += 1;
                let behind = request(&mut h, 3 - index, 33, 4);
                h.push_packet(&behind);
                if delay % 4 == 0 {
                    let ack = h.random_ack();
                    h.push_ack(ack);
                    h.ack_from = h.bench.cycle + h.rng.gen_range(0..delay + 1);
                }
                h.payload_from = h.bench.cycle + delay;
                h.run(3_000);
                assert_eq!(h.events[counters::TX_POISONED as usize], poisoned, "delay {delay}");
            }
        }
    }
}

/// An ACK that comes at any time while a packet waits for payload leaves at most two cycles later than alone, and the packet leaves behind it.
#[test]
fn an_ack_passes_an_early_header() {
    let mut h = tengig(74, false, false);
    four_forms(&mut h);
    let mut latest = 0;
    for index in 0..4u16 {
        let mut alone = 0;
        for delay in 0..90 {
            let frames = h.starts.len();
            let waits = delay > 0;
            if waits {
                let packet = request(&mut h, 3 - index, 64, delay as usize % 8);
                h.push_packet(&packet);
            }
            let ack = h.random_ack();
            h.push_ack(verbena_tb::ack_frame::Ack { index, ..ack });
            h.ack_from = h.bench.cycle + delay;
            h.payload_from = h.bench.cycle + 1_000;
            h.run(3_000);
            assert_eq!(h.kinds[frames], 'a', "delay {delay}");
            let latency = h.starts[frames] - h.ack_from;
            if waits {
                latest = latest.max(latency as i64 - alone as i64);
                assert!(latency <= alone + 2, "form {index}, delay {delay}: {latency} cycles, alone {alone}");
            } else {
                alone = latency;
            }
        }
    }
    println!("{latest} cycles later at most");
}

/// An ACK at any point of an early header, or poison, and then more packets than there are slots: each has its own.
#[test]
fn an_early_header_frees_no_slot() {
    for poisoned in [false, true] {
        for delay in 18..40 {
            let mut h = tengig(69, false, false);
            four_forms(&mut h);
            for number in 0..20 {
                let mut packet = request(&mut h, 0, 8, 4);
                packet.poisoned = poisoned && number == 0;
                h.push_packet(&packet);
            }
            if !poisoned {
                let ack = h.random_ack();
                h.push_ack(ack);
                h.ack_from = h.bench.cycle + delay;
            }
            // Of the others' payload too the first beat comes when all slots are taken, or when poison has come and they are about to be.
            h.payload_from = h.bench.cycle + if poisoned { delay } else { 300 };
            h.payload_gap = 60..61;
            h.run(8_000);
        }
    }
}

/// A stream of ACKs isn't slower for a packet that waits for payload.
#[test]
fn acks_keep_their_rate_beside_an_early_header() {
    let mut h = tengig(75, false, false);
    four_forms(&mut h);
    let packet = request(&mut h, 1, 64, 4);
    h.push_packet(&packet);
    for _ in 0..30 {
        let ack = h.random_ack();
        h.push_ack(verbena_tb::ack_frame::Ack { index: 0, ..ack });
    }
    h.ack_from = h.bench.cycle + 30;
    h.payload_from = h.bench.cycle + 2_000;
    h.run(4_000);
    let acks: Vec<u64> = h.starts[..30].to_vec();
    assert!(h.kinds[..30].iter().all(|k| *k == 'a'));
    let gaps: Vec<u64> = acks.windows(2).map(|w| w[1] - w[0]).collect();
    println!("an ACK every {gaps:?} cycles");
    assert!(gaps.iter().all(|g| *g <= 18), "{gaps:?}");
}

/// R36: an ACK doesn't pass an early response of its own QP; another QP's does.
#[test]
fn r36_an_ack_stays_behind_an_early_response_of_its_qp() {
    for delay in 8..60 {
        for own in [true, false] {
            let mut h = tengig(76, false, false);
            four_forms(&mut h);
            let packet = Packet {
                index: 2,
                response: true,
                ..h.random_packet(64, false, 1, false)
            };
            h.push_packet(&packet);
            let ack = h.random_ack();
            h.push_ack(verbena_tb::ack_frame::Ack {
                index: if own { 2 } else { 5 },
                ..ack
            });
            h.ack_from = h.bench.cycle + delay;
            h.payload_from = h.bench.cycle + BUILT;
            h.run(3_000);
            assert_eq!(h.kinds, if own { ['p', 'a'] } else { ['a', 'p'] }, "delay {delay}");
        }
    }
}

/// Random packets, good, poisoned and taken back, ACKs and host frames at once, payload and ACKs late by anything.
fn mixed(seed: u64, idle: bool, stall: bool, gap: u64) {
    let mut h = tengig(seed, idle, stall);
    h.random_rows();
    h.payload_gap = 0..gap;
    for round in 0..40 {
        for _ in 0..h.rng.gen_range(1..5) {
            let length = [0, 1, 8, 64, 100, 300][h.rng.gen_range(0..6)];
            let inline = length <= 32 && h.rng.gen_ratio(1, 4);
            let extensions = h.rng.gen_range(0..8);
            let in_band = h.rng.gen_ratio(1, 4);
            let mut packet = h.random_packet(length, inline, extensions, in_band);
            packet.poisoned = packet.from_fifo() && h.rng.gen_ratio(1, 4);
            h.push_packet(&packet);
            if h.rng.gen_ratio(1, 6) {
                h.push_abandoned(5);
            }
        }
        for _ in 0..h.rng.gen_range(0..4) {
            let ack = h.random_ack();
            h.push_ack(ack);
        }
        if round % 3 == 0 {
            h.push_host(80);
        }
        h.ack_from = h.bench.cycle + h.rng.gen_range(0..2 * gap);
        h.payload_from = h.bench.cycle + h.rng.gen_range(0..2 * gap);
        h.run(30_000);
    }
}

#[test]
fn late_payload() {
    for gap in [10, 40, 150] {
        mixed(80 + gap, false, false, gap);
    }
}

#[test]
fn late_payload_idle() {
    for gap in [10, 40, 150] {
        mixed(81 + gap, true, false, gap);
    }
}

#[test]
fn late_payload_stall() {
    for gap in [10, 40, 150] {
        mixed(82 + gap, false, true, gap);
    }
}

#[test]
fn late_payload_idle_stall() {
    for gap in [10, 40, 150] {
        mixed(83 + gap, true, true, gap);
    }
}
