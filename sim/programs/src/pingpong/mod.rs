// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ibv_rc_pingpong`, `ibv_uc_pingpong` and `ibv_ud_pingpong`, either side of them.
//!
//! ```text
//!  client                                   server
//!    │── TCP: QPN, PSN, GID (52 bytes) ──────►│   to RTS
//!    │◄─ TCP: the same ───────────────────────│
//!    │   to RTS                               │
//!    │── TCP: "done" ────────────────────────►│
//!    │══ SEND ═══════════════════════════════►│
//!    │◄══════════════════════════════ SEND ═══│   iterations times
//! ```
//! Both send from the buffer that they receive into, so the client's bytes come back to it.

mod options;
pub mod record;
mod report;

pub use options::{Options, Service};
pub use report::Report;

use crate::host::{poll, route, wait, Host};
use crate::oob::Oob;
use crate::{Endpoint, Error};
use record::Record;
use std::io::Write;
use std::time::{Duration, Instant};
use verbena_verbs::{Access, CompletionOpcode, Destination, Peer, Qp, QpAttr, QpInit, Transport, Verb, WorkRequest};

/// What the tools fill their buffer with.
const FILL: u8 = 0x7b;
/// First byte of each page with `--chk`.
const MARK: u8 = 0;
const PAGE: usize = 4096;
/// Bytes of GRH before a datagram (R70).
const GRH: u64 = 40;
/// The tools' Q_Key.
const QKEY: u32 = 0x1111_1111;
/// Send entries: one is outstanding at a time.
const SENDS: usize = 16;
/// At the end the peer may still ask for an acknowledgement that was lost.
const AFTERGLOW: Duration = Duration::from_millis(500);

/// Runs one side: a client if the options name a server.
pub fn run<H: Host>(host: &mut H, options: &Options, out: &mut dyn Write) -> Result<Report, Error> {
    options.check(host.device().capabilities())?;
    let mut session = Session::open(host, options)?;
    let remote = session.exchange(host, out)?;
    let way = session.way(host, remote)?;
    let report = session.play(host, way)?;
    let end = Instant::now() + AFTERGLOW;
    while Instant::now() < end {
        host.turn()?;
    }
    session.endpoint.close(host)?;
    write!(out, "{report}").map_err(Error::Print)?;
    Ok(report)
}

struct Session<'a> {
    options: &'a Options,
    endpoint: Endpoint,
    qp: Qp,
    local: Record,
    /// Receives posted.
    posted: usize,
}

impl<'a> Session<'a> {
    fn open<H: Host>(host: &mut H, options: &'a Options) -> Result<Self, Error> {
        let gid = host.gid();
        let device = host.device();
        let bytes = options.size as u64 + options.head();
        let mut endpoint = Endpoint::open(device, bytes.max(1), Access::LOCAL_WRITE, options.rx_depth + SENDS)?;
        let init = QpInit {
            send_entries: SENDS,
            ..QpInit::new(endpoint.pd, options.service.transport(), endpoint.cq, options.rx_depth)
        };
        let qp = device.create_qp(&init)?;
        endpoint.qps.push(qp);
        device.modify_qp(
            qp,
            &match options.service {
                Service::Ud => QpAttr::to_init_ud(QKEY),
                _ => QpAttr::to_init(Access::NONE),
            },
        )?;
        let local = Record {
            lid: 0,
            qpn: qp.qpn,
            psn: options.first_psn(),
            gid,
        };
        let mut data = vec![FILL; options.size];
        if options.chk && options.server.is_some() {
            data.iter_mut().step_by(PAGE).for_each(|byte| *byte = MARK);
        }
        endpoint.write(host, options.head(), &data)?;
        let mut session = Session {
            options,
            endpoint,
            qp,
            local,
            posted: 0,
        };
        session.post_receives(host)?;
        Ok(session)
    }

