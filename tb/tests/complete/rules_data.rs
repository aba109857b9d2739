// SPDX-License-Identifier: MIT OR Apache-2.0
//! READ and ATOMIC responses: where they go, what doesn't fit, WQEs read again.

use super::golden::{Element, Message, Out, Response, Setup};
use super::harness::{acknowledge, data, Rig, BRISK, LAZY, SETUP, SQ_LOG};
use rand::Rng;
use verbena_spec::{counters, layout::send_opcode::*, layout::sq_wqe, layout::status};

fn rig() -> Rig<64> {
    let mut rig = Rig::new(1, BRISK);
    rig.connect(1, SETUP, 100);
    rig
}

fn failure(out: &[Out]) -> Option<u32> {
    out.iter().find_map(|o| match o {
        Out::Entry {
            status, fatal: Some(_), ..
        } => Some(*status),
        _ => None,
    })
}

fn jobs(out: &[Out]) -> usize {
    out.iter().filter(|o| matches!(o, Out::Job { .. })).count()
}

/// The responses that answer a message from its packet `from` on, as a conformant responder sends them: begun anew where the request was.
fn answers(message: &Message, pmtu: u32, from: u32) -> Vec<Response> {
    let n = message.packets(pmtu);
    (from..n)
        .map(|k| {
            let opcode = match (k == from, k + 1 == n) {
                (true, true) => 0x10,
                (true, false) => 0x0d,
                (false, false) => 0x0e,
                (false, true) => 0x0f,
            };
            let length = if k + 1 == n { message.length - k * pmtu } else { pmtu };
            data(opcode, message.first + k, length)
        })
        .collect()
}

#[test]
fn budget_response_inside_a_message() {
    let mut rig = rig();
    rig.send(1, READ, 256 * 6);
    let list = answers(&rig.lives[1].messages[0], 256, 0);
    for r in list {
        let (_, cycles) = rig.respond(1, r);
        println!("a READ response, PSN {}: {cycles} cycles", r.psn);
        assert!(r.psn == 100 || cycles <= 32);
    }
}

/// Every seam between two elements, at every alignment that matters, both widths; the golden model holds the jobs' bytes.
fn seams<const W: usize>(beat_bytes: u32) {
    let mut rig = Rig::<W>::new(5, BRISK);
    let setup = Setup { beat_bytes, ..SETUP };
    rig.connect(2, setup, 0xff_ff00);
    for first in [0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 300, 511, 512, 513, 515, 516] {
        let length = 516;
        let elements = [
            Element {
                va: 0x1_ffff_ff00 + first as u64 * 3,
                length: first,
                key: 0x200,
            },
            Element {
                va: 0xffff_fffd,
                length: length - first,
                key: 0x302,
            },
        ];
        let number = rig.post(2, READ, length, first % 2 == 0, &elements);
        rig.begin(2, 9);
        for mut r in answers(&rig.lives[2].messages[number].clone(), 256, 0) {
            r.lane = if W == 64 { rig.rng.gen_range(0..2) * 4 } else { 0 };
            r.beat = rig.rng.gen_range(0..0x1f00);
            rig.respond(2, r);
        }
    }
}

#[test]
fn read_data_spans_elements() {
    seams::<64>(8);
}

#[test]
fn read_data_spans_elements_in_the_small_preset() {
    seams::<32>(4);
}

#[test]
fn r22_a_read_of_nothing_has_one_psn() {
    let mut rig = rig();
    rig.send(1, READ, 0);
    rig.send(1, SEND, 1);
    let (out, _) = rig.respond(1, data(0x10, 100, 0));
    assert_eq!((jobs(&out), rig.fetches), (0, 0));
    rig.ack(1, 101);
    assert_eq!(rig.lives[1].golden.wqe, 2);
}

#[test]
fn r30_a_read_taken_up_again_may_begin_anew_or_go_on() {
    for anew in [true, false] {
        let mut rig = rig();
        let n = rig.send(1, READ, 1000);
        let message = rig.lives[1].messages[n].clone();
        for r in &answers(&message, 256, 0)[..2] {
            rig.respond(1, *r);
        }
        // Packet 2 is lost, packet 3 says so.
        let (out, _) = rig.respond(1, data(0x0f, 103, 232));
        let want = Out::Rewind {
            psn: 102,
            wqe: 0,
            offset: 512,
            hold: false,
            alone: false,
        };
        assert!(out.contains(&want) && out.contains(&Out::Count(counters::IMPLIED_NAK)));
        let list = if anew {
            answers(&message, 256, 2)
        } else {
            answers(&message, 256, 0)[2..].to_vec()
        };
        for r in list {
            rig.respond(1, r);
        }
        assert_eq!(rig.lives[1].golden.wqe, 1);
    }
    // From the last packet on: ONLY.
    let mut rig = rig();
    rig.send(1, READ, 300);
    rig.respond(1, data(0x0d, 100, 256));
    rig.respond(1, data(0x10, 101, 44));
    assert_eq!(rig.lives[1].golden.wqe, 1);
}

