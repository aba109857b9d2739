// SPDX-License-Identifier: MIT OR Apache-2.0
//! A platform without hardware: the golden engine behind registers, rings and memory. For examples and tests (feature `golden`).
//!
//! ```text
//!  Device ─► Bus: registers, tables, doorbells ─► Golden ─► frames: transmit, receive
//!     └────► DmaMemory ◄── completions, events ──────┘
//! ```
//! Time stands still unless [`GoldenHca::advance`] moves it; [`exchange`] joins two of them by a wire without faults.

mod rows;

use crate::{Bus, BusError, DmaError, DmaMemory, PAGE_BYTES};
use std::collections::{BTreeMap, VecDeque};
use verbena_model::golden::qp::State;
use verbena_model::golden::reorder::Reorder;
use verbena_model::golden::{Completion, Event, Features, Golden, Outcome};
use verbena_model::memory::Memory;
use verbena_spec::layout::{self, cq, cqe, event, event_type, mr, mtt, qp, rq_wqe};
use verbena_spec::registers::{self, doorbell};

/// CAPABILITIES bits beside the preset's.
const REQUESTER: u32 = 1 << 18;
const READ_ATOMIC: u32 = 1 << 19;
const REORDER: u32 = 1 << 20;
/// READ_LIMITS bit.
const SELECTIVE_REPEAT: u32 = 1 << 6;
/// Both halves.
const CONGESTION_CONTROL: u32 = 3 << 7;
/// First bus address that [`DmaMemory::allocate`] gives.
const FIRST_ADDRESS: u64 = 0x1_0000_0000;

#[derive(Default)]
struct CompletionQueue {
    base: u64,
    log: u32,
    producer: u16,
    consumer: u16,
    /// `doorbell::ARM_NEXT`, `ARM_SOLICITED`, or 0.
    armed: u32,
    /// It overflowed.
    stopped: bool,
}

/// The golden engine as a machine.
pub struct GoldenHca {
    golden: Golden,
    memory: Memory,
    /// Blocks given out: address, bytes.
    blocks: BTreeMap<u64, u64>,
    next_block: u64,
    /// Registers and tables, by address.
    words: BTreeMap<u32, u32>,
    refused: bool,
    cqs: BTreeMap<u32, CompletionQueue>,
    event_producer: u16,
    /// Receive WQEs taken from each QP's ring.
    receives: BTreeMap<u32, u16>,
    /// Frames to be sent before new ones: answers.
    answers: VecDeque<Vec<u8>>,
}

impl Default for GoldenHca {
    fn default() -> Self {
        Self::new()
    }
}

/// Bytes of the shortest Ethernet frame, its FCS not counted.
const SHORTEST_FRAME: usize = 60;

impl GoldenHca {
    /// The whole engine, with the sizes of the `tengig` preset.
    pub fn new() -> GoldenHca {
        Self::with_features(Features::ALL).with_reorder(Reorder::TENGIG)
    }

    /// With early packets held, and selective repeat; else neither.
    pub fn with_reorder(mut self, sizes: Reorder) -> GoldenHca {
        let holds = sizes.slots != 0;
        self.golden.reorder = sizes;
        for (register, bit) in [(registers::CAPABILITIES, REORDER), (registers::READ_LIMITS, SELECTIVE_REPEAT)] {
            let word = self.words.entry(register).or_default();
            *word = *word & !bit | if holds { bit } else { 0 };
        }
        self
    }

