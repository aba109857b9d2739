// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registers and on-chip memory by SPI: what drives a bare board.
//!
//! ```text
//! cs_n low: 72 bits in on rising sclk, the answer to the transfer before out on falling sclk; cs_n high: the command runs
//! in:   operation[8]  address[32]  data[32]      most significant bit first
//! out:  status[8]     data[32]     zeros
//! ```
//!
//! Operation: 0 nothing, 1 read register, 2 write register, 3 read memory, 4 write memory (address: a byte address of a 32-bit word); others do nothing. Status: bit 7 done, bit 6 still
//! busy (the command was not taken), bits 1:0 AXI response. A transfer of another length than 72 bits does nothing, so a glitch can't write. SPI mode 0; all pins go through two registers, so sclk is at most an
//! eighth of the clock.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SpiPortState {
    Idle,
    Write,
    WriteAnswer,
    Read,
    ReadAnswer,
    Memory,
}

/// Bits of a transfer.
const LENGTH: u64 = 72;

/// AXI4-Lite master with addresses of `A` bits; memory of `2^M` words.
#[derive(LogicBlock)]
pub struct SpiPort<const A: usize, const M: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub sclk: Signal<In, Bit>,
    pub cs_n: Signal<In, Bit>,
    pub mosi: Signal<In, Bit>,
    pub miso: Signal<Out, Bit>,
    pub m_axil_awaddr: Signal<Out, Bits<A>>,
    pub m_axil_awvalid: Signal<Out, Bit>,
    pub m_axil_awready: Signal<In, Bit>,
    pub m_axil_wdata: Signal<Out, Bits<32>>,
    pub m_axil_wstrb: Signal<Out, Bits<4>>,
    pub m_axil_wvalid: Signal<Out, Bit>,
    pub m_axil_wready: Signal<In, Bit>,
    pub m_axil_bresp: Signal<In, Bits<2>>,
    pub m_axil_bvalid: Signal<In, Bit>,
    pub m_axil_bready: Signal<Out, Bit>,
    pub m_axil_araddr: Signal<Out, Bits<A>>,
    pub m_axil_arvalid: Signal<Out, Bit>,
    pub m_axil_arready: Signal<In, Bit>,
    pub m_axil_rdata: Signal<In, Bits<32>>,
    pub m_axil_rresp: Signal<In, Bits<2>>,
    pub m_axil_rvalid: Signal<In, Bit>,
    pub m_axil_rready: Signal<Out, Bit>,
    /// To `AxiRam`.
    pub host_valid: Signal<Out, Bit>,
    pub host_write: Signal<Out, Bit>,
    pub host_word: Signal<Out, Bits<M>>,
    pub host_data: Signal<Out, Bits<32>>,
    pub host_done: Signal<In, Bit>,
    pub host_read: Signal<In, Bits<32>>,
    sclk_1: DFF<Bit>,
    sclk_2: DFF<Bit>,
    sclk_3: DFF<Bit>,
    cs_1: DFF<Bit>,
    cs_2: DFF<Bit>,
    cs_3: DFF<Bit>,
    mosi_1: DFF<Bit>,
    mosi_2: DFF<Bit>,
    shift: DFF<Bits<72>>,
    bits_in: DFF<Bits<7>>,
    reply: DFF<Bits<40>>,
    answer: DFF<Bits<32>>,
    response: DFF<Bits<2>>,
    done: DFF<Bit>,
    state: DFF<SpiPortState>,
    aw_open: DFF<Bit>,
    w_open: DFF<Bit>,
    busy_seen: DFF<Bit>,
    rises: Signal<Local, Bit>,
    falls: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    operation: Signal<Local, Bits<8>>,
    busy: Signal<Local, Bit>,
    length: Constant<Bits<7>>,
    all_bytes: Constant<Bits<4>>,
}

