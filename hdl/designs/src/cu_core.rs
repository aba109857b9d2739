// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board without its vendor cells: engine, 4 KiB of memory, UART, MAC side. `fpga/rtl/cu_top.v` puts PLL, reset and pins around it.
//!
//! ```text
//! uart ─► UartPort ─┬─► registers ─┐
//!                   ├─► SmallRam ◄─ HcaMicro ◄─► MacPins ◄─► tx_*, rx_*
//!                   └─► the board's own registers: loopback, errors, lights
//! ```
//!
//! | board register | bits |
//! |---|---|
//! | 0 `board_id`, read | 0x56434203: "VCB", version 3 |
//! | 4 `board_control` | 0 loopback (1 after reset: no peer needed); what went wrong since it was written with a 1: 8 a broken request by UART, 9 words lost at the receive pins, 10 a frame dropped at the transmit pins, 11 a broken frame received; read only: 16 link, 17 event queue not empty |
//!
//! Lights: 0 link, or loopback; 1 loopback; 2 a frame went out; 3 a frame came in; 4 a request by UART; 5 event queue not empty; 6 any of the errors; 7 changes every 84 ms while the clock runs (at 50 MHz).

use rust_hdl::prelude::*;
use verbena_hdl::board::{MacPins, SmallRam, UartPort};
use verbena_hdl::micro::HcaMicro;
use verbena_spec::config::Config;

/// Clock cycles in a bit: 2 Mbaud at 50 MHz.
pub const UART_DIVISOR: u64 = 25;
/// Board register 0.
pub const BOARD_ID: u64 = 0x5643_4203;

/// See the file's head.
#[derive(LogicBlock)]
pub struct CuCore {
    pub clk: Signal<In, Clock>,
    /// Until the clock is good: then the core resets itself for 2^9 cycles more.
    pub rst: Signal<In, Bit>,
    pub uart_rx: Signal<In, Bit>,
    pub uart_tx: Signal<Out, Bit>,
    pub mac_tx_data: Signal<Out, Bits<32>>,
    pub mac_tx_bytes: Signal<Out, Bits<2>>,
    pub mac_tx_valid: Signal<Out, Bit>,
    pub mac_tx_last: Signal<Out, Bit>,
    pub mac_tx_bad: Signal<Out, Bit>,
    pub mac_tx_ready: Signal<In, Bit>,
    pub mac_link: Signal<In, Bit>,
    pub mac_rx_clk: Signal<In, Clock>,
    pub mac_rx_data: Signal<In, Bits<32>>,
    pub mac_rx_bytes: Signal<In, Bits<2>>,
    pub mac_rx_valid: Signal<In, Bit>,
    pub mac_rx_last: Signal<In, Bit>,
    pub mac_rx_bad: Signal<In, Bit>,
    pub led: Signal<Out, Bits<8>>,
    engine: HcaMicro,
    memory: SmallRam<10>,
    uart: UartPort<21, 10>,
    mac: MacPins,
    /// Reset, ticks and lights.
    clocks: DFF<Bits<23>>,
    running: DFF<Bit>,
    loopback: DFF<Bit>,
    errors: DFF<Bits<4>>,
    /// What happened since the last long tick, and before it: out, in, UART.
    recent: DFF<Bits<3>>,
    earlier: DFF<Bits<3>>,
    reset: Signal<Local, Bit>,
    tick: Signal<Local, Bit>,
    long_tick: Signal<Local, Bit>,
    happened: Signal<Local, Bits<3>>,
    wrong: Signal<Local, Bits<4>>,
    zeros: Constant<Bits<32>>,
    never: Constant<Bit>,
    yes: Constant<Bit>,
    id: Constant<Bits<32>>,
}

impl CuCore {
    /// The core with the engine's program.
    pub fn new(config: &Config, program: &[u32]) -> Self {
        Self {
            clk: Default::default(),
            rst: Default::default(),
            uart_rx: Default::default(),
            uart_tx: Default::default(),
            mac_tx_data: Default::default(),
            mac_tx_bytes: Default::default(),
            mac_tx_valid: Default::default(),
            mac_tx_last: Default::default(),
            mac_tx_bad: Default::default(),
            mac_tx_ready: Default::default(),
            mac_link: Default::default(),
            mac_rx_clk: Default::default(),
            mac_rx_data: Default::default(),
            mac_rx_bytes: Default::default(),
            mac_rx_valid: Default::default(),
            mac_rx_last: Default::default(),
            mac_rx_bad: Default::default(),
            led: Default::default(),
            engine: HcaMicro::new(config, program),
            memory: Default::default(),
            uart: UartPort::new(UART_DIVISOR),
            mac: Default::default(),
            clocks: Default::default(),
            running: Default::default(),
            loopback: Default::default(),
            errors: Default::default(),
            recent: Default::default(),
            earlier: Default::default(),
            reset: Default::default(),
            tick: Default::default(),
            long_tick: Default::default(),
            happened: Default::default(),
            wrong: Default::default(),
            zeros: Constant::new(0u64.to_bits()),
            never: Constant::new(false),
            yes: Constant::new(true),
            id: Constant::new(BOARD_ID.to_bits()),
        }
    }
}

