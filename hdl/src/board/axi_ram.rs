// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory on the chip behind AXI4, with a second way in for whoever drives the board.
//!
//! ```text
//! AW, W ─► write ─┐   ┌► 8 RAMs of bytes, 2^A beats ─► register ─► skid ─► R
//! AR ─► read ─────┼───┘                                   └► host_read
//! host ───────────┘  (when neither burst is under way)
//! ```
//!
//! One write burst and one read burst at a time, a beat a cycle; INCR of whole beats. A burst whose first address lies beyond the memory is answered with DECERR and
//! changes nothing; one that begins inside and runs over its end wraps. A read burst's first beat comes 5 cycles after its address.
//! The host's accesses are of 32-bit words: `host_valid` until `host_done`, one cycle. `A + 3` is less than 64.

use crate::prim::SplitRam;
use crate::stream::Skid;
use rust_hdl::prelude::*;

/// AXI response: no such address.
const DECERR: u64 = 3;

/// `2^A` beats of 64 bits; `B = A + 1`.
#[derive(LogicBlock)]
pub struct AxiRam<const A: usize, const B: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_axi_awid: Signal<In, Bits<3>>,
    pub s_axi_awaddr: Signal<In, Bits<64>>,
    pub s_axi_awvalid: Signal<In, Bit>,
    pub s_axi_awready: Signal<Out, Bit>,
    pub s_axi_wdata: Signal<In, Bits<64>>,
    pub s_axi_wstrb: Signal<In, Bits<8>>,
    pub s_axi_wlast: Signal<In, Bit>,
    pub s_axi_wvalid: Signal<In, Bit>,
    pub s_axi_wready: Signal<Out, Bit>,
    pub s_axi_bid: Signal<Out, Bits<3>>,
    pub s_axi_bresp: Signal<Out, Bits<2>>,
    pub s_axi_bvalid: Signal<Out, Bit>,
    pub s_axi_bready: Signal<In, Bit>,
    pub s_axi_arid: Signal<In, Bits<3>>,
    pub s_axi_araddr: Signal<In, Bits<64>>,
    pub s_axi_arlen: Signal<In, Bits<8>>,
    pub s_axi_arvalid: Signal<In, Bit>,
    pub s_axi_arready: Signal<Out, Bit>,
    pub s_axi_rid: Signal<Out, Bits<3>>,
    pub s_axi_rdata: Signal<Out, Bits<64>>,
    pub s_axi_rresp: Signal<Out, Bits<2>>,
    pub s_axi_rlast: Signal<Out, Bit>,
    pub s_axi_rvalid: Signal<Out, Bit>,
    pub s_axi_rready: Signal<In, Bit>,
    /// An access by words: `host_word` counts 32-bit words.
    pub host_valid: Signal<In, Bit>,
    pub host_write: Signal<In, Bit>,
    pub host_word: Signal<In, Bits<B>>,
    pub host_data: Signal<In, Bits<32>>,
    pub host_done: Signal<Out, Bit>,
    pub host_read: Signal<Out, Bits<32>>,
    ram: [SplitRam<A, 8>; 8],
    /// Data, last, response, ID.
    out: Skid<70>,
    /// A write burst is under way; where; whether it counts.
    writing: DFF<Bit>,
    write_beat: DFF<Bits<A>>,
    write_bad: DFF<Bit>,
    write_id: DFF<Bits<3>>,
    answer: DFF<Bit>,
    /// Beats of a read burst are to be fetched; where, how many more.
    reading: DFF<Bit>,
    read_beat: DFF<Bits<A>>,
    read_left: DFF<Bits<8>>,
    read_bad: DFF<Bit>,
    read_id: DFF<Bits<3>>,
    /// A beat stands at the RAM; in the register.
    fetched: DFF<Bit>,
    fetched_last: DFF<Bit>,
    held: DFF<Bits<64>>,
    held_valid: DFF<Bit>,
    held_last: DFF<Bit>,
    /// 0 idle, else cycles of an access.
    host_step: DFF<Bits<3>>,
    go: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    host_turn: Signal<Local, Bit>,
    fetched_data: Signal<Local, Bits<64>>,
    lanes: Signal<Local, Bits<8>>,
    write_data: Signal<Local, Bits<64>>,
    write_at: Signal<Local, Bits<A>>,
    read_at: Signal<Local, Bits<A>>,
    far_write: Signal<Local, Bit>,
    far_read: Signal<Local, Bit>,
    low_half: Constant<Bits<8>>,
    high_half: Constant<Bits<8>>,
    beyond: Constant<Bits<64>>,
    decode_error: Constant<Bits<2>>,
    first_step: Constant<Bits<3>>,
    last_step: Constant<Bits<3>>,
}

