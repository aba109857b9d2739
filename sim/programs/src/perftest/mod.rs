// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ib_write_bw`, `ib_write_lat`, `ib_read_bw`, `ib_read_lat`, `ib_send_bw`, `ib_send_lat`, `ib_atomic_bw`, `ib_atomic_lat` of
//! perftest 4.5, either side of them.
//!
//! ```text
//!  client                                        server
//!    │◄═ TCP, lock step: version, MTU, QPs, keys ═►│
//!    │══ WRITE, READ, SEND, ATOMIC ═══════════════►│   latency of WRITE and SEND: both ways in turn
//!    │◄═ TCP: results, done ══════════════════════►│
//! ```
//! Memory of a side: `qp` parts to send from, then `qp` parts that the peer reaches, or where receives land.

mod bandwidth;
pub mod exchange;
mod latency;
mod options;
mod report;

pub use options::{AtomicType, Connection, Operation, Options, Test};
pub use report::Report;

use crate::host::{route, Host};
use crate::oob::Oob;
use crate::{Endpoint, Error};
use exchange::{Exchange, Ground, Record};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use report::LINE;
use std::io::Write;
use std::time::Duration;
use verbena_verbs::{Access, Destination, PathMtu, Peer, Qp, QpAttr, QpInit, QpState, Remote, Sge, Verb, WorkRequest};

/// Bytes of GRH before a datagram (R70).
const GRH: usize = 40;
/// The tools' Q_Key.
const QKEY: u32 = 0x1111_1111;
/// What the tools add, or compare with.
const ATOMIC_ADD: u64 = 1;
/// Without a goodbye: so long for the peer's last repeats.
const LINGER: Duration = Duration::from_secs(2);

/// Runs one side: a client if the options name a server.
pub fn run<H: Host>(host: &mut H, options: &Options, out: &mut dyn Write) -> Result<Report, Error> {
    options.check(host.device().capabilities())?;
    let mut say = |text: &str| writeln!(out, "{text}").map_err(Error::Print);
    let oob = match &options.server {
        Some(server) => Oob::connect(server, options.port)?,
        None => {
            say("\n************************************\n* Waiting for client to connect... *\n************************************")?;
            Oob::listen(host, &options.bind, options.port, Duration::from_secs(options.wait))?
        }
    };
    let mut exchange = Exchange::new(oob, options.server.is_some());
    let ground = exchange.ground(host, options.path_mtu()? as u8)?;
    let mut session = Session::open(host, options, ground)?;
    say(&report::preamble(options, session.mtu.bytes()))?;
    session.meet(host, &mut exchange)?;
    for (side, records) in [("local", &session.local), ("remote", &session.remote)] {
        for record in records {
            say(&report::address(side, record, options.test.operation()))?;
        }
    }
    say(LINE)?;
    say(Report::heading(options))?;
    let report = session.measure(host, &mut exchange)?;
    write!(out, "{report}").map_err(Error::Print)?;
    writeln!(out, "{LINE}").map_err(Error::Print)?;
    match options.test {
        // ib_write_lat ends without a word.
        Test::WriteLat => exchange.linger(host, LINGER)?,
        _ => {
            exchange.record(host, &session.local[0])?;
            exchange.done(host)?;
        }
    }
    session.endpoint.close(host)?;
    Ok(report)
}

/// One side's QPs and memory.
struct Session<'a> {
    options: &'a Options,
    endpoint: Endpoint,
    mtu: PathMtu,
    ground: Ground,
    local: Vec<Record>,
    remote: Vec<Record>,
    /// Where datagrams of each QP go.
    ways: Vec<Peer>,
    /// Bytes of a part of the memory.
    part: usize,
    /// Receives posted, by QP.
    receives: Vec<usize>,
}

