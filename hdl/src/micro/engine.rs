// SPDX-License-Identifier: MIT OR Apache-2.0
//! The small engine: the core, and what its program can't do a word a cycle.
//!
//! ```text
//! MAC ─► Receiver ─► ring ─► ┌──────┐ ─► Transmitter ─► MAC
//! AXI4-Lite ◄──── Lite ────► │ Core │
//! AXI4      ◄─── Bursts ───► └──────┘
//! ```
//!
//! Ports are those of `top::Hca` at 32 bits. The host's own Ethernet port isn't there: `host_rx` never has a frame, `host_tx` takes none.
//! AXI IDs: write 0 payload, 1 completions and events; read 0 payload, 1 descriptors.

use super::{Bursts, Core, Lite, Receiver, Transmitter};
use crate::prim::SdpRam;
use rust_hdl::prelude::*;
use verbena_spec::config::Config;

/// The engine of the small preset.
#[derive(LogicBlock)]
pub struct HcaMicro {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axis_mac_rx_tdata: Signal<In, Bits<32>>,
    pub s_axis_mac_rx_tkeep: Signal<In, Bits<4>>,
    pub s_axis_mac_rx_tvalid: Signal<In, Bit>,
    pub s_axis_mac_rx_tready: Signal<Out, Bit>,
    pub s_axis_mac_rx_tlast: Signal<In, Bit>,
    pub s_axis_mac_rx_tuser: Signal<In, Bit>,
    pub m_axis_mac_tx_tdata: Signal<Out, Bits<32>>,
    pub m_axis_mac_tx_tkeep: Signal<Out, Bits<4>>,
    pub m_axis_mac_tx_tvalid: Signal<Out, Bit>,
    pub m_axis_mac_tx_tready: Signal<In, Bit>,
    pub m_axis_mac_tx_tlast: Signal<Out, Bit>,
    pub m_axis_mac_tx_tuser: Signal<Out, Bit>,
    pub m_axis_host_rx_tdata: Signal<Out, Bits<32>>,
    pub m_axis_host_rx_tkeep: Signal<Out, Bits<4>>,
    pub m_axis_host_rx_tvalid: Signal<Out, Bit>,
    pub m_axis_host_rx_tready: Signal<In, Bit>,
    pub m_axis_host_rx_tlast: Signal<Out, Bit>,
    pub s_axis_host_tx_tdata: Signal<In, Bits<32>>,
    pub s_axis_host_tx_tkeep: Signal<In, Bits<4>>,
    pub s_axis_host_tx_tvalid: Signal<In, Bit>,
    pub s_axis_host_tx_tready: Signal<Out, Bit>,
    pub s_axis_host_tx_tlast: Signal<In, Bit>,
    pub m_axi_awid: Signal<Out, Bits<3>>,
    pub m_axi_awaddr: Signal<Out, Bits<64>>,
    pub m_axi_awlen: Signal<Out, Bits<8>>,
    pub m_axi_awsize: Signal<Out, Bits<3>>,
    pub m_axi_awburst: Signal<Out, Bits<2>>,
    pub m_axi_awvalid: Signal<Out, Bit>,
    pub m_axi_awready: Signal<In, Bit>,
    pub m_axi_wdata: Signal<Out, Bits<32>>,
    pub m_axi_wstrb: Signal<Out, Bits<4>>,
    pub m_axi_wlast: Signal<Out, Bit>,
    pub m_axi_wvalid: Signal<Out, Bit>,
    pub m_axi_wready: Signal<In, Bit>,
    pub m_axi_bid: Signal<In, Bits<3>>,
    pub m_axi_bresp: Signal<In, Bits<2>>,
    pub m_axi_bvalid: Signal<In, Bit>,
    pub m_axi_bready: Signal<Out, Bit>,
    pub m_axi_arid: Signal<Out, Bits<3>>,
    pub m_axi_araddr: Signal<Out, Bits<64>>,
    pub m_axi_arlen: Signal<Out, Bits<8>>,
    pub m_axi_arsize: Signal<Out, Bits<3>>,
    pub m_axi_arburst: Signal<Out, Bits<2>>,
    pub m_axi_arvalid: Signal<Out, Bit>,
    pub m_axi_arready: Signal<In, Bit>,
    pub m_axi_rid: Signal<In, Bits<3>>,
    pub m_axi_rdata: Signal<In, Bits<32>>,
    pub m_axi_rresp: Signal<In, Bits<2>>,
    pub m_axi_rlast: Signal<In, Bit>,
    pub m_axi_rvalid: Signal<In, Bit>,
    pub m_axi_rready: Signal<Out, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<21>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<21>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub irq: Signal<Out, Bit>,
    core: Core,
    receiver: Receiver,
    transmitter: Transmitter,
    bursts: Bursts,
    lite: Lite,
    /// Early packets, until their turn.
    slots: SdpRam<9, 32>,
    enable: DFF<Bit>,
    icrc_off: DFF<Bit>,
    interrupt: DFF<Bit>,
    ip_valid: DFF<Bit>,
    local_mac: DFF<Bits<48>>,
    ip: DFF<Bits<32>>,
    /// Where the core reads the ring, or the slots.
    pointer: DFF<Bits<9>>,
    in_slots: DFF<Bit>,
    cycles: DFF<Bits<16>>,
    restart: Signal<Local, Bit>,
    received: Signal<Local, Bits<32>>,
    swapped: Signal<Local, Bits<32>>,
    status: Signal<Local, Bits<32>>,
    value: Signal<Local, Bits<32>>,
    size: Constant<Bits<3>>,
    burst: Constant<Bits<2>>,
}

