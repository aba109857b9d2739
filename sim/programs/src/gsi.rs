// SPDX-License-Identifier: MIT OR Apache-2.0
//! QP1 and the connection manager on it: what RDMA CM is to a Linux program.
//!
//! ```text
//!  program ─► Gsi::connect, accept, disconnect ─► Cm ─► MADs ─► QP1 (UD, Q_Key 0x80010000) ─► peer
//! ```

use crate::host::{poll, route, wait, Host};
use crate::{Endpoint, Error};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;
use verbena_cm::{Accept, Addresses, Cm, CmOptions, Connect, Event, Id, Outgoing, Reason, Req, QKEY, QPN};
use verbena_verbs::{Access, CompletionOpcode, Destination, Gid, PathMtu, Peer, Qp, QpAttr, QpInit, QpState, Transport, Verb, WorkRequest};

/// Bytes of GRH before a datagram (R70).
const GRH: usize = 40;
const MAD: usize = 256;
/// Receive slots, then send slots.
const RECEIVES: usize = 64;
const SENDS: usize = 32;
/// MADs that wait for an address; those beyond are lost, as on the wire, and come again.
const MOST_WAITING: usize = 256;
/// Bytes of a slot.
const SLOT: u64 = 512;
/// ACK timeout that a REQ asks for where the program doesn't say: code of 67 ms.
pub const ACK_TIMEOUT: u8 = 14;

/// What a connection is made with (`rdma_conn_param`).
#[derive(Debug, Clone)]
pub struct Terms {
    pub path_mtu: PathMtu,
    /// READs and ATOMICs that we serve at a time, and that we may have outstanding.
    pub responder_resources: u8,
    pub initiator_depth: u8,
    pub retry_count: u8,
    pub rnr_retry: u8,
    /// Our QP's, and the peer's if we are the active side.
    pub ack_timeout: u8,
    /// First PSN that we expect.
    pub psn: u32,
    pub access: Access,
}

/// A connection that is established.
#[derive(Debug, Clone, Copy)]
pub struct Connection {
    pub id: Id,
    pub qp: Qp,
}

/// A request that waits for its answer.
pub struct Request {
    pub id: Id,
    pub req: Box<Req>,
    /// Where it comes from, by RDMA CM's header.
    pub addresses: Addresses,
}

/// How a connection came to an end, or wasn't made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Established,
    Rejected(Reason),
    Unreachable(&'static str),
    Disconnected,
}

/// The port's general service interface: QP1, its buffers, the manager.
pub struct Gsi {
    cm: Cm,
    endpoint: Endpoint,
    qp: Qp,
    /// Send slots that are free.
    free: VecDeque<u64>,
    waiting: VecDeque<Outgoing>,
    requests: VecDeque<Request>,
    replies: BTreeMap<Id, Box<verbena_cm::Rep>>,
    fates: BTreeMap<Id, Fate>,
    port: u16,
}

