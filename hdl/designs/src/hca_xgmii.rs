// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `tengig` engine with the MAC at its side: XGMII instead of the MAC's streams. What a board's wrapper takes.
//!
//! ```text
//! xgmii ◄─► Mac ◄─► HcaTengig ◄─► m_axi, s_axil, host streams, irq
//! ```
//!
//! All on `clk`, XGMII's own clock at 156.25 MHz: a PHY whose receive clock is another one needs an elastic buffer before this block. The MAC's states
//! and events are ports; each event is one cycle.

use rust_hdl::prelude::*;
use verbena_hdl::mac::Mac;
use verbena_hdl::top::HcaTengig;
use verbena_spec::config::Config;

/// Longest frame without FCS, bytes: the preset's.
pub(crate) const LONGEST_FRAME: usize = 4200;

/// See the file's head; the other ports are the engine's.
#[derive(LogicBlock)]
pub struct HcaXgmii {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub xgmii_txd: Signal<Out, Bits<64>>,
    pub xgmii_txc: Signal<Out, Bits<8>>,
    pub xgmii_rxd: Signal<In, Bits<64>>,
    pub xgmii_rxc: Signal<In, Bits<8>>,
    /// The MAC obeys pause frames.
    pub mac_pause_enable: Signal<In, Bit>,
    pub mac_paused: Signal<Out, Bit>,
    pub mac_local_fault: Signal<Out, Bit>,
    pub mac_remote_fault: Signal<Out, Bit>,
    pub mac_tx_underrun: Signal<Out, Bit>,
    pub mac_tx_muted: Signal<Out, Bit>,
    pub mac_rx_good: Signal<Out, Bit>,
    pub mac_rx_bad_code: Signal<Out, Bit>,
    pub mac_rx_too_long: Signal<Out, Bit>,
    pub mac_rx_too_short: Signal<Out, Bit>,
    pub mac_rx_bad_fcs: Signal<Out, Bit>,
    pub mac_rx_bad_preamble: Signal<Out, Bit>,
    pub mac_rx_pause: Signal<Out, Bit>,
    pub m_axis_host_rx_tdata: Signal<Out, Bits<64>>,
    pub m_axis_host_rx_tkeep: Signal<Out, Bits<8>>,
    pub m_axis_host_rx_tvalid: Signal<Out, Bit>,
    pub m_axis_host_rx_tready: Signal<In, Bit>,
    pub m_axis_host_rx_tlast: Signal<Out, Bit>,
    pub s_axis_host_tx_tdata: Signal<In, Bits<64>>,
    pub s_axis_host_tx_tkeep: Signal<In, Bits<8>>,
    pub s_axis_host_tx_tvalid: Signal<In, Bit>,
    pub s_axis_host_tx_tready: Signal<Out, Bit>,
    pub s_axis_host_tx_tlast: Signal<In, Bit>,
    pub m_axi_awid: Signal<Out, Bits<3>>,
    pub m_axi_awaddr: Signal<Out, Bits<64>>,
    pub m_axi_awlen: Signal<Out, Bits<8>>,
    pub m_axi_awsize: Signal<Out, Bits<3>>,
    pub m_axi_awburst: Signal<Out, Bits<2>>,
    pub m_axi_awvalid: Signal<Out, Bit>,
    pub m_axi_awready: Signal<In, Bit>,
    pub m_axi_wdata: Signal<Out, Bits<64>>,
    pub m_axi_wstrb: Signal<Out, Bits<8>>,
    pub m_axi_wlast: Signal<Out, Bit>,
    pub m_axi_wvalid: Signal<Out, Bit>,
    pub m_axi_wready: Signal<In, Bit>,
    pub m_axi_bid: Signal<In, Bits<3>>,
    pub m_axi_bresp: Signal<In, Bits<2>>,
    pub m_axi_bvalid: Signal<In, Bit>,
    pub m_axi_bready: Signal<Out, Bit>,
    pub m_axi_arid: Signal<Out, Bits<3>>,
    pub m_axi_araddr: Signal<Out, Bits<64>>,
    pub m_axi_arlen: Signal<Out, Bits<8>>,
    pub m_axi_arsize: Signal<Out, Bits<3>>,
    pub m_axi_arburst: Signal<Out, Bits<2>>,
    pub m_axi_arvalid: Signal<Out, Bit>,
    pub m_axi_arready: Signal<In, Bit>,
    pub m_axi_rid: Signal<In, Bits<3>>,
    pub m_axi_rdata: Signal<In, Bits<64>>,
    pub m_axi_rresp: Signal<In, Bits<2>>,
    pub m_axi_rlast: Signal<In, Bit>,
    pub m_axi_rvalid: Signal<In, Bit>,
    pub m_axi_rready: Signal<Out, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<21>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<21>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub irq: Signal<Out, Bit>,

