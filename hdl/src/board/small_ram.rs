// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory on the chip for the small engine, behind AXI4, with a second way in for whoever drives the board.
//!
//! ```text
//! AW, W, AR ─► one burst at a time ─┬─► 4 RAMs of bytes, 2^A words ─► register ─► R
//! host ─────── between bursts ──────┘                                └─► host_read
//! ```
//!
//! For a master that has one burst under way, as `micro::Bursts` has; a write goes first where both are begun. INCR of whole words. A burst whose first address lies beyond the memory is
//! answered with DECERR and changes nothing; one that begins inside and runs over its end wraps. A word of W is taken every cycle, one of R given every second one (a step of the core).
//! The host's accesses: `host_valid` until `host_done`, one cycle; they wait for a burst's end. What a write's `host_read` says is of no meaning.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SmallRamState {
    Idle,
    Write,
    WriteAnswer,
    /// The word's address stands at the RAM; its data stand there; in the register.
    Fetch,
    Keep,
    Give,
}

/// `2^A` words of 32 bits; `A` is at most 17.
#[derive(LogicBlock)]
pub struct SmallRam<const A: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_axi_awid: Signal<In, Bits<3>>,
    pub s_axi_awaddr: Signal<In, Bits<20>>,
    pub s_axi_awvalid: Signal<In, Bit>,
    pub s_axi_awready: Signal<Out, Bit>,
    pub s_axi_wdata: Signal<In, Bits<32>>,
    pub s_axi_wstrb: Signal<In, Bits<4>>,
    pub s_axi_wlast: Signal<In, Bit>,
    pub s_axi_wvalid: Signal<In, Bit>,
    pub s_axi_wready: Signal<Out, Bit>,
    pub s_axi_bid: Signal<Out, Bits<3>>,
    pub s_axi_bresp: Signal<Out, Bits<2>>,
    pub s_axi_bvalid: Signal<Out, Bit>,
    pub s_axi_bready: Signal<In, Bit>,
    pub s_axi_arid: Signal<In, Bits<3>>,
    pub s_axi_araddr: Signal<In, Bits<20>>,
    pub s_axi_arlen: Signal<In, Bits<8>>,
    pub s_axi_arvalid: Signal<In, Bit>,
    pub s_axi_arready: Signal<Out, Bit>,
    pub s_axi_rid: Signal<Out, Bits<3>>,
    pub s_axi_rdata: Signal<Out, Bits<32>>,
    pub s_axi_rresp: Signal<Out, Bits<2>>,
    pub s_axi_rlast: Signal<Out, Bit>,
    pub s_axi_rvalid: Signal<Out, Bit>,
    pub s_axi_rready: Signal<In, Bit>,
    pub host_valid: Signal<In, Bit>,
    pub host_write: Signal<In, Bit>,
    pub host_word: Signal<In, Bits<A>>,
    pub host_data: Signal<In, Bits<32>>,
    pub host_done: Signal<Out, Bit>,
    pub host_read: Signal<Out, Bits<32>>,
    ram: [SplitRam<A, 8>; 4],
    state: DFF<SmallRamState>,
    place: DFF<Bits<A>>,
    left: DFF<Bits<8>>,
    id: DFF<Bits<3>>,
    far: DFF<Bit>,
    /// The access is the host's.
    of_host: DFF<Bit>,
    kept: DFF<Bits<32>>,
    valid: DFF<Bit>,
    fetched: Signal<Local, Bits<32>>,
    lanes: Signal<Local, Bits<4>>,
    data: Signal<Local, Bits<32>>,
    begins_at: Signal<Local, Bits<20>>,
    beyond: Constant<Bits<20>>,
    decode_error: Constant<Bits<2>>,
    all_bytes: Constant<Bits<4>>,
}

impl<const A: usize> Default for SmallRam<A> {
    fn default() -> Self {
        assert!(A <= 17, "SmallRam: 2^{A} words");
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
            state: Default::default(),
            place: Default::default(),
            left: Default::default(),
            id: Default::default(),
            far: Default::default(),
            of_host: Default::default(),
            kept: Default::default(),
            valid: Default::default(),
            fetched: Default::default(),
            lanes: Default::default(),
            data: Default::default(),
            begins_at: Default::default(),
            beyond: Constant::new((0xf_ffff & !0u64 << (A + 2)).to_bits()),
            decode_error: Constant::new(3u64.to_bits()),
            all_bytes: Constant::new(0xfu64.to_bits()),
        }
    }
}

