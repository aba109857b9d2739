// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mem::KeyArbiter` and `tx::PacketArbiter`: everyone gets his own, in order, and nobody starves.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use verbena_hdl::mem::{KeyArbiter, ReadJob};
use verbena_hdl::tx::{PacketArbiter, AHEAD};
use verbena_tb::{diff::Diff, drive, ports, step::Bench};

/// A check that a client asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Check {
    op: u64,
    key: u64,
    va: u64,
    length: u64,
    pd: u64,
    access: u64,
}

impl Check {
    fn random(rng: &mut ChaCha8Rng) -> Check {
        Check {
            op: rng.gen_range(0..2),
            key: rng.gen::<u32>().into(),
            va: rng.gen(),
            length: rng.gen::<u32>().into(),
            pd: rng.gen::<u16>().into(),
            access: rng.gen_range(0..16),
        }
    }
}

const CLIENTS: usize = 4;

fn drive_client(uut: &mut KeyArbiter, client: usize, start: bool, c: Check) {
    macro_rules! set {
        ($s:ident, $op:ident, $key:ident, $va:ident, $l:ident, $pd:ident, $a:ident) => {{
            uut.$s.next = start;
            uut.$op.next = c.op.into();
            uut.$key.next = c.key.into();
            uut.$va.next = c.va.into();
            uut.$l.next = c.length.into();
            uut.$pd.next = c.pd.into();
            uut.$a.next = c.access.into();
        }};
    }
    match client {
        0 => set!(
            control_key_start,
            control_key_op,
            control_key,
            control_key_va,
            control_key_length,
            control_key_pd,
            control_key_access
        ),
        1 => set!(
            send_key_start,
            send_key_op,
            send_key,
            send_key_va,
            send_key_length,
            send_key_pd,
            send_key_access
        ),
        2 => set!(
            complete_key_start,
            complete_key_op,
            complete_key,
            complete_key_va,
            complete_key_length,
            complete_key_pd,
            complete_key_access
        ),
        _ => set!(
            read_key_start,
            read_key_op,
            read_key,
            read_key_va,
            read_key_length,
            read_key_pd,
            read_key_access
        ),
    }
}

fn dones(uut: &KeyArbiter) -> [bool; CLIENTS] {
    [
        uut.control_key_done.val(),
        uut.send_key_done.val(),
        uut.complete_key_done.val(),
        uut.read_key_done.val(),
    ]
}

/// Cycles that a check takes.
const CHECK: u64 = 8;

/// Clients ask with chance `busy` in a cycle; odd clients hold their start, even ones pulse it.
fn run_keys(seed: u64, busy: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::<KeyArbiter>::default(), |b| &mut b.clock);
    let mut asked: [Option<(Check, u64)>; CLIENTS] = [None; CLIENTS];
    let mut served = [0u64; CLIENTS];
    let mut longest = [0u64; CLIENTS];
    let mut running: Option<(Check, u64)> = None;
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    for cycle in 0..30_000u64 {
        for (client, ask) in asked.iter_mut().enumerate() {
            let new = ask.is_none() && cycle < 29_900 && rng.gen_bool(busy);
            if new {
                *ask = Some((Check::random(&mut rng), cycle));
            }
            let start = new || (ask.is_some() && client % 2 == 1);
            // Between checks the inputs are noise.
            let check = ask.map_or_else(|| Check::random(&mut rng), |a| a.0);
            drive_client(&mut bench.uut, client, start, check);
        }
        let done = running.is_some_and(|r| r.1 + CHECK == cycle);
        bench.uut.key_done.next = done;
        bench.settle();
        let uut = &bench.uut;
        let shown = Check {
            op: uut.key_op.val().to_u64(),
            key: uut.key.val().to_u64(),
            va: uut.key_va.val().to_u64(),
            length: uut.key_length.val().to_u64(),
            pd: uut.key_pd.val().to_u64(),
            access: uut.key_access.val().to_u64(),
        };
        if uut.key_start.val() {
            assert!(running.is_none(), "seed {seed}, cycle {cycle}: a start while a check runs");
            running = Some((shown, cycle));
        }
        // In its first cycle a check shows its key, and the rest from the second on.
        if let Some((check, since)) = running.as_mut() {
            if cycle == *since + 1 {
                *check = Check { key: check.key, ..shown };
            }
            if cycle > *since {
                assert_eq!(shown, *check, "seed {seed}, cycle {cycle}: the inputs changed under a check");
            }
        }
        let ends = dones(uut);
        assert_eq!(
            ends.iter().filter(|d| **d).count(),
            usize::from(done),
            "seed {seed}, cycle {cycle}: done {ends:?}"
        );
        for client in 0..CLIENTS {
            if ends[client] {
                let (check, since) = asked[client].take().expect("a done for a client that asked");
                assert_eq!(Some(check), running.map(|r| r.0), "seed {seed}, cycle {cycle}: client {client}");
                served[client] += 1;
                longest[client] = longest[client].max(cycle - since);
            }
        }
        if done {
            running = None;
        }
        bench.edge();
    }
    assert!(
        asked.iter().all(Option::is_none),
        "seed {seed}: a check was never answered: {asked:?}"
    );
    // Each of the three others and control may go first, once.
    let bound = 8 * (CHECK + 2);
    assert!(longest.iter().all(|l| *l <= bound), "seed {seed}: waits of {longest:?} cycles");
    assert!(served.iter().all(|s| *s > 200), "seed {seed}: {served:?}");
}

