// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which QP sends, and which WQE is read: doorbells, arrivals, ends of turns, wakes, rewinds and state changes, one at a time.
//!
//! ```text
//! Idle ─► Flags ─► Index ─► Log ─┬──────────────────────────► Act ─► Idle            (arrival, wake, report)
//!                                └─► Low ─► High ─► Settle ─► Act ─► Fetch ─► Idle   (doorbell, end of a message; orders: Wait)
//! ```
//!
//! `Keep`, between `Low` and `High`, only for a packet that is to be sent again alone: new packets go on behind it, so the WQEs that the store has are kept if
//! the packet's is the first of them.
//! A state's name is the word that it asks for; the word is there two states later. `Log` changes the flags as the event wants; `Settle` sees
//! whether a WQE can be read now. With nothing else to do, it goes as far as `Log` for the WQE that will come next, and waits there.
//! What a WQE's read needs is there in `Settle`, so its address is offered in `Act`.
//! A doorbell that comes while nothing else is to be done, nor expected, needs no `Flags`: `Idle` has asked for its QP's already (`early`).
//! Which event is next is chosen a cycle before it is begun (`next_work`), while the last one is in its last state. A choice made in a state that answers
//! an event, or that changes what it was made from, doesn't count (`chosen`): then `Idle` lasts a cycle longer.
//!
//! A QP has one token at most, in the turn queue, in the hands of the segmenter, or with the reaction point, where a slowed QP's rests between two turns (`queued`; R76).
//! Such a token comes back by a wake that says so (`wake_rest`).
//! A token carries what its turn must know. A rewind, a state change or a failed read may make that wrong: the tokens then in the queue are looked at (`Prepare`) when they have come to its head (`TurnQueue`).
//!
//! A wake is taken at once and kept (`wake_held`), so that `Complete` goes on. `parks` says of each QP whether it is parked: only then the wake is an event;
//! else it is over in two cycles, whatever the state machine does, and tells the turn in hand that it may have looked too early (`woken`, `end_woken`). The
//! answer of `parks` doesn't count while an end of that QP's turn is in hand, or the flags are written.
//!
//! Row, 8 words: 0 flags; 1 [15:0] next WQE to read, [31:16] producer; 2, 3 ring base; 4 row word `SQ_LOG`, which each change of state copies to the flags.
//! Flags: [2:0] state; [4:3] reads under way, [6:5] of them to be dropped; [8:7] WQEs in the store; [9] queued; [10] parked; [11] a payload read failed; [12] a
//! WQE was refused; [13] slot of the next WQE to send;
//! [17:14] log2 of the ring's size.
//! `QB` = `QA` + 1, `QS` = `QA` + 3.

