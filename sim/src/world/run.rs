// SPDX-License-Identifier: MIT OR Apache-2.0
//! Posts the plans' work, polls, and holds every completion and byte to them.

use super::completions::{check_receive, check_send};
use super::connect::{connect, set_addresses, Common, Connection, End, Place};
use super::network::Network;
use super::post::{post_receives, post_sends};
use crate::held::NotHeld;
use crate::hold;
use anyhow::{ensure, Context, Result};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use verbena_model::wire::Statistics;
use verbena_spec::counters as c;
use verbena_verbs::{Completion, CompletionOpcode, CompletionStatus, Verb, WorkRequest};

/// What the world is like, beside its seed.
#[derive(Debug, Clone, Copy)]
pub struct WorldOptions {
    /// Connections, up to 8; random if `None`.
    pub qps: Option<usize>,
    /// Receives may come late, so that the sender is told to wait (R44).
    pub late: bool,
    /// Which sides send; the others need no requester.
    pub senders: [bool; 2],
    /// UC and UD too: only on a wire without faults.
    pub unreliable: bool,
    /// Local ACK timeout's code (R47): more than the longest queue, delay and round trip.
    pub timeout: u8,
    /// How often the host looks after its queues, ns.
    pub host_period: u64,
    /// RC QPs of an engine that can hold early requests, `nak_distance` and `nak_delay` at random.
    pub reorder: bool,
}

/// What a run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Report {
    pub qps: usize,
    pub messages: usize,
    pub bytes: u64,
    /// ns.
    pub time: u64,
    pub frames: u64,
    /// What the wires did to frames.
    pub faults: u64,
    /// Frames dropped for want of a receive buffer.
    pub no_buffer: u64,
    /// Times that a send queue went back for another reason than RNR.
    pub retries: u64,
    pub rnr_waits: u64,
    pub timeouts: u64,
}

/// Longest that ACK timers may be (R47): four times their nominal time.
const TIMER_SLACK: u64 = 4;
/// Timeouts until a QP gives up, the first try included.
const TRIES: u64 = 8;
/// Nothing else moves after the last completion for so long, ns: duplicates and late frames are then in.
const SETTLE: u64 = 50_000;
/// Longest time until that, ns.
const LONGEST_SETTLE: u64 = 10_000_000;

/// Two machines, their connections, a plan for each QP and direction.
pub struct World<N: Network> {
    pub network: N,
    options: WorldOptions,
    rng: ChaCha8Rng,
    connections: Vec<Connection>,
    begin: u64,
    /// Counters and wires at the beginning.
    before: ([[u32; WATCHED.len()]; 2], [Statistics; 2]),
}

const WATCHED: [u8; 8] = [
    c::REWIND,
    c::RNR_WAIT,
    c::TIMEOUT,
    c::RX_NO_BUFFER,
    c::AXI_ERROR,
    c::REORDER_FULL,
    c::OUT_OF_SEQUENCE,
    c::TX_NAK_SEQUENCE,
];

