// SPDX-License-Identifier: MIT OR Apache-2.0
//! Housekeeping between packets: commands, doorbells, errors from retire and requester, and the flush of QPs in ERR. One step at a time;
//! packets and steps take turns.
//!
//! ```text
//! errors > command > doorbell > flush walk ─► Read ─► Got ─► Weigh ─► Act ─┬─► modify: Write [ClearMsn, ClearRing] ───────────┬─► Finish
//!                                                                   ├─► query: MSN, ring ───────────────────────────────┤
//!                                                                   └─► Ring ─┬─► doorbell: post, or refuse with an event ┤
//!                                                                             └─► flush: one completion ───────────────────┘
//! ```
//!
//! The walk visits every QP, as many steps at one as it has receives posted, and starts again from the first whenever a QP enters ERR or a
//! doorbell rings at one in ERR; so each posted receive completes with a flush error (R65), and a long flush delays the other QPs by a
//! step a packet only.
//!
//! A changed state is told to the requester before the step is over.

use super::{verdict::Verdict, write_back::WriteSelect};
use rust_hdl::prelude::*;
use verbena_spec::layout::{qp, state};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum HouseState {
    Idle,
    Read,
    Got,
    Weigh,
    Act,
    Write,
    ClearMsn,
    ClearRing,
    QueryMsn,
    QueryRing,
    Ring,
    Doorbell,
    Row,
    Push,
    Finish,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum HouseWork {
    Error,
    RequesterError,
    ReadError,
    Command,
    Doorbell,
    Flush,
}

#[derive(LogicBlock)]
pub struct House<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// There is work.
    pub want: Signal<Out, Bit>,
    /// It is housekeeping's turn: a packet was last.
    pub turn: Signal<Out, Bit>,
    pub go: Signal<In, Bit>,
    pub idle: Signal<Out, Bit>,
    /// Not idle.
    pub at_home: Signal<Out, Bit>,
    pub packet_over: Signal<In, Bit>,
    /// A packet sent its QP to ERR.
    pub flush_request: Signal<In, Bit>,
    pub index: Signal<Out, Bits<QA>>,
    pub command_valid: Signal<In, Bit>,
    pub command_operation: Signal<In, Bits<4>>,
    pub command_index: Signal<In, Bits<12>>,
    pub command_state: Signal<In, Bits<4>>,
    pub command_done: Signal<Out, Bit>,
    pub command_refused: Signal<Out, Bit>,
    pub result0: Signal<Out, Bits<32>>,
    pub result1: Signal<Out, Bits<32>>,
    pub result2: Signal<Out, Bits<32>>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_index: Signal<In, Bits<12>>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub qp_error_valid: Signal<In, Bit>,
    pub qp_error_index: Signal<In, Bits<12>>,
    pub qp_error_ready: Signal<Out, Bit>,
    pub requester_error_valid: Signal<In, Bit>,
    pub requester_error_index: Signal<In, Bits<12>>,
    pub requester_error_ready: Signal<Out, Bit>,
    pub read_error_valid: Signal<In, Bit>,
    pub read_error_index: Signal<In, Bits<12>>,
    pub read_error_ready: Signal<Out, Bit>,
    /// Retire holds no entry.
    pub retire_idle: Signal<In, Bit>,
    /// To the requester: the QP's state is `target` now.
    pub state_valid: Signal<Out, Bit>,
    pub state_ready: Signal<In, Bit>,
    pub state_index: Signal<Out, Bits<12>>,
    pub target: Signal<Out, Bits<3>>,
    pub state_read: Signal<Out, Bit>,
    pub state_item: Signal<Out, Bits<3>>,
    pub state_word: Signal<In, Bits<32>>,
    pub row_read: Signal<Out, Bit>,
    pub row_item: Signal<Out, Bits<5>>,
    pub row_word: Signal<In, Bits<32>>,
    pub select: Signal<Out, WriteSelect>,
    /// Word 0 of the receive state, kept in the PSN window.
    pub window_load: Signal<Out, Bit>,
    /// Its ePSN := the row word (R41).
    pub window_renew: Signal<Out, Bit>,
    pub window_state: Signal<In, Bits<3>>,
    pub window_message: Signal<In, Bits<2>>,
    pub window_nak: Signal<In, Bit>,
    pub window_read_behind: Signal<In, Bit>,
    pub window_pivot: Signal<In, Bits<24>>,
    /// The upper bits of word 0 after the change.
    pub flags: Signal<Out, Bits<8>>,
    /// The step is a doorbell's.
    pub posting: Signal<Out, Bit>,
    pub queue_start: Signal<Out, Bit>,
    pub queue_done: Signal<In, Bit>,
    pub queue_empty: Signal<In, Bit>,
    pub queue_beyond: Signal<In, Bit>,
    pub verdict: Signal<Out, Verdict>,
    pub qpn: Signal<Out, Bits<24>>,
    pub push_entry: Signal<Out, Bit>,
    pub leave_idle: Signal<In, Bit>,
    state: DFF<HouseState>,
    home: DFF<Bit>,
    work: DFF<HouseWork>,
    number: DFF<Bits<12>>,
    tag: DFF<Bits<12>>,
    nonsense: DFF<Bit>,
    refused: DFF<Bit>,
    changed: DFF<Bit>,
    /// Nothing of the QP's life that ends is left in retire.
    quiet: DFF<Bit>,
    walking: DFF<Bit>,
    walk: DFF<Bits<QA>>,
    turn_kept: DFF<Bit>,
    answer_state: DFF<Bits<3>>,
    answer_psn: DFF<Bits<24>>,
    answer_msn: DFF<Bits<24>>,
    answer_consumer: DFF<Bits<16>>,
    /// What is asked, a cycle later.
    qp_error_seen: DFF<Bit>,
    requester_error_seen: DFF<Bit>,
    read_error_seen: DFF<Bit>,
    command_seen: DFF<Bit>,
    doorbell_seen: DFF<Bit>,
    live_kept: DFF<Bit>,
    legal_kept: DFF<Bit>,
    was: Signal<Local, Bits<3>>,
    kept: Signal<Local, Bits<8>>,
    live: Signal<Local, Bit>,
    legal: Signal<Local, Bit>,
    modify: Signal<Local, Bit>,
    query: Signal<Local, Bit>,
    request: Signal<Local, Bit>,
    onward: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    tells: Signal<Local, Bit>,
    kept_nak: Signal<Local, Bits<8>>,
    kept_behind: Signal<Local, Bits<8>>,
    over: Signal<Local, Bit>,
    has_requester: Constant<Bit>,
    has_reads: Constant<Bit>,
    last: Constant<Bits<QA>>,
    beyond: Constant<Bits<12>>,
    operation_modify: Constant<Bits<4>>,
    operation_query: Constant<Bits<4>>,
    in_reset: Constant<Bits<3>>,
    in_init: Constant<Bits<3>>,
    in_rtr: Constant<Bits<3>>,
    in_rts: Constant<Bits<3>>,
    in_sqd: Constant<Bits<3>>,
    in_err: Constant<Bits<3>>,
    nak_bit: Constant<Bits<8>>,
    behind_bit: Constant<Bits<8>>,
    word_state: Constant<Bits<3>>,
    word_msn: Constant<Bits<3>>,
    word_ring: Constant<Bits<3>>,
    row_tag: Constant<Bits<5>>,
    row_psn: Constant<Bits<5>>,
    row_cq: Constant<Bits<5>>,
}

