// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core, an instruction a step.
//!
//! A step that can't be done yet (a port that waits) changes nothing and is tried again. Between steps the receiver's events count: each adds
//! one to its counter in memory, without touching anything else, as the hardware does by slipping in an `inc`.

use super::isa::{self, output, Branch, Instruction, Lane, Op, Source};
use super::map;

/// What stands behind the ports.
pub trait Ports {
    /// A word of an input port. `None`: not yet.
    fn input(&mut self, port: u8) -> Option<u32>;
    /// A word to an output port that the core doesn't keep itself. False: not yet.
    fn output(&mut self, port: u8, value: u32) -> bool;
    /// Whether there is room for a word of write data.
    fn write_room(&mut self) -> bool;
    /// A word of write data with its strobes; only where there is room.
    fn write_data(&mut self, word: u32, strobes: u8);
    /// A frame: words, of which the first `numbers` are numbers and the others bytes.
    fn transmit(&mut self, words: &[u32], numbers: usize);
    /// A word for the slots of early packets.
    fn write_slot(&mut self, at: u16, word: u32);
    /// A counter event of the receiver.
    fn count(&mut self) -> Option<u8>;
}

/// What a program did that it must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Calls deeper than the stack, which forgets the oldest return.
    StackOverflow { pc: usize },
    /// `ret` without a call.
    StackUnderflow { pc: usize },
    /// A frame longer than its memory.
    FrameTooLong { pc: usize, words: usize },
}

/// The core.
#[derive(Debug, Clone)]
pub struct Core {
    pub program: Vec<u32>,
    pub memory: Vec<u32>,
    pub pc: usize,
    pub a: u32,
    pub zero: bool,
    pub t: bool,
    /// Page register.
    pub x: u8,
    pub y: u16,
    /// What is written at Y goes to the slots.
    pub to_slots: bool,
    pub count: u8,
    pub shift: u8,
    pub strobes: u8,
    pub stack: [u16; isa::STACK],
    depth: usize,
    /// Clock cycles: two a step (three in the upper half), the same for one that waits, and those of sending.
    pub cycles: u64,
    /// Instructions done.
    pub done: u64,
    /// Steps in a row that waited.
    pub waited: u64,
    pub fault: Option<Fault>,
}

impl Core {
    /// A core at address 0 with a program.
    pub fn new(program: &[u32]) -> Self {
        let mut program = program.to_vec();
        program.resize(isa::PROGRAM_WORDS, 0);
        Self {
            program,
            memory: vec![0; map::WORDS],
            pc: 0,
            a: 0,
            zero: false,
            t: false,
            x: 0,
            y: 0,
            to_slots: false,
            count: 0,
            shift: 0,
            strobes: 0,
            stack: [0; isa::STACK],
            depth: 0,
            cycles: 0,
            done: 0,
            waited: 0,
            fault: None,
        }
    }

    /// The memory word of an instruction's address.
    pub fn place(&self, address: u16) -> usize {
        let address = usize::from(address) & (map::WORDS - 1);
        if address >= map::WINDOW {
            usize::from(self.x) * map::PAGE + address % map::PAGE
        } else {
            address
        }
    }

    /// One instruction, or a wait.
    pub fn step(&mut self, ports: &mut dyn Ports) {
        if let Some(code) = ports.count() {
            let word = &mut self.memory[map::counter(code)];
            *word = word.wrapping_add(1);
            self.cycles += 2;
        }
        self.cycles += if self.pc >> isa::LOWER_LOG & 1 == 0 { 2 } else { 3 };
        let instruction = Instruction::decode(self.program[isa::word_of(self.pc)]);
        match self.act(instruction, ports) {
            Some(next) => {
                self.pc = next & ((1 << isa::PROGRAM_LOG) - 1);
                self.done += 1;
                self.waited = 0;
            }
            None => self.waited += 1,
        }
    }

    /// The next address, or `None` for a wait.
    fn act(&mut self, instruction: Instruction, ports: &mut dyn Ports) -> Option<usize> {
        let next = self.pc + 1;
        match instruction {
            Instruction::Branch { kind, n, target } => Some(self.branch(kind, n, target.into(), next)),
            Instruction::Immediate { op, value } => {
                self.compute(op, value);
                Some(next)
            }
            Instruction::Operand {
                op: Op::Mv,
                source: Source::Port,
                address,
                ..
            } => self.mv(address, next, ports),
            Instruction::Operand { op, source, lane, address } => {
                let at_y = source == Source::Port && address & isa::AT_Y != 0;
                let place = if at_y { usize::from(self.y) } else { self.place(address) };
                match (op, source) {
                    (Op::St, Source::Immediate) => self.memory[place] = lane.insert(self.memory[place], 0),
                    (Op::St | Op::Inc, Source::Memory | Source::Port) if source == Source::Memory || at_y => {
                        let word = self.memory[place];
                        let word = match op {
                            Op::St => lane.insert(word, self.a),
                            _ => word.wrapping_add(1),
                        };
                        self.store(place, at_y, word, ports);
                    }
                    (Op::St, Source::Port) => {
                        let port = (address & 31) as u8;
                        if !self.output(port, ports) {
                            return None;
                        }
                        if port == output::CONTROL && self.a >> isa::control::RESTART & 1 == 1 {
                            return Some(0);
                        }
                    }
                    (Op::St | Op::Inc | Op::Mv, _) => {}
                    _ => {
                        let word = match source {
                            Source::Accumulator => self.a,
                            Source::Port if !at_y => ports.input((address & 31) as u8)?,
                            _ => self.memory[place],
                        };
                        self.compute(op, lane.extract(word));
                    }
                }
                if at_y && address & isa::Y_NEXT != 0 {
                    self.y = (self.y + 1) & (map::WORDS as u16 - 1);
                }
                Some(next)
            }
        }
    }

