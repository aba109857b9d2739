// SPDX-License-Identifier: MIT OR Apache-2.0
//! The setup that a capture's responder had, from `runs.json` and from the frames themselves.

use super::overrides::Overrides;
use super::runs::Run;
use super::{Setup, SetupRegion};
use crate::capture::Frame;
use crate::golden::keys::Access;
use crate::golden::qp::Attributes;
use crate::packet::Packet;
use crate::parse::{verdict, Local, Verdict};
use anyhow::{bail, Result};
use std::collections::BTreeMap;
use std::net::IpAddr;
use verbena_spec::headers::{syndrome, Operation};

/// The protection domain of everything in a replay.
pub const PD: u16 = 1;
/// L_Key of the receive buffers: an index that captures don't use.
pub const RECEIVE_KEY: u32 = 0xfe5a;
/// Receive buffers, one after the other.
pub const RECEIVE_BASE: u64 = 0x10_0000_0000;
/// Bytes of one receive buffer.
pub const RECEIVE_SLOT: u64 = 1 << 16;
/// Receive buffers in the region; they are used round robin.
pub const RECEIVE_SLOTS: u64 = 64;
/// The first stand-in for keys whose index is beyond the responder's table.
const STAND_IN_KEY: u32 = 0xf000;
/// Largest key that is used as it is.
const LARGEST_KEY: u32 = 0xefff;

/// A frame of the capture that is RoCE, from or to us.
#[derive(Debug, Clone)]
pub struct Seen {
    pub from_us: bool,
    pub packet: Packet,
}

/// What was inferred.
#[derive(Debug, Clone)]
pub struct Inference {
    pub setup: Setup,
    /// Keys as captured → as configured, where the captured one doesn't fit a table.
    pub keys: BTreeMap<u32, u32>,
    /// READ or ATOMIC requests to us.
    pub waiting: usize,
}

/// RoCE frames of the capture with a right ICRC.
pub fn roce(frames: &[Frame], us: IpAddr) -> Vec<Seen> {
    let mut seen = vec![];
    for frame in frames {
        let frame = &frame.bytes[..];
        let Some(mac) = frame.get(..6) else { continue };
        let mut local = Local {
            mac: [0; 6],
            gids: vec![None],
            max_frame: 1 << 16,
            icrc_off: false,
        };
        local.mac.copy_from_slice(mac);
        // Whoever the receiver is.
        let Some(destination) = destination(frame) else { continue };
        local.gids[0] = Some(destination);
        if let Verdict::Roce { packet, .. } = verdict(frame, false, &local) {
            if packet.source == us || packet.destination == us {
                seen.push(Seen {
                    from_us: packet.source == us,
                    packet: *packet,
                });
            }
        }
    }
    seen
}

/// The destination IP of an untagged frame.
pub fn destination(frame: &[u8]) -> Option<IpAddr> {
    match frame.get(12..14)? {
        [0x08, 0x00] => Some(IpAddr::from(<[u8; 4]>::try_from(frame.get(30..34)?).ok()?)),
        [0x86, 0xdd] => Some(IpAddr::from(<[u8; 16]>::try_from(frame.get(38..54)?).ok()?)),
        _ => None,
    }
}

/// Requests that a responder must answer or execute.
pub fn is_request(packet: &Packet) -> bool {
    packet.info().is_some_and(|i| {
        matches!(
            i.operation,
            Operation::Send | Operation::Write | Operation::ReadRequest | Operation::CompareSwap | Operation::FetchAdd
        )
    })
}

/// Packets that answer a request.
pub fn is_answer(packet: &Packet) -> bool {
    let operation = packet.info().map(|i| i.operation);
    matches!(
        operation,
        Some(Operation::Acknowledge | Operation::ReadResponse | Operation::AtomicAcknowledge)
    )
}

/// Infers the setup of the responder at `us`.
pub fn infer(seen: &[Seen], us: IpAddr, run: Option<&Run>, overrides: &Overrides) -> Result<Inference> {
    let Some(first) = seen.iter().find(|s| !s.from_us) else {
        bail!("no RoCE frame to {us}")
    };
    let local = Local {
        mac: first.packet.destination_mac,
        gids: vec![Some(us)],
        max_frame: 4200,
        icrc_off: false,
    };
    let known = run.map(Run::server_qpns).unwrap_or_default();
    let mut qps: Vec<Attributes> = vec![];
    // Requests first: a QP that only gets answers is there too, so that they are counted as ghosts (R39).
    let to_us = || seen.iter().filter(|s| !s.from_us).map(|s| &s.packet);
    for p in to_us().filter(|p| is_request(p)).chain(to_us().filter(|p| !is_request(p))) {
        // Where a run names its QPs, only QP1 (connection management) is there beside them.
        let listed = known.is_empty() || known.contains(&p.qpn) || p.qpn == 1;
        if listed && !qps.iter().any(|q| q.qpn == p.qpn) && !silent(seen, p.qpn) {
            qps.push(attributes(seen, p, us, run, overrides));
        }
    }
    let waiting = seen.iter().filter(|s| !s.from_us && is_request(&s.packet)).filter(|s| {
        s.packet
            .info()
            .is_some_and(|i| !matches!(i.operation, Operation::Send | Operation::Write))
    });
    let mut keys = BTreeMap::new();
    let mut regions = vec![SetupRegion {
        key: RECEIVE_KEY,
        virtual_address: RECEIVE_BASE,
        length: RECEIVE_SLOT * RECEIVE_SLOTS,
        access: Access {
            local_write: true,
            ..Access::default()
        },
        may_invalidate: false,
    }];
    let no_remote = run.is_some_and(|r| r.probe().is_some() && r.server.split_whitespace().any(|w| w == "-a"));
    if let Some((key, address)) = run.and_then(Run::probe_region).filter(|_| !no_remote) {
        let slots = run.and_then(Run::probe).map_or(0, |o| o.len() as u64) + 2;
        regions.push(remote(fit(key, &mut keys), address, slots * RECEIVE_SLOT));
    } else if !no_remote {
        for (key, (low, high)) in accepted_ranges(seen) {
            regions.push(remote(fit(key, &mut keys), low, high - low));
        }
    }
    for s in seen.iter().filter(|s| !s.from_us && s.packet.info().is_some_and(|i| i.ieth)) {
        let key = fit(s.packet.invalidate_rkey, &mut keys);
        if !regions.iter().any(|r| r.key == key) {
            regions.push(SetupRegion {
                may_invalidate: true,
                ..remote(key, RECEIVE_BASE << 4, 4096)
            });
        }
    }
    for region in &overrides.regions {
        regions.retain(|r| r.key >> 8 != region.key >> 8);
        regions.push(region.clone());
    }
    Ok(Inference {
        waiting: waiting.count(),
        setup: Setup {
            local,
            pd: PD,
            qps,
            regions,
        },
        keys,
    })
}

