// SPDX-License-Identifier: MIT OR Apache-2.0
//! A peer's frames: flows of RC packets to the engine, and the engine's answers read back.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use verbena_model::packet::{AtomicEth, Deth, Packet, Reth};
use verbena_model::parse::{verdict, Local, Verdict};
use verbena_model::requester::{Requester, Verb};
use verbena_verbs::Mac;

/// RC opcodes.
pub const SEND_ONLY: u8 = 0x04;
pub const WRITE_ONLY: u8 = 0x0a;
const READ_REQUEST: u8 = 0x0c;
const COMPARE_SWAP: u8 = 0x13;
const FETCH_ADD: u8 = 0x14;
const ACKNOWLEDGE: u8 = 0x11;
/// Bytes of an IPv4 packet beside payload and extension headers: Ethernet 14, IP 20, UDP 8, BTH 12, ICRC 4.
pub const OVERHEAD: usize = 58;
/// RETH of a WRITE's first packet, bytes.
pub const RETH: usize = 16;
/// Longest frame that the peer takes.
const PEER_MAX_FRAME: usize = 9000;

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub mac: Mac,
    pub ip: [u8; 4],
}

impl End {
    pub fn address(&self) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(self.ip))
    }

    /// Its IPv6 address, fd00:: and the IPv4 one.
    pub fn address6(&self) -> IpAddr {
        let mut bytes = [0; 16];
        bytes[0] = 0xfd;
        bytes[12..].copy_from_slice(&self.ip);
        IpAddr::V6(Ipv6Addr::from(bytes))
    }

    fn address_of(&self, ipv6: bool) -> IpAddr {
        if ipv6 {
            self.address6()
        } else {
            self.address()
        }
    }
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
    pub form: Form,
}

/// What a connection's packets look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Form {
    /// 0 RC, 1 UC, 3 UD: the opcode's upper bits.
    pub service: u8,
    pub ipv6: bool,
    /// 802.1Q tag control (R18).
    pub vlan: Option<u16>,
}

/// The Q_Key of every UD flow, and the QPN that it comes from.
pub const DETH: Deth = Deth {
    qkey: 0x1234_5678,
    source_qpn: 0x00_0abc,
};

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
    /// The headers that all packets of the flow share.
    pub fn template(&self) -> Packet {
        Packet {
            destination_mac: self.engine.mac,
            source_mac: self.here.mac,
            source: self.here.address_of(self.form.ipv6),
            destination: self.engine.address_of(self.form.ipv6),
            vlan: self.form.vlan,
            deth: DETH,
            udp_source: self.udp_source,
            qpn: self.dest_qpn,
            psn: self.psn,
            ..Packet::default()
        }
    }

    /// All packets of a WRITE; the flow's PSN moves on.
    pub fn write(&mut self, va: u64, rkey: u32, data: &[u8]) -> Vec<Vec<u8>> {
        self.message(Verb::Write { virtual_address: va, rkey }, data)
    }

    /// All packets of a SEND; the flow's PSN moves on.
    pub fn send(&mut self, data: &[u8]) -> Vec<Vec<u8>> {
        self.message(Verb::Send, data)
    }

    /// A WRITE_ONLY that the flow doesn't move on for.
    pub fn write_only(&self, va: u64, rkey: u32, data: &[u8]) -> Packet {
        let reth = Reth {
            virtual_address: va,
            rkey,
            length: data.len() as u32,
        };
        Packet {
            opcode: self.form.service << 5 | WRITE_ONLY,
            ack_request: true,
            reth,
            payload: data.to_vec(),
            ..self.template()
        }
    }

    /// A SEND_ONLY that the flow doesn't move on for.
    pub fn send_only(&self, data: &[u8]) -> Packet {
        Packet {
            opcode: self.form.service << 5 | SEND_ONLY,
            ack_request: true,
            payload: data.to_vec(),
            ..self.template()
        }
    }

    /// A READ request; the flow's PSN moves on by its responses (R22).
    pub fn read(&mut self, va: u64, rkey: u32, length: u32) -> Vec<u8> {
        let reth = Reth {
            virtual_address: va,
            rkey,
            length,
        };
        let request = Packet {
            opcode: READ_REQUEST,
            ack_request: true,
            reth,
            ..self.template()
        };
        self.psn = self.psn.wrapping_add(length.div_ceil(self.pmtu as u32).max(1)) & 0xff_ffff;
        request.to_frame()
    }

    /// An ATOMIC request: compare and swap, or fetch and add; the flow's PSN moves on.
    pub fn atomic(&mut self, atomic_eth: AtomicEth, compare: bool) -> Vec<u8> {
        let request = Packet {
            opcode: if compare { COMPARE_SWAP } else { FETCH_ADD },
            ack_request: true,
            atomic_eth,
            ..self.template()
        };
        self.psn = self.psn.wrapping_add(1) & 0xff_ffff;
        request.to_frame()
    }

    fn message(&mut self, verb: Verb, data: &[u8]) -> Vec<Vec<u8>> {
        let mut requester = Requester {
            template: self.template(),
            pmtu: self.pmtu,
            psn: self.psn,
            service: self.form.service,
            deth: DETH,
        };
        let mut packets = requester.message(verb, data, false);
        for (i, packet) in packets.iter_mut().enumerate() {
            packet.ack_request |= self.form.service == 0 && (i + 1) % self.ack_every == 0;
        }
        self.psn = requester.psn;
        packets.iter().map(Packet::to_frame).collect()
    }
}

