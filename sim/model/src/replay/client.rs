// SPDX-License-Identifier: MIT OR Apache-2.0
//! A capture played from the requester's side: the client gets the captured work list, posted as the captured side posted it, and the
//! peer's answers as they arrived. It must send equivalent packets and complete equally.
//!
//! ```text
//!  time of the capture ─┬─ the captured side begins a message ─► Client::post_send
//!                       ├─ an answer arrived ──────────────────► Client::deliver   (not before the client has sent what it answers)
//!                       └─ anything ───────────────────────────► Client::advance   (timers)
//! ```
//! The client isn't paced: it may send a message at once where the captured side took its time. So what is compared is each PSN's first
//! packet, each resent packet against its first, and the list of PSNs at which either side went back.

use super::arrivals::{arrived, resolve};
use super::golden_client::GoldenClient;
use super::infer::{self, Seen};
use super::report::{Report, Side};
use super::requests;
use super::runs::{self, Run};
use super::work::{self, Work, SINK_KEY, SOURCE_KEY};
use super::Setup;
use crate::capture::{self, Frame};
use crate::golden::send_queue::{ack_timeout, after, distance};
use crate::golden::send_wqe::{SendWqe, PSN_WINDOW};
use crate::golden::{Completion, Features};
use crate::packet::Packet;
use crate::parse::{verdict, Verdict};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;
use verbena_spec::counters as c;
use verbena_spec::layout::status;

/// What a work list can be given to: the golden model, or an engine behind the host library.
pub trait Client {
    /// What it was built with: work lists with READs or ATOMICs wait for a client that has them.
    fn features(&mut self) -> Features {
        Features::ALL
    }
    /// Regions and QPs in RTS; time is 0.
    fn configure(&mut self, setup: &Setup) -> Result<()>;
    /// Puts bytes into a region.
    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()>;
    /// Posts a WQE and rings the doorbell.
    fn post_send(&mut self, qpn: u32, wqe: &SendWqe) -> Result<()>;
    /// Lets time go on to `now` (ns since `configure`), with everything that is due sent; the frames sent since the last call.
    fn advance(&mut self, now: u64) -> Result<Vec<Vec<u8>>>;
    /// A frame from the wire; it is acted upon with the next `advance`.
    fn deliver(&mut self, frame: &[u8]) -> Result<()>;
    /// Completions since the last call, in order for each CQ.
    fn completions(&mut self) -> Result<Vec<Completion>>;
    /// Bytes of a region.
    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>>;
    /// Counters by code, since `configure`.
    fn counters(&mut self) -> Result<Vec<u32>>;
}

enum Happening {
    /// The captured side sent a packet.
    Sent(Packet),
    /// A frame reached it.
    Arrived(Vec<u8>),
}

/// Which halves the side at `us` shows in the capture: requester where it sent requests, responder where its peer did, or where neither did.
pub fn sides(path: &Path, us: IpAddr) -> Result<Vec<Side>> {
    let seen = infer::roce(&capture::read(path)?, us);
    let has = |from_us: bool| seen.iter().any(|s| s.from_us == from_us && infer::is_request(&s.packet));
    let mut sides = vec![];
    if has(false) || !has(true) {
        sides.push(Side::Responder);
    }
    if has(true) {
        sides.push(Side::Requester);
    }
    Ok(sides)
}

/// Replays `capture` with the client in the place of `us`.
pub fn replay(path: &Path, us: IpAddr, client: &mut dyn Client) -> Result<Report> {
    let sent = capture::read(path)?;
    let run = runs::find(path)?.map(|r| r.seen_from(us));
    let skips = resolve(&sent, us, run.as_ref(), |skips| {
        let report = play(path, us, &sent, run.as_ref(), skips, &mut GoldenClient::new())?;
        Ok(report.map(|r| r.differences().len()))
    })?;
    play(path, us, &sent, run.as_ref(), &skips, client)?.context("a frame that was dropped isn't in the capture")
}

