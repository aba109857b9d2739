// SPDX-License-Identifier: MIT OR Apache-2.0
//! The life of one packet: the responder's main state machine.
//!
//! ```text
//!        ┌──────────── demux: row words ────────────┐
//! Idle ─► State ─┬─► Own ─ [SoFar ─ Low ─ High] ─ Length ─► Judge ─┬──────────────────────────────► KeyWait ─► Place ─► [Consume] [Tell] [store] ─► Idle
//!                └────────────────────────────────────────► Judge ─┼─► [Queue] ─► Low … Length ─ Key ──┘  │   ▲
//!                                                                  ├─► [Response] ─► Settle ──────────────┼───┘
//!                                                                  ├─► [Ask … Request] ─► Settle ─────────┤
//!                                                                  ├─► [Hold] ─► Settle ──────────────────┤
//!                                                                  └─► Settle ────────────────────────────┘ (refusals)
//! ```
//!
//! A key check has no side effects, so where no receive WQE is needed first it starts before the packet is judged ("early"), with the key alone: what
//! `Keys` needs later comes while it reads the region's row. What the receive queue is asked for waits for the judgement. The address, length and key
//! of a message that goes on are stored after its first packet has left (Low to Key once more).
//!
//! A verdict needs two cycles to become an answer (`ripe`); what leaves is pushed not before.
//!
//! Order of refusal: demux, PSN, R57, R49, R53, R50 (DMALen too large), R46 (no WQE), R50 and R56 (sum), R54 (no WQE), R52.
//!
//! UD (R70) goes through twice: 40 bytes of GRH, whose key check covers the payload too, then the payload.

use super::{verdict::Verdict, write_back::WriteSelect};
use rust_hdl::prelude::*;
use verbena_spec::layout::qp;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SequencerState {
    Idle,
    State,
    Own,
    SoFar,
    Low,
    High,
    Length,
    Again,
    Key,
    Judge,
    Queue,
    Resume,
    Response,
    Hold,
    Ask,
    AskWait,
    AskLate,
    Request,
    KeyWait,
    Grh,
    Placed,
    Invalidate,
    Settle,
    Place,
    Consume,
    Tell,
}

