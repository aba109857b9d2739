// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers and retries: the timer block alone, by its codes; then what the station makes of a timer that has run out.

use super::golden::{Out, Setup, Timer};
use super::harness::{acknowledge, data, Rig, BRISK, LAZY, SETUP};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use verbena_hdl::requester::{TimerOperation, Timers};
use verbena_spec::{counters, layout::send_opcode::*, layout::status};
use verbena_tb::{ports, step::Bench};

/// R43: the table of IBTA volume 1, 9.7.5.2.8, in units of 10 us.
const RNR_TABLE: [u64; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
    16384, 24576, 32768, 49152,
];

type Block = Timers<5, 6, 7>;

/// Clocks of 4.096 us, and of 1.024 us.
const TICK: u64 = 8;
const QUARTER: u64 = TICK / 4;

fn block(coarse: bool) -> Bench<Block> {
    let mut bench = Bench::verilated(
        Box::new(Block::new(coarse)),
        "timers",
        ports!(in reset, tick, table_valid, table_index, table_code, arm_valid, arm_index, set_valid, set_index, set_operation, set_code, expired_ready; out ready, table_ready, arm_ready, set_ready, expired_valid, expired_index, expired_rnr),
    );
    bench.uut.tick.next = (TICK << 8).to_bits();
    bench.uut.reset.next = true;
    bench.step();
    bench.step();
    bench.uut.reset.next = false;
    bench.settle();
    while !bench.uut.ready.val() {
        bench.step();
        bench.settle();
    }
    bench
}

fn keep_code(bench: &mut Bench<Block>, index: u64, code: u64) {
    bench.uut.table_index.next = index.to_bits();
    bench.uut.table_code.next = code.to_bits();
    bench.uut.table_valid.next = true;
    bench.settle();
    while !bench.uut.table_ready.val() {
        bench.step();
        bench.settle();
    }
    bench.step();
    bench.uut.table_valid.next = false;
}

fn set(bench: &mut Bench<Block>, index: u64, operation: TimerOperation, code: u64) {
    bench.uut.set_index.next = index.to_bits();
    bench.uut.set_operation.next = operation;
    bench.uut.set_code.next = code.to_bits();
    bench.uut.set_valid.next = true;
    bench.settle();
    while !bench.uut.set_ready.val() {
        bench.step();
        bench.settle();
    }
    bench.step();
    bench.uut.set_valid.next = false;
}

/// When each timer fires, up to a cycle; and whether it said RNR.
fn watch(bench: &mut Bench<Block>, until: u64) -> Vec<Option<(u64, bool)>> {
    let mut fired = vec![None; 32];
    bench.uut.expired_ready.next = true;
    while bench.cycle < until {
        bench.settle();
        if bench.uut.expired_valid.val() {
            let index = bench.uut.expired_index.val().to_u64() as usize;
            assert_eq!(fired[index], None, "timer {index} fires twice");
            fired[index] = Some((bench.cycle, bench.uut.expired_rnr.val()));
        }
        bench.edge();
    }
    fired
}

/// A round of the scan, 32 timers, the worst, and a few cycles to begin.
const ROUND: u64 = 32 * 7 + 20;

/// The short codes run with long ticks, so that the scan's round is short beside them.
#[test]
fn r43_all_codes() {
    let short: Vec<u64> = (1..16).collect();
    let long: Vec<u64> = (16..32).chain([0]).collect();
    for (codes, tick) in [(short, 64 * TICK), (long, TICK)] {
        let quarter = (tick / 4) as f64;
        let mut bench = block(false);
        bench.uut.tick.next = (tick << 8).to_bits();
        bench.step();
        let mut start = [0; 32];
        for code in &codes {
            set(&mut bench, *code, TimerOperation::Rnr, *code);
            start[*code as usize] = bench.cycle;
        }
        // 10 us are 9.765625 quarter ticks.
        let due = |code: u64| RNR_TABLE[code as usize] as f64 * 9.765625 * quarter;
        let end = bench.cycle + (due(*codes.last().unwrap()) * 1.15) as u64 + 2 * ROUND;
        let fired = watch(&mut bench, end);
        for code in codes {
            let (at, rnr) = fired[code as usize].unwrap_or_else(|| panic!("code {code} never fires"));
            let took = (at - start[code as usize]) as f64;
            println!("RNR code {code}: {:.3} of its time", took / due(code));
            // Never too short by more than the setting of it takes.
            assert!(
                rnr && took + 12.0 >= due(code) && took <= 1.14 * due(code) + 2.0 * ROUND as f64,
                "code {code}: {took} for {}",
                due(code)
            );
        }
        assert_eq!(fired.iter().flatten().count(), if tick == TICK { 17 } else { 15 });
    }
}

