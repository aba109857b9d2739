// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instruction words of 20 bits.
//!
//! ```text
//!  19   18..15   14..13   12..9    8..0
//!   0   op       source   lane     address        operand instruction
//!   0   op       1        rot 12..11, value 10..0   immediate: value << 8 * rot, bytes that leave at the top come in below
//!
//!  19   18..16   15..11   10..0
//!   1   kind     n        target                  branch; bit 13 is bit 11 of the target, but for bbs and bbc: they stay in their half of the program
//! ```

/// Bits of an instruction.
pub const INSTRUCTION_BITS: usize = 20;
/// Bits of an instruction's address.
pub const PROGRAM_LOG: usize = 12;
/// log2 of the lower half's instructions: they are in RAM that the bitstream fills.
pub const LOWER_LOG: usize = 11;
/// log2 of the upper half's: they are logic, and take three cycles. Addresses go round there.
pub const UPPER_LOG: usize = 9;
/// The most instructions.
pub const PROGRAM_WORDS: usize = (1 << LOWER_LOG) + (1 << UPPER_LOG);
/// In a branch's word, bit 11 of its target.
const FAR: u32 = 13;
/// log2 of the memory's words.
pub const MEMORY_LOG: usize = 9;
/// log2 of a page's words: the page register X replaces the upper bits of an address in the last page.
pub const PAGE_LOG: usize = 6;
/// Return addresses that the call stack holds.
pub const STACK: usize = 6;
/// log2 of the receive ring's words.
pub const RING_LOG: usize = 9;
/// log2 of the words that hold early packets.
pub const SLOTS_LOG: usize = 9;
/// Bit of Y: what is written at Y goes to the slots, not to the memory. `Y + 1` doesn't change it.
pub const TO_SLOTS: usize = 9;
/// Bit of the receive pointer: it is a word of the slots, not of the ring. It doesn't change as the pointer goes on.
pub const IN_SLOTS: usize = 10;
/// Bits of a bus address.
pub const ADDRESS_BITS: usize = 20;

/// What an operand instruction does. A is the accumulator, `x` the operand after its lane, T the carry flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// A = x
    Ld = 0,
    /// A = ~x
    Not = 1,
    /// A = A & x
    And = 2,
    /// A = A | x
    Or = 3,
    /// A = A ^ x
    Xor = 4,
    /// Z of A & x; A stays
    Tst = 5,
    /// A = A + x; T = carry
    Add = 6,
    /// A = A - x; T = borrow (A < x)
    Sub = 7,
    /// A = A + x + T; T = carry
    Adc = 8,
    /// A = A - x - T; T = borrow
    Sbb = 9,
    /// Z and T as `Sub`; A stays
    Cmp = 10,
    /// A = x >> 1; T = bit 0 of x
    Shr = 11,
    /// The lane's bytes of the operand's word = lowest bytes of A; or a port = A. No flag changes. With source 1 (no immediate then): = 0, `clr`.
    St = 12,
    /// Memory word + 1. No flag and no A changes.
    Inc = 13,
    /// A port's word r, rotated left by SH bytes: bytes below SH of the result from A, the others from r; A = r; the result to W or to [Y+].
    Mv = 14,
    /// A = 1 << x[4:0]
    Bit = 15,
}

/// All operations, by number.
pub const OPS: [Op; 16] = [
    Op::Ld,
    Op::Not,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Tst,
    Op::Add,
    Op::Sub,
    Op::Adc,
    Op::Sbb,
    Op::Cmp,
    Op::Shr,
    Op::St,
    Op::Inc,
    Op::Mv,
    Op::Bit,
];

/// Their mnemonics, by number.
pub const OP_NAMES: [&str; 16] = [
    "ld", "not", "and", "or", "xor", "tst", "add", "sub", "adc", "sbb", "cmp", "shr", "st", "inc", "mv", "bit",
];

/// Where the operand comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    Memory = 0,
    Immediate = 1,
    /// A port; with address bit 8 the memory word at Y (bit 7: Y + 1 afterwards).
    Port = 2,
    Accumulator = 3,
}