    /// One that lacks parts.
    pub fn with_features(features: Features) -> GoldenHca {
        let config = &verbena_spec::config::PRESETS[0];
        let mut words: BTreeMap<u32, u32> = registers::REGISTERS.iter().map(|r| (r.address, r.reset_value(config))).collect();
        let mut capabilities = registers::capabilities(config) & !(REQUESTER | READ_ATOMIC | REORDER);
        capabilities |= if features.requester { REQUESTER } else { 0 };
        capabilities |= if features.read_atomic { READ_ATOMIC } else { 0 };
        words.insert(registers::CAPABILITIES, capabilities);
        let limits = words.entry(registers::READ_LIMITS).or_default();
        *limits = *limits & !SELECTIVE_REPEAT | CONGESTION_CONTROL;
        GoldenHca {
            golden: Golden::with_features(rows::local(&words, config), features),
            memory: Memory::new(),
            blocks: BTreeMap::new(),
            next_block: FIRST_ADDRESS,
            words,
            refused: false,
            cqs: BTreeMap::new(),
            event_producer: 0,
            receives: BTreeMap::new(),
            answers: VecDeque::new(),
        }
    }

    /// The engine inside.
    pub fn golden(&self) -> &Golden {
        &self.golden
    }

    /// READ and ATOMIC responses go out one by one between requests, as the transmitter gets to them, instead of all at once.
    pub fn hold_responses(&mut self, hold: bool) {
        self.golden.hold_responses = hold;
    }

    /// The next frame to the wire: without FCS, padded to 60 bytes (R20).
    pub fn transmit(&mut self) -> Option<Vec<u8>> {
        let mut frame = self.next_frame()?;
        frame.resize(frame.len().max(SHORTEST_FRAME), 0);
        Some(frame)
    }

    fn next_frame(&mut self) -> Option<Vec<u8>> {
        if let Some(frame) = self.answers.pop_front() {
            return Some(frame);
        }
        let mut outcome = Outcome::default();
        let packet = self.golden.transmit(&mut self.memory, &mut outcome);
        self.tell(outcome);
        packet.map(|p| p.to_frame())
    }

    /// A frame from the wire.
    pub fn receive(&mut self, frame: &[u8]) {
        let outcome = self.golden.receive(frame, false, &mut self.memory);
        self.answers.extend(outcome.answers.iter().map(|p| p.to_frame()));
        self.tell(outcome);
    }

    /// When the next timer runs out, ns.
    pub fn next_deadline(&self) -> Option<u64> {
        self.golden.next_deadline()
    }

    /// Time goes on to `now`, ns.
    pub fn advance(&mut self, now: u64) {
        let mut outcome = Outcome::default();
        self.golden.advance(now, &mut self.memory, &mut outcome);
        self.answers.extend(outcome.answers.iter().map(|p| p.to_frame()));
        self.tell(outcome);
    }

    fn word(&self, address: u32) -> u32 {
        self.words.get(&address).copied().unwrap_or(0)
    }

    fn row(&self, base: u32, index: u32, words: usize) -> Vec<u32> {
        (0..words as u32)
            .map(|i| self.word(base + 4 * (words as u32 * index + i)))
            .collect()
    }

    /// Writes completions and events into their rings.
    fn tell(&mut self, outcome: Outcome) {
        for completion in &outcome.completions {
            self.complete(completion);
        }
        for event in outcome.events {
            self.raise(event);
        }
    }

    fn complete(&mut self, c: &Completion) {
        let number = u32::from(c.cq);
        let Some(queue) = self.cqs.get_mut(&number).filter(|q| !q.stopped) else {
            return;
        };
        if u32::from(queue.producer.wrapping_sub(queue.consumer)) >= 1 << queue.log {
            queue.stopped = true;
            return self.raise(Event {
                kind: event_type::CQ_ERROR,
                number,
                detail: 0,
            });
        }
        let mut entry = [0; layout::CQE_BYTES / 4];
        for (field, value) in [
            (cqe::QPN, c.qpn),
            (cqe::OPCODE, c.opcode),
            (cqe::STATUS, c.status),
            (cqe::WITH_IMM, c.with_imm.into()),
            (cqe::WITH_INVALIDATE, c.with_invalidate.into()),
            (cqe::GRH, c.grh.into()),
            (cqe::SOLICITED, c.solicited.into()),
            (cqe::WQE_INDEX, c.wqe_index.into()),
            (cqe::BYTE_LENGTH, c.byte_length),
            (cqe::IMMEDIATE, c.immediate),
            (cqe::SOURCE_QPN, c.source_qpn),
            (cqe::PHASE, phase(queue.producer, queue.log)),
        ] {
            field.set(&mut entry, value);
        }
        let slot = u64::from(queue.producer) & ((1 << queue.log) - 1);
        let address = queue.base + slot * layout::CQE_BYTES as u64;
        queue.producer = queue.producer.wrapping_add(1);
        let wanted = match queue.armed {
            doorbell::ARM_NEXT => true,
            doorbell::ARM_SOLICITED => c.solicited || c.status != layout::status::SUCCESS,
            _ => false,
        };
        queue.armed = if wanted { 0 } else { queue.armed };
        store(&mut self.memory, address, &entry);
        if wanted {
            self.raise(Event {
                kind: event_type::COMPLETION,
                number,
                detail: 0,
            });
        }
    }

