// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requester of the microcode, emulated, against a golden responder over a wire that loses frames: every byte and every completion.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use verbena_model::golden::keys::{Access as ModelAccess, Region};
use verbena_model::golden::qp::{Attributes, State};
use verbena_model::golden::send_wqe::SendWqe;
use verbena_model::golden::{Features, Golden, Outcome};
use verbena_model::icrc::icrc;
use verbena_model::memory::{Memory, PAGE};
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_spec::layout::{cq, cqe, mr, qp, send_opcode, sq_wqe, CQE_BYTES, MR_WORDS, QP_WORDS, SQ_WQE_BYTES};
use verbena_spec::micro::assembler::Program;
use verbena_spec::micro::board::{Access, Board};
use verbena_spec::micro::program::program;
use verbena_spec::registers::{self, doorbell, operation};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 3, 4, 5, 6, 7];
const US: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const LIMIT: usize = 20_000;
const CQ_LOG: u32 = 5;
const SQ_LOG: u32 = 3;
const CQ_BASE: u32 = 0x1000;
const SQ_BASE: u32 = 0x4000;
/// Our buffers, bus and virtual.
const DATA: u32 = 0x1_0000;
const DATA_BYTES: u32 = 0x8000;
const LKEY: u32 = 0x2aa;
const VA: u64 = 0x5_ffff_f123;
/// The peer's.
const RKEY: u32 = 0x177;
const PEER_VA: u64 = 0x9_0000_0777;
const PEER_BYTES: u32 = 0x4000;

struct World {
    board: Board,
    program: Program,
    peer: Golden,
    peer_memory: Memory,
    rng: ChaCha8Rng,
    qpn: u32,
    posted: u16,
    taken: u32,
    to_us: VecDeque<Vec<u8>>,
    loss: f64,
    lost: u32,
    /// What the peer's receives told: with immediate, its value.
    received: Vec<(bool, u32)>,
}