impl Gsi {
    /// Brings QP1 up. `seed` makes communication IDs and ports.
    pub fn open<H: Host>(host: &mut H, seed: u64) -> Result<Gsi, Error> {
        let gid = host.gid();
        let device = host.device();
        let bytes = (RECEIVES + SENDS) as u64 * SLOT;
        let mut endpoint = Endpoint::open(device, bytes, Access::LOCAL_WRITE, RECEIVES + SENDS)?;
        let init = QpInit {
            gsi: true,
            send_entries: SENDS,
            ..QpInit::new(endpoint.pd, Transport::Ud, endpoint.cq, RECEIVES)
        };
        let qp = device.create_qp(&init)?;
        endpoint.qps.push(qp);
        device.modify_qp(qp, &QpAttr::to_init_ud(QKEY))?;
        device.modify_qp(qp, &QpAttr::to(QpState::Rtr))?;
        device.modify_qp(qp, &QpAttr::to_rts(0))?;
        let mixed = (seed ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut gsi = Gsi {
            cm: Cm::new(CmOptions::new(gid.0, mixed | 1, (mixed >> 32) as u32)),
            endpoint,
            qp,
            free: (RECEIVES..RECEIVES + SENDS).map(|slot| slot as u64).collect(),
            waiting: VecDeque::new(),
            requests: VecDeque::new(),
            replies: BTreeMap::new(),
            fates: BTreeMap::new(),
            port: 32768 + (mixed >> 20) as u16 % 28000,
        };
        for slot in 0..RECEIVES as u64 {
            gsi.post_receive(host, slot)?;
        }
        Ok(gsi)
    }

    fn post_receive<H: Host>(&mut self, host: &mut H, slot: u64) -> Result<(), Error> {
        let sge = self.endpoint.mr.sge(slot * SLOT, (GRH + MAD) as u32)?;
        Ok(host.device().post_recv(self.qp, slot, sge)?)
    }

    /// Requests to a port wait in [`Gsi::request`] from here on.
    pub fn listen(&mut self, port: u16) {
        self.cm.listen(verbena_cm::addresses::service(port));
    }

    /// New requests to a port are refused again.
    pub fn ignore(&mut self, port: u16) {
        self.cm.ignore(verbena_cm::addresses::service(port));
    }

    /// Moves MADs: what has come, what is due. Every wait of a program with connections calls it.
    pub fn serve<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        for completion in poll(host, self.endpoint.cq)? {
            if completion.opcode == CompletionOpcode::Send {
                self.free.push_back(completion.wr_id);
                continue;
            }
            let slot = completion.wr_id;
            let data = self.endpoint.read(host, slot * SLOT, GRH + MAD)?;
            let length = completion.byte_length as usize;
            self.post_receive(host, slot)?;
            if let (Some(from), Some(mad)) = (source(&data), data.get(GRH..length)) {
                self.cm.receive(host.now(), from, mad);
            }
        }
        self.cm.advance(host.now());
        self.waiting.extend(std::iter::from_fn(|| self.cm.transmit()));
        self.transmit(host)?;
        while let Some(event) = self.cm.event() {
            self.note(event);
        }
        Ok(())
    }

