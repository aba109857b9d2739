// SPDX-License-Identifier: MIT OR Apache-2.0
//! `rping`, either side of it: connected by the connection manager, SEND, READ and WRITE.
//!
//! ```text
//!  client                                     server
//!    │══ SEND: where the ping is ════════════════►│
//!    │◄════════════════════════════ READ the ping │
//!    │◄═══════════════════════════ SEND: go ahead │
//!    │══ SEND: where the pong goes ══════════════►│
//!    │◄═══════════════════════════ WRITE the pong │
//!    │◄═══════════════════════════ SEND: go ahead │   count times, then the client disconnects
//! ```

mod options;
mod text;

pub use options::Options;

use crate::gsi::{Connection, Gsi, Terms, ACK_TIMEOUT};
use crate::host::{poll, wait, Host};
use crate::{Endpoint, Error};
use serde::Serialize;
use std::collections::VecDeque;
use std::fmt;
use std::io::Write;
use std::time::Duration;
use text::{Advert, ADVERT_BYTES};
use verbena_verbs::{Access, Completion, CompletionOpcode, Mr, PathMtu, QpAttr, QpInit, Region, Transport, Verb, WorkRequest};

/// Control memory: what is received, what is sent.
const RECEIVED: u64 = 0;
const SENT: u64 = 64;
const CONTROL: u64 = 128;
/// Repeats of the peer's last message are answered so long after the end.
const LINGER: Duration = Duration::from_millis(500);

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub connections: u64,
    pub pings: u64,
    /// Compared and equal.
    pub validated: u64,
    /// Bytes of a ping.
    pub size: usize,
    /// By the host's clock.
    pub ns: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let seconds = self.ns as f64 / 1e9;
        let (connections, pings) = (self.connections, self.pings);
        let validated = match self.validated {
            0 => String::new(),
            n => format!(", {n} of them validated"),
        };
        writeln!(f, "{connections} connections, {pings} pings{validated} in {seconds:.2} seconds")
    }
}

/// Runs one side.
pub fn run<H: Host>(host: &mut H, options: &Options, out: &mut dyn Write) -> Result<Report, Error> {
    options.check(host.device().capabilities())?;
    let mut gsi = Gsi::open(host, options.seed)?;
    if options.server {
        gsi.listen(options.port);
    }
    let start = host.now();
    let mut report = Report {
        connections: 0,
        pings: 0,
        validated: 0,
        size: options.size,
        ns: 0,
    };
    for number in 0..options.connections {
        let mut session = Session::open(host, options, number)?;
        let connection = session.connect(host, &mut gsi)?;
        report.pings += match options.server {
            true => session.serve(host, &mut gsi, connection, out)?,
            false => session.ping(host, &mut gsi, connection, out)?,
        };
        gsi.disconnect(host, connection)?;
        session.close(host)?;
        report.connections += 1;
    }
    report.ns = host.now() - start;
    report.validated = if options.validate && options.client { report.pings } else { 0 };
    gsi.close(host, LINGER)?;
    write!(out, "{report}").map_err(Error::Print)?;
    Ok(report)
}

/// One connection's memory and QP.
struct Session<'a> {
    options: &'a Options,
    control: Endpoint,
    /// Pings: the client's begin in the first half, and come back to the second.
    region: Region,
    mr: Mr,
    terms: Terms,
    /// Completions that nothing has asked for yet.
    done: VecDeque<Completion>,
}

impl<'a> Session<'a> {
    fn open<H: Host>(host: &mut H, options: &'a Options, number: u64) -> Result<Self, Error> {
        let device = host.device();
        let mut control = Endpoint::open(device, CONTROL, Access::LOCAL_WRITE, 64)?;
        let remote = Access::REMOTE_READ | Access::REMOTE_WRITE;
        let region = device.alloc_region(2 * options::LONGEST as u64 + 2)?;
        let mr = device.reg_mr(control.pd, &region, Access::LOCAL_WRITE | remote)?;
        let qp = device.create_qp(&QpInit::new(control.pd, Transport::Rc, control.cq, 2))?;
        control.qps.push(qp);
        device.modify_qp(qp, &QpAttr::to_init(remote))?;
        let path_mtu = PathMtu::from_bytes(device.capabilities().max_pmtu.min(1024)).unwrap_or(PathMtu::Mtu256);
        let mut session = Session {
            options,
            control,
            region,
            mr,
            terms: Terms {
                path_mtu,
                responder_resources: 1,
                initiator_depth: 1,
                retry_count: 7,
                rnr_retry: 7,
                ack_timeout: ACK_TIMEOUT,
                psn: (options.seed.wrapping_add(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32,
                access: remote,
            },
            done: VecDeque::new(),
        };
        session.post_receive(host)?;
        Ok(session)
    }

    fn post_receive<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        let sge = self.control.mr.sge(RECEIVED, ADVERT_BYTES as u32)?;
        Ok(host.device().post_recv(self.control.qps[0], 0, sge)?)
    }

    fn connect<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi) -> Result<Connection, Error> {
        let (qp, o) = (self.control.qps[0], self.options);
        match o.address.filter(|_| o.client) {
            Some(address) => gsi.connect(host, qp, address, o.port, &self.terms),
            None => {
                let request = gsi.next_request(host, Duration::from_secs(o.wait))?;
                gsi.accept(host, &request, qp, &self.terms)
            }
        }
    }