impl<const A: usize, const B: usize> Default for AxiRam<A, B> {
    fn default() -> Self {
        assert_eq!(B, A + 1, "AxiRam: B must be A + 1");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_axi_awid: Default::default(),
            s_axi_awaddr: Default::default(),
            s_axi_awvalid: Default::default(),
            s_axi_awready: Default::default(),
            s_axi_wdata: Default::default(),
            s_axi_wstrb: Default::default(),
            s_axi_wlast: Default::default(),
            s_axi_wvalid: Default::default(),
            s_axi_wready: Default::default(),
            s_axi_bid: Default::default(),
            s_axi_bresp: Default::default(),
            s_axi_bvalid: Default::default(),
            s_axi_bready: Default::default(),
            s_axi_arid: Default::default(),
            s_axi_araddr: Default::default(),
            s_axi_arlen: Default::default(),
            s_axi_arvalid: Default::default(),
            s_axi_arready: Default::default(),
            s_axi_rid: Default::default(),
            s_axi_rdata: Default::default(),
            s_axi_rresp: Default::default(),
            s_axi_rlast: Default::default(),
            s_axi_rvalid: Default::default(),
            s_axi_rready: Default::default(),
            host_valid: Default::default(),
            host_write: Default::default(),
            host_word: Default::default(),
            host_data: Default::default(),
            host_done: Default::default(),
            host_read: Default::default(),
            ram: Default::default(),
            out: Default::default(),
            writing: Default::default(),
            write_beat: Default::default(),
            write_bad: Default::default(),
            write_id: Default::default(),
            answer: Default::default(),
            reading: Default::default(),
            read_beat: Default::default(),
            read_left: Default::default(),
            read_bad: Default::default(),
            read_id: Default::default(),
            fetched: Default::default(),
            fetched_last: Default::default(),
            held: Default::default(),
            held_valid: Default::default(),
            held_last: Default::default(),
            host_step: Default::default(),
            go: Default::default(),
            fetch: Default::default(),
            host_turn: Default::default(),
            fetched_data: Default::default(),
            lanes: Default::default(),
            write_data: Default::default(),
            write_at: Default::default(),
            read_at: Default::default(),
            far_write: Default::default(),
            far_read: Default::default(),
            low_half: Constant::new(0x0fu64.to_bits()),
            high_half: Constant::new(0xf0u64.to_bits()),
            beyond: Constant::new((!0u64 << (A + 3)).to_bits()),
            decode_error: Constant::new(DECERR.to_bits()),
            first_step: Constant::new(1u64.to_bits()),
            last_step: Constant::new(4u64.to_bits()),
        }
    }
}

