// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the other stations ask the host station to write into queues.

use rust_hdl::prelude::*;

/// A completion to be written: the first five words of the CQE (`verbena_spec::layout::cqe`); the CQ station adds the phase.
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct CompletionJob {
    pub cq: Bits<12>,
    /// The completion may raise an event on a CQ armed for solicited ones (solicited, or in error).
    pub solicited: Bit,
    pub word0: Bits<32>,
    pub word1: Bits<32>,
    pub word2: Bits<32>,
    pub word3: Bits<32>,
    pub word4: Bits<32>,
}

/// An event to be written (`verbena_spec::layout::event`).
#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
pub struct EventJob {
    pub event_type: Bits<8>,
    pub number: Bits<24>,
    pub detail: Bits<8>,
}
