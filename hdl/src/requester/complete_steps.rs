// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one state machine of `Complete`: a response, a timer that ran out, or a word from `Send`, one at a time.
//!
//! ```text
//! Idle ─► ReadIndex … ReadQueue ─► LookRecord ─► LookLength ─► Take ─► Judge ─┬─► Last ─► Compare ─► Decide ─► Complete
//!                                      ▲                                     │                        │          │
//!                                      └──── the next message, or the rest of this one ───────────────┴──────────┘
//! Judge ─┬─ reached ──────────────────────────────────────────────────────────────────► Save
//!        ├─ data at the oldest PSN ─► Last … Decide ─► Due ─► Fit ─► Await ─► Data ───► Save
//!        ├─ NAK, missing responses, timeout ─► Retries … Retry ─► [Named ─► Repeat] ─► Save
//!        ├─ refusals, exhausted retries ─► Fatal ─────────────────────────────────────► Save
//!        └─ flush ─► Start … Started, Posted ─► Flush, Begun ─► Drained ──────────────► Save
//! Save ─► SaveIndex ─► Outstanding ─► Behind ─► Timer ─► [Count] ─► [Refer ─► … ─► Rewind ─► CountRewind] ─► [Wake] ─► Finish ─► Idle
//! ```
//!
//! A walk goes from message to message until the response's PSN is reached. `moved`: something was acknowledged in this job.
//! Selective repeat: the PSN of the last sequence NAK whose packet was sent again alone is kept (ack row word 3), until the queue goes back whole. The same again
//! says nothing new; the one behind it says that the peer held nothing.
//! A failed QP (`dead`) takes nothing more; it is reported by its timer, set to run out at once, so that this machine never waits for control.

use super::ack_walk::Pair;
use super::timers::TimerOperation;
use rust_hdl::prelude::*;
use verbena_spec::{counters, layout::state, layout::status};

/// What a job comes to at the message it stands at: found in the step before `Judge`, so that the way on is short.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CompleteVerdict {
    /// It says nothing (new).
    Nothing,
    /// Outside what is outstanding (R39).
    Ghost,
    /// An acknowledgement whose PSN has been reached.
    Reached,
    /// Data for the oldest PSN.
    Data,
    Rnr,
    SequenceNak,
    /// A fatal NAK at the oldest PSN.
    Refused,
    /// A response for what stands behind the oldest PSN.
    Beyond,
    /// An RNR wait is over.
    WaitOver,
    TimedOut,
    /// A failed QP's timer.
    Report,
    /// The QP begins anew, goes to ERR, goes on after SQD, is to be drained.
    Start,
    Flush,
    Resume,
    Drain,
    /// `Send` refuses the WQE, or couldn't read its payload.
    Failed,
    Sent,
}

/// What is being done.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CompleteWork {
    Response,
    Expired,
    Flush,
    Fail,
    Sent,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum CompleteState {
    Idle,
    ReadIndex,
    ReadOldest,
    ReadService,
    ReadQueue,
    LookRecord,
    LookLength,
    Take,
    Judge,
    Last,
    Compare,
    Decide,
    Complete,
    Due,
    DueWait,
    Fit,
    Await,
    Forget,
    Data,
    Retries,
    RetriesWait,
    RetriesLook,
    Retry,
    Named,
    Repeat,
    Fatal,
    Start,
    StartWait,
    Started,
    Posted,
    PostedWait,
    PostedLook,
    Flush,
    Begun,
    BegunWait,
    BegunLook,
    Drained,
    Save,
    SaveIndex,
    Outstanding,
    Behind,
    Timer,
    Count,
    Refer,
    Referred,
    Offset,
    Rewind,
    CountRewind,
    Wake,
    Finish,
}

