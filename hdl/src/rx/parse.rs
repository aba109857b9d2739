// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watches the aligned words and keeps what the verdict and the head need.
//!
//! ```text
//! record ─► IPv4: version, IHL, fragment, protocol, checksum ─► ours, fragment   2 cycles after the record of word 10
//!        ─► IPv6: version, next header                  GIDs ┘
//!        ─► UDP length ─► words left ─► the mask's beats on their way to the ICRC
//!        ─► opcode ─► table ─► payload length, first payload word              5 cycles after the record of word 12 (32 bits: 1)
//! ```
//!
//! Lengths are counted in words of `BA` bits: no frame has so many, so that a greater UDP length (`udp_long`) is a wrong one by itself.
//! Nothing is cleared between frames: who reads knows from `align`'s `raw_reached` that every word up to 15 came with this frame. What the verdict
//! reads is written only by words 10 to 12, so it stands while the next frame begins.

use crate::wire::OpcodeTable;
use rust_hdl::prelude::*;

const PORT_ROCE: u16 = 4791;
const PROTOCOL_UDP: u8 = 17;
/// Words of the IPv4 header, which the total length counts.
const IPV4_HEADER: u64 = 5;
/// Words of UDP header, BTH and ICRC.
const UDP_BTH_ICRC: u64 = 6;
/// Words that the IP length must count, for extension words + 8 where there is padding + 16 for IPv6 (where it doesn't count the header).
fn need_words(index: u64) -> u64 {
    let header = if index >> 4 == 1 { 0 } else { IPV4_HEADER };
    header + UDP_BTH_ICRC + (index & 7) + (index >> 3 & 1)
}

/// First word after the BTH.
const EXTENSION: u64 = 15;

