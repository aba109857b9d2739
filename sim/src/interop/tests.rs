// SPDX-License-Identifier: MIT OR Apache-2.0
//! `probe` against itself: two golden engines on one cable, a thread each.

use super::guest::free_port;
use super::operations::Operation;
use super::probe::{client, server, Manner, Plan};
use crate::live::{EngineKind, LinkOptions, LiveNic, LiveOptions, Talk};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use verbena_model::wire::Faults;
use verbena_verbs::{PathMtu, Transport};

const LIMIT: Duration = Duration::from_secs(30);

fn nic(stream: UnixStream, number: u8, faults: Faults) -> LiveNic {
    LiveNic::open(LiveOptions {
        engine: EngineKind::Golden,
        mac: [2, 0, 0, 0, 0, number],
        ip: Ipv4Addr::new(10, 0, 0, number),
        faults,
        ..LiveOptions::new(LinkOptions::Stream(stream))
    })
    .unwrap()
}

/// What both sides found wrong.
fn run(list: &str, transport: Transport, late: u64, faults: Faults) -> Vec<String> {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let plan = Plan {
        operations: Operation::parse_list(list).unwrap(),
        transport,
        pmtu: PathMtu::Mtu1024,
    };
    let address: SocketAddr = ([127, 0, 0, 1], free_port().unwrap()).into();
    let serving = std::thread::spawn(move || {
        let mut nic = nic(theirs, 2, LiveOptions::no_faults());
        let talk = Talk::accept(&mut nic, address, LIMIT).unwrap();
        let manner = Manner {
            late: Duration::from_millis(late),
            ..Manner::default()
        };
        let wrong = server(manner, &mut nic, talk);
        // The client may still have to send a last acknowledgement again.
        nic.run_for(Duration::from_millis(200)).unwrap();
        wrong.unwrap()
    });
    let mut nic = nic(ours, 1, faults);
    let talk = Talk::connect(&mut nic, address, LIMIT).unwrap();
    let mut wrong = client(&plan, Manner::default(), &mut nic, talk).unwrap();
    nic.run_for(Duration::from_millis(200)).unwrap();
    wrong.extend(serving.join().unwrap());
    wrong
}

const ALL: &str = "send:0,send:4097,send-imm:3,send-inv:8,write:0,write:65535,write-imm:5,read:0,read:65536,cas,fadd,send:3000*3";

#[test]
fn everything_is_as_it_should_be() {
    assert_eq!(run(ALL, Transport::Rc, 0, LiveOptions::no_faults()), Vec::<String>::new());
}

#[test]
fn a_bad_wire_changes_nothing() {
    let faults = Faults {
        loss: 0.03,
        duplicate: 0.03,
        reorder: 0.03,
        corrupt: 0.03,
        ..LiveOptions::no_faults()
    };
    assert_eq!(run(ALL, Transport::Rc, 0, faults), Vec::<String>::new());
}

#[test]
fn late_receives_are_waited_for() {
    assert_eq!(
        run("send:2000*5,write-imm:9", Transport::Rc, 30, LiveOptions::no_faults()),
        Vec::<String>::new()
    );
}

#[test]
fn what_must_fail_fails() {
    for last in [
        "bad-key-write:100",
        "bad-key-read:5000",
        "bad-key-cas",
        "over-write:5000",
        "over-read:10",
        "long-send:3000",
    ] {
        assert_eq!(
            run(&format!("send:5,{last}"), Transport::Rc, 0, LiveOptions::no_faults()),
            Vec::<String>::new(),
            "{last}"
        );
    }
}

#[test]
fn datagrams_and_unreliable_connections() {
    assert_eq!(
        run("send:100*5,send-imm:1024", Transport::Ud, 0, LiveOptions::no_faults()),
        Vec::<String>::new()
    );
    assert_eq!(
        run("send:5000,write:9000,write-imm:3", Transport::Uc, 0, LiveOptions::no_faults()),
        Vec::<String>::new()
    );
}
