// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of a packet's words, and the row word or packet word that each needs.
//!
//! ```text
//! Look ─► Sum ─► Eth0 ─► Eth1 ─► Eth2 ─► Eth3 ─┬───────────┬─► Four5 ... Four9 ─┬─► Udp0 ─► Udp1 ─► Bth0 ─► Bth1 ─► Bth2 ─┬─► Tail, n times ─┐
//!  ▲ │                                      │  └─► Eth4 ───┴─► Six0 ... Six9 ───┘                                        │                 │
//!  └─┘                                      └─► Look, where an ACK's QP isn't RC                                          │                 │
//!  Look ◄─────────────────────────────────────────────────────────────────────────────────────────────────────────────────┴─────────────────┘
//! ```
//!
//! One step a cycle while `advance`. `Tail` is extension headers, then inline payload, then (W = 32) payload from its FIFO. A step's row word is read in
//! its own cycle, and two words ahead of their place are read for the checksum only (`Sum`, `Eth2`, `Eth3`). The packet word is read at `Udp1` (word 1: opcode), `Bth2` (word 2:
//! PSN) and `Tail`. Where the address is in band (UD) every row word but the P_Key's comes from the packet. Limits: `V` 0 has no Eth4, no Six steps, no UD.

use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

/// The next word of the packet: `Eth` Ethernet header, `Six` IPv6 words 0-9, `Four` IPv4 words 5-9. `Pause` forms nothing.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum BuildStep {
    Look,
    Sum,
    Eth0,
    Eth1,
    Eth2,
    Eth3,
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
    Tail,
    Pause,
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
}

/// The sequencer; `L = W / 32`.
#[derive(LogicBlock)]
pub struct PacketSteps<const L: usize, const V: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// In Look: a packet begins.
    pub start: Signal<In, Bit>,
    /// In Sum: so many words follow its BTH, the first `extensions` of them extension headers.
    pub tail: Signal<In, Bits<11>>,
    pub extensions: Signal<In, Bits<4>>,
    pub advance: Signal<In, Bit>,
    /// At Udp1: not yet.
    pub stay: Signal<In, Bit>,
    /// The address is in band; in Look, of the packet that begins, and else known before the cycle.
    pub in_band: Signal<In, Bit>,
    pub kept_in_band: Signal<In, Bit>,
    /// From the row, known at Eth3: IPv6, tagged, to be sent.
    pub six: Signal<In, Bit>,
    pub vlan: Signal<In, Bit>,
    pub answers: Signal<In, Bit>,
    pub step: Signal<Out, BuildStep>,
    /// The step is Look: a register.
    pub looking: Signal<Out, Bit>,
    /// It will be Look, if the step is left.
    pub ending: Signal<Out, Bit>,
    /// Row words behind this step are the next packet's.
    pub rows_done: Signal<Out, Bit>,
    /// The step is the packet's last; is of payload.
    pub last: Signal<Out, Bit>,
    pub raw: Signal<Out, Bit>,
    pub read_word: Signal<Out, Bits<4>>,
    /// The step's word is the packet's, this one.
    pub read_packet: Signal<Out, Bit>,
    /// The same behind Look; doesn't depend on what begins.
    pub reading: Signal<Out, Bit>,
    pub packet_number: Signal<Out, Bits<5>>,
    /// One cycle: the packet will be sent; won't be.
    pub sent: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    /// One cycle, W = 64: the header may leave the store from the next but one on. Words are made one a cycle and leave two a cycle, so some may be missing.
    pub permit: Signal<Out, Bit>,
    state: DFF<BuildStep>,
    idle: DFF<Bit>,
    left: DFF<Bits<11>>,
    extensions_left: DFF<Bits<4>>,
    number: DFF<Bits<5>>,
    /// Words left with which the frame may begin: the more went before, the longer it lasts.
    enough: DFF<Bits<11>>,
    permitted: DFF<Bit>,
    permit_now: DFF<Bit>,
    after: Signal<Local, BuildStep>,
    ip: Signal<Local, BuildStep>,
    one_left: Signal<Local, Bit>,
    near: Signal<Local, Bit>,
    own: Signal<Local, Bit>,
    wide: Constant<Bit>,
    up_to_one: Constant<Bits<11>>,
    up_to_three: Constant<Bits<11>>,
    up_to_five: Constant<Bits<11>>,
    three: Constant<Bits<11>>,
    number_flags: Constant<Bits<5>>,
    number_psn: Constant<Bits<5>>,
    after_psn: Constant<Bits<5>>,
    after_address: Constant<Bits<5>>,
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
}

