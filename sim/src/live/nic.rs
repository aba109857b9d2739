// SPDX-License-Identifier: MIT OR Apache-2.0
//! The live NIC: link, faults, engine and host side, moved together.

use super::engine::LiveEngine;
use super::link::{Link, LinkStatistics};
use super::options::{LiveOptions, Way};
use super::stack::{link_local, HostStack, HostStatistics};
use super::tape::Tape;
use anyhow::{bail, ensure, Context, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use verbena_model::wire::{Faults, Statistics, Wire};
use verbena_spec::headers::UDP_PORT;
use verbena_verbs::{Device, Gid, Mac, OpenAttr, Peer};

/// Frames that are read from the link at once.
const BURST: usize = 64;
/// Frames waiting for the engine above which the link isn't read.
const BACKLOG: usize = 256;
/// Longest sleep while nothing happens.
const IDLE: Duration = Duration::from_millis(1);
/// Between two ARP requests for one address.
const ARP_INTERVAL: Duration = Duration::from_millis(200);

/// What happened, for the end of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    pub link: LinkStatistics,
    pub host: HostStatistics,
    /// Faults injected into RoCE frames towards the engine, and from it.
    pub faults_in: Statistics,
    pub faults_out: Statistics,
    /// The engine's counters that are not 0.
    pub counters: BTreeMap<&'static str, u32>,
}

/// The engine on a live wire. See the module's page for an example.
pub struct LiveNic {
    device: Device<LiveEngine>,
    link: Link,
    stack: HostStack,
    /// Towards the engine, away from it.
    wires: [Wire; 2],
    tape: Option<Tape>,
    mac: Mac,
    ip: Ipv4Addr,
    prefix: u8,
    started: Instant,
    /// Wall time of the last poll.
    last: Instant,
    stop: Arc<AtomicBool>,
}

impl LiveNic {
    /// Opens the engine and its link. Nobody needs to be at the other end yet.
    pub fn open(options: LiveOptions) -> Result<LiveNic> {
        let (mac, ip, prefix) = (options.mac, options.ip, options.prefix);
        ensure!(
            mac[0] & 1 == 0 && mac != [0; 6],
            "the MAC address must be one of a single station (lowest bit of its first byte 0)"
        );
        ensure!((1..=30).contains(&prefix), "a prefix of /{prefix} leaves no hosts: use /1 to /30");
        ensure!(
            !ip.is_unspecified() && !ip.is_broadcast() && !ip.is_multicast(),
            "{ip} is no host's address"
        );
        let mut open = OpenAttr::new(mac, Gid::ipv4(ip.octets()));
        // A slow simulation is still ready within this.
        open.polls = 1_000_000;
        let mut device = Device::open(LiveEngine::new(&options)?, &open).context("opening the engine")?;
        device.platform().set_tick()?;
        if device.capabilities().ipv6 {
            device.set_addresses(mac, &[Gid::ipv4(ip.octets()), Gid(link_local(mac).octets())])?;
        }
        let tape = options.pcap.as_deref().map(Tape::create).transpose()?;
        let now = Instant::now();
        Ok(LiveNic {
            device,
            link: Link::open(options.link)?,
            stack: HostStack::new(mac, ip, prefix, options.seed),
            wires: [(1, Way::In), (2, Way::Out)].map(|(salt, way)| {
                let faulty = options.faulty == Way::Both || options.faulty == way;
                let faults = if faulty { options.faults } else { LiveOptions::no_faults() };
                Wire::new(options.seed << 2 | salt, 0, faults)
            }),
            tape,
            mac,
            ip,
            prefix,
            started: now,
            last: now,
            stop: Arc::new(AtomicBool::new(false)),
        })
    }

    /// The host library's device: PDs, MRs, CQs, QPs, post, poll.
    pub fn device(&mut self) -> &mut Device<LiveEngine> {
        &mut self.device
    }

    pub fn mac(&self) -> Mac {
        self.mac
    }

    pub fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    /// Our GID 0, which peers connect to: ::ffff:a.b.c.d.
    pub fn gid(&self) -> Gid {
        Gid::ipv4(self.ip.octets())
    }

    /// Somebody is at the other end of the link.
    pub fn is_connected(&self) -> bool {
        self.link.is_connected()
    }

    /// Once set (by a signal, for example), [`LiveNic::run_until`] and [`LiveNic::resolve`] end.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Changes the faults from now on, both ways.
    pub fn set_faults(&mut self, faults: Faults) {
        self.wires.iter_mut().for_each(|w| w.set_faults(faults));
    }

    /// The wires that faults happen on: towards the engine, away from it. For faults at a frame of your choice ([`Wire::plan`]).
    pub fn wires(&mut self) -> &mut [Wire; 2] {
        &mut self.wires
    }

