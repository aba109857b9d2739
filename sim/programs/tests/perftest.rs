// SPDX-License-Identifier: MIT OR Apache-2.0
//! perftest's two sides against each other.

mod common;

use clap::Parser;
use common::{bad_wire, both, free_port};
use std::time::Duration;
use verbena_model::wire::Faults;
use verbena_programs::perftest::{run, Options, Report};
use verbena_programs::Error;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn options(line: &str, server: Option<&str>, port: u16) -> Options {
    let words = ["perftest"].into_iter().chain(line.split_whitespace());
    let mut options = Line::try_parse_from(words).unwrap_or_else(|e| panic!("{line}: {e}")).options;
    (options.server, options.port, options.seed) = (server.map(Into::into), port, 3 + u64::from(server.is_some()));
    options
}

struct Ran {
    server: Result<Report, Error>,
    client: Result<Report, Error>,
    said: String,
}

fn test(faults: Faults, server: &str, client: &str) -> Ran {
    let port = free_port();
    let (server, client) = (options(server, None, port), options(client, Some("127.0.0.1"), port));
    let mut said = vec![];
    let (server, client) = both(
        1,
        faults,
        |host| run(host, &server, &mut vec![]),
        |host| {
            let mut tries = 0;
            loop {
                match run(host, &client, &mut said) {
                    // The server listens a moment after its engine is open.
                    Err(Error::Socket { .. }) if tries < 200 => {
                        tries += 1;
                        said.clear();
                        std::thread::sleep(Duration::from_millis(10));
                    }
                    other => return other,
                }
            }
        },
    );
    Ran {
        server,
        client,
        said: String::from_utf8(said).unwrap(),
    }
}

fn good(faults: Faults, line: &str) -> Ran {
    let ran = test(faults, line, line);
    for (side, report) in [("client", &ran.client), ("server", &ran.server)] {
        report.as_ref().unwrap_or_else(|e| panic!("{line}: {side}: {e}"));
    }
    ran
}

#[test]
fn bandwidth_of_every_kind_and_service() {
    for line in [
        "write-bw -s 5000 -n 50",
        "write-bw -s 64 -n 200",
        "write-bw -s 3000 -n 50 -c UC",
        "read-bw -s 5000 -n 50 -m 256",
        "read-bw -s 1 -n 50 -o 1",
        "send-bw -s 5000 -n 50 -m 4096",
        "send-bw -s 2000 -n 50 -c UC",
        "send-bw -s 1000 -n 50 -c UD",
        "atomic-bw -n 50",
        "atomic-bw -n 50 -A CMP_AND_SWAP",
    ] {
        let ran = good(Faults::default(), line);
        let Ok(Report::Bandwidth {
            iterations,
            bytes,
            average,
            ..
        }) = ran.client
        else {
            panic!("{line}: {:?}", ran.client)
        };
        assert!(average > 0.0 && iterations >= 50 && bytes > 0, "{line}");
        // The passive side tells what the active one measured; of SENDs its own.
        let Ok(Report::Bandwidth {
            iterations: there,
            average: theirs,
            ..
        }) = ran.server
        else {
            panic!("{line}")
        };
        assert_eq!(there, iterations);
        assert!(line.starts_with("send") || theirs == average, "{line}");
    }
}

#[test]
fn several_qps() {
    for line in [
        "write-bw -s 5000 -n 20 -q 4",
        "read-bw -s 3000 -n 20 -q 3",
        "send-bw -s 100 -n 20 -q 8 -r 16",
        "atomic-bw -n 20 -q 2",
    ] {
        let ran = good(Faults::default(), line);
        let Ok(Report::Bandwidth { iterations, .. }) = ran.client else {
            panic!()
        };
        assert_eq!(iterations % 20, 0);
        assert!(iterations >= 40, "{line}");
    }
}

#[test]
fn latency_of_every_kind() {
    for line in [
        "write-lat -n 300",
        "write-lat -s 3000 -n 30",
        "write-lat -s 8 -n 30 -c UC",
        "read-lat -n 50",
        "send-lat -n 50",
        "send-lat -s 100 -n 50 -c UC",
        "send-lat -s 100 -n 50 -c UD",
        "atomic-lat -n 50",
    ] {
        let ran = good(Faults::default(), line);
        let Ok(Report::Latency {
            iterations,
            least,
            typical,
            most,
            ..
        }) = ran.client
        else {
            panic!("{line}")
        };
        assert!(iterations >= 30 && least > 0.0 && least <= typical && typical <= most, "{line}");
    }
}

#[test]
fn on_a_bad_wire() {
    for line in [
        "write-bw -s 9000 -n 30 -m 256 -u 12",
        "read-bw -s 9000 -n 30 -m 256 -u 12 -q 2",
        "send-bw -s 9000 -n 30 -m 256 -u 12",
        "atomic-bw -n 100 -u 12",
        "write-lat -n 30 -u 12",
        "send-lat -n 30 -u 12",
    ] {
        good(bad_wire(), line);
    }
}

#[test]
fn the_table_is_the_tools() {
    let said = good(Faults::default(), "read-bw -s 1000 -n 10").said;
    let lines: Vec<&str> = said.lines().collect();
    assert!(said.contains("\n                    RDMA_Read BW Test\n"), "{said}");
    assert!(
        said.contains(" Number of qps   : 1\t\tTransport type : IB\n Connection type : RC\t\tUsing SRQ      : OFF\n"),
        "{said}"
    );
    assert!(said.contains(" Outstand reads  : 16\n"), "{said}");
    let local = lines
        .iter()
        .find(|l| l.starts_with(" local address: LID 0000 QPN 0x1002 PSN 0x"))
        .unwrap();
    assert!(local.contains(" OUT 0x10 RKey 0x") && local.contains(" VAddr 0x"), "{local}");
    assert!(said.contains(" GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:00:00:02\n"), "{said}");
    let at = lines
        .iter()
        .position(|l| *l == " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]");
    let row = lines[at.unwrap() + 1];
    assert!(row.starts_with(" 1000       10               "), "{row:?}");
    assert_eq!(row.split_whitespace().count(), 5);
}

/// Both sides have to agree; who doesn't is told.
#[test]
fn unequal_sides_are_told() {
    let ran = test(Faults::default(), "send-bw -s 100 -n 5", "send-bw -s 50 -n 5");
    assert!(matches!(ran.server, Err(Error::Protocol { .. })), "{:?}", ran.server);
    // The peer reaches beyond what the server has registered.
    let ran = test(Faults::default(), "write-bw -s 64 -n 5", "write-bw -s 65536 -n 5");
    assert!(matches!(ran.client, Err(Error::Completion { .. })), "{:?}", ran.client);
    assert!(ran.server.is_err());
}

#[test]
fn nonsense_is_refused_before_anything_is_opened() {
    for line in [
        "write-bw -m 1000",
        "write-bw -c UD",
        "read-bw -c UC",
        "send-bw -c UD -s 1025",
        "send-lat -q 2",
        "atomic-bw -s 16",
        "write-bw -n 0",
        "write-bw -q 65",
        "write-bw -q 64 -t 4096",
        "write-bw -s 9000000",
        "write-lat -s 0",
        "read-bw -o 17",
        "write-bw -u 32",
    ] {
        let (said, _) = both(
            0,
            Faults::default(),
            |host| run(host, &options(line, None, 1), &mut vec![]),
            |_| Ok(()),
        );
        assert!(matches!(said, Err(Error::Usage(_))), "{line}: {said:?}");
    }
}
