// SPDX-License-Identifier: MIT OR Apache-2.0
//! Timers: one deadline a QP, for its ACK timeout (R47) or its RNR wait (R43), scanned round robin.
//!
//! ```text
//! tick ─► quarter ticks (1.024 us) ─► time, 38 bits ─► shift ─► now, 8 bits in the timer's own unit
//! set, arm, table ─┐                                                │
//! scan ────────────┴─► RAM: entry, code ─► entry ─► now + distance ─┤─► RAM
//!                                                   now - deadline ─┴─► expired
//! ```
//!
//! A timer's unit is 2^shift quarter ticks, so that one small number holds any deadline and the comparison is 8 bits wide:
//!
//! | timer | shift | distance | fires within (and a round of the scan) |
//! |---|---|---|---|
//! | ACK, code n | n - 1 | 9 | T to 1.125 T, T = 4.096 us · 2^n; code 0: never |
//! | RNR, code c even, or 1 | c / 2 | 11 | T to 1.13 T, T by the table: 0.01 ms at 1, 0.02 ms · 2^(c/2 - 1) else; code 0 counts as 32 |
//! | RNR, code c odd | (c - 1) / 2 | 16 | T to 1.10 T, T = 0.03 ms · 2^((c - 3)/2) |
//! | now | 0 | 0 | at once |
//!
//! RAM words of a QP: 0 entry ([7:0] deadline, [12:8] shift, [13] RNR, [14] running), 1 the ACK timeout code of the host's row.
//! A round takes 4 cycles for an idle timer, 7 for a running one, and ends behind the last that runs: up to 12 us for 256 QPs at 156.25 MHz. `arm` starts the ACK timer only where
//! none runs (R45); `set` puts an end to whatever ran. `arm` and `table` are taken into a register each, when that is free, and done in a later step: an `arm` within 40 cycles. An `expired` on offer is withdrawn when something else is asked, and offered again if still due.
//! `tick` counts clocks per 4.096 us as 24.8 fixed point, 8 to 2,047 clocks (500 MHz), and no fewer than a quarter of the QPs: 128 of the smallest units
//! (32 `tick`s) must be longer than a round of the scan, or a deadline that has passed is taken for one to come. `SA` must be `QA + 1`, `SC` one more.
//! With `coarse` time runs 2^19 times as fast, in steps of that size: for tests of the long codes only.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// What a timer is set to.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum TimerOperation {
    Nothing,
    Off,
    Ack,
    Rnr,
    Now,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum TimersState {
    Pick,
    Read,
    Wait,
    Got,
    Coarse,
    Fine,
    Judge,
    Store,
    Keep,
    Offer,
    Taken,
}

