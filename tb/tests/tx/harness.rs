// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drives a `Tx`, watches its ports, compares.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use verbena_hdl::tx::{AckJob, Tx, TxCu, TxTengig};
use verbena_spec::counters;
use verbena_spec::layout::{qp, QP_WORDS};
use verbena_tb::ack_frame::{ack_frame, Ack, Port};
use verbena_tb::packet_frame::Packet;
use verbena_tb::{ports, step::Bench};

/// One beat of the host's stream.
#[derive(Clone, Copy)]
struct Beat {
    data: u64,
    keep: u64,
    last: bool,
}

/// A `Tx` and what it should do.
pub struct Harness<
    const W: usize,
    const K: usize,
    const L: usize,
    const QA: usize,
    const RA: usize,
    const A: usize,
    const B: usize,
    const D: usize,
    const M: usize,
    const V: usize,
    const G: usize,
    const S: usize,
    const N: usize,
    const SA: usize,
    const PA: usize,
    const PB: usize,
> {
    pub bench: Bench<Tx<W, K, L, QA, RA, A, B, D, M, V, G, S, N, SA, PA, PB>>,
    pub rng: ChaCha8Rng,
    pub port: Port,
    pub rows: Vec<[u32; QP_WORDS]>,
    /// Frames as they came, 'a' or 'h' for each, and the cycle of each one's first beat.
    pub frames: Vec<Vec<u8>>,
    pub kinds: Vec<char>,
    pub starts: Vec<u64>,
    /// Events by code.
    pub events: Vec<u32>,
    want_events: Vec<u32>,
    seed: u64,
    idle: bool,
    stall: bool,
    acks: VecDeque<Ack>,
    want_acks: VecDeque<Vec<u8>>,
    /// Words of the packet stream; beats of payload, each with its packet's number and its error; numbers of the packets whose words are coming in and
    /// whose payload may therefore come.
    words: VecDeque<(u32, bool, bool)>,
    payload: VecDeque<(u64, bool, bool, u32)>,
    packets_pushed: u32,
    packets_in: u32,
    want_packets: VecDeque<Vec<u8>>,
    /// Cycles in which payload was taken; the cycle of the last beat of it.
    pub payload_cycles: u64,
    pub payload_end: u64,
    /// No beat of payload before this cycle; behind some beats, and between packets, it moves on by so much. No ACK before this cycle.
    pub payload_from: u64,
    pub payload_gap: Range<u64>,
    pub ack_from: u64,
    /// No packet's last word before this cycle.
    pub last_word_from: u64,
    host: VecDeque<Beat>,
    want_host: VecDeque<Vec<u8>>,
}

pub type Tengig = Harness<64, 8, 2, 8, 12, 10, 11, 72, 525, 1, 67, 1, 0, 9, 11, 12>;
pub type Cu = Harness<32, 4, 1, 2, 7, 8, 9, 36, 150, 0, 34, 0, 1, 6, 8, 9>;
/// The narrow form with everything the wide one knows.
pub type WideCu = Harness<32, 4, 1, 4, 9, 8, 9, 36, 150, 1, 34, 0, 1, 6, 8, 9>;

pub fn tengig(seed: u64, idle: bool, stall: bool) -> Tengig {
    let _: Option<TxTengig> = None;
    Harness::new(seed, idle, stall)
}

pub fn cu(seed: u64, idle: bool, stall: bool) -> Cu {
    let _: Option<TxCu> = None;
    Harness::new(seed, idle, stall)
}

pub fn wide_cu(seed: u64, idle: bool, stall: bool) -> WideCu {
    Harness::new(seed, idle, stall)
}

/// Both presets in one list.
pub enum Any {
    Tengig(Tengig),
    Cu(Cu),
}

#[macro_export]
macro_rules! each {
    ($any:ident, $h:ident => $body:block) => {
        match &mut $any {
            Any::Tengig($h) => $body,
            Any::Cu($h) => $body,
        }
    };
}

