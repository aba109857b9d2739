// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `ecp5` board without its vendor cells: engine, MAC, memory on the chip, SPI. `fpga/src/ecp5.v` puts PLL, reset and pins around it.
//!
//! ```text
//! spi ─► SpiPort ─┬─► registers ─┐
//!                 └─► AxiRam ◄── HcaXgmii ◄─► xgmii
//! ```
//!
//! 2^12 beats (32 KiB) of memory at bus address 0. The host's ordinary Ethernet isn't brought out: what isn't RoCE is dropped. Pause frames are obeyed.

use crate::HcaXgmii;
use rust_hdl::prelude::*;
use verbena_hdl::board::{AxiRam, SpiPort};
use verbena_spec::config::Config;

/// See the file's head.
#[derive(LogicBlock)]
pub struct Ecp5Core {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub xgmii_txd: Signal<Out, Bits<64>>,
    pub xgmii_txc: Signal<Out, Bits<8>>,
    pub xgmii_rxd: Signal<In, Bits<64>>,
    pub xgmii_rxc: Signal<In, Bits<8>>,
    pub sclk: Signal<In, Bit>,
    pub cs_n: Signal<In, Bit>,
    pub mosi: Signal<In, Bit>,
    pub miso: Signal<Out, Bit>,
    pub irq: Signal<Out, Bit>,
    /// Lights: 0 no link fault, 1 local fault, 2 remote fault, 3 a good frame came (for 50 ms), 4 a bad frame came, 5 a frame was broken off, 6 paused, 7 event
    /// queue not empty. 4 and 5 stay until reset.
    pub led: Signal<Out, Bits<8>>,
    engine: HcaXgmii,
    memory: AxiRam<12, 13>,
    spi: SpiPort<21, 13>,
    light: DFF<Bits<23>>,
    bad_seen: DFF<Bit>,
    broken_seen: DFF<Bit>,
    lights: DFF<Bits<8>>,
    bad: Signal<Local, Bit>,
    no_fault: Signal<Local, Bit>,
    idle_stream: Constant<Bits<64>>,
    never: Constant<Bit>,
    yes: Constant<Bit>,
    full: Constant<Bits<23>>,
}

impl Ecp5Core {
    /// The core for `tengig`.
    pub fn new(config: &Config) -> Self {
        Self {
            clk: Default::default(),
            rst: Default::default(),
            xgmii_txd: Default::default(),
            xgmii_txc: Default::default(),
            xgmii_rxd: Default::default(),
            xgmii_rxc: Default::default(),
            sclk: Default::default(),
            cs_n: Default::default(),
            mosi: Default::default(),
            miso: Default::default(),
            irq: Default::default(),
            led: Default::default(),
            engine: HcaXgmii::new(config),
            memory: Default::default(),
            spi: Default::default(),
            light: Default::default(),
            bad_seen: Default::default(),
            broken_seen: Default::default(),
            lights: Default::default(),
            bad: Default::default(),
            no_fault: Default::default(),
            idle_stream: Constant::new(0u64.to_bits()),
            never: Constant::new(false),
            yes: Constant::new(true),
            full: Constant::new(0x7f_ffffu64.to_bits()),
        }
    }
}

