// SPDX-License-Identifier: MIT OR Apache-2.0
//! From header words and payload to whole frames' beats with their ICRC (W = 64).
//!
//! ```text
//! word ─► gearbox ─► register ─► header queue ─► joiner ─┬─► mask ─► ICRC ─┐
//! payload ────────────────────────────────────────────┘   └─► store ────────┴─► m
//! ```
//!
//! Headers of at most three packets are under way before the joiner. A frame's first beat is offered when its last will be in time. Latency: a last word in
//! cycle t has its ICRC in t + 5.
//!
//! An early header (its payload isn't whole: `early`) enters only where nothing else is (`calm`), and goes as far as it can without payload: up to its last beat in the store.
//! Its frame's permit waits here until `commit`, a cycle before `early` falls, and the payload follows two cycles later; or `ditch` throws everything away.

use super::{Gearbox, HeaderBeat, HeaderQueue, Joiner, PacketStore};
use crate::wire::{Icrc, IcrcMask};
use rust_hdl::prelude::*;

/// `L = W / 32`, `G = W + L + 1`.
#[derive(LogicBlock)]
pub struct BeatPath<const W: usize, const L: usize, const G: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fewer than three headers are under way.
    pub room: Signal<Out, Bit>,
    /// One cycle each: a header will come; its frame may leave as soon as its beats can.
    pub begin_header: Signal<In, Bit>,
    pub permit: Signal<In, Bit>,
    /// The header is an early one; one cycle each, its last: its payload is whole; it is thrown away.
    pub early: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    pub ditch: Signal<In, Bit>,
    /// In the cycle before nothing was under way: a register.
    pub calm: Signal<Out, Bit>,
    pub word: Signal<In, Bits<32>>,
    pub word_number: Signal<In, Bits<4>>,
    pub word_valid: Signal<In, Bit>,
    pub word_covered: Signal<In, Bit>,
    pub word_first: Signal<In, Bit>,
    pub word_odd: Signal<In, Bit>,
    pub word_covered_first: Signal<In, Bit>,
    pub word_last: Signal<In, Bit>,
    /// Of the word's packet: IPv6, not to be sent, words of payload to come.
    pub ipv6: Signal<In, Bit>,
    pub drop: Signal<In, Bit>,
    pub words: Signal<In, Bits<11>>,
    pub payload_data: Signal<In, Bits<W>>,
    pub payload_ready: Signal<Out, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_lanes: Signal<Out, Bits<L>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    pub m_crc: Signal<Out, Bits<32>>,
    pub m_crc_valid: Signal<Out, Bit>,
    pub m_crc_next: Signal<In, Bit>,
    gearbox: Gearbox<W, L>,
    queue: HeaderQueue,
    joiner: Joiner,
    mask: IcrcMask<W, L>,
    icrc: Icrc<W, L>,
    store: PacketStore<W, L, G>,
    headers: DFF<Bits<2>>,
    more: DFF<Bit>,
    single: DFF<Bit>,
    no_pair: DFF<Bit>,
    one_pair: DFF<Bit>,
    one_word: Constant<Bits<11>>,
    beat: DFF<HeaderBeat>,
    beat_valid: DFF<Bit>,
    /// A permit waits the time that the header's last words take through the queue.
    permit_0: DFF<Bit>,
    permit_1: DFF<Bit>,
    permit_2: DFF<Bit>,
    permit_3: DFF<Bit>,
    permit_4: DFF<Bit>,
    /// An early header's permit.
    kept: DFF<Bit>,
    quiet: DFF<Bit>,
    waits: Signal<Local, Bit>,
    ripe: Signal<Local, Bit>,
}

