// SPDX-License-Identifier: MIT OR Apache-2.0
//! One turn, one packet: from a QP's row and the WQE in the store to packet words, read jobs and the row's new words.
//!
//! ```text
//! Idle ─► Index … Hold ─► Judge ─┬─► Scan (max_rd_atomic, fence ─► Landing) ─┐
//!   ▲     (row, WQE)        ▲    ├─► Count (PSNs, R75) ──────────────────────┤
//!   │                       └────┼───────────── Again ◄──────────────────────┘
//!   │                            ├─► [Low … Ask] ─► KeyWait ─┬─► Issued ─► Idle
//!   │                            │        ▲── Spill (split) ─┘   (RowWrites, while the next turn loads)
//!   ├──────── Leave ◄── Refuse ◄─┴───────────────────────────┘
//!   └─ Resumed ◄─ Resume ◄─ Leave, Issued   (a packet that is sent again alone)
//! ```
//!
//! Up to `Hold` a state's name is the row word that it asks for; the word is there two states later. PD and L_Key are there in `Judge` and kept.
//! The packet's words are formed while the key is checked; the last one waits for the answer, and a bad key makes the packet one to be abandoned. With two
//! pieces the words come behind both checks, because the place of the second one passes through the row.
//! A turn begins only when nothing that `Complete` must take could stop it: at most one `arm` waits (two have room), and no `fail`.
//! A fence whose READs and ATOMICs are all answered waits in the turn (`Landing`) until what was under way to memory then has landed.
//! Where a write has failed, the turn ends, and the next one tries again, until the QP concerned is in ERR.
//! Selective repeat: the packet of a row that says `alone` is sent (if it isn't acknowledged by now), and the row goes on at its highest PSN (`Resume`).
//! A new packet waits while 64 PSNs are outstanding.
//! Cycles: 10 to `Judge`, a key check, 2.
//!
//! Row, 32 words: 0 [23:0] next PSN, [24] its packet alone; 1 [15:0] next WQE, [31:16] first WQE never begun; 2 [23:0] highest PSN sent + 1, [24] it is
//! inside a message, [25] selective repeat, [31:26] its window; 3 first WQE never begun; 4 bytes of the message sent; 5, 6 place of a split packet's second piece; 7 WQE whose
//! payload read failed; 8, 9, 10, 11 QP row words 0, 1, 16, 19; 12 bytes of the message sent at the highest PSN; 16 + 2k records.

use super::arm_queue::ArmQueue;
use super::bth::Bth;
use super::cut::Cut;
use super::place::Place;
use super::read_pace::ReadPace;
use super::row_writes::RowWrites;
use super::wire_program::WireProgram;
use super::wire_words::WireWords;
use super::wqe_check::WqeCheck;
use super::{EndOfTurn, SendOrder};
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SegmenterState {
    Idle,
    Index,
    Offset,
    Psn,
    RecordA,
    RecordB,
    Highest,
    Domain,
    Hold,
    Judge,
    Scan,
    ScanWait,
    ScanFirst,
    ScanLoop,
    ScanEnd,
    Landing,
    Pace,
    Count,
    CountFirst,
    CountLoop,
    CountEnd,
    CountCheck,
    Again,
    AgainHold,
    Low,
    High,
    Key,
    KeyHold,
    Ask,
    KeyWait,
    SpillLow,
    SpillHigh,
    Issued,
    Refuse,
    Leave,
    Resume,
    Resumed,
}

