// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where streams meet: AXI reads of five readers, two readers of the translation table, jobs and entries of control and Complete, events,
//! counter codes. Everything comes out once, in its source's order, whatever stalls.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use verbena_hdl::host::{CodeMerge, EventJob, EventMerge};
use verbena_hdl::mem::{MttShare, ReadArbiter, WriteJob};
use verbena_hdl::responder::{EffectMerge, RetireEntry};
use verbena_hdl::top::Split;
use verbena_tb::step::Bench;

/// A reader of the test: what it asks and what it must get.
#[derive(Default)]
struct Reader {
    offered: Option<(u64, u8)>,
    /// Data and last of the beats to come.
    open: VecDeque<(u64, u64)>,
    asked: u64,
    beats: u64,
}

/// The memory's data: a word that names reader and beat.
fn word(address: u64, beat: u64) -> u64 {
    address.wrapping_mul(0x9e37_79b9) ^ beat
}

const READERS: usize = 5;

fn drive_reader(uut: &mut ReadArbiter<64>, index: usize, request: Option<(u64, u8)>, ready: bool) {
    let (address, length) = request.unwrap_or((0xdead, 0xee));
    macro_rules! set {
        ($a:ident, $l:ident, $v:ident, $r:ident) => {{
            uut.$a.next = address.into();
            uut.$l.next = (length as u64).into();
            uut.$v.next = request.is_some();
            uut.$r.next = ready;
        }};
    }
    match index {
        0 => set!(payload_ar_address, payload_ar_length, payload_ar_valid, payload_r_ready),
        1 => set!(descriptor_ar_address, descriptor_ar_length, descriptor_ar_valid, descriptor_r_ready),
        2 => set!(send_ar_address, send_ar_length, send_ar_valid, send_r_ready),
        3 => set!(complete_ar_address, complete_ar_length, complete_ar_valid, complete_r_ready),
        _ => set!(atomic_ar_address, atomic_ar_length, atomic_ar_valid, atomic_r_ready),
    }
}

/// Request taken, beat offered.
fn look_reader(uut: &ReadArbiter<64>, index: usize) -> (bool, bool) {
    match index {
        0 => (uut.payload_ar_ready.val(), uut.payload_r_valid.val()),
        1 => (uut.descriptor_ar_ready.val(), uut.descriptor_r_valid.val()),
        2 => (uut.send_ar_ready.val(), uut.send_r_valid.val()),
        3 => (uut.complete_ar_ready.val(), uut.complete_r_valid.val()),
        _ => (uut.atomic_ar_ready.val(), uut.atomic_r_valid.val()),
    }
}

