// SPDX-License-Identifier: MIT OR Apache-2.0
//! Completion queues and the event queue: entries into rings in host memory, doorbells, notification.
//!
//! ```text
//! completion ─┐        row RAM: control, base, {consumer, producer}
//! event_job ──┤            │
//! doorbell ───┼─► one step at a time: row ─► RingPosition ─► QueueWriter ─► aw, w
//! table ──────┤            ▲                                    │ push
//! eq_restart ─┘            └── error, notify ◄── WriteTracker ◄─┴── b         EventQueue ─► irq_pending, eq_producer
//! ```
//!
//! A completion takes 10 cycles at W = 64 and 14 at W = 32, one more on an armed CQ, an event 6 and 8 (plus what AW and W wait);
//! up to `T - 1` writes are on their way at a time. Order of service: landed writes that want something, tables and restarts (once nothing
//! is on its way), doorbells, events, completions.
//!
//! Contract:
//! - An armed CQ raises one COMPLETION event, for the first completion *added after* the arm (or the first solicited or failed one), once
//!   that completion has landed; as in verbs, software arms, then polls once more. Arms add up until one fires.
//! - R69, a completion for a full CQ: lost and counted, the CQ's valid bit goes off, CQ_ERROR. Later ones are only counted.
//! - R69, an AXI error on a completion: counted, the CQ's valid bit goes off, CQ_ERROR. On an event: counted; the indices go on.
//! - R69, a doorbell for no CQ, a consumer index that moves backwards or beyond the producer, an arm that is neither 1 nor 2: counted,
//!   BAD_DOORBELL, no effect.
//! - A full or absent event queue loses the event, counted; nothing else changes.
//! - A row or EQ_CONTROL is written only when no write is on its way, so after its B the old ring's memory is the host's.

