// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds frames and says, in plain Rust from the bytes alone, what the station must make of them.

use rand::Rng;
use verbena_spec::counters::*;

/// Opcodes and the bytes of extension headers, from the IBTA's table.
pub const OPCODES: &[(u8, usize)] = &[
    (0x00, 0),
    (0x01, 0),
    (0x02, 0),
    (0x03, 4),
    (0x04, 0),
    (0x05, 4),
    (0x06, 16),
    (0x07, 0),
    (0x08, 0),
    (0x09, 4),
    (0x0a, 16),
    (0x0b, 20),
    (0x0c, 16),
    (0x0d, 4),
    (0x0e, 0),
    (0x0f, 4),
    (0x10, 4),
    (0x11, 4),
    (0x12, 12),
    (0x13, 28),
    (0x14, 28),
    (0x16, 4),
    (0x17, 4),
    (0x20, 0),
    (0x21, 0),
    (0x22, 0),
    (0x23, 4),
    (0x24, 0),
    (0x25, 4),
    (0x26, 16),
    (0x27, 0),
    (0x28, 0),
    (0x29, 4),
    (0x2a, 16),
    (0x2b, 20),
    (0x64, 8),
    (0x65, 12),
    (0x81, 16),
];

/// What registers say.
#[derive(Clone)]
pub struct Setup {
    pub mac: [u8; 6],
    pub gids: Vec<(bool, [u8; 16])>,
    pub max_frame: usize,
    pub has_ipv6: bool,
    pub enable: bool,
    pub icrc_off: bool,
    /// CNPs pass.
    pub react: bool,
}

/// IPv4 address as a GID.
pub fn mapped(ip: [u8; 4]) -> [u8; 16] {
    let mut gid = [0; 16];
    gid[10..12].fill(0xff);
    gid[12..].copy_from_slice(&ip);
    gid
}

/// A RoCE frame before it becomes bytes.
#[derive(Clone)]
pub struct Roce {
    pub mac: [u8; 6],
    pub vlan: bool,
    pub gid: [u8; 16],
    pub ipv6: bool,
    pub opcode: u8,
    pub bth1: u8,
    pub bth: [u8; 10],
    pub extension: Vec<u8>,
    pub payload: Vec<u8>,
    pub port: u16,
    pub trailer: usize,
}

impl Roce {
    pub fn random(rng: &mut impl Rng, setup: &Setup, opcode: u8, payload: usize) -> Self {
        let (ipv6, gid) = setup.gids[rng.gen_range(0..setup.gids.len())];
        let extension = OPCODES.iter().find(|o| o.0 == opcode).map_or(0, |o| o.1);
        let pad = (payload.wrapping_neg() & 3) as u8;
        Roce {
            mac: setup.mac,
            vlan: rng.gen_bool(0.3),
            gid,
            ipv6,
            opcode,
            bth1: rng.gen::<u8>() & 0xc0 | pad << 4,
            bth: rng.gen(),
            extension: (0..extension).map(|_| rng.gen()).collect(),
            payload: (0..payload).map(|_| rng.gen()).collect(),
            port: 4791,
            trailer: if rng.gen_bool(0.2) { rng.gen_range(0..20) } else { 0 },
        }
    }

    pub fn bytes(&self, rng: &mut impl Rng) -> Vec<u8> {
        let mut roce = vec![self.opcode, self.bth1];
        roce.extend(self.bth);
        roce.extend(&self.extension);
        roce.extend(&self.payload);
        roce.resize(roce.len() + (self.payload.len().wrapping_neg() & 3), 0);
        let udp_length = (roce.len() + 12) as u16;
        let mut packet = vec![];
        if self.ipv6 {
            packet.extend([0x60 | rng.gen_range(0..16u8), rng.gen(), rng.gen(), rng.gen()]);
            packet.extend(udp_length.to_be_bytes());
            packet.extend([17, rng.gen()]);
            packet.extend(rng.gen::<[u8; 16]>());
            packet.extend(self.gid);
        } else {
            packet.extend([0x45, rng.gen()]);
            packet.extend((udp_length + 20).to_be_bytes());
            packet.extend([rng.gen(), rng.gen(), 0x40, 0, rng.gen(), 17, 0, 0]);
            packet.extend(rng.gen::<[u8; 4]>());
            packet.extend(&self.gid[12..]);
            fix_checksum(&mut packet);
        }
        packet.extend(rng.gen::<[u8; 2]>());
        packet.extend(self.port.to_be_bytes());
        packet.extend(udp_length.to_be_bytes());
        packet.extend(rng.gen::<[u8; 2]>());
        packet.extend(roce);
        let icrc = icrc_of(&packet, self.ipv6);
        packet.extend(icrc);
        let mut frame = ethernet(rng, self.mac, self.vlan, if self.ipv6 { 0x86dd } else { 0x0800 });
        frame.extend(packet);
        frame.extend((0..self.trailer).map(|_| rng.gen::<u8>()));
        while frame.len() < 60 {
            frame.push(rng.gen());
        }
        frame
    }
}

