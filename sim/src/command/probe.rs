// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim probe`: a list of odd operations with a peer that runs the same list.

use super::serve::{report, title};
use super::Common;
use crate::interop::operations::Operation;
use crate::interop::probe::{client, server, transport, Manner, Plan};
use crate::live::{LiveArgs, Talk};
use anyhow::{Context, Result};
use clap::Args;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use verbena_verbs::PathMtu;

/// One QP, a list of operations, every byte and completion checked; the peer runs scripts/interop/probe.c, or this.
#[derive(Debug, Args)]
#[command(
    after_help = "Operations, with commas, NAME[:LENGTH][*TIMES]: send send-imm send-inv write write-imm read cas fadd, and such as must fail, as the last:\nbad-key-write bad-key-read bad-key-cas over-write over-read long-send\n\nExample:\n  hca-sim probe --socket /tmp/eth0.sock --server 127.0.0.1:18600\n  (in the guest: probe -o send:0,write:4097,read:3,cas 10.0.2.2)"
)]
pub struct ProbeCommand {
    #[command(flatten)]
    live: LiveArgs,
    /// What to do, as the client; a server is told by its client
    #[arg(long, short = 'o', value_name = "LIST", requires = "client")]
    operations: Option<String>,
    /// Wait for the client's TCP connection here
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "client", required_unless_present = "client")]
    server: Option<SocketAddr>,
    /// Be the client of the server whose TCP port is here
    #[arg(long, value_name = "ADDRESS:PORT", requires = "operations")]
    client: Option<SocketAddr>,
    /// Client: rc, uc or ud
    #[arg(long, value_name = "NAME", default_value = "rc")]
    transport: String,
    /// Client: path MTU, bytes
    #[arg(long, value_name = "BYTES", default_value = "1024")]
    pmtu: usize,
    /// Local ACK timeout, 4.096 us times 2^CODE
    #[arg(long, value_name = "CODE", default_value = "14", value_parser = clap::value_parser!(u8).range(0..=31))]
    timeout: u8,
    /// Time that our RNR NAKs ask for
    #[arg(long, value_name = "CODE", default_value = "12", value_parser = clap::value_parser!(u8).range(0..=31))]
    rnr_timer: u8,
    /// Server: post the receives so many ms late
    #[arg(long, value_name = "MS", default_value = "0")]
    late: u64,
    /// How long to wait for the peer's program, s
    #[arg(long, value_name = "SECONDS", default_value = "90")]
    patience: u64,
}

impl ProbeCommand {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let manner = Manner {
            timeout: self.timeout,
            rnr_timer: self.rnr_timer,
            late: Duration::from_millis(self.late),
        };
        let plan = self.operations.as_ref().map(|list| self.plan(list)).transpose()?;
        let mut nic = self.live.open(common)?;
        eprintln!("{}", title(&mut nic, &self.live, common));
        let (start, patience) = (Instant::now(), Duration::from_secs(self.patience));
        let wrong = match (&plan, self.server, self.client) {
            (Some(plan), _, Some(address)) => {
                let talk = Talk::connect(&mut nic, address, patience)?;
                client(plan, manner, &mut nic, talk)?
            }
            (_, Some(address), _) => {
                let talk = Talk::accept(&mut nic, address, patience)?;
                server(manner, &mut nic, talk)?
            }
            _ => anyhow::bail!("one of --server and --client is needed"),
        };
        for line in &wrong {
            eprintln!("{line}");
        }
        report(&nic.summary()?, "probe", start.elapsed(), common);
        if !common.json {
            println!("{} wrong", wrong.len());
        }
        Ok(wrong.is_empty())
    }

    fn plan(&self, list: &str) -> Result<Plan> {
        let pmtu = PathMtu::from_bytes(self.pmtu);
        Ok(Plan {
            operations: Operation::parse_list(list).context("--operations")?,
            transport: transport(&self.transport).context("--transport")?,
            pmtu: pmtu.with_context(|| format!("--pmtu {}: use 256, 512, 1024, 2048 or 4096", self.pmtu))?,
        })
    }
}
