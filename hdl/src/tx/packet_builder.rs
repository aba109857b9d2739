// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds packets, one 32-bit word a cycle, with their Ethernet header before them: ACKs and what the packet stream asks for, in turn.
//!
//! ```text
//! ack, head of the slots ─► choice ─► steps ─► row word, packet word ─► word RAM ─► (registers, W = 64) ─► words ─► word register ─► out
//!   Look Sum | Eth0 Eth1 Eth2 Eth3 (Eth4) | words 0-9 (IPv6) or 5-9 (IPv4) | Udp0 Udp1 Bth0 Bth1 Bth2 Tail ...
//!            two bytes of nothing, MACs,    aligned words 10-14, extension headers, payload ─►
//!            (tag), EtherType
//! ```
//!
//! A packet is begun when its words are in a slot and its payload is whole. Its word 0 is read into `head` before. The IPv4 checksum is summed on the way, before word 7 needs
//! it: constants and length, destination low, source low, source high, TTL, destination high, ToS.
//!
//! W = 64: where nothing else is to be done (`calm`, no ACK), the header of a packet is built while its words still come or its payload is being read: it is `early`, and
//! nothing knows of it: slot, payload and event stay as they are. When both are whole, `commit` makes it a packet like any other. An ACK that may go, payload that couldn't be
//! read, a packet that is taken back, a word that is read before it came: that is `ditch`. The words are thrown away, here and behind; the ACK begins in the next cycle, and the packet
//! is built again when its turn comes.
//!
//! W = 64 (`L` = 2): the header and inline payload only; words never stall, since header queue and store have room. 15 steps and one for each word behind the BTH (IPv4); one
//! more tagged, five more IPv6; the next packet's Look follows the last step at once, an ACK's behind an ACK one later. W = 32 (`L` = 1): payload too; stalls with the frame.
//! Poisoned payload: the packet goes all its steps and isn't sent (W = 64: its words are marked, so that the joiner drops its payload). An ACK job for a QP of another service
//! than RC is taken and not sent, unless it is a CNP's: that has four words of zeros for the AETH (R76). One event a packet, at its last word. Limits: `V` 0 knows IPv4, untagged, GID 0, no UD.

use super::{AckJob, BuildStep, HeaderChecksum, PacketSteps, PacketWords, SourceAddress};
use crate::wire::OPCODE_CNP;
use rust_hdl::prelude::*;
use verbena_spec::counters;
use verbena_spec::layout::qp;

