// SPDX-License-Identifier: MIT OR Apache-2.0
//! Strips the Ethernet header and puts the packet into aligned coordinates (IPv4 from word 5, IPv6 from word 0).
//!
//! ```text
//! MAC ─► raw beat register ─► x = 2 bytes before + 2 bytes, y = the next 4 ─► record register
//!            │                     without swap: record = x, y     (64 bits: tag xor IPv6)
//!            └► host FIFO          with swap:    record = y before, x; one more record after the frame
//! ```
//!
//! Only these two cases exist at 64 bits, since headers are 14 or 18 bytes and IPv4 begins at an odd word; at 32 bits each record is an x.
//! Each frame ends with an `end` record one cycle after its last beat's: it holds the last word of the swapped case, and stands where the next
//! frame's first beat (which has no record) would. Raw beat: 1 cycle after the port. Record: 2 cycles. One beat a cycle, frames without gap.
//! 64 bits: a `zero` record in beat 1 says where a frame begins (see `frame_ring`).
//! 32 bits: no registers in the way of a beat or a record, both stand in the port's cycle; there is no `end` record.

use rust_hdl::prelude::*;

/// Ethertypes as they stand in a little-endian beat.
const TYPE_IPV4: u16 = 0x0008;
const TYPE_IPV6: u16 = 0xdd86;
const TYPE_VLAN: u16 = 0x0081;
/// Bytes before the Ethertype, and before the tagged one.
const TYPE_AT: usize = 12;
const INNER_AT: usize = 16;
/// First word behind those that anybody asks for: the count stays.
const LAST_WORD: usize = 24;
/// Word of a packet that ends the shortest RoCE packet (BTH, ICRC), and the one after it.
const SHORTEST_END: usize = 16;

