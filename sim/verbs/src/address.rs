// SPDX-License-Identifier: MIT OR Apache-2.0
//! Addresses of ourselves and of the peer. Software resolves ARP and ND; a QP row holds the result.

/// An Ethernet address, in wire order.
pub type Mac = [u8; 6];

/// A GID: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d (RoCEv2 annex A17.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gid(pub [u8; 16]);

impl Gid {
    /// The GID of an IPv4 address.
    pub const fn ipv4(a: [u8; 4]) -> Gid {
        Gid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a[0], a[1], a[2], a[3]])
    }

    /// True for an IPv6 address that isn't IPv4-mapped.
    pub fn is_ipv6(&self) -> bool {
        self.0[..12] != Self::ipv4([0; 4]).0[..12]
    }

    /// The four words of the register map and the QP row, the first four bytes first, big-endian.
    pub fn words(&self) -> [u32; 4] {
        std::array::from_fn(|i| u32::from_be_bytes([self.0[4 * i], self.0[4 * i + 1], self.0[4 * i + 2], self.0[4 * i + 3]]))
    }
}

impl From<std::net::IpAddr> for Gid {
    fn from(ip: std::net::IpAddr) -> Gid {
        match ip {
            std::net::IpAddr::V4(v4) => Gid::ipv4(v4.octets()),
            std::net::IpAddr::V6(v6) => Gid(v6.octets()),
        }
    }
}

/// An 802.1Q tag (R18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vlan {
    /// VLAN id, 12 bits.
    pub id: u16,
    /// Priority code point, 3 bits.
    pub priority: u8,
}

impl Vlan {
    /// 802.1Q tag control.
    pub(crate) fn tag_control(&self) -> u32 {
        (self.priority as u32) << 13 | self.id as u32
    }
}

/// The way to a QP's peer (`ibv_ah_attr`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    pub gid: Gid,
    pub mac: Mac,
    /// Which of our GIDs is the source.
    pub gid_index: u8,
    pub vlan: Option<Vlan>,
    /// IPv4 ToS or IPv6 traffic class.
    pub traffic_class: u8,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// UDP source port, constant for the QP's life (R17); `None` derives one from the two QPNs, in 0xc000..=0xffff.
    pub udp_source: Option<u16>,
}

impl Peer {
    /// A peer at that address, reached from our GID 0, untagged, traffic class 0, hop limit 64.
    pub fn new(gid: Gid, mac: Mac) -> Peer {
        Peer {
            gid,
            mac,
            gid_index: 0,
            vlan: None,
            traffic_class: 0,
            hop_limit: 64,
            udp_source: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv4_is_mapped() {
        let gid = Gid::ipv4([10, 0, 0, 1]);
        assert_eq!(gid.words(), [0, 0, 0xffff, 0x0a00_0001]);
        assert!(!gid.is_ipv6());
        assert!(Gid([0xfe; 16]).is_ipv6());
    }
}
