// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a control path is built with.

use verbena_spec::config::Config;

/// Fixed at elaboration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// Transports beside RC.
    pub uc: bool,
    pub ud: bool,
    pub ipv6: bool,
    /// There is a requester: it is told of state changes and given the responses.
    pub requester: bool,
    /// There is a READ responder: it is given READ and ATOMIC requests; else they are refused (R59).
    pub reads: bool,
    /// There is a reorder station: it is given early requests of QPs with the attribute.
    pub reorder: bool,
    /// Bits of a bus address; the others are zero.
    pub address_bits: usize,
    /// Few cells and a slow clock: one adder compares lengths in two cycles, and no registers behind the row RAM.
    pub serial: bool,
}

impl Features {
    /// As the preset says.
    pub fn of(config: &Config) -> Self {
        let serial = config.data_bits == 32;
        Self {
            uc: config.uc,
            ud: config.ud,
            ipv6: config.ipv6,
            requester: config.requester,
            reads: config.read_atomic,
            // The small engine's program holds early requests itself.
            reorder: config.reorder_slots != 0 && !serial,
            address_bits: config.address_bits,
            serial,
        }
    }

    /// Everything, at the fast clock.
    pub fn all() -> Self {
        Self {
            uc: true,
            ud: true,
            ipv6: true,
            requester: true,
            reads: true,
            reorder: true,
            address_bits: 64,
            serial: false,
        }
    }

    /// Ones where a bus address may have them.
    pub fn address_mask(&self) -> u64 {
        u64::MAX >> (64 - self.address_bits)
    }
}
