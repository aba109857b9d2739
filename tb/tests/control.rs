// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::Control`: the rules a responder keeps, packet by packet.

#[path = "control/diff.rs"]
mod diff;
#[path = "control/early.rs"]
mod early;
#[path = "control/harness.rs"]
mod harness;
#[path = "control/random.rs"]
mod random;
#[path = "control/reads.rs"]
mod reads;
#[path = "control/requester.rs"]
mod requester;
#[path = "control/rules_memory.rs"]
mod rules_memory;
#[path = "control/rules_qp.rs"]
mod rules_qp;
#[path = "control/rules_rc.rs"]
mod rules_rc;