impl<const W: usize, const L: usize, const G: usize> Default for BeatPath<W, L, G> {
    fn default() -> Self {
        assert!(W == 64, "BeatPath: W must be 64");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            room: Default::default(),
            begin_header: Default::default(),
            permit: Default::default(),
            early: Default::default(),
            commit: Default::default(),
            ditch: Default::default(),
            calm: Default::default(),
            word: Default::default(),
            word_number: Default::default(),
            word_valid: Default::default(),
            word_covered: Default::default(),
            word_first: Default::default(),
            word_odd: Default::default(),
            word_covered_first: Default::default(),
            word_last: Default::default(),
            ipv6: Default::default(),
            drop: Default::default(),
            words: Default::default(),
            payload_data: Default::default(),
            payload_ready: Default::default(),
            m_data: Default::default(),
            m_lanes: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            m_crc: Default::default(),
            m_crc_valid: Default::default(),
            m_crc_next: Default::default(),
            gearbox: Default::default(),
            queue: Default::default(),
            joiner: Default::default(),
            mask: Default::default(),
            icrc: Default::default(),
            store: Default::default(),
            headers: Default::default(),
            more: Default::default(),
            single: Default::default(),
            no_pair: Default::default(),
            one_pair: Default::default(),
            one_word: Constant::new(1u64.to_bits()),
            beat: Default::default(),
            beat_valid: Default::default(),
            permit_0: Default::default(),
            permit_1: Default::default(),
            permit_2: Default::default(),
            permit_3: Default::default(),
            permit_4: Default::default(),
            kept: Default::default(),
            quiet: Default::default(),
            waits: Default::default(),
            ripe: Default::default(),
        }
    }
}

