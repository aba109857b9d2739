// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slots of held packets, in the order of their frames, and the frame ring's tail, which stands before the oldest of them.
//!
//! ```text
//!  ring:   │ done │ held │ done │ held │ received ...│
//!          oldest ▲ start                     next ▲
//!  s_release (job order) ─► last ─┐
//!  oldest slot's start ─► bound ──┴─► the nearer of them ─► m_release
//! ```
//!
//! A held frame stays where it was received. A release that comes from the DMA writer names a ring beat (the tail moves there), or with bit 13 a slot: its frame
//! has been read. With bit 12 too it is nobody's. A slot's number comes back once all older slots are done, since the ring's room comes back in order.
//!
//! While no slot is in use releases pass in the same cycle; else the tail follows within 6 cycles. `number` is the next slot, taken by `take`.

use crate::prim::LogicRam;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum TailState {
    /// Nothing is held: releases pass.
    Through,
    Measure,
    Compare,
    Move,
}

/// 64 slots on a ring of `2^BA` beats.
#[derive(LogicBlock)]
pub struct Slots<const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub number: Signal<Out, Bits<6>>,
    pub free: Signal<Out, Bits<7>>,
    /// Some slot is in use.
    pub used: Signal<Out, Bit>,
    pub take: Signal<In, Bit>,
    /// Where the frame begins.
    pub take_beat: Signal<In, Bits<14>>,
    /// Its packet is dropped; waits for a release of the DMA writer's.
    pub done_valid: Signal<In, Bit>,
    pub done_slot: Signal<In, Bits<6>>,
    pub done_ready: Signal<Out, Bit>,
    pub oldest: Signal<Out, Bits<6>>,
    /// The oldest slot stands, and where its frame begins.
    pub bound_valid: Signal<Out, Bit>,
    pub bound: Signal<Out, Bits<BA>>,
    pub s_release_valid: Signal<In, Bit>,
    pub s_release_beat: Signal<In, Bits<14>>,
    pub m_release_valid: Signal<Out, Bit>,
    pub m_release_beat: Signal<Out, Bits<14>>,
    starts: LogicRam<6, BA>,
    next_slot: DFF<Bits<7>>,
    oldest_slot: DFF<Bits<7>>,
    done: DFF<Bits<64>>,
    in_use: DFF<Bit>,
    /// A slot whose packet is done.
    finish: DFF<Bit>,
    finish_slot: DFF<Bits<6>>,
    left: DFF<Bits<7>>,
    /// The oldest slot's start has been read: a cycle under way, done.
    moved: DFF<Bit>,
    fresh: DFF<Bit>,
    /// The oldest slot is done: every other cycle at most.
    leaves: DFF<Bit>,
    state: DFF<TailState>,
    tail: DFF<Bits<BA>>,
    last: DFF<Bits<BA>>,
    to_last: DFF<Bits<BA>>,
    to_bound: DFF<Bits<BA>>,
    bounded: DFF<Bit>,
    target: DFF<Bits<BA>>,
    target_moves: DFF<Bit>,
    occupied: Signal<Local, Bits<7>>,
    some: Signal<Local, Bit>,
    retires: Signal<Local, Bit>,
    frame: Signal<Local, Bit>,
    slot: Signal<Local, Bit>,
    finished: Signal<Local, Bits<64>>,
    stands: Signal<Local, Bit>,
    all: Constant<Bits<7>>,
}

impl<const BA: usize> Default for Slots<BA> {
    fn default() -> Self {
        assert!(BA <= 13, "Slots: a release of bit 13 is a slot's");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            number: Default::default(),
            free: Default::default(),
            used: Default::default(),
            take: Default::default(),
            take_beat: Default::default(),
            done_valid: Default::default(),
            done_slot: Default::default(),
            done_ready: Default::default(),
            oldest: Default::default(),
            bound_valid: Default::default(),
            bound: Default::default(),
            s_release_valid: Default::default(),
            s_release_beat: Default::default(),
            m_release_valid: Default::default(),
            m_release_beat: Default::default(),
            starts: Default::default(),
            next_slot: Default::default(),
            oldest_slot: Default::default(),
            done: Default::default(),
            in_use: Default::default(),
            finish: Default::default(),
            finish_slot: Default::default(),
            left: Default::default(),
            moved: Default::default(),
            fresh: Default::default(),
            leaves: Default::default(),
            state: Default::default(),
            tail: Default::default(),
            last: Default::default(),
            to_last: Default::default(),
            to_bound: Default::default(),
            bounded: Default::default(),
            target: Default::default(),
            target_moves: Default::default(),
            occupied: Default::default(),
            some: Default::default(),
            retires: Default::default(),
            frame: Default::default(),
            slot: Default::default(),
            finished: Default::default(),
            stands: Default::default(),
            all: Constant::new(64u64.to_bits()),
        }
    }
}

