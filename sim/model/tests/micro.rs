// SPDX-License-Identifier: MIT OR Apache-2.0
//! The microcode of `cu`, emulated, against the golden model: frames, registers, rings and memory, packet by packet.

#[path = "micro/order.rs"]
mod order;
#[path = "rules/orders.rs"]
mod orders;

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::net::{IpAddr, Ipv4Addr};
use verbena_model::golden::keys::{Access as ModelAccess, Region};
use verbena_model::golden::qp::{Attributes, Message, State};
use verbena_model::golden::reorder::Reorder;
use verbena_model::golden::{Completion, Event, Features, Golden, Outcome};
use verbena_model::icrc::icrc;
use verbena_model::memory::{Memory, PAGE};
use verbena_model::packet::{Packet, Reth};
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_spec::config::Config;
use verbena_spec::counters::{self, Class, COUNTERS};
use verbena_spec::headers::{self, Operation, Position};
use verbena_spec::layout::{cq, cqe, event, event_type, mr, qp, rq_wqe, CQE_BYTES, EVENT_BYTES, MR_WORDS, QP_WORDS, RQ_WQE_BYTES};
use verbena_spec::micro::assembler::Program;
use verbena_spec::micro::board::{Access, Board, Refused};
use verbena_spec::micro::map;
use verbena_spec::micro::program::program;
use verbena_spec::registers::{self, doorbell, operation};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 3, 4, 5, 6, 7];
const US: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const MTU: usize = 256;
/// Words of a QP's row: the state; bit 31: READ responses are due.
const STATE: usize = 21;
const SERVE: usize = 46;
/// Steps that an access or a packet may take.
const LIMIT: usize = 20_000;
const CQ_LOG: u32 = 5;
const EQ_LOG: u32 = 4;
const RQ_LOG: u32 = 2;
/// Bus addresses.
const CQ_BASE: u32 = 0x1000;
const EQ_BASE: u32 = 0x3000;
const RQ_BASE: u32 = 0x4000;
const DATA: u32 = 0x1_0000;

/// Regions: key, local write, remote write, remote read, may be invalidated, virtual address, bytes, bus address.
type RegionRow = (u32, bool, bool, bool, bool, u64, u32, u32);
const REGIONS: [RegionRow; 3] = [
    (0x17, false, true, true, false, 0xffff_fe04, 0x3000, DATA + 0xe04),
    (0x2aa, true, false, false, false, 0x10_0000, 0x4000, DATA + 0x8000),
    (0x300, false, true, true, true, 0x7000, 0x100, DATA + 0x1_0000),
];

struct Pair {
    board: Board,
    program: Program,
    main: usize,
    model: Golden,
    memory: Memory,
    rng: ChaCha8Rng,
    attributes: Vec<Attributes>,
    posted: [u32; 4],
    consumed: [u32; 4],
    taken: [u32; 4],
    events: u32,
    tag: u32,
    /// QPs hold early packets, with any `nak_distance`.
    order: bool,
    /// READ requests that each QP's peer has sent: first PSN, RETH.
    reads: [Vec<(u32, Reth)>; 4],
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes(c.try_into().expect("four bytes")))
        .collect()
}

fn code(state: State) -> u32 {
    state as u32
}

impl Pair {
    fn new(seed: u64, latency: u32) -> Self {
        let program = program().unwrap_or_else(|e| panic!("{e}"));
        Self::on(Board::new(&program.words), program, seed, latency)
    }

    /// On a board that may have run before.
    fn on(board: Board, program: Program, seed: u64, latency: u32) -> Self {
        let main = program.symbols["main"] as usize;
        let local = Local {
            mac: MAC,
            gids: vec![Some(IpAddr::V4(US))],
            max_frame: 600,
            icrc_off: false,
        };
        let mut pair = Pair {
            board,
            program,
            main,
            model: Golden::with_features(
                local,
                Features {
                    read_atomic: true,
                    ..Features::default()
                },
            ),
            memory: Memory::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            attributes: vec![],
            posted: [0; 4],
            consumed: [0; 4],
            taken: [0; 4],
            events: 0,
            tag: 0,
            order: false,
            reads: Default::default(),
        };
        pair.model.reorder = Reorder::CU;
        pair.board.outside.latency = latency;
        for (address, value) in [
            (registers::MAC_LOW, 0x0000_0001),
            (registers::MAC_HIGH, 0x0200),
            (registers::GID0_3, US.into()),
            (registers::GID_VALID, 1),
            (registers::EQ_BASE_LOW, EQ_BASE),
            (registers::EQ_CONTROL, EQ_LOG | 1 << 31),
            (registers::CONTROL, 0b1001),
        ] {
            pair.write(address, value);
        }
        for i in 0..4 {
            pair.write(registers::CQ_TABLE + 16 * i + 4, CQ_BASE + ((CQE_BYTES as u32 * i) << CQ_LOG));
            let mut row = [0; 1];
            cq::LOG.set(&mut row, CQ_LOG);
            row[0] |= 1 << 31;
            pair.write(registers::CQ_TABLE + 16 * i, row[0]);
        }
        for region in REGIONS {
            pair.register(region);
        }
        for index in 1..4 {
            pair.attributes.push(Attributes {
                pmtu: MTU,
                pd: 7,
                peer_ip: IpAddr::V4(PEER),
                peer_mac: PEER_MAC,
                peer_qpn: 0x12_3456,
                traffic_class: 0x5a,
                hop_limit: 33,
                udp_source: 0xc0de,
                recv_cq: index as u16,
                send_cq: index as u16,
                reorder: false,
                ..Attributes::default()
            });
            pair.connect(index);
        }
        pair
    }

