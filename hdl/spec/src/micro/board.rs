// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands around the emulated core: receive ring, bus memory, AXI4-Lite host, wire.
//!
//! The receiver's verdict is not here: frames are given as if it had been good (the RTL's receiver is a station of its own).

use super::emulator::{Core, Fault, Ports};
use super::isa::{self, control, input, output, status};
use crate::counters;
use crate::headers::Opcode;
use std::collections::VecDeque;

/// Words of the receive ring.
const RING: usize = 1 << isa::RING_LOG;
/// Free words that a frame must find when it begins.
const LEAST_ROOM: usize = 21;
/// Ethernet header, bytes.
const ETHERNET: usize = 14;
/// First word of an IPv4 packet in the ring, counted from the frame's beginning.
const IP_WORD: usize = 5;

/// An AXI4-Lite access of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read(u32),
    Write(u32, u32),
}

/// SLVERR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused;

/// The answer to an access: data (0 for a write), or refused.
pub type Answer = Result<u32, Refused>;

/// A burst under way.
#[derive(Debug, Clone, Copy)]
struct Burst {
    address: u32,
    left: u32,
    bad: bool,
    id: u8,
}

/// A burst that was seen, for tests of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub write: bool,
    pub id: u8,
    /// Bytes.
    pub address: u32,
    pub beats: u32,
}

/// Everything outside the core.
pub struct Outside {
    ring: Vec<u32>,
    /// Where the next frame begins; up to where the ring is free; the receive pointer.
    start: usize,
    tail: usize,
    pointer: usize,
    /// Slots of early packets, and whether the receive pointer is in them.
    slots: Vec<u32>,
    in_slots: bool,
    counts: VecDeque<u8>,
    /// Bus memory from address 0 on.
    pub memory: Vec<u8>,
    /// Bus addresses (bytes) that answer with an error.
    pub bad: Vec<std::ops::Range<u32>>,
    /// Steps that the memory takes to answer.
    pub latency: u32,
    wait: u32,
    address: u32,
    read: Option<Burst>,
    write: Option<Burst>,
    answers: VecDeque<bool>,
    read_error: bool,
    lite: VecDeque<Access>,
    lite_answers: VecDeque<Answer>,
    pub bursts: Vec<Seen>,
    /// Frames sent, Ethernet header first, without ICRC.
    pub sent: VecDeque<Vec<u8>>,
    /// What CONTROL, MAC and IP ports hold.
    pub control: u32,
    pub mac_low: u32,
    pub mac_high: u32,
    pub ip: u32,
    cycles: u32,
    /// Broken protocol: a burst too many, a word too many.
    pub violations: Vec<String>,
}

/// A core and what stands around it.
pub struct Board {
    pub core: Core,
    pub outside: Outside,
}

impl Board {
    /// 2^20 bytes of memory, zero.
    pub fn new(program: &[u32]) -> Self {
        Self {
            core: Core::new(program),
            outside: Outside {
                ring: vec![0; RING],
                start: 0,
                tail: 0,
                pointer: 0,
                slots: vec![0; 1 << isa::SLOTS_LOG],
                in_slots: false,
                counts: VecDeque::new(),
                memory: vec![0; 1 << isa::ADDRESS_BITS],
                bad: vec![],
                latency: 0,
                wait: 0,
                address: 0,
                read: None,
                write: None,
                answers: VecDeque::new(),
                read_error: false,
                lite: VecDeque::new(),
                lite_answers: VecDeque::new(),
                bursts: vec![],
                sent: VecDeque::new(),
                control: 0,
                mac_low: 0,
                mac_high: 0,
                ip: 0,
                cycles: 0,
                violations: vec![],
            },
        }
    }

    pub fn step(&mut self) -> Option<Fault> {
        self.core.step(&mut self.outside);
        self.outside.cycles = self.core.cycles as u32;
        self.core.fault.take()
    }

