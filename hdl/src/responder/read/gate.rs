// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where ACKs pass the READ responder (R36): at once if their QP has no responses to be sent, else the machine looks at them.
//!
//! ```text
//! s_ack ─► is the QP in the turn queue? ─┬─ no ──────────────► m_ack      two cycles
//!                                        └─ yes ─► wanted ─► forward, or taken
//! ```

use crate::prim::SdpRam;
use crate::tx::AckJob;
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
pub struct AckGate<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_ack: Signal<In, AckJob>,
    pub s_ack_valid: Signal<In, Bit>,
    pub s_ack_ready: Signal<Out, Bit>,
    pub m_ack: Signal<Out, AckJob>,
    pub m_ack_valid: Signal<Out, Bit>,
    pub m_ack_ready: Signal<In, Bit>,
    /// Notes whether the QP is in the turn queue, or its turn runs.
    pub mark: Signal<In, Bit>,
    pub mark_index: Signal<In, Bits<QA>>,
    pub mark_queued: Signal<In, Bit>,
    /// The machine must look at the ACK on offer.
    pub wanted: Signal<Out, Bit>,
    /// It may pass; held until it has.
    pub forward: Signal<In, Bit>,
    /// It stays here.
    pub taken: Signal<In, Bit>,
    queued: SdpRam<QA, 1>,
    asked: DFF<Bit>,
    pass: Signal<Local, Bit>,
    gone: Signal<Local, Bit>,
}

impl<const QA: usize> Logic for AckGate<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, asked);
        clock!(self, clock, queued);
        self.queued.read_enable.next = self.s_ack_valid.val() & !self.asked.q.val();
        self.queued.read_address.next = self.s_ack.val().qp_index.get_bits::<QA>(0);
        self.queued.write_enable.next = self.mark.val();
        self.queued.write_address.next = self.mark_index.val();
        self.queued.write_data.next = self.mark_queued.val().into();

        self.pass.next = self.asked.q.val() & (!self.queued.read_data.val().any() | self.forward.val());
        self.wanted.next = self.asked.q.val() & self.queued.read_data.val().any();
        self.m_ack.next = self.s_ack.val();
        self.m_ack_valid.next = self.pass.val();
        self.gone.next = (self.pass.val() & self.m_ack_ready.val()) | self.taken.val();
        self.s_ack_ready.next = self.gone.val();
        self.asked.d.next = (self.s_ack_valid.val() | self.asked.q.val()) & !self.gone.val();
        if self.reset.val() {
            self.asked.d.next = false;
        }
    }

    crate::block_name!("ACKs pass, or wait behind READ responses.");
}