/// Parser for beats of `W` bits, `L` words each; `G` GID entries; a packet has fewer than `2^(BA - 1)` words.
#[derive(LogicBlock)]
pub struct Parse<const W: usize, const L: usize, const G: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub data: Signal<In, Bits<W>>,
    pub word: Signal<In, Bits<5>>,
    pub valid: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub ipv6: Signal<In, Bit>,
    pub gid_valid: Signal<In, Bits<4>>,
    pub gid_ipv6: Signal<In, Bits<4>>,
    pub gid: Signal<In, Bits<512>>,

    /// A UDP packet to port 4791 at one of our GIDs (not checked: Ethernet, lengths, header checksum).
    pub ours: Signal<Out, Bit>,
    /// It would be, but is a fragment or has IP options (R15).
    pub fragment: Signal<Out, Bit>,
    pub bad_checksum: Signal<Out, Bit>,
    pub bad_length: Signal<Out, Bit>,
    pub bad_opcode: Signal<Out, Bit>,
    pub bad_tver: Signal<Out, Bit>,
    pub cnp: Signal<Out, Bit>,
    /// ECN: congestion experienced.
    pub marked: Signal<Out, Bit>,
    pub payload_length: Signal<Out, Bits<14>>,
    /// Aligned word of the first payload byte.
    pub payload_word: Signal<Out, Bits<5>>,
    pub gid_index: Signal<Out, Bits<2>>,
    pub is_ipv6: Signal<Out, Bit>,

    /// The mask stage's beat, and what the ICRC shall make of it.
    pub masked_valid: Signal<In, Bit>,
    pub masked_lanes: Signal<In, Bits<L>>,
    pub icrc_valid: Signal<Out, Bit>,
    pub icrc_lanes: Signal<Out, Bits<L>>,
    pub icrc_last: Signal<Out, Bit>,

    opcodes: OpcodeTable,
    version: DFF<Bit>,
    plain: DFF<Bit>,
    no_port: DFF<Bit>,
    udp: DFF<Bit>,
    port: DFF<Bit>,
    hit: [DFF<Bit>; G],
    same_6: [DFF<Bit>; G],
    same_7: [DFF<Bit>; G],
    same_8: [DFF<Bit>; G],
    same_9: [DFF<Bit>; G],
    was_6: DFF<Bit>,
    was_7: DFF<Bit>,
    was_8: DFF<Bit>,
    was_9: DFF<Bit>,
    was_ipv6: DFF<Bit>,
    ip_words: DFF<Bits<BA>>,
    ip_long: DFF<Bit>,
    pair_low: DFF<Bits<17>>,
    pair_high: DFF<Bits<17>>,
    pair_valid: DFF<Bit>,
    sum: DFF<Bits<20>>,
    checksum_wrong: DFF<Bit>,
    udp_end: DFF<Bits<BA>>,
    udp_ragged: DFF<Bit>,
    udp_long: DFF<Bit>,
    over_ip: DFF<Bit>,
    beats_left: DFF<Bits<BA>>,
    /// `beats_left` is one; is not zero.
    one_is_left: DFF<Bit>,
    some_are_left: DFF<Bit>,
    short: DFF<Bit>,
    in_body: DFF<Bit>,
    body: DFF<Bit>,
    opcode: DFF<Bits<8>>,
    pad: DFF<Bits<2>>,
    tver: DFF<Bits<4>>,
    known: DFF<Bit>,
    is_cnp: DFF<Bit>,
    /// The IP header says so; it did, of the frame that is judged.
    experienced: DFF<Bit>,
    marked_kept: DFF<Bit>,
    extension: DFF<Bits<3>>,
    payload_words: DFF<Bits<BA>>,
    need: DFF<Bits<5>>,
    payload_at: DFF<Bits<5>>,
    too_short: DFF<Bit>,
    wrong_length: DFF<Bit>,
    v6: DFF<Bit>,
    index: DFF<Bits<2>>,

    even_raw: Signal<Local, Bits<32>>,
    odd_raw: Signal<Local, Bits<32>>,
    even: Signal<Local, Bits<32>>,
    odd: Signal<Local, Bits<32>>,
    is_0: Signal<Local, Bit>,
    is_1: Signal<Local, Bit>,
    is_5: Signal<Local, Bit>,
    is_6: Signal<Local, Bit>,
    is_7: Signal<Local, Bit>,
    is_8: Signal<Local, Bit>,
    is_9: Signal<Local, Bit>,
    is_10: Signal<Local, Bit>,
    is_11: Signal<Local, Bit>,
    is_12: Signal<Local, Bit>,
    gid_entry: [Signal<Local, Bits<128>>; 4],
    gid_v4: [Signal<Local, Bit>; 4],
    gid_v6: [Signal<Local, Bit>; 4],
    matched: [Signal<Local, Bit>; 4],
    any_hit: Signal<Local, Bit>,
    hit_index: Signal<Local, Bits<2>>,
    rest: Signal<Local, Bits<4>>,
    words_now: Signal<Local, Bits<BA>>,
    body_words: Signal<Local, Bits<BA>>,
    words_less: Signal<Local, Bits<BA>>,
    last_now: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    running: Signal<Local, Bit>,
    length_now: Signal<Local, Bits<14>>,
    ip_length_now: Signal<Local, Bits<14>>,
    ip_header: Signal<Local, Bits<BA>>,
    need_index: Signal<Local, Bits<5>>,
    need_read: Signal<Local, Bits<5>>,
    need_now: Signal<Local, Bits<5>>,
    left: Signal<Local, Bits<BA>>,
    pad_bytes: Signal<Local, Bits<2>>,
    body_now: Signal<Local, Bit>,
    known_now: Signal<Local, Bit>,
    cnp_now: Signal<Local, Bit>,
    extension_now: Signal<Local, Bits<3>>,
    words_of_payload: Signal<Local, Bits<BA>>,
    wrong: Signal<Local, Bit>,
    at_0: Constant<Bits<5>>,
    at_1: Constant<Bits<5>>,
    at_5: Constant<Bits<5>>,
    at_6: Constant<Bits<5>>,
    at_7: Constant<Bits<5>>,
    at_8: Constant<Bits<5>>,
    at_9: Constant<Bits<5>>,
    at_10: Constant<Bits<5>>,
    at_11: Constant<Bits<5>>,
    at_12: Constant<Bits<5>>,
    version_4_ihl_5: Constant<Bits<8>>,
    version_4: Constant<Bits<4>>,
    version_6: Constant<Bits<4>>,
    protocol_udp: Constant<Bits<8>>,
    port_roce: Constant<Bits<16>>,
    udp_header: Constant<Bits<BA>>,
    udp_header_less: Constant<Bits<BA>>,
    /// `need_words`, a bit in each.
    need_plane: [Constant<Bits<32>>; 5],
    need_weight: [Constant<Bits<5>>; 5],
    top: Constant<Bits<BA>>,
    ipv4_header: Constant<Bits<BA>>,
    long: Constant<Bits<14>>,
    no_bytes: Constant<Bits<2>>,
    all_ones: Constant<Bits<12>>,
    extension_word: Constant<Bits<5>>,
    one_left: Constant<Bits<BA>>,
    two_left: Constant<Bits<BA>>,
    /// UDP lengths in words whose body is one beat, none.
    length_of_one: [Constant<Bits<BA>>; L],
    length_of_none: [Constant<Bits<BA>>; L],
    gid_number: [Constant<Bits<2>>; 4],
}

