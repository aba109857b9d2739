// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random lives: messages of all kinds, and of responses whatever a bad day brings. Each job is compared with the golden model; in the end every WQE
//! must have completed exactly once, in order.

use super::golden::{add, Element, Out, Response, Setup, Timer};
use super::harness::{acknowledge, data, Habits, Rig, BRISK, LAZY, SQ_LOG};
use rand::Rng;
use verbena_spec::layout::{send_opcode::*, state, status};

/// What the completions of a life have been so far.
#[derive(Default)]
struct Tally {
    next: u16,
    failed: bool,
}

impl Tally {
    /// Each WQE at most once, in order; what is missing between was unsignalled and succeeded.
    fn see<const W: usize>(&mut self, rig: &Rig<W>, index: usize, out: &[Out]) {
        for o in out {
            let Out::Entry {
                complete: true,
                wqe,
                status,
                ..
            } = o
            else {
                continue;
            };
            let say = rig.say();
            assert!(*wqe >= self.next, "{say}: WQE {wqe} again");
            for skipped in self.next..*wqe {
                assert!(
                    !self.failed && !rig.lives[index].messages[skipped as usize].signaled,
                    "{say}: WQE {skipped} never completed"
                );
            }
            if self.failed {
                assert_eq!(*status, status::WR_FLUSH_ERROR, "{say}");
            }
            self.failed |= *status != 0;
            self.next = wqe + 1;
        }
    }
}

fn random_setup<const W: usize>(rig: &mut Rig<W>) -> Setup {
    let small = W == 32;
    Setup {
        pmtu: 256 << rig.rng.gen_range(0..if small { 2 } else { 5 }),
        retry_count: rig.rng.gen_range(0..8),
        rnr_retry: rig.rng.gen_range(0..8),
        timeout: rig.rng.gen_range(4..6),
        beat_bytes: W as u32 / 8,
        selective_repeat: rig.rng.gen(),
    }
}

fn post<const W: usize>(rig: &mut Rig<W>, index: usize) {
    let pmtu = rig.lives[index].golden.setup.pmtu;
    let opcode = rig.rng.gen_range(0..if W == 32 { COMPARE_SWAP } else { FETCH_ADD + 1 });
    let length = match rig.rng.gen_range(0..6) {
        0 => 0,
        1 => rig.rng.gen_range(0..=64),
        2 => pmtu * rig.rng.gen_range(1..4),
        3 => pmtu * rig.rng.gen_range(1..4) + 1,
        _ => rig.rng.gen_range(0..pmtu * 5),
    };
    let mut key = || rig.rng.gen::<u32>() & !1 | rig.rng.gen_ratio(1, 100) as u32;
    let keys = [key(), key()];
    let signaled = rig.rng.gen_ratio(2, 3);
    let va = [rig.rng.gen::<u64>(), rig.rng.gen::<u64>() >> rig.rng.gen_range(0..64)];
    let split = if rig.rng.gen_ratio(1, 4) {
        0
    } else {
        rig.rng.gen_range(0..=length)
    };
    let mut elements = vec![];
    if opcode >= COMPARE_SWAP {
        elements.push(Element {
            va: va[0],
            length: 8,
            key: keys[0],
        });
        rig.post(index, opcode, 8, signaled, &elements);
        return;
    }
    let one = rig.rng.gen_bool(0.5);
    elements.push(Element {
        va: va[0],
        length: if one { length } else { split },
        key: keys[0],
    });
    if !one {
        elements.push(Element {
            va: va[1],
            length: length - split,
            key: keys[1],
        });
    }
    rig.post(index, opcode, length, signaled, &elements);
}

/// The answer that the oldest message waits for, or near it.
fn good<const W: usize>(rig: &mut Rig<W>, index: usize) -> Response {
    let life = &rig.lives[index];
    let pmtu = life.golden.setup.pmtu;
    let oldest = life.golden.oldest;
    let message = life.messages[life.golden.wqe as usize].clone();
    if message.is_atomic() {
        return data(0x12, oldest, 0);
    }
    if message.is_read() {
        let k = oldest.wrapping_sub(message.first) & 0xff_ffff;
        let last = k + 1 == message.packets(pmtu);
        let begins = k == 0 || rig.rng.gen_ratio(1, 6);
        let opcode = match (begins, last) {
            (true, true) => 0x10,
            (true, false) => 0x0d,
            (false, false) => 0x0e,
            (false, true) => 0x0f,
        };
        return data(opcode, oldest, if last { message.length - k * pmtu } else { pmtu });
    }
    let ahead = life.sender.highest.wrapping_sub(oldest) & 0xff_ffff;
    acknowledge(add(oldest, rig.rng.gen_range(0..ahead)), 0x1f)
}

