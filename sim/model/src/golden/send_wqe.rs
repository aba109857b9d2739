// SPDX-License-Identifier: MIT OR Apache-2.0
//! A send WQE: `verbena_spec::layout::sq_wqe` built and read, and the checks before it is used (R66, R75).

use super::qp::Attributes;
use crate::packet::to_v6;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_spec::headers::transport;
use verbena_spec::layout::{completion_opcode, send_opcode, sq_wqe as f, status, Field, SQ_WQE_BYTES};

/// Words of a send WQE.
const WORDS: usize = SQ_WQE_BYTES / 4;
/// Longest inline payload, bytes.
pub const INLINE_BYTES: usize = 32;
/// Longest message, bytes (R50).
const MAX_MESSAGE: u32 = 1 << 31;
/// PSNs that must never be outstanding at once (R75).
pub const PSN_WINDOW: u32 = 1 << 23;

/// One scatter/gather element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    pub address: u64,
    pub length: u32,
    pub lkey: u32,
}

/// Where a UD message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    pub qpn: u32,
    pub qkey: u32,
    pub mac: [u8; 6],
    pub ip: IpAddr,
    pub vlan: Option<u16>,
    pub gid_index: usize,
    pub traffic_class: u8,
    pub hop_limit: u8,
    pub udp_source: u16,
}

/// A send WQE, as words in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendWqe(pub [u32; WORDS]);

impl SendWqe {
    /// A signalled WQE of that `send_opcode`, without payload.
    pub fn new(opcode: u32) -> Self {
        Self([0; WORDS]).with(&f::OPCODE, opcode).with(&f::SIGNALED, 1)
    }

    fn with(mut self, field: &Field, value: u32) -> Self {
        field.set(&mut self.0, value);
        self
    }

    pub fn get(&self, field: &Field) -> u32 {
        field.get(&self.0)
    }

    fn get64(&self, low: &Field, high: &Field) -> u64 {
        u64::from(self.get(low)) | u64::from(self.get(high)) << 32
    }

    pub fn unsignaled(self) -> Self {
        self.with(&f::SIGNALED, 0)
    }

    pub fn solicited(self) -> Self {
        self.with(&f::SOLICITED, 1)
    }

    pub fn fenced(self) -> Self {
        self.with(&f::FENCE, 1)
    }

    /// Immediate, or key to invalidate.
    pub fn immediate(self, value: u32) -> Self {
        self.with(&f::IMMEDIATE, value)
    }

    pub fn remote(self, address: u64, rkey: u32) -> Self {
        self.with(&f::REMOTE_LOW, address as u32)
            .with(&f::REMOTE_HIGH, (address >> 32) as u32)
            .with(&f::RKEY, rkey)
    }

    /// Appends an element; its length is added to the message's. A third one is lost, and the count says so.
    pub fn element(self, address: u64, length: u32, lkey: u32) -> Self {
        let number = self.get(&f::ELEMENTS);
        let total = self.get(&f::LENGTH).wrapping_add(length);
        let wqe = self.with(&f::ELEMENTS, number + 1).with(&f::LENGTH, total);
        let (low, high) = (address as u32, (address >> 32) as u32);
        match number {
            0 => wqe
                .with(&f::ADDRESS_0_LOW, low)
                .with(&f::ADDRESS_0_HIGH, high)
                .with(&f::LENGTH_0, length)
                .with(&f::LKEY_0, lkey),
            1 => wqe
                .with(&f::ADDRESS_1_LOW, low)
                .with(&f::ADDRESS_1_HIGH, high)
                .with(&f::LENGTH_1, length)
                .with(&f::LKEY_1, lkey),
            _ => wqe,
        }
    }

    /// Inline payload; bytes beyond [`INLINE_BYTES`] are lost, and the length says so.
    pub fn inline(self, bytes: &[u8]) -> Self {
        let mut wqe = self.with(&f::INLINE, 1).with(&f::LENGTH, bytes.len() as u32);
        for (at, byte) in bytes.iter().take(INLINE_BYTES).enumerate() {
            wqe.0[f::ADDRESS_0_LOW.word + at / 4] |= u32::from(*byte) << (8 * (at % 4));
        }
        wqe
    }

    /// Operands of an ATOMIC, whose result's element is already there.
    pub fn operands(self, swap_or_add: u64, compare: u64) -> Self {
        self.with(&f::ADDRESS_1_LOW, swap_or_add as u32)
            .with(&f::ADDRESS_1_HIGH, (swap_or_add >> 32) as u32)
            .with(&f::LENGTH_1, compare as u32)
            .with(&f::LKEY_1, (compare >> 32) as u32)
    }

