// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packet's words for `tx` (docs/stations/requester.md), each chosen by an item of the segmenter's program.
//!
//! ```text
//! item, last ─► step 1 ─► step 2 ─┬─► register ─► word, last, valid ─► ready
//! WQE word, row word (PacedRam) ──┘          └─► advance: everything moves by one step
//! ```
//!
//! What is no word of WQE or row is formed in step 1, and so is the choice: in step 2 a word comes from one of four places, without decoding.
//! Items move in step with the reads of the store, so an item meets the word that was asked for with it. The last word waits until the packet's
//! read jobs have been taken. A remote address is summed one item before it is a word: carry with `Word1`, upper half with `Psn`, lower half with `High`.

use rust_hdl::prelude::*;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum WireItem {
    Nothing,
    Word0,
    Word1,
    Psn,
    /// A WQE word as it stands.
    Stored,
    /// The same, with zeros behind the payload's end.
    Inline,
    /// The sum as it stood when the item before was there.
    High,
    Low,
    Length,
    /// Our QPN.
    Source,
}

#[derive(LogicBlock, Default)]
pub struct WireWords<const QA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub item: Signal<In, WireItem>,
    pub last: Signal<In, Bit>,
    /// The FSM stands still: nothing moves.
    pub stand: Signal<In, Bit>,
    /// The last word must wait: a key is being checked, or a job isn't offered yet. The packet is not to be sent after all.
    pub hold_last: Signal<In, Bit>,
    pub abandon: Signal<In, Bit>,
    pub advance: Signal<Out, Bit>,
    /// No word is under way; none but one that is formed; no formed one is.
    pub flushed: Signal<Out, Bit>,
    pub clear: Signal<Out, Bit>,
    pub gone: Signal<Out, Bit>,
    /// The sum's carry is wanted (with `Word1`). In the next cycle the sum must be that of the upper half (with `Psn`).
    pub carry: Signal<Out, Bit>,
    pub high_next: Signal<Out, Bit>,
    // What the words are made of.
    pub index: Signal<In, Bits<QA>>,
    pub datagram: Signal<In, Bit>,
    /// The payload comes from memory; it stands in the WQE.
    pub from_memory: Signal<In, Bit>,
    pub inline_data: Signal<In, Bit>,
    pub bytes: Signal<In, Bits<14>>,
    pub extension: Signal<In, Bits<3>>,
    pub opcode: Signal<In, Bits<8>>,
    pub solicited: Signal<In, Bit>,
    pub ack_request: Signal<In, Bit>,
    pub psn: Signal<In, Bits<24>>,
    pub remaining: Signal<In, Bits<32>>,
    pub sum: Signal<In, Bits<32>>,
    pub wqe_word: Signal<In, Bits<32>>,
    pub row_word: Signal<In, Bits<32>>,
    pub packet_word: Signal<Out, Bits<32>>,
    pub packet_last: Signal<Out, Bit>,
    pub packet_abandon: Signal<Out, Bit>,
    pub packet_valid: Signal<Out, Bit>,
    pub packet_ready: Signal<In, Bit>,
    soon: DFF<WireItem>,
    soon_last: DFF<Bit>,
    soon_wordy: DFF<Bit>,
    now_last: DFF<Bit>,
    /// The item in step 2 is a word, as the one in step 1 is with `soon_wordy`.
    wordy: DFF<Bit>,
    /// Where it comes from: bytes of the WQE word, `half`, the row word's QPN. What comes from none of them is `formed`, else that is 0.
    stored_bytes: DFF<Bits<4>>,
    from_half: DFF<Bit>,
    from_row: DFF<Bit>,
    formed: DFF<Bits<32>>,
    /// It is `Word1`; `Psn`.
    at_word1: DFF<Bit>,
    at_psn: DFF<Bit>,
    /// A half of the remote address, for the item that comes next.
    half: DFF<Bits<32>>,
    out: DFF<Bits<32>>,
    out_last: DFF<Bit>,
    out_abandon: DFF<Bit>,
    out_valid: DFF<Bit>,
    /// A word that came while `out` waited: so nothing inside depends on `packet_ready`.
    spare: DFF<Bits<32>>,
    spare_last: DFF<Bit>,
    spare_abandon: DFF<Bit>,
    spare_valid: DFF<Bit>,
    enters: Signal<Local, Bit>,
    leaving: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    word: Signal<Local, Bits<32>>,
    moving: Signal<Local, Bit>,
    word0: Signal<Local, Bits<32>>,
    word1: Signal<Local, Bits<32>>,
    /// Of a packet's first words, what comes through its opcode: a cycle behind the facts, which stand from its start on.
    head_bits: DFF<Bits<11>>,
    extension_kept: DFF<Bits<3>>,
    /// Of an inline payload's last word, the bytes that count.
    tail_bytes: Signal<Local, Bits<4>>,
    byte0: Signal<Local, Bits<32>>,
    byte1: Signal<Local, Bits<32>>,
    byte2: Signal<Local, Bits<32>>,
    byte3: Signal<Local, Bits<32>>,
    half_now: Signal<Local, Bits<32>>,
    row_now: Signal<Local, Bits<32>>,
}

