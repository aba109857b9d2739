// SPDX-License-Identifier: MIT OR Apache-2.0
//! ATOMIC: read, modify, write 8 bytes of host memory under one engine-wide lock (R58).
//!
//! ```text
//! start ─► [lookup] ─► lock ─► AR ─► R ─► add or compare ─► AW, W ─► B ─► done
//! ```
//!
//! `lock` is high from before AR until the end; the unit goes on when `locked` says that every other write of the engine has its B and that none will begin.
//! A compare that fails writes nothing. Memory is little-endian; the operands are numbers. Operands come as four words: swap or add high, low; compare high, low.
//! `start`, `compare_swap`, `address` and `paged` hold until `done`. `W` = 64: one beat. Cycles: 6 and the memory's.

use super::CarryAdd;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum AtomicStep {
    Idle,
    Lookup,
    Lock,
    Ask,
    Take,
    Low,
    High,
    Decide,
    Write,
    Answer,
    Done,
}

#[derive(LogicBlock)]
pub struct AtomicUnit {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub load: Signal<In, Bit>,
    pub word: Signal<In, Bits<32>>,
    pub start: Signal<In, Bit>,
    pub compare_swap: Signal<In, Bit>,
    pub address: Signal<In, Bits<64>>,
    pub paged: Signal<In, Bit>,
    /// One cycle; `error` and `result` count in it. The result is what stood in memory.
    pub done: Signal<Out, Bit>,
    pub error: Signal<Out, Bit>,
    pub result: Signal<Out, Bits<64>>,
    pub lock: Signal<Out, Bit>,
    pub locked: Signal<In, Bit>,
    /// A client of the MTT: `entry` holds until done.
    pub lookup_valid: Signal<Out, Bit>,
    pub lookup_entry: Signal<Out, Bits<16>>,
    pub lookup_done: Signal<In, Bit>,
    pub lookup_page: Signal<In, Bits<52>>,
    pub ar_address: Signal<Out, Bits<64>>,
    pub ar_length: Signal<Out, Bits<8>>,
    pub ar_valid: Signal<Out, Bit>,
    pub ar_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<64>>,
    pub r_error: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    pub aw_address: Signal<Out, Bits<64>>,
    pub aw_length: Signal<Out, Bits<8>>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub w_data: Signal<Out, Bits<64>>,
    pub w_strobe: Signal<Out, Bits<8>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_error: Signal<In, Bit>,
    add: CarryAdd,
    step: DFF<AtomicStep>,
    /// Swap or add operand in the upper half, compare operand in the lower.
    operands: DFF<Bits<128>>,
    place: DFF<Bits<64>>,
    old: DFF<Bits<64>>,
    low: DFF<Bits<32>>,
    high: DFF<Bits<32>>,
    /// The upper half is at the adder.
    upper: DFF<Bit>,
    carry: DFF<Bit>,
    low_differs: DFF<Bit>,
    failed: DFF<Bit>,
    address_due: DFF<Bit>,
    data_due: DFF<Bit>,
    /// Bits of the half in the last cycle that aren't as expected.
    gap: DFF<Bits<32>>,
    expected: Signal<Local, Bits<32>>,
    sample: Signal<Local, Bits<32>>,
}

#[allow(clippy::derivable_impls)]
impl Default for AtomicUnit {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            load: Default::default(),
            word: Default::default(),
            start: Default::default(),
            compare_swap: Default::default(),
            address: Default::default(),
            paged: Default::default(),
            done: Default::default(),
            error: Default::default(),
            result: Default::default(),
            lock: Default::default(),
            locked: Default::default(),
            lookup_valid: Default::default(),
            lookup_entry: Default::default(),
            lookup_done: Default::default(),
            lookup_page: Default::default(),
            ar_address: Default::default(),
            ar_length: Default::default(),
            ar_valid: Default::default(),
            ar_ready: Default::default(),
            r_data: Default::default(),
            r_error: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            aw_address: Default::default(),
            aw_length: Default::default(),
            aw_valid: Default::default(),
            aw_ready: Default::default(),
            w_data: Default::default(),
            w_strobe: Default::default(),
            w_last: Default::default(),
            w_valid: Default::default(),
            w_ready: Default::default(),
            b_valid: Default::default(),
            b_error: Default::default(),
            add: Default::default(),
            step: Default::default(),
            operands: Default::default(),
            place: Default::default(),
            old: Default::default(),
            low: Default::default(),
            high: Default::default(),
            upper: Default::default(),
            carry: Default::default(),
            low_differs: Default::default(),
            failed: Default::default(),
            address_due: Default::default(),
            data_due: Default::default(),
            gap: Default::default(),
            expected: Default::default(),
            sample: Default::default(),
        }
    }
}

