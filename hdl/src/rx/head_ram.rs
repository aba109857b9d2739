// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows of header words of the packets that wait, so that headers need no wide registers.
//!
//! ```text
//! record ─► RAM 2^R rows × 16 beats ─► head_loader
//!   64 bits: aligned words 0-23 in slots 0-11        32 bits: words 8-19, slot = the word's low four bits
//! meta ───► the slot of words 10-11 (UDP), 32 bits: of word 10, written 2 cycles after commit over words that nobody reads
//! 64 bits: [13:0] payload length, [27:14] frame beat, [29:28] GID index, [30] IPv6, [31] marked, [45:32] payload beat, [59:46] end beat,
//!          [60] the payload starts in the upper lane
//! 32 bits: [13:0] payload length, [18:14] payload word, [31:19] end beat; a frame begins where the one before ends
//! ```
//!
//! A frame that begins while all rows are taken is `blocked` and can't be committed. Where both ports meet nobody uses what is read.

use crate::prim::SplitRam;
use rust_hdl::prelude::*;

/// Words that a row holds at one lane: first, and the one after the last.
const ROW: (u64, u64) = (8, 20);
/// The same at two lanes.
const WIDE_ROW: (u64, u64) = (0, 24);

/// `W` data bits, `L` words, `2^R` rows, `RB = R + 1`, `HR = R + 4` RAM address bits, `BA` ring address bits.
#[derive(LogicBlock)]
pub struct HeadRam<const W: usize, const L: usize, const R: usize, const RB: usize, const HR: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub data: Signal<In, Bits<W>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    /// Aligned number of the record's first word, 24 for any behind the row.
    pub word: Signal<In, Bits<5>>,
    /// The verdict: keep the frame.
    pub commit: Signal<In, Bit>,
    /// With the verdict: no row was free.
    pub blocked: Signal<Out, Bit>,
    pub payload_length: Signal<In, Bits<14>>,
    pub payload_word: Signal<In, Bits<5>>,
    pub gid_index: Signal<In, Bits<2>>,
    pub meta_ipv6: Signal<In, Bit>,
    /// ECN: congestion experienced; two lanes only.
    pub marked: Signal<In, Bit>,
    pub frame_beat: Signal<In, Bits<BA>>,
    pub end_beat: Signal<In, Bits<BA>>,
    /// A committed row waits.
    pub waiting: Signal<Out, Bit>,
    /// The oldest row is loaded.
    pub done: Signal<In, Bit>,
    pub read_slot: Signal<In, Bits<4>>,
    pub read_data: Signal<Out, Bits<W>>,
    ram: SplitRam<HR, W>,
    count: DFF<Bits<RB>>,
    /// `count` is all rows.
    full: DFF<Bit>,
    write_row: DFF<Bits<R>>,
    read_row: DFF<Bits<R>>,
    blocked_before: DFF<Bit>,
    kept: DFF<Bit>,
    meta_row: DFF<Bits<R>>,
    meta: DFF<Bit>,
    in_row: Signal<Local, Bit>,
    row: Signal<Local, Bits<R>>,
    slot: Signal<Local, Bits<4>>,
    row_begins: Signal<Local, Bit>,
    blocked_now: Signal<Local, Bit>,
    row_kept: Signal<Local, Bit>,
    payload_beat: Signal<Local, Bits<BA>>,
    payload_high: Signal<Local, Bit>,
    meta_10: Signal<Local, Bits<32>>,
    meta_11: Signal<Local, Bits<32>>,
    meta_word: Signal<Local, Bits<W>>,
    row_start: Constant<Bits<5>>,
    /// A bit for each word that a row holds.
    row_words: Constant<Bits<32>>,
    meta_slot: Constant<Bits<4>>,
    one_row: Constant<Bits<R>>,
    one_count: Constant<Bits<RB>>,
    all_but_one: Constant<Bits<RB>>,
}

