// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `Complete` should do, in plain Rust and in terms of messages: written from the rules and the station's contract, not from the RTL.

use verbena_spec::{counters, layout::completion_opcode, layout::send_opcode, layout::state, layout::status};

pub const PSN_MASK: u32 = 0xff_ffff;
/// Where the bus address of a virtual address lies, in the world of these tests.
pub const KEY_OFFSET: u64 = 0x1111_2222_3333_0000;

/// `a` lies before `b` (R21).
pub fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) & PSN_MASK >= 0x80_0000
}

pub fn add(a: u32, n: u32) -> u32 {
    a.wrapping_add(n) & PSN_MASK
}

/// One element. A key is good if it is even; bit 1 says paged.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Element {
    pub va: u64,
    pub length: u32,
    pub key: u32,
}

/// A WQE and, once begun, its PSNs.
#[derive(Debug, Clone)]
pub struct Message {
    pub opcode: u32,
    pub signaled: bool,
    pub length: u32,
    pub elements: Vec<Element>,
    pub first: u32,
}

impl Message {
    pub fn packets(&self, pmtu: u32) -> u32 {
        self.length.div_ceil(pmtu).max(1)
    }
    pub fn end(&self, pmtu: u32) -> u32 {
        add(self.first, self.packets(pmtu))
    }
    pub fn is_read(&self) -> bool {
        self.opcode == send_opcode::READ
    }
    pub fn is_atomic(&self) -> bool {
        self.opcode >= send_opcode::COMPARE_SWAP
    }
    pub fn completion_opcode(&self) -> u32 {
        match self.opcode {
            send_opcode::SEND | send_opcode::SEND_WITH_IMM | send_opcode::SEND_WITH_INVALIDATE => completion_opcode::SEND,
            send_opcode::WRITE | send_opcode::WRITE_WITH_IMM => completion_opcode::WRITE,
            send_opcode::READ => completion_opcode::READ,
            send_opcode::COMPARE_SWAP => completion_opcode::COMPARE_SWAP,
            _ => completion_opcode::FETCH_ADD,
        }
    }
}

/// A response as it comes from the wire.
#[derive(Debug, Clone, Copy)]
pub struct Response {
    pub opcode: u8,
    pub psn: u32,
    pub syndrome: u8,
    pub payload: u32,
    pub beat: u32,
    pub lane: u32,
    pub end_beat: u32,
}

/// What leaves, in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Out {
    Job {
        paged: bool,
        address: u64,
        length: u32,
        beat: u32,
        lane: u32,
        release: bool,
        end_beat: u32,
        swap: bool,
    },
    /// A completion, or the end of jobs. Opcode and length count in a success only, and read 0 else.
    Entry {
        jobs: u32,
        complete: bool,
        status: u32,
        opcode: u32,
        wqe: u16,
        length: u32,
        fatal: Option<u32>,
        drained: bool,
    },
    Rewind {
        psn: u32,
        wqe: u16,
        offset: u32,
        hold: bool,
        alone: bool,
    },
    Wake,
    Count(u8),
    /// The response is over: counter code, placed.
    Done(u8, bool),
}

/// What the timer should be doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Timer {
    Off,
    Ack,
    Rnr(u8),
}

/// What Send shows of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sender {
    pub next: u32,
    pub highest: u32,
    pub begun: u16,
    pub producer: u16,
    /// `next` is sent again alone, then it goes on at `highest`.
    pub alone: bool,
}

/// A QP as the host set it up.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub pmtu: u32,
    pub retry_count: u32,
    pub rnr_retry: u32,
    /// Code; 0 is off.
    pub timeout: u32,
    /// Bytes of a ring beat.
    pub beat_bytes: u32,
    pub selective_repeat: bool,
}

/// One QP.
#[derive(Debug, Clone)]
pub struct Golden {
    pub setup: Setup,
    pub state: u32,
    pub dead: bool,
    pub oldest: u32,
    pub wqe: u16,
    pub retries: u32,
    pub rnr_retries: u32,
    pub implied: bool,
    pub waiting: bool,
    pub told: bool,
    pub timer: Timer,
    /// R42: PSN of the last sequence NAK that was answered by a resend alone.
    pub resent: Option<u32>,
    alone: bool,
    out: Vec<Out>,
    moved: bool,
}