/// ACK timeouts: 4.096 us · 2^n. The long codes run with time in steps of 2^19.
#[test]
fn r47_all_codes() {
    for (coarse, tick, from, to) in [(false, TICK, 0, 17), (true, 64 * TICK, 18, 24), (true, TICK, 25, 31)] {
        let quarter = tick / 4;
        let mut bench = block(coarse);
        bench.uut.tick.next = (tick << 8).to_bits();
        bench.step();
        let mut start = vec![0; 32];
        for code in from..=to {
            keep_code(&mut bench, code, code);
        }
        for code in from..=to {
            set(&mut bench, code, TimerOperation::Ack, 0);
            start[code as usize] = bench.cycle;
        }
        let clocks = |code: u64| {
            let quarters = 4u64 << code;
            if coarse {
                (quarters >> 19) * quarter
            } else {
                quarters * quarter
            }
        };
        let end = bench.cycle + clocks(to) * 12 / 10;
        let fired = watch(&mut bench, end);
        for code in 0..32u64 {
            let fires = fired[code as usize];
            if code < from.max(1) || code > to {
                // Code 0 is off.
                assert_eq!(fires, None, "code {code}");
                continue;
            }
            let (at, rnr) = fires.unwrap_or_else(|| panic!("code {code} never fires"));
            let (due, took) = (clocks(code), at - start[code as usize]);
            println!("ACK code {code}: {:.3} of its time", took as f64 / due as f64);
            assert!(
                !rnr && took + 12 + quarter * coarse as u64 >= due && took <= due * 9 / 8 + quarter + ROUND,
                "code {code}: {took} for {due}"
            );
            // R47, and the aim of 1.3 T, where a round of the scan is short beside it.
            assert!(due < 2 * ROUND || took <= due * 4, "code {code}");
            assert!(due < 10 * ROUND || took * 10 <= due * 13, "code {code}");
        }
    }
}

/// The tick is 24.8 fixed point: 10.5 clocks are not 10.
#[test]
fn r47_ticks_are_fractions_of_clocks() {
    let mut bench = block(false);
    bench.uut.tick.next = (10 * 256 + 128u64).to_bits();
    keep_code(&mut bench, 3, 13);
    set(&mut bench, 3, TimerOperation::Ack, 0);
    let start = bench.cycle;
    let end = start + 100_000 + 20_000;
    let (at, _) = watch(&mut bench, end)[3].expect("fires");
    let took = (at - start) as f64;
    let due = 8192.0 * 10.5;
    assert!(took >= due && took <= due * 1.126 + ROUND as f64, "{took} for {due}");
}

#[test]
fn r45_arming_disturbs_no_timer_that_runs() {
    let mut bench = block(false);
    keep_code(&mut bench, 1, 4);
    keep_code(&mut bench, 2, 4);
    set(&mut bench, 1, TimerOperation::Rnr, 16);
    let start = bench.cycle;
    for n in 0..2000u64 {
        bench.uut.arm_index.next = (1 + n % 2).to_bits();
        bench.uut.arm_valid.next = true;
        bench.settle();
        while !bench.uut.arm_ready.val() {
            assert!(!bench.uut.expired_valid.val() || bench.uut.expired_index.val().to_u64() == 2);
            bench.step();
            bench.settle();
        }
        bench.step();
        if bench.cycle - start > 4000 {
            break;
        }
    }
    bench.uut.arm_valid.next = false;
    // 2.56 ms are 2,500 quarter ticks.
    let end = bench.cycle + 2500 * QUARTER * 2;
    let fired = watch(&mut bench, end);
    let (at, rnr) = fired[1].expect("fires");
    assert!(rnr && at - start >= 5000 && at - start < 6000);
    assert!(fired[2].is_some_and(|(_, rnr)| !rnr));
}

