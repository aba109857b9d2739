// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work list that a capture's client had: messages from its packets, attributes and outcomes from `runs.json`.

use super::infer::{is_answer, is_request, Seen, PD};
use super::runs::Run;
use super::{Setup, SetupRegion};
use crate::golden::keys::Access;
use crate::golden::qp::Attributes;
use crate::golden::send_queue::{after, distance};
use crate::golden::send_wqe::{Datagram, SendWqe, PSN_WINDOW};
use crate::packet::Packet;
use crate::parse::Local;
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use std::net::IpAddr;
use verbena_spec::headers::{transport, Operation};
use verbena_spec::layout::{send_opcode, status};

/// L_Key of the payloads.
pub const SOURCE_KEY: u32 = 0x015a;
/// L_Key of what READs and ATOMICs bring.
pub const SINK_KEY: u32 = 0x025a;
/// Where they lie: not on a page's border.
const SOURCE_BASE: u64 = 0x10_0000_0123;
const SINK_BASE: u64 = 0x20_0000_0045;
/// Gap between payloads: alignments vary.
const GAP: u64 = 3;

/// A message that the captured side sent.
#[derive(Debug, Clone)]
pub struct Item {
    /// Our QP.
    pub qpn: u32,
    pub first_psn: u32,
    /// PSNs that it takes.
    pub packets: u32,
    pub wqe: SendWqe,
    /// How it must complete.
    pub status: u32,
    /// READ and ATOMIC: where and what the responses must have brought.
    pub brings: Option<(u64, Vec<u8>)>,
}

/// The work list and what it needs.
#[derive(Debug, Clone)]
pub struct Work {
    pub us: IpAddr,
    pub setup: Setup,
    pub items: Vec<Item>,
    /// To be put under [`SOURCE_KEY`].
    pub payloads: Vec<(u64, Vec<u8>)>,
    /// Frames that the wire reordered.
    pub reordered: usize,
    /// Our QPN by the peer's and the transport.
    flows: BTreeMap<(u32, u8), u32>,
}

impl Work {
    /// Our QP that sends such packets.
    pub fn qpn_of(&self, packet: &Packet) -> Option<u32> {
        self.flows.get(&flow(packet)).copied()
    }

    /// Its attributes.
    pub fn qp_of(&self, packet: &Packet) -> Option<&Attributes> {
        let qpn = self.qpn_of(packet)?;
        self.setup.qps.iter().find(|q| q.qpn == qpn)
    }
}

fn flow(packet: &Packet) -> (u32, u8) {
    (packet.qpn, packet.opcode >> 5)
}

/// Infers the work list of the client at `us`.
pub fn infer(seen: &[Seen], us: IpAddr, run: Option<&Run>) -> Result<Work> {
    let ours: Vec<&Packet> = seen
        .iter()
        .filter(|s| s.from_us && is_request(&s.packet))
        .map(|s| &s.packet)
        .collect();
    let Some(first) = ours.first() else { bail!("no request from {us}") };
    let mut work = Work {
        us,
        setup: Setup {
            local: Local {
                mac: first.source_mac,
                gids: vec![Some(us)],
                max_frame: 4200,
                icrc_off: false,
            },
            pd: PD,
            qps: vec![],
            regions: vec![],
        },
        items: vec![],
        payloads: vec![],
        reordered: 0,
        flows: BTreeMap::new(),
    };
    let (mut source, mut sink) = (SOURCE_BASE, SINK_BASE);
    for first in &ours {
        if work.flows.contains_key(&flow(first)) {
            continue;
        }
        let packets: Vec<&Packet> = ours.iter().filter(|p| flow(p) == flow(first)).copied().collect();
        let attributes = attributes(seen, &packets, work.setup.qps.len(), run);
        work.flows.insert(flow(first), attributes.qpn);
        messages(seen, &packets, &attributes, &mut work, &mut source, &mut sink)?;
        work.setup.qps.push(attributes);
    }
    for (key, base, end) in [(SOURCE_KEY, SOURCE_BASE, source), (SINK_KEY, SINK_BASE, sink)] {
        work.setup.regions.push(SetupRegion {
            key,
            virtual_address: base,
            length: (end - base).max(1),
            access: Access {
                local_write: true,
                ..Access::default()
            },
            may_invalidate: false,
        });
    }
    let is = |fault: &[String], what: &str| fault.first().is_some_and(|f| f == what);
    let faults = run.map(|r| &r.faults[..]).unwrap_or_default();
    work.reordered = faults.iter().filter(|f| is(f, "reorder")).count();
    if run.is_some_and(|r| r.probe().is_some()) {
        let failed = run.map(Run::failed_operations).unwrap_or_default();
        for (number, item) in work.items.iter_mut().enumerate() {
            item.status = failed.get(&number).copied().unwrap_or(status::SUCCESS);
        }
        if run.is_some_and(|r| r.server.split_whitespace().any(|w| w == "-F")) {
            work.items.iter_mut().for_each(|i| i.wqe = i.wqe.fenced());
        }
    }
    Ok(work)
}

