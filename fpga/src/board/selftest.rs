// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board's self test: RDMA from one QP to another of the same engine, through the loop at its MAC side, driven by the host library.
//!
//! ```text
//! host library ─► UART ─► registers, memory ─► QP a ─► frames ─► loop ─► QP b ─► memory ─► UART ─► compared
//! ```
//! Every byte that a verb moved is compared, and the bytes around it must stand.

use super::cu::{CuBoard, MEMORY_BYTES};
use super::line::Line;
use super::link::Link;
use anyhow::{bail, ensure, Context, Result};
use serde::Serialize;
use verbena_spec::counters;
use verbena_verbs::{
    Access, Completion, CompletionOpcode, CompletionStatus, Cq, Device, Error, Gid, Mr, OpenAttr, PathMtu, Peer, Qp, QpAttr, QpInit,
    QpState, Region, Remote, Transport, Verb, WorkRequest,
};

/// Our addresses: both QPs have the same.
const MAC: [u8; 6] = [0x02, 0x56, 0x42, 0x4e, 0x43, 0x01];
const IP: [u8; 4] = [10, 0, 0, 1];
/// First PSNs, so that they wrap early.
const PSN: [u32; 2] = [0xff_fffe, 0x12_3456];
/// Bytes of each side's region.
const REGION: u64 = 640;
const PMTU: PathMtu = PathMtu::Mtu512;
/// Polls of a queue before it is given up; each is a request by UART.
const POLLS: usize = 400;

/// One part of the test.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    pub name: String,
    /// What was seen.
    pub seen: String,
    pub held: bool,
}

/// All of it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    pub steps: Vec<Step>,
    /// Requests by UART, and how many of their attempts had no answer.
    pub requests: u64,
    pub retries: u64,
}

impl Report {
    /// True if every step held.
    pub fn held(&self) -> bool {
        !self.steps.is_empty() && self.steps.iter().all(|s| s.held)
    }
}

/// Cycles that a simulated board needs from its first one until it listens.
pub const RESET_CYCLES: u64 = 2_000;

/// What to test.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// The transmit pins are wired to the receive pins, and `mac_link` and `mac_tx_ready` are high: then frames go that way too.
    pub external: bool,
}

/// An opened engine with two QPs that are each other's peer.
struct Bench<L> {
    device: Device<CuBoard<L>>,
    cq: Cq,
    qps: [Qp; 2],
    regions: [Region; 2],
    mrs: [Mr; 2],
    next: u64,
}

/// Runs the test; `say` hears each step as it ends. The line is given back, too.
pub fn run<L: Line>(line: L, options: &Options, mut say: impl FnMut(&Step)) -> Report {
    let mut report = Report::default();
    let mut step = |report: &mut Report, name: &str, seen: Result<String>| {
        let step = Step {
            name: name.into(),
            held: seen.is_ok(),
            seen: seen.unwrap_or_else(|e| format!("{e:#}")),
        };
        say(&step);
        report.steps.push(step.clone());
        step.held
    };
    let mut board = match CuBoard::open(line) {
        Ok(board) => board,
        Err(error) => {
            step(&mut report, "board", Err(error));
            return report;
        }
    };
    let found = prepare(&mut board);
    let go = step(&mut report, "board", found);
    let found = go.then(|| resynchronise(&mut board));
    let go = found.is_some_and(|found| step(&mut report, "UART after garbage", found));
    let found = go.then(|| memory(&mut board));
    let go = found.is_some_and(|found| step(&mut report, "memory", found));
    if !go {
        return report;
    }
    let mut bench = match Bench::open(board) {
        Ok(bench) => bench,
        Err(error) => {
            step(&mut report, "engine", Err(error));
            return report;
        }
    };
    let seen = format!("ready; QPs {:#x} and {:#x}", bench.qps[0].qpn, bench.qps[1].qpn);
    step(&mut report, "engine", Ok(seen));
    let ways: &[&str] = if options.external { &["", ", by the pins"] } else { &[""] };
    for (i, way) in ways.iter().enumerate() {
        if i == 1 {
            let switched = bench.board().set_loopback(false).map(|()| "off".to_string());
            if !step(&mut report, "loopback", switched) {
                break;
            }
        }
        for (name, test) in TESTS {
            let seen = bench.test(test);
            if !step(&mut report, &format!("{name}{way}"), seen) {
                break;
            }
        }
    }
    if report.held() {
        let seen = bench.close();
        step(&mut report, "counters", seen);
    }
    let link = &bench.board().link;
    (report.requests, report.retries) = (link.requests, link.retries);
    report
}

