// SPDX-License-Identifier: MIT OR Apache-2.0
//! Address decode: which register, table or doorbell an AXI4-Lite access is for, and whether it may be.
//!
//! ```text
//! address, write, whole ─► (address & mask) == base, for each window of `verbena_spec::registers::WINDOWS` ─► target
//!                      ├─► the congestion row, registers too
//!                      └─► readable / writable map of the registers
//! ```
//!
//! Combinational. A window's mask keeps the bits above its rows, so an index beyond the preset's count is no hit; a preset without
//! the table has a mask of zero and a base that nothing equals. Row counts are powers of two.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::layout;
use verbena_spec::registers::{self, Access, REGISTERS};

/// Where an access goes.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Target {
    /// Refused: SLVERR.
    Nothing,
    Register,
    Counter,
    SendDoorbell,
    ReceiveDoorbell,
    CompletionDoorbell,
    CompletionRow,
    TranslationRow,
    RegionRow,
    QueuePairRow,
}

#[derive(LogicBlock)]
pub struct AddressMap {
    pub address: Signal<In, Bits<21>>,
    pub write: Signal<In, Bit>,
    /// All four strobes are set.
    pub whole: Signal<In, Bit>,
    pub target: Signal<Out, Target>,
    /// Of a register: its number.
    pub number: Signal<Out, Bits<6>>,
    map: Signal<Local, Bits<64>>,
    page: Signal<Local, Bits<21>>,
    allowed: Signal<Local, Bit>,
    slot: Signal<Local, Bits<2>>,
    word: Signal<Local, Bits<3>>,
    readable: Constant<Bits<64>>,
    writable: Constant<Bits<64>>,
    register_mask: Constant<Bits<21>>,
    counter_mask: Constant<Bits<21>>,
    counter_base: Constant<Bits<21>>,
    doorbell_mask: Constant<Bits<21>>,
    doorbell_base: Constant<Bits<21>>,
    cq_mask: Constant<Bits<21>>,
    cq_base: Constant<Bits<21>>,
    mtt_mask: Constant<Bits<21>>,
    mtt_base: Constant<Bits<21>>,
    mr_mask: Constant<Bits<21>>,
    mr_base: Constant<Bits<21>>,
    qp_mask: Constant<Bits<21>>,
    qp_base: Constant<Bits<21>>,
    slot_receive: Constant<Bits<2>>,
    slot_send: Constant<Bits<2>>,
    congestion_mask: Constant<Bits<21>>,
    congestion_base: Constant<Bits<21>>,
    congestion_last: Constant<Bits<3>>,
    congestion_number: Constant<Bits<6>>,
    has_congestion: Constant<Bit>,
    has_requester: Constant<Bit>,
}

/// Mask and base of a window; what can't be hit if the preset has no rows.
fn window(base: u32, config: &Config) -> (Constant<Bits<21>>, Constant<Bits<21>>) {
    let window = registers::WINDOWS.iter().find(|w| w.base == base).expect("a window of the table");
    let size = window.stride * window.rows(config) as u32;
    if size == 0 {
        return (Constant::new(0.into()), Constant::new(1.into()));
    }
    assert!(size.is_power_of_two(), "{}: rows are a power of two", window.name);
    let all = (1u32 << registers::ADDRESS_BITS) - 1;
    // Accesses are aligned: the two lowest bits are zero.
    let mask = all & !(size - 1) | 3;
    (Constant::new((mask as u64).to_bits()), Constant::new((base as u64).to_bits()))
}

/// The registers of a preset that satisfy `which`, one bit each.
fn registers_where(config: &Config, which: fn(Access) -> bool) -> Constant<Bits<64>> {
    let map = REGISTERS
        .iter()
        .filter(|r| which(r.access) && r.exists(config))
        .fold(0u64, |map, r| map | 1 << (r.address / 4));
    Constant::new(map.to_bits())
}

