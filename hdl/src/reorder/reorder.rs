// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reorder station: early requests are held until their turn (R42), so that what stands behind it executes PSNs in order.
//!
//! ```text
//!  rx.head ─────────────────────────┬─► m_head ─► control ─► early? ─ hold_* ─┐
//!     ▲          ┌─► head_store ────┘                                         ▼
//!     │          └───────────────────────────────────────────────────────► keeper ─► slots
//!  rx ring ◄─ m_release ◄──────────────────────────────────────────────────────────────┴─ s_release ◄─ DMA writer
//! ```
//!
//! A held packet stays in the frame ring, whose tail waits before the oldest; its head goes to a RAM and comes back as control's next head when ePSN
//! reaches it. While nothing is held all paths are wires. See `docs/stations/reorder.md`.

use super::{HeadStore, HoleClock, Keeper, Slots};
use crate::rx::PacketHead;
use rust_hdl::prelude::*;

/// `2^QA` QPs (`RA = QA + 1`), `2^WA` windows (`WB = WA + 1`, `MA = WA + 6`), `C` one more than the larger of `RA` and `MA`, a ring of `2^BA` beats.
#[derive(LogicBlock)]
pub struct Reorder<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The tables are cleared.
    pub ready: Signal<Out, Bit>,
    /// Clocks per 4.096 us, 24.8 fixed point.
    pub tick: Signal<In, Bits<32>>,
    pub s_head: Signal<In, PacketHead>,
    pub s_head_valid: Signal<In, Bit>,
    pub s_head_next: Signal<Out, Bit>,
    pub m_head: Signal<Out, PacketHead>,
    /// Falls before `m_head_next` only where the QP of a held head ends meanwhile.
    pub m_head_valid: Signal<Out, Bit>,
    pub m_head_next: Signal<In, Bit>,
    /// The head is there to answer a gap only: nothing is executed or counted.
    pub probe: Signal<Out, Bit>,
    /// Control has begun with the head and isn't done.
    pub packet_busy: Signal<In, Bit>,
    /// With `m_head_next`: ePSN of its QP, and whether the packet moved it; perhaps by more than one.
    pub packet_psn: Signal<In, Bits<24>>,
    pub packet_moved: Signal<In, Bit>,
    pub packet_jumped: Signal<In, Bit>,
    /// The head is a request beyond ePSN, of a QP that has the attribute. Held until done; the other inputs stand still.
    pub hold_valid: Signal<In, Bit>,
    /// PSN - ePSN.
    pub hold_distance: Signal<In, Bits<24>>,
    /// A NAK or RNR NAK stands.
    pub hold_standing: Signal<In, Bit>,
    /// The QP's attributes.
    pub nak_distance: Signal<In, Bits<6>>,
    pub nak_delay: Signal<In, Bits<12>>,
    pub hold_done: Signal<Out, Bit>,
    /// With done: the gap is answered by a NAK (R23, R24).
    pub hold_nak: Signal<Out, Bit>,
    /// With done: the packet's counter.
    pub hold_code: Signal<Out, Bits<6>>,
    /// A QP's state has changed; taken by all with `state_taken`.
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    pub state_taken: Signal<In, Bit>,
    /// Ring beat after the last frame received.
    pub committed_beat: Signal<In, Bits<14>>,
    pub s_release_valid: Signal<In, Bit>,
    pub s_release_beat: Signal<In, Bits<14>>,
    pub m_release_valid: Signal<Out, Bit>,
    pub m_release_beat: Signal<Out, Bits<14>>,
    /// Counters beside control's.
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    keeper: Keeper<QA, RA, WA, WB, MA, C>,
    heads: HeadStore,
    slots: Slots<BA>,
    hole_clock: HoleClock,
    full: DFF<Bits<BA>>,
    full_valid: DFF<Bit>,
    pressed: DFF<Bit>,
    head: Signal<Local, PacketHead>,
    limit: Constant<Bits<BA>>,
    nobody: Constant<Bits<14>>,
}

/// Beats of the ring that held packets leave free, 5 KiB: the longest frame, which may be coming in, and the time that giving up takes.
const RESERVE: u64 = 640;

/// The `tengig` preset's.
pub type ReorderTengig = Reorder<8, 9, 4, 5, 10, 11, 12>;

impl<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize, const BA: usize> Default
    for Reorder<QA, RA, WA, WB, MA, C, BA>
{
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            tick: Default::default(),
            s_head: Default::default(),
            s_head_valid: Default::default(),
            s_head_next: Default::default(),
            m_head: Default::default(),
            m_head_valid: Default::default(),
            m_head_next: Default::default(),
            probe: Default::default(),
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
            committed_beat: Default::default(),
            s_release_valid: Default::default(),
            s_release_beat: Default::default(),
            m_release_valid: Default::default(),
            m_release_beat: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            keeper: Default::default(),
            heads: Default::default(),
            slots: Default::default(),
            hole_clock: Default::default(),
            full: Default::default(),
            full_valid: Default::default(),
            pressed: Default::default(),
            head: Default::default(),
            limit: Constant::new(((1u64 << BA) - RESERVE).to_bits()),
            nobody: Constant::new(0x3000u64.to_bits()),
        }
    }
}