use super::{CompletionJob, EventJob, EventQueue, QueueWriter, RingPosition, WriteTracker};
use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;
use verbena_spec::counters;
use verbena_spec::layout::{event_type, CQE_BYTES};
use verbena_spec::registers::doorbell;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum QueuesState {
    Clear,
    Idle,
    Restart,
    Table,
    TableClear,
    Control,
    Position,
    Low,
    High,
    NewWaiting,
    Compare,
    Compared,
    Write,
    Save,
    SaveControl,
    Stop,
    Count,
    EventLoad,
    EventWaiting,
    EventDecide,
    Done,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum QueuesWork {
    Completion,
    Doorbell,
    Notice,
    Landed,
}

/// `W` bus bits, `K = W/8`, `QA` CQ index bits, `RA = QA + 2`; `D` bits of the row RAM: 32, or 16 in a small engine; `T` writes on their
/// way at most.
#[derive(LogicBlock)]
pub struct CompletionQueues<const W: usize, const K: usize, const QA: usize, const RA: usize, const D: usize, const T: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The rows are cleared.
    pub ready: Signal<Out, Bit>,
    pub completion: Signal<In, CompletionJob>,
    pub completion_valid: Signal<In, Bit>,
    pub completion_ready: Signal<Out, Bit>,
    pub event_job: Signal<In, EventJob>,
    pub event_job_valid: Signal<In, Bit>,
    pub event_job_ready: Signal<Out, Bit>,
    /// CQ rows: index·4 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<14>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// Kind 0 consumer, 1 arm.
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_kind: Signal<In, Bits<1>>,
    pub doorbell_value: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub eq_base: Signal<In, Bits<64>>,
    pub eq_control: Signal<In, Bits<32>>,
    pub eq_consumer: Signal<In, Bits<16>>,
    /// Held until ready; EQ_CONTROL changes in the next cycle.
    pub eq_restart: Signal<In, Bit>,
    pub eq_restart_ready: Signal<Out, Bit>,
    pub eq_producer: Signal<Out, Bits<16>>,
    pub irq_pending: Signal<Out, Bit>,
    pub aw_address: Signal<Out, Bits<64>>,
    pub aw_length: Signal<Out, Bits<8>>,
    pub aw_valid: Signal<Out, Bit>,
    pub aw_ready: Signal<In, Bit>,
    pub w_data: Signal<Out, Bits<W>>,
    pub w_strobe: Signal<Out, Bits<K>>,
    pub w_last: Signal<Out, Bit>,
    pub w_valid: Signal<Out, Bit>,
    pub w_ready: Signal<In, Bit>,
    pub b_valid: Signal<In, Bit>,
    pub b_error: Signal<In, Bit>,
    /// Counter events.
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    rows: SplitRam<RA, D>,
    ring: RingPosition,
    writer: QueueWriter<W, K>,
    tracker: WriteTracker<T>,
    queue: EventQueue,
    state: DFF<QueuesState>,
    work: DFF<QueuesWork>,
    walk: DFF<Bits<RA>>,
    valid: DFF<Bit>,
    armed: DFF<Bits<2>>,
    log: DFF<Bits<4>>,
    producer: DFF<Bits<16>>,
    consumer: DFF<Bits<16>>,
    waiting: DFF<Bits<16>>,
    waiting_now: Signal<Local, Bits<16>>,
    /// As `waiting`: the ring has no place left.
    full: DFF<Bit>,
    /// The state is `Write`.
    writing: DFF<Bit>,
    /// A doorbell, a cycle later.
    doorbell_seen: DFF<Bit>,
    old_waiting: DFF<Bits<16>>,
    more_waiting: DFF<Bit>,
    base_low: DFF<Bits<32>>,
    base_high: DFF<Bits<32>>,
    notify: DFF<Bit>,
    is_event: DFF<Bit>,
    /// An event follows the count.
    tell: DFF<Bit>,
    kind: DFF<Bits<8>>,
    code: DFF<Bits<6>>,
    doorbell_turn: Signal<Local, Bit>,
    index: Signal<Local, Bits<12>>,
    beyond: Signal<Local, Bit>,
    table_beyond: Signal<Local, Bits<14>>,
    item: Signal<Local, Bits<2>>,
    table_item: Signal<Local, Bits<2>>,
    row_address: Signal<Local, Bits<RA>>,
    fires: Signal<Local, Bit>,
    finish: Signal<Local, Bit>,
    good_arm: Signal<Local, Bit>,
    control_word: Signal<Local, Bits<D>>,
    position_word: Signal<Local, Bits<D>>,
    table_word: Signal<Local, Bits<D>>,
    table_base: Signal<Local, Bits<32>>,
    table_good: Signal<Local, Bit>,
    row_arms: Signal<Local, Bits<D>>,
    row_upper: Signal<Local, Bits<D>>,
    row_valid: Signal<Local, Bit>,
    event0: Signal<Local, Bits<32>>,
    event1: Signal<Local, Bits<32>>,
    item_control: Constant<Bits<2>>,
    item_low: Constant<Bits<2>>,
    item_high: Constant<Bits<2>>,
    item_position: Constant<Bits<2>>,
    walk_end: Constant<Bits<RA>>,
    index_mask: Constant<Bits<12>>,
    table_mask: Constant<Bits<14>>,
    bit_valid: Constant<Bits<5>>,
    bit_arms: Constant<Bits<5>>,
    bit_consumer: Constant<Bits<5>>,
    base_shift: Constant<Bits<5>>,
    largest_log: Constant<Bits<4>>,
    ring_mask: Constant<Bits<16>>,
    address_mask: Constant<Bits<64>>,
    number_mask: Constant<Bits<12>>,
    tells_value: Constant<Bit>,
    arm_next: Constant<Bits<16>>,
    arm_solicited: Constant<Bits<16>>,
    slot_doorbell: Constant<Bits<32>>,
    kind_completion: Constant<Bits<8>>,
    kind_cq_error: Constant<Bits<8>>,
    kind_bad_doorbell: Constant<Bits<8>>,
    code_none: Constant<Bits<6>>,
    code_cq_overflow: Constant<Bits<6>>,
    code_eq_overflow: Constant<Bits<6>>,
    code_bad_doorbell: Constant<Bits<6>>,
    code_axi_error: Constant<Bits<6>>,
}

