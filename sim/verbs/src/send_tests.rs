// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sending, against the golden engine behind the registers.

use crate::golden::{exchange, GoldenHca};
use crate::mock::{Mock, CAPABILITIES};
use crate::*;
use verbena_model::golden::Features;
use verbena_model::replay::infer::roce;
use verbena_spec::layout::{qp, send_opcode, sq_wqe as f};
use verbena_spec::registers;

struct Machine {
    device: Device<GoldenHca>,
    pd: Pd,
    cq: Cq,
    qp: Qp,
    region: Region,
    mr: Mr,
}

const REMOTE: u32 = 32768;

fn address(number: u8) -> (Mac, Gid) {
    ([2, 0, 0, 0, 0, number], Gid::ipv4([10, 0, 0, number]))
}

fn machine(number: u8, transport: Transport) -> Machine {
    let (mac, gid) = address(number);
    let mut device = Device::open(GoldenHca::new(), &OpenAttr::new(mac, gid)).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(64).unwrap();
    let init = QpInit {
        send_entries: 8,
        ..QpInit::new(pd, transport, cq, 8)
    };
    let qp = device.create_qp(&init).unwrap();
    let region = device.alloc_region(65536).unwrap();
    let all = Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC;
    let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE | all).unwrap();
    let attr = if transport == Transport::Ud {
        QpAttr::to_init_ud(0x1234)
    } else {
        QpAttr::to_init(all)
    };
    device.modify_qp(qp, &attr).unwrap();
    Machine {
        device,
        pd,
        cq,
        qp,
        region,
        mr,
    }
}

fn to_rtr(m: &mut Machine, peer: u8, peer_qpn: u32, psn: u32) {
    let (mac, gid) = address(peer);
    m.device
        .modify_qp(m.qp, &QpAttr::to_rtr(Peer::new(gid, mac), peer_qpn, psn, PathMtu::Mtu256))
        .unwrap();
}

/// Two RC QPs, the left one's attributes as given.
fn pair(rts: QpAttr) -> (Machine, Machine) {
    let (mut left, mut right) = (machine(1, Transport::Rc), machine(2, Transport::Rc));
    let (a, b) = (left.qp.qpn, right.qp.qpn);
    to_rtr(&mut left, 2, b, 0x222222);
    to_rtr(&mut right, 1, a, 0x111111);
    left.device.modify_qp(left.qp, &rts).unwrap();
    right.device.modify_qp(right.qp, &QpAttr::to_rts(0x222222)).unwrap();
    (left, right)
}

/// A SEND of nothing has 58 bytes over IPv4, 2 of padding then, and is received like any other; one byte needs none.
#[test]
fn r20_short_frames_are_padded_with_zeros() {
    let (mut left, mut right) = pair(rts());
    for (id, bytes, frame, padding) in [(0, &b""[..], 60, 2), (1, b"x", 62, 0)] {
        let sge = right.mr.sge(0, 64).unwrap();
        right.device.post_recv(right.qp, id, sge).unwrap();
        left.device.post_send(left.qp, &WorkRequest::inline(id, Verb::Send, bytes)).unwrap();
        let sent = left.device.platform().transmit().unwrap();
        let total = 14 + usize::from(u16::from_be_bytes([sent[16], sent[17]]));
        assert_eq!((sent.len(), sent.len() - total), (frame, padding));
        assert!(sent[total..].iter().all(|b| *b == 0));
        right.device.platform().receive(&sent);
        exchange(left.device.platform(), right.device.platform());
        let received = right.device.poll_cq(right.cq, 4).unwrap();
        assert_eq!((received.len(), received[0].byte_length), (1, bytes.len() as u32));
    }
}

fn rts() -> QpAttr {
    QpAttr {
        max_rd_atomic: Some(4),
        ..QpAttr::to_rts(0x111111)
    }
}

fn run(left: &mut Machine, right: &mut Machine) {
    exchange(left.device.platform(), right.device.platform());
}

impl Machine {
    fn post(&mut self, wr_id: u64, verb: Verb, sges: &[Sge]) -> Result<(), Error> {
        self.device.post_send(self.qp, &WorkRequest::new(wr_id, verb, sges))
    }

    fn remote(&self, offset: u64) -> Remote {
        Remote {
            address: self.mr.va + offset,
            rkey: self.mr.key,
        }
    }

    fn sge(&self, offset: u64, length: u32) -> Sge {
        self.mr.sge(offset, length).unwrap()
    }

