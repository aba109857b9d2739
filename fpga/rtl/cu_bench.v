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

// A pin, for the three kinds that cu_top.v uses: input in a flip-flop, output in a flip-flop, clock out.
module SB_IO #(
    parameter [5:0] PIN_TYPE = 6'b000000
) (
    inout  wire PACKAGE_PIN,
    input  wire INPUT_CLK,
    input  wire OUTPUT_CLK,
    input  wire D_OUT_0,
    input  wire D_OUT_1,
    output wire D_IN_0
);
    generate
        if (PIN_TYPE[5:2] == 4'b0000) begin : input_pin
            reg d = 1'b0;
            always @(posedge INPUT_CLK) d <= PACKAGE_PIN;
            assign D_IN_0 = d;
        end else if (PIN_TYPE[5:2] == 4'b0101) begin : output_pin
            reg d = 1'b0;
            always @(posedge OUTPUT_CLK) d <= D_OUT_0;
            assign PACKAGE_PIN = d;
            assign D_IN_0 = 1'b0;
        end else begin : clock_pin
            assign PACKAGE_PIN = OUTPUT_CLK ? D_OUT_0 : D_OUT_1;
            assign D_IN_0 = 1'b0;
        end
    endgenerate
endmodule

module SB_GB_IO #(
    parameter [5:0] PIN_TYPE = 6'b000000
) (
    inout  wire PACKAGE_PIN,
    output wire GLOBAL_BUFFER_OUTPUT
);
    assign GLOBAL_BUFFER_OUTPUT = PACKAGE_PIN;
endmodule
