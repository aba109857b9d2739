// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::Retire` against a plain model, in its three forms, idle and stalled.

mod diff;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use verbena_hdl::host::{CompletionJob, EventJob};
use verbena_hdl::responder::{Retire, RetireEntry};
use verbena_hdl::tx::AckJob;
use verbena_spec::config::Config;
use verbena_spec::layout::{completion_opcode, cqe, event_type, status, CQE_BYTES};
use verbena_tb::{ports, step::Bench};

/// What an entry must cause, once each.
#[derive(Clone, Debug, PartialEq)]
struct Effects {
    ack: Option<AckJob>,
    completion: Option<CompletionJob>,
    event: Option<EventJob>,
    serve: Option<u64>,
    qp_error: Option<u64>,
}

fn word(value: u32) -> Bits<32> {
    (value as u64).to_bits()
}

/// What a preset sees of an entry: its own QPs, and no UD fields without UD.
fn seen(e: &RetireEntry, config: &Config) -> RetireEntry {
    let mut seen = *e;
    seen.qp_index = (e.qp_index.to_u64() & (config.n_qps as u64 - 1)).to_bits();
    seen.qpn = (e.qpn.to_u64() & (0xff_f000 | (config.n_qps as u64 - 1))).to_bits();
    if !config.ud {
        seen.grh = false;
        seen.source_qpn = 0u64.to_bits();
    }
    seen
}

/// The model.
fn effects(e: &RetireEntry, failed: bool, spoiled: bool) -> Effects {
    let syndrome: Bits<8> = if failed { 0x63u64.to_bits() } else { e.syndrome };
    let code = if failed || spoiled {
        status::LOCAL_QP_OPERATION_ERROR
    } else {
        e.status.to_u64() as u32
    };
    let mut row = [0u32; CQE_BYTES / 4];
    cqe::QPN.set(&mut row, e.qpn.to_u64() as u32);
    cqe::OPCODE.set(&mut row, e.completion_opcode.to_u64() as u32);
    cqe::STATUS.set(&mut row, code);
    cqe::WITH_IMM.set(&mut row, e.with_imm as u32);
    cqe::WITH_INVALIDATE.set(&mut row, e.with_invalidate as u32);
    cqe::GRH.set(&mut row, e.grh as u32);
    cqe::SOLICITED.set(&mut row, e.solicited as u32);
    cqe::WQE_INDEX.set(&mut row, e.wqe_index.to_u64() as u32);
    cqe::BYTE_LENGTH.set(&mut row, e.byte_length.to_u64() as u32);
    cqe::IMMEDIATE.set(&mut row, e.immediate.to_u64() as u32);
    cqe::SOURCE_QPN.set(&mut row, e.source_qpn.to_u64() as u32);
    Effects {
        ack: (e.respond || failed && !e.requester).then_some(AckJob {
            qp_index: e.qp_index,
            syndrome,
            psn: e.psn,
            msn: e.msn,
            notification: false,
        }),
        completion: e.complete.then_some(CompletionJob {
            cq: e.cq,
            solicited: e.solicited || code != 0,
            word0: word(row[0]),
            word1: word(row[1]),
            word2: word(row[2]),
            word3: word(row[3]),
            word4: word(row[4]),
        }),
        event: (e.event || failed).then_some(EventJob {
            event_type: if failed {
                (event_type::QP_FATAL as u64).to_bits()
            } else {
                e.event_type
            },
            number: e.qpn,
            detail: if failed && e.requester {
                (status::LOCAL_QP_OPERATION_ERROR as u64).to_bits()
            } else {
                syndrome
            },
        }),
        serve: e.serve.then_some(e.qp_index.to_u64()),
        qp_error: failed.then_some(e.qp_index.to_u64()),
    }
}

