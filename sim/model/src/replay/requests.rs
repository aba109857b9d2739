// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our requests against the captured ones, QP by QP.
//!
//! 1. The first packet of each PSN: same, equivalent for a named reason, or different.
//! 2. A packet sent again is what it was (R32), or the rest of its READ (R31).
//! 3. Both sides went back to the same PSNs in the same order. How often they went back to the same one in a row is a matter of timers; a
//!    side that looks at two answers at once goes back once where the other does twice.

use super::compare::{Comparison, Reason};
use super::work::{Item, Work};
use crate::golden::send_queue::{after, distance};
use crate::golden::send_wqe::PSN_WINDOW;
use crate::packet::Packet;
use verbena_spec::headers::{transport, Operation};
use verbena_spec::layout::status;

/// First PSN behind a request packet.
pub fn end(packet: &Packet, pmtu: usize) -> u32 {
    let read = packet.info().is_some_and(|i| i.operation == Operation::ReadRequest);
    let count = if read { packet.reth.length.div_ceil(pmtu as u32).max(1) } else { 1 };
    after(packet.psn, count)
}

/// READ or ATOMIC: an ACK says nothing of it.
pub fn is_answered(packet: &Packet) -> bool {
    let operation = packet.info().map(|i| i.operation);
    matches!(
        operation,
        Some(Operation::ReadRequest | Operation::CompareSwap | Operation::FetchAdd)
    )
}

/// Compares requests.
///
/// `crossed`: (QPN, PSN) to which the captured side went back although an answer had reached it.
pub fn compare(ours: &[Packet], captured: &[Packet], work: &Work, crossed: &[(u32, u32)]) -> Comparison {
    let mut comparison = Comparison::default();
    for qp in &work.setup.qps {
        let of = |all: &[Packet]| -> Vec<Packet> { all.iter().filter(|p| work.qpn_of(p) == Some(qp.qpn)).cloned().collect() };
        let items: Vec<&Item> = work.items.iter().filter(|i| i.qpn == qp.qpn).collect();
        let ours = Flow::new(&of(ours), qp.sq_psn, qp.pmtu);
        let captured = Flow::new(&of(captured), qp.sq_psn, qp.pmtu);
        first_packets(&ours, &captured, &items, &mut comparison);
        for packet in ours.again.iter().filter(|p| !repeats(p, &ours.first, &items, qp.pmtu)) {
            comparison
                .different
                .push(format!("sent again, but not as before: {}", show(packet)));
        }
        let mut there = captured.back;
        for (_, psn) in crossed.iter().filter(|c| c.0 == qp.qpn) {
            if let Some(at) = there.iter().position(|p| p == psn) {
                there.remove(at);
                comparison.note(Reason::RetriedLessOften);
            }
        }
        rewinds(&ours.back, &there, work.reordered, &mut comparison);
    }
    comparison
}

/// One QP's requests.
#[derive(Default)]
struct Flow {
    /// The first packet of each PSN.
    first: Vec<Packet>,
    /// What was sent again.
    again: Vec<Packet>,
    /// PSNs that it went back to.
    back: Vec<u32>,
}

impl Flow {
    fn new(packets: &[Packet], start: u32, pmtu: usize) -> Flow {
        let mut flow = Flow::default();
        let (mut highest, mut next) = (start, start);
        for packet in packets {
            if packet.psn == highest {
                flow.first.push(packet.clone());
                highest = end(packet, pmtu);
            } else {
                flow.again.push(packet.clone());
            }
            if distance(next, packet.psn) >= PSN_WINDOW {
                flow.back.push(packet.psn);
            }
            next = end(packet, pmtu);
        }
        flow
    }
}