impl Golden {
    pub fn new(setup: Setup) -> Self {
        Self {
            setup,
            state: state::RESET,
            dead: false,
            oldest: 0,
            wqe: 0,
            retries: 0,
            rnr_retries: 0,
            implied: false,
            waiting: false,
            told: false,
            timer: Timer::Off,
            resent: None,
            alone: false,
            out: vec![],
            moved: false,
        }
    }

    fn live(&self) -> bool {
        !self.dead && (self.state == state::RTS || self.state == state::SQD)
    }

    fn progress(&mut self) {
        // R44.
        self.moved = true;
        self.retries = 0;
        self.rnr_retries = 0;
        self.implied = false;
        self.waiting = false;
    }

    fn done(&mut self, message: &Message, jobs: u32) {
        if message.signaled || jobs > 0 {
            self.out.push(Out::Entry {
                jobs,
                complete: message.signaled,
                status: 0,
                opcode: if message.signaled { message.completion_opcode() } else { 0 },
                wqe: self.wqe,
                length: if message.signaled { message.length } else { 0 },
                fatal: None,
                drained: false,
            });
        }
    }

    fn fatal(&mut self, status: u32, cause: u32, jobs: u32) {
        self.out.push(Out::Entry {
            jobs,
            complete: true,
            status,
            opcode: 0,
            wqe: self.wqe,
            length: 0,
            fatal: Some(cause),
            drained: false,
        });
        self.wqe = self.wqe.wrapping_add(1);
        self.dead = true;
    }

    /// One retry is used up; false: it was one too many, and the QP has failed.
    fn retry(&mut self, rnr: bool) -> bool {
        let (used, limit, status) = if rnr {
            (&mut self.rnr_retries, self.setup.rnr_retry, status::RNR_RETRY_EXCEEDED)
        } else {
            (&mut self.retries, self.setup.retry_count, status::RETRY_EXCEEDED)
        };
        if rnr && limit == 7 {
            return true;
        }
        if *used == limit {
            self.fatal(status, status, 0);
            return false;
        }
        *used += 1;
        true
    }

    /// What every job ends with.
    ///
    /// R48: what isn't progress starts the timer anew only when it has run out (`count` says so).
    fn close(&mut self, messages: &[Message], sender: &Sender, count: Option<u8>, rewind: bool, rnr: Option<u8>, wake: bool) {
        let timeout = count == Some(counters::TIMEOUT);
        if self.moved && self.state == state::SQD && !self.dead {
            self.drain(sender);
        }
        if let Some(code) = count {
            self.out.push(Out::Count(code));
        }
        // What is sent alone Send sees to itself.
        let forward = self.moved && !self.dead && before(sender.next, self.oldest) && !sender.alone;
        if !self.dead && (rewind || forward) {
            // Behind the last message begun the offset is 0.
            let offset = if self.wqe == sender.begun {
                0
            } else {
                (self.oldest.wrapping_sub(messages[self.wqe as usize].first) & PSN_MASK) * self.setup.pmtu
            };
            self.out.push(Out::Rewind {
                psn: self.oldest,
                wqe: self.wqe,
                offset,
                hold: rnr.is_some(),
                alone: self.alone,
            });
            self.resent = self.alone.then_some(self.oldest);
            let code = if self.alone { counters::SELECTIVE_RESEND } else { counters::REWIND };
            self.out.push(Out::Count(code));
        }
        if (self.moved || wake) && rnr.is_none() {
            self.out.push(Out::Wake);
        }
        if let Some(code) = rnr {
            self.timer = Timer::Rnr(code);
        } else if self.dead {
            self.timer = Timer::Off;
        } else if !self.waiting && (self.moved || timeout || wake || self.alone) {
            self.start_timer(sender);
        }
    }

    fn start_timer(&mut self, sender: &Sender) {
        self.timer = if before(self.oldest, sender.highest) && self.setup.timeout != 0 {
            Timer::Ack
        } else {
            Timer::Off
        };
    }