#[derive(LogicBlock)]
pub struct Sequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A head is there and may start.
    pub go: Signal<In, Bit>,
    pub idle: Signal<Out, Bit>,
    /// Housekeeping has the RAMs.
    pub at_home: Signal<In, Bit>,
    pub head_next: Signal<Out, Bit>,
    // What the opcode says.
    pub rc: Signal<In, Bit>,
    pub datagram: Signal<In, Bit>,
    pub send: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub finish: Signal<In, Bit>,
    pub immediate: Signal<In, Bit>,
    pub invalidate: Signal<In, Bit>,
    pub response: Signal<In, Bit>,
    // Judgement.
    pub demux_done: Signal<In, Bit>,
    pub demux_fail: Signal<In, Bit>,
    pub execute: Signal<In, Bit>,
    pub hands: Signal<In, Bit>,
    pub judgement: Signal<In, Verdict>,
    /// Housekeeping's, while there is no packet.
    pub home_verdict: Signal<In, Verdict>,
    /// The QP's state lets it have answers to requests of its own.
    pub requesting: Signal<In, Bit>,
    pub window_load: Signal<Out, Bit>,
    pub window_adopt: Signal<Out, Bit>,
    // RAM ports.
    pub state_read: Signal<Out, Bit>,
    pub state_item: Signal<Out, Bits<3>>,
    pub row_read: Signal<Out, Bit>,
    pub row_item: Signal<Out, Bits<5>>,
    pub select: Signal<Out, WriteSelect>,
    // Message.
    pub source: Signal<Out, Bits<2>>,
    pub item: Signal<Out, Bits<2>>,
    pub clear: Signal<Out, Bit>,
    pub load_grh: Signal<Out, Bit>,
    pub take_key: Signal<Out, Bit>,
    pub load_base: Signal<Out, Bit>,
    pub load_low: Signal<Out, Bit>,
    pub load_high: Signal<Out, Bit>,
    pub compare: Signal<Out, Bit>,
    pub compare_again: Signal<Out, Bit>,
    pub long: Signal<In, Bit>,
    pub enough: Signal<In, Bit>,
    /// The WQE's next word comes to the front.
    pub fetch_next: Signal<Out, Bit>,
    // Receive queue.
    pub queue_start: Signal<Out, Bit>,
    pub queue_fetch: Signal<Out, Bit>,
    pub queue_done: Signal<In, Bit>,
    pub queue_empty: Signal<In, Bit>,
    pub queue_error: Signal<In, Bit>,
    // Keys.
    /// In the cycle after the key was taken.
    pub key_start: Signal<Out, Bit>,
    pub key_op: Signal<Out, Bit>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    // Leaving.
    // The requester.
    pub response_valid: Signal<Out, Bit>,
    pub response_done: Signal<In, Bit>,
    pub response_placed: Signal<In, Bit>,
    /// The READ responder: the head is a READ or ATOMIC request, held until done.
    pub request_valid: Signal<Out, Bit>,
    pub request_done: Signal<In, Bit>,
    pub request_verdict: Signal<In, Bits<3>>,
    pub again: Signal<In, Bit>,
    /// The request is being handed over: MSN, one on, is made ready and kept.
    pub asking: Signal<Out, Bit>,
    /// It is accepted: ePSN moves.
    pub jump: Signal<Out, Bit>,
    /// The reorder station: the QP has early requests held. The head is only there to answer a gap.
    pub holds: Signal<In, Bit>,
    pub probe: Signal<In, Bit>,
    /// The head is such a request, held until done.
    pub hold_valid: Signal<Out, Bit>,
    pub hold_done: Signal<In, Bit>,
    pub hold_nak: Signal<In, Bit>,
    /// READs and ATOMICs stand behind the SEND or WRITE last executed.
    pub read_behind: Signal<In, Bit>,
    /// A duplicate's answer has the PSN in word 3.
    pub repeats: Signal<In, Bit>,
    /// This QP has gone to ERR.
    pub state_valid: Signal<Out, Bit>,
    pub state_ready: Signal<In, Bit>,
    pub verdict: Signal<Out, Verdict>,
    /// MSN := word 1 of the receive state, plus one where a message ends.
    pub msn_load: Signal<Out, Bit>,
    /// The ring's consumer index moves.
    pub consume: Signal<Out, Bit>,
    /// Comes before it.
    pub place: Signal<Out, Bit>,
    pub changes: Signal<In, Bit>,
    pub executed: Signal<In, Bit>,
    pub served: Signal<In, Bit>,
    pub complete: Signal<In, Bit>,
    pub fatal: Signal<In, Bit>,
    /// The packet has an effect, or a job whose end must be taken.
    pub effect: Signal<In, Bit>,
    pub push_job: Signal<Out, Bit>,
    pub push_entry: Signal<Out, Bit>,
    pub push_event: Signal<Out, Bit>,
    pub leave_idle: Signal<In, Bit>,
    /// The job on offer is the GRH's.
    pub grh: Signal<Out, Bit>,
    /// The GRH's job has left: this is the second pass.
    pub second: Signal<Out, Bit>,
    /// The payload's job has left before the entry.
    pub placed: Signal<Out, Bit>,
    pub flush_request: Signal<Out, Bit>,
    state: DFF<SequencerState>,
    verdict_kept: DFF<Verdict>,
    start_kept: DFF<Bit>,
    key_busy: DFF<Bit>,
    key_good: DFF<Bit>,
    ripening: DFF<Bit>,
    ripe: DFF<Bit>,
    storing: DFF<Bit>,
    source_kept: DFF<Bits<2>>,
    item_kept: DFF<Bits<2>>,
    freed: DFF<Bit>,
    second_kept: DFF<Bit>,
    placed_kept: DFF<Bit>,
    settled: Signal<Local, Bit>,
    passed: Signal<Local, Bit>,
    request: Signal<Local, Bit>,
    queued: Signal<Local, Bit>,
    early: Signal<Local, Bit>,
    judged: Signal<Local, Bit>,
    ready: Signal<Local, Bit>,
    goes_on: Signal<Local, Bit>,
    misfit: Signal<Local, Bit>,
    lacking: Signal<Local, Bit>,
    finished: Signal<Local, Bit>,
    source_state: Constant<Bits<2>>,
    source_head: Constant<Bits<2>>,
    source_queue: Constant<Bits<2>>,
    item_low: Constant<Bits<2>>,
    item_high: Constant<Bits<2>>,
    item_length: Constant<Bits<2>>,
    item_key: Constant<Bits<2>>,
    word_state: Constant<Bits<3>>,
    word_msn: Constant<Bits<3>>,
    word_ring: Constant<Bits<3>>,
    word_so_far: Constant<Bits<3>>,
    word_low: Constant<Bits<3>>,
    word_high: Constant<Bits<3>>,
    word_length: Constant<Bits<3>>,
    word_key: Constant<Bits<3>>,
    row_cq: Constant<Bits<5>>,
    row_reorder: Constant<Bits<5>>,
    serial: Constant<Bit>,
    has_requester: Constant<Bit>,
    has_reads: Constant<Bit>,
    has_reorder: Constant<Bit>,
    accepted: Constant<Bits<3>>,
    dropped: Constant<Bits<3>>,
    invalid: Constant<Bits<3>>,
}

