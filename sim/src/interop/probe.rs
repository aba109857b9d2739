// SPDX-License-Identifier: MIT OR Apache-2.0
//! One QP, a list of operations, every byte and completion checked: the live NIC's half of `probe`, as client or server.
//!
//! Lines over TCP: the client's `RUN transport=… pmtu=… operations=…`; then each side's `PROBE qpn=… psn=… rkey=… inv=… addr=… gid=…`, each
//! side's `READY`, the client's `DONE`, the server's `DONE`.

use super::operations::{before, immediate, swapped, Kind, Operation, ADDED, SLOT};
use crate::live::{LiveNic, Talk};
use anyhow::{bail, ensure, Context, Result};
use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::time::Duration;
use verbena_verbs::{
    Access, Completion, CompletionStatus, Cq, Destination, DmaMemory, Gid, Mr, PathMtu, Pd, Peer, Qp, QpAttr, QpInit, QpState, Region,
    Remote, Sge, Transport, WorkRequest, PAGE_BYTES,
};

const QKEY: u32 = 0x1111_1111;
/// First PSNs; the client's wraps early (R21).
const CLIENT_PSN: u32 = 0xff_fff0;
const SERVER_PSN: u32 = 0x12_3456;
/// Bytes of GRH before a UD message.
const GRH: u32 = 40;
/// Operations under way at once.
const DEPTH: usize = 8;
/// READs and ATOMICs under way, each way.
const READS: u8 = 4;
/// How long all operations may take, and the server's completions behind the client's.
const LIMIT: Duration = Duration::from_secs(60);
const GRACE: Duration = Duration::from_millis(300);

/// What a client asks for.
#[derive(Debug, Clone)]
pub struct Plan {
    pub operations: Vec<Operation>,
    pub transport: Transport,
    pub pmtu: PathMtu,
}

/// How either side does it.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Local ACK timeout code.
    pub timeout: u8,
    /// Code of the time that our RNR NAKs ask for.
    pub rnr_timer: u8,
    /// A server posts its receives so late.
    pub late: Duration,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner {
            timeout: 14,
            rnr_timer: 12,
            late: Duration::ZERO,
        }
    }
}

const SERVICES: [(&str, Transport); 3] = [("rc", Transport::Rc), ("uc", Transport::Uc), ("ud", Transport::Ud)];

/// The transport of that name.
pub fn transport(name: &str) -> Result<Transport> {
    let found = SERVICES.iter().find(|(known, _)| *known == name);
    Ok(found.with_context(|| format!("no transport '{name}': use rc, uc or ud"))?.1)
}

impl Plan {
    /// The line that tells a server.
    fn line(&self) -> String {
        let name = SERVICES.iter().find(|(_, t)| *t == self.transport).map_or("", |(name, _)| name);
        let list: Vec<String> = self.operations.iter().map(Operation::to_string).collect();
        format!("RUN transport={name} pmtu={} operations={}\n", self.pmtu.bytes(), list.join(","))
    }

    fn parse(line: &str) -> Result<Plan> {
        let fields: BTreeMap<&str, &str> = line.split(' ').filter_map(|f| f.split_once('=')).collect();
        let field = |name: &str| {
            fields
                .get(name)
                .copied()
                .with_context(|| format!("the client's program said '{line}', without {name}"))
        };
        let pmtu = field("pmtu")?.parse().ok().and_then(PathMtu::from_bytes);
        Ok(Plan {
            operations: Operation::parse_list(field("operations")?)?,
            transport: transport(field("transport")?)?,
            pmtu: pmtu.with_context(|| format!("the client's program said '{line}': no path MTU"))?,
        })
    }
}

/// What the peer said of itself.
#[derive(Clone, Copy)]
struct Far {
    qpn: u32,
    psn: u32,
    rkey: u32,
    inv: u32,
    address: u64,
    gid: Gid,
}