    fn drain(&mut self, sender: &Sender) {
        if self.wqe == sender.begun && !self.told {
            self.told = true;
            self.out.push(Out::Entry {
                jobs: 0,
                complete: false,
                status: 0,
                opcode: 0,
                wqe: self.wqe,
                length: 0,
                fatal: None,
                drained: true,
            });
        }
    }

    fn take(&mut self) -> Vec<Out> {
        std::mem::take(&mut self.out)
    }

    /// A response; `messages` by WQE index.
    pub fn response(&mut self, messages: &[Message], sender: &Sender, r: &Response) -> Vec<Out> {
        (self.moved, self.alone) = (false, false);
        let legit = self.live() && !before(r.psn, self.oldest) && before(r.psn, sender.highest);
        if !legit {
            return vec![Out::Done(counters::GHOST_ACK, false)];
        }
        let acknowledge = r.opcode == 0x11;
        let class = r.syndrome >> 5 & 3;
        let positive = acknowledge && class == 0;
        let bound = if positive { add(r.psn, 1) } else { r.psn };
        let mut missing = false;
        while self.oldest != bound && !missing {
            let message = messages[self.wqe as usize].clone();
            let end = message.end(self.setup.pmtu);
            if message.is_read() || message.is_atomic() {
                missing = true;
            } else if !before(bound, end) {
                self.done(&message, 0);
                self.oldest = end;
                self.wqe = self.wqe.wrapping_add(1);
                self.progress();
            } else {
                self.oldest = bound;
                self.progress();
            }
        }
        let (mut count, mut rewind, mut rnr, mut placed) = (None, false, None, false);
        if missing {
            // R34.
            if !self.implied {
                self.implied = true;
                count = Some(counters::IMPLIED_NAK);
                rewind = true;
            }
        } else if positive {
        } else if !acknowledge {
            placed = self.data(&messages[self.wqe as usize].clone(), r, &mut count);
        } else if r.syndrome & 0x7f == 0x60 {
            let named = self.resent.map(|psn| self.oldest.wrapping_sub(psn) & PSN_MASK);
            // The same again says nothing new; the one behind it that the peer held nothing.
            let same = self.setup.selective_repeat && named == Some(0);
            rewind = !self.waiting && !same;
            self.alone = rewind && self.setup.selective_repeat && named != Some(1);
        } else if class == 1 {
            if !self.waiting {
                count = Some(counters::RNR_WAIT);
                rewind = self.retry(true);
                if rewind {
                    self.waiting = true;
                    rnr = Some(r.syndrome & 0x1f);
                }
            }
        } else {
            let status = match r.syndrome & 0x7f {
                0x61 => status::REMOTE_INVALID_REQUEST_ERROR,
                0x62 => status::REMOTE_ACCESS_ERROR,
                0x63 => status::REMOTE_OPERATION_ERROR,
                _ => status::BAD_RESPONSE_ERROR,
            };
            if status == status::BAD_RESPONSE_ERROR {
                count = Some(counters::BAD_RESPONSE);
            }
            self.fatal(status, r.syndrome as u32, 0);
        }
        self.close(messages, sender, count, rewind, rnr, false);
        self.out.push(Out::Done(counters::RESPONSE, placed));
        self.take()
    }

