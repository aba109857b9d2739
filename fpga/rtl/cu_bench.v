// SPDX-License-Identifier: MIT OR Apache-2.0
// The cu board for a simulator, as RTL or as a bitstream turned back into Verilog: `top` with its transmit pins wired to its receive pins.
// One clock: PLLs are wires here, so the 100 MHz pin runs at the engine's 50 MHz.

module cu_bench (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       usb_rx,
    output wire       usb_tx,
    output wire [7:0] led,
    input  wire       mac_link,
    input  wire       mac_tx_ready
);
    wire        mac_clk;
    wire [31:0] mac_data;
    wire [1:0]  mac_bytes;
    wire        mac_valid, mac_last, mac_bad;

    top board (
        .clk100(clk),
        .rst_n(rst_n),
        .usb_rx(usb_rx),
        .usb_tx(usb_tx),
        .led(led),
        .mac_tx_clk(mac_clk),
        .mac_tx_data(mac_data),
        .mac_tx_bytes(mac_bytes),
        .mac_tx_valid(mac_valid),
        .mac_tx_last(mac_last),
        .mac_tx_bad(mac_bad),
        .mac_tx_ready(mac_tx_ready),
        .mac_link(mac_link),
        .mac_rx_clk(mac_clk),
        .mac_rx_data(mac_data),
        .mac_rx_bytes(mac_bytes),
        .mac_rx_valid(mac_valid),
        .mac_rx_last(mac_last),
        .mac_rx_bad(mac_bad)
    );
endmodule

// The PLL, with the ports that rust-hdl's block and icebox_vlog connect: it has locked.
module SB_PLL40_CORE #(
    parameter FEEDBACK_PATH = "SIMPLE",
    parameter DELAY_ADJUSTMENT_MODE_FEEDBACK = "FIXED",
    parameter DELAY_ADJUSTMENT_MODE_RELATIVE = "FIXED",
    parameter PLLOUT_SELECT = "GENCLK",
    parameter SHIFTREG_DIV_MODE = 1'b0,
    parameter FDA_FEEDBACK = 4'b0000,
    parameter FDA_RELATIVE = 4'b0000,
    parameter DIVR = 4'b0000,
    parameter DIVF = 7'b0000000,
    parameter DIVQ = 3'b000,
    parameter FILTER_RANGE = 3'b000,
    parameter ENABLE_ICEGATE = 1'b0,
    parameter TEST_MODE = 1'b0
) (
    input  wire       REFERENCECLK,
    output wire       PLLOUTCORE,
    output wire       PLLOUTGLOBAL,
    input  wire       EXTFEEDBACK,
    input  wire [7:0] DYNAMICDELAY,
    output wire       LOCK,
    input  wire       BYPASS,
    input  wire       RESETB,
    input  wire       LATCHINPUTVALUE,
    output wire       SDO,
    input  wire       SDI,
    input  wire       SCLK
);
    assign PLLOUTCORE = REFERENCECLK;
    assign PLLOUTGLOBAL = REFERENCECLK;
    assign LOCK = 1'b1;
    assign SDO = 1'b0;
endmodule

// The pins of cu_pins.v.
module cu_pin_out (
    input  wire clk,
    input  wire data,
    output reg  pin
);
    initial pin = 1'b0;
    always @(posedge clk) pin <= data;
endmodule

module cu_pin_clock (
    input  wire clk,
    output wire pin
);
    assign pin = !clk;
endmodule

module cu_pin_in (
    input  wire clk,
    input  wire pin,
    output reg  data
);
    initial data = 1'b0;
    always @(posedge clk) data <= pin;
endmodule

module cu_clock_in (
    input  wire pin,
    output wire clk
);
    assign clk = pin;
endmodule
