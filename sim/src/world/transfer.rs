// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes from one side to the other over RC connections, as fast as the queues take messages: what the demonstration and the two-engine
//! measurements are made of.

use super::network::Network;
use crate::hold;
use anyhow::{ensure, Context, Result};
use serde::Serialize;
use std::collections::VecDeque;
use verbena_verbs::{
    Access, Bus, Capabilities, Completion, CompletionOpcode, CompletionStatus, Cq, Data, Device, DmaMemory, Gid, Mr, PathMtu, Pd, Peer, Qp,
    QpAttr, QpInit, QpState, Region, Remote, Verb, WorkRequest, PAGE_BYTES,
};

/// How the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    Write,
    Send,
    /// The far side fetches them.
    Read,
}

impl Route {
    /// Who posts the sends that move bytes away from side `from`.
    fn requester(self, from: usize) -> usize {
        if self == Route::Read {
            1 - from
        } else {
            from
        }
    }
}

/// What a gap in the PSNs is taken for, what is sent again, and whether packets may be marked: QP attributes of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Order {
    pub selective_repeat: bool,
    /// PSNs outstanding at most with it; the host library's choice unless given.
    pub selective_window: Option<u8>,
    /// Early packets are held.
    pub reorder: bool,
    /// PSNs.
    pub nak_distance: u8,
    /// us; 0: age doesn't count.
    pub nak_delay: u16,
    /// Of the packets' IP headers; 2 says that both ends understand ECN (RFC 3168), so that they may be marked.
    #[serde(skip)]
    pub traffic_class: u8,
}

/// Options of a flow.
#[derive(Debug, Clone, Copy)]
pub struct TransferOptions {
    pub route: Route,
    /// Bytes.
    pub pmtu: usize,
    /// Bytes of a message.
    pub message: usize,
    /// Messages under way.
    pub depth: usize,
    /// Local ACK timeout's code (R47).
    pub timeout: u8,
    pub order: Order,
    /// QPs of each side that share its resources for READs.
    pub qps: usize,
}

/// Retry counter; 7 of RNR is for ever (R44, R48).
const RETRIES: u8 = 7;
/// Longest that ACK timers may be: four times their nominal time (R47).
const TIMER_SLACK: u64 = 4;
/// Code of the wait that an RNR NAK asks for: 10 us (R43).
const RNR_TIMER: u8 = 1;
const PSNS: [u32; 2] = [0xff_fff0, 0x12_3456];

/// One side's half of a flow.
struct Half {
    qp: Qp,
    cq: Cq,
    region: Region,
    mr: Mr,
}

/// One connection's worth of bytes, one way.
pub struct Flow {
    /// Where the bytes come from.
    from: usize,
    /// The bytes stand in the WQEs.
    inline: bool,
    options: TransferOptions,
    halves: [Half; 2],
    data: Vec<u8>,
    /// Messages posted, completed, received; receives posted.
    next: usize,
    done: usize,
    received: usize,
    ready: usize,
    /// When each message under way was posted, ns.
    posted: VecDeque<u64>,
    latencies: Vec<u64>,
    /// When the first and the last message completed, ns.
    span: Option<(u64, u64)>,
}

/// What a transfer came to.
#[derive(Debug, Clone, Default)]
pub struct Moved {
    pub messages: usize,
    pub bytes: usize,
    /// From the first doorbell to the last completion, ns.
    pub time: u64,
    /// Payload behind each flow's first completion, to its last one, without the latency at the start. Right for one way only: both ways
    /// the first completions wait behind the other way's payload, the last ones don't.
    pub steady_gbps: f64,
    /// From a message's doorbell to its polled completion, ns, shortest first.
    pub latencies: Vec<u64>,
    /// The far memory is what was sent.
    pub matches: bool,
}

impl Moved {
    /// The latency that a share of the messages stayed under.
    pub fn latency(&self, share: f64) -> u64 {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get((share * last as f64).round() as usize).copied().unwrap_or(0)
    }
}

/// Memory of `bytes`: scattered pages where the translation table has room for them, and those of others, else adjacent ones.
fn memory<P: Bus + DmaMemory>(device: &mut Device<P>, pd: Pd, bytes: usize, access: Access) -> Result<(Region, Mr)> {
    let scattered = bytes.div_ceil(PAGE_BYTES as usize) <= device.capabilities().mtt_entries / 64;
    let region = if scattered {
        device.alloc_region(bytes as u64)?
    } else {
        device.alloc_contiguous(bytes as u64)?
    };
    let mr = device.reg_mr(pd, &region, access)?;
    Ok((region, mr))
}

