// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scenarios 3 to 6 of the conformance rules over the host library: on golden engines and on the Verilated engine, with the same memory at the end.
//! 7 and 8 are in `lives.rs`.

use crate::common::wired::{pattern, Wired, Wish, PMTU, RECEIVE, SINK, SOURCE, TARGET};
use verbena_model::wire::{Fault, Faults};
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::world::{GoldenPair, Network};
use verbena_spec::counters as c;
use verbena_spec::registers::TICK;
use verbena_verbs::{Bus, CompletionStatus, Verb};

/// ns, each way.
const WIRE: u64 = 500;

fn golden() -> Wired<GoldenPair> {
    Wired::new(GoldenPair::new(1, WIRE, Faults::default()).unwrap())
}

fn engines() -> Wired<Pair> {
    let mut options = HcaOptions::new("tengig");
    options.memory.latency = 40;
    let clock = 156_250;
    Wired::new(Pair::new(&options, &WireOptions::from_ns(WIRE, Faults::default(), clock)).unwrap())
}

/// The same last work on a bad wire, whatever came before: the two kinds of machine must then hold the same bytes.
fn end<N: Network>(mut wired: Wired<N>, qps: [verbena_verbs::Qp; 2]) -> [Vec<u8>; 2] {
    for n in 0..2 {
        wired.fill(n, 0, &pattern(4 * crate::common::wired::AREA as usize, 99 + n as u64));
    }
    wired.restart_rounds(1000);
    wired.network.set_faults(Faults {
        loss: 0.03,
        duplicate: 0.02,
        reorder: 0.02,
        ..Faults::default()
    });
    for n in 0..4 {
        wired.round(qps, &format!("at the end, {n}"));
    }
    wired.network.set_faults(Faults::default());
    wired.settle();
    wired.memories()
}

fn same(golden: [Vec<u8>; 2], engine: [Vec<u8>; 2]) {
    for n in 0..2 {
        let differs = golden[n].iter().zip(&engine[n]).position(|(a, b)| a != b);
        assert_eq!(differs, None, "memory of side {n}: the engine's isn't the golden model's");
    }
}

/// Each frame of a round lost, each way; and, in the replay, another one. The last frames are the ACKs; all messages are posted at once, so the next WQE is always queued.
fn losses<N: Network>(mut wired: Wired<N>) -> [Vec<u8>; 2] {
    let qps = wired.connect(&Wish::default());
    let frames = wired.frames(qps);
    let mut retries = 0;
    for (direction, count) in frames.into_iter().enumerate() {
        for first in 0..count {
            for second in [None, Some(first + 1 + (first * 7 + 3) % 9)] {
                let what = format!("direction {direction}, frames {first} and {second:?}");
                let before = wired.counter(0, c::REWIND);
                wired.network.plan(direction, first, Fault::Lose);
                if let Some(second) = second {
                    wired.network.plan(direction, second, Fault::Lose);
                }
                wired.round(qps, &what);
                wired.settle();
                let more = wired.counter(0, c::REWIND) - before;
                assert!(more <= 1 + second.is_some() as u32, "{what}: {more} retries");
                retries += more;
            }
        }
    }
    assert!(retries > 20, "{retries}");
    end(wired, qps)
}

#[test]
fn scenario_3_loss_of_every_packet_and_in_its_replay() {
    same(losses(golden()), losses(engines()));
}

/// Each frame doubled, overtaken, late (by more than the ACK timeout, too), or broken in each of its headers and its payload.
fn faults<N: Network>(mut wired: Wired<N>) -> [Vec<u8>; 2] {
    let wish = Wish::default();
    let qps = wired.connect(&wish);
    let frames = wired.frames(qps);
    let kinds = [
        Fault::Overtaken(1),
        Fault::Overtaken(2),
        Fault::Delay(3_000),
        Fault::Overtaken(4),
        Fault::Overtaken(16),
        Fault::Delay(2 * (4096 << wish.timeout)),
    ];
    // A bit in Ethernet's, IP's and UDP's headers, in the BTH's opcode, QPN, AckReq and PSN, in what follows, and in the payload.
    let bits = [
        100,
        14 * 8 + 77,
        36 * 8 + 5,
        42 * 8 + 3,
        47 * 8 + 7,
        50 * 8,
        53 * 8 + 1,
        56 * 8 + 9,
        1201,
    ];
    for (direction, count) in frames.into_iter().enumerate() {
        for frame in 0..count {
            let n = frame as usize + direction;
            let chosen = [
                Fault::Duplicate,
                kinds[n % kinds.len()],
                kinds[(n + 3) % kinds.len()],
                Fault::Corrupt(bits[n % bits.len()]),
                Fault::Corrupt(bits[(n * 2 + 5) % bits.len()]),
            ];
            for fault in chosen {
                let what = format!("direction {direction}, frame {frame}, {fault:?}");
                let before = wired.counter(0, c::REWIND);
                wired.network.plan(direction, frame, fault);
                wired.round(qps, &what);
                wired.settle();
                if fault == Fault::Duplicate {
                    assert_eq!(wired.counter(0, c::REWIND), before, "{what}: a copy makes no retry");
                }
            }
        }
    }
    end(wired, qps)
}

#[test]
fn scenario_4_duplicates_reordering_delay_and_corruption_of_every_packet() {
    same(faults(golden()), faults(engines()));
}

