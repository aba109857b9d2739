// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::ReadResponder` against a plain model, among models of control, retire, keys, memory and the packet arbiter.

mod diff;
mod golden;
mod harness;
mod random;
mod rules;
