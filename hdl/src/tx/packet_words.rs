// SPDX-License-Identifier: MIT OR Apache-2.0
//! Forms a packet's words and the checksum's terms.
//!
//! ```text
//! row or packet word, our MAC, our IP, ACK ─► pick (registered one step ahead) ─► constants and moved bytes of the step ─► byte order ─┬─► word
//!                                                                                       payload, bytes behind its end zero ─┘
//! row, our IP ─► term of the checksum
//! ```
//!
//! What is sent: DF set, ID 0 (R15; RFC 6864 allows it for an atomic datagram), flow label 0, UDP checksum 0 also on IPv6 (R16; RoCEv2's ICRC stands in
//! its place), MigReq 1 (R14), FECN and reserved bits 0 and BECN a CNP's only (R13), pad bytes zero (R5). Extension headers pass unchanged (R37, R38, R43).
//! Combinational but for the selects, which are registered one step ahead.

use super::{AckJob, BuildStep};
use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

/// Words from the UDP header to the ICRC without those between: UDP 2, BTH 3, ICRC 1 (R7).
const UDP_LENGTH: u64 = 6;
/// And from the IPv4 header.
const IP_LENGTH: u64 = UDP_LENGTH + 5;
const UDP_PROTOCOL: u64 = 17;
const ROCE_PORT: u64 = 4791;
const MIG_REQ: u64 = 0x40;
const ETHERTYPE_IPV4: u64 = 0x0800;
const ETHERTYPE_IPV6: u64 = 0x86dd;
const ETHERTYPE_VLAN: u64 = 0x8100;
/// Words 5 and 6 but for the ToS: version, IHL 5; ID 0, DF.
const IP_START: u64 = 0x4500_0000;
const IP_FLAGS: u64 = 0x4000;
const IPV6_START: u64 = 0x6000_0000;
/// The checksum's constant part; the words between BTH and ICRC come to it.
pub const CHECKSUM_START: u64 = (IP_START >> 16) + 4 * IP_LENGTH + IP_FLAGS + UDP_PROTOCOL;
/// A word number that no mask knows.
const NO_MASK: u64 = 15;

/// The word former.
#[derive(LogicBlock)]
pub struct PacketWords<const V: usize> {
    pub clock: Signal<In, Clock>,
    pub advance: Signal<In, Bit>,
    /// The step that comes next here, and the one that is here.
    pub soon: Signal<In, BuildStep>,
    pub now: Signal<In, BuildStep>,
    pub row: Signal<In, Bits<32>>,
    pub local_mac: Signal<In, Bits<48>>,
    pub source_ip: Signal<In, Bits<32>>,
    pub job: Signal<In, AckJob>,
    pub sum: Signal<In, Bits<16>>,
    /// The packet: from the ACK job; words between BTH and ICRC, pad bytes, BTH fields.
    pub acknowledge: Signal<In, Bit>,
    pub body: Signal<In, Bits<11>>,
    pub pad: Signal<In, Bits<2>>,
    pub opcode: Signal<In, Bits<8>>,
    pub solicited: Signal<In, Bit>,
    pub ack_request: Signal<In, Bit>,
    /// It is a CNP.
    pub notification: Signal<In, Bit>,
    /// The word is payload; the packet's last.
    pub raw: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub six: Signal<In, Bit>,
    pub vlan: Signal<In, Bit>,
    /// Byte 0 is the first on the wire.
    pub word: Signal<Out, Bits<32>>,
    /// Aligned number of the word where the mask must know it; else 15.
    pub number: Signal<Out, Bits<4>>,
    pub term: Signal<Out, Bits<16>>,
    pick: DFF<Bits<2>>,
    /// The term: our IP or the row, its upper half or the lower, which bytes of it, or the ToS.
    term_ip: DFF<Bit>,
    term_upper: DFF<Bit>,
    term_keep: DFF<Bits<2>>,
    term_tos: DFF<Bit>,
    half: Signal<Local, Bits<16>>,
    kept: Signal<Local, Bits<16>>,
    ethertype: Signal<Local, Bits<16>>,
    mac_word: Signal<Local, Bits<32>>,
    job_word: Signal<Local, Bits<32>>,
    inner: Signal<Local, Bits<32>>,
    value: Signal<Local, Bits<32>>,
    /// Words that IP or UDP count, one step ahead.
    length: DFF<Bits<11>>,
    keep: Signal<Local, Bits<32>>,
    pick_row: Constant<Bits<2>>,
    pick_mac: Constant<Bits<2>>,
    pick_ip: Constant<Bits<2>>,
    pick_job: Constant<Bits<2>>,
    no_mask: Constant<Bits<4>>,
    type_ipv4: Constant<Bits<16>>,
    type_ipv6: Constant<Bits<16>>,
    type_vlan: Constant<Bits<16>>,
    ip_start: Constant<Bits<32>>,
    ip_flags: Constant<Bits<32>>,
    ip_protocol: Constant<Bits<32>>,
    six_start: Constant<Bits<32>>,
    six_protocol: Constant<Bits<32>>,
    port: Constant<Bits<32>>,
    udp_length: Constant<Bits<11>>,
    ip_length: Constant<Bits<11>>,
    bth_start: Constant<Bits<32>>,
    ack_bit: Constant<Bits<32>>,
    bytes: [Constant<Bits<32>>; 4],
    upper_half: Constant<Bits<32>>,
    lower_bytes: Constant<Bits<32>>,
    keep_none: Constant<Bits<2>>,
    keep_high: Constant<Bits<2>>,
    keep_both: Constant<Bits<2>>,
    high_byte: Constant<Bits<16>>,
    low_byte: Constant<Bits<16>>,
}