    fn branch(&mut self, kind: Branch, n: u8, target: usize, next: usize) -> usize {
        let bit = self.a >> n & 1 == 1;
        let target = if kind.is_near() {
            target | self.pc & 1 << isa::LOWER_LOG
        } else {
            target
        };
        let taken = match kind {
            Branch::Jmp if n >> 1 & 1 == 1 => return self.back(),
            Branch::Jmp if n & 1 == 1 => return target | (self.a as usize & ((1 << isa::TABLE_LOG) - 1)),
            Branch::Jmp => true,
            Branch::Call => {
                if self.depth == isa::STACK {
                    self.fault = Some(Fault::StackOverflow { pc: self.pc });
                } else {
                    self.depth += 1;
                }
                self.stack.rotate_right(1);
                self.stack[0] = next as u16 & ((1 << isa::PROGRAM_LOG) - 1);
                true
            }
            Branch::Bz => self.zero,
            Branch::Bnz => !self.zero,
            Branch::Bt => self.t,
            Branch::Bnt => !self.t,
            Branch::Bbs => bit,
            Branch::Bbc => !bit,
        };
        if taken {
            target
        } else {
            next
        }
    }

    fn back(&mut self) -> usize {
        if self.depth == 0 {
            self.fault = Some(Fault::StackUnderflow { pc: self.pc });
        } else {
            self.depth -= 1;
        }
        let to = self.stack[0];
        self.stack.rotate_left(1);
        self.stack[isa::STACK - 1] = to;
        to.into()
    }

    fn compute(&mut self, op: Op, x: u32) {
        let (a, t) = (self.a, u64::from(self.t));
        let sum = |x: u64| (u64::from(a).wrapping_add(x)) & 0x1_ffff_ffff;
        let x64 = u64::from(x);
        let (result, carry) = match op {
            Op::Ld => (x, None),
            Op::Not => (!x, None),
            Op::And | Op::Tst => (a & x, None),
            Op::Or => (a | x, None),
            Op::Xor => (a ^ x, None),
            Op::Add => (sum(x64) as u32, Some(sum(x64) >> 32 == 1)),
            Op::Adc => (sum(x64 + t) as u32, Some(sum(x64 + t) >> 32 == 1)),
            Op::Sub | Op::Cmp => (a.wrapping_sub(x), Some(a < x)),
            Op::Sbb => (a.wrapping_sub(x).wrapping_sub(t as u32), Some(u64::from(a) < x64 + t)),
            Op::Shr => (x >> 1, Some(x & 1 == 1)),
            Op::Bit => (1 << (x & 31), None),
            Op::St | Op::Inc | Op::Mv => return,
        };
        self.zero = result == 0;
        self.t = carry.unwrap_or(self.t);
        if !matches!(op, Op::Tst | Op::Cmp) {
            self.a = result;
        }
    }

    fn mv(&mut self, address: u16, next: usize, ports: &mut dyn Ports) -> Option<usize> {
        let repeat = address & isa::MV_REPEAT != 0;
        if repeat && self.count == 0 {
            return Some(next);
        }
        // The result can wait, the port's word can't be given back: room first.
        let to_w = address & isa::MV_TO_W != 0;
        if to_w && !ports.write_room() {
            return None;
        }
        let port = (address & 15) as u8;
        let r = ports.input(port)?.rotate_left(8 * u32::from(self.shift));
        let below = Lane {
            rot: 0,
            size: self.shift.wrapping_sub(1) & 3,
        };
        let merged = if self.shift == 0 { r } else { below.insert(r, self.a) };
        self.a = r;
        if to_w {
            ports.write_data(merged, self.strobes);
        }
        if address & isa::MV_TO_Y != 0 {
            self.store(self.y.into(), true, merged, ports);
            self.y = (self.y + 1) & (map::WORDS as u16 - 1);
        }
        if repeat {
            self.count = self.count.wrapping_sub(1);
            // The same instruction again, until the count is 0.
            return Some(self.pc);
        }
        Some(next)
    }

    fn store(&mut self, place: usize, at_y: bool, word: u32, ports: &mut dyn Ports) {
        if at_y && self.to_slots {
            ports.write_slot(place as u16, word);
        } else {
            self.memory[place] = word;
        }
    }

    fn output(&mut self, port: u8, ports: &mut dyn Ports) -> bool {
        let a = self.a;
        match port {
            output::X => self.x = (a & 7) as u8,
            output::Y => (self.y, self.to_slots) = ((a & (map::WORDS as u32 - 1)) as u16, a >> isa::TO_SLOTS & 1 == 1),
            output::COUNT => self.count = a as u8,
            output::SHIFT => (self.shift, self.strobes) = ((a & 3) as u8, (a >> 4 & 15) as u8),
            output::W => {
                if !ports.write_room() {
                    return false;
                }
                ports.write_data(a, self.strobes);
            }
            output::TRANSMIT => {
                let words = (a & 0xff) as usize;
                let end = map::TX + words;
                if end > map::WORDS {
                    self.fault = Some(Fault::FrameTooLong { pc: self.pc, words });
                } else {
                    ports.transmit(&self.memory[map::TX..end], (a >> 8 & 31) as usize);
                    self.cycles += words as u64 + 2;
                }
            }
            _ => return ports.output(port, a),
        }
        true
    }
}