impl<const QA: usize, const RA: usize, const WA: usize, const WB: usize, const MA: usize, const C: usize, const BA: usize> Logic
    for Reorder<QA, RA, WA, WB, MA, C, BA>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, full_valid, pressed);
        clock!(self, clock, keeper, heads, slots, hole_clock);
        self.keeper.reset.next = self.reset.val();
        self.heads.reset.next = self.reset.val();
        self.slots.reset.next = self.reset.val();
        self.hole_clock.reset.next = self.reset.val();
        self.ready.next = self.keeper.ready.val();

        // Heads.
        self.head.next = self.s_head.val();
        if self.keeper.shown.val() {
            self.head.next = self.heads.m_head.val();
            if self.keeper.probing.val() {
                self.head.next.end_beat = self.nobody.val();
            }
        }
        self.m_head.next = self.head.val();
        self.m_head_valid.next = self.keeper.shown.val() | (self.s_head_valid.val() & !self.keeper.blocked.val());
        self.s_head_next.next = self.m_head_next.val() & !self.keeper.shown.val();
        self.probe.next = self.keeper.probing.val();
        self.heads.s_head.next = self.s_head.val();
        self.heads.store.next = self.keeper.store.val();
        self.heads.store_slot.next = self.slots.number.val();
        self.heads.load.next = self.keeper.load.val();
        self.heads.load_slot.next = self.keeper.load_slot.val();
        self.heads.advance.next = self.keeper.advance.val();

        // Keeper.
        self.hole_clock.tick.next = self.tick.val();
        self.keeper.now.next = self.hole_clock.now.val();
        self.keeper.head_index.next = self.head.val().qpn.get_bits::<QA>(0);
        self.keeper.head_psn.next = self.head.val().psn;
        self.keeper.head_next.next = self.m_head_next.val();
        self.keeper.packet_busy.next = self.packet_busy.val();
        self.keeper.packet_psn.next = self.packet_psn.val();
        self.keeper.packet_moved.next = self.packet_moved.val();
        self.keeper.packet_jumped.next = self.packet_jumped.val();
        self.keeper.hold_valid.next = self.hold_valid.val();
        self.keeper.hold_distance.next = self.hold_distance.val();
        self.keeper.hold_standing.next = self.hold_standing.val();
        self.keeper.nak_distance.next = self.nak_distance.val();
        self.keeper.nak_delay.next = self.nak_delay.val();
        self.hold_done.next = self.keeper.hold_done.val();
        self.hold_nak.next = self.keeper.hold_nak.val();
        self.hold_code.next = self.keeper.hold_code.val();
        self.keeper.state_valid.next = self.state_valid.val();
        self.keeper.state_index.next = self.state_index.val().get_bits::<QA>(0);
        self.keeper.state.next = self.state.val();
        self.state_ready.next = self.keeper.state_ready.val();
        self.keeper.state_taken.next = self.state_taken.val();
        self.keeper.storing.next = self.heads.storing.val();
        self.keeper.loading.next = self.heads.loading.val();
        self.keeper.held_index.next = self.heads.m_head.val().qpn.get_bits::<QA>(0);
        self.keeper.held_psn.next = self.heads.m_head.val().psn;
        self.keeper.held_slot.next = self.heads.m_head.val().end_beat.get_bits::<6>(0);
        self.event_valid.next = self.keeper.event_valid.val();
        self.event_code.next = self.keeper.event_code.val();
        self.keeper.event_ready.next = self.event_ready.val();

        // Slots.
        self.keeper.slot.next = self.slots.number.val();
        self.keeper.slots_free.next = self.slots.free.val();
        self.keeper.used.next = self.slots.used.val();
        self.keeper.oldest.next = self.slots.oldest.val();
        self.slots.take.next = self.keeper.take.val();
        self.slots.take_beat.next = self.s_head.val().frame_beat;
        self.slots.done_valid.next = self.keeper.done_valid.val();
        self.slots.done_slot.next = self.keeper.done_slot.val();
        self.keeper.done_ready.next = self.slots.done_ready.val();
        self.slots.s_release_valid.next = self.s_release_valid.val();
        self.slots.s_release_beat.next = self.s_release_beat.val();
        self.m_release_valid.next = self.slots.m_release_valid.val();
        self.m_release_beat.next = self.slots.m_release_beat.val();

        // What is received since the oldest that is held.
        self.full.d.next = self.committed_beat.val().get_bits::<BA>(0) - self.slots.bound.val();
        self.full_valid.d.next = self.slots.bound_valid.val();
        self.pressed.d.next = self.full_valid.q.val() & self.slots.bound_valid.val() & (self.full.q.val() > self.limit.val());
        self.keeper.pressed.next = self.pressed.q.val();

        if self.reset.val() {
            self.pressed.d.next = false;
            self.full_valid.d.next = false;
        }
    }

    crate::block_name!();
}