impl<'a> Session<'a> {
    fn open<H: Host>(host: &mut H, options: &'a Options, ground: Ground) -> Result<Self, Error> {
        let mtu = PathMtu::from_bytes(128 << ground.mtu).ok_or_else(|| Error::Usage("no path MTU that both sides have".into()))?;
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        let gid = host.gid();
        let device = host.device();
        let (size, qps) = (options.bytes(), options.qp);
        // A part begins at a multiple of 8, for ATOMICs.
        let part = (size + GRH).max(ground.cycle_buffer as usize).next_multiple_of(64);
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC;
        let posted = qps * (options.tx_depth + options.rx_depth);
        let completions = posted.min(device.capabilities().ring_entries);
        let mut endpoint = Endpoint::open(device, (2 * qps * part) as u64, Access::LOCAL_WRITE | remote, completions)?;
        let mut local = vec![];
        for number in 0..qps {
            let init = QpInit {
                send_entries: options.tx_depth,
                ..QpInit::new(endpoint.pd, options.connection.transport(), endpoint.cq, options.rx_depth)
            };
            let qp = device.create_qp(&init)?;
            endpoint.qps.push(qp);
            let attr = match options.connection {
                Connection::Ud => QpAttr::to_init_ud(QKEY),
                _ => QpAttr::to_init(remote),
            };
            device.modify_qp(qp, &attr)?;
            local.push(Record {
                lid: 0,
                outs: options.outs.into(),
                qpn: qp.qpn,
                psn: rng.gen_range(0..1 << 24),
                rkey: endpoint.mr.key,
                address: endpoint.mr.va + ((qps + number) * part) as u64,
                gid,
            });
        }
        let mut data = vec![0; qps * part];
        // WRITE's latency looks for numbers in the memory: it begins with none.
        if options.test != Test::WriteLat {
            rng.fill_bytes(&mut data);
        }
        endpoint.write(host, 0, &data)?;
        let mut session = Session {
            options,
            endpoint,
            mtu,
            ground,
            local,
            remote: vec![],
            ways: vec![],
            part,
            receives: vec![0; qps],
        };
        if options.test.operation() == Operation::Send {
            (0..qps).try_for_each(|qp| session.post_receives(host, qp))?;
        }
        Ok(session)
    }

    /// Exchanges QPs and brings ours to RTS. The number of rounds is the tools', and differs between them.
    fn meet<H: Host>(&mut self, host: &mut H, exchange: &mut Exchange) -> Result<(), Error> {
        let all = self.local.clone();
        for record in &all {
            self.remote.push(exchange.record(host, record)?);
        }
        let latency = self.options.test.is_latency();
        if latency {
            // Twice there.
            exchange.record(host, &all[0])?;
        }
        self.connect(host)?;
        if self.options.test == Test::SendBw {
            exchange.record(host, &all[0])?;
        }
        for record in &all {
            exchange.record(host, record)?;
        }
        exchange.record(host, &all[0])?;
        Ok(())
    }