impl Far {
    fn parse(line: &str) -> Option<Far> {
        let fields: BTreeMap<&str, &str> = line.strip_prefix("PROBE ")?.split(' ').filter_map(|f| f.split_once('=')).collect();
        let hex = |name: &str| u64::from_str_radix(fields.get(name)?, 16).ok();
        Some(Far {
            qpn: hex("qpn")? as u32,
            psn: hex("psn")? as u32,
            rkey: hex("rkey")? as u32,
            inv: hex("inv")? as u32,
            address: hex("addr")?,
            gid: Gid(fields.get("gid")?.parse::<Ipv6Addr>().ok()?.octets()),
        })
    }
}

struct Run<'a> {
    probe: &'a Plan,
    manner: Manner,
    nic: &'a mut LiveNic,
    talk: Talk,
    pd: Pd,
    cq: Cq,
    qp: Qp,
    buffer: (Region, Mr),
    receives: (Region, Mr),
    /// What a SEND with invalidate may end.
    ending: (Region, Mr),
    /// Known once connected.
    far: Option<(Far, Peer)>,
    wrong: Vec<String>,
}

/// Runs the client against a server at the other end of `talk`; what wasn't as it should be.
pub fn client(plan: &Plan, manner: Manner, nic: &mut LiveNic, mut talk: Talk) -> Result<Vec<String>> {
    talk.write(nic, plan.line().as_bytes())?;
    let mut run = Run::prepare(plan, manner, nic, talk)?;
    let done = run.connect(CLIENT_PSN).and_then(|()| run.as_client());
    run.end(done)
}

/// Serves the client at the other end of `talk`.
pub fn server(manner: Manner, nic: &mut LiveNic, mut talk: Talk) -> Result<Vec<String>> {
    let plan = Plan::parse(&talk.read_line(nic)?)?;
    let mut run = Run::prepare(&plan, manner, nic, talk)?;
    let done = run.connect(SERVER_PSN).and_then(|()| run.as_server());
    run.end(done)
}

