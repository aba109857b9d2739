// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets the bytes that may change on the way to ones before the ICRC sees them (R2, R3).
//!
//! ```text
//! word 0   IPv6 traffic class, flow label      word 5   IPv4 ToS
//! word 1   IPv6 hop limit                      word 7   IPv4 TTL, header checksum
//! word 11  UDP checksum                        word 13  BTH byte 4 (FECN, BECN, resv6)
//! ```
//!
//! `S` = 2: one register stage, everything that goes with a beat comes out one cycle later; `S` = 1: none, in the same cycle. IPv4 words 0-4 are no part of the packet; the caller says
//! so with `lane_valid`, which, like `first` and `last`, passes through to `Icrc`.

use rust_hdl::prelude::*;

/// Bits of `word` of a packet in aligned coordinates that the ICRC takes as ones; byte 0 is the lowest.
pub fn variant_bytes(word: usize, ipv6: bool) -> u32 {
    match (word, ipv6) {
        (0, true) => 0xffff_ff0f,
        (1, true) => 0xff00_0000,
        (5, false) => 0x0000_ff00,
        (7, false) => 0xffff_00ff,
        (11, _) => 0xffff_0000,
        (13, _) => 0x0000_00ff,
        _ => 0,
    }
}

/// Beats of a packet that have such bytes, at most.
const BEATS: usize = 6;
/// Words of the headers that `variant_bytes` knows.
const WORDS: usize = 14;

/// Mask stage for beats of `W` bits, `L = W / 32` words each; `S` 2: registered, 1: not.
#[derive(LogicBlock)]
pub struct IcrcMask<const W: usize, const L: usize, const S: usize = 2> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    /// Aligned number of the beat's first word.
    pub s_word: Signal<In, Bits<12>>,
    pub s_lane_valid: Signal<In, Bits<L>>,
    pub s_valid: Signal<In, Bit>,
    pub s_first: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub m_data: Signal<Out, Bits<W>>,
    pub m_lane_valid: Signal<Out, Bits<L>>,
    pub m_valid: Signal<Out, Bit>,
    pub m_first: Signal<Out, Bit>,
    pub m_last: Signal<Out, Bit>,
    data: DFF<Bits<W>>,
    lane_valid: DFF<Bits<L>>,
    valid: DFF<Bit>,
    first: DFF<Bit>,
    last: DFF<Bit>,
    ones: Signal<Local, Bits<W>>,
    /// The beats' first words; unused entries hold a word that no beat begins with.
    at: [Constant<Bits<12>>; 6],
    ones_ipv4: [Constant<Bits<W>>; 6],
    ones_ipv6: [Constant<Bits<W>>; 6],
}

impl<const W: usize, const L: usize, const S: usize> Default for IcrcMask<W, L, S> {
    fn default() -> Self {
        assert!(W == 32 * L && (L == 1 || L == 2), "IcrcMask: W must be 32 * L, L 1 or 2");
        let beat =
            |word: usize, ipv6: bool| (0..L).fold(0u64, |beat, lane| beat | (variant_bytes(word + lane, ipv6) as u64) << (32 * lane));
        let mut beats: Vec<usize> = (0..WORDS)
            .step_by(L)
            .filter(|w| beat(*w, false) != 0 || beat(*w, true) != 0)
            .collect();
        beats.resize(BEATS, 0xfff);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_word: Default::default(),
            s_lane_valid: Default::default(),
            s_valid: Default::default(),
            s_first: Default::default(),
            s_last: Default::default(),
            ipv6: Default::default(),
            m_data: Default::default(),
            m_lane_valid: Default::default(),
            m_valid: Default::default(),
            m_first: Default::default(),
            m_last: Default::default(),
            data: Default::default(),
            lane_valid: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            ones: Default::default(),
            at: std::array::from_fn(|k| Constant::new(beats[k].to_bits())),
            ones_ipv4: std::array::from_fn(|k| Constant::new(beat(beats[k], false).to_bits())),
            ones_ipv6: std::array::from_fn(|k| Constant::new(beat(beats[k], true).to_bits())),
        }
    }
}

impl<const W: usize, const L: usize, const S: usize> Logic for IcrcMask<W, L, S> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, data, lane_valid, valid, first, last);

        self.ones.next = 0.into();
        for k in 0..6 {
            if self.s_word.val() == self.at[k].val() {
                self.ones.next = self.ones_ipv4[k].val();
                if self.ipv6.val() {
                    self.ones.next = self.ones_ipv6[k].val();
                }
            }
        }
        self.data.d.next = self.s_data.val() | self.ones.val();
        self.lane_valid.d.next = self.s_lane_valid.val();
        self.valid.d.next = self.s_valid.val();
        self.first.d.next = self.s_first.val();
        self.last.d.next = self.s_last.val();
        self.m_data.next = self.data.q.val();
        self.m_lane_valid.next = self.lane_valid.q.val();
        self.m_valid.next = self.valid.q.val();
        self.m_first.next = self.first.q.val();
        self.m_last.next = self.last.q.val();
        for _i in S..2 {
            self.m_data.next = self.s_data.val() | self.ones.val();
            self.m_lane_valid.next = self.s_lane_valid.val();
            self.m_valid.next = self.s_valid.val();
            self.m_first.next = self.s_first.val();
            self.m_last.next = self.s_last.val();
        }

        if self.reset.val() {
            self.valid.d.next = false;
        }
    }

    crate::block_name!();
}