/// What moves bytes.
#[derive(Clone, Copy)]
enum Test {
    Write,
    Send,
    NotReady,
    Read,
}

const TESTS: [(&str, Test); 4] = [
    ("WRITE", Test::Write),
    ("SEND", Test::Send),
    ("SEND, no receive posted", Test::NotReady),
    ("READ", Test::Read),
];

fn prepare<L: Line>(board: &mut CuBoard<L>) -> Result<String> {
    board.set_loopback(true)?;
    board.status()?;
    let status = board.status()?;
    ensure!(status.loopback, "the loopback can't be switched on");
    ensure!(
        status.errors == Default::default(),
        "errors come without traffic: {:?}",
        status.errors
    );
    Ok(format!("there, loopback on, MAC link {}", if status.link { "up" } else { "down" }))
}

/// Garbage, broken requests, half a request: each time the next good one must be answered.
fn resynchronise<L: Line>(board: &mut CuBoard<L>) -> Result<String> {
    let good = Link::<L>::frame(9, 1 << 23, None);
    let mut broken = good.clone();
    broken[6] ^= 0x10;
    let garbage: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(57) ^ 0x56).collect();
    let tries: [(&str, &[u8]); 4] = [
        ("garbage", &garbage),
        ("a wrong CRC", &broken),
        ("half a request", &good[..6]),
        ("0x56 alone", &good[..1]),
    ];
    for (name, bytes) in tries {
        board.link.line.send(bytes)?;
        board.link.line.pause()?;
        let retries = board.link.retries;
        board.status().with_context(|| format!("after {name}"))?;
        ensure!(board.link.retries == retries, "after {name} and a pause a request had no answer");
        // Without a pause a request may be lost, but not the link.
        board.link.line.send(bytes)?;
        let status = board.status().with_context(|| format!("right after {name}"))?;
        ensure!(status.errors.request, "{name} was not counted as a broken request");
    }
    Ok(format!("{} kinds of it, answered after each", tries.len()))
}

/// Each data and address line of the memory.
fn memory<L: Line>(board: &mut CuBoard<L>) -> Result<String> {
    let all = MEMORY_BYTES;
    let mut places: Vec<u64> = (2..12).map(|bit| 1 << bit).chain([0, all - 4]).collect();
    places.sort();
    let value = |at: u64| (at as u32).wrapping_mul(0x9e37_79b9) ^ 0x5a5a_a5a5;
    const MEMORY: u32 = 1 << 22;
    for at in &places {
        board.link.write(MEMORY + *at as u32, value(*at))?;
    }
    for at in &places {
        let found = board.link.read(MEMORY + *at as u32)?;
        ensure!(
            found == value(*at),
            "word {at:#x} reads {found:#010x}, {:#010x} was written",
            value(*at)
        );
    }
    ensure!(
        board.link.read(MEMORY + all as u32).is_err(),
        "an address behind the memory is answered"
    );
    Ok(format!("{} words of {}", places.len(), all / 4))
}

impl<L: Line> Bench<L> {
    fn open(board: CuBoard<L>) -> Result<Self> {
        let attr = OpenAttr {
            event_entries: 8,
            ..OpenAttr::new(MAC, Gid::ipv4(IP))
        };
        let mut device = Device::open(board, &attr)?;
        let pd = device.alloc_pd()?;
        let cq = device.create_cq(16)?;
        let init = QpInit {
            send_entries: 4,
            ..QpInit::new(pd, Transport::Rc, cq, 2)
        };
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ;
        let qps = [device.create_qp(&init)?, device.create_qp(&init)?];
        let regions = [device.alloc_contiguous(REGION)?, device.alloc_contiguous(REGION)?];
        let mr = |device: &mut Device<_>, region| device.reg_mr(pd, region, Access::LOCAL_WRITE | remote);
        let mrs = [mr(&mut device, &regions[0])?, mr(&mut device, &regions[1])?];
        for i in 0..2 {
            device.modify_qp(qps[i], &QpAttr::to_init(remote))?;
            let peer = Peer::new(Gid::ipv4(IP), MAC);
            device.modify_qp(qps[i], &QpAttr::to_rtr(peer, qps[1 - i].qpn, PSN[1 - i], PMTU))?;
            device.modify_qp(qps[i], &QpAttr::to_rts(PSN[i]))?;
        }
        Ok(Bench {
            device,
            cq,
            qps,
            regions,
            mrs,
            next: 1,
        })
    }

    fn board(&mut self) -> &mut CuBoard<L> {
        self.device.platform()
    }