/// What all entries cause. A requester's QP that misses bytes (a failed entry that completes nothing) is told so with its next completion.
fn expected(entries: impl Iterator<Item = (RetireEntry, bool)>) -> Vec<Effects> {
    let mut missing = None;
    let each = entries.map(|(e, failed)| {
        let index = e.qp_index.to_u64();
        let spoiled = e.requester && missing == Some(index);
        if spoiled && e.complete {
            missing = None;
        }
        if failed && e.requester && !e.complete {
            missing = Some(index);
        }
        effects(&e, failed, spoiled)
    });
    each.collect()
}

fn random_entry(rng: &mut ChaCha8Rng) -> RetireEntry {
    let mut number = |bits: u32| rng.gen::<u64>() & ((1 << bits) - 1);
    RetireEntry {
        qp_index: number(12).to_bits(),
        jobs: (number(8) % 3).to_bits(),
        respond: number(1) == 1,
        syndrome: number(8).to_bits(),
        psn: number(24).to_bits(),
        msn: number(24).to_bits(),
        complete: number(1) == 1,
        cq: number(12).to_bits(),
        qpn: number(24).to_bits(),
        completion_opcode: (completion_opcode::RECV as u64 + number(1)).to_bits(),
        status: if number(2) == 0 { number(4) } else { 0 }.to_bits(),
        with_imm: number(1) == 1,
        with_invalidate: number(1) == 1,
        grh: number(1) == 1,
        solicited: number(1) == 1,
        wqe_index: number(16).to_bits(),
        byte_length: number(32).to_bits(),
        immediate: number(32).to_bits(),
        source_qpn: number(24).to_bits(),
        event: number(2) == 0,
        event_type: number(3).to_bits(),
        requester: number(2) == 0,
        serve: number(3) == 0,
        partial: number(1) == 1,
    }
}

/// A sequence NAK, and nothing else: it may leave before what is only a part of a message.
fn overtakes(e: &RetireEntry) -> bool {
    let sequence = e.respond && e.syndrome.to_u64() == 0x60;
    sequence && e.jobs.to_u64() == 0 && !(e.complete || e.event || e.serve || e.requester || e.partial)
}

fn sequence_nak(psn: u64) -> RetireEntry {
    RetireEntry {
        qp_index: 1u64.to_bits(),
        respond: true,
        syndrome: 0x60u64.to_bits(),
        psn: psn.to_bits(),
        msn: 7u64.to_bits(),
        ..RetireEntry::default()
    }
}

/// NAKs that all runs have seen before their turn.
static OVERTAKEN: AtomicUsize = AtomicUsize::new(0);

fn bench<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize>(
    config: &Config,
) -> Bench<Retire<QUEUE, HOLD, A, B, C>> {
    let name = match (QUEUE, HOLD) {
        (1, _) => "retire_fifo",
        (_, 1) => "retire_register",
        _ => "retire_none",
    };
    Bench::verilated(
        Box::new(Retire::new(config)),
        name,
        ports!(in reset, entry, entry_valid, done_valid, done_error, count_ready, ack_ready, serve_ready, completion_ready, event_ready, qp_error_ready; out entry_ready, done_ready, landed, failing, count_valid, ack, ack_valid, serve_index, serve_valid, completion, completion_valid, event_job, event_valid, qp_error_index, qp_error_valid, idle),
    )
}