fn run_readers(seed: u64, stall: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::new(ReadArbiter::<64>::default()), |b| &mut b.clock);
    let mut readers: Vec<Reader> = (0..READERS).map(|_| Reader::default()).collect();
    // Bursts in the memory, by ID: address, length, next beat.
    let mut memory: Vec<VecDeque<(u64, u8, u64)>> = (0..8).map(|_| VecDeque::new()).collect();
    let mut shown: Option<(usize, u64, bool, bool)> = None;
    let mut address_shown: Option<(u64, u64, u64)> = None;
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    for cycle in 0..20_000u64 {
        let more = cycle < 18_000;
        for (i, r) in readers.iter_mut().enumerate() {
            if r.offered.is_none() && more && r.open.len() < 6 && rng.gen_bool(0.2) {
                r.offered = Some((rng.gen::<u64>() & !7, rng.gen_range(0..16)));
            }
            let ready = !rng.gen_bool(stall);
            drive_reader(&mut bench.uut, i, r.offered, ready);
        }
        bench.uut.m_ar_ready.next = !rng.gen_bool(stall);
        if shown.is_none() && !rng.gen_bool(stall) {
            let ids: Vec<usize> = (0..READERS).filter(|id| !memory[*id].is_empty()).collect();
            if !ids.is_empty() {
                let id = ids[rng.gen_range(0..ids.len())];
                let (address, length, beat) = memory[id][0];
                shown = Some((id, word(address, beat), beat == u64::from(length), rng.gen_bool(0.1)));
            }
        }
        let (id, data, last, error) = shown.unwrap_or((7, 0xbad, true, true));
        bench.uut.m_r_id.next = (id as u64).into();
        bench.uut.m_r_data.next = data.into();
        bench.uut.m_r_last.next = last;
        bench.uut.m_r_response.next = (if error { 2u64 } else { 0 }).into();
        bench.uut.m_r_valid.next = shown.is_some();
        bench.settle();
        for (i, r) in readers.iter_mut().enumerate() {
            let (taken, beat) = look_reader(&bench.uut, i);
            if let (Some((address, length)), true) = (r.offered, taken) {
                r.offered = None;
                r.asked += 1;
                for b in 0..=u64::from(length) {
                    r.open.push_back((word(address, b), u64::from(b == u64::from(length))));
                }
            }
            assert_eq!(
                beat,
                shown.is_some() && id == i,
                "seed {seed}, cycle {cycle}: reader {i} sees a beat of ID {id}"
            );
        }
        let request = (
            bench.uut.m_ar_id.val().index() as u64,
            bench.uut.m_ar_address.val().to_u64(),
            bench.uut.m_ar_length.val().to_u64(),
        );
        if bench.uut.m_ar_valid.val() {
            if let Some(before) = address_shown {
                assert_eq!(before, request, "seed {seed}, cycle {cycle}: AR changed while it waited");
            }
            address_shown = Some(request);
            if bench.uut.m_ar_ready.val() {
                memory[request.0 as usize].push_back((request.1, request.2 as u8, 0));
                address_shown = None;
            }
        } else {
            assert_eq!(address_shown, None, "seed {seed}, cycle {cycle}: AR withdrawn");
        }
        if shown.is_some() && bench.uut.m_r_ready.val() {
            assert_eq!(bench.uut.r_data.val().to_u64(), data);
            assert_eq!((bench.uut.r_last.val(), bench.uut.r_error.val()), (last, error));
            let expected = readers[id].open.pop_front().expect("a beat that was asked for");
            assert_eq!(expected, (data, u64::from(last)), "seed {seed}, cycle {cycle}: reader {id}");
            readers[id].beats += 1;
            memory[id][0].2 += 1;
            if last {
                memory[id].pop_front();
            }
            shown = None;
        }
        bench.edge();
    }
    for (i, r) in readers.iter().enumerate() {
        assert!(
            r.open.is_empty() && r.offered.is_none(),
            "seed {seed}: reader {i} still waits for {} beats",
            r.open.len()
        );
        assert!(r.asked > 100, "seed {seed}: reader {i} asked {} times only", r.asked);
    }
}

#[test]
fn readers_get_their_own_beats() {
    for seed in 1..=4 {
        run_readers(seed, if seed % 2 == 0 { 0.5 } else { 0.0 });
    }
}

#[test]
fn events_come_out_once_in_order() {
    for seed in 1..=3u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(Box::new(EventMerge::default()), |b| &mut b.clock);
        let mut sent: [VecDeque<u64>; 3] = Default::default();
        let mut offered = [None; 3];
        let (mut next, mut received) = (0u64, 0u64);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        for cycle in 0..6_000u64 {
            for (i, offer) in offered.iter_mut().enumerate() {
                if offer.is_none() && cycle < 5_900 && rng.gen_bool(0.3) {
                    next += 1;
                    *offer = Some(next);
                    sent[i].push_back(next);
                }
            }
            let job = |i: usize| EventJob {
                event_type: (i as u64 + 1).into(),
                number: offered[i].unwrap_or(0).into(),
                detail: 0x55u64.into(),
            };
            bench.uut.retire.next = job(0);
            bench.uut.send.next = job(1);
            bench.uut.read.next = job(2);
            bench.uut.retire_valid.next = offered[0].is_some();
            bench.uut.send_valid.next = offered[1].is_some();
            bench.uut.read_valid.next = offered[2].is_some();
            bench.uut.m_ready.next = rng.gen_bool(0.5) || cycle > 5_900;
            bench.settle();
            let ready = [bench.uut.retire_ready.val(), bench.uut.send_ready.val(), bench.uut.read_ready.val()];
            for i in 0..3 {
                if ready[i] {
                    offered[i] = None;
                }
            }
            if bench.uut.m_valid.val() && bench.uut.m_ready.val() {
                let job = bench.uut.m.val();
                let source = job.event_type.to_u64() as usize - 1;
                assert_eq!(sent[source].pop_front(), Some(job.number.to_u64()), "seed {seed}, cycle {cycle}");
                received += 1;
            }
            bench.edge();
        }
        assert!(
            received > 1_000 && sent.iter().all(|s| s.is_empty()),
            "seed {seed}: {received} came out"
        );
    }
}

