// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the READ responder does, step by step. One thing at a time, so each RAM has one reader and one writer.
//!
//! ```text
//! Idle ─► row words ─► Choose ─┬─ turn ────► words ─► key ─┬─────────────────────► Packet ─► Sent ─► Save ─► Idle
//!                              │                           └─► operands, atomic ─────┘        └─► Settle ─► Packet (the ACK that waited)
//!                              ├─ request ─► Copy ─► words ─► key ─► Save (verdict)
//!                              ├─ duplicate ► search ─► check ─► words ─► key ─► Copy (cursor, MSN) ─► Save (verdict)
//!                              ├─ serve, state ─► Save
//!                              ├─ ACK ─────► HoldPsn, HoldAeth ─► Save; or Forward
//!                              └─ trouble ─► Packet (NAK) ─► Save
//! ```
//!
//! A word asked for in one step is used three steps later: `word_use` goes along with it.

use super::kind::{item, ReadKind, WordUse};
use super::packet::PacketMode;
use rust_hdl::prelude::*;

/// Places in the head multiplexer behind the resource's nine words.
pub const HEAD_ACK_PSN: u64 = 14;
pub const HEAD_ACK_AETH: u64 = 15;

/// Where a word that is written comes from.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WriteFrom {
    Sum,
    Ring,
    ResultLow,
    ResultHigh,
    /// Of a failed packet, with the NAK's syndrome.
    Failed,
    /// The packet's.
    Packet,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum ReadStep {
    Idle,
    FindTrouble,
    FindWait,
    FindWord,
    FindIndex,
    RowRing,
    RowLimits,
    RowService,
    RowDomain,
    RowWait,
    Choose,
    /// The ring is cleared in this step.
    Cleared,
    TroubleAsk,
    TroubleWait,
    TroubleWord,
    TroublePsn,
    TroubleAeth,
    Copy,
    Low,
    High,
    Length,
    Head,
    Key,
    Flags,
    Wait,
    Size,
    KeyStart,
    KeyWait,
    Skip,
    Judged,
    Operand0,
    Operand1,
    Operand2,
    Operand3,
    OperandWait,
    AtomicStart,
    AtomicWait,
    ResultHigh,
    Packet,
    Sent,
    Settling,
    Settle,
    Save,
    Forward,
    HoldPsn,
    HoldAeth,
    HoldWait,
    HoldWord,
    HoldPsnWrite,
    HoldAethWrite,
    SearchBegin,
    SearchStep,
    SearchPlace,
    SearchAsk,
    SearchWait,
    SearchWord,
    SearchSum,
    SearchJudge,
    SearchFound,
    CheckDistance,
    CheckOffset,
    CheckBegin,
    CheckDistanceAgain,
    CheckHigh,
    CheckSave,
    CheckEnd,
    CheckRoom,
    CheckKey,
    CheckWait,
    CheckWord,
    CheckSum,
    CheckJudge,
    CheckDecide,
}