impl<const L: usize, const V: usize> Default for PacketSteps<L, V> {
    fn default() -> Self {
        assert!((L == 1 || L == 2) && V <= 1, "PacketSteps: L 1 or 2, V 0 or 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            tail: Default::default(),
            extensions: Default::default(),
            advance: Default::default(),
            stay: Default::default(),
            in_band: Default::default(),
            kept_in_band: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            answers: Default::default(),
            step: Default::default(),
            looking: Default::default(),
            ending: Default::default(),
            rows_done: Default::default(),
            last: Default::default(),
            raw: Default::default(),
            read_word: Default::default(),
            read_packet: Default::default(),
            reading: Default::default(),
            packet_number: Default::default(),
            sent: Default::default(),
            refused: Default::default(),
            permit: Default::default(),
            state: Default::default(),
            idle: Default::default(),
            left: Default::default(),
            extensions_left: Default::default(),
            number: Default::default(),
            enough: Default::default(),
            permitted: Default::default(),
            permit_now: Default::default(),
            after: Default::default(),
            ip: Default::default(),
            one_left: Default::default(),
            near: Default::default(),
            own: Default::default(),
            wide: Constant::new(L == 2),
            up_to_one: Constant::new(1u64.to_bits()),
            up_to_three: Constant::new(3u64.to_bits()),
            up_to_five: Constant::new(5u64.to_bits()),
            three: Constant::new(3u64.to_bits()),
            number_flags: Constant::new(1u64.to_bits()),
            number_psn: Constant::new(2u64.to_bits()),
            after_psn: Constant::new(3u64.to_bits()),
            after_address: Constant::new(11u64.to_bits()),
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
        }
    }
}

