// SPDX-License-Identifier: MIT OR Apache-2.0
//! QP state changes: which are legal, which attributes they need and take (IBTA volume 1, 10.3.1 and 11.2.5.2).

use crate::qp::MODIFY;
use crate::slots::Key;
use crate::{Access, Bus, Capabilities, Device, DmaMemory, Error, Gid, Peer, Qp, QpState, Transport};
use verbena_spec::layout::{qp, SELECTIVE_WINDOW};

/// Path MTU; the number is its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathMtu {
    Mtu256 = 1,
    Mtu512 = 2,
    Mtu1024 = 3,
    Mtu2048 = 4,
    Mtu4096 = 5,
}

impl PathMtu {
    /// Bytes.
    pub fn bytes(self) -> usize {
        128 << self as usize
    }

    /// The PMTU of that many bytes.
    pub fn from_bytes(bytes: usize) -> Option<PathMtu> {
        [
            PathMtu::Mtu256,
            PathMtu::Mtu512,
            PathMtu::Mtu1024,
            PathMtu::Mtu2048,
            PathMtu::Mtu4096,
        ]
        .into_iter()
        .find(|m| m.bytes() == bytes)
    }
}

/// Attributes of a change (`ibv_qp_attr`); `None` leaves one as it is.
///
/// | to | needs | takes |
/// |---|---|---|
/// | INIT | UD: `qkey` | `access` (RC, UC), `pkey` |
/// | RTR | RC, UC: `peer`, `dest_qpn`, `rq_psn`, `path_mtu` | `access`, `pkey`; RC: `min_rnr_timer`, `max_dest_rd_atomic`, and with reorder `reorder`, `nak_distance`, `nak_delay`; UD: `qkey` |
/// | RTS, from RTR | `sq_psn`, where the engine has a requester | RC: `timeout`, `retry_count`, `rnr_retry`, `max_rd_atomic`, `selective_repeat`, `selective_window` where the engine can |
/// | SQD, RTS from SQD, ERR, RESET | – | – |
///
/// The engine takes a row only in RESET and INIT, and the send half's words in RTR: nothing else can be changed once the QP is in RTR.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QpAttr {
    /// The state to go to; `None` stays (INIT to INIT).
    pub state: Option<QpState>,
    /// What the peer may do (R53).
    pub access: Option<Access>,
    /// P_Key (R60); the default partition, 0xffff, if never given.
    pub pkey: Option<u16>,
    /// UD (R61).
    pub qkey: Option<u32>,
    pub peer: Option<Peer>,
    /// The peer's QPN, 24 bits.
    pub dest_qpn: Option<u32>,
    /// First PSN expected, 24 bits.
    pub rq_psn: Option<u32>,
    pub path_mtu: Option<PathMtu>,
    /// Code of the time that an RNR NAK asks the peer to wait (R43), 0 to 31; 0 is 655.36 ms, 12 is 0.64 ms. Default 12.
    pub min_rnr_timer: Option<u8>,
    /// READs and ATOMICs that the peer may have outstanding (R59), 0 to what the engine's capabilities say. They are dealt out of a pool: default is
    /// as many as every QP can have (`tengig` 4, of 16 at most).
    pub max_dest_rd_atomic: Option<u8>,
    /// First PSN sent, 24 bits.
    pub sq_psn: Option<u32>,
    /// Local ACK timeout, code 0 to 31: 4.096 us times 2^n, 0 is for ever (R47). Default 14, 67 ms.
    pub timeout: Option<u8>,
    /// Timeouts without progress before the QP fails, 0 to 7 (R48). Default 7.
    pub retry_count: Option<u8>,
    /// RNR NAKs without progress before the QP fails, 0 to 6; 7 is for ever (R44). Default 7.
    pub rnr_retry: Option<u8>,
    /// READs and ATOMICs that we may have outstanding (R59), 0 to 16; not more than the peer's `max_dest_rd_atomic`. Default 1.
    pub max_rd_atomic: Option<u8>,
    /// On an engine with reorder: early packets are held until their turn (R42). Default false: they are dropped.
    pub reorder: Option<bool>,
    /// On an engine with reorder: a gap in the PSNs is a loss, NAKed or asked for again, once a packet more than this many PSNs after it came,
    /// 0 to 63. Default 0: at once (R23, R34). What a path that reorders needs is as much as it reorders by.
    pub nak_distance: Option<u8>,
    /// On an engine with reorder: a gap is a loss once it is older, us, 0 to 4095. Default 0: its age doesn't count.
    pub nak_delay: Option<u16>,
    /// After a sequence NAK send only the packet that it names again, and ask for holes in READ responses alone: for a peer that is known to
    /// hold early packets. Default false: go back N.
    pub selective_repeat: Option<bool>,
    /// With selective repeat: PSNs that are outstanding at most, 4 to 64, which is what the peer can hold of early packets: what it hasn't room for it
    /// drops, and the queue goes back. Default: what an engine of ours holds, [`selective_window`].
    pub selective_window: Option<u8>,
}

