// SPDX-License-Identifier: MIT OR Apache-2.0
//! Holds the beats of packets that come slower than they must leave, and their ICRCs (W = 64).
//!
//! ```text
//! beats ─► FIFO ─► gate ─► frame out        permit, starting ─► counts of frames that may pass the gate
//! ICRC  ─► two registers ─► frame out       level ─► room
//! ```
//!
//! A frame passes the gate when its header is whole or will be in time (`permit`, from the builder), and so long after its first beat came (`starting`) that the ICRC
//! meets its last. Latency 2 cycles at least, 4 where beats come one a cycle. `room` is low with 24 beats or more
//! (a header alone has fewer, so its way is never barred by itself), or with two frames that are whole: at most two ICRCs wait.

use crate::stream::Fifo;
use rust_hdl::prelude::*;

/// Store for beats of `W` bits, `L` words; `G = W + L + 1` bits a beat with lane valid and last.
#[derive(LogicBlock)]
pub struct PacketStore<const W: usize, const L: usize, const G: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One cycle each: a frame's first beat; its header is or will be there.
    pub starting: Signal<In, Bit>,
    pub permit: Signal<In, Bit>,
    /// The same, so late that the frame may leave in this very cycle.
    pub late: Signal<In, Bit>,
    pub room: Signal<Out, Bit>,
    /// The frame at the door is an early one; room for payload, from the second cycle behind it.
    pub early: Signal<In, Bit>,
    pub payload_room: Signal<Out, Bit>,
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
    /// Nothing is here.
    pub idle: Signal<Out, Bit>,
    fifo: Fifo<5, 6, G>,
    level: DFF<Bits<6>>,
    /// Frames whose last beat came and whose ICRC isn't used.
    ends: DFF<Bits<2>>,
    room_now: DFF<Bit>,
    payload_room_now: DFF<Bit>,
    permits: DFF<Bits<3>>,
    started: DFF<Bits<3>>,
    starting_1: DFF<Bit>,
    starting_2: DFF<Bit>,
    starting_3: DFF<Bit>,
    in_packet: DFF<Bit>,
    crc0: DFF<Bits<32>>,
    crc1: DFF<Bits<32>>,
    used: DFF<Bit>,
    crc_count: DFF<Bits<2>>,
    gate: Signal<Local, Bit>,
    pass: Signal<Local, Bit>,
    enter: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    tight: Constant<Bits<6>>,
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
            late: Default::default(),
            room: Default::default(),
            early: Default::default(),
            payload_room: Default::default(),
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
            idle: Default::default(),
            fifo: Default::default(),
            level: Default::default(),
            ends: Default::default(),
            room_now: Default::default(),
            payload_room_now: Default::default(),
            permits: Default::default(),
            started: Default::default(),
            starting_1: Default::default(),
            starting_2: Default::default(),
            starting_3: Default::default(),
            in_packet: Default::default(),
            crc0: Default::default(),
            crc1: Default::default(),
            used: Default::default(),
            crc_count: Default::default(),
            gate: Default::default(),
            pass: Default::default(),
            enter: Default::default(),
            last: Default::default(),
            tight: Constant::new(24u64.to_bits()),
            lanes_at: Constant::new((W as u64).to_bits()),
            last_at: Constant::new((W as u64 + L as u64).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const G: usize> Logic for PacketStore<W, L, G> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            level,
            ends,
            room_now,
            payload_room_now,
            permits,
            started,
            starting_1,
            starting_2,
            starting_3,
            in_packet,
            crc0,
            crc1,
            crc_count,
            used
        );
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        // An ICRC that was used goes a cycle later; the next one isn't needed so soon.
        self.used.d.next = self.m_crc_next.val();
        self.idle.next = !self.level.q.val().any() & !self.ends.q.val().any();
        self.room.next = self.room_now.q.val();
        self.room_now.d.next = (self.level.q.val() < self.tight.val()) & !self.ends.q.val().get_bit(1);
        self.payload_room.next = self.payload_room_now.q.val();
        self.payload_room_now.d.next = (self.level.q.val() < self.tight.val()) & !self.ends.q.val().get_bit(1) & !self.early.val();
        if self.s_valid.val() & self.s_last.val() & !self.used.q.val() {
            self.ends.d.next = self.ends.q.val() + 1;
        }
        if !(self.s_valid.val() & self.s_last.val()) & self.used.q.val() {
            self.ends.d.next = self.ends.q.val() - 1;
        }
        self.fifo.s_data.next = bit_cast::<G, W>(self.s_data.val())
            | (bit_cast::<G, L>(self.s_lanes.val()) << self.lanes_at.val())
            | (bit_cast::<G, 1>(self.s_last.val().into()) << self.last_at.val());
        self.fifo.s_valid.next = self.s_valid.val();

        // The gate: closed before a frame that may not pass.
        self.starting_1.d.next = self.starting.val();
        self.starting_2.d.next = self.starting_1.q.val();
        self.starting_3.d.next = self.starting_2.q.val();
        self.gate.next = self.in_packet.q.val() | ((self.permits.q.val().any() | self.late.val()) & self.started.q.val().any());
        self.m_data.next = self.fifo.m_data.val().get_bits::<W>(0);
        self.m_lanes.next = bit_cast::<L, G>(self.fifo.m_data.val() >> self.lanes_at.val());
        self.last.next = (self.fifo.m_data.val() >> self.last_at.val()).any();
        self.m_last.next = self.last.val();
        self.m_valid.next = self.fifo.m_valid.val() & self.gate.val();
        self.pass.next = self.fifo.m_valid.val() & self.gate.val() & self.m_ready.val();
        self.fifo.m_ready.next = self.gate.val() & self.m_ready.val();
        if self.s_valid.val() & !self.pass.val() {
            self.level.d.next = self.level.q.val() + 1;
        }
        if !self.s_valid.val() & self.pass.val() {
            self.level.d.next = self.level.q.val() - 1;
        }
        if self.pass.val() {
            self.in_packet.d.next = !self.last.val();
        }
        self.enter.next = self.pass.val() & !self.in_packet.q.val();
        if (self.permit.val() | self.late.val()) & !self.enter.val() {
            self.permits.d.next = self.permits.q.val() + 1;
        }
        if !(self.permit.val() | self.late.val()) & self.enter.val() {
            self.permits.d.next = self.permits.q.val() - 1;
        }
        if self.starting_3.q.val() & !self.enter.val() {
            self.started.d.next = self.started.q.val() + 1;
        }
        if !self.starting_3.q.val() & self.enter.val() {
            self.started.d.next = self.started.q.val() - 1;
        }

        // ICRCs, the oldest in crc0; one that is needed at once passes by.
        self.m_crc.next = self.crc0.q.val();
        self.m_crc_valid.next = self.crc_count.q.val().any() | self.s_crc_valid.val();
        if !self.crc_count.q.val().any() {
            self.m_crc.next = self.s_crc.val();
        }
        if self.used.q.val() {
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
            if self.used.q.val() & !self.crc_count.q.val().get_bit(1) {
                self.crc0.d.next = self.s_crc.val();
            }
        }

        if self.reset.val() {
            self.level.d.next = 0.into();
            self.ends.d.next = 0.into();
            self.room_now.d.next = false;
            self.payload_room_now.d.next = false;
            self.permits.d.next = 0.into();
            self.started.d.next = 0.into();
            self.starting_1.d.next = false;
            self.starting_2.d.next = false;
            self.starting_3.d.next = false;
            self.in_packet.d.next = false;
            self.crc_count.d.next = 0.into();
            self.used.d.next = false;
        }
    }

    crate::block_name!();
}
