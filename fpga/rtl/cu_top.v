// SPDX-License-Identifier: MIT OR Apache-2.0
// Alchitry Cu: PLL, reset, pins. All else is in verbena_cu (hdl/src/board/cu_core.rs).
//
//   100 MHz ─► cu_pll ─► 50 MHz ─► verbena_cu ─► flip-flops in the pins ─► mac_tx_*, mac_tx_clk a half cycle later
//                                      ▲──────── flip-flops in the pins ◄─ mac_rx_*, on mac_rx_clk
//
// cu_pll is rust-hdl's ICE40PLLBlock, printed beside this file by `fpga build cu`.

module top (
    input  wire        clk100,
    input  wire        rst_n,
    input  wire        usb_rx,
    output wire        usb_tx,
    output wire [7:0]  led,
    output wire        mac_tx_clk,
    output wire [31:0] mac_tx_data,
    output wire [1:0]  mac_tx_bytes,
    output wire        mac_tx_valid,
    output wire        mac_tx_last,
    output wire        mac_tx_bad,
    input  wire        mac_tx_ready,
    input  wire        mac_link,
    input  wire        mac_rx_clk,
    input  wire [31:0] mac_rx_data,
    input  wire [1:0]  mac_rx_bytes,
    input  wire        mac_rx_valid,
    input  wire        mac_rx_last,
    input  wire        mac_rx_bad
);
    wire clk, locked;
    cu_pll pll (
        .clock_in(clk100),
        .clock_out(clk),
        .locked(locked)
    );

    // Until the PLL has locked and the button is up; the core waits for 2^9 cycles more.
    reg [1:0] good = 2'd0;
    always @(posedge clk) good <= {good[0], locked & rst_n};

    // Out: data change with clk, mac_tx_clk rises in their middle.
    wire [36:0] tx;
    SB_IO #(.PIN_TYPE(6'b0101_01)) tx_pins [36:0] (
        .PACKAGE_PIN({mac_tx_bad, mac_tx_last, mac_tx_valid, mac_tx_bytes, mac_tx_data}),
        .OUTPUT_CLK(clk),
        .D_OUT_0(tx)
    );
    SB_IO #(.PIN_TYPE(6'b0100_01)) tx_clock_pin (
        .PACKAGE_PIN(mac_tx_clk),
        .OUTPUT_CLK(clk),
        .D_OUT_0(1'b0),
        .D_OUT_1(1'b1)
    );

    // In.
    wire rx_clk;
    SB_GB_IO #(.PIN_TYPE(6'b0000_01)) rx_clock_pin (
        .PACKAGE_PIN(mac_rx_clk),
        .GLOBAL_BUFFER_OUTPUT(rx_clk)
    );
    wire [36:0] rx;
    SB_IO #(.PIN_TYPE(6'b0000_00)) rx_pins [36:0] (
        .PACKAGE_PIN({mac_rx_bad, mac_rx_last, mac_rx_valid, mac_rx_bytes, mac_rx_data}),
        .INPUT_CLK(rx_clk),
        .D_IN_0(rx)
    );

    verbena_cu core (
        .clk(clk),
        .rst(!good[1]),
        .uart_rx(usb_rx),
        .uart_tx(usb_tx),
        .mac_tx_data(tx[31:0]),
        .mac_tx_bytes(tx[33:32]),
        .mac_tx_valid(tx[34]),
        .mac_tx_last(tx[35]),
        .mac_tx_bad(tx[36]),
        .mac_tx_ready(mac_tx_ready),
        .mac_link(mac_link),
        .mac_rx_clk(rx_clk),
        .mac_rx_data(rx[31:0]),
        .mac_rx_bytes(rx[33:32]),
        .mac_rx_valid(rx[34]),
        .mac_rx_last(rx[35]),
        .mac_rx_bad(rx[36]),
        .led(led)
    );
endmodule
