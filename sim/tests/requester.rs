// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two Verilated engines on a wire: what one posts, the other gets.

use verbena_model::wire::Faults;
use verbena_sim::hca::HcaOptions;
use verbena_sim::pair::{Pair, WireOptions, ENDS};
use verbena_verbs::{
    Access, Completion, CompletionStatus, Gid, Mr, PathMtu, Peer, Qp, QpAttr, QpInit, Region, Remote, Transport, Verb, WorkRequest,
};

/// Bytes of each side's region.
const REGION: u64 = 64 << 10;

struct Link {
    pair: Pair,
    qps: Vec<[Qp; 2]>,
    regions: [Region; 2],
    mrs: [Mr; 2],
    done: [Vec<Completion>; 2],
}

impl Link {
    fn new(preset: &str, qps: usize, pmtu: usize, seed: u64, faults: Faults) -> Link {
        let mut options = HcaOptions::new(preset);
        options.seed = seed;
        options.memory.latency = 40;
        let mut pair = Pair::new(&options, &WireOptions { latency: 100, faults }).unwrap();
        let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let mut regions = vec![];
        let mut mrs = vec![];
        for side in &mut pair.sides {
            let region = side.device.alloc_region(REGION).unwrap();
            mrs.push(side.device.reg_mr(side.pd, &region, all).unwrap());
            regions.push(region);
        }
        let mut link = Link {
            pair,
            qps: vec![],
            regions: regions.try_into().unwrap(),
            mrs: mrs.try_into().unwrap(),
            done: [vec![], vec![]],
        };
        for n in 0..qps {
            link.connect(n as u32, pmtu);
        }
        link
    }

    fn connect(&mut self, number: u32, pmtu: usize) {
        let mut qps = vec![];
        for side in &mut self.pair.sides {
            let init = QpInit {
                send_entries: 64,
                ..QpInit::new(side.pd, Transport::Rc, side.cq, 64)
            };
            let qp = side.device.create_qp(&init).unwrap();
            side.device.modify_qp(qp, &QpAttr::to_init(Access::REMOTE_WRITE)).unwrap();
            qps.push(qp);
        }
        let psn = |side: u32| 0xff_fff0 + number * 3 + side;
        for n in 0..2 {
            let end = ENDS[1 - n];
            let way = Peer::new(Gid::ipv4(end.ip), end.mac);
            let rtr = QpAttr::to_rtr(
                way,
                qps[1 - n].qpn,
                psn(1 - n as u32) & 0xff_ffff,
                PathMtu::from_bytes(pmtu).unwrap(),
            );
            let device = &mut self.pair.sides[n].device;
            device.modify_qp(qps[n], &rtr).unwrap();
            let rts = QpAttr {
                timeout: Some(5),
                retry_count: Some(7),
                rnr_retry: Some(7),
                ..QpAttr::to_rts(psn(n as u32) & 0xff_ffff)
            };
            device.modify_qp(qps[n], &rts).unwrap();
        }
        self.qps.push([qps[0], qps[1]]);
    }

    /// Runs until both sides have that many completions, or panics after `limit` cycles.
    fn wait(&mut self, counts: [usize; 2], limit: u64) {
        let end = self.pair.cycle() + limit;
        while self.done[0].len() < counts[0] || self.done[1].len() < counts[1] {
            assert!(
                self.pair.cycle() < end,
                "after {limit} cycles: {} and {} completions of {counts:?}; counters {:?} and {:?}",
                self.done[0].len(),
                self.done[1].len(),
                self.counters(0),
                self.counters(1)
            );
            self.pair.run(200);
            for n in 0..2 {
                let side = &mut self.pair.sides[n];
                let found = side.device.poll_cq(side.cq, 64).unwrap();
                self.done[n].extend(found);
            }
        }
        self.pair.check().unwrap();
    }

    fn counters(&mut self, side: usize) -> Vec<(&'static str, u32)> {
        let all = self.pair.sides[side].device.counters().unwrap();
        all.into_iter().filter(|c| c.1 != 0).collect()
    }

    fn read(&mut self, side: usize, offset: u64, length: usize) -> Vec<u8> {
        let va = self.mrs[side].va + offset;
        self.regions[side].read(self.pair.sides[side].hca(), va, length).unwrap()
    }

