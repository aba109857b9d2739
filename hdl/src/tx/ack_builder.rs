// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds an ACKNOWLEDGE packet, one 32-bit word a cycle, with its Ethernet header before it.
//!
//! ```text
//! step ─► row word address ─► row copy ─► (row register, W = 64) ─► word mux ─► word register ─► gearbox
//!   Look Sum | Eth0 Eth1 Eth2 Eth3 (Eth4) | words 0-9 (IPv6) or 5-9 (IPv4) | Udp0 Udp1 Bth0 Bth1 Bth2 Aeth
//!            two bytes of nothing, MACs,    aligned words 10-15 ─────────────►
//!            (tag), EtherType
//! ```
//!
//! The IPv4 checksum is summed in halves on the way, before word 7 needs it: K, destination low, source low, source high, TTL, destination high, ToS.
//!
//! W = 64 (`L` = 2): one pass; words go to frame and ICRC at once; no stall inside a frame (the store has room). 18 cycles an IPv4 packet.
//! W = 32 (`L` = 1): two passes, the first for the ICRC, the second for the frame, which may stall: no store is needed. 37 cycles.
//!
//! What is sent: DF set, ID 0 (R15; RFC 6864 allows it for an atomic datagram), flow label 0, UDP checksum 0 also on IPv6 (R16; RoCEv2's ICRC stands in
//! its place), MigReq 1 (R14), FECN, BECN and reserved bits 0 (R13), no pad (R5). Syndrome, PSN and MSN pass unchanged (R37, R38, R43).
//! Only RC answers: a job for a QP of another service is taken and not sent. Limits: `V` 0 knows IPv4, untagged, GID 0 only.

use super::AckJob;
use rust_hdl::prelude::*;
use verbena_spec::counters;
use verbena_spec::layout::qp;

/// Bytes from the UDP header to the ICRC: UDP 8, BTH 12, AETH 4, ICRC 4 (R7).
const UDP_LENGTH: u64 = 28;
/// And from the IPv4 header.
const IP_LENGTH: u64 = UDP_LENGTH + 20;
const UDP_PROTOCOL: u64 = 17;
const ROCE_PORT: u64 = 4791;
const ACKNOWLEDGE: u64 = 0x11;
const MIG_REQ: u64 = 0x40;
const ETHERTYPE_IPV4: u64 = 0x0800;
const ETHERTYPE_IPV6: u64 = 0x86dd;
const ETHERTYPE_VLAN: u64 = 0x8100;
/// Words 5 and 6 but for the ToS: version, IHL 5, length; ID 0, DF.
const IP_START: u64 = 0x4500_0000 | IP_LENGTH;
const IP_FLAGS: u64 = 0x4000;
/// The checksum's constant part.
const CHECKSUM_START: u64 = (IP_START >> 16) + IP_LENGTH + IP_FLAGS + UDP_PROTOCOL;

/// What the builder is about: the next word of the packet.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BuildStep {
    Look,
    Sum,
    Eth0,
    Eth1,
    Eth2,
    Eth3,
    Eth4,
    Six0,
    Six1,
    Six2,
    Six3,
    Six4,
    Six5,
    Six6,
    Six7,
    Six8,
    Six9,
    Four5,
    Four6,
    Four7,
    Four8,
    Four9,
    Udp0,
    Udp1,
    Bth0,
    Bth1,
    Bth2,
    Aeth,
}