#[derive(LogicBlock, Default)]
pub struct Segmenter<const QA: usize, const QR: usize, const U: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    // The scheduler.
    pub turn_valid: Signal<In, Bit>,
    /// A payload read of this QP had failed.
    pub turn_error: Signal<In, Bit>,
    /// SQD: no new message.
    pub turn_draining: Signal<In, Bit>,
    pub turn_take: Signal<Out, Bit>,
    /// QP and slot of the turn that may be taken in the next cycle; with an order, the order's QP.
    pub head_index: Signal<In, Bits<QA>>,
    pub head_slot: Signal<In, Bit>,
    /// A turn may be taken in this very cycle; never while something that needs `idle` is waiting, as `turn_valid` is low then.
    pub idle: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<QA>>,
    pub outcome: Signal<Out, EndOfTurn>,
    /// With `Resume`: the WQE to go on with.
    pub resume_wqe: Signal<Out, Bits<16>>,
    pub end_valid: Signal<Out, Bit>,
    /// With it: a packet has gone, of so many payload bytes.
    pub end_packet: Signal<Out, Bit>,
    pub end_payload: Signal<Out, Bits<14>>,
    pub end_ready: Signal<In, Bit>,
    pub order: Signal<In, SendOrder>,
    pub order_valid: Signal<In, Bit>,
    pub order_index: Signal<In, Bits<QA>>,
    pub order_done: Signal<Out, Bit>,
    pub rewind_psn: Signal<In, Bits<24>>,
    pub rewind_wqe: Signal<In, Bits<16>>,
    pub rewind_offset: Signal<In, Bits<32>>,
    pub rewind_alone: Signal<In, Bit>,
    // Row and store; both move with `advance`.
    pub advance: Signal<Out, Bit>,
    pub row_index: Signal<Out, Bits<QA>>,
    pub row_item: Signal<Out, Bits<5>>,
    pub row_word: Signal<In, Bits<32>>,
    pub row_write: Signal<Out, Bit>,
    pub row_write_index: Signal<Out, Bits<QA>>,
    pub row_write_item: Signal<Out, Bits<5>>,
    pub row_write_data: Signal<Out, Bits<32>>,
    pub wqe_slot: Signal<Out, Bit>,
    pub wqe_item: Signal<Out, Bits<4>>,
    pub wqe_word: Signal<In, Bits<32>>,
    /// The WQE is still coming: its words up to 13 aren't all there; it isn't whole (both: for the next cycle); it came with an error.
    pub wqe_short: Signal<In, Bit>,
    pub wqe_partial: Signal<In, Bit>,
    pub wqe_spoilt: Signal<In, Bit>,
    /// Ack row of `index`: 0 oldest PSN, 1 oldest WQE; a cycle later.
    pub ack_read: Signal<Out, Bit>,
    pub ack_item: Signal<Out, Bit>,
    pub ack_data: Signal<In, Bits<32>>,
    pub key_start: Signal<Out, Bit>,
    pub key: Signal<Out, Bits<32>>,
    pub key_pd: Signal<Out, Bits<16>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub key_paged: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    pub job_paged: Signal<Out, Bit>,
    pub job_address: Signal<Out, Bits<64>>,
    pub job_length: Signal<Out, Bits<14>>,
    pub job_last: Signal<Out, Bit>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_abandon: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    pub tracker_room: Signal<In, Bit>,
    pub tracker_push: Signal<Out, Bit>,
    pub tracker_report: Signal<Out, Bit>,
    pub tracker_payload: Signal<Out, Bit>,
    pub tracker_wqe: Signal<In, Bits<16>>,
    pub wqe: Signal<Out, Bits<16>>,
    /// A fence: wait for the bytes under way to memory; they are there.
    pub landing_mark: Signal<Out, Bit>,
    pub landing_clear: Signal<In, Bit>,
    /// Some of them could not be written: a QP is about to go to ERR, maybe this one.
    pub failing_write: Signal<In, Bit>,
    pub arm_valid: Signal<Out, Bit>,
    pub arm_index: Signal<Out, Bits<QA>>,
    pub arm_ready: Signal<In, Bit>,
    pub fail_valid: Signal<Out, Bit>,
    pub fail_status: Signal<Out, Bits<8>>,
    pub fail_ready: Signal<In, Bit>,
    cut: Cut,
    place: Place,
    check: WqeCheck<U>,
    bth: Bth,
    script: WireProgram<U>,
    words: WireWords<QA>,
    writes: RowWrites<QA>,
    pace: ReadPace,
    arming: ArmQueue<QA>,
    state: DFF<SegmenterState>,
    who: DFF<Bits<QA>>,
    /// Whose row and WQE are asked for: the turn's; between turns those of the queue's head, so that RAM addresses start from a register.
    at: DFF<Bits<QA>>,
    at_slot: DFF<Bit>,
    follows: Signal<Local, Bit>,
    broken: DFF<Bit>,
    draining: DFF<Bit>,
    service: DFF<Bits<3>>,
    pmtu: DFF<Bits<3>>,
    word0: DFF<Bits<10>>,
    next_wqe: DFF<Bits<16>>,
    begun: DFF<Bits<16>>,
    fresh: DFF<Bit>,
    oldest: DFF<Bits<16>>,
    since: DFF<Bits<16>>,
    psn: DFF<Bits<24>>,
    changed: DFF<Bit>,
    length_changed: DFF<Bit>,
    newest: DFF<Bit>,
    /// Selective repeat: the packet is sent again alone; the QP's attribute; the highest PSN is inside a message.
    alone: DFF<Bit>,
    selective: DFF<Bit>,
    /// PSNs outstanding at most with it; 0: 64.
    window: DFF<Bits<6>>,
    mid_message: DFF<Bit>,
    /// As many PSNs from the oldest one as the window has, or more: 64 or more, a cycle behind `distance`; of fewer, as it was in `Hold`.
    far: DFF<Bit>,
    far_near: DFF<Bit>,
    /// Where it goes on after a packet that is sent alone.
    resume_to: DFF<Bits<16>>,
    /// WQEs begun since the one in hand, it included: one; two.
    since_begun: DFF<Bits<16>>,
    begun_one: DFF<Bit>,
    begun_two: DFF<Bit>,
    /// How the turn of a packet that is sent alone ends: new packets stand in the same WQE, in the next one, or elsewhere.
    way_back: Signal<Local, EndOfTurn>,
    /// Such a turn ends without a packet.
    returns: DFF<Bit>,
    /// `reliable`, and no broken payload read.
    windowed: DFF<Bit>,
    window_full: Signal<Local, Bit>,
    /// What `Judge` finds, as it was known a cycle before: the packet is acknowledged by now; a new message has to wait; outstanding READs are to be
    /// counted, or a fence is; PSNs are; any of these, or a payload read has failed.
    passed: DFF<Bit>,
    waits: DFF<Bit>,
    scan_due: DFF<Bit>,
    count_due: DFF<Bit>,
    detained: DFF<Bit>,
    passes: Signal<Local, Bit>,
    new_waits: Signal<Local, Bit>,
    scans: Signal<Local, Bit>,
    counts: Signal<Local, Bit>,
    /// Nothing is in the packet's way; its one piece's key is checked; it has none, and none is needed.
    goes: Signal<Local, Bit>,
    checks: Signal<Local, Bit>,
    goes_at_once: Signal<Local, Bit>,
    bad_operation: DFF<Bit>,
    bad_length: DFF<Bit>,
    split: DFF<Bit>,
    beyond: DFF<Bit>,
    second: DFF<Bit>,
    paged: DFF<Bit>,
    other_paged: DFF<Bit>,
    row_kept: DFF<Bits<5>>,
    wqe_kept: DFF<Bits<4>>,
    resting: DFF<Bit>,
    add_nothing: DFF<Bit>,
    add_rest: DFF<Bit>,
    add_carry: DFF<Bit>,
    from_memory: DFF<Bit>,
    inline_data: DFF<Bit>,
    wide: DFF<Bit>,
    first: DFF<Bit>,
    remote: DFF<Bit>,
    trailer: DFF<Bit>,
    /// The key's check runs, with the packet's words already on their way; they are for nothing.
    checking: DFF<Bit>,
    abandoned: DFF<Bit>,
    /// The packet's last word must wait: `checking`, or a job isn't offered yet.
    holding: DFF<Bit>,
    spoilt: DFF<Bit>,
    key_kept: DFF<Bits<32>>,
    pd_kept: DFF<Bits<16>>,
    job_open: DFF<Bit>,
    job_more: DFF<Bit>,
    scanned: DFF<Bit>,
    counted: DFF<Bit>,
    scan: DFF<Bits<3>>,
    scan_left: DFF<Bits<3>>,
    scan_soon: DFF<Bit>,
    scan_now: DFF<Bit>,
    total: DFF<Bits<4>>,
    limit: DFF<Bits<5>>,
    distance: DFF<Bits<24>>,
    halvings: DFF<Bits<3>>,
    status: DFF<Bits<3>>,
    leaving: DFF<EndOfTurn>,
    failing: DFF<Bit>,
    take: Signal<Local, Bit>,
    loading: Signal<Local, Bit>,
    gone: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    issue: Signal<Local, Bit>,
    arms: Signal<Local, Bit>,
    /// An entry of the read tracker: a cycle later.
    pushes: Signal<Local, Bit>,
    pushing: DFF<Bit>,
    not_yet: Signal<Local, Bit>,
    /// The state is one that stands.
    standing: DFF<Bit>,
    /// More states that are known from a register: `Psn`, `RecordA`, `RecordB`, `KeyWait`, `ScanEnd`, `Issued`, `Leave`; `Highest` and `Key`; `Hold` and `KeyHold`.
    in_psn: DFF<Bit>,
    in_record_a: DFF<Bit>,
    in_record_b: DFF<Bit>,
    in_key_wait: DFF<Bit>,
    in_scan_end: DFF<Bit>,
    in_issued: DFF<Bit>,
    in_leave: DFF<Bit>,
    /// `Idle`, `Issued` or `Leave`.
    between: DFF<Bit>,
    loads_low: DFF<Bit>,
    loads_high: DFF<Bit>,
    /// States that write the row.
    in_hold: DFF<Bit>,
    in_judge: DFF<Bit>,
    in_spill_low: DFF<Bit>,
    in_spill_high: DFF<Bit>,
    after_kept: DFF<Bits<24>>,
    reach_kept: DFF<Bits<2>>,
    start: Signal<Local, Bit>,
    /// A cycle later: the words of a packet are formed while its key is checked.
    starting: DFF<Bit>,
    last: Signal<Local, Bit>,
    full: Signal<Local, Bit>,
    /// The message begins here, behind seven that are outstanding.
    eighth: DFF<Bit>,
    reach: Signal<Local, Bits<25>>,
    record: Signal<Local, Bits<5>>,
    record_b: Signal<Local, Bits<5>>,
    scanned_record: Signal<Local, Bits<5>>,
    scanned_next: Signal<Local, Bits<5>>,
    is_wide: Signal<Local, Bit>,
    outstanding: Signal<Local, Bits<5>>,
}

