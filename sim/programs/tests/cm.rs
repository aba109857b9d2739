// SPDX-License-Identifier: MIT OR Apache-2.0
//! rping and ucmatose over the connection manager, both sides of each.

mod common;

use clap::Parser;
use common::{bad_wire, both};
use std::time::Duration;
use verbena_cm::Reason;
use verbena_model::wire::Faults;
use verbena_programs::{rping, ucmatose, Error};

#[derive(Parser)]
struct Rping {
    #[command(flatten)]
    options: rping::Options,
}

#[derive(Parser)]
struct Ucmatose {
    #[command(flatten)]
    options: ucmatose::Options,
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    ["x"].into_iter().chain(line.split_whitespace())
}

fn pings(line: &str, seed: u64) -> rping::Options {
    let options = Rping::try_parse_from(words(line)).unwrap_or_else(|e| panic!("{line}: {e}")).options;
    rping::Options { seed, ..options }
}

fn cmatose(line: &str, seed: u64) -> ucmatose::Options {
    let options = Ucmatose::try_parse_from(words(line)).unwrap().options;
    ucmatose::Options { seed, ..options }
}

type Ended<T> = (Result<T, Error>, Result<T, Error>, [String; 2]);

fn rping(faults: Faults, server: &str, client: &str) -> Ended<rping::Report> {
    let (server, client) = (pings(server, 1), pings(client, 2));
    let (mut server_says, mut client_says) = (vec![], vec![]);
    let (a, b) = both(
        3,
        faults,
        |host| rping::run(host, &server, &mut server_says),
        |host| {
            host.set_patience(Duration::from_secs(20));
            // The server listens by then.
            std::thread::sleep(Duration::from_millis(200));
            rping::run(host, &client, &mut client_says)
        },
    );
    (a, b, [server_says, client_says].map(|s| String::from_utf8(s).unwrap()))
}

#[test]
fn rping_shows_and_validates() {
    let (a, b, said) = rping(Faults::default(), "-s -v", "-c -a 10.0.0.1 -C 4 -v -V");
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.pings, b.pings, b.validated), (4, 4, 4));
    let text = "rdma-ping-2: CDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrst\n";
    assert!(said[0].contains(&format!("server ping data: {text}")), "{}", said[0]);
    assert!(said[1].contains(&format!("ping data: {text}")), "{}", said[1]);
}

#[test]
fn rping_of_every_size_on_a_bad_wire() {
    for size in [26, 5000, 65535] {
        let client = format!("-c -a 10.0.0.1 -C 3 -V -S {size}");
        let (a, b, _) = rping(bad_wire(), "-s", &client);
        assert_eq!((a.unwrap().pings, b.unwrap().validated), (3, 3), "{size}");
    }
}

#[test]
fn a_hundred_connections_in_a_row() {
    let (a, b, _) = rping(
        Faults::default(),
        "-s --connections 100",
        "-c -a 10.0.0.1 -C 1 -V --connections 100",
    );
    assert_eq!((a.unwrap().connections, b.unwrap().connections), (100, 100));
}

#[test]
fn nobody_listens_there() {
    let (_, b, _) = rping(Faults::default(), "-s --wait 2 -p 7000", "-c -a 10.0.0.1 -p 7001");
    assert!(
        matches!(
            b,
            Err(Error::Rejected {
                reason: Reason::INVALID_SERVICE_ID,
                ..
            })
        ),
        "{b:?}"
    );
}

#[test]
fn nobody_is_there() {
    let (_, b) = both(
        0,
        Faults::default(),
        |_| Ok(()),
        |host| {
            host.set_patience(Duration::from_millis(100));
            rping::run(host, &pings("-c -a 10.0.0.77", 0), &mut vec![])
        },
    );
    assert!(matches!(b, Err(Error::Unresolved(_))), "{b:?}");
}

#[test]
fn ucmatose_several_connections() {
    for line in ["", "-c 5 -C 4 -S 300", "-C 1 -S 0"] {
        let (server, client) = (cmatose(line, 1), cmatose(&format!("{line} -s 10.0.0.1"), 2));
        let all = server.connections * server.count;
        let mut said = vec![];
        let (a, b) = both(
            5,
            Faults::default(),
            |host| ucmatose::run(host, &server, &mut said),
            |host| {
                std::thread::sleep(Duration::from_millis(200));
                ucmatose::run(host, &client, &mut vec![])
            },
        );
        for report in [a.unwrap(), b.unwrap()] {
            assert_eq!((report.sent, report.received), (all, all), "{line}");
        }
        let said = String::from_utf8(said).unwrap();
        assert!(said.starts_with("cmatose: starting server\ninitiating data transfers\n"), "{said}");
        assert!(said.ends_with("disconnected\ntest complete\nreturn status 0\n"), "{said}");
    }
}

#[test]
fn nonsense_is_refused() {
    for line in ["", "-s -c -a 10.0.0.1", "-c", "-c -a ten"] {
        assert!(Rping::try_parse_from(words(line)).is_err(), "{line}");
    }
    for line in ["-s -S 25", "-s -S 65536", "-c -a 10.0.0.1 -C 0"] {
        let (said, _) = both(
            0,
            Faults::default(),
            |host| rping::run(host, &pings(line, 0), &mut vec![]),
            |_| Ok(()),
        );
        assert!(matches!(said, Err(Error::Usage(_))), "{line}: {said:?}");
    }
}