fn bad<const W: usize>(rig: &mut Rig<W>, index: usize) -> Response {
    let life = &rig.lives[index];
    let ahead = life.sender.highest.wrapping_sub(life.golden.oldest) & 0xff_ffff;
    let psn = match rig.rng.gen_range(0..8) {
        0 => rig.rng.gen::<u32>() & 0xff_ffff,
        1 => add(life.golden.oldest, 0xff_ffff - rig.rng.gen_range(0..3)),
        2 => add(life.sender.highest, rig.rng.gen_range(0..2)),
        3 => life.golden.oldest,
        _ => add(life.golden.oldest, rig.rng.gen_range(0..ahead.max(1))),
    };
    let pmtu = life.golden.setup.pmtu;
    match rig.rng.gen_range(0..40) {
        0 => acknowledge(psn, rig.rng.gen::<u8>() & 0x7f),
        1 => data(rig.rng.gen_range(0x0d..0x13), psn, rig.rng.gen_range(0..2) * pmtu),
        2..=9 => acknowledge(psn, 0x20 | rig.rng.gen_range(1..9)),
        10..=19 => acknowledge(psn, 0x60),
        // A response of a READ further on, or one seen already.
        20..=27 => {
            let life = &rig.lives[index];
            let wqe = life.golden.wqe as usize;
            let begun = life.sender.begun as usize;
            let read = (wqe..begun).rfind(|i| life.messages[*i].is_read());
            match read {
                Some(i) => data(0x0e, add(life.messages[i].first, 1), pmtu),
                None => acknowledge(psn, 0x1f),
            }
        }
        _ => acknowledge(psn, 0x1f),
    }
}

fn place<const W: usize>(rig: &mut Rig<W>, r: &mut Response) {
    r.beat = rig.rng.gen_range(8..0x1f00);
    r.lane = if W == 64 { rig.rng.gen_range(0..2) * 4 } else { 0 };
    r.end_beat = rig.rng.gen_range(0..0x2000);
    if r.opcode == 0x12 {
        r.lane = 0;
    }
}

/// Of all runs of a test together: each kind of thing has happened.
fn all_happened(runs: impl Iterator<Item = [usize; 6]>) {
    let total = runs.fold([0; 6], |a, b| std::array::from_fn(|i| a[i] + b[i]));
    assert!(total.iter().all(|n| *n > 0), "{total:?}");
}

