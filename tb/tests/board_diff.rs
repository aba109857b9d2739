// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board wrappers' parts: Rust simulation against Verilated text.

use verbena_hdl::board::{AxiRam, SpiPort};
use verbena_tb::{diff::Diff, drive};

#[test]
fn axi_ram() {
    let warnings = Diff::new("axi_ram").cycles(4000).run(
        AxiRam::<5, 6>::default(),
        drive!(
            clock,
            reset,
            s_axi_awid,
            s_axi_awaddr,
            s_axi_awvalid,
            s_axi_wdata,
            s_axi_wstrb,
            s_axi_wlast,
            s_axi_wvalid,
            s_axi_bready,
            s_axi_arid,
            s_axi_araddr,
            s_axi_arlen,
            s_axi_arvalid,
            s_axi_rready,
            host_valid,
            host_write,
            host_word,
            host_data
        ),
    );
    assert_eq!(warnings, "");
}

#[test]
fn spi_port() {
    let warnings = Diff::new("spi_port").cycles(4000).run(
        SpiPort::<21, 13>::default(),
        drive!(
            clock,
            reset,
            sclk,
            cs_n,
            mosi,
            m_axil_awready,
            m_axil_wready,
            m_axil_bresp,
            m_axil_bvalid,
            m_axil_arready,
            m_axil_rdata,
            m_axil_rresp,
            m_axil_rvalid,
            host_done,
            host_read
        ),
    );
    assert_eq!(warnings, "");
}