    pub fn datagram(self, to: &Datagram) -> Self {
        let ip = to_v6(to.ip);
        let word = |at: usize| u32::from_be_bytes([ip[at], ip[at + 1], ip[at + 2], ip[at + 3]]);
        let mac = to.mac;
        let way = u32::from(to.ip.is_ipv6())
            | u32::from(to.vlan.is_some()) << 1
            | (to.gid_index as u32 & 3) << 2
            | u32::from(to.hop_limit) << 8
            | u32::from(to.udp_source) << 16;
        self.with(&f::RKEY, to.qkey)
            .with(&f::REMOTE_LOW, to.qpn & 0xff_ffff | u32::from(to.traffic_class) << 24)
            .with(&f::REMOTE_HIGH, way)
            .with(&f::ADDRESS_1_LOW, u32::from_be_bytes([mac[2], mac[3], mac[4], mac[5]]))
            .with(
                &f::ADDRESS_1_HIGH,
                u32::from(mac[0]) << 8 | u32::from(mac[1]) | u32::from(to.vlan.unwrap_or(0)) << 16,
            )
            .with(&f::LENGTH_1, word(0))
            .with(&f::LKEY_1, word(4))
            .with(&f::DEST_IP_2, word(8))
            .with(&f::DEST_IP_3, word(12))
    }

    /// The destination of a UD WQE.
    pub fn to_datagram(&self) -> Datagram {
        let (low, way) = (self.get(&f::REMOTE_LOW), self.get(&f::REMOTE_HIGH));
        let (mac_low, mac_high) = (self.get(&f::ADDRESS_1_LOW).to_be_bytes(), self.get(&f::ADDRESS_1_HIGH));
        let words = [&f::LENGTH_1, &f::LKEY_1, &f::DEST_IP_2, &f::DEST_IP_3].map(|w| self.get(w));
        let mut ip = [0; 16];
        for (bytes, word) in ip.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        Datagram {
            qpn: low & 0xff_ffff,
            qkey: self.get(&f::RKEY),
            mac: [
                (mac_high >> 8) as u8,
                mac_high as u8,
                mac_low[0],
                mac_low[1],
                mac_low[2],
                mac_low[3],
            ],
            ip: if way & 1 != 0 {
                IpAddr::V6(Ipv6Addr::from(ip))
            } else {
                IpAddr::V4(Ipv4Addr::new(ip[12], ip[13], ip[14], ip[15]))
            },
            vlan: (way & 2 != 0).then_some((mac_high >> 16) as u16),
            gid_index: (way >> 2 & 3) as usize,
            traffic_class: (low >> 24) as u8,
            hop_limit: (way >> 8) as u8,
            udp_source: (way >> 16) as u16,
        }
    }

    pub fn opcode(&self) -> u32 {
        self.get(&f::OPCODE)
    }

    pub fn length(&self) -> u32 {
        self.get(&f::LENGTH)
    }

    pub fn remote_address(&self) -> u64 {
        self.get64(&f::REMOTE_LOW, &f::REMOTE_HIGH)
    }

    /// Swap or add operand, compare operand.
    pub fn atomic_operands(&self) -> (u64, u64) {
        (
            self.get64(&f::ADDRESS_1_LOW, &f::ADDRESS_1_HIGH),
            self.get64(&f::LENGTH_1, &f::LKEY_1),
        )
    }

    pub fn is_inline(&self) -> bool {
        self.get(&f::INLINE) == 1
    }

    /// The inline payload.
    pub fn inline_bytes(&self) -> Vec<u8> {
        let words = &self.0[f::ADDRESS_0_LOW.word..f::ADDRESS_0_LOW.word + INLINE_BYTES / 4];
        let bytes = words.iter().flat_map(|w| w.to_le_bytes());
        bytes.take(self.length() as usize).collect()
    }

    /// The elements in use.
    pub fn elements(&self) -> Vec<Element> {
        let both = [
            Element {
                address: self.get64(&f::ADDRESS_0_LOW, &f::ADDRESS_0_HIGH),
                length: self.get(&f::LENGTH_0),
                lkey: self.get(&f::LKEY_0),
            },
            Element {
                address: self.get64(&f::ADDRESS_1_LOW, &f::ADDRESS_1_HIGH),
                length: self.get(&f::LENGTH_1),
                lkey: self.get(&f::LKEY_1),
            },
        ];
        both.into_iter().take(self.get(&f::ELEMENTS) as usize).collect()
    }