/// The builder; `L = W / 32` chooses the form, `V` 1 adds IPv6, 802.1Q and GIDs 1-3.
#[derive(LogicBlock)]
pub struct AckBuilder<const L: usize, const V: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    /// A packet may begin: the store has room for it.
    pub room: Signal<In, Bit>,
    /// Words of the frame are taken (W = 32).
    pub advance: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub gid: Signal<In, Bits<512>>,
    /// Row copy; data a cycle later.
    pub read_enable: Signal<Out, Bit>,
    pub read_index: Signal<Out, Bits<12>>,
    pub read_word: Signal<Out, Bits<4>>,
    pub read_data: Signal<In, Bits<32>>,
    pub word: Signal<Out, Bits<32>>,
    /// Aligned number of the word where the mask must know it; else 15.
    pub number: Signal<Out, Bits<4>>,
    /// The word belongs to the frame; is covered by the ICRC.
    pub word_frame: Signal<Out, Bit>,
    pub word_covered: Signal<Out, Bit>,
    pub word_first: Signal<Out, Bit>,
    /// With the first word: its place is in lane 1.
    pub word_odd: Signal<Out, Bit>,
    pub word_covered_first: Signal<Out, Bit>,
    pub word_last: Signal<Out, Bit>,
    pub ipv6: Signal<Out, Bit>,
    /// A frame is begun; may leave the store, which will not run empty then.
    pub starting: Signal<Out, Bit>,
    pub permit: Signal<Out, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,

    step: DFF<BuildStep>,
    second: DFF<Bit>,
    busy: DFF<Bit>,
    /// Step whose row word is in the RAM's output (W = 64); step whose word is formed now.
    middle: DFF<BuildStep>,
    now: DFF<BuildStep>,
    now_second: DFF<Bit>,
    middle_row: DFF<Bits<32>>,
    held: DFF<AckJob>,
    answers: DFF<Bit>,
    six: DFF<Bit>,
    vlan: DFF<Bit>,
    gid_index: DFF<Bits<2>>,
    source: DFF<Bits<32>>,
    sum: DFF<Bits<16>>,
    carry: DFF<Bit>,
    word_reg: DFF<Bits<32>>,
    number_reg: DFF<Bits<4>>,
    frame_reg: DFF<Bit>,
    covered_reg: DFF<Bit>,
    first_reg: DFF<Bit>,
    odd_reg: DFF<Bit>,
    covered_first_reg: DFF<Bit>,
    last_reg: DFF<Bit>,
    permit_reg: DFF<Bit>,
    event_due: DFF<Bit>,
    code: DFF<Bits<6>>,

    start: Signal<Local, Bit>,
    soon: Signal<Local, BuildStep>,
    row: Signal<Local, Bits<32>>,
    job: Signal<Local, AckJob>,
    source_ip: Signal<Local, Bits<32>>,
    gid_entry: Signal<Local, Bits<128>>,
    term: Signal<Local, Bits<16>>,
    total: Signal<Local, Bits<18>>,
    ethertype: Signal<Local, Bits<16>>,
    value: Signal<Local, Bits<32>>,
    emit: Signal<Local, Bit>,
    number_next: Signal<Local, Bits<4>>,
    kind: Signal<Local, Bits<2>>,
    covered: Signal<Local, Bit>,

    wide: Constant<Bit>,
    extended: Constant<Bit>,
    row_flags: Constant<Bits<4>>,
    row_pkey: Constant<Bits<4>>,
    row_dest_qpn: Constant<Bits<4>>,
    row_hop_limit: Constant<Bits<4>>,
    row_mac_low: Constant<Bits<4>>,
    row_mac_high: Constant<Bits<4>>,
    row_ip0: Constant<Bits<4>>,
    row_ip1: Constant<Bits<4>>,
    row_ip2: Constant<Bits<4>>,
    row_ip3: Constant<Bits<4>>,
    no_mask: Constant<Bits<4>>,
    rc: Constant<Bits<3>>,
    type_ipv4: Constant<Bits<16>>,
    type_ipv6: Constant<Bits<16>>,
    type_vlan: Constant<Bits<16>>,
    ip_start: Constant<Bits<32>>,
    ip_flags: Constant<Bits<32>>,
    ip_protocol: Constant<Bits<32>>,
    six_start: Constant<Bits<32>>,
    six_length: Constant<Bits<32>>,
    checksum_start: Constant<Bits<16>>,
    port: Constant<Bits<32>>,
    udp_length: Constant<Bits<32>>,
    bth_start: Constant<Bits<32>>,
    kind_ack: Constant<Bits<2>>,
    kind_rnr: Constant<Bits<2>>,
    tx_ack: Constant<Bits<6>>,
    tx_rnr: Constant<Bits<6>>,
    tx_nak: Constant<Bits<6>>,
}