    /// Runs one step of the test's own, and names the place where the program was if it doesn't come to its end.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Board) -> T) -> T {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&mut self.board)));
        let core = &self.board.core;
        let stack = core.stack.map(|at| self.program.place(at.into())).join(", ");
        done.unwrap_or_else(|_| panic!("at {}; called from {stack}", self.program.place(core.pc)))
    }

    fn write(&mut self, address: u32, value: u32) {
        let answer = self.guarded(|b| b.access(Access::Write(address, value), LIMIT));
        assert_eq!(answer, Ok(0), "write {address:#x}");
    }

    fn read(&mut self, address: u32) -> u32 {
        let answer = self.guarded(|b| b.access(Access::Read(address), LIMIT));
        answer.unwrap_or_else(|Refused| panic!("read {address:#x}"))
    }

    fn register(&mut self, (key, local_write, remote_write, remote_read, may_invalidate, va, length, address): RegionRow) {
        let mut row = [0; MR_WORDS];
        mr::KEY_TAG.set(&mut row, key & 0xff);
        mr::LOCAL_WRITE.set(&mut row, local_write.into());
        mr::REMOTE_WRITE.set(&mut row, remote_write.into());
        mr::REMOTE_READ.set(&mut row, remote_read.into());
        mr::MAY_INVALIDATE.set(&mut row, may_invalidate.into());
        mr::PD.set(&mut row, 7);
        mr::VALID.set(&mut row, 1);
        mr::VA_LOW.set(&mut row, va as u32);
        mr::VA_HIGH.set(&mut row, (va >> 32) as u32);
        mr::LENGTH_LOW.set(&mut row, length);
        mr::ADDRESS_LOW.set(&mut row, address);
        for i in (0..MR_WORDS).rev() {
            self.write(registers::MR_TABLE + 32 * (key >> 8) + 4 * i as u32, row[i]);
        }
        let first = u64::from(address) & !(PAGE - 1);
        self.model.register(Region {
            key,
            pd: 7,
            access: ModelAccess {
                local_write,
                remote_write,
                remote_read,
                ..ModelAccess::default()
            },
            may_invalidate,
            virtual_address: va,
            length: length.into(),
            pages: (0..=u64::from(length) / PAGE + 1).map(|i| first + i * PAGE).collect(),
        });
    }

    fn command(&mut self, operation: u32, state: u32, index: u32) -> bool {
        self.write(registers::COMMAND, operation << 28 | state << 12 | index);
        self.read(registers::COMMAND_STATUS) == 0
    }

    fn connect(&mut self, index: u32) {
        self.tag = (self.tag + 1) & 0xfff;
        let rng = &mut self.rng;
        let a = &mut self.attributes[index as usize - 1];
        a.qpn = self.tag << 12 | index;
        a.rq_psn = *[0xff_fffe, 0, 77, 0x7f_ffff].choose(rng).unwrap();
        a.rnr_timer = rng.gen_range(0..32);
        a.remote_write = rng.gen_ratio(9, 10);
        a.remote_read = rng.gen_ratio(9, 10);
        a.max_dest_rd_atomic = *[0, 1, 2, 2, 2, 2].choose(rng).unwrap();
        if self.order {
            a.reorder = rng.gen_ratio(9, 10);
            a.nak_distance = *[0, 0, 1, 2, 3, 63].choose(rng).unwrap();
            // Two READs are kept for duplicates, whatever the peer may have outstanding; the model keeps no more than that.
            a.max_dest_rd_atomic = *[0, 2, 2, 2].choose(rng).unwrap();
        }
        self.bring_up(index);
    }

    /// The QP in RTR, with its attributes as they are, on both sides.
    fn bring_up(&mut self, index: u32) {
        self.reads[index as usize].clear();
        let a = self.attributes[index as usize - 1].clone();
        let mut r = [0; QP_WORDS];
        for (field, value) in [
            (qp::SERVICE, a.service.into()),
            (qp::PMTU, (a.pmtu / 128).ilog2()),
            (qp::REMOTE_WRITE, a.remote_write.into()),
            (qp::REMOTE_READ, a.remote_read.into()),
            (qp::MAX_DEST_RD_ATOMIC, a.max_dest_rd_atomic.into()),
            (qp::RNR_TIMER, a.rnr_timer.into()),
            (qp::TAG, a.qpn >> 12),
            (qp::PD, a.pd.into()),
            (qp::PKEY, a.pkey.into()),
            (qp::DEST_QPN, a.peer_qpn),
            (qp::TRAFFIC_CLASS, a.traffic_class.into()),
            (qp::RQ_PSN, a.rq_psn),
            (qp::RECV_CQ, a.recv_cq.into()),
            (qp::SEND_CQ, a.send_cq.into()),
            (qp::RQ_BASE_LOW, RQ_BASE + 0x100 * index),
            (qp::RQ_LOG, RQ_LOG),
            (qp::HOP_LIMIT, a.hop_limit.into()),
            (qp::UDP_SOURCE, a.udp_source.into()),
            (qp::DEST_MAC_LOW, u32::from_be_bytes([4, 5, 6, 7])),
            (qp::DEST_MAC_HIGH, 0x0203),
            (qp::REORDER, a.reorder.into()),
            (qp::NAK_DISTANCE, a.nak_distance.into()),
            (qp::NAK_DELAY, a.nak_delay.into()),
            (qp::DEST_IP_2, 0xffff),
            (qp::DEST_IP_3, PEER.into()),
        ] {
            field.set(&mut r, value);
        }
        assert!(self.command(operation::MODIFY_QP, 0, index));
        for (i, word) in r.iter().enumerate() {
            self.write(registers::QP_TABLE + 128 * index + 4 * i as u32, *word);
        }
        assert!(self.command(operation::MODIFY_QP, 1, index));
        assert!(self.command(operation::MODIFY_QP, 2, index));
        self.model.create_qp(a.clone());
        let mut none = Outcome::default();
        for state in [State::Init, State::Rtr] {
            assert!(self.model.modify(a.qpn, state, &mut none));
        }
        (self.posted[index as usize], self.consumed[index as usize]) = (0, 0);
        self.same_state(index);
    }

    fn same_state(&mut self, index: u32) {
        assert!(self.command(operation::QUERY_QP, 0, index));
        let result = self.read(registers::RESULT_0);
        let msn = self.read(registers::RESULT_1);
        let consumed = self.read(registers::RESULT_2);
        let qp = self.model.qp(index).unwrap();
        assert_eq!(
            (result & 7, result >> 8, msn),
            (code(qp.state), qp.epsn, qp.msn),
            "QP {index}: state, ePSN, MSN"
        );
        assert_eq!(consumed, self.consumed[index as usize] & 0xffff, "QP {index}: consumed");
    }

    fn post(&mut self, index: u32) {
        let rng = &mut self.rng;
        let va = 0x10_0000 + rng.gen_range(0..0x3800u64);
        let length = *[1000, 1000, 1000, 300, 255, 47, 40, 0].choose(rng).unwrap();
        let key = if rng.gen_ratio(1, 20) { 0x2ab } else { 0x2aa };
        self.post_buffer(index, va, length, key);
    }

    /// A receive, if the ring has room.
    fn post_buffer(&mut self, index: u32, va: u64, length: u32, key: u32) {
        let i = index as usize;
        if self.posted[i] - self.consumed[i] >= 1 << RQ_LOG {
            return;
        }
        let mut wqe = [0; RQ_WQE_BYTES / 4];
        rq_wqe::ADDRESS_LOW.set(&mut wqe, va as u32);
        rq_wqe::ADDRESS_HIGH.set(&mut wqe, (va >> 32) as u32);
        rq_wqe::LENGTH.set(&mut wqe, length);
        rq_wqe::LKEY.set(&mut wqe, key);
        let slot = self.posted[i] & ((1 << RQ_LOG) - 1);
        let at = (RQ_BASE + 0x100 * index + RQ_WQE_BYTES as u32 * slot) as usize;
        for (n, word) in wqe.iter().enumerate() {
            self.board.outside.memory[at + 4 * n..at + 4 * n + 4].copy_from_slice(&word.to_le_bytes());
        }
        self.posted[i] += 1;
        let mut outcome = Outcome::default();
        self.model.post_receive(index, va, length, key, &mut outcome);
        self.write(
            registers::DOORBELLS + 16 * index + 4 * doorbell::RQ_PRODUCER,
            self.posted[i] & 0xffff,
        );
        self.settle();
        self.same_completions(&outcome);
    }

    /// Until nothing waits, READ responses included.
    fn settle(&mut self) {
        let main = self.main;
        self.guarded(|b| {
            for _ in 0..LIMIT {
                b.settle(main, LIMIT);
                let due = |page: usize| {
                    b.core.memory[page * map::PAGE + SERVE] >> 31 == 1 && (2..5).contains(&(b.core.memory[page * map::PAGE + STATE] & 0xff))
                };
                if !(1..4).any(due) {
                    return;
                }
                assert_eq!(b.step(), None);
            }
            panic!("READ responses never end");
        });
        assert_eq!(self.board.outside.violations, Vec::<String>::new());
    }

    /// What the engine has written into its CQs since the last look, by CQ; the consumer doorbell follows now and then.
    fn completions(&mut self) -> Vec<Completion> {
        let mut found = vec![];
        for i in 0..4u32 {
            loop {
                let taken = self.taken[i as usize];
                let at = CQ_BASE + ((CQE_BYTES as u32 * i) << CQ_LOG) + CQE_BYTES as u32 * (taken & ((1 << CQ_LOG) - 1));
                let entry = words(&self.board.outside.memory[at as usize..at as usize + CQE_BYTES]);
                if cqe::PHASE.get(&entry) != (taken >> CQ_LOG & 1) ^ 1 {
                    break;
                }
                self.taken[i as usize] += 1;
                let good = cqe::STATUS.get(&entry) == 0;
                let valued = cqe::WITH_IMM.get(&entry) + cqe::WITH_INVALIDATE.get(&entry) != 0;
                found.push(Completion {
                    cq: i as u16,
                    qpn: cqe::QPN.get(&entry),
                    opcode: cqe::OPCODE.get(&entry),
                    status: cqe::STATUS.get(&entry),
                    with_imm: cqe::WITH_IMM.get(&entry) == 1,
                    with_invalidate: cqe::WITH_INVALIDATE.get(&entry) == 1,
                    grh: cqe::GRH.get(&entry) == 1,
                    solicited: cqe::SOLICITED.get(&entry) == 1,
                    wqe_index: cqe::WQE_INDEX.get(&entry) as u16,
                    byte_length: if good { cqe::BYTE_LENGTH.get(&entry) } else { 0 },
                    immediate: if valued { cqe::IMMEDIATE.get(&entry) } else { 0 },
                    source_qpn: 0,
                });
            }
            if found.iter().any(|c| u32::from(c.cq) == i) {
                self.write(
                    registers::DOORBELLS + 16 * i + 4 * doorbell::CQ_CONSUMER,
                    self.taken[i as usize] & 0xffff,
                );
            }
        }
        found
    }

    fn same_completions(&mut self, outcome: &Outcome) {
        let got = self.completions();
        assert_eq!(got, outcome.completions, "completions");
        for c in got {
            self.consumed[usize::from(c.cq)] += 1;
        }
    }

    fn same_events(&mut self, outcome: &Outcome) {
        let before = self.events;
        let mut got = vec![];
        loop {
            let at = (EQ_BASE + EVENT_BYTES as u32 * (self.events & ((1 << EQ_LOG) - 1))) as usize;
            let entry = words(&self.board.outside.memory[at..at + EVENT_BYTES]);
            if event::PHASE.get(&entry) != (self.events >> EQ_LOG & 1) ^ 1 {
                break;
            }
            self.events += 1;
            // The model here has no requester, so it never drains.
            if event::TYPE.get(&entry) == event_type::SQ_DRAINED {
                continue;
            }
            got.push(Event {
                kind: event::TYPE.get(&entry),
                number: event::NUMBER.get(&entry),
                detail: event::DETAIL.get(&entry),
            });
        }
        assert_eq!(got, outcome.events, "events");
        assert_eq!(self.board.outside.control >> 2 & 1, u32::from(self.events != before), "interrupt");
        if self.events != before {
            self.write(registers::EQ_CONSUMER, self.events & 0xff);
            assert_eq!(self.board.outside.control >> 2 & 1, 0, "interrupt off");
        }
    }

    fn packet(&mut self, index: u32) -> Packet {
        let a = self.attributes[index as usize - 1].clone();
        let qp = self.model.qp(index).unwrap().clone();
        let rng = &mut self.rng;
        let choice: &[u8] = match qp.message {
            Message::Send { .. } => &[1, 1, 2, 3, 22],
            Message::Write { .. } => &[7, 7, 8, 9],
            _ => &[0, 4, 5, 6, 6, 10, 10, 11, 12, 12, 12, 23],
        };
        let mut opcode = *choice.choose(rng).unwrap();
        if rng.gen_ratio(1, 12) {
            opcode = rng.gen();
        }
        // The wire carries nothing else: UD and CNP are another station's.
        while headers::opcode(opcode).is_none() || opcode == 0x81 {
            opcode = rng.gen();
        }
        let info = headers::opcode(opcode).unwrap();
        let mut length = match info.position {
            Position::First | Position::Middle => MTU,
            Position::Last => rng.gen_range(1..=MTU),
            Position::Only => rng.gen_range(0..=MTU),
        };
        if let (Message::Write { left, .. }, true) = (qp.message, info.ends()) {
            length = (left as usize).min(MTU);
        }
        if rng.gen_ratio(1, 25) {
            length = rng.gen_range(0..=MTU + 4);
        }
        if !info.payload {
            length = 0;
        }
        let read = info.operation == Operation::ReadRequest;
        let mut dma = match info.position {
            _ if read => *[0, 1, 255, 256, 257, 512, 700, 1024].choose(rng).unwrap(),
            Position::First => MTU as u32 * rng.gen_range(1..3) + rng.gen_range(0..MTU as u32),
            _ => length as u32,
        };
        if rng.gen_ratio(1, 25) {
            dma = *[0, 1, 256, 0x8000_0000, 0x8000_0001, 0xffff_ffff].choose(rng).unwrap();
        }
        let keys = [
            (0x17, 0xffff_fe04u64, 0x3000u64),
            (0x17, 0xffff_fe04, 0x3000),
            (0x17, 0xffff_fe04, 0x3000),
            (0x300, 0x7000, 0x100),
            (0x2aa, 0x10_0000, 0x4000),
            (0xbad, 0, 8),
        ];
        let (rkey, base, size) = *keys.choose(rng).unwrap();
        let va = if rng.gen_ratio(9, 10) {
            base + rng.gen_range(0..size / 2)
        } else {
            base + size - 4
        };
        let drift = *[
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 100, 0x7f_ffff, 0x80_0000, 0xff_fffe, 0xff_ffff, 0xff_ffff,
        ]
        .choose(rng)
        .unwrap();
        let drift = if self.order && rng.gen() { rng.gen_range(0..5) } else { drift };
        let mut p = Packet {
            destination_mac: MAC,
            source: a.peer_ip,
            destination: IpAddr::V4(US),
            opcode,
            solicited: rng.gen(),
            qpn: a.qpn,
            ack_request: rng.gen_ratio(3, 4),
            psn: (qp.epsn + drift) & 0xff_ffff,
            reth: Reth {
                virtual_address: va,
                rkey,
                length: dma,
            },
            immediate: rng.gen(),
            invalidate_rkey: *[0x300, 0x300, 0x17].choose(rng).unwrap(),
            payload: (0..length).map(|_| rng.gen()).collect(),
            ..Packet::default()
        };
        // A READ once more: the same, a tail, or nearly so (R28).
        if rng.gen_ratio(1, 6) {
            if let Some((psn, reth)) = self.reads[index as usize].iter().rev().take(3).collect::<Vec<_>>().choose(rng) {
                let packets = (reth.length as usize).div_ceil(MTU).max(1) as u32;
                let ahead = rng.gen_range(0..=packets);
                let skipped = (ahead * MTU as u32).min(reth.length);
                p.opcode = 12;
                p.payload.clear();
                p.psn = (psn + ahead) & 0xff_ffff;
                p.reth = Reth {
                    virtual_address: reth.virtual_address + u64::from(skipped),
                    rkey: reth.rkey,
                    length: reth.length - skipped,
                };
                match rng.gen_range(0..10) {
                    0 => p.reth.virtual_address ^= 1 << rng.gen_range(0..64),
                    1 => p.reth.rkey ^= 1 << rng.gen_range(0..10),
                    2 => p.reth.length += 1,
                    3 => p.reth.length /= 2,
                    4 => p.reth.length = 0,
                    5 => p.psn = (p.psn + 1) & 0xff_ffff,
                    _ => {}
                }
            }
        }
        match rng.gen_range(0..60) {
            0 => p.qpn ^= 1 << rng.gen_range(0..24),
            1 => p.pkey ^= 1 << rng.gen_range(0..16),
            2 => p.source = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3)),
            _ => {}
        }
        p
    }

    fn step(&mut self) {
        let index = self.rng.gen_range(1..4);
        match self.rng.gen_range(0..20) {
            0 => return self.connect(index),
            1..=6 => return self.post(index),
            7 if self.rng.gen_ratio(1, 3) => {
                let qpn = self.attributes[index as usize - 1].qpn;
                let state = *[State::Init, State::Rtr, State::Rts, State::Sqd, State::Err]
                    .choose(&mut self.rng)
                    .unwrap();
                let mut outcome = Outcome::default();
                let good = self.model.modify(qpn, state, &mut outcome);
                let done = self.command(operation::MODIFY_QP, code(state), index);
                assert_eq!(done, good, "QP {index} to {state:?}");
                self.settle();
                self.same_completions(&outcome);
                return self.same_state(index);
            }
            _ => {}
        }
        let p = self.packet(index);
        self.deliver(&p);
        if self.model.regions.check(0x300, 7, ModelAccess::default(), 0x7000, 1).is_none() && self.rng.gen_ratio(1, 8) {
            self.register(REGIONS[2]);
        }
        if index == p.qpn & 3 && self.rng.gen_ratio(1, 4) {
            self.same_state(index);
        }
        if self.model.qp(index).unwrap().state == State::Err && self.rng.gen_ratio(1, 2) {
            self.connect(index);
        }
    }

    /// The packet to both, and all that it has done is the same.
    fn deliver(&mut self, p: &Packet) -> Outcome {
        let frame = p.to_frame();
        let Verdict::Roce { packet, .. } = verdict(&frame, false, &self.model.local) else {
            return Outcome::default();
        };
        let before_psn = self.model.qp(packet.qpn & 3).map(|qp| qp.epsn);
        let outcome = self.model.receive(&frame, false, &mut self.memory);
        if packet.opcode == 12 && before_psn == Some(packet.psn) && outcome.responder == Some(counters::ACCEPTED) {
            self.reads[packet.qpn as usize & 3].push((packet.psn, packet.reth));
        }
        let counter = u32::from(outcome.responder.unwrap());
        let before = self.read(registers::COUNTERS + 4 * counter);
        assert!(self.board.outside.receive(&frame, packet.info().unwrap()));
        self.settle();
        let after = self.read(registers::COUNTERS + 4 * counter);
        let again = outcome.drained.iter().filter(|c| u32::from(**c) == counter).count() as u32;
        assert_eq!(after, before + 1 + again, "counter {counter} of {packet:?}; model {outcome:?}");
        self.same_counters();
        let answers: Vec<Vec<u8>> = outcome.answers.iter().map(|a| a.to_frame()).collect();
        let sent: Vec<Vec<u8>> = self
            .board
            .outside
            .sent
            .drain(..)
            .map(|mut f| {
                let crc = icrc(&f[14..]).expect("a RoCE packet");
                f.extend(crc);
                f
            })
            .collect();
        assert_eq!(sent, answers, "answer to {packet:?}");
        self.same_completions(&outcome);
        self.same_events(&outcome);
        let data = self.board.outside.memory[DATA as usize..].to_vec();
        assert!(
            data == self.memory.read(DATA.into(), data.len()),
            "memory differs after {packet:?}, {outcome:?}"
        );
        outcome
    }

    /// Every packet is counted as the model counts it.
    fn same_counters(&self) {
        for c in COUNTERS {
            if c.class == Class::Responder || c.code == counters::REORDER_HELD {
                let (got, want) = (self.count(c.code), self.model.counters()[usize::from(c.code)]);
                assert_eq!(got, want, "counter {}", c.name);
            }
        }
    }

    /// A counter, where it stands in the memory.
    fn count(&self, code: u8) -> u32 {
        self.board.core.memory[map::counter(code)]
    }
}

