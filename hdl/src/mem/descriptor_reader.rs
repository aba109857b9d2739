// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptor reader: fetches the 16 useful bytes of a receive WQE over AXI.
//!
//! ```text
//! fetch_* ─► one AR of 128/W beats ─► R beats shifted in ─► fetch_word0..3, fetch_done
//! ```
//!
//! `fetch_start` may be a pulse or held until `fetch_done`; the words stay until the next start, and `fetch_next` turns them by one (four make a round). Latency: 1 cycle to AR, 1 after the last R beat.
//! The address is aligned to 16, so that the burst can't cross 4 KiB. An error on any beat is `fetch_error` (R69). The shell matches IDs.

use rust_hdl::prelude::*;

/// Reads 16 bytes through a bus of `W` bits.
#[derive(LogicBlock)]
pub struct DescriptorReader<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fetch_start: Signal<In, Bit>,
    pub fetch_address: Signal<In, Bits<64>>,
    pub fetch_done: Signal<Out, Bit>,
    pub fetch_error: Signal<Out, Bit>,
    /// Word 1 becomes word 0, and word 0 word 3. Not while a fetch runs.
    pub fetch_next: Signal<In, Bit>,
    pub fetch_word0: Signal<Out, Bits<32>>,
    pub fetch_word1: Signal<Out, Bits<32>>,
    pub fetch_word2: Signal<Out, Bits<32>>,
    pub fetch_word3: Signal<Out, Bits<32>>,
    pub m_ar_address: Signal<Out, Bits<64>>,
    pub m_ar_length: Signal<Out, Bits<8>>,
    pub m_ar_valid: Signal<Out, Bit>,
    pub m_ar_ready: Signal<In, Bit>,
    pub r_data: Signal<In, Bits<W>>,
    pub r_response: Signal<In, Bits<2>>,
    pub r_last: Signal<In, Bit>,
    pub r_valid: Signal<In, Bit>,
    pub r_ready: Signal<Out, Bit>,
    address: DFF<Bits<64>>,
    asking: DFF<Bit>,
    waiting: DFF<Bit>,
    done: DFF<Bit>,
    error: DFF<Bit>,
    words: DFF<Bits<128>>,
    aligned: Constant<Bits<64>>,
    beats: Constant<Bits<8>>,
    down: Constant<Bits<8>>,
    up: Constant<Bits<8>>,
}

impl<const W: usize> Default for DescriptorReader<W> {
    fn default() -> Self {
        assert!(W == 32 || W == 64, "DescriptorReader: W must be 32 or 64");
        Self {
            clock: Default::default(),
            reset: Default::default(),
            fetch_start: Default::default(),
            fetch_address: Default::default(),
            fetch_done: Default::default(),
            fetch_error: Default::default(),
            fetch_next: Default::default(),
            fetch_word0: Default::default(),
            fetch_word1: Default::default(),
            fetch_word2: Default::default(),
            fetch_word3: Default::default(),
            m_ar_address: Default::default(),
            m_ar_length: Default::default(),
            m_ar_valid: Default::default(),
            m_ar_ready: Default::default(),
            r_data: Default::default(),
            r_response: Default::default(),
            r_last: Default::default(),
            r_valid: Default::default(),
            r_ready: Default::default(),
            address: Default::default(),
            asking: Default::default(),
            waiting: Default::default(),
            done: Default::default(),
            error: Default::default(),
            words: Default::default(),
            aligned: Constant::new((!15u64).to_bits()),
            beats: Constant::new((128 / W - 1).to_bits()),
            down: Constant::new(W.to_bits()),
            up: Constant::new((128 - W).to_bits()),
        }
    }
}

impl<const W: usize> Logic for DescriptorReader<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, address, asking, waiting, done, error, words);

        self.done.d.next = false;
        if self.fetch_start.val() & !self.asking.q.val() & !self.waiting.q.val() & !self.done.q.val() {
            self.address.d.next = self.fetch_address.val() & self.aligned.val();
            self.asking.d.next = true;
            self.waiting.d.next = true;
            self.error.d.next = false;
        }
        if self.m_ar_ready.val() {
            if self.asking.q.val() {
                self.asking.d.next = false;
            }
        }
        if self.fetch_next.val() {
            self.words.d.next = (self.words.q.val() >> 32) | (bit_cast::<128, 32>(self.words.q.val().get_bits::<32>(0)) << 96);
        }
        if self.waiting.q.val() & self.r_valid.val() {
            // The first beat ends up lowest.
            self.words.d.next = (self.words.q.val() >> self.down.val()) | (bit_cast::<128, W>(self.r_data.val()) << self.up.val());
            self.error.d.next = self.error.q.val() | self.r_response.val().get_bit(1);
            if self.r_last.val() {
                self.waiting.d.next = false;
                self.done.d.next = true;
            }
        }

        self.m_ar_address.next = self.address.q.val();
        self.m_ar_length.next = self.beats.val();
        self.m_ar_valid.next = self.asking.q.val();
        self.r_ready.next = self.waiting.q.val();
        self.fetch_done.next = self.done.q.val();
        self.fetch_error.next = self.error.q.val();
        self.fetch_word0.next = self.words.q.val().get_bits::<32>(0);
        self.fetch_word1.next = self.words.q.val().get_bits::<32>(32);
        self.fetch_word2.next = self.words.q.val().get_bits::<32>(64);
        self.fetch_word3.next = self.words.q.val().get_bits::<32>(96);

        if self.reset.val() {
            self.asking.d.next = false;
            self.waiting.d.next = false;
            self.done.d.next = false;
            self.m_ar_valid.next = false;
        }
    }

    crate::block_name!();
}
