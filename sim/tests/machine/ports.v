// SPDX-License-Identifier: MIT OR Apache-2.0
// Nothing of Verbena: a module with its ports that echoes, so that the machine around the engine is tested by itself.
// Frames from the MAC go to the host, the host's to the MAC; each register write is also an AXI write of its data to `base`, and a
// read of `base` is done over AXI.
module verbena_hca(
  input clk, input rst,
  input [63:0] s_axis_mac_rx_tdata, input [7:0] s_axis_mac_rx_tkeep, input s_axis_mac_rx_tvalid, output s_axis_mac_rx_tready,
  input s_axis_mac_rx_tlast, input s_axis_mac_rx_tuser,
  output [63:0] m_axis_mac_tx_tdata, output [7:0] m_axis_mac_tx_tkeep, output m_axis_mac_tx_tvalid, input m_axis_mac_tx_tready,
  output m_axis_mac_tx_tlast, output m_axis_mac_tx_tuser,
  output [63:0] m_axis_host_rx_tdata, output [7:0] m_axis_host_rx_tkeep, output m_axis_host_rx_tvalid, input m_axis_host_rx_tready,
  output m_axis_host_rx_tlast,
  input [63:0] s_axis_host_tx_tdata, input [7:0] s_axis_host_tx_tkeep, input s_axis_host_tx_tvalid, output s_axis_host_tx_tready,
  input s_axis_host_tx_tlast,
  output [2:0] m_axi_awid, output [63:0] m_axi_awaddr, output [7:0] m_axi_awlen, output [2:0] m_axi_awsize, output [1:0] m_axi_awburst,
  output m_axi_awvalid, input m_axi_awready,
  output [63:0] m_axi_wdata, output [7:0] m_axi_wstrb, output m_axi_wlast, output m_axi_wvalid, input m_axi_wready,
  input [2:0] m_axi_bid, input [1:0] m_axi_bresp, input m_axi_bvalid, output m_axi_bready,
  output [2:0] m_axi_arid, output [63:0] m_axi_araddr, output [7:0] m_axi_arlen, output [2:0] m_axi_arsize, output [1:0] m_axi_arburst,
  output m_axi_arvalid, input m_axi_arready,
  input [2:0] m_axi_rid, input [63:0] m_axi_rdata, input [1:0] m_axi_rresp, input m_axi_rlast, input m_axi_rvalid, output m_axi_rready,
  input [20:0] s_axil_awaddr, input s_axil_awvalid, output s_axil_awready, input [31:0] s_axil_wdata, input [3:0] s_axil_wstrb,
  input s_axil_wvalid, output s_axil_wready, output [1:0] s_axil_bresp, output s_axil_bvalid, input s_axil_bready,
  input [20:0] s_axil_araddr, input s_axil_arvalid, output s_axil_arready, output [31:0] s_axil_rdata, output [1:0] s_axil_rresp,
  output s_axil_rvalid, input s_axil_rready,
  output irq
);
  reg [63:0] base;
  reg [2:0] write_state;
  reg [1:0] read_state;
  reg [31:0] data;
  reg [31:0] answer;
  reg [20:0] address;
  reg got_address, got_data, aw_done, w_done;
  reg [1:0] response;

  assign s_axis_mac_rx_tready = !rst;
  assign m_axis_host_rx_tdata = s_axis_mac_rx_tdata;
  assign m_axis_host_rx_tkeep = s_axis_mac_rx_tkeep;
  assign m_axis_host_rx_tvalid = s_axis_mac_rx_tvalid && !rst;
  assign m_axis_host_rx_tlast = s_axis_mac_rx_tlast;
  assign m_axis_mac_tx_tdata = s_axis_host_tx_tdata;
  assign m_axis_mac_tx_tkeep = s_axis_host_tx_tkeep;
  assign m_axis_mac_tx_tvalid = s_axis_host_tx_tvalid && !rst;
  assign m_axis_mac_tx_tlast = s_axis_host_tx_tlast;
  assign m_axis_mac_tx_tuser = 1'b0;
  assign s_axis_host_tx_tready = m_axis_mac_tx_tready;

  assign s_axil_awready = write_state == 0 && !got_address;
  assign s_axil_wready = write_state == 0 && !got_data;
  assign s_axil_bvalid = write_state == 3;
  assign s_axil_bresp = response;
  assign m_axi_awid = 3'd1;
  assign m_axi_awaddr = base;
  assign m_axi_awlen = 8'd0;
  assign m_axi_awsize = 3'd3;
  assign m_axi_awburst = 2'd1;
  assign m_axi_awvalid = write_state == 1 && !aw_done;
  assign m_axi_wdata = {address, 11'd0, data};
  assign m_axi_wstrb = 8'hff;
  assign m_axi_wlast = 1'b1;
  assign m_axi_wvalid = write_state == 1 && !w_done;
  assign m_axi_bready = 1'b1;
  assign s_axil_arready = read_state == 0;
  assign m_axi_arid = 3'd2;
  assign m_axi_araddr = base;
  assign m_axi_arlen = 8'd0;
  assign m_axi_arsize = 3'd3;
  assign m_axi_arburst = 2'd1;
  assign m_axi_arvalid = read_state == 1;
  assign m_axi_rready = 1'b1;
  assign s_axil_rvalid = read_state == 3;
  assign s_axil_rdata = answer;
  assign s_axil_rresp = 2'd0;
  assign irq = write_state != 0;

  always @(posedge clk) begin
    if (s_axil_awvalid && s_axil_awready) begin got_address <= 1; address <= s_axil_awaddr; end
    if (s_axil_wvalid && s_axil_wready) begin got_data <= 1; data <= s_axil_wdata; end
    if (write_state == 0 && got_address && got_data) begin
      if (address == 0) base[31:0] <= data;
      if (address == 4) base[63:32] <= data;
      response <= address == 8 ? 2'd2 : 2'd0;
      write_state <= address < 12 ? 3'd3 : 3'd1;
      aw_done <= 0; w_done <= 0;
    end
    if (m_axi_awvalid && m_axi_awready) aw_done <= 1;
    if (m_axi_wvalid && m_axi_wready) w_done <= 1;
    if (write_state == 1 && m_axi_bvalid) begin write_state <= 3; response <= m_axi_bresp; end
    if (write_state == 3 && s_axil_bready) begin write_state <= 0; got_address <= 0; got_data <= 0; end
    if (read_state == 0 && s_axil_arvalid) read_state <= 1;
    if (read_state == 1 && m_axi_arready) read_state <= 2;
    if (read_state == 2 && m_axi_rvalid) begin read_state <= 3; answer <= m_axi_rdata[31:0]; end
    if (read_state == 3 && s_axil_rready) read_state <= 0;
    if (rst) begin write_state <= 0; read_state <= 0; got_address <= 0; got_data <= 0; end
  end
endmodule
