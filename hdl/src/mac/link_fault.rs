// SPDX-License-Identifier: MIT OR Apache-2.0
//! Link fault signalling (IEEE 802.3, 46.3.4): four fault ordered sets of one kind, none more than 128 columns of four bytes after the one before, make
//! a fault; 128 columns without any clear it.
//!
//! Latency 2 cycles. Two sets may stand in one 8-byte column.

use super::xgmii;
use rust_hdl::prelude::*;

/// Cycles: 128 columns of four bytes.
const FORGET: u64 = 64;

/// See the file's head.
#[derive(LogicBlock)]
pub struct LinkFault {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub xgmii_rxd: Signal<In, Bits<64>>,
    pub xgmii_rxc: Signal<In, Bits<8>>,
    pub local_fault: Signal<Out, Bit>,
    pub remote_fault: Signal<Out, Bit>,

    /// Sets in the lower and in the upper half, by kind.
    local_sets: DFF<Bits<2>>,
    remote_sets: DFF<Bits<2>>,
    /// Sets of `remote`'s kind in a row, up to 4; cycles since.
    count: DFF<Bits<3>>,
    remote: DFF<Bit>,
    idle: DFF<Bits<7>>,
    local_out: DFF<Bit>,
    remote_out: DFF<Bit>,
    local_seen: Signal<Local, Bits<2>>,
    remote_seen: Signal<Local, Bits<2>>,
    kind_remote: Signal<Local, Bit>,
    some: Signal<Local, Bit>,
    sets: Signal<Local, Bits<3>>,
    start: Signal<Local, Bits<3>>,
    sum: Signal<Local, Bits<3>>,
    set_lanes: Constant<Bits<4>>,
    local_set: Constant<Bits<32>>,
    remote_set: Constant<Bits<32>>,
    forget: Constant<Bits<7>>,
    four: Constant<Bits<3>>,
    half: [Constant<Bits<2>>; 2],
}

impl Default for LinkFault {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            xgmii_rxd: Default::default(),
            xgmii_rxc: Default::default(),
            local_fault: Default::default(),
            remote_fault: Default::default(),
            local_sets: Default::default(),
            remote_sets: Default::default(),
            count: Default::default(),
            remote: Default::default(),
            idle: Default::default(),
            local_out: Default::default(),
            remote_out: Default::default(),
            local_seen: Default::default(),
            remote_seen: Default::default(),
            kind_remote: Default::default(),
            some: Default::default(),
            sets: Default::default(),
            start: Default::default(),
            sum: Default::default(),
            set_lanes: Constant::new(1u64.to_bits()),
            local_set: Constant::new((xgmii::LOCAL_FAULT & 0xffff_ffff).to_bits()),
            remote_set: Constant::new((xgmii::REMOTE_FAULT & 0xffff_ffff).to_bits()),
            forget: Constant::new(FORGET.to_bits()),
            four: Constant::new(4u64.to_bits()),
            half: [Constant::new(1u64.to_bits()), Constant::new(2u64.to_bits())],
        }
    }
}

impl Logic for LinkFault {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, local_sets, remote_sets, count, remote, idle, local_out, remote_out);

        self.local_seen.next = 0.into();
        self.remote_seen.next = 0.into();
        for i in 0..2 {
            if self.xgmii_rxc.val().get_bits::<4>(i * 4) == self.set_lanes.val() {
                if self.xgmii_rxd.val().get_bits::<32>(i * 32) == self.local_set.val() {
                    self.local_seen.next = self.local_seen.val() | self.half[i].val();
                }
                if self.xgmii_rxd.val().get_bits::<32>(i * 32) == self.remote_set.val() {
                    self.remote_seen.next = self.remote_seen.val() | self.half[i].val();
                }
            }
        }
        self.local_sets.d.next = self.local_seen.val();
        self.remote_sets.d.next = self.remote_seen.val();

        self.kind_remote.next =
            self.remote_sets.q.val().get_bit(1) | (self.remote_sets.q.val().get_bit(0) & !self.local_sets.q.val().get_bit(1));
        self.some.next = (self.local_sets.q.val() | self.remote_sets.q.val()).any();
        self.sets.next = 1.into();
        if self.local_sets.q.val().all() | self.remote_sets.q.val().all() {
            self.sets.next = 2.into();
        }
        self.start.next = 0.into();
        if self.kind_remote.val() == self.remote.q.val() {
            self.start.next = self.count.q.val();
        }
        self.sum.next = self.start.val() + self.sets.val();
        if self.some.val() {
            self.remote.d.next = self.kind_remote.val();
            self.idle.d.next = 0.into();
            self.count.d.next = self.sum.val();
            if self.sum.val().get_bit(2) {
                self.count.d.next = self.four.val();
                self.local_out.d.next = !self.kind_remote.val();
                self.remote_out.d.next = self.kind_remote.val();
            }
        } else {
            if self.idle.q.val() == self.forget.val() {
                self.count.d.next = 0.into();
                self.local_out.d.next = false;
                self.remote_out.d.next = false;
            } else {
                self.idle.d.next = self.idle.q.val() + 1;
            }
        }
        self.local_fault.next = self.local_out.q.val();
        self.remote_fault.next = self.remote_out.q.val();

        if self.reset.val() {
            self.local_sets.d.next = 0.into();
            self.remote_sets.d.next = 0.into();
            self.count.d.next = 0.into();
            self.idle.d.next = 0.into();
            self.local_out.d.next = false;
            self.remote_out.d.next = false;
        }
    }

    crate::block_name!();
}