    fn done(&mut self) -> Vec<(u64, CompletionOpcode, CompletionStatus)> {
        let found = self.device.poll_cq(self.cq, 64).unwrap();
        found.iter().map(|c| (c.wr_id, c.opcode, c.status)).collect()
    }
}

#[test]
fn every_verb_moves_bytes() {
    use {CompletionOpcode as O, CompletionStatus::Success};
    let (mut left, mut right) = pair(rts());
    let data: Vec<u8> = (0..5000u32).map(|i| (i * 7 + (i >> 8)) as u8).collect();
    let (va, far) = (left.mr.va, right.mr.va);
    left.region.write(left.device.platform(), va, &data).unwrap();
    let window = right.device.alloc_region(4096).unwrap();
    let access = Access::REMOTE_WRITE | Access::MAY_INVALIDATE;
    let key = right.device.reg_mr(right.pd, &window, access).unwrap().key;
    for i in 0..4 {
        let sge = right.sge(u64::from(REMOTE) + 5000 * i, 5000);
        right.device.post_recv(right.qp, 100 + i, sge).unwrap();
    }
    let halves = [left.sge(0, 1001), left.sge(1001, 3999)];
    left.post(1, Verb::Send, &halves).unwrap();
    left.post(2, Verb::SendWithImm(0xabc), &halves[..1]).unwrap();
    left.post(3, Verb::SendWithInvalidate { rkey: key }, &[]).unwrap();
    left.post(4, Verb::Write(right.remote(0)), &halves).unwrap();
    left.post(5, Verb::WriteWithImm(right.remote(6000), 0xdef), &halves[1..]).unwrap();
    left.post(6, Verb::Read(right.remote(0)), &[left.sge(20000, 5000)]).unwrap();
    run(&mut left, &mut right);
    let (remote, compare) = (right.remote(16384), 0);
    let swap = 0x1122_3344_5566_7788;
    left.post(7, Verb::CompareSwap { remote, compare, swap }, &[left.sge(30000, 8)])
        .unwrap();
    left.post(8, Verb::FetchAdd { remote, add: 1 }, &[left.sge(30008, 8)]).unwrap();
    run(&mut left, &mut right);
    let opcodes = [O::Send, O::Send, O::Send, O::Write, O::Write, O::Read, O::CompareSwap, O::FetchAdd];
    let want: Vec<_> = (1..).zip(opcodes).map(|(id, o)| (id, o, Success)).collect();
    assert_eq!(left.done(), want);
    let received = right.device.poll_cq(right.cq, 8).unwrap();
    let seen: Vec<_> = received
        .iter()
        .map(|c| (c.wr_id, c.byte_length, c.immediate, c.invalidated))
        .collect();
    assert_eq!(
        seen,
        [
            (100, 5000, None, None),
            (101, 1001, Some(0xabc), None),
            (102, 0, None, Some(key)),
            (103, 3999, Some(0xdef), None)
        ]
    );
    let mut there = |offset: u64, bytes: usize| right.region.read(right.device.platform(), far + offset, bytes).unwrap();
    assert_eq!(there(0, 5000), data);
    assert_eq!(there(6000, 3999), data[1001..]);
    assert_eq!(there(u64::from(REMOTE), 5000), data);
    assert_eq!(there(16384, 8), (swap + 1).to_le_bytes());
    let mut here = |offset: u64, bytes: usize| left.region.read(left.device.platform(), va + offset, bytes).unwrap();
    assert_eq!(here(20000, 5000), data);
    assert_eq!([here(30000, 8), here(30008, 8)], [0u64.to_le_bytes(), swap.to_le_bytes()]);
}

#[test]
fn an_engine_without_requester_or_atomics_says_so() {
    let mut device = Device::open(Mock::new(CAPABILITIES), &OpenAttr::new(address(1).0, address(1).1)).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    device.modify_qp(qp, &QpAttr::to_init(Access::NONE)).unwrap();
    let (mac, gid) = address(2);
    let rtr = QpAttr::to_rtr(Peer::new(gid, mac), 1, 2, PathMtu::Mtu256);
    device.modify_qp(qp, &rtr).unwrap();
    let given = device.modify_qp(qp, &QpAttr::to_rts(1));
    assert!(matches!(given, Err(Error::NotAllowed { attribute: "sq_psn", .. })), "{given:?}");
    device.modify_qp(qp, &QpAttr::to(QpState::Rts)).unwrap();
    let sent = device.post_send(qp, &WorkRequest::new(1, Verb::Send, &[]));
    assert_eq!(sent, Err(Error::Unsupported("requester, so it can't send")));
    // Words of the send half aren't written to an engine that hasn't them.
    let row = registers::QP_TABLE + 128 * 2;
    assert!(device.platform().writes.iter().all(|(a, _)| !(row + 64..row + 128).contains(a)));

    let features = Features {
        requester: true,
        read_atomic: false,
    };
    let mut device = Device::open(GoldenHca::with_features(features), &OpenAttr::new(address(1).0, address(1).1)).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    device.modify_qp(qp, &QpAttr::to_init(Access::NONE)).unwrap();
    device.modify_qp(qp, &rtr).unwrap();
    device.modify_qp(qp, &QpAttr::to_rts(1)).unwrap();
    let remote = Remote { address: 0, rkey: 0 };
    let read = device.post_send(qp, &WorkRequest::new(1, Verb::Read(remote), &[]));
    assert_eq!(read, Err(Error::Unsupported("READ and ATOMIC")));
}