    /// Fills both regions with bytes that tell where they stand; returns them.
    fn fill(&mut self, salt: u8) -> Result<[Vec<u8>; 2]> {
        let mut all = [vec![], vec![]];
        for (i, bytes) in all.iter_mut().enumerate() {
            *bytes = (0..REGION)
                .map(|n| (n as u8).wrapping_mul(29).wrapping_add(salt ^ (i as u8) << 7 ^ (n >> 8) as u8))
                .collect();
            let region = self.regions[i].clone();
            region.write(self.device.platform(), region.va, bytes)?;
        }
        Ok(all)
    }

    /// Compares a region with what it must hold.
    fn compare(&mut self, i: usize, want: &[u8]) -> Result<()> {
        let region = self.regions[i].clone();
        let found = region.read(self.device.platform(), region.va, want.len())?;
        if let Some(at) = (0..want.len()).find(|n| found[*n] != want[*n]) {
            let wrong = (0..want.len()).filter(|n| found[*n] != want[*n]).count();
            bail!(
                "byte {at} of region {i} is {:#04x}, must be {:#04x}; {wrong} of {} bytes are wrong",
                found[at],
                want[at],
                want.len()
            );
        }
        Ok(())
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Polls until as many completions are there; all must be good, and none of another number may come.
    fn completions(&mut self, wanted: &[(u64, CompletionOpcode)]) -> Result<Vec<Completion>> {
        let mut all = vec![];
        for _ in 0..POLLS {
            all.extend(self.device.poll_cq(self.cq, 4)?);
            if all.len() >= wanted.len() {
                break;
            }
        }
        ensure!(
            all.len() == wanted.len(),
            "{} completions came, {} must: {all:?}",
            all.len(),
            wanted.len()
        );
        for (wr_id, opcode) in wanted {
            let completion = all
                .iter()
                .find(|c| c.wr_id == *wr_id)
                .with_context(|| format!("no completion of {wr_id}: {all:?}"))?;
            ensure!(
                completion.status == CompletionStatus::Success && completion.opcode == *opcode,
                "{opcode:?} ended as {:?}, {:?}",
                completion.opcode,
                completion.status
            );
        }
        Ok(all)
    }

    fn test(&mut self, test: Test) -> Result<String> {
        match test {
            Test::Write => self.write(),
            Test::Send => self.send(),
            Test::NotReady => self.not_ready(),
            Test::Read => self.read(),
        }
    }

    /// Two packets, from an odd address to another.
    fn write(&mut self) -> Result<String> {
        let [from, mut to] = self.fill(0x11)?;
        let (bytes, here, there) = (600, 3, 17);
        let id = self.number();
        let remote = Remote {
            address: self.mrs[1].va + there as u64,
            rkey: self.mrs[1].key,
        };
        let sge = [self.mrs[0].sge(here as u64, bytes as u32)?];
        self.device
            .post_send(self.qps[0], &WorkRequest::new(id, Verb::Write(remote), &sge))?;
        self.completions(&[(id, CompletionOpcode::Write)])?;
        to[there..there + bytes].copy_from_slice(&from[here..here + bytes]);
        self.compare(1, &to)?;
        self.compare(0, &from)?;
        Ok(format!("{bytes} bytes in 2 packets, from an odd address to another"))
    }

    fn send(&mut self) -> Result<String> {
        let [mut to, from] = self.fill(0x22)?;
        let (bytes, here, there) = (333, 8, 2);
        let (posted, id) = (self.number(), self.number());
        self.device.post_recv(self.qps[0], posted, self.mrs[0].sge(there as u64, 500)?)?;
        let sge = [self.mrs[1].sge(here as u64, bytes as u32)?];
        self.device
            .post_send(self.qps[1], &WorkRequest::new(id, Verb::SendWithImm(0xfeed_f00d), &sge))?;
        let done = self.completions(&[(id, CompletionOpcode::Send), (posted, CompletionOpcode::Recv)])?;
        let received = done.iter().find(|c| c.wr_id == posted).context("no receive")?;
        ensure!(
            (received.byte_length, received.immediate) == (bytes as u32, Some(0xfeed_f00d)),
            "received {} bytes, immediate {:x?}",
            received.byte_length,
            received.immediate
        );
        to[there..there + bytes].copy_from_slice(&from[here..here + bytes]);
        self.compare(0, &to)?;
        self.compare(1, &from)?;
        Ok(format!("{bytes} bytes and an immediate"))
    }

    /// RNR NAK, a wait, and the SEND once more.
    fn not_ready(&mut self) -> Result<String> {
        let before = self.device.counter(counters::TX_RNR)?;
        let (posted, id) = (self.number(), self.number());
        self.device
            .post_send(self.qps[0], &WorkRequest::inline(id, Verb::Send, b"too early"))?;
        let mut refused = 0;
        for _ in 0..POLLS {
            refused = self.device.counter(counters::TX_RNR)?.wrapping_sub(before);
            if refused > 0 {
                break;
            }
        }
        ensure!(refused > 0, "no RNR NAK was sent");
        self.device.post_recv(self.qps[1], posted, self.mrs[1].sge(0, 64)?)?;
        self.completions(&[(id, CompletionOpcode::Send), (posted, CompletionOpcode::Recv)])?;
        self.compare(1, b"too early")?;
        Ok(format!("sent again after {refused} RNR NAKs or more"))
    }

    /// READ, where the engine answers it; where not, refused by the library as unsupported.
    fn read(&mut self) -> Result<String> {
        let serves = self.device.capabilities().read_atomic;
        let [mut to, from] = self.fill(0x33)?;
        let (bytes, here, there) = (577, 5, 11);
        let id = self.number();
        let remote = Remote {
            address: self.mrs[1].va + there as u64,
            rkey: self.mrs[1].key,
        };
        let sge = [self.mrs[0].sge(here as u64, bytes as u32)?];
        match self.device.post_send(self.qps[0], &WorkRequest::new(id, Verb::Read(remote), &sge)) {
            Ok(()) => {}
            Err(Error::Unsupported(_)) if !serves => return Ok("not in this engine, refused by the library".into()),
            Err(error) => return Err(error.into()),
        }
        if !serves {
            // Started, as to a peer that serves READs; ours refuses it (R59).
            for _ in 0..POLLS {
                let done = self.device.poll_cq(self.cq, 4)?;
                if let Some(done) = done.first() {
                    ensure!(
                        done.wr_id == id && done.status == CompletionStatus::RemoteInvalidRequestError,
                        "a READ that must be refused ended as {done:?}"
                    );
                    self.compare(0, &to)?;
                    self.again()?;
                    return Ok("refused: this engine has no READ responder".into());
                }
            }
            bail!("a READ that must be refused never ended");
        }
        self.completions(&[(id, CompletionOpcode::Read)])?;
        to[here..here + bytes].copy_from_slice(&from[there..there + bytes]);
        self.compare(0, &to)?;
        self.compare(1, &from)?;
        Ok(format!("{bytes} bytes in 2 responses"))
    }

    /// Both QPs through RESET to RTS once more.
    fn again(&mut self) -> Result<()> {
        while self.device.poll_event()?.is_some() {}
        for i in 0..2 {
            self.device.modify_qp(self.qps[i], &QpAttr::to(QpState::Reset))?;
        }
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ;
        for i in 0..2 {
            self.device.modify_qp(self.qps[i], &QpAttr::to_init(remote))?;
            let peer = Peer::new(Gid::ipv4(IP), MAC);
            self.device
                .modify_qp(self.qps[i], &QpAttr::to_rtr(peer, self.qps[1 - i].qpn, PSN[1 - i], PMTU))?;
            self.device.modify_qp(self.qps[i], &QpAttr::to_rts(PSN[i]))?;
        }
        Ok(())
    }

    /// No frame may have been lost, refused or broken on the way.
    fn close(&mut self) -> Result<String> {
        let never = [
            counters::RX_BAD_FCS,
            counters::RX_BAD_ICRC,
            counters::RX_BAD_LENGTH,
            counters::RX_NO_BUFFER,
            counters::RX_HOST_OVERFLOW,
            counters::UNKNOWN_QP,
            counters::BAD_ADDRESS,
            counters::AXI_ERROR,
            counters::TIMEOUT,
            counters::BAD_RESPONSE,
            counters::CQ_OVERFLOW,
        ];
        let mut frames = 0;
        for (name, value) in self.device.counters()? {
            let code = counters::COUNTERS.iter().find(|c| c.name == name).map(|c| c.code);
            ensure!(value == 0 || !code.is_some_and(|c| never.contains(&c)), "counter {name} is {value}");
            if code == Some(counters::RX_ROCE) {
                frames = value;
            }
        }
        ensure!(frames > 0, "no frame was received");
        let status = self.board().status()?;
        ensure!(status.errors == Default::default(), "the board counts errors: {:?}", status.errors);
        Ok(format!("{frames} frames, none lost or broken"))
    }
}