pub fn ethernet(rng: &mut impl Rng, mac: [u8; 6], vlan: bool, kind: u16) -> Vec<u8> {
    let mut frame = mac.to_vec();
    frame.extend(rng.gen::<[u8; 6]>());
    if vlan {
        frame.extend([0x81, 0, rng.gen(), rng.gen()]);
    }
    frame.extend(kind.to_be_bytes());
    frame
}

/// Sets the IPv4 header checksum.
pub fn fix_checksum(ip: &mut [u8]) {
    ip[10..12].fill(0);
    let sum = !ones_sum(&ip[..20]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn ones_sum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks(2).map(|b| u16::from_be_bytes([b[0], b[1]]) as u32).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// R1-R4, bit by bit.
pub fn icrc_of(packet: &[u8], ipv6: bool) -> [u8; 4] {
    let mut ip = packet.to_vec();
    let udp = if ipv6 { 40 } else { 20 };
    if ipv6 {
        ip[0] |= 0x0f;
        ip[1..4].fill(0xff);
        ip[7] = 0xff;
    } else {
        ip[1] = 0xff;
        ip[8] = 0xff;
        ip[10..12].fill(0xff);
    }
    ip[udp + 6..udp + 8].fill(0xff);
    ip[udp + 12] = 0xff;
    let mut crc = u32::MAX;
    for byte in [0xff; 8].into_iter().chain(ip) {
        crc ^= byte as u32;
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    (!crc).to_le_bytes()
}

/// What a committed packet must look like.
#[derive(Clone, Debug, PartialEq)]
pub struct Packet {
    /// Aligned words 0 to the ICRC.
    pub words: Vec<u32>,
    pub payload_length: usize,
    pub payload_word: usize,
    pub gid_index: usize,
    pub ipv6: bool,
}

/// The one counter that a frame ends in (buffers being free), and the packet when that is `RX_ROCE`.
pub fn judge(frame: &[u8], bad_fcs: bool, setup: &Setup) -> (u8, Option<Packet>) {
    let only = |code| (code, None);
    if bad_fcs {
        return only(RX_BAD_FCS);
    }
    if frame.len() > setup.max_frame {
        return only(RX_TOO_LONG);
    }
    let be16 = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]) as usize;
    if frame.len() < 18 || frame[..6] != setup.mac {
        return only(RX_HOST);
    }
    let (header, kind) = if be16(frame, 12) == 0x8100 {
        (18, be16(frame, 16))
    } else {
        (14, be16(frame, 12))
    };
    let ip = &frame[header..];
    let ipv6 = match kind {
        0x0800 => false,
        0x86dd if setup.has_ipv6 => true,
        _ => return only(RX_HOST),
    };
    let udp = if ipv6 { 40 } else { 20 };
    if ip.len() < udp + 24 {
        return only(RX_HOST);
    }
    let (version, protocol) = (ip[0] >> 4, if ipv6 { ip[6] } else { ip[9] });
    if version != if ipv6 { 6 } else { 4 } || protocol != 17 {
        return only(RX_HOST);
    }
    let destination: [u8; 16] = if ipv6 {
        ip[24..40].try_into().unwrap()
    } else {
        mapped(ip[16..20].try_into().unwrap())
    };
    let Some(gid_index) = setup.gids.iter().rposition(|g| *g == (ipv6, destination)) else {
        return only(RX_HOST);
    };
    let port = be16(ip, udp + 2) == 4791;
    if !ipv6 {
        let options = ip[0] & 15 != 5;
        let fragment = be16(ip, 6) & 0x3fff;
        if options || fragment != 0 {
            return only(if options || fragment & 0x1fff != 0 || port {
                RX_FRAGMENT
            } else {
                RX_HOST
            });
        }
    }
    if !port || !setup.enable {
        return only(RX_HOST);
    }
    if !ipv6 && ones_sum(&ip[..20]) != 0xffff {
        return only(RX_BAD_IP_CHECKSUM);
    }
    let udp_length = be16(ip, udp + 4);
    let ip_room = if ipv6 { be16(ip, 4) as i64 } else { be16(ip, 2) as i64 - 20 };
    let opcode = OPCODES.iter().find(|o| o.0 == ip[udp + 8]);
    let extension = opcode.map_or(0, |o| o.1);
    let pad = (ip[udp + 9] >> 4 & 3) as i64;
    let payload = udp_length as i64 - 24 - extension as i64 - pad;
    if udp_length % 4 != 0 || udp_length as i64 > ip_room || payload < 0 || ip.len() < udp + udp_length {
        return only(RX_BAD_LENGTH);
    }
    if opcode.is_none() {
        return only(RX_BAD_OPCODE);
    }
    if ip[udp + 9] & 15 != 0 {
        return only(RX_BAD_TVER);
    }
    let end = udp + udp_length;
    if !setup.icrc_off && icrc_of(&ip[..end - 4], ipv6) != ip[end - 4..end] {
        return only(RX_BAD_ICRC);
    }
    if ip[udp + 8] == 0x81 && !setup.react {
        return only(RX_CNP);
    }
    let mut words = vec![0; if ipv6 { 0 } else { 5 }];
    words.extend(ip[..end].chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())));
    (
        RX_ROCE,
        Some(Packet {
            words,
            payload_length: payload as usize,
            payload_word: 15 + extension / 4,
            gid_index,
            ipv6,
        }),
    )
}
