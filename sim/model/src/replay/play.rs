// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plays a capture: which frames arrived, when receives are posted, what came back.
//!
//! A shadow golden model runs beside the responder. It says when a request needs a receive, and its completions and memory are what the
//! responder's must equal. A receive is posted right before the request that takes it, unless the captured side refused that delivery with
//! an RNR NAK: then it had none, and neither has the responder.

use super::compare::{compare, Comparison};
use super::golden::GoldenResponder;
use super::infer::{self, destination, Inference, RECEIVE_BASE, RECEIVE_KEY, RECEIVE_SLOT, RECEIVE_SLOTS};
use super::runs::{self, ProbeOperation, Run};
use super::Responder;
use crate::capture;
use crate::golden::{Completion, Golden};
use crate::packet::Packet;
use crate::parse::{verdict, Verdict};
use anyhow::{Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use verbena_spec::counters as c;
use verbena_spec::headers::{syndrome, Operation};
use verbena_spec::layout::status;

/// The result of a capture's replay.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub capture: String,
    /// READ or ATOMIC requests: the capture waits for that half of the engine and isn't played.
    pub waiting: usize,
    pub delivered: usize,
    pub to_host: u32,
    pub ghost_acks: u32,
    /// Requests of the captured side's own requester, left out.
    pub own_requests: usize,
    pub comparison: Comparison,
    /// Completions that differ from the golden model's.
    pub completions_different: usize,
    pub completions: usize,
    /// Regions whose bytes differ from the golden model's.
    pub memory_different: usize,
    /// What the capture's tool says of its receives and the golden model doesn't (rxeprobe prints them).
    pub tool_disagrees: Option<String>,
    #[serde(skip)]
    pub answers: Vec<Vec<u8>>,
}

impl Report {
    /// Nothing differs.
    pub fn holds(&self) -> bool {
        self.comparison.different.is_empty()
            && self.completions_different == 0
            && self.memory_different == 0
            && self.tool_disagrees.is_none()
    }
}

/// What the user says that the capture can't.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub regions: Vec<super::SetupRegion>,
    /// Length of each receive buffer.
    pub receive_length: Option<u32>,
}

/// Replays `capture` with the responder in the place of `us`.
pub fn replay(path: &Path, us: IpAddr, overrides: &Overrides, responder: &mut dyn Responder) -> Result<Report> {
    let sent: Vec<Vec<u8>> = capture::read(path)?.into_iter().map(|f| f.bytes).collect();
    let run = runs::find(path)?;
    let seen = infer::roce(&sent, us);
    let mut inference = infer::infer(&seen, us, run.as_ref())?;
    inference.setup.regions.extend(overrides.regions.iter().cloned());
    let mut report = Report {
        capture: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        waiting: inference.waiting,
        delivered: 0,
        to_host: 0,
        ghost_acks: 0,
        own_requests: seen
            .iter()
            .filter(|s| s.from_us && s.packet.info().is_some_and(|i| !answers(i.operation)))
            .count(),
        comparison: Comparison::default(),
        completions_different: 0,
        completions: 0,
        memory_different: 0,
        tool_disagrees: None,
        answers: vec![],
    };
    if report.waiting > 0 {
        return Ok(report);
    }
    let received = path.with_extension("rx.pcap");
    let arrived: Vec<Vec<u8>> = if received.exists() {
        capture::read(&received)?.into_iter().map(|f| f.bytes).collect()
    } else {
        without_drops(sent, run.as_ref(), us)
    };
    let mut player = Player {
        shadow: GoldenResponder::new(),
        oracle: Golden::new(inference.setup.local.clone()),
        refusals: refusals(&seen),
        operations: run.as_ref().and_then(Run::probe),
        receive_length: overrides.receive_length,
        next_slot: 0,
        next_operation: BTreeMap::new(),
    };
    responder.configure(&inference.setup)?;
    player.shadow.configure(&inference.setup)?;
    player.mirror(&inference)?;
    for frame in arrived
        .iter()
        .filter(|f| destination(f) == Some(us) && f.get(..6) == Some(&inference.setup.local.mac))
    {
        let frame = map_keys(frame, &inference);
        player.receives(&frame, responder)?;
        let out = responder.deliver(&frame)?;
        player.shadow.deliver(&frame)?;
        player.oracle.receive(&frame, false, &mut Default::default());
        report.delivered += 1;
        report.answers.extend(out);
    }
    let captured: Vec<Packet> = seen
        .iter()
        .filter(|s| s.from_us && s.packet.info().is_some_and(|i| answers(i.operation)))
        .map(|s| s.packet.clone())
        .collect();
    let ours: Vec<Packet> = infer::roce(&report.answers, us).into_iter().map(|s| s.packet).collect();
    anyhow::ensure!(
        ours.len() == report.answers.len(),
        "the responder sent a frame that is no RoCE packet with a right ICRC"
    );
    report.comparison = compare(&ours, &captured);
    let counters = responder.counters()?;
    report.to_host = counters[usize::from(c::RX_HOST)];
    report.ghost_acks = counters[usize::from(c::GHOST_ACK)];
    player.finish(&mut report, &inference, responder, run.as_ref())?;
    Ok(report)
}

