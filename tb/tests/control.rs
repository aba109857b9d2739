// SPDX-License-Identifier: MIT OR Apache-2.0
//! `responder::Control`: the rules a responder keeps, packet by packet.

mod diff;
mod early;
mod harness;
mod random;
mod reads;
mod requester;
mod rules_memory;
mod rules_qp;
mod rules_rc;