impl<const L: usize, const V: usize> Default for AckBuilder<L, V> {
    fn default() -> Self {
        assert!((L == 1 || L == 2) && V <= 1, "AckBuilder: L 1 or 2, V 0 or 1");
        // The kernel's offsets in row words and its NAK codes.
        assert_eq!((qp::SERVICE.low, qp::IPV6.low, qp::VLAN.low, qp::GID_INDEX.low), (0, 9, 10, 11));
        assert_eq!((qp::PKEY.low, qp::DEST_QPN.low, qp::TRAFFIC_CLASS.low), (16, 0, 24));
        assert_eq!(
            (qp::HOP_LIMIT.low, qp::UDP_SOURCE.low, qp::DEST_MAC_HIGH.low, qp::VLAN_TCI.low),
            (8, 16, 0, 16)
        );
        assert_eq!(counters::TX_NAK_OPERATION, counters::TX_NAK_SEQUENCE + 3);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            room: Default::default(),
            advance: Default::default(),
            local_mac: Default::default(),
            gid: Default::default(),
            read_enable: Default::default(),
            read_index: Default::default(),
            read_word: Default::default(),
            read_data: Default::default(),
            word: Default::default(),
            number: Default::default(),
            word_frame: Default::default(),
            word_covered: Default::default(),
            word_first: Default::default(),
            word_odd: Default::default(),
            word_covered_first: Default::default(),
            word_last: Default::default(),
            ipv6: Default::default(),
            starting: Default::default(),
            permit: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            step: Default::default(),
            second: Default::default(),
            busy: Default::default(),
            middle: Default::default(),
            now: Default::default(),
            now_second: Default::default(),
            middle_row: Default::default(),
            held: Default::default(),
            answers: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            gid_index: Default::default(),
            source: Default::default(),
            sum: Default::default(),
            carry: Default::default(),
            word_reg: Default::default(),
            number_reg: Default::default(),
            frame_reg: Default::default(),
            covered_reg: Default::default(),
            first_reg: Default::default(),
            odd_reg: Default::default(),
            covered_first_reg: Default::default(),
            last_reg: Default::default(),
            permit_reg: Default::default(),
            event_due: Default::default(),
            code: Default::default(),
            start: Default::default(),
            soon: Default::default(),
            row: Default::default(),
            job: Default::default(),
            source_ip: Default::default(),
            gid_entry: Default::default(),
            term: Default::default(),
            total: Default::default(),
            ethertype: Default::default(),
            value: Default::default(),
            emit: Default::default(),
            number_next: Default::default(),
            kind: Default::default(),
            covered: Default::default(),
            wide: Constant::new(L == 2),
            extended: Constant::new(V == 1),
            row_flags: Constant::new((qp::SERVICE.word as u64).to_bits()),
            row_pkey: Constant::new((qp::PKEY.word as u64).to_bits()),
            row_dest_qpn: Constant::new((qp::DEST_QPN.word as u64).to_bits()),
            row_hop_limit: Constant::new((qp::HOP_LIMIT.word as u64).to_bits()),
            row_mac_low: Constant::new((qp::DEST_MAC_LOW.word as u64).to_bits()),
            row_mac_high: Constant::new((qp::DEST_MAC_HIGH.word as u64).to_bits()),
            row_ip0: Constant::new((qp::DEST_IP_0.word as u64).to_bits()),
            row_ip1: Constant::new((qp::DEST_IP_1.word as u64).to_bits()),
            row_ip2: Constant::new((qp::DEST_IP_2.word as u64).to_bits()),
            row_ip3: Constant::new((qp::DEST_IP_3.word as u64).to_bits()),
            no_mask: Constant::new(0xfu64.to_bits()),
            rc: Constant::new(0u64.to_bits()),
            type_ipv4: Constant::new(ETHERTYPE_IPV4.to_bits()),
            type_ipv6: Constant::new(ETHERTYPE_IPV6.to_bits()),
            type_vlan: Constant::new(ETHERTYPE_VLAN.to_bits()),
            ip_start: Constant::new(IP_START.to_bits()),
            ip_flags: Constant::new(IP_FLAGS.to_bits()),
            ip_protocol: Constant::new((UDP_PROTOCOL << 16).to_bits()),
            six_start: Constant::new(0x6000_0000u64.to_bits()),
            six_length: Constant::new((UDP_LENGTH << 16 | UDP_PROTOCOL << 8).to_bits()),
            checksum_start: Constant::new(CHECKSUM_START.to_bits()),
            port: Constant::new(ROCE_PORT.to_bits()),
            udp_length: Constant::new((UDP_LENGTH << 16).to_bits()),
            bth_start: Constant::new((ACKNOWLEDGE << 24 | MIG_REQ << 16).to_bits()),
            kind_ack: Constant::new(0u64.to_bits()),
            kind_rnr: Constant::new(1u64.to_bits()),
            tx_ack: Constant::new((counters::TX_ACK as u64).to_bits()),
            tx_rnr: Constant::new((counters::TX_RNR as u64).to_bits()),
            tx_nak: Constant::new((counters::TX_NAK_SEQUENCE as u64).to_bits()),
        }
    }
}