    /// Steps until the program has been at its main loop (`at`) with nothing to do. Panics after `limit` steps: says where it is.
    pub fn settle(&mut self, at: usize, limit: usize) {
        for _ in 0..limit {
            if let Some(fault) = self.step() {
                panic!("{fault:?}");
            }
            if self.core.pc == at && self.idle() {
                return;
            }
        }
        panic!("not idle after {limit} steps, at {:#x}", self.core.pc);
    }

    fn idle(&self) -> bool {
        let o = &self.outside;
        o.start == o.tail && o.lite.is_empty() && o.counts.is_empty()
    }

    /// An access of the host, done to its end. Panics when it isn't after `limit` steps.
    pub fn access(&mut self, access: Access, limit: usize) -> Answer {
        self.outside.lite.push_back(access);
        for _ in 0..limit {
            if let Some(fault) = self.step() {
                panic!("{fault:?}");
            }
            if let Some(answer) = self.outside.lite_answers.pop_front() {
                return answer;
            }
        }
        panic!("{access:?} not answered after {limit} steps, at {:#x}", self.core.pc);
    }
}

impl Outside {
    /// A RoCE frame whose verdict was good, Ethernet header first, without FCS. False: no room (counted).
    pub fn receive(&mut self, frame: &[u8], opcode: &Opcode) -> bool {
        let packet = &frame[ETHERNET..];
        let words = packet.len().div_ceil(4);
        let free = (self.tail + RING - self.start - 1) % RING + 1;
        let free = if self.tail == self.start { RING } else { free };
        if IP_WORD + words + LEAST_ROOM > free {
            self.counts.push_back(counters::RX_NO_BUFFER);
            return false;
        }
        for (i, bytes) in packet.chunks(4).enumerate() {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            self.ring[(self.start + IP_WORD + i) % RING] = u32::from_le_bytes(word);
        }
        let udp = usize::from(u16::from_be_bytes([packet[24], packet[25]]));
        let pad = usize::from(packet[29] >> 4 & 3);
        let payload = udp - 8 - 12 - 4 * opcode.extension_words() - 4 - pad;
        let end = (self.start + IP_WORD + words) % RING;
        self.ring[self.start] = (payload | end << 16) as u32;
        self.start = end;
        self.counts.push_back(counters::RX_ROCE);
        true
    }

    fn is_bad(&self, address: u32) -> bool {
        self.bad.iter().any(|range| range.contains(&address))
    }

    fn burst(&mut self, value: u32, write: bool) -> bool {
        let burst = Burst {
            address: self.address & !3,
            left: (value & 0xff) + 1,
            bad: false,
            id: (value >> 8 & 7) as u8,
        };
        if burst.address & 0xfff | 0xfff < (burst.address & 0xfff) + 4 * burst.left - 1 {
            self.violations.push(format!("a burst over a page border: {burst:x?}"));
        }
        let slot = if write { &mut self.write } else { &mut self.read };
        if slot.is_some() {
            self.violations.push(format!("a burst while one is under way: {burst:x?}"));
        }
        *slot = Some(burst);
        if !write {
            self.read_error = false;
        }
        self.bursts.push(Seen {
            write,
            id: burst.id,
            address: burst.address,
            beats: burst.left,
        });
        self.wait = self.latency;
        true
    }
}