    fn connect<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        let o = self.options;
        for ((qp, local), remote) in self.endpoint.qps.iter().zip(&self.local).zip(&self.remote) {
            let way = route(host, remote.gid)?;
            self.ways.push(way);
            let rtr = match o.connection {
                Connection::Ud => QpAttr::to(QpState::Rtr),
                _ => QpAttr::to_rtr(way, remote.qpn, remote.psn, self.mtu),
            };
            let rtr = QpAttr {
                max_dest_rd_atomic: (o.connection == Connection::Rc).then_some(o.outs),
                ..rtr
            };
            host.device().modify_qp(*qp, &rtr)?;
            let rts = match o.connection {
                Connection::Rc => QpAttr {
                    timeout: Some(o.qp_timeout),
                    retry_count: Some(7),
                    rnr_retry: Some(7),
                    max_rd_atomic: Some(u16::from(o.outs).min(remote.outs) as u8),
                    ..QpAttr::to_rts(local.psn)
                },
                _ => QpAttr::to_rts(local.psn),
            };
            host.device().modify_qp(*qp, &rts)?;
        }
        Ok(())
    }

    fn measure<H: Host>(&mut self, host: &mut H, exchange: &mut Exchange) -> Result<Report, Error> {
        let client = self.options.server.is_some();
        match (self.options.test, client) {
            (Test::WriteLat, _) => self.write_latency(host, client),
            (Test::SendLat, _) => self.send_latency(host, client),
            (Test::ReadLat | Test::AtomicLat, true) => self.answer_latency(host),
            (Test::ReadLat | Test::AtomicLat, false) => Ok(Report::Served),
            (Test::SendBw, true) => self.send_all(host),
            (Test::SendBw, false) => self.receive_all(host),
            (_, true) => {
                let report = self.send_all(host)?;
                exchange.record(host, &self.local[0])?;
                exchange.results(host, &report.results())?;
                Ok(report)
            }
            (_, false) => {
                exchange.record(host, &self.local[0])?;
                let theirs = exchange.results(host, &Report::Served.results())?;
                Ok(Report::of(&theirs))
            }
        }
    }

    /// Bytes before what a receive brings.
    fn head(&self) -> usize {
        if self.options.connection == Connection::Ud {
            GRH
        } else {
            0
        }
    }

    /// Fills a QP's receive queue; all land in the same place.
    fn post_receives<H: Host>(&mut self, host: &mut H, qp: usize) -> Result<(), Error> {
        let at = (self.options.qp + qp) * self.part;
        let sge = self.endpoint.mr.sge(at as u64, (self.options.bytes() + self.head()) as u32)?;
        let list = vec![(qp as u64, sge); self.options.rx_depth - self.receives[qp]];
        host.device().post_recv_list(self.endpoint.qps[qp], &list)?;
        self.receives[qp] = self.options.rx_depth;
        Ok(())
    }

    /// A receive is done: its length is right, and there will be others.
    fn received<H: Host>(&mut self, host: &mut H, qp: usize, byte_length: u32) -> Result<(), Error> {
        if byte_length as usize != self.options.bytes() + self.head() {
            return Err(Error::Protocol {
                what: "a message",
                found: format!("{byte_length} bytes"),
                want: "as many as --size says: give both sides the same",
            });
        }
        self.receives[qp] -= 1;
        if self.receives[qp] <= self.options.rx_depth / 2 {
            self.post_receives(host, qp)?;
        }
        Ok(())
    }

    /// Short messages walk over the cycle buffer, in steps of whole cache lines.
    fn offset(&self, message: u64) -> u64 {
        let (line, cycle) = (u64::from(self.ground.cache_line), u64::from(self.ground.cycle_buffer));
        let size = self.options.bytes() as u64;
        let step = size.next_multiple_of(line);
        if self.options.test.is_latency() || size > cycle / 2 {
            return 0;
        }
        message % (cycle / step).max(1) * step
    }

    /// Posts message number `message` of a QP.
    fn post<H: Host>(&self, host: &mut H, qp: usize, message: u64) -> Result<(), Error> {
        let offset = self.offset(message);
        let remote = Remote {
            address: self.remote[qp].address.wrapping_add(offset),
            rkey: self.remote[qp].rkey,
        };
        let here: Sge = self
            .endpoint
            .mr
            .sge((qp * self.part) as u64 + offset, self.options.bytes() as u32)?;
        let verb = match (self.options.test.operation(), self.options.atomic_type) {
            (Operation::Write, _) => Verb::Write(remote),
            (Operation::Read, _) => Verb::Read(remote),
            (Operation::Send, _) => Verb::Send,
            (Operation::Atomic, AtomicType::FetchAndAdd) => Verb::FetchAdd { remote, add: ATOMIC_ADD },
            (Operation::Atomic, AtomicType::CompareAndSwap) => Verb::CompareSwap {
                remote,
                compare: 0,
                swap: 0,
            },
        };
        let destination = (self.options.connection == Connection::Ud).then(|| Destination {
            peer: self.ways[qp],
            qpn: self.remote[qp].qpn,
            qkey: QKEY,
        });
        let elements = [here];
        let request = WorkRequest {
            destination,
            ..WorkRequest::new(qp as u64, verb, &elements)
        };
        Ok(host.device().post_send(self.qp(qp), &request)?)
    }

    fn qp(&self, number: usize) -> Qp {
        self.endpoint.qps[number]
    }
}
