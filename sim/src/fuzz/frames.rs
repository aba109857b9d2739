// SPDX-License-Identifier: MIT OR Apache-2.0
//! Frames of every kind of nonsense, and good ones between them.

use crate::session::{ENGINE, PEER};
use crate::traffic::Flow;
use rand::seq::SliceRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_model::icrc::icrc;
use verbena_model::packet::{internet_checksum, AtomicEth, Packet, Reth};
use verbena_verbs::Mr;

const ETHERNET: usize = 14;
const SHORTEST_ROCE: usize = 58;
/// UD, as in an opcode's upper bits.
const DATAGRAM: u8 = 3;

/// A frame for the MAC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FuzzFrame {
    pub bytes: Vec<u8>,
    /// The MAC marks it bad.
    pub bad: bool,
    pub kind: &'static str,
}

/// What the generator aims at.
#[derive(Debug, Clone)]
pub struct Target {
    pub flow: Flow,
    pub va: u64,
    pub length: u64,
    pub rkey: u32,
    /// What RC flows read, if the engine serves READs: nothing else touches it.
    pub source: Option<(Mr, u64)>,
    /// What this flow's ATOMICs work on, 8 bytes: no other flow's do.
    pub word: Option<(Mr, u64)>,
    /// READs and ATOMICs sent that may not be answered yet.
    pub outstanding: usize,
    /// The last few, as they were sent, and what is left of a READ that begins further on.
    asked: Vec<Asked>,
}

/// A READ or ATOMIC, to be sent again.
#[derive(Debug, Clone)]
struct Asked {
    frame: Vec<u8>,
    /// Of a READ: its flow before it, address and length.
    read: Option<(Flow, u64, u32)>,
}

/// Those kept for a flow: a peer never repeats what its resources have forgotten.
const ASKED: usize = 2;

impl Target {
    pub fn new(flow: Flow, va: u64, length: u64, rkey: u32) -> Target {
        Target {
            flow,
            va,
            length,
            rkey,
            source: None,
            word: None,
            outstanding: 0,
            asked: vec![],
        }
    }
}

/// Makes frames; keeps some to send again.
#[derive(Default)]
pub struct Frames {
    kept: Vec<Vec<u8>>,
    /// Good frames come out of order.
    reorder: bool,
    late: Vec<FuzzFrame>,
}

const KEPT: usize = 16;

impl Frames {
    pub fn new(reorder: bool) -> Frames {
        Frames {
            reorder,
            ..Frames::default()
        }
    }

    /// The next frames: usually one, a whole message at times.
    pub fn next(&mut self, targets: &mut [Target], longest: usize, rng: &mut ChaCha8Rng) -> Vec<FuzzFrame> {
        let target = rng.gen_range(0..targets.len());
        let target = &mut targets[target];
        let mut frames = match rng.gen_range(0..100) {
            0..=9 if target.source.is_some() => asking(target, rng),
            0..=29 => good(target, rng),
            30..=49 => one("bits flipped", flipped(target, rng)),
            50..=64 => one("fields at random", fields(target, rng)),
            65..=71 => one("cut or stretched", stretched(target, rng)),
            72..=78 => one("again", self.again(rng)),
            79..=84 => one("not RoCE", other(longest, rng)),
            85..=90 => one("noise", noise(longest, rng)),
            91..=93 => one("tiny", (0..rng.gen_range(1..60)).map(|_| rng.gen()).collect()),
            94..=96 => one("too long", noise(longest + 900, rng)),
            _ => {
                let mut frames = good(target, rng);
                frames.iter_mut().for_each(|f| (f.bad, f.kind) = (true, "bad FCS"));
                // What is lost is sent again, or the flow would only ever be out of sequence.
                target.flow.psn = target.flow.psn.wrapping_sub(frames.len() as u32) & 0xff_ffff;
                frames
            }
        };
        for frame in &mut frames {
            if ["good", "READ or ATOMIC", "READ again"].contains(&frame.kind) && rng.gen_bool(0.2) {
                mark(&mut frame.bytes);
            }
        }
        if self.reorder {
            self.disorder(&mut frames, rng);
        }
        for frame in &frames {
            if frame.bytes.len() >= SHORTEST_ROCE && self.kept.len() < KEPT {
                self.kept.push(frame.bytes.clone());
            } else if !self.kept.is_empty() && rng.gen_bool(0.1) {
                let at = rng.gen_range(0..self.kept.len());
                self.kept[at] = frame.bytes.clone();
            }
        }
        frames
    }

