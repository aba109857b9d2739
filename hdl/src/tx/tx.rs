// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transmit station: ACKs, requests and responses, and the host's frames to the MAC.
//!
//! ```text
//! QP rows ──────────► word RAM ◄─┐
//! packet_* ─► slots ───┘         │
//! ack ─────────────────► packet builder ─► beat path (header and payload, ICRC) ─► frame out ─► arbiter, pad ─► m
//! payload_* ─► payload FIFO ─────────────────┘                                                    ▲
//! s_host ─► host FIFO ───────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! W = 32: the builder makes the whole packet, payload too, and its words go straight to frame out and to an ICRC that keeps step with them; no beat
//! path. A frame begins only when it will go to its end without a pause (`m_valid` doesn't fall inside a frame).
//! AckJob to first beat (W = 64, IPv4): 18 cycles; an ACK every 18. Events: exactly one for each frame that leaves (class Tx),
//! TX_POISONED for a packet and TX_HOST_DROPPED for a host frame that doesn't.

use super::{AckJob, AckOrder, Arbiter, BeatPath, FrameOut, HostFifo, PacketBuilder, PacketSlots, PayloadFifo, WordIcrc, WordRam};
use rust_hdl::prelude::*;

/// `W` bits, `K` bytes, `L` words a beat; `2^QA` QPs, word RAM of `2^RA` words, `2^SA` words of slots; host FIFO of `2^A` beats, `B = A + 1`, `D = W + K`, the longest host frame
/// `M` beats; `V` 1: IPv6, 802.1Q, four GIDs, UD; `G = W + L + 1`; `S = L - 1`, `N = 1 - S`: the wide, the narrow form; payload FIFO of `2^PA` beats, `PB = PA + 1`.
#[derive(LogicBlock)]
pub struct Tx<
    const W: usize,
    const K: usize,
    const L: usize,
    const QA: usize,
    const RA: usize,
    const A: usize,
    const B: usize,
    const D: usize,
    const M: usize,
    const V: usize,
    const G: usize,
    const S: usize,
    const N: usize,
    const SA: usize,
    const PA: usize,
    const PB: usize,
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    /// Packets as rows of words (docs/stations/requester.md).
    pub packet_word: Signal<In, Bits<32>>,
    pub packet_last: Signal<In, Bit>,
    pub packet_abandon: Signal<In, Bit>,
    pub packet_valid: Signal<In, Bit>,
    pub packet_ready: Signal<Out, Bit>,
    /// Payload of the packets that say so, in their order.
    pub payload_data: Signal<In, Bits<W>>,
    pub payload_last: Signal<In, Bit>,
    pub payload_error: Signal<In, Bit>,
    pub payload_valid: Signal<In, Bit>,
    pub payload_ready: Signal<Out, Bit>,
    /// Beats that the payload FIFO can take.
    pub payload_free: Signal<Out, Bits<PB>>,
    /// One cycle: a beat has left the payload FIFO.
    pub payload_drawn: Signal<Out, Bit>,
    pub table_valid: Signal<In, Bit>,
    pub table_address: Signal<In, Bits<17>>,
    pub table_data: Signal<In, Bits<32>>,
    pub table_ready: Signal<Out, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub gid: Signal<In, Bits<512>>,
    pub s_host_data: Signal<In, Bits<W>>,
    pub s_host_keep: Signal<In, Bits<K>>,
    pub s_host_last: Signal<In, Bit>,
    pub s_host_valid: Signal<In, Bit>,
    pub s_host_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_keep: Signal<Out, Bits<K>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    words: WordRam<QA, RA, SA, S>,
    slots: PacketSlots<SA>,
    payload: PayloadFifo<W, PA, PB>,
    builder: PacketBuilder<L, V, SA>,
    order: AckOrder<QA>,
    word_icrc: [WordIcrc; N],
    wide: [BeatPath<W, L, G>; S],
    frame_out: FrameOut<W, K, L>,
    host_fifo: HostFifo<W, K, D, A, B, M>,
    arbiter: Arbiter<W, K>,
    event_full: DFF<Bit>,
    event_reg: DFF<Bits<6>>,
    event_free: Signal<Local, Bit>,
    enabled: Constant<Bit>,
    one_lane: Constant<Bits<L>>,
}