#[derive(LogicBlock)]
pub struct Timers<const QA: usize, const SA: usize, const SC: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub tick: Signal<In, Bits<32>>,
    /// The host's timeout code of a QP.
    pub table_valid: Signal<In, Bit>,
    pub table_index: Signal<In, Bits<QA>>,
    pub table_code: Signal<In, Bits<5>>,
    pub table_ready: Signal<Out, Bit>,
    pub arm_valid: Signal<In, Bit>,
    pub arm_index: Signal<In, Bits<QA>>,
    pub arm_ready: Signal<Out, Bit>,
    /// Taken into a register.
    pub set_valid: Signal<In, Bit>,
    pub set_index: Signal<In, Bits<QA>>,
    pub set_operation: Signal<In, TimerOperation>,
    /// RNR: the NAK's code.
    pub set_code: Signal<In, Bits<5>>,
    pub set_ready: Signal<Out, Bit>,
    pub expired_valid: Signal<Out, Bit>,
    pub expired_index: Signal<Out, Bits<QA>>,
    pub expired_rnr: Signal<Out, Bit>,
    pub expired_ready: Signal<In, Bit>,
    ram: SplitRam<SA, 15>,
    /// A write reaches the RAM a cycle later: before the next read, which is two steps away at least.
    write: DFF<Bit>,
    write_address: DFF<Bits<SA>>,
    write_data: DFF<Bits<15>>,
    state: DFF<TimersState>,
    /// Clearing after reset: its top bit says that it is over.
    clear: DFF<Bits<SC>>,
    scan: DFF<Bits<QA>>,
    /// No timer behind it runs: the round ends there. The highest that was found running, or began, in this round: the next one's `last`.
    last: DFF<Bits<QA>>,
    highest: DFF<Bits<QA>>,
    /// Of `scan` and `number`, as they were a cycle before; either stands for three cycles before it counts.
    at_last: DFF<Bit>,
    above_last: DFF<Bit>,
    above_highest: DFF<Bit>,
    /// The scan goes before `arm`.
    turn: DFF<Bit>,
    /// What was asked for is still to be done.
    pending: DFF<Bit>,
    asked: DFF<TimerOperation>,
    asked_index: DFF<Bits<QA>>,
    asked_code: DFF<Bits<5>>,
    /// An `arm`, and a code of the host's, that were taken and are still to be done.
    armed: DFF<Bit>,
    armed_index: DFF<Bits<QA>>,
    coded: DFF<Bit>,
    coded_index: DFF<Bits<QA>>,
    coded_code: DFF<Bits<5>>,
    /// What is being done, for whom.
    operation: DFF<TimerOperation>,
    number: DFF<Bits<QA>>,
    item: DFF<Bit>,
    word: DFF<Bits<15>>,
    shift: DFF<Bits<5>>,
    distance: DFF<Bits<5>>,
    window: DFF<Bits<15>>,
    now: DFF<Bits<8>>,
    /// Time until the next quarter tick in 1/1024 clocks, less than nothing when it is due.
    rest: DFF<Bits<21>>,
    step: DFF<Bits<21>>,
    low: DFF<Bits<19>>,
    high: DFF<Bits<19>>,
    low_full: DFF<Bit>,
    over: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    other: Signal<Local, Bit>,
    onward: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    runs: Signal<Local, Bit>,
    found: Signal<Local, Bits<QA>>,
    clock_time: Signal<Local, Bits<39>>,
    delta: Signal<Local, Bits<8>>,
    deadline: Signal<Local, Bits<8>>,
    code: Signal<Local, Bits<5>>,
    odd: Signal<Local, Bit>,
    address: Signal<Local, Bits<SA>>,
    coarse: Constant<Bit>,
    top: Constant<Bits<SC>>,
    /// A clock in the unit of `rest`.
    clock_step: Constant<Bits<21>>,
    full: Constant<Bits<19>>,
    ack_distance: Constant<Bits<5>>,
    even_distance: Constant<Bits<5>>,
    odd_distance: Constant<Bits<5>>,
    longest_shift: Constant<Bits<5>>,
}

impl<const QA: usize, const SA: usize, const SC: usize> Timers<QA, SA, SC> {
    /// `coarse` is false but in tests.
    pub fn new(coarse: bool) -> Self {
        assert!(SA == QA + 1 && SC == SA + 1, "Timers: SA must be QA + 1, SC one more");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            tick: Default::default(),
            table_valid: Default::default(),
            table_index: Default::default(),
            table_code: Default::default(),
            table_ready: Default::default(),
            arm_valid: Default::default(),
            arm_index: Default::default(),
            arm_ready: Default::default(),
            set_valid: Default::default(),
            set_index: Default::default(),
            set_operation: Default::default(),
            set_code: Default::default(),
            set_ready: Default::default(),
            expired_valid: Default::default(),
            expired_index: Default::default(),
            expired_rnr: Default::default(),
            expired_ready: Default::default(),
            ram: Default::default(),
            write: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            state: Default::default(),
            clear: Default::default(),
            scan: Default::default(),
            last: Default::default(),
            highest: Default::default(),
            at_last: Default::default(),
            above_last: Default::default(),
            above_highest: Default::default(),
            turn: Default::default(),
            asked: Default::default(),
            asked_index: Default::default(),
            asked_code: Default::default(),
            operation: Default::default(),
            armed: Default::default(),
            armed_index: Default::default(),
            coded: Default::default(),
            coded_index: Default::default(),
            coded_code: Default::default(),
            number: Default::default(),
            item: Default::default(),
            word: Default::default(),
            shift: Default::default(),
            distance: Default::default(),
            window: Default::default(),
            now: Default::default(),
            rest: Default::default(),
            step: Default::default(),
            low: Default::default(),
            high: Default::default(),
            low_full: Default::default(),
            over: Default::default(),
            due: Default::default(),
            pending: Default::default(),
            open: Default::default(),
            other: Default::default(),
            onward: Default::default(),
            begins: Default::default(),
            runs: Default::default(),
            found: Default::default(),
            clock_time: Default::default(),
            delta: Default::default(),
            deadline: Default::default(),
            code: Default::default(),
            odd: Default::default(),
            address: Default::default(),
            coarse: Constant::new(coarse),
            top: Constant::new((1u64 << SA).to_bits()),
            clock_step: Constant::new(1024u64.to_bits()),
            full: Constant::new(0x7ffffu64.to_bits()),
            ack_distance: Constant::new(9u64.to_bits()),
            even_distance: Constant::new(11u64.to_bits()),
            odd_distance: Constant::new(16u64.to_bits()),
            longest_shift: Constant::new(16u64.to_bits()),
        }
    }
}

