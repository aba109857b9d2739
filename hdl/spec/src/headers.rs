// SPDX-License-Identifier: MIT OR Apache-2.0
//! RoCEv2 header fields and opcodes (IBTA volume 1, chapter 9): the table behind the RTL's constants, the codec and the documents.

/// UDP destination port of RoCEv2 (R17).
pub const UDP_PORT: u16 = 4791;

/// Words of the BTH.
pub const BTH_WORDS: usize = 3;

/// What a packet does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Send,
    Write,
    ReadRequest,
    ReadResponse,
    Acknowledge,
    AtomicAcknowledge,
    CompareSwap,
    FetchAdd,
    /// Congestion notification (R76).
    Cnp,
}

/// Where a packet stands in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    First,
    Middle,
    Last,
    Only,
}

/// Transports, as the opcode's upper three bits.
pub mod transport {
    pub const RC: u8 = 0;
    pub const UC: u8 = 1;
    pub const UD: u8 = 3;
    pub const CNP: u8 = 4;
}

/// One opcode: transport, meaning, and the extension headers that follow the BTH in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opcode {
    pub value: u8,
    pub name: &'static str,
    pub transport: u8,
    pub operation: Operation,
    pub position: Position,
    pub deth: bool,
    pub reth: bool,
    pub atomic_eth: bool,
    pub aeth: bool,
    pub atomic_ack_eth: bool,
    pub immediate: bool,
    pub ieth: bool,
    /// The packet may carry payload.
    pub payload: bool,
}

impl Opcode {
    /// 32-bit words of extension headers after the BTH.
    pub const fn extension_words(&self) -> usize {
        2 * self.deth as usize
            + 4 * self.reth as usize
            + 7 * self.atomic_eth as usize
            + self.aeth as usize
            + 2 * self.atomic_ack_eth as usize
            + self.immediate as usize
            + self.ieth as usize
            // A CNP carries 16 bytes that are zero.
            + if matches!(self.operation, Operation::Cnp) { 4 } else { 0 }
    }

    /// The first packet of a message.
    pub const fn begins(&self) -> bool {
        matches!(self.position, Position::First | Position::Only)
    }

    /// The last packet of a message.
    pub const fn ends(&self) -> bool {
        matches!(self.position, Position::Last | Position::Only)
    }
}

const fn plain(value: u8, name: &'static str, operation: Operation, position: Position) -> Opcode {
    Opcode {
        value,
        name,
        transport: value >> 5,
        operation,
        position,
        deth: value >> 5 == transport::UD,
        reth: false,
        atomic_eth: false,
        aeth: false,
        atomic_ack_eth: false,
        immediate: false,
        ieth: false,
        payload: true,
    }
}

const fn reth(mut o: Opcode) -> Opcode {
    o.reth = true;
    o
}
const fn imm(mut o: Opcode) -> Opcode {
    o.immediate = true;
    o
}
const fn inv(mut o: Opcode) -> Opcode {
    o.ieth = true;
    o
}
const fn aeth(mut o: Opcode) -> Opcode {
    o.aeth = true;
    o
}
const fn bare(mut o: Opcode) -> Opcode {
    o.payload = false;
    o
}
const fn atomic(mut o: Opcode) -> Opcode {
    o.atomic_eth = true;
    bare(o)
}
const fn atomic_ack(mut o: Opcode) -> Opcode {
    o.atomic_ack_eth = true;
    aeth(bare(o))
}

use Operation::*;
use Position::*;

/// Every opcode that Verbena knows; all other values are reserved (R11).
pub const OPCODES: &[Opcode] = &[
    plain(0x00, "RC SEND_FIRST", Send, First),
    plain(0x01, "RC SEND_MIDDLE", Send, Middle),
    plain(0x02, "RC SEND_LAST", Send, Last),
    imm(plain(0x03, "RC SEND_LAST_IMM", Send, Last)),
    plain(0x04, "RC SEND_ONLY", Send, Only),
    imm(plain(0x05, "RC SEND_ONLY_IMM", Send, Only)),
    reth(plain(0x06, "RC WRITE_FIRST", Write, First)),
    plain(0x07, "RC WRITE_MIDDLE", Write, Middle),
    plain(0x08, "RC WRITE_LAST", Write, Last),
    imm(plain(0x09, "RC WRITE_LAST_IMM", Write, Last)),
    reth(plain(0x0a, "RC WRITE_ONLY", Write, Only)),
    imm(reth(plain(0x0b, "RC WRITE_ONLY_IMM", Write, Only))),
    bare(reth(plain(0x0c, "RC READ_REQUEST", ReadRequest, Only))),
    aeth(plain(0x0d, "RC READ_RESPONSE_FIRST", ReadResponse, First)),
    plain(0x0e, "RC READ_RESPONSE_MIDDLE", ReadResponse, Middle),
    aeth(plain(0x0f, "RC READ_RESPONSE_LAST", ReadResponse, Last)),
    aeth(plain(0x10, "RC READ_RESPONSE_ONLY", ReadResponse, Only)),
    bare(aeth(plain(0x11, "RC ACKNOWLEDGE", Acknowledge, Only))),
    atomic_ack(plain(0x12, "RC ATOMIC_ACKNOWLEDGE", AtomicAcknowledge, Only)),
    atomic(plain(0x13, "RC COMPARE_SWAP", CompareSwap, Only)),
    atomic(plain(0x14, "RC FETCH_ADD", FetchAdd, Only)),
    inv(plain(0x16, "RC SEND_LAST_INVALIDATE", Send, Last)),
    inv(plain(0x17, "RC SEND_ONLY_INVALIDATE", Send, Only)),
    plain(0x20, "UC SEND_FIRST", Send, First),
    plain(0x21, "UC SEND_MIDDLE", Send, Middle),
    plain(0x22, "UC SEND_LAST", Send, Last),
    imm(plain(0x23, "UC SEND_LAST_IMM", Send, Last)),
    plain(0x24, "UC SEND_ONLY", Send, Only),
    imm(plain(0x25, "UC SEND_ONLY_IMM", Send, Only)),
    reth(plain(0x26, "UC WRITE_FIRST", Write, First)),
    plain(0x27, "UC WRITE_MIDDLE", Write, Middle),
    plain(0x28, "UC WRITE_LAST", Write, Last),
    imm(plain(0x29, "UC WRITE_LAST_IMM", Write, Last)),
    reth(plain(0x2a, "UC WRITE_ONLY", Write, Only)),
    imm(reth(plain(0x2b, "UC WRITE_ONLY_IMM", Write, Only))),
    plain(0x64, "UD SEND_ONLY", Send, Only),
    imm(plain(0x65, "UD SEND_ONLY_IMM", Send, Only)),
    bare(plain(0x81, "CNP", Cnp, Only)),
];

