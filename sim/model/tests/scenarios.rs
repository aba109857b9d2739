// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios of CONFORMANCE.md between two golden engines, and R33.

#[path = "scenarios/pair.rs"]
mod pair;

use pair::*;
use verbena_model::golden::qp::State;
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::wire::{Fault, Faults};
use verbena_spec::counters as c;
use verbena_spec::layout::{send_opcode as op, status};

/// WRITE, SEND, READ, ATOMIC, WRITE with immediate, each of several packets where it can be; held to what must come of it.
struct Mixed {
    pair: Pair,
}

impl Mixed {
    fn new() -> Mixed {
        let mut pair = Pair::new(Faults::default());
        for n in 0..2 {
            pair.receive(1, n * 4096, 4096);
        }
        pair.post(0, write(0, 5 * PMTU, 0));
        pair.post(0, SendWqe::new(op::SEND).element(VA + 100, 3 * PMTU as u32, SOURCE));
        pair.post(0, read(0, 4 * PMTU, 0));
        pair.post(0, fetch_add(8192));
        pair.post(0, write(3000, 2 * PMTU + 1, 8000));
        let imm = SendWqe::new(op::WRITE_WITH_IMM).immediate(5);
        pair.post(0, imm.remote(VA + 12000, TARGET).element(VA, 40, SOURCE));
        Mixed { pair }
    }

    fn check(mut self, what: &str) -> Pair {
        let p = &mut self.pair;
        assert!(p.run(), "{what}: no end");
        let done: Vec<_> = p.completions(0).iter().map(|d| (d.wqe_index, d.status)).collect();
        assert_eq!(done, (0..6).map(|n| (n, status::SUCCESS)).collect::<Vec<_>>(), "{what}");
        let received: Vec<_> = p.completions(1).iter().map(|d| (d.wqe_index, d.status, d.byte_length)).collect();
        assert_eq!(received, [(0, 0, 3 * PMTU as u32), (1, 0, 40)], "{what}");
        assert_eq!(p.bytes(1, TARGET, 0, 5 * PMTU), source(0, 5 * PMTU), "{what}");
        assert_eq!(p.bytes(1, TARGET, 8000, 2 * PMTU + 1), source(3000, 2 * PMTU + 1), "{what}");
        assert_eq!(p.bytes(1, TARGET, 12000, 40), source(0, 40), "{what}");
        assert_eq!(p.bytes(1, RECEIVES, 0, 3 * PMTU), source(100, 3 * PMTU), "{what}");
        assert_eq!(p.bytes(0, SINK, 0, 4 * PMTU), source(0, 4 * PMTU), "{what}: READ after WRITE");
        assert_eq!(p.bytes(0, SINK, 8192, 8), [0; 8], "{what}");
        assert_eq!(p.bytes(1, TARGET, ATOMIC, 8), 1u64.to_le_bytes(), "{what}: once");
        self.pair
    }
}

/// Frames each way of [`Mixed`] without faults.
fn frames() -> [u64; 2] {
    let pair = Mixed::new().check("no fault");
    assert_eq!(pair.count(0, c::REWIND), 0);
    [0, 1].map(|n| pair.link.wires[n].statistics().sent)
}

#[test]
fn scenario_3_loss_of_every_packet_and_of_its_repeat() {
    let [there, back] = frames();
    for (direction, count) in [(0, there), (1, back)] {
        for first in 0..count {
            let mut mixed = Mixed::new();
            mixed.pair.link.wires[direction].plan(first, Fault::Lose);
            let pair = mixed.check(&format!("direction {direction}, frame {first}"));
            assert!(pair.count(0, c::REWIND) <= 1);
            // In the replay itself: any later frame too.
            for second in first + 1..count + 6 {
                let mut mixed = Mixed::new();
                mixed.pair.link.wires[direction].plan(first, Fault::Lose);
                mixed.pair.link.wires[direction].plan(second, Fault::Lose);
                let pair = mixed.check(&format!("direction {direction}, frames {first} and {second}"));
                assert!(pair.count(0, c::REWIND) <= 2);
            }
        }
    }
}

#[test]
fn scenario_3_both_ways_at_once() {
    let [there, back] = frames();
    for first in 0..there {
        for second in 0..back {
            let mut mixed = Mixed::new();
            mixed.pair.link.wires[0].plan(first, Fault::Lose);
            mixed.pair.link.wires[1].plan(second, Fault::Lose);
            mixed.check(&format!("request {first}, answer {second}"));
        }
    }
}

