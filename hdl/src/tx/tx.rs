// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transmit station: ACKs and the host's frames to the MAC.
//!
//! ```text
//! QP rows ─► address RAM ◄─┐                         ┌─► mask ─► ICRC ─┐
//! ack ──────────────► ack builder ─► gearbox ─► beats ┤                ▼
//!                         │                          └─► (store, W=64) ─► frame out ─► arbiter, pad ─► m
//!                         └─► event ─┐                                                   ▲
//! s_host ─► host FIFO ─► event ──────┴─► event                                           │
//!              └─────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! Between gearbox and frame out a packet is a stream of W-bit beats with lane valid and last, so requests and READ responses can enter there.
//! A frame begins only when it will go to its end without a pause (`m_valid` doesn't fall inside a frame).
//! AckJob to first beat (W = 64, IPv4): 17 cycles; an ACK every 18. Events: exactly one for each frame that leaves (class Tx), and
//! TX_HOST_DROPPED for a host frame that doesn't.

use super::{AckBuilder, AckJob, AddressRam, Arbiter, FrameOut, Gearbox, HostFifo, PacketStore};
use crate::wire::{Icrc, IcrcMask};
use rust_hdl::prelude::*;

/// `W` bits, `K` bytes, `L` words a beat; `2^QA` QPs, `RA = QA + 4`; host FIFO of `2^A` beats, `B = A + 1`, `D = W + K`, the longest host frame
/// `M` beats; `V` 1: IPv6, 802.1Q, four GIDs; `G = W + L + 1`; `S = L - 1` packet stores.
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
> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
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

    rows: AddressRam<QA, RA>,
    builder: AckBuilder<L, V>,
    gearbox: Gearbox<W, L>,
    mask: IcrcMask<W, L>,
    icrc: Icrc<W, L>,
    store: [PacketStore<W, L, G>; S],
    frame_out: FrameOut<W, K, L>,
    host_fifo: HostFifo<W, K, D, A, B, M>,
    arbiter: Arbiter<W, K>,
    event_full: DFF<Bit>,
    event_reg: DFF<Bits<6>>,

    event_free: Signal<Local, Bit>,
    enabled: Constant<Bit>,
    even: Constant<Bits<4>>,
}

