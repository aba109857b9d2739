// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two sources of packets (0: Send, 1: the READ responder) take turns at the transmitter and the DMA reader.
//!
//! ```text
//! s0_*, s1_* ─► grant (one packet: words and jobs) ─► packet_* (tx), job_* (DmaReader)
//!                 └─► FIFO of sources, one entry a packet with payload ─► who gets done_*
//! ```
//!
//! A source that offers its first word is granted, the other one first after a turn, until its last word and, where word 0 says that there is payload, its last job are taken.
//! One cycle between packets beside the one that grants. Limit: 16 packets whose `done` isn't taken; the next one's first word waits.

use crate::mem::ReadJob;
use rust_hdl::prelude::*;

/// The arbiter.
#[derive(LogicBlock)]
pub struct PacketArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s0_packet_word: Signal<In, Bits<32>>,
    pub s0_packet_last: Signal<In, Bit>,
    pub s0_packet_valid: Signal<In, Bit>,
    pub s0_packet_ready: Signal<Out, Bit>,
    pub s0_job: Signal<In, ReadJob>,
    pub s0_job_valid: Signal<In, Bit>,
    pub s0_job_ready: Signal<Out, Bit>,
    pub s0_done_valid: Signal<Out, Bit>,
    pub s0_done_error: Signal<Out, Bit>,
    pub s0_done_ready: Signal<In, Bit>,
    pub s1_packet_word: Signal<In, Bits<32>>,
    pub s1_packet_last: Signal<In, Bit>,
    pub s1_packet_valid: Signal<In, Bit>,
    pub s1_packet_ready: Signal<Out, Bit>,
    pub s1_job: Signal<In, ReadJob>,
    pub s1_job_valid: Signal<In, Bit>,
    pub s1_job_ready: Signal<Out, Bit>,
    pub s1_done_valid: Signal<Out, Bit>,
    pub s1_done_error: Signal<Out, Bit>,
    pub s1_done_ready: Signal<In, Bit>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    pub done_valid: Signal<In, Bit>,
    pub done_error: Signal<In, Bit>,
    pub done_ready: Signal<Out, Bit>,
    busy: DFF<Bit>,
    owner: DFF<Bit>,
    /// Word 0 is to come; words, jobs are to come.
    first: DFF<Bit>,
    words_open: DFF<Bit>,
    jobs_open: DFF<Bit>,
    sources: DFF<Bits<16>>,
    write: DFF<Bits<5>>,
    read: DFF<Bits<5>>,
    word: Signal<Local, Bits<32>>,
    last: Signal<Local, Bit>,
    valid: Signal<Local, Bit>,
    asked: Signal<Local, ReadJob>,
    asked_valid: Signal<Local, Bit>,
    open_words: Signal<Local, Bit>,
    open_jobs: Signal<Local, Bit>,
    take_word: Signal<Local, Bit>,
    take_job: Signal<Local, Bit>,
    used: Signal<Local, Bits<5>>,
    some: Signal<Local, Bit>,
    next_source: Signal<Local, Bit>,
    done_taken: Signal<Local, Bit>,
    depth: Constant<Bits<5>>,
}

impl Default for PacketArbiter {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s0_packet_word: Default::default(),
            s0_packet_last: Default::default(),
            s0_packet_valid: Default::default(),
            s0_packet_ready: Default::default(),
            s0_job: Default::default(),
            s0_job_valid: Default::default(),
            s0_job_ready: Default::default(),
            s0_done_valid: Default::default(),
            s0_done_error: Default::default(),
            s0_done_ready: Default::default(),
            s1_packet_word: Default::default(),
            s1_packet_last: Default::default(),
            s1_packet_valid: Default::default(),
            s1_packet_ready: Default::default(),
            s1_job: Default::default(),
            s1_job_valid: Default::default(),
            s1_job_ready: Default::default(),
            s1_done_valid: Default::default(),
            s1_done_error: Default::default(),
            s1_done_ready: Default::default(),
            packet_word: Default::default(),
            packet_last: Default::default(),
            packet_valid: Default::default(),
            packet_ready: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            done_valid: Default::default(),
            done_error: Default::default(),
            done_ready: Default::default(),
            busy: Default::default(),
            owner: Default::default(),
            first: Default::default(),
            words_open: Default::default(),
            jobs_open: Default::default(),
            sources: Default::default(),
            write: Default::default(),
            read: Default::default(),
            word: Default::default(),
            last: Default::default(),
            valid: Default::default(),
            asked: Default::default(),
            asked_valid: Default::default(),
            open_words: Default::default(),
            open_jobs: Default::default(),
            take_word: Default::default(),
            take_job: Default::default(),
            used: Default::default(),
            some: Default::default(),
            next_source: Default::default(),
            done_taken: Default::default(),
            depth: Constant::new(16u64.to_bits()),
        }
    }
}

