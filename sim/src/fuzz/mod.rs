// SPDX-License-Identifier: MIT OR Apache-2.0
//! Any bytes on any port: the engine must go on, write nowhere it shouldn't, and account for each frame.

pub mod accesses;
pub mod frames;

use crate::hca::mac::Pace;
use crate::hca::HcaOptions;
use crate::hold;
use crate::session::{Connection, Session};
use crate::shadow::Shadow;
use crate::traffic::Form;
use accesses::{harmless, wild};
use anyhow::{Context, Result};
use frames::{Frames, Target};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::collections::BTreeMap;
use verbena_spec::counters::{Class, COUNTERS, COUNTER_FILE, REORDER_FULL, RX_FRAGMENT, RX_HOST, RX_HOST_OVERFLOW, RX_NO_BUFFER, RX_ROCE};
use verbena_verbs::{Access, Mr, QpState, Region};

/// How much.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    pub preset: String,
    pub seed: u64,
    pub frames: u64,
    pub latency: u64,
    /// Compare after every frame, to find the one that makes the difference.
    pub one_by_one: bool,
    /// The engine holds early requests, and good frames come out of order too.
    pub reorder: bool,
}

/// What was done.
#[derive(Debug, Default, Serialize)]
pub struct FuzzSummary {
    pub frames: u64,
    pub accesses: u64,
    pub rounds: u64,
    /// Rounds compared with the golden model: those without a drop for want of buffer.
    pub compared: u64,
    pub connections: u64,
    pub cycles: u64,
    pub kinds: BTreeMap<&'static str, u64>,
    pub counters: BTreeMap<&'static str, u64>,
}

/// Frames between two full checks.
const ROUND: u64 = 250;
/// Bytes that the peer may write, and that receives may use.
const REGION: u64 = 12_288;
/// Bytes that READs read.
const SOURCE: u64 = 4096;
/// Receive WQEs kept posted.
const RECEIVES: usize = 8;

struct Fuzzer {
    session: Session,
    rng: ChaCha8Rng,
    frames: Frames,
    connections: Vec<Connection>,
    target: (Region, Mr),
    /// Registered without remote access, filled: nothing may change it.
    guard: (Region, Vec<u8>),
    /// What READs read, and what ATOMICs work on, where the engine has them.
    source: Option<(Region, Mr)>,
    words: Option<(Region, Mr)>,
    summary: FuzzSummary,
    shadow: Shadow,
    one_by_one: bool,
    reorder: bool,
    /// The engine's counters when the round began.
    counters: [u32; COUNTER_FILE],
    delivered: u64,
    host_frames: u64,
}

/// Runs; an error is a check that did not hold, or the engine that could not be run. `each` is called with the frames done.
pub fn run(options: &FuzzOptions, mut each: impl FnMut(u64)) -> Result<FuzzSummary> {
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut machine = HcaOptions::new(&options.preset);
    machine.seed = options.seed;
    machine.memory.latency = options.latency;
    machine.memory.jitter = 20;
    machine.memory.stall = 0.1;
    machine.stall = 0.1;
    let mut session = Session::open(&machine)?;
    session.hca().lite.idle = 0.3;
    let target = session.region(REGION)?;
    let guard = guard(&mut session, &mut rng)?;
    let capabilities = *session.device.capabilities();
    let mut shadow = Shadow::new(&session.hca().config.clone(), &target.0, &target.1, capabilities.read_atomic);
    if capabilities.congestion_notification {
        shadow.notify(&mut session)?;
    }
    let mut other = |session: &mut Session, wanted: bool, access: Access| -> Result<Option<(Region, Mr)>> {
        if !wanted {
            return Ok(None);
        }
        let region = session.device.alloc_region(SOURCE)?;
        let mr = session.device.reg_mr(session.pd, &region, access)?;
        let bytes: Vec<u8> = (0..SOURCE).map(|_| rng.gen()).collect();
        region.write(session.hca(), region.va, &bytes)?;
        shadow.register(&region, &mr, access, &bytes);
        Ok(Some((region, mr)))
    };
    let source = other(&mut session, capabilities.read_atomic, Access::REMOTE_READ)?;
    let words = other(&mut session, capabilities.atomic, Access::LOCAL_WRITE | Access::REMOTE_ATOMIC)?;
    let mut fuzzer = Fuzzer {
        shadow,
        one_by_one: options.one_by_one,
        reorder: options.reorder,
        counters: [0; COUNTER_FILE],
        session,
        rng,
        frames: Frames::new(options.reorder),
        connections: Vec::new(),
        target,
        guard,
        source,
        words,
        summary: FuzzSummary::default(),
        delivered: 0,
        host_frames: 0,
    };
    while fuzzer.summary.frames < options.frames {
        fuzzer.round().with_context(|| format!("round {}", fuzzer.summary.rounds))?;
        each(fuzzer.summary.frames);
    }
    fuzzer.wild_accesses((options.frames / 10).clamp(50, 2000))
}

