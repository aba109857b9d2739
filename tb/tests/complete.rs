// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Complete`: the rules of what comes back, against a plain model.

#[path = "complete/diff.rs"]
mod diff;
#[path = "complete/golden.rs"]
mod golden;
#[path = "complete/harness.rs"]
mod harness;
#[path = "complete/random.rs"]
mod random;
#[path = "complete/rules_ack.rs"]
mod rules_ack;
#[path = "complete/rules_data.rs"]
mod rules_data;
#[path = "complete/rules_timer.rs"]
mod rules_timer;
#[path = "complete/selective.rs"]
mod selective;