impl<'a> Run<'a> {
    fn prepare(probe: &'a Plan, manner: Manner, nic: &'a mut LiveNic, talk: Talk) -> Result<Run<'a>> {
        let count = probe.operations.len();
        let bytes = count as u64 * SLOT;
        let device = nic.device();
        let pd: Pd = device.alloc_pd()?;
        let cq = device.create_cq(2 * count + 16)?;
        let qp = device.create_qp(&QpInit {
            send_entries: 2 * DEPTH,
            ..QpInit::new(pd, probe.transport, cq, count + 1)
        })?;
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC;
        let mut region = |bytes: u64, access| -> Result<(Region, Mr)> {
            let region = device.alloc_region(bytes)?;
            let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE | access)?;
            Ok((region, mr))
        };
        let buffer = region(bytes, remote)?;
        let receives = region(bytes + u64::from(GRH), Access::NONE)?;
        let ending = region(8, Access::REMOTE_WRITE | Access::MAY_INVALIDATE)?;
        match probe.transport {
            Transport::Ud => device.modify_qp(qp, &QpAttr::to_init_ud(QKEY))?,
            _ => device.modify_qp(qp, &QpAttr::to_init(remote))?,
        }
        Ok(Run {
            probe,
            manner,
            nic,
            talk,
            pd,
            cq,
            qp,
            buffer,
            receives,
            ending,
            far: None,
            wrong: vec![],
        })
    }

    /// Exchanges numbers and brings the QP to RTS.
    fn connect(&mut self, psn: u32) -> Result<()> {
        let gid = Ipv6Addr::from(self.nic.gid().0);
        let (rkey, inv, address, qpn) = (self.buffer.1.key, self.ending.1.key, self.buffer.1.va, self.qp.qpn);
        let line = format!("PROBE qpn={qpn:06x} psn={psn:06x} rkey={rkey:08x} inv={inv:08x} addr={address:016x} gid={gid}\n");
        self.talk.write(self.nic, line.as_bytes())?;
        let line = self.talk.read_line(self.nic)?;
        let far = Far::parse(&line).with_context(|| format!("the peer's program said '{line}'"))?;
        let ip = Ipv6Addr::from(far.gid.0)
            .to_ipv4_mapped()
            .context("the peer's GID is no IPv4 address")?;
        let peer = self.nic.resolve_peer(ip.into(), Duration::from_secs(10))?;
        let (device, qp, manner) = (self.nic.device(), self.qp, self.manner);
        let reliable = self.probe.transport == Transport::Rc;
        if self.probe.transport == Transport::Ud {
            device.modify_qp(qp, &QpAttr::to(QpState::Rtr))?;
        } else {
            let rtr = QpAttr {
                min_rnr_timer: reliable.then_some(manner.rnr_timer),
                max_dest_rd_atomic: reliable.then_some(READS),
                ..QpAttr::to_rtr(peer, far.qpn, far.psn, self.probe.pmtu)
            };
            device.modify_qp(qp, &rtr)?;
        }
        let rts = QpAttr {
            timeout: reliable.then_some(manner.timeout),
            retry_count: reliable.then_some(7),
            rnr_retry: reliable.then_some(7),
            max_rd_atomic: reliable.then_some(READS),
            ..QpAttr::to_rts(psn)
        };
        device.modify_qp(qp, &rts)?;
        self.far = Some((far, peer));
        Ok(())
    }

    /// Gives everything back, so that an engine can serve for ever.
    fn end(self, done: Result<()>) -> Result<Vec<String>> {
        let device = self.nic.device();
        device.destroy_qp(self.qp)?;
        device.destroy_cq(self.cq)?;
        for (mr, region) in [
            (self.buffer.1, &self.buffer.0),
            (self.receives.1, &self.receives.0),
            (self.ending.1, &self.ending.0),
        ] {
            device.dereg_mr(mr)?;
            for page in &region.pages {
                device.platform().free(*page, PAGE_BYTES)?;
            }
        }
        device.dealloc_pd(self.pd)?;
        done.map(|()| self.wrong)
    }

    fn bad(&mut self, number: usize, what: String) {
        self.wrong
            .push(format!("operation {number} ({}): {what}", self.probe.operations[number]));
    }

    fn load(&mut self, number: usize, bytes: usize) -> Result<Vec<u8>> {
        let (region, mr) = &self.buffer;
        Ok(region.read(self.nic.device().platform(), mr.va + number as u64 * SLOT, bytes)?)
    }

    fn store(&mut self, number: usize, bytes: &[u8]) -> Result<()> {
        let (region, mr) = &self.buffer;
        Ok(region.write(self.nic.device().platform(), mr.va + number as u64 * SLOT, bytes)?)
    }

    fn check(&mut self, number: usize, found: &[u8], want: &[u8]) {
        if let Some(at) = (0..want.len()).find(|at| found.get(*at) != Some(&want[*at])) {
            self.bad(number, format!("byte {at} is {:02x?}, want {:02x}", found.get(at), want[at]));
        }
    }

    fn check_word(&mut self, number: usize, what: &str, want: u64) -> Result<()> {
        let found = u64::from_le_bytes(self.load(number, 8)?.try_into().unwrap_or_default());
        if found != want {
            self.bad(number, format!("{what} {found:#x}, want {want:#x}"));
        }
        Ok(())
    }

    fn post(&mut self, number: usize) -> Result<()> {
        let operation = self.probe.operations[number];
        let Some((
            Far {
                qpn, rkey, inv, address, ..
            },
            peer,
        )) = self.far
        else {
            bail!("posting before the peer is known");
        };
        if !operation.kind.brings_data() {
            self.store(number, &operation.pattern(number, 0))?;
        }
        let base = Remote { address, rkey };
        let verb = operation.verb(number, base, self.probe.operations.len() as u64 * SLOT, inv);
        let sge = [self.buffer.1.sge(number as u64 * SLOT, operation.length)?];
        let elements: &[Sge] = if operation.length > 0 { &sge } else { &[] };
        let destination = (self.probe.transport == Transport::Ud).then_some(Destination { peer, qpn, qkey: QKEY });
        let request = WorkRequest {
            destination,
            ..WorkRequest::new(number as u64, verb, elements)
        };
        let posted = self.nic.device().post_send(self.qp, &request);
        posted.with_context(|| format!("posting operation {number} ({operation})"))
    }

    fn as_client(&mut self) -> Result<()> {
        self.talk.write(self.nic, b"READY\n")?;
        self.expect("READY")?;
        let count = self.probe.operations.len();
        let (mut posted, mut done) = (0, 0);
        let mut failed = false;
        while done < count && !failed {
            // An operation that must fail goes alone: what is behind it would be flushed.
            while posted < count && posted - done < DEPTH && (!self.probe.operations[posted].kind.must_fail() || posted == done) {
                self.post(posted)?;
                posted += 1;
            }
            let mut found: Vec<Completion> = vec![];
            let cq = self.cq;
            let came = self.nic.run_until(LIMIT, |nic| {
                found = nic.device().poll_cq(cq, DEPTH)?;
                Ok(!found.is_empty())
            })?;
            if !came {
                self.wrong
                    .push(format!("only {done} of {count} operations completed in {} s", LIMIT.as_secs()));
                break;
            }
            for completion in found {
                let number = completion.wr_id as usize;
                if number != done {
                    self.bad(number, format!("completed where operation {done} was due"));
                }
                done += 1;
                let operation = self.probe.operations[number];
                if !operation.kind.fits(completion.status) {
                    self.bad(number, format!("ended with {:?}", completion.status));
                    failed = true;
                } else if operation.kind == Kind::Read {
                    let found = self.load(number, operation.length as usize)?;
                    self.check(number, &found, &operation.pattern(number, 1));
                } else if matches!(operation.kind, Kind::Cas | Kind::Fadd) {
                    self.check_word(number, "found before", before(number))?;
                }
            }
        }
        let told = self.talk.write(self.nic, b"DONE\n").and_then(|()| self.expect("DONE"));
        // What is wrong already matters more than a peer that has gone.
        told.or_else(|error| if self.wrong.is_empty() { Err(error) } else { Ok(()) })
    }

    fn expect(&mut self, want: &str) -> Result<()> {
        let line = self.talk.read_line(self.nic)?;
        ensure!(line.starts_with(want), "the peer's program said '{line}' where {want} was due");
        Ok(())
    }

    fn post_receives(&mut self) -> Result<()> {
        let grh = if self.probe.transport == Transport::Ud { GRH } else { 0 };
        for (number, operation) in self.probe.operations.iter().enumerate() {
            let length = match operation.kind {
                kind if !kind.takes_receive() => continue,
                Kind::WriteImm => 0,
                Kind::LongSend => operation.length - 1,
                _ => operation.length + grh,
            };
            let sge = self.receives.1.sge(number as u64 * SLOT, length)?;
            self.nic.device().post_recv(self.qp, number as u64, sge)?;
        }
        Ok(())
    }

    fn as_server(&mut self) -> Result<()> {
        for (number, operation) in self.probe.operations.iter().enumerate() {
            match operation.kind {
                Kind::Read => self.store(number, &operation.pattern(number, 1))?,
                kind if kind.is_atomic() => self.store(number, &before(number).to_le_bytes())?,
                _ => {}
            }
        }
        if self.manner.late.is_zero() {
            self.post_receives()?;
        }
        self.talk.write(self.nic, b"READY\n")?;
        self.expect("READY")?;
        if !self.manner.late.is_zero() {
            self.nic.run_for(self.manner.late)?;
            self.post_receives()?;
        }
        let mut found: Vec<Completion> = vec![];
        let (cq, talk) = (self.cq, &mut self.talk);
        let ended = self.nic.run_until(LIMIT + GRACE, |nic| {
            found.extend(nic.device().poll_cq(cq, DEPTH)?);
            talk.has_news()
        })?;
        ensure!(ended, "the peer's program never said DONE");
        self.expect("DONE")?;
        self.nic.run_for(GRACE)?;
        found.extend(self.nic.device().poll_cq(cq, usize::MAX)?);
        self.check_receives(&found)?;
        if self.probe.transport == Transport::Rc {
            self.check_memory()?;
        }
        self.talk.write(self.nic, b"DONE\n")
    }

    fn check_receives(&mut self, found: &[Completion]) -> Result<()> {
        let operations = &self.probe.operations;
        let due: Vec<usize> = (0..operations.len())
            .filter(|n| operations[*n].kind.takes_receive() && !operations[*n].kind.must_fail())
            .collect();
        let fails = operations.iter().any(|o| o.kind.must_fail());
        let good: Vec<&Completion> = found.iter().filter(|c| c.status == CompletionStatus::Success).collect();
        for c in found.iter().filter(|c| c.status != CompletionStatus::Success && !fails) {
            self.bad(c.wr_id as usize, format!("its receive ended with {:?}", c.status));
        }
        if self.probe.transport != Transport::Rc {
            let good: Vec<Completion> = good.into_iter().copied().collect();
            return self.check_unreliable(&good);
        }
        let got: Vec<usize> = good.iter().map(|c| c.wr_id as usize).collect();
        if got != due {
            self.wrong.push(format!("receives {got:?} completed, want {due:?}"));
        }
        for c in good {
            let number = c.wr_id as usize;
            let operation = self.probe.operations[number];
            let imm = matches!(operation.kind, Kind::SendImm | Kind::WriteImm).then(|| immediate(number));
            let ended = (operation.kind == Kind::SendInv).then_some(self.ending.1.key);
            if (c.byte_length, c.immediate, c.invalidated) != (operation.length, imm, ended) {
                self.bad(number, format!("received as {c:x?}"));
            }
            if operation.kind != Kind::WriteImm {
                let (region, mr) = &self.receives;
                let found = region.read(
                    self.nic.device().platform(),
                    mr.va + number as u64 * SLOT,
                    operation.length as usize,
                )?;
                self.check(number, &found, &operation.pattern(number, 0));
            }
        }
        Ok(())
    }

    /// Unreliable services may lose messages, so a receive needn't be its own operation's: it holds the next one that fits.
    fn check_unreliable(&mut self, good: &[Completion]) -> Result<()> {
        let grh = if self.probe.transport == Transport::Ud { GRH } else { 0 };
        let mut due = 0;
        for c in good {
            let (region, mr) = &self.receives;
            let payload = c.byte_length.saturating_sub(grh) as usize;
            let at = mr.va + c.wr_id * SLOT + u64::from(grh);
            let found = region.read(self.nic.device().platform(), at, payload.min(SLOT as usize))?;
            let holds = |number: &usize| {
                let operation = self.probe.operations[*number];
                let imm = matches!(operation.kind, Kind::SendImm | Kind::WriteImm).then(|| immediate(*number));
                let fits = operation.kind.takes_receive() && (c.byte_length, c.immediate) == (operation.length + grh, imm);
                fits && (operation.kind == Kind::WriteImm || found == operation.pattern(*number, 0))
            };
            match (due..self.probe.operations.len()).find(holds) {
                Some(number) => due = number + 1,
                None => self
                    .wrong
                    .push(format!("receive {} holds no operation's message that is due", c.wr_id)),
            }
        }
        Ok(())
    }

    fn check_memory(&mut self) -> Result<()> {
        for (number, operation) in self.probe.operations.iter().enumerate() {
            match operation.kind {
                Kind::Write | Kind::WriteImm => {
                    let found = self.load(number, operation.length as usize)?;
                    self.check(number, &found, &operation.pattern(number, 0));
                }
                Kind::Cas => self.check_word(number, "left", swapped(number))?,
                Kind::Fadd => self.check_word(number, "left", before(number) + ADDED)?,
                _ => {}
            }
        }
        Ok(())
    }
}
