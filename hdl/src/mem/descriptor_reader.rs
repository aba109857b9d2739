// SPDX-License-Identifier: MIT OR Apache-2.0
//! Descriptor reader: fetches the 16 useful bytes of a receive WQE over AXI.
//!
//! ```text
//! fetch_* ─► one AR of 128/W beats ─► R beats ─► fetch_word0..3, fetch_done
//! ```
//!
//! `fetch_start` may be a pulse or held until `fetch_done`; the words stay until the next start, and `fetch_next` turns them by one (four make a round). Latency: 1 cycle to AR, 1 after the last R beat.
//! The address is aligned to 16, so that the burst can't cross 4 KiB. An error on any beat is `fetch_error` (R69). The shell matches IDs.
//! A small engine keeps of the length what its memory can hold, and of the L_Key the index and the tag; any bit beyond shows as bit 31.

use rust_hdl::prelude::*;
use verbena_spec::config::Config;

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
    beat: DFF<Bits<2>>,
    word0: DFF<Bits<32>>,
    word1: DFF<Bits<32>>,
    word2: DFF<Bits<32>>,
    word3: DFF<Bits<32>>,
    take: Signal<Local, Bit>,
    lower: Signal<Local, Bits<32>>,
    upper: Signal<Local, Bits<32>>,
    aligned: Constant<Bits<64>>,
    beats: Constant<Bits<8>>,
    upper_lane: Constant<Bits<8>>,
    beat1: Constant<Bits<2>>,
    beat2: Constant<Bits<2>>,
    beat3: Constant<Bits<2>>,
    length_mask: Constant<Bits<32>>,
    key_mask: Constant<Bits<32>>,
    beyond: Constant<Bits<32>>,
}

impl<const W: usize> DescriptorReader<W> {
    pub fn new(config: &Config) -> Self {
        assert!(
            (W == 32 || W == 64) && W == config.data_bits,
            "DescriptorReader: W must be 32 or 64"
        );
        let (length, key) = if config.small() {
            (config.address_mask() << 1 | 1, config.n_mrs as u64 * 256 - 1)
        } else {
            (0xffff_ffff, 0xffff_ffff)
        };
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
            beat: Default::default(),
            word0: Default::default(),
            word1: Default::default(),
            word2: Default::default(),
            word3: Default::default(),
            take: Default::default(),
            lower: Default::default(),
            upper: Default::default(),
            aligned: Constant::new((config.address_mask() & !15).to_bits()),
            beats: Constant::new((128 / W - 1).to_bits()),
            upper_lane: Constant::new((W - 32).to_bits()),
            beat1: Constant::new((32 / W).to_bits()),
            beat2: Constant::new((64 / W).to_bits()),
            beat3: Constant::new((96 / W).to_bits()),
            length_mask: Constant::new(length.to_bits()),
            key_mask: Constant::new(key.to_bits()),
            beyond: Constant::new(0x8000_0000_u64.to_bits()),
        }
    }
}

impl<const W: usize> Logic for DescriptorReader<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, address, asking, waiting, done, error, beat, word0, word1, word2, word3);

        self.done.d.next = false;
        if self.fetch_start.val() & !self.asking.q.val() & !self.waiting.q.val() & !self.done.q.val() {
            self.address.d.next = self.fetch_address.val() & self.aligned.val();
            self.asking.d.next = true;
            self.waiting.d.next = true;
            self.error.d.next = false;
            self.beat.d.next = 0.into();
        }
        if self.m_ar_ready.val() {
            if self.asking.q.val() {
                self.asking.d.next = false;
            }
        }
        if self.fetch_next.val() {
            self.word0.d.next = self.word1.q.val();
            self.word1.d.next = self.word2.q.val();
            self.word2.d.next = self.word3.q.val();
            self.word3.d.next = self.word0.q.val();
        }
        if self.waiting.q.val() & self.r_valid.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            self.error.d.next = self.error.q.val() | self.r_response.val().get_bit(1);
            if self.r_last.val() {
                self.waiting.d.next = false;
                self.done.d.next = true;
            }
        }

        // Word i comes in beat 32·i/W, in the lane i mod W/32.
        self.take.next = self.waiting.q.val() & self.r_valid.val();
        self.lower.next = self.r_data.val().get_bits::<32>(0);
        self.upper.next = self.r_data.val().get_bits::<32>(self.upper_lane.val().index());
        if self.take.val() & !self.beat.q.val().any() {
            self.word0.d.next = self.lower.val();
        }
        if self.take.val() & (self.beat.q.val() == self.beat1.val()) {
            self.word1.d.next = self.upper.val();
        }
        if self.take.val() & (self.beat.q.val() == self.beat2.val()) {
            self.word2.d.next = self.lower.val() & self.length_mask.val();
            if (self.lower.val() & !self.length_mask.val()).any() {
                self.word2.d.next = (self.lower.val() & self.length_mask.val()) | self.beyond.val();
            }
        }
        if self.take.val() & (self.beat.q.val() == self.beat3.val()) {
            self.word3.d.next = self.upper.val() & self.key_mask.val();
            if (self.upper.val() & !self.key_mask.val()).any() {
                self.word3.d.next = (self.upper.val() & self.key_mask.val()) | self.beyond.val();
            }
        }

        self.m_ar_address.next = self.address.q.val();
        self.m_ar_length.next = self.beats.val();
        self.m_ar_valid.next = self.asking.q.val();
        self.r_ready.next = self.waiting.q.val();
        self.fetch_done.next = self.done.q.val();
        self.fetch_error.next = self.error.q.val();
        self.fetch_word0.next = self.word0.q.val();
        self.fetch_word1.next = self.word1.q.val();
        self.fetch_word2.next = self.word2.q.val();
        self.fetch_word3.next = self.word3.q.val();

        if self.reset.val() {
            self.asking.d.next = false;
            self.waiting.d.next = false;
            self.done.d.next = false;
            self.m_ar_valid.next = false;
        }
    }

    crate::block_name!();
}