impl<const W: usize, const K: usize, const QA: usize, const RA: usize, const D: usize, const T: usize>
    CompletionQueues<W, K, QA, RA, D, T>
{
    pub fn new(config: &Config) -> Self {
        assert_eq!(RA, QA + 2, "CompletionQueues: RA must be QA + 2");
        assert_eq!((W, 1 << QA), (config.data_bits, config.n_cqs), "CompletionQueues: sizes");
        let small = config.small();
        assert_eq!(D, if small { 16 } else { 32 }, "CompletionQueues: D");
        // A small row holds a base's bits from the size of an entry on, and two indices of 8 bits.
        assert!(
            !small || (config.address_bits <= 21 && config.ring_log == 7),
            "CompletionQueues: small rows"
        );
        let number_mask = if small { config.n_cqs as u64 - 1 } else { 0xfff };
        let code = |n: u8| Constant::new((n as u64).to_bits());
        let kind = |n: u32| Constant::new((n as u64).to_bits());
        let item = |n: u64| Constant::new(n.to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            completion: Default::default(),
            completion_valid: Default::default(),
            completion_ready: Default::default(),
            event_job: Default::default(),
            event_job_valid: Default::default(),
            event_job_ready: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            doorbell_valid: Default::default(),
            doorbell_index: Default::default(),
            doorbell_kind: Default::default(),
            doorbell_value: Default::default(),
            doorbell_ready: Default::default(),
            eq_base: Default::default(),
            eq_control: Default::default(),
            eq_consumer: Default::default(),
            eq_restart: Default::default(),
            eq_restart_ready: Default::default(),
            eq_producer: Default::default(),
            irq_pending: Default::default(),
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
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            rows: Default::default(),
            ring: RingPosition::new(config),
            writer: QueueWriter::new(config),
            tracker: WriteTracker::new(config),
            queue: EventQueue::new(config),
            state: Default::default(),
            work: Default::default(),
            walk: Default::default(),
            valid: Default::default(),
            armed: Default::default(),
            log: Default::default(),
            producer: Default::default(),
            consumer: Default::default(),
            waiting: Default::default(),
            waiting_now: Default::default(),
            full: Default::default(),
            writing: Default::default(),
            doorbell_seen: Default::default(),
            old_waiting: Default::default(),
            more_waiting: Default::default(),
            base_low: Default::default(),
            base_high: Default::default(),
            notify: Default::default(),
            is_event: Default::default(),
            tell: Default::default(),
            kind: Default::default(),
            code: Default::default(),
            doorbell_turn: Default::default(),
            index: Default::default(),
            beyond: Default::default(),
            table_beyond: Default::default(),
            item: Default::default(),
            table_item: Default::default(),
            row_address: Default::default(),
            fires: Default::default(),
            finish: Default::default(),
            good_arm: Default::default(),
            control_word: Default::default(),
            position_word: Default::default(),
            event0: Default::default(),
            event1: Default::default(),
            item_control: item(0),
            item_low: item(1),
            item_high: item(2),
            item_position: item(3),
            walk_end: Constant::new(((1u64 << RA) - 1).to_bits()),
            index_mask: Constant::new((0xfff & !((1u64 << QA) - 1)).to_bits()),
            table_mask: Constant::new((0x3fff & !((1u64 << RA) - 1)).to_bits()),
            bit_valid: Constant::new((D - 1).to_bits()),
            bit_arms: Constant::new((D - 3).to_bits()),
            bit_consumer: Constant::new((D / 2).to_bits()),
            base_shift: Constant::new((if small { CQE_BYTES.ilog2() } else { 0 } as u64).to_bits()),
            largest_log: Constant::new(config.ring_log.to_bits()),
            ring_mask: Constant::new(config.index_mask().to_bits()),
            address_mask: Constant::new(config.address_mask().to_bits()),
            number_mask: Constant::new(number_mask.to_bits()),
            tells_value: Constant::new(!small),
            table_word: Default::default(),
            table_base: Default::default(),
            table_good: Default::default(),
            row_arms: Default::default(),
            row_upper: Default::default(),
            row_valid: Default::default(),
            arm_next: Constant::new((doorbell::ARM_NEXT as u64).to_bits()),
            arm_solicited: Constant::new((doorbell::ARM_SOLICITED as u64).to_bits()),
            slot_doorbell: Constant::new(((doorbell::CQ_CONSUMER as u64) << 8).to_bits()),
            kind_completion: kind(event_type::COMPLETION),
            kind_cq_error: kind(event_type::CQ_ERROR),
            kind_bad_doorbell: kind(event_type::BAD_DOORBELL),
            code_none: code(0),
            code_cq_overflow: code(counters::CQ_OVERFLOW),
            code_eq_overflow: code(counters::EQ_OVERFLOW),
            code_bad_doorbell: code(counters::BAD_DOORBELL),
            code_axi_error: code(counters::AXI_ERROR),
        }
    }
}