#[test]
fn nonsense_is_refused_by_kind_and_posts_nothing() {
    let (mut left, right) = pair(rts());
    let remote = right.remote(0);
    let (short, eight) = (left.sge(0, 4), left.sge(0, 8));
    let bad_data = |result: Result<(), Error>| assert!(matches!(result, Err(Error::BadData { .. })), "{result:?}");
    bad_data(left.post(1, Verb::Send, &[short; 3]));
    bad_data(left.post(1, Verb::FetchAdd { remote, add: 1 }, &[short]));
    bad_data(left.post(1, Verb::FetchAdd { remote, add: 1 }, &[eight, eight]));
    bad_data(left.device.post_send(left.qp, &WorkRequest::inline(1, Verb::Read(remote), &[1])));
    bad_data(left.device.post_send(left.qp, &WorkRequest::inline(1, Verb::Send, &[1; 33])));
    let long = Sge {
        address: 0,
        length: u32::MAX,
        lkey: 0,
    };
    // R67: the sum doesn't wrap; R75.
    for list in [&[long, long][..], &[long]] {
        let result = left.post(1, Verb::Write(remote), list);
        assert!(
            matches!(
                result,
                Err(Error::OutOfRange {
                    what: "message length",
                    ..
                })
            ),
            "{result:?}"
        );
    }
    let to = Destination {
        peer: Peer::new(address(2).1, address(2).0),
        qpn: 1,
        qkey: 1,
    };
    let wr = WorkRequest {
        destination: Some(to),
        ..WorkRequest::new(1, Verb::Send, &[])
    };
    assert_eq!(left.device.post_send(left.qp, &wr), Err(Error::Destination));
    // All or none.
    let good = WorkRequest::new(1, Verb::Send, &[]);
    assert!(left.device.post_send_list(left.qp, &[good, wr]).is_err());
    assert_eq!(left.device.platform().transmit(), None);
    for (attr, what) in [
        (
            QpAttr {
                timeout: Some(32),
                ..rts()
            },
            "timeout",
        ),
        (
            QpAttr {
                retry_count: Some(8),
                ..rts()
            },
            "retry_count",
        ),
        (
            QpAttr {
                rnr_retry: Some(8),
                ..rts()
            },
            "rnr_retry",
        ),
        (
            QpAttr {
                max_rd_atomic: Some(17),
                ..rts()
            },
            "max_rd_atomic",
        ),
        (
            QpAttr {
                sq_psn: Some(1 << 24),
                ..rts()
            },
            "sq_psn",
        ),
    ] {
        let mut m = machine(3, Transport::Rc);
        to_rtr(&mut m, 2, 1, 1);
        assert_eq!(m.post(1, Verb::Send, &[]), Err(Error::NotSending(QpState::Rtr)));
        let result = m.device.modify_qp(m.qp, &attr);
        assert!(
            matches!(&result, Err(Error::OutOfRange { what: w, .. }) if *w == what),
            "{result:?}"
        );
        let result = m.device.modify_qp(m.qp, &QpAttr::to(QpState::Rts));
        assert!(matches!(result, Err(Error::Missing { attribute: "sq_psn", .. })));
        m.device
            .modify_qp(
                m.qp,
                &QpAttr {
                    max_rd_atomic: Some(0),
                    ..rts()
                },
            )
            .unwrap();
        let result = m.post(1, Verb::Read(remote), &[eight]);
        assert!(matches!(result, Err(Error::OutOfRange { what: "max_rd_atomic", .. })), "{result:?}");
    }
    let mut uc = machine(4, Transport::Uc);
    to_rtr(&mut uc, 2, 1, 1);
    uc.device.modify_qp(uc.qp, &QpAttr::to_rts(0)).unwrap();
    for (verb, name) in [
        (Verb::Read(remote), "READ"),
        (Verb::FetchAdd { remote, add: 0 }, "ATOMIC"),
        (Verb::SendWithInvalidate { rkey: 0 }, "SEND with invalidate"),
    ] {
        let want = Error::WrongVerb {
            transport: Transport::Uc,
            verb: name,
        };
        assert_eq!(uc.post(1, verb, &[eight]), Err(want));
    }
}

