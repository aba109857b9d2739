// SPDX-License-Identifier: MIT OR Apache-2.0
//! QPs in pairs, with their plans and memory.

use super::area::Area;
use super::network::Network;
use super::plan::{Plan, Shape};
use super::run::WorldOptions;
use anyhow::{Context, Result};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_verbs::{
    Access, Bus, Capabilities, Cq, Destination, Device, DmaMemory, Gid, Mac, PathMtu, Pd, Peer, Qp, QpAttr, QpInit, QpState, Transport,
    Vlan,
};

/// Keys of each QP that its peer may invalidate.
const KEYS: usize = 4;
/// MRs of a connection on one side: source, sink, target, receive, and those keys.
const MRS: usize = 4 + KEYS;
/// Bytes of a region behind such a key.
const WINDOW: usize = 64;
/// Most QPs.
const QPS: usize = 8;

/// What one side of a connection has.
pub struct End {
    pub qp: Qp,
    /// Of the sends, of the receives; may be the same.
    pub cqs: [Cq; 2],
    pub plan: Plan,
    pub source: Area,
    pub sink: Area,
    /// What the peer reads and writes.
    pub target: Area,
    pub receive: Area,
    pub windows: Vec<Area>,
    /// UD: where to.
    pub destination: Option<Destination>,
    /// Receives posted, and those that are posted before the peer sends anything.
    pub posted: usize,
    pub ahead: usize,
    /// Steps posted.
    pub next: usize,
    /// Completions that came.
    pub completed: usize,
    pub received: usize,
}

/// Two QPs.
pub struct Connection {
    pub transport: Transport,
    pub ends: [End; 2],
}

/// What both sides have.
#[derive(Debug, Clone, Copy)]
pub struct Common {
    pub capabilities: Capabilities,
    pub qps: usize,
    /// Few regions: one for everything.
    pub shared: bool,
    /// Longest message, bytes.
    pub longest: usize,
    pub messages: usize,
}

impl Common {
    pub fn new(a: &Capabilities, b: &Capabilities, options: &WorldOptions) -> Common {
        let capabilities = Capabilities {
            qps: a.qps.min(b.qps),
            mrs: a.mrs.min(b.mrs),
            max_pmtu: a.max_pmtu.min(b.max_pmtu),
            ipv6: a.ipv6 && b.ipv6,
            uc: a.uc && b.uc,
            ud: a.ud && b.ud,
            read_atomic: a.read_atomic && b.read_atomic,
            atomic: a.atomic && b.atomic,
            read_depth: a.read_depth.min(b.read_depth),
            ..*a
        };
        // 0 and 1 are no ordinary QPs.
        let qps = options.qps.unwrap_or(QPS).min(QPS).min(capabilities.qps - 2);
        let shared = capabilities.mrs < QPS * MRS || a.mtt_entries == 0 || b.mtt_entries == 0;
        Common {
            capabilities,
            qps,
            shared,
            longest: if shared { 2048 } else { 8192 },
            messages: if shared { 12 } else { 24 },
        }
    }
}

/// A side while connections are made.
pub struct Place {
    pub pd: Pd,
    /// The one for everything, where there are few.
    pub cq: Option<Cq>,
}

const ALL: [Access; 4] = [
    Access::LOCAL_WRITE,
    Access::REMOTE_WRITE,
    Access::REMOTE_READ,
    Access::REMOTE_ATOMIC,
];

fn everything() -> Access {
    ALL.into_iter().fold(Access::NONE, |all, one| all | one)
}

/// The four areas and the windows of one side.
fn areas<N: Network>(
    network: &mut N,
    side: usize,
    rng: &mut ChaCha8Rng,
    place: &Place,
    lengths: [usize; 4],
    windows: usize,
) -> Result<(Vec<Area>, Vec<Area>)> {
    let device = network.device(side);
    if windows == 0 {
        let areas = Area::shared(device, place.pd, &lengths, everything())?;
        return Ok((areas, vec![]));
    }
    let access = [Access::NONE, Access::LOCAL_WRITE, everything(), Access::LOCAL_WRITE];
    let mut areas = vec![];
    for (length, access) in lengths.into_iter().zip(access) {
        areas.push(Area::own(device, rng, place.pd, length, access)?);
    }
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::MAY_INVALIDATE;
    let windows = (0..windows).map(|_| Area::own(device, rng, place.pd, WINDOW, access));
    Ok((areas, windows.collect::<Result<_>>()?))
}

/// What a QP is asked to be.
struct Draft {
    transport: Transport,
    pmtu: usize,
    entries: [usize; 2],
    receive_entries: [usize; 2],
    plans: [Plan; 2],
    ahead: [usize; 2],
}