impl Flow {
    /// Connects two QPs and puts the bytes into the memory of side `from`.
    pub fn new<N: Network>(network: &mut N, from: usize, options: TransferOptions, data: Vec<u8>) -> Result<Flow> {
        let requester = options.route.requester(from);
        ensure!(
            network.device(requester).capabilities().requester,
            "engine {requester} has no requester (CAPABILITIES bit 18): it can't send"
        );
        let order = options.order;
        for side in 0..2 {
            let can = network.device(side).capabilities();
            ensure!(
                (can.reorder || (order.reorder, order.nak_distance, order.nak_delay) == (false, 0, 0)) && (can.selective_repeat || !order.selective_repeat),
                "engine {side} has no reorder station or no selective repeat (CAPABILITIES bit 20, READ_LIMITS bit 6), which {order:?} needs"
            );
        }
        let path_mtu = PathMtu::from_bytes(options.pmtu).with_context(|| format!("{} is no path MTU", options.pmtu))?;
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ;
        let mut halves = vec![];
        for side in 0..2 {
            let device = network.device(side);
            let pd = device.alloc_pd()?;
            let cq = device.create_cq(2 * options.depth)?;
            let init = QpInit {
                send_entries: options.depth,
                ..QpInit::new(pd, verbena_verbs::Transport::Rc, cq, options.depth)
            };
            let qp = device.create_qp(&init)?;
            let (region, mr) = memory(device, pd, data.len(), Access::LOCAL_WRITE | remote)?;
            device.modify_qp(qp, &QpAttr::to_init(remote))?;
            halves.push(Half { qp, cq, region, mr });
        }
        let halves: [Half; 2] = halves.try_into().ok().context("two halves")?;
        // Without READ nothing is set.
        let depth = |capabilities: &Capabilities| {
            let shared = capabilities.read_resources / options.qps.max(1);
            capabilities
                .read_atomic
                .then_some(capabilities.read_depth.min(16).min(shared.max(1)) as u8)
        };
        let depths = [0, 1].map(|side| depth(network.device(side).capabilities()));
        for side in 0..2 {
            let (mac, ip) = network.address(1 - side);
            let can = *network.device(side).capabilities();
            let peer = Peer {
                traffic_class: order.traffic_class,
                ..Peer::new(Gid::ipv4(ip), mac)
            };
            let rtr = QpAttr {
                min_rnr_timer: Some(RNR_TIMER),
                max_dest_rd_atomic: depths[side],
                reorder: can.reorder.then_some(order.reorder),
                nak_distance: can.reorder.then_some(order.nak_distance),
                nak_delay: can.reorder.then_some(order.nak_delay),
                ..QpAttr::to_rtr(peer, halves[1 - side].qp.qpn, PSNS[1 - side], path_mtu)
            };
            let rts = QpAttr {
                timeout: Some(options.timeout),
                retry_count: Some(RETRIES),
                max_rd_atomic: depths[1 - side],
                selective_repeat: can.selective_repeat.then_some(order.selective_repeat),
                selective_window: order.selective_window.filter(|_| can.selective_repeat && order.selective_repeat),
                ..QpAttr::to_rts(PSNS[side])
            };
            let device = network.device(side);
            // Without a requester there is nothing to set.
            let rts = if device.capabilities().requester {
                rts
            } else {
                QpAttr::to(QpState::Rts)
            };
            device.modify_qp(halves[side].qp, &rtr)?;
            device.modify_qp(halves[side].qp, &rts)?;
        }
        let source = &halves[from];
        source.region.write(network.device(from).platform(), source.mr.va, &data)?;
        Ok(Flow {
            from,
            inline: false,
            options,
            halves,
            data,
            next: 0,
            done: 0,
            received: 0,
            ready: 0,
            posted: VecDeque::new(),
            latencies: vec![],
            span: None,
        })
    }

    /// The bytes go in the work requests, not by address: messages of 32 bytes at most.
    pub fn inline(mut self) -> Flow {
        self.inline = true;
        self
    }

    fn messages(&self) -> usize {
        self.data.len().div_ceil(self.options.message)
    }

    /// Offset and length of a message.
    fn part(&self, number: usize) -> (u64, u32) {
        let at = number * self.options.message;
        (at as u64, self.options.message.min(self.data.len() - at) as u32)
    }

    fn requester(&self) -> usize {
        self.options.route.requester(self.from)
    }

    fn receives(&self) -> usize {
        if self.options.route == Route::Send {
            self.messages()
        } else {
            0
        }
    }

    /// A message is under way.
    pub fn is_busy(&self) -> bool {
        self.done < self.next
    }

    fn is_done(&self) -> bool {
        self.done == self.messages() && self.received == self.receives()
    }

