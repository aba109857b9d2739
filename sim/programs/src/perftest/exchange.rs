// SPDX-License-Identifier: MIT OR Apache-2.0
//! What perftest 4.5 ("6.06" on the wire) says over TCP, without rdma_cm: lock step, the client's message first, the server's of the same
//! length next.
//!
//! | message | bytes |
//! |---|---|
//! | version | 16, text |
//! | cycle buffer, cache line | 4 and 4, big-endian |
//! | path MTU | 2, its code as text |
//! | a QP | 108, `lid:outs:qpn:psn:rkey:vaddr:` 16 bytes of GID `:srqn:`, hexadecimal text |
//! | results | 8 each: size, messages, peak, average, rate; big-endian, the last three floating |
//! | the end | 5, `done` |
//!
//! A QP's record, sent again, is also the barrier.

use crate::host::Host;
use crate::oob::Oob;
use crate::Error;
use std::time::Duration;
use verbena_verbs::Gid;

const VERSION: &[u8; 16] = b"6.06\0\0\0\0\0\0\0\0\0\0\0\0";
/// What a stock tool on a PC says.
const CYCLE_BUFFER: u32 = 4096;
const CACHE_LINE: u32 = 64;
/// Bytes of a QP's record.
pub const RECORD: usize = 108;
/// How long the other side may measure.
const MEASURING: Duration = Duration::from_secs(1200);

/// One side's QP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    pub lid: u16,
    /// READs and ATOMICs that it serves at a time.
    pub outs: u16,
    pub qpn: u32,
    pub psn: u32,
    pub rkey: u32,
    pub address: u64,
    pub gid: Gid,
}

impl Record {
    pub fn to_bytes(&self) -> [u8; RECORD] {
        let gid: Vec<String> = self.gid.0.iter().map(|b| format!("{b:02x}")).collect();
        let text = format!(
            "{:04x}:{:04x}:{:06x}:{:06x}:{:08x}:{:016x}:{}:00000000:\0",
            self.lid,
            self.outs,
            self.qpn & 0xff_ffff,
            self.psn & 0xff_ffff,
            self.rkey,
            self.address,
            gid.join(":")
        );
        let mut bytes = [0; RECORD];
        bytes.iter_mut().zip(text.bytes()).for_each(|(to, from)| *to = from);
        bytes
    }

    pub fn parse(bytes: &[u8; RECORD]) -> Result<Record, Error> {
        Self::fields(bytes).ok_or_else(|| Error::Protocol {
            what: "its QP",
            found: String::from_utf8_lossy(bytes).into_owned(),
            want: "perftest's record of 108 bytes (is it perftest 4.5, without -R?)",
        })
    }

    fn fields(bytes: &[u8; RECORD]) -> Option<Record> {
        let text = std::str::from_utf8(bytes).ok()?;
        let fields: Vec<&str> = text.split(':').collect();
        let number = |at: usize, digits: usize| {
            let field: &&str = fields.get(at)?;
            let plain = field.len() == digits && field.bytes().all(|b| b.is_ascii_hexdigit());
            u64::from_str_radix(field, 16).ok().filter(|_| plain)
        };
        let mut gid = [0; 16];
        for (at, byte) in gid.iter_mut().enumerate() {
            *byte = number(6 + at, 2)? as u8;
        }
        Some(Record {
            lid: number(0, 4)? as u16,
            outs: number(1, 4)? as u16,
            qpn: number(2, 6)? as u32,
            psn: number(3, 6)? as u32,
            rkey: number(4, 8)? as u32,
            address: number(5, 16)?,
            gid: Gid(gid),
        })
    }
}

/// Both sides' common ground, before there are QPs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    /// Bytes that short messages walk over; at least that much memory a QP.
    pub cycle_buffer: u32,
    /// Their steps are multiples of this.
    pub cache_line: u32,
    /// Code of the smaller path MTU.
    pub mtu: u8,
}

/// The five numbers at the end of a bandwidth test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Results {
    pub size: u64,
    /// Of all QPs.
    pub iterations: u64,
    /// Messages a second times their size, in units of the client's.
    pub peak: f64,
    pub average: f64,
    pub rate: f64,
}

/// The connection, on either side.
pub struct Exchange {
    oob: Oob,
    client: bool,
}

impl Exchange {
    pub fn new(oob: Oob, client: bool) -> Exchange {
        Exchange { oob, client }
    }