/// Codes and arms come as fast as they are taken, each timer's arm after its code, with other timers set in between: each fires, once.
#[test]
fn r45_r47_every_code_and_every_arm_that_is_taken_counts() {
    let mut bench = block(false);
    let order: Vec<u64> = (0..30).map(|n| n * 7 % 30).collect();
    let (mut codes, mut arms, mut sets) = (0, 0, 0);
    while arms < order.len() {
        // Timers 30 and 31 are nobody else's.
        bench.uut.set_index.next = (30 + sets % 2).to_bits();
        bench.uut.set_operation.next = TimerOperation::Off;
        bench.uut.set_valid.next = bench.cycle % 40 < 2;
        bench.uut.table_valid.next = codes < order.len();
        bench.uut.table_index.next = order.get(codes).copied().unwrap_or(31).to_bits();
        bench.uut.table_code.next = 4u64.to_bits();
        bench.uut.arm_valid.next = arms < codes;
        bench.uut.arm_index.next = order[arms].to_bits();
        bench.settle();
        sets += (bench.uut.set_valid.val() && bench.uut.set_ready.val()) as u64;
        let coded = bench.uut.table_valid.val() && bench.uut.table_ready.val();
        let armed = bench.uut.arm_valid.val() && bench.uut.arm_ready.val();
        bench.step();
        codes += coded as usize;
        arms += armed as usize;
        assert!(bench.cycle < 10_000, "{codes} codes and {arms} arms are taken");
    }
    bench.uut.arm_valid.next = false;
    bench.uut.set_valid.next = false;
    let end = bench.cycle + 64 * QUARTER * 2 + 4 * ROUND;
    let fired = watch(&mut bench, end);
    let silent: Vec<usize> = (0..30).filter(|n| fired[*n].is_none()).collect();
    assert!(sets > 5 && silent.is_empty(), "after {sets} sets timers {silent:?} never fire");
}

/// Timers begin and end in any order: each fires in its time, so the scan's round, which ends behind the last that runs, leaves none out.
#[test]
fn r47_the_scan_reaches_every_timer_that_runs() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut bench = block(false);
    for index in 0..32 {
        keep_code(&mut bench, index, 5);
    }
    bench.uut.expired_ready.next = true;
    let time = 32 * 4 * QUARTER;
    let mut running: [Option<u64>; 32] = [None; 32];
    let mut fired = 0;
    let mut next = bench.cycle;
    while fired < 400 {
        // For a while few run, the lowest or any; then many.
        let phase = bench.cycle / 5000 % 3;
        if bench.cycle >= next && !bench.uut.set_valid.val() && !bench.uut.arm_valid.val() {
            let index = if phase == 0 { rng.gen_range(0..4) } else { rng.gen_range(0..32u64) };
            let operation = [TimerOperation::Ack, TimerOperation::Ack, TimerOperation::Off][rng.gen_range(0..3)];
            bench.uut.set_index.next = index.to_bits();
            bench.uut.set_operation.next = operation;
            bench.uut.arm_index.next = index.to_bits();
            // An `arm` is done up to 40 cycles later: not where the timer may run out meanwhile.
            let far = running[index as usize].is_none_or(|began| bench.cycle - began < time - 100);
            let arms = operation == TimerOperation::Ack && far && rng.gen();
            bench.uut.arm_valid.next = arms;
            bench.uut.set_valid.next = !arms;
            next = bench.cycle
                + if phase == 1 {
                    rng.gen_range(200..600)
                } else {
                    rng.gen_range(20..60)
                };
        }
        bench.settle();
        if bench.uut.expired_valid.val() {
            let index = bench.uut.expired_index.val().to_u64() as usize;
            let began = running[index]
                .take()
                .unwrap_or_else(|| panic!("timer {index} doesn't run at {}", bench.cycle));
            assert!(bench.cycle - began >= time, "timer {index} fires after {}", bench.cycle - began);
            fired += 1;
        }
        let taken = (bench.uut.set_valid.val() && bench.uut.set_ready.val()) || (bench.uut.arm_valid.val() && bench.uut.arm_ready.val());
        if taken {
            let index = bench.uut.set_index.val().to_u64() as usize;
            match (bench.uut.arm_valid.val(), bench.uut.set_operation.val()) {
                (true, _) => running[index] = running[index].or(Some(bench.cycle)),
                (false, TimerOperation::Off) => running[index] = None,
                _ => running[index] = Some(bench.cycle),
            }
        }
        let late = running
            .iter()
            .position(|began| began.is_some_and(|began| bench.cycle > began + time * 9 / 8 + 2 * ROUND));
        assert_eq!(late, None, "at {}: {running:?}", bench.cycle);
        bench.edge();
        if taken {
            bench.uut.set_valid.next = false;
            bench.uut.arm_valid.next = false;
        }
    }
}

/// Where one timer of 32 runs, a round takes as long as the timers up to it.
#[test]
fn r47_idle_timers_behind_the_last_cost_nothing() {
    for index in [0, 3, 31] {
        let mut bench = block(false);
        keep_code(&mut bench, index, 5);
        // Some run before it, and end.
        for other in 0..32 {
            set(&mut bench, other, TimerOperation::Now, 0);
        }
        let end = bench.cycle + 4 * ROUND;
        assert!(watch(&mut bench, end).iter().all(Option::is_some));
        set(&mut bench, index, TimerOperation::Ack, 0);
        let (start, end) = (bench.cycle, bench.cycle + 2000);
        let (at, _) = watch(&mut bench, end)[index as usize].expect("fires");
        let latest = 32 * 4 * QUARTER * 9 / 8 + 4 * index + 20;
        assert!(at - start <= latest, "timer {index}: {} cycles of {latest}", at - start);
    }
}

