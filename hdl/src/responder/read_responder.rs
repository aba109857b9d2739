// SPDX-License-Identifier: MIT OR Apache-2.0
//! READ and ATOMIC as responder: requests wait in resources until what stands before them has landed, then their responses go out, a packet a turn.
//!
//! ```text
//! control ─ request ─►┐                                   ┌─► key check (KeyArbiter)
//! retire ── serve ───►├─► sequencer ◄─► store, ring, span ┼─► job, packet ─► PacketArbiter
//! control ─ state ───►│      ▲                            └─► ATOMIC unit ─► AXI
//!                     └ turn queue          done ─► flight ─► failure ─► qp_error, event, count
//! retire ── s_ack ─► gate ─────────────► m_ack
//! ```
//!
//! See docs/stations/read_responder.md. `QB` is `QA + 1`; `PA` log2 of the pool's resources, `AA` and `BA` as in `ResourceStore`; `RA` log2 of the longest
//! ring, `RC` one more; `SPLIT` 1: two RAMs and registers around them; `SMALL` 1: PMTU 256 and 512 only; `ATOMICS` 1: with ATOMIC.

use super::read::{
    AckGate, Flight, ReadFailure, ReadKind, ReadSequencer, ResourceRing, ResourceStore, ResponsePacket, Span, WordUse, WriteFrom,
};
use crate::host::EventJob;
use crate::mem::{AtomicUnit, ReadJob};
use crate::rx::PacketHead;
use crate::stream::Fifo;
use crate::tx::AckJob;
use rust_hdl::prelude::*;