fn run(seed: u64, latency: u32, steps: u32, order: bool) -> Pair {
    let mut pair = Pair::new(seed, latency);
    if order {
        pair.order = true;
        (1..4).for_each(|index| pair.connect(index));
    }
    for step in 0..steps {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pair.step()));
        if let Err(panic) = outcome {
            eprintln!("seed {seed}, step {step}");
            std::panic::resume_unwind(panic);
        }
    }
    let mut seen = vec![];
    for c in verbena_spec::counters::COUNTERS {
        let n = pair.read(registers::COUNTERS + 4 * u32::from(c.code));
        if n > 0 {
            seen.push(format!("{} {n}", c.name));
        }
    }
    println!("{}", seen.join(", "));
    pair
}

#[test]
fn random_packets_equal_the_golden_model() {
    for seed in 1..5 {
        run(seed, 0, 2000, false);
    }
}

#[test]
fn random_packets_with_slow_memory() {
    run(5, 30, 1000, false);
}

#[test]
fn registers_read_back_and_nonsense_is_refused() {
    let mut pair = Pair::new(9, 0);
    let config = Config::preset("cu").unwrap();
    assert_eq!(pair.read(registers::CAPABILITIES), registers::capabilities(&config));
    assert_eq!(pair.read(registers::READ_LIMITS), registers::read_limits(&config));
    assert_eq!(pair.read(registers::ID), 0x5642_4e41);
    assert_eq!(pair.read(registers::STATUS), 1);
    for r in registers::REGISTERS {
        let got = pair.board.access(Access::Read(r.address), LIMIT);
        assert_eq!(got.is_ok(), r.access != registers::Access::WriteOnly, "{}", r.name);
        let written = pair.board.access(Access::Write(r.address, 0), LIMIT);
        assert_eq!(written.is_ok(), r.access != registers::Access::ReadOnly, "{}", r.name);
    }
    pair.write(registers::SCRATCH, 0xdead_beef);
    assert_eq!(pair.read(registers::SCRATCH), 0xdead_beef);
    for address in [
        0x94,
        0x3c_0000 & 0x1f_ffff,
        2,
        0x1100,
        0x1_0040,
        0x2_0040,
        0x3_0000,
        0x4_0080,
        0x10_0200,
    ] {
        assert_eq!(pair.board.access(Access::Write(address, 0), LIMIT), Err(Refused), "{address:#x}");
        assert_eq!(pair.board.access(Access::Read(address), LIMIT), Err(Refused), "{address:#x}");
    }
}