#[test]
fn the_row_holds_the_attributes() {
    let attr = QpAttr {
        timeout: Some(19),
        retry_count: Some(5),
        rnr_retry: Some(3),
        max_rd_atomic: Some(9),
        ..QpAttr::to_rts(0xabcdef)
    };
    let (mut left, _) = pair(attr);
    let index = left.qp.qpn & 0xfff;
    let attributes = left.device.platform().golden().qp(index).unwrap().attributes.clone();
    assert_eq!(
        (
            attributes.timeout,
            attributes.retry_count,
            attributes.rnr_retry,
            attributes.max_rd_atomic,
            attributes.sq_psn
        ),
        (19, 5, 3, 9, 0xabcdef)
    );
    // As many as every QP can have.
    assert_eq!((attributes.max_dest_rd_atomic, attributes.sq_log), (4, 3));
    assert_eq!(qp::SQ_LOG.max(), 15);
}

#[test]
fn silent_sends_free_their_entries_with_the_next_completion() {
    let (mut left, mut right) = pair(rts());
    for round in 0..5 {
        let bytes = [round, 2, 3, 4];
        for i in 0..8 {
            let wr = WorkRequest {
                signaled: i == 7,
                ..WorkRequest::inline(i, Verb::Write(right.remote(i * 4)), &bytes)
            };
            left.device.post_send(left.qp, &wr).unwrap();
        }
        assert_eq!(left.post(9, Verb::Send, &[]), Err(Error::QueueFull { entries: 8 }));
        run(&mut left, &mut right);
        assert_eq!(
            left.done(),
            [(7, CompletionOpcode::Write, CompletionStatus::Success)],
            "round {round}"
        );
    }
}

#[test]
fn r64_r65_errors_have_their_status_and_flush_the_rest() {
    use {CompletionOpcode as O, CompletionStatus as S};
    let flushed = |id| (id, O::Write, S::WrFlushError);
    type Make = fn(&mut Machine, &Machine) -> Verb;
    let cases: [(Make, O, S); 4] = [
        (
            |_, r| {
                Verb::Write(Remote {
                    rkey: r.mr.key ^ 1,
                    ..r.remote(0)
                })
            },
            O::Write,
            S::RemoteAccessError,
        ),
        (
            |_, r| Verb::FetchAdd {
                remote: r.remote(4),
                add: 1,
            },
            O::FetchAdd,
            S::RemoteInvalidRequestError,
        ),
        (|_, r| Verb::Read(r.remote(65530)), O::Read, S::RemoteAccessError),
        (|_, _| Verb::Send, O::Send, S::RnrRetryExceeded),
    ];
    for (verb, opcode, status) in cases {
        let (mut left, mut right) = pair(QpAttr {
            rnr_retry: Some(2),
            ..rts()
        });
        let wr = WorkRequest {
            signaled: false,
            ..WorkRequest::inline(1, Verb::Write(right.remote(0)), &[1])
        };
        left.device.post_send(left.qp, &wr).unwrap();
        let verb = verb(&mut left, &right);
        let sge = [left.sge(0, 8)];
        // An unsignalled one completes when it fails.
        let wr = WorkRequest {
            signaled: false,
            ..WorkRequest::new(2, verb, &sge)
        };
        left.device.post_send(left.qp, &wr).unwrap();
        left.post(3, Verb::Write(right.remote(0)), &sge).unwrap();
        run(&mut left, &mut right);
        assert_eq!(left.done(), [(2, opcode, status), flushed(3)]);
        let event = left.device.poll_event().unwrap();
        assert!(matches!(event, Some(Event::QpFatal { qp, .. }) if qp == left.qp), "{event:?}");
        assert_eq!(left.device.qp_state(left.qp).unwrap(), QpState::Err);
        // What is posted now comes back flushed, and RESET leads out of it.
        left.post(4, Verb::Write(right.remote(0)), &sge).unwrap();
        assert_eq!(left.done(), [flushed(4)]);
        left.device.modify_qp(left.qp, &QpAttr::to(QpState::Reset)).unwrap();
        assert_eq!(left.post(5, Verb::Send, &[]), Err(Error::NotSending(QpState::Reset)));
    }
}

