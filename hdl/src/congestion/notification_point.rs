// SPDX-License-Identifier: MIT OR Apache-2.0
//! The notification point: marked packets of an RC or UC QP are answered by CNPs, at most one a QP in `cnp_interval` (R76).
//!
//! ```text
//! control.marked ─► waits ─┐                           ┌─► not before: row ◄─► rows (until when the QP is quiet)
//!                          ├─► Pick ─ Read ─ Got ─ Judge ─► job ─► FIFO ─┐
//! walk, row by row ────────┘                                             ├─► m_ack ─► transmit
//! s_ack ─────────────────────────────────────────────────────────────────┘
//! rx takes a marked packet ─► count ─► event (rx_marked)
//! ```
//!
//! Row of a QP: [9:0] until when no further CNP is sent, in units of 1.024 us; [10] it counts. The walk ends what is over, long before the time has gone
//! round: a row in 4 cycles. A marked packet's turn comes 4 cycles later at most and takes 4; control has one in 10 cycles at the most, and what comes faster is one mark.
//! The interval lasts between `cnp_interval` and `cnp_interval + 1` units, which is not less than so many us; 0 is no interval. Where 16 CNPs wait no other is made, and
//! the QP's next marked packet asks again.
//!
//! A CNP goes out where no ACK is on offer, or behind one; a CNP on offer stays until it is taken. ACKs pass by wires.

use crate::prim::LogicRam;
use crate::reorder::HoleClock;
use crate::stream::LogicFifo;
use crate::tx::AckJob;
use rust_hdl::prelude::*;
use verbena_spec::counters;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum NotificationState {
    Clear,
    Pick,
    Read,
    Got,
    Judge,
}

/// `2^QA` QPs.
#[derive(LogicBlock)]
pub struct NotificationPoint<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The rows are cleared.
    pub ready: Signal<Out, Bit>,
    /// CNPs are sent, one a QP in so many us.
    pub notify: Signal<In, Bit>,
    pub cnp_interval: Signal<In, Bits<8>>,
    /// Clocks per 4.096 us, 24.8 fixed point.
    pub tick: Signal<In, Bits<32>>,
    /// One cycle: a marked packet has left `rx`; it is one of this RC or UC QP's.
    pub received: Signal<In, Bit>,
    pub marked: Signal<In, Bit>,
    pub marked_index: Signal<In, Bits<12>>,
    /// No CNP is under way, nor a mark that could become one.
    pub idle: Signal<Out, Bit>,
    pub s_ack: Signal<In, AckJob>,
    pub s_ack_valid: Signal<In, Bit>,
    pub s_ack_ready: Signal<Out, Bit>,
    pub m_ack: Signal<Out, AckJob>,
    pub m_ack_valid: Signal<Out, Bit>,
    pub m_ack_ready: Signal<In, Bit>,
    /// Counter of class Extra: a marked packet was received.
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    rows: LogicRam<QA, 11>,
    jobs: LogicFifo<4, 5, QA>,
    hole_clock: HoleClock,
    state: DFF<NotificationState>,
    cleared: DFF<Bit>,
    walk: DFF<Bits<QA>>,
    /// A mark whose turn hasn't come.
    waits: DFF<Bit>,
    waiting_index: DFF<Bits<QA>>,
    /// The row at work, and whether a mark asks for it.
    index: DFF<Bits<QA>>,
    asked: DFF<Bit>,
    counts: DFF<Bit>,
    left: DFF<Bits<10>>,
    quiet_until: DFF<Bits<10>>,
    /// CNPs made and not taken by transmit.
    open: DFF<Bits<5>>,
    /// The CNP at the FIFO's end is on offer.
    offers: DFF<Bit>,
    /// Marked packets that aren't counted yet.
    behind: DFF<Bits<4>>,
    now: Signal<Local, Bits<10>>,
    quiet: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    counted: Signal<Local, Bit>,
    one: Constant<Bits<10>>,
    flag: Constant<Bits<11>>,
    code: Constant<Bits<6>>,
}

impl<const QA: usize> Default for NotificationPoint<QA> {
    fn default() -> Self {
        // A row is seen again before its time, once past, has gone round: 4 cycles a row, and 512 units.
        assert!(QA <= 12, "NotificationPoint: 4096 QPs at most");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            notify: Default::default(),
            cnp_interval: Default::default(),
            tick: Default::default(),
            received: Default::default(),
            marked: Default::default(),
            marked_index: Default::default(),
            idle: Default::default(),
            s_ack: Default::default(),
            s_ack_valid: Default::default(),
            s_ack_ready: Default::default(),
            m_ack: Default::default(),
            m_ack_valid: Default::default(),
            m_ack_ready: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            rows: Default::default(),
            jobs: Default::default(),
            hole_clock: Default::default(),
            state: Default::default(),
            cleared: Default::default(),
            walk: Default::default(),
            waits: Default::default(),
            waiting_index: Default::default(),
            index: Default::default(),
            asked: Default::default(),
            counts: Default::default(),
            left: Default::default(),
            quiet_until: Default::default(),
            open: Default::default(),
            offers: Default::default(),
            behind: Default::default(),
            now: Default::default(),
            quiet: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            counted: Default::default(),
            one: Constant::new(1u64.to_bits()),
            flag: Constant::new((1u64 << 10).to_bits()),
            code: Constant::new((counters::RX_MARKED as u64).to_bits()),
        }
    }
}