    /// Good frames change places, come late, or are lost.
    fn disorder(&mut self, frames: &mut Vec<FuzzFrame>, rng: &mut ChaCha8Rng) {
        if frames.iter().any(|f| f.kind != "good") {
            return;
        }
        if rng.gen() {
            frames.shuffle(rng);
        }
        while !frames.is_empty() && rng.gen_ratio(1, 4) {
            let at = rng.gen_range(0..frames.len());
            let frame = frames.remove(at);
            self.late.push(FuzzFrame { kind: "late", ..frame });
        }
        while !self.late.is_empty() && (self.late.len() > 8 || rng.gen_ratio(1, 3)) {
            let at = rng.gen_range(0..self.late.len());
            frames.push(self.late.swap_remove(at));
        }
    }

    fn again(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        match self.kept.len() {
            0 => vec![0; 60],
            count => self.kept[rng.gen_range(0..count)].clone(),
        }
    }
}

fn one(kind: &'static str, bytes: Vec<u8>) -> Vec<FuzzFrame> {
    vec![FuzzFrame { bytes, bad: false, kind }]
}

fn payload(most: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let length = match rng.gen_range(0..4) {
        0 => rng.gen_range(0..=8.min(most)),
        1 => rng.gen_range(0..=most),
        2 => most,
        _ => rng.gen_range(0..=64.min(most)),
    };
    (0..length).map(|_| rng.gen()).collect()
}

fn good(target: &mut Target, rng: &mut ChaCha8Rng) -> Vec<FuzzFrame> {
    let datagram = target.flow.form.service == DATAGRAM;
    let packets = if datagram { 1 } else { 3 };
    let most = (packets * target.flow.pmtu).min(target.length as usize);
    let data = payload(most, rng);
    let frames = if !datagram && rng.gen_bool(0.7) {
        let offset = rng.gen_range(0..=target.length - data.len() as u64);
        target.flow.write(target.va + offset, target.rkey, &data)
    } else {
        target.flow.send(&data)
    };
    frames
        .into_iter()
        .map(|bytes| FuzzFrame {
            bytes,
            bad: false,
            kind: "good",
        })
        .collect()
}

/// A READ or ATOMIC, or one again: as it was, or the READ's rest from a packet's border on.
fn asking(target: &mut Target, rng: &mut ChaCha8Rng) -> Vec<FuzzFrame> {
    let Some((mr, length)) = target.source else { return vec![] };
    if !target.asked.is_empty() && rng.gen_bool(0.3) {
        let at = rng.gen_range(0..target.asked.len());
        let Asked { frame, read } = target.asked[at].clone();
        if let (Some((mut flow, va, length)), true) = (read, rng.gen_bool(0.5)) {
            let packets = length.div_ceil(flow.pmtu as u32).max(1);
            let skipped = rng.gen_range(0..packets);
            let bytes = skipped * flow.pmtu as u32;
            flow.psn = flow.psn.wrapping_add(skipped) & 0xff_ffff;
            return one("READ again", flow.read(va + u64::from(bytes), mr.key, length - bytes));
        }
        return one("READ again", frame);
    }
    let before = target.flow.clone();
    let asked = match target.word {
        Some((mr, va)) if rng.gen_bool(0.4) => {
            let atomic_eth = AtomicEth {
                virtual_address: va,
                rkey: mr.key,
                // So small that a compare succeeds at times.
                swap_or_add: rng.gen_range(0..3),
                compare: rng.gen_range(0..3),
            };
            let frame = target.flow.atomic(atomic_eth, rng.gen());
            Asked { frame, read: None }
        }
        _ => {
            let count = rng.gen_range(0..=4 * target.flow.pmtu as u32 + 8).min(length as u32);
            let va = mr.va + rng.gen_range(0..=length - u64::from(count));
            let frame = target.flow.read(va, mr.key, count);
            Asked {
                frame,
                read: Some((before, va, count)),
            }
        }
    };
    let frame = asked.frame.clone();
    if target.asked.len() == ASKED {
        target.asked.remove(0);
    }
    target.asked.push(asked);
    target.outstanding += 1;
    one("READ or ATOMIC", frame)
}

/// A single packet that would be accepted; the flow doesn't move on.
fn template(target: &Target, rng: &mut ChaCha8Rng) -> Packet {
    let data = payload(target.flow.pmtu.min(target.length as usize), rng);
    if target.flow.form.service != DATAGRAM && rng.gen_bool(0.6) {
        target.flow.write_only(target.va, target.rkey, &data)
    } else {
        target.flow.send_only(&data)
    }
}