fn rig() -> Rig<64> {
    let mut rig = Rig::new(1, BRISK);
    rig.connect(1, SETUP, 100);
    rig
}

/// One code in the whole station, in cycles: code 4 is 65.536 us, 16 ticks of 8 clocks here.
#[test]
fn r47_the_station_retries_in_time() {
    let mut rig = rig();
    rig.fast = true;
    rig.steps(1100);
    rig.send(1, SEND, 600);
    rig.arm(1);
    let cycles = rig.expire(1);
    println!("{cycles} cycles for 128");
    assert!((128 - 20..128 * 4).contains(&cycles));
    // Nothing outstanding: no timer.
    rig.ack(1, 102);
    assert_eq!(rig.lives[1].golden.timer, Timer::Off);
    rig.expire(1);
}

#[test]
fn r43_the_station_waits_in_time() {
    // Code 12, 0.64 ms: 625 quarter ticks of 2 clocks.
    let mut rig = rig();
    rig.fast = true;
    rig.steps(1100);
    rig.send(1, SEND, 600);
    rig.respond(1, acknowledge(100, 0x20 | 12));
    let cycles = rig.expire(1);
    println!("{cycles} cycles for 1250");
    assert!((1250 - 20..1250 * 115 / 100 + 100).contains(&cycles));
}

#[test]
fn r47_code_0_is_off() {
    let mut rig = Rig::<64>::new(1, BRISK);
    rig.connect(1, Setup { timeout: 0, ..SETUP }, 100);
    rig.send(1, SEND, 600);
    rig.arm(1);
    rig.expire(1);
    rig.ack(1, 100);
    rig.expire(1);
}

#[test]
fn r48_retries_without_progress_are_counted() {
    for retry_count in [0, 1, 3, 7] {
        let mut rig = Rig::<64>::new(1, LAZY);
        rig.connect(1, Setup { retry_count, ..SETUP }, 100);
        rig.post(1, SEND, 600, false, &[]);
        rig.begin(1, 3);
        rig.send(1, SEND, 10);
        rig.arm(1);
        for _ in 0..retry_count {
            rig.expire(1);
            assert!(!rig.lives[1].golden.dead);
        }
        if retry_count > 0 {
            // Progress: all of them again.
            rig.ack(1, 101);
            for _ in 0..retry_count {
                rig.expire(1);
            }
        }
        rig.expire(1);
        assert!(rig.lives[1].golden.dead);
        // R65: the rest is flushed.
        rig.bury(1);
        assert_eq!(rig.lives[1].golden.wqe, 2);
    }
}

/// Soft-RoCE follows each RNR NAK with a sequence NAK, which may come when the wait is over: it costs no retry.
#[test]
fn r48_sequence_naks_cost_no_retry() {
    let mut rig = Rig::<64>::new(1, BRISK);
    rig.connect(
        1,
        Setup {
            retry_count: 1,
            rnr_retry: 7,
            ..SETUP
        },
        100,
    );
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    for _ in 0..10 {
        rig.respond(1, acknowledge(100, 0x21));
        rig.expire(1);
        let (out, _) = rig.respond(1, acknowledge(100, 0x60));
        assert!(matches!(out[0], Out::Rewind { psn: 100, hold: false, .. }), "{out:?}");
    }
    rig.ack(1, 101);
}

/// A NAK without progress doesn't start the timer anew: a peer that NAKs for ever ends.
#[test]
fn r48_a_nak_without_progress_leaves_the_timer() {
    let mut rig = Rig::<64>::new(1, BRISK);
    rig.connect(1, Setup { timeout: 8, ..SETUP }, 100);
    rig.fast = true;
    rig.steps(1100);
    rig.send(1, SEND, 600);
    rig.arm(1);
    rig.steps(1000);
    rig.respond(1, acknowledge(100, 0x60));
    let cycles = rig.expire(1);
    println!("{cycles} cycles after the NAK, 1000 before, for 2048");
    assert!(cycles < 1900, "{cycles}");
}

