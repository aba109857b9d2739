// SPDX-License-Identifier: MIT OR Apache-2.0
//! One packet of the READ responder into the packet stream, with its read job, and the words that it leaves in the store.
//!
//! ```text
//! start ─► Word0 ─► Word1 ─► Word2 ─► Ask ─► Gap ─► Wait ─► Aeth ─► [ResultHigh ─► ResultLow] ─► done
//!          index    opcode   PSN     flight, PSN + 1   MSN
//! ```
//!
//! The job is offered with the first word and must be taken before the last. `start` is held until `done`. Eight cycles a packet if nothing waits.

use super::kind::item;
use rust_hdl::prelude::*;

/// What is sent.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum PacketMode {
    /// A READ response.
    Read,
    /// An ATOMIC acknowledge.
    Atomic,
    /// The ACK that waited.
    Held,
    /// A NAK in place of the cursor's response.
    Nak,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum PacketStep {
    Idle,
    Word0,
    Word1,
    Word2,
    Ask,
    Gap,
    Wait,
    Aeth,
    HighAsk,
    HighGap,
    HighWait,
    High,
    LowAsk,
    LowGap,
    LowWait,
    Low,
}

#[derive(LogicBlock)]
pub struct ResponsePacket<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub mode: Signal<In, PacketMode>,
    pub done: Signal<Out, Bit>,
    pub index: Signal<In, Bits<QA>>,
    /// NAK: a key that no longer holds.
    pub access: Signal<In, Bit>,
    /// The cursor is in the row.
    pub active: Signal<In, Bit>,
    pub middle: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub length: Signal<In, Bits<14>>,
    pub newest: Signal<In, Bits<3>>,
    /// From the store, and PSN + 1 of it.
    pub word: Signal<In, Bits<32>>,
    pub sum: Signal<In, Bits<32>>,
    pub pool: Signal<Out, Bit>,
    pub item: Signal<Out, Bits<4>>,
    /// The word asked for is the PSN.
    pub next_psn: Signal<Out, Bit>,
    /// From the cycle behind `start` on, to the last word: only then are there writes.
    pub away: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub write_pool: Signal<Out, Bit>,
    pub write_flight: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<4>>,
    pub write_data: Signal<Out, Bits<32>>,
    /// The packet has payload: a read begins; its words are written.
    pub flight_begin: Signal<Out, Bit>,
    pub flight_written: Signal<Out, Bit>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    step: DFF<PacketStep>,
    job_due: DFF<Bit>,
    /// A packet is under way; what is written in this cycle, chosen in the one before.
    away_kept: DFF<Bit>,
    put: DFF<Bit>,
    put_pool: DFF<Bit>,
    put_flight: DFF<Bit>,
    put_item: DFF<Bits<4>>,
    put_cursor: DFF<Bit>,
    put_msn: DFF<Bit>,
    /// `aeth` and `atomic` for the words after the first, which come cycles later.
    aeth_kept: DFF<Bit>,
    atomic_kept: DFF<Bit>,
    payload_kept: DFF<Bit>,
    read: Signal<Local, Bit>,
    atomic: Signal<Local, Bit>,
    payload: Signal<Local, Bit>,
    aeth: Signal<Local, Bit>,
    headers: Signal<Local, Bits<4>>,
    opcode: Signal<Local, Bits<8>>,
    syndrome: Signal<Local, Bits<8>>,
    top: Signal<Local, Bits<8>>,
    rest: Signal<Local, Bits<24>>,
    asks_psn: Signal<Local, Bit>,
    last_word: Signal<Local, Bit>,
    offered: Signal<Local, Bit>,
    gone: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    item_cursor: Constant<Bits<4>>,
    item_msn: Constant<Bits<4>>,
    item_held_psn: Constant<Bits<4>>,
    item_held_aeth: Constant<Bits<4>>,
    item_low: Constant<Bits<4>>,
    item_high: Constant<Bits<4>>,
    only: Constant<Bits<8>>,
    first: Constant<Bits<8>>,
    middle_code: Constant<Bits<8>>,
    last_code: Constant<Bits<8>>,
    atomic_code: Constant<Bits<8>>,
    acknowledge: Constant<Bits<8>>,
    credits: Constant<Bits<8>>,
    nak_access: Constant<Bits<8>>,
    nak_operation: Constant<Bits<8>>,
    in_middle: Constant<Bits<8>>,
    was_executed: Constant<Bits<8>>,
    response: Constant<Bits<32>>,
}

