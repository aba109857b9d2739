// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our answers against the captured ones, flow by flow, in order: same, equivalent for a named reason, or different.

use crate::packet::Packet;
use serde::Serialize;
use std::collections::BTreeMap;
use verbena_spec::headers::syndrome;

/// The closed list of reasons for which two sequences of answers mean the same. `docs/replay.md` explains each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Reason {
    /// R14: we send 1, Soft-RoCE 0.
    MigReq,
    /// The IPv4 identification is the sender's business.
    IpId,
    /// R17: entropy.
    UdpSourcePort,
    /// TTL or hop limit.
    Ttl,
    /// ToS or traffic class.
    TrafficClass,
    /// R74 allows coalescing: our ACK is covered by a later captured one.
    OurAckCoalesced,
    /// The captured ACK says nothing that ours, before it or in its place, don't.
    TheirAckRepeats,
    /// R46: Soft-RoCE follows an RNR NAK with a sequence NAK of the same PSN.
    ExtraSequenceNakAfterRnr,
    /// R23: Soft-RoCE repeats a sequence NAK while the gap stands (seen with reordering).
    RepeatedSequenceNak,
    /// R56: Soft-RoCE answers 0x63 where IBTA wants 0x61.
    OperationalForInvalid,
    /// MSN of an ACK that answers a duplicate: Soft-RoCE sends the current one when it gets to it.
    MsnOfRepeatedAck,
}

/// The outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    pub same: usize,
    /// Places by reason; one place may have several.
    pub equivalent: BTreeMap<Reason, usize>,
    /// One line each.
    pub different: Vec<String>,
}

impl Comparison {
    fn note(&mut self, reason: Reason) {
        *self.equivalent.entry(reason).or_insert(0) += 1;
    }
}

/// Compares answers. Sequences are taken per destination QP: between QPs there is no order.
pub fn compare(ours: &[Packet], captured: &[Packet]) -> Comparison {
    let mut comparison = Comparison::default();
    let mut flows: BTreeMap<u32, (Vec<&Packet>, Vec<&Packet>)> = BTreeMap::new();
    for p in ours {
        flows.entry(p.qpn).or_default().0.push(p);
    }
    for p in captured {
        flows.entry(p.qpn).or_default().1.push(p);
    }
    for (ours, captured) in flows.values() {
        flow(ours, captured, &mut comparison);
    }
    comparison
}

fn positive(p: &Packet) -> bool {
    p.aeth.syndrome & 0x60 == 0
}

/// `a` is before `b`, modulo 2^24.
fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) & 0x80_0000 != 0
}

fn flow(ours: &[&Packet], captured: &[&Packet], comparison: &mut Comparison) {
    let (mut i, mut j) = (0, 0);
    // The highest PSN that both sides have acknowledged by now.
    let mut acknowledged: Option<u32> = None;
    let mut last_rnr: Option<u32> = None;
    let mut last_sequence: Option<u32> = None;
    loop {
        match (ours.get(i), captured.get(j)) {
            (None, None) => return,
            (Some(a), Some(b)) if a.psn == b.psn && kind(a) == kind(b) => {
                pair(a, b, acknowledged, comparison);
                if positive(a) {
                    acknowledged = Some(a.psn);
                }
                match b.aeth.syndrome {
                    s if s & 0xe0 == syndrome::RNR => last_rnr = Some(b.psn),
                    syndrome::NAK_SEQUENCE => last_sequence = Some(b.psn),
                    _ => {}
                }
                (i, j) = (i + 1, j + 1);
            }
            (_, Some(b)) if b.aeth.syndrome == syndrome::NAK_SEQUENCE && last_rnr == Some(b.psn) => {
                comparison.note(Reason::ExtraSequenceNakAfterRnr);
                j += 1;
            }
            (_, Some(b)) if b.aeth.syndrome == syndrome::NAK_SEQUENCE && last_sequence == Some(b.psn) => {
                comparison.note(Reason::RepeatedSequenceNak);
                j += 1;
            }
            (_, Some(b)) if positive(b) && acknowledged.is_some_and(|p| !before(p, b.psn)) => {
                comparison.note(Reason::TheirAckRepeats);
                j += 1;
            }
            (Some(a), _) if positive(a) && (acknowledged.is_some_and(|p| !before(p, a.psn)) || covered(a, &captured[j..])) => {
                comparison.note(Reason::OurAckCoalesced);
                i += 1;
            }
            (a, b) => {
                comparison
                    .different
                    .push(format!("ours #{i}: {}; captured #{j}: {}", show(a), show(b)));
                if a.is_some() {
                    i += 1;
                }
                if b.is_some() {
                    j += 1;
                }
            }
        }
    }
}

/// A later captured answer acknowledges at least as much.
fn covered(a: &Packet, later: &[&Packet]) -> bool {
    later
        .iter()
        .any(|b| (positive(b) && !before(b.psn, a.psn)) || (!positive(b) && before(a.psn, b.psn)))
}

/// What an answer is, with 0x63 and 0x61 told apart later.
fn kind(p: &Packet) -> (u8, u8) {
    let s = p.aeth.syndrome;
    (p.opcode, if s == syndrome::NAK_OPERATION { syndrome::NAK_INVALID } else { s })
}

/// Two answers of the same kind and PSN: every other field.
fn pair(a: &Packet, b: &Packet, acknowledged: Option<u32>, comparison: &mut Comparison) {
    let mut reasons = vec![];
    let mut check = |equal: bool, reason: Reason| {
        if !equal {
            reasons.push(reason);
        }
    };
    check(a.migration == b.migration, Reason::MigReq);
    check(a.ip_id == b.ip_id, Reason::IpId);
    check(a.udp_source == b.udp_source, Reason::UdpSourcePort);
    check(a.hop_limit == b.hop_limit, Reason::Ttl);
    check(a.traffic_class == b.traffic_class, Reason::TrafficClass);
    check(a.aeth.syndrome == b.aeth.syndrome, Reason::OperationalForInvalid);
    let repeats = positive(a) && acknowledged.is_some_and(|p| !before(p, a.psn));
    if repeats {
        check(a.aeth.msn == b.aeth.msn, Reason::MsnOfRepeatedAck);
    }
    let mut same = a.clone();
    same.migration = b.migration;
    same.ip_id = b.ip_id;
    same.udp_source = b.udp_source;
    same.hop_limit = b.hop_limit;
    same.traffic_class = b.traffic_class;
    same.udp_checksum = b.udp_checksum;
    same.aeth.syndrome = b.aeth.syndrome;
    if repeats {
        same.aeth.msn = b.aeth.msn;
    }
    if same != *b {
        comparison
            .different
            .push(format!("ours {}; captured {}", show(Some(&a)), show(Some(&b))));
    } else if reasons.is_empty() {
        comparison.same += 1;
    }
    for reason in reasons {
        comparison.note(reason);
    }
}

fn show(p: Option<&&Packet>) -> String {
    p.map_or("nothing".into(), |p| {
        format!(
            "opcode {:#04x} QP {:#x} PSN {:#x} syndrome {:#04x} MSN {}",
            p.opcode, p.qpn, p.psn, p.aeth.syndrome, p.aeth.msn
        )
    })
}