    /// Ours for theirs.
    fn swap<H: Host, const N: usize>(&mut self, host: &mut H, what: &'static str, ours: &[u8; N]) -> Result<[u8; N], Error> {
        if self.client {
            self.oob.send(host, what, ours)?;
            self.oob.receive_within(host, what, MEASURING)
        } else {
            let theirs = self.oob.receive_within(host, what, MEASURING)?;
            self.oob.send(host, what, ours)?;
            Ok(theirs)
        }
    }

    /// Version, buffers, path MTU.
    pub fn ground<H: Host>(&mut self, host: &mut H, mtu: u8) -> Result<Ground, Error> {
        let version = self.swap(host, "version", VERSION)?;
        if version[..2] != VERSION[..2] {
            return Err(Error::Protocol {
                what: "its version",
                found: String::from_utf8_lossy(&version).trim_end_matches('\0').into(),
                want: "6.x, as perftest 4.5 says",
            });
        }
        let cycle_buffer = u32::from_be_bytes(self.swap(host, "cycle buffer", &CYCLE_BUFFER.to_be_bytes())?);
        let cache_line = u32::from_be_bytes(self.swap(host, "cache line", &CACHE_LINE.to_be_bytes())?);
        if !(1..=1 << 24).contains(&cycle_buffer) || !(1..=1 << 12).contains(&cache_line) {
            return Err(Error::Protocol {
                what: "its buffer sizes",
                found: format!("{cycle_buffer} and {cache_line}"),
                want: "a page and a cache line",
            });
        }
        let theirs = self.swap(host, "path MTU", &[b'0' + mtu, 0])?;
        match theirs[0] {
            code @ b'1'..=b'5' => Ok(Ground {
                cycle_buffer: cycle_buffer.max(CYCLE_BUFFER),
                cache_line: cache_line.max(CACHE_LINE),
                mtu: mtu.min(code - b'0'),
            }),
            _ => Err(Error::Protocol {
                what: "its path MTU",
                found: String::from_utf8_lossy(&theirs).into(),
                want: "1 to 5",
            }),
        }
    }

    /// Our QP's record for theirs.
    pub fn record<H: Host>(&mut self, host: &mut H, ours: &Record) -> Result<Record, Error> {
        Record::parse(&self.swap(host, "QP", &ours.to_bytes())?)
    }

    /// Our results for theirs.
    pub fn results<H: Host>(&mut self, host: &mut H, ours: &Results) -> Result<Results, Error> {
        let mut number = |bits: u64| Ok::<u64, Error>(u64::from_be_bytes(self.swap(host, "results", &bits.to_be_bytes())?));
        Ok(Results {
            size: number(ours.size)?,
            iterations: number(ours.iterations)?,
            peak: f64::from_bits(number(ours.peak.to_bits())?),
            average: f64::from_bits(number(ours.average.to_bits())?),
            rate: f64::from_bits(number(ours.rate.to_bits())?),
        })
    }

    /// Says goodbye, and hears the other side's or that it has gone already.
    pub fn done<H: Host>(mut self, host: &mut H) -> Result<(), Error> {
        match self.oob.send(host, "done", b"done\0") {
            Ok(()) => {}
            Err(Error::Socket { .. }) => return Ok(()),
            Err(other) => return Err(other),
        }
        match self.oob.receive::<H, 5>(host, "done") {
            Ok(_) | Err(Error::Closed(_)) | Err(Error::Socket { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// For tests that end without a word: stays until the other side has gone.
    pub fn linger<H: Host>(self, host: &mut H, limit: Duration) -> Result<(), Error> {
        self.oob.linger(host, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tb/captures/perf-write_bw-mtu4096-2qp.pcap.
    const LINUX: &[u8; RECORD] =
        b"0000:0001:00001e:e87aca:00000c1b:000055c808a7e000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:00:00:02:00000000:\0";

    #[test]
    fn a_record_of_perftest_comes_back_byte_for_byte() {
        let record = Record::parse(LINUX).unwrap();
        assert_eq!((record.qpn, record.psn, record.rkey), (0x1e, 0xe8_7aca, 0xc1b));
        assert_eq!(
            (record.address, record.outs, record.gid),
            (0x55c8_08a7_e000, 1, Gid::ipv4([10, 0, 0, 2]))
        );
        assert_eq!(&record.to_bytes(), LINUX);
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for at in [0, 7, 12, 30, 50, 97] {
            let mut bytes = *LINUX;
            bytes[at] = b'x';
            assert!(Record::parse(&bytes).is_err(), "{at}");
        }
        assert!(Record::parse(&[0xff; RECORD]).is_err());
    }
}
