// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the ping-pong tools tell each other over TCP: 52 bytes of text, `LLLL:QQQQQQ:PPPPPP:GGGG…G` and a NUL.
//!
//! | at | bytes | hexadecimal |
//! |---|---|---|
//! | 0 | 4 | LID, 0 on Ethernet |
//! | 5 | 6 | QPN |
//! | 12 | 6 | first PSN that it sends |
//! | 19 | 32 | GID |

use crate::Error;
use verbena_verbs::Gid;

/// Bytes on the connection.
pub const BYTES: usize = 52;

/// One side's QP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub lid: u16,
    /// 24 bits.
    pub qpn: u32,
    /// 24 bits.
    pub psn: u32,
    pub gid: Gid,
}

impl Record {
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let gid: String = self.gid.0.iter().map(|b| format!("{b:02x}")).collect();
        let text = format!("{:04x}:{:06x}:{:06x}:{gid}\0", self.lid, self.qpn & 0xff_ffff, self.psn & 0xff_ffff);
        let mut bytes = [0; BYTES];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        bytes
    }

    pub fn parse(bytes: &[u8; BYTES]) -> Result<Record, Error> {
        Self::fields(bytes).ok_or_else(|| Error::Protocol {
            what: "its address",
            found: String::from_utf8_lossy(bytes).into_owned(),
            want: "LLLL:QQQQQQ:PPPPPP:GID in hexadecimal",
        })
    }

    fn fields(bytes: &[u8; BYTES]) -> Option<Record> {
        let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
        let fields: Vec<&str> = text.split(':').collect();
        let [lid, qpn, psn, gid] = fields[..] else { return None };
        let number = |field: &str, digits: usize| {
            let plain = field.len() == digits && field.bytes().all(|b| b.is_ascii_hexdigit());
            u32::from_str_radix(field, 16).ok().filter(|_| plain)
        };
        let mut bytes = [0; 16];
        if gid.len() != 32 {
            return None;
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = number(gid.get(2 * at..2 * at + 2)?, 2)? as u8;
        }
        Some(Record {
            lid: number(lid, 4)? as u16,
            qpn: number(qpn, 6)?,
            psn: number(psn, 6)?,
            gid: Gid(bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tb/captures/rc_pingpong-mtu1024.pcap.
    const LINUX: &[u8; BYTES] = b"0000:000013:f75d3e:00000000000000000000ffff0a000002\0";

    #[test]
    fn a_record_of_linux_comes_back_byte_for_byte() {
        let record = Record::parse(LINUX).unwrap();
        assert_eq!((record.lid, record.qpn, record.psn), (0, 0x13, 0xf7_5d3e));
        assert_eq!(record.gid, Gid::ipv4([10, 0, 0, 2]));
        assert_eq!(&record.to_bytes(), LINUX);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for (at, byte) in [(4, b'0'), (5, b'g'), (12, b'+'), (19, b' '), (30, 0xff), (50, 0), (50, b':')] {
            let mut bytes = *LINUX;
            bytes[at] = byte;
            assert!(Record::parse(&bytes).is_err(), "{at} {byte}");
        }
        assert!(Record::parse(&[0; BYTES]).is_err());
    }
}
