// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lives of QPs and of engines between two Verilated engines: made, used and destroyed in the middle of it, killed, failed by their memory; and
//! scenario 7, packets of minimum size.

use crate::common::wired::{pattern, side, Wired, Wish, ATOMIC, PMTU, RECEIVE, SINK, SOURCE, TARGET};
use verbena_model::wire::Faults;
use verbena_sim::hca::axi::Fault;
use verbena_sim::hca::mac::Pace;
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions};
use verbena_sim::session::{Session, FIRST_PSN};
use verbena_sim::world::Network;
use verbena_spec::counters as c;
use verbena_verbs::{Access, CompletionStatus, Event, Qp, QpState, Verb, WorkRequest};

/// ns, each way.
const WIRE: u64 = 500;
const CLOCK_KHZ: u32 = 156_250;
const GOOD: CompletionStatus = CompletionStatus::Success;

fn engines(faults: Faults) -> Wired<Pair> {
    let mut options = HcaOptions::new("tengig");
    options.memory.latency = 40;
    Wired::new(Pair::new(&options, &WireOptions::from_ns(WIRE, faults, CLOCK_KHZ)).unwrap())
}

/// (wr_id, status) of side `n`'s completions of a QP, taken out.
fn taken(wired: &mut Wired<Pair>, n: usize, qp: Qp) -> Vec<(u64, CompletionStatus)> {
    let (own, rest): (Vec<_>, Vec<_>) = wired.done[n].drain(..).partition(|d| d.qp == qp);
    wired.done[n] = rest;
    own.into_iter().map(|d| (d.wr_id, d.status)).collect()
}

/// R41, R68: connected, a WRITE and a READ of it, destroyed, a thousand times without a reset, each third one in the middle of its transfer, while another
/// QP never rests. The wire isn't good either.
#[test]
fn scenario_8_r41_r68_a_thousand_lives_beside_traffic_on_another_qp() {
    const LIVES: u64 = 1000;
    let mut wired = engines(Faults {
        loss: 0.005,
        duplicate: 0.005,
        reorder: 0.005,
        ..Faults::default()
    });
    let lasting = wired.connect(&Wish::default());
    let (mut posted, mut completed, mut cut) = (0, 0, 0);
    for life in 0..LIVES {
        let psns = [life.wrapping_mul(0x31_4159), life.wrapping_mul(0x27_1828)].map(|p| (p & 0xff_ffff) as u32);
        let qps = wired.connect(&Wish { psns, ..Wish::default() });
        let data = pattern(600, life);
        wired.fill(0, SOURCE, &data);
        wired.post(0, qps[0], 0, Verb::Write(wired.remote(1, TARGET)), SOURCE, 600);
        wired.post(0, qps[0], 1, Verb::Read(wired.remote(1, TARGET)), SINK, 600);
        let middle = life % 3 == 0;
        let begin = wired.network.now();
        loop {
            while posted < completed + 8 {
                let far = wired.remote(1, TARGET + 4096 + posted % 1000);
                wired.post(0, lasting[0], posted, Verb::Write(far), SOURCE + 4096, 300);
                posted += 1;
            }
            Network::run(&mut wired.network, 700).unwrap();
            wired.poll();
            for done in taken(&mut wired, 0, lasting[0]) {
                assert_eq!(done, (completed, GOOD), "life {life}: the lasting QP");
                completed += 1;
            }
            if middle || wired.done[0].len() == 2 {
                break;
            }
            let waited = wired.network.now() - begin;
            assert!(waited < 5_000_000, "life {life}: nothing comes; {:?}", wired.counters(0));
        }
        if middle {
            cut += u64::from(wired.done[0].is_empty());
        } else {
            assert_eq!(taken(&mut wired, 0, qps[0]), [(0, GOOD), (1, GOOD)], "life {life}");
            assert!(
                wired.bytes(1, TARGET, 600) == data && wired.bytes(0, SINK, 600) == data,
                "life {life}"
            );
        }
        wired.destroy(qps);
        // What had completed and wasn't polled is of a QP that is gone.
        wired.done = [vec![], vec![]];
    }
    assert!(cut > LIVES / 6, "{cut} cut in the middle");
    assert!(completed > LIVES, "{completed} on the lasting QP");
    assert_eq!(wired.network.device(1).poll_event().unwrap(), None);
}

