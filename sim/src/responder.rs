// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated engine as the replay's [`Responder`]: a capture is played against it through the host library.

use crate::hca::Hca;
use anyhow::{anyhow, ensure, Context, Result};
use std::collections::BTreeMap;
use verbena_model::golden::keys::Access as ModelAccess;
use verbena_model::golden::qp::Attributes;
use verbena_model::golden::{Completion as ModelCompletion, Features};
use verbena_model::replay::{Responder, Setup};
use verbena_spec::registers;
use verbena_verbs::{
    Access, Bus, Completion, Cq, Device, Gid, MrAttr, OpenAttr, Pages, PathMtu, Pd, Peer, Qp, QpAttr, QpInit, QpState, Region, Sge,
    Transport, Vlan, PAGE_BYTES,
};

/// Cycles without movement after which nothing more comes of a frame.
const QUIET: u64 = 400;
/// Cycles that a frame may take at most.
const LIMIT: u64 = 200_000;
/// Receives and completions that may wait.
const ENTRIES: usize = 256;

/// The engine, not yet set up.
pub struct EngineResponder {
    fresh: Option<Hca>,
    running: Option<Running>,
}

struct Running {
    device: Device<Hca>,
    cqs: BTreeMap<u16, Cq>,
    qps: BTreeMap<u32, (Qp, u16)>,
    regions: BTreeMap<u32, Region>,
    completions: Vec<ModelCompletion>,
}