    hca: HcaTengig,
    mac: Mac<LONGEST_FRAME>,
}

impl HcaXgmii {
    /// The engine for `tengig` and its MAC.
    pub fn new(config: &Config) -> Self {
        assert_eq!(config.max_frame, LONGEST_FRAME, "HcaXgmii: longest frame");
        Self {
            clk: Default::default(),
            rst: Default::default(),
            xgmii_txd: Default::default(),
            xgmii_txc: Default::default(),
            xgmii_rxd: Default::default(),
            xgmii_rxc: Default::default(),
            mac_pause_enable: Default::default(),
            mac_paused: Default::default(),
            mac_local_fault: Default::default(),
            mac_remote_fault: Default::default(),
            mac_tx_underrun: Default::default(),
            mac_tx_muted: Default::default(),
            mac_rx_good: Default::default(),
            mac_rx_bad_code: Default::default(),
            mac_rx_too_long: Default::default(),
            mac_rx_too_short: Default::default(),
            mac_rx_bad_fcs: Default::default(),
            mac_rx_bad_preamble: Default::default(),
            mac_rx_pause: Default::default(),
            m_axis_host_rx_tdata: Default::default(),
            m_axis_host_rx_tkeep: Default::default(),
            m_axis_host_rx_tvalid: Default::default(),
            m_axis_host_rx_tready: Default::default(),
            m_axis_host_rx_tlast: Default::default(),
            s_axis_host_tx_tdata: Default::default(),
            s_axis_host_tx_tkeep: Default::default(),
            s_axis_host_tx_tvalid: Default::default(),
            s_axis_host_tx_tready: Default::default(),
            s_axis_host_tx_tlast: Default::default(),
            m_axi_awid: Default::default(),
            m_axi_awaddr: Default::default(),
            m_axi_awlen: Default::default(),
            m_axi_awsize: Default::default(),
            m_axi_awburst: Default::default(),
            m_axi_awvalid: Default::default(),
            m_axi_awready: Default::default(),
            m_axi_wdata: Default::default(),
            m_axi_wstrb: Default::default(),
            m_axi_wlast: Default::default(),
            m_axi_wvalid: Default::default(),
            m_axi_wready: Default::default(),
            m_axi_bid: Default::default(),
            m_axi_bresp: Default::default(),
            m_axi_bvalid: Default::default(),
            m_axi_bready: Default::default(),
            m_axi_arid: Default::default(),
            m_axi_araddr: Default::default(),
            m_axi_arlen: Default::default(),
            m_axi_arsize: Default::default(),
            m_axi_arburst: Default::default(),
            m_axi_arvalid: Default::default(),
            m_axi_arready: Default::default(),
            m_axi_rid: Default::default(),
            m_axi_rdata: Default::default(),
            m_axi_rresp: Default::default(),
            m_axi_rlast: Default::default(),
            m_axi_rvalid: Default::default(),
            m_axi_rready: Default::default(),
            s_axil_awaddr: Default::default(),
            s_axil_awvalid: Default::default(),
            s_axil_awready: Default::default(),
            s_axil_wdata: Default::default(),
            s_axil_wstrb: Default::default(),
            s_axil_wvalid: Default::default(),
            s_axil_wready: Default::default(),
            s_axil_bresp: Default::default(),
            s_axil_bvalid: Default::default(),
            s_axil_bready: Default::default(),
            s_axil_araddr: Default::default(),
            s_axil_arvalid: Default::default(),
            s_axil_arready: Default::default(),
            s_axil_rdata: Default::default(),
            s_axil_rresp: Default::default(),
            s_axil_rvalid: Default::default(),
            s_axil_rready: Default::default(),
            irq: Default::default(),
            hca: HcaTengig::new(config),
            mac: Default::default(),
        }
    }
}

