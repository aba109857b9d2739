// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the engine tells its host and the wire.

use crate::packet::Packet;

/// A completion (the fields of `verbena_spec::layout::cqe`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Completion {
    pub cq: u16,
    pub qpn: u32,
    pub opcode: u32,
    pub status: u32,
    pub with_imm: bool,
    pub with_invalidate: bool,
    pub grh: bool,
    pub solicited: bool,
    pub wqe_index: u16,
    pub byte_length: u32,
    pub immediate: u32,
    pub source_qpn: u32,
}

/// An asynchronous event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub kind: u32,
    pub number: u32,
    pub detail: u32,
}

/// What one frame did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// The receive verdict's counter.
    pub rx: u8,
    /// The responder's counter, for a frame that reached it.
    pub responder: Option<u8>,
    /// The counters of held packets whose turn it made.
    pub drained: Vec<u8>,
    pub answers: Vec<Packet>,
    pub completions: Vec<Completion>,
    pub events: Vec<Event>,
    /// The frame belongs to the host.
    pub to_host: bool,
}