    /// Moves everything a little, without waiting; false if nothing happened and nothing is about to.
    pub fn poll(&mut self) -> Result<bool> {
        self.link.service()?;
        let now = self.started.elapsed().as_nanos() as u64;
        let before = std::mem::replace(&mut self.last, Instant::now());
        self.device.platform().advance(self.last.duration_since(before));
        let mut moved = false;
        // In: link, faults, engine.
        for _ in 0..BURST {
            if self.device.platform().backlog() > BACKLOG {
                break;
            }
            let Some(frame) = self.link.receive()? else { break };
            moved = true;
            if is_roce(&frame) {
                self.wires[0].send(now, frame);
            } else {
                self.give(&frame)?;
            }
        }
        while let Some(frame) = self.wires[0].receive(now) {
            self.give(&frame)?;
        }
        // The engine and its host.
        let (room, timers) = (!self.link.is_congested(), self.device.sends_outstanding() > 0);
        moved |= self.device.platform().run(room, timers)?;
        while let Some(frame) = self.device.platform().host_received() {
            self.stack.receive(frame);
            moved = true;
        }
        self.stack.poll((now / 1000) as i64);
        while let Some(frame) = self.stack.transmit() {
            self.device.platform().host_send(&frame);
            moved = true;
        }
        // Out: engine, faults, link.
        while let Some(frame) = self.device.platform().transmitted() {
            moved = true;
            self.record(&frame)?;
            if is_roce(&frame) {
                self.wires[1].send(now, frame);
            } else {
                self.link.send(&frame);
            }
        }
        while let Some(frame) = self.wires[1].receive(now) {
            self.link.send(&frame);
        }
        self.link.service()?;
        Ok(moved)
    }

    fn give(&mut self, frame: &[u8]) -> Result<()> {
        self.record(frame)?;
        self.device.platform().receive(frame);
        Ok(())
    }

    fn record(&mut self, frame: &[u8]) -> Result<()> {
        self.tape.as_mut().map_or(Ok(()), |tape| tape.add(frame))
    }

    /// Sleeps until the link has something, a timer of the engine or a held frame is due, or `limit` is over.
    pub fn wait(&mut self, limit: Duration) {
        let mut limit = limit;
        if let Some(due) = self.device.platform().next_deadline() {
            limit = limit.min(due);
        }
        let now = self.started.elapsed().as_nanos() as u64;
        for arrival in self.wires.iter().filter_map(Wire::next_arrival) {
            limit = limit.min(Duration::from_nanos(arrival.saturating_sub(now)));
        }
        if !limit.is_zero() {
            self.link.wait(limit);
        }
    }

    /// Moves everything until `done` says so; false if `limit` came first, or a stop. `done` is asked after every step, at least every
    /// millisecond or so.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&mut LiveNic) -> Result<bool>) -> Result<bool> {
        let end = Instant::now() + limit;
        loop {
            let moved = self.poll()?;
            if done(self)? {
                return Ok(true);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_stopped() {
                return Ok(false);
            }
            if !moved {
                self.wait(left.min(IDLE));
            }
        }
    }

    /// Moves everything for that long, or until a stop.
    pub fn run_for(&mut self, time: Duration) -> Result<()> {
        self.run_until(time, |_| Ok(false)).map(|_| ())
    }

    /// The MAC of a neighbour: known already, or asked for by ARP. IPv6 neighbours are known once they have asked for us.
    pub fn resolve(&mut self, address: IpAddr, limit: Duration) -> Result<Mac> {
        let IpAddr::V4(v4) = address else {
            let found = self.run_until(limit, |nic| Ok(nic.stack.lookup(address).is_some()))?;
            ensure!(found, "nobody with address {address} has been heard of");
            return self.stack.lookup(address).context("a neighbour that was known is gone");
        };
        ensure!(v4 != self.ip, "{v4} is our own address: the engine doesn't send to itself");
        let mask = u32::MAX << (32 - self.prefix);
        ensure!(
            u32::from(v4) & mask == u32::from(self.ip) & mask,
            "{v4} is outside of our network {}/{}: a peer must be on the same link",
            self.ip,
            self.prefix
        );
        let end = Instant::now() + limit;
        loop {
            if let Some(mac) = self.stack.lookup(address) {
                return Ok(mac);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let who = if self.is_connected() {
                    "nobody answers ARP"
                } else {
                    "nobody is at the other end of the link"
                };
                bail!("{who} for {address} after {} ms", limit.as_millis());
            }
            ensure!(!self.is_stopped(), "stopped while looking for {address}");
            self.stack.ask(v4);
            self.run_until(left.min(ARP_INTERVAL), |nic| Ok(nic.stack.lookup(address).is_some()))?;
        }
    }

    /// The same as what a QP's attributes want.
    pub fn resolve_peer(&mut self, address: IpAddr, limit: Duration) -> Result<Peer> {
        let mac = self.resolve(address, limit)?;
        let gid_index = u8::from(address.is_ipv6());
        Ok(Peer {
            gid_index,
            ..Peer::new(Gid::from(address), mac)
        })
    }

    /// Forgets a neighbour's MAC: the next [`LiveNic::resolve`] asks.
    pub fn forget(&mut self, address: IpAddr) {
        self.stack.forget(address);
    }

    /// Counters of everything so far.
    pub fn summary(&mut self) -> Result<Summary> {
        let counters = self.device.counters()?;
        Ok(Summary {
            link: self.link.statistics(),
            host: self.stack.statistics,
            faults_in: self.wires[0].statistics(),
            faults_out: self.wires[1].statistics(),
            counters: counters.into_iter().filter(|(_, value)| *value > 0).collect(),
        })
    }
}

/// IPv4 or IPv6, UDP to the RoCEv2 port, with or without a VLAN tag.
fn is_roce(frame: &[u8]) -> bool {
    let word = |at: usize| frame.get(at..at + 2).map(|w| u16::from_be_bytes([w[0], w[1]]));
    let ip = if word(12) == Some(0x8100) { 18 } else { 14 };
    let udp = match (word(ip - 2), frame.get(ip)) {
        (Some(0x0800), Some(first)) if frame.get(ip + 9) == Some(&17) => ip + usize::from(first & 15) * 4,
        (Some(0x86dd), Some(_)) if frame.get(ip + 6) == Some(&17) => ip + 40,
        _ => return false,
    };
    word(udp + 2) == Some(UDP_PORT)
}
