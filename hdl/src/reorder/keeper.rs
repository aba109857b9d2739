// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which early packets are held, for whom, and what comes of it: the reorder station's state machine.
//!
//! ```text
//!                    ┌─► hold: judge ─► commit ─► reply
//!  work ─► row ─► map┼─► check: next PSN held ─► take ─► load ─► show      no: gap far ─► load ─► probe
//!                    │                                              └─► ahead: the one behind it held ─► load ─► its turn: take, show
//!                    │                                                     not held: gap far ─► load ─► its turn: probe
//!                    ├─► walk: a QP's life ends, or its ePSN jumped: release
//!                    ├─► scan: hole old ─► load ─► probe
//!                    └─► evict: the oldest, when the ring needs the room
//! ```
//!
//! Of each QP, two words by its index (one writer, here):
//!
//! | word | holds |
//! |---|---|
//! | 0 | [6:0] packets held, [12:7] window, [18:13] PSN mod 64 of the farthest, [19] the hole's age runs, [35:20] time at which it is a loss |
//! | 1 | [5:0] nak_distance, [17:6] nak_delay, as the QP's row had them |
//!
//! A QP that holds something has one of `2^WA` windows: 64 map entries by PSN mod 64, [6] held, [5:0] slot.
//!
//! While control is at a held packet the one behind it is looked up and loaded (*ahead*), so that it is shown as soon as control is done; behind the last one, the probe that
//! answers the gap. If something else is to be done meanwhile, or control takes long, or didn't move ePSN by one, that was in vain, and the check begins from the row.
//!
//! A *probe* is a held packet's head that control is shown only to answer the gap (R23, R24): it stays held.