#[derive(LogicBlock)]
pub struct ReadResponder<
    const QA: usize,
    const QB: usize,
    const PA: usize,
    const AA: usize,
    const BA: usize,
    const RA: usize,
    const RC: usize,
    const SPLIT: usize,
    const SMALL: usize,
    const ATOMICS: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The rings are cleared.
    pub ready: Signal<Out, Bit>,
    /// Host writes of QP row words: index · 32 + word.
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    /// From control: a READ or ATOMIC request for a live QP, held until done. The verdict and the PSNs it takes count in the done cycle.
    pub head: Signal<In, PacketHead>,
    pub request_valid: Signal<In, Bit>,
    pub request_index: Signal<In, Bits<12>>,
    pub request_duplicate: Signal<In, Bit>,
    pub request_msn: Signal<In, Bits<24>>,
    pub request_done: Signal<Out, Bit>,
    pub request_verdict: Signal<Out, Bits<3>>,
    pub request_psns: Signal<Out, Bits<24>>,
    /// From retire: what stands before the QP's oldest unreleased request has landed.
    pub serve_valid: Signal<In, Bit>,
    pub serve_index: Signal<In, Bits<12>>,
    pub serve_ready: Signal<Out, Bit>,
    /// From retire, and to `tx`.
    pub s_ack: Signal<In, AckJob>,
    pub s_ack_valid: Signal<In, Bit>,
    pub s_ack_ready: Signal<Out, Bit>,
    pub m_ack: Signal<Out, AckJob>,
    pub m_ack_valid: Signal<Out, Bit>,
    pub m_ack_ready: Signal<In, Bit>,
    /// From control: the QP's state is now this.
    pub state_valid: Signal<In, Bit>,
    pub state_index: Signal<In, Bits<12>>,
    pub state: Signal<In, Bits<3>>,
    pub state_ready: Signal<Out, Bit>,
    /// Client of `mem::KeyArbiter`.
    pub key_start: Signal<Out, Bit>,
    pub key_op: Signal<Out, Bits<1>>,
    pub key: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_length: Signal<Out, Bits<32>>,
    pub key_pd: Signal<Out, Bits<16>>,
    pub key_access: Signal<Out, Bits<4>>,
    pub key_done: Signal<In, Bit>,
    pub key_ok: Signal<In, Bit>,
    pub key_paged: Signal<In, Bit>,
    pub key_address: Signal<In, Bits<64>>,
    /// Source of `tx::PacketArbiter`.
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    /// The packet arbiter would grant a packet, and the DMA reader take its job. A turn waits until that has been seen since the last one, so that requests don't wait behind a packet without room.
    pub room: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    /// See `mem::AtomicUnit`.
    pub atomic_lock: Signal<Out, Bit>,
    pub atomic_locked: Signal<In, Bit>,
    pub atomic_lookup_valid: Signal<Out, Bit>,
    pub atomic_lookup_entry: Signal<Out, Bits<16>>,
    pub atomic_lookup_done: Signal<In, Bit>,
    pub atomic_lookup_page: Signal<In, Bits<52>>,
    pub atomic_ar_address: Signal<Out, Bits<64>>,
    pub atomic_ar_length: Signal<Out, Bits<8>>,
    pub atomic_ar_valid: Signal<Out, Bit>,
    pub atomic_ar_ready: Signal<In, Bit>,
    pub atomic_r_data: Signal<In, Bits<64>>,
    pub atomic_r_error: Signal<In, Bit>,
    pub atomic_r_valid: Signal<In, Bit>,
    pub atomic_r_ready: Signal<Out, Bit>,
    pub atomic_aw_address: Signal<Out, Bits<64>>,
    pub atomic_aw_length: Signal<Out, Bits<8>>,
    pub atomic_aw_valid: Signal<Out, Bit>,
    pub atomic_aw_ready: Signal<In, Bit>,
    pub atomic_w_data: Signal<Out, Bits<64>>,
    pub atomic_w_strobe: Signal<Out, Bits<8>>,
    pub atomic_w_last: Signal<Out, Bit>,
    pub atomic_w_valid: Signal<Out, Bit>,
    pub atomic_w_ready: Signal<In, Bit>,
    pub atomic_b_valid: Signal<In, Bit>,
    pub atomic_b_error: Signal<In, Bit>,
    /// To control: the QP goes to ERR.
    pub qp_error_index: Signal<Out, Bits<12>>,
    pub qp_error_valid: Signal<Out, Bit>,
    pub qp_error_ready: Signal<In, Bit>,
    pub event_job: Signal<Out, EventJob>,
    pub event_valid: Signal<Out, Bit>,
    pub event_ready: Signal<In, Bit>,
    pub count_code: Signal<Out, Bits<6>>,
    pub count_valid: Signal<Out, Bit>,
    pub count_ready: Signal<In, Bit>,
    store: ResourceStore<QA, PA, AA, BA, SPLIT, ATOMICS>,
    ring: ResourceRing<RA, RC>,
    arithmetic: Span<SMALL>,
    sequencer: ReadSequencer,
    packet: ResponsePacket<QA>,
    flight: Flight,
    failure: ReadFailure<QA>,
    gate: AckGate<QA>,
    /// The queue's head, a cycle late: it has stood long when the sequencer looks again after a turn.
    turn_waits: DFF<Bit>,
    turn_index: DFF<Bits<QA>>,
    turns: Fifo<QA, QB, QA>,
    units: [AtomicUnit; ATOMICS],
    index: DFF<Bits<QA>>,
    base: DFF<Bits<PA>>,
    places: DFF<Bits<RC>>,
    resource: DFF<Bits<PA>>,
    flushing: DFF<Bit>,
    /// There has been room since the last turn.
    roomy: DFF<Bit>,
    idle: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    head_atomic: Signal<Local, Bit>,
    head_word: Signal<Local, Bits<32>>,
    head_low: Signal<Local, Bits<32>>,
    head_high: Signal<Local, Bits<32>>,
    head_six: Signal<Local, Bits<32>>,
    head_seven: Signal<Local, Bits<32>>,
    select: Signal<Local, Bits<4>>,
    head_select: DFF<Bits<4>>,
    head_late: DFF<Bits<4>>,
    head_later: DFF<Bits<4>>,
    /// The request is done: a register, with its verdict and PSNs.
    answered: DFF<Bit>,
    verdict_kept: DFF<Bits<3>>,
    psns_kept: DFF<Bits<24>>,
    request_now: Signal<Local, Bit>,
    operand: DFF<Bits<32>>,
    direct: Constant<Bit>,
    state_done: Signal<Local, Bit>,
    access_read: Constant<Bits<4>>,
    access_atomic: Constant<Bits<4>>,
    nak_operation: Constant<Bits<32>>,
    nak_class: Constant<Bits<2>>,
}

