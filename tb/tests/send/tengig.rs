// SPDX-License-Identifier: MIT OR Apache-2.0
//! 64 bits, 16 QPs, registers behind the RAMs, with UC and UD.

pub type Uut = verbena_hdl::requester::Send<64, 2, 4, 5, 6, 7, 9, 8, 22, 1, 1>;
/// As in diff.rs: one model for both.
pub const NAME: &str = "send_tengig";
pub const BUS: usize = 64;
pub const QPS: u32 = 16;

#[path = "harness.rs"]
mod harness;
#[path = "pace.rs"]
mod pace;
#[path = "random.rs"]
mod random;
#[path = "rules.rs"]
mod rules;
#[path = "selective.rs"]
mod selective;
#[path = "services.rs"]
mod services;
#[path = "verbs.rs"]
mod verbs;