impl<const L: usize, const V: usize> Logic for PacketSteps<L, V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            idle,
            left,
            extensions_left,
            number,
            enough,
            permitted,
            permit_now
        );

        self.ip.next = BuildStep::Four5;
        if self.six.val() {
            self.ip.next = BuildStep::Six0;
        }
        self.after.next = self.state.q.val();
        self.read_word.next = self.row_flags.val();
        self.sent.next = false;
        self.refused.next = false;
        self.last.next = false;
        self.raw.next = false;
        self.own.next = false;
        self.near.next = false;
        self.one_left.next = self.left.q.val() == self.up_to_one.val();
        self.packet_number.next = self.number.q.val();
        match self.state.q.val() {
            BuildStep::Look => {
                self.permitted.d.next = false;
                if self.start.val() {
                    self.after.next = BuildStep::Sum;
                }
            }
            BuildStep::Sum => {
                self.read_word.next = self.row_ip3.val();
                self.after.next = BuildStep::Eth0;
                self.left.d.next = self.tail.val();
                self.extensions_left.d.next = self.extensions.val();
                self.number.d.next = self.after_psn.val();
                for _i in 0..V {
                    if self.in_band.val() {
                        self.number.d.next = self.after_address.val();
                    }
                }
            }
            BuildStep::Eth0 => {
                self.enough.d.next = self.up_to_five.val();
                if (self.left.q.val() >> 2).any() {
                    self.enough.d.next = (self.left.q.val() >> 1) + self.three.val();
                }
                self.read_word.next = self.row_mac_high.val();
                self.after.next = BuildStep::Eth1;
            }
            BuildStep::Eth1 => {
                self.read_word.next = self.row_mac_low.val();
                self.after.next = BuildStep::Eth2;
            }
            BuildStep::Eth2 => {
                self.read_word.next = self.row_hop_limit.val();
                self.after.next = BuildStep::Eth3;
            }
            BuildStep::Eth3 => {
                self.read_word.next = self.row_ip3.val();
                self.after.next = self.ip.val();
                if self.vlan.val() {
                    self.after.next = BuildStep::Eth4;
                }
                // Only RC answers.
                if !self.answers.val() {
                    self.after.next = BuildStep::Look;
                }
                self.sent.next = self.advance.val() & self.answers.val();
                self.refused.next = self.advance.val() & !self.answers.val();
            }
            BuildStep::Four5 => {
                self.read_word.next = self.row_dest_qpn.val();
                self.after.next = BuildStep::Four6;
            }
            BuildStep::Four6 => {
                self.after.next = BuildStep::Four7;
            }
            BuildStep::Four7 => {
                self.read_word.next = self.row_hop_limit.val();
                self.after.next = BuildStep::Four8;
            }
            BuildStep::Four8 => {
                self.after.next = BuildStep::Four9;
            }
            BuildStep::Four9 => {
                self.read_word.next = self.row_ip3.val();
                self.after.next = BuildStep::Udp0;
            }
            BuildStep::Udp0 => {
                self.read_word.next = self.row_hop_limit.val();
                self.after.next = BuildStep::Udp1;
            }
            BuildStep::Udp1 => {
                self.own.next = true;
                if !self.stay.val() {
                    self.after.next = BuildStep::Bth0;
                }
            }
            BuildStep::Bth0 => {
                self.read_word.next = self.row_pkey.val();
                self.after.next = BuildStep::Bth1;
                self.near.next = self.left.q.val() <= self.up_to_one.val();
            }
            BuildStep::Bth1 => {
                self.read_word.next = self.row_dest_qpn.val();
                self.after.next = BuildStep::Bth2;
                self.near.next = self.left.q.val() <= self.up_to_three.val();
            }
            BuildStep::Bth2 => {
                self.own.next = true;
                self.near.next = self.left.q.val() <= self.up_to_five.val();
                self.after.next = BuildStep::Tail;
                if !self.left.q.val().any() {
                    self.last.next = true;
                    self.after.next = BuildStep::Look;
                }
            }
            BuildStep::Tail => {
                self.own.next = true;
                self.near.next = self.left.q.val() <= self.enough.q.val();
                self.raw.next = !self.extensions_left.q.val().any();
                self.last.next = self.one_left.val();
                if self.one_left.val() {
                    self.after.next = BuildStep::Look;
                }
                if self.advance.val() {
                    self.left.d.next = self.left.q.val() - 1;
                    self.number.d.next = self.number.q.val() + 1;
                    if self.extensions_left.q.val().any() {
                        self.extensions_left.d.next = self.extensions_left.q.val() - 1;
                    }
                }
            }
            _ => {
                self.after.next = BuildStep::Look;
            }
        }
        for _i in 0..V {
            match self.state.q.val() {
                BuildStep::Eth4 => {
                    self.read_word.next = self.row_mac_high.val();
                    self.after.next = self.ip.val();
                }
                BuildStep::Six0 => {
                    self.read_word.next = self.row_dest_qpn.val();
                    self.after.next = BuildStep::Six1;
                }
                BuildStep::Six1 => {
                    self.read_word.next = self.row_hop_limit.val();
                    self.after.next = BuildStep::Six2;
                }
                BuildStep::Six2 => {
                    self.after.next = BuildStep::Six3;
                }
                BuildStep::Six3 => {
                    self.after.next = BuildStep::Six4;
                }
                BuildStep::Six4 => {
                    self.after.next = BuildStep::Six5;
                }
                BuildStep::Six5 => {
                    self.after.next = BuildStep::Six6;
                }
                BuildStep::Six6 => {
                    self.read_word.next = self.row_ip0.val();
                    self.after.next = BuildStep::Six7;
                }
                BuildStep::Six7 => {
                    self.read_word.next = self.row_ip1.val();
                    self.after.next = BuildStep::Six8;
                }
                BuildStep::Six8 => {
                    self.read_word.next = self.row_ip2.val();
                    self.after.next = BuildStep::Six9;
                }
                BuildStep::Six9 => {
                    self.read_word.next = self.row_ip3.val();
                    self.after.next = BuildStep::Udp0;
                }
                _ => {}
            }
        }
        if self.state.q.val() == BuildStep::Udp1 {
            self.packet_number.next = self.number_flags.val();
        }
        if self.state.q.val() == BuildStep::Bth2 {
            self.packet_number.next = self.number_psn.val();
        }
        self.read_packet.next = self.own.val();
        self.reading.next = self.own.val();
        // In band the row's words 2, 0 or 8, 9, 10, 12 to 15 stand in the packet's words 3, 4, 5, 6, 7 to 10.
        for _i in 0..V {
            self.reading.next = self.own.val()
                | (self.kept_in_band.val() & (self.state.q.val() != BuildStep::Look) & (self.state.q.val() != BuildStep::Bth0));
            if self.in_band.val() & !self.own.val() & (self.state.q.val() != BuildStep::Bth0) {
                self.read_packet.next = true;
            }
            // In Look the number is that of a packet in band: without one nobody looks at the word.
            if (self.kept_in_band.val() | (self.state.q.val() == BuildStep::Look))
                & !self.own.val()
                & (self.state.q.val() != BuildStep::Bth0)
            {
                match self.read_word.val().index() {
                    2 => {
                        self.packet_number.next = 3.into();
                    }
                    9 => {
                        self.packet_number.next = 5.into();
                    }
                    10 => {
                        self.packet_number.next = 6.into();
                    }
                    12 => {
                        self.packet_number.next = 7.into();
                    }
                    13 => {
                        self.packet_number.next = 8.into();
                    }
                    14 => {
                        self.packet_number.next = 9.into();
                    }
                    15 => {
                        self.packet_number.next = 10.into();
                    }
                    _ => {
                        self.packet_number.next = 4.into();
                    }
                }
            }
        }
        self.ending.next = self.after.val() == BuildStep::Look;
        if self.advance.val() {
            self.state.d.next = self.after.val();
            self.idle.d.next = self.ending.val();
        }
        self.rows_done.next = self.idle.q.val() | (self.state.q.val() == BuildStep::Bth2) | (self.state.q.val() == BuildStep::Tail);
        self.step.next = self.state.q.val();
        self.looking.next = self.idle.q.val();
        // W = 64: as late as the last words must be, for the frame's last beat to be in time.
        self.permit_now.d.next = false;
        if self.wide.val() {
            self.permit_now.d.next = self.near.val() & !self.permitted.q.val();
            if self.near.val() {
                self.permitted.d.next = true;
            }
        }
        self.permit.next = self.permit_now.q.val();

        if self.reset.val() {
            self.state.d.next = BuildStep::Look;
            self.idle.d.next = true;
            self.permit_now.d.next = false;
        }
    }

    crate::block_name!();
}