#[test]
fn keys_answer_whoever_asked() {
    for (seed, busy) in [(1, 0.02), (2, 0.1), (3, 0.5), (4, 1.0)] {
        run_keys(seed, busy);
    }
}

#[test]
fn control_is_not_delayed_when_nothing_runs() {
    let mut bench = Bench::new(Box::<KeyArbiter>::default(), |b| &mut b.clock);
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    bench.uut.control_key_start.next = true;
    bench.settle();
    assert!(bench.uut.key_start.val());
}

/// A packet of the test: words, and jobs as their addresses.
#[derive(Debug, Clone)]
struct Sent {
    words: Vec<u64>,
    /// Of payload.
    beats: u64,
    /// It ends as one that isn't to be sent.
    abandoned: bool,
    jobs: Vec<u64>,
}

/// One source: what it still has to offer of its packet.
#[derive(Default)]
struct Source {
    words: VecDeque<u64>,
    jobs: VecDeque<u64>,
    sent: VecDeque<Sent>,
    /// `done`s to come, with their error.
    dones: VecDeque<bool>,
    packets: u64,
}

fn run_packets(seed: u64, stall: f64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut bench = Bench::new(Box::<PacketArbiter<8>>::default(), |b| &mut b.clock);
    let mut sources: [Source; 2] = Default::default();
    let mut next = 0u64;
    // The packet coming out: source and words; jobs out that belong to packets not ended.
    let mut packet: Vec<u64> = vec![];
    let mut packet_jobs: Vec<u64> = vec![];
    // Sources of packets with payload, oldest first.
    let mut order: VecDeque<usize> = VecDeque::new();
    let mut done: Option<bool> = None;
    let mut shown: Option<(u64, bool)> = None;
    // Beats of payload whose packets have gone out, and are still to be drawn.
    let (mut standing, mut most) = (0u64, 0u64);
    bench.uut.reset.next = true;
    bench.step();
    bench.uut.reset.next = false;
    for cycle in 0..200_000u64 {
        for (n, s) in sources.iter_mut().enumerate() {
            if s.words.is_empty() && s.jobs.is_empty() && cycle < 195_000 && rng.gen_bool(0.2) {
                next += 1;
                let abandoned = n == 0 && rng.gen_bool(0.2);
                let count = if abandoned { 0 } else { rng.gen_range(0..3) };
                let jobs: Vec<u64> = (0..count).map(|j| next << 8 | j << 1 | n as u64).collect();
                let longest = [64, 1024, 4096][rng.gen_range(0..3)];
                let bytes = if jobs.is_empty() && !abandoned {
                    0
                } else {
                    rng.gen_range(1..=longest)
                };
                let payload = u64::from(bytes > 0) << 13 | bytes << 14;
                let count = rng.gen_range(3..12);
                let words: Vec<u64> = (0..count)
                    .map(|w| w << 4 | n as u64 | if w == 0 { payload } else { (next & 0xffff) << 16 })
                    .collect();
                let beats = bytes.div_ceil(8);
                s.words.extend(&words);
                s.jobs.extend(&jobs);
                s.sent.push_back(Sent {
                    words,
                    beats,
                    abandoned,
                    jobs,
                });
            }
        }
        let job = |s: &Source| ReadJob {
            paged: false,
            address: s.jobs.front().copied().unwrap_or(0xbad).into(),
            length: 5u64.into(),
            last: s.jobs.len() == 1,
        };
        let uut = &mut bench.uut;
        let word = |s: &Source| s.words.front().copied().unwrap_or(0xbad);
        // The last word may be offered only when the jobs have been offered: here they always are at once.
        uut.send_packet_word.next = word(&sources[0]).into();
        uut.send_packet_valid.next = !sources[0].words.is_empty();
        uut.send_packet_last.next = sources[0].words.len() == 1;
        uut.send_packet_abandon.next = sources[0].words.len() == 1 && sources[0].sent.front().is_some_and(|s| s.abandoned);
        uut.send_job.next = job(&sources[0]);
        uut.send_job_valid.next = !sources[0].jobs.is_empty();
        uut.read_packet_word.next = word(&sources[1]).into();
        uut.read_packet_valid.next = !sources[1].words.is_empty();
        uut.read_packet_last.next = sources[1].words.len() == 1;
        uut.read_job.next = job(&sources[1]);
        uut.read_job_valid.next = !sources[1].jobs.is_empty();
        uut.send_done_ready.next = !rng.gen_bool(stall);
        uut.read_done_ready.next = !rng.gen_bool(stall);
        uut.packet_ready.next = !rng.gen_bool(stall);
        uut.job_ready.next = !rng.gen_bool(stall);
        if done.is_none() && !order.is_empty() && rng.gen_bool(0.1) {
            done = Some(rng.gen());
        }
        uut.done_valid.next = done.is_some();
        uut.done_error.next = done.unwrap_or(false);
        let draws = standing > 0 && rng.gen_bool(0.9);
        uut.drawn.next = draws;
        standing -= u64::from(draws);
        bench.settle();
        let uut = &bench.uut;
        if uut.packet_valid.val() {
            let now = (uut.packet_word.val().to_u64(), uut.packet_last.val());
            if let Some(before) = shown {
                assert_eq!(before, now, "seed {seed}, cycle {cycle}: a word changed while it waited");
            }
            shown = Some(now);
        } else {
            assert_eq!(shown, None, "seed {seed}, cycle {cycle}: a word was withdrawn");
        }
        if uut.job_valid.val() && uut.job_ready.val() {
            let address = uut.job.val().address.to_u64();
            let source = (address & 1) as usize;
            assert_eq!(sources[source].jobs.pop_front(), Some(address), "seed {seed}, cycle {cycle}");
            if packet_jobs.is_empty() {
                order.push_back(source);
                assert!(order.len() <= 16);
            }
            packet_jobs.push(address);
        }
        if uut.packet_valid.val() && uut.packet_ready.val() {
            let word = uut.packet_word.val().to_u64();
            let source = (word & 1) as usize;
            if packet.is_empty() {
                // The longest, and one that was granted while the other source's was looked at.
                assert!(standing < AHEAD + 2 * 512, "seed {seed}, cycle {cycle}: {standing} beats stand");
            }
            assert_eq!(sources[source].words.pop_front(), Some(word), "seed {seed}, cycle {cycle}");
            packet.push(word);
            shown = None;
            if uut.packet_last.val() {
                let sent = sources[source].sent.pop_front().unwrap();
                assert_eq!((&sent.words, &sent.jobs), (&packet, &packet_jobs), "seed {seed}, cycle {cycle}");
                assert_eq!(uut.packet_abandon.val(), sent.abandoned, "seed {seed}, cycle {cycle}");
                if !sent.abandoned {
                    standing += sent.beats;
                    most = most.max(standing);
                }
                if !sent.jobs.is_empty() {
                    sources[source].dones.push_back(false);
                }
                sources[source].packets += 1;
                packet.clear();
                packet_jobs.clear();
            }
        }
        let (a, b) = (uut.send_done_valid.val(), uut.read_done_valid.val());
        if a || b {
            assert!(a != b && done.is_some());
            let source = usize::from(b);
            assert_eq!(order.front(), Some(&source), "seed {seed}, cycle {cycle}: whose done");
            let error = if a { uut.send_done_error.val() } else { uut.read_done_error.val() };
            assert_eq!(Some(error), done);
            if uut.done_ready.val() {
                order.pop_front();
                done = None;
            }
        }
        bench.edge();
    }
    for (n, s) in sources.iter().enumerate() {
        assert!(s.sent.is_empty(), "seed {seed}: source {n} still has packets");
        assert!(s.packets > 500, "seed {seed}: source {n} sent {} packets only", s.packets);
    }
    assert!(most > 2 * AHEAD, "seed {seed}: no more than {most} beats stood");
    assert_eq!(standing, 0, "seed {seed}");
}