/// The READ responder of `tengig`: 1024 resources, rings of 16.
pub type ReadResponderTengig = ReadResponder<8, 9, 10, 12, 13, 4, 5, 1, 0, 1>;
/// That of `cu`: 8 resources, rings of 2, no ATOMIC.
pub type ReadResponderCu = ReadResponder<2, 3, 3, 7, 6, 1, 2, 0, 1, 0>;

impl<
        const QA: usize,
        const QB: usize,
        const PA: usize,
        const AA: usize,
        const BA: usize,
        const RA: usize,
        const RC: usize,
        const SPLIT: usize,
        const SMALL: usize,
        const ATOMICS: usize,
    > Default for ReadResponder<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>
{
    fn default() -> Self {
        assert!(QB == QA + 1 && RC == RA + 1 && RA <= 4 && ATOMICS <= 1, "ReadResponder: parameters");
        assert!(QA <= 8, "ReadResponder: a packet under way keeps 8 bits of its QP index");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ready: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            head: Default::default(),
            request_valid: Default::default(),
            request_index: Default::default(),
            request_duplicate: Default::default(),
            request_msn: Default::default(),
            request_done: Default::default(),
            request_verdict: Default::default(),
            request_psns: Default::default(),
            serve_valid: Default::default(),
            serve_index: Default::default(),
            serve_ready: Default::default(),
            s_ack: Default::default(),
            s_ack_valid: Default::default(),
            s_ack_ready: Default::default(),
            m_ack: Default::default(),
            m_ack_valid: Default::default(),
            m_ack_ready: Default::default(),
            state_valid: Default::default(),
            state_index: Default::default(),
            state: Default::default(),
            state_ready: Default::default(),
            key_start: Default::default(),
            key_op: Default::default(),
            key: Default::default(),
            key_va: Default::default(),
            key_length: Default::default(),
            key_pd: Default::default(),
            key_access: Default::default(),
            key_done: Default::default(),
            key_ok: Default::default(),
            key_paged: Default::default(),
            key_address: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            room: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            atomic_lock: Default::default(),
            atomic_locked: Default::default(),
            atomic_lookup_valid: Default::default(),
            atomic_lookup_entry: Default::default(),
            atomic_lookup_done: Default::default(),
            atomic_lookup_page: Default::default(),
            atomic_ar_address: Default::default(),
            atomic_ar_length: Default::default(),
            atomic_ar_valid: Default::default(),
            atomic_ar_ready: Default::default(),
            atomic_r_data: Default::default(),
            atomic_r_error: Default::default(),
            atomic_r_valid: Default::default(),
            atomic_r_ready: Default::default(),
            atomic_aw_address: Default::default(),
            atomic_aw_length: Default::default(),
            atomic_aw_valid: Default::default(),
            atomic_aw_ready: Default::default(),
            atomic_w_data: Default::default(),
            atomic_w_strobe: Default::default(),
            atomic_w_last: Default::default(),
            atomic_w_valid: Default::default(),
            atomic_w_ready: Default::default(),
            atomic_b_valid: Default::default(),
            atomic_b_error: Default::default(),
            qp_error_index: Default::default(),
            qp_error_valid: Default::default(),
            qp_error_ready: Default::default(),
            event_job: Default::default(),
            event_valid: Default::default(),
            event_ready: Default::default(),
            count_code: Default::default(),
            count_valid: Default::default(),
            count_ready: Default::default(),
            store: Default::default(),
            ring: Default::default(),
            arithmetic: Default::default(),
            sequencer: ReadSequencer::new(ATOMICS == 1),
            packet: Default::default(),
            flight: Default::default(),
            failure: Default::default(),
            gate: Default::default(),
            turn_waits: Default::default(),
            turn_index: Default::default(),
            turns: Default::default(),
            units: std::array::from_fn(|_| Default::default()),
            index: Default::default(),
            base: Default::default(),
            places: Default::default(),
            resource: Default::default(),
            flushing: Default::default(),
            roomy: Default::default(),
            idle: Default::default(),
            leaves: Default::default(),
            head_atomic: Default::default(),
            head_word: Default::default(),
            head_low: Default::default(),
            head_high: Default::default(),
            head_six: Default::default(),
            head_seven: Default::default(),
            select: Default::default(),
            head_select: Default::default(),
            head_late: Default::default(),
            head_later: Default::default(),
            answered: Default::default(),
            verdict_kept: Default::default(),
            psns_kept: Default::default(),
            request_now: Default::default(),
            operand: Default::default(),
            direct: Constant::new(SPLIT == 0),
            state_done: Default::default(),
            access_read: Constant::new(4u64.to_bits()),
            access_atomic: Constant::new(8u64.to_bits()),
            nak_operation: Constant::new((0x63u64 << 24).to_bits()),
            nak_class: Constant::new(3u64.to_bits()),
        }
    }
}