/// As the `tengig` preset has it.
pub type TxTengig = Tx<64, 8, 2, 8, 12, 10, 11, 72, 525, 1, 67, 1>;
/// As the `cu` preset has it.
pub type TxCu = Tx<32, 4, 1, 2, 6, 8, 9, 36, 150, 0, 34, 0>;

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
    > Default for Tx<W, K, L, QA, RA, A, B, D, M, V, G, S>
{
    fn default() -> Self {
        assert!(G == W + L + 1 && S == L - 1, "Tx: G must be W + L + 1, S must be L - 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
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
            rows: Default::default(),
            builder: Default::default(),
            gearbox: Default::default(),
            mask: Default::default(),
            icrc: Default::default(),
            store: std::array::from_fn(|_| Default::default()),
            frame_out: Default::default(),
            host_fifo: Default::default(),
            arbiter: Default::default(),
            event_full: Default::default(),
            event_reg: Default::default(),
            event_free: Default::default(),
            enabled: Constant::new(true),
            even: Constant::new(0xeu64.to_bits()),
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
    > Logic for Tx<W, K, L, QA, RA, A, B, D, M, V, G, S>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, event_full, event_reg);
        clock!(self, clock, rows, builder, gearbox, mask, icrc, frame_out, host_fifo, arbiter);
        self.builder.reset.next = self.reset.val();
        self.mask.reset.next = self.reset.val();
        self.icrc.reset.next = self.reset.val();
        self.frame_out.reset.next = self.reset.val();
        self.host_fifo.reset.next = self.reset.val();
        self.arbiter.reset.next = self.reset.val();

        self.rows.table_valid.next = self.table_valid.val();
        self.rows.table_address.next = self.table_address.val();
        self.rows.table_data.next = self.table_data.val();
        self.table_ready.next = self.rows.table_ready.val();
        self.rows.read_enable.next = self.builder.read_enable.val();
        self.rows.read_index.next = self.builder.read_index.val();
        self.rows.read_word.next = self.builder.read_word.val();
        self.builder.read_data.next = self.rows.read_data.val();

        self.builder.ack.next = self.ack.val();
        self.builder.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.builder.ack_ready.val();
        self.builder.local_mac.next = self.local_mac.val();
        self.builder.gid.next = self.gid.val();
        self.builder.room.next = self.enabled.val();
        self.builder.advance.next = !self.builder.word_frame.val() | self.frame_out.s_ready.val();

        self.gearbox.word.next = self.builder.word.val();
        self.gearbox.valid.next = self.builder.word_frame.val() | self.builder.word_covered.val();
        self.gearbox.first.next = self.builder.word_first.val();
        self.gearbox.odd.next = self.builder.word_odd.val();
        self.gearbox.last.next = self.builder.word_last.val();
        self.gearbox.covered.next = self.builder.word_covered.val();
        self.gearbox.covered_first.next = self.builder.word_covered_first.val();

        // ICRC over the beats' covered lanes.
        self.mask.s_data.next = self.gearbox.beat.val();
        self.mask.s_word.next = bit_cast::<12, 4>(self.builder.number.val());
        for _i in 0..S {
            self.mask.s_word.next = bit_cast::<12, 4>(self.builder.number.val() & self.even.val());
        }
        self.mask.s_lane_valid.next = self.gearbox.beat_covered.val();
        self.mask.s_valid.next = self.gearbox.beat_valid.val() & self.gearbox.beat_covered.val().any();
        self.mask.s_first.next = self.gearbox.beat_covered_first.val();
        self.mask.s_last.next = self.gearbox.beat_last.val();
        self.mask.ipv6.next = self.builder.ipv6.val();
        self.icrc.data.next = self.mask.m_data.val();
        self.icrc.lane_valid.next = self.mask.m_lane_valid.val();
        self.icrc.valid.next = self.mask.m_valid.val();
        self.icrc.first.next = self.mask.m_first.val();
        self.icrc.last.next = self.mask.m_last.val();

        // W = 32: the second pass goes straight out; the ICRC of the first stands ready.
        self.frame_out.s_data.next = self.gearbox.beat.val();
        self.frame_out.s_lane_valid.next = self.gearbox.beat_lanes.val();
        self.frame_out.s_last.next = self.gearbox.beat_last.val();
        self.frame_out.s_valid.next = self.builder.word_frame.val();
        self.frame_out.crc.next = self.icrc.crc.val();
        self.frame_out.crc_valid.next = self.enabled.val();
        // W = 64: beats come every other cycle and wait in the store.
        for i in 0..S {
            self.store[i].clock.next = self.clock.val();
            self.store[i].reset.next = self.reset.val();
            self.store[i].starting.next = self.builder.starting.val();
            self.store[i].permit.next = self.builder.permit.val();
            self.builder.room.next = self.store[i].room.val();
            self.builder.advance.next = self.enabled.val();
            self.store[i].s_data.next = self.gearbox.beat.val();
            self.store[i].s_lanes.next = self.gearbox.beat_lanes.val();
            self.store[i].s_last.next = self.gearbox.beat_last.val();
            self.store[i].s_valid.next = self.gearbox.beat_valid.val();
            self.store[i].s_crc.next = self.icrc.crc.val();
            self.store[i].s_crc_valid.next = self.icrc.crc_valid.val();
            self.frame_out.s_data.next = self.store[i].m_data.val();
            self.frame_out.s_lane_valid.next = self.store[i].m_lanes.val();
            self.frame_out.s_last.next = self.store[i].m_last.val();
            self.frame_out.s_valid.next = self.store[i].m_valid.val();
            self.frame_out.crc.next = self.store[i].m_crc.val();
            self.frame_out.crc_valid.next = self.store[i].m_crc_valid.val();
            self.store[i].m_ready.next = self.frame_out.s_ready.val();
            self.store[i].m_crc_next.next = self.frame_out.crc_next.val();
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