impl Ports for Outside {
    fn input(&mut self, port: u8) -> Option<u32> {
        Some(match port {
            input::STATUS => {
                let writes = matches!(self.lite.front(), Some(Access::Write(..)));
                let reads = matches!(self.lite.front(), Some(Access::Read(_)));
                u32::from(self.start != self.tail) << status::FRAME
                    | u32::from(writes) << status::LITE_WRITE
                    | u32::from(reads) << status::LITE_READ
                    | u32::from(self.read_error) << status::READ_ERROR
            }
            input::RX | input::RXN => {
                let word = if self.in_slots {
                    self.slots[self.pointer]
                } else {
                    self.ring[self.pointer]
                };
                self.pointer = (self.pointer + 1) % RING;
                if port == input::RX {
                    word
                } else {
                    word.swap_bytes()
                }
            }
            input::R => {
                if self.wait > 0 {
                    self.wait -= 1;
                    return None;
                }
                let mut burst = self.read.take()?;
                let at = burst.address as usize;
                let bad = self.is_bad(burst.address);
                self.read_error |= bad;
                let mut word = [0; 4];
                word.copy_from_slice(&self.memory[at..at + 4]);
                burst.address = (burst.address + 4) & ((1 << isa::ADDRESS_BITS) - 1);
                burst.left -= 1;
                self.read = (burst.left > 0).then_some(burst);
                if bad {
                    0
                } else {
                    u32::from_le_bytes(word)
                }
            }
            input::B => {
                if self.wait > 0 {
                    self.wait -= 1;
                    return None;
                }
                if self.answers.pop_front()? {
                    2
                } else {
                    0
                }
            }
            input::LITE_WRITE_ADDRESS => match self.lite.front() {
                Some(Access::Write(address, _)) => address & 0x1f_ffff | 15 << 21,
                _ => 0,
            },
            input::LITE_WRITE_DATA => match self.lite.front() {
                Some(Access::Write(_, data)) => *data,
                _ => 0,
            },
            input::LITE_READ_ADDRESS => match self.lite.front() {
                Some(Access::Read(address)) => *address & 0x1f_ffff,
                _ => 0,
            },
            input::CYCLES => self.cycles & 0xffff,
            _ => 0,
        })
    }

    fn output(&mut self, port: u8, value: u32) -> bool {
        match port {
            output::RX_POINTER => (self.pointer, self.in_slots) = (value as usize % RING, value >> isa::IN_SLOTS & 1 == 1),
            output::RX_RELEASE => self.tail = value as usize % RING,
            output::ADDRESS => self.address = value & ((1 << isa::ADDRESS_BITS) - 1),
            output::AR => return self.burst(value, false),
            output::AW => return self.burst(value, true),
            output::LITE_WRITE => {
                if !matches!(self.lite.pop_front(), Some(Access::Write(..))) {
                    self.violations.push("an answer to no AXI4-Lite write".into());
                }
                self.lite_answers.push_back(if value & 3 == 0 { Ok(0) } else { Err(Refused) });
            }
            output::LITE_READ | output::LITE_READ_ERROR => {
                if !matches!(self.lite.pop_front(), Some(Access::Read(_))) {
                    self.violations.push("an answer to no AXI4-Lite read".into());
                }
                self.lite_answers
                    .push_back(if port == output::LITE_READ { Ok(value) } else { Err(Refused) });
            }
            output::CONTROL => {
                self.control = value;
                if value >> control::RESTART & 1 == 1 {
                    (self.start, self.tail, self.pointer) = (0, 0, 0);
                }
            }
            output::MAC_LOW => self.mac_low = value,
            output::MAC_HIGH => self.mac_high = value,
            output::IP => self.ip = value,
            _ => {}
        }
        true
    }

    fn write_room(&mut self) -> bool {
        true
    }

    fn write_data(&mut self, word: u32, strobes: u8) {
        let Some(mut burst) = self.write.take() else {
            return self.violations.push("write data without a burst".into());
        };
        let bad = self.is_bad(burst.address);
        for i in 0..4 {
            if strobes >> i & 1 == 1 && !bad {
                self.memory[burst.address as usize + i] = word.to_le_bytes()[i];
            }
        }
        burst.bad |= bad;
        burst.address = (burst.address + 4) & ((1 << isa::ADDRESS_BITS) - 1);
        burst.left -= 1;
        if burst.left == 0 {
            self.answers.push_back(burst.bad);
        } else {
            self.write = Some(burst);
        }
    }

    fn transmit(&mut self, words: &[u32], numbers: usize) {
        let bytes = words
            .iter()
            .enumerate()
            .flat_map(|(i, w)| if i < numbers { w.to_be_bytes() } else { w.to_le_bytes() });
        self.sent.push_back(bytes.skip(2).collect());
    }

    fn write_slot(&mut self, at: u16, word: u32) {
        self.slots[usize::from(at)] = word;
    }

    fn count(&mut self) -> Option<u8> {
        self.counts.pop_front()
    }
}
