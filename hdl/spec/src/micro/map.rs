// SPDX-License-Identifier: MIT OR Apache-2.0
//! The core's memory: 512 words in pages of 64.
//!
//! ```text
//! 000-0bf  pages 0-3: words 00-2f of page 1-3 are the QP's row; of page 0, which is no QP's, the program's variables;
//! 0c0-0ff             words 30-3f of each are 16 of the 64 counters
//! 100-124  page 4:    the registers, as AXI4-Lite shows them
//! 125-127             variables
//! 128-137             CQ rows, 4 words each
//! 138-13f             variables
//! 140-15f  page 5:    MR rows, 8 words each
//! 160-16b             variables
//! 16c-1ff             the frame to send
//! ```
//!
//! Addresses 1c0-1ff in an instruction are words of the page in X (`qp.…`).

use super::isa::{MEMORY_LOG, PAGE_LOG};
use crate::config::Config;
use crate::counters::COUNTERS;
use crate::registers::REGISTERS;

/// Words of the memory.
pub const WORDS: usize = 1 << MEMORY_LOG;
/// Words of a page.
pub const PAGE: usize = 1 << PAGE_LOG;
/// Instruction addresses from here on are in the page that X names.
pub const WINDOW: usize = WORDS - PAGE;
/// First counter of a page, within it.
pub const COUNTERS_AT: usize = 48;
/// Registers, as AXI4-Lite shows them.
pub const REGISTERS_AT: usize = 4 * PAGE;
/// CQ rows, 4 words each.
pub const CQ_AT: usize = 0x128;
/// MR rows, 8 words each.
pub const MR_AT: usize = 0x140;
/// The frame to send: Ethernet header in 4 words (the first begins with two bytes of nothing), IP 5, UDP 2, BTH 3, the rest.
pub const TX: usize = 0x16c;
/// Words of the longest frame to send, without ICRC.
pub const TX_WORDS: usize = WORDS - TX;

/// Where variables may be: first word, words.
pub const POOLS: [(usize, usize); 4] = [(0, 48), (0x160, 12), (0x138, 8), (0x125, 3)];

/// The word of a counter.
pub const fn counter(code: u8) -> usize {
    (code as usize >> 4) * PAGE + COUNTERS_AT + (code as usize & 15)
}

/// Names of words in a QP's row: those of the host that the core uses, and its own.
pub const QP: &[(&str, usize, &str)] = &[
    ("w0", 0, "host: service, PMTU, access, RNR timer, tag"),
    ("w1", 1, "host: h0 PD, h1 P_Key"),
    ("w2", 2, "host: t0 destination QPN, b3 ToS"),
    ("rq_psn", 3, "host: first PSN expected"),
    ("cqs", 5, "host: h0 CQ of the receive queue, h1 of the send queue"),
    ("rq_base", 6, "host: receive ring"),
    (
        "w8",
        8,
        "host: b0 log2 of the rings (receive [3:0], send [7:4]), b1 hop limit, h1 UDP source port",
    ),
    ("mac_low", 9, "host: destination MAC"),
    ("mac_high", 10, "host: h0 destination MAC"),
    ("dest_ip", 15, "host: the peer's IP"),
    ("sq_psn", 16, "host: first PSN sent"),
    ("sq_base", 17, "host: send ring"),
    ("w19", 19, "host: timeout, retry counts, max_rd_atomic"),
    ("w20", 20, "host: max_dest_rd_atomic"),
    (
        "state",
        21,
        "b0 state, b1 1: a NAK stands (R23, R46), b2 message: 0 none, 1 SEND, 2 WRITE",
    ),
    ("epsn", 22, "next PSN expected"),
    ("msn", 23, "MSN"),
    ("va_low", 24, "message under way: next virtual address"),
    ("va_high", 25, "upper half"),
    ("key", 26, "its key"),
    ("left", 27, "bytes that it still has (WRITE) or that the buffer still takes (SEND)"),
    ("done", 28, "bytes that it has brought"),
    ("executed", 29, "PSN of the last SEND or WRITE packet executed (R26)"),
    ("rq", 30, "h0 receive WQEs consumed, h1 producer"),
    ("s0", 31, "requester"),
    ("s1", 32, "requester"),
    ("s2", 33, "requester"),
    ("s3", 34, "requester"),
    ("s4", 35, "requester"),
    ("s5", 36, "requester"),
    ("s6", 37, "requester"),
    ("s7", 38, "requester"),
    ("s8", 39, "requester"),
    ("s9", 40, "requester"),
    ("s10", 41, "requester"),
    ("s11", 42, "requester"),
    ("s12", 43, "requester"),
    ("s13", 44, "requester"),
    ("s14", 45, "requester"),
    ("s15", 46, "requester"),
    ("s16", 47, "requester"),
    // Host words that the preset doesn't use: IPv6, UD, upper halves.
    ("u0", 4, "requester or READ responder"),
    ("u1", 7, "requester or READ responder"),
    ("u2", 11, "requester or READ responder"),
    ("u3", 12, "requester or READ responder"),
    ("u4", 13, "requester or READ responder"),
    ("u5", 14, "requester or READ responder"),
    ("u6", 18, "requester or READ responder"),
];

/// Every symbol that a program finds defined, with its value.
pub fn symbols() -> Vec<(String, usize)> {
    let mut all = vec![];
    let config = Config::preset("cu").expect("the small preset");
    for (name, word, _) in QP {
        all.push((format!("qp.{name}"), WINDOW + word));
    }
    for c in COUNTERS {
        all.push((format!("c.{}", c.name), counter(c.code)));
        all.push((format!("code.{}", c.name), c.code.into()));
    }
    for r in REGISTERS {
        all.push((format!("r.{}", r.name), REGISTERS_AT + r.address as usize / 4));
        all.push((format!("reset.{}", r.name), r.reset_value(&config) as usize));
    }
    all.push(("map.cq".into(), CQ_AT));
    all.push(("map.mr".into(), MR_AT));
    all.push(("map.registers".into(), REGISTERS_AT));
    all.push(("tx".into(), TX));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps() {
        let mut taken = [""; WORDS];
        let mut take = |range: std::ops::Range<usize>, name: &'static str| {
            for word in range {
                assert_eq!(taken[word], "", "{word:x}: {name}");
                taken[word] = name;
            }
        };
        for (first, words) in POOLS {
            take(first..first + words, "variables");
        }
        for page in 0..4 {
            take(page * PAGE + COUNTERS_AT..(page + 1) * PAGE, "counters");
        }
        for page in 1..4 {
            take(page * PAGE..page * PAGE + COUNTERS_AT, "QP");
        }
        let last = REGISTERS.iter().map(|r| r.address as usize / 4).max().unwrap();
        take(REGISTERS_AT..REGISTERS_AT + last + 1, "registers");
        take(CQ_AT..CQ_AT + 16, "CQ");
        take(MR_AT..MR_AT + 32, "MR");
        take(TX..WORDS, "frame");
        let mut words: Vec<usize> = QP.iter().map(|q| q.1).collect();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), QP.len());
        assert!(*words.last().unwrap() < COUNTERS_AT);
        // Ethernet, IP, UDP, BTH, RETH and immediate, 512 bytes.
        const { assert!(TX_WORDS >= 4 + 5 + 2 + 3 + 4 + 1 + 128) };
    }
}
