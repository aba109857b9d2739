// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reaction point: a CNP slows its QP's requests (R76). DCQCN (Zhu et al., SIGCOMM 2015, section 3.1), a row a QP; what happens to a row: `Limiter`.
//!
//! ```text
//! control.noticed ─► FIFO of CNPs ──┐
//! control.state ──► one that waits ─┤                            ┌─► row
//! end of a turn, rest ─► FIFO ──────┼─► Pick ─ Fetch ─ Load ─ Work ─► list (slowed or resting QPs, round robin) ─┐
//!                                   ├────────────────────────────┼─► limited (a bit a QP, for the scheduler)     │
//!                                   └─── visit ◄─────────────────┼──────────────────────────────────────────────┘
//!                                                                └─► wake ─► scheduler
//! ```
//!
//! A QP that isn't slowed isn't in the list and isn't `limited`: its turns end as ever. At the end of a limited QP's turn the scheduler hands the QP's token over (`rest`), with
//! what the turn sent; the token goes back by a wake, once the packet's time at the QP's rate is over. Each visit looks at one QP of the list, whose rates and times move on then.
//! So one QP is looked at each 7 cycles, and of 256 each after some 2,000 (10 us). A QP that is at the line's rate again leaves the list, when its token is back.
//!
//! `QE` = `QA` + 14. Events are done one at a time, a visit between two; the 16 CNPs that wait are more than come in a row, and one more than that is without effect. No turn begins
//! (`room`) while eight rests wait. Rows: 4 blocks of RAM.

use super::limiter::{Limiter, LimiterWork};
use super::rate_clock::RateClock;
use crate::prim::{LogicRam, SplitRam};
use crate::stream::LogicFifo;
use rust_hdl::prelude::*;
use verbena_spec::layout::{congestion, state, Field};

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReactionState {
    Clear,
    Pick,
    Fetch,
    Load,
    Work,
}

/// `2^QA` QPs.
#[derive(LogicBlock)]
pub struct ReactionPoint<const QA: usize, const QB: usize, const QE: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The rows are cleared.
    pub ready: Signal<Out, Bit>,
    /// Words 1 to 4 of the row `congestion`.
    pub rates: Signal<In, Bits<32>>,
    pub increases: Signal<In, Bits<32>>,
    pub times: Signal<In, Bits<32>>,
    pub rate_bytes: Signal<In, Bits<32>>,
    /// Clocks per 4.096 us, 24.8 fixed point.
    pub tick: Signal<In, Bits<32>>,
    /// One cycle: a CNP for this QP.
    pub noticed: Signal<In, Bit>,
    pub noticed_index: Signal<In, Bits<12>>,
    /// The QP's state is now this: one cycle, while ready.
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    /// Is this QP limited? A cycle later.
    pub asked: Signal<In, Bits<QA>>,
    pub limited: Signal<Out, Bit>,
    /// One cycle: a turn has ended, with a packet of so many payload bytes or without one.
    pub ended: Signal<In, Bit>,
    pub ended_packet: Signal<In, Bit>,
    pub ended_payload: Signal<In, Bits<14>>,
    /// One cycle, before the next end: it was this QP's, which is limited and rests.
    pub rest: Signal<In, Bit>,
    pub rest_index: Signal<In, Bits<QA>>,
    /// A turn may begin.
    pub room: Signal<Out, Bit>,
    /// The rest is over.
    pub wake_valid: Signal<Out, Bit>,
    pub wake_index: Signal<Out, Bits<12>>,
    pub wake_ready: Signal<In, Bit>,
    rows: SplitRam<QA, 144>,
    limits: LogicRam<QA, 1>,
    list: LogicFifo<QA, QB, QA>,
    cnps: LogicFifo<4, 5, QA>,
    rests: LogicFifo<4, 5, QE>,
    limiter: Limiter,
    rate_clock: RateClock,
    step: DFF<ReactionState>,
    cleared: DFF<Bit>,
    index: DFF<Bits<QA>>,
    work: DFF<LimiterWork>,
    /// The last thing done was no visit.
    visit_next: DFF<Bit>,
    // The state that waits.
    state_open: DFF<Bit>,
    state_kept: DFF<Bits<QA>>,
    state_lives: DFF<Bit>,
    // The last turn's packet on the wire, and the one at work.
    sent: DFF<Bits<14>>,
    packet: DFF<Bits<14>>,
    /// Rests that wait.
    waiting: DFF<Bits<5>>,
    open_room: DFF<Bit>,
    wake_open: DFF<Bit>,
    wake_kept: DFF<Bits<QA>>,
    visits: Signal<Local, Bit>,
    event_there: Signal<Local, Bit>,
    pops: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    headers: Constant<Bits<14>>,
    in_rts: Constant<Bits<3>>,
}

/// Bytes of a request on the wire beside its payload: preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS, gap; as the golden model has it.
const HEADERS: u64 = 82;

