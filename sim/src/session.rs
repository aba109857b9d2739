// SPDX-License-Identifier: MIT OR Apache-2.0
//! An engine with a host on one side and a peer on the other: what every subcommand begins with.

use crate::hca::{Hca, HcaOptions};
use crate::hold;
use crate::traffic::{answer, Answer, End, Flow, Form, DETH};
use anyhow::{Context, Result};
use verbena_spec::counters::{COUNTERS, COUNTER_FILE};
use verbena_verbs::{Access, Cq, Device, Gid, Mr, OpenAttr, PathMtu, Pd, Peer, Qp, QpAttr, QpInit, QpState, Region, Transport, Vlan};

/// Who we are and who talks to us.
pub const ENGINE: End = End {
    mac: [0x02, 0x56, 0x42, 0x4e, 0x41, 0x01],
    ip: [10, 0, 0, 1],
};
pub const PEER: End = End {
    mac: [0x02, 0x56, 0x42, 0x4e, 0x41, 0x02],
    ip: [10, 0, 0, 2],
};
/// First PSN of every flow: the wrap comes early (R21).
pub const FIRST_PSN: u32 = 0xff_fff0;
/// UDP source port of both ends (R17).
const UDP_SOURCE: u16 = 0xc123;
/// The peer's QPN of the first connection.
const PEER_QPN: u32 = 0x00_1234;

/// An opened device with one PD and one CQ.
pub struct Session {
    pub device: Device<Hca>,
    pub pd: Pd,
    pub cq: Cq,
    /// New RC QPs hold early requests, with this `nak_distance`.
    pub reorder: Option<u8>,
}

/// A connection: the engine's QP and the peer's sending side.
pub struct Connection {
    pub qp: Qp,
    pub peer_qpn: u32,
    pub flow: Flow,
}

impl Session {
    pub fn open(options: &HcaOptions) -> Result<Session> {
        Session::with(Hca::new(options)?)
    }

    /// Opens an engine that is there already, fresh out of reset.
    pub fn with(hca: Hca) -> Result<Session> {
        let mut device = Device::open(hca, &OpenAttr::new(ENGINE.mac, Gid::ipv4(ENGINE.ip))).context("opening the engine")?;
        if device.capabilities().ipv6 {
            device.set_addresses(ENGINE.mac, &[Gid::ipv4(ENGINE.ip), Gid::from(ENGINE.address6())])?;
        }
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(1024.min(device.capabilities().ring_entries))?;
        Ok(Session {
            device,
            pd,
            cq,
            reorder: None,
        })
    }

    pub fn hca(&mut self) -> &mut Hca {
        self.device.platform()
    }

    /// An RC QP in RTR over IPv4, its peer a [`Flow`].
    pub fn connect(&mut self, pmtu: usize, recv_entries: usize) -> Result<Connection> {
        self.connect_as(Form::default(), pmtu, recv_entries, Access::REMOTE_WRITE)
    }

    /// A QP in RTR of that form, its peer a [`Flow`] that may do what `remote` says.
    pub fn connect_as(&mut self, form: Form, pmtu: usize, recv_entries: usize, remote: Access) -> Result<Connection> {
        let transport = match form.service {
            0 => Transport::Rc,
            1 => Transport::Uc,
            _ => Transport::Ud,
        };
        let qp = self.device.create_qp(&QpInit::new(self.pd, transport, self.cq, recv_entries))?;
        let peer_qpn = PEER_QPN + (qp.qpn & 0xfff);
        if transport == Transport::Ud {
            self.device.modify_qp(qp, &QpAttr::to_init_ud(DETH.qkey))?;
            self.device.modify_qp(qp, &QpAttr::to(QpState::Rtr))?;
        } else {
            self.device.modify_qp(qp, &QpAttr::to_init(remote))?;
            let gid = if form.ipv6 {
                Gid::from(PEER.address6())
            } else {
                Gid::ipv4(PEER.ip)
            };
            let peer = Peer {
                udp_source: Some(UDP_SOURCE),
                gid_index: form.ipv6 as u8,
                vlan: form.vlan.map(|tci| Vlan {
                    id: tci & 0xfff,
                    priority: (tci >> 13) as u8,
                }),
                ..Peer::new(gid, PEER.mac)
            };
            let code = PathMtu::from_bytes(pmtu).with_context(|| format!("{pmtu} is no path MTU"))?;
            let mut rtr = QpAttr::to_rtr(peer, peer_qpn, FIRST_PSN, code);
            if transport == Transport::Rc {
                rtr.reorder = self.reorder.map(|_| true);
                rtr.nak_distance = self.reorder;
            }
            self.device.modify_qp(qp, &rtr)?;
        }
        let flow = Flow {
            here: PEER,
            engine: ENGINE,
            dest_qpn: qp.qpn,
            psn: FIRST_PSN,
            pmtu,
            udp_source: UDP_SOURCE,
            ack_every: ack_every(pmtu),
            form,
        };
        Ok(Connection { qp, peer_qpn, flow })
    }

    /// A registered region that the peer may write and receives may land in.
    pub fn region(&mut self, bytes: u64) -> Result<(Region, Mr)> {
        let region = self.device.alloc_region(bytes)?;
        let mr = self.device.reg_mr(self.pd, &region, Access::LOCAL_WRITE | Access::REMOTE_WRITE)?;
        Ok((region, mr))
    }

    /// Answers that came out since the last call, frames that are none dropped.
    pub fn answers(&mut self) -> Vec<Answer> {
        self.hca().tx.frames.drain(..).filter_map(|f| answer(&f.bytes, &PEER)).collect()
    }

    /// All counters, by code.
    pub fn counters(&mut self) -> Result<[u32; COUNTER_FILE]> {
        let mut counters = [0; COUNTER_FILE];
        for counter in COUNTERS {
            counters[usize::from(counter.code)] = self.device.counter(counter.code)?;
        }
        Ok(counters)
    }

    /// One WRITE that must be acknowledged and land: the engine lives.
    pub fn prove_alive(&mut self) -> Result<()> {
        let (region, mr) = self.region(4096)?;
        let mut connection = self.connect(256, 1)?;
        let data: Vec<u8> = (0..200u32).map(|i| (i * 7 + 3) as u8).collect();
        self.hca().tx.frames.clear();
        for frame in connection.flow.write(region.va + 5, mr.key, &data) {
            self.hca().rx.send(&frame);
        }
        hold!(self.hca().settle(500, 200_000), "liveness: the engine never came to rest");
        let answers = self.answers();
        let acked = answers
            .iter()
            .any(|a| a.dest_qpn == connection.peer_qpn && a.is_ack() && a.psn == FIRST_PSN);
        hold!(acked, "liveness: no ACK to a good WRITE; answers: {answers:?}");
        let landed = region.read(self.hca(), region.va + 5, data.len())?;
        hold!(landed == data, "liveness: a good WRITE did not land");
        self.device.destroy_qp(connection.qp)?;
        self.device.dereg_mr(mr)?;
        Ok(())
    }
}

/// R74: how often our kind of requester asks for an ACK.
pub fn ack_every(pmtu: usize) -> usize {
    if pmtu == 256 {
        64
    } else {
        16
    }
}