/// One play, with these of equal frames lost; `None`: it can't be these.
fn play(path: &Path, us: IpAddr, sent: &[Frame], run: Option<&Run>, skips: &[usize], client: &mut dyn Client) -> Result<Option<Report>> {
    let Some(arrivals) = arrived(path, sent, run, us, skips)? else {
        return Ok(None);
    };
    let seen = infer::roce(sent, us);
    let work = work::infer(&seen, us, run)?;
    let mut report = Report {
        capture: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        side: Side::Requester,
        ..Report::default()
    };
    if !client.features().read_atomic {
        report.waiting = work.items.iter().filter(|i| i.wqe.is_read() || i.wqe.is_atomic()).count();
        if report.waiting > 0 {
            return Ok(Some(report));
        }
    }
    client.configure(&work.setup)?;
    for (address, bytes) in &work.payloads {
        client.write(SOURCE_KEY, *address, bytes)?;
    }
    let mut player = Player {
        client,
        work: &work,
        out: vec![],
        next: BTreeMap::new(),
        highest: work.setup.qps.iter().map(|q| (q.qpn, q.sq_psn)).collect(),
        held: VecDeque::new(),
        back: Backs::default(),
        skew: 0,
    };
    let start = sent.first().map_or(Duration::ZERO, |f| f.time);
    let mut last = 0;
    for (time, happening) in timeline(sent, &arrivals, us, &work) {
        last = time.saturating_sub(start).as_nanos() as u64;
        player.advance(last)?;
        match happening {
            Happening::Sent(packet) => {
                player.catch_up(&packet, last)?;
                player.post(&packet)?;
            }
            Happening::Arrived(frame) => {
                report.delivered += 1;
                player.held.push_back(frame);
            }
        }
        player.advance(last)?;
    }
    // What still has to time out.
    for _ in 0..=work.setup.qps.iter().map(|q| q.retry_count).max().unwrap_or(0) {
        last += work.setup.qps.iter().filter_map(|q| ack_timeout(q.timeout)).max().unwrap_or(0);
        player.advance(last)?;
    }
    for frame in std::mem::take(&mut player.held) {
        player.client.deliver(&frame)?;
    }
    player.advance(last + 1)?;
    finish(player, &mut report, &seen, us).map(Some)
}

/// Comparison, completions, memory.
fn finish(player: Player, report: &mut Report, seen: &[Seen], us: IpAddr) -> Result<Report> {
    let (client, work) = (player.client, player.work);
    let ours = infer::roce(&player.out, us);
    anyhow::ensure!(
        ours.len() == player.out.len(),
        "the client sent a frame that is no RoCE packet with a right ICRC"
    );
    let ours: Vec<Packet> = ours.into_iter().map(|s| s.packet).collect();
    let captured: Vec<Packet> = seen
        .iter()
        .filter(|s| s.from_us && infer::is_request(&s.packet))
        .map(|s| s.packet.clone())
        .collect();
    report.answers = player.out;
    report.comparison = requests::compare(&ours, &captured, work, &player.back.crossed);
    report.ghost_acks = client.counters()?[usize::from(c::GHOST_ACK)];
    let done = client.completions()?;
    report.completions = done.len();
    for qp in &work.setup.qps {
        let got: Vec<(u16, u32)> = done.iter().filter(|d| d.qpn == qp.qpn).map(|d| (d.wqe_index, d.status)).collect();
        let items = work.items.iter().filter(|i| i.qpn == qp.qpn);
        let want: Vec<(u16, u32)> = items.enumerate().map(|(n, i)| (n as u16, i.status)).collect();
        let longest = got.len().max(want.len());
        report.completions_different += (0..longest).filter(|&i| got.get(i) != want.get(i)).count();
        if got != want {
            report
                .tool_disagrees
                .push(format!("QP {:#x}: completions {got:?}, the capture's tool says {want:?}", qp.qpn));
        }
    }
    for item in work.items.iter().filter(|i| i.status == status::SUCCESS) {
        let Some((address, bytes)) = &item.brings else { continue };
        report.payloads += 1;
        if client.read(SINK_KEY, *address, bytes.len())? != *bytes {
            report.memory_different += 1;
        }
    }
    Ok(report.clone())
}

struct Player<'a> {
    client: &'a mut dyn Client,
    work: &'a Work,
    /// Frames sent.
    out: Vec<Frame>,
    /// Messages posted, by QPN.
    next: BTreeMap<u32, usize>,
    /// Highest PSN sent + 1, by QPN.
    highest: BTreeMap<u32, u32>,
    /// Answers that have arrived, the first to something that the client hasn't sent yet.
    held: VecDeque<Vec<u8>>,
    back: Backs,
    /// What the client's clock is ahead of the capture's, ns.
    skew: u64,
}

/// How often each side has gone back, by QPN.
#[derive(Default)]
struct Backs {
    ours: BTreeMap<u32, usize>,
    /// Ours, when the captured side last went back.
    then: BTreeMap<u32, usize>,
    /// PSN that follows each side's newest packet.
    our_next: BTreeMap<u32, u32>,
    captured_next: BTreeMap<u32, u32>,
    /// PSN behind what ACKs have acknowledged.
    acknowledged: BTreeMap<u32, u32>,
    /// PSNs that the captured side went back to although an ACK had arrived: its timer and the ACK crossed.
    crossed: Vec<(u32, u32)>,
}

/// Notes a packet; true if it goes back.
fn goes_back(next: &mut BTreeMap<u32, u32>, qpn: u32, packet: &Packet, pmtu: usize) -> bool {
    let before = next.insert(qpn, requests::end(packet, pmtu));
    before.is_some_and(|n| distance(n, packet.psn) >= PSN_WINDOW)
}

