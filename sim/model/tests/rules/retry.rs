// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester, backward: R25, R30, R31, R34, R35, R39, R40, R43-R45, R47, R48, R64, R65, SQD and RESET.

use super::client::*;
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_queue::rnr_timer;
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::Outcome;
use verbena_model::packet::Packet;
use verbena_spec::counters as c;
use verbena_spec::layout::{event_type, send_opcode as op, status};

const FIRST: u8 = 0x0d;
const MIDDLE: u8 = 0x0e;
const LAST: u8 = 0x0f;
const ONLY: u8 = 0x10;

#[test]
fn r25_r32_a_sequence_nak_acknowledges_and_goes_back() {
    for lost in 0..9 {
        let mut c = Client::new();
        for _ in 0..3 {
            c.post(write(0, 3 * PMTU));
        }
        let sent = c.sent();
        assert_eq!(c.syndrome(0x60, at(lost)), c::RESPONSE);
        assert_eq!(c.done().len() as u32, lost / 3, "what is before it is done");
        let again = c.sent();
        // R32: the same packets.
        assert_eq!(again, sent[lost as usize..], "{lost}");
        assert_eq!(c.count(c::REWIND), 1);
        c.ack(at(8));
        assert_eq!(c.done().len() as u32, 3 - lost / 3);
        assert_eq!(c.golden.next_deadline(), None, "nothing is outstanding");
    }
}

#[test]
fn r31_a_read_is_asked_for_again_from_what_is_missing() {
    let mut c = Client::new();
    c.post(read(0, 5 * PMTU + 9));
    let first = c.sent();
    assert_eq!(first.len(), 1);
    c.data(FIRST, at(0), &Client::source(0, PMTU));
    c.data(MIDDLE, at(1), &Client::source(PMTU, PMTU));
    // The third is lost: the fourth says so.
    c.data(MIDDLE, at(3), &Client::source(3 * PMTU, PMTU));
    let again = c.sent();
    assert_eq!(again.len(), 1);
    let (p, reth) = (&again[0], again[0].reth);
    assert_eq!((p.opcode, p.psn), (0x0c, at(2)));
    assert_eq!((reth.virtual_address, reth.length), (REMOTE + 2 * PMTU as u64, 3 * PMTU as u32 + 9));
    // R30: Soft-RoCE goes on with MIDDLE.
    for n in 2..5 {
        c.data(MIDDLE, at(n), &Client::source(n as usize * PMTU, PMTU));
    }
    c.data(LAST, at(5), &Client::source(5 * PMTU, 9));
    assert_eq!(c.done(), [(0, status::SUCCESS)]);
    assert_eq!(c.sink(0, 5 * PMTU + 9), Client::source(0, 5 * PMTU + 9));
}

#[test]
fn r30_responses_may_begin_anew_where_the_read_was_restarted() {
    for only in [false, true] {
        let mut c = Client::new();
        c.post(read(0, 3 * PMTU));
        c.sent();
        c.data(FIRST, at(0), &Client::source(0, PMTU));
        let from = if only {
            c.data(MIDDLE, at(1), &Client::source(PMTU, PMTU));
            2
        } else {
            1
        };
        c.advance(TIMEOUT);
        assert_eq!(c.sent_psns(), [at(from)]);
        if only {
            c.data(ONLY, at(2), &Client::source(2 * PMTU, PMTU));
        } else {
            c.data(FIRST, at(1), &Client::source(PMTU, PMTU));
            c.data(LAST, at(2), &Client::source(2 * PMTU, PMTU));
        }
        assert_eq!(c.done(), [(0, status::SUCCESS)]);
        assert_eq!(c.sink(0, 3 * PMTU), Client::source(0, 3 * PMTU));
    }
    // Not where it wasn't.
    let mut c = Client::new();
    c.post(read(0, 3 * PMTU));
    c.sent();
    c.data(FIRST, at(0), &Client::source(0, PMTU));
    c.data(FIRST, at(1), &Client::source(PMTU, PMTU));
    assert_eq!(c.done(), [(0, status::BAD_RESPONSE_ERROR)]);
}