/// The builder; `L = W / 32` chooses the form, `V` 1 adds IPv6, 802.1Q, GIDs 1-3 and addresses in band; `2^(SA - 5)` slots.
#[derive(LogicBlock)]
pub struct PacketBuilder<const L: usize, const V: usize, const SA: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack: Signal<In, AckJob>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    /// A whole packet waits in the slots, this one; one cycle each: it is begun; it is read to its end.
    pub waiting: Signal<In, Bit>,
    pub head_slot: Signal<In, Bits<4>>,
    /// W = 64: none waits, but the first words of one are there, so many; one cycle: it is taken back.
    pub coming: Signal<In, Bit>,
    pub come: Signal<In, Bits<5>>,
    pub taken_back: Signal<In, Bit>,
    pub begin_next: Signal<Out, Bit>,
    pub finish: Signal<Out, Bit>,
    /// The next payload is whole; couldn't be read.
    pub payload_whole: Signal<In, Bit>,
    pub payload_error: Signal<In, Bit>,
    pub payload_next: Signal<Out, Bit>,
    /// W = 64: the same a cycle earlier.
    pub payload_arrived: Signal<In, Bit>,
    pub payload_arrived_error: Signal<In, Bit>,
    /// W = 64: nothing is under way behind. The header at work or just built is an early one; one cycle, its last: it is the packet's; it is none.
    pub calm: Signal<In, Bit>,
    pub early: Signal<Out, Bit>,
    pub commit: Signal<Out, Bit>,
    pub ditch: Signal<Out, Bit>,
    /// Payload words (W = 32).
    pub payload_word: Signal<In, Bits<32>>,
    pub payload_take: Signal<Out, Bit>,
    /// A packet may begin: there is room for its header.
    pub room: Signal<In, Bit>,
    /// Words of the frame are taken (W = 32).
    pub advance: Signal<In, Bit>,
    pub local_mac: Signal<In, Bits<48>>,
    pub gid: Signal<In, Bits<512>>,
    /// Word RAM; data a cycle later.
    pub read_enable: Signal<Out, Bit>,
    pub read_index: Signal<Out, Bits<12>>,
    pub read_word: Signal<Out, Bits<4>>,
    pub read_packet: Signal<Out, Bit>,
    pub read_slot: Signal<Out, Bits<SA>>,
    pub row_data: Signal<In, Bits<32>>,
    pub slot_data: Signal<In, Bits<32>>,
    pub word: Signal<Out, Bits<32>>,
    /// Aligned number of the word where the mask must know it; else 15.
    pub number: Signal<Out, Bits<4>>,
    /// The word belongs to the frame; is covered by the ICRC.
    pub word_frame: Signal<Out, Bit>,
    pub word_covered: Signal<Out, Bit>,
    pub word_first: Signal<Out, Bit>,
    /// With the first word: its place is in lane 1.
    pub word_odd: Signal<Out, Bit>,
    pub word_covered_first: Signal<Out, Bit>,
    pub word_last: Signal<Out, Bit>,
    pub ipv6: Signal<Out, Bit>,
    /// W = 64: what the payload FIFO has for the packet, in words; it isn't to be sent.
    pub payload_words: Signal<Out, Bits<11>>,
    pub poisoned: Signal<Out, Bit>,
    /// A frame is begun; its header is whole, or will be in time.
    pub starting: Signal<Out, Bit>,
    pub permit: Signal<Out, Bit>,
    pub event_valid: Signal<Out, Bit>,
    pub event_code: Signal<Out, Bits<6>>,
    pub event_ready: Signal<In, Bit>,
    steps: PacketSteps<L, V>,
    source: SourceAddress<V>,
    checksum: HeaderChecksum<L>,
    words: PacketWords<V>,
    busy: DFF<Bit>,
    /// The packet at the steps was begun in the cycle before.
    started: DFF<Bit>,
    /// In Look, and an ACK may begin (W = 64).
    ackable: DFF<Bit>,
    /// Word 0 of the packet that waits (W = 32: or is built).
    head: DFF<Bits<32>>,
    head_valid: DFF<Bit>,
    head_coming: DFF<Bit>,
    /// What it says, and that it may be begun (W = 64).
    head_ready: DFF<Bit>,
    /// It may be begun early.
    head_early: DFF<Bit>,
    /// The packet at the steps, or the last one there, is early; its words are all read; its event waits.
    ahead: DFF<Bit>,
    committing: DFF<Bit>,
    ditching: DFF<Bit>,
    built: DFF<Bit>,
    event_kept: DFF<Bit>,
    /// In the cycle before a packet word was read while not all had come: which, and how many had.
    asked: DFF<Bit>,
    asked_number: DFF<Bits<5>>,
    come_then: DFF<Bits<5>>,
    head_error: DFF<Bit>,
    head_body: DFF<Bits<11>>,
    head_tail: DFF<Bits<11>>,
    head_words: DFF<Bits<11>>,
    /// The packet at the steps.
    is_ack: DFF<Bit>,
    index: DFF<Bits<12>>,
    slot: DFF<Bits<4>>,
    in_band: DFF<Bit>,
    body: DFF<Bits<11>>,
    fifo_words: DFF<Bits<11>>,
    pad: DFF<Bits<2>>,
    drop: DFF<Bit>,
    held: DFF<AckJob>,
    /// Step whose word is in the RAM's output (W = 64); step whose word is formed now.
    middle: DFF<BuildStep>,
    middle_packet: DFF<Bit>,
    middle_raw: DFF<Bit>,
    middle_last: DFF<Bit>,
    middle_row: DFF<Bits<32>>,
    middle_slot: DFF<Bits<32>>,
    now: DFF<BuildStep>,
    now_packet: DFF<Bit>,
    now_raw: DFF<Bit>,
    now_last: DFF<Bit>,
    /// The packet at the words.
    acknowledge: DFF<Bit>,
    answers: DFF<Bit>,
    dropping: DFF<Bit>,
    tail_words: DFF<Bits<11>>,
    tail_pad: DFF<Bits<2>>,
    six: DFF<Bit>,
    vlan: DFF<Bit>,
    gid_index: DFF<Bits<2>>,
    opcode: DFF<Bits<8>>,
    solicited: DFF<Bit>,
    ack_request: DFF<Bit>,
    response: DFF<Bit>,
    notification: DFF<Bit>,
    word_reg: DFF<Bits<32>>,
    number_reg: DFF<Bits<4>>,
    frame_reg: DFF<Bit>,
    covered_reg: DFF<Bit>,
    first_reg: DFF<Bit>,
    odd_reg: DFF<Bit>,
    covered_first_reg: DFF<Bit>,
    last_reg: DFF<Bit>,
    served_ack: DFF<Bit>,
    event_due: DFF<Bit>,
    code: DFF<Bits<6>>,
    looking: Signal<Local, Bit>,
    head_good: Signal<Local, Bit>,
    can_ack: Signal<Local, Bit>,
    can_packet: Signal<Local, Bit>,
    pick_ack: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    open: Signal<Local, Bit>,
    unsure: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    spoilt: Signal<Local, Bit>,
    start: Signal<Local, Bit>,
    acking: Signal<Local, Bit>,
    ack_index: Signal<Local, Bit>,
    peek_place: Signal<Local, Bit>,
    peek: Signal<Local, Bit>,
    banding: Signal<Local, Bit>,
    extensions: Signal<Local, Bits<4>>,
    length: Signal<Local, Bits<14>>,
    from_fifo: Signal<Local, Bit>,
    part: Signal<Local, Bit>,
    payload_size: Signal<Local, Bits<12>>,
    body_size: Signal<Local, Bits<12>>,
    pad_size: Signal<Local, Bits<2>>,
    body_now: Signal<Local, Bits<11>>,
    slot_now: Signal<Local, Bits<4>>,
    slot_number: Signal<Local, Bits<5>>,
    soon: Signal<Local, BuildStep>,
    row: Signal<Local, Bits<32>>,
    job: Signal<Local, AckJob>,
    emit: Signal<Local, Bit>,
    covered: Signal<Local, Bit>,
    goes: Signal<Local, Bit>,
    kind: Signal<Local, Bits<2>>,
    wide: Constant<Bit>,
    extended: Constant<Bit>,
    even: Constant<Bits<12>>,
    one_word: Constant<Bits<11>>,
    one_extension: Constant<Bits<4>>,
    /// What stands behind a CNP's BTH.
    four_words: Constant<Bits<11>>,
    four_extensions: Constant<Bits<4>>,
    // PMTU 4096, or 512 in the narrow form.
    length_mask: Constant<Bits<14>>,
    rc: Constant<Bits<3>>,
    op_acknowledge: Constant<Bits<8>>,
    op_notification: Constant<Bits<8>>,
    kind_ack: Constant<Bits<2>>,
    kind_rnr: Constant<Bits<2>>,
    tx_ack: Constant<Bits<6>>,
    tx_rnr: Constant<Bits<6>>,
    tx_nak: Constant<Bits<6>>,
    tx_request: Constant<Bits<6>>,
    tx_response: Constant<Bits<6>>,
    tx_poisoned: Constant<Bits<6>>,
    tx_cnp: Constant<Bits<6>>,
}

