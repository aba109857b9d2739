// SPDX-License-Identifier: MIT OR Apache-2.0
//! What happens to one QP's limiter: DCQCN's reaction point (Zhu et al., SIGCOMM 2015, section 3.1; `verbena_model::golden::congestion` is the measure).
//!
//! ```text
//! start, row ─► Look ─┬─► Aim ─► Multiply ─► Cut ─► Floor ─► Settle ────────────┐           (Notice: a CNP)
//!                     ├─► Divide ─► Charge ─► Unit ─► UnitLook ──────────────────┤           (Rest: a turn has ended)
//!                     │                               ▲      │                    │
//!                     │                               └Close◄┴─ Rise … Mean       ├─► Done    (a rise by bytes, by time)
//!                     └─► Judge ─► [Decay] ─► [Rise … Close] ────────────────────┘           (Visit)
//! ```
//!
//! Row, 144 bits: [0] it is in the list; [1] active: slowed; [2] rests: its token is here; [3] fresh: not yet in RTS; [4] `free_at` counts; [20:5] rate,
//! [36:21] target, Mb/s; [53:37] alpha, 1/65536; [65:54] when alpha falls, [77:66] when the rate rises, us; [109:78] bytes since the last rise by bytes;
//! [114:110] rises by time, [119:115] by bytes since the last CNP, 16 at most; [143:120] when the next packet may leave, 1/128 us.
//!
//! `bytes · 1024 / rate` is a packet's time in 1/128 us: so many bits, at Mb/s. A packet's time is counted from when the one before was over, if that was no longer than 16 us
//! ago (what a QP's wake costs, and the list's round, isn't lost), else from now.
//! Cycles, `start` to `done`: a CNP 23, a packet 29 (more where the rate rises), a visit 4, with an end of alpha's time 4 to 20 more, with a rise 5 more.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LimiterState {
    Idle,
    Look,
    Aim,
    Multiply,
    Cut,
    Floor,
    Settle,
    Divide,
    Charge,
    Unit,
    UnitLook,
    Judge,
    Decay,
    Rise,
    Raise,
    Limit,
    Mean,
    Close,
    Done,
}

/// What happens.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum LimiterWork {
    /// The QP is in RESET, INIT or RTR.
    Forget,
    /// The QP is in RTS, perhaps since now.
    Live,
    /// A CNP came.
    Notice,
    /// A turn has ended, with or without a packet.
    Rest,
    /// Have times come?
    Visit,
}