#[derive(LogicBlock)]
pub struct CompleteSteps {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The tables are cleared.
    pub go: Signal<In, Bit>,
    // What there is to do; each is held until its end (`finish`), but for `expired`, which is taken at once.
    pub response_valid: Signal<In, Bit>,
    pub response_index: Signal<In, Bits<12>>,
    pub expired_valid: Signal<In, Bit>,
    pub expired_index: Signal<In, Bits<12>>,
    pub expired_rnr: Signal<In, Bit>,
    pub expired_ready: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_index: Signal<In, Bits<12>>,
    pub flush_state: Signal<In, Bits<3>>,
    pub fail_valid: Signal<In, Bit>,
    pub fail_index: Signal<In, Bits<12>>,
    pub fail_status: Signal<In, Bits<8>>,
    pub sent_valid: Signal<In, Bit>,
    pub sent_index: Signal<In, Bits<12>>,
    pub sent_status: Signal<In, Bits<8>>,
    pub work: Signal<Out, CompleteWork>,
    pub finish: Signal<Out, Bit>,
    /// One cycle: the response is done.
    pub response_done: Signal<Out, Bit>,
    /// The response was outside what is outstanding (R39).
    pub ghost: Signal<Out, Bit>,
    /// The response's last job has released the frame.
    pub placed: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<12>>,
    /// At work for `index`: its row may be behind what has been completed.
    pub busy: Signal<Out, Bit>,
    pub wqe: Signal<Out, Bits<16>>,
    // Rows, and what `Send` shows.
    pub read: Signal<Out, Bit>,
    pub item: Signal<Out, Bits<5>>,
    pub word: Signal<In, Bits<32>>,
    pub write: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<4>>,
    pub write_data: Signal<Out, Bits<32>>,
    pub look_read: Signal<Out, Bit>,
    pub look_item: Signal<Out, Bits<5>>,
    pub look_data: Signal<In, Bits<32>>,
    pub load_service: Signal<Out, Bit>,
    pub load_queue: Signal<Out, Bit>,
    pub load_domain: Signal<Out, Bit>,
    // PSNs.
    pub pair: Signal<Out, Pair>,
    pub negative: Signal<In, Bit>,
    pub equal: Signal<In, Bit>,
    pub oldest: Signal<In, Bits<24>>,
    pub load_oldest: Signal<Out, Bit>,
    pub load_limit: Signal<Out, Bit>,
    pub load_first: Signal<Out, Bit>,
    pub load_length: Signal<Out, Bit>,
    pub pass: Signal<Out, Bit>,
    pub reach: Signal<Out, Bit>,
    /// With `pass`; earlier in the cycle.
    pub passing: Signal<Out, Bit>,
    pub inclusive: Signal<Out, Bit>,
    /// The oldest PSN is a message's first.
    pub aligned: Signal<Out, Bit>,
    // The response.
    pub positive: Signal<In, Bit>,
    pub rnr: Signal<In, Bit>,
    pub sequence_nak: Signal<In, Bit>,
    pub data: Signal<In, Bit>,
    pub nak_status: Signal<In, Bits<4>>,
    pub bytes: Signal<In, Bit>,
    pub fetches: Signal<In, Bit>,
    pub fits: Signal<In, Bit>,
    pub opening: Signal<Out, Bit>,
    pub closing: Signal<Out, Bit>,
    pub signaled: Signal<In, Bit>,
    // Placement.
    pub load_offset: Signal<Out, Bit>,
    pub place_start: Signal<Out, Bit>,
    pub place_hit: Signal<Out, Bit>,
    pub place_commit: Signal<Out, Bit>,
    pub place_forget: Signal<Out, Bit>,
    pub place_clear: Signal<Out, Bit>,
    pub place_idle: Signal<In, Bit>,
    pub place_done: Signal<In, Bit>,
    pub place_refused: Signal<In, Bit>,
    pub place_status: Signal<In, Bits<4>>,
    pub place_jobs: Signal<In, Bits<2>>,
    // Out.
    pub entry_valid: Signal<Out, Bit>,
    pub entry_ready: Signal<In, Bit>,
    pub entry_complete: Signal<Out, Bit>,
    pub entry_event: Signal<Out, Bit>,
    pub entry_status: Signal<Out, Bits<4>>,
    /// The cause is the NAK's syndrome.
    pub named: Signal<Out, Bit>,
    /// The event is SQ_DRAINED, else QP_FATAL.
    pub drained: Signal<Out, Bit>,
    pub timer_valid: Signal<Out, Bit>,
    pub timer_operation: Signal<Out, TimerOperation>,
    pub timer_ready: Signal<In, Bit>,
    pub rewind_valid: Signal<Out, Bit>,
    pub rewind_hold: Signal<Out, Bit>,
    pub rewind_alone: Signal<Out, Bit>,
    pub rewind_ready: Signal<In, Bit>,
    pub wake_valid: Signal<Out, Bit>,
    pub wake_ready: Signal<In, Bit>,
    pub count_valid: Signal<Out, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_ready: Signal<In, Bit>,
    pub report_valid: Signal<Out, Bit>,
    pub report_index: Signal<Out, Bits<12>>,
    pub report_ready: Signal<In, Bit>,
    state: DFF<CompleteState>,
    /// The word that is read in this state, and whether: chosen in the one before.
    item_kept: DFF<Bits<5>>,
    reading: DFF<Bit>,
    /// The row's word that is written in this state, and whether: chosen in the one before; with zeros.
    writing: DFF<Bit>,
    write_kept: DFF<Bits<2>>,
    clearing: DFF<Bit>,
    /// `load_limit`, chosen in the state before.
    limiting: DFF<Bit>,
    /// There was progress in the cycle before.
    progressed: DFF<Bit>,
    /// `Send` had nothing to say in the cycle before.
    quiet: DFF<Bit>,
    verdict: DFF<CompleteVerdict>,
    /// A cycle behind: the QP is in RTS or SQD and hasn't failed; it is in SQD; the timer is to be set.
    live: DFF<Bit>,
    draining: DFF<Bit>,
    timing: DFF<Bit>,
    /// No retry is left; there is no limit; the QP takes selective repeat.
    spent: DFF<Bit>,
    endless: DFF<Bit>,
    selective: DFF<Bit>,
    /// The PSN before the oldest one.
    before_oldest: DFF<Bits<24>>,
    work_kept: DFF<CompleteWork>,
    turn: DFF<Bit>,
    index_kept: DFF<Bits<12>>,
    wqe_kept: DFF<Bits<16>>,
    retries: DFF<Bits<3>>,
    rnr_retries: DFF<Bits<3>>,
    qp_state: DFF<Bits<3>>,
    dead: DFF<Bit>,
    implied: DFF<Bit>,
    waiting: DFF<Bit>,
    told: DFF<Bit>,
    /// PSN facts, one cycle behind their difference: psn before oldest, psn = oldest.
    earlier: DFF<Bit>,
    here: DFF<Bit>,
    hit: DFF<Bit>,
    /// What Send showed, a cycle later.
    looked: DFF<Bits<32>>,
    same: DFF<Bit>,
    posted_all: DFF<Bit>,
    begun_all: DFF<Bit>,
    /// The word is the oldest PSN, the one before it.
    word_is_oldest: DFF<Bit>,
    word_is_before: DFF<Bit>,
    /// The acknowledgement ends with this message.
    exact: DFF<Bit>,
    moved: DFF<Bit>,
    rewinding: DFF<Bit>,
    /// With `rewinding`: only the oldest packet is sent again.
    alone: DFF<Bit>,
    /// The NAK names the packet behind the one that was sent again alone.
    behind: DFF<Bit>,
    waking: DFF<Bit>,
    failed: DFF<Bit>,
    aligned_kept: DFF<Bit>,
    opening_kept: DFF<Bit>,
    closing_kept: DFF<Bit>,
    fitting: DFF<Bit>,
    placing: DFF<Bit>,
    placed_kept: DFF<Bit>,
    ghost_kept: DFF<Bit>,
    named_kept: DFF<Bit>,
    outstanding: DFF<Bit>,
    rnr_expired: DFF<Bit>,
    status_kept: DFF<Bits<4>>,
    cause: DFF<Bits<6>>,
    operation: DFF<TimerOperation>,
    /// A cycle behind: `operation` is an RNR wait; there is a cause; Send may be resending what has arrived meanwhile.
    is_rnr: DFF<Bit>,
    caused: DFF<Bit>,
    overtaken: DFF<Bit>,
    /// The end, a cycle after its decision.
    finish_kept: DFF<Bit>,
    report: DFF<Bit>,
    report_kept: DFF<Bits<12>>,
    other: Signal<Local, Bit>,
    /// A timer that ran out is to be taken.
    due: Signal<Local, Bit>,
    legit: Signal<Local, Bit>,
    reached: Signal<Local, Bit>,
    /// What `Send` says of a WQE that isn't to succeed.
    hurt: Signal<Local, Bits<8>>,
    progress: Signal<Local, Bit>,
    next_wqe: Signal<Local, Bit>,
    save: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
    go_back: Signal<Local, Bit>,
    limit: Signal<Local, Bits<3>>,
    used: Signal<Local, Bits<3>>,
    by_timer: Signal<Local, Bit>,
    is_response: Signal<Local, Bit>,
    in_rts: Constant<Bits<3>>,
    in_sqd: Constant<Bits<3>>,
    in_err: Constant<Bits<3>>,
    status_success: Constant<Bits<4>>,
    status_bad: Constant<Bits<4>>,
    status_retry: Constant<Bits<4>>,
    status_rnr: Constant<Bits<4>>,
    status_flush: Constant<Bits<4>>,
    count_rewind: Constant<Bits<6>>,
    count_alone: Constant<Bits<6>>,
    count_timeout: Constant<Bits<6>>,
    count_rnr: Constant<Bits<6>>,
    count_implied: Constant<Bits<6>>,
    count_bad: Constant<Bits<6>>,
}