impl Draft {
    fn new(rng: &mut ChaCha8Rng, common: &Common, options: &WorldOptions) -> Draft {
        let capabilities = &common.capabilities;
        // Unreliable ones lose what the wire loses.
        let transport = match rng.gen_range(0..6) {
            0 if capabilities.uc && options.unreliable => Transport::Uc,
            1 if capabilities.ud && options.unreliable => Transport::Ud,
            _ => Transport::Rc,
        };
        let codes = (capabilities.max_pmtu / 256).ilog2();
        let pmtu = if transport == Transport::Ud {
            capabilities.max_pmtu
        } else {
            256 << rng.gen_range(0..=codes)
        };
        let reliable = transport == Transport::Rc;
        let entries: [usize; 2] = [0, 1].map(|_| 1 << rng.gen_range(2..=5));
        let plans = [0, 1].map(|side| {
            let shape = Shape {
                transport,
                pmtu,
                longest: if transport == Transport::Ud { pmtu } else { common.longest },
                messages: if options.senders[side] {
                    rng.gen_range(1..=common.messages)
                } else {
                    0
                },
                silent: entries[side] / 2,
                read_atomic: capabilities.read_atomic,
                atomic: capabilities.atomic,
                keys: if common.shared || !reliable { 0 } else { KEYS },
            };
            Plan::new(rng, &shape)
        });
        let receive_entries = [0, 1].map(|_| if reliable { 1 << rng.gen_range(2..=5) } else { 64 });
        let ahead = [0, 1].map(|_| {
            if reliable && options.late {
                rng.gen_range(0..8)
            } else {
                usize::MAX
            }
        });
        Draft {
            transport,
            pmtu,
            entries,
            receive_entries,
            plans,
            ahead,
        }
    }
}

/// CQs of a QP's two queues, one or two, no larger than those need: they go round often.
fn cqs<P: Bus + DmaMemory>(device: &mut Device<P>, rng: &mut ChaCha8Rng, place: &Place, entries: [usize; 2]) -> Result<[Cq; 2]> {
    if let Some(cq) = place.cq {
        return Ok([cq; 2]);
    }
    if rng.gen() {
        return Ok([device.create_cq(entries[0] + entries[1])?; 2]);
    }
    Ok([device.create_cq(entries[0])?, device.create_cq(entries[1])?])
}

/// The way to the other side, over IPv4 or IPv6, with a VLAN tag or without.
fn way<N: Network>(network: &N, side: usize, rng: &mut ChaCha8Rng, ipv6: bool, vlan: Option<Vlan>) -> Peer {
    let (mac, ip) = network.address(side);
    let gid = if ipv6 { address6(mac, ip) } else { Gid::ipv4(ip) };
    Peer {
        gid_index: ipv6.into(),
        vlan,
        udp_source: rng.gen::<bool>().then(|| rng.gen_range(0xc000..=0xffff)),
        ..Peer::new(gid, mac)
    }
}

/// The IPv6 address of a side.
fn address6(mac: Mac, ip: [u8; 4]) -> Gid {
    let mut gid = [0; 16];
    gid[..2].copy_from_slice(&[0xfd, 0x56]);
    gid[6..12].copy_from_slice(&mac);
    gid[12..].copy_from_slice(&ip);
    Gid(gid)
}

/// Gives a side its second address, where it can have one.
pub fn set_addresses<N: Network>(network: &mut N, side: usize, ipv6: bool) -> Result<()> {
    let (mac, ip) = network.address(side);
    let mut gids = vec![Gid::ipv4(ip)];
    if ipv6 {
        gids.push(address6(mac, ip));
    }
    Ok(network.device(side).set_addresses(mac, &gids)?)
}