#[test]
fn r48_a_peer_that_is_gone_ends_in_retry_exceeded() {
    let (mut left, mut right) = pair(QpAttr {
        timeout: Some(8),
        retry_count: Some(3),
        ..rts()
    });
    right.device.destroy_qp(right.qp).unwrap();
    left.post(1, Verb::Write(right.remote(0)), &[left.sge(0, 300)]).unwrap();
    run(&mut left, &mut right);
    assert_eq!(left.done(), [(1, CompletionOpcode::Write, CompletionStatus::RetryExceeded)]);
    // Four timeouts of 1.05 ms: three retries and the end.
    assert_eq!(left.device.platform().golden().now(), 4 * (4096 << 8));
}

#[test]
fn a_drained_queue_is_reported_and_goes_on() {
    let (mut left, mut right) = pair(rts());
    left.post(1, Verb::Write(right.remote(0)), &[left.sge(0, 1000)]).unwrap();
    let frame = left.device.platform().transmit().unwrap();
    left.device.modify_qp(left.qp, &QpAttr::to(QpState::Sqd)).unwrap();
    left.post(2, Verb::Write(right.remote(0)), &[left.sge(0, 1000)]).unwrap();
    assert_eq!(left.device.poll_event().unwrap(), None);
    right.device.platform().receive(&frame);
    run(&mut left, &mut right);
    assert_eq!(left.done().len(), 1, "what had begun ends, what hadn't waits");
    assert_eq!(left.device.poll_event().unwrap(), Some(Event::SqDrained { qp: left.qp }));
    left.device.modify_qp(left.qp, &QpAttr::to(QpState::Rts)).unwrap();
    run(&mut left, &mut right);
    assert_eq!(left.done(), [(2, CompletionOpcode::Write, CompletionStatus::Success)]);
}

#[test]
fn r70_datagrams_name_their_destination() {
    let (mut left, mut right) = (machine(1, Transport::Ud), machine(2, Transport::Ud));
    for m in [&mut left, &mut right] {
        m.device.modify_qp(m.qp, &QpAttr::to(QpState::Rtr)).unwrap();
        m.device.modify_qp(m.qp, &QpAttr::to_rts(5)).unwrap();
    }
    right.device.post_recv(right.qp, 77, right.sge(0, 1000)).unwrap();
    let peer = Peer {
        traffic_class: 0x20,
        vlan: Some(Vlan { id: 5, priority: 3 }),
        ..Peer::new(address(2).1, address(2).0)
    };
    let to = Destination {
        peer,
        qpn: right.qp.qpn,
        // Our own QP's Q_Key.
        qkey: 1 << 31,
    };
    let sge = [left.sge(0, 10)];
    let plain = WorkRequest::new(1, Verb::SendWithImm(9), &sge);
    assert_eq!(left.device.post_send(left.qp, &plain), Err(Error::Destination));
    let wr = WorkRequest {
        destination: Some(to),
        ..plain
    };
    left.device.post_send(left.qp, &wr).unwrap();
    let frame = left.device.platform().transmit().unwrap();
    assert_eq!(frame[12..16], [0x81, 0, 0x60, 5]);
    right.device.platform().receive(&frame);
    let got = right.device.poll_cq(right.cq, 1).unwrap();
    assert_eq!(
        (got[0].wr_id, got[0].byte_length, got[0].source_qpn, got[0].immediate),
        (77, 50, left.qp.qpn, Some(9))
    );
    let remote = right.remote(0);
    let bad = WorkRequest {
        verb: Verb::Write(remote),
        ..wr
    };
    assert!(matches!(left.device.post_send(left.qp, &bad), Err(Error::WrongVerb { .. })));
    let two = [left.sge(0, 1), left.sge(0, 1)];
    let bad = WorkRequest {
        data: Data::Elements(&two),
        ..wr
    };
    assert!(matches!(left.device.post_send(left.qp, &bad), Err(Error::BadData { .. })));
}