#[derive(LogicBlock)]
pub struct ReadSequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A QP leaves its live states and isn't being flushed yet; or it is, and no payload is being read any more.
    pub go_state: Signal<In, Bit>,
    pub go_trouble: Signal<In, Bit>,
    pub go_serve: Signal<In, Bit>,
    pub go_ack: Signal<In, Bit>,
    pub go_request: Signal<In, Bit>,
    pub go_turn: Signal<In, Bit>,
    pub duplicate: Signal<In, Bit>,
    pub head_atomic: Signal<In, Bit>,
    pub head_compare: Signal<In, Bit>,
    pub flushing: Signal<In, Bit>,
    /// From the ring.
    pub full: Signal<In, Bit>,
    pub busy: Signal<In, Bit>,
    pub held: Signal<In, Bit>,
    pub shut: Signal<In, Bit>,
    pub owing: Signal<In, Bit>,
    pub replay: Signal<In, Bit>,
    pub active: Signal<In, Bit>,
    pub exhausted: Signal<In, Bit>,
    pub pending: Signal<In, Bit>,
    pub prolongs: Signal<In, Bit>,
    /// The resource under search, from its first word.
    pub found_atomic: Signal<In, Bit>,
    pub found_executed: Signal<In, Bit>,
    pub found_compare: Signal<In, Bit>,
    /// Bit 23 of the distance: the request begins behind the duplicate's PSN.
    pub later: Signal<In, Bit>,
    pub same_psn: Signal<In, Bit>,
    /// From the arithmetic.
    pub zero: Signal<In, Bit>,
    pub mismatch: Signal<In, Bit>,
    pub atomic: Signal<In, Bit>,
    pub executed: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    pub huge: Signal<In, Bit>,
    pub misaligned: Signal<In, Bit>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub atomic_done: Signal<In, Bit>,
    pub atomic_error: Signal<In, Bit>,
    pub ack_gone: Signal<In, Bit>,
    pub ack_fatal: Signal<In, Bit>,
    pub packet_done: Signal<In, Bit>,
    /// The packet asks for its PSN.
    pub packet_next: Signal<In, Bit>,
    pub idle: Signal<Out, Bit>,
    pub kind: Signal<Out, ReadKind>,
    pub mode: Signal<Out, PacketMode>,
    pub access: Signal<Out, Bit>,
    /// Takes the index of what goes; or of the failed packet.
    pub load_index: Signal<Out, Bit>,
    pub load_flight_index: Signal<Out, Bit>,
    /// Of the failed packet's two words, the second.
    pub flight_second: Signal<Out, Bit>,
    /// Store.
    pub ask_item: Signal<Out, Bits<4>>,
    pub ask_pool: Signal<Out, Bit>,
    pub ask_flight: Signal<Out, Bit>,
    pub word_use: Signal<Out, WordUse>,
    pub next_use: Signal<Out, WordUse>,
    /// The machine doesn't write in this cycle.
    pub open: Signal<Out, Bit>,
    pub write: Signal<Out, Bit>,
    pub write_pool: Signal<Out, Bit>,
    pub write_item: Signal<Out, Bits<4>>,
    pub write_from: Signal<Out, WriteFrom>,
    pub head_item: Signal<Out, Bits<4>>,
    /// The packet has the store.
    pub in_packet: Signal<Out, Bit>,
    /// Ring.
    pub accept: Signal<Out, Bit>,
    pub discard: Signal<Out, Bit>,
    pub finish: Signal<Out, Bit>,
    pub advance: Signal<Out, Bit>,
    pub released: Signal<Out, Bit>,
    pub back: Signal<Out, Bit>,
    pub back_active: Signal<Out, Bit>,
    pub hold: Signal<Out, Bit>,
    pub drop_held: Signal<Out, Bit>,
    pub clear: Signal<Out, Bit>,
    pub shut_now: Signal<Out, Bit>,
    pub owe: Signal<Out, Bit>,
    pub search_start: Signal<Out, Bit>,
    pub search_step: Signal<Out, Bit>,
    pub searching: Signal<Out, Bit>,
    pub turn: Signal<Out, Bit>,
    /// A turn begins: it leaves the turn queue.
    pub turn_taken: Signal<Out, Bit>,
    /// Arithmetic.
    pub size: Signal<Out, Bit>,
    pub take: Signal<Out, Bit>,
    pub check: Signal<Out, Bit>,
    pub key_start: Signal<Out, Bit>,
    pub atomic_load: Signal<Out, Bit>,
    pub atomic_start: Signal<Out, Bit>,
    /// Gate.
    pub forward: Signal<Out, Bit>,
    pub ack_taken: Signal<Out, Bit>,
    /// The ring goes back; what went is done.
    pub save: Signal<Out, Bit>,
    pub verdict: Signal<Out, Bits<3>>,
    pub raise: Signal<Out, Bit>,
    pub trouble_settled: Signal<Out, Bit>,
    step: DFF<ReadStep>,
    kind_kept: DFF<ReadKind>,
    mode_kept: DFF<PacketMode>,
    verdict_kept: DFF<Bits<3>>,
    access_kept: DFF<Bit>,
    searching_kept: DFF<Bit>,
    copy: DFF<Bits<4>>,
    /// What is written in this step, chosen in the one before.
    put: DFF<Bit>,
    put_pool: DFF<Bit>,
    put_item: DFF<Bits<4>>,
    from_kept: DFF<WriteFrom>,
    /// `Idle`, as one bit; `Choose`.
    at_idle: DFF<Bit>,
    choosing: DFF<Bit>,
    /// `Copy` of a new request begins: there may be no room for it.
    fresh: DFF<Bit>,
    full_kept: DFF<Bit>,
    /// `KeyWait` of a turn.
    awaiting: DFF<Bit>,
    /// A cycle behind: the QP was busy; the request is too long, or not aligned; a sum was zero; the resource found is of the head's kind, is what the head
    /// asks for again.
    busy_kept: DFF<Bit>,
    huge_kept: DFF<Bit>,
    misaligned_kept: DFF<Bit>,
    zero_kept: DFF<Bit>,
    found_same: DFF<Bit>,
    found_again: DFF<Bit>,
    /// What the ring does in the cycle after the step that wants it.
    clear_kept: DFF<Bit>,
    shut_kept: DFF<Bit>,
    /// The step before was `Idle`: nothing is written.
    rested: DFF<Bit>,
    /// In `AtomicWait`: the ATOMIC unit's result is written as it comes.
    result: DFF<Bit>,
    ask_late: DFF<WordUse>,
    ask_later: DFF<WordUse>,
    use_kept: DFF<WordUse>,
    ask: Signal<Local, WordUse>,
    copied: Signal<Local, Bits<4>>,
    in_turn: Signal<Local, Bit>,
    cursor_words: Signal<Local, Bit>,
    cursor_item: Signal<Local, Bits<4>>,
    copies_done: Signal<Local, Bit>,
    item_service: Constant<Bits<4>>,
    item_domain: Constant<Bits<4>>,
    item_limits: Constant<Bits<4>>,
    item_ring: Constant<Bits<4>>,
    item_held_psn: Constant<Bits<4>>,
    item_held_aeth: Constant<Bits<4>>,
    item_distance: Constant<Bits<4>>,
    item_offset: Constant<Bits<4>>,
    item_cursor: Constant<Bits<4>>,
    item_psn: Constant<Bits<4>>,
    item_low: Constant<Bits<4>>,
    item_high: Constant<Bits<4>>,
    item_key: Constant<Bits<4>>,
    item_length: Constant<Bits<4>>,
    item_msn: Constant<Bits<4>>,
    item_operand_low: Constant<Bits<4>>,
    item_compare_high: Constant<Bits<4>>,
    item_compare_low: Constant<Bits<4>>,
    copy_end_read: Constant<Bits<4>>,
    copy_end_atomic: Constant<Bits<4>>,
    head_ack_psn: Constant<Bits<4>>,
    head_ack_aeth: Constant<Bits<4>>,
    accepted: Constant<Bits<3>>,
    taken: Constant<Bits<3>>,
    dropped: Constant<Bits<3>>,
    invalid: Constant<Bits<3>>,
    refused: Constant<Bits<3>>,
    atomics: Constant<Bit>,
}