/// The opcode of that value, or `None` where it is reserved.
pub fn opcode(value: u8) -> Option<&'static Opcode> {
    OPCODES.iter().find(|o| o.value == value)
}

/// AETH syndromes.
pub mod syndrome {
    /// Positive ACK, credit field 31: end-to-end credits aren't used (R38).
    pub const ACK: u8 = 0x1f;
    /// RNR NAK; the timer code is added.
    pub const RNR: u8 = 0x20;
    pub const NAK_SEQUENCE: u8 = 0x60;
    pub const NAK_INVALID: u8 = 0x61;
    pub const NAK_ACCESS: u8 = 0x62;
    pub const NAK_OPERATION: u8 = 0x63;
}

/// RNR NAK timer, in units of 10 us by code (R43, IBTA table 46).
pub const RNR_TIMER_10US: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
    16384, 24576, 32768, 49152,
];

/// A header field: `bits` wide, `offset` bits from the header's first bit, big-endian.
#[derive(Debug, Clone, Copy)]
pub struct HeaderField {
    pub name: &'static str,
    pub offset: usize,
    pub bits: usize,
}

macro_rules! header {
    ($(#[$doc:meta])* $id:ident $($name:literal $offset:literal $bits:literal),* $(,)?) => {
        $(#[$doc])*
        pub const $id: &[HeaderField] = &[$(HeaderField { name: $name, offset: $offset, bits: $bits }),*];
    };
}

header! { /** Base transport header, 12 bytes. */ BTH
"opcode" 0 8, "solicited" 8 1, "migration" 9 1, "pad_count" 10 2, "transport_version" 12 4, "pkey" 16 16, "fecn" 32 1, "becn" 33 1,
"reserved6" 34 6, "qpn" 40 24, "ack_request" 64 1, "reserved7" 65 7, "psn" 72 24 }
header! { /** RDMA extended transport header, 16 bytes. */ RETH "virtual_address" 0 64, "rkey" 64 32, "dma_length" 96 32 }
header! { /** ACK extended transport header, 4 bytes. */ AETH "syndrome" 0 8, "msn" 8 24 }
header! { /** Datagram extended transport header, 8 bytes. */ DETH "qkey" 0 32, "reserved8" 32 8, "source_qpn" 40 24 }
header! { /** Atomic extended transport header, 28 bytes. */ ATOMIC_ETH "virtual_address" 0 64, "rkey" 64 32, "swap_or_add" 96 64, "compare" 160 64 }
header! { /** Atomic ACK extended transport header, 8 bytes. */ ATOMIC_ACK_ETH "original" 0 64 }
header! { /** Immediate data, 4 bytes. */ IMMEDIATE "immediate" 0 32 }
header! { /** Invalidate extended transport header, 4 bytes. */ IETH "rkey" 0 32 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_sizes() {
        for (fields, bytes) in [
            (BTH, 12),
            (RETH, 16),
            (AETH, 4),
            (DETH, 8),
            (ATOMIC_ETH, 28),
            (ATOMIC_ACK_ETH, 8),
            (IMMEDIATE, 4),
            (IETH, 4),
        ] {
            let mut end = 0;
            for field in fields {
                assert_eq!(field.offset, end, "{}", field.name);
                end += field.bits;
            }
            assert_eq!(end, bytes * 8);
        }
    }

    #[test]
    fn r11_reserved_opcodes_are_none() {
        let known = (0..=255u8).filter(|&v| opcode(v).is_some()).count();
        assert_eq!(known, OPCODES.len());
        assert!([0x15, 0x18, 0x1f, 0x2c, 0x40, 0x60, 0x66, 0x80, 0xff]
            .iter()
            .all(|&v| opcode(v).is_none()));
    }

    #[test]
    fn r43_timer_table() {
        // IBTA table 46 in ms x 100: not a power law.
        assert_eq!(RNR_TIMER_10US[0], 65536);
        assert_eq!(
            (RNR_TIMER_10US[14], RNR_TIMER_10US[24], RNR_TIMER_10US[25], RNR_TIMER_10US[31]),
            (128, 4096, 6144, 49152)
        );
        for (code, &time) in RNR_TIMER_10US.iter().enumerate().skip(5) {
            assert_eq!(
                time,
                if code % 2 == 1 { 3 << ((code - 3) / 2) } else { 1 << (code / 2) },
                "code {code}"
            );
        }
    }
}