#[test]
fn r34_an_ack_beyond_a_read_asks_for_its_responses() {
    let mut c = Client::new();
    c.post(write(0, 4));
    c.post(read(0, 2 * PMTU));
    c.post(write(0, 4));
    c.sent();
    assert_eq!(c.ack(at(3)), c::RESPONSE);
    assert_eq!(c.done(), [(0, status::SUCCESS)], "the READ isn't done by that, nor what follows");
    assert_eq!(c.count(c::IMPLIED_NAK), 1);
    assert_eq!(c.sent_psns(), [at(1), at(3)]);
    // Once until there is progress: then the timer must help.
    c.ack(at(3));
    assert!(c.sent().is_empty());
    c.data(FIRST, at(1), &[1; PMTU]);
    c.ack(at(3));
    assert_eq!(c.sent_psns(), [at(2), at(3)]);
    c.data(ONLY, at(2), &[1; PMTU]);
    c.ack(at(3));
    assert_eq!(c.done(), [(1, status::SUCCESS), (2, status::SUCCESS)]);
    // A NAK beyond it likewise: the READ first.
    let mut c = Client::new();
    c.post(read(0, 4));
    c.post(write(0, 4));
    c.sent();
    for code in [0x60, 0x61, 0x2c] {
        c.syndrome(code, at(1));
        assert_eq!(c.state(), State::Rts);
    }
    assert_eq!(c.sent_psns(), [at(0), at(1)]);
}

#[test]
fn r35_a_response_acknowledges_what_is_before_it() {
    let mut c = Client::new();
    c.post(write(0, 2 * PMTU));
    c.post(SendWqe::new(op::SEND));
    c.post(read(0, 4));
    c.post(write(0, 4));
    c.post(fetch_add(8));
    c.sent();
    c.data(ONLY, at(3), &[1, 2, 3, 4]);
    let good = |index| (index, status::SUCCESS);
    assert_eq!(c.done(), [good(0), good(1), good(2)]);
    let ack = Packet {
        opcode: 0x12,
        psn: at(5),
        atomic_original: 0x1122_3344_5566_7788,
        ..Packet::default()
    };
    c.answer(ack);
    assert_eq!(c.done(), [good(3), good(4)]);
    assert_eq!(c.sink(8, 8), 0x1122_3344_5566_7788u64.to_le_bytes());
}

#[test]
fn r39_ghosts_change_nothing() {
    let mut c = Client::new();
    c.post(write(0, 4));
    c.post(read(0, 4));
    for psn in [at(0), at(1)] {
        assert_eq!(c.ack(psn), c::GHOST_ACK, "nothing is sent yet");
    }
    c.sent();
    for psn in [SQ_PSN - 1, at(2), at(100), at(0x80_0000)] {
        for code in [0x1f, 0x60, 0x61, 0x2c] {
            assert_eq!(c.syndrome(code, psn), c::GHOST_ACK);
        }
        for opcode in [ONLY, 0x12] {
            assert_eq!(c.data(opcode, psn, &[1; 4]), c::GHOST_ACK);
        }
    }
    c.ack(at(0));
    assert_eq!(c.ack(at(0)), c::GHOST_ACK, "a late copy");
    assert_eq!((c.done().len(), c.state()), (1, State::Rts));
    assert!(c.sent().is_empty());
}

