// SPDX-License-Identifier: MIT OR Apache-2.0
//! `requester::Complete`: the rules of what comes back, against a plain model.

mod diff;
mod golden;
mod harness;
mod random;
mod rules_ack;
mod rules_data;
mod rules_timer;
mod selective;