impl<const A: usize> Logic for SmallRam<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, place, left, id, far, of_host, kept, valid);
        for i in 0..4 {
            self.ram[i].clock.next = self.clock.val();
        }
        self.fetched.next = bit_cast::<32, 8>(self.ram[0].read_data.val())
            | (bit_cast::<32, 8>(self.ram[1].read_data.val()) << 8)
            | (bit_cast::<32, 8>(self.ram[2].read_data.val()) << 16)
            | (bit_cast::<32, 8>(self.ram[3].read_data.val()) << 24);

        self.s_axi_awready.next = self.state.q.val() == SmallRamState::Idle;
        self.s_axi_arready.next = (self.state.q.val() == SmallRamState::Idle) & !self.s_axi_awvalid.val();
        self.s_axi_wready.next = self.state.q.val() == SmallRamState::Write;
        self.s_axi_bvalid.next = self.state.q.val() == SmallRamState::WriteAnswer;
        self.s_axi_rvalid.next = self.valid.q.val() & !self.of_host.q.val();
        self.s_axi_rlast.next = !self.left.q.val().any();
        self.s_axi_rdata.next = self.kept.q.val();
        self.s_axi_rid.next = self.id.q.val();
        self.s_axi_bid.next = self.id.q.val();
        self.s_axi_rresp.next = 0.into();
        self.s_axi_bresp.next = 0.into();
        if self.far.q.val() {
            self.s_axi_rresp.next = self.decode_error.val();
            self.s_axi_bresp.next = self.decode_error.val();
        }
        self.host_done.next = self.valid.q.val() & self.of_host.q.val();
        self.host_read.next = self.kept.q.val();
        self.lanes.next = 0.into();
        self.data.next = self.s_axi_wdata.val();
        self.begins_at.next = self.s_axi_araddr.val();

        match self.state.q.val() {
            SmallRamState::Idle => {
                self.of_host.d.next = false;
                self.left.d.next = self.s_axi_arlen.val();
                self.id.d.next = self.s_axi_arid.val();
                if self.s_axi_arvalid.val() {
                    self.state.d.next = SmallRamState::Fetch;
                } else {
                    if self.host_valid.val() {
                        self.of_host.d.next = true;
                        self.left.d.next = 0.into();
                        self.state.d.next = SmallRamState::Fetch;
                    }
                }
                if self.s_axi_awvalid.val() {
                    self.of_host.d.next = false;
                    self.begins_at.next = self.s_axi_awaddr.val();
                    self.id.d.next = self.s_axi_awid.val();
                    self.state.d.next = SmallRamState::Write;
                }
                self.place.d.next = self.begins_at.val().get_bits::<A>(2);
                self.far.d.next = (self.begins_at.val() & self.beyond.val()).any();
                if self.host_valid.val() & !self.s_axi_awvalid.val() & !self.s_axi_arvalid.val() {
                    self.place.d.next = self.host_word.val();
                    self.far.d.next = false;
                }
            }
            SmallRamState::Write => {
                if self.s_axi_wvalid.val() {
                    if !self.far.q.val() {
                        self.lanes.next = self.s_axi_wstrb.val();
                    }
                    self.place.d.next = self.place.q.val() + 1;
                    if self.s_axi_wlast.val() {
                        self.state.d.next = SmallRamState::WriteAnswer;
                    }
                }
            }
            SmallRamState::WriteAnswer => {
                if self.s_axi_bready.val() {
                    self.state.d.next = SmallRamState::Idle;
                }
            }
            SmallRamState::Fetch => {
                self.state.d.next = SmallRamState::Keep;
                self.place.d.next = self.place.q.val() + 1;
                self.data.next = self.host_data.val();
                if self.of_host.q.val() & self.host_write.val() {
                    self.lanes.next = self.all_bytes.val();
                }
            }
            SmallRamState::Keep => {
                self.kept.d.next = self.fetched.val();
                self.valid.d.next = true;
                self.state.d.next = SmallRamState::Give;
            }
            SmallRamState::Give => {
                // The next word already stands at the RAM.
                if self.s_axi_rready.val() | self.of_host.q.val() {
                    self.valid.d.next = false;
                    self.left.d.next = self.left.q.val() - 1;
                    self.state.d.next = SmallRamState::Keep;
                    self.place.d.next = self.place.q.val() + 1;
                    if !self.left.q.val().any() {
                        self.state.d.next = SmallRamState::Idle;
                    }
                }
            }
            _ => {
                self.state.d.next = SmallRamState::Idle;
            }
        }

        for i in 0..4 {
            self.ram[i].write_enable.next = self.lanes.val().get_bit(i);
            self.ram[i].write_address.next = self.place.q.val();
            self.ram[i].write_data.next = self.data.val().get_bits::<8>(i * 8);
            self.ram[i].read_enable.next =
                ((self.state.q.val() == SmallRamState::Fetch) & !self.lanes.val().any()) | (self.state.q.val() == SmallRamState::Keep);
            self.ram[i].read_address.next = self.place.q.val();
        }

        if self.reset.val() {
            self.state.d.next = SmallRamState::Idle;
            self.valid.d.next = false;
        }
    }

    crate::block_name!("Memory on the chip for the small engine, behind AXI4.");
}