impl<const L: usize, const V: usize, const SA: usize> Default for PacketBuilder<L, V, SA> {
    fn default() -> Self {
        // The kernel's offsets in row word 0 and its NAK codes.
        assert_eq!((qp::SERVICE.low, qp::IPV6.low, qp::VLAN.low, qp::GID_INDEX.low), (0, 9, 10, 11));
        assert_eq!(counters::TX_NAK_OPERATION, counters::TX_NAK_SEQUENCE + 3);
        Self {
            clock: Default::default(),
            reset: Default::default(),
            ack: Default::default(),
            ack_valid: Default::default(),
            ack_ready: Default::default(),
            waiting: Default::default(),
            head_slot: Default::default(),
            coming: Default::default(),
            come: Default::default(),
            taken_back: Default::default(),
            begin_next: Default::default(),
            finish: Default::default(),
            payload_whole: Default::default(),
            payload_error: Default::default(),
            payload_next: Default::default(),
            payload_arrived: Default::default(),
            payload_arrived_error: Default::default(),
            calm: Default::default(),
            early: Default::default(),
            commit: Default::default(),
            ditch: Default::default(),
            payload_word: Default::default(),
            payload_take: Default::default(),
            room: Default::default(),
            advance: Default::default(),
            local_mac: Default::default(),
            gid: Default::default(),
            read_enable: Default::default(),
            read_index: Default::default(),
            read_word: Default::default(),
            read_packet: Default::default(),
            read_slot: Default::default(),
            row_data: Default::default(),
            slot_data: Default::default(),
            word: Default::default(),
            number: Default::default(),
            word_frame: Default::default(),
            word_covered: Default::default(),
            word_first: Default::default(),
            word_odd: Default::default(),
            word_covered_first: Default::default(),
            word_last: Default::default(),
            ipv6: Default::default(),
            payload_words: Default::default(),
            poisoned: Default::default(),
            starting: Default::default(),
            permit: Default::default(),
            event_valid: Default::default(),
            event_code: Default::default(),
            event_ready: Default::default(),
            steps: Default::default(),
            source: Default::default(),
            checksum: Default::default(),
            words: Default::default(),
            busy: Default::default(),
            started: Default::default(),
            ackable: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            head_coming: Default::default(),
            head_ready: Default::default(),
            head_early: Default::default(),
            ahead: Default::default(),
            committing: Default::default(),
            ditching: Default::default(),
            built: Default::default(),
            event_kept: Default::default(),
            asked: Default::default(),
            asked_number: Default::default(),
            come_then: Default::default(),
            head_error: Default::default(),
            head_body: Default::default(),
            head_tail: Default::default(),
            head_words: Default::default(),
            is_ack: Default::default(),
            index: Default::default(),
            slot: Default::default(),
            in_band: Default::default(),
            body: Default::default(),
            fifo_words: Default::default(),
            pad: Default::default(),
            drop: Default::default(),
            held: Default::default(),
            middle: Default::default(),
            middle_packet: Default::default(),
            middle_raw: Default::default(),
            middle_last: Default::default(),
            middle_row: Default::default(),
            middle_slot: Default::default(),
            now: Default::default(),
            now_packet: Default::default(),
            now_raw: Default::default(),
            now_last: Default::default(),
            acknowledge: Default::default(),
            answers: Default::default(),
            dropping: Default::default(),
            tail_words: Default::default(),
            tail_pad: Default::default(),
            six: Default::default(),
            vlan: Default::default(),
            gid_index: Default::default(),
            opcode: Default::default(),
            solicited: Default::default(),
            ack_request: Default::default(),
            response: Default::default(),
            notification: Default::default(),
            word_reg: Default::default(),
            number_reg: Default::default(),
            frame_reg: Default::default(),
            covered_reg: Default::default(),
            first_reg: Default::default(),
            odd_reg: Default::default(),
            covered_first_reg: Default::default(),
            last_reg: Default::default(),
            served_ack: Default::default(),
            event_due: Default::default(),
            code: Default::default(),
            looking: Default::default(),
            head_good: Default::default(),
            can_ack: Default::default(),
            can_packet: Default::default(),
            pick_ack: Default::default(),
            begins: Default::default(),
            open: Default::default(),
            unsure: Default::default(),
            whole: Default::default(),
            spoilt: Default::default(),
            start: Default::default(),
            acking: Default::default(),
            ack_index: Default::default(),
            peek_place: Default::default(),
            peek: Default::default(),
            banding: Default::default(),
            extensions: Default::default(),
            length: Default::default(),
            from_fifo: Default::default(),
            part: Default::default(),
            payload_size: Default::default(),
            body_size: Default::default(),
            pad_size: Default::default(),
            body_now: Default::default(),
            slot_now: Default::default(),
            slot_number: Default::default(),
            soon: Default::default(),
            row: Default::default(),
            job: Default::default(),
            emit: Default::default(),
            covered: Default::default(),
            goes: Default::default(),
            kind: Default::default(),
            wide: Constant::new(L == 2),
            extended: Constant::new(V == 1),
            even: Constant::new(0xffeu64.to_bits()),
            one_word: Constant::new(1u64.to_bits()),
            one_extension: Constant::new(1u64.to_bits()),
            four_words: Constant::new(4u64.to_bits()),
            four_extensions: Constant::new(4u64.to_bits()),
            length_mask: Constant::new((if L == 2 { 0x1fff } else { 0x3ffu64 }).to_bits()),
            rc: Constant::new(0u64.to_bits()),
            op_acknowledge: Constant::new(0x11u64.to_bits()),
            op_notification: Constant::new((OPCODE_CNP as u64).to_bits()),
            kind_ack: Constant::new(0u64.to_bits()),
            kind_rnr: Constant::new(1u64.to_bits()),
            tx_ack: Constant::new((counters::TX_ACK as u64).to_bits()),
            tx_rnr: Constant::new((counters::TX_RNR as u64).to_bits()),
            tx_nak: Constant::new((counters::TX_NAK_SEQUENCE as u64).to_bits()),
            tx_request: Constant::new((counters::TX_REQUEST as u64).to_bits()),
            tx_response: Constant::new((counters::TX_RESPONSE as u64).to_bits()),
            tx_poisoned: Constant::new((counters::TX_POISONED as u64).to_bits()),
            tx_cnp: Constant::new((counters::TX_CNP as u64).to_bits()),
        }
    }
}