impl Player<'_> {
    /// The captured side sent `packet`: the message that it begins, if any, is posted.
    fn post(&mut self, packet: &Packet) -> Result<()> {
        let Some(qpn) = self.work.qpn_of(packet) else { return Ok(()) };
        let next = self.next.entry(qpn).or_insert(0);
        let Some(item) = self.work.items.iter().filter(|i| i.qpn == qpn).nth(*next) else {
            return Ok(());
        };
        if item.first_psn == packet.psn {
            *next += 1;
            self.client.post_send(qpn, &item.wqe)?;
        }
        Ok(())
    }

    /// The captured side goes back with `packet`, and ours hasn't since it last did: its timer ran out, so ours must (R47: within four
    /// times the timeout).
    fn catch_up(&mut self, packet: &Packet, now: u64) -> Result<()> {
        let Some(qp) = self.work.qp_of(packet) else { return Ok(()) };
        if !goes_back(&mut self.back.captured_next, qp.qpn, packet, qp.pmtu) {
            return Ok(());
        }
        let acknowledged = self.back.acknowledged.get(&qp.qpn).copied().unwrap_or(qp.sq_psn);
        let by_ack = !requests::is_answered(packet);
        if by_ack && distance(acknowledged, packet.psn) >= PSN_WINDOW {
            self.back.crossed.push((qp.qpn, packet.psn));
            return Ok(());
        }
        let then = self.back.then.get(&qp.qpn).copied().unwrap_or(0);
        for _ in 0..4 {
            if self.back.ours.get(&qp.qpn).copied().unwrap_or(0) > then {
                break;
            }
            self.skew += ack_timeout(qp.timeout).unwrap_or(0);
            self.advance(now)?;
        }
        let ours = self.back.ours.get(&qp.qpn).copied().unwrap_or(0);
        self.back.then.insert(qp.qpn, ours);
        Ok(())
    }

    fn advance(&mut self, now: u64) -> Result<()> {
        self.collect(now)?;
        while let Some(frame) = self.held.front() {
            if !self.may_arrive(frame) {
                return Ok(());
            }
            if let Some(frame) = self.held.pop_front() {
                self.note_answer(&frame);
                self.client.deliver(&frame)?;
                self.collect(now)?;
            }
        }
        Ok(())
    }

    fn collect(&mut self, now: u64) -> Result<()> {
        for bytes in self.client.advance(now + self.skew)? {
            let frame = Frame {
                time: Duration::from_nanos(now),
                bytes,
            };
            for s in infer::roce(std::slice::from_ref(&frame), self.work.us) {
                let Some(qp) = self.work.qp_of(&s.packet) else { continue };
                if goes_back(&mut self.back.our_next, qp.qpn, &s.packet, qp.pmtu) {
                    *self.back.ours.entry(qp.qpn).or_insert(0) += 1;
                }
                let end = requests::end(&s.packet, qp.pmtu);
                if let Some(highest) = self.highest.get_mut(&qp.qpn).filter(|h| distance(**h, end) < PSN_WINDOW) {
                    *highest = end;
                }
            }
            self.out.push(frame);
        }
        Ok(())
    }

    fn note_answer(&mut self, frame: &[u8]) {
        let Verdict::Roce { packet, .. } = verdict(frame, false, &self.work.setup.local) else {
            return;
        };
        if packet.opcode != 0x11 || packet.aeth.syndrome & 0x60 != 0 {
            return;
        }
        let end = after(packet.psn, 1);
        let start = self.highest.get(&packet.qpn).copied().unwrap_or(end);
        let acknowledged = self.back.acknowledged.entry(packet.qpn).or_insert(start);
        // Nothing acknowledged yet: whatever comes first.
        if distance(*acknowledged, end) < PSN_WINDOW || *acknowledged == start {
            *acknowledged = end;
        }
    }

    /// The client has sent what the frame answers.
    fn may_arrive(&self, frame: &[u8]) -> bool {
        let Verdict::Roce { packet, .. } = verdict(frame, false, &self.work.setup.local) else {
            return true;
        };
        let Some(highest) = self.highest.get(&packet.qpn) else {
            return true;
        };
        distance(*highest, packet.psn) >= PSN_WINDOW
    }
}

/// Our packets as they were sent, and what reached us, by time.
fn timeline(sent: &[Frame], arrivals: &[Frame], us: IpAddr, work: &Work) -> Vec<(Duration, Happening)> {
    let mut events = vec![];
    for frame in sent {
        let seen = infer::roce(std::slice::from_ref(frame), us);
        let requests = seen.into_iter().filter(|s| s.from_us && infer::is_request(&s.packet));
        events.extend(requests.map(|s| (frame.time, Happening::Sent(s.packet))));
    }
    let mac = work.setup.local.mac;
    for frame in arrivals.iter().filter(|f| f.bytes.get(..6) == Some(&mac)) {
        // The peer's own requests are another half's business.
        let theirs = match verdict(&frame.bytes, false, &work.setup.local) {
            Verdict::Roce { packet, .. } => infer::is_answer(&packet),
            Verdict::Drop(_) => true,
            Verdict::Host(_) => false,
        };
        if theirs {
            events.push((frame.time, Happening::Arrived(frame.bytes.clone())));
        }
    }
    events.sort_by_key(|e| e.0);
    events
}
