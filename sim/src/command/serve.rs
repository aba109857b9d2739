// SPDX-License-Identifier: MIT OR Apache-2.0
//! `hca-sim serve`: the engine as a live NIC, until it is stopped.

use super::Common;
use crate::interop::probe::{server, Manner};
use crate::live::{LiveArgs, LiveNic, Summary, Talk};
use anyhow::Result;
use clap::Args;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use verbena_verbs::{Gid, Mac};

/// The engine as a live NIC on a unix socket or a TAP, with MAC and IP of its own: answers ARP and ping, and RoCE as the engine does.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hca-sim serve --listen /tmp/eth0.sock          (qemu: -netdev stream,id=n0,server=off,addr.type=unix,addr.path=/tmp/eth0.sock)\n  hca-sim serve --socket /tmp/eth0.sock --engine golden --for 60\n  hca-sim serve --tap tap0 --ip 192.168.7.2/24 --pcap live.pcap --loss 2% --corrupt 1%"
)]
pub struct Serve {
    #[command(flatten)]
    live: LiveArgs,
    /// End after so many seconds [default: on SIGINT or SIGTERM]
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    limit: Option<Duration>,
    /// Serve the clients of `probe` that connect here, one after the other
    #[arg(long, value_name = "ADDRESS:PORT")]
    responder: Option<SocketAddr>,
}

/// How long a client of the responder may be silent.
const SILENCE: Duration = Duration::from_secs(60);

fn seconds(text: &str) -> Result<Duration, String> {
    let bad = || "want a number of seconds above 0, 60 or 2.5 for example".to_string();
    let value: f64 = text.parse().map_err(|_| bad())?;
    if value > 0.0 && value <= 1e9 {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(bad())
    }
}

impl Serve {
    pub fn run(&self, common: &Common) -> Result<bool> {
        let mut nic = self.live.open(common)?;
        eprintln!("{}", title(&mut nic, &self.live, common));
        let start = Instant::now();
        let limit = self.limit.unwrap_or(Duration::MAX);
        let listener = self.responder.map(Talk::listen).transpose()?;
        let (mut served, mut failed) = (0, 0);
        while !nic.is_stopped() && start.elapsed() < limit {
            let step = (limit - start.elapsed()).min(Duration::from_secs(1));
            if let Some(listener) = &listener {
                if let Some(talk) = Talk::accept_from(&mut nic, listener, step)? {
                    let good = serve_one(&mut nic, talk);
                    served += 1;
                    failed += u32::from(!good);
                }
            } else {
                nic.run_for(step)?;
            }
            while nic.device().poll_event()?.is_some() {}
        }
        if listener.is_some() && !common.json {
            println!("{served} clients, {failed} of them not to the end");
        }
        report(&nic.summary()?, "serve", start.elapsed(), common);
        Ok(true)
    }
}

/// Serves a client. One that fails, or goes away, is no reason to end.
fn serve_one(nic: &mut LiveNic, mut talk: Talk) -> bool {
    talk.set_limit(SILENCE);
    match server(Manner::default(), nic, talk) {
        Ok(wrong) => {
            wrong.iter().for_each(|line| eprintln!("responder: {line}"));
            wrong.is_empty()
        }
        Err(error) => {
            eprintln!("responder: {error:#}");
            false
        }
    }
}

/// The line that says who we are.
pub fn title(nic: &mut LiveNic, live: &LiveArgs, common: &Common) -> String {
    let place = match (&live.socket, &live.listen, &live.tap) {
        (Some(path), ..) => format!("connecting to {}", path.display()),
        (_, Some(path), _) => format!("listening at {}", path.display()),
        (.., tap) => format!("TAP {}", tap.as_deref().unwrap_or_default()),
    };
    let (ip, gid, mac) = (nic.ip(), text(nic.gid()), colons(nic.mac()));
    let engine = format!("{:?}", live.engine).to_lowercase();
    format!(
        "Verbena at {ip}, GID {gid}, MAC {mac}; {engine} engine, {place}, seed {}",
        common.seed
    )
}

fn text(gid: Gid) -> String {
    std::net::Ipv6Addr::from(gid.0).to_string()
}

fn colons(mac: Mac) -> String {
    mac.map(|b| format!("{b:02x}")).join(":")
}

/// What happened, as a table or JSON.
pub fn report(summary: &Summary, command: &str, time: Duration, common: &Common) {
    if common.json {
        let seconds = time.as_secs_f64();
        println!(
            "{}",
            serde_json::json!({ "command": command, "seed": common.seed, "seconds": seconds, "summary": summary })
        );
        return;
    }
    let parts = [
        ("link", serde_json::to_value(summary.link)),
        ("host", serde_json::to_value(summary.host)),
        ("faults in", serde_json::to_value(summary.faults_in)),
        ("faults out", serde_json::to_value(summary.faults_out)),
        ("engine", serde_json::to_value(&summary.counters)),
    ];
    println!("{:.1} s; counters that are not 0:", time.as_secs_f64());
    for (part, values) in parts {
        let Ok(serde_json::Value::Object(values)) = values else { continue };
        for (name, value) in values.iter().filter(|(_, v)| v.as_u64() != Some(0)) {
            println!("  {part:10} {name:28} {value:>10}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_above_zero() {
        assert_eq!(seconds("2.5"), Ok(Duration::from_millis(2500)));
        for bad in ["0", "-1", "x", "", "NaN", "inf", "1e10"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
    }
}