#[derive(LogicBlock, Default)]
pub struct Limiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Sixteenths of a microsecond.
    pub now: Signal<In, Bits<21>>,
    /// Words 1 to 4 of the row `congestion`.
    pub rates: Signal<In, Bits<32>>,
    pub increases: Signal<In, Bits<32>>,
    pub times: Signal<In, Bits<32>>,
    pub rate_bytes: Signal<In, Bits<32>>,
    /// One cycle; work and bytes hold until done.
    pub start: Signal<In, Bit>,
    pub work: Signal<In, LimiterWork>,
    pub row: Signal<In, Bits<144>>,
    /// The turn's packet on the wire, 0: there was none.
    pub packet_bytes: Signal<In, Bits<14>>,
    /// A wake can be taken.
    pub can_wake: Signal<In, Bit>,
    /// One cycle, with all below.
    pub done: Signal<Out, Bit>,
    pub new_row: Signal<Out, Bits<144>>,
    /// The QP is in the list, or should be; it was there.
    pub listed_now: Signal<Out, Bit>,
    pub was_listed: Signal<Out, Bit>,
    /// Its rest is over.
    pub wake: Signal<Out, Bit>,
    state: DFF<LimiterState>,
    listed: DFF<Bit>,
    active: DFF<Bit>,
    rests: DFF<Bit>,
    fresh: DFF<Bit>,
    counts: DFF<Bit>,
    rate: DFF<Bits<16>>,
    target: DFF<Bits<16>>,
    alpha: DFF<Bits<17>>,
    alpha_at: DFF<Bits<12>>,
    rate_at: DFF<Bits<12>>,
    bytes: DFF<Bits<32>>,
    by_time: DFF<Bits<5>>,
    by_bytes: DFF<Bits<5>>,
    free_at: DFF<Bits<24>>,
    woken: DFF<Bit>,
    /// How far ahead the times are.
    free_left: DFF<Bits<21>>,
    alpha_left: DFF<Bits<12>>,
    rate_left: DFF<Bits<12>>,
    /// Rate · alpha, a bit of alpha a step; alpha and 1, by 2^gain_shift.
    product: DFF<Bits<17>>,
    factor: DFF<Bits<17>>,
    shifted: DFF<Bits<17>>,
    gain: DFF<Bits<17>>,
    shifts: DFF<Bits<4>>,
    steps: DFF<Bits<5>>,
    /// Bytes · 1024 / rate, a bit a step.
    quotient: DFF<Bits<24>>,
    remainder: DFF<Bits<17>>,
    base: DFF<Bits<24>>,
    bytes_over: DFF<Bits<33>>,
    /// Rises came more often than fast recovery lasts: by time, by bytes.
    past_time: DFF<Bit>,
    past_bytes: DFF<Bit>,
    by_the_bytes: DFF<Bit>,
    raised: DFF<Bits<17>>,
    /// The least rate and the times, 1 at least.
    floor: DFF<Bits<16>>,
    alpha_time: DFF<Bits<12>>,
    rate_time: DFF<Bits<12>>,
    byte_unit: DFF<Bits<33>>,
    sum: Signal<Local, Bits<18>>,
    doubled: Signal<Local, Bits<17>>,
    less: Signal<Local, Bits<18>>,
    us: Signal<Local, Bits<12>>,
    recent: Signal<Local, Bit>,
    is_free: Signal<Local, Bit>,
    alpha_due: Signal<Local, Bit>,
    rate_due: Signal<Local, Bit>,
    line: Signal<Local, Bits<16>>,
    mean: Signal<Local, Bits<17>>,
    next_listed: Signal<Local, Bit>,
    is_over: Signal<Local, Bit>,
    whole: Signal<Local, Bits<17>>,
    once: Signal<Local, Bits<17>>,
    never: Signal<Local, Bits<33>>,
}