/// One source with packets of three words, each of so many bytes of payload (0: none), as fast as they are taken.
struct Offers<const K: usize> {
    bench: Bench<PacketArbiter<K>>,
    bytes: VecDeque<u64>,
    word: u64,
    job: bool,
}

impl<const K: usize> Offers<K> {
    fn new(bytes: &[u64]) -> Self {
        let mut bench = Bench::verilated(
            Box::<PacketArbiter<K>>::default(),
            &format!("packet_arbiter_{K}"),
            ports!(in reset, send_packet_word, send_packet_last, send_packet_abandon, send_packet_valid, send_job, send_job_valid, send_done_ready, read_packet_word, read_packet_last, read_packet_valid, read_job, read_job_valid, read_done_ready, packet_ready, job_ready, done_valid, done_error, drawn; out send_packet_ready, send_job_ready, send_done_valid, send_done_error, read_packet_ready, read_job_ready, read_done_valid, read_done_error, packet_word, packet_last, packet_abandon, packet_valid, job, job_valid, done_ready, room),
        );
        bench.uut.reset.next = true;
        bench.step();
        bench.uut.reset.next = false;
        bench.uut.packet_ready.next = true;
        bench.uut.job_ready.next = true;
        bench.uut.done_valid.next = true;
        bench.uut.send_done_ready.next = true;
        Offers {
            bench,
            bytes: bytes.iter().copied().collect(),
            word: 0,
            job: bytes[0] > 0,
        }
    }