#[test]
fn codes_come_out_once() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut bench = Bench::new(Box::new(CodeMerge::default()), |b| &mut b.clock);
    let mut offered = [false; 5];
    let (mut given, mut taken) = ([0u32; 5], [0u32; 5]);
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    for cycle in 0..6_000u64 {
        for (offer, count) in offered.iter_mut().zip(&mut given) {
            if !*offer && cycle < 5_900 && rng.gen_bool(0.3) {
                *offer = true;
                *count += 1;
            }
        }
        bench.uut.queues.next = 10u64.into();
        bench.uut.send.next = 11u64.into();
        bench.uut.complete.next = 12u64.into();
        bench.uut.read.next = 13u64.into();
        bench.uut.queues_valid.next = offered[0];
        bench.uut.send_valid.next = offered[1];
        bench.uut.complete_valid.next = offered[2];
        bench.uut.read_valid.next = offered[3];
        bench.uut.reorder.next = 14u64.into();
        bench.uut.reorder_valid.next = offered[4];
        bench.uut.m_ready.next = rng.gen_bool(0.5) || cycle > 5_900;
        bench.settle();
        let ready = [
            bench.uut.queues_ready.val(),
            bench.uut.send_ready.val(),
            bench.uut.complete_ready.val(),
            bench.uut.read_ready.val(),
            bench.uut.reorder_ready.val(),
        ];
        // A register's: not a matter of this cycle's offers, nor of who takes.
        let (m_ready, reorder_valid) = (bench.uut.m_ready.val(), offered[4]);
        bench.uut.m_ready.next = !m_ready;
        bench.uut.reorder_valid.next = !reorder_valid;
        bench.settle();
        assert_eq!((ready[3], ready[4]), (bench.uut.read_ready.val(), bench.uut.reorder_ready.val()));
        bench.uut.m_ready.next = m_ready;
        bench.uut.reorder_valid.next = reorder_valid;
        bench.settle();
        for i in 0..5 {
            if ready[i] {
                offered[i] = false;
            }
        }
        if bench.uut.m_valid.val() && bench.uut.m_ready.val() {
            taken[bench.uut.m.val().index() - 10] += 1;
        }
        bench.edge();
    }
    assert_eq!(given, taken);
    assert!(given.iter().all(|n| *n > 300), "{given:?}");
}

/// The page of an entry, in the test's table.
fn page(entry: u64) -> u64 {
    entry.wrapping_mul(0x1_2345_6789) & ((1 << 52) - 1)
}