/// All sources, by number.
pub const SOURCES: [Source; 4] = [Source::Memory, Source::Immediate, Source::Port, Source::Accumulator];

/// Branch kinds. `n` is 0 but where said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Branch {
    /// Always; n = 1: to target | A[5:0]; n = 2: return.
    Jmp = 0,
    Call = 1,
    /// Z: the last result was 0.
    Bz = 2,
    Bnz = 3,
    Bt = 4,
    Bnt = 5,
    /// Bit n of A is set.
    Bbs = 6,
    Bbc = 7,
}

impl Branch {
    /// It goes to its own half of the program only: its `n` takes all bits.
    pub fn is_near(self) -> bool {
        matches!(self, Branch::Bbs | Branch::Bbc)
    }
}

/// Where an instruction stands in the program's words.
pub fn word_of(address: usize) -> usize {
    let half = 1 << LOWER_LOG;
    if address & half == 0 {
        address & (half - 1)
    } else {
        half + (address & ((1 << UPPER_LOG) - 1))
    }
}

/// All kinds, by number.
pub const BRANCHES: [Branch; 8] = [
    Branch::Jmp,
    Branch::Call,
    Branch::Bz,
    Branch::Bnz,
    Branch::Bt,
    Branch::Bnt,
    Branch::Bbs,
    Branch::Bbc,
];

/// Their mnemonics, by number. `jtab` is `jmp` with n = 1, `ret` with n = 2.
pub const BRANCH_NAMES: [&str; 8] = ["jmp", "call", "bz", "bnz", "bt", "bnt", "bbs", "bbc"];

/// `n` of a `jmp` that is `jtab`, and of one that is `ret`.
pub const JTAB: u8 = 1;
pub const RET: u8 = 2;

/// Bits of A that `jtab` takes.
pub const TABLE_LOG: usize = 6;

/// Address bit of a port operand: the memory word at Y.
pub const AT_Y: u16 = 1 << 8;
/// ... and Y goes on by one.
pub const Y_NEXT: u16 = 1 << 7;

/// `mv`: the result goes to W.
pub const MV_TO_W: u16 = 1 << 4;
/// `mv`: the result goes to [Y+].
pub const MV_TO_Y: u16 = 1 << 5;
/// `mv`: CNT times.
pub const MV_REPEAT: u16 = 1 << 6;

/// Ports that are read.
pub mod input {
    /// 0.
    pub const ZERO: u8 = 0;
    /// Bits as in [`super::status`].
    pub const STATUS: u8 = 1;
    /// The ring's (or the slots') word at the receive pointer as it stands there (first byte on the wire in [7:0]); the pointer goes on.
    pub const RX: u8 = 2;
    /// The same as a big-endian number (first byte on the wire in [31:24]).
    pub const RXN: u8 = 3;
    /// A word of AXI read data; waits for it.
    pub const R: u8 = 4;
    /// The write's response, [1:0]; waits for it.
    pub const B: u8 = 5;
    /// AXI4-Lite write: address [20:0], [24:21] strobes.
    pub const LITE_WRITE_ADDRESS: u8 = 6;
    pub const LITE_WRITE_DATA: u8 = 7;
    /// AXI4-Lite read: address [20:0].
    pub const LITE_READ_ADDRESS: u8 = 8;
    /// Clock cycles, [15:0], wrapping.
    pub const CYCLES: u8 = 9;
}

/// Names of the input ports.
pub const INPUTS: &[(&str, u8)] = &[
    ("zero", input::ZERO),
    ("status", input::STATUS),
    ("rx", input::RX),
    ("rxn", input::RXN),
    ("r", input::R),
    ("b", input::B),
    ("lite_write_address", input::LITE_WRITE_ADDRESS),
    ("lite_write_data", input::LITE_WRITE_DATA),
    ("lite_read_address", input::LITE_READ_ADDRESS),
    ("cycles", input::CYCLES),
];

