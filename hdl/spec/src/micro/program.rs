// SPDX-License-Identifier: MIT OR Apache-2.0
//! The microcode of `cu`: its files in order, and the program they make.

use super::assembler::{assemble, AssemblyError, Program};

/// The files. The first begins at address 0.
pub const FILES: &[(&str, &str)] = &[
    ("main.asm", include_str!("../../microcode/main.asm")),
    ("transmit.asm", include_str!("../../microcode/transmit.asm")),
    ("receive.asm", include_str!("../../microcode/receive.asm")),
    ("keys.asm", include_str!("../../microcode/keys.asm")),
    ("queues.asm", include_str!("../../microcode/queues.asm")),
    ("host.asm", include_str!("../../microcode/host.asm")),
    ("requester.asm", include_str!("../../microcode/requester.asm")),
    ("response.asm", include_str!("../../microcode/response.asm")),
    ("gather.asm", include_str!("../../microcode/gather.asm")),
    ("read_responder.asm", include_str!("../../microcode/read_responder.asm")),
    ("order.asm", include_str!("../../microcode/order.asm")),
];

/// The program.
pub fn program() -> Result<Program, AssemblyError> {
    assemble(FILES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_assembles() {
        let program = program().unwrap_or_else(|e| panic!("{e}"));
        println!(
            "{} instructions: {:?}; opcodes at {}",
            program.words.len(),
            program.sizes(),
            program.symbols["opcodes"]
        );
    }
}
