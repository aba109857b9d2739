// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random packets, posts, resets and errors: the control path against the golden model, packet by packet.

use super::harness::*;
use rand::seq::SliceRandom;
use rand::Rng;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_hdl::responder::Features;
use verbena_model::golden::keys::{Access, Region as ModelRegion};
use verbena_model::golden::qp::{Attributes, Message, State};
use verbena_model::golden::{Completion, Golden, Outcome};
use verbena_model::memory::{Memory, PAGE};
use verbena_model::packet::{to_v6, Packet as ModelPacket, Reth};
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_spec::headers;
use verbena_spec::layout::{qp, status};

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const MTU: usize = 256;

struct Pair {
    h: Harness,
    model: Golden,
    memory: Memory,
    ours: Memory,
    attributes: Vec<Attributes>,
    posted: [u32; 4],
    completed: [u32; 4],
    tag: u32,
}

fn state_of(state: State) -> u32 {
    match state {
        State::Reset => 0,
        State::Init => 1,
        State::Rtr => 2,
        State::Rts => 3,
        State::Sqd => 4,
        State::Err => 5,
    }
}

impl Pair {
    fn new(seed: u64, stall: u32, serial: bool) -> Self {
        let gids = vec![
            Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))),
            Some(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))),
        ];
        let local = Local {
            mac: MAC,
            gids,
            max_frame: 4200,
            icrc_off: false,
        };
        let mut pair = Pair {
            h: Harness::with(
                seed,
                Features {
                    requester: false,
                    reads: false,
                    serial,
                    ..Features::all()
                },
            ),
            model: Golden::new(local),
            memory: Memory::new(),
            ours: Memory::new(),
            attributes: vec![],
            posted: [0; 4],
            completed: [0; 4],
            tag: 0,
        };
        pair.h.stall = stall;
        pair.h.key_latency = 0;
        for (key, access, va, length, address, may_invalidate) in [
            (0x100, REMOTE_WRITE, 0xffff_fe04u64, 0x3000u64, 0x5_0000_0e04u64, false),
            (0x200, LOCAL_WRITE, 0x10_0000, 0x4000, 0x6_0000_0000, false),
            (0x300, REMOTE_WRITE, 0x7000, 0x100, 0x7_0000_0000, true),
        ] {
            pair.h.regions.push(Region {
                key,
                pd: 7,
                access,
                va,
                length,
                address,
                may_invalidate,
                valid: true,
            });
            let pages = (0..=length / PAGE + 1).map(|i| (address & !(PAGE - 1)) + i * PAGE).collect();
            let access = Access {
                local_write: access & LOCAL_WRITE != 0,
                remote_write: access & REMOTE_WRITE != 0,
                ..Access::default()
            };
            pair.model.register(ModelRegion {
                key,
                pd: 7,
                access,
                may_invalidate,
                virtual_address: va,
                length,
                pages,
            });
        }
        for index in 1..4 {
            pair.attributes.push(Attributes {
                qpn: 0,
                service: [0, 1, 3][index - 1],
                pmtu: MTU,
                pd: 7,
                pkey: 0xffff,
                qkey: 0x1234_5678,
                remote_write: true,
                remote_read: false,
                remote_atomic: false,
                gid_index: 0,
                peer_ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
                peer_mac: [2; 6],
                vlan: None,
                peer_qpn: 5,
                rq_psn: 0,
                rnr_timer: 9,
                traffic_class: 0,
                hop_limit: 64,
                udp_source: 0xc000,
                recv_cq: 0x30 + index as u16,
                ..Attributes::default()
            });
            pair.connect(index as u32);
        }
        pair
    }

    /// A new life for a QP, with new attributes.
    fn connect(&mut self, index: u32) {
        self.tag = (self.tag + 1) & 0xfff;
        let rng = &mut self.h.rng;
        let a = &mut self.attributes[index as usize - 1];
        a.qpn = self.tag << 12 | index;
        a.rq_psn = *[0xff_fffe, 0, 77, 0x7f_ffff].choose(rng).unwrap();
        a.rnr_timer = rng.gen_range(0..32);
        a.remote_write = rng.gen_ratio(9, 10);
        if index != 3 {
            a.service = if rng.gen_ratio(3, 4) { 0 } else { 1 };
        }
        let six = rng.gen_ratio(1, 4);
        a.gid_index = six as usize;
        a.peer_ip = if six {
            IpAddr::V6(Ipv6Addr::new(0xfd00, 1, 2, 3, 4, 5, 6, 7))
        } else {
            IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))
        };
        let a = a.clone();
        let mut r = row(index);
        qp::SERVICE.set(&mut r, a.service as u32);
        qp::REMOTE_WRITE.set(&mut r, a.remote_write as u32);
        qp::IPV6.set(&mut r, six as u32);
        qp::GID_INDEX.set(&mut r, a.gid_index as u32);
        qp::RNR_TIMER.set(&mut r, a.rnr_timer as u32);
        qp::TAG.set(&mut r, self.tag);
        qp::RQ_PSN.set(&mut r, a.rq_psn);
        qp::QKEY.set(&mut r, a.qkey);
        let ip = to_v6(a.peer_ip);
        for (i, field) in [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3].iter().enumerate() {
            field.set(&mut r, u32::from_be_bytes(ip[4 * i..4 * i + 4].try_into().unwrap()));
        }
        self.h.modify(index, 0);
        self.h.write_row(index, &r);
        self.h.modify(index, 1);
        self.h.modify(index, 2);
        self.model.create_qp(a.clone());
        let mut none = Outcome::default();
        for state in [State::Init, State::Rtr] {
            assert!(self.model.modify(a.qpn, state, &mut none));
        }
        (self.posted[index as usize], self.completed[index as usize]) = (0, 0);
        self.same_state(index);
    }

    fn same_state(&mut self, index: u32) {
        let got = self.h.query(index);
        let qp = self.model.qp(index).unwrap();
        assert_eq!(
            (got.0, got.1, got.2),
            (state_of(qp.state), qp.epsn, qp.msn),
            "QP {index}: state, ePSN, MSN"
        );
        assert_eq!(got.3, self.completed[index as usize] & 0xffff, "QP {index}: consumed");
    }

    fn post(&mut self, index: u32) {
        let i = index as usize;
        if self.posted[i] - self.completed[i] >= 4 {
            return;
        }
        let rng = &mut self.h.rng;
        let address = 0x10_0000 + rng.gen_range(0..0x3800u64);
        let length = *[1000, 1000, 1000, 300, 255, 47, 40, 0].choose(rng).unwrap();
        let key = if rng.gen_ratio(1, 20) { 0x201 } else { 0x200 };
        self.h.wqe(index, self.posted[i], address, key, length);
        self.posted[i] += 1;
        let mut left = self.h.doorbell(index, self.posted[i] as u16);
        left.entries.extend(self.h.rest(200).entries);
        let mut outcome = Outcome::default();
        self.model.post_receive(index, address, length, key, &mut outcome);
        self.same_completions(&left, &outcome, index);
    }

    fn same_completions(&mut self, left: &Left, outcome: &Outcome, index: u32) {
        let got: Vec<Completion> = left
            .entries
            .iter()
            .filter(|e| e.complete)
            .map(|e| {
                let good = e.status.to_u64() as u32 == status::SUCCESS;
                Completion {
                    cq: e.cq.to_u64() as u16,
                    qpn: e.qpn.to_u64() as u32,
                    opcode: e.completion_opcode.to_u64() as u32,
                    status: e.status.to_u64() as u32,
                    with_imm: e.with_imm,
                    with_invalidate: e.with_invalidate,
                    grh: e.grh,
                    solicited: e.solicited,
                    wqe_index: e.wqe_index.to_u64() as u16,
                    // Of a failed completion only status and index count.
                    byte_length: if good { e.byte_length.to_u64() as u32 } else { 0 },
                    immediate: if e.with_imm || e.with_invalidate {
                        e.immediate.to_u64() as u32
                    } else {
                        0
                    },
                    source_qpn: if e.grh { e.source_qpn.to_u64() as u32 } else { 0 },
                }
            })
            .collect();
        assert_eq!(got, outcome.completions, "completions; {left:?}");
        self.completed[index as usize] += got.len() as u32;
    }

    fn packet(&mut self, index: u32) -> ModelPacket {
        let a = self.attributes[index as usize - 1].clone();
        let qp = self.model.qp(index).unwrap().clone();
        let gid = self.model.local.gids[a.gid_index].unwrap();
        let rng = &mut self.h.rng;
        // What would be right now.
        let mut choice: Vec<u8> = match qp.message {
            Message::Send { .. } => vec![1, 1, 2, 3, 22],
            Message::Write { .. } => vec![7, 7, 8, 9],
            _ => vec![0, 4, 5, 6, 6, 10, 10, 11, 23],
        };
        if a.service == 3 {
            choice = vec![0x64, 0x65];
        }
        let mut opcode = *choice.choose(rng).unwrap() | if a.service == 1 { 0x20 } else { 0 };
        if rng.gen_ratio(1, 12) {
            opcode = rng.gen();
        }
        while headers::opcode(opcode).is_none() || opcode == 0x81 {
            opcode = rng.gen();
        }
        let info = headers::opcode(opcode).unwrap();
        let mut length = match info.position {
            headers::Position::First | headers::Position::Middle => MTU,
            headers::Position::Last => rng.gen_range(1..=MTU),
            headers::Position::Only => rng.gen_range(0..=MTU),
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
        let mut dma = match info.position {
            headers::Position::First => MTU as u32 * rng.gen_range(1..3) + rng.gen_range(0..MTU as u32),
            _ => length as u32,
        };
        if rng.gen_ratio(1, 25) {
            dma = *[0, 1, 256, 0x8000_0000, 0x8000_0001, 0xffff_ffff].choose(rng).unwrap();
        }
        let keys = [
            (0x100, 0xffff_fe04u64, 0x3000u64),
            (0x100, 0xffff_fe04, 0x3000),
            (0x100, 0xffff_fe04, 0x3000),
            (0x300, 0x7000, 0x100),
            (0x200, 0x10_0000, 0x4000),
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
        let mut p = ModelPacket {
            destination_mac: MAC,
            source: a.peer_ip,
            destination: gid,
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
            invalidate_rkey: *[0x300, 0x300, 0x100].choose(rng).unwrap(),
            payload: (0..length).map(|_| rng.gen()).collect(),
            ..ModelPacket::default()
        };
        p.deth.qkey = a.qkey;
        p.deth.source_qpn = rng.gen_range(0..1 << 24);
        match rng.gen_range(0..60) {
            0 => p.qpn ^= 1 << rng.gen_range(0..24),
            1 => p.pkey ^= 1 << rng.gen_range(0..16),
            2 => p.deth.qkey ^= 1 << rng.gen_range(0..32),
            3 if p.source.is_ipv4() => p.source = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 3)),
            4 => {
                p.source = IpAddr::V6(Ipv6Addr::new(0xfd00, 1, 2, 3, 4, 5, 6, 7));
                p.destination = self.model.local.gids[1].unwrap();
            }
            _ => {}
        }
        p
    }

    fn step(&mut self) {
        let index = self.h.rng.gen_range(1..4);
        match self.h.rng.gen_range(0..20) {
            0 => return self.connect(index),
            1..=6 => return self.post(index),
            7 if self.h.rng.gen_ratio(1, 3) => {
                let qpn = self.attributes[index as usize - 1].qpn;
                let state = *[State::Init, State::Rtr, State::Rts, State::Sqd, State::Err]
                    .choose(&mut self.h.rng)
                    .unwrap();
                let mut outcome = Outcome::default();
                let good = self.model.modify(qpn, state, &mut outcome);
                let (done, mut left) = self.h.command(1, index, state_of(state));
                assert_eq!(done, good, "QP {index} to {state:?}");
                left.entries.extend(self.h.rest(400).entries);
                self.same_completions(&left, &outcome, index);
                return self.same_state(index);
            }
            _ => {}
        }
        let p = self.packet(index);
        let frame = p.to_frame();
        let Verdict::Roce { packet, gid_index, grh } = verdict(&frame, false, &self.model.local) else {
            return;
        };
        let info = packet.info().unwrap();
        let mut head = super::harness::packet(packet.opcode, packet.qpn, packet.psn, packet.payload.len() as u32);
        head.ack = packet.ack_request;
        head.solicited = packet.solicited;
        head.pkey = packet.pkey;
        head.ipv6 = matches!(packet.source, IpAddr::V6(_));
        head.gid = gid_index as u8;
        let ip = to_v6(packet.source);
        head.source = [0, 1, 2, 3].map(|i| u32::from_be_bytes(ip[4 * i..4 * i + 4].try_into().unwrap()));
        // The words after the BTH, as the wire has them: whatever follows the headers is payload.
        let at = frame.len() - 4 - packet.payload.len() - (packet.payload.len().wrapping_neg() & 3) - 4 * info.extension_words();
        for (i, word) in frame[at..].chunks_exact(4).take(7).enumerate() {
            head.xth[i] = u32::from_be_bytes(word.try_into().unwrap());
        }

        let outcome = self.model.receive(&frame, false, &mut self.memory);
        let mut left = self.h.send(&head);
        assert_eq!(Some(left.counter()), outcome.responder, "counter of {packet:?}; model {outcome:?}");
        let answers: Vec<(u8, u32, u32)> = outcome.answers.iter().map(|a| (a.aeth.syndrome, a.psn, a.aeth.msn)).collect();
        assert_eq!(left.answer().into_iter().collect::<Vec<_>>(), answers, "answer to {packet:?}");
        let events: Vec<(u32, u32, u32)> = left
            .entries
            .iter()
            .filter(|e| e.event)
            .map(|e| (e.event_type.to_u64() as u32, e.qpn.to_u64() as u32, e.syndrome.to_u64() as u32))
            .collect();
        assert_eq!(
            events,
            outcome.events.iter().map(|e| (e.kind, e.number, e.detail)).collect::<Vec<_>>()
        );
        for job in left.jobs.iter().filter(|j| j.write) {
            let grh_job = job.ring_beat.to_u64() == 0x110;
            let bytes: &[u8] = if grh_job { &grh } else { &packet.payload };
            assert_eq!(job.length.to_u64() as usize, bytes.len());
            self.ours.write(job.address.to_u64(), bytes);
        }
        if !events.is_empty() {
            left.entries.extend(self.h.rest(400).entries);
        }
        let owner = packet.qpn & 3;
        self.same_completions(&left, &outcome, owner);
        let ours: Vec<_> = self.ours.touched().collect();
        let theirs: Vec<_> = self.memory.touched().collect();
        assert!(ours == theirs, "memory differs after {packet:?}: {:?}", left.writes());
        for region in &mut self.h.regions {
            // An invalidated key comes back now and then.
            if !region.valid && self.h.rng.gen_ratio(1, 8) {
                region.valid = true;
                let pages = vec![region.address, region.address + PAGE];
                let access = Access {
                    remote_write: true,
                    ..Access::default()
                };
                self.model.register(ModelRegion {
                    key: region.key,
                    pd: 7,
                    access,
                    may_invalidate: true,
                    virtual_address: region.va,
                    length: region.length,
                    pages,
                });
            }
        }
        if index == owner && self.h.rng.gen_ratio(1, 4) {
            self.same_state(index);
        }
        if self.model.qp(index).unwrap().state == State::Err && self.h.rng.gen_ratio(1, 2) {
            self.connect(index);
        }
    }
}

fn run(seed: u64, stall: u32, steps: u32, serial: bool) {
    let mut pair = Pair::new(seed, stall, serial);
    let mut counters = [0u32; 64];
    for step in 0..steps {
        let before = pair.h.sent.len();
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pair.step()));
        if let Err(panic) = outcome {
            eprintln!("seed {seed} stall {stall} step {step}");
            std::panic::resume_unwind(panic);
        }
        for code in &pair.h.sent[before..] {
            counters[*code as usize] += 1;
        }
    }
    let seen: Vec<String> = verbena_spec::counters::COUNTERS
        .iter()
        .filter(|c| counters[c.code as usize] > 0)
        .map(|c| format!("{} {}", c.name, counters[c.code as usize]))
        .collect();
    println!("{}", seen.join(", "));
}

#[test]
fn random_without_stall() {
    run(1, 0, 2000, false);
}

#[test]
fn random_with_stall() {
    run(2, 400, 2000, false);
}

#[test]
fn random_with_much_stall() {
    run(3, 850, 1000, false);
}

#[test]
fn random_serial() {
    run(4, 400, 1500, true);
}