/// Alignment for beats of `W` bits, `K` bytes, `L` words; `KB` is log2(K). A frame has fewer than `2^BA` beats.
#[derive(LogicBlock)]
pub struct Align<const W: usize, const K: usize, const L: usize, const KB: usize, const BA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub s_data: Signal<In, Bits<W>>,
    pub s_keep: Signal<In, Bits<K>>,
    pub s_valid: Signal<In, Bit>,
    pub s_last: Signal<In, Bit>,
    pub s_user: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,

    pub raw_data: Signal<Out, Bits<W>>,
    /// Bytes in the beat, less one.
    pub raw_count: Signal<Out, Bits<KB>>,
    pub raw_valid: Signal<Out, Bit>,
    pub raw_last: Signal<Out, Bit>,
    pub raw_bad: Signal<Out, Bit>,
    /// With the raw last beat: longer than the longest frame.
    pub raw_too_long: Signal<Out, Bit>,
    /// With the raw last beat: long enough for a RoCE packet, for our MAC.
    pub raw_reached: Signal<Out, Bit>,

    pub data: Signal<Out, Bits<W>>,
    /// Aligned number of the record's first word; 24 for any from there on.
    pub word: Signal<Out, Bits<5>>,
    pub lanes: Signal<Out, Bits<L>>,
    pub valid: Signal<Out, Bit>,
    pub first: Signal<Out, Bit>,
    pub zero: Signal<Out, Bit>,
    pub ipv6: Signal<Out, Bit>,

    beat_data: DFF<Bits<W>>,
    beat_count: DFF<Bits<KB>>,
    beat_valid: DFF<Bit>,
    beat_last: DFF<Bit>,
    beat_bad: DFF<Bit>,
    x_whole: DFF<Bit>,
    y_whole: DFF<Bit>,
    beat: DFF<Bits<BA>>,
    /// `beat` is the longest frame's end.
    at_longest: DFF<Bit>,
    earlier: DFF<Bits<16>>,
    held: DFF<Bits<32>>,
    held_whole: DFF<Bit>,
    ending: DFF<Bit>,
    mac: DFF<Bit>,
    vlan: DFF<Bit>,
    type_is_vlan: DFF<Bit>,
    type_is_ipv4: DFF<Bit>,
    type_is_ipv6: DFF<Bit>,
    inner_is_ipv4: DFF<Bit>,
    inner_is_ipv6: DFF<Bit>,
    at_type: DFF<Bit>,
    at_inner: DFF<Bit>,
    at_late: DFF<Bit>,
    is_ipv4: DFF<Bit>,
    is_ipv6: DFF<Bit>,
    active: DFF<Bit>,
    next_word: DFF<Bits<5>>,
    /// `next_word` is the one that ends the shortest packet.
    at_reach: DFF<Bit>,
    reached: DFF<Bit>,
    out_data: DFF<Bits<W>>,
    out_word: DFF<Bits<5>>,
    out_low: DFF<Bit>,
    out_high: DFF<Bit>,
    out_valid: DFF<Bit>,
    out_first: DFF<Bit>,
    out_zero: DFF<Bit>,

    beat_data_in: Signal<Local, Bits<W>>,
    beat_data_now: Signal<Local, Bits<W>>,
    beat_count_in: Signal<Local, Bits<KB>>,
    beat_count_now: Signal<Local, Bits<KB>>,
    beat_valid_in: Signal<Local, Bit>,
    beat_valid_now: Signal<Local, Bit>,
    beat_last_in: Signal<Local, Bit>,
    beat_last_now: Signal<Local, Bit>,
    beat_bad_in: Signal<Local, Bit>,
    beat_bad_now: Signal<Local, Bit>,
    x_whole_in: Signal<Local, Bit>,
    x_whole_now: Signal<Local, Bit>,
    y_whole_in: Signal<Local, Bit>,
    y_whole_now: Signal<Local, Bit>,
    type_is_vlan_in: Signal<Local, Bit>,
    type_is_vlan_now: Signal<Local, Bit>,
    type_is_ipv4_in: Signal<Local, Bit>,
    type_is_ipv4_now: Signal<Local, Bit>,
    type_is_ipv6_in: Signal<Local, Bit>,
    type_is_ipv6_now: Signal<Local, Bit>,
    inner_is_ipv4_in: Signal<Local, Bit>,
    inner_is_ipv4_now: Signal<Local, Bit>,
    inner_is_ipv6_in: Signal<Local, Bit>,
    inner_is_ipv6_now: Signal<Local, Bit>,
    x: Signal<Local, Bits<32>>,
    y: Signal<Local, Bits<32>>,
    low16: Signal<Local, Bits<16>>,
    type_part: Signal<Local, Bits<16>>,
    inner_part: Signal<Local, Bits<16>>,
    mac_part: Signal<Local, Bits<16>>,
    mac_wire: Signal<Local, Bits<48>>,
    mac_now: Signal<Local, Bit>,
    vlan_now: Signal<Local, Bit>,
    ipv4_now: Signal<Local, Bit>,
    ipv6_now: Signal<Local, Bit>,
    late: Signal<Local, Bit>,
    first_now: Signal<Local, Bit>,
    end_now: Signal<Local, Bit>,
    record: Signal<Local, Bit>,
    word_now: Signal<Local, Bits<5>>,
    swap: Signal<Local, Bit>,
    low: Signal<Local, Bits<32>>,
    high: Signal<Local, Bits<32>>,
    low_whole: Signal<Local, Bit>,
    high_whole: Signal<Local, Bit>,
    top_whole: Signal<Local, Bit>,
    reach: Signal<Local, Bit>,
    type_ipv4: Constant<Bits<16>>,
    type_ipv6: Constant<Bits<16>>,
    type_vlan: Constant<Bits<16>>,
    mac_beat: Constant<Bits<BA>>,
    before_type: Constant<Bits<BA>>,
    before_inner: Constant<Bits<BA>>,
    before_late: Constant<Bits<BA>>,
    late_always: Constant<Bit>,
    has_ipv6: Constant<Bit>,
    zero_beat: Constant<Bits<BA>>,
    before_longest: Constant<Bits<BA>>,
    ipv4_word: Constant<Bits<5>>,
    before_reach: Constant<Bits<5>>,
    words: Constant<Bits<5>>,
    last_word: Constant<Bits<5>>,
    one_beat: Constant<Bits<BA>>,
    counts: [Constant<Bits<KB>>; K],
}