impl<
        const W: usize,
        const K: usize,
        const L: usize,
        const QA: usize,
        const RA: usize,
        const A: usize,
        const B: usize,
        const D: usize,
        const M: usize,
        const V: usize,
        const G: usize,
        const S: usize,
        const N: usize,
        const SA: usize,
        const PA: usize,
        const PB: usize,
    > Default for Tx<W, K, L, QA, RA, A, B, D, M, V, G, S, N, SA, PA, PB>
{
    fn default() -> Self {
        assert!(
            G == W + L + 1 && S == L - 1 && N == 1 - S,
            "Tx: G must be W + L + 1, S must be L - 1, N must be 1 - S"
        );
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_abandon: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            payload_data: Default::default(),
            payload_last: Default::default(),
            payload_error: Default::default(),
            payload_valid: Default::default(),
            payload_ready: Default::default(),
            payload_free: Default::default(),
            payload_drawn: Default::default(),
            table_valid: Default::default(),
            table_address: Default::default(),
            table_data: Default::default(),
            table_ready: Default::default(),
            local_mac: Default::default(),
            gid: Default::default(),
            s_host_data: Default::default(),
            s_host_keep: Default::default(),
            s_host_last: Default::default(),
            s_host_valid: Default::default(),
            s_host_ready: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            words: Default::default(),
            slots: Default::default(),
            payload: Default::default(),
            builder: Default::default(),
            order: Default::default(),
            word_icrc: std::array::from_fn(|_| Default::default()),
            wide: std::array::from_fn(|_| Default::default()),
            frame_out: Default::default(),
            host_fifo: Default::default(),
            arbiter: Default::default(),
            event_full: Default::default(),
            event_reg: Default::default(),
            event_free: Default::default(),
            enabled: Constant::new(true),
            one_lane: Constant::new(1u64.to_bits()),
        }
    }
}