/// Runs `count` random entries; returns the cycles it took.
fn run<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize>(
    seed: u64,
    count: usize,
    idle: bool,
    stall: bool,
    like_control: bool,
    mut make: impl FnMut(&mut ChaCha8Rng) -> (RetireEntry, Vec<bool>),
) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // The form without a queue is the small preset's.
    let config = Config::preset(if QUEUE + HOLD == 0 { "cu" } else { "tengig" }).unwrap();
    let mut bench = bench::<QUEUE, HOLD, A, B, C>(&config);
    bench.uut.reset.next = true;
    bench.step();
    bench.step();
    bench.uut.reset.next = false;
    let all: Vec<(RetireEntry, Vec<bool>)> = (0..count).map(|_| make(&mut rng)).collect();
    let mut entries: VecDeque<RetireEntry> = all.iter().map(|a| a.0).collect();
    let mut dones: VecDeque<bool> = all.iter().flat_map(|a| a.1.iter().copied()).collect();
    let wants: Vec<Effects> = expected(all.iter().map(|(e, d)| (seen(e, &config), d.contains(&true))));
    // For each stream, the entries that it serves, in order. `needs[i]`: dones that must be taken before entry i acts.
    let list = |f: &dyn Fn(&Effects) -> bool| -> VecDeque<usize> { (0..count).filter(|i| f(&wants[*i])).collect() };
    let mut acks = list(&|w| w.ack.is_some());
    let mut completions = list(&|w| w.completion.is_some());
    let mut events = list(&|w| w.event.is_some());
    let mut errors = list(&|w| w.qp_error.is_some());
    let mut serves = list(&|w| w.serve.is_some());
    let needs: Vec<usize> = all
        .iter()
        .scan(0, |n, a| {
            *n += a.1.len();
            Some(*n)
        })
        .collect();
    // For each done, its entry, and whether it failed.
    let failures: Vec<(usize, bool)> = (0..count).flat_map(|at| all[at].1.iter().map(move |d| (at, *d))).collect();
    let owners: Vec<bool> = all.iter().flat_map(|a| a.1.iter().map(|_| a.0.requester)).collect();
    let (mut done_count, mut counted, mut overtaken) = (0, 0, 0);
    let (mut entry_on, mut done_on) = (false, false);
    let mut quiet = 0;
    let mut end = 0;
    while quiet < 20 {
        let say = format!("form {QUEUE}{HOLD} seed {seed} cycle {}", bench.cycle);
        assert!(
            bench.cycle < 400 * count as u64 + 100,
            "{say}: stuck, {} entries, {} dones",
            entries.len(),
            dones.len()
        );
        // Control takes an error only between packets, and then before the next one.
        let between = like_control && !entry_on && bench.uut.qp_error_valid.val();
        entry_on = !entries.is_empty() && !between && (entry_on || !idle || rng.gen_ratio(1, 5));
        done_on = !dones.is_empty() && (done_on || !idle || rng.gen_ratio(1, 5));
        bench.uut.entry_valid.next = entry_on;
        bench.uut.entry.next = if entry_on { entries[0] } else { RetireEntry::default() };
        bench.uut.done_valid.next = done_on;
        bench.uut.done_error.next = done_on && dones[0];
        bench.uut.ack_ready.next = !stall || rng.gen_ratio(1, 4);
        bench.uut.serve_ready.next = !stall || rng.gen_ratio(1, 4);
        bench.uut.completion_ready.next = !stall || rng.gen_ratio(1, 4);
        bench.uut.event_ready.next = !stall || rng.gen_ratio(1, 4);
        bench.uut.count_ready.next = !stall || rng.gen_ratio(1, 8);
        bench.uut.qp_error_ready.next = if like_control { between } else { !stall || rng.gen_ratio(1, 4) };
        bench.settle();
        let u = &bench.uut;
        // An effect never leaves before its data are in memory.
        let due = |queue: &mut VecDeque<usize>, what: &str| -> usize {
            let at = queue.pop_front().unwrap_or_else(|| panic!("{say}: one {what} too many"));
            assert!(done_count >= needs[at], "{say}: {what} of entry {at} before its dones");
            at
        };
        if u.ack_valid.val() && u.ack_ready.val() {
            // With the queue a sequence NAK may come before its turn, but not before the end of a message.
            let first = acks.iter().position(|at| wants[*at].ack == Some(u.ack.val()));
            match first {
                Some(place) if QUEUE == 1 && overtakes(&all[acks[place]].0) => {
                    let at = acks.remove(place).unwrap();
                    let whole = (0..at).rev().find(|before| !all[*before].0.partial);
                    if let Some(whole) = whole {
                        assert!(
                            done_count >= needs[whole],
                            "{say}: the NAK of entry {at} before the dones of entry {whole}"
                        );
                        assert!(acks.front().is_none_or(|a| *a > whole), "{say}: before the ACK of {whole}");
                    }
                    overtaken += (place > 0 || done_count < needs[at]) as usize;
                }
                _ => {
                    let at = due(&mut acks, "ACK");
                    assert_eq!(Some(u.ack.val()), wants[at].ack, "{say} entry {at}");
                }
            }
        }
        if u.serve_valid.val() && u.serve_ready.val() {
            let at = due(&mut serves, "release");
            assert_eq!(Some(u.serve_index.val().to_u64()), wants[at].serve, "{say} entry {at}");
            // One after the other with the ACKs of the entries before.
            assert!(
                acks.front().is_none_or(|a| *a >= at),
                "{say}: released before an ACK that stands before it"
            );
        }
        if u.idle.val() {
            let taken = count - entries.len();
            for queue in [&acks, &completions, &events, &serves] {
                assert!(queue.front().is_none_or(|at| *at >= taken), "{say}: idle with something here");
            }
        }
        if u.completion_valid.val() && u.completion_ready.val() {
            let at = due(&mut completions, "completion");
            assert_eq!(Some(u.completion.val()), wants[at].completion, "{say} entry {at}");
        }
        if u.event_valid.val() && u.event_ready.val() {
            let at = due(&mut events, "event");
            assert_eq!(Some(u.event_job.val()), wants[at].event, "{say} entry {at}");
        }
        counted += (u.count_valid.val() && u.count_ready.val()) as usize;
        let failing = failures[..done_count].iter().any(|(at, failed)| *failed && errors.contains(at));
        assert_eq!(u.failing.val(), failing, "{say}: failing");
        if u.qp_error_valid.val() && u.qp_error_ready.val() {
            let at = due(&mut errors, "QP error");
            assert_eq!(Some(u.qp_error_index.val().to_u64()), wants[at].qp_error, "{say} entry {at}");
        }
        if entry_on && u.entry_ready.val() {
            entries.pop_front();
            entry_on = false;
        }
        let taken = done_on && u.done_ready.val();
        assert_eq!(u.landed.val(), taken && owners[done_count], "{say}: landed");
        if taken {
            dones.pop_front();
            done_count += 1;
            done_on = false;
        }
        let empty = entries.is_empty()
            && dones.is_empty()
            && acks.is_empty()
            && completions.is_empty()
            && events.is_empty()
            && errors.is_empty()
            && serves.is_empty();
        if empty && quiet == 0 {
            end = bench.cycle;
        }
        quiet = if empty { quiet + 1 } else { 0 };
        bench.edge();
    }
    // The last ones may wait for their turn.
    bench.uut.count_ready.next = true;
    for _ in 0..40 {
        bench.settle();
        counted += bench.uut.count_valid.val() as usize;
        bench.edge();
    }
    if QUEUE == 1 {
        OVERTAKEN.fetch_add(overtaken, Ordering::Relaxed);
    }
    let failed = wants.iter().filter(|w| w.qp_error.is_some()).count();
    assert_eq!(
        counted, failed,
        "form {QUEUE}{HOLD} seed {seed}: each failed entry is counted once (R69)"
    );
    end
}