impl ReadSequencer {
    /// `atomics`: with the ATOMIC unit.
    pub fn new(atomics: bool) -> Self {
        let item = |n: u64| Constant::new(n.to_bits());
        let verdict = |n: u64| Constant::new(n.to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            go_state: Default::default(),
            go_trouble: Default::default(),
            go_serve: Default::default(),
            go_ack: Default::default(),
            go_request: Default::default(),
            go_turn: Default::default(),
            duplicate: Default::default(),
            head_atomic: Default::default(),
            head_compare: Default::default(),
            flushing: Default::default(),
            full: Default::default(),
            busy: Default::default(),
            held: Default::default(),
            shut: Default::default(),
            owing: Default::default(),
            replay: Default::default(),
            active: Default::default(),
            exhausted: Default::default(),
            pending: Default::default(),
            prolongs: Default::default(),
            found_atomic: Default::default(),
            found_executed: Default::default(),
            found_compare: Default::default(),
            later: Default::default(),
            same_psn: Default::default(),
            zero: Default::default(),
            mismatch: Default::default(),
            atomic: Default::default(),
            executed: Default::default(),
            last: Default::default(),
            huge: Default::default(),
            misaligned: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            atomic_done: Default::default(),
            atomic_error: Default::default(),
            ack_gone: Default::default(),
            ack_fatal: Default::default(),
            packet_done: Default::default(),
            packet_next: Default::default(),
            idle: Default::default(),
            kind: Default::default(),
            mode: Default::default(),
            access: Default::default(),
            load_index: Default::default(),
            load_flight_index: Default::default(),
            flight_second: Default::default(),
            ask_item: Default::default(),
            ask_pool: Default::default(),
            ask_flight: Default::default(),
            word_use: Default::default(),
            next_use: Default::default(),
            open: Default::default(),
            write: Default::default(),
            write_pool: Default::default(),
            write_item: Default::default(),
            write_from: Default::default(),
            head_item: Default::default(),
            in_packet: Default::default(),
            accept: Default::default(),
            discard: Default::default(),
            finish: Default::default(),
            advance: Default::default(),
            released: Default::default(),
            back: Default::default(),
            back_active: Default::default(),
            hold: Default::default(),
            drop_held: Default::default(),
            clear: Default::default(),
            shut_now: Default::default(),
            owe: Default::default(),
            search_start: Default::default(),
            search_step: Default::default(),
            searching: Default::default(),
            turn: Default::default(),
            turn_taken: Default::default(),
            size: Default::default(),
            take: Default::default(),
            check: Default::default(),
            key_start: Default::default(),
            atomic_load: Default::default(),
            atomic_start: Default::default(),
            forward: Default::default(),
            ack_taken: Default::default(),
            save: Default::default(),
            verdict: Default::default(),
            raise: Default::default(),
            trouble_settled: Default::default(),
            step: Default::default(),
            kind_kept: Default::default(),
            mode_kept: Default::default(),
            verdict_kept: Default::default(),
            access_kept: Default::default(),
            searching_kept: Default::default(),
            copy: Default::default(),
            put: Default::default(),
            put_pool: Default::default(),
            put_item: Default::default(),
            from_kept: Default::default(),
            rested: Default::default(),
            at_idle: Default::default(),
            choosing: Default::default(),
            fresh: Default::default(),
            full_kept: Default::default(),
            awaiting: Default::default(),
            busy_kept: Default::default(),
            huge_kept: Default::default(),
            misaligned_kept: Default::default(),
            zero_kept: Default::default(),
            found_same: Default::default(),
            found_again: Default::default(),
            clear_kept: Default::default(),
            shut_kept: Default::default(),
            result: Default::default(),
            ask_late: Default::default(),
            ask_later: Default::default(),
            use_kept: Default::default(),
            ask: Default::default(),
            copied: Default::default(),
            in_turn: Default::default(),
            cursor_words: Default::default(),
            cursor_item: Default::default(),
            copies_done: Default::default(),
            item_service: item(item::SERVICE),
            item_domain: item(item::DOMAIN),
            item_limits: item(item::LIMITS),
            item_ring: item(item::RING),
            item_held_psn: item(item::HELD_PSN),
            item_held_aeth: item(item::HELD_AETH),
            item_distance: item(item::DISTANCE),
            item_offset: item(item::OFFSET),
            item_cursor: item(item::CURSOR),
            item_psn: item(item::PSN),
            item_low: item(item::LOW),
            item_high: item(item::HIGH),
            item_key: item(item::KEY),
            item_length: item(item::LENGTH),
            item_msn: item(item::MSN),
            item_operand_low: item(item::OPERAND_LOW),
            item_compare_high: item(item::COMPARE_HIGH),
            item_compare_low: item(item::COMPARE_LOW),
            copy_end_read: item(item::MSN + 4),
            copy_end_atomic: item(item::COMPARE_LOW + 4),
            head_ack_psn: item(HEAD_ACK_PSN),
            head_ack_aeth: item(HEAD_ACK_AETH),
            accepted: verdict(0),
            taken: verdict(1),
            dropped: verdict(2),
            invalid: verdict(3),
            refused: verdict(4),
            atomics: Constant::new(atomics),
        }
    }
}