#[test]
fn r41_a_thousand_lives_without_a_reset() {
    let (mut left, mut right) = (machine(1, Transport::Rc), machine(2, Transport::Rc));
    for life in 0..1000u32 {
        let psns = [life.wrapping_mul(0x31_4159) & 0xff_ffff, life.wrapping_mul(0x27_1828) & 0xff_ffff];
        let (a, b) = (left.qp.qpn, right.qp.qpn);
        to_rtr(&mut left, 2, b, psns[1]);
        to_rtr(&mut right, 1, a, psns[0]);
        left.device.modify_qp(left.qp, &QpAttr::to_rts(psns[0])).unwrap();
        right.device.modify_qp(right.qp, &QpAttr::to_rts(psns[1])).unwrap();
        let data = [life as u8; 700];
        left.region.write(left.device.platform(), left.mr.va, &data).unwrap();
        left.post(1, Verb::Write(right.remote(0)), &[left.sge(0, 700)]).unwrap();
        left.post(2, Verb::Read(right.remote(0)), &[left.sge(1000, 700)]).unwrap();
        run(&mut left, &mut right);
        assert_eq!(left.done().len(), 2, "life {life}");
        assert_eq!(
            left.region.read(left.device.platform(), left.mr.va + 1000, 700).unwrap(),
            data,
            "life {life}"
        );
        for m in [&mut left, &mut right] {
            m.device.destroy_qp(m.qp).unwrap();
            m.qp = m.device.create_qp(&QpInit::new(m.pd, Transport::Rc, m.cq, 8)).unwrap();
            let all = Access::REMOTE_WRITE | Access::REMOTE_READ;
            m.device.modify_qp(m.qp, &QpAttr::to_init(all)).unwrap();
        }
    }
}

#[test]
fn the_solicited_bit_and_the_wqe_words() {
    let (mut left, right) = pair(rts());
    let wr = WorkRequest {
        solicited: true,
        fence: true,
        ..WorkRequest::new(1, Verb::WriteWithImm(right.remote(3), 0x55), &[])
    };
    left.device.post_send(left.qp, &wr).unwrap();
    let base = left.device.platform().golden().qp(left.qp.qpn).unwrap().attributes.sq_base;
    let mut bytes = [0; 64];
    left.device.platform().load(base, &mut bytes).unwrap();
    let words: Vec<u32> = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    let flags = [f::OPCODE, f::SIGNALED, f::SOLICITED, f::FENCE, f::INLINE, f::ELEMENTS].map(|field| field.get(&words));
    assert_eq!(flags, [send_opcode::WRITE_WITH_IMM, 1, 1, 1, 0, 0]);
    assert_eq!((f::IMMEDIATE.get(&words), f::RKEY.get(&words)), (0x55, right.mr.key));
    assert_eq!(f::REMOTE_LOW.get(&words), (right.mr.va + 3) as u32);
    let frame = verbena_model::capture::Frame {
        time: std::time::Duration::ZERO,
        bytes: left.device.platform().transmit().unwrap(),
    };
    let packet = &roce(&[frame], "10.0.0.1".parse().unwrap())[0].packet;
    assert!(packet.solicited && packet.ack_request && packet.opcode == 0x0b);
}

#[test]
fn r59_responder_resources_are_dealt_out_of_the_pool() {
    let mut mock = Mock::new(CAPABILITIES | 1 << 18 | 1 << 19);
    mock.registers.insert(registers::READ_LIMITS, 16 | 1 << 5 | 1024 << 16);
    let mut device = Device::open(mock, &OpenAttr::new(address(1).0, address(1).1)).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    assert_eq!((device.capabilities().read_depth, device.capabilities().read_resources), (16, 1024));
    let (mac, gid) = address(2);
    let up = |device: &mut Device<Mock>, depth: Option<u8>| {
        let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 1)).unwrap();
        device.modify_qp(qp, &QpAttr::to_init(Access::REMOTE_READ)).unwrap();
        let rtr = QpAttr {
            max_dest_rd_atomic: depth,
            ..QpAttr::to_rtr(Peer::new(gid, mac), 2, 0, PathMtu::Mtu256)
        };
        device.modify_qp(qp, &rtr).map(|()| qp)
    };
    let ring = |device: &mut Device<Mock>, qp: Qp| {
        let row = device.platform().qp_row(qp.qpn & 0xfff);
        (qp::READ_RING_BASE.get(&row), qp::MAX_DEST_RD_ATOMIC.get(&row))
    };
    let too_many = up(&mut device, Some(17));
    assert!(
        matches!(
            too_many,
            Err(Error::OutOfRange {
                what: "max_dest_rd_atomic",
                ..
            })
        ),
        "{too_many:?}"
    );
    let mut used = vec![false; 1024];
    let mut all = vec![];
    for n in 0..64 {
        let depth = [None, Some(16), Some(7), Some(0), Some(1)][n % 5];
        let qp = up(&mut device, depth).unwrap();
        let (first, count) = ring(&mut device, qp);
        assert_eq!(count, depth.map_or(4, u32::from));
        for place in &mut used[first as usize..(first + count) as usize] {
            assert!(!std::mem::replace(place, true), "QP {n} shares resource {first}");
        }
        all.push(qp);
    }
    while up(&mut device, Some(16)).is_ok() {}
    let full = up(&mut device, Some(16));
    assert!(matches!(full, Err(Error::Exhausted { limit: 1024, .. })), "{full:?}");
    // A QP that ends, or goes back to RESET, gives its own back.
    device.destroy_qp(all[1]).unwrap();
    up(&mut device, Some(16)).unwrap();
    device.modify_qp(all[6], &QpAttr::to(QpState::Reset)).unwrap();
    up(&mut device, Some(16)).unwrap();
    assert!(up(&mut device, Some(16)).is_err());
}