impl Sequencer {
    /// `serial`: `Message` compares in two cycles. `requester`: responses and state changes have a taker. `reads`: READ and ATOMIC requests, too.
    pub fn new(serial: bool, requester: bool, reads: bool, reorder: bool) -> Self {
        let item = |n: u64| Constant::new(n.to_bits());
        let word = |n: u64| Constant::new(n.to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            go: Default::default(),
            idle: Default::default(),
            at_home: Default::default(),
            head_next: Default::default(),
            rc: Default::default(),
            datagram: Default::default(),
            send: Default::default(),
            write: Default::default(),
            start: Default::default(),
            finish: Default::default(),
            immediate: Default::default(),
            invalidate: Default::default(),
            response: Default::default(),
            demux_done: Default::default(),
            demux_fail: Default::default(),
            execute: Default::default(),
            hands: Default::default(),
            judgement: Default::default(),
            home_verdict: Default::default(),
            requesting: Default::default(),
            window_load: Default::default(),
            window_adopt: Default::default(),
            state_read: Default::default(),
            state_item: Default::default(),
            row_read: Default::default(),
            row_item: Default::default(),
            select: Default::default(),
            source: Default::default(),
            item: Default::default(),
            clear: Default::default(),
            load_grh: Default::default(),
            take_key: Default::default(),
            load_base: Default::default(),
            load_low: Default::default(),
            load_high: Default::default(),
            compare: Default::default(),
            compare_again: Default::default(),
            long: Default::default(),
            enough: Default::default(),
            fetch_next: Default::default(),
            queue_start: Default::default(),
            queue_fetch: Default::default(),
            queue_done: Default::default(),
            queue_empty: Default::default(),
            queue_error: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            response_valid: Default::default(),
            response_done: Default::default(),
            response_placed: Default::default(),
            request_valid: Default::default(),
            request_done: Default::default(),
            request_verdict: Default::default(),
            again: Default::default(),
            asking: Default::default(),
            jump: Default::default(),
            holds: Default::default(),
            probe: Default::default(),
            hold_valid: Default::default(),
            hold_done: Default::default(),
            hold_nak: Default::default(),
            read_behind: Default::default(),
            repeats: Default::default(),
            state_valid: Default::default(),
            state_ready: Default::default(),
            verdict: Default::default(),
            msn_load: Default::default(),
            consume: Default::default(),
            place: Default::default(),
            changes: Default::default(),
            executed: Default::default(),
            served: Default::default(),
            complete: Default::default(),
            fatal: Default::default(),
            effect: Default::default(),
            push_job: Default::default(),
            push_entry: Default::default(),
            push_event: Default::default(),
            leave_idle: Default::default(),
            grh: Default::default(),
            second: Default::default(),
            placed: Default::default(),
            flush_request: Default::default(),
            state: Default::default(),
            verdict_kept: Default::default(),
            start_kept: Default::default(),
            key_busy: Default::default(),
            key_good: Default::default(),
            ripening: Default::default(),
            ripe: Default::default(),
            storing: Default::default(),
            source_kept: Default::default(),
            item_kept: Default::default(),
            freed: Default::default(),
            second_kept: Default::default(),
            placed_kept: Default::default(),
            settled: Default::default(),
            passed: Default::default(),
            request: Default::default(),
            queued: Default::default(),
            early: Default::default(),
            judged: Default::default(),
            ready: Default::default(),
            goes_on: Default::default(),
            misfit: Default::default(),
            lacking: Default::default(),
            finished: Default::default(),
            source_state: item(0),
            source_head: item(1),
            source_queue: item(2),
            item_low: item(0),
            item_high: item(1),
            item_length: item(2),
            item_key: item(3),
            word_state: word(0),
            word_msn: word(1),
            word_ring: word(2),
            word_so_far: word(3),
            word_low: word(4),
            word_high: word(5),
            word_length: word(6),
            word_key: word(7),
            row_reorder: Constant::new((qp::NAK_DISTANCE.word as u64).to_bits()),
            row_cq: Constant::new((qp::RECV_CQ.word as u64).to_bits()),
            serial: Constant::new(serial),
            has_requester: Constant::new(requester),
            has_reads: Constant::new(reads),
            has_reorder: Constant::new(reorder),
            accepted: Constant::new(0u64.to_bits()),
            dropped: Constant::new(2u64.to_bits()),
            invalid: Constant::new(3u64.to_bits()),
        }
    }
}

