// SPDX-License-Identifier: MIT OR Apache-2.0
// LFE5UM5G-85F evaluation board: PLL, reset, XGMII looped back, pins. All else is in verbena_ecp5 (hdl/designs/src/ecp5_core.rs).
//
//   12 MHz ─► PLL ─► 156 MHz ─► verbena_ecp5 ─ xgmii ─► register ─► back
//
// The board has no 10G PHY. What carries one replaces the register between xgmii_tx* and xgmii_rx*, and brings the 156.25 MHz that the constraints ask for.

module top (
    input  wire       clk12,
    input  wire       rst_n,
    input  wire       sclk,
    input  wire       cs_n,
    input  wire       mosi,
    output wire       miso,
    output wire       irq,
    output wire [7:0] led_n
);
    // 12 * 13 * 4 = 624 in the oscillator; 624 / 4 = 156.
    wire clk, locked;
    EHXPLLL #(
        .PLLRST_ENA("DISABLED"),
        .INTFB_WAKE("DISABLED"),
        .STDBY_ENABLE("DISABLED"),
        .DPHASE_SOURCE("DISABLED"),
        .OUTDIVIDER_MUXA("DIVA"),
        .OUTDIVIDER_MUXB("DIVB"),
        .OUTDIVIDER_MUXC("DIVC"),
        .OUTDIVIDER_MUXD("DIVD"),
        .CLKI_DIV(1),
        .CLKFB_DIV(13),
        .CLKOP_ENABLE("ENABLED"),
        .CLKOP_DIV(4),
        .CLKOP_CPHASE(1),
        .CLKOP_FPHASE(0),
        .FEEDBK_PATH("CLKOP")
    ) pll (
        .RST(1'b0),
        .STDBY(1'b0),
        .CLKI(clk12),
        .CLKOP(clk),
        .CLKFB(clk),
        .CLKINTFB(),
        .PHASESEL0(1'b0),
        .PHASESEL1(1'b0),
        .PHASEDIR(1'b1),
        .PHASESTEP(1'b1),
        .PHASELOADREG(1'b1),
        .PLLWAKESYNC(1'b0),
        .ENCLKOP(1'b0),
        .LOCK(locked)
    );

    // Reset until the PLL has locked and the button is up, for 16 cycles more.
    reg [3:0] settle = 4'd0;
    reg [1:0] release_sync = 2'd0;
    reg rst = 1'b1;
    always @(posedge clk) begin
        release_sync <= {release_sync[0], locked & rst_n};
        if (!release_sync[1]) settle <= 4'd0;
        else if (settle != 4'd15) settle <= settle + 4'd1;
        rst <= settle != 4'd15;
    end

    wire [63:0] xgmii_txd;
    wire [7:0] xgmii_txc;
    reg [63:0] xgmii_rxd;
    reg [7:0] xgmii_rxc;
    always @(posedge clk) begin
        xgmii_rxd <= xgmii_txd;
        xgmii_rxc <= xgmii_txc;
    end

    wire [7:0] led;
    assign led_n = ~led;

    verbena_ecp5 core (
        .clk(clk),
        .rst(rst),
        .xgmii_txd(xgmii_txd),
        .xgmii_txc(xgmii_txc),
        .xgmii_rxd(xgmii_rxd),
        .xgmii_rxc(xgmii_rxc),
        .sclk(sclk),
        .cs_n(cs_n),
        .mosi(mosi),
        .miso(miso),
        .irq(irq),
        .led(led)
    );
endmodule