impl HcaMicro {
    /// The engine with its program.
    pub fn new(config: &Config, program: &[u32]) -> Self {
        Self {
            clk: Default::default(),
            rst: Default::default(),
            s_axis_mac_rx_tdata: Default::default(),
            s_axis_mac_rx_tkeep: Default::default(),
            s_axis_mac_rx_tvalid: Default::default(),
            s_axis_mac_rx_tready: Default::default(),
            s_axis_mac_rx_tlast: Default::default(),
            s_axis_mac_rx_tuser: Default::default(),
            m_axis_mac_tx_tdata: Default::default(),
            m_axis_mac_tx_tkeep: Default::default(),
            m_axis_mac_tx_tvalid: Default::default(),
            m_axis_mac_tx_tready: Default::default(),
            m_axis_mac_tx_tlast: Default::default(),
            m_axis_mac_tx_tuser: Default::default(),
            m_axis_host_rx_tdata: Default::default(),
            m_axis_host_rx_tkeep: Default::default(),
            m_axis_host_rx_tvalid: Default::default(),
            m_axis_host_rx_tready: Default::default(),
            m_axis_host_rx_tlast: Default::default(),
            s_axis_host_tx_tdata: Default::default(),
            s_axis_host_tx_tkeep: Default::default(),
            s_axis_host_tx_tvalid: Default::default(),
            s_axis_host_tx_tready: Default::default(),
            s_axis_host_tx_tlast: Default::default(),
            m_axi_awid: Default::default(),
            m_axi_awaddr: Default::default(),
            m_axi_awlen: Default::default(),
            m_axi_awsize: Default::default(),
            m_axi_awburst: Default::default(),
            m_axi_awvalid: Default::default(),
            m_axi_awready: Default::default(),
            m_axi_wdata: Default::default(),
            m_axi_wstrb: Default::default(),
            m_axi_wlast: Default::default(),
            m_axi_wvalid: Default::default(),
            m_axi_wready: Default::default(),
            m_axi_bid: Default::default(),
            m_axi_bresp: Default::default(),
            m_axi_bvalid: Default::default(),
            m_axi_bready: Default::default(),
            m_axi_arid: Default::default(),
            m_axi_araddr: Default::default(),
            m_axi_arlen: Default::default(),
            m_axi_arsize: Default::default(),
            m_axi_arburst: Default::default(),
            m_axi_arvalid: Default::default(),
            m_axi_arready: Default::default(),
            m_axi_rid: Default::default(),
            m_axi_rdata: Default::default(),
            m_axi_rresp: Default::default(),
            m_axi_rlast: Default::default(),
            m_axi_rvalid: Default::default(),
            m_axi_rready: Default::default(),
            s_axil_awaddr: Default::default(),
            s_axil_awvalid: Default::default(),
            s_axil_awready: Default::default(),
            s_axil_wdata: Default::default(),
            s_axil_wstrb: Default::default(),
            s_axil_wvalid: Default::default(),
            s_axil_wready: Default::default(),
            s_axil_bresp: Default::default(),
            s_axil_bvalid: Default::default(),
            s_axil_bready: Default::default(),
            s_axil_araddr: Default::default(),
            s_axil_arvalid: Default::default(),
            s_axil_arready: Default::default(),
            s_axil_rdata: Default::default(),
            s_axil_rresp: Default::default(),
            s_axil_rvalid: Default::default(),
            s_axil_rready: Default::default(),
            irq: Default::default(),
            core: Core::new(program),
            receiver: Receiver::new(config),
            transmitter: Default::default(),
            bursts: Default::default(),
            lite: Default::default(),
            slots: Default::default(),
            enable: Default::default(),
            icrc_off: Default::default(),
            interrupt: Default::default(),
            ip_valid: Default::default(),
            local_mac: Default::default(),
            ip: Default::default(),
            pointer: Default::default(),
            in_slots: Default::default(),
            cycles: Default::default(),
            restart: Default::default(),
            received: Default::default(),
            swapped: Default::default(),
            status: Default::default(),
            value: Default::default(),
            size: Constant::new(2u64.to_bits()),
            burst: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for HcaMicro {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, enable, icrc_off, interrupt, ip_valid, local_mac, ip, pointer, in_slots, cycles);
        self.core.clock.next = self.clk.val();
        self.receiver.clock.next = self.clk.val();
        self.transmitter.clock.next = self.clk.val();
        self.bursts.clock.next = self.clk.val();
        self.lite.clock.next = self.clk.val();
        self.slots.clock.next = self.clk.val();
        self.core.reset.next = self.rst.val();
        self.transmitter.reset.next = self.rst.val();
        self.bursts.reset.next = self.rst.val();
        self.lite.reset.next = self.rst.val();

        // Receive.
        self.receiver.s_data.next = self.s_axis_mac_rx_tdata.val();
        self.receiver.s_keep.next = self.s_axis_mac_rx_tkeep.val();
        self.receiver.s_valid.next = self.s_axis_mac_rx_tvalid.val();
        self.receiver.s_last.next = self.s_axis_mac_rx_tlast.val();
        self.receiver.s_user.next = self.s_axis_mac_rx_tuser.val();
        self.s_axis_mac_rx_tready.next = !self.rst.val();
        self.receiver.enable.next = self.enable.q.val();
        self.receiver.icrc_off.next = self.icrc_off.q.val();
        self.receiver.local_mac.next = self.local_mac.q.val();
        self.receiver.ip.next = self.ip.q.val();
        self.receiver.ip_valid.next = self.ip_valid.q.val();
        self.receiver.read_address.next = self.pointer.q.val();
        self.core.event_valid.next = self.receiver.event_valid.val();
        self.core.event_code.next = self.receiver.event_code.val();
        self.receiver.event_ready.next = self.core.event_ready.val();

        // Transmit. The host's own Ethernet port isn't there.
        self.core.hold.next = self.transmitter.hold.val();
        self.core.steal_address.next = self.transmitter.memory_address.val();
        self.transmitter.memory_data.next = self.core.memory_data.val();
        self.m_axis_mac_tx_tdata.next = self.transmitter.m_data.val();
        self.m_axis_mac_tx_tkeep.next = self.transmitter.m_keep.val();
        self.m_axis_mac_tx_tvalid.next = self.transmitter.m_valid.val();
        self.m_axis_mac_tx_tlast.next = self.transmitter.m_last.val();
        self.m_axis_mac_tx_tuser.next = false;
        self.transmitter.m_ready.next = self.m_axis_mac_tx_tready.val();
        self.m_axis_host_rx_tdata.next = 0.into();
        self.m_axis_host_rx_tkeep.next = 0.into();
        self.m_axis_host_rx_tvalid.next = false;
        self.m_axis_host_rx_tlast.next = false;
        self.s_axis_host_tx_tready.next = false;

        // Memory.
        self.m_axi_awid.next = self.bursts.id.val();
        self.m_axi_awaddr.next = bit_cast::<64, 20>(self.bursts.address.val());
        self.m_axi_awlen.next = self.bursts.length.val();
        self.m_axi_awsize.next = self.size.val();
        self.m_axi_awburst.next = self.burst.val();
        self.m_axi_awvalid.next = self.bursts.aw_valid.val();
        self.bursts.aw_ready.next = self.m_axi_awready.val();
        self.m_axi_arid.next = self.bursts.id.val();
        self.m_axi_araddr.next = bit_cast::<64, 20>(self.bursts.address.val());
        self.m_axi_arlen.next = self.bursts.length.val();
        self.m_axi_arsize.next = self.size.val();
        self.m_axi_arburst.next = self.burst.val();
        self.m_axi_arvalid.next = self.bursts.ar_valid.val();
        self.bursts.ar_ready.next = self.m_axi_arready.val();
        self.m_axi_wdata.next = self.bursts.w_data.val();
        self.m_axi_wstrb.next = self.bursts.w_strobe.val();
        self.m_axi_wlast.next = self.bursts.w_last.val();
        self.m_axi_wvalid.next = self.bursts.w_valid.val();
        self.bursts.w_ready.next = self.m_axi_wready.val();
        self.bursts.s_w_data.next = self.core.w_data.val();
        self.bursts.s_w_strobe.next = self.core.w_strobe.val();
        self.bursts.s_w_valid.next = self.core.w_valid.val();
        self.core.w_ready.next = self.bursts.s_w_ready.val();
        self.bursts.r_error.next = self.m_axi_rresp.val().any();
        self.bursts.command.next = self.core.out_data.val();

        // Registers.
        self.lite.aw_valid.next = self.s_axil_awvalid.val();
        self.lite.w_valid.next = self.s_axil_wvalid.val();
        self.s_axil_awready.next = self.lite.write_ready.val();
        self.s_axil_wready.next = self.lite.write_ready.val();
        self.lite.ar_valid.next = self.s_axil_arvalid.val();
        self.s_axil_arready.next = self.lite.ar_ready.val();
        self.s_axil_bresp.next = self.lite.b_response.val();
        self.s_axil_bvalid.next = self.lite.b_valid.val();
        self.lite.b_ready.next = self.s_axil_bready.val();
        self.s_axil_rdata.next = self.lite.r_data.val();
        self.s_axil_rresp.next = self.lite.r_response.val();
        self.s_axil_rvalid.next = self.lite.r_valid.val();
        self.lite.r_ready.next = self.s_axil_rready.val();
        self.lite.value.next = self.core.out_data.val();

        // Ports that the core reads.
        self.slots.read_enable.next = true;
        self.slots.read_address.next = self.pointer.q.val();
        self.slots.write_enable.next = self.core.slot_write.val();
        self.slots.write_address.next = self.core.slot_address.val();
        self.slots.write_data.next = self.core.slot_data.val();
        self.received.next = self.receiver.read_data.val();
        if self.in_slots.q.val() {
            self.received.next = self.slots.read_data.val();
        }
        self.swapped.next = bit_cast::<32, 8>(self.received.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.received.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.received.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.received.val().get_bits::<8>(0)) << 24);
        self.status.next = bit_cast::<32, 1>(self.receiver.waiting.val().into())
            | (bit_cast::<32, 1>(self.lite.write.val().into()) << 1)
            | (bit_cast::<32, 1>(self.lite.read.val().into()) << 2)
            | (bit_cast::<32, 1>(self.bursts.read_error.val().into()) << 3);
        self.value.next = 0.into();
        self.core.in_valid.next = true;
        self.m_axi_rready.next = false;
        self.m_axi_bready.next = false;
        self.bursts.r_taken.next = false;
        match self.core.in_port.val().index() {
            1 => {
                self.value.next = self.status.val();
            }
            2 => {
                self.value.next = self.received.val();
            }
            3 => {
                self.value.next = self.swapped.val();
            }
            4 => {
                self.value.next = self.m_axi_rdata.val();
                self.core.in_valid.next = self.m_axi_rvalid.val();
                self.m_axi_rready.next = self.core.in_want.val();
                self.bursts.r_taken.next = self.core.in_take.val();
            }
            5 => {
                self.value.next = bit_cast::<32, 2>(self.m_axi_bresp.val());
                self.core.in_valid.next = self.m_axi_bvalid.val();
                self.m_axi_bready.next = self.core.in_want.val();
            }
            6 => {
                self.value.next = bit_cast::<32, 21>(self.s_axil_awaddr.val()) | (bit_cast::<32, 4>(self.s_axil_wstrb.val()) << 21);
            }
            7 => {
                self.value.next = self.s_axil_wdata.val();
            }
            8 => {
                self.value.next = bit_cast::<32, 21>(self.s_axil_araddr.val());
            }
            9 => {
                self.value.next = bit_cast::<32, 16>(self.cycles.q.val());
            }
            _ => {}
        }
        self.core.in_data.next = self.value.val();

        // Ports that it writes.
        self.cycles.d.next = self.cycles.q.val() + 1;
        self.core.out_ready.next = true;
        self.bursts.set_address.next = false;
        self.bursts.begin_read.next = false;
        self.bursts.begin_write.next = false;
        self.lite.answer_write.next = false;
        self.lite.answer_read.next = false;
        self.lite.refuse_read.next = false;
        self.receiver.release_valid.next = false;
        self.receiver.release_word.next = self.core.out_data.val().get_bits::<9>(0);
        self.transmitter.start.next = false;
        self.transmitter.command.next = self.core.out_data.val().get_bits::<13>(0);
        self.restart.next = false;
        if self.core.in_take.val() & ((self.core.in_port.val() == 2) | (self.core.in_port.val() == 3)) {
            self.pointer.d.next = self.pointer.q.val() + 1;
        }
        match self.core.out_port.val().index() {
            4 => {
                if self.core.out_valid.val() {
                    self.pointer.d.next = self.core.out_data.val().get_bits::<9>(0);
                    self.in_slots.d.next = self.core.out_data.val().get_bit(10);
                }
            }
            5 => {
                self.receiver.release_valid.next = self.core.out_valid.val();
            }
            6 => {
                self.core.out_ready.next = self.bursts.ready.val();
                self.bursts.set_address.next = self.core.out_valid.val();
            }
            7 => {
                self.core.out_ready.next = self.bursts.ready.val();
                self.bursts.begin_read.next = self.core.out_valid.val();
            }
            8 => {
                self.core.out_ready.next = self.bursts.ready.val();
                self.bursts.begin_write.next = self.core.out_valid.val();
            }
            10 => {
                self.core.out_ready.next = self.transmitter.ready.val();
                self.transmitter.start.next = self.core.out_valid.val();
            }
            11 => {
                self.lite.answer_write.next = self.core.out_valid.val();
            }
            12 => {
                self.lite.answer_read.next = self.core.out_valid.val();
            }
            13 => {
                self.lite.refuse_read.next = self.core.out_valid.val();
            }
            14 => {
                if self.core.out_valid.val() {
                    self.enable.d.next = self.core.out_data.val().get_bit(0);
                    self.icrc_off.d.next = self.core.out_data.val().get_bit(1);
                    self.interrupt.d.next = self.core.out_data.val().get_bit(2);
                    self.ip_valid.d.next = self.core.out_data.val().get_bit(3);
                    self.restart.next = self.core.out_data.val().get_bit(4);
                }
            }
            15 => {
                if self.core.out_valid.val() {
                    self.local_mac.d.next = (bit_cast::<48, 16>(self.local_mac.q.val().get_bits::<16>(32)) << 32)
                        | bit_cast::<48, 32>(self.core.out_data.val());
                }
            }
            16 => {
                if self.core.out_valid.val() {
                    self.local_mac.d.next = (bit_cast::<48, 16>(self.core.out_data.val().get_bits::<16>(0)) << 32)
                        | bit_cast::<48, 32>(self.local_mac.q.val().get_bits::<32>(0));
                }
            }
            17 => {
                if self.core.out_valid.val() {
                    self.ip.d.next = self.core.out_data.val();
                }
            }
            _ => {}
        }
        self.receiver.reset.next = self.rst.val() | self.restart.val();
        self.irq.next = self.interrupt.q.val();

        if self.rst.val() {
            self.enable.d.next = false;
            self.icrc_off.d.next = false;
            self.interrupt.d.next = false;
            self.ip_valid.d.next = false;
        }
    }

    crate::block_name!("Small engine: a microprogrammed core and its streams");
}