impl<
        const W: usize,
        const K: usize,
        const L: usize,
        const QA: usize,
        const RA: usize,
        const A: usize,
        const B: usize,
        const D: usize,
        const M: usize,
        const V: usize,
        const G: usize,
        const S: usize,
        const N: usize,
        const SA: usize,
        const PA: usize,
        const PB: usize,
    > Logic for Tx<W, K, L, QA, RA, A, B, D, M, V, G, S, N, SA, PA, PB>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, event_full, event_reg);
        clock!(self, clock, words, slots, payload, builder, order, frame_out, host_fifo, arbiter);
        self.slots.reset.next = self.reset.val();
        self.payload.reset.next = self.reset.val();
        self.builder.reset.next = self.reset.val();
        self.order.reset.next = self.reset.val();
        self.frame_out.reset.next = self.reset.val();
        self.host_fifo.reset.next = self.reset.val();
        self.arbiter.reset.next = self.reset.val();

        // Words: QP rows from the host, packets from the stream.
        self.words.table_valid.next = self.table_valid.val();
        self.words.table_address.next = self.table_address.val();
        self.words.table_data.next = self.table_data.val();
        self.table_ready.next = self.words.table_ready.val();
        self.slots.packet_word.next = self.packet_word.val();
        self.slots.packet_last.next = self.packet_last.val();
        self.slots.packet_abandon.next = self.packet_abandon.val();
        self.slots.packet_valid.next = self.packet_valid.val();
        self.packet_ready.next = self.slots.packet_ready.val();
        self.words.slot_valid.next = self.slots.slot_valid.val();
        self.words.slot_address.next = self.slots.slot_address.val();
        self.words.slot_word.next = self.slots.slot_word.val();
        self.slots.slot_ready.next = self.words.slot_ready.val();
        self.words.read_enable.next = self.builder.read_enable.val();
        self.words.read_index.next = self.builder.read_index.val();
        self.words.read_word.next = self.builder.read_word.val();
        self.words.read_packet.next = self.builder.read_packet.val();
        self.words.read_slot.next = self.builder.read_slot.val();
        self.builder.row_data.next = self.words.row_data.val();
        self.builder.slot_data.next = self.words.slot_data.val();
        self.builder.waiting.next = self.slots.waiting.val();
        self.builder.head_slot.next = self.slots.head.val();
        self.builder.coming.next = self.slots.coming.val();
        self.builder.come.next = self.slots.come.val();
        self.builder.taken_back.next = self.slots.taken_back.val();
        self.slots.begin_next.next = self.builder.begin_next.val();
        self.slots.finish.next = self.builder.finish.val();

        self.payload.s_data.next = self.payload_data.val();
        self.payload.s_last.next = self.payload_last.val();
        self.payload.s_error.next = self.payload_error.val();
        self.payload.s_valid.next = self.payload_valid.val();
        self.payload_ready.next = self.payload.s_ready.val();
        self.payload_free.next = self.payload.free.val();
        self.payload_drawn.next = self.payload.drawn.val();
        self.builder.payload_whole.next = self.payload.packet_valid.val();
        self.builder.payload_error.next = self.payload.packet_error.val();
        self.builder.payload_arrived.next = self.payload.arrived.val();
        self.builder.payload_arrived_error.next = self.payload.arrived_error.val();
        self.payload.packet_next.next = self.builder.payload_next.val();
        self.builder.payload_word.next = self.payload.m_data.val().get_bits::<32>(0);
        self.payload.m_ready.next = self.builder.payload_take.val();

        self.builder.ack.next = self.ack.val();
        // R36: not before the responses that it came behind.
        self.order.word.next = self.packet_word.val();
        self.order.word_last.next = self.packet_last.val();
        self.order.word_abandon.next = self.packet_abandon.val();
        self.order.word_taken.next = self.packet_valid.val() & self.slots.packet_ready.val();
        self.order.begin_next.next = self.builder.begin_next.val();
        self.order.ack.next = self.ack.val();
        self.order.ack_valid.next = self.ack_valid.val();
        self.order.ack_taken.next = self.ack_valid.val() & self.builder.ack_ready.val();
        self.builder.ack_valid.next = self.order.allowed.val();
        self.ack_ready.next = self.builder.ack_ready.val();
        self.builder.local_mac.next = self.local_mac.val();
        self.builder.gid.next = self.gid.val();
        self.builder.room.next = self.enabled.val();
        self.builder.calm.next = !self.enabled.val();
        self.builder.advance.next = !self.builder.word_frame.val() | self.frame_out.s_ready.val();

        // W = 32: words are beats.
        self.frame_out.s_data.next = bit_cast::<W, 32>(self.builder.word.val());
        self.frame_out.s_lane_valid.next = self.one_lane.val();
        self.frame_out.s_last.next = self.builder.word_last.val();
        self.frame_out.s_valid.next = self.builder.word_frame.val();
        self.frame_out.crc.next = 0.into();
        self.frame_out.crc_valid.next = self.enabled.val();
        for i in 0..N {
            self.word_icrc[i].clock.next = self.clock.val();
            self.word_icrc[i].word.next = self.builder.word.val();
            self.word_icrc[i].number.next = self.builder.number.val();
            self.word_icrc[i].ipv6.next = self.builder.ipv6.val();
            self.word_icrc[i].restart.next = self.builder.word_frame.val() & self.builder.word_first.val() & self.frame_out.s_ready.val();
            self.word_icrc[i].enable.next = self.builder.word_covered.val() & self.frame_out.s_ready.val();
            self.frame_out.crc.next = self.word_icrc[i].crc.val();
        }

        // W = 64: header words to beats, payload behind them; beats wait in the store until the frame can go through.
        for i in 0..S {
            self.wide[i].clock.next = self.clock.val();
            self.wide[i].reset.next = self.reset.val();
            self.builder.room.next = self.wide[i].room.val();
            self.builder.calm.next = self.wide[i].calm.val();
            self.wide[i].early.next = self.builder.early.val();
            self.wide[i].commit.next = self.builder.commit.val();
            self.wide[i].ditch.next = self.builder.ditch.val();
            self.builder.advance.next = self.enabled.val();
            self.wide[i].word.next = self.builder.word.val();
            self.wide[i].word_number.next = self.builder.number.val();
            self.wide[i].word_valid.next = self.builder.word_frame.val();
            self.wide[i].word_covered.next = self.builder.word_covered.val();
            self.wide[i].word_first.next = self.builder.word_first.val();
            self.wide[i].word_odd.next = self.builder.word_odd.val();
            self.wide[i].word_covered_first.next = self.builder.word_covered_first.val();
            self.wide[i].word_last.next = self.builder.word_last.val();
            self.wide[i].ipv6.next = self.builder.ipv6.val();
            self.wide[i].drop.next = self.builder.poisoned.val();
            self.wide[i].words.next = self.builder.payload_words.val();
            self.wide[i].begin_header.next = self.builder.starting.val();
            self.wide[i].permit.next = self.builder.permit.val();
            self.wide[i].payload_data.next = self.payload.m_data.val();
            self.payload.m_ready.next = self.wide[i].payload_ready.val();
            self.frame_out.s_data.next = self.wide[i].m_data.val();
            self.frame_out.s_lane_valid.next = self.wide[i].m_lanes.val();
            self.frame_out.s_last.next = self.wide[i].m_last.val();
            self.frame_out.s_valid.next = self.wide[i].m_valid.val();
            self.frame_out.crc.next = self.wide[i].m_crc.val();
            self.frame_out.crc_valid.next = self.wide[i].m_crc_valid.val();
            self.wide[i].m_ready.next = self.frame_out.s_ready.val();
            self.wide[i].m_crc_next.next = self.frame_out.crc_next.val();
        }

        self.host_fifo.s_data.next = self.s_host_data.val();
        self.host_fifo.s_keep.next = self.s_host_keep.val();
        self.host_fifo.s_last.next = self.s_host_last.val();
        self.host_fifo.s_valid.next = self.s_host_valid.val();
        self.s_host_ready.next = self.host_fifo.s_ready.val();

        self.arbiter.s0_data.next = self.frame_out.m_data.val();
        self.arbiter.s0_keep.next = self.frame_out.m_keep.val();
        self.arbiter.s0_last.next = self.frame_out.m_last.val();
        self.arbiter.s0_valid.next = self.frame_out.m_valid.val();
        self.arbiter.s0_begun.next = self.frame_out.begun.val();
        self.frame_out.m_ready.next = self.arbiter.s0_ready.val();
        self.arbiter.s1_data.next = self.host_fifo.m_data.val();
        self.arbiter.s1_keep.next = self.host_fifo.m_keep.val();
        self.arbiter.s1_last.next = self.host_fifo.m_last.val();
        self.arbiter.s1_valid.next = self.host_fifo.m_valid.val();
        self.host_fifo.m_ready.next = self.arbiter.s1_ready.val();
        self.m_data.next = self.arbiter.m_data.val();
        self.m_keep.next = self.arbiter.m_keep.val();
        self.m_last.next = self.arbiter.m_last.val();
        self.m_valid.next = self.arbiter.m_valid.val();
        self.arbiter.m_ready.next = self.m_ready.val();

        // Events: the builder's first; each waits at its source.
        self.event_free.next = !self.event_full.q.val() | self.event_ready.val();
        self.builder.event_ready.next = self.event_free.val();
        self.host_fifo.event_ready.next = self.event_free.val() & !self.builder.event_valid.val();
        if self.event_free.val() {
            self.event_full.d.next = self.builder.event_valid.val() | self.host_fifo.event_valid.val();
            self.event_reg.d.next = self.host_fifo.event_code.val();
            if self.builder.event_valid.val() {
                self.event_reg.d.next = self.builder.event_code.val();
            }
        }
        self.event_valid.next = self.event_full.q.val();
        self.event_code.next = self.event_reg.q.val();
        if self.reset.val() {
            self.event_full.d.next = false;
        }
    }

    crate::block_name!();
}

/// As the `tengig` preset has it.
pub type TxTengig = Tx<64, 8, 2, 8, 12, 10, 11, 72, 525, 1, 67, 1, 0, 9, 10, 11>;
/// As the `cu` preset has it.
pub type TxCu = Tx<32, 4, 1, 2, 7, 8, 9, 36, 150, 0, 34, 0, 1, 6, 8, 9>;