fn first_packets(ours: &Flow, captured: &Flow, items: &[&Item], comparison: &mut Comparison) {
    for (a, b) in ours.first.iter().zip(&captured.first) {
        pair(a, b, comparison);
    }
    let (here, there) = (ours.first.len(), captured.first.len());
    // A NAK that ends the QP may find one side further than the other.
    let failed = items.iter().any(|i| i.status != status::SUCCESS);
    let rest = ours.first.iter().skip(there).chain(captured.first.iter().skip(here));
    for packet in rest {
        if failed {
            comparison.note(Reason::SentBeforeError);
        } else {
            comparison.different.push(format!("only one side sent: {}", show(packet)));
        }
    }
}

/// Two first packets of the same PSN.
fn pair(a: &Packet, b: &Packet, comparison: &mut Comparison) {
    // R74: AckReq at the end of a message of RC; elsewhere it is free.
    let ends = a.info().is_some_and(|i| i.ends() && i.transport == transport::RC);
    let reasons: Vec<Reason> = [
        (a.migration == b.migration, Reason::MigReq),
        (a.ip_id == b.ip_id, Reason::IpId),
        (a.hop_limit == b.hop_limit, Reason::Ttl),
        (a.udp_checksum == b.udp_checksum, Reason::UdpChecksum),
        (ends || a.ack_request == b.ack_request, Reason::AckRequest),
    ]
    .iter()
    .filter(|(equal, _)| !equal)
    .map(|r| r.1)
    .collect();
    let mut same = a.clone();
    same.migration = b.migration;
    same.ip_id = b.ip_id;
    same.hop_limit = b.hop_limit;
    same.udp_checksum = b.udp_checksum;
    if !ends {
        same.ack_request = b.ack_request;
    }
    if same != *b {
        comparison.different.push(format!("ours {}; captured {}", show(a), show(b)));
    } else if reasons.is_empty() {
        comparison.same += 1;
    }
    reasons.into_iter().for_each(|r| comparison.note(r));
}

/// R32: the same packet; R31: a READ's rest.
fn repeats(packet: &Packet, first: &[Packet], items: &[&Item], pmtu: usize) -> bool {
    let Some(item) = items.iter().find(|i| distance(i.first_psn, packet.psn) < i.packets) else {
        return false;
    };
    let read = packet.info().is_some_and(|i| i.operation == Operation::ReadRequest);
    let psn = if read { item.first_psn } else { packet.psn };
    let Some(original) = first.iter().find(|p| p.psn == psn) else {
        return false;
    };
    let mut want = original.clone();
    if read {
        let skipped = distance(item.first_psn, packet.psn) * pmtu as u32;
        want.psn = packet.psn;
        want.reth.virtual_address = want.reth.virtual_address.wrapping_add(u64::from(skipped));
        want.reth.length = want.reth.length.saturating_sub(skipped);
    }
    want.ip_id = packet.ip_id;
    want == *packet
}

/// The PSNs that both went back to. Ours may have up to `apart` more: answers out of order that the captured side looked at together.
fn rewinds(ours: &[u32], captured: &[u32], apart: usize, comparison: &mut Comparison) {
    let once = |list: &[u32]| {
        let mut list = list.to_vec();
        list.dedup();
        list
    };
    let (here, there) = (once(ours), once(captured));
    let mut left = there.iter().peekable();
    let extra = here.iter().filter(|psn| left.next_if_eq(psn).is_none()).count();
    if left.peek().is_some() || extra > apart {
        comparison
            .different
            .push(format!("we went back to PSNs {here:x?}, the captured side to {there:x?}"));
        return;
    }
    for _ in 0..extra {
        comparison.note(Reason::RetriedApart);
    }
    for _ in captured.len() + extra..ours.len() {
        comparison.note(Reason::RetriedMoreOften);
    }
    for _ in ours.len()..captured.len() + extra {
        comparison.note(Reason::RetriedLessOften);
    }
}

fn show(p: &Packet) -> String {
    let name = p.info().map_or("reserved opcode", |i| i.name);
    format!(
        "{name} QP {:#x} PSN {:#x} AckReq {} solicited {} payload {} RETH {:x?}",
        p.qpn,
        p.psn,
        p.ack_request,
        p.solicited,
        p.payload.len(),
        p.reth
    )
}
