// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ACKNOWLEDGE or CNP frame in plain Rust, made from a QP row as the transmit station should make it. Written from the rules, not from the RTL.

use verbena_spec::layout::qp;

/// What the station is told beside the rows.
#[derive(Clone, Debug)]
pub struct Port {
    pub mac: u64,
    /// Our GIDs as numbers; IPv4 is ::ffff:a.b.c.d.
    pub gids: [u128; 4],
}

/// The job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    pub index: u16,
    pub syndrome: u8,
    pub psn: u32,
    pub msn: u32,
    /// A CNP (R76): only its QP counts.
    pub notification: bool,
}

/// R1-R4, bit by bit, from the first byte of the IP header to before the ICRC.
pub fn icrc(packet: &[u8]) -> [u8; 4] {
    let mut bytes = vec![0xff; 8];
    bytes.extend(packet);
    let ip = &mut bytes[8..];
    let udp = if ip[0] >> 4 == 6 {
        ip[0] |= 0x0f;
        ip[1..4].fill(0xff);
        ip[7] = 0xff;
        40
    } else {
        ip[1] = 0xff;
        ip[8] = 0xff;
        ip[10..12].fill(0xff);
        20
    };
    ip[udp + 6..udp + 8].fill(0xff);
    ip[udp + 12] = 0xff;
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= byte as u32;
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes()
}

/// RFC 791: the one's complement of the one's complement sum.
pub fn ip_checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = header.chunks(2).map(|c| u16::from_be_bytes([c[0], c[1]]) as u32).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The frame, without FCS, padded to 60 bytes (R20).
pub fn ack_frame(port: &Port, row: &[u32], ack: &Ack) -> Vec<u8> {
    let ipv6 = qp::IPV6.get(row) == 1;
    let gid = port.gids[qp::GID_INDEX.get(row) as usize];
    let peer: Vec<u8> = [qp::DEST_IP_0, qp::DEST_IP_1, qp::DEST_IP_2, qp::DEST_IP_3]
        .iter()
        .flat_map(|f| f.get(row).to_be_bytes())
        .collect();

    let mut roce = vec![];
    roce.extend((qp::UDP_SOURCE.get(row) as u16).to_be_bytes());
    roce.extend(4791u16.to_be_bytes());
    let body: u16 = if ack.notification { 16 } else { 4 };
    let udp_length = 24 + body; // UDP 8, BTH 12, AETH 4 or a CNP's 16, ICRC 4
    roce.extend(udp_length.to_be_bytes());
    roce.extend([0, 0]);
    roce.extend([if ack.notification { 0x81 } else { 0x11 }, 0x40]); // ACKNOWLEDGE or CNP; SE 0, MigReq 1, pad 0, TVer 0
    roce.extend((qp::PKEY.get(row) as u16).to_be_bytes());
    if ack.notification {
        roce.extend((qp::DEST_QPN.get(row) | 1 << 30).to_be_bytes()); // BECN
        roce.extend([0; 20]); // PSN 0, and 16 bytes
    } else {
        roce.extend(qp::DEST_QPN.get(row).to_be_bytes());
        roce.extend(ack.psn.to_be_bytes());
        roce.extend(((ack.syndrome as u32) << 24 | ack.msn).to_be_bytes());
    }

    let mut packet = vec![];
    if ipv6 {
        packet.extend((0x6000_0000 | qp::TRAFFIC_CLASS.get(row) << 20).to_be_bytes());
        packet.extend([0, udp_length as u8, 17, qp::HOP_LIMIT.get(row) as u8]);
        packet.extend(gid.to_be_bytes());
        packet.extend(&peer);
    } else {
        packet.extend([0x45, qp::TRAFFIC_CLASS.get(row) as u8, 0, udp_length as u8 + 20, 0, 0, 0x40, 0]);
        packet.extend([qp::HOP_LIMIT.get(row) as u8, 17, 0, 0]);
        packet.extend((gid as u32).to_be_bytes());
        packet.extend(&peer[12..]);
        let sum = ip_checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    packet.extend(roce);
    packet.extend(icrc(&packet));

    let mut frame = vec![];
    frame.extend(&(qp::DEST_MAC_HIGH.get(row) as u16).to_be_bytes());
    frame.extend(&qp::DEST_MAC_LOW.get(row).to_be_bytes());
    frame.extend(&port.mac.to_be_bytes()[2..]);
    if qp::VLAN.get(row) == 1 {
        frame.extend([0x81, 0x00]);
        frame.extend(&(qp::VLAN_TCI.get(row) as u16).to_be_bytes());
    }
    frame.extend(if ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] });
    frame.extend(packet);
    frame.resize(frame.len().max(60), 0);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ICRC example of IBTA's RoCEv2 annex is long; the checksum's is RFC 1071's habit: a header with its checksum sums to 0.
    #[test]
    fn header_with_checksum_sums_to_zero() {
        let port = Port {
            mac: 0x0200_0000_0001,
            gids: [0xffff_0a00_0001; 4],
        };
        let row: Vec<u32> = (0..32).map(|k| (0x1234_5670 + k) & !0x600).collect();
        let frame = ack_frame(
            &port,
            &row,
            &Ack {
                index: 0,
                syndrome: 31,
                psn: 5,
                msn: 6,
                notification: false,
            },
        );
        assert_eq!(frame.len(), 62);
        assert_eq!(ip_checksum(&frame[14..34]), 0);
    }
}