impl<const A: usize, const M: usize> Default for SpiPort<A, M> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            sclk: Default::default(),
            cs_n: Default::default(),
            mosi: Default::default(),
            miso: Default::default(),
            m_axil_awaddr: Default::default(),
            m_axil_awvalid: Default::default(),
            m_axil_awready: Default::default(),
            m_axil_wdata: Default::default(),
            m_axil_wstrb: Default::default(),
            m_axil_wvalid: Default::default(),
            m_axil_wready: Default::default(),
            m_axil_bresp: Default::default(),
            m_axil_bvalid: Default::default(),
            m_axil_bready: Default::default(),
            m_axil_araddr: Default::default(),
            m_axil_arvalid: Default::default(),
            m_axil_arready: Default::default(),
            m_axil_rdata: Default::default(),
            m_axil_rresp: Default::default(),
            m_axil_rvalid: Default::default(),
            m_axil_rready: Default::default(),
            host_valid: Default::default(),
            host_write: Default::default(),
            host_word: Default::default(),
            host_data: Default::default(),
            host_done: Default::default(),
            host_read: Default::default(),
            sclk_1: Default::default(),
            sclk_2: Default::default(),
            sclk_3: Default::default(),
            cs_1: Default::default(),
            cs_2: Default::default(),
            cs_3: Default::default(),
            mosi_1: Default::default(),
            mosi_2: Default::default(),
            shift: Default::default(),
            bits_in: Default::default(),
            reply: Default::default(),
            answer: Default::default(),
            response: Default::default(),
            done: Default::default(),
            state: Default::default(),
            aw_open: Default::default(),
            w_open: Default::default(),
            busy_seen: Default::default(),
            rises: Default::default(),
            falls: Default::default(),
            begins: Default::default(),
            ends: Default::default(),
            operation: Default::default(),
            busy: Default::default(),
            length: Constant::new(LENGTH.to_bits()),
            all_bytes: Constant::new(0xfu64.to_bits()),
        }
    }
}

