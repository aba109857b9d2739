// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links with bad peers; ARP and ping; two NICs on one cable.

use super::link::Link;
use super::{EngineKind, LinkOptions, LiveNic, LiveOptions, Summary};
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use verbena_model::wire::Faults;
use verbena_verbs::{Access, CompletionStatus, PathMtu, Qp, QpAttr, QpInit, Remote, Transport, Verb, WorkRequest};

const SOON: Duration = Duration::from_secs(10);

fn nic(stream: UnixStream, number: u8, faults: Faults) -> LiveNic {
    nic_of(EngineKind::Golden, stream, number, faults)
}

fn nic_of(engine: EngineKind, stream: UnixStream, number: u8, faults: Faults) -> LiveNic {
    LiveNic::open(LiveOptions {
        engine,
        mac: [2, 0, 0, 0, 0, number],
        ip: Ipv4Addr::new(10, 0, 0, number),
        seed: number.into(),
        faults,
        ..LiveOptions::new(LinkOptions::Stream(stream))
    })
    .unwrap()
}

fn framed(frame: &[u8]) -> Vec<u8> {
    [&(frame.len() as u32).to_be_bytes()[..], frame].concat()
}

/// Everything that comes within a moment.
fn frames(peer: &mut UnixStream, nic: &mut LiveNic) -> Vec<Vec<u8>> {
    nic.run_for(Duration::from_millis(30)).unwrap();
    peer.set_nonblocking(true).unwrap();
    let mut bytes = vec![];
    let _ = peer.read_to_end(&mut bytes);
    let mut found = vec![];
    while bytes.len() >= 4 {
        let length = u32::from_be_bytes(bytes[..4].try_into().unwrap()) as usize;
        found.push(bytes[4..4 + length].to_vec());
        bytes.drain(..4 + length);
    }
    found
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("verbena-{name}-{}", std::process::id()))
}

#[test]
fn frames_come_whole_however_they_are_cut() {
    let (mut peer, ours) = UnixStream::pair().unwrap();
    let mut link = Link::open(LinkOptions::Stream(ours)).unwrap();
    let bytes = [framed(&[1; 60]), framed(&[]), framed(&[2; 1514])].concat();
    let mut got = vec![];
    for byte in bytes {
        peer.write_all(&[byte]).unwrap();
        got.extend(link.receive().unwrap());
    }
    assert_eq!(got, [vec![1; 60], vec![2; 1514]]);
    assert_eq!((link.statistics().frames_in, link.statistics().in_empty), (2, 1));
}

#[test]
fn a_peer_that_goes_in_mid_frame_is_counted() {
    let (mut peer, ours) = UnixStream::pair().unwrap();
    let mut link = Link::open(LinkOptions::Stream(ours)).unwrap();
    peer.write_all(&framed(&[1; 60])).unwrap();
    peer.write_all(&framed(&[2; 60])[..30]).unwrap();
    drop(peer);
    assert_eq!(link.receive().unwrap(), Some(vec![1; 60]));
    assert_eq!(link.receive().unwrap(), None);
    link.send(&[3; 60]);
    let s = link.statistics();
    assert_eq!((s.disconnects, s.in_cut, s.out_unconnected, link.is_connected()), (1, 1, 1, false));
}

#[test]
fn a_length_that_no_frame_has_ends_the_connection() {
    let (mut peer, ours) = UnixStream::pair().unwrap();
    let mut link = Link::open(LinkOptions::Stream(ours)).unwrap();
    peer.write_all(&framed(&vec![7; 69_632])).unwrap_or_default();
    peer.set_nonblocking(true).unwrap();
    assert!(link.receive().unwrap().is_some_and(|f| f.len() == 69_632));
    peer.write_all(&69_633u32.to_be_bytes()).unwrap();
    assert_eq!(link.receive().unwrap(), None);
    assert_eq!((link.statistics().in_out_of_step, link.is_connected()), (1, false));
}

#[test]
fn a_peer_that_does_not_read_loses_frames_at_last() {
    let (_peer, ours) = UnixStream::pair().unwrap();
    let mut link = Link::open(LinkOptions::Stream(ours)).unwrap();
    for _ in 0..5000 {
        link.send(&[0; 1500]);
    }
    link.service().unwrap();
    assert!(link.is_congested() && link.statistics().out_full > 0);
}