impl Default for CompleteSteps {
    fn default() -> Self {
        let three = |n: u32| Constant::new((n as u64).to_bits());
        let four = |n: u32| Constant::new((n as u64).to_bits());
        let six = |n: u8| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            go: Default::default(),
            response_valid: Default::default(),
            response_index: Default::default(),
            expired_valid: Default::default(),
            expired_index: Default::default(),
            expired_rnr: Default::default(),
            expired_ready: Default::default(),
            flush_valid: Default::default(),
            flush_index: Default::default(),
            flush_state: Default::default(),
            fail_valid: Default::default(),
            fail_index: Default::default(),
            fail_status: Default::default(),
            sent_valid: Default::default(),
            sent_index: Default::default(),
            sent_status: Default::default(),
            work: Default::default(),
            finish: Default::default(),
            response_done: Default::default(),
            ghost: Default::default(),
            placed: Default::default(),
            index: Default::default(),
            busy: Default::default(),
            wqe: Default::default(),
            read: Default::default(),
            item: Default::default(),
            word: Default::default(),
            write: Default::default(),
            write_item: Default::default(),
            write_data: Default::default(),
            look_read: Default::default(),
            look_item: Default::default(),
            look_data: Default::default(),
            load_service: Default::default(),
            load_queue: Default::default(),
            load_domain: Default::default(),
            pair: Default::default(),
            negative: Default::default(),
            equal: Default::default(),
            oldest: Default::default(),
            load_oldest: Default::default(),
            load_limit: Default::default(),
            load_first: Default::default(),
            load_length: Default::default(),
            pass: Default::default(),
            reach: Default::default(),
            passing: Default::default(),
            inclusive: Default::default(),
            aligned: Default::default(),
            positive: Default::default(),
            rnr: Default::default(),
            sequence_nak: Default::default(),
            data: Default::default(),
            nak_status: Default::default(),
            bytes: Default::default(),
            fetches: Default::default(),
            fits: Default::default(),
            opening: Default::default(),
            closing: Default::default(),
            signaled: Default::default(),
            load_offset: Default::default(),
            place_start: Default::default(),
            place_hit: Default::default(),
            place_commit: Default::default(),
            place_forget: Default::default(),
            place_clear: Default::default(),
            place_idle: Default::default(),
            place_done: Default::default(),
            place_refused: Default::default(),
            place_status: Default::default(),
            place_jobs: Default::default(),
            entry_valid: Default::default(),
            entry_ready: Default::default(),
            entry_complete: Default::default(),
            entry_event: Default::default(),
            entry_status: Default::default(),
            named: Default::default(),
            drained: Default::default(),
            timer_valid: Default::default(),
            timer_operation: Default::default(),
            timer_ready: Default::default(),
            rewind_valid: Default::default(),
            rewind_hold: Default::default(),
            rewind_alone: Default::default(),
            rewind_ready: Default::default(),
            wake_valid: Default::default(),
            wake_ready: Default::default(),
            count_valid: Default::default(),
            count_code: Default::default(),
            count_ready: Default::default(),
            report_valid: Default::default(),
            report_index: Default::default(),
            report_ready: Default::default(),
            state: Default::default(),
            work_kept: Default::default(),
            turn: Default::default(),
            index_kept: Default::default(),
            wqe_kept: Default::default(),
            retries: Default::default(),
            rnr_retries: Default::default(),
            qp_state: Default::default(),
            dead: Default::default(),
            implied: Default::default(),
            waiting: Default::default(),
            told: Default::default(),
            earlier: Default::default(),
            here: Default::default(),
            hit: Default::default(),
            looked: Default::default(),
            same: Default::default(),
            posted_all: Default::default(),
            begun_all: Default::default(),
            word_is_oldest: Default::default(),
            word_is_before: Default::default(),
            exact: Default::default(),
            moved: Default::default(),
            rewinding: Default::default(),
            alone: Default::default(),
            behind: Default::default(),
            item_kept: Default::default(),
            reading: Default::default(),
            writing: Default::default(),
            write_kept: Default::default(),
            clearing: Default::default(),
            limiting: Default::default(),
            caused: Default::default(),
            overtaken: Default::default(),
            progressed: Default::default(),
            quiet: Default::default(),
            due: Default::default(),
            verdict: Default::default(),
            draining: Default::default(),
            timing: Default::default(),
            spent: Default::default(),
            endless: Default::default(),
            selective: Default::default(),
            before_oldest: Default::default(),
            hurt: Default::default(),
            count_alone: six(counters::SELECTIVE_RESEND),
            waking: Default::default(),
            failed: Default::default(),
            aligned_kept: Default::default(),
            opening_kept: Default::default(),
            closing_kept: Default::default(),
            fitting: Default::default(),
            placing: Default::default(),
            placed_kept: Default::default(),
            ghost_kept: Default::default(),
            named_kept: Default::default(),
            outstanding: Default::default(),
            rnr_expired: Default::default(),
            status_kept: Default::default(),
            cause: Default::default(),
            operation: Default::default(),
            finish_kept: Default::default(),
            report: Default::default(),
            report_kept: Default::default(),
            other: Default::default(),
            live: Default::default(),
            legit: Default::default(),
            reached: Default::default(),
            progress: Default::default(),
            next_wqe: Default::default(),
            save: Default::default(),
            leave: Default::default(),
            go_back: Default::default(),
            limit: Default::default(),
            used: Default::default(),
            is_rnr: Default::default(),
            by_timer: Default::default(),
            is_response: Default::default(),
            in_rts: three(state::RTS),
            in_sqd: three(state::SQD),
            in_err: three(state::ERR),
            status_success: four(status::SUCCESS),
            status_bad: four(status::BAD_RESPONSE_ERROR),
            status_retry: four(status::RETRY_EXCEEDED),
            status_rnr: four(status::RNR_RETRY_EXCEEDED),
            status_flush: four(status::WR_FLUSH_ERROR),
            count_rewind: six(counters::REWIND),
            count_timeout: six(counters::TIMEOUT),
            count_rnr: six(counters::RNR_WAIT),
            count_implied: six(counters::IMPLIED_NAK),
            count_bad: six(counters::BAD_RESPONSE),
        }
    }
}

