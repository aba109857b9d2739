// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer's frames, made and read by few lines: what benches and the liveness probe send. (The codec proper is `verbena-model`.)

use verbena_verbs::Mac;

/// RC opcodes.
pub const SEND_ONLY: u8 = 0x04;
const SEND_FIRST: u8 = 0x00;
const WRITE_FIRST: u8 = 0x06;
pub const WRITE_ONLY: u8 = 0x0a;
const ACKNOWLEDGE: u8 = 0x11;
/// RoCEv2's UDP port (R17).
const ROCE_PORT: u16 = 4791;
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const UDP: usize = 8;
const BTH: usize = 12;
const ICRC: usize = 4;
/// Bytes of a packet beside payload and extension headers.
pub const OVERHEAD: usize = ETHERNET + IPV4 + UDP + BTH + ICRC;
/// RETH of a WRITE's first packet.
pub const RETH: usize = 16;
const PSN_MASK: u32 = 0xff_ffff;

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub mac: Mac,
    pub ip: [u8; 4],
}

/// The peer's send side of an RC connection.
#[derive(Debug, Clone)]
pub struct Flow {
    pub here: End,
    pub engine: End,
    /// The engine's QPN.
    pub dest_qpn: u32,
    /// PSN of the next packet.
    pub psn: u32,
    /// Bytes.
    pub pmtu: usize,
    pub udp_source: u16,
    /// AckReq at least every so many packets (R74).
    pub ack_every: usize,
}

/// An ACK or NAK that the engine sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub dest_qpn: u32,
    pub psn: u32,
    pub syndrome: u8,
    pub msn: u32,
}

impl Answer {
    pub fn is_ack(&self) -> bool {
        self.syndrome >> 5 == 0
    }
}

impl Flow {
    /// One packet; RETH and such in `extension`.
    pub fn packet(&self, opcode: u8, psn: u32, ack_request: bool, extension: &[u8], payload: &[u8]) -> Vec<u8> {
        let pad = payload.len().wrapping_neg() & 3;
        let udp = UDP + BTH + extension.len() + payload.len() + pad + ICRC;
        let mut f = Vec::with_capacity(ETHERNET + IPV4 + udp);
        f.extend_from_slice(&self.engine.mac);
        f.extend_from_slice(&self.here.mac);
        f.extend_from_slice(&[0x08, 0x00, 0x45, 0]);
        f.extend_from_slice(&((IPV4 + udp) as u16).to_be_bytes());
        f.extend_from_slice(&[0, 0, 0x40, 0, 64, 17, 0, 0]);
        f.extend_from_slice(&self.here.ip);
        f.extend_from_slice(&self.engine.ip);
        let checksum = ip_checksum(&f[ETHERNET..ETHERNET + IPV4]);
        f[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&checksum.to_be_bytes());
        f.extend_from_slice(&self.udp_source.to_be_bytes());
        f.extend_from_slice(&ROCE_PORT.to_be_bytes());
        f.extend_from_slice(&(udp as u16).to_be_bytes());
        f.extend_from_slice(&[0, 0]);
        f.extend_from_slice(&[opcode, 0x40 | (pad as u8) << 4, 0xff, 0xff]);
        f.extend_from_slice(&(self.dest_qpn & PSN_MASK).to_be_bytes());
        f.extend_from_slice(&((ack_request as u32) << 31 | psn & PSN_MASK).to_be_bytes());
        f.extend_from_slice(extension);
        f.extend_from_slice(payload);
        f.extend_from_slice(&[0; 3][..pad]);
        let crc = icrc(&f[ETHERNET..]);
        f.extend_from_slice(&crc.to_le_bytes());
        f
    }

    /// All packets of a WRITE; the flow's PSN moves on.
    pub fn write(&mut self, va: u64, rkey: u32, data: &[u8]) -> Vec<Vec<u8>> {
        let mut reth = va.to_be_bytes().to_vec();
        reth.extend_from_slice(&rkey.to_be_bytes());
        reth.extend_from_slice(&(data.len() as u32).to_be_bytes());
        self.message(WRITE_FIRST, WRITE_ONLY, &reth, data)
    }

    /// All packets of a SEND; the flow's PSN moves on.
    pub fn send(&mut self, data: &[u8]) -> Vec<Vec<u8>> {
        self.message(SEND_FIRST, SEND_ONLY, &[], data)
    }

    /// FIRST, MIDDLE, LAST stand at consecutive opcodes.
    fn message(&mut self, first: u8, only: u8, extension: &[u8], data: &[u8]) -> Vec<Vec<u8>> {
        let count = data.len().div_ceil(self.pmtu).max(1);
        let packets = (0..count).map(|i| {
            let part = &data[(i * self.pmtu).min(data.len())..((i + 1) * self.pmtu).min(data.len())];
            let (is_first, is_last) = (i == 0, i + 1 == count);
            let opcode = match (is_first, is_last) {
                (true, true) => only,
                (true, false) => first,
                (false, false) => first + 1,
                (false, true) => first + 2,
            };
            let psn = self.psn.wrapping_add(i as u32) & PSN_MASK;
            let ask = is_last || (i + 1) % self.ack_every == 0;
            self.packet(opcode, psn, ask, if is_first { extension } else { &[] }, part)
        });
        let packets = packets.collect();
        self.psn = self.psn.wrapping_add(count as u32) & PSN_MASK;
        packets
    }
}