impl Logic for Limiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, listed, active, rests, fresh, counts, rate, target, alpha, alpha_at, rate_at, bytes);
        dff_setup!(
            self, clock, by_time, by_bytes, free_at, woken, free_left, alpha_left, rate_left, product, factor, shifted, gain, shifts, steps
        );
        dff_setup!(
            self,
            clock,
            quotient,
            remainder,
            base,
            bytes_over,
            past_time,
            past_bytes,
            by_the_bytes,
            raised,
            floor,
            alpha_time,
            rate_time,
            byte_unit
        );

        // Parameters, 1 at least.
        self.whole.next = 0x10000.into();
        self.once.next = 1.into();
        self.never.next = 1.into();
        self.line.next = self.rates.val().get_bits::<16>(16);
        self.floor.d.next = self.rates.val().get_bits::<16>(0);
        if !self.rates.val().get_bits::<16>(0).any() {
            self.floor.d.next = 1.into();
        }
        self.alpha_time.d.next = bit_cast::<12, 10>(self.times.val().get_bits::<10>(0));
        if !self.times.val().get_bits::<10>(0).any() {
            self.alpha_time.d.next = 1.into();
        }
        self.rate_time.d.next = bit_cast::<12, 10>(self.times.val().get_bits::<10>(10));
        if !self.times.val().get_bits::<10>(10).any() {
            self.rate_time.d.next = 1.into();
        }
        // Of 4 GiB and more: never.
        self.byte_unit.d.next = bit_cast::<33, 22>(self.rate_bytes.val().get_bits::<22>(0)) << 10;
        if self.rate_bytes.val().get_bits::<10>(22).any() {
            self.byte_unit.d.next = self.never.val() << 32;
        }
        if !self.rate_bytes.val().any() {
            self.byte_unit.d.next = 1024.into();
        }

        // Times.
        self.us.next = self.now.val().get_bits::<12>(4);
        self.free_left.d.next = self.free_at.q.val().get_bits::<21>(3) - self.now.val();
        self.alpha_left.d.next = self.alpha_at.q.val() - self.us.val();
        self.rate_left.d.next = self.rate_at.q.val() - self.us.val();
        self.recent.next = !self.free_left.q.val().get_bit(20) | self.free_left.q.val().get_bits::<13>(8).all();
        self.is_free.next =
            !self.active.q.val() | !self.counts.q.val() | self.free_left.q.val().get_bit(20) | !self.free_left.q.val().any();
        self.alpha_due.next = self.active.q.val() & (self.alpha_left.q.val().get_bit(11) | !self.alpha_left.q.val().any());
        self.rate_due.next = self.active.q.val() & (self.rate_left.q.val().get_bit(11) | !self.rate_left.q.val().any());

        // Arithmetic.
        self.sum.next = bit_cast::<18, 17>(self.product.q.val());
        if self.factor.q.val().get_bit(0) {
            self.sum.next = bit_cast::<18, 17>(self.product.q.val()) + bit_cast::<18, 16>(self.rate.q.val());
        }
        self.doubled.next = (self.remainder.q.val() << 1) | bit_cast::<17, 1>(self.quotient.q.val().get_bits::<1>(23));
        self.less.next = bit_cast::<18, 17>(self.doubled.val()) - bit_cast::<18, 16>(self.rate.q.val());
        self.mean.next = bit_cast::<17, 16>(self.target.q.val()) + bit_cast::<17, 16>(self.rate.q.val()) + self.once.val();
        self.bytes_over.d.next = bit_cast::<33, 32>(self.bytes.q.val()) - self.byte_unit.q.val();
        self.is_over.next = !self.bytes_over.q.val().get_bit(32);
        self.past_time.d.next = self.by_time.q.val() > bit_cast::<5, 4>(self.times.val().get_bits::<4>(20));
        self.past_bytes.d.next = self.by_bytes.q.val() > bit_cast::<5, 4>(self.times.val().get_bits::<4>(20));

        self.done.next = false;
        match self.state.q.val() {
            LimiterState::Idle => {
                self.listed.d.next = self.row.val().get_bit(0);
                self.active.d.next = self.row.val().get_bit(1);
                self.rests.d.next = self.row.val().get_bit(2);
                self.fresh.d.next = self.row.val().get_bit(3);
                self.counts.d.next = self.row.val().get_bit(4);
                self.rate.d.next = self.row.val().get_bits::<16>(5);
                self.target.d.next = self.row.val().get_bits::<16>(21);
                self.alpha.d.next = self.row.val().get_bits::<17>(37);
                self.alpha_at.d.next = self.row.val().get_bits::<12>(54);
                self.rate_at.d.next = self.row.val().get_bits::<12>(66);
                self.bytes.d.next = self.row.val().get_bits::<32>(78);
                self.by_time.d.next = self.row.val().get_bits::<5>(110);
                self.by_bytes.d.next = self.row.val().get_bits::<5>(115);
                self.free_at.d.next = self.row.val().get_bits::<24>(120);
                self.woken.d.next = false;
                self.by_the_bytes.d.next = false;
                if self.start.val() {
                    self.state.d.next = LimiterState::Look;
                }
            }
            LimiterState::Look => {
                self.state.d.next = LimiterState::Done;
                match self.work.val() {
                    LimiterWork::Forget => {
                        self.active.d.next = false;
                        self.counts.d.next = false;
                        self.fresh.d.next = true;
                    }
                    LimiterWork::Live => {
                        // What came in RTR is forgotten.
                        if self.fresh.q.val() {
                            self.active.d.next = false;
                            self.counts.d.next = false;
                        }
                        self.fresh.d.next = false;
                    }
                    LimiterWork::Notice => {
                        self.active.d.next = true;
                        if !self.active.q.val() {
                            self.rate.d.next = self.line.val();
                            self.alpha.d.next = self.whole.val();
                        }
                        self.state.d.next = LimiterState::Aim;
                    }
                    LimiterWork::Rest => {
                        self.rests.d.next = true;
                        if self.active.q.val() & self.packet_bytes.val().any() {
                            self.state.d.next = LimiterState::Divide;
                        }
                    }
                    _ => {
                        self.state.d.next = LimiterState::Judge;
                    }
                }
                self.quotient.d.next = bit_cast::<24, 14>(self.packet_bytes.val()) << 10;
                self.remainder.d.next = 0.into();
                self.steps.d.next = 23.into();
            }
            LimiterState::Aim => {
                self.target.d.next = self.rate.q.val();
                self.product.d.next = 0.into();
                self.factor.d.next = self.alpha.q.val();
                self.shifted.d.next = self.alpha.q.val();
                self.gain.d.next = self.whole.val();
                self.shifts.d.next = self.times.val().get_bits::<4>(24);
                self.steps.d.next = 16.into();
                self.state.d.next = LimiterState::Multiply;
            }
            LimiterState::Multiply => {
                self.product.d.next = self.sum.val().get_bits::<17>(1);
                self.factor.d.next = self.factor.q.val() >> 1;
                if self.shifts.q.val().any() {
                    self.shifted.d.next = self.shifted.q.val() >> 1;
                    self.gain.d.next = self.gain.q.val() >> 1;
                    self.shifts.d.next = self.shifts.q.val() - 1;
                }
                self.steps.d.next = self.steps.q.val() - 1;
                if !self.steps.q.val().any() {
                    self.state.d.next = LimiterState::Cut;
                }
            }
            LimiterState::Cut => {
                self.rate.d.next = self.rate.q.val() - self.product.q.val().get_bits::<16>(0);
                self.alpha.d.next = self.alpha.q.val() - self.shifted.q.val();
                self.state.d.next = LimiterState::Floor;
            }
            LimiterState::Floor => {
                if self.rate.q.val() < self.floor.q.val() {
                    self.rate.d.next = self.floor.q.val();
                }
                self.alpha.d.next = self.alpha.q.val() + self.gain.q.val();
                self.state.d.next = LimiterState::Settle;
            }
            LimiterState::Settle => {
                self.alpha_at.d.next = self.us.val() + self.alpha_time.q.val();
                self.rate_at.d.next = self.us.val() + self.rate_time.q.val();
                self.bytes.d.next = 0.into();
                self.by_time.d.next = 0.into();
                self.by_bytes.d.next = 0.into();
                self.state.d.next = LimiterState::Done;
            }
            LimiterState::Divide => {
                self.quotient.d.next = self.quotient.q.val() << 1;
                self.remainder.d.next = self.doubled.val();
                if !self.less.val().get_bit(17) {
                    self.quotient.d.next = (self.quotient.q.val() << 1) | 1;
                    self.remainder.d.next = self.less.val().get_bits::<17>(0);
                }
                self.steps.d.next = self.steps.q.val() - 1;
                // When the one before was over, as it is in `free_left` by now.
                self.base.d.next = bit_cast::<24, 21>(self.now.val()) << 3;
                if self.counts.q.val() & self.recent.val() {
                    self.base.d.next = self.free_at.q.val();
                }
                if !self.steps.q.val().any() {
                    self.state.d.next = LimiterState::Charge;
                }
            }
            LimiterState::Charge => {
                self.free_at.d.next = self.base.q.val() + self.quotient.q.val();
                self.counts.d.next = true;
                self.bytes.d.next = self.bytes.q.val() + bit_cast::<32, 14>(self.packet_bytes.val());
                self.by_the_bytes.d.next = true;
                self.state.d.next = LimiterState::Unit;
            }
            LimiterState::Unit => {
                self.state.d.next = LimiterState::UnitLook;
            }
            LimiterState::UnitLook => {
                self.state.d.next = LimiterState::Done;
                if self.is_over.val() & self.active.q.val() {
                    self.bytes.d.next = self.bytes_over.q.val().get_bits::<32>(0);
                    if !self.by_bytes.q.val().get_bit(4) {
                        self.by_bytes.d.next = self.by_bytes.q.val() + 1;
                    }
                    self.state.d.next = LimiterState::Rise;
                }
            }
            LimiterState::Judge => {
                self.shifted.d.next = self.alpha.q.val();
                self.shifts.d.next = self.times.val().get_bits::<4>(24);
                // Long over: it would come round.
                if !self.recent.val() {
                    self.counts.d.next = false;
                }
                if self.is_free.val() & self.rests.q.val() & self.can_wake.val() {
                    self.rests.d.next = false;
                    self.woken.d.next = true;
                }
                self.state.d.next = LimiterState::Done;
                if self.rate_due.val() {
                    self.rate_at.d.next = self.rate_at.q.val() + self.rate_time.q.val();
                    if !self.by_time.q.val().get_bit(4) {
                        self.by_time.d.next = self.by_time.q.val() + 1;
                    }
                    self.state.d.next = LimiterState::Rise;
                }
                if self.alpha_due.val() {
                    // One at a time: the rate's, on the next visit.
                    self.rate_at.d.next = self.rate_at.q.val();
                    self.by_time.d.next = self.by_time.q.val();
                    self.state.d.next = LimiterState::Decay;
                }
            }
            LimiterState::Decay => {
                self.shifted.d.next = self.shifted.q.val() >> 1;
                self.shifts.d.next = self.shifts.q.val() - 1;
                if !self.shifts.q.val().any() {
                    self.alpha.d.next = self.alpha.q.val() - self.shifted.q.val();
                    self.alpha_at.d.next = self.alpha_at.q.val() + self.alpha_time.q.val();
                    self.state.d.next = LimiterState::Done;
                }
            }
            LimiterState::Rise => {
                self.state.d.next = LimiterState::Raise;
            }
            LimiterState::Raise => {
                self.raised.d.next = bit_cast::<17, 16>(self.target.q.val());
                if self.past_time.q.val() | self.past_bytes.q.val() {
                    self.raised.d.next =
                        bit_cast::<17, 16>(self.target.q.val()) + bit_cast::<17, 16>(self.increases.val().get_bits::<16>(0));
                }
                if self.past_time.q.val() & self.past_bytes.q.val() {
                    self.raised.d.next =
                        bit_cast::<17, 16>(self.target.q.val()) + bit_cast::<17, 16>(self.increases.val().get_bits::<16>(16));
                }
                self.state.d.next = LimiterState::Limit;
            }
            LimiterState::Limit => {
                self.target.d.next = self.raised.q.val().get_bits::<16>(0);
                if self.raised.q.val() > bit_cast::<17, 16>(self.line.val()) {
                    self.target.d.next = self.line.val();
                }
                self.state.d.next = LimiterState::Mean;
            }
            LimiterState::Mean => {
                self.rate.d.next = self.mean.val().get_bits::<16>(1);
                self.state.d.next = LimiterState::Close;
            }
            LimiterState::Close => {
                self.active.d.next = self.rate.q.val() < self.line.val();
                self.state.d.next = LimiterState::Done;
                if self.by_the_bytes.q.val() {
                    self.state.d.next = LimiterState::UnitLook;
                }
            }
            LimiterState::Done => {
                self.done.next = true;
                self.state.d.next = LimiterState::Idle;
            }
            _ => {
                self.state.d.next = LimiterState::Idle;
            }
        }

        // Out.
        self.was_listed.next = self.listed.q.val();
        self.wake.next = self.woken.q.val();
        self.next_listed.next = self.active.q.val() | self.rests.q.val();
        if (self.work.val() == LimiterWork::Forget) | (self.work.val() == LimiterWork::Live) {
            self.next_listed.next = self.listed.q.val();
        }
        self.listed_now.next = self.next_listed.val();
        self.new_row.next = bit_cast::<144, 1>(self.next_listed.val().into())
            | (bit_cast::<144, 1>(self.active.q.val().into()) << 1)
            | (bit_cast::<144, 1>(self.rests.q.val().into()) << 2)
            | (bit_cast::<144, 1>(self.fresh.q.val().into()) << 3)
            | (bit_cast::<144, 1>((self.counts.q.val() & self.next_listed.val()).into()) << 4)
            | (bit_cast::<144, 16>(self.rate.q.val()) << 5)
            | (bit_cast::<144, 16>(self.target.q.val()) << 21)
            | (bit_cast::<144, 17>(self.alpha.q.val()) << 37)
            | (bit_cast::<144, 12>(self.alpha_at.q.val()) << 54)
            | (bit_cast::<144, 12>(self.rate_at.q.val()) << 66)
            | (bit_cast::<144, 32>(self.bytes.q.val()) << 78)
            | (bit_cast::<144, 5>(self.by_time.q.val()) << 110)
            | (bit_cast::<144, 5>(self.by_bytes.q.val()) << 115)
            | (bit_cast::<144, 24>(self.free_at.q.val()) << 120);

        if self.reset.val() {
            self.state.d.next = LimiterState::Idle;
        }
    }

    crate::block_name!();
}
