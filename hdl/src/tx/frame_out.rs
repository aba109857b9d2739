// SPDX-License-Identifier: MIT OR Apache-2.0
//! Beats of words to bytes on the wire: appends the ICRC and drops the two bytes before the Ethernet header.
//!
//! ```text
//! in:   .. .. d0 d1 | d2 .. d5 | s0 .. s3 | ... | last word | (ICRC)         words; two bytes of nothing before the destination MAC
//! out:  d0 d1 d2 d3 | d4 d5 s0 s1 | ...         | w w i i   | i i            shifted by 2 bytes, or 6 where the first word is in lane 1
//! ```
//!
//! This is the inverse of `rx/align`: the Ethernet header travels in band, as the words before the IP header, so 14 and 18 bytes (R18)
//! need the same shift. The ICRC takes the lane after the last word, so it is one more word of the stream (R4, R5). Any packet may enter here: its
//! last word, pad included, may stand in either lane.
//! Latency: no register but the carried beat: a beat leaves when the next one comes. One beat a cycle; one or two cycles between frames.

use rust_hdl::prelude::*;

/// Frame builder for beats of `W` bits, `K` bytes, `L` words.
#[derive(LogicBlock)]
pub struct FrameOut<const W: usize, const K: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    /// The first beat may lack lane 0, the last beat lane 1.
    pub s_lane_valid: Signal<In, Bits<L>>,
    pub s_last: Signal<In, Bit>,
    pub s_valid: Signal<In, Bit>,
    pub s_ready: Signal<Out, Bit>,
    /// The frame's ICRC; needed with or after its last beat.
    pub crc: Signal<In, Bits<32>>,
    pub crc_valid: Signal<In, Bit>,
    /// One cycle: `crc` is used.
    pub crc_next: Signal<Out, Bit>,
    /// Bytes that `m_keep` leaves out hold anything.
    pub m_data: Signal<Out, Bits<W>>,
    pub m_keep: Signal<Out, Bits<K>>,
    pub m_last: Signal<Out, Bit>,
    pub m_valid: Signal<Out, Bit>,
    pub m_ready: Signal<In, Bit>,
    /// A frame is under way, whether or not it has a beat now: a register.
    pub begun: Signal<Out, Bit>,

    carry: DFF<Bits<W>>,
    started: DFF<Bit>,
    /// The frame began in lane 1: shift by 6 bytes.
    shift_six: DFF<Bit>,
    /// The last word is out, the ICRC is due.
    append: DFF<Bit>,
    /// Only bytes of the carried beat are left; six of them, or two.
    flush: DFF<Bit>,
    flush_six: DFF<Bit>,

    beat: Signal<Local, Bits<W>>,
    beat_valid: Signal<Local, Bit>,
    beat_full: Signal<Local, Bit>,
    beat_final: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    shift_up: Constant<Bits<7>>,
    keep_all: Constant<Bits<K>>,
    keep_two: Constant<Bits<K>>,
    keep_six: Constant<Bits<K>>,
    one_lane: Constant<Bit>,
}

impl<const W: usize, const K: usize, const L: usize> Default for FrameOut<W, K, L> {
    fn default() -> Self {
        assert!(
            W == 32 * L && W == 8 * K && (L == 1 || L == 2),
            "FrameOut: W must be 32 * L and 8 * K, L 1 or 2"
        );
        let all = (1u64 << K) - 1;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_lane_valid: Default::default(),
            s_last: Default::default(),
            s_valid: Default::default(),
            s_ready: Default::default(),
            crc: Default::default(),
            crc_valid: Default::default(),
            crc_next: Default::default(),
            m_data: Default::default(),
            m_keep: Default::default(),
            m_last: Default::default(),
            m_valid: Default::default(),
            m_ready: Default::default(),
            begun: Default::default(),
            carry: Default::default(),
            started: Default::default(),
            shift_six: Default::default(),
            append: Default::default(),
            flush: Default::default(),
            flush_six: Default::default(),
            beat: Default::default(),
            beat_valid: Default::default(),
            beat_full: Default::default(),
            beat_final: Default::default(),
            fits: Default::default(),
            room: Default::default(),
            taken: Default::default(),
            shift_up: Constant::new((W as u64 - 16).to_bits()),
            keep_all: Constant::new(all.to_bits()),
            keep_two: Constant::new(0b11u64.to_bits()),
            keep_six: Constant::new((0b11_1111 & all).to_bits()),
            one_lane: Constant::new(L == 1),
        }
    }
}