#[test]
fn scenario_4_duplicates_reordering_and_delay_of_every_packet() {
    let [there, back] = frames();
    let window = [1, 2, 3, 4, 8, 16].map(Fault::Overtaken);
    // Longer than the ACK timeout as well.
    let delays = [1_000, 20_000, 2 * TIMEOUT_NS].map(Fault::Delay);
    for (direction, count) in [(0, there), (1, back)] {
        for frame in 0..count {
            for fault in window.iter().chain(&delays).chain(&[Fault::Duplicate]) {
                let mut mixed = Mixed::new();
                mixed.pair.link.wires[direction].plan(frame, *fault);
                let pair = mixed.check(&format!("direction {direction}, frame {frame}, {fault:?}"));
                if *fault == Fault::Duplicate {
                    assert_eq!(pair.count(0, c::REWIND), 0, "a copy of frame {frame} makes no retry");
                }
            }
        }
    }
}

#[test]
fn scenario_4_every_bit_of_every_kind_of_frame() {
    let [there, back] = frames();
    let mut bits = 0;
    for (direction, count) in [(0, there), (1, back)] {
        for frame in 0..count {
            // Every seventh bit of the headers, others in each frame, and then every 61st.
            let headers = (frame as usize % 7..90 * 8).step_by(7);
            for bit in headers.chain((90 * 8..400 * 8).step_by(61)) {
                let mut mixed = Mixed::new();
                mixed.pair.link.wires[direction].plan(frame, Fault::Corrupt(bit));
                mixed.check(&format!("direction {direction}, frame {frame}, bit {bit}"));
                bits += 1;
            }
        }
    }
    assert!(bits > 3_000);
}

#[test]
fn scenario_5_an_empty_receive_queue_over_all_rnr_codes() {
    for code in 0..32u8 {
        let mut pair = Pair::new(Faults::default());
        pair.attributes(1, |a| a.rnr_timer = code);
        for n in 0..6 {
            pair.post(0, SendWqe::new(op::SEND).element(VA + n * 1000, 700, SOURCE));
        }
        let wait = verbena_model::golden::send_queue::rnr_timer(code);
        // A receive for every second round.
        for n in 0..6 {
            pair.link.run(pair.link.now + 2 * wait);
            pair.receive(1, n * 1000, 700);
        }
        assert!(pair.run(), "code {code}");
        assert_eq!(pair.completions(0).len(), 6, "code {code}");
        for n in 0..6 {
            assert_eq!(
                pair.bytes(1, RECEIVES, n * 1000, 700),
                source(n as usize * 1000, 700),
                "code {code}"
            );
        }
        let waits = pair.count(0, c::RNR_WAIT);
        assert!((6..=24).contains(&waits), "code {code}: {waits} waits");
        assert_eq!(pair.count(0, c::TIMEOUT), 0, "code {code}: R45");
    }
}

#[test]
fn scenario_6_a_thousand_reads_and_mixed_verbs_with_losses() {
    for loss in [0.0, 0.01, 0.05] {
        let faults = Faults { loss, ..Faults::default() };
        let mut pair = Pair::new(faults);
        pair.fill(1, TARGET, 0, &source(0, 40_000));
        for n in 0..1000u64 {
            let wqe = match n % 8 {
                0..=5 => read(n * 37 % 20_000, 1 + n as usize % 700, n * 13 % 39_000),
                6 => write(n, 50, 41_000 + n),
                _ => fetch_add(30_000),
            };
            while pair.try_post(0, wqe).is_none() {
                pair.link.step();
                assert!(pair.link.now < 1_000_000_000, "loss {loss}, message {n}: nothing moves");
            }
        }
        assert!(pair.run(), "loss {loss}");
        let done = pair.completions(0);
        assert_eq!(done.len(), 1000);
        assert!(done.iter().all(|d| d.status == status::SUCCESS), "loss {loss}");
        assert_eq!(pair.bytes(1, TARGET, ATOMIC, 8), 125u64.to_le_bytes(), "loss {loss}");
        // The last READ that was placed anywhere is whole.
        let n = 997u64;
        let length = 1 + n as usize % 700;
        assert_eq!(
            pair.bytes(0, SINK, n * 37 % 20_000, length),
            source((n * 13 % 39_000) as usize, length),
            "loss {loss}"
        );
    }
}