impl AddressMap {
    pub fn new(config: &Config) -> Self {
        assert_eq!(config.n_qps, config.n_cqs, "one doorbell page serves both");
        assert_eq!(registers::CONGESTION, 1 << 13, "the kernel's bit");
        let (counter_mask, counter_base) = window(registers::COUNTERS, config);
        let (doorbell_mask, doorbell_base) = window(registers::DOORBELLS, config);
        let (cq_mask, cq_base) = window(registers::CQ_TABLE, config);
        let (mtt_mask, mtt_base) = window(registers::MTT_TABLE, config);
        let (mr_mask, mr_base) = window(registers::MR_TABLE, config);
        let (qp_mask, qp_base) = window(registers::QP_TABLE, config);
        Self {
            address: Default::default(),
            write: Default::default(),
            whole: Default::default(),
            target: Default::default(),
            number: Default::default(),
            map: Default::default(),
            page: Default::default(),
            allowed: Default::default(),
            slot: Default::default(),
            word: Default::default(),
            readable: registers_where(config, |access| access != Access::WriteOnly),
            writable: registers_where(config, |access| access != Access::ReadOnly),
            register_mask: Constant::new(0x1f_ff03.into()),
            counter_mask,
            counter_base,
            doorbell_mask,
            doorbell_base,
            cq_mask,
            cq_base,
            mtt_mask,
            mtt_base,
            mr_mask,
            mr_base,
            qp_mask,
            qp_base,
            slot_receive: Constant::new((registers::doorbell::RQ_PRODUCER as u64).to_bits()),
            slot_send: Constant::new((registers::doorbell::SQ_PRODUCER as u64).to_bits()),
            congestion_mask: Constant::new(0x1f_ffe3.into()),
            congestion_base: Constant::new((registers::CONGESTION as u64).to_bits()),
            congestion_last: Constant::new((layout::CONGESTION_WORDS as u64 - 1).to_bits()),
            congestion_number: Constant::new((registers::CONGESTION_NUMBER as u64).to_bits()),
            has_congestion: Constant::new(config.congestion_notification || config.congestion_reaction),
            has_requester: Constant::new(config.requester),
        }
    }
}

impl Logic for AddressMap {
    #[hdl_gen]
    fn update(&mut self) {
        self.target.next = Target::Nothing;
        self.slot.next = self.address.val().get_bits::<2>(2);
        self.page.next = self.address.val() & self.register_mask.val();
        self.map.next = self.readable.val() >> self.address.val().get_bits::<6>(2);
        if self.write.val() {
            self.map.next = self.writable.val() >> self.address.val().get_bits::<6>(2);
        }
        self.allowed.next = self.map.val().get_bit(0) & !self.page.val().any();

        if self.write.val() {
            if (self.address.val() & self.doorbell_mask.val()) == self.doorbell_base.val() {
                self.target.next = Target::CompletionDoorbell;
                if self.slot.val() == self.slot_receive.val() {
                    self.target.next = Target::ReceiveDoorbell;
                }
                if self.slot.val() == self.slot_send.val() {
                    // Without a requester its doorbell is refused.
                    self.target.next = Target::Nothing;
                    if self.has_requester.val() {
                        self.target.next = Target::SendDoorbell;
                    }
                }
            }
            if (self.address.val() & self.cq_mask.val()) == self.cq_base.val() {
                self.target.next = Target::CompletionRow;
            }
            if (self.address.val() & self.mtt_mask.val()) == self.mtt_base.val() {
                self.target.next = Target::TranslationRow;
            }
            if (self.address.val() & self.mr_mask.val()) == self.mr_base.val() {
                self.target.next = Target::RegionRow;
            }
            if (self.address.val() & self.qp_mask.val()) == self.qp_base.val() {
                self.target.next = Target::QueuePairRow;
            }
        } else {
            if (self.address.val() & self.counter_mask.val()) == self.counter_base.val() {
                self.target.next = Target::Counter;
            }
        }
        // A bit of the address tells a number of the congestion row from one of the first page; any other address's has no meaning.
        self.word.next = self.address.val().get_bits::<3>(2);
        self.number.next = self.address.val().get_bits::<6>(2);
        if self.has_congestion.val() & self.address.val().get_bit(13) {
            self.number.next = self.congestion_number.val() | bit_cast::<6, 3>(self.word.val());
        }
        if self.allowed.val()
            | (self.has_congestion.val()
                & ((self.address.val() & self.congestion_mask.val()) == self.congestion_base.val())
                & (self.word.val() <= self.congestion_last.val()))
        {
            self.target.next = Target::Register;
        }
        if self.write.val() & !self.whole.val() {
            self.target.next = Target::Nothing;
        }
    }

    crate::block_name!();
}