impl QpAttr {
    /// To INIT, for RC and UC.
    pub fn to_init(access: Access) -> QpAttr {
        QpAttr {
            state: Some(QpState::Init),
            access: Some(access),
            ..QpAttr::default()
        }
    }

    /// To INIT, for UD.
    pub fn to_init_ud(qkey: u32) -> QpAttr {
        QpAttr {
            state: Some(QpState::Init),
            qkey: Some(qkey),
            ..QpAttr::default()
        }
    }

    /// To RTR, for RC and UC.
    pub fn to_rtr(peer: Peer, dest_qpn: u32, rq_psn: u32, path_mtu: PathMtu) -> QpAttr {
        QpAttr {
            state: Some(QpState::Rtr),
            peer: Some(peer),
            dest_qpn: Some(dest_qpn),
            rq_psn: Some(rq_psn),
            path_mtu: Some(path_mtu),
            ..QpAttr::default()
        }
    }

    /// From RTR to RTS, on an engine with a requester.
    pub fn to_rts(sq_psn: u32) -> QpAttr {
        QpAttr {
            state: Some(QpState::Rts),
            sq_psn: Some(sq_psn),
            ..QpAttr::default()
        }
    }

    /// To a state that needs nothing else.
    pub fn to(state: QpState) -> QpAttr {
        QpAttr {
            state: Some(state),
            ..QpAttr::default()
        }
    }

    /// Names of the attributes that are given.
    fn given(&self) -> Vec<&'static str> {
        let all = [
            (self.access.is_some(), "access"),
            (self.pkey.is_some(), "pkey"),
            (self.qkey.is_some(), "qkey"),
            (self.peer.is_some(), "peer"),
            (self.dest_qpn.is_some(), "dest_qpn"),
            (self.rq_psn.is_some(), "rq_psn"),
            (self.path_mtu.is_some(), "path_mtu"),
            (self.min_rnr_timer.is_some(), "min_rnr_timer"),
            (self.max_dest_rd_atomic.is_some(), "max_dest_rd_atomic"),
            (self.sq_psn.is_some(), "sq_psn"),
            (self.timeout.is_some(), "timeout"),
            (self.retry_count.is_some(), "retry_count"),
            (self.rnr_retry.is_some(), "rnr_retry"),
            (self.max_rd_atomic.is_some(), "max_rd_atomic"),
            (self.reorder.is_some(), "reorder"),
            (self.nak_distance.is_some(), "nak_distance"),
            (self.nak_delay.is_some(), "nak_delay"),
            (self.selective_repeat.is_some(), "selective_repeat"),
            (self.selective_window.is_some(), "selective_window"),
        ];
        all.iter().filter(|(given, _)| *given).map(|(_, name)| *name).collect()
    }
}

type Names = &'static [&'static str];

/// What RC takes to RTR, the last three on an engine with reorder.
const RTR: [&str; 7] = [
    "access",
    "pkey",
    "min_rnr_timer",
    "max_dest_rd_atomic",
    "reorder",
    "nak_distance",
    "nak_delay",
];
/// And to RTS, the last two on an engine with selective repeat.
const RTS: [&str; 6] = [
    "timeout",
    "retry_count",
    "rnr_retry",
    "max_rd_atomic",
    "selective_repeat",
    "selective_window",
];