impl EngineResponder {
    /// Takes an engine fresh out of reset.
    pub fn new(hca: Hca) -> EngineResponder {
        EngineResponder {
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

fn access(access: ModelAccess, may_invalidate: bool) -> Access {
    let flags = [
        (access.local_write, Access::LOCAL_WRITE),
        (access.remote_write, Access::REMOTE_WRITE),
        (access.remote_read, Access::REMOTE_READ),
        (access.remote_atomic, Access::REMOTE_ATOMIC),
        (may_invalidate, Access::MAY_INVALIDATE),
    ];
    flags.iter().filter(|f| f.0).fold(Access::NONE, |all, f| all | f.1)
}

/// Opens the engine with the setup's addresses, one protection domain and its regions, by key.
pub(crate) fn open(hca: Hca, setup: &Setup) -> Result<(Device<Hca>, Pd, BTreeMap<u32, Region>)> {
    let gids = setup.local.gids.iter().flatten().map(|ip| Gid::from(*ip)).collect();
    let attr = OpenAttr {
        gids,
        icrc_off: setup.local.icrc_off,
        ..OpenAttr::new(setup.local.mac, Gid::ipv4([0; 4]))
    };
    let mut device = Device::open(hca, &attr)?;
    let pd = device.alloc_pd()?;
    let mut regions = BTreeMap::new();
    for r in &setup.regions {
        let offset = r.virtual_address % PAGE_BYTES;
        let pages = device.alloc_region(offset + r.length)?.pages;
        let contiguous = pages.windows(2).all(|p| p[1] == p[0] + PAGE_BYTES);
        let place = if contiguous {
            Pages::Contiguous(pages[0] + offset)
        } else {
            Pages::Scattered(&pages)
        };
        let attr = MrAttr {
            va: r.virtual_address,
            length: r.length,
            access: access(r.access, r.may_invalidate),
            pages: place,
            key: Some(r.key),
        };
        device
            .reg_mr_attr(pd, &attr)
            .with_context(|| format!("region with key {:#x}", r.key))?;
        let region = Region {
            va: r.virtual_address - offset,
            length: offset + r.length,
            pages,
        };
        regions.insert(r.key, region);
    }
    Ok((device, pd, regions))
}

/// The service's transport.
pub(crate) fn transport(service: u8) -> Result<Transport> {
    match service {
        0 => Ok(Transport::Rc),
        1 => Ok(Transport::Uc),
        3 => Ok(Transport::Ud),
        other => Err(anyhow!("service {other} is none of this engine's")),
    }
}

/// A VLAN tag's parts.
pub(crate) fn vlan(tci: u16) -> Vlan {
    Vlan {
        id: tci & 0xfff,
        priority: (tci >> 13) as u8,
    }
}

/// The peer of a connected QP.
pub(crate) fn peer(a: &Attributes) -> Peer {
    Peer {
        gid_index: a.gid_index as u8,
        vlan: a.vlan.map(vlan),
        traffic_class: a.traffic_class,
        hop_limit: a.hop_limit,
        udp_source: Some(a.udp_source),
        ..Peer::new(Gid::from(a.peer_ip), a.peer_mac)
    }
}

impl Running {
    fn connect(&mut self, pd: Pd, a: &Attributes) -> Result<()> {
        let transport = transport(a.service)?;
        let cq = match self.cqs.get(&a.recv_cq) {
            Some(cq) => *cq,
            None => {
                let cq = self.device.create_cq(ENTRIES.min(self.device.capabilities().ring_entries))?;
                self.cqs.insert(a.recv_cq, cq);
                cq
            }
        };
        let gsi = a.qpn == 1;
        let init = QpInit {
            gsi,
            qpn: Some(a.qpn),
            ..QpInit::new(pd, transport, cq, ENTRIES)
        };
        let qp = self.device.create_qp(&init).with_context(|| format!("QP {:#x}", a.qpn))?;
        let remote = ModelAccess {
            local_write: false,
            remote_write: a.remote_write,
            remote_read: a.remote_read,
            remote_atomic: a.remote_atomic,
        };
        let pkey = Some(a.pkey);
        if transport == Transport::Ud {
            self.device.modify_qp(
                qp,
                &QpAttr {
                    pkey,
                    ..QpAttr::to_init_ud(a.qkey)
                },
            )?;
            self.device.modify_qp(qp, &QpAttr::to(QpState::Rtr))?;
        } else {
            self.device.modify_qp(
                qp,
                &QpAttr {
                    pkey,
                    ..QpAttr::to_init(access(remote, false))
                },
            )?;
            let pmtu = PathMtu::from_bytes(a.pmtu).with_context(|| format!("{} is no path MTU", a.pmtu))?;
            let min_rnr_timer = (transport == Transport::Rc).then_some(a.rnr_timer);
            self.device.modify_qp(
                qp,
                &QpAttr {
                    min_rnr_timer,
                    ..QpAttr::to_rtr(peer(a), a.peer_qpn, a.rq_psn, pmtu)
                },
            )?;
        }
        let rts = if self.device.capabilities().requester {
            QpAttr::to_rts(a.sq_psn)
        } else {
            QpAttr::to(QpState::Rts)
        };
        self.device.modify_qp(qp, &rts)?;
        self.qps.insert(a.qpn, (qp, a.recv_cq));
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

    fn settle(&mut self) -> Result<()> {
        let hca = self.device.platform();
        crate::hold!(hca.settle(QUIET, LIMIT), "the engine never came to rest (cycle {})", hca.cycle);
        hca.violations.check()
    }
}

/// A completion in the golden model's form.
pub(crate) fn to_model(cq: u16, c: &Completion) -> ModelCompletion {
    ModelCompletion {
        cq,
        qpn: c.qp.qpn,
        opcode: c.opcode.code(),
        status: c.status.code(),
        with_imm: c.immediate.is_some(),
        with_invalidate: c.invalidated.is_some(),
        grh: c.grh,
        solicited: c.solicited,
        wqe_index: c.wqe_index,
        byte_length: c.byte_length,
        immediate: c.immediate.or(c.invalidated).unwrap_or(0),
        source_qpn: c.source_qpn,
    }
}

impl Responder for EngineResponder {
    fn configure(&mut self, setup: &Setup) -> Result<()> {
        let hca = self.fresh.take().context("the engine is configured already")?;
        let (device, pd, regions) = open(hca, setup)?;
        let mut running = Running {
            device,
            cqs: BTreeMap::new(),
            qps: BTreeMap::new(),
            regions,
            completions: Vec::new(),
        };
        for attributes in &setup.qps {
            running.connect(pd, attributes)?;
        }
        running.device.platform().tx.frames.clear();
        self.running = Some(running);
        Ok(())
    }

    fn post_receive(&mut self, qpn: u32, address: u64, length: u32, lkey: u32) -> Result<()> {
        let running = self.running()?;
        let (qp, _) = *running.qps.get(&qpn).with_context(|| format!("no QP {qpn:#x}"))?;
        running.device.post_recv(qp, 0, Sge { address, length, lkey })?;
        Ok(())
    }

    fn deliver(&mut self, frame: &[u8]) -> Result<Vec<Vec<u8>>> {
        let running = self.running()?;
        running.device.platform().rx.send(frame);
        running.settle()?;
        running.poll()?;
        let hca = running.device.platform();
        hca.host_rx.frames.clear();
        let padded = hca.tx.frames.drain(..).map(|f| f.bytes);
        padded.map(|bytes| unpad(&bytes)).collect()
    }

    fn completions(&mut self) -> Result<Vec<ModelCompletion>> {
        let running = self.running()?;
        running.settle()?;
        running.poll()?;
        Ok(std::mem::take(&mut running.completions))
    }

    fn features(&mut self) -> Features {
        let word = match (&mut self.fresh, &mut self.running) {
            (Some(hca), _) => hca.read(registers::CAPABILITIES).unwrap_or(0),
            (_, Some(running)) => running.device.platform().read(registers::CAPABILITIES).unwrap_or(0),
            _ => 0,
        };
        Features {
            requester: word >> 18 & 1 == 1,
            read_atomic: word >> 19 & 1 == 1,
        }
    }

    fn write(&mut self, key: u32, virtual_address: u64, bytes: &[u8]) -> Result<()> {
        let running = self.running()?;
        let region = running.regions.get(&key).with_context(|| format!("no region with key {key:#x}"))?;
        Ok(region.write(running.device.platform(), virtual_address, bytes)?)
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

/// The frame without the padding of R20.
pub(crate) fn unpad(frame: &[u8]) -> Result<Vec<u8>> {
    let at = if frame.get(12..14) == Some(&[0x81, 0]) { 18 } else { 14 };
    let word = |i: usize| frame.get(i..i + 2).map_or(0, |w| usize::from(w[0]) << 8 | usize::from(w[1]));
    let length = match word(at - 2) {
        0x86dd => at + 40 + word(at + 4),
        _ => at + word(at + 2),
    };
    ensure!(length <= frame.len(), "the engine sent a frame shorter than its IP length");
    Ok(frame[..length].to_vec())
}