impl<const V: usize> Default for PacketWords<V> {
    fn default() -> Self {
        // The kernel's offsets in row words.
        assert_eq!((qp::PKEY.low, qp::DEST_QPN.low, qp::TRAFFIC_CLASS.low), (16, 0, 24));
        assert_eq!(
            (qp::HOP_LIMIT.low, qp::UDP_SOURCE.low, qp::DEST_MAC_HIGH.low, qp::VLAN_TCI.low),
            (8, 16, 0, 16)
        );
        Self {
            clock: Default::default(),
            advance: Default::default(),
            soon: Default::default(),
            now: Default::default(),
            row: Default::default(),
            local_mac: Default::default(),
            source_ip: Default::default(),
            job: Default::default(),
            sum: Default::default(),
            acknowledge: Default::default(),
            body: Default::default(),
            pad: Default::default(),
            opcode: Default::default(),
            solicited: Default::default(),
            ack_request: Default::default(),
            notification: Default::default(),
            raw: Default::default(),
            last: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            word: Default::default(),
            number: Default::default(),
            term: Default::default(),
            pick: Default::default(),
            term_ip: Default::default(),
            term_upper: Default::default(),
            term_keep: Default::default(),
            term_tos: Default::default(),
            half: Default::default(),
            kept: Default::default(),
            ethertype: Default::default(),
            mac_word: Default::default(),
            job_word: Default::default(),
            inner: Default::default(),
            value: Default::default(),
            length: Default::default(),
            keep: Default::default(),
            pick_row: Constant::new(0u64.to_bits()),
            pick_mac: Constant::new(1u64.to_bits()),
            pick_ip: Constant::new(2u64.to_bits()),
            pick_job: Constant::new(3u64.to_bits()),
            no_mask: Constant::new(NO_MASK.to_bits()),
            type_ipv4: Constant::new(ETHERTYPE_IPV4.to_bits()),
            type_ipv6: Constant::new(ETHERTYPE_IPV6.to_bits()),
            type_vlan: Constant::new(ETHERTYPE_VLAN.to_bits()),
            ip_start: Constant::new(IP_START.to_bits()),
            ip_flags: Constant::new(IP_FLAGS.to_bits()),
            ip_protocol: Constant::new((UDP_PROTOCOL << 16).to_bits()),
            six_start: Constant::new(IPV6_START.to_bits()),
            six_protocol: Constant::new((UDP_PROTOCOL << 8).to_bits()),
            port: Constant::new(ROCE_PORT.to_bits()),
            udp_length: Constant::new(UDP_LENGTH.to_bits()),
            ip_length: Constant::new(IP_LENGTH.to_bits()),
            bth_start: Constant::new((MIG_REQ << 16).to_bits()),
            ack_bit: Constant::new((1u64 << 31).to_bits()),
            bytes: std::array::from_fn(|k| Constant::new((0xffu64 << (8 * k)).to_bits())),
            upper_half: Constant::new(0xffff_0000u64.to_bits()),
            lower_bytes: Constant::new(0x00ff_ffffu64.to_bits()),
            keep_none: Constant::new(0u64.to_bits()),
            keep_high: Constant::new(2u64.to_bits()),
            keep_both: Constant::new(3u64.to_bits()),
            high_byte: Constant::new(0xff00u64.to_bits()),
            low_byte: Constant::new(0x00ffu64.to_bits()),
        }
    }
}

