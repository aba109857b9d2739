// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs on two live NICs in one process, joined by a socket: Verilated engines, and a Verilated one with a golden one.

use clap::Parser;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;
use verbena_programs::{perftest, pingpong, rping, ucmatose, Error, Host};
use verbena_sim::command::programs::LiveHost;
use verbena_sim::live::{EngineKind, LinkOptions, LiveNic, LiveOptions};

#[derive(Parser)]
struct Line<T: clap::Args> {
    #[command(flatten)]
    options: T,
}

fn options<T: clap::Args>(line: &str) -> T {
    let words = ["program"].into_iter().chain(line.split_whitespace());
    Line::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}")).options
}

fn host(number: u8, engine: EngineKind, cable: UnixStream) -> Result<LiveHost, Error> {
    let options = LiveOptions {
        engine,
        mac: [0x02, 0x56, 0x42, 0x4e, 0x41, number],
        ip: Ipv4Addr::new(10, 0, 0, number),
        seed: number.into(),
        ..LiveOptions::new(LinkOptions::Stream(cable))
    };
    let nic = LiveNic::open(options).map_err(|e| Error::Host(format!("{e:#}")))?;
    Ok(LiveHost::new(nic))
}

/// Runs a program on each; the client tries again while nobody listens yet.
fn both<A: Send, B: Send>(
    engines: [EngineKind; 2],
    server: impl FnOnce(&mut LiveHost) -> Result<A, Error> + Send,
    client: impl Fn(&mut LiveHost) -> Result<B, Error> + Send,
) -> (A, B) {
    let (left, right) = UnixStream::pair().unwrap();
    let (served, done) = thread::scope(|scope| {
        let server = scope.spawn(move || server(&mut host(1, engines[0], left)?));
        let client = scope.spawn(move || {
            let mut host = host(2, engines[1], right)?;
            let mut tries = 0;
            loop {
                match client(&mut host) {
                    Err(Error::Socket { .. } | Error::Rejected { .. } | Error::Unresolved(_)) if tries < 400 => {
                        tries += 1;
                        host.turn()?;
                        thread::sleep(Duration::from_millis(20));
                    }
                    other => return other,
                }
            }
        });
        (server.join().unwrap(), client.join().unwrap())
    });
    let told = |side: &str, e: Error| -> ! { panic!("{side}: {e}") };
    (
        served.unwrap_or_else(|e| told("server", e)),
        done.unwrap_or_else(|e| told("client", e)),
    )
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

const VERILATED: [EngineKind; 2] = [EngineKind::Verilated; 2];
const MIXED: [[EngineKind; 2]; 2] = [
    [EngineKind::Verilated, EngineKind::Golden],
    [EngineKind::Golden, EngineKind::Verilated],
];

/// READ and ATOMIC are there.
fn answers(engine: EngineKind) -> bool {
    let (left, _right) = UnixStream::pair().unwrap();
    host(1, engine, left).unwrap().device().capabilities().read_atomic
}

#[test]
fn pingpong_of_every_service() {
    for line in ["-n 6 -s 3000 -m 256 -c", "-t uc -n 6 -s 2500 -c", "-t ud -n 6 -s 700 -c"] {
        for engines in [VERILATED, MIXED[0], MIXED[1]] {
            let port = free_port();
            let side = |server: Option<&str>| pingpong::Options {
                server: server.map(Into::into),
                port,
                ..options(line)
            };
            let (a, b) = both(
                engines,
                |host| pingpong::run(host, &side(None), &mut std::io::sink()),
                |host| pingpong::run(host, &side(Some("127.0.0.1")), &mut std::io::sink()),
            );
            assert_eq!((a.checked, b.checked), (6, 6), "{line}");
        }
    }
}

#[test]
fn perftest_of_what_the_engine_has() {
    let mut lines = vec![
        "write-bw -s 3000 -n 8 -q 2",
        "send-bw -s 3000 -n 8 -r 16",
        "write-lat -n 6",
        "send-lat -n 6 -c UD -s 100",
    ];
    if answers(EngineKind::Verilated) {
        lines.extend([
            "read-bw -s 3000 -n 8 -q 2",
            "read-lat -n 6",
            "atomic-bw -n 12",
            "atomic-bw -n 12 -A CMP_AND_SWAP",
        ]);
    }
    for line in lines {
        let port = free_port();
        let side = |server: Option<&str>| perftest::Options {
            server: server.map(Into::into),
            port,
            ..options(line)
        };
        both(
            VERILATED,
            |host| perftest::run(host, &side(None), &mut std::io::sink()),
            |host| perftest::run(host, &side(Some("127.0.0.1")), &mut std::io::sink()),
        );
    }
}

#[test]
fn connections_by_the_connection_manager() {
    let (a, b) = both(
        VERILATED,
        |host| ucmatose::run(host, &options("-c 2 -C 3"), &mut std::io::sink()),
        |host| ucmatose::run(host, &options("-c 2 -C 3 -s 10.0.0.1"), &mut std::io::sink()),
    );
    assert_eq!((a.received, b.received), (6, 6));
    if answers(EngineKind::Verilated) {
        let (a, b) = both(
            VERILATED,
            |host| rping::run(host, &options("-s"), &mut std::io::sink()),
            |host| rping::run(host, &options("-c -a 10.0.0.1 -C 3 -V -S 1000"), &mut std::io::sink()),
        );
        assert_eq!((a.pings, b.validated), (3, 3));
    }
}