/// A sender that is always ahead of the receives. `codes` of the RNR timer, ns a unit of time shrunk to `clocks` cycles of 640.
fn empty_queue<N: Network>(mut wired: Wired<N>, clocks: u32) -> [Vec<u8>; 2] {
    if clocks < 640 {
        for n in 0..2 {
            wired.network.device(n).platform().write(TICK, clocks << 8).unwrap();
        }
    }
    let mut last = None;
    // To 3.84 ms: the longest ones, to 655 ms, take minutes here. `r43_…` holds the station to all 32.
    for code in 1..=17u8 {
        let wait = verbena_model::golden::send_queue::rnr_timer(code) * u64::from(clocks) / 640;
        let wish = Wish {
            rnr_timer: code,
            // Far longer than the wait, in the same unit.
            timeout: 14,
            ..Wish::default()
        };
        let qps = wired.connect(&wish);
        let before = [c::RNR_WAIT, c::TIMEOUT].map(|code| wired.counter(0, code));
        let source = pattern(3000, code.into());
        wired.fill(0, SOURCE, &source);
        for n in 0..3u64 {
            wired.post(0, qps[0], n, Verb::Send, SOURCE + n * 1000, 700);
        }
        for n in 0..3 {
            // The message has been refused by then, and waits.
            wired.network.run(wait / 2 + 4_000).unwrap();
            wired.receive(1, qps[1], n, RECEIVE + n * 1000, 700);
            wired.wait_for([n as usize + 1; 2], 3 * wait + 100_000, &format!("code {code}, message {n}"));
        }
        for n in 0..2 {
            let ids: Vec<_> = wired.done[n].drain(..).map(|d| (d.wr_id, d.status)).collect();
            assert_eq!(ids, [0, 1, 2].map(|id| (id, CompletionStatus::Success)), "code {code}");
        }
        for n in 0..3usize {
            let there = wired.bytes(1, RECEIVE + n as u64 * 1000, 700);
            assert!(there == source[n * 1000..][..700], "code {code}, message {n}");
        }
        let after = [c::RNR_WAIT, c::TIMEOUT].map(|code| wired.counter(0, code));
        let waits = after[0] - before[0];
        assert!((3..=9).contains(&waits), "code {code}: {waits} waits");
        assert_eq!(after[1], before[1], "code {code}: R45");
        if let Some(qps) = last.replace(qps) {
            wired.destroy(qps);
        }
    }
    wired.settle();
    wired.memories()
}

#[test]
fn scenario_5_an_empty_receive_queue_over_the_rnr_codes() {
    same(empty_queue(golden(), 640), empty_queue(engines(), 64));
}

/// A thousand messages in sequence, three in four of them READs, with WRITEs, SENDs and ATOMICs between.
fn sequence<N: Network>(mut wired: Wired<N>, loss: f64) -> [Vec<u8>; 2] {
    const MESSAGES: u64 = 1000;
    wired.network.set_faults(Faults { loss, ..Faults::default() });
    let qps = wired.connect(&Wish::default());
    wired.fill(0, SOURCE, &pattern(4096, 1));
    wired.fill(1, TARGET, &pattern(8192, 2));
    let (mut posted, mut receives) = (0, 0);
    let far = |w: &Wired<N>, at: u64| w.remote(1, TARGET + at);
    let (mut finished, mut received) = (0, 0);
    let mut at = wired.network.now();
    while finished < MESSAGES {
        while receives < MESSAGES / 16 + 2 && receives < received + 8 {
            wired.receive(1, qps[1], receives, RECEIVE + receives % 8 * 256, 256);
            receives += 1;
        }
        while posted < MESSAGES && posted < finished + 16 {
            let n = posted;
            let length = 1 + (n as usize * 37) % (2 * PMTU + 9);
            let (verb, own, length) = match n % 16 {
                3 => (Verb::Write(far(&wired, 8192 + n % 2000)), SOURCE + n, 50),
                7 => (Verb::Send, SOURCE + n, 200),
                11 => {
                    let remote = far(&wired, 12 * 1024 + n % 4 * 8);
                    (Verb::FetchAdd { remote, add: n }, SINK + 8192 + n % 64 * 8, 8)
                }
                15 => (
                    Verb::CompareSwap {
                        remote: far(&wired, 12 * 1024),
                        compare: 0,
                        swap: n,
                    },
                    (SINK + 9000) & !7,
                    8,
                ),
                _ => (Verb::Read(far(&wired, n * 13 % 7000)), SINK + n * 29 % 7000, length),
            };
            wired.post(0, qps[0], n, verb, own, length);
            posted += 1;
        }
        wired.network.run(500).unwrap();
        wired.poll();
        for done in std::mem::take(&mut wired.done[0]) {
            assert_eq!((done.wr_id, done.status), (finished, CompletionStatus::Success), "loss {loss}");
            finished += 1;
            at = wired.network.now();
        }
        for done in std::mem::take(&mut wired.done[1]) {
            assert_eq!((done.wr_id, done.status), (received, CompletionStatus::Success), "loss {loss}");
            received += 1;
        }
        let waited = wired.network.now() - at;
        assert!(
            waited < 10_000_000,
            "loss {loss}: nothing after {finished}; {:?}",
            wired.counters(0)
        );
    }
    wired.network.set_faults(Faults::default());
    wired.settle();
    wired.memories()
}

#[test]
fn scenario_6_a_thousand_reads_and_other_verbs_in_sequence() {
    let good = sequence(engines(), 0.0);
    same(sequence(golden(), 0.0), good.clone());
    // What the wire loses changes nothing in the end.
    same(good, sequence(engines(), 0.02));
}