    /// The parts of elements that hold bytes `offset..offset + length` of the message.
    pub fn pieces(&self, offset: u32, length: u32) -> Vec<Element> {
        let (mut skip, mut left) = (offset, length);
        let mut pieces = vec![];
        for e in self.elements() {
            let here = skip.min(e.length);
            skip -= here;
            let count = (e.length - here).min(left);
            left -= count;
            if count > 0 {
                pieces.push(Element {
                    address: e.address.wrapping_add(u64::from(here)),
                    length: count,
                    lkey: e.lkey,
                });
            }
        }
        pieces
    }

    pub fn is_read(&self) -> bool {
        self.opcode() == send_opcode::READ
    }

    pub fn is_atomic(&self) -> bool {
        matches!(self.opcode(), send_opcode::COMPARE_SWAP | send_opcode::FETCH_ADD)
    }

    pub fn is_write(&self) -> bool {
        matches!(self.opcode(), send_opcode::WRITE | send_opcode::WRITE_WITH_IMM)
    }

    /// PSNs that the message takes (R22).
    pub fn packets(&self, pmtu: usize) -> u32 {
        if self.is_atomic() {
            1
        } else {
            self.length().div_ceil(pmtu as u32).max(1)
        }
    }

    /// What must hold before the WQE is used; the completion status where it doesn't.
    pub fn check(&self, a: &Attributes, read_atomic: bool) -> Result<(), u32> {
        use send_opcode::*;
        let known = match a.service {
            transport::RC => self.opcode() <= FETCH_ADD,
            transport::UC => matches!(self.opcode(), SEND | SEND_WITH_IMM | WRITE | WRITE_WITH_IMM),
            _ => matches!(self.opcode(), SEND | SEND_WITH_IMM),
        };
        let answered = self.is_read() || self.is_atomic();
        let elements = self.get(&f::ELEMENTS);
        let count_fits = match (self.is_atomic(), a.service) {
            (true, _) => elements == 1,
            (_, transport::UD) => elements <= 1,
            _ => elements <= 2,
        };
        let inline_fits = !self.is_inline() || (!answered && a.service != transport::UD);
        if !known || !count_fits || !inline_fits || answered && (!read_atomic || a.max_rd_atomic == 0) {
            return Err(status::LOCAL_QP_OPERATION_ERROR);
        }
        let sum: u64 = self.elements().iter().map(|e| u64::from(e.length)).sum();
        let length = self.length();
        let sum_fits = if self.is_inline() {
            length as usize <= INLINE_BYTES
        } else {
            sum == u64::from(length)
        };
        let fits = match (self.is_atomic(), a.service) {
            (true, _) => length == 8,
            (_, transport::UD) => length as usize <= a.pmtu,
            // R75: fewer than 2^23 PSNs.
            _ => length <= MAX_MESSAGE && self.packets(a.pmtu) < PSN_WINDOW,
        };
        if sum_fits && fits {
            Ok(())
        } else {
            Err(status::LOCAL_LENGTH_ERROR)
        }
    }
}

/// The completion opcode of a send opcode.
pub fn completion_of(opcode: u32) -> u32 {
    match opcode {
        send_opcode::WRITE | send_opcode::WRITE_WITH_IMM => completion_opcode::WRITE,
        send_opcode::READ => completion_opcode::READ,
        send_opcode::COMPARE_SWAP => completion_opcode::COMPARE_SWAP,
        send_opcode::FETCH_ADD => completion_opcode::FETCH_ADD,
        _ => completion_opcode::SEND,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagram_survives_the_row() {
        for ip in ["10.1.2.3", "fe80::1:2"] {
            let to = Datagram {
                qpn: 0x12_3456,
                qkey: 0x8001_0000,
                mac: [2, 3, 4, 5, 6, 7],
                ip: ip.parse().unwrap(),
                vlan: Some(0x6005),
                gid_index: 2,
                traffic_class: 0x5c,
                hop_limit: 9,
                udp_source: 0xc321,
            };
            assert_eq!(SendWqe::new(0).datagram(&to).to_datagram(), to);
        }
    }

    #[test]
    fn pieces_cut_elements() {
        let wqe = SendWqe::new(0).element(100, 5, 1).element(900, 7, 2);
        let lengths = |offset, length| -> Vec<(u64, u32)> { wqe.pieces(offset, length).iter().map(|p| (p.address, p.length)).collect() };
        assert_eq!(lengths(0, 12), [(100, 5), (900, 7)]);
        assert_eq!(lengths(3, 4), [(103, 2), (900, 2)]);
        assert_eq!(lengths(5, 7), [(900, 7)]);
        assert_eq!(lengths(12, 0), []);
        assert_eq!(SendWqe::new(0).inline(&[1, 2, 3, 4, 5]).inline_bytes(), [1, 2, 3, 4, 5]);
    }
}