    /// Sends what waits, as far as there are slots and the way is known.
    fn transmit<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        self.waiting.truncate(MOST_WAITING);
        for _ in 0..self.waiting.len() {
            let Some(slot) = self.free.front().copied() else { return Ok(()) };
            let Some(out) = self.waiting.pop_front() else { return Ok(()) };
            let to = Gid(out.to);
            let Some(mac) = host.resolve(to)? else {
                self.waiting.push_back(out);
                continue;
            };
            self.endpoint.write(host, slot * SLOT, &out.mad.to_bytes())?;
            let sge = [self.endpoint.mr.sge(slot * SLOT, MAD as u32)?];
            let request = WorkRequest {
                destination: Some(Destination {
                    peer: Peer::new(to, mac),
                    qpn: QPN,
                    qkey: QKEY,
                }),
                ..WorkRequest::new(slot, Verb::Send, &sge)
            };
            host.device().post_send(self.qp, &request)?;
            self.free.pop_front();
        }
        Ok(())
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Request { id, req } => match Addresses::parse(&req.private) {
                Some(addresses) => self.requests.push_back(Request { id, req, addresses }),
                None => drop(self.cm.reject(id, Reason::CONSUMER, &[])),
            },
            Event::Reply { id, rep } => drop(self.replies.insert(id, rep)),
            Event::Established { id } => drop(self.fates.insert(id, Fate::Established)),
            Event::Rejected { id, reason, .. } => drop(self.fates.insert(id, Fate::Rejected(reason))),
            Event::Unreachable { id, sent } => drop(self.fates.insert(id, Fate::Unreachable(sent))),
            Event::Disconnected { id } => drop(self.fates.insert(id, Fate::Disconnected)),
        }
    }

    /// Connects a QP in INIT to a port of a peer; it is in RTS afterwards (`rdma_connect`).
    pub fn connect<H: Host>(&mut self, host: &mut H, qp: Qp, to: IpAddr, port: u16, terms: &Terms) -> Result<Connection, Error> {
        let (peer, ours) = (Gid::from(to), host.gid());
        // Before anything is said: an unknown address is an error of its own.
        let way = route(host, peer)?;
        self.port = self.port.checked_add(1).unwrap_or(32768);
        let addresses = Addresses {
            port: self.port,
            source: address(&ours),
            destination: to,
        };
        let connect = Connect {
            peer: peer.0,
            service: verbena_cm::addresses::service(port),
            transport: 0,
            qpn: qp.qpn,
            psn: terms.psn,
            path_mtu: terms.path_mtu as u8,
            responder_resources: terms.responder_resources,
            initiator_depth: terms.initiator_depth,
            retry_count: terms.retry_count,
            rnr_retry: terms.rnr_retry,
            ack_timeout: terms.ack_timeout,
            private: addresses.to_bytes().to_vec(),
        };
        let id = self.cm.connect(&connect)?;
        let name = format!("{to} port {port}");
        let what = || format!("a connection to {name}");
        let patience = host.patience();
        let rep = wait(host, patience, what, |host| {
            self.serve(host)?;
            match self.fates.remove(&id) {
                Some(fate) => Err(refused(name.clone(), fate)),
                None => Ok(self.replies.remove(&id)),
            }
        })?;
        let half = Half {
            qpn: rep.local_qpn,
            psn: rep.starting_psn,
            // What it serves bounds what we have outstanding, and the other way round.
            initiator_depth: terms.initiator_depth.min(rep.responder_resources),
            responder_resources: terms.responder_resources,
            rnr_retry: rep.rnr_retry,
            retry_count: terms.retry_count,
            ack_timeout: terms.ack_timeout,
            path_mtu: terms.path_mtu,
        };
        bring_up(host, qp, way, &half, terms)?;
        self.cm.ready(id)?;
        self.serve(host)?;
        Ok(Connection { id, qp })
    }

    /// The next request, if one waits.
    pub fn request(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    /// Waits for a request.
    pub fn next_request<H: Host>(&mut self, host: &mut H, limit: Duration) -> Result<Request, Error> {
        wait(
            host,
            limit,
            || "a connection request".into(),
            |host| {
                self.serve(host)?;
                Ok(self.request())
            },
        )
    }

    /// Accepts a request with a QP in INIT, which is in RTS afterwards (`rdma_accept`).
    pub fn accept<H: Host>(&mut self, host: &mut H, request: &Request, qp: Qp, terms: &Terms) -> Result<Connection, Error> {
        let req = &request.req;
        let Some(path_mtu) = path_mtu(host, req.path_mtu) else {
            self.refuse(host, request)?;
            return Err(Error::Protocol {
                what: "its path MTU",
                found: format!("code {}", req.path_mtu),
                want: "1 to 5",
            });
        };
        let way = route(host, Gid(req.primary.local_gid))?;
        let half = Half {
            qpn: req.local_qpn,
            psn: req.starting_psn,
            initiator_depth: terms.initiator_depth.min(req.responder_resources),
            responder_resources: terms.responder_resources.min(req.initiator_depth),
            rnr_retry: req.rnr_retry,
            retry_count: req.retry_count,
            ack_timeout: terms.ack_timeout,
            path_mtu,
        };
        bring_up(host, qp, way, &half, terms)?;
        let accept = Accept {
            qpn: qp.qpn,
            psn: terms.psn,
            responder_resources: half.responder_resources,
            initiator_depth: half.initiator_depth,
            rnr_retry: terms.rnr_retry,
            private: vec![],
        };
        self.cm.accept(request.id, &accept)?;
        self.serve(host)?;
        Ok(Connection { id: request.id, qp })
    }

    /// Refuses a request (`rdma_reject`).
    pub fn refuse<H: Host>(&mut self, host: &mut H, request: &Request) -> Result<(), Error> {
        self.cm.reject(request.id, Reason::CONSUMER, &[])?;
        self.serve(host)
    }

    /// Waits until the peer of an accepted connection is there too: its RTU has come.
    pub fn established<H: Host>(&mut self, host: &mut H, connection: Connection) -> Result<(), Error> {
        let patience = host.patience();
        wait(
            host,
            patience,
            || "the peer to say that it is ready".into(),
            |host| {
                self.serve(host)?;
                match self.fates.remove(&connection.id) {
                    None => Ok(None),
                    Some(Fate::Established) => Ok(Some(())),
                    Some(other) => Err(refused("the peer".into(), other)),
                }
            },
        )
    }

    /// Data has come on an accepted connection: it is established, whether or not the RTU was lost.
    pub fn data_came(&mut self, connection: Connection) {
        let _ = self.cm.communication_established(connection.id);
    }

    /// True once the connection is over for the peer.
    pub fn is_disconnected(&self, connection: Connection) -> bool {
        self.fates.get(&connection.id) == Some(&Fate::Disconnected)
    }

    /// Ends a connection, and waits until the peer agrees or no longer answers. The QP is in ERR (`rdma_disconnect`).
    pub fn disconnect<H: Host>(&mut self, host: &mut H, connection: Connection) -> Result<(), Error> {
        host.device().modify_qp(connection.qp, &QpAttr::to(QpState::Err))?;
        if !self.is_disconnected(connection) && self.cm.disconnect(connection.id).is_ok() {
            let patience = host.patience();
            wait(
                host,
                patience,
                || "the peer to agree to the connection's end".into(),
                |host| {
                    self.serve(host)?;
                    Ok(self.is_disconnected(connection).then_some(()))
                },
            )?;
        }
        self.fates.remove(&connection.id);
        Ok(())
    }

    /// Lets late repeats of the peer still get their answers, then takes QP1 down.
    pub fn close<H: Host>(mut self, host: &mut H, linger: Duration) -> Result<(), Error> {
        let end = std::time::Instant::now() + linger;
        while std::time::Instant::now() < end || self.free.len() < SENDS {
            self.serve(host)?;
            host.turn()?;
        }
        self.endpoint.close(host)
    }
}

