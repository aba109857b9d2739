// SPDX-License-Identifier: MIT OR Apache-2.0
//! Invariant CRC of RoCEv2 (IBTA annex A17; R1-R5).

use crc32fast::Hasher;

/// The ICRC over `packet`, from the first byte of the IP header to the last pad byte, as its four bytes stand on the wire (R4).
/// `None`: not IPv4 or IPv6, or shorter than its headers.
pub fn icrc(packet: &[u8]) -> Option<[u8; 4]> {
    let (ip, variant): (usize, &[usize]) = match packet.first()? >> 4 {
        // R2: ToS, TTL, IP checksum, UDP checksum.
        4 => (20, &[1, 8, 10, 11, 26, 27]),
        // R3: hop limit, UDP checksum; traffic class and flow label below.
        6 => (40, &[7, 46, 47]),
        _ => return None,
    };
    let head = ip + 8 + 12;
    if packet.len() < head {
        return None;
    }
    let mut masked = packet[..head].to_vec();
    for &at in variant {
        masked[at] = 0xff;
    }
    if ip == 40 {
        masked[0] |= 0x0f;
        masked[1..4].fill(0xff);
    }
    masked[ip + 8 + 4] = 0xff;
    let mut crc = Hasher::new();
    crc.update(&[0xff; 8]);
    crc.update(&masked);
    crc.update(&packet[head..]);
    Some(crc.finalize().to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_state_after_the_eight_ff_bytes() {
        let mut crc = Hasher::new();
        crc.update(&[0xff; 8]);
        assert_eq!(!crc.finalize(), 0xdebb_20e3);
    }

    #[test]
    fn r2_variant_bytes_do_not_count() {
        let mut packet = vec![0x45; 60];
        let before = icrc(&packet);
        for at in [1, 8, 10, 11, 26, 27, 32] {
            packet[at] ^= 0x5a;
            assert_eq!(icrc(&packet), before, "byte {at}");
        }
        for at in [0, 2, 4, 9, 12, 20, 28, 33, 40, 59] {
            packet[at] ^= if at == 0 { 1 } else { 0x5a };
            assert_ne!(icrc(&packet), before, "byte {at}");
            packet[at] ^= if at == 0 { 1 } else { 0x5a };
        }
    }

    #[test]
    fn r3_variant_bytes_of_ipv6() {
        let mut packet = vec![0x60; 80];
        let before = icrc(&packet);
        for (at, bits) in [
            (0, 0x0f),
            (1, 0xff),
            (2, 0xff),
            (3, 0xff),
            (7, 0xff),
            (46, 0xff),
            (47, 0xff),
            (52, 0xff),
        ] {
            packet[at] ^= bits;
            assert_eq!(icrc(&packet), before, "byte {at}");
        }
        packet[8] ^= 1;
        assert_ne!(icrc(&packet), before);
    }

    #[test]
    fn short_and_foreign_packets_have_none() {
        assert_eq!(icrc(&[]), None);
        assert_eq!(icrc(&[0x45; 39]), None);
        assert_eq!(icrc(&[0x55; 90]), None);
    }
}
