// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections between two machines, whatever they are, and a round of mixed work that goes over one again and again.
//!
//! Each side has one region with all rights:
//! ```text
//! SOURCE │ SINK │ TARGET │ RECEIVE     AREA bytes each
//! ```

use verbena_model::wire::Statistics;
use verbena_sim::world::Network;
use verbena_verbs::*;

pub const PMTU: usize = 256;
pub const AREA: u64 = 16 << 10;
pub const SOURCE: u64 = 0;
pub const SINK: u64 = AREA;
pub const TARGET: u64 = 2 * AREA;
pub const RECEIVE: u64 = 3 * AREA;
/// The number that ATOMICs work on.
pub const ATOMIC: u64 = TARGET + 12 * 1024;
/// How often the hosts look, ns.
const STEP: u64 = 500;
/// The longest that a round may take, ns.
const PATIENCE: u64 = 40_000_000;

/// How a connection is made.
#[derive(Clone, Copy)]
pub struct Wish {
    pub pmtu: usize,
    /// Local ACK timeout's code (R47).
    pub timeout: u8,
    pub retries: u8,
    /// Code of the wait that an RNR NAK asks for (R43).
    pub rnr_timer: u8,
    pub psns: [u32; 2],
}

impl Default for Wish {
    fn default() -> Self {
        Wish {
            pmtu: PMTU,
            timeout: 3,
            retries: 7,
            rnr_timer: 1,
            psns: [0xff_fff0, 0x12_3456],
        }
    }
}

pub struct Side {
    pub pd: Pd,
    pub cq: Cq,
    pub region: Region,
    pub mr: Mr,
}

pub struct Wired<N: Network> {
    pub network: N,
    pub sides: [Side; 2],
    /// What has completed and isn't looked at yet.
    pub done: [Vec<Completion>; 2],
    round: u64,
}

fn all() -> Access {
    Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::REMOTE_ATOMIC
}

pub fn side<N: Network>(network: &mut N, n: usize) -> Side {
    let device = network.device(n);
    let pd = device.alloc_pd().unwrap();
    let cq = device.create_cq(512).unwrap();
    let region = device.alloc_region(4 * AREA).unwrap();
    let mr = device.reg_mr(pd, &region, all()).unwrap();
    Side { pd, cq, region, mr }
}

/// Bytes that look random.
pub fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

impl<N: Network> Wired<N> {
    pub fn new(mut network: N) -> Self {
        let sides = [0, 1].map(|n| side(&mut network, n));
        Wired {
            network,
            sides,
            done: [vec![], vec![]],
            round: 0,
        }
    }

    /// A connection in RTS.
    pub fn connect(&mut self, wish: &Wish) -> [Qp; 2] {
        let qps = [0, 1].map(|n| {
            let device = self.network.device(n);
            let init = QpInit {
                send_entries: 16,
                ..QpInit::new(self.sides[n].pd, Transport::Rc, self.sides[n].cq, 16)
            };
            let qp = device.create_qp(&init).unwrap();
            device.modify_qp(qp, &QpAttr::to_init(all())).unwrap();
            qp
        });
        for n in 0..2 {
            let (mac, ip) = self.network.address(1 - n);
            let to_rtr = QpAttr::to_rtr(
                Peer::new(Gid::ipv4(ip), mac),
                qps[1 - n].qpn,
                wish.psns[1 - n],
                PathMtu::from_bytes(wish.pmtu).unwrap(),
            );
            let rtr = QpAttr {
                min_rnr_timer: Some(wish.rnr_timer),
                max_dest_rd_atomic: Some(4),
                ..to_rtr
            };
            let rts = QpAttr {
                timeout: Some(wish.timeout),
                retry_count: Some(wish.retries),
                max_rd_atomic: Some(4),
                ..QpAttr::to_rts(wish.psns[n])
            };
            let device = self.network.device(n);
            device.modify_qp(qps[n], &rtr).unwrap();
            device.modify_qp(qps[n], &rts).unwrap();
        }
        qps
    }

    pub fn destroy(&mut self, qps: [Qp; 2]) {
        for (n, qp) in qps.into_iter().enumerate() {
            self.network.device(n).destroy_qp(qp).unwrap();
        }
    }

    pub fn remote(&self, n: usize, offset: u64) -> Remote {
        let mr = &self.sides[n].mr;
        Remote {
            address: mr.va + offset,
            rkey: mr.key,
        }
    }

    pub fn fill(&mut self, n: usize, offset: u64, data: &[u8]) {
        let (region, mr) = (&self.sides[n].region, &self.sides[n].mr);
        region.write(self.network.device(n).platform(), mr.va + offset, data).unwrap();
    }

    pub fn bytes(&mut self, n: usize, offset: u64, length: usize) -> Vec<u8> {
        let (region, mr) = (&self.sides[n].region, &self.sides[n].mr);
        region.read(self.network.device(n).platform(), mr.va + offset, length).unwrap()
    }

    /// Posts a message of side `n`, its bytes at `offset` of its own region.
    pub fn post(&mut self, n: usize, qp: Qp, wr_id: u64, verb: Verb, offset: u64, length: usize) {
        let sge = [self.sides[n].mr.sge(offset, length as u32).unwrap()];
        let sge = if length == 0 { &sge[..0] } else { &sge[..] };
        self.network.device(n).post_send(qp, &WorkRequest::new(wr_id, verb, sge)).unwrap();
    }

    pub fn receive(&mut self, n: usize, qp: Qp, wr_id: u64, offset: u64, length: usize) {
        let sge = self.sides[n].mr.sge(offset, length as u32).unwrap();
        self.network.device(n).post_recv(qp, wr_id, sge).unwrap();
    }