impl<const QA: usize, const QB: usize, const QE: usize> Default for ReactionPoint<QA, QB, QE> {
    fn default() -> Self {
        assert_eq!((QB, QE), (QA + 1, QA + 14), "ReactionPoint: sizes");
        // The kernels' offsets in the congestion row.
        let at = |field: Field| (field.word, field.low, field.bits);
        assert_eq!((at(congestion::MIN_RATE), at(congestion::LINE_RATE)), ((1, 0, 16), (1, 16, 16)));
        assert_eq!((at(congestion::ADDITIVE), at(congestion::HYPER)), ((2, 0, 16), (2, 16, 16)));
        assert_eq!((at(congestion::ALPHA_TIME), at(congestion::RATE_TIME)), ((3, 0, 10), (3, 10, 10)));
        assert_eq!((at(congestion::FAST_STEPS), at(congestion::GAIN_SHIFT)), ((3, 20, 4), (3, 24, 4)));
        assert_eq!(at(congestion::RATE_BYTES), (4, 0, 32));
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            rates: Default::default(),
            increases: Default::default(),
            times: Default::default(),
            rate_bytes: Default::default(),
            tick: Default::default(),
            noticed: Default::default(),
            noticed_index: Default::default(),
            state_valid: Default::default(),
            state_index: Default::default(),
            state: Default::default(),
            state_ready: Default::default(),
            asked: Default::default(),
            limited: Default::default(),
            ended: Default::default(),
            ended_packet: Default::default(),
            ended_payload: Default::default(),
            rest: Default::default(),
            rest_index: Default::default(),
            room: Default::default(),
            wake_valid: Default::default(),
            wake_index: Default::default(),
            wake_ready: Default::default(),
            rows: Default::default(),
            limits: Default::default(),
            list: Default::default(),
            cnps: Default::default(),
            rests: Default::default(),
            limiter: Default::default(),
            rate_clock: Default::default(),
            step: Default::default(),
            cleared: Default::default(),
            index: Default::default(),
            work: Default::default(),
            visit_next: Default::default(),
            state_open: Default::default(),
            state_kept: Default::default(),
            state_lives: Default::default(),
            sent: Default::default(),
            packet: Default::default(),
            waiting: Default::default(),
            open_room: Default::default(),
            wake_open: Default::default(),
            wake_kept: Default::default(),
            visits: Default::default(),
            event_there: Default::default(),
            pops: Default::default(),
            ends: Default::default(),
            headers: Constant::new(HEADERS.to_bits()),
            in_rts: Constant::new((state::RTS as u64).to_bits()),
        }
    }
}

