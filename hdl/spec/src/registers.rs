// SPDX-License-Identifier: MIT OR Apache-2.0
//! The AXI4-Lite address map and the registers: the one table that RTL decode, host library, C header, JSON and Markdown are made from.
//!
//! 32-bit data; an access with partial strobes, an unmapped address, a write to a read-only register or a read of a write-only one
//! ends with SLVERR and changes nothing. Bits that a read-write register doesn't define are kept, read back, and without effect.

use crate::config::Config;
use crate::counters::COUNTER_FILE;
use crate::layout;

pub use crate::render::{to_c_header, to_json, to_markdown};

/// Bits of an AXI4-Lite byte address.
pub const ADDRESS_BITS: usize = 21;

/// Who may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
    /// Writing acts; reading returns SLVERR.
    WriteOnly,
}

/// A 32-bit register.
pub struct Register {
    /// Byte address.
    pub address: u32,
    pub name: &'static str,
    pub access: Access,
    pub reset: u32,
    pub what: &'static str,
}

/// A table or doorbell page: `count` (from the preset) rows of `stride` bytes from `base`.
pub struct Window {
    pub base: u32,
    pub stride: u32,
    pub name: &'static str,
    pub access: Access,
    pub what: &'static str,
}

/// Doorbells: 16 bytes an index. `+0` SQ producer, `+4` RQ producer, `+8` CQ consumer, `+12` CQ arm (1 next, 2 next solicited).
/// Producer and consumer are absolute 16-bit indices (idempotent).
pub const DOORBELLS: u32 = 0x01_0000;
/// Counters, read-only, 4 bytes each, by code.
pub const COUNTERS: u32 = 0x00_1000;
/// Congestion control, `layout::congestion`, where the engine has any of it: read-write registers.
pub const CONGESTION: u32 = 0x00_2000;
/// Their number among the registers, where others have `address / 4`.
pub const CONGESTION_NUMBER: u32 = 40;
/// CQ rows, 16 bytes each.
pub const CQ_TABLE: u32 = 0x02_0000;
/// MTT entries, 8 bytes each.
pub const MTT_TABLE: u32 = 0x03_0000;
/// MR rows, 32 bytes each.
pub const MR_TABLE: u32 = 0x04_0000;
/// QP rows, 128 bytes each.
pub const QP_TABLE: u32 = 0x10_0000;

/// The counter file's RAM holds read-back rows behind the counters: register `address / 4` is row `READ_BACK_ROW + address / 4`, the
/// congestion row's words are those from `READ_BACK_ROW + CONGESTION_NUMBER` on.
pub const READ_BACK_ROW: u32 = COUNTER_FILE as u32;

/// A doorbell's place in its index's 16 bytes, in words.
pub mod doorbell {
    pub const SQ_PRODUCER: u32 = 0;
    pub const RQ_PRODUCER: u32 = 1;
    pub const CQ_CONSUMER: u32 = 2;
    pub const CQ_ARM: u32 = 3;
    /// Values of `CQ_ARM`.
    pub const ARM_NEXT: u32 = 1;
    pub const ARM_SOLICITED: u32 = 2;
}

/// Operations of COMMAND.
pub mod operation {
    pub const MODIFY_QP: u32 = 1;
    pub const QUERY_QP: u32 = 2;
}

/// The windows.
pub const WINDOWS: &[Window] = &[
    Window {
        base: COUNTERS,
        stride: 4,
        name: "counters",
        access: Access::ReadOnly,
        what: "counter file",
    },
    Window {
        base: DOORBELLS,
        stride: 16,
        name: "doorbells",
        access: Access::WriteOnly,
        what: "a QP's and a CQ's doorbells",
    },
    Window {
        base: CQ_TABLE,
        stride: 16,
        name: "cq_table",
        access: Access::WriteOnly,
        what: "CQ rows",
    },
    Window {
        base: MTT_TABLE,
        stride: 8,
        name: "mtt_table",
        access: Access::WriteOnly,
        what: "MTT entries",
    },
    Window {
        base: MR_TABLE,
        stride: 32,
        name: "mr_table",
        access: Access::WriteOnly,
        what: "MR rows",
    },
    Window {
        base: QP_TABLE,
        stride: 128,
        name: "qp_table",
        access: Access::WriteOnly,
        what: "QP rows",
    },
];