    /// The next completion of that kind; `None` if the peer ends the connection first.
    fn next<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection, want: CompletionOpcode) -> Result<Option<Completion>, Error> {
        let (patience, cq) = (host.patience(), self.control.cq);
        let found = wait(
            host,
            patience,
            || format!("{want:?} to complete"),
            |host| {
                gsi.serve(host)?;
                self.done.extend(poll(host, cq)?);
                match self.done.iter().position(|done| done.opcode == want) {
                    Some(at) => Ok(Some(self.done.remove(at))),
                    None => Ok(gsi.is_disconnected(c).then_some(None)),
                }
            },
        )?;
        if found.is_some() && want == CompletionOpcode::Recv {
            gsi.data_came(c);
        }
        Ok(found)
    }

    /// The peer's next advertisement or go-ahead.
    fn receive<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection) -> Result<Option<Advert>, Error> {
        let Some(completion) = self.next(host, gsi, c, CompletionOpcode::Recv)? else {
            return Ok(None);
        };
        if completion.byte_length as usize != ADVERT_BYTES {
            return Err(Error::Protocol {
                what: "a message",
                found: format!("{} bytes", completion.byte_length),
                want: "16 bytes: address, R_Key, length",
            });
        }
        let bytes = self.control.read(host, RECEIVED, ADVERT_BYTES)?;
        self.post_receive(host)?;
        Ok(Some(Advert::parse(&bytes)))
    }

    /// Does one thing with our QP and waits for its end.
    fn post<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection, request: &WorkRequest) -> Result<(), Error> {
        let want = match request.verb {
            Verb::Read(_) => CompletionOpcode::Read,
            Verb::Write(_) => CompletionOpcode::Write,
            _ => CompletionOpcode::Send,
        };
        host.device().post_send(c.qp, request)?;
        match self.next(host, gsi, c, want)? {
            Some(_) => Ok(()),
            None => Err(Error::Closed("an acknowledgement")),
        }
    }

    fn tell<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection, advert: Advert) -> Result<(), Error> {
        self.control.write(host, SENT, &advert.to_bytes())?;
        let sge = [self.control.mr.sge(SENT, ADVERT_BYTES as u32)?];
        self.post(host, gsi, c, &WorkRequest::new(1, Verb::Send, &sge))
    }

    /// The server: until the client has had enough. Returns the pings.
    fn serve<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection, out: &mut dyn Write) -> Result<u64, Error> {
        let mut pings = 0;
        while let Some(source) = self.receive(host, gsi, c)? {
            if source.length as usize > options::LONGEST {
                return Err(Error::Protocol {
                    what: "a ping's length",
                    found: source.length.to_string(),
                    want: "at most 65535",
                });
            }
            let here = [self.mr.sge(0, source.length)?];
            self.post(host, gsi, c, &WorkRequest::new(2, Verb::Read(source.remote), &here))?;
            let ping = self.region.read(host.device().platform(), self.region.va, source.length as usize)?;
            let length = ping.iter().position(|b| *b == 0).map_or(ping.len(), |nul| nul + 1);
            if self.options.verbose {
                writeln!(out, "server ping data: {}", text::printable(&ping)).map_err(Error::Print)?;
            }
            self.tell(host, gsi, c, Advert::GO_AHEAD)?;
            let Some(sink) = self.receive(host, gsi, c)? else { break };
            let pong = [self.mr.sge(0, length.min(sink.length as usize) as u32)?];
            self.post(host, gsi, c, &WorkRequest::new(3, Verb::Write(sink.remote), &pong))?;
            self.tell(host, gsi, c, Advert::GO_AHEAD)?;
            pings += 1;
        }
        Ok(pings)
    }

    /// The client. Returns the pings.
    fn ping<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, c: Connection, out: &mut dyn Write) -> Result<u64, Error> {
        let (size, half) = (self.options.size, options::LONGEST as u64 + 1);
        let advert = |mr: &Mr, offset| Advert::of(mr, offset, size as u32);
        for number in 0..self.options.count {
            let ping = text::ping(number, size);
            self.region.write(host.device().platform(), self.region.va, &ping)?;
            for offset in [0, half] {
                self.tell(host, gsi, c, advert(&self.mr, offset))?;
                if self.receive(host, gsi, c)?.is_none() {
                    return Err(Error::Closed("its go-ahead"));
                }
            }
            let pong = self.region.read(host.device().platform(), self.region.va + half, size)?;
            let wrong = ping.iter().zip(&pong).position(|(sent, back)| sent != back);
            if let Some(at) = wrong.filter(|_| self.options.validate) {
                return Err(Error::Data {
                    what: format!("ping {number}"),
                    at,
                    found: pong[at],
                    want: ping[at],
                });
            }
            if self.options.verbose {
                writeln!(out, "ping data: {}", text::printable(&pong)).map_err(Error::Print)?;
            }
        }
        Ok(self.options.count)
    }

    fn close<H: Host>(mut self, host: &mut H) -> Result<(), Error> {
        // The QP goes first: nothing lands in the memory any more.
        for qp in self.control.qps.drain(..) {
            host.device().destroy_qp(qp)?;
        }
        host.device().dereg_mr(self.mr)?;
        host.device().free_region(self.region)?;
        self.control.close(host)
    }
}
