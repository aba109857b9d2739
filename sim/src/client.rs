// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine as the replay's [`Client`]: a capture's work list is posted to it through the host library.
//!
//! The capture's clock and the engine's are two. While frames move, TICK says that a cycle is 2 ns, so an exchange takes next to no time of the
//! timers; while the client only waits for a timer, TICK says that a cycle is 512 ns, so a timeout of 67 ms takes 131,000 cycles. With nothing
//! outstanding no timer runs, and no cycle is spent on time at all.

use crate::hca::Hca;
use crate::responder::{open, peer, to_model, transport, unpad, vlan};
use anyhow::{bail, Context, Result};
use std::collections::BTreeMap;
use verbena_model::golden::qp::Attributes;
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::{Completion as ModelCompletion, Features};
use verbena_model::replay::client::Client;
use verbena_model::replay::Setup;
use verbena_spec::layout::{send_opcode, sq_wqe};
use verbena_spec::registers;
use verbena_verbs::{
    Access, Bus, Cq, Data, Destination, Device, Gid, PathMtu, Pd, Peer, Qp, QpAttr, QpInit, QpState, Region, Remote, Sge, Transport, Verb,
    WorkRequest,
};

/// Cycles without movement after which nothing more comes of a frame or a doorbell: longer than anything waits inside the engine.
const QUIET: u64 = 400;
/// Cycles that one may take at most.
const LIMIT: u64 = 2_000_000;
/// Sends and completions that may wait.
const ENTRIES: usize = 256;
/// Clocks per 4.096 us while frames move: the most that the timers take, and what fits a small engine's TICK.
const SLOW: u32 = 2047;
const SLOW_SMALL: u32 = 511;
/// And while only timers run: the fewest.
const FAST: u32 = 8;
/// Cycles that the timers run at most before completions are polled.
const LOOK: u64 = 4096;
/// What TICK counts, ns.
const TICK_NS: u64 = 4096;

/// The engine, not yet set up.
pub struct EngineClient {
    fresh: Option<Hca>,
    running: Option<Running>,
}

struct Running {
    device: Device<Hca>,
    cqs: BTreeMap<u16, Cq>,
    /// By QPN, and whether it is UD.
    qps: BTreeMap<u32, (Qp, bool)>,
    regions: BTreeMap<u32, Region>,
    completions: Vec<ModelCompletion>,
    /// Timers' time, ns, up to the engine's cycle `counted`.
    time: u64,
    counted: u64,
    /// TICK now, clocks.
    tick: u32,
    slow: u32,
    /// Something was posted or delivered since the engine last came to rest.
    stirred: bool,
}

impl EngineClient {
    /// Takes an engine fresh out of reset.
    pub fn new(hca: Hca) -> EngineClient {
        EngineClient {
            fresh: Some(hca),
            running: None,
        }
    }

    /// The machine, to look at its violations and statistics.
    pub fn hca(&mut self) -> Option<&mut Hca> {
        match &mut self.running {
            Some(running) => Some(running.device.platform()),
            None => self.fresh.as_mut(),
        }
    }

    fn running(&mut self) -> Result<&mut Running> {
        self.running.as_mut().context("the engine isn't configured")
    }
}

impl Running {
    fn connect(&mut self, pd: Pd, a: &Attributes) -> Result<()> {
        let transport = transport(a.service)?;
        let cq = match self.cqs.get(&a.send_cq) {
            Some(cq) => *cq,
            None => {
                let cq = self.device.create_cq(ENTRIES.min(self.device.capabilities().ring_entries))?;
                self.cqs.insert(a.send_cq, cq);
                cq
            }
        };
        let init = QpInit {
            gsi: a.qpn == 1,
            qpn: Some(a.qpn),
            send_entries: ENTRIES.min(self.device.capabilities().ring_entries),
            ..QpInit::new(pd, transport, cq, 1)
        };
        let qp = self.device.create_qp(&init).with_context(|| format!("QP {:#x}", a.qpn))?;
        let pkey = Some(a.pkey);
        let rts = QpAttr::to_rts(a.sq_psn);
        let (init, rtr, rts) = if transport == Transport::Ud {
            (QpAttr::to_init_ud(a.qkey), QpAttr::to(QpState::Rtr), rts)
        } else {
            let pmtu = PathMtu::from_bytes(a.pmtu).with_context(|| format!("{} is no path MTU", a.pmtu))?;
            let rtr = QpAttr::to_rtr(peer(a), a.peer_qpn, a.rq_psn, pmtu);
            let rc = |value: u8| (transport == Transport::Rc).then_some(value);
            let rts = QpAttr {
                timeout: rc(a.timeout),
                retry_count: rc(a.retry_count),
                rnr_retry: rc(a.rnr_retry),
                max_rd_atomic: rc(a.max_rd_atomic),
                ..rts
            };
            (QpAttr::to_init(Access::NONE), rtr, rts)
        };
        for attr in [QpAttr { pkey, ..init }, rtr, rts] {
            self.device.modify_qp(qp, &attr).with_context(|| format!("QP {:#x}", a.qpn))?;
        }
        self.qps.insert(a.qpn, (qp, transport == Transport::Ud));
        Ok(())
    }

