// SPDX-License-Identifier: MIT OR Apache-2.0
//! What one QP's sender does, and what must come of it: a sequential model of the memories, blind to packets.
//!
//! Places are offsets in areas: `source` and `sink` are the sender's, `target` and `receive` the peer's. Every byte is written once at most,
//! but for the words of ATOMICs, so a READ that is executed again finds what it found.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use verbena_verbs::{CompletionOpcode, Transport, INLINE_BYTES};

/// Bytes that a UD receive has before the payload.
pub const GRH_BYTES: usize = 40;
/// Bytes of the target that ATOMICs use, at its start.
const ATOMICS: usize = 64;
/// Bytes of the target behind them that only READs touch.
const READ_ONLY: usize = 4096;
/// Bytes of the source beside the longest message.
const SOURCE: usize = 8192;

/// What a plan is made of.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub transport: Transport,
    /// Bytes; of UD, the longest message.
    pub pmtu: usize,
    /// Longest message, bytes.
    pub longest: usize,
    pub messages: usize,
    /// Most unsignalled ones in a row, below the send queue's entries.
    pub silent: usize,
    /// READ is to be had, and ATOMIC.
    pub read_atomic: bool,
    pub atomic: bool,
    /// Keys of the peer that a SEND may invalidate.
    pub keys: usize,
}

/// An area before and after.
#[derive(Debug, Clone, Default)]
pub struct Image {
    pub before: Vec<u8>,
    pub after: Vec<u8>,
    /// What isn't compared.
    pub open: Vec<Range<usize>>,
}

impl Image {
    /// Room for `bytes` more, filled at random; where it begins.
    fn grow(&mut self, rng: &mut ChaCha8Rng, bytes: usize) -> usize {
        let at = self.before.len();
        self.before.resize(at + bytes, 0);
        rng.fill(&mut self.before[at..]);
        self.after.extend_from_slice(&self.before[at..]);
        at
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.after[at..at + bytes.len()].copy_from_slice(bytes);
    }
}

/// The verb, with places in the peer's target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Send,
    SendWithImm(u32),
    /// Which of the peer's keys.
    SendWithInvalidate(usize),
    Write(u64),
    WriteWithImm(u64, u32),
    Read(u64),
    CompareSwap {
        at: u64,
        compare: u64,
        swap: u64,
    },
    FetchAdd {
        at: u64,
        add: u64,
    },
}

/// Where the sender's bytes are, or come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Local {
    Inline(Vec<u8>),
    /// Offsets and lengths in the source.
    Source(Vec<(u64, u32)>),
    /// In the sink: results of READ and ATOMIC, or payload that a READ brought (behind a fence).
    Sink(Vec<(u64, u32)>),
}

/// One work request; its number is its place in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub operation: Operation,
    pub local: Local,
    pub signaled: bool,
    pub solicited: bool,
    pub fence: bool,
}

/// A completion that must come, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub step: usize,
    pub opcode: CompletionOpcode,
    pub length: u32,
}

/// A receive completion that must come, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedReceive {
    pub opcode: CompletionOpcode,
    pub length: u32,
    pub immediate: Option<u32>,
    /// Which of the receiver's keys.
    pub invalidated: Option<usize>,
    pub solicited: bool,
}

/// Work of one QP in one direction.
pub struct Plan {
    pub steps: Vec<Step>,
    pub completions: Vec<Expected>,
    pub receives: Vec<ExpectedReceive>,
    /// Bytes of each receive.
    pub receive_bytes: usize,
    pub source: Image,
    pub sink: Image,
    pub target: Image,
    pub receive: Image,
    /// Keys that are gone at the end.
    pub invalidated: usize,
}

/// Lengths that matter: nothing, a few bytes, around packet borders, anything.
fn length(rng: &mut ChaCha8Rng, shape: &Shape) -> usize {
    let packets = rng.gen_range(1..=4) * shape.pmtu;
    let length = match rng.gen_range(0..6) {
        0 => 0,
        1 => rng.gen_range(1..=INLINE_BYTES),
        2 => packets - 1,
        3 => packets,
        4 => packets + 1,
        _ => rng.gen_range(0..=shape.longest),
    };
    length.min(shape.longest)
}

