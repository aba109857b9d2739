// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counter file, and beside it the read-back rows of the registers, in one RAM of 16-bit halves.
//!
//! ```text
//! rx, responder, tx, extra ─► turn ─► RAM 256 × 16 ─► +1, low half then high half ─► RAM
//! access (registers) ────────────┘         └─► half_data, half_strobe: low, then high
//!
//! row 0-63 counters, by code; row 64-127 what software wrote to register (row - 64), the congestion row behind the others; row r has its halves at 2r and 2r + 1
//! ```
//!
//! An event takes 4 cycles; while one is counted the turn moves on to the next source that waits, so any pattern of sources keeps
//! one event in 4 cycles. No event is lost: `ready` waits. An access takes 4 cycles to write and 3 to read, and goes before events.
//! After reset a walk clears the RAM (256 cycles); the row of TICK gets its reset value. Reading and writing share the address; where both
//! happen at once, nobody looks at what is read.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::registers;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CountersState {
    Clear,
    Idle,
    EventHigh,
    EventLow,
    EventCarry,
    ReadHigh,
    ReadEnd,
    WriteHigh,
}

/// Counters are 32 bits and wrap. `access_*` is held from valid to done.
#[derive(LogicBlock)]
pub struct Counters {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub rx_valid: Signal<In, Bit>,
    pub rx_code: Signal<In, Bits<6>>,
    pub rx_ready: Signal<Out, Bit>,
    pub responder_valid: Signal<In, Bit>,
    pub responder_code: Signal<In, Bits<6>>,
    pub responder_ready: Signal<Out, Bit>,
    pub tx_valid: Signal<In, Bit>,
    pub tx_code: Signal<In, Bits<6>>,
    pub tx_ready: Signal<Out, Bit>,
    pub extra_valid: Signal<In, Bit>,
    pub extra_code: Signal<In, Bits<6>>,
    pub extra_ready: Signal<Out, Bit>,
    /// One access of the registers to a row.
    pub access_valid: Signal<In, Bit>,
    pub access_write: Signal<In, Bit>,
    pub access_row: Signal<In, Bits<7>>,
    pub access_data: Signal<In, Bits<32>>,
    /// One cycle: the access is over.
    pub access_done: Signal<Out, Bit>,
    /// Read data: shift it in from above at each strobe.
    pub half_data: Signal<Out, Bits<16>>,
    pub half_strobe: Signal<Out, Bit>,
    ram: SplitRam<8, 16>,
    state: DFF<CountersState>,
    turn: DFF<Bits<2>>,
    /// Of the event, the access, or the walk.
    row: DFF<Bits<8>>,
    half: DFF<Bits<16>>,
    strobe: DFF<Bit>,
    carry: DFF<Bit>,
    idle: Signal<Local, Bit>,
    chosen: Signal<Local, Bit>,
    code: Signal<Local, Bits<6>>,
    sum: Signal<Local, Bits<17>>,
    data_low: Signal<Local, Bits<16>>,
    data_high: Signal<Local, Bits<16>>,
    data_sum: Signal<Local, Bits<16>>,
    wanted: Signal<Local, Bits<8>>,
    place: Signal<Local, Bits<8>>,
    high: Constant<Bits<8>>,
    walk_end: Constant<Bits<8>>,
    before_tick_low: Constant<Bits<8>>,
    before_tick_high: Constant<Bits<8>>,
    tick_reset_low: Constant<Bits<16>>,
    tick_reset_high: Constant<Bits<16>>,
    rx: Constant<Bits<2>>,
    responder: Constant<Bits<2>>,
    tx: Constant<Bits<2>>,
    extra: Constant<Bits<2>>,
}

impl Counters {
    pub fn new(config: &Config) -> Self {
        let tick = (registers::TICK as u64 / 4 + registers::READ_BACK_ROW as u64) * 2;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            rx_valid: Default::default(),
            rx_code: Default::default(),
            rx_ready: Default::default(),
            responder_valid: Default::default(),
            responder_code: Default::default(),
            responder_ready: Default::default(),
            tx_valid: Default::default(),
            tx_code: Default::default(),
            tx_ready: Default::default(),
            extra_valid: Default::default(),
            extra_code: Default::default(),
            extra_ready: Default::default(),
            access_valid: Default::default(),
            access_write: Default::default(),
            access_row: Default::default(),
            access_data: Default::default(),
            access_done: Default::default(),
            half_data: Default::default(),
            half_strobe: Default::default(),
            ram: Default::default(),
            state: Default::default(),
            turn: Default::default(),
            row: Default::default(),
            half: Default::default(),
            strobe: Default::default(),
            carry: Default::default(),
            idle: Default::default(),
            chosen: Default::default(),
            code: Default::default(),
            sum: Default::default(),
            data_low: Default::default(),
            data_high: Default::default(),
            data_sum: Default::default(),
            wanted: Default::default(),
            place: Default::default(),
            high: Constant::new(1.into()),
            walk_end: Constant::new(255.into()),
            before_tick_low: Constant::new((tick - 1).to_bits()),
            before_tick_high: Constant::new(tick.to_bits()),
            tick_reset_low: Constant::new((registers::tick(config) as u64 & 0xffff).to_bits()),
            tick_reset_high: Constant::new((registers::tick(config) as u64 >> 16).to_bits()),
            rx: Constant::new(0.into()),
            responder: Constant::new(1.into()),
            tx: Constant::new(2.into()),
            extra: Constant::new(3.into()),
        }
    }
}