/// What the engine has sent, with the ICRC.
fn sent(pair: &mut Pair) -> Vec<Vec<u8>> {
    let frames = pair.board.outside.sent.drain(..);
    frames
        .map(|mut f| {
            let crc = icrc(&f[14..]).expect("a RoCE packet");
            f.extend(crc);
            f
        })
        .collect()
}

/// Opcode, PSN and bytes behind the BTH of what the engine has sent.
fn sent_packets(pair: &mut Pair) -> Vec<(u8, u32, Vec<u8>)> {
    let bth = 14 + 20 + 8;
    sent(pair)
        .iter()
        .map(|f| {
            let psn = u32::from_be_bytes([0, f[bth + 9], f[bth + 10], f[bth + 11]]);
            (f[bth], psn, f[bth + 12..f.len() - 4].to_vec())
        })
        .collect()
}

/// A QP that allows READs, and a packet of its peer.
fn reader(seed: u64) -> (Pair, Packet) {
    let mut pair = Pair::new(seed, 0);
    while !(pair.attributes[0].remote_read && pair.attributes[0].remote_write && pair.attributes[0].max_dest_rd_atomic == 2) {
        pair.connect(1);
    }
    let data: Vec<u8> = (0..0x3000u32).map(|i| (i * 7 + (i >> 8)) as u8).collect();
    let at = REGIONS[0].7;
    pair.board.outside.memory[at as usize..][..data.len()].copy_from_slice(&data);
    pair.memory.write(at.into(), &data);
    let a = pair.attributes[0].clone();
    let packet = Packet {
        destination_mac: MAC,
        source: a.peer_ip,
        destination: IpAddr::V4(US),
        qpn: a.qpn,
        ack_request: true,
        psn: a.rq_psn,
        ..Packet::default()
    };
    (pair, packet)
}