/// An engine with READ alone, as `cu` is.
#[test]
fn r59_atomics_are_refused_by_name_where_there_are_none() {
    let mut mock = Mock::new(CAPABILITIES | 1 << 18 | 1 << 19);
    mock.registers.insert(registers::READ_LIMITS, 2 | 1024 << 16);
    let (mac, gid) = address(1);
    let mut device = Device::open(mock, &OpenAttr::new(mac, gid)).unwrap();
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    let region = device.alloc_region(4096).unwrap();
    let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE).unwrap();
    device.modify_qp(qp, &QpAttr::to_init(Access::NONE)).unwrap();
    device
        .modify_qp(qp, &QpAttr::to_rtr(Peer::new(gid, mac), 1, 2, PathMtu::Mtu256))
        .unwrap();
    device.modify_qp(qp, &QpAttr::to_rts(1)).unwrap();
    let remote = Remote { address: 0, rkey: 0 };
    let eight = [mr.sge(0, 8).unwrap()];
    let add = device.post_send(qp, &WorkRequest::new(1, Verb::FetchAdd { remote, add: 1 }, &eight));
    assert_eq!(add, Err(Error::Unsupported("ATOMIC")));
    device.post_send(qp, &WorkRequest::new(1, Verb::Read(remote), &eight)).unwrap();
}

/// RTR with the order attributes.
fn ordered(m: &mut Machine, nak_distance: Option<u8>, nak_delay: Option<u16>) -> Result<(), Error> {
    let (mac, gid) = address(9);
    let rtr = QpAttr::to_rtr(Peer::new(gid, mac), 1, 2, PathMtu::Mtu256);
    m.device.modify_qp(
        m.qp,
        &QpAttr {
            nak_distance,
            nak_delay,
            ..rtr
        },
    )
}

#[test]
fn r23_r42_the_row_holds_what_makes_a_gap_a_loss_and_what_is_sent_again() {
    let mut m = machine(3, Transport::Rc);
    assert!(m.device.capabilities().reorder && m.device.capabilities().selective_repeat);
    ordered(&mut m, Some(63), Some(4095)).unwrap();
    let rts = QpAttr {
        selective_repeat: Some(true),
        selective_window: Some(63),
        ..rts()
    };
    for window in [0, 3, 65] {
        let result = m.device.modify_qp(
            m.qp,
            &QpAttr {
                selective_window: Some(window),
                ..rts
            },
        );
        assert!(
            matches!(
                &result,
                Err(Error::OutOfRange {
                    what: "selective_window",
                    ..
                })
            ),
            "{result:?}"
        );
    }
    m.device.modify_qp(m.qp, &rts).unwrap();
    let index = m.qp.qpn & 0xfff;
    let attributes = |m: &mut Machine| m.device.platform().golden().qp(index).unwrap().attributes.clone();
    let a = attributes(&mut m);
    assert_eq!((a.nak_distance, a.nak_delay, a.selective_repeat), (63, 4095, true));
    assert_eq!(a.selective_window, 63);
    // The next life begins with the defaults: at once, go back N.
    m.device.modify_qp(m.qp, &QpAttr::to(QpState::Reset)).unwrap();
    m.device.modify_qp(m.qp, &QpAttr::to_init(Access::NONE)).unwrap();
    ordered(&mut m, None, None).unwrap();
    m.device.modify_qp(m.qp, &self::rts()).unwrap();
    let a = attributes(&mut m);
    assert_eq!((a.nak_distance, a.nak_delay, a.selective_repeat), (0, 0, false));
    assert_eq!(a.selective_window, 0);
}