impl<const QA: usize> Default for ResponsePacket<QA> {
    fn default() -> Self {
        let item = |value: u64| Constant::new(value.to_bits());
        let code = |value: u64| Constant::new(value.to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            start: Default::default(),
            mode: Default::default(),
            done: Default::default(),
            index: Default::default(),
            access: Default::default(),
            active: Default::default(),
            middle: Default::default(),
            last: Default::default(),
            length: Default::default(),
            newest: Default::default(),
            word: Default::default(),
            sum: Default::default(),
            pool: Default::default(),
            item: Default::default(),
            next_psn: Default::default(),
            write: Default::default(),
            write_pool: Default::default(),
            write_flight: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            flight_begin: Default::default(),
            flight_written: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            step: Default::default(),
            job_due: Default::default(),
            away: Default::default(),
            away_kept: Default::default(),
            put: Default::default(),
            put_pool: Default::default(),
            put_flight: Default::default(),
            put_item: Default::default(),
            put_cursor: Default::default(),
            put_msn: Default::default(),
            aeth_kept: Default::default(),
            atomic_kept: Default::default(),
            payload_kept: Default::default(),
            read: Default::default(),
            atomic: Default::default(),
            payload: Default::default(),
            aeth: Default::default(),
            headers: Default::default(),
            opcode: Default::default(),
            syndrome: Default::default(),
            top: Default::default(),
            rest: Default::default(),
            asks_psn: Default::default(),
            last_word: Default::default(),
            offered: Default::default(),
            gone: Default::default(),
            finished: Default::default(),
            item_cursor: item(item::CURSOR),
            item_msn: item(item::MSN),
            item_held_psn: item(item::HELD_PSN),
            item_held_aeth: item(item::HELD_AETH),
            item_low: item(item::LOW),
            item_high: item(item::HIGH),
            only: code(0x10),
            first: code(0x0d),
            middle_code: code(0x0e),
            last_code: code(0x0f),
            atomic_code: code(0x12),
            acknowledge: code(0x11),
            // R38.
            credits: code(0x1f),
            nak_access: code(0x62),
            nak_operation: code(0x63),
            in_middle: code(0x08),
            was_executed: code(0x02),
            response: Constant::new((1u64 << 11).to_bits()),
        }
    }
}