#[test]
fn r33_a_read_of_8_mib_completes_at_1_percent_loss() {
    let faults = Faults {
        loss: 0.01,
        ..Faults::default()
    };
    let mut pair = Pair::sized(faults, 1024, 8 << 20);
    let data = source(0, 8 << 20);
    pair.fill(1, TARGET, 0, &data);
    pair.post(0, read(0, 8 << 20, 0));
    assert!(pair.run());
    assert_eq!(pair.completions(0)[0].status, status::SUCCESS);
    assert!(pair.bytes(0, SINK, 0, 8 << 20) == data);
    // Each loss costs a retry at most, and a retry doesn't start over.
    let (lost, sent) = (
        pair.link.wires[0].statistics().lost + pair.link.wires[1].statistics().lost,
        pair.link.wires[1].statistics().sent,
    );
    assert!(lost > 50 && u64::from(pair.count(0, c::REWIND)) <= lost, "{lost} lost");
    println!("{sent} responses for {} packets, {lost} frames lost", (8 << 20) / 1024);
}

#[test]
fn scenario_8_a_thousand_lives_beside_traffic_on_another_qp() {
    let faults = Faults {
        loss: 0.01,
        duplicate: 0.01,
        reorder: 0.01,
        ..Faults::default()
    };
    let mut pair = Pair::new(faults);
    let mut other = 0u64;
    for life in 0..1000u32 {
        let qpn = (life % 4095 + 1) << 12 | 9;
        pair.connect(9, qpn, life.wrapping_mul(0x31_4159) & 0xff_ffff);
        pair.post_on(0, qpn, write(u64::from(life), 600, 20_000));
        while pair.try_post(0, write(other % 60_000, 300, other % 1000)).is_some() {
            other += 1;
        }
        if life % 3 == 0 {
            // It is destroyed in the middle of it: what is under way becomes a ghost.
            pair.link.run(pair.link.now + 1_500);
        } else {
            while pair.on(0, qpn).is_empty() {
                let more = pair.link.step();
                assert!(more || !pair.on(0, qpn).is_empty(), "life {life}: nothing moves");
            }
            assert_eq!(pair.on(0, qpn), [(0, status::SUCCESS)], "life {life}");
            assert_eq!(pair.bytes(1, TARGET, 20_000, 600), source(life as usize, 600), "life {life}");
        }
        for side in 0..2 {
            pair.link.sides[side].golden.destroy_qp(qpn);
        }
    }
    assert!(pair.run());
    let done = pair.completions(0);
    assert_eq!(done.len(), other as usize);
    assert!(done.iter().all(|d| d.status == status::SUCCESS));
    assert!(other > 1000, "{other}");
}

#[test]
fn one_side_killed_the_other_reports_and_works_again() {
    let mut pair = Pair::new(Faults::default());
    pair.attributes(0, |a| a.retry_count = 2);
    pair.post(0, write(0, 20 * PMTU, 0));
    pair.post(0, write(0, 4, 0));
    pair.link.run(3_000);
    pair.link.sides[1].golden.destroy_qp(pair.qpns[1]);
    assert!(pair.run());
    let done: Vec<_> = pair.completions(0).iter().map(|d| d.status).collect();
    assert_eq!(done, [status::RETRY_EXCEEDED, status::WR_FLUSH_ERROR]);
    assert_eq!(pair.link.sides[0].golden.qp(pair.qpns[0]).unwrap().state, State::Err);
    let qpn = 0x7000 | 9;
    pair.connect(9, qpn, 5);
    pair.post_on(0, qpn, write(0, 600, 0));
    assert!(pair.run());
    assert_eq!(pair.on(0, qpn), [(0, status::SUCCESS)]);
    assert_eq!(pair.bytes(1, TARGET, 0, 600), source(0, 600));
}