impl<N: Network> World<N> {
    /// Connects everything; nothing is sent yet.
    pub fn new(mut network: N, seed: u64, options: WorldOptions) -> Result<World<N>> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let capabilities = [0, 1].map(|side| *network.device(side).capabilities());
        let common = Common::new(&capabilities[0], &capabilities[1], &options);
        for (side, capabilities) in capabilities.iter().enumerate() {
            // Nothing went wrong: there is nothing to run.
            ensure!(
                capabilities.requester || !options.senders[side],
                "engine {side} has no requester (CAPABILITIES bit 18): it can't send"
            );
        }
        let mut cqs = vec![];
        for side in 0..2 {
            set_addresses(&mut network, side, common.capabilities.ipv6)?;
            let device = network.device(side);
            let entries = device.capabilities().ring_entries;
            cqs.push(if common.shared { Some(device.create_cq(entries)?) } else { None });
        }
        let count = options
            .qps
            .map_or_else(|| rng.gen_range(1..=common.qps), |qps| qps.clamp(1, common.qps));
        let mut connections = vec![];
        for number in 0..count {
            let mut places = vec![];
            for (side, cq) in cqs.iter().enumerate() {
                let pd = network.device(side).alloc_pd()?;
                places.push(Place { pd, cq: *cq });
            }
            let places: [Place; 2] = places.try_into().ok().context("two places")?;
            let made = connect(&mut network, &mut rng, &common, &options, &places);
            connections.push(made.with_context(|| format!("connection {number}"))?);
        }
        let begin = network.now();
        let before = (watched(&mut network)?, network.wires());
        Ok(World {
            network,
            options,
            rng,
            connections,
            begin,
            before,
        })
    }

    /// Runs until everything is posted and has completed, then until nothing moves any more; checks all of it.
    pub fn run(&mut self) -> Result<Report> {
        match self.play() {
            Err(error) if error.downcast_ref::<NotHeld>().is_some() => {
                let counters = self.counters()?;
                Err(NotHeld(format!("{error:#}; {counters}")).into())
            }
            ended => ended,
        }
    }

    fn play(&mut self) -> Result<Report> {
        let patience = TIMER_SLACK * TRIES * (4096 << self.options.timeout) + 10_000_000;
        let (mut at, mut first) = (self.network.now(), true);
        while !self.is_complete() {
            let mut moved = self.post(first)?;
            first = false;
            self.network.run(self.options.host_period)?;
            moved |= self.poll()?;
            let now = self.network.now();
            at = if moved { now } else { at };
            hold!(
                now - at < patience,
                "nothing came for {patience} ns; waiting for {}",
                self.missing()
            );
        }
        let time = self.network.now() - self.begin;
        self.settle()?;
        self.check_memory()?;
        self.check_events()?;
        let report = self.report(time)?;
        self.check_keys(patience)?;
        Ok(report)
    }

    fn is_complete(&self) -> bool {
        let done = |end: &End, peer: &End| end.completed == end.plan.completions.len() && end.received == peer.plan.receives.len();
        self.connections
            .iter()
            .all(|c| done(&c.ends[0], &c.ends[1]) && done(&c.ends[1], &c.ends[0]))
    }

    /// What hasn't come, for the message.
    fn missing(&self) -> String {
        let mut list = vec![];
        for (number, connection) in self.connections.iter().enumerate() {
            for (side, end) in connection.ends.iter().enumerate() {
                let receives = connection.ends[1 - side].plan.receives.len();
                let (sends, steps) = (end.plan.completions.len(), end.plan.steps.len());
                if end.completed < sends || end.received < receives {
                    list.push(format!(
                        "{:?} QP {number} ({:#08x}) of side {side}: {} of {steps} posted, {} of {sends} completed, {} of {receives} received",
                        connection.transport, end.qp.qpn, end.next, end.completed, end.received
                    ));
                }
            }
        }
        list.join("; ")
    }

    /// Counters that aren't 0, for the message.
    fn counters(&mut self) -> Result<String> {
        let mut text = vec![];
        for side in 0..2 {
            let counters = self.network.device(side).counters()?;
            let some = counters.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}"));
            text.push(format!("side {side}: {}", some.collect::<Vec<_>>().join(", ")));
        }
        Ok(text.join("; "))
    }

    /// The hosts post what there is room for, and receives: some ahead, then one at a time.
    fn post(&mut self, first: bool) -> Result<bool> {
        let mut moved = false;
        for connection in &mut self.connections {
            for side in 0..2 {
                let [a, b] = &mut connection.ends;
                let (end, peer) = if side == 0 { (a, b) } else { (b, a) };
                let device = self.network.device(side);
                moved |= post_receives(device, end, peer, first)?;
            }
        }
        // Only now, so that those that are ahead are.
        for connection in &mut self.connections {
            for side in 0..2 {
                let [a, b] = &mut connection.ends;
                let (end, peer) = if side == 0 { (a, b) } else { (b, a) };
                moved |= post_sends(self.network.device(side), &mut self.rng, end, peer)?;
            }
        }
        Ok(moved)
    }

    /// Takes and checks what completed.
    fn poll(&mut self) -> Result<bool> {
        let mut moved = false;
        for number in 0..self.connections.len() {
            for side in 0..2 {
                for queue in 0..2 {
                    let cq = self.connections[number].ends[side].cqs[queue];
                    for completion in self.network.device(side).poll_cq(cq, 1 << 16)? {
                        moved = true;
                        self.completed(side, &completion)?;
                    }
                }
            }
        }
        Ok(moved)
    }

    fn completed(&mut self, side: usize, got: &Completion) -> Result<()> {
        let found = self.connections.iter().position(|c| c.ends[side].qp == got.qp);
        let number = found.with_context(|| format!("a completion for QP {:#08x}, which is none of ours", got.qp.qpn))?;
        let connection = &mut self.connections[number];
        let what = format!("{:?} QP {number}, side {side}", connection.transport);
        let [a, b] = &mut connection.ends;
        let (end, peer) = if side == 0 { (a, b) } else { (b, a) };
        if matches!(got.opcode, CompletionOpcode::Recv | CompletionOpcode::RecvRdmaWithImm) {
            check_receive(connection.transport, end, peer, got).context(what)
        } else {
            check_send(end, got).context(what)
        }
    }

    /// Nothing may come any more.
    fn settle(&mut self) -> Result<()> {
        let begin = self.network.now();
        let mut still = begin;
        while self.network.now() - still < SETTLE {
            self.network.run(SETTLE / 10)?;
            hold!(!self.poll()?, "a completion after the last one");
            let now = self.network.now();
            still = if self.network.is_quiet() { still } else { now };
            hold!(
                now - begin < LONGEST_SETTLE,
                "frames still move {LONGEST_SETTLE} ns after the last completion"
            );
        }
        Ok(())
    }

    fn check_memory(&mut self) -> Result<()> {
        for (number, connection) in self.connections.iter().enumerate() {
            for (side, end) in connection.ends.iter().enumerate() {
                let (own, peer) = (&end.plan, &connection.ends[1 - side].plan);
                let device = self.network.device(side);
                let areas = [
                    ("source", &end.source, &own.source),
                    ("what READs and ATOMICs brought", &end.sink, &own.sink),
                    ("what the peer wrote", &end.target, &peer.target),
                    ("receives", &end.receive, &peer.receive),
                ];
                for (name, area, image) in areas {
                    let what = format!("{:?} QP {number}, side {side}: {name}", connection.transport);
                    area.check(device, image, &what)?;
                }
            }
        }
        Ok(())
    }

    /// What each connection's four areas hold, side by side; bytes that nothing fixes (a datagram's GRH) are 0.
    pub fn memories(&mut self) -> Result<Vec<Vec<u8>>> {
        let mut all = vec![];
        for connection in &self.connections {
            for (side, end) in connection.ends.iter().enumerate() {
                let (own, peer) = (&end.plan, &connection.ends[1 - side].plan);
                let device = self.network.device(side);
                let areas = [
                    (&end.source, &own.source),
                    (&end.sink, &own.sink),
                    (&end.target, &peer.target),
                    (&end.receive, &peer.receive),
                ];
                for (area, image) in areas {
                    let mut bytes = area.read(device, image.after.len())?;
                    for open in &image.open {
                        bytes[open.clone()].fill(0);
                    }
                    all.push(bytes);
                }
            }
        }
        Ok(all)
    }

    fn check_events(&mut self) -> Result<()> {
        for side in 0..2 {
            let event = self.network.device(side).poll_event()?;
            hold!(event.is_none(), "side {side}: event {event:?}");
        }
        Ok(())
    }

    /// A key that a SEND invalidated is refused (R62): the last thing, because it ends the QPs. The peer's QP in ERR says nothing more, so
    /// where the wire lost its NAK the WRITE ends by its retries.
    fn check_keys(&mut self, patience: u64) -> Result<()> {
        for number in 0..self.connections.len() {
            let ends = &self.connections[number].ends;
            let Some(side) = (0..2).find(|side| ends[*side].plan.invalidated > 0) else {
                continue;
            };
            let gone = self.rng.gen_range(0..ends[side].plan.invalidated);
            let remote = ends[1 - side].windows[gone].remote(0);
            let (qp, cq) = (ends[side].qp, ends[side].cqs[0]);
            let faults = |network: &N| network.wires().iter().map(Statistics::faults).sum::<u64>();
            let before = faults(&self.network);
            let device = self.network.device(side);
            device.post_send(qp, &WorkRequest::inline(u64::MAX, Verb::Write(remote), b"gone"))?;
            let begin = self.network.now();
            let done = loop {
                self.network.run(self.options.host_period)?;
                let found = self.network.device(side).poll_cq(cq, 1)?;
                if let Some(done) = found.into_iter().find(|c| c.qp == qp) {
                    break done;
                }
                let waited = self.network.now() - begin;
                hold!(
                    waited < patience,
                    "QP {number}, side {side}: no end of a WRITE to an invalidated key"
                );
            };
            let refused = match done.status {
                CompletionStatus::RemoteAccessError => true,
                CompletionStatus::RetryExceeded => faults(&self.network) > before,
                _ => false,
            };
            let what = format!("QP {number}, side {side}: a WRITE to an invalidated key");
            hold!(refused && done.wr_id == u64::MAX, "{what} ended as {done:?}");
            let window = &self.connections[number].ends[1 - side].windows[gone];
            window.check_untouched(self.network.device(1 - side), &what)?;
        }
        Ok(())
    }

    fn report(&mut self, time: u64) -> Result<Report> {
        let (counters, wires) = (watched(&mut self.network)?, self.network.wires());
        let count = |n: usize| -> u64 {
            (0..2)
                .map(|side| u64::from(counters[side][n].wrapping_sub(self.before.0[side][n])))
                .sum()
        };
        let wire = |of: fn(&Statistics) -> u64| -> u64 { (0..2).map(|n| of(&wires[n]) - of(&self.before.1[n])).sum() };
        let [rewinds, rnr_waits, timeouts, no_buffer, axi_errors, no_slot, beyond, naks] = [0, 1, 2, 3, 4, 5, 6, 7].map(count);
        // What a reorder station couldn't hold is a loss of its own.
        let not_held = if self.options.reorder { no_slot + beyond } else { 0 };
        hold!(axi_errors == 0, "{axi_errors} AXI errors");
        let report = Report {
            qps: self.connections.len(),
            messages: self.connections.iter().flat_map(|c| &c.ends).map(|e| e.plan.steps.len()).sum(),
            bytes: self
                .connections
                .iter()
                .flat_map(|c| &c.ends)
                .flat_map(|e| &e.plan.completions)
                .map(|c| u64::from(c.length))
                .sum(),
            time,
            frames: wire(|s| s.sent),
            faults: wire(Statistics::faults),
            no_buffer,
            retries: rewinds.saturating_sub(rnr_waits),
            rnr_waits,
            timeouts,
        };
        // Who holds early requests answers each hole that is left by a NAK of its own, also while the peer already sends again all that follows the first.
        let again = if self.options.reorder { naks } else { 0 };
        // A fault makes one hole at a responder and one among the responses, at worst: a delayed request behind an RNR wait, for example,
        // is NAKed or times out twice.
        hold!(
            report.retries <= 2 * (report.faults + report.no_buffer + not_held) + again,
            "{} retries, more than {} faults, {} full buffers and {not_held} early packets not held explain",
            report.retries,
            report.faults,
            report.no_buffer
        );
        Ok(report)
    }
}

fn watched<N: Network>(network: &mut N) -> Result<[[u32; WATCHED.len()]; 2]> {
    let mut all = [[0; WATCHED.len()]; 2];
    for (side, counts) in all.iter_mut().enumerate() {
        for (count, code) in counts.iter_mut().zip(WATCHED) {
            *count = network.device(side).counter(code)?;
        }
    }
    Ok(all)
}
