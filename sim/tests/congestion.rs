// SPDX-License-Identifier: MIT OR Apache-2.0
//! Congestion control on the Verilated engine: the notification point (R13, R76). What it makes of random marks, byte for byte against the golden
//! model, is in `engine.rs`, where fuzzed frames are marked.

use verbena_model::fabric::{Bottleneck, Fabric};
use verbena_model::packet::{internet_checksum, Packet};
use verbena_model::wire::Faults;
use verbena_sim::hca::HcaOptions;
use verbena_sim::session::{Connection, Session, ENGINE, PEER};
use verbena_sim::traffic::Form;
use verbena_sim::world::{transfer, Flow, Mixed, Network, Order, Route, TransferOptions};
use verbena_spec::counters as c;
use verbena_verbs::{Access, CongestionAttr, Error};

const CNP: u8 = 0x81;
const PMTU: usize = 256;
/// Where the opcode stands in an untagged IPv4 frame.
const OPCODE_AT: usize = 42;

fn session() -> Session {
    let mut options = HcaOptions::new("tengig");
    options.memory.latency = 50;
    Session::open(&options).unwrap()
}

fn notify(session: &mut Session, cnp_interval: u8) {
    let attr = CongestionAttr {
        react: false,
        cnp_interval,
        ..CongestionAttr::default()
    };
    session.device.set_congestion(&attr).unwrap();
}

/// Congestion experienced, on IPv4.
fn marked(mut frame: Vec<u8>) -> Vec<u8> {
    frame[15] |= 3;
    frame[24..26].fill(0);
    let checksum = internet_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&checksum.to_be_bytes());
    frame
}

/// What R76 asks for: opcode 0x81, BECN 1, PSN 0, 16 zero bytes, ICRC; to the QP's peer.
fn want(connection: &Connection) -> Vec<u8> {
    let packet = Packet {
        destination_mac: PEER.mac,
        source_mac: ENGINE.mac,
        source: ENGINE.address(),
        destination: PEER.address(),
        hop_limit: 64,
        udp_source: connection.flow.udp_source,
        opcode: CNP,
        becn: true,
        pkey: 0xffff,
        qpn: connection.peer_qpn,
        ..Packet::default()
    };
    let frame = packet.to_frame();
    // BTH: opcode, MigReq, P_Key, BECN; QPN, PSN; 16 zero bytes; ICRC.
    assert_eq!(frame.len(), 14 + 20 + 8 + 12 + 16 + 4);
    assert_eq!(frame[42..47], [0x81, 0x40, 0xff, 0xff, 0x40]);
    assert_eq!(frame[50..70], [0; 20]);
    frame
}

fn counter(session: &mut Session, code: u8) -> u32 {
    session.device.counter(code).unwrap()
}

/// Two RC QPs and a UC QP get marked packets at line rate: each has a CNP in 50 us, and not two.
#[test]
fn r13_r76_at_most_one_cnp_a_flow_in_50_us() {
    let mut session = session();
    notify(&mut session, 50);
    let (region, mr) = session.region(4096).unwrap();
    let uc = Form {
        service: 1,
        ..Form::default()
    };
    let mut connections: Vec<Connection> = [Form::default(), Form::default(), uc]
        .into_iter()
        .map(|form| session.connect_as(form, PMTU, 1, Access::REMOTE_WRITE).unwrap())
        .collect();
    session.hca().tx.frames.clear();
    let mut sent = 0;
    let data = [0x5a; PMTU];
    let begin = session.hca().cycle;
    // 300 us, 46,875 cycles.
    while session.hca().cycle < begin + 46_875 {
        let flow = &mut connections[sent % 3].flow;
        for frame in flow.write(region.va, mr.key, &data) {
            session.hca().rx.send(&marked(frame));
        }
        sent += 1;
        session.hca().run_until(10_000, |h| h.rx.pending() < 4);
    }
    assert!(session.hca().settle(400, 100_000));
    let frames: Vec<_> = session.hca().tx.frames.drain(..).collect();
    let mut cnps = 0;
    for connection in &connections {
        let want = want(connection);
        let times: Vec<u64> = frames.iter().filter(|f| f.bytes == want).map(|f| f.first).collect();
        cnps += times.len();
        assert_eq!(times.len(), 6, "{times:?}");
        // 50 us are 7812.5 cycles; the engine's 51 units of 1.024 us, and a part of one, 8160 at most, and what ACKs are in the way.
        let apart: Vec<u64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(apart.iter().all(|a| (7813..8450).contains(a)), "{apart:?}");
    }
    assert_eq!(
        frames.iter().filter(|f| f.bytes[OPCODE_AT] == CNP).count(),
        cnps,
        "all are as they should be"
    );
    assert_eq!(counter(&mut session, c::TX_CNP) as usize, cnps);
    assert_eq!(counter(&mut session, c::RX_MARKED) as usize, sent);
    // The RC flows' ACKs went out among them.
    let accepted = counter(&mut session, c::ACCEPTED) as usize;
    assert_eq!(accepted, sent);
    assert!(counter(&mut session, c::TX_ACK) > 100);
    session.hca().violations.check().unwrap();
}