impl<const QA: usize, const SA: usize, const SC: usize> Logic for Timers<QA, SA, SC> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            clear,
            scan,
            turn,
            asked,
            asked_index,
            asked_code,
            operation,
            armed,
            armed_index,
            coded,
            coded_index,
            coded_code,
            pending,
            number,
            item
        );
        dff_setup!(self, clock, word, shift, distance, window, now, rest, step, low, high, low_full);
        dff_setup!(self, clock, write, write_address, write_data);
        dff_setup!(self, clock, last, highest, at_last, above_last, above_highest);
        clock!(self, clock, ram);
        self.ram.write_enable.next = self.write.q.val();
        self.ram.write_address.next = self.write_address.q.val();
        self.ram.write_data.next = self.write_data.q.val();

        // Time.
        self.step.d.next = bit_cast::<21, 19>(self.tick.val().get_bits::<19>(0)) - self.clock_step.val();
        self.due.next = self.rest.q.val().get_bit(20);
        self.rest.d.next = self.rest.q.val() - self.clock_step.val();
        self.low_full.d.next = self.low.q.val() == self.full.val();
        if self.due.val() {
            self.rest.d.next = self.rest.q.val() + self.step.q.val();
            self.low.d.next = self.low.q.val() + 1;
            if self.coarse.val() {
                self.low.d.next = 0.into();
            }
            if self.low_full.q.val() | self.coarse.val() {
                self.high.d.next = self.high.q.val() + 1;
            }
        }
        self.clock_time.next = bit_cast::<39, 19>(self.low.q.val()) | (bit_cast::<39, 19>(self.high.q.val()) << 19);

        self.over.next = self.clear.q.val() == self.top.val();
        self.ready.next = self.over.val();
        self.other.next = self.pending.q.val() | self.armed.q.val() | self.coded.q.val();
        self.onward.next = false;
        self.begins.next = false;
        self.runs.next = false;
        self.at_last.d.next = self.scan.q.val() == self.last.q.val();
        self.above_last.d.next = self.number.q.val() > self.last.q.val();
        self.above_highest.d.next = self.number.q.val() > self.highest.q.val();
        // The code of an RNR wait is still being read.
        self.open.next = !self.pending.q.val() & (self.operation.q.val() != TimerOperation::Rnr);
        self.set_ready.next = self.open.val();
        self.expired_valid.next = false;
        self.expired_index.next = self.scan.q.val();
        self.expired_rnr.next = self.word.q.val().get_bit(13);

        // Shift and distance.
        self.code.next = self.asked_code.q.val();
        if self.operation.q.val() == TimerOperation::Ack {
            self.code.next = self.word.q.val().get_bits::<5>(0);
        }
        self.odd.next = self.code.val().get_bit(0) & self.code.val().get_bits::<4>(1).any();
        self.delta.next = self.now.q.val() - self.word.q.val().get_bits::<8>(0);
        self.deadline.next = self.now.q.val() + bit_cast::<8, 5>(self.distance.q.val());

        self.address.next = bit_cast::<SA, QA>(self.number.q.val()) << 1;
        if self.item.q.val() {
            self.address.next = (bit_cast::<SA, QA>(self.number.q.val()) << 1) | 1;
        }
        self.ram.read_address.next = self.address.val();
        self.ram.read_enable.next = self.state.q.val() == TimersState::Read;
        self.write_address.d.next = self.address.val();
        self.write.d.next = false;
        self.write_data.d.next = 0.into();

        // `arm` and `table` wait in registers of their own, so that neither side sees the other's choice.
        self.arm_ready.next = self.over.val() & !self.armed.q.val();
        self.table_ready.next = self.over.val() & !self.coded.q.val();
        if !self.armed.q.val() {
            self.armed.d.next = self.arm_valid.val() & self.over.val();
            self.armed_index.d.next = self.arm_index.val();
        }
        if !self.coded.q.val() {
            self.coded.d.next = self.table_valid.val() & self.over.val();
            self.coded_index.d.next = self.table_index.val();
            self.coded_code.d.next = self.table_code.val();
        }

        match self.state.q.val() {
            TimersState::Pick => {
                self.number.d.next = self.scan.q.val();
                self.operation.d.next = TimerOperation::Nothing;
                self.item.d.next = false;
                if self.coded.q.val() {
                    // Before all else, so what comes after a code finds it; and not twice in a row.
                    self.number.d.next = self.coded_index.q.val();
                    self.item.d.next = true;
                    self.state.d.next = TimersState::Keep;
                } else {
                    self.turn.d.next = false;
                    self.state.d.next = TimersState::Read;
                    if self.armed.q.val() & !self.turn.q.val() {
                        self.number.d.next = self.armed_index.q.val();
                        self.operation.d.next = TimerOperation::Ack;
                        self.turn.d.next = true;
                    }
                    if self.pending.q.val() {
                        self.number.d.next = self.asked_index.q.val();
                        self.operation.d.next = self.asked.q.val();
                        self.pending.d.next = false;
                        self.item.d.next = self.asked.q.val() == TimerOperation::Ack;
                        self.turn.d.next = self.turn.q.val();
                    }
                }
            }
            TimersState::Read => {
                self.state.d.next = TimersState::Wait;
            }
            TimersState::Wait => {
                self.word.d.next = self.ram.read_data.val();
                self.state.d.next = TimersState::Got;
            }
            TimersState::Got => {
                self.state.d.next = TimersState::Coarse;
                match self.operation.q.val() {
                    TimerOperation::Ack => {
                        self.shift.d.next = self.code.val() - 1;
                        self.distance.d.next = self.ack_distance.val();
                        if self.item.q.val() {
                            if !self.code.val().any() {
                                // R47: code 0 is off.
                                self.operation.d.next = TimerOperation::Off;
                                self.state.d.next = TimersState::Store;
                            }
                        } else {
                            // R45: what runs goes on.
                            self.armed.d.next = false;
                            self.item.d.next = true;
                            self.state.d.next = TimersState::Read;
                            if self.word.q.val().get_bit(14) {
                                self.state.d.next = TimersState::Pick;
                            }
                        }
                    }
                    TimerOperation::Rnr => {
                        self.shift.d.next = bit_cast::<5, 4>(self.code.val().get_bits::<4>(1));
                        if !self.code.val().any() {
                            // R43: code 0 is the longest, 655.36 ms.
                            self.shift.d.next = self.longest_shift.val();
                        }
                        self.distance.d.next = self.even_distance.val();
                        if self.odd.val() {
                            self.distance.d.next = self.odd_distance.val();
                        }
                    }
                    TimerOperation::Now => {
                        self.shift.d.next = 0.into();
                        self.distance.d.next = 0.into();
                    }
                    TimerOperation::Off => {
                        self.state.d.next = TimersState::Store;
                    }
                    _ => {
                        self.shift.d.next = self.word.q.val().get_bits::<5>(8);
                        if !self.word.q.val().get_bit(14) {
                            self.onward.next = true;
                            self.state.d.next = TimersState::Pick;
                        }
                    }
                }
            }
            TimersState::Coarse => {
                self.item.d.next = false;
                self.window.d.next = self.clock_time.val().get_bits::<15>(0);
                if self.shift.q.val().get_bits::<2>(3) == 1 {
                    self.window.d.next = self.clock_time.val().get_bits::<15>(8);
                }
                if self.shift.q.val().get_bits::<2>(3) == 2 {
                    self.window.d.next = self.clock_time.val().get_bits::<15>(16);
                }
                if self.shift.q.val().get_bits::<2>(3) == 3 {
                    self.window.d.next = self.clock_time.val().get_bits::<15>(24);
                }
                self.state.d.next = TimersState::Fine;
            }
            TimersState::Fine => {
                self.now.d.next = self.window.q.val().get_bits::<8>(self.shift.q.val().get_bits::<3>(0).index());
                self.state.d.next = TimersState::Judge;
            }
            TimersState::Judge => {
                self.state.d.next = TimersState::Store;
                if self.operation.q.val() == TimerOperation::Nothing {
                    self.state.d.next = TimersState::Offer;
                    if self.delta.val().get_bit(7) {
                        self.onward.next = true;
                        self.runs.next = true;
                        self.state.d.next = TimersState::Pick;
                    }
                }
            }
            TimersState::Store => {
                // Off leaves zeros.
                self.item.d.next = false;
                self.write_address.d.next = bit_cast::<SA, QA>(self.number.q.val()) << 1;
                self.write.d.next = true;
                if self.operation.q.val() != TimerOperation::Off {
                    self.begins.next = true;
                    self.write_data.d.next = bit_cast::<15, 8>(self.deadline.val()) | (bit_cast::<15, 5>(self.shift.q.val()) << 8) | 0x4000;
                    if self.operation.q.val() == TimerOperation::Rnr {
                        self.write_data.d.next =
                            bit_cast::<15, 8>(self.deadline.val()) | (bit_cast::<15, 5>(self.shift.q.val()) << 8) | 0x6000;
                    }
                }
                self.state.d.next = TimersState::Pick;
            }
            TimersState::Keep => {
                self.coded.d.next = false;
                self.write.d.next = true;
                self.write_data.d.next = bit_cast::<15, 5>(self.coded_code.q.val());
                self.state.d.next = TimersState::Pick;
            }
            TimersState::Offer => {
                self.expired_valid.next = !self.pending.q.val();
                if self.other.val() {
                    self.state.d.next = TimersState::Pick;
                }
                if self.expired_ready.val() & !self.pending.q.val() {
                    self.state.d.next = TimersState::Taken;
                }
            }
            TimersState::Taken => {
                // It runs no longer.
                self.write.d.next = true;
                self.onward.next = true;
                self.state.d.next = TimersState::Pick;
            }
            _ => {
                self.state.d.next = TimersState::Pick;
            }
        }

        self.found.next = self.highest.q.val();
        if (self.begins.val() | self.runs.val()) & self.above_highest.q.val() {
            self.found.next = self.number.q.val();
        }
        self.highest.d.next = self.found.val();
        if self.begins.val() & self.above_last.q.val() {
            self.last.d.next = self.number.q.val();
        }
        if self.onward.val() {
            self.scan.d.next = self.scan.q.val() + 1;
            if self.at_last.q.val() {
                self.scan.d.next = 0.into();
                self.last.d.next = self.found.val();
                self.highest.d.next = 0.into();
            }
        }
        if self.set_valid.val() & self.open.val() {
            self.pending.d.next = self.set_operation.val() != TimerOperation::Nothing;
            self.asked.d.next = self.set_operation.val();
            self.asked_index.d.next = self.set_index.val();
            self.asked_code.d.next = self.set_code.val();
        }
        if !self.over.val() {
            self.clear.d.next = self.clear.q.val() + 1;
            self.state.d.next = TimersState::Pick;
            self.write.d.next = true;
            self.write_address.d.next = self.clear.q.val().get_bits::<SA>(0);
            self.write_data.d.next = 0.into();
            self.set_ready.next = false;
            self.pending.d.next = false;
        }
        if self.reset.val() {
            self.operation.d.next = TimerOperation::Nothing;
            self.state.d.next = TimersState::Pick;
            self.clear.d.next = 0.into();
            self.scan.d.next = 0.into();
            self.last.d.next = 0.into();
            self.highest.d.next = 0.into();
            self.turn.d.next = false;
            self.pending.d.next = false;
            self.armed.d.next = false;
            self.coded.d.next = false;
            self.rest.d.next = 0.into();
            self.low.d.next = 0.into();
            self.high.d.next = 0.into();
            self.low_full.d.next = false;
            self.write.d.next = false;
        }
    }

    crate::block_name!();
}