macro_rules! registers {
    ($($address:literal $id:ident $name:literal $access:ident $reset:literal $what:literal;)*) => {
        $(#[doc = $what] pub const $id: u32 = $address;)*
        /// The table, by address.
        pub const REGISTERS: &[Register] = &[$(Register { address: $address, name: $name, access: Access::$access, reset: $reset, what: $what }),*];
    };
}

registers! {
    0x00 ID "id" ReadOnly 0x5642_4e41 "\"VBNA\": finds the engine";
    0x04 VERSION "version" ReadOnly 0x0000_0100 "major, minor, patch, one byte each";
    0x08 CAPABILITIES "capabilities" ReadOnly 0 "from the preset: [3:0] log2 QPs, [7:4] log2 MRs, [11:8] log2 MTT entries (0: none), [14:12] largest PMTU code, [15] IPv6, [16] UC, [17] UD, [18] requester, [19] READ and ATOMIC, [20] reorder, [24:21] log2 of the most entries of a completion or event ring, [31:25] bits of a bus address";
    0x0c STATUS "status" ReadOnly 0 "[0] ready: tables are cleared, [1] command busy, [2] a drain is going on";
    0x10 CONTROL "control" ReadWrite 0 "[0] enable (RoCE frames are accepted), [1] ICRC check off (debug, R12), [2] soft reset (drains open AXI bursts first), [3] irq enable";
    0x14 MAC_LOW "mac_low" ReadWrite 0 "our MAC, last four bytes as a big-endian number";
    0x18 MAC_HIGH "mac_high" ReadWrite 0 "our MAC, first two bytes";
    0x1c GID_VALID "gid_valid" ReadWrite 0 "[3:0] GID entry is valid, [7:4] GID entry is IPv6 (no effect without IPv6)";
    0x20 GID0_0 "gid0_0" ReadWrite 0 "GID 0, first four bytes as a big-endian number (IPv4: ::ffff:a.b.c.d; without IPv6 the first three words have no effect)";
    0x24 GID0_1 "gid0_1" ReadWrite 0 "GID 0, bytes 4-7";
    0x28 GID0_2 "gid0_2" ReadWrite 0 "GID 0, bytes 8-11";
    0x2c GID0_3 "gid0_3" ReadWrite 0 "GID 0, last four bytes";
    0x30 GID1_0 "gid1_0" ReadWrite 0 "GID 1";
    0x34 GID1_1 "gid1_1" ReadWrite 0 "GID 1";
    0x38 GID1_2 "gid1_2" ReadWrite 0 "GID 1";
    0x3c GID1_3 "gid1_3" ReadWrite 0 "GID 1";
    0x40 GID2_0 "gid2_0" ReadWrite 0 "GID 2";
    0x44 GID2_1 "gid2_1" ReadWrite 0 "GID 2";
    0x48 GID2_2 "gid2_2" ReadWrite 0 "GID 2";
    0x4c GID2_3 "gid2_3" ReadWrite 0 "GID 2";
    0x50 GID3_0 "gid3_0" ReadWrite 0 "GID 3";
    0x54 GID3_1 "gid3_1" ReadWrite 0 "GID 3";
    0x58 GID3_2 "gid3_2" ReadWrite 0 "GID 3";
    0x5c GID3_3 "gid3_3" ReadWrite 0 "GID 3";
    0x60 COMMAND "command" WriteOnly 0 "[31:28] operation (1 modify QP, 2 query QP), [15:12] new state, [11:0] QP index; refused (SLVERR) while busy";
    0x64 COMMAND_STATUS "command_status" ReadOnly 0 "[0] busy, [1] the last command was refused (bad state change or operation)";
    0x68 RESULT_0 "result_0" ReadOnly 0 "query QP: [2:0] state, [31:8] ePSN";
    0x6c RESULT_1 "result_1" ReadOnly 0 "query QP: [23:0] MSN";
    0x70 RESULT_2 "result_2" ReadOnly 0 "query QP: [15:0] receive WQEs consumed";
    0x74 EQ_BASE_LOW "eq_base_low" ReadWrite 0 "event ring, bus address, aligned to its size; bits beyond the engine's address bits have no effect";
    0x78 EQ_BASE_HIGH "eq_base_high" ReadWrite 0 "event ring, upper half";
    0x7c EQ_CONTROL "eq_control" ReadWrite 0 "[3:0] log2 of the ring's entries, [31] valid; writing restarts the queue: producer and consumer 0, phase 1; a ring larger than CAPABILITIES tells is none";
    0x80 EQ_CONSUMER "eq_consumer" ReadWrite 0 "[15:0] consumer index (absolute); an engine whose largest ring has 2^n entries keeps and shows n + 1 bits";
    0x84 EQ_PRODUCER "eq_producer" ReadOnly 0 "[15:0] producer index; n + 1 bits of it likewise";
    0x88 TICK "tick" ReadWrite 0 "clocks per 4.096 us as 24.8 fixed point; reset value from the preset's clock";
    0x8c SCRATCH "scratch" ReadWrite 0 "no effect";
    0x90 READ_LIMITS "read_limits" ReadOnly 0 "READ and ATOMIC as responder, from the preset: [4:0] most that a peer may have outstanding on a QP, [5] ATOMIC is served; [6] as requester: selective repeat; congestion control: [7] CNPs are sent for marked packets, [8] CNPs slow requests; [28:16] resources for all QPs together";
}

impl Window {
    /// Rows that a preset has.
    pub fn rows(&self, config: &Config) -> usize {
        match self.base {
            COUNTERS => COUNTER_FILE,
            DOORBELLS => config.n_qps.max(config.n_cqs),
            CQ_TABLE => config.n_cqs,
            MTT_TABLE => config.n_mtt,
            MR_TABLE => config.n_mrs,
            QP_TABLE => config.n_qps,
            _ => 0,
        }
    }
}

impl Register {
    /// Whether the preset has the register (GID entries beyond its table are unmapped).
    pub fn exists(&self, config: &Config) -> bool {
        let gids = GID0_0 + 16 * config.n_gids as u32;
        !(self.address >= gids && self.address <= GID3_3)
    }

    /// Value after reset.
    pub fn reset_value(&self, config: &Config) -> u32 {
        match self.address {
            CAPABILITIES => capabilities(config),
            TICK => tick(config),
            READ_LIMITS => read_limits(config),
            _ => self.reset,
        }
    }
}

/// The CAPABILITIES register of a preset.
pub fn capabilities(config: &Config) -> u32 {
    let mtt = if config.n_mtt == 0 { 0 } else { config.n_mtt.ilog2() };
    let pmtu = (config.max_pmtu / 256).ilog2() + 1;
    config.n_qps.ilog2()
        | config.n_mrs.ilog2() << 4
        | mtt << 8
        | pmtu << 12
        | (config.ipv6 as u32) << 15
        | (config.uc as u32) << 16
        | (config.ud as u32) << 17
        | (config.requester as u32) << 18
        | (config.read_atomic as u32) << 19
        | ((config.reorder_slots != 0) as u32 * (1 << 20))
        | (config.ring_log as u32) << 21
        | (config.address_bits as u32) << 25
}

/// The READ_LIMITS register of a preset.
pub fn read_limits(config: &Config) -> u32 {
    let requester = (config.selective_repeat as u32) << 6 | (config.congestion_notification as u32) << 7 | (config.reacts() as u32) << 8;
    if !config.read_atomic {
        return requester;
    }
    requester | config.read_ring as u32 | (config.atomic as u32) << 5 | (config.read_resources as u32) << 16
}

/// Reset value of TICK: clocks per 4.096 us, 24.8 fixed point.
pub fn tick(config: &Config) -> u32 {
    (config.clock_khz as u64 * 4096 * 256 / 1_000_000) as u32
}

/// Rows that the tables describe, with their size in words: what documents and headers list.
pub const ROWS: &[(&str, &[layout::Field], usize)] = &[
    ("qp", layout::qp::FIELDS, layout::QP_WORDS),
    ("mr", layout::mr::FIELDS, layout::MR_WORDS),
    ("cq", layout::cq::FIELDS, layout::CQ_WORDS),
    ("mtt", layout::mtt::FIELDS, layout::MTT_WORDS),
    ("sq_wqe", layout::sq_wqe::FIELDS, layout::SQ_WQE_BYTES / 4),
    ("rq_wqe", layout::rq_wqe::FIELDS, layout::RQ_WQE_BYTES / 4),
    ("cqe", layout::cqe::FIELDS, layout::CQE_BYTES / 4),
    ("event", layout::event::FIELDS, layout::EVENT_BYTES / 4),
    ("congestion", layout::congestion::FIELDS, layout::CONGESTION_WORDS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_registers_do_not_overlap() {
        for config in crate::config::PRESETS {
            let mut end = REGISTERS.last().unwrap().address + 4;
            for window in WINDOWS {
                assert!(window.base >= end, "{} overlaps", window.name);
                let size = window.stride * window.rows(&config) as u32;
                assert_eq!(
                    window.base & (size.max(4).next_power_of_two() - 1),
                    0,
                    "{} isn't aligned to its size",
                    window.name
                );
                end = window.base + size;
            }
            assert!(end <= 1 << ADDRESS_BITS);
        }
    }

    #[test]
    fn registers_rise_word_by_word() {
        for (index, register) in REGISTERS.iter().enumerate() {
            assert_eq!(register.address, 4 * index as u32);
        }
        assert!((READ_BACK_ROW as usize + REGISTERS.len()) <= 128);
        // The congestion row's read-back, an index of three bits behind all others.
        assert!(REGISTERS.len() <= CONGESTION_NUMBER as usize && CONGESTION_NUMBER.is_multiple_of(8));
        const { assert!(layout::CONGESTION_WORDS <= 8 && CONGESTION_NUMBER + 8 <= 64) };
    }

    #[test]
    fn tick_of_the_presets() {
        assert_eq!(tick(&Config::preset("tengig").unwrap()), 640 << 8);
        assert_eq!(tick(&Config::preset("cu").unwrap()), 52428);
    }
}