    fn raise(&mut self, e: Event) {
        let control = self.word(registers::EQ_CONTROL);
        let log = control & 15;
        let consumer = self.word(registers::EQ_CONSUMER) as u16;
        if control >> 31 == 0 || u32::from(self.event_producer.wrapping_sub(consumer)) >= 1 << log {
            return;
        }
        let mut entry = [0; layout::EVENT_BYTES / 4];
        event::TYPE.set(&mut entry, e.kind);
        event::NUMBER.set(&mut entry, e.number);
        event::DETAIL.set(&mut entry, e.detail);
        event::PHASE.set(&mut entry, phase(self.event_producer, log));
        let base = u64::from(self.word(registers::EQ_BASE_LOW)) | u64::from(self.word(registers::EQ_BASE_HIGH)) << 32;
        let slot = u64::from(self.event_producer) & ((1 << log) - 1);
        store(&mut self.memory, base + slot * layout::EVENT_BYTES as u64, &entry);
        self.event_producer = self.event_producer.wrapping_add(1);
        self.words.insert(registers::EQ_PRODUCER, self.event_producer.into());
    }

    /// Runs COMMAND; false: refused.
    fn command(&mut self, value: u32) -> bool {
        let index = value & 0xfff;
        match value >> 28 {
            registers::operation::MODIFY_QP => self.modify(index, value >> 12 & 15),
            registers::operation::QUERY_QP => {
                let (state, epsn, msn, consumed) = self.golden.qp(index).map_or((0, 0, 0, 0), |q| {
                    (code(q.state), q.epsn, q.msn, u32::from(q.posted) - q.receives.len() as u32)
                });
                self.words.insert(registers::RESULT_0, state | epsn << 8);
                self.words.insert(registers::RESULT_1, msn);
                self.words.insert(registers::RESULT_2, consumed & 0xffff);
                true
            }
            _ => false,
        }
    }

    fn modify(&mut self, index: u32, to: u32) -> bool {
        if to == layout::state::RESET {
            self.golden.destroy_qp(index);
            self.receives.remove(&index);
            return true;
        }
        let row = self.row(registers::QP_TABLE, index, layout::QP_WORDS);
        let attributes = rows::attributes(&row, index);
        match self.golden.qp_mut(index) {
            Some(qp) => qp.attributes = attributes,
            None => self.golden.create_qp(attributes),
        }
        let state = [State::Reset, State::Init, State::Rtr, State::Rts, State::Sqd, State::Err]
            .into_iter()
            .find(|s| code(*s) == to);
        let mut outcome = Outcome::default();
        let done = state.is_some_and(|s| self.golden.modify(index, s, &mut outcome));
        self.tell(outcome);
        done
    }

    fn doorbell(&mut self, index: u32, kind: u32, value: u32) {
        let mut outcome = Outcome::default();
        match kind {
            doorbell::SQ_PRODUCER => self.golden.doorbell(index, value as u16, &mut outcome),
            doorbell::RQ_PRODUCER => self.receives(index, value as u16, &mut outcome),
            doorbell::CQ_CONSUMER => {
                if let Some(queue) = self.cqs.get_mut(&index) {
                    queue.consumer = value as u16;
                }
            }
            _ => {
                if let Some(queue) = self.cqs.get_mut(&index) {
                    queue.armed = value;
                }
            }
        }
        self.tell(outcome);
    }