impl<const QA: usize, const QR: usize, const U: usize> Logic for Segmenter<QA, QR, U> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, who, at, at_slot, broken, draining, service, pmtu, word0, next_wqe, begun, fresh, oldest, since);
        dff_setup!(
            self,
            clock,
            psn,
            changed,
            newest,
            alone,
            selective,
            window,
            mid_message,
            far,
            far_near,
            windowed,
            passed,
            waits,
            scan_due,
            count_due,
            detained,
            starting,
            pushing,
            resume_to,
            since_begun,
            begun_one,
            begun_two,
            returns,
            in_hold,
            in_judge,
            in_spill_low,
            in_spill_high,
            bad_operation,
            bad_length,
            split,
            beyond,
            second,
            paged,
            other_paged
        );
        dff_setup!(self, clock, job_open, job_more, scanned, counted, scan, scan_left, scan_soon, scan_now, total, limit);
        dff_setup!(
            self,
            clock,
            row_kept,
            wqe_kept,
            resting,
            add_nothing,
            add_rest,
            add_carry,
            from_memory,
            inline_data,
            wide,
            first,
            remote,
            trailer
        );
        dff_setup!(self, clock, distance, halvings, status, leaving, failing);
        dff_setup!(
            self,
            clock,
            eighth,
            spoilt,
            checking,
            abandoned,
            holding,
            length_changed,
            key_kept,
            pd_kept,
            standing
        );
        dff_setup!(
            self,
            clock,
            in_psn,
            in_record_a,
            in_record_b,
            in_key_wait,
            in_scan_end,
            in_issued,
            in_leave,
            between,
            loads_low,
            loads_high,
            after_kept,
            reach_kept
        );
        clock!(self, clock, cut, place, script, words, writes, pace, arming);
        self.arming.reset.next = self.reset.val();
        self.script.reset.next = self.reset.val();
        self.writes.reset.next = self.reset.val();
        self.pace.reset.next = self.reset.val();
        self.words.reset.next = self.reset.val();

        // What the packet is.
        self.check.word0.next = self.word0.q.val();
        self.check.service.next = self.service.q.val();
        self.check.remaining.next = self.cut.remaining.val();
        self.check.over.next = self.cut.over.val();
        self.check.misfit.next = self.cut.misfit.val();
        self.check.changed.next = self.changed.q.val() | self.length_changed.q.val();
        self.bad_operation.d.next = self.check.bad_operation.val();
        self.bad_length.d.next = self.check.bad_length.val();
        self.wide.d.next = self.check.read.val() | self.check.atomic.val();
        self.last.next = !self.cut.over.val() | self.wide.q.val();
        self.from_memory.d.next = !self.check.inline_data.val() & !self.wide.q.val() & self.cut.payload.val().any();
        self.inline_data.d.next = self.check.inline_data.val() & self.cut.payload.val().any();
        self.since.d.next = self.next_wqe.q.val() - self.oldest.q.val();
        self.full.next = self.since.q.val().get_bits::<13>(3).any();
        self.eighth.d.next = self.fresh.q.val() & (self.since.q.val() == 7);
        self.split.d.next = self.cut.split.val();
        self.beyond.d.next = self.cut.beyond.val();
        self.after_kept.d.next = self.psn.q.val() + self.cut.count.val();
        self.reach.next = bit_cast::<25, 24>(self.distance.q.val()) + bit_cast::<25, 24>(self.cut.count.val());
        self.record.next = bit_cast::<5, 3>(self.next_wqe.q.val().get_bits::<3>(0)) << 1;
        self.record_b.next = self.record.val() + 17;
        self.scanned_record.next = bit_cast::<5, 3>(self.scan.q.val()) << 1;
        self.scanned_next.next = bit_cast::<5, 3>(self.scan.q.val() + 1) << 1;
        self.resume_to.d.next = self.begun.q.val();
        if self.mid_message.q.val() {
            self.resume_to.d.next = self.begun.q.val() - 1;
        }
        self.resume_wqe.next = self.resume_to.q.val();
        self.since_begun.d.next = self.begun.q.val() - self.next_wqe.q.val();
        self.begun_one.d.next = self.since_begun.q.val() == 1;
        self.begun_two.d.next = self.since_begun.q.val() == 2;
        // Where the store has the WQE to go on with, it need not be read again.
        self.way_back.next = EndOfTurn::Resume;
        if self.begun_one.q.val() {
            self.way_back.next = EndOfTurn::Message;
            if self.mid_message.q.val() {
                self.way_back.next = EndOfTurn::Packet;
            }
        }
        if self.begun_two.q.val() & self.mid_message.q.val() {
            self.way_back.next = EndOfTurn::Message;
        }
        // What the peer can hold; and a packet that was to be sent again has arrived meanwhile. What `Again` reads is no further, so `Hold`'s word stands.
        self.far.d.next = self.distance.q.val().get_bits::<18>(6).any();
        self.window_full.next =
            self.selective.q.val() & self.newest.q.val() & (self.far.q.val() | self.far_near.q.val()) & self.windowed.q.val();
        self.windowed.d.next = self.check.reliable.val() & !self.broken.q.val();
        // Of what `Judge` looks at, all but these stands a cycle before it: `bad_operation`, `bad_length`, `from_memory`, `split`, `beyond`, the window.
        self.passes.next = self.alone.q.val() & self.distance.q.val().get_bit(23) & !self.broken.q.val();
        self.new_waits.next = self.fresh.q.val() & (self.draining.q.val() | self.full.val()) & !self.broken.q.val();
        self.scans.next = self.fresh.q.val() & (self.check.fence.val() | self.wide.q.val()) & !self.scanned.q.val();
        self.counts.next = self.cut.over.val() & (self.fresh.q.val() | self.check.read.val()) & !self.counted.q.val();
        self.passed.d.next = self.passes.val();
        self.waits.d.next = self.new_waits.val();
        self.scan_due.d.next = self.scans.val();
        self.count_due.d.next = self.counts.val();
        self.detained.d.next = self.passes.val() | self.new_waits.val() | self.scans.val() | self.counts.val() | self.broken.q.val();
        self.goes.next = !self.detained.q.val() & !self.window_full.val() & !self.bad_operation.q.val() & !self.bad_length.q.val();
        self.checks.next = self.from_memory.q.val() & !self.split.q.val() & !self.beyond.q.val();
        self.goes_at_once.next = !self.from_memory.q.val() & !(self.wide.q.val() & self.pace.full.val());
        self.is_wide.next = self.row_word.val().get_bit(26) & self.row_word.val().get_bits::<2>(24).any();
        self.outstanding.next = bit_cast::<5, 4>(self.total.q.val());

        self.cut.pmtu.next = self.pmtu.q.val();
        self.cut.elements.next = self.word0.q.val().get_bits::<2>(8);
        // An ATOMIC's second half is its operands, not an element.
        if self.check.atomic.val() {
            self.cut.elements.next = 1.into();
        }
        self.cut.wqe_word.next = self.wqe_word.val();
        self.cut.row_word.next = self.row_word.val();
        self.cut.load_length.next = self.in_psn.q.val();
        self.cut.load_first.next = self.in_record_a.q.val();
        self.cut.load_second.next = self.in_record_b.q.val();
        self.in_psn.d.next = false;
        self.in_record_a.d.next = self.in_psn.q.val();
        self.in_record_b.d.next = self.in_record_a.q.val();
        self.cut.second_piece.next = self.second.q.val() & self.split.q.val();
        self.cut.count_load.next = false;
        self.cut.count_halve.next = false;
        self.cut.count_round.next = false;
        self.cut.count_one.next = false;

        self.place.wqe_word.next = self.wqe_word.val();
        self.place.row_word.next = self.row_word.val();
        self.place.offset.next = self.cut.offset.val();
        self.place.rest.next = self.cut.rest.val();
        self.place.add_offset.next = !self.add_nothing.q.val();
        self.place.take_rest.next = self.add_rest.q.val();
        self.add_nothing.d.next = false;
        self.add_rest.d.next = false;
        self.add_carry.d.next = self.words.high_next.val();
        self.place.load_low.next = self.loads_low.q.val();
        self.place.load_high.next = self.loads_high.q.val();
        self.loads_low.d.next = false;
        self.loads_high.d.next = false;
        self.place.load_carry.next = self.words.carry.val();
        self.place.upper.next = self.add_carry.q.val();
        self.place.put_low.next = self.script.put_low.val();
        self.place.put_high.next = self.script.put_high.val();
        self.place.place.next = self.in_key_wait.q.val() & self.key_done.val() & self.key_ok.val();
        self.in_key_wait.d.next = false;
        self.place.key_address.next = self.key_address.val();

        self.bth.service.next = self.service.q.val();
        self.bth.pmtu.next = self.pmtu.q.val();
        self.bth.send_opcode.next = self.word0.q.val().get_bits::<4>(0);
        self.bth.write.next = self.check.write.val();
        self.bth.read.next = self.check.read.val();
        self.bth.atomic.next = self.check.atomic.val();
        self.bth.immediate.next = self.check.immediate.val();
        self.bth.invalidate.next = self.check.invalidate.val();
        self.bth.datagram.next = self.check.datagram.val();
        self.bth.reliable.next = self.check.reliable.val();
        self.bth.first.next = self.first.q.val();
        self.first.d.next = self.cut.first.val();
        self.remote.d.next = self.bth.remote.val();
        self.trailer.d.next = self.bth.trailer.val();
        self.bth.last.next = self.last.val();
        self.bth.selective.next = self.selective.q.val();
        self.bth.psn.next = self.psn.q.val();

        self.script.advance.next = self.words.advance.val();
        self.script.split.next = self.split.q.val() & self.from_memory.q.val();
        self.script.datagram.next = self.check.datagram.val();
        self.script.remote.next = self.remote.q.val();
        self.script.atomic.next = self.check.atomic.val();
        self.script.trailer.next = self.trailer.q.val();
        self.script.inline_data.next = self.inline_data.q.val();
        self.script.bytes.next = self.cut.payload.val().get_bits::<6>(0);
        self.script.job_open.next = self.job_open.q.val();

        self.words.item.next = self.script.item.val();
        self.words.last.next = self.script.last.val();
        self.words.hold_last.next = self.holding.q.val();
        self.words.abandon.next = self.abandoned.q.val();
        self.words.index.next = self.who.q.val();
        self.words.datagram.next = self.check.datagram.val();
        self.words.from_memory.next = self.from_memory.q.val();
        self.words.inline_data.next = self.inline_data.q.val();
        self.words.bytes.next = self.cut.payload.val();
        self.words.extension.next = self.bth.extension.val();
        self.words.opcode.next = self.bth.opcode.val();
        self.words.solicited.next = self.check.solicited.val() & self.last.val();
        self.words.ack_request.next = self.bth.ack_request.val();
        self.words.psn.next = self.psn.q.val();
        self.words.remaining.next = self.cut.remaining.val();
        self.words.sum.next = self.place.sum.val();
        self.words.wqe_word.next = self.wqe_word.val();
        self.words.row_word.next = self.row_word.val();
        self.words.packet_ready.next = self.packet_ready.val();
        self.advance.next = self.words.advance.val();
        self.packet_word.next = self.words.packet_word.val();
        self.packet_last.next = self.words.packet_last.val();
        self.packet_abandon.next = self.words.packet_abandon.val();
        self.packet_valid.next = self.words.packet_valid.val();

        // Standing outputs.
        self.take.next = false;
        // Between turns, once the words of the last one's WQE have been read.
        self.follows.next = self.between.q.val() & !self.script.busy.val() & !self.starting.q.val();
        self.between.d.next = false;
        if self.follows.val() {
            self.at.d.next = self.head_index.val();
            self.at_slot.d.next = self.head_slot.val();
        }
        // What is asked for stands still: decided a cycle before. The last packet's job still stands in our registers, or its last word waits, or the
        // WQE isn't there yet.
        self.not_yet.next = self.job_open.q.val() | !self.words.gone.val() | self.wqe_short.val();
        self.standing.d.next = false;
        self.start.next = false;
        // Each state says what its successor asks for; what nobody says is what `Idle` asks for.
        self.row_item.next = self.row_kept.q.val();
        self.wqe_item.next = self.wqe_kept.q.val();
        if self.script.busy.val() {
            self.row_item.next = self.script.row_item.val();
            self.wqe_item.next = self.script.wqe_item.val();
        }
        self.row_kept.d.next = 8.into();
        self.wqe_kept.d.next = 0.into();
        self.resting.d.next = false;
        if self.writes.asking.val() {
            self.row_item.next = self.writes.row_item.val();
        }
        // A message's record, as it begins; the place of a second piece.
        self.row_write.next = self.writes.write.val()
            | ((self.in_hold.q.val() | self.in_judge.q.val()) & self.fresh.q.val() & !self.full.val() & !self.broken.q.val())
            | self.in_spill_low.q.val()
            | self.in_spill_high.q.val();
        self.row_write_item.next = self.writes.write_item.val();
        self.row_write_data.next = self.writes.write_data.val();
        if self.in_hold.q.val() {
            self.row_write_item.next = self.record_b.val();
            self.row_write_data.next = self.cut.remaining.val();
        }
        if self.in_judge.q.val() {
            self.row_write_item.next = self.record.val() + 16;
            self.row_write_data.next =
                bit_cast::<32, 24>(self.psn.q.val()) | (bit_cast::<32, 5>(self.word0.q.val().get_bits::<5>(0)) << 24);
        }
        if self.in_spill_low.q.val() {
            self.row_write_item.next = 5.into();
            self.row_write_data.next = self.place.placed_low.val();
        }
        if self.in_spill_high.q.val() {
            self.row_write_item.next = 6.into();
            self.row_write_data.next = self.place.placed_high.val();
        }
        self.in_hold.d.next = false;
        self.in_judge.d.next = false;
        self.in_spill_low.d.next = false;
        self.in_spill_high.d.next = false;
        self.ack_read.next = false;
        self.ack_item.next = true;
        self.key_start.next = false;
        // The turn's end frees the WQE's place in the store, so its words must have been read; what has no payload read is sent when they
        // are formed.
        self.in_issued.d.next = false;
        self.in_leave.d.next = false;
        self.gone.next =
            self.in_issued.q.val() & !self.starting.q.val() & !self.script.busy.val() & (self.from_memory.q.val() | self.words.clear.val());
        self.end_valid.next = self.in_leave.q.val() | self.gone.val();
        self.ends.next = self.gone.val() & self.end_ready.val();
        self.end_packet.next = self.in_issued.q.val();
        self.end_payload.next = self.cut.payload.val();
        if self.wide.q.val() {
            self.end_payload.next = 0.into();
        }
        self.issue.next = self.ends.val() & !self.alone.q.val();
        self.arms.next = self.ends.val() & self.bth.ack_request.val();
        self.pushes.next = self.ends.val() & (self.from_memory.q.val() | (self.last.val() & !self.check.reliable.val()));
        self.outcome.next = self.leaving.q.val();
        if self.in_issued.q.val() {
            self.outcome.next = EndOfTurn::Packet;
            if self.last.val() {
                self.outcome.next = EndOfTurn::Message;
                if self.eighth.q.val() {
                    self.outcome.next = EndOfTurn::Full;
                }
            }
            if self.alone.q.val() {
                self.outcome.next = self.way_back.val();
            }
        }
        // Only a fence looks at it.
        self.landing_mark.next = self.in_scan_end.q.val();
        self.in_scan_end.d.next = false;
        self.writes.resume.next = false;
        if self.job_open.q.val() & self.job_ready.val() {
            self.job_open.d.next = false;
        }
        if self.script.put_high.val() {
            self.job_open.d.next = true;
            self.job_more.d.next = false;
            self.holding.d.next = false;
            self.second.d.next = true;
            self.paged.d.next = self.other_paged.q.val();
        }
        if self.fail_ready.val() {
            self.failing.d.next = false;
        }
        self.scan_soon.d.next = false;
        self.scan_now.d.next = self.scan_soon.q.val();
        if self.scan_now.q.val() & self.is_wide.val() {
            self.total.d.next = self.total.q.val() + 1;
        }

        match self.state.q.val() {
            SegmenterState::Idle => {
                self.scanned.d.next = false;
                self.counted.d.next = false;
                self.between.d.next = true;
                // The address is the head's by then.
                self.resting.d.next = self.follows.val() & !self.order_valid.val();
                if self.resting.q.val()
                    & self.words.clear.val()
                    & self.turn_valid.val()
                    & !self.order_valid.val()
                    & !self.arming.two.val()
                    & !self.failing.q.val()
                    & self.tracker_room.val()
                {
                    self.take.next = true;
                    self.between.d.next = false;
                    self.resting.d.next = false;
                    self.row_kept.d.next = 1.into();
                    if self.turn_error.val() {
                        self.row_kept.d.next = 7.into();
                    }
                    self.wqe_kept.d.next = 1.into();
                    self.who.d.next = self.at.q.val();
                    self.broken.d.next = self.turn_error.val();
                    self.draining.d.next = self.turn_draining.val();
                    self.state.d.next = SegmenterState::Index;
                }
            }
            SegmenterState::Index => {
                self.row_kept.d.next = 4.into();
                self.wqe_kept.d.next = 8.into();
                self.standing.d.next = self.not_yet.val();
                self.state.d.next = SegmenterState::Offset;
            }
            SegmenterState::Offset => {
                if self.standing.q.val() {
                    self.standing.d.next = self.not_yet.val();
                    self.row_kept.d.next = self.row_kept.q.val();
                    self.wqe_kept.d.next = self.wqe_kept.q.val();
                } else {
                    self.row_kept.d.next = 0.into();
                    self.wqe_kept.d.next = 12.into();
                    self.ack_read.next = true;
                    self.service.d.next = self.row_word.val().get_bits::<3>(0);
                    self.pmtu.d.next = self.row_word.val().get_bits::<3>(3);
                    self.word0.d.next = self.wqe_word.val().get_bits::<10>(0);
                    if self.spoilt.q.val() | self.wqe_spoilt.val() {
                        self.word0.d.next = 0x3ff.into();
                    }
                    self.in_psn.d.next = true;
                    self.state.d.next = SegmenterState::Psn;
                }
            }
            SegmenterState::Psn => {
                self.row_kept.d.next = (bit_cast::<5, 3>(self.row_word.val().get_bits::<3>(0)) << 1) | 16;
                self.wqe_kept.d.next = 6.into();
                self.oldest.d.next = self.ack_data.val().get_bits::<16>(0);
                self.next_wqe.d.next = self.row_word.val().get_bits::<16>(0);
                self.begun.d.next = self.row_word.val().get_bits::<16>(16);
                self.fresh.d.next = self.row_word.val().get_bits::<16>(0) == self.row_word.val().get_bits::<16>(16);
                self.second.d.next = false;
                self.changed.d.next = false;
                self.cut.count_one.next = true;
                self.state.d.next = SegmenterState::RecordA;
            }
            SegmenterState::RecordA => {
                self.row_kept.d.next = self.record_b.val();
                self.wqe_kept.d.next = 1.into();
                self.state.d.next = SegmenterState::RecordB;
            }
            SegmenterState::RecordB => {
                self.row_kept.d.next = 2.into();
                self.wqe_kept.d.next = 7.into();
                self.ack_read.next = true;
                self.ack_item.next = false;
                self.psn.d.next = self.row_word.val().get_bits::<24>(0);
                self.alone.d.next = self.row_word.val().get_bit(24);
                self.loads_low.d.next = true;
                self.state.d.next = SegmenterState::Highest;
            }
            SegmenterState::Highest => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                self.distance.d.next = self.psn.q.val() - self.ack_data.val().get_bits::<24>(0);
                // R66: opcode and, at its first packet, PSN.
                if !self.fresh.q.val() {
                    self.changed.d.next = (self.row_word.val().get_bits::<4>(24) != self.word0.q.val().get_bits::<4>(0))
                        | (self.first.q.val() & (self.row_word.val().get_bits::<24>(0) != self.psn.q.val()));
                }
                self.standing.d.next = self.wqe_partial.val();
                self.state.d.next = SegmenterState::Domain;
            }
            SegmenterState::Domain => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                // R66: length.
                self.length_changed.d.next = !self.fresh.q.val() & (self.row_word.val() != self.wqe_word.val());
                self.add_carry.d.next = true;
                self.loads_high.d.next = !self.standing.q.val();
                self.in_hold.d.next = !self.standing.q.val();
                self.state.d.next = SegmenterState::Hold;
                if self.standing.q.val() {
                    self.standing.d.next = self.wqe_partial.val();
                    self.state.d.next = SegmenterState::Domain;
                }
            }
            SegmenterState::Hold => {
                self.far_near.d.next = self.row_word.val().get_bits::<6>(26).any()
                    & (self.distance.q.val().get_bits::<6>(0) >= self.row_word.val().get_bits::<6>(26));
                self.newest.d.next = self.row_word.val().get_bits::<24>(0) == self.psn.q.val();
                self.mid_message.d.next = self.row_word.val().get_bit(24);
                self.selective.d.next = self.row_word.val().get_bit(25);
                self.window.d.next = self.row_word.val().get_bits::<6>(26);
                self.in_judge.d.next = true;
                self.standing.d.next = true;
                self.state.d.next = SegmenterState::Judge;
            }
            SegmenterState::Judge => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 10.into();
                self.key_kept.d.next = self.wqe_word.val();
                self.pd_kept.d.next = self.row_word.val().get_bits::<16>(0);
                self.abandoned.d.next = false;
                self.leaving.d.next = EndOfTurn::Park;
                self.status.d.next = 2.into();
                self.start.next = self.goes.val() & (self.checks.val() | self.goes_at_once.val());
                self.key_start.next = self.goes.val() & self.checks.val();
                self.in_key_wait.d.next = self.goes.val() & self.checks.val();
                self.checking.d.next = self.goes.val() & self.checks.val();
                self.holding.d.next = self.goes.val() & self.checks.val();
                if self.bad_length.q.val() & !self.bad_operation.q.val() & !self.broken.q.val() {
                    self.status.d.next = 1.into();
                }
                self.in_leave.d.next = self.waits.q.val() | self.window_full.val() | self.passed.q.val();
                self.in_issued.d.next = self.goes.val() & self.goes_at_once.val();
                self.between.d.next =
                    self.waits.q.val() | self.window_full.val() | self.passed.q.val() | (self.goes.val() & self.goes_at_once.val());
                if self.waits.q.val() | self.window_full.val() | self.passed.q.val() {
                    // A new message has to wait, or nothing is to be sent.
                    self.state.d.next = SegmenterState::Leave;
                } else if self.broken.q.val() | self.bad_operation.q.val() | self.bad_length.q.val() {
                    self.state.d.next = SegmenterState::Refuse;
                } else if self.scan_due.q.val() {
                    self.state.d.next = SegmenterState::Scan;
                } else if self.count_due.q.val() {
                    self.state.d.next = SegmenterState::Count;
                } else if self.checks.val() {
                    self.state.d.next = SegmenterState::KeyWait;
                } else if self.from_memory.q.val() {
                    self.second.d.next = true;
                    self.state.d.next = SegmenterState::Low;
                } else if self.goes_at_once.val() {
                    self.state.d.next = SegmenterState::Issued;
                } else {
                    self.state.d.next = SegmenterState::Pace;
                }
                if self.passed.q.val() {
                    self.leaving.d.next = self.way_back.val();
                }
                self.returns.d.next = self.passed.q.val();
            }
            SegmenterState::Scan => {
                self.row_kept.d.next = 11.into();
                self.scan.d.next = self.oldest.q.val().get_bits::<3>(0);
                self.scan_left.d.next = self.since.q.val().get_bits::<3>(0);
                self.total.d.next = 0.into();
                self.state.d.next = SegmenterState::ScanWait;
            }
            SegmenterState::ScanWait => {
                self.row_kept.d.next = 11.into();
                self.state.d.next = SegmenterState::ScanFirst;
            }
            SegmenterState::ScanFirst => {
                self.row_kept.d.next = self.scanned_record.val() | 16;
                self.state.d.next = SegmenterState::ScanLoop;
            }
            SegmenterState::ScanLoop => {
                self.row_kept.d.next = self.scanned_next.val() | 16;
                // The limit comes first, and stays once it has come.
                if !self.scan_now.q.val() {
                    self.limit.d.next = self.row_word.val().get_bits::<5>(11);
                }
                if self.scan_left.q.val().any() {
                    self.scan.d.next = self.scan.q.val() + 1;
                    self.scan_left.d.next = self.scan_left.q.val() - 1;
                    self.scan_soon.d.next = true;
                } else {
                    if !self.scan_soon.q.val() {
                        self.in_scan_end.d.next = true;
                        self.state.d.next = SegmenterState::ScanEnd;
                    }
                }
            }
            SegmenterState::ScanEnd => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                self.scanned.d.next = true;
                self.state.d.next = SegmenterState::Again;
                self.leaving.d.next = EndOfTurn::Park;
                self.status.d.next = 2.into();
                if self.check.fence.val() {
                    // All answered; their bytes may still be on their way to memory.
                    self.state.d.next = SegmenterState::Landing;
                    if self.total.q.val().any() {
                        self.in_leave.d.next = true;
                        self.between.d.next = true;
                        self.state.d.next = SegmenterState::Leave;
                    }
                }
                // R59. With nothing outstanding the limit must be 0: it can never go.
                if self.wide.q.val() & (self.outstanding.val() >= self.limit.q.val()) {
                    self.in_leave.d.next = false;
                    self.between.d.next = false;
                    self.state.d.next = SegmenterState::Refuse;
                }
            }
            SegmenterState::Landing => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                if self.landing_clear.val() {
                    self.state.d.next = SegmenterState::Again;
                    if self.failing_write.val() {
                        // Another turn, behind the change of state.
                        self.leaving.d.next = EndOfTurn::Packet;
                        self.in_leave.d.next = true;
                        self.between.d.next = true;
                        self.state.d.next = SegmenterState::Leave;
                    }
                }
            }
            SegmenterState::Pace => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                if !self.pace.full.val() {
                    self.state.d.next = SegmenterState::Again;
                }
            }
            SegmenterState::Count => {
                self.cut.count_load.next = true;
                self.ack_read.next = true;
                self.ack_item.next = false;
                self.halvings.d.next = self.pmtu.q.val() - 1;
                self.state.d.next = SegmenterState::CountFirst;
            }
            SegmenterState::CountFirst => {
                self.distance.d.next = self.psn.q.val() - self.ack_data.val().get_bits::<24>(0);
                self.state.d.next = SegmenterState::CountLoop;
            }
            SegmenterState::CountLoop => {
                if self.halvings.q.val().any() {
                    self.cut.count_halve.next = true;
                    self.halvings.d.next = self.halvings.q.val() - 1;
                } else {
                    self.cut.count_round.next = true;
                    self.state.d.next = SegmenterState::CountEnd;
                }
            }
            SegmenterState::CountEnd => {
                self.reach_kept.d.next = self.reach.val().get_bits::<2>(23);
                self.cut.count_one.next = !self.check.read.val();
                self.state.d.next = SegmenterState::CountCheck;
            }
            SegmenterState::CountCheck => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                self.counted.d.next = true;
                self.status.d.next = 1.into();
                self.state.d.next = SegmenterState::Again;
                // R75.
                if self.fresh.q.val() & self.reach_kept.q.val().any() {
                    self.state.d.next = SegmenterState::Refuse;
                }
            }
            SegmenterState::Again => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                self.state.d.next = SegmenterState::AgainHold;
            }
            SegmenterState::AgainHold => {
                self.in_judge.d.next = true;
                self.standing.d.next = true;
                self.state.d.next = SegmenterState::Judge;
            }
            SegmenterState::Low => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 7.into();
                if self.second.q.val() {
                    self.wqe_kept.d.next = 11.into();
                }
                self.state.d.next = SegmenterState::High;
            }
            SegmenterState::High => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                if self.second.q.val() {
                    self.wqe_kept.d.next = 13.into();
                }
                if self.second.q.val() {
                    self.add_nothing.d.next = true;
                    self.add_rest.d.next = !self.split.q.val();
                }
                self.loads_low.d.next = true;
                self.state.d.next = SegmenterState::Key;
            }
            SegmenterState::Key => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 9.into();
                if self.second.q.val() {
                    self.wqe_kept.d.next = 13.into();
                }
                self.add_carry.d.next = true;
                self.loads_high.d.next = true;
                self.state.d.next = SegmenterState::KeyHold;
            }
            SegmenterState::KeyHold => {
                self.standing.d.next = true;
                self.state.d.next = SegmenterState::Ask;
            }
            SegmenterState::Ask => {
                self.key_kept.d.next = self.wqe_word.val();
                self.pd_kept.d.next = self.row_word.val().get_bits::<16>(0);
                self.key_start.next = true;
                self.standing.d.next = true;
                self.in_key_wait.d.next = true;
                self.state.d.next = SegmenterState::KeyWait;
            }
            SegmenterState::KeyWait => {
                // What asks for the words again stands still with them.
                self.standing.d.next = self.standing.q.val() & !self.key_done.val();
                self.in_key_wait.d.next = !self.key_done.val();
                self.status.d.next = 4.into();
                if self.key_done.val() {
                    self.checking.d.next = false;
                    self.holding.d.next = false;
                    self.abandoned.d.next = self.checking.q.val() & !self.key_ok.val();
                    self.state.d.next = SegmenterState::Refuse;
                    if self.key_ok.val() {
                        self.paged.d.next = self.key_paged.val();
                        if self.second.q.val() & self.split.q.val() {
                            self.in_spill_low.d.next = true;
                            self.state.d.next = SegmenterState::SpillLow;
                        } else {
                            self.job_open.d.next = true;
                            self.job_more.d.next = self.split.q.val();
                            self.holding.d.next = self.split.q.val();
                            self.start.next = !self.checking.q.val();
                            self.in_issued.d.next = true;
                            self.between.d.next = true;
                            self.state.d.next = SegmenterState::Issued;
                        }
                    }
                }
            }
            SegmenterState::SpillLow => {
                self.in_spill_high.d.next = true;
                self.other_paged.d.next = self.paged.q.val();
                self.second.d.next = false;
                self.state.d.next = SegmenterState::SpillHigh;
            }
            SegmenterState::SpillHigh => {
                self.row_kept.d.next = 9.into();
                self.wqe_kept.d.next = 6.into();
                self.state.d.next = SegmenterState::Low;
            }
            SegmenterState::Issued => {
                self.in_issued.d.next = !self.ends.val();
                self.between.d.next = !self.ends.val() | !self.alone.q.val();
                if self.ends.val() {
                    self.resting.d.next = !self.order_valid.val();
                    self.state.d.next = SegmenterState::Idle;
                    if self.alone.q.val() {
                        self.resting.d.next = false;
                        self.state.d.next = SegmenterState::Resume;
                    }
                }
            }
            SegmenterState::Refuse => {
                // Only the oldest uncompleted WQE fails; before that there is something to wait for.
                self.leaving.d.next = EndOfTurn::Park;
                if self.since.q.val().get_bit(15) {
                    self.leaving.d.next = EndOfTurn::Clear;
                }
                if !self.since.q.val().any() {
                    self.leaving.d.next = EndOfTurn::Stop;
                    self.failing.d.next = true;
                }
                self.in_leave.d.next = true;
                self.between.d.next = true;
                self.state.d.next = SegmenterState::Leave;
            }
            SegmenterState::Leave => {
                self.in_leave.d.next = !self.end_ready.val();
                self.between.d.next = !self.end_ready.val() | !self.returns.q.val();
                if self.end_ready.val() {
                    self.resting.d.next = self.follows.val() & !self.order_valid.val();
                    self.state.d.next = SegmenterState::Idle;
                    if self.returns.q.val() {
                        self.resting.d.next = false;
                        self.state.d.next = SegmenterState::Resume;
                    }
                }
            }
            SegmenterState::Resume => {
                // The row is read again, so the words must have gone.
                self.at.d.next = self.who.q.val();
                if self.words.flushed.val() & self.writes.idle.val() {
                    self.writes.resume.next = true;
                    self.state.d.next = SegmenterState::Resumed;
                }
            }
            SegmenterState::Resumed => {
                if self.writes.idle.val() {
                    self.between.d.next = true;
                    self.state.d.next = SegmenterState::Idle;
                }
            }
            _ => {
                self.between.d.next = true;
                self.state.d.next = SegmenterState::Idle;
            }
        }
        // R69: the WQE's first word was asked for before the error.
        self.spoilt.d.next = self.wqe_spoilt.val() | (self.spoilt.q.val() & (self.state.q.val() != SegmenterState::Idle));
        self.loading.next = (self.state.q.val() == SegmenterState::Psn)
            | (self.state.q.val() == SegmenterState::RecordA)
            | (self.state.q.val() == SegmenterState::RecordB)
            | (self.state.q.val() == SegmenterState::Highest)
            | (self.state.q.val() == SegmenterState::Domain);
        if self.wqe_spoilt.val() & self.loading.val() {
            self.word0.d.next = 0x3ff.into();
        }
        self.arming.push.next = self.arms.val();
        self.arming.index.next = self.who.q.val();
        self.arming.arm_ready.next = self.arm_ready.val();

        // Words of the row that are written between turns.
        self.writes.issue.next = self.issue.val();
        self.writes.index.next = self.who.q.val();
        self.writes.order_index.next = self.order_index.val();
        self.row_write_index.next = self.writes.write_index.val();
        self.writes.fresh.next = self.fresh.q.val();
        self.writes.last.next = self.last.val();
        self.writes.newest.next = self.newest.q.val();
        self.writes.selective.next = self.selective.q.val();
        self.writes.window.next = self.window.q.val();
        self.writes.resume_wqe.next = self.resume_to.q.val();
        self.writes.mid_message.next = self.mid_message.q.val();
        self.writes.next_wqe.next = self.next_wqe.q.val();
        self.writes.begun.next = self.begun.q.val();
        self.writes.psn_after.next = self.after_kept.q.val();
        self.writes.next_offset.next = self.cut.next_offset.val();
        self.writes.order.next = self.order.val();
        self.writes.order_valid.next = self.order_valid.val();
        self.order_done.next = self.writes.order_done.val();
        self.writes.rewind_psn.next = self.rewind_psn.val();
        self.writes.rewind_wqe.next = self.rewind_wqe.val();
        self.writes.rewind_offset.next = self.rewind_offset.val();
        self.writes.rewind_alone.next = self.rewind_alone.val();
        self.writes.tracker_wqe.next = self.tracker_wqe.val();
        self.writes.row_word.next = self.row_word.val();
        self.words.stand.next = self.standing.q.val();
        self.starting.d.next = self.start.val();
        self.script.start.next = self.starting.q.val();
        self.pace.sent.next = self.starting.q.val() & self.wide.q.val();

        self.turn_take.next = self.take.val();
        self.idle.next = self.resting.q.val() & self.words.flushed.val() & self.writes.idle.val();
        self.index.next = self.who.q.val();
        self.row_index.next = self.at.q.val();
        self.wqe_slot.next = self.at_slot.q.val();
        self.key.next = self.key_kept.q.val();
        self.key_pd.next = self.pd_kept.q.val();
        self.key_length.next = bit_cast::<32, 14>(self.cut.piece.val());
        self.key_va.next = bit_cast::<64, 32>(self.place.low.val()) | (bit_cast::<64, 32>(self.place.high.val()) << 32);
        self.job_paged.next = self.paged.q.val();
        self.job_address.next = bit_cast::<64, 32>(self.place.placed_low.val()) | (bit_cast::<64, 32>(self.place.placed_high.val()) << 32);
        self.job_length.next = self.cut.piece.val();
        self.job_last.next = !self.job_more.q.val();
        self.job_valid.next = self.job_open.q.val();
        self.pushing.d.next = self.pushes.val();
        self.tracker_push.next = self.pushing.q.val();
        self.tracker_report.next = self.last.val() & !self.check.reliable.val();
        self.tracker_payload.next = self.from_memory.q.val();
        self.wqe.next = self.next_wqe.q.val();
        self.arm_valid.next = self.arming.arm_valid.val();
        self.arm_index.next = self.arming.arm_index.val();
        self.fail_valid.next = self.failing.q.val();
        self.fail_status.next = bit_cast::<8, 3>(self.status.q.val());

        if self.reset.val() {
            self.state.d.next = SegmenterState::Idle;
            self.resting.d.next = true;
            self.row_kept.d.next = 8.into();
            self.wqe_kept.d.next = 0.into();
            self.job_open.d.next = false;
            self.job_more.d.next = false;
            self.spoilt.d.next = false;
            self.checking.d.next = false;
            self.holding.d.next = false;
            self.abandoned.d.next = false;
            self.standing.d.next = false;
            self.in_psn.d.next = false;
            self.in_key_wait.d.next = false;
            self.in_scan_end.d.next = false;
            self.in_issued.d.next = false;
            self.in_leave.d.next = false;
            self.between.d.next = true;
            self.starting.d.next = false;
            self.pushing.d.next = false;
            self.in_hold.d.next = false;
            self.in_judge.d.next = false;
            self.in_spill_low.d.next = false;
            self.in_spill_high.d.next = false;
            self.failing.d.next = false;
        }
    }

    crate::block_name!();
}
