// SPDX-License-Identifier: MIT OR Apache-2.0
//! 32 bits, 4 QPs, RAMs as they are, RC alone.

pub type Uut = verbena_hdl::requester::Send<32, 1, 2, 3, 4, 5, 7, 7, 20, 0, 0>;
/// As in diff.rs: one model for both.
pub const NAME: &str = "send_cu";
pub const BUS: usize = 32;
pub const QPS: u32 = 4;

#[path = "harness.rs"]
mod harness;
#[path = "random.rs"]
mod random;
#[path = "rules.rs"]
mod rules;
#[path = "selective.rs"]
mod selective;
#[path = "verbs.rs"]
mod verbs;