/// Random entries, one done in eight failing. (A requester's failed ones complete: for the others see `r65_…`.)
fn random(rng: &mut ChaCha8Rng) -> (RetireEntry, Vec<bool>) {
    let mut entry = random_entry(rng);
    if rng.gen_ratio(1, 5) {
        entry = sequence_nak(rng.gen_range(0..1 << 24));
    }
    let dones: Vec<bool> = (0..entry.jobs.to_u64()).map(|_| rng.gen_ratio(1, 8)).collect();
    entry.complete |= entry.requester && dones.contains(&true);
    (entry, dones)
}

/// The bytes of one response of a READ couldn't be written: the READ completes in error, and nobody else does.
#[test]
fn r65_r69_a_read_that_misses_bytes_completes_in_error() {
    for (seed, stall) in [(20, false), (21, true)] {
        let mut n = 0;
        let mut read = |rng: &mut ChaCha8Rng| {
            let mut entry = random_entry(rng);
            let at = n % 6;
            n += 1;
            entry.requester = at != 2;
            entry.qp_index = if at == 3 { 2 } else { 1u64 }.to_bits();
            entry.complete = at > 1;
            entry.status = 0u64.to_bits();
            entry.event = false;
            entry.jobs = ((at < 2) as u64).to_bits();
            (entry, vec![at == 1; (at < 2) as usize])
        };
        run::<1, 0, 4, 5, 6>(seed, 120, false, stall, false, &mut read);
        run::<0, 1, 1, 2, 3>(seed, 120, false, stall, false, &mut read);
        run::<0, 0, 1, 2, 3>(seed, 120, false, stall, false, &mut read);
    }
}