impl World {
    fn new(seed: u64, pmtu: usize, loss: f64) -> World {
        let program = program().unwrap_or_else(|e| panic!("{e}"));
        let local = Local {
            mac: PEER_MAC,
            gids: vec![Some(IpAddr::V4(PEER))],
            max_frame: 4200,
            icrc_off: false,
        };
        let mut w = World {
            board: Board::new(&program.words),
            program,
            peer: Golden::with_features(local, Features::ALL),
            peer_memory: Memory::new(),
            rng: ChaCha8Rng::seed_from_u64(seed),
            qpn: 0x12_3001,
            posted: 0,
            taken: 0,
            to_us: VecDeque::new(),
            loss,
            lost: 0,
            received: vec![],
        };
        w.board.outside.latency = 5;
        let psn = *[0, 0xff_fff0, 0x7f_fff8].get(w.rng.gen_range(0..3)).unwrap();
        for (address, value) in [
            (registers::MAC_LOW, 1),
            (registers::MAC_HIGH, 0x0200),
            (registers::GID0_3, US.into()),
            (registers::GID_VALID, 1),
            (registers::CONTROL, 1),
            (registers::TICK, 24 << 8),
            (registers::CQ_TABLE + 16 + 4, CQ_BASE),
            (registers::CQ_TABLE + 16, 1 << 31 | CQ_LOG),
        ] {
            w.write(address, value);
        }
        let _ = cq::LOG;
        let mut row = [0; MR_WORDS];
        for (field, value) in [
            (mr::KEY_TAG, LKEY & 0xff),
            (mr::LOCAL_WRITE, 1),
            (mr::PD, 7),
            (mr::VALID, 1),
            (mr::VA_LOW, VA as u32),
            (mr::VA_HIGH, (VA >> 32) as u32),
            (mr::LENGTH_LOW, DATA_BYTES),
            (mr::ADDRESS_LOW, DATA + 0x123),
        ] {
            field.set(&mut row, value);
        }
        for i in (0..MR_WORDS).rev() {
            w.write(registers::MR_TABLE + 32 * (LKEY >> 8) + 4 * i as u32, row[i]);
        }
        let mut r = [0; QP_WORDS];
        for (field, value) in [
            (qp::PMTU, (pmtu / 256).ilog2() + 1),
            (qp::TAG, w.qpn >> 12),
            (qp::PD, 7),
            (qp::PKEY, 0xffff),
            (qp::DEST_QPN, 0x45_6002),
            (qp::RECV_CQ, 1),
            (qp::SEND_CQ, 1),
            (qp::SQ_LOG, SQ_LOG),
            (qp::SQ_BASE_LOW, SQ_BASE),
            (qp::SQ_PSN, psn),
            (qp::HOP_LIMIT, 64),
            (qp::UDP_SOURCE, 0xc000),
            (qp::DEST_MAC_LOW, 0x0405_0607),
            (qp::DEST_MAC_HIGH, 0x0203),
            (qp::DEST_IP_3, PEER.into()),
            (qp::TIMEOUT, 8),
            (qp::RETRY_COUNT, 7),
            (qp::RNR_RETRY, 7),
            (qp::MAX_RD_ATOMIC, 1),
        ] {
            field.set(&mut r, value);
        }
        w.modify(0);
        for (i, word) in r.iter().enumerate() {
            w.write(registers::QP_TABLE + 128 + 4 * i as u32, *word);
        }
        for state in 1..4 {
            w.modify(state);
        }
        w.peer.create_qp(Attributes {
            qpn: 0x45_6002,
            pmtu,
            pd: 3,
            remote_write: true,
            remote_read: true,
            max_dest_rd_atomic: 4,
            peer_ip: IpAddr::V4(US),
            peer_mac: MAC,
            peer_qpn: w.qpn,
            rq_psn: psn,
            rnr_timer: 1,
            ..Attributes::default()
        });
        let mut none = Outcome::default();
        for state in [State::Init, State::Rtr, State::Rts] {
            assert!(w.peer.modify(0x45_6002, state, &mut none));
        }
        w.peer.register(Region {
            key: RKEY,
            pd: 3,
            access: ModelAccess {
                local_write: true,
                remote_write: true,
                remote_read: true,
                ..ModelAccess::default()
            },
            may_invalidate: false,
            virtual_address: PEER_VA,
            length: PEER_BYTES.into(),
            pages: (0..8).map(|i| 0x10_0000 + i * PAGE).collect(),
        });
        let noise: Vec<u8> = (0..DATA_BYTES).map(|_| w.rng.gen()).collect();
        let at = DATA as usize + 0x123;
        w.board.outside.memory[at..at + noise.len()].copy_from_slice(&noise);
        let noise: Vec<u8> = (0..PEER_BYTES).map(|_| w.rng.gen()).collect();
        let region = w.peer_region();
        region.write(&mut w.peer_memory, PEER_VA, &noise);
        w
    }

    fn peer_region(&self) -> Region {
        let any = ModelAccess::default();
        self.peer
            .regions
            .check(RKEY, 3, any, PEER_VA, 1)
            .expect("the peer's region")
            .clone()
    }

    fn here(&self) -> String {
        let core = &self.board.core;
        let stack = core.stack.map(|at| self.program.place(at.into())).join(", ");
        format!("at {}; called from {stack}", self.program.place(core.pc))
    }