    fn fill(&mut self, side: usize, offset: u64, data: &[u8]) {
        let va = self.mrs[side].va + offset;
        self.regions[side].write(self.pair.sides[side].hca(), va, data).unwrap();
    }

    fn remote(&self, offset: u64) -> Remote {
        Remote {
            address: self.mrs[1].va + offset,
            rkey: self.mrs[1].key,
        }
    }
}

fn bytes(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + seed * 7 + (i >> 8) + 1) as u8).collect()
}

#[test]
fn a_write_lands_in_the_far_memory() {
    let mut link = Link::new("tengig", 1, 256, 1, Faults::default());
    let data = bytes(64, 3);
    link.fill(0, 100, &data);
    let sge = [link.mrs[0].sge(100, 64).unwrap()];
    let request = WorkRequest::new(9, Verb::Write(link.remote(1000)), &sge);
    let qp = link.qps[0][0];
    link.pair.sides[0].device.post_send(qp, &request).unwrap();
    link.wait([1, 0], 20_000);
    assert_eq!((link.done[0][0].wr_id, link.done[0][0].status), (9, CompletionStatus::Success));
    assert_eq!(link.read(1, 1000, 64), data);
}

/// A list of messages from side 0 to side 1, their bytes and their completions.
fn move_messages(link: &mut Link, lengths: &[usize], send: bool, cycles: u64) {
    let count = link.qps.len();
    link.done = [vec![], vec![]];
    let mut offset = 0u64;
    let mut places = vec![];
    for (i, length) in lengths.iter().enumerate() {
        let data = bytes(*length, i);
        // Another alignment on each side.
        let (from, to) = (offset + (i % 7) as u64, offset + (i * 3 % 5) as u64);
        link.fill(0, from, &data);
        places.push((to, data));
        let sge = [link.mrs[0].sge(from, *length as u32).unwrap()];
        let qp = link.qps[i % count];
        let verb = if send {
            let sge = link.mrs[1].sge(to, *length as u32).unwrap();
            link.pair.sides[1].device.post_recv(qp[1], 1000 + i as u64, sge).unwrap();
            Verb::Send
        } else {
            Verb::Write(link.remote(to))
        };
        link.pair.sides[0]
            .device
            .post_send(qp[0], &WorkRequest::new(i as u64, verb, &sge))
            .unwrap();
        offset += *length as u64 + 8;
    }
    let received = if send { lengths.len() } else { 0 };
    link.wait([lengths.len(), received], cycles);
    for done in link.done.iter().flatten() {
        assert_eq!(done.status, CompletionStatus::Success, "{done:?}");
    }
    for (n, qp) in link.qps.clone().iter().enumerate() {
        let order: Vec<u64> = link.done[0].iter().filter(|c| c.qp == qp[0]).map(|c| c.wr_id).collect();
        let posted: Vec<u64> = (0..lengths.len() as u64).filter(|i| *i as usize % count == n).collect();
        assert_eq!(order, posted, "completions of QP {n}");
    }
    for (i, (to, data)) in places.iter().enumerate() {
        let there = link.read(1, *to, data.len());
        assert!(there == *data, "message {i} of {} bytes differs", data.len());
    }
}

const LENGTHS: [usize; 20] = [
    64, 0, 1, 2, 3, 4, 5, 31, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 3000, 4097,
];

#[test]
fn writes_and_sends_of_all_lengths_arrive() {
    for (preset, pmtu) in [("tengig", 256), ("tengig", 1024), ("tengig", 4096), ("cu", 256)] {
        for qps in [1, 2] {
            for send in [false, true] {
                println!("{preset}, PMTU {pmtu}, {qps} QPs, send {send}");
                let mut link = Link::new(preset, qps, pmtu, 7, Faults::default());
                move_messages(&mut link, &LENGTHS, send, 400_000);
            }
        }
    }
}

#[test]
fn what_the_wire_loses_is_sent_again() {
    for seed in 1..=6 {
        let faults = Faults {
            loss: 0.03,
            duplicate: 0.02,
            reorder: 0.02,
            corrupt: 0.01,
            reorder_patience: 2000,
            ..Faults::default()
        };
        let mut link = Link::new("tengig", 3, 256, seed, faults);
        for send in [false, true] {
            println!("seed {seed}, send {send}");
            move_messages(&mut link, &LENGTHS, send, 4_000_000);
        }
    }
}