use super::FreeList;
use crate::prim::SplitRam;
use rust_hdl::prelude::*;
use verbena_spec::counters;
use verbena_spec::layout::state;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum KeeperState {
    Clear,
    Idle,
    Read,
    Got,
    Key,
    Hit,
    Pick,
    Judge,
    Commit,
    Reply,
    Take,
    Gap,
    GapJudge,
    Load,
    Loading,
    Show,
    WalkShown,
    WalkRead,
    WalkGot,
    WalkPick,
    WalkDrop,
    WalkEnd,
    EvictLoad,
    EvictRow,
    EvictDrop,
    AheadRead,
    AheadGot,
    AheadPick,
    AheadLoading,
    AheadReady,
    AheadJudge,
    AheadTake,
    AheadProbe,
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum KeeperWork {
    Hold,
    Check,
    Walk,
    Scan,
    Probe,
    Evict,
}

/// Times that a QP's packets may be what is free.
const SHARE_LOG: u64 = 2;

/// `RA` must be `QA + 1`, `WB` `WA + 1`, `MA` `WA + 6`; `C` one more than the larger of `RA` and `MA`.
#[derive(LogicBlock)]
pub struct Keeper<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub now: Signal<In, Bits<16>>,
    // The head that control sees, and what control says.
    pub head_index: Signal<In, Bits<QA>>,
    pub head_psn: Signal<In, Bits<24>>,
    pub head_next: Signal<In, Bit>,
    pub packet_busy: Signal<In, Bit>,
    pub packet_psn: Signal<In, Bits<24>>,
    pub packet_moved: Signal<In, Bit>,
    /// By more than one, perhaps: it was a READ or an ATOMIC.
    pub packet_jumped: Signal<In, Bit>,
    pub hold_valid: Signal<In, Bit>,
    pub hold_distance: Signal<In, Bits<24>>,
    pub hold_standing: Signal<In, Bit>,
    pub nak_distance: Signal<In, Bits<6>>,
    pub nak_delay: Signal<In, Bits<12>>,
    pub hold_done: Signal<Out, Bit>,
    pub hold_nak: Signal<Out, Bit>,
    pub hold_code: Signal<Out, Bits<6>>,
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<QA>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    /// The change was taken by all.
    pub state_taken: Signal<In, Bit>,
    /// The held head is shown; it is a probe; the received head isn't shown.
    pub shown: Signal<Out, Bit>,
    pub probing: Signal<Out, Bit>,
    pub blocked: Signal<Out, Bit>,
    // Slots.
    pub slot: Signal<In, Bits<6>>,
    pub slots_free: Signal<In, Bits<7>>,
    pub used: Signal<In, Bit>,
    pub oldest: Signal<In, Bits<6>>,
    /// The ring is fuller than what may be held.
    pub pressed: Signal<In, Bit>,
    pub take: Signal<Out, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_slot: Signal<Out, Bits<6>>,
    pub done_ready: Signal<In, Bit>,
    // Heads.
    pub store: Signal<Out, Bit>,
    pub storing: Signal<In, Bit>,
    pub load: Signal<Out, Bit>,
    pub load_slot: Signal<Out, Bits<6>>,
    pub loading: Signal<In, Bit>,
    pub advance: Signal<Out, Bit>,
    pub held_index: Signal<In, Bits<QA>>,
    pub held_psn: Signal<In, Bits<24>>,
    pub held_slot: Signal<In, Bits<6>>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    rows: SplitRam<RA, 36>,
    map: SplitRam<MA, 7>,
    windows: FreeList<WA, WB>,
    step: DFF<KeeperState>,
    work: DFF<KeeperWork>,
    clear: DFF<Bits<C>>,
    index: DFF<Bits<QA>>,
    psn: DFF<Bits<6>>,
    // Row.
    count: DFF<Bits<7>>,
    window_kept: DFF<Bits<6>>,
    farthest: DFF<Bits<6>>,
    ages: DFF<Bit>,
    deadline: DFF<Bits<16>>,
    distance: DFF<Bits<6>>,
    delay: DFF<Bits<12>>,
    // Map.
    hit: DFF<Bit>,
    hit_slot: DFF<Bits<6>>,
    // Judgement.
    beyond: DFF<Bit>,
    far: DFF<Bit>,
    fair: DFF<Bit>,
    further: DFF<Bit>,
    /// ePSN, and how far the farthest is after it; a cycle apart.
    behind: DFF<Bits<6>>,
    ahead: DFF<Bits<6>>,
    expired: DFF<Bit>,
    due: DFF<Bits<16>>,
    accept: DFF<Bit>,
    /// Held already: this one is held instead, and the other's slot is done.
    replace: DFF<Bit>,
    /// The head that was loaded is shown from the next cycle on.
    advances: DFF<Bit>,
    nak: DFF<Bit>,
    /// The head is on its way into the next slot.
    stored: DFF<Bit>,
    code: DFF<Bits<6>>,
    // After a packet.
    checking: DFF<Bit>,
    check_index: DFF<Bits<QA>>,
    check_psn: DFF<Bits<24>>,
    /// PSNs that the packet moved ePSN by, and one less.
    check_moved: DFF<Bits<24>>,
    check_jump: DFF<Bits<24>>,
    jumped: DFF<Bit>,
    shown_kept: DFF<Bit>,
    probing_kept: DFF<Bit>,
    blocked_kept: DFF<Bit>,
    probe_waits: DFF<Bit>,
    load_probe: DFF<Bit>,
    state_done: DFF<Bit>,
    walk_left: DFF<Bits<7>>,
    passing: DFF<Bit>,
    scan: DFF<Bits<QA>>,
    event_waits: DFF<Bit>,
    event_kept: DFF<Bits<6>>,
    over: Signal<Local, Bit>,
    dead: Signal<Local, Bit>,
    wants_release: Signal<Local, Bit>,
    key: Signal<Local, Bits<6>>,
    row_item: Signal<Local, Bits<RA>>,
    map_address: Signal<Local, Bits<MA>>,
    row_write: Signal<Local, Bit>,
    write_kept: DFF<Bit>,
    address_kept: DFF<Bits<RA>>,
    data_kept: DFF<Bits<36>>,
    /// A place of the map is written.
    put_kept: DFF<Bit>,
    put_address_kept: DFF<Bits<MA>>,
    put_data_kept: DFF<Bits<7>>,
    put: Signal<Local, Bit>,
    put_address: Signal<Local, Bits<MA>>,
    put_data: Signal<Local, Bits<7>>,
    /// Window of the packet that is to be held.
    commit_window: Signal<Local, Bits<6>>,
    standing: DFF<Bit>,
    row_count: Signal<Local, Bits<7>>,
    row_window: Signal<Local, Bits<6>>,
    row_farthest: Signal<Local, Bits<6>>,
    row_ages: Signal<Local, Bit>,
    row_deadline: Signal<Local, Bits<16>>,
    less: Signal<Local, Bits<7>>,
    more: Signal<Local, Bits<7>>,
    age: Signal<Local, Bits<16>>,
    share: Signal<Local, Bits<9>>,
    accepts: Signal<Local, Bit>,
    lost: Signal<Local, Bit>,
    dispose: Signal<Local, Bit>,
    /// What was loaded ahead has its turn.
    ahead_goes: Signal<Local, Bit>,
    /// One is held: the last leaves. `count` stands for some cycles before it counts.
    single: DFF<Bit>,
    top: Constant<Bits<C>>,
    share_log: Constant<Bits<4>>,
    in_reset: Constant<Bits<3>>,
    in_init: Constant<Bits<3>>,
    in_err: Constant<Bits<3>>,
    code_later: Constant<Bits<6>>,
    code_sequence: Constant<Bits<6>>,
    code_silent: Constant<Bits<6>>,
    code_held: Constant<Bits<6>>,
    code_full: Constant<Bits<6>>,
    code_again: Constant<Bits<6>>,
    code_released: Constant<Bits<6>>,
    window_size: Constant<Bits<7>>,
    beyond_window: Constant<Bits<24>>,
}