/// Loss of 5 % both ways at a short timer, each way to recover: everything completes, far from its last retry.
#[test]
fn r33_r42_many_long_reads_and_writes_complete_at_5_percent_loss() {
    use verbena_model::golden::reorder::Reorder;
    use verbena_model::wire::Wire;
    for reads in [true, false] {
        for (selective, distance, sizes) in [
            (true, 0, Reorder::TENGIG),
            (true, 32, Reorder::TENGIG),
            (false, 0, Reorder::TENGIG),
            (true, 0, Reorder::NONE),
            (false, 0, Reorder::NONE),
        ] {
            let what = format!("reads {reads}, selective {selective}, distance {distance}, {sizes:?}");
            let faults = Faults {
                loss: 0.05,
                ..Faults::default()
            };
            let mut pair = Pair::sized(faults, 1024, 1 << 16);
            pair.link.wires = [0, 1].map(|n| Wire::new(n, 5_000, faults));
            for side in 0..2 {
                pair.link.sides[side].golden.reorder = sizes;
                pair.attributes(side, |a| {
                    (a.timeout, a.selective_repeat, a.nak_distance) = (3, selective, distance);
                });
            }
            for number in 0..200 {
                let wqe = if reads { read(0, 1 << 16, 0) } else { write(0, 1 << 16, 0) };
                while pair.try_post(0, wqe).is_none() {
                    assert!(pair.link.step(), "{what}: message {number}");
                }
                let bad = pair.completions(0).iter().find(|d| d.status != status::SUCCESS).copied();
                assert_eq!(bad, None, "{what}");
            }
            assert!(pair.run(), "{what}");
            assert_eq!(pair.completions(0).len(), 200, "{what}");
            println!("{what}: {} us", pair.link.now / 1000);
        }
    }
}

/// A bottleneck of half the rate behind the sender: without congestion control its queue overflows, with it marks keep it short.
#[test]
fn r76_marks_and_cnps_spare_the_bottleneck_its_losses() {
    use verbena_model::fabric::{Bottleneck, Fabric};
    use verbena_model::golden::reorder::Reorder;
    let run = |controlled: bool| {
        let mut pair = Pair::sized(Faults::default(), 1024, 1 << 16);
        pair.link.wires[0].set_fabric(Fabric {
            bottleneck: Some(Bottleneck {
                time_per_byte: 1600,
                capacity: 60_000,
                mark_from: 5_000,
                mark_all: 40_000,
            }),
            ..Fabric::default()
        });
        for side in 0..2 {
            let golden = &mut pair.link.sides[side].golden;
            golden.reorder = Reorder::TENGIG;
            (golden.congestion.notify, golden.congestion.react) = (controlled, controlled);
            // ECT(0).
            pair.attributes(side, |a| a.traffic_class = 2);
        }
        for number in 0..400 {
            while pair.try_post(0, write(0, 1 << 16, 0)).is_none() {
                assert!(pair.link.step(), "message {number}");
            }
        }
        assert!(pair.run());
        let done = pair.completions(0);
        // Without control one packet may find the queue full eight times.
        let good = done.iter().filter(|d| d.status == status::SUCCESS).count();
        assert!(good == 400 || !controlled, "{good}");
        let wire = pair.link.wires[0].statistics();
        let cnps = pair.count(1, c::TX_CNP);
        assert_eq!(cnps, pair.count(0, c::CNP));
        println!(
            "control {controlled}: {} us, {} of {} lost, {} marked, {cnps} CNPs",
            pair.link.now / 1000,
            wire.lost,
            wire.sent,
            wire.marked
        );
        (pair.link.now, wire)
    };
    let (_, without) = run(false);
    let (time, with) = run(true);
    assert!(without.lost > 1000, "{without:?}");
    assert!(with.lost * 50 < without.lost && with.marked > 100, "{with:?}");
    // 26 MB at 5 Gb/s take 45 ms.
    assert!(time < 60_000_000, "{time} ns");
}

/// Spraying over paths of different delay: everything arrives, nothing is sent again where the gap is given the time.
#[test]
fn r42_spraying_over_four_paths_sends_nothing_again() {
    use verbena_model::fabric::Fabric;
    use verbena_model::golden::reorder::Reorder;
    for (distance, again) in [(32, false), (0, true)] {
        let mut pair = Pair::sized(Faults::default(), 1024, 1 << 16);
        for side in 0..2 {
            pair.link.sides[side].golden.reorder = Reorder::TENGIG;
            pair.link.wires[side].set_fabric(Fabric {
                paths: vec![0, 4_000, 9_000, 20_000],
                ..Fabric::default()
            });
            pair.attributes(side, |a| (a.selective_repeat, a.nak_distance) = (true, distance));
        }
        for _ in 0..30 {
            while pair.try_post(0, write(0, 1 << 16, 0)).is_none() {
                assert!(pair.link.step());
            }
        }
        assert!(pair.run());
        assert_eq!(pair.completions(0).len(), 30);
        let resent = pair.count(0, c::SELECTIVE_RESEND) + pair.count(0, c::REWIND);
        assert_eq!(resent > 0, again, "distance {distance}: {resent}");
        println!(
            "distance {distance}: {resent} sent again, {} held, {} us",
            pair.count(1, c::REORDER_HELD),
            pair.link.now / 1000
        );
    }
}