impl Logic for HcaXgmii {
    #[hdl_gen]
    fn update(&mut self) {
        self.hca.clk.next = self.clk.val();
        self.hca.rst.next = self.rst.val();
        self.mac.clock.next = self.clk.val();
        self.mac.reset.next = self.rst.val();

        // Engine and MAC.
        self.mac.s_data.next = self.hca.m_axis_mac_tx_tdata.val();
        self.mac.s_keep.next = self.hca.m_axis_mac_tx_tkeep.val();
        self.mac.s_valid.next = self.hca.m_axis_mac_tx_tvalid.val();
        self.mac.s_last.next = self.hca.m_axis_mac_tx_tlast.val();
        self.mac.s_user.next = self.hca.m_axis_mac_tx_tuser.val();
        self.hca.m_axis_mac_tx_tready.next = self.mac.s_ready.val();
        self.hca.s_axis_mac_rx_tdata.next = self.mac.m_data.val();
        self.hca.s_axis_mac_rx_tkeep.next = self.mac.m_keep.val();
        self.hca.s_axis_mac_rx_tvalid.next = self.mac.m_valid.val();
        self.hca.s_axis_mac_rx_tlast.next = self.mac.m_last.val();
        self.hca.s_axis_mac_rx_tuser.next = self.mac.m_user.val();

        // XGMII, and what the MAC says.
        self.xgmii_txd.next = self.mac.xgmii_txd.val();
        self.xgmii_txc.next = self.mac.xgmii_txc.val();
        self.mac.xgmii_rxd.next = self.xgmii_rxd.val();
        self.mac.xgmii_rxc.next = self.xgmii_rxc.val();
        self.mac.pause_enable.next = self.mac_pause_enable.val();
        self.mac_paused.next = self.mac.paused.val();
        self.mac_local_fault.next = self.mac.local_fault.val();
        self.mac_remote_fault.next = self.mac.remote_fault.val();
        self.mac_tx_underrun.next = self.mac.tx_underrun.val();
        self.mac_tx_muted.next = self.mac.tx_muted.val();
        self.mac_rx_good.next = self.mac.rx_good.val();
        self.mac_rx_bad_code.next = self.mac.rx_bad_code.val();
        self.mac_rx_too_long.next = self.mac.rx_too_long.val();
        self.mac_rx_too_short.next = self.mac.rx_too_short.val();
        self.mac_rx_bad_fcs.next = self.mac.rx_bad_fcs.val();
        self.mac_rx_bad_preamble.next = self.mac.rx_bad_preamble.val();
        self.mac_rx_pause.next = self.mac.rx_pause.val();

        // The engine's other ports.
        self.m_axis_host_rx_tdata.next = self.hca.m_axis_host_rx_tdata.val();
        self.m_axis_host_rx_tkeep.next = self.hca.m_axis_host_rx_tkeep.val();
        self.m_axis_host_rx_tvalid.next = self.hca.m_axis_host_rx_tvalid.val();
        self.hca.m_axis_host_rx_tready.next = self.m_axis_host_rx_tready.val();
        self.m_axis_host_rx_tlast.next = self.hca.m_axis_host_rx_tlast.val();
        self.hca.s_axis_host_tx_tdata.next = self.s_axis_host_tx_tdata.val();
        self.hca.s_axis_host_tx_tkeep.next = self.s_axis_host_tx_tkeep.val();
        self.hca.s_axis_host_tx_tvalid.next = self.s_axis_host_tx_tvalid.val();
        self.s_axis_host_tx_tready.next = self.hca.s_axis_host_tx_tready.val();
        self.hca.s_axis_host_tx_tlast.next = self.s_axis_host_tx_tlast.val();
        self.m_axi_awid.next = self.hca.m_axi_awid.val();
        self.m_axi_awaddr.next = self.hca.m_axi_awaddr.val();
        self.m_axi_awlen.next = self.hca.m_axi_awlen.val();
        self.m_axi_awsize.next = self.hca.m_axi_awsize.val();
        self.m_axi_awburst.next = self.hca.m_axi_awburst.val();
        self.m_axi_awvalid.next = self.hca.m_axi_awvalid.val();
        self.hca.m_axi_awready.next = self.m_axi_awready.val();
        self.m_axi_wdata.next = self.hca.m_axi_wdata.val();
        self.m_axi_wstrb.next = self.hca.m_axi_wstrb.val();
        self.m_axi_wlast.next = self.hca.m_axi_wlast.val();
        self.m_axi_wvalid.next = self.hca.m_axi_wvalid.val();
        self.hca.m_axi_wready.next = self.m_axi_wready.val();
        self.hca.m_axi_bid.next = self.m_axi_bid.val();
        self.hca.m_axi_bresp.next = self.m_axi_bresp.val();
        self.hca.m_axi_bvalid.next = self.m_axi_bvalid.val();
        self.m_axi_bready.next = self.hca.m_axi_bready.val();
        self.m_axi_arid.next = self.hca.m_axi_arid.val();
        self.m_axi_araddr.next = self.hca.m_axi_araddr.val();
        self.m_axi_arlen.next = self.hca.m_axi_arlen.val();
        self.m_axi_arsize.next = self.hca.m_axi_arsize.val();
        self.m_axi_arburst.next = self.hca.m_axi_arburst.val();
        self.m_axi_arvalid.next = self.hca.m_axi_arvalid.val();
        self.hca.m_axi_arready.next = self.m_axi_arready.val();
        self.hca.m_axi_rid.next = self.m_axi_rid.val();
        self.hca.m_axi_rdata.next = self.m_axi_rdata.val();
        self.hca.m_axi_rresp.next = self.m_axi_rresp.val();
        self.hca.m_axi_rlast.next = self.m_axi_rlast.val();
        self.hca.m_axi_rvalid.next = self.m_axi_rvalid.val();
        self.m_axi_rready.next = self.hca.m_axi_rready.val();
        self.hca.s_axil_awaddr.next = self.s_axil_awaddr.val();
        self.hca.s_axil_awvalid.next = self.s_axil_awvalid.val();
        self.s_axil_awready.next = self.hca.s_axil_awready.val();
        self.hca.s_axil_wdata.next = self.s_axil_wdata.val();
        self.hca.s_axil_wstrb.next = self.s_axil_wstrb.val();
        self.hca.s_axil_wvalid.next = self.s_axil_wvalid.val();
        self.s_axil_wready.next = self.hca.s_axil_wready.val();
        self.s_axil_bresp.next = self.hca.s_axil_bresp.val();
        self.s_axil_bvalid.next = self.hca.s_axil_bvalid.val();
        self.hca.s_axil_bready.next = self.s_axil_bready.val();
        self.hca.s_axil_araddr.next = self.s_axil_araddr.val();
        self.hca.s_axil_arvalid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.hca.s_axil_arready.val();
        self.s_axil_rdata.next = self.hca.s_axil_rdata.val();
        self.s_axil_rresp.next = self.hca.s_axil_rresp.val();
        self.s_axil_rvalid.next = self.hca.s_axil_rvalid.val();
        self.hca.s_axil_rready.next = self.s_axil_rready.val();
        self.irq.next = self.hca.irq.val();
    }

    verbena_hdl::block_name!("RoCEv2 engine and 10G MAC: XGMII at the network's side.");
}