    /// Data at the oldest PSN; true if the frame is released.
    fn data(&mut self, message: &Message, r: &Response, count: &mut Option<u8>) -> bool {
        let pmtu = self.setup.pmtu;
        let number = self.oldest.wrapping_sub(message.first) & PSN_MASK;
        let last = number + 1 == message.packets(pmtu);
        let offset = number * pmtu;
        let class_good = r.syndrome >> 5 & 3 == 0;
        let fits = if message.is_read() {
            let due = if last { message.length - offset } else { pmtu };
            let opcode_good = match r.opcode {
                0x0d => !last,
                0x0e => !last && number > 0,
                0x0f => last && number > 0,
                0x10 => last,
                _ => false,
            };
            opcode_good && r.payload == due && (r.opcode == 0x0e || class_good)
        } else {
            message.is_atomic() && r.opcode == 0x12 && class_good && r.payload == 0
        };
        if !fits {
            *count = Some(counters::BAD_RESPONSE);
            self.fatal(status::BAD_RESPONSE_ERROR, status::BAD_RESPONSE_ERROR, 0);
            return false;
        }
        let bytes = if message.is_atomic() { 8 } else { r.payload };
        let mut pieces = vec![];
        let mut at = offset as u64;
        let mut left = bytes;
        for e in &message.elements {
            if at >= e.length as u64 {
                at -= e.length as u64;
                continue;
            }
            let length = left.min((e.length as u64 - at) as u32);
            if length > 0 {
                pieces.push((e.va.wrapping_add(at), length, e.key));
            }
            left -= length;
            at = 0;
        }
        let mut jobs = 0;
        let mut position = r.beat * self.setup.beat_bytes + r.lane;
        if message.is_atomic() {
            position -= 8;
        }
        for (i, (va, length, key)) in pieces.iter().enumerate() {
            if key & 1 == 1 {
                self.fatal(status::LOCAL_PROTECTION_ERROR, status::LOCAL_PROTECTION_ERROR, jobs);
                return false;
            }
            self.out.push(Out::Job {
                paged: key & 2 == 2,
                address: va.wrapping_add(KEY_OFFSET),
                length: *length,
                beat: (position / self.setup.beat_bytes) & 0x1fff,
                lane: position % self.setup.beat_bytes,
                release: i + 1 == pieces.len(),
                end_beat: r.end_beat,
                swap: message.is_atomic(),
            });
            position += length;
            jobs += 1;
        }
        let mut done = message.clone();
        done.signaled &= last;
        self.done(&done, jobs);
        self.oldest = add(self.oldest, 1);
        if last {
            self.wqe = self.wqe.wrapping_add(1);
        }
        self.progress();
        jobs > 0
    }

    /// The timer has run out.
    pub fn expired(&mut self, messages: &[Message], sender: &Sender) -> Vec<Out> {
        (self.moved, self.alone) = (false, false);
        let timer = self.timer;
        self.timer = Timer::Off;
        if !self.live() {
            return vec![];
        }
        match timer {
            Timer::Rnr(_) => {
                self.waiting = false;
                self.close(messages, sender, None, false, None, true);
            }
            _ if before(self.oldest, sender.highest) => {
                let rewind = self.retry(false);
                self.close(messages, sender, Some(counters::TIMEOUT), rewind, None, false);
            }
            _ => {}
        }
        self.take()
    }

    /// Send's word of a state change or, in ERR, of a doorbell.
    pub fn flush(&mut self, new: u32, sq_psn: u32, sender: &Sender) -> Vec<Out> {
        let was_live = self.state == state::RTS || self.state == state::SQD;
        match new {
            state::ERR => {
                self.state = new;
                self.timer = Timer::Off;
                while self.wqe != sender.producer {
                    self.out.push(Out::Entry {
                        jobs: 0,
                        complete: true,
                        status: status::WR_FLUSH_ERROR,
                        opcode: 0,
                        wqe: self.wqe,
                        length: 0,
                        fatal: None,
                        drained: false,
                    });
                    self.wqe = self.wqe.wrapping_add(1);
                }
            }
            state::RTS if was_live => {
                self.state = new;
                self.told = false;
            }
            state::SQD if was_live => {
                self.state = new;
                self.drain(sender);
            }
            _ => {
                *self = Self::new(self.setup);
                self.state = new;
                self.oldest = sq_psn;
            }
        }
        self.take()
    }

    pub fn fail(&mut self, status: u32) -> Vec<Out> {
        if self.live() {
            self.fatal(status, status, 0);
            self.timer = Timer::Off;
        }
        self.take()
    }

    /// A UC or UD message is on the wire.
    pub fn sent(&mut self, messages: &[Message], sender: &Sender, status: u32) -> Vec<Out> {
        (self.moved, self.alone) = (false, false);
        if !self.live() {
            return vec![];
        }
        if status != 0 {
            return self.fail(status);
        }
        let message = messages[self.wqe as usize].clone();
        self.done(&message, 0);
        self.oldest = message.end(self.setup.pmtu);
        self.wqe = self.wqe.wrapping_add(1);
        self.progress();
        self.close(messages, sender, None, false, None, false);
        self.take()
    }

    pub fn armed(&mut self) {
        if self.timer == Timer::Off && self.setup.timeout != 0 {
            self.timer = Timer::Ack;
        }
    }
}
