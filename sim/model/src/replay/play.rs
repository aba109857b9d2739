// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plays a capture: which frames arrived, when receives are posted, what came back.
//!
//! A shadow golden model runs beside the responder. It says when a request needs a receive, and its completions and memory are what the
//! responder's must equal. A receive is posted right before the request that takes it, unless the captured side refused that delivery with
//! an RNR NAK: then it had none, and neither has the responder.

use super::arrivals::{arrived, resolve};
use super::checks::{self, Posted};
use super::compare::compare;
use super::contents::{self, Byte};
use super::golden::GoldenResponder;
use super::infer::{self, Inference, RECEIVE_BASE, RECEIVE_KEY, RECEIVE_SLOT, RECEIVE_SLOTS};
use super::overrides::Overrides;
use super::report::Report;
use super::runs::{self, ProbeOperation, Run};
use super::Responder;
use crate::capture::{self, Frame};
use crate::golden::{Completion, Features};
use crate::packet::Packet;
use crate::parse::{verdict, Verdict};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use verbena_spec::counters as c;
use verbena_spec::headers::{syndrome, Operation};

/// Replays `capture` with the responder in the place of `us`.
pub fn replay(path: &Path, us: IpAddr, overrides: &Overrides, responder: &mut dyn Responder) -> Result<Report> {
    let sent = capture::read(path)?;
    let run = runs::find(path)?.map(|r| r.seen_from(us));
    let features = responder.features();
    let skips = resolve(&sent, us, run.as_ref(), |skips| {
        let mut golden = GoldenResponder::with_features(features);
        let report = play(path, us, overrides, &sent, run.as_ref(), skips, &mut golden)?;
        Ok(report.map(|r| if r.departure().is_some() { 0 } else { r.differences().len() }))
    })?;
    play(path, us, overrides, &sent, run.as_ref(), &skips, responder)?.context("a frame that was dropped isn't in the capture")
}

/// One play, with these of equal frames lost; `None`: it can't be these.
fn play(
    path: &Path,
    us: IpAddr,
    overrides: &Overrides,
    sent: &[Frame],
    run: Option<&Run>,
    skips: &[usize],
    responder: &mut dyn Responder,
) -> Result<Option<Report>> {
    let Some(arrivals) = arrived(path, sent, run, us, skips)? else {
        return Ok(None);
    };
    let seen = infer::roce(sent, us);
    let inference = infer::infer(&seen, us, run, overrides)?;
    let mut report = Report {
        capture: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        waiting: inference.waiting,
        own_requests: seen.iter().filter(|s| s.from_us && !infer::is_answer(&s.packet)).count(),
        ..Report::default()
    };
    let read_atomic = responder.features().read_atomic;
    if report.waiting > 0 && !read_atomic {
        return Ok(Some(report));
    }
    report.waiting = 0;
    let mut player = Player {
        shadow: GoldenResponder::with_features(Features {
            requester: false,
            read_atomic,
        }),
        refusals: refusals(&seen),
        operations: run.and_then(Run::probe),
        receive_length: overrides.receive_length,
        posted: vec![],
        next_operation: BTreeMap::new(),
    };
    responder.configure(&inference.setup)?;
    player.shadow.configure(&inference.setup)?;
    let host_bytes = contents::host_bytes(&seen, &inference);
    player.host_writes(&host_bytes, None, responder)?;
    let mac = &inference.setup.local.mac;
    // What the peer sent to us, and to everybody.
    let for_us = |f: &&Frame| f.bytes.get(6..12) != Some(mac) && f.bytes.get(..6).is_some_and(|to| to == mac || to == [0xff; 6]);
    for arrival in arrivals.iter().filter(for_us) {
        let frame = map_keys(&arrival.bytes, &inference);
        if let Verdict::Roce { packet, .. } = verdict(&frame, false, &inference.setup.local) {
            player.host_writes(&host_bytes, Some((packet.udp_source, packet.psn)), responder)?;
        }
        player.receives(&frame, &inference, responder)?;
        let out = responder.deliver(&frame)?;
        player.shadow.deliver(&frame)?;
        report.delivered += 1;
        let stamp = |bytes| Frame { time: arrival.time, bytes };
        report.answers.extend(out.into_iter().map(stamp));
    }
    let captured: Vec<Packet> = seen
        .iter()
        .filter(|s| s.from_us && infer::is_answer(&s.packet))
        .map(|s| s.packet.clone())
        .collect();
    let ours: Vec<Packet> = infer::roce(&report.answers, us).into_iter().map(|s| s.packet).collect();
    anyhow::ensure!(
        ours.len() == report.answers.len(),
        "the responder sent a frame that is no RoCE packet with a right ICRC"
    );
    let first = inference.setup.qps.iter().map(|q| (q.peer_qpn, q.rq_psn)).collect();
    report.comparison = compare(&ours, &captured, &first);
    let counters = responder.counters()?;
    report.to_host = counters[usize::from(c::RX_HOST)];
    report.ghost_acks = counters[usize::from(c::GHOST_ACK)];
    player.finish(&mut report, &inference, responder, run)?;
    Ok(Some(report))
}

