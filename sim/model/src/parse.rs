// SPDX-License-Identifier: MIT OR Apache-2.0
//! From bytes to a verdict: RoCE for us, the host's, or dropped with its cause. The first cause that applies counts, in the order of
//! `verdict`; the RTL's receive station keeps the same order.

use crate::icrc::icrc;
use crate::packet::{internet_checksum, Aeth, AtomicEth, Deth, Packet, Reth};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_spec::counters as c;
use verbena_spec::headers::{self, Operation, BTH_WORDS, UDP_PORT};

/// Who we are on the wire.
#[derive(Debug, Clone)]
pub struct Local {
    pub mac: [u8; 6],
    /// GID table; an unused entry is `None`.
    pub gids: Vec<Option<IpAddr>>,
    /// Longest frame, bytes.
    pub max_frame: usize,
    /// Debug switch: the ICRC isn't checked (R12).
    pub icrc_off: bool,
}

/// What became of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// For the responder; the GID it was sent to, and the 40 bytes of GRH (R70).
    Roce {
        packet: Box<Packet>,
        gid_index: usize,
        grh: [u8; 40],
    },
    /// For the host's Ethernet port; the counter's code (`RX_HOST`, or `RX_FRAGMENT` for R15).
    Host(u8),
    /// Dropped; the counter's code.
    Drop(u8),
}

impl Verdict {
    /// The counter's code.
    pub fn code(&self) -> u8 {
        match self {
            Verdict::Roce { .. } => c::RX_ROCE,
            Verdict::Host(code) | Verdict::Drop(code) => *code,
        }
    }
}