    /// Takes receive WQEs from the ring.
    fn receives(&mut self, index: u32, producer: u16, outcome: &mut Outcome) {
        let row = self.row(registers::QP_TABLE, index, layout::QP_WORDS);
        let base = rows::get(&row, &qp::RQ_BASE_LOW, &qp::RQ_BASE_HIGH);
        let mask = (1u64 << qp::RQ_LOG.get(&row)) - 1;
        let next = self.receives.entry(index).or_insert(0);
        while *next != producer {
            let at = base + (u64::from(*next) & mask) * layout::RQ_WQE_BYTES as u64;
            let wqe = load(&self.memory, at, layout::RQ_WQE_BYTES / 4);
            let va = rows::get(&wqe, &rq_wqe::ADDRESS_LOW, &rq_wqe::ADDRESS_HIGH);
            let posted = self
                .golden
                .post_receive(index, va, rq_wqe::LENGTH.get(&wqe), rq_wqe::LKEY.get(&wqe), outcome);
            if posted.is_none() {
                return;
            }
            *next = next.wrapping_add(1);
        }
    }

    /// Word 0 of an MR row: the region lives, or ends. False: its pages have another offset than its addresses.
    fn memory_region(&mut self, index: u32) -> bool {
        let row = self.row(registers::MR_TABLE, index, layout::MR_WORDS);
        self.golden.regions.deregister_index(index);
        if mr::VALID.get(&row) == 0 {
            return true;
        }
        let mtt = |n: u32| {
            let entry = self.row(registers::MTT_TABLE, n, layout::MTT_WORDS);
            rows::get(&entry, &mtt::LOW, &mtt::HIGH)
        };
        match rows::region(&row, index, mtt) {
            Some(region) => self.golden.register(region),
            None => return false,
        }
        true
    }

    fn completion_queue(&mut self, index: u32) {
        let row = self.row(registers::CQ_TABLE, index, layout::CQ_WORDS);
        if cq::VALID.get(&row) == 0 {
            self.cqs.remove(&index);
            return;
        }
        let queue = CompletionQueue {
            base: rows::get(&row, &cq::BASE_LOW, &cq::BASE_HIGH),
            log: cq::LOG.get(&row),
            ..CompletionQueue::default()
        };
        self.cqs.insert(index, queue);
    }

    /// A write's effect; false: refused.
    fn act(&mut self, address: u32, value: u32) -> bool {
        match address {
            registers::COMMAND => self.refused = !self.command(value),
            registers::EQ_CONTROL => {
                self.event_producer = 0;
                self.words.insert(registers::EQ_CONSUMER, 0);
            }
            a if a >= registers::QP_TABLE => {}
            a if a >= registers::MR_TABLE => {
                let offset = (a - registers::MR_TABLE) / 4;
                if offset.is_multiple_of(layout::MR_WORDS as u32) {
                    return self.memory_region(offset / layout::MR_WORDS as u32);
                }
            }
            a if a >= registers::MTT_TABLE => {}
            a if a >= registers::CQ_TABLE => {
                let offset = (a - registers::CQ_TABLE) / 4;
                if offset.is_multiple_of(layout::CQ_WORDS as u32) {
                    self.completion_queue(offset / layout::CQ_WORDS as u32);
                }
            }
            a if a >= registers::DOORBELLS => {
                let offset = (a - registers::DOORBELLS) / 4;
                self.doorbell(offset / 4, offset % 4, value);
            }
            a if (registers::CONGESTION..registers::CONGESTION + 4 * layout::CONGESTION_WORDS as u32).contains(&a) => {
                let row = self.row(registers::CONGESTION, 0, layout::CONGESTION_WORDS);
                self.golden.congestion = rows::congestion(&row);
            }
            _ => self.golden.local = rows::local(&self.words, &verbena_spec::config::PRESETS[0]),
        }
        true
    }
}