use super::paced_ram::PacedRam;
use super::turn_queue::TurnQueue;
use super::{EndOfTurn, SendOrder};
use crate::prim::LogicRam;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SchedulerState {
    Walk,
    Idle,
    Flags,
    Index,
    Log,
    Low,
    Keep,
    High,
    Settle,
    Act,
    Fetch,
    Wait,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SchedulerWork {
    End,
    Rewind,
    State,
    Wake,
    Arrival,
    Error,
    Report,
    Prepare,
    Doorbell,
}

#[derive(LogicBlock, Default)]
pub struct Scheduler<const QA: usize, const QB: usize, const QS: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    /// Host writes; taken in the cycles in which `writing` is low.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub writing: Signal<Out, Bit>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_producer: Signal<In, Bits<16>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    pub rewind_valid: Signal<In, Bit>,
    pub rewind_index: Signal<In, Bits<12>>,
    pub rewind_wqe: Signal<In, Bits<16>>,
    pub rewind_hold: Signal<In, Bit>,
    /// One packet alone: the store keeps its WQEs if the packet's is the oldest of them.
    pub rewind_alone: Signal<In, Bit>,
    pub rewind_ready: Signal<Out, Bit>,
    pub wake_valid: Signal<In, Bit>,
    pub wake_index: Signal<In, Bits<12>>,
    pub wake_ready: Signal<Out, Bit>,
    /// With a wake: the rest of a limited QP is over.
    pub wake_rest: Signal<In, Bit>,
    /// `who` is limited, a cycle later; one cycle: a turn of it has ended, and its token rests.
    pub limited: Signal<In, Bit>,
    pub rest: Signal<Out, Bit>,
    /// A turn may begin: rests can be taken.
    pub rest_room: Signal<In, Bit>,
    /// The oldest WQE read: its QP; it is under way; its words come.
    pub arrival_index: Signal<In, Bits<QA>>,
    pub arrival_expected: Signal<In, Bit>,
    pub arrival_valid: Signal<In, Bit>,
    pub arrival_ready: Signal<Out, Bit>,
    pub tracker_error: Signal<In, Bit>,
    pub tracker_report: Signal<In, Bit>,
    pub tracker_empty: Signal<In, Bit>,
    pub tracker_index: Signal<In, Bits<QA>>,
    pub tracker_pop: Signal<Out, Bit>,
    pub sent_valid: Signal<Out, Bit>,
    pub sent_ready: Signal<In, Bit>,
    pub flush_valid: Signal<Out, Bit>,
    pub flush_index: Signal<Out, Bits<12>>,
    pub flush_state: Signal<Out, Bits<3>>,
    pub flush_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_index: Signal<Out, Bits<12>>,
    pub event_ready: Signal<In, Bit>,
    /// Counter event: a doorbell refused.
    pub count_doorbell: Signal<Out, Bit>,
    pub count_free: Signal<In, Bit>,
    /// WQE reads; `ask` when one is begun.
    pub fetch_address: Signal<Out, Bits<64>>,
    pub fetch_valid: Signal<Out, Bit>,
    pub fetch_ready: Signal<In, Bit>,
    pub ask_data: Signal<Out, Bits<QB>>,
    pub ask_valid: Signal<Out, Bit>,
    /// Oldest uncompleted WQE of `who`; asked for when `ack_free`, there a cycle later.
    pub ack_read: Signal<Out, Bit>,
    pub ack_free: Signal<In, Bit>,
    pub ack_data: Signal<In, Bits<32>>,
    /// Completions of this QP are on their way: a doorbell that looks too far ahead is looked at again.
    pub ack_walk: Signal<In, Bit>,
    pub ack_walk_index: Signal<In, Bits<12>>,
    pub who: Signal<Out, Bits<QA>>,
    /// The producer changes.
    pub producer_write: Signal<Out, Bit>,
    pub producer: Signal<Out, Bits<16>>,
    // The segmenter.
    pub turn_valid: Signal<Out, Bit>,
    pub turn_error: Signal<Out, Bit>,
    pub turn_draining: Signal<Out, Bit>,
    /// QP and slot of the turn that may be taken in the next cycle; with an order, the order's QP.
    pub head_index: Signal<Out, Bits<QA>>,
    pub head_slot: Signal<Out, Bit>,
    pub turn_take: Signal<In, Bit>,
    pub segmenter_idle: Signal<In, Bit>,
    pub segmenter_index: Signal<In, Bits<QA>>,
    pub outcome: Signal<In, EndOfTurn>,
    pub resume_wqe: Signal<In, Bits<16>>,
    pub end_valid: Signal<In, Bit>,
    pub end_ready: Signal<Out, Bit>,
    pub order: Signal<Out, SendOrder>,
    pub order_valid: Signal<Out, Bit>,
    pub order_done: Signal<In, Bit>,
    ram: PacedRam<QS, 32, L>,
    /// What is written: with `L` = 1 a cycle later, from registers.
    late_write: DFF<Bit>,
    late_address: DFF<Bits<QS>>,
    late_data: DFF<Bits<32>>,
    now_write: Signal<Local, Bit>,
    now_address: Signal<Local, Bits<QS>>,
    now_data: Signal<Local, Bits<32>>,
    /// Flag `parked` of each QP once more.
    parks: LogicRam<QA, 1>,
    turns: TurnQueue<QA, QB, QS>,
    step: DFF<SchedulerState>,
    work: DFF<SchedulerWork>,
    index: DFF<Bits<12>>,
    /// The next event, or `Arrival`; it counts; it is one that has come, other than an arrival.
    next_work: DFF<SchedulerWork>,
    chosen: DFF<Bit>,
    next_step: Signal<Local, SchedulerState>,
    next_index: Signal<Local, Bits<12>>,
    /// The step is `Act`, `Fetch`, `Walk`.
    acting: DFF<Bit>,
    fetches: DFF<Bit>,
    walking: DFF<Bit>,
    walk: DFF<Bits<QA>>,
    // Flags of the QP in hand.
    qp_state: DFF<Bits<3>>,
    flying: DFF<Bits<2>>,
    stale: DFF<Bits<2>>,
    stored: DFF<Bits<2>>,
    queued: DFF<Bit>,
    parked: DFF<Bit>,
    failed: DFF<Bit>,
    stopped: DFF<Bit>,
    slot: DFF<Bit>,
    seek: DFF<Bit>,
    reborn: DFF<Bit>,
    /// The store may keep its WQEs: the next to be read would then be this one.
    keeping: DFF<Bit>,
    keeps_at: DFF<Bits<16>>,
    next_fetch: DFF<Bits<16>>,
    next_after: DFF<Bits<16>>,
    last_producer: DFF<Bits<16>>,
    log: DFF<Bits<4>>,
    differs: DFF<Bit>,
    ahead: DFF<Bits<16>>,
    /// That is further than the ring.
    too_far: DFF<Bit>,
    /// In `Idle`: the doorbell's flags are asked for.
    early: DFF<Bit>,
    nothing_else: Signal<Local, Bit>,
    fetch_now: Signal<Local, Bit>,
    refused: DFF<Bit>,
    going: DFF<Bit>,
    /// The arrival in hand is only expected; `next_work` is something that has come.
    guess: DFF<Bit>,
    other: DFF<Bit>,
    gives_way: Signal<Local, Bit>,
    address_low: DFF<Bits<32>>,
    address_high: DFF<Bits<32>>,
    fetching: DFF<Bit>,
    order_open: DFF<Bit>,
    order_kept: DFF<SendOrder>,
    // The end of the last turn.
    ended: DFF<Bit>,
    end_kept: DFF<EndOfTurn>,
    end_index: DFF<Bits<QA>>,
    /// The WQE to go on with after a packet that was sent alone; that end is in hand.
    end_wqe: DFF<Bits<16>>,
    resuming: DFF<Bit>,
    end_woken: DFF<Bit>,
    woken: DFF<Bit>,
    /// A wake that is in our hands, of this QP; `parks` says how that is.
    wake_held: DFF<Bit>,
    wake_kept: DFF<Bits<12>>,
    wake_rests: DFF<Bit>,
    wake_known: DFF<Bit>,
    sending: DFF<Bit>,
    rewind_seen: DFF<Bit>,
    state_seen: DFF<Bit>,
    flushing: DFF<Bit>,
    flush_index_kept: DFF<Bits<12>>,
    flush_state_kept: DFF<Bits<3>>,
    refusing: DFF<Bit>,
    unsure: DFF<Bit>,
    refused_index: DFF<Bits<12>>,
    /// A cycle ago the segmenter rested, and something waited for that, so that no turn was taken.
    quiet: DFF<Bit>,
    wake_who: Signal<Local, Bits<QA>>,
    ending: Signal<Local, Bit>,
    /// The wake's QP is parked: an event; it isn't: over at once; the wake counts in this cycle.
    can_wake: Signal<Local, Bit>,
    passes: Signal<Local, Bit>,
    woke: Signal<Local, Bit>,
    can_rewind: Signal<Local, Bit>,
    can_state: Signal<Local, Bit>,
    can_error: Signal<Local, Bit>,
    can_report: Signal<Local, Bit>,
    can_prepare: Signal<Local, Bit>,
    can_doorbell: Signal<Local, Bit>,
    was: Signal<Local, Bits<3>>,
    was_flying: Signal<Local, Bits<2>>,
    was_stale: Signal<Local, Bits<2>>,
    was_stored: Signal<Local, Bits<2>>,
    live: Signal<Local, Bit>,
    going_live: Signal<Local, Bit>,
    running: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    dead_index: Signal<Local, Bit>,
    token: Signal<Local, Bit>,
    seeks: Signal<Local, Bit>,
    orders: Signal<Local, Bit>,
    draining: Signal<Local, Bit>,
    go: Signal<Local, Bit>,
    write_flags: Signal<Local, Bit>,
    write_index: Signal<Local, Bit>,
    now_flying: Signal<Local, Bits<2>>,
    flags: Signal<Local, Bits<32>>,
    word: Signal<Local, Bits<32>>,
    in_hand: Signal<Local, Bits<QA>>,
    read_item: Signal<Local, Bits<3>>,
    read_base: Signal<Local, Bits<QS>>,
    table_base: Signal<Local, Bits<QS>>,
    table_item: Signal<Local, Bits<3>>,
    table_ours: Signal<Local, Bit>,
    table_beyond: Signal<Local, Bit>,
    one: Signal<Local, Bits<16>>,
    size: Signal<Local, Bits<16>>,
    log_now: Signal<Local, Bits<4>>,
    mask: Signal<Local, Bits<16>>,
    pick: Signal<Local, Bits<16>>,
}