#[test]
fn r40_responses_that_do_not_fit_end_the_queue() {
    let p = PMTU;
    let whole = [1; PMTU];
    // (posted, opcode, PSN, payload)
    let cases: [(SendWqe, u8, u32, &[u8]); 10] = [
        (write(0, 4), ONLY, 0, &[1; 4]),
        (write(0, 4), 0x12, 0, &[]),
        (read(0, 4), 0x12, 0, &[]),
        (fetch_add(0), ONLY, 0, &[1; 4]),
        // A READ of one packet, of two.
        (read(0, 4), FIRST, 0, &[1; 4]),
        (read(0, 4), LAST, 0, &[1; 4]),
        (read(0, 4), ONLY, 0, &[1; 5]),
        (read(0, 2 * p), ONLY, 0, &whole),
        (read(0, 2 * p), MIDDLE, 0, &whole),
        (read(0, 2 * p), FIRST, 0, &whole[1..]),
    ];
    for (number, (wqe, opcode, psn, payload)) in cases.into_iter().enumerate() {
        let mut c = Client::new();
        c.post(wqe);
        c.post(write(0, 4));
        c.sent();
        assert_eq!(c.data(opcode, at(psn), payload), c::RESPONSE);
        let want = [(0, status::BAD_RESPONSE_ERROR), (1, status::WR_FLUSH_ERROR)];
        assert_eq!(c.done(), want, "{number}");
        assert_eq!((c.count(c::BAD_RESPONSE), c.state()), (1, State::Err));
        assert_eq!(c.sink(0, 2 * p), vec![0; 2 * p], "{number}: nothing is placed");
    }
    // Syndromes that are none.
    for code in [0x40, 0x5f, 0x64, 0x7f] {
        let mut c = Client::new();
        c.post(write(0, 4));
        c.sent();
        c.syndrome(code, at(0));
        assert_eq!(c.done(), [(0, status::BAD_RESPONSE_ERROR)], "{code:#x}");
    }
}

#[test]
fn r43_r45_every_rnr_code_waits_its_time_and_the_ack_timer_not_at_all() {
    for code in 0..32 {
        let mut c = Client::new();
        c.post(write(0, 4));
        c.post(SendWqe::new(op::SEND));
        c.post(write(0, 4));
        c.sent();
        c.syndrome(0x20 | code, at(1));
        assert_eq!(c.done(), [(0, status::SUCCESS)]);
        let end = rnr_timer(code);
        assert_eq!(c.golden.next_deadline(), Some(end), "only the RNR timer runs");
        // The extra sequence NAK of Soft-RoCE changes nothing (R46).
        c.syndrome(0x60, at(1));
        c.advance(end - 1);
        assert!(c.sent().is_empty(), "code {code}");
        assert_eq!(c.count(c::TIMEOUT), 0);
        c.advance(end);
        assert_eq!(c.sent_psns(), [at(1), at(2)], "code {code}");
        assert_eq!(c.golden.next_deadline(), Some(end + TIMEOUT));
    }
}

#[test]
fn r45_an_rnr_nak_during_the_replay_of_an_earlier_one() {
    let mut c = Client::with(Attributes {
        rnr_retry: 7,
        ..attributes()
    });
    c.post(SendWqe::new(op::SEND).element(VA, 3 * PMTU as u32, SOURCE));
    c.sent();
    let mut now = 0;
    for round in 0..100 {
        c.syndrome(0x21, at(0));
        now += rnr_timer(1);
        c.advance(now);
        // The next one arrives in the middle of the replay.
        for _ in 0..round % 3 {
            assert!(c.golden.transmit(&mut c.memory, &mut c.outcome).is_some());
        }
        if round % 3 == 0 {
            assert_eq!(c.sent_psns(), [at(0), at(1), at(2)], "round {round}");
        }
        assert_eq!(c.state(), State::Rts, "R44: 7 is for ever");
    }
    c.sent();
    c.ack(at(2));
    assert_eq!(c.done(), [(0, status::SUCCESS)]);
}

#[test]
fn r44_retries_are_counted_apart_and_anew_after_progress() {
    let mut c = Client::new();
    c.post(SendWqe::new(op::SEND));
    c.post(SendWqe::new(op::SEND));
    c.sent();
    let mut now = 0;
    let mut rnr = |c: &mut Client, psn| {
        c.syndrome(0x21, psn);
        now += rnr_timer(1);
        c.advance(now);
        c.sent();
        now
    };
    // Three of each, mixed: neither runs out.
    for _ in 0..3 {
        rnr(&mut c, at(0));
    }
    let mut late = rnr_timer(1) * 3;
    for _ in 0..3 {
        late += TIMEOUT;
        c.advance(late);
        assert_eq!(c.sent().len(), 2);
    }
    assert_eq!(c.state(), State::Rts);
    // Progress: both begin anew.
    c.ack(at(0));
    assert_eq!(c.done(), [(0, status::SUCCESS)]);
    for _ in 0..3 {
        c.syndrome(0x21, at(1));
        late += rnr_timer(1);
        c.advance(late);
        assert_eq!(c.sent().len(), 1);
    }
    for _ in 0..3 {
        late += TIMEOUT;
        c.advance(late);
        assert_eq!(c.sent().len(), 1, "timeouts too");
    }
    let mut timed_out = c.golden.clone();
    c.syndrome(0x21, at(1));
    assert_eq!(c.done(), [(1, status::RNR_RETRY_EXCEEDED)], "the fourth in a row");
    timed_out.advance(late + TIMEOUT, &mut c.memory, &mut c.outcome);
    assert_eq!(c.done(), [(1, status::RETRY_EXCEEDED)], "the fourth of these");
}