/// Packets that answer: everything but requests.
fn answers(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Acknowledge | Operation::ReadResponse | Operation::AtomicAcknowledge
    )
}

/// The frames that reached us. Fault entries stand in the order in which the wire made them: each drops the first frame of its
/// opcode and PSN to us after the one that the entry before it dropped.
fn without_drops(sent: Vec<Vec<u8>>, run: Option<&Run>, us: IpAddr) -> Vec<Vec<u8>> {
    let mut drops = run
        .iter()
        .flat_map(|r| &r.faults)
        .filter(|f| f.first().is_some_and(|a| a == "drop") && f.get(1).is_some_and(|d| d == "b>a"))
        .filter_map(|f| Some((u8::from_str_radix(f.get(2)?, 16).ok()?, u32::from_str_radix(f.get(3)?, 16).ok()?)))
        .peekable();
    sent.into_iter()
        .filter(|frame| {
            let seen = infer::roce(std::slice::from_ref(frame), us);
            let Some(s) = seen.first().filter(|s| !s.from_us) else {
                return true;
            };
            let dropped = drops.peek() == Some(&(s.packet.opcode, s.packet.psn));
            if dropped {
                drops.next();
            }
            !dropped
        })
        .collect()
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
    for key in [&mut packet.reth.rkey, &mut packet.invalidate_rkey] {
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
    /// What completions and memory must equal.
    shadow: GoldenResponder,
    /// The QPs' states, to know when a request takes a receive.
    oracle: Golden,
    refusals: BTreeMap<(u16, u32), usize>,
    operations: Option<Vec<ProbeOperation>>,
    receive_length: Option<u32>,
    next_slot: u64,
    next_operation: BTreeMap<u32, usize>,
}

impl Player {
    /// The oracle gets the same QPs and regions.
    fn mirror(&mut self, inference: &Inference) -> Result<()> {
        use crate::golden::keys::Region;
        use crate::golden::qp::State;
        for r in &inference.setup.regions {
            let pages = (0..(r.virtual_address % 4096 + r.length).div_ceil(4096))
                .map(|n| n * 4096)
                .collect();
            self.oracle.register(Region {
                key: r.key,
                pd: inference.setup.pd,
                access: r.access,
                may_invalidate: r.may_invalidate,
                virtual_address: r.virtual_address,
                length: r.length,
                pages,
            });
        }
        for attributes in &inference.setup.qps {
            self.oracle.create_qp(attributes.clone());
            for state in [State::Init, State::Rtr, State::Rts] {
                self.oracle.modify(attributes.qpn, state, &mut Default::default());
            }
        }
        Ok(())
    }

    /// Posts the receive that this frame takes, if any.
    fn receives(&mut self, frame: &[u8], responder: &mut dyn Responder) -> Result<()> {
        let Verdict::Roce { packet, .. } = verdict(frame, false, &self.oracle.local) else {
            return Ok(());
        };
        let Some(info) = packet.info() else { return Ok(()) };
        let takes = match info.operation {
            Operation::Send => info.begins(),
            Operation::Write => info.ends() && info.immediate,
            _ => false,
        };
        let Some(qp) = self.oracle.qp(packet.qpn) else { return Ok(()) };
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
        let address = RECEIVE_BASE + self.next_slot % RECEIVE_SLOTS * RECEIVE_SLOT;
        self.next_slot += 1;
        responder.post_receive(packet.qpn, address, length, RECEIVE_KEY)?;
        self.shadow.post_receive(packet.qpn, address, length, RECEIVE_KEY)?;
        self.oracle
            .post_receive(packet.qpn, address, length, RECEIVE_KEY, &mut Default::default())
            .context("oracle")?;
        Ok(())
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
        if let Some((completed, errors)) = run.and_then(Run::probe_receives) {
            let good = ours.iter().filter(|c| c.status == status::SUCCESS).count();
            // A QP that ends in error flushes receives on one side only where the tool had posted them early.
            if completed - errors.min(completed) != good {
                report.tool_disagrees = Some(format!(
                    "rxeprobe's server completed {completed} receives with {errors} errors, here {good} completed"
                ));
            }
        }
        Ok(())
    }
}

/// Completions that aren't equal, place by place.
fn differing(ours: &[Completion], want: &[Completion]) -> usize {
    let longest = ours.len().max(want.len());
    (0..longest).filter(|&i| ours.get(i) != want.get(i)).count()
}