impl<const QA: usize, const QB: usize, const QE: usize> Logic for ReactionPoint<QA, QB, QE> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            cleared,
            index,
            work,
            visit_next,
            state_open,
            state_kept,
            state_lives
        );
        dff_setup!(self, clock, sent, packet, waiting, open_room, wake_open, wake_kept);
        clock!(self, clock, rows, limits, list, cnps, rests, limiter, rate_clock);
        self.list.reset.next = self.reset.val();
        self.cnps.reset.next = self.reset.val();
        self.rests.reset.next = self.reset.val();
        self.limiter.reset.next = self.reset.val();
        self.rate_clock.reset.next = self.reset.val();
        self.rate_clock.tick.next = self.tick.val();
        self.ready.next = self.cleared.q.val();

        // What comes. In SQD and ERR a limiter goes on.
        self.cnps.s_data.next = self.noticed_index.val().get_bits::<QA>(0);
        self.cnps.s_valid.next = self.noticed.val();
        self.state_ready.next = !self.state_open.q.val();
        if self.state_valid.val() & !self.state_open.q.val() {
            self.state_open.d.next = !(self.state.val() > self.in_rts.val());
            self.state_kept.d.next = self.state_index.val().get_bits::<QA>(0);
            self.state_lives.d.next = self.state.val() == self.in_rts.val();
        }
        if self.ended.val() {
            self.sent.d.next = 0.into();
            if self.ended_packet.val() {
                self.sent.d.next = self.ended_payload.val() + self.headers.val();
            }
        }
        self.rests.s_data.next = (bit_cast::<QE, QA>(self.rest_index.val()) << 14) | bit_cast::<QE, 14>(self.sent.q.val());
        self.rests.s_valid.next = self.rest.val();
        self.pops.next = false;

        // One thing at a time.
        self.event_there.next = self.state_open.q.val() | self.cnps.m_valid.val() | self.rests.m_valid.val();
        self.visits.next = self.list.m_valid.val() & (self.visit_next.q.val() | !self.event_there.val());
        self.list.m_ready.next = false;
        self.cnps.m_ready.next = false;
        self.limiter.start.next = false;
        self.ends.next = false;
        match self.step.q.val() {
            ReactionState::Clear => {
                self.index.d.next = self.index.q.val() + 1;
                if self.index.q.val().all() {
                    self.cleared.d.next = true;
                    self.step.d.next = ReactionState::Pick;
                }
            }
            ReactionState::Pick => {
                self.visit_next.d.next = self.event_there.val() & !self.visits.val();
                if self.visits.val() {
                    self.list.m_ready.next = true;
                    self.index.d.next = self.list.m_data.val();
                    self.work.d.next = LimiterWork::Visit;
                } else if self.state_open.q.val() {
                    self.state_open.d.next = false;
                    self.index.d.next = self.state_kept.q.val();
                    self.work.d.next = LimiterWork::Forget;
                    if self.state_lives.q.val() {
                        self.work.d.next = LimiterWork::Live;
                    }
                } else if self.rests.m_valid.val() {
                    self.pops.next = true;
                    self.index.d.next = self.rests.m_data.val().get_bits::<QA>(14);
                    self.packet.d.next = self.rests.m_data.val().get_bits::<14>(0);
                    self.work.d.next = LimiterWork::Rest;
                } else {
                    self.cnps.m_ready.next = true;
                    self.index.d.next = self.cnps.m_data.val();
                    self.work.d.next = LimiterWork::Notice;
                }
                if self.visits.val() | self.event_there.val() {
                    self.step.d.next = ReactionState::Fetch;
                }
            }
            ReactionState::Fetch => {
                self.step.d.next = ReactionState::Load;
            }
            ReactionState::Load => {
                self.limiter.start.next = true;
                self.step.d.next = ReactionState::Work;
            }
            ReactionState::Work => {
                self.ends.next = self.limiter.done.val();
                if self.limiter.done.val() {
                    self.step.d.next = ReactionState::Pick;
                }
            }
            _ => {
                self.step.d.next = ReactionState::Pick;
            }
        }
        self.rests.m_ready.next = self.pops.val();
        self.waiting.d.next = self.waiting.q.val();
        if self.rest.val() & !self.pops.val() {
            self.waiting.d.next = self.waiting.q.val() + 1;
        }
        if self.pops.val() & !self.rest.val() {
            self.waiting.d.next = self.waiting.q.val() - 1;
        }
        self.open_room.d.next = !self.waiting.q.val().get_bits::<2>(3).any();
        self.room.next = self.open_room.q.val();

        // The row.
        self.limiter.now.next = self.rate_clock.now.val();
        self.limiter.rates.next = self.rates.val();
        self.limiter.increases.next = self.increases.val();
        self.limiter.times.next = self.times.val();
        self.limiter.rate_bytes.next = self.rate_bytes.val();
        self.limiter.work.next = self.work.q.val();
        self.limiter.row.next = self.rows.read_data.val();
        self.limiter.packet_bytes.next = self.packet.q.val();
        self.limiter.can_wake.next = !self.wake_open.q.val();
        self.rows.read_enable.next = self.step.q.val() == ReactionState::Fetch;
        self.rows.read_address.next = self.index.q.val();
        self.rows.write_enable.next = self.ends.val();
        self.rows.write_address.next = self.index.q.val();
        self.rows.write_data.next = self.limiter.new_row.val();
        self.limits.write_enable.next = self.ends.val();
        self.limits.write_address.next = self.index.q.val();
        self.limits.write_data.next = bit_cast::<1, 1>(self.limiter.listed_now.val().into());
        if self.step.q.val() == ReactionState::Clear {
            self.rows.write_enable.next = true;
            self.rows.write_data.next = 0.into();
            self.limits.write_enable.next = true;
            self.limits.write_data.next = 0.into();
        }
        self.limits.read_enable.next = true;
        self.limits.read_address.next = self.asked.val();
        self.limited.next = self.limits.read_data.val().any();
        // A QP that has been visited goes to the list's end; one that is new there, too.
        self.list.s_data.next = self.index.q.val();
        self.list.s_valid.next =
            self.ends.val() & self.limiter.listed_now.val() & (!self.limiter.was_listed.val() | (self.work.q.val() == LimiterWork::Visit));

        // Wakes.
        self.wake_valid.next = self.wake_open.q.val();
        self.wake_index.next = bit_cast::<12, QA>(self.wake_kept.q.val());
        if self.wake_ready.val() {
            self.wake_open.d.next = false;
        }
        if self.ends.val() & self.limiter.wake.val() {
            self.wake_open.d.next = true;
            self.wake_kept.d.next = self.index.q.val();
        }

        if self.reset.val() {
            self.step.d.next = ReactionState::Clear;
            self.cleared.d.next = false;
            self.index.d.next = 0.into();
            self.visit_next.d.next = false;
            self.state_open.d.next = false;
            self.waiting.d.next = 0.into();
            self.wake_open.d.next = false;
        }
    }

    crate::block_name!();
}
