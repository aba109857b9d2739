// SPDX-License-Identifier: MIT OR Apache-2.0
//! Holds the beats of packets that come slower than they must leave, and their ICRCs.
//!
//! ```text
//! beats ─► FIFO ─► gate ─► frame out        permit ─► count of frames that may pass the gate
//! ICRC  ─► two registers ─► frame out       starting ─► count of frames under way, two at most: room
//! ```
//!
//! A frame passes the gate when its maker says that it will not run empty (`permit`: it is whole, or will be in time). W = 64 only: the
//! serial ACK builder makes half a beat a cycle. Latency 2 cycles. Packets with payload will need a deeper FIFO, not another form.
//! Limit: two frames of at most 16 beats.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

/// Store for beats of `W` bits, `L` words; `G = W + L + 1` bits a beat with lane valid and last.
#[derive(LogicBlock)]
pub struct PacketStore<const W: usize, const L: usize, const G: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle each: a frame is begun; a frame may leave.
    pub starting: Signal<In, Bit>,
    pub permit: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_lanes: Signal<In, Bits<L>>,
    pub s_last: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_crc: Signal<In, Bits<32>>,
    pub s_crc_valid: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_lanes: Signal<Out, Bits<L>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    pub m_crc: Signal<Out, Bits<32>>,
    pub m_crc_valid: Signal<Out, Bit>,
    /// The frame's ICRC is used, so the frame is out.
    pub m_crc_next: Signal<In, Bit>,

    fifo: Fifo<5, 6, G>,
    under_way: DFF<Bits<2>>,
    permits: DFF<Bits<2>>,
    in_packet: DFF<Bit>,
    crc0: DFF<Bits<32>>,
    crc1: DFF<Bits<32>>,
    crc_count: DFF<Bits<2>>,
    gate: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    lanes_at: Constant<Bits<7>>,
    last_at: Constant<Bits<7>>,
}

impl<const W: usize, const L: usize, const G: usize> Default for PacketStore<W, L, G> {
    fn default() -> Self {
        assert_eq!(G, W + L + 1, "PacketStore: G must be W + L + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            starting: Default::default(),
            permit: Default::default(),
            room: Default::default(),
            s_data: Default::default(),
            s_lanes: Default::default(),
            s_last: Default::default(),
            s_valid: Default::default(),
            s_crc: Default::default(),
            s_crc_valid: Default::default(),
            m_data: Default::default(),
            m_lanes: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            m_crc: Default::default(),
            m_crc_valid: Default::default(),
            m_crc_next: Default::default(),
            fifo: Default::default(),
            under_way: Default::default(),
            permits: Default::default(),
            in_packet: Default::default(),
            crc0: Default::default(),
            crc1: Default::default(),
            crc_count: Default::default(),
            gate: Default::default(),
            pass: Default::default(),
            last: Default::default(),
            lanes_at: Constant::new((W as u64).to_bits()),
            last_at: Constant::new((W as u64 + L as u64).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const G: usize> Logic for PacketStore<W, L, G> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, under_way, permits, in_packet, crc0, crc1, crc_count);
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        // Two frames at most, so beats always find room.
        self.room.next = !self.under_way.q.val().get_bit(1);
        if self.starting.val() & !self.m_crc_next.val() {
            self.under_way.d.next = self.under_way.q.val() + 1;
        }
        if !self.starting.val() & self.m_crc_next.val() {
            self.under_way.d.next = self.under_way.q.val() - 1;
        }
        self.fifo.s_data.next = bit_cast::<G, W>(self.s_data.val())
            | (bit_cast::<G, L>(self.s_lanes.val()) << self.lanes_at.val())
            | (bit_cast::<G, 1>(self.s_last.val().into()) << self.last_at.val());
        self.fifo.s_valid.next = self.s_valid.val();

        // The gate: closed before a frame that has no permit.
        self.gate.next = self.in_packet.q.val() | self.permits.q.val().any();
        self.m_data.next = self.fifo.m_data.val().get_bits::<W>(0);
        self.m_lanes.next = bit_cast::<L, G>(self.fifo.m_data.val() >> self.lanes_at.val());
        self.last.next = (self.fifo.m_data.val() >> self.last_at.val()).any();
        self.m_last.next = self.last.val();
        self.m_valid.next = self.fifo.m_valid.val() & self.gate.val();
        self.pass.next = self.fifo.m_valid.val() & self.gate.val() & self.m_ready.val();
        self.fifo.m_ready.next = self.gate.val() & self.m_ready.val();
        if self.pass.val() {
            self.in_packet.d.next = !self.last.val();
        }
        if self.permit.val() & !(self.pass.val() & !self.in_packet.q.val()) {
            self.permits.d.next = self.permits.q.val() + 1;
        }
        if !self.permit.val() & self.pass.val() & !self.in_packet.q.val() {
            self.permits.d.next = self.permits.q.val() - 1;
        }

        // ICRCs, the oldest in crc0; one that is needed at once passes by.
        self.m_crc.next = self.crc0.q.val();
        self.m_crc_valid.next = self.crc_count.q.val().any() | self.s_crc_valid.val();
        if !self.crc_count.q.val().any() {
            self.m_crc.next = self.s_crc.val();
        }
        if self.m_crc_next.val() {
            self.crc0.d.next = self.crc1.q.val();
            if self.crc_count.q.val().any() & !self.s_crc_valid.val() {
                self.crc_count.d.next = self.crc_count.q.val() - 1;
            }
        } else {
            if self.s_crc_valid.val() {
                self.crc_count.d.next = self.crc_count.q.val() + 1;
            }
        }
        if self.s_crc_valid.val() {
            self.crc1.d.next = self.s_crc.val();
            if !self.crc_count.q.val().any() {
                self.crc0.d.next = self.s_crc.val();
            }
            if self.m_crc_next.val() & !self.crc_count.q.val().get_bit(1) {
                self.crc0.d.next = self.s_crc.val();
            }
        }

        if self.reset.val() {
            self.under_way.d.next = 0.into();
            self.permits.d.next = 0.into();
            self.in_packet.d.next = false;
            self.crc_count.d.next = 0.into();
        }
    }

    crate::block_name!();
}