    fn write(&mut self, address: u32, value: u32) {
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.board.access(Access::Write(address, value), LIMIT)
        }));
        assert_eq!(answer.unwrap_or_else(|_| panic!("{}", self.here())), Ok(0), "write {address:#x}");
    }

    fn read(&mut self, address: u32) -> u32 {
        self.board.access(Access::Read(address), LIMIT).expect("readable")
    }

    fn modify(&mut self, state: u32) {
        self.write(registers::COMMAND, operation::MODIFY_QP << 28 | state << 12 | 1);
        assert_eq!(self.read(registers::COMMAND_STATUS), 0);
    }

    /// Posts, without the doorbell.
    fn post(&mut self, wqe: &SendWqe) -> u16 {
        let slot = u32::from(self.posted) & ((1 << SQ_LOG) - 1);
        let at = SQ_BASE as usize + SQ_WQE_BYTES * slot as usize;
        for (i, word) in wqe.0.iter().enumerate() {
            self.board.outside.memory[at + 4 * i..at + 4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
        self.posted = self.posted.wrapping_add(1);
        self.posted.wrapping_sub(1)
    }

    fn ring(&mut self) {
        self.write(registers::DOORBELLS + 16 + 4 * doorbell::SQ_PRODUCER, self.posted.into());
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(fault) = self.board.step() {
                panic!("{fault:?} {}", self.here());
            }
            assert!(self.board.core.waited < 1000, "waits for ever {}", self.here());
        }
        assert_eq!(self.board.outside.violations, Vec::<String>::new());
    }

    /// Frames cross, both ways.
    fn exchange(&mut self) {
        self.steps(400);
        while let Some(mut frame) = self.board.outside.sent.pop_front() {
            let crc = icrc(&frame[14..]).expect("a RoCE packet");
            frame.extend(crc);
            if self.rng.gen_bool(self.loss) {
                self.lost += 1;
                continue;
            }
            assert!(
                matches!(verdict(&frame, false, &self.peer.local), Verdict::Roce { .. }),
                "{frame:02x?}: {:?}",
                verdict(&frame, false, &self.peer.local)
            );
            let outcome = self.peer.receive(&frame, false, &mut self.peer_memory);
            self.received.extend(outcome.completions.iter().map(|c| (c.with_imm, c.immediate)));
            self.to_us.extend(outcome.answers.iter().map(|a| a.to_frame()));
        }
        if let Some(frame) = self.to_us.pop_front() {
            if self.rng.gen_bool(self.loss) {
                self.lost += 1;
                return;
            }
            let local = Local {
                mac: MAC,
                gids: vec![Some(IpAddr::V4(US))],
                max_frame: 600,
                icrc_off: false,
            };
            let Verdict::Roce { packet, .. } = verdict(&frame, false, &local) else {
                panic!("{frame:02x?}");
            };
            if !self.board.outside.receive(&frame, packet.info().unwrap()) {
                self.to_us.push_front(frame);
            }
        }
    }

    /// Status and index of the next completion.
    fn completion(&mut self) -> Option<(u32, u16, u32, u32)> {
        let at = (CQ_BASE + CQE_BYTES as u32 * (self.taken & ((1 << CQ_LOG) - 1))) as usize;
        let entry: Vec<u32> = self.board.outside.memory[at..at + CQE_BYTES]
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes(c.try_into().unwrap()))
            .collect();
        if cqe::PHASE.get(&entry) != (self.taken >> CQ_LOG & 1) ^ 1 {
            return None;
        }
        self.taken += 1;
        self.write(registers::DOORBELLS + 16 + 4 * doorbell::CQ_CONSUMER, self.taken & 0xffff);
        Some((
            cqe::STATUS.get(&entry),
            cqe::WQE_INDEX.get(&entry) as u16,
            cqe::OPCODE.get(&entry),
            cqe::BYTE_LENGTH.get(&entry),
        ))
    }

    fn ours(&self, va: u64, length: u32) -> Vec<u8> {
        let at = (va - VA) as usize + DATA as usize + 0x123;
        self.board.outside.memory[at..at + length as usize].to_vec()
    }

    /// One message, to its completion and its bytes.
    fn message(&mut self, opcode: u32) {
        let rng = &mut self.rng;
        let length: u32 = *[0, 1, 3, 4, 31, 32, 64, 255, 256, 257, 511, 512, 513, 1000, 3000]
            .get(rng.gen_range(0..15))
            .unwrap();
        let inline = length <= 32 && opcode != send_opcode::READ && rng.gen();
        let remote = PEER_VA + rng.gen_range(0..u64::from(PEER_BYTES - length));
        let mut wqe = SendWqe::new(opcode).remote(remote, RKEY).immediate(rng.gen());
        let mut parts = vec![];
        let bytes: Vec<u8> = (0..length).map(|_| rng.gen()).collect();
        if inline {
            wqe = wqe.inline(&bytes);
        } else {
            let first = if rng.gen() { length } else { rng.gen_range(0..=length) };
            for part in [first, length - first] {
                let va = VA + parts.len() as u64 * 0x4000 + rng.gen_range(0..0x1000);
                parts.push((va, part));
                if part > 0 || rng.gen() {
                    wqe = wqe.element(va, part, LKEY);
                } else {
                    parts.pop();
                }
            }
        }
        let local = |w: &World| -> Vec<u8> {
            if inline {
                bytes.clone()
            } else {
                parts.iter().flat_map(|(va, n)| w.ours(*va, *n)).collect()
            }
        };
        let region = self.peer_region();
        let want = if opcode == send_opcode::READ {
            region.read(&self.peer_memory, remote, length as usize)
        } else {
            local(self)
        };
        let send = !matches!(opcode, send_opcode::READ | send_opcode::WRITE);
        let buffer = PEER_VA + self.rng.gen_range(0..u64::from(PEER_BYTES - 3000));
        if send {
            let mut none = Outcome::default();
            self.peer.post_receive(0x45_6002, buffer, 3000, RKEY, &mut none);
        }
        let index = self.post(&wqe);
        self.ring();
        let mut done = None;
        for _ in 0..4000 {
            self.exchange();
            done = self.completion();
            if done.is_some() {
                break;
            }
        }
        let Some((status, number, _, bytes_done)) = done else {
            panic!("opcode {opcode}, {length} bytes: no completion; {}", self.here());
        };
        assert_eq!((status, number, bytes_done), (0, index, length), "opcode {opcode}, {wqe:x?}");
        let got = if opcode == send_opcode::READ {
            local(self)
        } else if matches!(opcode, send_opcode::WRITE | send_opcode::WRITE_WITH_IMM) {
            region.read(&self.peer_memory, remote, length as usize)
        } else {
            region.read(&self.peer_memory, buffer, length as usize)
        };
        let with = matches!(opcode, send_opcode::SEND_WITH_IMM | send_opcode::WRITE_WITH_IMM);
        let told: Vec<(bool, u32)> = match send {
            true if with => vec![(true, wqe.get(&sq_wqe::IMMEDIATE))],
            true => vec![(false, 0)],
            false => vec![],
        };
        assert_eq!(std::mem::take(&mut self.received), told, "opcode {opcode}");
        assert!(
            got == want,
            "opcode {opcode}, {length} bytes, inline {inline}, {parts:x?}: other bytes"
        );
    }
}

