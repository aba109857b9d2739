// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `cu` board as a platform of the host library.
//!
//! ```text
//! verbena_verbs::Device ─► CuBoard ─► Link ─► Line ─► SerialLine     a board's USB
//!                             │      frames,    └───► SimulatedLine  the RTL, or a bitstream turned back into Verilog
//!                          deals out  CRC, retries
//!                          4 KiB
//! ```

mod cu;
mod line;
mod link;
mod pool;
pub mod selftest;
mod simulated;

pub use cu::{CuBoard, Errors, Status};
pub use line::{Line, SerialLine};
pub use link::{Link, LinkError};
pub use pool::Pool;
pub use simulated::SimulatedLine;