#[test]
fn r47_the_ack_timer_fires_in_time_for_every_code() {
    for code in 1..32u8 {
        let mut c = Client::with(Attributes {
            timeout: code,
            ..attributes()
        });
        c.advance(1000);
        c.post(write(0, 4));
        c.sent();
        let time = 4096u64 << code;
        c.advance(1000 + time - 1);
        assert!(c.sent().is_empty(), "code {code}: not before T");
        c.advance(1000 + 4 * time);
        assert_eq!(c.sent_psns(), [at(0)], "code {code}: by 4 T");
        assert_eq!(c.count(c::TIMEOUT), 1);
    }
    let mut c = Client::with(Attributes {
        timeout: 0,
        ..attributes()
    });
    c.post(write(0, 4));
    c.sent();
    assert_eq!(c.golden.next_deadline(), None, "code 0 is off");
}

#[test]
fn r47_a_packet_without_ack_request_starts_no_timer_and_progress_restarts_it() {
    let mut c = Client::new();
    c.post(write(0, 3 * PMTU));
    c.golden.transmit(&mut c.memory, &mut c.outcome);
    assert_eq!(c.golden.next_deadline(), None);
    c.sent();
    assert_eq!(c.golden.next_deadline(), Some(TIMEOUT));
    c.advance(TIMEOUT / 2);
    c.ack(at(1));
    assert_eq!(c.golden.next_deadline(), Some(TIMEOUT / 2 + TIMEOUT));
    // Back to the oldest that isn't acknowledged.
    c.advance(TIMEOUT / 2 + TIMEOUT);
    assert_eq!(c.sent_psns(), [at(2)]);
}

#[test]
fn r48_r65_retries_run_out_and_everything_is_flushed() {
    let mut c = Client::new();
    for _ in 0..3 {
        c.post(write(0, 4).unsignaled());
    }
    let mut outcome = Outcome::default();
    c.golden.post_receive(QPN, VA, 10, SINK, &mut outcome).unwrap();
    c.sent();
    for retry in 1..=3 {
        c.advance(retry * TIMEOUT);
        assert_eq!(c.sent().len(), 3, "retry {retry}");
        assert!(c.done().is_empty());
    }
    c.advance(4 * TIMEOUT);
    let done: Vec<_> = c.completions().iter().map(|d| (d.cq, d.wqe_index, d.status)).collect();
    let flushed = status::WR_FLUSH_ERROR;
    assert_eq!(
        done,
        [(3, 0, status::RETRY_EXCEEDED), (3, 1, flushed), (3, 2, flushed), (4, 0, flushed)]
    );
    assert_eq!(c.state(), State::Err);
    let event = c.outcome.events[0];
    assert_eq!(
        (event.kind, event.number, event.detail),
        (event_type::QP_FATAL, QPN, status::RETRY_EXCEEDED)
    );
    // A NAK for ever without progress ends likewise: it doesn't restart the timer.
    let mut c = Client::new();
    c.post(write(0, 4));
    c.post(write(0, 4));
    for round in 0..80 {
        c.sent();
        c.advance(round * TIMEOUT / 10);
        c.syndrome(0x60, at(0));
    }
    assert_eq!(c.done()[0], (0, status::RETRY_EXCEEDED));
    // No retry at all.
    let mut c = Client::with(Attributes {
        retry_count: 0,
        ..attributes()
    });
    c.post(write(0, 4));
    c.sent();
    c.advance(TIMEOUT);
    assert_eq!(c.done(), [(0, status::RETRY_EXCEEDED)]);
}