/// Reads an ACK or NAK to `to` out of a frame; `None` for anything else or a wrong ICRC.
pub fn answer(frame: &[u8], to: &End) -> Option<Answer> {
    let local = Local {
        mac: to.mac,
        gids: vec![Some(to.address())],
        max_frame: PEER_MAX_FRAME,
        icrc_off: false,
    };
    match verdict(frame, false, &local) {
        Verdict::Roce { packet: p, .. } if p.opcode == ACKNOWLEDGE => Some(Answer {
            dest_qpn: p.qpn,
            psn: p.psn,
            syndrome: p.aeth.syndrome,
            msn: p.aeth.msn,
        }),
        _ => None,
    }
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
            psn: 0xff_ffff,
            pmtu: 256,
            udp_source: 0xc000,
            ack_every: 2,
            form: Form::default(),
        }
    }

    #[test]
    fn messages_are_cut_as_verbs_cut_them() {
        let mut flow = flow();
        let packets = flow.write(0x1000, 7, &[1; 600]);
        assert_eq!(packets.iter().map(|p| p[42]).collect::<Vec<_>>(), [6, 7, 8]);
        assert_eq!(packets.iter().map(|p| p[50] >> 7).collect::<Vec<_>>(), [0, 1, 1], "R74");
        assert_eq!(
            packets.iter().map(Vec::len).collect::<Vec<_>>(),
            [OVERHEAD + RETH + 256, OVERHEAD + 256, OVERHEAD + 88]
        );
        assert_eq!(flow.psn, 2);
        assert_eq!(flow.send(&[])[0].len(), OVERHEAD);
        // Middle packets: 82 bytes of wire besides the payload.
        assert!((ceiling(256, 0) - 256.0 / 338.0).abs() < 1e-9);
    }

    #[test]
    fn an_answer_is_read_and_a_corrupt_one_is_not() {
        let flow = flow();
        let aeth = verbena_model::packet::Aeth { syndrome: 0x1f, msn: 9 };
        let mut frame = Packet {
            opcode: ACKNOWLEDGE,
            aeth,
            psn: 5,
            ..flow.template()
        }
        .to_frame();
        frame.resize(64, 0);
        assert_eq!(
            answer(&frame, &flow.engine),
            Some(Answer {
                dest_qpn: 0x1002,
                psn: 5,
                syndrome: 0x1f,
                msn: 9
            })
        );
        frame[50] ^= 1;
        assert_eq!(answer(&frame, &flow.engine), None);
    }
}
