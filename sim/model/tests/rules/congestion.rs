// SPDX-License-Identifier: MIT OR Apache-2.0
//! ECN marks, CNPs and what they do: R13, R76.

use super::client::{self, Client};
use super::fixture::*;
use verbena_model::golden::qp::State;
use verbena_model::golden::Outcome;
use verbena_model::packet::Packet;
use verbena_spec::counters as c;

fn fixture() -> Fixture {
    let mut f = Fixture::new();
    f.golden.congestion.notify = true;
    f
}

fn marked(packets: Vec<Packet>) -> Vec<Packet> {
    packets
        .into_iter()
        .map(|p| Packet {
            traffic_class: p.traffic_class | 3,
            ..p
        })
        .collect()
}

fn cnps(outcome: &Outcome) -> usize {
    outcome.answers.iter().filter(|a| a.opcode == 0x81).count()
}

#[test]
fn r76_a_marked_packet_is_answered_by_a_cnp() {
    let mut f = fixture();
    let packets = marked(f.write(0, &bytes(3 * PMTU, 1)));
    let outcome = f.receive(&packets[0]);
    let frame = outcome.answers[0].to_frame();
    // BTH: opcode, MigReq, P_Key, BECN, QPN, PSN 0; 16 zero bytes; ICRC.
    assert_eq!(frame.len(), 14 + 20 + 8 + 12 + 16 + 4);
    assert_eq!(frame[42..54], [0x81, 0x40, 0xff, 0xff, 0x40, 0x00, 0x0a, 0xbc, 0, 0, 0, 0]);
    assert_eq!(frame[54..70], [0; 16]);
    assert_eq!(f.golden.counters()[usize::from(c::TX_CNP)], 1);
}

#[test]
fn r76_at_most_one_a_flow_in_50_us() {
    let mut f = fixture();
    let packets = marked(f.write(0, &bytes(40 * PMTU, 1)));
    let mut sent = vec![];
    for (number, packet) in packets.iter().enumerate() {
        let now = 7_000 * number as u64;
        f.golden.advance(now, &mut f.memory, &mut Outcome::default());
        if cnps(&f.receive(packet)) == 1 {
            sent.push(now);
        }
    }
    assert_eq!(sent, [0, 56_000, 112_000, 168_000, 224_000]);
    assert_eq!(f.golden.counters()[usize::from(c::RX_MARKED)], 40);
    // Another flow has its own.
    f.requester = requester(UC, 1);
    let packet = marked(f.send(&[1]));
    assert_eq!(cnps(&f.deliver(&packet)), 1);
}

#[test]
fn r76_nothing_is_sent_for_other_marks_or_unless_switched_on() {
    for (on, class, want) in [(true, 0, 0), (true, 1, 0), (true, 2, 0), (true, 3, 1), (false, 3, 0)] {
        let mut f = fixture();
        f.golden.congestion.notify = on;
        let packet = Packet {
            traffic_class: class,
            ..f.write(0, &[1]).remove(0)
        };
        assert_eq!(cnps(&f.receive(&packet)), want, "{on}, class {class}");
        // Counted either way.
        assert_eq!(f.golden.counters()[usize::from(c::RX_MARKED)], u32::from(class == 3));
    }
    // R13: FECN and BECN are none.
    let mut f = fixture();
    let packet = Packet {
        fecn: true,
        becn: true,
        ..f.write(0, &[1]).remove(0)
    };
    assert_eq!(cnps(&f.receive(&packet)), 0);
}

#[test]
fn r76_a_reset_forgets_the_cnp_that_waits() {
    let mut f = fixture();
    f.golden.hold_responses = true;
    let packets = marked(f.write(0, &[1]));
    f.deliver(&packets);
    f.golden.modify(RC, State::Reset, &mut Outcome::default());
    assert_eq!(f.golden.transmit(&mut f.memory, &mut Outcome::default()), None);
}

fn cnp() -> Packet {
    Packet {
        opcode: 0x81,
        becn: true,
        ..Packet::default()
    }
}

#[test]
fn r76_a_cnp_slows_its_qp_and_it_comes_back() {
    let mut client = Client::new();
    client.golden.congestion.react = true;
    client.post(client::write(0, 200 * client::PMTU));
    assert_eq!(client.answer(cnp()), c::CNP);
    let limiter = |client: &Client| client.golden.qp(client::QPN).unwrap().send.limiter;
    assert_eq!(limiter(&client).rate(), Some(5_000));
    let mut times = vec![];
    let mut now = 0;
    while times.len() < 200 {
        client.advance(now);
        if client.golden.transmit(&mut client.memory, &mut client.outcome).is_some() {
            times.push(now);
        } else {
            now = client.golden.next_deadline().unwrap();
        }
        if let Some(n) = times.len().checked_sub(1) {
            client.ack(client::at(n as u32));
        }
    }
    // 338 bytes at 5 Gb/s, at 7.5 after 55 us, and then more.
    assert!(times[1..50].windows(2).all(|w| (540..=541).contains(&(w[1] - w[0]))), "{times:?}");
    let between = |from: u64, to: u64| times.iter().filter(|t| (from..to).contains(*t)).count();
    assert!((100..=104).contains(&between(0, 55_000)));
    assert!((76..=77).contains(&between(55_000, 82_500)));
    client.advance(20_000_000);
    assert_eq!((limiter(&client).rate(), client.state()), (None, State::Rts));
}

#[test]
fn r76_a_cnp_for_none_of_ours_is_dropped_and_counted() {
    let mut client = Client::new();
    // Nothing reacts: dropped by the receive side.
    let frame = |qpn: u32, source: std::net::IpAddr| {
        let packet = Packet {
            destination_mac: MAC,
            source_mac: PEER_MAC,
            source,
            destination: US,
            qpn,
            ..cnp()
        };
        packet.to_frame()
    };
    let receive = |client: &mut Client, frame: Vec<u8>| {
        let outcome = client.golden.receive(&frame, false, &mut client.memory);
        (outcome.rx, outcome.responder)
    };
    assert_eq!(receive(&mut client, frame(client::QPN, PEER)), (c::RX_CNP, None));
    client.golden.congestion.react = true;
    for (qpn, source, code) in [
        (client::QPN ^ 0x10_0000, PEER, c::UNKNOWN_QP),
        (0x77, PEER, c::UNKNOWN_QP),
        (client::QPN, US, c::BAD_ADDRESS),
    ] {
        assert_eq!(receive(&mut client, frame(qpn, source)), (c::RX_ROCE, Some(code)));
    }
    assert_eq!(client.golden.qp(client::QPN).unwrap().send.limiter.rate(), None);
}
