// SPDX-License-Identifier: MIT OR Apache-2.0
//! Packet arbiter: who sends the next packet, requester or READ responder.
//!
//! ```text
//! send packet words ─┐ one packet at a time ─► packet words (tx)
//! read packet words ─┘         │     ▲
//! send read jobs ─┐            ▼     └── open ◄─ beats granted, not drawn yet ◄─ drawn (tx)
//! read read jobs ─┴─► read jobs (mem::DmaReader) ─► done ─► order of sources ─► done of the source
//! ```
//!
//! A source that offers its first word is granted until its last word is taken, in turns. Its packet's jobs are taken only then, and the last word
//! waits for a job that is offered, so words and jobs stand in the same order. At most 16 packets with payload are between their
//! first word and their `done`. A turn costs a cycle.
//!
//! *Standing payload* is bounded, so that what is decided late (a packet sent again, a READ response) leaves soon: a packet with payload is granted while fewer
//! beats than [`AHEAD`] and the packet's own, or the longest of late, are granted and not drawn from the payload FIFO. So the next packet is whole when the one
//! before it ends, where a grant and the last beat of its payload are at most `AHEAD` cycles and its length apart, and `AHEAD` beats and two packets stand. *Of
//! late*: a sixteenth less with each shorter packet, so that short ones between long ones don't hold these up. Packets without payload aren't bounded: a READ
//! request mustn't hold up the responses behind it. What a source has just begun to offer is looked at three cycles later, what it offered before it a little too long:
//! one packet more may be granted then.

use crate::mem::ReadJob;
use rust_hdl::prelude::*;

/// Beats that stand beside the packet that is granted: what the wire takes while host memory answers.
pub const AHEAD: u64 = 256;

/// A shorter packet makes the longest of late shorter by this part of it, log2.
const DECAY_LOG: u64 = 4;

/// The arbiter of payload in beats of `K` bytes, 8 or 4.
#[derive(LogicBlock)]
pub struct PacketArbiter<const K: usize> {
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
    /// One cycle: a beat has left the payload FIFO.
    pub drawn: Signal<In, Bit>,
    /// The next packet would be granted, if nothing else stood in its way.
    pub room: Signal<Out, Bit>,
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
    /// The granted packet's first word stands there; stood there the cycle before, as that of the packet to be granted next.
    fresh: DFF<Bit>,
    known: DFF<Bit>,
    seen: DFF<Bit>,
    /// What the word of the cycle before says, if it was a packet's first one: whole beats of payload, one more that is part of one, any.
    whole: DFF<Bits<12>>,
    part: DFF<Bit>,
    laden: DFF<Bit>,
    /// The same of the granted packet.
    beats: DFF<Bits<12>>,
    beats_part: DFF<Bit>,
    abandoned: DFF<Bit>,
    /// The longest packet of late.
    longest: DFF<Bits<12>>,
    /// Beats granted and not drawn; what the next packet may add to, with its own; whether it may be granted.
    standing: DFF<Bits<12>>,
    change: DFF<Bits<12>>,
    change_carry: DFF<Bit>,
    bound: DFF<Bits<12>>,
    open: DFF<Bit>,
    chooses_read: Signal<Local, Bit>,
    first: Signal<Local, Bits<32>>,
    bytes: Signal<Local, Bits<14>>,
    wholes: Signal<Local, Bits<12>>,
    paid: Signal<Local, Bit>,
    cut: Signal<Local, Bit>,
    rounded: Signal<Local, Bits<12>>,
    longer: Signal<Local, Bit>,
    carry: Signal<Local, Bits<12>>,
    choosing: Signal<Local, Bit>,
    short: Constant<Bits<14>>,
    beat_log: Constant<Bits<4>>,
    ahead: Constant<Bits<12>>,
    nothing: Constant<Bits<12>>,
    decay_log: Constant<Bits<4>>,
    full: Constant<Bits<5>>,
    one: Constant<Bits<16>>,
}

impl<const K: usize> Default for PacketArbiter<K> {
    fn default() -> Self {
        assert!(K == 4 || K == 8, "PacketArbiter: beats of 4 or 8 bytes");
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
            drawn: Default::default(),
            room: Default::default(),
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
            fresh: Default::default(),
            known: Default::default(),
            seen: Default::default(),
            whole: Default::default(),
            part: Default::default(),
            laden: Default::default(),
            beats: Default::default(),
            beats_part: Default::default(),
            abandoned: Default::default(),
            longest: Default::default(),
            standing: Default::default(),
            change: Default::default(),
            change_carry: Default::default(),
            bound: Default::default(),
            open: Default::default(),
            chooses_read: Default::default(),
            first: Default::default(),
            bytes: Default::default(),
            wholes: Default::default(),
            paid: Default::default(),
            cut: Default::default(),
            rounded: Default::default(),
            longer: Default::default(),
            carry: Default::default(),
            choosing: Default::default(),
            short: Constant::new((K as u64 - 1).to_bits()),
            beat_log: Constant::new((K.ilog2() as u64).to_bits()),
            ahead: Constant::new(AHEAD.to_bits()),
            nothing: Constant::new(0u64.to_bits()),
            decay_log: Constant::new(DECAY_LOG.to_bits()),
            full: Constant::new(16u64.to_bits()),
            one: Constant::new(1u64.to_bits()),
        }
    }
}