const READ: u8 = 12;

fn read_of(packet: &Packet, skip: u32, length: u32) -> Packet {
    Packet {
        opcode: READ,
        psn: (packet.psn + skip / MTU as u32) & 0xff_ffff,
        reth: Reth {
            virtual_address: REGIONS[0].5 + 9 + u64::from(skip),
            rkey: REGIONS[0].0,
            length,
        },
        ..packet.clone()
    }
}

fn give(pair: &mut Pair, packet: &Packet) {
    assert!(pair.board.outside.receive(&packet.to_frame(), packet.info().unwrap()));
}

/// Until that many frames have been sent.
fn until_sent(pair: &mut Pair, frames: usize) {
    for _ in 0..LIMIT {
        if pair.board.outside.sent.len() >= frames {
            return;
        }
        assert_eq!(pair.board.step(), None);
    }
    panic!("{} of {frames} frames sent", pair.board.outside.sent.len());
}

#[test]
fn r36_what_follows_a_read_is_answered_behind_its_last_response() {
    for seed in 0..4 {
        let (mut pair, packet) = reader(seed);
        let first = read_of(&packet, 0, 1000);
        let write = Packet {
            opcode: 10,
            psn: (packet.psn + 4) & 0xff_ffff,
            reth: Reth {
                virtual_address: REGIONS[0].5,
                rkey: REGIONS[0].0,
                length: 4,
            },
            payload: vec![1, 2, 3, 4],
            ..packet.clone()
        };
        let second = Packet {
            psn: (packet.psn + 5) & 0xff_ffff,
            ..read_of(&packet, 0, 300)
        };
        let mut answers = vec![];
        for p in [&first, &write, &second] {
            let outcome = pair.model.receive(&p.to_frame(), false, &mut pair.memory);
            answers.extend(outcome.answers.iter().map(|a| a.to_frame()));
            give(&mut pair, p);
        }
        pair.settle();
        assert_eq!(answers.len(), 4 + 1 + 2);
        assert_eq!(sent(&mut pair), answers, "seed {seed}");
        pair.same_state(1);
    }
}