/// What a change needs, and what it takes besides.
fn rule(transport: Transport, from: QpState, to: QpState, can: &Capabilities) -> (Names, Names) {
    use {QpState::*, Transport::*};
    match (transport, to) {
        (Ud, Init) => (&["qkey"], &["pkey"]),
        (Ud, Rtr) => (&[], &["pkey", "qkey"]),
        (_, Init) => (&[], &["access", "pkey"]),
        (Rc, Rtr) => (
            &["peer", "dest_qpn", "rq_psn", "path_mtu"],
            if can.reorder { &RTR } else { &RTR[..RTR.len() - 3] },
        ),
        (Uc, Rtr) => (&["peer", "dest_qpn", "rq_psn", "path_mtu"], &["access", "pkey"]),
        (Rc, Rts) if from == Rtr && can.requester => (&["sq_psn"], if can.selective_repeat { &RTS } else { &RTS[..RTS.len() - 2] }),
        (_, Rts) if from == Rtr && can.requester => (&["sq_psn"], &[]),
        _ => (&[], &[]),
    }
}

fn legal(from: QpState, to: QpState) -> bool {
    use QpState::*;
    matches!(
        (from, to),
        (_, Reset) | (_, Err) | (Reset | Init, Init) | (Init, Rtr) | (Rtr | Rts | Sqd, Rts) | (Rts, Sqd)
    )
}

/// Code 12, 0.64 ms: what Linux consumers ask for.
const DEFAULT_RNR_TIMER: u32 = 12;
/// 67 ms: what Linux consumers ask for.
const DEFAULT_TIMEOUT: u32 = 14;
/// Most retries; RNR for ever.
const DEFAULT_RETRIES: u32 = 7;
/// One READ or ATOMIC of ours at a time: any peer allows that.
const DEFAULT_RD_ATOMIC: u32 = 1;
/// READs and ATOMICs that an engine can have outstanding, each way.
const MOST_RD_ATOMIC: u32 = 16;
/// Packets after which an ACK is asked for with selective repeat (R74): a smaller window might hold none that asks, and wait for ever.
const SELECTIVE_ACKS: u8 = 4;
/// Payload that may be outstanding with selective repeat where `selective_window` isn't given, bytes: an engine of ours holds early packets while no more
/// than 27 KiB, headers counted, have come since the oldest of them, and the one that was lost comes behind them.
const SELECTIVE_BYTES: u32 = 24 << 10;

/// PSNs that may be outstanding with selective repeat where [`QpAttr::selective_window`] isn't given: 24 KiB in packets of `path_mtu` bytes, 64 at most.
pub fn selective_window(path_mtu: usize) -> u32 {
    (SELECTIVE_BYTES / path_mtu as u32).min(SELECTIVE_WINDOW)
}

/// Default partition, full member.
const DEFAULT_PKEY: u32 = 0xffff;

impl<P: Bus + DmaMemory> Device<P> {
    /// Changes a QP's state and attributes. RESET forgets attributes and everything posted; ERR flushes both queues (R65).
    pub fn modify_qp(&mut self, qp: Qp, attr: &QpAttr) -> Result<(), Error> {
        let slot = self.qps.get(qp.id)?;
        let (transport, from) = (slot.transport, slot.state);
        let to = attr.state.unwrap_or(from);
        if !legal(from, to) {
            return Err(Error::BadTransition { from, to });
        }
        let (needs, takes) = rule(transport, from, to, &self.capabilities);
        let given = attr.given();
        // Staying in INIT changes what is given and needs nothing again.
        if let Some(attribute) = needs.iter().find(|n| from != to && !given.contains(n)) {
            return Err(Error::Missing { transport, to, attribute });
        }
        if let Some(attribute) = given.iter().find(|g| !needs.contains(g) && !takes.contains(g)) {
            return Err(Error::NotAllowed { transport, to, attribute });
        }
        let mut row = slot.row;
        if from == QpState::Reset {
            [qp::REMOTE_WRITE, qp::REMOTE_READ, qp::REMOTE_ATOMIC]
                .iter()
                .for_each(|f| f.set(&mut row, 0));
            qp::PKEY.set(&mut row, DEFAULT_PKEY);
            qp::RNR_TIMER.set(&mut row, DEFAULT_RNR_TIMER);
            qp::TIMEOUT.set(&mut row, DEFAULT_TIMEOUT);
            qp::RETRY_COUNT.set(&mut row, DEFAULT_RETRIES);
            qp::RNR_RETRY.set(&mut row, DEFAULT_RETRIES);
            qp::MAX_RD_ATOMIC.set(&mut row, DEFAULT_RD_ATOMIC);
            [
                qp::SELECTIVE_REPEAT,
                qp::SELECTIVE_WINDOW,
                qp::REORDER,
                qp::NAK_DISTANCE,
                qp::NAK_DELAY,
            ]
            .iter()
            .for_each(|f| f.set(&mut row, 0));
            qp::MAX_DEST_RD_ATOMIC.set(&mut row, self.fair_depth());
        }
        self.apply(qp, attr, &mut row)?;
        if to == QpState::Rtr && transport == Transport::Rc {
            self.deal_resources(qp.id, &mut row)?;
        }
        if from == QpState::Rtr {
            if !given.is_empty() {
                self.write_send_words(qp.id, &row)?;
            }
        } else if !given.is_empty() || from == QpState::Reset {
            self.write_qp_row(qp.id, &row)?;
        }
        if from != to || to == QpState::Reset {
            self.command(MODIFY, to.code(), qp.id.index)?;
        }
        let slot = self.qps.get_mut(qp.id)?;
        slot.row = row;
        slot.state = to;
        if to == QpState::Reset {
            slot.receive.clear();
            slot.send.clear();
            if let Some(first) = slot.resources.take() {
                self.resources.free(first);
            }
        }
        Ok(())
    }

