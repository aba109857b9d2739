// SPDX-License-Identifier: MIT OR Apache-2.0
//! rping's messages, and the text of its pings.

use verbena_verbs::{Mr, Remote};

/// Bytes of an advertisement: address (8), R_Key (4), length (4), big-endian.
pub const ADVERT_BYTES: usize = 16;

/// Where a ping is or goes; all zero: go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advert {
    pub remote: Remote,
    pub length: u32,
}

impl Advert {
    pub const GO_AHEAD: Advert = Advert {
        remote: Remote { address: 0, rkey: 0 },
        length: 0,
    };

    /// Of our own memory.
    pub fn of(mr: &Mr, offset: u64, length: u32) -> Advert {
        Advert {
            remote: Remote {
                address: mr.va + offset,
                rkey: mr.key,
            },
            length,
        }
    }

    pub fn to_bytes(self) -> [u8; ADVERT_BYTES] {
        let number = u128::from(self.remote.address) << 64 | u128::from(self.remote.rkey) << 32 | u128::from(self.length);
        number.to_be_bytes()
    }

    /// From 16 bytes; missing ones are zero.
    pub fn parse(bytes: &[u8]) -> Advert {
        let number = (0..ADVERT_BYTES).fold(0u128, |n, at| n << 8 | u128::from(bytes.get(at).copied().unwrap_or(0)));
        Advert {
            remote: Remote {
                address: (number >> 64) as u64,
                rkey: (number >> 32) as u32,
            },
            length: number as u32,
        }
    }
}

/// First and last letter of a ping's text.
const LETTERS: std::ops::RangeInclusive<u8> = b'A'..=b'z';

/// Ping `number`: `rdma-ping-N: `, then letters from the N-th on, round and round, and a NUL.
pub fn ping(number: u64, size: usize) -> Vec<u8> {
    let letters = LETTERS.cycle().skip((number % LETTERS.count() as u64) as usize);
    let mut text: Vec<u8> = format!("rdma-ping-{number}: ").into_bytes();
    text.extend(letters.take(size.saturating_sub(text.len())));
    text.truncate(size);
    if let Some(last) = text.last_mut() {
        *last = 0;
    }
    text
}

/// Up to the NUL.
pub fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|b| *b == 0).next().unwrap_or(&[])).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tb/captures/cm-rping.pcap.
    #[test]
    fn pings_and_adverts_are_those_of_linux() {
        assert_eq!(
            printable(&ping(3, 64)),
            "rdma-ping-3: DEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstu"
        );
        assert_eq!((ping(3, 64).len(), ping(3, 64)[63]), (64, 0));
        let linux = [0, 0, 0x55, 0x5e, 0xdd, 0x56, 0x33, 0x70, 0, 0, 0x1a, 0x3d, 0, 0, 0, 0x40];
        let advert = Advert::parse(&linux);
        assert_eq!(
            (advert.remote.address, advert.remote.rkey, advert.length),
            (0x555e_dd56_3370, 0x1a3d, 64)
        );
        assert_eq!(advert.to_bytes(), linux);
        assert_eq!(Advert::GO_AHEAD.to_bytes(), [0; 16]);
    }
}