/// The rest of a READ that is still being answered, asked for again: the responses go on from there, and no second copy follows.
#[test]
fn r33_a_read_under_way_goes_on_from_where_it_is_asked_for_again() {
    let (mut pair, packet) = reader(1);
    give(&mut pair, &read_of(&packet, 0, 5 * MTU as u32));
    until_sent(&mut pair, 1);
    give(&mut pair, &read_of(&packet, 3 * MTU as u32, 2 * MTU as u32));
    pair.settle();
    let got: Vec<(u8, u32)> = sent_packets(&mut pair)
        .iter()
        .map(|p| (p.0, p.1.wrapping_sub(packet.psn) & 0xff_ffff))
        .collect();
    assert_eq!(got[0], (0x0d, 0));
    assert_eq!(got[got.len() - 2..], [(0x0d, 3), (0x0f, 4)], "{got:?}");
    assert!(got.len() <= 4, "{got:?}");
    assert_eq!(pair.read(registers::COUNTERS + 4 * u32::from(counters::DUPLICATE)), 1);
    // A part that isn't the rest waits, and is answered behind.
    let (mut pair, packet) = reader(2);
    give(&mut pair, &read_of(&packet, 0, 4 * MTU as u32));
    until_sent(&mut pair, 1);
    give(&mut pair, &read_of(&packet, MTU as u32, MTU as u32));
    pair.settle();
    let got: Vec<(u8, u32)> = sent_packets(&mut pair)
        .iter()
        .map(|p| (p.0, p.1.wrapping_sub(packet.psn) & 0xff_ffff))
        .collect();
    assert_eq!(got, [(0x0d, 0), (0x0e, 1), (0x0e, 2), (0x0f, 3), (0x10, 1)]);
}