    /// READs and ATOMICs that a peer may have outstanding on one QP, at most.
    fn deepest(&self) -> u32 {
        if self.capabilities.read_atomic {
            self.capabilities.read_depth as u32
        } else {
            MOST_RD_ATOMIC
        }
    }

    /// As many as every QP can have.
    fn fair_depth(&self) -> u32 {
        if !self.capabilities.read_atomic {
            return MOST_RD_ATOMIC;
        }
        self.deepest()
            .min((self.capabilities.read_resources / self.capabilities.qps) as u32)
    }

    /// Gives the QP as many of the engine's responder resources as its peer may have requests outstanding.
    fn deal_resources(&mut self, id: Key, row: &mut [u32]) -> Result<(), Error> {
        let count = qp::MAX_DEST_RD_ATOMIC.get(row) as usize;
        if let Some(first) = self.qps.get_mut(id)?.resources.take() {
            self.resources.free(first);
        }
        if !self.capabilities.read_atomic || count == 0 {
            return Ok(());
        }
        let first = self.resources.allocate(count, "responder resources (max_dest_rd_atomic)")?;
        self.qps.get_mut(id)?.resources = Some(first);
        qp::READ_RING_BASE.set(row, first as u32);
        Ok(())
    }

    /// Puts the attributes into the row.
    fn apply(&self, handle: Qp, attr: &QpAttr, row: &mut [u32]) -> Result<(), Error> {
        if let Some(access) = attr.access {
            qp::REMOTE_WRITE.set(row, access.contains(Access::REMOTE_WRITE) as u32);
            qp::REMOTE_READ.set(row, access.contains(Access::REMOTE_READ) as u32);
            qp::REMOTE_ATOMIC.set(row, access.contains(Access::REMOTE_ATOMIC) as u32);
        }
        attr.pkey.iter().for_each(|v| qp::PKEY.set(row, *v as u32));
        attr.qkey.iter().for_each(|v| qp::QKEY.set(row, *v));
        for (field, value) in [
            (qp::DEST_QPN, attr.dest_qpn),
            (qp::RQ_PSN, attr.rq_psn),
            (qp::RNR_TIMER, attr.min_rnr_timer.map(u32::from)),
            (qp::SQ_PSN, attr.sq_psn),
            (qp::TIMEOUT, attr.timeout.map(u32::from)),
            (qp::RETRY_COUNT, attr.retry_count.map(u32::from)),
            (qp::RNR_RETRY, attr.rnr_retry.map(u32::from)),
            (qp::MAX_RD_ATOMIC, attr.max_rd_atomic.map(u32::from)),
            (qp::MAX_DEST_RD_ATOMIC, attr.max_dest_rd_atomic.map(u32::from)),
            (qp::REORDER, attr.reorder.map(u32::from)),
            (qp::NAK_DISTANCE, attr.nak_distance.map(u32::from)),
            (qp::NAK_DELAY, attr.nak_delay.map(u32::from)),
            (qp::SELECTIVE_REPEAT, attr.selective_repeat.map(u32::from)),
        ] {
            let Some(value) = value else { continue };
            if value > field.max() {
                return Err(Error::OutOfRange {
                    what: field.name,
                    value: value as u64,
                    want: format!("{} bits", field.bits),
                });
            }
            let most = if field.name == qp::MAX_DEST_RD_ATOMIC.name {
                self.deepest()
            } else {
                MOST_RD_ATOMIC
            };
            if field.name.ends_with("rd_atomic") && value > most {
                return Err(Error::OutOfRange {
                    what: field.name,
                    value: value as u64,
                    want: format!("up to {most} on this engine"),
                });
            }
            field.set(row, value);
        }
        if let Some(mtu) = attr.path_mtu {
            if mtu.bytes() > self.capabilities.max_pmtu {
                let want = format!("up to {} on this engine", self.capabilities.max_pmtu);
                return Err(Error::OutOfRange {
                    what: "path_mtu",
                    value: mtu.bytes() as u64,
                    want,
                });
            }
            qp::PMTU.set(row, mtu as u32);
        }
        if let Some(window) = attr.selective_window {
            if !(SELECTIVE_ACKS..=SELECTIVE_WINDOW as u8).contains(&window) {
                return Err(Error::OutOfRange {
                    what: "selective_window",
                    value: window as u64,
                    want: format!("{SELECTIVE_ACKS} to {SELECTIVE_WINDOW}"),
                });
            }
            qp::SELECTIVE_WINDOW.set(row, window as u32 % SELECTIVE_WINDOW);
        } else if attr.selective_repeat == Some(true) {
            let window = selective_window(128 << qp::PMTU.get(row));
            qp::SELECTIVE_WINDOW.set(row, window % SELECTIVE_WINDOW);
        }
        if let Some(peer) = attr.peer {
            self.apply_peer(handle, &peer, row)?;
        }
        Ok(())
    }