impl<const W: usize, const K: usize, const L: usize, const KB: usize, const BA: usize> Align<W, K, L, KB, BA> {
    /// `max_frame` bytes is the longest frame; a multiple of the beat.
    pub fn new(max_frame: usize, has_ipv6: bool) -> Self {
        assert!(
            W == 8 * K && W == 32 * L && K == 1 << KB && (L == 1 || L == 2),
            "Align: widths disagree"
        );
        assert!(max_frame.is_multiple_of(K), "Align: max_frame must be a multiple of the beat");
        assert!(max_frame / K < 1 << BA, "Align: max_frame doesn't fit BA bits of beats");
        let number = |n: usize| Constant::new((n as u64).to_bits());
        let place = |n: usize| Constant::new((n as u64).to_bits());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            s_data: Default::default(),
            s_keep: Default::default(),
            s_valid: Default::default(),
            s_last: Default::default(),
            s_user: Default::default(),
            local_mac: Default::default(),
            raw_data: Default::default(),
            raw_count: Default::default(),
            raw_valid: Default::default(),
            raw_last: Default::default(),
            raw_bad: Default::default(),
            raw_too_long: Default::default(),
            raw_reached: Default::default(),
            data: Default::default(),
            word: Default::default(),
            lanes: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            zero: Default::default(),
            ipv6: Default::default(),
            beat_data: Default::default(),
            beat_count: Default::default(),
            beat_valid: Default::default(),
            beat_last: Default::default(),
            beat_bad: Default::default(),
            x_whole: Default::default(),
            y_whole: Default::default(),
            beat: Default::default(),
            at_longest: Default::default(),
            earlier: Default::default(),
            held: Default::default(),
            held_whole: Default::default(),
            ending: Default::default(),
            mac: Default::default(),
            vlan: Default::default(),
            type_is_vlan: Default::default(),
            type_is_ipv4: Default::default(),
            type_is_ipv6: Default::default(),
            inner_is_ipv4: Default::default(),
            inner_is_ipv6: Default::default(),
            at_type: Default::default(),
            at_inner: Default::default(),
            at_late: Default::default(),
            is_ipv4: Default::default(),
            is_ipv6: Default::default(),
            active: Default::default(),
            next_word: Default::default(),
            at_reach: Default::default(),
            reached: Default::default(),
            out_data: Default::default(),
            out_word: Default::default(),
            out_low: Default::default(),
            out_high: Default::default(),
            out_valid: Default::default(),
            out_first: Default::default(),
            out_zero: Default::default(),
            beat_data_in: Default::default(),
            beat_data_now: Default::default(),
            beat_count_in: Default::default(),
            beat_count_now: Default::default(),
            beat_valid_in: Default::default(),
            beat_valid_now: Default::default(),
            beat_last_in: Default::default(),
            beat_last_now: Default::default(),
            beat_bad_in: Default::default(),
            beat_bad_now: Default::default(),
            x_whole_in: Default::default(),
            x_whole_now: Default::default(),
            y_whole_in: Default::default(),
            y_whole_now: Default::default(),
            type_is_vlan_in: Default::default(),
            type_is_vlan_now: Default::default(),
            type_is_ipv4_in: Default::default(),
            type_is_ipv4_now: Default::default(),
            type_is_ipv6_in: Default::default(),
            type_is_ipv6_now: Default::default(),
            inner_is_ipv4_in: Default::default(),
            inner_is_ipv4_now: Default::default(),
            inner_is_ipv6_in: Default::default(),
            inner_is_ipv6_now: Default::default(),
            x: Default::default(),
            y: Default::default(),
            low16: Default::default(),
            inner_part: Default::default(),
            type_part: Default::default(),
            mac_part: Default::default(),
            mac_wire: Default::default(),
            mac_now: Default::default(),
            vlan_now: Default::default(),
            ipv4_now: Default::default(),
            ipv6_now: Default::default(),
            late: Default::default(),
            first_now: Default::default(),
            end_now: Default::default(),
            record: Default::default(),
            word_now: Default::default(),
            swap: Default::default(),
            low: Default::default(),
            high: Default::default(),
            low_whole: Default::default(),
            high_whole: Default::default(),
            top_whole: Default::default(),
            reach: Default::default(),
            type_ipv4: Constant::new(TYPE_IPV4.to_bits()),
            type_ipv6: Constant::new(TYPE_IPV6.to_bits()),
            type_vlan: Constant::new(TYPE_VLAN.to_bits()),
            mac_beat: number(4 / K),
            before_type: number(TYPE_AT / K - 1),
            before_inner: number(INNER_AT / K - 1),
            before_late: number(INNER_AT / K),
            late_always: Constant::new(L == 1),
            has_ipv6: Constant::new(has_ipv6),
            zero_beat: number(1),
            before_longest: number(max_frame / K - 1),
            one_beat: number(1),
            ipv4_word: place(5 / L * L),
            before_reach: place(SHORTEST_END - 2 * L),
            words: place(L),
            last_word: place(LAST_WORD),
            counts: std::array::from_fn(|i| Constant::new((i as u64).to_bits())),
        }
    }
}