impl<const QA: usize, const QB: usize, const QS: usize, const L: usize> Logic for Scheduler<QA, QB, QS, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, next_work, chosen, acting, fetches, walking, step, work, index, walk, qp_state, flying, stale, stored, queued,
            parked, failed, stopped, slot
        );
        dff_setup!(
            self,
            clock,
            seek,
            reborn,
            keeping,
            keeps_at,
            next_fetch,
            next_after,
            last_producer,
            log,
            differs,
            ahead,
            too_far,
            early,
            refused,
            going,
            guess,
            other
        );
        dff_setup!(
            self,
            clock,
            late_write,
            late_address,
            late_data,
            address_low,
            address_high,
            fetching,
            order_open,
            order_kept
        );
        dff_setup!(
            self,
            clock,
            ended,
            end_kept,
            end_index,
            end_wqe,
            resuming,
            end_woken,
            woken,
            wake_held,
            wake_kept,
            wake_rests,
            wake_known,
            sending,
            rewind_seen,
            state_seen,
            quiet,
            flushing
        );
        dff_setup!(self, clock, flush_index_kept, flush_state_kept, refusing, refused_index, unsure);
        clock!(self, clock, ram, parks, turns);
        self.turns.reset.next = self.reset.val();
        self.ram.advance.next = true;
        self.word.next = self.ram.word.val();
        self.in_hand.next = self.index.q.val().get_bits::<QA>(0);
        self.who.next = self.in_hand.val();

        // What may be begun. A rewind and a state are seen a cycle later, so that no turn stands behind Complete's state machine.
        self.quiet.d.next = self.segmenter_idle.val() & (self.rewind_seen.q.val() | self.state_seen.q.val() | self.tracker_error.val());
        // One that comes behind a wake stays behind it, which would end its hold.
        self.can_rewind.next = self.rewind_seen.q.val() & !self.wake_held.q.val() & self.quiet.q.val() & self.count_free.val();
        self.can_state.next = self.state_seen.q.val() & self.quiet.q.val() & self.tracker_empty.val() & !self.flushing.q.val();
        // A QP that isn't parked has nothing to learn of a wake but that the turn in hand may have looked too early.
        self.wake_who.next = self.wake_kept.q.val().get_bits::<QA>(0);
        self.can_wake.next = self.wake_known.q.val() & (self.parks.read_data.val().any() | self.wake_rests.q.val()) & !self.acting.q.val();
        self.passes.next = self.wake_known.q.val() & !self.parks.read_data.val().any() & !self.wake_rests.q.val();
        self.can_error.next = self.tracker_error.val() & self.quiet.q.val();
        self.can_report.next = self.tracker_report.val() & !self.sending.q.val();
        self.can_prepare.next = self.turns.unsure.val();
        self.can_doorbell.next = self.doorbell_valid.val() & !self.flushing.q.val() & !self.refusing.q.val() & self.count_free.val();

        self.nothing_else.next = !(self.ended.q.val()
            | self.can_rewind.val()
            | self.can_state.val()
            | self.can_wake.val()
            | self.can_error.val()
            | self.can_report.val()
            | self.can_prepare.val());
        self.other.d.next = !self.nothing_else.val() | (self.can_doorbell.val() & !self.arrival_valid.val());
        self.next_work.d.next = SchedulerWork::Arrival;
        if self.can_doorbell.val() & !self.arrival_valid.val() {
            self.next_work.d.next = SchedulerWork::Doorbell;
        }
        if self.can_prepare.val() {
            self.next_work.d.next = SchedulerWork::Prepare;
        }
        if self.can_report.val() {
            self.next_work.d.next = SchedulerWork::Report;
        }
        if self.can_error.val() {
            self.next_work.d.next = SchedulerWork::Error;
        }
        if self.can_wake.val() {
            self.next_work.d.next = SchedulerWork::Wake;
        }
        if self.can_state.val() {
            self.next_work.d.next = SchedulerWork::State;
        }
        if self.can_rewind.val() {
            self.next_work.d.next = SchedulerWork::Rewind;
        }
        if self.ended.q.val() {
            self.next_work.d.next = SchedulerWork::End;
        }
        self.chosen.d.next = false;
        self.next_index.next = bit_cast::<12, QA>(self.arrival_index.val());
        if !self.arrival_expected.val() {
            self.next_index.next = self.doorbell_index.val();
        }
        self.early.d.next = false;
        match self.next_work.q.val() {
            SchedulerWork::End => {
                self.next_index.next = bit_cast::<12, QA>(self.end_index.q.val());
            }
            SchedulerWork::Rewind => {
                self.next_index.next = self.rewind_index.val();
            }
            SchedulerWork::State => {
                self.next_index.next = self.state_index.val();
            }
            SchedulerWork::Wake => {
                self.next_index.next = self.wake_kept.q.val();
            }
            SchedulerWork::Error => {
                self.next_index.next = bit_cast::<12, QA>(self.tracker_index.val());
            }
            SchedulerWork::Report => {
                self.next_index.next = bit_cast::<12, QA>(self.tracker_index.val());
            }
            SchedulerWork::Prepare => {
                self.next_index.next = bit_cast::<12, QA>(self.turns.front_index.val());
            }
            SchedulerWork::Doorbell => {
                self.next_index.next = self.doorbell_index.val();
            }
            _ => {}
        }

        self.gives_way.next = self.guess.q.val() & self.other.q.val() & !self.arrival_valid.val();

        // The flags as they were.
        self.was.next = self.word.val().get_bits::<3>(0);
        self.was_flying.next = self.word.val().get_bits::<2>(3);
        self.was_stale.next = self.word.val().get_bits::<2>(5);
        self.was_stored.next = self.word.val().get_bits::<2>(7);
        self.live.next = (self.was.val() == 3) | (self.was.val() == 4);
        self.going_live.next = (self.state.val() == 3) | (self.state.val() == 4);

        // The flags in hand.
        self.running.next = ((self.qp_state.q.val() == 3) | (self.qp_state.q.val() == 4)) & !self.stopped.q.val();
        self.room.next = !(self.flying.q.val().get_bit(1)
            | self.stored.q.val().get_bit(1)
            | (self.flying.q.val().get_bit(0) & self.stored.q.val().get_bit(0)));
        self.dead_index.next = (self.index.q.val() != bit_cast::<12, QA>(self.in_hand.val())) | !self.index.q.val().any();
        self.token.next = self.running.val() & (self.stored.q.val().any() | self.failed.q.val()) & !self.parked.q.val();
        self.go.next = self.differs.q.val() & self.running.val() & !self.failed.q.val() & self.room.val();

        self.one.next = 1.into();
        self.size.next = self.one.val() << self.log.q.val();
        self.mask.next = self.size.val() - 1;
        self.pick.next = self.next_fetch.q.val() & self.mask.val();
        self.too_far.d.next = self.ahead.q.val() > self.size.val();
        self.fetch_now.next = false;
        self.log_now.next = self.log.q.val();
        if self.work.q.val() == SchedulerWork::State {
            self.log_now.next = self.word.val().get_bits::<4>(4);
        }

        self.write_flags.next = self.walking.q.val() | (self.acting.q.val() & !self.refused.q.val());
        self.write_index.next = self.fetches.q.val() & !self.refused.q.val();
        self.read_item.next = 0.into();
        self.doorbell_ready.next = false;
        self.state_ready.next = false;
        self.rewind_ready.next = false;
        self.woke.next = self.passes.val();
        self.arrival_ready.next = false;
        self.tracker_pop.next = false;
        self.count_doorbell.next = false;
        self.seeks.next = true;
        self.orders.next = false;
        self.ack_read.next = false;
        self.rest.next = false;
        self.ask_valid.next = self.fetches.q.val() & self.going.q.val();
        self.producer_write.next = false;
        self.producer.next = self.last_producer.q.val();
        // In `Act`: the token.
        self.turns.push.next = self.acting.q.val() & self.token.val() & !self.queued.q.val() & !self.refused.q.val();
        self.turns.take.next = self.turn_take.val();
        self.turns.discard.next = false;
        self.turns.tell.next = false;
        self.turns.distrust.next = false;
        if self.turn_take.val() {
            self.woken.d.next = false;
        }
        if self.fetch_ready.val() {
            self.fetching.d.next = false;
        }
        if self.flush_ready.val() {
            self.flushing.d.next = false;
        }
        if self.event_ready.val() {
            self.refusing.d.next = false;
        }
        if self.order_done.val() {
            self.order_open.d.next = false;
        }
        if self.sending.q.val() & self.sent_ready.val() {
            self.sending.d.next = false;
            self.tracker_pop.next = true;
        }
        if self.end_valid.val() & !self.ended.q.val() {
            self.ended.d.next = true;
            self.end_kept.d.next = self.outcome.val();
            self.end_index.d.next = self.segmenter_index.val();
            self.end_wqe.d.next = self.resume_wqe.val();
            self.end_woken.d.next = self.woken.q.val();
        }

        self.next_step.next = self.step.q.val();
        match self.step.q.val() {
            SchedulerState::Walk => {
                self.walk.d.next = self.walk.q.val() + 1;
                self.index.d.next = bit_cast::<12, QA>(self.walk.q.val());
                // One more round than rows: the index lags the walk.
                self.seek.d.next = self.walk.q.val().all();
                if self.seek.q.val() {
                    self.walking.d.next = false;
                    self.next_step.next = SchedulerState::Idle;
                }
            }
            SchedulerState::Idle => {
                self.refused.d.next = false;
                self.going.d.next = false;
                self.guess.d.next = false;
                self.chosen.d.next = true;
                self.index.d.next = self.next_index.val();
                self.work.d.next = self.next_work.q.val();
                self.early.d.next = self.can_doorbell.val()
                    & self.nothing_else.val()
                    & !self.arrival_expected.val()
                    & (self.next_work.q.val() == SchedulerWork::Arrival);
                self.ack_read.next = self.early.q.val();
                self.unsure.d.next = self.ack_walk.val() & (self.ack_walk_index.val() == self.index.q.val());
                if self.chosen.q.val() & (!self.fetching.q.val() | self.fetch_ready.val()) {
                    if self.other.q.val() {
                        self.next_step.next = SchedulerState::Flags;
                        if self.early.q.val() & self.ack_free.val() {
                            self.next_step.next = SchedulerState::Index;
                        }
                    } else if self.arrival_expected.val() {
                        // An arrival, or nothing else to do: be ready for it.
                        self.guess.d.next = true;
                        self.next_step.next = SchedulerState::Flags;
                    }
                }
            }
            SchedulerState::Flags => {
                self.chosen.d.next = self.guess.q.val();
                self.next_step.next = SchedulerState::Index;
                if self.work.q.val() == SchedulerWork::Doorbell {
                    self.ack_read.next = true;
                    self.unsure.d.next = self.ack_walk.val() & (self.ack_walk_index.val() == self.index.q.val());
                    if !self.ack_free.val() {
                        self.next_step.next = SchedulerState::Flags;
                    }
                }
            }
            SchedulerState::Index => {
                self.chosen.d.next = self.guess.q.val();
                self.read_item.next = 1.into();
                self.ahead.d.next = self.doorbell_producer.val() - self.ack_data.val().get_bits::<16>(0);
                self.next_step.next = SchedulerState::Log;
            }
            SchedulerState::Log => {
                self.guess.d.next = false;
                self.read_item.next = 2.into();
                self.next_step.next = SchedulerState::Low;
                self.qp_state.d.next = self.was.val();
                self.flying.d.next = self.was_flying.val();
                self.stale.d.next = self.was_stale.val();
                self.stored.d.next = self.was_stored.val();
                self.queued.d.next = self.word.val().get_bit(9);
                self.parked.d.next = self.word.val().get_bit(10);
                self.failed.d.next = self.word.val().get_bit(11);
                self.stopped.d.next = self.word.val().get_bit(12);
                self.slot.d.next = self.word.val().get_bit(13);
                self.log.d.next = self.word.val().get_bits::<4>(14);
                self.reborn.d.next = false;
                self.keeping.d.next = false;
                self.resuming.d.next = false;
                match self.work.q.val() {
                    SchedulerWork::End => {
                        self.ended.d.next = false;
                        // R76: the token of a limited QP is the reaction point's for a while.
                        self.queued.d.next = self.limited.val();
                        self.rest.next = self.limited.val();
                        self.seeks.next = false;
                        match self.end_kept.q.val() {
                            EndOfTurn::Message => {
                                self.stored.d.next = self.was_stored.val() - 1;
                                self.slot.d.next = !self.word.val().get_bit(13);
                                self.seeks.next = true;
                            }
                            EndOfTurn::Full => {
                                self.stored.d.next = self.was_stored.val() - 1;
                                self.slot.d.next = !self.word.val().get_bit(13);
                                self.parked.d.next = !self.end_woken.q.val();
                                self.seeks.next = true;
                            }
                            EndOfTurn::Park => {
                                self.parked.d.next = !self.end_woken.q.val();
                            }
                            EndOfTurn::Stop => {
                                self.stopped.d.next = true;
                            }
                            EndOfTurn::Clear => {
                                self.failed.d.next = false;
                                self.seeks.next = true;
                            }
                            EndOfTurn::Resume => {
                                // As with a rewind; the QP has no token in the queue.
                                self.stored.d.next = 0.into();
                                self.stale.d.next = self.was_flying.val();
                                self.slot.d.next = self.end_wqe.q.val().get_bit(0);
                                self.resuming.d.next = true;
                                self.seeks.next = true;
                            }
                            _ => {}
                        }
                    }
                    SchedulerWork::Rewind => {
                        self.turns.distrust.next = true;
                        self.refused.d.next = !self.live.val() | self.dead_index.val();
                        if self.live.val() & !self.dead_index.val() {
                            self.keeping.d.next = self.rewind_alone.val();
                            if !self.rewind_alone.val() {
                                self.stored.d.next = 0.into();
                                self.stale.d.next = self.was_flying.val();
                                self.slot.d.next = self.rewind_wqe.val().get_bit(0);
                            }
                            self.parked.d.next = self.rewind_hold.val();
                            self.failed.d.next = false;
                            self.order_kept.d.next = SendOrder::Rewind;
                            self.order_open.d.next = true;
                        }
                    }
                    SchedulerWork::State => {
                        self.turns.distrust.next = true;
                        self.qp_state.d.next = self.state.val();
                        self.parked.d.next = false;
                        self.refused.d.next = self.dead_index.val();
                        if !(self.live.val() & self.going_live.val()) {
                            // A new life, or the end of one.
                            self.stored.d.next = 0.into();
                            self.stale.d.next = self.was_flying.val();
                            self.slot.d.next = false;
                            self.failed.d.next = false;
                            self.stopped.d.next = false;
                            self.reborn.d.next = self.going_live.val();
                            if self.going_live.val() & !self.dead_index.val() {
                                self.order_kept.d.next = SendOrder::Begin;
                                self.order_open.d.next = true;
                            }
                        }
                    }
                    SchedulerWork::Wake => {
                        self.woke.next = true;
                        if self.wake_rests.q.val() {
                            self.queued.d.next = false;
                        } else {
                            self.parked.d.next = false;
                        }
                        self.seeks.next = false;
                    }
                    SchedulerWork::Arrival => {
                        self.arrival_ready.next = self.arrival_valid.val();
                        self.flying.d.next = self.was_flying.val() - 1;
                        self.seeks.next = self.was_stale.val().any();
                        if self.was_stale.val().any() {
                            self.stale.d.next = self.was_stale.val() - 1;
                        } else {
                            self.stored.d.next = self.was_stored.val() + 1;
                        }
                    }
                    SchedulerWork::Error => {
                        self.seeks.next = false;
                        if self.live.val() & !self.word.val().get_bit(11) & !self.word.val().get_bit(12) {
                            self.failed.d.next = true;
                            self.parked.d.next = false;
                            self.turns.distrust.next = true;
                            self.order_kept.d.next = SendOrder::Fail;
                            self.order_open.d.next = true;
                            self.orders.next = true;
                        } else {
                            self.tracker_pop.next = true;
                        }
                    }
                    SchedulerWork::Report => {
                        self.seeks.next = false;
                        if self.live.val() & !self.word.val().get_bit(11) & !self.word.val().get_bit(12) {
                            self.sending.d.next = true;
                        } else {
                            self.tracker_pop.next = true;
                        }
                    }
                    SchedulerWork::Prepare => {
                        self.seeks.next = false;
                    }
                    _ => {}
                }
                self.seek.d.next = self.seeks.val();
                if !self.seeks.val() & (self.work.q.val() != SchedulerWork::Prepare) {
                    self.next_step.next = SchedulerState::Act;
                    if self.orders.val() {
                        self.next_step.next = SchedulerState::Wait;
                    }
                }
                // Only expected: stand, or let something else go first.
                if self.guess.q.val() & !self.arrival_valid.val() {
                    self.ram.advance.next = false;
                    self.guess.d.next = true;
                    self.chosen.d.next = true;
                    self.next_step.next = SchedulerState::Log;
                }
            }
            SchedulerState::Low => {
                self.read_item.next = 3.into();
                self.next_fetch.d.next = self.word.val().get_bits::<16>(0);
                self.last_producer.d.next = self.word.val().get_bits::<16>(16);
                self.next_step.next = SchedulerState::High;
                match self.work.q.val() {
                    SchedulerWork::Rewind => {
                        if !self.keeping.q.val() {
                            self.next_fetch.d.next = self.rewind_wqe.val();
                        }
                    }
                    SchedulerWork::End => {
                        if self.resuming.q.val() {
                            self.next_fetch.d.next = self.end_wqe.q.val();
                        }
                    }
                    SchedulerWork::State => {
                        if self.reborn.q.val() {
                            self.next_fetch.d.next = 0.into();
                            self.last_producer.d.next = 0.into();
                        }
                    }
                    SchedulerWork::Prepare => {
                        // Not if the token has just left, or a rewind has spoiled the look: neither can be, as this is the only event in hand.
                        if self.token.val() {
                            self.turns.tell.next = true;
                        } else {
                            self.queued.d.next = false;
                            self.turns.discard.next = true;
                        }
                    }
                    _ => {}
                }
                if self.work.q.val() == SchedulerWork::Prepare {
                    self.next_step.next = SchedulerState::Idle;
                    if !self.token.val() {
                        self.next_step.next = SchedulerState::Act;
                    }
                }
                self.keeps_at.d.next =
                    self.rewind_wqe.val() + bit_cast::<16, 2>(self.stored.q.val() + self.flying.q.val() - self.stale.q.val());
                if self.keeping.q.val() {
                    self.next_step.next = SchedulerState::Keep;
                }
            }
            SchedulerState::Keep => {
                // What is in the store, or on its way there, begins with the packet's WQE, or it is of no use.
                self.ram.advance.next = false;
                if self.next_fetch.q.val() != self.keeps_at.q.val() {
                    self.next_fetch.d.next = self.rewind_wqe.val();
                    self.stored.d.next = 0.into();
                    self.stale.d.next = self.flying.q.val();
                    self.slot.d.next = self.rewind_wqe.val().get_bit(0);
                }
                self.next_step.next = SchedulerState::High;
            }
            SchedulerState::High => {
                self.read_item.next = 4.into();
                self.address_low.d.next = self.word.val() | (bit_cast::<32, 16>(self.pick.val()) << 6);
                self.differs.d.next = self.next_fetch.q.val() != self.last_producer.q.val();
                if self.work.q.val() == SchedulerWork::Doorbell {
                    self.differs.d.next = self.next_fetch.q.val() != self.doorbell_producer.val();
                    self.last_producer.d.next = self.doorbell_producer.val();
                }
                self.next_step.next = SchedulerState::Settle;
            }
            SchedulerState::Settle => {
                self.address_high.d.next = self.word.val();
                self.fetch_now.next = self.go.val() & !self.refused.q.val();
                self.next_step.next = SchedulerState::Act;
                if self.work.q.val() == SchedulerWork::Doorbell {
                    self.refused.d.next = self.too_far.q.val()
                        | self.dead_index.val()
                        | !((self.qp_state.q.val() == 3) | (self.qp_state.q.val() == 4) | (self.qp_state.q.val() == 5));
                    self.fetch_now.next = self.go.val() & !self.too_far.q.val() & !self.dead_index.val();
                }
                self.going.d.next = self.fetch_now.val();
                self.fetching.d.next = self.fetch_now.val();
            }
            SchedulerState::Act => {
                self.next_step.next = SchedulerState::Idle;
                match self.work.q.val() {
                    SchedulerWork::Rewind => {
                        self.next_step.next = SchedulerState::Fetch;
                    }
                    SchedulerWork::State => {
                        self.next_step.next = SchedulerState::Fetch;
                    }
                    SchedulerWork::Doorbell => {
                        self.doorbell_ready.next = !self.refused.q.val() | !self.unsure.q.val();
                        self.next_step.next = SchedulerState::Fetch;
                        if self.refused.q.val() & self.unsure.q.val() {
                            self.next_step.next = SchedulerState::Idle;
                        } else if self.refused.q.val() {
                            self.count_doorbell.next = true;
                            self.refusing.d.next = true;
                            self.refused_index.d.next = self.index.q.val();
                            self.next_step.next = SchedulerState::Idle;
                        } else {
                            self.producer_write.next = true;
                            if self.qp_state.q.val() == 5 {
                                self.flushing.d.next = true;
                                self.flush_index_kept.d.next = self.index.q.val();
                                self.flush_state_kept.d.next = self.qp_state.q.val();
                            }
                        }
                    }
                    _ => {
                        self.chosen.d.next = self.work.q.val() != SchedulerWork::Prepare;
                        if self.going.q.val() | self.resuming.q.val() {
                            self.next_step.next = SchedulerState::Fetch;
                        }
                    }
                }
            }
            SchedulerState::Fetch => {
                // Whether a wake is an event is seen in `Idle`.
                self.chosen.d.next = !self.wake_held.q.val();
                self.next_step.next = SchedulerState::Idle;
                if (self.work.q.val() == SchedulerWork::Rewind) | (self.work.q.val() == SchedulerWork::State) {
                    self.next_step.next = SchedulerState::Wait;
                }
                if self.work.q.val() == SchedulerWork::State {
                    self.producer_write.next = !self.refused.q.val() & self.reborn.q.val();
                }
            }
            SchedulerState::Wait => {
                if !self.order_open.q.val() {
                    self.next_step.next = SchedulerState::Idle;
                    match self.work.q.val() {
                        SchedulerWork::Rewind => {
                            self.rewind_ready.next = true;
                        }
                        SchedulerWork::State => {
                            self.state_ready.next = true;
                            self.flushing.d.next = !self.refused.q.val();
                            self.flush_index_kept.d.next = self.index.q.val();
                            self.flush_state_kept.d.next = self.qp_state.q.val();
                        }
                        _ => {
                            self.tracker_pop.next = true;
                            self.next_step.next = SchedulerState::Act;
                        }
                    }
                }
            }
            _ => {
                self.next_step.next = SchedulerState::Idle;
            }
        }
        // Something has come that goes before what is only expected.
        if self.gives_way.val() {
            self.guess.d.next = false;
            self.index.d.next = self.next_index.val();
            self.work.d.next = self.next_work.q.val();
            self.next_step.next = SchedulerState::Flags;
        }
        self.step.d.next = self.next_step.val();
        self.acting.d.next = self.next_step.val() == SchedulerState::Act;
        self.fetches.d.next = self.next_step.val() == SchedulerState::Fetch;

        self.rewind_seen.d.next = self.rewind_valid.val() & !self.rewind_ready.val();
        self.state_seen.d.next = self.state_valid.val() & !self.state_ready.val();

        // A turn that is about to park has looked too early. Once its end is in hand, the flag in the row is looked at, when it is written.
        self.wake_ready.next = !self.wake_held.q.val() & !self.rewind_seen.q.val();
        if !self.wake_held.q.val() & !self.rewind_seen.q.val() {
            self.wake_held.d.next = self.wake_valid.val();
            self.wake_kept.d.next = self.wake_index.val();
            self.wake_rests.d.next = self.wake_rest.val();
        }
        if self.woke.val() {
            self.wake_held.d.next = false;
            if self.wake_who.val() == self.segmenter_index.val() {
                self.woken.d.next = true;
            }
            if self.wake_who.val() == self.end_index.q.val() {
                self.end_woken.d.next = true;
            }
            if self.end_valid.val() & !self.ended.q.val() {
                self.end_woken.d.next = self.woken.q.val() | (self.wake_who.val() == self.segmenter_index.val());
            }
        }
        self.ending.next = (self.step.q.val() != SchedulerState::Idle)
            & (self.work.q.val() == SchedulerWork::End)
            & (self.wake_who.val() == self.in_hand.val());
        self.wake_known.d.next = self.wake_held.q.val() & !self.woke.val() & !self.ending.val() & !self.write_flags.val();

        // The row.
        self.read_base.next = (bit_cast::<QS, QA>(self.in_hand.val()) << 3) | bit_cast::<QS, 3>(self.read_item.val());
        self.ram.read_address.next = self.read_base.val();
        self.now_flying.next = self.flying.q.val();
        if self.going.q.val() {
            self.now_flying.next = self.flying.q.val() + 1;
        }
        self.flags.next = bit_cast::<32, 3>(self.qp_state.q.val())
            | (bit_cast::<32, 2>(self.now_flying.val()) << 3)
            | (bit_cast::<32, 2>(self.stale.q.val()) << 5)
            | (bit_cast::<32, 2>(self.stored.q.val()) << 7)
            | (bit_cast::<32, 1>((self.queued.q.val() | self.token.val()).into()) << 9)
            | (bit_cast::<32, 1>(self.parked.q.val().into()) << 10)
            | (bit_cast::<32, 1>(self.failed.q.val().into()) << 11)
            | (bit_cast::<32, 1>(self.stopped.q.val().into()) << 12)
            | (bit_cast::<32, 1>(self.slot.q.val().into()) << 13)
            | (bit_cast::<32, 4>(self.log_now.val()) << 14);
        self.parks.write_enable.next = self.write_flags.val();
        self.parks.write_address.next = self.in_hand.val();
        self.parks.write_data.next = bit_cast::<1, 1>(self.parked.q.val().into());
        self.parks.read_enable.next = true;
        self.parks.read_address.next = self.wake_who.val();
        if self.walking.q.val() {
            self.flags.next = 0.into();
            self.parks.write_data.next = 0.into();
        }
        self.table_item.next = 4.into();
        if self.table_address.val().get_bit(4) {
            self.table_item.next = 2.into();
            if self.table_address.val().get_bit(1) {
                self.table_item.next = 3.into();
            }
        }
        self.table_base.next =
            (bit_cast::<QS, QA>(self.table_address.val().get_bits::<QA>(5)) << 3) | bit_cast::<QS, 3>(self.table_item.val());
        self.table_ours.next = (self.table_address.val().get_bits::<5>(0) == 8)
            | (self.table_address.val().get_bits::<5>(0) == 17)
            | (self.table_address.val().get_bits::<5>(0) == 18);
        self.table_beyond.next =
            self.table_address.val().get_bits::<12>(5) != bit_cast::<12, QA>(self.table_address.val().get_bits::<QA>(5));
        self.now_write.next = self.table_valid.val() & self.table_ours.val() & !self.table_beyond.val();
        self.now_address.next = self.table_base.val();
        self.now_data.next = self.table_data.val();
        if self.walking.q.val() | self.acting.q.val() {
            self.now_write.next = self.write_flags.val();
            self.now_address.next = bit_cast::<QS, QA>(self.in_hand.val()) << 3;
            self.now_data.next = self.flags.val();
        }
        self.next_after.d.next = self.next_fetch.q.val() + 1;
        if self.fetches.q.val() {
            self.now_write.next = self.write_index.val();
            self.now_address.next = (bit_cast::<QS, QA>(self.in_hand.val()) << 3) | 1;
            self.now_data.next = bit_cast::<32, 16>(self.next_fetch.q.val()) | (bit_cast::<32, 16>(self.last_producer.q.val()) << 16);
            if self.going.q.val() {
                self.now_data.next = bit_cast::<32, 16>(self.next_after.q.val()) | (bit_cast::<32, 16>(self.last_producer.q.val()) << 16);
            }
        }
        self.late_write.d.next = self.now_write.val();
        self.late_address.d.next = self.now_address.val();
        self.late_data.d.next = self.now_data.val();
        self.ram.write_enable.next = self.now_write.val();
        self.ram.write_address.next = self.now_address.val();
        self.ram.write_data.next = self.now_data.val();
        for _i in 0..L {
            self.ram.write_enable.next = self.late_write.q.val();
            self.ram.write_address.next = self.late_address.q.val();
            self.ram.write_data.next = self.late_data.q.val();
        }
        self.writing.next = self.walking.q.val() | self.acting.q.val() | self.fetches.q.val();

        // Out.
        self.ready.next = self.step.q.val() != SchedulerState::Walk;
        // A token says what its turn must know.
        self.draining.next = self.qp_state.q.val() == 4;
        self.turns.index.next = self.in_hand.val();
        self.turns.slot.next = self.slot.q.val();
        self.turns.error.next = self.failed.q.val();
        self.turns.draining.next = self.draining.val();
        self.turns.order_open.next = self.order_open.q.val();
        self.ask_data.next = bit_cast::<QB, QA>(self.in_hand.val()) << 1;
        if self.next_fetch.q.val().get_bit(0) {
            self.ask_data.next = (bit_cast::<QB, QA>(self.in_hand.val()) << 1) | 1;
        }
        self.fetch_address.next = bit_cast::<64, 32>(self.address_low.q.val()) | (bit_cast::<64, 32>(self.address_high.q.val()) << 32);
        self.fetch_valid.next = self.fetching.q.val();
        self.sent_valid.next = self.sending.q.val();
        self.flush_valid.next = self.flushing.q.val();
        self.flush_index.next = self.flush_index_kept.q.val();
        self.flush_state.next = self.flush_state_kept.q.val();
        self.event_valid.next = self.refusing.q.val();
        self.event_index.next = self.refused_index.q.val();
        self.order.next = self.order_kept.q.val();
        self.order_valid.next = self.order_open.q.val();
        self.end_ready.next = !self.ended.q.val();
        self.turn_valid.next = self.turns.valid.val()
            & self.rest_room.val()
            & !self.order_open.q.val()
            & !self.rewind_seen.q.val()
            & !self.state_seen.q.val()
            & !self.tracker_error.val();
        self.turn_error.next = self.turns.front_error.val();
        self.turn_draining.next = self.turns.front_draining.val();
        self.head_index.next = self.turns.head_index.val();
        self.head_slot.next = self.turns.head_slot.val();

        if self.reset.val() {
            self.step.d.next = SchedulerState::Walk;
            self.acting.d.next = false;
            self.fetches.d.next = false;
            self.walking.d.next = true;
            self.chosen.d.next = false;
            self.early.d.next = false;
            self.walk.d.next = 0.into();
            self.index.d.next = 0.into();
            self.seek.d.next = false;
            self.fetching.d.next = false;
            self.order_open.d.next = false;
            self.ended.d.next = false;
            self.woken.d.next = false;
            self.wake_held.d.next = false;
            self.wake_known.d.next = false;
            self.end_woken.d.next = false;
            self.sending.d.next = false;
            self.rewind_seen.d.next = false;
            self.state_seen.d.next = false;
            self.quiet.d.next = false;
            self.flushing.d.next = false;
            self.refusing.d.next = false;
        }
    }

    crate::block_name!();
}
