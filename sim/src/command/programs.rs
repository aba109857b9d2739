// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim pingpong`, `perftest`, `rping`, `ucmatose`: the programs of `verbena-programs` on a live NIC.

use super::serve::{report, title};
use super::Common;
use crate::held::NotHeld;
use crate::live::{LiveArgs, LiveEngine, LiveNic};
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};
use verbena_programs::{perftest, pingpong, rping, ucmatose, Error, Host};
use verbena_verbs::{Device, Gid, Mac};

/// Longest sleep while nothing happens.
const NAP: Duration = Duration::from_millis(1);
/// A MAC that isn't known is asked for, and this long waited for, each time that the program asks.
const ARP_WAIT: Duration = Duration::from_millis(50);

/// A live NIC as a program sees it; time is wall time.
pub struct LiveHost {
    pub nic: LiveNic,
    start: Instant,
}

impl LiveHost {
    pub fn new(nic: LiveNic) -> LiveHost {
        LiveHost {
            nic,
            start: Instant::now(),
        }
    }
}

fn failed(error: anyhow::Error) -> Error {
    Error::Host(format!("{error:#}"))
}

impl Host for LiveHost {
    type Machine = LiveEngine;

    fn device(&mut self) -> &mut Device<LiveEngine> {
        self.nic.device()
    }

    fn gid(&self) -> Gid {
        self.nic.gid()
    }

    fn turn(&mut self) -> Result<(), Error> {
        if self.nic.is_stopped() {
            return Err(Error::Host("stopped by a signal".into()));
        }
        if !self.nic.poll().map_err(failed)? {
            self.nic.wait(NAP);
        }
        Ok(())
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn resolve(&mut self, to: Gid) -> Result<Option<Mac>, Error> {
        let v6 = std::net::Ipv6Addr::from(to.0);
        let address = v6.to_ipv4_mapped().map_or(v6.into(), Into::into);
        // Nobody yet; who never answers becomes the program's error.
        Ok(self.nic.resolve(address, ARP_WAIT).ok())
    }
}

/// Opens the NIC, runs the program, says how it went.
fn run<R: Serialize>(
    live: &LiveArgs,
    common: &Common,
    name: &str,
    program: impl FnOnce(&mut LiveHost, &mut dyn Write) -> Result<R, Error>,
) -> Result<bool> {
    let start = Instant::now();
    let mut host = LiveHost::new(live.open(common)?);
    if !common.json {
        println!("{}", title(&mut host.nic, live, common));
    }
    let mut silent = std::io::sink();
    let mut loud = std::io::stdout();
    let out: &mut dyn Write = if common.json { &mut silent } else { &mut loud };
    let ended = program(&mut host, out);
    let summary = host.nic.summary()?;
    match &ended {
        Ok(result) if common.json => {
            let line = serde_json::json!({ "command": name, "seed": common.seed, "report": result, "summary": summary });
            println!("{line}");
        }
        Ok(_) => {}
        // What the engine counted helps to find out why.
        Err(_) => report(&summary, name, start.elapsed(), common),
    }
    match ended {
        Ok(_) => Ok(true),
        Err(
            error @ (Error::Data { .. } | Error::Completion { .. } | Error::Timeout { .. } | Error::Closed(_) | Error::Protocol { .. }),
        ) => Err(anyhow::Error::new(NotHeld(error.to_string()))),
        Err(error @ (Error::Rejected { .. } | Error::Unreachable { .. })) => Err(anyhow::Error::new(NotHeld(error.to_string()))),
        Err(error) => Err(error.into()),
    }
}

/// Plays ping-pong with ibv_rc_pingpong, ibv_uc_pingpong or ibv_ud_pingpong, or with itself.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim pingpong --socket /tmp/eth0.sock -n 100 -s 4096 -c             (peer: ibv_rc_pingpong -d rxe0 -g 1 -n 100 -s 4096 -c 10.0.2.2)\n  hca-sim pingpong --socket /tmp/eth0.sock --port 18516 127.0.0.1 -t ud    (peer: ibv_ud_pingpong -d rxe0 -g 1 -s 1024)"
)]
pub struct Pingpong {
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    options: pingpong::Options,
}

impl Pingpong {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut options = self.options.clone();
        options.seed = common.seed;
        run(&self.live, common, "pingpong", |host, out| pingpong::run(host, &options, out))
    }
}

/// Plays either side of perftest's ib_write_bw, ib_write_lat, ib_read_bw, ib_read_lat, ib_send_bw, ib_send_lat, ib_atomic_bw, ib_atomic_lat.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim perftest --socket /tmp/eth0.sock write-bw -n 100 -s 4096 -q 2              (peer: ib_write_bw -d rxe0 -x 1 -F -n 100 -s 4096 -q 2 10.0.2.2)\n  hca-sim perftest --socket /tmp/eth0.sock read-lat -n 100 --port 18516 127.0.0.1    (peer: ib_read_lat -d rxe0 -x 1 -F -n 100)"
)]
pub struct Perftest {
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    options: perftest::Options,
}

impl Perftest {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut options = self.options.clone();
        options.seed = common.seed;
        run(&self.live, common, "perftest", |host, out| perftest::run(host, &options, out))
    }
}

/// Plays either side of rping: connected by the connection manager, SEND, READ and WRITE.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim rping --socket /tmp/eth0.sock -s -v                       (peer: rping -c -a 10.0.0.2 -C 10 -v -V)\n  hca-sim rping --socket /tmp/eth0.sock -c -a 10.0.0.1 -C 10 -v -V   (peer: rping -s -v)"
)]
pub struct Rping {
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    options: rping::Options,
}

impl Rping {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut options = self.options.clone();
        options.seed = common.seed;
        run(&self.live, common, "rping", |host, out| rping::run(host, &options, out))
    }
}

/// Plays either side of ucmatose: several connections by the connection manager, messages both ways.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim ucmatose --socket /tmp/eth0.sock -c 5               (peer: ucmatose -s 10.0.0.2 -c 5)\n  hca-sim ucmatose --socket /tmp/eth0.sock -s 10.0.0.1 -C 4    (peer: ucmatose -C 4)"
)]
pub struct Ucmatose {
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    options: ucmatose::Options,
}

impl Ucmatose {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut options = self.options.clone();
        options.seed = common.seed;
        run(&self.live, common, "ucmatose", |host, out| ucmatose::run(host, &options, out))
    }
}