    /// Fills both queues.
    pub fn post<N: Network>(&mut self, network: &mut N) -> Result<()> {
        let target = &self.halves[1 - self.from];
        let last = self.receives().min(self.received + self.options.depth);
        let mut list = vec![];
        for number in self.ready..last {
            let (at, length) = self.part(number);
            list.push((number as u64, target.mr.sge(at, length)?));
        }
        if !list.is_empty() {
            network.device(1 - self.from).post_recv_list(target.qp, &list)?;
            self.ready = last;
        }
        let requester = self.requester();
        let (own, other) = (&self.halves[requester], &self.halves[1 - requester]);
        let last = self.messages().min(self.done + self.options.depth);
        let mut elements = vec![];
        for number in self.next..last {
            let (at, length) = self.part(number);
            elements.push([own.mr.sge(at, length)?]);
        }
        let request = |(n, sges)| {
            let number = self.next + n;
            let remote = Remote {
                address: other.mr.va + self.part(number).0,
                rkey: other.mr.key,
            };
            let verb = match self.options.route {
                Route::Write => Verb::Write(remote),
                Route::Send => Verb::Send,
                Route::Read => Verb::Read(remote),
            };
            let request = WorkRequest::new(number as u64, verb, sges);
            if self.inline {
                let (at, length) = self.part(number);
                return WorkRequest {
                    data: Data::Inline(&self.data[at as usize..][..length as usize]),
                    ..request
                };
            }
            request
        };
        let requests: Vec<WorkRequest> = elements.iter().map(|e: &[_; 1]| &e[..]).enumerate().map(request).collect();
        if !requests.is_empty() {
            let device = network.device(requester);
            device.post_send_list(own.qp, &requests)?;
            let now = network.now();
            let count = requests.len();
            self.posted.extend((0..count).map(|_| now));
            self.next = last;
        }
        Ok(())
    }

    /// Takes what completed; true if anything did.
    pub fn poll<N: Network>(&mut self, network: &mut N) -> Result<bool> {
        let mut moved = false;
        for side in 0..2 {
            let found = network.device(side).poll_cq(self.halves[side].cq, 1 << 16)?;
            moved |= !found.is_empty();
            let now = network.now();
            for completion in found {
                self.completed(&completion, now)?;
            }
        }
        Ok(moved)
    }

    fn completed(&mut self, got: &Completion, now: u64) -> Result<()> {
        let receive = got.opcode == CompletionOpcode::Recv;
        let number = if receive { self.received } else { self.done };
        let what = if receive { "receive" } else { "message" };
        hold!(
            (got.status, got.wr_id) == (CompletionStatus::Success, number as u64),
            "{what} {number}: {got:?}"
        );
        if receive {
            hold!(
                got.byte_length == self.part(number).1,
                "receive {number} has {} bytes",
                got.byte_length
            );
            self.received += 1;
        } else {
            let posted = self.posted.pop_front().context("a completion for nothing that was posted")?;
            self.latencies.push(now.saturating_sub(posted));
            self.done += 1;
            self.span = Some((self.span.map_or(now, |(first, _)| first), now));
        }
        Ok(())
    }

    /// A message's bytes are in the far memory.
    pub fn has_landed<N: Network>(&self, network: &mut N, number: usize) -> Result<bool> {
        let (at, length) = self.part(number);
        let target = &self.halves[1 - self.from];
        let device = network.device(1 - self.from);
        let found = target.region.read(device.platform(), target.mr.va + at, length as usize)?;
        Ok(found == self.data[at as usize..][..length as usize])
    }

    /// Payload rate behind the first completion.
    fn steady_gbps(&self) -> f64 {
        let behind = self.data.len().saturating_sub(self.options.message);
        match self.span {
            Some((first, last)) if last > first => behind as f64 * 8.0 / (last - first) as f64,
            _ => 0.0,
        }
    }

    fn matches<N: Network>(&self, network: &mut N) -> Result<bool> {
        let target = &self.halves[1 - self.from];
        let device = network.device(1 - self.from);
        Ok(target.region.read(device.platform(), target.mr.va, self.data.len())? == self.data)
    }
}

/// Runs flows side by side until all are done. `step` is how often the hosts look, ns; `seen` is told how many messages are done.
pub fn transfer<N: Network>(network: &mut N, flows: &mut [Flow], step: u64, mut seen: impl FnMut(usize)) -> Result<Moved> {
    let longest = flows.iter().map(|f| f.options.timeout).max().unwrap_or(0);
    let patience = TIMER_SLACK * u64::from(RETRIES + 1) * (4096 << longest) + 10_000_000;
    let begin = network.now();
    let mut last = begin;
    loop {
        for flow in flows.iter_mut() {
            flow.post(network)?;
        }
        if flows.iter().all(Flow::is_done) {
            break;
        }
        network.run(step)?;
        for flow in flows.iter_mut() {
            if flow.poll(network)? {
                last = network.now();
            }
        }
        let done = flows.iter().map(|f| f.done).sum();
        seen(done);
        let now = network.now();
        hold!(now - last < patience, "nothing completed for {patience} ns, {done} messages done");
    }
    let mut moved = Moved {
        time: last - begin,
        matches: true,
        ..Moved::default()
    };
    for flow in flows {
        moved.messages += flow.done;
        moved.bytes += flow.data.len();
        moved.steady_gbps += flow.steady_gbps();
        moved.latencies.append(&mut flow.latencies);
        moved.matches &= flow.matches(network)?;
    }
    moved.latencies.sort_unstable();
    Ok(moved)
}