/// Pages full of a pattern that only the host knows.
fn guard(session: &mut Session, rng: &mut ChaCha8Rng) -> Result<(Region, Vec<u8>)> {
    let region = session.device.alloc_region(8192)?;
    session.device.reg_mr(session.pd, &region, verbena_verbs::Access::NONE)?;
    let pattern: Vec<u8> = (0..8192).map(|_| rng.gen()).collect();
    region.write(session.hca(), region.va, &pattern)?;
    Ok((region, pattern))
}

impl Fuzzer {
    /// Frames and harmless accesses mixed, then all checks.
    fn round(&mut self) -> Result<()> {
        self.reconnect()?;
        self.shadow.begin(&mut self.session)?;
        self.counters = self.session.counters()?;
        let longest = self.session.hca().config.max_frame;
        let mut targets: Vec<Target> = (0..self.connections.len()).map(|i| self.aim(i)).collect();
        let depth = self.depth();
        let pace = [Pace::Wire, Pace::Fast, Pace::Idle(0.2)][self.rng.gen_range(0..3)];
        self.session.hca().rx.pace = pace;
        let mut sent = 0;
        while sent < ROUND {
            for frame in self.frames.next(&mut targets, longest, &mut self.rng) {
                *self.summary.kinds.entry(frame.kind).or_default() += 1;
                self.shadow.receive(&frame.bytes, frame.bad);
                self.session.hca().rx.send_raw(frame.bytes.clone(), frame.bad);
                sent += 1;
                if self.one_by_one {
                    self.session.hca().settle(400, 100_000);
                    self.compare()
                        .with_context(|| format!("frame {sent}, '{}': {:02x?}", frame.kind, frame.bytes))?;
                }
            }
            // R59: no more than the peer may.
            if targets.iter().any(|t| t.outstanding >= depth) {
                hold!(self.session.hca().settle(300, 2_000_000), "the engine never came to rest");
                targets.iter_mut().for_each(|t| t.outstanding = 0);
            }
            self.renew(&mut targets)?;
            if self.rng.gen_bool(0.2) {
                harmless(self.session.hca(), &mut self.rng)?;
                self.summary.accesses += 1;
            }
            if self.rng.gen_bool(0.3) {
                let cycles = self.rng.gen_range(0..400);
                self.session.hca().run(cycles);
            }
            let full = self.session.hca().rx.pending() > 32;
            hold!(
                !full || self.session.hca().run_until(200_000, |h| h.rx.pending() < 8),
                "frames no longer go in"
            );
        }
        self.summary.frames += sent;
        self.summary.rounds += 1;
        self.check()
    }

    fn aim(&self, index: usize) -> Target {
        let flow = self.connections[index].flow.clone();
        let reliable = flow.form.service == 0;
        let mut target = Target::new(flow, self.target.0.va, REGION, self.target.1.key);
        if reliable && !self.reorder {
            target.source = self.source.as_ref().map(|(_, mr)| (*mr, SOURCE));
            target.word = self.words.as_ref().map(|(_, mr)| (*mr, mr.va + 8 * index as u64));
        }
        target
    }

    /// READs and ATOMICs that a peer may have outstanding.
    fn depth(&self) -> usize {
        let capabilities = self.session.device.capabilities();
        capabilities.read_depth.min(capabilities.read_resources / capabilities.qps).max(1)
    }

