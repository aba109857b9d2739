// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our answers against the captured ones, flow by flow, in order: same, equivalent for a named reason, or different.

use crate::packet::Packet;
use serde::Serialize;
use std::collections::BTreeMap;
use verbena_spec::headers::syndrome;

/// PSN and MSN are 24 bits wide.
const PSN_MASK: u32 = 0xff_ffff;
/// The opcode of an ACK or NAK.
const ACKNOWLEDGE: u8 = 0x11;
/// What is further ahead is behind (R21).
const HALF: u32 = 0x80_0000;

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
    /// We send 0 where IPv4 allows it, or a right one (R16).
    UdpChecksum,
    /// R74: the captured side didn't send this ACK; its next answer acknowledges more.
    CoalescedThere,
    /// R74: we didn't send this ACK; our next answer acknowledges more.
    CoalescedHere,
    /// R46: Soft-RoCE follows an RNR NAK with one sequence NAK of the same PSN.
    ExtraSequenceNakAfterRnr,
    /// R56: Soft-RoCE answers 0x63 where we, as IBTA wants, answer 0x61.
    OperationalForInvalid,
    /// R30: we begin a READ's retry with FIRST or ONLY, Soft-RoCE with MIDDLE or LAST.
    RestartedRead,
    /// R74: AckReq inside a message is the requester's choice.
    AckRequest,
    /// Timers: we went back to the same PSN once more.
    RetriedMoreOften,
    /// Timers: the captured side did.
    RetriedLessOften,
    /// Answers out of order that the captured side looked at together: it went back once, we twice.
    RetriedApart,
    /// Sent by one side only, before the NAK that ended its QP arrived.
    SentBeforeError,
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
    pub(super) fn note(&mut self, reason: Reason) {
        *self.equivalent.entry(reason).or_insert(0) += 1;
    }
}

/// Compares answers. Sequences are taken per destination QP: between QPs there is no order. `first` is the first PSN that each of those
/// QPs sends.
pub fn compare(ours: &[Packet], captured: &[Packet], first: &BTreeMap<u32, u32>) -> Comparison {
    let mut comparison = Comparison::default();
    let mut flows: BTreeMap<u32, (Vec<&Packet>, Vec<&Packet>)> = BTreeMap::new();
    for p in ours {
        flows.entry(p.qpn).or_default().0.push(p);
    }
    for p in captured {
        flows.entry(p.qpn).or_default().1.push(p);
    }
    for (qpn, (ours, captured)) in &flows {
        let nothing = first.get(qpn).map(|psn| psn.wrapping_sub(1) & PSN_MASK);
        flow(ours, captured, nothing, &mut comparison);
    }
    comparison
}

fn positive(p: &Packet) -> bool {
    p.aeth.syndrome & 0x60 == 0
}

/// How far `b` is after `a`, modulo 2^24.
fn distance(a: u32, b: u32) -> u32 {
    b.wrapping_sub(a) & PSN_MASK
}

/// A positive ACK that one side left out because `next` acknowledges more: its PSN and MSN lie between what was acknowledged and `next`.
/// One that acknowledges nothing new repeats an ACK that may have been lost, and must not be left out.
fn coalesced(left_out: &Packet, next: &Packet, acknowledged: Option<u32>) -> bool {
    let Some(from) = acknowledged else { return false };
    let (here, there) = (distance(from, left_out.psn), distance(from, next.psn));
    left_out.opcode == ACKNOWLEDGE
        && positive(left_out)
        && (1..there).contains(&here)
        && there < HALF
        && distance(left_out.aeth.msn, next.aeth.msn) < HALF
}

/// `acknowledged`: the highest PSN that both sides have acknowledged by now.
fn flow(ours: &[&Packet], captured: &[&Packet], mut acknowledged: Option<u32>, comparison: &mut Comparison) {
    let (mut i, mut j) = (0, 0);
    let mut last_rnr: Option<u32> = None;
    loop {
        match (ours.get(i), captured.get(j)) {
            (None, None) => return,
            (Some(a), Some(b)) if a.psn == b.psn && same_kind(a, b) => {
                pair(a, b, comparison);
                if positive(a) {
                    acknowledged = Some(a.psn);
                }
                last_rnr = (b.aeth.syndrome & 0xe0 == syndrome::RNR).then_some(b.psn);
                (i, j) = (i + 1, j + 1);
            }
            (_, Some(b)) if b.aeth.syndrome == syndrome::NAK_SEQUENCE && last_rnr == Some(b.psn) => {
                last_rnr = None;
                comparison.note(Reason::ExtraSequenceNakAfterRnr);
                j += 1;
            }
            (Some(a), Some(b)) if coalesced(a, b, acknowledged) => {
                acknowledged = Some(a.psn);
                comparison.note(Reason::CoalescedThere);
                i += 1;
            }
            (Some(a), Some(b)) if coalesced(b, a, acknowledged) => {
                acknowledged = Some(b.psn);
                comparison.note(Reason::CoalescedHere);
                j += 1;
            }
            (a, b) => {
                let line = format!("ours #{i}: {}; captured #{j}: {}", show(a), show(b));
                comparison.different.push(line);
                i += usize::from(a.is_some());
                j += usize::from(b.is_some());
            }
        }
    }
}

/// The same opcode and syndrome, or 0x61 from us for their 0x63.
fn same_kind(ours: &Packet, captured: &Packet) -> bool {
    let (a, b) = (ours.aeth.syndrome, captured.aeth.syndrome);
    restarted(ours, captured) || ours.opcode == captured.opcode && (a == b || (a, b) == (syndrome::NAK_INVALID, syndrome::NAK_OPERATION))
}