impl<
        const W: usize,
        const K: usize,
        const L: usize,
        const QA: usize,
        const RA: usize,
        const A: usize,
        const B: usize,
        const D: usize,
        const M: usize,
        const V: usize,
        const G: usize,
        const S: usize,
        const N: usize,
        const SA: usize,
        const PA: usize,
        const PB: usize,
    > Harness<W, K, L, QA, RA, A, B, D, M, V, G, S, N, SA, PA, PB>
{
    fn new(seed: u64, idle: bool, stall: bool) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut bench = Bench::verilated(
            Box::<Tx<W, K, L, QA, RA, A, B, D, M, V, G, S, N, SA, PA, PB>>::default(),
            &format!("tx_diff_{W}"),
            ports!(in reset, ack, ack_valid, packet_word, packet_last, packet_abandon, packet_valid, payload_data, payload_last, payload_error, payload_valid, table_valid, table_address, table_data, local_mac, gid, s_host_data, s_host_keep, s_host_last, s_host_valid, m_ready, event_ready; out ack_ready, packet_ready, payload_ready, payload_free, payload_drawn, table_ready, s_host_ready, m_data, m_keep, m_last, m_valid, event_valid, event_code),
        );
        bench.uut.reset.next = true;
        bench.uut.event_ready.next = true;
        bench.step();
        bench.step();
        bench.uut.reset.next = false;
        let port = Port {
            mac: rng.gen::<u64>() >> 16,
            gids: rng.gen(),
        };
        let mut h = Self {
            bench,
            rng,
            port,
            rows: vec![[0; QP_WORDS]; 1 << QA],
            frames: vec![],
            kinds: vec![],
            starts: vec![],
            events: vec![0; counters::COUNTER_FILE],
            want_events: vec![0; counters::COUNTER_FILE],
            seed,
            idle,
            stall,
            acks: VecDeque::new(),
            want_acks: VecDeque::new(),
            words: VecDeque::new(),
            payload: VecDeque::new(),
            packets_pushed: 0,
            packets_in: 0,
            want_packets: VecDeque::new(),
            payload_cycles: 0,
            payload_end: 0,
            payload_from: 0,
            payload_gap: 0..1,
            ack_from: 0,
            last_word_from: 0,
            host: VecDeque::new(),
            want_host: VecDeque::new(),
        };
        h.set_port();
        h
    }

    pub fn set_port(&mut self) {
        let mut gid = Bits::<512>::from(0);
        for (index, number) in self.port.gids.iter().enumerate() {
            for bit in 0..128 {
                gid = gid.replace_bit(index * 128 + bit, number >> bit & 1 == 1);
            }
        }
        self.bench.uut.gid.next = gid;
        self.bench.uut.local_mac.next = self.port.mac.to_bits();
    }

    pub fn write_word(&mut self, index: u16, word: usize, data: u32) {
        self.bench.uut.table_valid.next = true;
        self.bench.uut.table_address.next = (index as u64 * QP_WORDS as u64 + word as u64).to_bits();
        self.bench.uut.table_data.next = (data as u64).to_bits();
        self.bench.settle();
        assert!(self.bench.uut.table_ready.val());
        self.bench.edge();
        self.bench.uut.table_valid.next = false;
    }

    pub fn write_row(&mut self, index: u16) {
        for word in 0..QP_WORDS {
            self.write_word(index, word, self.rows[index as usize][word]);
        }
    }

    /// A row of noise, but RC, and within what the form knows.
    pub fn random_row(&mut self, index: u16) {
        let row = &mut self.rows[index as usize];
        row.iter_mut().for_each(|w| *w = self.rng.gen());
        qp::SERVICE.set(row, 0);
        if V == 0 {
            qp::IPV6.set(row, 0);
            qp::VLAN.set(row, 0);
            qp::GID_INDEX.set(row, 0);
        }
    }

    pub fn random_rows(&mut self) {
        for index in 0..(1u16 << QA).min(16) {
            self.random_row(index);
            self.write_row(index);
        }
    }

    pub fn random_ack(&mut self) -> Ack {
        let syndrome = match self.rng.gen_range(0..4) {
            0 | 1 => 0x1f,
            2 => 0x20 | self.rng.gen_range(0..32),
            _ => 0x60 | self.rng.gen_range(0..4),
        };
        let index = self.rng.gen_range(0..(1u16 << QA).min(16));
        Ack {
            index,
            syndrome,
            psn: self.rng.gen_range(0..1 << 24),
            msn: self.rng.gen_range(0..1 << 24),
            notification: false,
        }
    }

    pub fn push_ack(&mut self, ack: Ack) {
        self.acks.push_back(ack);
        let row = &self.rows[ack.index as usize];
        if qp::SERVICE.get(row) != 0 && !ack.notification {
            return;
        }
        self.want_acks.push_back(ack_frame(&self.port, row, &ack));
        if ack.notification {
            self.want_events[counters::TX_CNP as usize] += 1;
            return;
        }
        let code = match ack.syndrome >> 5 {
            0 => counters::TX_ACK,
            1 => counters::TX_RNR,
            _ => counters::TX_NAK_SEQUENCE + (ack.syndrome & 3),
        };
        self.want_events[code as usize] += 1;
    }

    /// Words of a packet that its source takes back with the last one.
    pub fn push_abandoned(&mut self, count: usize) {
        for k in 0..count {
            let last = k + 1 == count;
            self.words.push_back((self.rng.gen(), last, last));
        }
    }

    /// A packet that the form knows: `length` bytes of payload, inline or not, `extensions` extension header words.
    pub fn random_packet(&mut self, length: usize, inline: bool, extensions: usize, in_band: bool) -> Packet {
        let mut address: [u32; 8] = self.rng.gen();
        if self.rng.gen() {
            address[1] &= !3;
        }
        let opcode = self.rng.gen_range(0..=255);
        Packet {
            index: self.rng.gen_range(0..(1u16 << QA).min(16)),
            address: in_band.then_some(address),
            opcode: if opcode == 0x11 { 0x10 } else { opcode },
            solicited: self.rng.gen(),
            ack_request: self.rng.gen(),
            psn: self.rng.gen_range(0..1 << 24),
            extensions: (0..extensions).map(|_| self.rng.gen()).collect(),
            payload: (0..length).map(|_| self.rng.gen()).collect(),
            inline,
            response: self.rng.gen(),
            poisoned: false,
        }
    }

    pub fn push_packet(&mut self, packet: &Packet) {
        let words = packet.words(self.rng.gen());
        let number = self.packets_pushed;
        self.packets_pushed += 1;
        let last = words.len() - 1;
        self.words.extend(words.iter().enumerate().map(|(k, w)| (*w, k == last, false)));
        if packet.from_fifo() {
            let beats = packet.payload.len().div_ceil(K);
            for (k, chunk) in packet.payload.chunks(K).enumerate() {
                let mut bytes = [0; 8];
                bytes[..chunk.len()].copy_from_slice(chunk);
                let last = k + 1 == beats;
                self.payload
                    .push_back((u64::from_le_bytes(bytes), last, last && packet.poisoned, number));
            }
        }
        let code = if packet.poisoned {
            counters::TX_POISONED
        } else if packet.opcode == 0x11 {
            match packet.extensions[0] >> 29 {
                0 => counters::TX_ACK,
                1 => counters::TX_RNR,
                _ => counters::TX_NAK_SEQUENCE + (packet.extensions[0] >> 24 & 3) as u8,
            }
        } else if packet.response {
            counters::TX_RESPONSE
        } else {
            counters::TX_REQUEST
        };
        self.want_events[code as usize] += 1;
        if !packet.poisoned {
            self.want_packets
                .push_back(packet.frame(&self.port, &self.rows[packet.index as usize]));
        }
    }

    fn push_beats(&mut self, frame: &[u8]) {
        for chunk in frame.chunks(K) {
            // Bytes beyond keep hold anything.
            let mut bytes: [u8; 8] = self.rng.gen();
            bytes[..chunk.len()].copy_from_slice(chunk);
            self.host.push_back(Beat {
                data: u64::from_le_bytes(bytes),
                keep: (1 << chunk.len()) - 1,
                last: false,
            });
        }
        self.host.back_mut().unwrap().last = true;
    }

    pub fn push_host(&mut self, length: usize) {
        let mut frame: Vec<u8> = (0..length).map(|_| self.rng.gen()).collect();
        self.push_beats(&frame);
        if length > M * K {
            self.want_events[counters::TX_HOST_DROPPED as usize] += 1;
            return;
        }
        frame.resize(length.max(60), 0);
        self.want_host.push_back(frame);
        self.want_events[counters::TX_HOST as usize] += 1;
    }

    /// A frame with one broken keep somewhere.
    pub fn push_broken(&mut self, length: usize) {
        let frame: Vec<u8> = (0..length).map(|_| self.rng.gen()).collect();
        let begin = self.host.len();
        self.push_beats(&frame);
        let at = self.rng.gen_range(begin..self.host.len());
        let beat = &mut self.host[at];
        beat.keep = if beat.last {
            [0, 0b101, 0b110, 0b1011 & !1][self.rng.gen_range(0..4)]
        } else {
            [0, 0b11, 0b1110, 0b101][self.rng.gen_range(0..4)]
        };
        self.want_events[counters::TX_HOST_DROPPED as usize] += 1;
    }

    fn say(&self) -> String {
        format!("W {W} seed {} cycle {}", self.seed, self.bench.cycle)
    }

    /// Runs until all is sent and some cycles more.
    pub fn run(&mut self, limit: u64) {
        let end = self.bench.cycle + limit;
        let mut frame: Vec<u8> = vec![];
        let mut inside = false;
        let mut quiet = 0;
        let mut waiting: Option<(u64, u64, bool)> = None;
        let (mut ack_on, mut host_on, mut word_on, mut payload_on) = (false, false, false, false);
        while quiet < 80 {
            assert!(
                self.bench.cycle < end,
                "{}: {} ACKs, {} packets and {} host frames are missing",
                self.say(),
                self.want_acks.len(),
                self.want_packets.len(),
                self.want_host.len()
            );
            // Valid holds until ready.
            ack_on = !self.acks.is_empty() && self.bench.cycle >= self.ack_from && (ack_on || !self.idle || self.rng.gen_ratio(1, 12));
            host_on = !self.host.is_empty() && (host_on || !self.idle || self.rng.gen_ratio(1, 2));
            let held = self.words.front().is_some_and(|w| w.1) && self.bench.cycle < self.last_word_from;
            word_on = !self.words.is_empty() && !held && (word_on || !self.idle || self.rng.gen_ratio(1, 3));
            // A packet's payload may come once its first word is offered.
            payload_on = self.payload.front().is_some_and(|p| p.3 <= self.packets_in)
                && self.bench.cycle >= self.payload_from
                && (payload_on || !self.idle || self.rng.gen_ratio(1, 2));
            let uut = &mut self.bench.uut;
            uut.packet_valid.next = word_on;
            if word_on {
                uut.packet_word.next = (self.words[0].0 as u64).to_bits();
                uut.packet_last.next = self.words[0].1;
                uut.packet_abandon.next = self.words[0].2;
            }
            uut.payload_valid.next = payload_on;
            if payload_on {
                let beat = self.payload[0];
                uut.payload_data.next = beat.0.to_bits();
                uut.payload_last.next = beat.1;
                uut.payload_error.next = beat.2;
            }
            uut.ack_valid.next = ack_on;
            if ack_on {
                let mut ack = self.acks[0];
                if ack.notification {
                    (ack.syndrome, ack.psn, ack.msn) = (0, 0, 0);
                }
                uut.ack.next = AckJob {
                    qp_index: (ack.index as u64).to_bits(),
                    syndrome: (ack.syndrome as u64).to_bits(),
                    psn: (ack.psn as u64).to_bits(),
                    msn: (ack.msn as u64).to_bits(),
                    notification: ack.notification,
                };
            } else {
                uut.ack.next = AckJob::default();
            }
            uut.s_host_valid.next = host_on;
            if host_on {
                let beat = self.host[0];
                uut.s_host_data.next = if W == 64 { beat.data } else { beat.data & 0xffff_ffff }.to_bits();
                uut.s_host_keep.next = (beat.keep & ((1 << K) - 1)).to_bits();
                uut.s_host_last.next = beat.last;
            }
            uut.m_ready.next = !self.stall || self.rng.gen_ratio(1, 2);
            uut.event_ready.next = !self.stall || self.rng.gen_ratio(1, 10);
            self.bench.settle();

            let uut = &self.bench.uut;
            quiet = if self.acks.is_empty()
                && self.host.is_empty()
                && self.want_acks.is_empty()
                && self.want_host.is_empty()
                && self.want_packets.is_empty()
                && self.words.is_empty()
                && self.payload.is_empty()
                && self.events == self.want_events
            {
                quiet + 1
            } else {
                0
            };
            if ack_on && uut.ack_ready.val() {
                self.acks.pop_front();
                ack_on = false;
            }
            if word_on && uut.packet_ready.val() {
                let (_, last, abandoned) = self.words.pop_front().unwrap();
                if last && !abandoned {
                    self.packets_in += 1;
                }
                word_on = false;
            }
            assert_eq!(
                uut.payload_ready.val(),
                uut.payload_free.val().any(),
                "free says otherwise than ready"
            );
            if payload_on && uut.payload_ready.val() {
                let beat = self.payload.pop_front().unwrap();
                self.payload_cycles += 1;
                self.payload_end = self.bench.cycle;
                if self.payload_gap.end > 1 && (beat.1 || self.rng.gen_ratio(1, 8)) {
                    self.payload_from = self.bench.cycle + self.rng.gen_range(self.payload_gap.clone());
                }
                payload_on = false;
            }
            if host_on && uut.s_host_ready.val() {
                self.host.pop_front();
                host_on = false;
            }
            if uut.event_valid.val() && uut.event_ready.val() {
                self.events[uut.event_code.val().to_u64() as usize] += 1;
            }
            let beat = (uut.m_data.val().to_u64(), uut.m_keep.val().to_u64(), uut.m_last.val());
            if uut.m_valid.val() {
                if let Some(before) = waiting {
                    assert_eq!(beat, before, "{}: a beat changed while it waited", self.say());
                }
                if uut.m_ready.val() {
                    if !inside {
                        self.starts.push(self.bench.cycle);
                    }
                    let bytes = beat.1.trailing_ones() as usize;
                    assert_eq!(beat.1, (1u64 << bytes) - 1, "{}: keep {:b}", self.say(), beat.1);
                    assert!(
                        beat.2 && bytes > 0 || bytes == K,
                        "{}: keep {:b}, last {}",
                        self.say(),
                        beat.1,
                        beat.2
                    );
                    frame.extend(&beat.0.to_le_bytes()[..bytes]);
                    inside = !beat.2;
                    if beat.2 {
                        self.frame(std::mem::take(&mut frame));
                    }
                }
                waiting = if self.bench.uut.m_ready.val() { None } else { Some(beat) };
            } else {
                assert!(!inside, "{}: the frame pauses after {} bytes", self.say(), frame.len());
                assert!(waiting.is_none(), "{}: a beat vanished", self.say());
            }
            self.bench.edge();
        }
        assert!(!inside);
        assert_eq!(self.events, self.want_events, "{} kinds {:?}", self.say(), self.kinds);
    }

    fn frame(&mut self, frame: Vec<u8>) {
        if self.want_acks.front() == Some(&frame) {
            self.want_acks.pop_front();
            self.kinds.push('a');
        } else if self.want_packets.front() == Some(&frame) {
            self.want_packets.pop_front();
            self.kinds.push('p');
        } else if self.want_host.front() == Some(&frame) {
            self.want_host.pop_front();
            self.kinds.push('h');
        } else {
            panic!(
                "{}: frame {} is neither\n  got  {frame:02x?}\n  ack  {:02x?}\n  packet {:02x?}\n  host {:02x?}",
                self.say(),
                self.frames.len(),
                self.want_acks.front(),
                self.want_packets.front(),
                self.want_host.front()
            );
        }
        self.frames.push(frame);
    }
}