impl<
        const QA: usize,
        const QB: usize,
        const PA: usize,
        const AA: usize,
        const BA: usize,
        const RA: usize,
        const RC: usize,
        const SPLIT: usize,
        const SMALL: usize,
        const ATOMICS: usize,
    > Logic for ReadResponder<QA, QB, PA, AA, BA, RA, RC, SPLIT, SMALL, ATOMICS>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            index,
            base,
            places,
            resource,
            flushing,
            roomy,
            head_select,
            head_late,
            head_later,
            answered,
            verdict_kept,
            psns_kept,
            operand,
            turn_waits,
            turn_index
        );
        clock!(self, clock, store, ring, arithmetic, sequencer, packet, flight, failure, gate, turns);
        self.store.reset.next = self.reset.val();
        self.sequencer.reset.next = self.reset.val();
        self.packet.reset.next = self.reset.val();
        self.flight.reset.next = self.reset.val();
        self.failure.reset.next = self.reset.val();
        self.gate.reset.next = self.reset.val();
        self.turns.reset.next = self.reset.val();
        self.ready.next = self.store.ready.val();

        // What goes next: of those that want, the last one here. The sequencer looks when it is idle.
        self.idle.next = self.sequencer.idle.val() & self.store.ready.val();
        self.leaves.next = !self.state.val().get_bits::<2>(1).any();
        // What was answered is on offer for a cycle more.
        self.request_now.next = self.request_valid.val() & !self.answered.q.val();
        self.sequencer.go_turn.next = self.store.ready.val()
            & self.turn_waits.q.val()
            & self.roomy.q.val()
            & !self.flight.full.val()
            & self.failure.idle.val()
            & !self.flushing.q.val();
        self.sequencer.go_request.next = self.store.ready.val() & self.request_now.val();
        self.sequencer.go_ack.next = self.store.ready.val() & self.gate.wanted.val();
        self.sequencer.go_serve.next = self.store.ready.val() & self.serve_valid.val();
        self.sequencer.go_state.next = self.store.ready.val()
            & self.state_valid.val()
            & self.leaves.val()
            & (!self.flushing.q.val() | (self.flight.empty.val() & !self.flight.failed.val()));
        self.sequencer.go_trouble.next = self.store.ready.val() & self.flight.failed.val();
        // It leaves the queue once its index is taken.
        self.turns.m_ready.next = self.sequencer.turn_taken.val();
        self.turn_waits.d.next = self.turns.m_valid.val();
        self.turn_index.d.next = self.turns.m_data.val();
        // A turn uses it up. It may be there for a cycle only, between two jobs of Send.
        if self.room.val() {
            self.roomy.d.next = true;
        }
        if self.sequencer.turn.val() & !self.idle.val() {
            self.roomy.d.next = false;
        }
        if self.sequencer.load_index.val() {
            self.index.d.next = self.turn_index.q.val();
            if self.request_now.val() {
                self.index.d.next = self.request_index.val().get_bits::<QA>(0);
            }
            if self.gate.wanted.val() {
                self.index.d.next = self.s_ack.val().qp_index.get_bits::<QA>(0);
            }
            if self.serve_valid.val() {
                self.index.d.next = self.serve_index.val().get_bits::<QA>(0);
            }
            if self.sequencer.go_state.val() {
                self.index.d.next = self.state_index.val().get_bits::<QA>(0);
            }
        }
        if self.sequencer.load_flight_index.val() {
            self.index.d.next = self.store.word.val().get_bits::<QA>(24);
        }

        // What the head is.
        self.head_atomic.next = self.head.val().opcode.get_bit(4);
        self.sequencer.duplicate.next = self.request_duplicate.val();
        self.sequencer.head_atomic.next = self.head_atomic.val();
        self.sequencer.head_compare.next = self.head.val().opcode.get_bit(0);
        self.head_select.d.next = self.sequencer.head_item.val();
        self.head_late.d.next = self.head_select.q.val();
        self.head_later.d.next = self.head_late.q.val();
        self.select.next = self.head_late.q.val();
        if self.direct.val() {
            self.select.next = self.head_later.q.val();
        }
        self.head_six.next = bit_cast::<32, 24>(self.s_ack.val().psn);
        self.head_seven.next = bit_cast::<32, 24>(self.s_ack.val().msn) | (bit_cast::<32, 8>(self.s_ack.val().syndrome) << 24);
        for _i in 0..ATOMICS {
            if !self.select.val().get_bit(3) {
                self.head_six.next = self.head.val().xth4;
                self.head_seven.next = self.head.val().xth5;
            }
        }
        self.head_low.next = bit_cast::<32, 24>(self.head.val().psn)
            | (bit_cast::<32, 1>(self.head_atomic.val().into()) << 24)
            | (bit_cast::<32, 1>((self.head_atomic.val() & self.head.val().opcode.get_bit(0)).into()) << 26);
        self.head_high.next = self.head.val().xth3;
        match self.select.val().get_bits::<2>(0).index() {
            1 => {
                self.head_low.next = self.head.val().xth1;
                self.head_high.next = bit_cast::<32, 24>(self.request_msn.val());
            }
            2 => {
                self.head_low.next = self.head.val().xth0;
                self.head_high.next = self.head_six.val();
            }
            3 => {
                self.head_low.next = self.head.val().xth2;
                self.head_high.next = self.head_seven.val();
            }
            _ => {}
        }
        self.head_word.next = self.head_low.val();
        if self.select.val().get_bit(2) {
            self.head_word.next = self.head_high.val();
        }
        for _i in 0..ATOMICS {
            if self.select.val().get_bit(3) & !self.select.val().get_bit(2) {
                self.head_word.next = self.head.val().xth6;
            }
        }
        self.operand.d.next = self.head_word.val();

        // Store.
        self.store.table_valid.next = self.table_valid.val();
        self.store.table_address.next = self.table_address.val();
        self.store.table_data.next = self.table_data.val();
        self.table_ready.next = self.store.table_ready.val();
        self.store.index.next = self.index.q.val();
        self.store.resource.next = self.resource.q.val();
        self.resource.d.next = self.base.q.val() + bit_cast::<PA, RA>(self.ring.place.val());
        self.store.pool.next = self.sequencer.ask_pool.val();
        self.store.flight.next = self.sequencer.ask_flight.val();
        self.store.item.next = self.sequencer.ask_item.val();
        if self.sequencer.ask_flight.val() {
            self.store.item.next =
                (bit_cast::<4, 3>(self.flight.oldest.val()) << 1) | bit_cast::<4, 1>(self.sequencer.flight_second.val().into());
        }
        self.store.open.next = self.sequencer.open.val();
        self.store.write.next = self.sequencer.write.val();
        self.store.write_pool.next = self.sequencer.write_pool.val();
        self.store.write_flight.next = false;
        self.store.write_item.next = self.sequencer.write_item.val();
        self.store.write_data.next = self.arithmetic.sum.val();
        match self.sequencer.write_from.val() {
            WriteFrom::Ring => {
                self.store.write_data.next = self.ring.packed_word.val();
            }
            WriteFrom::Packet => {
                self.store.write_data.next = self.packet.write_data.val();
            }
            WriteFrom::Failed => {
                self.store.write_data.next = bit_cast::<32, 24>(self.store.word.val().get_bits::<24>(0)) | self.nak_operation.val();
            }
            _ => {}
        }
        if self.sequencer.in_packet.val() {
            self.store.pool.next = self.packet.pool.val();
            self.store.item.next = self.packet.item.val();
        }
        if self.packet.away.val() {
            self.store.write.next = self.packet.write.val();
            self.store.write_pool.next = self.packet.write_pool.val();
            self.store.write_flight.next = self.packet.write_flight.val();
            self.store.write_item.next = self.packet.write_item.val();
        }
        if self.sequencer.word_use.val() == WordUse::Limits {
            self.base.d.next = self.store.word.val().get_bits::<PA>(0);
            self.places.d.next = self.store.word.val().get_bits::<RC>(16);
        }

        // Ring.
        self.ring.load.next = self.sequencer.word_use.val() == WordUse::Ring;
        self.ring.word.next = self.store.word.val();
        self.ring.places.next = self.places.q.val();
        self.ring.popped.next = self.sequencer.turn.val();
        self.ring.back_active.next = self.sequencer.back_active.val();
        self.ring.accept.next = self.sequencer.accept.val();
        self.ring.discard.next = self.sequencer.discard.val();
        self.ring.finish.next = self.sequencer.finish.val();
        self.ring.advance.next = self.sequencer.advance.val();
        self.ring.released.next = self.sequencer.released.val();
        self.ring.back.next = self.sequencer.back.val();
        self.ring.hold.next = self.sequencer.hold.val();
        self.ring.drop_held.next = self.sequencer.drop_held.val();
        self.ring.clear.next = self.sequencer.clear.val();
        self.ring.shut_now.next = self.sequencer.shut_now.val();
        self.ring.owe.next = self.sequencer.owe.val();
        self.ring.search_start.next = self.sequencer.search_start.val();
        self.ring.search_step.next = self.sequencer.search_step.val();
        self.ring.turn.next = self.sequencer.turn.val();
        self.ring.searching.next = self.sequencer.searching.val();
        self.sequencer.full.next = self.ring.full.val();
        self.sequencer.busy.next = self.ring.busy.val();
        self.sequencer.held.next = self.ring.held.val();
        self.sequencer.shut.next = self.ring.shut.val();
        self.sequencer.owing.next = self.ring.owing.val();
        self.sequencer.replay.next = self.ring.replay.val();
        self.sequencer.active.next = self.ring.active.val();
        self.sequencer.exhausted.next = self.ring.exhausted.val();
        self.sequencer.pending.next = self.ring.pending.val();
        self.sequencer.prolongs.next = self.ring.prolongs.val();
        self.sequencer.flushing.next = self.flushing.q.val();

        // Arithmetic.
        self.arithmetic.word.next = self.store.word.val();
        self.arithmetic.word_use.next = self.sequencer.word_use.val();
        self.arithmetic.next_use.next = self.sequencer.next_use.val();
        self.arithmetic.head_word.next = self.operand.q.val();
        if self.direct.val() {
            self.arithmetic.head_word.next = self.head_word.val();
        }
        self.arithmetic.turn.next = self.sequencer.turn.val();
        self.arithmetic.size.next = self.sequencer.size.val();
        self.arithmetic.take.next = self.sequencer.take.val();
        self.arithmetic.check.next = self.sequencer.check.val();
        self.arithmetic.key_address.next = self.key_address.val();
        self.arithmetic.key_paged.next = self.key_paged.val();
        self.sequencer.zero.next = self.arithmetic.zero.val();
        self.sequencer.mismatch.next = self.arithmetic.mismatch.val();
        self.sequencer.atomic.next = self.arithmetic.atomic.val();
        self.sequencer.executed.next = self.arithmetic.executed.val();
        self.sequencer.last.next = self.arithmetic.last.val();
        self.sequencer.huge.next = self.arithmetic.huge.val();
        self.sequencer.misaligned.next = self.arithmetic.misaligned.val();
        self.sequencer.later.next = self.arithmetic.sum.val().get_bit(23);
        self.sequencer.same_psn.next = !self.arithmetic.sum.val().get_bits::<24>(0).any();
        self.sequencer.found_atomic.next = self.store.word.val().get_bit(24);
        self.sequencer.found_executed.next = self.store.word.val().get_bit(25);
        self.sequencer.found_compare.next = self.store.word.val().get_bit(26);

        // Keys.
        self.key_start.next = self.sequencer.key_start.val();
        self.key_op.next = 0.into();
        self.key.next = self.store.word.val();
        self.key_va.next = self.arithmetic.va.val();
        self.key_length.next = self.arithmetic.span.val();
        self.key_pd.next = self.arithmetic.pd.val();
        self.key_access.next = self.access_read.val();
        self.sequencer.key_done.next = self.key_done.val();
        self.sequencer.key_ok.next = self.key_ok.val();

        // Packets.
        self.packet.start.next = self.sequencer.in_packet.val();
        self.packet.mode.next = self.sequencer.mode.val();
        self.packet.index.next = self.index.q.val();
        self.packet.access.next = self.sequencer.access.val();
        self.packet.active.next = self.ring.active.val();
        self.packet.middle.next = self.arithmetic.middle.val();
        self.packet.last.next = self.arithmetic.last.val();
        self.packet.length.next = self.arithmetic.span.val().get_bits::<14>(0);
        self.packet.newest.next = self.flight.newest.val();
        self.packet.word.next = self.store.word.val();
        self.packet.sum.next = self.arithmetic.sum.val();
        self.sequencer.packet_done.next = self.packet.done.val();
        self.sequencer.packet_next.next = self.packet.next_psn.val();
        self.packet_word.next = self.packet.packet_word.val();
        self.packet_last.next = self.packet.packet_last.val();
        self.packet_valid.next = self.packet.packet_valid.val();
        self.packet.packet_ready.next = self.packet_ready.val();
        self.job.next.paged = self.arithmetic.paged.val();
        self.job.next.address = self.arithmetic.va.val();
        self.job.next.length = self.arithmetic.span.val().get_bits::<14>(0);
        self.job.next.last = true;
        self.job_valid.next = self.packet.job_valid.val();
        self.packet.job_ready.next = self.job_ready.val();

        // What is under way, and what fails.
        self.flight.begin_packet.next = self.packet.flight_begin.val();
        self.flight.written.next = self.packet.flight_written.val();
        self.flight.done_valid.next = self.done_valid.val();
        self.flight.done_error.next = self.done_error.val();
        self.done_ready.next = self.flight.done_ready.val();
        self.flight.settled.next = self.sequencer.trouble_settled.val();
        self.failure.raise.next = self.sequencer.raise.val();
        self.failure.access.next = self.sequencer.access.val();
        self.failure.index.next = self.index.q.val();
        self.failure.tag_read.next = self.sequencer.word_use.val() == WordUse::Service;
        self.failure.tag.next = self.store.word.val().get_bits::<12>(20);
        self.qp_error_index.next = self.failure.qp_error_index.val();
        self.qp_error_valid.next = self.failure.qp_error_valid.val();
        self.failure.qp_error_ready.next = self.qp_error_ready.val();
        self.event_job.next = self.failure.event_job.val();
        self.event_valid.next = self.failure.event_valid.val();
        self.failure.event_ready.next = self.event_ready.val();
        self.count_code.next = self.failure.count_code.val();
        self.count_valid.next = self.failure.count_valid.val();
        self.failure.count_ready.next = self.count_ready.val();

        // ACKs.
        self.gate.s_ack.next = self.s_ack.val();
        self.gate.s_ack_valid.next = self.s_ack_valid.val();
        self.s_ack_ready.next = self.gate.s_ack_ready.val();
        self.m_ack.next = self.gate.m_ack.val();
        self.m_ack_valid.next = self.gate.m_ack_valid.val();
        self.gate.m_ack_ready.next = self.m_ack_ready.val();
        self.gate.forward.next = self.sequencer.forward.val();
        self.gate.taken.next = self.sequencer.ack_taken.val();
        self.sequencer.ack_gone.next = self.m_ack_ready.val();
        // A NAK other than of a sequence error.
        self.sequencer.ack_fatal.next =
            (self.s_ack.val().syndrome.get_bits::<2>(5) == self.nak_class.val()) & self.s_ack.val().syndrome.get_bits::<5>(0).any();

        // What is done.
        self.gate.mark.next = self.sequencer.save.val() | !self.store.ready.val();
        self.gate.mark_index.next = self.index.q.val();
        self.gate.mark_queued.next = self.ring.queued_after.val() & self.store.ready.val();
        if !self.store.ready.val() {
            self.gate.mark_index.next = self.store.walk_index.val();
        }
        self.turns.s_data.next = self.index.q.val();
        self.turns.s_valid.next = self.sequencer.save.val() & self.ring.push.val();
        self.answered.d.next = self.sequencer.save.val() & (self.sequencer.kind.val() == ReadKind::Request);
        self.verdict_kept.d.next = self.sequencer.verdict.val();
        self.psns_kept.d.next = self.arithmetic.packets.val();
        self.request_done.next = self.answered.q.val();
        self.request_verdict.next = self.verdict_kept.q.val();
        self.request_psns.next = self.psns_kept.q.val();
        self.serve_ready.next = self.sequencer.save.val() & (self.sequencer.kind.val() == ReadKind::Serve);
        self.state_done.next = self.sequencer.save.val() & (self.sequencer.kind.val() == ReadKind::State);
        if self.state_done.val() {
            self.flushing.d.next = !self.flushing.q.val();
        }
        self.state_ready.next = !self.leaves.val() | (self.state_done.val() & self.flushing.q.val());

        // ATOMIC.
        self.sequencer.atomic_done.next = false;
        self.sequencer.atomic_error.next = false;
        self.atomic_lock.next = false;
        self.atomic_lookup_valid.next = false;
        self.atomic_lookup_entry.next = 0.into();
        self.atomic_ar_address.next = 0.into();
        self.atomic_ar_length.next = 0.into();
        self.atomic_ar_valid.next = false;
        self.atomic_r_ready.next = false;
        self.atomic_aw_address.next = 0.into();
        self.atomic_aw_length.next = 0.into();
        self.atomic_aw_valid.next = false;
        self.atomic_w_data.next = 0.into();
        self.atomic_w_strobe.next = 0.into();
        self.atomic_w_last.next = false;
        self.atomic_w_valid.next = false;
        for i in 0..ATOMICS {
            self.units[i].clock.next = self.clock.val();
            self.units[i].reset.next = self.reset.val();
            self.units[i].load.next = self.sequencer.atomic_load.val();
            self.units[i].word.next = self.store.word.val();
            self.units[i].start.next = self.sequencer.atomic_start.val();
            self.units[i].compare_swap.next = self.arithmetic.compare.val();
            self.units[i].address.next = self.arithmetic.va.val();
            self.units[i].paged.next = self.arithmetic.paged.val();
            self.sequencer.atomic_done.next = self.units[i].done.val();
            self.sequencer.atomic_error.next = self.units[i].error.val();
            if self.arithmetic.atomic.val() {
                self.key_access.next = self.access_atomic.val();
            }
            if self.sequencer.write_from.val() == WriteFrom::ResultLow {
                self.store.write_data.next = self.units[i].result.val().get_bits::<32>(0);
            }
            if self.sequencer.write_from.val() == WriteFrom::ResultHigh {
                self.store.write_data.next = self.units[i].result.val().get_bits::<32>(32);
            }
            self.atomic_lock.next = self.units[i].lock.val();
            self.units[i].locked.next = self.atomic_locked.val();
            self.atomic_lookup_valid.next = self.units[i].lookup_valid.val();
            self.atomic_lookup_entry.next = self.units[i].lookup_entry.val();
            self.units[i].lookup_done.next = self.atomic_lookup_done.val();
            self.units[i].lookup_page.next = self.atomic_lookup_page.val();
            self.atomic_ar_address.next = self.units[i].ar_address.val();
            self.atomic_ar_length.next = self.units[i].ar_length.val();
            self.atomic_ar_valid.next = self.units[i].ar_valid.val();
            self.units[i].ar_ready.next = self.atomic_ar_ready.val();
            self.units[i].r_data.next = self.atomic_r_data.val();
            self.units[i].r_error.next = self.atomic_r_error.val();
            self.units[i].r_valid.next = self.atomic_r_valid.val();
            self.atomic_r_ready.next = self.units[i].r_ready.val();
            self.atomic_aw_address.next = self.units[i].aw_address.val();
            self.atomic_aw_length.next = self.units[i].aw_length.val();
            self.atomic_aw_valid.next = self.units[i].aw_valid.val();
            self.units[i].aw_ready.next = self.atomic_aw_ready.val();
            self.atomic_w_data.next = self.units[i].w_data.val();
            self.atomic_w_strobe.next = self.units[i].w_strobe.val();
            self.atomic_w_last.next = self.units[i].w_last.val();
            self.atomic_w_valid.next = self.units[i].w_valid.val();
            self.units[i].w_ready.next = self.atomic_w_ready.val();
            self.units[i].b_valid.next = self.atomic_b_valid.val();
            self.units[i].b_error.next = self.atomic_b_error.val();
        }

        if self.reset.val() {
            self.answered.d.next = false;
            self.flushing.d.next = false;
            self.roomy.d.next = false;
            self.turn_waits.d.next = false;
            self.state_ready.next = false;
        }
    }

    crate::block_name!("READ and ATOMIC as responder.");
}