impl<const W: usize, const K: usize, const QA: usize, const RA: usize, const D: usize, const T: usize> Logic
    for CompletionQueues<W, K, QA, RA, D, T>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            work,
            walk,
            valid,
            armed,
            log,
            producer,
            consumer,
            waiting,
            full,
            writing,
            doorbell_seen,
            old_waiting,
            more_waiting
        );
        dff_setup!(self, clock, base_low, base_high, notify, is_event, tell, kind, code);
        clock!(self, clock, rows, writer, tracker, queue);

        self.ready.next = self.state.q.val() != QueuesState::Clear;
        self.finish.next = false;
        self.eq_restart_ready.next = false;
        self.table_ready.next = false;
        self.event_valid.next = self.state.q.val() == QueuesState::Count;
        self.event_code.next = self.code.q.val();

        // Which queue.
        self.doorbell_turn.next = self.work.q.val() == QueuesWork::Doorbell;
        if self.state.q.val() == QueuesState::Idle {
            self.doorbell_turn.next = self.doorbell_seen.q.val();
        }
        self.index.next = self.completion.val().cq;
        if self.doorbell_turn.val() {
            self.index.next = self.doorbell_index.val() & self.number_mask.val();
        }
        if (self.work.q.val() == QueuesWork::Landed) & (self.state.q.val() != QueuesState::Idle) {
            self.index.next = self.tracker.head_cq.val();
        }
        self.beyond.next = (self.index.val() & self.index_mask.val()).any();

        // Rows. Word 0: valid, arms, ..., log; 1 and 2 the base; 3 consumer, producer.
        self.item.next = self.item_control.val();
        self.control_word.next = bit_cast::<D, 4>(self.log.q.val())
            | (bit_cast::<D, 2>(self.armed.q.val()) << self.bit_arms.val())
            | (bit_cast::<D, 1>((self.valid.q.val() & (self.state.q.val() != QueuesState::Stop)).into()) << self.bit_valid.val());
        self.position_word.next =
            bit_cast::<D, 16>(self.producer.q.val()) | (bit_cast::<D, 16>(self.consumer.q.val()) << self.bit_consumer.val());
        self.row_arms.next = self.rows.read_data.val() >> self.bit_arms.val();
        self.row_upper.next = self.rows.read_data.val() >> self.bit_consumer.val();
        self.row_valid.next = self.rows.read_data.val().get_bit(self.bit_valid.val().index());
        self.table_item.next = self.table_address.val().get_bits::<2>(0);
        // A ring larger than the preset's largest is none.
        self.table_good.next = self.table_data.val().get_bit(31) & !(self.table_data.val().get_bits::<4>(0) > self.largest_log.val());
        self.table_base.next = self.table_data.val() >> self.base_shift.val();
        self.table_word.next = self.table_base.val().get_bits::<D>(0);
        if self.table_item.val() == self.item_control.val() {
            self.table_word.next = bit_cast::<D, 4>(self.table_data.val().get_bits::<4>(0))
                | (bit_cast::<D, 1>(self.table_good.val().into()) << self.bit_valid.val());
        }
        self.table_beyond.next = self.table_address.val() & self.table_mask.val();
        self.rows.read_enable.next = true;
        self.rows.write_enable.next = false;
        self.rows.write_data.next = self.control_word.val();

        // Ring.
        self.waiting_now.next = (self.producer.q.val() - self.consumer.q.val()) & self.ring_mask.val();
        self.waiting.d.next = self.waiting_now.val();
        self.more_waiting.d.next = self.waiting.q.val() > self.old_waiting.q.val();
        self.full.d.next = self.ring.full.val();
        self.ring.log.next = self.log.q.val();
        self.ring.producer.next = self.producer.q.val();
        self.ring.waiting.next = self.waiting_now.val();
        self.fires.next = self.armed.q.val().get_bit(0) | (self.armed.q.val().get_bit(1) & self.completion.val().solicited);
        self.good_arm.next = (self.doorbell_value.val() == self.arm_next.val()) | (self.doorbell_value.val() == self.arm_solicited.val());

        // Entry.
        self.event0.next = bit_cast::<32, 8>(self.kind.q.val()) | (bit_cast::<32, 12>(self.index.val() & self.number_mask.val()) << 8);
        self.event1.next = bit_cast::<32, 6>(self.code.q.val());
        if self.work.q.val() == QueuesWork::Doorbell {
            // [9:8] which doorbell, [31:16] what was rung (not in a small engine).
            self.event1.next =
                bit_cast::<32, 6>(self.code.q.val()) | self.slot_doorbell.val() | (bit_cast::<32, 1>(self.doorbell_kind.val()) << 8);
            if self.tells_value.val() {
                self.event1.next = bit_cast::<32, 6>(self.code.q.val())
                    | self.slot_doorbell.val()
                    | (bit_cast::<32, 1>(self.doorbell_kind.val()) << 8)
                    | (bit_cast::<32, 16>(self.doorbell_value.val()) << 16);
            }
        }
        if self.work.q.val() == QueuesWork::Notice {
            self.event0.next = bit_cast::<32, 8>(self.event_job.val().event_type) | (bit_cast::<32, 24>(self.event_job.val().number) << 8);
            self.event1.next = bit_cast::<32, 8>(self.event_job.val().detail);
        }
        self.writer.reset.next = self.reset.val();
        self.writer.active.next = self.writing.q.val();
        self.writer.is_event.next = self.is_event.q.val();
        self.writer.base.next = bit_cast::<64, 32>(self.base_low.q.val()) | (bit_cast::<64, 32>(self.base_high.q.val()) << 32);
        self.writer.slot.next = self.ring.slot.val();
        self.writer.phase.next = self.ring.phase.val();
        self.writer.word0.next = self.completion.val().word0;
        self.writer.word1.next = self.completion.val().word1;
        self.writer.word2.next = self.completion.val().word2;
        self.writer.word3.next = self.completion.val().word3;
        self.writer.word4.next = self.completion.val().word4;
        self.writer.event0.next = self.event0.val();
        self.writer.event1.next = self.event1.val();
        self.writer.aw_ready.next = self.aw_ready.val();
        self.writer.w_ready.next = self.w_ready.val();
        self.aw_address.next = self.writer.aw_address.val();
        self.aw_length.next = self.writer.aw_length.val();
        self.aw_valid.next = self.writer.aw_valid.val();
        self.w_data.next = self.writer.w_data.val();
        self.w_strobe.next = self.writer.w_strobe.val();
        self.w_last.next = self.writer.w_last.val();
        self.w_valid.next = self.writer.w_valid.val();

        // Writes on their way.
        self.tracker.reset.next = self.reset.val();
        self.tracker.push.next = false;
        self.tracker.push_event.next = self.is_event.q.val();
        self.tracker.push_notify.next = self.fires.val() & !self.is_event.q.val();
        self.tracker.push_cq.next = self.index.val();
        self.tracker.b_valid.next = self.b_valid.val();
        self.tracker.b_error.next = self.b_error.val();
        self.queue.reset.next = self.reset.val();
        self.queue.control.next = self.eq_control.val();
        self.queue.consumer.next = self.eq_consumer.val();
        self.queue.restart.next = false;
        self.queue.issue.next = false;
        self.queue.landed.next = self.tracker.event_landed.val();
        self.eq_producer.next = self.queue.producer.val();
        self.irq_pending.next = self.queue.pending.val();

        match self.state.q.val() {
            QueuesState::Clear => {
                self.walk.d.next = self.walk.q.val() + 1;
                self.rows.write_enable.next = true;
                if self.walk.q.val() == self.walk_end.val() {
                    self.state.d.next = QueuesState::Idle;
                }
            }
            QueuesState::Idle => {
                self.is_event.d.next = false;
                self.notify.d.next = false;
                self.tell.d.next = true;
                if self.tracker.attention.val() {
                    self.work.d.next = QueuesWork::Landed;
                    self.code.d.next = self.code_none.val();
                    self.kind.d.next = self.kind_completion.val();
                    self.state.d.next = QueuesState::EventLoad;
                    if self.tracker.head_error.val() {
                        self.code.d.next = self.code_axi_error.val();
                        self.kind.d.next = self.kind_cq_error.val();
                        self.state.d.next = QueuesState::Stop;
                        if self.tracker.head_event.val() {
                            self.tell.d.next = false;
                            self.state.d.next = QueuesState::Count;
                        }
                    }
                } else if self.eq_restart.val() | self.table_valid.val() {
                    if self.tracker.empty.val() {
                        self.state.d.next = QueuesState::Table;
                        if self.eq_restart.val() {
                            self.state.d.next = QueuesState::Restart;
                        }
                    }
                } else if self.tracker.room.val() {
                    if self.doorbell_seen.q.val() {
                        self.work.d.next = QueuesWork::Doorbell;
                        self.state.d.next = QueuesState::Control;
                    } else if self.event_job_valid.val() {
                        self.work.d.next = QueuesWork::Notice;
                        self.state.d.next = QueuesState::EventLoad;
                    } else if self.completion_valid.val() {
                        self.work.d.next = QueuesWork::Completion;
                        self.state.d.next = QueuesState::Control;
                    }
                }
            }
            QueuesState::Restart => {
                self.queue.restart.next = true;
                self.eq_restart_ready.next = true;
                self.state.d.next = QueuesState::Idle;
            }
            QueuesState::Table => {
                self.rows.write_enable.next = (self.table_item.val() != self.item_position.val()) & !self.table_beyond.val().any();
                self.rows.write_data.next = self.table_word.val();
                self.producer.d.next = 0.into();
                self.consumer.d.next = 0.into();
                if self.table_item.val() == self.item_control.val() {
                    self.state.d.next = QueuesState::TableClear;
                } else {
                    self.table_ready.next = true;
                    self.state.d.next = QueuesState::Idle;
                }
            }
            QueuesState::TableClear => {
                self.item.next = self.item_position.val();
                self.rows.write_enable.next = !self.table_beyond.val().any();
                self.rows.write_data.next = self.position_word.val();
                self.table_ready.next = true;
                self.state.d.next = QueuesState::Idle;
            }
            QueuesState::Control => {
                self.item.next = self.item_position.val();
                self.valid.d.next = self.row_valid.val() & !self.beyond.val();
                self.armed.d.next = self.row_arms.val().get_bits::<2>(0);
                self.log.d.next = self.rows.read_data.val().get_bits::<4>(0) & self.largest_log.val();
                self.state.d.next = QueuesState::Position;
            }
            QueuesState::Position => {
                self.item.next = self.item_low.val();
                self.producer.d.next = self.rows.read_data.val().get_bits::<16>(0) & self.ring_mask.val();
                self.consumer.d.next = self.row_upper.val().get_bits::<16>(0) & self.ring_mask.val();
                self.state.d.next = QueuesState::Low;
            }
            QueuesState::Low => {
                self.item.next = self.item_high.val();
                self.base_low.d.next =
                    (bit_cast::<32, D>(self.rows.read_data.val()) << self.base_shift.val()) & self.address_mask.val().get_bits::<32>(0);
                self.state.d.next = QueuesState::High;
            }
            QueuesState::High => {
                self.base_high.d.next = bit_cast::<32, D>(self.rows.read_data.val()) & self.address_mask.val().get_bits::<32>(32);
                self.old_waiting.d.next = self.waiting.q.val();
                self.code.d.next = self.code_cq_overflow.val();
                self.kind.d.next = self.kind_cq_error.val();
                if self.work.q.val() == QueuesWork::Doorbell {
                    self.code.d.next = self.code_bad_doorbell.val();
                    self.kind.d.next = self.kind_bad_doorbell.val();
                    if !self.valid.q.val() {
                        self.state.d.next = QueuesState::Count;
                    } else if self.doorbell_kind.val().any() {
                        self.armed.d.next = self.armed.q.val() | self.doorbell_value.val().get_bits::<2>(0);
                        self.state.d.next = QueuesState::Count;
                        if self.good_arm.val() {
                            self.state.d.next = QueuesState::SaveControl;
                        }
                    } else {
                        self.consumer.d.next = self.doorbell_value.val() & self.ring_mask.val();
                        self.state.d.next = QueuesState::NewWaiting;
                    }
                } else {
                    if !self.valid.q.val() {
                        self.tell.d.next = false;
                        self.state.d.next = QueuesState::Count;
                    } else if self.full.q.val() {
                        self.state.d.next = QueuesState::Stop;
                    } else {
                        self.notify.d.next = self.fires.val();
                        self.tracker.push.next = true;
                        self.writing.d.next = true;
                        self.state.d.next = QueuesState::Write;
                    }
                }
            }
            QueuesState::NewWaiting => {
                self.state.d.next = QueuesState::Compare;
            }
            QueuesState::Compare => {
                self.state.d.next = QueuesState::Compared;
            }
            QueuesState::Compared => {
                // A consumer index may only take from what was waiting.
                self.state.d.next = QueuesState::Save;
                if self.more_waiting.q.val() {
                    self.state.d.next = QueuesState::Count;
                }
            }
            QueuesState::Write => {
                if self.writer.done.val() {
                    self.writing.d.next = false;
                    self.producer.d.next = (self.producer.q.val() + 1) & self.ring_mask.val();
                    self.state.d.next = QueuesState::Save;
                    if self.is_event.q.val() {
                        self.queue.issue.next = true;
                        self.state.d.next = QueuesState::Done;
                    }
                }
            }
            QueuesState::Save => {
                self.item.next = self.item_position.val();
                self.rows.write_enable.next = true;
                self.rows.write_data.next = self.position_word.val();
                if self.notify.q.val() {
                    self.armed.d.next = 0.into();
                    self.state.d.next = QueuesState::SaveControl;
                } else {
                    self.finish.next = true;
                    self.state.d.next = QueuesState::Idle;
                }
            }
            QueuesState::SaveControl => {
                self.rows.write_enable.next = true;
                self.finish.next = true;
                self.state.d.next = QueuesState::Idle;
            }
            QueuesState::Stop => {
                self.rows.write_enable.next = true;
                self.state.d.next = QueuesState::Count;
            }
            QueuesState::Count => {
                if self.event_ready.val() {
                    self.state.d.next = QueuesState::Done;
                    if self.tell.q.val() {
                        self.state.d.next = QueuesState::EventLoad;
                    }
                }
            }
            QueuesState::EventLoad => {
                self.is_event.d.next = true;
                self.valid.d.next = self.eq_control.val().get_bit(31);
                self.log.d.next = self.eq_control.val().get_bits::<4>(0) & self.largest_log.val();
                self.producer.d.next = self.queue.issued.val();
                self.consumer.d.next = self.eq_consumer.val() & self.ring_mask.val();
                self.base_low.d.next = self.eq_base.val().get_bits::<32>(0) & self.address_mask.val().get_bits::<32>(0);
                self.base_high.d.next = self.eq_base.val().get_bits::<32>(32) & self.address_mask.val().get_bits::<32>(32);
                self.state.d.next = QueuesState::EventWaiting;
            }
            QueuesState::EventWaiting => {
                self.state.d.next = QueuesState::EventDecide;
            }
            QueuesState::EventDecide => {
                if self.valid.q.val() & !self.full.q.val() {
                    self.tracker.push.next = true;
                    self.writing.d.next = true;
                    self.state.d.next = QueuesState::Write;
                } else {
                    self.code.d.next = self.code_eq_overflow.val();
                    self.tell.d.next = false;
                    self.state.d.next = QueuesState::Count;
                }
            }
            QueuesState::Done => {
                self.finish.next = true;
                self.state.d.next = QueuesState::Idle;
            }
            _ => {
                self.state.d.next = QueuesState::Idle;
            }
        }

        self.row_address.next = (bit_cast::<RA, QA>(self.index.val().get_bits::<QA>(0)) << 2) | bit_cast::<RA, 2>(self.item.val());
        self.rows.read_address.next = self.row_address.val();
        self.rows.write_address.next = self.row_address.val();
        if (self.state.q.val() == QueuesState::Table) | (self.state.q.val() == QueuesState::TableClear) {
            self.rows.write_address.next = self.table_address.val().get_bits::<RA>(0) | bit_cast::<RA, 2>(self.item.val());
        }
        if self.state.q.val() == QueuesState::Clear {
            self.rows.write_address.next = self.walk.q.val();
        }
        self.completion_ready.next = self.finish.val() & (self.work.q.val() == QueuesWork::Completion);
        self.doorbell_ready.next = self.finish.val() & (self.work.q.val() == QueuesWork::Doorbell);
        self.doorbell_seen.d.next = self.doorbell_valid.val() & !self.doorbell_ready.val();
        self.event_job_ready.next = self.finish.val() & (self.work.q.val() == QueuesWork::Notice);
        self.tracker.take.next = self.finish.val() & (self.work.q.val() == QueuesWork::Landed);

        if self.reset.val() {
            self.writing.d.next = false;
            self.doorbell_seen.d.next = false;
            self.state.d.next = QueuesState::Clear;
            self.work.d.next = QueuesWork::Completion;
            self.valid.d.next = false;
            self.walk.d.next = 0.into();
        }
    }

    crate::block_name!();
}