    /// New QPs in place of the last round's, which mostly ended in ERR: destroyed with packets in flight (R68).
    fn reconnect(&mut self) -> Result<()> {
        for connection in std::mem::take(&mut self.connections) {
            self.session.device.destroy_qp(connection.qp)?;
            self.shadow.destroy(&connection);
        }
        self.shadow.forget_readers();
        let count = (self.session.hca().config.n_qps - 2).min(4);
        // One is left for the proof of life.
        for _ in 0..count.max(2) - 1 {
            let connection = self.connect()?;
            self.connections.push(connection);
        }
        Ok(())
    }

    /// A transport, an IP version and a tag that the preset has; RC over IPv4 most often.
    fn form(&mut self) -> Form {
        let config = self.session.hca().config.clone();
        let service = match self.rng.gen_range(0..6) {
            0 if config.uc => 1,
            1 if config.ud => 3,
            _ => 0,
        };
        Form {
            service,
            ipv6: config.ipv6 && self.rng.gen_bool(0.3),
            vlan: (config.ipv6 && self.rng.gen_bool(0.2)).then_some(0x6042),
        }
    }

    fn connect(&mut self) -> Result<Connection> {
        let form = self.form();
        let (mut remote, mut depth) = (Access::REMOTE_WRITE, 0);
        if self.source.is_some() && form.service == 0 {
            remote = remote | Access::REMOTE_READ;
            depth = self.depth() as u8;
        }
        if self.words.is_some() && form.service == 0 {
            remote = remote | Access::REMOTE_ATOMIC;
        }
        // READs that are held would come to be more than the peer may have outstanding (R59).
        if self.reorder {
            (remote, depth) = (Access::REMOTE_WRITE, 0);
            self.session.reorder = Some([0, 0, 3, 20, 63][self.rng.gen_range(0..5)]);
        }
        let connection = self.session.connect_as(form, 256, RECEIVES, remote)?;
        self.shadow.connect(&connection, remote, depth, self.session.reorder);
        // The proof of life is another's.
        self.session.reorder = None;
        for i in 0..RECEIVES as u64 {
            let sge = self.target.1.sge(512 * i, 700)?;
            self.session.device.post_recv(connection.qp, i, sge)?;
            self.shadow.post_receive(&connection, sge.address, sge.length);
        }
        self.summary.connections += 1;
        Ok(connection)
    }

    /// Now and then, a QP that the model knows in ERR is set up again, or the rest of the round would only be dropped.
    fn renew(&mut self, targets: &mut [Target]) -> Result<()> {
        if !self.rng.gen_bool(0.2) {
            return Ok(());
        }
        let Some(i) = (0..self.connections.len()).find(|i| self.shadow.failed(&self.connections[*i])) else {
            return Ok(());
        };
        hold!(self.session.hca().settle(300, 2_000_000), "the engine never came to rest");
        self.shadow.poll(&mut self.session)?;
        self.session.device.destroy_qp(self.connections[i].qp)?;
        self.shadow.destroy(&self.connections[i]);
        self.connections[i] = self.connect()?;
        targets[i] = self.aim(i);
        Ok(())
    }

    fn check(&mut self) -> Result<()> {
        hold!(self.session.hca().settle(1500, 2_000_000), "the engine never came to rest");
        self.session.hca().violations.check()?;
        self.account()?;
        self.compare()?;
        let (region, pattern) = &self.guard;
        let now = region.read(self.session.hca(), region.va, pattern.len())?;
        hold!(now == *pattern, "memory without remote access was written");
        while self.session.device.poll_event()?.is_some() {}
        for i in 0..self.connections.len() {
            let qp = self.connections[i].qp;
            let state = self.session.device.query_qp(qp)?.state;
            hold!(
                matches!(state, QpState::Rtr | QpState::Err),
                "a QP went from RTR to {state:?} by packets"
            );
        }
        self.session.hca().rx.pace = Pace::Wire;
        self.session.prove_alive()?;
        self.account()
    }

