// SPDX-License-Identifier: MIT OR Apache-2.0
//! Responses that wait for `Complete`, so that control goes on with the next packet at once.
//!
//! ```text
//! control ─► FIFO 2^4: QP, PSN, syndrome, opcode, place in the ring ─► Complete ─┬─► its code ─► count
//!                                                                                └─► job, or release of a frame that it didn't place ─► job
//! ```
//!
//! A queued response is done for control in its first cycle, with the code `LATER` (no counter) and, where it carries data, as one that `Complete` has placed;
//! what it turns out to be (`RESPONSE` or `GHOST_ACK`) is counted when Complete is done with it, and a frame with data that Complete didn't place is released
//! from here. At most two with data are queued: what control makes meanwhile waits for them (`placing`), and retire must be able to take the failed entries of all.
//! `empty`: nothing is queued or with Complete from here; a QP's state may change only then, so that no response outlives the state in which it came.
//!
//! The head stands for a cycle before `s_valid`. `direct`: no queue, for few cells; control holds each response until Complete is done with it.

use crate::mem::WriteJob;
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
    /// One with data is with Complete, or waits for it, or its frame is still to be released: no job or entry of a later packet may pass.
    pub placing: Signal<Out, Bit>,
    /// Complete's write jobs, and between them ours, that only release a frame.
    pub s_job: Signal<In, WriteJob>,
    pub s_job_valid: Signal<In, Bit>,
    pub s_job_ready: Signal<Out, Bit>,
    pub m_job: Signal<Out, WriteJob>,
    pub m_job_valid: Signal<Out, Bit>,
    pub m_job_ready: Signal<In, Bit>,
    /// Complete's counter events, and ours between them.
    pub s_count_valid: Signal<In, Bit>,
    pub s_count_code: Signal<In, Bits<6>>,
    pub s_count_ready: Signal<Out, Bit>,
    pub m_count_valid: Signal<Out, Bit>,
    pub m_count_code: Signal<Out, Bits<6>>,
    pub m_count_ready: Signal<In, Bit>,
    fifo: Fifo<4, 5, 95>,
    /// Responses in the FIFO, and whether there are any; those with data among them.
    stored: DFF<Bits<5>>,
    waits: DFF<Bit>,
    with_data: DFF<Bits<2>>,
    acknowledge: DFF<Bit>,
    releasing: DFF<Bit>,
    end_beat: DFF<Bits<14>>,
    owed: DFF<Bit>,
    owed_code: DFF<Bits<6>>,
    push: Signal<Local, Bit>,
    carries: Signal<Local, Bit>,
    push_data: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    pop_data: Signal<Local, Bit>,
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
            placing: Default::default(),
            s_job: Default::default(),
            s_job_valid: Default::default(),
            s_job_ready: Default::default(),
            m_job: Default::default(),
            m_job_valid: Default::default(),
            m_job_ready: Default::default(),
            s_count_valid: Default::default(),
            s_count_code: Default::default(),
            s_count_ready: Default::default(),
            m_count_valid: Default::default(),
            m_count_code: Default::default(),
            m_count_ready: Default::default(),
            fifo: Default::default(),
            stored: Default::default(),
            waits: Default::default(),
            with_data: Default::default(),
            acknowledge: Default::default(),
            releasing: Default::default(),
            end_beat: Default::default(),
            owed: Default::default(),
            owed_code: Default::default(),
            push: Default::default(),
            carries: Default::default(),
            push_data: Default::default(),
            pop: Default::default(),
            pop_data: Default::default(),
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
        dff_setup!(
            self,
            clock,
            stored,
            waits,
            with_data,
            acknowledge,
            releasing,
            end_beat,
            owed,
            owed_code
        );
        clock!(self, clock, fifo);
        self.fifo.reset.next = self.reset.val();

        // In.
        self.acknowledge.d.next = self.s_head.val().opcode == self.opcode_acknowledge.val();
        self.push.next = self.s_valid.val()
            & !self.direct.val()
            & self.fifo.s_ready.val()
            & (self.acknowledge.q.val() | !self.with_data.q.val().get_bit(1));
        self.carries.next = !self.acknowledge.q.val();
        self.push_data.next = self.push.val() & self.carries.val();
        self.fifo.s_valid.next = self.push.val();
        self.fifo.s_data.next = bit_cast::<95, 24>(self.s_head.val().psn)
            | (bit_cast::<95, 8>(self.s_head.val().xth0.get_bits::<8>(24)) << 24)
            | (bit_cast::<95, 12>(self.s_head.val().qpn.get_bits::<12>(0)) << 32)
            | (bit_cast::<95, 5>(self.s_head.val().opcode.get_bits::<5>(0)) << 44)
            | (bit_cast::<95, 14>(self.s_head.val().payload_length) << 49)
            | (bit_cast::<95, 14>(self.s_head.val().payload_beat) << 63)
            | (bit_cast::<95, 3>(self.s_head.val().payload_offset) << 77)
            | (bit_cast::<95, 14>(self.s_head.val().end_beat) << 80)
            | (bit_cast::<95, 1>(self.carries.val().into()) << 94);
        self.s_done.next = self.push.val();
        self.s_code.next = self.code_later.val();
        self.s_placed.next = self.carries.val();

        // Out.
        self.m_head.next = self.s_head.val();
        self.m_head.next.opcode = bit_cast::<8, 5>(self.fifo.m_data.val().get_bits::<5>(44));
        self.m_head.next.psn = self.fifo.m_data.val().get_bits::<24>(0);
        self.m_head.next.xth0 = bit_cast::<32, 8>(self.fifo.m_data.val().get_bits::<8>(24)) << 24;
        self.m_head.next.qpn = bit_cast::<24, 12>(self.fifo.m_data.val().get_bits::<12>(32));
        self.m_head.next.payload_length = self.fifo.m_data.val().get_bits::<14>(49);
        self.m_head.next.payload_beat = self.fifo.m_data.val().get_bits::<14>(63);
        self.m_head.next.payload_offset = self.fifo.m_data.val().get_bits::<3>(77);
        self.m_head.next.end_beat = self.fifo.m_data.val().get_bits::<14>(80);
        // What it leaves behind needs its registers.
        self.m_valid.next = self.fifo.m_valid.val() & !self.owed.q.val() & !self.releasing.q.val();
        self.pop.next = self.m_done.val() & self.waits.q.val();
        self.pop_data.next = self.pop.val() & self.fifo.m_data.val().get_bit(94);
        self.fifo.m_ready.next = self.pop.val();
        if self.push.val() & !self.pop.val() {
            self.stored.d.next = self.stored.q.val() + 1;
            self.waits.d.next = true;
        }
        if !self.push.val() & self.pop.val() {
            self.stored.d.next = self.stored.q.val() - 1;
            self.waits.d.next = self.stored.q.val() != self.one.val();
        }
        if self.push_data.val() & !self.pop_data.val() {
            self.with_data.d.next = self.with_data.q.val() + 1;
        }
        if !self.push_data.val() & self.pop_data.val() {
            self.with_data.d.next = self.with_data.q.val() - 1;
        }
        self.empty.next = !self.waits.q.val();
        self.placing.next = self.with_data.q.val().any() | self.releasing.q.val();

        // Jobs: Complete has none on offer when it is done.
        self.m_job.next = self.s_job.val();
        self.m_job_valid.next = self.s_job_valid.val();
        self.s_job_ready.next = self.m_job_ready.val();
        if self.releasing.q.val() {
            self.m_job.next.write = false;
            self.m_job.next.release = true;
            self.m_job.next.end_beat = self.end_beat.q.val();
            self.m_job_valid.next = true;
            self.s_job_ready.next = false;
            self.releasing.d.next = !self.m_job_ready.val();
        }
        if self.pop_data.val() {
            self.releasing.d.next = !self.m_placed.val();
            self.end_beat.d.next = self.fifo.m_data.val().get_bits::<14>(80);
        }

        if self.direct.val() {
            self.s_done.next = self.m_done.val();
            self.s_code.next = self.m_code.val();
            self.s_placed.next = self.m_placed.val();
            self.m_head.next = self.s_head.val();
            self.m_valid.next = self.s_valid.val();
            self.placing.next = self.s_valid.val();
        }

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
            self.with_data.d.next = 0.into();
            self.releasing.d.next = false;
            self.owed.d.next = false;
        }
    }

    crate::block_name!();
}