fn attributes(seen: &[Seen], packets: &[&Packet], number: usize, run: Option<&Run>) -> Attributes {
    let first = packets[0];
    let service = first.opcode >> 5;
    let answer = seen
        .iter()
        .find(|s| !s.from_us && is_answer(&s.packet) && s.packet.udp_source == first.udp_source);
    let named = run.map(Run::server_qpns).unwrap_or_default();
    let qpn = match (service, answer) {
        (transport::UD, _) => first.deth.source_qpn,
        (_, Some(s)) => s.packet.qpn,
        _ => named.first().copied().unwrap_or(0x11 + number as u32),
    };
    let longest = packets.iter().map(|p| p.payload.len()).max().unwrap_or(0);
    let inferred = [256, 512, 1024, 2048, 4096].into_iter().find(|m| *m >= longest).unwrap_or(4096);
    let option = |name: &str| run.filter(|r| r.probe().is_some()).and_then(|r| r.option(name)?.parse().ok());
    Attributes {
        qpn,
        service,
        pmtu: run.map(|r| r.mtu).filter(|m| *m >= 256).unwrap_or(inferred).max(inferred),
        pd: PD,
        pkey: first.pkey,
        qkey: first.deth.qkey,
        peer_ip: first.destination,
        peer_mac: first.destination_mac,
        vlan: first.vlan,
        peer_qpn: first.qpn,
        traffic_class: first.traffic_class,
        udp_source: first.udp_source,
        recv_cq: 1,
        send_cq: 1,
        sq_psn: first.psn,
        sq_log: 8,
        timeout: option("-t").unwrap_or(14),
        retry_count: option("-r").unwrap_or(7),
        rnr_retry: option("-y").unwrap_or(7),
        max_rd_atomic: option("-x").unwrap_or(16).min(16),
        ..Attributes::default()
    }
}

/// Cuts a flow's new packets into messages.
fn messages(seen: &[Seen], packets: &[&Packet], a: &Attributes, work: &mut Work, source: &mut u64, sink: &mut u64) -> Result<()> {
    let mut next = a.sq_psn;
    let mut open: Vec<&Packet> = vec![];
    for packet in packets {
        let info = packet.info().context("a reserved opcode")?;
        if packet.psn != next {
            // Sent before.
            if distance(next, packet.psn) < PSN_WINDOW {
                bail!("QP {:#x}: PSN {next:#x} is missing in the capture", a.qpn);
            }
            continue;
        }
        open.push(packet);
        let count = match info.operation {
            Operation::ReadRequest => packet.reth.length.div_ceil(a.pmtu as u32).max(1),
            _ => 1,
        };
        next = after(next, count);
        if info.ends() {
            let item = message(seen, &open, a, count, work, source, sink)?;
            work.items.push(item);
            open.clear();
        }
    }
    if !open.is_empty() {
        bail!("QP {:#x}: the last message isn't whole in the capture", a.qpn);
    }
    Ok(())
}