    /// Takes what the engine has completed, in order for each CQ.
    fn poll(&mut self) -> Result<()> {
        while self.device.poll_event()?.is_some() {}
        for (number, cq) in &self.cqs {
            let found = self.device.poll_cq(*cq, usize::MAX)?;
            self.completions.extend(found.iter().map(|c| to_model(*number, c)));
        }
        Ok(())
    }

    /// Counts the cycles since the last call as time of the timers.
    fn count(&mut self) {
        let cycle = self.device.platform().cycle;
        self.time += (cycle - self.counted) * TICK_NS / u64::from(self.tick);
        self.counted = cycle;
    }

    fn set_tick(&mut self, tick: u32) -> Result<()> {
        if tick != self.tick {
            self.device.platform().write(registers::TICK, tick << 8)?;
            self.count();
            self.tick = tick;
        }
        Ok(())
    }

    /// Runs until nothing moves; the time that it takes is next to none.
    fn settle(&mut self) -> Result<()> {
        self.set_tick(self.slow)?;
        let hca = self.device.platform();
        crate::hold!(hca.settle(QUIET, LIMIT), "the engine never came to rest (cycle {})", hca.cycle);
        hca.violations.check()?;
        self.stirred = false;
        self.count();
        self.poll()
    }

    /// Lets the timers' time go on to `now`; each time that one makes the engine move, it comes to rest first.
    fn pass(&mut self, now: u64) -> Result<()> {
        while self.time < now && self.device.sends_outstanding() > 0 {
            self.set_tick(FAST)?;
            let left = (now - self.time) * u64::from(FAST) / TICK_NS + 1;
            let hca = self.device.platform();
            let moved = hca.run_until(left.min(LOOK), |hca| hca.axi.busy() || hca.pins.mac_tx.valid);
            self.count();
            if moved {
                self.settle()?;
            }
        }
        // No timer runs.
        self.time = self.time.max(now);
        Ok(())
    }
}

/// A WQE as a work request; `elements` holds its scatter/gather list.
fn request<'a>(wqe: &SendWqe, ud: bool, elements: &'a mut Vec<Sge>) -> Result<WorkRequest<'a>> {
    let remote = Remote {
        address: wqe.remote_address(),
        rkey: wqe.get(&sq_wqe::RKEY),
    };
    let immediate = wqe.get(&sq_wqe::IMMEDIATE);
    let (first, compare) = wqe.atomic_operands();
    let verb = match wqe.opcode() {
        send_opcode::SEND => Verb::Send,
        send_opcode::SEND_WITH_IMM => Verb::SendWithImm(immediate),
        send_opcode::SEND_WITH_INVALIDATE => Verb::SendWithInvalidate { rkey: immediate },
        send_opcode::WRITE => Verb::Write(remote),
        send_opcode::WRITE_WITH_IMM => Verb::WriteWithImm(remote, immediate),
        send_opcode::READ => Verb::Read(remote),
        send_opcode::COMPARE_SWAP => Verb::CompareSwap {
            remote,
            compare,
            swap: first,
        },
        send_opcode::FETCH_ADD => Verb::FetchAdd { remote, add: first },
        other => bail!("send opcode {other} is none"),
    };
    elements.extend(wqe.elements().iter().map(|e| Sge {
        address: e.address,
        length: e.length,
        lkey: e.lkey,
    }));
    let destination = ud.then(|| {
        let to = wqe.to_datagram();
        Destination {
            peer: Peer {
                gid_index: to.gid_index as u8,
                vlan: to.vlan.map(vlan),
                traffic_class: to.traffic_class,
                hop_limit: to.hop_limit,
                udp_source: Some(to.udp_source),
                ..Peer::new(Gid::from(to.ip), to.mac)
            },
            qpn: to.qpn,
            qkey: to.qkey,
        }
    });
    Ok(WorkRequest {
        wr_id: 0,
        verb,
        data: Data::Elements(elements),
        signaled: wqe.get(&sq_wqe::SIGNALED) == 1,
        solicited: wqe.get(&sq_wqe::SOLICITED) == 1,
        fence: wqe.get(&sq_wqe::FENCE) == 1,
        destination,
    })
}