    pub fn poll(&mut self) {
        for n in 0..2 {
            let found = self.network.device(n).poll_cq(self.sides[n].cq, 1 << 12).unwrap();
            self.done[n].extend(found);
        }
    }

    /// Time goes on until so many completions are there, in `patience` ns at most.
    pub fn wait_for(&mut self, counts: [usize; 2], patience: u64, what: &str) {
        let end = self.network.now() + patience;
        loop {
            self.poll();
            if (0..2).all(|n| self.done[n].len() >= counts[n]) {
                return;
            }
            assert!(
                self.network.now() < end,
                "{what}: {} and {} completions of {counts:?}; {:?} {:?}",
                self.done[0].len(),
                self.done[1].len(),
                self.counters(0),
                self.counters(1)
            );
            self.network.run(STEP).unwrap();
        }
    }

    /// Until nothing moves.
    pub fn settle(&mut self) {
        let end = self.network.now() + PATIENCE;
        loop {
            self.network.run(4 * STEP).unwrap();
            if self.network.is_quiet() {
                return;
            }
            assert!(self.network.now() < end, "it never comes to rest");
        }
    }

    /// Those that aren't 0.
    pub fn counters(&mut self, n: usize) -> Vec<(&'static str, u32)> {
        let all = self.network.device(n).counters().unwrap();
        all.into_iter().filter(|c| c.1 != 0).collect()
    }

    pub fn counter(&mut self, n: usize, code: u8) -> u32 {
        self.network.device(n).counter(code).unwrap()
    }

    /// WRITE, SEND, READ of what was written, ATOMIC, WRITE, WRITE with immediate over one connection from side 0 to side 1, all of it checked.
    pub fn round(&mut self, qps: [Qp; 2], what: &str) {
        let seed = self.round;
        self.round += 1;
        let source = pattern(2048, seed);
        self.fill(0, SOURCE, &source);
        self.fill(1, ATOMIC, &seed.to_le_bytes());
        self.receive(1, qps[1], 0, RECEIVE, 1024);
        self.receive(1, qps[1], 1, RECEIVE + 1024, 1024);
        let (far, add) = (|w: &Self, at| w.remote(1, TARGET + at), seed + 3);
        let verbs = [
            (Verb::Write(far(self, 0)), SOURCE, 3 * PMTU),
            (Verb::Send, SOURCE + 100, 2 * PMTU),
            (Verb::Read(far(self, 0)), SINK + 1, 3 * PMTU),
            (
                Verb::FetchAdd {
                    remote: self.remote(1, ATOMIC),
                    add,
                },
                SINK + 4096,
                8,
            ),
            (Verb::Write(far(self, 4099)), SOURCE + 500, PMTU + 1),
            (Verb::WriteWithImm(far(self, 8192), 5), SOURCE, 40),
        ];
        let opcodes = [
            CompletionOpcode::Write,
            CompletionOpcode::Send,
            CompletionOpcode::Read,
            CompletionOpcode::FetchAdd,
            CompletionOpcode::Write,
            CompletionOpcode::Write,
        ];
        for (id, (verb, at, length)) in verbs.into_iter().enumerate() {
            self.post(0, qps[0], id as u64, verb, at, length);
        }
        self.wait_for([6, 2], PATIENCE, what);
        let sent: Vec<_> = self.done[0].drain(..).map(|c| (c.qp, c.wr_id, c.status, c.opcode)).collect();
        let want: Vec<_> = (0..6).map(|n| (qps[0], n as u64, CompletionStatus::Success, opcodes[n])).collect();
        assert_eq!(sent, want, "{what}");
        let came: Vec<_> = self.done[1]
            .drain(..)
            .map(|c| (c.qp, c.wr_id, c.status, c.byte_length, c.immediate))
            .collect();
        let good = CompletionStatus::Success;
        assert_eq!(
            came,
            [(qps[1], 0, good, 2 * PMTU as u32, None), (qps[1], 1, good, 40, Some(5))],
            "{what}"
        );
        assert!(self.bytes(1, TARGET, 3 * PMTU) == source[..3 * PMTU], "{what}: WRITE");
        assert!(self.bytes(1, RECEIVE, 2 * PMTU) == source[100..100 + 2 * PMTU], "{what}: SEND");
        assert!(self.bytes(0, SINK + 1, 3 * PMTU) == source[..3 * PMTU], "{what}: READ");
        assert_eq!(self.bytes(0, SINK + 4096, 8), seed.to_le_bytes(), "{what}: ATOMIC's result");
        assert_eq!(self.bytes(1, ATOMIC, 8), (seed + add).to_le_bytes(), "{what}: ATOMIC, once");
        assert!(
            self.bytes(1, TARGET + 4099, PMTU + 1) == source[500..501 + PMTU],
            "{what}: second WRITE"
        );
        assert!(self.bytes(1, TARGET + 8192, 40) == source[..40], "{what}: WRITE with immediate");
    }

    /// A round of work without faults: how many frames it takes each way.
    pub fn frames(&mut self, qps: [Qp; 2]) -> [u64; 2] {
        let sent = |wires: [Statistics; 2]| wires.map(|w| w.sent);
        self.settle();
        let before = sent(self.network.wires());
        self.round(qps, "no fault");
        self.settle();
        let after = sent(self.network.wires());
        [0, 1].map(|n| after[n] - before[n])
    }

    /// The next round's number: its bytes are made of it.
    pub fn restart_rounds(&mut self, number: u64) {
        self.round = number;
    }

    /// What both regions hold.
    pub fn memories(&mut self) -> [Vec<u8>; 2] {
        [0, 1].map(|n| self.bytes(n, 0, 4 * AREA as usize))
    }
}