    /// Packets granted in so many cycles, in the first of which that many beats are drawn.
    fn run(&mut self, cycles: u64, draws: u64) -> u64 {
        let mut granted = 0;
        for cycle in 0..cycles {
            let bytes = self.bytes.front().copied();
            let uut = &mut self.bench.uut;
            let first = u64::from(bytes > Some(0)) << 13 | bytes.unwrap_or(0) << 14;
            uut.send_packet_valid.next = bytes.is_some();
            uut.send_packet_word.next = if self.word == 0 { first } else { self.word }.into();
            uut.send_packet_last.next = self.word == 2;
            uut.send_job_valid.next = self.job && bytes.is_some();
            uut.drawn.next = cycle < draws;
            self.bench.settle();
            self.job &= !self.bench.uut.send_job_ready.val();
            if self.bench.uut.packet_valid.val() {
                self.word = (self.word + 1) % 3;
                if self.word == 0 {
                    granted += 1;
                    self.bytes.pop_front();
                    self.job = self.bytes.front() > Some(&0);
                }
            }
            self.bench.edge();
        }
        granted
    }
}

/// Packets of `bytes` of payload, always another; nothing is drawn: how many are granted. Then one more for each packet's beats that are drawn.
fn granted<const K: usize>(bytes: u64) -> u64 {
    let beats = bytes.div_ceil(K as u64);
    let mut offers = Offers::<K>::new(&[bytes; 100]);
    let first = offers.run(2000, 0);
    let mut draws = first * beats - AHEAD - beats;
    for _ in 0..20 {
        assert_eq!(offers.run(2000, draws), 0, "{bytes} bytes");
        assert_eq!(offers.run(20, 1), 1, "{bytes} bytes");
        draws = beats - 1;
    }
    first
}