impl<const W: usize, const L: usize, const R: usize, const RB: usize, const HR: usize, const BA: usize> Default
    for HeadRam<W, L, R, RB, HR, BA>
{
    fn default() -> Self {
        assert!(W == 32 * L && RB == R + 1 && HR == R + 4 && BA <= 13, "HeadRam: widths disagree");
        let row = if L == 2 { WIDE_ROW } else { ROW };
        let slot = |word: usize| Constant::new((if L == 2 { word / 2 } else { word % 16 } as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            data: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            word: Default::default(),
            commit: Default::default(),
            blocked: Default::default(),
            payload_length: Default::default(),
            payload_word: Default::default(),
            gid_index: Default::default(),
            meta_ipv6: Default::default(),
            marked: Default::default(),
            frame_beat: Default::default(),
            end_beat: Default::default(),
            waiting: Default::default(),
            done: Default::default(),
            read_slot: Default::default(),
            read_data: Default::default(),
            ram: Default::default(),
            count: Default::default(),
            full: Default::default(),
            write_row: Default::default(),
            read_row: Default::default(),
            blocked_before: Default::default(),
            kept: Default::default(),
            meta_row: Default::default(),
            meta: Default::default(),
            in_row: Default::default(),
            row: Default::default(),
            slot: Default::default(),
            row_begins: Default::default(),
            blocked_now: Default::default(),
            row_kept: Default::default(),
            payload_beat: Default::default(),
            payload_high: Default::default(),
            meta_10: Default::default(),
            meta_11: Default::default(),
            meta_word: Default::default(),
            row_start: Constant::new(row.0.to_bits()),
            row_words: Constant::new((row.0..row.1).fold(0u64, |words, word| words | 1 << word).to_bits()),
            meta_slot: slot(10),
            one_row: Constant::new(1u64.to_bits()),
            one_count: Constant::new(1u64.to_bits()),
            all_but_one: Constant::new(((1u64 << R) - 1).to_bits()),
        }
    }
}

impl<const W: usize, const L: usize, const R: usize, const RB: usize, const HR: usize, const BA: usize> Logic
    for HeadRam<W, L, R, RB, HR, BA>
{
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, count, full, write_row, read_row, blocked_before, kept, meta_row, meta);
        clock!(self, clock, ram);

        self.in_row.next = self.row_words.val().get_bit(self.word.val().index());
        // One lane: the row begins at word 8, since the count may still rise when word 5 comes.
        self.row_begins.next = self.first.val();
        for _i in L..2 {
            self.row_begins.next = self.valid.val() & (self.word.val() == self.row_start.val());
        }
        self.blocked_now.next = self.blocked_before.q.val();
        if self.row_begins.val() {
            self.blocked_now.next = self.full.q.val();
        }
        self.blocked_before.d.next = self.blocked_now.val();
        self.blocked.next = self.blocked_now.val();

        // The meta words. The payload's beat counts from the frame's.
        self.payload_beat.next = self.frame_beat.val() + bit_cast::<BA, 5>(self.payload_word.val());
        self.payload_high.next = false;
        for _i in 1..L {
            self.payload_beat.next = self.frame_beat.val() + bit_cast::<BA, 4>(self.payload_word.val().get_bits::<4>(1));
            self.payload_high.next = self.payload_word.val().get_bit(0);
        }
        // At two lanes.
        self.meta_10.next = bit_cast::<32, 14>(self.payload_length.val())
            | (bit_cast::<32, BA>(self.frame_beat.val()) << 14)
            | (bit_cast::<32, 2>(self.gid_index.val()) << 28)
            | (bit_cast::<32, 1>(self.meta_ipv6.val().into()) << 30)
            | (bit_cast::<32, 1>(self.marked.val().into()) << 31);
        self.meta_11.next = bit_cast::<32, BA>(self.payload_beat.val())
            | (bit_cast::<32, BA>(self.end_beat.val()) << 14)
            | (bit_cast::<32, 1>(self.payload_high.val().into()) << 28);
        self.meta_word.next = bit_cast::<W, 14>(self.payload_length.val())
            | (bit_cast::<W, 5>(self.payload_word.val()) << 14)
            | (bit_cast::<W, BA>(self.end_beat.val()) << 19);
        for _i in 1..L {
            self.meta_word.next = bit_cast::<W, 32>(self.meta_10.val()) | (bit_cast::<W, 32>(self.meta_11.val()) << 32);
        }
        self.kept.d.next = self.commit.val();
        self.meta.d.next = self.kept.q.val();

        self.slot.next = self.word.val().get_bits::<4>(0);
        for _i in 1..L {
            self.slot.next = self.word.val().get_bits::<4>(1);
        }
        self.ram.write_enable.next = self.valid.val() & self.in_row.val() & !self.blocked_now.val();
        self.ram.write_data.next = self.data.val();
        if self.meta.q.val() {
            self.slot.next = self.meta_slot.val();
            self.ram.write_enable.next = true;
            self.ram.write_data.next = self.meta_word.val();
        }
        self.row.next = self.write_row.q.val();
        for _i in 1..L {
            if self.meta.q.val() {
                self.row.next = self.meta_row.q.val();
            }
        }
        self.ram.write_address.next = bit_cast::<HR, 4>(self.slot.val()) | (bit_cast::<HR, R>(self.row.val()) << 4);
        self.ram.read_enable.next = true;
        self.ram.read_address.next = bit_cast::<HR, 4>(self.read_slot.val()) | (bit_cast::<HR, R>(self.read_row.q.val()) << 4);
        self.read_data.next = self.ram.read_data.val();

        // Rows. At one lane a row stays the writer's until its meta word is in.
        self.row_kept.next = self.kept.q.val();
        for _i in L..2 {
            self.row_kept.next = self.meta.q.val();
        }
        if self.row_kept.val() {
            self.meta_row.d.next = self.write_row.q.val();
            self.write_row.d.next = self.write_row.q.val() + self.one_row.val();
            if !self.done.val() {
                self.count.d.next = self.count.q.val() + self.one_count.val();
                self.full.d.next = self.count.q.val() == self.all_but_one.val();
            }
        } else {
            if self.done.val() {
                self.count.d.next = self.count.q.val() - self.one_count.val();
                self.full.d.next = false;
            }
        }
        if self.done.val() {
            self.read_row.d.next = self.read_row.q.val() + self.one_row.val();
        }
        self.waiting.next = self.count.q.val().any();

        if self.reset.val() {
            self.count.d.next = 0.into();
            self.full.d.next = false;
            self.write_row.d.next = 0.into();
            self.read_row.d.next = 0.into();
            self.blocked_before.d.next = false;
            self.kept.d.next = false;
            self.meta.d.next = false;
        }
    }

    crate::block_name!();
}