/// READ FIRST for MIDDLE, ONLY for LAST.
fn restarted(ours: &Packet, captured: &Packet) -> bool {
    matches!((ours.opcode, captured.opcode), (0x0d, 0x0e) | (0x10, 0x0f))
}

/// Two answers of the same kind and PSN: every other field.
fn pair(a: &Packet, b: &Packet, comparison: &mut Comparison) {
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
    let again = restarted(a, b);
    check(!again, Reason::RestartedRead);
    check(again || a.aeth.syndrome == b.aeth.syndrome, Reason::OperationalForInvalid);
    check(a.udp_checksum == b.udp_checksum, Reason::UdpChecksum);
    let mut same = a.clone();
    same.migration = b.migration;
    same.ip_id = b.ip_id;
    same.udp_source = b.udp_source;
    same.hop_limit = b.hop_limit;
    same.traffic_class = b.traffic_class;
    same.udp_checksum = b.udp_checksum;
    same.aeth.syndrome = b.aeth.syndrome;
    if again {
        (same.opcode, same.aeth) = (b.opcode, b.aeth);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Aeth;

    fn answer(syndrome: u8, psn: u32, msn: u32) -> Packet {
        Packet {
            opcode: 0x11,
            psn,
            aeth: Aeth { syndrome, msn },
            ..Packet::default()
        }
    }

    fn reasons(ours: &[(u8, u32, u32)], captured: &[(u8, u32, u32)]) -> Option<Vec<(Reason, usize)>> {
        let packets = |list: &[(u8, u32, u32)]| list.iter().map(|&(s, p, m)| answer(s, p, m)).collect::<Vec<_>>();
        let comparison = compare(&packets(ours), &packets(captured), &BTreeMap::from([(0, 1)]));
        comparison.different.is_empty().then(|| comparison.equivalent.into_iter().collect())
    }

    const ACK: u8 = syndrome::ACK;
    const NAK: u8 = syndrome::NAK_SEQUENCE;

    #[test]
    fn coalescing_means_the_same() {
        let all = [(ACK, 1, 1), (ACK, 2, 2), (ACK, 3, 3)];
        assert_eq!(reasons(&all, &all), Some(vec![]));
        assert_eq!(reasons(&all, &all[2..]), Some(vec![(Reason::CoalescedThere, 2)]));
        assert_eq!(reasons(&all[1..], &all), Some(vec![(Reason::CoalescedHere, 1)]));
        // A NAK acknowledges what is before it (R25), not its own PSN.
        assert_eq!(
            reasons(&[(ACK, 1, 1), (NAK, 2, 1)], &[(NAK, 2, 1)]),
            Some(vec![(Reason::CoalescedThere, 1)])
        );
        assert_eq!(reasons(&[(ACK, 2, 1), (NAK, 2, 1)], &[(NAK, 2, 1)]), None);
        // Nothing that was never asked, and no MSN out of order.
        assert_eq!(reasons(&[(ACK, 0xff_fff0, 1), (ACK, 3, 3)], &[(ACK, 3, 3)]), None);
        assert_eq!(reasons(&[(ACK, 2, 7), (ACK, 3, 3)], &[(ACK, 3, 3)]), None);
    }

    #[test]
    fn r26_a_missing_repeat_is_a_difference() {
        let repeated = [(ACK, 1, 1), (ACK, 1, 1), (ACK, 2, 2)];
        assert_eq!(reasons(&[(ACK, 1, 1), (ACK, 2, 2)], &repeated), None);
        assert_eq!(reasons(&repeated, &[(ACK, 1, 1), (ACK, 2, 2)]), None);
    }

    #[test]
    fn what_differs() {
        assert_eq!(reasons(&[(ACK, 1, 1)], &[]), None, "one too many");
        assert_eq!(reasons(&[], &[(ACK, 1, 1)]), None, "the last one missing");
        assert_eq!(reasons(&[(NAK, 3, 0)], &[(NAK, 2, 0)]), None, "R24");
        assert_eq!(reasons(&[(ACK, 1, 4)], &[(ACK, 1, 1)]), None, "R37");
        assert_eq!(reasons(&[(0, 1, 1)], &[(ACK, 1, 1)]), None, "R38");
        assert_eq!(reasons(&[(NAK, 1, 1), (NAK, 1, 1)], &[(NAK, 1, 1)]), None, "R23");
    }

    #[test]
    fn departures_of_soft_roce_count_one_way_only() {
        let rnr = syndrome::RNR | 14;
        assert_eq!(
            reasons(&[(rnr, 5, 0)], &[(rnr, 5, 0), (NAK, 5, 0)]),
            Some(vec![(Reason::ExtraSequenceNakAfterRnr, 1)])
        );
        assert_eq!(reasons(&[(rnr, 5, 0), (NAK, 5, 0)], &[(rnr, 5, 0)]), None);
        assert_eq!(reasons(&[(rnr, 5, 0)], &[(rnr, 5, 0), (NAK, 5, 0), (NAK, 5, 0)]), None);
        assert_eq!(
            reasons(&[(0x61, 5, 0)], &[(0x63, 5, 0)]),
            Some(vec![(Reason::OperationalForInvalid, 1)])
        );
        assert_eq!(reasons(&[(0x63, 5, 0)], &[(0x61, 5, 0)]), None);
    }
}