impl Logic for Counters {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, turn, row, half, strobe, carry);
        clock!(self, clock, ram);

        self.ready.next = self.state.q.val() != CountersState::Clear;
        self.access_done.next = false;
        self.half_data.next = self.half.q.val();
        self.half_strobe.next = self.strobe.q.val();
        self.strobe.d.next = false;
        self.half.d.next = self.ram.read_data.val();

        self.chosen.next = self.rx_valid.val();
        self.code.next = self.rx_code.val();
        if self.turn.q.val() == self.responder.val() {
            self.chosen.next = self.responder_valid.val();
            self.code.next = self.responder_code.val();
        }
        if self.turn.q.val() == self.tx.val() {
            self.chosen.next = self.tx_valid.val();
            self.code.next = self.tx_code.val();
        }
        if self.turn.q.val() == self.extra.val() {
            self.chosen.next = self.extra_valid.val();
            self.code.next = self.extra_code.val();
        }
        self.idle.next = (self.state.q.val() == CountersState::Idle) & !self.access_valid.val();
        self.rx_ready.next = self.idle.val() & (self.turn.q.val() == self.rx.val());
        self.responder_ready.next = self.idle.val() & (self.turn.q.val() == self.responder.val());
        self.tx_ready.next = self.idle.val() & (self.turn.q.val() == self.tx.val());
        self.extra_ready.next = self.idle.val() & (self.turn.q.val() == self.extra.val());
        // Look for the next source that waits.
        if !self.chosen.val() {
            self.turn.d.next = self.turn.q.val() + 1;
        }

        // The row: the access's or the event's, then as kept.
        self.wanted.next = bit_cast::<8, 6>(self.code.val()) << 1;
        if self.access_valid.val() {
            self.wanted.next = bit_cast::<8, 7>(self.access_row.val()) << 1;
        }
        self.place.next = self.row.q.val();
        if self.state.q.val() == CountersState::Idle {
            self.place.next = self.wanted.val();
            self.row.d.next = self.wanted.val();
        }
        self.sum.next = bit_cast::<17, 16>(self.half.q.val()) + bit_cast::<17, 1>(self.carry.q.val().into());
        self.ram.write_enable.next = false;
        self.ram.write_address.next = self.place.val();
        self.data_low.next = 0.into();
        self.data_high.next = 0.into();
        self.data_sum.next = 0.into();
        if self.state.q.val() == CountersState::Idle {
            self.data_low.next = self.access_data.val().get_bits::<16>(0);
        } else if self.state.q.val() == CountersState::WriteHigh {
            self.data_high.next = self.access_data.val().get_bits::<16>(16);
        } else {
            self.data_sum.next = self.sum.val().get_bits::<16>(0);
        }
        self.ram.write_data.next = self.data_low.val() | self.data_high.val() | self.data_sum.val();
        self.ram.read_enable.next = true;
        self.ram.read_address.next = self.place.val() | self.high.val();

        match self.state.q.val() {
            CountersState::Clear => {
                // What the next row is to hold goes through the sum.
                self.half.d.next = 0.into();
                if self.row.q.val() == self.before_tick_low.val() {
                    self.half.d.next = self.tick_reset_low.val();
                }
                if self.row.q.val() == self.before_tick_high.val() {
                    self.half.d.next = self.tick_reset_high.val();
                }
                self.row.d.next = self.row.q.val() + 1;
                self.ram.write_enable.next = true;
                if self.row.q.val() == self.walk_end.val() {
                    self.state.d.next = CountersState::Idle;
                }
            }
            CountersState::Idle => {
                self.carry.d.next = true;
                self.ram.read_address.next = self.place.val();
                if self.access_valid.val() {
                    self.ram.write_enable.next = self.access_write.val();
                    self.state.d.next = CountersState::ReadHigh;
                    if self.access_write.val() {
                        self.state.d.next = CountersState::WriteHigh;
                    }
                } else {
                    if self.chosen.val() {
                        self.turn.d.next = self.turn.q.val() + 1;
                        self.state.d.next = CountersState::EventHigh;
                    }
                }
            }
            CountersState::EventHigh => {
                self.state.d.next = CountersState::EventLow;
            }
            CountersState::EventLow => {
                self.ram.write_enable.next = true;
                self.carry.d.next = self.sum.val().get_bit(16);
                self.state.d.next = CountersState::EventCarry;
            }
            CountersState::EventCarry => {
                self.ram.write_enable.next = true;
                self.ram.write_address.next = self.place.val() | self.high.val();
                self.state.d.next = CountersState::Idle;
            }
            CountersState::ReadHigh => {
                self.strobe.d.next = true;
                self.state.d.next = CountersState::ReadEnd;
            }
            CountersState::ReadEnd => {
                self.strobe.d.next = true;
                self.access_done.next = true;
                self.state.d.next = CountersState::Idle;
            }
            CountersState::WriteHigh => {
                self.ram.write_enable.next = true;
                self.ram.write_address.next = self.place.val() | self.high.val();
                self.access_done.next = true;
                self.state.d.next = CountersState::Idle;
            }
            _ => {
                self.state.d.next = CountersState::Idle;
            }
        }

        if self.reset.val() {
            self.state.d.next = CountersState::Clear;
            self.row.d.next = 0.into();
            self.half.d.next = 0.into();
            self.carry.d.next = false;
            self.strobe.d.next = false;
            self.turn.d.next = 0.into();
        }
    }

    crate::block_name!();
}