/// Bits of the status port.
pub mod status {
    /// A frame waits in the ring.
    pub const FRAME: u8 = 0;
    /// AXI4-Lite: a write waits (address and data), and the host has taken the last response.
    pub const LITE_WRITE: u8 = 1;
    /// AXI4-Lite: a read waits, and the host has taken the last data.
    pub const LITE_READ: u8 = 2;
    /// A word of R since the last `ar` came with an error.
    pub const READ_ERROR: u8 = 3;
}

/// Ports that are written.
pub mod output {
    /// Page register, 3 bits.
    pub const X: u8 = 0;
    /// Memory pointer, 9 bits, and [9] as [`super::TO_SLOTS`].
    pub const Y: u8 = 1;
    /// Repeat count of `mv`, 8 bits.
    pub const COUNT: u8 = 2;
    /// [1:0] SH, [7:4] strobes of the words that go to W.
    pub const SHIFT: u8 = 3;
    /// Receive pointer, 9 bits: a word of the ring, or with [10] of the slots ([`super::IN_SLOTS`]).
    pub const RX_POINTER: u8 = 4;
    /// The ring is free up to this word, 9 bits.
    pub const RX_RELEASE: u8 = 5;
    /// Bus address of the next `ar` or `aw`, 20 bits.
    pub const ADDRESS: u8 = 6;
    /// Begins a read burst: [7:0] beats less one, [10:8] ID. Waits until the last `ar` or `aw` has been taken.
    pub const AR: u8 = 7;
    /// Begins a write burst, likewise.
    pub const AW: u8 = 8;
    /// A word of write data, with the strobes of SHIFT.
    pub const W: u8 = 9;
    /// Sends the frame at [`super::super::map::TX`]: [7:0] words, the ICRC not counted, [12:8] words that are numbers (the others are bytes).
    /// The core goes on when the memory has been read to the frame's end.
    pub const TRANSMIT: u8 = 10;
    /// Answers the AXI4-Lite write: [1:0] response.
    pub const LITE_WRITE: u8 = 11;
    /// Answers the AXI4-Lite read, with data.
    pub const LITE_READ: u8 = 12;
    /// Answers the AXI4-Lite read with SLVERR.
    pub const LITE_READ_ERROR: u8 = 13;
    /// [0] RoCE frames are accepted, [1] ICRC check off, [2] interrupt, [3] our IP is valid, [4] restart: the receiver is cleared, the
    /// program begins at 0.
    pub const CONTROL: u8 = 14;
    /// Our MAC, last four bytes as a number.
    pub const MAC_LOW: u8 = 15;
    /// Our MAC, first two bytes.
    pub const MAC_HIGH: u8 = 16;
    /// Our IP address.
    pub const IP: u8 = 17;
}

/// Names of the output ports.
pub const OUTPUTS: &[(&str, u8)] = &[
    ("x", output::X),
    ("y", output::Y),
    ("count", output::COUNT),
    ("shift", output::SHIFT),
    ("rx_pointer", output::RX_POINTER),
    ("rx_release", output::RX_RELEASE),
    ("address", output::ADDRESS),
    ("ar", output::AR),
    ("aw", output::AW),
    ("w", output::W),
    ("transmit", output::TRANSMIT),
    ("lite_write", output::LITE_WRITE),
    ("lite_read", output::LITE_READ),
    ("lite_read_error", output::LITE_READ_ERROR),
    ("control", output::CONTROL),
    ("mac_low", output::MAC_LOW),
    ("mac_high", output::MAC_HIGH),
    ("ip", output::IP),
];

/// Bits of the CONTROL port.
pub mod control {
    pub const ENABLE: u8 = 0;
    pub const ICRC_OFF: u8 = 1;
    pub const IRQ: u8 = 2;
    pub const IP_VALID: u8 = 3;
    pub const RESTART: u8 = 4;
}

/// Sizes of a lane, by number.
pub const SIZE_NAMES: [char; 4] = ['b', 'h', 't', 'w'];

/// Bytes of a word: `size + 1` of them (`b` 1, `h` 2, `t` 3, `w` 4), the lowest of which is byte `rot` of the word (bytes go round).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    pub rot: u8,
    pub size: u8,
}

/// The whole word.
pub const WORD: Lane = Lane { rot: 0, size: 3 };