impl<const W: usize, const K: usize, const L: usize, const KB: usize, const BA: usize> Logic for Align<W, K, L, KB, BA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self, clock, beat_data, beat_count, beat_valid, beat_last, beat_bad, x_whole, y_whole, beat, at_longest, earlier, held,
            held_whole
        );
        dff_setup!(
            self,
            clock,
            type_is_vlan,
            type_is_ipv4,
            type_is_ipv6,
            inner_is_ipv4,
            inner_is_ipv6,
            at_type,
            at_inner,
            at_late
        );
        dff_setup!(self, clock, ending, mac, vlan, is_ipv4, is_ipv6, active, next_word, at_reach, reached);
        dff_setup!(self, clock, out_data, out_word, out_low, out_high, out_valid, out_first, out_zero);

        // The raw beat. A MAC's keep is contiguous and full but on the last beat.
        self.beat_data_in.next = self.s_data.val();
        self.beat_valid_in.next = self.s_valid.val();
        self.beat_last_in.next = self.s_last.val();
        self.beat_bad_in.next = self.s_user.val();
        self.beat_count_in.next = 0.into();
        for i in 1..K {
            if self.s_keep.val().get_bit(i) {
                self.beat_count_in.next = self.counts[i].val();
            }
        }
        self.x_whole_in.next = self.s_keep.val().get_bit(1);
        self.y_whole_in.next = false;
        for _i in 1..L {
            self.y_whole_in.next = self.s_keep.val().get_bit(5);
        }

        // Types are told before the beat's register, where the path is short.
        self.inner_part.next = self.s_data.val().get_bits::<16>(0);
        self.type_part.next = self.inner_part.val();
        for _i in 1..L {
            self.type_part.next = self.s_data.val().get_bits::<16>(32);
        }
        self.type_is_vlan_in.next = self.type_part.val() == self.type_vlan.val();
        self.type_is_ipv4_in.next = self.type_part.val() == self.type_ipv4.val();
        self.type_is_ipv6_in.next = (self.type_part.val() == self.type_ipv6.val()) & self.has_ipv6.val();
        self.inner_is_ipv4_in.next = self.inner_part.val() == self.type_ipv4.val();
        self.inner_is_ipv6_in.next = (self.inner_part.val() == self.type_ipv6.val()) & self.has_ipv6.val();

        // At one lane the beat is used as it comes.
        self.beat_data.d.next = self.beat_data_in.val();
        self.beat_count.d.next = self.beat_count_in.val();
        self.beat_valid.d.next = self.beat_valid_in.val();
        self.beat_last.d.next = self.beat_last_in.val();
        self.beat_bad.d.next = self.beat_bad_in.val();
        self.x_whole.d.next = self.x_whole_in.val();
        self.y_whole.d.next = self.y_whole_in.val();
        self.type_is_vlan.d.next = self.type_is_vlan_in.val();
        self.type_is_ipv4.d.next = self.type_is_ipv4_in.val();
        self.type_is_ipv6.d.next = self.type_is_ipv6_in.val();
        self.inner_is_ipv4.d.next = self.inner_is_ipv4_in.val();
        self.inner_is_ipv6.d.next = self.inner_is_ipv6_in.val();
        self.beat_data_now.next = self.beat_data_in.val();
        self.beat_count_now.next = self.beat_count_in.val();
        self.beat_valid_now.next = self.beat_valid_in.val();
        self.beat_last_now.next = self.beat_last_in.val();
        self.beat_bad_now.next = self.beat_bad_in.val();
        self.x_whole_now.next = self.x_whole_in.val();
        self.y_whole_now.next = self.y_whole_in.val();
        self.type_is_vlan_now.next = self.type_is_vlan_in.val();
        self.type_is_ipv4_now.next = self.type_is_ipv4_in.val();
        self.type_is_ipv6_now.next = self.type_is_ipv6_in.val();
        self.inner_is_ipv4_now.next = self.inner_is_ipv4_in.val();
        self.inner_is_ipv6_now.next = self.inner_is_ipv6_in.val();
        for _i in 1..L {
            self.beat_data_now.next = self.beat_data.q.val();
            self.beat_count_now.next = self.beat_count.q.val();
            self.beat_valid_now.next = self.beat_valid.q.val();
            self.beat_last_now.next = self.beat_last.q.val();
            self.beat_bad_now.next = self.beat_bad.q.val();
            self.x_whole_now.next = self.x_whole.q.val();
            self.y_whole_now.next = self.y_whole.q.val();
            self.type_is_vlan_now.next = self.type_is_vlan.q.val();
            self.type_is_ipv4_now.next = self.type_is_ipv4.q.val();
            self.type_is_ipv6_now.next = self.type_is_ipv6.q.val();
            self.inner_is_ipv4_now.next = self.inner_is_ipv4.q.val();
            self.inner_is_ipv6_now.next = self.inner_is_ipv6.q.val();
        }

        // Pieces of the beat, by width.
        self.low16.next = self.beat_data_now.val().get_bits::<16>(0);
        self.x.next = bit_cast::<32, 16>(self.earlier.q.val()) | (bit_cast::<32, 16>(self.low16.val()) << 16);
        self.y.next = 0.into();
        self.mac_part.next = self.low16.val();
        for _i in 1..L {
            self.y.next = self.beat_data_now.val().get_bits::<32>(16);
            self.mac_part.next = self.beat_data_now.val().get_bits::<16>(32);
        }

        // R19: destination MAC, Ethertype, R18: one tag.
        self.mac_wire.next = bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(40))
            | (bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(32)) << 8)
            | (bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(24)) << 16)
            | (bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(16)) << 24)
            | (bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(8)) << 32)
            | (bit_cast::<48, 8>(self.local_mac.val().get_bits::<8>(0)) << 40);
        self.mac_now.next = self.mac.q.val();
        if !self.beat.q.val().any() {
            self.mac_now.next = self.beat_data_now.val().get_bits::<32>(0) == self.mac_wire.val().get_bits::<32>(0);
        }
        if self.beat.q.val() == self.mac_beat.val() {
            self.mac_now.next = self.mac_now.val() & (self.mac_part.val() == self.mac_wire.val().get_bits::<16>(32));
        }
        self.vlan_now.next = self.vlan.q.val();
        self.ipv4_now.next = self.is_ipv4.q.val();
        self.ipv6_now.next = self.is_ipv6.q.val();
        if self.at_type.q.val() {
            self.vlan_now.next = self.type_is_vlan_now.val();
            self.ipv4_now.next = self.type_is_ipv4_now.val();
            self.ipv6_now.next = self.type_is_ipv6_now.val();
        }
        if self.at_inner.q.val() & self.vlan.q.val() {
            self.ipv4_now.next = self.inner_is_ipv4_now.val();
            self.ipv6_now.next = self.inner_is_ipv6_now.val();
        }

        self.ipv6_now.next = self.ipv6_now.val() & self.has_ipv6.val();

        // The record that this beat completes.
        self.late.next = self.vlan_now.val() & (self.ipv6_now.val() | self.late_always.val());
        self.first_now.next = (self.ipv4_now.val() | self.ipv6_now.val())
            & ((self.at_inner.q.val() & !self.late.val()) | (self.at_late.q.val() & self.late.val()));
        self.end_now.next = false;
        for _i in 1..L {
            self.end_now.next = self.ending.q.val();
        }
        self.record.next = self.beat_valid_now.val() & (self.first_now.val() | (self.active.q.val() & !self.end_now.val()));
        self.word_now.next = self.next_word.q.val();
        if self.first_now.val() {
            self.word_now.next = 0.into();
            if self.ipv4_now.val() {
                self.word_now.next = self.ipv4_word.val();
            }
        }
        self.swap.next = false;
        self.low.next = self.x.val();
        self.low_whole.next = self.x_whole_now.val();
        self.high.next = self.y.val();
        self.high_whole.next = self.y_whole_now.val();
        for _i in 1..L {
            self.swap.next = self.vlan_now.val() == self.ipv6_now.val();
            if self.swap.val() | self.end_now.val() {
                self.low.next = self.held.q.val();
                self.low_whole.next = true;
                self.high.next = self.x.val();
                self.high_whole.next = self.x_whole_now.val();
            }
            if self.first_now.val() & self.ipv4_now.val() {
                // Word 4 is the last of the zeros before an IPv4 header.
                self.low.next = 0.into();
                self.low_whole.next = true;
            }
        }
        // By registers alone: the type is long known when that word comes.
        self.top_whole.next = self.x_whole_now.val();
        for _i in 1..L {
            if self.vlan.q.val() != self.is_ipv6.q.val() {
                self.top_whole.next = self.y_whole_now.val();
            }
        }
        self.reach.next =
            self.beat_valid_now.val() & self.active.q.val() & !self.end_now.val() & self.at_reach.q.val() & self.top_whole.val();

        self.out_data.d.next = bit_cast::<W, 32>(self.low.val());
        for _i in 1..L {
            self.out_data.d.next = bit_cast::<W, 32>(self.low.val()) | (bit_cast::<W, 32>(self.high.val()) << 32);
        }
        self.out_word.d.next = self.word_now.val();
        self.out_valid.d.next = self.record.val() & self.low_whole.val();
        self.out_low.d.next = true;
        self.out_high.d.next = self.high_whole.val();
        for _i in 1..L {
            if self.first_now.val() & self.ipv4_now.val() {
                self.out_low.d.next = false;
            }
            if self.ending.q.val() {
                self.out_valid.d.next = self.active.q.val() & (self.vlan.q.val() == self.is_ipv6.q.val()) & self.held_whole.q.val();
                self.out_high.d.next = false;
            }
            self.out_zero.d.next = self.beat_valid_now.val() & (self.beat.q.val() == self.zero_beat.val());
        }
        self.out_first.d.next = self.record.val() & self.first_now.val();

        for _i in 1..L {
            self.ending.d.next = self.beat_valid_now.val() & self.beat_last_now.val();
            if self.ending.q.val() {
                self.active.d.next = false;
            }
        }
        if self.beat_valid_now.val() {
            self.earlier.d.next = self.beat_data_now.val().get_bits::<16>(16);
            for _i in 1..L {
                self.earlier.d.next = self.beat_data_now.val().get_bits::<16>(48);
            }
            self.held.d.next = self.y.val();
            self.held_whole.d.next = self.y_whole_now.val();
            self.mac.d.next = self.mac_now.val();
            self.vlan.d.next = self.vlan_now.val();
            self.is_ipv4.d.next = self.ipv4_now.val();
            self.is_ipv6.d.next = self.ipv6_now.val();
            self.at_type.d.next = (self.beat.q.val() == self.before_type.val()) & !self.beat_last_now.val();
            self.at_inner.d.next = (self.beat.q.val() == self.before_inner.val()) & !self.beat_last_now.val();
            self.at_late.d.next = (self.beat.q.val() == self.before_late.val()) & !self.beat_last_now.val();
            if !self.at_longest.q.val() {
                self.beat.d.next = self.beat.q.val() + self.one_beat.val();
                self.at_longest.d.next = self.beat.q.val() == self.before_longest.val();
            }
            self.reached.d.next = self.reached.q.val() | self.reach.val();
            if self.beat_last_now.val() {
                self.beat.d.next = 0.into();
                self.at_longest.d.next = false;
                self.reached.d.next = false;
            }
        }
        if self.record.val() {
            self.active.d.next = true;
            self.next_word.d.next = self.word_now.val();
            // The first word is none of the last ones.
            self.at_reach.d.next = !self.first_now.val() & (self.next_word.q.val() == self.before_reach.val());
            if self.word_now.val() != self.last_word.val() {
                self.next_word.d.next = self.word_now.val() + self.words.val();
            }
        }

        for _i in L..2 {
            if self.beat_valid_now.val() & self.beat_last_now.val() {
                self.active.d.next = false;
            }
        }

        self.raw_data.next = self.beat_data_now.val();
        self.raw_count.next = self.beat_count_now.val();
        self.raw_valid.next = self.beat_valid_now.val();
        self.raw_last.next = self.beat_last_now.val();
        self.raw_bad.next = self.beat_bad_now.val();
        self.raw_too_long.next = self.at_longest.q.val();
        self.raw_reached.next = (self.reached.q.val() | self.reach.val()) & self.mac.q.val();
        self.data.next = self.out_data.q.val();
        self.word.next = self.out_word.q.val();
        self.lanes.next = bit_cast::<L, 1>(self.out_low.q.val().into());
        for _i in 1..L {
            self.lanes.next = bit_cast::<L, 1>(self.out_low.q.val().into()) | (bit_cast::<L, 1>(self.out_high.q.val().into()) << 1);
        }
        self.valid.next = self.out_valid.q.val();
        self.first.next = self.out_first.q.val();
        self.zero.next = self.out_zero.q.val();
        self.ipv6.next = self.is_ipv6.q.val() & self.has_ipv6.val();
        for _i in L..2 {
            self.data.next = bit_cast::<W, 32>(self.low.val());
            self.word.next = self.word_now.val();
            self.lanes.next = 1.into();
            self.valid.next = self.record.val() & self.low_whole.val();
            self.first.next = self.record.val() & self.first_now.val();
        }

        if self.reset.val() {
            self.beat_valid.d.next = false;
            self.beat.d.next = 0.into();
            self.at_longest.d.next = false;
            self.at_type.d.next = false;
            self.at_inner.d.next = false;
            self.at_late.d.next = false;
            self.ending.d.next = false;
            self.active.d.next = false;
            self.reached.d.next = false;
            self.out_valid.d.next = false;
            self.out_first.d.next = false;
            self.out_zero.d.next = false;
        }
    }

    crate::block_name!();
}