    fn apply_peer(&self, handle: Qp, peer: &Peer, row: &mut [u32]) -> Result<(), Error> {
        self.check_peer(peer)?;
        let (mac, ip) = (peer.mac, peer.gid.words());
        qp::IPV6.set(row, peer.gid.is_ipv6() as u32);
        qp::GID_INDEX.set(row, peer.gid_index as u32);
        qp::TRAFFIC_CLASS.set(row, peer.traffic_class as u32);
        qp::HOP_LIMIT.set(row, peer.hop_limit as u32);
        qp::DEST_MAC_LOW.set(row, u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]]));
        qp::DEST_MAC_HIGH.set(row, u32::from_be_bytes([0, 0, mac[0], mac[1]]));
        for (field, word) in [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3].iter().zip(ip) {
            field.set(row, word);
        }
        qp::VLAN.set(row, peer.vlan.is_some() as u32);
        if let Some(vlan) = peer.vlan {
            qp::VLAN_TCI.set(row, vlan.tag_control());
        }
        qp::UDP_SOURCE.set(row, udp_source(peer, handle.qpn, qp::DEST_QPN.get(row)));
        Ok(())
    }

    /// An address that this device can send to.
    pub(crate) fn check_peer(&self, peer: &Peer) -> Result<(), Error> {
        let ours = self.gids.get(peer.gid_index as usize).map(Gid::is_ipv6);
        if ours != Some(peer.gid.is_ipv6()) {
            let want = format!("one of our {} GIDs, of the peer's IP version", self.gids.len());
            return Err(Error::OutOfRange {
                what: "gid_index",
                value: peer.gid_index as u64,
                want,
            });
        }
        match peer.vlan {
            Some(vlan) if vlan.id > 0xfff || vlan.priority > 7 => Err(Error::OutOfRange {
                what: "vlan",
                value: vlan.id as u64,
                want: "12 bits of id, 3 of priority".into(),
            }),
            _ => Ok(()),
        }
    }
}

/// The UDP source port (R17): the mix that Linux uses for RoCEv2 entropy, so that the same flow always takes the same path.
pub(crate) fn udp_source(peer: &Peer, qpn: u32, dest_qpn: u32) -> u32 {
    let mixed = qpn as u64 * dest_qpn as u64;
    let derived = (mixed ^ mixed >> 20 ^ mixed >> 40) as u32 & 0x3fff | 0xc000;
    peer.udp_source.map_or(derived, u32::from)
}