impl Lane {
    pub fn bits(self) -> u32 {
        u32::from(self.rot) << 2 | u32::from(self.size)
    }
    pub fn of(bits: u32) -> Self {
        Self {
            rot: (bits >> 2 & 3) as u8,
            size: (bits & 3) as u8,
        }
    }
    /// A 1 in each bit that the size keeps.
    pub fn mask(self) -> u32 {
        u32::MAX >> (24 - 8 * u32::from(self.size))
    }
    /// The bytes, moved down.
    pub fn extract(self, word: u32) -> u32 {
        word.rotate_right(8 * u32::from(self.rot)) & self.mask()
    }
    /// `word` with the lane's bytes replaced by the lowest of `value`.
    pub fn insert(self, word: u32, value: u32) -> u32 {
        let place = 8 * u32::from(self.rot);
        let mask = self.mask().rotate_left(place);
        word & !mask | value.rotate_left(place) & mask
    }
}

/// An instruction, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    Operand { op: Op, source: Source, lane: Lane, address: u16 },
    Immediate { op: Op, value: u32 },
    Branch { kind: Branch, n: u8, target: u16 },
}

impl Instruction {
    /// Every word is an instruction.
    pub fn decode(word: u32) -> Self {
        if word >> 19 & 1 == 1 {
            let kind = BRANCHES[(word >> 16 & 7) as usize];
            let (n, near) = ((word >> 11 & 31) as u8, (word & 0x7ff) as u16);
            let far = n >> (FAR - 11) & 1;
            let (n, target) = if kind.is_near() {
                (n, near)
            } else {
                (n & !(1 << (FAR - 11)), near | u16::from(far) << LOWER_LOG)
            };
            return Self::Branch { kind, n, target };
        }
        let op = OPS[(word >> 15 & 15) as usize];
        let source = SOURCES[(word >> 13 & 3) as usize];
        if source == Source::Immediate && op != Op::St {
            let value = (word & 0x7ff).rotate_left(8 * (word >> 11 & 3));
            return Self::Immediate { op, value };
        }
        Self::Operand {
            op,
            source,
            lane: Lane::of(word >> 9 & 15),
            address: (word & 0x1ff) as u16,
        }
    }

    /// The word. `None`: an immediate that 11 bits, moved by whole bytes, don't give.
    pub fn encode(self) -> Option<u32> {
        Some(match self {
            Self::Branch { kind, n, target } => {
                let (near, far) = (u32::from(target) & 0x7ff, u32::from(target) >> LOWER_LOG);
                1 << 19 | (kind as u32) << 16 | u32::from(n) << 11 | near | if kind.is_near() { 0 } else { far << FAR }
            }
            Self::Immediate { op, value } => {
                let rot = (0..4).find(|rot| value.rotate_right(8 * rot) >> 11 == 0)?;
                (op as u32) << 15 | 1 << 13 | rot << 11 | value.rotate_right(8 * rot)
            }
            Self::Operand { op, source, lane, address } => {
                (op as u32) << 15 | (source as u32) << 13 | lane.bits() << 9 | u32::from(address)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_what_it_decodes_to() {
        for word in 0..1 << INSTRUCTION_BITS {
            let instruction = Instruction::decode(word);
            let again = instruction.encode().unwrap();
            // A value may have two encodings.
            assert_eq!(Instruction::decode(again), instruction, "{word:05x}");
        }
    }

    #[test]
    fn lanes_go_round() {
        let lane = Lane { rot: 3, size: 1 };
        assert_eq!(lane.extract(0x1122_3344), 0x4411);
        assert_eq!(lane.insert(0x1122_3344, 0xaabb), 0xbb22_33aa);
        assert_eq!(WORD.extract(0x1122_3344), 0x1122_3344);
    }

    #[test]
    fn port_names_are_their_numbers() {
        for (i, (name, number)) in INPUTS.iter().enumerate() {
            assert_eq!(i, usize::from(*number), "{name}");
        }
        for (i, (name, number)) in OUTPUTS.iter().enumerate() {
            assert_eq!(i, usize::from(*number), "{name}");
        }
    }
}
