// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random kernels, made by `build.rs`, to compare the Rust simulation with the printed Verilog.
//!
//! `VERBENA_KERNELS=5000 VERBENA_KERNEL_SEED=7 cargo test -p verbena-kernels` makes more, and others.

#![allow(unused_parens, dead_code)]

use rust_hdl::prelude::*;

/// The printer's name hook, as `verbena_hdl::block_name!` has it.
macro_rules! block_name {
    () => {
        fn timing(&self) -> Vec<TimingInfo> {
            vec![TimingInfo {
                name: std::any::type_name::<Self>().into(),
                clock: String::new(),
                inputs: vec![],
                outputs: vec![],
            }]
        }
    };
}

/// A kernel whose inputs can be set.
pub trait Kernel: Block {
    /// Sets the inputs that it has.
    fn load(&mut self, inputs: &Inputs);
    fn block(&self) -> &dyn Block;
}

/// The inputs all kernels share.
#[derive(Clone, Copy, Default)]
pub struct Inputs {
    pub clock: Clock,
    pub p: bool,
    pub q: bool,
    pub a3: Bits<3>,
    pub a4: Bits<4>,
    pub a8: Bits<8>,
    pub b8: Bits<8>,
    pub a13: Bits<13>,
    pub a16: Bits<16>,
    pub b16: Bits<16>,
    pub a24: Bits<24>,
    pub a32: Bits<32>,
    pub b32: Bits<32>,
    pub a33: Bits<33>,
    pub a64: Bits<64>,
    pub b64: Bits<64>,
    pub a70: Bits<70>,
}

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));
