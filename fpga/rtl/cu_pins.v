// SPDX-License-Identifier: MIT OR Apache-2.0
// Pins of the Alchitry Cu's part with their flip-flops.

// Out, in a flip-flop.
module cu_pin_out (
    input  wire clk,
    input  wire data,
    output wire pin
);
    SB_IO #(.PIN_TYPE(6'b0101_01)) cell_io (
        .PACKAGE_PIN(pin),
        .OUTPUT_CLK(clk),
        .D_OUT_0(data)
    );
endmodule

// The clock's inverse, through the same kind of flip-flops: it rises in the middle of the data.
module cu_pin_clock (
    input  wire clk,
    output wire pin
);
    SB_IO #(.PIN_TYPE(6'b0100_01)) cell_io (
        .PACKAGE_PIN(pin),
        .OUTPUT_CLK(clk),
        .D_OUT_0(1'b0),
        .D_OUT_1(1'b1)
    );
endmodule

// In, in a flip-flop.
module cu_pin_in (
    input  wire clk,
    input  wire pin,
    output wire data
);
    SB_IO #(.PIN_TYPE(6'b0000_00)) cell_io (
        .PACKAGE_PIN(pin),
        .INPUT_CLK(clk),
        .D_IN_0(data)
    );
endmodule

// A clock, straight to a global net.
module cu_clock_in (
    input  wire pin,
    output wire clk
);
    SB_GB_IO #(.PIN_TYPE(6'b0000_01)) cell_io (
        .PACKAGE_PIN(pin),
        .GLOBAL_BUFFER_OUTPUT(clk)
    );
endmodule
