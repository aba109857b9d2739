// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ucmatose`, either side of it: connections by the connection manager, the server's messages first, then the client's.

use crate::gsi::{Connection, Gsi, Terms, ACK_TIMEOUT};
use crate::host::{poll, wait, Host};
use crate::{Endpoint, Error};
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::net::IpAddr;
use std::time::Duration;
use verbena_verbs::{Access, CompletionOpcode, PathMtu, Qp, QpAttr, QpInit, Transport, Verb, WorkRequest};

/// Options with ucmatose's letters and defaults.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// The server's address; without it this is the server
    #[arg(short = 's', long)]
    pub server: Option<IpAddr>,
    /// Port, as a service ID of the connection manager
    #[arg(short, long, default_value_t = 7471)]
    pub port: u16,
    /// Connections at the same time
    #[arg(short, long, default_value_t = 1)]
    pub connections: usize,
    /// Messages each way on each connection
    #[arg(short = 'C', long, default_value_t = 10)]
    pub count: usize,
    /// Bytes of a message
    #[arg(short = 'S', long, default_value_t = 100)]
    pub size: usize,
    /// Seconds to wait for a client
    #[arg(long, default_value_t = 60)]
    pub wait: u64,
    /// Where PSNs and communication IDs are drawn from
    #[arg(skip)]
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub connections: usize,
    pub sent: usize,
    pub received: usize,
}

/// Messages that a connection has posted at a time, one way.
const MOST_MESSAGES: usize = 4096;
const MOST_CONNECTIONS: usize = 128;
const MOST_BYTES: usize = 1 << 20;
const LINGER: Duration = Duration::from_millis(500);

/// Runs one side.
pub fn run<H: Host>(host: &mut H, options: &Options, out: &mut dyn Write) -> Result<Report, Error> {
    check(options)?;
    let mut say = |line: &str| writeln!(out, "{line}").map_err(Error::Print);
    let side = if options.server.is_some() { "client" } else { "server" };
    say(&format!("cmatose: starting {side}"))?;
    let mut gsi = Gsi::open(host, options.seed)?;
    let mut nodes = Nodes::open(host, options)?;
    match options.server {
        Some(server) => {
            say("cmatose: connecting")?;
            nodes.connect(host, &mut gsi, server)?;
            say("receiving data transfers")?;
            nodes.finish(host, &mut gsi, CompletionOpcode::Recv)?;
            say("sending replies")?;
            nodes.post_sends(host)?;
            nodes.finish(host, &mut gsi, CompletionOpcode::Send)?;
            say("data transfers complete")?;
            // The server disconnects.
            for connection in nodes.connections.clone() {
                let patience = host.patience();
                let what = || "the server to disconnect".into();
                wait(host, patience, what, |host| {
                    gsi.serve(host)?;
                    Ok(gsi.is_disconnected(connection).then_some(()))
                })?;
                gsi.disconnect(host, connection)?;
            }
        }
        None => {
            gsi.listen(options.port);
            nodes.accept(host, &mut gsi)?;
            say("initiating data transfers")?;
            nodes.post_sends(host)?;
            say("completing sends")?;
            nodes.finish(host, &mut gsi, CompletionOpcode::Send)?;
            say("receiving data transfers")?;
            nodes.finish(host, &mut gsi, CompletionOpcode::Recv)?;
            say("data transfers complete")?;
            say("cmatose: disconnecting")?;
            for connection in nodes.connections.clone() {
                gsi.disconnect(host, connection)?;
            }
            say("disconnected")?;
        }
    }
    let report = Report {
        connections: nodes.connections.len(),
        sent: nodes.sent,
        received: nodes.received,
    };
    nodes.endpoint.close(host)?;
    gsi.close(host, LINGER)?;
    say("test complete")?;
    say("return status 0")?;
    Ok(report)
}

fn check(o: &Options) -> Result<(), Error> {
    let limits = [
        ("--connections", o.connections, 1, MOST_CONNECTIONS),
        ("--count", o.count, 1, MOST_MESSAGES),
        ("--size", o.size, 0, MOST_BYTES),
    ];
    match limits.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
        Some((name, value, least, most)) => Err(Error::Usage(format!("{name} {value}: want {least} to {most}"))),
        None => Ok(()),
    }
}