impl<const K: usize> Logic for PacketArbiter<K> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, active, read, opened, order, count);
        dff_setup!(self, clock, fresh, known, seen, whole, part, laden, beats, beats_part, abandoned);
        dff_setup!(self, clock, longest, standing, change, change_carry, bound, open);

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
        // The other first.
        self.chooses_read.next = self.read_packet_valid.val() & (!self.read.q.val() | !self.send_packet_valid.val());
        self.fresh.d.next = false;
        if !self.active.q.val() {
            if (self.send_packet_valid.val() | self.read_packet_valid.val()) & self.open.q.val() {
                self.active.d.next = true;
                self.fresh.d.next = true;
                self.opened.d.next = false;
                self.read.d.next = self.chooses_read.val();
            }
        }

        // Beats of the packet whose first word stands there: granted, or to be granted next.
        self.first.next = self.word.val();
        if !self.active.q.val() {
            self.first.next = self.send_packet_word.val();
            if self.chooses_read.val() {
                self.first.next = self.read_packet_word.val();
            }
        }
        self.bytes.next = self.first.val().get_bits::<14>(14);
        self.paid.next = self.first.val().get_bit(13);
        self.cut.next = self.paid.val() & (self.bytes.val() & self.short.val()).any();
        self.wholes.next = 0.into();
        if self.paid.val() {
            self.wholes.next = (self.bytes.val() >> self.beat_log.val()).get_bits::<12>(0);
        }

        // Standing payload. The word comes late, so no sum nor comparison stands before the first register.
        self.known.d.next = self.fresh.q.val();
        self.whole.d.next = self.wholes.val();
        self.part.d.next = self.cut.val();
        self.laden.d.next = self.paid.val();
        self.rounded.next = self.whole.q.val();
        self.longer.next = self.whole.q.val() > self.longest.q.val();
        if self.part.q.val() {
            self.rounded.next = self.whole.q.val() + 1;
            self.longer.next = self.whole.q.val() >= self.longest.q.val();
        }
        if self.known.q.val() & self.laden.q.val() {
            self.longest.d.next = self.longest.q.val() - (self.longest.q.val() >> self.decay_log.val());
            if self.longer.val() {
                self.longest.d.next = self.rounded.val();
            }
        }
        if self.fresh.q.val() {
            self.beats.d.next = self.wholes.val();
            self.beats_part.d.next = self.cut.val();
        }
        self.abandoned.d.next = self.taken.val() & self.last.val() & self.packet_abandon.val();
        self.change.d.next = 0.into();
        self.change_carry.d.next = false;
        if self.abandoned.q.val() {
            // Whole beats and the part of one taken away: the inverse, and one less the part.
            self.change.d.next = !self.beats.q.val();
            self.change_carry.d.next = !self.beats_part.q.val();
        }
        if self.fresh.q.val() {
            self.change.d.next = self.wholes.val();
            self.change_carry.d.next = self.cut.val();
        }
        self.carry.next = bit_cast::<12, 1>(self.change_carry.q.val().into());
        if self.drawn.val() {
            self.carry.next = bit_cast::<12, 1>(self.change_carry.q.val().into()) - 1;
        }
        self.standing.d.next = self.standing.q.val() + self.change.q.val() + self.carry.val();
        self.choosing.next = !self.active.q.val() & (self.send_packet_valid.val() | self.read_packet_valid.val());
        self.seen.d.next = self.choosing.val();
        self.bound.d.next = self.ahead.val() + self.longest.q.val();
        if self.seen.q.val() & self.longer.val() {
            self.bound.d.next = self.ahead.val() + self.rounded.val();
        }
        if self.seen.q.val() & !self.laden.q.val() {
            self.bound.d.next = self.nothing.val() - 1;
        }
        self.open.d.next = self.standing.q.val() < self.bound.q.val();
        self.room.next = self.open.q.val();

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
            self.fresh.d.next = false;
            self.known.d.next = false;
            self.seen.d.next = false;
            self.abandoned.d.next = false;
            self.change.d.next = 0.into();
            self.change_carry.d.next = false;
            self.longest.d.next = 0.into();
            self.standing.d.next = 0.into();
            self.open.d.next = false;
            self.packet_valid.next = false;
            self.job_valid.next = false;
        }
    }

    crate::block_name!();
}