impl<const V: usize> Logic for PacketWords<V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, length, pick, term_ip, term_upper, term_keep, term_tos);

        if self.advance.val() {
            // R7: lengths count the ICRC.
            self.length.d.next = self.body.val() + self.udp_length.val();
            if self.soon.val() == BuildStep::Four5 {
                self.length.d.next = self.body.val() + self.ip_length.val();
            }
            self.pick.d.next = self.pick_row.val();
            self.term_ip.d.next = (self.soon.val() == BuildStep::Eth0) | (self.soon.val() == BuildStep::Eth1);
            self.term_upper.d.next = (self.soon.val() == BuildStep::Eth1) | (self.soon.val() == BuildStep::Eth3);
            self.term_tos.d.next = self.soon.val() == BuildStep::Four5;
            self.term_keep.d.next = self.keep_none.val();
            match self.soon.val() {
                BuildStep::Sum => {
                    self.term_keep.d.next = self.keep_both.val();
                }
                BuildStep::Eth0 => {
                    self.term_keep.d.next = self.keep_both.val();
                }
                BuildStep::Eth1 => {
                    self.term_keep.d.next = self.keep_both.val();
                }
                BuildStep::Eth2 => {
                    // The TTL, as it stands in its row word.
                    self.term_keep.d.next = self.keep_high.val();
                }
                BuildStep::Eth3 => {
                    self.term_keep.d.next = self.keep_both.val();
                }
                _ => {}
            }
            match self.soon.val() {
                BuildStep::Eth2 => {
                    self.pick.d.next = self.pick_mac.val();
                }
                BuildStep::Eth3 => {
                    self.pick.d.next = self.pick_mac.val();
                }
                BuildStep::Four8 => {
                    self.pick.d.next = self.pick_ip.val();
                }
                BuildStep::Bth2 => {
                    if self.acknowledge.val() {
                        self.pick.d.next = self.pick_job.val();
                    }
                }
                BuildStep::Tail => {
                    if self.acknowledge.val() {
                        self.pick.d.next = self.pick_job.val();
                    }
                }
                _ => {}
            }
            for _i in 0..V {
                match self.soon.val() {
                    BuildStep::Six2 => {
                        self.pick.d.next = self.pick_ip.val();
                    }
                    BuildStep::Six3 => {
                        self.pick.d.next = self.pick_ip.val();
                    }
                    BuildStep::Six4 => {
                        self.pick.d.next = self.pick_ip.val();
                    }
                    BuildStep::Six5 => {
                        self.pick.d.next = self.pick_ip.val();
                    }
                    _ => {}
                }
            }
        }

        self.ethertype.next = self.type_ipv4.val();
        for _i in 0..V {
            if self.six.val() {
                self.ethertype.next = self.type_ipv6.val();
            }
        }
        self.mac_word.next = self.local_mac.val().get_bits::<32>(16);
        self.job_word.next = bit_cast::<32, 24>(self.job.val().psn);
        if self.now.val() == BuildStep::Tail {
            self.job_word.next = (bit_cast::<32, 8>(self.job.val().syndrome) << 24) | bit_cast::<32, 24>(self.job.val().msn);
        }
        if self.now.val() == BuildStep::Eth3 {
            self.mac_word.next =
                (bit_cast::<32, 16>(self.local_mac.val().get_bits::<16>(0)) << 16) | bit_cast::<32, 16>(self.ethertype.val());
            for _i in 0..V {
                if self.vlan.val() {
                    self.mac_word.next =
                        (bit_cast::<32, 16>(self.local_mac.val().get_bits::<16>(0)) << 16) | bit_cast::<32, 16>(self.type_vlan.val());
                }
            }
        }
        self.inner.next = self.row.val();
        if self.pick.q.val() == self.pick_mac.val() {
            self.inner.next = self.mac_word.val();
        }
        if self.pick.q.val() == self.pick_ip.val() {
            self.inner.next = self.source_ip.val();
        }
        if self.pick.q.val() == self.pick_job.val() {
            self.inner.next = self.job_word.val();
        }

        self.value.next = self.inner.val();
        self.half.next = self.row.val().get_bits::<16>(0);
        if self.term_upper.q.val() {
            self.half.next = self.row.val().get_bits::<16>(16);
        }
        if self.term_ip.q.val() {
            self.half.next = self.source_ip.val().get_bits::<16>(0);
            if self.term_upper.q.val() {
                self.half.next = self.source_ip.val().get_bits::<16>(16);
            }
        }
        self.kept.next = 0.into();
        if self.term_keep.q.val().get_bit(0) {
            self.kept.next = self.half.val() & self.low_byte.val();
        }
        if self.term_tos.q.val() {
            self.kept.next = bit_cast::<16, 8>(self.row.val().get_bits::<8>(24));
        }
        self.term.next = self.kept.val();
        if self.term_keep.q.val().get_bit(1) {
            self.term.next = self.kept.val() | (self.half.val() & self.high_byte.val());
        }

        self.number.next = self.no_mask.val();
        match self.now.val() {
            BuildStep::Four5 => {
                self.value.next = self.ip_start.val()
                    | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(24)) << 16)
                    | (bit_cast::<32, 11>(self.length.q.val()) << 2);
                self.number.next = 5.into();
            }
            BuildStep::Four6 => {
                // R15: DF set.
                self.value.next = self.ip_flags.val();
            }
            BuildStep::Four7 => {
                self.value.next = self.ip_protocol.val()
                    | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(8)) << 24)
                    | bit_cast::<32, 16>(!self.sum.val());
                self.number.next = 7.into();
            }
            BuildStep::Udp0 => {
                // R17: the source port is the QP's.
                self.value.next = self.port.val() | (self.inner.val() & self.upper_half.val());
            }
            BuildStep::Udp1 => {
                self.value.next = bit_cast::<32, 11>(self.length.q.val()) << 18;
                self.number.next = 11.into();
            }
            BuildStep::Bth0 => {
                self.value.next = self.bth_start.val()
                    | (bit_cast::<32, 8>(self.opcode.val()) << 24)
                    | (bit_cast::<32, 1>(self.solicited.val().into()) << 23)
                    | (bit_cast::<32, 2>(self.pad.val()) << 20)
                    | bit_cast::<32, 16>(self.row.val().get_bits::<16>(16));
            }
            BuildStep::Bth1 => {
                self.value.next = (self.inner.val() & self.lower_bytes.val()) | (bit_cast::<32, 1>(self.notification.val().into()) << 30);
                self.number.next = 13.into();
            }
            BuildStep::Bth2 => {
                self.value.next = self.inner.val() & self.lower_bytes.val();
                if self.ack_request.val() {
                    self.value.next = (self.inner.val() & self.lower_bytes.val()) | self.ack_bit.val();
                }
            }
            _ => {}
        }
        for _i in 0..V {
            match self.now.val() {
                BuildStep::Eth4 => {
                    self.value.next = (self.inner.val() & self.upper_half.val()) | bit_cast::<32, 16>(self.ethertype.val());
                }
                BuildStep::Six0 => {
                    self.value.next = self.six_start.val() | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(24)) << 20);
                    self.number.next = 0.into();
                }
                BuildStep::Six1 => {
                    self.value.next = self.six_protocol.val()
                        | (bit_cast::<32, 11>(self.length.q.val()) << 18)
                        | bit_cast::<32, 8>(self.row.val().get_bits::<8>(8));
                    self.number.next = 1.into();
                }
                _ => {}
            }
        }
        // R5: what stands behind the payload's end is zero.
        self.keep.next = self.bytes[0].val() | self.bytes[1].val() | self.bytes[2].val() | self.bytes[3].val();
        if self.last.val() {
            match self.pad.val().index() {
                1 => {
                    self.keep.next = self.bytes[0].val() | self.bytes[1].val() | self.bytes[2].val();
                }
                2 => {
                    self.keep.next = self.bytes[0].val() | self.bytes[1].val();
                }
                3 => {
                    self.keep.next = self.bytes[0].val();
                }
                _ => {}
            }
        }
        self.word.next = bit_cast::<32, 8>(self.value.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(0)) << 24);
        if self.raw.val() {
            self.word.next = self.row.val() & self.keep.val();
        }
    }

    crate::block_name!();
}