impl<const W: usize, const L: usize, const G: usize, const BA: usize> Default for Parse<W, L, G, BA> {
    fn default() -> Self {
        assert!(
            W == 32 * L && (L == 1 || L == 2) && (1..=4).contains(&G),
            "Parse: W must be 32 * L, 1 to 4 GIDs"
        );
        let at = |word: usize| Constant::new(((word / L * L) as u64).to_bits());
        Self {
            clock: Default::default(),
            data: Default::default(),
            word: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            ipv6: Default::default(),
            gid_valid: Default::default(),
            gid_ipv6: Default::default(),
            gid: Default::default(),
            ours: Default::default(),
            fragment: Default::default(),
            bad_checksum: Default::default(),
            bad_length: Default::default(),
            bad_opcode: Default::default(),
            bad_tver: Default::default(),
            cnp: Default::default(),
            marked: Default::default(),
            payload_length: Default::default(),
            payload_word: Default::default(),
            gid_index: Default::default(),
            is_ipv6: Default::default(),
            masked_valid: Default::default(),
            masked_lanes: Default::default(),
            icrc_valid: Default::default(),
            icrc_lanes: Default::default(),
            icrc_last: Default::default(),
            opcodes: Default::default(),
            version: Default::default(),
            plain: Default::default(),
            no_port: Default::default(),
            udp: Default::default(),
            port: Default::default(),
            hit: std::array::from_fn(|_| Default::default()),
            same_6: std::array::from_fn(|_| Default::default()),
            same_7: std::array::from_fn(|_| Default::default()),
            same_8: std::array::from_fn(|_| Default::default()),
            same_9: std::array::from_fn(|_| Default::default()),
            was_6: Default::default(),
            was_7: Default::default(),
            was_8: Default::default(),
            was_9: Default::default(),
            was_ipv6: Default::default(),
            ip_long: Default::default(),
            pair_low: Default::default(),
            pair_high: Default::default(),
            pair_valid: Default::default(),
            sum: Default::default(),
            checksum_wrong: Default::default(),
            udp_end: Default::default(),
            udp_ragged: Default::default(),
            udp_long: Default::default(),
            over_ip: Default::default(),
            beats_left: Default::default(),
            one_is_left: Default::default(),
            some_are_left: Default::default(),
            short: Default::default(),
            in_body: Default::default(),
            body: Default::default(),
            opcode: Default::default(),
            pad: Default::default(),
            tver: Default::default(),
            known: Default::default(),
            is_cnp: Default::default(),
            experienced: Default::default(),
            marked_kept: Default::default(),
            extension: Default::default(),
            payload_words: Default::default(),
            payload_at: Default::default(),
            too_short: Default::default(),
            wrong_length: Default::default(),
            v6: Default::default(),
            index: Default::default(),
            even_raw: Default::default(),
            odd_raw: Default::default(),
            even: Default::default(),
            odd: Default::default(),
            is_0: Default::default(),
            is_1: Default::default(),
            is_5: Default::default(),
            is_6: Default::default(),
            is_7: Default::default(),
            is_8: Default::default(),
            is_9: Default::default(),
            is_10: Default::default(),
            is_11: Default::default(),
            is_12: Default::default(),
            gid_entry: Default::default(),
            gid_v4: Default::default(),
            gid_v6: Default::default(),
            matched: Default::default(),
            any_hit: Default::default(),
            hit_index: Default::default(),
            rest: Default::default(),
            words_now: Default::default(),
            body_words: Default::default(),
            words_less: Default::default(),
            last_now: Default::default(),
            whole: Default::default(),
            running: Default::default(),
            length_now: Default::default(),
            ip_length_now: Default::default(),
            ip_words: Default::default(),
            ip_header: Default::default(),
            need: Default::default(),
            need_index: Default::default(),
            need_read: Default::default(),
            need_now: Default::default(),
            left: Default::default(),
            pad_bytes: Default::default(),
            body_now: Default::default(),
            known_now: Default::default(),
            cnp_now: Default::default(),
            extension_now: Default::default(),
            words_of_payload: Default::default(),
            wrong: Default::default(),
            at_0: at(0),
            at_1: at(1),
            at_5: at(5),
            at_6: at(6),
            at_7: at(7),
            at_8: at(8),
            at_9: at(9),
            at_10: at(10),
            at_11: at(11),
            at_12: at(12),
            version_4_ihl_5: Constant::new(0x45u8.to_bits()),
            version_4: Constant::new(4u8.to_bits()),
            version_6: Constant::new(6u8.to_bits()),
            protocol_udp: Constant::new(PROTOCOL_UDP.to_bits()),
            port_roce: Constant::new(PORT_ROCE.to_bits()),
            ipv4_header: Constant::new(IPV4_HEADER.to_bits()),
            // The bits of a length in words that a frame's can't have.
            long: Constant::new((0x3fff & !((1u64 << BA) - 1)).to_bits()),
            no_bytes: Constant::new(0u64.to_bits()),
            all_ones: Constant::new(0xfffu64.to_bits()),
            udp_header: Constant::new(2u64.to_bits()),
            udp_header_less: Constant::new(1u64.to_bits()),
            need_plane: std::array::from_fn(|i| {
                Constant::new(
                    (0..32u64)
                        .fold(0u64, |plane, index| plane | (need_words(index) >> i & 1) << index)
                        .to_bits(),
                )
            }),
            need_weight: std::array::from_fn(|i| Constant::new((1u64 << i).to_bits())),
            top: Constant::new((1u64 << (BA - 1)).to_bits()),
            extension_word: Constant::new(EXTENSION.to_bits()),
            one_left: Constant::new(1u64.to_bits()),
            two_left: Constant::new(2u64.to_bits()),
            length_of_one: std::array::from_fn(|i| Constant::new((3 + i as u64).to_bits())),
            length_of_none: std::array::from_fn(|i| Constant::new((3 - L as u64 + i as u64).to_bits())),
            gid_number: std::array::from_fn(|i| Constant::new((i as u64).to_bits())),
        }
    }
}