/// R13: FECN, BECN and other ECN bits are none; nothing is sent unless it is on; a CNP for us is dropped and counted, since nothing reacts.
#[test]
fn r13_r76_only_marks_are_answered_and_only_where_it_is_on() {
    let mut session = session();
    let (region, mr) = session.region(4096).unwrap();
    let connection = session.connect(PMTU, 1).unwrap();
    let mut flow = connection.flow.clone();
    session.hca().tx.frames.clear();
    let mut marks = 0;
    for on in [false, true] {
        notify(&mut session, 0);
        if !on {
            let attr = CongestionAttr {
                notify: false,
                react: false,
                ..CongestionAttr::default()
            };
            session.device.set_congestion(&attr).unwrap();
        }
        for class in 0..4 {
            let packet = Packet {
                traffic_class: class,
                fecn: true,
                becn: true,
                ..flow.write_only(region.va, mr.key, &[7])
            };
            flow.psn = (flow.psn + 1) & 0xff_ffff;
            session.hca().rx.send(&packet.to_frame());
            assert!(session.hca().settle(400, 100_000));
            marks += u32::from(class == 3);
            let cnps = session.hca().tx.frames.drain(..).filter(|f| f.bytes == want(&connection)).count();
            assert_eq!(cnps, usize::from(on && class == 3), "{on}, class {class}");
            assert_eq!(counter(&mut session, c::RX_MARKED), marks);
        }
    }
    let cnp = Packet {
        opcode: CNP,
        becn: true,
        psn: 0,
        payload: vec![],
        ack_request: false,
        ..flow.send_only(&[])
    };
    session.hca().rx.send(&marked(cnp.to_frame()));
    assert!(session.hca().settle(400, 100_000));
    assert_eq!(counter(&mut session, c::RX_CNP), 1);
    // Dropped before it counts as a RoCE packet, marked or not.
    assert_eq!(counter(&mut session, c::RX_MARKED), marks);
    assert!(session.hca().tx.frames.is_empty());
}

/// CNPs that wait for the MAC are those of the QP that the marks were for: its number is free only when the transmit station has them, so none is made from
/// the row of the QP that comes after it.
#[test]
fn r76_an_ended_qp_leaves_no_cnp_to_the_next() {
    let mut session = session();
    notify(&mut session, 0);
    let (region, mr) = session.region(4096).unwrap();
    let uc = Form {
        service: 1,
        ..Form::default()
    };
    let mut connection = session.connect_as(uc, PMTU, 1, Access::REMOTE_WRITE).unwrap();
    for wait in [200, 300, 400, 600] {
        session.hca().tx.frames.clear();
        session.hca().tx.stall = 0.98;
        for frame in connection.flow.write(region.va, mr.key, &[9; 12 * PMTU]) {
            session.hca().rx.send(&marked(frame));
        }
        session.hca().run(wait);
        session.device.destroy_qp(connection.qp).unwrap();
        let tagged = Form { vlan: Some(5), ..uc };
        let next = session.connect_as(tagged, PMTU, 1, Access::REMOTE_WRITE).unwrap();
        assert_eq!(next.qp.qpn & 0xfff, connection.qp.qpn & 0xfff);
        session.hca().tx.stall = 0.0;
        assert!(session.hca().settle(400, 100_000));
        let frames: Vec<_> = session.hca().tx.frames.drain(..).collect();
        assert!(frames.len() > 3, "after {wait} cycles: {}", frames.len());
        let want = want(&connection);
        assert!(frames.iter().all(|f| f.bytes == want), "after {wait} cycles: {frames:02x?}");
        session.device.destroy_qp(next.qp).unwrap();
        connection = session.connect_as(uc, PMTU, 1, Access::REMOTE_WRITE).unwrap();
    }
}