/// Keys that don't fit the responder's table are replaced in frames with a right ICRC, whose ICRC is then made anew.
fn map_keys(frame: &[u8], inference: &Inference) -> Vec<u8> {
    if inference.keys.is_empty() {
        return frame.to_vec();
    }
    let Verdict::Roce { mut packet, .. } = verdict(frame, false, &inference.setup.local) else {
        return frame.to_vec();
    };
    let mut changed = false;
    for key in [&mut packet.reth.rkey, &mut packet.atomic_eth.rkey, &mut packet.invalidate_rkey] {
        if let Some(new) = inference.keys.get(key) {
            *key = *new;
            changed = true;
        }
    }
    if changed {
        packet.to_frame()
    } else {
        frame.to_vec()
    }
}

/// RNR NAKs by (flow, PSN).
fn refusals(seen: &[infer::Seen]) -> BTreeMap<(u16, u32), usize> {
    let mut count = BTreeMap::new();
    for s in seen
        .iter()
        .filter(|s| s.from_us && s.packet.opcode == 0x11 && s.packet.aeth.syndrome & 0xe0 == syndrome::RNR)
    {
        *count.entry((s.packet.udp_source, s.packet.psn)).or_insert(0) += 1;
    }
    count
}

struct Player {
    /// What completions and memory must equal; its QPs' states say when a request takes a receive.
    shadow: GoldenResponder,
    refusals: BTreeMap<(u16, u32), usize>,
    operations: Option<Vec<ProbeOperation>>,
    receive_length: Option<u32>,
    posted: Vec<Posted>,
    next_operation: BTreeMap<u32, usize>,
}

impl Player {
    /// What the host writes at that time.
    fn host_writes(&mut self, bytes: &[Byte], when: Option<(u16, u32)>, responder: &mut dyn Responder) -> Result<()> {
        for byte in bytes.iter().filter(|b| b.when == when) {
            responder.write(byte.key, byte.address, &[byte.value])?;
            self.shadow.write(byte.key, byte.address, &[byte.value])?;
        }
        Ok(())
    }

    /// Posts the receive that this frame takes, if any.
    fn receives(&mut self, frame: &[u8], inference: &Inference, responder: &mut dyn Responder) -> Result<()> {
        let Verdict::Roce { packet, .. } = verdict(frame, false, &inference.setup.local) else {
            return Ok(());
        };
        let Some(info) = packet.info() else { return Ok(()) };
        let takes = match info.operation {
            Operation::Send => info.begins(),
            Operation::Write => info.ends() && info.immediate,
            _ => false,
        };
        let Some(qp) = self.shadow.qp(packet.qpn) else { return Ok(()) };
        let in_order = info.transport != 0 || packet.psn == qp.epsn;
        if !takes || !in_order || !qp.receives.is_empty() || !qp.receives_packets() {
            return Ok(());
        }
        if let Some(left) = self.refusals.get_mut(&(packet.udp_source, packet.psn)) {
            if *left > 0 {
                *left -= 1;
                return Ok(());
            }
        }
        let length = match (self.receive_length, &self.operations) {
            (Some(length), _) => length,
            (None, Some(operations)) => self
                .next_operation(packet.qpn, info.deth, operations.clone())
                .unwrap_or(RECEIVE_SLOT as u32),
            _ => RECEIVE_SLOT as u32,
        };
        let address = RECEIVE_BASE + self.posted.len() as u64 % RECEIVE_SLOTS * RECEIVE_SLOT;
        self.posted.push(Posted { qpn: packet.qpn, address });
        responder.post_receive(packet.qpn, address, length, RECEIVE_KEY)?;
        self.shadow.post_receive(packet.qpn, address, length, RECEIVE_KEY)
    }

    /// The buffer length that rxeprobe's server posts for its next operation that needs one.
    fn next_operation(&mut self, qpn: u32, datagram: bool, operations: Vec<ProbeOperation>) -> Option<u32> {
        let next = self.next_operation.entry(qpn).or_insert(0);
        let needs = |o: &&ProbeOperation| ["send", "sendimm", "sendinv", "writeimm", "long-send"].contains(&o.name.as_str());
        let operation = operations.iter().filter(needs).nth(*next)?;
        *next += 1;
        let header = if datagram { 40 } else { 0 };
        Some(match operation.name.as_str() {
            "writeimm" => 0,
            "long-send" => operation.length - 1,
            _ => operation.length + header,
        })
    }

    /// Completions, memory, and what the tool printed.
    fn finish(&mut self, report: &mut Report, inference: &Inference, responder: &mut dyn Responder, run: Option<&Run>) -> Result<()> {
        let (ours, want) = (responder.completions()?, self.shadow.completions()?);
        report.completions = want.len();
        report.completions_different = differing(&ours, &want);
        for region in &inference.setup.regions {
            let length = region.length as usize;
            let same = responder.read(region.key, region.virtual_address, length)?
                == self.shadow.read(region.key, region.virtual_address, length)?;
            report.memory_different += usize::from(!same);
        }
        match run {
            Some(run) => checks::check(report, run, inference, &self.posted, &ours, responder),
            None => Ok(()),
        }
    }
}

/// Completions that aren't equal, place by place.
fn differing(ours: &[Completion], want: &[Completion]) -> usize {
    let longest = ours.len().max(want.len());
    (0..longest).filter(|&i| ours.get(i) != want.get(i)).count()
}