/// R33: a READ of 8 MiB loses a packet of a hundred and ends, each byte placed once (the golden model compares each job).
#[test]
fn r31_r33_a_long_read_with_losses() {
    let mut rig = Rig::<64>::new(6, BRISK);
    let setup = Setup { pmtu: 4096, ..SETUP };
    rig.connect(1, setup, 0xff_ff80);
    let n = rig.send(1, READ, 8 << 20);
    let message = rig.lives[1].messages[n].clone();
    let mut from = 0;
    let mut losses = 0;
    while rig.lives[1].golden.wqe == 0 {
        let mut lost = false;
        for r in answers(&message, 4096, from) {
            if !lost && rig.rng.gen_ratio(1, 100) {
                lost = true;
                losses += 1;
                continue;
            }
            let mut r = r;
            r.psn &= 0xff_ffff;
            let (out, _) = rig.respond(1, r);
            if let Some(Out::Rewind { psn, offset, .. }) = out.iter().find(|o| matches!(o, Out::Rewind { .. })) {
                // R31: from what has arrived on.
                assert_eq!(*psn, rig.lives[1].golden.oldest);
                from = offset / 4096;
                break;
            }
        }
        if lost && rig.lives[1].golden.wqe == 0 {
            from = rig.lives[1].golden.oldest.wrapping_sub(message.first) & 0xff_ffff;
        }
    }
    println!("{losses} losses");
    assert!(losses > 5);
}

#[test]
fn r35_a_response_acknowledges_what_is_before_it() {
    let mut rig = rig();
    rig.send(1, SEND, 300);
    rig.send(1, WRITE, 3);
    rig.send(1, FETCH_ADD, 8);
    rig.respond(1, data(0x12, 103, 0));
    assert_eq!(rig.lives[1].golden.wqe, 3);
}

#[test]
fn r40_what_does_not_fit_ends_the_request() {
    let read = |length| move |rig: &mut Rig<64>| rig.send(1, READ, length);
    let other = |opcode| move |rig: &mut Rig<64>| rig.send(1, opcode, 8);
    type Make = Box<dyn Fn(&mut Rig<64>) -> usize>;
    let cases: Vec<(Make, Response)> = vec![
        (Box::new(read(600)), data(0x0e, 100, 256)),
        (Box::new(read(600)), data(0x0f, 100, 256)),
        (Box::new(read(600)), data(0x10, 100, 256)),
        (Box::new(read(600)), data(0x0d, 100, 255)),
        (Box::new(read(600)), data(0x0d, 100, 0)),
        (Box::new(read(600)), data(0x12, 100, 0)),
        (Box::new(read(100)), data(0x0d, 100, 100)),
        (Box::new(read(100)), data(0x0f, 100, 100)),
        (Box::new(read(100)), data(0x10, 100, 101)),
        (Box::new(read(256)), data(0x10, 100, 0)),
        (Box::new(read(0)), data(0x10, 100, 4)),
        (
            Box::new(read(100)),
            Response {
                syndrome: 0x61,
                ..data(0x10, 100, 100)
            },
        ),
        (Box::new(other(SEND)), data(0x10, 100, 8)),
        (Box::new(other(WRITE)), data(0x12, 100, 0)),
        (Box::new(other(FETCH_ADD)), data(0x10, 100, 8)),
        (Box::new(other(COMPARE_SWAP)), data(0x12, 100, 8)),
        (
            Box::new(other(COMPARE_SWAP)),
            Response {
                syndrome: 0x20,
                ..data(0x12, 100, 0)
            },
        ),
    ];
    for (make, response) in cases {
        let mut rig = rig();
        make(&mut rig);
        let (out, _) = rig.respond(1, response);
        assert_eq!((failure(&out), jobs(&out)), (Some(status::BAD_RESPONSE_ERROR), 0), "{response:?}");
        assert!(out.contains(&Out::Count(counters::BAD_RESPONSE)));
        rig.bury(1);
    }
    // Deeper in: FIRST where LAST is due, a short MIDDLE.
    for (k, opcode, length) in [(2, 0x0d, 88), (2, 0x0e, 88), (1, 0x0f, 256), (1, 0x0e, 252), (2, 0x0f, 87)] {
        let mut rig = rig();
        let n = rig.send(1, READ, 600);
        for r in &answers(&rig.lives[1].messages[n].clone(), 256, 0)[..k] {
            rig.respond(1, *r);
        }
        let (out, _) = rig.respond(1, data(opcode, 100 + k as u32, length));
        assert_eq!(failure(&out), Some(status::BAD_RESPONSE_ERROR));
    }
}

#[test]
fn r58_an_atomic_result_is_swapped_into_place() {
    for opcode in [COMPARE_SWAP, FETCH_ADD] {
        let mut rig = rig();
        rig.send(1, opcode, 8);
        let (out, _) = rig.respond(1, data(0x12, 100, 0));
        assert!(
            matches!(
                out[0],
                Out::Job {
                    length: 8,
                    beat: 199,
                    lane: 0,
                    swap: true,
                    release: true,
                    ..
                }
            ),
            "{out:?}"
        );
        assert!(matches!(
            out[1],
            Out::Entry {
                jobs: 1,
                complete: true,
                length: 8,
                ..
            }
        ));
    }
}