fn flipped(target: &Target, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut frame = template(target, rng).to_frame();
    for _ in 0..rng.gen_range(1..5) {
        // Headers are the interesting part.
        let most = if rng.gen_bool(0.8) { 74.min(frame.len()) } else { frame.len() };
        let at = rng.gen_range(0..most);
        frame[at] ^= 1 << rng.gen_range(0..8);
    }
    if rng.gen_bool(0.6) {
        mend(&mut frame);
    }
    frame
}

fn fields(target: &Target, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let service = target.flow.form.service << 5;
    let opcode = if rng.gen_bool(0.5) {
        service | rng.gen_range(0..0x18)
    } else {
        rng.gen()
    };
    let psn = match rng.gen_range(0..4) {
        0 => rng.gen(),
        1 => target.flow.psn,
        2 => target.flow.psn.wrapping_sub(rng.gen_range(0..4)),
        _ => target.flow.psn.wrapping_add(rng.gen_range(0..4)),
    };
    let reth = Reth {
        virtual_address: target.va.wrapping_add(rng.gen_range(0..2 * target.length)),
        rkey: target.rkey ^ if rng.gen_bool(0.2) { 1 << rng.gen_range(0..16) } else { 0 },
        length: if rng.gen_bool(0.2) { rng.gen() } else { rng.gen_range(0..600) },
    };
    let atomic_eth = AtomicEth {
        virtual_address: reth.virtual_address,
        rkey: reth.rkey,
        swap_or_add: rng.gen(),
        compare: rng.gen(),
    };
    let mut packet = template(target, rng);
    packet.payload = payload(2 * target.flow.pmtu, rng);
    if rng.gen_bool(0.1) {
        packet.qpn ^= 1 << rng.gen_range(0..24);
    }
    let packet = Packet {
        opcode,
        psn,
        ack_request: rng.gen(),
        solicited: rng.gen(),
        reth,
        atomic_eth,
        immediate: rng.gen(),
        ..packet
    };
    Packet {
        invalidate_rkey: if rng.gen_bool(0.1) { target.rkey } else { rng.gen() },
        ..packet
    }
    .to_frame()
}

fn stretched(target: &Target, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut frame = template(target, rng).to_frame();
    let length = if rng.gen_bool(0.5) {
        rng.gen_range(1..=frame.len())
    } else {
        frame.len() + rng.gen_range(1..100)
    };
    frame.resize(length, 0x77);
    frame
}

fn other(longest: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut frame = noise(longest, rng);
    frame.resize(frame.len().max(60), 0);
    frame[..6].copy_from_slice(&if rng.gen_bool(0.5) { ENGINE.mac } else { [0xff; 6] });
    frame[6..12].copy_from_slice(&PEER.mac);
    let kind: [u8; 2] = [[8, 6], [8, 0], [0x86, 0xdd], [0x81, 0]][rng.gen_range(0..4)];
    frame[12..14].copy_from_slice(&kind);
    frame
}

fn noise(longest: usize, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let length = if rng.gen_bool(0.8) {
        rng.gen_range(14..300)
    } else {
        rng.gen_range(14..=longest)
    };
    (0..length).map(|_| rng.gen()).collect()
}

/// ECN: congestion experienced, as a switch sets it (RFC 3168). The ICRC doesn't cover it (R2, R3).
fn mark(frame: &mut [u8]) {
    let ip = ip(frame);
    if frame[ip] >> 4 == 4 {
        frame[ip + 1] |= 3;
        mend_checksum(&mut frame[ip..ip + 20]);
    } else {
        frame[ip + 1] |= 3 << 4;
    }
}

fn ip(frame: &[u8]) -> usize {
    ETHERNET + if frame[12..14] == [0x81, 0] { 4 } else { 0 }
}

fn mend_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let checksum = internet_checksum(header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// Makes IP checksum and ICRC right again, so that what is wrong is looked at further in.
fn mend(frame: &mut [u8]) {
    let ip = ip(frame);
    if frame[ip] >> 4 == 4 {
        mend_checksum(&mut frame[ip..ip + 20]);
    }
    let end = frame.len() - 4;
    if let Some(crc) = icrc(&frame[ip..end]) {
        frame[end..].copy_from_slice(&crc);
    }
}
