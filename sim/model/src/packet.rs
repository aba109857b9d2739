// SPDX-License-Identifier: MIT OR Apache-2.0
//! A RoCEv2 packet as fields, and its bytes.

use crate::icrc::icrc;
use std::net::{IpAddr, Ipv4Addr};
use verbena_spec::headers::{self, Opcode, UDP_PORT};

/// RETH (IBTA 9.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reth {
    pub virtual_address: u64,
    pub rkey: u32,
    /// Bytes.
    pub length: u32,
}

/// AETH (IBTA 9.3.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Aeth {
    pub syndrome: u8,
    /// 24 bits.
    pub msn: u32,
}

/// DETH (IBTA 9.3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deth {
    pub qkey: u32,
    /// 24 bits.
    pub source_qpn: u32,
}

/// AtomicETH (IBTA 9.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AtomicEth {
    pub virtual_address: u64,
    pub rkey: u32,
    pub swap_or_add: u64,
    pub compare: u64,
}

/// One packet. Lengths, pad count, checksums and ICRC follow from the fields when it becomes bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packet {
    pub destination_mac: [u8; 6],
    pub source_mac: [u8; 6],
    /// 802.1Q tag control.
    pub vlan: Option<u16>,
    pub source: IpAddr,
    pub destination: IpAddr,
    /// IPv4 ToS, IPv6 traffic class.
    pub traffic_class: u8,
    /// IPv4 TTL, IPv6 hop limit.
    pub hop_limit: u8,
    /// IPv4 identification, IPv6 flow label.
    pub ip_id: u32,
    pub udp_source: u16,
    /// UDP checksum as received; sent as 0.
    pub udp_checksum: u16,
    pub opcode: u8,
    pub solicited: bool,
    pub migration: bool,
    pub pkey: u16,
    pub fecn: bool,
    pub becn: bool,
    pub qpn: u32,
    pub ack_request: bool,
    pub psn: u32,
    pub deth: Deth,
    pub reth: Reth,
    pub atomic_eth: AtomicEth,
    pub aeth: Aeth,
    pub atomic_original: u64,
    pub immediate: u32,
    pub invalidate_rkey: u32,
    pub payload: Vec<u8>,
}

impl Default for Packet {
    fn default() -> Self {
        Self {
            destination_mac: [0; 6],
            source_mac: [0; 6],
            vlan: None,
            source: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            traffic_class: 0,
            hop_limit: 64,
            ip_id: 0,
            udp_source: 0xc000,
            udp_checksum: 0,
            opcode: 0,
            solicited: false,
            migration: true,
            pkey: 0xffff,
            fecn: false,
            becn: false,
            qpn: 0,
            ack_request: false,
            psn: 0,
            deth: Deth::default(),
            reth: Reth::default(),
            atomic_eth: AtomicEth::default(),
            aeth: Aeth::default(),
            atomic_original: 0,
            immediate: 0,
            invalidate_rkey: 0,
            payload: vec![],
        }
    }
}

/// Sum of 16-bit words in ones' complement, RFC 1071.
pub fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes
        .chunks(2)
        .map(|c| u32::from(c[0]) << 8 | u32::from(*c.get(1).unwrap_or(&0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

impl Packet {
    /// The opcode's properties, `None` for a reserved value.
    pub fn info(&self) -> Option<&'static Opcode> {
        headers::opcode(self.opcode)
    }

    /// The frame without FCS, not padded to 60 bytes. A reserved opcode gets no extension header.
    pub fn to_frame(&self) -> Vec<u8> {
        let mut frame = vec![];
        frame.extend(self.destination_mac);
        frame.extend(self.source_mac);
        if let Some(tci) = self.vlan {
            frame.extend([0x81, 0x00]);
            frame.extend(tci.to_be_bytes());
        }
        let transport = self.transport_bytes();
        let udp_length = (8 + transport.len() + 4) as u16;
        let ip_at = frame.len() + 2;
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                frame.extend([0x08, 0x00, 0x45, self.traffic_class]);
                frame.extend((20 + udp_length).to_be_bytes());
                frame.extend((self.ip_id as u16).to_be_bytes());
                frame.extend([0x40, 0x00, self.hop_limit, 17, 0, 0]);
                frame.extend(source.octets());
                frame.extend(destination.octets());
                let checksum = internet_checksum(&frame[ip_at..]);
                frame[ip_at + 10..ip_at + 12].copy_from_slice(&checksum.to_be_bytes());
            }
            (source, destination) => {
                frame.extend([0x86, 0xdd]);
                frame.extend((0x6000_0000 | u32::from(self.traffic_class) << 20 | self.ip_id & 0xf_ffff).to_be_bytes());
                frame.extend(udp_length.to_be_bytes());
                frame.extend([17, self.hop_limit]);
                frame.extend(to_v6(source));
                frame.extend(to_v6(destination));
            }
        }
        frame.extend(self.udp_source.to_be_bytes());
        frame.extend(UDP_PORT.to_be_bytes());
        frame.extend(udp_length.to_be_bytes());
        frame.extend(self.udp_checksum.to_be_bytes());
        frame.extend(transport);
        let crc = icrc(&frame[ip_at..]).unwrap_or_default();
        frame.extend(crc);
        frame
    }

    /// BTH to pad.
    fn transport_bytes(&self) -> Vec<u8> {
        let pad = self.payload.len().wrapping_neg() & 3;
        let mut out = vec![
            self.opcode,
            (self.solicited as u8) << 7 | (self.migration as u8) << 6 | (pad as u8) << 4,
        ];
        out.extend(self.pkey.to_be_bytes());
        out.extend((u32::from(self.fecn) << 31 | u32::from(self.becn) << 30 | self.qpn & 0xff_ffff).to_be_bytes());
        out.extend((u32::from(self.ack_request) << 31 | self.psn & 0xff_ffff).to_be_bytes());
        if let Some(info) = self.info() {
            if info.deth {
                out.extend(self.deth.qkey.to_be_bytes());
                out.extend((self.deth.source_qpn & 0xff_ffff).to_be_bytes());
            }
            if info.reth {
                out.extend(self.reth.virtual_address.to_be_bytes());
                out.extend(self.reth.rkey.to_be_bytes());
                out.extend(self.reth.length.to_be_bytes());
            }
            if info.atomic_eth {
                out.extend(self.atomic_eth.virtual_address.to_be_bytes());
                out.extend(self.atomic_eth.rkey.to_be_bytes());
                out.extend(self.atomic_eth.swap_or_add.to_be_bytes());
                out.extend(self.atomic_eth.compare.to_be_bytes());
            }
            if info.aeth {
                out.extend((u32::from(self.aeth.syndrome) << 24 | self.aeth.msn & 0xff_ffff).to_be_bytes());
            }
            if info.atomic_ack_eth {
                out.extend(self.atomic_original.to_be_bytes());
            }
            if info.immediate {
                out.extend(self.immediate.to_be_bytes());
            }
            if info.ieth {
                out.extend(self.invalidate_rkey.to_be_bytes());
            }
            if matches!(info.operation, headers::Operation::Cnp) {
                out.extend([0; 16]);
            }
        }
        out.extend(&self.payload);
        out.extend(std::iter::repeat_n(0, pad));
        out
    }
}

/// The 16 bytes of an address; IPv4 as ::ffff:a.b.c.d.
pub fn to_v6(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