impl<const A: usize, const B: usize> Logic for AxiRam<A, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            writing,
            write_beat,
            write_bad,
            write_id,
            answer,
            reading,
            read_beat,
            read_left,
            read_bad,
            read_id,
            fetched,
            fetched_last,
            held,
            held_valid,
            held_last,
            host_step
        );
        clock!(self, clock, out);
        self.out.reset.next = self.reset.val();
        for i in 0..8 {
            self.ram[i].clock.next = self.clock.val();
        }

        // Writes: a burst's address, its beats, its answer.
        self.far_write.next = (self.s_axi_awaddr.val() & self.beyond.val()).any();
        self.s_axi_awready.next = !self.writing.q.val() & !self.answer.q.val() & !self.host_step.q.val().any();
        self.s_axi_wready.next = self.writing.q.val();
        self.lanes.next = 0.into();
        self.write_at.next = self.write_beat.q.val();
        self.write_data.next = self.s_axi_wdata.val();
        if self.s_axi_awvalid.val() & self.s_axi_awready.val() {
            self.writing.d.next = true;
            self.write_beat.d.next = self.s_axi_awaddr.val().get_bits::<A>(3);
            self.write_bad.d.next = self.far_write.val();
            self.write_id.d.next = self.s_axi_awid.val();
        }
        if self.writing.q.val() & self.s_axi_wvalid.val() {
            self.write_beat.d.next = self.write_beat.q.val() + 1;
            if !self.write_bad.q.val() {
                self.lanes.next = self.s_axi_wstrb.val();
            }
            if self.s_axi_wlast.val() {
                self.writing.d.next = false;
                self.answer.d.next = true;
            }
        }
        self.s_axi_bvalid.next = self.answer.q.val();
        self.s_axi_bid.next = self.write_id.q.val();
        self.s_axi_bresp.next = 0.into();
        if self.write_bad.q.val() {
            self.s_axi_bresp.next = self.decode_error.val();
        }
        if self.answer.q.val() & self.s_axi_bready.val() {
            self.answer.d.next = false;
        }

        // Reads: fetched, held in a register, then the skid buffer; all move on together.
        self.far_read.next = (self.s_axi_araddr.val() & self.beyond.val()).any();
        self.s_axi_arready.next = !self.reading.q.val() & !self.fetched.q.val() & !self.held_valid.q.val() & !self.host_step.q.val().any();
        self.go.next = !self.held_valid.q.val() | self.out.s_ready.val();
        self.fetch.next = self.reading.q.val() & self.go.val();
        self.read_at.next = self.read_beat.q.val();
        if self.s_axi_arvalid.val() & self.s_axi_arready.val() {
            self.reading.d.next = true;
            self.read_beat.d.next = self.s_axi_araddr.val().get_bits::<A>(3);
            self.read_left.d.next = self.s_axi_arlen.val();
            self.read_bad.d.next = self.far_read.val();
            self.read_id.d.next = self.s_axi_arid.val();
        }
        self.fetched_data.next = bit_cast::<64, 8>(self.ram[0].read_data.val())
            | (bit_cast::<64, 8>(self.ram[1].read_data.val()) << 8)
            | (bit_cast::<64, 8>(self.ram[2].read_data.val()) << 16)
            | (bit_cast::<64, 8>(self.ram[3].read_data.val()) << 24)
            | (bit_cast::<64, 8>(self.ram[4].read_data.val()) << 32)
            | (bit_cast::<64, 8>(self.ram[5].read_data.val()) << 40)
            | (bit_cast::<64, 8>(self.ram[6].read_data.val()) << 48)
            | (bit_cast::<64, 8>(self.ram[7].read_data.val()) << 56);
        if self.go.val() {
            self.fetched.d.next = self.reading.q.val();
            self.fetched_last.d.next = !self.read_left.q.val().any();
            self.held.d.next = self.fetched_data.val();
            self.held_valid.d.next = self.fetched.q.val();
            self.held_last.d.next = self.fetched_last.q.val();
        }
        if self.fetch.val() {
            self.read_beat.d.next = self.read_beat.q.val() + 1;
            self.read_left.d.next = self.read_left.q.val() - 1;
            if !self.read_left.q.val().any() {
                self.reading.d.next = false;
            }
        }

        // The host: between bursts. Steps: address, RAM, register, done.
        self.host_turn.next = self.host_valid.val()
            & !self.writing.q.val()
            & !self.answer.q.val()
            & !self.s_axi_awvalid.val()
            & !self.reading.q.val()
            & !self.fetched.q.val()
            & !self.held_valid.q.val()
            & !self.s_axi_arvalid.val();
        self.host_done.next = false;
        self.host_read.next = self.held.q.val().get_bits::<32>(0);
        if self.host_word.val().get_bit(0) {
            self.host_read.next = self.held.q.val().get_bits::<32>(32);
        }
        if self.host_step.q.val().any() {
            self.host_step.d.next = self.host_step.q.val() + 1;
            self.write_at.next = self.host_word.val().get_bits::<A>(1);
            self.read_at.next = self.host_word.val().get_bits::<A>(1);
            self.write_data.next = bit_cast::<64, 32>(self.host_data.val()) | (bit_cast::<64, 32>(self.host_data.val()) << 32);
            if self.host_step.q.val() == self.first_step.val() {
                self.fetch.next = true;
                if self.host_write.val() {
                    self.lanes.next = self.low_half.val();
                    if self.host_word.val().get_bit(0) {
                        self.lanes.next = self.high_half.val();
                    }
                }
            }
            if self.host_step.q.val() == self.last_step.val() {
                self.host_done.next = true;
                self.host_step.d.next = 0.into();
            }
        } else {
            if self.host_turn.val() {
                self.host_step.d.next = self.first_step.val();
            }
        }

        for i in 0..8 {
            self.ram[i].write_enable.next = self.lanes.val().get_bit(i);
            self.ram[i].write_address.next = self.write_at.val();
            self.ram[i].write_data.next = self.write_data.val().get_bits::<8>(i * 8);
            self.ram[i].read_enable.next = self.fetch.val();
            self.ram[i].read_address.next = self.read_at.val();
        }
        self.out.s_data.next = 0.into();
        self.out.s_valid.next = self.held_valid.q.val();
        self.out.s_data.next = bit_cast::<70, 64>(self.held.q.val())
            | (bit_cast::<70, 1>(self.held_last.q.val().into()) << 64)
            | (bit_cast::<70, 1>(self.read_bad.q.val().into()) << 65)
            | (bit_cast::<70, 1>(self.read_bad.q.val().into()) << 66)
            | (bit_cast::<70, 3>(self.read_id.q.val()) << 67);
        self.s_axi_rdata.next = self.out.m_data.val().get_bits::<64>(0);
        self.s_axi_rlast.next = self.out.m_data.val().get_bit(64);
        self.s_axi_rresp.next = self.out.m_data.val().get_bits::<2>(65);
        self.s_axi_rid.next = self.out.m_data.val().get_bits::<3>(67);
        self.s_axi_rvalid.next = self.out.m_valid.val();
        self.out.m_ready.next = self.s_axi_rready.val();

        if self.reset.val() {
            self.writing.d.next = false;
            self.answer.d.next = false;
            self.reading.d.next = false;
            self.fetched.d.next = false;
            self.held_valid.d.next = false;
            self.host_step.d.next = 0.into();
        }
    }

    crate::block_name!("Memory on the chip behind AXI4.");
}