/// Local protection: of the first piece, of the second (its first has left by then).
#[test]
fn r52_r64_local_keys_are_checked_piece_by_piece() {
    for (keys, pieces) in [([0x101, 0x200], 0), ([0x100, 0x201], 1)] {
        let mut rig = rig();
        let element = |key| Element { va: 64, length: 50, key };
        rig.post(1, READ, 100, true, &[element(keys[0]), element(keys[1])]);
        rig.begin(1, 1);
        let (out, _) = rig.respond(1, data(0x10, 100, 100));
        assert_eq!((failure(&out), jobs(&out)), (Some(status::LOCAL_PROTECTION_ERROR), pieces));
        assert!(out.contains(&Out::Done(counters::RESPONSE, false)));
        rig.bury(1);
    }
}

/// Each READ's WQE is read once an attempt; the next message's is another.
#[test]
fn r66_elements_are_kept_from_packet_to_packet() {
    let mut rig = Rig::<64>::new(7, LAZY);
    rig.connect(1, SETUP, 100);
    for n in 0..20u64 {
        let number = rig.send(1, READ, 800);
        for r in answers(&rig.lives[1].messages[number].clone(), 256, 0) {
            rig.respond(1, r);
        }
        assert_eq!(rig.fetches, n + 1);
    }
}

#[test]
fn r66_a_wqe_that_has_changed_ends_it() {
    type Change = fn(&mut [u32; 16]);
    let change: [(&str, Change); 6] = [
        ("opcode", |w| sq_wqe::OPCODE.set(w, SEND)),
        ("length", |w| sq_wqe::LENGTH.set(w, 601)),
        ("length 0", |w| sq_wqe::LENGTH_0.set(w, 599)),
        ("length 1", |w| sq_wqe::LENGTH_1.set(w, 1)),
        ("elements", |w| sq_wqe::ELEMENTS.set(w, 0)),
        ("elements", |w| sq_wqe::ELEMENTS.set(w, 2)),
    ];
    for (what, change) in change {
        let mut rig = rig();
        // Not at the ring's first place, and beyond its first round.
        for k in 0..17 {
            rig.send(1, SEND, 1);
            rig.ack(1, 100 + k);
        }
        rig.send(1, READ, 600);
        let at = 0x77_ab00_0000 + 0x10000 + 64 * (17 & ((1 << SQ_LOG) - 1));
        let mut w: [u32; 16] = std::array::from_fn(|i| rig.memory[&(at + 4 * i as u64)]);
        // Words behind the elements in use aren't looked at.
        w[12] = 77;
        change(&mut w);
        if what == "length 1" {
            sq_wqe::ELEMENTS.set(&mut w, 2);
        }
        for (i, word) in w.into_iter().enumerate() {
            rig.memory.insert(at + 4 * i as u64, word);
        }
        let r = data(0x0d, 117, 256);
        let life = &mut rig.lives[1];
        let sender = life.sender;
        // The golden model knows nothing of changed WQEs: a failure of Send's own is what it should look like.
        life.golden.fail(status::LOCAL_QP_OPERATION_ERROR);
        let _ = sender;
        let out = rig.respond_raw(1, r);
        assert_eq!(failure(&out), Some(status::LOCAL_QP_OPERATION_ERROR), "{what}");
        assert_eq!(jobs(&out), 0);
        rig.bury(1);
    }
}

#[test]
fn r69_a_wqe_that_cannot_be_read_ends_it() {
    let mut rig = rig();
    rig.send(1, READ, 600);
    rig.read_error = true;
    rig.lives[1].golden.fail(status::LOCAL_QP_OPERATION_ERROR);
    let out = rig.respond_raw(1, data(0x0d, 100, 256));
    assert_eq!((failure(&out), jobs(&out)), (Some(status::LOCAL_QP_OPERATION_ERROR), 0));
    rig.bury(1);
}

/// The kept elements belong to a life: the next one's WQE 0 is another.
#[test]
fn r68_a_new_life_reads_its_own_wqe() {
    let mut rig = rig();
    for _ in 0..3 {
        rig.connect(1, SETUP, 100);
        let va = rig.rng.gen::<u32>() as u64;
        rig.post(
            1,
            READ,
            300,
            true,
            &[Element {
                va,
                length: 300,
                key: 0x100,
            }],
        );
        rig.begin(1, 2);
        rig.respond(1, data(0x0d, 100, 256));
    }
    assert_eq!(rig.fetches, 3);
}

/// QPs in turn: nothing of one is taken for another's.
#[test]
fn r27_reads_of_several_qps_interleave() {
    let mut rig = Rig::<64>::new(8, LAZY);
    for index in 0..4 {
        rig.connect(index, SETUP, 1000 * index as u32);
        rig.send(index, READ, 256 * 5);
    }
    for k in 0..4 {
        for index in 0..4 {
            let r = answers(&rig.lives[index].messages[0].clone(), 256, 0)[k];
            rig.respond(index, r);
        }
    }
    for index in 0..4 {
        rig.respond(index, acknowledge(1000 * index as u32 + 4, 0x60));
    }
}
