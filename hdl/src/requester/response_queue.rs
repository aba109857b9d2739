// SPDX-License-Identifier: MIT OR Apache-2.0
//! Acknowledgements that wait for `Complete`, so that control goes on with the next packet at once.
//!
//! ```text
//! control ─┬─ ACK, NAK ─► FIFO 2^4: QP, PSN, syndrome ─┬─► Complete ─► its code ─► count
//!          └─ with data: held, once the FIFO is empty ─┘
//! ```
//!
//! A queued response is done for control in its first cycle, with the code `LATER` (no counter); what it turns out to be (`RESPONSE` or `GHOST_ACK`) is
//! counted when Complete is done with it. One with data goes through as it is, behind all that are queued. `empty`: nothing is queued or with Complete
//! from here; a QP's state may change only then, so that no response outlives the state in which it came.
//!
//! The head stands for a cycle before `s_valid`. `direct`: no queue, for few cells.

use crate::rx::PacketHead;
use crate::stream::Fifo;
use rust_hdl::prelude::*;
use verbena_spec::counters;

/// The queue.
#[derive(LogicBlock)]
pub struct ResponseQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// From control: held until done.
    pub s_head: Signal<In, PacketHead>,
    pub s_valid: Signal<In, Bit>,
    pub s_done: Signal<Out, Bit>,
    pub s_code: Signal<Out, Bits<6>>,
    pub s_placed: Signal<Out, Bit>,
    /// To Complete: held until done.
    pub m_head: Signal<Out, PacketHead>,
    pub m_valid: Signal<Out, Bit>,
    pub m_done: Signal<In, Bit>,
    pub m_code: Signal<In, Bits<6>>,
    pub m_placed: Signal<In, Bit>,
    pub empty: Signal<Out, Bit>,
    /// Complete's counter events, and ours between them.
    pub s_count_valid: Signal<In, Bit>,
    pub s_count_code: Signal<In, Bits<6>>,
    pub s_count_ready: Signal<Out, Bit>,
    pub m_count_valid: Signal<Out, Bit>,
    pub m_count_code: Signal<Out, Bits<6>>,
    pub m_count_ready: Signal<In, Bit>,
    fifo: Fifo<4, 5, 44>,
    /// Responses in the FIFO, and whether there are any.
    stored: DFF<Bits<5>>,
    waits: DFF<Bit>,
    acknowledge: DFF<Bit>,
    owed: DFF<Bit>,
    owed_code: DFF<Bits<6>>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    straight: Signal<Local, Bit>,
    one: Constant<Bits<5>>,
    opcode_acknowledge: Constant<Bits<8>>,
    code_later: Constant<Bits<6>>,
    direct: Constant<Bit>,
}

impl ResponseQueue {
    pub fn new(direct: bool) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_head: Default::default(),
            s_valid: Default::default(),
            s_done: Default::default(),
            s_code: Default::default(),
            s_placed: Default::default(),
            m_head: Default::default(),
            m_valid: Default::default(),
            m_done: Default::default(),
            m_code: Default::default(),
            m_placed: Default::default(),
            empty: Default::default(),
            s_count_valid: Default::default(),
            s_count_code: Default::default(),
            s_count_ready: Default::default(),
            m_count_valid: Default::default(),
            m_count_code: Default::default(),
            m_count_ready: Default::default(),
            fifo: Default::default(),
            stored: Default::default(),
            waits: Default::default(),
            acknowledge: Default::default(),
            owed: Default::default(),
            owed_code: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            straight: Default::default(),
            one: Constant::new(1u64.to_bits()),
            opcode_acknowledge: Constant::new(0x11u64.to_bits()),
            code_later: Constant::new((counters::LATER as u64).to_bits()),
            direct: Constant::new(direct),
        }
    }
}

impl Logic for ResponseQueue {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stored, waits, acknowledge, owed, owed_code);
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        // In.
        self.acknowledge.d.next = (self.s_head.val().opcode == self.opcode_acknowledge.val()) & !self.direct.val();
        self.push.next = self.s_valid.val() & self.acknowledge.q.val() & self.fifo.s_ready.val();
        self.straight.next = self.s_valid.val() & !self.acknowledge.q.val() & !self.waits.q.val();
        self.fifo.s_valid.next = self.push.val();
        self.fifo.s_data.next = bit_cast::<44, 24>(self.s_head.val().psn)
            | (bit_cast::<44, 8>(self.s_head.val().xth0.get_bits::<8>(24)) << 24)
            | (bit_cast::<44, 12>(self.s_head.val().qpn.get_bits::<12>(0)) << 32);
        self.s_done.next = self.push.val() | (self.m_done.val() & !self.waits.q.val());
        self.s_code.next = self.m_code.val();
        if self.acknowledge.q.val() {
            self.s_code.next = self.code_later.val();
        }
        self.s_placed.next = self.m_placed.val() & !self.acknowledge.q.val();

        // Out.
        self.m_head.next = self.s_head.val();
        self.m_valid.next = self.straight.val();
        if self.waits.q.val() {
            self.m_head.next.opcode = self.opcode_acknowledge.val();
            self.m_head.next.psn = self.fifo.m_data.val().get_bits::<24>(0);
            self.m_head.next.xth0 = bit_cast::<32, 8>(self.fifo.m_data.val().get_bits::<8>(24)) << 24;
            self.m_head.next.qpn = bit_cast::<24, 12>(self.fifo.m_data.val().get_bits::<12>(32));
            // Its counter needs the register.
            self.m_valid.next = self.fifo.m_valid.val() & !self.owed.q.val();
        }
        self.pop.next = self.m_done.val() & self.waits.q.val();
        self.fifo.m_ready.next = self.pop.val();
        if self.push.val() & !self.pop.val() {
            self.stored.d.next = self.stored.q.val() + 1;
            self.waits.d.next = true;
        }
        if !self.push.val() & self.pop.val() {
            self.stored.d.next = self.stored.q.val() - 1;
            self.waits.d.next = self.stored.q.val() != self.one.val();
        }
        self.empty.next = !self.waits.q.val();

        // Counters: Complete has none on offer when it is done.
        self.m_count_valid.next = self.s_count_valid.val();
        self.m_count_code.next = self.s_count_code.val();
        self.s_count_ready.next = self.m_count_ready.val();
        if self.owed.q.val() {
            self.m_count_valid.next = true;
            self.m_count_code.next = self.owed_code.q.val();
            self.s_count_ready.next = false;
            self.owed.d.next = !self.m_count_ready.val();
        }
        if self.pop.val() {
            self.owed.d.next = true;
            self.owed_code.d.next = self.m_code.val();
        }

        if self.reset.val() {
            self.stored.d.next = 0.into();
            self.waits.d.next = false;
            self.owed.d.next = false;
        }
    }

    crate::block_name!();
}