#[test]
fn listening_and_connecting_survive_the_other_side() {
    let path = temporary("link");
    // A socket file left behind.
    drop(UnixListener::bind(&path).unwrap());
    let mut listening = Link::open(LinkOptions::Listen(path.clone())).unwrap();
    let Err(busy) = Link::open(LinkOptions::Listen(path.clone())) else {
        panic!("two listen")
    };
    assert!(busy.to_string().contains("another program listens"), "{busy}");
    // The check connected and went.
    for round in 1..3 {
        let mut connecting = Link::open(LinkOptions::Connect(path.clone())).unwrap();
        let start = Instant::now();
        let mut got = None;
        while got.is_none() && start.elapsed() < SOON {
            connecting.service().unwrap();
            listening.service().unwrap();
            if connecting.is_connected() && connecting.statistics().frames_out == 0 {
                connecting.send(&[round; 64]);
            }
            got = listening.receive().unwrap();
        }
        assert_eq!(got, Some(vec![round; 64]));
    }
    drop(listening);
    assert!(!path.exists());
    std::fs::write(&path, "").unwrap();
    let Err(file) = Link::open(LinkOptions::Listen(path.clone())) else {
        panic!("listens at a file")
    };
    assert!(file.to_string().contains("is no socket"), "{file}");
    std::fs::remove_file(&path).unwrap();
}

/// An ARP request of 10.0.0.1 for `target`.
fn arp(target: u8) -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([
        2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, target,
    ]);
    frame
}

#[test]
fn arp_is_answered_for_us_only_and_teaches() {
    let (mut peer, ours) = UnixStream::pair().unwrap();
    let mut nic = nic(ours, 2, LiveOptions::no_faults());
    peer.write_all(&framed(&arp(9))).unwrap();
    assert_eq!(frames(&mut peer, &mut nic), Vec::<Vec<u8>>::new());
    peer.write_all(&framed(&arp(2))).unwrap();
    let answers = frames(&mut peer, &mut nic);
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0][..6], &answers[0][20..22], &answers[0][22..28]),
        (&[2, 0, 0, 0, 0, 1][..], &[0, 2][..], &[2, 0, 0, 0, 0, 2][..])
    );
    assert_eq!(
        nic.resolve("10.0.0.1".parse().unwrap(), Duration::ZERO).unwrap(),
        [2, 0, 0, 0, 0, 1]
    );
}

#[test]
fn nobody_there_is_said_so() {
    let (peer, ours) = UnixStream::pair().unwrap();
    let mut nic = nic(ours, 2, LiveOptions::no_faults());
    let limit = Duration::from_millis(20);
    let error = |nic: &mut LiveNic, ip: &str| nic.resolve(ip.parse().unwrap(), limit).unwrap_err().to_string();
    assert!(error(&mut nic, "10.0.0.7").contains("nobody answers ARP for 10.0.0.7"));
    assert!(error(&mut nic, "10.0.1.7").contains("outside of our network 10.0.0.2/24"));
    assert!(error(&mut nic, "10.0.0.2").contains("our own address"));
    drop(peer);
    nic.run_for(limit).unwrap();
    assert!(error(&mut nic, "10.0.0.7").contains("nobody is at the other end of the link"));
}

#[test]
fn frames_too_long_for_the_engine_are_dropped_and_counted() {
    let (mut peer, ours) = UnixStream::pair().unwrap();
    let mut nic = nic(ours, 2, LiveOptions::no_faults());
    peer.write_all(&framed(&[2; 5000])).unwrap();
    nic.run_for(Duration::from_millis(20)).unwrap();
    assert_eq!(nic.summary().unwrap().counters.get("rx_too_long"), Some(&1));
}

/// Joins two QPs of two NICs, polling both.
struct Two {
    nics: [LiveNic; 2],
}

impl Two {
    fn new(engine: EngineKind, faults: Faults) -> Two {
        let (a, b) = UnixStream::pair().unwrap();
        Two {
            nics: [nic_of(engine, a, 1, faults), nic(b, 2, LiveOptions::no_faults())],
        }
    }

    fn poll(&mut self) {
        for nic in &mut self.nics {
            nic.poll().unwrap();
        }
    }
}

fn bad_cable() -> Faults {
    Faults {
        loss: 0.05,
        duplicate: 0.05,
        reorder: 0.05,
        corrupt: 0.05,
        ..LiveOptions::no_faults()
    }
}