impl<const L: usize, const V: usize> Logic for AckBuilder<L, V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            second,
            busy,
            middle,
            now,
            now_second,
            middle_row,
            held,
            answers,
            six,
            vlan,
            gid_index,
            source,
            sum,
            carry,
            word_reg,
            number_reg,
            frame_reg,
            covered_reg,
            first_reg,
            odd_reg,
            covered_first_reg,
            last_reg,
            permit_reg,
            event_due,
            code
        );

        // W = 64 takes the job at the start, W = 32 leaves it with its source until the end.
        self.start.next = (self.step.q.val() == BuildStep::Look)
            & self.ack_valid.val()
            & self.room.val()
            & !self.busy.q.val()
            & !self.event_due.q.val()
            & self.advance.val();
        self.job.next = self.ack.val();
        self.ack_ready.next = self.advance.val()
            & (((self.now.q.val() == BuildStep::Aeth) & self.now_second.q.val())
                | ((self.step.q.val() == BuildStep::Eth3) & !self.answers.q.val()));
        if self.wide.val() {
            self.job.next = self.held.q.val();
            self.ack_ready.next = self.start.val();
        }

        // Stage A: the step and the row word that it needs.
        self.read_enable.next = self.advance.val();
        self.read_index.next = self.job.val().qp_index;
        self.read_word.next = self.row_flags.val();
        self.starting.next = false;
        self.permit_reg.d.next = false;
        if self.event_due.q.val() & self.event_ready.val() {
            self.event_due.d.next = false;
        }
        if self.advance.val() {
            self.busy.d.next = self.step.q.val() != BuildStep::Look;
        }
        match self.step.q.val() {
            BuildStep::Look => {
                self.read_index.next = self.ack.val().qp_index;
                if self.start.val() {
                    self.held.d.next = self.ack.val();
                    self.step.d.next = BuildStep::Sum;
                }
            }
            BuildStep::Sum => {
                self.read_word.next = self.row_ip3.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Eth0;
                }
            }
            BuildStep::Eth0 => {
                self.read_word.next = self.row_mac_high.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Eth1;
                }
            }
            BuildStep::Eth1 => {
                self.read_word.next = self.row_mac_low.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Eth2;
                }
            }
            BuildStep::Eth2 => {
                self.read_word.next = self.row_hop_limit.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Eth3;
                }
            }
            BuildStep::Eth3 => {
                self.read_word.next = self.row_ip3.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Four5;
                    if self.six.q.val() {
                        self.step.d.next = BuildStep::Six0;
                    }
                    if self.vlan.q.val() {
                        self.step.d.next = BuildStep::Eth4;
                    }
                    // Only RC answers.
                    if !self.answers.q.val() {
                        self.step.d.next = BuildStep::Look;
                    }
                    if self.answers.q.val() & !self.second.q.val() {
                        self.event_due.d.next = true;
                        self.starting.next = true;
                    }
                }
            }
            BuildStep::Four5 => {
                self.read_word.next = self.row_dest_qpn.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Four6;
                }
            }
            BuildStep::Four6 => {
                if self.advance.val() {
                    self.step.d.next = BuildStep::Four7;
                }
            }
            BuildStep::Four7 => {
                self.read_word.next = self.row_hop_limit.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Four8;
                }
            }
            BuildStep::Four8 => {
                if self.advance.val() {
                    self.step.d.next = BuildStep::Four9;
                }
            }
            BuildStep::Four9 => {
                self.read_word.next = self.row_ip3.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Udp0;
                }
            }
            BuildStep::Udp0 => {
                self.read_word.next = self.row_hop_limit.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Udp1;
                }
            }
            BuildStep::Udp1 => {
                if self.advance.val() {
                    self.step.d.next = BuildStep::Bth0;
                }
            }
            BuildStep::Bth0 => {
                self.read_word.next = self.row_pkey.val();
                if self.advance.val() {
                    self.step.d.next = BuildStep::Bth1;
                }
            }
            BuildStep::Bth1 => {
                self.read_word.next = self.row_dest_qpn.val();
                self.permit_reg.d.next = true;
                if self.advance.val() {
                    self.step.d.next = BuildStep::Bth2;
                }
            }
            BuildStep::Bth2 => {
                if self.advance.val() {
                    self.step.d.next = BuildStep::Aeth;
                }
            }
            BuildStep::Aeth => {
                if self.advance.val() {
                    self.second.d.next = !self.second.q.val() & !self.wide.val();
                    self.step.d.next = BuildStep::Look;
                    if !self.second.q.val() & !self.wide.val() {
                        self.step.d.next = BuildStep::Eth0;
                    }
                }
            }
            _ => {
                self.step.d.next = BuildStep::Look;
            }
        }
        for _i in 0..V {
            match self.step.q.val() {
                BuildStep::Eth4 => {
                    self.read_word.next = self.row_mac_high.val();
                    self.step.d.next = BuildStep::Eth4;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Four5;
                        if self.six.q.val() {
                            self.step.d.next = BuildStep::Six0;
                        }
                    }
                }
                BuildStep::Six0 => {
                    self.read_word.next = self.row_dest_qpn.val();
                    self.step.d.next = BuildStep::Six0;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six1;
                    }
                }
                BuildStep::Six1 => {
                    self.read_word.next = self.row_hop_limit.val();
                    self.step.d.next = BuildStep::Six1;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six2;
                    }
                }
                BuildStep::Six2 => {
                    self.step.d.next = BuildStep::Six2;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six3;
                    }
                }
                BuildStep::Six3 => {
                    self.step.d.next = BuildStep::Six3;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six4;
                    }
                }
                BuildStep::Six4 => {
                    self.step.d.next = BuildStep::Six4;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six5;
                    }
                }
                BuildStep::Six5 => {
                    self.step.d.next = BuildStep::Six5;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six6;
                    }
                }
                BuildStep::Six6 => {
                    self.read_word.next = self.row_ip0.val();
                    self.step.d.next = BuildStep::Six6;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six7;
                    }
                }
                BuildStep::Six7 => {
                    self.read_word.next = self.row_ip1.val();
                    self.step.d.next = BuildStep::Six7;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six8;
                    }
                }
                BuildStep::Six8 => {
                    self.read_word.next = self.row_ip2.val();
                    self.step.d.next = BuildStep::Six8;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Six9;
                    }
                }
                BuildStep::Six9 => {
                    self.read_word.next = self.row_ip3.val();
                    self.step.d.next = BuildStep::Six9;
                    if self.advance.val() {
                        self.step.d.next = BuildStep::Udp0;
                    }
                }
                _ => {}
            }
        }

        // The way of the row word to the word mux.
        self.soon.next = self.step.q.val();
        self.row.next = self.read_data.val();
        if self.wide.val() {
            self.soon.next = self.middle.q.val();
            self.row.next = self.middle_row.q.val();
        }
        self.middle_row.d.next = self.read_data.val();
        if self.advance.val() {
            self.middle.d.next = self.step.q.val();
            self.now.d.next = self.soon.val();
            self.now_second.d.next = self.second.q.val();
        }

        // Our IP address: a word of the GID, chosen one stage ahead.
        self.source_ip.next = self.gid.val().get_bits::<32>(0);
        self.gid_entry.next = self.gid.val().get_bits::<128>(0);
        for _i in 0..V {
            match self.gid_index.q.val().index() {
                1 => {
                    self.gid_entry.next = self.gid.val().get_bits::<128>(128);
                }
                2 => {
                    self.gid_entry.next = self.gid.val().get_bits::<128>(256);
                }
                3 => {
                    self.gid_entry.next = self.gid.val().get_bits::<128>(384);
                }
                _ => {}
            }
            if self.advance.val() {
                self.source.d.next = self.gid_entry.val().get_bits::<32>(0);
                match self.soon.val() {
                    BuildStep::Six2 => {
                        self.source.d.next = self.gid_entry.val().get_bits::<32>(96);
                    }
                    BuildStep::Six3 => {
                        self.source.d.next = self.gid_entry.val().get_bits::<32>(64);
                    }
                    BuildStep::Six4 => {
                        self.source.d.next = self.gid_entry.val().get_bits::<32>(32);
                    }
                    _ => {}
                }
            }
            self.source_ip.next = self.source.q.val();
        }

        // Stage B: the word as a big-endian number, and the checksum's next term.
        self.ethertype.next = self.type_ipv4.val();
        if self.six.q.val() {
            self.ethertype.next = self.type_ipv6.val();
        }
        self.value.next = self.row.val();
        self.term.next = 0.into();
        self.emit.next = true;
        self.covered.next = true;
        self.number_next.next = self.no_mask.val();
        match self.now.q.val() {
            BuildStep::Look => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Sum => {
                self.emit.next = false;
                self.covered.next = false;
                self.term.next = self.row.val().get_bits::<16>(0);
            }
            BuildStep::Eth0 => {
                self.covered.next = false;
                self.term.next = self.source_ip.val().get_bits::<16>(0);
            }
            BuildStep::Eth1 => {
                self.covered.next = false;
                self.term.next = self.source_ip.val().get_bits::<16>(16);
            }
            BuildStep::Eth2 => {
                self.covered.next = false;
                self.value.next = self.local_mac.val().get_bits::<32>(16);
                self.term.next = bit_cast::<16, 8>(self.row.val().get_bits::<8>(8)) << 8;
            }
            BuildStep::Eth3 => {
                self.covered.next = false;
                self.value.next =
                    (bit_cast::<32, 16>(self.local_mac.val().get_bits::<16>(0)) << 16) | bit_cast::<32, 16>(self.ethertype.val());
                if self.vlan.q.val() {
                    self.value.next =
                        (bit_cast::<32, 16>(self.local_mac.val().get_bits::<16>(0)) << 16) | bit_cast::<32, 16>(self.type_vlan.val());
                }
                self.term.next = self.row.val().get_bits::<16>(16);
            }
            BuildStep::Four5 => {
                self.value.next = self.ip_start.val() | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(24)) << 16);
                self.term.next = bit_cast::<16, 8>(self.row.val().get_bits::<8>(24));
                self.number_next.next = 5.into();
            }
            BuildStep::Four6 => {
                // R15: DF set.
                self.value.next = self.ip_flags.val();
            }
            BuildStep::Four7 => {
                self.value.next = self.ip_protocol.val()
                    | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(8)) << 24)
                    | bit_cast::<32, 16>(!self.sum.q.val());
                self.number_next.next = 7.into();
            }
            BuildStep::Four8 => {
                self.value.next = self.source_ip.val();
            }
            BuildStep::Udp0 => {
                // R17: the source port is the QP's.
                self.value.next = self.port.val() | (bit_cast::<32, 16>(self.row.val().get_bits::<16>(16)) << 16);
            }
            BuildStep::Udp1 => {
                self.value.next = self.udp_length.val();
                self.number_next.next = 11.into();
            }
            BuildStep::Bth0 => {
                self.value.next = self.bth_start.val() | bit_cast::<32, 16>(self.row.val().get_bits::<16>(16));
            }
            BuildStep::Bth1 => {
                self.value.next = bit_cast::<32, 24>(self.row.val().get_bits::<24>(0));
                self.number_next.next = 13.into();
            }
            BuildStep::Bth2 => {
                self.value.next = bit_cast::<32, 24>(self.job.val().psn);
            }
            BuildStep::Aeth => {
                self.value.next = (bit_cast::<32, 8>(self.job.val().syndrome) << 24) | bit_cast::<32, 24>(self.job.val().msn);
            }
            _ => {}
        }
        for _i in 0..V {
            match self.now.q.val() {
                BuildStep::Eth4 => {
                    self.covered.next = false;
                    self.value.next =
                        (bit_cast::<32, 16>(self.row.val().get_bits::<16>(16)) << 16) | bit_cast::<32, 16>(self.ethertype.val());
                }
                BuildStep::Six0 => {
                    self.value.next = self.six_start.val() | (bit_cast::<32, 8>(self.row.val().get_bits::<8>(24)) << 20);
                    self.number_next.next = 0.into();
                }
                BuildStep::Six1 => {
                    self.value.next = self.six_length.val() | bit_cast::<32, 8>(self.row.val().get_bits::<8>(8));
                    self.number_next.next = 1.into();
                }
                BuildStep::Six2 => {
                    self.value.next = self.source_ip.val();
                }
                BuildStep::Six3 => {
                    self.value.next = self.source_ip.val();
                }
                BuildStep::Six4 => {
                    self.value.next = self.source_ip.val();
                }
                BuildStep::Six5 => {
                    self.value.next = self.source_ip.val();
                }
                _ => {}
            }
        }

        // One's complement sum: the carry comes back with the next term. The last term is below 256, so one more cycle settles it.
        self.total.next = ((bit_cast::<18, 16>(self.sum.q.val()) << 1) | 1)
            + ((bit_cast::<18, 16>(self.term.val()) << 1) | bit_cast::<18, 1>(self.carry.q.val().into()));
        if self.now.q.val() == BuildStep::Look {
            self.sum.d.next = self.checksum_start.val();
            self.carry.d.next = false;
            self.answers.d.next = self.row.val().get_bits::<3>(0) == self.rc.val();
            if self.extended.val() {
                self.six.d.next = self.row.val().get_bit(9);
                self.vlan.d.next = self.row.val().get_bit(10);
                self.gid_index.d.next = self.row.val().get_bits::<2>(11);
            }
        } else {
            if self.advance.val() & !self.now_second.q.val() {
                self.sum.d.next = self.total.val().get_bits::<16>(1);
                self.carry.d.next = self.total.val().get_bit(17);
            }
        }

        // The word register; byte 0 of a word is the first on the wire.
        if self.advance.val() {
            self.word_reg.d.next = bit_cast::<32, 8>(self.value.val().get_bits::<8>(24))
                | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(16)) << 8)
                | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(8)) << 16)
                | (bit_cast::<32, 8>(self.value.val().get_bits::<8>(0)) << 24);
            self.number_reg.d.next = self.number_next.val();
            self.frame_reg.d.next = self.emit.val() & self.answers.q.val() & (self.wide.val() | self.now_second.q.val());
            self.covered_reg.d.next = self.covered.val() & self.answers.q.val() & !self.now_second.q.val();
            self.first_reg.d.next = self.now.q.val() == BuildStep::Eth0;
            self.odd_reg.d.next = self.six.q.val() == self.vlan.q.val();
            self.covered_first_reg.d.next = (self.now.q.val() == BuildStep::Four5) | (self.now.q.val() == BuildStep::Six0);
            self.last_reg.d.next = self.now.q.val() == BuildStep::Aeth;
        }
        self.word.next = self.word_reg.q.val();
        self.number.next = self.number_reg.q.val();
        self.word_frame.next = self.frame_reg.q.val();
        self.word_covered.next = self.covered_reg.q.val();
        self.word_first.next = self.first_reg.q.val();
        self.word_odd.next = self.odd_reg.q.val();
        self.word_covered_first.next = self.covered_first_reg.q.val();
        self.word_last.next = self.last_reg.q.val();
        self.ipv6.next = self.six.q.val();
        self.permit.next = self.permit_reg.q.val();

        // The event: one a frame, by the AETH syndrome.
        self.kind.next = self.job.val().syndrome.get_bits::<2>(5);
        if self.step.q.val() == BuildStep::Eth3 {
            if !self.second.q.val() {
                self.code.d.next = self.tx_nak.val() + bit_cast::<6, 2>(self.job.val().syndrome.get_bits::<2>(0));
                if self.kind.val() == self.kind_ack.val() {
                    self.code.d.next = self.tx_ack.val();
                }
                if self.kind.val() == self.kind_rnr.val() {
                    self.code.d.next = self.tx_rnr.val();
                }
            }
        }
        self.event_valid.next = self.event_due.q.val();
        self.event_code.next = self.code.q.val();

        if self.reset.val() {
            self.step.d.next = BuildStep::Look;
            self.middle.d.next = BuildStep::Look;
            self.now.d.next = BuildStep::Look;
            self.second.d.next = false;
            self.now_second.d.next = false;
            self.busy.d.next = false;
            self.frame_reg.d.next = false;
            self.covered_reg.d.next = false;
            self.permit_reg.d.next = false;
            self.event_due.d.next = false;
        }
    }

    crate::block_name!();
}