impl Logic for CompleteSteps {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            work_kept,
            turn,
            index_kept,
            wqe_kept,
            retries,
            rnr_retries,
            qp_state,
            dead,
            implied,
            waiting,
            told
        );
        dff_setup!(
            self,
            clock,
            earlier,
            here,
            hit,
            looked,
            same,
            exact,
            moved,
            rewinding,
            alone,
            behind,
            waking,
            failed,
            aligned_kept,
            opening_kept
        );
        dff_setup!(
            self,
            clock,
            closing_kept,
            fitting,
            placing,
            placed_kept,
            ghost_kept,
            named_kept,
            outstanding,
            rnr_expired
        );
        dff_setup!(self, clock, reading, progressed, quiet, writing, write_kept, clearing, limiting);
        dff_setup!(
            self,
            clock,
            posted_all,
            begun_all,
            word_is_oldest,
            word_is_before,
            is_rnr,
            caused,
            overtaken
        );
        dff_setup!(self, clock, status_kept, cause, operation, finish_kept, report, report_kept);
        dff_setup!(
            self,
            clock,
            item_kept,
            verdict,
            live,
            draining,
            timing,
            spent,
            endless,
            selective,
            before_oldest
        );

        self.looked.d.next = self.look_data.val();
        self.expired_ready.next = false;
        self.finish.next = self.finish_kept.q.val();
        self.finish_kept.d.next = false;
        self.response_done.next = self.finish_kept.q.val() & (self.work_kept.q.val() == CompleteWork::Response);
        self.read.next = self.reading.q.val();
        self.reading.d.next = false;
        self.item.next = self.item_kept.q.val();
        self.item_kept.d.next = 2.into();
        self.write.next = self.writing.q.val();
        self.writing.d.next = false;
        self.clearing.d.next = false;
        self.write_kept.d.next = 0.into();
        self.write_item.next = bit_cast::<4, 2>(self.write_kept.q.val());
        self.write_data.next = bit_cast::<32, 24>(self.oldest.val())
            | (bit_cast::<32, 3>(self.qp_state.q.val()) << 24)
            | (bit_cast::<32, 1>(self.dead.q.val().into()) << 27)
            | (bit_cast::<32, 1>(self.implied.q.val().into()) << 28)
            | (bit_cast::<32, 1>(self.waiting.q.val().into()) << 29)
            | (bit_cast::<32, 1>(self.told.q.val().into()) << 30);
        if self.write_kept.q.val().get_bit(0) {
            self.write_data.next = bit_cast::<32, 16>(self.wqe_kept.q.val())
                | (bit_cast::<32, 3>(self.retries.q.val()) << 16)
                | (bit_cast::<32, 3>(self.rnr_retries.q.val()) << 19);
        }
        if self.write_kept.q.val().get_bit(1) {
            self.write_data.next = bit_cast::<32, 24>(self.oldest.val()) | (bit_cast::<32, 1>(self.alone.q.val().into()) << 24);
        }
        if self.clearing.q.val() {
            self.write_data.next = 0.into();
        }
        self.busy.next = self.state.q.val() != CompleteState::Idle;
        self.look_read.next = false;
        self.look_item.next = 0.into();
        self.load_service.next = false;
        self.load_queue.next = false;
        self.load_domain.next = false;
        self.pair.next = Pair::Nothing;
        self.load_oldest.next = false;
        self.load_limit.next = self.limiting.q.val();
        self.limiting.d.next = false;
        self.load_first.next = false;
        self.load_length.next = false;
        self.pass.next = false;
        self.reach.next = false;
        self.passing.next = self.state.q.val() == CompleteState::Complete;
        self.inclusive.next = self.positive.val() | self.fitting.q.val();
        self.load_offset.next = false;
        self.place_start.next = false;
        self.place_commit.next = false;
        self.place_forget.next = false;
        self.place_clear.next = false;
        self.entry_valid.next = false;
        self.entry_complete.next = true;
        self.entry_event.next = false;
        self.entry_status.next = self.status_success.val();
        self.drained.next = false;
        self.timer_valid.next = false;
        self.timer_operation.next = TimerOperation::Nothing;
        self.rewind_valid.next = false;
        self.wake_valid.next = false;
        self.count_valid.next = false;
        self.count_code.next = self.cause.q.val();
        self.progress.next = false;
        self.next_wqe.next = false;
        self.save.next = false;
        self.leave.next = false;
        self.go_back.next = self.rewinding.q.val();

        self.before_oldest.d.next = self.oldest.val() - 1;
        self.is_response.next = self.work_kept.q.val() == CompleteWork::Response;
        self.by_timer.next = self.work_kept.q.val() == CompleteWork::Expired;
        self.quiet.d.next = !self.flush_valid.val() & !self.fail_valid.val() & !self.sent_valid.val();
        self.due.next = self.expired_valid.val() & !self.report.q.val() & self.quiet.q.val();
        self.other.next = self.flush_valid.val() | self.fail_valid.val() | self.sent_valid.val() | self.due.val();
        self.draining.d.next = self.qp_state.q.val() == self.in_sqd.val();
        self.live.d.next =
            !self.dead.q.val() & ((self.qp_state.q.val() == self.in_rts.val()) | (self.qp_state.q.val() == self.in_sqd.val()));
        // R39: from the oldest unacknowledged PSN to the highest ever sent.
        self.legit.next = self.live.q.val() & (self.moved.q.val() | (!self.earlier.q.val() & self.negative.val()));
        self.reached.next = self.here.q.val();
        if self.positive.val() {
            self.reached.next = self.moved.q.val() & self.earlier.q.val();
        }
        // R44: two counts.
        self.is_rnr.d.next = self.operation.q.val() == TimerOperation::Rnr;
        self.caused.d.next = self.cause.q.val().any();
        self.overtaken.d.next = self.moved.q.val() & !self.failed.q.val() & self.is_response.val() & !self.looked.q.val().get_bit(24);
        self.word_is_oldest.d.next = self.word.val().get_bits::<24>(0) == self.oldest.val();
        self.word_is_before.d.next = self.word.val().get_bits::<24>(0) == self.before_oldest.q.val();
        self.hurt.next = self.fail_status.val();
        if self.work_kept.q.val() == CompleteWork::Sent {
            self.hurt.next = self.sent_status.val();
        }
        // R45: an RNR wait isn't disturbed. R48: a NAK without progress doesn't start the ACK timer anew, so a peer that NAKs for ever ends.
        self.timing.d.next = (self.operation.q.val() != TimerOperation::Nothing)
            | (!self.waiting.q.val()
                & (self.moved.q.val() | (self.rewinding.q.val() & self.by_timer.val()) | self.waking.q.val() | self.alone.q.val()));
        self.limit.next = self.word.val().get_bits::<3>(5);
        self.used.next = self.retries.q.val();
        if self.is_rnr.q.val() {
            self.limit.next = self.word.val().get_bits::<3>(8);
            self.used.next = self.rnr_retries.q.val();
        }

        match self.state.q.val() {
            CompleteState::Idle => {
                self.item_kept.d.next = 1.into();
                self.reading.d.next = true;
                self.place_clear.next = true;
                self.moved.d.next = false;
                self.rewinding.d.next = false;
                self.alone.d.next = false;
                self.waking.d.next = false;
                self.failed.d.next = false;
                self.aligned_kept.d.next = false;
                self.closing_kept.d.next = false;
                self.fitting.d.next = false;
                self.placing.d.next = false;
                self.placed_kept.d.next = false;
                self.ghost_kept.d.next = false;
                self.named_kept.d.next = false;
                self.rnr_expired.d.next = self.expired_rnr.val();
                self.cause.d.next = 0.into();
                self.operation.d.next = TimerOperation::Nothing;
                if self.finish_kept.q.val() {
                    // What is done is still on offer.
                    self.state.d.next = CompleteState::Idle;
                } else if self.response_valid.val() & !(self.turn.q.val() & self.other.val()) {
                    self.work_kept.d.next = CompleteWork::Response;
                    self.index_kept.d.next = self.response_index.val();
                    self.turn.d.next = true;
                    if self.go.val() {
                        self.state.d.next = CompleteState::ReadIndex;
                    }
                } else {
                    self.turn.d.next = false;
                    if self.other.val() & self.go.val() {
                        self.state.d.next = CompleteState::ReadIndex;
                    }
                    // What Send says of a WQE comes before what it says of the QP; a timer comes when Send had nothing to say.
                    self.work_kept.d.next = CompleteWork::Flush;
                    self.index_kept.d.next = self.flush_index.val();
                    if self.fail_valid.val() {
                        self.work_kept.d.next = CompleteWork::Fail;
                        self.index_kept.d.next = self.fail_index.val();
                    }
                    if self.sent_valid.val() {
                        self.work_kept.d.next = CompleteWork::Sent;
                        self.index_kept.d.next = self.sent_index.val();
                    }
                    if self.due.val() {
                        self.work_kept.d.next = CompleteWork::Expired;
                        self.index_kept.d.next = self.expired_index.val();
                    }
                    self.expired_ready.next = self.go.val() & self.due.val();
                }
            }
            CompleteState::ReadIndex => {
                self.reading.d.next = true;
                self.item_kept.d.next = 0.into();
                self.look_read.next = true;
                self.look_item.next = 2.into();
                self.limiting.d.next = true;
                self.state.d.next = CompleteState::ReadOldest;
            }
            CompleteState::ReadOldest => {
                self.reading.d.next = true;
                self.item_kept.d.next = 16.into();
                self.state.d.next = CompleteState::ReadService;
            }
            CompleteState::ReadService => {
                self.reading.d.next = true;
                self.item_kept.d.next = 18.into();
                self.wqe_kept.d.next = self.word.val().get_bits::<16>(0);
                self.retries.d.next = self.word.val().get_bits::<3>(16);
                self.rnr_retries.d.next = self.word.val().get_bits::<3>(19);
                self.state.d.next = CompleteState::ReadQueue;
            }
            CompleteState::ReadQueue => {
                self.reading.d.next = true;
                self.load_oldest.next = true;
                self.qp_state.d.next = self.word.val().get_bits::<3>(24);
                self.dead.d.next = self.word.val().get_bit(27);
                self.implied.d.next = self.word.val().get_bit(28);
                self.waiting.d.next = self.word.val().get_bit(29);
                self.told.d.next = self.word.val().get_bit(30);
                self.pair.next = Pair::PsnOldest;
                self.state.d.next = CompleteState::LookRecord;
            }
            CompleteState::LookRecord => {
                self.reading.d.next = true;
                self.item_kept.d.next = 17.into();
                self.look_read.next = true;
                self.look_item.next = (bit_cast::<5, 3>(self.wqe_kept.q.val().get_bits::<3>(0)) << 1) | 16;
                // Each difference is asked for in the cycle before it is taken.
                self.pair.next = Pair::OldestLimit;
                if self.is_response.val() {
                    self.pair.next = Pair::PsnLimit;
                }
                self.load_service.next = !self.moved.q.val() & !self.progressed.q.val();
                self.state.d.next = CompleteState::LookLength;
            }
            CompleteState::LookLength => {
                self.reading.d.next = true;
                self.item_kept.d.next = 10.into();
                self.look_read.next = true;
                self.look_item.next = (bit_cast::<5, 3>(self.wqe_kept.q.val().get_bits::<3>(0)) << 1) | 17;
                self.load_first.next = true;
                self.load_queue.next = !self.moved.q.val();
                self.earlier.d.next = self.negative.val();
                self.here.d.next = self.equal.val();
                self.pair.next = Pair::OldestFirst;
                self.state.d.next = CompleteState::Take;
            }
            CompleteState::Take => {
                self.reading.d.next = true;
                self.item_kept.d.next = 8.into();
                self.load_length.next = true;
                self.hit.d.next = self.word.val().get_bit(16) & (self.word.val().get_bits::<16>(0) == self.wqe_kept.q.val());
                self.verdict.d.next = CompleteVerdict::Nothing;
                match self.work_kept.q.val() {
                    CompleteWork::Response => {
                        self.verdict.d.next = CompleteVerdict::Beyond;
                        if self.reached.val() {
                            self.verdict.d.next = CompleteVerdict::Refused;
                            if self.sequence_nak.val() {
                                self.verdict.d.next = CompleteVerdict::SequenceNak;
                            }
                            if self.rnr.val() {
                                self.verdict.d.next = CompleteVerdict::Rnr;
                            }
                            if (self.sequence_nak.val() | self.rnr.val()) & self.waiting.q.val() {
                                // R46: a sequence NAK while the RNR wait runs says nothing new.
                                self.verdict.d.next = CompleteVerdict::Nothing;
                            }
                            if self.data.val() {
                                self.verdict.d.next = CompleteVerdict::Data;
                            }
                            if self.positive.val() {
                                self.verdict.d.next = CompleteVerdict::Reached;
                            }
                        }
                        if !self.legit.val() {
                            self.verdict.d.next = CompleteVerdict::Ghost;
                        }
                    }
                    CompleteWork::Expired => {
                        if self.live.q.val() {
                            if self.rnr_expired.q.val() {
                                self.verdict.d.next = CompleteVerdict::WaitOver;
                            } else {
                                if self.negative.val() {
                                    self.verdict.d.next = CompleteVerdict::TimedOut;
                                }
                            }
                        } else {
                            if self.dead.q.val() & (self.qp_state.q.val() != self.in_err.val()) {
                                self.verdict.d.next = CompleteVerdict::Report;
                            }
                        }
                    }
                    CompleteWork::Flush => {
                        self.verdict.d.next = CompleteVerdict::Start;
                        if self.flush_state.val() == self.in_err.val() {
                            self.verdict.d.next = CompleteVerdict::Flush;
                        }
                        if (self.qp_state.q.val() == self.in_rts.val()) | (self.qp_state.q.val() == self.in_sqd.val()) {
                            if self.flush_state.val() == self.in_rts.val() {
                                self.verdict.d.next = CompleteVerdict::Resume;
                            }
                            if self.flush_state.val() == self.in_sqd.val() {
                                self.verdict.d.next = CompleteVerdict::Drain;
                            }
                        }
                    }
                    CompleteWork::Fail => {
                        if self.live.q.val() {
                            self.verdict.d.next = CompleteVerdict::Failed;
                        }
                    }
                    CompleteWork::Sent => {
                        if self.live.q.val() {
                            self.verdict.d.next = CompleteVerdict::Sent;
                            if self.sent_status.val().any() {
                                self.verdict.d.next = CompleteVerdict::Failed;
                            }
                        }
                    }
                    _ => {}
                }
                self.state.d.next = CompleteState::Judge;
            }
            CompleteState::Judge => {
                // What is read in this step is element 0's address, for `Placement`.
                self.reading.d.next = true;
                self.item_kept.d.next = 23.into();
                if self.verdict.q.val() == CompleteVerdict::Start {
                    self.item_kept.d.next = 20.into();
                }
                self.load_domain.next = true;
                self.load_offset.next = true;
                self.opening_kept.d.next = self.aligned_kept.q.val() | self.equal.val();
                self.state.d.next = CompleteState::Finish;
                match self.verdict.q.val() {
                    CompleteVerdict::Ghost => {
                        self.ghost_kept.d.next = true;
                    }
                    CompleteVerdict::Reached => {
                        self.save.next = true;
                    }
                    CompleteVerdict::Data => {
                        self.fitting.d.next = true;
                        self.placing.d.next = self.bytes.val() & self.fetches.val();
                        self.place_start.next = self.bytes.val() & self.fetches.val();
                        self.state.d.next = CompleteState::Last;
                    }
                    CompleteVerdict::Rnr => {
                        self.operation.d.next = TimerOperation::Rnr;
                        self.cause.d.next = self.count_rnr.val();
                        self.state.d.next = CompleteState::Retries;
                    }
                    CompleteVerdict::SequenceNak => {
                        self.state.d.next = CompleteState::Retries;
                    }
                    CompleteVerdict::Refused => {
                        self.named_kept.d.next = true;
                        self.status_kept.d.next = self.nak_status.val();
                        if self.nak_status.val() == self.status_bad.val() {
                            self.cause.d.next = self.count_bad.val();
                        }
                        self.state.d.next = CompleteState::Fatal;
                    }
                    CompleteVerdict::Beyond => {
                        self.state.d.next = CompleteState::Last;
                        if self.fetches.val() {
                            // R34: its responses are missing; once until there is progress.
                            self.state.d.next = CompleteState::Finish;
                            if !self.implied.q.val() {
                                self.implied.d.next = true;
                                self.cause.d.next = self.count_implied.val();
                                self.state.d.next = CompleteState::Retries;
                            }
                        }
                    }
                    CompleteVerdict::WaitOver => {
                        self.waiting.d.next = false;
                        self.waking.d.next = true;
                        self.save.next = true;
                    }
                    CompleteVerdict::TimedOut => {
                        self.cause.d.next = self.count_timeout.val();
                        self.state.d.next = CompleteState::Retries;
                    }
                    CompleteVerdict::Report => {
                        self.report.d.next = true;
                        self.report_kept.d.next = self.index_kept.q.val();
                    }
                    CompleteVerdict::Start => {
                        self.state.d.next = CompleteState::Start;
                    }
                    CompleteVerdict::Flush => {
                        self.qp_state.d.next = self.in_err.val();
                        self.operation.d.next = TimerOperation::Off;
                        self.state.d.next = CompleteState::Posted;
                    }
                    CompleteVerdict::Resume => {
                        self.qp_state.d.next = self.in_rts.val();
                        self.told.d.next = false;
                        self.state.d.next = CompleteState::Save;
                    }
                    CompleteVerdict::Drain => {
                        self.qp_state.d.next = self.in_sqd.val();
                        self.state.d.next = CompleteState::Begun;
                    }
                    CompleteVerdict::Failed => {
                        self.status_kept.d.next = self.hurt.val().get_bits::<4>(0);
                        self.state.d.next = CompleteState::Fatal;
                    }
                    CompleteVerdict::Sent => {
                        self.state.d.next = CompleteState::Last;
                    }
                    _ => {}
                }
            }
            CompleteState::Last => {
                self.pair.next = Pair::BoundEnd;
                self.state.d.next = CompleteState::Compare;
            }
            CompleteState::Compare => {
                self.state.d.next = CompleteState::Decide;
            }
            CompleteState::Decide => {
                self.pair.next = Pair::PsnOldest;
                // With data `Placement` has the row.
                self.reading.d.next = !self.fitting.q.val();
                self.closing_kept.d.next = !self.negative.val();
                self.exact.d.next = self.equal.val() & self.positive.val() & self.is_response.val();
                self.state.d.next = CompleteState::Complete;
                if self.is_response.val() {
                    if self.fitting.q.val() {
                        self.state.d.next = CompleteState::Due;
                    } else {
                        if self.negative.val() {
                            // A part of the message.
                            self.reach.next = true;
                            self.progress.next = true;
                            self.aligned_kept.d.next = false;
                            self.state.d.next = CompleteState::LookRecord;
                        }
                    }
                }
            }
            CompleteState::Complete => {
                self.pair.next = Pair::PsnOldest;
                self.reading.d.next = true;
                self.entry_valid.next = self.signaled.val();
                if self.entry_ready.val() | !self.signaled.val() {
                    self.next_wqe.next = true;
                    self.pass.next = true;
                    self.progress.next = true;
                    self.aligned_kept.d.next = true;
                    self.state.d.next = CompleteState::LookRecord;
                    if !self.is_response.val() | self.exact.q.val() {
                        self.save.next = true;
                    }
                }
            }
            CompleteState::Due => {
                self.state.d.next = CompleteState::DueWait;
            }
            CompleteState::DueWait => {
                self.state.d.next = CompleteState::Fit;
            }
            CompleteState::Fit => {
                self.state.d.next = CompleteState::Data;
                if self.placing.q.val() {
                    self.state.d.next = CompleteState::Await;
                }
                if !self.fits.val() {
                    // R40.
                    self.status_kept.d.next = self.status_bad.val();
                    self.cause.d.next = self.count_bad.val();
                    self.state.d.next = CompleteState::Forget;
                }
            }
            CompleteState::Await => {
                self.place_commit.next = true;
                if self.place_done.val() {
                    self.placed_kept.d.next = true;
                    self.state.d.next = CompleteState::Data;
                }
                if self.place_refused.val() {
                    self.status_kept.d.next = self.place_status.val();
                    self.state.d.next = CompleteState::Forget;
                }
            }
            CompleteState::Forget => {
                self.place_forget.next = true;
                if self.place_idle.val() {
                    self.state.d.next = CompleteState::Fatal;
                }
            }
            CompleteState::Data => {
                self.entry_complete.next = self.closing_kept.q.val() & self.signaled.val();
                self.entry_valid.next = self.place_jobs.val().any() | (self.closing_kept.q.val() & self.signaled.val());
                if self.entry_ready.val() | !(self.place_jobs.val().any() | (self.closing_kept.q.val() & self.signaled.val())) {
                    // An entry that may follow has no jobs.
                    self.place_clear.next = true;
                    self.reach.next = true;
                    self.next_wqe.next = self.closing_kept.q.val();
                    self.aligned_kept.d.next = self.closing_kept.q.val();
                    self.progress.next = true;
                    self.save.next = true;
                }
            }
            CompleteState::Retries => {
                self.reading.d.next = true;
                self.item_kept.d.next = 3.into();
                self.state.d.next = CompleteState::RetriesWait;
            }
            CompleteState::RetriesWait => {
                self.state.d.next = CompleteState::RetriesLook;
            }
            CompleteState::RetriesLook => {
                // R44: an RNR limit of 7 is none.
                self.spent.d.next = (self.used.val() == self.limit.val())
                    & ((self.is_rnr.q.val() & (self.limit.val() != 7)) | (!self.is_rnr.q.val() & self.by_timer.val()));
                self.endless.d.next = self.limit.val() == 7;
                // A sequence NAK, as nothing else has no cause.
                self.selective.d.next = self.word.val().get_bit(16) & self.is_response.val() & !self.caused.q.val();
                self.state.d.next = CompleteState::Retry;
            }
            CompleteState::Retry => {
                self.rewinding.d.next = true;
                self.save.next = true;
                if self.is_rnr.q.val() {
                    self.waiting.d.next = true;
                    self.status_kept.d.next = self.status_rnr.val();
                    if !self.endless.q.val() {
                        self.rnr_retries.d.next = self.rnr_retries.q.val() + 1;
                    }
                } else {
                    // R48: only a timeout costs one. Soft-RoCE follows each RNR NAK with a sequence NAK (R46), which may come after the wait.
                    self.status_kept.d.next = self.status_retry.val();
                    if self.by_timer.val() {
                        self.retries.d.next = self.retries.q.val() + 1;
                    }
                }
                if self.spent.q.val() {
                    self.rewinding.d.next = false;
                    self.save.next = false;
                    self.state.d.next = CompleteState::Fatal;
                }
                if self.selective.q.val() {
                    self.rewinding.d.next = false;
                    self.save.next = false;
                    self.state.d.next = CompleteState::Named;
                }
            }
            CompleteState::Named => {
                // R42.
                // The word has stood for a cycle, so it has been compared.
                self.same.d.next = self.word.val().get_bit(24) & self.word_is_oldest.q.val();
                self.behind.d.next = self.word.val().get_bit(24) & self.word_is_before.q.val();
                self.state.d.next = CompleteState::Repeat;
            }
            CompleteState::Repeat => {
                self.rewinding.d.next = !self.same.q.val();
                self.alone.d.next = !self.same.q.val() & !self.behind.q.val();
                self.save.next = true;
            }
            CompleteState::Fatal => {
                self.entry_valid.next = true;
                self.entry_event.next = true;
                self.entry_status.next = self.status_kept.q.val();
                if self.entry_ready.val() {
                    self.next_wqe.next = true;
                    self.dead.d.next = true;
                    self.failed.d.next = true;
                    self.operation.d.next = TimerOperation::Now;
                    self.state.d.next = CompleteState::Save;
                }
            }
            CompleteState::Start => {
                self.state.d.next = CompleteState::StartWait;
            }
            CompleteState::StartWait => {
                self.writing.d.next = true;
                self.write_kept.d.next = 3.into();
                self.clearing.d.next = true;
                self.state.d.next = CompleteState::Started;
            }
            CompleteState::Started => {
                // R41: the PSN of this modify, every time.
                self.load_oldest.next = true;
                self.wqe_kept.d.next = 0.into();
                self.retries.d.next = 0.into();
                self.rnr_retries.d.next = 0.into();
                self.qp_state.d.next = self.flush_state.val();
                self.dead.d.next = false;
                self.implied.d.next = false;
                self.waiting.d.next = false;
                self.told.d.next = false;
                self.operation.d.next = TimerOperation::Off;
                self.writing.d.next = true;
                self.write_kept.d.next = 2.into();
                self.clearing.d.next = true;
                self.state.d.next = CompleteState::Save;
            }
            CompleteState::Posted => {
                self.look_read.next = true;
                self.look_item.next = 1.into();
                self.state.d.next = CompleteState::PostedWait;
            }
            CompleteState::PostedWait => {
                self.state.d.next = CompleteState::PostedLook;
            }
            CompleteState::PostedLook => {
                self.posted_all.d.next = self.looked.q.val().get_bits::<16>(16) == self.wqe_kept.q.val();
                self.state.d.next = CompleteState::Flush;
            }
            CompleteState::Flush => {
                // R65: every posted WQE.
                self.entry_valid.next = !self.posted_all.q.val();
                self.entry_status.next = self.status_flush.val();
                if self.posted_all.q.val() {
                    self.state.d.next = CompleteState::Save;
                } else {
                    if self.entry_ready.val() {
                        self.next_wqe.next = true;
                        self.state.d.next = CompleteState::Posted;
                    }
                }
            }
            CompleteState::Begun => {
                self.look_read.next = true;
                self.look_item.next = 3.into();
                self.state.d.next = CompleteState::BegunWait;
            }
            CompleteState::BegunWait => {
                self.state.d.next = CompleteState::BegunLook;
            }
            CompleteState::BegunLook => {
                self.begun_all.d.next = self.looked.q.val().get_bits::<16>(0) == self.wqe_kept.q.val();
                self.state.d.next = CompleteState::Drained;
            }
            CompleteState::Drained => {
                self.entry_valid.next = self.begun_all.q.val() & !self.told.q.val();
                self.entry_complete.next = false;
                self.entry_event.next = true;
                self.drained.next = true;
                if self.entry_ready.val() | !self.begun_all.q.val() | self.told.q.val() {
                    self.told.d.next = self.begun_all.q.val() | self.told.q.val();
                    self.state.d.next = CompleteState::Save;
                }
            }
            CompleteState::Save => {
                self.writing.d.next = true;
                self.look_read.next = true;
                self.look_item.next = 2.into();
                self.limiting.d.next = true;
                self.state.d.next = CompleteState::SaveIndex;
            }
            CompleteState::SaveIndex => {
                self.writing.d.next = true;
                self.write_kept.d.next = 1.into();
                self.limiting.d.next = true;
                self.look_read.next = true;
                self.pair.next = Pair::OldestLimit;
                self.state.d.next = CompleteState::Outstanding;
            }
            CompleteState::Outstanding => {
                self.pair.next = Pair::OldestLimit;
                self.state.d.next = CompleteState::Behind;
            }
            CompleteState::Behind => {
                self.outstanding.d.next = self.negative.val();
                self.state.d.next = CompleteState::Timer;
            }
            CompleteState::Timer => {
                self.timer_valid.next = self.timing.q.val();
                self.timer_operation.next = self.operation.q.val();
                if self.operation.q.val() == TimerOperation::Nothing {
                    self.timer_operation.next = TimerOperation::Off;
                    if self.outstanding.q.val() {
                        self.timer_operation.next = TimerOperation::Ack;
                    }
                }
                if self.timer_ready.val() | !self.timing.q.val() {
                    // Send was resending what has arrived meanwhile: on to the oldest. What is sent alone Send sees to itself.
                    self.go_back.next = self.rewinding.q.val() | (self.overtaken.q.val() & !self.negative.val() & !self.equal.val());
                    self.rewinding.d.next = self.go_back.val();
                    self.leave.next = true;
                }
            }
            CompleteState::Count => {
                self.count_valid.next = true;
                if self.count_ready.val() {
                    self.cause.d.next = 0.into();
                    self.leave.next = true;
                }
            }
            CompleteState::Refer => {
                self.pair.next = Pair::OldestFirst;
                self.writing.d.next = true;
                self.write_kept.d.next = 3.into();
                self.state.d.next = CompleteState::Referred;
            }
            CompleteState::Referred => {
                self.state.d.next = CompleteState::Offset;
            }
            CompleteState::Offset => {
                self.load_offset.next = true;
                self.state.d.next = CompleteState::Rewind;
            }
            CompleteState::Rewind => {
                self.rewind_valid.next = true;
                if self.rewind_ready.val() {
                    self.state.d.next = CompleteState::CountRewind;
                }
            }
            CompleteState::CountRewind => {
                self.count_valid.next = true;
                self.count_code.next = self.count_rewind.val();
                if self.alone.q.val() {
                    self.count_code.next = self.count_alone.val();
                }
                self.go_back.next = false;
                if self.count_ready.val() {
                    self.cause.d.next = 0.into();
                    self.leave.next = true;
                }
            }
            CompleteState::Wake => {
                self.wake_valid.next = true;
                if self.wake_ready.val() {
                    self.finish_kept.d.next = true;
                    self.state.d.next = CompleteState::Idle;
                }
            }
            CompleteState::Finish => {
                self.finish_kept.d.next = true;
                self.state.d.next = CompleteState::Idle;
            }
            _ => {
                self.state.d.next = CompleteState::Idle;
            }
        }

        self.progressed.d.next = self.progress.val();
        if self.progressed.q.val() {
            self.moved.d.next = true;
            self.waking.d.next = true;
            // R44: both counts begin anew.
            self.implied.d.next = false;
            self.waiting.d.next = false;
            self.retries.d.next = 0.into();
            self.rnr_retries.d.next = 0.into();
        }
        if self.next_wqe.val() {
            self.wqe_kept.d.next = self.wqe_kept.q.val() + 1;
        }
        if self.save.val() {
            self.state.d.next = CompleteState::Save;
            if self.draining.q.val() {
                self.state.d.next = CompleteState::Begun;
            }
        }
        if self.leave.val() {
            self.state.d.next = CompleteState::Finish;
            // With a hold, the wake comes when it is over.
            if self.waking.q.val() & !self.is_rnr.q.val() {
                self.state.d.next = CompleteState::Wake;
            }
            if self.go_back.val() {
                self.state.d.next = CompleteState::Refer;
            }
            if (self.state.q.val() == CompleteState::Timer) & self.caused.q.val() {
                self.state.d.next = CompleteState::Count;
            }
        }
        if self.report.q.val() & self.report_ready.val() {
            self.report.d.next = false;
        }

        self.work.next = self.work_kept.q.val();
        self.ghost.next = self.ghost_kept.q.val();
        self.placed.next = self.placed_kept.q.val();
        self.index.next = self.index_kept.q.val();
        self.wqe.next = self.wqe_kept.q.val();
        self.aligned.next = self.aligned_kept.q.val();
        self.opening.next = self.opening_kept.q.val();
        self.closing.next = self.closing_kept.q.val();
        self.place_hit.next = self.hit.q.val();
        self.named.next = self.named_kept.q.val();
        self.rewind_hold.next = self.is_rnr.q.val();
        self.rewind_alone.next = self.alone.q.val();
        self.report_valid.next = self.report.q.val();
        self.report_index.next = self.report_kept.q.val();

        if self.reset.val() {
            self.state.d.next = CompleteState::Idle;
            self.finish_kept.d.next = false;
            self.turn.d.next = false;
            self.report.d.next = false;
            self.reading.d.next = false;
            self.progressed.d.next = false;
            self.quiet.d.next = false;
            self.writing.d.next = false;
            self.limiting.d.next = false;
        }
    }

    crate::block_name!();
}
