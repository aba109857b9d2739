// SPDX-License-Identifier: MIT OR Apache-2.0
//! Copies [`Pins`] to and from the Verilated model, by name once and by place afterwards. A model with XGMII has no MAC streams; [`XgmiiSide`] makes them.

use super::pins::{Pins, Violations};
use super::xgmii::XgmiiSide;
use verbena_verilated::{Engine, EngineError, Input, Output};

macro_rules! bridge {
    (inputs { $($in_name:literal $($in_path:ident).+ ;)* } outputs { $($out_name:literal $($out_path:ident).+ : $kind:ident ;)* }) => {
        /// Where each port stands in the model's arrays.
        pub struct Bridge {
            inputs: Vec<Option<Input>>,
            outputs: Vec<Option<Output>>,
            xgmii: Option<XgmiiSide>,
        }

        impl Bridge {
            /// Finds every port; one that is missing is an error that names it.
            pub fn new(engine: &Engine) -> Result<Bridge, EngineError> {
                let xgmii = if XgmiiSide::is_there(engine) { Some(XgmiiSide::new(engine)?) } else { None };
                let left_out = |name: &str| xgmii.is_some() && name.contains("_axis_mac_");
                let input = |name: &&str| if left_out(name) { Ok(None) } else { engine.input(name).map(Some) };
                let output = |name: &&str| if left_out(name) { Ok(None) } else { engine.output(name).map(Some) };
                let inputs: Result<Vec<_>, _> = [$($in_name),*].iter().map(input).collect();
                let outputs: Result<Vec<_>, _> = [$($out_name),*].iter().map(output).collect();
                Ok(Bridge { inputs: inputs?, outputs: outputs?, xgmii })
            }

            /// Gives the model its inputs.
            #[inline]
            pub fn drive(&mut self, engine: &mut Engine, pins: &Pins) {
                if let Some(xgmii) = &mut self.xgmii {
                    xgmii.drive(engine, pins);
                }
                let mut inputs = self.inputs.iter();
                $(if let Some(Some(input)) = inputs.next() { engine.set(*input, pins.$($in_path).+ as u64); })*
            }

            /// Takes the model's outputs.
            #[inline]
            pub fn sample(&mut self, engine: &Engine, pins: &mut Pins) {
                let mut outputs = self.outputs.iter();
                $(if let Some(Some(output)) = outputs.next() { pins.$($out_path).+ = bridge!(@ $kind engine.get(*output)); })*
                if let Some(xgmii) = &mut self.xgmii {
                    xgmii.sample(engine, pins);
                }
            }

            /// What the MAC did wrong on its XGMII, if it has one.
            pub fn report(&mut self, cycle: u64, violations: &mut Violations) {
                if let Some(xgmii) = &mut self.xgmii {
                    xgmii.report(cycle, violations);
                }
            }
        }
    };
    (@ bool $value:expr) => { $value != 0 };
    (@ $kind:ident $value:expr) => { $value as $kind };
}

bridge! {
    inputs {
        "rst" reset;
        "s_axis_mac_rx_tdata" mac_rx.data;
        "s_axis_mac_rx_tkeep" mac_rx.keep;
        "s_axis_mac_rx_tvalid" mac_rx.valid;
        "s_axis_mac_rx_tlast" mac_rx.last;
        "s_axis_mac_rx_tuser" mac_rx.user;
        "m_axis_mac_tx_tready" mac_tx.ready;
        "m_axis_host_rx_tready" host_rx.ready;
        "s_axis_host_tx_tdata" host_tx.data;
        "s_axis_host_tx_tkeep" host_tx.keep;
        "s_axis_host_tx_tvalid" host_tx.valid;
        "s_axis_host_tx_tlast" host_tx.last;
        "m_axi_awready" axi.aw.ready;
        "m_axi_wready" axi.w.ready;
        "m_axi_bid" axi.b.id;
        "m_axi_bresp" axi.b.response;
        "m_axi_bvalid" axi.b.valid;
        "m_axi_arready" axi.ar.ready;
        "m_axi_rid" axi.r.id;
        "m_axi_rdata" axi.r.data;
        "m_axi_rresp" axi.r.response;
        "m_axi_rlast" axi.r.last;
        "m_axi_rvalid" axi.r.valid;
        "s_axil_awaddr" lite.aw_address;
        "s_axil_awvalid" lite.aw_valid;
        "s_axil_wdata" lite.w_data;
        "s_axil_wstrb" lite.w_strobe;
        "s_axil_wvalid" lite.w_valid;
        "s_axil_bready" lite.b_ready;
        "s_axil_araddr" lite.ar_address;
        "s_axil_arvalid" lite.ar_valid;
        "s_axil_rready" lite.r_ready;
    }
    outputs {
        "s_axis_mac_rx_tready" mac_rx.ready: bool;
        "m_axis_mac_tx_tdata" mac_tx.data: u64;
        "m_axis_mac_tx_tkeep" mac_tx.keep: u8;
        "m_axis_mac_tx_tvalid" mac_tx.valid: bool;
        "m_axis_mac_tx_tlast" mac_tx.last: bool;
        "m_axis_mac_tx_tuser" mac_tx.user: bool;
        "m_axis_host_rx_tdata" host_rx.data: u64;
        "m_axis_host_rx_tkeep" host_rx.keep: u8;
        "m_axis_host_rx_tvalid" host_rx.valid: bool;
        "m_axis_host_rx_tlast" host_rx.last: bool;
        "s_axis_host_tx_tready" host_tx.ready: bool;
        "m_axi_awid" axi.aw.id: u8;
        "m_axi_awaddr" axi.aw.address: u64;
        "m_axi_awlen" axi.aw.length: u8;
        "m_axi_awsize" axi.aw.size: u8;
        "m_axi_awburst" axi.aw.burst: u8;
        "m_axi_awvalid" axi.aw.valid: bool;
        "m_axi_wdata" axi.w.data: u64;
        "m_axi_wstrb" axi.w.strobe: u8;
        "m_axi_wlast" axi.w.last: bool;
        "m_axi_wvalid" axi.w.valid: bool;
        "m_axi_bready" axi.b.ready: bool;
        "m_axi_arid" axi.ar.id: u8;
        "m_axi_araddr" axi.ar.address: u64;
        "m_axi_arlen" axi.ar.length: u8;
        "m_axi_arsize" axi.ar.size: u8;
        "m_axi_arburst" axi.ar.burst: u8;
        "m_axi_arvalid" axi.ar.valid: bool;
        "m_axi_rready" axi.r.ready: bool;
        "s_axil_awready" lite.aw_ready: bool;
        "s_axil_wready" lite.w_ready: bool;
        "s_axil_bresp" lite.b_response: u8;
        "s_axil_bvalid" lite.b_valid: bool;
        "s_axil_arready" lite.ar_ready: bool;
        "s_axil_rdata" lite.r_data: u32;
        "s_axil_rresp" lite.r_response: u8;
        "s_axil_rvalid" lite.r_valid: bool;
        "irq" irq: bool;
    }
}