/// One message from its packets.
fn message(
    seen: &[Seen],
    packets: &[&Packet],
    a: &Attributes,
    count: u32,
    work: &mut Work,
    source: &mut u64,
    sink: &mut u64,
) -> Result<Item> {
    let (first, last) = (packets[0], packets[packets.len() - 1]);
    let info = last.info().context("a reserved opcode")?;
    let opcode = match (info.operation, info.immediate, info.ieth) {
        (Operation::Send, true, _) => send_opcode::SEND_WITH_IMM,
        (Operation::Send, _, true) => send_opcode::SEND_WITH_INVALIDATE,
        (Operation::Send, ..) => send_opcode::SEND,
        (Operation::Write, true, _) => send_opcode::WRITE_WITH_IMM,
        (Operation::Write, ..) => send_opcode::WRITE,
        (Operation::ReadRequest, ..) => send_opcode::READ,
        (Operation::CompareSwap, ..) => send_opcode::COMPARE_SWAP,
        (Operation::FetchAdd, ..) => send_opcode::FETCH_ADD,
        _ => bail!("{} is no request", info.name),
    };
    let mut wqe = SendWqe::new(opcode);
    let mut brings = None;
    if last.solicited {
        wqe = wqe.solicited();
    }
    wqe = wqe.immediate(if info.ieth { last.invalidate_rkey } else { last.immediate });
    match info.operation {
        Operation::ReadRequest => {
            let length = first.reth.length;
            wqe = wqe
                .remote(first.reth.virtual_address, first.reth.rkey)
                .element(*sink, length, SINK_KEY);
            brings = Some((*sink, read_data(seen, a, first.psn, count)));
            *sink += u64::from(length) + GAP;
        }
        Operation::CompareSwap | Operation::FetchAdd => {
            let e = first.atomic_eth;
            wqe = wqe
                .remote(e.virtual_address, e.rkey)
                .element(*sink, 8, SINK_KEY)
                .operands(e.swap_or_add, e.compare);
            let answer = answers(seen, a).find(|p| p.opcode == 0x12 && p.psn == first.psn);
            brings = answer.map(|p| (*sink, p.atomic_original.to_le_bytes().to_vec()));
            *sink += 8 + GAP;
        }
        operation => {
            let payload: Vec<u8> = packets.iter().flat_map(|p| p.payload.clone()).collect();
            if operation == Operation::Write {
                wqe = wqe.remote(first.reth.virtual_address, first.reth.rkey);
            }
            if !payload.is_empty() {
                wqe = wqe.element(*source, payload.len() as u32, SOURCE_KEY);
            }
            let length = payload.len() as u64;
            work.payloads.push((*source, payload));
            *source += length + GAP;
        }
    }
    if a.service == transport::UD {
        wqe = wqe.datagram(&Datagram {
            qpn: first.qpn,
            qkey: first.deth.qkey,
            mac: first.destination_mac,
            ip: first.destination,
            vlan: first.vlan,
            gid_index: 0,
            traffic_class: first.traffic_class,
            hop_limit: first.hop_limit,
            udp_source: first.udp_source,
        });
    }
    Ok(Item {
        qpn: a.qpn,
        first_psn: first.psn,
        packets: if count > 1 { count } else { packets.len() as u32 },
        wqe,
        status: status::SUCCESS,
        brings,
    })
}

/// The peer's answers to a QP.
fn answers<'a>(seen: &'a [Seen], a: &Attributes) -> impl Iterator<Item = &'a Packet> {
    let qpn = a.qpn;
    seen.iter()
        .filter(move |s| !s.from_us && s.packet.qpn == qpn && is_answer(&s.packet))
        .map(|s| &s.packet)
}

/// What the responses to a READ carried, the first of each PSN.
fn read_data(seen: &[Seen], a: &Attributes, psn: u32, count: u32) -> Vec<u8> {
    let carried = |number: u32| {
        answers(seen, a)
            .find(|p| (0x0d..=0x10).contains(&p.opcode) && p.psn == after(psn, number))
            .map(|p| p.payload.clone())
    };
    (0..count).filter_map(carried).flatten().collect()
}
