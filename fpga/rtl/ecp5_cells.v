// SPDX-License-Identifier: MIT OR Apache-2.0
// Models of the ECP5's cells that yosys' ecp5/cells_sim.v declares without behaviour or with less than is wanted here, as Lattice's memory usage guide (TN1264) has them, for the modes that
// synthesis uses; another mode doesn't elaborate. Two-state: what the part leaves open is noise here, another word each time, so that logic which looks at it fails.
//
//   open in the part                                          here
//   a word that one port reads while the other writes it      noise
//   a RAM's contents at the start (a ROM has its contents)    noise
//
// A RAM is what has no contents of its own: synthesis gives it zeros, and so would the part; but the engine promises to need none.

// Block RAM of 1024 words of 18 bits: two ports of 1, 2, 4, 9 or 18 bits, or one that writes 36 bits (DIB is the upper half) and one that reads up to 36 (DOA the lower half).
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC",
    parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
    parameter CLKAMUX = "CLKA", CLKBMUX = "CLKB", GSR = "ENABLED",
    parameter [319:0] INITVAL_00 = 320'h0, INITVAL_01 = 320'h0, INITVAL_02 = 320'h0, INITVAL_03 = 320'h0,
    parameter [319:0] INITVAL_04 = 320'h0, INITVAL_05 = 320'h0, INITVAL_06 = 320'h0, INITVAL_07 = 320'h0,
    parameter [319:0] INITVAL_08 = 320'h0, INITVAL_09 = 320'h0, INITVAL_0A = 320'h0, INITVAL_0B = 320'h0,
    parameter [319:0] INITVAL_0C = 320'h0, INITVAL_0D = 320'h0, INITVAL_0E = 320'h0, INITVAL_0F = 320'h0,
    parameter [319:0] INITVAL_10 = 320'h0, INITVAL_11 = 320'h0, INITVAL_12 = 320'h0, INITVAL_13 = 320'h0,
    parameter [319:0] INITVAL_14 = 320'h0, INITVAL_15 = 320'h0, INITVAL_16 = 320'h0, INITVAL_17 = 320'h0,
    parameter [319:0] INITVAL_18 = 320'h0, INITVAL_19 = 320'h0, INITVAL_1A = 320'h0, INITVAL_1B = 320'h0,
    parameter [319:0] INITVAL_1C = 320'h0, INITVAL_1D = 320'h0, INITVAL_1E = 320'h0, INITVAL_1F = 320'h0,
    parameter [319:0] INITVAL_20 = 320'h0, INITVAL_21 = 320'h0, INITVAL_22 = 320'h0, INITVAL_23 = 320'h0,
    parameter [319:0] INITVAL_24 = 320'h0, INITVAL_25 = 320'h0, INITVAL_26 = 320'h0, INITVAL_27 = 320'h0,
    parameter [319:0] INITVAL_28 = 320'h0, INITVAL_29 = 320'h0, INITVAL_2A = 320'h0, INITVAL_2B = 320'h0,
    parameter [319:0] INITVAL_2C = 320'h0, INITVAL_2D = 320'h0, INITVAL_2E = 320'h0, INITVAL_2F = 320'h0,
    parameter [319:0] INITVAL_30 = 320'h0, INITVAL_31 = 320'h0, INITVAL_32 = 320'h0, INITVAL_33 = 320'h0,
    parameter [319:0] INITVAL_34 = 320'h0, INITVAL_35 = 320'h0, INITVAL_36 = 320'h0, INITVAL_37 = 320'h0,
    parameter [319:0] INITVAL_38 = 320'h0, INITVAL_39 = 320'h0, INITVAL_3A = 320'h0, INITVAL_3B = 320'h0,
    parameter [319:0] INITVAL_3C = 320'h0, INITVAL_3D = 320'h0, INITVAL_3E = 320'h0, INITVAL_3F = 320'h0
) (
    input wire DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0,
    input wire ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input wire CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output wire DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0,
    input wire DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0,
    input wire ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input wire CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output wire DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0
);
    // Modes that aren't modelled.
    generate
        if (REGMODE_A != "NOREG" || REGMODE_B != "NOREG") DP16KD_has_no_model_of_REGMODE wrong ();
        if (CSDECODE_A != "0b000" || CSDECODE_B != "0b000") DP16KD_has_no_model_of_CSDECODE wrong ();
        if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") DP16KD_has_no_model_of_CLKMUX wrong ();
        if (WRITEMODE_A != "NORMAL" && WRITEMODE_A != "READBEFOREWRITE") DP16KD_has_no_model_of_WRITEMODE wrong ();
        if (WRITEMODE_B != "NORMAL" && WRITEMODE_B != "READBEFOREWRITE") DP16KD_has_no_model_of_WRITEMODE wrong ();
    endgenerate

    localparam [20479:0] CONTENTS = {INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
        INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
        INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
        INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
        INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
        INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
        INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00};
    wire [17:0] di_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [13:0] ad_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0};
    wire [17:0] di_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    wire [13:0] ad_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0};
    wire go_a = CEA & ~CSA0 & ~CSA1 & ~CSA2;
    wire go_b = CEB & ~CSB0 & ~CSB1 & ~CSB2;
    // A port of 36 bits is the whole of the row pair; only A writes so.
    wire wide_a = DATA_WIDTH_A == 36;
    wire wide_b = DATA_WIDTH_B == 36;

    // Bits of an 18-bit row that a port of up to 18 bits has at an address, and where the first of them is. Four and fewer bits leave each byte's ninth bit alone.
    function [17:0] bits;
        input integer width;
        input [3:0] at;
        case (width)
            1: bits = 18'h1 << first(width, at);
            2: bits = 18'h3 << first(width, at);
            4: bits = 18'hf << first(width, at);
            9: bits = 18'h1ff << first(width, at);
            default: bits = 18'h3ffff;
        endcase
    endfunction
    function [4:0] first;
        input integer width;
        input [3:0] at;
        case (width)
            1: first = (at[3] ? 5'd9 : 5'd0) + {2'd0, at[2:0]};
            2: first = (at[3] ? 5'd9 : 5'd0) + {2'd0, at[2:1], 1'b0};
            4: first = (at[3] ? 5'd9 : 5'd0) + {2'd0, at[2], 2'd0};
            9: first = at[3] ? 5'd9 : 5'd0;
            default: first = 5'd0;
        endcase
    endfunction
    // The same of a write: from 18 bits on, the lowest address bits enable the bytes.
    function [17:0] written;
        input integer width;
        input [3:0] at;
        written = width == 18 ? {{9{at[1]}}, {9{at[0]}}} : bits(width, at);
    endfunction

    reg [17:0] mem [0:1023];
    reg [31:0] noise;
    reg [17:0] q_a, q_b, q_wide;
    integer i;
    initial begin
        noise = 32'h2545f491;
        for (i = 0; i < 1024; i = i + 1) begin
            noise = noise * 32'd1664525 + 32'd1013904223;
            mem[i] = CONTENTS == 20480'd0 ? noise[31:14] : CONTENTS[20 * i +: 18];
        end
        {q_a, q_b, q_wide} = 54'd0;
    end
    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3, DOA2, DOA1, DOA0} = wide_b ? q_wide : q_a;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3, DOB2, DOB1, DOB0} = q_b;

    wire write_a = go_a & WEA;
    wire write_b = go_b & WEB;
    wire [9:0] row_a = ad_a[13:4];
    wire [9:0] row_b = ad_b[13:4];
    wire [17:0] mask_a = wide_a ? {{9{ad_a[1]}}, {9{ad_a[0]}}} : written(DATA_WIDTH_A, ad_a[3:0]);
    wire [17:0] mask_a_upper = {{9{ad_a[3]}}, {9{ad_a[2]}}};
    wire [17:0] mask_b = written(DATA_WIDTH_B, ad_b[3:0]);
    wire [17:0] data_a = di_a << first(DATA_WIDTH_A, ad_a[3:0]);
    wire [17:0] data_b = di_b << first(DATA_WIDTH_B, ad_b[3:0]);
    // Rows in which a port that reads has bits that the other writes.
    wire meet_row = (row_a | {9'd0, wide_a | wide_b}) == (row_b | {9'd0, wide_a | wide_b});
    wire [35:0] writes_a = wide_a ? {mask_a_upper, mask_a} : row_a[0] ? {mask_a, 18'd0} : {18'd0, mask_a};
    wire [35:0] reads_b = wide_b ? 36'hfffffffff : row_b[0] ? {bits(DATA_WIDTH_B, ad_b[3:0]), 18'd0} : {18'd0, bits(DATA_WIDTH_B, ad_b[3:0])};
    wire clash_b = write_a & meet_row & |(writes_a & reads_b);
    wire clash_a = write_b & (row_a == row_b) & |(mask_b & bits(DATA_WIDTH_A, ad_a[3:0]));

    // A port that writes reads the old word, or stands still.
    wire read_a = go_a & (~WEA | WRITEMODE_A == "READBEFOREWRITE");
    wire read_b = go_b & (~WEB | WRITEMODE_B == "READBEFOREWRITE");
    wire clear_a = RESETMODE == "ASYNC" & RSTA;
    wire clear_b = RESETMODE == "ASYNC" & RSTB;

    always @(posedge CLKA)
        if (write_a) begin
            if (wide_a) begin
                mem[{row_a[9:1], 1'b0}] <= mem[{row_a[9:1], 1'b0}] & ~mask_a | di_a & mask_a;
                mem[{row_a[9:1], 1'b1}] <= mem[{row_a[9:1], 1'b1}] & ~mask_a_upper | di_b & mask_a_upper;
            end else mem[row_a] <= mem[row_a] & ~mask_a | data_a & mask_a;
        end
    always @(posedge CLKB) if (write_b) mem[row_b] <= mem[row_b] & ~mask_b | data_b & mask_b;

    always @(posedge CLKA or posedge clear_a)
        if (clear_a) q_a <= 18'd0;
        else if (RSTA) q_a <= 18'd0;
        else if (read_a) q_a <= clash_a ? noise[31:14] : (mem[row_a] & bits(DATA_WIDTH_A, ad_a[3:0])) >> first(DATA_WIDTH_A, ad_a[3:0]);
    always @(posedge CLKB or posedge clear_b)
        if (clear_b) {q_b, q_wide} <= 36'd0;
        else if (RSTB) {q_b, q_wide} <= 36'd0;
        else if (read_b) begin
            if (clash_b) begin
                q_b <= noise[31:14];
                q_wide <= noise[17:0];
            end else if (wide_b) begin
                q_b <= mem[{row_b[9:1], 1'b1}];
                q_wide <= mem[{row_b[9:1], 1'b0}];
            end else q_b <= (mem[row_b] & bits(DATA_WIDTH_B, ad_b[3:0])) >> first(DATA_WIDTH_B, ad_b[3:0]);
        end
    always @(posedge CLKB) if (clash_a | clash_b) noise <= noise * 32'd1664525 + 32'd1013904223;
endmodule

// Distributed RAM of 16 words of 4 bits: yosys' model, but for its contents at the start.
module TRELLIS_DPR16X4 #(
    parameter WCKMUX = "WCK", WREMUX = "WRE",
    parameter [63:0] INITVAL = 64'h0
) (
    input wire [3:0] DI, WAD, RAD,
    input wire WRE, WCK,
    output wire [3:0] DO
);
    generate
        if (WCKMUX != "WCK") TRELLIS_DPR16X4_has_no_model_of_WCKMUX wrong ();
        if (WREMUX != "WRE") TRELLIS_DPR16X4_has_no_model_of_WREMUX wrong ();
    endgenerate
    reg [3:0] mem [0:15];
    integer i;
    initial for (i = 0; i < 16; i = i + 1) mem[i] = INITVAL == 64'd0 ? 4'd5 + 4'd7 * i[3:0] : INITVAL[4 * i +: 4];
    always @(posedge WCK) if (WRE) mem[WAD] <= DI;
    assign DO = mem[RAD];
endmodule