#[test]
fn r44_rnr_retries_have_a_count_of_their_own() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    rig.arm(1);
    // Three transport retries, two RNR retries, in turn: each at its limit.
    for _ in 0..2 {
        rig.expire(1);
        rig.respond(1, acknowledge(100, 0x21));
        rig.expire(1);
    }
    rig.expire(1);
    assert!(!rig.lives[1].golden.dead);
    // Progress restarts both.
    rig.ack(1, 100);
    rig.respond(1, acknowledge(101, 0x21));
    rig.expire(1);
    rig.respond(1, acknowledge(101, 0x21));
    rig.expire(1);
    rig.expire(1);
    let (out, _) = rig.respond(1, acknowledge(101, 0x21));
    assert!(matches!(
        out[0],
        Out::Entry {
            status: status::RNR_RETRY_EXCEEDED,
            ..
        }
    ));
    rig.bury(1);
}

#[test]
fn r44_seven_is_for_ever() {
    let mut rig = Rig::<64>::new(1, BRISK);
    rig.connect(1, Setup { rnr_retry: 7, ..SETUP }, 100);
    rig.send(1, SEND, 10);
    for _ in 0..20 {
        rig.respond(1, acknowledge(100, 0x21));
        rig.expire(1);
    }
    rig.ack(1, 100);
}

/// While the wait runs, no ACK timer does; an RNR NAK of the replay begins another.
#[test]
fn r45_no_ack_timer_while_an_rnr_wait_runs() {
    let mut rig = rig();
    rig.send(1, SEND, 600);
    rig.arm(1);
    let (out, _) = rig.respond(1, acknowledge(101, 0x20 | 14));
    let rewind = Out::Rewind {
        psn: 101,
        wqe: 0,
        offset: 256,
        hold: true,
        alone: false,
    };
    assert!(out.contains(&rewind) && out.contains(&Out::Count(counters::RNR_WAIT)) && !out.contains(&Out::Wake));
    rig.arm(1);
    rig.arm(1);
    // The ACK timer, at 128 cycles, would come first.
    let cycles = rig.expire(1);
    assert!(cycles > 2400, "{cycles}");
    rig.arm(1);
    rig.respond(1, acknowledge(101, 0x20 | 14));
    let cycles = rig.expire(1);
    assert!(cycles > 2400, "{cycles}");
    // Then the ACK timer runs.
    rig.arm(1);
    assert!(rig.expire(1) < 1500);
    rig.ack(1, 102);
}

#[test]
fn r46_a_sequence_nak_after_an_rnr_nak_is_accepted() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    rig.respond(1, acknowledge(100, 0x20 | 12));
    let (out, _) = rig.respond(1, acknowledge(100, 0x60));
    assert_eq!(out, [Out::Done(counters::RESPONSE, false)]);
    assert!(rig.expire(1) > 1200);
    rig.ack(1, 101);
}

/// An ACK while the wait runs (the refused packet's second copy was taken) ends it.
#[test]
fn r44_progress_ends_an_rnr_wait() {
    let mut rig = rig();
    rig.send(1, SEND, 10);
    rig.send(1, SEND, 10);
    rig.respond(1, acknowledge(100, 0x20 | 14));
    let (out, _) = rig.ack(1, 100);
    assert!(out.contains(&Out::Wake));
    assert!(rig.expire(1) < 1500);
}

/// An RNR NAK that says that READ responses are missing is first of all that.
#[test]
fn r34_an_rnr_nak_beyond_missing_responses() {
    let mut rig = rig();
    rig.send(1, READ, 600);
    rig.send(1, SEND, 10);
    let (out, _) = rig.respond(1, acknowledge(103, 0x25));
    assert!(matches!(out[1], Out::Rewind { psn: 100, hold: false, .. }), "{out:?}");
    for (opcode, psn, length) in [(0x0d, 100, 256), (0x0e, 101, 256), (0x0f, 102, 88)] {
        rig.respond(1, data(opcode, psn, length));
    }
    rig.respond(1, acknowledge(103, 0x25));
    rig.expire(1);
    rig.ack(1, 103);
}

/// A QP that has failed is reported even while control takes nothing, and then others go on.
#[test]
fn r68_control_may_be_late_with_errors() {
    let mut rig = Rig::<64>::new(9, BRISK);
    for index in 0..4 {
        rig.connect(index, SETUP, 100);
        rig.send(index, SEND, 10);
    }
    rig.take_errors = false;
    for index in 0..3 {
        rig.respond(index, acknowledge(100, 0x61));
    }
    for _ in 0..20 {
        rig.ack(3, 99);
    }
    rig.ack(3, 100);
    // The state changes of others get through, too.
    rig.change(3, verbena_spec::layout::state::ERR);
    rig.take_errors = true;
    rig.steps(2000);
    let mut all: Vec<usize> = rig.errors.drain(..).collect();
    all.sort();
    assert_eq!(all, [0, 1, 2]);
}