impl Logic for Ecp5Core {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, light, bad_seen, broken_seen, lights);
        self.engine.clk.next = self.clk.val();
        self.engine.rst.next = self.rst.val();
        self.memory.clock.next = self.clk.val();
        self.memory.reset.next = self.rst.val();
        self.spi.clock.next = self.clk.val();
        self.spi.reset.next = self.rst.val();

        self.xgmii_txd.next = self.engine.xgmii_txd.val();
        self.xgmii_txc.next = self.engine.xgmii_txc.val();
        self.engine.xgmii_rxd.next = self.xgmii_rxd.val();
        self.engine.xgmii_rxc.next = self.xgmii_rxc.val();
        self.engine.mac_pause_enable.next = self.yes.val();
        self.engine.m_axis_host_rx_tready.next = self.yes.val();
        self.engine.s_axis_host_tx_tdata.next = self.idle_stream.val();
        self.engine.s_axis_host_tx_tkeep.next = self.idle_stream.val().get_bits::<8>(0);
        self.engine.s_axis_host_tx_tvalid.next = self.never.val();
        self.engine.s_axis_host_tx_tlast.next = self.never.val();

        // Memory.
        self.memory.s_axi_awid.next = self.engine.m_axi_awid.val();
        self.memory.s_axi_awaddr.next = self.engine.m_axi_awaddr.val();
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
        self.memory.s_axi_araddr.next = self.engine.m_axi_araddr.val();
        self.memory.s_axi_arlen.next = self.engine.m_axi_arlen.val();
        self.memory.s_axi_arvalid.next = self.engine.m_axi_arvalid.val();
        self.engine.m_axi_arready.next = self.memory.s_axi_arready.val();
        self.engine.m_axi_rid.next = self.memory.s_axi_rid.val();
        self.engine.m_axi_rdata.next = self.memory.s_axi_rdata.val();
        self.engine.m_axi_rresp.next = self.memory.s_axi_rresp.val();
        self.engine.m_axi_rlast.next = self.memory.s_axi_rlast.val();
        self.engine.m_axi_rvalid.next = self.memory.s_axi_rvalid.val();
        self.memory.s_axi_rready.next = self.engine.m_axi_rready.val();

        // SPI to registers and memory.
        self.engine.s_axil_awaddr.next = self.spi.m_axil_awaddr.val();
        self.engine.s_axil_awvalid.next = self.spi.m_axil_awvalid.val();
        self.spi.m_axil_awready.next = self.engine.s_axil_awready.val();
        self.engine.s_axil_wdata.next = self.spi.m_axil_wdata.val();
        self.engine.s_axil_wstrb.next = self.spi.m_axil_wstrb.val();
        self.engine.s_axil_wvalid.next = self.spi.m_axil_wvalid.val();
        self.spi.m_axil_wready.next = self.engine.s_axil_wready.val();
        self.spi.m_axil_bresp.next = self.engine.s_axil_bresp.val();
        self.spi.m_axil_bvalid.next = self.engine.s_axil_bvalid.val();
        self.engine.s_axil_bready.next = self.spi.m_axil_bready.val();
        self.engine.s_axil_araddr.next = self.spi.m_axil_araddr.val();
        self.engine.s_axil_arvalid.next = self.spi.m_axil_arvalid.val();
        self.spi.m_axil_arready.next = self.engine.s_axil_arready.val();
        self.spi.m_axil_rdata.next = self.engine.s_axil_rdata.val();
        self.spi.m_axil_rresp.next = self.engine.s_axil_rresp.val();
        self.spi.m_axil_rvalid.next = self.engine.s_axil_rvalid.val();
        self.engine.s_axil_rready.next = self.spi.m_axil_rready.val();
        self.memory.host_valid.next = self.spi.host_valid.val();
        self.memory.host_write.next = self.spi.host_write.val();
        self.memory.host_word.next = self.spi.host_word.val();
        self.memory.host_data.next = self.spi.host_data.val();
        self.spi.host_done.next = self.memory.host_done.val();
        self.spi.host_read.next = self.memory.host_read.val();
        self.spi.sclk.next = self.sclk.val();
        self.spi.cs_n.next = self.cs_n.val();
        self.spi.mosi.next = self.mosi.val();
        self.miso.next = self.spi.miso.val();
        self.irq.next = self.engine.irq.val();

        // Lights.
        if self.light.q.val().any() {
            self.light.d.next = self.light.q.val() - 1;
        }
        if self.engine.mac_rx_good.val() {
            self.light.d.next = self.full.val();
        }
        self.bad.next = self.engine.mac_rx_bad_code.val()
            | self.engine.mac_rx_too_long.val()
            | self.engine.mac_rx_too_short.val()
            | self.engine.mac_rx_bad_fcs.val()
            | self.engine.mac_rx_bad_preamble.val();
        self.bad_seen.d.next = self.bad_seen.q.val() | self.bad.val();
        self.broken_seen.d.next = self.broken_seen.q.val() | self.engine.mac_tx_underrun.val();
        self.no_fault.next = !self.engine.mac_local_fault.val() & !self.engine.mac_remote_fault.val();
        self.lights.d.next = bit_cast::<8, 1>(self.no_fault.val().into())
            | (bit_cast::<8, 1>(self.engine.mac_local_fault.val().into()) << 1)
            | (bit_cast::<8, 1>(self.engine.mac_remote_fault.val().into()) << 2)
            | (bit_cast::<8, 1>(self.light.q.val().any().into()) << 3)
            | (bit_cast::<8, 1>(self.bad_seen.q.val().into()) << 4)
            | (bit_cast::<8, 1>(self.broken_seen.q.val().into()) << 5)
            | (bit_cast::<8, 1>(self.engine.mac_paused.val().into()) << 6)
            | (bit_cast::<8, 1>(self.engine.irq.val().into()) << 7);
        self.led.next = self.lights.q.val();

        if self.rst.val() {
            self.light.d.next = 0.into();
            self.bad_seen.d.next = false;
            self.broken_seen.d.next = false;
        }
    }

    verbena_hdl::block_name!("The ecp5 board without vendor cells.");
}