/// Lives of one QP, with its timer; `steps` jobs.
fn lives<const W: usize>(seed: u64, habits: Habits, steps: usize) -> [usize; 6] {
    let mut rig = Rig::<W>::new(seed, habits);
    let index = rig.rng.gen_range(0..4);
    let mut tally = Tally::default();
    let mut fresh = true;
    let mut count = [0usize; 6];
    for _ in 0..steps {
        if fresh {
            let setup = random_setup(&mut rig);
            let psn = if rig.rng.gen() {
                0xff_fff0
            } else {
                rig.rng.gen::<u32>() & 0xff_ffff
            };
            rig.connect(index, setup, psn);
            tally = Tally::default();
            fresh = false;
        }
        let life = &rig.lives[index];
        let (wqe, sender) = (life.golden.wqe, life.sender);
        if sender.producer.wrapping_sub(wqe) < 1 << SQ_LOG && rig.rng.gen_ratio(1, 3) {
            post(&mut rig, index);
        }
        let life = &mut rig.lives[index];
        let pmtu = life.golden.setup.pmtu;
        let in_rts = life.golden.state == state::RTS;
        // Send goes on: the rest of its message, or the next.
        let end = (sender.begun > 0).then(|| life.messages[sender.begun as usize - 1].end(pmtu));
        let s = &mut life.sender;
        if s.alone {
            if rig.rng.gen_ratio(2, 3) {
                (s.next, s.alone) = (s.highest, false);
            }
        } else if s.next != s.highest {
            if rig.rng.gen_ratio(2, 3) {
                s.next = add(s.next, 1);
            }
        } else if end.is_some_and(|end| s.highest != end) {
            s.highest = add(s.highest, 1);
            s.next = s.highest;
        } else if s.begun < s.producer && s.begun.wrapping_sub(wqe) < 8 && in_rts && rig.rng.gen_ratio(3, 4) {
            let packets = rig.rng.gen_range(1..8);
            rig.begin(index, packets);
        }
        if rig.outstanding(index) && rig.rng.gen_ratio(1, 2) {
            rig.arm(index);
        }
        let kind = rig.rng.gen_range(0..100);
        let want = if kind < 55 && rig.outstanding(index) {
            count[0] += 1;
            let mut r = good(&mut rig, index);
            place(&mut rig, &mut r);
            rig.respond(index, r).0
        } else if kind < 90 {
            count[1] += 1;
            let mut r = bad(&mut rig, index);
            place(&mut rig, &mut r);
            rig.respond(index, r).0
        } else if kind < 96 {
            count[2] += (rig.lives[index].golden.timer != Timer::Off) as usize;
            if rig.lives[index].golden.timer != Timer::Off {
                rig.expire(index);
            }
            vec![]
        } else if kind < 98 && in_rts {
            count[3] += 1;
            rig.change(index, state::SQD);
            vec![]
        } else {
            if rig.lives[index].golden.state == state::SQD {
                rig.change(index, state::RTS);
            }
            vec![]
        };
        tally.see(&rig, index, &want);
        if rig.lives[index].golden.dead {
            count[4] += 1;
            // The failing completion may have come by way of the timer.
            tally.next = tally.next.max(rig.lives[index].golden.wqe);
            tally.failed = true;
            rig.bury(index);
            assert_eq!(rig.lives[index].golden.wqe, rig.lives[index].sender.producer);
            fresh = true;
        } else if rig.rng.gen_ratio(1, 300) {
            rig.change(index, state::ERR);
            assert_eq!(rig.lives[index].golden.wqe, rig.lives[index].sender.producer);
            count[5] += 1;
            fresh = true;
        } else if rig.lives[index].messages.len() > 200 {
            fresh = true;
        }
    }
    println!(
        "seed {seed}: {} good, {} bad responses, {} expirations, {} SQD, {} failures, {} ERR, {} WQE reads, {} cycles",
        count[0], count[1], count[2], count[3], count[4], count[5], rig.fetches, rig.bench.cycle
    );
    count
}

#[test]
fn random_lives_brisk() {
    all_happened((100..106).map(|seed| lives::<64>(seed, BRISK, 400)));
}

#[test]
fn random_lives_lazy() {
    all_happened((200..205).map(|seed| lives::<64>(seed, LAZY, 400)));
}

#[test]
fn random_lives_in_the_small_preset() {
    all_happened(
        [(300, BRISK), (301, LAZY), (302, BRISK), (303, LAZY), (304, BRISK)]
            .into_iter()
            .map(|(seed, habits)| lives::<32>(seed, habits, 400)),
    );
}

/// Several QPs in turn, no timers: what one does leaves the others alone.
#[test]
fn r68_random_qps_side_by_side() {
    for (seed, habits) in [(400, BRISK), (401, LAZY)] {
        let mut rig = Rig::<64>::new(seed, habits);
        let mut fresh = [true; 4];
        for _ in 0..400 {
            let index = rig.rng.gen_range(0..4);
            if fresh[index] {
                let setup = Setup {
                    timeout: 0,
                    ..random_setup(&mut rig)
                };
                rig.connect(index, setup, 0xff_fff8);
                fresh[index] = false;
            }
            let life = &rig.lives[index];
            let (wqe, sender) = (life.golden.wqe, life.sender);
            if sender.producer.wrapping_sub(wqe) < 8 {
                post(&mut rig, index);
                // Whole: the next message may begin.
                rig.begin(index, u32::MAX);
            }
            let mut r = if rig.outstanding(index) && rig.rng.gen_ratio(3, 4) {
                good(&mut rig, index)
            } else {
                bad(&mut rig, index)
            };
            place(&mut rig, &mut r);
            rig.respond(index, r);
            let life = &mut rig.lives[index];
            (life.sender.next, life.sender.alone) = (life.sender.highest, false);
            if life.golden.dead || life.messages.len() > 40 {
                fresh[index] = true;
            }
        }
        // Each failure was reported, if its QP wasn't taken down before.
        rig.fast = true;
        rig.steps(1500);
        for index in 0..4 {
            if rig.lives[index].golden.dead {
                assert!(rig.errors.contains(&index), "QP {index}");
            }
        }
    }
}