impl<const A: usize, const M: usize> Logic for SpiPort<A, M> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, sclk_1, sclk_2, sclk_3, cs_1, cs_2, cs_3, mosi_1, mosi_2, shift, bits_in, reply, answer, response, done, state,
            aw_open, w_open, busy_seen
        );

        self.sclk_1.d.next = self.sclk.val();
        self.sclk_2.d.next = self.sclk_1.q.val();
        self.sclk_3.d.next = self.sclk_2.q.val();
        self.cs_1.d.next = !self.cs_n.val();
        self.cs_2.d.next = self.cs_1.q.val();
        self.cs_3.d.next = self.cs_2.q.val();
        self.mosi_1.d.next = self.mosi.val();
        self.mosi_2.d.next = self.mosi_1.q.val();
        self.rises.next = self.cs_2.q.val() & self.sclk_2.q.val() & !self.sclk_3.q.val();
        self.falls.next = self.cs_2.q.val() & !self.sclk_2.q.val() & self.sclk_3.q.val();
        self.begins.next = self.cs_2.q.val() & !self.cs_3.q.val();
        self.ends.next = !self.cs_2.q.val() & self.cs_3.q.val();
        self.busy.next = self.state.q.val() != SpiPortState::Idle;
        self.operation.next = self.shift.q.val().get_bits::<8>(64);

        // In on the rising edge, out on the falling one. A transfer that comes too early is counted as too long, so it does nothing.
        if self.begins.val() {
            self.bits_in.d.next = 0.into();
            self.busy_seen.d.next = self.busy.val();
            self.reply.d.next = bit_cast::<40, 32>(self.answer.q.val())
                | (bit_cast::<40, 2>(self.response.q.val()) << 32)
                | (bit_cast::<40, 1>(self.busy.val().into()) << 38)
                | (bit_cast::<40, 1>(self.done.q.val().into()) << 39);
        }
        if self.rises.val() {
            if !self.busy_seen.q.val() {
                self.shift.d.next = (self.shift.q.val() << 1) | bit_cast::<72, 1>(self.mosi_2.q.val().into());
            }
            if !self.bits_in.q.val().all() {
                self.bits_in.d.next = self.bits_in.q.val() + 1;
            }
        }
        if self.falls.val() {
            self.reply.d.next = self.reply.q.val() << 1;
        }
        self.miso.next = self.reply.q.val().get_bit(39);

        self.m_axil_awaddr.next = self.shift.q.val().get_bits::<A>(32);
        self.m_axil_araddr.next = self.shift.q.val().get_bits::<A>(32);
        self.m_axil_wdata.next = self.shift.q.val().get_bits::<32>(0);
        self.m_axil_wstrb.next = self.all_bytes.val() & !bit_cast::<4, 1>(self.reset.val().into());
        self.m_axil_awvalid.next = self.aw_open.q.val();
        self.m_axil_wvalid.next = self.w_open.q.val();
        self.m_axil_arvalid.next = self.state.q.val() == SpiPortState::Read;
        self.m_axil_bready.next = self.state.q.val() == SpiPortState::WriteAnswer;
        self.m_axil_rready.next = self.state.q.val() == SpiPortState::ReadAnswer;
        self.host_valid.next = self.state.q.val() == SpiPortState::Memory;
        self.host_write.next = self.operation.val().get_bit(2);
        self.host_word.next = self.shift.q.val().get_bits::<M>(34);
        self.host_data.next = self.shift.q.val().get_bits::<32>(0);

        match self.state.q.val() {
            SpiPortState::Idle => {
                if self.ends.val() & !self.busy_seen.q.val() & (self.bits_in.q.val() == self.length.val()) {
                    self.done.d.next = false;
                    self.response.d.next = 0.into();
                    if self.operation.val() == 1 {
                        self.state.d.next = SpiPortState::Read;
                    }
                    if self.operation.val() == 2 {
                        self.state.d.next = SpiPortState::Write;
                        self.aw_open.d.next = true;
                        self.w_open.d.next = true;
                    }
                    if (self.operation.val() == 3) | (self.operation.val() == 4) {
                        self.state.d.next = SpiPortState::Memory;
                    }
                }
            }
            SpiPortState::Write => {
                if self.m_axil_awready.val() {
                    self.aw_open.d.next = false;
                }
                if self.m_axil_wready.val() {
                    self.w_open.d.next = false;
                }
                if (self.m_axil_awready.val() | !self.aw_open.q.val()) & (self.m_axil_wready.val() | !self.w_open.q.val()) {
                    self.state.d.next = SpiPortState::WriteAnswer;
                }
            }
            SpiPortState::WriteAnswer => {
                if self.m_axil_bvalid.val() {
                    self.response.d.next = self.m_axil_bresp.val();
                    self.done.d.next = true;
                    self.state.d.next = SpiPortState::Idle;
                }
            }
            SpiPortState::Read => {
                if self.m_axil_arready.val() {
                    self.state.d.next = SpiPortState::ReadAnswer;
                }
            }
            SpiPortState::ReadAnswer => {
                if self.m_axil_rvalid.val() {
                    self.answer.d.next = self.m_axil_rdata.val();
                    self.response.d.next = self.m_axil_rresp.val();
                    self.done.d.next = true;
                    self.state.d.next = SpiPortState::Idle;
                }
            }
            SpiPortState::Memory => {
                if self.host_done.val() {
                    self.answer.d.next = self.host_read.val();
                    self.done.d.next = true;
                    self.state.d.next = SpiPortState::Idle;
                }
            }
            _ => {
                self.state.d.next = SpiPortState::Idle;
            }
        }

        if self.reset.val() {
            self.state.d.next = SpiPortState::Idle;
            self.aw_open.d.next = false;
            self.w_open.d.next = false;
            self.done.d.next = false;
            self.bits_in.d.next = 0.into();
            self.busy_seen.d.next = false;
        }
    }

    crate::block_name!("SPI to AXI4-Lite and on-chip memory.");
}