/// An engine that has one half of congestion control, or none, refuses the other by name. (With 64 KiB of receive buffer `tengig` has no reaction point.)
#[test]
fn r76_reacting_is_refused_by_name() {
    let mut session = session();
    let capabilities = *session.device.capabilities();
    assert!(capabilities.congestion_notification);
    let result = session.device.set_congestion(&CongestionAttr::default());
    if capabilities.congestion_reaction {
        result.unwrap();
    } else {
        assert!(
            matches!(result, Err(Error::Unsupported(what)) if what.contains("react")),
            "{result:?}"
        );
    }
    let mut small = Session::open(&HcaOptions::new("cu")).unwrap();
    let attr = CongestionAttr {
        react: false,
        ..CongestionAttr::default()
    };
    assert_eq!(small.device.set_congestion(&attr), Err(Error::Unsupported("congestion control")));
}

/// A golden requester, which reacts, behind a bottleneck of half the rate, and the engine at its far end: CNPs keep the queue short. (Without
/// them it overflows: 70,837 of 142,675 packets lost, and minutes to simulate.)
#[test]
fn r76_the_engines_cnps_spare_a_bottleneck_its_losses() {
    let data: Vec<u8> = (0..1_200_000u32).map(|i| (i * 7 + (i >> 9)) as u8).collect();
    let run = |controlled: bool| {
        let mut network = Mixed::new(&HcaOptions::new("tengig"), 500, Faults::default()).unwrap();
        network.set_fabric(&Fabric {
            bottleneck: Some(Bottleneck {
                time_per_byte: 1600,
                capacity: 60_000,
                mark_from: 5_000,
                mark_all: 40_000,
            }),
            ..Fabric::default()
        });
        for (side, notify, react) in [(0, false, controlled), (1, controlled, false)] {
            let attr = CongestionAttr {
                notify,
                react,
                ..CongestionAttr::default()
            };
            network.device(side).set_congestion(&attr).unwrap();
        }
        let options = TransferOptions {
            route: Route::Write,
            pmtu: 1024,
            message: 65_536,
            depth: 8,
            timeout: 5,
            order: Order {
                traffic_class: 2,
                ..Order::default()
            },
            qps: 1,
        };
        let mut flows = [Flow::new(&mut network, 0, options, data.clone()).unwrap()];
        let moved = transfer(&mut network, &mut flows, 1000, |_| ()).unwrap();
        assert!(moved.matches);
        let wire = network.wires()[0];
        let mut count = |side: usize, code: u8| u64::from(network.device(side).counter(code).unwrap());
        let (marked, sent, heeded) = (count(1, c::RX_MARKED), count(1, c::TX_CNP), count(0, c::CNP));
        println!(
            "control {controlled}: {} us, {} of {} lost, {marked} marked, {sent} CNPs",
            moved.time / 1000,
            wire.lost,
            wire.sent
        );
        assert_eq!(marked, wire.marked);
        assert_eq!(sent, heeded);
        (wire.lost, sent)
    };
    let (lost, cnps) = run(true);
    assert!(cnps > 0 && lost == 0, "{lost} lost with {cnps} CNPs");
}