    /// All receives land in the same buffer.
    fn post_receives<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        let bytes = self.options.size as u64 + self.options.head();
        let sge = self.endpoint.mr.sge(0, bytes as u32)?;
        let list = vec![(0, sge); self.options.rx_depth - self.posted];
        host.device().post_recv_list(self.qp, &list)?;
        self.posted = self.options.rx_depth;
        Ok(())
    }

    /// Tells the other side who we are, learns who it is, and is in RTS before it can send.
    fn exchange<H: Host>(&mut self, host: &mut H, out: &mut dyn Write) -> Result<Record, Error> {
        let o = self.options;
        // ibv_ud_pingpong has a colon in one of its lines.
        let mut line = |which: &str, r: &Record| {
            let colon = if o.service == Service::Ud && which.starts_with('l') {
                ':'
            } else {
                ','
            };
            let gid = std::net::Ipv6Addr::from(r.gid.0);
            writeln!(
                out,
                "  {which:15} LID {:#06x}, QPN {:#08x}, PSN {:#08x}{colon} GID {gid}",
                r.lid, r.qpn, r.psn
            )
            .map_err(Error::Print)
        };
        line("local address:", &self.local)?;
        let remote = match &o.server {
            Some(server) => {
                let mut oob = Oob::connect(server, o.port)?;
                oob.send(host, "our address", &self.local.to_bytes())?;
                let remote = Record::parse(&oob.receive(host, "address")?)?;
                line("remote address:", &remote)?;
                self.connect(host, &remote)?;
                oob.send(host, "done", b"done\0")?;
                remote
            }
            None => {
                let mut oob = Oob::listen(host, &o.bind, o.port, Duration::from_secs(o.wait))?;
                let remote = Record::parse(&oob.receive(host, "address")?)?;
                line("remote address:", &remote)?;
                self.connect(host, &remote)?;
                oob.send(host, "our address", &self.local.to_bytes())?;
                oob.receive::<H, 5>(host, "done")?;
                remote
            }
        };
        Ok(remote)
    }

    fn connect<H: Host>(&mut self, host: &mut H, remote: &Record) -> Result<(), Error> {
        let o = self.options;
        let rtr = match o.service {
            Service::Ud => QpAttr::to(verbena_verbs::QpState::Rtr),
            _ => QpAttr::to_rtr(route(host, remote.gid)?, remote.qpn, remote.psn, o.path_mtu()?),
        };
        host.device().modify_qp(self.qp, &rtr)?;
        let rts = match o.service {
            Service::Rc => QpAttr {
                timeout: Some(o.timeout),
                retry_count: Some(7),
                rnr_retry: Some(7),
                ..QpAttr::to_rts(self.local.psn)
            },
            _ => QpAttr::to_rts(self.local.psn),
        };
        Ok(host.device().modify_qp(self.qp, &rts)?)
    }

    /// Where datagrams go.
    fn way<H: Host>(&self, host: &mut H, remote: Record) -> Result<Option<Destination>, Error> {
        if self.options.service.transport() != Transport::Ud {
            return Ok(None);
        }
        let peer: Peer = route(host, remote.gid)?;
        Ok(Some(Destination {
            peer,
            qpn: remote.qpn,
            qkey: QKEY,
        }))
    }

    fn send<H: Host>(&self, host: &mut H, way: Option<Destination>) -> Result<(), Error> {
        let sge = [self.endpoint.mr.sge(self.options.head(), self.options.size as u32)?];
        let request = WorkRequest {
            destination: way,
            ..WorkRequest::new(1, Verb::Send, &sge)
        };
        Ok(host.device().post_send(self.qp, &request)?)
    }

    /// The game itself: send when the last one is acknowledged and the other's has come.
    fn play<H: Host>(&mut self, host: &mut H, way: Option<Destination>) -> Result<Report, Error> {
        let (iterations, cq, patience) = (self.options.iters, self.endpoint.cq, host.patience());
        let (mut sent, mut received) = (0, 0);
        // What the next message of ours waits for.
        let (mut waits_for_send, mut waits_for_receive) = (false, true);
        let start = host.now();
        if self.options.server.is_some() {
            self.send(host, way)?;
            waits_for_send = true;
        }
        while sent < iterations || received < iterations {
            let what = || format!("message {} of {iterations} ({sent} sent)", received + 1);
            let done = wait(host, patience, what, |host| {
                Ok(Some(poll(host, cq)?).filter(|found| !found.is_empty()))
            })?;
            for completion in done {
                if completion.opcode == CompletionOpcode::Send {
                    sent += 1;
                    waits_for_send = false;
                } else {
                    received += 1;
                    waits_for_receive = false;
                    self.posted -= 1;
                    self.check(host, completion.byte_length, received)?;
                }
            }
            if self.posted <= 1 {
                self.post_receives(host)?;
            }
            if sent < iterations && !waits_for_send && !waits_for_receive {
                self.send(host, way)?;
                (waits_for_send, waits_for_receive) = (true, true);
            }
        }
        Ok(Report {
            bytes: 2 * iterations * self.options.size as u64,
            iterations,
            ns: host.now() - start,
            checked: if self.options.chk { received } else { 0 },
        })
    }

    /// The message has the right length; with `--chk`, the right bytes.
    fn check<H: Host>(&self, host: &mut H, byte_length: u32, number: u64) -> Result<(), Error> {
        let (size, head) = (self.options.size, self.options.head());
        if u64::from(byte_length) != size as u64 + head {
            return Err(Error::Protocol {
                what: "a message",
                found: format!("{byte_length} bytes"),
                want: "as many as --size says: give both sides the same",
            });
        }
        if !self.options.chk {
            return Ok(());
        }
        let data = self.endpoint.read(host, head, size)?;
        let wants = |at: usize| if at.is_multiple_of(PAGE) { MARK } else { FILL };
        match data.iter().enumerate().find(|(at, byte)| **byte != wants(*at)) {
            None => Ok(()),
            Some((at, byte)) => Err(Error::Data {
                what: format!("message {number} (page {})", at / PAGE),
                at,
                found: *byte,
                want: wants(at),
            }),
        }
    }
}
