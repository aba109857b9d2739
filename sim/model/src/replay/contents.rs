// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the responder's host had put into its memory: what READ and ATOMIC responses show of bytes that no request had written.

use super::infer::{range, Inference, Seen};
use crate::golden::send_queue::distance;
use crate::packet::Packet;
use std::collections::BTreeMap;
use verbena_spec::headers::Operation;

/// A READ or ATOMIC request of the capture: which bytes its responses show.
struct Asked {
    udp_source: u16,
    psn: u32,
    key: u32,
    address: u64,
    length: u32,
    atomic: bool,
}

/// A byte that the host put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Byte {
    /// Before the READ of that flow (UDP source port) and PSN; `None`: before anything.
    pub when: Option<(u16, u32)>,
    /// As configured.
    pub key: u32,
    pub address: u64,
    pub value: u8,
}

/// Everything that the host put there.
pub fn host_bytes(seen: &[Seen], inference: &Inference) -> Vec<Byte> {
    // By key and address: what a response showed, or `None` where a request has written.
    let mut known: BTreeMap<(u32, u64), Option<u8>> = BTreeMap::new();
    let mut asked: Vec<Asked> = vec![];
    // A WRITE under way, by flow.
    let mut writes: BTreeMap<u16, (u32, u64)> = BTreeMap::new();
    let mut found = vec![];
    for s in seen {
        let packet = &s.packet;
        let Some(info) = packet.info() else { continue };
        if !s.from_us {
            if let Some((key, address, length)) = range(packet).filter(|_| info.operation != Operation::Write) {
                asked.push(Asked {
                    udp_source: packet.udp_source,
                    psn: packet.psn,
                    key,
                    address,
                    length,
                    atomic: info.atomic_eth,
                });
            }
            if info.operation == Operation::Write {
                let (key, address) = match range(packet) {
                    Some((key, address, _)) => (key, address),
                    None => writes.get(&packet.udp_source).copied().unwrap_or_default(),
                };
                let end = address.wrapping_add(packet.payload.len() as u64);
                writes.insert(packet.udp_source, (key, end));
                known.extend((address..end).map(|at| ((key, at), None)));
            }
            continue;
        }
        let Some((asked, address, bytes)) = shown(packet, info.operation, &asked, inference) else {
            continue;
        };
        let key = inference.keys.get(&asked.key).copied().unwrap_or(asked.key);
        if !inference.setup.regions.iter().any(|r| r.key == key) {
            continue;
        }
        for (at, value) in (address..).zip(bytes) {
            let before = known.get(&(asked.key, at)).copied();
            let when = match before {
                None => None,
                Some(Some(old)) if old != value && !asked.atomic => Some((asked.udp_source, asked.psn)),
                _ => continue,
            };
            // An ATOMIC writes what it shows.
            known.insert((asked.key, at), (!asked.atomic).then_some(value));
            found.push(Byte {
                when,
                key,
                address: at,
                value,
            });
        }
    }
    found
}

/// The request, and the address and bytes that a response shows.
fn shown<'a>(packet: &Packet, operation: Operation, asked: &'a [Asked], inference: &Inference) -> Option<(&'a Asked, u64, Vec<u8>)> {
    let atomic = operation == Operation::AtomicAcknowledge;
    if !atomic && operation != Operation::ReadResponse {
        return None;
    }
    let pmtu = inference.setup.qps.iter().find(|q| q.udp_source == packet.udp_source)?.pmtu as u64;
    asked.iter().rev().find_map(|a| {
        let ahead = u64::from(distance(a.psn, packet.psn)) * pmtu;
        let fits = a.udp_source == packet.udp_source && a.atomic == atomic && ahead < u64::from(a.length);
        let bytes = if atomic {
            packet.atomic_original.to_le_bytes().to_vec()
        } else {
            packet.payload.clone()
        };
        fits.then(|| (a, a.address.wrapping_add(ahead), bytes))
    })
}