impl<const W: usize, const L: usize, const G: usize, const BA: usize> Logic for Parse<W, L, G, BA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, version, plain, no_port, udp, port, ip_words, ip_long, pair_low, pair_high, pair_valid, sum);
        dff_setup!(
            self,
            clock,
            checksum_wrong,
            udp_end,
            udp_ragged,
            udp_long,
            over_ip,
            beats_left,
            one_is_left,
            some_are_left,
            short,
            in_body,
            body,
            opcode,
            pad,
            tver
        );
        dff_setup!(
            self,
            clock,
            known,
            is_cnp,
            experienced,
            marked_kept,
            extension,
            need,
            payload_words,
            payload_at,
            too_short,
            wrong_length,
            v6,
            index,
            was_6,
            was_7,
            was_8,
            was_9,
            was_ipv6
        );

        // The words as big-endian numbers. With two lanes an odd word is the upper one.
        self.even_raw.next = self.data.val().get_bits::<32>(0);
        self.odd_raw.next = self.data.val().get_bits::<32>(0);
        for _i in 1..L {
            self.odd_raw.next = self.data.val().get_bits::<32>(32);
        }
        self.even.next = bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.even_raw.val().get_bits::<8>(0)) << 24);
        self.odd.next = bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(24))
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(16)) << 8)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(8)) << 16)
            | (bit_cast::<32, 8>(self.odd_raw.val().get_bits::<8>(0)) << 24);
        self.is_0.next = self.valid.val() & self.ipv6.val() & (self.word.val() == self.at_0.val());
        self.is_1.next = self.valid.val() & self.ipv6.val() & (self.word.val() == self.at_1.val());
        self.is_5.next = self.valid.val() & !self.ipv6.val() & (self.word.val() == self.at_5.val());
        self.is_6.next = self.valid.val() & (self.word.val() == self.at_6.val());
        self.is_7.next = self.valid.val() & (self.word.val() == self.at_7.val());
        self.is_8.next = self.valid.val() & (self.word.val() == self.at_8.val());
        self.is_9.next = self.valid.val() & (self.word.val() == self.at_9.val());
        self.is_10.next = self.valid.val() & (self.word.val() == self.at_10.val());
        self.is_11.next = self.valid.val() & (self.word.val() == self.at_11.val());
        self.is_12.next = self.valid.val() & (self.word.val() == self.at_12.val());

        self.ip_length_now.next = self.odd.val().get_bits::<14>(2);
        // IP header. `plain`: no options, not a fragment. `no_port`: the UDP header isn't at words 10-11 (R15).
        if self.is_0.val() {
            self.version.d.next = self.even.val().get_bits::<4>(28) == self.version_6.val();
            self.plain.d.next = true;
            self.no_port.d.next = false;
        }
        if self.is_1.val() {
            self.ip_length_now.next = self.odd.val().get_bits::<14>(18);
            self.udp.d.next = self.odd.val().get_bits::<8>(8) == self.protocol_udp.val();
        }
        // R76: both ECN bits, the lowest of IPv6's traffic class and of IPv4's ToS.
        if self.is_0.val() {
            self.experienced.d.next = self.even.val().get_bits::<2>(20).all();
        }
        if self.is_5.val() {
            self.experienced.d.next = self.odd.val().get_bits::<2>(16).all();
        }
        if self.is_5.val() {
            self.version.d.next = self.odd.val().get_bits::<4>(28) == self.version_4.val();
            self.plain.d.next = self.odd.val().get_bits::<8>(24) == self.version_4_ihl_5.val();
            self.no_port.d.next = self.odd.val().get_bits::<8>(24) != self.version_4_ihl_5.val();
        }
        if self.is_1.val() | self.is_5.val() {
            self.ip_words.d.next = self.ip_length_now.val().get_bits::<BA>(0);
            self.ip_long.d.next = (self.ip_length_now.val() & self.long.val()).any();
        }
        if self.is_6.val() & !self.ipv6.val() {
            self.plain.d.next = self.plain.q.val() & !self.even.val().get_bits::<14>(0).any();
            self.no_port.d.next = self.no_port.q.val() | self.even.val().get_bits::<13>(0).any();
        }
        if self.is_7.val() & !self.ipv6.val() {
            self.udp.d.next = self.odd.val().get_bits::<8>(16) == self.protocol_udp.val();
        }
        if self.is_10.val() {
            self.port.d.next = self.even.val().get_bits::<16>(0) == self.port_roce.val();
        }

        // Destination address against the GIDs: each word by itself, then, a cycle later, what they say together.
        self.was_6.d.next = self.is_6.val();
        self.was_7.d.next = self.is_7.val();
        self.was_8.d.next = self.is_8.val();
        self.was_9.d.next = self.is_9.val();
        self.was_ipv6.d.next = self.ipv6.val();
        self.gid_entry[0].next = self.gid.val().get_bits::<128>(0);
        self.gid_entry[1].next = self.gid.val().get_bits::<128>(128);
        self.gid_entry[2].next = self.gid.val().get_bits::<128>(256);
        self.gid_entry[3].next = self.gid.val().get_bits::<128>(384);
        self.any_hit.next = false;
        self.hit_index.next = 0.into();
        for i in 0..4 {
            self.gid_v4[i].next = self.gid_valid.val().get_bit(i) & !self.gid_ipv6.val().get_bit(i);
            self.gid_v6[i].next = self.gid_valid.val().get_bit(i) & self.gid_ipv6.val().get_bit(i);
            self.matched[i].next = false;
        }
        for i in 0..G {
            self.hit[i].clock.next = self.clock.val();
            self.same_6[i].clock.next = self.clock.val();
            self.same_7[i].clock.next = self.clock.val();
            self.same_8[i].clock.next = self.clock.val();
            self.same_9[i].clock.next = self.clock.val();
            self.same_6[i].d.next = self.even.val() == self.gid_entry[i].val().get_bits::<32>(96);
            self.same_7[i].d.next = self.odd.val() == self.gid_entry[i].val().get_bits::<32>(64);
            self.same_8[i].d.next = self.even.val() == self.gid_entry[i].val().get_bits::<32>(32);
            self.same_9[i].d.next = self.odd.val() == self.gid_entry[i].val().get_bits::<32>(0);
            self.matched[i].next = self.hit[i].q.val();
            if self.was_ipv6.q.val() {
                if self.was_6.q.val() {
                    self.matched[i].next = self.gid_v6[i].val() & self.same_6[i].q.val();
                }
                if self.was_7.q.val() {
                    self.matched[i].next = self.matched[i].val() & self.same_7[i].q.val();
                }
                if self.was_8.q.val() {
                    self.matched[i].next = self.matched[i].val() & self.same_8[i].q.val();
                }
                if self.was_9.q.val() {
                    self.matched[i].next = self.matched[i].val() & self.same_9[i].q.val();
                }
            } else {
                if self.was_9.q.val() {
                    self.matched[i].next = self.gid_v4[i].val() & self.same_9[i].q.val();
                }
            }
            self.hit[i].d.next = self.matched[i].val();
            if self.hit[i].q.val() {
                self.any_hit.next = true;
                self.hit_index.next = self.gid_number[i].val();
            }
        }
        self.ours.next = self.version.q.val() & self.plain.q.val() & self.udp.q.val() & self.any_hit.val() & self.port.q.val();
        self.fragment.next =
            self.version.q.val() & !self.plain.q.val() & self.udp.q.val() & self.any_hit.val() & (self.port.q.val() | self.no_port.q.val());

        // R16: IPv4 header checksum, words 5-9, one's complement.
        self.pair_low.d.next =
            bit_cast::<17, 16>(self.even.val().get_bits::<16>(0)) + bit_cast::<17, 16>(self.even.val().get_bits::<16>(16));
        self.pair_high.d.next = 0.into();
        for _i in 1..L {
            self.pair_high.d.next =
                bit_cast::<17, 16>(self.odd.val().get_bits::<16>(0)) + bit_cast::<17, 16>(self.odd.val().get_bits::<16>(16));
        }
        self.pair_valid.d.next = self.is_5.val() | self.is_6.val() | self.is_7.val() | self.is_8.val() | self.is_9.val();
        // In the first beat of a pair of lanes the lower one is `align`'s zeros.
        if self.pair_valid.q.val() {
            self.sum.d.next = self.sum.q.val() + bit_cast::<20, 17>(self.pair_low.q.val()) + bit_cast::<20, 17>(self.pair_high.q.val());
        }
        if self.is_5.val() {
            self.sum.d.next = 0.into();
        }
        // Right: the carries, added at the low end, make it all ones.
        self.rest.next = self.sum.q.val().get_bits::<4>(0) ^ self.sum.q.val().get_bits::<4>(16);

        // R8, R9, R77: the UDP length governs.
        self.ip_header.next = self.ipv4_header.val();
        if self.ipv6.val() {
            self.ip_header.next = 0.into();
        }
        self.length_now.next = self.odd.val().get_bits::<14>(18);
        self.words_now.next = self.length_now.val().get_bits::<BA>(0);
        self.body_words.next = self.words_now.val() - self.udp_header.val();
        self.words_less.next = self.words_now.val() - self.udp_header_less.val();
        if self.is_11.val() {
            // Where the UDP datagram ends, in words from the IPv4 header or behind the IPv6 one: what the IP length counts.
            self.udp_end.d.next = self.words_now.val() + self.ip_header.val();
            self.udp_ragged.d.next = self.odd.val().get_bits::<2>(16).any();
            self.udp_long.d.next = (self.length_now.val() & self.long.val()).any();
        }
        if self.is_12.val() {
            self.opcode.d.next = self.even.val().get_bits::<8>(24);
            self.pad.d.next = self.even.val().get_bits::<2>(20);
            self.tver.d.next = self.even.val().get_bits::<4>(16);
            self.checksum_wrong.d.next =
                !self.ipv6.val() & ((self.sum.q.val().get_bits::<12>(4) != self.all_ones.val()) | !self.rest.val().all());
            // Whole words do: a UDP length that isn't is wrong anyway.
            self.over_ip.d.next = !self.ip_long.q.val() & (self.ip_words.q.val() < self.udp_end.q.val());
            self.v6.d.next = self.ipv6.val();
            self.index.d.next = self.hit_index.val();
            self.marked_kept.d.next = self.experienced.q.val();
        }
        // R11: the table, before what it drives.
        self.opcodes.opcode.next = self.opcode.q.val();
        self.known.d.next = self.opcodes.valid.val();
        self.is_cnp.d.next = self.opcodes.cnp.val();
        self.extension.d.next = self.opcodes.words.val();
        self.known_now.next = self.opcodes.valid.val();
        self.cnp_now.next = self.opcodes.cnp.val();
        self.extension_now.next = self.opcodes.words.val();
        for _i in 1..L {
            self.known_now.next = self.known.q.val();
            self.cnp_now.next = self.is_cnp.q.val();
            self.extension_now.next = self.extension.q.val();
        }
        // R10: the words that the packet must have, one of payload if there is padding; `left` is then short of that one. A great number is a
        // negative one: no frame has half as many words.
        self.need_index.next = bit_cast::<5, 3>(self.extension_now.val())
            | (bit_cast::<5, 1>(self.pad.q.val().any().into()) << 3)
            | (bit_cast::<5, 1>(self.v6.q.val().into()) << 4);
        self.need_read.next = 0.into();
        for i in 0..5 {
            if self.need_plane[i].val().get_bit(self.need_index.val().index()) {
                self.need_read.next = self.need_read.val() | self.need_weight[i].val();
            }
        }
        self.need.d.next = self.need_read.val();
        self.need_now.next = self.need_read.val();
        for _i in 1..L {
            self.need_now.next = self.need.q.val();
        }
        self.left.next = self.udp_end.q.val() - bit_cast::<BA, 5>(self.need_now.val());
        self.payload_words.d.next = self.left.val();
        self.too_short.d.next = (self.left.val() & self.top.val()).any();
        self.words_of_payload.next = self.left.val();
        self.wrong.next = self.udp_ragged.q.val() | self.udp_long.q.val() | self.over_ip.q.val() | (self.left.val() & self.top.val()).any();
        self.wrong_length.d.next = self.udp_ragged.q.val() | self.udp_long.q.val() | self.over_ip.q.val() | self.too_short.q.val();
        for _i in 1..L {
            self.words_of_payload.next = self.payload_words.q.val();
            self.wrong.next = self.wrong_length.q.val();
        }

        self.bad_checksum.next = self.checksum_wrong.q.val();
        self.bad_opcode.next = !self.known_now.val();
        self.bad_tver.next = self.tver.q.val().any();
        self.cnp.next = self.cnp_now.val();
        self.marked.next = self.marked_kept.q.val();
        self.bad_length.next = self.wrong.val();
        self.pad_bytes.next = self.no_bytes.val() - self.pad.q.val();
        self.payload_length.next = (bit_cast::<14, BA>(self.words_of_payload.val()) << 2) | bit_cast::<14, 2>(self.pad_bytes.val());
        self.payload_at.d.next = self.extension_word.val() + bit_cast::<5, 3>(self.extension_now.val());
        self.payload_word.next = self.extension_word.val() + bit_cast::<5, 3>(self.extension_now.val());
        for _i in 1..L {
            self.payload_word.next = self.payload_at.q.val();
        }
        self.gid_index.next = self.index.q.val();
        self.is_ipv6.next = self.v6.q.val();

        // What the ICRC sees: headers, then the words that the UDP length counts, the ICRC last (R8).
        if self.first.val() {
            self.in_body.d.next = false;
        }
        if self.is_12.val() {
            self.in_body.d.next = true;
        }
        self.body.d.next = self.is_12.val() | (self.in_body.q.val() & !self.first.val());
        // The mask's register goes with `body`'s; at one lane neither is there.
        self.body_now.next = self.is_12.val() | (self.in_body.q.val() & !self.first.val());
        for _i in 1..L {
            self.body_now.next = self.body.q.val();
        }
        self.last_now.next = self.body_now.val() & self.one_is_left.q.val();
        self.running.next = self.masked_valid.val() & (!self.body_now.val() | self.some_are_left.q.val());
        self.whole.next = true;
        self.icrc_lanes.next = self.masked_lanes.val();
        for _i in 1..L {
            self.whole.next = self.short.q.val() | self.masked_lanes.val().get_bit(1);
            if self.last_now.val() & self.short.q.val() {
                self.icrc_lanes.next = 1.into();
            }
        }
        self.icrc_valid.next = self.running.val();
        self.icrc_last.next = self.last_now.val() & self.whole.val();
        if self.running.val() & self.body_now.val() {
            self.beats_left.d.next = self.beats_left.q.val() - self.one_left.val();
            self.one_is_left.d.next = self.beats_left.q.val() == self.two_left.val();
            self.some_are_left.d.next = !self.one_is_left.q.val();
        }
        if self.is_11.val() {
            self.beats_left.d.next = self.body_words.val();
            self.one_is_left.d.next = false;
            self.some_are_left.d.next = true;
            for i in 0..L {
                if self.words_now.val() == self.length_of_one[i].val() {
                    self.one_is_left.d.next = true;
                }
                if self.words_now.val() == self.length_of_none[i].val() {
                    self.some_are_left.d.next = false;
                }
            }
            for _i in 1..L {
                self.beats_left.d.next = self.words_less.val() >> 1;
                self.short.d.next = self.words_now.val().get_bit(0);
            }
        }
    }

    crate::block_name!();
}