#[test]
fn r42_the_window_is_what_a_peer_holds_of_the_path_mtu_unless_it_is_given() {
    for (path_mtu, given, field) in [
        (PathMtu::Mtu256, None, 0),
        (PathMtu::Mtu512, None, 48),
        (PathMtu::Mtu1024, None, 24),
        (PathMtu::Mtu2048, None, 12),
        (PathMtu::Mtu4096, None, 6),
        (PathMtu::Mtu4096, Some(64), 0),
        (PathMtu::Mtu1024, Some(4), 4),
    ] {
        let mut m = machine(3, Transport::Rc);
        let rtr = QpAttr::to_rtr(Peer::new(address(9).1, address(9).0), 1, 2, path_mtu);
        m.device.modify_qp(m.qp, &rtr).unwrap();
        let rts = QpAttr {
            selective_repeat: Some(true),
            selective_window: given,
            ..rts()
        };
        m.device.modify_qp(m.qp, &rts).unwrap();
        let index = m.qp.qpn & 0xfff;
        let a = &m.device.platform().golden().qp(index).unwrap().attributes;
        assert_eq!((a.selective_repeat, a.selective_window), (true, field), "{path_mtu:?}");
    }
}

#[test]
fn r42_order_attributes_beyond_their_range_or_engine_are_refused_by_name() {
    for (distance, delay, name) in [(Some(64), None, "nak_distance"), (None, Some(4096), "nak_delay")] {
        let result = ordered(&mut machine(3, Transport::Rc), distance, delay);
        assert!(
            matches!(&result, Err(Error::OutOfRange { what, .. }) if *what == name),
            "{result:?}"
        );
        let result = ordered(&mut machine(3, Transport::Uc), distance, delay);
        assert!(
            matches!(&result, Err(Error::NotAllowed { attribute, .. }) if *attribute == name),
            "{result:?}"
        );
    }
    let mut device = Device::open(GoldenHca::with_features(Features::ALL), &OpenAttr::new(address(3).0, address(3).1)).unwrap();
    assert!(!device.capabilities().reorder && !device.capabilities().selective_repeat);
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(4).unwrap();
    let qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 4)).unwrap();
    device.modify_qp(qp, &QpAttr::to_init(Access::NONE)).unwrap();
    let rtr = QpAttr::to_rtr(Peer::new(address(9).1, address(9).0), 1, 2, PathMtu::Mtu256);
    let asked = QpAttr {
        nak_distance: Some(0),
        ..rtr
    };
    let result = device.modify_qp(qp, &asked);
    let not_allowed = |result: &Result<(), Error>, name| matches!(result, Err(Error::NotAllowed { attribute, .. }) if *attribute == name);
    assert!(not_allowed(&result, "nak_distance"), "{result:?}");
    device.modify_qp(qp, &rtr).unwrap();
    let asked = QpAttr {
        selective_repeat: Some(false),
        ..rts()
    };
    let result = device.modify_qp(qp, &asked);
    assert!(not_allowed(&result, "selective_repeat"), "{result:?}");
}

#[test]
fn r76_congestion_control_is_set_or_refused_by_name() {
    let mut m = machine(3, Transport::Rc);
    let congestion = |m: &mut Machine| m.device.platform().golden().congestion;
    assert!(!congestion(&mut m).notify && !congestion(&mut m).react);
    m.device.set_congestion(&CongestionAttr::default()).unwrap();
    let want = verbena_model::golden::congestion::Congestion {
        notify: true,
        react: true,
        ..Default::default()
    };
    assert_eq!(congestion(&mut m), want);
    let attr = CongestionAttr {
        alpha_time: 1024,
        ..CongestionAttr::default()
    };
    let result = m.device.set_congestion(&attr);
    assert!(matches!(result, Err(Error::OutOfRange { what: "alpha_time", .. })), "{result:?}");
    let open = OpenAttr::new(address(1).0, address(1).1);
    let mut without = Device::open(Mock::new(CAPABILITIES), &open).unwrap();
    let result = without.set_congestion(&CongestionAttr::default());
    assert_eq!(result, Err(Error::Unsupported("congestion control")));
    // One half only: the other is refused by name, and what is there is set.
    for (bit, have, lack) in [(7, "notify", "react"), (8, "react", "notify")] {
        let mut mock = Mock::new(CAPABILITIES | 1 << 18);
        mock.registers.insert(registers::READ_LIMITS, 1 << bit);
        let mut half = Device::open(mock, &open).unwrap();
        let result = half.set_congestion(&CongestionAttr::default());
        assert!(matches!(result, Err(Error::Unsupported(what)) if what.contains(lack)), "{result:?}");
        let attr = CongestionAttr {
            notify: have == "notify",
            react: have == "react",
            ..CongestionAttr::default()
        };
        half.set_congestion(&attr).unwrap();
        let row = half.platform().row(registers::CONGESTION, 1);
        assert_eq!(row[0] & 3, 1 << (bit - 7));
    }
}
