// SPDX-License-Identifier: MIT OR Apache-2.0
//! The engine as Verilated C++, each preset built by this crate's `build.rs`, behind a Rust type.
//!
//! ```text
//!  build.rs:  verbena_designs ─► Verilog ─► verilator ─► c++ ─► lib*.so      at run time:  Engine ─► lib*.so
//! ```
//! With the feature `trace` a second model of each preset is built that can write FST; both can run in one process.

mod engine;

pub use engine::{Engine, EngineError, Input, Output};

/// A port of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub name: &'static str,
    /// Bits.
    pub width: usize,
    pub input: bool,
    pub clock: bool,
}

/// A built preset.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    pub preset: &'static str,
    /// Verilog name of the top.
    pub top: &'static str,
    /// Its receive buffer, bytes: held packets stay in it.
    pub roce_buffer: usize,
    /// Shared library of the fast model.
    pub library: &'static str,
    /// Shared library of the model that can trace, with the feature `trace`.
    pub traced: Option<&'static str>,
    /// In the order of the Verilog.
    pub ports: &'static [Port],
}

/// All presets.
pub const MODELS: &[Model] = include!(concat!(env!("OUT_DIR"), "/models.rs"));