impl<const QA: usize> Logic for ResponsePacket<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, step, job_due, aeth_kept, atomic_kept, payload_kept);
        dff_setup!(self, clock, away_kept, put, put_pool, put_flight, put_item, put_cursor, put_msn);
        self.read.next = self.mode.val() == PacketMode::Read;
        self.atomic.next = self.mode.val() == PacketMode::Atomic;
        self.payload.next = self.read.val() & self.length.val().any();
        self.aeth.next = !self.read.val() | !self.middle.val() | self.last.val();

        self.aeth_kept.d.next = self.aeth.val();
        self.atomic_kept.d.next = self.atomic.val();
        self.payload_kept.d.next = self.payload.val();

        // What the words are.
        self.opcode.next = self.acknowledge.val();
        self.headers.next = bit_cast::<4, 1>(self.aeth.val().into());
        if self.read.val() {
            self.opcode.next = self.only.val();
            if self.middle.val() {
                self.opcode.next = self.last_code.val();
                if !self.last.val() {
                    self.opcode.next = self.middle_code.val();
                }
            } else {
                if !self.last.val() {
                    self.opcode.next = self.first.val();
                }
            }
        }
        if self.atomic.val() {
            self.opcode.next = self.atomic_code.val();
            self.headers.next = 3.into();
        }
        self.syndrome.next = self.credits.val();
        match self.mode.val() {
            PacketMode::Held => {
                self.syndrome.next = self.word.val().get_bits::<8>(24);
            }
            PacketMode::Nak => {
                self.syndrome.next = self.nak_operation.val();
                if self.access.val() {
                    self.syndrome.next = self.nak_access.val();
                }
            }
            _ => {}
        }

        // Where PSN and MSN are.
        self.asks_psn.next = false;
        self.item.next = self.item_msn.val();

        self.offered.next = false;
        self.last_word.next = ((self.step.q.val() == PacketStep::Word2) & !self.aeth_kept.q.val())
            | ((self.step.q.val() == PacketStep::Aeth) & !self.atomic_kept.q.val())
            | (self.step.q.val() == PacketStep::Low);
        self.away.next = self.away_kept.q.val();
        self.write.next = self.put.q.val();
        self.write_pool.next = self.put_pool.q.val();
        self.write_flight.next = self.put_flight.q.val();
        self.write_item.next = self.put_item.q.val();
        self.put.d.next = false;
        self.put_pool.d.next = self.atomic_kept.q.val();
        self.put_flight.d.next = !self.atomic_kept.q.val();
        self.put_item.d.next = bit_cast::<4, 3>(self.newest.val()) << 1;
        if self.atomic_kept.q.val() {
            self.put_item.d.next = 0.into();
        }
        self.put_cursor.d.next = false;
        self.put_msn.d.next = false;
        // With the PSN the QP of a payload read, or the flags of an ATOMIC; the next PSN to the cursor; the MSN of a payload read.
        self.top.next = bit_cast::<8, QA>(self.index.val());
        self.rest.next = self.word.val().get_bits::<24>(0);
        if self.atomic_kept.q.val() {
            self.top.next = self.word.val().get_bits::<8>(24) | self.was_executed.val();
        }
        if self.put_cursor.q.val() {
            self.top.next = self.in_middle.val();
            self.rest.next = self.sum.val().get_bits::<24>(0);
        }
        if self.put_msn.q.val() {
            self.top.next = 0.into();
        }
        self.flight_begin.next = false;
        self.flight_written.next = false;
        self.finished.next = false;
        self.gone.next = self.packet_ready.val() & (!self.last_word.val() | !self.job_due.q.val());
        self.packet_word.next = bit_cast::<32, 24>(self.word.val().get_bits::<24>(0));
        if self.job_ready.val() {
            self.job_due.d.next = false;
        }
        match self.step.q.val() {
            PacketStep::Idle => {
                self.asks_psn.next = true;
                if self.start.val() {
                    self.step.d.next = PacketStep::Word0;
                    self.away_kept.d.next = true;
                    self.job_due.d.next = self.payload.val();
                    self.flight_begin.next = self.payload.val();
                }
            }
            PacketStep::Word0 => {
                self.asks_psn.next = true;
                self.offered.next = true;
                self.packet_word.next = bit_cast::<32, QA>(self.index.val()) | (bit_cast::<32, 4>(self.headers.val()) << 28);
                if self.payload_kept.q.val() {
                    self.packet_word.next = bit_cast::<32, QA>(self.index.val())
                        | (bit_cast::<32, 1>(self.payload_kept.q.val().into()) << 13)
                        | (bit_cast::<32, 14>(self.length.val()) << 14)
                        | (bit_cast::<32, 4>(self.headers.val()) << 28);
                }
                if self.gone.val() {
                    self.step.d.next = PacketStep::Word1;
                }
            }
            PacketStep::Word1 => {
                self.asks_psn.next = true;
                self.offered.next = true;
                self.packet_word.next = bit_cast::<32, 8>(self.opcode.val());
                if self.read.val() | self.atomic_kept.q.val() {
                    self.packet_word.next = bit_cast::<32, 8>(self.opcode.val()) | self.response.val();
                }
                if self.gone.val() {
                    self.step.d.next = PacketStep::Word2;
                }
            }
            PacketStep::Word2 => {
                self.asks_psn.next = true;
                self.offered.next = true;
                if self.gone.val() {
                    // The word is still the PSN then.
                    self.put.d.next = self.payload_kept.q.val() | self.atomic_kept.q.val();
                    self.step.d.next = PacketStep::Ask;
                }
            }
            PacketStep::Ask => {
                self.put.d.next = self.read.val();
                self.put_flight.d.next = false;
                self.put_item.d.next = self.item_cursor.val();
                self.put_cursor.d.next = true;
                self.step.d.next = PacketStep::Gap;
            }
            PacketStep::Gap => {
                self.step.d.next = PacketStep::Wait;
            }
            PacketStep::Wait => {
                self.put.d.next = self.payload_kept.q.val();
                self.put_item.d.next = (bit_cast::<4, 3>(self.newest.val()) << 1) | 1;
                self.put_msn.d.next = true;
                self.step.d.next = PacketStep::Aeth;
            }
            PacketStep::Aeth => {
                self.offered.next = self.aeth_kept.q.val();
                self.packet_word.next =
                    bit_cast::<32, 24>(self.word.val().get_bits::<24>(0)) | (bit_cast::<32, 8>(self.syndrome.val()) << 24);
                if self.gone.val() | !self.aeth_kept.q.val() {
                    self.flight_written.next = self.payload_kept.q.val();
                    if self.atomic_kept.q.val() {
                        self.step.d.next = PacketStep::HighAsk;
                    } else {
                        self.finished.next = true;
                    }
                }
            }
            PacketStep::HighAsk => {
                self.item.next = self.item_high.val();
                self.step.d.next = PacketStep::HighGap;
            }
            PacketStep::HighGap => {
                self.item.next = self.item_high.val();
                self.step.d.next = PacketStep::HighWait;
            }
            PacketStep::HighWait => {
                self.item.next = self.item_high.val();
                self.step.d.next = PacketStep::High;
            }
            PacketStep::High => {
                self.item.next = self.item_high.val();
                self.packet_word.next = self.word.val();
                self.offered.next = true;
                if self.gone.val() {
                    self.step.d.next = PacketStep::LowAsk;
                }
            }
            PacketStep::LowAsk => {
                self.item.next = self.item_low.val();
                self.step.d.next = PacketStep::LowGap;
            }
            PacketStep::LowGap => {
                self.item.next = self.item_low.val();
                self.step.d.next = PacketStep::LowWait;
            }
            PacketStep::LowWait => {
                self.item.next = self.item_low.val();
                self.step.d.next = PacketStep::Low;
            }
            PacketStep::Low => {
                self.item.next = self.item_low.val();
                self.packet_word.next = self.word.val();
                self.offered.next = true;
                if self.gone.val() {
                    self.finished.next = true;
                }
            }
            _ => {
                self.step.d.next = PacketStep::Idle;
            }
        }
        self.pool.next = !self.active.val() | !self.asks_psn.val() | self.atomic.val();
        if self.asks_psn.val() {
            self.item.next = 0.into();
            if self.active.val() & !self.atomic.val() {
                self.item.next = self.item_cursor.val();
            }
        }
        if self.mode.val() == PacketMode::Held {
            self.pool.next = false;
            self.item.next = self.item_held_aeth.val();
            if self.asks_psn.val() {
                self.item.next = self.item_held_psn.val();
            }
        }
        self.next_psn.next = self.asks_psn.val();
        self.write_data.next = bit_cast::<32, 24>(self.rest.val()) | (bit_cast::<32, 8>(self.top.val()) << 24);
        self.packet_last.next = self.last_word.val();
        self.packet_valid.next = self.offered.val() & (!self.last_word.val() | !self.job_due.q.val());
        self.job_valid.next = self.job_due.q.val();
        self.done.next = self.finished.val();
        if self.finished.val() | self.reset.val() {
            self.step.d.next = PacketStep::Idle;
            self.away_kept.d.next = false;
        }
        if self.reset.val() {
            self.job_due.d.next = false;
            self.put.d.next = false;
        }
    }

    crate::block_name!("One packet of the READ responder.");
}