impl<const L: usize, const V: usize, const SA: usize> Logic for PacketBuilder<L, V, SA> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            busy,
            started,
            ackable,
            head,
            head_valid,
            head_coming,
            head_ready,
            head_early,
            ahead,
            committing,
            ditching,
            built,
            event_kept,
            asked,
            asked_number,
            come_then,
            head_error,
            head_body,
            head_tail,
            head_words,
            is_ack,
            index,
            slot,
            in_band,
            body,
            fifo_words,
            pad,
            drop,
            held,
            middle,
            middle_packet,
            middle_raw,
            middle_last,
            middle_row,
            middle_slot,
            now,
            now_packet,
            now_raw,
            now_last,
            acknowledge,
            answers,
            dropping,
            tail_words,
            tail_pad,
            six,
            vlan,
            gid_index,
            opcode,
            solicited,
            ack_request,
            response,
            notification,
            word_reg,
            number_reg,
            frame_reg,
            covered_reg,
            first_reg,
            odd_reg,
            covered_first_reg,
            last_reg,
            served_ack,
            event_due,
            code
        );
        clock!(self, clock, steps, source, checksum, words);

        // Who comes next. W = 64 takes an ACK at the start, W = 32 leaves it with its source until the end.
        self.looking.next = self.steps.looking.val();
        // An early header's last cycle is its commit or its ditch; until then nothing begins.
        self.unsure.next = self.ahead.q.val() & !self.committing.q.val() & !self.ditching.q.val();
        self.open.next = !self.ahead.q.val() | self.committing.q.val() | self.ditching.q.val();
        // W = 64: an ACK behind an ACK a cycle later, since that one's words are still made from `held`.
        self.ackable.d.next =
            ((self.steps.ending.val() & (self.looking.val() | !self.is_ack.q.val())) | self.ditching.q.val()) & self.open.val();
        self.can_ack.next = self.ack_valid.val() & !self.busy.q.val();
        if self.wide.val() {
            self.can_ack.next = self.ack_valid.val() & self.ackable.q.val();
        }
        self.head_good.next =
            self.head_valid.q.val() & (self.waiting.val() | !self.wide.val()) & (!self.head.q.val().get_bit(13) | self.payload_whole.val());
        self.can_packet.next = self.head_good.val() & !self.busy.q.val();
        if self.wide.val() {
            self.can_packet.next = self.head_ready.q.val();
        }
        self.pick_ack.next = self.can_ack.val() & (!self.can_packet.val() | !self.served_ack.q.val());
        self.begins.next = self.can_packet.val();
        if self.wide.val() {
            self.begins.next = self.head_ready.q.val() | self.head_early.q.val();
        }
        self.start.next = self.looking.val()
            & (self.can_ack.val() | self.begins.val())
            & self.room.val()
            & (self.wide.val() | !(self.event_due.q.val() | self.last_reg.q.val()))
            & self.advance.val();
        self.begin_next.next = (self.start.val() & !self.pick_ack.val() & !self.head_early.q.val()) | self.committing.q.val();
        self.payload_next.next = self.begin_next.val() & self.head.q.val().get_bit(13);
        self.acking.next = self.is_ack.q.val();
        self.banding.next = self.in_band.q.val();
        self.slot_now.next = self.slot.q.val();
        if self.looking.val() {
            self.acking.next = self.pick_ack.val();
            // Whether it begins at all doesn't matter: it is looked at only if it does.
            self.banding.next = self.extended.val() & !self.pick_ack.val() & self.head.q.val().get_bit(12);
            self.slot_now.next = self.head_slot.val();
        }
        if self.advance.val() {
            self.busy.d.next = !self.looking.val();
        }

        // W = 64: of the packet at the steps, or of the head from its predecessor's last row word on; so only an ACK's must be chosen on the way to the RAM.
        self.read_index.next = self.head.q.val().get_bits::<12>(0);
        self.ack_index.next = self.acking.val();
        if self.wide.val() {
            self.read_index.next = self.index.q.val();
            self.ack_index.next = self.pick_ack.val();
        }
        if self.ack_index.val() {
            self.read_index.next = self.ack.val().qp_index;
        }
        if self.steps.rows_done.val() {
            self.index.d.next = self.head.q.val().get_bits::<12>(0);
        }

        // What its word 0 says; an ACK has one extension header.
        self.extensions.next = self.head.q.val().get_bits::<4>(28);
        self.length.next = self.head.q.val().get_bits::<14>(14) & self.length_mask.val();
        self.from_fifo.next = self.head.q.val().get_bit(13);
        if self.acking.val() & !self.wide.val() {
            self.extensions.next = self.one_extension.val();
            if self.ack.val().notification {
                self.extensions.next = self.four_extensions.val();
            }
            self.length.next = 0.into();
            self.from_fifo.next = false;
        }
        self.part.next = self.length.val().get_bits::<2>(0).any();
        self.pad_size.next = !self.length.val().get_bits::<2>(0) + 1;
        // The lowest bit makes the carry-in.
        self.payload_size.next = ((self.length.val().get_bits::<12>(1) & self.even.val()) | 1) + bit_cast::<12, 1>(self.part.val().into());
        self.body_size.next = ((self.length.val().get_bits::<12>(1) & self.even.val()) | 1)
            + ((bit_cast::<12, 4>(self.extensions.val()) << 1) | bit_cast::<12, 1>(self.part.val().into()));
        self.steps.start.next = self.start.val();
        // W = 64: registered, since there is a cycle for it before the start.
        self.head_ready.d.next = self.head_good.val() & !self.begin_next.val() & self.open.val();
        self.head_early.d.next = self.wide.val()
            & self.head_valid.q.val()
            & !self.taken_back.val()
            & (!self.waiting.val() | (self.head.q.val().get_bit(13) & !self.payload_whole.val()))
            & self.calm.val()
            & !self.begin_next.val()
            & !self.ahead.q.val();
        if self.start.val() & !self.pick_ack.val() & self.head_early.q.val() {
            self.ahead.d.next = true;
            self.head_early.d.next = false;
        }
        if self.committing.q.val() | self.ditching.q.val() {
            self.ahead.d.next = false;
        }
        self.whole.next =
            self.waiting.val() & (!self.head.q.val().get_bit(13) | (self.payload_arrived.val() & !self.payload_arrived_error.val()));
        // Without a head it was taken back.
        self.spoilt.next = !self.head_valid.q.val()
            | (self.asked.q.val() & (self.asked_number.q.val() >= self.come_then.q.val()))
            | (self.head.q.val().get_bit(13) & self.payload_arrived.val() & self.payload_arrived_error.val());
        self.committing.d.next = self.unsure.val() & self.whole.val() & !self.spoilt.val();
        self.ditching.d.next = self.unsure.val() & (self.spoilt.val() | (!self.whole.val() & self.ack_valid.val()));
        self.early.next = self.ahead.q.val();
        self.commit.next = self.committing.q.val();
        self.ditch.next = self.ditching.q.val();
        self.head_body.d.next = self.body_size.val().get_bits::<11>(1);
        self.head_tail.d.next = self.body_size.val().get_bits::<11>(1);
        self.head_words.d.next = 0.into();
        self.head_error.d.next = self.from_fifo.val() & self.payload_error.val();
        if self.from_fifo.val() {
            self.head_tail.d.next = bit_cast::<11, 4>(self.extensions.val());
            self.head_words.d.next = self.payload_size.val().get_bits::<11>(1);
        }
        self.steps.extensions.next = self.extensions.val();
        self.steps.tail.next = self.body_size.val().get_bits::<11>(1);
        if self.wide.val() {
            self.steps.tail.next = self.head_tail.q.val();
            if self.is_ack.q.val() {
                self.steps.extensions.next = self.one_extension.val();
                self.steps.tail.next = self.one_word.val();
                if self.held.q.val().notification {
                    self.steps.extensions.next = self.four_extensions.val();
                    self.steps.tail.next = self.four_words.val();
                }
            }
        }
        self.body_now.next = self.body_size.val().get_bits::<11>(1);
        self.words.pad.next = self.pad_size.val();
        if self.wide.val() {
            self.body_now.next = self.body.q.val();
            self.words.pad.next = self.tail_pad.q.val();
        }
        if self.start.val() {
            self.is_ack.d.next = self.pick_ack.val();
            self.served_ack.d.next = self.pick_ack.val();
            self.in_band.d.next = self.banding.val();
            self.slot.d.next = self.head_slot.val();
            self.index.d.next = self.read_index.val();
            if !self.wide.val() {
                self.drop.d.next = self.from_fifo.val() & self.payload_error.val();
            }
        }
        // W = 64: a cycle later, when the choice is known; the head stays as it is for longer.
        self.started.d.next = self.start.val();
        if self.started.q.val() {
            self.body.d.next = self.head_body.q.val();
            self.pad.d.next = self.pad_size.val();
            self.fifo_words.d.next = self.head_words.q.val();
            if self.is_ack.q.val() {
                self.body.d.next = self.one_word.val();
                if self.held.q.val().notification {
                    self.body.d.next = self.four_words.val();
                }
                self.pad.d.next = 0.into();
                self.fifo_words.d.next = 0.into();
            }
            if self.wide.val() {
                self.drop.d.next = self.head_error.q.val() & !self.is_ack.q.val() & !self.ahead.q.val();
            }
        }
        // While an ACK might begin, whether one does or not.
        if self.ackable.q.val() {
            self.held.d.next = self.ack.val();
        }
        self.job.next = self.ack.val();
        self.ack_ready.next = (self.advance.val() & self.now_last.q.val() & self.acknowledge.q.val()) | self.steps.refused.val();
        if self.wide.val() {
            self.job.next = self.held.q.val();
            self.ack_ready.next = self.start.val() & self.pick_ack.val();
        }

        // Stage A: the step and the words that it needs.
        self.steps.reset.next = self.reset.val() | self.ditching.q.val();
        self.steps.advance.next = self.advance.val();
        self.steps.stay.next = self.wide.val() & self.event_due.q.val();
        self.steps.in_band.next = self.banding.val();
        self.steps.kept_in_band.next = self.in_band.q.val();
        self.steps.six.next = self.six.q.val();
        self.steps.vlan.next = self.vlan.q.val();
        self.steps.answers.next = self.answers.q.val();
        self.starting.next = self.steps.sent.val();
        self.permit.next = self.steps.permit.val() & !self.dropping.q.val();
        self.finish.next =
            (self.steps.last.val() & self.advance.val() & !self.is_ack.q.val() & !self.unsure.val() & !self.ditching.q.val())
                | (self.committing.q.val() & self.built.q.val());
        if self.steps.last.val() & self.unsure.val() {
            self.built.d.next = true;
        }
        // Between packets (W = 64: between the packet's own words) word 0 of the next one is read. None begins while its word 0 isn't there, so
        // in Look the slots are free for it whatever the choice.
        self.peek_place.next = !self.head_valid.q.val() & !self.head_coming.q.val() & !self.steps.reading.val();
        self.peek.next = (self.waiting.val() | (self.coming.val() & self.wide.val()))
            & self.peek_place.val()
            & self.advance.val()
            & (self.wide.val() | (self.looking.val() & !self.start.val()));
        self.read_enable.next = self.advance.val();
        self.read_word.next = self.steps.read_word.val();
        self.read_packet.next = (self.steps.read_packet.val() & !self.acking.val()) | self.peek.val();
        self.slot_number.next = self.steps.packet_number.val();
        if self.peek_place.val() {
            self.slot_now.next = self.head_slot.val();
            self.slot_number.next = 0.into();
        }
        self.read_slot.next = (bit_cast::<SA, 4>(self.slot_now.val()) << 5) | bit_cast::<SA, 5>(self.slot_number.val());
        self.head_coming.d.next = self.peek.val();
        if self.head_coming.q.val() {
            self.head.d.next = self.slot_data.val();
            self.head_valid.d.next = true;
        }
        if self.begin_next.val() {
            self.head_valid.d.next = false;
        }
        if self.wide.val() & self.taken_back.val() {
            self.head_valid.d.next = false;
            self.head_coming.d.next = false;
        }
        self.asked.d.next = self.steps.read_packet.val() & !self.waiting.val();
        self.asked_number.d.next = self.steps.packet_number.val();
        self.come_then.d.next = self.come.val();

        // The way of the words to the word former.
        self.soon.next = self.steps.step.val();
        self.row.next = self.row_data.val();
        if self.wide.val() {
            self.soon.next = self.middle.q.val();
            self.row.next = self.middle_row.q.val();
            if self.now_packet.q.val() {
                self.row.next = self.middle_slot.q.val();
            }
        }
        self.payload_take.next = false;
        if !self.wide.val() & self.now_raw.q.val() & self.from_fifo.val() {
            self.row.next = self.payload_word.val();
            self.payload_take.next = self.advance.val();
        }
        self.middle_row.d.next = self.row_data.val();
        self.middle_slot.d.next = self.slot_data.val();
        if self.advance.val() {
            self.middle.d.next = self.steps.step.val();
            if (self.steps.step.val() == BuildStep::Udp1) & self.steps.stay.val() {
                self.middle.d.next = BuildStep::Pause;
            }
            self.middle_packet.d.next = self.steps.read_packet.val();
            self.middle_raw.d.next = self.steps.raw.val();
            self.middle_last.d.next = self.steps.last.val();
            self.now.d.next = self.soon.val();
            self.now_packet.d.next = self.steps.read_packet.val();
            self.now_raw.d.next = self.steps.raw.val();
            self.now_last.d.next = self.steps.last.val();
            if self.wide.val() {
                self.now_packet.d.next = self.middle_packet.q.val();
                self.now_raw.d.next = self.middle_raw.q.val();
                self.now_last.d.next = self.middle_last.q.val();
            }
        }
        if (self.now.q.val() == BuildStep::Look) & self.advance.val() {
            self.acknowledge.d.next = self.is_ack.q.val();
            self.answers.d.next = !self.is_ack.q.val() | self.job.val().notification | (self.row.val().get_bits::<3>(0) == self.rc.val());
            self.dropping.d.next = self.drop.q.val();
            self.tail_words.d.next = self.fifo_words.q.val();
            self.tail_pad.d.next = self.pad.q.val();
            if self.extended.val() {
                self.six.d.next = self.row.val().get_bit(9);
                self.vlan.d.next = self.row.val().get_bit(10);
                self.gid_index.d.next = self.row.val().get_bits::<2>(11);
                if self.in_band.q.val() {
                    self.six.d.next = self.row.val().get_bit(0);
                    self.vlan.d.next = self.row.val().get_bit(1);
                    self.gid_index.d.next = self.row.val().get_bits::<2>(2);
                }
            }
        }
        if (self.now.q.val() == BuildStep::Udp1) & self.advance.val() {
            self.opcode.d.next = self.row.val().get_bits::<8>(0);
            self.solicited.d.next = self.row.val().get_bit(8);
            self.ack_request.d.next = self.row.val().get_bit(9);
            self.response.d.next = self.row.val().get_bit(11);
            self.notification.d.next = self.acknowledge.q.val() & self.job.val().notification;
            if self.acknowledge.q.val() {
                self.opcode.d.next = self.op_acknowledge.val();
                if self.job.val().notification {
                    self.opcode.d.next = self.op_notification.val();
                }
                self.solicited.d.next = false;
                self.ack_request.d.next = false;
            }
        }

        // Stage B: the word and the checksum's next term.
        self.source.advance.next = self.advance.val();
        self.source.gid.next = self.gid.val();
        self.source.gid_index.next = self.gid_index.q.val();
        self.source.soon.next = self.soon.val();
        self.words.advance.next = self.advance.val();
        self.words.soon.next = self.soon.val();
        self.words.now.next = self.now.q.val();
        self.words.row.next = self.row.val();
        self.words.local_mac.next = self.local_mac.val();
        self.words.source_ip.next = self.source.source_ip.val();
        self.words.job.next = self.job.val();
        self.words.sum.next = self.checksum.sum.val();
        self.words.acknowledge.next = self.acknowledge.q.val();
        self.words.body.next = self.body_now.val();
        self.words.opcode.next = self.opcode.q.val();
        self.words.solicited.next = self.solicited.q.val();
        self.words.ack_request.next = self.ack_request.q.val();
        self.words.notification.next = self.notification.q.val();
        self.words.raw.next = self.now_raw.q.val();
        self.words.last.next = self.now_last.q.val();
        self.words.six.next = self.six.q.val();
        self.words.vlan.next = self.vlan.q.val();
        self.checksum.load.next = self.now.q.val() == BuildStep::Look;
        self.checksum.body.next = self.body_now.val();
        self.checksum.enable.next = self.advance.val();
        self.checksum.term.next = self.words.term.val();

        self.emit.next = true;
        self.covered.next = true;
        match self.now.q.val() {
            BuildStep::Look => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Sum => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Pause => {
                self.emit.next = false;
                self.covered.next = false;
            }
            BuildStep::Eth0 => {
                self.covered.next = false;
            }
            BuildStep::Eth1 => {
                self.covered.next = false;
            }
            BuildStep::Eth2 => {
                self.covered.next = false;
            }
            BuildStep::Eth3 => {
                self.covered.next = false;
            }
            BuildStep::Eth4 => {
                self.covered.next = false;
            }
            _ => {}
        }
        self.goes.next = self.answers.q.val() & (self.wide.val() | !self.dropping.q.val());
        if self.advance.val() {
            self.word_reg.d.next = self.words.word.val();
            self.number_reg.d.next = self.words.number.val();
            self.frame_reg.d.next = self.emit.val() & self.goes.val();
            self.covered_reg.d.next = self.covered.val() & self.goes.val();
            self.first_reg.d.next = self.now.q.val() == BuildStep::Eth0;
            self.odd_reg.d.next = self.six.q.val() == self.vlan.q.val();
            self.covered_first_reg.d.next = (self.now.q.val() == BuildStep::Four5) | (self.now.q.val() == BuildStep::Six0);
            self.last_reg.d.next = self.now_last.q.val();
        }
        self.word.next = self.word_reg.q.val();
        self.number.next = self.number_reg.q.val();
        self.word_frame.next = self.frame_reg.q.val();
        self.word_covered.next = self.covered_reg.q.val();
        self.word_first.next = self.first_reg.q.val();
        self.word_odd.next = self.odd_reg.q.val();
        self.word_covered_first.next = self.covered_first_reg.q.val();
        self.word_last.next = self.last_reg.q.val();
        self.ipv6.next = self.six.q.val();
        self.payload_words.next = self.tail_words.q.val();
        self.poisoned.next = self.dropping.q.val();

        // The event, with the last word; an ACKNOWLEDGE's by its syndrome, the AETH's first byte.
        self.kind.next = self.word_reg.q.val().get_bits::<2>(5);
        if self.event_due.q.val() & self.event_ready.val() {
            self.event_due.d.next = false;
        }
        // An early header's event waits until it is a packet.
        if self.committing.q.val() & self.event_kept.q.val() {
            self.event_due.d.next = true;
            self.event_kept.d.next = false;
        }
        if self.last_reg.q.val() & self.advance.val() & self.answers.q.val() & !self.ditching.q.val() {
            self.event_due.d.next = !self.unsure.val();
            self.event_kept.d.next = self.unsure.val();
            self.code.d.next = self.tx_request.val();
            if self.response.q.val() {
                self.code.d.next = self.tx_response.val();
            }
            if self.opcode.q.val() == self.op_acknowledge.val() {
                self.code.d.next = self.tx_nak.val() + bit_cast::<6, 2>(self.word_reg.q.val().get_bits::<2>(0));
                if self.kind.val() == self.kind_ack.val() {
                    self.code.d.next = self.tx_ack.val();
                }
                if self.kind.val() == self.kind_rnr.val() {
                    self.code.d.next = self.tx_rnr.val();
                }
            }
            if self.notification.q.val() {
                self.code.d.next = self.tx_cnp.val();
            }
            if self.dropping.q.val() {
                self.code.d.next = self.tx_poisoned.val();
            }
        }
        self.event_valid.next = self.event_due.q.val();
        self.event_code.next = self.code.q.val();

        if self.committing.q.val() | self.ditching.q.val() {
            self.built.d.next = false;
        }
        if self.reset.val() | self.ditching.q.val() {
            self.middle.d.next = BuildStep::Look;
            self.middle_last.d.next = false;
            self.now.d.next = BuildStep::Look;
            self.now_last.d.next = false;
            self.now_raw.d.next = false;
            self.started.d.next = false;
            self.frame_reg.d.next = false;
            self.covered_reg.d.next = false;
            self.last_reg.d.next = false;
            self.event_kept.d.next = false;
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.ackable.d.next = false;
            self.head_early.d.next = false;
            self.ahead.d.next = false;
            self.committing.d.next = false;
            self.ditching.d.next = false;
            self.built.d.next = false;
            self.head_valid.d.next = false;
            self.head_ready.d.next = false;
            self.head_coming.d.next = false;
            self.served_ack.d.next = false;
            self.event_due.d.next = false;
        }
    }

    crate::block_name!();
}