#[test]
fn two_nics_move_data_over_a_bad_cable() {
    let summary = move_data(Two::new(EngineKind::Golden, bad_cable()), 200_000);
    assert!(summary.faults_in.faults() > 5 && summary.faults_out.faults() > 5, "{summary:?}");
}

#[test]
fn the_verilated_engine_moves_data_over_a_bad_cable() {
    let summary = move_data(Two::new(EngineKind::Verilated, bad_cable()), 60_000);
    assert!(summary.faults_out.faults() > 2, "{summary:?}");
    assert!(
        summary.counters.get("rx_host") >= Some(&1),
        "its ARP goes through the host port: {summary:?}"
    );
}

/// The first WRITEs half of `bytes` to the second and, if it can, READs it back.
fn move_data(mut two: Two, bytes: u64) -> Summary {
    let reads = two.nics[0].device().capabilities().read_atomic;
    let mut ends = vec![];
    for nic in &mut two.nics {
        let device = nic.device();
        let pd = device.alloc_pd().unwrap();
        let cq = device.create_cq(64).unwrap();
        let qp: Qp = device.create_qp(&QpInit::new(pd, Transport::Rc, cq, 16)).unwrap();
        let region = device.alloc_region(bytes).unwrap();
        let remote = Access::REMOTE_WRITE | Access::REMOTE_READ;
        let mr = device.reg_mr(pd, &region, Access::LOCAL_WRITE | remote).unwrap();
        device.modify_qp(qp, &QpAttr::to_init(remote)).unwrap();
        ends.push((cq, qp, region, mr));
    }
    for n in 0..2 {
        let there = two.nics[1 - n].ip().into();
        // The other has to answer meanwhile, so resolve in small steps.
        let start = Instant::now();
        let peer = loop {
            two.poll();
            if let Ok(peer) = two.nics[n].resolve_peer(there, Duration::from_millis(1)) {
                break peer;
            }
            assert!(start.elapsed() < SOON);
        };
        let device = two.nics[n].device();
        let rtr = QpAttr::to_rtr(peer, ends[1 - n].1.qpn, 100, PathMtu::Mtu1024);
        device
            .modify_qp(
                ends[n].1,
                &QpAttr {
                    max_dest_rd_atomic: Some(4),
                    ..rtr
                },
            )
            .unwrap();
        let rts = QpAttr {
            timeout: Some(12),
            max_rd_atomic: Some(4),
            ..QpAttr::to_rts(100)
        };
        device.modify_qp(ends[n].1, &rts).unwrap();
    }
    let text: Vec<u8> = (0..bytes).map(|i| (i * 7 + i / 256) as u8).collect();
    let (cq, qp, region, mr) = ends[0].clone();
    let far = Remote {
        address: ends[1].3.va,
        rkey: ends[1].3.key,
    };
    let device = two.nics[0].device();
    region.write(device.platform(), mr.va, &text).unwrap();
    let half = bytes as u32 / 2;
    let out = [mr.sge(0, half).unwrap()];
    let back = [mr.sge(u64::from(half), half).unwrap()];
    device.post_send(qp, &WorkRequest::new(1, Verb::Write(far), &out)).unwrap();
    if reads {
        device.post_send(qp, &WorkRequest::new(2, Verb::Read(far), &back)).unwrap();
    }
    let posted = 1 + usize::from(reads);
    let mut done = vec![];
    let start = Instant::now();
    while done.len() < posted && start.elapsed() < 6 * SOON {
        two.poll();
        done.extend(two.nics[0].device().poll_cq(cq, 4).unwrap());
    }
    let ended: Vec<_> = done.iter().map(|c| (c.wr_id, c.status)).collect();
    let want = [(1, CompletionStatus::Success), (2, CompletionStatus::Success)];
    assert_eq!(ended, want[..posted]);
    let (_, _, landed, there) = &ends[1];
    assert!(landed.read(two.nics[1].device().platform(), there.va, half as usize).unwrap() == text[..half as usize]);
    if reads {
        let copy = region.read(two.nics[0].device().platform(), mr.va + u64::from(half), half as usize);
        assert!(copy.unwrap() == text[..half as usize]);
    }
    two.nics[0].summary().unwrap()
}