/// One element or two.
fn split(rng: &mut ChaCha8Rng, one: bool, at: usize, bytes: usize) -> Vec<(u64, u32)> {
    let first = if one || rng.gen() { bytes } else { rng.gen_range(0..=bytes) };
    let mut list = vec![(at as u64, first as u32)];
    if first < bytes {
        list.push(((at + first) as u64, (bytes - first) as u32));
    }
    list
}

/// The kinds of step, as a die throws them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Send,
    SendImm,
    SendInvalidate,
    Write,
    WriteImm,
    Read,
    CompareSwap,
    FetchAdd,
}

impl Kind {
    fn all(shape: &Shape) -> Vec<Kind> {
        use Kind::*;
        let mut all = vec![Send, SendImm];
        if shape.transport != Transport::Ud {
            all.extend([Write, WriteImm]);
        }
        if shape.transport == Transport::Rc {
            all.extend([SendInvalidate].iter().filter(|_| shape.keys > 0));
            all.extend([Read, Read].iter().filter(|_| shape.read_atomic));
            all.extend([CompareSwap, FetchAdd].iter().filter(|_| shape.atomic));
        }
        all
    }
}

impl Plan {
    pub fn new(rng: &mut ChaCha8Rng, shape: &Shape) -> Plan {
        let ud = shape.transport == Transport::Ud;
        let mut plan = Plan {
            steps: vec![],
            completions: vec![],
            receives: vec![],
            receive_bytes: shape.longest + if ud { GRH_BYTES } else { 0 },
            source: Image::default(),
            sink: Image::default(),
            target: Image::default(),
            receive: Image::default(),
            invalidated: 0,
        };
        plan.source.grow(rng, SOURCE + shape.longest);
        plan.target.grow(rng, ATOMICS + READ_ONLY);
        // A guard before and behind what READs bring.
        plan.sink.grow(rng, 16);
        let kinds = Kind::all(shape);
        let mut read = vec![];
        let mut silent = 0;
        for step in 0..shape.messages {
            let mut kind = kinds[rng.gen_range(0..kinds.len())];
            if kind == Kind::SendInvalidate && plan.invalidated == shape.keys {
                kind = Kind::Send;
            }
            let signaled = silent >= shape.silent || step + 1 == shape.messages || rng.gen_ratio(3, 4);
            silent = if signaled { 0 } else { silent + 1 };
            let fence = shape.transport == Transport::Rc && rng.gen_ratio(1, 4);
            let solicited = rng.gen_ratio(1, 3);
            let (operation, local, opcode, bytes) = match kind {
                Kind::Read => plan.read(rng, shape, &mut read),
                Kind::CompareSwap | Kind::FetchAdd => plan.atomic(rng, kind),
                _ => plan.message(rng, shape, kind, solicited, read.last().filter(|_| fence).copied()),
            };
            if signaled {
                let length = bytes as u32;
                plan.completions.push(Expected { step, opcode, length });
            }
            plan.steps.push(Step {
                operation,
                local,
                signaled,
                solicited,
                fence,
            });
        }
        plan.sink.grow(rng, 16);
        plan.target.grow(rng, 16);
        plan.receive.grow(rng, 16);
        plan
    }

    /// A READ of what is there before, or of what this plan has written by then.
    fn read(&mut self, rng: &mut ChaCha8Rng, shape: &Shape, read: &mut Vec<(usize, usize)>) -> (Operation, Local, CompletionOpcode, usize) {
        let bytes = length(rng, shape).min(self.target.after.len() - ATOMICS);
        let from = rng.gen_range(ATOMICS..=self.target.after.len() - bytes);
        let gap = rng.gen_range(0..5);
        let to = self.sink.grow(rng, bytes + gap);
        let found = self.target.after[from..from + bytes].to_vec();
        self.sink.put(to, &found);
        read.push((to, bytes));
        let local = Local::Sink(split(rng, false, to, bytes));
        (Operation::Read(from as u64), local, CompletionOpcode::Read, bytes)
    }