impl Logic for PacketArbiter {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, busy, owner, first, words_open, jobs_open, sources, write, read);

        self.word.next = self.s0_packet_word.val();
        self.last.next = self.s0_packet_last.val();
        self.valid.next = self.s0_packet_valid.val();
        self.asked.next = self.s0_job.val();
        self.asked_valid.next = self.s0_job_valid.val();
        if self.owner.q.val() {
            self.word.next = self.s1_packet_word.val();
            self.last.next = self.s1_packet_last.val();
            self.valid.next = self.s1_packet_valid.val();
            self.asked.next = self.s1_job.val();
            self.asked_valid.next = self.s1_job_valid.val();
        }
        self.used.next = self.write.q.val() - self.read.q.val();
        self.open_words.next = self.busy.q.val() & self.words_open.q.val() & !(self.first.q.val() & (self.used.val() == self.depth.val()));
        self.open_jobs.next = self.busy.q.val() & self.jobs_open.q.val();
        self.packet_word.next = self.word.val();
        self.packet_last.next = self.last.val();
        self.packet_valid.next = self.open_words.val() & self.valid.val();
        self.job.next = self.asked.val();
        self.job_valid.next = self.open_jobs.val() & self.asked_valid.val();
        self.s0_packet_ready.next = self.open_words.val() & self.packet_ready.val() & !self.owner.q.val();
        self.s1_packet_ready.next = self.open_words.val() & self.packet_ready.val() & self.owner.q.val();
        self.s0_job_ready.next = self.open_jobs.val() & self.job_ready.val() & !self.owner.q.val();
        self.s1_job_ready.next = self.open_jobs.val() & self.job_ready.val() & self.owner.q.val();
        self.take_word.next = self.open_words.val() & self.valid.val() & self.packet_ready.val();
        self.take_job.next = self.open_jobs.val() & self.asked_valid.val() & self.job_ready.val();

        if self.busy.q.val() {
            if self.take_job.val() & self.asked.val().last {
                self.jobs_open.d.next = false;
            }
            if self.take_word.val() {
                self.first.d.next = false;
                if self.first.q.val() {
                    // Without payload there are no jobs.
                    if self.word.val().get_bit(13) {
                        self.sources.d.next = self
                            .sources
                            .q
                            .val()
                            .replace_bit(self.write.q.val().get_bits::<4>(0).index(), self.owner.q.val());
                        self.write.d.next = self.write.q.val() + 1;
                    } else {
                        self.jobs_open.d.next = false;
                    }
                }
                if self.last.val() {
                    self.words_open.d.next = false;
                }
            }
            if !self.words_open.q.val() & !self.jobs_open.q.val() {
                self.busy.d.next = false;
            }
        } else {
            self.busy.d.next = self.s0_packet_valid.val() | self.s1_packet_valid.val();
            self.first.d.next = true;
            self.words_open.d.next = true;
            self.jobs_open.d.next = true;
            if self.owner.q.val() {
                self.owner.d.next = !self.s0_packet_valid.val();
            } else {
                self.owner.d.next = self.s1_packet_valid.val();
            }
        }

        // Payload reads end in the order of their packets.
        self.some.next = self.used.val().any();
        self.next_source.next = self.sources.q.val().get_bit(self.read.q.val().get_bits::<4>(0).index());
        self.s0_done_valid.next = self.done_valid.val() & self.some.val() & !self.next_source.val();
        self.s1_done_valid.next = self.done_valid.val() & self.some.val() & self.next_source.val();
        self.s0_done_error.next = self.done_error.val();
        self.s1_done_error.next = self.done_error.val();
        self.done_taken.next = self.some.val() & self.s0_done_ready.val();
        if self.next_source.val() {
            self.done_taken.next = self.some.val() & self.s1_done_ready.val();
        }
        self.done_ready.next = self.done_taken.val();
        if self.done_valid.val() & self.done_taken.val() {
            self.read.d.next = self.read.q.val() + 1;
        }

        if self.reset.val() {
            self.busy.d.next = false;
            self.owner.d.next = true;
            self.write.d.next = 0.into();
            self.read.d.next = 0.into();
        }
    }

    crate::block_name!();
}