fn remote(key: u32, virtual_address: u64, length: u64) -> SetupRegion {
    let access = Access {
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        local_write: true,
    };
    SetupRegion {
        key,
        virtual_address,
        length,
        access,
        may_invalidate: false,
    }
}

/// The key itself, or a stand-in whose index fits.
fn fit(key: u32, keys: &mut BTreeMap<u32, u32>) -> u32 {
    if key <= LARGEST_KEY {
        return key;
    }
    let next = STAND_IN_KEY + ((keys.len() as u32) << 8) + (key & 0xff);
    *keys.entry(key).or_insert(next)
}

/// R_Key, address and length that a request names.
pub fn range(packet: &Packet) -> Option<(u32, u64, u32)> {
    let info = packet.info()?;
    let (reth, atomic) = (packet.reth, packet.atomic_eth);
    match (info.reth, info.atomic_eth) {
        (true, _) => Some((reth.rkey, reth.virtual_address, reth.length)),
        (_, true) => Some((atomic.rkey, atomic.virtual_address, 8)),
        _ => None,
    }
}

/// By R_Key, the span of the ranges that weren't refused with an access error.
fn accepted_ranges(seen: &[Seen]) -> BTreeMap<u32, (u64, u64)> {
    let refused = |p: &Packet| {
        let udp = p.udp_source;
        seen.iter().any(|s| {
            s.from_us
                && s.packet.opcode == 0x11
                && s.packet.udp_source == udp
                && s.packet.psn == p.psn
                && s.packet.aeth.syndrome == syndrome::NAK_ACCESS
        })
    };
    let mut ranges: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for s in seen.iter().filter(|s| !s.from_us) {
        let Some((key, address, length)) = range(&s.packet) else { continue };
        if length == 0 || refused(&s.packet) {
            continue;
        }
        let end = address.saturating_add(u64::from(length));
        let range = ranges.entry(key).or_insert((address, end));
        *range = (range.0.min(address), range.1.max(end));
    }
    ranges
}

/// An RC QP that was asked for ACKs and never answered anything isn't there.
fn silent(seen: &[Seen], qpn: u32) -> bool {
    let asks = |p: &&Packet| p.qpn == qpn && p.ack_request && p.opcode >> 5 == 0;
    let mut asked = seen.iter().filter(|s| !s.from_us).map(|s| &s.packet).filter(asks).peekable();
    asked.peek().is_some()
        && !asked.any(|p| {
            seen.iter()
                .any(|s| s.from_us && !is_request(&s.packet) && s.packet.udp_source == p.udp_source)
        })
}

fn attributes(seen: &[Seen], first: &Packet, us: IpAddr, run: Option<&Run>, overrides: &Overrides) -> Attributes {
    let info = first.info();
    // Our frames of the same flow name the peer's QP; UDP source ports are the same both ways.
    let ours = seen
        .iter()
        .find(|s| s.from_us && s.packet.udp_source == first.udp_source && s.packet.info().is_some_and(|i| !i.deth));
    let longest = seen
        .iter()
        .filter(|s| s.packet.qpn == first.qpn && !s.from_us)
        .map(|s| s.packet.payload.len())
        .max()
        .unwrap_or(0);
    let inferred = [256, 512, 1024, 2048, 4096].into_iter().find(|m| *m >= longest).unwrap_or(4096);
    let pmtu = overrides
        .pmtu
        .or(run.map(|r| r.mtu))
        .filter(|m| *m >= 256)
        .unwrap_or(inferred)
        .max(if info.is_some_and(|i| i.deth) { inferred } else { 0 });
    let rnr_seen = seen
        .iter()
        .find(|s| s.from_us && s.packet.opcode == 0x11 && s.packet.aeth.syndrome & 0xe0 == syndrome::RNR);
    Attributes {
        qpn: first.qpn,
        service: info.map_or(0, |i| i.transport),
        pmtu,
        pd: PD,
        pkey: first.pkey,
        qkey: first.deth.qkey,
        remote_write: true,
        remote_read: true,
        remote_atomic: true,
        gid_index: 0,
        peer_ip: if first.source == us { first.destination } else { first.source },
        peer_mac: first.source_mac,
        vlan: first.vlan,
        peer_qpn: ours.map_or(0, |s| s.packet.qpn),
        rq_psn: first.psn,
        rnr_timer: rnr_seen.map_or(0, |s| s.packet.aeth.syndrome & 0x1f),
        traffic_class: first.traffic_class,
        hop_limit: 64,
        udp_source: first.udp_source,
        recv_cq: 1,
        max_dest_rd_atomic: 16,
        ..Attributes::default()
    }
}
