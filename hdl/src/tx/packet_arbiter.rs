// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet arbiter: who sends the next packet, requester or READ responder.
//!
//! ```text
//! send packet words ─┐ one packet at a time ─► packet words (tx)
//! read packet words ─┘         │
//! send read jobs ─┐            ▼ grant
//! read read jobs ─┴─► read jobs (mem::DmaReader) ─► done ─► order of sources ─► done of the source
//! ```
//!
//! A source that offers its first word is granted until its last word is taken, in turns. Its packet's jobs are taken only then, and the last word
//! waits for a job that is offered, so words and jobs stand in the same order. At most 16 packets with payload are between their
//! first word and their `done`. A turn costs a cycle.

use crate::mem::ReadJob;
use rust_hdl::prelude::*;

/// The arbiter.
#[derive(LogicBlock)]
pub struct PacketArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub send_packet_word: Signal<In, Bits<32>>,
    pub send_packet_last: Signal<In, Bit>,
    /// With the last word: the packet isn't to be sent; it had no job. (The READ responder checks before it begins.)
    pub send_packet_abandon: Signal<In, Bit>,
    pub send_packet_valid: Signal<In, Bit>,
    pub send_packet_ready: Signal<Out, Bit>,
    pub send_job: Signal<In, ReadJob>,
    pub send_job_valid: Signal<In, Bit>,
    pub send_job_ready: Signal<Out, Bit>,
    pub send_done_valid: Signal<Out, Bit>,
    pub send_done_error: Signal<Out, Bit>,
    pub send_done_ready: Signal<In, Bit>,
    pub read_packet_word: Signal<In, Bits<32>>,
    pub read_packet_last: Signal<In, Bit>,
    pub read_packet_valid: Signal<In, Bit>,
    pub read_packet_ready: Signal<Out, Bit>,
    pub read_job: Signal<In, ReadJob>,
    pub read_job_valid: Signal<In, Bit>,
    pub read_job_ready: Signal<Out, Bit>,
    pub read_done_valid: Signal<Out, Bit>,
    pub read_done_error: Signal<Out, Bit>,
    pub read_done_ready: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_abandon: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    /// A source is granted, and which (0 send, 1 read); a job of its packet has gone.
    active: DFF<Bit>,
    read: DFF<Bit>,
    opened: DFF<Bit>,
    /// Sources of the packets with payload, the oldest in bit 0.
    order: DFF<Bits<16>>,
    count: DFF<Bits<5>>,
    last: Signal<Local, Bit>,
    valid: Signal<Local, Bit>,
    word: Signal<Local, Bits<32>>,
    pending: Signal<Local, Bit>,
    stopped: Signal<Local, Bit>,
    placed: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    rest: Signal<Local, Bits<16>>,
    place: Signal<Local, Bits<5>>,
    some: Signal<Local, Bit>,
    full: Constant<Bits<5>>,
    one: Constant<Bits<16>>,
}