#[test]
fn r52_a_key_that_ends_during_a_read_ends_the_qp() {
    let (mut pair, packet) = reader(3);
    give(&mut pair, &read_of(&packet, 0, 8 * MTU as u32));
    until_sent(&mut pair, 1);
    pair.write(registers::MR_TABLE, 0);
    pair.settle();
    let got = sent_packets(&mut pair);
    let (opcode, psn, body) = got.last().unwrap();
    assert!(got.len() < 8, "the key had ended");
    assert_eq!((*opcode, *psn), (0x11, (packet.psn + got.len() as u32 - 1) & 0xff_ffff));
    assert_eq!(body[0], 0x62);
    assert!(pair.command(operation::QUERY_QP, 0, 1));
    assert_eq!(pair.read(registers::RESULT_0) & 7, code(State::Err));
    assert_eq!(pair.read(registers::COUNTERS + 4 * u32::from(counters::NAKED)), 1);
}

#[test]
fn r69_a_read_of_memory_that_answers_with_an_error_is_refused() {
    let (mut pair, packet) = reader(4);
    let at = REGIONS[0].7 + 9 + 2 * MTU as u32;
    pair.board.outside.bad.push(at..at + 4);
    give(&mut pair, &read_of(&packet, 0, 4 * MTU as u32));
    pair.settle();
    let got = sent_packets(&mut pair);
    assert_eq!(got.iter().map(|p| p.0).collect::<Vec<_>>(), [0x0d, 0x0e, 0x11]);
    assert_eq!((got[2].1, got[2].2[0]), ((packet.psn + 2) & 0xff_ffff, 0x63));
    assert!(pair.command(operation::QUERY_QP, 0, 1));
    assert_eq!(pair.read(registers::RESULT_0) & 7, code(State::Err));
}