impl<const QA: usize> Logic for NotificationPoint<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            state,
            cleared,
            walk,
            waits,
            waiting_index,
            index,
            asked,
            counts,
            left,
            quiet_until
        );
        dff_setup!(self, clock, open, offers, behind);
        clock!(self, clock, rows, jobs, hole_clock);
        self.jobs.reset.next = self.reset.val();
        self.hole_clock.reset.next = self.reset.val();
        self.hole_clock.tick.next = self.tick.val();
        self.now.next = self.hole_clock.now.val().get_bits::<10>(0);
        self.ready.next = self.cleared.q.val();

        // Rows. Until when, from now; the time left, less than nothing when it is over.
        self.rows.read_enable.next = self.state.q.val() == NotificationState::Read;
        self.rows.read_address.next = self.index.q.val();
        self.rows.write_enable.next = false;
        self.rows.write_address.next = self.index.q.val();
        self.rows.write_data.next = 0.into();
        self.quiet.next = self.counts.q.val() & self.left.q.val().any() & !self.left.q.val().get_bit(9);
        self.push.next = false;
        match self.state.q.val() {
            NotificationState::Clear => {
                self.rows.write_enable.next = true;
                self.rows.write_address.next = self.walk.q.val();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val().all() {
                    self.cleared.d.next = true;
                    self.state.d.next = NotificationState::Pick;
                }
            }
            NotificationState::Pick => {
                self.asked.d.next = self.waits.q.val();
                self.waits.d.next = false;
                self.index.d.next = self.walk.q.val();
                if self.waits.q.val() {
                    self.index.d.next = self.waiting_index.q.val();
                } else {
                    self.walk.d.next = self.walk.q.val() + 1;
                }
                self.state.d.next = NotificationState::Read;
            }
            NotificationState::Read => {
                self.quiet_until.d.next = self.now.val() + bit_cast::<10, 8>(self.cnp_interval.val()) + self.one.val();
                self.state.d.next = NotificationState::Got;
            }
            NotificationState::Got => {
                self.counts.d.next = self.rows.read_data.val().get_bit(10);
                self.left.d.next = self.rows.read_data.val().get_bits::<10>(0) - self.now.val();
                self.state.d.next = NotificationState::Judge;
            }
            NotificationState::Judge => {
                if self.asked.q.val() {
                    // R76: at most one in the interval.
                    self.push.next = !self.quiet.val() & self.jobs.s_ready.val();
                    self.rows.write_enable.next = self.push.val() & self.cnp_interval.val().any();
                    self.rows.write_data.next = bit_cast::<11, 10>(self.quiet_until.q.val()) | self.flag.val();
                } else {
                    self.rows.write_enable.next = self.counts.q.val() & !self.quiet.val();
                }
                self.asked.d.next = false;
                self.state.d.next = NotificationState::Pick;
            }
            _ => {
                self.state.d.next = NotificationState::Pick;
            }
        }
        if self.marked.val() & self.notify.val() {
            self.waits.d.next = true;
            self.waiting_index.d.next = self.marked_index.val().get_bits::<QA>(0);
        }

        // CNPs among the ACKs.
        self.jobs.s_data.next = self.index.q.val();
        self.jobs.s_valid.next = self.push.val();
        self.m_ack.next = self.s_ack.val();
        self.m_ack_valid.next = self.s_ack_valid.val();
        self.s_ack_ready.next = self.m_ack_ready.val();
        if self.offers.q.val() {
            self.m_ack.next.qp_index = bit_cast::<12, QA>(self.jobs.m_data.val());
            self.m_ack.next.syndrome = 0.into();
            self.m_ack.next.psn = 0.into();
            self.m_ack.next.msn = 0.into();
            self.m_ack.next.notification = true;
            self.m_ack_valid.next = true;
            self.s_ack_ready.next = false;
        }
        self.pop.next = self.offers.q.val() & self.m_ack_ready.val();
        self.jobs.m_ready.next = self.pop.val();
        if !self.offers.q.val() & self.jobs.m_valid.val() & (!self.s_ack_valid.val() | self.m_ack_ready.val()) {
            self.offers.d.next = true;
        }
        if self.pop.val() {
            self.offers.d.next = false;
        }
        if self.push.val() & !self.pop.val() {
            self.open.d.next = self.open.q.val() + 1;
        }
        if self.pop.val() & !self.push.val() {
            self.open.d.next = self.open.q.val() - 1;
        }
        self.idle.next = !self.open.q.val().any() & !self.waits.q.val() & !self.asked.q.val();

        // Marks.
        self.event_valid.next = self.behind.q.val().any();
        self.event_code.next = self.code.val();
        self.counted.next = self.behind.q.val().any() & self.event_ready.val();
        if self.received.val() & !self.counted.val() & !self.behind.q.val().all() {
            self.behind.d.next = self.behind.q.val() + 1;
        }
        if self.counted.val() & !self.received.val() {
            self.behind.d.next = self.behind.q.val() - 1;
        }

        if self.reset.val() {
            self.state.d.next = NotificationState::Clear;
            self.cleared.d.next = false;
            self.walk.d.next = 0.into();
            self.waits.d.next = false;
            self.asked.d.next = false;
            self.open.d.next = 0.into();
            self.offers.d.next = false;
            self.behind.d.next = 0.into();
            self.m_ack_valid.next = false;
            self.event_valid.next = false;
        }
    }

    crate::block_name!();
}