impl<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize> Default
    for Keeper<QA, RA, WA, WB, MA, C>
{
    fn default() -> Self {
        assert!(
            RA == QA + 1 && WB == WA + 1 && MA == WA + 6 && C == 1 + if RA > MA { RA } else { MA } && WA <= 6,
            "Keeper: widths disagree"
        );
        let code = |code: u8| Constant::new((code as u64).to_bits());
        let state = |n: u32| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            now: Default::default(),
            head_index: Default::default(),
            head_psn: Default::default(),
            head_next: Default::default(),
            packet_busy: Default::default(),
            packet_psn: Default::default(),
            packet_moved: Default::default(),
            packet_jumped: Default::default(),
            hold_valid: Default::default(),
            hold_distance: Default::default(),
            hold_standing: Default::default(),
            nak_distance: Default::default(),
            nak_delay: Default::default(),
            hold_done: Default::default(),
            hold_nak: Default::default(),
            hold_code: Default::default(),
            state_valid: Default::default(),
            state_index: Default::default(),
            state: Default::default(),
            state_ready: Default::default(),
            state_taken: Default::default(),
            shown: Default::default(),
            probing: Default::default(),
            blocked: Default::default(),
            slot: Default::default(),
            slots_free: Default::default(),
            used: Default::default(),
            oldest: Default::default(),
            pressed: Default::default(),
            take: Default::default(),
            done_valid: Default::default(),
            done_slot: Default::default(),
            done_ready: Default::default(),
            store: Default::default(),
            storing: Default::default(),
            load: Default::default(),
            load_slot: Default::default(),
            loading: Default::default(),
            advance: Default::default(),
            held_index: Default::default(),
            held_psn: Default::default(),
            held_slot: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            rows: Default::default(),
            map: Default::default(),
            windows: Default::default(),
            step: Default::default(),
            work: Default::default(),
            clear: Default::default(),
            index: Default::default(),
            psn: Default::default(),
            count: Default::default(),
            window_kept: Default::default(),
            farthest: Default::default(),
            ages: Default::default(),
            deadline: Default::default(),
            distance: Default::default(),
            delay: Default::default(),
            hit: Default::default(),
            hit_slot: Default::default(),
            beyond: Default::default(),
            far: Default::default(),
            fair: Default::default(),
            further: Default::default(),
            expired: Default::default(),
            due: Default::default(),
            accept: Default::default(),
            replace: Default::default(),
            advances: Default::default(),
            nak: Default::default(),
            stored: Default::default(),
            code: Default::default(),
            checking: Default::default(),
            check_index: Default::default(),
            check_psn: Default::default(),
            check_moved: Default::default(),
            check_jump: Default::default(),
            jumped: Default::default(),
            shown_kept: Default::default(),
            probing_kept: Default::default(),
            blocked_kept: Default::default(),
            probe_waits: Default::default(),
            load_probe: Default::default(),
            state_done: Default::default(),
            walk_left: Default::default(),
            passing: Default::default(),
            scan: Default::default(),
            event_waits: Default::default(),
            event_kept: Default::default(),
            over: Default::default(),
            dead: Default::default(),
            wants_release: Default::default(),
            key: Default::default(),
            row_item: Default::default(),
            map_address: Default::default(),
            row_write: Default::default(),
            write_kept: Default::default(),
            address_kept: Default::default(),
            data_kept: Default::default(),
            put_kept: Default::default(),
            put_address_kept: Default::default(),
            put_data_kept: Default::default(),
            put: Default::default(),
            put_address: Default::default(),
            put_data: Default::default(),
            commit_window: Default::default(),
            standing: Default::default(),
            row_count: Default::default(),
            row_window: Default::default(),
            row_farthest: Default::default(),
            row_ages: Default::default(),
            row_deadline: Default::default(),
            less: Default::default(),
            more: Default::default(),
            age: Default::default(),
            behind: Default::default(),
            ahead: Default::default(),
            share: Default::default(),
            accepts: Default::default(),
            lost: Default::default(),
            dispose: Default::default(),
            ahead_goes: Default::default(),
            single: Default::default(),
            top: Constant::new((1u64 << (C - 1)).to_bits()),
            share_log: Constant::new(SHARE_LOG.to_bits()),
            in_reset: state(state::RESET),
            in_init: state(state::INIT),
            in_err: state(state::ERR),
            code_later: code(counters::LATER),
            code_sequence: code(counters::OUT_OF_SEQUENCE),
            code_silent: code(counters::OUT_OF_SEQUENCE_SILENT),
            code_held: code(counters::REORDER_HELD),
            code_full: code(counters::REORDER_FULL),
            code_again: code(counters::REORDER_DUPLICATE),
            code_released: code(counters::REORDER_RELEASED),
            window_size: Constant::new(64u64.to_bits()),
            beyond_window: Constant::new(0xff_ffc0u64.to_bits()),
        }
    }
}