/// What a side learns of the other in REQ or REP, and the QP needs.
struct Half {
    qpn: u32,
    psn: u32,
    initiator_depth: u8,
    responder_resources: u8,
    rnr_retry: u8,
    retry_count: u8,
    ack_timeout: u8,
    path_mtu: PathMtu,
}

/// INIT to RTS.
fn bring_up<H: Host>(host: &mut H, qp: Qp, way: Peer, half: &Half, terms: &Terms) -> Result<(), Error> {
    let device = host.device();
    let rtr = QpAttr {
        access: Some(terms.access),
        max_dest_rd_atomic: Some(half.responder_resources.min(16)),
        ..QpAttr::to_rtr(way, half.qpn, terms.psn, half.path_mtu)
    };
    device.modify_qp(qp, &rtr)?;
    let rts = QpAttr {
        timeout: Some(half.ack_timeout),
        retry_count: Some(half.retry_count),
        rnr_retry: Some(half.rnr_retry),
        max_rd_atomic: Some(half.initiator_depth.min(16)),
        // The message's "starting PSN" is where its receiver begins.
        ..QpAttr::to_rts(half.psn)
    };
    Ok(device.modify_qp(qp, &rts)?)
}

/// The request's, or ours if that is smaller.
fn path_mtu<H: Host>(host: &mut H, code: u8) -> Option<PathMtu> {
    let most = host.device().capabilities().max_pmtu;
    let bytes = (1..=5).contains(&code).then(|| 128usize << code)?;
    PathMtu::from_bytes(bytes.min(most))
}

fn refused(by: String, fate: Fate) -> Error {
    match fate {
        Fate::Rejected(reason) => Error::Rejected { by, reason },
        Fate::Unreachable(sent) => Error::Unreachable { by, sent },
        _ => Error::Closed("a connection"),
    }
}

/// The sender's GID in a GRH: an IPv4 header stands in the last 20 bytes, an IPv6 one fills it.
fn source(grh: &[u8]) -> Option<[u8; 16]> {
    let v4 = || grh.get(32..36)?.try_into().ok().map(|a: [u8; 4]| Gid::ipv4(a).0);
    match grh.first()? >> 4 {
        6 => grh.get(8..24)?.try_into().ok(),
        _ => v4(),
    }
}

/// A GID as an address.
fn address(gid: &Gid) -> IpAddr {
    let v6 = std::net::Ipv6Addr::from(gid.0);
    v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4)
}