/// What a transfer behind a bottleneck of half the rate came to.
#[derive(Debug)]
struct Passed {
    /// Mb/s of payload.
    rate: u64,
    lost: u64,
    marked: u64,
    sent: u64,
    cnps: u64,
}

/// `qps` flows through one bottleneck, of the engine (`from` 1) to a golden responder, or the other way round (0); the responder notifies.
fn through_a_bottleneck(from: usize, bytes: u32, qps: usize, react: bool) -> Passed {
    let mut network = Mixed::new(&HcaOptions::new("tengig"), 500, Faults::default()).unwrap();
    network.set_fabric(&Fabric {
        bottleneck: Some(Bottleneck {
            time_per_byte: 1600,
            capacity: 60_000,
            mark_from: 5_000,
            mark_all: 40_000,
        }),
        ..Fabric::default()
    });
    for (side, notify, react) in [(1 - from, true, false), (from, false, react)] {
        let attr = CongestionAttr {
            notify,
            react,
            ..CongestionAttr::default()
        };
        network.device(side).set_congestion(&attr).unwrap();
    }
    let options = TransferOptions {
        route: Route::Write,
        pmtu: 1024,
        message: 65_536,
        depth: 8,
        timeout: 5,
        order: Order {
            traffic_class: 2,
            ..Order::default()
        },
        qps: 1,
    };
    let mut flows: Vec<Flow> = (0..qps)
        .map(|n| {
            let data = (0..bytes).map(|i| (i * 7 + (i >> 9) + n as u32) as u8).collect();
            Flow::new(&mut network, from, options, data).unwrap()
        })
        .collect();
    let moved = transfer(&mut network, &mut flows, 1000, |_| ()).unwrap();
    assert!(moved.matches);
    let wire = network.wires()[from];
    let mut count = |side: usize, code: u8| u64::from(network.device(side).counter(code).unwrap());
    let (sent, heeded, dropped) = (count(1 - from, c::TX_CNP), count(from, c::CNP), count(from, c::RX_CNP));
    assert_eq!((heeded, dropped), if react { (sent, 0) } else { (0, sent) });
    Passed {
        rate: u64::from(bytes) * qps as u64 * 8000 / moved.time,
        lost: wire.lost,
        marked: wire.marked,
        sent: wire.sent,
        cnps: sent,
    }
}

/// The engine as the requester behind a bottleneck of half the rate: CNPs slow it, so that nothing is lost; without, the queue overflows.
#[test]
fn r76_a_cnp_slows_the_engines_requests() {
    // A short one first: an engine that isn't slowed takes minutes for the long one.
    let brief = through_a_bottleneck(1, 200_000, 1, true);
    println!("briefly: {brief:?}");
    assert!(brief.cnps > 0 && brief.lost == 0, "{brief:?}");
    let slowed = through_a_bottleneck(1, 1_200_000, 1, true);
    println!("with: {slowed:?}");
    assert!(
        slowed.cnps > 0 && slowed.lost == 0 && slowed.marked * 10 < slowed.sent,
        "{slowed:?}"
    );
    // The bottleneck carries 5 Gb/s, 4.6 of them payload.
    assert!((2500..4700).contains(&slowed.rate), "{slowed:?}");
    let free = through_a_bottleneck(1, 200_000, 1, false);
    println!("without: {free:?}");
    assert!(free.lost > 10, "{free:?}");
}

/// Three QPs share it, each slowed by its own CNPs: they begin at the line's rate, all at once, so some packets are lost, as the golden model
/// loses some (23 of 1,842; the engine 48 of 1,867), and the bottleneck is as full (3,357 and 3,350 Mb/s).
#[test]
fn r76_each_qp_is_slowed_by_its_own_cnps() {
    let [golden, engine] = [0, 1].map(|from| through_a_bottleneck(from, 600_000, 3, true));
    println!("golden: {golden:?}\nengine: {engine:?}");
    assert!(
        engine.cnps >= 3 && engine.lost * 30 < engine.sent && golden.lost * 30 < golden.sent,
        "{golden:?} {engine:?}"
    );
    assert!(engine.rate * 10 > golden.rate * 8, "{golden:?} {engine:?}");
}
