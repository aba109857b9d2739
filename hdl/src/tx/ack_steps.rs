// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of an ACK's words, and the row word that each needs.
//!
//! ```text
//! Look ─► Sum ─► Eth0 ─► Eth1 ─► Eth2 ─► Eth3 ─┬───────────┬─► Four5 ... Four9 ─┬─► Udp0 ─► Udp1 ─► Bth0 ─► Bth1 ─► Bth2 ─► Aeth ─┐
//!  ▲ │           ▲                          │  └─► Eth4 ───┴─► Six0 ... Six9 ───┘                                              │
//!  └─┘           │                          └─► Look, where the QP isn't RC                                                    │
//!                └─────────────────────────────────────────────────── W = 32: the second pass ◄────────────────────────────────┤
//!  Look ◄──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! One step a cycle while `advance`. A step's row word is read in its own cycle, and two words ahead of their place are read for the checksum only
//! (`Sum`, `Eth2`, `Eth3`). Limits: `V` 0 has no Eth4 and no Six steps.

use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

/// The next word of the packet: `Eth` Ethernet header, `Six` IPv6 words 0-9, `Four` IPv4 words 5-9.
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
    Aeth,
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
pub struct AckSteps<const L: usize, const V: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// In Look: a packet begins.
    pub start: Signal<In, Bit>,
    pub advance: Signal<In, Bit>,
    /// From the row, known at Eth3: IPv6, tagged, RC.
    pub six: Signal<In, Bit>,
    pub vlan: Signal<In, Bit>,
    pub answers: Signal<In, Bit>,
    pub step: Signal<Out, BuildStep>,
    pub second: Signal<Out, Bit>,
    pub read_word: Signal<Out, Bits<4>>,
    /// One cycle: the packet will be sent; won't be.
    pub sent: Signal<Out, Bit>,
    pub refused: Signal<Out, Bit>,
    /// One cycle, W = 64: the frame may leave the store from the next but one on.
    pub permit: Signal<Out, Bit>,
    state: DFF<BuildStep>,
    pass: DFF<Bit>,
    permit_now: DFF<Bit>,
    after: Signal<Local, BuildStep>,
    ip: Signal<Local, BuildStep>,
    again: Signal<Local, Bit>,
    two_passes: Constant<Bit>,
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

impl<const L: usize, const V: usize> Default for AckSteps<L, V> {
    fn default() -> Self {
        assert!((L == 1 || L == 2) && V <= 1, "AckSteps: L 1 or 2, V 0 or 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            advance: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            answers: Default::default(),
            step: Default::default(),
            second: Default::default(),
            read_word: Default::default(),
            sent: Default::default(),
            refused: Default::default(),
            permit: Default::default(),
            state: Default::default(),
            pass: Default::default(),
            permit_now: Default::default(),
            after: Default::default(),
            ip: Default::default(),
            again: Default::default(),
            two_passes: Constant::new(L == 1),
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

impl<const L: usize, const V: usize> Logic for AckSteps<L, V> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, pass, permit_now);

        self.ip.next = BuildStep::Four5;
        if self.six.val() {
            self.ip.next = BuildStep::Six0;
        }
        self.again.next = self.two_passes.val() & !self.pass.q.val();
        self.after.next = self.state.q.val();
        self.read_word.next = self.row_flags.val();
        self.sent.next = false;
        self.refused.next = false;
        self.permit_now.d.next = false;
        match self.state.q.val() {
            BuildStep::Look => {
                if self.start.val() {
                    self.after.next = BuildStep::Sum;
                }
            }
            BuildStep::Sum => {
                self.read_word.next = self.row_ip3.val();
                self.after.next = BuildStep::Eth0;
            }
            BuildStep::Eth0 => {
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
                self.sent.next = self.advance.val() & self.answers.val() & !self.pass.q.val();
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
                self.after.next = BuildStep::Bth0;
            }
            BuildStep::Bth0 => {
                self.read_word.next = self.row_pkey.val();
                self.after.next = BuildStep::Bth1;
                self.permit_now.d.next = true;
            }
            BuildStep::Bth1 => {
                self.read_word.next = self.row_dest_qpn.val();
                self.after.next = BuildStep::Bth2;
            }
            BuildStep::Bth2 => {
                self.after.next = BuildStep::Aeth;
            }
            BuildStep::Aeth => {
                self.after.next = BuildStep::Look;
                if self.again.val() {
                    self.after.next = BuildStep::Eth0;
                }
                if self.advance.val() {
                    self.pass.d.next = self.again.val();
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
        if self.advance.val() {
            self.state.d.next = self.after.val();
        }
        self.step.next = self.state.q.val();
        self.second.next = self.pass.q.val();
        self.permit.next = self.permit_now.q.val();

        if self.reset.val() {
            self.state.d.next = BuildStep::Look;
            self.pass.d.next = false;
            self.permit_now.d.next = false;
        }
    }

    crate::block_name!();
}