impl Default for PacketArbiter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            send_packet_word: Default::default(),
            send_packet_last: Default::default(),
            send_packet_abandon: Default::default(),
            send_packet_valid: Default::default(),
            send_packet_ready: Default::default(),
            send_job: Default::default(),
            send_job_valid: Default::default(),
            send_job_ready: Default::default(),
            send_done_valid: Default::default(),
            send_done_error: Default::default(),
            send_done_ready: Default::default(),
            read_packet_word: Default::default(),
            read_packet_last: Default::default(),
            read_packet_valid: Default::default(),
            read_packet_ready: Default::default(),
            read_job: Default::default(),
            read_job_valid: Default::default(),
            read_job_ready: Default::default(),
            read_done_valid: Default::default(),
            read_done_error: Default::default(),
            read_done_ready: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_abandon: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            active: Default::default(),
            read: Default::default(),
            opened: Default::default(),
            order: Default::default(),
            count: Default::default(),
            last: Default::default(),
            valid: Default::default(),
            word: Default::default(),
            pending: Default::default(),
            stopped: Default::default(),
            placed: Default::default(),
            taken: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            rest: Default::default(),
            place: Default::default(),
            some: Default::default(),
            full: Constant::new(16u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl Logic for PacketArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, read, opened, order, count);

        self.word.next = self.send_packet_word.val();
        self.last.next = self.send_packet_last.val();
        self.valid.next = self.send_packet_valid.val();
        self.pending.next = self.send_job_valid.val();
        self.job.next = self.send_job.val();
        if self.read.q.val() {
            self.word.next = self.read_packet_word.val();
            self.last.next = self.read_packet_last.val();
            self.valid.next = self.read_packet_valid.val();
            self.pending.next = self.read_job_valid.val();
            self.job.next = self.read_job.val();
        }

        // Words: the last waits for the packet's jobs.
        self.stopped.next = !self.active.q.val() | (self.last.val() & self.pending.val());
        self.packet_word.next = self.word.val();
        self.packet_last.next = self.last.val();
        self.packet_abandon.next = self.send_packet_abandon.val() & !self.read.q.val();
        self.packet_valid.next = self.valid.val() & !self.stopped.val();
        self.send_packet_ready.next = self.packet_ready.val() & !self.stopped.val() & !self.read.q.val();
        self.read_packet_ready.next = self.packet_ready.val() & !self.stopped.val() & self.read.q.val();
        self.taken.next = self.valid.val() & !self.stopped.val() & self.packet_ready.val();

        // Jobs of the granted packet; its first one needs a place in the order.
        self.placed.next = self.active.q.val() & (self.opened.q.val() | (self.count.q.val() != self.full.val()));
        self.job_valid.next = self.pending.val() & self.placed.val();
        self.send_job_ready.next = self.job_ready.val() & self.placed.val() & !self.read.q.val();
        self.read_job_ready.next = self.job_ready.val() & self.placed.val() & self.read.q.val();
        self.push.next = self.pending.val() & self.placed.val() & self.job_ready.val() & !self.opened.q.val();
        if self.push.val() {
            self.opened.d.next = true;
        }
        if self.taken.val() & self.last.val() {
            self.active.d.next = false;
        }
        if !self.active.q.val() {
            // The other first.
            if self.send_packet_valid.val() | self.read_packet_valid.val() {
                self.active.d.next = true;
                self.opened.d.next = false;
                self.read.d.next = self.read_packet_valid.val() & (!self.read.q.val() | !self.send_packet_valid.val());
            }
        }

        // Whose `done` comes next.
        self.some.next = self.count.q.val().any();
        self.send_done_valid.next = self.done_valid.val() & self.some.val() & !self.order.q.val().get_bit(0);
        self.read_done_valid.next = self.done_valid.val() & self.some.val() & self.order.q.val().get_bit(0);
        self.send_done_error.next = self.done_error.val();
        self.read_done_error.next = self.done_error.val();
        self.done_ready.next = self.some.val() & self.send_done_ready.val();
        if self.order.q.val().get_bit(0) {
            self.done_ready.next = self.some.val() & self.read_done_ready.val();
        }
        self.pop.next = self.done_valid.val() & self.done_ready.val();
        self.rest.next = self.order.q.val();
        self.place.next = self.count.q.val();
        if self.pop.val() {
            self.rest.next = self.order.q.val() >> 1;
            self.place.next = self.count.q.val() - 1;
        }
        self.order.d.next = self.rest.val();
        self.count.d.next = self.place.val();
        if self.push.val() {
            self.count.d.next = self.place.val() + 1;
            if self.read.q.val() {
                self.order.d.next = self.rest.val() | (self.one.val() << self.place.val());
            }
        }

        if self.reset.val() {
            self.active.d.next = false;
            self.opened.d.next = false;
            self.read.d.next = false;
            self.count.d.next = 0.into();
            self.order.d.next = 0.into();
            self.packet_valid.next = false;
            self.job_valid.next = false;
        }
    }

    crate::block_name!();
}