impl Logic for CuCore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, clocks, running, loopback, errors, recent, earlier);
        self.engine.clk.next = self.clk.val();
        self.memory.clock.next = self.clk.val();
        self.uart.clock.next = self.clk.val();
        self.mac.clock.next = self.clk.val();
        self.reset.next = !self.running.q.val();
        self.engine.rst.next = self.reset.val();
        self.memory.reset.next = self.reset.val();
        self.uart.reset.next = self.reset.val();
        self.mac.reset.next = self.reset.val();

        // Time. RAM that the bitstream fills can't be read in the first microseconds: 2^9 cycles of reset.
        self.clocks.d.next = self.clocks.q.val() + 1;
        self.tick.next = !self.clocks.q.val().get_bits::<16>(0).any();
        self.long_tick.next = self.tick.val() & !self.clocks.q.val().get_bits::<6>(16).any();
        if self.clocks.q.val().get_bit(9) {
            self.running.d.next = true;
        }
        if self.rst.val() {
            self.clocks.d.next = 0.into();
            self.running.d.next = false;
        }

        // UART to registers and memory.
        self.uart.line_in.next = self.uart_rx.val();
        self.uart_tx.next = self.uart.line_out.val();
        self.uart.tick.next = self.tick.val();
        self.engine.s_axil_awaddr.next = self.uart.m_axil_awaddr.val();
        self.engine.s_axil_awvalid.next = self.uart.m_axil_awvalid.val();
        self.uart.m_axil_awready.next = self.engine.s_axil_awready.val();
        self.engine.s_axil_wdata.next = self.uart.m_axil_wdata.val();
        self.engine.s_axil_wstrb.next = self.uart.m_axil_wstrb.val();
        self.engine.s_axil_wvalid.next = self.uart.m_axil_wvalid.val();
        self.uart.m_axil_wready.next = self.engine.s_axil_wready.val();
        self.uart.m_axil_bresp.next = self.engine.s_axil_bresp.val();
        self.uart.m_axil_bvalid.next = self.engine.s_axil_bvalid.val();
        self.engine.s_axil_bready.next = self.uart.m_axil_bready.val();
        self.engine.s_axil_araddr.next = self.uart.m_axil_araddr.val();
        self.engine.s_axil_arvalid.next = self.uart.m_axil_arvalid.val();
        self.uart.m_axil_arready.next = self.engine.s_axil_arready.val();
        self.uart.m_axil_rdata.next = self.engine.s_axil_rdata.val();
        self.uart.m_axil_rresp.next = self.engine.s_axil_rresp.val();
        self.uart.m_axil_rvalid.next = self.engine.s_axil_rvalid.val();
        self.engine.s_axil_rready.next = self.uart.m_axil_rready.val();
        self.memory.host_valid.next = self.uart.host_valid.val();
        self.memory.host_write.next = self.uart.host_write.val();
        self.memory.host_word.next = self.uart.host_word.val();
        self.memory.host_data.next = self.uart.host_data.val();
        self.uart.host_done.next = self.memory.host_done.val();
        self.uart.host_read.next = self.memory.host_read.val();

        // Memory.
        self.memory.s_axi_awid.next = self.engine.m_axi_awid.val();
        self.memory.s_axi_awaddr.next = self.engine.m_axi_awaddr.val().get_bits::<20>(0);
        self.memory.s_axi_awvalid.next = self.engine.m_axi_awvalid.val();
        self.engine.m_axi_awready.next = self.memory.s_axi_awready.val();
        self.memory.s_axi_wdata.next = self.engine.m_axi_wdata.val();
        self.memory.s_axi_wstrb.next = self.engine.m_axi_wstrb.val();
        self.memory.s_axi_wlast.next = self.engine.m_axi_wlast.val();
        self.memory.s_axi_wvalid.next = self.engine.m_axi_wvalid.val();
        self.engine.m_axi_wready.next = self.memory.s_axi_wready.val();
        self.engine.m_axi_bid.next = self.memory.s_axi_bid.val();
        self.engine.m_axi_bresp.next = self.memory.s_axi_bresp.val();
        self.engine.m_axi_bvalid.next = self.memory.s_axi_bvalid.val();
        self.memory.s_axi_bready.next = self.engine.m_axi_bready.val();
        self.memory.s_axi_arid.next = self.engine.m_axi_arid.val();
        self.memory.s_axi_araddr.next = self.engine.m_axi_araddr.val().get_bits::<20>(0);
        self.memory.s_axi_arlen.next = self.engine.m_axi_arlen.val();
        self.memory.s_axi_arvalid.next = self.engine.m_axi_arvalid.val();
        self.engine.m_axi_arready.next = self.memory.s_axi_arready.val();
        self.engine.m_axi_rid.next = self.memory.s_axi_rid.val();
        self.engine.m_axi_rdata.next = self.memory.s_axi_rdata.val();
        self.engine.m_axi_rresp.next = self.memory.s_axi_rresp.val();
        self.engine.m_axi_rlast.next = self.memory.s_axi_rlast.val();
        self.engine.m_axi_rvalid.next = self.memory.s_axi_rvalid.val();
        self.memory.s_axi_rready.next = self.engine.m_axi_rready.val();

        // MAC side. The host's own Ethernet isn't there.
        self.engine.m_axis_host_rx_tready.next = self.yes.val();
        self.engine.s_axis_host_tx_tdata.next = self.zeros.val();
        self.engine.s_axis_host_tx_tkeep.next = self.zeros.val().get_bits::<4>(0);
        self.engine.s_axis_host_tx_tvalid.next = self.never.val();
        self.engine.s_axis_host_tx_tlast.next = self.never.val();
        self.mac.loopback.next = self.loopback.q.val();
        self.mac.tick.next = self.tick.val();
        self.mac.s_data.next = self.engine.m_axis_mac_tx_tdata.val();
        self.mac.s_keep.next = self.engine.m_axis_mac_tx_tkeep.val();
        self.mac.s_valid.next = self.engine.m_axis_mac_tx_tvalid.val();
        self.mac.s_last.next = self.engine.m_axis_mac_tx_tlast.val();
        self.engine.m_axis_mac_tx_tready.next = self.mac.s_ready.val();
        self.engine.s_axis_mac_rx_tdata.next = self.mac.m_data.val();
        self.engine.s_axis_mac_rx_tkeep.next = self.mac.m_keep.val();
        self.engine.s_axis_mac_rx_tvalid.next = self.mac.m_valid.val();
        self.engine.s_axis_mac_rx_tlast.next = self.mac.m_last.val();
        self.engine.s_axis_mac_rx_tuser.next = self.mac.m_user.val();
        self.mac_tx_data.next = self.mac.tx_data.val();
        self.mac_tx_bytes.next = self.mac.tx_bytes.val();
        self.mac_tx_valid.next = self.mac.tx_valid.val();
        self.mac_tx_last.next = self.mac.tx_last.val();
        self.mac_tx_bad.next = self.mac.tx_bad.val();
        self.mac.tx_ready.next = self.mac_tx_ready.val();
        self.mac.tx_link.next = self.mac_link.val();
        self.mac.rx_clock.next = self.mac_rx_clk.val();
        self.mac.rx_data.next = self.mac_rx_data.val();
        self.mac.rx_bytes.next = self.mac_rx_bytes.val();
        self.mac.rx_valid.next = self.mac_rx_valid.val();
        self.mac.rx_last.next = self.mac_rx_last.val();
        self.mac.rx_bad.next = self.mac_rx_bad.val();

        // The board's registers.
        self.wrong.next = bit_cast::<4, 1>(self.uart.bad.val().into())
            | (bit_cast::<4, 1>(self.mac.overrun.val().into()) << 1)
            | (bit_cast::<4, 1>(self.mac.dropped.val().into()) << 2)
            | (bit_cast::<4, 1>(self.mac.broken.val().into()) << 3);
        self.errors.d.next = self.errors.q.val() | self.wrong.val();
        if self.uart.board_write.val() & self.uart.board_word.val() {
            self.loopback.d.next = self.uart.host_data.val().get_bit(0);
            self.errors.d.next = (self.errors.q.val() & !self.uart.host_data.val().get_bits::<4>(8)) | self.wrong.val();
        }
        self.uart.board_read.next = self.id.val();
        if self.uart.board_word.val() {
            self.uart.board_read.next = bit_cast::<32, 1>(self.loopback.q.val().into())
                | (bit_cast::<32, 4>(self.errors.q.val()) << 8)
                | (bit_cast::<32, 1>(self.mac.link.val().into()) << 16)
                | (bit_cast::<32, 1>(self.engine.irq.val().into()) << 17);
        }

        // Lights.
        self.happened.next = bit_cast::<3, 1>(self.mac.frame_out.val().into())
            | (bit_cast::<3, 1>(self.mac.frame_in.val().into()) << 1)
            | (bit_cast::<3, 1>(self.uart.good.val().into()) << 2);
        self.recent.d.next = self.recent.q.val() | self.happened.val();
        if self.long_tick.val() {
            self.earlier.d.next = self.recent.q.val();
            self.recent.d.next = self.happened.val();
        }
        self.led.next = bit_cast::<8, 1>((self.mac.link.val() | self.loopback.q.val()).into())
            | (bit_cast::<8, 1>(self.loopback.q.val().into()) << 1)
            | (bit_cast::<8, 3>(self.recent.q.val() | self.earlier.q.val()) << 2)
            | (bit_cast::<8, 1>(self.engine.irq.val().into()) << 5)
            | (bit_cast::<8, 1>(self.errors.q.val().any().into()) << 6)
            | (bit_cast::<8, 1>(self.clocks.q.val().get_bit(22).into()) << 7);

        if self.reset.val() {
            self.loopback.d.next = true;
            self.errors.d.next = 0.into();
            self.recent.d.next = 0.into();
            self.earlier.d.next = 0.into();
        }
    }

    verbena_hdl::block_name!("The cu board without vendor cells.");
}