    /// The golden model agrees, if nothing was lost for want of room.
    fn compare(&mut self) -> Result<()> {
        let mut counted = self.session.counters()?;
        counted
            .iter_mut()
            .zip(&self.counters)
            .for_each(|(now, before)| *now = now.wrapping_sub(*before));
        let full = match self.session.hca().config.host_port {
            true => [RX_NO_BUFFER, RX_HOST_OVERFLOW, REORDER_FULL].as_slice(),
            // Nobody takes the host's frames: that they are dropped is right.
            false => &[RX_NO_BUFFER],
        };
        if full.iter().all(|c| counted[usize::from(*c)] == 0) {
            self.shadow.compare(&mut self.session, &self.connections, &counted)?;
            self.summary.compared += 1;
        }
        Ok(())
    }

    /// Every frame in ended in exactly one counter, and what went to the host came out.
    fn account(&mut self) -> Result<()> {
        let mut sums = [0u64; 2];
        let mut host = 0;
        let mut roce = 0;
        for counter in COUNTERS {
            let value = self.session.device.counter(counter.code)? as u64;
            match counter.class {
                Class::Rx => sums[0] += value,
                Class::Responder => sums[1] += value,
                _ => {}
            }
            if [RX_HOST, RX_FRAGMENT].contains(&counter.code) {
                host += value;
            }
            if counter.code == RX_ROCE {
                roce = value;
            }
            if value != 0 {
                self.summary.counters.insert(counter.name, value);
            }
        }
        let delivered = self.session.hca().rx.delivered - self.delivered;
        let host_out = self.session.hca().host_rx.count - self.host_frames;
        self.session.hca().host_rx.frames.clear();
        hold!(
            sums[0] == delivered,
            "{delivered} frames went in, the Rx counters add up to {}: {:?}",
            sums[0],
            self.summary.counters
        );
        // A frame that found no buffer never came to the model's copy of the engine: then what it holds says nothing of what the engine holds, but that it is
        // no more than there are slots.
        let lost = self.summary.counters.contains_key("rx_no_buffer");
        let slots = self.session.hca().config.reorder_slots as u64;
        let held_fits = |sum: u64| {
            if lost {
                sum <= roce && roce - sum <= slots
            } else {
                sum + self.shadow.held() == roce
            }
        };
        hold!(
            sums[1] == roce || (self.reorder && held_fits(sums[1])),
            "{roce} RoCE packets, the Responder counters add up to {}: {:?}",
            sums[1],
            self.summary.counters
        );
        hold!(host == host_out, "{host} frames counted for the host, {host_out} came out");
        Ok(())
    }

    /// Registers and tables full of nonsense; after a reset the engine serves again.
    fn wild_accesses(mut self, count: u64) -> Result<FuzzSummary> {
        self.session.hca().axi.wild_is_violation = false;
        self.session.hca().host_rx.may_withdraw = true;
        let longest = self.session.hca().config.max_frame;
        let mut targets: Vec<Target> = (0..self.connections.len()).map(|i| self.aim(i)).collect();
        for _ in 0..count {
            wild(self.session.hca(), &mut self.rng)?;
            self.summary.accesses += 1;
            if self.rng.gen_bool(0.3) && self.session.hca().rx.pending() < 64 {
                for frame in self.frames.next(&mut targets, longest, &mut self.rng) {
                    self.session.hca().rx.send_raw(frame.bytes, frame.bad);
                }
            }
        }
        hold!(
            self.session.hca().run_until(1_000_000, |h| h.rx.pending() == 0),
            "frames no longer go in after wild accesses"
        );
        self.session.hca().violations.check()?;
        self.reopen().context("after wild accesses and a reset")
    }

    fn reopen(mut self) -> Result<FuzzSummary> {
        let hca = self.session.hca();
        hca.run(5000);
        hca.reset();
        hca.axi.wild_is_violation = true;
        hca.axi.forget();
        let hca = self.session.device.close()?;
        let mut session = Session::with(hca)?;
        session.prove_alive()?;
        self.summary.cycles = session.hca().cycle;
        Ok(self.summary)
    }
}
