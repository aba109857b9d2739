// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packets of whole messages, as a conformant requester sends them. No retransmission: for demos, tests and benches of the responder.

use crate::packet::{Deth, Packet, Reth};

/// What to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Send,
    SendImm(u32),
    SendInvalidate(u32),
    Write { virtual_address: u64, rkey: u32 },
    WriteImm { virtual_address: u64, rkey: u32, immediate: u32 },
}

/// A flow: headers that all packets share, and the next PSN.
#[derive(Debug, Clone)]
pub struct Requester {
    /// MACs, addresses, ports, QPN, P_Key, and the opcode's transport in its upper three bits.
    pub template: Packet,
    /// Path MTU, bytes.
    pub pmtu: usize,
    pub psn: u32,
    /// 0 RC, 1 UC, 3 UD.
    pub service: u8,
    /// UD: our Q_Key and QPN.
    pub deth: Deth,
}

impl Requester {
    /// The message's packets; AckReq on the last.
    pub fn message(&mut self, verb: Verb, payload: &[u8], solicited: bool) -> Vec<Packet> {
        let count = payload.len().div_ceil(self.pmtu).max(1);
        let mut packets = vec![];
        for number in 0..count {
            let (first, last) = (number == 0, number == count - 1);
            let end = payload.len().min((number + 1) * self.pmtu);
            let mut packet = self.template.clone();
            packet.payload = payload[number * self.pmtu..end].to_vec();
            packet.psn = self.psn;
            packet.ack_request = last && self.service == 0;
            packet.solicited = solicited && last;
            packet.deth = self.deth;
            let write = matches!(verb, Verb::Write { .. } | Verb::WriteImm { .. });
            let base = match (first, last, write) {
                (true, false, false) => 0x00,
                (false, false, false) => 0x01,
                (false, true, false) => 0x02,
                (true, true, false) => 0x04,
                (true, false, true) => 0x06,
                (false, false, true) => 0x07,
                (false, true, true) => 0x08,
                (true, true, true) => 0x0a,
            };
            let variant = match verb {
                Verb::SendImm(immediate) | Verb::WriteImm { immediate, .. } if last => {
                    packet.immediate = immediate;
                    1
                }
                Verb::SendInvalidate(rkey) if last => {
                    packet.invalidate_rkey = rkey;
                    // 0x16 and 0x17 stand apart.
                    if first {
                        0x17 - 0x04
                    } else {
                        0x16 - 0x02
                    }
                }
                _ => 0,
            };
            packet.opcode = self.service << 5 | (base + variant);
            if let Verb::Write { virtual_address, rkey } | Verb::WriteImm { virtual_address, rkey, .. } = verb {
                packet.reth = Reth {
                    virtual_address,
                    rkey,
                    length: payload.len() as u32,
                };
            }
            self.psn = (self.psn + 1) & 0xff_ffff;
            packets.push(packet);
        }
        packets
    }
}