impl Client for EngineClient {
    fn features(&mut self) -> Features {
        let word = self.hca().and_then(|hca| hca.read(registers::CAPABILITIES).ok()).unwrap_or(0);
        Features {
            requester: word >> 18 & 1 == 1,
            read_atomic: word >> 19 & 1 == 1,
        }
    }

    fn configure(&mut self, setup: &Setup) -> Result<()> {
        let hca = self.fresh.take().context("the engine is configured already")?;
        let (device, pd, regions) = open(hca, setup)?;
        let mut running = Running {
            device,
            cqs: BTreeMap::new(),
            qps: BTreeMap::new(),
            regions,
            completions: vec![],
            time: 0,
            counted: 0,
            tick: 0,
            slow: 0,
            stirred: false,
        };
        for attributes in &setup.qps {
            running.connect(pd, attributes)?;
        }
        running.device.platform().tx.frames.clear();
        let hca = running.device.platform();
        let slow = if hca.config.small() { SLOW_SMALL } else { SLOW };
        hca.write(registers::TICK, slow << 8)?;
        running.counted = hca.cycle;
        (running.tick, running.slow) = (slow, slow);
        self.running = Some(running);
        Ok(())
    }

    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        let running = self.running()?;
        let region = running.regions.get(&key).with_context(|| format!("no region with key {key:#x}"))?;
        Ok(region.write(running.device.platform(), virtual_address, bytes)?)
    }

    fn post_send(&mut self, qpn: u32, wqe: &SendWqe) -> Result<()> {
        let running = self.running()?;
        let (qp, ud) = *running.qps.get(&qpn).with_context(|| format!("no QP {qpn:#x}"))?;
        running.set_tick(running.slow)?;
        let mut elements = vec![];
        let request = request(wqe, ud, &mut elements)?;
        running.device.post_send(qp, &request)?;
        running.stirred = true;
        Ok(())
    }

    fn advance(&mut self, now: u64) -> Result<Vec<Vec<u8>>> {
        let running = self.running()?;
        if running.stirred {
            running.settle()?;
        }
        running.pass(now)?;
        let hca = running.device.platform();
        hca.host_rx.frames.clear();
        let padded = hca.tx.frames.drain(..).map(|f| f.bytes);
        padded.map(|bytes| unpad(&bytes)).collect()
    }

    fn deliver(&mut self, frame: &[u8]) -> Result<()> {
        let running = self.running()?;
        running.set_tick(running.slow)?;
        running.device.platform().rx.send(frame);
        running.stirred = true;
        Ok(())
    }

    fn completions(&mut self) -> Result<Vec<ModelCompletion>> {
        let running = self.running()?;
        running.settle()?;
        Ok(std::mem::take(&mut running.completions))
    }

    fn read(&mut self, key: u32, virtual_address: u64, length: usize) -> Result<Vec<u8>> {
        let running = self.running()?;
        let region = running.regions.get(&key).with_context(|| format!("no region with key {key:#x}"))?;
        Ok(region.read(running.device.platform(), virtual_address, length)?)
    }

    fn counters(&mut self) -> Result<Vec<u32>> {
        let running = self.running()?;
        let mut counters = vec![0; verbena_spec::counters::COUNTER_FILE];
        for counter in verbena_spec::counters::COUNTERS {
            counters[usize::from(counter.code)] = running.device.counter(counter.code)?;
        }
        Ok(counters)
    }
}
