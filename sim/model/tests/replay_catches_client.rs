// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requesters with a fault: each must fail the replay of a capture that shows it, so that the replay's equivalences aren't too loose.

use anyhow::Result;
use std::path::Path;
use verbena_model::capture::Frame;
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::Completion;
use verbena_model::packet::Packet;
use verbena_model::replay::client::{replay, Client};
use verbena_model::replay::golden_client::GoldenClient;
use verbena_model::replay::infer::roce;
use verbena_model::replay::Setup;

/// What a faulty requester makes of a packet: `None` doesn't send it. `history` is what it sent before.
type Fault = fn(packet: Packet, history: &[Packet]) -> Option<Packet>;

struct Faulty {
    golden: GoldenClient,
    fault: Fault,
    history: Vec<Packet>,
    /// What it makes of its completions.
    completions: fn(Vec<Completion>) -> Vec<Completion>,
}

impl Client for Faulty {
    fn configure(&mut self, setup: &Setup) -> Result<()> {
        self.golden.configure(setup)
    }
    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        self.golden.write(key, virtual_address, bytes)
    }
    fn post_send(&mut self, qpn: u32, wqe: &SendWqe) -> Result<()> {
        self.golden.post_send(qpn, wqe)
    }
    fn advance(&mut self, now: u64) -> Result<Vec<Vec<u8>>> {
        let mut out = vec![];
        for bytes in self.golden.advance(now)? {
            let frame = Frame {
                time: std::time::Duration::ZERO,
                bytes,
            };
            for seen in roce(&[frame], "10.0.0.2".parse()?) {
                if let Some(packet) = (self.fault)(seen.packet, &self.history) {
                    self.history.push(packet.clone());
                    out.push(packet.to_frame());
                }
            }
        }
        Ok(out)
    }
    fn deliver(&mut self, frame: &[u8]) -> Result<()> {
        self.golden.deliver(frame)
    }
    fn completions(&mut self) -> Result<Vec<Completion>> {
        Ok((self.completions)(self.golden.completions()?))
    }
    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        self.golden.read(key, virtual_address, length)
    }
    fn counters(&mut self) -> Result<Vec<u32>> {
        self.golden.counters()
    }
}

fn play(capture: &str, fault: Fault, completions: fn(Vec<Completion>) -> Vec<Completion>) -> bool {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tb/captures")
        .join(capture)
        .with_extension("pcap");
    let mut faulty = Faulty {
        golden: GoldenClient::new(),
        fault,
        history: vec![],
        completions,
    };
    replay(&path, "10.0.0.2".parse().unwrap(), &mut faulty).unwrap().holds()
}

fn holds(capture: &str, fault: Fault) -> bool {
    play(capture, fault, |c| c)
}

fn again(packet: &Packet, history: &[Packet]) -> bool {
    history.iter().any(|h| h.psn == packet.psn)
}

#[test]
fn without_a_fault_they_hold() {
    for capture in [
        "rc-mixed",
        "loss-write-middle",
        "loss-read-response-middle",
        "rnr-then-ok",
        "rc-read-lengths-mtu256",
        "err-badkey-write",
        "loss-all-retry-exceeded",
        "rc-write-60000",
    ] {
        assert!(holds(capture, |p, _| Some(p)), "{capture}");
    }
}

#[test]
fn r22_a_zero_length_read_without_a_psn_is_caught() {
    // Everything behind it is one PSN early.
    let fault: Fault = |mut p, history| {
        let nothing = history.iter().any(|h| h.opcode == 0x0c && h.reth.length == 0);
        p.psn = p.psn.wrapping_sub(u32::from(nothing)) & 0xff_ffff;
        Some(p)
    };
    assert!(!holds("rc-read-lengths-mtu256", fault));
}

#[test]
fn r25_a_retry_that_starts_late_is_caught() {
    let fault: Fault = |p, history| (p.opcode != 0x07 || !again(&p, history) || history.last()?.psn.wrapping_add(1) == p.psn).then_some(p);
    assert!(!holds("loss-write-middle", fault));
}

#[test]
fn r31_r33_a_read_that_starts_over_is_caught() {
    let fault: Fault = |p, history| match history.first() {
        Some(first) if is_rest(&p, first) => Some(first.clone()),
        _ => Some(p),
    };
    assert!(!holds("loss-read-response-middle", fault));
}

/// `packet` asks for the rest of the READ `first`.
fn is_rest(packet: &Packet, first: &Packet) -> bool {
    let (a, b) = (first.reth.virtual_address, packet.reth.virtual_address);
    packet.opcode == 0x0c && packet.psn != first.psn && b > a && b < a + u64::from(first.reth.length)
}

#[test]
fn r31_a_rest_with_the_first_address_or_length_is_caught() {
    let address: Fault = |mut p, history| {
        if let Some(first) = history
            .first()
            .filter(|f| p.opcode == 0x0c && p.psn > f.psn && p.reth.length > 4000)
        {
            p.reth.virtual_address = first.reth.virtual_address;
        }
        Some(p)
    };
    assert!(!holds("loss-read-response-middle", address));
    let length: Fault = |mut p, history| {
        if let Some(first) = history
            .first()
            .filter(|f| p.opcode == 0x0c && p.psn > f.psn && p.reth.length > 4000)
        {
            p.reth.length = first.reth.length;
        }
        Some(p)
    };
    assert!(!holds("loss-read-response-middle", length));
}

#[test]
fn r32_other_headers_in_a_retry_are_caught() {
    let fault: Fault = |mut p, history| {
        if again(&p, history) && p.opcode == 0x07 {
            p.payload[0] ^= 1;
        }
        Some(p)
    };
    assert!(!holds("loss-write-middle", fault));
}

#[test]
fn r74_no_ack_request_at_the_end_is_caught() {
    let fault: Fault = |mut p, _| {
        p.ack_request = false;
        Some(p)
    };
    assert!(!holds("rc-mixed", fault));
}

#[test]
fn wrong_bytes_lengths_and_opcodes_are_caught() {
    let faults: [Fault; 4] = [
        |mut p, _| {
            if let Some(byte) = p.payload.last_mut() {
                *byte ^= 0x80;
            }
            Some(p)
        },
        |mut p, _| {
            p.reth.length = p.reth.length.wrapping_add(u32::from(p.opcode == 0x06));
            Some(p)
        },
        |mut p, _| {
            p.immediate ^= 1;
            Some(p)
        },
        |mut p, _| {
            p.solicited ^= p.opcode == 0x04;
            Some(p)
        },
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        assert!(!holds("rc-mixed", fault), "{number}");
    }
}

#[test]
fn r48_a_requester_that_never_retries_is_caught() {
    // It never sends anything again, but completes as if it had.
    let fault: Fault = |p, history| (!again(&p, history)).then_some(p);
    assert!(!holds("loss-all-retry-exceeded", fault));
}

#[test]
fn r64_r65_wrong_statuses_and_missing_flushes_are_caught() {
    let same: Fault = |p, _| Some(p);
    let wrong = |mut c: Vec<Completion>| {
        c.iter_mut().filter(|c| c.status == 10).for_each(|c| c.status = 11);
        c
    };
    assert!(!play("err-badkey-write", same, wrong));
    let silent = |mut c: Vec<Completion>| {
        c.retain(|c| c.status != 5);
        c
    };
    assert!(!play("err-badkey-write", same, silent));
}