/// The first reader's page is there two cycles after its entry and stays while it is busy; the second's two cycles after its grant, until the next; the
/// third's with its done.
#[test]
fn readers_share_the_table() {
    for (seed, third) in [(1u64, true), (2, true), (3, true), (4, false)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(Box::new(MttShare::new(third)), |b| &mut b.clock);
        // Entries that stood at the table in the last two cycles.
        let mut pipe = [0u64; 2];
        let (mut first, mut busy, mut since, mut was_busy) = (1u64, 0u32, 0u32, false);
        let mut wanted: Option<u64> = None;
        let mut granted: Option<(u64, u64)> = None;
        let (mut grants, mut looks, mut waited) = (0u32, 0u32, 0u32);
        let (mut asked, mut asking, mut answers): (Option<u64>, u32, u32) = (None, 0, 0);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        for cycle in 0..20_000u64 {
            if busy == 0 && rng.gen_bool(0.5) {
                first = rng.gen_range(1..0x1_0000);
                busy = rng.gen_range(3..12);
                since = 0;
            }
            if wanted.is_none() && rng.gen_bool(0.4) {
                wanted = Some(rng.gen_range(1..0x1_0000));
            }
            if asked.is_none() && rng.gen_bool(0.1) {
                asked = Some(rng.gen_range(1..0x1_0000));
            }
            bench.uut.first_busy.next = busy > 0;
            bench.uut.first_entry.next = first.into();
            bench.uut.second_read.next = wanted.is_some();
            bench.uut.second_entry.next = wanted.unwrap_or(0xdead).into();
            bench.uut.third_valid.next = asked.is_some();
            bench.uut.third_entry.next = asked.unwrap_or(0xbeef).into();
            bench.uut.page.next = page(pipe[1]).into();
            bench.settle();
            if busy > 0 && since >= 2 {
                assert_eq!(pipe[1], first, "seed {seed}, cycle {cycle}: the first's page went away");
                looks += 1;
            }
            if let Some((entry, _)) = granted.filter(|g| cycle >= g.1 + 2) {
                assert_eq!(bench.uut.second_page.val().to_u64(), page(entry), "seed {seed}, cycle {cycle}");
            }
            pipe = [bench.uut.entry.val().to_u64(), pipe[0]];
            waited = if wanted.is_some() { waited + 1 } else { 0 };
            asking = if asked.is_some() && third { asking + 1 } else { 0 };
            assert!(waited < 500 && asking < 500, "seed {seed}, cycle {cycle}: a reader starves");
            // The reader asks again only when it has its page.
            if bench.uut.second_grant.val() {
                assert!(!was_busy, "seed {seed}, cycle {cycle}: a grant though the first was busy");
                granted = wanted.take().map(|entry| (entry, cycle));
                grants += 1;
            }
            if bench.uut.third_done.val() {
                let entry = asked
                    .take()
                    .unwrap_or_else(|| panic!("seed {seed}, cycle {cycle}: done without a question"));
                assert_eq!(
                    bench.uut.third_page.val().to_u64(),
                    page(entry),
                    "seed {seed}, cycle {cycle}: the third's page"
                );
                answers += 1;
            }
            was_busy = busy > 0;
            if busy > 0 {
                busy -= 1;
                since += 1;
            }
            bench.edge();
        }
        assert!(grants > 500 && looks > 500, "seed {seed}: {grants} grants, {looks} looks");
        assert_eq!(answers > 500, third, "seed {seed}: {answers} answers");
    }
}

