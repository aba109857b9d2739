// SPDX-License-Identifier: MIT OR Apache-2.0
//! The name hook: a block tells the Verilog printer its type.
//!
//! rust-hdl's `Probe` yields `&dyn Block`, which carries no type name. `Logic::timing` is used by nothing else here, so
//! each block answers it with one entry whose name is its type. Write `block_name!();` inside `impl Logic`, or
//! `block_name!("One line of purpose");`, which becomes a comment over the module.

/// Implements `Logic::timing` so that it carries the block's type name to the Verilog printer.
#[macro_export]
macro_rules! block_name {
    () => {
        $crate::block_name!("");
    };
    ($purpose:expr) => {
        fn timing(&self) -> Vec<rust_hdl::prelude::TimingInfo> {
            vec![rust_hdl::prelude::TimingInfo {
                name: std::any::type_name::<Self>().into(),
                clock: $purpose.into(),
                inputs: vec![],
                outputs: vec![],
            }]
        }
    };
}