impl<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize> Logic
    for Keeper<QA, RA, WA, WB, MA, C>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            work,
            clear,
            index,
            psn,
            count,
            window_kept,
            farthest,
            ages,
            deadline,
            distance,
            delay
        );
        dff_setup!(
            self, clock, hit, hit_slot, beyond, far, fair, further, expired, due, accept, replace, advances, nak, stored, code, checking
        );
        dff_setup!(
            self,
            clock,
            check_index,
            check_psn,
            check_jump,
            jumped,
            single,
            write_kept,
            address_kept,
            data_kept,
            put_kept,
            put_address_kept,
            put_data_kept,
            standing,
            shown_kept,
            probing_kept,
            blocked_kept,
            probe_waits,
            load_probe
        );
        dff_setup!(
            self,
            clock,
            behind,
            ahead,
            check_moved,
            state_done,
            walk_left,
            passing,
            scan,
            event_waits,
            event_kept
        );
        clock!(self, clock, rows, map, windows);
        self.windows.reset.next = self.reset.val();

        self.over.next = self.clear.q.val() == self.top.val();
        self.ready.next = self.over.val() & self.windows.ready.val();
        self.shown.next = self.shown_kept.q.val();
        self.probing.next = self.probing_kept.q.val();
        self.blocked.next = self.blocked_kept.q.val();
        self.hold_done.next = false;
        self.hold_nak.next = self.nak.q.val();
        self.hold_code.next = self.code.q.val();
        self.take.next = false;
        self.store.next = false;
        self.load.next = false;
        self.advance.next = self.advances.q.val();
        self.advances.d.next = false;
        self.load_slot.next = self.hit_slot.q.val();
        self.done_valid.next = false;
        self.done_slot.next = self.hit_slot.q.val();
        self.event_valid.next = self.event_waits.q.val();
        self.event_code.next = self.event_kept.q.val();
        if self.event_ready.val() {
            self.event_waits.d.next = false;
        }

        // A QP whose life ends releases what it holds before anybody is told.
        self.dead.next =
            (self.state.val() == self.in_reset.val()) | (self.state.val() == self.in_init.val()) | (self.state.val() == self.in_err.val());
        self.wants_release.next = self.state_valid.val() & self.dead.val() & self.used.val() & !self.state_done.q.val();
        self.state_ready.next = !self.dead.val() | !self.used.val() | self.state_done.q.val();
        if self.state_taken.val() | !self.state_valid.val() {
            self.state_done.d.next = false;
        }

        // RAMs.
        self.row_item.next = bit_cast::<RA, QA>(self.index.q.val()) << 1;
        self.rows.read_enable.next = true;
        self.rows.read_address.next = self.row_item.val();
        if self.step.q.val() == KeeperState::Got {
            self.rows.read_address.next = self.row_item.val() | 1;
        }
        self.key.next = self.psn.q.val();
        if (self.work.q.val() == KeeperWork::Scan) | (self.work.q.val() == KeeperWork::Probe) {
            self.key.next = self.farthest.q.val();
        }
        self.map.read_enable.next = true;
        self.map_address.next = bit_cast::<MA, 6>(self.key.val()) | (bit_cast::<MA, 6>(self.window_kept.q.val()) << 6);
        self.map.read_address.next = self.map_address.val();
        self.put.next = false;
        self.put_address.next = self.map_address.val();
        self.put_data.next = 0.into();
        self.row_write.next = false;
        self.row_count.next = self.count.q.val();
        self.row_window.next = self.window_kept.q.val();
        self.commit_window.next = self.window_kept.q.val();
        if !self.count.q.val().any() {
            self.commit_window.next = bit_cast::<6, WA>(self.windows.number.val());
        }
        self.row_farthest.next = self.farthest.q.val();
        self.row_ages.next = self.ages.q.val();
        self.row_deadline.next = self.deadline.q.val();
        self.windows.take.next = false;
        self.windows.give.next = false;
        self.windows.given.next = self.window_kept.q.val().get_bits::<WA>(0);
        self.less.next = self.count.q.val() - 1;
        self.more.next = self.count.q.val() + 1;

        // Numbers that the steps use a cycle later.
        self.age.next = self.now.val() - self.deadline.q.val();
        self.expired.d.next = self.ages.q.val() & !self.age.val().get_bit(15);
        // How far the farthest is ahead: of ePSN, which is the packet's distance before its PSN.
        self.behind.d.next = self.psn.q.val();
        self.due.d.next = self.now.val() + bit_cast::<16, 12>(self.delay.q.val()) + 1;
        self.standing.d.next = self.hold_standing.val();
        self.far.d.next = self.hold_distance.val().get_bits::<6>(0) > self.nak_distance.val();
        if self.work.q.val() == KeeperWork::Hold {
            self.behind.d.next = self.psn.q.val() - self.hold_distance.val().get_bits::<6>(0);
        }
        self.ahead.d.next = self.farthest.q.val() - self.behind.q.val();
        if self.work.q.val() != KeeperWork::Hold {
            self.far.d.next = self.ahead.q.val() > self.distance.q.val();
        }
        self.further.d.next = !self.count.q.val().any() | (self.hold_distance.val().get_bits::<6>(0) > self.ahead.q.val());
        self.beyond.d.next = (self.hold_distance.val() & self.beyond_window.val()).any();
        self.share.next = bit_cast::<9, 7>(self.slots_free.val()) << self.share_log.val();
        self.fair.d.next = self.slots_free.val().get_bits::<6>(1).any() & (bit_cast::<9, 7>(self.count.q.val()) < self.share.val());
        if !self.count.q.val().any() {
            self.fair.d.next = self.slots_free.val().any() & self.windows.any.val();
        }
        self.accepts.next = self.fair.q.val() & self.stored.q.val() & !self.beyond.q.val() & !self.shown_kept.q.val();
        self.lost.next = (self.beyond.q.val() | self.far.q.val() | self.expired.q.val() | self.shown_kept.q.val()) & !self.standing.q.val();
        self.single.d.next = !self.less.val().any();
        self.dispose.next = false;
        self.ahead_goes.next = false;

        // After a packet.
        self.check_jump.d.next = self.check_moved.q.val() - 1;
        self.jumped.d.next = self.check_jump.q.val().any();
        if self.head_next.val() {
            self.check_index.d.next = self.head_index.val();
            self.check_psn.d.next = self.packet_psn.val();
            self.check_moved.d.next = self.packet_psn.val() - self.head_psn.val();
            self.checking.d.next = self.packet_moved.val() & self.used.val();
            self.blocked_kept.d.next = (self.packet_moved.val() & self.used.val()) | self.probe_waits.q.val();
            self.shown_kept.d.next = false;
            self.probing_kept.d.next = false;
        }

        match self.step.q.val() {
            KeeperState::Clear => {
                self.clear.d.next = self.clear.q.val() + 1;
                if self.over.val() {
                    self.clear.d.next = self.clear.q.val();
                    self.step.d.next = KeeperState::Idle;
                }
            }
            KeeperState::Idle => {
                self.passing.d.next = false;
                self.walk_left.d.next = self.window_size.val();
                if self.used.val() & !self.probe_waits.q.val() {
                    self.work.d.next = KeeperWork::Scan;
                    self.index.d.next = self.scan.q.val();
                    self.step.d.next = KeeperState::Read;
                }
                if self.pressed.val() & !self.shown_kept.q.val() {
                    self.step.d.next = KeeperState::EvictLoad;
                    self.hit_slot.d.next = self.oldest.val();
                }
                // Control stands between two packets.
                if self.probe_waits.q.val() {
                    self.work.d.next = KeeperWork::Scan;
                    self.index.d.next = self.scan.q.val();
                    self.step.d.next = KeeperState::Idle;
                    if !self.packet_busy.val() & !self.shown_kept.q.val() & !self.head_next.val() {
                        self.step.d.next = KeeperState::Read;
                    }
                }
                if self.checking.q.val() {
                    self.work.d.next = KeeperWork::Check;
                    self.index.d.next = self.check_index.q.val();
                    self.psn.d.next = self.check_psn.q.val().get_bits::<6>(0);
                    self.step.d.next = KeeperState::Read;
                }
                if self.hold_valid.val() & !self.storing.val() {
                    self.work.d.next = KeeperWork::Hold;
                    self.index.d.next = self.head_index.val();
                    self.psn.d.next = self.head_psn.val().get_bits::<6>(0);
                    self.store.next = !self.shown_kept.q.val() & self.slots_free.val().any();
                    self.stored.d.next = self.slots_free.val().any();
                    self.step.d.next = KeeperState::Read;
                }
                if self.wants_release.val() {
                    self.work.d.next = KeeperWork::Walk;
                    self.index.d.next = self.state_index.val();
                    self.store.next = false;
                    self.step.d.next = KeeperState::Read;
                }
            }
            KeeperState::Read => self.step.d.next = KeeperState::Got,
            KeeperState::Got => {
                self.count.d.next = self.rows.read_data.val().get_bits::<7>(0);
                self.window_kept.d.next = self.rows.read_data.val().get_bits::<6>(7);
                self.farthest.d.next = self.rows.read_data.val().get_bits::<6>(13);
                self.ages.d.next = self.rows.read_data.val().get_bit(19);
                self.deadline.d.next = self.rows.read_data.val().get_bits::<16>(20);
                self.step.d.next = KeeperState::Key;
            }
            KeeperState::Key => {
                self.distance.d.next = self.rows.read_data.val().get_bits::<6>(0);
                self.delay.d.next = self.rows.read_data.val().get_bits::<12>(6);
                if self.work.q.val() == KeeperWork::Hold {
                    self.delay.d.next = self.nak_delay.val();
                }
                self.step.d.next = KeeperState::Hit;
                match self.work.q.val() {
                    KeeperWork::Check => {
                        if !self.count.q.val().any() {
                            self.checking.d.next = false;
                            self.blocked_kept.d.next = self.probe_waits.q.val();
                            self.step.d.next = KeeperState::Idle;
                        } else {
                            if self.jumped.q.val() {
                                // ePSN moved past PSNs that may be held: a broken peer's.
                                self.passing.d.next = true;
                                self.psn.d.next = self.psn.q.val() - self.check_jump.q.val().get_bits::<6>(0);
                                if !(self.check_jump.q.val() & self.beyond_window.val()).any() {
                                    self.walk_left.d.next = bit_cast::<7, 6>(self.check_jump.q.val().get_bits::<6>(0));
                                }
                                self.check_moved.d.next = 1.into();
                                self.step.d.next = KeeperState::WalkRead;
                            }
                        }
                    }
                    KeeperWork::Walk => {
                        self.psn.d.next = 0.into();
                        self.step.d.next = KeeperState::WalkRead;
                        if !self.count.q.val().any() {
                            self.state_done.d.next = true;
                            self.step.d.next = KeeperState::Idle;
                        }
                        if self.shown_kept.q.val() & !self.packet_busy.val() & (self.held_index.val() == self.index.q.val()) {
                            self.step.d.next = KeeperState::WalkShown;
                        }
                    }
                    _ => {}
                }
            }
            KeeperState::Hit => {
                self.hit.d.next = self.map.read_data.val().get_bit(6) & self.count.q.val().any();
                self.hit_slot.d.next = self.map.read_data.val().get_bits::<6>(0);
                self.load_probe.d.next = self.work.q.val() != KeeperWork::Check;
                self.step.d.next = KeeperState::Pick;
                if self.work.q.val() == KeeperWork::Hold {
                    self.step.d.next = KeeperState::Judge;
                }
            }
            KeeperState::Pick => {
                match self.work.q.val() {
                    KeeperWork::Check => {
                        self.step.d.next = KeeperState::Gap;
                        if self.hit.q.val() {
                            self.step.d.next = KeeperState::Take;
                        }
                    }
                    KeeperWork::Scan => {
                        self.step.d.next = KeeperState::Idle;
                        if self.count.q.val().any() & self.expired.q.val() {
                            // Between packets it is looked at again.
                            self.probe_waits.d.next = true;
                            self.blocked_kept.d.next = true;
                            if self.probe_waits.q.val() & self.hit.q.val() {
                                self.step.d.next = KeeperState::Load;
                            }
                        } else {
                            self.scan.d.next = self.scan.q.val() + 1;
                        }
                        if self.probe_waits.q.val() {
                            self.probe_waits.d.next = false;
                            self.scan.d.next = self.scan.q.val() + 1;
                            if !self.expired.q.val() | !self.count.q.val().any() | !self.hit.q.val() {
                                self.blocked_kept.d.next = self.checking.q.val();
                            }
                        }
                    }
                    KeeperWork::Probe => {
                        self.checking.d.next = false;
                        self.step.d.next = KeeperState::Load;
                        if !self.hit.q.val() {
                            self.blocked_kept.d.next = self.probe_waits.q.val();
                            self.step.d.next = KeeperState::Idle;
                        }
                    }
                    KeeperWork::Evict => {
                        self.step.d.next = KeeperState::Idle;
                        // Given up already, it isn't there any more; another slot may have its PSN, and be the oldest by now.
                        if self.hit.q.val() & (self.hit_slot.q.val() == self.held_slot.val()) {
                            self.step.d.next = KeeperState::EvictDrop;
                        }
                    }
                    _ => self.step.d.next = KeeperState::Judge,
                }
            }
            KeeperState::Judge => {
                self.step.d.next = KeeperState::Commit;
                self.nak.d.next = self.lost.val();
                self.accept.d.next = self.accepts.val() & !self.hit.q.val();
                self.replace.d.next = self.accepts.val() & self.hit.q.val();
                self.code.d.next = self.code_full.val();
                if self.accepts.val() {
                    self.code.d.next = self.code_later.val();
                }
                if self.hit.q.val() {
                    self.code.d.next = self.code_again.val();
                }
                if self.beyond.q.val() {
                    self.code.d.next = self.code_silent.val();
                    if self.lost.val() {
                        self.code.d.next = self.code_sequence.val();
                    }
                }
                // Not to be held again: a probe, or what has come to be early again.
                if self.shown_kept.q.val() {
                    self.nak.d.next = self.lost.val() & self.probing_kept.q.val();
                    self.code.d.next = self.code_silent.val();
                    if self.probing_kept.q.val() {
                        self.code.d.next = self.code_later.val();
                    }
                }
            }
            KeeperState::Commit => {
                self.put_address.next = bit_cast::<MA, 6>(self.psn.q.val()) | (bit_cast::<MA, 6>(self.commit_window.val()) << 6);
                self.put_data.next = bit_cast::<7, 6>(self.slot.val()) | 64;
                self.done_valid.next = self.replace.q.val() & !self.storing.val();
                if (!self.accept.q.val() | (!self.storing.val() & (!self.event_waits.q.val() | self.event_ready.val())))
                    & (!self.replace.q.val() | (!self.storing.val() & self.done_ready.val()))
                {
                    self.row_ages.next = self.ages.q.val();
                    if !self.ages.q.val() {
                        self.row_deadline.next = self.due.q.val();
                        self.row_ages.next = self.delay.q.val().any();
                    }
                    if self.nak.q.val() | self.standing.q.val() | (!self.accept.q.val() & !self.count.q.val().any()) {
                        self.row_ages.next = false;
                    }
                    self.row_write.next = true;
                    if self.accept.q.val() {
                        self.event_waits.d.next = true;
                        self.event_kept.d.next = self.code_held.val();
                        self.take.next = true;
                        self.row_count.next = self.more.val();
                        if self.further.q.val() {
                            self.row_farthest.next = self.psn.q.val();
                        }
                        self.windows.take.next = !self.count.q.val().any();
                        self.row_window.next = self.commit_window.val();
                        self.put.next = true;
                    }
                    if self.replace.q.val() {
                        self.take.next = true;
                        self.put.next = true;
                    }
                    self.step.d.next = KeeperState::Reply;
                }
            }
            KeeperState::Reply => {
                self.hold_done.next = true;
                self.step.d.next = KeeperState::Idle;
            }
            KeeperState::Take => {
                // Its turn.
                self.checking.d.next = false;
                self.dispose.next = true;
                self.count.d.next = self.less.val();
                self.load.next = true;
                self.step.d.next = KeeperState::Loading;
            }
            KeeperState::Gap => {
                self.checking.d.next = false;
                self.step.d.next = KeeperState::GapJudge;
            }
            KeeperState::GapJudge => {
                // The next hole: a loss at once, or a new age.
                if self.far.q.val() {
                    self.work.d.next = KeeperWork::Probe;
                    self.step.d.next = KeeperState::Key;
                } else {
                    self.row_write.next = true;
                    self.row_ages.next = self.delay.q.val().any();
                    self.row_deadline.next = self.due.q.val();
                    self.blocked_kept.d.next = self.probe_waits.q.val();
                    self.step.d.next = KeeperState::Idle;
                }
            }
            KeeperState::Load => {
                self.load.next = true;
                self.step.d.next = KeeperState::Loading;
            }
            KeeperState::Loading => {
                if !self.loading.val() & !self.load.val() {
                    self.advances.d.next = true;
                    self.step.d.next = KeeperState::Show;
                }
            }
            KeeperState::Show => {
                self.shown_kept.d.next = true;
                self.probing_kept.d.next = self.load_probe.q.val();
                self.step.d.next = KeeperState::Idle;
                if (self.work.q.val() == KeeperWork::Check) & self.count.q.val().any() {
                    self.psn.d.next = self.psn.q.val() + 1;
                    self.step.d.next = KeeperState::AheadRead;
                }
                if self.work.q.val() == KeeperWork::Evict {
                    self.shown_kept.d.next = self.shown_kept.q.val();
                    self.probing_kept.d.next = self.probing_kept.q.val();
                    self.step.d.next = KeeperState::EvictRow;
                }
            }
            // The packet behind the one that is shown.
            KeeperState::AheadRead => self.step.d.next = KeeperState::AheadGot,
            KeeperState::AheadGot => {
                self.hit.d.next = self.map.read_data.val().get_bit(6);
                self.hit_slot.d.next = self.map.read_data.val().get_bits::<6>(0);
                self.step.d.next = KeeperState::AheadPick;
            }
            KeeperState::AheadPick => {
                self.walk_left.d.next = self.window_size.val();
                self.step.d.next = KeeperState::Idle;
                if self.work.q.val() != KeeperWork::Probe {
                    if self.hit.q.val() {
                        self.load.next = true;
                        self.step.d.next = KeeperState::AheadLoading;
                    } else {
                        // A gap: the farthest is its probe.
                        self.work.d.next = KeeperWork::Probe;
                        self.step.d.next = KeeperState::AheadRead;
                    }
                } else {
                    if self.hit.q.val() & self.far.q.val() {
                        self.load.next = true;
                        self.step.d.next = KeeperState::AheadLoading;
                    }
                }
            }
            KeeperState::AheadLoading => {
                if !self.loading.val() {
                    self.step.d.next = KeeperState::AheadReady;
                }
            }
            KeeperState::AheadReady => {
                self.walk_left.d.next = self.walk_left.q.val() - 1;
                if self.checking.q.val() {
                    // Control was done before us.
                    self.step.d.next = KeeperState::AheadJudge;
                } else {
                    if !self.shown_kept.q.val() | !self.walk_left.q.val().any() {
                        self.step.d.next = KeeperState::Idle;
                    } else {
                        self.ahead_goes.next = self.head_next.val() & self.packet_moved.val() & !self.packet_jumped.val();
                    }
                }
                if self.wants_release.val() | self.hold_valid.val() {
                    self.ahead_goes.next = false;
                    self.step.d.next = KeeperState::Idle;
                }
            }
            KeeperState::AheadJudge => {
                self.ahead_goes.next = !self.check_jump.q.val().any();
                self.step.d.next = KeeperState::Idle;
            }
            KeeperState::AheadTake => {
                self.checking.d.next = false;
                self.dispose.next = true;
                self.count.d.next = self.less.val();
                self.shown_kept.d.next = true;
                self.psn.d.next = self.psn.q.val() + 1;
                self.step.d.next = KeeperState::AheadRead;
                if self.single.q.val() {
                    self.step.d.next = KeeperState::Idle;
                }
            }
            KeeperState::AheadProbe => {
                self.checking.d.next = false;
                self.shown_kept.d.next = true;
                self.probing_kept.d.next = true;
                self.step.d.next = KeeperState::Idle;
            }
            KeeperState::WalkShown => {
                // On offer, and not taken: it is taken back.
                if !self.event_waits.q.val() | self.event_ready.val() {
                    self.done_valid.next = !self.probing_kept.q.val();
                    self.done_slot.next = self.held_slot.val();
                    if self.done_ready.val() | self.probing_kept.q.val() {
                        self.event_waits.d.next = !self.probing_kept.q.val();
                        self.event_kept.d.next = self.code_released.val();
                        self.shown_kept.d.next = false;
                        self.probing_kept.d.next = false;
                        self.blocked_kept.d.next = self.probe_waits.q.val();
                        self.step.d.next = KeeperState::Read;
                    }
                }
            }
            KeeperState::WalkRead => self.step.d.next = KeeperState::WalkGot,
            KeeperState::WalkGot => {
                self.hit.d.next = self.map.read_data.val().get_bit(6);
                self.hit_slot.d.next = self.map.read_data.val().get_bits::<6>(0);
                self.step.d.next = KeeperState::WalkPick;
            }
            KeeperState::WalkPick => {
                self.step.d.next = KeeperState::WalkDrop;
                if !self.hit.q.val() {
                    self.walk_left.d.next = self.walk_left.q.val() - 1;
                    self.psn.d.next = self.psn.q.val() + 1;
                    self.step.d.next = KeeperState::WalkRead;
                    if self.walk_left.q.val() == 1 {
                        self.step.d.next = KeeperState::WalkEnd;
                    }
                }
            }
            KeeperState::WalkDrop => {
                if !self.event_waits.q.val() | self.event_ready.val() {
                    self.done_valid.next = true;
                    if self.done_ready.val() {
                        self.event_waits.d.next = true;
                        self.event_kept.d.next = self.code_released.val();
                        self.dispose.next = true;
                        self.count.d.next = self.less.val();
                        self.walk_left.d.next = self.walk_left.q.val() - 1;
                        self.psn.d.next = self.psn.q.val() + 1;
                        self.step.d.next = KeeperState::WalkRead;
                        if self.single.q.val() | (self.walk_left.q.val() == 1) {
                            self.step.d.next = KeeperState::WalkEnd;
                        }
                    }
                }
            }
            KeeperState::WalkEnd => {
                // What was passed: the packet's check begins anew.
                self.step.d.next = KeeperState::Idle;
                self.state_done.d.next = !self.passing.q.val();
            }
            KeeperState::EvictLoad => {
                self.work.d.next = KeeperWork::Evict;
                self.load.next = true;
                self.step.d.next = KeeperState::Loading;
            }
            KeeperState::EvictRow => {
                self.index.d.next = self.held_index.val();
                self.psn.d.next = self.held_psn.val().get_bits::<6>(0);
                self.step.d.next = KeeperState::Read;
            }
            KeeperState::EvictDrop => {
                if !self.event_waits.q.val() | self.event_ready.val() {
                    self.done_valid.next = true;
                    if self.done_ready.val() {
                        self.event_waits.d.next = true;
                        self.event_kept.d.next = self.code_full.val();
                        self.dispose.next = true;
                        self.step.d.next = KeeperState::Idle;
                    }
                }
            }
            _ => self.step.d.next = KeeperState::Idle,
        }

        if self.ahead_goes.val() {
            self.advances.d.next = true;
            self.step.d.next = KeeperState::AheadTake;
            if self.work.q.val() == KeeperWork::Probe {
                self.step.d.next = KeeperState::AheadProbe;
            }
        }

        // A packet leaves the map: in its turn, released, or evicted.
        if self.dispose.val() {
            self.put.next = true;
            self.row_write.next = true;
            self.row_count.next = self.less.val();
            if self.single.q.val() | (self.step.q.val() == KeeperState::Take) | (self.step.q.val() == KeeperState::AheadTake) {
                self.row_ages.next = false;
            }
            self.windows.give.next = self.single.q.val();
        }

        // A row is written a cycle later; it is read again two cycles later at the earliest.
        self.rows.write_enable.next = self.write_kept.q.val();
        self.rows.write_address.next = self.address_kept.q.val();
        self.rows.write_data.next = self.data_kept.q.val();
        self.write_kept.d.next = self.row_write.val();
        self.address_kept.d.next = self.row_item.val();
        self.data_kept.d.next = bit_cast::<36, 7>(self.row_count.val())
            | (bit_cast::<36, 6>(self.row_window.val()) << 7)
            | (bit_cast::<36, 6>(self.row_farthest.val()) << 13)
            | (bit_cast::<36, 1>(self.row_ages.val().into()) << 19)
            | (bit_cast::<36, 16>(self.row_deadline.val()) << 20);
        if self.step.q.val() == KeeperState::Reply {
            self.write_kept.d.next = true;
            self.address_kept.d.next = self.row_item.val() | 1;
            self.data_kept.d.next = bit_cast::<36, 6>(self.nak_distance.val()) | (bit_cast::<36, 12>(self.nak_delay.val()) << 6);
        }
        if self.step.q.val() == KeeperState::Clear {
            self.write_kept.d.next = !self.over.val();
            self.address_kept.d.next = self.clear.q.val().get_bits::<RA>(0);
            self.data_kept.d.next = 0.into();
            self.put.next = !self.over.val();
            self.put_address.next = self.clear.q.val().get_bits::<MA>(0);
            self.put_data.next = 0.into();
        }
        // So is a place of the map; of those read in that cycle or the next, none is the one written.
        self.put_kept.d.next = self.put.val();
        self.put_address_kept.d.next = self.put_address.val();
        self.put_data_kept.d.next = self.put_data.val();
        self.map.write_enable.next = self.put_kept.q.val();
        self.map.write_address.next = self.put_address_kept.q.val();
        self.map.write_data.next = self.put_data_kept.q.val();

        if self.reset.val() {
            self.clear.d.next = 0.into();
            self.step.d.next = KeeperState::Clear;
            self.checking.d.next = false;
            self.shown_kept.d.next = false;
            self.probing_kept.d.next = false;
            self.blocked_kept.d.next = false;
            self.probe_waits.d.next = false;
            self.state_done.d.next = false;
            self.scan.d.next = 0.into();
            self.event_waits.d.next = false;
            self.write_kept.d.next = false;
            self.put_kept.d.next = false;
        }
    }

    crate::block_name!();
}