impl<const BA: usize> Logic for Slots<BA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            next_slot,
            oldest_slot,
            done,
            in_use,
            left,
            moved,
            fresh,
            leaves,
            state,
            tail,
            last
        );
        dff_setup!(self, clock, finish, finish_slot);
        dff_setup!(self, clock, to_last, to_bound, bounded, target, target_moves);
        clock!(self, clock, starts);

        // Slots.
        self.occupied.next = self.next_slot.q.val() - self.oldest_slot.q.val();
        self.some.next = self.next_slot.q.val() != self.oldest_slot.q.val();
        self.left.d.next = self.all.val() - self.occupied.val();
        self.in_use.d.next = self.some.val() | self.take.val();
        self.free.next = self.left.q.val();
        self.used.next = self.in_use.q.val();
        self.number.next = self.next_slot.q.val().get_bits::<6>(0);
        self.oldest.next = self.oldest_slot.q.val().get_bits::<6>(0);
        self.starts.write_enable.next = self.take.val();
        self.starts.write_address.next = self.next_slot.q.val().get_bits::<6>(0);
        self.starts.write_data.next = self.take_beat.val().get_bits::<BA>(0);
        self.starts.read_enable.next = true;
        self.starts.read_address.next = self.oldest_slot.q.val().get_bits::<6>(0);
        self.slot.next = self.s_release_valid.val() & self.s_release_beat.val().get_bit(13) & !self.s_release_beat.val().get_bit(12);
        self.frame.next = self.s_release_valid.val() & !self.s_release_beat.val().get_bit(13);
        self.finished.next = self.done.q.val();
        if self.take.val() {
            self.finished.next = self
                .done
                .q
                .val()
                .replace_bit(self.next_slot.q.val().get_bits::<6>(0).index(), false);
            self.next_slot.d.next = self.next_slot.q.val() + 1;
        }
        self.done.d.next = self.finished.val();
        self.done_ready.next = !self.slot.val();
        // What is done counts a cycle later.
        self.finish.d.next = self.slot.val() | self.done_valid.val();
        self.finish_slot.d.next = self.done_slot.val();
        if self.slot.val() {
            self.finish_slot.d.next = self.s_release_beat.val().get_bits::<6>(0);
        }
        if self.finish.q.val() {
            self.done.d.next = self.finished.val().replace_bit(self.finish_slot.q.val().index(), true);
        }
        self.leaves.d.next =
            self.some.val() & !self.leaves.q.val() & self.done.q.val().get_bit(self.oldest_slot.q.val().get_bits::<6>(0).index());
        self.retires.next = self.leaves.q.val();
        if self.retires.val() {
            self.oldest_slot.d.next = self.oldest_slot.q.val() + 1;
        }
        // The start of the oldest is there two cycles after it became the oldest.
        self.moved.d.next = self.retires.val() | self.take.val();
        self.fresh.d.next = !self.moved.q.val() & !self.retires.val() & !self.take.val();
        self.stands.next = self.fresh.q.val() & !self.moved.q.val();
        self.bound_valid.next = self.stands.val() & self.some.val() & !self.retires.val();
        self.bound.next = self.starts.read_data.val();

        // The tail.
        self.m_release_valid.next = false;
        self.m_release_beat.next = self.s_release_beat.val();
        if self.frame.val() {
            self.last.d.next = self.s_release_beat.val().get_bits::<BA>(0);
        }
        self.target_moves.d.next = false;
        match self.state.q.val() {
            TailState::Through => {
                self.m_release_valid.next = self.frame.val();
                if self.frame.val() {
                    self.tail.d.next = self.s_release_beat.val().get_bits::<BA>(0);
                }
                if self.take.val() {
                    self.state.d.next = TailState::Measure;
                }
            }
            TailState::Measure => {
                self.to_last.d.next = self.last.q.val() - self.tail.q.val();
                self.to_bound.d.next = self.starts.read_data.val() - self.tail.q.val();
                self.bounded.d.next = self.some.val();
                if self.stands.val() & !self.retires.val() & !self.take.val() {
                    self.state.d.next = TailState::Compare;
                }
            }
            TailState::Compare => {
                self.target.d.next = self.tail.q.val() + self.to_last.q.val();
                self.target_moves.d.next = self.to_last.q.val().any();
                if self.bounded.q.val() & (self.to_bound.q.val() < self.to_last.q.val()) {
                    self.target.d.next = self.tail.q.val() + self.to_bound.q.val();
                    self.target_moves.d.next = self.to_bound.q.val().any();
                }
                self.state.d.next = TailState::Move;
            }
            TailState::Move => {
                self.m_release_valid.next = self.target_moves.q.val();
                self.m_release_beat.next = bit_cast::<14, BA>(self.target.q.val());
                self.tail.d.next = self.target.q.val();
                self.state.d.next = TailState::Measure;
                // Nothing is held, and nothing held back.
                if !self.bounded.q.val()
                    & !self.take.val()
                    & !self.frame.val()
                    & !self.some.val()
                    & (self.last.q.val() == self.target.q.val())
                {
                    self.state.d.next = TailState::Through;
                }
            }
            _ => self.state.d.next = TailState::Measure,
        }

        if self.reset.val() {
            self.next_slot.d.next = 0.into();
            self.oldest_slot.d.next = 0.into();
            self.left.d.next = self.all.val();
            self.in_use.d.next = false;
            self.finish.d.next = false;
            self.moved.d.next = false;
            self.fresh.d.next = false;
            self.leaves.d.next = false;
            self.state.d.next = TailState::Through;
            self.tail.d.next = 0.into();
            self.last.d.next = 0.into();
            self.m_release_valid.next = false;
        }
    }

    crate::block_name!();
}
