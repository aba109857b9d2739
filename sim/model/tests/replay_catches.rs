// SPDX-License-Identifier: MIT OR Apache-2.0
//! Responders with a fault that a shipping implementation has had: each must fail the replay of a capture that shows it. So the replay's
//! inference and its equivalences aren't so loose that a wrong answer passes.

use anyhow::Result;
use std::path::Path;
use verbena_model::golden::Completion;
use verbena_model::packet::Packet;
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_model::replay::golden::GoldenResponder;
use verbena_model::replay::infer::destination;
use verbena_model::replay::overrides::Overrides;
use verbena_model::replay::play::replay;
use verbena_model::replay::{Responder, Setup};
use verbena_spec::headers::syndrome;

/// What a faulty responder makes of an answer to a request: `None` keeps silent.
type Fault = fn(answer: Packet, request: &Packet, history: &[Packet]) -> Option<Packet>;

/// The golden model with a fault in its answers.
struct Faulty {
    golden: GoldenResponder,
    fault: Fault,
    history: Vec<Packet>,
}

fn decode(frame: &[u8]) -> Option<Packet> {
    let local = Local {
        mac: frame.get(..6)?.try_into().ok()?,
        gids: vec![destination(frame)],
        max_frame: 9000,
        icrc_off: false,
    };
    match verdict(frame, false, &local) {
        Verdict::Roce { packet, .. } => Some(*packet),
        _ => None,
    }
}

impl Responder for Faulty {
    fn configure(&mut self, setup: &Setup) -> Result<()> {
        self.golden.configure(setup)
    }
    fn post_receive(&mut self, qpn: u32, address: u64, length: u32, lkey: u32) -> Result<()> {
        self.golden.post_receive(qpn, address, length, lkey)
    }
    fn deliver(&mut self, frame: &[u8]) -> Result<Vec<Vec<u8>>> {
        let answers = self.golden.deliver(frame)?;
        let Some(request) = decode(frame) else { return Ok(answers) };
        let mut out = vec![];
        for answer in answers.iter().filter_map(|a| decode(a)) {
            if let Some(answer) = (self.fault)(answer, &request, &self.history) {
                self.history.push(answer.clone());
                out.push(answer.to_frame());
            }
        }
        Ok(out)
    }
    fn completions(&mut self) -> Result<Vec<Completion>> {
        self.golden.completions()
    }
    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        self.golden.write(key, virtual_address, bytes)
    }
    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        self.golden.read(key, virtual_address, length)
    }
    fn counters(&mut self) -> Result<Vec<u32>> {
        self.golden.counters()
    }
}

fn holds(capture: &str, fault: Fault) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tb/captures")
        .join(capture)
        .with_extension("pcap");
    let mut faulty = Faulty {
        golden: GoldenResponder::new(),
        fault,
        history: vec![],
    };
    replay(&path, "10.0.0.1".parse().unwrap(), &Overrides::default(), &mut faulty)
        .unwrap()
        .holds()
}

/// The fault shows in each of the captures, and the harness itself in none.
fn shows(captures: &[&str], fault: Fault) {
    for capture in captures {
        assert!(holds(capture, |answer, _, _| Some(answer)), "{capture} without a fault");
        assert!(!holds(capture, fault), "{capture}: the fault goes unnoticed");
    }
}

fn nak(answer: &Packet) -> bool {
    answer.aeth.syndrome == syndrome::NAK_SEQUENCE
}

#[test]
fn r24_a_nak_with_the_psn_that_arrived() {
    shows(
        &["loss-write-middle", "loss-nak", "corrupt-write-payload"],
        |mut answer, request, _| {
            if nak(&answer) {
                answer.psn = request.psn;
            }
            Some(answer)
        },
    );
}

#[test]
fn r23_no_nak() {
    shows(&["loss-write-middle", "corrupt-bth-qpn"], |answer, _, _| {
        (!nak(&answer)).then_some(answer)
    });
}

#[test]
fn r26_duplicates_are_not_acknowledged() {
    shows(&["loss-ack", "loss-all-retry-exceeded"], |answer, request, history| {
        let repeats = history.iter().any(|h| h.aeth.syndrome == syndrome::ACK && h.psn == answer.psn);
        (!repeats || request.psn != answer.psn).then_some(answer)
    });
}

#[test]
fn r37_msn_counts_packets() {
    shows(
        &["rc-write-lengths-mtu256", "rc_pingpong-mtu1024", "srq_pingpong"],
        |mut answer, request, _| {
            if request.info().is_some_and(|i| !i.begins()) {
                answer.aeth.msn += 1;
            }
            Some(answer)
        },
    );
}

#[test]
fn r38_no_credits() {
    shows(&["rc-send-lengths-mtu1024"], |mut answer, _, _| {
        answer.aeth.syndrome &= 0xe0;
        Some(answer)
    });
}

#[test]
fn r43_another_rnr_timer() {
    shows(&["rnr-timer-0", "rnr-then-ok"], |mut answer, _, _| {
        if answer.aeth.syndrome & 0xe0 == syndrome::RNR {
            answer.aeth.syndrome ^= 1;
        }
        Some(answer)
    });
}

#[test]
fn r46_an_rnr_nak_with_another_psn() {
    shows(&["rnr-writeimm", "rnr-mid"], |mut answer, _, _| {
        if answer.aeth.syndrome & 0xe0 == syndrome::RNR {
            answer.psn = (answer.psn + 1) & 0xff_ffff;
        }
        Some(answer)
    });
}

#[test]
fn r52_an_access_error_named_otherwise() {
    shows(&["err-badkey-write", "err-over-write", "err-noaccess-write"], |mut answer, _, _| {
        if answer.aeth.syndrome == syndrome::NAK_ACCESS {
            answer.aeth.syndrome = syndrome::NAK_INVALID;
        }
        Some(answer)
    });
}

#[test]
fn the_last_ack_is_missing() {
    shows(&["perf-write_bw-mtu1024", "rc_pingpong-64B", "rc-sendinv"], |answer, _, history| {
        let captured = [20, 31, 1];
        (!captured.contains(&(history.len() + 1))).then_some(answer)
    });
}

#[test]
fn the_answer_goes_to_another_qp() {
    shows(&["perf-write_bw-mtu4096-2qp", "srq_pingpong"], |mut answer, _, history| {
        if history.len() == 3 {
            answer.qpn += 1;
        }
        Some(answer)
    });
}

/// Coalescing is legal and no difference.
#[test]
fn r74_coalesced_acks_hold() {
    assert!(holds("rc-send-lengths-mtu1024", |answer, _, _| (answer.aeth.msn % 7 == 0)
        .then_some(answer)));
}