/// All connections: one CQ, one buffer each way, a QP each.
struct Nodes<'a> {
    options: &'a Options,
    endpoint: Endpoint,
    terms: Terms,
    connections: Vec<Connection>,
    sent: usize,
    received: usize,
}

impl<'a> Nodes<'a> {
    fn open<H: Host>(host: &mut H, options: &'a Options) -> Result<Self, Error> {
        let device = host.device();
        let bytes = 2 * options.size.max(1) as u64;
        let completions = (2 * options.count * options.connections).min(device.capabilities().ring_entries);
        let endpoint = Endpoint::open(device, bytes, Access::LOCAL_WRITE, completions)?;
        Ok(Nodes {
            options,
            endpoint,
            terms: Terms {
                path_mtu: PathMtu::from_bytes(device.capabilities().max_pmtu.min(1024)).unwrap_or(PathMtu::Mtu256),
                responder_resources: 1,
                initiator_depth: 1,
                retry_count: 5,
                rnr_retry: 7,
                ack_timeout: ACK_TIMEOUT,
                psn: (options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32,
                access: Access::NONE,
            },
            connections: vec![],
            sent: 0,
            received: 0,
        })
    }

    /// A QP in INIT, its receives posted.
    fn qp<H: Host>(&mut self, host: &mut H) -> Result<Qp, Error> {
        let device = host.device();
        let init = QpInit {
            send_entries: self.options.count,
            ..QpInit::new(self.endpoint.pd, Transport::Rc, self.endpoint.cq, self.options.count)
        };
        let qp = device.create_qp(&init)?;
        self.endpoint.qps.push(qp);
        device.modify_qp(qp, &QpAttr::to_init(Access::NONE))?;
        let sge = self.endpoint.mr.sge(0, self.options.size as u32)?;
        device.post_recv_list(qp, &vec![(0, sge); self.options.count])?;
        self.terms.psn = self.terms.psn.wrapping_add(0x1_2345) & 0xff_ffff;
        Ok(qp)
    }

    fn connect<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, server: IpAddr) -> Result<(), Error> {
        for _ in 0..self.options.connections {
            let qp = self.qp(host)?;
            let connection = gsi.connect(host, qp, server, self.options.port, &self.terms)?;
            self.connections.push(connection);
        }
        Ok(())
    }

    fn accept<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi) -> Result<(), Error> {
        for _ in 0..self.options.connections {
            let request = gsi.next_request(host, Duration::from_secs(self.options.wait))?;
            let qp = self.qp(host)?;
            let connection = gsi.accept(host, &request, qp, &self.terms)?;
            self.connections.push(connection);
        }
        // Nobody else.
        gsi.ignore(self.options.port);
        for connection in self.connections.clone() {
            gsi.established(host, connection)?;
        }
        Ok(())
    }

    fn post_sends<H: Host>(&mut self, host: &mut H) -> Result<(), Error> {
        let size = self.options.size as u64;
        let sge = [self.endpoint.mr.sge(size, size as u32)?];
        let list = vec![WorkRequest::new(1, Verb::Send, &sge); self.options.count];
        for connection in &self.connections {
            host.device().post_send_list(connection.qp, &list)?;
        }
        Ok(())
    }

    /// Waits until everything of that kind is done.
    fn finish<H: Host>(&mut self, host: &mut H, gsi: &mut Gsi, what: CompletionOpcode) -> Result<(), Error> {
        let all = self.options.count * self.connections.len();
        let (patience, cq, size) = (host.patience(), self.endpoint.cq, self.options.size);
        let name = || format!("{all} completions of {what:?}");
        wait(host, patience, name, |host| {
            gsi.serve(host)?;
            for completion in poll(host, cq)? {
                if completion.opcode == CompletionOpcode::Send {
                    self.sent += 1;
                    continue;
                }
                self.received += 1;
                if completion.byte_length as usize != size {
                    return Err(Error::Protocol {
                        what: "a message",
                        found: format!("{} bytes", completion.byte_length),
                        want: "as many as --size says: give both sides the same",
                    });
                }
            }
            let done = if what == CompletionOpcode::Send { self.sent } else { self.received };
            Ok((done >= all).then_some(()))
        })
    }
}