fn code(state: State) -> u32 {
    match state {
        State::Reset => layout::state::RESET,
        State::Init => layout::state::INIT,
        State::Rtr => layout::state::RTR,
        State::Rts => layout::state::RTS,
        State::Sqd => layout::state::SQD,
        State::Err => layout::state::ERR,
    }
}

fn phase(producer: u16, log: u32) -> u32 {
    (u32::from(producer) >> log & 1) ^ 1
}

fn store(memory: &mut Memory, address: u64, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    memory.write(address, &bytes);
}

fn load(memory: &Memory, address: u64, words: usize) -> Vec<u32> {
    let bytes = memory.read(address, 4 * words);
    bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

impl Bus for GoldenHca {
    fn read(&mut self, address: u32) -> Result<u32, BusError> {
        match address {
            registers::STATUS => Ok(1),
            registers::COMMAND_STATUS => Ok((self.refused as u32) << 1),
            a if (registers::COUNTERS..registers::DOORBELLS).contains(&a) => {
                let number = ((a - registers::COUNTERS) / 4) as usize;
                self.golden.counters().get(number).copied().ok_or(BusError::Refused { address })
            }
            a if a >= registers::DOORBELLS => Err(BusError::Refused { address }),
            _ => self.words.get(&address).copied().ok_or(BusError::Refused { address }),
        }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), BusError> {
        self.words.insert(address, value);
        if self.act(address, value) {
            Ok(())
        } else {
            Err(BusError::Refused { address })
        }
    }
}

impl DmaMemory for GoldenHca {
    fn allocate(&mut self, bytes: u64, align: u64) -> Result<u64, DmaError> {
        let none = DmaError::OutOfMemory { bytes, align };
        let base = self.next_block.checked_next_multiple_of(align).ok_or(none.clone())?;
        // A gap after each, so that pages come scattered.
        self.next_block = base.checked_add(bytes).and_then(|end| end.checked_add(PAGE_BYTES)).ok_or(none)?;
        self.blocks.insert(base, bytes);
        Ok(base)
    }

    fn free(&mut self, address: u64, bytes: u64) -> Result<(), DmaError> {
        match self.blocks.get(&address) {
            Some(found) if *found == bytes => {
                self.blocks.remove(&address);
                Ok(())
            }
            _ => Err(DmaError::Unmapped { address, bytes }),
        }
    }

    fn load(&mut self, address: u64, data: &mut [u8]) -> Result<(), DmaError> {
        self.mapped(address, data.len() as u64)?;
        data.copy_from_slice(&self.memory.read(address, data.len()));
        Ok(())
    }

    fn store(&mut self, address: u64, data: &[u8]) -> Result<(), DmaError> {
        self.mapped(address, data.len() as u64)?;
        self.memory.write(address, data);
        Ok(())
    }
}

impl GoldenHca {
    fn mapped(&self, address: u64, bytes: u64) -> Result<(), DmaError> {
        let block = self.blocks.range(..=address).next_back();
        let fits = |(base, length): (&u64, &u64)| address.checked_add(bytes).is_some_and(|end| end <= base + length);
        if block.is_some_and(fits) {
            Ok(())
        } else {
            Err(DmaError::Unmapped { address, bytes })
        }
    }
}

/// Carries frames between two machines on a wire without faults, and lets time go on, until both are at rest.
pub fn exchange(a: &mut GoldenHca, b: &mut GoldenHca) {
    loop {
        let mut moved = false;
        while let Some(frame) = a.transmit() {
            b.receive(&frame);
            moved = true;
        }
        while let Some(frame) = b.transmit() {
            a.receive(&frame);
            moved = true;
        }
        if moved {
            continue;
        }
        match [a.next_deadline(), b.next_deadline()].into_iter().flatten().min() {
            Some(at) => {
                a.advance(at);
                b.advance(at);
            }
            None => return,
        }
    }
}