/// Control may wait for Complete, and Complete for room here, while one entry after the other fails and nobody takes an error.
#[test]
fn r69_failed_entries_leave_while_no_error_is_taken() {
    fn failing<const QUEUE: usize, const HOLD: usize, const A: usize, const B: usize, const C: usize>(preset: &str, count: u64) {
        let config = Config::preset(preset).unwrap();
        let mut bench = bench::<QUEUE, HOLD, A, B, C>(&config);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        bench.uut.ack_ready.next = true;
        bench.uut.event_ready.next = true;
        bench.uut.count_ready.next = true;
        bench.uut.done_valid.next = true;
        bench.uut.done_error.next = true;
        let (mut sent, mut acks, mut errors) = (0, 0, vec![]);
        for cycle in 0..40 * count {
            let entry = RetireEntry {
                qp_index: (1 + sent % 3).to_bits(),
                jobs: 1u64.to_bits(),
                ..RetireEntry::default()
            };
            bench.uut.entry.next = entry;
            bench.uut.entry_valid.next = sent < count;
            bench.uut.qp_error_ready.next = cycle > 20 * count;
            bench.settle();
            sent += (bench.uut.entry_valid.val() && bench.uut.entry_ready.val()) as u64;
            acks += bench.uut.ack_valid.val() as u64;
            if bench.uut.qp_error_valid.val() && bench.uut.qp_error_ready.val() {
                errors.push(bench.uut.qp_error_index.val().to_u64());
            }
            if cycle == 20 * count {
                assert_eq!(
                    (sent, acks),
                    (count, count),
                    "form {QUEUE}{HOLD}: entries wait for an error to be taken"
                );
            }
            bench.edge();
        }
        assert_eq!(errors, (0..count).map(|n| 1 + n % 3).collect::<Vec<_>>(), "form {QUEUE}{HOLD}");
    }
    failing::<1, 0, 4, 5, 6>("tengig", 20);
    failing::<0, 1, 1, 2, 3>("tengig", 4);
    failing::<0, 0, 1, 2, 3>("cu", 4);
}

#[test]
fn r64_r69_effects_follow_their_data_fifo() {
    for (seed, idle, stall) in [(1, false, false), (2, true, false), (3, false, true), (4, true, true)] {
        run::<1, 0, 4, 5, 6>(seed, 200, idle, stall, false, random);
    }
    // Nothing is overtaken while a write has failed: here none does.
    let good = |rng: &mut ChaCha8Rng| {
        let (mut entry, dones) = random(rng);
        entry.partial |= !overtakes(&entry) && rng.gen_ratio(1, 2);
        (entry, vec![false; dones.len()])
    };
    for (seed, idle, stall) in [(17, false, false), (18, true, true)] {
        run::<1, 0, 4, 5, 6>(seed, 200, idle, stall, false, good);
    }
    assert!(OVERTAKEN.load(Ordering::Relaxed) > 10, "sequence NAKs come before their turn");
}