#[test]
fn entries_and_jobs_come_out_once_in_order() {
    for (seed, stall) in [(1u64, 0.0), (2, 0.5), (3, 0.8)] {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(Box::<EffectMerge>::default(), |b| &mut b.clock);
        let mut offered: [Option<u64>; 2] = [None; 2];
        let mut sent: [VecDeque<u64>; 2] = Default::default();
        let (mut next, mut shown, mut count) = (0u64, None, [0u32; 2]);
        // For a while, and then not for a while.
        let (mut placing, mut phase) = (false, 0u32);
        let mut longest = [0u64; 2];
        let mut since = [0u64; 2];
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        for cycle in 0..20_000u64 {
            for i in 0..2 {
                if offered[i].is_none() && cycle < 19_000 && rng.gen_bool(0.4) {
                    next += 1;
                    offered[i] = Some(next << 1 | i as u64);
                    sent[i].push_back(next << 1 | i as u64);
                    since[i] = cycle;
                }
            }
            let entry = |n: Option<u64>| RetireEntry {
                byte_length: n.unwrap_or(0xbad).into(),
                ..RetireEntry::default()
            };
            let job = |n: u64| WriteJob {
                address: n.into(),
                ..WriteJob::default()
            };
            // It begins only while control has nothing on offer.
            phase = phase.saturating_sub(1);
            if phase == 0 && (placing || offered[0].is_none()) {
                placing = !placing;
                phase = rng.gen_range(1..40);
            }
            let jobs: [bool; 2] = [rng.gen(), rng.gen()];
            let job_ready: bool = rng.gen();
            let uut = &mut bench.uut;
            uut.placing.next = placing;
            uut.control_job.next = job(1);
            uut.control_job_valid.next = jobs[0];
            uut.complete_job.next = job(2);
            uut.complete_job_valid.next = jobs[1];
            uut.job_ready.next = job_ready;
            uut.control_entry.next = entry(offered[0]);
            uut.control_entry_valid.next = offered[0].is_some();
            uut.complete_entry.next = entry(offered[1]);
            uut.complete_entry_valid.next = offered[1].is_some();
            uut.entry_ready.next = !rng.gen_bool(stall);
            bench.settle();
            let uut = &bench.uut;
            let source = usize::from(placing);
            assert_eq!(uut.job_valid.val(), jobs[source]);
            assert!(!jobs[source] || uut.job.val().address.to_u64() == source as u64 + 1);
            let readies = [uut.control_job_ready.val(), uut.complete_job_ready.val()];
            assert_eq!((readies[source], readies[1 - source]), (job_ready, false));
            if uut.entry_valid.val() {
                let number = uut.entry.val().byte_length.to_u64();
                assert!(
                    shown.is_none_or(|s| s == number),
                    "seed {seed}, cycle {cycle}: an entry changed while it waited"
                );
                shown = Some(number);
                let i = (number & 1) as usize;
                assert!(i == 1 || !placing, "seed {seed}, cycle {cycle}: control's entry overtakes");
                let taken = [uut.control_entry_ready.val(), uut.complete_entry_ready.val()];
                assert!(!taken[1 - i], "seed {seed}, cycle {cycle}: two sources at once");
                assert_eq!(taken[i], uut.entry_ready.val());
                if taken[i] {
                    assert_eq!(sent[i].pop_front(), Some(number), "seed {seed}, cycle {cycle}");
                    longest[i] = longest[i].max(cycle - since[i]);
                    offered[i] = None;
                    count[i] += 1;
                    shown = None;
                }
            } else {
                assert_eq!(shown, None, "seed {seed}, cycle {cycle}: an entry was withdrawn");
            }
            bench.edge();
        }
        assert!(sent.iter().all(|s| s.is_empty()), "seed {seed}: entries were lost");
        assert!(count.iter().all(|c| *c > 1_000), "seed {seed}: {count:?}");
        assert!(longest.iter().all(|l| *l < 200), "seed {seed}: waits of {longest:?} cycles");
    }
}

/// Each word is taken once by each taker, stays while one misses it, and is over two cycles after the last has taken it.
#[test]
fn a_word_is_taken_by_all() {
    for seed in 0..4 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::new(Box::new(Split::<3>::default()), |b| &mut b.clock);
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        let (mut offered, mut taken, mut words, mut split) = (None, [false; 3], 0, 0);
        let mut full = None;
        for cycle in 0..8_000u32 {
            if offered.is_none() && rng.gen_bool(0.5) {
                offered = Some(cycle);
            }
            let ready: [bool; 3] = [rng.gen_bool(0.3), rng.gen_bool(0.5), rng.gen_bool(0.2)];
            let uut = &mut bench.uut;
            uut.s_valid.next = offered.is_some();
            // Ready says nothing where nothing is offered.
            for (i, ready) in ready.iter().enumerate() {
                uut.m_ready[i].next = *ready;
            }
            bench.settle();
            let uut = &bench.uut;
            for side in 0..3 {
                let valid = uut.m_valid[side].val();
                let due = offered.is_some_and(|since| cycle > since) && !taken[side];
                assert_eq!(valid, due, "seed {seed} cycle {cycle}: taker {side}");
                taken[side] |= valid && ready[side];
            }
            split += (taken != [false; 3] && taken != [true; 3]) as u32;
            if taken == [true; 3] && full.is_none() {
                full = Some(cycle);
            }
            let over = full.is_some_and(|at| cycle == at + 2);
            assert_eq!(uut.s_ready.val(), over, "seed {seed} cycle {cycle}");
            if over {
                words += 1;
                (offered, taken, full) = (None, [false; 3], None);
            }
            bench.edge();
        }
        assert!(
            words > 300 && split > 300,
            "seed {seed}: {words} words, {split} cycles with some taken"
        );
    }
}
