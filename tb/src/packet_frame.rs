// SPDX-License-Identifier: MIT OR Apache-2.0
//! A request's or response's frame in plain Rust, and the words by which the transmit station is asked for it. Written from the rules and the
//! contract (docs/stations/requester.md), not from the RTL.

use crate::ack_frame::{icrc, ip_checksum, Port};
use verbena_spec::layout::{qp, sq_wqe, QP_WORDS};

/// What is to be sent.
#[derive(Clone, Debug, Default)]
pub struct Packet {
    pub index: u16,
    /// UD: WQE words 4, 5, 10 to 15.
    pub address: Option<[u32; 8]>,
    pub opcode: u8,
    pub solicited: bool,
    pub ack_request: bool,
    pub psn: u32,
    pub extensions: Vec<u32>,
    pub payload: Vec<u8>,
    /// The payload comes with the words.
    pub inline: bool,
    pub response: bool,
    /// The payload couldn't be read.
    pub poisoned: bool,
}

impl Packet {
    /// The payload comes through the FIFO.
    pub fn from_fifo(&self) -> bool {
        !self.inline && !self.payload.is_empty()
    }

    /// The packet stream; `noise` stands where nothing is said.
    pub fn words(&self, noise: u32) -> Vec<u32> {
        let mut words = vec![
            self.index as u32
                | (self.address.is_some() as u32) << 12
                | (self.from_fifo() as u32) << 13
                | (self.payload.len() as u32) << 14
                | (self.extensions.len() as u32) << 28,
            self.opcode as u32
                | (self.solicited as u32) << 8
                | (self.ack_request as u32) << 9
                | ((self.inline && !self.payload.is_empty()) as u32) << 10
                | (self.response as u32) << 11
                | noise << 12,
            self.psn | noise << 24,
        ];
        words.extend(self.address.into_iter().flatten());
        words.extend(&self.extensions);
        if self.inline {
            for chunk in self.payload.chunks(4) {
                let mut bytes = noise.to_le_bytes();
                bytes[..chunk.len()].copy_from_slice(chunk);
                words.push(u32::from_le_bytes(bytes));
            }
        }
        words
    }

    /// The QP row as it would be if the address stood there.
    fn row(&self, row: &[u32]) -> Vec<u32> {
        let mut row = row.to_vec();
        if let Some(address) = self.address {
            let mut wqe = [0; 16];
            for (at, word) in [4, 5, 10, 11, 12, 13, 14, 15].into_iter().zip(address) {
                wqe[at] = word;
            }
            let bits = sq_wqe::REMOTE_HIGH.get(&wqe);
            row[qp::DEST_QPN.word] = sq_wqe::REMOTE_LOW.get(&wqe);
            qp::IPV6.set(&mut row, bits & 1);
            qp::VLAN.set(&mut row, bits >> 1 & 1);
            qp::GID_INDEX.set(&mut row, bits >> 2 & 3);
            qp::HOP_LIMIT.set(&mut row, bits >> 8);
            qp::UDP_SOURCE.set(&mut row, bits >> 16);
            row[qp::DEST_MAC_LOW.word..qp::DEST_MAC_LOW.word + 2].copy_from_slice(&wqe[10..12]);
            row[qp::DEST_IP_0.word..qp::DEST_IP_0.word + 4].copy_from_slice(&wqe[12..16]);
        }
        row
    }

    /// The frame, without FCS, padded to 60 bytes (R20).
    pub fn frame(&self, port: &Port, row: &[u32]) -> Vec<u8> {
        assert_eq!(row.len(), QP_WORDS);
        let row = self.row(row);
        let ipv6 = qp::IPV6.get(&row) == 1;
        let gid = port.gids[qp::GID_INDEX.get(&row) as usize];
        let pad = self.payload.len().wrapping_neg() & 3;

        let mut roce = vec![];
        roce.extend((qp::UDP_SOURCE.get(&row) as u16).to_be_bytes());
        roce.extend(4791u16.to_be_bytes());
        roce.extend([0; 4]); // length below, checksum 0 (R16)
        roce.extend([self.opcode, (self.solicited as u8) << 7 | 0x40 | (pad as u8) << 4]); // R14: MigReq 1
        roce.extend((qp::PKEY.get(&row) as u16).to_be_bytes());
        roce.extend(qp::DEST_QPN.get(&row).to_be_bytes());
        roce.extend((self.psn | (self.ack_request as u32) << 31).to_be_bytes());
        for word in &self.extensions {
            roce.extend(word.to_be_bytes());
        }
        roce.extend(&self.payload);
        roce.extend(vec![0; pad]); // R5
        let udp_length = (roce.len() + 4) as u16; // R7
        roce[4..6].copy_from_slice(&udp_length.to_be_bytes());

        let mut packet = vec![];
        if ipv6 {
            packet.extend((0x6000_0000 | qp::TRAFFIC_CLASS.get(&row) << 20).to_be_bytes());
            packet.extend(udp_length.to_be_bytes());
            packet.extend([17, qp::HOP_LIMIT.get(&row) as u8]);
            packet.extend(gid.to_be_bytes());
            for word in &row[qp::DEST_IP_0.word..][..4] {
                packet.extend(word.to_be_bytes());
            }
        } else {
            packet.extend([0x45, qp::TRAFFIC_CLASS.get(&row) as u8]);
            packet.extend((udp_length + 20).to_be_bytes());
            packet.extend([0, 0, 0x40, 0, qp::HOP_LIMIT.get(&row) as u8, 17, 0, 0]);
            packet.extend((gid as u32).to_be_bytes());
            packet.extend(qp::DEST_IP_3.get(&row).to_be_bytes());
            let sum = ip_checksum(&packet);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        packet.extend(roce);
        packet.extend(icrc(&packet));

        let mut frame = vec![];
        frame.extend(&(qp::DEST_MAC_HIGH.get(&row) as u16).to_be_bytes());
        frame.extend(&qp::DEST_MAC_LOW.get(&row).to_be_bytes());
        frame.extend(&port.mac.to_be_bytes()[2..]);
        if qp::VLAN.get(&row) == 1 {
            frame.extend([0x81, 0x00]);
            frame.extend(&(qp::VLAN_TCI.get(&row) as u16).to_be_bytes());
        }
        frame.extend(if ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] });
        frame.extend(packet);
        frame.resize(frame.len().max(60), 0);
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ack_frame::{ack_frame, Ack};

    /// An ACKNOWLEDGE asked for as a packet is the ACK's frame, which is written apart.
    #[test]
    fn an_acknowledge_is_the_same_either_way() {
        let port = Port {
            mac: 0x0200_0000_0001,
            gids: [0xffff_0a00_0001; 4],
        };
        let row: Vec<u32> = (0..32).map(|k| (0x1234_5670 + k) & !0x600).collect();
        let ack = Ack {
            index: 3,
            syndrome: 0x61,
            psn: 5,
            msn: 6,
            notification: false,
        };
        let packet = Packet {
            index: 3,
            opcode: 0x11,
            psn: 5,
            extensions: vec![0x6100_0006],
            ..Packet::default()
        };
        assert_eq!(packet.frame(&port, &row), ack_frame(&port, &row, &ack));
    }
}
