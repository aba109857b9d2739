// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole engine and its stations, by preset.

mod designs;

pub use designs::{build, designs, emit, BuildError, WHOLE};