impl Logic for AtomicUnit {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            operands,
            place,
            old,
            low,
            high,
            upper,
            gap,
            carry,
            low_differs,
            failed,
            address_due,
            data_due
        );
        if self.load.val() {
            self.operands.d.next = (self.operands.q.val() << 32) | bit_cast::<128, 32>(self.word.val());
        }

        // One half at a time.
        self.sample.next = self.old.q.val().get_bits::<32>(0);
        self.expected.next = self.operands.q.val().get_bits::<32>(0);
        self.add.b.next = self.operands.q.val().get_bits::<32>(64);
        self.add.carry_in.next = false;
        if self.upper.q.val() {
            self.sample.next = self.old.q.val().get_bits::<32>(32);
            self.expected.next = self.operands.q.val().get_bits::<32>(32);
            self.add.b.next = self.operands.q.val().get_bits::<32>(96);
            self.add.carry_in.next = self.carry.q.val();
        }
        self.add.a.next = self.sample.val();
        self.gap.d.next = self.sample.val() ^ self.expected.val();

        self.done.next = false;
        self.lock.next = true;
        self.lookup_valid.next = false;
        self.ar_valid.next = false;
        self.r_ready.next = false;
        match self.step.q.val() {
            AtomicStep::Idle => {
                self.lock.next = false;
                self.place.d.next = self.address.val();
                if self.start.val() {
                    self.step.d.next = AtomicStep::Lock;
                    if self.paged.val() {
                        self.step.d.next = AtomicStep::Lookup;
                    }
                }
            }
            AtomicStep::Lookup => {
                self.lock.next = false;
                self.lookup_valid.next = true;
                if self.lookup_done.val() {
                    self.place.d.next =
                        (bit_cast::<64, 52>(self.lookup_page.val()) << 12) | bit_cast::<64, 12>(self.address.val().get_bits::<12>(0));
                    self.step.d.next = AtomicStep::Lock;
                }
            }
            AtomicStep::Lock => {
                if self.locked.val() {
                    self.step.d.next = AtomicStep::Ask;
                }
            }
            AtomicStep::Ask => {
                self.ar_valid.next = true;
                if self.ar_ready.val() {
                    self.step.d.next = AtomicStep::Take;
                }
            }
            AtomicStep::Take => {
                self.r_ready.next = true;
                self.old.d.next = self.r_data.val();
                self.failed.d.next = self.r_error.val();
                if self.r_valid.val() {
                    self.step.d.next = AtomicStep::Low;
                    if self.r_error.val() {
                        self.step.d.next = AtomicStep::Done;
                    }
                }
            }
            AtomicStep::Low => {
                self.low.d.next = self.add.sum.val();
                self.carry.d.next = self.add.carry_out.val();
                if self.compare_swap.val() {
                    self.low.d.next = self.operands.q.val().get_bits::<32>(64);
                }
                self.upper.d.next = true;
                self.step.d.next = AtomicStep::High;
            }
            AtomicStep::High => {
                self.high.d.next = self.add.sum.val();
                if self.compare_swap.val() {
                    self.high.d.next = self.operands.q.val().get_bits::<32>(96);
                }
                self.low_differs.d.next = self.gap.q.val().any();
                self.upper.d.next = false;
                self.step.d.next = AtomicStep::Decide;
            }
            AtomicStep::Decide => {
                self.address_due.d.next = true;
                self.data_due.d.next = true;
                self.step.d.next = AtomicStep::Write;
                if self.compare_swap.val() & (self.gap.q.val().any() | self.low_differs.q.val()) {
                    self.address_due.d.next = false;
                    self.data_due.d.next = false;
                    self.step.d.next = AtomicStep::Done;
                }
            }
            AtomicStep::Write => {
                if self.aw_ready.val() {
                    self.address_due.d.next = false;
                }
                if self.w_ready.val() {
                    self.data_due.d.next = false;
                }
                if !self.address_due.q.val() & !self.data_due.q.val() {
                    self.step.d.next = AtomicStep::Answer;
                }
                if self.b_valid.val() {
                    self.failed.d.next = self.b_error.val();
                    self.step.d.next = AtomicStep::Done;
                }
            }
            AtomicStep::Answer => {
                if self.b_valid.val() {
                    self.failed.d.next = self.b_error.val();
                    self.step.d.next = AtomicStep::Done;
                }
            }
            AtomicStep::Done => {
                self.done.next = true;
                self.step.d.next = AtomicStep::Idle;
            }
            _ => {
                self.step.d.next = AtomicStep::Idle;
            }
        }
        self.error.next = self.failed.q.val();
        self.result.next = self.old.q.val();
        self.lookup_entry.next = self.address.val().get_bits::<16>(12);
        self.ar_address.next = self.place.q.val();
        self.ar_length.next = 0.into();
        self.aw_address.next = self.place.q.val();
        self.aw_length.next = 0.into();
        self.aw_valid.next = self.address_due.q.val();
        self.w_data.next = bit_cast::<64, 32>(self.low.q.val()) | (bit_cast::<64, 32>(self.high.q.val()) << 32);
        self.w_strobe.next = 255.into();
        self.w_last.next = true;
        self.w_valid.next = self.data_due.q.val();
        if self.reset.val() {
            self.step.d.next = AtomicStep::Idle;
            self.upper.d.next = false;
            self.address_due.d.next = false;
            self.data_due.d.next = false;
            self.lock.next = false;
        }
    }

    crate::block_name!("Read, modify, write of an ATOMIC.");
}
