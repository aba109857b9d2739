// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::ReadResponder` against a plain model, among models of control, retire, keys, memory and the packet arbiter.

#[path = "read_responder/diff.rs"]
mod diff;
#[path = "read_responder/golden.rs"]
mod golden;
#[path = "read_responder/harness.rs"]
mod harness;
#[path = "read_responder/random.rs"]
mod random;
#[path = "read_responder/rules.rs"]
mod rules;