/// Creates, connects and fills one connection; every QP in RTS.
pub fn connect<N: Network>(
    network: &mut N,
    rng: &mut ChaCha8Rng,
    common: &Common,
    options: &WorldOptions,
    places: &[Place; 2],
) -> Result<Connection> {
    let draft = Draft::new(rng, common, options);
    let transport = draft.transport;
    let (mut qps, mut queues) = (vec![], vec![]);
    for (side, place) in places.iter().enumerate() {
        let device = network.device(side);
        let (send_entries, receive_entries) = (draft.entries[side], draft.receive_entries[side]);
        let [send_cq, recv_cq] = cqs(device, rng, place, [send_entries, receive_entries])?;
        let init = QpInit {
            send_cq,
            send_entries,
            ..QpInit::new(place.pd, transport, recv_cq, receive_entries)
        };
        qps.push(device.create_qp(&init)?);
        queues.push([send_cq, recv_cq]);
    }
    let qps = [qps[0], qps[1]];
    let path_mtu = PathMtu::from_bytes(draft.pmtu).context("a path MTU")?;
    // Near the wrap as often as not (R21).
    let psns: [u32; 2] = [0, 1].map(|_| {
        if rng.gen() {
            rng.gen_range(0..1 << 24)
        } else {
            0xff_ffe0 + rng.gen_range(0..32)
        }
    });
    let deepest = common.capabilities.read_depth.clamp(1, 16) as u8;
    let depths: [u8; 2] = [0, 1].map(|_| rng.gen_range(1..=deepest));
    let qkeys: [u32; 2] = [0, 1].map(|_| rng.gen_range(1..1 << 31));
    let ipv6 = common.capabilities.ipv6 && rng.gen_ratio(1, 3);
    let vlan = rng.gen_ratio(1, 4).then(|| Vlan {
        id: rng.gen_range(1..0xfff),
        priority: rng.gen_range(0..8),
    });
    let mut destinations = [None; 2];
    for side in 0..2 {
        let other = 1 - side;
        let peer = way(network, other, rng, ipv6, vlan);
        let device = network.device(side);
        let can = device.capabilities();
        let (requester, reorder, selective) = (can.requester, can.reorder, can.selective_repeat);
        let mut rts = if requester {
            QpAttr::to_rts(psns[side])
        } else {
            QpAttr::to(QpState::Rts)
        };
        if transport == Transport::Ud {
            let qkey = qkeys[other];
            let qpn = qps[other].qpn;
            destinations[side] = Some(Destination { peer, qpn, qkey });
            device.modify_qp(qps[side], &QpAttr::to_init_ud(qkeys[side]))?;
            device.modify_qp(qps[side], &QpAttr::to(QpState::Rtr))?;
            device.modify_qp(qps[side], &rts)?;
            continue;
        }
        device.modify_qp(qps[side], &QpAttr::to_init(everything()))?;
        let mut rtr = QpAttr::to_rtr(peer, qps[other].qpn, psns[other], path_mtu);
        if transport == Transport::Rc {
            rtr.min_rnr_timer = Some(rng.gen_range(1..=5));
            rtr.max_dest_rd_atomic = Some(depths[other]);
            if options.reorder && reorder {
                rtr.reorder = Some(true);
                rtr.nak_distance = Some(if rng.gen() { 0 } else { rng.gen_range(0..64) });
                rtr.nak_delay = Some(if rng.gen() { 0 } else { rng.gen_range(1..200) });
            }
            if requester {
                rts.timeout = Some(options.timeout);
                rts.max_rd_atomic = Some(depths[side]);
                if options.reorder && selective {
                    rts.selective_repeat = Some(rng.gen());
                    rts.selective_window = rng.gen::<bool>().then(|| rng.gen_range(4..=64));
                }
            }
        }
        device.modify_qp(qps[side], &rtr)?;
        device.modify_qp(qps[side], &rts)?;
    }
    let lengths = |side: usize| {
        let (own, peer) = (&draft.plans[side], &draft.plans[1 - side]);
        let images = [&own.source, &own.sink, &peer.target, &peer.receive];
        images.map(|image| image.before.len())
    };
    let windows = if common.shared { 0 } else { KEYS };
    let mut memory = vec![];
    for (side, place) in places.iter().enumerate() {
        memory.push(areas(network, side, rng, place, lengths(side), windows)?);
    }
    for (side, (areas, _)) in memory.iter().enumerate() {
        let (own, peer) = (&draft.plans[side], &draft.plans[1 - side]);
        let images = [&own.source, &own.sink, &peer.target, &peer.receive];
        for (area, image) in areas.iter().zip(images) {
            area.write(network.device(side), &image.before)?;
        }
    }
    let [first, second] = draft.plans;
    let mut plans = [Some(first), Some(second)];
    let mut ends = vec![];
    for (side, (areas, windows)) in memory.into_iter().enumerate() {
        let [source, sink, target, receive]: [Area; 4] = areas.try_into().ok().context("four areas")?;
        ends.push(End {
            qp: qps[side],
            cqs: queues[side],
            plan: plans[side].take().context("one plan a side")?,
            source,
            sink,
            target,
            receive,
            windows,
            destination: destinations[side],
            posted: 0,
            ahead: draft.ahead[side],
            next: 0,
            completed: 0,
            received: 0,
        });
    }
    let ends: [End; 2] = ends.try_into().ok().context("two ends")?;
    Ok(Connection { transport, ends })
}
