// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the printer refuses, and how it says so: the block's path, the signal, and what to do about it.

use thiserror::Error;

/// A design that can't be printed faithfully.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}{}: {reason}", .path, .signal.as_ref().map(|s| format!(": {s}")).unwrap_or_default())]
pub struct PrintError {
    /// Path of the block, from the top, with dots.
    pub path: String,
    /// The signal, constant or name at fault, where there is one.
    pub signal: Option<String>,
    /// What is wrong.
    pub reason: Reason,
}

/// Why a design is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    #[error("the block has no type name; add `crate::block_name!();` to its `impl Logic`")]
    NoTypeName,
    #[error("`{0}` is not a signal, constant or enum value of this block; put values into a `Constant<>` field")]
    Undeclared(String),
    #[error("`{0}` is a keyword of Verilog or SystemVerilog; rename the field")]
    Keyword(String),
    #[error("not assigned on every path (a latch); give it a default at the top of the kernel")]
    Latch,
    #[error("nothing drives it")]
    Undriven,
    #[error("read before it is written in the kernel; move the assignment up")]
    ReadBeforeWrite,
    #[error("depends on its own final value; a child's input can't be read back where it is computed")]
    SelfLoop,
    #[error("signed arithmetic carries no width in rust-hdl's syntax tree; use Bits")]
    Signed,
    #[error("hand-written Verilog is only for primitives of `verbena_hdl::prim`")]
    CustomText,
    #[error("bits {lo}..{hi} are out of range, the value has {width}")]
    OutOfRange { lo: usize, hi: usize, width: usize },
    #[error("the literal {value} does not fit into {width} bits")]
    Literal { value: String, width: usize },
    #[error("its Verilog name `{0}` is taken by another port, register or instance of the block; rename one")]
    NameClash(String),
    #[error("two enums named `{0}` with different values in one block; rename one")]
    EnumClash(String),
    #[error("arithmetic on a bit index or loop variable has no width; compute it in a Local signal first")]
    IndexArithmetic,
    #[error("widths {left} and {right} meet in `{op}`")]
    Width { left: usize, right: usize, op: &'static str },
    #[error("a signal of 0 bits (an enum of one variant?)")]
    ZeroWidth,
    #[error("inout ports are not supported; keep tristates in the board's wrapper")]
    Inout,
    #[error("{0}")]
    Unsupported(String),
}

/// Result of the printer.
pub type Result<T> = std::result::Result<T, PrintError>;
