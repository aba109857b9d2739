// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which opcodes exist, and how many words of extension headers follow the BTH (R11).
//!
//! ```text
//! opcode[8] ─► valid, words[3], cnp        combinational, made from `header_words`
//! ```

use rust_hdl::prelude::*;

/// Congestion notification packet (R76).
pub const OPCODE_CNP: u8 = 0x81;

/// Words between BTH and payload; `None` for a reserved opcode.
pub fn header_words(opcode: u8) -> Option<usize> {
    const RETH: usize = 4;
    const AETH: usize = 1;
    const IMM: usize = 1;
    const IETH: usize = 1;
    const ATOMIC: usize = 7;
    const ATOMIC_ACK: usize = 2;
    const DETH: usize = 2;
    let send_or_write = |operation: u8| match operation {
        0x00 | 0x01 | 0x02 | 0x04 | 0x07 | 0x08 => Some(0),
        0x03 | 0x05 | 0x09 => Some(IMM),
        0x06 | 0x0a => Some(RETH),
        0x0b => Some(RETH + IMM),
        _ => None,
    };
    match opcode {
        0x00..=0x0b => send_or_write(opcode),
        0x0c => Some(RETH),
        0x0d | 0x0f | 0x10 | 0x11 => Some(AETH),
        0x0e => Some(0),
        0x12 => Some(AETH + ATOMIC_ACK),
        0x13 | 0x14 => Some(ATOMIC),
        0x16 | 0x17 => Some(IETH),
        0x20..=0x2b => send_or_write(opcode & 0x1f),
        0x64 => Some(DETH),
        0x65 => Some(DETH + IMM),
        OPCODE_CNP => Some(4),
        _ => None,
    }
}

/// The table as logic.
#[derive(LogicBlock)]
pub struct OpcodeTable {
    pub opcode: Signal<In, Bits<8>>,
    pub valid: Signal<Out, Bit>,
    pub words: Signal<Out, Bits<3>>,
    pub cnp: Signal<Out, Bit>,
    number: Signal<Local, Bits<3>>,
    known: Constant<Bits<256>>,
    plane: [Constant<Bits<256>>; 3],
    weight: [Constant<Bits<3>>; 3],
    cnp_opcode: Constant<Bits<8>>,
}

impl Default for OpcodeTable {
    fn default() -> Self {
        let plane = |test: &dyn Fn(u8) -> bool| {
            let mut plane = Bits::<256>::default();
            for opcode in 0..=255u8 {
                plane = plane.replace_bit(opcode as usize, test(opcode));
            }
            Constant::new(plane)
        };
        Self {
            opcode: Default::default(),
            valid: Default::default(),
            words: Default::default(),
            cnp: Default::default(),
            number: Default::default(),
            known: plane(&|opcode| header_words(opcode).is_some()),
            plane: std::array::from_fn(|i| plane(&|opcode| header_words(opcode).unwrap_or(0) >> i & 1 == 1)),
            weight: std::array::from_fn(|i| Constant::new((1u64 << i).to_bits())),
            cnp_opcode: Constant::new(OPCODE_CNP.to_bits()),
        }
    }
}

impl Logic for OpcodeTable {
    #[hdl_gen]
    fn update(&mut self) {
        self.valid.next = self.known.val().get_bit(self.opcode.val().index());
        self.number.next = 0.into();
        for i in 0..3 {
            if self.plane[i].val().get_bit(self.opcode.val().index()) {
                self.number.next = self.number.val() | self.weight[i].val();
            }
        }
        self.words.next = self.number.val();
        self.cnp.next = self.opcode.val() == self.cnp_opcode.val();
    }

    crate::block_name!();
}