impl<const W: usize, const L: usize, const G: usize> Logic for BeatPath<W, L, G> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, headers, more, single, no_pair, one_pair, permit_0, permit_1, permit_2, permit_3, permit_4, beat, beat_valid
        );
        dff_setup!(self, clock, kept, quiet);
        clock!(self, clock, gearbox, queue, joiner, mask, icrc, store);
        self.queue.reset.next = self.reset.val() | self.ditch.val();
        self.joiner.reset.next = self.reset.val() | self.ditch.val();
        self.mask.reset.next = self.reset.val() | self.ditch.val();
        self.icrc.reset.next = self.reset.val() | self.ditch.val();
        self.store.reset.next = self.reset.val() | self.ditch.val();

        self.room.next = !self.headers.q.val().all();
        self.gearbox.word.next = self.word.val();
        self.gearbox.valid.next = self.word_valid.val();
        self.gearbox.first.next = self.word_first.val();
        self.gearbox.odd.next = self.word_odd.val();
        self.gearbox.last.next = self.word_last.val();
        self.gearbox.covered.next = self.word_covered.val();
        self.gearbox.covered_first.next = self.word_covered_first.val();

        // Joiner and store stand behind a register: gearbox and word former don't reach into them.
        self.beat.d.next.data = bit_cast::<64, W>(self.gearbox.beat.val());
        self.beat.d.next.lanes = bit_cast::<2, L>(self.gearbox.beat_lanes.val());
        self.beat.d.next.last = self.gearbox.beat_last.val();
        self.beat.d.next.covered = bit_cast::<2, L>(self.gearbox.beat_covered.val());
        self.beat.d.next.covered_first = self.gearbox.beat_covered_first.val();
        self.beat.d.next.number = self.word_number.val().get_bits::<3>(1);
        self.beat.d.next.ipv6 = self.ipv6.val();
        self.beat.d.next.drop = self.drop.val();
        // Registered here: they are steady long before the last word.
        self.more.d.next = self.words.val().any();
        self.single.d.next = self.words.val() == self.one_word.val();
        self.no_pair.d.next = !(self.words.val() >> 1).any();
        self.one_pair.d.next = (self.words.val() >> 1) == self.one_word.val();
        self.beat.d.next.more = self.more.q.val();
        self.beat.d.next.fills = self.gearbox.beat_last.val() & !self.gearbox.beat_lanes.val().get_bit(1) & self.more.q.val();
        self.beat.d.next.single = self.single.q.val();
        self.beat.d.next.no_pair = self.no_pair.q.val();
        self.beat.d.next.one_pair = self.one_pair.q.val();
        self.beat.d.next.odd = self.words.val().get_bit(0);
        self.beat.d.next.pairs = self.words.val().get_bits::<10>(1);
        self.beat_valid.d.next = self.gearbox.beat_valid.val() & !self.ditch.val();
        self.queue.s.next = self.beat.q.val();
        self.queue.s_valid.next = self.beat_valid.q.val();
        self.joiner.header.next = self.queue.m.val();
        self.joiner.header_valid.next = self.queue.m_valid.val();
        self.queue.m_ready.next = self.joiner.header_ready.val();
        self.joiner.payload_data.next = bit_cast::<64, W>(self.payload_data.val());
        self.payload_ready.next = self.joiner.payload_ready.val();
        self.joiner.room.next = self.store.room.val();
        // From the second cycle behind `early`: a payload of one beat isn't out of its FIFO sooner.
        self.store.early.next = self.early.val();
        self.joiner.payload_room.next = self.store.payload_room.val();

        // ICRC over the beats' covered lanes.
        self.mask.s_data.next = bit_cast::<W, 64>(self.joiner.m_data.val());
        self.mask.s_word.next = bit_cast::<12, 3>(self.joiner.m_number.val()) << 1;
        self.mask.s_lane_valid.next = bit_cast::<L, 2>(self.joiner.m_covered.val());
        self.mask.s_valid.next = self.joiner.m_valid.val() & self.joiner.m_covered.val().any();
        self.mask.s_first.next = self.joiner.m_covered_first.val();
        self.mask.s_last.next = self.joiner.m_last.val();
        self.mask.ipv6.next = self.joiner.m_ipv6.val();
        self.icrc.data.next = self.mask.m_data.val();
        self.icrc.lane_valid.next = self.mask.m_lane_valid.val();
        self.icrc.valid.next = self.mask.m_valid.val();
        self.icrc.first.next = self.mask.m_first.val();
        self.icrc.last.next = self.mask.m_last.val();

        self.store.starting.next = self.joiner.starting.val();
        self.permit_0.d.next = self.permit.val();
        // An early header's last beat may wait in the queue.
        self.waits.next = !self.queue.idle.val() | self.early.val();
        self.permit_1.d.next = self.permit_0.q.val() & self.waits.val();
        self.permit_2.d.next = self.permit_1.q.val();
        self.permit_3.d.next = self.permit_2.q.val();
        // With payload the last beat may be a half one, which needs the ICRC a cycle earlier than the header alone would.
        self.permit_4.d.next = self.permit_3.q.val() | (self.permit_0.q.val() & !self.waits.val() & self.more.q.val());
        self.ripe.next = (self.permit_0.q.val() & !self.waits.val() & !self.more.q.val()) | self.permit_4.q.val();
        self.store.permit.next = self.ripe.val() & (!self.early.val() | self.commit.val());
        self.store.late.next = self.kept.q.val() & self.commit.val();
        self.kept.d.next = (self.kept.q.val() | self.ripe.val()) & self.early.val() & !self.commit.val() & !self.ditch.val();
        self.quiet.d.next = !self.headers.q.val().any() & self.joiner.idle.val() & self.store.idle.val();
        self.calm.next = self.quiet.q.val();
        self.store.s_data.next = bit_cast::<W, 64>(self.joiner.m_data.val());
        self.store.s_lanes.next = bit_cast::<L, 2>(self.joiner.m_lanes.val());
        self.store.s_last.next = self.joiner.m_last.val();
        self.store.s_valid.next = self.joiner.m_valid.val();
        self.store.s_crc.next = self.icrc.crc.val();
        self.store.s_crc_valid.next = self.icrc.crc_valid.val();
        self.m_data.next = self.store.m_data.val();
        self.m_lanes.next = self.store.m_lanes.val();
        self.m_last.next = self.store.m_last.val();
        self.m_valid.next = self.store.m_valid.val();
        self.m_crc.next = self.store.m_crc.val();
        self.m_crc_valid.next = self.store.m_crc_valid.val();
        self.store.m_ready.next = self.m_ready.val();
        self.store.m_crc_next.next = self.m_crc_next.val();

        if self.begin_header.val() & !self.joiner.header_done.val() {
            self.headers.d.next = self.headers.q.val() + 1;
        }
        if !self.begin_header.val() & self.joiner.header_done.val() {
            self.headers.d.next = self.headers.q.val() - 1;
        }
        if self.reset.val() | self.ditch.val() {
            self.headers.d.next = 0.into();
            self.permit_0.d.next = false;
            self.permit_1.d.next = false;
            self.permit_2.d.next = false;
            self.permit_3.d.next = false;
            self.permit_4.d.next = false;
            self.kept.d.next = false;
            self.quiet.d.next = false;
        }
    }

    crate::block_name!();
}