/// Reads an ACK or NAK out of a frame from the engine; `None` for anything else or a wrong ICRC.
pub fn answer(frame: &[u8]) -> Option<Answer> {
    let ip = frame.get(ETHERNET..)?;
    if frame.get(12..14)? != [0x08, 0x00] || *ip.get(9)? != 17 {
        return None;
    }
    let total = u16::from_be_bytes([*ip.get(2)?, *ip.get(3)?]) as usize;
    let ip = ip.get(..total)?;
    let bth = ip.get(IPV4 + UDP..)?;
    if bth.len() != BTH + 4 + ICRC || bth[0] != ACKNOWLEDGE {
        return None;
    }
    let (covered, crc) = ip.split_at(total - ICRC);
    if icrc(covered).to_le_bytes() != crc {
        return None;
    }
    let word = |at: usize| u32::from_be_bytes([bth[at], bth[at + 1], bth[at + 2], bth[at + 3]]);
    Some(Answer {
        dest_qpn: word(4) & PSN_MASK,
        psn: word(8) & PSN_MASK,
        syndrome: bth[12],
        msn: word(12) & PSN_MASK,
    })
}

fn ip_checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|c| u16::from_be_bytes([c[0], c[1]]) as u32).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(folded + (folded >> 16)) as u16
}

/// ICRC of an IPv4 packet, from the IP header to the last pad byte (R1, R2).
pub fn icrc(ip: &[u8]) -> u32 {
    let mut masked = ip[..IPV4 + UDP + BTH].to_vec();
    for at in [1, 8, 10, 11, 26, 27, 32] {
        masked[at] = 0xff;
    }
    let mut hash = crc32fast::Hasher::new();
    hash.update(&[0xff; 8]);
    hash.update(&masked);
    hash.update(&ip[IPV4 + UDP + BTH..]);
    hash.finalize()
}

/// The wire's ceiling for packets of `payload` bytes with `extension` bytes of headers, as a share of the line rate.
pub fn ceiling(payload: usize, extension: usize) -> f64 {
    payload as f64 / crate::hca::mac::wire_bytes(OVERHEAD + extension + payload) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow() -> Flow {
        let here = End {
            mac: [2, 0, 0, 0, 0, 2],
            ip: [10, 0, 0, 2],
        };
        let engine = End {
            mac: [2, 0, 0, 0, 0, 1],
            ip: [10, 0, 0, 1],
        };
        Flow {
            here,
            engine,
            dest_qpn: 0x1002,
            psn: PSN_MASK,
            pmtu: 256,
            udp_source: 0xc000,
            ack_every: 16,
        }
    }

    #[test]
    fn messages_are_cut_as_verbs_cut_them() {
        let mut flow = flow();
        let packets = flow.write(0x1000, 7, &[1; 600]);
        assert_eq!(packets.iter().map(|p| p[42]).collect::<Vec<_>>(), [6, 7, 8]);
        assert_eq!(packets.iter().map(Vec::len).collect::<Vec<_>>(), [58 + 16 + 256, 58 + 256, 58 + 88]);
        assert_eq!(flow.psn, 2);
        assert_eq!(flow.send(&[])[0].len(), 58);
        assert_eq!(flow.send(&[1])[0][42], SEND_ONLY);
        // Middle packets: 82 bytes of wire besides the payload.
        assert!((ceiling(256, 0) - 256.0 / 338.0).abs() < 1e-9);
    }

    #[test]
    fn an_answer_is_read_and_a_corrupt_one_is_not() {
        let mut frame = flow().packet(ACKNOWLEDGE, 5, false, &[0x1f, 0, 0, 9], &[]);
        frame.resize(64, 0);
        assert_eq!(
            answer(&frame),
            Some(Answer {
                dest_qpn: 0x1002,
                psn: 5,
                syndrome: 0x1f,
                msn: 9
            })
        );
        frame[50] ^= 1;
        assert_eq!(answer(&frame), None);
    }

    /// R1, R2: an ACK that Linux Soft-RoCE 6.1 sent.
    #[test]
    fn r2_linux_ack_is_read() {
        let hex = "5254000000025254000000010800450000301dd74000401108e40a0000010a000002cb9a12b7001c0000\
                   1100ffff00000037001234561f000001c4bea10c";
        let frame: Vec<u8> = (0..hex.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap())
            .collect();
        assert_eq!(
            answer(&frame),
            Some(Answer {
                dest_qpn: 0x37,
                psn: 0x123456,
                syndrome: 0x1f,
                msn: 1
            })
        );
    }
}
