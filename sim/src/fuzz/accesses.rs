// SPDX-License-Identifier: MIT OR Apache-2.0
//! Register accesses of every kind, and what must come of the harmless ones.

use crate::hca::Hca;
use crate::hold;
use anyhow::Result;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use verbena_spec::registers::{Access, ADDRESS_BITS, REGISTERS, SCRATCH, WINDOWS};

/// An address: a register, near a window's ends, or anywhere.
fn address(rng: &mut ChaCha8Rng) -> u32 {
    match rng.gen_range(0..4) {
        0 => REGISTERS[rng.gen_range(0..REGISTERS.len())].address,
        1 => WINDOWS[rng.gen_range(0..WINDOWS.len())].base + 4 * rng.gen_range(0..2048),
        2 => rng.gen_range(0..1 << ADDRESS_BITS) & !3,
        _ => rng.gen_range(0..1 << ADDRESS_BITS),
    }
}

/// Accesses that change nothing: reads, writes to read-only registers, partial strobes. Each must be answered; those the table speaks of,
/// as it says.
pub fn harmless(hca: &mut Hca, rng: &mut ChaCha8Rng) -> Result<()> {
    let at = address(rng);
    let register = REGISTERS.iter().find(|r| r.address == at && r.exists(&hca.config));
    match rng.gen_range(0..3) {
        0 => {
            let done = hca.lite_access(at, None);
            let Some(done) = done else {
                hold!(false, "a read of {at:#08x} was never answered");
                return Ok(());
            };
            match register.map(|r| r.access) {
                Some(Access::WriteOnly) => hold!(done.response != 0, "a read of {at:#08x}, write-only, was answered OKAY"),
                Some(_) => hold!(done.response == 0, "a read of {at:#08x} was refused ({})", done.response),
                None => {}
            }
        }
        1 => {
            let strobe = rng.gen_range(0..15);
            let done = hca.lite_access(at, Some((rng.gen(), strobe)));
            hold!(done.is_some(), "a write to {at:#08x} with strobe {strobe:#x} was never answered");
            hold!(
                done.is_some_and(|d| d.response != 0),
                "a write to {at:#08x} with strobe {strobe:#x} was answered OKAY"
            );
        }
        _ => {
            let only: Vec<u32> = REGISTERS
                .iter()
                .filter(|r| r.access == Access::ReadOnly)
                .map(|r| r.address)
                .collect();
            let at = only[rng.gen_range(0..only.len())];
            let done = hca.lite_access(at, Some((rng.gen(), 0xf)));
            hold!(
                done.is_some_and(|d| d.response != 0),
                "a write to {at:#08x}, read-only, was not refused: {done:?}"
            );
            let value: u32 = rng.gen();
            hca.lite_access(SCRATCH, Some((value, 0xf)));
            let back = hca.lite_access(SCRATCH, None);
            hold!(
                back.is_some_and(|d| d.data == value),
                "SCRATCH read back {back:?}, wrote {value:#x}"
            );
        }
    }
    Ok(())
}

/// Anything at all: only an answer is asked for.
pub fn wild(hca: &mut Hca, rng: &mut ChaCha8Rng) -> Result<()> {
    let at = address(rng);
    let write = rng
        .gen_bool(0.8)
        .then(|| (if rng.gen_bool(0.5) { rng.gen() } else { rng.gen_range(0..256) }, 0xf));
    let done = hca.lite_access(at, write);
    hold!(done.is_some(), "an access to {at:#08x} ({write:x?}) was never answered");
    Ok(())
}
