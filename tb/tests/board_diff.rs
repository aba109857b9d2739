// SPDX-License-Identifier: MIT OR Apache-2.0
//! The board wrappers' parts: Rust simulation against Verilated text.

use verbena_hdl::board::{AxiRam, MacPins, SmallRam, SpiPort, UartPort};
use verbena_hdl::stream::AsyncFifo;
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

#[test]
fn small_ram() {
    let warnings = Diff::new("small_ram").cycles(4000).run(
        SmallRam::<5>::default(),
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
fn uart_port() {
    let warnings = Diff::new("uart_port").cycles(4000).run(
        UartPort::<21, 10>::new(4),
        drive!(
            clock,
            reset,
            line_in,
            tick,
            m_axil_awready,
            m_axil_wready,
            m_axil_bresp,
            m_axil_bvalid,
            m_axil_arready,
            m_axil_rdata,
            m_axil_rresp,
            m_axil_rvalid,
            host_done,
            host_read,
            board_read
        ),
    );
    assert_eq!(warnings, "");
}

/// Both clocks at once; `board_cu` has them apart.
#[test]
fn async_fifo() {
    let warnings = Diff::new("async_fifo")
        .cycles(2000)
        .run(AsyncFifo::<36>::default(), drive!(write_clock, s_data, s_valid, read_clock, reset));
    assert_eq!(warnings, "");
}

#[test]
fn mac_pins() {
    let warnings = Diff::new("mac_pins").cycles(4000).run(
        MacPins::default(),
        drive!(
            clock, reset, loopback, tick, s_data, s_keep, s_valid, s_last, tx_ready, tx_link, rx_clock, rx_data, rx_bytes, rx_valid,
            rx_last, rx_bad
        ),
    );
    assert_eq!(warnings, "");
}