#[test]
fn r64_each_nak_has_its_status() {
    for (code, want) in [
        (0x61, status::REMOTE_INVALID_REQUEST_ERROR),
        (0x62, status::REMOTE_ACCESS_ERROR),
        (0x63, status::REMOTE_OPERATION_ERROR),
    ] {
        for wqe in [write(0, 2 * PMTU), read(0, 2 * PMTU), fetch_add(0)] {
            let mut c = Client::new();
            c.post(write(0, 4));
            c.post(wqe.unsignaled());
            c.post(read(0, 4));
            c.sent();
            // Of a READ's or ATOMIC's request the NAK has the request's PSN; of a message any of its packets'.
            let psn = if wqe.is_write() { at(2) } else { at(1) };
            c.syndrome(code, psn);
            let want = [(0, status::SUCCESS), (1, want), (2, status::WR_FLUSH_ERROR)];
            assert_eq!(c.done(), want, "{code:#x}");
            assert_eq!(c.outcome.events[0].detail, u32::from(code));
            assert_eq!(c.ack(at(4)), c::QP_STATE);
        }
    }
}

#[test]
fn r65_what_is_posted_in_err_is_flushed_at_once() {
    let mut c = Client::new();
    c.post(write(0, 4));
    c.sent();
    let mut outcome = Outcome::default();
    assert!(c.golden.modify(QPN, State::Err, &mut outcome));
    assert_eq!(outcome.completions.len(), 1);
    c.post(write(0, 4));
    c.post(read(0, 4).unsignaled());
    assert_eq!(c.done(), [(1, status::WR_FLUSH_ERROR), (2, status::WR_FLUSH_ERROR)]);
    assert!(c.sent().is_empty());
    c.advance(100 * TIMEOUT);
    assert!(c.done().is_empty());
}

#[test]
fn sqd_ends_what_has_begun_and_reset_forgets_all() {
    let mut c = Client::new();
    c.post(write(0, 2 * PMTU));
    c.post(write(0, 4));
    assert!(c.golden.transmit(&mut c.memory, &mut c.outcome).is_some());
    assert!(c.golden.modify(QPN, State::Sqd, &mut c.outcome));
    assert_eq!(c.sent_psns(), [at(1)], "the message that had begun");
    // A retry in SQD.
    c.advance(TIMEOUT);
    assert_eq!(c.sent_psns(), [at(0), at(1)]);
    assert!(c.outcome.events.is_empty());
    c.ack(at(1));
    assert_eq!(
        c.outcome.events.iter().map(|e| e.kind).collect::<Vec<_>>(),
        [event_type::SQ_DRAINED]
    );
    assert!(c.sent().is_empty());
    assert!(c.golden.modify(QPN, State::Rts, &mut c.outcome));
    assert_eq!(c.sent_psns(), [at(2)]);
    assert!(c.golden.modify(QPN, State::Reset, &mut c.outcome));
    assert_eq!(c.golden.next_deadline(), None);
    for state in [State::Init, State::Rtr, State::Rts] {
        assert!(c.golden.modify(QPN, state, &mut c.outcome));
    }
    assert!(c.sent().is_empty(), "nothing is posted in the new life");
    assert_eq!(c.post(write(0, 4)), 0);
    assert_eq!(c.sent_psns(), [at(0)], "R41: the first PSN again");
}

#[test]
fn what_arrived_meanwhile_is_not_sent_again() {
    let mut c = Client::new();
    for _ in 0..6 {
        c.post(write(0, 4));
    }
    c.sent();
    c.advance(TIMEOUT);
    // Two of six are sent again when the ACK of the fourth arrives.
    for _ in 0..2 {
        assert!(c.golden.transmit(&mut c.memory, &mut c.outcome).is_some());
    }
    c.ack(at(3));
    assert_eq!(c.sent_psns(), [at(4), at(5)]);
}

#[test]
fn r78_any_credits_are_an_ack() {
    for credits in 0..32 {
        let mut c = Client::new();
        c.post(write(0, 4));
        c.sent();
        c.syndrome(credits, at(0));
        assert_eq!(c.done(), [(0, status::SUCCESS)], "{credits}");
        // None stop it either.
        c.post(write(0, 4));
        assert_eq!(c.sent().len(), 1);
    }
}