impl<const QA: usize> Logic for WireWords<QA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            soon,
            soon_last,
            soon_wordy,
            now_last,
            wordy,
            stored_bytes,
            from_half,
            from_row,
            formed,
            at_word1,
            at_psn,
            half,
            head_bits,
            extension_kept,
            out,
            out_last,
            out_abandon,
            out_valid,
            spare,
            spare_last,
            spare_abandon,
            spare_valid
        );

        self.word0.next = bit_cast::<32, QA>(self.index.val())
            | (bit_cast::<32, 1>(self.datagram.val().into()) << 12)
            | (bit_cast::<32, 1>(self.from_memory.val().into()) << 13)
            | (bit_cast::<32, 3>(self.extension_kept.q.val()) << 28);
        if self.from_memory.val() | self.inline_data.val() {
            self.word0.next = bit_cast::<32, QA>(self.index.val())
                | (bit_cast::<32, 1>(self.datagram.val().into()) << 12)
                | (bit_cast::<32, 1>(self.from_memory.val().into()) << 13)
                | (bit_cast::<32, 14>(self.bytes.val()) << 14)
                | (bit_cast::<32, 3>(self.extension_kept.q.val()) << 28);
        }
        self.extension_kept.d.next = self.extension.val();
        self.head_bits.d.next = bit_cast::<11, 8>(self.opcode.val())
            | (bit_cast::<11, 1>(self.solicited.val().into()) << 8)
            | (bit_cast::<11, 1>(self.ack_request.val().into()) << 9)
            | (bit_cast::<11, 1>(self.inline_data.val().into()) << 10);
        self.word1.next = bit_cast::<32, 11>(self.head_bits.q.val());

        self.tail_bytes.next = 15.into();
        if self.bytes.val().get_bits::<2>(0) == 1 {
            self.tail_bytes.next = 1.into();
        }
        if self.bytes.val().get_bits::<2>(0) == 2 {
            self.tail_bytes.next = 3.into();
        }
        if self.bytes.val().get_bits::<2>(0) == 3 {
            self.tail_bytes.next = 7.into();
        }

        // Step 2.
        self.byte0.next = 0.into();
        self.byte1.next = 0.into();
        self.byte2.next = 0.into();
        self.byte3.next = 0.into();
        self.half_now.next = 0.into();
        self.row_now.next = 0.into();
        if self.stored_bytes.q.val().get_bit(0) {
            self.byte0.next = self.wqe_word.val() & 0xff;
        }
        if self.stored_bytes.q.val().get_bit(1) {
            self.byte1.next = self.wqe_word.val() & 0xff00;
        }
        if self.stored_bytes.q.val().get_bit(2) {
            self.byte2.next = self.wqe_word.val() & 0xff_0000;
        }
        if self.stored_bytes.q.val().get_bit(3) {
            self.byte3.next = self.wqe_word.val() & 0xff00_0000_u64;
        }
        if self.from_half.q.val() {
            self.half_now.next = self.half.q.val();
        }
        if self.from_row.q.val() {
            self.row_now.next = bit_cast::<32, 12>(self.row_word.val().get_bits::<12>(20)) << 12;
        }
        self.word.next = self.formed.q.val()
            | self.byte0.val()
            | self.byte1.val()
            | self.byte2.val()
            | self.byte3.val()
            | self.half_now.val()
            | self.row_now.val();

        self.free.next = !self.spare_valid.q.val() & !(self.now_last.q.val() & self.hold_last.val());
        self.moving.next = !self.stand.val() & (!self.wordy.q.val() | self.free.val());
        self.advance.next = self.moving.val();
        self.high_next.next = self.at_psn.q.val();
        self.enters.next = self.moving.val() & self.wordy.q.val();
        self.leaving.next = !self.out_valid.q.val() | self.packet_ready.val();
        if self.leaving.val() {
            self.out_valid.d.next = self.spare_valid.q.val() | self.enters.val();
            self.out.d.next = self.spare.q.val();
            self.out_last.d.next = self.spare_last.q.val();
            self.out_abandon.d.next = self.spare_abandon.q.val();
            self.spare_valid.d.next = false;
            if !self.spare_valid.q.val() {
                self.out.d.next = self.word.val();
                self.out_last.d.next = self.now_last.q.val();
                self.out_abandon.d.next = self.now_last.q.val() & self.abandon.val();
            }
        } else {
            if self.enters.val() {
                self.spare_valid.d.next = true;
            }
        }
        if !self.spare_valid.q.val() {
            self.spare.d.next = self.word.val();
            self.spare_last.d.next = self.now_last.q.val();
            self.spare_abandon.d.next = self.now_last.q.val() & self.abandon.val();
        }
        if self.moving.val() {
            self.soon.d.next = self.item.val();
            self.soon_last.d.next = self.last.val();
            self.soon_wordy.d.next = self.item.val() != WireItem::Nothing;
            self.wordy.d.next = self.soon_wordy.q.val();
            self.now_last.d.next = self.soon_last.q.val();
            self.at_word1.d.next = self.soon.q.val() == WireItem::Word1;
            self.at_psn.d.next = self.soon.q.val() == WireItem::Psn;
            self.high_next.next = self.soon.q.val() == WireItem::Psn;
            self.half.d.next = self.sum.val();
            self.stored_bytes.d.next = 0.into();
            self.from_half.d.next = false;
            self.from_row.d.next = false;
            self.formed.d.next = 0.into();
            match self.soon.q.val() {
                WireItem::Word0 => {
                    self.formed.d.next = self.word0.val();
                }
                WireItem::Word1 => {
                    self.formed.d.next = self.word1.val();
                }
                WireItem::Psn => {
                    self.formed.d.next = bit_cast::<32, 24>(self.psn.val());
                }
                WireItem::Stored => {
                    self.stored_bytes.d.next = 15.into();
                }
                WireItem::Inline => {
                    self.stored_bytes.d.next = 15.into();
                    if self.soon_last.q.val() {
                        self.stored_bytes.d.next = self.tail_bytes.val();
                    }
                }
                WireItem::High => {
                    self.from_half.d.next = true;
                }
                WireItem::Low => {
                    self.from_half.d.next = true;
                }
                WireItem::Length => {
                    self.formed.d.next = self.remaining.val();
                }
                WireItem::Source => {
                    self.formed.d.next = bit_cast::<32, QA>(self.index.val());
                    self.from_row.d.next = true;
                }
                _ => {}
            }
        }
        self.clear.next = !self.soon_wordy.q.val() & !self.wordy.q.val();
        self.flushed.next = self.clear.val() & !self.out_valid.q.val();
        self.gone.next = !self.out_valid.q.val();
        self.carry.next = self.at_word1.q.val();

        self.packet_word.next = self.out.q.val();
        self.packet_last.next = self.out_last.q.val();
        self.packet_abandon.next = self.out_abandon.q.val();
        self.packet_valid.next = self.out_valid.q.val();

        if self.reset.val() {
            self.soon.d.next = WireItem::Nothing;
            self.soon_wordy.d.next = false;
            self.wordy.d.next = false;
            self.at_word1.d.next = false;
            self.at_psn.d.next = false;
            self.out_valid.d.next = false;
            self.spare_valid.d.next = false;
        }
    }

    crate::block_name!();
}