/// R48, R65: the far host starts its engine anew in the middle of a transfer. The near QP says so, flushes the rest, and a new connection works.
fn killed(verb: fn(&Wired<Pair>) -> Verb, status: &[CompletionStatus]) {
    let mut wired = engines(Faults::default());
    let wish = Wish {
        timeout: 1,
        retries: 2,
        ..Wish::default()
    };
    let qps = wired.connect(&wish);
    for id in 0..4 {
        let verb = verb(&wired);
        wired.receive(1, qps[1], id, RECEIVE, 8000);
        wired.post(0, qps[0], id, verb, SOURCE, 8000);
    }
    for id in 0..3 {
        wired.receive(0, qps[0], 10 + id, RECEIVE, 100);
    }
    // Into the second message.
    Network::run(&mut wired.network, 14_000).unwrap();
    wired.poll();
    let before = wired.done[0].len();
    assert!((1..4).contains(&before), "{before} completed before");
    wired.network.restart(1).unwrap();
    wired.sides[1] = side(&mut wired.network, 1);
    wired.done[1].clear();
    wired.wait_for([7, 0], 2_000_000, "what was under way ends");
    let done: Vec<_> = wired.done[0].drain(..).map(|d| (d.wr_id, d.status)).collect();
    let sends: Vec<_> = done.iter().filter(|d| d.0 < 10).copied().collect();
    assert_eq!(sends.iter().map(|d| d.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let failed = sends.iter().position(|d| d.1 != GOOD).unwrap();
    assert!(failed >= before && status.contains(&sends[failed].1), "{sends:?}");
    assert!(
        sends[failed + 1..].iter().all(|d| d.1 == CompletionStatus::WrFlushError),
        "{sends:?}"
    );
    let receives: Vec<_> = done.iter().filter(|d| d.0 >= 10).copied().collect();
    assert_eq!(receives, [10, 11, 12].map(|id| (id, CompletionStatus::WrFlushError)));
    assert_eq!(wired.network.device(0).query_qp(qps[0]).unwrap().state, QpState::Err);
    let event = wired.network.device(0).poll_event().unwrap();
    assert!(matches!(event, Some(Event::QpFatal { qp, .. }) if qp == qps[0]), "{event:?}");
    wired.network.device(0).destroy_qp(qps[0]).unwrap();
    let qps = wired.connect(&Wish::default());
    wired.round(qps, "after it");
}

#[test]
fn r48_r65_a_far_engine_killed_in_a_write() {
    killed(|w| Verb::Write(w.remote(1, TARGET)), &[CompletionStatus::RetryExceeded]);
}

#[test]
fn r48_r65_a_far_engine_killed_in_a_send() {
    killed(|_| Verb::Send, &[CompletionStatus::RetryExceeded]);
}

#[test]
fn r48_r65_a_far_engine_killed_in_a_read() {
    killed(|w| Verb::Read(w.remote(1, TARGET)), &[CompletionStatus::RetryExceeded]);
}

/// The near one is killed instead: the far side's receive queue and other connections stay as they are, and it is used again.
#[test]
fn r68_a_near_engine_killed_in_a_write_leaves_the_far_one_working() {
    let mut wired = engines(Faults::default());
    let qps = wired.connect(&Wish::default());
    for id in 0..4 {
        wired.post(0, qps[0], id, Verb::Write(wired.remote(1, TARGET)), SOURCE, 8000);
    }
    Network::run(&mut wired.network, 14_000).unwrap();
    wired.network.restart(0).unwrap();
    wired.sides[0] = side(&mut wired.network, 0);
    wired.done = [vec![], vec![]];
    wired.settle();
    assert_eq!(wired.network.device(1).query_qp(qps[1]).unwrap().state, QpState::Rts);
    let again = wired.connect(&Wish::default());
    wired.round(again, "after it");
    wired.network.device(1).destroy_qp(qps[1]).unwrap();
    wired.round(again, "once more");
}

/// R69: the bytes that a READ brought couldn't be written. A SEND that is fenced behind it would send what stood there before: it is flushed instead, and
/// nothing of it reaches the far side.
#[test]
fn r69_a_fenced_send_behind_a_read_whose_bytes_could_not_be_written_is_not_sent() {
    let mut wired = engines(Faults::default());
    for round in 0..6u64 {
        let qps = wired.connect(&Wish::default());
        wired.fill(0, SINK, b"old bytes");
        wired.fill(1, TARGET, b"new bytes");
        let page = wired.sides[0].region.translate(wired.sides[0].mr.va + SINK).unwrap().0;
        let hca = wired.network.device(0).platform();
        hca.axi.faults.push(Fault {
            addresses: page..page + 64,
            writes: true,
            reads: false,
            response: 2,
            left: 1,
        });
        // Slower and slower to say so.
        hca.axi.timing.latency = 20 + 60 * round;
        wired.receive(1, qps[1], 0, RECEIVE, 64);
        let far = wired.remote(1, TARGET);
        let sge = [wired.sides[0].mr.sge(SINK, 9).unwrap()];
        let read = WorkRequest::new(0, Verb::Read(far), &sge);
        let send = WorkRequest {
            fence: true,
            ..WorkRequest::new(1, Verb::Send, &sge)
        };
        wired.network.device(0).post_send_list(qps[0], &[read, send]).unwrap();
        wired.wait_for([2, 0], 1_000_000, "both end");
        assert_eq!(
            taken(&mut wired, 0, qps[0]),
            [(0, CompletionStatus::LocalQpOperationError), (1, CompletionStatus::WrFlushError)],
            "round {round}"
        );
        wired.settle();
        wired.poll();
        assert_eq!(taken(&mut wired, 1, qps[1]), [], "round {round}: the SEND has arrived");
        let event = wired.network.device(0).poll_event().unwrap();
        assert!(matches!(event, Some(Event::QpFatal { qp, .. }) if qp == qps[0]), "{event:?}");
        wired.destroy(qps);
        wired.done = [vec![], vec![]];
        assert_eq!(u64::from(wired.counter(0, c::AXI_ERROR)), round + 1);
    }
}

/// WRITEs of nothing and of one byte, one after the other without a gap, on one QP, on two, and round robin over all that the engine has: each is executed once, in
/// order, and acknowledged.
#[test]
fn scenario_7_minimum_packets_back_to_back() {
    for (qps, rounds) in [(1, 600), (2, 300), (253, 4)] {
        let mut options = HcaOptions::new("tengig");
        options.memory.latency = 40;
        options.pace = Pace::Fast;
        options.transmit_at_wire_pace = false;
        let mut session = Session::open(&options).unwrap();
        let (region, mr) = session.region(1 << 16).unwrap();
        let mut all: Vec<_> = (0..qps).map(|_| session.connect(PMTU, 1).unwrap()).collect();
        session.hca().tx.frames.clear();
        let mut waiting = 0;
        for round in 0..rounds {
            for (n, connection) in all.iter_mut().enumerate() {
                let va = region.va + (n * 64 + round % 64) as u64;
                let data = [round as u8 ^ n as u8];
                for frame in connection.flow.write(va, mr.key, &data[..(round + n) % 2]) {
                    session.hca().rx.send(&frame);
                }
                // As many as the engine's head queue takes.
                waiting += 1;
                if waiting == 28 {
                    waiting = 0;
                    assert!(session.hca().settle(60, 100_000));
                }
            }
        }
        assert!(session.hca().settle(200, 100_000));
        let answers = session.answers();
        for (n, connection) in all.iter().enumerate() {
            let own: Vec<u32> = answers
                .iter()
                .filter(|a| a.dest_qpn == connection.peer_qpn)
                .map(|a| a.psn)
                .collect();
            // Coalescing is allowed, going back isn't.
            assert!(
                own.windows(2).all(|w| (w[1].wrapping_sub(w[0]) & 0xff_ffff) < 1 << 23),
                "{qps} QPs, {n}"
            );
            let last = FIRST_PSN.wrapping_add(rounds as u32 - 1) & 0xff_ffff;
            assert_eq!(own.last(), Some(&last), "{qps} QPs, {n}: the last ACK");
            let query = session.device.query_qp(connection.qp).unwrap();
            assert_eq!((query.msn, query.epsn), (rounds as u32, connection.flow.psn), "{qps} QPs, {n}");
            for round in (0..rounds).rev().take(4).filter(|r| (r + n) % 2 == 1) {
                let va = region.va + (n * 64 + round % 64) as u64;
                let there = region.read(session.hca(), va, 1).unwrap();
                assert_eq!(there, [round as u8 ^ n as u8], "{qps} QPs, {n}, round {round}");
            }
        }
        assert!(answers.iter().all(|a| a.is_ack()));
        assert_eq!(session.device.counter(c::RX_NO_BUFFER).unwrap(), 0);
        session.hca().violations.check().unwrap();
    }
}

/// 63 of one QP's atomics and reads may be posted with as many of another's: both end, and the sum is right (R58).
#[test]
fn r58_atomics_of_two_qps_on_one_number() {
    let mut wired = engines(Faults::default());
    let qps = [0, 1].map(|_| wired.connect(&Wish::default()));
    wired.fill(1, ATOMIC, &0u64.to_le_bytes());
    const EACH: u64 = 60;
    let (mut posted, mut done) = ([0; 2], [0; 2]);
    let mut seen = vec![];
    while done != [EACH; 2] {
        for n in 0..2 {
            while posted[n] < EACH && posted[n] < done[n] + 8 {
                let verb = Verb::FetchAdd {
                    remote: wired.remote(1, ATOMIC),
                    add: 1,
                };
                let to = SINK + (n as u64 * EACH + posted[n]) * 8;
                wired.post(0, qps[n][0], posted[n], verb, to, 8);
                posted[n] += 1;
            }
        }
        let before = wired.done[0].len();
        wired.wait_for([before + 1, 0], 1_000_000, "an ATOMIC");
        for n in 0..2 {
            for (id, status) in taken(&mut wired, 0, qps[n][0]) {
                assert_eq!((id, status), (done[n], GOOD));
                done[n] += 1;
                let found = wired.bytes(0, SINK + (n as u64 * EACH + id) * 8, 8);
                seen.push(u64::from_le_bytes(found.try_into().unwrap()));
            }
        }
    }
    // Each saw another value, and none was lost.
    seen.sort();
    assert_eq!(seen, (0..2 * EACH).collect::<Vec<_>>());
    assert_eq!(wired.bytes(1, ATOMIC, 8), (2 * EACH).to_le_bytes());
}

#[test]
fn remote_access_is_what_the_region_says() {
    let mut wired = engines(Faults::default());
    let device = wired.network.device(1);
    let region = device.alloc_region(4096).unwrap();
    let pd = wired.sides[1].pd;
    let mr = device.reg_mr(pd, &region, Access::REMOTE_READ).unwrap();
    let remote = verbena_verbs::Remote {
        address: mr.va,
        rkey: mr.key,
    };
    // R52, R64: a READ may, a WRITE and an ATOMIC may not; each on a connection of its own, since it ends there.
    let add = Verb::FetchAdd { remote, add: 1 };
    for (verb, status) in [
        (Verb::Read(remote), GOOD),
        (Verb::Write(remote), CompletionStatus::RemoteAccessError),
        (add, CompletionStatus::RemoteAccessError),
    ] {
        let qps = wired.connect(&Wish::default());
        wired.post(0, qps[0], 7, verb, SINK, 8);
        wired.wait_for([1, 0], 1_000_000, "it ends");
        assert_eq!(taken(&mut wired, 0, qps[0]), [(7, status)], "{verb:?}");
        wired.destroy(qps);
        wired.done = [vec![], vec![]];
    }
}
