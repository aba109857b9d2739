// SPDX-License-Identifier: MIT OR Apache-2.0
// Alchitry Cu: PLL, reset, pins. All else is in verbena_cu (hdl/designs/src/cu_core.rs).
//
//   100 MHz ─► cu_pll ─► 50 MHz ─► verbena_cu ─► flip-flops in the pins ─► mac_tx_*, mac_tx_clk a half cycle later
//                                      ▲──────── flip-flops in the pins ◄─ mac_rx_*, on mac_rx_clk
//
// cu_pll is rust-hdl's ICE40PLLBlock, printed beside this file by `fpga build cu`; the pins' cells are in cu_pins.v, their models for a simulator in cu_bench.v.

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
    cu_pin_out tx_pins [36:0] (
        .clk(clk),
        .data(tx),
        .pin({mac_tx_bad, mac_tx_last, mac_tx_valid, mac_tx_bytes, mac_tx_data})
    );
    cu_pin_clock tx_clock_pin (
        .clk(clk),
        .pin(mac_tx_clk)
    );

    // In.
    wire rx_clk;
    cu_clock_in rx_clock_pin (
        .pin(mac_rx_clk),
        .clk(rx_clk)
    );
    wire [36:0] rx;
    cu_pin_in rx_pins [36:0] (
        .clk(rx_clk),
        .pin({mac_rx_bad, mac_rx_last, mac_rx_valid, mac_rx_bytes, mac_rx_data}),
        .data(rx)
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