impl Logic for Sequencer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            verdict_kept,
            start_kept,
            key_busy,
            key_good,
            second_kept,
            placed_kept
        );
        dff_setup!(self, clock, ripening, ripe, storing, freed, source_kept, item_kept);

        // What the packet needs.
        self.request.next = self.send.val() | self.write.val();
        self.queued.next = (self.send.val() & self.start.val()) | (self.write.val() & self.immediate.val());
        self.early.next = self.request.val() & !self.queued.val();
        self.goes_on.next = self.executed.val() & self.start.val() & !self.finish.val();

        // The key check.
        self.key_start.next = self.start_kept.q.val();
        self.start_kept.d.next = false;
        self.key_op.next = false;
        self.settled.next = !self.key_busy.q.val();
        self.passed.next = self.key_good.q.val();
        if self.key_done.val() {
            self.key_busy.d.next = false;
            self.key_good.d.next = self.key_ok.val();
        }
        // R50: a WRITE's bytes are all there at its last packet, and not before.
        self.misfit.next = self.long.val() | (self.write.val() & (self.finish.val() != self.enough.val()));
        self.lacking.next = self.write.val() & self.immediate.val() & self.queue_empty.val();

        self.idle.next = false;
        self.head_next.next = false;
        self.window_load.next = false;
        self.window_adopt.next = false;
        self.state_read.next = true;
        self.state_item.next = self.word_state.val();
        self.row_read.next = false;
        self.row_item.next = self.row_cq.val();
        self.select.next = WriteSelect::Nothing;
        // Source and item of the message's word: chosen a cycle ahead.
        self.source.next = self.source_kept.q.val();
        self.item.next = self.item_kept.q.val();
        self.source_kept.d.next = self.source_state.val();
        if self.start.val() {
            self.source_kept.d.next = self.source_head.val();
            if self.send.val() {
                self.source_kept.d.next = self.source_queue.val();
            }
        }
        self.item_kept.d.next = self.item_low.val();
        self.clear.next = false;
        self.load_grh.next = false;
        self.take_key.next = false;
        self.load_base.next = false;
        self.load_low.next = false;
        self.load_high.next = false;
        self.compare.next = false;
        self.compare_again.next = false;
        self.fetch_next.next = false;
        self.queue_start.next = false;
        self.queue_fetch.next = self.send.val() & self.start.val();
        self.response_valid.next = false;
        self.request_valid.next = false;
        self.hold_valid.next = false;
        self.asking.next = false;
        self.jump.next = false;
        self.state_valid.next = false;
        self.push_job.next = false;
        self.push_entry.next = false;
        self.push_event.next = false;
        self.grh.next = false;
        self.verdict.next = self.verdict_kept.q.val();
        self.judged.next = false;
        self.msn_load.next = false;
        self.consume.next = false;
        self.place.next = false;
        self.finished.next = false;
        self.ready.next = self.settled.val() & self.ripe.q.val();

        match self.state.q.val() {
            SequencerState::Idle => {
                self.idle.next = true;
                // The opcode isn't decoded yet; what is loaded here counts for the first packet of a WRITE alone.
                self.source_kept.d.next = self.source_head.val();
                if self.go.val() {
                    self.item_kept.d.next = self.item_high.val();
                }
                self.load_low.next = true;
                self.state_read.next = !self.at_home.val();
                self.clear.next = true;
                self.verdict_kept.d.next = self.home_verdict.val();
                if self.go.val() {
                    self.state.d.next = SequencerState::State;
                }
            }
            SequencerState::State => {
                self.window_load.next = true;
                self.item_kept.d.next = self.item_length.val();
                self.load_high.next = true;
                self.state_item.next = self.word_key.val();
                self.state.d.next = SequencerState::Judge;
                if self.early.val() {
                    self.item_kept.d.next = self.item_key.val();
                    self.state.d.next = SequencerState::Own;
                }
            }
            SequencerState::Own => {
                // The key is on the bus. A WRITE's first packet has its address already.
                self.take_key.next = true;
                self.key_busy.d.next = true;
                self.item_kept.d.next = self.item_length.val();
                self.state_item.next = self.word_so_far.val();
                self.state.d.next = SequencerState::SoFar;
                if self.start.val() {
                    self.start_kept.d.next = true;
                    self.state.d.next = SequencerState::Length;
                }
            }
            SequencerState::SoFar => {
                self.start_kept.d.next = self.early.val();
                self.load_base.next = true;
                self.state_item.next = self.word_low.val();
                self.state.d.next = SequencerState::Low;
            }
            SequencerState::Low => {
                self.fetch_next.next = true;
                self.item_kept.d.next = self.item_high.val();
                self.load_low.next = !self.storing.q.val();
                self.state_item.next = self.word_high.val();
                if self.storing.q.val() {
                    self.select.next = WriteSelect::Held;
                }
                self.state.d.next = SequencerState::High;
            }
            SequencerState::High => {
                self.fetch_next.next = true;
                self.item_kept.d.next = self.item_length.val();
                self.load_high.next = !self.storing.q.val();
                self.state_item.next = self.word_length.val();
                if self.storing.q.val() {
                    self.select.next = WriteSelect::Held;
                }
                self.state.d.next = SequencerState::Length;
            }
            SequencerState::Length => {
                self.fetch_next.next = !self.serial.val() | self.storing.q.val();
                self.item_kept.d.next = self.item_key.val();
                self.compare.next = !self.storing.q.val();
                self.state_item.next = self.word_key.val();
                self.state.d.next = SequencerState::Key;
                if self.storing.q.val() {
                    self.select.next = WriteSelect::Held;
                } else {
                    if self.early.val() {
                        self.state.d.next = SequencerState::Judge;
                    }
                    if self.serial.val() {
                        self.item_kept.d.next = self.item_length.val();
                        self.state_item.next = self.word_length.val();
                        self.state.d.next = SequencerState::Again;
                    }
                }
            }
            SequencerState::Again => {
                self.fetch_next.next = true;
                self.item_kept.d.next = self.item_key.val();
                self.compare_again.next = true;
                self.state_item.next = self.word_key.val();
                self.state.d.next = SequencerState::Key;
                if self.early.val() {
                    self.state.d.next = SequencerState::Judge;
                }
            }
            SequencerState::Key => {
                self.fetch_next.next = true;
                self.state_read.next = false;
                if self.storing.q.val() {
                    self.select.next = WriteSelect::Held;
                    self.finished.next = true;
                } else {
                    self.take_key.next = true;
                    self.start_kept.d.next = true;
                    self.key_busy.d.next = true;
                    self.state.d.next = SequencerState::KeyWait;
                }
            }
            SequencerState::Judge => {
                self.state_read.next = false;
                if self.demux_done.val() {
                    self.judged.next = true;
                    self.window_adopt.next = !self.rc.val();
                    self.verdict_kept.d.next = self.judgement.val();
                    self.state.d.next = SequencerState::Settle;
                    if self.demux_fail.val() {
                        self.verdict_kept.d.next = Verdict::Drop;
                    } else {
                        if self.execute.val() {
                            self.verdict_kept.d.next = Verdict::Done;
                            self.clear.next = !self.early.val();
                            self.queue_start.next = self.queued.val();
                            self.state.d.next = SequencerState::Queue;
                            if self.early.val() {
                                self.state.d.next = SequencerState::KeyWait;
                            }
                        }
                        if self.has_reads.val() & self.hands.val() {
                            self.state.d.next = SequencerState::Ask;
                        }
                        if self.has_requester.val() & self.rc.val() & self.response.val() & self.requesting.val() {
                            self.verdict_kept.d.next = Verdict::Response;
                            self.state.d.next = SequencerState::Response;
                        }
                        // R42.
                        if self.has_reorder.val()
                            & self.holds.val()
                            & ((self.judgement.val() == Verdict::SequenceNak) | (self.judgement.val() == Verdict::Silent))
                        {
                            self.state.d.next = SequencerState::Hold;
                        }
                    }
                    // A probe is never executed.
                    if self.has_reorder.val() & self.probe.val() {
                        self.verdict_kept.d.next = Verdict::Early;
                        self.queue_start.next = false;
                        self.state.d.next = SequencerState::Settle;
                        if !self.demux_fail.val()
                            & self.holds.val()
                            & ((self.judgement.val() == Verdict::SequenceNak) | (self.judgement.val() == Verdict::Silent))
                        {
                            self.state.d.next = SequencerState::Hold;
                        }
                    }
                }
            }
            SequencerState::Queue => {
                // What the queue reads.
                self.state_item.next = self.word_ring.val();
                self.state_read.next = false;
                if self.queue_done.val() {
                    self.state.d.next = SequencerState::Resume;
                    if self.start.val() {
                        self.state.d.next = SequencerState::Low;
                    }
                    if self.queue_error.val() {
                        self.judged.next = true;
                        self.verdict_kept.d.next = Verdict::NoReceive;
                        if !self.datagram.val() {
                            self.verdict_kept.d.next = Verdict::Unreadable;
                        }
                        self.state.d.next = SequencerState::Settle;
                    }
                    // R46. A WRITE waits until its length is known to be right.
                    if self.queue_empty.val() & self.send.val() {
                        self.judged.next = true;
                        self.verdict_kept.d.next = Verdict::NoReceive;
                        if self.rc.val() {
                            self.verdict_kept.d.next = Verdict::Rnr;
                        }
                        self.state.d.next = SequencerState::Settle;
                    }
                }
            }
            SequencerState::Resume => {
                self.state_item.next = self.word_so_far.val();
                self.state.d.next = SequencerState::SoFar;
            }
            SequencerState::Response => {
                self.state_read.next = false;
                self.response_valid.next = true;
                if self.response_done.val() {
                    // The counter's code comes with it.
                    self.judged.next = true;
                    self.freed.d.next = self.response_placed.val();
                    self.state.d.next = SequencerState::Settle;
                }
            }
            SequencerState::Hold => {
                self.state_read.next = false;
                self.row_read.next = true;
                self.row_item.next = self.row_reorder.val();
                self.hold_valid.next = true;
                if self.hold_done.val() {
                    self.judged.next = true;
                    self.verdict_kept.d.next = Verdict::Early;
                    if self.hold_nak.val() {
                        self.verdict_kept.d.next = Verdict::EarlyNak;
                    }
                    self.state.d.next = SequencerState::Settle;
                }
            }
            SequencerState::Ask => {
                // Word 3 is free: a READ or ATOMIC stands between messages. (A duplicate may stand inside one.)
                self.asking.next = true;
                self.state_item.next = self.word_msn.val();
                self.msn_load.next = true;
                if !self.read_behind.val() & !self.again.val() {
                    self.select.next = WriteSelect::Executed;
                }
                self.state.d.next = SequencerState::AskWait;
            }
            SequencerState::AskWait => {
                self.asking.next = true;
                self.state_item.next = self.word_msn.val();
                self.msn_load.next = true;
                self.state.d.next = SequencerState::AskLate;
            }
            SequencerState::AskLate => {
                self.asking.next = true;
                self.state_item.next = self.word_msn.val();
                self.msn_load.next = true;
                self.state.d.next = SequencerState::Request;
            }
            SequencerState::Request => {
                self.asking.next = true;
                self.state_item.next = self.word_msn.val();
                self.msn_load.next = true;
                self.request_valid.next = true;
                if self.request_done.val() {
                    self.judged.next = true;
                    self.state.d.next = SequencerState::Settle;
                    // R52.
                    self.verdict_kept.d.next = Verdict::Access;
                    if self.request_verdict.val() == self.invalid.val() {
                        self.verdict_kept.d.next = Verdict::Invalid;
                    }
                    if self.request_verdict.val() == self.dropped.val() {
                        // A NAK that ends the QP is on its way.
                        self.verdict_kept.d.next = Verdict::Silent;
                    }
                    if self.request_verdict.val() == self.accepted.val() {
                        self.verdict_kept.d.next = Verdict::Served;
                        self.jump.next = !self.again.val();
                    }
                    if self.again.val() {
                        // R28, R29: taken or not, a duplicate changes nothing here.
                        self.verdict_kept.d.next = Verdict::DuplicateDropped;
                    }
                }
            }
            SequencerState::KeyWait => {
                // Next may be the key to invalidate.
                self.source_kept.d.next = self.source_head.val();
                self.item_kept.d.next = self.item_high.val();
                self.state_item.next = self.word_msn.val();
                self.row_read.next = true;
                self.msn_load.next = true;
                if self.ready.val() {
                    if self.passed.val() & !self.misfit.val() & !self.lacking.val() {
                        self.push_job.next = true;
                        if self.datagram.val() & !self.second_kept.q.val() {
                            self.state.d.next = SequencerState::Grh;
                        } else {
                            if self.invalidate.val() {
                                self.state.d.next = SequencerState::Placed;
                            } else {
                                if !self.datagram.val() {
                                    self.select.next = WriteSelect::Context;
                                }
                                self.push_entry.next = self.effect.val();
                                self.push_event.next = true;
                                self.state.d.next = SequencerState::Place;
                            }
                        }
                    } else {
                        self.judged.next = true;
                        self.state.d.next = SequencerState::Settle;
                        if !self.datagram.val() {
                            if self.misfit.val() {
                                // R56; R50 for a WRITE.
                                self.verdict_kept.d.next = Verdict::Invalid;
                                if self.send.val() {
                                    self.verdict_kept.d.next = Verdict::TooLong;
                                }
                            } else {
                                // The receive buffer; R52 for a WRITE.
                                self.verdict_kept.d.next = Verdict::Access;
                                if self.send.val() {
                                    self.verdict_kept.d.next = Verdict::Protection;
                                }
                            }
                        } else {
                            self.verdict_kept.d.next = Verdict::NoReceive;
                        }
                        if self.lacking.val() & !self.misfit.val() {
                            // R54: nothing of the packet is written.
                            self.verdict_kept.d.next = Verdict::NoReceive;
                            if self.rc.val() {
                                self.verdict_kept.d.next = Verdict::Rnr;
                            }
                        }
                    }
                }
            }
            SequencerState::Grh => {
                self.grh.next = true;
                self.state_read.next = false;
                if self.leave_idle.val() {
                    self.load_grh.next = true;
                    self.second_kept.d.next = true;
                    self.state.d.next = SequencerState::Low;
                }
            }
            SequencerState::Placed => {
                // R62: once the payload's job has left, the key ends.
                self.source_kept.d.next = self.source_head.val();
                self.item_kept.d.next = self.item_high.val();
                self.take_key.next = true;
                self.state_read.next = false;
                if self.leave_idle.val() {
                    self.placed_kept.d.next = true;
                    self.start_kept.d.next = true;
                    self.key_busy.d.next = true;
                    self.state.d.next = SequencerState::Invalidate;
                }
            }
            SequencerState::Invalidate => {
                self.key_op.next = true;
                self.state_read.next = false;
                if self.settled.val() {
                    self.judged.next = true;
                    if !self.passed.val() {
                        self.verdict_kept.d.next = Verdict::Irrevocable;
                    }
                    self.state.d.next = SequencerState::Settle;
                }
            }
            SequencerState::Settle => {
                self.state_item.next = self.word_msn.val();
                self.row_read.next = true;
                self.msn_load.next = true;
                if self.ready.val() {
                    if self.changes.val() & !self.datagram.val() {
                        self.select.next = WriteSelect::Context;
                    }
                    self.push_job.next = !self.placed_kept.q.val() & !self.freed.q.val();
                    self.push_entry.next = self.effect.val();
                    self.push_event.next = true;
                    self.state.d.next = SequencerState::Place;
                }
            }
            SequencerState::Place => {
                self.place.next = true;
                self.state_read.next = false;
                // A UD QP has neither PSN nor MSN.
                if self.executed.val() & !self.datagram.val() {
                    self.select.next = WriteSelect::SoFar;
                    if self.finish.val() {
                        self.select.next = WriteSelect::Msn;
                    }
                }
                // R37: a READ or ATOMIC is a message.
                if self.served.val() {
                    self.select.next = WriteSelect::Msn;
                }
                if self.leave_idle.val() {
                    if self.complete.val() {
                        self.state.d.next = SequencerState::Consume;
                    } else {
                        if self.goes_on.val() {
                            self.storing.d.next = true;
                            self.state.d.next = SequencerState::Low;
                        } else {
                            if self.fatal.val() & self.has_requester.val() {
                                self.state.d.next = SequencerState::Tell;
                            } else {
                                self.finished.next = true;
                            }
                        }
                    }
                }
            }
            SequencerState::Consume => {
                self.state_read.next = false;
                self.consume.next = true;
                self.select.next = WriteSelect::Ring;
                if self.fatal.val() & self.has_requester.val() {
                    self.state.d.next = SequencerState::Tell;
                } else {
                    self.finished.next = true;
                }
            }
            SequencerState::Tell => {
                self.state_read.next = false;
                self.state_valid.next = true;
                self.finished.next = self.state_ready.val();
            }
            _ => {
                self.state.d.next = SequencerState::Idle;
            }
        }

        // The last read before what leaves is the ring's: its consumer index is the completion's.
        if self.ready.val() {
            if self.state.q.val() == SequencerState::KeyWait {
                self.state_item.next = self.word_ring.val();
            }
            if self.state.q.val() == SequencerState::Settle {
                self.state_item.next = self.word_ring.val();
                if self.repeats.val() {
                    self.state_item.next = self.word_so_far.val();
                }
            }
        }
        self.ripening.d.next = !self.judged.val();
        self.ripe.d.next = self.ripening.q.val() & !self.judged.val();

        self.flush_request.next = self.finished.val() & self.fatal.val();
        self.second.next = self.second_kept.q.val();
        self.placed.next = self.placed_kept.q.val();
        self.head_next.next = self.finished.val();
        if self.finished.val() | self.reset.val() {
            self.source_kept.d.next = self.source_head.val();
            self.item_kept.d.next = self.item_low.val();
            self.second_kept.d.next = false;
            self.placed_kept.d.next = false;
            self.storing.d.next = false;
            self.freed.d.next = false;
            self.state.d.next = SequencerState::Idle;
        }
        if self.reset.val() {
            self.start_kept.d.next = false;
            self.key_busy.d.next = false;
        }
    }

    crate::block_name!();
}