/// R23: what is missing is asked for while the packets before it are still on their way to memory, unless one of them ends a message: that is not acknowledged
/// before its bytes are in memory.
#[test]
fn r23_a_sequence_nak_overtakes_the_middle_of_a_message_only() {
    // Entries with a write each: partial or not; those done when the NAK must be there.
    for (partials, done_before) in [
        (&[true, true, true][..], 0),
        (&[true, false, true, true], 2),
        (&[false], 1),
        (&[true, true, false], 3),
    ] {
        let config = Config::preset("tengig").unwrap();
        let mut bench = bench::<1, 0, 4, 5, 6>(&config);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        bench.uut.ack_ready.next = true;
        let mut entries: VecDeque<RetireEntry> = partials
            .iter()
            .enumerate()
            .map(|(n, partial)| RetireEntry {
                qp_index: 1u64.to_bits(),
                jobs: 1u64.to_bits(),
                respond: true,
                psn: (10 + n as u64).to_bits(),
                partial: *partial,
                ..RetireEntry::default()
            })
            .chain([sequence_nak(10 + partials.len() as u64)])
            .collect();
        let (mut dones, mut answers) = (0, vec![]);
        for cycle in 0..400 {
            bench.uut.entry_valid.next = !entries.is_empty();
            bench.uut.entry.next = entries.front().copied().unwrap_or_default();
            // A write ends every 40 cycles.
            bench.uut.done_valid.next = cycle >= 40 * (dones + 1) && dones < partials.len();
            bench.settle();
            let u = &bench.uut;
            if u.ack_valid.val() {
                answers.push((u.ack.val().psn.to_u64(), u.ack.val().syndrome.to_u64(), dones));
            }
            dones += (u.done_valid.val() && u.done_ready.val()) as usize;
            if u.entry_valid.val() && u.entry_ready.val() {
                entries.pop_front();
            }
            bench.edge();
        }
        let nak = (10 + partials.len() as u64, 0x60, done_before);
        let mut expected: Vec<_> = (0..partials.len()).map(|n| (10 + n as u64, 0, n + 1)).collect();
        expected.insert(done_before, nak);
        assert_eq!(answers, expected, "{partials:?}");
    }
}

#[test]
fn r64_r69_effects_follow_their_data_register() {
    for (seed, idle, stall) in [(5, false, false), (6, true, false), (7, false, true), (8, true, true)] {
        run::<0, 1, 1, 2, 3>(seed, 200, idle, stall, false, random);
    }
}

#[test]
fn r64_r69_effects_follow_their_data_no_queue() {
    for (seed, idle, stall) in [(9, false, false), (10, true, false), (11, false, true), (12, true, true)] {
        run::<0, 0, 1, 2, 3>(seed, 200, idle, stall, false, random);
    }
}

/// Control may hold an entry that finds no room while an error waits for it: both must go on, even when every write fails.
#[test]
fn r69_errors_and_entries_never_wait_for_each_other() {
    let failing = |rng: &mut ChaCha8Rng| {
        let (mut entry, mut dones) = random(rng);
        dones.iter_mut().for_each(|failed| *failed = rng.gen_ratio(9, 10));
        entry.complete |= entry.requester && dones.contains(&true);
        (entry, dones)
    };
    for (seed, idle, stall) in [(14, false, false), (15, false, true), (16, true, true)] {
        run::<1, 0, 4, 5, 6>(seed, 60, idle, stall, true, failing);
        run::<0, 1, 1, 2, 3>(seed, 60, idle, stall, true, failing);
        run::<0, 0, 1, 2, 3>(seed, 60, idle, stall, true, failing);
    }
}

#[test]
fn six_cycles_an_entry_at_most() {
    for jobs in 0..3u64 {
        let make = move |rng: &mut ChaCha8Rng| {
            let mut entry = random_entry(rng);
            entry.jobs = jobs.to_bits();
            entry.respond = true;
            entry.complete = true;
            (entry, vec![false; jobs as usize])
        };
        let fifo = run::<1, 0, 4, 5, 6>(13, 100, false, false, false, make);
        let register = run::<0, 1, 1, 2, 3>(13, 100, false, false, false, make);
        let none = run::<0, 0, 1, 2, 3>(13, 100, false, false, false, make);
        println!("{jobs} jobs: 100 entries in {fifo} (FIFO), {register} (register), {none} (none) cycles");
        assert!(fifo <= 610 && register <= 610 && none <= 610);
    }
}