    fn atomic(&mut self, rng: &mut ChaCha8Rng, kind: Kind) -> (Operation, Local, CompletionOpcode, usize) {
        let at = 8 * rng.gen_range(0..ATOMICS / 8);
        let mut old = [0; 8];
        old.copy_from_slice(&self.target.after[at..at + 8]);
        let was = u64::from_le_bytes(old);
        let operand: u64 = rng.gen();
        let compare = if rng.gen() { was } else { rng.gen() };
        let to = self.sink.grow(rng, 8);
        self.sink.put(to, &old);
        let (operation, opcode, new) = if kind == Kind::FetchAdd {
            let operation = Operation::FetchAdd {
                at: at as u64,
                add: operand,
            };
            (operation, CompletionOpcode::FetchAdd, was.wrapping_add(operand))
        } else {
            let operation = Operation::CompareSwap {
                at: at as u64,
                compare,
                swap: operand,
            };
            (operation, CompletionOpcode::CompareSwap, if compare == was { operand } else { was })
        };
        self.target.put(at, &new.to_le_bytes());
        (operation, Local::Sink(vec![(to as u64, 8)]), opcode, 8)
    }

    /// A SEND or WRITE of any kind; `fresh` is what an earlier READ brings and may be sent on, because this one is fenced.
    fn message(
        &mut self,
        rng: &mut ChaCha8Rng,
        shape: &Shape,
        kind: Kind,
        solicited: bool,
        fresh: Option<(usize, usize)>,
    ) -> (Operation, Local, CompletionOpcode, usize) {
        let ud = shape.transport == Transport::Ud;
        let (payload, local) = match fresh {
            Some((at, bytes)) => (self.sink.after[at..at + bytes].to_vec(), Local::Sink(split(rng, ud, at, bytes))),
            None => {
                let bytes = length(rng, shape);
                let at = rng.gen_range(0..=self.source.after.len() - bytes);
                let payload = self.source.after[at..at + bytes].to_vec();
                if bytes <= INLINE_BYTES && !ud && rng.gen() {
                    (payload.clone(), Local::Inline(payload))
                } else {
                    (payload, Local::Source(split(rng, ud, at, bytes)))
                }
            }
        };
        let bytes = payload.len();
        let number: u32 = rng.gen();
        let write = matches!(kind, Kind::Write | Kind::WriteImm);
        let mut at = 0;
        if write {
            at = self.target.grow(rng, bytes) as u64;
            self.target.put(at as usize, &payload);
        }
        let operation = match kind {
            Kind::SendImm => Operation::SendWithImm(number),
            Kind::SendInvalidate => Operation::SendWithInvalidate(self.invalidated),
            Kind::Write => Operation::Write(at),
            Kind::WriteImm => Operation::WriteWithImm(at, number),
            _ => Operation::Send,
        };
        if kind != Kind::Write {
            let slot = self.receive.grow(rng, self.receive_bytes);
            let header = if ud { GRH_BYTES } else { 0 };
            if !write {
                self.receive.open.push(slot..slot + header);
                self.receive.put(slot + header, &payload);
            }
            self.receives.push(ExpectedReceive {
                opcode: if write {
                    CompletionOpcode::RecvRdmaWithImm
                } else {
                    CompletionOpcode::Recv
                },
                length: (bytes + header) as u32,
                immediate: matches!(kind, Kind::SendImm | Kind::WriteImm).then_some(number),
                invalidated: (kind == Kind::SendInvalidate).then_some(self.invalidated),
                solicited,
            });
        }
        self.invalidated += usize::from(kind == Kind::SendInvalidate);
        let opcode = if write { CompletionOpcode::Write } else { CompletionOpcode::Send };
        (operation, local, opcode, bytes)
    }
}
