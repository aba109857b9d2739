// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a perftest can be told.

use crate::Error;
use clap::{Args, ValueEnum};
use verbena_verbs::{Capabilities, PathMtu, Transport};

/// Which of the tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Test {
    WriteBw,
    WriteLat,
    ReadBw,
    ReadLat,
    SendBw,
    SendLat,
    AtomicBw,
    AtomicLat,
}

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Write,
    Read,
    Send,
    Atomic,
}

impl Test {
    pub fn operation(self) -> Operation {
        match self {
            Test::WriteBw | Test::WriteLat => Operation::Write,
            Test::ReadBw | Test::ReadLat => Operation::Read,
            Test::SendBw | Test::SendLat => Operation::Send,
            Test::AtomicBw | Test::AtomicLat => Operation::Atomic,
        }
    }

    pub fn is_latency(self) -> bool {
        matches!(self, Test::WriteLat | Test::ReadLat | Test::SendLat | Test::AtomicLat)
    }

    /// As the tools' titles say it.
    pub fn title(self) -> String {
        let operation = match self.operation() {
            Operation::Write => "RDMA_Write",
            Operation::Read => "RDMA_Read",
            Operation::Send => "Send",
            Operation::Atomic => "Atomic",
        };
        format!("{operation} {} Test", if self.is_latency() { "Latency" } else { "BW" })
    }
}

/// Service type, in the tools' spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Connection {
    Rc,
    /// WRITE and SEND only
    Uc,
    /// SEND only
    Ud,
}

impl Connection {
    pub fn transport(self) -> Transport {
        match self {
            Connection::Rc => Transport::Rc,
            Connection::Uc => Transport::Uc,
            Connection::Ud => Transport::Ud,
        }
    }
}

/// Kind of ATOMIC, in the tools' spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AtomicType {
    #[value(name = "FETCH_AND_ADD")]
    FetchAndAdd,
    #[value(name = "CMP_AND_SWAP")]
    CompareAndSwap,
}

/// Options with the tools' letters; give both sides the same.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Which tool the other side runs: write-bw for ib_write_bw, and so on
    #[arg(value_enum)]
    pub test: Test,
    /// Name or address of the server, for TCP; without it this is the server
    pub server: Option<String>,
    /// TCP port
    #[arg(short, long, default_value_t = 18515)]
    pub port: u16,
    /// Address to listen at, for TCP
    #[arg(long, default_value = "127.0.0.1")]
    pub bind: String,
    /// Bytes of a message [default: bandwidth 65536, latency 2, ATOMIC 8, datagrams the path MTU]
    #[arg(short, long)]
    pub size: Option<usize>,
    /// Messages of each QP
    #[arg(short = 'n', long, default_value_t = 1000)]
    pub iters: u64,
    /// Path MTU: 256, 512, 1024, 2048, 4096; the smaller one of both sides counts
    #[arg(short, long, default_value_t = 1024)]
    pub mtu: usize,
    /// QPs; bandwidth only
    #[arg(short, long, default_value_t = 1)]
    pub qp: usize,
    /// Service type
    #[arg(short, long, value_enum, ignore_case = true, default_value = "RC")]
    pub connection: Connection,
    /// Kind of ATOMIC
    #[arg(short = 'A', long, value_enum, ignore_case = true, default_value = "FETCH_AND_ADD")]
    pub atomic_type: AtomicType,
    /// Sends that a QP has posted at a time
    #[arg(short, long, default_value_t = 128)]
    pub tx_depth: usize,
    /// Receives that a QP has posted
    #[arg(short, long, default_value_t = 512)]
    pub rx_depth: usize,
    /// READs and ATOMICs outstanding, 1 to 16
    #[arg(short, long, default_value_t = 16)]
    pub outs: u8,
    /// ACK timeout, 4.096 us times 2 to this
    #[arg(short = 'u', long, default_value_t = 14)]
    pub qp_timeout: u8,
    /// Seconds to wait for a client
    #[arg(long, default_value_t = 60)]
    pub wait: u64,
    /// Where PSNs are drawn from
    #[arg(skip)]
    pub seed: u64,
}

/// What one process may use of the engine's tables.
const MOST_QPS: usize = 64;
const LONGEST: usize = 8 << 20;
/// Of all QPs, what they can have posted: the completions must fit.
const MOST_POSTED: usize = 1 << 14;
const MOST_ITERATIONS: u64 = 1 << 24;
const ATOMIC_BYTES: usize = 8;

impl Options {
    pub fn bytes(&self) -> usize {
        let datagram = self.connection == Connection::Ud;
        self.size.unwrap_or(match self.test {
            Test::AtomicBw | Test::AtomicLat => ATOMIC_BYTES,
            test if test.is_latency() => 2,
            _ if datagram => self.mtu,
            _ => 65536,
        })
    }

    pub(super) fn path_mtu(&self) -> Result<PathMtu, Error> {
        PathMtu::from_bytes(self.mtu).ok_or_else(|| Error::Usage(format!("--mtu {}: want 256, 512, 1024, 2048 or 4096", self.mtu)))
    }

    /// What can be said before anything is opened.
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<(), Error> {
        let refuse = |text: String| Err(Error::Usage(text));
        let (operation, bytes) = (self.test.operation(), self.bytes());
        let mtu = self.path_mtu()?.bytes();
        let answered = matches!(operation, Operation::Read | Operation::Atomic);
        let fits = match self.connection {
            Connection::Rc => true,
            Connection::Uc => !answered,
            Connection::Ud => operation == Operation::Send,
        };
        if !fits {
            return refuse(format!("--connection {:?} has no {operation:?}", self.connection));
        }
        if answered && !capabilities.read_atomic {
            return refuse("this engine has no READ and ATOMIC; see its capabilities".into());
        }
        if !capabilities.requester {
            return refuse("this engine can't send: it has no requester".into());
        }
        if operation == Operation::Atomic && bytes != ATOMIC_BYTES {
            return refuse(format!("--size {bytes}: an ATOMIC has 8 bytes"));
        }
        if self.connection == Connection::Ud && bytes > mtu {
            return refuse(format!("--size {bytes}: a datagram has at most the path MTU, {mtu}"));
        }
        if self.test.is_latency() && self.qp != 1 {
            return refuse(format!("--qp {}: latency is measured on one QP", self.qp));
        }
        let posted = self.tx_depth.max(self.rx_depth).saturating_mul(self.qp);
        let limits = [
            ("--size", bytes, 1, LONGEST / self.qp.max(1)),
            ("--mtu", self.mtu, 256, capabilities.max_pmtu),
            ("--qp", self.qp, 1, MOST_QPS.min(capabilities.qps.saturating_sub(2))),
            (
                "--iters",
                self.iters as usize,
                if self.test.is_latency() { 3 } else { 1 },
                MOST_ITERATIONS as usize,
            ),
            ("--tx-depth", self.tx_depth, 1, MOST_POSTED),
            ("--rx-depth", self.rx_depth, 2, MOST_POSTED),
            ("QPs times depth", posted, 1, MOST_POSTED.min(capabilities.ring_entries)),
            ("--outs", self.outs.into(), 1, 16),
            ("--qp-timeout", self.qp_timeout.into(), 0, 31),
        ];
        match limits.into_iter().find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => refuse(format!("{name} {value}: want {least} to {most}")),
            None => Ok(()),
        }
    }
}