impl<const W: usize, const K: usize, const L: usize> Logic for FrameOut<W, K, L> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, carry, started, shift_six, append, flush, flush_six);

        // The next beat of words, the ICRC's included.
        self.beat.next = self.s_data.val();
        self.beat_valid.next = self.s_valid.val();
        self.beat_full.next = true;
        self.beat_final.next = false;
        for i in 1..L {
            if self.s_last.val() & !self.s_lane_valid.val().get_bit(i) {
                self.beat.next = bit_cast::<W, 32>(self.s_data.val().get_bits::<32>(0)) | (bit_cast::<W, 32>(self.crc.val()) << 32);
                self.beat_valid.next = self.s_valid.val() & self.crc_valid.val();
                self.beat_final.next = true;
            }
        }
        if self.append.q.val() {
            self.beat.next = bit_cast::<W, 32>(self.crc.val());
            self.beat_valid.next = self.crc_valid.val();
            self.beat_full.next = self.one_lane.val();
            self.beat_final.next = true;
        }
        self.fits.next = self.beat_final.val() & self.shift_six.q.val() & !self.beat_full.val();

        // Room for a beat: the carried one leaves, or there is none.
        self.room.next = !self.flush.q.val() & (self.m_ready.val() | !self.started.q.val());
        self.taken.next = self.beat_valid.val() & self.room.val();
        self.s_ready.next = self.room.val() & !self.append.q.val() & (!self.beat_final.val() | self.crc_valid.val());
        self.crc_next.next = self.taken.val() & self.beat_final.val();

        self.begun.next = self.started.q.val();

        // Bytes out.
        self.m_valid.next = self.flush.q.val() | (self.started.q.val() & self.beat_valid.val());
        self.m_last.next = self.flush.q.val() | self.fits.val();
        self.m_data.next = (self.carry.q.val() >> 16) | (self.beat.val() << self.shift_up.val());
        self.m_keep.next = self.keep_all.val();
        if self.fits.val() | self.flush_six.q.val() {
            self.m_keep.next = self.keep_six.val();
        }
        if self.flush.q.val() & !self.flush_six.q.val() {
            self.m_keep.next = self.keep_two.val();
        }
        for _i in 1..L {
            if self.shift_six.q.val() {
                self.m_data.next = (self.carry.q.val() >> 48) | (self.beat.val() << 16);
            }
        }

        if self.taken.val() {
            self.carry.d.next = self.beat.val();
            self.started.d.next = true;
            self.append.d.next = self.s_last.val() & !self.append.q.val() & !self.beat_final.val();
            if self.beat_final.val() {
                self.append.d.next = false;
                self.flush.d.next = !self.fits.val();
                self.started.d.next = !self.fits.val();
            }
        }
        for _i in 1..L {
            if self.taken.val() {
                self.flush_six.d.next = self.beat_final.val() & self.beat_full.val() & !self.shift_six.q.val();
                if !self.started.q.val() {
                    self.shift_six.d.next = !self.s_lane_valid.val().get_bit(0);
                }
            }
        }
        if self.flush.q.val() & self.m_ready.val() {
            self.flush.d.next = false;
            self.started.d.next = false;
            self.flush_six.d.next = false;
        }

        if self.reset.val() {
            self.started.d.next = false;
            self.append.d.next = false;
            self.flush.d.next = false;
            self.flush_six.d.next = false;
        }
    }

    crate::block_name!();
}