fn run(seed: u64, pmtu: usize, loss: f64, messages: usize) {
    let mut w = World::new(seed, pmtu, loss);
    for n in 0..messages {
        let opcode = [
            send_opcode::SEND,
            send_opcode::SEND_WITH_IMM,
            send_opcode::WRITE,
            send_opcode::WRITE_WITH_IMM,
            send_opcode::READ,
        ][w.rng.gen_range(0..5)];
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| w.message(opcode)));
        if let Err(panic) = done {
            eprintln!("seed {seed}, message {n}");
            std::panic::resume_unwind(panic);
        }
    }
    if loss > 0.0 {
        assert!(w.lost > 0);
    }
}

#[test]
fn messages_arrive() {
    for seed in 0..20 {
        run(seed, [256, 512][seed as usize % 2], 0.0, 100);
    }
}

#[test]
fn messages_survive_loss() {
    for seed in 10..40 {
        run(seed, [256, 512][seed as usize % 2], 0.1, 60);
    }
}

#[test]
fn r65_posted_sends_are_flushed() {
    let mut w = World::new(1, 256, 0.0);
    let wqe = SendWqe::new(send_opcode::WRITE).remote(PEER_VA, 0xbad).element(VA, 10, LKEY);
    for _ in 0..3 {
        w.post(&wqe);
    }
    w.ring();
    let mut seen = vec![];
    for _ in 0..200 {
        w.exchange();
        seen.extend(w.completion().map(|c| (c.0, c.1)));
    }
    assert_eq!(seen, [(10, 0), (5, 1), (5, 2)], "remote access error, then flushed");
}
