// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of `probe`, as on its command line, and what each must come to. The guest's half is `scripts/interop/probe.c`.

use anyhow::{bail, ensure, Context, Result};
use std::fmt;
use verbena_verbs::{CompletionStatus, Remote, Verb};

/// Bytes of each operation's slot in either side's buffer.
pub const SLOT: u64 = 65536;
/// Most operations in a list: their slots fit the engine's translation table.
const MOST: usize = 100;

/// What an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Send,
    SendImm,
    SendInv,
    Write,
    WriteImm,
    Read,
    Cas,
    Fadd,
    BadKeyWrite,
    BadKeyRead,
    BadKeyCas,
    OverWrite,
    OverRead,
    LongSend,
}

const NAMES: [(&str, Kind); 14] = [
    ("send", Kind::Send),
    ("send-imm", Kind::SendImm),
    ("send-inv", Kind::SendInv),
    ("write", Kind::Write),
    ("write-imm", Kind::WriteImm),
    ("read", Kind::Read),
    ("cas", Kind::Cas),
    ("fadd", Kind::Fadd),
    ("bad-key-write", Kind::BadKeyWrite),
    ("bad-key-read", Kind::BadKeyRead),
    ("bad-key-cas", Kind::BadKeyCas),
    ("over-write", Kind::OverWrite),
    ("over-read", Kind::OverRead),
    ("long-send", Kind::LongSend),
];

/// One operation; its number is its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    pub kind: Kind,
    /// Bytes; 8 for atomics.
    pub length: u32,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = NAMES.iter().find(|(_, kind)| *kind == self.kind).map_or("", |(name, _)| name);
        write!(f, "{name}:{}", self.length)
    }
}

impl Kind {
    pub fn is_atomic(self) -> bool {
        matches!(self, Kind::Cas | Kind::Fadd | Kind::BadKeyCas)
    }

    /// Consumes a receive at the server.
    pub fn takes_receive(self) -> bool {
        matches!(self, Kind::Send | Kind::SendImm | Kind::SendInv | Kind::WriteImm | Kind::LongSend)
    }

    pub fn must_fail(self) -> bool {
        use Kind::*;
        matches!(self, BadKeyWrite | BadKeyRead | BadKeyCas | OverWrite | OverRead | LongSend)
    }

    /// Data comes back to the client.
    pub fn brings_data(self) -> bool {
        self.is_atomic() || matches!(self, Kind::Read | Kind::BadKeyRead | Kind::OverRead)
    }

    /// The client's completion is as it should be. Soft-RoCE answers a message longer than its receive with a remote operational error,
    /// where the specification has an invalid request.
    pub fn fits(self, status: CompletionStatus) -> bool {
        match self {
            Kind::LongSend => matches!(
                status,
                CompletionStatus::RemoteInvalidRequestError | CompletionStatus::RemoteOperationError
            ),
            kind if kind.must_fail() => status == CompletionStatus::RemoteAccessError,
            _ => status == CompletionStatus::Success,
        }
    }
}

impl Operation {
    /// Reads a list: `NAME[:LENGTH][*TIMES]` with commas.
    pub fn parse_list(text: &str) -> Result<Vec<Operation>> {
        let mut list = vec![];
        for word in text.split(',') {
            let (what, times) = word.split_once('*').unwrap_or((word, "1"));
            let (name, length) = what.split_once(':').unwrap_or((what, "8"));
            let names = || NAMES.map(|(name, _)| name).join(", ");
            let found = NAMES.iter().find(|(known, _)| *known == name);
            let (_, kind) = found.with_context(|| format!("no operation '{name}': there is {}", names()))?;
            let length = length.parse().with_context(|| format!("{word}: the length is no number"))?;
            let times: usize = times.parse().with_context(|| format!("{word}: the count is no number"))?;
            ensure!(u64::from(length) <= SLOT, "{word}: at most {SLOT} bytes");
            let length = if kind.is_atomic() { 8 } else { length };
            list.extend(std::iter::repeat_n(Operation { kind: *kind, length }, times.min(MOST + 1)));
            ensure!(list.len() <= MOST, "more than {MOST} operations");
        }
        if let Some(place) = list.iter().position(|o| o.kind.must_fail()) {
            if place + 1 < list.len() {
                bail!("{}: an operation that must fail ends the connection, so it comes last", list[place]);
            }
        }
        ensure!(!list.is_empty(), "no operations");
        Ok(list)
    }

    /// Byte `at` of operation `number`; `salt` 0: what the client sends, 1: what it reads.
    pub fn pattern(&self, number: usize, salt: u32) -> Vec<u8> {
        (0..self.length)
            .map(|at| (at * 7 + (at >> 8) * 13 + number as u32 * 31 + salt * 99) as u8)
            .collect()
    }

    /// The work request's verb. `base` is the peer's buffer, `whole` its bytes, `invalid` a key that may be ended.
    pub fn verb(&self, number: usize, base: Remote, whole: u64, invalid: u32) -> Verb {
        let slot = Remote {
            address: base.address + number as u64 * SLOT,
            ..base
        };
        // The lower eight bits are the key's own.
        let wrong = Remote {
            rkey: base.rkey ^ 0x5a,
            ..slot
        };
        let over = Remote {
            address: base.address + whole - u64::from(self.length) + 1,
            ..base
        };
        let (imm, before) = (immediate(number), before(number));
        let swap = |remote| Verb::CompareSwap {
            remote,
            compare: before,
            swap: swapped(number),
        };
        match self.kind {
            Kind::Send | Kind::LongSend => Verb::Send,
            Kind::SendImm => Verb::SendWithImm(imm),
            Kind::SendInv => Verb::SendWithInvalidate { rkey: invalid },
            Kind::Write => Verb::Write(slot),
            Kind::WriteImm => Verb::WriteWithImm(slot, imm),
            Kind::Read => Verb::Read(slot),
            Kind::Cas => swap(slot),
            Kind::Fadd => Verb::FetchAdd { remote: slot, add: ADDED },
            Kind::BadKeyWrite => Verb::Write(wrong),
            Kind::BadKeyRead => Verb::Read(wrong),
            Kind::BadKeyCas => swap(wrong),
            Kind::OverWrite => Verb::Write(over),
            Kind::OverRead => Verb::Read(over),
        }
    }
}

/// What `fadd` adds.
pub const ADDED: u64 = 7;

/// The immediate of operation `number`.
pub fn immediate(number: usize) -> u32 {
    0xabc0_0000 + number as u32
}

/// What an atomic of that number finds.
pub fn before(number: usize) -> u64 {
    0x1000 + number as u64
}

/// What `cas` leaves.
pub fn swapped(number: usize) -> u64 {
    0xcafe_0000 + number as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_or_refused() {
        let list = Operation::parse_list("send:0,write:3*2,cas,bad-key-read:8").unwrap();
        let text: Vec<String> = list.iter().map(|o| o.to_string()).collect();
        assert_eq!(text, ["send:0", "write:3", "write:3", "cas:8", "bad-key-read:8"]);
        for bad in [
            "",
            "sned",
            "send:x",
            "send:65537",
            "send*x",
            "send*1000",
            "long-send:9,send",
            "send*0",
        ] {
            assert!(Operation::parse_list(bad).is_err(), "{bad}");
        }
    }
}
