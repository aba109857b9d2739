// SPDX-License-Identifier: MIT OR Apache-2.0
//! RDMA CM over InfiniBand's connection manager: TCP-like ports as service IDs, IP addresses in the REQ's private data.

use crate::layout::addresses as f;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of it at the private data's start.
pub const BYTES: usize = 36;
/// Port space "TCP" of RDMA CM.
const TCP: u64 = 0x0106;

/// The service ID of a port.
pub const fn service(port: u16) -> u64 {
    TCP << 16 | port as u64
}

/// The port of a service ID of that port space.
pub fn port(service: u64) -> Option<u16> {
    (service >> 16 == TCP).then_some(service as u16)
}

/// Who connects from where to where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addresses {
    /// Port that the connection comes from.
    pub port: u16,
    pub source: IpAddr,
    pub destination: IpAddr,
}

impl Addresses {
    /// The bytes; addresses of one family are the caller's care.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let version = if self.source.is_ipv4() { 4 } else { 6 };
        f::IP_VERSION.set(&mut bytes, version);
        f::PORT.set(&mut bytes, self.port.into());
        f::SOURCE.put(&mut bytes, &wide(self.source));
        f::DESTINATION.put(&mut bytes, &wide(self.destination));
        bytes
    }

    /// From a REQ's private data; `None` if it has no such header.
    pub fn parse(private: &[u8]) -> Option<Addresses> {
        if private.len() < BYTES || f::VERSION.get(private) != 0 {
            return None;
        }
        let address = |field: &crate::layout::Field| {
            let bytes: [u8; 16] = field.bytes(private).try_into().ok()?;
            match f::IP_VERSION.get(private) {
                4 => Some(IpAddr::V4(Ipv4Addr::new(bytes[12], bytes[13], bytes[14], bytes[15]))),
                6 => Some(IpAddr::V6(Ipv6Addr::from(bytes))),
                _ => None,
            }
        };
        Some(Addresses {
            port: f::PORT.get(private) as u16,
            source: address(&f::SOURCE)?,
            destination: address(&f::DESTINATION)?,
        })
    }
}

/// An IPv4 address stands in the last four bytes.
fn wide(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => {
            let mut bytes = [0; 16];
            bytes[12..].copy_from_slice(&v4.octets());
            bytes
        }
        IpAddr::V6(v6) => v6.octets(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_come_back() {
        for (source, destination) in [("10.0.0.2", "10.0.0.1"), ("fe80::1", "fe80::2")] {
            let addresses = Addresses {
                port: 59037,
                source: source.parse().unwrap(),
                destination: destination.parse().unwrap(),
            };
            assert_eq!(Addresses::parse(&addresses.to_bytes()), Some(addresses));
        }
        assert_eq!(
            (service(7174), port(0x0106_1c06), port(0x0111_1c06)),
            (0x0106_1c06, Some(7174), None)
        );
        for bad in [&[0; 36][..], &[0; 35], &[1; 36]] {
            assert_eq!(Addresses::parse(bad), None);
        }
    }
}
