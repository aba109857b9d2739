// SPDX-License-Identifier: MIT OR Apache-2.0
//! Send WQEs by hand.

use super::golden::Wqe;
use verbena_spec::layout::{send_opcode, sq_wqe};

/// A WQE with these elements (address, length, key), signaled, and every word that it doesn't use full of something.
pub fn wqe(opcode: u32, elements: &[(u64, u32, u32)]) -> Wqe {
    let mut w: Wqe = std::array::from_fn(|i| 0xe0e0_0000 + i as u32);
    w[0] = 0;
    sq_wqe::OPCODE.set(&mut w, opcode);
    sq_wqe::SIGNALED.set(&mut w, 1);
    sq_wqe::ELEMENTS.set(&mut w, elements.len() as u32);
    w[1] = elements.iter().map(|e| e.1).fold(0, u32::wrapping_add);
    w[2] = 0x1234_5678;
    w[3] = 0x8765_4321;
    (w[4], w[5]) = (0xffff_ff80, 0x0000_7f01);
    for (i, &(va, length, key)) in elements.iter().enumerate() {
        w[6 + 4 * i] = va as u32;
        w[7 + 4 * i] = (va >> 32) as u32;
        w[8 + 4 * i] = length;
        w[9 + 4 * i] = key;
    }
    w
}

/// The payload in the WQE.
pub fn inline(opcode: u32, length: u32) -> Wqe {
    let mut w = wqe(opcode, &[]);
    sq_wqe::INLINE.set(&mut w, 1);
    w[1] = length;
    w
}

/// READ into one element.
pub fn read(length: u32) -> Wqe {
    wqe(send_opcode::READ, &[(0x1000, length, 0x77)])
}

pub fn atomic(opcode: u32) -> Wqe {
    let mut w = wqe(opcode, &[(0x2000, 8, 0x78)]);
    for (i, word) in w[10..14].iter_mut().enumerate() {
        *word = 0xa110_0000 + i as u32;
    }
    w
}

pub fn with(mut w: Wqe, field: verbena_spec::layout::Field, value: u32) -> Wqe {
    field.set(&mut w, value);
    w
}