impl<const QA: usize> House<QA> {
    /// `requester`: state changes have a taker, and there is a second source of errors; `reads`: a third.
    pub fn new(requester: bool, reads: bool) -> Self {
        let state = |n: u32| Constant::new((n as u64).to_bits());
        let word = |n: u64| Constant::new(n.to_bits());
        let row = |field: verbena_spec::layout::Field| Constant::new((field.word as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            want: Default::default(),
            turn: Default::default(),
            go: Default::default(),
            idle: Default::default(),
            at_home: Default::default(),
            packet_over: Default::default(),
            flush_request: Default::default(),
            index: Default::default(),
            command_valid: Default::default(),
            command_operation: Default::default(),
            command_index: Default::default(),
            command_state: Default::default(),
            command_done: Default::default(),
            command_refused: Default::default(),
            result0: Default::default(),
            result1: Default::default(),
            result2: Default::default(),
            doorbell_valid: Default::default(),
            doorbell_index: Default::default(),
            doorbell_ready: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_index: Default::default(),
            qp_error_ready: Default::default(),
            requester_error_valid: Default::default(),
            requester_error_index: Default::default(),
            requester_error_ready: Default::default(),
            read_error_valid: Default::default(),
            read_error_index: Default::default(),
            read_error_ready: Default::default(),
            retire_idle: Default::default(),
            state_valid: Default::default(),
            state_ready: Default::default(),
            state_index: Default::default(),
            target: Default::default(),
            state_read: Default::default(),
            state_item: Default::default(),
            state_word: Default::default(),
            row_read: Default::default(),
            row_item: Default::default(),
            row_word: Default::default(),
            select: Default::default(),
            window_load: Default::default(),
            window_renew: Default::default(),
            window_state: Default::default(),
            window_message: Default::default(),
            window_nak: Default::default(),
            window_read_behind: Default::default(),
            window_pivot: Default::default(),
            flags: Default::default(),
            posting: Default::default(),
            queue_start: Default::default(),
            queue_done: Default::default(),
            queue_empty: Default::default(),
            queue_beyond: Default::default(),
            verdict: Default::default(),
            qpn: Default::default(),
            push_entry: Default::default(),
            leave_idle: Default::default(),
            state: Default::default(),
            home: Default::default(),
            work: Default::default(),
            number: Default::default(),
            tag: Default::default(),
            nonsense: Default::default(),
            refused: Default::default(),
            changed: Default::default(),
            quiet: Default::default(),
            walking: Default::default(),
            walk: Default::default(),
            turn_kept: Default::default(),
            answer_state: Default::default(),
            answer_psn: Default::default(),
            answer_msn: Default::default(),
            answer_consumer: Default::default(),
            qp_error_seen: Default::default(),
            requester_error_seen: Default::default(),
            read_error_seen: Default::default(),
            command_seen: Default::default(),
            doorbell_seen: Default::default(),
            live_kept: Default::default(),
            legal_kept: Default::default(),
            was: Default::default(),
            kept: Default::default(),
            live: Default::default(),
            legal: Default::default(),
            modify: Default::default(),
            query: Default::default(),
            request: Default::default(),
            onward: Default::default(),
            leaves: Default::default(),
            tells: Default::default(),
            kept_nak: Default::default(),
            kept_behind: Default::default(),
            over: Default::default(),
            has_requester: Constant::new(requester),
            has_reads: Constant::new(reads),
            last: Constant::new(((1u64 << QA) - 1).to_bits()),
            beyond: Constant::new((0xfffu64 & !((1 << QA) - 1)).to_bits()),
            operation_modify: Constant::new(1u64.to_bits()),
            operation_query: Constant::new(2u64.to_bits()),
            in_reset: state(state::RESET),
            in_init: state(state::INIT),
            in_rtr: state(state::RTR),
            in_rts: state(state::RTS),
            in_sqd: state(state::SQD),
            in_err: state(state::ERR),
            nak_bit: Constant::new(0x20u64.to_bits()),
            behind_bit: Constant::new(0x40u64.to_bits()),
            word_state: word(0),
            word_msn: word(1),
            word_ring: word(2),
            row_tag: row(qp::TAG),
            row_psn: row(qp::RQ_PSN),
            row_cq: row(qp::RECV_CQ),
        }
    }
}

impl<const QA: usize> Logic for House<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, home, work, number, tag, nonsense, refused, changed, quiet, walking, walk, turn_kept);
        dff_setup!(
            self,
            clock,
            answer_state,
            answer_psn,
            answer_msn,
            answer_consumer,
            live_kept,
            legal_kept
        );
        dff_setup!(
            self,
            clock,
            qp_error_seen,
            requester_error_seen,
            read_error_seen,
            command_seen,
            doorbell_seen
        );

        self.want.next = self.qp_error_seen.q.val()
            | (self.requester_error_seen.q.val() & self.has_requester.val())
            | (self.read_error_seen.q.val() & self.has_reads.val())
            | self.command_seen.q.val()
            | self.doorbell_seen.q.val()
            | self.walking.q.val();
        self.turn.next = self.turn_kept.q.val();
        self.idle.next = !self.home.q.val();
        self.at_home.next = self.home.q.val();
        self.index.next = self.number.q.val().get_bits::<QA>(0);
        self.command_done.next = false;
        self.command_refused.next = self.refused.q.val();
        self.doorbell_ready.next = false;
        self.qp_error_ready.next = false;
        self.requester_error_ready.next = false;
        self.read_error_ready.next = false;
        self.state_read.next = false;
        self.state_item.next = self.word_state.val();
        self.row_read.next = false;
        self.row_item.next = self.row_tag.val();
        self.select.next = WriteSelect::Nothing;
        self.posting.next = self.work.q.val() == HouseWork::Doorbell;
        self.queue_start.next = false;
        self.window_load.next = false;
        self.window_renew.next = false;
        self.push_entry.next = false;
        self.request.next = self.flush_request.val();
        self.onward.next = false;
        self.verdict.next = Verdict::Flush;
        if self.work.q.val() == HouseWork::Doorbell {
            self.verdict.next = Verdict::BadDoorbell;
        }
        self.qpn.next = bit_cast::<24, 12>(self.number.q.val()) | (bit_cast::<24, 12>(self.tag.q.val()) << 12);

        // The state change.
        self.was.next = self.window_state.val();
        self.live.next =
            (self.was.val() == self.in_rtr.val()) | (self.was.val() == self.in_rts.val()) | (self.was.val() == self.in_sqd.val());
        self.target.next = self.in_err.val();
        if self.work.q.val() == HouseWork::Command {
            self.target.next = self.command_state.val().get_bits::<3>(0);
        }
        self.legal.next = !self.command_state.val().get_bit(3)
            & ((self.target.val() == self.in_reset.val())
                | (self.target.val() == self.in_err.val())
                | ((self.target.val() == self.in_init.val())
                    & ((self.was.val() == self.in_reset.val()) | (self.was.val() == self.in_init.val())))
                | ((self.target.val() == self.in_rtr.val()) & (self.was.val() == self.in_init.val()))
                | ((self.target.val() == self.in_rts.val()) & self.live.val())
                | ((self.target.val() == self.in_sqd.val())
                    & ((self.was.val() == self.in_rts.val()) | (self.was.val() == self.in_sqd.val()))));
        self.modify.next = self.command_operation.val() == self.operation_modify.val();
        self.query.next = self.command_operation.val() == self.operation_query.val();
        // A message goes on across RTR, RTS and SQD; any other change ends it.
        self.kept.next = 0.into();
        self.kept_nak.next = 0.into();
        if self.window_nak.val() {
            self.kept_nak.next = self.nak_bit.val();
        }
        self.kept_behind.next = 0.into();
        if self.window_read_behind.val() & self.has_reads.val() {
            self.kept_behind.next = self.behind_bit.val();
        }
        if (self.target.val() == self.in_rts.val()) | (self.target.val() == self.in_sqd.val()) {
            self.kept.next = (bit_cast::<8, 2>(self.window_message.val()) << 3) | self.kept_nak.val() | self.kept_behind.val();
        }
        self.flags.next = self.kept.val() | bit_cast::<8, 3>(self.target.val());
        self.state_valid.next = false;
        self.state_index.next = self.number.q.val();
        self.over.next = true;
        self.leaves.next = (self.target.val() == self.in_reset.val()) | (self.target.val() == self.in_init.val());
        self.tells.next = !self.leaves.val() | self.quiet.q.val();
        if self.changed.q.val() & self.has_requester.val() {
            self.over.next = self.state_ready.val() & self.tells.val();
        }

        match self.state.q.val() {
            HouseState::Idle => {
                self.nonsense.d.next = false;
                self.refused.d.next = false;
                self.changed.d.next = false;
                self.quiet.d.next = false;
                self.tag.d.next = 0.into();
                if self.go.val() {
                    self.work.d.next = HouseWork::Flush;
                    self.number.d.next = bit_cast::<12, QA>(self.walk.q.val());
                    if self.doorbell_seen.q.val() {
                        self.work.d.next = HouseWork::Doorbell;
                        self.number.d.next = self.doorbell_index.val();
                    }
                    if self.command_seen.q.val() {
                        self.work.d.next = HouseWork::Command;
                        self.number.d.next = self.command_index.val();
                    }
                    if self.requester_error_seen.q.val() & self.has_requester.val() {
                        self.work.d.next = HouseWork::RequesterError;
                        self.number.d.next = self.requester_error_index.val();
                    }
                    if self.read_error_seen.q.val() & self.has_reads.val() {
                        self.work.d.next = HouseWork::ReadError;
                        self.number.d.next = self.read_error_index.val();
                    }
                    if self.qp_error_seen.q.val() {
                        self.work.d.next = HouseWork::Error;
                        self.number.d.next = self.qp_error_index.val();
                    }
                    self.home.d.next = true;
                    self.state.d.next = HouseState::Read;
                }
            }
            HouseState::Read => {
                self.nonsense.d.next = (self.number.q.val() & self.beyond.val()).any() | !self.number.q.val().any();
                self.state_read.next = true;
                self.row_read.next = true;
                if self.work.q.val() == HouseWork::Command {
                    self.row_item.next = self.row_psn.val();
                }
                self.state.d.next = HouseState::Got;
            }
            HouseState::Got => {
                self.window_load.next = true;
                self.state.d.next = HouseState::Weigh;
            }
            HouseState::Weigh => {
                self.live_kept.d.next = self.live.val();
                self.legal_kept.d.next = self.legal.val();
                self.state.d.next = HouseState::Act;
            }
            HouseState::Act => {
                // For a query.
                self.state_read.next = true;
                self.state_item.next = self.word_msn.val();
                self.state.d.next = HouseState::Finish;
                match self.work.q.val() {
                    HouseWork::Error => {
                        if self.live_kept.q.val() & !self.nonsense.q.val() {
                            self.state.d.next = HouseState::Write;
                            self.changed.d.next = true;
                            self.request.next = true;
                        }
                    }
                    HouseWork::RequesterError => {
                        if self.live_kept.q.val() & !self.nonsense.q.val() {
                            self.state.d.next = HouseState::Write;
                            self.changed.d.next = true;
                            self.request.next = true;
                        }
                    }
                    HouseWork::ReadError => {
                        if self.live_kept.q.val() & !self.nonsense.q.val() {
                            self.state.d.next = HouseState::Write;
                            self.changed.d.next = true;
                            self.request.next = true;
                        }
                    }
                    HouseWork::Command => {
                        self.refused.d.next = true;
                        if self.modify.val() & self.legal_kept.q.val() & !self.nonsense.q.val() {
                            self.refused.d.next = false;
                            self.state.d.next = HouseState::Write;
                            self.changed.d.next = true;
                            self.request.next = self.target.val() == self.in_err.val();
                            if (self.target.val() == self.in_reset.val()) | (self.target.val() == self.in_rtr.val()) {
                                // R41: the PSN of this modify, every time.
                                self.window_renew.next = true;
                            }
                        }
                        if self.query.val() & !self.nonsense.q.val() {
                            self.refused.d.next = false;
                            self.answer_state.d.next = self.was.val();
                            self.answer_psn.d.next = self.window_pivot.val();
                            self.state.d.next = HouseState::QueryMsn;
                        }
                    }
                    HouseWork::Doorbell => {
                        if self.nonsense.q.val() {
                            self.push_entry.next = true;
                            self.state.d.next = HouseState::Push;
                        } else {
                            self.queue_start.next = true;
                            self.state.d.next = HouseState::Ring;
                        }
                    }
                    HouseWork::Flush => {
                        self.tag.d.next = self.row_word.val().get_bits::<12>(20);
                        if self.was.val() == self.in_err.val() {
                            self.queue_start.next = true;
                            self.state.d.next = HouseState::Ring;
                        } else {
                            self.onward.next = true;
                        }
                    }
                    _ => {}
                }
            }
            HouseState::Write => {
                self.select.next = WriteSelect::Context;
                self.state.d.next = HouseState::Finish;
                if (self.target.val() == self.in_reset.val()) | (self.target.val() == self.in_rtr.val()) {
                    self.state.d.next = HouseState::ClearMsn;
                }
            }
            HouseState::ClearMsn => {
                self.select.next = WriteSelect::ClearMsn;
                self.state.d.next = HouseState::Finish;
                if self.target.val() == self.in_reset.val() {
                    self.state.d.next = HouseState::ClearRing;
                }
            }
            HouseState::ClearRing => {
                self.select.next = WriteSelect::ClearRing;
                self.state.d.next = HouseState::Finish;
            }
            HouseState::QueryMsn => {
                self.answer_msn.d.next = self.state_word.val().get_bits::<24>(0);
                self.state_read.next = true;
                self.state_item.next = self.word_ring.val();
                self.state.d.next = HouseState::QueryRing;
            }
            HouseState::QueryRing => {
                self.answer_consumer.d.next = self.state_word.val().get_bits::<16>(16);
                self.state.d.next = HouseState::Finish;
            }
            HouseState::Ring => {
                // What the queue reads.
                self.state_item.next = self.word_ring.val();
                // For the completion of a flush.
                self.row_item.next = self.row_cq.val();
                if self.queue_done.val() {
                    self.row_read.next = true;
                    self.state.d.next = HouseState::Doorbell;
                    if self.work.q.val() == HouseWork::Flush {
                        self.state.d.next = HouseState::Row;
                        if self.queue_empty.val() {
                            self.onward.next = true;
                            self.state.d.next = HouseState::Finish;
                        }
                    }
                }
            }
            HouseState::Doorbell => {
                if self.queue_beyond.val() {
                    self.push_entry.next = true;
                    self.state.d.next = HouseState::Push;
                } else {
                    self.select.next = WriteSelect::Ring;
                    self.request.next = self.was.val() == self.in_err.val();
                    self.state.d.next = HouseState::Finish;
                }
            }
            HouseState::Row => {
                self.push_entry.next = true;
                self.state.d.next = HouseState::Push;
            }
            HouseState::Push => {
                if self.leave_idle.val() {
                    if self.work.q.val() == HouseWork::Flush {
                        self.select.next = WriteSelect::Ring;
                    }
                    self.state.d.next = HouseState::Finish;
                }
            }
            HouseState::Finish => {
                // A QP leaves its life only once all that it caused has left, too.
                self.quiet.d.next = self.quiet.q.val() | self.retire_idle.val();
                self.state_valid.next = self.changed.q.val() & self.has_requester.val() & self.tells.val();
                if self.over.val() {
                    self.command_done.next = self.work.q.val() == HouseWork::Command;
                    self.doorbell_ready.next = self.work.q.val() == HouseWork::Doorbell;
                    self.qp_error_ready.next = self.work.q.val() == HouseWork::Error;
                    self.requester_error_ready.next = self.work.q.val() == HouseWork::RequesterError;
                    self.read_error_ready.next = self.work.q.val() == HouseWork::ReadError;
                    self.turn_kept.d.next = false;
                    self.home.d.next = false;
                    self.state.d.next = HouseState::Idle;
                }
            }
            _ => {
                self.state.d.next = HouseState::Idle;
            }
        }

        self.qp_error_seen.d.next = self.qp_error_valid.val() & !self.qp_error_ready.val();
        self.requester_error_seen.d.next = self.requester_error_valid.val() & !self.requester_error_ready.val();
        self.read_error_seen.d.next = self.read_error_valid.val() & !self.read_error_ready.val();
        self.command_seen.d.next = self.command_valid.val() & !self.command_done.val();
        self.doorbell_seen.d.next = self.doorbell_valid.val() & !self.doorbell_ready.val();
        if self.packet_over.val() {
            self.turn_kept.d.next = true;
        }
        if self.onward.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last.val() {
                self.walking.d.next = false;
            }
        }
        if self.request.val() {
            self.walk.d.next = 0.into();
            self.walking.d.next = true;
        }
        self.result0.next = bit_cast::<32, 3>(self.answer_state.q.val()) | (bit_cast::<32, 24>(self.answer_psn.q.val()) << 8);
        self.result1.next = bit_cast::<32, 24>(self.answer_msn.q.val());
        self.result2.next = bit_cast::<32, 16>(self.answer_consumer.q.val());

        if self.reset.val() {
            self.state.d.next = HouseState::Idle;
            self.home.d.next = false;
            self.walking.d.next = false;
            self.walk.d.next = 0.into();
            self.turn_kept.d.next = false;
        }
    }

    crate::block_name!();
}