impl Logic for ReadSequencer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            kind_kept,
            mode_kept,
            verdict_kept,
            access_kept,
            searching_kept,
            copy,
            result,
            ask_late,
            ask_later,
            use_kept
        );
        dff_setup!(self, clock, put, put_pool, put_item, from_kept, rested, at_idle, choosing);
        dff_setup!(
            self,
            clock,
            busy_kept,
            huge_kept,
            misaligned_kept,
            zero_kept,
            found_same,
            found_again,
            clear_kept,
            shut_kept,
            fresh,
            full_kept,
            awaiting
        );
        self.awaiting.d.next = false;
        self.full_kept.d.next = self.full.val();
        self.fresh.d.next = false;
        self.busy_kept.d.next = self.busy.val();
        self.huge_kept.d.next = self.huge.val();
        self.misaligned_kept.d.next = self.misaligned.val();
        self.zero_kept.d.next = self.zero.val();
        self.found_same.d.next = self.found_atomic.val() == self.head_atomic.val();
        self.found_again.d.next = self.same_psn.val() & self.found_executed.val() & (self.found_compare.val() == self.head_compare.val());
        self.clear_kept.d.next = false;
        self.shut_kept.d.next = false;
        self.choosing.d.next = false;
        self.in_turn.next = self.kind_kept.q.val() == ReadKind::Turn;
        self.cursor_words.next = self.in_turn.val() & self.active.val();
        self.cursor_item.next = 0.into();
        if self.cursor_words.val() {
            self.cursor_item.next = self.item_cursor.val();
        }
        self.copies_done.next = false;
        self.copied.next = 0.into();
        self.ask.next = WordUse::Nothing;
        self.idle.next = self.at_idle.q.val();
        self.load_index.next = self.at_idle.q.val();
        self.at_idle.d.next = false;
        self.turn_taken.next = false;
        self.load_flight_index.next = false;
        self.flight_second.next = false;
        self.ask_item.next = self.item_psn.val();
        self.ask_pool.next = false;
        self.ask_flight.next = false;
        // An ATOMIC's result is written when it comes.
        self.write.next = self.put.q.val() | (self.result.q.val() & self.atomic_done.val() & !self.atomic_error.val());
        self.write_pool.next = self.put_pool.q.val();
        self.write_item.next = self.put_item.q.val();
        self.open.next = self.rested.q.val();
        self.put.d.next = false;
        self.put_pool.d.next = false;
        self.from_kept.d.next = WriteFrom::Sum;
        self.put_item.d.next = self.item_ring.val();
        self.rested.d.next = false;
        self.head_item.next = self.item_psn.val();
        self.in_packet.next = false;
        self.accept.next = false;
        self.discard.next = false;
        self.finish.next = false;
        self.advance.next = false;
        self.released.next = false;
        self.back.next = false;
        self.back_active.next = false;
        self.hold.next = false;
        self.drop_held.next = false;
        self.clear.next = self.clear_kept.q.val();
        self.shut_now.next = self.shut_kept.q.val();
        self.owe.next = false;
        self.search_start.next = false;
        self.search_step.next = false;
        self.size.next = false;
        self.take.next = self.awaiting.q.val() & self.key_done.val();
        self.check.next = false;
        self.key_start.next = false;
        self.atomic_start.next = false;
        self.forward.next = false;
        self.ack_taken.next = false;
        self.save.next = false;
        self.raise.next = false;
        self.trouble_settled.next = false;

        match self.step.q.val() {
            ReadStep::Idle => {
                self.at_idle.d.next = true;
                self.rested.d.next = true;
                self.searching_kept.d.next = false;
                self.access_kept.d.next = false;
                self.copy.d.next = 0.into();
                self.verdict_kept.d.next = self.accepted.val();
                if self.go_turn.val() {
                    self.kind_kept.d.next = ReadKind::Turn;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::RowRing;
                }
                if self.go_request.val() {
                    self.kind_kept.d.next = ReadKind::Request;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::RowRing;
                }
                if self.go_ack.val() {
                    self.kind_kept.d.next = ReadKind::Ack;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::RowRing;
                }
                if self.go_serve.val() {
                    self.kind_kept.d.next = ReadKind::Serve;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::RowRing;
                }
                if self.go_state.val() {
                    self.kind_kept.d.next = ReadKind::State;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::RowRing;
                }
                if self.go_trouble.val() {
                    self.kind_kept.d.next = ReadKind::Trouble;
                    self.at_idle.d.next = false;
                    self.step.d.next = ReadStep::FindTrouble;
                }
            }
            ReadStep::FindTrouble => {
                self.ask_flight.next = true;
                self.step.d.next = ReadStep::FindWait;
            }
            ReadStep::FindWait => {
                self.step.d.next = ReadStep::FindWord;
            }
            ReadStep::FindWord => {
                self.step.d.next = ReadStep::FindIndex;
            }
            ReadStep::FindIndex => {
                self.load_flight_index.next = true;
                self.step.d.next = ReadStep::RowRing;
            }
            ReadStep::RowRing => {
                self.turn_taken.next = self.in_turn.val();
                self.ask_item.next = self.item_ring.val();
                self.ask.next = WordUse::Ring;
                self.step.d.next = ReadStep::RowLimits;
            }
            ReadStep::RowLimits => {
                self.ask_item.next = self.item_limits.val();
                self.ask.next = WordUse::Limits;
                self.step.d.next = ReadStep::RowService;
            }
            ReadStep::RowService => {
                self.ask_item.next = self.item_service.val();
                self.ask.next = WordUse::Service;
                self.step.d.next = ReadStep::RowDomain;
            }
            ReadStep::RowDomain => {
                self.ask_item.next = self.item_domain.val();
                self.ask.next = WordUse::Domain;
                self.step.d.next = ReadStep::RowWait;
            }
            ReadStep::RowWait => {
                self.choosing.d.next = true;
                self.step.d.next = ReadStep::Choose;
            }
            // Below: one bit says it.
            ReadStep::Choose => {}
            ReadStep::Cleared => {
                self.step.d.next = ReadStep::Save;
            }
            ReadStep::TroubleAsk => {
                self.ask_flight.next = true;
                self.clear_kept.d.next = true;
                self.shut_kept.d.next = true;
                self.step.d.next = ReadStep::TroubleWait;
            }
            ReadStep::TroubleWait => {
                self.ask_flight.next = true;
                self.flight_second.next = true;
                self.step.d.next = ReadStep::TroubleWord;
            }
            ReadStep::TroubleWord => {
                self.put.d.next = true;
                self.from_kept.d.next = WriteFrom::Failed;
                self.put_item.d.next = self.item_held_psn.val();
                self.step.d.next = ReadStep::TroublePsn;
            }
            ReadStep::TroublePsn => {
                // R69. The NAK waits for the QP's turn, as an ACK would.
                self.put.d.next = true;
                self.from_kept.d.next = WriteFrom::Failed;
                self.put_item.d.next = self.item_held_aeth.val();
                self.step.d.next = ReadStep::TroubleAeth;
            }
            ReadStep::TroubleAeth => {
                self.hold.next = true;
                self.owe.next = true;
                self.trouble_settled.next = true;
                self.step.d.next = ReadStep::Save;
            }
            ReadStep::Copy => {
                // Through the adder: a word is written four cycles after it is asked for, so this is the next step's.
                self.ask.next = WordUse::Copy;
                self.copied.next = self.copy.q.val() - 3;
                self.copies_done.next = self.copy.q.val() == self.copy_end_read.val();
                if self.head_atomic.val() & self.atomics.val() & !self.duplicate.val() {
                    self.copies_done.next = self.copy.q.val() == self.copy_end_atomic.val();
                }
                self.put.d.next =
                    !self.copies_done.val() & (self.copy.q.val().get_bits::<2>(2).any() | self.copy.q.val().get_bits::<2>(0).all());
                self.put_pool.d.next = !self.duplicate.val();
                self.put_item.d.next = self.copied.val();
                if self.duplicate.val() {
                    // What is asked for to the cursor, unless another's is there; the MSN as it stands (R37) to the resource.
                    if self.copied.val() == self.item_msn.val() {
                        self.put_pool.d.next = true;
                    } else {
                        self.put_item.d.next = self.copied.val() | self.item_cursor.val();
                        if self.prolongs.val() | self.head_atomic.val() {
                            self.put.d.next = false;
                        }
                    }
                }
                self.head_item.next = self.copy.q.val();
                self.copy.d.next = self.copy.q.val() + 1;
                if self.fresh.q.val() & (self.full_kept.q.val() | (self.head_atomic.val() & !self.atomics.val())) {
                    // R59.
                    self.verdict_kept.d.next = self.invalid.val();
                    self.step.d.next = ReadStep::Save;
                }
                if self.copies_done.val() {
                    self.step.d.next = ReadStep::Low;
                    if self.duplicate.val() {
                        self.back.next = true;
                        self.back_active.next = !self.head_atomic.val();
                        self.verdict_kept.d.next = self.taken.val();
                        self.step.d.next = ReadStep::Save;
                    }
                }
            }
            ReadStep::Low => {
                self.ask_item.next = self.cursor_item.val() | self.item_low.val();
                self.ask_pool.next = !self.cursor_words.val();
                self.ask.next = WordUse::Low;
                self.step.d.next = ReadStep::High;
            }
            ReadStep::High => {
                self.ask_item.next = self.cursor_item.val() | self.item_high.val();
                self.ask_pool.next = !self.cursor_words.val();
                self.ask.next = WordUse::High;
                self.step.d.next = ReadStep::Length;
            }
            ReadStep::Length => {
                self.ask_item.next = self.cursor_item.val() | self.item_length.val();
                self.ask_pool.next = !self.cursor_words.val();
                self.ask.next = WordUse::Length;
                self.step.d.next = ReadStep::Head;
            }
            ReadStep::Head => {
                self.ask_item.next = self.cursor_item.val() | self.item_psn.val();
                self.ask_pool.next = !self.cursor_words.val();
                self.ask.next = WordUse::Head;
                self.put.d.next = self.in_turn.val();
                self.put_item.d.next = self.item_cursor.val() | self.item_low.val();
                self.step.d.next = ReadStep::Key;
            }
            ReadStep::Key => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.put.d.next = self.in_turn.val();
                self.put_item.d.next = self.item_cursor.val() | self.item_high.val();
                self.step.d.next = ReadStep::Flags;
            }
            ReadStep::Flags => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.put.d.next = self.in_turn.val();
                self.put_item.d.next = self.item_cursor.val() | self.item_length.val();
                self.step.d.next = ReadStep::Wait;
            }
            ReadStep::Wait => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.step.d.next = ReadStep::Size;
            }
            ReadStep::Size => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.size.next = true;
                self.mode_kept.d.next = PacketMode::Read;
                self.step.d.next = ReadStep::KeyStart;
                // R29.
                if self.in_turn.val() & self.atomic.val() & self.executed.val() & self.atomics.val() {
                    self.mode_kept.d.next = PacketMode::Atomic;
                    self.step.d.next = ReadStep::Packet;
                }
            }
            ReadStep::KeyStart => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.key_start.next = true;
                self.awaiting.d.next = self.in_turn.val();
                self.step.d.next = ReadStep::KeyWait;
                if !self.in_turn.val() & !self.duplicate.val() {
                    // R50, R58.
                    if (self.huge_kept.q.val() & !self.atomic.val()) | (self.misaligned_kept.q.val() & self.atomic.val()) {
                        self.key_start.next = false;
                        self.verdict_kept.d.next = self.invalid.val();
                        self.step.d.next = ReadStep::Judged;
                    }
                }
            }
            ReadStep::KeyWait => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.awaiting.d.next = self.in_turn.val() & !self.key_done.val();
                if self.key_done.val() {
                    if self.in_turn.val() {
                        self.step.d.next = ReadStep::Packet;
                        if self.atomic.val() & self.atomics.val() {
                            self.step.d.next = ReadStep::Operand0;
                        }
                        if !self.key_ok.val() {
                            if self.replay.val() {
                                // R28: a duplicate is never refused.
                                self.step.d.next = ReadStep::Skip;
                            } else {
                                self.access_kept.d.next = true;
                                self.mode_kept.d.next = PacketMode::Nak;
                                self.step.d.next = ReadStep::Packet;
                            }
                        }
                    } else {
                        if self.duplicate.val() {
                            self.step.d.next = ReadStep::Save;
                            if self.key_ok.val() {
                                self.step.d.next = ReadStep::Copy;
                            }
                        } else {
                            self.step.d.next = ReadStep::Judged;
                            if !self.key_ok.val() {
                                // R52.
                                self.verdict_kept.d.next = self.refused.val();
                            }
                        }
                    }
                }
            }
            ReadStep::Skip => {
                self.finish.next = true;
                self.step.d.next = ReadStep::Settling;
            }
            ReadStep::Judged => {
                self.discard.next = self.verdict_kept.q.val().any();
                self.accept.next = !self.verdict_kept.q.val().any();
                self.step.d.next = ReadStep::Save;
            }
            ReadStep::Operand0 => {
                self.ask_item.next = self.item_length.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Operand;
                self.step.d.next = ReadStep::Operand1;
            }
            ReadStep::Operand1 => {
                self.ask_item.next = self.item_operand_low.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Operand;
                self.step.d.next = ReadStep::Operand2;
            }
            ReadStep::Operand2 => {
                self.ask_item.next = self.item_compare_high.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Operand;
                self.step.d.next = ReadStep::Operand3;
            }
            ReadStep::Operand3 => {
                self.ask_item.next = self.item_compare_low.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Operand;
                self.step.d.next = ReadStep::OperandWait;
            }
            ReadStep::OperandWait => {
                self.step.d.next = ReadStep::AtomicStart;
            }
            ReadStep::AtomicStart => {
                self.result.d.next = true;
                self.from_kept.d.next = WriteFrom::ResultLow;
                self.put_pool.d.next = true;
                self.put_item.d.next = self.item_low.val();
                self.step.d.next = ReadStep::AtomicWait;
            }
            ReadStep::AtomicWait => {
                self.atomic_start.next = true;
                self.put_pool.d.next = true;
                self.put_item.d.next = self.item_low.val();
                self.from_kept.d.next = WriteFrom::ResultLow;
                if self.atomic_done.val() {
                    self.from_kept.d.next = WriteFrom::ResultHigh;
                    self.result.d.next = false;
                    self.put.d.next = !self.atomic_error.val();
                    self.put_item.d.next = self.item_high.val();
                    self.mode_kept.d.next = PacketMode::Nak;
                    self.step.d.next = ReadStep::Packet;
                    if !self.atomic_error.val() {
                        self.step.d.next = ReadStep::ResultHigh;
                    }
                }
            }
            ReadStep::ResultHigh => {
                self.mode_kept.d.next = PacketMode::Atomic;
                self.step.d.next = ReadStep::Packet;
            }
            ReadStep::Packet => {
                self.in_packet.next = true;
                self.from_kept.d.next = WriteFrom::Packet;
                if self.packet_next.val() {
                    self.ask.next = WordUse::Next;
                }
                if self.packet_done.val() {
                    self.step.d.next = ReadStep::Sent;
                }
            }
            ReadStep::Sent => {
                self.step.d.next = ReadStep::Save;
                match self.mode_kept.q.val() {
                    PacketMode::Read => {
                        self.finish.next = self.last.val();
                        self.advance.next = !self.last.val();
                        if self.held.val() {
                            self.step.d.next = ReadStep::Settling;
                        }
                    }
                    PacketMode::Atomic => {
                        self.finish.next = true;
                        if self.held.val() {
                            self.step.d.next = ReadStep::Settling;
                        }
                    }
                    PacketMode::Held => {
                        self.drop_held.next = true;
                        self.raise.next = self.owing.val();
                    }
                    PacketMode::Nak => {
                        self.clear_kept.d.next = true;
                        self.shut_kept.d.next = true;
                        self.raise.next = true;
                        self.step.d.next = ReadStep::Cleared;
                    }
                    _ => {}
                }
            }
            ReadStep::Settling => {
                // What the end has made of the ring is judged.
                self.step.d.next = ReadStep::Settle;
            }
            ReadStep::Settle => {
                self.step.d.next = ReadStep::Save;
                if !self.busy_kept.q.val() & self.held.val() {
                    // R36.
                    self.mode_kept.d.next = PacketMode::Held;
                    self.step.d.next = ReadStep::Packet;
                }
            }
            ReadStep::Save => {
                self.save.next = true;
                self.at_idle.d.next = true;
                self.put.d.next = true;
                self.from_kept.d.next = WriteFrom::Ring;
                self.step.d.next = ReadStep::Idle;
            }
            ReadStep::Forward => {
                self.forward.next = true;
                if self.ack_gone.val() {
                    self.at_idle.d.next = true;
                    self.step.d.next = ReadStep::Idle;
                }
            }
            ReadStep::HoldPsn => {
                self.ask.next = WordUse::Copy;
                self.head_item.next = self.head_ack_psn.val();
                self.step.d.next = ReadStep::HoldAeth;
            }
            ReadStep::HoldAeth => {
                self.ask.next = WordUse::Copy;
                self.head_item.next = self.head_ack_aeth.val();
                self.step.d.next = ReadStep::HoldWait;
            }
            ReadStep::HoldWait => {
                self.step.d.next = ReadStep::HoldWord;
            }
            ReadStep::HoldWord => {
                self.put.d.next = true;
                self.put_item.d.next = self.item_held_psn.val();
                self.step.d.next = ReadStep::HoldPsnWrite;
            }
            ReadStep::HoldPsnWrite => {
                self.put.d.next = true;
                self.put_item.d.next = self.item_held_aeth.val();
                self.step.d.next = ReadStep::HoldAethWrite;
            }
            ReadStep::HoldAethWrite => {
                self.hold.next = true;
                self.shut_now.next = self.ack_fatal.val();
                self.step.d.next = ReadStep::Save;
            }
            ReadStep::SearchBegin => {
                // What is left of the ring is judged.
                self.step.d.next = ReadStep::SearchStep;
            }
            ReadStep::SearchStep => {
                self.search_step.next = true;
                self.step.d.next = ReadStep::SearchPlace;
                if self.exhausted.val() {
                    self.step.d.next = ReadStep::Save;
                }
            }
            ReadStep::SearchPlace => {
                self.step.d.next = ReadStep::SearchAsk;
            }
            ReadStep::SearchAsk => {
                self.ask_item.next = self.item_psn.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Distance;
                self.step.d.next = ReadStep::SearchWait;
            }
            ReadStep::SearchWait => {
                self.ask_item.next = self.item_psn.val();
                self.ask_pool.next = true;
                self.step.d.next = ReadStep::SearchWord;
            }
            ReadStep::SearchWord => {
                self.step.d.next = ReadStep::SearchSum;
            }
            ReadStep::SearchSum => {
                self.step.d.next = ReadStep::SearchJudge;
            }
            ReadStep::SearchJudge => {
                self.check.next = true;
                self.step.d.next = ReadStep::SearchStep;
                if !self.later.val() {
                    self.step.d.next = ReadStep::SearchFound;
                }
            }
            ReadStep::SearchFound => {
                self.put_item.d.next = self.item_distance.val();
                self.step.d.next = ReadStep::Save;
                if self.pending.val() {
                    self.verdict_kept.d.next = self.taken.val();
                } else {
                    if self.found_same.q.val() {
                        self.put.d.next = true;
                        self.step.d.next = ReadStep::CheckDistance;
                        if self.head_atomic.val() & self.atomics.val() {
                            // R29: the stored result again.
                            self.put.d.next = false;
                            self.step.d.next = ReadStep::Save;
                            if self.found_again.q.val() {
                                self.step.d.next = ReadStep::Copy;
                            }
                        }
                    }
                }
            }
            ReadStep::CheckDistance => {
                self.step.d.next = ReadStep::CheckOffset;
            }
            ReadStep::CheckOffset => {
                self.ask_item.next = self.item_low.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Offset;
                self.step.d.next = ReadStep::CheckBegin;
            }
            ReadStep::CheckBegin => {
                self.step.d.next = ReadStep::CheckDistanceAgain;
            }
            ReadStep::CheckDistanceAgain => {
                self.ask_item.next = self.item_distance.val();
                self.ask.next = WordUse::Shifted;
                self.step.d.next = ReadStep::CheckHigh;
            }
            ReadStep::CheckHigh => {
                self.ask_item.next = self.item_high.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::OffsetHigh;
                self.put.d.next = true;
                self.put_item.d.next = self.item_offset.val();
                self.step.d.next = ReadStep::CheckSave;
            }
            ReadStep::CheckSave => {
                self.step.d.next = ReadStep::CheckEnd;
            }
            ReadStep::CheckEnd => {
                self.ask_item.next = self.item_offset.val();
                self.ask.next = WordUse::End;
                self.step.d.next = ReadStep::CheckRoom;
            }
            ReadStep::CheckRoom => {
                self.ask_item.next = self.item_length.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::Room;
                self.step.d.next = ReadStep::CheckKey;
            }
            ReadStep::CheckKey => {
                self.ask_item.next = self.item_key.val();
                self.ask_pool.next = true;
                self.ask.next = WordUse::SameKey;
                self.step.d.next = ReadStep::CheckWait;
            }
            ReadStep::CheckWait => {
                self.step.d.next = ReadStep::CheckWord;
            }
            ReadStep::CheckWord => {
                self.step.d.next = ReadStep::CheckSum;
            }
            ReadStep::CheckSum => {
                self.step.d.next = ReadStep::CheckJudge;
            }
            ReadStep::CheckJudge => {
                self.step.d.next = ReadStep::CheckDecide;
            }
            ReadStep::CheckDecide => {
                // R28: the key of the stored request is asked again.
                self.step.d.next = ReadStep::Low;
                if self.mismatch.val() | !self.zero_kept.q.val() {
                    self.step.d.next = ReadStep::Save;
                }
            }
            _ => {
                self.at_idle.d.next = true;
                self.step.d.next = ReadStep::Idle;
            }
        }
        if self.choosing.q.val() {
            match self.kind_kept.q.val() {
                ReadKind::Turn => {
                    self.step.d.next = ReadStep::Settle;
                    if self.busy_kept.q.val() {
                        self.step.d.next = ReadStep::Low;
                    }
                }
                ReadKind::Serve => {
                    self.released.next = true;
                    self.step.d.next = ReadStep::Save;
                }
                ReadKind::Ack => {
                    // R36. Behind a fatal NAK nothing leaves any more.
                    self.step.d.next = ReadStep::Save;
                    if !self.shut.val() {
                        self.step.d.next = ReadStep::HoldPsn;
                    }
                    if !self.busy_kept.q.val() & !self.held.val() {
                        self.step.d.next = ReadStep::Forward;
                    }
                }
                ReadKind::State => {
                    // Shut until its payload reads are over.
                    self.clear_kept.d.next = true;
                    self.shut_kept.d.next = !self.flushing.val();
                    self.step.d.next = ReadStep::Cleared;
                }
                ReadKind::Trouble => {
                    self.step.d.next = ReadStep::TroubleAsk;
                    if self.shut.val() {
                        self.trouble_settled.next = true;
                        self.step.d.next = ReadStep::Save;
                    }
                }
                _ => {
                    self.step.d.next = ReadStep::Copy;
                    if self.duplicate.val() {
                        self.search_start.next = true;
                        self.searching_kept.d.next = true;
                        self.verdict_kept.d.next = self.dropped.val();
                        self.step.d.next = ReadStep::SearchBegin;
                    } else {
                        self.fresh.d.next = true;
                    }
                    if self.shut.val() {
                        self.verdict_kept.d.next = self.dropped.val();
                        self.step.d.next = ReadStep::Save;
                    }
                }
            }
        }
        // The head's word that meets the store's.
        match self.ask.val() {
            WordUse::Offset => {
                self.head_item.next = self.item_low.val();
            }
            WordUse::OffsetHigh => {
                self.head_item.next = self.item_high.val();
            }
            WordUse::SameKey => {
                self.head_item.next = self.item_key.val();
            }
            WordUse::End => {
                self.head_item.next = self.item_length.val();
            }
            _ => {}
        }

        self.write_from.next = self.from_kept.q.val();
        self.ask_late.d.next = self.ask.val();
        self.ask_later.d.next = self.ask_late.q.val();
        self.use_kept.d.next = self.ask_later.q.val();
        self.word_use.next = self.use_kept.q.val();
        self.next_use.next = self.ask_later.q.val();
        self.atomic_load.next = self.atomics.val() & (self.use_kept.q.val() == WordUse::Operand);
        self.kind.next = self.kind_kept.q.val();
        self.mode.next = self.mode_kept.q.val();
        self.access.next = self.access_kept.q.val();
        self.searching.next = self.searching_kept.q.val();
        self.verdict.next = self.verdict_kept.q.val();
        self.turn.next = self.in_turn.val();
        self.ack_taken.next = self.save.val() & (self.kind_kept.q.val() == ReadKind::Ack);
        if self.reset.val() {
            self.step.d.next = ReadStep::Idle;
            self.at_idle.d.next = true;
            self.ask_late.d.next = WordUse::Nothing;
            self.ask_later.d.next = WordUse::Nothing;
            self.use_kept.d.next = WordUse::Nothing;
            self.result.d.next = false;
            self.put.d.next = false;
            self.rested.d.next = false;
            self.choosing.d.next = false;
            self.awaiting.d.next = false;
            self.fresh.d.next = false;
            self.clear_kept.d.next = false;
            self.shut_kept.d.next = false;
        }
    }

    crate::block_name!("Steps of the READ responder.");
}