fn be16(bytes: &[u8], at: usize) -> usize {
    usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn be64(bytes: &[u8], at: usize) -> u64 {
    u64::from(be32(bytes, at)) << 32 | u64::from(be32(bytes, at + 4))
}

/// The verdict on a frame (without FCS); `bad_fcs` is what the MAC said of it.
pub fn verdict(frame: &[u8], bad_fcs: bool, local: &Local) -> Verdict {
    verdict_with(frame, bad_fcs, local, false)
}

/// The same where congestion control is on: CNPs go to their QPs.
pub fn verdict_with(frame: &[u8], bad_fcs: bool, local: &Local, takes_cnps: bool) -> Verdict {
    if bad_fcs {
        return Verdict::Drop(c::RX_BAD_FCS);
    }
    if frame.len() > local.max_frame {
        return Verdict::Drop(c::RX_TOO_LONG);
    }
    let host = Verdict::Host(c::RX_HOST);
    if frame.len() < 18 || frame[..6] != local.mac {
        return host;
    }
    let vlan = (be16(frame, 12) == 0x8100).then(|| be16(frame, 14) as u16);
    let ip_at = if vlan.is_some() { 18 } else { 14 };
    let ip = &frame[ip_at..];
    let (udp_at, room, source, destination) = match be16(frame, ip_at - 2) {
        0x0800 if ip.len() >= 20 && ip[0] >> 4 == 4 => {
            let address = |at: usize| IpAddr::V4(Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]));
            let ours = local.gids.iter().flatten().any(|g| *g == address(16));
            if ip[9] != 17 || !ours {
                return host;
            }
            // R15: options or a later fragment are never RoCE, and hide or lack the port.
            if ip[0] & 15 != 5 || be16(ip, 6) & 0x1fff != 0 {
                return Verdict::Host(c::RX_FRAGMENT);
            }
            (20, be16(ip, 2).saturating_sub(20), address(12), address(16))
        }
        0x86dd if ip.len() >= 40 && ip[0] >> 4 == 6 => {
            let address = |at: usize| IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&ip[at..at + 16]).unwrap_or_default()));
            if ip[6] != 17 {
                return host;
            }
            (40, be16(ip, 4), address(8), address(24))
        }
        _ => return host,
    };
    let Some(gid_index) = local.gids.iter().position(|g| *g == Some(destination)) else {
        return host;
    };
    // A frame that ends before BTH and ICRC are whole isn't RoCE; no MAC gives one, the shortest has 60 bytes.
    if ip.len() < udp_at + 8 + 4 * BTH_WORDS + 4 || be16(ip, udp_at + 2) != usize::from(UDP_PORT) {
        return host;
    }
    // R15: a first fragment whose port is ours.
    if udp_at == 20 && be16(ip, 6) & 0x2000 != 0 {
        return Verdict::Host(c::RX_FRAGMENT);
    }
    if udp_at == 20 && internet_checksum(&ip[..20]) != 0 {
        return Verdict::Drop(c::RX_BAD_IP_CHECKSUM);
    }
    let udp_length = be16(ip, udp_at + 4);
    let bth_at = udp_at + 8;
    let end = udp_at + udp_length;
    // R77, R8, R10: the UDP length rules, lies inside the IP payload and the frame, and holds a BTH and an ICRC in whole words.
    if udp_length > room || end > ip.len() || udp_length < 8 + 4 * BTH_WORDS + 4 || !udp_length.is_multiple_of(4) {
        return Verdict::Drop(c::RX_BAD_LENGTH);
    }
    let bth = &ip[bth_at..end - 4];
    let Some(info) = headers::opcode(bth[0]) else {
        return Verdict::Drop(c::RX_BAD_OPCODE);
    };
    let pad = usize::from(bth[1] >> 4 & 3);
    let head = 4 * (BTH_WORDS + info.extension_words());
    if bth.len() < head + pad {
        return Verdict::Drop(c::RX_BAD_LENGTH);
    }
    if bth[1] & 15 != 0 {
        return Verdict::Drop(c::RX_BAD_TVER);
    }
    if !local.icrc_off && icrc(&ip[..end - 4]) != ip[end - 4..end].try_into().ok() {
        return Verdict::Drop(c::RX_BAD_ICRC);
    }
    if info.operation == Operation::Cnp && !takes_cnps {
        return Verdict::Drop(c::RX_CNP);
    }
    let mut packet = Packet {
        destination_mac: local.mac,
        source_mac: frame[6..12].try_into().unwrap_or_default(),
        vlan,
        source,
        destination,
        traffic_class: if udp_at == 20 { ip[1] } else { (be16(ip, 0) >> 4) as u8 },
        hop_limit: ip[if udp_at == 20 { 8 } else { 7 }],
        ip_id: if udp_at == 20 { be16(ip, 4) as u32 } else { be32(ip, 0) & 0xf_ffff },
        udp_source: be16(ip, udp_at) as u16,
        udp_checksum: be16(ip, udp_at + 6) as u16,
        opcode: bth[0],
        solicited: bth[1] & 0x80 != 0,
        migration: bth[1] & 0x40 != 0,
        pkey: be16(bth, 2) as u16,
        fecn: bth[4] & 0x80 != 0,
        becn: bth[4] & 0x40 != 0,
        qpn: be32(bth, 4) & 0xff_ffff,
        ack_request: bth[8] & 0x80 != 0,
        psn: be32(bth, 8) & 0xff_ffff,
        payload: bth[head..bth.len() - pad].to_vec(),
        ..Packet::default()
    };
    extensions(&mut packet, info, &bth[12..head]);
    let mut grh = [0; 40];
    grh[40 - udp_at..].copy_from_slice(&ip[..udp_at]);
    Verdict::Roce {
        packet: Box::new(packet),
        gid_index,
        grh,
    }
}

/// Reads the extension headers in their order.
fn extensions(packet: &mut Packet, info: &headers::Opcode, mut bytes: &[u8]) {
    let mut take = |n: usize| {
        let (head, rest) = bytes.split_at(n);
        bytes = rest;
        head
    };
    if info.deth {
        let h = take(8);
        packet.deth = Deth {
            qkey: be32(h, 0),
            source_qpn: be32(h, 4) & 0xff_ffff,
        };
    }
    if info.reth {
        let h = take(16);
        packet.reth = Reth {
            virtual_address: be64(h, 0),
            rkey: be32(h, 8),
            length: be32(h, 12),
        };
    }
    if info.atomic_eth {
        let h = take(28);
        packet.atomic_eth = AtomicEth {
            virtual_address: be64(h, 0),
            rkey: be32(h, 8),
            swap_or_add: be64(h, 12),
            compare: be64(h, 20),
        };
    }
    if info.aeth {
        let h = take(4);
        packet.aeth = Aeth {
            syndrome: h[0],
            msn: be32(h, 0) & 0xff_ffff,
        };
    }
    if info.atomic_ack_eth {
        packet.atomic_original = be64(take(8), 0);
    }
    if info.immediate {
        packet.immediate = be32(take(4), 0);
    }
    if info.ieth {
        packet.invalidate_rkey = be32(take(4), 0);
    }
}