/// What is decided late leaves soon: two or three packets stand, of the longest too, so that the wire needn't wait for memory.
#[test]
fn standing_payload_is_bounded() {
    assert_eq!(granted::<8>(4096), 2);
    assert_eq!(granted::<8>(2048), 2);
    assert_eq!(granted::<8>(1024), 3);
    assert_eq!(granted::<8>(1020), 3);
    assert_eq!(granted::<8>(256), 9);
    assert_eq!(granted::<8>(64), 33);
    assert_eq!(granted::<4>(512), 3);
    assert_eq!(granted::<4>(256), 5);
}

/// READ requests pass; short packets between long ones don't hold these up, nor long ones them; those that follow each other come to their own bound.
#[test]
fn standing_payload_holds_up_nothing_but_payload() {
    let mut offers = Offers::<8>::new(&[4096, 4096, 0, 0, 0, 4096, 0]);
    assert_eq!(offers.run(2000, 0), 5);
    assert_eq!(offers.run(2000, 256), 0);
    assert_eq!(offers.run(100, 1), 2);
    // 767 beats stand: one more of each kind.
    for next in [64, 4096] {
        let mut offers = Offers::<8>::new(&[4096, 2040, next, next]);
        assert_eq!(offers.run(2000, 0), 3, "{next} bytes");
    }
    // A long one behind a short one.
    let mut offers = Offers::<8>::new(&[4096, 64, 64, 64, 4096, 4096]);
    assert_eq!(offers.run(2000, 0), 5);
    // After many short ones their own length counts.
    let mut sizes = vec![4096];
    sizes.extend([64; 200]);
    let mut offers = Offers::<8>::new(&sizes);
    let drawn = 1200;
    let granted = offers.run(4000, drawn) + offers.run(4000, 0);
    let stand = 512 + 8 * (granted - 1) - drawn;
    assert!((AHEAD..AHEAD + 24).contains(&stand), "{stand} beats of {granted} packets stand");
}

#[test]
fn packets_are_whole_and_jobs_in_their_order() {
    for (seed, stall) in [(1, 0.0), (2, 0.3), (3, 0.7)] {
        run_packets(seed, stall);
    }
}

/// The Rust simulation against the Verilated text.
#[test]
fn diff_packet_arbiter() {
    let warnings = Diff::new("packet_arbiter").cycles(4000).run(
        PacketArbiter::<8>::default(),
        drive!(
            clock,
            reset,
            send_packet_word,
            send_packet_last,
            send_packet_abandon,
            send_packet_valid,
            send_job,
            send_job_valid,
            send_done_ready,
            read_packet_word,
            read_packet_last,
            read_packet_valid,
            read_job,
            read_job_valid,
            read_done_ready,
            packet_ready,
            job_ready,
            done_valid,
            done_error,
            drawn
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn diff_key_arbiter() {
    let warnings = Diff::new("key_arbiter").cycles(3000).run(
        KeyArbiter::default(),
        drive!(
            clock,
            reset,
            control_key_start,
            control_key_op,
            control_key,
            control_key_va,
            control_key_length,
            control_key_pd,
            control_key_access,
            send_key_start,
            send_key_op,
            send_key,
            send_key_va,
            send_key_length,
            send_key_pd,
            send_key_access,
            complete_key_start,
            complete_key_op,
            complete_key,
            complete_key_va,
            complete_key_length,
            complete_key_pd,
            complete_key_access,
            read_key_start,
            read_key_op,
            read_key,
            read_key_va,
            read_key_length,
            read_key_pd,
            read_key_access,
            key_done
        ),
    );
    assert_eq!(warnings, "");
}
