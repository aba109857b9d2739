// SPDX-License-Identifier: MIT OR Apache-2.0
//! Ping-pong's two sides against each other.

mod common;

use clap::Parser;
use common::{bad_wire, both, free_port};
use std::time::Duration;
use verbena_model::wire::Faults;
use verbena_programs::pingpong::{run, Options, Report};
use verbena_programs::Error;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn options(line: &str, server: Option<&str>, port: u16) -> Options {
    let words = ["pingpong"].into_iter().chain(line.split_whitespace());
    let mut options = Line::try_parse_from(words).unwrap().options;
    (options.server, options.port) = (server.map(Into::into), port);
    options.seed = 7 + u64::from(server.is_some());
    options
}

/// Longer than any pause on a busy machine.
const PATIENCE: Duration = Duration::from_secs(5);

struct Game {
    reports: [Result<Report, Error>; 2],
    said: [String; 2],
}

fn play(faults: Faults, server: &str, client: &str) -> Game {
    play_with(PATIENCE, faults, server, client)
}

fn play_with(patience: Duration, faults: Faults, server: &str, client: &str) -> Game {
    let port = free_port();
    let (server, client) = (options(server, None, port), options(client, Some("127.0.0.1"), port));
    let mut said = [vec![], vec![]];
    let [server_says, client_says] = &mut said;
    let (a, b) = both(
        1,
        faults,
        |host| run(host, &server, server_says),
        |host| {
            host.set_patience(patience);
            // The server listens a moment after its engine is open.
            let mut tries = 0;
            loop {
                match run(host, &client, client_says) {
                    Err(Error::Socket { .. }) if tries < 200 => {
                        tries += 1;
                        client_says.clear();
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    other => return other,
                }
            }
        },
    );
    Game {
        reports: [a, b],
        said: said.map(|s| String::from_utf8(s).unwrap()),
    }
}

fn good(faults: Faults, line: &str) -> Game {
    let game = play(faults, line, line);
    for report in &game.reports {
        report.as_ref().unwrap_or_else(|e| panic!("{line}: {e}"));
    }
    game
}

#[test]
fn rc_of_every_size_and_mtu_with_every_byte_checked() {
    for mtu in [256, 1024, 4096] {
        for size in [0, 1, 4096, 65537] {
            let game = good(Faults::default(), &format!("-n 20 -m {mtu} -s {size} -c -r 10"));
            for report in game.reports {
                let report = report.unwrap();
                assert_eq!((report.bytes, report.iterations, report.checked), (40 * size, 20, 20));
            }
        }
    }
}

#[test]
fn uc_and_ud() {
    good(Faults::default(), "-t uc -n 50 -s 3000 -c");
    let game = good(Faults::default(), "-t ud -n 50 -s 1000 -c");
    assert!(game.said[0].contains(": GID ::ffff:10.0.0.1"), "{}", game.said[0]);
    assert!(game.said[0].contains(", GID ::ffff:10.0.0.2"), "{}", game.said[0]);
}

#[test]
fn rc_on_a_bad_wire() {
    let game = good(bad_wire(), "-n 30 -s 9000 -m 256 -c --timeout 10");
    assert!(game.reports.iter().all(|r| r.as_ref().unwrap().checked == 30));
}

#[test]
fn the_lines_are_the_tools() {
    let game = good(Faults::default(), "-n 10 -s 100");
    let lines: Vec<&str> = game.said[1].lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("  local address:  LID 0x0000, QPN 0x"), "{}", lines[0]);
    assert!(lines[0].ends_with(", GID ::ffff:10.0.0.2"), "{}", lines[0]);
    assert!(lines[1].starts_with("  remote address: LID 0x0000, QPN 0x"), "{}", lines[1]);
    assert!(
        lines[2].starts_with("2000 bytes in ") && lines[2].ends_with(" Mbit/sec"),
        "{}",
        lines[2]
    );
    assert!(
        lines[3].starts_with("10 iters in ") && lines[3].ends_with(" usec/iter"),
        "{}",
        lines[3]
    );
}

#[test]
fn unequal_sides_are_told() {
    // The server tells; the client waits for it in vain.
    let vain = Duration::from_millis(500);
    let game = play_with(vain, Faults::default(), "-n 3 -s 100 -c", "-n 3 -s 100");
    assert!(matches!(game.reports[0], Err(Error::Data { at: 0, .. })), "{:?}", game.reports[0]);
    let game = play_with(vain, Faults::default(), "-n 3 -s 200", "-n 3 -s 100");
    assert!(matches!(game.reports[0], Err(Error::Protocol { .. })), "{:?}", game.reports[0]);
}

#[test]
fn nonsense_is_refused_before_anything_is_opened() {
    for line in ["-m 1000", "-t ud -s 1025", "-n 0", "-r 1", "-s 9000000", "--timeout 32"] {
        let (said, _) = both(
            0,
            Faults::default(),
            |host| run(host, &options(line, None, 1), &mut vec![]),
            |_| Ok(()),
        );
        assert!(matches!(said, Err(Error::Usage(_))), "{line}: {said:?}");
    }
}
